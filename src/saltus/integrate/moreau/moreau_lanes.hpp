// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "saltus/expr/lanes.hpp"
#include "saltus/integrate/simulate.hpp"
#include "saltus/model/fwd.hpp"

namespace saltus::integrate::moreau {

namespace lanes {
struct Work;
}

/// Makes Moreau's steps (detail/moreau.hpp) of eight motions of one model side by side, one in each lane of a vector.
/// One pass over the tape gives M, h and W of all lanes; the contact problems are solved together, with masks for modes
/// and iterations. A lane does not influence the others. States agree with those of `Stepper` to rounding. An
/// exception are motions that depend on how redundant contacts share their impulses, by friction in planes or by
/// Poisson's law: each has its own choice there, and none is better.
///
/// It takes systems of expressions with few coordinates and few rows: contacts, constraints and sliders with friction
/// along a line or in a plane or without friction, impacts by Newton's and Poisson's laws, and clutches. Coefficients
/// may depend on time and state. Contact problems with friction in planes or Poisson's law are solved one by one.
class LaneStepper {
public:
    static constexpr std::size_t width = expr::Lanes::width;

    /// Why lanes cannot make the motions of a model, or "" if they can.
    static std::string refusal(const model::Mechanics& model, const Moreau& method);

    /// The model must outlive the stepper, and `refusal` must be empty. All lanes start at the model's initial state.
    LaneStepper(const model::Mechanics& model, const Moreau& method);
    ~LaneStepper();
    LaneStepper(const LaneStepper&) = delete;
    LaneStepper& operator=(const LaneStepper&) = delete;

    /// Starts a new motion in a lane at t = 0. False if its constraints are redundant there; `Stepper` must make that
    /// motion.
    bool load(std::size_t lane, std::span<const double> q, std::span<const double> u);

    /// What a step needs from the step before, of one motion.
    struct Memory {
        double t = 0.0, step_before = 0.0;
        bool struck_before = false;
        std::vector<double> q, u;
        std::vector<double> Lambda;        ///< impulses, of each row of the model
        std::vector<char> open, holds;     ///< of each contact
        std::vector<double> gamma_before;  ///< of each contact
    };
    /// Puts a motion that was interrupted into a lane, and gives it back.
    void restore(std::size_t lane, const Memory& memory);
    void remember(std::size_t lane, Memory& memory) const;

    /// One step of all lanes, each to its own time. A lane whose time does not change stays where it is.
    void step(const expr::Lanes& t);

    double t(std::size_t lane) const;
    double q(int coordinate, std::size_t lane) const;
    double u(int coordinate, std::size_t lane) const;
    /// Whether a step of the lane failed since `load`: its contact problem was not solved, its friction was
    /// inadmissible, or its state is not finite.
    bool lost(std::size_t lane) const;
    /// T and U of all lanes at their present states.
    void energies(expr::Lanes& kinetic, expr::Lanes& potential);

private:
    std::unique_ptr<lanes::Work> work_;
};

}  // namespace saltus::integrate::moreau
