// SPDX-License-Identifier: Apache-2.0
//
// A separating direction must separate every sampled choice of forces. Forces that can balance are never separated.
#include "saltus/proof/separation.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "proof/sampling.hpp"

namespace saltus::proof::separation_test {
namespace {

using Eigen::Index;
using test::Random;

IntervalVector random_vector(Random& random, int n, double size, double radius) {
    IntervalVector v;
    for (int k = 0; k < n; ++k) v.push_back(random.interval(size, radius));
    return v;
}

Friction random_friction(Random& random, int n, double size, double radius) {
    Friction f;
    const int groups = random.integer(0, 2);
    for (int g = 0; g < groups; ++g) {
        f.groups.emplace_back();
        const int vectors = random.integer(1, 2);
        for (int v = 0; v < vectors; ++v) f.groups.back().push_back(random_vector(random, n, size, radius));
    }
    return f;
}

ForceSet random_forces(Random& random, int n, double radius) {
    ForceSet forces;
    forces.loads = {random_vector(random, n, 2.0, radius)};
    const int sliders = random.integer(0, 1), cones = random.integer(0, 2);
    for (int k = 0; k < sliders; ++k) forces.sliders.push_back(random_friction(random, n, 0.5, radius));
    for (int k = 0; k < cones; ++k)
        forces.cones.push_back({random_vector(random, n, 1.0, radius), random_friction(random, n, 0.3, radius)});
    return forces;
}

Vector member(Random& random, const IntervalVector& v) {
    const std::vector<double> x = random.point(v);
    return Eigen::Map<const Vector>(x.data(), static_cast<Index>(x.size()));
}

/// A friction force of the body: a point of each ball, on its boundary in one case of two.
Vector friction_force(Random& random, const Friction& f, Index n) {
    Vector sum = Vector::Zero(n);
    for (const auto& group : f.groups) {
        const double angle = random.uniform(0.0, 2.0 * std::numbers::pi);
        const double size = random.integer(0, 1) == 0 ? 1.0 : random.uniform(0.0, 1.0);
        if (group.size() == 1) {
            sum += (std::cos(angle) > 0.0 ? size : -size) * member(random, group[0]);
        } else {
            sum += size * std::cos(angle) * member(random, group[0]);
            sum += size * std::sin(angle) * member(random, group[1]);
        }
    }
    return sum;
}

TEST(Separation, TheSupportBoundsAllSampledFrictionForces) {
    Random random(1);
    for (int k = 0; k < 500; ++k) {
        const int n = random.integer(1, 4);
        const Friction f = random_friction(random, n, 1.0, 0.3);
        const IntervalVector v = random_vector(random, n, 1.0, 0.3);
        const Vector d = random.matrix(n, 1);
        for (int sample = 0; sample < 20; ++sample) {
            EXPECT_LE(friction_force(random, f, n).dot(d), support(f, d) + 1e-13);
            EXPECT_LE(member(random, v).dot(d), largest(v, d) + 1e-13);
        }
    }
    // A segment and a disk, exactly.
    const IntervalVector e1{Interval(2.0), Interval(0.0)}, e2{Interval(0.0), Interval(2.0)};
    const Vector d = (Vector(2) << -3.0, 4.0).finished();
    EXPECT_NEAR(support({{{e1}}}, d), 6.0, 1e-14);
    EXPECT_NEAR(support({{{e1, e2}}}, d), 10.0, 1e-14);
    EXPECT_NEAR(support({{{e1}, {e2}}}, d), 14.0, 1e-14);
    EXPECT_EQ(support({}, d), 0.0);
}

TEST(Separation, AFoundDirectionSeparatesEverySampledChoiceOfForces) {
    Random random(2);
    int found = 0;
    for (int k = 0; k < 1500; ++k) {
        const int n = random.integer(1, 4);
        const ForceSet forces = random_forces(random, n, random.uniform(0.0, 0.3));
        const std::optional<Vector> d = separate(forces);
        if (!d) continue;
        ++found;
        EXPECT_TRUE(separates(forces, *d));
        EXPECT_LE(d->cwiseAbs().maxCoeff(), 1.0 + 1e-12);
        for (int sample = 0; sample < 10; ++sample) {
            Vector total = member(random, forces.loads[0]);
            for (const Friction& f : forces.sliders) total += friction_force(random, f, n);
            EXPECT_LT(total.dot(*d), 0.0);
            for (const ForceCone& c : forces.cones) {
                const Vector ray = member(random, c.normal) + friction_force(random, c.friction, n);
                EXPECT_LT(ray.dot(*d), 0.0);
                total += random.uniform(0.0, 5.0) * ray;
            }
            EXPECT_LT(total.dot(*d), 0.0);
        }
    }
    EXPECT_GT(found, 400);
}

TEST(Separation, ForcesThatCanBalanceAreNeverSeparated) {
    Random random(3);
    for (int k = 0; k < 1500; ++k) {
        const int n = random.integer(1, 4);
        ForceSet forces = random_forces(random, n, 0.1);
        // The load that balances one choice of the other forces, with room for rounding.
        Vector total = Vector::Zero(n);
        for (const Friction& f : forces.sliders) total += friction_force(random, f, n);
        for (const ForceCone& c : forces.cones)
            total += random.uniform(0.0, 5.0) * (member(random, c.normal) + friction_force(random, c.friction, n));
        IntervalVector load;
        for (int i = 0; i < n; ++i) load.emplace_back(-total(i) - 1e-12, -total(i) + 1e-12);
        forces.loads = {load};
        EXPECT_FALSE(separate(forces));
        for (int j = 0; j < 5; ++j) EXPECT_FALSE(separates(forces, random.matrix(n, 1)));
    }
}

/// Most sets of forces of a search have no separating direction, and a shorter computation recognises them first. It
/// must not take a set for one of them if a direction exists, whatever the units of the components are.
TEST(Separation, FindsTheDirectionOfForcesInAHalfSpaceInAllUnits) {
    Random random(7);
    constexpr int n = 3;
    for (const double margin : {0.1, 1e-3, 1e-5})
        for (int trial = 0; trial < 100; ++trial) {
            const Vector normal = Vector::NullaryExpr(n, [&] { return random.uniform(-1.0, 1.0); }).normalized();
            const Vector units = Vector::NullaryExpr(n, [&] { return std::exp2(random.integer(-10, 10)); });
            const auto force = [&] {
                Vector f = Vector::NullaryExpr(n, [&] { return random.uniform(-1.0, 1.0); });
                f -= (f.dot(normal) + margin) * normal;  // f·normal = −margin
                IntervalVector v;
                for (Index k = 0; k < n; ++k) v.emplace_back(f(k) * units(k));
                return v;
            };
            ForceSet forces;
            forces.loads = {force()};
            const int cones = random.integer(0, 4);
            for (int k = 0; k < cones; ++k) forces.cones.push_back({force(), {}});
            EXPECT_TRUE(separate(forces)) << margin << ' ' << trial;
        }
}

TEST(Separation, EveryLoadMustBeSeparated) {
    ForceSet forces;
    forces.loads = {{Interval(1.0), Interval(0.0)}, {Interval(-1.0), Interval(0.1)}};
    const std::optional<Vector> d = separate(forces);
    ASSERT_TRUE(d);
    EXPECT_LT((*d)(1), 0.0);
    forces.loads[1][1] = Interval(0.0);  // opposite loads
    EXPECT_FALSE(separate(forces));
}

TEST(Separation, AnExactMarginDecides) {
    // A block on a floor: load (F, −1), contact (0, 1) with friction μ = 1/2. It slides for F > 1/2.
    const auto block = [](double F) {
        ForceSet forces;
        forces.loads = {{Interval(F), Interval(-1.0)}};
        forces.cones = {{{Interval(0.0), Interval(1.0)}, {{{{Interval(0.5), Interval(0.0)}}}}}};
        return forces;
    };
    EXPECT_TRUE(separate(block(0.5 + 1e-9)));
    EXPECT_TRUE(separate(block(-0.5 - 1e-9)));
    EXPECT_FALSE(separate(block(0.5)));
    EXPECT_FALSE(separate(block(-0.5)));
    EXPECT_FALSE(separate(block(0.0)));
}

TEST(Separation, ADiskOfFrictionForcesIsNotAPolygon) {
    // A load along any angle is held up to the radius 1 and not beyond.
    for (int k = 0; k < 40; ++k) {
        const double a = 0.1 + 0.15 * k;
        const auto pulled = [a](double F) {
            ForceSet forces;
            forces.loads = {{Interval(F * std::cos(a)), Interval(F * std::sin(a)), Interval(0.0)}};
            forces.sliders = {
                {{{{Interval(1.0), Interval(0.0), Interval(0.0)}, {Interval(0.0), Interval(1.0), Interval(0.0)}}}}};
            return forces;
        };
        EXPECT_FALSE(separate(pulled(0.999)));
        EXPECT_TRUE(separate(pulled(1.05)));
    }
}

TEST(Separation, RequestedComponentsAreNotNegative) {
    Random random(4);
    int found = 0;
    for (int k = 0; k < 600; ++k) {
        const int n = random.integer(1, 4);
        const ForceSet forces = random_forces(random, n, 0.1);
        std::vector<bool> nonnegative(static_cast<std::size_t>(n), false);
        nonnegative[0] = true;
        const std::optional<Vector> d = separate(forces, nonnegative);
        if (!d) continue;
        ++found;
        EXPECT_GE((*d)(0), 0.0);
    }
    EXPECT_GT(found, 50);
    EXPECT_FALSE(separate({{{Interval(1.0)}}, {}, {}, {}}, {true}));
    EXPECT_TRUE(separate({{{Interval(-1.0)}}, {}, {}, {}}, {true}));
}

TEST(Separation, ALoadThatFollowsThePositionIsSeparatedForEverySampledPosition) {
    Random random(5);
    int found = 0, by_slope_alone = 0;
    for (int k = 0; k < 800; ++k) {
        const int n = random.integer(1, 3);
        ForceSet forces = random_forces(random, n, 0.05);
        LoadSlope slope;
        slope.at_centre = forces.loads[0];
        slope.slope = test::around(random.matrix(n, n), 0.05);
        for (int j = 0; j < n; ++j) slope.step.emplace_back(-random.uniform(0.0, 1.5), random.uniform(0.0, 1.5));
        // The bounds of the components follow.
        for (int i = 0; i < n; ++i)
            for (int j = 0; j < n; ++j)
                forces.loads[0][static_cast<std::size_t>(i)] +=
                    slope.slope(i, j) * slope.step[static_cast<std::size_t>(j)];
        const bool by_components = separate(forces).has_value();
        forces.slope = slope;
        const std::optional<Vector> d = separate(forces);
        if (!d) continue;
        ++found;
        by_slope_alone += by_components ? 0 : 1;
        for (int sample = 0; sample < 10; ++sample) {
            Vector total = member(random, slope.at_centre) + random.matrix(slope.slope) * member(random, slope.step);
            for (const Friction& f : forces.sliders) total += friction_force(random, f, n);
            EXPECT_LT(total.dot(*d), 1e-13);
        }
    }
    EXPECT_GT(found, 100);
    EXPECT_GT(by_slope_alone, 5);
}

TEST(Separation, AnUnboundedComponentIsLeftOut) {
    const double inf = Interval::infinity;
    ForceSet forces;
    forces.loads = {{Interval(-inf, inf), Interval(-3.0, -1.0), Interval(-inf, -1.0)}};
    const std::optional<Vector> d = separate(forces);
    ASSERT_TRUE(d);
    EXPECT_EQ((*d)(0), 0.0);
    forces.loads = {{Interval(-inf, inf), Interval(-1.0, 1.0), Interval(-inf, 1.0)}};
    EXPECT_FALSE(separate(forces));
}

TEST(Separation, ReducedForcesAreProductsWithTheColumns) {
    Random random(6);
    for (int k = 0; k < 200; ++k) {
        const int n = random.integer(2, 4), m = random.integer(1, 2);
        const ForceSet forces = random_forces(random, n, 0.1);
        const IntervalMatrix T = test::around(random.matrix(n, m), 0.05);
        const ForceSet reduced = reduce(forces, T);
        ASSERT_EQ(reduced.cones.size(), forces.cones.size());
        ASSERT_EQ(reduced.sliders.size(), forces.sliders.size());
        const Matrix t = random.matrix(T);
        const auto expect_inside = [&](const IntervalVector& v, const IntervalVector& image) {
            const Vector product = t.transpose() * member(random, v);
            for (int j = 0; j < m; ++j) EXPECT_TRUE(test::inside(image[static_cast<std::size_t>(j)], product(j), 10.0));
        };
        expect_inside(forces.loads[0], reduced.loads[0]);
        for (std::size_t c = 0; c < forces.cones.size(); ++c)
            expect_inside(forces.cones[c].normal, reduced.cones[c].normal);
    }
}

}  // namespace
}  // namespace saltus::proof::separation_test
