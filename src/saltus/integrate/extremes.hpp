// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "saltus/integrate/impulse_course.hpp"
#include "saltus/trajectory/trajectory.hpp"

namespace saltus::integrate {

/// Writes the values of some quantities at a state of a motion. NaN is a value that does not exist.
using QuantitiesAt = std::function<void(double t, Side side, std::span<const double> q, std::span<const double> u,
                                        std::span<double> out)>;

/// One quantity along a motion. A value that does not exist is NaN.
struct ExtremeValues {
    double final = 0.0;                        ///< at the end of the motion
    double lowest = 0.0, highest = 0.0;        ///< extreme values
    double lowest_at = 0.0, highest_at = 0.0;  ///< their times, in s
};

/// Values at the end and extreme values of `count` quantities. Each step is sampled, and extrema are refined by golden
/// sections: an extremum is missed if the quantity rises and falls between two of the samples, which are 1/8 of a part
/// of a step apart (ode::StepParts).
std::vector<ExtremeValues> extreme_values(const trajectory::Trajectory& motion, std::size_t count,
                                          const QuantitiesAt& evaluate);

/// The means over time of `count` quantities, by a Gauss rule on each part of a step. NaN if a value does not exist, or
/// if the arcs of the motion were not kept.
std::vector<double> mean_values(const trajectory::Trajectory& motion, std::size_t count, const QuantitiesAt& evaluate);

}  // namespace saltus::integrate
