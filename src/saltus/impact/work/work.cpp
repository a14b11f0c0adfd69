// SPDX-License-Identifier: Apache-2.0
#include "saltus/impact/work/work.hpp"

#include <algorithm>
#include <cmath>

#include "saltus/base/error.hpp"
#include "saltus/base/factors.hpp"
#include "saltus/base/numbers.hpp"
#include "saltus/impact/work/detail/remarks.hpp"
#include "saltus/impact/work/detail/work_program.hpp"
#include "saltus/solvers/program/least_distance.hpp"

namespace saltus::impact {

namespace {

using Eigen::Index;

/// γ_i⁺ >= 0, relative to the sum of the absolute terms of γ_i before and after.
Audit::Kinematic kinematics(const FrictionlessCollision& c, const KineticFrame& f, const Vector& gamma_plus,
                            double tolerance) {
    Audit::Kinematic k;
    k.slack = gamma_plus;
    for (Index i = c.contacts(); i < k.slack.size(); ++i) k.slack(i) = -std::abs(k.slack(i));
    Vector terms = c.directions.cwiseAbs().transpose() * (c.u_plus.cwiseAbs() + c.u_minus.cwiseAbs());
    if (c.chi.size() > 0) terms += c.chi.cwiseAbs();
    // If the terms of a contact are only rounding errors, then its γ⁺ is compared with the noise of the frame.
    for (Index i = 0; i < c.contacts(); ++i) terms(i) = std::max(terms(i), f.scale(i) * f.noise / tolerance);
    k.relative = k.slack;
    for (Index i = 0; i < terms.size(); ++i)
        if (terms(i) > 0.0) k.relative(i) /= terms(i);
    if (k.relative.size() > 0) {
        Index worst = 0;
        k.relative.minCoeff(&worst);
        k.worst = static_cast<int>(worst);
    }
    k.holds = k.worst < 0 || k.relative(k.worst) >= -tolerance;
    return k;
}

/// Λ of all columns from the scaled impulses Λ̂ = sΛ of the contacts. The bilateral ones make up the rest of the jump.
Vector all_impulses(const FrictionlessCollision& c, const KineticFrame& f, const Vector& scaled, const Vector& jump) {
    Vector Lambda(c.directions.cols());
    Lambda.head(c.contacts()) = scaled.cwiseQuotient(f.scale);
    if (c.bilateral > 0) {
        const auto lower = f.cholesky.triangularView<Eigen::Lower>();
        const Matrix A = lower.solve(c.directions);
        Lambda.tail(c.bilateral) =
            least_squares(A.rightCols(c.bilateral), jump - A.leftCols(c.contacts()) * Lambda.head(c.contacts()));
    }
    return Lambda;
}

/// min ‖y − Σ n_iΛ̂_i‖ over Λ̂ >= 0.
solvers::NonnegativeLeastSquares nearest_impulse(const KineticFrame& f, const Vector& y) {
    if (f.rank() == f.normals.cols()) {  // independent directions: Λ̂ is unique, and often >= 0 already
        const Vector Lambda = least_squares(f.normals, y);
        if (Lambda.size() == 0 || Lambda.minCoeff() >= 0.0) {
            const Vector rest = y - f.normals * Lambda;
            return {Lambda, rest, rest.norm()};
        }
    }
    return solvers::nonnegative_least_squares(f.normals, y);
}

/// Kinetic admissibility of a jump Lᵀ(u⁺ − z⁻), and the coordinates y of the nearest jump that contact impulses
/// produce. The work programs use this y in the place of y⁺, so that they are feasible for a u⁺ that is admissible up
/// to rounding.
struct Reached {
    Audit::Kinetic kinetic;
    Vector y;
};

Reached kinetics(const FrictionlessCollision& c, const KineticFrame& f, const Vector& jump, double tolerance) {
    Reached r;
    Audit::Kinetic& k = r.kinetic;
    const Vector y = f.basis.transpose() * jump;
    k.impulse = jump.norm();
    Vector rest = jump - f.basis * y;
    rest -= f.bilateral * (f.bilateral.transpose() * rest).eval();
    const solvers::NonnegativeLeastSquares nearest = nearest_impulse(f, y);
    k.distance = std::hypot(rest.norm(), nearest.distance);
    k.Lambda = all_impulses(c, f, nearest.x, jump);
    k.holds = k.distance <= tolerance * k.impulse + f.noise;
    r.y = f.normals * nearest.x;
    return r;
}

WorkEnd end_of_interval(const FrictionlessCollision& c, const KineticFrame& f, WorkProgram& programs, const Vector& y,
                        const Vector& jump, IntervalEnd which) {
    WorkEnd end;
    const double sign = which == IntervalEnd::least ? 1.0 : -1.0;
    const solvers::ProgramSolution& s = programs.solve(y, sign);
    end.gap = s.gap;
    end.Lambda = all_impulses(c, f, s.x, jump);
    if (c.chi.size() > 0) end.obstacle_work = -c.chi.dot(end.Lambda);
    if (s.status == solvers::ProgramStatus::unbounded) {
        end.work = end.ball = -sign * infinity;
        end.ray = s.certificate.cwiseQuotient(f.scale);
        end.why = unbounded_sentence(c, end.ray, which);
        end.b = Vector::Constant(c.M.rows(), nan);
        return end;
    }
    end.work = contact_work(c, end.Lambda);
    end.b = f.representative(-sign * s.y);
    if (c.impulse.size() > 0) end.b += 0.5 * Cholesky(c.M).solve(c.impulse);
    end.ball = ball_work(c, end.b);
    if (!usable(s.status)) {
        end.why = "the program was not solved (" + std::string(to_string(s.status)) + ")";
        end.work = nan;
    }
    return end;
}

WorkEnd no_end(const FrictionlessCollision& c) {
    WorkEnd end;
    end.work = end.ball = end.gap = end.obstacle_work = nan;
    end.Lambda = Vector::Constant(c.directions.cols(), nan);
    end.b = Vector::Constant(c.M.rows(), nan);
    end.why = "no contact impulses lead to this u+, so the work is undefined";
    return end;
}

/// Error bound of a work: a work counts as more than α if it exceeds α by more than this. It is `tolerance` times the
/// sum of the absolute terms ½(|γ⁺| + |γ⁻|)|Λ|, plus the work of velocities and impulses of the size of the frame's
/// noise.
double work_noise(const FrictionlessCollision& c, const KineticFrame& f, const Audit& a, const WorkEnd& end,
                  double tolerance) {
    double noise = 0.0, fastest = 0.0;
    for (Index i = 0; i < c.contacts(); ++i) {
        const double speed = 0.5 * (std::abs(a.gamma_plus(i)) + std::abs(a.gamma_minus(i)));
        noise += (tolerance * speed + f.noise * f.scale(i)) * std::abs(end.Lambda(i));
        fastest = std::max(fastest, speed / f.scale(i));
    }
    return noise + f.noise * fastest;
}

Verdict verdict_of(const FrictionlessCollision& c, const KineticFrame& f, const Audit& a, double alpha,
                   double tolerance) {
    if (!a.kinematic.holds) return Verdict::into_obstacle;
    if (!a.kinetic.holds) return Verdict::not_by_contacts;
    if (std::isnan(a.least.work)) return Verdict::undecided;
    if (!(a.least.work <= alpha + work_noise(c, f, a, a.least, tolerance))) return Verdict::supplies_energy;
    const bool all = a.greatest.work <= alpha + work_noise(c, f, a, a.greatest, tolerance);
    return all ? Verdict::dissipates : Verdict::may_dissipate;
}

double energy(const FrictionlessCollision& c, const Vector& u) {
    return 0.5 * u.dot(c.M.selfadjointView<Eigen::Lower>() * u);
}

}  // namespace

const Remark* Audit::remark(RemarkKind kind) const {
    const auto at = std::find_if(remarks.begin(), remarks.end(), [&](const Remark& r) { return r.kind == kind; });
    return at == remarks.end() ? nullptr : &*at;
}

double contact_work(const FrictionlessCollision& c, const Vector& Lambda) {
    SALTUS_EXPECT(Lambda.size() == c.directions.cols());
    const Vector middle = 0.5 * (c.u_plus + c.u_minus);
    return relative_velocities(c, middle).dot(Lambda);
}

double ball_work(const FrictionlessCollision& c, const Vector& b) {
    // [Glocker] 6: ½‖u⁺ − b‖² − ½‖z − b‖² = (u⁺ − z)ᵀM(½(u⁺ + z) − b), with z = u⁻ + π and π = M⁻¹P. With
    // jump = u⁺ − u⁻ and middle = ½(u⁺ + u⁻) − b this is (jump − π)ᵀM(middle + π/2).
    const auto M = c.M.selfadjointView<Eigen::Lower>();
    const Vector jump = c.u_plus - c.u_minus, middle = 0.5 * (c.u_plus + c.u_minus) - b;
    double work = middle.dot(M * jump);
    if (c.impulse.size() > 0) {
        const Vector pi = Cholesky(c.M).solve(c.impulse);
        work += 0.5 * jump.dot(c.impulse) - middle.dot(c.impulse) - 0.5 * pi.dot(c.impulse);
    }
    return work;
}

Audit audit(const FrictionlessCollision& c, const AuditOptions& options) {
    expect_consistent_sizes(c, Reads::u_minus_and_u_plus);
    Audit a;
    const KineticFrame f = kinetic_frame(c);
    a.least = a.greatest = no_end(c);
    if (!f.valid || !c.u_plus.allFinite()) {
        a.sentence = f.valid ? "u+ holds a number that is not finite" : f.why;
        return a;
    }
    a.gamma_minus = relative_velocities(c, c.u_minus);
    a.gamma_plus = relative_velocities(c, c.u_plus);
    a.energy_minus = energy(c, c.u_minus);
    a.energy_plus = energy(c, c.u_plus);
    a.energy_change = 0.5 * (c.u_plus - c.u_minus).dot(c.M.selfadjointView<Eigen::Lower>() * (c.u_plus + c.u_minus));
    if (c.impulse.size() > 0) a.external_work = 0.5 * (c.u_plus + c.u_minus).dot(c.impulse);

    a.kinematic = kinematics(c, f, a.gamma_plus, options.tolerance);
    const Vector jump = f.cholesky.transpose() * (c.u_plus - c.u_minus) - f.pi;
    const Reached reached = kinetics(c, f, jump, options.tolerance);
    const Vector& y = reached.y;
    a.kinetic = reached.kinetic;
    if (a.kinetic.holds) {
        WorkProgram programs(f);
        a.least = end_of_interval(c, f, programs, y, jump, IntervalEnd::least);
        a.greatest = end_of_interval(c, f, programs, y, jump, IntervalEnd::greatest);
    }
    a.verdict = verdict_of(c, f, a, options.alpha, options.tolerance);
    double outside_noise = 0.0;
    if (c.impulse.size() > 0)
        outside_noise = options.tolerance * (c.u_plus.cwiseAbs() + c.u_minus.cwiseAbs()).dot(c.impulse.cwiseAbs());
    a.verdict_with_external_work =
        verdict_of(c, f, a, options.alpha + a.external_work + outside_noise, options.tolerance);
    if (options.remarks) add_remarks(c, f, a);
    a.sentence = sentence_of(c, a, options.alpha);
    return a;
}

}  // namespace saltus::impact
