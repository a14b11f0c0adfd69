// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "saltus/integrate/event/recording.hpp"
#include "saltus/sensitivity/sensitivity.hpp"

namespace saltus::sensitivity {

/// Forward mode: carries the derivatives of the whole state along a recorded motion, from its start to its end. Fills
/// final, one_sided, events, history, remarks and evaluations of `out`. Returns false if the system gives no
/// derivatives of its equations. `dynamics`: see Tangent::Tangent.
bool forwards(const model::Mechanics& model, const integrate::Recording& recording,
              std::shared_ptr<integrate::Dynamics> dynamics, const Options& options, Sensitivity& out);

}  // namespace saltus::sensitivity
