// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "saltus/io/report/detail/json.hpp"

namespace saltus::io {

/// Adds the labels of all starts to the JSON of a basin, which itself has only their counts. `csv` is the content of
/// basin.csv. New keys: `image_axes`, the numbers of the two axes with more than one value; `image`, the label of each
/// start, the first axis faster; `V` at each start if the table has it. Adds nothing if the basin does not have two
/// such axes, is too large for a page, or the table does not fit.
void add_basin_image(json::Json& basin, const std::string& csv);

}  // namespace saltus::io
