// SPDX-License-Identifier: Apache-2.0
#include "saltus/stability/equilibria/equilibrium_along.hpp"

#include <algorithm>

#include "saltus/base/error.hpp"

namespace saltus::stability {

namespace {

/// The points in the order of a walk that starts at the first point and always goes on to the nearest one. Neighbouring
/// samples of a curve have one distance, so that the walk follows the curve.
std::vector<Vector> in_order(std::vector<Vector> points) {
    for (std::size_t k = 0; k + 1 < points.size(); ++k) {
        const auto next = std::min_element(points.begin() + static_cast<std::ptrdiff_t>(k) + 1, points.end(),
                                           [&](const Vector& a, const Vector& b) {
                                               return (a - points[k]).squaredNorm() < (b - points[k]).squaredNorm();
                                           });
        std::swap(points[k + 1], *next);
    }
    // Samples may repeat the ends.
    constexpr double same = 1e-12;
    const auto repeats = [](const Vector& a, const Vector& b) { return (a - b).norm() <= same * (1.0 + a.norm()); };
    points.erase(std::unique(points.begin(), points.end(), repeats), points.end());
    return points;
}

}  // namespace

std::vector<Vector> points_along(const EquilibriumSet& set, int count) {
    SALTUS_EXPECT(count >= 2);
    if (set.dimension != 1 || set.boundary.empty() || set.unbounded) return {};
    std::vector<Vector> points;
    if (set.shape == SetShape::interval && set.boundary.size() == 2) {
        const Vector &a = set.boundary[0], &b = set.boundary[1];
        for (int k = 0; k < count; ++k) points.emplace_back(a + (b - a) * (static_cast<double>(k) / (count - 1)));
        return points;
    }
    points.push_back(set.boundary.front());
    points.insert(points.end(), set.samples.begin(), set.samples.end());
    if (set.boundary.size() > 1) points.push_back(set.boundary.back());
    points = in_order(std::move(points));
    const auto n = points.size(), wanted = static_cast<std::size_t>(count);
    if (n <= wanted) return points;
    std::vector<Vector> chosen;
    for (std::size_t k = 0; k < wanted; ++k) chosen.push_back(points[k * (n - 1) / (wanted - 1)]);
    return chosen;
}

std::vector<EquilibriumPoint> forces_along(RestingModel& model, const std::vector<Vector>& points) {
    std::vector<EquilibriumPoint> list;
    for (const Vector& q : points) {
        EquilibriumPoint p = equilibrium_at(model, q);
        if (p.is_equilibrium) list.push_back(std::move(p));
    }
    return list;
}

std::vector<std::vector<EquilibriumPoint>> forces_along_curves(const model::Mechanics& model,
                                                               const std::vector<EquilibriumSet>& sets, double time,
                                                               const std::function<bool()>& stop) {
    constexpr std::size_t max_curves = 8;
    constexpr int points_of_curve = 33;
    std::vector<std::vector<EquilibriumPoint>> lists(sets.size());
    std::size_t curves = 0;
    for (std::size_t k = 0; k < sets.size(); ++k) {
        const std::vector<Vector> points = points_along(sets[k], points_of_curve);
        if (points.empty() || ++curves > max_curves || (stop && stop())) continue;
        RestingModel resting(model, time);
        lists[k] = forces_along(resting, points);
    }
    return lists;
}

}  // namespace saltus::stability
