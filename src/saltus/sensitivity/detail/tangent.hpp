// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "saltus/integrate/event/recording.hpp"
#include "saltus/integrate/mode/linearised.hpp"
#include "saltus/sensitivity/variables.hpp"

namespace saltus::sensitivity {

/// Directions are δ = (δt, δq, δu, δp), with the parameters among the variables in their columns; a derivative is a
/// matrix whose columns belong to them.

/// A recorded motion's equations and their derivatives, in whichever mode is set.
class Tangent {
public:
    Tangent(const model::Model& model, const integrate::Recording& recording, const std::vector<Variable>& variables)
        : dynamics(model, recording.compliant, recording.stiffness),
          parameters_(parameters_of(variables)),
          linearised(dynamics, parameters_) {}

    int n() const { return dynamics.size(); }
    int columns() const { return linearised.columns(); }
    int parameters() const { return static_cast<int>(parameters_.size()); }
    int column_of(const Variable& variable) const;
    /// Of derivatives by t, q, u and all parameters of the model, those that have a column.
    Eigen::RowVectorXd columns_of(const Vector& all) const;
    const model::Model& model() const { return dynamics.model(); }

    void set_mode(const integrate::SystemMode& mode, double t, const double* x) { dynamics.set_mode(mode, t, x); }

    /// (u, u̇) in the mode; false where there is none.
    bool velocity_field(double t, const double* x, Vector& f);

    /// The identity: δ of a state itself, 2n × columns, and of its velocities.
    Matrix state_identity() const;

    integrate::Dynamics dynamics;

private:
    static std::vector<int> parameters_of(const std::vector<Variable>& variables);
    const std::vector<int> parameters_;  // of the model, ascending

public:
    integrate::Linearised linearised;
};

}  // namespace saltus::sensitivity
