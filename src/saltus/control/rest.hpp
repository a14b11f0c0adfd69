// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "saltus/control/statics.hpp"

namespace saltus::control {

/// A position of rest with the forces that hold it: h(q,0) + Σ wλ = 0, g = 0, 0 <= λ ⊥ gN + λ/k >= 0.
/// [Tornambe] (27) with the sign λ̇ >= 0, (48)
struct Rest {
    bool found = false;
    std::string reason;  ///< why not
    std::vector<double> q;
    Vector lambda;            ///< of constraints, then contacts
    std::vector<int> closed;  ///< rows of the contacts that touch
    double residual = 0.0;    ///< of the equations, of the forces' and the gaps' own sizes
    /// The smallest eigenvalue of K v = κ M v on the directions that closed contacts with a force leave, springs
    /// included: positive at an isolated minimum of the potential. NaN where no direction is left.
    double curvature = 0.0;
    bool isolated = true;  ///< no direction is left in which nothing acts
    bool strict = true;    ///< every contact that touches pushes; otherwise the curvature holds for open ones

    bool minimum() const { return found && !(curvature <= 0.0); }
};

/// The rest that a descent of the potential leads to from a position; of models whose forces have no potential, the
/// one that Newton's method finds.
Rest find_rest(Statics& statics, std::span<const double> from);

/// The equations at a position with the contacts of `closed` touching, solved by Newton's method from there; the
/// signs of λ and of the gaps are not looked at.
Rest polish_rest(Statics& statics, std::span<const double> q, const Vector& lambda, const std::vector<int>& closed);

/// A solution in the admissible region with the contacts of `closed` touching, of any sign of their forces; with
/// springs of nonnegative ones.
Rest stationary_rest(Statics& statics, std::span<const double> q, const std::vector<int>& closed);

/// dq and dλ of a rest for the change of one independent parameter while the same contacts push; nothing where the
/// equations are singular, or a contact touches without a force.
struct RestDerivative {
    Vector q, lambda;
};
std::optional<RestDerivative> rest_derivative(Statics& statics, const Rest& rest, int parameter_column);

}  // namespace saltus::control
