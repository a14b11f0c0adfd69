// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "saltus/orbit/detail/return_map.hpp"

/// Multiple shooting with the times of the impacts as unknowns.
///
/// The derivative of a motion through an impact contains 1/γ⁻, because the time of the impact is found from g = 0. Near
/// grazing, γ⁻ → 0, Newton's method for the return map then leads to other orbits or to none. Here each impact i has
/// the unknowns x_i, the state at a fixed time m_i before it, and its own time t_i:
///     y_i = φ(t_i; m_i, x_i)        motion to the impact, continued beyond the obstacle if it is reached before t_i
///     g(t_i, y_i) = 0               the gap is closed then
///     φ(m_{i+1}; t_i, R(t_i, y_i)) = x_{i+1}    motion from the impact law R to the next state
/// No equation contains 1/γ⁻.
namespace saltus::orbit {

struct ImpactShooting {
    const model::Model& model;
    const ReturnMap& map;
    int max_iterations = 30;
    std::function<bool()> interrupted;
};

/// Whether a motion has an impact whose approach is much slower than the motion: near grazing.
bool nearly_grazes(const model::Model& model, const trajectory::Trajectory& motion);

/// The state at the start of a periodic motion near `guess`, which lasts one period of an excited model and starts
/// between impacts. Nothing if Newton's method fails, or if the guess has no impacts, impacts of several contacts at
/// once, accumulations or jumps. The result is a start for the return map, and no orbit yet.
std::optional<Vector> solve_at_impacts(const ImpactShooting& problem, const trajectory::Trajectory& guess);

}  // namespace saltus::orbit
