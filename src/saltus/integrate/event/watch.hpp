// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "saltus/integrate/mode/dynamics.hpp"
#include "saltus/integrate/mode/hold.hpp"
#include "saltus/ode/dense.hpp"
#include "saltus/ode/roots.hpp"

namespace saltus::integrate {

/// A quantity that is positive as long as the mode holds; its zero is an event.
struct Watch {
    enum class What {
        gap,       ///< of an open contact
        depth,     ///< of a contact with a spring
        spring,    ///< force of its spring and damper, or minus that while they would pull
        force,     ///< of a closed contact or a locked clutch
        slip,      ///< velocity along the direction of slip
        reserve,   ///< what sticking friction could still bear
        reaction,  ///< of a constraint with slipping friction, by its sign
        clutch,    ///< velocity of a free clutch
        hold,      ///< all that holds together, where the reactions are not unique: 0 < as long as some are allowed
        jump,      ///< of an expression: what it compares, `element` its number; found in recordings alone
    };
    What what;
    int element;
    int part = -1;
    /// It begins at zero, because of the event before: the zero does not count until it has left.
    bool starts_at_zero = false;
};

/// What to do about motions that keep to a jump.
inline constexpr const char* instead_of_jumps =
    "dry friction by sign or if is to be written as friction of a contact or as a slider";

struct Found {
    double t, left, right;
    int watch;
    bool astray = false;  ///< a velocity that began at zero and has become negative by then
};

/// Looks for the first zero of any watched quantity on a step. What is computed for one is kept for the others.
class Watcher {
public:
    explicit Watcher(Dynamics& dynamics) : d_(dynamics) {}

    /// The quantities to watch in the mode of the dynamics; `x` is the state at the start of the arc.
    void begin(double t, const double* x);

    /// All zeros from + to − that come first, those within rounding of it together. Empty: the step is clean.
    const std::vector<Found>& search(const ode::Dense& step);

    /// Forces that the mode would need at its start and that its laws do not allow: rows so nearly dependent that the
    /// choice of the mode could not tell. Found at that time.
    const std::vector<Found>& violated() const { return violated_; }

    const std::vector<Watch>& watches() const { return watches_; }
    bool unresolved = false;       ///< some search could not be completed
    double hold_tolerance = 1e-9;  ///< of the acceleration that counts as holding, relative
    /// Reactions that the laws allow, in place of the smallest ones, after Dynamics::evaluate in a redundant mode.
    void allowed_reactions() { hold_margin(); }

private:
    void search_astray(const ode::Dense& step);
    double velocity_scale(const Watch& watch, std::span<const double> u) const;
    double value(const Watch& watch);
    double hold_margin();
    const std::vector<double>& sample(double t);

    Dynamics& d_;
    std::vector<Watch> watches_;
    std::vector<double> zero_, leave_;  // noise of each quantity
    bool needs_forces_ = false, needs_velocities_ = false;
    const ode::Dense* step_ = nullptr;
    std::vector<double> times_, x_;
    std::vector<std::vector<double>> values_;
    std::size_t samples_ = 0;
    std::vector<ode::Root> roots_;
    std::vector<Found> found_, violated_;
    HoldProblem hold_;
    solvers::Workspace workspace_;
    solvers::Solution solution_;
};

}  // namespace saltus::integrate
