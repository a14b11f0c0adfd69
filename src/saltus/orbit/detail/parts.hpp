// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "saltus/orbit/detail/measures.hpp"
#include "saltus/orbit/detail/return_map.hpp"
#include "saltus/orbit/detail/symmetry.hpp"

/// Orbits in several parts (multiple shooting).
///
/// If disturbances grow by a factor G in a period, rounding of the start alone makes the end of the period wrong by
/// G · 1e-16, and no start closes the orbit better. So the period is divided into K equal parts, and the states at
/// their starts are unknowns:
///     Φ_k(x_k) = x_{k+1},  k = 0 … K−1,  x_K = x_0       (with a symmetry σ: x_K = σ(x_0))
/// Disturbances grow by G^{1/K} in each part.
namespace saltus::orbit {

/// An orbit as a list of parts of equal length.
struct Parts {
    double t = 0.0;         ///< start of the first part, in s
    double duration = 0.0;  ///< of all parts together: of half the orbit with a symmetry
    std::vector<Vector> x;  ///< state at the start of each part
    std::vector<Return> r;  ///< motion and derivatives of each part; the last one is followed by the symmetry
    Vector size;            ///< largest magnitudes of all components on the orbit

    double length() const { return duration / static_cast<double>(x.size()); }
    double start_of(std::size_t k) const { return t + static_cast<double>(k) * length(); }
};

/// What is solved.
struct PartsProblem {
    const ReturnMap& map;
    const std::optional<Symmetry>& symmetry;
    const std::optional<PhaseCondition>& section;  ///< autonomous systems: the condition of the first state
    int max_iterations = 30;
    double accepted = 1e-9;  ///< largest residual that counts as found, relative to the sizes
    std::function<bool()> interrupted;
};

struct PartsSolution {
    Parts parts;
    std::vector<double> residuals;  ///< of all iterations
    std::string failure;            ///< why there is no solution; empty if there is
};

/// Newton's method from the state x at the time t, with `count` >= 2 parts.
PartsSolution solve_in_parts(const PartsProblem& problem, double t, const Vector& x, double duration, int count);

/// The motions of all parts as one. Between two parts the states differ by the residual. With a symmetry, the images of
/// the parts follow.
trajectory::Trajectory joined_motion(const PartsProblem& problem, const Parts& parts);

/// Multipliers of the product of all Φ_k'. They are the K-th powers of the eigenvalues of the cyclic matrix of the
/// Φ_k', whose entries are of moderate size, so that small multipliers are as accurate as large ones.
Multipliers multipliers_of(const Parts& parts, bool autonomous);

/// Whether every part is repeated by the motion from the same state `later` seconds later.
bool parts_repeat(const PartsProblem& problem, const Parts& parts, double later);

}  // namespace saltus::orbit
