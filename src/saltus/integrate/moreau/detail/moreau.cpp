// SPDX-License-Identifier: Apache-2.0
#include "saltus/integrate/moreau/detail/moreau.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <span>
#include <utility>

#include "saltus/base/error.hpp"
#include "saltus/base/index.hpp"
#include "saltus/base/stop.hpp"
#include "saltus/base/text.hpp"
#include "saltus/integrate/detail/accuracy.hpp"
#include "saltus/integrate/detail/mean_friction.hpp"
#include "saltus/integrate/detail/missing_restitution.hpp"
#include "saltus/integrate/detail/resume_archive.hpp"
#include "saltus/integrate/event/watch.hpp"
#include "saltus/integrate/impact_audit.hpp"
#include "saltus/integrate/mode/dynamics.hpp"
#include "saltus/integrate/moreau/moreau_step.hpp"
#include "saltus/model/feedback.hpp"
#include "saltus/model/support.hpp"

namespace saltus::integrate {

namespace {

using moreau::Point;
using moreau::Stepper;
using moreau::Touch;
using trajectory::ElementKind;
using trajectory::EventKind;

// A resting contact has lifted off if it was open or leaving in so many steps; shorter openings are rounding.
constexpr int steps_to_lift = 3;
// The stiffness of explicit forces is estimated at the first step and then after so many; it changes slowly.
constexpr int steps_between_stiffness_checks = 200;
constexpr int first_stiffness_rounds = 16, later_stiffness_rounds = 3;  // of vector iteration
constexpr int steps_between_progress = 100;                             // calls of Options::interrupted and progress
constexpr int coordinates_asking_every_step = 64;                       // models with as many ask in each step
constexpr std::size_t max_warnings = 100;
// A step that would end within this part of its length before t_end is extended to t_end.
constexpr double last_step_ratio = 1e-9;
// Adaptive steps are not made smaller than this part of `h`.
constexpr double smallest_step_ratio = 1e-6;
// Steps between two resume points (resume.hpp), a multiple of steps_between_stiffness_checks. A continued motion
// repeats at most so many.
constexpr long steps_between_resume_points = 50 * steps_between_stiffness_checks;
// The error of a step on smooth pieces is O(Δt²), so the next step is 0.9/√error times the last one, within these
// bounds.
constexpr double step_safety = 0.9, largest_shrink = 0.2, largest_growth = 2.0;
// Whether forces are unique is not examined if there are more rows: the work grows with the cube of their number. Nor
// after so many steps in which friction of several elements lets go.
constexpr int max_examined_rows = 300, max_examined_releases = 20;
// Below this part of its size (row_size) a slip velocity counts as sticking in the final modes.
constexpr double sticking_ratio = 1e-9;
// A step that is longer than this part of the motion is judged also if contacts change in it.
constexpr double coarse_step_part = 1.0 / 16.0;
// `when` of a jump counts as zero after a reset and at the start if |when| <= this · (1 + |when|): rounding.
constexpr double zero_when_ratio = 1e-10;
// Such a `when` has the sign of its change over this part of a step, unless the change is below change_rounding · (1 +
// |when|).
constexpr double look_ahead_ratio = 1e-3, change_rounding = 1e-15;
// Jumps whose `when` pass through zero within this part of a step happen together.
constexpr double simultaneous_part = 1e-9;
// More resets within one step do not end: they follow each other without end.
constexpr int max_jumps_in_step = 1000;
// A reset may miss gaps, constraints and their velocities by this part of their scales: the state before it has errors
// of the step, which the formulas of the reset carry over.
constexpr double reset_defect_ratio = 1e-6;
// The smooth forces of a step are the cause of created energy if the impact law did at most this part of it.
constexpr double negligible_law_work = 1e-3;

/// A run: makes the steps and records the trajectory.
class Run {
public:
    Run(const model::Mechanics& model, const Moreau& method, const Options& options, Record record,
        const Continued* earlier, const MotionSink& sink)
        : model_(model),
          method_(method),
          options_(options),
          record_(record),
          elements_(element_rows(model)),
          stepper_(model, method),
          accuracy_(model, stepping_accuracy(), true),
          sampled_(model.sampled.get()),
          earlier_(earlier),
          sink_(sink) {
        if (sampled_ != nullptr) impulses_.assign(sampled_->quantities.size(), 0.0);
        out_.model = model.name;
        out_.method = "moreau";
        out_.stepped = true;
        out_.coordinates = model.coordinates;
        out_.elements = elements_of(model);
        out_.warnings = model.warnings;
        for (std::string& text : model::approximations(model, model::Analysis::moreau))
            out_.warnings.push_back(std::move(text));
    }

    ResumableMotion go() {
        start();
        if (method_.implicit && !stepper_.become_implicit())
            out_.warnings.push_back("the system gives no derivatives: forces are explicit");
        if (earlier_ != nullptr) resume();
        refuse_endless_run();
        try {
            if (method_.adaptive)
                adaptive_steps();
            else
                equal_steps();
        } catch (const Stopped&) {  // within a step; at_ is the state before it
            interrupt();
        }
        finish();
        if (earlier_ != nullptr) leave_out_earlier_motion();
        hand_over();
        return {{std::move(out_), std::move(recording_)}, std::move(resume_)};
    }

private:
    /// Fails before the first step if the run cannot end. A step takes about a microsecond at least, so that 1e13 of
    /// them take 100 days; beside a much later end time, steps would vanish by rounding.
    void refuse_endless_run() {
        constexpr double max_steps = 1e13;
        if (!((options_.t_end - at_.t) / method_.h > max_steps)) return;
        out_.status = trajectory::Status::failed;
        out_.reason = "more than " + number_text(max_steps) + " steps of " + number_text(method_.h) +
                      " s are left to the end of the run; choose an earlier end (--t-end) or longer steps (--h)";
    }

