// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <complex>
#include <vector>

#include "saltus/base/linalg.hpp"

// Eigenvalues of matrices that are not symmetric. Eigen's solver takes seconds to compile; it is instantiated in
// eigenvalues.cpp alone.

namespace saltus {

/// All eigenvalues of a square matrix with finite entries, in no particular order. Empty if the iteration does not
/// converge.
std::vector<std::complex<double>> eigenvalues(const Matrix& A);

/// Eigenvalues, and the real parts of the eigenvectors in the columns of `vectors`.
struct Eigenpairs {
    std::vector<std::complex<double>> values;  ///< empty if the iteration does not converge
    Matrix vectors;
};
Eigenpairs eigenpairs(const Matrix& A);

}  // namespace saltus
