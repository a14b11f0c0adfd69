// SPDX-License-Identifier: Apache-2.0
#include "saltus/ensemble/ranks.hpp"

#include <chrono>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <thread>

#include "saltus/base/error.hpp"
#include "saltus/ensemble/detail/ranks_interface.hpp"
#include "saltus/ensemble/detail/shared_library.hpp"

namespace saltus::ensemble {

namespace {

/// A process that waits for messages asks again after this time, so that it leaves its core to others.
constexpr std::chrono::microseconds pause_between_questions{50};

/// Whether mpirun started this process. The variables are those of Open MPI, MPICH and Slurm's PMIx.
bool started_by_mpirun() {
    for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK"})
        if (std::getenv(name) != nullptr) return true;
    return false;
}

class LoadedRanks final : public Ranks {
public:
    LoadedRanks() {
        namespace fs = std::filesystem;
        std::error_code error;
        const fs::path program = fs::read_symlink("/proc/self/exe", error).parent_path();
        const char* const file = "libsaltus_mpi.so";
        const SharedLibrary library({(program / file).string(), (program / "../lib/saltus" / file).string(), file});
        const saltus_ranks_functions* (*entry)() = nullptr;
        library.get(saltus_ranks_entry, entry);
        if (entry == nullptr)
            throw Error("mpirun started this program, and its part for MPI is not there", {file, 0, 0},
                        "build Saltus with MPI (Debian: libopenmpi-dev), or use --shard");
        functions_ = entry();
        check(functions_->begin(&rank_, &size_));
    }
    /// The end of all processes is awaited, unless this one ends with an error: then mpirun ends the others.
    ~LoadedRanks() override {
        if (std::uncaught_exceptions() == exceptions_) functions_->end();
    }

    int rank() const override { return rank_; }
    int size() const override { return size_; }
    void send(int to, const std::string& bytes) override {
        check(functions_->send(to, bytes.data(), static_cast<long>(bytes.size())));
    }
    bool waiting() override {
        int answer = 0;
        check(functions_->waiting(&answer));
        return answer != 0;
    }
    int receive(std::string& bytes) override {
        while (!waiting()) std::this_thread::sleep_for(pause_between_questions);
        int from = 0;
        const char* data = nullptr;
        long count = 0;
        check(functions_->receive(&from, &data, &count));
        bytes.assign(data, static_cast<std::size_t>(count));
        return from;
    }

private:
    static void check(int result) {
        if (result != 0) throw Error("MPI failed with the number " + std::to_string(result), {"mpirun", 0, 0});
    }

    const saltus_ranks_functions* functions_ = nullptr;
    int rank_ = 0, size_ = 1;
    const int exceptions_ = std::uncaught_exceptions();
};

}  // namespace

std::unique_ptr<Ranks> join_ranks() {
    if (!started_by_mpirun()) return nullptr;
    return std::make_unique<LoadedRanks>();
}

}  // namespace saltus::ensemble
