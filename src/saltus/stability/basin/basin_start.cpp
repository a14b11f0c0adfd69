// SPDX-License-Identifier: Apache-2.0
#include "saltus/stability/basin/basin_start.hpp"

#include <algorithm>
#include <cmath>

#include "saltus/base/error.hpp"
#include "saltus/base/index.hpp"
#include "saltus/model/model.hpp"

namespace saltus::stability {

namespace {

constexpr double position_tolerance = 1e-12;  // of a row's size: what counts as fulfilled
constexpr double velocity_tolerance = 1e-12;

}  // namespace

Admitter::Admitter(const model::Model& model, std::span<const int> held)
    : model_(model),
      layout_(model.layout()),
      workspace_(model),
      terms_(layout_),
      mass_(layout_.mass),
      held_q_(model.coordinates.size(), 0),
      held_u_(model.coordinates.size(), 0) {
    for (const int c : held) {
        SALTUS_EXPECT(c >= 0 && c < 2 * model.size());
        (c < model.size() ? held_q_[ix(c)] : held_u_[ix(c - model.size())]) = 1;
    }
}

void Admitter::evaluate(std::span<const double> q, std::span<const double> u) {
    model::evaluate(model_, workspace_, 0.0, q, u, terms_);
}

bool Admitter::positions_hold(std::span<const double> q) const {
    for (int row = 0; row < layout_.positions(); ++row) {
        const double g = terms_.positions[ix(row)];
        const double defect = row < layout_.constraints ? std::abs(g) : -g;
        if (!(defect <= position_tolerance * model::row_scale(layout_.rows, terms_.W, row, q))) return false;
    }
    return true;
}

bool Admitter::velocities_hold(std::span<const double> u) const {
    for (int row = 0; row < layout_.constraints; ++row)
        if (!(std::abs(model::row_velocity(layout_, terms_, row, u)) <=
              velocity_tolerance * model::row_scale(layout_.rows, terms_.W, row, u)))
            return false;
    return true;
}

double Admitter::dot(int row, const Vector& x) const {
    return model::row_dot(layout_.rows, terms_.W, row, {x.data(), ix(x.size())});
}

Admission Admitter::admit(std::span<double> q, std::span<double> u) {
    evaluate(q, u);
    if (positions_hold(q) && velocities_hold(u)) return Admission::admissible;
    const std::vector<double> q_given(q.begin(), q.end()), u_given(u.begin(), u.end());
    for (const bool hold : {true, false}) {
        std::copy(q_given.begin(), q_given.end(), q.begin());
        std::copy(u_given.begin(), u_given.end(), u.begin());
        if (!move(q, u, hold)) continue;
        if (hold) return Admission::adjusted;
        for (std::size_t i = 0; i < q.size(); ++i)
            if ((held_q_[i] != 0 && q[i] != q_given[i]) || (held_u_[i] != 0 && u[i] != u_given[i]))
                return Admission::moved;
        return Admission::adjusted;
    }
    return Admission::inadmissible;
}

bool Admitter::move(std::span<double> q, std::span<double> u, bool hold) {
    evaluate(q, u);
    if (!mass_.factorise(terms_.M)) return false;
    const auto n = static_cast<Eigen::Index>(q.size());
    Eigen::Map<Vector> position(q.data(), n), velocity(u.data(), n);
    const Vector start = position;
    rows_.clear();
    for (int row = 0; row < layout_.constraints; ++row) rows_.push_back(row);

    // Linearise at the last point and take the point nearest to the start until nothing moves; where rows curve too
    // much for that, the last rounds go from the point itself, which settles quadratically.
    holding_ = &held_q_;
    constexpr int patient = 30, most = 50;
    for (int round = 0; round < most; ++round) {
        evaluate(q, u);
        if (std::any_of(terms_.positions.begin(), terms_.positions.end(), [](double g) { return !std::isfinite(g); }))
            return false;
        const Vector here = position;
        Vector next;
        if (!nearest(here, round < patient ? start : here, hold, next)) return false;
        position = next;
        if ((next - here).norm() <= 1e-15 * (1.0 + next.norm())) break;
    }
    evaluate(q, u);
    if (!positions_hold(q)) return false;

    holding_ = &held_u_;
    if (layout_.constraints > 0) {
        if (!mass_.factorise(terms_.M)) return false;
        rows_.resize(ix(layout_.constraints));
        Vector b(layout_.constraints), y;
        for (int round = 0; round < 2; ++round) {  // again for what rounding left
            for (int row = 0; row < layout_.constraints; ++row) b(row) = -model::row_velocity(layout_, terms_, row, u);
            velocity += step(rows_, b, hold, y);
        }
    }
    return velocity.allFinite() && velocities_hold(u);
}

/// x = P M⁻¹ P Jᵀy with J x = b in the sense of least squares; P drops what is held.
Vector Admitter::step(const std::vector<int>& rows, const Vector& b, bool hold, Vector& multipliers) const {
    const auto n = static_cast<Eigen::Index>(model_.coordinates.size());
    const auto m = static_cast<Eigen::Index>(rows.size());
    const auto drop = [&](Eigen::Ref<Vector> x) {
        for (Eigen::Index i = 0; hold && i < n; ++i)
            if ((*holding_)[ix(i)] != 0) x(i) = 0.0;
    };
    Matrix columns = Matrix::Zero(n, m), D(m, m);
    for (Eigen::Index j = 0; j < m; ++j) {
        const std::size_t row = ix(rows[ix(j)]);
        for (int e = layout_.rows.start[row]; e < layout_.rows.start[row + 1]; ++e)
            columns(layout_.rows.column[ix(e)], j) = terms_.W[ix(e)];
        drop(columns.col(j));
        mass_.solve({columns.col(j).data(), ix(n)});
        drop(columns.col(j));
    }
    for (Eigen::Index i = 0; i < m; ++i)
        for (Eigen::Index j = 0; j < m; ++j)
            D(i, j) = model::row_dot(layout_.rows, terms_.W, rows[ix(i)], {columns.col(j).data(), ix(n)});
    multipliers = least_squares(D, b);
    return columns * multipliers;
}

/// The point nearest to `start` that fulfils the rows linearised at q, by an active set: contacts that would pull are
/// let go, contacts that would penetrate are taken in.
bool Admitter::nearest(const Vector& q, const Vector& start, bool hold, Vector& next) {
    const auto constraints = ix(layout_.constraints);
    for (std::size_t trial = 0; trial < 10 * model_.contacts.size() + 20; ++trial) {
        Vector b(static_cast<Eigen::Index>(rows_.size())), y;
        for (std::size_t i = 0; i < rows_.size(); ++i)
            b(static_cast<Eigen::Index>(i)) = dot(rows_[i], q - start) - terms_.positions[ix(rows_[i])];
        next = rows_.empty() ? start : Vector(start + step(rows_, b, hold, y));
        if (!next.allFinite()) return false;
        std::ptrdiff_t pulling = -1;
        double pull = 1e-12 * (y.size() > 0 ? y.cwiseAbs().maxCoeff() : 0.0);
        for (std::size_t i = constraints; i < rows_.size(); ++i)
            if (-y(static_cast<Eigen::Index>(i)) > pull)
                pull = -y(static_cast<Eigen::Index>(i)), pulling = static_cast<std::ptrdiff_t>(i);
        if (pulling >= 0) {
            rows_.erase(rows_.begin() + pulling);
            continue;
        }
        int deepest = -1;
        double depth = 1e-14;
        for (const model::Contact& c : model_.contacts) {
            if (std::find(rows_.begin(), rows_.end(), c.row) != rows_.end()) continue;
            const double size = model::row_scale(layout_.rows, terms_.W, c.row, {next.data(), ix(next.size())});
            const double d = -(terms_.positions[ix(c.row)] + dot(c.row, next - q)) / size;
            if (d > depth) depth = d, deepest = c.row;
        }
        if (deepest < 0) return true;
        rows_.push_back(deepest);
    }
    return false;
}

}  // namespace saltus::stability
