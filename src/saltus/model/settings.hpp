// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "saltus/model/definitions.hpp"

namespace saltus::model {

/// A named parameter of a model with its value.
struct Parameter {
    std::string name;
    double value = 0.0;
    int column = -1;          ///< index among the independent parameters (Model::p); −1 if computed from others
    bool structural = false;  ///< shapes the initial geometry of mass points: no derivatives by this parameter exist
};

/// What [simulate] of a model file says. Options of the command line override it.
struct SimulationDefaults {
    std::optional<double> t_end, h, rtol, atol;  ///< end time and step in s; tolerances of the event-driven method
    std::string method = "event";                ///< event, moreau or penalty
};

/// What a description says beside the mechanics (Model::settings).
struct Settings {
    std::vector<Parameter> parameters;    ///< in the order of the file
    std::vector<Definition> definitions;  ///< auxiliary expressions, for texts that are read with the model's names
    SimulationDefaults simulate;
};

}  // namespace saltus::model
