// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "saltus/model/description.hpp"

namespace saltus::io {

/// Reads a model file (TOML, version 1) into a description. Unknown keys, wrong types and numbers that are not
/// finite are refused here with their place; what the words mean is the model's business.
model::Description read_model(const std::string& path);

/// The same from a text; `file` is the name used in messages.
model::Description parse_model(std::string_view text, const std::string& file);

}  // namespace saltus::io
