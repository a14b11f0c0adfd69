// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "saltus/stability/equilibria/detail/equilibrium_affine.hpp"
#include "saltus/stability/equilibria/equilibrium_set.hpp"

namespace saltus::stability {

/// The equilibrium sets in a plane q = origin + N s on which the statics are affine. For each choice of signs of the
/// reactions with friction the set { s : h₀ + H s + Wλ = 0, gaps >= 0, λ allowed } is the projection of a convex set:
/// a polytope with planar friction. Parts that meet are one set. Linear programs give the extents.
class AffineSets {
public:
    /// Finds and describes all sets. The arguments must outlive this object.
    AffineSets(RestingModel& model, const std::vector<char>& closed, const AffineRest& plane);

    /// False if the gap of an open contact is not affine along the plane and could not be proved to stay positive, or
    /// if there are too many choices of signs. The sets must then not be used.
    bool exact() const { return exact_; }
    const std::vector<EquilibriumSet>& sets() const { return sets_; }

    struct Somewhere {
        std::optional<Vector> q;  ///< nothing: no equilibrium was found
        bool decided = true;      ///< false: there are too many choices of signs to examine all of them
    };
    /// An equilibrium position in the plane whose smallest gap is as large as possible.
    static Somewhere somewhere(RestingModel& model, const std::vector<char>& closed, const AffineRest& plane);

private:
    using Signs = std::vector<int>;  ///< σ of each element, as ForceProgram::sign

    AffineSets(RestingModel& model, const std::vector<char>& closed, const AffineRest& plane, Signs only);
    /// The program over (s, λ) with these signs.
    ForceProgram program(const Signs& sign) const;
    /// A feasible s, if there is one.
    std::optional<Vector> feasible_point(const Signs& sign) const;
    /// Whether the parts of two choices of signs have a common s.
    bool meet(const Signs& a, const Signs& b) const;
    /// Appends all feasible choices of the signs from this element on to feasible_. Clears exact_ if there are too
    /// many.
    void enumerate(Signs& sign, std::size_t from);
    /// Describes the union of the parts as one set and adds it.
    void describe(const std::vector<Signs>& parts);
    /// Sets `lower`, `upper` and `boundary`. Returns the mean of the extreme points, in s.
    Vector find_extent(const std::vector<Signs>& parts, EquilibriumSet& set) const;
    /// Sets `dimension` and `shape`, and puts `boundary` in order.
    void classify(const std::vector<Signs>& parts, EquilibriumSet& set) const;
    /// The s of the parts with the least cost; nothing if the cost is unbounded below.
    std::optional<Vector> extreme(const std::vector<Signs>& parts, const Vector& cost) const;
    /// The vertices of a set of two dimensions in order; leaves `boundary` as it is if the set is unbounded.
    void outline(const std::vector<Signs>& parts, EquilibriumSet& set) const;
    /// An s that needs no friction, if there is one.
    std::optional<Vector> frictionless() const;
    /// Proves by interval arithmetic that the gap is positive over the extent of the set.
    bool stays_open(const EquilibriumSet& set, const AffineRest::Gap& gap) const;
    Vector position(const Vector& s) const { return plane_.origin + plane_.N * s; }

    RestingModel& model_;
    const std::vector<char>& closed_;
    const AffineRest& plane_;
    double size_ = 1.0;  ///< typical size of the forces: Statics::size, or 1 if that is 0
    std::vector<Signs> feasible_;
    std::vector<EquilibriumSet> sets_;
    bool exact_ = true;
};

}  // namespace saltus::stability
