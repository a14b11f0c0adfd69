// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>

namespace saltus::ensemble {

struct Options {
    int threads = 0;                    ///< >= 0; 0: as many as the machine has cores
    std::function<bool()> interrupted;  ///< polled before each call, by any thread; true: no further calls begin
    std::function<void(std::size_t done)> progress;  ///< called after each call of work, by one thread at a time
};

/// Calls work(i) once for each i in [0, n), on several threads. If each call writes only to its own place then the
/// result is the same for any number of threads. If calls throw then no further ones begin, and the exception of the
/// smallest i is rethrown. Returns whether all calls were made; false means interrupted.
bool parallel_for(std::size_t n, const std::function<void(std::size_t)>& work, const Options& options = {});

}  // namespace saltus::ensemble
