// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "saltus/base/index.hpp"
#include "saltus/base/linalg.hpp"

namespace saltus::model {

/// Positions of the entries of a sparse matrix in compressed row form. The pattern of a model's matrix never changes;
/// an evaluation writes only the values, in the order of `column`.
struct Pattern {
    int rows = 0, cols = 0;
    std::vector<int> start{0};  ///< entries of row i are [start[i], start[i + 1]); rows + 1 numbers
    std::vector<int> column;    ///< column of each entry; ascending within a row

    std::size_t size() const { return column.size(); }
    /// Appends a row with entries in these columns, which must ascend.
    void add_row(std::span<const int> columns) {
        column.insert(column.end(), columns.begin(), columns.end());
        start.push_back(static_cast<int>(column.size()));
        ++rows;
    }
};

/// The matrix in dense form, for small systems and for tests.
Matrix dense(const Pattern& pattern, std::span<const double> values);

/// The dense symmetric matrix of which the pattern holds the lower triangle.
Matrix dense_symmetric(const Pattern& lower, std::span<const double> values);

/// The product of one row with a vector.
inline double row_dot(const Pattern& pattern, std::span<const double> values, int row, std::span<const double> x) {
    double sum = 0.0;
    for (int k = pattern.start[ix(row)]; k < pattern.start[ix(row) + 1]; ++k)
        sum += values[ix(k)] * x[ix(pattern.column[ix(k)])];
    return sum;
}

/// The scale 1 + Σ|W_j x_j| of a row at x. Tolerances for the row's position or velocity are relative to it.
double row_scale(const Pattern& pattern, std::span<const double> values, int row, std::span<const double> x);

/// The union of two patterns of the same shape.
struct MergedPattern {
    Pattern pattern;
    std::vector<int> first, second;  ///< entry k of the first or second pattern is entry first[k], second[k] here
};
MergedPattern merge(const Pattern& first, const Pattern& second);

}  // namespace saltus::model
