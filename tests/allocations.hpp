// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace saltus::test {

/// How often this executable has allocated so far (operator new, all forms).
std::size_t allocations();

}  // namespace saltus::test
