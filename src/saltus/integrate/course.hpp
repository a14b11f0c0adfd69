// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "saltus/model/fwd.hpp"
#include "saltus/model/system.hpp"
#include "saltus/trajectory/trajectory.hpp"

namespace saltus::integrate {

/// Powers that change the kinetic and potential energy: d(T + U)/dt is their sum.
struct Powers {
    double applied = 0.0;    ///< power u·f of the other generalised forces f, in W
    double damping = 0.0;    ///< power −u·∂R/∂u of Rayleigh damping, in W
    double friction = 0.0;   ///< power λ_T·γ_T <= 0 of friction, in W
    double springs = 0.0;    ///< power λ_N γ_N of penalised contacts, in W
    double obstacles = 0.0;  ///< power −λ·χ of moving obstacles and constraints, in W
};

/// Quantities along a stored motion that are not stored with it: gaps, reactions, energies and powers. Reactions are
/// computed again in the modes of each arc. If they are not unique, they are one choice that the laws permit.
/// Time-stepping does not store modes, so its motions have no reactions.
///
/// Use: `enter` an arc, then `evaluate` at states of that arc, then read the results.
class Course {
public:
    /// Model and trajectory must outlive the object. Throws Error if the trajectory has other coordinates or elements
    /// than the model.
    Course(const model::Mechanics& model, const trajectory::Trajectory& trajectory);
    ~Course();
    Course(const Course&) = delete;
    Course& operator=(const Course&) = delete;

    /// Takes the modes of an arc.
    void enter(std::size_t arc);
    /// Computes everything at a state x = (q, u) of the arc, or without the reactions at any state.
    enum class Forces { yes, no };
    void evaluate(double t, const double* x, Forces forces = Forces::yes);

    const std::vector<double>& gaps() const { return gaps_; }  ///< one for each contact
    /// One for each element; zero if there are none.
    const std::vector<trajectory::Reaction>& reactions() const { return reactions_; }
    /// Whether the arc has modes from which reactions follow: not if the signs of the reactions of constraints with
    /// friction are not found.
    bool has_reactions() const { return has_reactions_; }
    model::Energy energy() const { return energy_; }
    const Powers& powers() const { return powers_; }

private:
    struct Parts;
    void choose_signs(double t, const double* x, std::span<const double> acceleration);

    const model::Mechanics& model_;
    const trajectory::Trajectory& trajectory_;
    std::unique_ptr<Parts> parts_;
    std::vector<double> gaps_;
    std::vector<trajectory::Reaction> reactions_;
    bool has_reactions_ = false;
    model::Energy energy_;
    Powers powers_;
};

}  // namespace saltus::integrate
