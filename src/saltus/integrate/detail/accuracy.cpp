// SPDX-License-Identifier: Apache-2.0
#include "saltus/integrate/detail/accuracy.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "saltus/base/index.hpp"
#include "saltus/base/numbers.hpp"
#include "saltus/integrate/mode/thresholds.hpp"
#include "saltus/model/mechanics.hpp"

namespace saltus::integrate {

namespace {

/// A value becomes an entry of a GrowingRecord if it is larger than the last entry by this factor. From rounding errors
/// of 1e-17 to 1e5 there are at most max_entries; later ones are dropped.
constexpr double growth_of_entries = 1.5;
constexpr std::size_t max_entries = 128;

/// Any odd number serves: points only have to be independent of the choices of the method.
constexpr std::uint64_t first_random = 0x9E3779B97F4A7C15U;

// Bounds of the event-driven method. The shipped models stay below 1e-11 for the balance and 1e-14 for gaps and
// constraints, so these factors leave room for long motions, and find errors that no tolerance explains.
constexpr double balance_per_tolerance = 1e3;   // balance error <= this · rtol
constexpr double position_per_tolerance = 1e2;  // |error of a gap| <= this · (rtol · size + atol)

// Bounds of time-stepping. A contact closes up to Δt times its approach speed too deep. If that is a visible part of
// its way, then the steps are too long for the motion.
constexpr double stepping_penetration = 0.05;  // penetration <= this · (way of the contact)
// If the contact hardly opens, then its way is no measure: the penetration is compared with the whole motion.
constexpr double stepping_part_of_step = 1e-3;  // penetration <= this · (way of a step with the largest kinetic energy)
constexpr double stepping_balance = 0.02;       // balance error <= this
constexpr double stepping_step = 0.02;          // halving a step changes the velocity by <= this · (largest velocity)
constexpr double stepping_position = 1e-6;      // error of a constraint <= this · size
constexpr double stepping_absolute = 1e-9;      // smaller violations are never an error, in the unit of the gap
constexpr double stepping_energy = 1e-300;      // keeps the relative balance error finite for a motion without energy

constexpr long steps_always_measured = 16;  // the first steps of a run of time-stepping; all steps of a coarse one
constexpr long mean_steps_between = 100;    // later one step in so many is measured
/// Taylor series: the balance is measured inside one step in so many. One measurement costs about a twentieth of a
/// cheap step, so that all of them cost less than a hundredth of the motion.
constexpr long mean_steps_between_balances = 16;

double finite_or_infinite(double value) { return std::isnan(value) ? infinity : value; }

}  // namespace

AccuracyBounds event_accuracy(double rtol, double atol) {
    AccuracyBounds b;
    b.balance = balance_per_tolerance * rtol;
    b.position = position_per_tolerance * rtol;
    b.absolute = position_per_tolerance * atol;
    b.step = infinity;
    b.least_energy = Thresholds::least_energy;
    return b;
}

AccuracyBounds stepping_accuracy() {
    AccuracyBounds b;
    b.balance = stepping_balance;
    b.position = stepping_position;
    b.absolute = stepping_absolute;
    b.penetration = stepping_penetration;
    b.penetration_in_step = stepping_part_of_step;
    b.step = stepping_step;
    b.least_energy = stepping_energy;
    return b;
}

// --- records ------------------------------------------------------------------------------------------------------

void GrowingRecord::reserve() { entries_.reserve(max_entries); }

void GrowingRecord::add(double t, double value) {
    largest_ = value;
    constexpr std::size_t usual_entries = 16;  // room that saves copies of the first ones
    if (entries_.empty()) entries_.reserve(usual_entries);
    if (entries_.empty() || (value > growth_of_entries * entries_.back().second && entries_.size() < max_entries))
        entries_.emplace_back(t, value);
}

std::optional<double> GrowingRecord::first_above(double bound) const {
    if (!(largest_ > std::min(bound, std::numeric_limits<double>::max()))) return {};
    for (const auto& [t, value] : entries_)
        if (value > bound) return t;
    return entries_.back().first;  // within growth_of_entries below the bound
}

// --- measuring ----------------------------------------------------------------------------------------------------

AccuracyCheck::AccuracyCheck(const model::Mechanics& model, AccuracyBounds bounds, bool rigid)
    : model_(model),
      bounds_(bounds),
      rigid_(rigid),
      random_(first_random),
      violations_(ix(model.layout().positions())) {}

double AccuracyCheck::fraction() {
    random_ ^= random_ << 13;
    random_ ^= random_ >> 7;
    random_ ^= random_ << 17;
    return (static_cast<double>(random_ >> 12) + 0.5) * 0x1p-52;
}

bool AccuracyCheck::due() {
    if (++seen_ <= steps_always_measured) return true;
    if (until_measured_-- > 0) return false;
    until_measured_ = static_cast<long>(fraction() * static_cast<double>(2 * mean_steps_between));
    return true;
}

bool AccuracyCheck::balance_due() {
    if (until_measured_-- > 0) return false;
    // The last random number, not a new one: `fraction` gives the same points with and without these measurements.
    until_measured_ = static_cast<long>((random_ >> 33) % (2 * mean_steps_between_balances));
    return true;
}

void AccuracyCheck::start(std::span<const double> q, const model::Energy& energy) {
    initial_ = energy.kinetic + energy.potential;
    low_.assign(q.begin(), q.end());
    high_ = low_;
    opening_.assign(ix(model_.layout().positions()), 0.0);
    see_scale(energy);
}

void AccuracyCheck::reserve() {
    balance_.reserve();
    steps_.reserve();
}

void AccuracyCheck::see(double t, std::span<const double> q, std::span<const double> u, const model::Energy& energy,
                        double work, std::span<const double> positions) {
    see_balance(t, energy, work);
    see_motion(t, q, u, positions);
}

void AccuracyCheck::see_motion(double t, std::span<const double> q, std::span<const double> u,
                               std::span<const double> positions) {
    for (std::size_t i = 0; i < q.size(); ++i) {
        low_[i] = std::min(low_[i], q[i]);
        high_[i] = std::max(high_[i], q[i]);
        largest_speed_ = std::max(largest_speed_, std::abs(u[i]));
    }
    see_positions(t, positions);
}

void AccuracyCheck::see_balance(double t, const model::Energy& energy, double work) {
    see_scale(energy);
    exchanged_ += std::abs(work - last_work_);
    last_work_ = work;
    const double error = std::abs(energy.kinetic + energy.potential - initial_ - work);
    balance_.see(t, finite_or_infinite(error));
}

void AccuracyCheck::see_positions(double t, std::span<const double> positions) {
    const std::size_t constraints = ix(model_.layout().constraints);
    for (std::size_t r = 0; r < constraints; ++r) violations_[r].see(t, finite_or_infinite(std::abs(positions[r])));
    if (!rigid_) return;
    for (std::size_t r = constraints; r < positions.size(); ++r) {
        opening_[r] = std::max(opening_[r], positions[r]);
        violations_[r].see(t, finite_or_infinite(-positions[r]));
    }
}

void AccuracyCheck::see_penetration(double t, int contact, double depth) {
    violations_[ix(model_.contacts[ix(contact)].row)].see(t, finite_or_infinite(depth));
}

// --- the verdict --------------------------------------------------------------------------------------------------

/// The largest way of a contact in one step, h |w·u|, that the kinetic energy allows. With T = u·Mu/2 the inequality of
/// Cauchy and Schwarz gives |w·u|² <= 2T w·M⁻¹w. The factor w·M⁻¹w is at least |w|⁴/(w·Mw), which needs no inverse; a
/// smaller factor makes the check stricter.
double AccuracyCheck::way_in_step(int row, const Scale& scale) const {
    if (!scale.inertia) return 0.0;
    const model::Pattern& rows = model_.layout().rows;
    double square = 0.0;
    for (int k = rows.start[ix(row)]; k < rows.start[ix(row) + 1]; ++k) square += scale.W[ix(k)] * scale.W[ix(k)];
    const double inertia = scale.inertia(row);
    return inertia > 0.0 ? scale.h * std::sqrt(2.0 * largest_kinetic_ / inertia) * square : 0.0;
}

/// Rounding errors of a velocity are relative to Σ|W_i| max|u_i|; time-stepping errs by a part of it.
double AccuracyCheck::allowed_speed(int row, std::span<const double> W) const {
    const model::Pattern& rows = model_.layout().rows;
    double size = 0.0;
    for (int k = rows.start[ix(row)]; k < rows.start[ix(row) + 1]; ++k) size += std::abs(W[ix(k)]) * largest_speed_;
    return std::max(bounds_.position * size + bounds_.absolute, bounds_.penetration * size);
}

double AccuracyCheck::allowed_position(int row, const Scale& scale, bool gap) const {
    const std::span<const double> W = scale.W;
    const model::Pattern& rows = model_.layout().rows;
    if (model_.layout().velocity_constraint(row)) return allowed_speed(row, W);
    double size = 0.0, way = 0.0;
    for (int k = rows.start[ix(row)]; k < rows.start[ix(row) + 1]; ++k) {
        const std::size_t i = ix(rows.column[ix(k)]);
        size += std::abs(W[ix(k)]) * std::max(std::abs(low_[i]), std::abs(high_[i]));
        way += std::abs(W[ix(k)]) * (high_[i] - low_[i]);
    }
    const double allowed = bounds_.position * size + bounds_.absolute;
    if (!gap) return allowed;
    return std::max({allowed, bounds_.penetration * std::max(way, opening_[ix(row)]),
                     bounds_.penetration_in_step * way_in_step(row, scale)});
}

/// Errors of the work are relative to all energy that was exchanged, which may be much more than the system ever has.
/// An error δ of a velocity v changes the kinetic energy by the part 2δ/v of it. An error δ of a position changes the
/// potential energy by the force times δ. The force is at most about twice the range of the potential energy divided by
/// the travel; a constant in U, such as the height of a body that hardly moves, has no force.
double AccuracyCheck::allowed_balance() const {
    double travel = 0.0;
    for (std::size_t i = 0; i < low_.size(); ++i) travel = std::max(travel, high_[i] - low_[i]);
    double allowed = bounds_.balance * (largest_energy_ + exchanged_);
    if (largest_speed_ > 0.0) allowed += 2.0 * bounds_.absolute / largest_speed_ * (largest_kinetic_ + exchanged_);
    if (travel > 0.0)
        allowed += 2.0 * bounds_.absolute / travel * (std::max(0.0, high_potential_ - low_potential_) + exchanged_);
    return allowed;
}

/// The error that was too large first.
std::optional<AccuracyCheck::Finding> AccuracyCheck::first_finding(const Scale& scale) const {
    std::optional<Finding> first;
    const auto consider = [&](const GrowingRecord& record, double allowed, const auto& what) {
        const std::optional<double> since = record.first_above(allowed);
        if (since && (!first || *since < first->since)) first = Finding{*since, record.largest(), allowed, what()};
    };
    for (const model::Constraint& c : model_.constraints)
        consider(violations_[ix(c.row)], allowed_position(c.row, scale, false),
                 [&] { return "constraint '" + c.name + "'"; });
    for (const model::Contact& c : model_.contacts)
        consider(violations_[ix(c.row)], allowed_position(c.row, scale, true),
                 [&] { return "the gap of contact '" + c.name + "'"; });
    consider(balance_, allowed_balance(), [] { return std::string("the energy balance"); });
    const double speed = std::sqrt(2.0 * largest_kinetic_);  // |u| in the metric of M
    if (const auto since = steps_.first_above(bounds_.step * speed); since && (!first || *since < first->since))
        first = Finding{*since, steps_.largest() / speed, bounds_.step, "the change that halving a step makes"};
    return first;
}

void AccuracyCheck::judge(std::span<const double> W, trajectory::Trajectory& out, double h,
                          const std::function<double(int)>& inertia) const {
    for (const model::Constraint& c : model_.constraints)
        out.violation.constraint = std::max(out.violation.constraint, violations_[ix(c.row)].largest());
    if (rigid_)
        for (const model::Contact& c : model_.contacts)
            out.violation.gap = std::max(out.violation.gap, violations_[ix(c.row)].largest());
    out.energy.balance_error = balance_.largest() / std::max(largest_energy_, bounds_.least_energy);
    const std::optional<Finding> found = first_finding({W, h, inertia});
    if (!found) return;
    out.inaccuracy.since = found->since;
    out.inaccuracy.what = found->what;
    out.inaccuracy.error = found->error;
    out.inaccuracy.allowed = found->allowed;
    out.inaccuracy.remedy = out.stepped
                                ? "use shorter steps (--h), or --method event"
                                : "look for formulas that jump and for corners of gaps (write a corner as two "
                                  "contacts), use a smaller --rtol or --max-step, or compare with --method moreau";
    const std::string text =
        fmt::format("inaccurate since t = {:.6g}: {} has the error {:.3g}, and the tolerances explain {:.3g}; {}",
                    found->since, found->what, found->error, found->allowed, out.inaccuracy.remedy);
    if (out.status != trajectory::Status::completed) {
        out.warnings.push_back(text);
        return;
    }
    out.status = trajectory::Status::inaccurate;
    out.reason = text;
}

}  // namespace saltus::integrate
