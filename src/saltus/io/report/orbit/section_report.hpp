// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "saltus/trajectory/trajectory.hpp"

namespace saltus::io {

/// The JSON document of `simulate` with the passages of a section as its member "section".
std::string with_section(const std::string& document, const std::vector<std::string>& coordinates,
                         const std::vector<trajectory::State>& points);

/// The passages of a section, one per line: t, positions, velocities.
std::string section_csv(const std::vector<std::string>& coordinates, const std::vector<trajectory::State>& points);

}  // namespace saltus::io