    void start() {
        at_.t = options_.start ? options_.start->t : 0.0;
        at_.q = options_.start ? options_.start->q : model_.q0;
        at_.u = options_.start ? options_.start->u : model_.u0;
        SALTUS_EXPECT(at_.q.size() == ix(model_.size()) && at_.u.size() == ix(model_.size()));
        out_.start = {at_.t, at_.q, at_.u};
        stepper_.begin(at_);
        next_ = half_ = full_ = at_;
        resting_.resize(at_.touch.size());
        for (std::size_t i = 0; i < resting_.size(); ++i) resting_[i] = at_.touch[i] == Touch::closed;
        idle_.assign(at_.touch.size(), 0);
        struck_without_restitution_.assign(at_.touch.size(), 0);
        const model::Energy energy = stepper_.energy_at(at_.t, at_.q, at_.u);
        out_.energy.initial = energy.kinetic + energy.potential;
        accuracy_.start(at_.q, energy);
        accuracy_.reserve();
        t_0_ = at_.t;
        stepper_.wants_works = record_ == Record::yes;
        if (record_ == Record::yes && earlier_ == nullptr) record(at_);
        trajectory::Arc arc;
        arc.t_begin = arc.t_end = at_.t;
        out_.arcs.push_back(std::move(arc));
        sides_.assign(model_.jumps.size(), 0);
        when_.assign(model_.jumps.size(), 0.0);
        leaves_zero_.assign(model_.jumps.size(), 0);
        zero_when_.assign(model_.jumps.size(), 0.0);
        find_sides();
        if (sampled_ != nullptr && earlier_ == nullptr) {
            sample_ = sampled_->first_after(at_.t) - 1;
            take_sample();
            out_.start.q = at_.q;
        }
    }

    /// Evaluates the law of a control that samples, and holds its forces. The measured force of a contact is its
    /// impulse in the last step divided by the step: impacts are part of it.
    void take_sample() {
        using What = model::ElementQuantity::What;
        std::vector<double> values, forces(sampled_->held.size());
        const std::span<const double> positions = stepper_.positions_at(at_.t, at_.q, at_.u);
        for (const model::ElementQuantity& quantity : sampled_->quantities) {
            const ElementRows& rows = elements_[ix(quantity.element)];
            const int row = quantity.what == What::friction ? rows.first_slip + quantity.component - 1 : rows.normal;
            if (quantity.what == What::impulse)
                values.push_back(impulses_[values.size()]);
            else if (quantity.what == What::gap)
                values.push_back(positions[ix(row)]);
            else
                values.push_back(at_.h > 0.0 ? at_.Lambda[ix(row)] / at_.h : 0.0);
        }
        sampled_->evaluate(at_.t, at_.q, at_.u, values, forces);
        for (std::size_t k = 0; k < forces.size(); ++k) {
            if (!std::isfinite(forces[k])) {
                out_.status = trajectory::Status::failed;
                out_.reason = "the force of [control] on " + model_.coordinates[ix(sampled_->held[k])] +
                              " is not finite at t = " + number_text(at_.t);
                return;
            }
            at_.q[ix(sampled_->held[k])] = forces[k];
        }
        ++sample_;
        next_sample_ = sampled_->time(sample_);
        trajectory::Event& e = out_.events.emplace_back();
        e.kind = EventKind::switched;
        e.t = e.t_left = e.t_right = at_.t;
        e.q = at_.q;
        e.u_minus = e.u_plus = at_.u;
        e.energy_before = e.energy_after = stepper_.total_energy(at_.t, at_.q, at_.u);
        e.note = "[control] samples";
    }

    /// The end of a step that would end at t: not later than the next sample. A sample within rounding of t is the end.
    double cut_at_sample(double t, double h) const {
        return next_sample_ < t + last_step_ratio * h ? std::min(next_sample_, options_.t_end) : t;
    }

    // Jumps of the model. `when` is compared at both ends of a step. Equal steps end where it is zero, by linear
    // interpolation: an error of the time of order Δt². If an impact in the step changes its sign, then the step keeps
    // its end. Adaptive steps reset the state at their end.

    /// The jump that happens in a step, and the part of the step after which it does.
    struct JumpInStep {
        int number;
        double part;
    };

    /// The signs of all `when` at the present state. One that is zero has the sign of its change a little later along
    /// q̇ = u. 0: it does not change, so that the next step decides. `just_happened`: the jump that has reset the state,
    /// whose `when` counts as zero up to `missed`, the error of the place at which its step ended. Its values are then
    /// measured from the one after the reset, until they are larger: a body that starts from rest there would otherwise
    /// pass zero, and jump, a second time.
    void find_sides(int just_happened = -1, double missed = 0.0) {
        if (model_.jumps.empty()) return;
        stepper_.coefficients_at(at_.t, at_.q, at_.u, values_);
        std::vector<double> later = at_.q, values;
        const double little = look_ahead_ratio * method_.h;
        for (std::size_t i = 0; i < later.size(); ++i) later[i] += little * at_.u[i];
        stepper_.coefficients_at(at_.t + little, later, at_.u, values);
        for (std::size_t k = 0; k < model_.jumps.size(); ++k) {
            when_[k] = values_[ix(model_.jumps[k].when)];
            const bool happened = static_cast<int>(k) == just_happened;
            const double size = 1.0 + std::abs(when_[k]), change = values[ix(model_.jumps[k].when)] - when_[k];
            const double zero = std::max(zero_when_ratio * size, happened ? 2.0 * std::abs(missed) : 0.0);
            leaves_zero_[k] = std::abs(when_[k]) <= zero ? 1 : 0;
            if (happened)
                zero_when_[k] = leaves_zero_[k] != 0 ? when_[k] : 0.0;
            else if (!(std::abs(when_[k]) <= 2.0 * std::abs(zero_when_[k])))
                zero_when_[k] = 0.0;
            const double sign = leaves_zero_[k] != 0 ? change : when_[k] - zero_when_[k];
            sides_[k] = std::abs(sign) <= change_rounding * size ? 0 : sign > 0.0 ? 1 : -1;
        }
    }

