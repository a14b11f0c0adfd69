// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "saltus/solvers/complementarity/detail/bounded_form.hpp"

namespace saltus::solvers {

/// Whether y proves that no solution is in the given states. For every z and w = M z + q
///     yᵀq = Σ y_i w_i − Σ g_j z_j,   g = Mᵀy,
/// so there is none when the least that the right side can be in these states is more than yᵀq. For a linear
/// complementarity problem: yᵀq < 0, y_i >= 0 where z_i = 0 is allowed, g_i <= 0 where w_i = 0 is. Entries of g below
/// 1e-10 of their terms count as zero: they are zero for a matrix whose entries differ from M's by no more than 1e-10
/// of themselves.
bool excludes(const Box& box, std::span<const double> y, std::span<const char> states);

/// Whether the certificate, one or several y, each as long as q, one after the other, excludes every solution: each
/// combination of states is excluded by one of them. The cost grows with the number of combinations that must be told
/// apart.
bool excludes_all(const Box& box, std::span<const double> certificate);

}  // namespace saltus::solvers
