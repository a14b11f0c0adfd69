// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace saltus::cli {

/// `saltus gallery`: the studies of all shipped models as pages.
struct GalleryCommand {
    std::string out;                ///< folder for the pages
    std::vector<std::string> only;  ///< names of models; empty: all
    bool quick = false;             ///< coarser studies, for a first look
    bool quiet = false;             ///< print errors only
    int threads = 0;                ///< 0: one thread per core
    double seconds = 0.0;           ///< wall-clock time after which no further study begins; 0: no limit
};

/// Runs every study and writes the pages. Returns the exit code. If a study fails, its page says so, the other pages
/// are still written, and the code is `failed`.
int gallery(const GalleryCommand& command);

}  // namespace saltus::cli
