// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace saltus::ensemble {

/// Mean and standard deviation of a normal distribution.
struct Normal {
    double mean = 0.0, deviation = 0.0;
};

/// One quantity that is varied: an initial position, an initial velocity or a parameter. On a grid it has `n` values
/// including both ends; in a box it has any value between the ends.
struct Axis {
    std::string name;
    double from = 0.0, to = 0.0;
    long n = 1;                      ///< >= 1; with n = 1 the only value is `from`
    bool logarithmic = false;        ///< on a grid: equal ratios of the values, which are all positive
    std::vector<double> listed{};    ///< on a grid: the n values themselves; empty: they follow from both ends
    std::optional<Normal> normal{};  ///< in a box: the values have this distribution; `from` and `to` are not used

    /// Value k after `level` halvings of the distances, 0 <= k < count(level). Values of coarser levels are the same
    /// numbers, bit by bit.
    double value(long k, int level = 0) const;
    std::vector<double> values() const;  ///< all values of level 0
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

/// Writes sample k of a distribution over a box to x. It depends on the seed and k only, so that samples may be drawn
/// in any order and by any thread.
void sample(std::span<const Axis> box, std::uint64_t seed, std::uint64_t k, std::span<double> x);

/// Writes sample k of a sequence that fills a box evenly to x: number k + 1 of the sequences of van der Corput in the
/// bases 2, 3, 5, ..., one for each axis. Axes have uniform distributions.
void even_sample(std::span<const Axis> box, std::uint64_t k, std::span<double> x);

/// Where the runs of an ensemble start, and with which parameters: the points of a grid, or samples of a box.
struct Starts {
    std::vector<Axis> axes;
    std::size_t samples = 0;  ///< number of samples of the box; 0: a grid
    std::uint64_t seed = 1;   ///< seed of the random samples
    bool evenly = false;      ///< samples are those of `even_sample`, and `seed` is not used
    /// Which axis varies fastest in the order of the runs of a grid.
    enum class Fastest { first, last } fastest = Fastest::first;

    bool sampled() const { return samples > 0; }
    std::size_t size() const;                                 ///< number of runs
    void values(std::size_t run, std::span<double> x) const;  ///< writes the values of the axes of a run to x
};

}  // namespace saltus::ensemble
