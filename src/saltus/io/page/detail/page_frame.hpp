// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace saltus::io {

/// The interactive page, built from web/, with this JSON document. Precondition: has_interactive_page().
std::string page_with(const std::string& json);

}  // namespace saltus::io
