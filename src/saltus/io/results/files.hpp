// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace saltus::io {

/// Writes a file atomically. The content goes into a neighbour file first, which is then renamed. A reader, or a
/// program that is killed in between, sees the old content or the new content, never a part of it. Creates the folder
/// if necessary. Throws Error if the file cannot be written; then no neighbour file remains.
void write_file(const std::string& folder, const std::string& name, std::string_view content);

}  // namespace saltus::io
