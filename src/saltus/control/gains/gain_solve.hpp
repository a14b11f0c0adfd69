// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "saltus/control/gains/gain_study.hpp"
#include "saltus/control/gains/target.hpp"

namespace saltus::control {

/// A parameter to be found, and where to look: "Kp", or "Kp=0.1:20".
struct Unknown {
    std::string name;
    std::optional<double> low, high;
};
Unknown unknown_from_text(const std::string& text);  ///< throws Error

enum class SolveStatus {
    solved,       ///< the target is met to rounding, or to the tolerance
    jump,         ///< the target's value jumps over what is asked for at the value given
    unreachable,  ///< nothing that was tried changes the sign of the difference; the nearest is given
    failed,       ///< no run gives the number that the target asks for
    interrupted,
};
const char* to_string(SolveStatus status);

struct SolveTrial {
    double value = 0.0;  ///< of the unknown
    std::optional<Target::Value> target;
    std::optional<double> derivative;
    std::string refused;  ///< why there is no number
};

struct GainSolution {
    std::string model, unknown, target;
    std::vector<std::string> coordinates, elements;
    std::size_t constraints = 0;  ///< of the model
    TargetAt at = TargetAt::end;
    SolveStatus status = SolveStatus::failed;
    double value = std::numeric_limits<double>::quiet_NaN();  ///< of the unknown
    Target::Value reached;
    std::optional<double> derivative;                  ///< d(target)/d(unknown), exactly, where it was used
    std::optional<std::pair<double, double>> bracket;  ///< of the sign change; of a jump its two sides
    double explored_low = 0.0, explored_high = 0.0;    ///< the values of the unknown that were tried
    double target_low = 0.0, target_high = 0.0;        ///< and what the left side ranged over
    std::vector<SolveTrial> trials;                    ///< in the order they were made
    StudiedRun run;                                    ///< with the value found
    std::string reason;
};

struct SolveOptions {
    RunOptions run;
    std::optional<TargetAt> at;  ///< otherwise the target's natural one
    double tolerance = 1e-12;    ///< of the unknown, relative
    int most_runs = 200;
};

/// The value of a parameter for which the target holds: Newton's method where the derivative is known exactly, inside
/// a bracket as soon as there is one, otherwise Brent's. Starts at the description's value.
GainSolution solve_for(const model::Description& description, const Unknown& unknown, const std::string& target,
                       const SolveOptions& options);

}  // namespace saltus::control
