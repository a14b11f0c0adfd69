// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "saltus/control/statics.hpp"

namespace saltus::control {

/// An equilibrium q with the forces λ (constraints, then contacts) that hold it:
///     h(q,0) + Gᵀν + Wλ = 0,   g = 0,   0 <= λ ⊥ g_N + λ/k >= 0.
/// These are [Tornambe] (27) with the sign condition λ̇ >= 0 for rigid contacts (1/k = 0), and (48) for springs.
struct Rest {
    bool found = false;
    std::string reason;  ///< why no equilibrium was found
    std::vector<double> q;
    Vector lambda;            ///< forces of the constraints, then of the contacts
    std::vector<int> closed;  ///< rows of the contacts that touch
    double residual = 0.0;    ///< largest defect of the equations, relative to the sizes of forces and gaps
    /// Smallest eigenvalue κ of K v = κ M v, springs included, on the directions along which constraints and pushing
    /// rigid contacts stay closed. It is positive at an isolated minimum of the potential. NaN if no direction is left.
    double curvature = 0.0;
    bool isolated = true;  ///< the restricted stiffness is regular
    bool strict = true;    ///< every contact that touches has λ > 0 (strict complementarity)

    /// A minimum of the potential as far as `curvature` decides.
    bool minimum() const { return found && !(curvature <= 0.0); }
};

/// The equilibrium to which a descent of the potential leads from a position. If the forces have no potential then it
/// is the one that full Newton steps find.
Rest find_rest(Statics& statics, std::span<const double> from);

/// Newton's method for the equations with the contacts of `closed` touching. The signs of λ and of the gaps are tested
/// by the residual only.
Rest polish_rest(Statics& statics, std::span<const double> q, const Vector& lambda, const std::vector<int>& closed);

/// A solution in the admissible region with the contacts of `closed` touching. Rigid contacts may have forces of any
/// sign; springs must not pull.
Rest stationary_rest(Statics& statics, std::span<const double> q, const std::vector<int>& closed);

/// How an equilibrium changes with a parameter.
struct RestDerivative {
    Vector q, lambda;  ///< dq/dp and dλ/dp
};
/// The derivative of an equilibrium by one independent parameter, while the same contacts push. Nothing if the
/// equations are singular or a contact touches without a force.
std::optional<RestDerivative> rest_derivative(Statics& statics, const Rest& rest, int parameter_column);

}  // namespace saltus::control
