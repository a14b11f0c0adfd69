// SPDX-License-Identifier: Apache-2.0
#include "saltus/expr/series/series_statements.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "saltus/base/error.hpp"
#include "saltus/expr/detail/operation_text.hpp"
#include "saltus/expr/statements.hpp"

// The recurrences are those of detail/series_steps.inc, whose comments derive them, and the bounds are those of
// series_bounds.cpp. Most series are read by sums and scalings only, at the order at which they are computed: such a
// series is a local variable, and only operands of products and of functions stay in memory. On a GPU this memory
// decides how many motions run at once.

namespace saltus::expr {

const char* series_functions() {
    return R"(
SALTUS_FUNCTION double saltus_product(const double* a, const double* b, int first, int k) {
    double v = 0.0;
    for (int j = first; j <= k; j++) v = v + a[j] * b[k - j];
    return v;
}
SALTUS_FUNCTION double saltus_polynomial_product(const double* a, const double* b, int limit, int k) {
    double v = 0.0;
    for (int j = 0; j <= k && j <= limit; j++) v = v + a[j] * b[k - j];
    return v;
}
SALTUS_FUNCTION double saltus_inner_square(const double* a, int k) {
    double v = 0.0;
    for (int j = 1; j < k - j; j++) v = v + a[j] * a[k - j];
    v = 2.0 * v;
    return k % 2 == 0 ? v + a[k / 2] * a[k / 2] : v;
}
SALTUS_FUNCTION double saltus_quotient(double a, const double* r, const double* b, int limit, int k) {
    for (int j = 1; j <= k && j <= limit; j++) a = a - b[j] * r[k - j];
    return a;
}
SALTUS_FUNCTION double saltus_integral(const double* a, const double* g, int limit, int k) {
    double v = 0.0;
    for (int j = 1; j < k && j <= limit; j++) v = v + (double)j * a[j] * g[k - j];
    v = v / (double)k;
    return k <= limit ? v + g[0] * a[k] : v;
}
SALTUS_FUNCTION double saltus_weighted(const double* b, const double* r, int limit, int k) {
    double v = 0.0;
    for (int j = 1; j < k && j <= limit; j++) v = v + (double)(k - j) * b[j] * r[k - j];
    return v / (double)k;
}
)";
}

const char* series_bound_functions() {
    return R"(
SALTUS_FUNCTION double saltus_enlarged(double rho) {
    return rho >= 0.0 ? rho * (1.0 + 1e-14) + 1e-300 : INFINITY;
}
SALTUS_FUNCTION double saltus_product_radius(double a, double rho_a, double b, double rho_b) {
    if ((a == 0.0 && rho_a == 0.0) || (b == 0.0 && rho_b == 0.0)) return 0.0;
    return fabs(a) * rho_b + fabs(b) * rho_a + rho_a * rho_b;
}
SALTUS_FUNCTION double saltus_quotient_radius(double a, double rho_a, double b, double rho_b) {
    const double size = fabs(b);
    return rho_b < size ? (rho_a * size + fabs(a) * rho_b) / (size * (size - rho_b)) : INFINITY;
}
SALTUS_FUNCTION double saltus_sqrt_radius(double a, double rho) {
    if (!(rho < a)) return INFINITY;
    const double x = rho / a;
    return sqrt(a) * x / (1.0 + sqrt(1.0 - x));
}
SALTUS_FUNCTION double saltus_exp_radius(double a, double rho) {
    return exp(a + rho + 1e-14 * (fabs(a) + rho)) * -expm1(-rho);
}
SALTUS_FUNCTION double saltus_oscillation_radius(double f, double g, double rho) {
    const double sh = sinh(0.5 * rho);
    return fabs(f) * (2.0 * sh * sh) + fabs(g) * (2.0 * sh * sqrt(1.0 + sh * sh));
}
SALTUS_FUNCTION double saltus_tan_radius(double t, double g, double rho) {
    const double sh = sinh(0.5 * rho), sine = 2.0 * sh * sqrt(1.0 + sh * sh);
    const double rest = 1.0 - 2.0 * sh * sh - fabs(t) * sine;
    return rest > 0.0 ? g * sine / rest : INFINITY;
}
SALTUS_FUNCTION double saltus_tanh_radius(double a, double t, double g, double rho) {
    const double near = saltus_tan_radius(t, g, rho), far = rho < fabs(a) ? 2.0 / expm1(2.0 * (fabs(a) - rho)) : INFINITY;
    return near < far ? near : far;
}
SALTUS_FUNCTION double saltus_log_radius(double a, double rho) { return rho < a ? -log1p(-rho / a) : INFINITY; }
SALTUS_FUNCTION double saltus_asin_radius(double a, double rho) {
    const double near = 1.0 - fabs(a) - rho, far = 1.0 + fabs(a) - rho;
    return near > 0.0 ? rho / sqrt(near * far) : INFINITY;
}
SALTUS_FUNCTION double saltus_angle_radius(double y, double rho_y, double x, double rho_x) {
    const double r = hypot(x, y), rho = rho_x + rho_y;
    return rho < r ? (fabs(x) * rho_y + fabs(y) * rho_x) / (r * (r - rho)) : INFINITY;
}
SALTUS_FUNCTION double saltus_pow_radius(double a, double rho, double p) {
    const double size = fabs(a);
    const int integer = p == floor(p);
    if (p >= 0.0 && integer) {
        if (p == 0.0) return 0.0;
        return size > 0.0 ? pow(size, p) * expm1(p * log1p(rho / size) * (1.0 + 1e-14)) : pow(rho, p);
    }
    if (!(rho < size) || (a < 0.0 && !integer)) return INFINITY;
    return pow(size, p) * expm1(-fabs(p) * log1p(-rho / size) * (1.0 + 1e-14));
}
)";
}

