// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numbers>
#include <type_traits>

#include "saltus/base/error.hpp"
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

using Pair = double __attribute__((vector_size(16)));
inline Pair load(const double* x) {
    Pair p;
    std::memcpy(&p, x, sizeof p);
    return p;
}
/// y[0], y[-1].
inline Pair load_backwards(const double* y) {
    const Pair p = load(y - 1);
    return __builtin_shufflevector(p, p, 1, 0);
}

/// Σ_(i=0..n−1) x[i] y[−i]. Four partial sums hide the latency of the additions; they are the same on every machine.
inline double dot(const double* x, const double* y, int n) {
    Pair even{0.0, 0.0}, odd{0.0, 0.0};
    for (; n >= 4; n -= 4) {
        even += load(x) * load_backwards(y);
        odd += load(x + 2) * load_backwards(y - 2);
        x += 4;
        y -= 4;
    }
    if ((n & 2) != 0) {
        even += load(x) * load_backwards(y);
        x += 2;
        y -= 2;
    }
    even += odd;
    const double sum = even[0] + even[1];
    return (n & 1) != 0 ? sum + x[0] * y[0] : sum;
}
inline Interval dot(const Interval* x, const Interval* y, int n) {
    Interval sum(0.0);
    for (int i = 0; i < n; ++i) sum += x[i] * y[-i];
    return sum;
}

/// Two such sums with the same y.
template <class V>
struct TwoSums {
    V first, second;
};
inline TwoSums<double> two_dots(const double* x1, const double* x2, const double* y, int n) {
    Pair sum1{0.0, 0.0}, sum2{0.0, 0.0};
    for (; n >= 2; n -= 2) {
        const Pair back = load_backwards(y);
        sum1 += load(x1) * back;
        sum2 += load(x2) * back;
        x1 += 2;
        x2 += 2;
        y -= 2;
    }
    TwoSums<double> sums{sum1[0] + sum1[1], sum2[0] + sum2[1]};
    if (n != 0) {
        sums.first += x1[0] * y[0];
        sums.second += x2[0] * y[0];
    }
    return sums;
}
inline TwoSums<Interval> two_dots(const Interval* x1, const Interval* x2, const Interval* y, int n) {
    return {dot(x1, y, n), dot(x2, y, n)};
}

/// Coefficient of order k >= 1 of x y.
template <class V>
inline V convolution(const V* x, const V* y, int k) {
    return (x[0] * y[k] + x[k] * y[0]) + dot(x + 1, y + k - 1, k - 1);
}

/// Σ_(i=1..k−1) x_i x_(k−i): each product of different coefficients occurs twice.
template <class V>
inline V inner_square(const V* x, int k) {
    V sum = V(2.0) * dot(x + 1, x + k - 1, (k - 1) / 2);
    if (k % 2 == 0) sum += squared(x[k / 2]);
    return sum;
}

/// Σ_(j=1..min(k−1, degree)) j a_j g_(k−j): the weighted sum for a polynomial a.
template <class V>
inline V weighted_sum(const V* a, const V* g, int k, int degree) {
    V sum(0.0);
    for (int j = 1, last = std::min(k - 1, degree); j <= last; ++j) sum += V(static_cast<double>(j)) * a[j] * g[k - j];
    return sum;
}

/// Coefficient of order k of r with r' = g a', for a polynomial a. Most of these polynomials are linear in the time.
template <class V>
inline V integral_of(const V* a, const V* g, int k, int degree, const V& per_k) {
    if (degree == 1 && k > 1) return per_k * (a[1] * g[k - 1]);
    return g[0] * a[k] + per_k * weighted_sum(a, g, k, degree);
}

}  // namespace

// --- construction --------------------------------------------------------------------------------------------

