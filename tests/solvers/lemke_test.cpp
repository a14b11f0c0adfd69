// SPDX-License-Identifier: Apache-2.0
// Lemke's method terminates, and it decides the problems of the matrix classes for which this is proved.
#include <gtest/gtest.h>

#include "saltus/solvers/complementarity/lemke.hpp"

#include "exact.hpp"
#include "problems.hpp"
#include "saltus/solvers/complementarity/detail/exclusion.hpp"
#include "saltus/solvers/complementarity/detail/lemke_tableau.hpp"
#include "saltus/solvers/detail/residual.hpp"

namespace saltus::solvers::lemke_test {
namespace {

using namespace test;
using Eigen::Index;

double whole(Random& random, int low, int high) { return low + random.below(high - low + 1); }

Matrix whole_matrix(Random& random, Index rows, Index columns) {
    return Matrix::NullaryExpr(rows, columns, [&] { return whole(random, -2, 2); });
}

TEST(Lemke, NeverRepeatsABasis) {
    LinearComplementarity p;
    p.M = (Matrix(3, 3) << 0, 1, 0, 1, -2, -2, -2, -2, 2).finished();
    p.q = -Vector::Ones(3);
    EXPECT_LT(solve(p, Lemke{}).iterations, 10);
    // Small integers, so that all ratios tie, and matrices of no special class: of the 2ⁿ bases a path visits few.
    Random random(31);
    for (int k = 0; k < 30000; ++k) {
        const Index n = 2 + k % 5;
        const int least = -1, most = k % 3 - 1;
        p.M = whole_matrix(random, n, n);
        p.q = Vector::NullaryExpr(n, [&] { return whole(random, least, most); });
        const Solution s = solve(p, Lemke{});
        ASSERT_NE(s.status, Status::limit) << k;
        EXPECT_LE(s.iterations, 60) << k;
    }
}

/// The method decides the problem in agreement with exact arithmetic.
void expect_decided(const LinearComplementarity& p, int k, const char* what) {
    const bool exists = has_solution(p);
    const Solution s = solve(p, Lemke{});
    EXPECT_EQ(s.status, exists ? Status::converged : Status::infeasible) << what << " " << k;
    EXPECT_EQ(s.certificate.empty(), exists) << what << " " << k;
    if (exists) {
        EXPECT_LE(residual(p, s.r), 1e-10) << what << " " << k;
        return;
    }
    const Vector y = to_eigen(s.certificate);
    EXPECT_GE(y.minCoeff(), 0.0) << what << " " << k;
    EXPECT_LE((p.M.transpose() * y).maxCoeff(), 1e-10 * p.M.norm() * y.norm()) << what << " " << k;  // rounding
    EXPECT_LT(y.dot(p.q), 0.0) << what << " " << k;
}

TEST(Lemke, DecidesCopositivePlusMatrices) {
    Random random(32);
    int infeasible = 0;
    for (int k = 0; k < 3000; ++k) {
        const Index n = 2 + k % 4, rank = 1 + random.below(static_cast<int>(n));
        const Matrix A = whole_matrix(random, n, rank), S = whole_matrix(random, n, n);
        LinearComplementarity p{A * A.transpose(), Vector(n)};
        if (k % 2 == 0) p.M += S - S.transpose();
        p.q = Vector::NullaryExpr(n, [&] { return k % 3 == 0 ? -1.0 : whole(random, -2, 2); });
        infeasible += has_solution(p) ? 0 : 1;
        expect_decided(p, k, "copositive plus");
    }
    EXPECT_GT(infeasible, 300);
}

TEST(Lemke, SolvesPMatricesAndStrictlySemimonotoneOnes) {
    Random random(33);
    for (int k = 0; k < 3000; ++k) {
        const Index n = 2 + k % 4;
        LinearComplementarity p{whole_matrix(random, n, n), Vector(n)};
        p.M.diagonal() = Vector::NullaryExpr(n, [&] { return whole(random, 1, 4); });
        if (k % 2 == 0)
            p.M = p.M.cwiseAbs().eval();  // nonnegative with a positive diagonal
        else if (!is_p_matrix(p.M))
            continue;
        p.q = Vector::NullaryExpr(n, [&] { return k % 3 == 0 ? -1.0 : whole(random, -2, 2); });
        EXPECT_TRUE(has_solution(p)) << k;
        expect_decided(p, k, "P or strictly semimonotone");
    }
}

TEST(Lemke, NeverCallsASolvableProblemInfeasible) {
    Random random(34);
    int infeasible = 0;
    for (int k = 0; k < 2000; ++k) {
        const Index n = 2 + k % 4;
        const LinearComplementarity p{whole_matrix(random, n, n),
                                      Vector::NullaryExpr(n, [&] { return whole(random, -2, 2); })};
        const Solution s = solve(p, Lemke{});
        if (s.status != Status::infeasible) continue;
        ++infeasible;
        EXPECT_FALSE(has_solution(p)) << k;
        EXPECT_TRUE(excludes_all(BoundedForm::of(p), s.certificate)) << k;
    }
    EXPECT_GT(infeasible, 100);
}

TEST(Lemke, DegenerateProblemsEnd) {
    // Murty's matrices need many pivots; zeros in q make every ratio test a tie.
    for (int n = 1; n <= 10; ++n) {
        LinearComplementarity p;
        p.M = Matrix::Identity(n, n);
        for (int i = 0; i < n; ++i)
            for (int j = i + 1; j < n; ++j) p.M(i, j) = 2;
        p.q = Vector::Constant(n, -1);
        EXPECT_EQ(solve(p, Lemke{}).status, Status::converged) << n;
        p.q.setZero();
        EXPECT_EQ(solve(p, Lemke{}).status, Status::converged) << n;
        p.q(n - 1) = -1;
        EXPECT_EQ(solve(p, Lemke{}).status, Status::converged) << n;
    }
}

TEST(Lemke, DoesNotCycleWhereEveryRatioIsATie) {
    // Small integers, q = −1, positive semidefinite: the method ends with a solution or a proof.
    Random random(12);
    for (int k = 0; k < 5000; ++k) {
        const Index n = 4 + k % 3;
        LinearComplementarity p;
        const Matrix A = Matrix::NullaryExpr(n, n, [&] { return static_cast<double>(random.below(5) - 2); });
        p.M = A * A.transpose();
        p.q = Vector::Constant(n, -1.0);
        const Status status = solve(p, Lemke{}).status;
        ASSERT_TRUE(status == Status::converged || status == Status::infeasible) << k << " " << to_string(status);
    }
}

TEST(Lemke, SaysWhenThePivotsAreUsedUp) {
    Random random(5);
    const Matrix A = random.matrix(20, 20);
    const LinearComplementarity p{A * A.transpose(), -Vector::Ones(20)};
    Lemke method;
    method.max_pivots = 2;
    const Solution s = solve(p, method);
    EXPECT_EQ(s.status, Status::limit);
    EXPECT_EQ(s.iterations, 2);
}

TEST(Lemke, NeedsNoPivotForProblemsThatAreSolvedByZero) {
    const Solution s = solve(LinearComplementarity{-Matrix::Identity(3, 3), Vector::Ones(3)}, Lemke{});
    EXPECT_EQ(s.status, Status::converged);
    EXPECT_EQ(s.iterations, 0);
    EXPECT_EQ(s.r, (std::vector<double>{0, 0, 0}));
}

TEST(LemkePathWithFiniteBounds, AlwaysEndsInASolution) {
    // With finite bounds there are no rays: the path ends in a solution for any matrix and any q.
    Random random(35);
    std::vector<double> numbers, z;
    std::vector<int> integers;
    for (int k = 0; k < 2000; ++k) {
        const int n = 1 + k % 20;
        const auto size = static_cast<std::size_t>(n);
        const Matrix M = random.matrix(n, n);
        const Vector q = random.vector(n), upper = Vector::NullaryExpr(n, [&] { return random.uniform(0.1, 2.0); });
        numbers.resize(LemkeTableau::numbers(size));
        integers.resize(LemkeTableau::integers(size));
        LemkeTableau tableau({n, M.data(), q.data(), upper.data()}, numbers.data(), integers.data());
        ASSERT_EQ(tableau.run(20000), LemkeTableau::End::solution) << k;
        z.resize(size);
        tableau.solution(z.data());
        EXPECT_LE(residual(Relay{M, q, Vector::Zero(n), upper}, z), 1e-10) << k;
        for (int i = 0; i < n; ++i) {
            const double value = z[static_cast<std::size_t>(i)];
            if (tableau.place(i) == at_lower) {
                EXPECT_EQ(value, 0.0) << k;
            }
            if (tableau.place(i) == at_upper) {
                EXPECT_NEAR(value, upper(i), 1e-15 * upper(i)) << k;  // scaled and back
            }
        }
    }
}

}  // namespace
}  // namespace saltus::solvers::lemke_test
