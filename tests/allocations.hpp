// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace saltus::test {

/// How often this executable has allocated so far (operator new, all forms).
std::size_t allocations();
/// The sum of the sizes that it has asked for.
std::size_t allocated_bytes();

}  // namespace saltus::test
