// SPDX-License-Identifier: Apache-2.0
#include "saltus/integrate/event/detail/event_driven.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <type_traits>

#include "saltus/base/index.hpp"
#include "saltus/base/text.hpp"
#include "saltus/integrate/event/detail/accumulation.hpp"
#include "saltus/integrate/event/recording.hpp"
#include "saltus/integrate/event/watch.hpp"
#include "saltus/integrate/mode/detail/mode_change.hpp"
#include "saltus/integrate/mode/linearised.hpp"
#include "saltus/model/model.hpp"
#include "saltus/ode/explicit.hpp"
#include "saltus/ode/radau.hpp"

namespace saltus::integrate {

namespace {

using trajectory::ElementKind;
using trajectory::EventKind;
using trajectory::Mode;

struct Settings {
    double rtol, atol;
    bool implicit;
    bool keep_arcs;
    bool compliant;
    double stiffness;
    double contact_tolerance;
    long max_events;
};

/// Beyond this many coordinates the dense linear algebra of implicit steps costs more than short explicit ones.
constexpr int most_for_implicit = 150;

/// One run: state, mode and the trajectory as it grows.
class Run {
public:
    Run(const model::Model& model, const Settings& settings, const Options& options);
    trajectory::Trajectory go();

private:
    enum class Next { arc, end };

    void start();
    void coarsen();
    void change_mode(const std::vector<Found>& found, bool first);
    void decide(const std::vector<Found>& found, bool first);
    void record_strike(const Strike& strike, EventKind kind, double left, double right);
    void judge_creation(const std::string& why);
    void record_changes(const SystemMode& before, double left, double right);
    bool choose(Candidates& candidates, SystemMode before, double left, double right, bool project = true);
    void pass_accumulation(const Accumulation::Limit& limit, const SystemMode& known);
    bool short_step(double h);
    Next arc();
    template <class Stepper>
    Next integrate(Stepper& stepper, const ode::Problem& problem);
    Next stuck(ode::StepStatus status);
    std::string held_by_a_jump();
    void become_implicit();
    Mode mode_of(std::size_t element) const;
    void keep(const ode::Dense& step, double until);
    void accepted(double t, const double* x);
    void open_record(bool first);
    bool struck(const Watch& w);
    void record_impact(bool jam, const Strike& strike);
    void close_record();
    void fail(std::string reason);
    void warn(const std::string& text);
    void finish();
    double total_energy() {
        const model::Energy e = d_.energy(t_, x_.data());
        largest_energy_ = std::max({largest_energy_, std::abs(e.kinetic), std::abs(e.potential)});
        return e.kinetic + e.potential;
    }
    Candidates nothing() const;
    std::string name(int element) const { return out_.elements[ix(element)].name; }
    std::string at_time() const { return " at t = " + number_text(t_); }

