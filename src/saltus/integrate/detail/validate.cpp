// SPDX-License-Identifier: Apache-2.0
#include "saltus/integrate/detail/validate.hpp"

#include <algorithm>
#include <cmath>

#include "saltus/base/index.hpp"
#include "saltus/base/text.hpp"
#include "saltus/integrate/mode/active.hpp"
#include "saltus/model/evaluate.hpp"
#include "saltus/model/feedback.hpp"
#include "saltus/model/mechanics.hpp"

namespace saltus::integrate {

namespace {

using trajectory::Mode;

constexpr std::size_t max_complaints = 50;    // further violations are not listed
constexpr double defect_of_nan = 1e300;       // a defect that is NaN counts as this
constexpr double undecided_condition = 1e-9;  // a contact exists if its condition is above it; events blur the zero
constexpr double smallest_momentum = 1e-300;  // keeps the relative defect finite for a system at rest

/// One validation; collects the largest defects and the complaints.
class Check {
public:
    Check(const trajectory::Trajectory& t, const model::Mechanics& m, double tolerance)
        : t_(t), m_(m), tolerance_(tolerance), workspace_(m), terms_(m.layout()), rows_(element_rows(m)) {}

    Validation run(int samples) {
        for (std::size_t a = 0; a < t_.arcs.size(); ++a) {
            check_joint(a);
            for (const ode::Dense& step : t_.arcs[a].steps) {
                for (const auto [begin, end] : ode::StepParts(step, t_.arcs[a].t_end))
                    for (int k = 1; k <= samples; ++k)
                        check_state(t_.arcs[a], step, begin + (end - begin) * k / samples);
            }
        }
        for (const trajectory::Event& e : t_.events) check_event(e);
        return std::move(out_);
    }

private:
    /// Keeps the largest defect, and complains about one above the tolerance.
    void note(double& worst, double defect, const std::string& what, double time) {
        if (defect > tolerance_ && out_.complaints.size() < max_complaints)
            out_.complaints.push_back(what + " by " + number_text(defect) + " at t = " + number_text(time));
        worst = std::max(worst, std::isnan(defect) ? defect_of_nan : defect);
    }

    /// Checks that q is continuous between arcs, and u too unless an event happens at that time. The held forces of a
    /// control that samples are positions that may jump at an event, and a jump of the model may change all of them.
    void check_joint(std::size_t a) {
        if (a == 0 || t_.arcs[a].steps.empty() || t_.arcs[a - 1].steps.empty()) return;
        const double time = t_.arcs[a].t_begin;
        if (t_.arcs[a - 1].t_end != time) out_.complaints.push_back("arcs do not meet at t = " + number_text(time));
        const std::size_t n = m_.coordinates.size();
        std::vector<double> before(ix(t_.arcs[a - 1].steps.back().size())), after(ix(t_.arcs[a].steps.front().size()));
        t_.arcs[a - 1].steps.back().evaluate(time, before.data());
        t_.arcs[a].steps.front().evaluate(time, after.data());
        const auto at = std::lower_bound(t_.events.begin(), t_.events.end(), time,
                                         [](const trajectory::Event& e, double t) { return e.t < t; });
        const bool event = at != t_.events.end() && at->t == time;
        double q = 0.0, u = 0.0, speed = 1.0;
        const model::SampledLaw* const sampled = m_.sampled.get();
        bool reset = false;  // a jump of the model
        for (auto e = at; e != t_.events.end() && e->t == time; ++e)
            reset = reset || e->kind == trajectory::EventKind::jump;
        const auto held = [&](std::size_t i) {
            if (reset) return true;
            return event && sampled != nullptr &&
                   std::find(sampled->held.begin(), sampled->held.end(), static_cast<int>(i)) != sampled->held.end();
        };
        for (std::size_t i = 0; i < n; ++i) {
            if (!held(i)) q = std::max(q, std::abs(after[i] - before[i]) / (1.0 + std::abs(before[i])));
            u = std::max(u, std::abs(after[n + i] - before[n + i]));
            speed = std::max(speed, std::abs(before[n + i]));
        }
        note(out_.position_jump, q, "q jumps", time);
        if (!event) note(out_.velocity_jump, u / speed, "u jumps without an event", time);
    }

