// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "saltus/ensemble/kernel_runs.hpp"
#include "saltus/ensemble/motion_study.hpp"

namespace saltus::ensemble {

/// Answers questions about motions that a device makes. Every run has its own model, which is built and tested on the
/// CPU; the kernel gets its initial state and the parameters that differ. Motions that the kernel gives up are made by
/// the CPU.
class DeviceStudy final : public Work {
public:
    /// Why a device cannot make these motions or answer these questions, or "" if it can. `model` has the values that
    /// do not vary, `names` are those that do.
    static std::string refusal(const model::Model& model, const std::vector<std::string>& names,
                               const std::vector<Question>& questions, const MotionOptions& options);

    /// Compiles the kernel. `refusal` must be empty. Model, maker and `cpu` must outlive this object. Throws Error if
    /// the device or its compiler fails. `threads`: of the CPU, for building models and for motions that the kernel
    /// gives up.
    DeviceStudy(const model::Model& model, const ModelMaker& maker, const MotionStudy& cpu, const Device& device,
                int threads);

    void serve(const NextRun& next, const FinishRun& finish) override;
    std::size_t batch() const override { return runs_.batch(); }

    const DeviceUse& use() const { return runs_.use(); }

private:
    /// Initial state and own parameters for the kernel; empty: the CPU must make this run.
    std::vector<double> start_of(const RunRequest& run) const;
    Answers answers_of(const KernelRuns::Batch& batch, int k) const;
    bool interrupted() const { return cpu_.options().interrupted && cpu_.options().interrupted(); }

    const model::Model& model_;
    const ModelMaker& maker_;
    const MotionStudy& cpu_;
    const std::vector<int> varied_;  ///< numbers of the parameters that differ from run to run
    const int threads_;
    KernelRuns runs_;
};

}  // namespace saltus::ensemble
