// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "saltus/impact/collision.hpp"
#include "saltus/integrate/impact_audit.hpp"
#include "saltus/integrate/mode/active.hpp"
#include "saltus/integrate/mode/detail/stick_slip.hpp"
#include "saltus/integrate/mode/dynamics.hpp"
#include "saltus/integrate/mode/hold.hpp"

namespace saltus::integrate {

/// What is known when a mode ends: which elements can be closed in the next one, and what the events forbid.
struct Candidates {
    std::vector<char> closed;             ///< per element: contacts whose gap is closed, clutches that can lock
    std::vector<char> released;           ///< per element: has just lost its force; it opens unless that is impossible
    std::vector<FrictionEvent> friction;  ///< per friction part
    /// Undecided friction sticks if some admissible forces hold everything, even if the solver finds a solution that
    /// slips: contacts that share a load can have both.
    bool hold = false;
    bool corner = false;  ///< the velocity of a row has jumped at a corner of its formula: constraints may strike, too
};

/// Candidates without any knowledge of the state: no element is closed or released, and there are no events.
Candidates no_candidates(const Dynamics& dynamics);
void clear_candidates(const Dynamics& dynamics, Candidates& candidates);  ///< the same, in memory that exists

/// An impact through all closed contacts and constraints together.
struct Strike {
    bool happened = false;  ///< some impulse is not zero
    bool failed = false;    ///< the impact has no solution that could be found; `note` says why
    std::vector<double> u_minus, u_plus;
    std::vector<trajectory::Reaction> impulses;  ///< undefined unless it happened
    std::vector<int> elements;                   ///< contacts and clutches that have an impulse or were approaching
    model::Energy before{};                      ///< energies before the impact, if it happened
    double work = 0.0;                           ///< work of contacts and constraints, in J
    /// Work done on the system, Σ ½(u⁺ + u⁻)·WΛ, in J. It differs from `work` by the work of moving obstacles.
    double work_on_system = 0.0;
    double residual = 0.0;  ///< relative residual of the contact problem
    std::string note;
    trajectory::EnergyAudit audit;
    double speed = 0.0;           ///< of strike_alone: speed at which the contact separates, in m/s
    double restitution = 0.0;     ///< of strike_alone: the coefficient of the contact
    std::string creation_reason;  ///< why the impact creates energy, or would have; empty if it does not
};

/// The next mode.
struct Choice {
    bool solved = false;     ///< `mode` is the next mode
    bool impulsive = false;  ///< no contact force exists, only an impulse (Painlevé: impact without collision)
    int solutions = 1;       ///< number of solutions for the contact forces, if they were counted
    double residual = 0.0;   ///< relative residual of the contact problem of the accelerations
    std::string note;        ///< why the next mode could not be found
    /// The next mode. If not `solved`, it contains only the changes that follow from velocities and signs of reactions.
    SystemMode mode;
};

/// Solves what happens between two smooth arcs: impacts, and the next mode. It reads the mode of the dynamics only to
/// know which contacts were closed, and never changes it.
class ModeChange {
public:
    /// `tolerance` bounds the residual of every contact problem.
    ModeChange(Dynamics& dynamics, double tolerance);
    /// Becomes as it was made, for another run.
    void reset();

    /// Collects the collision of the closed candidates as matrices and laws, at the state of the last evaluate_terms:
    /// sets rows(), owner() and collision(). False if the mass matrix is singular. `note` says which coefficients were
    /// changed. `before`: energies of the state x, if they are known.
    bool prepare(double t, const double* x, const Candidates& candidates, std::string& note,
                 const model::Energy* before = nullptr);
    const ActiveRows& rows() const { return rows_; }
    const std::vector<int>& owner() const { return owner_; }               ///< element of each block
    const impact::CollisionRows& collision() const { return collision_; }  ///< matrix and laws: rows().problem
    /// The coefficients of the laws, also of contacts that do not approach; those have none in collision().
    impact::Restitutions restitutions() const;
    const impact::Outcome& outcome() const { return outcome_; }  ///< result of the last strike

    /// The collision of the closed candidates, if one of them approaches. The velocities in x become those after it.
    /// The result is valid until the next call of strike or jam. `before`: energies of the state x, if they are known.
    const Strike& strike(double t, double* x, const Candidates& candidates, const model::Energy* before = nullptr);
    /// The same for one contact that was open, if no other element takes part. Null if the general case is needed: the
    /// contact has friction or another impact law than Newton's, does not approach, does not separate after the impact,
    /// or creates energy. Then x is unchanged.
    /// `before`: energies of the state x. The dynamics keep the terms of the velocities before the impact.
    const Strike* strike_alone(double t, double* x, int element, const model::Energy& before);

    /// The impulse that jams contacts which no force can hold: the nonzero solution of the inelastic impact.
    /// The velocities in x become those after it. The result is valid until the next call of strike or jam.
    const Strike& jam(double t, double* x, const Candidates& candidates);

    /// Chooses the next mode at the state x: which contacts hold, which friction sticks, and which way the rest slips.
    /// `before` is the mode that ends, with what the events say about the next one; it may be the mode of the last
    /// choice. The result is valid until the next call. (mode_choice.cpp)
    const Choice& choose(double t, const double* x, const Candidates& candidates, const SystemMode& before);

    /// Whether the accelerations decided about a friction part in the last choice, not its velocity or an event.
    bool was_undecided(int part) const { return undecided_[static_cast<std::size_t>(part)] != 0; }

    long solves = 0;             ///< contact problems solved so far
    bool repair_energy = false;  ///< replace impacts that create energy by the nearest velocities that create none

private:
    // Impacts.
    bool approaches(int element) const;
    void collect_impact_rows(const Candidates& candidates);
    void clear_strike();
    void fail_strike(std::string_view note);
    void finish_strike(double t, double* x, std::span<const double> Lambda);
    void collect_impulses(std::span<const double> Lambda);
    void judge_energy(double t, double* x, std::span<const double> Lambda);
    double restitution(const model::Contact* contact, bool normal, double gamma, std::string& note) const;

    // The next mode, in this order.
    void decide_by_velocities(const double* x, const Candidates& candidates);
    void solve_accelerations();
    bool turn_signs();
    void prefer_holding();
    bool may_be_ambiguous() const;
    bool resolve_ambiguity();
    double largest_diagonal(std::size_t block, std::size_t first, std::size_t count) const;
    void read_mode(const Candidates& candidates);

    Dynamics& d_;
    double tolerance_;
    ActiveRows rows_;
    HoldProblem hold_;
    impact::CollisionRows collision_;
    impact::Outcome outcome_;
    solvers::Workspace workspace_;
    std::vector<int> owner_, impact_rows_;
    std::vector<double> gamma_minus_, gamma_plus_, chi_, velocity_change_, restitution_;
    Strike strike_;                         // of the last impact
    Choice choice_;                         // of the last choice, with its contact problem:
    solvers::Solution solution_;            // of the accelerations
    std::vector<char> closed_, undecided_;  // contacts and clutches, and friction parts, that may hold
    std::vector<double> holding_;           // reactions that hold everything
    std::vector<double> free_;              // accelerations without the reactions of the problem
};

}  // namespace saltus::integrate
