// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "saltus/base/linalg.hpp"
#include "saltus/model/fwd.hpp"

namespace saltus::sensitivity {

/// A quantity that derivatives are taken with respect to.
struct Variable {
    enum class Kind {
        position,  ///< initial coordinate, written `x`
        velocity,  ///< initial velocity, written `x'`
        parameter  ///< independent parameter of the model
    };
    Kind kind = Kind::position;
    int index = 0;  ///< index of the coordinate, or column among the independent parameters
    std::string name;
    double value = 0.0;  ///< value in the nominal motion
};

/// Looks variables up by their names and keeps the order; a repeated name is taken once. A coordinate has priority over
/// a parameter of the same name. Throws Error for an unknown name (the message proposes the nearest one), for a derived
/// parameter (the message lists the independent parameters behind it if the description is given), and for a
/// structural parameter.
std::vector<Variable> variables(const model::Model& model, const std::vector<std::string>& names,
                                const model::Description* description = nullptr);

/// All initial values and all independent parameters except structural ones.
std::vector<Variable> all_variables(const model::Model& model);

/// A scalar function of the final state, and its exact gradient.
struct Output {
    double value = 0.0;
    Vector gradient;  ///< derivatives by t, q, u and all independent parameters of the model, in this order
};

/// Parses and evaluates an expression of the coordinates, the velocities x', t and the independent parameters. Throws
/// Error if the expression is not valid.
Output output_of(const model::Model& model, const std::string& expression, double t, const std::vector<double>& q,
                 const std::vector<double>& u);

}  // namespace saltus::sensitivity
