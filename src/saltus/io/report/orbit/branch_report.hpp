// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "saltus/orbit/branch.hpp"

namespace saltus::io {

/// The result of `saltus continue`.
struct BranchReport {
    orbit::Branches result;
    std::vector<std::string> warnings;
};

/// For a terminal.
std::string branch_text(const BranchReport& report);

/// One JSON document (docs/continue.md).
std::string branch_json(const BranchReport& report);

/// All points of all branches, one per line.
std::string branch_points_csv(const BranchReport& report);

/// All special points, one per line.
std::string branch_special_csv(const BranchReport& report);

/// All points of the curves over two parameters, one per line.
std::string branch_curves_csv(const BranchReport& report);

}  // namespace saltus::io
