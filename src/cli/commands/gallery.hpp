// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace saltus::cli {

struct GalleryCommand {
    std::string out;
    std::vector<std::string> only;  ///< models; empty: all
    bool quick = false;             ///< coarser studies, for a first look
    bool quiet = false;
    int threads = 0;
};

/// Runs every study and writes the pages. Returns the exit code: failed where a study failed, with its page all the
/// same.
int gallery(const GalleryCommand& command);

}  // namespace saltus::cli
