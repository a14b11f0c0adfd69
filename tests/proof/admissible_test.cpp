// SPDX-License-Identifier: Apache-2.0
//
// Contraction never loses an admissible point; tangents lie along the constraints.
#include "saltus/proof/admissible.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "physics/motion.hpp"
#include "proof/sampling.hpp"
#include "saltus/base/factors.hpp"

namespace saltus::proof::admissible_test {
namespace {

using Eigen::Index;
using test::from_text;
using test::Random;

constexpr double inf = Interval::infinity;

TEST(Contraction, KeepsEveryPointWhoseValueIsInTheRange) {
    // f(x) = a·x + sin(b·x): its derivatives are a_k + b_k cos(b·x).
    Random random(1);
    int kept = 0, shrunk = 0, empty = 0;
    for (int k = 0; k < 3000; ++k) {
        const int n = random.integer(1, 3);
        const Vector a = random.matrix(n, 1, 2.0), b = random.matrix(n, 1);
        const auto f = [&](const Vector& x) { return a.dot(x) + std::sin(b.dot(x)); };
        Box box;
        for (int j = 0; j < n; ++j) box.push_back(random.interval(1.0, 1.0));
        const std::vector<double> c = centre(box);
        const Vector at = Eigen::Map<const Vector>(c.data(), n);
        Interval phase;
        for (int j = 0; j < n; ++j) phase += Interval(b(j)) * box[static_cast<std::size_t>(j)];
        IntervalVector slope;
        for (int j = 0; j < n; ++j) slope.push_back(Interval(a(j)) + Interval(b(j)) * expr::cos(phase));
        const double value = f(at);
        const Interval range = random.interval(2.0, 0.5);
        Box contracted = box;
        const bool left = contract(contracted, c, Interval(value - 1e-14, value + 1e-14), slope, range);
        shrunk += left && !inside(box, contracted) ? 1 : 0;
        empty += left ? 0 : 1;
        if (left) {
            EXPECT_TRUE(inside(contracted, box));
        }
        for (int sample = 0; sample < 20; ++sample) {
            const std::vector<double> x = random.point(box);
            if (!expr::contains(range, f(Eigen::Map<const Vector>(x.data(), n)))) continue;
            ++kept;
            EXPECT_TRUE(left && contains(contracted, x));
        }
    }
    EXPECT_GT(kept, 1000);
    EXPECT_GT(shrunk, 500);
    EXPECT_GT(empty, 100);
}

TEST(Contraction, OfALinearFunctionIsExact) {
    // x + 2y = 1 on [0, 4]²: x ∈ [0, 1], y ∈ [0, 1/2].
    Box box{Interval(0.0, 4.0), Interval(0.0, 4.0)};
    const IntervalVector slope{Interval(1.0), Interval(2.0)};
    for (int round = 0; round < 3; ++round) {
        const std::vector<double> c = centre(box);
        ASSERT_TRUE(contract(box, c, Interval(c[0] + 2.0 * c[1]), slope, Interval(1.0)));
    }
    EXPECT_NEAR(box[0].lo, 0.0, 1e-14);
    EXPECT_NEAR(box[0].hi, 1.0, 1e-14);
    EXPECT_NEAR(box[1].lo, 0.0, 1e-14);
    EXPECT_NEAR(box[1].hi, 0.5, 1e-14);
    Box none{Interval(0.0, 4.0), Interval(0.0, 4.0)};
    EXPECT_FALSE(contract(none, {2.0, 2.0}, Interval(6.0), slope, Interval(-2.0, -1.0)));
}

/// A bead on a circle of radius 1 in a bowl, with a wall x >= −1/2 and a ceiling.
const char* const bead = R"toml(
[system]
q = ["x", "y"]
T = "(x'^2 + y'^2)/2"
U = "y + 0.3*sin(3*x)"
[[constraint]]
name = "circle"
g = "x^2 + y^2 - 1"
[[contact]]
name = "wall"
gN = "x + 0.5"
[[contact]]
name = "ceiling"
gN = "0.9 - y"
[initial]
q = { x = 0.0, y = -1.0 }
)toml";

struct Bead {
    model::Model model = from_text(bead);
    std::string why;
    std::unique_ptr<Enclosure> enclosure = Enclosure::of(model, why);
    AdmissibleSet set{*enclosure, Interval(-1.0)};
};

TEST(AdmissibleSets, ShrinkingNeverLosesAnAdmissiblePoint) {
    const Bead b;
    Random random(2);
    int kept = 0, shrunk = 0;
    for (int k = 0; k < 1500; ++k) {
        Box box{random.interval(1.0, 0.6), random.interval(1.0, 0.6)};
        for (Interval& x : box) x = Interval(x.lo - 0.02, x.hi + 0.02);
        const double cap = random.integer(0, 1) == 0 ? inf : random.uniform(0.0, 2.0);
        Box contracted = box;
        const bool left = b.set.contract(contracted, {}, cap);
        shrunk += left && !inside(box, contracted) ? 1 : 0;
        for (int sample = 0; sample < 100; ++sample) {
            const double angle = random.uniform(-4.0, 4.0);
            const std::vector<double> q{std::cos(angle), std::sin(angle)};
            const double level = q[1] + 0.3 * std::sin(3.0 * q[0]) + 1.0;
            if (!contains(box, q) || q[0] < -0.5 || q[1] > 0.9 || level > cap - 1e-12) continue;
            ++kept;
            // The point is on the circle to rounding: the box may miss it by as much.
            Box wider = contracted;
            for (Interval& x : wider) x = Interval(x.lo - 1e-13, x.hi + 1e-13);
            EXPECT_TRUE(left && contains(wider, q)) << q[0] << ", " << q[1];
        }
    }
    EXPECT_GT(kept, 1000);
    EXPECT_GT(shrunk, 200);
}

TEST(AdmissibleSets, ShrinkingToAClosedGapKeepsItsPoints) {
    const Bead b;
    const int wall = b.model.contacts[0].row, ceiling = b.model.contacts[1].row;
    Box box{Interval(-0.9, 0.1), Interval(-1.1, -0.5)};
    ASSERT_TRUE(b.set.contract(box, {wall}, inf));
    EXPECT_TRUE(contains(box, std::vector<double>{-0.5, box[1].lo}));
    EXPECT_NEAR(box[0].lo, -0.5, 1e-12);
    EXPECT_NEAR(box[0].hi, -0.5, 1e-12);
    EXPECT_LE(box[1].lo, -std::sqrt(0.75) + 1e-14);
    EXPECT_GE(box[1].hi, -std::sqrt(0.75) - 1e-14);
    Box far{Interval(-0.9, 0.1), Interval(-1.1, -0.5)};
    EXPECT_FALSE(b.set.contract(far, {ceiling}, inf));
    EXPECT_EQ(b.set.may_close({Interval(-0.9, 0.1), Interval(-1.1, -0.5)}), std::vector<int>{wall});
    EXPECT_EQ(b.set.may_close({Interval(-0.9, 0.1), Interval(-1.1, 1.5)}), (std::vector<int>{wall, ceiling}));
}

TEST(AdmissibleSets, InadmissibleBoxesAreEmpty) {
    const Bead b;
    for (Box box : {Box{Interval(-0.9, -0.6), Interval(-0.9, -0.5)},  // behind the wall
                    Box{Interval(-0.2, 0.2), Interval(0.95, 1.1)},    // above the ceiling
                    Box{Interval(-0.3, 0.3), Interval(-0.3, 0.3)}})   // inside the circle
        EXPECT_FALSE(b.set.contract(box, {}, inf));
    Box high{Interval(0.8, 1.1), Interval(-0.2, 0.2)};
    EXPECT_FALSE(b.set.contract(high, {}, 0.1));  // above the level
}

TEST(AdmissibleSets, TheLevelContainsAllSampledLevels) {
    const Bead b;
    Random random(3);
    for (int k = 0; k < 500; ++k) {
        const Box box{random.interval(2.0, 0.5), random.interval(2.0, 0.5)};
        const Interval level = b.set.level(box);
        for (int sample = 0; sample < 20; ++sample) {
            const std::vector<double> q = random.point(box);
            EXPECT_TRUE(test::inside(level, q[1] + 0.3 * std::sin(3.0 * q[0]) + 1.0, 4.0));
        }
    }
}

TEST(Tangents, LieAlongTheConstraintsForAllSampledJacobians) {
    Random random(4);
    int found = 0;
    for (int k = 0; k < 400; ++k) {
        const int n = random.integer(2, 5), m = random.integer(1, n - 1);
        const IntervalMatrix G = test::around(random.matrix(m, n), random.uniform(0.0, 0.03));
        const std::optional<IntervalMatrix> T = tangents(G, n);
        if (!T) continue;
        ++found;
        ASSERT_EQ(T->cols(), n - m);
        // Some n − m coordinates are free; for each matrix of the set the kernel with the same free coordinates is
        // inside.
        const Matrix g = random.matrix(G);
        std::vector<int> free, pivots;
        for (int i = 0; i < n; ++i) {
            double size = 0.0;
            bool unit = false;
            for (int j = 0; j < n - m; ++j) {
                unit = unit || ((*T)(i, j).lo == 1.0 && (*T)(i, j).hi == 1.0);
                size += std::fabs((*T)(i, j).lo) + std::fabs((*T)(i, j).hi);
            }
            (unit && size == 2.0 ? free : pivots).push_back(i);
        }
        ASSERT_EQ(static_cast<int>(free.size()), n - m);
        Matrix P(m, m), O(m, n - m);
        for (int i = 0; i < m; ++i) {
            for (int j = 0; j < m; ++j) P(i, j) = g(i, pivots[static_cast<std::size_t>(j)]);
            for (int j = 0; j < n - m; ++j) O(i, j) = g(i, free[static_cast<std::size_t>(j)]);
        }
        const Matrix X = -FullPivotLu(P).solve_columns(O);
        for (int i = 0; i < m; ++i)
            for (int j = 0; j < n - m; ++j)
                EXPECT_TRUE(test::inside((*T)(pivots[static_cast<std::size_t>(i)], j), X(i, j), 1e4));
    }
    EXPECT_GT(found, 200);
}

TEST(Tangents, AreTheIdentityWithoutConstraintsAndNoneForDependentOnes) {
    const std::optional<IntervalMatrix> all = tangents(IntervalMatrix(0, 3), 3);
    ASSERT_TRUE(all);
    EXPECT_EQ(all->middle(), Matrix::Identity(3, 3));
    Matrix G(2, 3);
    G << 1.0, 2.0, 3.0, 2.0, 4.0, 6.0;
    EXPECT_FALSE(tangents(IntervalMatrix(G), 3));
    EXPECT_FALSE(tangents(test::around(Matrix::Zero(1, 2), 0.1), 2));
}

TEST(Contraction, NoPositionIsBelowALevelOfMinusInfinity) {
    const model::Model m = from_text("[system]\nq = [\"x\"]\nT = \"x'^2/2\"\nU = \"x^3\"\n");
    std::string why;
    const std::unique_ptr<Enclosure> e = Enclosure::of(m, why);
    const AdmissibleSet set(*e, Interval(0.0));
    Box box = whole_space(1);
    EXPECT_FALSE(set.contract(box, {}, -inf));
    EXPECT_TRUE(set.contract(box, {}, -1.0));
}

TEST(Contraction, KeepsEveryAdmissiblePointBelowTheCap) {
    // Gaps shrink the box first, so that its old centre lies outside when the level shrinks it further.
    const model::Model m = from_text(R"toml(
[system]
q = ["x", "y"]
T = "(x'^2 + y'^2)/2"
U = "2.5*x^2/2 - 1.1*x^3/3 + 0.4*sin(2*y) + 0.3*x*y"
[[contact]]
name = "a"
gN = "x^2 - 0.029"
[[contact]]
name = "b"
gN = "y + 0.8*x + 0.4"
[initial]
q = { x = 1.0, y = 0.5 }
)toml");
    std::string why;
    const std::unique_ptr<Enclosure> e = Enclosure::of(m, why);
    const AdmissibleSet set(*e, Interval(0.0));
    Random random(3);
    int checked = 0, shrunk = 0;
    for (int k = 0; k < 4000; ++k) {
        const Box box{random.interval(0.3, 0.6), random.interval(0.3, 0.6)};
        const double cap = random.uniform(-0.5, 0.5);
        Box contracted = box;
        const bool left = set.contract(contracted, {}, cap);
        shrunk += left && !inside(box, contracted) ? 1 : 0;
        for (int sample = 0; sample < 20; ++sample) {
            const std::vector<double> q = random.point(box);
            const double x = q[0], y = q[1];
            const double U = 2.5 * x * x / 2 - 1.1 * x * x * x / 3 + 0.4 * std::sin(2 * y) + 0.3 * x * y;
            if (x * x - 0.029 < 0.0 || y + 0.8 * x + 0.4 < 0.0 || U > cap - 1e-12) continue;
            ++checked;
            EXPECT_TRUE(left && contains(contracted, q)) << x << " " << y << " cap " << cap;
        }
    }
    EXPECT_GT(checked, 1000);
    EXPECT_GT(shrunk, 500);
}

}  // namespace
}  // namespace saltus::proof::admissible_test
