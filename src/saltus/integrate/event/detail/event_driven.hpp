// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "saltus/integrate/simulate.hpp"

namespace saltus::integrate {

/// Smooth arcs between located events; see README.md for the course of a run.
trajectory::Trajectory run_event_driven(const model::Model& model, const EventDriven& method, const Options& options);

/// The same machine with contacts as springs.
trajectory::Trajectory run_penalty(const model::Model& model, const Penalty& method, const Options& options);

}  // namespace saltus::integrate
