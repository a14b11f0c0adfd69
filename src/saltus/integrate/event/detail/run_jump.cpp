// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "saltus/base/index.hpp"
#include "saltus/base/text.hpp"
#include "saltus/integrate/event/detail/run.hpp"
#include "saltus/integrate/mode/thresholds.hpp"
#include "saltus/model/mechanics.hpp"

// Jumps of the model ([[jump]]): resets of the state where a quantity `when` passes through zero.
//
// The mode contains the sign of `when` of every jump, so that `side · when` is positive as long as the mode holds; its
// zero is an event. If the sense of the passage and the guard fit then the state is reset, and the mode is chosen as at
// the start of a motion. Otherwise only the sign in the mode changes.
//
// `when` passes through zero by the motion or by an impact. A reset itself makes no jump trigger: afterwards each
// `when` has the sign that its value tells or, if the value is zero, its rate.

namespace saltus::integrate {

using model::Jump;
using trajectory::ElementKind;

namespace {

/// `when` counts as zero if |when| <= this · (1 + |when|): the rounding errors of a state that a formula has set, or,
/// at the start, of a state that was written with about ten digits. Too small: the sign of a rounding error decides
/// that `when` passes through zero at once. Too large: a passage that follows within it is missed.
constexpr double zero_after_jump = 1e-12, zero_at_start = 1e-10;
/// A rate of `when` is rounding if it is at most this part of the sum of the sizes of its terms.
constexpr double negligible_rate = 1e-12;
/// A guard c is not certain if |c| <= this · (1 + |c|).
constexpr double uncertain_guard = 1e-10;
/// A reset may miss a gap, a constraint or their velocities by this part of their scales: rounding errors of the
/// formulas of the reset, which the projection onto the equations then removes. More than that violates the model.
constexpr double reset_defect = 1e-9;

}  // namespace

/// Whether a jump happens if its `when` has just taken the sign `side`, at the state of the last evaluation.
bool EventRun::jump_happens(int number, int side) {
    const Jump& jump = model_.jumps[ix(number)];
    if (jump.direction == (side > 0 ? Jump::Direction::down : Jump::Direction::up)) return false;
    if (jump.guard == model::no_coefficient) return true;
    const double guard = d_.coefficients()[ix(jump.guard)];
    if (std::abs(guard) <= uncertain_guard * (1.0 + std::abs(guard)))
        warn("the guard of jump '" + jump.name + "' is zero up to rounding" + at_time() +
             ": whether the jump happens is not certain");
    return guard > 0.0;
}

/// Ends the run where the passage of a `when` through zero is not resolved.
void EventRun::fail_ever_faster(int number) {
    fail("jump '" + model_.jumps[ix(number)].name + "' follows itself ever faster" + at_time() +
         ", or its `when` only touches zero there: rounding errors decide whether it passes through zero, and resets "
         "have no limit that could be passed");
}

/// Takes the triggers out of found_. If one of them makes a jump happen then the jump has been made, and the result is
/// true. It is also true if nothing else was found: the mode goes on with another sign of a `when`. False: other events
/// are left in found_.
bool EventRun::pass_triggers() {
    if (model_.jumps.empty()) return false;
    const std::vector<Found> all = found_;
    std::vector<int> happen;
    d_.evaluate_terms(t_, x_.data());
    std::vector<std::string> others;
    for (const Found& f : all) {
        const Watch& w = watcher_.watches()[ix(f.watch)];
        if (w.what != Watch::What::trigger) {
            if (w.element >= 0) others.push_back(out_.elements[ix(w.element)].name);
            continue;
        }
        const int side = -d_.mode().sides[ix(w.element)];
        d_.set_side(w.element, side);
        if (!f.astray) {
            if (!jump_happens(w.element, side)) continue;
            happen.push_back(w.element);
            // The rate of a quantity that passes through zero has the sign that the quantity takes.
            if (!(side * trigger_rate(w.element).value > 0.0)) return fail_ever_faster(w.element), true;
        } else if (rises_surely_[ix(w.element)] != 0 && jump_happens(w.element, side)) {
            return fail_ever_faster(w.element), true;
        }  // otherwise a quantity that was zero has only left zero
    }
    std::erase_if(found_, [&](const Found& f) { return watcher_.watches()[ix(f.watch)].what == Watch::What::trigger; });
    if (happen.empty()) {
        if (!found_.empty()) return false;
        mode_kept_ = false;
        if (limit_changes_at_one_time()) changes_follow_without_end();
        return true;
    }
    if (!others.empty())
        warn("jump '" + model_.jumps[ix(happen.front())].name + "' happens at the same time as an event of " +
             listing(others) + at_time() + ": the jump is made, and contacts and friction are decided after it");
    make_jump(happen, all);
    return true;
}

/// Makes the jumps that happen at the present time; there must be one only. `found`: the events that were found, for
/// the record.
void EventRun::make_jump(const std::vector<int>& happen, const std::vector<Found>& found) {
    const Jump& jump = model_.jumps[ix(happen.front())];
    if (happen.size() > 1)
        return fail("jumps '" + jump.name + "' and '" + model_.jumps[ix(happen[1])].name + "' happen together" +
                    at_time() + ", and their order is not given: join them, or tell them apart by `if`");
    if (last_jump_.size() != model_.jumps.size()) last_jump_.assign(model_.jumps.size(), -1.0);
    const bool again = jump_made_ && last_jump_[ix(happen.front())] == t_;
    if (again)
        return fail("jump '" + jump.name + "' triggers itself again at once" + at_time() +
                    ": an impact after the reset moves its `when` through zero again");
    jump_made_ = true;
    last_jump_[ix(happen.front())] = t_;

    open_record(found, Cause::event);
    if (change_record_) change_record_->jump = happen.front();
    mode_kept_ = false;
    if (trial_) stiff_ = false;
    trial_.reset();
    const auto n = static_cast<std::ptrdiff_t>(d_.size());
    const double energy_before = total_energy();
    trajectory::Event& event = next_event(
        trajectory::EventKind::jump, found.empty() ? Window{t_, t_} : Window{found.front().left, found.front().right});
    event.note = jump.name;
    event.q.assign(x_.begin(), x_.begin() + n);
    event.u_minus.assign(x_.begin() + n, x_.begin() + 2 * n);
    d_.evaluate_terms(t_, x_.data());
    const std::vector<double> values(d_.coefficients().begin(), d_.coefficients().end());
    for (const model::JumpValue& v : jump.q) x_[ix(v.coordinate)] = values[ix(v.value)];
    for (const model::JumpValue& v : jump.u) x_[ix(d_.size() + v.coordinate)] = values[ix(v.value)];
    event.q_plus.assign(x_.begin(), x_.begin() + n);
    event.u_plus.assign(x_.begin() + n, x_.begin() + 2 * n);
    const double energy_after = total_energy();
    event.energy_before = energy_before;
    event.energy_after = energy_after;
    work_.add(energy_after - energy_before);
    if (earlier_ == nullptr || t_ > earlier_->end) out_.energy.jumps += energy_after - energy_before;
    if (const std::string why = reset_refusal(); !why.empty()) {
        fail("jump '" + jump.name + "'" + at_time() + " " + why);
        return close_record();
    }
    accumulation_.clear();
    next_step_ = ode::automatic_step;
    end_energy_known_ = false;  // that energy belongs to the state before the reset
    enter_next_mode({}, Cause::jump);
    mode_began_ = t_;
    end_energy_known_ = false;
    close_record();
    jumped_ = happen.front();
    missed_ = found.empty() ? 0.0 : std::abs(values[ix(jump.when)]);
    if (!ended_) renew_sides(Sides::from_values);
    jumped_ = -1;
}

/// Why the present state, which a jump has set, is not admissible; empty if it is.
std::string EventRun::reset_refusal() {
    const int n = d_.size();
    for (int i = 0; i < 2 * n; ++i)
        if (!std::isfinite(x_[ix(i)]))
            return "gives no finite " + model_.coordinates[ix(i % n)] + (i < n ? "" : "'") +
                   ": look for a division by zero";
    d_.evaluate_terms(t_, x_.data());
    const std::span<const double> u(x_.data() + n, ix(n));
    for (const model::Constraint& c : model_.constraints) {
        const double speed = d_.row_velocity(c.row);
        const double speed_scale = model::row_scale(model_.layout().rows, d_.terms().W, c.row, u);
        if (!c.on_velocity) {
            const double g = d_.terms().positions[ix(c.row)];
            if (!(std::abs(g) <= reset_defect * d_.position_scale(c.row, x_.data())))
                return "violates constraint '" + c.name + "': g = " + number_text(g) +
                       "; write new positions that satisfy it";
        }
        if (!(std::abs(speed) <= reset_defect * speed_scale))
            return "violates constraint '" + c.name + "': its velocity is " + number_text(speed) +
                   "; write new velocities that satisfy it";
    }
    for (const model::Contact& c : model_.contacts) {
        const bool exists = c.condition == model::no_coefficient || d_.coefficients()[ix(c.condition)] > 0.0;
        const double gap = d_.terms().positions[ix(c.row)];
        if (exists && !d_.compliant() && !(gap >= -reset_defect * d_.position_scale(c.row, x_.data())))
            return "penetrates contact '" + c.name + "': gN = " + number_text(gap) +
                   "; write new positions with gN >= 0";
    }
    return {};
}

/// The mode from which the next one is chosen after a jump: nothing is decided, and contacts that rest count as closed.
SystemMode EventRun::mode_after_jump() {
    SystemMode mode = d_.undecided_mode();
    mode.sides = d_.mode().sides;
    d_.evaluate_terms(t_, x_.data());
    for (std::size_t i = 0; i < d_.elements().size() && !d_.compliant(); ++i) {
        const ElementRows& rows = d_.elements()[i].rows;
        if (rows.kind != ElementKind::contact) continue;
        mode.elements[i].active = d_.terms().positions[ix(rows.normal)] <=
                                      Thresholds::closed_gap * d_.position_scale(rows.normal, x_.data()) &&
                                  std::abs(d_.row_velocity(rows.normal)) <= Thresholds::opening_speed;
    }
    return mode;
}

/// If the reset of a jump leaves a velocity that an impact must remove: ends the record of the jump, and begins
/// another one for the impact at the same time.
void EventRun::split_record_before_impact(const Candidates& candidates) {
    if (!change_record_) return;
    bool approaches = false;
    for (std::size_t i = 0; i < d_.elements().size(); ++i) {
        const ElementRows& rows = d_.elements()[i].rows;
        const double least =
            d_.mode().elements[i].active ? Thresholds::closed_approach_speed : Thresholds::open_approach_speed;
        if (rows.normal >= 0 && rows.kind != ElementKind::constraint && candidates.closed[i] != 0)
            approaches = approaches || d_.row_velocity(rows.normal) < -least;
    }
    if (!approaches) return;
    change_record_->impact_follows = true;
    close_record();
    open_record({}, Cause::event);
}

/// Finds the signs of all `when` after a change of mode. If an impact has moved one through zero then its jump may
/// happen, at the same time.
void EventRun::renew_sides(Sides how) {
    if (model_.jumps.empty()) return;
    d_.evaluate_terms(t_, x_.data());
    const std::vector<double> values(d_.coefficients().begin(), d_.coefficients().end());
    const bool from_values = how == Sides::from_values || !sides_known_;
    const double zero = sides_known_ ? zero_after_jump : zero_at_start;
    sides_known_ = true;
    rises_surely_.resize(model_.jumps.size());
    std::vector<int> happen;
    for (std::size_t k = 0; k < model_.jumps.size(); ++k) {
        const int number = static_cast<int>(k);
        const double when = values[ix(model_.jumps[k].when)];
        // The event of the jump that was just made was located up to an error, by which its `when` may miss zero.
        const double missed = number == jumped_ ? 2.0 * missed_ : 0.0;
        const bool at_zero = std::abs(when) <= std::max(zero * (1.0 + std::abs(when)), missed);
        if (from_values) {
            const Rate rate = at_zero ? trigger_rate(number) : Rate{};
            d_.set_side(number, (at_zero ? rate.value : when) >= 0.0 ? 1 : -1);
            rises_surely_[k] = at_zero && std::abs(rate.value) > negligible_rate * rate.size ? 1 : 0;
            continue;
        }
        const int side = d_.mode().sides[k];
        if (at_zero || when * side > 0.0) continue;
        d_.set_side(number, -side);
        d_.evaluate_terms(t_, x_.data());
        if (jump_happens(number, -side)) happen.push_back(number);
    }
    if (!happen.empty()) make_jump(happen, {});
}

/// The rate of `when` in the mode in force, when_t + when_q u + when_u u̇, and the sum of the sizes of its terms.
EventRun::Rate EventRun::trigger_rate(int number) {
    Rate rate;
    if (!linearised_.available() || !d_.evaluate(t_, x_.data())) return rate;
    Matrix derivatives;
    linearised_.gather(model::Function::coefficient, t_, x_.data(), {}, {}, derivatives);
    const auto row = derivatives.row(model_.jumps[ix(number)].when);
    const int n = d_.size();
    const auto add = [&](double term) {
        rate.value += term;
        rate.size += std::abs(term);
    };
    add(row(0));
    for (int i = 0; i < n; ++i) {
        add(row(1 + i) * x_[ix(n + i)]);
        add(row(1 + n + i) * d_.acceleration()[ix(i)]);
    }
    return rate;
}

}  // namespace saltus::integrate
