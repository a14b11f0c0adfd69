// SPDX-License-Identifier: Apache-2.0
#include "saltus/expr/series/series_tape.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <utility>

#include "saltus/base/error.hpp"

namespace saltus::expr {

namespace {

/// Polynomials of a higher degree are treated as series of unlimited degree. Taylor expansions of more than about 30
/// orders are rare, so there is nothing to gain beyond.
constexpr int highest_tracked_degree = 30;

}  // namespace

/// Compiles in four steps. It lowers each node of the graph to instructions, with one slot for each different value. It
/// fuses products and scalings with sums. It finds which series need weighted copies. It sorts the instructions for
/// orders >= 1.
class SeriesTape::Compiler {
public:
    Compiler(SeriesTape& tape, const Graph& graph, std::span<const Expr> outputs, std::span<const Expr> parameters,
             std::span<const Expr> variables, Expr time, const SeriesStages& stages)
        : tape_(tape), slot_of_(graph.size(), none) {
        SALTUS_EXPECT(stages.later.empty() || stages.later.size() == outputs.size());
        place_inputs(parameters, variables, time);
        for (const Expr e : reachable(graph, outputs)) {
            if (slot_of_[e.id] != none) continue;
            SALTUS_EXPECT(graph[e].op != Op::symbol);  // every symbol is a parameter or a variable
            slot_of_[e.id] = lower(graph[e]);
        }
        for (const Expr e : outputs) tape.outputs_.push_back(as_row(slot_of_[e.id]));
        fuse_sums();
        request_weighted_copies();
        sort_instructions(stages);
    }

private:
    using Slots = std::array<std::uint32_t, 3>;

    // --- slots and instructions ------------------------------------------------------------------------------

    int degree(std::uint32_t slot) const { return tape_.slots_[slot].degree; }
    bool is_scalar(std::uint32_t slot) const { return degree(slot) == 0; }
    bool is_finite(std::uint32_t slot) const { return degree(slot) != unlimited; }

    std::uint32_t new_slot(int degree, bool prepared, bool is_row) {
        Slot s;
        s.degree = degree;
        s.prepared = prepared;
        s.is_row = is_row;
        tape_.slots_.push_back(s);
        return static_cast<std::uint32_t>(tape_.slots_.size() - 1);
    }
    std::uint32_t new_row(int degree) { return new_slot(degree, false, true); }
    std::uint32_t new_scalar() { return new_slot(0, false, false); }

    void place_inputs(std::span<const Expr> parameters, std::span<const Expr> variables, Expr time) {
        for (const Expr e : parameters) {
            slot_of_[e.id] = new_slot(0, true, false);
            tape_.parameters_.push_back(slot_of_[e.id]);
        }
        const auto found = std::find(variables.begin(), variables.end(), time);
        SALTUS_EXPECT(found != variables.end());
        tape_.time_ = static_cast<int>(found - variables.begin());
        for (const Expr e : variables) {
            slot_of_[e.id] = new_row(e == time ? 1 : unlimited);
            tape_.variables_.push_back(slot_of_[e.id]);
        }
    }

    std::uint32_t constant(double value, double low, double high) {
        const std::uint32_t slot = new_slot(0, true, false);
        tape_.constants_.push_back({slot, value, low, high});
        if (value == 0.0 && low == high) zeros_.push_back(slot);
        return slot;
    }
    std::uint32_t one() {
        if (one_ == none) one_ = constant(1.0, 1.0, 1.0);
        return one_;
    }
    bool is_zero(std::uint32_t slot) const { return std::find(zeros_.begin(), zeros_.end(), slot) != zeros_.end(); }

    /// The instruction with the same code and operands, if there is one. Otherwise `complete` gets a copy to fill in,
    /// which is then appended.
    template <class F>
    const Instruction& emit(Instruction i, F complete) {
        const auto key = std::make_tuple(static_cast<int>(i.code), static_cast<int>(i.op), i.number, i.a, i.b, i.c);
        const auto [known, is_new] = made_.try_emplace(key, std::pair<bool, std::size_t>{});
        if (is_new) {
            complete(i);
            const bool prepared = tape_.slots_[i.to].prepared;
            std::vector<Instruction>& list = prepared ? tape_.prepared_ : tape_.values_;
            known->second = {prepared, list.size()};
            list.push_back(i);
        }
        const auto [prepared, at] = known->second;
        return (prepared ? tape_.prepared_ : tape_.values_)[at];
    }

