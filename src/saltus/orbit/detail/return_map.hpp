// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "saltus/base/linalg.hpp"
#include "saltus/integrate/event/recording.hpp"
#include "saltus/integrate/simulate.hpp"
#include "saltus/model/fwd.hpp"
#include "saltus/trajectory/trajectory.hpp"

namespace saltus::orbit {

/// Durations, in s, that Newton's method may try for an orbit whose period is an unknown. A period that becomes much
/// shorter than the guess is none: every motion closes in no time. Near a singular Jacobian a step can ask for a period
/// that is longer by many orders of magnitude; its motion would take all time and memory.
struct PeriodRange {
    explicit PeriodRange(double guess) : shortest(0.01 * guess), longest(20.0 * guess) {}
    bool contains(double duration) const { return duration > shortest && duration < longest; }

    double shortest, longest;
};

/// A motion of one period with its derivative.
struct Return {
    trajectory::Trajectory motion;
    Vector end;           ///< (q, u) at the end
    Matrix slope;         ///< ∂(q, u) at the end by (q, u) at the start
    Vector rate;          ///< d(q, u)/dt at the end
    Vector by_parameter;  ///< ∂(q, u) at the end by the parameter; empty if none was named
    /// Columns without a derivative. They are 0 in `slope`.
    std::vector<std::string> missing;
    std::vector<std::string> one_sided;  ///< variables whose derivatives hold on one side only
    std::string failure;                 ///< why there is no motion or no derivative at all; empty if there is
    bool available() const { return failure.empty(); }
};

/// The motion from a state over some time, with its derivative by the start.
class ReturnMap {
public:
    /// The model must outlive the object.
    ReturnMap(const model::Model& model, const integrate::EventDriven& method, std::function<bool()> interrupted);
    /// The same with derivatives by an independent parameter of the model, too. The start does not depend on it.
    ReturnMap(const model::Model& model, const integrate::EventDriven& method, std::function<bool()> interrupted,
              const std::string& parameter);

    Return operator()(double t, const Vector& x, double duration) const;
    /// The motion alone.
    trajectory::Trajectory motion(double t, const Vector& x, double duration) const;
    /// The motion with what its derivatives need.
    integrate::RecordedMotion recorded(double t, const Vector& x, double duration) const;

private:
    integrate::Options options_of(double t, const Vector& x, double duration) const;

    const model::Model& model_;
    integrate::EventDriven method_;
    std::function<bool()> interrupted_;
    std::string parameter_;
};

/// (q, u) of a state as one vector, and back.
Vector vector_of(const trajectory::State& state);
trajectory::State state_of(double t, const Vector& x);

/// d(q, u)/dt of a motion at its end, before the events there.
Vector rate_at_end(const trajectory::Trajectory& motion);
/// d(q, u)/dt of a motion at a time inside of an arc.
Vector rate_at(const trajectory::Trajectory& motion, double t);

/// A condition s(x) = 0 that fixes the phase of an autonomous motion.
struct PhaseCondition {
    std::function<double(const Vector& x)> value;
    std::function<Vector(const Vector& x)> gradient;
    Eigen::Index component = -1;  ///< s = sign·(x_component − level) if this is not -1; passages are then found faster
    double sign = 1.0, level = 0.0;
};

/// The condition of an expression of the state.
PhaseCondition section_of(const model::Model& model, const std::string& expression);
/// The plane normal·(y − x) = 0, and that across the direction of the motion at x.
PhaseCondition plane_through(const Vector& x, const Vector& normal);
PhaseCondition plane_across(const Vector& x, const Vector& rate);

/// The plane x_i = const through x that the motion passes most directly: that of the component whose rate is largest
/// relative to its size.
PhaseCondition level_across(const Vector& x, const Vector& rate, const Vector& size);

/// A passage of a motion through the section, upwards.
struct Passage {
    double t = 0.0;
    Vector x;
};
/// All passages of a motion (integrate/section_passages.hpp).
std::vector<Passage> passages(const std::vector<trajectory::Arc>& arcs, Eigen::Index coordinates,
                              const PhaseCondition& section);
inline std::vector<Passage> passages(const trajectory::Trajectory& motion, const PhaseCondition& section) {
    return passages(motion.arcs, static_cast<Eigen::Index>(motion.coordinates.size()), section);
}

/// How often a motion passes a section upwards within a time, in words, if that is not often enough: `count` of
/// `needed` passages. Says so if the motion passes it downwards often enough.
std::string passes_too_seldom(std::size_t count, std::size_t needed, std::size_t downwards, double time);
/// The section with its sides exchanged: passages upwards are those downwards of the other.
PhaseCondition exchanged(const PhaseCondition& section);

/// The last `count` passages of a motion; fewer if there are not as many.
std::vector<Passage> last_passages(const trajectory::Trajectory& motion, const PhaseCondition& section,
                                   std::size_t count);

}  // namespace saltus::orbit
