// SPDX-License-Identifier: Apache-2.0
#include "saltus/control/regulation/detail/regulation_domain.hpp"

#include <algorithm>
#include <cmath>

#include "saltus/model/mechanics.hpp"
#include "saltus/solvers/program/linear_program.hpp"

namespace saltus::control {

using namespace saltus::proof;

namespace {

/// A matrix is constant if its widest entry is at most this part of its largest.
constexpr double constant_width = 1e-12;

bool narrow(const IntervalMatrix& A) {
    double size = 0.0, widest = 0.0;
    for (int i = 0; i < A.rows(); ++i)
        for (int j = 0; j < A.cols(); ++j) {
            if (!std::isfinite(A(i, j).lo) || !std::isfinite(A(i, j).hi)) return false;
            size = std::max({size, std::abs(A(i, j).lo), std::abs(A(i, j).hi)});
            widest = std::max(widest, A(i, j).hi - A(i, j).lo);
        }
    return widest <= constant_width * size;
}

IntervalMatrix negative(const IntervalMatrix& A) { return IntervalMatrix(A.rows(), A.cols()) - A; }

}  // namespace

EigenvalueBounds eigenvalues(const IntervalMatrix& A) {
    const IntervalMatrix identity = IntervalMatrix::identity(A.rows());
    return {-largest_eigenvalue(negative(A), identity), largest_eigenvalue(A, identity)};
}

int Domain::contacts() const { return static_cast<int>(model.contacts.size()); }

Domain::Domain(const model::Mechanics& m)
    : model(m),
      enclosure(Enclosure::of(m, no_enclosure)),
      whole(whole_space(static_cast<std::size_t>(m.size()))),
      admissible(whole) {
    if (!enclosure) return;
    const AdmissibleSet set(*enclosure, Interval(0.0));
    set.contract(admissible, {}, Interval::infinity);
    for (const Interval& f : enclosure->forces_at_rest(admissible)) potential = potential && f.lo == 0.0 && f.hi == 0.0;
    mass = enclosure->mass(admissible);
    hessian = enclosure->hessian(admissible);
    damping = enclosure->damping(admissible);
    std::vector<int> rows;
    for (int i = 0; i < enclosure->positions(); ++i) rows.push_back(i);
    gradients = rows_of(enclosure->row_matrix(admissible), rows);
    convex = affine = enclosure->smooth;
    const std::vector<IntervalMatrix> curvatures = enclosure->position_hessians(whole);
    for (int i = enclosure->constraints(); i < enclosure->positions(); ++i) {
        const IntervalMatrix& H = curvatures[static_cast<std::size_t>(i)];
        bool zero = true;
        for (int a = 0; a < H.rows(); ++a)
            for (int b = 0; b < H.cols(); ++b) zero = zero && H(a, b).lo == 0.0 && H(a, b).hi == 0.0;
        affine = affine && zero;
        convex = convex && (zero || (H.finite() && eigenvalues(H).upper <= 0.0));
    }
    linear = affine && enclosure->smooth && enclosure->linear_damping && m.layout().mass_constant && narrow(mass) &&
             narrow(enclosure->hessian(whole)) && narrow(enclosure->damping(whole)) && narrow(gradients);
}

namespace {

/// Whether the multipliers y prove that W q + c = s has no solution with s in its bounds: yᵀW is exactly zero, so that
/// q does not matter, and yᵀ(c − s) is not zero for any s. A program that was solved with rounding errors proves
/// nothing.
bool proves_impossible(const Vector& y, const IntervalMatrix& W, const IntervalVector& c, const std::vector<int>& rows,
                       const std::vector<Interval>& bounds) {
    if (y.size() != static_cast<Eigen::Index>(rows.size())) return false;
    for (int k = 0; k < W.cols(); ++k) {
        Interval sum(0.0);
        for (std::size_t i = 0; i < rows.size(); ++i)
            sum = sum + Interval(y(static_cast<Eigen::Index>(i))) * W(rows[i], k);
        if (sum.lo != 0.0 || sum.hi != 0.0) return false;
    }
    Interval sum(0.0);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const double factor = y(static_cast<Eigen::Index>(i));
        if (factor == 0.0) continue;
        sum = sum + Interval(factor) * (c[static_cast<std::size_t>(rows[i])] - bounds[i]);
    }
    return sum.lo > 0.0 || sum.hi < 0.0;
}

/// Whether the contacts of a subset can be closed (rigid: their gaps are 0, the others >= 0) or compressed (springs:
/// their gaps are <= 0) at once. With affine gaps g_N = W q + c this is the feasibility of W q − s = −c with bounds on
/// the slacks s = g_N. The answer is no only if that is proved.
bool possible(const Domain& domain, ContactModel contacts, const std::vector<int>& subset) {
    if (!domain.affine || !domain.enclosure) return true;
    const int m = domain.contacts(), n = domain.model.size();
    const Matrix W = domain.gradients.middle();
    const IntervalVector at_zero =
        domain.enclosure->position_values(point_box(std::vector<double>(static_cast<std::size_t>(n), 0.0)));
    std::vector<int> rows;
    for (const model::Contact& c : domain.model.contacts) rows.push_back(c.row);
    solvers::LinearProgram p;
    p.A = Matrix::Zero(m, n + m);
    p.b = Vector::Zero(m);
    p.c = Vector::Zero(n + m);
    p.lower = Vector::Constant(n + m, -Interval::infinity);
    p.upper = Vector::Constant(n + m, Interval::infinity);
    for (int i = 0; i < m; ++i) {
        p.A.row(i).head(n) = W.row(rows[static_cast<std::size_t>(i)]);
        p.A(i, n + i) = -1.0;
        p.b(i) = -midpoint(at_zero[static_cast<std::size_t>(rows[static_cast<std::size_t>(i)])]);
        const bool in = std::find(subset.begin(), subset.end(), i) != subset.end();
        if (contacts == ContactModel::rigid) {
            p.lower(n + i) = 0.0;
            if (in) p.upper(n + i) = 0.0;
        } else if (in) {
            p.upper(n + i) = 0.0;
        }
    }
    const solvers::ProgramSolution solution = solvers::solve(p);
    if (solution.status != solvers::ProgramStatus::infeasible) return true;
    std::vector<Interval> bounds;
    for (int i = 0; i < m; ++i) bounds.emplace_back(p.lower(n + i), p.upper(n + i));
    return !proves_impossible(solution.certificate, domain.gradients, at_zero, rows, bounds);
}

}  // namespace

std::vector<std::vector<int>> contact_subsets(const Domain& domain, ContactModel contacts, std::size_t max_size) {
    const int m = domain.contacts();
    std::vector<std::vector<int>> list{{}};
    for (std::size_t k = 0; k < list.size() && list.size() < max_combinations; ++k) {
        if (list[k].size() >= max_size) continue;
        for (int i = list[k].empty() ? 0 : list[k].back() + 1; i < m; ++i) {
            std::vector<int> subset = list[k];
            subset.push_back(i);
            if (possible(domain, contacts, subset)) list.push_back(std::move(subset));
        }
    }
    return list;
}

}  // namespace saltus::control
