// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

namespace saltus::solvers {

enum class Status {
    converged,   ///< the residual is at or below the tolerance
    stalled,     ///< no method makes progress any more; the best iterate is returned
    limit,       ///< iterations or time are used up; the best iterate is returned
    infeasible,  ///< there is no solution; see `Solution::certificate`
    non_finite,  ///< the problem holds a NaN or an infinity
};
std::string_view to_string(Status status);
inline bool usable(Status status) { return status == Status::converged; }

/// One method's part in a solve.
struct Attempt {
    std::string_view method;
    int iterations = 0;
    double residual = 0.0;  ///< of its result, computed independently of it
};

/// What every solve returns: the best iterate with the residual that an independent computation gives it.
struct Solution {
    Status status = Status::limit;
    std::vector<double> r;  ///< reactions (z of a complementarity problem)
    std::vector<double> v;  ///< velocities W r + q (w)
    double residual = 0.0;
    std::string_view method;  ///< the one whose result it is
    int iterations = 0;       ///< of all methods together
    std::vector<Attempt> attempts;
    /// The proof of infeasibility: of a complementarity problem vectors that exclude every combination of states
    /// (`exclusion.hpp`), of a friction problem one vector that excludes every reaction (`certificate.hpp`). It is
    /// empty where all modes of a friction problem were gone through (`modes.hpp`): then the attempt says how many.
    std::vector<double> certificate;
};

}  // namespace saltus::solvers
