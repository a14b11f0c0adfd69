// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace saltus::ensemble {

/// One quantity that is varied. On a grid it has `n` equidistant values including both ends; in a box it has any value
/// between the ends.
struct Axis {
    std::string name;
    double from = 0.0, to = 0.0;
    long n = 1;  ///< >= 1; with n = 1 the only value is `from`

    /// Value k after `level` halvings of the distances, 0 <= k < count(level). Values of coarser levels are the same
    /// numbers, bit by bit.
    double value(long k, int level = 0) const;
    /// Number of values after `level` halvings.
    long count(int level = 0) const { return n == 1 ? 1 : ((n - 1) << level) + 1; }
};

/// A grid. Its points are numbered with the index of the first axis varying fastest.
struct Grid {
    std::vector<Axis> axes;

    std::size_t size(int level = 0) const;                                  ///< number of points
    std::vector<long> indices(std::size_t point, int level = 0) const;      ///< index of a point on each axis
    std::size_t point(std::span<const long> indices, int level = 0) const;  ///< number of the point with these indices
    void values(std::size_t point, int level, std::span<double> x) const;   ///< writes the values of the axes to x
};

/// Writes sample k of a uniform distribution over a box to x. It depends on the seed and k only, so that samples may be
/// drawn in any order and by any thread.
void sample(std::span<const Axis> box, std::uint64_t seed, std::uint64_t k, std::span<double> x);

struct Interval {
    double low = 0.0, high = 1.0;
};
/// Wilson's confidence interval of a probability, of which `hits` of `n` trials were observed. z is the quantile of the
/// normal distribution; the default gives 95 %. Without trials the interval is [0, 1].
Interval wilson(std::size_t hits, std::size_t n, double z = 1.959963984540054);

}  // namespace saltus::ensemble
