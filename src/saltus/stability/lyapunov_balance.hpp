// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "saltus/integrate/event/recording.hpp"
#include "saltus/model/model.hpp"
#include "saltus/trajectory/lyapunov.hpp"
#include "saltus/trajectory/trajectory.hpp"

namespace saltus::stability {

/// The balance of the Lyapunov function V = T + U along a motion: V(t) and the works that changed it (see
/// trajectory::LyapunovBalance). [Leine] (68)–(77)
///
/// Works of smooth forces, friction and springs are integrals of their powers along the recorded arcs, in the modes of
/// these arcs. Works of impacts follow from their impulses. No work is computed as a difference of energies, so that
/// the balance checks the motion. The exception is an accumulation of impacts: its work is the difference of the
/// energies. For a time-stepping motion the recorded works of the steps are summed.
///
/// `recording` must belong to `trajectory`, and both to `model`.
trajectory::LyapunovBalance lyapunov_balance(const model::Model& model, const trajectory::Trajectory& trajectory,
                                             const integrate::Recording& recording);

}  // namespace saltus::stability
