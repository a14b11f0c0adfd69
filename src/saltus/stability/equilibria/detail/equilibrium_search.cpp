// SPDX-License-Identifier: Apache-2.0
#include "saltus/stability/equilibria/detail/equilibrium_search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "saltus/stability/equilibria/detail/equilibrium_algebra.hpp"
#include "saltus/stability/equilibria/detail/equilibrium_periods.hpp"
#include "saltus/stability/equilibria/detail/equilibrium_polytope.hpp"

namespace saltus::stability {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double open_gap = 1e-9;  ///< of the row's size: less counts as closed
using Index = Eigen::Index;

}  // namespace

Vector first_copy(const std::vector<double>& periods, const Vector& q) {
    Vector out = q;
    for (std::size_t i = 0; i < periods.size(); ++i) {
        const auto k = static_cast<Index>(i);
        if (periods[i] > 0.0) out(k) -= periods[i] * std::ceil(q(k) / periods[i] - 0.5 - 1e-9);
    }
    return out;
}

CombinationSearch::CombinationSearch(RestingModel& model, std::vector<char> closed, const std::vector<double>& periods,
                                     const Matrix& neutral, std::function<bool()> interrupted)
    : model_(model), manifold_(model, std::move(closed)), periods_(periods) {
    manifold_.neutral = neutral;
    manifold_.interrupted = std::move(interrupted);
}

bool CombinationSearch::look_from(Vector q) {
    if (!manifold_.close(q)) return false;
    more_.push_back(q);
    for (int rounds = 0; !more_.empty() && rounds < 50 && !manifold_.tired(); ++rounds) {
        RestPoint p = manifold_.at(more_.front());
        more_.pop_front();
        if (!manifold_.settle(p)) continue;
        p.q = first_copy(periods_, p.q);
        if (!lift(p) || known(p)) continue;
        describe(std::move(p));
    }
    more_.clear();
    return true;
}

std::vector<EquilibriumSet> CombinationSearch::sets() const {
    std::vector<EquilibriumSet> list;
    EquilibriumSet* open = nullptr;
    list.reserve(sets_.size());
    for (const EquilibriumSet& set : sets_) {
        const bool unfinished = set.shape == SetShape::region && set.tolerance > 1e-6;
        if (!unfinished || open == nullptr || open->dimension != set.dimension) {
            list.push_back(set);
            if (unfinished) open = &list.back();
            continue;
        }
        open->lower = open->lower.cwiseMin(set.lower);
        open->upper = open->upper.cwiseMax(set.upper);
        open->tolerance = std::max(open->tolerance, set.tolerance);
        open->potential_least = std::min(open->potential_least, set.potential_least);
        open->potential_greatest = std::max(open->potential_greatest, set.potential_greatest);
        open->boundary.insert(open->boundary.end(), set.boundary.begin(), set.boundary.end());
        open->samples.insert(open->samples.end(), set.samples.begin(), set.samples.end());
        if (set.contains_frictionless && !open->contains_frictionless) {
            open->contains_frictionless = true;
            open->frictionless = set.frictionless;
        }
    }
    return list;
}

bool CombinationSearch::look_everywhere(Vector q, bool& possible) {
    if (!closes_in_a_plane(model_, manifold_.closed())) return false;
    possible = manifold_.close(q);
    if (!possible) return true;
    model_.move_to(q);
    const Matrix N = manifold_.closing();
    const std::optional<AffineRest> plane =
        affine_along(model_, manifold_.closed(), q, {}, N.cols() > 0 ? reduced_basis(N) : N);
    if (!plane || plane->neutral) return false;
    for (const AffineRest::Gap& gap : plane->gaps)
        if (!gap.affine) return false;
    const std::optional<Vector> found = AffineSets::somewhere(model_, manifold_.closed(), *plane);
    if (!found) return true;
    RestPoint p = manifold_.at(*found);
    const std::size_t before = sets_.size();
    if (manifold_.correct(p)) describe(std::move(p));
    return sets_.size() > before && sets_.back().exact;
}

/// The contacts that are not closed here are to be open: off a point where one just touches.
bool CombinationSearch::lift(RestPoint& p) {
    for (int tries = 0; tries < 4; ++tries) {
        int contact = -1;
        if (manifold_.least_gap(p.q, &contact) > open_gap) return true;
        model_.move_to(p.q);
        const Vector cost = -model_.row(model_.model().contacts[static_cast<std::size_t>(contact)].row).transpose();
        if (!manifold_.settle(p, cost, {.radius = 0.05, .largest = 0.1, .smallest = 1e-8, .most = 20})) return false;
    }
    return manifold_.least_gap(p.q) > open_gap;
}

bool CombinationSearch::in_set(std::size_t k, const Vector& q) {
    const EquilibriumSet& set = sets_[k];
    if (set.exact) {
        Vector off = manifold_.modulo(nearest_copy(periods_, q, set.origin) - set.origin);
        const Vector unit = manifold_.unit(q);
        if (set.directions.cols() > 0) off -= set.directions * least_squares(set.directions, off);
        if (off.cwiseQuotient(unit).cwiseAbs().maxCoeff() > 1e-7) return false;
        for (Index i = 0; i < q.size(); ++i) {
            if (set.around[static_cast<std::size_t>(i)] != 0) continue;
            const double x = nearest_copy(periods_, q, set.representative)(i);
            if (x < set.lower(i) - 1e-7 * unit(i) || x > set.upper(i) + 1e-7 * unit(i)) return false;
        }
        return true;
    }
    if (curves_[k]) {
        const Curve& c = *curves_[k];
        double best = infinity;
        std::size_t nearest = 0;
        for (std::size_t i = 0; i < c.samples.size(); ++i) {
            const Vector& at = c.samples[i].point.q;
            const double d = manifold_.distance(at, at + manifold_.modulo(nearest_copy(periods_, q, at) - at));
            if (d < best) {
                best = d;
                nearest = i;
            }
        }
        if (best > 0.1) return false;
        const Curve::Sample& s = c.samples[nearest];
        const Vector unit = manifold_.unit(s.point.q);
        const Vector copy = s.point.q + manifold_.modulo(nearest_copy(periods_, q, s.point.q) - s.point.q);
        const Vector direction = s.tangent.cwiseQuotient(unit);
        RestPoint p = s.point;
        const double distance = direction.dot(copy - p.q);
        p.q += distance * s.tangent.cwiseProduct(unit);
        if (!manifold_.correct(p, RestingManifold::Slice{s.point.q, direction, distance})) return false;
        return manifold_.distance(p.q, copy) <= 1e-6;
    }
    // A region: near a sample, and equilibria all the way to it.
    for (const Vector& at : set.samples) {
        const Vector copy = at + manifold_.modulo(nearest_copy(periods_, q, at) - at);
        if (manifold_.distance(at, copy) > 1.5 * set.spacing) continue;
        bool all = true;
        for (int part = 1; part < 8 && all; ++part) {
            RestPoint p = manifold_.at(at + (copy - at) * (part / 8.0));
            all = manifold_.correct(p) && manifold_.inside(p.q).value >= -1e-8;
        }
        if (all) return true;
    }
    return false;
}

bool CombinationSearch::known(const RestPoint& p) {
    for (std::size_t k = 0; k < sets_.size(); ++k)
        if (in_set(k, p.q)) return true;
    return false;
}

}  // namespace saltus::stability
