// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cassert>
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <limits>

// Interval arithmetic with guaranteed enclosures.
//
// An Interval [lo, hi] stands for a set of real numbers (infinities are bounds, never members). Every
// operation promises: for each choice of points in the operands at which the operation is defined, the
// exact real result lies in the returned interval. Where the operation is undefined for some choice
// (square root of a negative part, division by an interval containing zero, tangent across a pole, ...)
// the result has `defined == false` and encloses the values on the part where it is defined; it is the
// whole line if there is no such part. `defined` is conjoined through every operation, so a final `true`
// says that the whole expression is defined on the whole box.
//
// `defined` is about existence, not continuity: sign, select and atan2 across its branch cut jump and stay
// defined.
//
// Rounding: operations round to nearest and then step to the neighbouring double; the rounding mode is
// never touched. Bounds that are provably exact do not move, so computations with small integers stay
// points. The caller must run in the default environment (round to nearest, no flush to zero).
//
// There is no operator< or operator== on purpose: a branch on an interval has three outcomes. Use less(),
// equal(), ... and select().

#ifdef __FAST_MATH__
#error "interval bounds rest on IEEE semantics; do not compile with -ffast-math"
#endif

namespace saltus::expr {

static_assert(FLT_EVAL_METHOD == 0, "error-free sums need plain double evaluation");
static_assert(std::numeric_limits<double>::is_iec559);

// Invariant: lo <= hi, neither is NaN, lo < +inf and -inf < hi (the set holds at least one real number).
struct Interval {
    double lo = 0.0;
    double hi = 0.0;
    bool defined = true;  // the expression exists for every choice of points

    constexpr Interval() = default;

    // The point x. An infinity, which can only be an overflow, becomes everything beyond the largest
    // double; NaN becomes the whole line, undefined.
    constexpr Interval(double x)
        : lo(x == x ? (x < infinity ? x : largest) : -infinity),
          hi(x == x ? (x > -infinity ? x : -largest) : infinity),
          defined(x == x) {}

    // Bounds that satisfy the invariant; hull() takes them in any order.
    constexpr Interval(double lower, double upper, bool is_defined = true) : lo(lower), hi(upper), defined(is_defined) {
        assert(lower <= upper && lower < infinity && upper > -infinity);
    }

