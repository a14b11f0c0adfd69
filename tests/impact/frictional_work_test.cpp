// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "saltus/impact/work/frictional_work.hpp"

#include <limits>

#include "frictional_collisions.hpp"
#include "saltus/base/factors.hpp"
#include "saltus/sets/dual_friction_cone.hpp"
#include "saltus/sets/friction_cone.hpp"
#include "saltus/solvers/program/linear_program.hpp"

namespace saltus::impact::frictional_work_test {
namespace {

using namespace test;
using solvers::Law;
using solvers::LawKind;

constexpr double infinity = std::numeric_limits<double>::infinity();

double energy_scale(const FrictionalCollision& c, const Vector& Lambda) {
    const Vector gamma =
        c.directions.cwiseAbs().transpose() * (c.u_plus.cwiseAbs() + c.u_minus.cwiseAbs()) + c.chi.cwiseAbs();
    return 1.0 + gamma.dot(Lambda.cwiseAbs());
}

void expect_end(const FrictionalCollision& c, const FrictionalEnd& end) {
    if (!std::isfinite(end.work)) return;
    EXPECT_LE(end.gap, 1e-8);
    EXPECT_LE(end.residual, 1e-8) << end.why;
    Vector impulse = c.M * (c.u_plus - c.u_minus);
    if (c.impulse.size() > 0) impulse -= c.impulse;
    const double scale = energy_scale(c, end.Lambda);
    EXPECT_LE((c.directions * end.Lambda - impulse).norm(), 1e-7 * scale);
    EXPECT_NEAR(end.work, end.bound, 1e-7 * scale);
    EXPECT_NEAR(end.parts.total(), end.work, 1e-12 * scale);
    const bool bounded = std::any_of(c.laws.begin(), c.laws.end(), [](const Law& law) { return law.bound > 0.0; });
    if (!bounded) {
        FrictionlessCollision same{c.M, c.directions, c.chi, c.u_minus, c.u_plus, c.impulse, 0, {}};
        EXPECT_NEAR(end.work, ball_work(same, end.b), 1e-7 * scale);
    }
}

// --- given impulses ------------------------------------------------------------------------------------------

TEST(FrictionalWork, NewtonsLawOnTheRodCreatesEnergyTangentially) {
    // leine_impact_rod_energy_increase: e_N = 0.9, e_T = 0, stick, +17/320
    FrictionalCollision c = rod(0.5);
    c.u_minus = vector_of({-1, -0.6});
    c.u_plus = vector_of({0.9, 0});
    const WorkParts parts = work_parts(c, vector_of({0.9625, -0.3375}));
    EXPECT_NEAR(parts.normal, -0.048125, 1e-15);
    EXPECT_NEAR(parts.tangential, 0.10125, 1e-15);
    EXPECT_NEAR(parts.total(), 17.0 / 320.0, 1e-15);
    const FrictionalAudit a = audit(c);
    EXPECT_EQ(a.verdict, Verdict::supplies_energy) << a.sentence;
    EXPECT_NEAR(a.least.work, 17.0 / 320.0, 1e-14);
    EXPECT_NEAR(a.greatest.work, 17.0 / 320.0, 1e-14);
    EXPECT_NEAR(a.energy_change, 17.0 / 320.0, 1e-14);
    EXPECT_LE((a.least.Lambda - vector_of({0.9625, -0.3375})).norm(), 1e-13);
    EXPECT_EQ(a.sentence, "not consistent: the contact work, friction included, is 0.053125, more than 0");
}

TEST(FrictionalWork, WithEqualCoefficientsTheRodLosesEnergy) {
    // leine_impact_rod_equal_e
    FrictionalCollision c = rod(0.5);
    c.u_minus = vector_of({-1, -0.6});
    c.u_plus = vector_of({0.9, 0.54});
    const FrictionalAudit a = audit(c);
    EXPECT_EQ(a.verdict, Verdict::dissipates);
    EXPECT_NEAR(a.least.work, -0.038, 1e-14);
    EXPECT_LE((a.least.Lambda - vector_of({0.76, 0.0})).norm(), 1e-13);
}

TEST(FrictionalWork, OutsideTheFrictionConeIsNotByContacts) {
    FrictionalCollision c = rod(0.3);  // needs |Λ_T|/Λ_N = 0.35
    c.u_minus = vector_of({-1, -0.6});
    c.u_plus = vector_of({0.9, 0});
    const FrictionalAudit a = audit(c);
    EXPECT_EQ(a.verdict, Verdict::not_by_contacts) << a.sentence;
    EXPECT_TRUE(std::isnan(a.least.work));
    // The nearest impulse in the M⁻¹ = D metric: along the edge (1, −0.3).
    const Matrix D = inverse(c.M);
    const Vector needed = vector_of({0.9625, -0.3375}), edge = vector_of({1, -0.3});
    const Vector rest = needed - edge * (edge.dot(D * needed) / edge.dot(D * edge));
    EXPECT_NEAR(a.kinetic.distance, std::sqrt(rest.dot(D * rest)), 1e-12);
}

TEST(FrictionalWork, InternalImpulsesOfAWedgeDoNothing) {
    // W Λ = 0 inside both cones: Λ_N = sin α, Λ_T = ±cos α, as in leine_wedge_internal_impulse.
    const double alpha = 80.0 * std::numbers::pi / 180.0, s = std::sin(alpha), k = std::cos(alpha);
    FrictionalCollision c;
    c.M = Matrix::Identity(2, 2);
    c.directions = matrix_of({{s, k, -s, k}, {k, -s, k, s}});
    c.laws = {law_of(LawKind::friction2, 0.3), law_of(LawKind::friction2, 0.3)};
    c.sizes = {2, 2};
    c.u_minus = c.u_plus = vector_of({0.2, 0.7});
    const Vector internal = vector_of({s, k, s, -k});
    EXPECT_LE((c.directions * internal).norm(), 1e-15);
    EXPECT_NEAR(work_parts(c, internal).total(), 0.0, 1e-15);
    EXPECT_NEAR(work_parts(c, internal).normal + work_parts(c, internal).tangential, 0.0, 1e-15);
    const FrictionalAudit a = audit(c);
    EXPECT_NEAR(a.least.work, 0.0, 1e-14);
    EXPECT_NEAR(a.greatest.work, 0.0, 1e-14);
}

TEST(FrictionalWork, OfAWedgeWhoseSidesSlideApartHasNoLimit) {
    const double alpha = 80.0 * std::numbers::pi / 180.0, s = std::sin(alpha), k = std::cos(alpha);
    FrictionalCollision c;
    c.M = Matrix::Identity(2, 2);
    c.directions = matrix_of({{s, k, -s, k}, {k, -s, k, s}});
    c.laws = {law_of(LawKind::friction2, 0.3), law_of(LawKind::friction2, 0.3)};
    c.sizes = {2, 2};
    c.chi = vector_of({0.1, 0, 0.1, 0});
    c.u_minus = c.u_plus = vector_of({0, 0});
    const FrictionalAudit a = audit(c);
    EXPECT_EQ(a.greatest.work, infinity);
    EXPECT_EQ(a.greatest.why, "the contacts can press against each other so that they do any amount of work");
    EXPECT_NEAR(a.least.work, 0.0, 1e-14);
}

// --- the interval --------------------------------------------------------------------------------------------

TEST(FrictionalWork, WithoutFrictionIsThatOfTheLinearProgram) {
    Random random(1);
    for (int k = 0; k < 200; ++k) {
        const Index n = 1 + random.below(5), contacts = 1 + random.below(7);
        Vector Lambda;
        const FrictionlessCollision f = random_collision(random, n, contacts, k % 2 == 0, Lambda);
        FrictionalCollision c;
        c.M = f.M;
        c.directions = f.directions;
        c.chi = f.chi;
        c.u_minus = f.u_minus;
        c.u_plus = f.u_plus;
        c.impulse = f.impulse;
        c.laws.assign(static_cast<std::size_t>(contacts), law_of(LawKind::unilateral));
        c.sizes.assign(static_cast<std::size_t>(contacts), 1);
        const Audit plain = audit(f);
        const FrictionalAudit a = audit(c);
        const double scale = energy_scale(c, Lambda);
        EXPECT_NEAR(a.least.work, plain.least.work, 1e-8 * scale);
        EXPECT_NEAR(a.greatest.work, plain.greatest.work, 1e-8 * scale);
        EXPECT_EQ(a.verdict, plain.verdict);
    }
}

TEST(FrictionalWork, OfPlanarContactsIsALinearProgramInTheirEdges) {
    Random random(2);
    int bounded = 0;
    for (int k = 0; k < 300; ++k) {
        const Index n = 2 + random.below(4);
        const int contacts = 1 + random.below(4);
        std::vector<Law> laws;
        for (int i = 0; i < contacts; ++i) laws.push_back(law_of(LawKind::friction2, 0.1 + random.uniform()));
        Vector Lambda;
        const FrictionalCollision c =
            random_frictional(random, n, laws, std::vector<int>(laws.size(), 2), k % 2 == 0, Lambda);
        const FrictionalAudit a = audit(c);
        ASSERT_TRUE(a.kinetic.holds) << k << ": " << a.kinetic.distance << " of " << a.kinetic.impulse;
        solvers::LinearProgram p{Matrix(n, 2 * contacts), c.directions * Lambda, Vector(2 * contacts), {}, {}};
        const Vector gamma = c.directions.transpose() * (0.5 * (c.u_plus + c.u_minus)) + c.chi;
        for (int i = 0; i < contacts; ++i)
            for (const int side : {0, 1}) {
                const double t = (side == 0 ? 1.0 : -1.0) * laws[static_cast<std::size_t>(i)].mu;
                p.A.col(2 * i + side) = c.directions.col(2 * i) + t * c.directions.col(2 * i + 1);
                p.c(2 * i + side) = gamma(2 * i) + t * gamma(2 * i + 1);
            }
        const solvers::ProgramSolution least = solve(p);
        p.c = -p.c;
        const solvers::ProgramSolution greatest = solve(p);
        const double scale = energy_scale(c, Lambda);
        if (usable(least.status)) {
            EXPECT_NEAR(a.least.work, least.value, 1e-8 * scale) << k;
            ++bounded;
        } else if (least.status == solvers::ProgramStatus::unbounded) {
            EXPECT_EQ(a.least.work, -infinity) << k;
        }
        if (usable(greatest.status)) {
            EXPECT_NEAR(a.greatest.work, -greatest.value, 1e-8 * scale) << k;
        }
        expect_end(c, a.least);
        expect_end(c, a.greatest);
    }
    EXPECT_GT(bounded, 100);
}

TEST(FrictionalWork, OfSpatialContactsHasAGapBelow1em8) {
    Random random(3);
    int bounded = 0;
    for (int k = 0; k < 300; ++k) {
        const Index n = 3 + random.below(6);
        const int contacts = 1 + random.below(5);
        std::vector<Law> laws;
        for (int i = 0; i < contacts; ++i) {
            laws.push_back(law_of(LawKind::friction3, 0.1 + random.uniform()));
            if (k % 4 == 0) laws.back().mu_second = 0.2 + random.uniform();
        }
        Vector Lambda;
        const FrictionalCollision c =
            random_frictional(random, n, laws, std::vector<int>(laws.size(), 3), k % 3 == 0, Lambda);
        const FrictionalAudit a = audit(c);
        ASSERT_TRUE(a.kinetic.holds) << k << ": " << a.kinetic.distance << " of " << a.kinetic.impulse;
        expect_end(c, a.least);
        expect_end(c, a.greatest);
        const double work = work_parts(c, Lambda).total(), scale = energy_scale(c, Lambda);
        EXPECT_LE(a.least.work, work + 1e-7 * scale) << k;
        EXPECT_GE(a.greatest.work, work - 1e-7 * scale) << k;
        for (const FrictionalEnd* end : {&a.least, &a.greatest}) {
            if (!std::isfinite(end->work)) continue;
            ++bounded;
            const double sign = end == &a.least ? 1.0 : -1.0;
            Vector b = end->b;
            if (c.impulse.size() > 0) b -= 0.5 * Cholesky(c.M).solve(c.impulse);
            const Vector gamma = sign * (c.directions.transpose() * b + c.chi);
            for (int i = 0; i < contacts && k % 4 != 0; ++i) {
                const double mu = laws[static_cast<std::size_t>(i)].mu;
                EXPECT_TRUE(sets::FrictionCone<3>(mu).contains({end->Lambda.data() + 3 * i, 3}, 1e-8 * scale));
                EXPECT_TRUE(sets::DualFrictionCone<3>(mu).contains({gamma.data() + 3 * i, 3},
                                                                   1e-6 * (1.0 + end->b.norm()) * c.directions.norm()));
            }
        }
    }
    EXPECT_GT(bounded, 200);
}

TEST(FrictionalWork, OfRollingDrillingAndSlidingPartsContainsWhatWasGiven) {
    Random random(4);
    for (int k = 0; k < 150; ++k) {
        std::vector<Law> laws;
        std::vector<int> sizes;
        const LawKind kinds[] = {LawKind::drilling4, LawKind::rolling5, LawKind::rolling6, LawKind::unilateral,
                                 LawKind::slider};
        for (int i = 0; i < 2 + random.below(2); ++i) {
            const LawKind kind = kinds[random.below(5)];
            Law law = law_of(kind, 0.2 + random.uniform());
            law.mu_drilling = 0.1 + random.uniform();
            law.mu_rolling = 0.1 + random.uniform();
            law.bound = kind == LawKind::slider && k % 2 == 1 ? random.uniform() : 0.0;
            laws.push_back(law);
            sizes.push_back(kind == LawKind::slider ? 2 : solvers::law_size(kind));
        }
        Vector Lambda;
        const FrictionalCollision c = random_frictional(random, 6, laws, sizes, false, Lambda);
        const FrictionalAudit a = audit(c);
        ASSERT_TRUE(a.kinetic.holds) << k << ": " << a.kinetic.distance << " of " << a.kinetic.impulse;
        const double work = work_parts(c, Lambda).total(), scale = energy_scale(c, Lambda);
        expect_end(c, a.least);
        expect_end(c, a.greatest);
        EXPECT_LE(a.least.work, work + 1e-7 * scale) << k;
        EXPECT_GE(a.greatest.work, work - 1e-7 * scale) << k;
    }
}

TEST(FrictionalWork, ABlockThatSlidesOnFourCornersHasNoInteriorAndASmallGap) {
    // All four corners slide the same way: every admissible Λ is on the edge of its cone, only the normal shares are
    // free.
    FrictionalCollision c;
    const double mu = 0.3;
    c.M = Matrix::Identity(6, 6);
    c.M(3, 3) = c.M(4, 4) = 0.4;
    c.M(5, 5) = 0.7;
    c.directions = Matrix::Zero(6, 12);
    const double x[] = {1, 1, -1, -1}, y[] = {1, -1, 1, -1}, h = -0.5;
    for (int i = 0; i < 4; ++i) {
        const double r[] = {x[i], y[i], h};
        const Eigen::Index column = 3 * i;
        for (int d = 0; d < 3; ++d) {  // normal z, tangents x, y
            const int axis = d == 0 ? 2 : d - 1;
            c.directions(axis, column + d) = 1.0;
            const int j = (axis + 1) % 3, l = (axis + 2) % 3;  // r × e_axis
            c.directions(3 + j, column + d) = r[l];
            c.directions(3 + l, column + d) = -r[j];
        }
    }
    c.chi = Vector::Zero(12);
    c.chi(0) = -0.2;  // one corner of the floor rises
    c.chi(9) = 0.1;
    c.laws.assign(4, law_of(LawKind::friction3, mu));
    c.sizes.assign(4, 3);
    c.u_minus = vector_of({2, 0, -1, 0, 0, 0});
    Vector Lambda = Vector::Zero(12);
    for (int i = 0; i < 4; ++i) {
        Lambda(3 * i) = 0.2 + 0.1 * i;
        Lambda(3 * i + 1) = -mu * Lambda(3 * i);
    }
    c.u_plus = c.u_minus + Cholesky(c.M).solve(c.directions * Lambda);
    const FrictionalAudit a = audit(c);
    ASSERT_TRUE(a.kinetic.holds) << a.kinetic.distance;
    expect_end(c, a.least);
    expect_end(c, a.greatest);
    const double work = work_parts(c, Lambda).total();
    EXPECT_LE(a.least.work, work + 1e-9);
    EXPECT_GE(a.greatest.work, work - 1e-9);
    EXPECT_GT(a.greatest.work - a.least.work, 0.01);
    for (int i = 0; i < 4; ++i) EXPECT_NEAR(a.least.Lambda(3 * i + 1), -mu * a.least.Lambda(3 * i), 1e-7);
}

TEST(FrictionalWork, BilateralRowsTakeUpWhatTheyMust) {
    Random random(5);
    for (int k = 0; k < 150; ++k) {
        const Index n = 4 + random.below(4);
        std::vector<Law> laws{law_of(LawKind::friction3, 0.5), law_of(LawKind::bilateral),
                              law_of(LawKind::friction2, 0.3)};
        Vector Lambda;
        FrictionalCollision c = random_frictional(random, n, laws, {3, 2, 2}, k % 2 == 0, Lambda);
        if (k % 3 == 0) c.chi.segment(3, 2) = -(c.directions.middleCols(3, 2).transpose() * c.u_plus);
        const FrictionalAudit a = audit(c);
        ASSERT_TRUE(a.kinetic.holds) << k << ": " << a.kinetic.distance;
        EXPECT_EQ(a.kinematic.slack(3) > -1e-9, k % 3 == 0);
        const double work = work_parts(c, Lambda).total(), scale = energy_scale(c, Lambda);
        EXPECT_LE(a.least.work, work + 1e-7 * scale);
        EXPECT_GE(a.greatest.work, work - 1e-7 * scale);
        Vector impulse = c.M * (c.u_plus - c.u_minus) - c.directions * a.least.Lambda;
        if (c.impulse.size() > 0) impulse -= c.impulse;
        if (std::isfinite(a.least.work)) {
            EXPECT_LE(impulse.norm(), 1e-7 * scale);
        }
        if (k % 3 == 0) expect_end(c, a.least);
    }
}

TEST(FrictionalWork, LawsThatAreNoConesOfThisKindAreRefused) {
    FrictionalCollision c;
    c.M = Matrix::Identity(4, 4);
    c.directions = Matrix::Identity(4, 4);
    c.u_minus = c.u_plus = Vector::Zero(4);
    c.laws = {law_of(LawKind::contensou4, 0.5)};
    c.sizes = {4};
    EXPECT_EQ(audit(c).verdict, Verdict::invalid);
    EXPECT_EQ(audit(c).sentence, "the patch of contact 1 has no second-order cone");
    c.laws = {law_of(LawKind::bilateral), law_of(LawKind::scaled_slider, 0.5), law_of(LawKind::unilateral)};
    c.sizes = {1, 2, 1};
    EXPECT_EQ(audit(c).sentence, "the friction of contact 2 is bounded by the size of a bilateral reaction");
    c.laws[1].mu = 0.0;
    EXPECT_EQ(audit(c).verdict, Verdict::dissipates);
}

}  // namespace
}  // namespace saltus::impact::frictional_work_test