    /// The first jump in the step from at_ to next_. Without one the signs become those of next_.
    std::optional<JumpInStep> jump_in_step() {
        std::optional<JumpInStep> first;
        if (model_.jumps.empty()) return first;
        std::vector<double> after, unstruck;
        stepper_.coefficients_at(next_.t, next_.q, next_.u, after);
        // An impact in the step: velocities jump, and have no values in between. A `when` that would have kept its sign
        // with the velocities before the step changes it at the impact, after which the guard is asked.
        if (next_.any_struck) stepper_.coefficients_at(next_.t, next_.q, at_.u, unstruck);
        for (std::size_t k = 0; k < model_.jumps.size(); ++k) {
            const model::Jump& jump = model_.jumps[k];
            const double when = after[ix(jump.when)] - zero_when_[k];
            const int side = when > 0.0 ? 1 : when < 0.0 ? -1 : 0;
            if (sides_[k] == 0 || side != -sides_[k] ||
                jump.direction == (side > 0 ? model::Jump::Direction::down : model::Jump::Direction::up))
                continue;
            const double before = when_[k] - zero_when_[k];
            const bool by_impact = next_.any_struck && (unstruck[ix(jump.when)] - zero_when_[k]) * before > 0.0;
            const double part = by_impact ? 1.0 : before / (before - when);
            if (!guard_holds(jump, part)) continue;
            if (leaves_zero_[k] != 0) {  // it has left zero and come back: the step does not show where
                out_.status = trajectory::Status::failed;
                out_.reason = "jump '" + jump.name + "' follows itself within one step at t = " + number_text(at_.t) +
                              ": use shorter steps (--h), or method event";
                return {};
            }
            if (first && std::abs(part - first->part) <= simultaneous_part) {
                out_.status = trajectory::Status::failed;
                out_.reason = "jumps '" + model_.jumps[ix(first->number)].name + "' and '" + jump.name +
                              "' happen together at t = " + number_text(next_.t) +
                              ", and their order is not given: join them, or tell them apart by `if`";
                return {};
            }
            if (!first || part < first->part) first = {static_cast<int>(k), part};
        }
        for (std::size_t k = 0; k < model_.jumps.size() && !first; ++k) {
            when_[k] = after[ix(model_.jumps[k].when)];
            const double when = when_[k] - zero_when_[k];
            if (when != 0.0) sides_[k] = when > 0.0 ? 1 : -1;
            if (when * when_[k] > 0.0) zero_when_[k] = 0.0;
            leaves_zero_[k] = 0;
        }
        return first;
    }

    /// The guard of a jump, between at_ and next_.
    bool guard_holds(const model::Jump& jump, double part) {
        if (jump.guard == model::no_coefficient) return true;
        std::vector<double> q = at_.q, u = at_.u, values;
        for (std::size_t i = 0; i < q.size(); ++i) {
            q[i] += part * (next_.q[i] - at_.q[i]);
            u[i] += part * (next_.u[i] - at_.u[i]);
        }
        stepper_.coefficients_at(at_.t + part * (next_.t - at_.t), q, u, values);
        return values[ix(jump.guard)] > 0.0;
    }

    /// Makes the step again so that it ends at the jump; t becomes its end, at_.t if the jump is at its very start.
    bool go_to_jump(const JumpInStep& jump, double h, double& t) {
        const double to = at_.t + jump.part * (t - at_.t);
        if (!(to < t)) return true;
        const bool at_start = !(to - at_.t > last_step_ratio * h);
        t = at_start ? at_.t : to;
        return at_start || make_step(at_, t, next_);
    }

    /// Resets the state by a jump of the model.
    void reset(int number) {
        const model::Jump& jump = model_.jumps[ix(number)];
        const auto refuse = [&](const std::string& why) {
            out_.status = trajectory::Status::failed;
            out_.reason = "jump '" + jump.name + "' at t = " + number_text(at_.t) + " " + why;
        };
        if (++jumps_in_step_ > max_jumps_in_step)
            return refuse("happens more than " + std::to_string(max_jumps_in_step) + " times within a step");
        trajectory::Event& e = out_.events.emplace_back();
        e.kind = EventKind::jump;
        e.t = e.t_left = e.t_right = at_.t;
        e.note = jump.name;
        e.q = at_.q;
        e.u_minus = at_.u;
        e.energy_before = stepper_.total_energy(at_.t, at_.q, at_.u);
        stepper_.coefficients_at(at_.t, at_.q, at_.u, values_);
        const double missed = values_[ix(jump.when)];
        const std::span<const double> positions = stepper_.positions_at(at_.t, at_.q, at_.u);
        const std::vector<double> before(positions.begin(), positions.end());
        for (const model::JumpValue& v : jump.q) at_.q[ix(v.coordinate)] = values_[ix(v.value)];
        for (const model::JumpValue& v : jump.u) at_.u[ix(v.coordinate)] = values_[ix(v.value)];
        e.q_plus = at_.q;
        e.u_plus = at_.u;
        e.energy_after = stepper_.total_energy(at_.t, at_.q, at_.u);
        const double change = e.energy_after - e.energy_before;
        for (std::size_t i = 0; i < at_.q.size(); ++i)
            if (!std::isfinite(at_.q[i]) || !std::isfinite(at_.u[i]))
                return refuse("gives no finite " + model_.coordinates[i] + ": look for a division by zero");
        stepper_.begin(at_);
        if (const std::string why = violated_after_reset(before); !why.empty()) return refuse(why);
        for (std::size_t i = 0; i < resting_.size(); ++i) resting_[i] = at_.touch[i] == Touch::closed;
        std::fill(idle_.begin(), idle_.end(), 0);
        out_.energy.work += change;
        if (earlier_ == nullptr || at_.t > earlier_->end) out_.energy.jumps += change;
        at_.works = {};
        at_.works.driven = change;
        if (record_ == Record::yes) record(at_);
        find_sides(number, missed);
    }

    /// What a reset violates; empty if it is admissible. `before`: the positions before it. Steps end inside of
    /// obstacles, which is no fault of a reset that moves nothing deeper. After Stepper::begin.
    std::string violated_after_reset(std::span<const double> before) {
        const std::span<const double> positions = stepper_.positions_at(at_.t, at_.q, at_.u);
        for (const model::Constraint& c : model_.constraints) {
            const double speed = stepper_.gamma_of(c.row, at_.u), g = c.on_velocity ? 0.0 : positions[ix(c.row)];
            const double drift = c.on_velocity ? 0.0 : std::abs(before[ix(c.row)]);
            if (!(std::abs(g) <= drift + reset_defect_ratio * stepper_.row_size(c.row, at_.q)) ||
                !(std::abs(speed) <= reset_defect_ratio * stepper_.row_size(c.row, at_.u)))
                return "violates constraint '" + c.name + "' (g = " + number_text(g) + ", velocity " +
                       number_text(speed) + "): write new values that satisfy it";
        }
        for (const model::Contact& c : model_.contacts)
            if (!(positions[ix(c.row)] >=
                  std::min(0.0, before[ix(c.row)]) - reset_defect_ratio * stepper_.row_size(c.row, at_.q)))
                return "penetrates contact '" + c.name + "' (gN = " + number_text(positions[ix(c.row)]) +
                       "): write new positions with gN >= 0";
        return {};
    }

