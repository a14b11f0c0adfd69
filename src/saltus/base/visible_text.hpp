// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace saltus {

/// A text for a terminal, a table or a page, in which every control character is written as an escape sequence that can
/// be read: ESC becomes \x1b, NUL becomes \x00. Line breaks and tabs stay. Names in files may contain anything; a
/// terminal would execute such characters. Bytes that are not UTF-8 are written as escape sequences, too: a terminal
/// may take the byte 9b for the beginning of a command. Other UTF-8 characters stay as they are.
std::string visible_text(std::string_view text);

/// Number of bytes of the UTF-8 character that begins at `at`; 0 if there is none.
std::size_t utf8_length(std::string_view text, std::size_t at);

}  // namespace saltus
