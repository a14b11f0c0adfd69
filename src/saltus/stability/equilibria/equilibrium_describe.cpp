// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "saltus/base/decompositions.hpp"
#include "saltus/base/linalg.hpp"
#include "saltus/base/numbers.hpp"
#include "saltus/model/mechanics.hpp"
#include "saltus/stability/equilibria/detail/equilibrium_algebra.hpp"
#include "saltus/stability/equilibria/detail/equilibrium_cover.hpp"
#include "saltus/stability/equilibria/detail/equilibrium_periods.hpp"
#include "saltus/stability/equilibria/detail/equilibrium_polytope.hpp"
#include "saltus/stability/equilibria/detail/equilibrium_search.hpp"
#include "saltus/stability/equilibria/equilibrium_point.hpp"

namespace saltus::stability {

namespace {

using Index = Eigen::Index;

// Lengths are in units of 1 + |q_i| and depths as RestingManifold::depth, unless said otherwise.

// Accuracy of the extents, by the kind of the end (EquilibriumSet::tolerance).
constexpr double accuracy_of_roots = 1e-10;  ///< points and boundaries that were located as roots
constexpr double accuracy_of_singular_end = 1e-7, accuracy_of_other_ends = 1e-8;
/// Along a round boundary a program cannot distinguish smaller gains.
constexpr double accuracy_of_programs = 1e-8;

constexpr double spacing_of_point = 1e-7;    ///< EquilibriumSet::spacing of a single point
constexpr double moving_coordinate = 1e-3;   ///< a coordinate goes to infinity if |tangent_i| is at least this
constexpr double least_growth = 0.05;        ///< exponent of a coordinate that grows with the largest one
constexpr double neutral_coordinate = 1e-9;  ///< a coordinate is shifted if its row of `neutral` is longer
constexpr double far_away = 30.0;            ///< an endless region further than this has no end
/// Steps to the ends of a region are short, because it may be curved.
constexpr RestingManifold::SettleOptions extent_options{
    .radius = 0.02, .largest = 0.1, .smallest = 1e-10, .max_steps = 400};  // lengths in 1 + |q_i|

// Search for an interior point.
constexpr int max_inward_steps = 60;
constexpr double first_inward_step = 0.05, shortest_inward_step = 1e-6;
constexpr double sufficient_depth = 0.3;  ///< the search stops there
constexpr double negligible_gain = 1e-9;  ///< of depth

// What ends a set.
constexpr double closed_at_limit = 1e-7;  ///< a contact closes there if |g_N| is at most this, relative
constexpr double jamming_forces = 1e4;    ///< forces larger than this times Statics::size jam
constexpr double vanishing_force = 1e-6;  ///< of the force size of an element: it opens there
constexpr double nearly_slipping = 1e-6;  ///< friction slips if it is outside the body of (1 − this)·load
constexpr double penetration = 1e-9;      ///< a relative gap below −penetration is inadmissible
constexpr std::size_t max_limits = 16;    ///< points of the boundary whose SetLimit is determined

constexpr double narrow_width = 1e-6;              ///< of a curve that may be a single degenerate position
constexpr std::size_t max_stability_samples = 16;  ///< positions of a set at which the stability is compared

constexpr double whole_period = 1.0 - 1e-9;      ///< an extent of this part of a period is the whole period
constexpr double negligible_width = 1e-13;       ///< a smaller extent in 1 + |q_i| is rounding
constexpr double negligible_coordinate = 1e-15;  ///< smaller coordinates are set to 0
constexpr std::size_t frictionless_starts = 12;  ///< samples from which a frictionless position is searched

/// Whether coordinate i goes to infinity with the fastest one at the end q of an endless curve, along the direction
/// `outward` in units of 1 + |q_k|. With q_i ~ L^p, L the largest coordinate, p = (dq_i/q_i)/(dL/L). An
/// endless curve is so long that a coordinate that grows is larger than 1.
bool grows(const Vector& q, const Vector& outward, Index i) {
    const auto rate = [&](Index k) {  // of ln|q_k|
        return std::abs(q(k)) > 0.0 ? outward(k) * (1.0 + std::abs(q(k))) / q(k) : 0.0;
    };
    double fastest = 0.0, largest = 0.0;
    for (Index k = 0; k < q.size(); ++k)
        if (std::abs(q(k)) >= largest) {
            largest = std::abs(q(k));
            fastest = rate(k);
        }
    return fastest <= 0.0 || (std::abs(q(i)) >= 1.0 && rate(i) >= least_growth * fastest);
}

}  // namespace

void CombinationSearch::add(EquilibriumSet set, std::optional<Curve> curve) {
    sets_.push_back(std::move(set));
    curves_.push_back(std::move(curve));
    finish(sets_.back());
    components_.push_back(component_at(sets_.back().representative));
}

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
    for (const EquilibriumSet& set : found.sets()) add(set);
    return true;
}

