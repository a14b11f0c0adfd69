// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>

#include "saltus/stability/equilibria/detail/equilibrium_manifold.hpp"
#include "saltus/stability/equilibria/detail/equilibrium_periods.hpp"
#include "saltus/stability/equilibria/equilibria.hpp"

namespace saltus::stability {

namespace {

using Index = Eigen::Index;

/// How far the given coordinates are from a set's extent.
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

/// Constraints and closed contacts, by the coordinates that are not given.
bool close_free(RestingModel& model, const std::vector<char>& closed, const std::vector<char>& given, Vector& q) {
    std::vector<int> rows;
    const model::Model& m = model.model();
    for (const model::Constraint& c : m.constraints) rows.push_back(c.row);
    for (std::size_t i = 0; i < closed.size(); ++i)
        if (closed[i] != 0) rows.push_back(m.contacts[i].row);
    if (rows.empty()) return true;
    double before = std::numeric_limits<double>::infinity();
    for (int round = 0; round < 60; ++round) {
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
        if (now <= 1e-14 || (now <= 1e-11 && now >= 0.5 * before)) return true;
        before = now;
        q -= least_squares(J, g, 1e-10);
        if (!q.allFinite()) return false;
    }
    return before <= 1e-11;
}

}  // namespace

Vector complete_position(RestingModel& model, const Equilibria& e, const Vector& q, const std::vector<char>& given) {
    std::vector<const EquilibriumSet*> order;
    for (const EquilibriumSet& set : e.sets) order.push_back(&set);
    std::stable_sort(order.begin(), order.end(), [&](const EquilibriumSet* a, const EquilibriumSet* b) {
        return distance(e, *a, q, given) < distance(e, *b, q, given) - 1e-9;
    });
    for (const EquilibriumSet* set : order) {
        // From the point of the set that is nearest in the given coordinates.
        std::vector<Vector> points = set->samples;
        points.insert(points.end(), set->boundary.begin(), set->boundary.end());
        points.push_back(set->representative);
        Vector best = set->representative;
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
            else if (set->around[static_cast<std::size_t>(i)] != 0)
                best(i) = set->representative(i);
        }
        RestingManifold manifold(model, set->closed);
        RestPoint p = manifold.at(best);
        if (distance(e, *set, q, given) <= 1e-9 && manifold.correct_with(p, given) &&
            manifold.inside(p.q).value >= -1e-9)
            return p.q;
        if (close_free(model, set->closed, given, best)) return best;
    }
    Vector plain = q;
    close_free(model, std::vector<char>(model.model().contacts.size(), 0), given, plain);
    return plain;
}

}  // namespace saltus::stability
