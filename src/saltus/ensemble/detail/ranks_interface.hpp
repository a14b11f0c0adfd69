// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The functions of libsaltus_mpi.so. They return 0, or the number of an error of MPI.
struct saltus_ranks_functions {
    int (*begin)(int* rank, int* size);
    int (*end)();
    int (*send)(int to, const char* bytes, long count);
    int (*waiting)(int* answer);
    /// Waits for a message; its bytes are valid until the next call.
    int (*receive)(int* from, const char** bytes, long* count);
};

inline constexpr const char* saltus_ranks_entry = "saltus_ranks";  // const saltus_ranks_functions* saltus_ranks()
