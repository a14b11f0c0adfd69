// SPDX-License-Identifier: Apache-2.0
#include "saltus/control/regulation_invariance.hpp"

#include <algorithm>
#include <cmath>

#include "saltus/base/text.hpp"

namespace saltus::control {

using namespace saltus::proof;

namespace {

/// C of f^nc = f − ∂R/∂u at rest, by the exact derivatives of the forces.
Matrix damping_at(const model::Model& m, const std::vector<double>& q) {
    const std::unique_ptr<model::Jacobians> jacobians = m.system->jacobians();
    const std::vector<double> zero(q.size(), 0.0), lambda(static_cast<std::size_t>(m.layout().row_count()), 0.0);
    const model::Pattern& pattern = jacobians->pattern(model::Function::residual);
    std::vector<double> values(pattern.size());
    jacobians->evaluate(model::Function::residual, model::at(m, 0.0, q, zero), zero, lambda, values);
    return -model::dense(pattern, values).middleCols(1 + m.size(), m.size());
}

std::vector<std::string> names(const model::Model& m, const std::vector<int>& subset) {
    std::vector<std::string> list;
    for (const int i : subset) list.push_back(m.contacts[static_cast<std::size_t>(i)].name);
    return list;
}

/// Columns that span the kernel of the rows.
Matrix kernel(const Matrix& rows, Eigen::Index n) {
    if (rows.rows() == 0) return Matrix::Identity(n, n);
    const Matrix projection = Matrix::Identity(n, n) - least_squares_columns(rows, rows, 1e-10);
    const RowRank rank = row_rank(projection, 1e-8);
    // Rows of a projection: small ones are nothing.
    std::vector<Vector> basis;
    for (const int r : rank.independent) {
        Vector v = projection.row(r).transpose();
        for (const Vector& b : basis) v -= b.dot(v) * b;
        if (v.norm() > 1e-8) basis.push_back(v.normalized());
    }
    Matrix Z(n, static_cast<Eigen::Index>(basis.size()));
    for (std::size_t k = 0; k < basis.size(); ++k) Z.col(static_cast<Eigen::Index>(k)) = basis[k];
    return Z;
}

/// C Z, C Z A, C Z A², … one below the other, with A of size about 1.
Matrix observability(const Matrix& C, const Matrix& Z, const Matrix& A) {
    const Eigen::Index d = Z.cols();
    const double size = std::max(A.cwiseAbs().rowwise().sum().maxCoeff(), 1e-300);
    Matrix O(C.rows() * d, d), block = C * Z;
    for (Eigen::Index k = 0; k < d; ++k) {
        O.middleRows(k * C.rows(), C.rows()) = block;
        block = block * A / size;
    }
    return O;
}

/// A nonzero v with Cv = 0 that the motion with these contacts closed keeps; with its frequency.
struct Undamped {
    bool found = false;
    Vector v;
    double frequency2 = 0.0;
};

Undamped undamped(const Matrix& M, const Matrix& K, const Matrix& C, const Matrix& Z) {
    Undamped out;
    if (Z.cols() == 0) return out;
    const Matrix mass = Z.transpose() * M * Z, stiffness = Z.transpose() * K * Z;
    const Matrix A = solve_columns(mass, stiffness), O = observability(C, Z, A);
    const Matrix unseen = kernel(O, Z.cols());
    if (unseen.cols() == 0) return out;
    out.found = true;
    const Spectrum s = vibrations(unseen.transpose() * stiffness * unseen, unseen.transpose() * mass * unseen);
    out.v = Z * (unseen * s.smallest_direction);
    out.v /= out.v.cwiseAbs().maxCoeff();
    out.frequency2 = s.smallest;
    return out;
}

/// The same question in intervals: proved that there is none.
bool proved_none(const IntervalMatrix& M, const IntervalMatrix& K, const IntervalMatrix& C, const IntervalMatrix& W) {
    const std::optional<IntervalMatrix> T = tangents(W, M.rows());
    if (!T) return false;
    const int d = T->cols();
    if (d == 0) return true;
    const IntervalMatrix Tt = transpose(*T);
    const std::optional<IntervalMatrix> A = solve(Tt * M * *T, Tt * K * *T);
    if (!A) return false;
    const double size = std::max(A->middle().cwiseAbs().rowwise().sum().maxCoeff(), 1e-300);
    const IntervalMatrix scale(Matrix(Matrix::Identity(d, d) * std::exp2(-std::ceil(std::log2(size)))));
    IntervalMatrix O(C.rows() * d, d), block = C * *T;
    for (int k = 0; k < d; ++k) {
        for (int i = 0; i < C.rows(); ++i)
            for (int j = 0; j < d; ++j) O(k * C.rows() + i, j) = block(i, j);
        block = block * *A * scale;
    }
    return independent_columns(O);
}

}  // namespace

Invariance only_rest_is_undamped(const Domain& domain, Statics& statics, const Rest& rest, ContactModel contacts) {
    const model::Model& m = domain.model;
    const int n = m.size();
    Invariance out;
    const bool springs = contacts == ContactModel::springs;
    const Matrix C = damping_at(m, rest.q);
    // Damping in every direction: nothing moves without loss.
    if (domain.enclosure && domain.enclosure->linear_damping) {
        IntervalMatrix symmetric = domain.damping + transpose(domain.damping);
        if (symmetric.finite() && positive_definite(symmetric)) {
            out = {Verdict::proved, Scope::global, "damping is positive definite everywhere: u.Cu = 0 means u = 0", {}};
            return out;
        }
    }
    if (symmetric_spectrum(0.5 * (C + C.transpose())).smallest > 0.0) {
        out = {Verdict::holds, Scope::local, "damping is positive definite at the equilibrium", {}};
        return out;
    }
    // u·Cu = 0 means Cu = 0 for the symmetric, semidefinite part.
    const Matrix symmetric = 0.5 * (C + C.transpose());
    if (symmetric_spectrum(symmetric).smallest < -1e-12 * symmetric.cwiseAbs().maxCoeff()) {
        out.verdict = Verdict::fails;
        out.evidence = "damping is not positive semidefinite";
        const Spectrum s = symmetric_spectrum(symmetric);
        out.witness.q = rest.q;
        out.witness.u.assign(s.smallest_direction.begin(), s.smallest_direction.end());
        out.witness.values = {{"u.Cu", s.smallest}};
        return out;
    }
    if ((C - C.transpose()).cwiseAbs().maxCoeff() > 1e-12 * C.cwiseAbs().maxCoeff()) {
        out.evidence = "the gains of velocities are not symmetric: they turn motions without damping them";
        return out;
    }
    statics.at(rest.q);
    const Matrix K0 = statics.stiffness(springs ? Vector::Zero(statics.rows()) : rest.lambda);
    const Matrix W = statics.gradients();
    std::vector<std::vector<int>> subsets = contact_subsets(domain, contacts, static_cast<std::size_t>(n));
    if (!domain.linear) {  // near the equilibrium: only contacts that touch there
        std::erase_if(subsets, [&](const std::vector<int>& s) {
            return std::any_of(s.begin(), s.end(), [&](int i) {
                const int row = m.contacts[static_cast<std::size_t>(i)].row;
                return std::find(rest.closed.begin(), rest.closed.end(), row) == rest.closed.end();
            });
        });
    }
    bool proved = domain.linear && domain.enclosure != nullptr;
    for (const std::vector<int>& subset : subsets) {
        Matrix K = 0.5 * (K0 + K0.transpose()), held(0, n);
        IntervalMatrix interval_K = domain.hessian, interval_held(0, n);
        if (!springs) {
            held.resize(static_cast<Eigen::Index>(subset.size()), n);
            std::vector<int> rows;
            for (std::size_t k = 0; k < subset.size(); ++k) {
                rows.push_back(m.contacts[static_cast<std::size_t>(subset[k])].row);
                held.row(static_cast<Eigen::Index>(k)) = W.row(rows.back());
            }
            if (domain.enclosure) interval_held = rows_of(domain.gradients, rows);
        } else {
            Matrix added = Matrix::Zero(n, n);
            for (const int i : subset) {
                const int row = m.contacts[static_cast<std::size_t>(i)].row;
                added += W.row(row).transpose() * W.row(row) / statics.compliance()(row);
            }
            K += added;
            if (domain.enclosure) {
                const Box still = point_box(std::vector<double>(static_cast<std::size_t>(n), 0.0));
                const IntervalVector coefficients = domain.enclosure->coefficients(domain.whole, still);
                for (const int i : subset) {
                    const model::Contact& contact = m.contacts[static_cast<std::size_t>(i)];
                    const int row = contact.row;
                    const Interval k = coefficients[static_cast<std::size_t>(contact.penalty_k)];
                    for (int a = 0; a < n; ++a)
                        for (int b = 0; b < n; ++b)
                            interval_K(a, b) =
                                interval_K(a, b) + k * domain.gradients(row, a) * domain.gradients(row, b);
                }
            }
        }
        const Undamped found = undamped(statics.mass(), K, symmetric, kernel(held, n));
        if (found.found) {
            out.verdict = Verdict::fails;
            const std::string closed = subset.empty()
                                           ? "free of contacts"
                                           : "with " + listing(names(m, subset)) + (springs ? " pressed" : " closed");
            out.evidence = "a motion " + closed +
                           " keeps the outputs still: " + (found.frequency2 > 0.0 ? "it vibrates" : "it drifts") +
                           " along the witness without loss";
            out.witness.q = rest.q;
            out.witness.u.assign(found.v.begin(), found.v.end());
            if (found.frequency2 > 0.0)
                out.witness.values = {{"frequency", std::sqrt(found.frequency2)}};
            else
                out.witness.values = {{"frequency squared", found.frequency2}};
            return out;
        }
        proved = proved && proved_none(domain.mass, interval_K, domain.damping, interval_held);
    }
    const std::string which = counted(subsets.size(), "combination") + " of contacts";
    out.verdict = proved ? Verdict::proved : Verdict::holds;
    out.scope = domain.linear ? Scope::global : Scope::local;
    out.evidence = domain.linear ? "the outputs observe every velocity in all " + which
                                 : "linearised at the equilibrium the outputs observe every velocity in all " + which +
                                       " that touch there";
    return out;
}

}  // namespace saltus::control
