// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>

namespace saltus::ensemble {

struct Options {
    int threads = 0;                                 ///< 0: as many as the machine has
    std::function<bool()> interrupted;               ///< asked before each number, by any thread; true: no further ones
    std::function<void(std::size_t done)> progress;  ///< told after each number, by one thread at a time
};

/// Calls work(i) once for each i in [0, n). The calls run side by side, so each writes where no other does; then the
/// outcome is the same for any number of threads. Where calls throw, no further ones begin, and the exception of the
/// smallest i leaves the function. Returns whether all were called.
bool parallel_for(std::size_t n, const std::function<void(std::size_t)>& work, const Options& options = {});

}  // namespace saltus::ensemble
