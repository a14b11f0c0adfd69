// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "saltus/proof/enclosure.hpp"
#include "saltus/stability/certify/detail/functions/state_function.hpp"

namespace saltus::stability {

/// The direction in which V must change along motions.
enum class Course { falls, grows };

/// What is proved about V and V̇ around an equilibrium point x_e = (q_e, 0) of a model without contacts, constraints,
/// sliders and clutches. x_e must be a point with ∇V(x_e) = 0. Then V̇(x_e) = 0 and ∇V̇(x_e) = 0, and in a box B around
/// x_e, with d = x − x_e and the Hessians at points between x_e and x (Taylor's formula),
///     V(x) − V(x_e) = ½ dᵀ∇²V d,      V̇(x) = ½ dᵀ∇²V̇ d.
struct StateProof {
    double radius = 0.0;    ///< B = x_e ± radius · scale; 0: nothing is proved; +∞: the whole space
    proof::Box box;         ///< B
    bool positive = false;  ///< V > V(x_e) in B except at x_e: ∇²V is positive definite
    bool strict = false;    ///< ±V̇ > 0 in B except at x_e: the Hessian of V̇ is definite
    /// ±V̇ > 0 in B for u ≠ 0, V̇ = 0 for u = 0, and q_e is the only equilibrium in B: the Hessian of V̇ by u is definite,
    /// V̇ and ∂V̇/∂u vanish for u = 0, and ∂h/∂q is regular. Then no motion stays where V̇ = 0, except at x_e.
    bool except_rest = false;
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
};

/// The largest box B, up to a few percent, in which V̇ has the requested sign (and V is positive definite), and which
/// lies in the region of the model file. V must have a rate (StateFunction::has_rate).
StateProof prove_around(const StateFunction& V, const proof::Enclosure& enclosure, const StateProofRequest& request);

/// Proves that d·∇²V(x) d > 0 over the box for one direction d, so that V > V(x_e) somewhere next to x_e.
bool rises_somewhere(const StateFunction& V, const proof::Box& equilibrium);

}  // namespace saltus::stability
