// SPDX-License-Identifier: Apache-2.0
#include "saltus/stability/basin/basin_shape.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "saltus/base/error.hpp"
#include "saltus/base/index.hpp"

namespace saltus::stability {

namespace {

/// Distances of the uncertainty exponent go up to this part of the shortest axis: longer ones leave the vicinity of the
/// boundary.
constexpr long largest_distance_divisor = 8;
constexpr std::size_t least_distances = 3;

/// Entropy of the labels that occur so often.
double entropy_of(const std::map<int, std::size_t>& counts, double all) {
    double sum = 0.0;
    for (const auto& [label, count] : counts) {
        const double share = static_cast<double>(count) / all;
        sum -= share * std::log(share);
    }
    return sum;
}

void find_entropy(const ensemble::Grid& grid, std::span<const int> labels, BasinShape& shape) {
    // Boxes are numbered like the points of a grid; the part of an axis that fills no box is left out.
    std::size_t boxes = 1, points = 1;
    std::vector<std::size_t> along;
    for (const ensemble::Axis& a : grid.axes) {
        along.push_back(a.n == 1 ? 1 : ix(a.n / shape.box));
        boxes *= along.back();
        if (a.n > 1) points *= ix(shape.box);
    }
    if (boxes == 0 || shape.dimensions == 0) return;
    std::vector<std::map<int, std::size_t>> counts(boxes);
    for (std::size_t k = 0; k < labels.size(); ++k) {
        const std::vector<long> at = grid.indices(k);
        std::size_t number = 0;
        bool inside = true;
        for (std::size_t d = at.size(); d-- > 0;) {
            const std::size_t b = grid.axes[d].n == 1 ? 0 : ix(at[d] / shape.box);
            inside = inside && b < along[d];
            number = number * along[d] + b;
        }
        if (inside) ++counts[number][labels[k]];
    }
    shape.boxes = boxes;
    double sum = 0.0;
    for (const auto& c : counts) {
        sum += entropy_of(c, static_cast<double>(points));
        if (c.size() > 1) ++shape.mixed_boxes;
    }
    shape.entropy = sum / static_cast<double>(boxes);
    if (shape.mixed_boxes > 0) shape.mixed_entropy = sum / static_cast<double>(shape.mixed_boxes);
}

/// Share of pairs at this distance along any axis whose labels differ.
double differing(const ensemble::Grid& grid, std::span<const int> labels, long distance) {
    std::size_t pairs = 0, different = 0, stride = 1;
    for (const ensemble::Axis& a : grid.axes) {
        for (std::size_t k = 0; a.n > 1 && k < labels.size(); ++k) {
            if (static_cast<long>(k / stride % ix(a.n)) + distance >= a.n) continue;
            ++pairs;
            if (labels[k] != labels[k + stride * ix(distance)]) ++different;
        }
        stride *= ix(a.n);
    }
    return pairs > 0 ? static_cast<double>(different) / static_cast<double>(pairs) : 0.0;
}

/// The slope of y over x by least squares, and its standard deviation.
void fit(const std::vector<double>& x, const std::vector<double>& y, BasinShape& shape) {
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

BasinShape basin_shape(const ensemble::Grid& grid, std::span<const int> labels) {
    SALTUS_EXPECT(labels.size() == grid.size());
    BasinShape shape;
    long shortest = 0;
    for (const ensemble::Axis& a : grid.axes) {
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

}  // namespace saltus::stability