/// Writes the statements. It is a class of its own because SeriesTape gives access to it alone.
class SeriesText {
public:
    SeriesText(const SeriesTape& tape, std::span<const double> parameters, int stride,
               std::span<const SeriesWish> wishes, std::span<const std::string> variable_radius,
               std::span<const std::string> varied)
        : tape_(tape), stride_(stride), wishes_(wishes), variable_radius_(variable_radius) {
        evaluate_prepared(parameters);
        mark_varied(varied);
        const std::size_t n = tape.slots_.size();
        maker_.assign(n, nullptr);
        for (const Instruction& i : tape.values_) {
            maker_[i.to] = &i;
            if (second(i) != none) maker_[second(i)] = &i;
        }
        live_.assign(n, 0);
        used_.assign(n, 0);
        history_.assign(n, 0);
        place_.assign(n, -1);
        number_.assign(n, -1);
        kept_value_.assign(n, -1);
    }

    SeriesStatements text() {
        find_uses();
        if (!out_.why.empty()) return std::move(out_);
        place_rows();
        declare();
        for (const Instruction& i : tape_.prepared_)
            if (varied_[i.to] != 0 && used_[i.to] != 0)
                out_.values +=
                    operation_text(i.op, number(i.to), i.a != none ? number(i.a) : "", i.b != none ? number(i.b) : "",
                                   i.c != none ? number(i.c) : "", i.number) +
                    "\n";
        for (const Instruction& i : tape_.values_) write_value(i);
        write_orders();
        write_bounds();
        for (std::size_t k = 0; k < wishes_.size(); ++k) out_.outputs.push_back(output(k));
        for (std::size_t k = 0; k < tape_.switches_.size(); ++k) {
            if (switch_number_[k] < 0) continue;
            const std::uint32_t f = tape_.switches_[k].function;
            out_.switches.push_back({place_[f], tape_.switches_[k].jumps, radius(f)});
        }
        return std::move(out_);
    }

private:
    using Code = SeriesTape::Code;
    using Instruction = SeriesTape::Instruction;
    using Kind = SeriesWish::Kind;
    static constexpr std::uint32_t none = SeriesTape::none;
    static constexpr std::uint32_t every_group = ~std::uint32_t{0};

    void evaluate_prepared(std::span<const double> parameters) {
        value_.assign(tape_.slots_.size(), 0.0);
        for (const SeriesTape::Constant& c : tape_.constants_) value_[c.slot] = c.value;
        for (std::size_t i = 0; i < parameters.size(); ++i) value_[tape_.parameters_[i]] = parameters[i];
        const auto at = [&](std::uint32_t slot) { return slot == none ? 0.0 : value_[slot]; };
        for (const Instruction& i : tape_.prepared_) value_[i.to] = apply(i.op, at(i.a), at(i.b), at(i.c), i.number);
    }

    /// Finds what depends on parameters that are not fixed.
    void mark_varied(std::span<const std::string> varied) {
        varied_.assign(tape_.slots_.size(), 0);
        parameter_text_.assign(tape_.slots_.size(), {});
        for (std::size_t i = 0; i < varied.size(); ++i) {
            varied_[tape_.parameters_[i]] = varied[i].empty() ? 0 : 1;
            parameter_text_[tape_.parameters_[i]] = varied[i];
        }
        for (const Instruction& i : tape_.prepared_)
            for (const std::uint32_t s : {i.a, i.b, i.c})
                if (s != none && varied_[s] != 0) varied_[i.to] = 1;
    }

