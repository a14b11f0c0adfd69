// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// Random models whose events are easy to miss and whose motions are known (exact_motions.hpp): thin obstacles, short
/// pulses, double crossings, grazing, chatter. Uses nothing of the library.
namespace saltus::integrate::traps {

struct ExpectedEvent {
    std::string kind;     ///< as in trajectory::to_string(EventKind)
    std::string element;  ///< that takes part
    double t = 0.0;
    double tolerance = 0.0;  ///< of t, in s
};

struct Trap {
    std::string text;  ///< of the model file
    double t_end = 0.0;
    bool decided = true;      ///< otherwise rounding decides the outcome, and only the status is judged
    bool check_state = true;  ///< otherwise the end state is too sensitive to be judged
    std::vector<ExpectedEvent> events;
    std::vector<std::pair<double, double>> many_impacts;  ///< times from, to: any number of impacts (accumulation)
    std::vector<double> q, u, q_tolerance, u_tolerance;   ///< at the end
};

/// A motion as the judge sees it.
struct Seen {
    struct Event {
        std::string kind;
        double t = 0.0;
        std::vector<std::string> elements;
    };
    bool completed = false;
    std::vector<Event> events;
    std::vector<double> q, u;
};

/// The classes of traps, in the order of their numbers.
inline constexpr std::string_view class_names[] = {
    "spikes",  "thin obstacles", "force pulses", "shaking tables",   "double crossings",
    "grazing", "flat tangency",  "stick-slip",   "high frequencies", "stops near the amplitude",
};
inline constexpr int classes = static_cast<int>(std::size(class_names));

/// The trap of a class that belongs to a seed: the same on every machine with the same long double.
Trap make_trap(int class_number, std::uint64_t seed);

/// Empty if the motion is what the trap expects, otherwise the first difference.
std::string difference(const Trap& trap, const Seen& seen);

/// What is expected, one line an event, for messages.
std::string expectation(const Trap& trap);

}  // namespace saltus::integrate::traps
