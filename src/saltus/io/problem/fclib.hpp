// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "saltus/io/problem/read_problem.hpp"
#include "saltus/solvers/problem.hpp"

/// FCLIB: the HDF5 layout of a public collection of friction contact problems. If the library was built without HDF5
/// (SALTUS_HDF5 is not 1) then reading and writing throw Error.
namespace saltus::io {

/// Whether a file with these first bytes (8 or more) is an HDF5 file.
bool is_hdf5(std::string_view beginning);

/// Whether the library was built with HDF5.
bool has_hdf5();

/// Reads `fclib_local`, `fclib_global` or `fclib_global_rolling`, and the reactions r (and λ, `l`) of `solution` if the
/// file has them. Bilateral rows, those of λ, are the last rows of the problem. If `kind` is given then the file must
/// have this kind. Throws Error that names the data at fault. Safe to call from several threads: HDF5 admits one caller
/// at a time, and the others wait.
ContactProblem read_fclib(const std::string& path, std::optional<ProblemKind> kind = {});

/// Writes a problem as `fclib_local`:
///
///     u = W r + V λ + q,      0 = Vᵀ r + R λ + s,
///
/// matrices in compressed rows. V, R and s are written only if there are bilateral rows; when the file is read again,
/// all bilateral rows are one block. Equal problems give equal bytes. The file appears complete or not at all (see
/// files.hpp). Throws Error if the layout cannot hold the problem: all contacts must have planar friction or all
/// spatial friction, bilateral rows must come last, and they must be coupled symmetrically.
void write_fclib_local(const std::string& folder, const std::string& name, const solvers::FrictionProblem& problem,
                       const std::string& title);

}  // namespace saltus::io