    static Instruction instruction(Code code, std::uint32_t a, std::uint32_t b = none, std::uint32_t c = none) {
        Instruction i;
        i.code = code;
        i.a = a;
        i.b = b;
        i.c = c;
        return i;
    }

    std::uint32_t emit_row(const Instruction& i, int result_degree) {
        return emit(i, [&](Instruction& n) { n.to = new_row(result_degree); }).to;
    }

    /// An instruction whose sums over orders end at the degree of the operand `limiting`. If that degree is finite,
    /// then `poly` (the code with the suffix _poly) takes the place of the code. The result has unlimited degree; `aux`
    /// is a scalar for the reciprocal by which each coefficient is multiplied.
    std::uint32_t emit_recurrence(Instruction i, Code poly, std::uint32_t limiting) {
        limit(i, poly, limiting);
        return emit(i,
                    [&](Instruction& n) {
                        n.to = new_row(unlimited);
                        n.aux = new_scalar();
                    })
            .to;
    }

    void limit(Instruction& i, Code poly, std::uint32_t limiting) const {
        if (!is_finite(limiting)) return;
        i.code = poly;
        i.limit = static_cast<std::uint8_t>(degree(limiting));
    }

    std::uint32_t emit_value(Op op, Slots operand, int exponent) {
        Instruction i = instruction(Code::value, operand[0], operand[1], operand[2]);
        i.op = op;
        i.number = exponent;
        const bool prepared = std::all_of(operand.begin(), operand.end(),
                                          [&](std::uint32_t s) { return s == none || tape_.slots_[s].prepared; });
        return emit(i, [&](Instruction& n) { n.to = new_slot(0, prepared, false); }).to;
    }

    /// A scalar as a series of degree 0, for instructions that read coefficients.
    std::uint32_t as_row(std::uint32_t slot) {
        return tape_.slots_[slot].is_row ? slot : emit_row(instruction(Code::row, slot), 0);
    }

    // --- lowering --------------------------------------------------------------------------------------------

    std::uint32_t lower(const Node& n) {
        if (n.op == Op::constant) return constant(n.value, n.low, n.high);
        Slots s{none, none, none};
        const std::array<Expr, 3> operand{n.a, n.b, n.c};
        bool scalar = true;
        for (std::size_t k = 0; k < static_cast<std::size_t>(operand_count(n.op)); ++k) {
            s[k] = slot_of_[operand[k].id];
            scalar = scalar && is_scalar(s[k]);
        }
        if (scalar) return emit_value(n.op, s, n.exponent);
        const auto [a, b, c] = s;
        switch (n.op) {
            case Op::add: return sum(a, b);
            case Op::sub: return difference(a, b);
            case Op::mul: return product(a, b);
            case Op::div: return quotient(a, b);
            case Op::neg: return emit_row(instruction(Code::neg, a), degree(a));
            case Op::powi: return integer_power(a, n.exponent);
            case Op::pow: return is_scalar(b) ? power(a, b) : varying_power(a, b);
            case Op::sqrt: return emit_recurrence(instruction(Code::sqrt, a), Code::sqrt, a);
            case Op::exp: return exponential(a);
            case Op::log: return integral(Op::log, a, a);
            case Op::sin: return pair(Code::sincos, Code::sincos_poly, a).to;
            case Op::cos: return pair(Code::sincos, Code::sincos_poly, a).to2;
            case Op::sinh: return pair(Code::sinhcosh, Code::sinhcosh_poly, a).to;
            case Op::cosh: return pair(Code::sinhcosh, Code::sinhcosh_poly, a).to2;
            case Op::tan: return pair(Code::tan, Code::tan_poly, a).to;
            case Op::tanh: return pair(Code::tanh, Code::tanh_poly, a).to;
            case Op::asin:
            case Op::acos: {
                const std::uint32_t rest = difference(one(), product(a, a));
                return integral(n.op, a, emit_recurrence(instruction(Code::sqrt, rest), Code::sqrt, rest));
            }
            case Op::atan: return integral(Op::atan, a, sum(product(a, a), one()));
            case Op::atan2: {
                const std::uint32_t y = as_row(a), x = as_row(b);
                const std::uint32_t squares = sum(product(a, a), product(b, b));
                return angle(y, x, squares);
            }
            case Op::hypot: {
                const std::uint32_t squares = sum(product(a, a), product(b, b));
                return emit_recurrence(instruction(Code::hypot, a, b, squares), Code::hypot, squares);
            }
            case Op::abs: return absolute(a);
            case Op::min:
            case Op::max: return extremum(n.op, a, b);
            case Op::sign: return compare(Op::sign, a);
            case Op::less:
            case Op::less_equal:
            case Op::equal:
            case Op::not_equal: {
                if (a == b) return emit_value(n.op, s, 0);  // the same for all τ; order 0 tells, also if it is NaN
                const bool ordered = n.op == Op::less || n.op == Op::less_equal;
                return compare(n.op, ordered ? difference(b, a) : difference(a, b));
            }
            case Op::select: return choose(a, b, c);
            case Op::constant:
            case Op::symbol: break;
        }
        misuse("an operation with operands", __FILE__, __LINE__);
    }

