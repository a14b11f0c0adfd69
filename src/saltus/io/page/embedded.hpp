// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

/// Files that the build puts into the library (cmake/web.cmake), so that an installed program needs no data folder.
namespace saltus::io {

struct EmbeddedFile {
    std::string_view name;     ///< file name without a folder
    std::string_view content;  ///< all bytes of the file
};

/// The interactive page, built from web/: one file. Its content is empty if the library was built without Node.
std::span<const EmbeddedFile> report_page_file();

/// The models of the folder models/.
std::span<const EmbeddedFile> model_files();

/// The documentation: docs/*.md.
std::span<const EmbeddedFile> documentation_files();

/// gallery/gallery.toml: one file.
std::span<const EmbeddedFile> gallery_file();

}  // namespace saltus::io
