// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "measured_child.hpp"

namespace saltus::bench {

inline const std::string ours = "Saltus";

/// One solver on one problem with one tolerance. `residual` is computed independently of the solver.
struct Run {
    std::string solver;
    double tolerance = 0.0;
    End end = End::crashed;
    double seconds = 0.0, residual = 0.0;
    std::string note;
};

/// All runs on one problem.
struct Comparison {
    std::string name, family;
    int size = 0;  ///< contacts, or unknowns of a complementarity problem
    std::vector<Run> runs;
};

/// A problem counts as solved if its residual is at most one of these.
struct Targets {
    double tight = 1e-8, loose = 1e-4;
};

void print_heading(const Targets& targets);
void print_line(const Comparison& comparison, const Targets& targets);

/// Problems solved by each solver, ratios of times over the problems that both solve, and for each family the share of
/// problems solved within a factor of the fastest solver (performance profile).
void print_summary(const std::vector<Comparison>& comparisons, const Targets& targets);

/// Every run, one a line.
void write_csv(const std::string& file, const std::vector<Comparison>& comparisons);

}  // namespace saltus::bench
