// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "saltus/model/inspect.hpp"
#include "saltus/model/model.hpp"

namespace saltus::io {

/// What `saltus check` prints: for people, and as one JSON document.
std::string check_text(const model::Model& model, const model::Inspection& inspection, const std::string& file);
std::string check_json(const model::Model& model, const model::Inspection& inspection, const std::string& file);

}  // namespace saltus::io
