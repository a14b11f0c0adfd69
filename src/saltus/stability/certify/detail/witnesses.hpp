// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "saltus/stability/certify/detail/conditions.hpp"
#include "saltus/stability/certify/detail/level_set_equilibria.hpp"

namespace saltus::stability {

/// q_e and up to 64 pseudo-random positions around it: those of 64 in the scope's domain that have no negative gap and
/// Q <= cap. They are the same in every run. Witnesses of conditions that are not proved are searched there.
std::vector<std::vector<double>> sample_positions(const ConditionScope& scope);

/// Pseudo-random numbers in [0, 1), by a linear congruential generator. The same seed gives the same numbers on every
/// machine.
class SampleNumbers {
public:
    explicit SampleNumbers(unsigned seed) : state_(seed) {}
    double next() {
        state_ = state_ * 1664525U + 1013904223U;  // Numerical Recipes, "quick and dirty" generator
        return static_cast<double>(state_ >> 8U) / static_cast<double>(1U << 24U);
    }

private:
    unsigned state_;
};

/// For condition 4: a state at rest at the position `near` in which a gap of I_C has an acceleration >= 0 (to rounding)
/// with forces that the laws allow. Empty: none was found.
proof::Witness opening_witness(const ConditionScope& scope, const std::vector<int>& I_C, const Vector& near);

/// For condition 6: a state just before a collision of one contact. Its gap is closed, as near to the equilibrium as
/// Newton's method finds it, and closes with the speed 1. Other gaps are ignored.
proof::Witness collision_witness(const ConditionScope& scope, std::size_t contact);

/// For condition 8: a position of the equilibrium set of q_e with Q >= rho. The statics of the model confirm it, and
/// all positions of a path from q_e to it: positions of a neighbouring set do not count. The path follows the gaps that
/// are closed at both ends. Empty: none was found.
proof::Witness high_equilibrium(const ConditionScope& scope, const EquilibriumCover& cover, double rho);

/// For condition 1: a time at which a contact, constraint or slider moves although the coordinates rest at q_e. Empty:
/// none among the examined times.
proof::Witness moving_witness(const ConditionScope& scope);

/// For condition 3: a time at which the forces at q_e, beside it or at a velocity, or some coefficient of friction,
/// differ from those at t = 0. Empty: none among the examined times.
proof::Witness changing_witness(const ConditionScope& scope);

}  // namespace saltus::stability
