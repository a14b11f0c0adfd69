// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "saltus/solvers/program/linear_program.hpp"

#include <limits>
#include <ostream>

#include "problems.hpp"
#include "saltus/base/factors.hpp"

namespace saltus::solvers::linear_program_test {

inline void PrintTo(ProgramStatus status, std::ostream* out) { *out << to_string(status); }

namespace {

using Eigen::Index;
using test::Random;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double tolerance = 1e-10;

Vector vector_of(std::initializer_list<double> values) {
    return Eigen::Map<const Vector>(values.begin(), static_cast<Index>(values.size()));
}

/// The last row of three digits keeps degenerate programs degenerate.
double digit(Random& random) { return random.below(7) - 3; }

/// Least value over all basic solutions of A x = b, x >= 0, with A of full row rank; +∞ when none is feasible. The
/// minimum of a bounded program is among them.
double least_vertex(const LinearProgram& p) {
    const Index m = p.A.rows(), n = p.A.cols();
    double least = infinity;
    std::vector<int> chosen(static_cast<std::size_t>(n), 0);
    std::fill_n(chosen.begin(), m, 1);
    do {
        Matrix B(m, m);
        std::vector<Index> columns;
        for (Index j = 0; j < n; ++j)
            if (chosen[static_cast<std::size_t>(j)]) {
                B.col(static_cast<Index>(columns.size())) = p.A.col(j);
                columns.push_back(j);
            }
        const FullPivotLu lu(B);
        if (!lu.invertible()) continue;
        const Vector x = lu.solve(p.b);
        if (x.minCoeff() < -1e-9) continue;
        double value = 0.0;
        for (Index k = 0; k < m; ++k) value += p.c(columns[static_cast<std::size_t>(k)]) * x(k);
        least = std::min(least, value);
    } while (std::prev_permutation(chosen.begin(), chosen.end()));
    return least;
}

void expect_certified(const LinearProgram& p, const ProgramSolution& s) {
    switch (s.status) {
        case ProgramStatus::optimal:
            EXPECT_LE(s.gap, tolerance);
            EXPECT_LE(s.primal_residual, tolerance);
            EXPECT_LE(s.dual_residual, tolerance);
            break;
        case ProgramStatus::infeasible: EXPECT_GT(excludes(p, s.certificate), 0.0); break;
        case ProgramStatus::unbounded:
            EXPECT_GT(falls(p, s.certificate), 0.0);
            EXPECT_LE(s.primal_residual, tolerance);
            break;
        default: FAIL() << to_string(s.status);
    }
}

TEST(LinearProgram, FindsTheCornerOfATextbookExample) {
    // max 3x + 5y with x <= 4, 2y <= 12, 3x + 2y <= 18: 36 at (2, 6); multipliers 0, 3/2, 1.
    LinearProgram p;
    p.A = Matrix::Zero(3, 5);
    p.A << 1, 0, 1, 0, 0, 0, 2, 0, 1, 0, 3, 2, 0, 0, 1;
    p.b = vector_of({4, 12, 18});
    p.c = vector_of({-3, -5, 0, 0, 0});
    const ProgramSolution s = solve(p);
    ASSERT_EQ(s.status, ProgramStatus::optimal);
    EXPECT_NEAR(s.value, -36.0, 1e-13);
    EXPECT_NEAR(s.dual_value, -36.0, 1e-13);
    EXPECT_LE((s.x.head(2) - vector_of({2, 6})).norm(), 1e-14);
    EXPECT_LE((s.y - vector_of({0, -1.5, -1})).norm(), 1e-14);
}

TEST(LinearProgram, AgreesWithAllCornersOfRandomPrograms) {
    Random random(3);
    int bounded = 0, infeasible = 0, unbounded = 0;
    for (int k = 0; k < 3000; ++k) {
        const Index m = 1 + random.below(4), n = m + random.below(6);
        LinearProgram p;
        const bool degenerate = k % 2 == 0;
        p.A = Matrix::NullaryExpr(m, n, [&] { return degenerate ? digit(random) : random.normal(); });
        if (FullPivotLu(p.A).rank() < m) continue;
        p.c = Vector::NullaryExpr(n, [&] { return degenerate ? digit(random) : random.normal(); });
        p.b = k % 3 == 0 ? Vector(Vector::NullaryExpr(m, [&] { return digit(random); }))
                         : Vector(p.A * Vector::NullaryExpr(n, [&] { return std::max(0.0, digit(random)); }));
        const ProgramSolution s = solve(p);
        expect_certified(p, s);
        const double least = least_vertex(p);
        switch (s.status) {
            case ProgramStatus::optimal:
                EXPECT_NEAR(s.value, least, 1e-9 * (1.0 + std::abs(least)));
                ++bounded;
                break;
            case ProgramStatus::infeasible:
                EXPECT_EQ(least, infinity);
                ++infeasible;
                break;
            default: EXPECT_LT(least, infinity); ++unbounded;
        }
    }
    EXPECT_GT(bounded, 500);
    EXPECT_GT(infeasible, 200);
    EXPECT_GT(unbounded, 200);
}

TEST(LinearProgram, BoundsAndFreeUnknownsGiveWhatSplitUnknownsGive) {
    // x = x⁺ − x⁻ for free ones, x = l + s, s + t = u − l for boxes: the same program in standard form.
    Random random(11);
    for (int k = 0; k < 500; ++k) {
        const Index m = 1 + random.below(4), n = m + random.below(5);
        LinearProgram p{random.matrix(m, n), {}, random.vector(n), Vector::Zero(n), Vector::Zero(n)};
        Vector inside(n);
        for (Index j = 0; j < n; ++j) {
            const int kind = random.below(4);
            p.lower(j) = kind == 0 || kind == 1 ? -infinity : -1.0 - random.uniform();
            p.upper(j) = kind == 0 || kind == 2 ? infinity : random.uniform() + (k % 5 == 0 ? -1.5 : 1.0);
            if (p.upper(j) < p.lower(j)) p.upper(j) = p.lower(j);
            inside(j) = std::clamp(digit(random) / 3.0, p.lower(j), p.upper(j));
        }
        p.b = p.A * inside;
        std::vector<Vector> columns;
        std::vector<double> cost;
        const auto boxes = static_cast<Index>((p.lower.array().isFinite() && p.upper.array().isFinite()).count());
        Vector b = Vector::Zero(m + boxes);
        b.head(m) = p.b;
        double constant = 0.0;
        Index box = m;
        const auto add = [&](Index j, double sign, Index row, double entry) {
            Vector column = Vector::Zero(m + boxes);
            if (j >= 0) column.head(m) = sign * p.A.col(j);
            if (row >= 0) column(row) = entry;
            columns.push_back(column);
            cost.push_back(j >= 0 ? sign * p.c(j) : 0.0);
        };
        for (Index j = 0; j < n; ++j) {
            const bool low = std::isfinite(p.lower(j)), high = std::isfinite(p.upper(j));
            const double from = low ? p.lower(j) : high ? p.upper(j) : 0.0;
            b.head(m) -= from * p.A.col(j);
            constant += from * p.c(j);
            if (low && high) {
                b(box) = p.upper(j) - p.lower(j);
                add(j, 1.0, box, 1.0);
                add(-1, 1.0, box++, 1.0);
            } else if (low) {
                add(j, 1.0, -1, 0.0);
            } else if (high) {
                add(j, -1.0, -1, 0.0);
            } else {
                add(j, 1.0, -1, 0.0);
                add(j, -1.0, -1, 0.0);
            }
        }
        for (Index i = 0; i < b.size(); ++i)  // a difference that cancelled is zero, not a number of its own
            if (std::abs(b(i)) < 1e-14) b(i) = 0.0;
        LinearProgram standard{Matrix(m + boxes, static_cast<Index>(columns.size())), b, test::to_eigen(cost), {}, {}};
        for (Index j = 0; j < standard.A.cols(); ++j) standard.A.col(j) = columns[static_cast<std::size_t>(j)];
        const ProgramSolution one = solve(p), other = solve(standard);
        expect_certified(p, one);
        expect_certified(standard, other);
        ASSERT_EQ(one.status, other.status);
        if (usable(one.status)) {
            EXPECT_NEAR(one.value, other.value + constant, 1e-9 * (1.0 + std::abs(one.value)));
        }
    }
}

TEST(LinearProgram, WithDependentRowsIsSolved) {
    Random random(5);
    for (int k = 0; k < 200; ++k) {
        const Index m = 2 + random.below(4), n = m + 2 + random.below(5);
        LinearProgram p{random.matrix(m, n), {}, Vector::NullaryExpr(n, [&] { return random.uniform(); }), {}, {}};
        p.A.row(m - 1) = p.A.row(0) * 2.0 - p.A.row(m - 2);
        const Vector x = Vector::NullaryExpr(n, [&] { return random.uniform(); });
        p.b = p.A * x;
        const ProgramSolution s = solve(p);
        ASSERT_EQ(s.status, ProgramStatus::optimal);
        expect_certified(p, s);
        EXPECT_LE(s.value, p.c.dot(x) + 1e-12);
        p.b(m - 1) += 1.0;
        const ProgramSolution none = solve(p);
        ASSERT_EQ(none.status, ProgramStatus::infeasible);
        expect_certified(p, none);
    }
}

TEST(LinearProgram, TheExampleOnWhichTheLargestCoefficientRuleCyclesEnds) {
    // Beale's.
    LinearProgram p;
    p.A = Matrix::Zero(3, 7);
    p.A << 0.25, -60, -1.0 / 25, 9, 1, 0, 0, 0.5, -90, -1.0 / 50, 3, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1;
    p.b = vector_of({0, 0, 1});
    p.c = vector_of({-0.75, 150, -1.0 / 50, 6, 0, 0, 0});
    const ProgramSolution s = solve(p);
    ASSERT_EQ(s.status, ProgramStatus::optimal);
    EXPECT_NEAR(s.value, -1.0 / 20, 1e-15);
}

TEST(LinearProgram, AProofOfInfeasibilityIsCheckedByHand) {
    // x + y = 1 and x + y = 2 with x, y >= 0: row 2 less row 1 says 0 = 1.
    LinearProgram p{Matrix::Ones(2, 2), vector_of({1, 2}), Vector::Zero(2), {}, {}};
    const ProgramSolution s = solve(p);
    ASSERT_EQ(s.status, ProgramStatus::infeasible);
    const Vector& y = s.certificate;
    EXPECT_LE(y(0) + y(1), 1e-15);      // yᵀA <= 0
    EXPECT_GT(y(0) + 2.0 * y(1), 0.1);  // yᵀb > 0
    EXPECT_LE(excludes(p, -y), 0.0);    // the other sign proves nothing
    EXPECT_EQ(excludes(p, Vector::Ones(2)), 0.0);
    // x <= 1 in a box, and x = 3.
    LinearProgram box{Matrix::Ones(1, 1), vector_of({3}), Vector::Zero(1), vector_of({0}), vector_of({1})};
    const ProgramSolution t = solve(box);
    ASSERT_EQ(t.status, ProgramStatus::infeasible);
    EXPECT_GT(3.0 * t.certificate(0) - 1.0 * t.certificate(0), 0.0);
}

TEST(LinearProgram, ARayOfDescentIsCheckedByHand) {
    // min −x with x − y = 1, x, y >= 0: along (1, 1) for ever.
    Matrix A(1, 2);
    A << 1, -1;
    const LinearProgram p{A, vector_of({1}), vector_of({-1, 0}), {}, {}};
    const ProgramSolution s = solve(p);
    ASSERT_EQ(s.status, ProgramStatus::unbounded);
    EXPECT_GT(s.certificate(0), 0.0);
    EXPECT_NEAR(s.certificate(0), s.certificate(1), 1e-15);
    EXPECT_EQ(falls(p, vector_of({1, 0})), 0.0);
    EXPECT_EQ(falls(p, vector_of({-1, -1})), 0.0);
}

TEST(LinearProgram, WithoutRowsOrColumnsHasWhatIsLeft) {
    const LinearProgram no_rows{Matrix(0, 2), Vector(0), vector_of({1, -1}), vector_of({2, 0}), vector_of({5, 7})};
    const ProgramSolution s = solve(no_rows);
    ASSERT_EQ(s.status, ProgramStatus::optimal);
    EXPECT_EQ(s.value, 2.0 - 7.0);
    const ProgramSolution none = solve(LinearProgram{Matrix(2, 0), Vector::Zero(2), Vector(0), {}, {}});
    EXPECT_EQ(none.status, ProgramStatus::optimal);
    EXPECT_EQ(solve(LinearProgram{Matrix(1, 0), Vector::Ones(1), Vector(0), {}, {}}).status, ProgramStatus::infeasible);
    EXPECT_EQ(solve(LinearProgram{Matrix(0, 1), Vector(0), vector_of({-1}), {}, {}}).status, ProgramStatus::unbounded);
}

TEST(LinearProgram, WithANaNOrCrossingBoundsSaysSo) {
    LinearProgram p{Matrix::Ones(1, 1), Vector::Ones(1), Vector::Ones(1), vector_of({2}), vector_of({1})};
    EXPECT_EQ(solve(p).status, ProgramStatus::infeasible);
    p.upper(0) = std::numeric_limits<double>::quiet_NaN();
    EXPECT_EQ(solve(p).status, ProgramStatus::non_finite);
}

TEST(LinearProgram, UnitsOfRowsAndColumnsDoNotMatter) {
    Random random(17);
    for (int k = 0; k < 200; ++k) {
        const Index m = 3, n = 8;
        LinearProgram p{random.matrix(m, n), {}, Vector::NullaryExpr(n, [&] { return random.uniform(); }), {}, {}};
        p.b = p.A * Vector::NullaryExpr(n, [&] { return random.uniform(); });
        const ProgramSolution plain = solve(p);
        const Vector rows = Vector::NullaryExpr(m, [&] { return std::pow(10.0, random.uniform(-8, 8)); });
        const Vector columns = Vector::NullaryExpr(n, [&] { return std::pow(10.0, random.uniform(-8, 8)); });
        const LinearProgram scaled{
            rows.asDiagonal() * p.A * columns.asDiagonal(), rows.cwiseProduct(p.b), columns.cwiseProduct(p.c), {}, {}};
        const ProgramSolution s = solve(scaled);
        ASSERT_EQ(plain.status, ProgramStatus::optimal);
        ASSERT_EQ(s.status, ProgramStatus::optimal);
        EXPECT_NEAR(s.value, plain.value, 1e-11 * (1.0 + std::abs(plain.value)));
    }
}

TEST(LinearProgram, MayBeginAtTheBasisOfAnother) {
    Random random(23);
    LinearProgram p{random.matrix(20, 60), {}, Vector::NullaryExpr(60, [&] { return random.uniform(); }), {}, {}};
    p.b = p.A * Vector::NullaryExpr(60, [&] { return random.uniform(); });
    SimplexBasis basis;
    const ProgramSolution first = solve(p, {}, basis);
    ASSERT_EQ(first.status, ProgramStatus::optimal);
    const ProgramSolution again = solve(p, {}, basis);
    EXPECT_EQ(again.iterations, 0);
    EXPECT_EQ(again.value, first.value);
    p.b *= 1.01;
    const ProgramSolution near = solve(p, {}, basis);
    EXPECT_EQ(near.status, ProgramStatus::optimal);
    EXPECT_LT(near.iterations, first.iterations / 2);
}

TEST(LinearProgram, OfFiftyRowsAndFiveHundredColumnsIsCertified) {
    Random random(29);
    for (int k = 0; k < 5; ++k) {
        LinearProgram p{random.matrix(50, 500), {}, random.vector(500), {}, {}};
        p.b = p.A * Vector::NullaryExpr(500, [&] { return std::max(0.0, random.normal()); });
        p.c = p.A.transpose() * random.vector(50) + Vector::NullaryExpr(500, [&] { return random.uniform(); });
        const ProgramSolution s = solve(p);
        ASSERT_EQ(s.status, ProgramStatus::optimal);
        expect_certified(p, s);
    }
}

}  // namespace
}  // namespace saltus::solvers::linear_program_test
