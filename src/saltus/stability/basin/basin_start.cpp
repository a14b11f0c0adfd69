// SPDX-License-Identifier: Apache-2.0
#include "saltus/stability/basin/basin_start.hpp"

#include <algorithm>
#include <cmath>

#include "saltus/base/error.hpp"
#include "saltus/base/index.hpp"
#include "saltus/model/mechanics.hpp"

namespace saltus::stability {

namespace {

constexpr double position_tolerance = 1e-12;  ///< a row holds if |g| (contact: −g_N) <= this times its row_scale
constexpr double velocity_tolerance = 1e-12;  ///< the same for |γ|
constexpr double converged_step = 1e-15;      ///< the projection has converged if ‖step‖ <= this (1 + ‖q‖)
constexpr double negligible_pull = 1e-12;     ///< multipliers of at least −this times the largest do not pull
constexpr double negligible_depth = 1e-14;    ///< relative penetration that does not activate a contact
/// The first rounds of the projection take the point nearest to the start. If the rows are curved so much that this
/// does not converge, the further rounds take the point nearest to the last one, which converges quadratically.
constexpr int rounds_from_start = 30, max_rounds = 50;

}  // namespace

Admitter::Admitter(const model::Mechanics& model, std::span<const int> held)
    : model_(model),
      layout_(model.layout()),
      workspace_(model),
      terms_(layout_),
      mass_(layout_.mass),
      held_q_(model.coordinates.size(), 0),
      held_u_(model.coordinates.size(), 0),
      none_held_(model.coordinates.size(), 0) {
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
    if (project(q, u, {held_q_, held_u_})) return Admission::adjusted;
    std::copy(q_given.begin(), q_given.end(), q.begin());
    std::copy(u_given.begin(), u_given.end(), u.begin());
    if (!project(q, u, {none_held_, none_held_})) return Admission::inadmissible;
    for (std::size_t i = 0; i < q.size(); ++i)
        if ((held_q_[i] != 0 && q[i] != q_given[i]) || (held_u_[i] != 0 && u[i] != u_given[i])) return Admission::moved;
    return Admission::adjusted;
}

/// Position: sequential quadratic programming for min ½‖q − start‖²_M subject to g = 0, g_N >= 0, with the rows
/// linearised at the last point. Velocity: two steps of the linear projection onto Gu + χ = 0; the second removes what
/// rounding left.
bool Admitter::project(std::span<double> q, std::span<double> u, const Held& held) {
    evaluate(q, u);
    if (!mass_.factorise(terms_.M)) return false;
    const auto n = static_cast<Eigen::Index>(q.size());
    Eigen::Map<Vector> position(q.data(), n), velocity(u.data(), n);
    const Vector start = position;
    rows_.clear();
    for (int row = 0; row < layout_.constraints; ++row) rows_.push_back(row);

    for (int round = 0; round < max_rounds; ++round) {
        evaluate(q, u);
        if (std::any_of(terms_.positions.begin(), terms_.positions.end(), [](double g) { return !std::isfinite(g); }))
            return false;
        const Vector here = position;
        const std::optional<Vector> next = nearest(here, round < rounds_from_start ? start : here, held.q);
        if (!next) return false;
        position = *next;
        if ((*next - here).norm() <= converged_step * (1.0 + next->norm())) break;
    }
    evaluate(q, u);
    if (!positions_hold(q)) return false;

    if (layout_.constraints > 0) {
        if (!mass_.factorise(terms_.M)) return false;
        rows_.resize(ix(layout_.constraints));
        Vector b(layout_.constraints);
        for (int round = 0; round < 2; ++round) {
            for (int row = 0; row < layout_.constraints; ++row) b(row) = -model::row_velocity(layout_, terms_, row, u);
            velocity += step(rows_, b, held.u).x;
        }
    }
    return velocity.allFinite() && velocities_hold(u);
}

/// The x of least ‖x‖_M with J x = b that leaves the held components: x = P M⁻¹ P Jᵀy with (J P M⁻¹ P Jᵀ) y = b, where
/// P sets held components to 0. Dependent rows are solved in the sense of least squares.
Admitter::Step Admitter::step(const std::vector<int>& rows, const Vector& b, const std::vector<char>& held) const {
    const auto n = static_cast<Eigen::Index>(model_.coordinates.size());
    const auto m = static_cast<Eigen::Index>(rows.size());
    const auto drop = [&](Eigen::Ref<Vector> x) {
        for (Eigen::Index i = 0; i < n; ++i)
            if (held[ix(i)] != 0) x(i) = 0.0;
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
    Step out;
    out.multipliers = least_squares(D, b);
    out.x = columns * out.multipliers;
    return out;
}

/// The point nearest to `start` that fulfils the rows linearised at q, g(q) + W(x − q) = 0 or >= 0, by an active-set
/// method: the contact that pulls most (negative multiplier) is released, then the one that penetrates most is added.
/// Nothing if the active set does not settle.
std::optional<Vector> Admitter::nearest(const Vector& q, const Vector& start, const std::vector<char>& held) {
    const auto constraints = ix(layout_.constraints);
    const std::size_t max_changes = 10 * model_.contacts.size() + 20;
    for (std::size_t trial = 0; trial < max_changes; ++trial) {
        Vector b(static_cast<Eigen::Index>(rows_.size())), y;
        for (std::size_t i = 0; i < rows_.size(); ++i)
            b(static_cast<Eigen::Index>(i)) = dot(rows_[i], q - start) - terms_.positions[ix(rows_[i])];
        Vector next = start;
        if (!rows_.empty()) {
            const Step s = step(rows_, b, held);
            next = start + s.x;
            y = s.multipliers;
        }
        if (!next.allFinite()) return {};
        std::ptrdiff_t pulling = -1;
        double pull = negligible_pull * (y.size() > 0 ? y.cwiseAbs().maxCoeff() : 0.0);
        for (std::size_t i = constraints; i < rows_.size(); ++i)
            if (-y(static_cast<Eigen::Index>(i)) > pull)
                pull = -y(static_cast<Eigen::Index>(i)), pulling = static_cast<std::ptrdiff_t>(i);
        if (pulling >= 0) {
            rows_.erase(rows_.begin() + pulling);
            continue;
        }
        int deepest = -1;
        double depth = negligible_depth;
        for (const model::Contact& c : model_.contacts) {
            if (std::find(rows_.begin(), rows_.end(), c.row) != rows_.end()) continue;
            const double size = model::row_scale(layout_.rows, terms_.W, c.row, {next.data(), ix(next.size())});
            const double d = -(terms_.positions[ix(c.row)] + dot(c.row, next - q)) / size;
            if (d > depth) depth = d, deepest = c.row;
        }
        if (deepest < 0) return next;
        rows_.push_back(deepest);
    }
    return {};
}

}  // namespace saltus::stability
