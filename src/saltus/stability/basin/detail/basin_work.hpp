// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "saltus/ensemble/engine.hpp"
#include "saltus/stability/basin/detail/basin_device.hpp"
#include "saltus/stability/basin/detail/basin_lanes.hpp"
#include "saltus/stability/basin/detail/basin_models.hpp"

namespace saltus::stability {

/// Makes motions of one process: in lanes or one by one on threads of the CPU, or on a device. The endings do not
/// depend on threads and lanes.
class BasinWork final : public ensemble::Work {
public:
    /// All of them must outlive this object. `record` says what is kept of a motion. `threads`: of this process.
    BasinWork(const model::Model& model, const BasinOptions& options, const Decision& decision, BasinModels& models,
              const BasinRecord& record, int threads);

    /// On the CPU, by one thread.
    void serve(const ensemble::NextRun& next, const ensemble::FinishRun& finish) override;
    /// On the device.
    void serve_blocks(const ensemble::NextRuns& next, const ensemble::FinishRuns& finish) override;
    bool in_blocks() const override { return device_ != nullptr; }
    std::size_t batch() const override;

    bool in_lanes() const { return in_lanes_; }
    const DeviceMotions* device() const { return device_.get(); }

private:
    struct Local;
    struct Block;
    Task task_of(const ensemble::RunRequest& run, StartStates& starts) const;
    void deliver(const Task& task, const Ending& end, Local& local, const ensemble::FinishRun& finish) const;
    BasinMotion refused() const;
    Ending simulate(const Task& task, const Local& local) const;
    bool inside(const Start& start) const;
    bool stops_when_captured(bool inside) const { return decision_.level != nullptr && !decision_.to_rest && !inside; }

    void make(Block& block, const ensemble::FinishRuns& finish);
    void prepare(Block& block) const;
    void deliver(Block& block, std::span<const DeviceEnd> ends, const ensemble::FinishRuns& finish) const;
    void make_on_cpu(const Block& block, const std::vector<int>& places, const ensemble::FinishRuns& finish);
    bool interrupted() const { return options_.interrupted && options_.interrupted(); }

    const model::Model& model_;
    const BasinOptions& options_;
    const Decision& decision_;
    BasinModels& models_;
    const BasinRecord& record_;
    bool in_lanes_ = false;
    int threads_ = 1;
    std::unique_ptr<DeviceMotions> device_;
};

}  // namespace saltus::stability
