// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "saltus/io/problem/detail/problem_matrix.hpp"
#include "saltus/io/problem/detail/problem_scanner.hpp"
#include "saltus/io/problem/read_problem.hpp"

/// Friction contacts in text, local or global, with rolling or without:
///     d contacts W q mu [mu_r]          d contacts M H q b mu [mu_r]
namespace saltus::io {

/// A layout read to its end. What costs more than reading is left for when it is known that this one is wanted.
struct FrictionText {
    int dimension = 0, contacts = 0;
    bool global = false;
    std::size_t matrix_at = 0;
    TextMatrix first;  ///< W, or M
    std::vector<double> q;
    std::optional<Global> beside;
    std::vector<double> mu, mu_rolling;
};

ProblemKind kind_of(const FrictionText& text);

/// Without a kind, local or global is found from what follows the first matrix (see read_problem.hpp).
FrictionText read_friction(Scanner& in, std::optional<ProblemKind> kind);

/// A mass matrix that is singular is an Error at the place of the matrix.
ContactProblem assembled(FrictionText&& text, const Place& matrix_place);

}  // namespace saltus::io
