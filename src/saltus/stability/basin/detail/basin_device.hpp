// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "saltus/ensemble/device.hpp"
#include "saltus/integrate/moreau/moreau_kernel.hpp"
#include "saltus/stability/basin/detail/basin_lanes.hpp"

namespace saltus::stability {

/// Simulates motions by Moreau's time-stepping on a device (integrate/moreau/moreau_kernel.hpp). The rules of
/// `Decision` are those of the lanes.
class DeviceMotions {
public:
    /// Compiles the kernel. `integrate::moreau::kernel_refusal` must be empty; model and decision must outlive this
    /// object. Throws Error if the device or its compiler fails. `threads`: threads of the CPU for capture tests.
    DeviceMotions(const model::Mechanics& model, const integrate::Moreau& method, const Decision& decision,
                  const ensemble::Device& device, int threads);

    /// Makes the motions of the tasks; `finish` receives each task with its ending, on this thread. Returns the tasks
    /// that only the CPU can make. After an interrupt some tasks are neither finished nor returned.
    std::vector<Task> run(std::vector<Task> tasks, const std::function<void(const Task&, const Ending&)>& finish);

    std::size_t batch() const { return batch_; }  ///< most tasks of one call of `run`
    const DeviceUse& use() const { return use_; }

private:
    struct Batch;
    void launch(Batch& b);
    /// Makes the next step of motions whose contact problem the kernel did not solve, and applies the rules of Decision
    /// to it. Fills in the outcomes.
    void step_on_cpu(Batch& b, const std::vector<int>& stuck);
    void test_candidates(Batch& b, const std::vector<int>& candidates, std::vector<char>& captured);

    const model::Mechanics& model_;
    const integrate::Moreau method_;
    const Decision& decision_;
    const std::size_t n_;
    const int threads_;
    integrate::moreau::MotionKernel text_;
    std::unique_ptr<ensemble::DeviceKernel> kernel_;
    std::vector<double> settings_;
    std::size_t batch_ = 1;
    int budget_;  ///< steps of a thread in one launch
    DeviceUse use_;
};

}  // namespace saltus::stability
