// SPDX-License-Identifier: Apache-2.0
#include "saltus/solvers/linear/block_matrix.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "saltus/base/error.hpp"
#include "saltus/base/index.hpp"

namespace saltus::solvers {

int BlockMatrix::find(int block_row, int column) const {
    if (row_start[ix(block_row) + 1] - row_start[ix(block_row)] == blocks()) return row_start[ix(block_row)] + column;
    const auto begin = block_column.begin() + row_start[ix(block_row)],
               end = block_column.begin() + row_start[ix(block_row) + 1];
    const auto found = std::lower_bound(begin, end, column);
    return found != end && *found == column ? static_cast<int>(found - block_column.begin()) : -1;
}

double BlockMatrix::at(int row, int column) const {
    const auto block_of = [&](int r) {
        return static_cast<int>(std::upper_bound(start.begin(), start.end(), r) - start.begin()) - 1;
    };
    const int a = block_of(row), b = block_of(column), entry = find(a, b);
    if (entry < 0) return 0.0;
    return values[offset[ix(entry)] + ix(row - start[ix(a)]) * ix(block_size(b)) + ix(column - start[ix(b)])];
}

double BlockMatrix::diagonal_mean() const {
    double sum = 0.0;
    for (int b = 0; b < blocks(); ++b) {
        const int entry = find(b, b);
        if (entry < 0) continue;
        const std::size_t n = ix(block_size(b));
        for (std::size_t i = 0; i < n; ++i) sum += values[offset[ix(entry)] + i * (n + 1)];
    }
    if (!std::isfinite(sum)) {  // the sum overflows: add the entries divided by their number
        sum = 0.0;
        for (int b = 0; b < blocks(); ++b)
            if (const int entry = find(b, b); entry >= 0)
                for (std::size_t i = 0, n = ix(block_size(b)); i < n; ++i)
                    sum += values[offset[ix(entry)] + i * (n + 1)] / rows();
        return sum;
    }
    return rows() > 0 ? sum / rows() : 0.0;
}

namespace {

/// y += A x for an n × m block of a size known at compile time.
template <int n, int m>
inline void add_image(const double* A, const double* x, double* y) {
    for (int i = 0; i < n; ++i) {
        double sum = 0.0;
        for (int j = 0; j < m; ++j) sum += A[i * m + j] * x[j];
        y[i] += sum;
    }
}

inline void add_image(std::size_t n, std::size_t m, const double* A, const double* x, double* y) {
    if (n == 3 && m == 3) return add_image<3, 3>(A, x, y);
    if (n == 2 && m == 2) return add_image<2, 2>(A, x, y);
    if (n == 1 && m == 1) return add_image<1, 1>(A, x, y);
    for (std::size_t i = 0; i < n; ++i) {
        double sum = 0.0;
        for (std::size_t j = 0; j < m; ++j) sum += A[i * m + j] * x[j];
        y[i] += sum;
    }
}

template <int n>
void multiply_uniform(const BlockMatrix& W, const double* x, double* y) {
    for (int a = 0; a < W.blocks(); ++a) {
        double sum[n] = {};
        for (int entry = W.row_start[ix(a)]; entry < W.row_start[ix(a) + 1]; ++entry)
            add_image<n, n>(W.values.data() + W.offset[ix(entry)], x + n * W.block_column[ix(entry)], sum);
        std::copy_n(sum, n, y + n * a);
    }
}

}  // namespace

void BlockMatrix::multiply_row(int a, std::span<const double> x, double* y) const { multiply_row(a, x, y, -1); }

void BlockMatrix::multiply_row(int a, std::span<const double> x, double* y, int without) const {
    const std::size_t n = ix(block_size(a));
    std::fill_n(y, n, 0.0);
    for (int entry = row_start[ix(a)]; entry < row_start[ix(a) + 1]; ++entry) {
        if (entry == without) continue;
        const int b = block_column[ix(entry)];
        add_image(n, ix(block_size(b)), values.data() + offset[ix(entry)], x.data() + start[ix(b)], y);
    }
}

int BlockMatrix::uniform_size() const {
    const int n = blocks() > 0 ? block_size(0) : 0;
    for (int b = 1; b < blocks(); ++b)
        if (start[ix(b)] != b * n) return 0;
    return rows() == n * blocks() ? n : 0;
}

void BlockMatrix::multiply(std::span<const double> x, std::span<double> y) const {
    switch (uniform_size()) {
        case 1: return multiply_uniform<1>(*this, x.data(), y.data());
        case 2: return multiply_uniform<2>(*this, x.data(), y.data());
        case 3: return multiply_uniform<3>(*this, x.data(), y.data());
        default:
            for (int a = 0; a < blocks(); ++a) multiply_row(a, x, y.data() + start[ix(a)]);
    }
}

BlockMatrix BlockMatrix::from_dense(const Matrix& A, std::span<const int> sizes) {
    BlockMatrix B;
    B.set_full(sizes);
    SALTUS_EXPECT(A.rows() == B.rows() && A.cols() == B.rows());
    double* value = B.values.data();
    for (int a = 0; a < B.blocks(); ++a)
        for (int b = 0; b < B.blocks(); ++b)
            for (int i = B.start[ix(a)]; i < B.start[ix(a) + 1]; ++i)
                for (int j = B.start[ix(b)]; j < B.start[ix(b) + 1]; ++j) *value++ = A(i, j);
    return B;
}

void BlockMatrix::set_full(std::span<const int> sizes) {
    const std::size_t count = sizes.size();
    start.resize(count + 1);
    row_start.resize(count + 1);
    block_column.resize(count * count);
    offset.resize(count * count);
    start[0] = row_start[0] = 0;
    for (std::size_t a = 0; a < count; ++a) {
        start[a + 1] = start[a] + sizes[a];
        row_start[a + 1] = static_cast<int>((a + 1) * count);
    }
    std::size_t size = 0;
    for (std::size_t a = 0; a < count; ++a)
        for (std::size_t b = 0; b < count; ++b) {
            block_column[a * count + b] = static_cast<int>(b);
            offset[a * count + b] = size;
            size += ix(sizes[a]) * ix(sizes[b]);
        }
    values.resize(size);
}

BlockMatrix BlockMatrix::from_triplets(std::span<const Triplet> triplets, std::span<const int> sizes) {
    BlockMatrix B;
    for (const int s : sizes) B.start.push_back(B.start.back() + s);
    std::vector<int> block_of(ix(B.rows()));
    for (int b = 0; b < B.blocks(); ++b)
        std::fill(block_of.begin() + B.start[ix(b)], block_of.begin() + B.start[ix(b) + 1], b);

    std::vector<std::vector<int>> columns(ix(B.blocks()));
    for (int b = 0; b < B.blocks(); ++b) columns[ix(b)].push_back(b);
    for (const Triplet& t : triplets) columns[ix(block_of[ix(t.row)])].push_back(block_of[ix(t.column)]);
    for (int a = 0; a < B.blocks(); ++a) {
        std::vector<int>& list = columns[ix(a)];
        std::sort(list.begin(), list.end());
        list.erase(std::unique(list.begin(), list.end()), list.end());
        for (const int b : list) {
            B.block_column.push_back(b);
            B.offset.push_back(B.values.size());
            B.values.resize(B.values.size() + ix(B.block_size(a)) * ix(B.block_size(b)), 0.0);
        }
        B.row_start.push_back(static_cast<int>(B.block_column.size()));
    }
    for (const Triplet& t : triplets) {
        const int a = block_of[ix(t.row)], b = block_of[ix(t.column)], entry = B.find(a, b);
        B.values[B.offset[ix(entry)] + ix(t.row - B.start[ix(a)]) * ix(B.block_size(b)) +
                 ix(t.column - B.start[ix(b)])] += t.value;
    }
    return B;
}

Matrix to_dense(const BlockMatrix& B) {
    Matrix A = Matrix::Zero(B.rows(), B.rows());
    for (int a = 0; a < B.blocks(); ++a)
        for (int entry = B.row_start[ix(a)]; entry < B.row_start[ix(a) + 1]; ++entry) {
            const int b = B.block_column[ix(entry)];
            const double* v = B.values.data() + B.offset[ix(entry)];
            for (int i = B.start[ix(a)]; i < B.start[ix(a) + 1]; ++i)
                for (int j = B.start[ix(b)]; j < B.start[ix(b) + 1]; ++j) A(i, j) = *v++;
        }
    return A;
}

}  // namespace saltus::solvers
