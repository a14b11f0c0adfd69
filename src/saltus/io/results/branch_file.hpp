// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "saltus/orbit/branch.hpp"

namespace saltus::io {

class ResultFolder;  // result_folder.hpp

/// Adds branches as HDF5 (docs/continue.md) to the results of a command: one column for each quantity of the points, of
/// the special points and of the curves over two parameters. Equal branches give equal bytes. Throws Error if it cannot
/// be written or the library was built without HDF5.
void add_branches(ResultFolder& folder, const std::string& name, const orbit::Branches& branches);

}  // namespace saltus::io