    void equal_steps() {
        const double h = method_.h;
        while (at_.t < options_.t_end && may_continue()) {
            const double end = t_0_ + static_cast<double>(step_) * h;
            double t = end > options_.t_end - last_step_ratio * h ? options_.t_end : end;
            t = cut_at_sample(t, h);
            const bool at_resume_point = (step_ - 1) % steps_between_resume_points == 0;
            if (at_resume_point) {
                stepper_.forget_stiffness();
                make_resume_point();
            }
            if ((step_ - 1) % steps_between_stiffness_checks == 0 && !method_.implicit)
                check_stiffness(h, at_resume_point ? first_stiffness_rounds : later_stiffness_rounds);
            if (!make_step(at_, t, next_)) return fail();
            const std::optional<JumpInStep> jump = jump_in_step();
            if (jump && !go_to_jump(*jump, h, t)) return fail();
            if (t > at_.t) {
                keep(at_, next_);
                std::swap(at_, next_);
            }
            if (jump) reset(jump->number);
            // A step that a sample or a jump has cut is followed by the rest of it.
            if (t > end - last_step_ratio * h || t == options_.t_end) {
                ++step_;
                jumps_in_step_ = 0;
            }
            if (at_.t >= next_sample_ && at_.t < options_.t_end) take_sample();
        }
    }

    /// The layout of a resume point: the state before a step, and what the run has learned.
    template <class Archive>
    void remember(Archive& archive) {
        bool implicit = stepper_.implicit();
        archive(t_0_, step_, implicit, told_stiff_, at_.t, at_.q, at_.u, at_.h, at_.Lambda, at_.touch, at_.gamma,
                at_.any_struck, resting_, idle_, struck_without_restitution_);
        accuracy_.remember(archive);
        archive(out_.energy.work);
        if (!model_.jumps.empty()) archive(sides_, when_, leaves_zero_, zero_when_);
        if (!at_.stuck.empty()) archive(at_.stuck);
        if (sampled_ != nullptr) {
            archive(sample_, impulses_);
            next_sample_ = sampled_->time(sample_);
        }
        if constexpr (!Archive::writes) {
            archive.expect_end();
            if (!std::isfinite(at_.t) || !(at_.t <= earlier_->end) || step_ < 1) archive.fail();
            if (sampled_ != nullptr && !(next_sample_ > at_.t)) archive.fail();
            if (implicit && !stepper_.implicit()) stepper_.become_implicit();
        }
    }

    void make_resume_point() {
        ResumeWriter archive(resume_.numbers);
        remember(archive);
    }

    /// Takes the state of the earlier run at its resume point.
    void resume() {
        resume_ = earlier_->from;
        ResumeReader archive(resume_.numbers);
        remember(archive);
        out_.start = {at_.t, at_.q, at_.u};
        out_.arcs.front().t_begin = out_.arcs.front().t_end = at_.t;
        if (record_ == Record::yes) record(at_);
    }

    /// Leaves out the steps that end within the earlier motion. The energies count from the start of the first step
    /// that stays.
    void leave_out_earlier_motion() {
        const double begin = std::min(earlier_->end, out_.end.t);
        if (!begin_) {  // the run has ended before it came to new parts
            begin_ = out_.end;
            out_.energy.initial = out_.energy.final;
            work_before_ = out_.energy.work;
        }
        out_.start = *begin_;
        out_.energy.work -= work_before_;
        leave_out_earlier_parts(begin);
    }

    /// Leaves out steps, events and the recording before the start of a continued motion, once.
    void leave_out_earlier_parts(double begin) {
        if (std::exchange(earlier_left_out_, true)) return;
        std::vector<ode::Dense>& steps = out_.arcs.front().steps;
        out_.arcs.front().t_begin = begin;
        std::erase_if(steps, [&](const ode::Dense& step) { return step.t_new() <= begin; });
        std::erase_if(out_.events, [&](const trajectory::Event& event) { return event.t_right <= begin; });
        std::vector<RecordedStep>& ends = recording_.steps;
        const auto after = std::find_if(ends.begin(), ends.end(), [&](const RecordedStep& s) { return s.t > begin; });
        if (after == ends.begin()) return;
        ends.erase(ends.begin(), std::prev(after));
        ends.front().works = {};
    }

    /// Notes the state at the start of a continued motion, from the step that contains it.
    void note_continued_start(const Point& from, const Point& to) {
        if (earlier_ == nullptr || begin_ || !(to.t > earlier_->end)) return;
        const model::Energy energy = stepper_.energy_at(from.t, from.q, from.u);
        out_.energy.initial = energy.kinetic + energy.potential;
        work_before_ = out_.energy.work;
        ode::Dense step = dense_of(from, to);
        std::vector<double> x(ix(2 * model_.size()));
        step.evaluate(earlier_->end, x.data());
        const auto middle = x.begin() + model_.size();
        begin_ = {earlier_->end, {x.begin(), middle}, {middle, x.end()}};
    }

    /// A step as a polynomial: q is linear, u is that of its end.
    static ode::Dense dense_of(const Point& from, const Point& to) {
        const auto n = static_cast<std::ptrdiff_t>(to.q.size());
        ode::Dense dense;
        dense.reset(from.t, to.t, 2 * static_cast<int>(n), 2);
        std::copy(from.q.begin(), from.q.end(), dense.term(0).begin());
        std::copy(to.q.begin(), to.q.end(), dense.term(1).begin());
        for (const int term : {0, 1}) std::copy(to.u.begin(), to.u.end(), dense.term(term).begin() + n);
        return dense;
    }

    /// Forces become implicit if explicit ones are too stiff for the step.
    void check_stiffness(double h, int rounds) {
        if (stepper_.implicit() || told_stiff_ || !stepper_.stiff(at_, h, rounds)) return;
        told_stiff_ = true;
        out_.warnings.push_back(stepper_.become_implicit()
                                    ? "the forces are stiff for the step: implicit from t = " + number_text(at_.t)
                                    : "the forces are stiff for the step at t = " + number_text(at_.t) +
                                          ", and the system gives no derivatives for implicit ones");
    }

    /// The difference between a step (full_) and its two halves (half_, next_), divided by the tolerance. 0 if a
    /// contact changed in the step: then there is no estimate, and the step is accepted.
    double estimated_error() const {
        if (full_.any_struck || half_.any_struck || next_.any_struck) return 0.0;
        if (full_.touch != at_.touch || half_.touch != at_.touch || next_.touch != at_.touch) return 0.0;
        double error = 0.0;
        for (std::size_t i = 0; i < at_.q.size(); ++i) {
            error = std::max(error, std::abs(full_.q[i] - next_.q[i]) / (1.0 + std::abs(next_.q[i])));
            error = std::max(error, std::abs(full_.u[i] - next_.u[i]) / (1.0 + std::abs(next_.u[i])));
        }
        return error / method_.tolerance;
    }

