// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "saltus/solvers/complementarity/detail/bounded_form.hpp"

namespace saltus::solvers {

/// True if y proves that no solution has the given states (a set of states per unknown). For every z, w = M z + q gives
///     yᵀq = Σ y_i w_i − Σ g_j z_j,   g = Mᵀy.
/// There is no solution if the least value of the right side over the states is larger than yᵀq. For a linear
/// complementarity problem that means: yᵀq < 0, y_i >= 0 where z_i = 0 is allowed, g_i <= 0 where w_i = 0 is allowed.
/// Entries of g below 1e-10 of the sum of their terms count as zero. The proof then holds for a matrix whose entries
/// differ from those of M by at most 1e-10 of themselves.
bool excludes(const BoundedForm& form, std::span<const double> y, std::span<const char> states);

/// True if the certificate excludes every solution. It consists of one or several vectors y, each of the length of q,
/// concatenated; each combination of states must be excluded by one of them. The cost grows with the number of
/// combinations that must be distinguished.
bool excludes_all(const BoundedForm& form, std::span<const double> certificate);

}  // namespace saltus::solvers
