// SPDX-License-Identifier: Apache-2.0
#include "saltus/stability/certify/detail/functions/lyapunov_equation.hpp"
#include "saltus/base/factors.hpp"

namespace saltus::stability {

using Eigen::Index;

Matrix lyapunov_solution(const Matrix& A, const Matrix& S) {
    const Index m = A.rows();
    Matrix K = Matrix::Zero(m * m, m * m);
    // vec(AᵀP + PA) = (I ⊗ Aᵀ + Aᵀ ⊗ I) vec(P), columns one below the other.
    for (Index i = 0; i < m; ++i)
        for (Index j = 0; j < m; ++j)
            for (Index k = 0; k < m; ++k) {
                K(j * m + i, j * m + k) += A(k, i);
                K(j * m + i, k * m + i) += A(k, j);
            }
    const FullPivotLu lu(K);
    if (!lu.invertible()) return {};
    const Vector p = lu.solve(Eigen::Map<const Vector>(S.data(), m * m));
    const Matrix P = Eigen::Map<const Matrix>(p.data(), m, m);
    return 0.5 * (P + P.transpose());
}

}  // namespace saltus::stability