void CombinationSearch::describe_curve(const RestPoint& from) {
    CurveOptions options;
    options.periods = periods_;
    Curve c = trace(manifold_, from, options);
    if (c.samples.empty()) return;
    // The curve is traced again from its deepest point. The first start may lie on the boundary, where the depth does
    // not tell whether the set has an interior.
    const auto deepest = std::max_element(c.samples.begin(), c.samples.end(),
                                          [](const auto& a, const auto& b) { return a.depth < b.depth; });
    const RestPoint middle = deepest->point;
    const std::vector<Vector> seen = c.beyond;
    if (!c.closed && deepest->depth > significant_depth) c = trace(manifold_, middle, options);
    pending_.insert(pending_.end(), seen.begin(), seen.end());
    pending_.insert(pending_.end(), c.beyond.begin(), c.beyond.end());

    EquilibriumSet set;
    set.closed = manifold_.closed();
    set.dimension = 1;
    set.shape = SetShape::curve;
    set.tolerance = accuracy_of_roots;
    for (const Curve::End end : {c.first, c.last})
        if (!c.closed && end != Curve::End::boundary)
            set.tolerance = end == Curve::End::singular ? accuracy_of_singular_end : accuracy_of_other_ends;
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
            // Coordinates that still grow at that end have no bound. One that still changes but does not grow with the
            // others (y = 1/x) has a limit, which lies beyond the last sample by about its change.
            const Vector outward = (first ? -1.0 : 1.0) * s.tangent;
            for (Index i = 0; i < n; ++i) {
                if (std::abs(outward(i)) < moving_coordinate) continue;
                if (grows(s.point.q, outward, i))
                    (outward(i) > 0.0 ? set.upper : set.lower)(i) = outward(i) > 0.0 ? infinity : -infinity;
                else
                    set.tolerance = std::max(set.tolerance, std::abs(outward(i)));
            }
        } else {
            set.boundary.push_back(s.point.q);
        }
    }
    add(std::move(set), std::move(c));
}

/// A set of two and more dimensions: a cover by points, and the extents by sequential linear programs from the
/// outermost of them.
void CombinationSearch::describe_region(const RestPoint& seed, const Matrix& T) {
    if (T.cols() == 0) return describe_point(seed);
    EquilibriumSet set;
    set.closed = manifold_.closed();
    set.dimension = static_cast<int>(T.cols());
    set.shape = SetShape::region;
    set.tolerance = accuracy_of_programs;
    const Index n = manifold_.size();
    RestPoint from = seed;
    move_inwards(from, T);
    const Cover c = cover(manifold_, from, {.periods = periods_});
    set.representative = from.q;
    set.around = c.around;
    set.lower = set.upper = from.q;
    for (const RestPoint& p : c.points) set.samples.push_back(p.q);
    set.boundary = c.boundary;
    for (const Vector& q : c.boundary) set.samples.push_back(q);
    set.spacing = 1.5 * c.spacing * c.measure.cwiseQuotient(manifold_.unit(from.q)).maxCoeff();
    for (Index i = 0; i < n; ++i) {
        if (set.around[static_cast<std::size_t>(i)] != 0 || manifold_.must_stop()) continue;
        if (manifold_.neutral.cols() > 0 && manifold_.neutral.row(i).norm() > neutral_coordinate) continue;
        extend_region(set, c, from.q, i);
    }
    if (!c.complete || manifold_.must_stop()) set.tolerance = std::max(set.tolerance, set.spacing);
    add(std::move(set));
}