    std::uint32_t sum(std::uint32_t a, std::uint32_t b) {
        if (is_scalar(a) && is_scalar(b)) return emit_value(Op::add, {a, b, none}, 0);
        if (is_scalar(a)) std::swap(a, b);
        if (is_scalar(b)) return emit_row(instruction(Code::add_scalar, a, b), degree(a));
        return emit_row(instruction(Code::add, a, b), std::max(degree(a), degree(b)));
    }

    std::uint32_t difference(std::uint32_t a, std::uint32_t b) {
        if (is_scalar(a) && is_scalar(b)) return emit_value(Op::sub, {a, b, none}, 0);
        if (is_zero(b)) return a;
        if (is_zero(a)) return emit_row(instruction(Code::neg, b), degree(b));
        if (is_scalar(b)) return emit_row(instruction(Code::sub_scalar, a, b), degree(a));
        if (is_scalar(a)) return emit_row(instruction(Code::scalar_sub, b, a), degree(b));
        return emit_row(instruction(Code::sub, a, b), std::max(degree(a), degree(b)));
    }

    std::uint32_t product(std::uint32_t a, std::uint32_t b) {
        if (is_scalar(a) && is_scalar(b)) return emit_value(Op::mul, {a, b, none}, 0);
        if (is_scalar(a)) std::swap(a, b);
        if (is_scalar(b)) return emit_row(instruction(Code::scale, a, b), degree(a));
        if (degree(b) < degree(a) || (degree(a) == degree(b) && b < a)) std::swap(a, b);
        if (is_finite(a)) {
            Instruction i = instruction(Code::mul_poly, a, b);
            limit(i, Code::mul_poly, a);
            const bool tracked = is_finite(b) && degree(a) + degree(b) <= highest_tracked_degree;
            return emit_row(i, tracked ? degree(a) + degree(b) : unlimited);
        }
        return emit_row(a == b ? instruction(Code::square, a) : instruction(Code::mul, a, b), unlimited);
    }

    std::uint32_t quotient(std::uint32_t a, std::uint32_t b) {
        if (is_scalar(b)) return product(a, emit_value(Op::div, {one(), b, none}, 0));
        return emit_recurrence(instruction(Code::div, as_row(a), b), Code::div_poly, b);
    }

    /// x^n by repeated squaring, in the order of `power` of graph.hpp. A negative n gives a power of the reciprocal,
    /// not the reciprocal of a power, because that gives sharper bounds: the radius of 1/x is finite if x is not 0 on
    /// the disk, and then so are the radii of its powers.
    std::uint32_t integer_power(std::uint32_t x, int n) {
        if (n == 0) return one();
        if (n < 0) return integer_power(quotient(one(), x), -n);
        std::uint32_t result = none;
        for (std::uint32_t square = x;; square = product(square, square)) {
            if ((n & 1) != 0) result = result == none ? square : product(result, square);
            n >>= 1;
            if (n == 0) return result;
        }
    }

