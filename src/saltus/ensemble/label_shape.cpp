// SPDX-License-Identifier: Apache-2.0
#include "saltus/ensemble/label_shape.hpp"

#include <algorithm>
#include <cmath>

#include "saltus/base/error.hpp"
#include "saltus/base/index.hpp"

namespace saltus::ensemble {

namespace {

/// Distances of the uncertainty exponent go up to this part of the shortest axis: longer ones leave the vicinity of the
/// boundary.
constexpr long largest_distance_divisor = 8;
constexpr std::size_t least_distances = 3;

/// Labels of a box, and how often they occur. Few labels are in one box.
using BoxCounts = std::vector<std::pair<int, std::size_t>>;

void count(BoxCounts& counts, int label) {
    const auto at = std::find_if(counts.begin(), counts.end(), [&](const auto& c) { return c.first == label; });
    if (at == counts.end())
        counts.emplace_back(label, 1);
    else
        ++at->second;
}

double entropy_of(BoxCounts& counts, double all) {
    std::sort(counts.begin(), counts.end());  // the order of a sum decides about its last bits
    double sum = 0.0;
    for (const auto& [label, number] : counts) {
        const double share = static_cast<double>(number) / all;
        sum -= share * std::log(share);
    }
    return sum;
}

/// The points come in the order of the grid, so that the boxes of one layer along the last axis are filled before those
/// of the next: the counts of one layer are kept.
void find_entropy(const Grid& grid, const Labels& labels, LabelShape& shape) {
    // Boxes of a layer are numbered like the points of a grid; the part of an axis that fills no box is left out.
    const std::size_t axes = grid.axes.size();
    std::size_t boxes = 1, points = 1, layers = 1;
    std::vector<std::size_t> along, side;
    for (const Axis& a : grid.axes) {
        side.push_back(a.n == 1 ? 1 : ix(shape.box));
        along.push_back(a.n == 1 ? 1 : ix(a.n / shape.box));
        boxes *= along.back();
        points *= side.back();
    }
    if (boxes == 0 || shape.dimensions == 0) return;
    layers = along.back();
    std::vector<BoxCounts> layer(boxes / layers);
    double sum = 0.0;
    const auto end_layer = [&] {
        for (BoxCounts& c : layer) {
            if (c.size() > 1) ++shape.mixed_boxes;
            sum += entropy_of(c, static_cast<double>(points));
            c.clear();
        }
    };
    std::vector<std::size_t> at(axes, 0);  // indices of the point
    Labels::Reader label(labels);
    const std::size_t size = grid.size();
    std::size_t present = 0;
    for (std::size_t k = 0; k < size; ++k) {
        if (at.back() / side.back() != present) {
            end_layer();
            present = at.back() / side.back();
            if (present >= layers) break;
        }
        std::size_t number = 0;
        bool inside = true;
        for (std::size_t d = axes - 1; d-- > 0;) {
            const std::size_t b = at[d] / side[d];
            inside = inside && b < along[d];
            number = number * along[d] + b;
        }
        if (inside) count(layer[number], label.at(k));
        for (std::size_t d = 0; d < axes; ++d) {
            if (++at[d] < ix(grid.axes[d].n)) break;
            at[d] = 0;
        }
    }
    if (present < layers) end_layer();
    shape.boxes = boxes;
    shape.entropy = sum / static_cast<double>(boxes);
    if (shape.mixed_boxes > 0) shape.mixed_entropy = sum / static_cast<double>(shape.mixed_boxes);
}

/// Share of pairs at this distance along any axis whose labels differ.
double differing(const Grid& grid, const Labels& labels, long distance) {
    std::size_t pairs = 0, different = 0, stride = 1;
    const std::size_t size = grid.size();
    for (const Axis& a : grid.axes) {
        // Pairs along an axis lie in rows of n·stride neighbouring points.
        const std::size_t row = stride * ix(a.n), away = stride * ix(distance);
        Labels::Reader here(labels), there(labels);
        for (std::size_t first = 0; a.n > distance && first < size; first += row)
            for (std::size_t k = first; k < first + row - away; ++k) {
                ++pairs;
                if (here.at(k) != there.at(k + away)) ++different;
            }
        stride = row;
    }
    return pairs > 0 ? static_cast<double>(different) / static_cast<double>(pairs) : 0.0;
}

/// The slope of y over x by least squares, and its standard deviation.
void fit(const std::vector<double>& x, const std::vector<double>& y, LabelShape& shape) {
    const auto n = static_cast<double>(x.size());
    double mx = 0.0, my = 0.0, xx = 0.0, xy = 0.0, rest = 0.0;
    for (std::size_t k = 0; k < x.size(); ++k) mx += x[k] / n, my += y[k] / n;
    for (std::size_t k = 0; k < x.size(); ++k) {
        xx += (x[k] - mx) * (x[k] - mx);
        xy += (x[k] - mx) * (y[k] - my);
    }
    shape.exponent = xy / xx;
    for (std::size_t k = 0; k < x.size(); ++k) rest += std::pow(y[k] - my - shape.exponent * (x[k] - mx), 2);
    shape.exponent_deviation = std::sqrt(rest / (n - 2.0) / xx);
    shape.has_exponent = true;
}

}  // namespace

LabelShape label_shape(const Grid& grid, const Labels& labels) {
    SALTUS_EXPECT(labels.size() >= grid.size() && !grid.axes.empty());
    LabelShape shape;
    long shortest = 0;
    for (const Axis& a : grid.axes) {
        if (a.n == 1) continue;
        ++shape.dimensions;
        shortest = shape.dimensions == 1 ? a.n : std::min(shortest, a.n);
    }
    find_entropy(grid, labels, shape);
    std::vector<double> x, y;
    for (long d = 1; d <= shortest / largest_distance_divisor; d *= 2) {
        const double f = differing(grid, labels, d);
        shape.distances.push_back(static_cast<int>(d));
        shape.fractions.push_back(f);
        if (f > 0.0) x.push_back(std::log(static_cast<double>(d))), y.push_back(std::log(f));
    }
    if (x.size() >= least_distances) fit(x, y, shape);
    return shape;
}

}  // namespace saltus::ensemble
