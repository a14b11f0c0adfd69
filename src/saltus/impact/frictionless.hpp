// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "saltus/base/linalg.hpp"

namespace saltus::impact {

/// A collision without friction to be judged, with all closed contacts at once: [Glocker] 5
///     M (u⁺ − u⁻) = Σ w_i Λ_i + P,   Λ_i >= 0,      γ_i(u) = w_iᵀu + χ_i,   γ_i(u⁺) >= 0.
/// u⁺ is the velocity that is judged. Functions that ask which u⁺ are possible do not read it.
struct FrictionlessCollision {
    Matrix M;                        ///< n × n, symmetric positive definite; only the lower triangle is read
    Matrix directions;               ///< columns w_i: contacts, then bilateral constraints
    Vector chi;                      ///< χ, one per column; empty means 0
    Vector u_minus, u_plus;          ///< velocities before and after, n numbers each
    Vector impulse;                  ///< P, an external impulse at the same time; empty means 0
    int bilateral = 0;               ///< number of bilateral columns, which are the last: γ = 0, Λ of either sign
    std::vector<std::string> names;  ///< names of the columns, for sentences; empty: "contact 1" and so on

    Eigen::Index contacts() const { return directions.cols() - bilateral; }
};

std::string name_of(const FrictionlessCollision& collision, Eigen::Index contact);

/// γ(u) = Wᵀu + χ, one number per column.
Vector relative_velocities(const FrictionlessCollision& collision, const Vector& u);

/// Which velocities of a collision a function reads.
enum class Reads { u_minus, u_minus_and_u_plus };

/// Precondition: sizes that do not fit are a programming error (see SALTUS_EXPECT).
void expect_consistent_sizes(const FrictionlessCollision& collision, Reads reads);

}  // namespace saltus::impact
