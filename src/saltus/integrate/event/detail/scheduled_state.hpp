// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "saltus/integrate/event/detail/run.hpp"
#include "saltus/integrate/event/scheduled.hpp"

namespace saltus::integrate {

/// What a ScheduledRun works with.
struct ScheduledRun::State {
    State(const model::Mechanics& of, const EventDriven& m)
        : model(of),
          settings{m.rtol, m.atol, m.implicit,          m.series,     m.max_step, false,
                   false,  1.0,    m.contact_tolerance, m.max_events, true,       true},
          tools(of, false, 1.0, m.contact_tolerance) {}
    const model::Mechanics& model;
    RunSettings settings;
    RunTools tools;
    Options options;
    std::optional<EventRun> run;
    bool begun = false;
};

}  // namespace saltus::integrate
