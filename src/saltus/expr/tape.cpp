// SPDX-License-Identifier: Apache-2.0
#include "saltus/expr/tape.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "saltus/base/error.hpp"

namespace saltus::expr {

// --- compiling -----------------------------------------------------------------------------------------------

/// Compiles in two steps. First it selects instructions, with one virtual register for each node. Then it assigns slots
/// and reuses those of values that are no longer needed. So the slots of a long tape stay in the first-level cache,
/// even with eight lanes per slot.
class Tape::Compiler {
public:
    Compiler(Tape& tape, const Graph& graph, std::span<const Expr> outputs, std::span<const Expr> parameters,
             std::span<const Expr> variables)
        : tape_(tape), graph_(graph), slot_(graph.size(), none), role_(graph.size(), Role::computed) {
        nodes_ = reachable(graph, outputs);
        count_uses(outputs);
        place_inputs(parameters, variables);
        std::vector<Instruction> prepared, main;
        select_instructions(prepared, main);
        place_prepared(prepared);
        tape.first_variable_ = next_;
        for (const Expr v : variables) slot_[v.id] = next_++;
        place_temporaries(main, outputs);
        tape.prepared_ = std::move(prepared);
        tape.main_ = std::move(main);
        for (const Expr e : outputs) tape.outputs_.push_back(slot_[e.id]);
        tape.slots_ = next_;
    }

private:
    static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
    enum class Role : std::uint8_t { constant, parameter, variable, computed };

    /// Whether a node depends on no variable. Such a node is computed by `prepare`.
    bool is_prepared(Expr e) const { return !varies_[e.id]; }
    bool is_computed(Expr e) const { return role_[e.id] == Role::computed; }

    void count_uses(std::span<const Expr> outputs) {
        uses_.assign(graph_.size(), 0);
        for (const Expr e : outputs) uses_[e.id] += 2;  // an output needs a slot of its own, so it is never fused
        for (const Expr e : nodes_) {
            const Node& n = graph_[e];
            const int operands = operand_count(n.op);
            if (operands > 0) ++uses_[n.a.id];
            if (operands > 1) ++uses_[n.b.id];
            if (operands > 2) ++uses_[n.c.id];
        }
    }

    void place_inputs(std::span<const Expr> parameters, std::span<const Expr> variables) {
        tape_.parameters_ = parameters.size();
        tape_.variables_ = variables.size();
        for (const Expr e : nodes_) {
            if (graph_[e].op != Op::constant) continue;
            role_[e.id] = Role::constant;
            slot_[e.id] = next_++;
            tape_.constants_.push_back({graph_[e].value, graph_[e].low, graph_[e].high});
        }
        for (const Expr e : parameters) {
            role_[e.id] = Role::parameter;
            slot_[e.id] = next_++;
        }
        varies_.assign(graph_.size(), false);
        for (const Expr e : variables) {
            role_[e.id] = Role::variable;
            varies_[e.id] = true;
        }
        for (const Expr e : nodes_) {
            const Node& n = graph_[e];
            SALTUS_EXPECT(n.op != Op::symbol || role_[e.id] != Role::computed);
            const int operands = operand_count(n.op);
            varies_[e.id] = varies_[e.id] || (operands > 0 && varies_[n.a.id]) || (operands > 1 && varies_[n.b.id]) ||
                            (operands > 2 && varies_[n.c.id]);
        }
    }

    void select_instructions(std::vector<Instruction>& prepared, std::vector<Instruction>& main) {
        std::vector<std::uint32_t> sine_of(graph_.size(), none), cosine_of(graph_.size(), none);
        for (const Expr e : nodes_) {
            if (graph_[e].op == Op::sin) sine_of[graph_[e].a.id] = e.id;
            if (graph_[e].op == Op::cos) cosine_of[graph_[e].a.id] = e.id;
        }
        std::vector<bool> done(graph_.size(), false);
        mark_folded(done);
        for (const Expr e : nodes_) {
            if (!is_computed(e) || done[e.id]) continue;
            const Node& n = graph_[e];
            Instruction i{static_cast<std::uint8_t>(n.op), e.id, n.a.id, n.b.id, n.c.id};
            if (n.op == Op::powi) i.b = static_cast<std::uint32_t>(n.exponent);
            const bool angle = n.op == Op::sin || n.op == Op::cos;
            if (angle && sine_of[n.a.id] != none && cosine_of[n.a.id] != none) {
                i = {sincos, sine_of[n.a.id], n.a.id, 0, cosine_of[n.a.id]};
                done[i.c] = done[i.to] = true;
            }
            if (n.op == Op::add || n.op == Op::sub) fold_product(n, i);
            (is_prepared(e) ? prepared : main).push_back(i);
        }
    }

