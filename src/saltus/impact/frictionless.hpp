// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "saltus/base/linalg.hpp"

namespace saltus::impact {

/// A collision without friction, all closed contacts at once: [Glocker] 5
///     M (u⁺ − u⁻) = Σ w_i Λ_i + P,   Λ_i >= 0,      γ_i(u) = w_iᵀu + χ_i,   γ_i(u⁺) >= 0.
/// u⁺ is what is judged; what only asks which u⁺ are possible does not read it.
struct FrictionlessCollision {
    Matrix M;                        ///< n × n, symmetric positive definite; its lower triangle is read
    Matrix directions;               ///< n × contacts, the columns w_i
    Vector chi;                      ///< χ, one a contact; empty: nothing moves
    Vector u_minus, u_plus;          ///< n numbers each
    Vector impulse;                  ///< P, an impulse from outside; empty: none
    int bilateral = 0;               ///< how many of the last columns are bilateral: γ = 0, Λ of either sign
    std::vector<std::string> names;  ///< of the columns, for sentences; empty: "contact 1" and so on

    Eigen::Index contacts() const { return directions.cols() - bilateral; }
};

std::string name_of(const FrictionlessCollision& collision, Eigen::Index contact);

/// γ(u), one number a column.
Vector relative_velocities(const FrictionlessCollision& collision, const Vector& u);

/// u⁺ − u⁻ is a misuse where the sizes do not fit.
void expect_consistent_sizes(const FrictionlessCollision& collision, bool with_u_plus);

}  // namespace saltus::impact