    void adaptive_steps() {
        double h = method_.h;
        const double smallest = smallest_step_ratio * method_.h;
        bool warned = false;
        while (at_.t < options_.t_end && may_continue()) {
            const double rest = options_.t_end - at_.t;
            const bool last = rest <= h * (1.0 + last_step_ratio);
            const double t = cut_at_sample(last ? options_.t_end : at_.t + h, h);
            const bool made = make_step(at_, t, full_) && make_step(at_, at_.t + 0.5 * (t - at_.t), half_) &&
                              make_step(half_, t, next_);
            const double error = made ? estimated_error() : std::numeric_limits<double>::infinity();
            if (error > 1.0 && h > smallest) {
                ++out_.statistics.rejected;
                h = std::max(smallest, (t - at_.t) * std::max(largest_shrink, step_safety / std::sqrt(error)));
                continue;
            }
            if (!made) return fail();
            if (error > 1.0 && !warned) {
                out_.warnings.push_back("steps of " + number_text(smallest) +
                                        " do not reach the tolerance, first at t = " + number_text(at_.t));
                warned = true;
            }
            const std::optional<JumpInStep> jump = jump_in_step();
            keep(at_, half_);
            keep(half_, next_);
            std::swap(at_, next_);
            if (jump) reset(jump->number);
            if (at_.t >= next_sample_ && at_.t < options_.t_end) take_sample();
            h = std::min(
                method_.h,
                h * (error > 0.0 ? std::clamp(step_safety / std::sqrt(error), largest_shrink, largest_growth) : 1.0));
        }
    }

    /// Whether to make another step: the run has not ended, and the user did not interrupt it.
    bool may_continue() {
        if (out_.status != trajectory::Status::completed) return false;
        // Steps of a large model are slow: each of them asks.
        if (++asked_ % steps_between_progress != 0 && model_.size() < coordinates_asking_every_step) return true;
        if (options_.interrupted && options_.interrupted()) {
            interrupt();
            return false;
        }
        if (options_.progress) options_.progress(at_.t);
        return true;
    }

    void interrupt() {
        out_.status = trajectory::Status::interrupted;
        out_.reason = "interrupted at t = " + number_text(at_.t);
    }

    /// Makes a step. An interrupt ends it by Stopped, and the run with it.
    bool make_step(const Point& from, double t, Point& to) {
        const Stoppable here(options_.interrupted);
        return stepper_.step(from, t, to);
    }

    /// Looks at a step that has been made. An interrupt leaves the rest of it out; the run then ends after this step.
    template <class Look>
    void look_unless_interrupted(const Look& look) {
        try {
            const Stoppable here(options_.interrupted);
            look();
        } catch (const Stopped&) {
        }
    }

    void fail() {
        out_.status = trajectory::Status::failed;
        out_.reason = stepper_.reason;
    }

    /// Records an accepted step.
    void keep(const Point& from, const Point& to) {
        note_continued_start(from, to);
        for (std::size_t i = 0; to.any_struck && i < to.touch.size(); ++i)
            if (to.touch[i] == Touch::stopped && lacks_restitution(model_.contacts[i]))
                struck_without_restitution_[i] = 1;
        ++out_.statistics.steps;
        out_.energy.work += to.energy_input;
        for (std::size_t k = 0; k < impulses_.size(); ++k)
            impulses_[k] += to.Lambda[ix(elements_[ix(sampled_->quantities[k].element)].normal)];
        out_.violation.constraint = std::max(out_.violation.constraint, to.violation.constraint);
        if (to.deepest >= 0) accuracy_.see_penetration(to.t, to.deepest, to.violation.gap);
        if (accuracy_.due()) {
            measure(to);
            if (!method_.adaptive) look_unless_interrupted([&] { halve(from, to); });
        }
        if (record_ == Record::yes) record(to);
        watch_contacts(from, to);
        look_unless_interrupted([&] { note_letting_go(from, to); });
        out_.arcs.back().t_end = to.t;
        if (method_.keep_arcs) {
            out_.arcs.back().steps.push_back(dense_of(from, to));
            kept_bytes_ += bytes_of(out_.arcs.back().steps.back());
        }
        if (record_ == Record::yes) kept_bytes_ += sizeof(RecordedStep);
        if (kept_bytes_ + out_.events.size() * bytes_of_event(model_.size()) >= motion_part_bytes) hand_over();
    }

    /// Gives everything so far to the sink. The arc goes on without its steps.
    void hand_over() {
        if (!sink_ || (earlier_ != nullptr && !begin_)) return;  // all of it belongs to the earlier motion
        if (earlier_ != nullptr) leave_out_earlier_parts(begin_->t);
        MotionPart part;
        part.start = begin_ ? *begin_ : out_.start;
        part.first_event = events_handed_over_;
        part.continues_arc = std::exchange(handed_over_, true);
        part.events = std::exchange(out_.events, {});
        events_handed_over_ += part.events.size();
        part.recording = std::exchange(recording_, {});
        if (method_.keep_arcs) {
            trajectory::Arc& arc = out_.arcs.back();
            part.arcs.push_back({arc.t_begin, arc.t_end, std::exchange(arc.steps, {}), arc.modes});
        }
        kept_bytes_ = 0;
        sink_(std::move(part));
    }

    /// Measures violations and the energy balance at the end of a step.
    void measure(const Point& at) {
        accuracy_.see(at.t, at.q, at.u, stepper_.energy_at(at.t, at.q, at.u), out_.energy.work,
                      stepper_.positions_at(at.t, at.q, at.u));
    }

    /// Makes a step again in two halves. The difference δu of the velocities shows whether the step is too long. Its
    /// size is δu·Mδu = T(u + δu) + T(u − δu) − 2T(u), because T is quadratic. A step in which contacts change is not
    /// judged, unless the whole motion has only a few: its error is of the order Δt, and shows as penetration.
    void halve(const Point& from, const Point& to) {
        if (!probe_) {
            probe_.emplace(model_, method_);
            half_ = from;
            probe_->begin(half_);
        }
        if (stepper_.implicit() && !probe_->implicit()) probe_->become_implicit();
        if (!probe_->step(from, from.t + 0.5 * to.h, half_) || !probe_->step(half_, to.t, full_)) return;
        const bool coarse = to.h > coarse_step_part * (options_.t_end - out_.start.t);
        if (!coarse && changes_contacts(from, to)) return;
        full_.q = to.u;  // scratch: u − δu
        double largest = 0.0;
        for (std::size_t i = 0; i < to.u.size(); ++i) {
            const double difference = full_.u[i] - to.u[i];
            largest = std::max(largest, std::abs(difference));
            full_.q[i] -= difference;
        }
        const auto kinetic = [&](const std::vector<double>& u) { return stepper_.energy_at(to.t, to.q, u).kinetic; };
        accuracy_.see_step_error(to.t, largest, kinetic(full_.u) + kinetic(full_.q) - 2.0 * kinetic(to.u));
    }

