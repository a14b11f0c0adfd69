// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "saltus/ensemble/starts.hpp"

namespace saltus::stability {

/// A grid that is refined where labels differ. Every point of the refined grid takes the label of one motion: its own
/// if it was simulated, otherwise that of a corner of its cell, whose corners all agree.
class Refinement {
public:
    /// Motion k of the base grid starts at its point k.
    explicit Refinement(const ensemble::Grid& grid);

    /// Halves the distances of the grid. Returns the new points whose neighbours on the coarser grid have different
    /// labels; they need a motion of their own.
    std::vector<std::size_t> next_level(std::span<const int> label_of_motion);
    /// Points without a motion of their own whose label differs from that of a neighbour.
    std::vector<std::size_t> at_differences(std::span<const int> label_of_motion) const;
    /// Records that motion first + k starts at points[k].
    void set_computed(std::span<const std::size_t> points, std::size_t first);

    const std::vector<std::size_t>& source() const { return source_; }  ///< motion that gives the label of each point
    const std::vector<char>& computed() const { return computed_; }     ///< flag: the motion starts at this point

private:
    ensemble::Grid grid_;
    int level_ = 0;
    std::vector<std::size_t> source_;
    std::vector<char> computed_;
};

/// A part of an edge of the grid between two neighbouring points.
struct Edge {
    std::size_t number = 0;            ///< number of the grid edge that contains this part
    std::vector<double> at;            ///< position of the edge: values of all axes; the value of `axis` is not used
    int axis = 0;                      ///< axis of the grid along which the edge lies
    double low = 0.0, high = 0.0;      ///< ends of this part along the axis
    std::size_t below = 0, above = 0;  ///< motions that start at `low` and at `high`
};

/// The edges of the base grid between points of different labels.
std::vector<Edge> edges_between(const ensemble::Grid& grid, std::span<const int> label_of_motion);

}  // namespace saltus::stability
