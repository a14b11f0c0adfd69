// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "saltus/impact/audit/collision_study.hpp"

#include <cmath>

#include "frictional_collisions.hpp"
#include "saltus/base/factors.hpp"

namespace saltus::impact::collision_study_test {
namespace {

using namespace test;

/// Newton's law with all contacts of the collision, from D and its laws.
Outcome by_newton(const FrictionalCollision& c, const Vector& e) {
    const Matrix D = c.directions.transpose() * Cholesky(c.M).solve_columns(c.directions);
    Collision collision;
    solvers::BlockMatrix& W = collision.problem.W;
    W.start = {0};
    for (const int size : c.sizes) W.start.push_back(W.start.back() + size);
    W.row_start = {0};
    for (std::size_t a = 0; a < c.sizes.size(); ++a) {
        for (std::size_t b = 0; b < c.sizes.size(); ++b) {
            W.block_column.push_back(static_cast<int>(b));
            W.offset.push_back(W.values.size());
            for (int i = W.start[a]; i < W.start[a + 1]; ++i)
                for (int j = W.start[b]; j < W.start[b + 1]; ++j) W.values.push_back(D(i, j));
        }
        W.row_start.push_back(static_cast<int>(W.block_column.size()));
    }
    collision.problem.laws = c.laws;
    collision.law.assign(c.laws.size(), ImpactLaw::newton);
    const Vector gamma = relative_velocities(c, c.u_minus);
    collision.gamma_minus.assign(gamma.data(), gamma.data() + gamma.size());
    collision.e.assign(e.data(), e.data() + e.size());
    collision.problem.q.assign(collision.e.size(), 0.0);
    solvers::Workspace workspace;
    Outcome outcome;
    collide(collision, 1e-12, workspace, outcome);
    return outcome;
}

TEST(EnergyCreation, IsFoundForTheRodAndNewtonsLawConfirmsIt) {
    FrictionalCollision c = rod(0.5);
    const Vector e = vector_of({0.9, 0.0});
    c.u_minus = c.u_plus = vector_of({0, 0});
    const EnergyCreation found = find_energy_creation(c, e);
    ASSERT_TRUE(found.found) << found.why;
    // Sticking: W/T⁻ = ‖Eγ‖²/‖γ‖² − 1 is largest for γ_T = D_NT/D_NN γ_N: 0.81·(25/16) − 1; Λ_T/Λ_N = −0.81·… inside μ.
    EXPECT_NEAR(found.work, 0.81 / 0.64 - 1.0, 1e-4);
    c.u_minus = found.u_minus;
    const Outcome outcome = by_newton(c, e);
    EXPECT_NEAR(outcome.work, found.work, 1e-8);
    EXPECT_NEAR(0.5 * found.u_minus.dot(c.M * found.u_minus), 1.0, 1e-12);
    EXPECT_NEAR(outcome.gamma_plus[0], found.u_plus(0), 1e-8);
    EXPECT_NEAR(outcome.gamma_plus[1], found.u_plus(1), 1e-8);
}

TEST(EnergyCreation, IsConfirmedWheneverItIsFound) {
    Random random(21);
    int found = 0;
    for (int k = 0; k < 60; ++k) {
        FrictionalCollision c;
        c.M = random.mass(6);
        c.directions = random.matrix(6, 4);
        c.laws.assign(2, law_of(LawKind::friction2, 0.2 + random.uniform()));
        c.sizes = {2, 2};
        c.u_minus = c.u_plus = Vector::Zero(6);
        const Vector e = vector_of({random.uniform(), random.uniform(), random.uniform(), random.uniform()});
        const EnergyCreation creation = find_energy_creation(c, e);
        if (!creation.found) continue;
        ++found;
        EXPECT_FALSE(dissipation_test(restitution_of(c, e)).safe);
        c.u_minus = creation.u_minus;
        c.u_plus = creation.u_plus;
        EXPECT_LE(outside_cones(c, creation.Lambda), 1e-10);
        EXPECT_LE((c.M * (c.u_plus - c.u_minus) - c.directions * creation.Lambda).norm(),
                  1e-10 * (1.0 + creation.Lambda.norm() * c.directions.norm()));
        EXPECT_NEAR(work_parts(c, creation.Lambda).total(), creation.work, 1e-9 * (1.0 + creation.work));
        // ξ = 0 in every row: Newton's law allows it.
        const Vector xi = relative_velocities(c, c.u_plus) + e.cwiseProduct(relative_velocities(c, c.u_minus));
        EXPECT_LE(xi.norm(), 1e-9 * (1.0 + c.u_plus.norm()));
    }
    EXPECT_GT(found, 5);
}

TEST(EnergyCreation, IsNotLookedForWhereItCannotBe) {
    FrictionalCollision c = rod(0.5);
    c.u_minus = c.u_plus = vector_of({0, 0});
    const EnergyCreation none = find_energy_creation(c, vector_of({0.5, 0.5}));
    EXPECT_FALSE(none.found);
    EXPECT_NE(none.why.find("condition 7b"), std::string::npos);
}

TEST(Dissipation, OfContactsIsThatOfWhatConstraintsLeaveFree) {
    // A point in the plane held to the line x = y: one contact with friction acts in one direction.
    FrictionalCollision c;
    c.M = Matrix::Identity(2, 2);
    c.directions = matrix_of({{0, 1, 1}, {1, 0, -1}});
    c.laws = {law_of(LawKind::friction2, 0.5), law_of(LawKind::bilateral)};
    c.sizes = {2, 1};
    c.u_minus = c.u_plus = vector_of({0, 0});
    const Restitution r = restitution_of(c, vector_of({0.5, 0.25, 0.0}));
    EXPECT_LE((r.delassus - matrix_of({{0.5, 0.5}, {0.5, 0.5}})).norm(), 1e-14);
    EXPECT_LE((r.e - vector_of({0.5, 0.25})).norm(), 0.0);
    EXPECT_TRUE(r.friction);
}

TEST(CollisionStudy, OfAFrictionlessModelWithSlipRowsIsThatOfItsNormals) {
    Random random(22);
    for (int k = 0; k < 100; ++k) {
        Vector Lambda;
        FrictionalCollision c = random_frictional(random, 3, std::vector<Law>(3, law_of(LawKind::friction2, 0.0)),
                                                  std::vector<int>(3, 2), k % 2 == 0, Lambda);
        for (Index i = 1; i < 6; i += 2) Lambda(i) = 0.0;
        Vector impulse = c.directions * Lambda;
        if (c.impulse.size() > 0) impulse += c.impulse;
        c.u_plus = c.u_minus + Cholesky(c.M).solve(impulse);
        CollisionStudyOptions options;
        options.Lambda = Lambda;
        options.subdivisions = 1;
        const CollisionStudy s = study_collision(c, options);
        const Audit a = audit(normal_part(c).collision);
        EXPECT_FALSE(s.friction);
        EXPECT_EQ(s.verdict, a.verdict);
        EXPECT_EQ(s.sentence, a.sentence);
        ASSERT_TRUE(s.given);
        EXPECT_LE(s.given->misses, 1e-12 * (1.0 + impulse.norm()));
        EXPECT_LE(s.given->outside, 0.0);
        if (std::isfinite(a.least.work)) {
            EXPECT_EQ(s.least.work, a.least.work);
            for (Index i = 0; i < 3; ++i) EXPECT_EQ(s.least.Lambda(2 * i), a.least.Lambda(i));
            const double scale = 1.0 + std::abs(a.least.work) + std::abs(a.greatest.work);
            EXPECT_GE(s.given->parts.total(), a.least.work - 1e-9 * scale);
            EXPECT_LE(s.given->parts.total(), a.greatest.work + 1e-9 * scale);
            EXPECT_NEAR(s.energy_change, s.least.work + s.least.obstacle_work + s.external_work, 1e-9 * scale);
        }
    }
}

TEST(CollisionStudy, ImpulsesOutsideTheirConesAreMeasured) {
    FrictionalCollision c = rod(0.5);
    EXPECT_NEAR(outside_cones(c, vector_of({1.0, 0.6})), 0.1, 1e-15);
    EXPECT_NEAR(outside_cones(c, vector_of({-2.0, 0.0})), 1.0, 1e-15);
    EXPECT_EQ(outside_cones(c, vector_of({1.0, -0.5})), 0.0);
    EXPECT_EQ(outside_cones(c, vector_of({0.0, 0.0})), 0.0);
}

TEST(CollisionStudy, OfAPatchIsJudgedByTheGivenImpulses) {
    FrictionalCollision c;
    c.M = Matrix::Identity(4, 4);
    c.directions = Matrix::Identity(4, 4);
    Law law = law_of(LawKind::contensou4, 0.4);
    law.radius = 0.1;
    c.laws = {law};
    c.sizes = {4};
    c.names = {"plane"};
    c.u_minus = vector_of({-1, 1, 0, 0});
    CollisionStudyOptions options;
    for (const double friction : {-0.5, 0.5}) {
        options.Lambda = vector_of({1.5, friction, 0, 0});
        c.u_plus = c.u_minus + *options.Lambda;
        const CollisionStudy s = study_collision(c, options);
        EXPECT_TRUE(s.kinetic.holds);
        EXPECT_TRUE(s.kinematic.holds);
        EXPECT_NEAR(s.given->parts.total(), 0.5 * (c.u_plus.squaredNorm() - c.u_minus.squaredNorm()), 1e-14);
        EXPECT_NEAR(s.energy_change, s.given->parts.total(), 1e-14);
        EXPECT_EQ(s.verdict, friction < 0.0 ? Verdict::may_dissipate : Verdict::undecided) << s.sentence;
        EXPECT_NE(s.sentence.find("the patch of plane has no second-order cone"), std::string::npos);
    }
    options.Lambda.reset();
    EXPECT_EQ(study_collision(c, options).verdict, Verdict::invalid);
}

}  // namespace
}  // namespace saltus::impact::collision_study_test
