// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace saltus {

/// A text for a terminal, a table or a page, in which every control character is written as an escape sequence that can
/// be read: ESC becomes \x1b, NUL becomes \x00. Line breaks and tabs stay. Names in files may contain anything; a
/// terminal would execute such characters. Other UTF-8 characters stay as they are.
std::string visible_text(std::string_view text);

}  // namespace saltus
