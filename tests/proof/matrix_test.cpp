// SPDX-License-Identifier: Apache-2.0
//
// Statements about all matrices in an interval matrix, compared with random matrices in it and with singular ones.
#include "saltus/proof/matrix.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "proof/sampling.hpp"
#include "saltus/base/decompositions.hpp"
#include "saltus/base/factors.hpp"

namespace saltus::proof::matrix_test {
namespace {

constexpr double inf = Interval::infinity;
using test::around;
using test::inside;
using test::Random;

SymmetricPencil eigenvalues_of_symmetric(const Matrix& S) {
    return symmetric_pencil(S, Matrix::Identity(S.rows(), S.cols()));
}

Matrix random_definite(Random& random, int n) {
    const Matrix A = random.matrix(n, n);
    return A * A.transpose() + 0.2 * Matrix::Identity(n, n);
}

/// A symmetric interval matrix around A.
IntervalMatrix symmetric_around(Random& random, const Matrix& A, double radius) {
    IntervalMatrix S(static_cast<int>(A.rows()), static_cast<int>(A.cols()));
    for (int i = 0; i < S.rows(); ++i)
        for (int j = 0; j <= i; ++j) {
            const double r = random.uniform(0.0, radius);
            S(i, j) = S(j, i) = Interval(A(i, j) - r, A(i, j) + r);
        }
    return S;
}

TEST(IntervalMatrices, ProductsSumsAndDifferencesContainThoseOfTheirMembers) {
    Random random(1);
    for (int k = 0; k < 300; ++k) {
        const int n = random.integer(1, 4), m = random.integer(1, 4), p = random.integer(1, 4);
        const IntervalMatrix A = around(random.matrix(n, m), 0.3), B = around(random.matrix(m, p), 0.3),
                             C = around(random.matrix(n, m), 0.3);
        const Matrix a = random.matrix(A), b = random.matrix(B), c = random.matrix(C);
        const Matrix product = a * b, sum = a + c, difference = a - c;
        for (int i = 0; i < n; ++i) {
            for (int j = 0; j < p; ++j) EXPECT_TRUE(inside((A * B)(i, j), product(i, j)));
            for (int j = 0; j < m; ++j) {
                EXPECT_TRUE(inside((A + C)(i, j), sum(i, j)));
                EXPECT_TRUE(inside((A - C)(i, j), difference(i, j)));
                EXPECT_TRUE(inside(transpose(A)(j, i), a(i, j)));
            }
        }
    }
}

TEST(IntervalMatrices, AZeroFactorRemovesAnUnboundedTerm) {
    const std::vector<Interval> zero{Interval(0.0), Interval(2.0)}, wide{expr::entire(), Interval(3.0)};
    EXPECT_EQ(dot(zero, wide).lo, 6.0);
    EXPECT_EQ(dot(zero, wide).hi, 6.0);
    IntervalMatrix A(1, 2), B(2, 1);
    A(0, 1) = Interval(1.0);
    B(0, 0) = expr::entire();
    B(1, 0) = Interval(-1.0, 2.0);
    EXPECT_EQ((A * B)(0, 0).lo, -1.0);
    EXPECT_EQ((A * B)(0, 0).hi, 2.0);
}

TEST(IntervalMatrices, TheSolutionContainsThoseOfAllSampledSystems) {
    Random random(2);
    int solved = 0;
    for (int k = 0; k < 400; ++k) {
        const int n = random.integer(1, 5), m = random.integer(1, 2);
        const IntervalMatrix A = around(random.matrix(n, n), random.integer(0, 1) == 0 ? 0.0 : 0.02),
                             B = around(random.matrix(n, m), random.integer(0, 1) == 0 ? 0.0 : 0.2);
        const std::optional<IntervalMatrix> X = solve(A, B);
        if (!X) continue;
        ++solved;
        for (int sample = 0; sample < 10; ++sample) {
            const Matrix a = random.matrix(A), b = random.matrix(B);
            const Matrix x = FullPivotLu(a).solve_columns(b);
            const double rounding = 16.0 * saltus::inverse(a).norm() * a.norm() * (1.0 + x.norm());
            for (int i = 0; i < n; ++i)
                for (int j = 0; j < m; ++j) EXPECT_TRUE(inside((*X)(i, j), x(i, j), rounding));
        }
    }
    EXPECT_GT(solved, 200);
}

TEST(IntervalMatrices, ATriangularSystemIsSolvedHoweverFarItIsFromTheIdentity) {
    // A = [1 0; a 1] with |a| <= 3/2: ‖A − I‖ = 3/2, and all A are regular. A⁻¹ = [1 0; −a 1].
    IntervalMatrix A = IntervalMatrix::identity(2);
    A(1, 0) = Interval(-1.5, 1.5);
    EXPECT_FALSE(regular(A));  // it judges by the norm
    const std::optional<IntervalMatrix> inverse = solve(A, IntervalMatrix::identity(2));
    ASSERT_TRUE(inverse);
    EXPECT_EQ((*inverse)(0, 0).lo, 1.0);
    EXPECT_EQ((*inverse)(0, 1).hi, 0.0);
    EXPECT_LE((*inverse)(1, 0).lo, -1.5);
    EXPECT_GE((*inverse)(1, 0).hi, 1.5);
    EXPECT_LT(width((*inverse)(1, 0)), 3.0 + 1e-14);
}

TEST(IntervalMatrices, SolutionsFarFromTheIdentityContainThoseOfAllSampledSystems) {
    // ‖A − I‖ lies between 1 and 2, so that the series of (I − (I − A))⁻¹ diverges for some A.
    Random random(12);
    int solved = 0, refused = 0;
    for (int k = 0; k < 2000; ++k) {
        const int n = random.integer(2, 4);
        IntervalMatrix A = IntervalMatrix::identity(n);
        double norm = 0.0;
        for (int i = 0; i < n; ++i) {
            double sum = 0.0;
            for (int j = 0; j < n; ++j) {
                const double r = random.integer(0, 1) == 0 ? random.uniform(0.0, 0.9) : 0.0;
                A(i, j) = A(i, j) + Interval(-r, r);
                sum += r;
            }
            norm = std::max(norm, sum);
        }
        if (norm < 1.0 || norm > 2.0) continue;
        const std::optional<IntervalMatrix> X = solve(A, IntervalMatrix::identity(n));
        ++(X ? solved : refused);
        for (int sample = 0; X && sample < 20; ++sample) {
            const Matrix a = random.matrix(A);
            EXPECT_GT(determinant(a), 0.0);  // as at the identity, which is a member: no determinant is 0
            const Matrix x = saltus::inverse(a);
            for (int i = 0; i < n; ++i)
                for (int j = 0; j < n; ++j)
                    EXPECT_TRUE(inside((*X)(i, j), x(i, j), 16.0 * x.norm() * (1.0 + a.norm())));
        }
    }
    EXPECT_GT(solved, 100);
    EXPECT_GT(refused, 100);
}

TEST(IntervalMatrices, TheExactInverseOfAnIllConditionedMatrixIsEnclosed) {
    // Products of integer row operations have integer inverses, which doubles hold exactly: no allowance for rounding
    // is needed. The matrices are so ill-conditioned that the approximate inverse inside `solve` is visibly wrong.
    Random random(13);
    int solved = 0;
    for (int k = 0; k < 500; ++k) {
        const int n = random.integer(3, 5);
        Matrix A = Matrix::Identity(n, n), inverse = A;
        for (int operation = 0; operation < 5 * n; ++operation) {
            const int i = random.integer(0, n - 1), j = (i + random.integer(1, n - 1)) % n;
            const int c = random.integer(-4, 4);
            A.row(i) += c * A.row(j);
            inverse.col(j) -= c * inverse.col(i);
        }
        constexpr double exact_integers = 0x1p40;  // sums of products stay below 2^53
        if (A.norm() > exact_integers || inverse.norm() > exact_integers) continue;
        const std::optional<IntervalMatrix> X = solve(IntervalMatrix(A), IntervalMatrix::identity(n));
        if (!X) continue;
        ++solved;
        for (int i = 0; i < n; ++i)
            for (int j = 0; j < n; ++j) {
                EXPECT_LE((*X)(i, j).lo, inverse(i, j));
                EXPECT_GE((*X)(i, j).hi, inverse(i, j));
            }
    }
    EXPECT_GT(solved, 200);
}

TEST(IntervalMatrices, SolvabilityEndsWhereTheFirstSingularMatrixAppears) {
    EXPECT_TRUE(solve(around(Matrix::Identity(2, 2), 0.49), IntervalMatrix::identity(2)));
    EXPECT_FALSE(solve(around(Matrix::Identity(2, 2), 0.5), IntervalMatrix::identity(2)));
}

TEST(IntervalMatrices, AnInverseThatOverflowsSolvesNothing) {
    const Matrix tiny = Matrix::Constant(1, 1, 1e-320);  // the inverse is 1e320
    EXPECT_FALSE(solve(IntervalMatrix(tiny), IntervalMatrix::identity(1)));
}

TEST(IntervalMatrices, TheSolutionOfAnExactSystemIsNarrow) {
    Random random(3);
    for (int k = 0; k < 100; ++k) {
        const Matrix A = random_definite(random, 4), b = random.matrix(4, 1);
        const std::optional<IntervalMatrix> X = solve(IntervalMatrix(A), IntervalMatrix(b));
        ASSERT_TRUE(X);
        for (int i = 0; i < 4; ++i) EXPECT_LT(width((*X)(i, 0)), 1e-10);
    }
}

TEST(IntervalMatrices, ASetWithASingularMemberIsNeverRegular) {
    Random random(4);
    for (int k = 0; k < 500; ++k) {
        const int n = random.integer(2, 5);
        // The last row is a combination of the others, to the radius of the intervals.
        Matrix A = random.matrix(n, n);
        A.row(n - 1) = A.topRows(n - 1).colwise().sum();
        const IntervalMatrix set = around(A, 1e-9 * random.uniform(1.0, 1e8));
        EXPECT_FALSE(regular(set));
        EXPECT_FALSE(solve(set, IntervalMatrix::identity(n)));
        EXPECT_FALSE(independent_columns(set));
    }
}

TEST(IntervalMatrices, AllSampledMembersOfARegularSetAreRegular) {
    Random random(5);
    int proved = 0;
    for (int k = 0; k < 500; ++k) {
        const int n = random.integer(1, 4);
        const IntervalMatrix A = around(random.matrix(n, n), random.uniform(0.0, 0.15));
        if (!regular(A)) continue;
        ++proved;
        const double sign = saltus::determinant(random.matrix(A));
        for (int sample = 0; sample < 30; ++sample) {
            const double determinant = saltus::determinant(random.matrix(A));
            EXPECT_GT(determinant * sign, 0.0);  // the set is connected: no determinant is 0
        }
    }
    EXPECT_GT(proved, 150);
    EXPECT_TRUE(regular(IntervalMatrix::identity(3)));
}

TEST(IntervalMatrices, RegularityHasItsLimitWhereTheFirstSingularMatrixAppears) {
    // diag(1, 1) ± r contains the singular matrix of all 1/2 exactly for r >= 1/2.
    EXPECT_TRUE(regular(around(Matrix::Identity(2, 2), 0.49)));
    EXPECT_FALSE(regular(around(Matrix::Identity(2, 2), 0.5)));
}

TEST(IntervalMatrices, AllSampledMembersOfADefiniteSetAreDefinite) {
    Random random(6);
    int proved = 0;
    for (int k = 0; k < 500; ++k) {
        const int n = random.integer(1, 4);
        const IntervalMatrix A = symmetric_around(random, random_definite(random, n), random.uniform(0.0, 0.3));
        if (!positive_definite(A)) continue;
        ++proved;
        for (int sample = 0; sample < 20; ++sample)
            EXPECT_GT(eigenvalues_of_symmetric(random.symmetric(A)).values(0), 0.0);
    }
    EXPECT_GT(proved, 150);
}

TEST(IntervalMatrices, ASetWithAnIndefiniteMemberIsNeverDefinite) {
    Random random(7);
    for (int k = 0; k < 500; ++k) {
        const int n = random.integer(1, 4);
        // A member with the eigenvalue 0, and intervals around some other matrix that contain it.
        const Matrix Q = orthogonal_factors(random.matrix(n, n)).Q;
        Vector d = Vector::Ones(n);
        d(0) = 0.0;
        Matrix A = Q * d.asDiagonal() * Q.transpose();
        A = 0.5 * (A + A.transpose()).eval();
        const double r = random.uniform(1e-12, 0.3);
        EXPECT_FALSE(positive_definite(around(A + random.uniform(-0.5, 0.5) * r * Matrix::Identity(n, n), r)));
    }
    EXPECT_FALSE(positive_definite(IntervalMatrix(Matrix::Zero(2, 2))));
    EXPECT_FALSE(positive_definite(IntervalMatrix(-Matrix::Identity(2, 2))));
}

TEST(IntervalMatrices, IndependentColumnsHoldForAllSampledMembers) {
    Random random(8);
    int proved = 0;
    for (int k = 0; k < 400; ++k) {
        const int n = random.integer(1, 3), m = n + random.integer(0, 3);
        const IntervalMatrix A = around(random.matrix(m, n), random.uniform(0.0, 0.2));
        if (!independent_columns(A)) continue;
        ++proved;
        for (int sample = 0; sample < 20; ++sample)
            EXPECT_GT(singular_parts(random.matrix(A), SingularBases::thin).values(n - 1), 0.0);
    }
    EXPECT_GT(proved, 100);
    Matrix dependent(3, 2);
    dependent << 1.0, 2.0, 2.0, 4.0, -1.0, -2.0;
    EXPECT_FALSE(independent_columns(IntervalMatrix(dependent)));
    EXPECT_FALSE(independent_columns(IntervalMatrix(Matrix::Identity(2, 3))));
}

TEST(IntervalMatrices, TheEigenvalueBoundIsAboveAllSampledEigenvalues) {
    Random random(9);
    for (int k = 0; k < 400; ++k) {
        const int n = random.integer(1, 4);
        Matrix B = random.matrix(n, n, 2.0);
        B = (0.5 * (B + B.transpose()) - random.uniform(0.0, 4.0) * Matrix::Identity(n, n)).eval();  // either sign
        const IntervalMatrix set = symmetric_around(random, B, 0.1),
                             M = symmetric_around(random, random_definite(random, n), 0.02);
        const double bound = largest_eigenvalue(set, M);
        double largest = -inf;
        for (int sample = 0; sample < 20; ++sample) {
            const Matrix member = random.symmetric(set), metric = random.symmetric(M);
            largest = std::max(largest, symmetric_pencil(member, metric).values(n - 1));
        }
        EXPECT_GE(bound, largest - 1e-12 * (1.0 + std::fabs(largest)));
    }
}

TEST(IntervalMatrices, TheEigenvalueBoundOfExactMatricesIsSharp) {
    Random random(10);
    for (int k = 0; k < 100; ++k) {
        Matrix B = random.matrix(3, 3);
        B = (B + B.transpose()).eval();
        const Matrix M = random_definite(random, 3);
        const double exact = symmetric_pencil(B, M).values(2);
        EXPECT_NEAR(largest_eigenvalue(IntervalMatrix(B), IntervalMatrix(M)), exact, 1e-9 * (1.0 + std::fabs(exact)));
    }
    EXPECT_EQ(largest_eigenvalue(IntervalMatrix::identity(2), IntervalMatrix(Matrix::Zero(2, 2))), inf);
}

TEST(IntervalMatrices, TheEigenvalueBoundOfAWideMetricIsValidForBothSigns) {
    // B = ±b I and M in [1/2, 3/2] I: the largest eigenvalue is 2b, or −b/(3/2).
    const IntervalMatrix M = [] {
        IntervalMatrix m(2, 2);
        m(0, 0) = m(1, 1) = Interval(0.5, 1.5);
        return m;
    }();
    EXPECT_NEAR(largest_eigenvalue(IntervalMatrix(Matrix(3.0 * Matrix::Identity(2, 2))), M), 6.0, 1e-12);
    EXPECT_NEAR(largest_eigenvalue(IntervalMatrix(Matrix(-3.0 * Matrix::Identity(2, 2))), M), -2.0, 1e-12);
}

TEST(IntervalMatrices, TheDualNormBoundsAllSampledNorms) {
    Random random(11);
    for (int k = 0; k < 300; ++k) {
        const int n = random.integer(1, 4);
        const IntervalMatrix M = symmetric_around(random, random_definite(random, n), 0.02);
        std::vector<Interval> l;
        for (int i = 0; i < n; ++i) l.push_back(random.interval(2.0, 0.3));
        const double bound = dual_norm(l, M);
        for (int sample = 0; sample < 20; ++sample) {
            const std::vector<double> point = random.point(l);
            const Vector v = Eigen::Map<const Vector>(point.data(), n);
            const double norm = std::sqrt(v.dot(Cholesky(random.symmetric(M)).solve(v)));
            EXPECT_GE(bound, norm * (1.0 - 1e-12));
        }
    }
    EXPECT_NEAR(dual_norm({Interval(3.0), Interval(4.0)}, IntervalMatrix::identity(2)), 5.0, 1e-14);
    EXPECT_EQ(dual_norm({Interval(0.0)}, IntervalMatrix(Matrix::Zero(1, 1))), 0.0);
    EXPECT_EQ(dual_norm({Interval(1.0)}, IntervalMatrix(Matrix::Zero(1, 1))), inf);
}

TEST(IntervalMatrices, UnboundedEntriesProveNothing) {
    IntervalMatrix A = IntervalMatrix::identity(2);
    A(0, 0) = Interval(1.0, inf);
    EXPECT_FALSE(A.finite());
    EXPECT_FALSE(regular(A));
    EXPECT_FALSE(positive_definite(A));
    EXPECT_FALSE(independent_columns(A));
    EXPECT_FALSE(solve(A, IntervalMatrix::identity(2)));
    EXPECT_EQ(largest_eigenvalue(A, IntervalMatrix::identity(2)), inf);
}

TEST(IntervalMatrices, SemidefiniteMatricesAreProvedIfTheirEliminationIsExact) {
    Matrix dampers(3, 3);  // between neighbours: singular, and exact with these numbers
    dampers << 0.3, -0.3, 0.0, -0.3, 0.6, -0.3, 0.0, -0.3, 0.3;
    EXPECT_TRUE(positive_semidefinite(IntervalMatrix(Matrix(Matrix::Zero(2, 2)))));
    EXPECT_TRUE(positive_semidefinite(IntervalMatrix(dampers)));
    EXPECT_FALSE(positive_definite(IntervalMatrix(dampers)));
    dampers(2, 2) -= 1e-12;
    EXPECT_FALSE(positive_semidefinite(IntervalMatrix(dampers)));
    Matrix saddle(2, 2);
    saddle << 0.0, 1.0, 1.0, 5.0;
    EXPECT_FALSE(positive_semidefinite(IntervalMatrix(saddle)));
    // No random indefinite matrix is accepted, no random definite one refused.
    Random random(7);
    for (int k = 0; k < 500; ++k) {
        const int n = random.integer(1, 4);
        const Matrix A = random.matrix(n, n), S = A + A.transpose();
        const SymmetricPencil eigen = eigenvalues_of_symmetric(S);
        const double smallest = eigen.values(0);
        EXPECT_EQ(positive_semidefinite(IntervalMatrix(S)), smallest > 0.0) << smallest;
        if (smallest < -1e-9) {
            const Vector v = eigen.vectors.col(0);
            EXPECT_LT(quadratic_form(IntervalMatrix(S), {v.data(), v.data() + n}).hi, 0.0);
        }
    }
}

TEST(IntervalMatrices, AWeakRowIsNotLostBesideAStrongOne) {
    Matrix S(2, 2);
    S << 1e6, 0.0, 0.0, 1e-10;
    EXPECT_TRUE(independent_columns(IntervalMatrix(S)));
    S << 1e100, 0.0, 0.0, 1e-100;
    EXPECT_TRUE(independent_columns(IntervalMatrix(S)));
    S << 1e6, 0.0, 1e-10, 0.0;
    EXPECT_FALSE(independent_columns(IntervalMatrix(S)));
}

}  // namespace
}  // namespace saltus::proof::matrix_test
