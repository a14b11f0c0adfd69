// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "saltus/sensitivity/arc/detail/arc_motion.hpp"
#include "saltus/solvers/linear/dense_lu.hpp"

namespace saltus::sensitivity {

/// Collocation at nodes in [0, 1]. [Hairer] II.7, IV.5
struct Nodes {
    explicit Nodes(const Vector& nodes);
    Vector c;
    Matrix A, twice;           ///< a_ij = ∫₀^{c_i} ℓ_j, and A²
    Vector weights, by_twice;  ///< the same to the end of the step
    Matrix legendre;           ///< coefficients of Legendre's polynomials in the one through values at the nodes
    Vector left, right;        ///< that polynomial at 0 and at 1
};
const Nodes& radau_three();
const Nodes& radau_five();
const Nodes& gauss_five();  ///< not one at an end, where a coefficient may be that of another mode

/// Ends are met to the bit, where the equations of the step before may still be at hand.
double node(double t, double end, double c);

/// A step of δu̇ = f_q δq + f_u δu + f_p δp by collocation. Unknown are the accelerations at the nodes,
///     k_i = f_q (q + h c_i u + h² Σ (A²)_ij k_j) + f_u (u + h Σ a_ij k_j) + f_p p,
/// for all directions with one matrix, whose transpose takes gradients back. Accelerations that nothing depends on
/// follow from the others.
class ArcCollocation {
public:
    ArcCollocation(Tangent& tangent, ArcMotion& motion) : x_(tangent), motion_(motion), n_(tangent.n()) {}

    /// The equations at the nodes, for states and for the parameters' parts of these rows (columns of Tangent); false
    /// where there are none.
    bool prepare(double t, double end, const Nodes& nodes, const Matrix& rows);
    /// The same for each parameter by itself.
    bool prepare(double t, double end, const Nodes& nodes);

    /// States at the end of the step, rows × 2n, of states at its beginning; false where the step is too long for that.
    bool forwards(const Matrix& from, Matrix& to);

    /// How far its states may be off, rows × 2n: from how the accelerations' Legendre coefficients fall, and from the
    /// accelerations at the ends as they are, where they are known (rows × n): nodes do not see what happens outside
    /// them.
    void doubt(Eigen::Index rows, const Matrix* left, const Matrix* right, Matrix& error) const;

    /// Gradients by (x, p), one a row, from the end of the step to its beginning; after `prepare` for each parameter.
    bool backwards(Matrix& gradients);

private:
    bool collect(double t, double end, const Nodes& nodes);
    bool solve(bool transposed);

    Tangent& x_;
    ArcMotion& motion_;
    const int n_;
    const Nodes* nodes_ = nullptr;
    double h_ = 0.0;
    Matrix beside_, asked_, answers_;  // parameters' parts; those and unit states that matter; what comes of them
    std::vector<char> touched_;        // columns of Tangent
    std::vector<char> is_active_;
    std::vector<int> active_;            // coordinates that accelerations depend on
    std::vector<Matrix> coefficients_;   // (f_q, f_u, f_p of what was asked)ᵀ at the nodes
    Matrix system_, right_, k_, known_;  // of all nodes together, one direction a column
    solvers::DenseLU lu_;
};

}  // namespace saltus::sensitivity
