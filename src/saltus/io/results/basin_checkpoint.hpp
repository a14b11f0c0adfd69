// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "saltus/stability/basin/basin.hpp"

namespace saltus::io {

/// What an unfinished basin has so far, to go on from: `purpose` says of which model and options. Written whole or not
/// at all.
void write_basin_checkpoint(const std::string& folder, const std::string& purpose,
                            const stability::BasinRecord& record);

/// Nothing where there is no checkpoint; Error where it is damaged, or of another purpose.
std::optional<stability::BasinRecord> read_basin_checkpoint(const std::string& folder, const std::string& purpose,
                                                            std::size_t coordinates);

void remove_basin_checkpoint(const std::string& folder);

}  // namespace saltus::io