    /// The second result of an instruction, such as the cosine beside the sine.
    static std::uint32_t second(const Instruction& i) {
        return i.code == Code::pow || i.code == Code::pow_poly ? none : i.to2;
    }
    /// A number that is known.
    bool prepared(std::uint32_t slot) const { return tape_.slots_[slot].prepared && varied_[slot] == 0; }
    /// A number that does not change with time and state.
    bool still(std::uint32_t slot) const { return tape_.slots_[slot].prepared; }
    bool is_row(std::uint32_t slot) const { return tape_.slots_[slot].is_row; }
    bool is_time(std::uint32_t slot) const { return slot == tape_.variables_[static_cast<std::size_t>(tape_.time_)]; }
    /// A row that is a constant number. If its coefficients have to be in memory, it is treated as any other row.
    bool constant_row(std::uint32_t slot) const {
        return maker_[slot] != nullptr && maker_[slot]->code == Code::row && prepared(maker_[slot]->a) &&
               history_[slot] == 0;
    }
    bool constant(std::uint32_t slot) const { return prepared(slot) || constant_row(slot); }
    /// A row that is a number which depends on parameters that are not fixed.
    bool still_row(std::uint32_t slot) const {
        return maker_[slot] != nullptr && maker_[slot]->code == Code::row && still(maker_[slot]->a) &&
               history_[slot] == 0;
    }
    double constant_value(std::uint32_t slot) const { return prepared(slot) ? value_[slot] : value_[maker_[slot]->a]; }
    int limit(const Instruction& i) const { return i.limit != 0 ? i.limit : stride_; }

    // --- which slots are used, and how

    static bool compares(const Instruction& i) {
        return i.code == Code::compare || i.code == Code::abs || i.code == Code::extremum ||
               (i.code == Code::atan2 && i.number != SeriesTape::no_switch);
    }
    std::uint32_t function_of(const Instruction& i) const {
        return tape_.switches_[static_cast<std::size_t>(i.number)].function;
    }
    /// The exponent of a power if it is a small integer, otherwise −1.
    int small_exponent(const Instruction& i) const {
        if (!prepared(i.b)) return -1;
        const double p = value_[i.b];
        return p >= 0.0 && p <= SeriesTape::highest_product_power && p == std::floor(p) ? static_cast<int>(p) : -1;
    }

    /// Instructions are in an order of evaluation, so that one pass from the end finds all uses. `live_` are the groups
    /// that read a slot at orders above 0, `used_` whether its value at order 0 is read.
    void find_uses() {
        for (std::size_t k = 0; k < wishes_.size(); ++k) {
            const std::uint32_t slot = tape_.outputs_[k];
            used_[slot] = 1;
            if (wishes_[k].kind == Kind::value) continue;
            live_[slot] |= wishes_[k].group;
            if (wishes_[k].kind == Kind::history && !constant(slot) && !still_row(slot)) history_[slot] = 1;
        }
        switch_number_.assign(tape_.switches_.size(), -1);
        for (std::size_t at = tape_.values_.size(); at-- > 0;) {
            const Instruction& i = tape_.values_[at];
            const bool two = second(i) != none;
            const std::uint32_t groups = live_[i.to] | (two ? live_[i.to2] : 0);
            if (used_[i.to] == 0 && (!two || used_[i.to2] == 0)) continue;
            if ((i.code == Code::pow || i.code == Code::pow_poly) && !still(i.b))
                out_.why = "a formula has a power whose exponent switches";
            for (const std::uint32_t s : {i.a, i.b, i.c})
                if (s != none) used_[s] = 1;
            used_[i.to] = 1;
            if (two) used_[i.to2] = 1;
            if (groups == 0) continue;
            // A branch decides about everything that follows it.
            if (compares(i) && switch_number_[static_cast<std::size_t>(i.number)] < 0) {
                switch_number_[static_cast<std::size_t>(i.number)] = 0;
                const std::uint32_t f = function_of(i);
                live_[f] = every_group;
                history_[f] = 1;
            }
            for (const std::uint32_t s : {i.a, i.b, i.c})
                if (s != none) live_[s] |= groups;
            const auto keep = [&](std::initializer_list<std::uint32_t> slots) {
                for (const std::uint32_t s : slots) history_[s] = 1;
            };
            switch (i.code) {
                case Code::mul:
                case Code::mul_add:
                case Code::mul_sub:
                case Code::sub_mul:
                case Code::mul_poly: keep({i.a, i.b}); break;
                case Code::square: keep({i.a}); break;
                case Code::div:
                case Code::div_poly:
                case Code::integral:
                case Code::integral_poly: keep({i.b, i.to}); break;
                case Code::sqrt:
                case Code::hypot: keep({i.to}); break;
                case Code::exp:
                case Code::exp_poly:
                case Code::pow_varying: keep({i.a, i.to}); break;
                case Code::sincos:
                case Code::sincos_poly:
                case Code::sinhcosh:
                case Code::sinhcosh_poly:
                case Code::tan:
                case Code::tan_poly:
                case Code::tanh:
                case Code::tanh_poly:
                    keep({i.a, i.to, i.to2});
                    live_[i.to] = live_[i.to2] = groups;
                    break;
                case Code::atan2: keep({i.a, i.b, i.c, i.to}); break;
                case Code::pow:
                case Code::pow_poly: keep({i.a, i.to}); break;
                default: break;
            }
        }
        int count = 0;
        for (int& number : switch_number_)
            if (number >= 0) number = count++;
        for (std::size_t at = tape_.prepared_.size(); at-- > 0;) {
            const Instruction& i = tape_.prepared_[at];
            for (const std::uint32_t s : {i.a, i.b, i.c})
                if (s != none && used_[i.to] != 0) used_[s] = 1;
        }
    }

