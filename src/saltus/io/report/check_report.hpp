// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "saltus/model/fwd.hpp"
#include "saltus/model/inspect.hpp"

/// The result of `saltus check` as text and JSON: how the program understood a model file.
namespace saltus::io {

/// For a terminal. `file` is the path of the model file, shown in the first line. Long lists are cut and say so.
std::string check_text(const model::Model& model, const model::Inspection& inspection, const std::string& file);

/// One JSON document.
std::string check_json(const model::Model& model, const model::Inspection& inspection, const std::string& file);

}  // namespace saltus::io
