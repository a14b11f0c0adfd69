// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "saltus/ensemble/starts.hpp"

namespace saltus::stability {

/// A grid whose distances are halved where labels differ. Every point of the finer grid takes the label of one motion:
/// its own where one was made, otherwise that of a neighbour in a cell whose corners agree.
class Refinement {
public:
    /// Motion k of the base grid belongs to its point k.
    explicit Refinement(const ensemble::Grid& grid);

    /// Halves the distances; points between corners with different labels, for which a motion is wanted.
    std::vector<std::size_t> next_level(std::span<const int> label_of_motion);
    /// Points without a motion of their own that differ from a neighbour.
    std::vector<std::size_t> at_differences(std::span<const int> label_of_motion) const;
    /// Motions from `first` on belong to these points.
    void computed(std::span<const std::size_t> points, std::size_t first);

    const std::vector<std::size_t>& source() const { return source_; }  ///< motion of each point
    const std::vector<char>& computed() const { return computed_; }

private:
    ensemble::Grid grid_;
    int level_ = 0;
    std::vector<std::size_t> source_;
    std::vector<char> computed_;
};

/// A part of an edge of the grid, along one axis.
struct Edge {
    std::size_t number = 0;  ///< of the edge that it is part of
    std::vector<double> at;  ///< values of the axes; of its own axis not used
    int axis = 0;
    double low = 0.0, high = 0.0;
    std::size_t below = 0, above = 0;  ///< motions at its ends
};

/// Edges of the base grid between points of different labels.
std::vector<Edge> edges_between(const ensemble::Grid& grid, std::span<const int> label_of_motion);

}  // namespace saltus::stability
