// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "saltus/stability/basin/basin.hpp"

namespace saltus::stability {

/// The rules by which a motion ends: rest, capture by the level set, or t_max.
struct Decision {
    double slow = 0.0;  ///< a motion is slow while T <= slow
    double t_max = 0.0;
    const CaptureSet* level = nullptr;  ///< not owned; null: none
    std::vector<double> periods;        ///< period of each coordinate; 0: it is not periodic
    bool to_rest = false;               ///< motions are not ended by the level set
    std::function<bool()> interrupted;  ///< polled; an interrupted motion stays pending

    static constexpr int slow_steps = 16;             ///< a motion rests after so many slow steps in a row
    static constexpr int steps_between_captures = 8;  ///< the level set is tested every so many steps
    /// The last step before t_max is lengthened by up to this part of h, so that no tiny step follows.
    static constexpr double last_step_stretch = 1e-9;

    /// Whether a state with these energies and this position lies in the level set, or in a copy by whole periods.
    bool inside(double kinetic, double potential, std::span<const double> q) const;
    /// V = T + U − reference.
    double height(double kinetic, double potential) const {
        return kinetic + potential - (level != nullptr ? level->reference : 0.0);
    }
};

/// Whether a state of Moreau's time-stepping is captured. Time-stepping lets bodies penetrate each other a little, and
/// the potential of such a state can be below that of every admissible state nearby: a body that is pressed against a
/// wall at the level ρ seems to be in { V < ρ }, although it is in another component of it. So the nearest admissible
/// state must lie in the level set, too.
class CaptureTest {
public:
    /// Model and decision must outlive this object.
    CaptureTest(const model::Mechanics& model, const Decision& decision);
    /// The energies are those of the state (q, u).
    bool operator()(double kinetic, double potential, std::span<const double> q, std::span<const double> u);

private:
    const model::Mechanics& model_;
    const Decision& decision_;
    Admitter admitter_;
    model::Workspace workspace_;
    std::vector<double> q_, u_;
};

/// A start state and its energies.
struct Start {
    std::vector<double> q, u;
    Admission admission = Admission::admissible;
    double kinetic = 0.0, potential = 0.0;
};

/// Makes start states: the initial state of the model with some components replaced, made admissible.
class Starts {
public:
    /// `components` are indices of (q, u). The model must outlive this object.
    Starts(const model::Mechanics& model, std::span<const int> components);
    /// One value for each component.
    Start make(std::span<const double> values);

private:
    const model::Mechanics& model_;
    std::vector<int> components_;
    Admitter admitter_;
    model::Workspace workspace_;
};

/// How and where a motion ended.
struct Ending {
    Fate fate = Fate::undecided;
    double t = 0.0;  ///< when rest began or the level set was entered; otherwise the end of the motion
    std::int64_t steps = 0;
    std::vector<double> q;
};

/// Simulates one motion by Moreau's time-stepping. If `stop_when_captured` then it ends when it enters the level set.
Ending by_moreau(const model::Mechanics& model, const integrate::Moreau& method, const Decision& decision,
                 const Start& start, bool stop_when_captured);
/// The same by the event-driven method. The whole motion is simulated; its end is determined afterwards.
Ending by_events(const model::Mechanics& model, const integrate::EventDriven& method, const Decision& decision,
                 const Start& start, bool stop_when_captured);

}  // namespace saltus::stability
