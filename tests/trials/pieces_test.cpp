// SPDX-License-Identifier: Apache-2.0
//
// The pieces of the judges against closed forms: formulas, friction sets, reactions, exact programs, time-stepping.
#include <gtest/gtest.h>

#include <cmath>

#include "machine/expression.hpp"
#include "machine/rational.hpp"
#include "machine/reactions.hpp"
#include "machine/scan.hpp"
#include "machine/time_stepping.hpp"

using namespace trials;

namespace {

Expression x() { return Expression::position(0); }
Expression y() { return Expression::position(1); }

/// A block of mass 1 on a rough floor under gravity 10.
Model block(double mu) {
    Model model = point_masses(2, 1.0);
    model.potential = {Expression(10.0) * y()};
    Contact contact;
    contact.name = "floor";
    contact.gap = y();
    contact.slip = {Expression::velocity(0)};
    contact.friction = {FrictionLaw::Kind::planar, {mu}, 0.0};
    model.contacts = {contact};
    return model;
}

}  // namespace

TEST(Expression, DerivativesAgreeWithDifferences) {
    const Expression f =
        Expression(1.5) * sine(x() * y()) / (Expression(2.0) + power(x(), 2)) + exponential(y() - x()) * cosine(x());
    const Point at{0.0, {0.4, -0.7}, {0.0, 0.0}};
    constexpr double step = 1e-5;
    for (std::size_t i = 0; i < 2; ++i) {
        Point right = at, left = at;
        right.q[i] += step;
        left.q[i] -= step;
        const double difference = (f.value(right) - f.value(left)) / (2.0 * step);
        EXPECT_NEAR(f.derivative({Symbol::Kind::position, i}).value(at), difference, 1e-9);
    }
}

TEST(Expression, PrintsInTheSyntaxOfModelFiles) {
    const std::vector<std::string> names = {"x", "y"};
    const Expression f = Expression(-2.0) * power(x() - 0.5, 2) + Expression::velocity(1) * sine(Expression::time());
    EXPECT_EQ(f.text(names), "((-2)*((x - 0.5))^2 + y'*sin(t))");
}

TEST(Friction, RoundPatchHasTheClosedFormsOfPureSlidingAndPureDrilling) {
    const FrictionLaw patch{FrictionLaw::Kind::contensou, {0.3}, 0.2};
    EXPECT_NEAR(patch.farthest(Vector{1.0, 0.0, 0.0})[0], 0.3, 1e-9);
    EXPECT_NEAR(patch.farthest(Vector{0.0, 0.0, 2.0})[2], 2.0 / 3.0 * 0.3 * 0.2, 1e-9);
}

TEST(Friction, SlowSlidingOfADrillingPatchIsProportionalToItsSpeed) {
    // With v << wR the force is mu v/(wR): the mean of v/(2 rho w R) over the patch is 2 ∫ rho v/(2 rho w R) d rho.
    const FrictionLaw patch{FrictionLaw::Kind::contensou, {0.3}, 0.2};
    for (const double v : {1e-15, 1e-9, 1e-6}) {
        const double force = patch.farthest(Vector{v, 0.0, 0.5})[0];
        EXPECT_NEAR(force, 0.3 * v / (0.5 * 0.2), 1e-3 * force);
    }
}

TEST(Friction, ForceOfAPatchIsTheGradientOfItsPower) {
    const FrictionLaw patch{FrictionLaw::Kind::contensou, {0.3}, 0.2};
    const Vector slip = {0.4, 0.2, 2.7};
    const Vector force = patch.farthest(slip);
    constexpr double step = 1e-5;
    for (std::size_t i = 0; i < 3; ++i) {
        Vector right = slip, left = slip;
        right[i] += step;
        left[i] -= step;
        EXPECT_NEAR(force[i], (patch.support(right) - patch.support(left)) / (2.0 * step), 1e-8);
    }
}

TEST(Friction, ExcessIsTheDistanceFromTheSet) {
    const FrictionLaw disk{FrictionLaw::Kind::isotropic, {0.5}, 0.0};
    EXPECT_NEAR(disk.excess(Vector{3.0, 4.0}, 4.0), 3.0, 1e-3);
    EXPECT_DOUBLE_EQ(disk.excess(Vector{0.3, 0.4}, 4.0), 0.0);
    const FrictionLaw ellipse{FrictionLaw::Kind::orthotropic, {0.3, 0.0}, 0.0};
    EXPECT_NEAR(ellipse.excess(Vector{0.0, 1.0}, 2.0), 1.0, 1e-3);
}

