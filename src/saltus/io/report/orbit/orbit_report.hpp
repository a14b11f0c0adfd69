// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "saltus/orbit/orbit.hpp"

namespace saltus::io {

/// The result of `saltus orbit`.
struct OrbitReport {
    std::string model;
    orbit::Orbit orbit;
    std::vector<orbit::Orbit> orbits;  ///< of --search; `orbit` is then the first of them
    bool searched = false;
    bool autonomous = false;
    std::vector<std::string> warnings;
};

/// For a terminal.
std::string orbit_text(const OrbitReport& report);

/// One JSON document (docs/orbit.md).
std::string orbit_json(const OrbitReport& report);

}  // namespace saltus::io
