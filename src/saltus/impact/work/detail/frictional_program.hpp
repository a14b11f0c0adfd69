// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Eigen/Cholesky>

#include "saltus/impact/work/detail/frictional_cones.hpp"
#include "saltus/solvers/program/cone_program.hpp"

namespace saltus::impact {

/// The cone program of the contact work: a collision in the kinetic metric, x = Lᵀu, less what the bilateral rows take
/// up.
class FrictionalProgram {
public:
    FrictionalProgram(const FrictionalCollision& collision, const ConeForm& form);

    bool valid = false;        ///< M is positive definite
    Vector jump;               ///< Lᵀ(u⁺ − z⁻)
    double noise = 0.0;        ///< of lengths
    double unreachable = 0.0;  ///< part of the jump that no impulse can make
    double near_enough = 0.0;  ///< what impulses may miss the jump by
    solvers::ConeProgram program;

    /// Least (sign 1) or greatest (−1) work.
    const solvers::ProgramSolution& solve_for(double sign);
    const solvers::ProgramSolution& last() const { return solution_; }

    bool reaches(const Vector& x) const { return (program.A * x - program.b).norm() <= near_enough; }
    void replace_impulse(const Vector& x) { program.b = program.A * x; }

    /// Some x in the cones that makes the impulse, as far as the simplex method finds one: without costs nothing runs
    /// off.
    Vector any() const;

    /// The x in the cones whose impulse is nearest: with cones of two edges at most a least squares problem in their
    /// edges, else the program min t, A x + r = b, (t, r) in a cone.
    Vector nearest() const;

    Vector impulses(const Vector& x) const { return impulses(x, jump); }  ///< Λ, the bilateral ones included
    Vector impulses(const Vector& x, const Vector& of_jump) const;
    Vector dual_velocity(const Vector& y, double sign) const;  ///< b₀ of a dual point

    /// What u⁺ = L⁻ᵀ(origin + basis·y) of x ∈ K is: y = A x for the rows of the basis, the normal velocities
    ///     distance + slopes·y, and the contact work ½‖y‖² + cost·x + offset.
    struct Outcomes {
        Vector origin, distance, cost;
        Matrix slopes;
        double offset = 0.0;
    };
    Outcomes outcomes() const;
    /// The largest of row velocities in the kinetic metric, γ_i/‖L⁻¹w_i‖.
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
    Eigen::LLT<Matrix> factors_;
    Matrix L_, A_, B_, Q_;
    Vector pi_, scale_, shift_;
    std::vector<Eigen::Index> bilateral_rows_;
    solvers::ProgramSolution solution_;
};

}  // namespace saltus::impact
