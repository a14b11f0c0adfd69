// SPDX-License-Identifier: Apache-2.0
#include "saltus/stability/basin/detail/basin_motion.hpp"

#include <cmath>
#include <optional>

#include "saltus/base/index.hpp"
#include "saltus/base/stop.hpp"
#include "saltus/integrate/moreau/moreau_step.hpp"
#include "saltus/integrate/section_passages.hpp"

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

model::Energy energy_at(const model::Mechanics& model, model::Workspace& workspace, double t, std::span<const double> q,
                        std::span<const double> u) {
    return model.system->energy(model::at(model, t, q, u), workspace.scratch());
}

/// The components of the state among those of the axes.
std::vector<int> states_of(std::span<const int> components) {
    std::vector<int> list;
    for (const int c : components)
        if (c >= 0) list.push_back(c);
    return list;
}

}  // namespace

double closed_distance(std::span<const double> q) {
    constexpr double closed_gap = 1e-6;  // in max(1, |q_i|)
    double size = 1.0;
    for (const double x : q) size = std::max(size, std::abs(x));
    return closed_gap * size;
}

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

StartStates::StartStates(const model::Mechanics& model, std::span<const int> components)
    : model_(model),
      components_(components.begin(), components.end()),
      admitter_(model, states_of(components)),
      workspace_(model) {}

Start StartStates::make(std::span<const double> values) {
    Start start;
    make(values, start);
    return start;
}

void StartStates::make(std::span<const double> values, Start& start) {
    start.q = model_.q0;
    start.u = model_.u0;
    for (std::size_t k = 0; k < components_.size(); ++k) {
        const int c = components_[k];
        if (c < 0) continue;
        (c < model_.size() ? start.q[ix(c)] : start.u[ix(c - model_.size())]) = values[k];
    }
    start.admission = admitter_.admit(start.q, start.u);
    const model::Energy e = energy_at(model_, workspace_, 0.0, start.q, start.u);
    start.kinetic = e.kinetic;
    start.potential = e.potential;
}

Ending ending_of(const StepRepeats& repeats, std::int64_t steps) {
    Ending end;
    end.fate = Fate::repeats;
    end.t = repeats.since();
    end.steps = steps;
    end.returns = repeats.returns();
    end.q = repeats.q();
    end.u = repeats.u();
    return end;
}

namespace {

/// Rest: T <= slow for rest_steps steps in a row; it began with the first of them. Forces that hold a resting body may
/// let it creep or vibrate below this bound, and a turning point of a moving body is slow for a few steps only.
Ending stepped(const model::Mechanics& model, const integrate::Moreau& method, const Decision& decision,
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
    std::int64_t slow = 0;
    StepRepeats repeats(decision.repeat, decision.periods, decision.steps_of_period);
    repeats.begin(at.q, at.u);
    const bool large = model.size() >= Decision::coordinates_polling_every_step;
    if (method.implicit) stepper.become_implicit();
    for (std::int64_t k = 1; at.t < decision.t_max; ++k) {
        double t = static_cast<double>(k) * h;
        if (t > decision.t_max - Decision::last_step_stretch * h) t = decision.t_max;
        if ((k - 1) % steps_between_stiffness == 0 && !stepper.implicit() &&
            stepper.stiff(at, h, k == 1 ? first_stiffness_iterations : further_stiffness_iterations))
            stepper.become_implicit();
        const bool polls = k % steps_between_polls == 0 || large;
        if (polls && decision.interrupted && decision.interrupted()) {
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
            if (++slow == decision.rest_steps) {
                end.fate = Fate::rest;
                break;
            }
        }
        if (stop_when_captured && k % Decision::steps_between_captures == 0 &&
            captured(e.kinetic, e.potential, at.q, at.u)) {
            end.fate = Fate::captured;
            break;
        }
        if (repeats.step(k, at.t, at.q, at.u)) return ending_of(repeats, end.steps);
    }
    end.t = end.fate == Fate::rest ? slow_since : at.t;
    end.q = at.q;
    end.u = at.u;
    return end;
}

}  // namespace

