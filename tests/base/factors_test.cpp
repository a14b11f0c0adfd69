// SPDX-License-Identifier: Apache-2.0
#include "saltus/base/factors.hpp"

#include <gtest/gtest.h>

#include "saltus/base/decompositions.hpp"

namespace saltus::factors_test {
namespace {

constexpr double rounding = 1e-13;

Matrix positive() {
    Matrix A(3, 3);
    A << 4, 1, 0.5, 1, 3, -1, 0.5, -1, 2;
    return A;
}

/// Rank 2: the third column is the sum of the others.
Matrix deficient() {
    Matrix A(4, 3);
    A << 1, 2, 3, 0, 1, 1, 2, -1, 1, 1, 1, 2;
    return A;
}

TEST(Factors, OfCholeskySolveWithTheMatrixAndWithEachFactor) {
    const Matrix A = positive();
    Matrix lower = A;
    lower.triangularView<Eigen::StrictlyUpper>().setConstant(99.0);  // it is not read
    const Cholesky f(lower);
    const Vector b = Vector::LinSpaced(3, -1.0, 2.0);
    ASSERT_TRUE(f.positive_definite());
    EXPECT_LT((f.lower() * f.lower().transpose() - A).norm(), rounding);
    EXPECT_LT((A * f.solve(b) - b).norm(), rounding);
    EXPECT_LT((A * f.solve_columns(deficient().transpose()) - deficient().transpose()).norm(), rounding);
    EXPECT_LT((f.lower() * f.solve_lower(b) - b).norm(), rounding);
    EXPECT_LT((f.lower().transpose() * f.solve_upper(b) - b).norm(), rounding);
    EXPECT_FALSE(Cholesky(-A).positive_definite());
}

TEST(Factors, WithFullPivotingShowTheRankAndIndependentRowsAndColumns) {
    const FullPivotLu f(deficient());
    EXPECT_EQ(f.rank(), 2);
    EXPECT_FALSE(f.invertible());
    const std::vector<int> rows = f.pivot_rows(), columns = f.pivot_columns();
    ASSERT_EQ(rows.size(), 2U);
    ASSERT_EQ(columns.size(), 2U);
    Matrix part(2, 2);
    for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 2; ++j) part(i, j) = deficient()(rows[std::size_t(i)], columns[std::size_t(j)]);
    EXPECT_GT(std::abs(determinant(part)), 0.1);
    const FullPivotLu regular(positive());
    EXPECT_TRUE(regular.invertible());
    EXPECT_LT((regular.inverse() * positive() - Matrix::Identity(3, 3)).norm(), rounding);
    EXPECT_LT((inverse(positive()) - regular.inverse()).norm(), rounding);
    EXPECT_EQ(FullPivotLu(Vector(Eigen::Vector2d(1.0, 1e-3)).asDiagonal(), 0.1).rank(), 1);
}

TEST(Decompositions, GiveOrthonormalBasesAndSolutionsOfLeastNorm) {
    const Matrix A = deficient(), Q = orthonormal_range(A, 1e-10);
    ASSERT_EQ(Q.cols(), 2);
    EXPECT_LT((Q.transpose() * Q - Matrix::Identity(2, 2)).norm(), rounding);
    EXPECT_LT((A - Q * (Q.transpose() * A)).norm(), rounding);
    const SingularParts s = singular_parts(A, SingularBases::full);
    EXPECT_EQ(s.U.cols(), 4);
    EXPECT_LT((s.U.leftCols(3) * s.values.asDiagonal() * s.V.transpose() - A).norm(), rounding);
    EXPECT_LT(s.values(2), rounding);
    const Vector b = A * Vector::Ones(3), x = OrthogonalDecomposition(A, 1e-10).solve(b);
    EXPECT_LT((A * x - b).norm(), rounding);
    EXPECT_LT(std::abs(s.V.col(2).dot(x)), rounding);  // nothing along the kernel
    const OrthogonalFactors qr = orthogonal_factors(A);
    EXPECT_LT(((qr.Q.transpose() * A).diagonal() - qr.diagonal).norm(), rounding);
    EXPECT_LT((positive() * orthogonal_solve(positive(), b.head(3)) - b.head(3)).norm(), rounding);
    EXPECT_EQ(columns_by_independence(A)[0], 2);  // the longest column
}

TEST(Decompositions, OfASymmetricPencilAreOrthonormalInItsMetric) {
    Matrix A(3, 3);
    A << 1, 2, 0, 2, -1, 1, 0, 1, 3;
    const SymmetricPencil p = symmetric_pencil(A, positive());
    ASSERT_TRUE(p.solved);
    EXPECT_LT((p.vectors.transpose() * positive() * p.vectors - Matrix::Identity(3, 3)).norm(), rounding);
    EXPECT_LT((A * p.vectors - positive() * p.vectors * p.values.asDiagonal()).norm(), rounding);
    EXPECT_LE(p.values(0), p.values(1));
}

}  // namespace
}  // namespace saltus::factors_test
