// SPDX-License-Identifier: Apache-2.0
#include "saltus/stability/equilibria/detail/equilibrium_manifold.hpp"

#include <algorithm>
#include <cmath>

#include "saltus/base/numbers.hpp"
#include "saltus/model/mechanics.hpp"
#include "saltus/stability/equilibria/detail/equilibrium_algebra.hpp"

namespace saltus::stability {

namespace {

using Index = Eigen::Index;

/// Newton's method for F(q, λ) = 0. The residual is max|F|/(1 + max|λ|), because large forces have large rounding
/// errors.
constexpr int max_newton_steps = 40;
constexpr double exact_residual = 1e-16;     ///< the method stops at once if the residual is at most this
constexpr double accepted_residual = 1e-12;  ///< a point is on the manifold if residual <= max(tolerance, this)
constexpr double fixed_coordinates_residual = 1e-13;  ///< tolerance of correct_with
constexpr double longest_newton_step = 0.5;           ///< in 1 + |q_i|; longer steps are shortened
// After patient_newton_steps steps the method gives up if residual > large_residual and a step does not make the
// residual smaller than slow_reduction times the one before.
constexpr int patient_newton_steps = 8;
constexpr double large_residual = 1e-3;
constexpr double slow_reduction = 0.9;
constexpr double dependent_equations = 1e-11;  ///< singular values below this part of the largest count as 0

/// Kernel of the rows of g and the closed gaps: singular values below this part of the largest count as 0.
constexpr double closing_kernel_tolerance = 1e-9;
/// Tangent directions: singular values s <= max(tangent_tolerance · s_max, least_tangent_value) count as 0.
constexpr double tangent_tolerance = 1e-8, least_tangent_value = 1e-9;
/// If the part of h outside the range of W (Balance::defect) exceeds this, q is off the manifold and its depth
/// negative.
constexpr double off_manifold = 1e-8;

}  // namespace

RestingManifold::RestingManifold(RestingModel& model, std::vector<char> closed)
    : neutral(model.size(), 0), model_(model), closed_(std::move(closed)) {
    const model::Mechanics& m = model.model();
    for (const model::Constraint& c : m.constraints) rows_.push_back(c.row);
    for (std::size_t i = 0; i < m.contacts.size(); ++i)
        if (closed_[i] != 0)
            rows_.push_back(m.contacts[i].row);
        else
            open_.push_back(i);
}

RestingManifold::Linear RestingManifold::evaluate(const Vector& q) {
    Linear l;
    model_.move_to(q);
    l.statics = frictionless_ ? without_friction(model_, model_.statics(closed_)) : model_.statics(closed_);
    const Statics& s = l.statics;
    const Index n = size(), m = static_cast<Index>(rows_.size());
    const double size = s.size > 0.0 ? s.size : 1.0;
    l.unit_q = unit(q);
    l.unit_lambda = Vector::Ones(s.W.cols());
    const Matrix W = s.scale.cwiseInverse().asDiagonal() * s.W;
    l.B = Matrix::Zero(n + m, W.cols());
    for (Index c = 0; c < W.cols(); ++c) {
        const double length = W.col(c).norm();
        if (length > 0.0) l.unit_lambda(c) = size / length;
        l.B.col(c).head(n) = W.col(c) * (l.unit_lambda(c) / size);
    }
    l.constant.resize(n + m);
    l.constant.head(n) = s.h.cwiseQuotient(s.scale) / size;
    for (Index k = 0; k < m; ++k) {
        const int row = rows_[static_cast<std::size_t>(k)];
        l.constant(n + k) = model_.position(row) / model_.position_scale(row);
    }
    l.gaps.resize(static_cast<Index>(open_.size()));
    for (std::size_t k = 0; k < open_.size(); ++k) {
        const int row = model_.model().contacts[open_[k]].row;
        l.gaps(static_cast<Index>(k)) = model_.position(row) / model_.position_scale(row);
    }
    return l;
}

RestingManifold::Linear RestingManifold::linearise(const Vector& q, Vector& lambda, GapSlopes gap_slopes) {
    Linear l = evaluate(q);
    const Statics& s = l.statics;
    if (lambda.size() != l.B.cols()) lambda = least_forces(l);
    const Index n = size(), m = static_cast<Index>(rows_.size());
    const double size = s.size > 0.0 ? s.size : 1.0;
    l.J.resize(n + m, n);
    l.J.topRows(n) = s.scale.cwiseInverse().asDiagonal() * model_.stiffness(s, lambda) / size;
    for (Index k = 0; k < m; ++k) {
        const int row = rows_[static_cast<std::size_t>(k)];
        l.J.row(n + k) = model_.row(row) / model_.position_scale(row);
    }
    l.J = l.J * l.unit_q.asDiagonal();
    if (gap_slopes == GapSlopes::skip) return l;
    l.gap_slopes.resize(l.gaps.size(), n);
    for (std::size_t k = 0; k < open_.size(); ++k) {
        const int row = model_.model().contacts[open_[k]].row;
        l.gap_slopes.row(static_cast<Index>(k)) = model_.row(row) / model_.position_scale(row);
    }
    l.gap_slopes = l.gap_slopes * l.unit_q.asDiagonal();
    return l;
}

Vector RestingManifold::least_forces(const Linear& l) const {
    const Index n = size();
    return least_squares(l.B.topRows(n), -l.constant.head(n), dependent_rows).cwiseProduct(l.unit_lambda);
}

RestPoint RestingManifold::at(const Vector& q) {
    const Linear l = evaluate(q);
    RestPoint p;
    p.q = q;
    p.lambda = least_forces(l);
    p.residual = (l.constant + l.B * p.lambda.cwiseQuotient(l.unit_lambda)).cwiseAbs().maxCoeff();
    p.sign.assign(l.statics.elements.size(), 0);
    for (std::size_t k = 0; k < p.sign.size(); ++k) {
        const RestingElement& e = l.statics.elements[k];
        if (e.two_signed()) p.sign[k] = p.lambda(e.normal) < 0.0 ? -1 : 1;
    }
    return p;
}

bool RestingManifold::close(Vector& q) {
    const Index m = static_cast<Index>(rows_.size());
    if (m == 0) return true;
    double before = infinity;
    for (int round = 0; round < max_closing_steps; ++round) {
        model_.move_to(q);
        Matrix J(m, size());
        Vector g(m);
        for (Index k = 0; k < m; ++k) {
            const int row = rows_[static_cast<std::size_t>(k)];
            const double scale = model_.position_scale(row);
            g(k) = model_.position(row) / scale;
            J.row(k) = model_.row(row) / scale;
        }
        const double now = g.cwiseAbs().maxCoeff();
        if (!std::isfinite(now)) return false;
        if (now <= exact_closing || (now <= closing_tolerance && now >= 0.5 * before)) return true;
        before = now;
        const Vector units = unit(q);
        Vector step = -least_squares(J * units.asDiagonal(), g, dependent_rows);
        const double length = step.cwiseAbs().maxCoeff();
        if (length > 1.0) step /= length;
        q += step.cwiseProduct(units);
    }
    return before <= closing_tolerance;
}

Matrix RestingManifold::closing() {
    Matrix J(static_cast<Index>(rows_.size()), size());
    for (Index k = 0; k < J.rows(); ++k) {
        const int row = rows_[static_cast<std::size_t>(k)];
        J.row(k) = model_.row(row) / model_.position_scale(row);
    }
    return kernel_of(J, closing_kernel_tolerance);
}

bool RestingManifold::correct(RestPoint& p, const std::optional<Slice>& slice, double tolerance) {
    return newton(p, slice, nullptr, tolerance);
}

bool RestingManifold::correct_with(RestPoint& p, const std::vector<char>& held) {
    return newton(p, {}, &held, fixed_coordinates_residual);
}

/// Gauss–Newton: the step is the least-norm solution of J (δq, δλ) = −F in units, with one more row for the slice. It
/// is the shortest way because the equations have more unknowns than rows along a set, and F = 0 may be redundant.
bool RestingManifold::newton(RestPoint& p, const std::optional<Slice>& slice, const std::vector<char>* held,
                             double tolerance) {
    const Index n = size();
    double before = infinity;
    RestPoint best = p;
    best.residual = infinity;
    for (int round = 0; round < max_newton_steps; ++round) {
        const Linear l = linearise(p.q, p.lambda, GapSlopes::skip);
        const Index equations = l.constant.size(), columns = l.B.cols();
        Matrix J(equations + (slice ? 1 : 0), n + columns);
        Vector F(J.rows());
        J.topLeftCorner(equations, n) = l.J;
        J.topRightCorner(equations, columns) = l.B;
        F.head(equations) = l.constant + l.B * p.lambda.cwiseQuotient(l.unit_lambda);
        if (slice) {
            J.row(equations).setZero();
            J.row(equations).head(n) = slice->direction.cwiseProduct(l.unit_q).transpose();
            F(equations) = slice->direction.dot(p.q - slice->origin) - slice->distance;
        }
        if (held != nullptr)
            for (Index i = 0; i < n; ++i)
                if ((*held)[static_cast<std::size_t>(i)] != 0) J.col(i).setZero();
        const double loads = columns > 0 ? p.lambda.cwiseQuotient(l.unit_lambda).cwiseAbs().maxCoeff() : 0.0;
        const double now = F.cwiseAbs().maxCoeff() / (1.0 + loads);
        if (!std::isfinite(now)) return false;
        if (now < best.residual) {
            best = p;
            best.residual = now;
        }
        if (now <= exact_residual || (now <= tolerance && now >= 0.5 * before)) break;
        if (round > patient_newton_steps && now > slow_reduction * before && now > large_residual) return false;
        before = now;
        Vector step = -least_squares(J, F, dependent_equations);
        const double length = step.head(n).cwiseAbs().maxCoeff();
        if (length > longest_newton_step) step *= longest_newton_step / length;
        p.q += step.head(n).cwiseProduct(l.unit_q);
        p.lambda += step.tail(columns).cwiseProduct(l.unit_lambda);
    }
    p = best;
    return p.residual <= std::max(tolerance, accepted_residual);
}

/// Along the manifold d(h + Wλ) = K δq + W δλ = 0 with K = ∂(h + Wλ)/∂q. The forces can follow if K δq lies in the
/// range of W. With an orthonormal basis N of its complement (kernel of Wᵀ) the tangents are the kernel of
///     ( NᵀK,  ∂g/∂q,  ∂g_N/∂q of the closed contacts,  neutral directionsᵀ ).
Matrix RestingManifold::tangent(const RestPoint& p) {
    Vector lambda = p.lambda;
    const Linear l = linearise(p.q, lambda, GapSlopes::skip);
    const Index n = size(), m = l.constant.size() - n;
    const Matrix reach = range_of(l.B.topRows(n));
    const Matrix beyond = kernel_of(reach.transpose());  // n × (n − rank)
    Matrix J(beyond.cols() + m + neutral.cols(), n);
    J.topRows(beyond.cols()) = beyond.transpose() * l.J.topRows(n);
    J.middleRows(beyond.cols(), m) = l.J.bottomRows(m);
    J.bottomRows(neutral.cols()) = neutral.transpose() * l.unit_q.asDiagonal();
    // Rows of NᵀK relative to K: a row that is only rounding of K must count as zero.
    const double stiff = std::max(l.J.topRows(n).norm(), smallest_divisor);
    for (Index r = 0; r < beyond.cols(); ++r) J.row(r) /= stiff;
    return l.unit_q.asDiagonal() * kernel_of(J, tangent_tolerance, least_tangent_value);
}

bool RestingManifold::settle_without_friction(RestPoint& p) {
    frictionless_ = true;
    const ForceCorners kept = corners_;
    p = at(p.q);
    const bool settled = settle(p);
    if (settled) correct(p);
    frictionless_ = false;
    corners_ = kept;
    return settled;
}

double RestingManifold::force_size(const Vector& q) {
    const RestPoint p = at(q);
    const Statics s = model_.statics(closed_);
    double largest = 0.0;
    for (Index c = 0; c < s.W.cols(); ++c)
        largest = std::max(largest, std::abs(p.lambda(c)) * s.W.col(c).cwiseQuotient(s.scale).norm());
    return s.size > 0.0 ? largest / s.size : largest;
}

Balance RestingManifold::forces(const Vector& q) {
    model_.move_to(q);
    ++programs;
    return balance(model_.statics(closed_), {}, &corners_);
}

RestingManifold::LeastGap RestingManifold::least_gap(const Vector& q) {
    model_.move_to(q);
    LeastGap least{infinity};
    for (const std::size_t i : open_) {
        const int row = model_.model().contacts[i].row;
        const double gap = model_.position(row) / model_.position_scale(row);
        if (gap < least.value) least = {gap, static_cast<int>(i)};
    }
    return least;
}

double RestingManifold::depth(const Vector& q) {
    if (possible && !possible(q)) return -1.0;
    const double gap = least_gap(q).value;
    const Balance b = forces(q);
    double depth = std::isfinite(b.margin) ? b.margin : -1.0;
    if (b.defect > off_manifold) depth = std::min(depth, -b.defect);
    return gap < depth ? gap : depth;
}

}  // namespace saltus::stability
