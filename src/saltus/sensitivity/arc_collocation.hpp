// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "saltus/sensitivity/arc_motion.hpp"
#include "saltus/solvers/dense_lu.hpp"

namespace saltus::sensitivity {

/// Collocation at Radau's right nodes; the last row of A has the weights. [Hairer] IV.5
struct Radau {
    explicit Radau(const Vector& nodes);
    Vector c;         ///< nodes in (0, 1]
    Matrix A, twice;  ///< a_ij = ∫₀^{c_i} ℓ_j, and A²
};
const Radau& three_stages();
const Radau& five_stages();

/// Ends are met to the bit, where the equations of the step before may still be at hand.
double node(double t, double end, double c);

/// A step of δu̇ = f_q δq + f_u δu + f_p δp by collocation. Unknown are the accelerations at the nodes,
///     k_i = f_q (q + h c_i u + h² Σ (A²)_ij k_j) + f_u (u + h Σ a_ij k_j) + f_p p,
/// for all directions with one matrix, whose transpose takes gradients back.
class ArcCollocation {
public:
    ArcCollocation(Tangent& tangent, ArcMotion& motion) : x_(tangent), motion_(motion), n_(tangent.n()) {}

    /// The equations at the nodes, for states and for the parameters' parts of these rows (columns of Tangent); false
    /// where there are none.
    bool prepare(double t, double end, const Radau& radau, const Matrix& rows);
    /// The same for each parameter by itself.
    bool prepare(double t, double end, const Radau& radau);

    /// States at the end of the step, rows × 2n, of states at its beginning; false where the step is too long for that.
    bool forwards(const Matrix& from, Matrix& to);

    /// Gradients by (x, p), one a row, from the end of the step to its beginning; after `prepare` for each parameter.
    bool backwards(Matrix& gradients);

private:
    bool collect(double t, double end, const Radau& radau);
    bool solve(bool transposed);

    Tangent& x_;
    ArcMotion& motion_;
    const int n_;
    const Radau* radau_ = nullptr;
    double h_ = 0.0;
    Matrix asked_, answers_;     // unit states, then what else is asked for
    Matrix system_, right_, k_;  // of all nodes together, one direction a column
    solvers::DenseLU lu_;
    std::vector<Matrix> coefficients_;  // (f_q, f_u, f_p of what was asked)ᵀ at the nodes
};

}  // namespace saltus::sensitivity
