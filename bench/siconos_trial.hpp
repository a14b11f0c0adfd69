// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "measured_child.hpp"
#include "saltus/io/problem/read_problem.hpp"

namespace saltus::bench {

/// A solver of Siconos with its options. All options that are not given here have their defaults.
struct SiconosSolver {
    std::string name;
    int id = 0;
    int max_iterations = 0;      ///< 0: the default
    int one_contact = 0;         ///< id of the solver for one contact inside; 0: the default
    bool extragradient = false;  ///< before a Newton method
};

/// The solvers that can take a problem; none if Siconos has no form for it (no rows, or bilateral rows).
std::vector<SiconosSolver> siconos_solvers(const io::ContactProblem& problem);

/// Answer::note if Siconos reports success; otherwise the note has the status of Siconos.
inline const std::string siconos_success = "success";

/// A copy of the problem in the form of Siconos, with the zero vector as first guess. A friction problem with more than
/// 20 contacts and a sparse W is stored in sparse blocks if the solver accepts them; other problems are dense.
std::unique_ptr<Trial> siconos_trial(const io::ContactProblem& problem, const SiconosSolver& solver, double tolerance);

}  // namespace saltus::bench
