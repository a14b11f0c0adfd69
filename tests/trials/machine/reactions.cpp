// SPDX-License-Identifier: Apache-2.0
#include "machine/reactions.hpp"

#include <algorithm>

namespace trials {

namespace {

// The reactions of a sticking contact form a cone, spanned by the rays (1, f) with f in C. The forces of a sticking
// slider form F_N·C, the combinations Σ z F_N f with Σ z = 1. The nearest point of the sum of all these sets is found
// by a growing list of rays: nonnegative least squares over the list, then one more ray for each element, the one that
// goes farthest into the direction of the residual. Each condition Σ z = 1 is an additional row of the least squares
// problem. A constraint with friction is a contact whose normal has either sign: all combinations of signs are tried.

struct Group {
    std::size_t element = 0;
    FrictionLaw law;               ///< of the parts that stick
    Vector normal;                 ///< direction of the normal force; zero for sliders
    std::vector<Vector> tangents;  ///< gradients of the slip velocities
    double force = 1.0;            ///< of a slider
    std::size_t row = 0;           ///< of the condition Σ z = 1; 0 for others
    Vector sliding;                ///< friction of the parts that slide, per normal force; 0 for the others
    std::vector<char> free;        ///< components of friction that stick
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
Vector best_ray(const Group& group, const Vector& direction, double weight) {
    Vector slip;
    for (std::size_t i = 0; i < group.tangents.size(); ++i)
        slip.push_back(group.free[i] != 0 ? dot(group.tangents[i], direction) : 0.0);
    return combined(group, plus(group.law.farthest(slip), group.sliding), direction.size(), weight);
}

Explanation nearest(const Vector& target, const std::vector<Group>& groups, std::vector<Vector> columns,
                    double weight) {
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
            if (std::ranges::none_of(group.free, [](char free) { return free != 0; })) continue;
            const Vector ray = best_ray(group, rest, weight);
            if (dot(ray, rest) <= 1e-6 * norm(ray) * result.residual) continue;
            columns.push_back(ray);
            result.converged = false;
        }
    }
    return result;
}

/// An element that is not open, with a normal of the given sign.
Group group_of(const Mechanics& mechanics, std::size_t element, const Point& at, Phase phase, double still,
               double sign) {
    Group group;
    group.element = element;
    const FrictionLaw law = mechanics.friction(element, at);
    group.law = law.at_rest();
    group.normal = mechanics.gap_gradient(element, at);
    for (double& value : group.normal) value *= sign;
    group.tangents = mechanics.slip_gradients(element, at);
    if (mechanics.sort(element) == Mechanics::Sort::slider)
        group.force = mechanics.slider_force(mechanics.number(element), at);
    const Vector slip = mechanics.slip(element, at);
    group.sliding.assign(slip.size(), 0.0);
    group.free.assign(slip.size(), 0);
    for (const FrictionLaw::Part& part : law.parts()) {
        Vector own(slip.size(), 0.0);
        for (std::size_t i = part.first; i < part.first + part.count; ++i) own[i] = slip[i];
        const bool sticks = phase == Phase::sticking || norm(own) <= still;
        const Vector friction = law.farthest(own);
        for (std::size_t i = part.first; i < part.first + part.count; ++i) {
            group.free[i] = sticks ? 1 : 0;
            group.sliding[i] = sticks ? 0.0 : -friction[i];
        }
    }
    return group;
}

Explanation nearest_of(const Mechanics& mechanics, const Vector& needed, std::vector<Group> groups) {
    std::size_t rows = needed.size();
    for (Group& group : groups)
        if (mechanics.sort(group.element) == Mechanics::Sort::slider) group.row = rows++;
    Vector target = needed;
    const double weight = 1.0 + norm(target);
    target.resize(rows, 0.0);
    std::vector<Vector> columns;
    for (const Group& group : groups) {
        if (group.row > 0) target[group.row] = weight;
        columns.push_back(combined(group, group.sliding, rows, weight));
        // Constraints without friction push and pull.
        if (mechanics.sort(group.element) != Mechanics::Sort::constraint || !group.tangents.empty()) continue;
        for (double& value : columns.emplace_back(columns.back())) value = -value;
    }
    return nearest(target, groups, columns, weight);
}

}  // namespace

Explanation explain(const Mechanics& mechanics, const Point& at, const Vector& needed, const std::vector<Phase>& phases,
                    double still) {
    std::vector<std::size_t> signed_elements;  // constraints with friction
    for (std::size_t e = 0; e < phases.size(); ++e)
        if (mechanics.sort(e) == Mechanics::Sort::constraint && mechanics.friction(e).directions() > 0)
            signed_elements.push_back(e);
    Explanation best;
    for (std::size_t signs = 0; signs < (std::size_t{1} << signed_elements.size()); ++signs) {
        std::vector<Group> groups;
        for (std::size_t e = 0; e < phases.size(); ++e) {
            if (phases[e] == Phase::open) continue;
            const auto found = std::ranges::find(signed_elements, e);
            const auto bit = static_cast<std::size_t>(found - signed_elements.begin());
            const bool turned = found != signed_elements.end() && (signs >> bit & 1U) != 0;
            groups.push_back(group_of(mechanics, e, at, phases[e], still, turned ? -1.0 : 1.0));
        }
        const Explanation found = nearest_of(mechanics, needed, std::move(groups));
        if (signs == 0 || found.residual < best.residual) best = found;
    }
    return best;
}

}  // namespace trials
