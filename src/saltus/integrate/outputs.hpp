// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "saltus/integrate/course.hpp"
#include "saltus/integrate/impulse_course.hpp"
#include "saltus/model/fwd.hpp"
#include "saltus/trajectory/summary.hpp"
#include "saltus/trajectory/trajectory.hpp"

namespace saltus::model {
class Outputs;
}

namespace saltus::integrate {

/// The derived quantities of a model ([output]) along a stored motion. Forces and impulses need the arcs of the motion
/// and their modes; without them, and for time-stepping, they are NaN.
class OutputCourse {
public:
    /// The model must have outputs. Model and motion must outlive the object.
    OutputCourse(const model::Model& model, const trajectory::Trajectory& motion);

    std::size_t size() const;  ///< number of outputs
    /// Writes the values at a state of the motion. Between the events at one time there are no forces: NaN.
    void evaluate(double t, Side side, std::span<const double> q, std::span<const double> u, std::span<double> out);
    /// Values at the end and extreme values. Each step is sampled, and extrema are refined by golden sections: an
    /// extremum is missed if the quantity rises and falls between two of the samples, which are 1/8 of a part of a step
    /// apart (ode::StepParts).
    std::vector<trajectory::OutputSummary> summary();

private:
    void enter(std::size_t arc);

    const model::Outputs& outputs_;
    const trajectory::Trajectory& motion_;
    std::unique_ptr<Course> course_;           ///< only if gaps or reactions are needed
    std::unique_ptr<ImpulseCourse> impulses_;  ///< only if running impulses are needed
    bool forces_ = false;                      ///< a quantity is a force or an impulse
    bool changed_at_end_ = false;              ///< an event at the end changes the state
    std::size_t entered_ = no_arc;
    std::vector<double> x_, quantities_;
};

/// What follows from the arcs of a motion: its outputs, the mean forces of contacts that were struck, and how a
/// reference that moves is followed. Without arcs only the values of outputs at the ends and at events exist.
trajectory::MotionSummary summarise(const model::Model& model, const trajectory::Trajectory& motion);

}  // namespace saltus::integrate
