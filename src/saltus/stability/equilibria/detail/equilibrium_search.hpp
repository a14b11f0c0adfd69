// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <optional>

#include "saltus/stability/equilibria/detail/equilibrium_curve.hpp"
#include "saltus/stability/equilibria/equilibria.hpp"

namespace saltus::stability {

/// The search for the sets of one combination of closed contacts.
class CombinationSearch {
public:
    /// `neutral`: directions in which everything may be shifted.
    CombinationSearch(RestingModel& model, std::vector<char> closed, const std::vector<double>& periods,
                      const Matrix& neutral, std::function<bool()> interrupted);

    /// Where geometry and statics are affine all over, one program tells whether there is an equilibrium at all: true
    /// when it did, and nothing is left to be looked for.
    bool look_everywhere(Vector q, bool& possible);

    /// Looks from a position; adds the sets that it finds and did not know. False when the contacts could not even be
    /// closed from there.
    bool look_from(Vector q);

    /// What was found; regions that were not covered to their ends count as one, as they may be connected.
    std::vector<EquilibriumSet> sets() const;
    long programs() const { return manifold_.programs; }
    bool tired() const { return manifold_.tired(); }

private:
    bool known(const RestPoint& p);
    bool lift(RestPoint& p);
    void describe(RestPoint p);
    bool describe_exactly(const RestPoint& p, const Matrix& T);
    void describe_curve(const RestPoint& p);
    void describe_region(const RestPoint& seed, const Matrix& T);
    void describe_point(const RestPoint& p);
    void inwards(RestPoint& p, const Matrix& T);
    void finish(EquilibriumSet& set);
    SetLimit limit_at(const Vector& q);
    void canonical(EquilibriumSet& set) const;
    std::optional<Vector> frictionless_near(const EquilibriumSet& set);
    bool in_set(std::size_t k, const Vector& q);

    RestingModel& model_;
    RestingManifold manifold_;
    const std::vector<double>& periods_;
    std::vector<EquilibriumSet> sets_;
    std::vector<std::optional<Curve>> curves_;
    std::deque<Vector> more_;
};

/// q shifted by whole periods into (−P/2, P/2].
Vector first_copy(const std::vector<double>& periods, const Vector& q);

}  // namespace saltus::stability
