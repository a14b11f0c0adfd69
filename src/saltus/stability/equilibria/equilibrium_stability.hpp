// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <complex>
#include <optional>
#include <string_view>
#include <vector>

#include "saltus/base/linalg.hpp"

namespace saltus::stability {

class RestingModel;

/// What the linearised motion says about an equilibrium without friction. The closed contacts carry forces and stay
/// closed.
enum class LocalVerdict {
    asymptotically_stable,  ///< small motions die out
    stable,                 ///< U has a strict minimum among the admissible positions, and no force feeds the motion
    unstable,               ///< an eigenvalue has a positive real part
    undecided,              ///< the linearised motion does not decide, or it is not known well enough
};
std::string_view to_string(LocalVerdict verdict);

/// The motion near an equilibrium q_e, M ÿ + C ẏ + K y = 0 along the directions y that keep constraints and closed
/// contacts closed, with C = −∂h/∂u and K = −∂(h + Wλ)/∂q.
struct LocalStability {
    std::vector<std::complex<double>> eigenvalues;  ///< of the linearised motion, in 1/s, largest real part first
    LocalVerdict verdict = LocalVerdict::undecided;
    /// Number of negative eigenvalues of K: the directions along which U decreases. −1 if K is not symmetric,
    /// or if an eigenvalue of K may be zero within the accuracy of the position.
    int morse_index = -1;
    Vector stiffness;  ///< eigenvalues of K x = ω² M x in 1/s², ascending; empty if K is not symmetric
    Matrix modes;      ///< the eigenvectors x by columns, as displacements of the coordinates, xᵀMx = 1
};

/// The local stability of the equilibrium q with the given contacts closed. `dimension` is the dimension of the smooth
/// set of equilibria that q belongs to; 0 for an isolated point. Nothing if friction can act at q, if a closed contact
/// carries no force, or if the system gives no derivatives: then the motion near q is not smooth.
std::optional<LocalStability> local_stability(RestingModel& model, const std::vector<char>& closed, const Vector& q,
                                              int dimension);

}  // namespace saltus::stability
