// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "saltus/base/linalg.hpp"

namespace saltus::solvers {

struct NonnegativeLeastSquares {
    Vector x;         ///< >= 0
    Vector residual;  ///< b − A x; Aᵀ residual <= 0, and = 0 where x > 0, within rounding
    double distance = 0.0;
};

/// min ‖A x − b‖ over x >= 0, after Lawson and Hanson: the point of the cone of A's columns that is nearest to b.
/// Dependent and opposite columns are fine; x then is one of several. Columns should be of similar length.
NonnegativeLeastSquares nonnegative_least_squares(const Matrix& A, const Vector& b);

struct LeastDistance {
    bool feasible = false;
    Vector x;
    Vector multipliers;  ///< >= 0, x − p = Gᵀ multipliers; when infeasible: Gᵀ multipliers = 0, hᵀ multipliers > 0
};

/// min ‖x − p‖ subject to G x >= h, rows of G of unit length. The set counts as empty when it is further from p than
/// 1e7 times what p violates worst.
LeastDistance least_distance(const Matrix& G, const Vector& h, const Vector& p);

}  // namespace saltus::solvers
