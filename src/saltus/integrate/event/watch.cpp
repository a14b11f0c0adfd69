// SPDX-License-Identifier: Apache-2.0
#include "saltus/integrate/event/watch.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "saltus/base/error.hpp"
#include "saltus/base/index.hpp"
#include "saltus/integrate/event/detail/step_enclosure.hpp"
#include "saltus/integrate/mode/detail/series_arithmetic.hpp"
#include "saltus/integrate/mode/thresholds.hpp"
#include "saltus/model/mechanics.hpp"
#include "saltus/solvers/friction/holding.hpp"
#include "saltus/solvers/friction/modes.hpp"

namespace saltus::integrate {

namespace {

using trajectory::ElementKind;

constexpr std::size_t few_rows = 24;  // a cone program of more rows takes too long for each sample

/// The time after this part of a step.
double from_start(const ode::Dense& step, double part) { return step.t_old() + part * (step.t_new() - step.t_old()); }

}  // namespace

void Watcher::reset() {
    watches_.clear();
    held_.clear();
    unresolved = false;
    hold_tolerance = Thresholds::hold_acceleration;
    solution_.r.clear();  // it is no guess for another run
}

void Watcher::begin(double t, const double* x) {
    collect_watches();
    measure(t, x);
}

void Watcher::begin_again(double t, const double* x) {
    SALTUS_EXPECT(!needs_forces_ && !needs_velocities_);
    measure_start(t, x, 0.0);
}

void Watcher::begin_without_watches() {
    watches_.clear();
    held_.clear();
    violated_.clear();
    needs_forces_ = needs_velocities_ = motion_depends_ = inadmissible_distribution_ = false;
}

/// Collects the quantities to watch in the mode, and finds out whether they need forces or velocities. If reactions are
/// not unique, then one quantity, `hold`, stands for all closed contacts and sticking parts.
void Watcher::collect_watches() {
    using What = Watch::What;
    watches_.clear();
    held_.clear();
    for (std::size_t i = 0; i < d_.elements().size(); ++i) {
        const ElementLayout& e = d_.elements()[i];
        const bool active = d_.mode().elements[i].active;
        const int element = static_cast<int>(i);
        const bool contact = e.rows.kind == ElementKind::contact;
        if (contact && d_.model().contacts[ix(e.rows.index)].condition != model::no_coefficient)
            watches_.push_back({What::condition, element});
        if (contact && !active && d_.mode().elements[i].exists) watches_.push_back({What::gap, element});
        const bool unique = !d_.redundant();
        if (contact && active && d_.compliant()) {
            watches_.push_back({What::depth, element});
            if (d_.damped(element)) watches_.push_back({What::spring, element});
        }
        const bool clutch = e.rows.kind == ElementKind::clutch;
        if (active && (clutch || (contact && !d_.compliant())))
            (unique ? watches_ : held_).push_back({What::force, element});
        if (clutch && !active) watches_.push_back({What::clutch, element});
        if (!active) continue;
        bool slips = false;
        for (const int k : e.part_numbers()) {
            // A coefficient that is zero now may grow.
            if (d_.parts()[ix(k)].frictionless() && d_.model().layout().coefficients_constant) continue;
            const bool part_slips = d_.mode().parts[ix(k)].slips;
            if (part_slips)
                watches_.push_back({What::slip, element, k});
            else
                (unique ? watches_ : held_).push_back({What::reserve, element, k});
            slips = slips || part_slips;
        }
        if (slips && e.rows.kind == ElementKind::constraint) watches_.push_back({What::reaction, element});
    }
    if (!held_.empty()) watches_.push_back({What::hold, -1});
    for (std::size_t k = 0; k < d_.model().jumps.size(); ++k) watches_.push_back({What::trigger, static_cast<int>(k)});
    needs_forces_ = needs_velocities_ = false;
    for (const Watch& w : watches_) {
        needs_forces_ = needs_forces_ || w.what == What::force || w.what == What::reserve || w.what == What::reaction ||
                        w.what == What::hold;
        needs_velocities_ = needs_velocities_ || w.what == What::slip || w.what == What::clutch ||
                            w.what == What::spring || w.what == What::condition || w.what == What::trigger;
    }
}

/// Evaluates what the quantities need at the start of the arc, and measures them.
void Watcher::measure(double t, const double* x) {
    motion_depends_ = false;
    double forces = 0.0;
    if (needs_forces_ || needs_velocities_) {
        d_.evaluate(t, x);
        motion_depends_ = !held_.empty() && d_.ambiguity().motion;
        for (const double f : d_.reactions()) forces = std::max(forces, std::abs(f));
        for (const double h : d_.terms().h) forces = std::max(forces, std::abs(h));
    } else {
        d_.evaluate_velocities(t, x);  // gaps alone
    }
    measure_start(t, x, forces);
}

/// Measures the scale of each quantity at the start of the arc, and finds those that start at zero or are violated.
/// `forces` is the largest force.
void Watcher::measure_start(double t, const double* x, double forces) {
    using What = Watch::What;
    violated_.clear();
    inadmissible_distribution_ = false;
    zero_.resize(watches_.size());
    leave_.resize(watches_.size());
    depth_.resize(watches_.size());
    held_noise_ = Thresholds::force_noise * std::max(forces, Thresholds::smallest_scale);
    const std::span<const double> u(x + d_.size(), ix(d_.size()));
    for (std::size_t k = 0; k < watches_.size(); ++k) {
        Watch& w = watches_[k];
        double scale = 1.0;
        switch (w.what) {
            case What::gap:
            case What::depth: scale = d_.position_scale(d_.elements()[ix(w.element)].rows.normal, x); break;
            case What::slip:
            case What::clutch: scale = velocity_scale(w, u); break;
            case What::condition:
            case What::trigger: scale = 1.0 + std::abs(value(w)); break;
            default: scale = std::max(forces, Thresholds::smallest_scale);
        }
        if (!std::isfinite(scale)) scale = 1.0;  // a row that does not exist here, such as of sqrt(x) at x = 0
        const bool position = w.what == What::gap || w.what == What::depth;
        // Gaps and velocities are functions of the state. Forces come out of a linear system and are less accurate.
        const bool trigger = w.what == What::trigger;
        const bool force =
            !position && !trigger && w.what != What::slip && w.what != What::clutch && w.what != What::condition;
        zero_[k] = (force ? Thresholds::force_noise : Thresholds::position_noise) * scale;
        leave_[k] = (position || trigger ? Thresholds::position_leave : Thresholds::force_leave) * scale;
        if (w.what == What::hold) {
            zero_[k] = leave_[k] = motion_depends_ ? held_noise_ : 0.0;
            depth_[k] = 0.0;
            if (motion_depends_)
                inadmissible_distribution_ = hold_margin() < -Thresholds::violated_force * scale;
            else
                allow_reactions();  // the arc starts with admissible forces
            continue;
        }
        const double s = position && w.what == What::gap
                             ? d_.terms().positions[ix(d_.elements()[ix(w.element)].rows.normal)]
                             : value(w);
        const bool law = w.what == What::force || w.what == What::reserve;
        if (law && s < -Thresholds::violated_force * scale) violated_.push_back({t, t, t, static_cast<int>(k)});
        // A gap below zero starts at zero, too: it has to leave before it can close.
        depth_[k] = std::max(0.0, -s);
        w.starts_at_zero = (w.what == What::gap ? s : std::abs(s)) <=
                           (position ? Thresholds::gap_at_start : Thresholds::value_at_start) * scale;
    }
}

double Watcher::velocity_scale(const Watch& w, std::span<const double> u) const {
    const int row = w.what == Watch::What::slip ? d_.parts()[ix(w.part)].row : d_.elements()[ix(w.element)].rows.normal;
    return model::row_scale(d_.model().layout().rows, d_.terms().W, row, u);
}

/// Writes the contact problem of the accelerations in the mode in force into hold_, at the state of the last evaluate.
void Watcher::pose_hold_problem() {
    const SystemMode& mode = d_.mode();
    std::vector<char> closed(mode.elements.size()), undecided(mode.parts.size());
    for (std::size_t i = 0; i < closed.size(); ++i) closed[i] = mode.elements[i].active ? 1 : 0;
    for (std::size_t k = 0; k < undecided.size(); ++k) undecided[k] = mode.parts[k].slips ? 0 : 1;
    std::vector<double> known(ix(d_.size()), 0.0);
    hold_.collect(d_, mode, closed, undecided, known);  // the free acceleration contains the known forces
    hold_.assemble(d_, mode, d_.free_acceleration());
}

/// Finds admissible reactions of a redundant mode and sets them in the dynamics: reactions that hold if there are any.
/// Returns the largest relative acceleration that they leave.
double Watcher::find_reactions() {
    pose_hold_problem();
    solvers::Automatic method;
    method.tolerance = Thresholds::hold_residual;
    const bool again = solution_.r.size() == hold_.problem.q.size();
    solvers::solve(hold_.problem, method, workspace_, solution_,
                   again ? std::span<const double>(solution_.r) : std::span<const double>());
    double moves = 0.0;
    for (const double v : solution_.v) moves = std::max(moves, std::abs(v));
    // The contact problem can have a solution that moves beside others that hold.
    if (moves > hold_tolerance * d_.acceleration_scale() &&
        solvers::holding_reactions(hold_.problem, solution_.r, hold_tolerance, holding_) == solvers::Holding::found) {
        solution_.r = holding_;
        moves = 0.0;
    }
    set_reactions(solution_.r);
    return moves;
}

/// Sets the reactions of the rows of hold_ in the dynamics.
void Watcher::set_reactions(const std::vector<double>& r) {
    for (std::size_t b = 0; b < hold_.blocks.size(); ++b)
        for (std::size_t k = 0; k < hold_.blocks[b].rows.size(); ++k)
            d_.set_reaction(hold_.blocks[b].element, hold_.blocks[b].rows[k], r[ix(hold_.first_row(b)) + k]);
}

/// How far a redundant mode is from its end: the tolerance minus the largest relative acceleration that the best
/// admissible reactions leave. If the motion depends on the distribution of the reactions, then the ones that move it
/// must be admissible: their least reserve.
double Watcher::hold_margin() {
    if (motion_depends_) {
        double least = std::numeric_limits<double>::infinity();
        for (const Watch& w : held_) least = std::min(least, value(w));
        return least;
    }
    const double moves = allow_reactions();
    const double tolerance = d_.coarse() ? std::max(hold_tolerance, d_.redundancy()) : hold_tolerance;
    const double margin = tolerance * d_.acceleration_scale() - moves;
    return margin > 0.0 ? margin + holding_reserve() * d_.acceleration_scale() : margin;
}

/// How far the best admissible reactions of a redundant mode are inside of their sets, relative to the largest force.
/// The accelerations that they leave are zero as long as they hold, so that only this reserve shows at the samples of a
/// step that the end of the mode comes near. 0 if it is not known.
double Watcher::holding_reserve() {
    pose_hold_problem();
    if (hold_.problem.q.size() > few_rows) return 0.0;
    std::vector<double> signs;
    double largest = Thresholds::smallest_scale;
    for (const HoldProblem::Block& block : hold_.blocks)
        for (const int row : block.rows) {
            signs.push_back(d_.reactions()[ix(row)]);
            largest = std::max(largest, std::abs(signs.back()));
        }
    const std::optional<double> reserve = solvers::holding_reserve(hold_.problem, signs);
    return reserve ? std::max(0.0, *reserve / largest) : 0.0;
}

/// Whether the reactions in the dynamics, after Dynamics::evaluate those of least norm, lie in the sets of their laws.
bool Watcher::least_norm_is_admissible() {
    return std::all_of(held_.begin(), held_.end(), [&](const Watch& w) { return value(w) >= -held_noise_; });
}

double Watcher::allow_reactions() {
    if (motion_depends_ || least_norm_is_admissible()) return 0.0;
    return find_reactions();
}

void Watcher::settle_reactions() {
    if (motion_depends_ || least_norm_is_admissible()) return;
    pose_hold_problem();
    if (hold_.problem.q.size() <= few_rows) {
        std::vector<double> signs;
        for (const HoldProblem::Block& block : hold_.blocks)
            for (const int row : block.rows) signs.push_back(d_.reactions()[ix(row)]);
        if (solvers::least_holding_reactions(hold_.problem, signs, hold_tolerance, holding_) == solvers::Holding::found)
            return set_reactions(holding_);
    }
    solution_.r.clear();
    find_reactions();
}

bool Watcher::can_also_let_go(double t, const double* x) {
    // Both are relative to the acceleration scale. At the end of a mode its contacts hold up to the accuracy of the
    // event. If they let go only because they must, then the acceleration grows from zero.
    constexpr double holds = 1e-6, moves = 1e-3;
    if (motion_depends_ || held_.empty() || !d_.evaluate(t, x)) return false;
    pose_hold_problem();
    const double least = moves * d_.acceleration_scale();
    const auto lets_go = [&](std::span<const double> v) {
        return std::any_of(v.begin(), v.end(), [&](double a) { return std::abs(a) > least; });
    };
    const auto one_lets_go = [&] {
        // Sweeps from zero load the contacts no more than they must, as steps of a time-stepping scheme do.
        solvers::GaussSeidel sweeps;
        sweeps.max_sweeps = 1000;
        sweeps.tolerance = holds;
        solvers::Solution other;
        solvers::solve(hold_.problem, sweeps, workspace_, other);
        if (other.status == solvers::Status::converged) return lets_go(other.v);
        std::vector<double> v(hold_.problem.q.size());
        for (const std::vector<double>& r : solvers::all_solutions(hold_.problem).r) {
            hold_.problem.W.multiply(r, v);
            for (std::size_t i = 0; i < v.size(); ++i) v[i] += hold_.problem.q[i];
            if (lets_go(v)) return true;
        }
        return false;
    };
    if (!one_lets_go()) return false;
    if (solution_.r.size() != hold_.problem.q.size()) solution_.r.assign(hold_.problem.q.size(), 0.0);
    return solvers::holding_reactions(hold_.problem, solution_.r, holds, holding_) == solvers::Holding::found;
}

std::vector<Watch> Watcher::exhausted(double t, const double* x) {
    std::vector<Watch> list;
    if (!d_.evaluate(t, x)) return list;
    for (const Watch& w : held_)
        if (value(w) <= Thresholds::simultaneous_force * held_noise_) list.push_back(w);
    return list;
}

ModeSeries::Release Watcher::release_soon(double t, const double* x) {
    // The accelerations grow with the time; they are large enough to tell which parts move if they are this part of the
    // acceleration scale. Parts with less than `moving` of the largest one stay.
    constexpr double clear = 1e-4, moving = 1e-3;
    // The time is at most this part of max(1, |t|), in s, and begins at the square of that.
    constexpr double longest = 1e-3, growth = 4.0;
    ModeSeries::Release release;
    const std::size_t n = ix(d_.size());
    if (motion_depends_ || held_.empty() || !d_.evaluate(t, x)) return release;
    const std::vector<double> acceleration(d_.acceleration().begin(), d_.acceleration().end());
    std::vector<double> later(x, x + d_.state_size());
    const double scale = std::max(1.0, std::abs(t));
    for (double dt = longest * longest * scale; dt <= longest * scale; dt *= growth) {
        for (std::size_t i = 0; i < n; ++i) {
            later[i] = x[i] + dt * x[n + i];
            later[n + i] = x[n + i] + dt * acceleration[i];
        }
        if (!d_.evaluate(t + dt, later.data())) return release;
        const double moves = find_reactions();
        if (!(moves > clear * d_.acceleration_scale())) continue;
        for (std::size_t b = 0; b < hold_.blocks.size(); ++b) {
            const HoldProblem::Block& block = hold_.blocks[b];
            const double* v = solution_.v.data() + hold_.first_row(b);
            const bool contact = d_.elements()[ix(block.element)].rows.kind == ElementKind::contact;
            if (block.normal && contact && v[0] > moving * moves) release.opening.push_back(block.element);
            if (block.normal) ++v;
            for (const int k : block.parts) {
                const int size = d_.parts()[ix(k)].size;
                double length = 0.0;
                for (int r = 0; r < size; ++r) length = std::hypot(length, v[r]);
                SlipDirection direction{};
                for (int r = 0; r < size && length > 0.0; ++r) direction[ix(r)] = v[r] / length;
                if (length > moving * moves) release.slipping.emplace_back(k, direction);
                v += size;
            }
        }
        return release;
    }
    return release;
}

Watcher::Inadmissible Watcher::worst_reaction(double t, const double* x) {
    using What = Watch::What;
    Inadmissible worst;
    if (!needs_forces_ || !d_.evaluate(t, x)) return worst;
    double forces = Thresholds::smallest_scale;
    for (const double f : d_.reactions()) forces = std::max(forces, std::abs(f));
    for (const double h : d_.terms().h) forces = std::max(forces, std::abs(h));
    if (!held_.empty() && !motion_depends_) {
        const double moves = allow_reactions(), scale = std::max(d_.acceleration_scale(), Thresholds::smallest_scale);
        worst = {moves / scale, held_.front().element};
    }
    const auto judge = [&](const Watch& w) {
        if (w.what != What::force && w.what != What::reserve) return;
        const double excess = -value(w) / forces;
        if (worst.element < 0 || excess > worst.excess) worst = {excess, w.element};
    };
    std::for_each(watches_.begin(), watches_.end(), judge);
    std::for_each(held_.begin(), held_.end(), judge);
    return worst;
}

double watched_value(const Dynamics& d, const Watch& w) {
    using What = Watch::What;
    if (w.what == What::hold || w.what == What::jump) return 0.0;
    if (w.what == What::trigger)
        return d.mode().sides[ix(w.element)] * d.coefficients()[ix(d.model().jumps[ix(w.element)].when)];
    const ElementLayout& e = d.elements()[ix(w.element)];
    const ElementMode& mode = d.mode().elements[ix(w.element)];
    switch (w.what) {
        case What::gap: return d.terms().positions[ix(e.rows.normal)];
        case What::depth: return -d.terms().positions[ix(e.rows.normal)];
        case What::spring: return mode.pulls ? -d.spring_force(w.element) : d.spring_force(w.element);
        case What::force: return d.reactions()[ix(e.rows.normal)];
        case What::slip: return d.slip_along(w.part);
        case What::reserve: return d.reserve(w.part);
        case What::reaction: return mode.reaction_sign * d.reactions()[ix(e.rows.normal)];
        case What::clutch: return d.row_velocity(e.rows.normal);
        case What::condition: {
            const double c = d.coefficients()[ix(d.model().contacts[ix(e.rows.index)].condition)];
            return mode.exists ? c : -c;
        }
        case What::hold:
        case What::trigger:
        case What::jump: break;
    }
    return 0.0;
}

double Watcher::value(const Watch& w) { return w.what == Watch::What::hold ? hold_margin() : watched_value(d_, w); }

/// All watched quantities at time t of the step; NaN if the motion cannot be evaluated at that time.
const std::vector<double>& Watcher::sample(double t) {
    for (std::size_t k = 0; k < samples_; ++k)
        if (times_[k] == t) return values_[k];
    if (samples_ == times_.size()) {
        times_.push_back(0.0);
        values_.emplace_back();
    }
    std::vector<double>& values = values_[samples_];
    times_[samples_++] = t;
    values.resize(watches_.size());
    x_.resize(ix(d_.state_size()));
    const bool positions = !needs_forces_ && !needs_velocities_;
    step_->evaluate(t, x_.data(), positions ? d_.size() : d_.state_size());
    if (needs_forces_) {
        if (!d_.evaluate(t, x_.data())) {
            std::fill(values.begin(), values.end(), std::numeric_limits<double>::quiet_NaN());
            return values;
        }
    } else if (needs_velocities_) {
        d_.evaluate_terms(t, x_.data());
    } else {
        const std::span<const double> g = d_.positions(t, x_.data());
        for (std::size_t k = 0; k < watches_.size(); ++k) {
            const double position = g[ix(d_.elements()[ix(watches_[k].element)].rows.normal)];
            values[k] = watches_[k].what == Watch::What::depth ? -position : position;
        }
        return values;
    }
    for (std::size_t k = 0; k < watches_.size(); ++k) values[k] = value(watches_[k]);
    return values;
}

/// Keeps the first zero and those that belong to the same event: zeros at the same time, and forces that are zero at
/// that time up to rounding. `value_at_first` gives a quantity at the time of the first zero.
template <class ValueAtFirst>
void Watcher::keep_simultaneous(ValueAtFirst value_at_first) {
    if (found_.size() < 2) return;
    std::sort(found_.begin(), found_.end(), [](const Found& x, const Found& y) { return x.t < y.t; });
    const double first = found_.front().t, together = Thresholds::simultaneous_time * std::max(1.0, std::abs(first));
    std::erase_if(found_, [&](const Found& f) {
        if (f.t <= first + together) return false;
        const Watch::What what = watches_[ix(f.watch)].what;
        const bool force = what == Watch::What::force || what == Watch::What::reserve;
        return !force || !(value_at_first(ix(f.watch)) <= Thresholds::simultaneous_force * zero_[ix(f.watch)]);
    });
}

/// Zeros of a quantity between two times of the step, from its samples. Parts of very short steps may begin and end at
/// the same rounded time: there are none. For a quantity that starts at zero or below, the change since the start of
/// the arc counts, as in `crossing`: a gap that starts deeper below zero than `leave` and sinks has no other zero.
std::vector<ode::Root>& Watcher::roots_of(std::size_t watch, double from, double to, bool start_counts) {
    roots_.clear();
    if (!(from < to)) return roots_;
    ode::RootSearch search;
    search.zero = zero_[watch];
    search.start_counts = start_counts;
    search.leave = leave_[watch];
    search.side = 1;
    search.max_evaluations = Thresholds::max_root_evaluations;
    const double lift = watches_[watch].starts_at_zero ? depth_[watch] : 0.0;
    const auto s = [&](double t) { return sample(t)[watch] + lift; };
    const ode::RootStatus status = ode::find_roots(s, from, to, search, roots_);
    unresolved = unresolved || !ode::usable(status);
    return roots_;
}

/// Searches forces and reserves at further times of the step. They come out of a linear system and are not enclosed,
/// but the step resolves the formulas at these times (StepEnclosure::resolved_part).
void Watcher::search_forces(const ode::Dense& step) {
    using What = Watch::What;
    for (std::size_t k = 0; k < watches_.size(); ++k) {
        const Watch& w = watches_[k];
        const bool force = w.what == What::force || w.what == What::reserve || w.what == What::reaction;
        const auto same = [&](const Found& f) { return f.watch == static_cast<int>(k); };
        if (!force || w.starts_at_zero || std::any_of(found_.begin(), found_.end(), same)) continue;
        double from = step.t_old();
        for (int i = 1; i < StepEnclosure::samples_of_a_step; ++i) {
            const double part = static_cast<double>(i) / (StepEnclosure::samples_of_a_step - 1);
            const double to = i + 1 == StepEnclosure::samples_of_a_step ? step.t_new() : from_start(step, part);
            if (sample(to)[k] < -zero_[k]) {
                for (const ode::Root& root : roots_of(k, from, to, true))
                    if (root.direction < 0) {
                        found_.push_back({root.t, root.left, root.right, static_cast<int>(k)});
                        break;
                    }
                break;
            }
            from = to;
        }
    }
}

/// Finds a quantity that is positive at all samples and negative in between, before the first zero that the samples
/// show.
void Watcher::search_between_samples(const ode::Dense& step, StepEnclosure& enclosure) {
    using What = Watch::What;
    using Quantity = StepEnclosure::Quantity;
    std::vector<Quantity> quantities;
    std::vector<std::size_t> numbers;
    const auto add = [&](std::size_t k, Quantity::What what, int number, double sign) {
        quantities.push_back({what, number, sign, zero_[k], watches_[k].starts_at_zero});
        numbers.push_back(k);
    };
    for (std::size_t k = 0; k < watches_.size(); ++k) {
        const Watch& w = watches_[k];
        if (w.what == What::hold || w.what == What::jump) continue;
        if (w.what == What::trigger) {
            add(k, Quantity::What::coefficient, d_.model().jumps[ix(w.element)].when, d_.mode().sides[ix(w.element)]);
            continue;
        }
        const ElementRows& rows = d_.elements()[ix(w.element)].rows;
        switch (w.what) {
            case What::gap: add(k, Quantity::What::position, rows.normal, 1.0); break;
            case What::depth: add(k, Quantity::What::position, rows.normal, -1.0); break;
            case What::clutch: add(k, Quantity::What::velocity, rows.normal, 1.0); break;
            case What::slip:
                if (d_.parts()[ix(w.part)].size == 1)
                    add(k, Quantity::What::velocity, d_.parts()[ix(w.part)].row,
                        d_.mode().parts[ix(w.part)].direction[0]);
                break;
            case What::condition:
                add(k, Quantity::What::coefficient, d_.model().contacts[ix(rows.index)].condition,
                    d_.mode().elements[ix(w.element)].exists ? 1.0 : -1.0);
                break;
            default: break;
        }
    }
    if (quantities.empty()) return;
    double until = step.t_new();
    for (const Found& f : found_) until = std::min(until, f.left);
    const auto dip =
        enclosure.first_dip(quantities, until, [&](std::size_t k, double t) { return sample(t)[numbers[k]]; });
    if (!dip) return;
    const std::size_t k = numbers[ix(dip->quantity)];
    for (const ode::Root& root :
         roots_of(k, dip->after, dip->at, dip->after > step.t_old() || !watches_[k].starts_at_zero)) {
        if (root.direction >= 0) continue;
        std::erase_if(found_, [&](const Found& f) { return f.watch == static_cast<int>(k); });
        found_.push_back({root.t, root.left, root.right, static_cast<int>(k)});
        return;
    }
}

/// A redundant mode that no admissible reactions hold at the end of the step, and that they did not hold at its start
/// either, ends at its start: it has no zero on the step.
void Watcher::find_mode_that_never_held() {
    if (motion_depends_ || held_.empty()) return;
    for (std::size_t k = 0; k < watches_.size(); ++k) {
        const auto same = [&](const Found& f) { return f.watch == static_cast<int>(k); };
        if (watches_[k].what != Watch::What::hold || std::any_of(found_.begin(), found_.end(), same)) continue;
        const double a = step_->t_old();
        if (sample(a)[k] > 0.0) continue;
        const double at_end = sample(step_->t_new())[k];
        if (at_end < -Thresholds::violated_force * d_.acceleration_scale())
            found_.push_back({a, a, a, static_cast<int>(k)});
    }
}

const std::vector<Found>& Watcher::search(const ode::Dense& step, StepEnclosure* enclosure) {
    step_ = &step;
    samples_ = 0;
    found_.clear();
    const double a = step.t_old();
    const double b = step.t_new();
    for (std::size_t k = 0; k < watches_.size(); ++k)
        for (const ode::Root& root : roots_of(k, a, b, !watches_[k].starts_at_zero)) {
            if (root.direction >= 0) continue;
            found_.push_back({root.t, root.left, root.right, static_cast<int>(k)});
            break;
        }
    if (enclosure != nullptr) {
        if (needs_forces_) search_forces(step);
        search_between_samples(step, *enclosure);
    }
    search_astray(step);
    find_mode_that_never_held();
    for (std::size_t k = 0; k < watches_.size(); ++k)
        if (watches_[k].starts_at_zero && sample(b)[k] > leave_[k]) watches_[k].starts_at_zero = false;
    keep_simultaneous([&](std::size_t k) { return sample(found_.front().t)[k]; });
    return found_;
}

/// h^k for k = 0 … ode::max_degree.
const double* Watcher::powers_of(double h) {
    if (powers_[0] == 0.0 || powers_[1] != h) {
        powers_[0] = 1.0;
        for (std::size_t k = 1; k < std::size(powers_); ++k) powers_[k] = powers_[k - 1] * h;
    }
    return powers_;
}

/// Writes a quantity as polynomials in θ = τ/h to polynomials_, all of which are positive as long as the quantity is:
/// their coefficients, at most the first `most`. Returns their number.
std::size_t Watcher::polynomials(const ModeSeries& series, const Watch& w, double noise, double h, int most) {
    using What = Watch::What;
    if (w.what == What::hold || w.what == What::jump) return 0;
    const double* const power = powers_of(h);
    Polynomial &p = polynomials_[0], &second = polynomials_[1];
    p.noise = noise;
    const auto take = [&](std::span<const double> c, double factor) -> std::size_t {
        p.size = std::min(static_cast<int>(c.size()), most);
        for (int k = 0; k < p.size; ++k) p.c[k] = c[ix(k)] * factor * power[k];
        return 1;
    };
    if (w.what == What::trigger) return take(series.trigger(w.element), d_.mode().sides[ix(w.element)]);
    const int normal = d_.elements()[ix(w.element)].rows.normal;
    const ElementMode& mode = d_.mode().elements[ix(w.element)];
    switch (w.what) {
        case What::gap: return take(series.position(normal), 1.0);
        case What::depth: return take(series.position(normal), -1.0);
        case What::force: return take(series.reaction(normal), 1.0);
        case What::reaction: return take(series.reaction(normal), mode.reaction_sign);
        case What::clutch: return take(series.row_velocity(normal), 1.0);
        case What::condition: return take(series.condition(w.element), mode.exists ? 1.0 : -1.0);
        case What::spring: {
            const int size = series.spring_force(w.element, second.c);
            return take({second.c, ix(size)}, mode.pulls ? -1.0 : 1.0);
        }
        case What::slip: {
            const FrictionPart& part = d_.parts()[ix(w.part)];
            const SlipDirection& direction = d_.mode().parts[ix(w.part)].direction;
            take(series.row_velocity(part.row), direction[0]);
            for (int r = 1; r < part.size; ++r) {
                const std::span<const double> c = series.row_velocity(part.row + r);
                for (int k = 0; k < p.size; ++k) p.c[k] += c[ix(k)] * direction[ix(r)] * power[k];
            }
            return 1;
        }
        case What::reserve: {
            const std::size_t count = reserve_polynomials(series, w, most);
            for (std::size_t i = 0; i < count; ++i)
                for (int k = 0; k < p.size; ++k) polynomials_[i].c[k] *= power[k];
            return count;
        }
        case What::hold:
        case What::trigger:
        case What::jump: break;
    }
    return 0;
}

/// The reserve of a sticking part. A part with one row under a load N >= 0 has μN − λ and μN + λ. The load of a
/// constraint is |ν|, and parts with two rows have a disk or an ellipse: there it is
///     (μ₁ μ₂ N)² − (μ₂ λ₁)² − (μ₁ λ₂)²,
/// divided by the sum of the sizes of its roots at the start, so that it is about the reserve itself. For a disk a
/// common factor μ² is left out.
std::size_t Watcher::reserve_polynomials(const ModeSeries& series, const Watch& w, int most) {
    const FrictionPart& part = d_.parts()[ix(w.part)];
    Polynomial &p = polynomials_[0], &second = polynomials_[1];
    double mu[2][ode::max_degree + 1];
    const double* const load = series.load(w.element).data();
    const double* force[2] = {nullptr, nullptr};
    const int size = std::min(static_cast<int>(series.load(w.element).size()), most);
    p.size = second.size = size;
    second.noise = p.noise;
    for (int axis = 0; axis < 2; ++axis) series.friction_coefficient(w.part, axis, mu[axis]);
    for (int r = 0; r < part.size; ++r) force[r] = series.reaction(part.row + r).data();
    // Coefficients of friction are often constant.
    const auto product = [size](const double* a, const double* b, double* out) {
        const bool constant = std::all_of(a + 1, a + size, [](double c) { return c == 0.0; });
        for (int k = 0; k < size; ++k)
            out[k] = constant ? a[0] * b[k] : a == b ? square_order(a, k) : convolution(a, b, k);
    };
    const bool contact = d_.elements()[ix(w.element)].rows.kind == ElementKind::contact;
    const bool slider = d_.elements()[ix(w.element)].rows.kind == ElementKind::slider;
    product(mu[0], load, p.c);
    if (part.size == 1 && (contact || slider)) {
        for (int k = 0; k < size; ++k) {
            second.c[k] = p.c[k] + force[0][k];
            p.c[k] -= force[0][k];
        }
        return 2;
    }
    double left[ode::max_degree + 1], squared[ode::max_degree + 1];
    const bool ellipse = part.shape == FrictionPart::Shape::ellipse;
    if (ellipse) {
        product(mu[1], p.c, left);
        std::copy_n(left, size, p.c);
    }
    const double bound = std::abs(p.c[0]);
    product(p.c, p.c, squared);
    double reached = 0.0;
    std::copy_n(squared, size, p.c);
    for (int r = 0; r < part.size; ++r) {
        if (ellipse)
            product(mu[1 - r], force[r], left);
        else
            std::copy_n(force[r], size, left);
        reached = std::hypot(reached, left[0]);
        product(left, left, squared);
        for (int k = 0; k < size; ++k) p.c[k] -= squared[k];
    }
    const double sum = bound + reached;
    for (int k = 0; k < size && sum > 0.0; ++k) p.c[k] /= sum;
    return 1;
}

/// The first crossing of a quantity that polynomials_ holds. A quantity that starts at zero does not cross there.
/// Slip, or a clutch, that starts at zero and runs against its direction at once has gone astray (Found::astray).
std::optional<Watcher::WatchCrossing> Watcher::crossing(std::size_t number, std::size_t count, Touches touches) {
    const Watch& w = watches_[number];
    std::optional<WatchCrossing> first;
    for (std::size_t i = 0; i < count; ++i) {
        Polynomial& p = polynomials_[i];
        // What counts is the change since the start of the arc: a quantity that sinks in many short steps is found.
        if (w.starts_at_zero && p.c[0] < 0.0) p.c[0] = std::min(0.0, p.c[0] + depth_[number]);
        const std::span<double> c(p.c, ix(p.size));
        const auto search = [&]() -> std::optional<ode::PossibleCrossing> {
            if (touches == Touches::report) return ode::first_possible_crossing(c, p.noise);
            const std::optional<ode::Crossing> certain = ode::first_crossing(c, p.noise);
            if (!certain) return {};
            return ode::PossibleCrossing{*certain, false, false};
        };
        std::optional<ode::PossibleCrossing> found = search();
        bool astray = false;
        const bool velocity = w.what == Watch::What::slip || w.what == Watch::What::clutch;
        if (found && velocity && w.starts_at_zero && found->at.theta == 0.0) {
            p.c[0] += Thresholds::astray_speed / Thresholds::position_noise * zero_[number];
            astray = true;
            found = search();
        }
        // A trigger that starts at zero passes through zero again only if it was away from it in between.
        if (found && w.what == Watch::What::trigger && w.starts_at_zero) {
            double largest = 0.0;
            for (const double part : {0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 0.875})
                largest = std::max(largest, ode::polynomial(c, part * found->at.theta));
            astray = !(largest > leave_[number]);
        }
        if (found && (!first || found->at.theta < first->found.at.theta)) first = {*found, astray};
    }
    return first;
}

const std::vector<Found>& Watcher::search(const ModeSeries& series, double h, Touches touches) {
    found_.clear();
    for (std::size_t k = 0; k < watches_.size(); ++k) {
        Watch& w = watches_[k];
        const std::size_t count = polynomials(series, w, zero_[k], h);
        if (const auto found = crossing(k, count, touches)) {
            const ode::Crossing& at = found->found.at;
            const double tau = h * at.theta, right = h * at.after, t = series.t();
            found_.push_back({t + tau, std::max(t, t + 2.0 * tau - right), t + right, static_cast<int>(k),
                              found->astray, tau, right, found->found.rounded, found->found.touch});
        } else if (w.starts_at_zero) {
            for (const double theta : {0.25, 0.5, 0.75, 1.0}) {
                double value = std::numeric_limits<double>::infinity();
                for (std::size_t i = 0; i < count; ++i)
                    value = std::min(value, ode::polynomial({polynomials_[i].c, ix(polynomials_[i].size)}, theta));
                if (value > leave_[k]) w.starts_at_zero = false;
            }
        }
    }
    keep_simultaneous([&](std::size_t k) {
        const std::size_t count = polynomials(series, watches_[k], zero_[k], h);
        double value = std::numeric_limits<double>::infinity();
        for (std::size_t i = 0; i < count; ++i)
            value = std::min(value, ode::polynomial({polynomials_[i].c, ix(polynomials_[i].size)},
                                                    (found_.front().t - series.t()) / h));
        return value;
    });
    return found_;
}

namespace {

/// The smallest positive zero of a + b x + c x², if a > 0; otherwise infinite.
double first_zero_of_parabola(double a, double b, double c) {
    constexpr double none = std::numeric_limits<double>::infinity();
    const double discriminant = b * b - 4.0 * a * c;
    if (!(a > 0.0) || !(discriminant >= 0.0)) return none;
    // The two zeros are q/c and a/q, without cancellation.
    const double q = -0.5 * (b + std::copysign(std::sqrt(discriminant), b)), first = q / c, second = a / q;
    const double smaller = std::min(first, second), larger = std::max(first, second);
    return smaller > 0.0 ? smaller : larger > 0.0 ? larger : none;
}

}  // namespace

void Watcher::remember_zeros() {
    remembered_zeros_.clear();
    for (const Watch& w : watches_) remembered_zeros_.push_back(w.starts_at_zero ? 1 : 0);
}

void Watcher::restore_zeros() {
    for (std::size_t k = 0; k < watches_.size(); ++k) watches_[k].starts_at_zero = remembered_zeros_[k] != 0;
}

namespace {

/// The series of a quantity that is a series of the motion itself and needs no copy; otherwise empty.
std::span<const double> own_series(const Dynamics& d, const ModeSeries& series, const Watch& w) {
    if (w.what == Watch::What::gap) return series.position(d.elements()[ix(w.element)].rows.normal);
    if (w.what == Watch::What::force) return series.reaction(d.elements()[ix(w.element)].rows.normal);
    return {};
}

}  // namespace

double Watcher::estimate(const ModeSeries& series) {
    double first = std::numeric_limits<double>::infinity();
    // A quantity that starts at zero up to its noise, or below, is divided by the time. One that only counts as
    // starting at zero (starts_at_zero) may be as far from it as its whole motion.
    const auto divided = [&](std::size_t watch, std::span<const double> c) {
        return c[0] <= zero_[watch] && c.size() > 1 ? c.subspan(1) : c;
    };
    constexpr int of_parabola = 4;  // coefficients of a polynomial: those of a parabola, also after the division by t
    for (std::size_t k = 0; k < watches_.size(); ++k) {
        const std::span<const double> own = own_series(d_, series, watches_[k]);
        const std::size_t count =
            own.empty() ? polynomials(series, watches_[k], zero_[k], 1.0, of_parabola) : std::size_t{1};
        const auto quantity = [&](std::size_t i) {
            return divided(k, own.empty() ? std::span<const double>(polynomials_[i].c, ix(polynomials_[i].size)) : own);
        };
        double parabola[2] = {};
        bool near = false;
        for (std::size_t i = 0; i < count; ++i) {
            const std::span<const double> c = quantity(i);
            const auto term = [&](std::size_t j) { return j < c.size() ? c[j] : 0.0; };
            parabola[i] = first_zero_of_parabola(term(0), term(1), term(2));
            near = near || parabola[i] < 2.0 * first;
        }
        if (!near) continue;
        if (own.empty()) polynomials(series, watches_[k], zero_[k], 1.0);
        for (std::size_t i = 0; i < count; ++i) {
            const std::span<const double> c = quantity(i);
            double tau = parabola[i];
            if (!(tau < 2.0 * first)) continue;
            // One step of Newton's method with all terms.
            double value = 0.0, slope = 0.0;
            for (std::size_t j = c.size(); j-- > 0;) {
                slope = slope * tau + value;
                value = value * tau + c[j];
            }
            const double better = tau - value / slope;
            if (better > 0.5 * tau && better < 2.0 * tau) tau = better;
            first = std::min(first, tau);
        }
    }
    return first;
}

bool Watcher::others_are_positive(const ModeSeries& series, std::span<const Found> found, double tau, double h) {
    for (std::size_t k = 0; k < watches_.size(); ++k) {
        if (std::any_of(found.begin(), found.end(), [&](const Found& f) { return f.watch == static_cast<int>(k); }))
            continue;
        if (const std::span<const double> own = own_series(d_, series, watches_[k]); !own.empty()) {
            if (!(ode::polynomial(own, tau) > zero_[k]) && !(ode::polynomial(own, h) > zero_[k])) return false;
            continue;
        }
        const std::size_t count = polynomials(series, watches_[k], zero_[k], h);
        for (std::size_t i = 0; i < count; ++i) {
            const std::span<const double> c(polynomials_[i].c, ix(polynomials_[i].size));
            if (!(ode::polynomial(c, tau / h) > zero_[k]) && !(ode::polynomial(c, 1.0) > zero_[k])) return false;
        }
    }
    return true;
}

double Watcher::admissible_until(const ModeSeries& series, double h) {
    double until = h;
    for (const Watch& w : held_) {
        const std::size_t count = polynomials(series, w, held_noise_, h);
        for (std::size_t i = 0; i < count; ++i)
            if (const auto zero = ode::first_crossing({polynomials_[i].c, ix(polynomials_[i].size)}, held_noise_))
                until = std::min(until, h * zero->theta);
    }
    return until;
}

/// Finds slip and clutches that run against their direction although no zero was found: slip that began at zero and was
/// pushed back by other decisions of the same change, or a zero that could not be resolved.
void Watcher::search_astray(const ode::Dense& step) {
    const double a = step.t_old(), b = step.t_new();
    for (std::size_t k = 0; k < watches_.size(); ++k) {
        const Watch& w = watches_[k];
        if (w.what == Watch::What::trigger && w.starts_at_zero && sample(b)[k] < -leave_[k]) {
            const auto own = [&](const Found& f) { return f.watch == static_cast<int>(k); };
            if (std::none_of(found_.begin(), found_.end(), own)) found_.push_back({a, a, a, static_cast<int>(k), true});
            continue;
        }
        if ((w.what != Watch::What::slip && w.what != Watch::What::clutch) || !(sample(b)[k] < 0.0)) continue;
        const auto same = [&](const Found& f) { return f.watch == static_cast<int>(k); };
        if (std::any_of(found_.begin(), found_.end(), same)) continue;
        step.evaluate(b, x_.data(), d_.state_size());
        d_.evaluate_terms(b, x_.data());
        const double band = Thresholds::astray_speed * velocity_scale(w, {x_.data() + d_.size(), ix(d_.size())});
        if (!(sample(b)[k] < -band)) continue;
        if (sample(a)[k] <= -band) {
            found_.push_back({a, a, a, static_cast<int>(k), true});
            continue;
        }
        ode::RootSearch search;
        search.zero = Thresholds::astray_accuracy * band;
        search.side = 1;
        search.max_evaluations = Thresholds::max_root_evaluations;
        const auto s = [&](double t) { return sample(t)[k] + band; };
        unresolved = unresolved || !ode::usable(ode::find_roots(s, a, b, search, roots_));
        for (const ode::Root& root : roots_) {
            if (root.direction >= 0) continue;
            found_.push_back({root.t, root.left, root.right, static_cast<int>(k), true});
            break;
        }
    }
}

}  // namespace saltus::integrate
