// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace saltus::io {

/// The drawing of a motion (motion_json) at one time as an SVG picture, "" where the model says nothing about how it is
/// drawn; in space seen from a fixed angle.
std::string drawing_svg(const nlohmann::ordered_json& motion, double t, int width, int height);

}  // namespace saltus::io
