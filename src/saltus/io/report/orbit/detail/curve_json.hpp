// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "saltus/io/report/detail/json.hpp"
#include "saltus/orbit/orbit.hpp"

namespace saltus::io {

/// An orbit as a curve (docs/orbit.md): times, values of all positions and velocities by name, events.
json::Json curve_json(const std::vector<std::string>& coordinates, const orbit::OrbitCurve& curve);

}  // namespace saltus::io
