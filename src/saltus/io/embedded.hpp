// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

namespace saltus::io {

/// A file that the library carries with it.
struct EmbeddedFile {
    std::string_view name, content;
};

std::span<const EmbeddedFile> report_page_file();  ///< one; empty where the library was built without Node

}  // namespace saltus::io
