// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "saltus/integrate/linearised.hpp"
#include "saltus/integrate/recording.hpp"

namespace saltus::sensitivity {

/// Directions are δ = (δt, δq, δu, δp), all parameters of the model in their columns; a derivative is a matrix whose
/// columns belong to them.

/// A recorded motion's equations and their derivatives, in whichever mode is set.
class Tangent {
public:
    Tangent(const model::Model& model, bool compliant, double stiffness)
        : dynamics(model, compliant, stiffness), linearised(dynamics) {}

    int n() const { return dynamics.size(); }
    int columns() const { return linearised.columns(); }
    int parameters() const { return columns() - 1 - 2 * n(); }
    const model::Model& model() const { return dynamics.model(); }

    void set_mode(const integrate::RecordedMode& mode, double t, const double* x);

    /// (u, u̇) in the mode; false where there is none.
    bool velocity_field(double t, const double* x, Vector& f);

    /// The identity: δ of a state itself, 2n × columns, and of its velocities.
    Matrix state_identity() const;

    integrate::Dynamics dynamics;
    integrate::Linearised linearised;
};

}  // namespace saltus::sensitivity
