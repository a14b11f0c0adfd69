// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "saltus/impact/audit/decided.hpp"

#include <cmath>
#include <limits>

#include "../allocations.hpp"
#include "frictional_collisions.hpp"
#include "saltus/base/factors.hpp"
#include "saltus/impact/work/frictional_work.hpp"

namespace saltus::impact::decided_test {
namespace {

using namespace test;

/// The rows of a collision whose u⁺ a law has decided.
struct Decided {
    Vector gamma_minus, gamma_plus, chi, Lambda;
    std::vector<int> start{0};
    std::vector<Law> laws;

    Decided(const FrictionalCollision& c, const Vector& impulses)
        : gamma_minus(relative_velocities(c, c.u_minus)),
          gamma_plus(relative_velocities(c, c.u_plus)),
          chi(c.chi.size() > 0 ? c.chi : Vector(Vector::Zero(c.directions.cols()))),
          Lambda(impulses),
          laws(c.laws) {
        for (const int size : c.sizes) start.push_back(start.back() + size);
    }
    DecidedImpact impact() const {
        const auto span = [](const Vector& x) {
            return std::span<const double>(x.data(), static_cast<std::size_t>(x.size()));
        };
        return {span(gamma_minus), span(gamma_plus), span(chi), span(Lambda), start, laws};
    }
};

Restitutions newton(const FrictionalCollision& c, std::vector<double> e) {
    return {vector_of(e), std::vector<ImpactLaw>(c.laws.size(), ImpactLaw::newton)};
}

TEST(DecidedImpact, SplitsTheChangeOfEnergyIntoContactsAndObstacles) {
    Random random(3);
    for (int k = 0; k < 3000; ++k) {
        const Index n = 2 + random.below(5);
        Vector Lambda;
        const FrictionalCollision c = random_frictional(
            random, n, {law_of(LawKind::friction3, 0.4), law_of(LawKind::friction2, 0.7), law_of(LawKind::unilateral)},
            {3, 2, 1}, false, Lambda);
        const Decided d(c, Lambda);
        const DecidedWork a = audit(d.impact());
        const double change = 0.5 * (c.u_plus.dot(c.M * c.u_plus) - c.u_minus.dot(c.M * c.u_minus));
        const double scale = c.u_plus.dot(c.M * c.u_plus) + c.u_minus.dot(c.M * c.u_minus) + std::abs(a.obstacle_work);
        EXPECT_NEAR(change, a.work + a.obstacle_work, 1e-12 * scale) << k;
        const WorkParts parts = work_parts(c, Lambda);
        EXPECT_NEAR(a.work, parts.total(), 1e-13 * scale);
        EXPECT_NEAR(a.tangential, parts.tangential, 1e-13 * scale);
        EXPECT_EQ(a.supplies_energy(), a.work > a.noise);
    }
}

TEST(DecidedImpact, WithoutLossIsNoAlarm) {
    // γ⁺ = −γ⁻ in every row, and what a solver leaves of it
    Random random(4);
    for (int k = 0; k < 2000; ++k) {
        FrictionalCollision c;
        c.M = random.mass(4);
        c.directions = random.matrix(4, 3);
        c.laws.assign(3, law_of(LawKind::unilateral));
        c.sizes = {1, 1, 1};
        c.u_minus = 1e3 * random.vector(4);
        const Matrix D = c.directions.transpose() * Cholesky(c.M).solve_columns(c.directions);
        Vector Lambda = -2.0 * Cholesky(D).solve(c.directions.transpose() * c.u_minus);
        Lambda *= 1.0 + 1e-12 * random.normal();
        c.u_plus = c.u_minus + Cholesky(c.M).solve(c.directions * Lambda);
        EXPECT_FALSE(audit(Decided(c, Lambda).impact()).supplies_energy()) << k;
    }
}

TEST(DecidedImpact, NamesTheBlockThatDidMost) {
    FrictionalCollision c = rod(0.5);
    c.u_minus = vector_of({-1, -0.6});
    c.u_plus = vector_of({0.9, 0});
    const DecidedWork a = audit(Decided(c, vector_of({0.9625, -0.3375})).impact());
    EXPECT_TRUE(a.supplies_energy());
    EXPECT_EQ(a.block, 0);
    EXPECT_NEAR(a.work, 17.0 / 320.0, 1e-15);
    EXPECT_NEAR(a.tangential, 0.10125, 1e-15);
    EXPECT_EQ(a.obstacle_work, 0.0);
}

TEST(DecidedImpact, IsNoNumberWhereTheRowsAreNone) {
    FrictionalCollision c = rod(0.5);
    c.u_minus = vector_of({-1, -0.6});
    c.u_plus = vector_of({std::numeric_limits<double>::quiet_NaN(), 0});
    EXPECT_TRUE(audit(Decided(c, vector_of({1.0, 0.0})).impact()).supplies_energy());
}

TEST(DecidedImpact, IsAuditedWithoutAllocation) {
    Random random(5);
    Vector Lambda;
    const FrictionalCollision c = random_frictional(random, 6, std::vector<Law>(10, law_of(LawKind::friction2, 0.3)),
                                                    std::vector<int>(10, 2), false, Lambda);
    const Decided d(c, Lambda);
    const DecidedImpact impact = d.impact();
    const std::size_t before = saltus::test::allocations();
    double sum = 0.0;
    for (int k = 0; k < 100; ++k) sum += audit(impact).work;
    EXPECT_EQ(saltus::test::allocations(), before);
    EXPECT_TRUE(std::isfinite(sum));
}

TEST(Cause, OfTheRodIsTheFrictionWithItsOwnCoefficient) {
    // leine_impact_rod_energy_increase
    FrictionalCollision c = rod(0.5);
    c.names = {"end"};
    c.u_minus = vector_of({-1, -0.6});
    c.u_plus = vector_of({0.9, 0});
    const EnergyFinding f = find_cause(c, vector_of({0.9625, -0.3375}), newton(c, {0.9, 0.0}));
    EXPECT_TRUE(f.proved);
    EXPECT_NEAR(f.created, 17.0 / 320.0, 1e-13);
    EXPECT_EQ(f.block, 0);
    EXPECT_EQ(f.law, "newton, eN = 0.9, eT = 0");
    EXPECT_EQ(f.sentence,
              "end (newton, eN = 0.9, eT = 0) did the most work, 0.053125, by friction; collisions may create energy: "
              "condition 7a fails (0.947368 >= 1/cond(D) = 0.25; coefficients up to 0.142857 would do), and the "
              "quadratic form of the work has the eigenvalue -0.107454");
}

TEST(Cause, IsNoneWhereOtherImpulsesWouldDo) {
    // glocker_mass_ground_lift_A: the ground alone does +3, the lift −3, for the same velocity.
    FrictionalCollision c;
    c.M = matrix_of({{1.5}});
    c.directions = matrix_of({{1, 1}});
    c.chi = vector_of({0, -2});
    c.u_minus = vector_of({0});
    c.u_plus = vector_of({2});
    c.laws.assign(2, law_of(LawKind::unilateral));
    c.sizes = {1, 1};
    c.names = {"ground", "lift"};
    const Vector ground = vector_of({3, 0});
    EXPECT_TRUE(audit(Decided(c, ground).impact()).supplies_energy());
    const EnergyFinding f = find_cause(c, ground, newton(c, {0, 0}));
    EXPECT_TRUE(f.proved);
    EXPECT_EQ(f.created, 0.0);
    EXPECT_EQ(f.sentence, "the impulses of the law do the work 3, others that lead to the same u+ do -3");
}

TEST(Cause, OfHundredsOfContactsNeedsNoCornerPoints) {
    // 300 contacts in 20 directions have more corner points than could ever be listed.
    Random random(6);
    const Index n = 20, contacts = 300;
    FrictionalCollision c;
    c.M = random.mass(n);
    c.directions = random.matrix(n, contacts);
    const Vector side = random.vector(n);
    for (Index i = 0; i < contacts; ++i)
        if (c.directions.col(i).dot(side) < 0.0) c.directions.col(i) *= -1.0;
    c.chi = random.vector(contacts);
    c.u_minus = random.vector(n);
    c.laws.assign(static_cast<std::size_t>(contacts), law_of(LawKind::unilateral));
    c.sizes.assign(static_cast<std::size_t>(contacts), 1);
    const Vector Lambda = random.impulses(contacts);
    c.u_plus = c.u_minus + Cholesky(c.M).solve(c.directions * Lambda);
    const DecidedWork work = audit(Decided(c, Lambda).impact());
    ASSERT_TRUE(work.supplies_energy());
    const EnergyFinding f = find_cause(c, Lambda, newton(c, std::vector<double>(300, 1.0)));
    EXPECT_TRUE(f.proved);
    EXPECT_LE(f.created, work.work);
    FrictionlessCollision plain{c.M, c.directions, c.chi, c.u_minus, c.u_plus, {}, 0, {}};
    const Audit exact = audit(plain, {.remarks = false});
    EXPECT_NEAR(f.created, std::max(0.0, exact.least.work), 1e-7 * work.work);
}

}  // namespace
}  // namespace saltus::impact::decided_test
