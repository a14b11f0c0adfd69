// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "saltus/ode/step.hpp"

namespace saltus::ode {

struct Stride;       // detail/step_control.hpp
enum class Attempt;  // detail/step_control.hpp

/// The explicit Runge–Kutta method of Dormand and Prince of order 8, with error estimates of orders 5 and 3 and dense
/// output of order 7 ([Hairer] II.5, II.6). A step takes 12 evaluations, dense output 3 more. For smooth problems at
/// tight tolerances; `stiff` tells if another method is needed. It is a `Stepper` (step.hpp).
class Explicit {
public:
    /// n components; no step is longer than `largest_step` > 0.
    explicit Explicit(int n, Tolerances tolerances = {}, double largest_step = no_limit);

    StepStatus start(const Problem& problem, double t, std::span<const double> x, double h0 = automatic_step);
    StepStatus step(const Problem& problem, double t_limit);
    StepStatus replace(const Problem& problem, std::span<const double> x);
    bool dense(const Problem& problem, Dense& out);

    int size() const { return static_cast<int>(x_.size()); }
    double t() const { return t_; }
    double t_old() const { return t_old_; }
    std::span<const double> x() const { return {x_.data(), static_cast<std::size_t>(x_.size())}; }
    std::span<const double> x_old() const { return {x_old_.data(), static_cast<std::size_t>(x_old_.size())}; }
    std::span<const double> dx() const;
    double next_step() const { return h_; }
    double error() const { return error_; }
    const Statistics& statistics() const { return statistics_; }

    /// True if, since the start, the step length was limited by stability and not by accuracy in 15 steps, without six
    /// consecutive good steps between them: h‖∂f/∂x‖, measured along the step, was at the edge of the stability region.
    bool stiff() const { return stiff_; }
    /// The number of accepted steps since the start, up to the last one without interruption, whose length was more
    /// than half of what stability allows. Where the error control keeps steps just inside the stability region,
    /// `stiff` does not notice that a stiff method would take longer steps.
    int steps_near_edge() const { return steps_near_edge_; }

    /// After `dense`: what the last term of the polynomial contributes at most, in units of the tolerance. Below 100
    /// in most steps, sometimes 1000. Far beyond the stability region rounding errors are multiplied
    /// within a step, though its end may be accurate; then it is larger.
    double dense_error() const { return dense_error_; }
    /// Takes the last accepted step back. The next one is tried with this part of its length.
    void undo(double part);

private:
    bool evaluate(const Problem& problem, double t, const Vector& x, int stage);
    bool stages(const Problem& problem, double h);
    double estimate(double h);
    double stiffness(double h) const;
    void watch_stiffness(double h);
    StepStatus try_step(const Problem& problem, const Stride& stride, Attempt attempt);
    void accept(const Stride& stride, double wish, Attempt attempt);

    Tolerances tolerances_;
    double largest_;  // longest step allowed
    double t_ = 0.0, t_old_ = 0.0, h_ = 0.0;
    double error_ = 0.0;         // of the last accepted step, in units of the tolerance
    double error_before_ = 0.0;  // of the one before, not below smallest_error_before
    double dense_error_ = 0.0;
    Vector x_, x_old_, x_new_, stage_, scale_, sum_;
    Matrix k_;           // f at the stages, one column each: 12 of the step, f at its end, 3 for dense output
    Matrix difference_;  // k_j − k_0
    bool started_ = false;
    bool stepped_ = false;   // the columns belong to the step from t_old to t
    bool extended_ = false;  // the last three columns, for dense output, have been computed
    bool stiff_ = false;
    int stiff_steps_ = 0, good_steps_ = 0, steps_near_edge_ = 0;
    Statistics statistics_;
};

static_assert(Stepper<Explicit>);

}  // namespace saltus::ode