template <class V>
SeriesWorkspace<V>::SeriesWorkspace(const SeriesTape& tape, int max_order)
    : tape_(&tape),
      max_order_(max_order),
      // An odd stride spreads the rows over all sets of a cache. The time needs two coefficients.
      stride_(static_cast<std::uint32_t>(std::max(max_order + 1, 2)) | 1u) {
    SALTUS_EXPECT(max_order >= 0);
    std::uint32_t size = 1;
    offset_.reserve(tape.slots_.size());
    for (const SeriesTape::Slot& s : tape.slots_) {
        offset_.push_back(size);
        const std::uint32_t rows = (s.weighted ? 2u : 1u) + s.rows_for_pow;
        size += s.is_row ? rows * stride_ : 1u;
    }
    undefined_row_ = size;
    data_.assign(size + stride_, V(0.0));
    std::fill(data_.begin() + size, data_.end(), undefined(V(0.0)));

    const auto resolve_values = [&](const std::vector<Instruction>& from, std::vector<ValueStep>& to) {
        to.reserve(from.size());
        for (const Instruction& i : from) to.push_back({resolve(i), i.op, i.number});
    };
    resolve_values(tape.prepared_, prepared_);
    resolve_values(tape.values_, values_);

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
    unlimited_.reserve(tape.unlimited_.size() + 1);
    polynomials_.reserve(tape.polynomials_.size() + 1);
    for (const Instruction& i : tape.unlimited_) unlimited_.push_back(resolve_series(i));
    for (const Instruction& i : tape.polynomials_) polynomials_.push_back(resolve_series(i));
    Step stop{};
    stop.code = Code::stop;
    unlimited_.push_back(stop);
    polynomials_.push_back(stop);
    for (int k = 0; k <= tape.highest_degree_; ++k) {
        std::uint32_t first = 0;
        for (const Instruction& i : tape.polynomials_)
            if (tape.slots_[i.to].degree < k) ++first;
        first_polynomial_.push_back(first);
    }
    for (const std::uint32_t slot : tape.variables_)
        if (tape.slots_[slot].weighted) weighted_variables_.push_back(offset_[slot]);
    side_.assign(tape.switches_.size(), 0);
    fixed_.assign(tape.switches_.size(), 0);
    chosen_.assign(static_cast<std::size_t>(tape.choices_), undefined_row_);
    power_.assign(static_cast<std::size_t>(tape.powers_), -1);
    if constexpr (std::is_same_v<V, double>) radius_.assign(tape.slots_.size(), 0.0);
}

template <class V>
typename SeriesWorkspace<V>::Step SeriesWorkspace<V>::resolve(const Instruction& i) const {
    const bool chooses = i.code == Code::choose || i.code == Code::extremum;  // aux is the index of the choice
    const auto weighted = [&](std::uint32_t slot) { return slot != SeriesTape::none && tape_->slots_[slot].weighted; };
    return {i.code,       weighted(i.to), weighted(i.to2), i.limit,    place(i.to),
            place(i.to2), place(i.a),     place(i.b),      place(i.c), chooses ? i.aux : place(i.aux)};
}

template <class V>
void SeriesWorkspace<V>::prepare(std::span<const V> parameters) {
    SALTUS_EXPECT(parameters.size() == tape_->parameters_.size());
    for (const SeriesTape::Constant& c : tape_->constants_) {
        if constexpr (std::is_same_v<V, Interval>)
            data_[offset_[c.slot]] = c.low <= c.high ? Interval(c.low, c.high) : Interval(c.value);
        else
            data_[offset_[c.slot]] = c.value;
    }
    for (std::size_t i = 0; i < parameters.size(); ++i) data_[offset_[tape_->parameters_[i]]] = parameters[i];
    V* const d = data_.data();
    for (const auto& [i, op, number] : prepared_) d[i.to] = apply(op, d[i.a], d[i.b], d[i.c], number);
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
V SeriesWorkspace<V>::next_in_power(const Step& i, int n, int k) {
    V* const d = data_.data();
    if (n == 0) return V(0.0);
    const V* const a = d + i.a;
    const V* lower = a;
    V next = a[k];
    for (int m = 2; m <= n; ++m) {
        next = V(0.0);
        for (int j = 0; j <= k; ++j) next += a[j] * lower[k - j];
        if (m == n) break;
        V* const row = d + i.to2 + static_cast<std::uint32_t>(m - 2) * stride_;
        row[k] = next;
        lower = row;
    }
    return next;
}

template <class V>
void SeriesWorkspace<V>::evaluate_values() {
    using std::cosh, std::exp, std::hypot, std::sinh, std::sqrt, std::tan, std::tanh;
    V* const d = data_.data();
    for (const ValueStep& v : values_) {
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
                chosen_[i.aux] = side == uncertain ? undefined_row_ : (first ? i.a : i.b);
                d[i.to] = d[chosen_[i.aux]];
                break;
            }
            case Code::choose: {
                const int holds = truth(d[i.a]);
                chosen_[i.aux] = holds == uncertain ? undefined_row_ : (holds != 0 ? i.b : i.c);
                d[i.to] = d[chosen_[i.aux]];
                break;
            }
            case Code::stop: break;
        }
    }
}

