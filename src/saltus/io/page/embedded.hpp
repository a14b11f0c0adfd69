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

std::span<const EmbeddedFile> model_files();          ///< the shipped models
std::span<const EmbeddedFile> documentation_files();  ///< docs/*.md
std::span<const EmbeddedFile> gallery_file();         ///< one

}  // namespace saltus::io
