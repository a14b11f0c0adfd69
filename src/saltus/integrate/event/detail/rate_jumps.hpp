// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "saltus/integrate/mode/dynamics.hpp"
#include "saltus/integrate/mode/linearised.hpp"
#include "saltus/trajectory/trajectory.hpp"

namespace saltus::integrate {

/// The jumps of the rates of reactions at lift-offs. It has equations of motion of its own, so that those of a run
/// are not disturbed.
class RateJumps {
public:
    explicit RateJumps(const model::Mechanics& model);

    /// λ̇⁺ − λ̇⁻ of every element that is active in the mode `before`, at a state x = (q, u, …). Empty if the reactions
    /// or accelerations themselves jump (the lift-off then follows an impact or a jump of a force), if reactions are
    /// not unique, or if the model has no derivatives.
    std::vector<trajectory::Reaction> at(double t, const double* x, const SystemMode& before, const SystemMode& after);

private:
    bool rates(double t, const double* x, const SystemMode& mode);

    Dynamics d_;
    Linearised linearised_;
    Matrix direction_, jerk_, reactions_;  // of the last call of rates()
    std::vector<double> acceleration_;     // of the last call of rates()
};

}  // namespace saltus::integrate
