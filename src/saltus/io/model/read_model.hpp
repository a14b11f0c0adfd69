// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "saltus/model/description.hpp"

/// From a model file (TOML, version 1) to a `model::Description`.
///
/// The keys that a model file may contain are declared in model_keys.cpp. The reader refuses unknown keys, values of a
/// wrong type, and numbers that are not finite; every message names file, line and column. What the values mean, and
/// whether they fit each other, is checked later by `model::build`.
namespace saltus::io {

/// A model file that was read once: its bytes and the description in them. Everything that needs the file takes this
/// value (the model, its hash, the copy in a result folder), so that all of them see the same bytes.
struct ModelFile {
    std::string path;  ///< path of the file as the caller gave it; messages name it
    std::string text;  ///< all bytes of the file, unchanged
    model::Description description;
};

/// Reads a model file. Throws Error if the file cannot be read or its content is refused.
ModelFile read_model_file(const std::string& path);

/// The description in a model file, for callers that do not need the bytes. Throws Error like `read_model_file`.
model::Description read_model(const std::string& path);

/// The description in a text. `file` is the name that messages and `Description::file` get. Throws Error if the text is
/// refused.
model::Description parse_model(std::string_view text, const std::string& file);

}  // namespace saltus::io
