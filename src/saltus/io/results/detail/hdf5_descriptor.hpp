// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "saltus/io/results/detail/hdf5_session.hpp"

namespace saltus::io::hdf5 {

/// An open file that HDF5 writes to.
struct DescriptorTarget {
    int descriptor = -1;
    int error = 0;  ///< number of the first error of the system (errno); 0: none
    /// The file is complete after a flush, and later writes are ignored. Closing would only give back unused space at
    /// the end, and the file would be longer than it says.
    bool complete = false;
};

/// Lets a file access property list write to `target`, which must outlive the file. HDF5 does not survive an error of
/// the system: objects stay open, and the program cannot end properly. Therefore a failed write is noted in
/// `target.error`, and HDF5 is told that it succeeded. The caller looks at the error afterwards. Returns false if HDF5
/// refuses.
bool write_to_descriptor(hid_t access, DescriptorTarget& target);

}  // namespace saltus::io::hdf5
