// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <random>
#include <vector>

#include "saltus/proof/box.hpp"
#include "saltus/proof/matrix.hpp"

/// Random intervals and random points inside them. Every test has its own fixed seed.
namespace saltus::test {

using proof::Box;
using proof::Interval;
using proof::IntervalMatrix;

class Random {
public:
    explicit Random(unsigned seed) : engine_(seed) {}

    double uniform(double lo, double hi) { return std::uniform_real_distribution<double>(lo, hi)(engine_); }
    int integer(int lo, int hi) { return std::uniform_int_distribution<int>(lo, hi)(engine_); }

    /// An interval around a random centre, of at most the given radius; a point in one case of five.
    Interval interval(double size, double radius) {
        const double c = uniform(-size, size), r = integer(0, 4) == 0 ? 0.0 : uniform(0.0, radius);
        return {c - r, c + r};
    }

    /// A point of the interval; its ends in one case of two. Unbounded intervals are cut at ±`far`.
    double point(const Interval& x, double far = 10.0) {
        const double lo = std::max(x.lo, std::min(-far, x.hi)), hi = std::min(x.hi, std::max(far, x.lo));
        switch (integer(0, 3)) {
            case 0: return lo;
            case 1: return hi;
            default: return std::clamp(uniform(lo, hi), lo, hi);
        }
    }
    std::vector<double> point(const Box& box, double far = 10.0) {
        std::vector<double> x;
        for (const Interval& side : box) x.push_back(point(side, far));
        return x;
    }

    Matrix matrix(int rows, int cols, double size = 1.0) {
        Matrix A(rows, cols);
        for (int i = 0; i < rows; ++i)
            for (int j = 0; j < cols; ++j) A(i, j) = uniform(-size, size);
        return A;
    }
    /// A matrix of the set.
    Matrix matrix(const IntervalMatrix& A) {
        Matrix B(A.rows(), A.cols());
        for (int i = 0; i < A.rows(); ++i)
            for (int j = 0; j < A.cols(); ++j) B(i, j) = point(A(i, j));
        return B;
    }
    /// A symmetric matrix of the set; A must have symmetric intervals.
    Matrix symmetric(const IntervalMatrix& A) {
        Matrix B = matrix(A);
        for (int i = 0; i < B.rows(); ++i)
            for (int j = 0; j < i; ++j) B(i, j) = B(j, i);
        return B;
    }

private:
    std::mt19937_64 engine_;
};

/// All matrices that differ from A by at most `radius` in each entry.
inline IntervalMatrix around(const Matrix& A, double radius) {
    IntervalMatrix B(static_cast<int>(A.rows()), static_cast<int>(A.cols()));
    for (int i = 0; i < B.rows(); ++i)
        for (int j = 0; j < B.cols(); ++j) B(i, j) = Interval(A(i, j) - radius, A(i, j) + radius);
    return B;
}

/// x lies in the interval widened by the rounding error of a computation with numbers of this size.
inline bool inside(const Interval& x, double value, double size = 1.0) {
    const double rounding = 256.0 * std::numeric_limits<double>::epsilon() * std::max(size, std::abs(value));
    return x.lo - rounding <= value && value <= x.hi + rounding;
}

}  // namespace saltus::test
