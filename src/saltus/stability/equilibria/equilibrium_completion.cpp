// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>

#include "saltus/model/mechanics.hpp"
#include "saltus/stability/equilibria/detail/equilibrium_manifold.hpp"
#include "saltus/stability/equilibria/detail/equilibrium_periods.hpp"
#include "saltus/stability/equilibria/equilibria.hpp"

namespace saltus::stability {

namespace {

using Index = Eigen::Index;

/// Positions in 1 + |q_i|: given coordinates within this distance of the extent of a set count as in it, and distances
/// that differ by less count as equal.
constexpr double negligible_distance = 1e-9;
/// A completed position is an equilibrium if its depth (RestingManifold::depth) is at least this.
constexpr double least_depth = -1e-9;

/// Largest distance of the given coordinates from the extent of the set, in 1 + |q_i|; 0 if they are in it.
double distance(const Equilibria& e, const EquilibriumSet& set, const Vector& q, const std::vector<char>& given) {
    double worst = 0.0;
    for (Index i = 0; i < q.size(); ++i) {
        if (given[static_cast<std::size_t>(i)] == 0 || set.around[static_cast<std::size_t>(i)] != 0) continue;
        const double period = e.periods[static_cast<std::size_t>(i)];
        double x = q(i);
        if (period > 0.0) x -= period * std::round((x - 0.5 * (set.lower(i) + set.upper(i))) / period);
        worst = std::max({worst, (set.lower(i) - x) / (1.0 + std::abs(x)), (x - set.upper(i)) / (1.0 + std::abs(x))});
    }
    return worst;
}

/// Newton's method onto the constraints and the closed contacts that changes only coordinates that are not given.
/// Returns false if it does not converge; q is then somewhere on the way.
bool close_free(RestingModel& model, const std::vector<char>& closed, const std::vector<char>& given, Vector& q) {
    std::vector<int> rows;
    const model::Mechanics& m = model.model();
    for (const model::Constraint& c : m.constraints) rows.push_back(c.row);
    for (std::size_t i = 0; i < closed.size(); ++i)
        if (closed[i] != 0) rows.push_back(m.contacts[i].row);
    if (rows.empty()) return true;
    double before = std::numeric_limits<double>::infinity();
    for (int round = 0; round < max_closing_steps; ++round) {
        model.move_to(q);
        Matrix J(static_cast<Index>(rows.size()), q.size());
        Vector g(J.rows());
        for (Index k = 0; k < J.rows(); ++k) {
            const int row = rows[static_cast<std::size_t>(k)];
            J.row(k) = model.row(row) / model.position_scale(row);
            g(k) = model.position(row) / model.position_scale(row);
        }
        for (Index i = 0; i < q.size(); ++i)
            if (given[static_cast<std::size_t>(i)] != 0) J.col(i).setZero();
        const double now = g.cwiseAbs().maxCoeff();
        if (now <= exact_closing || (now <= closing_tolerance && now >= 0.5 * before)) return true;
        before = now;
        q -= least_squares(J, g, dependent_rows);
        if (!q.allFinite()) return false;
    }
    return before <= closing_tolerance;
}

/// A start position in the set: the known point of the set that is nearest in the given coordinates, with the given
/// coordinates in their places.
Vector start_in(const Equilibria& e, const EquilibriumSet& set, const Vector& q, const std::vector<char>& given) {
    std::vector<Vector> points = set.samples;
    points.insert(points.end(), set.boundary.begin(), set.boundary.end());
    points.push_back(set.representative);
    Vector best = set.representative;
    double least = std::numeric_limits<double>::infinity();
    for (const Vector& p : points) {
        const Vector copy = nearest_copy(e.periods, p, q);
        double d = 0.0;
        for (Index i = 0; i < q.size(); ++i)
            if (given[static_cast<std::size_t>(i)] != 0) d += std::abs(copy(i) - q(i));
        if (d <= least) {
            least = d;
            best = copy;
        }
    }
    for (Index i = 0; i < q.size(); ++i) {
        if (given[static_cast<std::size_t>(i)] != 0)
            best(i) = q(i);
        else if (set.around[static_cast<std::size_t>(i)] != 0)
            best(i) = set.representative(i);
    }
    return best;
}

}  // namespace

Vector complete_position(RestingModel& model, const Equilibria& e, const Vector& q, const std::vector<char>& given) {
    std::vector<const EquilibriumSet*> order;
    for (const EquilibriumSet& set : e.sets) order.push_back(&set);
    std::stable_sort(order.begin(), order.end(), [&](const EquilibriumSet* a, const EquilibriumSet* b) {
        return distance(e, *a, q, given) < distance(e, *b, q, given) - negligible_distance;
    });
    for (const EquilibriumSet* set : order) {
        Vector start = start_in(e, *set, q, given);
        RestingManifold manifold(model, set->closed);
        RestPoint p = manifold.at(start);
        if (distance(e, *set, q, given) <= negligible_distance && manifold.correct_with(p, given) &&
            manifold.depth(p.q) >= least_depth)
            return p.q;
        if (close_free(model, set->closed, given, start)) return start;
    }
    Vector plain = q;
    close_free(model, std::vector<char>(model.model().contacts.size(), 0), given, plain);
    return plain;
}

}  // namespace saltus::stability
