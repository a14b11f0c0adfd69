// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace saltus {

/// The version of this library, such as "0.1.0": PROJECT_VERSION of CMakeLists.txt when the library was built. Result
/// files carry it, so that a reader knows which program wrote them.
const std::string& library_version();

}  // namespace saltus
