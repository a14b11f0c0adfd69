// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace saltus::cli {

/// `saltus merge`: the parts of `saltus basin --shard` as one result.
struct MergeCommand {
    std::string folder;  ///< --out of all parts
    bool json = false, quiet = false;
    int threads = 0;  ///< 0: one thread per core
};

/// Writes the files that the command without --shard writes, byte by byte, and returns the exit code.
int merge(const MergeCommand& command);

}  // namespace saltus::cli
