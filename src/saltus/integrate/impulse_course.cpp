// SPDX-License-Identifier: Apache-2.0
#include "saltus/integrate/impulse_course.hpp"

#include <algorithm>

#include "saltus/base/gauss.hpp"
#include "saltus/base/numbers.hpp"
#include "saltus/model/evaluate.hpp"
#include "saltus/model/mechanics.hpp"

namespace saltus::integrate {

using trajectory::Mode;

namespace {

/// An element that holds after an accumulation.
struct ActiveElement {
    int element = 0;
    int normal = -1;  ///< number of its normal row among the rows of all elements that hold, or −1
};

}  // namespace

bool changes_state(const trajectory::Event& event) {
    return event.u_minus != event.u_plus || (!event.q_plus.empty() && event.q_plus != event.q);
}

Side side_of_start(const trajectory::Trajectory& motion) {
    for (const trajectory::Event& e : motion.events) {
        if (e.t > motion.start.t) break;
        if (changes_state(e)) return Side::between;
    }
    return Side::after;
}

std::size_t arc_at(const trajectory::Trajectory& motion, double t, Side side) {
    const auto& arcs = motion.arcs;
    if (arcs.empty()) return no_arc;
    const auto begins = [](double time, const trajectory::Arc& a) { return time < a.t_begin; };
    const auto begins_not_before = [](const trajectory::Arc& a, double time) { return a.t_begin < time; };
    const auto at = side == Side::after ? std::upper_bound(arcs.begin(), arcs.end(), t, begins)
                                        : std::lower_bound(arcs.begin(), arcs.end(), t, begins_not_before);
    return at == arcs.begin() ? 0 : static_cast<std::size_t>(at - arcs.begin()) - 1;
}

ImpulseCourse::ImpulseCourse(const model::Mechanics& model, const trajectory::Trajectory& motion,
                             std::vector<int> elements)
    : model_(model), motion_(motion), course_(model, motion), elements_(std::move(elements)) {
    const std::size_t count = elements_.size();
    std::vector<double> sum(count, 0.0);
    for (std::size_t a = 0; a < motion_.arcs.size(); ++a) {
        first_of_arc_.push_back(step_begin_.size());
        for (std::size_t s = 0; s < motion_.arcs[a].steps.size(); ++s) {
            step_begin_.push_back(sum);
            for (const ode::StepPart part : ode::StepParts(motion_.arcs[a].steps[s], motion_.arcs[a].t_end))
                add_forces(a, s, part.from, part.to, sum);
        }
    }
    std::vector<double> jump(count, 0.0);
    for (const trajectory::Event& e : motion_.events) {
        const bool accumulation = e.kind == trajectory::EventKind::accumulation;
        if (e.impulses.empty() && !accumulation) continue;
        const std::vector<double> more =
            accumulation && e.impulses.empty() ? accumulated(e) : std::vector<double>(count, 0.0);
        for (std::size_t k = 0; k < count; ++k) {
            jump[k] += more[k];
            for (const trajectory::Reaction& r : e.impulses)
                if (r.element == elements_[k]) jump[k] += r.N;
        }
        jumps_.emplace_back(e.t, jump);
    }
}

void ImpulseCourse::enter(std::size_t arc) {
    if (arc == entered_ || arc >= motion_.arcs.size()) return;
    course_.enter(arc);
    entered_ = arc;
}

/// Adds ∫ λ_N dt over a part of a step. Five Gauss nodes integrate polynomials of degree 9 exactly.
void ImpulseCourse::add_forces(std::size_t arc, std::size_t step, double from, double to, std::vector<double>& sum) {
    const trajectory::Arc& a = motion_.arcs[arc];
    const bool any = std::any_of(elements_.begin(), elements_.end(), [&](int e) {
        return static_cast<std::size_t>(e) < a.modes.size() && a.modes[static_cast<std::size_t>(e)] != Mode::open;
    });
    if (!any || !(to > from)) return;
    enter(arc);
    std::vector<double> x(static_cast<std::size_t>(a.steps[step].size()));
    for (const auto& [t, dt] : gauss_points(gauss_five_nodes, from, to)) {
        a.steps[step].evaluate(t, x.data());
        course_.evaluate(t, x.data());
        for (std::size_t k = 0; k < elements_.size(); ++k)
            sum[k] += dt * course_.reactions()[static_cast<std::size_t>(elements_[k])].N;
    }
}

/// The impulses that an accumulation of impacts stands for. Over the short time Δt from the last impact that was
/// computed to the limit, the momentum changes by
///     M (u⁺ − u⁻) = h Δt + W Λ.
/// Λ is the solution of least norm over the elements that hold after the limit.
std::vector<double> ImpulseCourse::accumulated(const trajectory::Event& event) const {
    std::vector<double> out(elements_.size(), 0.0);
    const std::size_t arc = arc_at(motion_, event.t, Side::after);
    if (arc == no_arc) return out;
    const std::vector<Mode>& modes = motion_.arcs[arc].modes;
    std::vector<ActiveElement> active;
    std::vector<int> rows;
    const auto add = [&](int element, int normal, const model::Friction* friction) {
        const bool holds =
            static_cast<std::size_t>(element) < modes.size() && modes[static_cast<std::size_t>(element)] != Mode::open;
        if (!holds) return;
        ActiveElement e;
        e.element = element;
        if (normal >= 0) {
            e.normal = static_cast<int>(rows.size());
            rows.push_back(normal);
        }
        for (int k = 0; friction != nullptr && k < friction->dimension; ++k) rows.push_back(friction->first_row + k);
        active.push_back(e);
    };
    int element = 0;
    for (const model::Contact& c : model_.contacts) add(element++, c.row, &c.friction);
    for (const model::Constraint& c : model_.constraints) add(element++, c.row, &c.friction);
    for (const model::Slider& s : model_.sliders) add(element++, -1, &s.friction);
    for (const model::Clutch& c : model_.clutches) add(element++, c.row, nullptr);
    if (rows.empty()) return out;
    model::Workspace workspace(model_);
    model::Terms terms(model_.layout());
    model::evaluate(model_, workspace, event.t, event.q, event.u_plus, terms);
    const Matrix M = model::dense_symmetric(model_.layout().mass, terms.M);
    const Matrix all = model::dense(model_.layout().rows, terms.W);
    const auto n = static_cast<Eigen::Index>(event.q.size());
    Matrix W(n, static_cast<Eigen::Index>(rows.size()));
    for (std::size_t k = 0; k < rows.size(); ++k) W.col(static_cast<Eigen::Index>(k)) = all.row(rows[k]).transpose();
    Vector change(n);
    for (Eigen::Index i = 0; i < n; ++i)
        change(i) = event.u_plus[static_cast<std::size_t>(i)] - event.u_minus[static_cast<std::size_t>(i)];
    const Vector momentum = M * change - (event.t_right - event.t_left) * Eigen::Map<const Vector>(terms.h.data(), n);
    const Vector Lambda = least_squares(W, momentum);
    for (std::size_t k = 0; k < elements_.size(); ++k)
        for (const ActiveElement& e : active)
            if (e.element == elements_[k] && e.normal >= 0) out[k] = Lambda(e.normal);
    return out;
}

std::vector<double> ImpulseCourse::at(double t, Side side) {
    const std::size_t count = elements_.size();
    const std::size_t arc = arc_at(motion_, t, side);
    const bool known = !motion_.stepped && arc != no_arc && !motion_.arcs[arc].steps.empty();
    if (!known) return std::vector<double>(count, nan);
    const std::vector<ode::Dense>& steps = motion_.arcs[arc].steps;
    const auto at = std::upper_bound(steps.begin(), steps.end(), t,
                                     [](double time, const ode::Dense& s) { return time < s.t_old(); });
    const std::size_t step = at == steps.begin() ? 0 : static_cast<std::size_t>(at - steps.begin()) - 1;
    std::vector<double> sum = step_begin_[first_of_arc_[arc] + step];
    for (const ode::StepPart part : ode::StepParts(steps[step], std::min(t, motion_.arcs[arc].t_end)))
        add_forces(arc, step, part.from, part.to, sum);
    const auto passed = side == Side::after
                            ? std::upper_bound(jumps_.begin(), jumps_.end(), t,
                                               [](double time, const auto& j) { return time < j.first; })
                            : std::lower_bound(jumps_.begin(), jumps_.end(), t,
                                               [](const auto& j, double time) { return j.first < time; });
    if (passed != jumps_.begin())
        for (std::size_t k = 0; k < count; ++k) sum[k] += std::prev(passed)->second[k];
    return sum;
}

}  // namespace saltus::integrate
