// SPDX-License-Identifier: Apache-2.0
#include "saltus/stability/basin/detail/basin_lanes.hpp"

#include <array>

#include "saltus/integrate/moreau/moreau_implicit.hpp"
#include "saltus/integrate/moreau/moreau_lanes.hpp"
#include "saltus/model/mass.hpp"
#include "saltus/model/mechanics.hpp"

namespace saltus::stability {

namespace {

using integrate::moreau::LaneStepper;
using integrate::moreau::Stiffness;

constexpr std::size_t width = LaneStepper::width;
// As in by_moreau: interval between tests of the stiffness, and power iterations at the start and later.
constexpr std::int64_t steps_between_stiffness = 200;
constexpr int first_stiffness_iterations = 16, further_stiffness_iterations = 3;
constexpr long steps_between_polls = 1024;  ///< of Decision::interrupted
constexpr std::int64_t idle_steps = 1000;   ///< an idle lane is reset after so many steps, so that it stays finite

class Lanes {
public:
    Lanes(const model::Mechanics& model, const integrate::Moreau& method, const Decision& decision)
        : model_(model),
          method_(method),
          decision_(decision),
          stepper_(model, method),
          workspace_(model),
          terms_(model.layout()),
          mass_(model.layout().mass),
          captured_(model, decision),
          q_(model.coordinates.size()),
          u_(model.coordinates.size()) {
        for (Motion& m : motions_) m.repeats.emplace(decision.repeat, decision.periods, decision.steps_of_period);
    }

    void run(const std::function<std::optional<Task>()>& next,
             const std::function<void(const Task&, const Ending&)>& finish) {
        next_ = &next;
        finish_ = &finish;
        for (std::size_t lane = 0; lane < width; ++lane) refill(lane);
        for (long round = 1; busy_ > 0; ++round) {
            const bool polls =
                round % steps_between_polls == 0 || model_.size() >= Decision::coordinates_polling_every_step;
            if (polls && decision_.interrupted && decision_.interrupted()) return;
            for (std::size_t lane = 0; lane < width; ++lane) {
                Motion& m = motions_[lane];
                if (m.task && m.steps % steps_between_stiffness == 0 && stiff(lane)) simulate_alone(lane);
                const double t = static_cast<double>(m.steps + 1) * method_.h;
                to_[lane] = t > decision_.t_max - Decision::last_step_stretch * method_.h ? decision_.t_max : t;
            }
            stepper_.step(to_);
            stepper_.energies(kinetic_, potential_);
            for (std::size_t lane = 0; lane < width; ++lane) decide(lane);
        }
    }

private:
    /// The motion in a lane.
    struct Motion {
        std::optional<Task> task;  ///< nothing: the lane is idle
        std::int64_t steps = 0;
        std::int64_t slow = 0;  ///< slow steps in a row
        double slow_since = 0.0;
        std::optional<Stiffness> stiffness;
        std::optional<StepRepeats> repeats;
    };

    /// Loads the next motion into a lane; motions that lanes cannot simulate are simulated at once.
    void refill(std::size_t lane) {
        Motion& m = motions_[lane];
        if (m.task) --busy_;
        m.steps = 0;
        m.slow = 0;
        m.stiffness.reset();
        m.task = (*next_)();
        if (!m.task) return idle(lane);
        ++busy_;
        m.repeats->begin(m.task->start.q, m.task->start.u);
        if (!stepper_.load(lane, m.task->start.q, m.task->start.u)) simulate_alone(lane);
    }

    /// A lane without a task integrates the initial state of the model; the results are not used.
    void idle(std::size_t lane) { stepper_.load(lane, model_.q0, model_.u0); }

    void end(std::size_t lane, Fate fate, double t) {
        Motion& m = motions_[lane];
        Ending ending;
        ending.fate = fate;
        ending.t = t;
        ending.steps = m.steps;
        get_state(lane);
        ending.q = q_;
        ending.u = u_;
        (*finish_)(*m.task, ending);
        refill(lane);
    }

    /// Copies the state of a lane to q_ and u_.
    void get_state(std::size_t lane) {
        for (int i = 0; i < model_.size(); ++i) {
            q_[static_cast<std::size_t>(i)] = stepper_.q(i, lane);
            u_[static_cast<std::size_t>(i)] = stepper_.u(i, lane);
        }
    }

    /// Simulates the motion of a lane from its start by the scalar method.
    void simulate_alone(std::size_t lane) {
        const Task& task = *motions_[lane].task;
        (*finish_)(task, by_moreau(model_, method_, decision_, task.start, task.stop_when_captured));
        refill(lane);
    }

    bool stiff(std::size_t lane) {
        Motion& m = motions_[lane];
        get_state(lane);
        const double t = stepper_.t(lane);
        model::evaluate(model_, workspace_, t, q_, u_, terms_);
        if (!mass_.factorise(terms_.M)) return false;
        if (!m.stiffness) m.stiffness.emplace(model_);
        return m.stiffness->beyond(t, q_, u_, method_.h,
                                   m.steps == 0 ? first_stiffness_iterations : further_stiffness_iterations,
                                   [&](std::span<double> x) { mass_.solve(x); });
    }

    /// Applies the rules of Decision to a lane after a step, as by_moreau does.
    void decide(std::size_t lane) {
        Motion& m = motions_[lane];
        if (!m.task) {
            if (++m.steps % idle_steps == 0 || stepper_.lost(lane)) m.steps = 0, idle(lane);
            return;
        }
        if (stepper_.lost(lane)) return simulate_alone(lane);
        ++m.steps;
        const double t = stepper_.t(lane);
        if (kinetic_[lane] > decision_.slow) {
            m.slow = 0;
        } else {
            if (m.slow == 0) m.slow_since = t;
            if (++m.slow == decision_.rest_steps) return end(lane, Fate::rest, m.slow_since);
        }
        if (m.task->stop_when_captured && m.steps % Decision::steps_between_captures == 0 &&
            decision_.height(kinetic_[lane], potential_[lane]) < decision_.level->rho) {
            get_state(lane);
            if (captured_(kinetic_[lane], potential_[lane], q_, u_)) return end(lane, Fate::captured, t);
        }
        if (decision_.repeat.active()) {
            get_state(lane);
            if (m.repeats->step(m.steps, t, q_, u_)) {
                (*finish_)(*m.task, ending_of(*m.repeats, m.steps));
                return refill(lane);
            }
        }
        if (t >= decision_.t_max) end(lane, Fate::undecided, t);
    }

    const model::Mechanics& model_;
    const integrate::Moreau& method_;
    const Decision& decision_;
    LaneStepper stepper_;
    model::Workspace workspace_;
    model::Terms terms_;
    model::MassFactor mass_;
    CaptureTest captured_;
    std::vector<double> q_, u_;
    std::array<Motion, width> motions_;
    int busy_ = 0;  ///< lanes with a task
    expr::Lanes to_{0.0}, kinetic_{0.0}, potential_{0.0};
    const std::function<std::optional<Task>()>* next_ = nullptr;
    const std::function<void(const Task&, const Ending&)>* finish_ = nullptr;
};

}  // namespace

void by_moreau_in_lanes(const model::Mechanics& model, const integrate::Moreau& method, const Decision& decision,
                        const std::function<std::optional<Task>()>& next,
                        const std::function<void(const Task&, const Ending&)>& finish) {
    Lanes(model, method, decision).run(next, finish);
}

}  // namespace saltus::stability
