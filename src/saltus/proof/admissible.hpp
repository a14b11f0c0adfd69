// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "saltus/proof/enclosure.hpp"

namespace saltus::proof {

/// Shrinks the box around its points x with f(x) ∈ range, for a function f with f(c) ∈ value and all partial
/// derivatives over the box in `slope`. No such point is lost. False: the box has no such point.
bool contract(Box& box, const std::vector<double>& c, const Interval& value, const IntervalVector& slope,
              const Interval& range);

/// The admissible positions { g = 0, g_N >= 0 } of a model, with the level Q = U − U_e of their potential energy.
class AdmissibleSet {
public:
    /// `U_e`: bounds of the potential energy at the reference position. The enclosure must outlive the set.
    /// `stop`: searches over the set end as if their budget were used up once it returns true; empty: never.
    AdmissibleSet(const Enclosure& enclosure, const Interval& U_e, std::function<bool()> stop = {})
        : enclosure_(enclosure), U_e_(U_e), stop_(std::move(stop)) {}

    const Enclosure& enclosure() const { return enclosure_; }
    const Interval& reference() const { return U_e_; }
    bool stopped() const { return stop_ && stop_(); }

    /// Bounds of Q over a box of positions. Constraints and gaps are not considered.
    Interval level(const Box& q) const;

    /// Shrinks the box around its admissible points with Q <= cap at which the gaps in `closed` (position rows) are
    /// zero. No such point is lost. False: the box has no such point.
    bool contract(Box& q, const std::vector<int>& closed, double cap) const;

    /// The position rows of the gaps that may be zero somewhere in the box.
    std::vector<int> may_close(const Box& q) const;

private:
    bool excluded(const Box& q, const std::vector<int>& closed, double cap) const;
    bool contract_once(Box& q, const std::vector<int>& closed, double cap) const;
    bool contract_equalities(Box& q, const std::vector<double>& c, const IntervalVector& values,
                             const IntervalMatrix& rows, const std::vector<int>& equal) const;

    const Enclosure& enclosure_;
    Interval U_e_;
    std::function<bool()> stop_;
};

/// A basis of the directions along constraints with the Jacobian G: an n × (n − rows) matrix. For every matrix in G
/// it contains a basis T with G T = 0. Without constraints it is the identity. std::nullopt if it is not proved that
/// the rows of G are independent over the whole box.
std::optional<IntervalMatrix> tangents(const IntervalMatrix& G, int n);

}  // namespace saltus::proof
