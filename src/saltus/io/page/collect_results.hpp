// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "saltus/io/page/report_page.hpp"

namespace saltus::io {

/// Collects result files into one report, a part for each result. A path is a folder that a command wrote with --out,
/// a trajectory file, or the JSON document of a command. The command that wrote a JSON document is recognised by the
/// keys of the document.
///
/// A motion is shown with gaps, forces, energies and an animation if its model is known: the file model.toml in the
/// folder of the trajectory, or the file `model` if that is not empty. The model is used only if its hash is the one in
/// the trajectory. Otherwise these curves are missing and `Report::notes` says why.
///
/// Throws Error if a path does not exist, is not a result, or cannot be read.
Report read_results(const std::vector<std::string>& paths, const std::string& model = "");

}  // namespace saltus::io
