// SPDX-License-Identifier: Apache-2.0
//
// The only file that knows MPI. It becomes libsaltus_mpi.so, which ensemble/ranks.cpp loads in processes that mpirun
// started.
#include <mpi.h>

#include <vector>

#include "saltus/ensemble/detail/ranks_interface.hpp"

namespace {

constexpr int tag = 1;
std::vector<char> message;

int begin(int* rank, int* size) {
    // Other threads compute; only one thread calls MPI.
    int provided = 0;
    if (const int error = MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided)) return error;
    if (const int error = MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN)) return error;
    if (const int error = MPI_Comm_rank(MPI_COMM_WORLD, rank)) return error;
    return MPI_Comm_size(MPI_COMM_WORLD, size);
}

int end() { return MPI_Finalize(); }

int send(int to, const char* bytes, long count) {
    return MPI_Send(bytes, static_cast<int>(count), MPI_BYTE, to, tag, MPI_COMM_WORLD);
}

int waiting(int* answer) { return MPI_Iprobe(MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, answer, MPI_STATUS_IGNORE); }

int receive(int* from, const char** bytes, long* count) {
    MPI_Status status;
    int size = 0;
    if (const int error = MPI_Probe(MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &status)) return error;
    if (const int error = MPI_Get_count(&status, MPI_BYTE, &size)) return error;
    message.resize(static_cast<std::size_t>(size));
    *from = status.MPI_SOURCE;
    *bytes = message.data();
    *count = size;
    return MPI_Recv(message.data(), size, MPI_BYTE, status.MPI_SOURCE, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

}  // namespace

extern "C" const saltus_ranks_functions* saltus_ranks() {
    static const saltus_ranks_functions functions{begin, end, send, waiting, receive};
    return &functions;
}
