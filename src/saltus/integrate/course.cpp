// SPDX-License-Identifier: Apache-2.0
#include "saltus/integrate/course.hpp"

#include <algorithm>
#include <cmath>

#include "saltus/base/error.hpp"
#include "saltus/base/index.hpp"
#include "saltus/base/numbers.hpp"
#include "saltus/base/stop.hpp"
#include "saltus/integrate/detail/mean_friction.hpp"
#include "saltus/integrate/event/watch.hpp"
#include "saltus/integrate/mode/dynamics.hpp"
#include "saltus/integrate/mode/thresholds.hpp"
#include "saltus/model/mechanics.hpp"

namespace saltus::integrate {

using trajectory::ElementKind;
using trajectory::Mode;

namespace {

// An element with several parts of friction (sliding, drilling, rolling) slips if one of them does. A part whose speed
// is at most this, in its own unit, counts as sticking.
constexpr double smallest_slip_speed = 1e-9;
// All combinations of the signs of reactions are tried if at most this number of constraints has slipping friction: 2^6
// combinations. With more of them each round corrects the signs that do not agree with their reactions.
constexpr int max_tried_signs = 6, max_sign_rounds = 100;
// Signs belong to a motion if their accelerations are those of the motion up to this part of the acceleration scale,
// and if their reactions are inside the sets of all laws up to this part of the largest force. It is above the error of
// the derivative of a step, and is Thresholds::inadmissible_force. Too small: all signs are tried, and the best ones
// are taken. Too large: the first signs that agree are taken, although others fit.
constexpr double sign_error = Thresholds::inadmissible_force;

}  // namespace

struct Course::Parts {
    Parts(const model::Mechanics& model, bool compliant) : dynamics(model, compliant, 1.0), watcher(dynamics) {}
    Dynamics dynamics;
    Watcher watcher;
};

Course::Course(const model::Mechanics& model, const trajectory::Trajectory& t)
    : model_(model), trajectory_(t), parts_(std::make_unique<Parts>(model, t.method == "penalty")) {
    const std::vector<trajectory::Element> elements = elements_of(model);
    bool same = t.coordinates == model.coordinates && t.elements.size() == elements.size();
    for (std::size_t i = 0; same && i < elements.size(); ++i)
        same = elements[i].name == t.elements[i].name && elements[i].tangential == t.elements[i].tangential;
    if (!same) throw Error("the trajectory has other coordinates or contacts than the model");
    gaps_.resize(model.contacts.size());
}

Course::~Course() = default;

/// The stored modes of an arc say which elements are open, stick or slip. The rest of the system's mode is computed
/// from the state in the middle of the arc: the directions of slip, the signs of reactions, and whether a spring with
/// damping pulls.
void Course::enter(std::size_t arc) {
    const trajectory::Arc& a = trajectory_.arcs[arc];
    has_reactions_ = !trajectory_.stepped && a.modes.size() == trajectory_.elements.size() && !a.steps.empty();
    if (!has_reactions_) return;
    Dynamics& d = parts_->dynamics;
    count_work(std::pow(static_cast<double>(d.size()), 3));  // the rank of the rows of the mode
    const double middle = 0.5 * (a.t_begin + a.t_end);
    const ode::Dense* step = &a.steps.front();
    for (const ode::Dense& s : a.steps)
        if (s.t_old() <= middle) step = &s;
    std::vector<double> x(ix(std::max(step->size(), d.state_size())), 0.0);
    step->evaluate(middle, x.data());
    d.evaluate_terms(middle, x.data());
    d.shape_friction();
    SystemMode mode = d.mode();
    for (std::size_t i = 0; i < mode.elements.size(); ++i) {
        const ElementLayout& e = d.elements()[i];
        const bool active = a.modes[i] != Mode::open;
        const bool spring = active && d.compliant() && e.rows.kind == ElementKind::contact;
        mode.elements[i] = {active, 1.0, spring && d.spring_force(static_cast<int>(i)) < 0.0};
        for (const int p : e.part_numbers()) {
            const double speed = d.slip_speed(p);
            FrictionMode& part = mode.parts[ix(p)];
            part.slips = a.modes[i] == Mode::slip && (e.parts == 1 || speed > smallest_slip_speed);
            for (int r = 0; r < d.parts()[ix(p)].size && speed > 0.0; ++r)
                part.direction[ix(r)] = d.slip_velocity(p)[r] / speed;
        }
    }
    d.set_mode(mode, middle, x.data());
    std::vector<double> rate(x.size());
    step->derivative(middle, rate.data());
    choose_signs(middle, x.data(), {rate.data() + d.size(), ix(d.size())});
    parts_->watcher.begin(middle, x.data());
}

/// The friction of a constraint with the reaction ν is bounded by μ|ν| = μ·sign·ν. The sign is part of the mode and is
/// not stored with the motion. This function looks for signs whose reactions have these signs. Several signs can agree
/// with their reactions: only those belong to the motion whose reactions lie in the sets of all laws and cause its
/// acceleration. If there are none then the reactions on the arc are not known.
void Course::choose_signs(double t, const double* x, std::span<const double> acceleration) {
    Dynamics& d = parts_->dynamics;
    SystemMode mode = d.mode();
    std::vector<std::size_t> open;
    for (std::size_t i = 0; i < d.elements().size(); ++i)
        if (d.elements()[i].rows.kind == ElementKind::constraint && any_part_slips(d.elements()[i], mode))
            open.push_back(i);
    if (open.empty()) return;
    const auto agrees = [&](std::size_t i) {
        return mode.elements[i].reaction_sign * d.reactions()[ix(d.elements()[i].rows.normal)] >= 0.0;
    };
    const auto error = [&] {
        parts_->watcher.begin(t, x);
        double largest = parts_->watcher.worst_reaction(t, x).excess;
        const double scale = std::max(d.acceleration_scale(), Thresholds::smallest_scale);
        for (std::size_t i = 0; i < acceleration.size(); ++i)
            largest = std::max(largest, std::abs(d.acceleration()[i] - acceleration[i]) / scale);
        return largest;
    };
    double least = infinity;
    SystemMode best;
    const bool few = open.size() <= max_tried_signs;
    const unsigned rounds = few ? 1U << open.size() : max_sign_rounds;
    for (unsigned choice = 0; choice < rounds; ++choice) {
        for (std::size_t k = 0; k < open.size() && few; ++k)
            mode.elements[open[k]].reaction_sign = (choice >> k & 1U) != 0 ? -1.0 : 1.0;
        d.set_mode(mode, t, x);
        if (!d.evaluate(t, x)) {
            if (few) continue;
            break;
        }
        if (std::all_of(open.begin(), open.end(), agrees)) {
            const double own = error();
            if (!few || own <= sign_error) return;
            if (own < least) least = own, best = mode;
        }
        for (const std::size_t i : open)
            if (!few && !agrees(i)) mode.elements[i].reaction_sign *= -1.0;
    }
    has_reactions_ = least < infinity;
    if (has_reactions_) d.set_mode(best, t, x);
}

void Course::evaluate(double t, const double* x, Forces forces) {
    Dynamics& d = parts_->dynamics;
    const bool solve = has_reactions_ && forces == Forces::yes;
    count_work(static_cast<double>(d.size()) * d.size());
    d.evaluate_terms(t, x);
    if (solve) d.turn_slip(d.followed_mode());
    const bool solved = solve && d.evaluate(t, x);
    if (solved && d.redundant()) parts_->watcher.settle_reactions();
    for (std::size_t i = 0; i < model_.contacts.size(); ++i) gaps_[i] = d.terms().positions[ix(model_.contacts[i].row)];
    energy_ = d.energy(t, x);
    powers_ = {energy_.applied, -energy_.damping, 0.0, 0.0, 0.0};
    // The mean friction of sliders is one of the applied forces of the model, but it is friction.
    for (const model::MeanFriction& m : model_.mean_friction) {
        const double power =
            coefficient(d.coefficients(), m.mean) * d.row_velocity(model_.sliders[m.slider].friction.first_row);
        powers_.applied -= power;
        powers_.friction += power;
    }
    reactions_.resize(d.elements().size());
    for (std::size_t i = 0; i < d.elements().size(); ++i) {
        const ElementLayout& e = d.elements()[i];
        trajectory::Reaction& r = reactions_[i];
        r.element = static_cast<int>(i);
        r.N = e.rows.normal >= 0 && solved ? d.reactions()[ix(e.rows.normal)] : 0.0;
        r.T.assign(ix(e.rows.slips), 0.0);
        for (int k = 0; k < e.rows.slips && solved; ++k) {
            const int row = e.rows.first_slip + k;
            r.T[ix(k)] = d.reactions()[ix(row)];
            powers_.friction += r.T[ix(k)] * d.row_velocity(row);
            powers_.obstacles -= r.T[ix(k)] * d.terms().chi[ix(row)];
        }
        if (e.rows.normal < 0) continue;
        powers_.obstacles -= r.N * d.terms().chi[ix(e.rows.normal)];
        if (d.compliant() && e.rows.kind == ElementKind::contact)
            powers_.springs += r.N * d.row_velocity(e.rows.normal);
    }
    if (solved) add_mean_friction(model_, d.coefficients(), reactions_);
}

}  // namespace saltus::integrate
