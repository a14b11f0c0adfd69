// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace saltus::solvers {

/// Gauss elimination with row pivots of a system of at most `most` rows, A row-major; false when a pivot is not above
/// `least` of the largest element.
template <int most>
bool solve_small(int n, const double* A, const double* b, double* x, double least) {
    double M[most][most + 1];
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
        if (!(std::abs(M[pivot][k]) > least * size)) return false;
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

/// A singular system that has a solution: pivots over the whole matrix, as many as are above rounding; x is changed
/// along the pivots' unknowns only. False when the rest contradicts itself.
template <int most>
bool solve_consistent(int n, const double* A, const double* b, double* x) {
    constexpr double rounding = 256 * std::numeric_limits<double>::epsilon();
    double M[most][most + 1];
    int column[most];
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

/// B = A⁻¹ of n × n matrices, row-major, by Gauss–Jordan with row pivots; A is destroyed. False when singular.
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
