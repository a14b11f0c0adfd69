// SPDX-License-Identifier: Apache-2.0
#include "machine/linear.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace trials {

double dot(std::span<const double> a, std::span<const double> b) {
    double result = 0.0;
    for (std::size_t i = 0; i < a.size(); ++i) result += a[i] * b[i];
    return result;
}

double norm(std::span<const double> a) { return std::sqrt(dot(a, a)); }

Vector times(const Matrix& a, std::span<const double> x) {
    Vector result;
    for (const Vector& row : a) result.push_back(dot(row, x));
    return result;
}

Vector plus(std::span<const double> a, std::span<const double> b, double factor) {
    Vector result(a.begin(), a.end());
    for (std::size_t i = 0; i < a.size(); ++i) result[i] += factor * b[i];
    return result;
}

Vector solve(Matrix a, Vector b) {
    const std::size_t n = b.size();
    double largest = 0.0;
    for (const Vector& row : a)
        for (const double x : row) largest = std::max(largest, std::abs(x));
    for (std::size_t k = 0; k < n; ++k) {
        std::size_t pivot = k;
        for (std::size_t i = k + 1; i < n; ++i)
            if (std::abs(a[i][k]) > std::abs(a[pivot][k])) pivot = i;
        if (!(std::abs(a[pivot][k]) > 1e-13 * largest)) return {};
        std::swap(a[k], a[pivot]);
        std::swap(b[k], b[pivot]);
        for (std::size_t i = k + 1; i < n; ++i) {
            const double factor = a[i][k] / a[k][k];
            for (std::size_t j = k; j < n; ++j) a[i][j] -= factor * a[k][j];
            b[i] -= factor * b[k];
        }
    }
    for (std::size_t k = n; k-- > 0;) {
        for (std::size_t j = k + 1; j < n; ++j) b[k] -= a[k][j] * b[j];
        b[k] /= a[k][k];
    }
    return b;
}

namespace {

/// Least squares over the columns that `chosen` names, by normal equations with a tiny shift for dependent columns.
Vector unconstrained(const std::vector<Vector>& columns, const std::vector<std::size_t>& chosen,
                     std::span<const double> b) {
    Matrix normal;
    Vector right;
    double largest = 0.0;
    for (const std::size_t i : chosen) {
        Vector row;
        for (const std::size_t j : chosen) row.push_back(dot(columns[i], columns[j]));
        normal.push_back(row);
        right.push_back(dot(columns[i], b));
        largest = std::max(largest, row[normal.size() - 1]);
    }
    for (std::size_t i = 0; i < normal.size(); ++i) normal[i][i] += 1e-14 * largest;
    return solve(normal, right);
}

Vector residual(const std::vector<Vector>& columns, std::span<const double> z, std::span<const double> b) {
    Vector r(b.begin(), b.end());
    for (std::size_t j = 0; j < columns.size(); ++j)
        if (z[j] != 0.0) r = plus(r, columns[j], -z[j]);
    return r;
}

/// Goes from z towards the least squares solution over `passive`, and drops the columns that reach 0.
void step_inside(const std::vector<Vector>& columns, std::span<const double> b, Vector& z,
                 std::vector<std::size_t>& passive) {
    while (!passive.empty()) {
        const Vector s = unconstrained(columns, passive, b);
        if (s.empty()) {
            passive.pop_back();
            continue;
        }
        double length = 1.0;
        for (std::size_t i = 0; i < passive.size(); ++i)
            if (s[i] <= 0.0) length = std::min(length, z[passive[i]] / (z[passive[i]] - s[i] + 1e-300));
        for (std::size_t i = 0; i < passive.size(); ++i) z[passive[i]] += length * (s[i] - z[passive[i]]);
        if (length == 1.0 && std::ranges::all_of(s, [](double x) { return x > 0.0; })) return;
        std::vector<std::size_t> kept;
        for (std::size_t i = 0; i < passive.size(); ++i) {
            if (z[passive[i]] > 1e-15 * std::abs(s[i]) && (s[i] > 0.0 || z[passive[i]] > 0.0))
                kept.push_back(passive[i]);
            else
                z[passive[i]] = 0.0;
        }
        if (kept.size() == passive.size()) return;
        passive = kept;
    }
}

}  // namespace

Vector nonnegative_least_squares(const std::vector<Vector>& columns, std::span<const double> b) {
    Vector z(columns.size(), 0.0);
    std::vector<std::size_t> passive;
    constexpr int max_steps = 300;  // each step adds one column; a few dozen are normal
    for (int step = 0; step < max_steps; ++step) {
        const Vector r = residual(columns, z, b);
        std::size_t best = columns.size();
        double gain = 1e-13 * norm(b);
        for (std::size_t j = 0; j < columns.size(); ++j) {
            const double length = norm(columns[j]);
            if (length == 0.0 || std::ranges::find(passive, j) != passive.end()) continue;
            if (const double slope = dot(columns[j], r) / length; slope > gain) gain = slope, best = j;
        }
        if (best == columns.size()) break;
        passive.push_back(best);
        const Vector before = z;
        step_inside(columns, b, z, passive);
        if (norm(residual(columns, z, b)) >= norm(r) * (1.0 - 1e-13))
            return norm(r) <= norm(residual(columns, z, b)) ? before : z;
    }
    return z;
}

}  // namespace trials