    void place_rows() {
        const auto row = [&](std::uint32_t slot) { place_[slot] = out_.rows++; };
        for (const std::uint32_t slot : tape_.variables_) {
            if (!is_time(slot) || history_[slot] != 0) row(slot);
            out_.variables.push_back(place_[slot]);
        }
        const auto number = [&](std::uint32_t slot) {
            if (slot != none && !prepared(slot) && number_[slot] < 0) number_[slot] = out_.numbers++;
        };
        for (const Instruction& i : tape_.prepared_)
            if (used_[i.to] != 0) number(i.to);
        for (const Instruction& i : tape_.values_) {
            if (used_[i.to] == 0) continue;
            for (const std::uint32_t slot : {i.to, second(i)})
                if (slot != none && is_row(slot) && history_[slot] != 0 && place_[slot] < 0) row(slot);
            if (!is_row(i.to)) number(i.to);
            const bool chooses = i.code == Code::choose || i.code == Code::extremum;
            if (i.aux != none && !chooses && live_[i.to] != 0) number(i.aux);
            if ((i.code == Code::pow || i.code == Code::pow_poly) && live_[i.to] != 0) {
                first_power_[&i - tape_.values_.data()] = out_.rows;
                out_.rows += std::max(0, small_exponent(i) - 2);
            }
            // Order 0 of these operands is read by the bounds, also if their coefficients are not kept.
            const std::uint32_t read = i.code == Code::hypot ? i.c : i.a;
            switch (i.code) {
                case Code::div:
                case Code::div_poly:
                case Code::sqrt:
                case Code::hypot:
                case Code::integral:
                case Code::integral_poly:
                    if (live_[i.to] != 0 && place_[read] < 0 && !constant(read) && !still_row(read) &&
                        kept_value_[read] < 0)
                        kept_value_[read] = out_.numbers++;
                    break;
                default: break;
            }
        }
        out_.picks = tape_.choices_;
    }

    // --- texts of operands

    std::string memory(std::uint32_t slot) const { return std::to_string(place_[slot] * stride_); }
    std::string local(std::uint32_t slot) const { return "v" + std::to_string(slot); }
    /// Coefficients of a slot, as a pointer.
    std::string row(std::uint32_t slot) const { return "s + " + memory(slot); }
    std::string number(std::uint32_t slot) const {
        if (prepared(slot)) return exact_literal(value_[slot]);
        if (!parameter_text_[slot].empty()) return parameter_text_[slot];
        return "c[" + std::to_string(number_[slot]) + "]";
    }
    /// Order 0.
    std::string first(std::uint32_t slot) const {
        if (constant(slot)) return exact_literal(constant_value(slot));
        if (!is_row(slot)) return number(slot);
        if (still_row(slot)) return number(maker_[slot]->a);
        if (place_[slot] >= 0) return "s[" + memory(slot) + "]";
        return is_time(slot) ? "t0" : local(slot);
    }
    /// Order 0 in `bounds`.
    std::string known(std::uint32_t slot) const {
        if (!constant(slot) && is_row(slot) && !still_row(slot) && place_[slot] < 0 && !is_time(slot))
            return "c[" + std::to_string(kept_value_[slot]) + "]";
        return first(slot);
    }
    /// Order k.
    std::string next(std::uint32_t slot) const {
        if (constant(slot) || !is_row(slot) || still_row(slot)) return "0.0";
        if (is_time(slot)) return "(k == 1 ? 1.0 : 0.0)";
        if (place_[slot] >= 0) return "s[" + memory(slot) + " + k]";
        return local(slot);
    }
    std::string radius(std::uint32_t slot) const {
        if (constant(slot) || !is_row(slot) || still_row(slot) || live_[slot] == 0) return "0.0";
        return "r" + std::to_string(slot);
    }

    SeriesStatements::Output output(std::size_t k) const {
        const std::uint32_t slot = tape_.outputs_[k];
        SeriesStatements::Output o;
        o.known = constant(slot);
        o.constant = o.known || still_row(slot) || still(slot);
        if (o.known) o.value = constant_value(slot);
        o.first = first(slot);
        o.next = wishes_[k].kind == Kind::value ? "0.0" : next(slot);
        o.radius = radius(slot);
        if (wishes_[k].kind == Kind::history && !o.constant) o.row = place_[slot];
        return o;
    }

    // --- order 0

    void declare() {
        for (const Instruction& i : tape_.values_)
            for (const std::uint32_t slot : {i.to, second(i)})
                if (slot != none && used_[slot] != 0 && is_row(slot) && place_[slot] < 0 && !still_row(slot)) {
                    out_.values += "double " + local(slot) + ";\n";
                    if (live_[slot] != 0) out_.orders += "double " + local(slot) + " = 0.0;\n";
                }
    }

