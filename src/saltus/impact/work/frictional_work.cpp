// SPDX-License-Identifier: Apache-2.0
#include "saltus/impact/work/frictional_work.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "saltus/base/error.hpp"
#include "saltus/base/numbers.hpp"
#include "saltus/impact/work/detail/frictional_program.hpp"
#include "saltus/impact/work/detail/remarks.hpp"

namespace saltus::impact {

namespace {

using Eigen::Index;

/// Relative accuracy of an interior-point solution of a cone program. Impulses count as reaching u⁺ if they miss it by
/// this times the whole impulse, and the work counts as unique if both ends of its interval agree to this.
constexpr double cone_program_accuracy = 1e-8;

Audit::Kinematic kinematics(const FrictionalCollision& c, const Vector& gamma_plus, double tolerance) {
    Audit::Kinematic k;
    k.slack = k.relative = Vector::Constant(gamma_plus.size(), infinity);
    Vector terms = c.directions.cwiseAbs().transpose() * (c.u_plus.cwiseAbs() + c.u_minus.cwiseAbs());
    if (c.chi.size() > 0) terms += c.chi.cwiseAbs();
    each_block(c, [&](std::size_t block, Index row) {
        for (int i = 0; i < c.sizes[block]; ++i) {
            const RowKind kind = row_kind(c.laws[block], i);
            if (kind == RowKind::tangential) continue;
            const double gamma = gamma_plus(row + i);
            k.slack(row + i) = kind == RowKind::normal ? gamma : -std::abs(gamma);
            k.relative(row + i) = terms(row + i) > 0.0 ? k.slack(row + i) / terms(row + i) : k.slack(row + i);
            if (k.worst < 0 || k.relative(row + i) < k.relative(k.worst)) k.worst = static_cast<int>(row + i);
        }
    });
    k.holds = k.worst < 0 || k.relative(k.worst) >= -tolerance;
    return k;
}

FrictionalEnd no_end(const FrictionalCollision& c, std::string why) {
    FrictionalEnd end;
    end.work = end.bound = end.gap = end.residual = nan;
    end.Lambda = Vector::Constant(c.directions.cols(), nan);
    end.b = Vector::Constant(c.M.rows(), nan);
    end.why = std::move(why);
    return end;
}

FrictionalEnd end_of_interval(const FrictionalCollision& c, FrictionalProgram& work, double sign) {
    const solvers::ProgramSolution& s = work.solve_for(sign);
    FrictionalEnd end;
    end.Lambda = work.impulses(s.x);
    end.parts = work_parts(c, end.Lambda);
    end.work = end.parts.total();
    end.b = work.dual_velocity(s.y, sign);
    end.bound = end.work + sign * (s.dual_value - s.value);
    end.gap = s.gap;
    end.residual = std::max(s.primal_residual, s.dual_residual);
    if (s.status == solvers::ProgramStatus::unbounded) {
        end.work = end.bound = -sign * infinity;
        end.why = sign > 0.0 ? "the contacts can press against each other so that they take any amount of work"
                             : "the contacts can press against each other so that they do any amount of work";
        end.b = Vector::Constant(c.M.rows(), nan);
    } else if (!work.reaches(s.x)) {
        end.work = end.bound = nan;
        end.why = "the program ran off to impulses that hold each other without end";
    } else if (!usable(s.status)) {
        end.why = fmt::format("the program stopped at a gap of {:.2g} and a residual of {:.2g}", end.gap, end.residual);
    }
    return end;
}

/// Kinetic admissibility and the least work. The program of the least work usually finds a feasible point itself. If it
/// does not, for example because u⁺ needs impulses on the boundary of the cones, then the nearest impulse decides. If
/// that impulse is near enough, it replaces the required one and the program is solved again.
void kinetics(const FrictionalCollision& c, FrictionalProgram& work, double tolerance, FrictionalAudit& a) {
    a.kinetic.impulse = work.jump.norm();
    const double near_enough = work.near_enough =
        std::max(tolerance, cone_program_accuracy) * a.kinetic.impulse + work.noise;
    a.least = end_of_interval(c, work, 1.0);
    Vector x = work.last().x;
    const bool found = usable(work.last().status) && work.reaches(x);
    const auto missed = [&](const Vector& z) { return (work.program.A * z - work.program.b).norm(); };
    if (!found) {
        if (const Vector other = work.any(); missed(other) < missed(x)) x = other;
        if (missed(x) > near_enough)
            if (const Vector other = work.nearest(); missed(other) < missed(x)) x = other;
    }
    a.kinetic.distance = std::hypot(work.unreachable, missed(x));
    a.kinetic.Lambda = work.impulses(x);
    a.kinetic.holds = a.kinetic.distance <= near_enough;
    if (!a.kinetic.holds || found || work.last().status == solvers::ProgramStatus::unbounded) return;
    work.replace_impulse(x);
    a.least = end_of_interval(c, work, 1.0);
}

/// `rounding` is the work of velocities and impulses of the size of the rounding errors. The least work counts as more
/// than α only if its dual bound proves it.
Verdict verdict_of(const FrictionalAudit& a, double alpha, double tolerance, double rounding) {
    if (!a.kinematic.holds) return Verdict::into_obstacle;
    if (!a.kinetic.holds) return Verdict::not_by_contacts;
    const auto noise = [&](const FrictionalEnd& end) {
        const Vector sizes = 0.5 * (a.gamma_plus.cwiseAbs() + a.gamma_minus.cwiseAbs());
        return std::max(tolerance, end.gap + end.residual) * sizes.dot(end.Lambda.cwiseAbs()) + rounding;
    };
    if (!(a.least.work <= alpha + noise(a.least)))
        return a.least.bound > alpha ? Verdict::supplies_energy : Verdict::undecided;
    return a.greatest.bound <= alpha + noise(a.greatest) ? Verdict::dissipates : Verdict::may_dissipate;
}

std::string sentence_of(const FrictionalCollision& c, const FrictionalAudit& a, double alpha) {
    const double least = printed_work(a.least.work, a.energy_minus + a.energy_plus),
                 greatest = printed_work(a.greatest.work, a.energy_minus + a.energy_plus);
    const double size = std::abs(least) + std::abs(greatest);
    const bool unique = std::abs(greatest - least) <= cone_program_accuracy * size || size == 0.0;
    const std::string_view what = "the contact work, friction included,";
    const std::string interval =
        std::isinf(size) ? work_without_bound(what, least, greatest)
        : unique         ? fmt::format("the contact work, friction included, is {:.6g}", least)
                 : fmt::format("the contact work, friction included, is between {:.6g} and {:.6g}", least, greatest);
    switch (a.verdict) {
        case Verdict::dissipates: return fmt::format("consistent: {}, no more than {:.6g}", interval, alpha);
        case Verdict::may_dissipate:
            return fmt::format("consistent: {}; some impulses that lead to u+ do no more than {:.6g}, not all",
                               interval, alpha);
        case Verdict::supplies_energy: return fmt::format("not consistent: {}, more than {:.6g}", interval, alpha);
        case Verdict::into_obstacle: {
            std::string name;
            each_block(c, [&](std::size_t k, Index row) {
                if (row <= a.kinematic.least() && a.kinematic.least() < row + c.sizes[k]) name = name_of(c, k);
            });
            return fmt::format("not consistent: u+ goes into {} with the velocity {:.6g}", name,
                               a.kinematic.slack(a.kinematic.least()));
        }
        case Verdict::not_by_contacts:
            return fmt::format(
                "not consistent: no impulses in the friction cones lead to u+; the nearest ones miss it by "
                "{:.6g} in the M-norm, the whole impulse being {:.6g}",
                a.kinetic.distance, a.kinetic.impulse);
        case Verdict::undecided: return "undecided: " + a.least.why;
        case Verdict::invalid: break;
    }
    return {};
}

}  // namespace

WorkParts work_parts(const FrictionalCollision& c, const Vector& Lambda) {
    SALTUS_EXPECT(Lambda.size() == c.directions.cols());
    const Vector gamma = relative_velocities(c, 0.5 * (c.u_plus + c.u_minus));
    WorkParts parts;
    each_block(c, [&](std::size_t k, Index row) {
        for (int i = 0; i < c.sizes[k]; ++i) {
            const double work = gamma(row + i) * Lambda(row + i);
            switch (row_kind(c.laws[k], i)) {
                case RowKind::normal: parts.normal += work; break;
                case RowKind::tangential: parts.tangential += work; break;
                case RowKind::bilateral: parts.bilateral += work; break;
            }
        }
    });
    return parts;
}

FrictionalAudit audit(const FrictionalCollision& c, const AuditOptions& options) {
    expect_consistent_sizes(c);
    FrictionalAudit a;
    a.least = a.greatest = no_end(c, "no impulses in the friction cones lead to this u+");
    const bool finite = c.M.allFinite() && c.directions.allFinite() && c.chi.allFinite() && c.u_minus.allFinite() &&
                        c.u_plus.allFinite() && c.impulse.allFinite();
    const auto refuse = [&](std::string why) {
        a.sentence = a.least.why = a.greatest.why = std::move(why);
        return a;
    };
    if (!finite) return refuse("the collision holds a number that is not finite");
    a.gamma_minus = relative_velocities(c, c.u_minus);
    a.gamma_plus = relative_velocities(c, c.u_plus);
    const auto energy = [&](const Vector& u) { return 0.5 * u.dot(c.M.selfadjointView<Eigen::Lower>() * u); };
    a.energy_minus = energy(c.u_minus);
    a.energy_plus = energy(c.u_plus);
    a.energy_change = 0.5 * (c.u_plus - c.u_minus).dot(c.M.selfadjointView<Eigen::Lower>() * (c.u_plus + c.u_minus));
    if (c.impulse.size() > 0) a.external_work = 0.5 * (c.u_plus + c.u_minus).dot(c.impulse);
    a.kinematic = kinematics(c, a.gamma_plus, options.tolerance);
    const ConeForm form(c);
    if (!form.refused.empty()) return refuse(form.refused);
    FrictionalProgram work(c, form);
    if (!work.valid) return refuse("the mass matrix is not positive definite");
    kinetics(c, work, options.tolerance, a);
    if (a.kinetic.holds)
        a.greatest = end_of_interval(c, work, -1.0);
    else
        a.least = a.greatest;
    const double rounding = work.noise * work.fastest(0.5 * (a.gamma_plus.cwiseAbs() + a.gamma_minus.cwiseAbs()));
    a.verdict = verdict_of(a, options.alpha, options.tolerance, rounding);
    a.verdict_with_external_work = verdict_of(a, options.alpha + a.external_work, options.tolerance, rounding);
    a.sentence = sentence_of(c, a, options.alpha);
    return a;
}

}  // namespace saltus::impact
