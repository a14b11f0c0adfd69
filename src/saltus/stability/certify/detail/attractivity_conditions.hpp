// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "saltus/proof/certificate.hpp"
#include "saltus/stability/certify/detail/level_set.hpp"

namespace saltus::stability {

/// What the conditions are asked of: the model over the admissible positions with Q <= `cap` in `domain`.
struct Ground {
    const proof::AdmissibleSet& set;
    const Rest& rest;
    const RestBox& box;
    proof::Box domain;
    double cap;      ///< level of the positions
    double kinetic;  ///< bound of T there
    long budget;

    const proof::Enclosure& enclosure() const { return set.enclosure(); }
    const model::Model& model() const { return set.enclosure().model(); }
};

/// Condition 1: T = ½uᵀM(q)u with M > 0, and nothing of the kinematics depends on time or moves by itself.
proof::Condition kinetic_condition(const Ground& ground);

/// Condition 3: D^nc >= 0, f^nc(q, 0) = 0.
proof::Condition dissipation_condition(const Ground& ground);

/// Condition 5: no velocity but 0 without dissipation where all gaps of I_C are closed and stay so. Without contacts
/// condition 4 of Corollary 3.
proof::Condition kernel_condition(const Ground& ground, const std::vector<int>& I_C);

/// Conditions 6 and 7.
proof::Condition restitution_condition(const Ground& ground);
proof::Condition impact_condition(const Ground& ground);

/// A state where a gap of I_C does not close, if one can be shown near the position where the search for it ended.
proof::Witness opening_witness(const Ground& ground, const std::vector<int>& I_C, const Vector& near);

/// A state just before a collision of one contact, others left aside: its gap is closed, as near the equilibrium as
/// Newton's method finds it, and closes with the speed 1.
proof::Witness collision_witness(const Ground& ground, std::size_t contact);

/// A time at which a contact, constraint or slider moves although the coordinates rest at the equilibrium; and one at
/// which the forces there, beside it or at a velocity, or coefficients of friction are not those of t = 0. Empty: none
/// among the times looked at.
proof::Witness moving_witness(const Ground& ground);
proof::Witness changing_witness(const Ground& ground);

/// "x = 1, y = 2".
std::string position_text(const model::Model& model, const Vector& q);
std::string boxes_text(long count);  ///< "1 box", "2 boxes"
std::string number(double x);        ///< for sentences: 6 digits

}  // namespace saltus::stability
