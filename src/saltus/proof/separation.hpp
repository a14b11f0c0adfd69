// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "saltus/base/linalg.hpp"
#include "saltus/proof/enclosure.hpp"

namespace saltus::proof {

/// A convex body of friction forces, symmetric about 0: the sum of balls, each spanned by the vectors of one group,
/// which carry their bounds already. Its support function at d is Σ ‖(v·d)_v‖ over the groups.
struct Friction {
    std::vector<std::vector<IntervalVector>> groups;
};

/// All forces normal·N + friction·N with N >= 0.
struct ForceCone {
    IntervalVector normal;
    Friction friction;
};

/// Forces that may act, each known up to its intervals: one load out of `loads`, any friction of `sliders`, and any of
/// the cones'.
///
/// Where the load depends on a position whose interval is wide, its components belong together: load(q) = load(c) + J(q
/// − c) with J in `slope` and q − c in `step`, from which bounds of load·d follow that see d·J.
struct LoadSlope {
    IntervalVector at_centre;
    IntervalMatrix slope;  ///< one row a component of the load
    std::vector<Interval> step;
};
struct ForceSet {
    std::vector<IntervalVector> loads;
    std::optional<LoadSlope> slope = {};  ///< of the only load
    std::vector<Friction> sliders;
    std::vector<ForceCone> cones;
};

/// Upper bounds over all values in the intervals.
double support(const Friction& body, const Vector& d);
double largest(const IntervalVector& v, const Vector& d);

/// The d proves that no load is balanced by the other forces: load·d < 0 together with the sliders', and < 0 along
/// every cone.
bool separates(const ForceSet& forces, const Vector& d);

/// Such a d with ‖d‖_∞ <= 1, found by a linear program over the ends of the intervals and then checked; the components
/// in `nonnegative` are >= 0. Nothing where none was found.
std::optional<Vector> separate(const ForceSet& forces, const std::vector<bool>& nonnegative = {});

/// The same before the check of the loads, for those who check them otherwise.
std::optional<Vector> propose_separation(const ForceSet& forces, const std::vector<bool>& nonnegative = {});

/// Every vector replaced by its products with the columns of T: forces as seen by the directions T y.
ForceSet reduce(const ForceSet& forces, const IntervalMatrix& T);

}  // namespace saltus::proof
