// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "saltus/proof/enclosure.hpp"

namespace saltus::proof {

/// Points x of a box with value + Σ slope_k (x_k − c_k) ∈ range, for a function with that value at c and slopes in that
/// box: shrinks the box around them. False: there are none.
bool contract(Box& box, const std::vector<double>& c, const Interval& value, const IntervalVector& slope,
              const Interval& range);

/// Positions that constraints and gaps allow, by the level Q = U − U_e of their potential energy.
class AdmissibleSet {
public:
    AdmissibleSet(const Enclosure& enclosure, const Interval& U_e) : enclosure_(enclosure), U_e_(U_e) {}

    const Enclosure& enclosure() const { return enclosure_; }
    const Interval& reference() const { return U_e_; }

    /// Bounds of Q over a box.
    Interval level(const Box& q) const;

    /// Shrinks the box around its admissible points with Q <= cap at which the gaps in `closed` (position rows) are
    /// zero. False: there are none.
    bool contract(Box& q, const std::vector<int>& closed, double cap) const;

    /// Gaps that may be zero somewhere in the box: position rows.
    std::vector<int> may_close(const Box& q) const;

private:
    bool excluded(const Box& q, const std::vector<int>& closed, double cap) const;
    bool contract_once(Box& q, const std::vector<int>& closed, double cap) const;
    bool contract_equalities(Box& q, const std::vector<double>& c, const IntervalVector& values,
                             const IntervalMatrix& rows, const std::vector<int>& equal) const;

    const Enclosure& enclosure_;
    Interval U_e_;
};

/// Directions along the constraints: n × (n − rank) with G T = 0 for every position in the box, each by its own value
/// in the intervals; the identity without constraints. Nothing where the rank of G is not the same everywhere.
std::optional<IntervalMatrix> tangents(const IntervalMatrix& G, int n);

}  // namespace saltus::proof
