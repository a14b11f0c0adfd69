// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include "saltus/base/linalg.hpp"
#include "saltus/ode/dense.hpp"
#include "saltus/ode/function_ref.hpp"

namespace saltus::ode {

/// The right-hand side dx = f(t, x). It returns false if f cannot be evaluated at (t, x); the step is then shortened
/// and never taken across that state.
using RightSide = FunctionRef<bool(double t, const double* x, double* dx)>;
/// The Jacobian J = ∂f/∂x(t, x), n × n. J is filled with zeros on entry. Returns false if it cannot be evaluated.
using RightSideJacobian = FunctionRef<bool(double t, const double* x, Matrix& J)>;

/// The differential equation ẋ = f(t, x). Explicit methods do not use the Jacobian.
struct Problem {
    RightSide f;
    RightSideJacobian jacobian = {};
};

/// How a step ended.
enum class StepStatus {
    accepted,    ///< The state has advanced.
    underflow,   ///< No step that is long enough to change t meets the tolerance.
    failed,      ///< f or its Jacobian cannot be evaluated, however short the step.
    non_finite,  ///< The result is NaN or infinite, however short the step.
};
std::string_view to_string(StepStatus status);
inline bool usable(StepStatus status) { return status == StepStatus::accepted; }

/// The allowed error of one step. A step is accepted if its estimated error e satisfies
///     √(1/n Σ (e_i / (absolute·scale_i + relative·|x_i|))²) <= 1.
/// The error after many steps is the sum of these, about 1 to 100 times as much if the problem does not amplify errors.
/// `relative` is sensible from 1e-13 to 1e-2; values below 16 eps are raised to 16 eps, the size of rounding.
/// `absolute` is in the unit of x_i/scale_i: below that size x_i is only noise. 0 is allowed; then steps become short
/// whenever a component passes through 0.
struct Tolerances {
    double relative = 1e-9;          ///< unit-free, >= 0
    double absolute = 1e-12;         ///< in the unit of x_i/scale_i, >= 0
    std::vector<double> scale = {};  ///< one number >= 0 per component; empty: all 1
};

/// Counters since construction, over all starts.
struct Statistics {
    long evaluations = 0;     ///< evaluations of f, including those for starts, dense output and error estimates
    long accepted = 0;        ///< accepted steps
    long rejected = 0;        ///< attempts with too large an error
    long cut = 0;             ///< attempts given up because f failed, was not finite, or the iteration did not converge
    long jacobians = 0;       ///< evaluations of the Jacobian (implicit methods)
    long factorisations = 0;  ///< factorisations of one real and one complex matrix together (implicit methods)
    long iterations = 0;      ///< Newton iterations (implicit methods)
};

inline constexpr double automatic_step = 0.0;  ///< As h0: the method chooses its first step.
inline constexpr double no_limit = std::numeric_limits<double>::infinity();

/// The interface of the methods. A method makes one accepted step at a time, because the caller looks for events after
/// each step. It has a fixed number n of components, owns all its memory, and allocates nothing after construction.
/// Time runs forwards.
///   start(problem, t, x, h0)   Begins a smooth piece. Everything learnt on the previous piece is forgotten, except the
///                              counters. h0 is the first step to try, or automatic_step. Returns accepted, failed or
///                              non_finite.
///   step(problem, t_limit)     Makes one step, at most to t_limit > t; the last step ends exactly at t_limit. If the
///                              status is not `accepted`, the state is unchanged.
///   replace(problem, x)        Replaces x by a slightly different state at the same t (projection of drift) and keeps
///                              what was learnt. Jumps need a new start.
///   dense(problem, out)        Writes the last accepted step as a polynomial; call it before `replace`. It allocates
///                              nothing if `out` has held such a polynomial before. Returns false if f cannot be
///                              evaluated where dense output needs it.
///   t, x, dx                   Time, state and f(t, x).   t_old, x_old: the start of the last accepted step.
///   next_step                  The length the method would try next; a good h0 for the piece after an event.
///   error                      The error estimate of the last accepted step, in units of the tolerance.
template <class S>
concept Stepper = requires(S& s, const S& c, const Problem& problem, std::span<const double> x, Dense& out, double t) {
    { s.start(problem, t, x, t) } -> std::same_as<StepStatus>;
    { s.step(problem, t) } -> std::same_as<StepStatus>;
    { s.replace(problem, x) } -> std::same_as<StepStatus>;
    { s.dense(problem, out) } -> std::same_as<bool>;
    { c.size() } -> std::same_as<int>;
    { c.t() } -> std::same_as<double>;
    { c.t_old() } -> std::same_as<double>;
    { c.x() } -> std::same_as<std::span<const double>>;
    { c.x_old() } -> std::same_as<std::span<const double>>;
    { c.dx() } -> std::same_as<std::span<const double>>;
    { c.next_step() } -> std::same_as<double>;
    { c.error() } -> std::same_as<double>;
    { c.statistics() } -> std::same_as<const Statistics&>;
};

}  // namespace saltus::ode
