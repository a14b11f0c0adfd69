// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "saltus/proof/enclosure.hpp"
#include "saltus/stability/certify/detail/functions/state_function.hpp"

namespace saltus::stability {

class ElementPowers;
struct StationaryPoint;

/// The direction in which V must change along motions.
enum class Course { falls, grows };

/// Contacts that are closed at q_e, with a number α >= 0 for each (Load::force): ∇V(x_e) = Σ α ∇g_N(q_e) exactly. Then
/// L = V − Σ α g_N has ∇L(x_e) = 0, and V >= L at admissible states. No contacts: ∇V(x_e) = 0.
struct Support {
    struct Load {
        int gap;                ///< position row
        proof::Interval force;  ///< α
        /// The coordinate of which α is the quotient of the slopes of V and of the gap; −1: α is an exact number.
        int coordinate = -1;
    };
    std::vector<Load> loads;
    bool empty() const { return loads.empty(); }
};

/// What is proved about V and V̇ around an equilibrium point x_e = (q_e, 0). x_e must be a point with ∇V(x_e) = 0.
/// Without contacts, constraints, sliders and clutches V̇(x_e) = 0 and ∇V̇(x_e) = 0, and in a box B around x_e, with d =
/// x − x_e and the Hessians at points between x_e and x (Taylor's formula),
///     V(x) − V(x_e) = ½ dᵀ∇²V d,      V̇(x) = ½ dᵀ∇²V̇ d.
///
/// With such elements the second formula is used for the part S of V̇ (state_function.hpp), and the forces of the
/// elements are treated by element_powers.hpp.
///
/// S need not depend on all states. Let Z be those that it depends on. If S and its slopes by Z vanish at x_e, then
/// S = ½ zᵀ∇²_ZZ S z with z = (x − x_e)_Z. If Z consists of velocities, it is enough that S and its slopes vanish for
/// u = 0. Contacts that are closed at q_e may support V (Support).
struct StateProof {
    double radius = 0.0;    ///< B = x_e ± radius · scale; 0: nothing is proved; +∞: the whole space
    proof::Box box;         ///< B
    bool positive = false;  ///< V > V(x_e) at all admissible states of B except x_e
    bool strict = false;    ///< ±V̇ > 0 in B except at x_e: the Hessian of V̇ is definite
    /// No elements, ±V̇ > 0 in B unless the states Z are those of x_e, Z contains all velocities, and q_e is the only
    /// equilibrium in B: ∂h/∂q is regular. Then no motion stays where V̇ = 0, except at x_e.
    bool except_rest = false;
    /// Models with elements: ±V̇ >= 0 in B for all forces of the elements, and only states with u = 0 keep V: the
    /// Hessian of S by Z is definite, and velocities that it does not see are seen by sliders and constraints.
    bool dissipative = false;
    double level = 0.0;       ///< V >= V(x_e) + level on the boundary of B, if positive
    double gap_weight = 0.0;  ///< κ with which ∇²L + κ Σ ∇g_N ∇g_Nᵀ was shown positive definite (Support)
    long boxes = 0;           ///< examined boxes
};

struct StateProofRequest {
    proof::Box equilibrium;     ///< contains x_e
    std::vector<double> scale;  ///< scale of each state: B has the half widths radius · scale
    Course course = Course::falls;
    bool positive = true;  ///< whether V must be positive definite too
    long budget = 20'000;  ///< boxes of the whole search
    std::function<bool()> stop;
    // For models with elements:
    const ElementPowers* elements = nullptr;
    const StationaryPoint* point = nullptr;  ///< q_e
    Support support = {};
    bool force_free = false;  ///< h(q_e, 0) = 0 exactly, and no support is needed
};

/// The largest box B, up to a few percent, in which V̇ has the requested sign (and V is positive definite), and which
/// lies in the region of the model file. V must have a rate (StateFunction::has_rate), or
/// with elements a smooth rate.
StateProof prove_around(const StateFunction& V, const proof::Enclosure& enclosure, const StateProofRequest& request);

/// ∇²L over a box of states, L = V − Σ α g_N, plus κ Σ w wᵀ with the rows w of the gaps of the support.
proof::IntervalMatrix lifted_hessian(const StateFunction& V, const proof::Enclosure& enclosure, const Support& support,
                                     double kappa, const proof::Box& x);

/// Proves that d·∇²V(x) d > 0 over the box for one direction d, so that V > V(x_e) somewhere next to x_e.
bool rises_somewhere(const StateFunction& V, const proof::Box& equilibrium);

}  // namespace saltus::stability
