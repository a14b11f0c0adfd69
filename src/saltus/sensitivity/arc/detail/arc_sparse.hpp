// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "saltus/integrate/mode/sparse_stages.hpp"
#include "saltus/sensitivity/arc/detail/arc_collocation.hpp"

namespace saltus::sensitivity {

/// Steps of the linearised equations δu̇ = f_q δq + f_u δu + f_p δp, δq̇ = δu of a large stiff system: collocation at
/// five Radau nodes, as ArcCollocation, but with sparse matrices. The cost of a step is linear in the number of
/// coordinates.
///
/// The unknowns are the accelerations k_i at the nodes. The matrix of their equations differs from node to node; an
/// iteration solves them with the factors of one matrix f_q, f_u for all nodes, which is kept as long as the iteration
/// converges well. With A⁻¹ = T Λ T⁻¹ ([Hairer] IV.8), w = T⁻¹ Δk, S = Λ/h and the residuals ρ_i = δu̇_i − k_i the
/// corrections Δk obey
///     Δk − (h² A² f_q + h A f_u) Δk = ρ     ⟺     (S − f_u − S⁻¹ f_q) w = S T⁻¹ ρ,
/// one real and two complex systems of n unknowns (integrate::SparseStages::solve_velocity).
class ArcSparse {
public:
    ArcSparse(Tangent& tangent, ArcMotion& motion);

    /// Begins an arc, in the mode of the tangent's dynamics. False if the systems of this mode cannot be solved.
    bool begin_arc();

    /// Carries states from t to `end`. `rows` has one direction per row (columns of Tangent) at t; `next` gets the
    /// states at the end, rows × 2n. The iteration ends if its error is below `tolerance` relative to each state. False
    /// if the equations cannot be evaluated or if the iteration does not converge; then the step is too long.
    bool forwards(double t, double end, const Matrix& rows, double tolerance, Matrix& next);

    /// Estimates the error of the first `count` rows of the last `forwards`, count × 2n. It is that of an embedded
    /// solution of order 5 ([Hairer] IV.8), so that the error of the states is much smaller. False if it cannot be
    /// evaluated.
    bool estimate_error(Eigen::Index count, Matrix& error);

    long evaluations = 0;  ///< evaluations of the linearised equations so far

private:
    enum class Jacobian { kept, renewed };
    bool prepare(double t, double end, Jacobian jacobian);
    void guess(const Matrix& rows);
    bool iterate(const Matrix& rows, double tolerance);
    void stage(const Matrix& rows, Eigen::Index node);
    void correct();
    double correction_size(const Matrix& rows) const;

    Tangent& x_;
    ArcMotion& motion_;
    const int n_;
    integrate::SparseStages systems_;
    std::vector<integrate::Linearised::Kept> maps_;  // the linearised equations at the nodes
    bool has_jacobian_ = false, has_factors_ = false;
    double factor_step_ = 0.0;  // step length of the factors
    double contraction_ = 0.0;  // convergence factor of the last iteration
    double t_ = 0.0, end_ = 0.0, h_ = 0.0;
    Matrix from_;                         // directions at t
    std::vector<Matrix> k_, accepted_k_;  // accelerations at the nodes, rows × n: of this and of the step before it
    double accepted_end_ = 0.0, accepted_h_ = 0.0;
    bool has_accepted_ = false;
    Matrix directions_;                      // at one node
    std::vector<Matrix> residual_, change_;  // ρ and Δk
    Matrix start_rates_;                     // accelerations at t
    std::vector<double> re_, im_;
    std::vector<double> state_;
};

}  // namespace saltus::sensitivity
