// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "saltus/ensemble/starts.hpp"

namespace saltus::ensemble {

/// Where the text of an axis comes from.
enum class AxisUse {
    grid,    ///< --grid: "x=-1:1:20", "x=1e-3:1:4:log", "x=0.1,0.2,0.5" or "x=0.5", in ascending order
    box,     ///< --box: "x=-1:1" (uniform), "x=normal:0:0.1" (mean and deviation) or "x=0.5"
    values,  ///< --vary and --over: as --grid, in any order
};

/// Largest number of values of one axis, and of runs of one ensemble.
inline constexpr double max_runs = 1e9;

/// Reads an axis. Throws Error if the text has another form; `option` is its place, for example "--grid".
Axis axis_from_text(const std::string& text, AxisUse use, const std::string& option);

/// The same axis as text. `axis_from_text` gives it back to the bit.
std::string to_text(const Axis& axis, AxisUse use);

}  // namespace saltus::ensemble
