// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "saltus/ode/stage_systems.hpp"
#include "saltus/ode/step.hpp"

namespace saltus::ode {

struct Stride;       // detail/step_control.hpp
enum class Attempt;  // detail/step_control.hpp

/// The implicit Runge–Kutta method Radau IIA with s = 3, 5 or 7 stages ([Hairer] IV.8), for stiff problems. It has the
/// order 2s − 1 and is L-stable, so the step length is limited by accuracy only. The stages are found by simplified
/// Newton iterations with the exact Jacobian; Jacobian and factors are kept as long as the iteration converges well.
/// The error estimate has order s. It holds for the whole dense output, the collocation polynomial of degree s, whose
/// error is O(h^(s+1)). The ends of steps, with errors O(h^(2s−1)), are more accurate than required. More stages make a
/// step more expensive and longer; they pay for tight tolerances (stages_for). It is a `Stepper` (step.hpp).
class Radau {
public:
    /// Options besides the tolerances.
    struct Choices {
        double largest_step = no_limit;  ///< upper bound of the step length, in the unit of t, > 0
        /// Newton's iteration ends if its estimated remaining error is below this times the tolerance. Too large: the
        /// remaining error exceeds the error of the method. Too small: iterations without effect. 0: chosen
        /// automatically.
        double iteration_tolerance = 0.0;
        int stages = 3;  ///< s: 3, 5 or 7
        /// Solves the linear systems, in place of dense matrices and Problem::jacobian. It must live as long as the
        /// method.
        StageSystems* systems = nullptr;
        /// The last so many components are integrals along the solution: f does not depend on them. Their derivatives
        /// need not be part of the Jacobian.
        int integrals = 0;
    };

    /// For systems ẋ = f(t, x) with n components.
    Radau(int n, Tolerances tolerances, const Choices& choices);
    explicit Radau(int n, Tolerances tolerances = {}, double largest_step = no_limit, double iteration_tolerance = 0.0)
        : Radau(n, std::move(tolerances), Choices{largest_step, iteration_tolerance, 3, nullptr, 0}) {}
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
    /// How Newton's iteration ended. slow: it does not converge, or not fast enough. refused: f cannot be evaluated.
    enum class Iteration { converged, slow, refused, non_finite };
    struct Linear;

    StepStatus renew_jacobian(const Problem& problem);
    bool factorise(double h);
    void guess_stages(double h);
    bool correct_stages(double h, const Problem& problem);
    double correction_size(Eigen::Index first, Eigen::Index count) const;
    Iteration iterate(const Problem& problem, double h);
    Iteration finish_integrals(const Problem& problem, double h);
    double estimate(const Problem& problem, double h, Attempt attempt);
    StepStatus judge(const Problem& problem, const Stride& stride, Iteration iteration, Attempt attempt);
    void accept(const Stride& stride, double wish, Attempt attempt);
    double proposed_step(double h, double error) const;

    Tolerances tolerances_;
    double largest_;  // longest step allowed
    int integrals_;   // Choices::integrals
    double iteration_tolerance_;
    double t_ = 0.0, t_old_ = 0.0, h_ = 0.0;
    Vector x_, x_old_, x_new_, f_, f_new_, scale_, correction_, combination_;
    Matrix z_, w_;        // one column per stage: z_i = x_i − x; W = T⁻¹Z with T of radau_iia.hpp
    Matrix r_, change_;   // right-hand sides of the iteration, then the corrections of W; the corrections of Z
    Matrix shape_;        // polynomial of the previous step: x_new − x_old, then the terms from 2 on of Dense
    double error_ = 0.0;  // of the last accepted step, in units of the tolerance
    double error_before_ = 0.0, h_before_ = 0.0;  // of the previous step; h_before_ = 0: there is none since the start
    double contraction_ = 0.0;                    // convergence factor of the last iteration
    double remainder_ = 1.0;  // estimated error after the last correction, relative to that correction
    double shrink_ = 0.5;     // factor of h after a slow iteration
    int rounds_ = 0;          // iterations of the last step
    bool started_ = false, stepped_ = false;
    std::unique_ptr<Linear> linear_;
    Statistics statistics_;
};

/// The number of stages (3, 5 or 7) that is fastest for this relative tolerance of a step.
int stages_for(double relative);

static_assert(Stepper<Radau>);

}  // namespace saltus::ode
