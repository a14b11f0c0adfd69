// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <complex>
#include <optional>
#include <string>
#include <vector>

#include "saltus/proof/laws.hpp"

namespace saltus::stability {

/// M u̇ + C u + K(q − q_e) = Σ W_i λ_i with friction |λ_i| <= F_i, all constant. [Leine] (95)
struct LinearSystem {
    proof::IntervalMatrix M, C, K;
    proof::IntervalMatrix W;  ///< slip rows, one group of 1 or 2 a slider
    std::vector<std::vector<int>> groups;
    std::vector<proof::Interval> F;  ///< one a group
};

/// The model as one, where it is: sliders alone, all its functions affine.
std::optional<LinearSystem> linear_system(const proof::Enclosure& enclosure);

/// M, C and friction of sliders over a box of positions, for `friction_level`; nothing where damping is not linear.
std::optional<LinearSystem> sliding_system(const proof::Enclosure& enclosure, const proof::Box& q);

/// Eigenvalues of the system without friction, real parts ascending.
std::vector<std::complex<double>> eigenvalues(const LinearSystem& system);

/// What keeps the equilibrium without friction from being asymptotically stable, and what follows for the equilibrium
/// set with friction. [Leine] end of 6.2
enum class LinearClass {
    globally_attractive,  ///< K > 0 and C >= 0, dissipation everywhere
    locally_attractive,   ///< K > 0, C brings energy in, but friction takes more from slow motions
    unstable,             ///< K has a negative eigenvalue
    undecided,
};
const char* to_string(LinearClass kind);

struct LinearClassification {
    LinearClass kind = LinearClass::undecided;
    double stiffness = 0.0;  ///< smallest eigenvalue of K relative to M
    double damping = 0.0;    ///< of the symmetric part of C
    Vector stiffness_direction, damping_direction;
    double friction_level = 0.0;  ///< below it in T friction takes more than damping brings; +∞: damping brings nothing
    bool proved = false;
    std::string text;
};
LinearClassification classify(const LinearSystem& system, long budget);

/// Lower bound of inf { T(u) : Σ F|W u| + uᵀCu <= 0, u ≠ 0 }; 0 where friction leaves out a velocity that is not
/// damped.
double friction_level(const LinearSystem& system, long budget);

/// Motions without dissipation have W u = 0 and S u = 0 for good, S the symmetric part of C >= 0. With u = T v, T the
/// kernel of W, v goes by (TᵀMT) v̈ + (TᵀKT) v = 0: there are none but rest where v is observed by S T. `lost` is a
/// velocity of such a motion otherwise; `proved` where it is shown for all matrices in the intervals.
struct LosslessModes {
    bool none = false, proved = false;
    Vector lost;
};
LosslessModes lossless_modes(const LinearSystem& system);

/// Max over the equilibrium set { q : K(q − q_e) = Σ W λ } of ∓½(q − q_e)ᵀK(q − q_e), by the faces of the box of
/// friction forces; planar sliders, K regular.
struct ExtremeEnergy {
    bool found = false;
    double value = 0.0;
    Vector q, force;  ///< q − q_e; λ
};
ExtremeEnergy largest_energy(const LinearSystem& system, double sign);

/// The end of the equilibrium set along an eigenvector of K, where the proof of Theorem 3 begins, and its −½qᵀKq.
struct EigenvectorEnd {
    double reach = 0.0, value = 0.0;
    Vector q;
};
EigenvectorEnd eigenvector_end(const LinearSystem& system);

}  // namespace saltus::stability
