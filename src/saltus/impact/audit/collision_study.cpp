// SPDX-License-Identifier: Apache-2.0
#include "saltus/impact/audit/collision_study.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "saltus/base/error.hpp"
#include "saltus/base/factors.hpp"
#include "saltus/base/numbers.hpp"
#include "saltus/base/text.hpp"

namespace saltus::impact {

namespace {

using Eigen::Index;

/// The given impulses count as leading to u⁺ if ‖M(u⁺ − u⁻) − P − WΛ‖² <= this times T⁺ + T⁻, all in the kinetic
/// metric. It is the square of a relative error of 1e-6 of the velocities.
constexpr double negligible_miss_squared = 1e-12;

/// The given impulses count as inside their cones if `outside_cones` is below this.
constexpr double negligible_cone_violation = 1e-8;

/// Numbers of the columns of the normal part as numbers of all rows; `otherwise` for the other rows.
Vector spread(const Vector& columns, const NormalPart& part, Index rows, double otherwise) {
    Vector all = Vector::Constant(rows, otherwise);
    for (Index j = 0; j < columns.size(); ++j) all(part.rows[static_cast<std::size_t>(j)]) = columns(j);
    return all;
}

double obstacle_work(const FrictionalCollision& c, const Vector& Lambda) {
    return c.chi.size() == 0 ? 0.0 : -c.chi.dot(Lambda);
}

CollisionWorkEnd end_of(const FrictionalCollision& c, const WorkEnd& end, const NormalPart& part) {
    CollisionWorkEnd e;
    e.work = end.work;
    e.obstacle_work = end.obstacle_work;
    e.Lambda = spread(end.Lambda, part, c.directions.cols(), 0.0);
    e.b = end.b;
    e.gap = end.gap;
    e.why = end.why;
    if (e.Lambda.allFinite()) e.parts = work_parts(c, e.Lambda);
    return e;
}

CollisionWorkEnd end_of(const FrictionalCollision& c, const FrictionalEnd& end) {
    CollisionWorkEnd e;
    e.work = end.work;
    e.parts = end.parts;
    e.Lambda = end.Lambda;
    e.b = end.b;
    e.gap = end.gap;
    e.why = end.why;
    e.obstacle_work = obstacle_work(c, end.Lambda);
    return e;
}

void judge_without_friction(const FrictionalCollision& c, const NormalPart& part, const CollisionStudyOptions& options,
                            CollisionStudy& s) {
    const Audit a = audit(part.collision, {.tolerance = options.tolerance, .alpha = options.alpha});
    s.verdict = a.verdict;
    s.verdict_with_external_work = a.verdict_with_external_work;
    s.sentence = a.sentence;
    const Index rows = c.directions.cols();
    s.kinematic = a.kinematic;
    s.kinematic.slack = spread(a.kinematic.slack, part, rows, infinity);
    s.kinematic.relative = spread(a.kinematic.relative, part, rows, infinity);
    if (a.kinematic.worst >= 0)
        s.kinematic.worst = static_cast<int>(part.rows[static_cast<std::size_t>(a.kinematic.worst)]);
    s.kinetic = a.kinetic;
    s.kinetic.Lambda = spread(a.kinetic.Lambda, part, rows, 0.0);
    s.least = end_of(c, a.least, part);
    s.greatest = end_of(c, a.greatest, part);
    s.energy_minus = a.energy_minus;
    s.energy_plus = a.energy_plus;
    s.energy_change = a.energy_change;
    s.external_work = a.external_work;
    s.remarks = a.remarks;
    for (Remark& r : s.remarks)
        for (int& i : r.contacts) i = s.blocks[static_cast<std::size_t>(i)];
}

void judge_with_friction(const FrictionalCollision& c, const CollisionStudyOptions& options, CollisionStudy& s) {
    const FrictionalAudit a = audit(c, {.tolerance = options.tolerance, .alpha = options.alpha});
    s.verdict = a.verdict;
    s.verdict_with_external_work = a.verdict_with_external_work;
    s.sentence = a.sentence;
    s.kinematic = a.kinematic;
    s.kinetic = a.kinetic;
    s.least = end_of(c, a.least);
    s.greatest = end_of(c, a.greatest);
    s.energy_minus = a.energy_minus;
    s.energy_plus = a.energy_plus;
    s.energy_change = a.energy_change;
    s.external_work = a.external_work;
    if (a.verdict != Verdict::invalid) s.remarks = frictional_remarks(c, a);
}

CollisionStudy::Given judge_given(const FrictionalCollision& c, const Vector& Lambda) {
    CollisionStudy::Given g;
    g.Lambda = Lambda;
    g.parts = work_parts(c, Lambda);
    g.obstacle_work = obstacle_work(c, Lambda);
    g.outside = outside_cones(c, Lambda);
    Vector rest = c.M.selfadjointView<Eigen::Lower>() * (c.u_plus - c.u_minus) - c.directions * Lambda;
    if (c.impulse.size() > 0) rest -= c.impulse;
    const Cholesky factor(c.M);
    g.misses = factor.positive_definite() ? factor.solve_lower(rest).norm() : infinity;
    const Vector mean = relative_velocities(c, 0.5 * (c.u_plus + c.u_minus));
    each_block(c, [&](std::size_t k, Index row) {
        g.by_block.push_back(mean.segment(row, c.sizes[k]).dot(Lambda.segment(row, c.sizes[k])));
    });
    return g;
}

/// If a law has no cone that a program could search, then the given impulses are the only ones known. They show that u⁺
/// is kinetically admissible, and their work is an upper bound of the least work.
void judge_by_given(const FrictionalCollision& c, const CollisionStudyOptions& options, CollisionStudy& s) {
    const double energies = s.energy_plus + s.energy_minus;
    if (!s.given || !(s.given->misses * s.given->misses <= negligible_miss_squared * energies) ||
        !(s.given->outside <= negligible_cone_violation))
        return;
    s.kinetic.holds = true;
    s.kinetic.distance = s.given->misses;
    const Vector change = c.u_plus - c.u_minus;
    s.kinetic.impulse = std::sqrt(change.dot(c.M.selfadjointView<Eigen::Lower>() * change));
    const Vector speed = 0.5 * (s.gamma_minus.cwiseAbs() + s.gamma_plus.cwiseAbs());
    const double work = s.given->parts.total(), noise = options.tolerance * speed.dot(s.given->Lambda.cwiseAbs());
    const std::string why = s.sentence;
    if (!s.kinematic.holds)
        s.verdict = Verdict::into_obstacle;
    else
        s.verdict = work <= options.alpha + noise ? Verdict::may_dissipate : Verdict::undecided;
    s.sentence = fmt::format("{}: the given impulses do the work {:.6g}{}; of others nothing is known, as {}",
                             consistent(s.verdict) ? "consistent"
                             : s.kinematic.holds   ? "undecided"
                                                   : "not consistent",
                             work, s.kinematic.holds ? "" : ", but u+ goes into an obstacle", why);
}

void describe(const FrictionalCollision& c, const NormalPart& part, const CollisionStudyOptions& options,
              CollisionStudy& s) {
    s.plus = velocity_polyhedron(part.collision, Side::plus);
    s.minus = velocity_polyhedron(part.collision, Side::minus);
    s.cone = tangent_cone(part.collision);
    const Allowance allowance{.alpha = options.alpha};
    if (s.friction) {
        s.balls = consistency_balls(c, allowance);
        s.boundary = consistency_boundary(c, allowance);
        return;
    }
    s.balls = consistency_balls(part.collision, allowance);
    s.boundary = consistency_boundary(part.collision, allowance);
    if (s.boundary.status == ConsistencyBoundary::Status::other_dimension)
        s.mesh = consistency_mesh(part.collision, allowance, options.subdivisions);
    s.least_compatible = least_contact_work(part.collision);
}

}  // namespace

// For each law: −Λ_N, and ‖Λ_T‖ − μΛ_N of each of its parts.
double outside_cones(const FrictionalCollision& c, const Vector& Lambda) {
    SALTUS_EXPECT(Lambda.size() == c.directions.cols());
    using solvers::LawKind;
    const double size = Lambda.size() == 0 ? 0.0 : Lambda.cwiseAbs().maxCoeff();
    if (!(size > 0.0)) return 0.0;
    double worst = 0.0;
    each_block(c, [&](std::size_t k, Index row) {
        const solvers::Law& law = c.laws[k];
        if (!has_normal(law)) return;
        const double N = Lambda(row);
        worst = std::max(worst, -N);
        const auto length = [&](Index from, Index count) { return Lambda.segment(row + from, count).norm(); };
        switch (law.kind) {
            case LawKind::friction2: worst = std::max(worst, length(1, 1) - law.mu * N); break;
            case LawKind::friction3: {
                const double second = law.mu_second >= 0.0 ? law.mu_second : law.mu;
                if (law.mu > 0.0 && second > 0.0)
                    worst =
                        std::max(worst, std::hypot(Lambda(row + 1), Lambda(row + 2) * law.mu / second) - law.mu * N);
                else
                    worst = std::max(
                        {worst, std::abs(Lambda(row + 1)) - law.mu * N, std::abs(Lambda(row + 2)) - second * N});
                break;
            }
            case LawKind::contensou4:
            case LawKind::drilling4: worst = std::max(worst, length(1, 2) - law.mu * N); break;
            case LawKind::rolling5:
            case LawKind::rolling6: {
                const bool both = law.kind == LawKind::rolling6;
                worst = std::max(worst, length(1, 2) - law.mu * N);
                worst = std::max(worst, length(both ? 4 : 3, 2) - law.mu_rolling * N);
                if (both) worst = std::max(worst, length(3, 1) - law.mu_drilling * N);
                break;
            }
            default: break;
        }
    });
    return worst / size;
}

CollisionStudy study_collision(const FrictionalCollision& c, const CollisionStudyOptions& options) {
    expect_consistent_sizes(c);
    CollisionStudy s;
    s.friction = has_friction(c);
    const NormalPart part = normal_part(c);
    std::vector<int> block_of(static_cast<std::size_t>(c.directions.cols()));
    each_block(c, [&](std::size_t k, Index row) {
        for (int i = 0; i < c.sizes[k]; ++i) block_of[static_cast<std::size_t>(row + i)] = static_cast<int>(k);
    });
    for (const Index row : part.rows) s.blocks.push_back(block_of[static_cast<std::size_t>(row)]);
    s.gamma_minus = relative_velocities(c, c.u_minus);
    s.gamma_plus = relative_velocities(c, c.u_plus);
    if (s.friction)
        judge_with_friction(c, options, s);
    else
        judge_without_friction(c, part, options, s);
    if (options.Lambda) s.given = judge_given(c, *options.Lambda);
    if (s.verdict == Verdict::invalid && s.friction) judge_by_given(c, options, s);
    if (s.verdict == Verdict::invalid && !s.friction) return s;
    s.nearest = nearest_consistent(c, Allowance{.alpha = options.alpha});
    if (options.geometry) describe(c, part, options, s);
    if (!options.restitutions) return s;
    const Restitutions& r = *options.restitutions;
    const bool newton = std::all_of(r.law.begin(), r.law.end(), [](ImpactLaw l) { return l == ImpactLaw::newton; });
    if (newton && s.friction) {
        s.dissipation = dissipation_test(restitution_of(c, r.e));
        if (!s.dissipation->safe) s.creation = find_energy_creation(c, r.e);
    }
    if (s.given && s.given->parts.total() > options.alpha && s.given->outside < negligible_cone_violation) {
        const Vector speed = 0.5 * (s.gamma_minus.cwiseAbs() + s.gamma_plus.cwiseAbs());
        if (s.given->parts.total() > options.tolerance * speed.dot(s.given->Lambda.cwiseAbs()))
            s.cause = find_cause(c, s.given->Lambda, r, options.tolerance);
    }
    return s;
}

}  // namespace saltus::impact
