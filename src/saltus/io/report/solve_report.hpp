// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "saltus/io/problem/read_problem.hpp"
#include "saltus/solvers/friction/modes.hpp"
#include "saltus/solvers/solution.hpp"

namespace saltus::io {

struct SolveOptions {
    std::string method =
        "automatic";  ///< or gauss-seidel, newton, proximal; lemke for planar and complementarity problems
    double tolerance = 1e-8;
    double seconds = 0.0;  ///< after which `automatic` begins nothing new; 0: only its budget of work ends it
    bool all = false;      ///< look for every solution of friction problems that are small enough
};

/// One line of `saltus solve`.
struct SolveRow {
    std::string file;
    ProblemKind kind = ProblemKind::fc;
    int contacts = 0, rows = 0;
    solvers::Solution solution;
    std::optional<solvers::AllSolutions> all;  ///< where they were asked for
    double seconds = 0.0;                      ///< of the solution alone
};

/// Throws Error when the method does not fit the problem.
SolveRow solve_problem(const ContactProblem& problem, const SolveOptions& options);

std::string solve_text(const std::vector<SolveRow>& rows);
std::string solve_json(const std::vector<SolveRow>& rows);

}  // namespace saltus::io
