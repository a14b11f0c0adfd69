// SPDX-License-Identifier: Apache-2.0
#include "saltus/control/penalty/action.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "saltus/base/gauss.hpp"
#include "saltus/base/text.hpp"
#include "saltus/control/gains/measures.hpp"
#include "saltus/control/penalty/detail/second_variation.hpp"
#include "saltus/model/build.hpp"
#include "saltus/model/model.hpp"

namespace saltus::control {

using trajectory::EventKind;
using trajectory::Trajectory;

namespace {

/// Tolerances of the motions, relative and absolute: the differences of the actions are small.
constexpr double motion_rtol = 1e-12, motion_atol = 1e-14;
const integrate::Penalty soft_method{.rtol = motion_rtol, .atol = motion_atol};
const integrate::EventDriven rigid_method{.rtol = motion_rtol, .atol = motion_atol};

// Shooting. Velocities are relative to max(1, |u|), the miss of the end is in units of q.
constexpr int max_shooting_steps = 30, max_step_halvings = 12;
constexpr double converged_velocity_step = 1e-12;
constexpr double converged_miss = 1e-12;   ///< accepted after more than two steps
constexpr double acceptable_miss = 1e-10;  ///< accepted if no step comes nearer

/// A sequence is monotone if it fails by at most this part of max(1, |A|); the penalty integral by this number.
constexpr double action_rounding = 1e-12, penalty_rounding = 1e-15;

std::string refusal(const model::Model& model) {
    if (std::string why = statics_refusal(model, ContactModel::springs); !why.empty()) return why;
    if (!model.constraints.empty()) return "the model has constraints";
    if (model.contacts.empty()) return "the model has no contacts";
    return {};
}

/// Newton's method for the initial velocity of the motion that ends at q_end: the shooting equation q(t_end; u) = q_end
/// has the Jacobian ∂q(t_end)/∂u of the linearised flow. It is singular if the ends are conjugate.
void shoot(const model::Model& model, const std::vector<double>& q_end, double t_end, const ActionOptions& options,
           StationaryPath& path) {
    const auto n = static_cast<Eigen::Index>(q_end.size());
    const Eigen::Map<const Vector> wanted(q_end.data(), n);
    integrate::Options run;
    run.t_end = t_end;
    run.interrupted = options.interrupted;
    const auto motion_from = [&](const std::vector<double>& u) {
        run.start = trajectory::State{0.0, model.q0, u};
        return integrate::simulate(model, soft_method, run);
    };
    std::vector<double> u = path.u_start;
    Trajectory motion = motion_from(u);
    for (int k = 0; k < max_shooting_steps; ++k) {
        if (motion.status != trajectory::Status::completed) {
            path.reason = std::string(trajectory::to_string(motion.status)) + ": " + motion.reason;
            return;
        }
        const Vector miss = Eigen::Map<const Vector>(motion.end.q.data(), n) - wanted;
        const SecondVariation variation(model, motion, 1.0, options.interrupted);
        const auto cut_short = [&] {
            if (!(options.interrupted && options.interrupted())) return false;
            path.found = false;
            path.reason = "interrupted";
            return true;
        };
        if (cut_short()) return;
        if (!variation.available()) {
            path.reason = "the motion cannot be linearised";
            return;
        }
        const Vector step = solve_columns(variation.end_by_start(), miss);
        const double size = std::max(1.0, Eigen::Map<const Vector>(u.data(), n).cwiseAbs().maxCoeff());
        const bool done =
            step.cwiseAbs().maxCoeff() <= converged_velocity_step * size || (k > 2 && miss.norm() <= converged_miss);
        if (!step.allFinite()) {
            path.reason = "the ends are conjugate: no velocity leads from one to the other";
            return;
        }
        const auto finish = [&] {
            path.found = true;
            path.u_start = u;
            path.action = action_of(model, motion, 1.0);
            const std::vector<SpringPhase> phases = spring_phases(model, motion, 1.0);
            path.phases = static_cast<long>(phases.size());
            for (const SpringPhase& phase : phases)
                if (phase.complete && !path.contact_duration) path.contact_duration = phase.to - phase.from;
            path.morse_index = variation.morse_index();
            path.conjugate_times = variation.conjugate_times();
            path.lowest_eigenvalue = variation.lowest_eigenvalue();
            cut_short();
        };
        if (done) return finish();
        // The step is halved until the end comes nearer.
        double length = 1.0;
        for (int tries = 0; tries < max_step_halvings; ++tries, length *= 0.5) {
            std::vector<double> next = u;
            for (std::size_t i = 0; i < next.size(); ++i) next[i] -= length * step(static_cast<Eigen::Index>(i));
            Trajectory trial = motion_from(next);
            const double off = (Eigen::Map<const Vector>(trial.end.q.data(), n) - wanted).norm();
            if (trial.status == trajectory::Status::completed && off < miss.norm()) {
                u = std::move(next);
                motion = std::move(trial);
                break;
            }
            if (tries == max_step_halvings - 1) {
                if (miss.norm() <= acceptable_miss) return finish();
                path.reason = "no velocity was found that leads to the end of the rigid path";
                return;
            }
        }
    }
    path.reason = "no velocity was found that leads to the end of the rigid path";
}

enum class Springs { without, of_closed_contacts };
/// Half a period π/ω of the fastest vibration about an equilibrium. Two paths of this vibration from the same point
/// meet again after π/ω, so that no stationary path of S that is longer can be minimal there.
std::optional<double> horizon(Statics& statics, const Rest& rest, Springs springs) {
    if (!rest.found) return {};
    statics.at(rest.q);
    Matrix K = statics.stiffness(rest.lambda);
    for (const int row : rest.closed)
        if (springs == Springs::of_closed_contacts && statics.compliance()(row) > 0.0)
            K += statics.gradients().row(row).transpose() * statics.gradients().row(row) / statics.compliance()(row);
    const double largest = vibrations(K, statics.mass()).largest;
    if (!(largest > 0.0)) return {};
    return std::numbers::pi / std::sqrt(largest);
}

/// The time half-way between the first and the second impact.
std::optional<double> one_bounce(const Trajectory& motion) {
    std::optional<double> first;
    for (const trajectory::Event& e : motion.events) {
        if (e.kind != EventKind::impact) continue;
        if (first) return 0.5 * (*first + e.t);
        first = e.t;
    }
    return {};
}

}  // namespace

Action action_of(const model::Model& model, const Trajectory& motion, double stiffness) {
    Action out;
    const auto n = static_cast<std::size_t>(model.size());
    model::Workspace workspace(model);
    std::vector<double> x(2 * n), positions(static_cast<std::size_t>(model.layout().positions())),
        coefficients(static_cast<std::size_t>(model.layout().coefficients));
    double springs = 0.0;
    for (const trajectory::Arc& arc : motion.arcs)
        for (const ode::Dense& step : arc.steps) {
            for (const ode::StepPart part : ode::StepParts(step, arc.t_end))
                for (const auto& [t, dt] : gauss_points(gauss_six_nodes, part.from, part.to)) {
                    step.evaluate(t, x.data(), static_cast<int>(2 * n));
                    const model::At at = model::at(model, t, {x.data(), n}, {x.data() + n, n});
                    const model::Energy energy = model.system->energy(at, workspace.scratch());
                    out.A -= (energy.kinetic - energy.potential) * dt;
                    if (!(stiffness > 0.0)) continue;
                    model.system->positions(at, workspace.scratch(), positions);
                    model.system->coefficients(at, workspace.scratch(), coefficients);
                    for (std::size_t c = 0; c < model.contacts.size(); ++c) {
                        const model::Contact& contact = model.contacts[c];
                        const double depth = std::max(0.0, -positions[static_cast<std::size_t>(contact.row)]);
                        if (arc.modes[c] == trajectory::Mode::open || depth == 0.0) continue;
                        const double P = 0.5 * depth * depth * dt;
                        out.penalty_integral += P;
                        springs += stiffness * coefficients[static_cast<std::size_t>(contact.penalty_k)] * P;
                    }
                }
        }
    out.A_tilde = out.A + springs;
    return out;
}

namespace {

/// (17a) to (17c) and Theorem 2 over the paths that were found, which are ordered by ascending k.
void compare_actions(ActionSequence& out) {
    out.A_tilde_grows = out.penalty_falls = out.A_grows = out.bounded_by_rigid = true;
    const StationaryPath* before = nullptr;
    for (const StationaryPath& path : out.paths) {
        if (!path.found) continue;
        const Action& a = path.action;
        const double slack = action_rounding * std::max(1.0, std::abs(a.A));
        out.bounded_by_rigid = out.bounded_by_rigid && out.rigid.A >= a.A_tilde - slack && a.A_tilde >= a.A - slack;
        if (before != nullptr) {
            out.A_tilde_grows = out.A_tilde_grows && before->action.A_tilde <= a.A_tilde + slack;
            out.penalty_falls =
                out.penalty_falls && before->action.penalty_integral >= a.penalty_integral - penalty_rounding;
            out.A_grows = out.A_grows && before->action.A <= a.A + slack;
        }
        before = &path;
    }
    if (before == nullptr) out.A_tilde_grows = out.penalty_falls = out.A_grows = out.bounded_by_rigid = false;
}

}  // namespace

ActionSequence action_sequence(const model::Description& rigid_description,
                               const std::function<model::Model(double)>& with, const std::vector<double>& stiffness,
                               const ActionOptions& options) {
    ActionSequence out;
    out.horizon = options.t_end;
    const model::Model rigid = model::build(rigid_description, options.build);
    std::vector<double> ascending = stiffness;
    std::sort(ascending.begin(), ascending.end());
    out.why_not = refusal(with(ascending.front()));
    if (!out.why_not.empty()) return out;
    integrate::Options run;
    run.t_end = options.t_end;
    run.interrupted = options.interrupted;
    Trajectory motion = integrate::simulate(rigid, rigid_method, run);
    if (const std::optional<double> bounce = one_bounce(motion); bounce && !options.whole) {
        out.horizon = run.t_end = *bounce;
        motion = integrate::simulate(rigid, rigid_method, run);
    }
    if (motion.status != trajectory::Status::completed) {
        out.why_not = "the rigid motion without damping is not complete: " + motion.reason;
        return out;
    }
    out.available = true;
    out.q_start = rigid.q0;
    out.q_end = motion.end.q;
    out.rigid_u_start = rigid.u0;
    out.rigid = action_of(rigid, motion, 0.0);
    for (const trajectory::Event& e : motion.events) {
        if (e.kind != EventKind::impact) continue;
        double slope = 0.0;
        for (const trajectory::Reaction& r : e.impulses)
            if (r.element < static_cast<int>(rigid.contacts.size())) slope -= r.N;
        out.corner_slopes.push_back(slope);
    }
    // From the stiffest springs, whose path is nearest to the rigid one, to the softest. The initial velocity differs
    // from the rigid one by about k^(−1/2), like the duration of contact π √(m/k).
    out.paths.resize(ascending.size());
    std::vector<double> guess = rigid.u0;
    double guess_k = 0.0;
    for (std::size_t i = ascending.size(); i-- > 0;) {
        StationaryPath& path = out.paths[i];
        path.k = ascending[i];
        const model::Model model = with(path.k);
        path.u_start = guess;
        if (guess_k > 0.0)
            for (std::size_t c = 0; c < guess.size(); ++c)
                path.u_start[c] = rigid.u0[c] + (guess[c] - rigid.u0[c]) * std::sqrt(guess_k / path.k);
        shoot(model, out.q_end, out.horizon, options, path);
        if (path.found && path.phases != static_cast<long>(out.corner_slopes.size())) {
            path.found = false;
            path.reason = "only a path with " + counted(static_cast<std::size_t>(path.phases), "phase") +
                          " of contact was found, while the rigid one has " +
                          counted(out.corner_slopes.size(), "impact");
        }
        if (path.found) {
            guess = path.u_start;
            guess_k = path.k;
        }
        Statics statics(model, ContactModel::springs);
        const Rest rest = find_rest(statics, out.q_end);
        path.contact_horizon = rest.closed.empty() ? std::nullopt : horizon(statics, rest, Springs::of_closed_contacts);
        if (i == 0) out.free_horizon = horizon(statics, rest, Springs::without);
        if (options.interrupted && options.interrupted()) break;
    }
    compare_actions(out);
    return out;
}

}  // namespace saltus::control
