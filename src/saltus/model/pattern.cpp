// SPDX-License-Identifier: Apache-2.0
#include "saltus/model/pattern.hpp"

#include <algorithm>
#include <cmath>

#include "saltus/base/error.hpp"

namespace saltus::model {

namespace {

template <class F>
void for_each_entry(const Pattern& p, F f) {
    for (int r = 0; r < p.rows; ++r)
        for (int k = p.start[static_cast<std::size_t>(r)]; k < p.start[static_cast<std::size_t>(r) + 1]; ++k)
            f(r, p.column[static_cast<std::size_t>(k)], static_cast<std::size_t>(k));
}

}  // namespace

Matrix dense(const Pattern& pattern, std::span<const double> values) {
    SALTUS_EXPECT(values.size() == pattern.size());
    Matrix A = Matrix::Zero(pattern.rows, pattern.cols);
    for_each_entry(pattern, [&](int r, int c, std::size_t k) { A(r, c) = values[k]; });
    return A;
}

Matrix dense_symmetric(const Pattern& lower, std::span<const double> values) {
    SALTUS_EXPECT(values.size() == lower.size());
    Matrix A = Matrix::Zero(lower.rows, lower.cols);
    for_each_entry(lower, [&](int r, int c, std::size_t k) { A(r, c) = A(c, r) = values[k]; });
    return A;
}

double row_scale(const Pattern& pattern, std::span<const double> values, int row, std::span<const double> x) {
    double scale = 1.0;
    for (int k = pattern.start[static_cast<std::size_t>(row)]; k < pattern.start[static_cast<std::size_t>(row) + 1];
         ++k)
        scale += std::abs(values[static_cast<std::size_t>(k)] *
                          x[static_cast<std::size_t>(pattern.column[static_cast<std::size_t>(k)])]);
    return scale;
}

MergedPattern merge(const Pattern& first, const Pattern& second) {
    SALTUS_EXPECT(first.rows == second.rows && first.cols == second.cols);
    MergedPattern m;
    m.pattern.cols = first.cols;
    m.first.resize(first.size());
    m.second.resize(second.size());
    std::vector<int> columns;
    for (int r = 0; r < first.rows; ++r) {
        const auto row = static_cast<std::size_t>(r);
        int i = first.start[row], j = second.start[row];
        columns.clear();
        const int base = static_cast<int>(m.pattern.size());
        while (i < first.start[row + 1] || j < second.start[row + 1]) {
            const int ci = i < first.start[row + 1] ? first.column[static_cast<std::size_t>(i)] : first.cols;
            const int cj = j < second.start[row + 1] ? second.column[static_cast<std::size_t>(j)] : first.cols;
            const int place = base + static_cast<int>(columns.size());
            columns.push_back(std::min(ci, cj));
            if (ci <= cj) m.first[static_cast<std::size_t>(i++)] = place;
            if (cj <= ci) m.second[static_cast<std::size_t>(j++)] = place;
        }
        m.pattern.add_row(columns);
    }
    return m;
}

}  // namespace saltus::model
