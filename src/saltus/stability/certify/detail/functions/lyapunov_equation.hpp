// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "saltus/base/linalg.hpp"

namespace saltus::stability {

/// The symmetric solution P of AᵀP + PA = S for a symmetric S, as a system of m² linear equations. Empty if it is
/// singular: two eigenvalues of A have the sum 0.
Matrix lyapunov_solution(const Matrix& A, const Matrix& S);

}  // namespace saltus::stability
