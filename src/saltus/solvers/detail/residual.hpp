// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "saltus/solvers/problem.hpp"

namespace saltus::solvers {

/// How far r is from solving the problem, free of units: with F = r − P_K(r − ρ (v + μ‖v_T‖ n)), ρ = 1/mean(diag W),
///     ‖F‖ / max(ρ‖q‖, ‖r‖).
/// Zero exactly for solutions. Written for itself: it shares no code with the methods it judges.
double residual(const FrictionProblem& problem, std::span<const double> r);

/// The same with `scratch`, as long as r, in place of memory of its own.
double residual(const FrictionProblem& problem, std::span<const double> r, std::span<double> scratch);

/// The residual that decides whether r counts as a solution. It is the one above, but for an r that ran away: when
/// ‖r‖ is thousands of times ρ‖q‖ and ‖F‖ is more than rounding of r or not small against ρ‖q‖, a small quotient only
/// says that r is large (two walls that close on each other have no solution, but ever better quotients). Then it is
/// ‖F‖/(ρ‖q‖).
double verdict(const FrictionProblem& problem, std::span<const double> r);
double verdict(const FrictionProblem& problem, std::span<const double> r, std::span<double> scratch);

/// The same with K = ℝ⁺, ℝ × ℝ⁺ and a box; infinite where the problem holds a NaN or an infinity, or bounds cross. A w
/// is as long as q and receives M z + q.
double residual(const LinearComplementarity& problem, std::span<const double> z);
double residual(const MixedComplementarity& problem, std::span<const double> z);
double residual(const Relay& problem, std::span<const double> z);
double verdict(const LinearComplementarity& problem, std::span<const double> z, std::span<double> w);
double verdict(const MixedComplementarity& problem, std::span<const double> z, std::span<double> w);
double verdict(const Relay& problem, std::span<const double> z, std::span<double> w);

}  // namespace saltus::solvers
