// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "saltus/io/report/detail/json.hpp"

namespace saltus::io {

/// The drawing of a motion at time t as an SVG picture of this size in pixels. `motion` is the document of
/// `motion_json`. A drawing in space is seen from a fixed direction. Empty if the model has no drawing. All pictures of
/// one motion have the same scale.
std::string drawing_svg(const json::Json& motion, double t, int width, int height);

}  // namespace saltus::io
