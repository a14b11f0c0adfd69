// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace saltus::ensemble {

/// A part of many runs: the runs of a shard are made by one process, and several processes make all shards. Runs are
/// dealt out in small blocks, because neighbours take similar times: every shard gets cheap and expensive ones.
struct Shard {
    static constexpr std::size_t block = 64;  ///< neighbouring runs that stay together

    std::size_t index = 1, of = 1;  ///< 1 <= index <= of

    bool whole() const { return of == 1; }
    bool contains(std::size_t run) const { return run / block % of == index - 1; }
};

}  // namespace saltus::ensemble