/// Newton's method for a point near p at which coordinate i has an extremum on the manifold: the projection of its unit
/// vector onto the tangents vanishes there. Sequential linear programs come close to such points, but slowly, because
/// nothing but the curvature ends their steps. False, with p as it was, if there is none.
bool CombinationSearch::reach_turning_point(RestPoint& p, Index i) {
    constexpr int max_rounds = 8;
    constexpr double difference = 1e-5, steady_slope = 1e-7, longest_step = 0.05, parallel = 1e-9;
    const Vector unit = manifold_.unit(p.q);
    const auto basis = [&](const RestPoint& at) {
        return orthonormal_range(unit.cwiseInverse().asDiagonal() * manifold_.tangent(at), parallel);
    };
    RestPoint at = p;
    for (int round = 0; round < max_rounds && !manifold_.must_stop(); ++round) {
        const Matrix T = basis(at);
        const Vector slope = T.row(i).transpose();
        if (slope.norm() <= steady_slope) {
            p = at;
            return true;
        }
        Matrix change(T.cols(), T.cols());
        for (Index j = 0; j < T.cols(); ++j) {
            RestPoint beside = manifold_.at(at.q + difference * T.col(j).cwiseProduct(unit));
            if (!manifold_.correct(beside)) return false;
            const Matrix other = basis(beside);
            if (other.cols() != T.cols()) return false;
            change.col(j) = (T.transpose() * (other * other.row(i).transpose()) - slope) / difference;
        }
        const Vector step = -least_squares(change, slope, parallel);
        if (!step.allFinite() || step.norm() > longest_step) return false;
        at = manifold_.at(at.q + (T * step).cwiseProduct(unit));
        if (!manifold_.correct(at)) return false;
    }
    return false;
}

void CombinationSearch::extend_region(EquilibriumSet& set, const Cover& c, const Vector& from, Index i) {
    for (const double side : {1.0, -1.0}) {
        const auto outermost =
            std::min_element(set.samples.begin(), set.samples.end(),
                             [&](const Vector& a, const Vector& b) { return side * a(i) < side * b(i); });
        RestPoint p = manifold_.at(*outermost);
        double end = (*outermost)(i);
        const Vector outward = side * Vector::Unit(manifold_.size(), i);
        const bool settled = manifold_.settle(p, outward, extent_options);
        // An extremum of the coordinate in the interior of the set (the bottom of a bowl) is no boundary point.
        const bool interior = settled && manifold_.depth(p.q) > significant_depth;
        const bool found = interior ? reach_turning_point(p, i) : settled;
        if (settled && side * p.q(i) < side * end) {
            end = p.q(i);
            if (!interior) set.boundary.push_back(p.q);
        }
        if (!found) set.tolerance = std::max(set.tolerance, set.spacing);
        if (c.endless[static_cast<std::size_t>(i)] != 0 && std::abs(end - from(i)) > far_away) {
            end = -side * infinity;
            set.unbounded = true;
        }
        (side > 0.0 ? set.lower : set.upper)(i) = end;
    }
}

/// A single position, or a plane of them if the model has neutral directions.
void CombinationSearch::describe_point(const RestPoint& p) {
    EquilibriumSet set;
    set.closed = manifold_.closed();
    set.shape = manifold_.neutral.cols() > 0 ? SetShape::plane : SetShape::point;
    set.tolerance = accuracy_of_roots;
    set.representative = set.lower = set.upper = p.q;
    set.around.assign(static_cast<std::size_t>(manifold_.size()), 0);
    set.samples = {p.q};
    set.spacing = spacing_of_point;
    add(std::move(set));
}

