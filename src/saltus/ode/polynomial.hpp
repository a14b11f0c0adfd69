// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>

namespace saltus::ode {

/// The largest degree of a polynomial that the functions below take.
inline constexpr int max_degree = 40;

/// Σ c_k θ^k.
double polynomial(std::span<const double> c, double theta);

/// A bound of the rounding errors of values of the polynomial on 0 <= θ <= 1 that first_crossing works with: about one
/// rounding error of Σ|c_k| per degree, for the conversion to Bernstein's basis and for the halving of intervals.
double evaluation_noise(std::span<const double> c);

/// A place at which a polynomial passes through zero from above.
struct Crossing {
    double theta;  ///< the zero, to rounding; 0 if the polynomial is not positive at 0
    double after;  ///< just behind it: the polynomial is certainly negative there, below −noise
};

/// The first crossing of s(θ) = Σ c_k θ^k on 0 <= θ <= 1 from positive to certainly negative values, s < −noise. Empty
/// if there is none; then s >= −noise everywhere on [0, 1]. Nothing is sampled: the answer comes from bounds of s on
/// intervals that are halved until the bounds decide. A minimum that only touches zero, within the noise, is no
/// crossing. `noise` >= 0 must cover the errors of the coefficients; rounding errors of the evaluation are added to it.
std::optional<Crossing> first_crossing(std::span<const double> c, double noise);

/// A crossing, and how certain it is.
struct PossibleCrossing {
    Crossing at;
    bool rounded = false;  ///< rounding errors of the evaluation are larger than `noise`
    bool touch = false;    ///< rounding errors of the evaluation may hide that the polynomial stays positive there
};

/// The same, but also places before the first crossing where only rounding errors of the evaluation leave open whether
/// the polynomial becomes negative. A polynomial on a shorter interval around such a place decides.
std::optional<PossibleCrossing> first_possible_crossing(std::span<const double> c, double noise);

}  // namespace saltus::ode
