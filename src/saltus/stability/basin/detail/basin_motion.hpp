// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "saltus/stability/basin/basin.hpp"
#include "saltus/stability/basin/detail/basin_repeat.hpp"

namespace saltus::stability {

/// The rules by which a motion of one model ends: rest, repetition, capture by the level set, or t_max.
struct Decision {
    double slow = 0.0;  ///< a motion is slow while T <= slow
    double t_max = 0.0;
    const CaptureSet* level = nullptr;  ///< not owned; null: none
    std::vector<double> periods;        ///< period of each coordinate; 0: it is not periodic
    bool to_rest = false;               ///< motions are not ended by the level set
    RepeatRule repeat;                  ///< not active: motions that repeat go on until t_max
    /// Moreau's method: with a period, so many steps make one; the step is chosen such that this is a whole number.
    std::int64_t steps_of_period = 0;
    /// A motion rests after so many slow steps in a row. With an excitation it must be slow for a period: friction may
    /// hold a body for a part of it only.
    std::int64_t rest_steps = slow_steps;
    std::function<bool()> interrupted;  ///< polled; an interrupted motion stays pending

    static constexpr int slow_steps = 16;  ///< a motion rests after so many slow steps in a row, or more
    /// Models with so many coordinates ask for interrupts in every step, because their steps are slow.
    static constexpr int coordinates_polling_every_step = 64;
    static constexpr int steps_between_captures = 8;  ///< the level set is tested every so many steps
    /// The last step before t_max is lengthened by up to this part of h, so that no tiny step follows.
    static constexpr double last_step_stretch = 1e-9;
    /// A motion of the event-driven method rests if it was slow for more than this part of t_max before its end.
    static constexpr double shortest_rest = 1e-6;

    /// Whether a state with these energies and this position lies in the level set, or in a copy by whole periods.
    bool inside(double kinetic, double potential, std::span<const double> q) const;
    /// V = T + U − reference.
    double height(double kinetic, double potential) const {
        return kinetic + potential - (level != nullptr ? level->reference : 0.0);
    }
};

/// A contact counts as closed in a position of rest if its gap is at most this: time-stepping rests with a small
/// penetration or gap.
double closed_distance(std::span<const double> q);

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
class StartStates {
public:
    /// `components` are indices of (q, u), or −1 of values that are none: parameters. The model must outlive this
    /// object.
    StartStates(const model::Mechanics& model, std::span<const int> components);
    /// One value for each component; those of parameters are not looked at.
    Start make(std::span<const double> values);
    /// The same without new memory, if `start` was made before.
    void make(std::span<const double> values, Start& start);

private:
    const model::Mechanics& model_;
    std::vector<int> components_;
    Admitter admitter_;
    model::Workspace workspace_;
};

/// How and where a motion ended; see BasinMotion.
struct Ending {
    Fate fate = Fate::undecided;
    double t = 0.0;
    std::int64_t steps = 0;
    int returns = 0;
    std::vector<double> q, u;  ///< at the end; of a motion that repeats at its last point
};

/// The end of a motion by time-stepping that repeats.
Ending ending_of(const StepRepeats& repeats, std::int64_t steps);

/// Simulates one motion by Moreau's time-stepping. If `stop_when_captured` then it ends when it enters the level set.
Ending by_moreau(const model::Mechanics& model, const integrate::Moreau& method, const Decision& decision,
                 const Start& start, bool stop_when_captured);
/// The same by the event-driven method. The whole motion is simulated, and its end is determined afterwards. A motion
/// that may repeat is simulated in pieces, and ends with the piece in which it does.
Ending by_events(const model::Mechanics& model, const integrate::EventDriven& method, const Decision& decision,
                 const Start& start, bool stop_when_captured);

}  // namespace saltus::stability
