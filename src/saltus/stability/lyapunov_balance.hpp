// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "saltus/integrate/event/recording.hpp"
#include "saltus/model/fwd.hpp"
#include "saltus/trajectory/lyapunov.hpp"
#include "saltus/trajectory/trajectory.hpp"

namespace saltus::stability {

/// The balance of V = T + U along an event-driven or penalised motion: powers by quadrature along the recorded arcs, in
/// their modes; impacts from their impulses. Nothing of it is the difference of energies, but where impacts accumulate:
/// their sum is.
trajectory::LyapunovBalance lyapunov_balance(const model::Model& model, const trajectory::Trajectory& trajectory,
                                             const integrate::Recording& recording);

}  // namespace saltus::stability
