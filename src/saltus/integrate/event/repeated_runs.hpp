// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "saltus/integrate/simulate.hpp"

namespace saltus::integrate {

struct RunTools;

/// Event-driven runs of one model, one after the other, in the same memory. Each motion is the one that `simulate`
/// finds. To prepare a run costs as much as a short motion of a few impacts; here it is done once. One object per
/// thread. The model must stay in its place.
class RepeatedRuns {
public:
    RepeatedRuns(const model::Mechanics& model, const EventDriven& method);
    ~RepeatedRuns();
    RepeatedRuns(RepeatedRuns&&) noexcept;
    RepeatedRuns& operator=(RepeatedRuns&&) noexcept;

    trajectory::Trajectory run(const Options& options);
    /// The same. `motion` becomes the result; the memory of what it was before serves the next runs.
    void run(const Options& options, trajectory::Trajectory& motion);

private:
    const model::Mechanics* model_;
    EventDriven method_;
    std::unique_ptr<RunTools> tools_;
};

}  // namespace saltus::integrate
