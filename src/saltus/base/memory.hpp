// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace saltus {

/// Bytes of memory that the program can still use: what the system has left, or less if the process is limited
/// (ulimit -v). Infinite if the system does not say.
double available_memory();
/// Bytes of address space that a limit (ulimit -v) leaves to the program. Infinite without a limit.
double available_address_space();
/// Bytes of memory that the program uses now. 0 if the system does not say.
double used_memory();

/// Bytes that the program can still write to the disk of a folder, and to one file (ulimit -f). Infinite if the system
/// does not say.
double available_disk(const std::string& folder);
double largest_file();

/// A number of bytes in words: "1.5 GiB".
std::string gibibytes(double bytes);

}  // namespace saltus
