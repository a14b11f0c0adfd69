// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <string>

#include "saltus/expr/lanes.hpp"
#include "saltus/integrate/simulate.hpp"
#include "saltus/model/fwd.hpp"

namespace saltus::integrate::moreau {

namespace lanes {
struct Work;
}

/// Eight motions side by side, one a lane, by the steps of moreau.hpp: M, h, W of all of them from one pass over the
/// tape, all contact problems in one go, modes and iterations by masks. What happens in a lane does not depend on the
/// others. States agree with those of `Stepper` to rounding.
///
/// For systems of expressions with few coordinates and few rows: unilateral contacts with friction along a line or
/// none, impacts by Newton's law, sliders along a line, clutches, constraints with and without friction; constant
/// coefficients.
class LaneStepper {
public:
    static constexpr std::size_t width = expr::Lanes::width;

    /// Why a model is not for lanes, or "".
    static std::string refusal(const model::Model& model, const Moreau& method);

    LaneStepper(const model::Model& model, const Moreau& method);
    ~LaneStepper();
    LaneStepper(const LaneStepper&) = delete;
    LaneStepper& operator=(const LaneStepper&) = delete;

    /// A lane starts anew at t = 0. False when it cannot: then the motion is one for `Stepper`.
    bool load(std::size_t lane, std::span<const double> q, std::span<const double> u);

    /// All lanes, each to its time.
    void step(const expr::Lanes& t);

    double t(std::size_t lane) const;
    double q(int coordinate, std::size_t lane) const;
    double u(int coordinate, std::size_t lane) const;
    /// The last step of the lane was not made: its contact problem was not solved, or its state is not finite.
    bool lost(std::size_t lane) const;
    /// T and U of all lanes.
    void energies(expr::Lanes& kinetic, expr::Lanes& potential);

private:
    std::unique_ptr<lanes::Work> work_;
};

}  // namespace saltus::integrate::moreau
