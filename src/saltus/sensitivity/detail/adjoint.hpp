// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "saltus/integrate/event/recording.hpp"
#include "saltus/sensitivity/sensitivity.hpp"

namespace saltus::sensitivity {

/// The derivatives of one output, from the end of a recorded motion to its start: output_derivative, remarks. The cost
/// does not depend on how many variables there are. False where the system gives no derivatives.
bool backwards(const model::Model& model, const integrate::Recording& recording, const Output& output,
               const Options& options, Sensitivity& out);

}  // namespace saltus::sensitivity
