// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace saltus::solvers {

/// Solves A x = b, n <= max_rows, by Gauss elimination with row pivots. A is row-major. Returns false if a pivot is not
/// larger than `smallest_pivot` times the largest element of A; x is then undefined.
template <int max_rows>
bool solve_small(int n, const double* A, const double* b, double* x, double smallest_pivot) {
    double M[max_rows][max_rows + 1];
    double size = 0.0;
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j < n; ++j) {
            M[i][j] = A[i * n + j];
            size = std::max(size, std::abs(M[i][j]));
        }
        M[i][n] = b[i];
    }
    for (int k = 0; k < n; ++k) {
        int pivot = k;
        for (int i = k + 1; i < n; ++i)
            if (std::abs(M[i][k]) > std::abs(M[pivot][k])) pivot = i;
        if (!(std::abs(M[pivot][k]) > smallest_pivot * size)) return false;
        if (pivot != k)
            for (int j = k; j <= n; ++j) std::swap(M[k][j], M[pivot][j]);
        for (int i = k + 1; i < n; ++i) {
            const double f = M[i][k] / M[k][k];
            for (int j = k + 1; j <= n; ++j) M[i][j] -= f * M[k][j];
        }
    }
    for (int i = n - 1; i >= 0; --i) {
        double sum = M[i][n];
        for (int j = i + 1; j < n; ++j) sum -= M[i][j] * x[j];
        x[i] = sum / M[i][i];
    }
    return true;
}

/// Solves a singular but consistent system A x = b, n <= max_rows, starting from the given x. Full pivoting eliminates
/// the residual b − A x as far as pivots exceed rounding; only the unknowns of these pivots change. Returns false if
/// the remaining equations are contradictory, that is if their residual exceeds rounding.
template <int max_rows>
bool solve_consistent(int n, const double* A, const double* b, double* x) {
    constexpr double rounding = 256 * std::numeric_limits<double>::epsilon();  // relative to the largest terms
    double M[max_rows][max_rows + 1];
    int column[max_rows];
    double size = 0.0, load = 0.0;
    for (int i = 0; i < n; ++i) {
        column[i] = i;
        M[i][n] = b[i];
        double sum = std::abs(b[i]);
        for (int j = 0; j < n; ++j) {
            M[i][j] = A[i * n + j];
            M[i][n] -= A[i * n + j] * x[j];
            size = std::max(size, std::abs(M[i][j]));
            sum += std::abs(A[i * n + j] * x[j]);
        }
        load = std::max(load, sum);
    }
    int rank = 0;
    for (; rank < n; ++rank) {
        int row = rank, pivot = rank;
        for (int i = rank; i < n; ++i)
            for (int j = rank; j < n; ++j)
                if (std::abs(M[i][j]) > std::abs(M[row][pivot])) row = i, pivot = j;
        if (!(std::abs(M[row][pivot]) > rounding * size)) break;
        std::swap(column[rank], column[pivot]);
        for (int i = 0; i < n; ++i) std::swap(M[i][rank], M[i][pivot]);
        for (int j = 0; j <= n; ++j) std::swap(M[rank][j], M[row][j]);
        for (int i = rank + 1; i < n; ++i) {
            const double f = M[i][rank] / M[rank][rank];
            for (int j = rank + 1; j <= n; ++j) M[i][j] -= f * M[rank][j];
        }
    }
    for (int i = rank; i < n; ++i)
        if (!(std::abs(M[i][n]) <= n * rounding * load)) return false;
    for (int i = rank - 1; i >= 0; --i) {
        double sum = M[i][n];
        for (int j = i + 1; j < rank; ++j) sum -= M[i][j] * M[j][n];
        M[i][n] = sum / M[i][i];
        x[column[i]] += M[i][n];
    }
    return true;
}

/// B = A⁻¹ for row-major n × n matrices, by Gauss–Jordan elimination with row pivots. A is destroyed. Returns false if
/// a pivot is zero or not finite.
inline bool invert_small(int n, double* A, double* B) {
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) B[i * n + j] = i == j ? 1.0 : 0.0;
    for (int k = 0; k < n; ++k) {
        int pivot = k;
        for (int i = k + 1; i < n; ++i)
            if (std::abs(A[i * n + k]) > std::abs(A[pivot * n + k])) pivot = i;
        const double largest = std::abs(A[pivot * n + k]);
        if (!(largest > 0.0) || !std::isfinite(largest)) return false;
        if (pivot != k)
            for (int j = 0; j < n; ++j)
                std::swap(A[k * n + j], A[pivot * n + j]), std::swap(B[k * n + j], B[pivot * n + j]);
        const double over = 1.0 / A[k * n + k];
        for (int j = 0; j < n; ++j) A[k * n + j] *= over, B[k * n + j] *= over;
        for (int i = 0; i < n; ++i) {
            const double f = A[i * n + k];
            if (i == k || f == 0.0) continue;
            for (int j = 0; j < n; ++j) A[i * n + j] -= f * A[k * n + j], B[i * n + j] -= f * B[k * n + j];
        }
    }
    return true;
}

}  // namespace saltus::solvers
