// SPDX-License-Identifier: Apache-2.0
// Block matrices and their factors, compared with Eigen.
#include <gtest/gtest.h>
#include <Eigen/LU>

#include "allocations.hpp"
#include "problems.hpp"
#include "saltus/solvers/linear/block_lu.hpp"
#include "saltus/solvers/linear/block_matrix.hpp"
#include "saltus/solvers/linear/dense_lu.hpp"

namespace saltus::solvers::matrices_test {
namespace {

using namespace test;
using saltus::test::allocations;

struct Pattern {
    std::vector<int> sizes;
    Matrix dense;
};

/// Blocks of sizes 1 to 6, or all the same, a share of them present; the diagonal dominates each row and column, so
/// that pivots inside the diagonal blocks suffice.
Pattern random_pattern(Random& random, int blocks, double share, int uniform = 0) {
    Pattern p;
    int n = 0;
    for (int b = 0; b < blocks; ++b) {
        p.sizes.push_back(uniform > 0 ? uniform : 1 + random.below(6));
        n += p.sizes.back();
    }
    p.dense = Matrix::Zero(n, n);
    int i = 0;
    for (const int rows : p.sizes) {
        int j = 0;
        for (const int columns : p.sizes) {
            if (i == j || random.uniform() < share) p.dense.block(i, j, rows, columns) = random.matrix(rows, columns);
            j += columns;
        }
        i += rows;
    }
    for (Eigen::Index k = 0; k < n; ++k)
        p.dense(k, k) = 1.0 + p.dense.row(k).cwiseAbs().sum() + p.dense.col(k).cwiseAbs().sum();
    return p;
}

void fill(BlockLU& lu, const BlockMatrix& W) {
    lu.clear();
    for (int a = 0; a < W.blocks(); ++a)
        for (int e = W.row_start[ix(a)]; e < W.row_start[ix(a) + 1]; ++e) {
            const BlockLU::View view = lu.at_entry(e);
            const int m = W.block_size(W.block_column[ix(e)]);
            for (int i = 0; i < W.block_size(a); ++i)
                for (int j = 0; j < m; ++j) view.data[i * view.stride + j] = W.values[W.offset[ix(e)] + ix(i * m + j)];
        }
}

// --- block matrices ------------------------------------------------------------------------------------------

TEST(BlockMatrixOf, ADenseMatrixIsThatMatrix) {
    Random random(1);
    for (int k = 0; k < 30; ++k) {
        const Pattern p = random_pattern(random, 1 + k % 7, 0.4, k % 5);
        const BlockMatrix full = BlockMatrix::from_dense(p.dense, p.sizes), part = sparse(p.dense, p.sizes);
        EXPECT_EQ(to_dense(full), p.dense);
        EXPECT_EQ(to_dense(part), p.dense);
        EXPECT_EQ(full.uniform_size(),
                  std::all_of(p.sizes.begin(), p.sizes.end(), [&](int s) { return s == p.sizes[0]; }) ? p.sizes[0] : 0);
        EXPECT_NEAR(part.diagonal_mean(), p.dense.diagonal().mean(), 1e-12 * p.dense.diagonal().mean());
        for (int i = 0; i < full.rows(); ++i)
            for (int j = 0; j < full.rows(); ++j) EXPECT_EQ(part.at(i, j), p.dense(i, j));
    }
}

TEST(BlockMatrixOf, TripletsAddsDuplicatesAndHasItsDiagonal) {
    const BlockMatrix W = BlockMatrix::from_triplets(
        std::vector<BlockMatrix::Triplet>{{0, 2, 1.0}, {0, 2, 0.5}, {2, 0, 3.0}}, std::vector<int>{2, 1, 1});
    EXPECT_EQ(W.at(0, 2), 1.5);
    EXPECT_EQ(W.at(2, 0), 3.0);
    for (int b = 0; b < 3; ++b) EXPECT_GE(W.find(b, b), 0) << b;
    EXPECT_EQ(W.find(1, 2), -1);
    EXPECT_EQ(W.at(2, 3), 0.0);
    EXPECT_EQ(W.diagonal_mean(), 0.0);
}

TEST(BlockMatrixOf, LargeNumbersHasAFiniteDiagonalMean) {
    const BlockMatrix W = BlockMatrix::from_dense(1e308 * Matrix::Identity(6, 6), std::vector<int>{3, 3});
    EXPECT_NEAR(W.diagonal_mean(), 1e308, 1e294);
}

TEST(BlockMatrixTimesAVector, IsTheDenseProduct) {
    Random random(2);
    for (int k = 0; k < 60; ++k) {
        const Pattern p = random_pattern(random, 1 + k % 9, 0.3, k % 5);
        const BlockMatrix W = sparse(p.dense, p.sizes);
        const Vector x = random.vector(W.rows()), expected = p.dense * x;
        std::vector<double> y(ix(W.rows()));
        W.multiply(to_vector(x), y);
        const double rounding = 1e-14 * p.dense.norm() * x.norm();
        EXPECT_LE((to_eigen(y) - expected).norm(), rounding) << k;
        for (int a = 0; a < W.blocks(); ++a) {
            const Eigen::Index i = W.start[ix(a)], n = W.block_size(a);
            Vector row(n);
            W.multiply_row(a, to_vector(x), row.data());
            EXPECT_LE((row - expected.segment(i, n)).norm(), rounding) << k;
            W.multiply_row(a, to_vector(x), row.data(), W.find(a, a));
            const Vector others = expected.segment(i, n) - p.dense.block(i, i, n, n) * x.segment(i, n);
            EXPECT_LE((row - others).norm(), rounding) << k;
        }
    }
}

// --- block LU ------------------------------------------------------------------------------------------------

TEST(BlockFactors, SolveLikeEigens) {
    Random random(3);
    for (int k = 0; k < 150; ++k) {
        const Pattern p = random_pattern(random, 1 + k % 25, k % 3 == 0 ? 1.0 : 0.15, k % 5);
        const BlockMatrix W = sparse(p.dense, p.sizes);
        BlockLU lu;
        ASSERT_TRUE(lu.analyse(W, {}));
        fill(lu, W);
        ASSERT_TRUE(lu.factorise()) << k;
        const Vector b = random.vector(W.rows()), expected = p.dense.partialPivLu().solve(b);
        std::vector<double> x(ix(W.rows()));
        lu.solve(to_vector(b), x);
        // Dominant diagonals: condition below 10, no growth.
        EXPECT_LE((to_eigen(x) - expected).norm(), 1e-13 * expected.norm()) << k;
    }
}

TEST(BlockFactors, OfAComplexMatrixSolveIt) {
    Random random(13);
    for (int k = 0; k < 150; ++k) {
        const Pattern p = random_pattern(random, 1 + k % 25, k % 3 == 0 ? 1.0 : 0.15, k % 5);
        const BlockMatrix W = sparse(p.dense, p.sizes);
        ComplexBlockLU lu;
        ASSERT_TRUE(lu.analyse(W, {}));
        lu.clear();
        // (1 + 2i) times the matrix, and another imaginary part for each stored number.
        Eigen::MatrixXcd A = std::complex<double>(1.0, 2.0) * p.dense;
        for (int a = 0; a < W.blocks(); ++a)
            for (int e = W.row_start[ix(a)]; e < W.row_start[ix(a) + 1]; ++e) {
                const ComplexBlockLU::View view = lu.at_entry(e);
                const int b = W.block_column[ix(e)];
                for (int i = 0; i < W.block_size(a); ++i)
                    for (int j = 0; j < W.block_size(b); ++j) {
                        std::complex<double>& value = A(W.start[ix(a)] + i, W.start[ix(b)] + j);
                        value += std::complex<double>(0.0, 0.02 * std::sin(i + 3.0 * j + 5.0 * e));
                        view.data[i * view.stride + j] = value;
                    }
            }
        ASSERT_TRUE(lu.factorise()) << k;
        const Eigen::VectorXcd b = random.vector(W.rows()) + std::complex<double>(0.0, 1.0) * random.vector(W.rows());
        const Eigen::VectorXcd expected = A.partialPivLu().solve(b);
        std::vector<std::complex<double>> x(b.data(), b.data() + b.size());
        lu.solve(x, x);
        const Eigen::Map<const Eigen::VectorXcd> found(x.data(), b.size());
        EXPECT_LE((found - expected).norm(), 1e-12 * expected.norm()) << k;
    }
}

TEST(BlockFactors, TakeMoreBlocksThanTheMatrixHas) {
    Random random(4);
    for (int k = 0; k < 60; ++k) {
        const int blocks = 2 + k % 10;
        Pattern p = random_pattern(random, blocks, 0.2);
        const BlockMatrix W = sparse(p.dense, p.sizes);
        std::vector<std::pair<int, int>> extra;
        for (int i = 0; i < 3; ++i) extra.emplace_back(random.below(blocks), random.below(blocks));
        BlockLU lu;
        ASSERT_TRUE(lu.analyse(W, extra));
        fill(lu, W);
        for (const auto& [a, b] : extra) {
            const BlockLU::View view = lu.at(a, b);
            view.data[0] += 0.5;
            p.dense(W.start[ix(a)], W.start[ix(b)]) += 0.5;
        }
        ASSERT_TRUE(lu.factorise());
        const Vector b = random.vector(W.rows()), expected = p.dense.partialPivLu().solve(b);
        std::vector<double> x(ix(W.rows()));
        lu.solve(to_vector(b), x);
        EXPECT_LE((to_eigen(x) - expected).norm(), 1e-13 * expected.norm()) << k;
    }
}

TEST(BlockFactors, TreatRowsOfTheUnitMatrixAsSuch) {
    Random random(5);
    for (int k = 0; k < 100; ++k) {
        const int blocks = 1 + k % 15;
        Pattern p = random_pattern(random, blocks, 0.3, k % 4);
        const BlockMatrix W = sparse(p.dense, p.sizes);
        BlockLU lu;
        ASSERT_TRUE(lu.analyse(W, {}));
        fill(lu, W);
        for (int a = 0; a < blocks; ++a) {
            if (random.uniform() < 0.5) continue;
            lu.make_identity(a);  // whatever was put into the row
            const Eigen::Index i = W.start[ix(a)], n = W.block_size(a);
            p.dense.middleRows(i, n).setZero();
            p.dense.block(i, i, n, n).setIdentity();
        }
        ASSERT_TRUE(lu.factorise());
        const Vector b = random.vector(W.rows()), expected = p.dense.partialPivLu().solve(b);
        std::vector<double> x(ix(W.rows()));
        lu.solve(to_vector(b), x);
        EXPECT_LE((to_eigen(x) - expected).norm(), 1e-12 * expected.norm()) << k;  // condition up to 100
        fill(lu, W);                                                               // and not after it was cleared
        ASSERT_TRUE(lu.factorise());
        lu.solve(to_vector(b), x);
        EXPECT_LE((to_dense(W) * to_eigen(x) - b).norm(), 1e-12 * b.norm()) << k;
    }
}

TEST(BlockFactors, SolveInPlace) {
    Random random(6);
    const Pattern p = random_pattern(random, 8, 0.3);
    const BlockMatrix W = sparse(p.dense, p.sizes);
    BlockLU lu;
    ASSERT_TRUE(lu.analyse(W, {}));
    fill(lu, W);
    ASSERT_TRUE(lu.factorise());
    const std::vector<double> b = to_vector(random.vector(W.rows()));
    std::vector<double> x(b.size()), in_place = b;
    lu.solve(b, x);
    lu.solve(in_place, in_place);
    EXPECT_EQ(in_place, x);
}

TEST(BlockFactors, OfSingularMatricesAreRefused) {
    const auto factorised = [](const Matrix& A, const std::vector<int>& sizes) {
        const BlockMatrix W = BlockMatrix::from_dense(A, sizes);
        BlockLU lu;
        EXPECT_TRUE(lu.analyse(W, {}));
        fill(lu, W);
        return lu.factorise();
    };
    EXPECT_FALSE(factorised(Matrix::Zero(2, 2), {2}));
    EXPECT_FALSE(factorised(Matrix::Zero(2, 2), {1, 1}));
    EXPECT_FALSE(factorised(Matrix::Ones(2, 2), {2}));
    EXPECT_FALSE(factorised(Matrix::Ones(2, 2), {1, 1}));
    EXPECT_FALSE(factorised(Matrix::Constant(2, 2, std::nan("")), {2}));
    EXPECT_TRUE(factorised((Matrix(2, 2) << 0, 1, 1, 0).finished(), {2}));      // pivots inside the block
    EXPECT_FALSE(factorised((Matrix(2, 2) << 0, 1, 1, 0).finished(), {1, 1}));  // none across blocks
}

TEST(BlockFactors, ThatWouldBeTooLargeAreNotBegun) {
    Random random(7);
    const Pattern p = random_pattern(random, 20, 1.0, 3);
    const BlockMatrix W = BlockMatrix::from_dense(p.dense, p.sizes);
    BlockLU lu;
    EXPECT_FALSE(lu.analyse(W, {}, 100.0));
    BlockLU other;
    EXPECT_TRUE(other.analyse(W, {}));
    EXPECT_GT(other.work(), 60.0 * 60.0 * 60.0 / 4.0);  // full: n³/3
}

TEST(BlockFactors, OfAPatternSeenBeforeObeyTheLimitOfNow) {
    Random random(7);
    const Pattern p = random_pattern(random, 20, 1.0, 3);
    const BlockMatrix W = BlockMatrix::from_dense(p.dense, p.sizes);
    BlockLU lu;
    const std::vector<double> b = to_vector(random.vector(W.rows()));
    std::vector<double> x(b.size());
    for (int round = 0; round < 2; ++round) {
        EXPECT_FALSE(lu.analyse(W, {}, 100.0));
        EXPECT_FALSE(lu.analyse(W, {}, 60.0 * 60.0 - 1.0));
        ASSERT_TRUE(lu.analyse(W, {}, 60.0 * 60.0));  // a full matrix of 60 rows
        fill(lu, W);
        ASSERT_TRUE(lu.factorise());
        lu.solve(b, x);
        EXPECT_LE((p.dense * to_eigen(x) - to_eigen(b)).norm(), 1e-12 * to_eigen(b).norm());
    }
}

TEST(BlockFactors, OfAPatternSeenBeforeCostNoAllocation) {
    Random random(8);
    const Pattern p = random_pattern(random, 30, 0.1);
    BlockMatrix W = sparse(p.dense, p.sizes);
    const std::vector<std::pair<int, int>> extra{{3, 7}, {1, 20}};
    std::vector<double> b = to_vector(random.vector(W.rows())), x(b.size());
    BlockLU lu;
    ASSERT_TRUE(lu.analyse(W, extra));
    fill(lu, W);
    ASSERT_TRUE(lu.factorise());
    lu.solve(b, x);
    for (double& w : W.values) w *= 1.5;
    const std::size_t before = allocations();
    const bool again = lu.analyse(W, extra);
    fill(lu, W);
    const bool factorised = lu.factorise();
    std::vector<double>& y = b;
    lu.solve(b, y);
    EXPECT_EQ(allocations() - before, 0U);
    ASSERT_TRUE(again && factorised);
    for (std::size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(y[i], x[i] / 1.5, 1e-13);
}

TEST(BlockFactors, OfPatternsInTurnAreThoseOfEach) {
    Random random(9);
    BlockLU shared;
    for (int k = 0; k < 20; ++k) {
        const Pattern p = random_pattern(random, 1 + random.below(12), 0.3);
        const BlockMatrix W = sparse(p.dense, p.sizes);
        BlockLU fresh;
        const std::vector<double> b = to_vector(random.vector(W.rows()));
        std::vector<double> x(b.size()), y(b.size());
        for (BlockLU* lu : {&shared, &fresh}) {
            ASSERT_TRUE(lu->analyse(W, {}));
            fill(*lu, W);
            ASSERT_TRUE(lu->factorise());
            lu->solve(b, lu == &shared ? x : y);
        }
        EXPECT_EQ(x, y) << k;
    }
}

TEST(BlockFactors, OfSparsePatternsAreSparse) {
    // A chain of 200 blocks: the work grows with its length, not with the cube of it.
    std::vector<BlockMatrix::Triplet> triplets;
    for (int i = 0; i < 200; ++i) {
        triplets.push_back({i, i, 3.0});
        if (i > 0) triplets.push_back({i, i - 1, 1.0});
        if (i > 0) triplets.push_back({i - 1, i, 1.0});
    }
    const BlockMatrix W = BlockMatrix::from_triplets(triplets, std::vector<int>(200, 1));
    BlockLU lu;
    ASSERT_TRUE(lu.analyse(W, {}));
    EXPECT_LT(lu.work(), 200.0 * 9.0);  // 1 · (1 + 2)² at most for a row with two neighbours
}

// --- dense LU ------------------------------------------------------------------------------------------------

TEST(DenseFactors, SolveLikeEigens) {
    Random random(10);
    DenseLU lu;
    for (int k = 0; k < 200; ++k) {
        const int n = 1 + k % 60;
        const Matrix A = random.matrix(n, n);  // rows exchanged all the time
        lu.clear(n);
        for (int i = 0; i < n; ++i)
            for (int j = 0; j < n; ++j) lu.at(i, j) = A(i, j);
        ASSERT_TRUE(lu.factorise());
        const Vector b = random.vector(n), expected = A.partialPivLu().solve(b);
        std::vector<double> x(ix(n));
        lu.solve(to_vector(b), x);
        // Both are backward stable: the defects are rounding, independent of the condition number.
        const double rounding = 1e-13 * A.norm() * expected.norm();
        EXPECT_LE((A * to_eigen(x) - b).norm(), rounding) << k;
        EXPECT_LE((A * (to_eigen(x) - expected)).norm(), 2 * rounding) << k;
    }
}

TEST(DenseFactors, OfSingularMatricesAreRefused) {
    DenseLU lu;
    lu.clear(2);
    EXPECT_FALSE(lu.factorise());
    lu.clear(2);
    lu.at(0, 0) = lu.at(0, 1) = lu.at(1, 0) = lu.at(1, 1) = 1.0;
    EXPECT_FALSE(lu.factorise());
    lu.clear(2);
    lu.at(0, 0) = std::nan("");
    lu.at(1, 1) = 1.0;
    EXPECT_FALSE(lu.factorise());
    lu.clear(2);
    lu.at(0, 1) = lu.at(1, 0) = 1.0;
    EXPECT_TRUE(lu.factorise());
}

TEST(DenseFactors, OfMatricesThatAreNotFiniteAreRefusedWhereverThatIs) {
    DenseLU lu;
    for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity()})
        for (int i = 0; i < 3; ++i)
            for (int j = 0; j < 3; ++j) {
                lu.clear(3);
                for (int k = 0; k < 3; ++k) lu.at(k, k) = 1.0;
                lu.at(i, j) = bad;
                EXPECT_FALSE(lu.factorise()) << i << " " << j << " " << bad;
            }
}

TEST(DenseFactors, AllocateOnlyIfTheyGrow) {
    DenseLU lu;
    lu.clear(30);
    const std::size_t before = allocations();
    for (const int n : {30, 5, 20}) {
        lu.clear(n);
        for (int i = 0; i < n; ++i) lu.at(i, i) = 2.0;
        ASSERT_TRUE(lu.factorise());
    }
    EXPECT_EQ(allocations() - before, 0U);
}

}  // namespace
}  // namespace saltus::solvers::matrices_test
