// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>

#include "saltus/base/factors.hpp"
#include "saltus/impact/frictionless.hpp"

/// Collisions for the tests of the energetic conditions.
namespace saltus::impact::test {

using Eigen::Index;

/// The same numbers with every standard library.
class Random {
public:
    explicit Random(unsigned seed) : engine_(seed) {}
    double uniform() { return (static_cast<double>(engine_()) + 0.5) * 0x1p-32; }
    double normal() { return std::sqrt(-2.0 * std::log(uniform())) * std::cos(2.0 * std::numbers::pi * uniform()); }
    int below(int n) { return static_cast<int>(uniform() * n); }
    Vector vector(Index n) {
        return Vector::NullaryExpr(n, [&] { return normal(); });
    }
    Matrix matrix(Index rows, Index columns) {
        return Matrix::NullaryExpr(rows, columns, [&] { return normal(); });
    }
    Matrix mass(Index n) {
        const Matrix A = matrix(n, n);
        return A * A.transpose() + 0.1 * Matrix::Identity(n, n);
    }
    /// Nonnegative, a third of it zero.
    Vector impulses(Index n) {
        return Vector::NullaryExpr(n, [&] { return std::max(0.0, normal() + 0.4); });
    }

private:
    std::mt19937 engine_;
};

inline Vector vector_of(const std::vector<double>& values) {
    return Eigen::Map<const Vector>(values.data(), static_cast<Index>(values.size()));
}

inline Matrix matrix_of(const std::vector<std::vector<double>>& rows) {
    Matrix A(static_cast<Index>(rows.size()), static_cast<Index>(rows.front().size()));
    for (Index i = 0; i < A.rows(); ++i) A.row(i) = vector_of(rows[static_cast<std::size_t>(i)]).transpose();
    return A;
}

inline Vector after(const FrictionlessCollision& c, const Vector& Lambda) {
    Vector impulse = c.directions * Lambda;
    if (c.impulse.size() > 0) impulse += c.impulse;
    return c.u_minus + Cholesky(c.M).solve(impulse);
}

/// Contacts on one side of a plane, so that P⁺ and P⁻ are not empty and the work is bounded; u⁺ from random impulses,
/// which are returned. u⁺ need not leave the obstacles.
inline FrictionlessCollision random_collision(Random& random, Index n, Index contacts, bool external, Vector& Lambda) {
    FrictionlessCollision c;
    c.M = random.mass(n);
    c.directions = random.matrix(n, contacts);
    const Vector side = random.vector(n);
    for (Index i = 0; i < contacts; ++i)
        if (c.directions.col(i).dot(side) < 0.0) c.directions.col(i) *= -1.0;
    c.chi = random.vector(contacts);
    c.u_minus = random.vector(n);
    if (external) c.impulse = random.vector(n);
    Lambda = random.impulses(contacts);
    c.u_plus = after(c, Lambda);
    return c;
}

inline double squared_norm(const FrictionlessCollision& c, const Vector& u) { return u.dot(c.M * u); }

}  // namespace saltus::impact::test
