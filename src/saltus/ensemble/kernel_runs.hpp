// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "saltus/ensemble/device.hpp"
#include "saltus/integrate/kernel_text.hpp"
#include "saltus/model/fwd.hpp"

namespace saltus::ensemble {

/// What a device did.
struct DeviceUse {
    double compile_seconds = 0.0, kernel_seconds = 0.0;  ///< wall time
    bool from_cache = false;                             ///< the kernel had been compiled before
    int threads = 0;
    std::int64_t steps = 0;    ///< made on the device
    std::size_t given_up = 0;  ///< motions that the CPU had to make
};

/// The numbers (Mechanics::p) of the parameters among the names; the others are initial values. Computed parameters and
/// those that shape the geometry are −1: no kernel can vary them.
std::vector<int> varied_parameters(const model::Model& model, const std::vector<std::string>& names);
/// Why a kernel cannot vary these parameters, or "" if it can.
std::string varied_parameters_refusal(const std::vector<int>& varied);
/// Whether the kernel of one model makes the motions of another one that has other values of the parameters `varied`.
bool same_kernel(const model::Mechanics& a, const model::Mechanics& b, const std::vector<int>& varied);

/// Numbers of steps of a kernel.
struct KernelPace {
    int first_budget = 2000, least_budget = 100;  ///< steps of a thread in the first launch, and at least
    int max_steps = 0;  ///< largest number of steps of a motion; read by event-driven kernels alone
    /// Of event-driven kernels: a step of a Taylor series costs as much as hundreds of Moreau's. A motion with more
    /// steps than `max_steps` is given up.
    static KernelPace of_series() { return {20, 4, 200'000}; }
};

/// Makes motions by a kernel on a device, in launches of about a quarter of a second: short enough to be interrupted,
/// long enough that launching costs nothing.
class KernelRuns {
public:
    /// The arrays of the kernel for some motions: number i of motion k at [i·count + k].
    struct Batch {
        Batch(std::size_t motions, const integrate::KernelText& kernel);

        std::size_t count;
        std::vector<double> start, result;
        std::vector<int> flags;

        integrate::KernelOutcome how(int k) const {
            return static_cast<integrate::KernelOutcome>(outcome[static_cast<std::size_t>(k)]);
        }
        std::int64_t steps(int k) const { return outcome[count + static_cast<std::size_t>(k)]; }
        double& at(int i, int k) { return result[static_cast<std::size_t>(i) * count + static_cast<std::size_t>(k)]; }
        double at(int i, int k) const {
            return result[static_cast<std::size_t>(i) * count + static_cast<std::size_t>(k)];
        }
        /// Begins anew with other starts.
        void reset();
        /// Lets a motion go on in the next launch, from its state on the device or from `result`.
        void go_on(int k);
        void go_on_from_result(int k);
        /// Lets a motion that has reached its end time go on to a later one; of kernels with KernelRules::own_end.
        void go_on_until(int k, double t);
        /// The end time of a motion that has not begun.
        void end_at(int k, double t) {
            start[static_cast<std::size_t>(end_place) * count + static_cast<std::size_t>(k)] = t;
        }

        std::vector<int> outcome, list;
        bool started = false;  ///< the starts are on the device
        bool changed = false;  ///< `result` has states of motions that go on
        int end_place = 0;     ///< index of the end time in `start`
    };

    /// Compiles the kernel. Throws Error if the device or its compiler fails.
    KernelRuns(const Device& device, integrate::KernelText kernel, KernelPace pace, std::vector<double> settings);

    /// Most motions of one batch: enough for all threads of a large GPU several times over, in half of its memory.
    std::size_t batch() const { return batch_; }
    Batch batch_of(std::size_t motions) const { return {motions, text_}; }

    /// Makes the motions of a batch. After each launch `ended` gets the numbers of those that are neither paused nor
    /// waiting; it may let some of them go on. Ends early if `interrupted` is true.
    void run(Batch& batch, const std::function<void(Batch&, const std::vector<int>&)>& ended,
             const std::function<bool()>& interrupted);

    DeviceUse& use() { return use_; }
    const DeviceUse& use() const { return use_; }

private:
    void launch(Batch& batch);

    integrate::KernelText text_;
    KernelPace pace_;
    std::vector<double> settings_;
    std::unique_ptr<DeviceKernel> kernel_;
    std::size_t batch_ = 1;
    int budget_;  ///< steps of a thread in the next launch
    DeviceUse use_;
};

}  // namespace saltus::ensemble
