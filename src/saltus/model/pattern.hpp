// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "saltus/base/linalg.hpp"

namespace saltus::model {

/// Where a sparse matrix has entries: row by row, columns ascending. The pattern of a model's matrix never changes;
/// evaluation writes the values in this order.
struct Pattern {
    int rows = 0, cols = 0;
    std::vector<int> start{0};  ///< rows + 1 of them
    std::vector<int> column;

    std::size_t size() const { return column.size(); }
    void add_row(std::span<const int> columns) {
        column.insert(column.end(), columns.begin(), columns.end());
        start.push_back(static_cast<int>(column.size()));
        ++rows;
    }
};

/// The matrix in full, for small systems and for tests.
Matrix dense(const Pattern& pattern, std::span<const double> values);

/// The full symmetric matrix of which the pattern holds the lower triangle.
Matrix dense_symmetric(const Pattern& lower, std::span<const double> values);

/// One row times a vector.
inline double row_dot(const Pattern& pattern, std::span<const double> values, int row, std::span<const double> x) {
    double sum = 0.0;
    for (int k = pattern.start[static_cast<std::size_t>(row)]; k < pattern.start[static_cast<std::size_t>(row) + 1];
         ++k)
        sum += values[static_cast<std::size_t>(k)] *
               x[static_cast<std::size_t>(pattern.column[static_cast<std::size_t>(k)])];
    return sum;
}

/// The size of a row at x, 1 + Σ|W_j x_j|: what its value is compared with.
double row_scale(const Pattern& pattern, std::span<const double> values, int row, std::span<const double> x);

/// The union of two patterns of the same shape, and for each the place of its entries in the union.
struct MergedPattern {
    Pattern pattern;
    std::vector<int> first, second;
};
MergedPattern merge(const Pattern& first, const Pattern& second);

}  // namespace saltus::model
