// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "saltus/model/fwd.hpp"

/// Options of the commands that look at a motion once in every period, or where it passes a section.
namespace saltus::cli {

/// The value of an expression of the parameters, such as "2*pi/w". Throws an Error that names `option`.
double value_of_parameters(const model::Model& model, const std::string& expression, const char* option);

/// "x = 0" or "x' = 0.1*l" of --section as an expression that is zero there. Throws an Error if it cannot be read.
std::string section_expression(const model::Model& model, const std::string& equation);

}  // namespace saltus::cli
