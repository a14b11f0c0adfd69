// SPDX-License-Identifier: Apache-2.0
#include "saltus/integrate/event/repeated_runs.hpp"

#include <chrono>
#include <utility>

#include "saltus/integrate/detail/finite.hpp"
#include "saltus/integrate/event/detail/event_driven.hpp"
#include "saltus/integrate/event/detail/run_tools.hpp"

namespace saltus::integrate {

RepeatedRuns::RepeatedRuns(const model::Mechanics& model, const EventDriven& method)
    : model_(&model),
      method_(method),
      tools_(std::make_unique<RunTools>(model, false, 1.0, method.contact_tolerance)) {}
RepeatedRuns::~RepeatedRuns() = default;
RepeatedRuns::RepeatedRuns(RepeatedRuns&&) noexcept = default;
RepeatedRuns& RepeatedRuns::operator=(RepeatedRuns&&) noexcept = default;

trajectory::Trajectory RepeatedRuns::run(const Options& options) {
    trajectory::Trajectory motion;
    run(options, motion);
    return motion;
}

void RepeatedRuns::run(const Options& options, trajectory::Trajectory& motion) {
    const auto start = std::chrono::steady_clock::now();
    tools_->reset();
    tools_->motion = std::move(motion);
    run_event_driven(*model_, method_, options, *tools_, motion);
    fail_if_not_finite(motion);
    motion.statistics.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace saltus::integrate