Ending by_moreau(const model::Mechanics& model, const integrate::Moreau& method, const Decision& decision,
                 const Start& start, bool stop_when_captured) {
    try {
        const Stoppable here(decision.interrupted);
        return stepped(model, method, decision, start, stop_when_captured);
    } catch (const Stopped&) {  // within a step
        Ending end;
        end.fate = Fate::pending;
        return end;
    }
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

namespace {

/// The end of a motion by the event-driven method that was simulated as a whole.
Ending by_whole_motion(const model::Mechanics& model, const integrate::EventDriven& method, const Decision& decision,
                       const Start& start, bool stop_when_captured) {
    integrate::Options options;
    options.t_end = decision.t_max;
    options.start = trajectory::State{0.0, start.q, start.u};
    options.interrupted = decision.interrupted;
    const trajectory::Trajectory motion = integrate::simulate(model, method, options);
    Ending end;
    end.steps = motion.statistics.steps;
    end.t = motion.end.t;
    end.q = motion.end.q;
    end.u = motion.end.u;
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
            end.u = s->u;
            return end;
        }
    const double since = slow_since(model, motion, decision);
    if (since < motion.end.t - Decision::shortest_rest * decision.t_max) {
        end.fate = Fate::rest;
        end.t = since;
    } else if (motion.status != trajectory::Status::completed) {
        end.fate = Fate::failed;
    }
    return end;
}

/// Follows a motion piece by piece until it repeats, or until t_max. A piece has `periods_of_a_piece` periods, or is
/// this part of t_max.
class PiecewiseMotion {
public:
    PiecewiseMotion(const model::Mechanics& model, const integrate::EventDriven& method, const Decision& decision)
        : model_(model),
          method_(method),
          decision_(decision),
          workspace_(model),
          test_(decision.repeat, decision.periods),
          n_(model.coordinates.size()) {}

    Ending follow(const Start& start) {
        constexpr int periods_of_a_piece = 8;
        constexpr double pieces = 64.0;
        const double T = decision_.repeat.period;
        double rest_since = 0.0;  // the motion has been slow since this time
        trajectory::State at{0.0, start.q, start.u};
        Ending end;
        for (long piece = 1; at.t < decision_.t_max; ++piece) {
            integrate::Options options;
            options.start = at;
            options.interrupted = decision_.interrupted;
            const double whole = T > 0.0 ? static_cast<double>(piece * periods_of_a_piece) * T
                                         : static_cast<double>(piece) * decision_.t_max / pieces;
            options.t_end = std::min(whole, decision_.t_max);
            const trajectory::Trajectory motion = integrate::simulate(model_, method_, options);
            end.steps += motion.statistics.steps;
            end.t = motion.end.t;
            end.q = motion.end.q;
            end.u = motion.end.u;
            if (motion.status != trajectory::Status::completed) {
                end.fate = motion.status == trajectory::Status::interrupted ? Fate::pending : Fate::failed;
                return end;
            }
            const double slow = slow_since(model_, motion, decision_);
            if (slow > motion.start.t) rest_since = slow;
            if (take_points(motion, end)) return end;
            at = motion.end;
        }
        if (rest_since < at.t - Decision::shortest_rest * decision_.t_max) {
            end.fate = Fate::rest;
            end.t = rest_since;
        }
        return end;
    }

private:
    struct Point {
        double t = 0.0;
        std::vector<double> q, u;
    };

    /// The states of a piece at multiples of the period, or where it passes the section.
    std::vector<Point> points_of(const trajectory::Trajectory& motion) {
        std::vector<Point> list;
        const double T = decision_.repeat.period;
        for (; T > 0.0 && static_cast<double>(number_) * T <= motion.end.t; ++number_) {
            const trajectory::State s = motion.right(static_cast<double>(number_) * T);
            list.push_back({static_cast<double>(number_) * T, s.q, s.u});
        }
        if (T > 0.0) return list;
        integrate::section_passages(
            motion.arcs, n_,
            [&](std::span<const double> x) { return decision_.repeat.section(x.first(n_), x.subspan(n_, n_)); },
            [&](double t, std::span<const double> x) {
                const auto middle = x.begin() + static_cast<std::ptrdiff_t>(n_);
                list.push_back({t, {x.begin(), middle}, {middle, x.end()}});
            });
        return list;
    }

    /// Gives the points of a piece to the test. Whether the motion repeats.
    bool take_points(const trajectory::Trajectory& motion, Ending& end) {
        constexpr int samples_of_a_part = 8;  // for the range of the motion, and whether it moves
        const std::vector<Point> points = points_of(motion);
        std::size_t next = 0;
        std::vector<double> x(2 * n_ + 2);
        const std::span<const double> q(x.data(), n_), u(x.data() + n_, n_);
        for (const trajectory::Arc& arc : motion.arcs)
            for (const ode::Dense& step : arc.steps)
                for (const ode::StepPart part : ode::StepParts(step, arc.t_end))
                    for (int k = 1; k <= samples_of_a_part; ++k) {
                        const double t = part.from + (part.to - part.from) * k / samples_of_a_part;
                        for (; next < points.size() && points[next].t <= t; ++next)
                            if (at_point(points[next], end)) return true;
                        step.evaluate(t, x.data());
                        test_.pass(q, u);
                        fast_ = fast_ || energy_at(model_, workspace_, t, q, u).kinetic > decision_.slow;
                    }
        for (; next < points.size(); ++next)
            if (at_point(points[next], end)) return true;
        return false;
    }

    bool at_point(const Point& p, Ending& end) {
        // A motion at rest does not repeat: its points are equal because nothing moves.
        if (!fast_) test_.begin();
        fast_ = false;
        const int returns = test_.add(p.t, p.q, p.u);
        if (returns == 0) return false;
        end.fate = Fate::repeats;
        end.returns = returns;
        end.t = test_.since();
        end.q = p.q;
        end.u = p.u;
        return true;
    }

    const model::Mechanics& model_;
    const integrate::EventDriven& method_;
    const Decision& decision_;
    model::Workspace workspace_;
    RepeatTest test_;
    const std::size_t n_;
    long number_ = 1;    ///< of the next multiple of the period
    bool fast_ = false;  ///< the motion was not slow at some time since the last point
};

}  // namespace

Ending by_events(const model::Mechanics& model, const integrate::EventDriven& method, const Decision& decision,
                 const Start& start, bool stop_when_captured) {
    integrate::EventDriven kept = method;
    kept.keep_arcs = true;
    if (decision.repeat.active()) return PiecewiseMotion(model, kept, decision).follow(start);
    return by_whole_motion(model, kept, decision, start, stop_when_captured);
}

}  // namespace saltus::stability
