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

/// A contact that is closed at q_e, and a number α >= 0 for it (support.force): ∇V(x_e) = α ∇g_N(q_e) exactly. Then
/// L = V − α g_N has ∇L(x_e) = 0, and V >= L at admissible states. No contact: α = 0.
struct Support {
    int gap = -1;  ///< position row; −1: no contact
    proof::Interval force = 0.0;
};

/// What is proved about V and V̇ around an equilibrium point x_e = (q_e, 0). x_e must be a point with ∇V(x_e) = 0.
/// Without contacts, constraints, sliders and clutches V̇(x_e) = 0 and ∇V̇(x_e) = 0, and in a box B around x_e, with d =
/// x − x_e and the Hessians at points between x_e and x (Taylor's formula),
///     V(x) − V(x_e) = ½ dᵀ∇²V d,      V̇(x) = ½ dᵀ∇²V̇ d.
///
/// With such elements the second formula is used for the part S of V̇ (state_function.hpp), and the forces of the
/// elements are treated by element_powers.hpp. If h(q_e, 0) ≠ 0, it is used by the velocities only: S(q, u) = ½ uᵀ∇²_uu
/// S u for S(q, 0) = 0, ∂S/∂u(q, 0) = 0. A contact that is closed at q_e may support it (Support).
struct StateProof {
    double radius = 0.0;    ///< B = x_e ± radius · scale; 0: nothing is proved; +∞: the whole space
    proof::Box box;         ///< B
    bool positive = false;  ///< V > V(x_e) in B except at x_e: ∇²V is positive definite
    bool strict = false;    ///< ±V̇ > 0 in B except at x_e: the Hessian of V̇ is definite
    /// ±V̇ > 0 in B for u ≠ 0, V̇ = 0 for u = 0, and q_e is the only equilibrium in B: the Hessian of V̇ by u is definite,
    /// V̇ and ∂V̇/∂u vanish for u = 0, and ∂h/∂q is regular. Then no motion stays where V̇ = 0, except at x_e.
    bool except_rest = false;
    /// Models with elements: ±V̇ >= 0 in B for all forces of the elements, and only states with u = 0 keep V: the
    /// Hessian by the velocities of S is definite, and what it does not see is seen by sliders and constraints.
    bool dissipative = false;
    double level = 0.0;  ///< V >= V(x_e) + level on the boundary of B, if positive
    long boxes = 0;      ///< examined boxes
};

struct StateProofRequest {
    proof::Box equilibrium;     ///< contains x_e
    std::vector<double> scale;  ///< of each state: B has the half widths radius · scale
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

/// Proves that d·∇²V(x) d > 0 over the box for one direction d, so that V > V(x_e) somewhere next to x_e.
bool rises_somewhere(const StateFunction& V, const proof::Box& equilibrium);

}  // namespace saltus::stability
