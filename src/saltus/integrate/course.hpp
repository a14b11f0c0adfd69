// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "saltus/model/fwd.hpp"
#include "saltus/model/system.hpp"
#include "saltus/trajectory/trajectory.hpp"

namespace saltus::integrate {

/// Powers that change kinetic and potential energy: d(T + U)/dt is their sum.
struct Powers {
    double applied = 0.0;    ///< of the other generalised forces
    double damping = 0.0;    ///< −u·∂R/∂u
    double friction = 0.0;   ///< λ_T·γ_T <= 0
    double springs = 0.0;    ///< of penalised contacts, λ_N·γ_N
    double obstacles = 0.0;  ///< of what moves by itself, −λ·χ
};

/// What holds along a stored motion and is not stored with it: gaps, reactions, energies, powers. Reactions are solved
/// for again, in the mode of each arc; where they are not unique, they are some that the laws allow. Time-stepping does
/// not keep modes, so that its motions have no reactions.
class Course {
public:
    /// Throws Error when the trajectory has other coordinates or elements than the model.
    Course(const model::Model& model, const trajectory::Trajectory& trajectory);
    ~Course();
    Course(const Course&) = delete;
    Course& operator=(const Course&) = delete;

    void enter(std::size_t arc);
    /// x: q and u, within the arc.
    void evaluate(double t, const double* x);

    const std::vector<double>& gaps() const { return gaps_; }  ///< of the contacts
    const std::vector<trajectory::Reaction>& reactions() const { return reactions_; }
    bool has_reactions() const { return has_reactions_; }
    model::Energy energy() const { return energy_; }
    const Powers& powers() const { return powers_; }

private:
    struct Parts;
    void choose_signs(double t, const double* x);

    const model::Model& model_;
    const trajectory::Trajectory& trajectory_;
    std::unique_ptr<Parts> parts_;
    std::vector<double> gaps_;
    std::vector<trajectory::Reaction> reactions_;
    bool has_reactions_ = false;
    model::Energy energy_;
    Powers powers_;
};

}  // namespace saltus::integrate
