// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "saltus/solvers/problem.hpp"

// The measure by which every result is judged. It shares no code with the methods that it judges.

namespace saltus::solvers {

/// Distance of r from a solution, unit-free. With ρ = 1/mean(diag W) and the natural map
///     F(r) = r − P_K(r − ρ v̂),    v̂ = v + (support of the friction forces) n   (problem.hpp)
/// the residual is ‖F‖ / max(ρ‖q‖, ‖r‖). It is zero exactly for solutions. It is infinite if F is NaN.
double residual(const FrictionProblem& problem, std::span<const double> r);

/// The same without allocation. `scratch` has the length of r and receives v = W r + q.
double residual(const FrictionProblem& problem, std::span<const double> r, std::span<double> scratch);

/// The measure that decides whether r counts as a solution; `scratch` receives v. It equals `residual` unless the
/// iterate diverged. If ‖r‖ exceeds ρ‖q‖ by more than a factor 1000, then a small ‖F‖/‖r‖ may only mean that r is
/// large: two walls that close on a body have no solution, but the quotient tends to 0 as r grows. In that case the
/// value is ‖F‖/(ρ‖q‖), except if ‖F‖ is both rounding of r and small against ρ‖q‖. ‖F‖ then contains the rounding
/// error of r, below which F says nothing about v.
double verdict(const FrictionProblem& problem, std::span<const double> r);
double verdict(const FrictionProblem& problem, std::span<const double> r, std::span<double> scratch);

/// The same measures for complementarity problems, with K = ℝ⁺, ℝ × ℝ⁺, and the box [lower, upper]. They are infinite
/// if the problem contains a NaN or an infinity or if bounds cross. `w` has the length of q and receives M z + q.
double residual(const LinearComplementarity& problem, std::span<const double> z);
double residual(const MixedComplementarity& problem, std::span<const double> z);
double residual(const Relay& problem, std::span<const double> z);
double verdict(const LinearComplementarity& problem, std::span<const double> z, std::span<double> w);
double verdict(const MixedComplementarity& problem, std::span<const double> z, std::span<double> w);
double verdict(const Relay& problem, std::span<const double> z, std::span<double> w);

}  // namespace saltus::solvers
