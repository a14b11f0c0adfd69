// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "saltus/integrate/event/detail/accumulation.hpp"
#include "saltus/integrate/event/watch.hpp"
#include "saltus/integrate/mode/detail/mode_change.hpp"
#include "saltus/integrate/mode/dynamics.hpp"
#include "saltus/integrate/mode/mode_series.hpp"

namespace saltus::integrate {

/// What a run of a model computes with: equations of motion, changes of mode, the search for events, Taylor series. To
/// make it costs as much as a short motion. Runs of the same model can share it, one after the other.
struct RunTools {
    RunTools(const model::Mechanics& model, bool compliant, double stiffness, double contact_tolerance)
        : shared_dynamics(std::make_shared<Dynamics>(model, compliant, stiffness)),
          dynamics(*shared_dynamics),
          change(dynamics, contact_tolerance),
          watcher(dynamics),
          series(dynamics),
          accumulation(dynamics.elements().size()),
          elements(elements_of(model)) {}
    RunTools(const RunTools&) = delete;  // the members refer to each other
    RunTools& operator=(const RunTools&) = delete;

    /// Forgets the last run, so that the next one does not depend on it. Only memory and compiled equations are kept.
    void reset() {
        dynamics.reset();
        change.reset();
        watcher.reset();
        series.reset();
    }

    const std::shared_ptr<Dynamics> shared_dynamics;  ///< outlives the tools if derivatives of a motion use it
    Dynamics& dynamics;
    ModeChange change;
    Watcher watcher;
    ModeSeries series;
    Accumulation accumulation;
    /// Vectors of EventRun, whose members of the same names say what they are. Only their memory outlives a run.
    struct Memory {
        std::vector<double> x, state_inside;
        std::vector<Found> found;
        std::vector<char> just_crossed, watched;
        SystemMode known, turned;
        Candidates candidates;
    } memory;
    std::vector<trajectory::Element> elements;  ///< of every motion
    /// A motion that is no longer needed, and events of such motions: their memory serves the next run.
    trajectory::Trajectory motion;
    std::vector<trajectory::Event> spare_events;
};

}  // namespace saltus::integrate
