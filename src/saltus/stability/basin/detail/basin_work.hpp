// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

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

    void serve(const ensemble::NextRun& next, const ensemble::FinishRun& finish) override;
    std::size_t batch() const override { return device_ ? device_->batch() : 1; }

    bool in_lanes() const { return in_lanes_; }
    const DeviceMotions* device() const { return device_.get(); }

private:
    struct Local;
    void serve_device(const ensemble::NextRun& next, const ensemble::FinishRun& finish);
    Task task_of(const ensemble::RunRequest& run, StartStates& starts) const;
    void deliver(const Task& task, const Ending& end, Local& local, const ensemble::FinishRun& finish) const;
    Ending simulate(const Task& task, const Local& local) const;
    bool inside(const Start& start) const;
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
