// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "saltus/base/factors.hpp"
#include "saltus/impact/work/detail/frictional_cones.hpp"
#include "saltus/solvers/program/cone_program.hpp"

namespace saltus::impact {

/// The cone program of the contact work,
///     min ± Σ ½(γ⁺ + γ⁻)·Λ   over   Λ ∈ K,  WΛ = M(u⁺ − u⁻) − P,
/// in the kinetic metric x = Lᵀu, M = L Lᵀ. Bilateral impulses are eliminated. The unknowns are the columns of
/// ConeForm.
class FrictionalProgram {
public:
    FrictionalProgram(const FrictionalCollision& collision, const ConeForm& form);

    bool valid = false;        ///< M is positive definite
    Vector jump;               ///< Lᵀ(u⁺ − z⁻), where z⁻ = u⁻ + M⁻¹P
    double noise = 0.0;        ///< bound of the rounding errors of a length
    double unreachable = 0.0;  ///< length of the part of the jump that is orthogonal to all impulses
    double near_enough = 0.0;  ///< x counts as feasible if ‖A x − b‖ <= near_enough; the caller sets it
    solvers::ConeProgram program;

    /// Solves for the least (sign +1) or the greatest (−1) work.
    const solvers::ProgramSolution& solve_for(double sign);
    const solvers::ProgramSolution& last() const { return solution_; }

    bool reaches(const Vector& x) const { return (program.A * x - program.b).norm() <= near_enough; }
    /// Replaces the required jump by the one that x produces, so that x is feasible exactly.
    void replace_impulse(const Vector& x) { program.b = program.A * x; }

    /// A feasible x, or the best one that the simplex method finds. The costs are set to zero, so the program is
    /// bounded.
    Vector any() const;

    /// The x in the cones whose impulse is nearest to the required one. If all cones have at most two edges it is a
    /// nonnegative least squares problem in the edges; otherwise the program min t with A x + r = b, ‖r‖ <= t.
    Vector nearest() const;

    Vector impulses(const Vector& x) const { return impulses(x, jump); }  ///< Λ of all rows, bilateral ones included
    Vector impulses(const Vector& x, const Vector& of_jump) const;        ///< Λ of all rows that produces `of_jump`
    Vector dual_velocity(const Vector& y, double sign) const;  ///< b₀ of frictional_work.hpp for a dual point y

    /// All outcomes u⁺ = L⁻ᵀ(origin + Q y) that impulses x in the cones produce, with y = A x: the normal velocities
    /// are distance + slopes·y, and the contact work is ½‖y‖² + cost·x + offset.
    struct Outcomes {
        Vector origin, distance, cost;
        Matrix slopes;
        double offset = 0.0;
    };
    Outcomes outcomes() const;
    /// The largest row velocity in the kinetic metric: max |γ_i|/‖L⁻¹w_i‖.
    double fastest(const Vector& gamma) const;
    const Matrix& basis() const { return Q_; }
    const Matrix& cholesky() const { return L_; }
    const Vector& pi() const { return pi_; }                       ///< L⁻¹P
    Vector before() const { return L_.transpose() * c_.u_minus; }  ///< Lᵀu⁻

private:
    void set_costs(double sign);
    Vector nearest_of_edges() const;
    void bilateral();
    void reduce();

    const FrictionalCollision& c_;
    const ConeForm& form_;
    Cholesky factors_;
    Matrix L_;      // Cholesky factor of M
    Matrix A_;      // L⁻¹W
    Matrix B_;      // columns of A_ that belong to bilateral constraints
    Matrix Q_;      // orthonormal basis of the span of the other columns of A_
    Vector pi_;     // L⁻¹P
    Vector scale_;  // factor of each column of the program
    Vector shift_;  // projection of the mean velocity onto the bilateral constraints (set_costs)
    std::vector<Eigen::Index> bilateral_rows_;
    solvers::ProgramSolution solution_;
};

}  // namespace saltus::impact
