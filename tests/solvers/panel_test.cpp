// SPDX-License-Identifier: Apache-2.0
// The inner loops of the linear algebra, compared with Eigen.
#include <gtest/gtest.h>

#include "saltus/solvers/linear/detail/panel.hpp"

#include <Eigen/LU>

#include "problems.hpp"

namespace saltus::solvers::panel_test {
namespace {

using namespace test;
using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

TEST(Elimination, LeavesTheSchurComplement) {
    Random random(51);
    for (int k = 0; k < 100; ++k) {
        const int steps = k % 7, extra = k % 3, rows = steps + extra + k % 5, columns = steps + 1 + k % 4;
        Matrix A = random.matrix(rows, columns);
        // Extra rows repeat the first ones: whichever are chosen as pivots, nothing is left of the others.
        for (int i = 0; i < extra; ++i)
            A.row(steps + i) = steps > 0 ? Vector(2.0 * A.row(i % steps)) : Vector(Vector::Zero(columns));
        RowMajor B = A;
        ASSERT_TRUE(eliminate(B.data(), rows, columns, columns, steps, steps + extra, 1e-13)) << k;
        const Matrix top = A.topRows(steps);
        const int below = rows - steps - extra, right = columns - steps;
        Matrix expected = A.bottomRightCorner(below, right);
        if (steps > 0 && below > 0)
            expected -=
                A.bottomLeftCorner(below, steps) * top.leftCols(steps).partialPivLu().solve(top.rightCols(right));
        if (below > 0) {
            EXPECT_LE((B.bottomRightCorner(below, right) - expected).norm(), 1e-10 * (1.0 + expected.norm())) << k;
        }
        if (extra > 0) {
            EXPECT_LE(B.block(steps, steps, extra, right).norm(), 1e-12) << k;
        }
    }
    double zero[4] = {0, 0, 0, 0};
    EXPECT_FALSE(eliminate(zero, 2, 2, 2, 1, 2, 0.0));
}

/// Below A the rows of zeros of a tableau.
Matrix with_padding(const Matrix& A) {
    Matrix wide = Matrix::Zero(padded(static_cast<int>(A.rows())), A.cols());
    wide.topRows(A.rows()) = A;
    return wide;
}

TEST(Exchange, SolvesForTheUnknownThatItBringsIn) {
    Random random(52);
    for (int k = 0; k < 200; ++k) {
        const int n = 1 + k % 20, columns = n + k % 3;
        const Matrix A = random.matrix(n, columns);
        const int r = random.below(n), c = random.below(columns);
        for (const bool clean : {false, true}) {
            Matrix wide = with_padding(A);
            if (clean)
                exchange(wide.data(), padded(n), columns, r, c, 1e-13);
            else
                exchange(wide.data(), padded(n), columns, r, c);
            EXPECT_TRUE(wide.bottomRows(padded(n) - n).isZero(0.0)) << k;
            const Matrix T = wide.topRows(n);
            // x = A y, then with x_r and y_c exchanged.
            Vector y = random.vector(columns);
            Vector x = A * y;
            const double leaving = x(r);
            x(r) = y(c);
            y(c) = leaving;
            EXPECT_LE((T * y - x).norm(), 1e-12 * (1.0 + T.norm()) * (1.0 + y.norm())) << k;
        }
    }
}

TEST(Exchange, CleansWhatCancels) {
    // 0.3 − 0.1 · 3 is 5.6e-17 in doubles.
    Matrix T = with_padding((Matrix(2, 2) << 1.0, 3.0, 0.1, 0.3).finished()), raw = T;
    exchange(raw.data(), padded(2), 2, 0, 0);
    EXPECT_NE(raw(1, 1), 0.0);
    exchange(T.data(), padded(2), 2, 0, 0, 1e-12);
    EXPECT_EQ(T(1, 1), 0.0);
    EXPECT_EQ(T(0, 1), -3.0);
}

TEST(Columns, AreAddedAndMeasured) {
    Random random(53);
    for (int n = 1; n < 40; ++n)
        for (const int columns : {0, 1, 3, 4, 9}) {
            const Matrix A = random.matrix(n, columns);
            const Vector x = random.vector(columns), y = random.vector(n);
            Vector sum = y;
            add_columns(n, columns, A.data(), x.data(), sum.data());
            EXPECT_LE((sum - (y + A * x)).norm(), 1e-13 * (1.0 + A.norm() * x.norm())) << n;
            EXPECT_EQ(largest_of(y.data(), n), y.cwiseAbs().maxCoeff()) << n;
        }
}

}  // namespace
}  // namespace saltus::solvers::panel_test
