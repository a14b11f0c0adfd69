// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace saltus::cli {

/// `saltus studio`: a page that follows a model file while it is edited (docs/studio.md).
struct StudioCommand {
    std::string model;  ///< path of the model file
    int port = 0;       ///< on the loopback address; 0: any free one
};

/// Serves the page until Ctrl-C. Returns the exit code.
int studio(const StudioCommand& command);

}  // namespace saltus::cli