TEST(Friction, ProjectionToAnEllipseIsNearest) {
    const FrictionLaw ellipse{FrictionLaw::Kind::orthotropic, {0.6, 0.2}, 0.0};
    const Vector force = {1.0, 0.7}, nearest = ellipse.project(force, 1.0);
    EXPECT_NEAR(std::pow(nearest[0] / 0.6, 2) + std::pow(nearest[1] / 0.2, 2), 1.0, 1e-9);
    for (int i = 0; i < 100; ++i) {
        const double angle = 0.0628 * i;
        const Vector other = {0.6 * std::cos(angle), 0.2 * std::sin(angle)};
        EXPECT_LE(norm(plus(force, nearest, -1.0)), norm(plus(force, other, -1.0)) + 1e-9);
    }
}

TEST(Reactions, FrictionHoldsUpToItsCoefficient) {
    const Mechanics mechanics(block(0.3));
    const Point rest{0.0, {0.0, 0.0}, {0.0, 0.0}};
    EXPECT_LT(explain(mechanics, rest, {2.9, 10.0}, {Phase::sticking}).residual, 1e-8);
    // Outside of the cone: the distance of (4, 10) from the cone |T| <= 0.3 N.
    const double distance = (4.0 - 3.0) / std::sqrt(1.0 + 0.09);
    EXPECT_NEAR(explain(mechanics, rest, {4.0, 10.0}, {Phase::sticking}).residual, distance, 1e-6);
    EXPECT_NEAR(explain(mechanics, rest, {0.0, -1.0}, {Phase::sticking}).residual, 1.0, 1e-9);
}

TEST(Reactions, SlidersAndContactsHoldTogether) {
    Model model = block(0.3);
    model.sliders = {{"s", {Expression::velocity(0)}, {FrictionLaw::Kind::planar, {0.5}, 0.0}, 4.0}};
    const Mechanics mechanics(model);
    const Point rest{0.0, {0.0, 0.0}, {0.0, 0.0}};
    EXPECT_LT(explain(mechanics, rest, {4.9, 10.0}, {Phase::sticking, Phase::sticking}).residual, 1e-8);
    EXPECT_GT(explain(mechanics, rest, {5.2, 10.0}, {Phase::sticking, Phase::sticking}).residual, 0.1);
}

TEST(Rational, ProgramsAreExact) {
    // Least z1 + z2 with z1 + 3 z2 = 1: 1/3 at z2.
    const ExactProgram least = solve_exactly({{1}, {3}}, {1}, {1, 1});
    ASSERT_TRUE(least.feasible && least.bounded);
    EXPECT_EQ((least.least - Rational(1) / Rational(3)).sign(), 0);
    EXPECT_FALSE(solve_exactly({{1}, {3}}, {-1}, {1, 1}).feasible);
    EXPECT_FALSE(solve_exactly({{1}, {-1}}, {1}, {-1, 0}).bounded);
}

TEST(Rational, ComplementarityIsExact) {
    // w = 2z - 1: z = 1/2.
    const Fractions z = solve_complementarity({{2}}, {-1});
    ASSERT_EQ(z.size(), 1U);
    EXPECT_EQ((z[0] - Rational(1) / Rational(2)).sign(), 0);
    EXPECT_TRUE(solve_complementarity({{-1}}, {-1}).empty());
}

TEST(TimeStepping, SlidingBlockStopsWhereTheClosedFormSays) {
    Model model = block(0.2);
    model.u0 = {1.0, 0.0};
    model.t_end = 1.0;
    const SteppedEnd end = stepped_end(model);
    ASSERT_TRUE(end.usable);
    EXPECT_NEAR(end.q[0], 1.0 / (2.0 * 0.2 * 10.0), end.uncertainty);
    EXPECT_LT(end.uncertainty, 1e-3);
}

TEST(TimeStepping, BouncingBallIsWhereTheClosedFormSays) {
    Model model = point_masses(1, 1.0);
    model.potential = {Expression(10.0) * x()};
    Contact floor;
    floor.name = "floor";
    floor.gap = x();
    floor.e_n = 0.5;
    model.contacts = {floor};
    model.q0 = {0.2};
    model.t_end = 0.3;  // impact at 0.2 with speed 2; then 0.1 s upwards with speed 1
    // The scheme is of first order: the impact is late by up to a step, in which the ball moves with speed 2.
    for (const int count : {300, 3000, 30000}) {
        const auto end = TimeStepping(model).run({0.0, model.q0, model.u0}, model.t_end, count);
        ASSERT_TRUE(end.has_value());
        EXPECT_NEAR(end->q[0], 0.1 - 0.05, 3.0 * 2.0 * model.t_end / count);
    }
}

