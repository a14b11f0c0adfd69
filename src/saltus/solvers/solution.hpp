// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

namespace saltus::solvers {

/// How a solve ended.
enum class Status {
    converged,   ///< The residual is at or below the tolerance.
    stalled,     ///< No method makes progress any more; the best iterate is returned.
    limit,       ///< The allowed iterations, work or time are used up; the best iterate is returned.
    infeasible,  ///< There is no solution; see `Solution::certificate` for the proof.
    non_finite,  ///< The problem contains a NaN or an infinity.
};
std::string_view to_string(Status status);
inline bool usable(Status status) { return status == Status::converged; }

/// The contribution of one method to a solve.
struct Attempt {
    std::string_view method;  ///< name of the method
    int iterations = 0;       ///< iterations in the method's own unit: sweeps, Newton steps, pivots, nodes, modes
    double residual = 0.0;    ///< residual of its result, computed independently of the method
};

/// The result of a solve: the best iterate, with the residual that the independent computation (detail/residual.hpp)
/// assigns to it.
struct Solution {
    Status status = Status::limit;
    std::vector<double> r;          ///< reactions of a friction problem, z of a complementarity problem
    std::vector<double> v;          ///< velocities W r + q, or w = M z + q
    double residual = 0.0;          ///< residual of r, unit-free
    std::string_view method;        ///< name of the method that found r
    int iterations = 0;             ///< sum over all attempts
    std::vector<Attempt> attempts;  ///< in the order in which the methods were tried
    /// The proof of infeasibility. For a complementarity problem: one or several vectors, concatenated, that together
    /// exclude every combination of states (complementarity/detail/exclusion.hpp). For a friction problem: one vector
    /// that excludes every reaction (friction/detail/infeasibility.hpp). It is empty if infeasibility was proved by
    /// enumerating all modes (friction/modes.hpp); the last attempt then gives their number.
    std::vector<double> certificate;
};

}  // namespace saltus::solvers
