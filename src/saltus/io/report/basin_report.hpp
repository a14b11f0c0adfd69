// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "saltus/stability/basin/basin.hpp"

namespace saltus::io {

/// A basin with what its numbers mean.
struct BasinReport {
    std::string model;
    std::vector<std::string> coordinates;
    stability::BasinOptions options;
    std::string options_text;  ///< those that count, as on a command line
    stability::Basin basin;
    std::vector<std::string> warnings;

    bool sampled() const { return options.samples > 0; }
};

std::string basin_text(const BasinReport& report);
/// `timed`: with the times that the run took, which differ from run to run.
std::string basin_json(const BasinReport& report, bool timed);
/// One line a motion: the values of the axes, label, time, end.
std::string basin_csv(const BasinReport& report);
/// Points of the boundary between labels; "" where none was asked for.
std::string boundary_csv(const BasinReport& report);

}  // namespace saltus::io
