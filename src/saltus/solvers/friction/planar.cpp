// SPDX-License-Identifier: Apache-2.0
#include "saltus/solvers/friction/planar.hpp"
#include "saltus/base/factors.hpp"

#include <algorithm>

namespace saltus::solvers {

namespace {

using Eigen::Index;

/// Number of complementarity unknowns of a law: r_N, or r_N, λ_R, v_L, or λ_R, v_L. -1 if the law is not planar.
int unknowns(const Law& law, int size) {
    switch (law.kind) {
        case LawKind::bilateral: return 0;
        case LawKind::unilateral: return 1;
        case LawKind::friction2: return 3;
        case LawKind::slider: return size == 1 ? 2 : -1;
        default: return -1;
    }
}

/// r = A z + offset on all rows but the bilateral ones, which stay zero: r_N = z, r_T = λ_R − μ r_N, and λ_R − bound
/// for a slider.
void set_reactions(const FrictionProblem& p, PlanarComplementarity& c) {
    Index z = 0;
    for (int a = 0; a < p.contacts(); ++a) {
        const Law& law = p.laws[static_cast<std::size_t>(a)];
        const Index row = p.W.start[static_cast<std::size_t>(a)];
        if (law.kind == LawKind::unilateral) {
            c.A(row, z) = 1.0;
        } else if (law.kind == LawKind::friction2) {
            c.A(row, z) = 1.0;
            c.A(row + 1, z) = -law.mu;
            c.A(row + 1, z + 1) = 1.0;
        } else if (law.kind == LawKind::slider) {
            c.A(row, z) = 1.0;
            c.offset(row) = -law.bound;
        }
        z += unknowns(law, p.W.block_size(a));
    }
}

/// The reactions of the bilateral rows f: v_f = 0 gives W_ff r_f = −(W A z + W offset + q)_f, linear in z. False if
/// W_ff is singular.
bool eliminate_bilateral(const std::vector<Index>& free, const Matrix& W, const Eigen::Map<const Vector>& q,
                         PlanarComplementarity& c) {
    const auto k = static_cast<Index>(free.size());
    const Index n = c.A.cols();
    Matrix Wff(k, k), right(k, n);
    Vector constant(k);
    const Matrix WA = W * c.A;
    const Vector Wo = W * c.offset + q;
    for (Index i = 0; i < k; ++i) {
        for (Index j = 0; j < k; ++j)
            Wff(i, j) = W(free[static_cast<std::size_t>(i)], free[static_cast<std::size_t>(j)]);
        if (n > 0) right.row(i) = WA.row(free[static_cast<std::size_t>(i)]);
        constant(i) = Wo(free[static_cast<std::size_t>(i)]);
    }
    const FullPivotLu lu(Wff);
    if (!lu.invertible()) return false;
    const Matrix X = n > 0 ? lu.solve_columns(right) : Matrix(k, 0);
    const Vector x = lu.solve(constant);
    for (Index i = 0; i < k; ++i) {
        if (n > 0) c.A.row(free[static_cast<std::size_t>(i)]) = -X.row(i);
        c.offset(free[static_cast<std::size_t>(i)]) = -x(i);
    }
    return true;
}

/// The rows of w = M z + q:  v_N;  v_R = v_T + v_L;  λ_L = 2 μ r_N − λ_R, or 2 bound − λ_R for a slider.
void set_problem(const FrictionProblem& p, const Matrix& W, const Eigen::Map<const Vector>& q,
                 PlanarComplementarity& c) {
    const Index n = c.A.cols();
    const Matrix WA = W * c.A;
    const Vector constant = W * c.offset + q;
    c.problem.M = Matrix::Zero(n, n);
    c.problem.q = Vector::Zero(n);
    Index z = 0;
    for (int a = 0; a < p.contacts(); ++a) {
        const Law& law = p.laws[static_cast<std::size_t>(a)];
        const Index row = p.W.start[static_cast<std::size_t>(a)];
        const bool normal = law.kind == LawKind::unilateral || law.kind == LawKind::friction2;
        if (normal) {
            c.problem.M.row(z) = WA.row(row);
            c.problem.q(z) = constant(row);
        }
        if (law.kind == LawKind::friction2 || law.kind == LawKind::slider) {
            const Index t = normal ? 1 : 0;
            c.problem.M.row(z + t) = WA.row(row + t);
            c.problem.M(z + t, z + t + 1) += 1.0;
            c.problem.q(z + t) = constant(row + t);
            c.problem.M(z + t + 1, z + t) = -1.0;
            if (normal)
                c.problem.M(z + 2, z) = 2.0 * law.mu;
            else
                c.problem.q(z + 1) = 2.0 * law.bound;
        }
        z += unknowns(law, p.W.block_size(a));
    }
}

}  // namespace

std::optional<PlanarComplementarity> PlanarComplementarity::of(const FrictionProblem& p) {
    const Index rows = p.W.rows();
    Index n = 0;
    std::vector<Index> free;  // bilateral rows
    for (int a = 0; a < p.contacts(); ++a) {
        const Law& law = p.laws[static_cast<std::size_t>(a)];
        const int more = unknowns(law, p.W.block_size(a));
        if (more < 0) return {};
        n += more;
        const int first = p.W.start[static_cast<std::size_t>(a)];
        for (int i = 0; i < p.W.block_size(a) && law.kind == LawKind::bilateral; ++i) free.push_back(first + i);
    }
    const Matrix W = to_dense(p.W);
    const Eigen::Map<const Vector> q(p.q.data(), rows);
    PlanarComplementarity c;
    c.A = Matrix::Zero(rows, n);
    c.offset = Vector::Zero(rows);
    set_reactions(p, c);
    if (!free.empty() && !eliminate_bilateral(free, W, q, c)) return {};
    set_problem(p, W, q, c);
    return c;
}

std::vector<double> PlanarComplementarity::reactions(const std::vector<double>& z) const {
    const Vector r = A * Eigen::Map<const Vector>(z.data(), static_cast<Index>(z.size())) + offset;
    return {r.data(), r.data() + r.size()};
}

}  // namespace saltus::solvers
