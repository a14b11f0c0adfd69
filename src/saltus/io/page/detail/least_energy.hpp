// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "saltus/model/evaluate.hpp"
#include "saltus/stability/basin/basin_start.hpp"

namespace saltus::io {

/// The least energy of a model with one coordinate and its velocity given: what level lines in the phase plane of that
/// coordinate show. All other coordinates take the admissible values with the least potential energy (gaps ≥ 0,
/// constraints fulfilled). All other velocities take the values with the least kinetic energy there; constraints on
/// velocities hold.
class LeastEnergy {
public:
    /// The model must outlive this object. Obstacles and forces are those of time 0.
    LeastEnergy(const model::Mechanics& model, int coordinate);

    /// Moves q, of which the coordinate is given, to the least potential energy that a descent from q finds. Returns
    /// that energy; NaN if there is no admissible position; no value if the energy has no lower bound.
    std::optional<double> settle(std::vector<double>& q);

    /// The effective mass m of the coordinate at q: the least kinetic energy is ½ m u². No value if constraints hold
    /// the coordinate.
    std::optional<double> effective_mass(const std::vector<double>& q);

private:
    double potential(const std::vector<double>& q);

    const model::Mechanics& model_;
    int coordinate_;
    stability::Admitter admitter_;
    model::Workspace workspace_;
    model::Terms terms_;
    std::vector<double> rest_;  ///< velocities 0
};

}  // namespace saltus::io
