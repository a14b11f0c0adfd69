// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "cli/command.hpp"

namespace saltus::cli {

struct CertifyCommand {
    Common common;
    std::string theorem;
    std::vector<std::string> at;
    long budget = 20'000;
};

/// Returns the exit code.
int certify(const CertifyCommand& command);

}  // namespace saltus::cli