/// Coordinate search for a larger depth: steps along the tangents in turn, halved if none of them helps.
void CombinationSearch::move_inwards(RestPoint& p, const Matrix& T) {
    double depth = manifold_.depth(p.q), step = first_inward_step;
    for (int round = 0; round < max_inward_steps && step > shortest_inward_step; ++round) {
        const Index j = round % T.cols();
        bool better = false;
        for (const double side : {1.0, -1.0}) {
            RestPoint next = manifold_.at(p.q + side * step * T.col(j));
            if (!manifold_.correct(next)) continue;
            const double value = manifold_.depth(next.q);
            if (value <= depth + negligible_gain) continue;
            depth = value;
            p = std::move(next);
            better = true;
            break;
        }
        if (!better && j == T.cols() - 1) step *= 0.5;
        if (depth > sufficient_depth) break;
    }
}

SetLimit CombinationSearch::limit_at(const Vector& q) {
    SetLimit limit;
    limit.q = q;
    model_.move_to(q);
    const model::Mechanics& m = model_.model();
    for (std::size_t i = 0; i < m.contacts.size(); ++i)
        if (manifold_.closed()[i] == 0 && model_.closed(i, closed_at_limit))
            limit.closes.push_back(static_cast<int>(i));
    const Statics s = model_.statics(manifold_.closed());
    limit.jams = manifold_.force_size(q) > jamming_forces;
    if (limit.jams) return limit;
    const Balance b = balance(s);
    if (b.lambda.size() != s.W.cols() || b.margin > significant_depth) return limit;
    for (const RestingElement& e : s.elements) {
        double load = e.load;
        if (e.normal >= 0) {
            const double size = s.size / std::max(smallest_divisor, s.W.col(e.normal).cwiseQuotient(s.scale).norm());
            load = std::abs(b.lambda(e.normal));
            if (!e.free() && load <= vanishing_force * size) limit.opens.push_back(e.element);
            if (load <= vanishing_force * size) continue;
        }
        if (e.body.empty() || e.sliding.size() > 0) continue;
        const Vector f = b.lambda.segment(e.slip, e.body.dimension);
        if (!e.body.contains({f.data(), static_cast<std::size_t>(f.size())}, load * (1.0 - nearly_slipping), 0.0))
            limit.slips.push_back(e.element);
    }
    return limit;
}

/// Searches from the representative and some samples of the set that was added last.
std::optional<Vector> CombinationSearch::frictionless_near(const EquilibriumSet& set) {
    const std::size_t k = sets_.size() - 1;
    std::vector<Vector> starts{set.representative};
    const std::size_t every = std::max<std::size_t>(1, set.samples.size() / frictionless_starts);
    for (std::size_t i = 0; i < set.samples.size(); i += every) starts.push_back(set.samples[i]);
    for (const Vector& start : starts) {
        RestPoint p = manifold_.at(start);
        if (!manifold_.settle_without_friction(p)) continue;
        if (manifold_.least_gap(p.q).value < -penetration || !in_set(k, p.q)) continue;
        return nearest_copy(periods_, p.q, set.representative);
    }
    return {};
}

void CombinationSearch::shift_to_first_copy(EquilibriumSet& set) const {
    const Vector shift = first_copy(periods_, set.representative) - set.representative;
    for (Vector* const v : {&set.representative, &set.origin, &set.frictionless, &set.lower, &set.upper})
        if (v->size() > 0) *v += shift;
    for (Vector& v : set.boundary) v += shift;
    for (Vector& v : set.samples) v += shift;
    for (SetLimit& l : set.limits) l.q += shift;
    for (std::size_t i = 0; i < periods_.size(); ++i) {
        const auto k = static_cast<Index>(i);
        if (set.around[i] == 0 && periods_[i] > 0.0 && set.upper(k) - set.lower(k) >= periods_[i] * whole_period)
            set.around[i] = 1;
        if (set.around[i] == 0) continue;
        set.lower(k) = -0.5 * periods_[i];
        set.upper(k) = 0.5 * periods_[i];
    }
}

