// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "saltus/integrate/mode/dynamics.hpp"
#include "saltus/integrate/mode/linearised.hpp"
#include "saltus/trajectory/trajectory.hpp"

namespace saltus::sensitivity {

/// Gaps, forces and rows of a frictionless model's contacts at states of a motion.
class PairContacts {
public:
    explicit PairContacts(const model::Model& model);

    /// Gaps of all contacts.
    std::vector<double> gaps(const trajectory::State& state);
    /// Normal velocities γ of all contacts.
    std::vector<double> velocities(const trajectory::State& state);
    /// The gap of a contact and its first two derivatives while nothing but time changes: how its obstacle moves.
    std::array<double, 3> at_rest(double t, const std::vector<double>& q, int contact);
    /// Normal forces of all contacts when the given ones are closed; not numbers where the motion has none.
    std::vector<double> forces(const trajectory::State& state, const std::vector<int>& closed);
    /// λ̇ of one contact along the motion: λ_t + λ_q u + λ_u u̇, exact; not a number where the model has no derivatives.
    double force_rate(const trajectory::State& state, const std::vector<int>& closed, int contact);
    /// Coordinates that a contact's normal has a part in.
    std::vector<int> coordinates_of(const trajectory::State& state, int contact);

    /// The smallest singular value of the rows of all constraints and the given contacts, each of unit length; 0 where
    /// their rank is not full. [Alscher] (22)
    double smallest_singular_value(const trajectory::State& state, const std::vector<int>& contacts);

private:
    void prepare(const trajectory::State& state, const std::vector<int>& closed);
    const double* packed(const trajectory::State& state);

    const model::Model& model_;
    integrate::Dynamics dynamics_;
    std::unique_ptr<integrate::Linearised> linearised_;
    std::vector<double> x_;
};

}  // namespace saltus::sensitivity