    /// Whether a contact changed in a step, or in one of its halves (half_, full_).
    bool changes_contacts(const Point& from, const Point& to) const {
        return to.any_struck || half_.any_struck || full_.any_struck || to.touch != from.touch ||
               half_.touch != from.touch || full_.touch != from.touch;
    }

    void record(const Point& at) {
        const model::Energy e = stepper_.energy_at(at.t, at.q, at.u);
        recording_.steps.push_back(
            {at.t, e.kinetic + e.potential, std::max(std::abs(e.kinetic), std::abs(e.potential)), at.works});
    }

    /// Events of a step: impacts, contacts that come to rest without one, and contacts that lift off.
    void watch_contacts(const Point& from, const Point& to) {
        if (to.any_struck)
            add_event(EventKind::impact, from, to,
                      [&](std::size_t i) { return to.touch[i] == Touch::struck || to.touch[i] == Touch::stopped; });
        bool rests = false, lifts = false;
        for (std::size_t i = 0; i < to.touch.size(); ++i) {
            const bool pressed = to.Lambda[ix(model_.contacts[i].row)] > 0.0;
            change_[i] = Change::none;
            switch (to.touch[i]) {
                case Touch::struck: resting_[i] = 0; break;
                case Touch::stopped: resting_[i] = 1; break;
                default:
                    if (pressed && resting_[i] == 0) change_[i] = Change::rests, resting_[i] = 1;
            }
            const bool away = to.touch[i] == Touch::open || to.touch[i] == Touch::leaving;
            idle_[i] = away && resting_[i] != 0 ? idle_[i] + 1 : 0;
            if (idle_[i] == steps_to_lift) change_[i] = Change::lifts, resting_[i] = 0;
            rests = rests || change_[i] == Change::rests;
            lifts = lifts || change_[i] == Change::lifts;
        }
        if (rests) add_event(EventKind::contact, from, to, [&](std::size_t i) { return change_[i] == Change::rests; });
        if (lifts) add_event(EventKind::lift_off, from, to, [&](std::size_t i) { return change_[i] == Change::lifts; });
    }

    template <class TakesPart>
    void add_event(EventKind kind, const Point& from, const Point& to, TakesPart takes_part) {
        trajectory::Event& e = out_.events.emplace_back();
        e.kind = kind;
        e.t = e.t_left = from.t;
        e.t_right = to.t;
        for (std::size_t i = 0; i < to.touch.size(); ++i)  // contacts are the first elements
            if (takes_part(i)) e.elements.push_back(static_cast<int>(i));
        e.q = from.q;
        e.u_minus = from.u;
        e.u_plus = to.u;
        e.energy_before = stepper_.total_energy(from.t, from.q, from.u);
        e.energy_after = stepper_.total_energy(from.t, from.q, to.u);
        if (kind != EventKind::impact) return;
        e.work = to.contact_work;
        for (std::size_t i = 0; i < elements_.size(); ++i)
            if (elements_[i].kind != ElementKind::contact || to.touch[i] != Touch::open)
                e.impulses.push_back(reaction(i, to, 1.0));
        e.audit = energy_audit(to.impact_work);
        if (e.audit.created > 0.0) report_creation(to, e);
    }

    /// Why the contacts of a step created energy, if it was not a single impact law; otherwise empty. The contact work
    /// ½(γ⁻ + γ⁺)·Λ has a part of the smooth forces, because γ⁺ contains what they change in the step.
    std::string cause_of_creation(const Point& to) const {
        if (to.impact_work.work - to.smooth_work <= negligible_law_work * to.impact_work.work)
            return "the smooth forces of the step do this work on closed contacts that move apart, no impact law "
                   "does; shorter steps create less";
        std::string laws;
        bool differ = false;
        std::string first;
        for (std::size_t i = 0; i < to.touch.size(); ++i) {
            if (to.touch[i] == Touch::open) continue;
            const std::string law = stepper_.law_text(i);
            differ = differ || (!laws.empty() && law != first);
            if (laws.empty()) first = law;
            laws += (laws.empty() ? "" : "; ") + out_.elements[i].name + ": " + law;
        }
        if (!differ) return {};
        return "contacts with different impact laws or coefficients are closed together (" + laws + ")";
    }

    /// An impact created energy: a warning, or the end of the run, as the options say.
    void report_creation(const Point& to, trajectory::Event& e) {
        std::string why = cause_of_creation(to);
        for (std::size_t i = 0; why.empty() && i < elements_.size(); ++i)
            if (elements_[i].normal == to.impact_work.block) {
                e.audit.element = static_cast<int>(i);
                e.audit.law = stepper_.law_text(i);
                why = out_.elements[i].name + " (" + e.audit.law + ") did the most work in this step";
            }
        const std::string text = creation_text(e, why);
        if (options_.energy != EnergyRule::stop) {
            if (out_.warnings.size() < max_warnings) out_.warnings.push_back(text);
            return;
        }
        out_.status = trajectory::Status::energy_created;
        out_.reason = text;
    }

    /// The impulses of an element in a step, times a factor.
    trajectory::Reaction reaction(std::size_t element, const Point& to, double factor) const {
        const ElementRows& rows = elements_[element];
        trajectory::Reaction r;
        r.element = static_cast<int>(element);
        if (rows.normal >= 0) r.N = factor * to.Lambda[ix(rows.normal)];
        for (int k = 0; k < rows.slips; ++k) r.T.push_back(factor * to.Lambda[ix(rows.first_slip + k)]);
        return r;
    }