    std::uint32_t power(std::uint32_t a, std::uint32_t exponent) {
        Instruction i = instruction(Code::pow, a, exponent);
        limit(i, Code::pow_poly, a);
        return emit(i,
                    [&](Instruction& n) {
                        n.to = new_row(unlimited);
                        n.to2 = new_row(unlimited);
                        tape_.slots_[n.to2].rows_for_pow = highest_product_power - 2;
                        n.aux = new_scalar();
                        n.number = tape_.powers_++;
                    })
            .to;
    }

    std::uint32_t varying_power(std::uint32_t base, std::uint32_t exponent) {
        const std::uint32_t logarithm =
            is_scalar(base) ? emit_value(Op::log, {base, none, none}, 0) : integral(Op::log, base, base);
        const std::uint32_t argument = product(exponent, logarithm);
        return emit_row(instruction(Code::pow_varying, argument, base, exponent), unlimited);
    }

    std::uint32_t exponential(std::uint32_t a) {
        Instruction i = instruction(Code::exp, a);
        limit(i, Code::exp_poly, a);
        return emit_row(i, unlimited);
    }

    /// log a, asin a, acos a or atan a: the function f(a) with df/dτ = ±(da/dτ)/denominator.
    std::uint32_t integral(Op op, std::uint32_t a, std::uint32_t denominator) {
        Instruction i = instruction(Code::integral, a, denominator);
        i.op = op;
        return emit_recurrence(i, Code::integral_poly, denominator);
    }

    /// Two functions of a that satisfy one system of differential equations.
    Instruction pair(Code code, Code poly, std::uint32_t a) {
        Instruction i = instruction(code, a);
        limit(i, poly, a);
        return emit(i, [&](Instruction& n) {
            n.to = new_row(unlimited);
            n.to2 = new_row(unlimited);
        });
    }

    // --- switches --------------------------------------------------------------------------------------------

    int new_switch(std::uint32_t function, Op op) {
        const bool jumps = op != Op::abs && op != Op::min && op != Op::max;
        tape_.switches_.push_back({function, op, jumps});
        return static_cast<int>(tape_.switches_.size() - 1);
    }

    std::uint32_t compare(Op op, std::uint32_t function) {
        Instruction i = instruction(Code::compare, function);
        i.op = op;
        return emit(i,
                    [&](Instruction& n) {
                        n.to = new_scalar();
                        n.number = new_switch(function, op);
                    })
            .to;
    }

    std::uint32_t absolute(std::uint32_t a) {
        return emit(instruction(Code::abs, a),
                    [&](Instruction& n) {
                        n.to = new_row(degree(a));
                        n.aux = new_scalar();
                        n.number = new_switch(a, Op::abs);
                    })
            .to;
    }

    std::uint32_t angle(std::uint32_t y, std::uint32_t x, std::uint32_t squares) {
        return emit(instruction(Code::atan2, y, x, squares),
                    [&](Instruction& n) {
                        n.to = new_row(unlimited);
                        n.aux = new_scalar();
                        n.number = is_scalar(y) ? SeriesTape::no_switch : new_switch(y, Op::atan2);
                    })
            .to;
    }

    std::uint32_t extremum(Op op, std::uint32_t a, std::uint32_t b) {
        if (a == b) return a;
        const std::uint32_t function = difference(a, b);
        Instruction i = instruction(Code::extremum, as_row(a), as_row(b), function);
        i.op = op;
        return emit(i,
                    [&](Instruction& n) {
                        n.to = new_row(std::max(degree(a), degree(b)));
                        n.number = new_switch(function, op);
                        n.aux = static_cast<std::uint32_t>(tape_.choices_++);
                    })
            .to;
    }

    std::uint32_t choose(std::uint32_t condition, std::uint32_t a, std::uint32_t b) {
        if (!is_scalar(condition)) condition = compare(Op::not_equal, condition);
        if (a == b) return a;
        if (is_scalar(a) && is_scalar(b)) return emit_value(Op::select, {condition, a, b}, 0);
        return emit(instruction(Code::choose, condition, as_row(a), as_row(b)),
                    [&](Instruction& n) {
                        n.to = new_row(std::max(degree(a), degree(b)));
                        n.aux = static_cast<std::uint32_t>(tape_.choices_++);
                    })
            .to;
    }

    // --- fusing ----------------------------------------------------------------------------------------------

