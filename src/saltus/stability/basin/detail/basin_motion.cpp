// SPDX-License-Identifier: Apache-2.0
#include "saltus/stability/basin/detail/basin_motion.hpp"

#include <cmath>
#include <optional>

#include "saltus/base/index.hpp"
#include "saltus/integrate/moreau/moreau_step.hpp"

namespace saltus::stability {

namespace {

/// The stiffness of the forces is examined every so many steps, as in a single simulation,
constexpr int steps_between_stiffness = 200;
/// with so many power iterations at the start and later.
constexpr int first_stiffness_iterations = 16, further_stiffness_iterations = 3;
constexpr int steps_between_polls = 1024;  ///< of Decision::interrupted

/// The time of entry into the level set is found by bisection to this part of 1 + t.
constexpr double entry_accuracy = 1e-12;
constexpr int max_entry_bisections = 60;
/// A motion of the event-driven method rests if it was slow for more than this part of t_max before its end.
constexpr double shortest_rest = 1e-6;

model::Energy energy_at(const model::Mechanics& model, model::Workspace& workspace, double t, std::span<const double> q,
                        std::span<const double> u) {
    return model.system->energy(model::at(model, t, q, u), workspace.scratch());
}

}  // namespace

bool Decision::inside(double kinetic, double potential, std::span<const double> q) const {
    if (level == nullptr || !(height(kinetic, potential) < level->rho)) return false;
    if (!level->in_component) return true;
    std::vector<double> copy(q.begin(), q.end());
    for (std::size_t i = 0; i < copy.size(); ++i)
        if (periods[i] > 0.0) copy[i] -= periods[i] * std::round((copy[i] - level->q[i]) / periods[i]);
    return level->in_component(copy);
}

CaptureTest::CaptureTest(const model::Mechanics& model, const Decision& decision)
    : model_(model), decision_(decision), admitter_(model, {}), workspace_(model) {}

bool CaptureTest::operator()(double kinetic, double potential, std::span<const double> q, std::span<const double> u) {
    if (!decision_.inside(kinetic, potential, q)) return false;
    q_.assign(q.begin(), q.end());
    u_.assign(u.begin(), u.end());
    const Admission admission = admitter_.admit(q_, u_);
    if (admission == Admission::admissible) return true;
    if (admission == Admission::inadmissible) return false;
    return decision_.inside(kinetic, energy_at(model_, workspace_, 0.0, q_, u_).potential, q_);
}

Starts::Starts(const model::Mechanics& model, std::span<const int> components)
    : model_(model),
      components_(components.begin(), components.end()),
      admitter_(model, components),
      workspace_(model) {}

Start Starts::make(std::span<const double> values) {
    Start start;
    start.q = model_.q0;
    start.u = model_.u0;
    for (std::size_t k = 0; k < components_.size(); ++k) {
        const int c = components_[k];
        (c < model_.size() ? start.q[ix(c)] : start.u[ix(c - model_.size())]) = values[k];
    }
    start.admission = admitter_.admit(start.q, start.u);
    const model::Energy e = energy_at(model_, workspace_, 0.0, start.q, start.u);
    start.kinetic = e.kinetic;
    start.potential = e.potential;
    return start;
}

/// Rest: T <= slow for slow_steps steps in a row; it began with the first of them. Forces that hold a resting body may
/// let it creep or vibrate below this bound, and a turning point of a moving body is slow for a few steps only.
Ending by_moreau(const model::Mechanics& model, const integrate::Moreau& method, const Decision& decision,
                 const Start& start, bool stop_when_captured) {
    integrate::moreau::Stepper stepper(model, method);
    CaptureTest captured(model, decision);
    integrate::moreau::Point at, next;
    at.q = start.q;
    at.u = start.u;
    stepper.begin(at);
    next = at;
    Ending end;
    const double h = method.h;
    double slow_since = 0.0;
    int slow = 0;
    if (method.implicit) stepper.become_implicit();
    for (std::int64_t k = 1; at.t < decision.t_max; ++k) {
        double t = static_cast<double>(k) * h;
        if (t > decision.t_max - Decision::last_step_stretch * h) t = decision.t_max;
        if ((k - 1) % steps_between_stiffness == 0 && !stepper.implicit() &&
            stepper.stiff(at, h, k == 1 ? first_stiffness_iterations : further_stiffness_iterations))
            stepper.become_implicit();
        if (k % steps_between_polls == 0 && decision.interrupted && decision.interrupted()) {
            end.fate = Fate::pending;
            return end;
        }
        if (!stepper.step(at, t, next)) {
            end.fate = Fate::failed;
            break;
        }
        ++end.steps;
        std::swap(at, next);
        const model::Energy e = stepper.energy_at(at.t, at.q, at.u);
        if (e.kinetic > decision.slow) {
            slow = 0;
        } else {
            if (slow == 0) slow_since = at.t;
            if (++slow == Decision::slow_steps) {
                end.fate = Fate::rest;
                break;
            }
        }
        if (stop_when_captured && k % Decision::steps_between_captures == 0 &&
            captured(e.kinetic, e.potential, at.q, at.u)) {
            end.fate = Fate::captured;
            break;
        }
    }
    end.t = end.fate == Fate::rest ? slow_since : at.t;
    end.q = at.q;
    return end;
}

namespace {

/// The state at which a motion enters the level set, if it does: the first step of the integrator whose end is inside,
/// then bisection within this step.
std::optional<trajectory::State> entry(const model::Mechanics& model, const trajectory::Trajectory& motion,
                                       const Decision& decision) {
    model::Workspace workspace(model);
    const auto captured = [&](const trajectory::State& s, double t) {
        const model::Energy e = energy_at(model, workspace, t, s.q, s.u);
        return decision.inside(e.kinetic, e.potential, s.q);
    };
    for (const trajectory::Arc& arc : motion.arcs)
        for (const ode::Dense& step : arc.steps)
            for (const ode::StepPart part : ode::StepParts(step, arc.t_end)) {
                if (!captured(motion.right(part.to), part.to)) continue;
                double before = part.from, after = part.to;
                for (int k = 0; k < max_entry_bisections && after - before > entry_accuracy * (1.0 + after); ++k) {
                    const double middle = 0.5 * (before + after);
                    (captured(motion.right(middle), middle) ? after : before) = middle;
                }
                trajectory::State s = motion.right(after);
                s.t = after;
                return s;
            }
    return {};
}

/// The time since which a motion has been slow until its end; its end if it is not slow. Each step of the integrator is
/// tested at 17 times, backwards from the end of the motion.
double slow_since(const model::Mechanics& model, const trajectory::Trajectory& motion, const Decision& decision) {
    model::Workspace workspace(model);
    const std::size_t n = motion.end.q.size();
    const auto slow = [&](const double* x, double t) {
        return energy_at(model, workspace, t, {x, n}, {x + n, n}).kinetic <= decision.slow;
    };
    constexpr int samples_of_slow_step = 16;
    std::vector<double> x(2 * n + 2);
    double since = motion.end.t;
    for (auto arc = motion.arcs.rbegin(); arc != motion.arcs.rend(); ++arc)
        for (auto step = arc->steps.rbegin(); step != arc->steps.rend(); ++step)
            for (int k = samples_of_slow_step; k >= 0; --k) {
                const double end = std::min(step->t_new(), arc->t_end);
                const double t =
                    k == samples_of_slow_step ? end : step->t_old() + (end - step->t_old()) * k / samples_of_slow_step;
                step->evaluate(t, x.data());
                if (!slow(x.data(), t)) return since;
                since = t;
            }
    return since;
}

}  // namespace

Ending by_events(const model::Mechanics& model, const integrate::EventDriven& method, const Decision& decision,
                 const Start& start, bool stop_when_captured) {
    integrate::EventDriven kept = method;
    kept.keep_arcs = true;
    integrate::Options options;
    options.t_end = decision.t_max;
    options.start = trajectory::State{0.0, start.q, start.u};
    options.interrupted = decision.interrupted;
    const trajectory::Trajectory motion = integrate::simulate(model, kept, options);
    Ending end;
    end.steps = motion.statistics.steps;
    end.t = motion.end.t;
    end.q = motion.end.q;
    if (motion.status == trajectory::Status::interrupted) {
        end.fate = Fate::pending;
        return end;
    }
    if (motion.status == trajectory::Status::inaccurate) {  // its end is no evidence
        end.fate = Fate::failed;
        return end;
    }
    if (stop_when_captured && decision.level != nullptr)
        if (const std::optional<trajectory::State> s = entry(model, motion, decision)) {
            end.fate = Fate::captured;
            end.t = s->t;
            end.q = s->q;
            return end;
        }
    const double since = slow_since(model, motion, decision);
    if (since < motion.end.t - shortest_rest * decision.t_max) {
        end.fate = Fate::rest;
        end.t = since;
    } else if (motion.status != trajectory::Status::completed) {
        end.fate = Fate::failed;
    }
    return end;
}

}  // namespace saltus::stability
