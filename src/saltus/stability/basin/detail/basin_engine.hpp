// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "saltus/stability/basin/detail/basin_device.hpp"
#include "saltus/stability/basin/detail/basin_lanes.hpp"

namespace saltus::stability {

/// A motion that has ended, as the record keeps it.
struct Finished {
    std::size_t number = 0;  ///< index of the motion in the record
    Fate fate = Fate::pending;
    Admission admission = Admission::admissible;
    bool inside = false;
    double V = 0.0, t = 0.0;
    std::int64_t steps = 0;
    std::vector<double> q;
};

/// Makes motions: in lanes or one by one on threads of the CPU, on a device, or on the ranks of mpirun. The endings do
/// not depend on threads, lanes and ranks.
class BasinEngine {
public:
    /// Writes the values of the axes at start k of a call of `run`.
    using Values = std::function<void(std::size_t k, std::span<double> x)>;
    /// Receives the motions in any order, from any thread.
    using Finish = std::function<void(const Finished&)>;

    /// Model, options and decision must outlive this object.
    BasinEngine(const model::Mechanics& model, const BasinOptions& options, const Decision& decision);

    /// Makes the motions with these numbers. After an interrupt some do not finish. On rank 0 of several, the other
    /// ranks must be in `serve`.
    void run(std::span<const std::size_t> numbers, const Values& values, const Finish& finish);
    /// Makes the motions that rank 0 gives to this rank, until rank 0 calls `dismiss`.
    void serve();
    /// Ends `serve` on all other ranks.
    void dismiss();

    bool in_lanes() const { return in_lanes_; }
    const DeviceMotions* device() const { return device_.get(); }

    /// Whether a start lies in the level set.
    bool inside(const Start& start) const;

private:
    void run_here(std::span<const std::size_t> numbers, const Values& values, const Finish& finish);
    void run_on_threads(std::size_t count, const std::function<std::optional<Task>(std::size_t, Starts&)>& task_of,
                        const Finish& finish) const;
    void run_on_device(std::span<const std::size_t> numbers, const Values& values, const Finish& finish);
    void hand_out(std::span<const std::size_t> numbers, const Values& values, const Finish& finish);
    Task task_of(std::size_t number, std::span<const double> x, Starts& starts) const;
    Finished finished(const Task& task, const Ending& end) const;
    Ending simulate(const Task& task) const;
    bool interrupted() const { return options_.interrupted && options_.interrupted(); }

    const model::Mechanics& model_;
    const BasinOptions& options_;
    const Decision& decision_;
    bool in_lanes_ = false;
    int threads_ = 1;
    std::unique_ptr<DeviceMotions> device_;
    std::vector<int> idle_;  ///< ranks that wait for work
};

}  // namespace saltus::stability
