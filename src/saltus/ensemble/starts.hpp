// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace saltus::ensemble {

/// One quantity: `n` values from `from` to `to` with both ends, or, of a box, anything between them.
struct Axis {
    std::string name;
    double from = 0.0, to = 0.0;
    long n = 1;

    /// Value k of those that `levels` halvings of the distances make of it. Values of coarser levels keep their bits.
    double value(long k, int level = 0) const;
    long count(int level = 0) const { return n == 1 ? 1 : ((n - 1) << level) + 1; }
};

/// Points of a grid, row by row with the first axis fastest.
struct Grid {
    std::vector<Axis> axes;

    std::size_t size(int level = 0) const;
    std::vector<long> indices(std::size_t point, int level = 0) const;
    std::size_t point(std::span<const long> indices, int level = 0) const;
    void values(std::size_t point, int level, std::span<double> x) const;
};

/// Sample number k of a box, uniform: a function of seed and k alone, so that samples may be drawn in any order.
void sample(std::span<const Axis> box, std::uint64_t seed, std::uint64_t k, std::span<double> x);

/// Wilson's interval for a share of which `hits` of `n` were seen; z = 1.96: 95 %.
struct Interval {
    double low = 0.0, high = 1.0;
};
Interval wilson(std::size_t hits, std::size_t n, double z = 1.959963984540054);

}  // namespace saltus::ensemble
