// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace saltus::io {

/// From now on, a fault of the thread that reads an HDF5 file (SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT) ends the
/// process at once with a message that names the file, and with this exit code. HDF5 itself is not made for damaged
/// files. For programs; a library that is part of another program leaves signals alone. A fault at any other place
/// ends the process as before.
void end_on_faults_of_hdf5(int exit_code);

/// While such a value exists, this thread reads this HDF5 file. One value may exist at a time (see hdf5::Session).
class ReadingHdf5 {
public:
    explicit ReadingHdf5(const std::string& path);
    ~ReadingHdf5();
    ReadingHdf5(const ReadingHdf5&) = delete;
    ReadingHdf5& operator=(const ReadingHdf5&) = delete;
};

}  // namespace saltus::io
