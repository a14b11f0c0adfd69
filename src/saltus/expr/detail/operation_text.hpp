// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "saltus/expr/graph.hpp"

namespace saltus::expr {

/// A statement in the common subset of C++ and OpenCL C that assigns the result of an operation to `to`, with the bits
/// of `apply`. `number` is the exponent of an integer power.
std::string operation_text(Op op, const std::string& to, const std::string& a, const std::string& b,
                           const std::string& c, int number);

}  // namespace saltus::expr
