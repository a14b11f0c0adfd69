// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "saltus/ensemble/kernel_runs.hpp"
#include "saltus/integrate/event/event_kernel.hpp"
#include "saltus/integrate/moreau/moreau_kernel.hpp"
#include "saltus/stability/basin/detail/basin_lanes.hpp"

namespace saltus::stability {

/// The end of a motion on a device. The state at the end is in the batch.
struct DeviceEnd {
    int place = 0;  ///< of the motion in the batch
    Fate fate = Fate::undecided;
    double t = 0.0;
    std::int64_t steps = 0;
};

/// The models of the motions of a batch, which differ in their parameters. Any thread may use it.
class DeviceModels {
public:
    virtual ~DeviceModels() = default;
    virtual std::shared_ptr<const model::Mechanics> at(int place) = 0;
    virtual bool same(int one, int other) const = 0;  ///< whether two motions have the same parameters
};

/// Simulates motions on a device: by Moreau's time-stepping (integrate/moreau/moreau_kernel.hpp), or by the
/// event-driven method (integrate/event/event_kernel.hpp). The rules of `Decision` are those of by_moreau and
/// by_events.
class DeviceMotions {
public:
    using Batch = ensemble::KernelRuns::Batch;

    /// Compiles the kernel. `device_refusal` must be empty; model and decision must outlive this object. Throws Error
    /// if the device or its compiler fails. `varied` are numbers of parameters that each motion has of its own.
    /// `threads`: threads of the CPU for capture tests.
    DeviceMotions(const model::Mechanics& model, const std::variant<integrate::Moreau, integrate::EventDriven>& method,
                  std::vector<int> varied, const Decision& decision, const ensemble::Device& device, int threads);

    /// Makes the motions of a batch, whose starts and flags are filled in. `finish` receives ends, many at a time and
    /// in ascending order, on this thread; each of its calls has what ended since the last one. Returns the places of
    /// the motions that only the CPU can make. After an interrupt some motions are neither finished nor returned.
    std::vector<int> run(Batch& batch, DeviceModels& models,
                         const std::function<void(std::span<const DeviceEnd>)>& finish);

    Batch batch_of(std::size_t motions) const { return runs_->batch_of(motions); }
    std::size_t batch() const { return runs_->batch(); }  ///< most motions of a batch
    const std::vector<int>& varied() const { return varied_; }
    const DeviceUse& use() const { return runs_->use(); }
    void count_left_to_cpu(std::size_t motions) { runs_->use().given_up += motions; }

private:
    /// Makes the next step of motions whose contact problem the kernel did not solve, and applies the rules of Decision
    /// to it. Fills in the outcomes.
    void step_on_cpu(Batch& b, const std::vector<int>& stuck, DeviceModels& models);
    void step_on_cpu(Batch& b, std::span<const int> stuck, const model::Mechanics& model);
    void test_candidates(const Batch& b, const std::vector<int>& candidates, std::vector<char>& captured);

    const model::Mechanics& model_;
    const std::variant<integrate::Moreau, integrate::EventDriven> method_;
    const std::vector<int> varied_;
    const Decision& decision_;
    const std::size_t n_;
    const int threads_;
    std::variant<integrate::moreau::MotionKernel, integrate::EventKernel> kernel_text_;
    std::optional<ensemble::KernelRuns> runs_;
};

}  // namespace saltus::stability