    bool foldable(Expr product, bool into_prepared) const {
        return graph_[product].op == Op::mul && uses_[product.id] == 1 && is_prepared(product) == into_prepared;
    }

    /// The product that a sum or difference is fused with: an operand that nothing else reads. `e` itself if there is
    /// none.
    Expr folded_operand(Expr e) const {
        const Node& n = graph_[e];
        if (n.op != Op::add && n.op != Op::sub) return e;
        if (foldable(n.a, is_prepared(e))) return n.a;
        if (foldable(n.b, is_prepared(e))) return n.b;
        return e;
    }

    void mark_folded(std::vector<bool>& done) const {
        for (const Expr e : nodes_)
            if (const Expr product = folded_operand(e); !(product == e)) done[product.id] = true;
    }

    void fold_product(const Node& n, Instruction& i) const {
        const Expr e{i.to};
        const Expr product = folded_operand(e);
        if (product == e) return;
        const Node& p = graph_[product];
        const bool left = product == n.a;
        const std::uint32_t other = left ? n.b.id : n.a.id;
        const std::uint8_t code = n.op == Op::add ? mul_add : (left ? mul_sub : sub_mul);
        i = {code, e.id, p.a.id, p.b.id, other};
    }

    template <class F>
    static void for_each_operand(Instruction& i, F f) {
        const int operands = i.code == sincos ? 1 : (i.code > sincos ? 3 : operand_count(static_cast<Op>(i.code)));
        if (operands > 0) f(i.a);
        if (operands > 1) f(i.b);
        if (operands > 2) f(i.c);
    }

    void place_prepared(std::vector<Instruction>& code) {
        for (Instruction& i : code) {
            slot_[i.to] = next_++;
            if (i.code == sincos) slot_[i.c] = next_++;
            rename(i);
        }
    }

    void rename(Instruction& i) {
        for_each_operand(i, [&](std::uint32_t& x) { x = slot_[x]; });
        if (i.code == sincos) i.c = slot_[i.c];
        i.to = slot_[i.to];
    }

    void place_temporaries(std::vector<Instruction>& code, std::span<const Expr> outputs) {
        constexpr std::size_t forever = std::numeric_limits<std::size_t>::max();
        std::vector<std::size_t> last_use(graph_.size(), 0);
        for (std::size_t k = 0; k < code.size(); ++k)
            for_each_operand(code[k], [&](std::uint32_t x) { last_use[x] = k; });
        for (const Expr e : outputs) last_use[e.id] = forever;

        std::vector<std::uint32_t> free;
        const auto take = [&] {
            if (free.empty()) return next_++;
            const std::uint32_t s = free.back();
            free.pop_back();
            return s;
        };
        for (std::size_t k = 0; k < code.size(); ++k) {
            Instruction& i = code[k];
            const Instruction nodes = i;
            // Operands that are read here for the last time release their slots first, so the result may overwrite
            // them.
            for_each_operand(i, [&](std::uint32_t x) {
                if (last_use[x] == k && is_temporary(x)) {
                    free.push_back(slot_[x]);
                    last_use[x] = forever;  // release once, even if it is both operands of this instruction
                }
            });
            slot_[nodes.to] = take();
            if (nodes.code == sincos) slot_[nodes.c] = take();
            rename(i);
            mark_temporary(nodes.to);
            if (nodes.code == sincos) mark_temporary(nodes.c);
        }
    }

    bool is_temporary(std::uint32_t x) const { return x < temporary_.size() && temporary_[x]; }
    void mark_temporary(std::uint32_t x) {
        if (temporary_.size() <= x) temporary_.resize(graph_.size(), false);
        temporary_[x] = true;
    }

