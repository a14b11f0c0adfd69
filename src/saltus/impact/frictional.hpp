// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "saltus/impact/frictionless.hpp"
#include "saltus/solvers/problem.hpp"

namespace saltus::impact {

/// A collision with friction: M (u⁺ − u⁻) = Σ W_kΛ_k + P, each Λ_k in the cone of its law (normal row first), γ = Wᵀu +
/// χ.
struct FrictionalCollision {
    Matrix M;           ///< n × n, symmetric positive definite; its lower triangle is read
    Matrix directions;  ///< n × rows
    Vector chi;         ///< one a row; empty: nothing moves
    Vector u_minus, u_plus;
    Vector impulse;                  ///< P; empty: none
    std::vector<solvers::Law> laws;  ///< one a block of rows
    std::vector<int> sizes;          ///< rows of each block
    std::vector<std::string> names;  ///< of the blocks, for sentences; empty: "contact 1" and so on
};

enum class RowKind { normal, tangential, bilateral };
RowKind row_kind(const solvers::Law& law, int row_of_block);

bool has_normal(const solvers::Law& law);    ///< a contact, neither bilateral nor a slider
bool has_friction(const solvers::Law& law);  ///< that can act
bool has_friction(const FrictionalCollision& collision);

std::string name_of(const FrictionalCollision& collision, std::size_t block);

/// γ(u), one number a row.
Vector relative_velocities(const FrictionalCollision& collision, const Vector& u);

/// Sizes that do not fit are a misuse.
void expect_consistent_sizes(const FrictionalCollision& collision);

/// The normal and bilateral rows alone, as a collision without friction.
struct NormalPart {
    FrictionlessCollision collision;
    std::vector<Eigen::Index> rows;  ///< of the columns
};
NormalPart normal_part(const FrictionalCollision& collision);

/// function(block, its first row)
template <class Function>
void each_block(const FrictionalCollision& collision, Function function) {
    Eigen::Index row = 0;
    for (std::size_t k = 0; k < collision.laws.size(); ++k) {
        function(k, row);
        row += collision.sizes[k];
    }
}

}  // namespace saltus::impact
