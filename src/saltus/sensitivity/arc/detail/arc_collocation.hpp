// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "saltus/sensitivity/arc/detail/arc_motion.hpp"
#include "saltus/solvers/linear/dense_lu.hpp"

namespace saltus::sensitivity {

/// A collocation method with s nodes in [0, 1]. ℓ_j are the Lagrange polynomials of the nodes. [Hairer] II.7, IV.5
struct Nodes {
    explicit Nodes(const Vector& nodes);
    Vector c;                 ///< nodes, ascending
    Matrix A;                 ///< a_ij = ∫₀^{c_i} ℓ_j
    Matrix A_squared;         ///< A·A: integrates twice, from accelerations at the nodes to positions at the nodes
    Vector weights;           ///< b_j = ∫₀¹ ℓ_j: from accelerations to the velocity at the end
    Vector position_weights;  ///< Aᵀb: from accelerations to the position at the end
    Matrix legendre;          ///< row m: from values at the nodes to the coefficient of the Legendre polynomial P_m
    Vector left, right;       ///< from values at the nodes to the value of the interpolating polynomial at 0 and at 1
};
const Nodes& radau_three();  ///< Radau IIA of order 5
const Nodes& radau_five();   ///< Radau IIA of order 9: for stiff arcs
const Nodes& gauss_one();    ///< Gauss of order 2: the midpoint rule
const Nodes& gauss_two();    ///< Gauss of order 4
const Nodes& gauss_five();   ///< Gauss of order 10: no node at an end, where the coefficients may be of another mode

/// The time of the node c in the step from t to end. c = 1 gives `end` exactly, so that equations that were evaluated
/// at this time can be used again.
double node(double t, double end, double c);

/// One step of the linearised equations δu̇ = f_q δq + f_u δu + f_p δp, δq̇ = δu, by collocation. The unknowns are the
/// accelerations at the nodes,
///     k_i = f_q (q + h c_i u + h² Σ (A²)_ij k_j) + f_u (u + h Σ a_ij k_j) + f_p p,
/// with one matrix for all directions. The transposed matrix carries gradients back. Coordinates that no acceleration
/// depends on are left out of the matrix; their accelerations follow from the others.
class ArcCollocation {
public:
    ArcCollocation(Tangent& tangent, ArcMotion& motion) : x_(tangent), motion_(motion), n_(tangent.n()) {}

    /// Evaluates the equations at the nodes for the step from t to `end`, with the parameter variations of these
    /// directions (one per row, columns of Tangent). Returns false if the motion cannot be evaluated there.
    bool prepare(double t, double end, const Nodes& nodes, const Matrix& directions);
    /// The same with a unit variation of each parameter: what `backwards` needs.
    bool prepare(double t, double end, const Nodes& nodes);

    /// Carries states from the beginning of the step to its end, one per row, rows × 2n. The rows must be those of
    /// `prepare`. Returns false if the matrix is singular; then the step is too long.
    bool forwards(const Matrix& from, Matrix& to);

    /// Estimates the error of the last `forwards`, rows × 2n (one entry for positions and one for velocities). The
    /// estimate extrapolates the decay of the Legendre coefficients of the accelerations. `left` and `right` are the
    /// exact accelerations at the ends of the step (rows × n), or nullptr if they are not known; they reveal what
    /// happens between the ends and the nodes next to them.
    void estimate_error(Eigen::Index rows, const Matrix* left, const Matrix* right, Matrix& error) const;

    /// Carries gradients with respect to (x, p), one per row, from the end of the step to its beginning: the transpose
    /// of `forwards`. Returns false if the matrix is singular.
    bool backwards(Matrix& gradients);

private:
    enum class Orientation { plain, transposed };
    bool collect(double t, double end, const Nodes& nodes);
    bool solve(Orientation orientation);

    Tangent& x_;
    ArcMotion& motion_;
    const int n_;
    const Nodes* nodes_ = nullptr;
    double h_ = 0.0;
    Matrix parameter_rows_;        // parameter variations of the directions, one per row
    Matrix asked_, answers_;       // directions whose accelerations are evaluated at a node, and these accelerations
    std::vector<char> touched_;    // columns of Tangent on which the accelerations at a node depend
    std::vector<char> is_active_;  // one per coordinate: some acceleration depends on it or on its velocity
    std::vector<int> active_;      // these coordinates, ascending
    std::vector<Matrix>
        coefficients_;  // per node: (f_q, f_u, f_p · parameter variations)ᵀ, one column per acceleration
    Matrix system_, right_, solution_;  // of the active accelerations at all nodes, one direction per column
    Matrix k_;                          // accelerations at all nodes (or gradients by them), one direction per column
    solvers::DenseLU lu_;
};

}  // namespace saltus::sensitivity
