// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

namespace saltus::ensemble {

/// Processes that work on one task, as `mpirun` starts them. They send each other messages of bytes. One thread of a
/// process may use it at a time.
class Ranks {
public:
    virtual ~Ranks() = default;
    Ranks() = default;
    Ranks(const Ranks&) = delete;
    Ranks& operator=(const Ranks&) = delete;

    virtual int rank() const = 0;  ///< number of this process, from 0
    virtual int size() const = 0;  ///< number of processes
    virtual void send(int to, const std::string& bytes) = 0;
    /// Whether a message is there that `receive` would give at once.
    virtual bool waiting() = 0;
    /// Waits for a message from any process, and returns the number of its sender.
    virtual int receive(std::string& bytes) = 0;
};

/// The processes of `mpirun`; null if this process was started alone. MPI is a file of its own, libsaltus_mpi.so beside
/// the program or in the folder of its libraries, which is loaded only here. Throws Error if mpirun started this
/// process and the file is not there.
std::unique_ptr<Ranks> join_ranks();

}  // namespace saltus::ensemble
