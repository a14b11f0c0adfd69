// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "saltus/integrate/mode/dynamics.hpp"
#include "saltus/integrate/mode/linearised.hpp"
#include "saltus/trajectory/trajectory.hpp"

namespace saltus::sensitivity {

/// Evaluates the contacts of a frictionless model at states of a motion.
class PairContacts {
public:
    explicit PairContacts(const model::Mechanics& model);

    /// Gaps of all contacts.
    std::vector<double> gaps(const trajectory::State& state);
    /// Normal velocities γ of all contacts.
    std::vector<double> velocities(const trajectory::State& state);
    /// The gap of a contact and its first two time derivatives while the body rests at q: the motion of the obstacle.
    std::array<double, 3> at_rest(double t, const std::vector<double>& q, int contact);
    struct Reactions {
        std::vector<double> lambda, nu;  ///< normal forces of all contacts, multipliers of all constraints
    };
    /// The reactions if the given contacts are closed; NaN if the equations are singular.
    Reactions reactions(const trajectory::State& state, const std::vector<int>& closed);
    /// Their normal forces alone.
    std::vector<double> forces(const trajectory::State& state, const std::vector<int>& closed) {
        return reactions(state, closed).lambda;
    }
    struct Rates {
        std::vector<double> acceleration, jerk;  ///< u̇ and ü of all coordinates
        std::vector<double> lambda;              ///< λ̇ of all contacts
    };
    /// The derivatives along the motion if the given contacts are closed, exact; empty if the equations are singular
    /// or the model has no derivatives.
    std::optional<Rates> rates(const trajectory::State& state, const std::vector<int>& closed);
    /// λ̇ = λ_t + λ_q u + λ_u u̇ of one contact along the motion, exact; NaN if the model has no derivatives.
    double force_rate(const trajectory::State& state, const std::vector<int>& closed, int contact);
    /// The coordinates in which the normal of a contact has a nonzero component.
    std::vector<int> coordinates_of(const trajectory::State& state, int contact);

    /// The smallest singular value of the matrix of all constraint rows and the rows of the given contacts, each scaled
    /// to unit length; 0 if its rank is not full, 1 if there are no rows. [Alscher] (22)
    double smallest_singular_value(const trajectory::State& state, const std::vector<int>& contacts);

private:
    void prepare(const trajectory::State& state, const std::vector<int>& closed);  // sets the mode
    const double* packed(const trajectory::State& state);  // (q, u, 0), valid until the next call

    const model::Mechanics& model_;
    integrate::Dynamics dynamics_;
    std::unique_ptr<integrate::Linearised> linearised_;
    std::vector<double> x_;
    Matrix direction_, jerk_, reaction_rates_;  // of rates()
};

}  // namespace saltus::sensitivity