/// Coordinates along which the model may be shifted have no bound. Exact sets contain these directions already.
void CombinationSearch::widen_along_neutral(EquilibriumSet& set) const {
    if (set.exact || manifold_.neutral.cols() == 0) return;
    set.dimension += static_cast<int>(manifold_.neutral.cols());
    for (Index i = 0; i < set.lower.size(); ++i)
        if (manifold_.neutral.row(i).norm() > neutral_coordinate) {
            set.lower(i) = -infinity;
            set.upper(i) = infinity;
        }
}

/// Completes a set: removes rounding, chooses its copy, and fills in the frictionless position, limits, forces and
/// potential energy.
void CombinationSearch::finish(EquilibriumSet& set) {
    const auto n = static_cast<std::size_t>(manifold_.size());
    if (set.around.empty()) set.around.assign(n, 0);
    widen_along_neutral(set);
    for (Index i = 0; i < set.lower.size(); ++i)
        if (std::isfinite(set.lower(i)) &&
            set.upper(i) - set.lower(i) <= negligible_width * (1.0 + std::abs(set.lower(i))))
            set.lower(i) = set.upper(i) = set.representative(i);
    // Friction holds it in one position only, or U has a degenerate minimum: U = x⁴ has forces that are smaller than
    // their rounding errors around x = 0.
    if (set.shape == SetShape::curve &&
        (set.lower == set.upper ||
         (narrow(set) && local_stability(model_, manifold_.closed(), set.representative, 0)))) {
        set.shape = SetShape::point;
        set.dimension -= 1;
        set.boundary.clear();
    }
    for (Vector* const v : {&set.lower, &set.upper, &set.representative, &set.frictionless})
        for (Index i = 0; i < v->size(); ++i)
            if (std::abs((*v)(i)) <= negligible_coordinate) (*v)(i) = 0.0;
    shift_to_first_copy(set);
    if (!set.exact) {
        if (const std::optional<Vector> q = frictionless_near(set)) {
            set.contains_frictionless = true;
            set.frictionless = set.representative = *q;
            shift_to_first_copy(set);
        }
    }
    if (!set.contains_frictionless && set.samples.empty() && set.exact) set.samples.push_back(set.representative);
    for (std::size_t i = 0; i < std::min(max_limits, set.boundary.size()); ++i)
        set.limits.push_back(limit_at(set.boundary[i]));
    const Balance b = manifold_.forces(set.representative);
    set.margin = b.margin;
    model_.move_to(set.representative);
    const Statics s = model_.statics(manifold_.closed());
    // With friction near the smallest numbers the balance may have no solution: the set then has no forces to show.
    if (const Vector lambda = plain_forces(s, b); static_cast<std::size_t>(lambda.size()) == s.columns.size())
        set.forces = reactions_of(model_, s, lambda);
    set.potential_least = set.potential_greatest = model_.potential();
    const auto see = [&](const Vector& q) {
        model_.move_to(q);
        const double U = model_.potential();
        set.potential_least = std::min(set.potential_least, U);
        set.potential_greatest = std::max(set.potential_greatest, U);
    };
    for (const Vector& q : set.boundary) see(q);
    for (const Vector& q : set.samples) see(q);
    set.stability = local_stability(model_, manifold_.closed(), set.representative, set.dimension);
    if (set.stability && set.dimension > 0 && !stability_is_common(set)) {
        set.stability->verdict = LocalVerdict::undecided;
        set.stability->morse_index = -1;
    }
}

bool CombinationSearch::narrow(const EquilibriumSet& set) const {
    const Vector width = set.upper - set.lower;
    return !set.unbounded && width.allFinite() &&
           (width.cwiseQuotient(manifold_.unit(set.representative)).array() <= narrow_width).all();
}

bool CombinationSearch::stability_is_common(const EquilibriumSet& set) {
    const std::size_t every = 1 + set.samples.size() / max_stability_samples;
    for (std::size_t i = 0; i < set.samples.size(); i += every) {
        const auto there = local_stability(model_, manifold_.closed(), set.samples[i], set.dimension);
        if (!there || there->verdict != set.stability->verdict || there->morse_index != set.stability->morse_index)
            return false;
    }
    return true;
}

}  // namespace saltus::stability