    std::string decided(const Instruction& i, const std::string& s) const {
        const Op op = i.code == Code::atan2 ? Op::atan2 : i.code == Code::abs ? Op::abs : i.op;
        switch (op) {
            case Op::less: return s + " > 0.0 ? 1 : -1";
            case Op::less_equal: return s + " >= 0.0 ? 1 : -1";
            case Op::abs:
            case Op::min:
            case Op::max:
            case Op::atan2: return s + " < 0.0 ? -1 : 1";
            default: return s + " > 0.0 ? 1 : (" + s + " < 0.0 ? -1 : 0)";
        }
    }
    /// A statement that finds the side of a switch, and its name.
    std::string side(const Instruction& i) {
        const int number = switch_number_[static_cast<std::size_t>(i.number)];
        const std::string s = first(function_of(i));
        if (number < 0) {
            std::string name = "side_" + std::to_string(i.number);
            out_.values += "const int " + name + " = " + decided(i, s) + ";\n";
            return name;
        }
        const std::string at = "[" + std::to_string(number) + "]";
        out_.values += "side" + at + " = fixed" + at + " != 0 ? fixed" + at + " : (" + decided(i, s) + ");\n";
        return "side" + at;
    }

    void write_value(const Instruction& i) {
        if (used_[i.to] == 0 || (is_row(i.to) && still_row(i.to))) return;
        const std::string to = first(i.to), a = i.a != none ? first(i.a) : "", b = i.b != none ? first(i.b) : "",
                          c = i.c != none ? first(i.c) : "";
        std::string& out = out_.values;
        const auto assign = [&](const std::string& text) { out += to + " = " + text + ";\n"; };
        const auto keep = [&](const std::string& text) {
            if (i.aux != none && number_[i.aux] >= 0) out += number(i.aux) + " = " + text + ";\n";
        };
        const auto function = [&](const char* name) { assign(std::string(name) + "(" + a + ")"); };
        const auto operation = [&](Op op) { out += operation_text(op, to, a, b, c, i.number) + "\n"; };
        switch (i.code) {
            case Code::value: operation(i.op); break;
            case Code::compare: {
                const std::string s = side(i);
                if (i.op == Op::sign)
                    assign(s + " == 0 ? " + a + " : (double)" + s);
                else if (i.op == Op::equal || i.op == Op::not_equal)
                    assign(s + " == 0 ? (" + a + (i.op == Op::equal ? " == " : " != ") +
                           "0.0 ? 1.0 : 0.0) : " + (i.op == Op::equal ? "0.0" : "1.0"));
                else
                    assign(s + " > 0 ? 1.0 : 0.0");
                break;
            }
            case Code::row: assign(a); break;
            case Code::add:
            case Code::add_scalar: assign(a + " + " + b); break;
            case Code::sub:
            case Code::sub_scalar: assign(a + " - " + b); break;
            case Code::scalar_sub: assign(b + " - " + a); break;
            case Code::neg: assign("-" + a); break;
            case Code::scale:
            case Code::mul:
            case Code::mul_poly: assign(a + " * " + b); break;
            case Code::square: assign(a + " * " + a); break;
            case Code::scale_add:
            case Code::mul_add: assign(a + " * " + b + " + " + c); break;
            case Code::scale_sub:
            case Code::mul_sub: assign(a + " * " + b + " - " + c); break;
            case Code::sub_scale:
            case Code::sub_mul: assign(c + " - " + a + " * " + b); break;
            case Code::div:
            case Code::div_poly:
                assign(a + " / " + b);
                keep("1.0 / " + b);
                break;
            case Code::sqrt:
                function("sqrt");
                keep("0.5 / " + to);
                break;
            case Code::hypot:
                assign("hypot(" + a + ", " + b + ")");
                keep("0.5 / " + to);
                break;
            case Code::exp:
            case Code::exp_poly: function("exp"); break;
            case Code::pow_varying: assign("pow(" + b + ", " + c + ")"); break;
            case Code::sincos:
            case Code::sincos_poly:
                out += "{ const double x = " + a + "; SALTUS_SINE_AND_COSINE(x, " + to + ", " + first(i.to2) + "); }\n";
                break;
            case Code::sinhcosh:
            case Code::sinhcosh_poly:
                function("sinh");
                out += first(i.to2) + " = cosh(" + a + ");\n";
                break;
            case Code::tan:
            case Code::tan_poly:
                function("tan");
                out += first(i.to2) + " = 1.0 + " + to + " * " + to + ";\n";
                break;
            case Code::tanh:
            case Code::tanh_poly:
                function("tanh");
                out += "{ const double x = cosh(" + a + "); " + first(i.to2) + " = 1.0 / (x * x); }\n";
                break;
            case Code::integral:
            case Code::integral_poly:
                operation(i.op);
                keep("1.0 / " + b);
                break;
            case Code::atan2:
                operation(Op::atan2);
                if (i.number != SeriesTape::no_switch) {
                    const std::string s = side(i), turn = exact_literal(6.283185307179586);
                    out += "if (" + b + " < 0.0 && " + s + " > 0 && " + to + " < 0.0) " + to + " = " + to + " + " +
                           turn + ";\n";
                    out += "if (" + b + " < 0.0 && " + s + " < 0 && " + to + " > 0.0) " + to + " = " + to + " - " +
                           turn + ";\n";
                }
                keep("1.0 / " + c);
                break;
            case Code::pow:
            case Code::pow_poly: {
                operation(Op::pow);
                keep("1.0 / " + a);
                if (live_[i.to] == 0) break;
                std::string last = a;
                for (int m = 2; m < small_exponent(i); ++m) {
                    const std::string at = "s[" + std::to_string(power_row(i, m)) + "]";
                    out += at + " = " + last + " * " + a + ";\n";
                    last = at;
                }
                break;
            }
            case Code::abs: {
                const std::string s = side(i);
                assign("(double)" + s + " * " + a);
                keep("(double)" + s);
                break;
            }
            case Code::extremum: {
                const std::string s = side(i), at = "pick[" + std::to_string(i.aux) + "]";
                out += at + " = " + s + (i.op == Op::max ? " > 0" : " <= 0") + ";\n";
                assign(at + " ? " + a + " : " + b);
                break;
            }
            case Code::choose: {
                const std::string at = "pick[" + std::to_string(i.aux) + "]";
                out += at + " = " + a + " != 0.0;\n";
                assign(at + " ? " + b + " : " + c);
                break;
            }
            case Code::stop: break;
        }
        for (const std::uint32_t slot : {i.to, second(i)})
            if (slot != none && kept_value_[slot] >= 0)
                out += "c[" + std::to_string(kept_value_[slot]) + "] = " + first(slot) + ";\n";
    }
    int power_row(const Instruction& i, int m) const {
        return (first_power_.at(&i - tape_.values_.data()) + m - 2) * stride_;
    }

