// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "saltus/io/problem/read_problem.hpp"
#include "saltus/solvers/problem.hpp"

/// FCLIB, the HDF5 layout of the collection of friction contact problems of that name. Needs HDF5 when built
/// (SALTUS_HDF5 = 1); without it every call here but `is_hdf5` throws Error "built without HDF5".
namespace saltus::io {

/// Whether a file that begins like this is HDF5.
bool is_hdf5(std::string_view beginning);

bool has_hdf5();

/// Reads `fclib_local`, `fclib_global` or `fclib_global_rolling`, and r (and l) of `solution` where there is one.
/// Bilateral rows, those of λ, are the last of the problem. A kind that is given must be the one of the file. Calls
/// from several threads wait for each other, as HDF5 demands.
ContactProblem read_fclib(const std::string& path, std::optional<ProblemKind> kind = {});

/// Writes a problem whose laws are all friction2 or all friction3, and after them perhaps bilateral, as `fclib_local`:
///     u = W r + V λ + q,   0 = Vᵀ r + R λ + s
/// with the matrices in compressed rows; V, R and s only where there are bilateral rows, which come back as one block.
/// Equal problems give equal bytes. The file appears whole or not at all (see files.hpp). Throws Error for what that
/// layout cannot hold: other laws or another order, and bilateral rows that are not coupled symmetrically.
void write_fclib_local(const std::string& folder, const std::string& name, const solvers::FrictionProblem& problem,
                       const std::string& title);

}  // namespace saltus::io
