// SPDX-License-Identifier: Apache-2.0
// Any bytes as a trajectory file: it becomes a motion whose states can be asked for, or an Error; nothing else may
// happen. Fuzz builds ignore the checksums of the columns, so that changed columns are decoded.
#include <cstddef>
#include <cstdint>

#include "saltus/base/error.hpp"
#include "saltus/io/results/trajectory_file.hpp"
#include "temporary_file.hpp"

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
