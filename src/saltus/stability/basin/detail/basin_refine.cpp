// SPDX-License-Identifier: Apache-2.0
#include "saltus/stability/basin/detail/basin_refine.hpp"

#include <numeric>

namespace saltus::stability {

Refinement::Refinement(const ensemble::Grid& grid) : grid_(grid), source_(grid.size()), computed_(grid.size(), 1) {
    std::iota(source_.begin(), source_.end(), std::size_t{0});
}

std::vector<std::size_t> Refinement::next_level(std::span<const int> label) {
    const std::vector<std::size_t> coarse = source_;
    const std::vector<char> coarse_computed = computed_;
    const int before = level_++;
    const std::size_t size = grid_.size(level_), axes = grid_.axes.size();
    source_.resize(size);
    computed_.assign(size, 0);
    std::vector<std::size_t> wanted;
    std::vector<long> corner(axes);
    for (std::size_t p = 0; p < size; ++p) {
        const std::vector<long> k = grid_.indices(p, level_);
        std::size_t between = 0;  // axes along which the point lies between two points of the coarser grid
        for (std::size_t d = 0; d < axes; ++d)
            if (grid_.axes[d].n > 1 && k[d] % 2 != 0) ++between;
        bool agree = true;
        for (std::size_t choice = 0; choice < (std::size_t{1} << between); ++choice) {
            std::size_t bit = 0;
            for (std::size_t d = 0; d < axes; ++d) {
                if (grid_.axes[d].n == 1)
                    corner[d] = 0;
                else if (k[d] % 2 == 0)
                    corner[d] = k[d] / 2;
                else
                    corner[d] = k[d] / 2 + ((choice >> bit++ & 1) != 0 ? 1 : 0);
            }
            const std::size_t c = grid_.point(corner, before);
            if (choice == 0) {
                source_[p] = coarse[c];
                if (between == 0) computed_[p] = coarse_computed[c];
            } else {
                agree = agree && label[coarse[c]] == label[source_[p]];
            }
        }
        if (!agree) wanted.push_back(p);
    }
    return wanted;
}

std::vector<std::size_t> Refinement::at_differences(std::span<const int> label) const {
    std::vector<std::size_t> wanted;
    for (std::size_t p = 0; p < source_.size(); ++p) {
        if (computed_[p] != 0) continue;
        const std::vector<long> k = grid_.indices(p, level_);
        bool differs = false;
        std::size_t stride = 1;
        for (std::size_t d = 0; d < k.size() && !differs; ++d) {
            const long n = grid_.axes[d].count(level_);
            if (k[d] > 0) differs = label[source_[p - stride]] != label[source_[p]];
            if (k[d] + 1 < n) differs = differs || label[source_[p + stride]] != label[source_[p]];
            stride *= static_cast<std::size_t>(n);
        }
        if (differs) wanted.push_back(p);
    }
    return wanted;
}

void Refinement::set_computed(std::span<const std::size_t> points, std::size_t first) {
    for (std::size_t k = 0; k < points.size(); ++k) {
        source_[points[k]] = first + k;
        computed_[points[k]] = 1;
    }
}

std::vector<Edge> edges_between(const ensemble::Grid& grid, std::span<const int> label) {
    std::vector<Edge> edges;
    std::size_t stride = 1;
    for (std::size_t d = 0; d < grid.axes.size(); ++d) {
        const long n = grid.axes[d].n;
        for (std::size_t p = 0; p < grid.size(); ++p) {
            const long k = grid.indices(p)[d];
            if (k + 1 >= n || label[p] == label[p + stride]) continue;
            Edge e;
            e.number = edges.size();
            e.at.resize(grid.axes.size());
            grid.values(p, 0, e.at);
            e.axis = static_cast<int>(d);
            e.low = grid.axes[d].value(k);
            e.high = grid.axes[d].value(k + 1);
            e.below = p;
            e.above = p + stride;
            edges.push_back(std::move(e));
        }
        stride *= static_cast<std::size_t>(n);
    }
    return edges;
}

}  // namespace saltus::stability
