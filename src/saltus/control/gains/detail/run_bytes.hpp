// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "saltus/control/gains/gain_study.hpp"

namespace saltus::control {

/// A run of a study as bytes, without its values, for messages between processes and files that continue a study.
std::string bytes_of(const StudiedRun& run);
/// Throws Error if the bytes are not those of a run.
void read(std::string_view bytes, StudiedRun& run);

}  // namespace saltus::control
