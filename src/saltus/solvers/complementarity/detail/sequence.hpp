// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace saltus::solvers {

/// A deterministic sequence of pseudo-random numbers in (0, 1): a linear congruential generator (Knuth's MMIX
/// constants), of which the upper 31 bits are used. The sequence is the same on every machine and in every run.
class Sequence {
public:
    double operator()() {
        state_ = state_ * 6364136223846793005U + 1442695040888963407U;
        return (static_cast<double>(state_ >> 33) + 0.5) * 0x1p-31;
    }

private:
    std::uint64_t state_ = 1;
};

}  // namespace saltus::solvers
