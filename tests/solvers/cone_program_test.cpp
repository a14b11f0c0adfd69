// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "saltus/solvers/program/cone_program.hpp"

#include <numeric>
#include <ostream>

#include "problems.hpp"
#include "saltus/solvers/program/linear_program.hpp"

namespace saltus::solvers::cone_program_test {

inline void PrintTo(ProgramStatus status, std::ostream* out) { *out << to_string(status); }

namespace {

using Eigen::Index;
using test::Random;

Vector vector_of(std::initializer_list<double> values) {
    return Eigen::Map<const Vector>(values.begin(), static_cast<Index>(values.size()));
}

/// A pair x ⊥ s in a cone and its dual: one of them zero, or both on opposite edges.
void complementary(Random& random, Index size, Vector& x, Vector& s) {
    x = s = Vector::Zero(size);
    const int kind = random.below(3);
    if (size == 1) {
        (kind == 0 ? s : x)(0) = 0.2 + random.uniform();
        return;
    }
    const Vector direction = random.vector(size - 1).normalized();
    const auto interior = [&](Vector& z) {
        z(0) = 0.5 + random.uniform();
        z.tail(size - 1) = 0.8 * z(0) * random.uniform() * direction;
    };
    if (kind == 0) interior(x);
    if (kind == 1) interior(s);
    if (kind == 2) {
        x(0) = 0.2 + random.uniform();
        s(0) = 0.2 + random.uniform();
        x.tail(size - 1) = x(0) * direction;
        s.tail(size - 1) = -s(0) * direction;
    }
}

TEST(ConeProgram, FindsTheValueThatWasChosenFirst) {
    Random random(3);
    for (int k = 0; k < 300; ++k) {
        ConeProgram p;
        const int cones = 1 + random.below(8);
        for (int i = 0; i < cones; ++i) p.cones.push_back(1 + random.below(4));
        const Index n = std::accumulate(p.cones.begin(), p.cones.end(), Index{0});
        const Index m = 1 + random.below(static_cast<int>(n));
        Vector x(n), s(n);
        Index at = 0;
        for (const int size : p.cones) {
            Vector cone_x, cone_s;
            complementary(random, size, cone_x, cone_s);
            x.segment(at, size) = cone_x;
            s.segment(at, size) = cone_s;
            at += size;
        }
        p.A = random.matrix(m, n);
        p.b = p.A * x;
        p.c = p.A.transpose() * random.vector(m) + s;
        const ProgramSolution solution = solve(p);
        EXPECT_EQ(solution.status, ProgramStatus::optimal)
            << k << ": gap " << solution.gap << " primal " << solution.primal_residual << " dual "
            << solution.dual_residual;
        EXPECT_LE(solution.gap, 1e-8);
        EXPECT_NEAR(solution.value, p.c.dot(x), 1e-7 * (1.0 + p.c.cwiseAbs().dot(x.cwiseAbs())));
    }
}

TEST(ConeProgram, OfHalfLinesAgreesWithTheSimplexMethod) {
    Random random(7);
    int optimal = 0, infeasible = 0, unbounded = 0;
    for (int k = 0; k < 300; ++k) {
        const Index m = 1 + random.below(5), n = m + 1 + random.below(6);
        const Matrix A = random.matrix(m, n);
        const Vector b = k % 3 == 0 ? random.vector(m) : Vector(A * random.vector(n).cwiseAbs());
        const Vector c = random.vector(n);
        const ProgramSolution one = solve(ConeProgram{A, b, c, std::vector<int>(static_cast<std::size_t>(n), 1)});
        const ProgramSolution other = solve(LinearProgram{A, b, c, {}, {}});
        // If neither the primal nor the dual is feasible, either status is correct.
        if (other.status == ProgramStatus::infeasible && one.status == ProgramStatus::unbounded) continue;
        ASSERT_EQ(one.status, other.status) << k;
        optimal += usable(one.status);
        infeasible += one.status == ProgramStatus::infeasible;
        unbounded += one.status == ProgramStatus::unbounded;
        if (usable(one.status)) {
            EXPECT_NEAR(one.value, other.value, 1e-7 * (1.0 + std::abs(other.value)));
        }
    }
    EXPECT_GT(optimal, 50);
    EXPECT_GT(infeasible, 20);
    EXPECT_GT(unbounded, 50);
}

TEST(ConeProgram, ProjectsOntoADisk) {
    // min t with (t, z − x) and (1, x) in cones: the distance of z = (3, 4) from the unit disk is 4.
    ConeProgram p;
    p.cones = {3, 3};
    p.A = Matrix::Zero(3, 6);
    p.A << 0, 1, 0, 0, 1, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 1, 0, 0;
    p.b = vector_of({3, 4, 1});
    p.c = Vector::Unit(6, 0);
    const ProgramSolution s = solve(p);
    ASSERT_EQ(s.status, ProgramStatus::optimal);
    EXPECT_NEAR(s.value, 4.0, 1e-8);
    EXPECT_NEAR(s.x(4), 0.6, 1e-7);
    EXPECT_NEAR(s.x(5), 0.8, 1e-7);
}

TEST(ConeProgram, ProofsOfInfeasibilityAndRaysCanBeCheckedByHand) {
    // n = 1 with a tangential part of 2.
    const ConeProgram thin{Matrix::Identity(2, 2), vector_of({1, 2}), Vector::Zero(2), {2}};
    const ProgramSolution none = solve(thin);
    ASSERT_EQ(none.status, ProgramStatus::infeasible);
    const Vector& y = none.certificate;
    EXPECT_LE(std::abs(y(1)), -y(0) + 1e-8);       // −y ∈ K
    EXPECT_GT(y(0) + 2.0 * y(1), 0.1 * y.norm());  // bᵀy > 0
    EXPECT_EQ(excludes(thin, -y), 0.0);
    // min −t with n − s = 0, in K × ℝ⁺: unbounded along n = t = s.
    Matrix A(1, 3);
    A << 1, 0, -1;
    const ConeProgram open{A, Vector::Zero(1), vector_of({0, -1, 0}), {2, 1}};
    const ProgramSolution ray = solve(open);
    ASSERT_EQ(ray.status, ProgramStatus::unbounded);
    EXPECT_GT(ray.certificate(1), 0.1);
    EXPECT_GT(falls(open, ray.certificate), 0.0);
}

TEST(ConeProgram, WithoutRowsIsDecidedByItsCosts) {
    const ProgramSolution zero = solve(ConeProgram{Matrix(0, 3), Vector(0), vector_of({2, 1, 1}), {3}});
    EXPECT_EQ(zero.status, ProgramStatus::optimal);
    EXPECT_EQ(zero.value, 0.0);
    EXPECT_EQ(solve(ConeProgram{Matrix(0, 3), Vector(0), vector_of({1, 1, 1}), {3}}).status, ProgramStatus::unbounded);
}

}  // namespace
}  // namespace saltus::solvers::cone_program_test
