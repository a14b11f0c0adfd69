// SPDX-License-Identifier: Apache-2.0
//
// Random numbers that are the same on every machine: the distributions of the standard library are not.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>

namespace trials {

class Random {
public:
    explicit Random(std::uint64_t seed) : state_(seed) {}

    /// Uniform in [low, high], rounded to three decimals, so that model files stay readable.
    double number(double low, double high) { return std::round((low + (high - low) * unit()) * 1000.0) / 1000.0; }
    int whole(int low, int high) { return low + static_cast<int>(next() % static_cast<std::uint64_t>(high - low + 1)); }
    bool chance(double probability) { return unit() < probability; }
    double sign() { return chance(0.5) ? 1.0 : -1.0; }

private:
    /// SplitMix64 (Steele, Lea and Flood, 2014).
    std::uint64_t next() {
        state_ += 0x9e3779b97f4a7c15ULL;
        std::uint64_t z = state_;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
        return z ^ (z >> 31);
    }
    double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }

    std::uint64_t state_;
};

}  // namespace trials
