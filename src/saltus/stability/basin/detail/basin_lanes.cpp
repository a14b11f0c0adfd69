// SPDX-License-Identifier: Apache-2.0
#include "saltus/stability/basin/detail/basin_lanes.hpp"

#include <array>

#include "saltus/integrate/moreau/moreau_implicit.hpp"
#include "saltus/integrate/moreau/moreau_lanes.hpp"
#include "saltus/model/mass.hpp"

namespace saltus::stability {

namespace {

using integrate::moreau::LaneStepper;
using integrate::moreau::Stiffness;

constexpr std::size_t width = LaneStepper::width;
constexpr std::int64_t steps_between_looks = 200;  // at the stiffness of the forces, as in by_moreau

class Lanes {
public:
    Lanes(const model::Model& model, const integrate::Moreau& method, const Decision& decision)
        : model_(model),
          method_(method),
          decision_(decision),
          stepper_(model, method),
          workspace_(model),
          terms_(model.layout()),
          mass_(model.layout().mass),
          q_(model.coordinates.size()),
          u_(model.coordinates.size()) {}

    void run(const std::function<std::optional<Task>()>& next,
             const std::function<void(const Task&, const Ending&)>& finish) {
        next_ = &next;
        finish_ = &finish;
        for (std::size_t lane = 0; lane < width; ++lane) refill(lane);
        for (long round = 1; busy_ > 0; ++round) {
            if (round % 1024 == 0 && decision_.interrupted && decision_.interrupted()) return;
            for (std::size_t lane = 0; lane < width; ++lane) {
                Motion& m = motions_[lane];
                if (m.task && m.steps % steps_between_looks == 0 && stiff(lane)) alone(lane);
                const double t = static_cast<double>(m.steps + 1) * method_.h;
                to_[lane] = t > decision_.t_max - 1e-9 * method_.h ? decision_.t_max : t;
            }
            stepper_.step(to_);
            stepper_.energies(kinetic_, potential_);
            for (std::size_t lane = 0; lane < width; ++lane) look(lane);
        }
    }

private:
    struct Motion {
        std::optional<Task> task;
        std::int64_t steps = 0;
        int slow = 0;
        double slow_since = 0.0;
        std::optional<Stiffness> stiffness;
    };

    /// The next motion that is one for lanes.
    void refill(std::size_t lane) {
        Motion& m = motions_[lane];
        if (m.task) --busy_;
        m.steps = 0;
        m.slow = 0;
        m.stiffness.reset();
        m.task = (*next_)();
        if (!m.task) return idle(lane);
        ++busy_;
        if (!stepper_.load(lane, m.task->start.q, m.task->start.u)) alone(lane);
    }

    /// A lane without work goes on from somewhere harmless.
    void idle(std::size_t lane) { stepper_.load(lane, model_.q0, model_.u0); }

    void end(std::size_t lane, Fate fate, double t) {
        Motion& m = motions_[lane];
        Ending ending;
        ending.fate = fate;
        ending.t = t;
        ending.steps = m.steps;
        for (int i = 0; i < model_.size(); ++i) ending.q.push_back(stepper_.q(i, lane));
        (*finish_)(*m.task, ending);
        refill(lane);
    }

    void alone(std::size_t lane) {
        const Task& task = *motions_[lane].task;
        (*finish_)(task, by_moreau(model_, method_, decision_, task.start, task.captured_counts));
        refill(lane);
    }

    bool stiff(std::size_t lane) {
        Motion& m = motions_[lane];
        for (int i = 0; i < model_.size(); ++i) {
            q_[static_cast<std::size_t>(i)] = stepper_.q(i, lane);
            u_[static_cast<std::size_t>(i)] = stepper_.u(i, lane);
        }
        const double t = stepper_.t(lane);
        model::evaluate(model_, workspace_, t, q_, u_, terms_);
        if (!mass_.factorise(terms_.M)) return false;
        if (!m.stiffness) m.stiffness.emplace(model_);
        return m.stiffness->beyond(t, q_, u_, method_.h, m.steps == 0 ? 16 : 3,
                                   [&](std::span<double> x) { mass_.solve(x); });
    }

    void look(std::size_t lane) {
        Motion& m = motions_[lane];
        if (!m.task) {
            if (++m.steps % 1000 == 0 || stepper_.lost(lane)) m.steps = 0, idle(lane);
            return;
        }
        if (stepper_.lost(lane)) return alone(lane);
        ++m.steps;
        const double t = stepper_.t(lane);
        if (kinetic_[lane] > decision_.slow) {
            m.slow = 0;
        } else {
            if (m.slow == 0) m.slow_since = t;
            if (++m.slow == Decision::slow_steps) return end(lane, Fate::rest, m.slow_since);
        }
        if (m.task->captured_counts && m.steps % Decision::steps_to_look == 0 &&
            decision_.height(kinetic_[lane], potential_[lane]) < decision_.level->rho) {
            for (int i = 0; i < model_.size(); ++i) q_[static_cast<std::size_t>(i)] = stepper_.q(i, lane);
            if (decision_.inside(kinetic_[lane], potential_[lane], q_)) return end(lane, Fate::captured, t);
        }
        if (t >= decision_.t_max) end(lane, Fate::undecided, t);
    }

    const model::Model& model_;
    const integrate::Moreau& method_;
    const Decision& decision_;
    LaneStepper stepper_;
    model::Workspace workspace_;
    model::Terms terms_;
    model::MassFactor mass_;
    std::vector<double> q_, u_;
    std::array<Motion, width> motions_;
    int busy_ = 0;
    expr::Lanes to_{0.0}, kinetic_{0.0}, potential_{0.0};
    const std::function<std::optional<Task>()>* next_ = nullptr;
    const std::function<void(const Task&, const Ending&)>* finish_ = nullptr;
};

}  // namespace

void by_moreau_in_lanes(const model::Model& model, const integrate::Moreau& method, const Decision& decision,
                        const std::function<std::optional<Task>()>& next,
                        const std::function<void(const Task&, const Ending&)>& finish) {
    Lanes(model, method, decision).run(next, finish);
}

}  // namespace saltus::stability
