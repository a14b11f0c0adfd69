// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "saltus/base/numbers.hpp"
#include "saltus/model/fwd.hpp"
#include "saltus/model/system.hpp"
#include "saltus/trajectory/trajectory.hpp"

namespace saltus::integrate {

/// Errors that the tolerances of a method explain. A motion with larger ones is inaccurate.
struct AccuracyBounds {
    /// Error of the energy balance, relative to the largest energy seen plus all energy that was exchanged.
    double balance = 0.0;
    /// Error of a gap or constraint, relative to Σ|W_i| max|q_i|, which is what its rounding errors are relative to.
    double position = 0.0;
    double absolute = 0.0;  ///< error of coordinates and velocities in their own units
    /// Penetration relative to the way of the contact: the largest opening, or Σ|W_i| (extent of q_i).
    double penetration = 0.0;
    /// Penetration relative to the way that the largest kinetic energy allows the contact in one step.
    double penetration_in_step = 0.0;
    /// Error of one step: |δu| for the difference δu that halving it makes, relative to the largest |u|, both in the
    /// metric of M.
    double step = 0.0;
    double least_energy = 0.0;  ///< the balance error is relative to at least this energy, in J
};

/// Times at which a quantity reached ever larger values, without storing all values.
class GrowingRecord {
public:
    void see(double t, double value) {
        if (value <= largest_) return;
        add(t, value);
    }
    double largest() const { return largest_; }
    void reserve();  ///< gets all memory now, so that `see` allocates nothing
    /// The first time at which the value was above `bound`; the value is known to a factor 1.5.
    std::optional<double> first_above(double bound) const;

private:
    void add(double t, double value);
    double largest_ = 0.0;
    std::vector<std::pair<double, double>> entries_;  // (time, value), both growing
};

/// Judges a motion while it is integrated. The run hands it states at pseudo-random points inside its steps, which the
/// method did not choose. There it takes gaps, constraints and energies from the model, not from the polynomials that
/// the method uses to find events. Nothing but the largest errors is stored.
class AccuracyCheck {
public:
    /// `rigid`: penetration of contacts is an error; false for contacts with springs.
    AccuracyCheck(const model::Mechanics& model, AccuracyBounds bounds, bool rigid);

    /// A pseudo-random number in (0, 1), the same sequence in every run.
    double fraction();
    /// For methods of many short steps: whether this step is one to be measured. True for the first
    /// `steps_always_measured` steps, later for one in `mean_steps_between` on average.
    bool due();
    /// For Taylor series, whose steps are long: whether the energy balance is to be measured inside this step too,
    /// where the work has to be integrated for it. True for the first step, later for one in
    /// `mean_steps_between_balances`. A run uses either this or `due`.
    bool balance_due();

    void start(std::span<const double> q, const model::Energy& energy);
    void reserve();  ///< gets the memory for energy balance and step errors now, so that a step allocates nothing
    /// A state at t: coordinates, velocities, energies, gaps and constraints there, and the work done since the start.
    void see(double t, std::span<const double> q, std::span<const double> u, const model::Energy& energy, double work,
             std::span<const double> positions);
    /// Parts of `see`: without the energy balance, and the energy balance alone.
    void see_motion(double t, std::span<const double> q, std::span<const double> u, std::span<const double> positions);
    void see_balance(double t, const model::Energy& energy, double work);
    /// Energies at a state that was measured otherwise.
    void see_scale(const model::Energy& energy) {
        largest_energy_ = std::max({largest_energy_, std::abs(energy.kinetic), std::abs(energy.potential)});
        largest_kinetic_ = std::max(largest_kinetic_, energy.kinetic);
        low_potential_ = std::min(low_potential_, energy.potential);
        high_potential_ = std::max(high_potential_, energy.potential);
    }
    double largest_energy() const { return largest_energy_; }  ///< largest |T| or |U| so far
    void see_penetration(double t, int contact, double depth);
    /// The error of the velocity w·u of a row that the tolerances explain, in its unit, by the motion so far.
    double allowed_speed(int row, std::span<const double> W) const;
    /// The difference δu that halving a step made: its largest component, and δu·Mδu.
    void see_step_error(double t, double largest, double squared) {
        if (largest > bounds_.absolute) steps_.see(t, std::sqrt(std::max(0.0, squared)));
    }

    /// Writes the largest errors into the trajectory. If one of them is larger than the bounds allow, then a completed
    /// motion becomes inaccurate; others get a warning. `W`: rows at the end of the motion. Time-stepping also gives
    /// its step length h in s and a function that returns w·Mw for the row w with this number.
    void judge(std::span<const double> W, trajectory::Trajectory& out, double h = 0.0,
               const std::function<double(int)>& inertia = {}) const;

    /// What later measurements depend on, without the errors that were found (detail/resume_archive.hpp). Call `start`
    /// before it is read.
    template <class Archive>
    void remember(Archive& archive) {
        archive(random_, seen_, until_measured_, initial_, largest_energy_, largest_kinetic_, largest_speed_,
                low_potential_, high_potential_, last_work_, exchanged_, low_, high_, opening_);
    }

private:
    struct Finding {
        double since, error, allowed;
        std::string what;
    };
    void see_positions(double t, std::span<const double> positions);
    /// What errors of positions are compared with at the end.
    struct Scale {
        std::span<const double> W;
        double h;
        const std::function<double(int)>& inertia;
    };
    double allowed_position(int row, const Scale& scale, bool gap) const;
    double way_in_step(int row, const Scale& scale) const;
    double allowed_balance() const;
    std::optional<Finding> first_finding(const Scale& scale) const;

    const model::Mechanics& model_;
    const AccuracyBounds bounds_;
    const bool rigid_;
    std::uint64_t random_;
    long seen_ = 0;            // steps that `due` was asked for
    long until_measured_ = 0;  // steps before the next one that is due
    double initial_ = 0.0, largest_energy_ = 0.0, largest_kinetic_ = 0.0, largest_speed_ = 0.0;
    double low_potential_ = infinity, high_potential_ = -infinity;
    double last_work_ = 0.0, exchanged_ = 0.0;  // work at the last point; Σ|change of work| between points
    std::vector<double> low_, high_;            // extent of each coordinate
    std::vector<double> opening_;               // largest value of each gap
    std::vector<GrowingRecord> violations_;     // of each constraint and gap
    GrowingRecord balance_, steps_;
};

/// Bounds for the event-driven and the penalty method, from the tolerances of the run.
AccuracyBounds event_accuracy(double rtol, double atol);
/// Bounds for time-stepping, whose only tolerance is the length of the step.
AccuracyBounds stepping_accuracy();

}  // namespace saltus::integrate
