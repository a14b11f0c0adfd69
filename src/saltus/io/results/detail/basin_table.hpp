// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace saltus::io {

/// Adds to the JSON of a basin over two axes what its basin.csv knows: `image_axes`, the two that have more than one
/// value; `image`, the labels, rows of the first axis one after the other; `V` where there is one. Nothing where the
/// table does not fit.
void add_basin_image(nlohmann::ordered_json& basin, const std::string& csv);

}  // namespace saltus::io
