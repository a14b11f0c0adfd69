// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "saltus/io/problem/detail/problem_matrix.hpp"
#include "saltus/io/problem/detail/problem_scanner.hpp"
#include "saltus/io/problem/read_problem.hpp"

/// Friction problems in text, local or global, with or without rolling (d = 5):
///
///     local:   d contacts  W  q  mu [mu_r]
///     global:  d contacts  M  H  q  b  mu [mu_r]
namespace saltus::io {

/// The numbers of a friction text. `assembled` makes the problem from them, which is expensive; it is called only if
/// this layout turns out to be the one that fits.
struct FrictionText {
    int dimension = 0, contacts = 0;
    bool global = false;
    std::size_t matrix_at = 0;          ///< offset of the first matrix in the text, for messages
    TextMatrix first_matrix;            ///< W if local, M if global
    std::vector<double> q;              ///< q of a local problem; empty if global
    std::optional<Global> global_data;  ///< H, f and w of a global problem; M stays in `first_matrix`
    std::vector<double> mu, mu_rolling;
};

ProblemKind kind_of(const FrictionText& text);

/// Reads a friction text. If `kind` is not given then the words after the first matrix decide whether it is local or
/// global (see read_problem.hpp). Throws Misfit.
FrictionText read_friction(Scanner& in, std::optional<ProblemKind> kind);

/// The problem of a friction text; a global one is condensed. Throws Error at `matrix_place` if M is singular.
ContactProblem assembled(FrictionText&& text, const Place& matrix_place);

}  // namespace saltus::io
