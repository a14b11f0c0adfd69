// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <concepts>
#include <limits>
#include <span>

#include "saltus/base/error.hpp"
#include "saltus/base/numbers.hpp"

// The interface of every convex set C, and the arithmetic that the sets share.
//
// No set allocates or throws, so the same inline functions run on a device. Lengths are computed without intermediate
// overflow or underflow. A NaN propagates to every component of the result that depends on it, makes every test false,
// and never causes an endless loop. Parameters may be zero; a negative one is a misuse.

#ifdef __CUDACC__
#define SALTUS_SETS_DEVICE __host__ __device__
#else
#define SALTUS_SETS_DEVICE
#endif

#ifdef __CUDA_ARCH__
#define SALTUS_SETS_EXPECT(condition) static_cast<void>(0)
#else
#define SALTUS_SETS_EXPECT(condition) SALTUS_EXPECT(condition)
#endif

namespace saltus::sets {

/// A closed convex set C ⊂ ℝⁿ, n = `dimension`.
///   contains(x, tolerance)           True if x is within `tolerance` (a length in the unit of x) of C, or of each set
///                                    whose intersection defines C. With 0 the definition is tested as computed.
///   project(x, out)                  out = P_C(x), the point of C nearest to x, exact to rounding. out may be x.
///   support(d)                       σ_C(d), the supremum of ⟨d, y⟩ over y ∈ C; +∞ if unbounded. For a cone: 0 if d is
///                                    in the polar cone within `rounding`·‖d‖, else +∞.
///   in_normal_cone(x, d, tolerance)  True if d ∈ N_C(x), see `is_normal`. `tolerance` is relative to the size of x and
///                                    C; the length of d does not matter.
template <class S>
concept ConvexSet = requires(const S& set, std::span<const double> x, double* out, double tolerance) {
    { set.dimension } -> std::convertible_to<int>;
    { set.contains(x, tolerance) } -> std::same_as<bool>;
    { set.project(x, out) } -> std::same_as<void>;
    { set.support(x) } -> std::same_as<double>;
    { set.in_normal_cone(x, x, tolerance) } -> std::same_as<bool>;
};

/// A closed convex cone K with its dual K* = { y : ⟨x, y⟩ >= 0 for all x in K }; the polar cone is −K*.
template <class S>
concept ConvexCone = ConvexSet<S> && requires(const S& set) {
    { set.dual() } -> ConvexSet;
};

/// Largest rounding error of a sum of a few products, relative to its terms.
inline constexpr double rounding = 16.0 * std::numeric_limits<double>::epsilon();
using saltus::infinity;

/// A sum of squares between these two values has neither overflown nor lost digits by underflow.
inline constexpr double smallest_safe_square = 1e-280, largest_safe_square = 1e300;

/// √(a² + b²), accurate to two roundings at every scale.
SALTUS_SETS_DEVICE inline double length(double a, double b) {
    const double square = a * a + b * b;
    if (square > smallest_safe_square && square < largest_safe_square) return std::sqrt(square);
    const double largest = std::abs(a) > std::abs(b) ? std::abs(a) : std::abs(b);
    if (square != square || !(largest > 0.0) || largest == infinity) return square;
    return largest * std::sqrt((a / largest) * (a / largest) + (b / largest) * (b / largest));
}

/// ‖x‖ of n numbers, accurate at every scale.
SALTUS_SETS_DEVICE inline double length(const double* x, int n) {
    double square = 0.0, largest = 0.0;
    for (int i = 0; i < n; ++i) {
        square += x[i] * x[i];
        if (std::abs(x[i]) > largest) largest = std::abs(x[i]);
    }
    if (square > smallest_safe_square && square < largest_safe_square) return std::sqrt(square);
    if (square != square || !(largest > 0.0) || largest == infinity) return square;
    square = 0.0;
    for (int i = 0; i < n; ++i) square += (x[i] / largest) * (x[i] / largest);
    return largest * std::sqrt(square);
}

SALTUS_SETS_DEVICE inline bool has_nan(const double* x, int n) {
    for (int i = 0; i < n; ++i)
        if (x[i] != x[i]) return true;
    return false;
}

/// The support function of a cone K by its dual: 0 if −d ∈ K*, else +∞. NaN if d has a NaN.
template <int max_dimension, class Dual>
SALTUS_SETS_DEVICE double cone_support(const Dual& dual, std::span<const double> d) {
    const int n = dual.dimension;
    SALTUS_SETS_EXPECT(d.size() == static_cast<std::size_t>(n));
    double opposite[max_dimension] = {};
    for (int i = 0; i < n; ++i) opposite[i] = -d.data()[i];
    if (dual.contains({opposite, d.size()}, rounding * length(opposite, n))) return 0.0;
    return has_nan(opposite, n) ? std::numeric_limits<double>::quiet_NaN() : infinity;
}

/// The test d ∈ N_C(x) ⟺ x = P_C(x + d). N_C(x) is a cone, so the length of d does not matter: d is first scaled to the
/// length s = max(‖x‖, size of C). The test is ‖x − P_C(x + d)‖ <= tolerance · s. Its meaning: if the left side is r s,
/// then there are x', d' with d' ∈ N_C(x') that differ from x and d by r s, namely x' = P_C(x + d), d' = x + d − x'.
/// Conversely, since the projection is nonexpansive, any such pair shows r s <= 3 × its difference. `size` is 0 for
/// cones, whose only scale is that of x; at the apex s = 1.
template <int max_dimension, class S>
SALTUS_SETS_DEVICE bool is_normal(const S& set, std::span<const double> x, std::span<const double> d, double size,
                                  double tolerance) {
    const int n = set.dimension;
    SALTUS_SETS_EXPECT(x.size() == static_cast<std::size_t>(n) && d.size() == x.size());
    const double length_x = length(x.data(), n), length_d = length(d.data(), n);
    double scale = length_x > size ? length_x : size;
    if (scale == 0.0) scale = 1.0;
    double y[max_dimension], p[max_dimension];
    for (int i = 0; i < n; ++i) y[i] = x.data()[i] + (length_d == 0.0 ? 0.0 : (d.data()[i] / length_d) * scale);
    set.project({y, static_cast<std::size_t>(n)}, p);
    for (int i = 0; i < n; ++i) p[i] = x.data()[i] - p[i];
    return length(p, n) <= tolerance * scale;
}

}  // namespace saltus::sets