// --- orders >= 1 ---------------------------------------------------------------------------------------------

namespace {

template <class V>
inline void store(V* row, int k, bool weighted, std::uint32_t stride, const V& value) {
    row[k] = value;
    if (weighted) row[stride + static_cast<std::uint32_t>(k)] = V(static_cast<double>(k)) * value;
}

}  // namespace

/// Executes steps up to the one with the code `stop`. Steps with the same code mostly follow each other. So each case
/// has a loop of its own, and the jump to the next code is rare.
template <class V>
void SeriesWorkspace<V>::evaluate_steps(const Step* i, int k) {
    V* const d = data_.data();
    V* const dk = d + k;  // coefficients of order k
    V* const previous = dk - 1;
    const std::uint32_t stride = stride_;
    V* const weighted = previous + stride;  // of order k − 1
    const V per_k = V(1.0) / V(static_cast<double>(k));
    const int n = k - 1;  // number of terms of the inner sums
    for (;;) {
        switch (i->code) {
            case Code::add_scalar:
                do store(d + i->to, k, i->weighted, stride, dk[i->a]);
                while ((++i)->code == Code::add_scalar);
                break;
            case Code::neg:
                do store(d + i->to, k, i->weighted, stride, -dk[i->a]);
                while ((++i)->code == Code::neg);
                break;
            case Code::add:
                do store(d + i->to, k, i->weighted, stride, dk[i->a] + dk[i->b]);
                while ((++i)->code == Code::add);
                break;
            case Code::sub:
                do store(d + i->to, k, i->weighted, stride, dk[i->a] - dk[i->b]);
                while ((++i)->code == Code::sub);
                break;
            case Code::scale:
                do store(d + i->to, k, i->weighted, stride, d[i->b] * dk[i->a]);
                while ((++i)->code == Code::scale);
                break;
            case Code::scale_add:
                do store(d + i->to, k, i->weighted, stride, d[i->b] * dk[i->a] + dk[i->c]);
                while ((++i)->code == Code::scale_add);
                break;
            case Code::scale_sub:
                do store(d + i->to, k, i->weighted, stride, d[i->b] * dk[i->a] - dk[i->c]);
                while ((++i)->code == Code::scale_sub);
                break;
            case Code::sub_scale:
                do store(d + i->to, k, i->weighted, stride, dk[i->c] - d[i->b] * dk[i->a]);
                while ((++i)->code == Code::sub_scale);
                break;
            case Code::choose:
                do store(d + i->to, k, i->weighted, stride, dk[chosen_[i->aux]]);
                while ((++i)->code == Code::choose);
                break;
            case Code::mul:
                do store(d + i->to, k, i->weighted, stride, convolution(d + i->a, d + i->b, k));
                while ((++i)->code == Code::mul);
                break;
            case Code::mul_add:
                do store(d + i->to, k, i->weighted, stride, convolution(d + i->a, d + i->b, k) + dk[i->c]);
                while ((++i)->code == Code::mul_add);
                break;
            case Code::mul_sub:
                do store(d + i->to, k, i->weighted, stride, convolution(d + i->a, d + i->b, k) - dk[i->c]);
                while ((++i)->code == Code::mul_sub);
                break;
            case Code::sub_mul:
                do store(d + i->to, k, i->weighted, stride, dk[i->c] - convolution(d + i->a, d + i->b, k));
                while ((++i)->code == Code::sub_mul);
                break;
            case Code::square:
                do {
                    const V* const a = d + i->a;
                    store(d + i->to, k, i->weighted, stride, V(2.0) * (a[0] * a[k]) + inner_square(a, k));
                } while ((++i)->code == Code::square);
                break;
            case Code::mul_poly:
                do {
                    const V* const a = d + i->a;
                    const V* const b = dk + i->b;
                    V v = a[0] * b[0] + a[1] * b[-1];
                    for (int j = 2, last = std::min<int>(k, i->limit); j <= last; ++j) v += a[j] * b[-j];
                    store(d + i->to, k, i->weighted, stride, v);
                } while ((++i)->code == Code::mul_poly);
                break;
            // r b = a: r_k = (a_k − Σ_(i=0..k−1) r_i b_(k−i))/b_0.
            case Code::div:
                do {
                    const V* const r = d + i->to;
                    store(d + i->to, k, i->weighted, stride,
                          d[i->aux] * (dk[i->a] - r[0] * dk[i->b] - dot(r + 1, previous + i->b, n)));
                } while ((++i)->code == Code::div);
                break;
            case Code::div_poly:
                do {
                    const V* const r = dk + i->to;
                    const V* const b = d + i->b;
                    V v = dk[i->a];
                    for (int j = 1, last = std::min<int>(k, i->limit); j <= last; ++j) v -= b[j] * r[-j];
                    store(d + i->to, k, i->weighted, stride, d[i->aux] * v);
                } while ((++i)->code == Code::div_poly);
                break;
            // r² = a: 2 r_0 r_k = a_k − Σ_(i=1..k−1) r_i r_(k−i).
            case Code::sqrt:
                do store(d + i->to, k, i->weighted, stride, d[i->aux] * (dk[i->a] - inner_square(d + i->to, k)));
                while ((++i)->code == Code::sqrt);
                break;
            // r' = r a'.
            case Code::exp:
                do {
                    const V* const r = d + i->to;
                    store(d + i->to, k, i->weighted, stride, r[0] * dk[i->a] + per_k * dot(r + 1, weighted + i->a, n));
                } while ((++i)->code == Code::exp);
                break;
            case Code::exp_poly:
                do {
                    const V* const r = d + i->to;
                    store(d + i->to, k, i->weighted, stride, integral_of(d + i->a, r, k, i->limit, per_k));
                } while ((++i)->code == Code::exp_poly);
                break;
            // s' = c a' and c' = −s a', or c' = s a' for the hyperbolic functions.
            case Code::sincos:
            case Code::sinhcosh: {
                const Code code = i->code;
                do {
                    const V* const s = d + i->to;
                    const V* const c = d + i->to2;
                    const V a = dk[i->a];
                    const auto [s_sum, c_sum] = two_dots(s + 1, c + 1, weighted + i->a, n);
                    const V next = s[0] * a + per_k * s_sum;
                    store(d + i->to, k, i->weighted, stride, c[0] * a + per_k * c_sum);
                    store(d + i->to2, k, i->weighted2, stride, code == Code::sincos ? -next : next);
                } while ((++i)->code == code);
                break;
            }
            case Code::sincos_poly:
            case Code::sinhcosh_poly: {
                const Code code = i->code;
                do {
                    const V* const s = d + i->to;
                    const V* const c = d + i->to2;
                    const V* const a = d + i->a;
                    const V next = integral_of(a, s, k, i->limit, per_k);
                    store(d + i->to, k, i->weighted, stride, integral_of(a, c, k, i->limit, per_k));
                    store(d + i->to2, k, i->weighted2, stride, code == Code::sincos_poly ? -next : next);
                } while ((++i)->code == code);
                break;
            }
            // r' = g a' with g = 1 + r² for the tangent and g = 1 − r² for the hyperbolic tangent.
            case Code::tan:
            case Code::tanh:
            case Code::tan_poly:
            case Code::tanh_poly: {
                const V* const r = d + i->to;
                const V* const g = d + i->to2;
                const bool poly = i->code == Code::tan_poly || i->code == Code::tanh_poly;
                const bool hyperbolic = i->code == Code::tanh || i->code == Code::tanh_poly;
                const V sum = poly ? weighted_sum(d + i->a, g, k, i->limit) : dot(g + 1, weighted + i->a, n);
                const V next = g[0] * dk[i->a] + per_k * sum;
                const V next_square = V(2.0) * (r[0] * next) + inner_square(r, k);
                store(d + i->to, k, i->weighted, stride, next);
                store(d + i->to2, k, i->weighted2, stride, hyperbolic ? -next_square : next_square);
                ++i;
                break;
            }
            // r' b = ±a': b_0 r_k = ±a_k − (1/k) Σ_(i=1..k−1) b_i (k−i) r_(k−i).
            case Code::integral:
                do {
                    const V numerator = i->c != 0 ? -dk[i->a] : dk[i->a];
                    store(d + i->to, k, i->weighted, stride,
                          d[i->aux] * (numerator - per_k * dot(d + i->b + 1, weighted + i->to, n)));
                } while ((++i)->code == Code::integral);
                break;
            case Code::integral_poly:
                do {
                    const V* const b = d + i->b;
                    const V* const r = d + i->to;
                    V sum(0.0);
                    for (int j = 1, last = std::min<int>(n, i->limit); j <= last; ++j)
                        sum += V(static_cast<double>(k - j)) * b[j] * r[k - j];
                    store(d + i->to, k, i->weighted, stride,
                          d[i->aux] * ((i->c != 0 ? -dk[i->a] : dk[i->a]) - per_k * sum));
                } while ((++i)->code == Code::integral_poly);
                break;
            // The angle r of the point (x, y) satisfies r' (x² + y²) = x y' − y x'. Here y is a, x is b, x² + y² is c.
            case Code::atan2: {
                const V* const y = d + i->a;
                const V* const x = d + i->b;
                const V sum = dot(x + 1, weighted + i->a, n) - dot(y + 1, weighted + i->b, n) -
                              dot(d + i->c + 1, weighted + i->to, n);
                store(d + i->to, k, i->weighted, stride, d[i->aux] * (x[0] * y[k] - y[0] * x[k] + per_k * sum));
                ++i;
                break;
            }
            // r = a^p satisfies a r' = p r a':
            //     k a_0 r_k = Σ_(i=0..k−1) p r_i (k−i) a_(k−i) − Σ_(i=1..k−1) a_i (k−i) r_(k−i).
            case Code::pow:
            case Code::pow_poly: {
                const V* const r = d + i->to;
                const V* const a = d + i->a;
                const V p = d[i->b];
                V sum(0.0);
                if (power_[i->c] >= 0) {
                    store(d + i->to, k, i->weighted, stride, next_in_power(*i, power_[i->c], k));
                } else {
                    if (i->code == Code::pow) {
                        sum = p * dot(r + 1, weighted + i->a, n) - dot(a + 1, weighted + i->to, n);
                    } else {
                        for (int j = 1, last = std::min<int>(n, i->limit); j <= last; ++j)
                            sum += (p * V(static_cast<double>(j)) - V(static_cast<double>(k - j))) * a[j] * r[k - j];
                    }
                    store(d + i->to, k, i->weighted, stride, d[i->aux] * (p * r[0] * a[k] + per_k * sum));
                }
                ++i;
                break;
            }
            case Code::stop: return;
            default: misuse("an instruction for series", __FILE__, __LINE__);
        }
    }
}

template <class V>
void SeriesWorkspace<V>::evaluate_order(int k) {
    SALTUS_EXPECT(0 <= k && k <= next_ && k <= max_order_);
    next_ = k + 1;
    if (k == 0) return evaluate_values();
    for (const std::uint32_t row : weighted_variables_)
        store(&data_[row], k, true, stride_, data_[row + static_cast<std::uint32_t>(k)]);
    if (k <= tape_->highest_degree_) evaluate_steps(&polynomials_[first_polynomial_[static_cast<std::size_t>(k)]], k);
    evaluate_steps(unlimited_.data(), k);
}

template class SeriesWorkspace<double>;
template class SeriesWorkspace<Interval>;

}  // namespace saltus::expr
