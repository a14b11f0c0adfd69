// SPDX-License-Identifier: Apache-2.0
#include "machine/reactions.hpp"

#include <algorithm>

namespace trials {

namespace {

// The reactions of a sticking contact form a cone, spanned by the rays (1, f) with f in C. The forces of a sticking
// slider form F_N·C, the combinations Σ z F_N f with Σ z = 1. The nearest point of the sum of all these sets is found
// by a growing list of rays: nonnegative least squares over the list, then one more ray for each element, the one that
// goes farthest into the direction of the residual. Each condition Σ z = 1 is an additional row of the least squares
// problem.

struct Group {
    std::size_t element = 0;
    Vector normal;                 ///< gradient of the gap; zero for sliders
    std::vector<Vector> tangents;  ///< gradients of the slip velocities
    double force = 1.0;            ///< of a slider
    std::size_t row = 0;           ///< of the condition Σ z = 1; 0 for contacts
};

Vector combined(const Group& group, const Vector& friction, std::size_t rows, double weight) {
    Vector column = group.normal;
    for (std::size_t i = 0; i < group.tangents.size(); ++i)
        column = plus(column, group.tangents[i], group.force * friction[i]);
    column.resize(rows, 0.0);
    if (group.row > 0) column[group.row] = weight;
    return column;
}

/// The ray of a group that goes farthest into a direction.
Vector best_ray(const Mechanics& mechanics, const Group& group, const Vector& direction, double weight) {
    Vector slip;
    for (const Vector& tangent : group.tangents) slip.push_back(dot(tangent, direction));
    return combined(group, mechanics.friction(group.element).farthest(slip), direction.size(), weight);
}

Explanation nearest(const Mechanics& mechanics, const Vector& target, const std::vector<Group>& groups,
                    std::vector<Vector> columns, double weight) {
    constexpr int max_rounds = 80;
    Explanation result;
    for (int round = 0; round < max_rounds && !result.converged; ++round) {
        const Vector z = nonnegative_least_squares(columns, target);
        Vector rest = target;
        for (std::size_t j = 0; j < columns.size(); ++j) rest = plus(rest, columns[j], -z[j]);
        result.residual = norm(rest);
        // The nearest point is found if no ray makes an acute angle with the residual.
        result.converged = true;
        if (result.residual < 1e-11 * weight) break;
        for (const Group& group : groups) {
            const Vector ray = best_ray(mechanics, group, rest, weight);
            if (dot(ray, rest) <= 1e-6 * norm(ray) * result.residual) continue;
            columns.push_back(ray);
            result.converged = false;
        }
    }
    return result;
}

}  // namespace

Explanation explain(const Mechanics& mechanics, const Point& at, const Vector& needed,
                    const std::vector<Phase>& phases) {
    const std::size_t n = mechanics.model().size(), contacts = mechanics.model().contacts.size();
    Vector target = needed;
    std::vector<Group> sticking;
    std::vector<Vector> fixed_rays;
    std::size_t rows = n;
    for (std::size_t e = 0; e < phases.size(); ++e) {
        if (phases[e] == Phase::open) continue;
        Group group;
        group.element = e;
        group.normal = e < contacts ? mechanics.gap_gradient(e, at) : Vector(n, 0.0);
        group.tangents = mechanics.slip_gradients(e, at);
        group.force = e < contacts ? 1.0 : mechanics.slider_force(e - contacts, at);
        if (phases[e] == Phase::sticking) {
            if (e >= contacts) group.row = rows++;
            sticking.push_back(group);
            continue;
        }
        Vector friction = mechanics.friction(e).farthest(mechanics.slip(e, at));
        for (double& f : friction) f = -f;
        const Vector ray = combined(group, friction, n, 0.0);
        if (e < contacts)
            fixed_rays.push_back(ray);
        else
            target = plus(target, ray, -1.0);
    }
    const double weight = 1.0 + norm(target);
    target.resize(rows, 0.0);
    for (const Group& group : sticking)
        if (group.row > 0) target[group.row] = weight;
    std::vector<Vector> columns;
    for (Vector ray : fixed_rays) {
        ray.resize(rows, 0.0);
        columns.push_back(ray);
    }
    for (const Group& group : sticking)
        columns.push_back(combined(group, Vector(group.tangents.size(), 0.0), rows, weight));
    return nearest(mechanics, target, sticking, columns, weight);
}

}  // namespace trials
