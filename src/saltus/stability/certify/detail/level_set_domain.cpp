// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "saltus/stability/certify/detail/level_set.hpp"

namespace saltus::stability {

using namespace saltus::proof;
using Eigen::Index;

namespace {

constexpr double first_step = 1.0 / 64.0, far_away = 1e7;

/// β(c) = min { U(q) : q admissible, q_j = c } along one coordinate, followed from q_e outwards until it begins to
/// fall.
struct Ridge {
    bool found = false;  // otherwise it rises for ever, or nothing is admissible further out
    Vector q;            // where it is highest
};

/// The highest point between one from which β rises and one from which it falls.
Vector top(const Enclosure& e, int j, double sign, double low, HeldMinimum rising, double high, HeldMinimum falling) {
    for (int k = 0; k < 60 && std::fabs(high - low) > 1e-13 * (1.0 + std::fabs(low)); ++k) {
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

Ridge follow(const Enclosure& e, const Rest& rest, int j, double sign) {
    double c = rest.q(j), step = first_step * rest.scale[static_cast<std::size_t>(j)];
    HeldMinimum here{true, rest.q, expr::midpoint(e.potential(point_box(list_of(rest.q)))), 0.0};
    double slope = 0.0, bend = 0.0;  // of β outwards
    const double start = here.U;
    for (int k = 0; k < 400; ++k) {
        if (std::fabs(c - rest.q(j)) > far_away * rest.scale[static_cast<std::size_t>(j)]) return {};
        const HeldMinimum next = find_minimum_holding(e, list_of(here.q), j, c + sign * step);
        const double next_slope = sign * next.slope;
        // As a parabola goes on; where β does not, the step is shorter.
        const double foreseen = here.U + slope * step + 0.5 * bend * step * step;
        const double off = std::fabs(next.U - foreseen), size = std::fabs(next.U - start) + 1e-9;
        const bool strange = !next.found || (k > 0 && off > 0.2 * size);
        if (strange && step > 1e-6 * rest.scale[static_cast<std::size_t>(j)]) {
            step /= 4.0;
            continue;
        }
        if (!next.found) return {};
        if (next_slope < 0.0 && next.U > start) {
            if (slope > 0.0) return {true, top(e, j, sign, c, here, c + sign * step, next)};
            return {true, next.q};
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

Domain find_domain(const Enclosure& e, const Rest& rest) {
    Domain domain;
    domain.box = whole_space(static_cast<std::size_t>(e.size()));
    for (int j = 0; j < e.size(); ++j)
        for (const double sign : {-1.0, 1.0}) {
            const Ridge ridge = follow(e, rest, j, sign);
            if (!ridge.found) continue;
            // The highest point of the ridge's lowest path is stationary.
            const Rest saddle = find_stationary(e, list_of(ridge.q));
            const bool beyond = saddle.found && sign * (saddle.q(j) - rest.q(j)) > 1e-6 &&
                                (saddle.q - ridge.q).norm() < 1.0 + (ridge.q - rest.q).norm();
            const double side = beyond ? saddle.q(j) : ridge.q(j);
            Interval& x = domain.box[static_cast<std::size_t>(j)];
            x = sign < 0.0 ? Interval(side, x.hi) : Interval(x.lo, side);
            domain.faces.push_back({j, sign > 0.0, beyond ? saddle.q : ridge.q});
        }
    return domain;
}

LevelPart domain_level(const AdmissibleSet& set, const Rest& rest, const Domain& domain, long budget) {
    LevelPart part;
    for (const Domain::Face& face : domain.faces) {
        Box box = domain.box;
        Interval& side = box[static_cast<std::size_t>(face.coordinate)];
        side = Interval(face.upper ? side.hi : side.lo);
        const CoverMinimum least = least_level(set, {box}, rest.scale, budget, 1e-12);
        part.boxes += least.boxes;
        const double at = expr::midpoint(set.level(point_box(list_of(face.at))));
        if (least.lower < part.verified) {
            part.verified = least.lower;
            part.at = face.at;
        }
        part.value = std::min(part.value, std::fabs(at - least.lower) <= 1e-6 * std::fabs(at) ? at : least.lower);
        part.proved = part.proved && least.settled;
    }
    return part;
}

}  // namespace saltus::stability
