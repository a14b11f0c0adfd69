// SPDX-License-Identifier: Apache-2.0
#include "machine/rational.hpp"

#include <bit>
#include <cmath>
#include <optional>

namespace trials {

namespace {

Integer gcd(Integer a, Integer b) {
    if (a < 0) a = -a;
    if (b < 0) b = -b;
    while (b != 0) {
        const Integer rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

Integer product(Integer a, Integer b) {
    Integer result = 0;
    if (__builtin_mul_overflow(a, b, &result)) throw Overflow();
    return result;
}

Integer total(Integer a, Integer b) {
    Integer result = 0;
    if (__builtin_add_overflow(a, b, &result)) throw Overflow();
    return result;
}

}  // namespace

Rational::Rational(Integer numerator, Integer denominator) : numerator_(numerator), denominator_(denominator) {
    const Integer common = gcd(numerator_, denominator_);
    if (common > 1) numerator_ /= common, denominator_ /= common;
    if (denominator_ < 0) numerator_ = -numerator_, denominator_ = -denominator_;
}

Rational Rational::of(double value) {
    Integer denominator = 1;
    while (value != std::floor(value)) {
        value *= 2.0;
        denominator = product(denominator, 2);
    }
    return {static_cast<Integer>(value), denominator};
}

Rational operator+(const Rational& a, const Rational& b) {
    return {total(product(a.numerator_, b.denominator_), product(b.numerator_, a.denominator_)),
            product(a.denominator_, b.denominator_)};
}
Rational operator-(const Rational& a, const Rational& b) { return a + Rational(-1) * b; }
Rational operator*(const Rational& a, const Rational& b) {
    return {product(a.numerator_, b.numerator_), product(a.denominator_, b.denominator_)};
}
Rational operator/(const Rational& a, const Rational& b) {
    return {product(a.numerator_, b.denominator_), product(a.denominator_, b.numerator_)};
}

namespace {

/// Solution of Σ z_j columns_j = right for the chosen columns, which must be independent; nothing if there is none.
std::optional<Fractions> combine(const std::vector<Fractions>& columns, const std::vector<std::size_t>& chosen,
                                 const Fractions& right) {
    const std::size_t rows = right.size(), width = chosen.size();
    std::vector<Fractions> tableau(rows, Fractions(width + 1));
    for (std::size_t i = 0; i < rows; ++i) {
        for (std::size_t j = 0; j < width; ++j) tableau[i][j] = columns[chosen[j]][i];
        tableau[i][width] = right[i];
    }
    std::size_t pivot_row = 0;
    for (std::size_t j = 0; j < width; ++j, ++pivot_row) {
        std::size_t found = pivot_row;
        while (found < rows && tableau[found][j].sign() == 0) ++found;
        if (found == rows) return {};
        std::swap(tableau[found], tableau[pivot_row]);
        const Rational pivot = tableau[pivot_row][j];
        for (Rational& entry : tableau[pivot_row]) entry = entry / pivot;
        for (std::size_t i = 0; i < rows; ++i) {
            if (i == pivot_row || tableau[i][j].sign() == 0) continue;
            const Rational factor = tableau[i][j];
            for (std::size_t k = 0; k <= width; ++k) tableau[i][k] = tableau[i][k] - factor * tableau[pivot_row][k];
        }
    }
    for (std::size_t i = pivot_row; i < rows; ++i)
        if (tableau[i][width].sign() != 0) return {};
    Fractions z;
    for (std::size_t j = 0; j < width; ++j) z.push_back(tableau[j][width]);
    return z;
}

std::vector<std::size_t> members(unsigned mask) {
    std::vector<std::size_t> result;
    for (std::size_t j = 0; mask >> j; ++j)
        if (mask >> j & 1U) result.push_back(j);
    return result;
}

Rational cost_of(const Fractions& cost, const std::vector<std::size_t>& chosen, const Fractions& z) {
    Rational result;
    for (std::size_t i = 0; i < chosen.size(); ++i) result = result + cost[chosen[i]] * z[i];
    return result;
}

bool nonnegative(const Fractions& z) {
    for (const Rational& x : z)
        if (x.sign() < 0) return false;
    return true;
}

/// A ray z >= 0 with Σ z_j columns_j = 0 along which the cost falls. Extreme rays have z_j = 1 for one of their columns
/// and are unique combinations of the others.
bool has_falling_ray(const std::vector<Fractions>& columns, const Fractions& cost) {
    for (std::size_t j = 0; j < columns.size(); ++j) {
        Fractions negative;
        for (const Rational& x : columns[j]) negative.push_back(Rational(-1) * x);
        for (unsigned mask = 0; mask < 1U << columns.size(); ++mask) {
            if (mask >> j & 1U || static_cast<std::size_t>(std::popcount(mask)) > negative.size()) continue;
            const auto chosen = members(mask);
            const auto z = combine(columns, chosen, negative);
            if (z && nonnegative(*z) && (cost_of(cost, chosen, *z) + cost[j]).sign() < 0) return true;
        }
    }
    return false;
}

}  // namespace

ExactProgram solve_exactly(const std::vector<Fractions>& columns, const Fractions& right, const Fractions& cost) {
    ExactProgram result;
    for (unsigned mask = 0; mask < 1U << columns.size(); ++mask) {
        if (static_cast<std::size_t>(std::popcount(mask)) > right.size()) continue;
        const auto chosen = members(mask);
        const auto z = combine(columns, chosen, right);
        if (!z || !nonnegative(*z)) continue;
        const Rational value = cost_of(cost, chosen, *z);
        if (!result.feasible || (value - result.least).sign() < 0) result.least = value;
        result.feasible = true;
    }
    if (result.feasible) result.bounded = !has_falling_ray(columns, cost);
    return result;
}

Fractions solve_complementarity(const std::vector<Fractions>& matrix, const Fractions& r) {
    const std::size_t n = r.size();
    for (unsigned mask = 0; mask < 1U << n; ++mask) {
        // z_j > 0 for the members, w_j = 0 there.
        const auto active = members(mask);
        std::vector<Fractions> columns(active.size(), Fractions(active.size()));
        Fractions right;
        for (std::size_t i = 0; i < active.size(); ++i) {
            for (std::size_t j = 0; j < active.size(); ++j) columns[j][i] = matrix[active[i]][active[j]];
            right.push_back(Rational(-1) * r[active[i]]);
        }
        std::vector<std::size_t> all;
        for (std::size_t i = 0; i < active.size(); ++i) all.push_back(i);
        const auto part = combine(columns, all, right);
        if (!part || !nonnegative(*part)) continue;
        Fractions z(n), w = r;
        for (std::size_t i = 0; i < active.size(); ++i) z[active[i]] = (*part)[i];
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t j = 0; j < n; ++j) w[i] = w[i] + matrix[i][j] * z[j];
        if (nonnegative(w)) return z;
    }
    return {};
}

}  // namespace trials
