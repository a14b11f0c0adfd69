// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "saltus/stability/equilibria/detail/equilibrium_affine.hpp"
#include "saltus/stability/equilibria/equilibrium_set.hpp"

namespace saltus::stability {

/// The equilibria in a plane on which the statics are affine: a polytope, or with spatial friction a convex set, for
/// each choice of signs of reactions with friction; those that meet are one set. Linear programs give the extents.
class AffineSets {
public:
    AffineSets(RestingModel& model, const std::vector<char>& closed, const AffineRest& plane);

    /// False: some gap is not affine along the plane and was not shown to stay open.
    bool exact() const { return exact_; }
    const std::vector<EquilibriumSet>& sets() const { return sets_; }

    /// A position of the plane that is an equilibrium with its gaps as open as may be; nothing when there is none.
    static std::optional<Vector> somewhere(RestingModel& model, const std::vector<char>& closed,
                                           const AffineRest& plane);

private:
    using Signs = std::vector<int>;

    AffineSets(RestingModel& model, const std::vector<char>& closed, const AffineRest& plane, Signs only);
    ForceProgram program(const Signs& sign) const;
    bool feasible(const Signs& sign, Vector* s = nullptr) const;
    bool meet(const Signs& a, const Signs& b) const;
    void enumerate(Signs& sign, std::size_t from);
    void describe(const std::vector<Signs>& parts);
    /// The point of the parts that is furthest against the cost; false when there is none: it goes on for ever.
    bool extreme(const std::vector<Signs>& parts, const Vector& cost, Vector& s) const;
    void outline(const std::vector<Signs>& parts, EquilibriumSet& set) const;
    bool frictionless(Vector& s) const;
    bool stays_open(const EquilibriumSet& set, const AffineRest::Gap& gap) const;
    Vector position(const Vector& s) const { return plane_.origin + plane_.N * s; }

    RestingModel& model_;
    const std::vector<char>& closed_;
    const AffineRest& plane_;
    double size_ = 1.0;
    std::vector<Signs> feasible_;
    std::vector<EquilibriumSet> sets_;
    bool exact_ = true;
};

}  // namespace saltus::stability
