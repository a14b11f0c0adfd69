// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "saltus/io/report/solve_report.hpp"

namespace saltus::cli {

struct SolveCommand {
    std::vector<std::string> files;
    std::string kind;
    io::SolveOptions options;
    std::string out, report;
    bool json = false, quiet = false;
    int threads = 0;
};

/// Every file that can be read is solved, also when others cannot. Returns the exit code.
int solve(const SolveCommand& command);

}  // namespace saltus::cli
