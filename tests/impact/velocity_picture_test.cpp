// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "saltus/impact/consistency/velocity_picture.hpp"

#include "frictional_collisions.hpp"
#include "saltus/impact/audit/law_outcomes.hpp"
#include "saltus/impact/consistency/consistency_boundary.hpp"

namespace saltus::impact::velocity_picture_test {
namespace {

using namespace test;

/// Frictionless contacts with these directions.
FrictionalCollision frictionless(const Matrix& M, const Matrix& directions, const Vector& chi, const Vector& u_minus) {
    FrictionalCollision c;
    c.M = M;
    c.directions = directions;
    c.chi = chi;
    c.u_minus = c.u_plus = u_minus;
    c.laws.assign(static_cast<std::size_t>(directions.cols()), law_of(LawKind::unilateral));
    c.sizes.assign(static_cast<std::size_t>(directions.cols()), 1);
    return c;
}

/// [Glocker] 8: a load on two supports at ±a, lifted in the middle with the speed v.
FrictionalCollision forklift() {
    const double a = 0.8, v = 1.3;
    return frictionless(matrix_of({{2.0, 0.0}, {0.0, 0.5}}), matrix_of({{1, 1, 1}, {-a, 0, a}}), vector_of({0, -v, 0}),
                        vector_of({0, 0}));
}

/// Three equal balls in a row; the first one arrives with the speed v.
FrictionalCollision chain(double m, double v) {
    return frictionless(m * Matrix::Identity(3, 3), matrix_of({{-1, 0}, {1, -1}, {0, 1}}), vector_of({0, 0}),
                        vector_of({v, 0, 0}));
}

double squared(const Matrix& metric, const Vector& p) { return p.dot(metric * p); }

TEST(VelocityPicture, HasTheVelocitiesAsAxesIfContactsChangeAllOfThem) {
    const FrictionalCollision c = forklift();
    const VelocityPicture p = velocity_picture(c);
    ASSERT_TRUE(p.valid) << p.why;
    EXPECT_FALSE(p.relative);
    EXPECT_TRUE(p.map.isApprox(Matrix::Identity(2, 2)));
    EXPECT_TRUE(p.metric.isApprox(c.M));
    ASSERT_EQ(p.contacts.size(), 3U);
    for (int k = 0; k < 3; ++k) {
        EXPECT_TRUE(p.contacts[static_cast<std::size_t>(k)].normal.isApprox(c.directions.col(k)));
        EXPECT_NEAR(p.contacts[static_cast<std::size_t>(k)].distance, c.chi(k), 1e-15);
    }
    ASSERT_EQ(p.jumps.size(), 3U);
    EXPECT_TRUE(p.jumps[0].isApprox(vector_of({0.5, -1.6})));  // M⁻¹w
    const Balls balls = consistency_balls(normal_part(c).collision);
    ASSERT_EQ(balls.balls.size(), 2U);
    EXPECT_EQ(p.radius_squared(balls.balls[0]), balls.balls[0].radius_squared);
}

TEST(VelocityPicture, OfExchangedCoordinatesIsTheSameWithExchangedAxes) {
    const FrictionalCollision c = forklift();
    FrictionalCollision exchanged = c;
    const Matrix swap = matrix_of({{0, 1}, {1, 0}});
    exchanged.M = swap * c.M * swap;
    exchanged.directions = swap * c.directions;
    exchanged.u_minus = swap * c.u_minus;
    const VelocityPicture p = velocity_picture(c), other = velocity_picture(exchanged);
    ASSERT_TRUE(other.valid);
    for (std::size_t k = 0; k < 3; ++k) {
        EXPECT_TRUE((swap * p.contacts[k].normal).isApprox(other.contacts[k].normal));
        EXPECT_TRUE((swap * p.jumps[k]).isApprox(other.jumps[k]));
    }
}

TEST(VelocityPicture, OfAChainOfBallsLeavesOutTheirCommonMotion) {
    const double m = 0.7;
    const VelocityPicture p = velocity_picture(chain(m, 2.0));
    ASSERT_TRUE(p.valid) << p.why;
    EXPECT_TRUE(p.relative);
    EXPECT_EQ(p.rows, (std::vector<int>{0, 1}));
    // G = [2 −1; −1 2]/m, and the metric of relative velocities is G⁻¹.
    EXPECT_TRUE(p.metric.isApprox(m / 3.0 * matrix_of({{2, 1}, {1, 2}}), 1e-12));
    EXPECT_TRUE(p.z_minus.isApprox(vector_of({-2, 0})));
    const Vector together = vector_of({1, 1, 1});
    EXPECT_LT((p.at(together) - p.at(0.0 * together)).norm(), 1e-14);
}

TEST(VelocityPicture, MeasuresJumpsAndBallsAsTheMassMatrixDoes) {
    Random random(5);
    int relative = 0;
    for (int k = 0; k < 60; ++k) {
        const Index n = 2 + random.below(4), contacts = 1 + random.below(3);
        Vector Lambda;
        const FrictionlessCollision plain = random_collision(random, n, contacts, k % 3 == 0, Lambda);
        FrictionalCollision c = frictionless(plain.M, plain.directions, plain.chi, plain.u_minus);
        c.impulse = plain.impulse;
        const VelocityPicture p = velocity_picture(c);
        ASSERT_TRUE(p.valid) << p.why;
        relative += p.relative ? 1 : 0;
        const Vector z = after(plain, Vector::Zero(contacts)), u = after(plain, Lambda);
        EXPECT_NEAR(squared(p.metric, p.at(u) - p.at(z)), squared(c.M, u - z), 1e-9 * (1.0 + squared(c.M, u - z)));
        for (const VelocityPicture::Contact& contact : p.contacts) {
            const double gamma = contact.normal.dot(p.at(u)) + contact.distance;
            EXPECT_NEAR(gamma, relative_velocities(c, u)(contact.block), 1e-9 * (1.0 + std::abs(gamma)));
        }
        // u lies as far outside each ball in the picture as in the space of all velocities.
        for (const Ball& b : consistency_balls(plain).balls) {
            const double drawn = squared(p.metric, p.at(u) - p.at(b.centre)) - p.radius_squared(b);
            const double whole = squared(c.M, u - b.centre) - b.radius_squared;
            EXPECT_NEAR(drawn, whole, 1e-7 * (1.0 + std::abs(whole) + std::abs(b.radius_squared)));
        }
    }
    EXPECT_GT(relative, 10);
}

TEST(VelocityPicture, OfAConstrainedBodyShowsWhatTheConstraintLeavesFree) {
    // A point mass m on a vertical rail x' = 0 above a floor y' >= 0.
    FrictionalCollision c =
        frictionless(3.0 * Matrix::Identity(2, 2), matrix_of({{0, 1}, {1, 0}}), vector_of({0, 0}), vector_of({0, -2}));
    c.laws[1] = law_of(LawKind::bilateral);
    const VelocityPicture p = velocity_picture(c);
    ASSERT_TRUE(p.valid) << p.why;
    ASSERT_EQ(p.dimension(), 1);
    EXPECT_TRUE(p.relative);
    EXPECT_NEAR(p.metric(0, 0), 3.0, 1e-12);
    EXPECT_EQ(p.contacts.size(), 1U);
}

TEST(VelocityPicture, IsRefusedIfImpulsesActInFourDirections) {
    const FrictionalCollision c =
        frictionless(Matrix::Identity(4, 4), Matrix::Identity(4, 4), Vector::Zero(4), -Vector::Ones(4));
    const VelocityPicture p = velocity_picture(c);
    EXPECT_FALSE(p.valid);
    EXPECT_EQ(p.why, "contact impulses act in 4 directions, more than three");
}

Restitutions no_restitution(const FrictionalCollision& c) {
    return {Vector::Zero(c.directions.cols()), std::vector<ImpactLaw>(c.laws.size(), ImpactLaw::newton)};
}

TEST(LawOutcomes, OfAChainOfThreeBallsKeepTheCommonVelocityAndAreConsistent) {
    const double v = 2.0;
    const FrictionalCollision c = chain(0.7, v);
    const std::vector<LawOutcomes> laws = law_outcomes(c, no_restitution(c), 11);
    ASSERT_EQ(laws.size(), 3U);
    for (const LawOutcomes& of_law : laws) {
        ASSERT_EQ(of_law.at.size(), 11U);
        // The energy law takes e² of the whole kinetic energy, the common motion included: it has an outcome only if e²
        // ≥ 1/3.
        if (of_law.law == ImpactLaw::energy) {
            EXPECT_FALSE(of_law.at[5].solved);
            ASSERT_TRUE(of_law.at[6].solved) << of_law.at[6].why;
            EXPECT_NEAR(of_law.at[6].u_plus.squaredNorm(), 0.36 * v * v, 1e-9);
            continue;
        }
        for (const LawOutcomeAt& at : of_law.at) {
            ASSERT_TRUE(at.solved) << at.why;
            // Newton's and Poisson's law give the common velocity v/3 for e = 0, and add e times the jump to it: (1 −
            // 2e, 1 + e, 1 + e) v/3.
            EXPECT_TRUE(at.u_plus.isApprox(v / 3.0 * vector_of({1 - 2 * at.e, 1 + at.e, 1 + at.e}), 1e-9))
                << to_string(of_law.law) << " e = " << at.e << ": " << at.u_plus.transpose();
            EXPECT_TRUE(consistent(at.verdict)) << at.e;
            const double change = 0.5 * 0.7 * (at.u_plus.squaredNorm() - v * v);
            EXPECT_NEAR(at.work, change, 1e-9);
        }
    }
}

TEST(LawOutcomes, OfTheForkliftFollowTheForkAndLeaveTheSet) {
    const FrictionalCollision c = forklift();
    const std::vector<LawOutcomes> laws = law_outcomes(c, no_restitution(c), 3);
    for (const LawOutcomeAt& at : laws[0].at) {  // Newton
        ASSERT_TRUE(at.solved) << at.why;
        EXPECT_NEAR(at.u_plus(0), 1.3 * (1.0 + at.e), 1e-9);
        EXPECT_NEAR(at.u_plus(1), 0.0, 1e-9);
    }
    // Contact work with impulses of the fork alone: ½(γ⁺ + γ⁻)Λ = ½(e − 1)v · m(1 + e)v.
    EXPECT_NEAR(laws[0].at[1].work, -0.5 * 2.0 * 1.3 * 1.3 * 0.75, 1e-9);
}

}  // namespace
}  // namespace saltus::impact::velocity_picture_test
