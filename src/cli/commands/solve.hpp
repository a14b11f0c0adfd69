// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "cli/command.hpp"
#include "saltus/io/report/solve_report.hpp"

namespace saltus::cli {

/// `saltus solve`: contact problem files.
struct SolveCommand : OutputOptions {
    std::vector<std::string> files;
    std::string kind;  ///< of every file; empty: found from its content
    io::SolveOptions options;
};

/// Solves every file that can be read, also if others cannot be read, and prints or writes one row per file. Returns
/// the exit code: the worst of the files.
int solve(const SolveCommand& command);

}  // namespace saltus::cli
