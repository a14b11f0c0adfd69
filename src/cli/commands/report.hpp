// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace saltus::cli {

struct ReportCommand {
    std::vector<std::string> results;
    std::string out = "report.html";
    std::string model, title;
    bool quiet = false, plain = false;  ///< plain: static plots
    bool hide_sources = false;          ///< the results do not stay where they are
};

/// Writes one page. Returns the exit code.
int report(const ReportCommand& command);

}  // namespace saltus::cli
