// SPDX-License-Identifier: Apache-2.0
// Any bytes as a trajectory file: it becomes a motion whose states can be asked for, or an Error; nothing else may
// happen. Fuzz builds ignore the checksums of the columns, so that changed columns are decoded.
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "saltus/base/error.hpp"
#include "saltus/io/results/trajectory_file.hpp"

namespace {

namespace fs = std::filesystem;

/// A file with these bytes, until the end of its scope. HDF5 opens files by their names.
class TemporaryFile {
public:
    TemporaryFile(const std::uint8_t* data, std::size_t size)
        : path_((fs::temp_directory_path() / ("saltus-fuzz-" + std::to_string(::getpid()))).string()) {
        std::ofstream out(path_, std::ios::binary | std::ios::trunc);
        out.write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
        if (!out.flush()) std::abort();
    }
    ~TemporaryFile() { fs::remove(path_); }
    TemporaryFile(const TemporaryFile&) = delete;
    TemporaryFile& operator=(const TemporaryFile&) = delete;
    const std::string& path() const { return path_; }

private:
    std::string path_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace saltus;
    const TemporaryFile file(data, size);
    try {
        const trajectory::Trajectory t = io::read_trajectory(file.path());
        constexpr int last_sample = 7;
        if (t.start.t <= t.end.t)  // also false for times that are not numbers
            for (int k = 0; k <= last_sample; ++k) {
                t.left(t.sample_time(k, last_sample));
                t.right(t.sample_time(k, last_sample));
            }
        io::read_balance(file.path());
    } catch (const Error&) {
    }
    return 0;
}
