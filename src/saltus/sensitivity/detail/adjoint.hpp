// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "saltus/integrate/event/recording.hpp"
#include "saltus/sensitivity/sensitivity.hpp"

namespace saltus::sensitivity {

/// Adjoint mode: carries the gradient of one output along a recorded motion, from its end to its start. Fills
/// output_derivative, remarks and evaluations of `out`. The cost does not grow with the number of variables. Returns
/// false if the system gives no derivatives of its equations. `dynamics`: see Tangent::Tangent.
bool backwards(const model::Mechanics& model, const integrate::Recording& recording,
               std::shared_ptr<integrate::Dynamics> dynamics, const Output& output, const Options& options,
               Sensitivity& out);

}  // namespace saltus::sensitivity
