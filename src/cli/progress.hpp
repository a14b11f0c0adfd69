// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

namespace saltus::cli {

/// From now on progress is written as lines "progress SHARE" with 0 <= SHARE <= 1, for other programs: also without a
/// terminal, also if it is not wanted, and from the beginning. For --progress.
void write_progress_lines();

/// One line on standard error that shows how far a run is and how long it will still take. The line appears only on a
/// terminal, after two seconds, and is removed by the destructor.
class Progress {
public:
    /// The run goes from `from` to `to`, in any unit. If not `wanted`, nothing is ever shown.
    Progress(double from, double to, bool wanted);
    ~Progress();
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    /// The run has reached `t`, from <= t <= to.
    void at(double t);

private:
    using Clock = std::chrono::steady_clock;

    double from_, to_;
    bool wanted_, shown_ = false;
    Clock::time_point start_ = Clock::now(), next_;
};

}  // namespace saltus::cli
