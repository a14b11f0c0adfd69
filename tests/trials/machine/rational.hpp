// SPDX-License-Identifier: Apache-2.0
//
// Exact fractions for linear programs. Numbers that do not fit into 128 bits throw, so that a result is exact or
// absent.
#pragma once

#include <stdexcept>
#include <vector>

namespace trials {

__extension__ using Integer = __int128;

class Rational {
public:
    Rational(long long whole = 0) : numerator_(whole) {}  // NOLINT: whole numbers are fractions
    Rational(Integer numerator, Integer denominator);
    /// The exact value of a double with a short binary fraction.
    static Rational of(double value);

    double value() const { return static_cast<double>(numerator_) / static_cast<double>(denominator_); }
    int sign() const { return numerator_ > 0 ? 1 : numerator_ < 0 ? -1 : 0; }

    friend Rational operator+(const Rational& a, const Rational& b);
    friend Rational operator-(const Rational& a, const Rational& b);
    friend Rational operator*(const Rational& a, const Rational& b);
    friend Rational operator/(const Rational& a, const Rational& b);

private:
    Integer numerator_ = 0, denominator_ = 1;
};

struct Overflow : std::overflow_error {
    Overflow() : std::overflow_error("a fraction does not fit into 128 bits") {}
};

using Fractions = std::vector<Rational>;

/// What is exactly true of the program: least cᵀz over z >= 0 with Σ z_j columns_j = right.
struct ExactProgram {
    bool feasible = false, bounded = true;
    Rational least;
};

/// By enumeration of all bases; for at most a dozen columns and four rows.
ExactProgram solve_exactly(const std::vector<Fractions>& columns, const Fractions& right, const Fractions& cost);

/// The z >= 0 with w = M z + r >= 0 and zᵀw = 0, by enumeration; empty if there is none. M: rows.
Fractions solve_complementarity(const std::vector<Fractions>& matrix, const Fractions& r);

}  // namespace trials
