// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace saltus::bench {

/// The result of one solve.
struct Answer {
    std::vector<double> r;
    std::string note;  ///< which method found it, or the message of the solver
};

/// One solve in three parts: the constructor copies the data, `run` solves and is the only timed part, `answer` returns
/// the result.
class Trial {
public:
    virtual ~Trial() = default;
    virtual void run() = 0;
    virtual Answer answer() const = 0;
};

/// How a measured solve ended.
enum class End { answered, out_of_time, crashed };

struct Measured {
    End end = End::crashed;
    double seconds = 0.0;  ///< of the fastest `run`
    Answer answer;         ///< of the first
};

/// Seconds that a call takes: processor time if it is more than a millisecond, so that other load on the machine does
/// not count; otherwise wall-clock time, because reading the processor time would take too long.
double seconds_of(const std::function<void()>& call);

/// Runs trials in a forked child with no output and 12 GiB at most, so that a solver may crash, exit, print, leak or
/// hang. A short solve is repeated from fresh data until 0.3 s or 200 repeats are reached, as long as the answer is the
/// same to the bit, and its fastest run counts. The child is killed `limit` seconds after its start.
Measured measure(const std::function<std::unique_ptr<Trial>()>& prepare, double limit);

}  // namespace saltus::bench