    /// If a product or a scaling is read by one sum (or difference) and by nothing else, then one instruction computes
    /// both. That saves an instruction and a row. Outputs and switching functions count as two readers, because their
    /// rows must stay.
    void fuse_sums() {
        std::vector<int> uses(tape_.slots_.size(), 0);
        const auto use = [&](std::uint32_t s) {
            if (s != none) ++uses[s];
        };
        for (const Instruction& i : tape_.values_)
            for (const std::uint32_t s : {i.a, i.b, i.c}) use(s);
        for (const std::uint32_t s : tape_.outputs_) uses[s] += 2;
        for (const Switch& s : tape_.switches_) uses[s.function] += 2;

        std::vector<std::size_t> maker(tape_.slots_.size(), 0);
        for (std::size_t k = 0; k < tape_.values_.size(); ++k) maker[tape_.values_[k].to] = k;
        std::vector<bool> fused(tape_.values_.size(), false);
        const auto made_by = [&](std::uint32_t slot, Code code) {
            const std::size_t k = maker[slot];
            return uses[slot] == 1 && tape_.values_[k].to == slot && tape_.values_[k].code == code && !fused[k];
        };
        for (Instruction& i : tape_.values_) {
            if ((i.code != Code::add && i.code != Code::sub) || is_finite(i.to) || i.a == i.b) continue;
            for (const Code code : {Code::mul, Code::scale}) {
                const bool left = made_by(i.a, code);
                if (!left && !made_by(i.b, code)) continue;
                const std::size_t k = maker[left ? i.a : i.b];
                const std::uint32_t rest = left ? i.b : i.a;
                const bool scales = code == Code::scale;
                if (i.code == Code::add)
                    i.code = scales ? Code::scale_add : Code::mul_add;
                else if (left)
                    i.code = scales ? Code::scale_sub : Code::mul_sub;
                else
                    i.code = scales ? Code::sub_scale : Code::sub_mul;
                i.a = tape_.values_[k].a;
                i.b = tape_.values_[k].b;
                i.c = rest;
                fused[k] = true;
                tape_.slots_[tape_.values_[k].to].is_row = false;  // nothing reads it any more
                break;
            }
        }
        std::size_t kept = 0;
        for (std::size_t k = 0; k < tape_.values_.size(); ++k)
            if (!fused[k]) tape_.values_[kept++] = tape_.values_[k];
        tape_.values_.resize(kept);
    }

    // --- weighted copies -------------------------------------------------------------------------------------

    /// The recurrences of functions contain the products j a_j of order and coefficient: (e^a)' = a' e^a gives
    /// k c_k = Σ j a_j c_(k−j). A series of which some recurrence needs them keeps a second row with j a_j.
    void request_weighted_copies() {
        std::vector<Slot>& slots = tape_.slots_;
        for (const Instruction& i : tape_.values_) {
            switch (i.code) {
                case Code::exp:
                case Code::pow_varying:
                case Code::sincos:
                case Code::sinhcosh:
                case Code::tan:
                case Code::tanh: slots[i.a].weighted = true; break;
                case Code::integral: slots[i.to].weighted = true; break;
                case Code::pow: slots[i.a].weighted = slots[i.to].weighted = true; break;
                case Code::atan2: slots[i.a].weighted = slots[i.b].weighted = slots[i.to].weighted = true; break;
                default: break;
            }
        }
    }

    // --- order of the instructions ---------------------------------------------------------------------------

    void sort_instructions(const SeriesStages& stages) {
        const std::vector<char> is_given = given_slots(stages), is_needed = needed_slots(stages);
        tape_.given_variables_ = stages.given;
        std::vector<Instruction> series;
        for (const Instruction& i : tape_.values_) {
            if (is_scalar(i.to)) continue;
            if (is_finite(i.to)) {
                tape_.polynomials_.push_back(i);
                tape_.highest_degree_ = std::max(tape_.highest_degree_, degree(i.to));
            } else if (is_given[i.to] != 0) {
                tape_.given_.push_back(i);
            } else if (is_needed[i.to] == 0 && (i.to2 == none || is_needed[i.to2] == 0)) {
                tape_.later_.push_back(i);
            } else {
                series.push_back(i);
            }
        }
        // The degree of a result is never lower than the degree of an operand. So a stable sort by degree keeps
        // operands before their results.
        std::stable_sort(tape_.polynomials_.begin(), tape_.polynomials_.end(),
                         [&](const Instruction& x, const Instruction& y) { return degree(x.to) < degree(y.to); });
        group(series);
    }

