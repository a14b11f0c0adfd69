// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "saltus/integrate/compare.hpp"

namespace saltus::io {

/// What `saltus compare` prints, for people and as one JSON document.
std::string compare_text(const integrate::Comparison& comparison);
std::string compare_json(const integrate::Comparison& comparison);

}  // namespace saltus::io
