// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace saltus::cli {

/// What `--report` is on every command: the command's result files, in its folder or in one that does not stay, then a
/// page of them. `report`: "" (not asked for), its default, or a path; the default stands in the folder of --out.
inline constexpr const char* default_report = "report.html";
int with_report(std::string& out, const std::string& report, bool silent, const std::function<int()>& run);

/// `--report FILE.html` as `--report=FILE.html`, so that the file is optional and no model is taken for it.
std::vector<std::string> join_report_file(int argc, char** argv);

}  // namespace saltus::cli
