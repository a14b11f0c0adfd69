// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>

#include "saltus/stability/equilibria/detail/equilibrium_algebra.hpp"
#include "saltus/stability/equilibria/detail/equilibrium_cover.hpp"
#include "saltus/stability/equilibria/detail/equilibrium_periods.hpp"
#include "saltus/stability/equilibria/detail/equilibrium_polytope.hpp"
#include "saltus/stability/equilibria/detail/equilibrium_search.hpp"
#include "saltus/stability/equilibria/equilibrium_point.hpp"

namespace saltus::stability {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
using Index = Eigen::Index;

}  // namespace

void CombinationSearch::describe(RestPoint p) {
    if (!manifold_.correct(p)) return;
    const Matrix T = manifold_.tangent(p);
    Matrix whole(T.rows(), T.cols() + manifold_.neutral.cols());
    whole << T, manifold_.neutral;
    if (describe_exactly(p, whole)) return;
    if (T.cols() == 1)
        describe_curve(p);
    else
        describe_region(p, T);
}

bool CombinationSearch::describe_exactly(const RestPoint& p, const Matrix& T) {
    model_.move_to(p.q);
    const Statics statics = model_.statics(manifold_.closed());
    const Vector lambda = plain_forces(statics, balance(statics));
    const Matrix N = T.cols() > 0 ? reduced_basis(T) : T;
    const std::optional<AffineRest> plane = affine_along(model_, manifold_.closed(), p.q, lambda, N);
    if (!plane) return false;
    const AffineSets found(model_, manifold_.closed(), *plane);
    if (!found.exact() || found.sets().empty()) return false;
    for (const EquilibriumSet& set : found.sets()) {
        sets_.push_back(set);
        curves_.emplace_back();
        finish(sets_.back());
    }
    return true;
}

void CombinationSearch::describe_curve(const RestPoint& from) {
    CurveOptions options;
    options.periods = periods_;
    Curve c = trace(manifold_, from, options);
    if (c.samples.empty()) return;
    // Once more from where it is deepest: an end that was the start is no measure of what zero is.
    const auto deepest = std::max_element(c.samples.begin(), c.samples.end(),
                                          [](const auto& a, const auto& b) { return a.inside < b.inside; });
    const RestPoint middle = deepest->point;
    const std::vector<Vector> seen = c.beyond;
    if (!c.closed && deepest->inside > 1e-6) c = trace(manifold_, middle, options);
    more_.insert(more_.end(), seen.begin(), seen.end());
    more_.insert(more_.end(), c.beyond.begin(), c.beyond.end());

    EquilibriumSet set;
    set.closed = manifold_.closed();
    set.dimension = 1;
    set.shape = SetShape::curve;
    set.tolerance = 1e-10;
    for (const Curve::End end : {c.first, c.last})
        if (!c.closed && end != Curve::End::boundary) set.tolerance = end == Curve::End::singular ? 1e-7 : 1e-8;
    set.representative = middle.q;
    const Index n = manifold_.size();
    set.lower.resize(n);
    set.upper.resize(n);
    set.around.assign(static_cast<std::size_t>(n), 0);
    for (Index i = 0; i < n; ++i) {
        const Extent e = extent_of(manifold_, c, i);
        set.lower(i) = e.lower;
        set.upper(i) = e.upper;
        if (c.closed && c.turn.size() > 0 && std::abs(c.turn(i)) > 0.0) set.around[static_cast<std::size_t>(i)] = 1;
    }
    for (const Curve::Sample& s : c.samples) set.samples.push_back(s.point.q);
    set.spacing = options.longest;
    for (const bool first : {true, false}) {
        const Curve::End end = first ? c.first : c.last;
        if (c.closed) break;
        const Curve::Sample& s = first ? c.samples.front() : c.samples.back();
        if (end == Curve::End::unbounded) {
            set.unbounded = true;
            // What still moves at that end goes on.
            const Vector outward = (first ? -1.0 : 1.0) * s.tangent;
            for (Index i = 0; i < n; ++i) {
                if (std::abs(outward(i)) < 1e-3) continue;
                (outward(i) > 0.0 ? set.upper : set.lower)(i) = outward(i) > 0.0 ? infinity : -infinity;
            }
        } else {
            set.boundary.push_back(s.point.q);
        }
    }
    sets_.push_back(std::move(set));
    curves_.emplace_back(std::move(c));
    finish(sets_.back());
}