    /// w·Mw of a row w at the end: T(w) + T(−w) − 2T(0), because T is quadratic.
    double row_inertia(int row) {
        const model::Pattern& rows = model_.layout().rows;
        std::vector<double> w(at_.u.size(), 0.0), minus = w;
        const std::vector<double> rest = w;
        for (int k = rows.start[ix(row)]; k < rows.start[ix(row) + 1]; ++k) {
            w[ix(rows.column[ix(k)])] = stepper_.rows()[ix(k)];
            minus[ix(rows.column[ix(k)])] = -stepper_.rows()[ix(k)];
        }
        const auto kinetic = [&](const std::vector<double>& u) { return stepper_.energy_at(at_.t, at_.q, u).kinetic; };
        return kinetic(w) + kinetic(minus) - 2.0 * kinetic(rest);
    }

    void finish() {
        out_.end = {at_.t, at_.q, at_.u};
        for (std::size_t i = 0; i < elements_.size(); ++i)
            out_.forces.push_back(reaction(i, at_, at_.h > 0.0 ? 1.0 / at_.h : 0.0));
        if (!model_.mean_friction.empty()) {
            model::Workspace workspace(model_);
            std::vector<double> values(ix(model_.layout().coefficients));
            model_.system->coefficients(model::at(model_, at_.t, at_.q, at_.u), workspace.scratch(), values);
            add_mean_friction(model_, values, out_.forces);
        }
        final_modes();
        examine_uniqueness();
        out_.energy.final = stepper_.total_energy(at_.t, at_.q, at_.u);
        measure(at_);
        const double mean_step = (at_.t - out_.start.t) / static_cast<double>(std::max(out_.statistics.steps, 1L));
        accuracy_.judge(stepper_.rows(), out_, mean_step, [this](int row) { return row_inertia(row); });
        const long steps = out_.statistics.steps, rejected = out_.statistics.rejected;
        out_.statistics = stepper_.statistics;
        out_.statistics.steps = steps;
        out_.statistics.rejected = rejected;
        for (const std::string& note : stepper_.notes) out_.warnings.push_back(note);
        if (std::string text = missing_restitution_text(model_, struck_without_restitution_); !text.empty())
            out_.warnings.push_back(std::move(text));
        for (const int row : stepper_.redundant) {
            const auto c = std::find_if(model_.constraints.begin(), model_.constraints.end(),
                                        [&](const model::Constraint& k) { return k.row == row; });
            if (c != model_.constraints.end())
                out_.warnings.push_back(
                    "constraint " + c->name +
                    " is redundant, at least at times: the other constraints carry its reaction then, and "
                    "its friction is left out");
        }
        if (stepper_.unsolved > 0)
            out_.warnings.push_back(std::to_string(stepper_.unsolved) +
                                    " contact problems were not solved to the tolerance (worst residual " +
                                    number_text(out_.statistics.worst_contact_residual) +
                                    "), the first at t = " + number_text(stepper_.first_unsolved));
        if (stepper_.constraints_drift)
            out_.warnings.push_back("constraints could not be projected to rounding everywhere; largest |g| = " +
                                    number_text(out_.violation.constraint));
    }

    /// The modes at the end of the motion; time-stepping does not keep those before.
    void final_modes() {
        stepper_.evaluate(at_.t, at_.q, at_.u);
        for (std::size_t i = 0; i < elements_.size(); ++i) {
            const ElementRows& rows = elements_[i];
            const bool open = (rows.kind == ElementKind::contact && at_.touch[i] == Touch::open) ||
                              (rows.kind == ElementKind::clutch && at_.Lambda[ix(rows.normal)] == 0.0);
            bool slips = false;
            for (int r = rows.first_slip; r < rows.first_slip + rows.slips; ++r)
                slips = slips || std::abs(stepper_.gamma_of(r, at_.u)) > sticking_ratio * stepper_.row_size(r, at_.u);
            out_.arcs.back().modes.push_back(open              ? trajectory::Mode::open
                                             : rows.slips == 0 ? trajectory::Mode::closed
                                             : slips           ? trajectory::Mode::slip
                                                               : trajectory::Mode::stick);
        }
    }

    /// The mode of the dynamics at a point whose open elements are known, as the velocities there have it.
    SystemMode mode_at(Dynamics& d, double t, const std::vector<double>& x, const Point& at,
                       const std::vector<char>& open) const {
        d.evaluate_terms(t, x.data());
        d.shape_friction();
        SystemMode mode = d.mode();
        for (std::size_t i = 0; i < mode.elements.size(); ++i) {
            mode.elements[i].active = open[i] == 0;
            for (const int p : d.elements()[i].part_numbers()) {
                const FrictionPart& part = d.parts()[ix(p)];
                const double speed = d.slip_speed(p);
                mode.parts[ix(p)].slips =
                    part.frictionless() || speed > sticking_ratio * stepper_.row_size(part.row, at.u);
                for (int r = 0; r < part.size && speed > 0.0; ++r)
                    mode.parts[ix(p)].direction[ix(r)] = d.slip_velocity(p)[r] / speed;
            }
        }
        return mode;
    }

    std::vector<double> state_of(const Point& at) const {
        std::vector<double> x(at.q);
        x.insert(x.end(), at.u.begin(), at.u.end());
        x.push_back(0.0);
        return x;
    }

    /// Finds out whether the forces at the end are unique, from the equations of the modes there.
    void examine_uniqueness() {
        if (layout_rows() > max_examined_rows) return;
        Dynamics d(model_, false, 1.0);
        const std::vector<double> x = state_of(at_);
        std::vector<char> open;
        for (const trajectory::Mode mode : out_.arcs.back().modes) open.push_back(mode == trajectory::Mode::open);
        d.set_mode(mode_at(d, at_.t, x, at_, open), at_.t, x.data());
        if (!d.evaluate(at_.t, x.data())) return;
        const Dynamics::Ambiguity ambiguity = d.ambiguity();
        out_.forces_unique = ambiguity.elements.empty();
        if (!ambiguity.elements.empty())
            out_.warnings.push_back(ambiguous_forces_text(ambiguity.elements, out_.elements));
    }

    /// A slip velocity at a state, in units of its size.
    double slip_ratio(int row, const Point& at) const {
        return std::abs(stepper_.gamma_of(row, at.u)) / stepper_.row_size(row, at.u);
    }

