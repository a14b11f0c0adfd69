// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "saltus/expr/tape.hpp"

namespace saltus::expr {

/// A number as C, C++ and OpenCL C read it, with all its bits.
std::string exact_literal(double x);

/// A tape as statements in the common subset of C++ and OpenCL C, to be part of a larger function.
struct Statements {
    std::string text;                  ///< declarations and statements
    std::vector<std::string> outputs;  ///< names or constants of the results
};

/// The statements of `Tape::emit_cpp` for fixed parameters: everything that depends on them alone is a constant, with
/// the bits of `Tape::prepare`. Local names are `prefix` with a number; `variables` are the texts of the variables.
/// `varied` has a text for each parameter that is not fixed, and an empty text for the others; empty: all are fixed.
Statements statements_of(const Tape& tape, std::string_view prefix, std::span<const double> parameters,
                         std::span<const std::string> variables, std::span<const std::string> varied = {});

}  // namespace saltus::expr
