// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace saltus::io {

/// Writes a file so that a reader, or a run killed half-way, sees the old content or the new, never a part: into a
/// neighbour file first, then renamed. Creates the folder. Throws Error when it cannot.
void write_file(const std::string& folder, const std::string& name, std::string_view content);

}  // namespace saltus::io
