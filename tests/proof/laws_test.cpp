// SPDX-License-Identifier: Apache-2.0
//
// The friction bodies of elements, compared with forces that each law allows.
#include "saltus/proof/laws.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "proof/sampling.hpp"

namespace saltus::proof::laws_test {
namespace {

using test::Random;

/// An element whose slips are the first rows: coefficient 0 is μ, 1 the second μ, 2 and 3 the radii.
model::Friction element(model::FrictionLaw law, int dimension) {
    model::Friction f;
    f.law = law;
    f.first_row = 0;
    f.dimension = dimension;
    f.mu = {0, law == model::FrictionLaw::orthotropic ? 1 : model::no_coefficient};
    f.radius = {2, 3};
    return f;
}

IntervalVector coefficients(double mu, double mu2, double drilling, double rolling) {
    return {Interval(mu), Interval(mu2), Interval(drilling), Interval(rolling)};
}

Vector direction(Random& random, int n) { return random.matrix(n, 1); }

TEST(FrictionLaws, TheSupportOfACoulombBodyIsTheRadiusTimesTheSlip) {
    Random random(1);
    const IntervalVector c = coefficients(0.3, 0.0, 0.0, 0.0);
    for (const int dimension : {1, 2}) {
        const Matrix W = random.matrix(dimension, 3);
        const Friction body =
            friction_of(element(model::FrictionLaw::coulomb, dimension), IntervalMatrix(W), c, Interval(2.0));
        for (int k = 0; k < 50; ++k) {
            const Vector d = direction(random, 3);
            EXPECT_NEAR(support(body, d), 0.6 * (W * d).norm(), 1e-14);
        }
    }
}

TEST(FrictionLaws, AnOrthotropicBodyIsAnEllipse) {
    Random random(2);
    const IntervalVector c = coefficients(0.3, 0.7, 0.0, 0.0);
    const Friction body =
        friction_of(element(model::FrictionLaw::orthotropic, 2), IntervalMatrix::identity(2), c, Interval(2.0));
    for (int k = 0; k < 50; ++k) {
        const Vector d = direction(random, 2);
        EXPECT_NEAR(support(body, d), std::hypot(0.6 * d(0), 1.4 * d(1)), 1e-14);
    }
}

TEST(FrictionLaws, ARollingBodyHasMomentsWithTheirRadii) {
    Random random(3);
    const IntervalVector c = coefficients(0.3, 0.0, 0.1, 0.05);
    const Friction body =
        friction_of(element(model::FrictionLaw::rolling, 5), IntervalMatrix::identity(5), c, Interval(2.0));
    for (int k = 0; k < 50; ++k) {
        const Vector d = direction(random, 5);
        const double expected = 0.6 * (std::hypot(d(0), d(1)) + 0.1 * std::fabs(d(2)) + 0.05 * std::hypot(d(3), d(4)));
        EXPECT_NEAR(support(body, d), expected, 1e-14);
    }
}

TEST(FrictionLaws, TheContensouBodyContainsThePowerOfEverySlidingAndDrillingPatch) {
    // The largest power of friction of a disk of radius r with uniform pressure: μN times the mean of |v + ω × x|.
    Random random(4);
    const double r = 0.4, mu = 0.3, load = 2.0;
    const Friction body = friction_of(element(model::FrictionLaw::contensou, 3), IntervalMatrix::identity(3),
                                      coefficients(mu, 0.0, r, 0.0), Interval(load));
    constexpr int rings = 40, spokes = 48;
    for (int k = 0; k < 40; ++k) {
        const Vector d = direction(random, 3);
        double mean = 0.0;
        for (int i = 0; i < rings; ++i)
            for (int j = 0; j < spokes; ++j) {
                const double radius = r * std::sqrt((i + 0.5) / rings), angle = 2.0 * std::numbers::pi * j / spokes;
                const double x = radius * std::cos(angle), y = radius * std::sin(angle);
                mean += std::hypot(d(0) - d(2) * y, d(1) + d(2) * x) / (rings * spokes);
            }
        EXPECT_GE(support(body, d), mu * load * mean * (1.0 - 1e-3));
    }
    const Vector drilling = Vector::Unit(3, 2);
    EXPECT_NEAR(support(body, drilling), mu * load * r * 2.0 / 3.0, 1e-14);
}

TEST(FrictionLaws, IntervalsOfCoefficientLoadAndRowsAreAllCovered) {
    Random random(5);
    const IntervalVector c{Interval(0.2, 0.4), Interval(0.0), Interval(0.0), Interval(0.0)};
    const IntervalMatrix W = test::around(random.matrix(2, 3), 0.1);
    const Interval load(1.0, 3.0);
    const Friction body = friction_of(element(model::FrictionLaw::coulomb, 2), W, c, load);
    for (int k = 0; k < 200; ++k) {
        const Vector d = direction(random, 3);
        const double power = random.point(c[0]) * random.point(load) * (random.matrix(W) * d).norm();
        EXPECT_LE(power, support(body, d) + 1e-13);
    }
}

TEST(FrictionLaws, WithAndWithoutFrictionAreDecidedByTheBoundsOfTheCoefficients) {
    const model::Friction coulomb = element(model::FrictionLaw::coulomb, 1),
                          orthotropic = element(model::FrictionLaw::orthotropic, 2);
    const auto mu = [](Interval first, Interval second) { return IntervalVector{first, second, {}, {}}; };
    EXPECT_TRUE(without_friction(coulomb, mu(0.0, 0.0)));
    EXPECT_FALSE(without_friction(coulomb, mu(Interval(0.0, 1e-300), 0.0)));
    EXPECT_FALSE(with_friction(coulomb, mu(Interval(0.0, 1.0), 0.0)));
    EXPECT_TRUE(with_friction(coulomb, mu(Interval(0.1, 1.0), 0.0)));
    EXPECT_FALSE(with_friction(orthotropic, mu(0.5, Interval(0.0, 1.0))));
    EXPECT_TRUE(with_friction(orthotropic, mu(0.5, 0.5)));
    EXPECT_TRUE(without_friction(model::Friction{}, {}));
    EXPECT_FALSE(with_friction(model::Friction{}, {}));
    EXPECT_TRUE(friction_of(coulomb, IntervalMatrix::identity(1), mu(0.0, 0.0), Interval(1.0)).groups.empty());
    EXPECT_EQ(coefficient(mu(0.5, 0.0), model::no_coefficient).hi, 0.0);
    EXPECT_EQ(coefficient(mu(0.5, 0.0), 0).hi, 0.5);
}

}  // namespace
}  // namespace saltus::proof::laws_test
