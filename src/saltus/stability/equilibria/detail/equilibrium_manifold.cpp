// SPDX-License-Identifier: Apache-2.0
#include "saltus/stability/equilibria/detail/equilibrium_manifold.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "saltus/stability/equilibria/detail/equilibrium_algebra.hpp"

namespace saltus::stability {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
using Index = Eigen::Index;

}  // namespace

RestingManifold::RestingManifold(RestingModel& model, std::vector<char> closed)
    : neutral(model.size(), 0), model_(model), closed_(std::move(closed)) {
    const model::Model& m = model.model();
    for (const model::Constraint& c : m.constraints) rows_.push_back(c.row);
    for (std::size_t i = 0; i < m.contacts.size(); ++i)
        if (closed_[i] != 0)
            rows_.push_back(m.contacts[i].row);
        else
            open_.push_back(i);
}

/// F at λ = 0, W and units; gaps.
void RestingManifold::evaluate(const Vector& q, Linear& l) {
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
}

RestingManifold::Linear RestingManifold::linearise(const Vector& q, const Vector& lambda, bool gaps) {
    Linear l;
    evaluate(q, l);
    const Statics& s = l.statics;
    const Index n = size(), m = static_cast<Index>(rows_.size());
    const double size = s.size > 0.0 ? s.size : 1.0;
    l.J.resize(n + m, n);
    l.J.topRows(n) = s.scale.cwiseInverse().asDiagonal() * model_.stiffness(s, lambda) / size;
    for (Index k = 0; k < m; ++k) {
        const int row = rows_[static_cast<std::size_t>(k)];
        l.J.row(n + k) = model_.row(row) / model_.position_scale(row);
    }
    l.J = l.J * l.unit_q.asDiagonal();
    if (!gaps) return l;
    l.gap_slopes.resize(l.gaps.size(), n);
    for (std::size_t k = 0; k < open_.size(); ++k) {
        const int row = model_.model().contacts[open_[k]].row;
        l.gap_slopes.row(static_cast<Index>(k)) = model_.row(row) / model_.position_scale(row);
    }
    l.gap_slopes = l.gap_slopes * l.unit_q.asDiagonal();
    return l;
}

RestPoint RestingManifold::at(const Vector& q) {
    Linear l;
    evaluate(q, l);
    RestPoint p;
    p.q = q;
    const Index n = size();
    p.lambda = least_squares(l.B.topRows(n), -l.constant.head(n), 1e-10).cwiseProduct(l.unit_lambda);
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
    for (int round = 0; round < 60; ++round) {
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
        if (now <= 1e-14 || (now <= 1e-11 && now >= 0.5 * before)) return true;
        before = now;
        const Vector units = unit(q);
        Vector step = -least_squares(J * units.asDiagonal(), g, 1e-10);
        const double length = step.cwiseAbs().maxCoeff();
        if (length > 1.0) step /= length;
        q += step.cwiseProduct(units);
    }
    return before <= 1e-11;
}

Matrix RestingManifold::closing() {
    Matrix J(static_cast<Index>(rows_.size()), size());
    for (Index k = 0; k < J.rows(); ++k) {
        const int row = rows_[static_cast<std::size_t>(k)];
        J.row(k) = model_.row(row) / model_.position_scale(row);
    }
    return kernel_of(J, 1e-9);
}

bool RestingManifold::correct(RestPoint& p, const std::optional<Slice>& slice, double tolerance) {
    return newton(p, slice, nullptr, tolerance);
}

bool RestingManifold::correct_with(RestPoint& p, const std::vector<char>& held) { return newton(p, {}, &held, 1e-13); }

bool RestingManifold::newton(RestPoint& p, const std::optional<Slice>& slice, const std::vector<char>* held,
                             double tolerance) {
    const Index n = size();
    double before = infinity;
    RestPoint best = p;
    best.residual = infinity;
    for (int round = 0; round < 40; ++round) {
        const Linear l = linearise(p.q, p.lambda, false);
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
        // Large forces leave large roundings.
        const double loads = columns > 0 ? p.lambda.cwiseQuotient(l.unit_lambda).cwiseAbs().maxCoeff() : 0.0;
        const double now = F.cwiseAbs().maxCoeff() / (1.0 + loads);
        if (!std::isfinite(now)) return false;
        if (now < best.residual) {
            best = p;
            best.residual = now;
        }
        if (now <= 1e-16 || (now <= tolerance && now >= 0.5 * before)) break;
        if (round > 8 && now > 0.9 * before && now > 1e-3) return false;
        before = now;
        Vector step = -least_squares(J, F, 1e-11);
        const double length = step.head(n).cwiseAbs().maxCoeff();
        if (length > 0.5) step *= 0.5 / length;
        p.q += step.head(n).cwiseProduct(l.unit_q);
        p.lambda += step.tail(columns).cwiseProduct(l.unit_lambda);
    }
    p = best;
    return p.residual <= std::max(tolerance, 1e-12);
}

/// Forces follow as long as they can: what W does not reach of ∂(h + Wλ)/∂q must vanish.
Matrix RestingManifold::tangent(const RestPoint& p) {
    const Linear l = linearise(p.q, p.lambda, false);
    const Index n = size(), m = l.constant.size() - n;
    const Matrix reach = range_of(l.B.topRows(n));
    const Matrix beyond = kernel_of(reach.transpose());  // n × (n − rank)
    Matrix J(beyond.cols() + m + neutral.cols(), n);
    J.topRows(beyond.cols()) = beyond.transpose() * l.J.topRows(n);
    J.middleRows(beyond.cols(), m) = l.J.bottomRows(m);
    J.bottomRows(neutral.cols()) = neutral.transpose() * l.unit_q.asDiagonal();
    // Rows that are rounding beside the stiffness they come from say nothing.
    const double stiff = std::max(l.J.topRows(n).norm(), 1e-300);
    for (Index r = 0; r < beyond.cols(); ++r) J.row(r) /= stiff;
    return l.unit_q.asDiagonal() * kernel_of(J, 1e-8, 1e-9);
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
    double most = 0.0;
    for (Index c = 0; c < s.W.cols(); ++c)
        most = std::max(most, std::abs(p.lambda(c)) * s.W.col(c).cwiseQuotient(s.scale).norm());
    return s.size > 0.0 ? most / s.size : most;
}

Balance RestingManifold::forces(const Vector& q) {
    model_.move_to(q);
    ++programs;
    return balance(model_.statics(closed_), {}, &corners_);
}

double RestingManifold::least_gap(const Vector& q, int* contact) {
    model_.move_to(q);
    double least = infinity;
    for (const std::size_t i : open_) {
        const int row = model_.model().contacts[i].row;
        const double gap = model_.position(row) / model_.position_scale(row);
        if (gap < least) {
            least = gap;
            if (contact != nullptr) *contact = static_cast<int>(i);
        }
    }
    return least;
}

RestingManifold::Inside RestingManifold::inside(const Vector& q) {
    Inside out;
    int contact = -1;
    const double gap = least_gap(q, &contact);
    const Balance b = forces(q);
    out.value = std::isfinite(b.margin) ? b.margin : -1.0;
    if (b.defect > 1e-8) out.value = std::min(out.value, -b.defect);
    if (gap < out.value) {
        out.value = gap;
        out.contact = contact;
    }
    return out;
}

}  // namespace saltus::stability
