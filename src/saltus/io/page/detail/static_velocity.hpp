// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "saltus/io/report/detail/json.hpp"

namespace saltus::io {

/// The picture of a collision in a static page: admissible velocities P⁺, approaching velocities P⁻, what impulses
/// reach, balls and the consistency set, for one or two velocities; for three the consistency set as a body between the
/// faces of P⁺. Takes the JSON of `saltus impact`. A sentence if there is no picture.
std::string static_velocity_picture(const json::Json& impact);

}  // namespace saltus::io
