// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "saltus/integrate/event/recording.hpp"
#include "saltus/sensitivity/sensitivity.hpp"

namespace saltus::sensitivity {

/// Derivatives of the whole state along a recorded motion, from its start to its end: final, events, course, remarks.
/// False where the system gives no derivatives.
bool forwards(const model::Model& model, const integrate::Recording& recording, const Options& options,
              Sensitivity& out);

}  // namespace saltus::sensitivity