    /// The row of friction that stuck at the beginning of a step, slips at its end, and could share its load; -1 if
    /// there is none.
    int row_that_lets_go(const Point& from, const Point& to) const {
        int bearing = 0;
        for (std::size_t i = 0; i < elements_.size(); ++i)
            if (elements_[i].kind != ElementKind::contact || from.touch[i] == Touch::closed) ++bearing;
        if (bearing < 2) return -1;
        for (std::size_t i = 0; i < elements_.size(); ++i) {
            const ElementRows& rows = elements_[i];
            if (rows.kind == ElementKind::contact && from.touch[i] != Touch::closed) continue;
            for (int r = rows.first_slip; r < rows.first_slip + rows.slips; ++r)
                if (slip_ratio(r, from) <= sticking_ratio && slip_ratio(r, to) > sticking_ratio) return r;
        }
        return -1;
    }

    /// Warns, once, if friction of elements that share a load lets go in a step although other forces that their laws
    /// allow hold it, with the load at the end of the step. Both obey the laws: one problem a step finds one of them.
    /// Short steps begin a slip with velocities that may be errors of the solver: the warning waits until they have
    /// grown.
    void note_letting_go(const Point& from, const Point& to) {
        constexpr double slipping_ratio = 100.0 * sticking_ratio;
        if (letting_go_told_ || layout_rows() > max_examined_rows) return;
        if (letting_go_row_ < 0) {
            if (releases_ == max_examined_releases || to.any_struck) return;
            const int row = row_that_lets_go(from, to);
            if (row < 0) return;
            ++releases_;
            letting_go_text_ = text_of_letting_go(from, to);
            if (!letting_go_text_.empty()) letting_go_row_ = row;
        }
        if (letting_go_row_ < 0) return;
        if (slip_ratio(letting_go_row_, to) > slipping_ratio) {
            letting_go_told_ = true;
            out_.warnings.push_back(letting_go_text_);
        } else if (slip_ratio(letting_go_row_, to) <= sticking_ratio) {
            letting_go_row_ = -1;
        }
    }

    /// The warning for friction that lets go in a step; empty if no forces that the laws allow hold it.
    std::string text_of_letting_go(const Point& from, const Point& to) {
        if (!dynamics_) dynamics_ = std::make_unique<Dynamics>(model_, false, 1.0);
        Dynamics& d = *dynamics_;
        const std::vector<double> x = state_of(from);
        std::vector<char> open;
        for (std::size_t i = 0; i < elements_.size(); ++i)
            open.push_back((elements_[i].kind == ElementKind::contact && from.touch[i] == Touch::open) ||
                           (elements_[i].kind == ElementKind::clutch && from.Lambda[ix(elements_[i].normal)] == 0.0));
        d.set_mode(mode_at(d, to.t, x, from, open), to.t, x.data());
        if (!d.redundant() || !d.evaluate(to.t, x.data())) return {};
        const Dynamics::Ambiguity ambiguity = d.ambiguity();
        Watcher watcher(d);
        watcher.begin(to.t, x.data());
        if (ambiguity.elements.empty() || watcher.motion_depends_on_distribution() || !d.evaluate(to.t, x.data()) ||
            watcher.allow_reactions() > watcher.hold_tolerance)
            return {};
        return "the motion is not unique at t = " + number_text(to.t) + ": friction of " +
               names_of(ambiguity.elements, out_.elements) +
               " lets go, but forces that their laws allow can hold it; the event-driven method holds";
    }

    int layout_rows() const { return model_.layout().row_count(); }

    enum class Change : char { none, rests, lifts };

    // Of note_letting_go.
    bool letting_go_told_ = false;
    int letting_go_row_ = -1;      // of friction that has let go where it could be held, until its slip has grown
    std::string letting_go_text_;  // the warning about it
    int releases_ = 0;
    std::unique_ptr<Dynamics> dynamics_;

    const model::Mechanics& model_;
    const Moreau& method_;
    const Options& options_;
    const Record record_;
    Recording recording_;
    const std::vector<ElementRows> elements_;
    Stepper stepper_;
    trajectory::Trajectory out_;
    Point at_, next_;            // before and after a step
    Point half_, full_;          // of adaptive steps and of halve: after the first half, and after the other step
    std::vector<char> resting_;  // of each contact: it rests on its obstacle
    std::vector<char> struck_without_restitution_;  // of each contact: it was struck although its eN was not given
    std::vector<int> idle_;                         // of each contact: steps that a resting one was open or leaving
    std::vector<Change> change_ = std::vector<Change>(model_.contacts.size(), Change::none);
    AccuracyCheck accuracy_;
    std::optional<Stepper> probe_;                                  // makes steps again in halves
    double t_0_ = 0.0;                                              // start of the motion: equal steps end at t_0 + k h
    long step_ = 1;                                                 // number k of the next step
    const model::SampledLaw* sampled_;                              // the control, if it samples; otherwise null
    long sample_ = 0;                                               // number of the next sample
    double next_sample_ = std::numeric_limits<double>::infinity();  // its time, in s
    std::vector<double> impulses_;  // normal impulses since the start, for each quantity that the law measures
    const Continued* earlier_;      // the motion that is continued; null: the motion begins with this run
    std::optional<trajectory::State> begin_;  // start of a continued motion
    MotionSink sink_;                         // empty: the trajectory keeps its events and arcs
    std::size_t kept_bytes_ = 0;              // of the steps since the last part
    std::size_t events_handed_over_ = 0;
    bool handed_over_ = false;       // a part was given to the sink
    bool earlier_left_out_ = false;  // leave_out_earlier_parts was called
    double work_before_ = 0.0;       // work before the first step of a continued motion, in J
    ResumePoint resume_;
    std::vector<int> sides_;         // per jump: sign of `when` at at_; 0 if it is zero up to rounding
    std::vector<double> when_;       // per jump: `when` at at_
    std::vector<char> leaves_zero_;  // per jump: `when` is zero at at_, after a reset or at the start
    std::vector<double> zero_when_;  // per jump: the value of `when` that counts as zero (find_sides)
    std::vector<double> values_;     // scratch: coefficients
    int jumps_in_step_ = 0;          // resets since the last equal step ended
    long asked_ = 0;
    bool told_stiff_ = false;
};

}  // namespace

ResumableMotion run_resumable(const model::Mechanics& model, const Moreau& method, const Options& options,
                              Record record, const Continued* earlier, const MotionSink& sink) {
    SALTUS_EXPECT(method.h > 0.0 && method.theta >= 0.0 && method.theta <= 1.0);
    SALTUS_EXPECT(earlier == nullptr || !method.adaptive);
    return Run(model, method, options, record, earlier, sink).go();
}

RecordedMotion run_moreau(const model::Mechanics& model, const Moreau& method, const Options& options, Record record) {
    return run_resumable(model, method, options, record, nullptr).motion;
}

}  // namespace saltus::integrate
