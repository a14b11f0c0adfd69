// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>

namespace saltus::ensemble {

/// A part of many runs: the runs of a shard are made by one process, and several processes make all shards. Runs are
/// dealt out in small blocks, because neighbours take similar times: every shard gets cheap and expensive ones.
struct Shard {
    std::size_t index = 1, of = 1;  ///< 1 <= index <= of
    std::size_t block = 64;         ///< neighbouring runs that stay together; block_for(number of runs)

    /// Few runs are dealt out in smaller blocks, so that many shards get some.
    static std::size_t block_for(std::size_t runs) {
        constexpr std::size_t blocks = 256;
        return std::clamp<std::size_t>(runs / blocks, 1, longest_block);
    }
    static constexpr std::size_t longest_block = 64;

    bool whole() const { return of == 1; }
    bool contains(std::size_t run) const { return run / block % of == index - 1; }
    /// Place of a run of the shard among its runs.
    std::size_t place(std::size_t run) const { return run / block / of * block + run % block; }
    /// Number of runs of the shard, if there are `runs` in all.
    std::size_t size(std::size_t runs) const {
        const std::size_t round = block * of, rest = runs % round, before = (index - 1) * block;
        return runs / round * block + std::clamp<std::size_t>(rest, before, before + block) - before;
    }
};

}  // namespace saltus::ensemble
