// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "saltus/impact/frictionless.hpp"
#include "saltus/solvers/problem.hpp"

namespace saltus::impact {

/// A collision with friction to be judged: u⁻ and u⁺ are given.
///     M (u⁺ − u⁻) = Σ W_k Λ_k + P,   Λ_k ∈ K_k,   γ = Wᵀu + χ
/// K_k is the friction cone of block k; its first row is the normal one.
struct FrictionalCollision {
    Matrix M;                        ///< n × n, symmetric positive definite; only the lower triangle is read
    Matrix directions;               ///< W, n × rows
    Vector chi;                      ///< χ, one per row; empty means 0
    Vector u_minus, u_plus;          ///< velocities before and after, n numbers each
    Vector impulse;                  ///< P, an external impulse at the same time; empty means 0
    std::vector<solvers::Law> laws;  ///< one per block of rows
    std::vector<int> sizes;          ///< number of rows of each block
    std::vector<std::string> names;  ///< names of the blocks, for sentences; empty: "contact 1" and so on
};

/// What a row of a block is. Rows of sliders are tangential.
enum class RowKind { normal, tangential, bilateral };
RowKind row_kind(const solvers::Law& law, int row_of_block);

bool has_normal(const solvers::Law& law);                 ///< a contact: neither a bilateral row nor a slider
bool has_friction(const solvers::Law& law);               ///< friction that can act: a coefficient or bound is positive
bool has_friction(const FrictionalCollision& collision);  ///< some block has friction that can act

std::string name_of(const FrictionalCollision& collision, std::size_t block);

/// γ(u) = Wᵀu + χ, one number per row.
Vector relative_velocities(const FrictionalCollision& collision, const Vector& u);

/// Precondition of the functions below: sizes that do not fit are a programming error (see SALTUS_EXPECT).
void expect_consistent_sizes(const FrictionalCollision& collision);

/// The normal and bilateral rows of a collision, as a collision without friction.
struct NormalPart {
    FrictionlessCollision collision;
    std::vector<Eigen::Index> rows;  ///< row of the frictional collision that each column comes from
};
NormalPart normal_part(const FrictionalCollision& collision);

/// Calls function(block, first row of the block) for every block.
template <class Function>
void each_block(const FrictionalCollision& collision, Function function) {
    Eigen::Index row = 0;
    for (std::size_t k = 0; k < collision.laws.size(); ++k) {
        function(k, row);
        row += collision.sizes[k];
    }
}

}  // namespace saltus::impact
