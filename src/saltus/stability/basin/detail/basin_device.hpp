// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <variant>

#include "saltus/ensemble/kernel_runs.hpp"
#include "saltus/integrate/event/event_kernel.hpp"
#include "saltus/integrate/moreau/moreau_kernel.hpp"
#include "saltus/stability/basin/detail/basin_lanes.hpp"

namespace saltus::stability {

/// Simulates motions on a device: by Moreau's time-stepping (integrate/moreau/moreau_kernel.hpp), or by the
/// event-driven method (integrate/event/event_kernel.hpp). The rules of `Decision` are those of by_moreau and
/// by_events.
class DeviceMotions {
public:
    /// Compiles the kernel. `device_refusal` must be empty; model and decision must outlive this object. Throws Error
    /// if the device or its compiler fails. `threads`: threads of the CPU for capture tests.
    DeviceMotions(const model::Mechanics& model, const std::variant<integrate::Moreau, integrate::EventDriven>& method,
                  const Decision& decision, const ensemble::Device& device, int threads);

    /// Makes the motions of the tasks; `finish` receives each task with its ending, on this thread. Returns the tasks
    /// that only the CPU can make. After an interrupt some tasks are neither finished nor returned.
    std::vector<Task> run(std::vector<Task> tasks, const std::function<void(const Task&, const Ending&)>& finish);

    std::size_t batch() const { return runs_->batch(); }  ///< most tasks of one call of `run`
    const DeviceUse& use() const { return runs_->use(); }

private:
    using Batch = ensemble::KernelRuns::Batch;
    /// Makes the next step of motions whose contact problem the kernel did not solve, and applies the rules of Decision
    /// to it. Fills in the outcomes.
    void step_on_cpu(Batch& b, const std::vector<int>& stuck);
    void test_candidates(const Batch& b, const std::vector<int>& candidates, std::vector<char>& captured);

    const model::Mechanics& model_;
    const std::variant<integrate::Moreau, integrate::EventDriven> method_;
    const Decision& decision_;
    const std::size_t n_;
    const int threads_;
    std::variant<integrate::moreau::MotionKernel, integrate::EventKernel> kernel_text_;
    std::optional<ensemble::KernelRuns> runs_;
};

}  // namespace saltus::stability
