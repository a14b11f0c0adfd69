// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace saltus::bench {

/// The error and the cost of one run of a method at one tolerance.
struct Work {
    double error = std::numeric_limits<double>::infinity();  ///< of the end state; infinite if the run failed
    double seconds = 0.0;                                    ///< of the fastest repeat
    long steps = 0;                                          ///< 0 if not counted
    long evaluations = 0;                                    ///< of the right-hand side; 0 if not counted
};

/// Repeats `run`, which returns a Work, until 0.1 s or 300 repeats are reached. The fastest repeat counts.
template <class Run>
Work measured(Run run) {
    Work best = run();
    double spent = best.seconds;
    for (int k = 0; k < 300 && spent < 0.1 && std::isfinite(best.error); ++k) {
        const Work again = run();
        spent += again.seconds;
        best.seconds = std::min(best.seconds, again.seconds);
    }
    return best;
}

/// Seconds of the fastest of the runs whose error is at most `target`; infinite if none has it.
inline double fastest(const std::vector<Work>& runs, double target) {
    double best = std::numeric_limits<double>::infinity();
    for (const Work& w : runs)
        if (w.error <= target) best = std::min(best, w.seconds);
    return best;
}

}  // namespace saltus::bench
