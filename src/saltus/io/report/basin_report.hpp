// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "saltus/io/report/timing.hpp"
#include "saltus/stability/basin/phase_paths.hpp"

/// The result of `saltus basin` as text, JSON and CSV.
namespace saltus::io {

/// A basin of attraction, with the names and options that are needed to read its numbers.
struct BasinReport {
    std::string model;                     ///< name of the model
    std::vector<std::string> coordinates;  ///< names of the coordinates, in the order of q
    stability::BasinOptions options;
    std::string options_text;  ///< the options that had an effect, as they are written on a command line
    stability::Basin basin;
    std::vector<stability::PhasePath> paths;  ///< motions as curves in the plane of the axes; empty if not asked for
    std::vector<std::string> warnings;  ///< warnings about the model and the certificate; shown before Basin::warnings

    /// Whether the starts are samples of a box. Otherwise they are the points of a grid.
    bool sampled() const { return options.sampled(); }
};

/// For a terminal. A long list of boundary points is cut and says so.
std::string basin_text(const BasinReport& report);

/// One JSON document (docs/basin.md). Without timing equal basins give equal bytes.
std::string basin_json(const BasinReport& report, Timing timing = Timing::included);

/// Which starts a table has: all of them, or those whose motion is computed (of an interrupted run).
enum class Starts { all, computed };

/// A line for each start: values of the axes, label, time of rest or capture in s, V at the start, whether the start
/// lies in the level set, what was done to make the start admissible, and the final position. The text comes in pieces.
void basin_csv(const BasinReport& report, Starts starts, const std::function<void(std::string_view)>& take);

/// A line for each point of the boundary between two labels; empty if no boundary was asked for.
std::string boundary_csv(const BasinReport& report);

}  // namespace saltus::io
