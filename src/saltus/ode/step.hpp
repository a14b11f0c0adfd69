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

/// dx = f(t, x); false where f cannot be evaluated: the step is then cut, never taken across.
using RightSide = FunctionRef<bool(double t, const double* x, double* dx)>;
/// J = ∂f/∂x(t, x), n × n, handed over filled with zeros; false where it cannot be evaluated.
using RightSideJacobian = FunctionRef<bool(double t, const double* x, Matrix& J)>;

/// ẋ = f(t, x). Explicit methods never ask for the Jacobian.
struct Problem {
    RightSide f;
    RightSideJacobian jacobian = {};
};

enum class StepStatus {
    accepted,    ///< the state has moved on
    underflow,   ///< no step that still moves t meets the tolerance
    failed,      ///< f (or its Jacobian) refuses however small the step
    non_finite,  ///< NaN or infinity however small the step
};
std::string_view to_string(StepStatus status);
inline bool usable(StepStatus status) { return status == StepStatus::accepted; }

/// What one step may be off by. A step is accepted when its estimated error e satisfies
///     √(1/n Σ (e_i / (absolute·scale_i + relative·|x_i|))²) <= 1.
/// The error after many steps is what these sum up to: some 1 to 100 times as much in problems that do not amplify it.
/// `relative` from 1e-13 to 1e-2; below 16 eps it counts as 16 eps, as rounding alone is about that large. `absolute`
/// is in the unit of x_i/scale_i and says below which size x_i is nothing but noise; 0 is allowed, and makes steps
/// short wherever a component passes through 0.
struct Tolerances {
    double relative = 1e-9;
    double absolute = 1e-12;
    std::vector<double> scale = {};  ///< one a component, or empty: all 1
};

/// Counted from construction on, over all starts.
struct Statistics {
    long evaluations = 0;     ///< of f, those for starts, dense output and error estimates included
    long accepted = 0;        ///< steps
    long rejected = 0;        ///< attempts whose error was too large
    long cut = 0;             ///< attempts given up: f refused, not finite, or the iteration did not converge
    long jacobians = 0;       ///< implicit methods, and so the next two
    long factorisations = 0;  ///< of a real and a complex matrix together
    long iterations = 0;      ///< of Newton's method
};

inline constexpr double automatic_step = 0.0;
inline constexpr double no_limit = std::numeric_limits<double>::infinity();

/// One accepted step at a time, because the caller looks for events after each. A Stepper has n components for life,
/// owns all its memory, and allocates nothing after construction. Time runs forwards.
///   start(problem, t, x, h0)   begins a smooth piece: forgets all that was learnt on the one before, but counts on.
///                              h0: first step to try, or automatic_step. accepted, failed or non_finite.
///   step(problem, t_limit)     one step, to t_limit > t at most, and to exactly t_limit in the end. After anything but
///                              `accepted` the state is where it was.
///   replace(problem, x)        puts a slightly different x at the same t (drift projected away) and keeps what was
///                              learnt. Not for jumps: those are starts.
///   dense(problem, out)        the step just accepted as a polynomial, before `replace`. No allocation when `out` has
///                              held one of this kind. False where f refuses one of the evaluations it needs.
///   t, x, dx                   time, state and f there.  t_old, x_old: where the step just accepted began.
///   next_step                  length the method would try next; a start value for the piece after an event.
///   error                      estimate for the step just accepted, in units of the tolerance.
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
