// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace saltus::io {

/// FNV-1a (64 bit, hexadecimal) of the bytes of a model file, then of a zero and `name=value` for each assignment.
std::string model_hash(std::string_view bytes, const std::vector<std::pair<std::string, std::string>>& set);

/// A word as it would be written on a command line, in quotes where it needs them.
std::string quoted_word(const std::string& word);

/// The words of such a line.
std::vector<std::string> split_words(std::string_view line);

}  // namespace saltus::io
