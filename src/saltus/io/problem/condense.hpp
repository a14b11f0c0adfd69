// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "saltus/base/error.hpp"
#include "saltus/base/linalg.hpp"
#include "saltus/solvers/problem.hpp"

/// From what stands in the files, of any format, to the problem that is solved.
namespace saltus::io {

using Triplet = solvers::BlockMatrix::Triplet;

/// A global problem as it stands in the file, so that the velocities can be had from the reactions:
///     M v = H r + f,   u = Hᵀ v + w
/// with a law between u and r. Bilateral rows (G and b in FCLIB) are the last columns of H and the last entries of w;
/// r is that of the condensed problem, in its order. Triplets that meet add up.
struct Global {
    int velocities = 0;  ///< rows of M and of H
    std::vector<Triplet> M, H;
    Vector f, w;
};

/// The laws of contacts of dimension 2, 3 or 5; `mu_rolling` is used, and needed, in dimension 5 alone.
std::vector<solvers::Law> contact_laws(int dimension, std::span<const double> mu, std::span<const double> mu_rolling);

/// The problem with this Delassus matrix, its blocks `dimension` rows a law. Rows of q that the laws leave over are
/// bilateral: one more block and law. Throws Error at `place` when the blocks need more than the memory limit, which a
/// few entries can make them do where there are many bilateral rows.
solvers::FrictionProblem local_problem(int dimension, std::span<const Triplet> W, std::vector<double> q,
                                       std::vector<solvers::Law> laws, const Place& place);

/// The condensed problem; bilateral rows as above. Bodies that M does not couple are factorised each for itself, so
/// that W has the blocks of contacts that share a body and no others. Exactly symmetric when M is, up to rounding.
/// Throws Error at `place` when M is singular, or when the blocks need more than the memory limit.
solvers::FrictionProblem condense(const Global& global, int dimension, std::vector<solvers::Law> laws,
                                  const Place& place);

}  // namespace saltus::io
