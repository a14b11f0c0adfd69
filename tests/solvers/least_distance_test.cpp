// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "saltus/solvers/program/least_distance.hpp"

#include "problems.hpp"
#include "saltus/sets/detail/generated_cone.hpp"
#include "saltus/solvers/program/linear_program.hpp"

namespace saltus::solvers::least_distance_test {
namespace {

using Eigen::Index;
using test::Random;

TEST(NonnegativeLeastSquares, ProjectsOntoTheConeOfTheColumns) {
    Random random(1);
    for (int k = 0; k < 2000; ++k) {
        const Index n = 1 + random.below(8), m = 1 + random.below(12);
        Matrix A = random.matrix(n, m);
        if (m > 2 && k % 3 == 0) A.col(m - 1) = A.col(0) + A.col(1);  // dependent
        if (m > 1 && k % 4 == 0) A.col(1) = -A.col(0);                // opposite
        for (Index j = 0; j < m; ++j) A.col(j).normalize();
        const Vector b = k % 5 == 0 ? Vector(A * random.vector(m).cwiseAbs()) : random.vector(n);
        const NonnegativeLeastSquares s = nonnegative_least_squares(A, b);
        EXPECT_GE(s.x.minCoeff(), 0.0);
        EXPECT_LE((b - A * s.x - s.residual).norm(), 1e-9 * (1.0 + s.x.norm()));
        EXPECT_NEAR(s.distance, s.residual.norm(), 1e-15);
        const Vector gain = A.transpose() * s.residual;
        EXPECT_LE(gain.maxCoeff(), 1e-13 * b.norm()) << k;
        EXPECT_LE(gain.cwiseProduct(s.x).cwiseAbs().maxCoeff(), 1e-11 * (1.0 + s.x.norm()) * b.norm());
        // The sets' own projection has the same distance.
        const sets::GeneratedCone cone(static_cast<int>(n), {A.data(), static_cast<std::size_t>(A.size())});
        Vector p(n);
        cone.project({b.data(), static_cast<std::size_t>(n)}, p.data());
        EXPECT_NEAR((b - p).norm(), s.distance, 1e-12 * b.norm());
    }
}

TEST(NonnegativeLeastSquares, OfAnEmptySystemIsZero) {
    EXPECT_EQ(nonnegative_least_squares(Matrix(3, 0), Vector::Ones(3)).distance, std::sqrt(3.0));
    EXPECT_EQ(nonnegative_least_squares(Matrix(0, 2), Vector(0)).distance, 0.0);
    EXPECT_EQ(nonnegative_least_squares(Matrix::Zero(2, 2), Vector::Ones(2)).x, Vector::Zero(2));
}

TEST(LeastDistance, IsThatOfTheProjection) {
    Random random(2);
    int infeasible = 0;
    for (int k = 0; k < 3000; ++k) {
        const Index n = 1 + random.below(6), m = 1 + random.below(12);
        Matrix G = random.matrix(m, n);
        for (Index i = 0; i < m; ++i) G.row(i).normalize();
        if (m > 2 && k % 3 == 0) G.row(m - 1) = (G.row(0) + G.row(1)).normalized();
        if (m > 3 && k % 4 == 0) G.row(1) = -G.row(0);
        Vector h = random.vector(m);
        if (k % 2 == 0) h = G * random.vector(n) - random.vector(m).cwiseAbs() * (k % 4 == 0 ? 0.0 : 1.0);
        if (k % 7 == 0) h = h.cwiseMin(0.0);
        const Vector p = 3.0 * random.vector(n);
        const LeastDistance s = least_distance(G, h, p);
        if (!s.feasible) {
            ++infeasible;
            EXPECT_LE((G.transpose() * s.multipliers).norm(), 1e-6 * s.multipliers.norm());
            EXPECT_GT(h.dot(s.multipliers), 0.0);
            // G x − s = h, s >= 0
            LinearProgram program{Matrix(m, n + m), h, Vector::Zero(n + m), Vector::Zero(n + m),
                                  Vector::Constant(n + m, std::numeric_limits<double>::infinity())};
            program.A << G, -Matrix::Identity(m, m);
            program.lower.head(n).setConstant(-std::numeric_limits<double>::infinity());
            EXPECT_EQ(solve(program).status, ProgramStatus::infeasible) << k;
            continue;
        }
        const double size = 1.0 + (s.x - p).norm();
        const Vector slack = G * s.x - h;
        EXPECT_GE(slack.minCoeff(), -1e-10 * size) << k;
        EXPECT_GE(s.multipliers.minCoeff(), 0.0);
        EXPECT_LE((s.x - p - G.transpose() * s.multipliers).norm(), 1e-10 * size) << k;
        EXPECT_LE(slack.cwiseProduct(s.multipliers).cwiseAbs().maxCoeff(), 1e-10 * size * size) << k;
    }
    EXPECT_GT(infeasible, 300);
}

TEST(LeastDistance, OfAPointInsideIsZero) {
    const LeastDistance s = least_distance(Matrix::Identity(2, 2), Vector::Zero(2), Vector::Ones(2));
    EXPECT_TRUE(s.feasible);
    EXPECT_EQ(s.x, Vector::Ones(2));
    EXPECT_EQ(s.multipliers, Vector::Zero(2));
}

}  // namespace
}  // namespace saltus::solvers::least_distance_test
