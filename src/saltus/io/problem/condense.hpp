// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "saltus/base/error.hpp"
#include "saltus/base/linalg.hpp"
#include "saltus/solvers/problem.hpp"

/// From the matrices of a problem file, whatever its format, to the `FrictionProblem` that solvers take.
namespace saltus::io {

using Triplet = solvers::BlockMatrix::Triplet;

/// A global contact problem, as it stands in the file: velocities v are unknowns besides the reactions r,
///
///     M v = H r + f,      u = Hᵀ v + w,      u and r obey the contact laws.
///
/// It is kept beside the condensed problem so that v can be computed from r. Bilateral rows (G and b in FCLIB) are the
/// last columns of H and the last entries of w. r has the order of the condensed problem. Triplets with the same row
/// and column are added.
struct Global {
    int velocities = 0;  ///< number of velocities: rows of M and of H
    std::vector<Triplet> M, H;
    Vector f, w;
};

/// The friction laws of contacts of dimension 2 (planar), 3 (spatial) or 5 (with rolling), one for each entry of `mu`.
/// `mu_rolling` must have the same length in dimension 5 and is ignored otherwise.
std::vector<solvers::Law> contact_laws(int dimension, std::span<const double> mu, std::span<const double> mu_rolling);

/// The problem u = W r + q with a given Delassus matrix W. Each law has a block of `dimension` rows. If q has more rows
/// then the remaining rows are bilateral: they become one more block with a bilateral law. Throws Error at `place` if
/// the blocks need more memory than `memory_limit`; with many bilateral rows a few entries can cause that.
solvers::FrictionProblem local_problem(int dimension, std::span<const Triplet> W, std::vector<double> q,
                                       std::vector<solvers::Law> laws, const Place& place);

/// The problem without the velocities: from v = M⁻¹(H r + f) follows
///
///     u = W r + q      with      W = Hᵀ M⁻¹ H,      q = Hᵀ M⁻¹ f + w.
///
/// Bilateral rows are treated as in `local_problem`. Velocities that M does not couple belong to different bodies. Each
/// body is factorised by itself, so that W has blocks only between contacts that share a body. If M is symmetric (up to
/// rounding) then W is exactly symmetric. Throws Error at `place` if M is singular or the blocks need more memory than
/// `memory_limit`.
solvers::FrictionProblem condense(const Global& global, int dimension, std::vector<solvers::Law> laws,
                                  const Place& place);

}  // namespace saltus::io
