// SPDX-License-Identifier: Apache-2.0
#include "exact.hpp"

#include <cstdint>
#include <vector>

namespace saltus::solvers::test {

namespace {

using Eigen::Index;
using Row = std::vector<std::int64_t>;

/// Gauss–Jordan elimination without fractions: afterwards the first `columns` columns are the same number times those
/// of the unit matrix, and that number is returned; 0 when they are dependent.
std::int64_t eliminate(std::vector<Row>& rows, std::size_t columns) {
    std::int64_t before = 1;
    for (std::size_t k = 0; k < columns; ++k) {
        std::size_t pivot = k;
        while (pivot < rows.size() && rows[pivot][k] == 0) ++pivot;
        if (pivot == rows.size()) return 0;
        std::swap(rows[k], rows[pivot]);
        const std::int64_t p = rows[k][k];
        for (std::size_t i = 0; i < rows.size(); ++i) {
            if (i == k) continue;
            const std::int64_t f = rows[i][k];
            for (std::size_t j = 0; j < rows[i].size(); ++j)
                rows[i][j] = (rows[i][j] * p - f * rows[k][j]) / before;  // a minor: the division leaves nothing
        }
        before = p;
    }
    return before;
}

}  // namespace

bool has_solution(const LinearComplementarity& p) {
    const Index n = p.q.size();
    int combinations = 1;
    for (Index i = 0; i < n; ++i) combinations *= 3;
    std::vector<Row> rows;
    for (int k = 0; k < combinations; ++k) {
        rows.assign(static_cast<std::size_t>(n), {});
        int rest = k;
        for (Index j = 0; j < n; ++j, rest /= 3) {
            if (rest % 3 == 2) continue;
            for (Index i = 0; i < n; ++i)
                rows[static_cast<std::size_t>(i)].push_back(rest % 3 == 0 ? (i == j ? 1 : 0)
                                                                          : -static_cast<std::int64_t>(p.M(i, j)));
        }
        const std::size_t columns = rows[0].size();
        for (Index i = 0; i < n; ++i) rows[static_cast<std::size_t>(i)].push_back(static_cast<std::int64_t>(p.q(i)));
        const std::int64_t factor = eliminate(rows, columns);
        if (factor == 0) continue;
        bool fits = true;
        for (std::size_t i = 0; i < rows.size() && fits; ++i) {
            const std::int64_t value = rows[i].back();
            fits = i < columns ? (factor > 0 ? value >= 0 : value <= 0) : value == 0;
        }
        if (fits) return true;
    }
    return false;
}

bool is_p_matrix(const Matrix& M) {
    for (unsigned bits = 1; bits < 1U << M.rows(); ++bits) {
        std::vector<Index> part;
        for (Index i = 0; i < M.rows(); ++i)
            if ((bits >> i & 1U) != 0) part.push_back(i);
        std::vector<Row> rows;
        for (const Index i : part) {
            rows.emplace_back();
            for (const Index j : part) rows.back().push_back(static_cast<std::int64_t>(M(i, j)));
        }
        // Leading minors of parts already seen are positive, so no rows are exchanged and the sign is the minor's.
        if (eliminate(rows, rows.size()) <= 0) return false;
    }
    return true;
}

}  // namespace saltus::solvers::test
