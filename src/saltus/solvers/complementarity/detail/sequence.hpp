// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace saltus::solvers {

/// Numbers in (0, 1) without an evident pattern, the same everywhere and every time.
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
