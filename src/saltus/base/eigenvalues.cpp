// SPDX-License-Identifier: Apache-2.0
#include "saltus/base/eigenvalues.hpp"

#include <Eigen/Eigenvalues>

namespace saltus {

namespace {

Eigenpairs solve(const Matrix& A, bool with_vectors) {
    Eigenpairs out;
    if (A.rows() == 0) return out;
    const Eigen::EigenSolver<Matrix> solver(A, with_vectors);
    if (solver.info() != Eigen::Success) return out;
    out.values.assign(solver.eigenvalues().begin(), solver.eigenvalues().end());
    if (with_vectors) out.vectors = solver.eigenvectors().real();
    return out;
}

}  // namespace

std::vector<std::complex<double>> eigenvalues(const Matrix& A) { return solve(A, false).values; }

Eigenpairs eigenpairs(const Matrix& A) { return solve(A, true); }

}  // namespace saltus
