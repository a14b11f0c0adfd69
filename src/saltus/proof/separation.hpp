// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "saltus/base/linalg.hpp"
#include "saltus/proof/enclosure.hpp"

namespace saltus::proof {

/// A convex set of friction forces that is symmetric about 0: the sum of balls. Each group spans one ball
/// { Σ x_v v : Σ x_v² <= 1 } by one or two vectors v, which already contain the bound of the force. The support
/// function of the set in the direction d is Σ_groups √(Σ_v (v·d)²).
struct Friction {
    std::vector<std::vector<IntervalVector>> groups;
};

/// The forces N (normal + f) with N >= 0 and f in `friction`.
struct ForceCone {
    IntervalVector normal;
    Friction friction;
};

/// A load that depends on the position: load(q) = at_centre + slope · (q − c) with q − c in `step`. The bounds of
/// load·d from (d·slope) are narrower than those from the components of the load, since the components depend on the
/// same q.
struct LoadSlope {
    IntervalVector at_centre;
    IntervalMatrix slope;        ///< one row for each component of the load
    std::vector<Interval> step;  ///< one interval for each coordinate
};

/// The forces that may act on a system at rest, each known up to its intervals: exactly one of the `loads`, any
/// friction force of `sliders`, and any force of the `cones`. The forces balance if their sum can be 0.
struct ForceSet {
    std::vector<IntervalVector> loads;
    std::optional<LoadSlope> slope = {};  ///< if given: the only load in this form too
    std::vector<Friction> sliders;
    std::vector<ForceCone> cones;
};

/// Upper bound of the support function in the direction d, for all values in the intervals.
double support(const Friction& body, const Vector& d);
/// Upper bound of v·d, for all values in the intervals.
double largest(const IntervalVector& v, const Vector& d);

/// Proves that d separates: load·d plus the support of the sliders is negative for every load, and normal·d plus the
/// support of the friction is negative for every cone. Then (load + other forces)·d < 0, so that the forces do not
/// balance.
bool separates(const ForceSet& forces, const Vector& d);

/// A direction d that separates, with ‖d‖_∞ <= 1 and d_k >= 0 for the components k with nonnegative[k]. It is proposed
/// by a linear program or by a search in the plane, and then checked by `separates`. std::nullopt: no direction was
/// found, which does not mean that the forces balance.
std::optional<Vector> separate(const ForceSet& forces, const std::vector<bool>& nonnegative = {});

/// The direction that `separate` would check. Its bounds of the cones are proved, its bounds of the loads are not. For
/// callers that check the loads in another way.
std::optional<Vector> propose_separation(const ForceSet& forces, const std::vector<bool>& nonnegative = {});

/// Replaces every force v by Tᵀv: the forces that do work along the directions T y. `slope` is dropped.
ForceSet reduce(const ForceSet& forces, const IntervalMatrix& T);

}  // namespace saltus::proof