    // --- orders k >= 1

    void write_orders() {
        std::uint32_t open = every_group;  // groups of the block that is open
        std::string& out = out_.orders;
        for (const Instruction& i : tape_.values_) {
            if (!is_row(i.to) || still_row(i.to)) continue;
            const std::uint32_t groups = live_[i.to] | (second(i) != none ? live_[i.to2] : 0);
            if (groups == 0) continue;
            if (groups != open) {
                if (open != every_group) out += "}\n";
                if (groups != every_group) out += "if (need & " + std::to_string(groups) + "u) {\n";
                open = groups;
            }
            write_order(i);
        }
        if (open != every_group) out += "}\n";
    }

    void write_order(const Instruction& i) {
        std::string& out = out_.orders;
        const std::string to = next(i.to);
        const auto assign = [&](const std::string& text) { out += to + " = " + text + ";\n"; };
        const std::string a = i.a != none ? next(i.a) : "", b = i.b != none ? next(i.b) : "",
                          c = i.c != none ? next(i.c) : "";
        const auto product = [&] {
            if (i.code == Code::mul_poly)
                return "saltus_polynomial_product(" + row(i.a) + ", " + row(i.b) + ", " + std::to_string(i.limit) +
                       ", k)";
            return "saltus_product(" + row(i.a) + ", " + row(i.b) + ", 0, k)";
        };
        const std::string stop = ", " + std::to_string(limit(i)) + ", k)";
        switch (i.code) {
            case Code::value:
            case Code::compare:
            case Code::stop: break;
            case Code::row: assign("0.0"); break;
            case Code::add: assign(a + " + " + b); break;
            case Code::sub: assign(a + " - " + b); break;
            case Code::add_scalar:
            case Code::sub_scalar: assign(a); break;
            case Code::neg:
            case Code::scalar_sub: assign("-" + a); break;
            case Code::scale: assign(number(i.b) + " * " + a); break;
            case Code::scale_add: assign(number(i.b) + " * " + a + " + " + c); break;
            case Code::scale_sub: assign(number(i.b) + " * " + a + " - " + c); break;
            case Code::sub_scale: assign(c + " - " + number(i.b) + " * " + a); break;
            case Code::abs: assign(number(i.aux) + " * " + a); break;
            case Code::mul:
            case Code::mul_poly: assign(product()); break;
            case Code::mul_add: assign(product() + " + " + c); break;
            case Code::mul_sub: assign(product() + " - " + c); break;
            case Code::sub_mul: assign(c + " - " + product()); break;
            case Code::square:
                assign("2.0 * (s[" + memory(i.a) + "] * s[" + memory(i.a) + " + k]) + saltus_inner_square(" + row(i.a) +
                       ", k)");
                break;
            case Code::div:
            case Code::div_poly:
                assign(number(i.aux) + " * saltus_quotient(" + a + ", " + row(i.to) + ", " + row(i.b) + stop);
                break;
            case Code::sqrt:
            case Code::hypot:
                assign(number(i.aux) + " * (" + (i.code == Code::hypot ? c : a) + " - saltus_inner_square(" +
                       row(i.to) + ", k))");
                break;
            case Code::exp:
            case Code::exp_poly:
            case Code::pow_varying: assign("saltus_integral(" + row(i.a) + ", " + row(i.to) + stop); break;
            case Code::sincos:
            case Code::sincos_poly:
            case Code::sinhcosh:
            case Code::sinhcosh_poly: {
                const bool circle = i.code == Code::sincos || i.code == Code::sincos_poly;
                assign("saltus_integral(" + row(i.a) + ", " + row(i.to2) + stop);
                out += next(i.to2) + " = " + (circle ? "-" : "") + "saltus_integral(" + row(i.a) + ", " + row(i.to) +
                       stop + ";\n";
                break;
            }
            case Code::tan:
            case Code::tan_poly:
            case Code::tanh:
            case Code::tanh_poly: {
                const bool hyperbolic = i.code == Code::tanh || i.code == Code::tanh_poly;
                assign("saltus_integral(" + row(i.a) + ", " + row(i.to2) + stop);
                out += next(i.to2) + " = " + (hyperbolic ? "-" : "") + "(2.0 * (s[" + memory(i.to) + "] * " + to +
                       ") + saltus_inner_square(" + row(i.to) + ", k));\n";
                break;
            }
            case Code::integral:
            case Code::integral_poly:
                assign(number(i.aux) + " * (" + (i.op == Op::acos ? "-" : "") + a + " - saltus_weighted(" + row(i.b) +
                       ", " + row(i.to) + stop + ")");
                break;
            case Code::atan2: {
                const std::string all = ", " + std::to_string(stride_) + ", k)";
                assign(number(i.aux) + " * (s[" + memory(i.b) + "] * s[" + memory(i.a) + " + k] - s[" + memory(i.a) +
                       "] * s[" + memory(i.b) + " + k] + (saltus_weighted(" + row(i.b) + ", " + row(i.a) + all +
                       " - saltus_weighted(" + row(i.a) + ", " + row(i.b) + all + " - saltus_weighted(" + row(i.c) +
                       ", " + row(i.to) + all + "))");
                break;
            }
            case Code::pow:
            case Code::pow_poly: {
                const int n = small_exponent(i);
                if (n == 0) return assign("0.0");
                if (n == 1) return assign(a);
                if (n > 1) {
                    std::string last = row(i.a);
                    for (int m = 2; m <= n; ++m) {
                        const std::string text = "saltus_product(" + row(i.a) + ", " + last + ", 0, k)";
                        if (m == n) return assign(text);
                        const std::string at = std::to_string(power_row(i, m));
                        out += "s[" + at + " + k] = " + text + ";\n";
                        last = "s + " + at;
                    }
                }
                // k a_0 r_k = Σ_(j=1..k) p j a_j r_(k−j) − Σ_(j=1..k−1) (k−j) a_j r_(k−j)
                const std::string p = number(i.b);
                assign(number(i.aux) + " * (" + p + " * saltus_integral(" + row(i.a) + ", " + row(i.to) + stop +
                       " - saltus_weighted(" + row(i.a) + ", " + row(i.to) + stop + ")");
                break;
            }
            case Code::extremum: assign("pick[" + std::to_string(i.aux) + "] ? " + a + " : " + b); break;
            case Code::choose: assign("pick[" + std::to_string(i.aux) + "] ? " + b + " : " + c); break;
        }
    }

