// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

namespace saltus::cli {

/// How far a run is and how long it will still take, on one line of standard error: on a terminal alone, after two
/// seconds. The line goes with the object.
class Progress {
public:
    Progress(double from, double to, bool wanted);
    ~Progress();
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    void at(double t);

private:
    using Clock = std::chrono::steady_clock;

    double from_, to_;
    bool wanted_, shown_ = false;
    Clock::time_point start_ = Clock::now(), next_;
};

}  // namespace saltus::cli