TEST(TimeStepping, ContactInFlightForgetsThatItStuck) {
    Model model = block(0.4);
    model.contacts[0].friction.mu_static = 0.648;
    model.contacts[0].e_n = 0.7;
    model.q0 = {0.0, 0.6};
    model.forces = {{Expression(-6.0) * Expression::time()}, {}};
    model.t_end = 1.1;  // the third impact is at 1.17
    // The first impact, with the normal velocity v, stops the slip. The next one slides with mu: rest held it before
    // the flight.
    const double v = std::sqrt(2.0 * 10.0 * 0.6), t1 = v / 10.0, t2 = t1 + 2.0 * 0.7 * v / 10.0;
    const double slip = -3.0 * (t2 * t2 - t1 * t1) + 0.4 * 1.7 * 0.7 * v, left = model.t_end - t2;
    ASSERT_LT(slip, 0.0);
    ASSERT_GT(left, 0.0);
    const auto end = TimeStepping(model).run({0.0, model.q0, model.u0}, model.t_end, 30000);
    ASSERT_TRUE(end.has_value());
    EXPECT_NEAR(end->u[0], slip - 3.0 * (model.t_end * model.t_end - t2 * t2), 1e-2);
}

TEST(Scan, FrictionHoldsAnInterval) {
    Model model = point_masses(1, 1.0);
    model.potential = {Expression(1.0) * power(x(), 2)};
    model.sliders = {{"s", {Expression::velocity(0)}, {FrictionLaw::Kind::planar, {0.5}, 0.0}, 2.0}};  // |2x| <= 1
    const auto found = scanned_equilibria(Mechanics(model), 3.0);
    ASSERT_FALSE(found.empty());
    EXPECT_NEAR(found.front()[0], -0.5, 2e-3);
    EXPECT_NEAR(found.back()[0], 0.5, 2e-3);
}

TEST(Scan, FindsAllEquilibriaOfADoubleWell) {
    Model model = point_masses(2, 1.0);
    model.potential = {power(power(x(), 2) - 1.0, 2), power(y(), 2)};
    EXPECT_EQ(scanned_equilibria(Mechanics(model), 3.0).size(), 3U);
}

// Rolling friction is a product of sets: sliding can slide while drilling and rolling stick.
TEST(Reactions, PartsOfRollingFrictionStickAndSlideByThemselves) {
    Model model = point_masses(6, 1.0);
    model.potential = {Expression(10.0) * Expression::position(2)};
    Contact contact;
    contact.name = "ground";
    contact.gap = Expression::position(2);
    for (const std::size_t i : {0U, 1U, 5U, 3U, 4U}) contact.slip.push_back(Expression::velocity(i));
    contact.friction = {FrictionLaw::Kind::rolling, {0.5}, 0.2};
    contact.friction.rolling_radius = 0.1;
    model.contacts = {contact};
    const Mechanics mechanics(model);
    const Point at{0.0, Vector(6, 0.0), {1.0, 0.0, 0.0, 0.0, 0.0, 0.0}};
    const auto residual = [&](const Vector& needed) {
        return explain(mechanics, at, needed, {Phase::sliding}).residual;
    };
    EXPECT_LT(residual({-5.0, 0.0, 10.0, 0.3, 0.4, 0.9}), 1e-9) << "drilling below 1, rolling at 0.5";
    EXPECT_GT(residual({-4.0, 0.0, 10.0, 0.0, 0.0, 0.0}), 0.1) << "sliding friction is too weak";
    EXPECT_GT(residual({-5.0, 0.0, 10.0, 0.0, 0.0, 1.2}), 0.1) << "drilling friction is too strong";
    EXPECT_GT(residual({-5.0, 0.0, 10.0, 0.5, 0.4, 0.0}), 0.05) << "rolling friction is too strong";
}

TEST(Reactions, AnEllipseWithOneZeroCoefficientHoldsAcrossItsSlip) {
    Model model = point_masses(2, 1.0);
    Slider slider;
    slider.name = "guide";
    slider.slip = {Expression::velocity(0), Expression::velocity(1)};
    slider.friction = {FrictionLaw::Kind::orthotropic, {0.0, 0.5}, 0.0};
    slider.normal_force = 4.0;
    model.sliders = {slider};
    const Mechanics mechanics(model);
    const Point at{0.0, {0.0, 0.0}, {1.0, 0.0}};  // it slips along x, where it has no friction
    EXPECT_LT(explain(mechanics, at, {0.0, 1.5}, {Phase::sliding}).residual, 1e-9);
    EXPECT_GT(explain(mechanics, at, {0.0, 2.5}, {Phase::sliding}).residual, 0.1);
    EXPECT_GT(explain(mechanics, at, {0.5, 0.0}, {Phase::sliding}).residual, 0.1);
}
