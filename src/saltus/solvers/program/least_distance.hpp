// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "saltus/base/linalg.hpp"

namespace saltus::solvers {

/// The result of `nonnegative_least_squares`.
struct NonnegativeLeastSquares {
    Vector x;               ///< the minimiser, x >= 0
    Vector residual;        ///< b − A x; within rounding Aᵀ residual <= 0, with equality where x > 0
    double distance = 0.0;  ///< ‖residual‖
};

/// min ‖A x − b‖ over x >= 0 by the active-set method of Lawson and Hanson. A x is the point of the cone of A's columns
/// that is nearest to b. Dependent and opposite columns are allowed; x is then one of several. The columns should have
/// similar lengths.
NonnegativeLeastSquares nonnegative_least_squares(const Matrix& A, const Vector& b);

/// The result of `least_distance`.
struct LeastDistance {
    bool feasible = false;
    Vector x;            ///< the projection of p; p itself if infeasible
    Vector multipliers;  ///< >= 0, x − p = Gᵀ multipliers; if infeasible: Gᵀ multipliers = 0 and hᵀ multipliers > 0
};

/// Projection on a polyhedron: min ‖x − p‖ subject to G x >= h. The rows of G must have unit length. The polyhedron
/// counts as empty if its distance from p exceeds 1e7 times the largest violation of a row at p.
LeastDistance least_distance(const Matrix& G, const Vector& h, const Vector& p);

}  // namespace saltus::solvers
