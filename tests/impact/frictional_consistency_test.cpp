// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "saltus/impact/consistency/frictional_consistency.hpp"

#include <cmath>

#include "frictional_collisions.hpp"
#include "saltus/base/factors.hpp"
#include "saltus/impact/audit/collision_study.hpp"
#include "saltus/impact/consistency/consistency_boundary.hpp"
#include "saltus/impact/work/frictional_work.hpp"

namespace saltus::impact::frictional_consistency_test {
namespace {

using namespace test;
using Status = NearestConsistent::Status;

double distance(const FrictionalCollision& c, const Vector& u) {
    return std::sqrt((u - c.u_plus).dot(c.M * (u - c.u_plus)));
}

Vector after(const FrictionalCollision& c, const Vector& Lambda) {
    Vector impulse = c.directions * Lambda;
    if (c.impulse.size() > 0) impulse += c.impulse;
    return c.u_minus + Cholesky(c.M).solve(impulse);
}

/// Contacts on one side, so that some velocity leaves all of them.
void turn_to_one_side(Random& random, FrictionalCollision& c) {
    const Vector side = random.vector(c.M.rows());
    each_block(c, [&](std::size_t, Index row) {
        if (c.directions.col(row).dot(side) < 0.0) c.directions.col(row) *= -1.0;
    });
}

TEST(NearestByFriction, OfTheRodIsWhereTheWorkIsZero) {
    FrictionalCollision c = rod(0.5);
    c.u_minus = vector_of({-1, -0.6});
    c.u_plus = vector_of({0.9, 0});
    const NearestByFriction n = nearest_consistent(c);
    ASSERT_EQ(n.status, Status::found) << n.why;
    EXPECT_LE(n.work, 1e-12);
    EXPECT_GE(n.work, -1e-12);
    EXPECT_LE((after(c, n.Lambda) - n.u).norm(), 1e-12);
    // Without constraints in reach the nearest point of the ball ½‖u‖² <= ½‖u⁻‖² is on the ray to u⁺.
    const double T_minus = c.u_minus.dot(c.M * c.u_minus), T_plus = c.u_plus.dot(c.M * c.u_plus);
    const Vector on_ray = c.u_plus * std::sqrt(T_minus / T_plus);
    EXPECT_LE((n.u - on_ray).norm(), 1e-12);
    EXPECT_NEAR(n.distance, std::sqrt(T_plus) - std::sqrt(T_minus), 1e-12);
}

TEST(NearestByFriction, WithoutFrictionIsTheExactOne) {
    Random random(11);
    for (int k = 0; k < 200; ++k) {
        Vector Lambda;
        FrictionalCollision c = random_frictional(random, 3, std::vector<Law>(4, law_of(LawKind::friction2, 0.0)),
                                                  std::vector<int>(4, 2), k % 2 == 0, Lambda);
        turn_to_one_side(random, c);
        const NormalPart part = normal_part(c);
        const Allowance allowance{k % 3 == 0 ? 0.1 : 0.0, k % 4 == 0};
        const NearestConsistent exact = nearest_consistent(part.collision, allowance);
        const NearestByFriction n = nearest_consistent(c, allowance);
        ASSERT_EQ(n.status, exact.status) << k;
        if (n.status != Status::found) continue;
        EXPECT_LE((n.u - exact.u).norm(), 1e-12) << k;
        EXPECT_LE((after(c, n.Lambda) - n.u).norm(), 1e-8 * (1.0 + n.u.norm())) << k;
    }
}

TEST(NearestByFriction, OfSpatialContactsIsNoFurtherThanInAnyPolygon) {
    // 48 planar contacts in the place of a spatial one: a cone inside it, and nearly as large.
    Random random(12);
    int compared = 0;
    for (int k = 0; k < 40; ++k) {
        Vector Lambda;
        FrictionalCollision space = random_frictional(random, 5, std::vector<Law>(2, law_of(LawKind::friction3, 0.6)),
                                                      std::vector<int>(2, 3), k % 2 == 0, Lambda);
        turn_to_one_side(random, space);
        if (k % 3 != 0) space.u_plus = 2.0 * random.vector(5);
        FrictionalCollision polygon = space;
        constexpr int count = 48;
        polygon.laws.assign(2 * count, law_of(LawKind::friction2, 0.6));
        polygon.sizes.assign(2 * count, 2);
        polygon.directions.resize(5, 4 * count);
        polygon.chi.resize(4 * count);
        for (Index i = 0; i < 2 * count; ++i) {
            const Index contact = i / count;
            const double angle = std::numbers::pi * static_cast<double>(i % count) / count;
            const auto along = [&](const auto& first, const auto& second) {
                return std::cos(angle) * first + std::sin(angle) * second;
            };
            polygon.directions.col(2 * i) = space.directions.col(3 * contact);
            polygon.directions.col(2 * i + 1) =
                along(space.directions.col(3 * contact + 1), space.directions.col(3 * contact + 2));
            polygon.chi(2 * i) = space.chi(3 * contact);
            polygon.chi(2 * i + 1) = along(space.chi(3 * contact + 1), space.chi(3 * contact + 2));
        }
        const Allowance allowance{0.0, k % 4 == 0};
        const NearestByFriction inside = nearest_consistent(polygon, allowance),
                                n = nearest_consistent(space, allowance);
        if (inside.status != Status::found) continue;
        ASSERT_EQ(n.status, Status::found) << k << ' ' << n.why;
        ++compared;
        EXPECT_LE(n.distance, inside.distance * (1.0 + 1e-8) + 1e-10) << k;
        EXPECT_GE(n.distance, inside.distance - 1e-2 * (1.0 + inside.distance)) << k;
    }
    EXPECT_GT(compared, 25);
}

TEST(NearestByFriction, IsConsistentAndNoOtherIsNearer) {
    Random random(13);
    int found = 0;
    for (int k = 0; k < 150; ++k) {
        Vector Lambda;
        const bool spatial = k % 2 == 0;
        FrictionalCollision c = random_frictional(
            random, 5, std::vector<Law>(3, law_of(spatial ? LawKind::friction3 : LawKind::friction2, 0.6)),
            std::vector<int>(3, spatial ? 3 : 2), false, Lambda);
        c.chi *= k % 3 == 0 ? 1.0 : 0.0;
        turn_to_one_side(random, c);
        c.u_plus = 3.0 * random.vector(5);
        const NearestByFriction n = nearest_consistent(c);
        if (n.status != Status::found || n.least > -1e-2) continue;
        ++found;
        FrictionalCollision there = c;
        there.u_plus = n.u;
        const FrictionalAudit a = audit(there, {.tolerance = 1e-7});
        EXPECT_TRUE(consistent(a.verdict)) << k << ' ' << a.sentence;
        EXPECT_LE(outside_cones(c, n.Lambda), 1e-9) << k;
        EXPECT_LE((after(c, n.Lambda) - n.u).norm(), 1e-9 * (1.0 + n.u.norm())) << k;
        EXPECT_LE(n.work, 1e-10) << k;
        EXPECT_NEAR(n.distance, distance(c, n.u), 1e-9 * (1.0 + n.distance));
        // Consistent velocities are convex: between the nearest and any other one there is none nearer.
        for (int j = 0; j < 20; ++j) {
            FrictionalCollision other = c;
            other.u_plus = n.u + 0.3 * random.vector(5);
            const NearestByFriction m = nearest_consistent(other);
            ASSERT_EQ(m.status, Status::found) << k << ' ' << j << ' ' << m.why;
            EXPECT_GE((m.u - n.u).dot(c.M * (n.u - c.u_plus)), -1e-5 * (1.0 + n.distance * n.distance)) << k;
            if (j >= 2 && k > 10) break;
        }
    }
    EXPECT_GT(found, 80);
}

TEST(NearestByFriction, ThereIsNoneBetweenWallsThatClose) {
    FrictionalCollision c;
    c.M = matrix_of({{1, 0}, {0, 1}});
    c.directions = matrix_of({{1, 0, -1, 0}, {0, 1, 0, 1}});
    c.chi = vector_of({-1, 0, -1, 0});
    c.u_minus = c.u_plus = vector_of({0, 0});
    c.laws.assign(2, law_of(LawKind::friction2, 0.3));
    c.sizes = {2, 2};
    const NearestByFriction n = nearest_consistent(c);
    EXPECT_EQ(n.status, Status::empty);
    EXPECT_FALSE(n.why.empty());
}

TEST(NearestByFriction, AlphaBelowTheLeastWorkLeavesNothing) {
    FrictionalCollision c = rod(0.5);
    c.u_minus = vector_of({-1, -0.6});
    c.u_plus = vector_of({0.9, 0});
    const NearestByFriction n = nearest_consistent(c);
    ASSERT_EQ(n.status, Status::found);
    EXPECT_LT(n.least, -0.1);
    EXPECT_EQ(nearest_consistent(c, {n.least - 1e-3}).status, Status::empty);
    EXPECT_EQ(nearest_consistent(c, {n.least + 1e-3}).status, Status::found);
}

TEST(NearestByFriction, KeepsBilateralConstraints) {
    Random random(14);
    for (int k = 0; k < 60; ++k) {
        Vector Lambda;
        FrictionalCollision c = random_frictional(
            random, 5, {law_of(LawKind::friction2, 0.5), law_of(LawKind::bilateral)}, {2, 2}, false, Lambda);
        // u⁻ fulfils the constraints
        const Matrix B = c.directions.rightCols(2);
        c.u_minus -= least_squares(B.transpose(), B.transpose() * c.u_minus + c.chi.tail(2));
        c.u_plus = random.vector(5);
        const NearestByFriction n = nearest_consistent(c);
        ASSERT_EQ(n.status, Status::found) << n.why;
        EXPECT_LE((B.transpose() * n.u + c.chi.tail(2)).norm(), 1e-10 * (1.0 + n.u.norm())) << k;
        EXPECT_LE((after(c, n.Lambda) - n.u).norm(), 1e-9 * (1.0 + n.u.norm())) << k;
        FrictionalCollision there = c;
        there.u_plus = n.u;
        EXPECT_NEAR(work_parts(there, n.Lambda).total(), n.work, 1e-9 * (1.0 + n.u.squaredNorm())) << k;
    }
}

TEST(FrictionalBoundary, OfTheRodIsTheBallCutByConeAndFloor) {
    // T = T⁻ around b = 0, the only corner point; the cone (1, ±μ) from u⁻; γ_N >= 0.
    FrictionalCollision c = rod(0.5);
    c.u_minus = vector_of({-1, -0.6});
    c.u_plus = vector_of({0.9, 0});
    const ConsistencyBoundary b = consistency_boundary(c);
    ASSERT_EQ(b.status, ConsistencyBoundary::Status::described) << b.why;
    const Balls balls = consistency_balls(c);
    ASSERT_EQ(balls.balls.size(), 1u);
    EXPECT_LE(balls.balls[0].centre.norm(), 1e-14);
    EXPECT_NEAR(balls.balls[0].radius_squared, c.u_minus.dot(c.M * c.u_minus), 1e-14);
    // The area by counting cells of a fine grid.
    const Matrix D = inverse(c.M);
    const int n = 1200;
    int inside = 0;
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) {
            const Vector u = vector_of({-2.0 + 4.0 * (i + 0.5) / n, -2.0 + 4.0 * (j + 0.5) / n});
            const Vector Lambda = c.M * (u - c.u_minus);
            inside += u(0) >= 0.0 && u.dot(c.M * u) <= c.u_minus.dot(c.M * c.u_minus) && Lambda(0) >= 0.0 &&
                      std::abs(Lambda(1)) <= 0.5 * Lambda(0);
        }
    EXPECT_NEAR(b.area, inside * 16.0 / (n * n), 5e-3 * b.area);
}

TEST(FrictionalBoundary, HoldsWhatTheProgramsCallConsistent) {
    Random random(15);
    int described = 0;
    for (int k = 0; k < 60; ++k) {
        Vector Lambda;
        FrictionalCollision c = random_frictional(random, 2, std::vector<Law>(2, law_of(LawKind::friction2, 0.4)),
                                                  std::vector<int>(2, 2), k % 3 == 0, Lambda);
        turn_to_one_side(random, c);
        const ConsistencyBoundary b = consistency_boundary(c);
        if (b.status != ConsistencyBoundary::Status::described || b.dimension != 2) continue;
        ++described;
        for (const BoundaryPiece& piece : b.pieces)
            for (const double s : {0.2, 0.5, 0.8}) {
                // A little to the inside, and as much to the outside.
                const Vector at = piece.at(s);
                Vector middle = Vector::Zero(2);
                for (const BoundaryPiece& other : b.pieces)
                    middle += (other.at(0.25) + other.at(0.75)) / static_cast<double>(2 * b.pieces.size());
                for (const double step : {1e-4, -1e-4}) {
                    c.u_plus = at + step * (middle - at);
                    const bool in = consistent(audit(c).verdict);
                    if (step > 0.0) {
                        EXPECT_TRUE(in) << k << ' ' << audit(c).sentence;
                    } else {
                        EXPECT_FALSE(in) << k;
                    }
                }
            }
    }
    EXPECT_GT(described, 20);
}

}  // namespace
}  // namespace saltus::impact::frictional_consistency_test
