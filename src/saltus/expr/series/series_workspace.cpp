// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numbers>
#include <type_traits>
#include <utility>

#include "saltus/base/error.hpp"
#include "saltus/expr/series/detail/wide_registers.hpp"
#include "saltus/expr/series/series_tape.hpp"

// Recurrences of the coefficients. A series is f = Σ f_j τ^j, and f' = Σ (j+1) f_(j+1) τ^j is its derivative. A product
// has the coefficients (f g)_k = Σ_(i=0..k) f_i g_(k−i). The recurrences of functions follow from differential
// equations: if r' = g a', then the coefficient of τ^(k−1) says
//     k r_k = Σ_(i=0..k−1) g_i (k−i) a_(k−i),   that is   r_k = g_0 a_k + (1/k) Σ_(i=1..k−1) g_i (k−i) a_(k−i).
// Coefficients of order 0 and k are treated apart from the sum over i = 1 … k−1. They have just been written, and a
// processor cannot read two numbers in one access while one of them is still on its way to the memory. The sum over
// i = 1 … k−1 is an inner product of g_1 … g_(k−1) with the weighted coefficients j a_j, read backwards. Series that
// enter such sums keep a copy of their weighted coefficients one stride behind their own.

namespace saltus::expr {

namespace {

/// A side that is not certain, because an interval contains numbers of both signs.
constexpr int uncertain = 2;

double undefined(double) { return std::numeric_limits<double>::quiet_NaN(); }
Interval undefined(const Interval&) { return entire(false); }

bool is_defined(double) { return true; }
bool is_defined(const Interval& x) { return x.defined; }

double squared(double x) { return x * x; }
Interval squared(const Interval& x) { return sqr(x); }

template <class V>
V product(const V& a, const V& b, bool same) {
    return same ? squared(a) : a * b;
}

void sine_and_cosine(double x, double& s, double& c) { ::sincos(x, &s, &c); }
void sine_and_cosine(const Interval& x, Interval& s, Interval& c) {
    s = sin(x);
    c = cos(x);
}

}  // namespace

// --- orders >= 1: series_steps.inc ---------------------------------------------------------------------------

namespace {

namespace narrow {
#define SALTUS_SERIES_BYTES 16
#include "saltus/expr/series/detail/series_steps.inc"
#undef SALTUS_SERIES_BYTES
}  // namespace narrow

#if SALTUS_SERIES_WIDE
#pragma GCC push_options
#pragma GCC target("avx2")
namespace wide {
#define SALTUS_SERIES_BYTES 32
#include "saltus/expr/series/detail/series_steps.inc"
#undef SALTUS_SERIES_BYTES
}  // namespace wide
#pragma GCC pop_options
#endif

}  // namespace

namespace {

/// Loops over rows read whole registers, up to three numbers before the first order and seven behind the last one.
constexpr std::uint32_t room_before_rows = 4, room_behind_rows = 8;

}  // namespace

// --- construction --------------------------------------------------------------------------------------------

template <class V>
SeriesWorkspace<V>::Program::Program(const SeriesTape& of, int max_order)
    : tape(&of),
      // An odd stride spreads the rows over all sets of a cache. The time needs two coefficients.
      stride(static_cast<std::uint32_t>(std::max(max_order + 1, 2)) | 1u) {
    SALTUS_EXPECT(max_order >= 0);
    size = room_before_rows;
    offset.reserve(tape->slots_.size());
    for (const SeriesTape::Slot& s : tape->slots_) {
        offset.push_back(size);
        const std::uint32_t rows = (s.weighted ? 2u : 1u) + s.rows_for_pow;
        size += s.is_row ? rows * stride : 1u;
    }
    undefined_row = size;
    size += stride;
    size += room_behind_rows;

    const auto resolve_values = [&](const std::vector<Instruction>& from, std::vector<ValueStep>& to) {
        to.reserve(from.size());
        for (const Instruction& i : from) to.push_back({resolve(i), i.op, i.number});
    };
    resolve_values(tape->prepared_, prepared);
    resolve_values(tape->values_, values);

    // At orders >= 1 some instructions are the same as others: a constant term does not matter, abs is a scaling by its
    // sign, and hypot and pow_varying have the recurrences of sqrt and exp.
    const auto resolve_series = [&](const Instruction& i) {
        Step s = resolve(i);
        switch (i.code) {
            case Code::sub_scalar: s.code = Code::add_scalar; break;
            case Code::scalar_sub: s.code = Code::neg; break;
            case Code::abs:
                s.code = Code::scale;
                s.b = s.aux;
                break;
            case Code::hypot:
                s.code = Code::sqrt;
                s.a = s.c;
                break;
            case Code::pow_varying: s.code = Code::exp; break;
            case Code::extremum: s.code = Code::choose; break;
            case Code::pow:
            case Code::pow_poly: s.c = static_cast<std::uint32_t>(i.number); break;
            case Code::integral:
            case Code::integral_poly: s.c = i.op == Op::acos ? 1 : 0; break;  // whether the sign is minus
            default: break;
        }
        return s;
    };
    given.reserve(tape->given_.size());
    later.reserve(tape->later_.size());
    for (const Instruction& i : tape->given_) given.push_back(resolve_series(i));
    for (const Instruction& i : tape->later_) later.push_back(resolve_series(i));
    unlimited.reserve(tape->unlimited_.size() + 1);
    polynomials.reserve(tape->polynomials_.size() + 1);
    for (const Instruction& i : tape->unlimited_) unlimited.push_back(resolve_series(i));
    for (const Instruction& i : tape->polynomials_) polynomials.push_back(resolve_series(i));
    const auto has_sums = [](const std::vector<Step>& steps) {
        return std::any_of(steps.begin(), steps.end(),
                           [](const Step& i) { return Code::mul <= i.code && i.code <= Code::pow_poly; });
    };
    sums = has_wide_registers && (has_sums(unlimited) || has_sums(given) || has_sums(later));
    Step stop{};
    stop.code = Code::stop;
    unlimited.push_back(stop);
    polynomials.push_back(stop);
    for (int k = 0; k <= tape->highest_degree_; ++k) {
        std::uint32_t first = 0;
        for (const Instruction& i : tape->polynomials_)
            if (tape->slots_[i.to].degree < k) ++first;
        first_polynomial.push_back(first);
    }
    for (std::size_t i = 0; i < tape->variables_.size(); ++i) {
        const std::uint32_t slot = tape->variables_[i];
        const bool is_given = i < static_cast<std::size_t>(tape->given_variables_);
        if (tape->slots_[slot].weighted) (is_given ? weighted_given : weighted_variables).push_back(offset[slot]);
    }
    plan_remainders();
}

template <class V>
typename SeriesWorkspace<V>::Step SeriesWorkspace<V>::Program::resolve(const Instruction& i) const {
    const bool chooses = i.code == Code::choose || i.code == Code::extremum;  // aux is the index of the choice
    const auto weighted = [&](std::uint32_t slot) { return slot != SeriesTape::none && tape->slots_[slot].weighted; };
    return {i.code,       weighted(i.to), weighted(i.to2), i.limit,    place(i.to),
            place(i.to2), place(i.a),     place(i.b),      place(i.c), chooses ? i.aux : place(i.aux)};
}

/// Decides which slots need the sizes of their terms for `remainders`, and which need the sums of these: the tail of a
/// product needs the sizes of one factor and the sums of the other.
template <class V>
void SeriesWorkspace<V>::Program::plan_remainders() {
    constexpr std::uint32_t none = SeriesTape::none;
    size_place.assign(tape->slots_.size(), none);
    sum_place.assign(tape->slots_.size(), none);
    const auto need = [&](std::vector<std::uint32_t>& places, std::uint32_t slot) {
        if (places[slot] != none) return;
        if (size_place[slot] == none && sum_place[slot] == none) measured.push_back(slot);
        places[slot] = measured_size;
        measured_size += stride;
    };
    const auto pair = [&](std::uint32_t a, std::uint32_t b) {
        const auto missing = [&](std::uint32_t x, std::uint32_t y) {
            return (size_place[x] == none ? 1 : 0) + (sum_place[y] == none ? 1 : 0);
        };
        if (missing(b, a) < missing(a, b)) std::swap(a, b);
        need(size_place, a);
        need(sum_place, b);
    };
    for (const Instruction& i : tape->values_) {
        if (tape->slots_[i.to].degree > 0) varying.push_back(i);
        switch (i.code) {
            case Code::mul:
            case Code::mul_poly:
            case Code::mul_add:
            case Code::mul_sub:
            case Code::sub_mul: pair(i.a, i.b); break;
            case Code::square: pair(i.a, i.a); break;
            case Code::div:
            case Code::div_poly: pair(i.to, i.b); break;
            case Code::sqrt:
            case Code::hypot: pair(i.to, i.to); break;
            case Code::exp:
            case Code::exp_poly:
            case Code::pow_varying: pair(i.to, i.a); break;
            case Code::sincos:
            case Code::sincos_poly:
            case Code::sinhcosh:
            case Code::sinhcosh_poly:
                pair(i.to, i.a);
                pair(i.to2, i.a);
                break;
            case Code::tan:
            case Code::tan_poly:
            case Code::tanh:
            case Code::tanh_poly:
                pair(i.to2, i.a);
                pair(i.to, i.to);
                break;
            case Code::integral:
            case Code::integral_poly:
                pair(i.b, i.to);
                need(size_place, i.a);  // for its variation
                break;
            case Code::atan2:
                pair(i.c, i.to);
                pair(i.a, i.b);
                break;
            case Code::pow:
            case Code::pow_poly:
                for (const std::uint32_t slot : {i.a, i.to}) need(size_place, slot), need(sum_place, slot);
                break;
            default: break;
        }
    }
}

template <class V>
SeriesWorkspace<V>::SeriesWorkspace(const SeriesTape& tape, int max_order)
    : program_(std::make_shared<const Program>(tape, max_order)),
      tape_(&tape),
      max_order_(max_order),
      stride_(program_->stride),
      data_(program_->size, V(0.0)),
      side_(tape.switches_.size(), 0),
      fixed_(tape.switches_.size(), 0),
      chosen_(static_cast<std::size_t>(tape.choices_), program_->undefined_row),
      power_(static_cast<std::size_t>(tape.powers_), -1) {
    std::fill(data_.begin() + program_->undefined_row, data_.end(), undefined(V(0.0)));
}

template <class V>
void SeriesWorkspace<V>::prepare(std::span<const V> parameters) {
    SALTUS_EXPECT(parameters.size() == tape_->parameters_.size());
    for (const SeriesTape::Constant& c : tape_->constants_) {
        if constexpr (std::is_same_v<V, Interval>)
            data_[offset(c.slot)] = c.low <= c.high ? Interval(c.low, c.high) : Interval(c.value);
        else
            data_[offset(c.slot)] = c.value;
    }
    for (std::size_t i = 0; i < parameters.size(); ++i) data_[offset(tape_->parameters_[i])] = parameters[i];
    V* const d = data_.data();
    for (const auto& [i, op, number] : program_->prepared) d[i.to] = apply(op, d[i.a], d[i.b], d[i.c], number);
}

template <class V>
void SeriesWorkspace<V>::begin(V t0) {
    V* const time = variable(tape_->time_);
    time[0] = t0;
    time[1] = V(1.0);
    next_ = 0;
}

template <class V>
void SeriesWorkspace<V>::set_side(int i, int side) {
    SALTUS_EXPECT(side == 1 || side == -1);
    fixed_[static_cast<std::size_t>(i)] = static_cast<std::int8_t>(side);
}

template <class V>
void SeriesWorkspace<V>::clear_sides() {
    std::fill(fixed_.begin(), fixed_.end(), std::int8_t{0});
}

// --- order 0 -------------------------------------------------------------------------------------------------

namespace {

int sign_of(double s, Op op) {
    switch (op) {
        case Op::less: return s > 0.0 ? 1 : -1;
        case Op::less_equal: return s >= 0.0 ? 1 : -1;
        case Op::abs:
        case Op::min:
        case Op::max:
        case Op::atan2: return s < 0.0 ? -1 : 1;
        default: return s > 0.0 ? 1 : (s < 0.0 ? -1 : 0);  // sign, equal and not_equal
    }
}

/// The side that all numbers of the interval have, as they would have it one by one.
int sign_of(const Interval& s, Op op) {
    const int low = sign_of(s.lo, op), high = sign_of(s.hi, op);
    return low == high ? low : uncertain;
}

/// Whether a condition holds: 1, 0 or `uncertain`.
int truth(double condition) { return condition != 0.0 ? 1 : 0; }
int truth(const Interval& condition) {
    if (!condition.defined) return uncertain;
    if (condition.lo > 0.0 || condition.hi < 0.0) return 1;
    return condition.lo == condition.hi ? 0 : uncertain;
}

}  // namespace

template <class V>
int SeriesWorkspace<V>::decide(const V& s, Op op, int index) {
    const auto i = static_cast<std::size_t>(index);
    const int side = !is_defined(s) ? uncertain : (fixed_[i] != 0 ? fixed_[i] : sign_of(s, op));
    side_[i] = static_cast<std::int8_t>(side == uncertain ? 0 : side);
    return side;
}

template <class V>
V SeriesWorkspace<V>::evaluate_compare(const V& s, Op op, int index) {
    const int side = decide(s, op, index);
    if (side == uncertain) return undefined(s);
    if (op == Op::sign) return side == 0 ? s : V(static_cast<double>(side));
    if (op == Op::equal || op == Op::not_equal) return side == 0 ? apply(op, s, V(0.0), V(0.0), 0) : V(op != Op::equal);
    return V(side > 0 ? 1.0 : 0.0);
}

namespace {

/// The angle on the given side of the negative x axis. Rounding errors of y may have put it on the other one.
double on_side(double angle, double x, int side) {
    if (x < 0.0 && side > 0 && angle < 0.0) return angle + 2.0 * std::numbers::pi;
    if (x < 0.0 && side < 0 && angle > 0.0) return angle - 2.0 * std::numbers::pi;
    return angle;
}
/// An interval that contains points of the negative x axis has no single side; then it contains both angles.
Interval on_side(const Interval& angle, const Interval&, int) { return angle; }

}  // namespace

template <class V>
V SeriesWorkspace<V>::evaluate_angle(const V& y, const V& x, int index) {
    const V angle = apply(Op::atan2, y, x, V(0.0), 0);
    return index == SeriesTape::no_switch ? angle : on_side(angle, x, decide(y, Op::atan2, index));
}

namespace {

/// The number n if x is exactly the integer n with 0 <= n <= highest, otherwise −1.
int small_integer(double x, int highest) {
    return x >= 0.0 && x <= highest && x == std::floor(x) ? static_cast<int>(x) : -1;
}
int small_integer(const Interval& x, int highest) {
    return is_point(x) && x.defined ? small_integer(x.lo, highest) : -1;
}

}  // namespace

/// a^n for a small integer n is the last of the products a², a³, … They need no reciprocal of a_0. The products below
/// a^n have rows of their own, which follow each other from to2 on.
template <class V>
void SeriesWorkspace<V>::start_power(const ValueStep& v) {
    const Step& i = v.step;
    V* const d = data_.data();
    const int n = small_integer(d[i.b], SeriesTape::highest_product_power);
    power_[static_cast<std::size_t>(v.number)] = static_cast<std::int8_t>(n);
    d[i.to] = apply(Op::pow, d[i.a], d[i.b], V(0.0), 0);
    d[i.aux] = V(1.0) / d[i.a];
    V last = d[i.a];
    for (int m = 2; m < n; ++m) {
        last = last * d[i.a];
        d[i.to2 + static_cast<std::uint32_t>(m - 2) * stride_] = last;
    }
}

template <class V>
void SeriesWorkspace<V>::evaluate_values() {
    using std::cosh, std::exp, std::hypot, std::sinh, std::sqrt, std::tan, std::tanh;
    V* const d = data_.data();
    for (const ValueStep& v : program_->values) {
        const Step& i = v.step;
        switch (i.code) {
            case Code::value: d[i.to] = apply(v.op, d[i.a], d[i.b], d[i.c], v.number); break;
            case Code::compare: d[i.to] = evaluate_compare(d[i.a], v.op, v.number); break;
            case Code::row: d[i.to] = d[i.a]; break;
            case Code::add:
            case Code::add_scalar: d[i.to] = d[i.a] + d[i.b]; break;
            case Code::sub:
            case Code::sub_scalar: d[i.to] = d[i.a] - d[i.b]; break;
            case Code::scalar_sub: d[i.to] = d[i.b] - d[i.a]; break;
            case Code::neg: d[i.to] = -d[i.a]; break;
            case Code::scale:
            case Code::mul:
            case Code::mul_poly: d[i.to] = product(d[i.a], d[i.b], i.a == i.b); break;
            case Code::square: d[i.to] = squared(d[i.a]); break;
            case Code::scale_add:
            case Code::mul_add: d[i.to] = d[i.a] * d[i.b] + d[i.c]; break;
            case Code::scale_sub:
            case Code::mul_sub: d[i.to] = d[i.a] * d[i.b] - d[i.c]; break;
            case Code::sub_scale:
            case Code::sub_mul: d[i.to] = d[i.c] - d[i.a] * d[i.b]; break;
            case Code::div:
            case Code::div_poly:
                d[i.to] = d[i.a] / d[i.b];
                d[i.aux] = V(1.0) / d[i.b];
                break;
            case Code::sqrt:
                d[i.to] = sqrt(d[i.a]);
                d[i.aux] = V(0.5) / d[i.to];
                break;
            case Code::hypot:
                d[i.to] = hypot(d[i.a], d[i.b]);
                d[i.aux] = V(0.5) / d[i.to];
                break;
            case Code::exp:
            case Code::exp_poly: d[i.to] = exp(d[i.a]); break;
            case Code::pow_varying: d[i.to] = apply(Op::pow, d[i.b], d[i.c], V(0.0), 0); break;
            case Code::sincos:
            case Code::sincos_poly: sine_and_cosine(d[i.a], d[i.to], d[i.to2]); break;
            case Code::sinhcosh:
            case Code::sinhcosh_poly:
                d[i.to] = sinh(d[i.a]);
                d[i.to2] = cosh(d[i.a]);
                break;
            case Code::tan:
            case Code::tan_poly:
                d[i.to] = tan(d[i.a]);
                d[i.to2] = V(1.0) + squared(d[i.to]);
                break;
            case Code::tanh:
            case Code::tanh_poly:
                d[i.to] = tanh(d[i.a]);
                d[i.to2] = V(1.0) / squared(cosh(d[i.a]));  // = 1 − tanh², without its cancellation
                break;
            case Code::integral:
            case Code::integral_poly:
                d[i.to] = apply(v.op, d[i.a], V(0.0), V(0.0), 0);
                d[i.aux] = V(1.0) / d[i.b];
                break;
            case Code::atan2:
                d[i.to] = evaluate_angle(d[i.a], d[i.b], v.number);
                d[i.aux] = V(1.0) / d[i.c];
                break;
            case Code::pow:
            case Code::pow_poly: start_power(v); break;
            case Code::abs: {
                const int side = decide(d[i.a], Op::abs, v.number);
                d[i.aux] = side == uncertain ? undefined(V(0.0)) : V(static_cast<double>(side));
                d[i.to] = d[i.aux] * d[i.a];
                break;
            }
            case Code::extremum: {
                const int side = decide(d[i.c], v.op, v.number);  // +1 says a > b
                const bool first = (side > 0) == (v.op == Op::max);
                chosen_[i.aux] = side == uncertain ? program_->undefined_row : (first ? i.a : i.b);
                d[i.to] = d[chosen_[i.aux]];
                break;
            }
            case Code::choose: {
                const int holds = truth(d[i.a]);
                chosen_[i.aux] = holds == uncertain ? program_->undefined_row : (holds != 0 ? i.b : i.c);
                d[i.to] = d[chosen_[i.aux]];
                break;
            }
            case Code::stop: break;
        }
    }
}

// --- orders >= 1 ---------------------------------------------------------------------------------------------

/// Executes steps up to the one with the code `stop`.
template <class V>
void SeriesWorkspace<V>::evaluate_steps(const Step* i, int k) {
#if SALTUS_SERIES_WIDE
    if constexpr (std::is_same_v<V, double>)
        if (program_->sums) return wide::execute(i, k, data_.data(), stride_, chosen_.data(), power_.data());
#endif
    narrow::execute(i, k, data_.data(), stride_, chosen_.data(), power_.data());
}

template <class V>
void SeriesWorkspace<V>::evaluate_order(int k) {
    SALTUS_EXPECT(0 <= k && k <= next_ && k <= max_order_);
    next_ = k + 1;
    if (k == 0) return evaluate_values();
    for (const std::uint32_t row : program_->weighted_variables)
        narrow::store(&data_[row], k, true, stride_, data_[row + static_cast<std::uint32_t>(k)]);
    if (k <= tape_->highest_degree_)
        evaluate_steps(&program_->polynomials[program_->first_polynomial[static_cast<std::size_t>(k)]], k);
    evaluate_steps(program_->unlimited.data(), k);
}

/// Executes steps one after the other, each for the orders `from` to `to`.
template <class V>
void SeriesWorkspace<V>::evaluate_rows(std::span<const Step> steps, int from, int to) {
    if (from > to) return;
    SALTUS_EXPECT(from >= 1 && to <= max_order_);
#if SALTUS_SERIES_WIDE
    if constexpr (std::is_same_v<V, double>)
        if (program_->sums) {
            for (const Step& i : steps)
                wide::execute_row(i, from, to, data_.data(), stride_, chosen_.data(), power_.data());
            return;
        }
#endif
    for (const Step& i : steps) narrow::execute_row(i, from, to, data_.data(), stride_, chosen_.data(), power_.data());
}

template <class V>
void SeriesWorkspace<V>::evaluate_given(int from, int to) {
    for (const std::uint32_t row : program_->weighted_given)
        for (int k = from; k <= to; ++k)
            narrow::store(&data_[row], k, true, stride_, data_[row + static_cast<std::uint32_t>(k)]);
    for (int k = from; k <= to && k <= tape_->highest_degree_; ++k)
        evaluate_steps(&program_->polynomials[program_->first_polynomial[static_cast<std::size_t>(k)]], k);
    evaluate_rows(program_->given, from, to);
}

template <class V>
void SeriesWorkspace<V>::evaluate_later(int from, int to) {
    SALTUS_EXPECT(to < next_);
    evaluate_rows(program_->later, from, to);
}

template class SeriesWorkspace<double>;
template class SeriesWorkspace<Interval>;

}  // namespace saltus::expr
