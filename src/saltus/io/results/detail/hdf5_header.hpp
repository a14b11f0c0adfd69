// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "saltus/io/results/detail/hdf5_session.hpp"

namespace saltus::io::hdf5 {

/// Why HDF5 must not open this dataset, as the end of a sentence ("has chunks of size zero"); empty if it may. HDF5
/// 1.10 trusts the header of a dataset: a damaged one makes it divide by zero or write past the end of its memory. This
/// function reads the header from the bytes of the file and checks what HDF5 does not. It also refuses data that are
/// outside the file, and filters other than those that HDF5 itself applies to numbers. `path` is the file that is open
/// as `file`. The dataset must exist.
std::string refusal_of_dataset(hid_t file, const std::string& path, const std::string& name);

}  // namespace saltus::io::hdf5
