// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>
#include <vector>

#include "saltus/integrate/course.hpp"
#include "saltus/model/fwd.hpp"
#include "saltus/trajectory/trajectory.hpp"

namespace saltus::integrate {

/// Before or after the events at a time.
enum class Side { before, after };

inline constexpr std::size_t no_arc = static_cast<std::size_t>(-1);
/// The arc of a motion that contains t; at an event, the one before or after it. no_arc if the motion has none.
std::size_t arc_at(const trajectory::Trajectory& motion, double t, Side side);

/// The normal impulses of elements since the start of a stored motion,
///     Λ(t) = ∫ λ_N dt + Σ Λ_N of the impacts up to t.
/// This is the multiplier λ(t) of Tornambè's equations (10) with λ(0) = 0. The arcs of the motion must have been kept;
/// time-stepping has no modes, and its impulses are NaN.
class ImpulseCourse {
public:
    /// `elements` are numbers in Trajectory::elements. Model and motion must outlive the object.
    ImpulseCourse(const model::Mechanics& model, const trajectory::Trajectory& motion, std::vector<int> elements);

    /// One number for each element.
    std::vector<double> at(double t, Side side);

private:
    void enter(std::size_t arc);
    void add_forces(std::size_t arc, std::size_t step, double from, double to, std::vector<double>& sum);
    std::vector<double> accumulated(const trajectory::Event& event) const;

    const model::Mechanics& model_;
    const trajectory::Trajectory& motion_;
    Course course_;
    std::vector<int> elements_;
    std::vector<std::vector<double>> step_begin_;  ///< ∫ λ_N dt at the beginning of each step, in order of time
    std::vector<std::size_t> first_of_arc_;        ///< index in step_begin_ of the first step of each arc
    std::vector<std::pair<double, std::vector<double>>> jumps_;  ///< time of an event, impulses of all up to it
    std::size_t entered_ = no_arc;
};

}  // namespace saltus::integrate
