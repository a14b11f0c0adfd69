// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "saltus/io/problem/read_problem.hpp"
#include "saltus/io/report/timing.hpp"
#include "saltus/solvers/friction/modes.hpp"
#include "saltus/solvers/solution.hpp"

/// `saltus solve`: chooses the solver for a contact problem file, and writes the results as text and JSON.
namespace saltus::io {

struct SolveOptions {
    /// "automatic", "gauss-seidel", "newton", "proximal" or "lemke". Lemke's method solves lcp files and planar
    /// friction problems only.
    std::string method = "automatic";
    double tolerance = 1e-8;  ///< a solution is accepted if its residual is ≤ this (solvers/solution.hpp)
    double seconds = 0.0;     ///< after this time in s `automatic` starts no further method; 0: no limit of time
    bool all = false;         ///< also look for every solution, if the friction problem is planar and small
};

/// The result for one file: a line of the table.
struct SolveRow {
    std::string file;
    ProblemKind kind = ProblemKind::fc;
    int contacts = 0;  ///< number of contacts, without bilateral rows
    int rows = 0;      ///< number of unknowns
    solvers::Solution solution;
    std::optional<solvers::AllSolutions> all;  ///< if `SolveOptions::all` was set
    double seconds = 0.0;                      ///< computing time of `solution` in s
    /// An interrupt or the time limit of the command ended the solver: `solution` is its best iterate.
    bool interrupted = false;
};

/// Solves a problem. Throws Error if the method does not solve problems of this kind.
SolveRow solve_problem(const ContactProblem& problem, const SolveOptions& options);

/// A table for a terminal.
std::string solve_text(const std::vector<SolveRow>& rows);

/// One JSON document: a list with an object for each row (docs/solve.md). `not_solved` are the files that an interrupt
/// left out; their objects have the file's name and the status "interrupted" only.
std::string solve_json(const std::vector<SolveRow>& rows, Timing timing = Timing::included,
                       const std::vector<std::string>& not_solved = {});

}  // namespace saltus::io