/// Two dimensions and more: points all over it, and extents by sequential programs from the outermost of them.
void CombinationSearch::describe_region(const RestPoint& seed, const Matrix& T) {
    if (T.cols() == 0) return describe_point(seed);
    EquilibriumSet set;
    set.closed = manifold_.closed();
    set.dimension = static_cast<int>(T.cols());
    set.shape = SetShape::region;
    set.tolerance = 1e-8;  // along a round boundary a program sees a gain of less as none
    const Index n = manifold_.size();
    RestPoint from = seed;
    inwards(from, T);
    const Cover c = cover(manifold_, from, {.periods = periods_});
    set.representative = from.q;
    set.around = c.around;
    set.lower = set.upper = from.q;
    for (const RestPoint& p : c.inside) set.samples.push_back(p.q);
    set.boundary = c.boundary;
    for (const Vector& q : c.boundary) set.samples.push_back(q);
    set.spacing = 1.5 * c.spacing * c.measure.cwiseQuotient(manifold_.unit(from.q)).maxCoeff();
    for (Index i = 0; i < n; ++i) {
        if (set.around[static_cast<std::size_t>(i)] != 0 || manifold_.tired()) continue;
        if (manifold_.neutral.cols() > 0 && manifold_.neutral.row(i).norm() > 1e-9) continue;
        for (const double side : {1.0, -1.0}) {
            const auto outermost =
                std::min_element(set.samples.begin(), set.samples.end(),
                                 [&](const Vector& a, const Vector& b) { return side * a(i) < side * b(i); });
            RestPoint p = manifold_.at(*outermost);
            double end = (*outermost)(i);
            const Vector outward = side * Vector::Unit(n, i);
            const bool settled =
                manifold_.settle(p, outward, {.radius = 0.02, .largest = 0.1, .smallest = 1e-10, .most = 400});
            if (settled && side * p.q(i) < side * end) {
                end = p.q(i);
                if (manifold_.inside(p.q).value <= 1e-6) set.boundary.push_back(p.q);  // the bottom of a bowl is none
            } else if (!settled) {
                set.tolerance = std::max(set.tolerance, set.spacing);
            }
            if (c.endless[static_cast<std::size_t>(i)] != 0 && std::abs(end - from.q(i)) > 30.0) {
                end = -side * infinity;
                set.unbounded = true;
            }
            (side > 0.0 ? set.lower : set.upper)(i) = end;
        }
    }
    if (!c.complete || manifold_.tired()) set.tolerance = std::max(set.tolerance, set.spacing);
    sets_.push_back(std::move(set));
    curves_.emplace_back();
    finish(sets_.back());
}

/// A point up to what it may be shifted by.
void CombinationSearch::describe_point(const RestPoint& p) {
    EquilibriumSet set;
    set.closed = manifold_.closed();
    set.shape = manifold_.neutral.cols() > 0 ? SetShape::plane : SetShape::point;
    set.tolerance = 1e-10;
    set.representative = set.lower = set.upper = p.q;
    set.around.assign(static_cast<std::size_t>(manifold_.size()), 0);
    set.samples = {p.q};
    set.spacing = 1e-7;
    sets_.push_back(std::move(set));
    curves_.emplace_back();
    finish(sets_.back());
}

/// Off the boundary of the set, where a search ends, as far as random-looking steps along the manifold help.
void CombinationSearch::inwards(RestPoint& p, const Matrix& T) {
    double inside = manifold_.inside(p.q).value, step = 0.05;
    for (int round = 0; round < 60 && step > 1e-6; ++round) {
        const Index j = round % T.cols();
        bool better = false;
        for (const double side : {1.0, -1.0}) {
            RestPoint next = manifold_.at(p.q + side * step * T.col(j));
            if (!manifold_.correct(next)) continue;
            const double value = manifold_.inside(next.q).value;
            if (value <= inside + 1e-9) continue;
            inside = value;
            p = std::move(next);
            better = true;
            break;
        }
        if (!better && j == T.cols() - 1) step *= 0.5;
        if (inside > 0.3) break;
    }
}

SetLimit CombinationSearch::limit_at(const Vector& q) {
    SetLimit limit;
    limit.q = q;
    model_.move_to(q);
    const model::Model& m = model_.model();
    for (std::size_t i = 0; i < m.contacts.size(); ++i)
        if (manifold_.closed()[i] == 0 && model_.closed(i, 1e-7)) limit.closes.push_back(static_cast<int>(i));
    const Statics s = model_.statics(manifold_.closed());
    limit.jams = manifold_.force_size(q) > 1e4;
    if (limit.jams) return limit;
    const Balance b = balance(s);
    if (b.lambda.size() != s.W.cols() || b.margin > 1e-6) return limit;
    for (const RestingElement& e : s.elements) {
        double load = e.load;
        if (e.normal >= 0) {
            const double size = s.size / std::max(1e-300, s.W.col(e.normal).cwiseQuotient(s.scale).norm());
            load = std::abs(b.lambda(e.normal));
            if (!e.free() && load <= 1e-6 * size) limit.opens.push_back(e.element);
            if (load <= 1e-6 * size) continue;
        }
        if (e.body.empty() || e.sliding.size() > 0) continue;
        const Vector f = b.lambda.segment(e.slip, e.body.dimension);
        if (!e.body.contains({f.data(), static_cast<std::size_t>(f.size())}, load * (1.0 - 1e-6), 0.0))
            limit.slips.push_back(e.element);
    }
    return limit;
}