    // --- bounds on a disk

    void write_bounds() {
        std::string& out = out_.bounds;
        for (std::size_t i = 0; i < tape_.variables_.size(); ++i) {
            const std::uint32_t slot = tape_.variables_[i];
            if (live_[slot] == 0) continue;
            out += "const double " + radius(slot) + " = saltus_enlarged(" +
                   (is_time(slot) ? std::string("R") : variable_radius_[i]) + ");\n";
        }
        for (const Instruction& i : tape_.values_) {
            if (!is_row(i.to) || still_row(i.to)) continue;
            const bool two = second(i) != none;
            if (live_[i.to] == 0 && (!two || live_[i.to2] == 0)) continue;
            out += "const double " + radius(i.to) + " = saltus_enlarged(" + radius_text(i) + ");\n";
            if (two && live_[i.to2] != 0 &&
                (i.code == Code::sincos || i.code == Code::sincos_poly || i.code == Code::sinhcosh ||
                 i.code == Code::sinhcosh_poly))
                out += "const double " + radius(i.to2) + " = saltus_enlarged(saltus_oscillation_radius(" +
                       first(i.to2) + ", " + first(i.to) + ", " + radius(i.a) + "));\n";
        }
    }

    std::string radius_text(const Instruction& i) const {
        const auto r = [&](std::uint32_t slot) { return slot == none ? std::string("0.0") : radius(slot); };
        const auto pair = [&](std::uint32_t slot) { return known(slot) + ", " + r(slot); };
        const auto product = [&] {
            const bool scales = !is_row(i.b);
            if (scales) return "fabs(" + number(i.b) + ") * " + r(i.a);
            return "saltus_product_radius(" + pair(i.a) + ", " + pair(i.b) + ")";
        };
        switch (i.code) {
            case Code::value:
            case Code::compare:
            case Code::stop:
            case Code::row: return "0.0";
            case Code::add:
            case Code::sub: return r(i.a) + " + " + r(i.b);
            case Code::neg:
            case Code::abs:
            case Code::add_scalar:
            case Code::sub_scalar:
            case Code::scalar_sub: return r(i.a);
            case Code::scale:
            case Code::mul:
            case Code::mul_poly: return product();
            case Code::scale_add:
            case Code::scale_sub:
            case Code::sub_scale:
            case Code::mul_add:
            case Code::mul_sub:
            case Code::sub_mul: return product() + " + " + r(i.c);
            case Code::square: return "saltus_product_radius(" + pair(i.a) + ", " + pair(i.a) + ")";
            case Code::div:
            case Code::div_poly: return "saltus_quotient_radius(" + pair(i.a) + ", " + pair(i.b) + ")";
            case Code::sqrt: return "saltus_sqrt_radius(" + pair(i.a) + ")";
            case Code::hypot: return "saltus_sqrt_radius(" + pair(i.c) + ")";
            case Code::exp:
            case Code::exp_poly:
            case Code::pow_varying: return "saltus_exp_radius(" + pair(i.a) + ")";
            case Code::sincos:
            case Code::sincos_poly:
            case Code::sinhcosh:
            case Code::sinhcosh_poly:
                return "saltus_oscillation_radius(" + first(i.to) + ", " + first(i.to2) + ", " + r(i.a) + ")";
            case Code::tan:
            case Code::tan_poly: return "saltus_tan_radius(" + first(i.to) + ", " + first(i.to2) + ", " + r(i.a) + ")";
            case Code::tanh:
            case Code::tanh_poly:
                return "saltus_tanh_radius(" + known(i.a) + ", " + first(i.to) + ", " + first(i.to2) + ", " + r(i.a) +
                       ")";
            case Code::integral:
            case Code::integral_poly:
                if (i.op == Op::log) return "saltus_log_radius(" + pair(i.a) + ")";
                if (i.op == Op::atan) return "saltus_angle_radius(" + pair(i.a) + ", 1.0, 0.0)";
                return "saltus_asin_radius(" + pair(i.a) + ")";
            case Code::atan2: return "saltus_angle_radius(" + pair(i.a) + ", " + pair(i.b) + ")";
            case Code::pow:
            case Code::pow_poly: return "saltus_pow_radius(" + pair(i.a) + ", " + number(i.b) + ")";
            case Code::extremum: return "pick[" + std::to_string(i.aux) + "] ? " + r(i.a) + " : " + r(i.b);
            case Code::choose: return "pick[" + std::to_string(i.aux) + "] ? " + r(i.b) + " : " + r(i.c);
        }
        return "INFINITY";
    }

