// SPDX-License-Identifier: Apache-2.0
#include "saltus/stability/basin/detail/basin_motion.hpp"

#include <cmath>

#include "saltus/base/index.hpp"
#include "saltus/integrate/moreau/moreau_step.hpp"

namespace saltus::stability {

namespace {

model::Energy energy_at(const model::Model& model, model::Workspace& workspace, double t, std::span<const double> q,
                        std::span<const double> u) {
    return model.system->energy(model::at(model, t, q, u), workspace.scratch());
}

}  // namespace

bool Decision::inside(double kinetic, double potential, std::span<const double> q) const {
    if (level == nullptr || !(height(kinetic, potential) < level->rho)) return false;
    if (!level->around) return true;
    std::vector<double> near(q.begin(), q.end());
    for (std::size_t i = 0; i < near.size(); ++i)
        if (periods[i] > 0.0) near[i] -= periods[i] * std::round((near[i] - level->q[i]) / periods[i]);
    return level->around(near);
}

Starts::Starts(const model::Model& model, std::span<const int> components)
    : model_(model),
      components_(components.begin(), components.end()),
      admitter_(model, components),
      workspace_(model) {}

void Starts::make(std::span<const double> values, Start& start) {
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
}

Ending by_moreau(const model::Model& model, const integrate::Moreau& method, const Decision& decision,
                 const Start& start, bool captured_counts) {
    constexpr int steps_between_looks = 200;  // at the stiffness of the forces, as in a single run
    integrate::moreau::Stepper stepper(model, method);
    stepper.wants_energy = false;
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
        if (t > decision.t_max - 1e-9 * h) t = decision.t_max;
        if ((k - 1) % steps_between_looks == 0 && !stepper.implicit() && stepper.stiff(at, h, k == 1 ? 16 : 3))
            stepper.become_implicit();
        if (k % 1024 == 0 && decision.interrupted && decision.interrupted()) {
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
        if (captured_counts && k % Decision::steps_to_look == 0 && decision.inside(e.kinetic, e.potential, at.q)) {
            end.fate = Fate::captured;
            break;
        }
    }
    end.t = end.fate == Fate::rest ? slow_since : at.t;
    end.q = at.q;
    return end;
}

Ending by_events(const model::Model& model, const integrate::EventDriven& method, const Decision& decision,
                 const Start& start, bool captured_counts) {
    integrate::EventDriven kept = method;
    kept.keep_arcs = true;
    integrate::Options options;
    options.t_end = decision.t_max;
    options.start = trajectory::State{0.0, start.q, start.u};
    options.interrupted = decision.interrupted;
    const trajectory::Trajectory motion = integrate::simulate(model, kept, options);
    model::Workspace workspace(model);
    const auto n = start.q.size();
    Ending end;
    end.steps = motion.statistics.steps;
    end.t = motion.end.t;
    end.q = motion.end.q;
    if (motion.status == trajectory::Status::interrupted) {
        end.fate = Fate::pending;
        return end;
    }

    const auto captured = [&](double t, trajectory::State& s) {
        s = motion.right(t);
        const model::Energy e = energy_at(model, workspace, t, s.q, s.u);
        return decision.inside(e.kinetic, e.potential, s.q);
    };
    if (captured_counts && decision.level != nullptr) {
        trajectory::State s;
        for (const trajectory::Arc& arc : motion.arcs)
            for (const ode::Dense& step : arc.steps) {
                if (!captured(step.t_new(), s)) continue;
                double before = step.t_old(), after = step.t_new();
                for (int k = 0; k < 60 && after - before > 1e-12 * (1.0 + after); ++k) {
                    const double middle = 0.5 * (before + after);
                    (captured(middle, s) ? after : before) = middle;
                }
                captured(after, s);
                end.fate = Fate::captured;
                end.t = after;
                end.q = s.q;
                return end;
            }
    }
    // Backwards from the end as long as it is slow.
    const auto slow = [&](const double* x, double t) {
        return energy_at(model, workspace, t, {x, n}, {x + n, n}).kinetic <= decision.slow;
    };
    std::vector<double> x(2 * n + 2);
    double since = motion.end.t;
    bool moving = false;
    for (auto arc = motion.arcs.rbegin(); arc != motion.arcs.rend() && !moving; ++arc)
        for (auto step = arc->steps.rbegin(); step != arc->steps.rend() && !moving; ++step)
            for (const double share : {1.0, 0.5, 0.0}) {
                const double t = share == 1.0   ? step->t_new()
                                 : share == 0.0 ? step->t_old()
                                                : 0.5 * (step->t_old() + step->t_new());
                step->evaluate(t, x.data());
                moving = !slow(x.data(), t);
                if (moving) break;
                since = t;
            }
    if (since < motion.end.t - 1e-6 * decision.t_max) {
        end.fate = Fate::rest;
        end.t = since;
    } else if (motion.status != trajectory::Status::completed) {
        end.fate = Fate::failed;
    }
    return end;
}

}  // namespace saltus::stability
