// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <complex>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "saltus/proof/laws.hpp"

namespace saltus::stability {

/// A linear mechanical system with Coulomb friction of sliders, M u̇ + C u + K(q − q_e) = Σ W_i λ_i with |λ_i| <= F_i.
/// All data are constant. [Leine] (95)
struct LinearSystem {
    proof::IntervalMatrix M, C, K;
    bool symmetric_damping = false;        ///< C is proved to be symmetric: there are no gyroscopic forces
    proof::IntervalMatrix W;               ///< slip rows (Wᵀ in the notation of the docs)
    std::vector<std::vector<int>> groups;  ///< for each slider its rows of W, one or two
    std::vector<proof::Interval> F;        ///< for each slider the largest friction force, μ F_N
};

/// The model as a linear system. std::nullopt if it is none: it must have sliders only, with Coulomb friction, and the
/// expressions must be proved to be affine.
std::optional<LinearSystem> linear_system(const proof::Enclosure& enclosure);

/// Bounds of M, C, W and F over a box of positions, for `friction_level`; K is empty. std::nullopt if the model depends
/// on time, if the damping is not linear in u, or if it has elements other than sliders with Coulomb friction.
std::optional<LinearSystem> sliding_system(const proof::Enclosure& enclosure, const proof::Box& q);

/// The eigenvalues of the system without friction, by ascending real part, then imaginary part.
std::vector<std::complex<double>> eigenvalues(const LinearSystem& system);

/// The stability of the equilibrium set, by the reason why the equilibrium without friction is stable or not. [Leine]
/// end of 6.2
enum class LinearClass {
    globally_attractive,  ///< K > 0 and C + Cᵀ >= 0, and no motion goes without dissipation
    locally_attractive,   ///< K > 0 and C + Cᵀ has a negative eigenvalue, but friction takes more from slow motions
    unstable,             ///< K has a negative eigenvalue
    undecided,
};
const char* to_string(LinearClass kind);

struct LinearClassification {
    LinearClass kind = LinearClass::undecided;
    double stiffness = 0.0;                         ///< smallest eigenvalue of K relative to M
    double damping = 0.0;                           ///< smallest eigenvalue of (C + Cᵀ)/2 relative to M
    Vector stiffness_direction, damping_direction;  ///< unit eigenvectors of these eigenvalues
    double friction_level = 0.0;                    ///< result of friction_level(); +∞: damping supplies no energy
    bool proved = false;
    std::string text;  ///< the reason of `kind`, in words
};
/// `budget`: largest number of boxes of the search for the friction level.
LinearClassification classify(const LinearSystem& system, long budget);

/// Proved lower bound of inf { T(u) : Σ F|W u| + uᵀCu <= 0, u ≠ 0 }: below this kinetic energy friction takes more
/// power than damping supplies. 0 if friction does not act on some velocity that is not damped; +∞ if damping supplies
/// no energy.
double friction_level(const LinearSystem& system, long budget);

/// Motions without dissipation of a system with C + Cᵀ >= 0.
struct LosslessModes {
    bool none = false;    ///< only rest has no dissipation
    bool proved = false;  ///< `none` is proved for all matrices in the intervals
    Vector lost;          ///< if not `none`: a velocity of a motion without dissipation
};
LosslessModes lossless_modes(const LinearSystem& system);

/// The sign of the energy in `largest_energy`.
enum class EnergySign {
    positive,  ///< V = +½(q − q_e)ᵀK(q − q_e), for attractivity
    negative,  ///< V = −½(q − q_e)ᵀK(q − q_e), for instability
};

/// The maximum of V over the equilibrium set { q : K(q − q_e) = Σ W λ, |λ_i| <= F_i }. Not found if K is singular, if
/// there are no sliders or too many, or if a slider is spatial.
struct ExtremeEnergy {
    bool found = false;
    double value = 0.0;
    double bound = std::numeric_limits<double>::infinity();  ///< proved upper bound of V on the set
    Vector q;                                                ///< q − q_e
    Vector force;                                            ///< λ
};
ExtremeEnergy largest_energy(const LinearSystem& system, EnergySign sign);

/// The end of the equilibrium set along the eigenvector of the smallest eigenvalue of K. The proof of [Leine] Theorem 3
/// starts there.
struct EigenvectorEnd {
    double reach = 0.0;  ///< distance from q_e; 0: the sliders do not span K times the eigenvector
    double value = 0.0;  ///< −½qᵀKq at this end
    Vector q;            ///< q − q_e
};
EigenvectorEnd eigenvector_end(const LinearSystem& system);

}  // namespace saltus::stability
