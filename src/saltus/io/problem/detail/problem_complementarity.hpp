// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "saltus/io/problem/detail/problem_scanner.hpp"
#include "saltus/io/problem/read_problem.hpp"

/// Complementarity problems in text:
///     n M q [lb ub]          s1 s2 n m [blocks flags M q] [A B C D a b]
namespace saltus::io {

/// Without a kind, how many numbers follow M tells which of the two it is.
ContactProblem read_lcp_or_relay(Scanner& in, std::optional<ProblemKind> kind);

/// Where both forms are given they must agree.
ContactProblem read_mlcp(Scanner& in);

}  // namespace saltus::io
