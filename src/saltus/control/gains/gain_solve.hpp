// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "saltus/control/gains/gain_study.hpp"
#include "saltus/control/gains/target.hpp"

namespace saltus::control {

/// The parameter to be found and the range of the search.
struct Unknown {
    std::string name;
    std::optional<double> low, high;  ///< range of the search; either both are set or none
};
/// Parses "Kp" or "Kp=0.1:20". Throws Error.
Unknown unknown_from_text(const std::string& text);

/// The outcome of the search for the value of an unknown.
enum class SolveStatus {
    solved,       ///< the target is met up to rounding, or the bracket up to the tolerance
    jump,         ///< the left side jumps over the right side at the value given
    unreachable,  ///< no trial changes the sign of the difference; the nearest one is given
    failed,       ///< the target could not be evaluated
    interrupted,
};
const char* to_string(SolveStatus status);

/// One run of the search.
struct SolveTrial {
    double value = 0.0;                   ///< value of the unknown in this run
    std::optional<Target::Value> target;  ///< nothing if it could not be evaluated
    std::optional<double> derivative;     ///< d(difference)/d(unknown), if it is known exactly
    std::string refused;                  ///< why there is no target value
};

/// The value of the unknown that was found, with everything that the search has learned.
struct GainSolution {
    std::string model, unknown, target;
    std::vector<std::string> coordinates, elements;
    std::size_t constraints = 0;  ///< number of constraints of the model
    TargetAt at = TargetAt::end;
    SolveStatus status = SolveStatus::failed;
    double value = std::numeric_limits<double>::quiet_NaN();  ///< best value of the unknown; NaN if there is none
    Target::Value reached;                                    ///< both sides of the target at `value`
    std::optional<double> derivative;                  ///< d(difference)/d(unknown) at `value`, if it is known exactly
    std::optional<std::pair<double, double>> bracket;  ///< values of the unknown around the sign change or jump
    double explored_low = 0.0, explored_high = 0.0;    ///< range of the values of the unknown that were tried
    double target_low = 0.0, target_high = 0.0;        ///< range of the target's left side in these trials
    std::vector<SolveTrial> trials;                    ///< in the order in which they were made
    StudiedRun run;                                    ///< the run with the best value
    std::string reason;                                ///< why the status is not `solved`; else empty
};

struct SolveOptions {
    RunOptions run;
    std::optional<TargetAt> at;  ///< default: Target::natural
    double tolerance = 1e-12;    ///< width of the bracket, relative to the unknown
    int max_runs = 200;
};

/// Finds the value of a parameter for which the target holds, starting at the value of the description. Newton's method
/// is used if the derivative is known exactly; otherwise, or if it fails, a bracket of a sign change is searched and
/// shrunk by safeguarded Newton, inverse quadratic and secant steps. Throws Error for unknown names.
GainSolution solve_for(const model::Description& description, const Unknown& unknown, const std::string& target,
                       const SolveOptions& options);

}  // namespace saltus::control