    static constexpr double infinity = std::numeric_limits<double>::infinity();
    static constexpr double largest = std::numeric_limits<double>::max();
};

namespace detail {

// The neighbour of p towards -inf, except that +0 stays: p is a rounded value whose sign bit is that of the
// exact value even after underflow (a product, a quotient), so the exact value has the same sign.
constexpr double toward_minus(double p) {
    const auto bits = std::bit_cast<std::int64_t>(p);
    const std::int64_t grow = p > -Interval::infinity ? 1 : 0;
    const std::int64_t shrink = bits != 0 ? -1 : 0;
    return std::bit_cast<double>(bits + (bits < 0 ? grow : shrink));
}

constexpr double toward_plus(double p) { return -toward_minus(-p); }

}  // namespace detail

// Neighbouring doubles: next_down(0) = -denorm_min, next_down(+inf) = largest, next_down(-inf) = -inf.
constexpr double next_down(double x) {
    return x == 0.0 ? -std::numeric_limits<double>::denorm_min() : detail::toward_minus(x);
}
constexpr double next_up(double x) { return -next_down(-x); }

namespace detail {

// TwoSum: a + b = sum + error exactly. An overflow anywhere makes the error NaN, and the comparisons below
// are written so that NaN steps outward. Addition never underflows inexactly. The bounds are therefore the
// correctly rounded ones except next to overflow.
constexpr double sum_error(double a, double b, double sum) {
    const double b_virtual = sum - a;
    return (a - (sum - b_virtual)) + (b - b_virtual);
}

constexpr double add_down(double a, double b) {
    const double sum = a + b;
    return sum_error(a, b, sum) >= 0.0 ? sum : next_down(sum);
}

constexpr double add_up(double a, double b) {
    const double sum = a + b;
    return sum_error(a, b, sum) <= 0.0 ? sum : next_up(sum);
}

// True only if x y = product exactly. A factor with z trailing zeros in its 52 stored fraction bits has at
// most 53 - z significant bits, and significant bits add up under multiplication (a power of two adds none).
// The product must be clear of the subnormal range: below 2^-1021 a rounded value may have lost bits.
constexpr bool product_is_exact(double x, double y, double product) {
    constexpr std::uint64_t implicit_bit = std::uint64_t{1} << 52;
    constexpr double clear_of_underflow = 2.0 * std::numeric_limits<double>::min();
    const int zeros_x = std::countr_zero(std::bit_cast<std::uint64_t>(x) | implicit_bit);
    const int zeros_y = std::countr_zero(std::bit_cast<std::uint64_t>(y) | implicit_bit);
    const double size = product < 0.0 ? -product : product;
    const bool bits_fit = (zeros_x + zeros_y >= 53) | (zeros_x == 52) | (zeros_y == 52);
    return bits_fit & (size >= clear_of_underflow) & (size <= Interval::largest);
}

// 0 times an infinite bound is 0: the bound is a limit of real numbers, and 0 times each of them is 0.
constexpr double multiply_down(double x, double y) {
    if (x == 0.0 || y == 0.0) return 0.0;
    const double product = x * y;
    return product_is_exact(x, y, product) ? product : toward_minus(product);
}

constexpr double multiply_up(double x, double y) { return -multiply_down(-x, y); }

}  // namespace detail

// --- construction and enquiry -----------------------------------------------------------------------

constexpr Interval point(double x) { return Interval(x); }
constexpr Interval entire(bool is_defined = true) {
    return Interval(-Interval::infinity, Interval::infinity, is_defined);
}

// The smallest interval that contains both. Numbers convert to points, so hull(x, y) takes bounds in any order.
constexpr Interval hull(const Interval& a, const Interval& b) {
    return Interval(a.lo < b.lo ? a.lo : b.lo, a.hi > b.hi ? a.hi : b.hi, a.defined && b.defined);
}

constexpr bool is_point(const Interval& x) { return x.lo == x.hi; }

// Membership of a real number: false for infinities and NaN.
constexpr bool contains(const Interval& x, double value) {
    return x.lo <= value && value <= x.hi && -Interval::infinity < value && value < Interval::infinity;
}

// Upper bound of hi - lo; infinite for unbounded intervals.
constexpr double width(const Interval& x) { return detail::add_up(x.hi, -x.lo); }

// A finite double inside x near its centre: 0 for the whole line, +-largest for half lines.
double midpoint(const Interval& x);

// --- arithmetic -------------------------------------------------------------------------------------

constexpr Interval operator-(const Interval& x) { return Interval(-x.hi, -x.lo, x.defined); }

constexpr Interval operator+(const Interval& a, const Interval& b) {
    return Interval(detail::add_down(a.lo, b.lo), detail::add_up(a.hi, b.hi), a.defined && b.defined);
}

constexpr Interval operator-(const Interval& a, const Interval& b) {
    return Interval(detail::add_down(a.lo, -b.hi), detail::add_up(a.hi, -b.lo), a.defined && b.defined);
}

// If a >= 0, then a b is smallest at b.lo (times the small end of a if that is positive, the large end
// otherwise) and largest at b.hi. The other one-signed cases reduce to this one by exchange and reflection;
// only if both operands straddle zero do two products compete for each bound.
constexpr Interval operator*(const Interval& a, const Interval& b) {
    const bool both_defined = a.defined && b.defined;
    const bool a_straddles = a.lo < 0.0 && a.hi > 0.0;
    const bool b_straddles = b.lo < 0.0 && b.hi > 0.0;
    if (a_straddles && b_straddles) {
        const double low_1 = detail::multiply_down(a.lo, b.hi);
        const double low_2 = detail::multiply_down(a.hi, b.lo);
        const double high_1 = detail::multiply_up(a.lo, b.lo);
        const double high_2 = detail::multiply_up(a.hi, b.hi);
        return Interval(low_1 < low_2 ? low_1 : low_2, high_1 > high_2 ? high_1 : high_2, both_defined);
    }
    const Interval& one_signed = a_straddles ? b : a;
    const Interval& other = a_straddles ? a : b;
    const bool reflect = one_signed.lo < 0.0;
    const double near_end = reflect ? -one_signed.hi : one_signed.lo;
    const double far_end = reflect ? -one_signed.lo : one_signed.hi;
    const double low = detail::multiply_down(other.lo >= 0.0 ? near_end : far_end, other.lo);
    const double high = detail::multiply_up(other.hi >= 0.0 ? far_end : near_end, other.hi);
    return reflect ? Interval(-high, -low, both_defined) : Interval(low, high, both_defined);
}

// Undefined where b contains zero. If zero is an end of b, the quotients form a half line when a has one
// sign; if it is interior, they reach everywhere (except 0 / b = 0).
Interval operator/(const Interval& a, const Interval& b);

constexpr Interval& operator+=(Interval& a, const Interval& b) { return a = a + b; }
constexpr Interval& operator-=(Interval& a, const Interval& b) { return a = a - b; }
constexpr Interval& operator*=(Interval& a, const Interval& b) { return a = a * b; }
inline Interval& operator/=(Interval& a, const Interval& b) { return a = a / b; }

// --- powers and roots -------------------------------------------------------------------------------

// x x with both factors equal: never negative.
constexpr Interval sqr(const Interval& x) {
    const double size_lo = x.lo < 0.0 ? -x.lo : x.lo;
    const double size_hi = x.hi < 0.0 ? -x.hi : x.hi;
    const bool straddles = x.lo < 0.0 && x.hi > 0.0;
    const double near_end = straddles ? 0.0 : (size_lo < size_hi ? size_lo : size_hi);
    const double far_end = size_lo < size_hi ? size_hi : size_lo;
    return Interval(detail::multiply_down(near_end, near_end), detail::multiply_up(far_end, far_end), x.defined);
}

// x^n with x^0 = 1 everywhere; for n < 0 undefined at zero.
Interval powi(const Interval& x, int n);

// a^b. For an integer point b as powi. Otherwise a negative base is defined only at the integers in b, a
// zero base only at b >= 0 (0^0 = 1): outside, `defined` is false and the range covers what is left.
Interval pow(const Interval& a, const Interval& b);

Interval sqrt(const Interval& x);  // undefined where x is negative
Interval hypot(const Interval& a, const Interval& b);

// --- elementary functions ---------------------------------------------------------------------------

Interval exp(const Interval& x);
Interval log(const Interval& x);  // undefined where x <= 0

// If a bound of a proper interval exceeds 1e8 in size, its range is not resolved: sin and cos return [-1, 1], tan
// returns the whole line, undefined. Points are always resolved. tan is undefined across a pole.
Interval sin(const Interval& x);
Interval cos(const Interval& x);
Interval tan(const Interval& x);

Interval asin(const Interval& x);  // asin and acos are undefined outside [-1, 1]
Interval acos(const Interval& x);
Interval atan(const Interval& x);

// The angle of (x, y) in (-pi, pi], pi on the negative x axis. A box that reaches the negative x axis from
// below gets [-pi, pi], rounded outward: that is a jump, not a lack of definition. Undefined only if the
// box contains the origin.
Interval atan2(const Interval& y, const Interval& x);

Interval sinh(const Interval& x);
Interval cosh(const Interval& x);
Interval tanh(const Interval& x);

// --- pieces (all exact) -----------------------------------------------------------------------------

constexpr Interval abs(const Interval& x) {
    if (x.lo >= 0.0) return x;
    if (x.hi <= 0.0) return -x;
    return Interval(0.0, -x.lo > x.hi ? -x.lo : x.hi, x.defined);
}

// sign(0) = 0; both signs in x give [-1, 1].
constexpr Interval sign(const Interval& x) {
    return Interval(static_cast<double>((x.lo > 0.0) - (x.lo < 0.0)), static_cast<double>((x.hi > 0.0) - (x.hi < 0.0)),
                    x.defined);
}

constexpr Interval min(const Interval& a, const Interval& b) {
    return Interval(a.lo < b.lo ? a.lo : b.lo, a.hi < b.hi ? a.hi : b.hi, a.defined && b.defined);
}

constexpr Interval max(const Interval& a, const Interval& b) {
    return Interval(a.lo > b.lo ? a.lo : b.lo, a.hi > b.hi ? a.hi : b.hi, a.defined && b.defined);
}

// --- truth values -----------------------------------------------------------------------------------
// [1, 1]: true for every choice of points; [0, 0]: false for every choice; [0, 1]: undecided.

namespace detail {

constexpr Interval truth(bool always, bool never, bool is_defined) {
    return Interval(always ? 1.0 : 0.0, never ? 0.0 : 1.0, is_defined);
}

}  // namespace detail

constexpr Interval less(const Interval& a, const Interval& b) {
    return detail::truth(a.hi < b.lo, a.lo >= b.hi, a.defined && b.defined);
}

constexpr Interval less_equal(const Interval& a, const Interval& b) {
    return detail::truth(a.hi <= b.lo, a.lo > b.hi, a.defined && b.defined);
}

constexpr Interval greater(const Interval& a, const Interval& b) { return less(b, a); }
constexpr Interval greater_equal(const Interval& a, const Interval& b) { return less_equal(b, a); }

constexpr Interval equal(const Interval& a, const Interval& b) {
    return detail::truth(is_point(a) && is_point(b) && a.lo == b.lo, a.hi < b.lo || b.hi < a.lo,
                         a.defined && b.defined);
}

constexpr Interval not_equal(const Interval& a, const Interval& b) {
    const Interval same = equal(a, b);
    return Interval(1.0 - same.hi, 1.0 - same.lo, same.defined);
}

// a where the condition is nonzero, b where it is zero. A certain condition takes only its branch, whose
// `defined` alone counts besides the condition's; an undecided one takes the hull of both.
constexpr Interval select(const Interval& condition, const Interval& a, const Interval& b) {
    const bool can_hold = condition.lo != 0.0 || condition.hi != 0.0;
    const bool can_fail = condition.lo <= 0.0 && condition.hi >= 0.0;
    const Interval chosen = can_hold && can_fail ? hull(a, b) : (can_hold ? a : b);
    return Interval(chosen.lo, chosen.hi, chosen.defined && condition.defined);
}

}  // namespace saltus::expr
