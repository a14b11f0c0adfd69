// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "measured_child.hpp"
#include "saltus/io/problem/read_problem.hpp"

namespace saltus::bench {

/// A solver of Siconos with its options: the defaults, but for what is said here.
struct SiconosSolver {
    std::string name;
    int id = 0;
    int max_iterations = 0;      ///< 0: the default
    int one_contact = 0;         ///< id of the solver for one contact inside; 0: the default
    bool extragradient = false;  ///< before a Newton method
};

/// Those that fit a problem; none where Siconos has no form for it (no rows, bilateral rows).
std::vector<SiconosSolver> siconos_solvers(const io::ContactProblem& problem);

/// The note of an answer that Siconos calls a success; otherwise it is the status.
inline const std::string siconos_success = "success";

/// The same data in the form of Siconos, copied, and the zero vector as a guess. A friction problem of more than 20
/// contacts with a sparse W is sparse in blocks, if the solver can take that; all else is dense.
std::unique_ptr<Trial> siconos_trial(const io::ContactProblem& problem, const SiconosSolver& solver, double tolerance);

}  // namespace saltus::bench