    Tape& tape_;
    const Graph& graph_;
    std::vector<Expr> nodes_;
    std::vector<std::uint32_t> uses_, slot_;
    std::vector<Role> role_;
    std::vector<bool> varies_, temporary_;
    std::uint32_t next_ = 0;
};

Tape::Tape(const Graph& graph, std::span<const Expr> outputs, std::span<const Expr> parameters,
           std::span<const Expr> variables) {
    Compiler(*this, graph, outputs, parameters, variables);
}

// --- evaluating ----------------------------------------------------------------------------------------------

namespace {

// Operations that the standard library does not have, for each type of values. They must agree with apply(), which
// defines them. Intervals have their own (interval.hpp).

double less(double a, double b) { return a < b ? 1.0 : 0.0; }
double less_equal(double a, double b) { return a <= b ? 1.0 : 0.0; }
double equal(double a, double b) { return a == b ? 1.0 : 0.0; }
double not_equal(double a, double b) { return a != b ? 1.0 : 0.0; }
double sign(double a) { return a > 0.0 ? 1.0 : (a < 0.0 ? -1.0 : a); }
double minimum(double a, double b) { return b < a ? b : a; }
double maximum(double a, double b) { return a < b ? b : a; }
double select(double c, double a, double b) { return c != 0.0 ? a : b; }
double angle(double y, double x) { return std::atan2(y + 0.0, x + 0.0); }
double powi(double a, int n) { return power(a, n); }

template <double (*f)(double, double)>
Lanes each(const Lanes& a, const Lanes& b) {
    return map(a, b, [](double x, double y) { return f(x, y); });
}
Lanes less(const Lanes& a, const Lanes& b) { return each<less>(a, b); }
Lanes less_equal(const Lanes& a, const Lanes& b) { return each<less_equal>(a, b); }
Lanes equal(const Lanes& a, const Lanes& b) { return each<equal>(a, b); }
Lanes not_equal(const Lanes& a, const Lanes& b) { return each<not_equal>(a, b); }
Lanes sign(const Lanes& a) {
    return map(a, [](double x) { return sign(x); });
}
Lanes minimum(const Lanes& a, const Lanes& b) { return each<minimum>(a, b); }
Lanes maximum(const Lanes& a, const Lanes& b) { return each<maximum>(a, b); }
Lanes angle(const Lanes& y, const Lanes& x) { return atan2(y, x); }
Lanes powi(const Lanes& a, int n) { return power(a, n); }

Interval angle(const Interval& y, const Interval& x) { return atan2(y, x); }
Interval minimum(const Interval& a, const Interval& b) { return min(a, b); }
Interval maximum(const Interval& a, const Interval& b) { return max(a, b); }

/// The product of two slots. If both are the same slot, an interval is squared, which gives a tighter range.
template <class V>
V product(const V& a, const V& b, bool same) {
    if constexpr (std::is_same_v<V, Interval>)
        if (same) return sqr(a);
    (void)same;
    return a * b;
}

void sine_and_cosine(double angle, double& s, double& c) { ::sincos(angle, &s, &c); }
void sine_and_cosine(const Interval& angle, Interval& s, Interval& c) {
    s = sin(angle);
    c = cos(angle);
}

}  // namespace

template <class V>
void Tape::run(std::span<const Instruction> code, V* s) {
    using std::abs, std::acos, std::asin, std::atan, std::cos, std::cosh, std::exp, std::hypot, std::log, std::pow,
        std::sin, std::sinh, std::sqrt, std::tan, std::tanh;
    for (const Instruction& i : code) {
        switch (i.code) {
            case static_cast<int>(Op::add): s[i.to] = s[i.a] + s[i.b]; break;
            case static_cast<int>(Op::sub): s[i.to] = s[i.a] - s[i.b]; break;
            case static_cast<int>(Op::mul): s[i.to] = product(s[i.a], s[i.b], i.a == i.b); break;
            case static_cast<int>(Op::div): s[i.to] = s[i.a] / s[i.b]; break;
            case static_cast<int>(Op::neg): s[i.to] = -s[i.a]; break;
            case static_cast<int>(Op::powi): s[i.to] = powi(s[i.a], static_cast<int>(i.b)); break;
            case static_cast<int>(Op::pow): s[i.to] = pow(s[i.a], s[i.b]); break;
            case static_cast<int>(Op::sqrt): s[i.to] = sqrt(s[i.a]); break;
            case static_cast<int>(Op::exp): s[i.to] = exp(s[i.a]); break;
            case static_cast<int>(Op::log): s[i.to] = log(s[i.a]); break;
            case static_cast<int>(Op::sin): s[i.to] = sin(s[i.a]); break;
            case static_cast<int>(Op::cos): s[i.to] = cos(s[i.a]); break;
            case static_cast<int>(Op::tan): s[i.to] = tan(s[i.a]); break;
            case static_cast<int>(Op::asin): s[i.to] = asin(s[i.a]); break;
            case static_cast<int>(Op::acos): s[i.to] = acos(s[i.a]); break;
            case static_cast<int>(Op::atan): s[i.to] = atan(s[i.a]); break;
            case static_cast<int>(Op::sinh): s[i.to] = sinh(s[i.a]); break;
            case static_cast<int>(Op::cosh): s[i.to] = cosh(s[i.a]); break;
            case static_cast<int>(Op::tanh): s[i.to] = tanh(s[i.a]); break;
            case static_cast<int>(Op::abs): s[i.to] = abs(s[i.a]); break;
            case static_cast<int>(Op::sign): s[i.to] = sign(s[i.a]); break;
            case static_cast<int>(Op::atan2): s[i.to] = angle(s[i.a], s[i.b]); break;
            case static_cast<int>(Op::hypot): s[i.to] = hypot(s[i.a], s[i.b]); break;
            case static_cast<int>(Op::min): s[i.to] = minimum(s[i.a], s[i.b]); break;
            case static_cast<int>(Op::max): s[i.to] = maximum(s[i.a], s[i.b]); break;
            case static_cast<int>(Op::less): s[i.to] = less(s[i.a], s[i.b]); break;
            case static_cast<int>(Op::less_equal): s[i.to] = less_equal(s[i.a], s[i.b]); break;
            case static_cast<int>(Op::equal): s[i.to] = equal(s[i.a], s[i.b]); break;
            case static_cast<int>(Op::not_equal): s[i.to] = not_equal(s[i.a], s[i.b]); break;
            case static_cast<int>(Op::select): s[i.to] = select(s[i.a], s[i.b], s[i.c]); break;
            case sincos: {
                const V angle = s[i.a];
                sine_and_cosine(angle, s[i.to], s[i.c]);
                break;
            }
            case mul_add: s[i.to] = product(s[i.a], s[i.b], i.a == i.b) + s[i.c]; break;
            case mul_sub: s[i.to] = product(s[i.a], s[i.b], i.a == i.b) - s[i.c]; break;
            case sub_mul: s[i.to] = s[i.c] - product(s[i.a], s[i.b], i.a == i.b); break;
            default: misuse("a known instruction", __FILE__, __LINE__);
        }
    }
}

template <class V>
void Tape::prepare(std::span<const V> parameters, std::span<V> scratch) const {
    SALTUS_EXPECT(parameters.size() == parameters_ && scratch.size() >= slots_);
    V* slot = std::transform(constants_.begin(), constants_.end(), scratch.data(), [](const Constant& c) {
        if constexpr (std::is_same_v<V, Interval>)
            return c.low <= c.high ? Interval(c.low, c.high) : Interval(c.value);
        else
            return V(c.value);
    });
    std::copy(parameters.begin(), parameters.end(), slot);
    run(std::span<const Instruction>(prepared_), scratch.data());
}

template <class V>
void Tape::evaluate(std::span<const V> values, std::span<V> scratch, std::span<V> out) const {
    SALTUS_EXPECT(values.size() == variables_ && scratch.size() >= slots_);
    std::copy(values.begin(), values.end(), scratch.data() + first_variable_);
    evaluate_in_place(scratch, out);
}

template <class V>
void Tape::evaluate_in_place(std::span<V> scratch, std::span<V> out) const {
    SALTUS_EXPECT(scratch.size() >= slots_ && out.size() >= outputs_.size());
    V* const slot = scratch.data();
    run(std::span<const Instruction>(main_), slot);
    V* to = out.data();
    for (const std::uint32_t k : outputs_) *to++ = slot[k];
}

template void Tape::prepare(std::span<const double>, std::span<double>) const;
template void Tape::prepare(std::span<const Lanes>, std::span<Lanes>) const;
template void Tape::prepare(std::span<const Interval>, std::span<Interval>) const;
template void Tape::evaluate(std::span<const double>, std::span<double>, std::span<double>) const;
template void Tape::evaluate(std::span<const Lanes>, std::span<Lanes>, std::span<Lanes>) const;
template void Tape::evaluate(std::span<const Interval>, std::span<Interval>, std::span<Interval>) const;

template void Tape::evaluate_in_place(std::span<double>, std::span<double>) const;
template void Tape::evaluate_in_place(std::span<Lanes>, std::span<Lanes>) const;
template void Tape::evaluate_in_place(std::span<Interval>, std::span<Interval>) const;

}  // namespace saltus::expr
