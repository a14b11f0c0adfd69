// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace saltus::io {

/// Writes a file atomically. The content goes into a neighbour file first, which is then renamed. A reader, or a
/// program that is killed in between, sees the old content or the new content, never a part of it. Creates the folder
/// if necessary. Throws Error if the file cannot be written, or if something other than a plain file has its name;
/// then no neighbour file remains.
void write_file(const std::string& folder, const std::string& name, std::string_view content);

/// Writes the content of a file that is open for reading and writing. Throws Error if that is impossible.
using FileWriter = std::function<void(int descriptor)>;

/// The same, with a content that `write` makes.
void write_file(const std::string& folder, const std::string& name, const FileWriter& write);

/// Removes the neighbour files of `write_file` whose processes were killed. Those of living processes stay.
void remove_abandoned_drafts(const std::string& folder);

/// Writes a new file at `path`. Throws Error if something has this name already, or if the file cannot be written; then
/// no part of it remains.
void write_new_file(const std::string& path, std::string_view content);
void write_new_file(const std::string& path, const FileWriter& write);

/// Writes all bytes at the present place of an open file. Returns 0, or the number of the system's error.
int write_all(int descriptor, std::string_view bytes);

/// Throws Error if `path` exists and is not a plain file: a folder, a device, a FIFO or a symbolic link. Such a thing
/// must not be replaced by a result.
void refuse_special_file(const std::string& path);

/// The same, and throws Error if `path` is a file that is not empty and does not begin with `beginning`: a result whose
/// path the user names replaces only an earlier result of its kind, never a model or another input. `kind` is the
/// noun: "a page".
void refuse_other_content(const std::string& path, std::string_view beginning, const std::string& kind);

/// Creates a folder and those that contain it, if they do not exist. Throws Error if this is impossible.
void make_folder(const std::string& folder);

}  // namespace saltus::io
