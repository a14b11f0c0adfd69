// SPDX-License-Identifier: Apache-2.0
// Complementarity problems of any matrix are solved or proved infeasible, and the proofs are valid.
#include <gtest/gtest.h>

#include "exact.hpp"
#include "problems.hpp"
#include "saltus/solvers/complementarity/complementarity.hpp"
#include "saltus/solvers/complementarity/detail/branching.hpp"
#include "saltus/solvers/complementarity/detail/exclusion.hpp"
#include "saltus/solvers/detail/residual.hpp"

namespace saltus::solvers::decision_test {
namespace {

using namespace test;
using Eigen::Index;

constexpr double infinity = std::numeric_limits<double>::infinity();

double whole(Random& random, int low, int high) { return low + random.below(high - low + 1); }

/// Checks a proof by its definition, for each combination of z_i = 0 and w_i = 0: some y has yᵀq < 0,
/// y_i >= 0 where z_i = 0 and (yᵀM)_i <= 0 where w_i = 0, rounding aside.
void expect_proof(const LinearComplementarity& p, const std::vector<double>& certificate, const std::string& what) {
    const Index n = p.q.size();
    ASSERT_FALSE(certificate.empty()) << what;
    ASSERT_EQ(certificate.size() % ix(static_cast<int>(n)), 0U) << what;
    const Eigen::Map<const Matrix> Y(certificate.data(), n, static_cast<Index>(certificate.size()) / n);
    for (unsigned bits = 0; bits < 1U << n; ++bits) {
        bool excluded = false;
        for (Index c = 0; c < Y.cols() && !excluded; ++c) {
            const Vector y = Y.col(c), g = p.M.transpose() * y;
            excluded = y.dot(p.q) < 0.0;
            for (Index i = 0; i < n; ++i)
                excluded = excluded && ((bits >> i & 1U) != 0 ? g(i) <= 1e-10 * p.M.norm() * y.norm() : y(i) >= 0.0);
        }
        ASSERT_TRUE(excluded) << what << ", combination " << bits;
    }
    EXPECT_TRUE(excludes_all(BoundedForm::of(p), certificate)) << what;
}

TEST(LinearComplementarityProblems, OfSmallWholeNumbersAreDecidedAsInExactArithmetic) {
    Random random(41);
    int solvable = 0, several = 0;
    for (int k = 0; k < 4000; ++k) {
        const Index n = 2 + k % 4;
        LinearComplementarity p;
        p.M = Matrix::NullaryExpr(n, n, [&] { return whole(random, -2, 2); });
        p.q = Vector::NullaryExpr(n, [&] { return k % 2 == 0 ? -1.0 : whole(random, -2, 2); });
        const bool exists = has_solution(p);
        const Solution s = solve(p);
        ASSERT_EQ(s.status, exists ? Status::converged : Status::infeasible) << k << " residual " << s.residual;
        solvable += exists ? 1 : 0;
        if (exists) {
            EXPECT_LE(residual(p, s.r), 1e-10) << k;
            EXPECT_TRUE(s.certificate.empty()) << k;
        } else {
            expect_proof(p, s.certificate, std::to_string(k));
            several += s.certificate.size() > ix(static_cast<int>(n)) ? 1 : 0;
        }
    }
    EXPECT_GT(solvable, 1000);
    EXPECT_GT(several, 100);  // where no single vector is enough
}

TEST(LinearComplementarityProblems, WithoutFeasiblePointsHaveAProofOfOneVector) {
    // w₁ = −z₂ − 1.
    const LinearComplementarity p{(Matrix(2, 2) << 0, -1, 1, -1).finished(), -Vector::Ones(2)};
    const Solution s = solve(p);
    ASSERT_EQ(s.status, Status::infeasible);
    EXPECT_EQ(s.certificate.size(), 2U);
    expect_proof(p, s.certificate, "no feasible point");
}

TEST(LinearComplementarityProblems, WithFeasiblePointsButNoComplementaryOneHaveAProofOfSeveral) {
    // z = (2, 0) has w = (2, 0). z₁ = 0 has w₁ = −2, and w₁ = 0 has z₁ = 1, w₂ = −1 − 2 z₂.
    const LinearComplementarity p{(Matrix(2, 2) << 2, 0, 1, -2).finished(), -2.0 * Vector::Ones(2)};
    const Solution s = solve(p);
    ASSERT_EQ(s.status, Status::infeasible);
    EXPECT_EQ(s.certificate.size(), 4U);
    expect_proof(p, s.certificate, "no complementary point");
}

TEST(LinearComplementarityProblems, OfAnyRealMatrixAreDecided) {
    Random random(42);
    int infeasible = 0;
    for (int k = 0; k < 400; ++k) {
        const Index n = 2 + k % 15;
        const LinearComplementarity p{random.matrix(n, n), random.vector(n)};
        const Solution s = solve(p);
        ASSERT_TRUE(s.status == Status::converged || s.status == Status::infeasible) << k << to_string(s.status);
        if (s.status != Status::infeasible) continue;
        ++infeasible;
        expect_proof(p, s.certificate, std::to_string(k));
    }
    EXPECT_GT(infeasible, 100);
}

TEST(MixedProblems, OfAnyMatrixAreDecided) {
    Random random(43);
    int infeasible = 0;
    for (int k = 0; k < 600; ++k) {
        const Index n = 2 + k % 12;
        MixedComplementarity p{random.matrix(n, n), random.vector(n), {}};
        if (k % 2 == 0) {
            p.M = Matrix::NullaryExpr(n, n, [&] { return whole(random, -1, 1); });
            p.q = Vector::NullaryExpr(n, [&] { return whole(random, -1, 1); });
        }
        for (Index i = 0; i < n; ++i) p.free.push_back(random.below(3) == 0);
        const Solution s = solve(p);
        ASSERT_TRUE(s.status == Status::converged || s.status == Status::infeasible) << k << to_string(s.status);
        if (s.status != Status::infeasible) continue;
        ++infeasible;
        EXPECT_TRUE(excludes_all(BoundedForm::of(p), s.certificate)) << k;
        // A free z is the difference of two that are not negative: the linear problem of twice the rows has none
        // either.
        if (n > 4) continue;
        Matrix M(2 * n, 2 * n);
        M << p.M, -p.M, -p.M, p.M;
        LinearComplementarity doubled{M, Vector(2 * n)};
        doubled.q << p.q, -p.q;
        std::vector<Index> rows;
        for (Index i = 0; i < 2 * n; ++i)
            if (i < n || p.free[ix(static_cast<int>(i - n))]) rows.push_back(i);
        const LinearComplementarity linear{doubled.M(rows, rows), doubled.q(rows)};
        if (k % 2 == 0 && rows.size() <= 6) {
            EXPECT_FALSE(has_solution(linear)) << k;
        }
    }
    EXPECT_GT(infeasible, 150);
}

TEST(MixedProblems, WithContradictingEquationsAreInfeasible) {
    MixedComplementarity p;
    p.M = (Matrix(2, 2) << 1, 1, 1, 1).finished();
    p.q = (Vector(2) << -1, -2).finished();
    p.free = {true, true};
    const Solution s = solve(p);
    ASSERT_EQ(s.status, Status::infeasible);
    ASSERT_EQ(s.certificate.size(), 2U);
    const Vector y = to_eigen(s.certificate);
    EXPECT_LE((p.M.transpose() * y).norm(), 1e-12 * y.norm());  // Mᵀy = 0, yᵀq ≠ 0
    EXPECT_GT(std::abs(y.dot(p.q)), 0.1 * y.norm());
    // More equations than unknowns: z₁ = 1 and z₁ = 2.
    const MixedComplementarity tall{(Matrix(2, 1) << 1, 1).finished(), p.q, {true, true}};
    EXPECT_EQ(solve(tall).status, Status::infeasible);
    EXPECT_TRUE(excludes_all(BoundedForm::of(tall), solve(tall).certificate));
}

TEST(Relays, WithBoundsThatCrossAreInfeasible) {
    for (const Index n : {1, 3, 40}) {
        Relay p{Matrix::Identity(n, n), Vector::Ones(n), -Vector::Ones(n), Vector::Ones(n)};
        EXPECT_EQ(solve(p).status, Status::converged);
        p.lower(n / 2) = 2.0;
        const Solution s = solve(p);
        EXPECT_EQ(s.status, Status::infeasible);
        EXPECT_EQ(s.residual, infinity);
        EXPECT_EQ(s.certificate, std::vector<double>(static_cast<std::size_t>(n), 0.0));
        EXPECT_TRUE(excludes_all(BoundedForm::of(p), s.certificate));
        EXPECT_EQ(residual(p, s.r), infinity);
        p.lower(n / 2) = infinity;  // no number is that large
        p.upper(n / 2) = infinity;
        EXPECT_EQ(solve(p).status, Status::infeasible);
        p.lower(n / 2) = std::nan("");
        EXPECT_EQ(solve(p).status, Status::non_finite);
    }
}

TEST(Relays, WithInfiniteBoundsAreDecided) {
    Random random(44);
    int infeasible = 0;
    for (int k = 0; k < 300; ++k) {
        const Index n = 1 + k % 10;
        Relay p{random.matrix(n, n), random.vector(n), -Vector::Ones(n), Vector::Ones(n)};
        for (Index i = 0; i < n; ++i) {
            if (random.below(3) == 0) p.lower(i) = -infinity;
            if (random.below(3) == 0) p.upper(i) = infinity;
        }
        const Solution s = solve(p);
        ASSERT_TRUE(s.status == Status::converged || s.status == Status::infeasible) << k << to_string(s.status);
        if (s.status == Status::converged) {
            EXPECT_LE(residual(p, s.r), 1e-10) << k;
        } else {
            ++infeasible;
            EXPECT_TRUE(excludes_all(BoundedForm::of(p), s.certificate)) << k;
        }
    }
    EXPECT_GT(infeasible, 10);
}

// --- proofs --------------------------------------------------------------------------------------------------

TEST(Exclusion, IsNotFooled) {
    const LinearComplementarity walls{(Matrix(2, 2) << 1, -1, -1, 1).finished(), -Vector::Ones(2)};
    const BoundedForm form = BoundedForm::of(walls);
    EXPECT_TRUE(excludes_all(form, std::vector<double>{1, 1}));
    EXPECT_FALSE(excludes_all(form, std::vector<double>{1, 0}));    // yᵀM = (1, −1)
    EXPECT_FALSE(excludes_all(form, std::vector<double>{-1, -1}));  // yᵀq = 2
    EXPECT_FALSE(excludes_all(form, std::vector<double>{0, 0}));
    EXPECT_FALSE(excludes_all(form, std::vector<double>{}));
    EXPECT_FALSE(excludes_all(form, std::vector<double>{1, 1, 1}));
    LinearComplementarity solvable = walls;
    solvable.q(1) = 2.0;
    EXPECT_FALSE(excludes_all(BoundedForm::of(solvable), std::vector<double>{1, 1}));
    // In a branch: with w₁ = 0 and z₂ = 0 the first row alone says z₁ = 1, the second w₂ = −2.
    EXPECT_TRUE(excludes(form, std::vector<double>{1, 1}, std::vector<char>{state::inner, state::lower}));
    EXPECT_FALSE(excludes(form, std::vector<double>{1, 0}, std::vector<char>{state::inner, state::lower}));
    EXPECT_TRUE(excludes(form, std::vector<double>{1, 0}, std::vector<char>{state::lower, state::lower}));
}

TEST(Exclusion, OfConstructedProblemsIsNeverFound) {
    Random random(45);
    for (int k = 0; k < 300; ++k) {
        const Index n = 2 + k % 9;
        Vector z = Vector::Zero(n), w = Vector::Zero(n);
        for (Index i = 0; i < n; ++i) (random.below(2) == 0 ? z : w)(i) = random.uniform();
        const Matrix M = random.matrix(n, n);
        const LinearComplementarity p{M, w - M * z};
        const BranchingResult result = branch(
            BoundedForm::of(p), 100000, [&](std::span<const double> found) { return residual(p, found) <= 1e-10; });
        EXPECT_EQ(result.end, BranchingResult::End::solved) << k;
        EXPECT_TRUE(result.certificate.empty()) << k;
        EXPECT_EQ(solve(p).status, Status::converged) << k;
    }
}

TEST(Branching, SaysWhenItsNodesAreUsedUp) {
    Random random(46);
    int undecided = 0;
    for (int k = 0; k < 50; ++k) {
        const LinearComplementarity p{random.matrix(12, 12), random.vector(12)};
        const BranchingResult result = branch(BoundedForm::of(p), 1, [](std::span<const double>) { return false; });
        EXPECT_LE(result.nodes, 2) << k;
        EXPECT_EQ(result.certificate.empty(), result.end != BranchingResult::End::excluded) << k;
        undecided += result.end == BranchingResult::End::undecided ? 1 : 0;
    }
    EXPECT_GT(undecided, 5);
}

}  // namespace
}  // namespace saltus::solvers::decision_test
