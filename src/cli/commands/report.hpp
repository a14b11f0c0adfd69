// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace saltus::cli {

/// `saltus report`: result files as one HTML page.
struct ReportCommand {
    std::vector<std::string> results;  ///< result folders, trajectory.h5 or JSON files
    std::string out = "report.html";   ///< path of the page
    std::string model, title;          ///< empty: the model beside the results, and its name
    double seconds = 0.0;              ///< limit of wall-clock time; 0: none
    bool quiet = false;                ///< print errors only
    bool plain = false;                ///< static plots instead of interactive ones
    bool with_results = false;         ///< the page lies in the result folder and disappears with the results
    bool hide_sources = false;         ///< do not print paths of the results, which are temporary
    bool of_a_run = false;  ///< --report of another command: an interrupt has ended that, and does not end this
};

/// Throws Error if `path` exists and is not a page: a page replaces only a page. To be called before the computation.
void refuse_page(const std::string& path);

/// Writes the page and returns the exit code.
int report(const ReportCommand& command);

}  // namespace saltus::cli
