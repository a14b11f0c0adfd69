// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "saltus/trajectory/trajectory.hpp"

namespace saltus::integrate {

/// The passages of a motion through a section s(x) = 0, x = (q, u), from s < 0 to s >= 0, in the order of time. Each
/// part of a step (ode::StepParts) is sampled four times, and passages are located to rounding: two
/// passages between two samples are missed. Jumps of the velocity over the section are no passages. The arcs may be a
/// part of a motion. The arguments of `take` are valid during its call.
void section_passages(const std::vector<trajectory::Arc>& arcs, std::size_t coordinates,
                      const std::function<double(std::span<const double> x)>& section,
                      const std::function<void(double t, std::span<const double> x)>& take);
/// The same for a section that is evaluated on a step of the motion, for example by one component of the state.
void section_passages_on_steps(const std::vector<trajectory::Arc>& arcs, std::size_t coordinates,
                               const std::function<double(const ode::Dense& step, double t)>& section,
                               const std::function<void(double t, std::span<const double> x)>& take);

}  // namespace saltus::integrate
