// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "saltus/impact/collision.hpp"
#include "saltus/integrate/impact_audit.hpp"
#include "saltus/integrate/mode/dynamics.hpp"
#include "saltus/integrate/mode/hold.hpp"

namespace saltus::integrate {

/// What is known when a mode ends: which elements may hold, what may not go on.
struct Candidates {
    std::vector<char> closed;    ///< elements: contacts whose gap is closed, clutches that could lock
    std::vector<char> released;  ///< elements that have just let go: they open unless that cannot be
    std::vector<char> breaking;  ///< parts that have just reached the edge of their set: they slip, along `direction`
    std::vector<char> arrested;  ///< parts whose slip has just come to zero
};

/// An impact through all closed contacts and constraints together.
struct Strike {
    bool happened = false, failed = false;
    std::vector<double> u_minus, u_plus;
    std::vector<trajectory::Reaction> impulses;
    std::vector<int> elements;  ///< with an impulse, or approaching
    double work = 0.0;          ///< of contacts and constraints
    double done = 0.0;          ///< on the system: Σ ½(u⁺ + u⁻)·WΛ
    double residual = 0.0;
    std::string note;
    trajectory::EnergyAudit audit;
    std::string creates;  ///< why it creates energy, or would have
};

/// The next mode.
struct Choice {
    bool solved = false;
    int solutions = 1;       ///< where they were counted
    bool impulsive = false;  ///< there is no force, only an impulse (impact without collision)
    /// The mode. If it is not solved, then only what the velocities decide has been changed.
    SystemMode mode;
    double residual = 0.0;
    std::string note;
};

/// Solves what happens between two smooth arcs.
class ModeChange {
public:
    ModeChange(Dynamics& dynamics, double tolerance);

    /// The closed candidates' collision as matrices and laws, at the state of the last evaluate_terms: `rows`, `owner`
    /// and `collision` are set. False when the mass matrix is singular. The note says which coefficients were changed.
    bool prepare(double t, const double* x, const Candidates& candidates, std::string& note);
    const ActiveRows& rows() const { return rows_; }
    const std::vector<int>& owner() const { return owner_; }  ///< element of each block
    const impact::Collision& collision() const { return collision_; }
    impact::Restitutions restitutions() const;
    const impact::Outcome& outcome() const { return outcome_; }  ///< of the last strike

    /// The collision of the closed candidates that approach, if any does: x's velocities become those after it.
    Strike strike(double t, double* x, const Candidates& candidates);

    /// The impulse that jams contacts which no force can hold: the solution that is not zero of the inelastic impact.
    Strike jam(double t, double* x, const Candidates& candidates);

    /// The acceleration-level problem: which contacts hold, what sticks, which way the rest slips. `before` is the mode
    /// that ends, with what is known of the next one; the mode of the dynamics is not used and not changed.
    Choice choose(double t, const double* x, const Candidates& candidates, const SystemMode& before);

    long solves = 0;
    bool repair_energy = false;  ///< of collisions that create energy: take the nearest velocities that create none

private:
    bool approaches(int element) const;
    void collect_impact_rows(const Candidates& candidates);
    void finish_strike(double t, double* x, std::span<const double> Lambda, Strike& s);
    void judge_energy(double t, double* x, std::span<const double> Lambda, Strike& s);

    Dynamics& d_;
    double tolerance_;
    ActiveRows rows_;
    HoldProblem hold_;
    impact::Collision collision_;
    impact::Outcome outcome_;
    solvers::Workspace workspace_;
    std::vector<int> owner_, starts_;
    std::vector<double> gamma_minus_, gamma_plus_, chi_;
};

/// Slip below this part of what makes it up, and the approach of contacts that are closed already, count as zero.
inline constexpr double slip_tolerance = 1e-9;
inline constexpr double approach_tolerance = 1e-11;
inline constexpr double faint_approach = 1e-14;  ///< of contacts that were open

}  // namespace saltus::integrate