/// A position near the set that needs no friction, if it lies in it.
std::optional<Vector> CombinationSearch::frictionless_near(const EquilibriumSet& set) {
    const std::size_t k = sets_.size() - 1;
    std::vector<Vector> starts{set.representative};
    const std::size_t every = std::max<std::size_t>(1, set.samples.size() / 12);
    for (std::size_t i = 0; i < set.samples.size(); i += every) starts.push_back(set.samples[i]);
    for (const Vector& start : starts) {
        RestPoint p = manifold_.at(start);
        if (!manifold_.settle_without_friction(p)) continue;
        if (manifold_.least_gap(p.q) < -1e-9 || !in_set(k, p.q)) continue;
        return nearest_copy(periods_, p.q, set.representative);
    }
    return {};
}

/// The copy of the set whose representative is the first.
void CombinationSearch::canonical(EquilibriumSet& set) const {
    const Vector shift = first_copy(periods_, set.representative) - set.representative;
    for (Vector* const v : {&set.representative, &set.origin, &set.frictionless, &set.lower, &set.upper})
        if (v->size() > 0) *v += shift;
    for (Vector& v : set.boundary) v += shift;
    for (Vector& v : set.samples) v += shift;
    for (SetLimit& l : set.limits) l.q += shift;
    for (std::size_t i = 0; i < periods_.size(); ++i) {
        const auto k = static_cast<Index>(i);
        if (set.around[i] == 0 && periods_[i] > 0.0 && set.upper(k) - set.lower(k) >= periods_[i] * (1.0 - 1e-9))
            set.around[i] = 1;
        if (set.around[i] == 0) continue;
        set.lower(k) = -0.5 * periods_[i];
        set.upper(k) = 0.5 * periods_[i];
    }
}

void CombinationSearch::finish(EquilibriumSet& set) {
    const auto n = static_cast<std::size_t>(manifold_.size());
    if (set.around.empty()) set.around.assign(n, 0);
    // Where it may be shifted at will it has no end.
    if (!set.exact && manifold_.neutral.cols() > 0) {
        set.dimension += static_cast<int>(manifold_.neutral.cols());
        for (Index i = 0; i < set.lower.size(); ++i)
            if (manifold_.neutral.row(i).norm() > 1e-9) {
                set.lower(i) = -infinity;
                set.upper(i) = infinity;
            }
    }
    // A width that is rounding is none.
    for (Index i = 0; i < set.lower.size(); ++i)
        if (std::isfinite(set.lower(i)) && set.upper(i) - set.lower(i) <= 1e-13 * (1.0 + std::abs(set.lower(i))))
            set.lower(i) = set.upper(i) = set.representative(i);
    for (Vector* const v : {&set.lower, &set.upper, &set.representative, &set.frictionless})
        for (Index i = 0; i < v->size(); ++i)
            if (std::abs((*v)(i)) <= 1e-15) (*v)(i) = 0.0;
    canonical(set);
    if (!set.exact) {
        if (const std::optional<Vector> q = frictionless_near(set)) {
            set.contains_frictionless = true;
            set.frictionless = set.representative = *q;
            canonical(set);
        }
    }
    if (!set.contains_frictionless && set.samples.empty() && set.exact) set.samples.push_back(set.representative);
    constexpr std::size_t few = 16;
    for (std::size_t i = 0; i < std::min(few, set.boundary.size()); ++i)
        set.limits.push_back(limit_at(set.boundary[i]));
    const Balance b = manifold_.forces(set.representative);
    set.margin = b.margin;
    model_.move_to(set.representative);
    const Statics s = model_.statics(manifold_.closed());
    set.forces = reactions_of(s, plain_forces(s, b));
    set.potential_least = set.potential_greatest = model_.potential();
    const auto see = [&](const Vector& q) {
        model_.move_to(q);
        const double U = model_.potential();
        set.potential_least = std::min(set.potential_least, U);
        set.potential_greatest = std::max(set.potential_greatest, U);
    };
    for (const Vector& q : set.boundary) see(q);
    for (const Vector& q : set.samples) see(q);
}

}  // namespace saltus::stability
