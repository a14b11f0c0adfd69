// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "saltus/model/fwd.hpp"

namespace saltus::sensitivity {

/// What a derivative is with respect to: an initial coordinate `x`, an initial velocity `x'`, a parameter.
struct Variable {
    enum class Kind { position, velocity, parameter };
    Kind kind = Kind::position;
    int index = 0;  ///< coordinate, or column among the independent parameters
    std::string name;
    double value = 0.0;
};

/// By their names, in this order; a coordinate comes before a parameter of the same name. Throws Error for names that
/// do not exist (with the nearest one), for derived parameters (with those they come from, where the description is
/// given) and for structural ones.
std::vector<Variable> variables(const model::Model& model, const std::vector<std::string>& names,
                                const model::Description* description = nullptr);

/// All initial values and all independent parameters but structural ones.
std::vector<Variable> all_variables(const model::Model& model);

/// A scalar of the final state: an expression of the coordinates, x', t and independent parameters, with its exact
/// derivatives by t, q, u and all parameters.
struct Output {
    double value = 0.0;
    Vector gradient;
};
Output output_of(const model::Model& model, const std::string& expression, double t, const std::vector<double>& q,
                 const std::vector<double>& u);

}  // namespace saltus::sensitivity
