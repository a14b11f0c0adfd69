// SPDX-License-Identifier: Apache-2.0
#include "saltus/orbit/detail/parts.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "saltus/base/error.hpp"

namespace saltus::orbit {

namespace {

/// A motion that has grown beyond this multiple of the size of its first part has left the orbit.
constexpr double far_away = 10.0;
/// Repeated parts agree up to this part of the size of the components.
constexpr double equal_parts = 1e-7;

}  // namespace

void append_motion(trajectory::Trajectory& all, trajectory::Trajectory part) {
    all.arcs.insert(all.arcs.end(), std::make_move_iterator(part.arcs.begin()),
                    std::make_move_iterator(part.arcs.end()));
    all.events.insert(all.events.end(), std::make_move_iterator(part.events.begin()),
                      std::make_move_iterator(part.events.end()));
    all.end = std::move(part.end);
    all.forces = std::move(part.forces);
    all.energy.final = part.energy.final;
    all.violation.gap = std::max(all.violation.gap, part.violation.gap);
    all.violation.constraint = std::max(all.violation.constraint, part.violation.constraint);
    all.events_certain = all.events_certain && part.events_certain;
    if (all.status == trajectory::Status::completed && part.status != trajectory::Status::completed)
        all.status = part.status, all.reason = std::move(part.reason);
}

std::vector<integrate::RecordedMotion> guess_parts(const ReturnMap& map, double t, const Vector& x, double duration,
                                                   int count) {
    std::vector<integrate::RecordedMotion> list;
    Vector near, start = x;
    const double length = duration / count;
    for (int k = 0; k < count; ++k) {
        const double from = t + k * length;
        try {
            list.push_back(map.recorded(from, start, (k + 1 == count ? t + duration : t + (k + 1) * length) - from));
        } catch (const Error&) {  // the state penetrates an obstacle
            return {};
        }
        const trajectory::Trajectory& motion = list.back().motion;
        if (motion.status != trajectory::Status::completed) return {};
        if (k == 0) near = sizes(motion);
        const Vector end = vector_of(motion.end);
        const bool left = (end.cwiseAbs().array() > far_away * near.array()).any();
        start = left ? x : end;
    }
    return list;
}

std::optional<Parts> parts_of(const ReturnMap& map, const ShootingProblem& problem, const Shooting& solution) {
    Parts parts;
    const ShootingMotion& at = solution.motion();
    for (std::size_t k = 0; k < at.nodes.size(); ++k) {
        if (at.nodes[k].event != ShootingNode::none) continue;
        parts.t.push_back(at.time_of(k));
        parts.x.push_back(at.nodes[k].y);
    }
    parts.t.push_back(at.end());
    for (std::size_t k = 0; k < parts.x.size(); ++k) {
        try {
            parts.motions.push_back(map.recorded(parts.t[k], parts.x[k], parts.t[k + 1] - parts.t[k]));
        } catch (const Error&) {
            return std::nullopt;
        }
        if (parts.motions.back().motion.status != trajectory::Status::completed) return std::nullopt;
        Vector end = vector_of(parts.motions.back().motion.end);
        const bool last = k + 1 == parts.x.size();
        if (last && problem.symmetry != nullptr) end = (*problem.symmetry)(end);
        if (last) end = problem.closing.back(end, parts.x[0]);
        const Vector defect = (end - parts.x[last ? 0 : k + 1]).cwiseAbs().cwiseQuotient(problem.size);
        parts.residual = std::max(parts.residual, defect.maxCoeff());
    }
    Shooting check(problem);
    if (!check.begin(parts.motions, at.parameter)) return std::nullopt;
    parts.maps = check.part_maps();
    if (parts.maps.empty()) return std::nullopt;
    return parts;
}

std::vector<integrate::RecordedMotion> recorded_parts(const ReturnMap& map, const Parts& parts) {
    std::vector<integrate::RecordedMotion> list;
    for (std::size_t k = 0; k < parts.x.size(); ++k)
        list.push_back(map.recorded(parts.t[k], parts.x[k], parts.t[k + 1] - parts.t[k]));
    return list;
}

trajectory::Trajectory joined_motion(const ReturnMap& map, const Symmetry* symmetry, const Parts& parts) {
    trajectory::Trajectory all = parts.motions.front().motion;
    for (std::size_t k = 1; k < parts.motions.size(); ++k) append_motion(all, parts.motions[k].motion);
    if (symmetry != nullptr)
        for (std::size_t k = 0; k < parts.x.size(); ++k)
            append_motion(
                all, map.motion(parts.duration() + parts.t[k], (*symmetry)(parts.x[k]), parts.t[k + 1] - parts.t[k]));
    return all;
}

bool parts_repeat(const ReturnMap& map, const Parts& parts, const Vector& size, double later) {
    for (std::size_t k = 0; k < parts.x.size(); ++k) {
        const trajectory::Trajectory again = map.motion(parts.t[k] + later, parts.x[k], parts.t[k + 1] - parts.t[k]);
        const trajectory::Trajectory& motion = parts.motions[k].motion;
        if (again.status != trajectory::Status::completed || again.events.size() != motion.events.size()) return false;
        const Vector difference = vector_of(again.end) - vector_of(motion.end);
        if (difference.cwiseAbs().cwiseQuotient(size).maxCoeff() > equal_parts) return false;
    }
    return true;
}

}  // namespace saltus::orbit
