// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "saltus/io/problem/detail/problem_scanner.hpp"
#include "saltus/io/problem/read_problem.hpp"

/// Complementarity problems in text:
///
///     lcp, relay:  n  M  q  [lb ub]
///     mlcp:        flag flag n m  [starts and flags of blocks, M, q]  [A B C D a b]
namespace saltus::io {

/// Reads an lcp or a relay. If `kind` is not given then the number of numbers behind M decides. Throws Misfit.
ContactProblem read_lcp_or_relay(Scanner& in, std::optional<ProblemKind> kind);

/// Reads an mlcp with n equalities and m complementarities. The file gives it in one or both of two forms: (M, q) with
/// blocks, and M = [A C; D B], q = (a, b). If both are given then they must agree. Throws Misfit.
ContactProblem read_mlcp(Scanner& in);

}  // namespace saltus::io