    /// Checks that constraints hold, contacts do not penetrate, and modes agree with gaps and slip velocities.
    void check_state(const trajectory::Arc& arc, const ode::Dense& step, double time) {
        const auto n = ix(m_.size());
        x_.resize(ix(step.size()));
        step.evaluate(time, x_.data());
        const std::span<const double> q(x_.data(), n), u(x_.data() + n, n);
        model::evaluate(m_, workspace_, time, q, u, terms_);
        const model::Pattern& W = m_.layout().rows;
        for (const model::Constraint& c : m_.constraints)
            note(out_.constraint,
                 std::abs(terms_.positions[ix(c.row)]) / model::row_scale(W, terms_.W, c.row, c.on_velocity ? u : q),
                 "constraint " + c.name + " is violated", time);
        if (arc.modes.size() != rows_.size()) return;
        coefficients_.resize(ix(m_.layout().coefficients));
        m_.system->coefficients(model::at(m_, time, q, u), workspace_.scratch(), coefficients_);
        const auto exists = [&](const ElementRows& e) {
            const model::Coefficient c = m_.contacts[ix(e.index)].condition;
            return c == model::no_coefficient || coefficients_[ix(c)] > undecided_condition;
        };
        for (std::size_t i = 0; i < rows_.size(); ++i) {
            const ElementRows& e = rows_[i];
            if (e.kind == trajectory::ElementKind::contact && t_.method != "penalty" && exists(e)) {
                const double gap = terms_.positions[ix(e.normal)], scale = model::row_scale(W, terms_.W, e.normal, q);
                note(out_.gap, -gap / scale, "contact " + t_.elements[i].name + " penetrates", time);
                if (arc.modes[i] != Mode::open)
                    note(out_.complementarity, std::abs(gap) / scale,
                         "contact " + t_.elements[i].name + " is open though it counts as closed", time);
            }
            if (arc.modes[i] == Mode::stick)
                for (int r = 0; r < e.slips; ++r)
                    note(out_.complementarity,
                         std::abs(model::row_velocity(m_.layout(), terms_, e.first_slip + r, u)) /
                             model::row_scale(W, terms_.W, e.first_slip + r, u),
                         t_.elements[i].name + " slips though it counts as sticking", time);
        }
    }

    /// Checks that the impulses of an impact equal the change of momentum: M(u⁺ − u⁻) = WΛ.
    void check_event(const trajectory::Event& e) {
        if (e.kind != trajectory::EventKind::impact && e.kind != trajectory::EventKind::painleve) return;
        const auto n = ix(m_.size());
        model::evaluate(m_, workspace_, e.t, e.q, e.u_minus, terms_);
        std::vector<double> momentum(n, 0.0);
        double scale = smallest_momentum;
        const model::Pattern& M = m_.layout().mass;
        for (int i = 0; i < M.rows; ++i)
            for (int k = M.start[ix(i)]; k < M.start[ix(i) + 1]; ++k) {
                const int j = M.column[ix(k)];
                momentum[ix(i)] += terms_.M[ix(k)] * (e.u_plus[ix(j)] - e.u_minus[ix(j)]);
                if (j != i) momentum[ix(j)] += terms_.M[ix(k)] * (e.u_plus[ix(i)] - e.u_minus[ix(i)]);
                scale = std::max(
                    scale, std::abs(terms_.M[ix(k)]) * std::max(std::abs(e.u_minus[ix(j)]), std::abs(e.u_plus[ix(j)])));
            }
        const model::Pattern& W = m_.layout().rows;
        const auto add = [&](int row, double value) {
            for (int k = W.start[ix(row)]; k < W.start[ix(row) + 1]; ++k)
                momentum[ix(W.column[ix(k)])] -= value * terms_.W[ix(k)];
        };
        for (const trajectory::Reaction& r : e.impulses) {
            const ElementRows& rows = rows_[ix(r.element)];
            if (rows.normal >= 0) add(rows.normal, r.N);
            for (std::size_t k = 0; k < r.T.size(); ++k) add(rows.first_slip + static_cast<int>(k), r.T[k]);
        }
        double worst = 0.0;
        for (const double p : momentum) worst = std::max(worst, std::abs(p));
        note(out_.momentum, worst / scale, "the impulses do not make up the change of momentum", e.t);
    }

    const trajectory::Trajectory& t_;
    const model::Mechanics& m_;
    double tolerance_;
    model::Workspace workspace_;
    model::Terms terms_;
    std::vector<ElementRows> rows_;
    std::vector<double> x_, coefficients_;
    Validation out_;
};

}  // namespace

Validation validate(const trajectory::Trajectory& trajectory, const model::Mechanics& model, double tolerance,
                    int samples) {
    return Check(trajectory, model, tolerance).run(samples);
}

}  // namespace saltus::integrate
