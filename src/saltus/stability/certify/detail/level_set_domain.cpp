// SPDX-License-Identifier: Apache-2.0
//
// The domain of low levels. Along one coordinate j let β(c) = min { U(q) : q admissible, q_j = c }. A connected set of
// admissible positions that contains q_e and a point beyond the plane q_j = c crosses the plane, so that it has a point
// with U >= β(c). The plane with the largest β is the best face. β is largest at a saddle of U: there the slope
// β'(c), which is the multiplier of the held coordinate, changes its sign.
//
// Only `domain_level` is a proof. `find_domain` and `bounded_domain` choose the planes by computation; any choice would
// be valid.
#include <algorithm>
#include <cmath>

#include "saltus/stability/certify/detail/level_set.hpp"

namespace saltus::stability {

using namespace saltus::proof;
using Eigen::Index;

namespace {

/// β is followed from q_e outwards. Steps and distances are relative to the scale of the coordinate.
constexpr double first_step = 1.0 / 64.0;  // doubled after each accepted step
constexpr double farthest = 1e7;           // no face beyond
constexpr double smallest_step = 1e-6;     // a rejected step is not shortened below
constexpr double blocked_distance = 4e-6;  // from the last admissible position to a face where nothing is admissible
constexpr int max_steps = 400;
/// A step is rejected if β differs from the parabola that continues it by more than this fraction of its rise (plus
/// `rise_floor`): the minimum jumped to another valley.
constexpr double accepted_deviation = 0.2, rise_floor = 1e-9;
/// Bisection of the top of β: until the ends differ by this fraction of 1 + |c|.
constexpr int max_saddle_bisections = 60;
constexpr double saddle_bisection_tolerance = 1e-13;
/// A saddle is used only if it lies beyond q_e by this distance along the coordinate.
constexpr double saddle_distance = 1e-6;
/// The least level of a face is bounded to this relative tolerance. The computed level of its lowest point replaces
/// the bound in reports if both agree to `same_saddle_ratio`.
constexpr double saddle_face_tolerance = 1e-12, same_saddle_ratio = 1e-6;

/// `bounded_domain`: the radius r of the boxes grows from first to last by the factor `radius_growth`, until the level
/// of the faces has fallen below given_up_ratio times the best one. Around the best radius it is varied by the finer
/// factor.
constexpr double first_radius = 0x1p-10, last_radius = 0x1p24, radius_growth = 2.0, given_up_ratio = 0.25;
constexpr double fine_growth = 1.0905077326652577;  // 2^(1/8)
constexpr int fine_steps = 7;
/// The least level of a face of such a box: relative tolerance and number of boxes.
constexpr double box_tolerance = 1e-3;
constexpr long max_face_boxes = 300;
/// A shape is at most this much longer along one coordinate than along another.
constexpr double largest_elongation = 1e6;

/// The position where β has its first local maximum.
struct Ridge {
    bool found = false;    // false: β rises as far as it was followed, or nothing is admissible further out
    bool blocked = false;  // nothing is admissible further out than q
    Vector q;
};

/// The top of β between a position from which it rises and one from which it falls, by bisection of the slope.
Vector top_between(const Enclosure& e, int j, double sign, double low, HeldMinimum rising, double high,
                   HeldMinimum falling) {
    for (int k = 0;
         k < max_saddle_bisections && std::fabs(high - low) > saddle_bisection_tolerance * (1.0 + std::fabs(low));
         ++k) {
        const double c = 0.5 * (low + high);
        const HeldMinimum middle = find_minimum_holding(e, list_of(rising.q), j, c);
        if (!middle.found) break;
        if (sign * middle.slope > 0.0) {
            low = c;
            rising = middle;
        } else {
            high = c;
            falling = middle;
        }
    }
    return rising.U > falling.U ? rising.q : falling.q;
}

/// Follows β from q_e along coordinate j in the direction `sign`.
Ridge follow_valley(const Enclosure& e, const StationaryPoint& equilibrium, int j, double sign) {
    double c = equilibrium.q(j), step = first_step * equilibrium.scale[static_cast<std::size_t>(j)];
    HeldMinimum here{true, equilibrium.q, expr::midpoint(e.potential(point_box(list_of(equilibrium.q)))), 0.0};
    double slope = 0.0, bend = 0.0;  // first and second derivative of β in the outward direction
    const double start = here.U;
    for (int k = 0; k < max_steps; ++k) {
        if (std::fabs(c - equilibrium.q(j)) > farthest * equilibrium.scale[static_cast<std::size_t>(j)]) return {};
        const HeldMinimum next = find_minimum_holding(e, list_of(here.q), j, c + sign * step);
        const double next_slope = sign * next.slope;
        const double foreseen = here.U + slope * step + 0.5 * bend * step * step;
        const double deviation = std::fabs(next.U - foreseen), size = std::fabs(next.U - start) + rise_floor;
        const bool rejected = !next.found || (k > 0 && deviation > accepted_deviation * size);
        if (rejected && step > smallest_step * equilibrium.scale[static_cast<std::size_t>(j)]) {
            step /= 4.0;
            continue;
        }
        if (!next.found) {
            Vector beyond = here.q;
            beyond(j) = c + sign * blocked_distance * equilibrium.scale[static_cast<std::size_t>(j)];
            return {false, true, beyond};
        }
        if (next_slope < 0.0 && next.U > start) {
            if (slope > 0.0) return {true, false, top_between(e, j, sign, c, here, c + sign * step, next)};
            return {true, false, next.q};
        }
        bend = (next_slope - slope) / step;
        slope = next_slope;
        here = next;
        c += sign * step;
        step *= 2.0;
    }
    return {};
}

}  // namespace

LevelDomain with_blocked_faces(LevelDomain domain) {
    for (const LevelDomain::Face& face : domain.blocked) {
        Interval& x = domain.box[static_cast<std::size_t>(face.coordinate)];
        const double side = face.at(face.coordinate);
        x = face.upper ? Interval(x.lo, std::min(x.hi, side)) : Interval(std::max(x.lo, side), x.hi);
        domain.faces.push_back(face);
    }
    domain.blocked.clear();
    return domain;
}

LevelDomain find_domain(const Enclosure& e, const StationaryPoint& equilibrium) {
    LevelDomain domain;
    domain.box = whole_space(static_cast<std::size_t>(e.size()));
    for (int j = 0; j < e.size(); ++j)
        for (const double sign : {-1.0, 1.0}) {
            const Ridge ridge = follow_valley(e, equilibrium, j, sign);
            if (ridge.blocked) domain.blocked.push_back({j, sign > 0.0, ridge.q});
            if (!ridge.found) continue;
            // The top of β is a stationary point of U on the admissible positions; Newton's method sharpens it.
            const StationaryPoint saddle = find_stationary(e, list_of(ridge.q));
            const bool beyond = saddle.found && sign * (saddle.q(j) - equilibrium.q(j)) > saddle_distance &&
                                (saddle.q - ridge.q).norm() < 1.0 + (ridge.q - equilibrium.q).norm();
            const double side = beyond ? saddle.q(j) : ridge.q(j);
            Interval& x = domain.box[static_cast<std::size_t>(j)];
            x = sign < 0.0 ? Interval(side, x.hi) : Interval(x.lo, side);
            domain.faces.push_back({j, sign > 0.0, beyond ? saddle.q : ridge.q});
        }
    return domain;
}

namespace {

/// The steps along the coordinates that cost the same energy ½Hs² + |g|s at q_e, relative to the shortest of them.
std::vector<double> shape_of_levels(const Enclosure& e, const StationaryPoint& equilibrium) {
    const Box at = point_box(list_of(equilibrium.q));
    const IntervalVector gradient = e.gradient(at);
    const Matrix H = e.hessian(at).middle();
    std::vector<double> steps;
    for (int k = 0; k < e.size(); ++k) {
        const double g = std::fabs(expr::midpoint(gradient[static_cast<std::size_t>(k)]));
        const double stiffness = std::max(H(k, k), 0.0), energy = 1.0;
        // The positive root of ½Hs² + gs = energy, in the form that exists for H = 0 too.
        const double s = 2.0 * energy / (g + std::sqrt(g * g + 2.0 * stiffness * energy));
        steps.push_back(std::isfinite(s) ? s : 1.0);
    }
    const double shortest = *std::min_element(steps.begin(), steps.end());
    for (double& s : steps) s = std::min(s / shortest, largest_elongation);
    return steps;
}

/// A box and the least level of its faces, computed with few boxes.
struct Candidate {
    LevelDomain domain;
    double level = 0.0;
};

Candidate box_of_radius(const AdmissibleSet& set, const StationaryPoint& equilibrium, const LevelDomain& outer,
                        const std::vector<double>& shape, double radius) {
    Candidate c{outer, Interval::infinity};
    for (std::size_t k = 0; k < shape.size(); ++k) {
        const double q = equilibrium.q(static_cast<Index>(k)), r = radius * shape[k];
        c.domain.box[k] = intersection(outer.box[k], Interval(q - r, q + r)).value_or(outer.box[k]);
    }
    c.domain.faces.clear();
    for (std::size_t k = 0; k < shape.size(); ++k)
        for (const bool upper : {false, true}) {
            Box face = c.domain.box;
            face[k] = Interval(upper ? face[k].hi : face[k].lo);
            const CoverMinimum least = least_level(set, {face}, equilibrium.scale, max_face_boxes, box_tolerance);
            c.level = std::min(c.level, least.lower);
            Vector at = equilibrium.q;
            if (!least.box.empty()) {
                const std::vector<double> lowest = centre(least.box);
                at = Eigen::Map<const Vector>(lowest.data(), static_cast<Index>(lowest.size()));
            }
            c.domain.faces.push_back({static_cast<int>(k), upper, at});
        }
    return c;
}

}  // namespace

LevelDomain bounded_domain(const AdmissibleSet& set, const StationaryPoint& equilibrium, const LevelDomain& outer) {
    const std::vector<double> shape = shape_of_levels(set.enclosure(), equilibrium);
    Candidate best;
    double best_radius = 0.0;
    const auto consider = [&](double radius) {
        Candidate c = box_of_radius(set, equilibrium, outer, shape, radius);
        const double level = c.level;
        if (level > best.level) {
            best = std::move(c);
            best_radius = radius;
        }
        return level;
    };
    for (double radius = first_radius; radius < last_radius && !set.stopped(); radius *= radius_growth)
        if (consider(radius) < given_up_ratio * best.level || best.level == Interval::infinity) break;
    if (!(best.level > 0.0)) return outer;
    const double coarse = best_radius;
    for (int k = 1; k <= fine_steps && best.level < Interval::infinity && !set.stopped(); ++k)
        for (const double factor : {std::pow(fine_growth, k), std::pow(fine_growth, -k)}) consider(coarse * factor);
    return best.domain;
}

LevelPart domain_level(const AdmissibleSet& set, const StationaryPoint& equilibrium, const LevelDomain& domain,
                       long budget) {
    LevelPart part;
    for (const LevelDomain::Face& face : domain.faces) {
        Box box = domain.box;
        Interval& side = box[static_cast<std::size_t>(face.coordinate)];
        side = Interval(face.upper ? side.hi : side.lo);
        const CoverMinimum least = least_level(set, {box}, equilibrium.scale, budget, saddle_face_tolerance);
        part.boxes += least.boxes;
        const double at = expr::midpoint(set.level(point_box(list_of(face.at))));
        if (least.lower < part.verified) {
            part.verified = least.lower;
            part.at = face.at;
        }
        part.value =
            std::min(part.value, std::fabs(at - least.lower) <= same_saddle_ratio * std::fabs(at) ? at : least.lower);
        part.proved = part.proved && least.settled;
    }
    return part;
}

}  // namespace saltus::stability
