// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "saltus/control/penalty/penalty_limit.hpp"

namespace saltus::io {

/// What `saltus compare --penalty` prints.
std::string penalty_text(const control::PenaltyLimit& limit);
std::string penalty_json(const control::PenaltyLimit& limit);
std::string penalty_csv(const control::PenaltyLimit& limit);

}  // namespace saltus::io
