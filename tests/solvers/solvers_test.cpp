// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <random>

#include "saltus/solvers/complementarity.hpp"
#include "saltus/solvers/friction.hpp"
#include "saltus/solvers/lemke.hpp"
#include "saltus/solvers/one_contact.hpp"
#include "saltus/solvers/residual.hpp"

namespace saltus::solvers {
namespace {

Law friction3(double mu) {
    Law law;
    law.kind = LawKind::friction3;
    law.mu = mu;
    return law;
}

FrictionProblem one(const Matrix& W, std::vector<double> q, const Law& law) {
    FrictionProblem p;
    const int size = static_cast<int>(q.size());
    p.W = BlockMatrix::from_dense(W, std::vector{size});
    p.q = std::move(q);
    p.laws = {law};
    return p;
}

// --- one contact: every regime in closed form ----------------------------------------------------------------

TEST(OneContact, SeparatesWithoutReaction) {
    const Solution s = solve(one(Matrix::Identity(3, 3), {0.5, 1, -2}, friction3(0.3)));
    EXPECT_EQ(s.r, (std::vector<double>{0, 0, 0}));
    EXPECT_EQ(s.status, Status::converged);
}

TEST(OneContact, SticksInsideTheCone) {
    const Solution s = solve(one(Matrix::Identity(3, 3) * 2, {-4, 0.2, 0.1}, friction3(0.3)));
    EXPECT_NEAR(s.r[0], 2.0, 1e-14);
    EXPECT_NEAR(s.r[1], -0.1, 1e-14);
    EXPECT_NEAR(s.r[2], -0.05, 1e-14);
}

TEST(OneContact, SlipsOnTheConeAgainstTheVelocity) {
    // W = I: r_N = 1, ‖r_T‖ = 0.3 against q_T = (3, 4).
    const Solution s = solve(one(Matrix::Identity(3, 3), {-1, 3, 4}, friction3(0.3)));
    EXPECT_NEAR(s.r[0], 1.0, 1e-14);
    EXPECT_NEAR(s.r[1], -0.18, 1e-14);
    EXPECT_NEAR(s.r[2], -0.24, 1e-14);
    EXPECT_NEAR(s.v[1] / s.v[2], 0.75, 1e-13);
}

TEST(OneContact, CoupledSlipFulfilsTheLawToRounding) {
    std::mt19937 random(3);
    std::normal_distribution<double> normal;
    for (int k = 0; k < 2000; ++k) {
        const Matrix A = Matrix::NullaryExpr(3, 3, [&] { return normal(random); });
        const Matrix W = A * A.transpose() + 0.05 * Matrix::Identity(3, 3);
        const FrictionProblem p =
            one(W, {-std::abs(normal(random)), 3 * normal(random), 3 * normal(random)}, friction3(0.1 + 0.4 * (k % 3)));
        std::vector<double> r(3, 0.0);
        ASSERT_TRUE(solve_one(p.laws[0], 3, p.W.values.data(), p.q.data(), 0.0, r.data()));
        EXPECT_LT(residual(p, r), 1e-12) << k;  // cond(W) up to about 1e3
    }
}

// --- the residual --------------------------------------------------------------------------------------------

TEST(Residual, DoesNotDependOnUnits) {
    FrictionProblem p =
        one((Matrix(3, 3) << 2, 0.3, 0.1, 0.3, 1, 0.2, 0.1, 0.2, 3).finished(), {-1, 3, 4}, friction3(0.3));
    const double before = residual(p, std::vector<double>{1, -0.1, 0.2});
    for (double& w : p.W.values) w *= 1e-6;  // masses in other units: reactions 1e6 times as large
    EXPECT_NEAR(residual(p, std::vector<double>{1e6, -0.1e6, 0.2e6}), before, 1e-12);
    EXPECT_GT(before, 1e-3);
}

// --- problems with constructed solutions ---------------------------------------------------------------------

/// Chooses r and v that satisfy the laws, and W of the given rank and spread of singular values; then q = v − W r.
FrictionProblem constructed(unsigned seed, int contacts, LawKind kind, int rank, double condition,
                            std::vector<double>& r) {
    std::mt19937 random(seed);
    std::normal_distribution<double> normal;
    std::uniform_real_distribution<double> uniform(0.0, 1.0);
    const int d = law_size(kind), n = d * contacts;
    Matrix A = Matrix::NullaryExpr(n, rank, [&] { return normal(random); });
    for (int j = 0; j < rank; ++j) A.col(j) *= std::pow(condition, -0.5 * j / std::max(1, rank - 1));
    FrictionProblem p;
    p.W = BlockMatrix::from_dense(A * A.transpose() / n, std::vector<int>(static_cast<std::size_t>(contacts), d));
    r.assign(static_cast<std::size_t>(n), 0.0);
    std::vector<double> v(r.size(), 0.0);
    for (int a = 0; a < contacts; ++a) {
        Law law;
        law.kind = kind;
        law.mu = 0.2 + 0.6 * uniform(random);
        law.mu_drilling = 0.1;
        law.mu_rolling = 0.05 + 0.2 * uniform(random);
        p.laws.push_back(law);
        double* ra = r.data() + static_cast<std::ptrdiff_t>(a) * d;
        double* va = v.data() + static_cast<std::ptrdiff_t>(a) * d;
        const double choice = uniform(random);
        if (choice < 0.3) {  // open
            for (int i = 0; i < d; ++i) va[i] = normal(random);
            va[0] = std::abs(va[0]);
            continue;
        }
        ra[0] = 0.1 + uniform(random);
        struct Part {
            int first, size;
            double mu;
        };
        std::vector<Part> parts;
        if (kind == LawKind::friction2) parts = {{1, 1, law.mu}};
        if (kind == LawKind::friction3) parts = {{1, 2, law.mu}};
        if (kind == LawKind::drilling4) parts = {{1, 2, law.mu}, {3, 1, law.mu_drilling}};
        if (kind == LawKind::rolling5) parts = {{1, 2, law.mu}, {3, 2, law.mu_rolling}};
        if (kind == LawKind::rolling6) parts = {{1, 2, law.mu}, {3, 1, law.mu_drilling}, {4, 2, law.mu_rolling}};
        for (const Part& part : parts) {
            double direction[2] = {normal(random), part.size > 1 ? normal(random) : 0.0};
            const double length = std::hypot(direction[0], direction[1]);
            const bool slips = uniform(random) < 0.5;
            for (int i = 0; i < part.size; ++i) {
                ra[part.first + i] = part.mu * ra[0] * direction[i] / length * (slips ? 1.0 : 0.7);
                if (slips) va[part.first + i] = -direction[i];
            }
        }
    }
    std::vector<double> Wr(r.size());
    p.W.multiply(r, Wr);
    for (std::size_t i = 0; i < r.size(); ++i) p.q.push_back(v[i] - Wr[i]);
    return p;
}

struct Family {
    LawKind kind;
    const char* name;
};

class Constructed : public testing::TestWithParam<Family> {};

TEST_P(Constructed, RegularProblemsAreSolved) {
    for (unsigned seed = 0; seed < 60; ++seed) {
        std::vector<double> r;
        const int contacts = 1 + static_cast<int>(seed % 8);
        const int n = contacts * law_size(GetParam().kind);
        const FrictionProblem p = constructed(seed, contacts, GetParam().kind, n, 1e2, r);
        ASSERT_LT(residual(p, r), 1e-14);
        const Solution s = solve(p, Automatic{1e-8});
        EXPECT_EQ(s.status, Status::converged) << "seed " << seed << " residual " << s.residual;
    }
}

TEST_P(Constructed, SingularAndIllConditionedProblemsAreSolved) {
    for (unsigned seed = 0; seed < 60; ++seed) {
        std::vector<double> r;
        const int contacts = 2 + static_cast<int>(seed % 6);
        const int n = contacts * law_size(GetParam().kind);
        const int rank = seed % 2 == 0 ? std::max(1, n / 2) : n;
        const FrictionProblem p =
            constructed(1000 + seed, contacts, GetParam().kind, rank, seed % 3 == 0 ? 1e12 : 1e6, r);
        ASSERT_LT(residual(p, r), 1e-12);
        const Solution s = solve(p, Automatic{1e-8});
        EXPECT_EQ(s.status, Status::converged) << "seed " << seed << " residual " << s.residual;
    }
}

INSTANTIATE_TEST_SUITE_P(Laws, Constructed,
                         testing::Values(Family{LawKind::unilateral, "unilateral"},
                                         Family{LawKind::friction2, "planar"}, Family{LawKind::friction3, "spatial"},
                                         Family{LawKind::drilling4, "drilling"}, Family{LawKind::rolling5, "rolling"},
                                         Family{LawKind::rolling6, "rollingAndDrilling"}),
                         [](const auto& family) { return std::string(family.param.name); });

TEST(Friction, BilateralRowsAndSlidersStandBesideContacts) {
    // A block on a rail: bilateral row, friction on it scaled by its reaction, a slider with a known bound.
    FrictionProblem p;
    Law rail, brake, friction;
    rail.kind = LawKind::bilateral;
    friction.kind = LawKind::scaled_slider;
    friction.mu = 0.5;
    friction.row = 0;
    brake.kind = LawKind::slider;
    brake.bound = 0.25;
    p.laws = {rail, friction, brake};
    p.W =
        BlockMatrix::from_dense((Matrix(3, 3) << 2, 0.1, 0, 0.1, 1, 0, 0, 0, 1).finished(), std::vector<int>{1, 1, 1});
    p.q = {-4, 10, -3};
    const Solution s = solve(p);
    ASSERT_EQ(s.status, Status::converged) << s.residual;
    EXPECT_NEAR(s.v[0], 0.0, 1e-9);
    EXPECT_NEAR(s.r[1], -0.5 * s.r[0], 1e-9);
    EXPECT_NEAR(s.r[2], 0.25, 1e-12);
}

TEST(Friction, AWallThatCannotBePushedAwayIsNotCalledSolved) {
    // Two contacts with opposite normals that close on each other: W is singular and q not in reach.
    Law law;
    law.kind = LawKind::unilateral;
    FrictionProblem p;
    p.W = BlockMatrix::from_dense((Matrix(2, 2) << 1, -1, -1, 1).finished(), std::vector<int>{1, 1});
    p.q = {-1, -1};
    p.laws = {law, law};
    const Solution s = solve(p, Automatic{1e-8});
    EXPECT_NE(s.status, Status::converged);
    EXPECT_GT(s.residual, 1e-4);
}

TEST(Friction, PainleveRodWithoutSolutionIsRecognised) {
    // Slipping with a known direction: v_N = (D_NN − μ D_NT) r_N + q_N with a negative factor.
    LinearComplementarity p;
    p.M = Matrix::Constant(1, 1, -0.579);
    p.q = Vector::Constant(1, -9.81);
    EXPECT_EQ(solve(p).status, Status::infeasible);
    p.q(0) = 9.81;  // two solutions, 0 and 16.9; one of them is given
    EXPECT_EQ(solve(p).status, Status::converged);
}

TEST(Friction, NonFiniteInputIsAStatus) {
    EXPECT_EQ(solve(one(Matrix::Identity(3, 3), {std::nan(""), 0, 0}, friction3(0.3))).status, Status::non_finite);
}

TEST(Friction, SameProblemSameBits) {
    std::vector<double> r;
    const FrictionProblem p = constructed(5, 8, LawKind::friction3, 12, 1e6, r);
    EXPECT_EQ(solve(p, Automatic{1e-10}).r, solve(p, Automatic{1e-10}).r);
}

// --- complementarity -----------------------------------------------------------------------------------------

TEST(Lemke, AgreesWithEnumerationOnSolvability) {
    std::mt19937 random(11);
    std::uniform_int_distribution<int> digit(-3, 3);
    int solvable = 0, infeasible = 0;
    for (int k = 0; k < 600; ++k) {
        const Eigen::Index n = 2 + k % 4;
        LinearComplementarity p;
        p.M = Matrix::NullaryExpr(n, n, [&] { return static_cast<double>(digit(random)); });
        if (k % 2 == 0) p.M = p.M * p.M.transpose();  // positive semidefinite: Lemke decides
        p.q = Vector::NullaryExpr(n, [&] { return static_cast<double>(digit(random)); });
        bool exists = false;  // all complementary bases, least squares where singular
        for (unsigned bits = 0; bits < (1U << n) && !exists; ++bits) {
            std::vector<Eigen::Index> basic;
            for (Eigen::Index i = 0; i < n; ++i)
                if ((bits >> i & 1U) != 0) basic.push_back(i);
            Matrix A(basic.size(), basic.size());
            Vector b(basic.size());
            for (std::size_t i = 0; i < basic.size(); ++i) {
                b(static_cast<Eigen::Index>(i)) = -p.q(basic[i]);
                for (std::size_t j = 0; j < basic.size(); ++j)
                    A(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)) = p.M(basic[i], basic[j]);
            }
            const Vector x = basic.empty() ? Vector() : least_squares(A, b);
            std::vector<double> z(static_cast<std::size_t>(n), 0.0);
            for (std::size_t i = 0; i < basic.size(); ++i)
                z[static_cast<std::size_t>(basic[i])] = x(static_cast<Eigen::Index>(i));
            exists = residual(p, z) < 1e-10;
        }
        const Solution s = solve(p, Lemke{});
        if (k % 2 == 0) {
            EXPECT_EQ(s.status == Status::converged, exists) << k << " residual " << s.residual;
        }
        if (s.status == Status::infeasible) {
            ++infeasible;
            EXPECT_FALSE(exists) << k;
        }
        if (exists) {
            ++solvable;
            EXPECT_EQ(solve(p).status, Status::converged) << k;
        }
    }
    EXPECT_GT(solvable, 200);
    EXPECT_GT(infeasible, 20);
}

TEST(Lemke, CertificateProvesThatThereIsNoSolution) {
    LinearComplementarity p;
    p.M = (Matrix(2, 2) << 1, -1, -1, 1).finished();
    p.q = (Vector(2) << -1, -1).finished();
    const Solution s = solve(p);
    ASSERT_EQ(s.status, Status::infeasible);
    const Eigen::Map<const Vector> y(s.certificate.data(), 2);
    EXPECT_GE(y.minCoeff(), 0.0);
    EXPECT_LE((p.M.transpose() * y).maxCoeff(), 1e-12);
    EXPECT_LT(y.dot(p.q), 0.0);
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

TEST(Mixed, FreeUnknownsAreEliminatedOrNot) {
    MixedComplementarity p;
    p.M = (Matrix(3, 3) << 2, 1, -1, 1, 3, 0, 1, 0, 2).finished();
    p.q = (Vector(3) << 1, -2, -5).finished();
    p.free = {true, false, false};
    EXPECT_EQ(solve(p).status, Status::converged);
    p.M(0, 0) = 0.0;  // the free block is singular: the saddle point form remains solvable
    EXPECT_EQ(solve(p).status, Status::converged);
}

TEST(Mixed, NothingFreeNothingComplementaryOrNothingAtAllIsFine) {
    MixedComplementarity p;
    p.M = (Matrix(2, 2) << 2, 1, 1, 2).finished();
    p.q = (Vector(2) << -1, -1).finished();
    p.free = {false, false};
    EXPECT_EQ(solve(p).status, Status::converged);
    p.free = {true, true};
    EXPECT_EQ(solve(p).status, Status::converged);
    EXPECT_EQ(solve(MixedComplementarity{Matrix(0, 0), Vector(0), {}}).status, Status::converged);
    EXPECT_EQ(solve(LinearComplementarity{Matrix(0, 0), Vector(0)}).status, Status::converged);
    EXPECT_EQ(solve(Relay{Matrix(0, 0), Vector(0), Vector(0), Vector(0)}).status, Status::converged);
    EXPECT_EQ(solve(FrictionProblem{}).status, Status::converged);
}

TEST(Mixed, ConsistentExtraEquationsAreFine) {
    // u + v = 1 twice, w = u − v ⊥ v: u = v = ½.
    MixedComplementarity p;
    p.M = (Matrix(3, 2) << 1, 1, 2, 2, -1, 1).finished();
    p.q = (Vector(3) << -1, -2, 0).finished();
    p.free = {true, true, false};
    const Solution s = solve(p);
    ASSERT_EQ(s.status, Status::converged) << s.residual;
    EXPECT_NEAR(s.r[0] + s.r[1], 1.0, 1e-10);
}

TEST(RelayProblem, StaysInItsBoxWithTheRightSigns) {
    std::mt19937 random(2);
    std::normal_distribution<double> normal;
    for (int k = 0; k < 50; ++k) {
        const Eigen::Index n = 1 + k % 6;
        const Matrix A = Matrix::NullaryExpr(n, n, [&] { return normal(random); });
        Relay p;
        p.M = A * A.transpose();
        p.q = Vector::NullaryExpr(n, [&] { return 3 * normal(random); });
        p.lower = Vector::Constant(n, -1);
        p.upper = Vector::Constant(n, 2);
        EXPECT_EQ(solve(p).status, Status::converged) << k;
    }
}

}  // namespace
}  // namespace saltus::solvers
