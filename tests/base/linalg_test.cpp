// SPDX-License-Identifier: Apache-2.0
#include "saltus/base/linalg.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>

#include "saltus/base/eigenvalues.hpp"

namespace saltus::linalg_test {

namespace {

constexpr double eps = std::numeric_limits<double>::epsilon();

Matrix random_matrix(int rows, int columns, std::mt19937& random) {
    std::normal_distribution<double> normal;
    return Matrix::NullaryExpr(rows, columns, [&] { return normal(random); });
}

/// row − Σ factor · independent row, largest component
double combination_error(const Matrix& rows, const RowRank::Dependent& d) {
    Vector rest = rows.row(d.row).transpose();
    for (const auto& [row, factor] : d.combination) rest -= factor * rows.row(row).transpose();
    return rest.size() == 0 ? 0.0 : rest.cwiseAbs().maxCoeff();
}

TEST(RowRank, CombinationsHoldForRowsOfVeryDifferentSize) {
    Matrix rows(3, 2);
    rows << 1e-9, 0, 1e9, 1e9, 1, 2;
    const RowRank r = row_rank(rows);
    EXPECT_EQ(r.rank, 2);
    ASSERT_EQ(r.dependent.size(), 1U);
    ASSERT_EQ(r.dependent[0].combination.size(), 2U);  // (1, 2) = -1e9 (1e-9, 0) + 2e-9 (1e9, 1e9)
    EXPECT_NEAR(r.dependent[0].combination[0].second, -1e9, 1e-6);
    EXPECT_NEAR(r.dependent[0].combination[1].second, 2e-9, 1e-24);
}

}  // namespace

TEST(SymmetricSpectrum, GivesTheExtremesAndTheDirectionOfTheSmallest) {
    const Matrix A{{2.0, 1.0, 0.0}, {1.0, 2.0, 0.0}, {0.0, 0.0, 2.5}};  // 1 along (1, −1, 0), 3, 2.5
    const Spectrum s = symmetric_spectrum(A);
    EXPECT_NEAR(s.smallest, 1.0, 16 * eps);
    EXPECT_NEAR(s.largest, 3.0, 16 * eps);
    EXPECT_NEAR(s.smallest_direction.norm(), 1.0, 16 * eps);
    EXPECT_NEAR((A * s.smallest_direction - s.smallest_direction).norm(), 0.0, 32 * eps);
}

TEST(SymmetricSpectrum, ReadsTheLowerTriangleOnly) {
    const Matrix A{{2.0, 99.0}, {1.0, 2.0}};
    EXPECT_NEAR(symmetric_spectrum(A).smallest, 1.0, 16 * eps);
}

TEST(SymmetricSpectrum, SeesNegativeEigenvalues) {
    const Matrix A{{1.0, 0.0}, {0.0, -4.0}};
    const Spectrum s = symmetric_spectrum(A);
    EXPECT_EQ(s.smallest, -4.0);
    EXPECT_EQ(s.largest, 1.0);
    EXPECT_EQ(std::abs(s.smallest_direction(1)), 1.0);
}

TEST(SymmetricSpectrum, OfAnEmptyMatrixIsZero) {
    const Spectrum s = symmetric_spectrum(Matrix(0, 0));
    EXPECT_EQ(s.smallest, 0.0);
    EXPECT_EQ(s.largest, 0.0);
    EXPECT_EQ(s.smallest_direction.size(), 0);
}

TEST(RowRank, KeepsTheEarlierOfTwoEqualRows) {
    const Matrix rows{{1.0, 2.0}, {1.0, 2.0}, {0.0, 1.0}};
    const RowRank r = row_rank(rows);
    EXPECT_EQ(r.rank, 2);
    EXPECT_EQ(r.independent, (std::vector<int>{0, 2}));
    ASSERT_EQ(r.dependent.size(), 1U);
    EXPECT_EQ(r.dependent[0].row, 1);
    ASSERT_EQ(r.dependent[0].combination.size(), 1U);
    EXPECT_EQ(r.dependent[0].combination[0].first, 0);
    EXPECT_NEAR(r.dependent[0].combination[0].second, 1.0, 64 * eps);
}

TEST(RowRank, NamesTheCombinationOfADependentRow) {
    const Matrix rows{{1.0, -0.8}, {1.0, 0.0}, {1.0, 0.8}};  // the forklift: right = −left + 2·fork
    const RowRank r = row_rank(rows);
    ASSERT_EQ(r.dependent.size(), 1U);
    EXPECT_EQ(r.dependent[0].row, 2);
    ASSERT_EQ(r.dependent[0].combination.size(), 2U);
    EXPECT_EQ(r.dependent[0].combination[0].first, 0);
    EXPECT_NEAR(r.dependent[0].combination[0].second, -1.0, 64 * eps);
    EXPECT_EQ(r.dependent[0].combination[1].first, 1);
    EXPECT_NEAR(r.dependent[0].combination[1].second, 2.0, 64 * eps);
}

TEST(RowRank, LeavesRowsThatTakeNoPartOutOfTheCombination) {
    const Matrix rows{{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 3.0, 0.0}};
    const RowRank r = row_rank(rows);
    ASSERT_EQ(r.dependent.size(), 1U);
    ASSERT_EQ(r.dependent[0].combination.size(), 1U);
    EXPECT_EQ(r.dependent[0].combination[0].first, 1);
}

TEST(RowRank, CountsAZeroRowAsDependentOnNothing) {
    const Matrix rows{{0.0, 0.0}, {1.0, 0.0}};
    const RowRank r = row_rank(rows);
    EXPECT_EQ(r.rank, 1);
    EXPECT_EQ(r.independent, std::vector<int>{1});
    ASSERT_EQ(r.dependent.size(), 1U);
    EXPECT_EQ(r.dependent[0].row, 0);
    EXPECT_TRUE(r.dependent[0].combination.empty());
}

TEST(RowRank, DoesNotDependOnTheLengthsOfTheRows) {
    Matrix rows{{1.0, 2.0, 3.0}, {4.0, 5.0, 6.0}, {7.0, 8.0, 10.0}};
    rows.row(0) *= 1e-12;
    rows.row(2) *= 1e9;
    EXPECT_EQ(row_rank(rows).rank, 3);
}

TEST(RowRank, AppliesItsToleranceToTheDirection) {
    const Matrix rows{{1.0, 0.0}, {1.0, 1e-6}};
    EXPECT_EQ(row_rank(rows).rank, 2);
    EXPECT_EQ(row_rank(rows, 1e-5).rank, 1);
    const Matrix nearer{{1.0, 0.0}, {1.0, 1e-12}};
    EXPECT_EQ(row_rank(nearer).rank, 1);
}

TEST(RowRank, OfNoRowsOrNoColumnsIsZero) {
    EXPECT_EQ(row_rank(Matrix(0, 3)).rank, 0);
    const RowRank r = row_rank(Matrix(2, 0));
    EXPECT_EQ(r.rank, 0);
    EXPECT_EQ(r.dependent.size(), 2U);
}

TEST(RowRank, FindsTheRankOfRandomProducts) {
    std::mt19937 random(3);
    for (int trial = 0; trial < 50; ++trial) {
        const int rank = 1 + trial % 5, rows = rank + trial % 4, columns = rank + trial % 3;
        const Matrix A = random_matrix(rows, rank, random) * random_matrix(rank, columns, random);
        const RowRank r = row_rank(A);
        EXPECT_EQ(r.rank, rank);
        EXPECT_EQ(static_cast<int>(r.independent.size() + r.dependent.size()), rows);
        for (const RowRank::Dependent& d : r.dependent) EXPECT_LT(combination_error(A, d), 1e-9 * A.norm());
    }
}

TEST(LeastSquares, SolvesASquareSystem) {
    const Matrix A{{2.0, 1.0}, {1.0, 3.0}};
    const Vector b{{5.0, 10.0}};
    const Vector x = least_squares(A, b);
    EXPECT_NEAR(x(0), 1.0, 64 * eps);
    EXPECT_NEAR(x(1), 3.0, 64 * eps);
}

TEST(LeastSquares, GivesTheShortestOfManySolutions) {
    const Matrix A{{3.0, 4.0}};
    const Vector x = least_squares(A, Vector{{25.0}});
    EXPECT_NEAR(x(0), 3.0, 64 * eps);
    EXPECT_NEAR(x(1), 4.0, 64 * eps);
}

TEST(LeastSquares, FitsWhatCannotBeSolved) {
    const Matrix A{{1.0}, {1.0}};
    EXPECT_NEAR(least_squares(A, Vector{{1.0, 2.0}})(0), 1.5, 16 * eps);
}

TEST(LeastSquares, MeetsTheOptimalityConditionsAtAnyRank) {
    std::mt19937 random(5);
    for (int trial = 0; trial < 50; ++trial) {
        const int rank = 1 + trial % 4;
        const Matrix A = random_matrix(6, rank, random) * random_matrix(rank, 5, random);
        const Vector b = random_matrix(6, 1, random);
        const Vector x = least_squares(A, b);
        EXPECT_LT((A.transpose() * (A * x - b)).norm(),
                  1e-10 * A.squaredNorm());  // the residual is normal to the range
        const Vector y = least_squares(A.transpose(), x);
        EXPECT_LT((A.transpose() * y - x).norm(), 1e-10 * (1.0 + x.norm()));  // x lies in the row space
    }
}

/// Up to 16 rows and columns plain loops find the solution, beyond them Eigen's decomposition.
TEST(LeastSquares, OfSmallAndLargeMatricesAreTheSameAtAnyShapeAndRank) {
    std::mt19937 random(11);
    for (int trial = 0; trial < 200; ++trial) {
        const int rows = 1 + trial % 7, columns = 1 + (trial / 7) % 6, rank = 1 + trial % std::min(rows, columns);
        const Matrix A = random_matrix(rows, rank, random) * random_matrix(rank, columns, random);
        const Matrix B = random_matrix(rows, 3, random);
        Matrix large = Matrix::Zero(20, columns), right = Matrix::Zero(20, 3);
        large.topRows(rows) = A;
        right.topRows(rows) = B;
        const Matrix x = least_squares_columns(A, B, 1e-8), y = least_squares_columns(large, right, 1e-8);
        EXPECT_LT((x - y).norm(), 1e-7 * (1.0 + y.norm())) << rows << " x " << columns << " of rank " << rank;
    }
}

TEST(LeastSquares, OfNumbersThatAreNotFiniteAreNotFinite) {
    Matrix A = Matrix::Identity(3, 3);
    A(1, 2) = std::numeric_limits<double>::quiet_NaN();
    EXPECT_FALSE(least_squares(A, Vector::Ones(3)).allFinite());
}

TEST(LeastSquares, OfAnEmptySystemIsZero) {
    EXPECT_EQ(least_squares(Matrix(0, 3), Vector(0)), Vector::Zero(3));
    EXPECT_EQ(least_squares(Matrix(3, 0), Vector::Ones(3)).size(), 0);
}

/// A turn by an angle, stretched, has the eigenvalues r exp(±i angle); a triangular matrix has its diagonal.
TEST(Eigenvalues, OfMatricesThatAreNotSymmetric) {
    const double r = 1.5, angle = 0.7;
    Matrix turn(2, 2);
    turn << r * std::cos(angle), -r * std::sin(angle), r * std::sin(angle), r * std::cos(angle);
    std::vector<std::complex<double>> pair = eigenvalues(turn);
    ASSERT_EQ(pair.size(), 2U);
    for (const std::complex<double>& x : pair) {
        EXPECT_NEAR(std::abs(x), r, 4 * eps);
        EXPECT_NEAR(std::abs(std::arg(x)), angle, 4 * eps);
    }
    Matrix triangle(2, 2);
    triangle << 2, 7, 0, -3;
    const Eigenpairs solved = eigenpairs(triangle);
    ASSERT_EQ(solved.values.size(), 2U);
    for (Eigen::Index k = 0; k < 2; ++k) {
        const std::complex<double> x = solved.values[static_cast<std::size_t>(k)];
        EXPECT_LT((triangle * solved.vectors.col(k) - x.real() * solved.vectors.col(k)).norm(), 1e-14);
    }
    EXPECT_TRUE(eigenvalues(Matrix(0, 0)).empty());
}

}  // namespace saltus::linalg_test