    /// Per slot: 1 if it depends on given variables alone (SeriesStages::given). All 0 if no variable is given.
    std::vector<char> given_slots(const SeriesStages& stages) const {
        std::vector<char> is_given(tape_.slots_.size(), 0);
        if (stages.given == 0) return is_given;
        std::fill(is_given.begin(), is_given.end(), 1);
        for (std::size_t i = static_cast<std::size_t>(stages.given); i < tape_.variables_.size(); ++i)
            is_given[tape_.variables_[i]] = 0;
        for (const Instruction& i : tape_.values_)
            for (const std::uint32_t s : {i.a, i.b, i.c})
                if (s != none && is_given[s] == 0) {
                    is_given[i.to] = 0;
                    if (i.to2 != none) is_given[i.to2] = 0;
                }
        return is_given;
    }

    /// Per slot: 1 if an output depends on it whose coefficients are wanted during the expansion, that is, which
    /// SeriesStages::later does not name.
    std::vector<char> needed_slots(const SeriesStages& stages) const {
        std::vector<char> is_needed(tape_.slots_.size(), stages.later.empty() ? 1 : 0);
        for (std::size_t k = 0; k < stages.later.size(); ++k)
            if (stages.later[k] == 0) is_needed[tape_.outputs_[k]] = 1;
        for (std::size_t k = tape_.values_.size(); k-- > 0;) {
            const Instruction& i = tape_.values_[k];
            if (is_needed[i.to] == 0 && (i.to2 == none || is_needed[i.to2] == 0)) continue;
            for (const std::uint32_t s : {i.a, i.b, i.c})
                if (s != none) is_needed[s] = 1;
        }
        return is_needed;
    }

    /// Sorts instructions so that equal codes follow each other, which a processor predicts better. List scheduling: it
    /// takes all instructions of one code that are ready, then goes on with the code that has the most.
    void group(const std::vector<Instruction>& series) {
        constexpr std::size_t codes = static_cast<std::size_t>(Code::stop);
        std::vector<std::size_t> maker(tape_.slots_.size(), series.size());
        for (std::size_t k = 0; k < series.size(); ++k) {
            maker[series[k].to] = k;
            if (series[k].to2 != none) maker[series[k].to2] = k;
        }
        std::vector<int> missing(series.size(), 0);
        std::vector<std::vector<std::size_t>> readers(series.size());
        std::array<std::vector<std::size_t>, codes> ready;
        const auto make_ready = [&](std::size_t k) { ready[static_cast<std::size_t>(series[k].code)].push_back(k); };
        for (std::size_t k = 0; k < series.size(); ++k) {
            for (const std::uint32_t s : {series[k].a, series[k].b, series[k].c}) {
                if (s == none || maker[s] == series.size()) continue;
                readers[maker[s]].push_back(k);
                ++missing[k];
            }
            if (missing[k] == 0) make_ready(k);
        }
        while (tape_.unlimited_.size() < series.size()) {
            auto& most = *std::max_element(ready.begin(), ready.end(),
                                           [](const auto& x, const auto& y) { return x.size() < y.size(); });
            for (std::size_t at = 0; at < most.size(); ++at) {
                tape_.unlimited_.push_back(series[most[at]]);
                for (const std::size_t k : readers[most[at]])
                    if (--missing[k] == 0) make_ready(k);
            }
            most.clear();
        }
    }

    using Key = std::tuple<int, int, int, std::uint32_t, std::uint32_t, std::uint32_t>;

    SeriesTape& tape_;
    std::vector<std::uint32_t> slot_of_;  // by node
    /// The instructions so far, by code and operands: whether it is in prepared_ (otherwise in values_), and its index.
    std::map<Key, std::pair<bool, std::size_t>> made_;
    std::uint32_t one_ = none;
    std::vector<std::uint32_t> zeros_;  // slots of constants that are exactly 0
};

SeriesTape::SeriesTape(const Graph& graph, std::span<const Expr> outputs, std::span<const Expr> parameters,
                       std::span<const Expr> variables, Expr time, const SeriesStages& stages) {
    Compiler(*this, graph, outputs, parameters, variables, time, stages);
}

}  // namespace saltus::expr