    const SeriesTape& tape_;
    const int stride_;
    const std::span<const SeriesWish> wishes_;
    const std::span<const std::string> variable_radius_;
    std::vector<double> value_;                  // of prepared slots
    std::vector<char> varied_;                   // prepared slots that depend on parameters that are not fixed
    std::vector<std::string> parameter_text_;    // of these parameters
    std::vector<const Instruction*> maker_;      // of each slot that changes with τ
    std::vector<std::uint32_t> live_;            // of each slot: groups that read it at orders above 0
    std::vector<char> used_, history_;           // its value is read; its coefficients stay in memory
    std::vector<int> place_, number_;            // row, or index in c; −1: none
    std::vector<int> kept_value_;                // index in c of order 0, for the bounds; −1: none
    std::vector<int> switch_number_;             // of each switch of the tape; −1: no output of order k depends on it
    std::map<std::ptrdiff_t, int> first_power_;  // of each power: the first of its rows for products
    SeriesStatements out_;
};

SeriesStatements statements_of(const SeriesTape& tape, std::span<const double> parameters, int stride,
                               std::span<const SeriesWish> wishes, std::span<const std::string> variable_radius,
                               std::span<const std::string> varied) {
    SALTUS_EXPECT(varied.empty() || varied.size() == static_cast<std::size_t>(tape.parameter_count()));
    SALTUS_EXPECT(wishes.size() == static_cast<std::size_t>(tape.output_count()));
    SALTUS_EXPECT(variable_radius.size() == static_cast<std::size_t>(tape.variable_count()));
    return SeriesText(tape, parameters, stride, wishes, variable_radius, varied).text();
}

}  // namespace saltus::expr
