// SPDX-License-Identifier: Apache-2.0
// Linear, mixed and relay problems: constructed ones are solved, small ones agree with enumeration.
#include "saltus/solvers/complementarity.hpp"

#include <optional>

#include "problems.hpp"
#include "saltus/solvers/lemke.hpp"
#include "saltus/solvers/residual.hpp"

namespace saltus::solvers {
namespace {

using namespace test;
using Eigen::Index;

/// A matrix with positive semidefinite symmetric part of the rank given, and an antisymmetric part.
Matrix monotone(Random& random, Index n, Index rank, double turning) {
    const Matrix A = random.matrix(n, rank), B = random.matrix(n, n);
    return A * A.transpose() / static_cast<double>(n) + turning * (B - B.transpose());
}

/// z >= 0 and w >= 0 with zw = 0; a third of the pairs is zero in both when `degenerate`.
void complementary_pair(Random& random, Index n, bool degenerate, Vector& z, Vector& w) {
    z = w = Vector::Zero(n);
    for (Index i = 0; i < n; ++i) {
        const double choice = random.uniform();
        if (degenerate && choice < 0.33) continue;
        (random.uniform() < 0.5 ? z : w)(i) = random.uniform(0.1, 2.0);
    }
}

/// Some z solves the problem made of it: q = w − M z.
LinearComplementarity constructed_lcp(Random& random, const Matrix& M, bool degenerate) {
    Vector z, w;
    complementary_pair(random, M.rows(), degenerate, z, w);
    return {M, w - M * z};
}

constexpr double tolerance = 1e-10;

template <class Problem>
void expect_solved(const Problem& p, int k, const char* what) {
    const Solution s = solve(p);
    EXPECT_EQ(s.status, Status::converged) << what << " " << k << " residual " << s.residual;
    EXPECT_LE(residual(p, s.r), tolerance) << what << " " << k;
    const Vector w = p.M * to_eigen(s.r) + p.q;
    EXPECT_LE((to_eigen(s.v) - w).norm(), 1e-14 * (p.M.norm() * to_eigen(s.r).norm() + p.q.norm())) << what << " " << k;
}

// --- linear complementarity ----------------------------------------------------------------------------------

TEST(ConstructedComplementarity, WithPMatricesIsSolvedUniquely) {
    Random random(1);
    for (int k = 0; k < 1000; ++k) {
        const Index n = 1 + k % 30;
        Matrix M = monotone(random, n, n, 0.5);
        M.diagonal().array() += 0.1;
        Vector z, w;
        complementary_pair(random, n, k % 2 == 0, z, w);
        const LinearComplementarity p{M, w - M * z};
        expect_solved(p, k, "P");
        // (z − z')ᵀ M (z − z') >= 0.1 ‖z − z'‖²: distance and residual differ by (1 + ρ‖M‖)/(0.1 ρ).
        const double rho = 1.0 / M.diagonal().mean();
        const double factor = (1.0 + rho * M.norm()) / (0.1 * rho);
        const double scale = std::max(rho * p.q.norm(), z.norm());
        EXPECT_LE((to_eigen(solve(p).r) - z).norm(), 2.0 * factor * tolerance * scale) << k;
    }
}

TEST(ConstructedComplementarity, WithSingularMonotoneMatricesIsSolved) {
    Random random(2);
    for (int k = 0; k < 1000; ++k) {
        const Index n = 2 + k % 29;
        const double turning = k % 3 == 0 ? 0.0 : 0.3;
        expect_solved(constructed_lcp(random, monotone(random, n, std::max<Index>(1, n / 2), turning), k % 2 == 0), k,
                      "singular");
    }
}

TEST(ConstructedComplementarity, WithWholeNumbersAndTiesIsSolved) {
    Random random(3);
    for (int k = 0; k < 1000; ++k) {
        const Index n = 1 + k % 12;
        const Matrix A = Matrix::NullaryExpr(n, n, [&] { return static_cast<double>(random.below(5) - 2); });
        Vector z(n), w = Vector::Zero(n);
        for (Index i = 0; i < n; ++i) {
            z(i) = static_cast<double>(random.below(2));
            if (z(i) == 0.0) w(i) = static_cast<double>(random.below(2));
        }
        expect_solved(LinearComplementarity{A * A.transpose(), w - A * (A.transpose() * z)}, k, "whole numbers");
    }
}

TEST(ConstructedComplementarity, OfAnyUnitsIsSolved) {
    Random random(4);
    for (const double m_unit : {1e-9, 1e9})
        for (const double q_unit : {1e-6, 1e6})
            for (int k = 0; k < 50; ++k) {
                LinearComplementarity p = constructed_lcp(random, monotone(random, 8, 8, 0.1), true);
                p.M *= m_unit;
                p.q *= q_unit;
                expect_solved(p, k, "units");
            }
}

/// All complementary bases, least squares where singular; the solution or nothing.
std::optional<Vector> by_enumeration(const LinearComplementarity& p) {
    const Index n = p.q.size();
    for (unsigned bits = 0; bits < (1U << n); ++bits) {
        std::vector<Index> basic;
        for (Index i = 0; i < n; ++i)
            if ((bits >> i & 1U) != 0) basic.push_back(i);
        const auto count = static_cast<Index>(basic.size());
        Matrix A(count, count);
        Vector b(count);
        for (Index i = 0; i < count; ++i) {
            b(i) = -p.q(basic[static_cast<std::size_t>(i)]);
            for (Index j = 0; j < count; ++j)
                A(i, j) = p.M(basic[static_cast<std::size_t>(i)], basic[static_cast<std::size_t>(j)]);
        }
        Vector z = Vector::Zero(n);
        if (count > 0) {
            const Vector x = least_squares(A, b);
            for (Index i = 0; i < count; ++i) z(basic[static_cast<std::size_t>(i)]) = x(i);
        }
        if (residual(p, to_vector(z)) < tolerance) return z;
    }
    return {};
}

TEST(Lemke, AgreesWithEnumerationOnSolvability) {
    Random random(11);
    int solvable = 0, infeasible = 0;
    for (int k = 0; k < 600; ++k) {
        const Index n = 2 + k % 4;
        LinearComplementarity p;
        p.M = Matrix::NullaryExpr(n, n, [&] { return static_cast<double>(random.below(7) - 3); });
        if (k % 2 == 0) p.M = (p.M * p.M.transpose()).eval();  // positive semidefinite: Lemke decides
        p.q = Vector::NullaryExpr(n, [&] { return static_cast<double>(random.below(7) - 3); });
        const bool exists = by_enumeration(p).has_value();
        const Solution s = solve(p, Lemke{});
        if (k % 2 == 0) {
            EXPECT_EQ(s.status == Status::converged, exists) << k << " residual " << s.residual;
        }
        if (s.status == Status::infeasible) {
            ++infeasible;
            EXPECT_FALSE(exists) << k;
            const Vector y = to_eigen(s.certificate);
            EXPECT_GE(y.minCoeff(), 0.0) << k;
            EXPECT_LE((p.M.transpose() * y).maxCoeff(), 1e-11 * p.M.norm() * y.norm()) << k;  // rounding of the pivots
            EXPECT_LT(y.dot(p.q), 0.0) << k;
        }
        if (exists) {
            ++solvable;
            EXPECT_EQ(solve(p).status, Status::converged) << k;
        }
    }
    EXPECT_GT(solvable, 200);
    EXPECT_GT(infeasible, 20);
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
    // Small whole numbers and q = −1, positive semidefinite: it ends with a solution or a proof.
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
    const LinearComplementarity p = constructed_lcp(random, monotone(random, 20, 20, 0.1), false);
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

TEST(LinearComplementarityOfOneUnknown, IsSolvedInEveryCase) {
    const auto one_unknown = [](double m, double q) {
        return solve(LinearComplementarity{Matrix::Constant(1, 1, m), Vector::Constant(1, q)});
    };
    // Painlevé's rod: slipping with a known direction, v_N = (D_NN − μ D_NT) r_N + q_N with a negative factor.
    EXPECT_EQ(one_unknown(-0.579, -9.81).status, Status::infeasible);
    EXPECT_EQ(one_unknown(-0.579, 9.81).status, Status::converged);  // two solutions, 0 and 16.9; one is given
    EXPECT_EQ(one_unknown(2, -1).r, (std::vector<double>{0.5}));
    EXPECT_EQ(one_unknown(0, -1).status, Status::infeasible);
    EXPECT_EQ(one_unknown(0, 0).status, Status::converged);
    EXPECT_EQ(one_unknown(0, 1).r, (std::vector<double>{0}));
}

// --- mixed complementarity -----------------------------------------------------------------------------------

TEST(Mixed, FreeUnknownsAreEliminatedOrNot) {
    MixedComplementarity p;
    p.M = (Matrix(3, 3) << 2, 1, -1, 1, 3, 0, 1, 0, 2).finished();
    p.q = (Vector(3) << 1, -2, -5).finished();
    p.free = {true, false, false};
    EXPECT_EQ(solve(p).status, Status::converged);
    p.M(0, 0) = 0.0;  // the free block is singular: the saddle point form remains solvable
    EXPECT_EQ(solve(p).status, Status::converged);
}

/// q = w − M z with z free and w = 0 on the free rows.
MixedComplementarity constructed_mixed(Random& random, const Matrix& M, double share_free, bool degenerate) {
    MixedComplementarity p;
    Vector z, w;
    complementary_pair(random, M.rows(), degenerate, z, w);
    for (Index i = 0; i < M.rows(); ++i) {
        p.free.push_back(random.uniform() < share_free);
        if (p.free.back()) z(i) = random.normal(), w(i) = 0.0;
    }
    p.M = M;
    p.q = w - M * z;
    return p;
}

TEST(ConstructedMixed, WithRegularMatricesIsSolved) {
    Random random(6);
    for (int k = 0; k < 600; ++k) {
        const Index n = 1 + k % 25;
        Matrix M = monotone(random, n, n, 0.5);
        M.diagonal().array() += 0.1;
        expect_solved(constructed_mixed(random, M, 0.4, k % 2 == 0), k, "regular");
    }
}

TEST(ConstructedMixed, WithSingularMatricesIsSolved) {
    Random random(7);
    for (int k = 0; k < 600; ++k) {
        const Index n = 2 + k % 14;
        expect_solved(constructed_mixed(random, monotone(random, n, std::max<Index>(1, n / 2), 0.0), 0.4, k % 2 == 0),
                      k, "singular");
    }
}

TEST(ConstructedMixed, OfMechanicsWithConstraintsIsSolved) {
    // Velocities u free, M u − Gᵀ λ = h: a saddle point with equality and inequality multipliers.
    Random random(8);
    for (int k = 0; k < 300; ++k) {
        const Index bodies = 2 + k % 8, multipliers = 1 + k % 6, n = bodies + multipliers;
        Matrix M = Matrix::Zero(n, n);
        for (Index i = 0; i < bodies; ++i) M(i, i) = random.uniform(0.5, 2.0);
        M.topRightCorner(bodies, multipliers) = random.matrix(bodies, multipliers);
        M.bottomLeftCorner(multipliers, bodies) = -M.topRightCorner(bodies, multipliers).transpose();
        MixedComplementarity p;
        Vector z, w;
        complementary_pair(random, n, false, z, w);
        for (Index i = 0; i < n; ++i) {
            p.free.push_back(i < bodies || random.uniform() < 0.3);
            if (p.free.back()) z(i) = random.normal(), w(i) = 0.0;
        }
        p.M = M;
        p.q = w - M * z;
        expect_solved(p, k, "saddle point");
    }
}

TEST(Mixed, NothingFreeOrNothingComplementaryIsFine) {
    MixedComplementarity p;
    p.M = (Matrix(2, 2) << 2, 1, 1, 2).finished();
    p.q = (Vector(2) << -1, -1).finished();
    p.free = {false, false};
    expect_solved(p, 0, "nothing free");
    p.free = {true, true};
    expect_solved(p, 0, "nothing complementary");
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

TEST(Mixed, ContradictingEquationsAreNotCalledSolved) {
    MixedComplementarity p;
    p.M = (Matrix(2, 2) << 1, 1, 1, 1).finished();
    p.q = (Vector(2) << -1, -2).finished();
    p.free = {true, true};
    EXPECT_NE(solve(p).status, Status::converged);
}

// --- relay ---------------------------------------------------------------------------------------------------

/// z in its box, w of the sign that z asks for.
Relay constructed_relay(Random& random, const Matrix& M) {
    const Index n = M.rows();
    Relay p;
    p.M = M;
    p.lower = Vector::NullaryExpr(n, [&] { return -random.uniform(0.1, 2.0); });
    p.upper = Vector::NullaryExpr(n, [&] { return random.uniform(0.1, 2.0); });
    Vector z(n), w = Vector::Zero(n);
    for (Index i = 0; i < n; ++i) {
        const int state = random.below(4);
        z(i) = state == 0 ? p.lower(i) : state == 1 ? p.upper(i) : random.uniform(p.lower(i), p.upper(i));
        if (state == 0) w(i) = random.uniform(0.0, 2.0);
        if (state == 1) w(i) = -random.uniform(0.0, 2.0);
    }
    p.q = w - M * z;
    return p;
}

TEST(ConstructedRelay, IsSolved) {
    Random random(9);
    for (int k = 0; k < 600; ++k) {
        const Index n = 1 + k % 15, rank = k % 3 == 0 ? std::max<Index>(1, n / 2) : n;
        expect_solved(constructed_relay(random, monotone(random, n, rank, k % 2 == 0 ? 0.0 : 0.3)), k, "relay");
    }
}

/// Each z at its lower bound, at its upper one, or with w = 0: the solutions by 3ⁿ linear systems and inequalities.
std::vector<Vector> relay_by_enumeration(const Relay& p) {
    const Index n = p.q.size();
    int combinations = 1;
    for (Index i = 0; i < n; ++i) combinations *= 3;
    std::vector<Vector> found;
    for (int k = 0; k < combinations; ++k) {
        Matrix A = p.M;
        Vector b = -p.q;
        int rest = k;
        for (Index i = 0; i < n; ++i, rest /= 3)
            if (rest % 3 != 2) {
                A.row(i).setZero();
                A(i, i) = 1.0;
                b(i) = rest % 3 == 0 ? p.lower(i) : p.upper(i);
            }
        const Vector z = least_squares(A, b), w = p.M * z + p.q;
        if ((A * z - b).norm() > 1e-10 * (b.norm() + z.norm())) continue;
        bool fits = true;
        const double slack = 1e-9 * (1.0 + z.norm());
        rest = k;
        for (Index i = 0; i < n; ++i, rest /= 3) {
            if (rest % 3 == 0) fits = fits && w(i) >= -slack;
            if (rest % 3 == 1) fits = fits && w(i) <= slack;
            if (rest % 3 == 2) fits = fits && z(i) >= p.lower(i) - slack && z(i) <= p.upper(i) + slack;
        }
        if (fits) found.push_back(z);
    }
    return found;
}

TEST(SmallRelays, AgreeWithEnumeration) {
    Random random(10);
    int several = 0;
    for (int k = 0; k < 600; ++k) {
        const Index n = 1 + k % 4;
        Relay p = constructed_relay(random, random.matrix(n, n));  // of no class
        p.q = 2.0 * random.vector(n);
        const std::vector<Vector> expected = relay_by_enumeration(p);
        ASSERT_FALSE(expected.empty()) << k;  // a continuous map into a box: Brouwer
        several += expected.size() > 1 ? 1 : 0;
        const Solution s = solve(p);
        ASSERT_EQ(s.status, Status::converged) << k << " residual " << s.residual;
        double nearest = 1e300;
        for (const Vector& z : expected) nearest = std::min(nearest, (to_eigen(s.r) - z).norm());
        EXPECT_LE(nearest, 1e-6) << k;  // 1e-10, times the condition of a random system
    }
    EXPECT_GT(several, 50);
}

TEST(RelayProblem, StaysInItsBoxWithTheRightSigns) {
    Random random(2);
    for (int k = 0; k < 50; ++k) {
        const Index n = 1 + k % 6;
        const Matrix A = random.matrix(n, n);
        Relay p;
        p.M = A * A.transpose();
        p.q = 3.0 * random.vector(n);
        p.lower = Vector::Constant(n, -1);
        p.upper = Vector::Constant(n, 2);
        const Solution s = solve(p);
        ASSERT_EQ(s.status, Status::converged) << k;
        for (Index i = 0; i < n; ++i) {
            const double z = s.r[static_cast<std::size_t>(i)], w = s.v[static_cast<std::size_t>(i)];
            EXPECT_GE(z, -1.0);
            EXPECT_LE(z, 2.0);
            const double none = 1e-9 * p.M.norm() * 3;  // the tolerance and ‖z‖
            if (w > none) {
                EXPECT_EQ(z, -1.0) << k;
            }
            if (w < -none) {
                EXPECT_EQ(z, 2.0) << k;
            }
        }
    }
}

TEST(RelayProblem, WithInfiniteBoundsIsAComplementarityProblemOrAnEquation) {
    const double infinity = std::numeric_limits<double>::infinity();
    Random random(13);
    for (int k = 0; k < 100; ++k) {
        const Index n = 1 + k % 6;
        Matrix M = monotone(random, n, n, 0.3);
        M.diagonal().array() += 0.1;
        const Vector q = random.vector(n);
        const Relay half{M, q, Vector::Zero(n), Vector::Constant(n, infinity)};
        const Solution s = solve(half), t = solve(LinearComplementarity{M, q});
        ASSERT_EQ(s.status, Status::converged) << k;
        EXPECT_LE((to_eigen(s.r) - to_eigen(t.r)).norm(), 1e-8 * (1.0 + to_eigen(t.r).norm())) << k;  // M >= 0.1
        const Relay whole{M, q, Vector::Constant(n, -infinity), Vector::Constant(n, infinity)};
        const Solution u = solve(whole);
        ASSERT_EQ(u.status, Status::converged) << k;
        EXPECT_LE((M * to_eigen(u.r) + q).norm(), 1e-8 * q.norm()) << k;
    }
}

TEST(RelayProblem, WithoutRoomIsSolvedByItsOnlyPoint) {
    const Relay p{Matrix::Identity(2, 2), Vector::Ones(2), Vector::Constant(2, 3), Vector::Constant(2, 3)};
    const Solution s = solve(p);
    EXPECT_EQ(s.status, Status::converged);
    EXPECT_EQ(s.r, (std::vector<double>{3, 3}));
}

}  // namespace
}  // namespace saltus::solvers
