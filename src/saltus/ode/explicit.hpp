// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "saltus/ode/step.hpp"

namespace saltus::ode {

/// Explicit Runge–Kutta method of order 8 with error estimates of orders 5 and 3 and dense output of order 7, by
/// Dormand and Prince ([Hairer] II.5, II.6): 12 evaluations a step, 3 more where dense output is asked for. For smooth
/// problems at tight tolerances; `stiff` says when it is the wrong method.
class Explicit {
public:
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

    /// Since the start, in some 15 steps without 6 good ones in a row, the step was held down by stability and not by
    /// accuracy: h‖∂f/∂x‖, measured along the step, is at the edge of the method's region.
    bool stiff() const { return stiff_; }

private:
    bool evaluate(const Problem& problem, double t, const Vector& x, int stage);
    bool stages(const Problem& problem, double h);
    double estimate(double h);
    void watch_stiffness(double h);

    Tolerances tolerances_;
    double largest_;
    double t_ = 0.0, t_old_ = 0.0, h_ = 0.0;
    double error_ = 0.0, error_before_ = 1e-4;
    Vector x_, x_old_, x_new_, stage_, scale_, sum_;
    Matrix k_;           // f, a column a stage: 12 of the step, f at its end, 3 for dense output
    Matrix difference_;  // k_j − k_0
    bool started_ = false;
    bool stepped_ = false;   // the columns belong to the step from t_old to t
    bool extended_ = false;  // and the last three are there
    bool stiff_ = false;
    int stiff_steps_ = 0, good_steps_ = 0;
    Statistics statistics_;
};

static_assert(Stepper<Explicit>);

}  // namespace saltus::ode
