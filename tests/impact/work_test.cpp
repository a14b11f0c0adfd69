// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "saltus/impact/work/work.hpp"

#include <limits>

#include "collisions.hpp"
#include "saltus/base/factors.hpp"
#include "saltus/impact/consistency/velocity_polyhedron.hpp"

namespace saltus::impact::work_test {
namespace {

using namespace test;

constexpr double infinity = std::numeric_limits<double>::infinity();
/// Of works and velocities of size 1 that come out of a handful of factorisations.
constexpr double close = 1e-9;

/// The shift of the ball centres.
Vector half_pi(const FrictionlessCollision& c) {
    return c.impulse.size() == 0 ? Vector(Vector::Zero(c.M.rows())) : Vector(0.5 * Cholesky(c.M).solve(c.impulse));
}

void expect_saddle(const FrictionlessCollision& c, const WorkEnd& end, double sign) {
    Vector impulse = c.M * (c.u_plus - c.u_minus);
    if (c.impulse.size() > 0) impulse -= c.impulse;
    const double size = 1.0 + end.Lambda.cwiseAbs().maxCoeff() + std::abs(end.work);
    EXPECT_LE((c.directions * end.Lambda - impulse).norm(), close * size);
    EXPECT_GE(end.Lambda.minCoeff(), 0.0);
    const Vector gamma = relative_velocities(c, end.b - half_pi(c));
    EXPECT_GE((sign * gamma).minCoeff(), -close * (1.0 + end.b.norm()));
    EXPECT_LE(gamma.cwiseProduct(end.Lambda).cwiseAbs().maxCoeff(), close * size * (1.0 + end.b.norm()));
    EXPECT_NEAR(end.work, end.ball, close * size * (1.0 + end.b.norm()));
    EXPECT_LE(end.gap, 1e-10);
}

TEST(ContactWork, OfRandomCollisionsIsTheDifferenceOfTwoBalls) {
    Random random(1);
    for (int k = 0; k < 4000; ++k) {
        const Index n = 1 + random.below(6), contacts = 1 + random.below(9);
        Vector Lambda;
        const FrictionlessCollision c = random_collision(random, n, contacts, k % 3 == 0, Lambda);
        const Audit a = audit(c, {.remarks = false});
        ASSERT_TRUE(a.kinetic.holds) << k << ": " << a.kinetic.distance;
        expect_saddle(c, a.least, 1.0);
        expect_saddle(c, a.greatest, -1.0);
        const double work = contact_work(c, Lambda), noise = close * (1.0 + std::abs(work));
        EXPECT_LE(a.least.work, work + noise);
        EXPECT_GE(a.greatest.work, work - noise);
        for (const WorkEnd* end : {&a.least, &a.greatest})
            EXPECT_NEAR(a.energy_change, end->work + end->obstacle_work + a.external_work,
                        close * (1.0 + std::abs(end->work) + std::abs(end->obstacle_work)));
    }
}

TEST(ContactWork, IsTheLargestOfAllCornerPoints) {
    Random random(2);
    for (int k = 0; k < 600; ++k) {
        const Index n = 1 + random.below(5), contacts = 1 + random.below(8);
        Vector Lambda;
        const FrictionlessCollision c = random_collision(random, n, contacts, k % 3 == 0, Lambda);
        const Audit a = audit(c, {.remarks = false});
        const VelocityPolyhedron plus = velocity_polyhedron(c), minus = velocity_polyhedron(c, Side::minus);
        ASSERT_EQ(plus.status, VelocityPolyhedron::Status::described);
        ASSERT_EQ(minus.status, VelocityPolyhedron::Status::described);
        const Vector half = half_pi(c);
        double least = -infinity, greatest = infinity, size = 1.0;
        for (Index j = 0; j < plus.corner_points.cols(); ++j) {
            least = std::max(least, ball_work(c, plus.corner_points.col(j) + half));
            size += plus.corner_points.col(j).norm();
        }
        for (Index j = 0; j < minus.corner_points.cols(); ++j) {
            greatest = std::min(greatest, ball_work(c, minus.corner_points.col(j) + half));
            size += minus.corner_points.col(j).norm();
        }
        EXPECT_NEAR(a.least.work, least, close * size * (1.0 + std::abs(least)));
        EXPECT_NEAR(a.greatest.work, greatest, close * size * (1.0 + std::abs(greatest)));
    }
}

TEST(ContactWork, IsTheSameInAMovingFrame) {
    Random random(3);
    for (int k = 0; k < 2000; ++k) {
        const Index n = 1 + random.below(5), contacts = 1 + random.below(8);
        Vector Lambda;
        FrictionlessCollision c = random_collision(random, n, contacts, false, Lambda);
        const Audit a = audit(c);
        const Vector v = 3.0 * random.vector(n);
        c.u_minus += v;
        c.u_plus += v;
        c.chi -= c.directions.transpose() * v;
        const Audit b = audit(c);
        const double size = 1.0 + std::abs(a.least.work) + std::abs(a.greatest.work);
        EXPECT_NEAR(a.least.work, b.least.work, close * size);
        EXPECT_NEAR(a.greatest.work, b.greatest.work, close * size);
        EXPECT_EQ(a.verdict, b.verdict);
        if (Lambda.sum() > 0.1) {
            EXPECT_GT(std::abs(a.energy_change - b.energy_change), 1e-6);  // which is not
        }
    }
}

TEST(ContactWork, IsTheSameInOtherCoordinates) {
    Random random(4);
    for (int k = 0; k < 300; ++k) {
        const Index n = 1 + random.below(5), contacts = 1 + random.below(8);
        Vector Lambda;
        const FrictionlessCollision c = random_collision(random, n, contacts, k % 2 == 0, Lambda);
        const Matrix S = random.matrix(n, n) + 2.0 * Matrix::Identity(n, n);  // u = S v
        FrictionlessCollision d = c;
        d.M = S.transpose() * c.M * S;
        d.directions = S.transpose() * c.directions;
        d.u_minus = least_squares(S, c.u_minus);
        d.u_plus = least_squares(S, c.u_plus);
        if (c.impulse.size() > 0) d.impulse = S.transpose() * c.impulse;
        const Audit a = audit(c), b = audit(d, {.tolerance = 1e-7});
        const double size = 1.0 + std::abs(a.least.work) + std::abs(a.greatest.work);
        EXPECT_NEAR(a.least.work, b.least.work, 1e-7 * size);
        EXPECT_NEAR(a.greatest.work, b.greatest.work, 1e-7 * size);
    }
}

TEST(ContactWork, WithoutExcitationIsTheChangeOfKineticEnergy) {
    Random random(5);
    for (int k = 0; k < 2000; ++k) {
        const Index n = 1 + random.below(5), contacts = 1 + random.below(9);
        Vector Lambda;
        FrictionlessCollision c = random_collision(random, n, contacts, false, Lambda);
        if (k % 2 == 0)
            c.chi.setZero();
        else
            c.chi.resize(0);
        const Audit a = audit(c);
        EXPECT_NE(a.remark(RemarkKind::no_excitation), nullptr);
        EXPECT_NEAR(a.least.work, a.energy_change, close * (1.0 + std::abs(a.energy_change)));
        EXPECT_NEAR(a.greatest.work, a.energy_change, close * (1.0 + std::abs(a.energy_change)));
        EXPECT_EQ(a.verdict == Verdict::into_obstacle, !a.kinematic.holds);
    }
}

TEST(ContactWork, OfUniformExcitationIsUniqueAndThatOfTheMovingFrame) {
    Random random(6);
    for (int k = 0; k < 300; ++k) {
        const Index n = 1 + random.below(4), contacts = 1 + random.below(8);
        Vector Lambda;
        FrictionlessCollision c = random_collision(random, n, contacts, false, Lambda);
        const Vector b = random.vector(n);
        c.chi = -(c.directions.transpose() * b);
        const Audit a = audit(c);
        ASSERT_NE(a.remark(RemarkKind::uniform_excitation), nullptr);
        EXPECT_LE((c.directions.transpose() * (a.common_velocity - b)).norm(), close);
        const double change = 0.5 * squared_norm(c, c.u_plus - b) - 0.5 * squared_norm(c, c.u_minus - b);
        EXPECT_NEAR(a.least.work, change, close * (1.0 + std::abs(change)));
        EXPECT_NEAR(a.greatest.work, change, close * (1.0 + std::abs(change)));
    }
}

TEST(ContactWork, IndependentContactsAlwaysMoveUniformly) {
    Random random(7);
    Vector Lambda;
    const FrictionlessCollision c = random_collision(random, 5, 3, false, Lambda);
    const Audit a = audit(c);
    EXPECT_NE(a.remark(RemarkKind::uniform_excitation), nullptr);
    EXPECT_EQ(a.remark(RemarkKind::singular_delassus), nullptr);
    EXPECT_NE(a.remark(RemarkKind::no_corner_points), nullptr);
    EXPECT_LE((a.least.Lambda - Lambda).norm(), close);
}

// --- compatibility -------------------------------------------------------------------------------------------

TEST(Compatibility, SlackIsTheRelativeVelocityAfter) {
    FrictionlessCollision c;
    c.M = matrix_of({{2}});
    c.directions = matrix_of({{1, 1}});
    c.chi = vector_of({0, -0.5});
    c.u_minus = vector_of({-1});
    c.u_plus = vector_of({0.25});
    const Audit a = audit(c);
    EXPECT_FALSE(a.kinematic.holds);
    EXPECT_EQ(a.kinematic.worst, 1);
    EXPECT_EQ(a.kinematic.slack(0), 0.25);
    EXPECT_EQ(a.kinematic.slack(1), -0.25);
    EXPECT_EQ(a.sentence, "not consistent: u+ goes into contact 2 with the velocity -0.25");
    c.names = {"ground", "lift"};
    EXPECT_EQ(audit(c).sentence, "not consistent: u+ goes into lift with the velocity -0.25");
}

TEST(Compatibility, LeastVelocityDoesNotDependOnTheLengthsOfTheOtherDirections) {
    // γ = x' and 3 y'. Relative to their lengths the first velocity is the larger one.
    FrictionlessCollision c;
    c.M = matrix_of({{1, 0}, {0, 1}});
    c.directions = matrix_of({{1, 0}, {0, 3}});
    c.u_minus = vector_of({-1, -1});
    c.u_plus = vector_of({1.5, 1});
    EXPECT_EQ(audit(c).kinematic.least(), 0);
    c.u_plus = vector_of({-1.5, -1});
    EXPECT_EQ(audit(c).kinematic.least(), 1);
    EXPECT_EQ(audit(c).sentence.substr(0, 62), "not consistent: u+ goes into contact 2 with the velocity -3, a");
}

TEST(Compatibility, WorkWithoutAnUpperBoundIsSaidToHaveNone) {
    // Two contacts close upon each other: their impulses may grow together, and supply energy without end.
    FrictionlessCollision c;
    c.M = matrix_of({{1}});
    c.directions = matrix_of({{1, -1}});
    c.chi = vector_of({1, 1});
    c.u_minus = vector_of({-2});
    c.u_plus = vector_of({1});
    const Audit a = audit(c);
    ASSERT_TRUE(std::isinf(a.greatest.work));
    EXPECT_NE(a.sentence.find("without an upper bound"), std::string::npos) << a.sentence;
    EXPECT_EQ(a.sentence.find("inf"), std::string::npos) << a.sentence;
}

TEST(Compatibility, DistanceFromTheImpulsesIsMeasuredInTheKineticMetric) {
    Random random(8);
    for (int k = 0; k < 300; ++k) {
        const Index n = 2 + random.below(4), contacts = 1 + random.below(6);
        Vector Lambda;
        FrictionlessCollision c = random_collision(random, n, contacts, k % 2 == 0, Lambda);
        c.u_plus += 0.5 * random.vector(n);
        const Audit a = audit(c);
        // The rest of the nearest impulse is orthogonal to it in M⁻¹ and in the polar cone of the contacts.
        Vector missed = c.M * (c.u_plus - c.u_minus) - c.directions * a.kinetic.Lambda;
        if (c.impulse.size() > 0) missed -= c.impulse;
        const Vector rest = Cholesky(c.M).solve(missed);
        EXPECT_NEAR(a.kinetic.distance, std::sqrt(missed.dot(rest)), close);
        const Vector gain = c.directions.transpose() * rest;
        EXPECT_LE(gain.maxCoeff(), close);
        EXPECT_LE(gain.cwiseProduct(a.kinetic.Lambda).cwiseAbs().maxCoeff(),
                  close * (1.0 + a.kinetic.Lambda.maxCoeff()));
        EXPECT_EQ(a.kinetic.holds, a.kinetic.distance <= 1e-9 * a.kinetic.impulse + 1e-11);
        if (!a.kinetic.holds) {
            EXPECT_TRUE(std::isnan(a.least.work));
            EXPECT_FALSE(a.least.why.empty());
        }
    }
}

TEST(Compatibility, ABodyThatJustLeavesIsNotInsideItsObstacle) {
    // γ⁺ = −1e-12 after an approach at 3 is rest.
    FrictionlessCollision c;
    c.M = matrix_of({{2}});
    c.directions = matrix_of({{1}});
    c.u_minus = vector_of({-3});
    c.u_plus = vector_of({-1e-12});
    EXPECT_TRUE(audit(c).consistent());
    c.u_plus = vector_of({-1e-6});
    EXPECT_EQ(audit(c).verdict, Verdict::into_obstacle);
}

TEST(Compatibility, AnElasticImpactCreatesNothing) {
    Random random(9);
    for (int k = 0; k < 200; ++k) {
        const Index n = 1 + random.below(5);
        FrictionlessCollision c;
        c.M = random.mass(n);
        c.directions = random.matrix(n, 1);
        c.chi = random.vector(1);
        c.u_minus = random.vector(n);
        const double gamma = relative_velocities(c, c.u_minus)(0);
        if (gamma > 0.0) continue;
        const Vector w = c.directions.col(0), m = Cholesky(c.M).solve(w);
        c.u_plus = c.u_minus - 2.0 * gamma / w.dot(m) * m;
        const Audit a = audit(c);
        EXPECT_EQ(a.verdict, Verdict::dissipates) << a.sentence;
        EXPECT_NEAR(a.least.work, 0.0, 1e-12 * gamma * gamma / w.dot(m));
        c.u_plus = c.u_minus - 2.001 * gamma / w.dot(m) * m;
        EXPECT_EQ(audit(c).verdict, Verdict::supplies_energy);
    }
}

TEST(Compatibility, AlphaAllowsSoMuchWork) {
    FrictionlessCollision c;
    c.M = matrix_of({{2}});
    c.directions = matrix_of({{1}});
    c.u_minus = vector_of({-1});
    c.u_plus = vector_of({2});  // work 3
    EXPECT_EQ(audit(c).verdict, Verdict::supplies_energy);
    EXPECT_EQ(audit(c, {.alpha = 3.0}).verdict, Verdict::dissipates);
    EXPECT_EQ(audit(c, {.alpha = 2.999}).verdict, Verdict::supplies_energy);
}

// --- special cases and their sentences -----------------------------------------------------------------------

TEST(Remarks, NameWhatIsSpecial) {
    FrictionlessCollision c;
    c.M = matrix_of({{1, 0}, {0, 1}});
    c.directions = matrix_of({{1, 1, -1}, {0, 0, 0}});
    c.chi = vector_of({0, -1, 2});
    c.u_minus = vector_of({0, 0});
    c.u_plus = vector_of({1, 0});
    const Audit a = audit(c);
    EXPECT_EQ(a.verdict, Verdict::may_dissipate) << a.sentence;
    ASSERT_NE(a.remark(RemarkKind::singular_delassus), nullptr);
    EXPECT_EQ(a.remark(RemarkKind::singular_delassus)->text,
              "3 contacts act in 1 independent direction: the Delassus matrix is singular and the impulses need not be "
              "unique");
    ASSERT_NE(a.remark(RemarkKind::no_corner_points), nullptr);
    EXPECT_EQ(a.remark(RemarkKind::no_corner_points)->text,
              "the contacts leave 1 of 2 directions of velocity alone: P+ has no corner points, only faces of that "
              "dimension");
    ASSERT_NE(a.remark(RemarkKind::not_approaching), nullptr);
    EXPECT_EQ(a.remark(RemarkKind::not_approaching)->contacts, std::vector<int>{2});
    EXPECT_NE(a.remark(RemarkKind::nonuniform_excitation), nullptr);
    EXPECT_NE(a.remark(RemarkKind::impulses_unbounded), nullptr);
    EXPECT_NE(a.remark(RemarkKind::empty_P_minus), nullptr);
    EXPECT_EQ(a.remark(RemarkKind::empty_P_plus), nullptr);
    EXPECT_EQ(a.greatest.work, infinity);
}

TEST(Remarks, NameContactsThatOthersImply) {
    FrictionlessCollision c;
    c.M = Matrix::Identity(2, 2);
    c.directions = matrix_of({{1, 1, 1}, {-1, 0, 1}});
    c.chi = vector_of({0, 0.5, 0});
    c.u_minus = vector_of({-1, 0});
    c.u_plus = vector_of({0, 0});
    const Audit a = audit(c);
    ASSERT_NE(a.remark(RemarkKind::redundant_contacts), nullptr);
    EXPECT_EQ(a.remark(RemarkKind::redundant_contacts)->text,
              "whatever leaves the other contacts leaves contact 2 too");
    c.chi(1) = -0.5;  // the forklift: the middle contact is redundant for the cones only
    EXPECT_EQ(audit(c).remark(RemarkKind::redundant_contacts), nullptr);
}

TEST(Remarks, AreThereForEmptyPolyhedraWithoutImpulsesToo) {
    FrictionlessCollision c;
    c.M = matrix_of({{1, 0}, {0, 1}});
    c.directions = matrix_of({{1, -1}, {0, 0}});
    c.chi = vector_of({-1, -1});
    c.u_minus = vector_of({0, 0});
    c.u_plus = vector_of({0, 1});  // sideways, where no contact acts
    const Audit a = audit(c);
    EXPECT_FALSE(a.kinetic.holds);
    ASSERT_NE(a.remark(RemarkKind::empty_P_plus), nullptr);
    EXPECT_EQ(
        a.remark(RemarkKind::empty_P_plus)->text,
        "P+ is empty: the obstacles of contact 1 and contact 2 close on the system and no velocity leaves them all");
    EXPECT_EQ(a.remark(RemarkKind::empty_P_minus), nullptr);
    EXPECT_TRUE(std::isnan(a.least.work));
}

TEST(Remarks, SayWhyTheKineticEnergyDiffers) {
    FrictionlessCollision c;
    c.M = matrix_of({{1.5}});
    c.directions = matrix_of({{1}});
    c.chi = vector_of({-2});
    c.u_minus = vector_of({0});
    c.u_plus = vector_of({2});
    EXPECT_EQ(
        audit(c).sentence,
        "consistent: the contact work is -3, no more than 0 however the impulse is shared; the kinetic energy changes "
        "by 3, of which the moving obstacles did 6");
}

TEST(Remarks, WithoutContactsNothingHappensOrItIsNotTheirs) {
    FrictionlessCollision c;
    c.M = matrix_of({{1, 0}, {0, 2}});
    c.directions = Matrix(2, 0);
    c.u_minus = c.u_plus = vector_of({1, 2});
    const Audit still = audit(c);
    EXPECT_EQ(still.verdict, Verdict::dissipates);
    EXPECT_EQ(still.least.work, 0.0);
    EXPECT_NE(still.remark(RemarkKind::no_contacts), nullptr);
    c.u_plus = vector_of({1, 3});
    const Audit moved = audit(c);
    EXPECT_EQ(moved.verdict, Verdict::not_by_contacts);
    EXPECT_NEAR(moved.kinetic.distance, std::sqrt(2.0), 1e-15);
}

TEST(Remarks, BadNumbersAreSaid) {
    FrictionlessCollision c;
    c.M = matrix_of({{1, 2}, {2, 1}});
    c.directions = matrix_of({{1}, {0}});
    c.u_minus = c.u_plus = vector_of({0, 0});
    EXPECT_EQ(audit(c).verdict, Verdict::invalid);
    EXPECT_EQ(audit(c).sentence, "the mass matrix is not positive definite");
    c.M = Matrix::Identity(2, 2);
    c.u_plus(0) = std::numeric_limits<double>::quiet_NaN();
    EXPECT_EQ(audit(c).verdict, Verdict::invalid);
}

// --- bilateral constraints -----------------------------------------------------------------------------------

TEST(Bilateral, ColumnsAreWorthTwoOppositeContacts) {
    Random random(10);
    for (int k = 0; k < 300; ++k) {
        const Index n = 2 + random.below(4), contacts = 1 + random.below(6);
        Vector Lambda;
        FrictionlessCollision pair = random_collision(random, n, contacts + 2, k % 3 == 0, Lambda);
        pair.directions.col(contacts + 1) = -pair.directions.col(contacts);
        pair.chi(contacts + 1) = -pair.chi(contacts);
        // Onto the constraint after, and before it too in half of the cases.
        const Vector w = pair.directions.col(contacts), m = Cholesky(pair.M).solve(w);
        if (k % 2 == 0) pair.u_minus -= (w.dot(pair.u_minus) + pair.chi(contacts)) / w.dot(m) * m;
        Lambda(contacts + 1) = 0.0;
        pair.u_plus = after(pair, Lambda);
        const double hold = -(w.dot(pair.u_plus) + pair.chi(contacts)) / w.dot(m);
        pair.u_plus += hold * m;
        FrictionlessCollision bilateral = pair;
        bilateral.directions = pair.directions.leftCols(contacts + 1);
        bilateral.chi = pair.chi.head(contacts + 1);
        bilateral.bilateral = 1;
        const Audit a = audit(pair, {.tolerance = 1e-8}), b = audit(bilateral, {.tolerance = 1e-8});
        ASSERT_TRUE(a.kinetic.holds);
        ASSERT_TRUE(b.kinetic.holds) << b.kinetic.distance;
        const double size = 1.0 + std::abs(a.least.work) + std::abs(a.greatest.work);
        if (std::isfinite(a.least.work)) {
            EXPECT_NEAR(a.least.work, b.least.work, 1e-8 * size);
            EXPECT_NEAR(b.least.ball, b.least.work, 1e-8 * size);
        } else {
            EXPECT_EQ(a.least.work, b.least.work);
        }
        if (std::isfinite(a.greatest.work)) {
            EXPECT_NEAR(a.greatest.work, b.greatest.work, 1e-8 * size);
        } else {
            EXPECT_EQ(a.greatest.work, b.greatest.work);
        }
        EXPECT_EQ(b.remark(RemarkKind::bilateral_violated) == nullptr, k % 2 == 0);
        Vector impulse = bilateral.directions * b.least.Lambda;
        if (std::isfinite(b.least.work)) {
            if (pair.impulse.size() > 0) impulse += pair.impulse;
            EXPECT_LE((impulse - pair.M * (pair.u_plus - pair.u_minus)).norm(), 1e-8 * size);
        }
    }
}

TEST(Bilateral, AContactThatTheConstraintHoldsDoesNothing) {
    // The constraint fixes the only velocity that the contact feels.
    FrictionlessCollision c;
    c.M = matrix_of({{1, 0}, {0, 1}});
    c.directions = matrix_of({{1, 2}, {0, 0}});
    c.bilateral = 1;
    c.u_minus = c.u_plus = vector_of({0, 1});
    const Audit a = audit(c);
    EXPECT_EQ(a.verdict, Verdict::dissipates) << a.sentence;
    EXPECT_EQ(a.least.work, 0.0);
}

}  // namespace
}  // namespace saltus::impact::work_test