    const model::Model& model_;
    const Settings settings_;
    const Options& options_;
    Dynamics d_;
    ModeChange change_;
    Watcher watcher_;
    Accumulation accumulation_;
    ode::Explicit explicit_;
    std::optional<ode::Radau> implicit_;  // made when it is needed
    Linearised linearised_;
    double t_ = 0.0;
    std::vector<double> x_;
    double next_step_ = ode::automatic_step;
    double impulse_work_ = 0.0, largest_energy_ = 0.0, largest_acceleration_ = 0.0;
    long steps_since_asked_ = 0;
    int events_here_ = 0;     // at the same time: a loop must end
    bool coarsened_ = false;  // at least once
    double last_event_ = -1.0, arc_began_ = 0.0;
    ode::Dense dense_;
    std::optional<RecordedChange> change_record_;  // of the change in progress, where one is wanted
    trajectory::Trajectory out_;
    bool ended_ = false;
};

ode::Tolerances tolerances(const Settings& s) {
    // The error of many steps is to stay near what was asked for.
    ode::Tolerances t;
    t.relative = std::max(1e-2 * s.rtol, 1e-14);
    t.absolute = 1e-2 * s.atol;
    return t;
}

Run::Run(const model::Model& model, const Settings& settings, const Options& options)
    : model_(model),
      settings_(settings),
      options_(options),
      d_(model, settings.compliant, settings.stiffness),
      change_(d_, settings.contact_tolerance),
      watcher_(d_),
      accumulation_(d_.elements().size()),
      explicit_(d_.state_size(), tolerances(settings)),
      linearised_(d_, {}),
      x_(ix(d_.state_size()), 0.0) {
    out_.model = model.name;
    out_.coordinates = model.coordinates;
    out_.elements = elements_of(model);
    out_.warnings = model.warnings;
    change_.repair_energy = options.energy == EnergyRule::repair;
}

Candidates Run::nothing() const {
    Candidates c;
    c.closed.assign(d_.elements().size(), 0);
    c.released = c.closed;
    c.breaking.assign(d_.parts().size(), 0);
    c.arrested = c.breaking;
    return c;
}

void Run::fail(std::string reason) {
    out_.status = trajectory::Status::failed;
    out_.reason = std::move(reason);
    ended_ = true;
}

void Run::warn(const std::string& text) {
    if (out_.warnings.size() < 100) out_.warnings.push_back(text);
}

void Run::start() {
    const auto n = ix(d_.size());
    t_ = options_.start ? options_.start->t : 0.0;
    const std::vector<double>& q = options_.start ? options_.start->q : model_.q0;
    const std::vector<double>& u = options_.start ? options_.start->u : model_.u0;
    std::copy(q.begin(), q.end(), x_.begin());
    std::copy(u.begin(), u.end(), x_.begin() + static_cast<std::ptrdiff_t>(n));
    out_.start = {t_, q, u};
    out_.energy.initial = total_energy();
    change_mode({}, true);
}

void Run::open_record(bool first) {
    if (options_.recording == nullptr) return;
    RecordedChange& record = change_record_.emplace();
    record.t = t_;
    record.first = first;
    record.mode_before = d_.mode();
    record.before = x_;
    record.events_from = out_.events.size();
}

void Run::record_impact(bool jam, const Strike& strike) {
    if (!change_record_) return;
    RecordedImpact impact;
    impact.jam = jam;
    impact.repaired = strike.audit.prevented > 0.0;
    const ActiveRows& rows = change_.rows();
    impact.rows.assign(rows.row_numbers().begin(), rows.row_numbers().end());
    for (int b = 0; b < rows.blocks(); ++b) impact.start.push_back(rows.first_row(b));
    impact.start.push_back(rows.rows());
    impact.owner = change_.owner();
    impact.laws = rows.problem.laws;
    impact.u_minus = strike.u_minus;
    impact.u_plus = strike.u_plus;
    if (!jam) {
        const impact::Outcome& outcome = change_.outcome();
        impact.law = outcome.law;
        impact.e = change_.collision().e;
        impact.Lambda = outcome.Lambda;
        impact.compression = outcome.compression;
        impact.held = outcome.held;
    }
    change_record_->impacts.push_back(std::move(impact));
}

void Run::close_record() {
    if (!change_record_) return;
    change_record_->mode_after = d_.mode();
    change_record_->after = x_;
    change_record_->events_to = out_.events.size();
    change_record_->failed = ended_;
    options_.recording->pieces.emplace_back(std::move(*change_record_));
    change_record_.reset();
}

void Run::coarsen() {
    if (!coarsened_)
        warn("equations that nearly say the same hold the motion up" + at_time() + "; at times they count as one");
    coarsened_ = true;
    d_.set_redundancy(10.0 * d_.redundancy());
}

/// A free clutch that runs backwards: not its own way there, an impact has made it.
bool Run::struck(const Watch& w) {
    if (w.what != Watch::What::clutch) return false;
    d_.evaluate_terms(t_, x_.data());
    const int row = d_.elements()[ix(w.element)].rows.normal;
    const std::span<const double> u(x_.data() + d_.size(), ix(d_.size()));
    return d_.row_velocity(row) < -1e-8 * model::row_scale(model_.layout().rows, d_.terms().W, row, u);
}

void Run::change_mode(const std::vector<Found>& found, bool first) {
    open_record(first);
    if (change_record_)
        for (const Found& f : found) {
            change_record_->found.push_back(watcher_.watches()[ix(f.watch)]);
            change_record_->unavoidable = &found == &watcher_.violated() || struck(watcher_.watches()[ix(f.watch)]);
        }
    decide(found, first);
    close_record();
}

/// Which contacts could be closed at this state: those that were, those whose gap has just closed or is zero anyway.
void Run::decide(const std::vector<Found>& found, bool first) {
    if (t_ == last_event_) {
        if (++events_here_ > 100) return fail("more than 100 changes of mode at one time" + at_time());
        if (events_here_ % 20 == 0) coarsen();
    } else {
        events_here_ = 0;
        last_event_ = t_;
        d_.set_redundancy(std::max(0.5 * d_.redundancy(), Dynamics::least_redundancy));
    }
    Candidates candidates = nothing();
    SystemMode known = d_.mode();  // the mode that ends, with what the events say of the next one
    d_.evaluate_terms(t_, x_.data());
    const double left = found.empty() ? t_ : found.front().left, right = found.empty() ? t_ : found.front().right;
    for (std::size_t i = 0; i < d_.elements().size(); ++i) {
        const ElementLayout& e = d_.elements()[i];
        const bool active = known.elements[i].active;
        if (e.rows.kind == ElementKind::contact) {
            if (d_.compliant() && !active) known.elements[i].pulls = d_.spring_force(static_cast<int>(i)) < 0.0;
            const double gap = d_.terms().positions[ix(e.rows.normal)];
            const double scale = d_.position_scale(e.rows.normal, x_.data());
            const double rate = d_.row_velocity(e.rows.normal);
            if (d_.compliant())
                candidates.closed[i] = gap < -1e-14 * scale || (gap <= 1e-12 * scale && (active || rate < 0.0));
            else
                candidates.closed[i] = active || (gap <= 1e-10 * scale && rate <= 1e-9) ? 1 : 0;
        } else if (e.rows.kind == ElementKind::clutch) {
            candidates.closed[i] = d_.row_velocity(e.rows.normal) <= 1e-9 ? 1 : 0;
        }
    }
    bool held = false;
    for (const Found& f : found) {
        const Watch& w = watcher_.watches()[ix(f.watch)];
        switch (w.what) {
            case Watch::What::gap:
                candidates.closed[ix(w.element)] = 1;
                known.elements[ix(w.element)].pulls = false;
                break;
            case Watch::What::depth: candidates.closed[ix(w.element)] = 0; break;
            case Watch::What::spring: known.elements[ix(w.element)].pulls ^= true; break;
            case Watch::What::force: candidates.released[ix(w.element)] = 1; break;
            case Watch::What::slip: {
                // Slip in a plane may also have turned away from its old direction without coming to rest.
                const bool line = d_.parts()[ix(w.part)].size == 1;
                candidates.arrested[ix(w.part)] = !f.astray && (line || d_.slip_speed(w.part) < 1e-6) ? 1 : 0;
                break;
            }
            case Watch::What::clutch: candidates.closed[ix(w.element)] = 1; break;
            case Watch::What::reserve: {
                candidates.breaking[ix(w.part)] = 1;
                d_.evaluate(t_, x_.data());
                const FrictionPart& part = d_.parts()[ix(w.part)];
                SlipDirection& direction = known.parts[ix(w.part)].direction;
                double length = 0.0;
                for (int k = 0; k < part.size; ++k) length = std::hypot(length, d_.reactions()[ix(part.row + k)]);
                for (int k = 0; k < part.size; ++k)
                    direction[ix(k)] = length > 0.0 ? -d_.reactions()[ix(part.row + k)] / length : 0.0;
                break;
            }
            case Watch::What::hold: held = true; break;
            case Watch::What::jump: break;
            case Watch::What::reaction: known.elements[ix(w.element)].reaction_sign *= -1.0; break;
        }
    }

    bool struck = false;
    if (!d_.compliant()) {
        const Strike strike = change_.strike(t_, x_.data(), candidates);
        out_.statistics.worst_contact_residual = std::max(out_.statistics.worst_contact_residual, strike.residual);
        if (strike.failed) {
            fail("the impact" + at_time() + " has no outcome: " + strike.note);
            return;
        }
        if (strike.happened) {
            struck = true;
            record_impact(false, strike);
            record_strike(strike, EventKind::impact, left, right);
            if (ended_) return;
            double approach = 0.0;
            d_.evaluate_terms(t_, x_.data());
            for (std::size_t i = 0; i < d_.elements().size(); ++i) {
                const ElementLayout& e = d_.elements()[i];
                if (e.rows.kind != ElementKind::contact || candidates.closed[i] == 0) continue;
                double before = d_.terms().chi[ix(e.rows.normal)];
                before += model::row_dot(model_.layout().rows, d_.terms().W, e.rows.normal, strike.u_minus);
                approach = std::max(approach, std::abs(before));
            }
            double separation = 0.0;  // also of contacts that were held and let go
            for (std::size_t i = 0; i < d_.elements().size(); ++i) {
                const ElementLayout& e = d_.elements()[i];
                if (e.rows.kind != ElementKind::contact || candidates.closed[i] == 0) continue;
                const double after = d_.row_velocity(e.rows.normal);
                if (!(after > 1e-9 * approach)) continue;
                separation = std::max(separation, after);
                candidates.closed[i] = 0;
            }
            double extent = 1.0;
            for (int k = 0; k < d_.size(); ++k) extent = std::max(extent, 1.0 + std::abs(x_[ix(k)]));
            const double negligible = std::max(1e-12, settings_.atol) * extent;
            std::optional<Accumulation::Limit> limit;  // of the last element: those before it have been told by then
            for (const int element : strike.elements) {
                if (d_.elements()[ix(element)].rows.kind != ElementKind::contact) continue;
                if (auto next = accumulation_.impact(t_, element, separation, negligible)) limit = std::move(next);
            }
            if (limit && limit->t < options_.t_end) {
                pass_accumulation(*limit, known);
                return;
            }
        }
    }
    if (!choose(candidates, known, left, right)) return;
    if (!first && !struck) record_changes(known, left, right);
    // It was said to move and it does not: the tolerance was finer than the solution.
    if (held && !struck && (out_.events.empty() || out_.events.back().t != t_)) watcher_.hold_tolerance *= 10.0;
}

/// Chooses the next mode, by an impulse where no force does; then puts the state onto its equations.
bool Run::choose(Candidates& candidates, SystemMode before, double left, double right, bool project) {
    for (int attempt = 0; attempt < 6; ++attempt) {
        const Choice choice = change_.choose(t_, x_.data(), candidates, before);
        before = choice.mode;
        if (choice.solved)
            out_.statistics.worst_contact_residual = std::max(out_.statistics.worst_contact_residual, choice.residual);
        if (choice.impulsive) {
            const Strike strike = change_.jam(t_, x_.data(), candidates);
            if (strike.failed) {
                fail("Painleve: " + choice.note + at_time() + ", and " + strike.note);
                return false;
            }
            record_impact(true, strike);
            record_strike(strike, EventKind::painleve, left, right);
            out_.events.back().note = "no contact force exists: impact without collision";
            warn("Painleve: no contact force exists" + at_time() + "; the contacts jam by an impulse");
            std::fill(candidates.breaking.begin(), candidates.breaking.end(), char{0});
            continue;
        }
        if (!choice.solved) {
            fail(choice.note + at_time());
            return false;
        }
        if (choice.solutions > 1)
            warn("Painleve: " + std::to_string(choice.solutions) + " solutions for the contact forces" + at_time() +
                 "; the one that continues the motion is taken");
        d_.set_mode(choice.mode, t_, x_.data());
        if (!d_.evaluate(t_, x_.data())) {
            fail("the equations of motion are singular" + at_time());
            return false;
        }
        // What was let go must not be pushed back, and what broke loose must move on.
        bool again = false;
        const model::Pattern& W = model_.layout().rows;
        const auto rate = [&](int row) {
            return model::row_dot(W, d_.terms().W, row, d_.acceleration()) + d_.terms().zeta[ix(row)];
        };
        largest_acceleration_ = std::max(largest_acceleration_, d_.acceleration_scale());
        const double size = 1e-2 * largest_acceleration_;
        for (std::size_t i = 0; i < d_.elements().size(); ++i) {
            const ElementLayout& e = d_.elements()[i];
            if (candidates.released[i] != 0 && rate(e.rows.normal) < -1e-7 * size)
                candidates.released[i] = 0, again = true;
            for (const int k : e.part_numbers()) {
                if (!choice.mode.elements[i].active || candidates.breaking[ix(k)] == 0) continue;
                const FrictionPart& part = d_.parts()[ix(k)];
                const SlipDirection& direction = choice.mode.parts[ix(k)].direction;
                double along = 0.0;
                for (int r = 0; r < part.size; ++r) along += rate(part.row + r) * direction[ix(r)];
                if (along < -1e-7 * size) candidates.breaking[ix(k)] = 0, again = true;
            }
        }
        if (!again) break;
    }
    if (!project) return true;
    if (!d_.project(t_, x_.data())) warn("the constraints could not be met to rounding" + at_time());
    ++out_.statistics.projections;
    return true;
}

void Run::record_strike(const Strike& strike, EventKind kind, double left, double right) {
    trajectory::Event event;
    event.kind = kind;
    event.t = t_;
    event.t_left = left;
    event.t_right = right;
    event.elements = strike.elements;
    const auto n = ix(d_.size());
    event.q.assign(x_.begin(), x_.begin() + static_cast<std::ptrdiff_t>(n));
    event.u_minus = strike.u_minus;
    event.u_plus = strike.u_plus;
    event.impulses = strike.impulses;
    event.work = strike.work;
    event.audit = strike.audit;
    event.energy_after = total_energy();
    std::vector<double> before = x_;
    std::copy(strike.u_minus.begin(), strike.u_minus.end(), before.begin() + static_cast<std::ptrdiff_t>(n));
    const model::Energy e = d_.energy(t_, before.data());
    event.energy_before = e.kinetic + e.potential;
    largest_energy_ = std::max(largest_energy_, std::abs(e.kinetic));
    event.note = strike.note;
    if (!strike.note.empty()) warn(strike.note + at_time());
    impulse_work_ += strike.done;
    out_.events.push_back(std::move(event));
    if (!strike.creates.empty()) judge_creation(strike.creates);
}

void Run::judge_creation(const std::string& why) {
    const std::string text = creation_text(out_.events.back(), why);
    if (options_.energy != EnergyRule::stop) return warn(text);
    out_.status = trajectory::Status::energy_created;
    out_.reason = text;
    ended_ = true;
}

void Run::record_changes(const SystemMode& before, double left, double right) {
    const auto record = [&](EventKind kind, int element) {
        // One event for all elements of a kind.
        for (auto e = out_.events.rbegin(); e != out_.events.rend() && e->t == t_; ++e)
            if (e->kind == kind) {
                if (std::find(e->elements.begin(), e->elements.end(), element) == e->elements.end())
                    e->elements.push_back(element);
                return;
            }
        trajectory::Event event;
        event.kind = kind;
        event.t = t_;
        event.t_left = left;
        event.t_right = right;
        event.elements = {element};
        const auto n = static_cast<std::ptrdiff_t>(d_.size());
        event.q.assign(x_.begin(), x_.begin() + n);
        event.u_minus.assign(x_.begin() + n, x_.begin() + 2 * n);
        event.u_plus = event.u_minus;
        event.energy_before = event.energy_after = total_energy();
        out_.events.push_back(std::move(event));
    };
    const SystemMode& after = d_.mode();
    for (std::size_t i = 0; i < before.elements.size(); ++i) {
        const bool was_active = before.elements[i].active, is_active = after.elements[i].active;
        const int element = static_cast<int>(i);
        if (!was_active && is_active) record(EventKind::contact, element);
        if (was_active && !is_active) record(EventKind::lift_off, element);
        if (!was_active || !is_active) continue;
        for (const int k : d_.elements()[i].part_numbers()) {
            const FrictionMode &was = before.parts[ix(k)], &is = after.parts[ix(k)];
            const FrictionPart& part = d_.parts()[ix(k)];
            if (part.frictionless()) continue;
            if (was.slips && !is.slips) record(EventKind::stick, element);
            if (!was.slips && is.slips) record(EventKind::slip, element);
            double along = 0.0;
            for (int r = 0; r < part.size; ++r) along += is.direction[ix(r)] * was.direction[ix(r)];
            if (was.slips && is.slips && along < 0.0) record(EventKind::reversal, element);
        }
    }
}

/// The present mode over a time in which little happens, by the classical method of order 4.
bool Run::short_step(double h) {
    const auto size = x_.size();
    std::vector<double> k(size), at = x_, sum(size, 0.0);
    constexpr double nodes[] = {0.0, 0.5, 0.5, 1.0}, weights[] = {1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0};
    for (int s = 0; s < 4; ++s) {
        for (std::size_t i = 0; s > 0 && i < size; ++i) at[i] = x_[i] + nodes[s] * h * k[i];
        if (!d_.derivative(t_ + nodes[s] * h, at.data(), k.data())) return false;
        for (std::size_t i = 0; i < size; ++i) sum[i] += weights[s] * k[i];
    }
    // The work of this time is in the change of energy that the accumulation counts.
    for (std::size_t i = 0; i + 1 < size; ++i) x_[i] += h * sum[i];
    return true;
}

void Run::pass_accumulation(const Accumulation::Limit& limit, const SystemMode& known) {
    const int n = d_.size();
    const double remaining = limit.t - t_;
    const std::vector<double> before = x_;
    const double energy_before = total_energy();
    Candidates candidates = nothing();
    for (const int e : limit.elements) candidates.closed[ix(e)] = 1;
    for (std::size_t i = 0; i < d_.elements().size(); ++i)
        if (known.elements[i].active && d_.elements()[i].rows.kind == ElementKind::contact) candidates.closed[i] = 1;
    // Rest in the contacts, reached by impulses with the friction that belongs to them, and the motion in that mode
    // over the little time that is left.
    if (!choose(candidates, known, t_, t_, false)) return;
    SystemMode mode = d_.mode();
    for (const int e : limit.elements) mode.elements[ix(e)].active = true;
    d_.set_mode(mode, t_, x_.data());
    if (!d_.project_along_forces(t_, x_.data()) || !d_.evaluate(t_, x_.data())) {
        fail("the contacts do not hold after the accumulation of impacts" + at_time());
        return;
    }
    const std::vector<double> at_rest = x_;
    if (change_record_) {
        change_record_->rest = limit.elements;
        change_record_->limit = limit.t;
    }
    if (!short_step(remaining)) {
        fail("the contacts do not hold after the accumulation of impacts" + at_time());
        return;
    }
    d_.project(limit.t, x_.data());
    if (remaining > 0.0) {
        dense_.reset(t_, limit.t, d_.state_size(), 2);
        std::copy(before.begin(), before.end(), dense_.term(0).begin());
        std::copy(x_.begin(), x_.end(), dense_.term(1).begin());
        if (settings_.keep_arcs) out_.arcs.push_back({t_, limit.t, {}, {}});
        keep(dense_, limit.t);
    }
    t_ = limit.t;
    trajectory::Event event;
    event.kind = EventKind::accumulation;
    event.t = event.t_right = t_;
    event.t_left = before.empty() ? t_ : t_ - remaining;
    event.elements = limit.elements;
    event.q.assign(x_.begin(), x_.begin() + n);
    event.u_minus.assign(before.begin() + n, before.begin() + 2 * n);
    event.u_plus.assign(x_.begin() + n, x_.begin() + 2 * n);
    event.energy_before = energy_before;
    event.energy_after = total_energy();
    event.impacts = limit.impacts;
    impulse_work_ += event.energy_after - event.energy_before;
    out_.events.push_back(std::move(event));
    if (change_record_) {
        const std::vector<double> end = x_;
        x_ = at_rest;
        close_record();
        x_ = end;
        if (remaining > 0.0) {
            std::copy(at_rest.begin(), at_rest.end(), dense_.term(0).begin());
            options_.recording->pieces.emplace_back(RecordedArc{t_ - remaining, t_, mode, false, {dense_}});
        }
    }
    accumulation_.clear();
    last_event_ = t_;
    events_here_ = 0;
    change_mode({}, true);  // also for contacts that are not part of it
}

void Run::keep(const ode::Dense& step, double until) {
    if (out_.arcs.empty()) return;
    out_.arcs.back().t_end = until;
    if (settings_.keep_arcs) out_.arcs.back().steps.push_back(step);
    if (options_.recording == nullptr || change_record_) return;  // a change has its own way over an accumulation
    auto* const arc = std::get_if<RecordedArc>(&options_.recording->pieces.back());
    if (arc == nullptr) return;
    arc->t_end = until;
    arc->steps.push_back(step);
}

void Run::accepted(double t, const double* x) {
    for (const double g : d_.positions(t, x).first(ix(model_.layout().constraints)))
        out_.violation.constraint = std::max(out_.violation.constraint, std::abs(g));
    if (!d_.compliant())
        for (const model::Contact& c : model_.contacts)
            out_.violation.gap = std::max(out_.violation.gap, -d_.positions(t, x)[ix(c.row)]);
}

Run::Next Run::arc() {
    const int n = d_.size();
    const auto f = [this](double t, const double* x, double* dx) { return d_.derivative(t, x, dx); };
    const auto jacobian = [this, n](double t, const double* x, Matrix& J) {
        if (!linearised_.evaluate(t, x)) return false;
        J.block(0, n, n, n).setIdentity();
        J.block(n, 0, n, 2 * n) = linearised_.acceleration().middleCols(1, 2 * n);
        return true;
    };
    const ode::Problem problem{f, jacobian};
    arc_began_ = t_;
    if (settings_.keep_arcs || out_.arcs.empty()) {
        trajectory::Arc arc;
        arc.t_begin = arc.t_end = t_;
        for (std::size_t i = 0; i < d_.elements().size(); ++i) arc.modes.push_back(mode_of(i));
        out_.arcs.push_back(std::move(arc));
    }
    if (options_.recording != nullptr)
        options_.recording->pieces.emplace_back(RecordedArc{t_, t_, d_.mode(), implicit_.has_value(), {}});
    watcher_.begin(t_, x_.data());
    if (!watcher_.violated().empty()) {
        change_mode(watcher_.violated(), false);
        return ended_ ? Next::end : Next::arc;
    }
    return implicit_ ? integrate(*implicit_, problem) : integrate(explicit_, problem);
}

Mode Run::mode_of(std::size_t element) const {
    const ElementLayout& e = d_.elements()[element];
    if (!d_.mode().elements[element].active) return Mode::open;
    if (e.parts > 0) return any_part_slips(e, d_.mode()) ? Mode::slip : Mode::stick;
    return d_.compliant() && e.rows.kind == ElementKind::contact ? Mode::pressed : Mode::closed;
}

template <class Stepper>
Run::Next Run::integrate(Stepper& stepper, const ode::Problem& problem) {
    ode::StepStatus status = stepper.start(problem, t_, x_, next_step_);
    int tiny = 0, slow = 0, steps = 0;
    double longest = 0.0, looked = t_;
    while (ode::usable(status)) {
        if (++steps_since_asked_ % 64 == 0) {
            if (options_.interrupted && options_.interrupted()) {
                out_.status = trajectory::Status::interrupted;
                out_.reason = "interrupted" + at_time();
                return Next::end;
            }
            if (options_.progress) options_.progress(t_);
        }
        status = stepper.step(problem, options_.t_end);
        if (!ode::usable(status)) break;
        if (!stepper.dense(problem, dense_)) {
            status = ode::StepStatus::failed;
            break;
        }
        const std::vector<Found>& found = watcher_.search(dense_);
        if (!found.empty()) {
            // At the zero of a gap; just behind that of a force, where it has the sign of what comes.
            double t = t_;
            for (const Found& event : found) {
                const Watch::What what = watcher_.watches()[ix(event.watch)].what;
                const bool position = what == Watch::What::gap || what == Watch::What::depth;
                t = std::max(t, position ? event.t : event.right);
            }
            t = std::min(t, stepper.t());
            dense_.evaluate(t, x_.data());
            next_step_ = std::min(stepper.next_step(), options_.t_end - t);
            t_ = t;
            keep(dense_, t_);
            change_mode(found, false);
            return ended_ ? Next::end : Next::arc;
        }
        // Steps that have become nothing beside those before them, one after the other, lead nowhere.
        longest = std::max(longest, stepper.t() - t_);
        tiny = stepper.t() - t_ < 1e-8 * longest ? tiny + 1 : 0;
        if (tiny > 300) {
            status = ode::StepStatus::underflow;
            break;
        }
        if (++steps == 5000) {
            const bool slowly = stepper.t() - looked < 1e-4 * (options_.t_end - out_.start.t);
            if (const std::string held = slowly ? held_by_a_jump() : ""; !held.empty()) {
                fail("the motion hardly advances" + at_time() + held);
                return Next::end;
            }
            steps = 0;
            looked = stepper.t();
        }
        slow = stepper.t() - t_ < 1e-7 * (options_.t_end - out_.start.t) ? slow + 1 : 0;
        t_ = stepper.t();
        std::copy(stepper.x().begin(), stepper.x().end(), x_.begin());
        // Drift is taken away at the end of each step; the polynomial ends where the next one begins.
        if (!d_.project(t_, x_.data())) {
            fail("the constraints cannot be met any more" + at_time());
            return Next::end;
        }
        ++out_.statistics.projections;
        d_.turn_slip(d_.followed_mode());
        std::copy(x_.begin(), x_.end(), dense_.term(1).begin());
        keep(dense_, t_);
        accepted(t_, x_.data());
        largest_acceleration_ = std::max(largest_acceleration_, d_.acceleration_scale());
        if (t_ >= options_.t_end) return Next::end;
        // Equations that nearly say the same make fast motions of no size: where they hold it up, they count as one.
        const bool crawls = slow >= 300 && d_.equation_rows().size() > 1 && d_.redundancy() < 1e-3;
        if (crawls) {
            coarsen();
            slow = 0;
        }
        if (d_.degenerating() || crawls) {
            d_.set_mode(d_.mode(), t_, x_.data());
            next_step_ = stepper.next_step();
            if (d_.redundant()) return Next::arc;
        }
        if constexpr (std::is_same_v<Stepper, ode::Explicit>)
            if (stepper.stiff() && linearised_.available() && d_.size() <= most_for_implicit) {
                become_implicit();
                warn("the motion is stiff: implicit integration from t = " + number_text(t_));
                next_step_ = stepper.next_step();
                return Next::arc;
            }
        status = stepper.replace(problem, x_);
    }
    return stuck(status);
}

void Run::become_implicit() { implicit_.emplace(d_.state_size(), tolerances(settings_)); }

/// No step leads on. Perhaps the mode itself has come to its end: a contact force that grows without bound.
Run::Next Run::stuck(ode::StepStatus status) {
    // Slip in a plane turns ever faster as it comes to rest: there it is, unless it has just begun.
    std::vector<Found> resting;
    d_.evaluate_terms(t_, x_.data());
    const std::span<const double> u(x_.data() + d_.size(), ix(d_.size()));
    for (std::size_t k = 0; k < watcher_.watches().size(); ++k) {
        const Watch& w = watcher_.watches()[k];
        if (w.what != Watch::What::slip || d_.parts()[ix(w.part)].size == 1) continue;
        const int row = d_.parts()[ix(w.part)].row;
        if (d_.slip_speed(w.part) <= 1e-8 * model::row_scale(model_.layout().rows, d_.terms().W, row, u))
            resting.push_back({t_, t_, t_, static_cast<int>(k)});
    }
    if (!resting.empty() && t_ - arc_began_ > 1e-6 * (t_ - out_.start.t)) {
        last_event_ = t_;
        change_mode(resting, false);
        return ended_ ? Next::end : Next::arc;
    }
    const SystemMode before = d_.mode();
    Candidates candidates = nothing();
    for (std::size_t i = 0; i < d_.elements().size(); ++i)
        if (before.elements[i].active && d_.elements()[i].rows.kind == ElementKind::contact) candidates.closed[i] = 1;
    const std::size_t events = out_.events.size();
    open_record(false);
    const auto go_on = [this](Next next) {
        close_record();
        return next;
    };
    if (t_ != last_event_ && d_.nearly_singular(t_, x_.data())) {
        const Strike strike = change_.jam(t_, x_.data(), candidates);
        if (!strike.failed) {
            last_event_ = t_;
            record_impact(true, strike);
            record_strike(strike, EventKind::painleve, t_, t_);
            out_.events.back().note = "the contact force grows without bound: impact without collision";
            warn("Painleve: the contact force grows without bound" + at_time() + "; the contacts jam by an impulse");
            return go_on(choose(candidates, before, t_, t_) ? Next::arc : Next::end);
        }
    }
    const bool contacts = std::find(candidates.closed.begin(), candidates.closed.end(), 1) != candidates.closed.end();
    if (t_ != last_event_ && contacts) {
        last_event_ = t_;
        if (!choose(candidates, before, t_, t_)) return go_on(Next::end);
        bool changed = out_.events.size() > events;
        for (std::size_t i = 0; i < before.elements.size(); ++i)
            changed = changed || before.elements[i].active != d_.mode().elements[i].active;
        if (changed) return go_on(Next::arc);
    }
    change_record_.reset();
    fail("the step size underflows" + at_time() + " (" + std::string(ode::to_string(status)) + ")" + held_by_a_jump());
    return Next::end;
}

/// Why the motion does not go on, where something that an expression compares is zero, beside what could make it large.
std::string Run::held_by_a_jump() {
    if (linearised_.switches() == 0) return {};
    std::vector<double> values(ix(linearised_.switches()));
    Matrix derivatives;
    linearised_.switches(t_, x_.data(), values);
    linearised_.switch_derivatives(t_, x_.data(), derivatives);
    const int n = d_.size();
    Vector size(1 + 2 * n);
    size(0) = std::abs(t_);
    for (int i = 0; i < n; ++i) {
        size(1 + i) = std::abs(x_[ix(i)]);
        size(1 + n + i) = largest_acceleration_ * (t_ - out_.start.t) + std::abs(x_[ix(n + i)]);
    }
    for (Eigen::Index k = 0; k < derivatives.rows(); ++k)
        if (std::abs(values[static_cast<std::size_t>(k)]) <=
            1e-8 * derivatives.row(k).head(1 + 2 * n).cwiseAbs().dot(size.transpose()))
            return std::string("; an expression jumps here and the motion cannot leave it: ") + instead_of_jumps;
    return {};
}

void Run::finish() {
    const int n = d_.size();
    out_.end = {t_, {x_.begin(), x_.begin() + n}, {x_.begin() + n, x_.begin() + 2 * n}};
    if (d_.evaluate(t_, x_.data())) {
        if (d_.redundant()) watcher_.allowed_reactions();
        for (std::size_t i = 0; i < d_.elements().size(); ++i) {
            const ElementLayout& e = d_.elements()[i];
            trajectory::Reaction r;
            r.element = static_cast<int>(i);
            if (e.rows.normal >= 0) r.N = d_.reactions()[ix(e.rows.normal)] + 0.0;  // no −0
            for (int k = 0; k < e.rows.slips; ++k) r.T.push_back(d_.reactions()[ix(e.rows.first_slip + k)]);
            out_.forces.push_back(std::move(r));
        }
    }
    out_.energy.final = total_energy();
    out_.energy.work = x_[ix(2 * n)] + impulse_work_;
    const double scale = std::max(largest_energy_, 1e-12);
    out_.energy.balance_error = std::abs(out_.energy.final - out_.energy.initial - out_.energy.work) / scale;
    out_.statistics.steps = explicit_.statistics().accepted;
    out_.statistics.rejected = explicit_.statistics().rejected + explicit_.statistics().cut;
    if (implicit_) {
        out_.statistics.steps += implicit_->statistics().accepted;
        out_.statistics.rejected += implicit_->statistics().rejected + implicit_->statistics().cut;
    }
    out_.statistics.evaluations = d_.evaluations;
    out_.statistics.contact_solves = change_.solves;
    if (watcher_.unresolved) warn("some event functions could not be resolved on a step; events may be missing");
}

trajectory::Trajectory Run::go() {
    if (settings_.implicit) {
        if (linearised_.available())
            become_implicit();
        else
            warn("the system gives no derivatives: explicit integration");
    }
    if (options_.recording != nullptr) {
        *options_.recording = {settings_.compliant, settings_.stiffness, {}};
        options_.recording->pieces.reserve(64);
    }
    start();
    while (!ended_ && t_ < options_.t_end && arc() == Next::arc) {
        if (static_cast<long>(out_.events.size()) > settings_.max_events) {
            fail("more than " + std::to_string(settings_.max_events) + " events");
            break;
        }
    }
    finish();
    return std::move(out_);
}

}  // namespace

trajectory::Trajectory run_event_driven(const model::Model& model, const EventDriven& m, const Options& options) {
    const Settings settings{m.rtol, m.atol, m.implicit, m.keep_arcs, false, 1.0, m.contact_tolerance, m.max_events};
    trajectory::Trajectory out = Run(model, settings, options).go();
    out.method = "event";
    return out;
}

trajectory::Trajectory run_penalty(const model::Model& model, const Penalty& m, const Options& options) {
    const Settings settings{m.rtol, m.atol, m.implicit, m.keep_arcs, true, m.stiffness, 1e-10, 100000000};
    trajectory::Trajectory out = Run(model, settings, options).go();
    out.method = "penalty";
    return out;
}

}  // namespace saltus::integrate
