// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/command.hpp"

namespace saltus::cli {

struct BasinCommand {
    Common common;
    std::vector<std::string> grid, box;
    std::optional<long> samples;
    std::uint64_t seed = 1;
    std::optional<double> t_max, h, theta, rtol, atol, rest, boundary;
    std::string method, backend = "threads";
    int refine = 0;
    bool resume = false, to_rest = false, no_lanes = false, no_certify = false;
};

/// Returns the exit code.
int basin(const BasinCommand& command);

}  // namespace saltus::cli
