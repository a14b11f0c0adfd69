// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/command.hpp"

namespace saltus::cli {

/// The page's name if --report is given without a file.
inline constexpr const char* default_report = "report.html";

/// Runs a command and returns its exit code. If `options.report` is set, the result files are then shown as one page:
/// at that path, or, for the default name, in the folder of --out. Without --out the result files lie in a temporary
/// folder, which is removed at the end; `options.out` names the folder while `run` is called.
int with_report(OutputOptions& options, const std::function<int()>& run);

/// The words of the command line, with `--report FILE.html` joined to `--report=FILE.html`. The file is optional;
/// without joining, the parser could take the name of a model for it.
std::vector<std::string> join_report_file(int argc, char** argv);

}  // namespace saltus::cli
