// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "saltus/proof/cover.hpp"
#include "saltus/stability/certify/detail/gap_accelerations.hpp"
#include "saltus/stability/certify/detail/static_forces.hpp"
#include "saltus/stability/certify/detail/stationary_point.hpp"

namespace saltus::stability {

/// The tests of one box of positions that level searches use. Each returns what is proved about all admissible points
/// of the box with Q <= cap.
///
/// A test goes through all subsets of the gaps that may close in the box. For each subset the box is contracted to the
/// points at which these gaps are zero.
class PositionTests {
public:
    /// `set`, `equilibrium` must outlive the object. `box`: the proved box of the equilibrium.
    PositionTests(const proof::AdmissibleSet& set, const StationaryPoint& equilibrium, const StationaryBox& box);

    const std::vector<double>& scale() const { return equilibrium_.scale; }
    const proof::AdmissibleSet& set() const { return set_; }

    /// Condition 2: the box has no point with 0 ∈ ∂Q(q), except q_e itself.
    proof::BoxTest no_stationary_point(const proof::Box& q, double cap) const;
    /// Condition 4: every open gap of I_C has a negative acceleration, for every combination of closed gaps, all
    /// forces that the laws allow, and all velocities of kinetic energy at most `kinetic`. BoxTest::failed_item is the
    /// position row of the gap that may stay open.
    proof::BoxTest gaps_close(const proof::Box& q, double cap, const std::vector<int>& I_C, double kinetic) const;
    /// The box lies in the region of the model file. Regions that depend on velocities are ignored.
    proof::BoxTest in_region(const proof::Box& q) const;

private:
    proof::BoxTest too_many_gaps(const proof::Box& q) const;
    bool only_equilibrium(const proof::Box& q, const std::vector<int>& closed) const;
    std::vector<int> with_constraints(const std::vector<int>& closed) const;
    const StationaryBox* support_among(const proof::Box& q, const std::vector<int>& rows) const;
    bool qualified(const proof::Box& q) const;

    const proof::AdmissibleSet& set_;
    const proof::Enclosure& enclosure_;
    const StationaryPoint& equilibrium_;
    std::vector<StationaryBox> supports_;  // the equilibrium, enclosed with every set of rows that determines it
    std::vector<int> frictional_;          // constraints with friction
};

}  // namespace saltus::stability
