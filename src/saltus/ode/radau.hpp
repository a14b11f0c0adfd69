// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "saltus/ode/step.hpp"

namespace saltus::ode {

struct Stride;

/// Implicit Runge–Kutta method Radau IIA of order 5 with 3 stages ([Hairer] IV.8), for stiff problems: L-stable, steps
/// as long as accuracy allows. Simplified Newton iterations with the exact Jacobian; Jacobian and factorisations
/// (dense) are kept as long as they serve. The error estimate is of order 3 and holds for the whole dense output, the
/// collocation polynomial of degree 3, which is off by O(h⁴); the ends of steps, off by O(h⁵), are better than asked
/// for.
class Radau {
public:
    /// `iteration_tolerance`: Newton's iteration ends when the estimate of what is left is that part of the tolerance;
    /// 0: chosen. At most 7 iterations.
    explicit Radau(int n, Tolerances tolerances = {}, double largest_step = no_limit, double iteration_tolerance = 0.0);
    Radau(Radau&&) noexcept;
    Radau& operator=(Radau&&) noexcept;
    ~Radau();

    StepStatus start(const Problem& problem, double t, std::span<const double> x, double h0 = automatic_step);
    StepStatus step(const Problem& problem, double t_limit);
    StepStatus replace(const Problem& problem, std::span<const double> x);
    bool dense(const Problem& problem, Dense& out);

    int size() const { return static_cast<int>(x_.size()); }
    double t() const { return t_; }
    double t_old() const { return t_old_; }
    std::span<const double> x() const { return {x_.data(), static_cast<std::size_t>(x_.size())}; }
    std::span<const double> x_old() const { return {x_old_.data(), static_cast<std::size_t>(x_old_.size())}; }
    std::span<const double> dx() const { return {f_.data(), static_cast<std::size_t>(f_.size())}; }
    double next_step() const { return h_; }
    double error() const { return error_; }
    const Statistics& statistics() const { return statistics_; }

private:
    enum class Iteration { converged, slow, refused, non_finite };
    struct Linear;

    StepStatus renew_jacobian(const Problem& problem);
    void guess_stages(double h);
    Iteration iterate(const Problem& problem, double h);
    double estimate(const Problem& problem, double h, bool again);
    StepStatus judge(const Problem& problem, const Stride& stride, Iteration iteration, bool again);
    void accept(const Stride& stride, double wish, bool again);
    double proposed_step(double h, double error) const;

    Tolerances tolerances_;
    double largest_, iteration_tolerance_;
    double t_ = 0.0, t_old_ = 0.0, h_ = 0.0;
    Vector x_, x_old_, x_new_, f_, f_new_, scale_, correction_, combination_;
    Matrix z_, w_, r_;  // a column a stage: less x; the same transformed; right sides of the iteration
    Matrix shape_;      // the polynomial of the step before: x_new − x_old, terms 2 and 3 of Dense
    double error_ = 0.0;
    double error_before_ = 0.0, h_before_ = 0.0;  // of the step before; h_before_ = 0: none since the start
    double contraction_ = 0.0;                    // of the last iteration, by round
    double remainder_ = 1.0;                      // what its last correction leaves over, in terms of that correction
    double shrink_ = 0.5;                         // of h, where it was slow
    int rounds_ = 0;
    bool started_ = false, stepped_ = false;
    std::unique_ptr<Linear> linear_;
    Statistics statistics_;
};

static_assert(Stepper<Radau>);

}  // namespace saltus::ode
