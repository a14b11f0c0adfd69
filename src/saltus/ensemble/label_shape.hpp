// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "saltus/ensemble/labels.hpp"
#include "saltus/ensemble/starts.hpp"

namespace saltus::ensemble {

/// Two measures of how finely the labels of a grid of starts are mixed: the basin entropy and the uncertainty exponent.
/// Both need a grid with at least two values on some axis; an axis with one value does not count as a dimension.
struct LabelShape {
    int dimensions = 0;  ///< axes with more than one value

    /// Basin entropy: the grid is cut into boxes of `box` points along each axis. A box whose points have the label j
    /// with share p_j has the entropy −Σ p_j ln p_j. [Daza, Wagemakers, Georgeot, Guéry-Odelin, Sanjuán 2016]
    int box = 5;
    std::size_t boxes = 0, mixed_boxes = 0;     ///< all, and those with several labels
    double entropy = 0.0, mixed_entropy = 0.0;  ///< means over all boxes, and over the mixed ones; 0 without any

    /// Uncertainty exponent: the share f(ε) of pairs of points at the distance ε along an axis whose labels differ
    /// behaves like ε^α, and the boundary has the dimension `dimensions` − α. [Grebogi, McDonald, Ott, Yorke 1983]
    std::vector<int> distances;       ///< in steps of the grid: 1, 2, 4, …
    std::vector<double> fractions;    ///< f at these distances
    bool has_exponent = false;        ///< at least three distances with f > 0 were there
    double exponent = 0.0;            ///< α, by least squares of ln f over ln ε
    double exponent_deviation = 0.0;  ///< its standard deviation, from the residuals
    double boundary_dimension() const { return dimensions - exponent; }
};

/// `labels` begins with the labels of the grid points, in the order of the grid. The function reads them several times
/// from beginning to end and does not hold them in memory.
LabelShape label_shape(const Grid& grid, const Labels& labels);

}  // namespace saltus::ensemble
