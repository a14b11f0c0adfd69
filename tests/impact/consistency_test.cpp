// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "saltus/impact/consistency/consistency.hpp"

#include <limits>
#include <numbers>

#include "collisions.hpp"
#include "saltus/impact/consistency/consistency_mesh.hpp"
#include "saltus/impact/work/work.hpp"

namespace saltus::impact::consistency_test {
namespace {

using namespace test;
using Status = NearestConsistent::Status;
using Outline = ConsistencyBoundary::Status;

/// A collision whose u⁺ may lie anywhere.
FrictionlessCollision anywhere(Random& random, Index n, Index contacts, bool external) {
    Vector ignored;
    FrictionlessCollision c = random_collision(random, n, contacts, external, ignored);
    c.u_plus = 2.0 * random.vector(n);
    return c;
}

bool member(FrictionlessCollision c, const Vector& u, const Allowance& allowance = {}, double tolerance = 1e-8) {
    c.u_plus = u;
    const Audit a = audit(c, {.tolerance = tolerance, .alpha = allowance.alpha, .remarks = false});
    return consistent(allowance.external_work ? a.verdict_with_external_work : a.verdict);
}

TEST(Nearest, IsConsistentAndOptimal) {
    Random random(1);
    int found = 0, empty = 0;
    for (int k = 0; k < 1500; ++k) {
        const Index n = 1 + random.below(6), contacts = 1 + random.below(9);
        const FrictionlessCollision c = anywhere(random, n, contacts, k % 3 == 0);
        const Allowance allowance{k % 5 == 0 ? 0.3 : k % 5 == 1 ? -0.05 : 0.0, k % 6 == 0};
        const NearestConsistent near = nearest_consistent(c, allowance);
        if (near.status == Status::empty) {
            ++empty;
            const LeastWork least = least_contact_work(c, allowance.external_work);
            ASSERT_EQ(least.status, Status::found) << least.why;
            EXPECT_GT(least.work, allowance.alpha - 1e-9);
            continue;
        }
        ASSERT_EQ(near.status, Status::found) << k << ": " << near.why;
        ++found;
        EXPECT_LE(near.optimality, 1e-9) << k;
        EXPECT_LE(near.violation, 1e-10) << k;
        EXPECT_TRUE(member(c, near.u, allowance)) << k;
        EXPECT_NEAR(near.distance, std::sqrt(squared_norm(c, c.u_plus - near.u)), 1e-12 * (1.0 + near.distance));
        // Its own nearest is itself.
        FrictionlessCollision there = c;
        there.u_plus = near.u;
        EXPECT_LE(nearest_consistent(there, allowance).distance, 1e-8);
    }
    EXPECT_GT(found, 1000);
    EXPECT_GT(empty, 30);
}

TEST(Nearest, OfTwoVelocitiesAreNoFurtherApart) {
    Random random(2);
    for (int k = 0; k < 300; ++k) {
        const Index n = 1 + random.below(5), contacts = 1 + random.below(8);
        FrictionlessCollision c = anywhere(random, n, contacts, false);
        const Vector first = c.u_plus, second = 2.0 * random.vector(n);
        const NearestConsistent a = nearest_consistent(c);
        c.u_plus = second;
        const NearestConsistent b = nearest_consistent(c);
        ASSERT_EQ(a.status, Status::found);
        ASSERT_EQ(b.status, Status::found);
        EXPECT_LE(std::sqrt(squared_norm(c, a.u - b.u)), std::sqrt(squared_norm(c, first - second)) + 1e-9);
    }
}

TEST(Nearest, NeedsNoListOfCorners) {
    Random random(3);
    for (int k = 0; k < 3; ++k) {
        Vector ignored;
        FrictionlessCollision c = random_collision(random, 8, 60, false, ignored);
        ASSERT_EQ(velocity_polyhedron(c).status, VelocityPolyhedron::Status::too_large);
        c.u_plus = random.vector(8);
        const NearestConsistent near = nearest_consistent(c);
        ASSERT_EQ(near.status, Status::found) << near.why;
        EXPECT_LE(near.optimality, 1e-9);
        EXPECT_TRUE(member(c, near.u));
    }
}

TEST(Nearest, ThereIsNoneWhereWallsClose) {
    FrictionlessCollision c;
    c.M = matrix_of({{2}});
    c.directions = matrix_of({{1, -1}});
    c.chi = vector_of({-0.5, -0.5});
    c.u_minus = c.u_plus = vector_of({0});
    const NearestConsistent near = nearest_consistent(c);
    EXPECT_EQ(near.status, Status::empty);
    EXPECT_EQ(near.why, "P+ is empty: no velocity leaves all contacts");
    EXPECT_EQ(least_contact_work(c).status, Status::empty);
    EXPECT_EQ(consistency_boundary(c).status, Outline::empty);
}

TEST(Nearest, OfASetOfOnePointIsThatPoint) {
    // Between two walls that move together.
    FrictionlessCollision c;
    c.M = matrix_of({{2}});
    c.directions = matrix_of({{1, -1}});
    c.chi = vector_of({-0.5, 0.5});
    c.u_minus = vector_of({0});
    c.u_plus = vector_of({3});
    const NearestConsistent near = nearest_consistent(c);
    ASSERT_EQ(near.status, Status::found) << near.why;
    EXPECT_NEAR(near.u(0), 0.5, 1e-14);
    const ConsistencyBoundary b = consistency_boundary(c);
    EXPECT_EQ(b.status, Outline::described);
    EXPECT_EQ(b.dimension, 0);
    ASSERT_EQ(b.vertices.size(), 1u);
    EXPECT_NEAR(b.vertices[0](0), 0.5, 1e-14);
}

TEST(LeastWork, IsThatOfNoCompatibleVelocityBelow) {
    Random random(4);
    for (int k = 0; k < 300; ++k) {
        const Index n = 1 + random.below(4), contacts = 1 + random.below(7);
        FrictionlessCollision c = anywhere(random, n, contacts, k % 2 == 0);
        const LeastWork least = least_contact_work(c);
        ASSERT_EQ(least.status, Status::found) << least.why;
        c.u_plus = least.u;
        const Audit a = audit(c, {.tolerance = 1e-8});
        EXPECT_TRUE(a.kinematic.holds);
        EXPECT_TRUE(a.kinetic.holds);
        EXPECT_NEAR(a.least.work, least.work, 1e-8 * (1.0 + std::abs(least.work)));
        for (int sample = 0; sample < 20; ++sample) {
            c.u_plus = after(c, 2.0 * random.impulses(contacts));
            if (relative_velocities(c, c.u_plus).minCoeff() < 0.0) continue;
            EXPECT_GE(audit(c, {.remarks = false}).least.work, least.work - 1e-8 * (1.0 + std::abs(least.work)));
        }
    }
}

TEST(LeastWork, WithoutAnOutsideImpulseIsNeverPositive) {
    // Moreau's inelastic collision is always consistent.
    Random random(5);
    for (int k = 0; k < 200; ++k) {
        const FrictionlessCollision c = anywhere(random, 1 + random.below(5), 1 + random.below(8), false);
        EXPECT_LE(least_contact_work(c).work, 1e-10);
    }
}

// --- two velocities ------------------------------------------------------------------------------------------

TEST(Boundary, OfTwoSquareContactsIsAQuarterOfADisk) {
    FrictionlessCollision c;
    c.M = Matrix::Identity(2, 2);
    c.directions = Matrix::Identity(2, 2);
    c.u_minus = vector_of({-0.6, -0.8});
    const ConsistencyBoundary b = consistency_boundary(c);
    ASSERT_EQ(b.status, Outline::described);
    EXPECT_NEAR(b.area, std::numbers::pi / 4.0, 1e-14);
    ASSERT_EQ(b.pieces.size(), 3u);
    EXPECT_EQ(b.vertices.size(), 3u);
    // In other units of both velocities.
    c.M = matrix_of({{4, 0}, {0, 0.25}});
    c.u_minus = vector_of({-0.3, -1.6});
    EXPECT_NEAR(consistency_boundary(c).area, std::numbers::pi / 4.0, 1e-14);
}

TEST(Boundary, PiecesCloseAndEveryPointIsOnTheEdgeOfItsCondition) {
    Random random(6);
    int arcs = 0, edges = 0, contacts_met = 0;
    for (int k = 0; k < 500; ++k) {
        const FrictionlessCollision c = anywhere(random, 2, 1 + random.below(7), k % 3 == 0);
        const Allowance allowance{k % 4 == 0 ? 0.2 : 0.0, k % 5 == 0};
        const ConsistencyBoundary b = consistency_boundary(c, allowance);
        if (b.status == Outline::empty) {
            EXPECT_EQ(nearest_consistent(c, allowance).status, Status::empty);
            continue;
        }
        ASSERT_EQ(b.status, Outline::described) << b.why;
        if (b.dimension < 2) continue;
        double size = 1.0;
        for (const Vector& v : b.vertices) size = std::max(size, v.norm());
        double polygon = 0.0;
        const auto cross = [](const Vector& x, const Vector& y) { return x(0) * y(1) - x(1) * y(0); };
        const Vector o = b.vertices[0];
        for (std::size_t i = 0; i < b.pieces.size(); ++i) {
            const BoundaryPiece& piece = b.pieces[i];
            EXPECT_LE((piece.to - b.pieces[(i + 1) % b.pieces.size()].from).norm(), 1e-7 * size) << k;
            (piece.arc ? arcs : piece.bound == Bound::impulse ? edges : contacts_met) += 1;
            constexpr int steps = 400;
            for (int s = 0; s < steps; ++s)
                polygon += 0.5 * cross(piece.at(s / double{steps}) - o, piece.at((s + 1) / double{steps}) - o);
            FrictionlessCollision there = c;
            there.u_plus = piece.at(0.37);
            const Audit a = audit(there, {.tolerance = 1e-7});
            ASSERT_TRUE(a.kinetic.holds && a.kinematic.holds) << k;
            EXPECT_TRUE(member(c, there.u_plus, allowance, 1e-7));
            const double scale = size * size * c.M.norm();
            switch (piece.bound) {
                case Bound::ball:
                    EXPECT_NEAR(a.least.work, allowance.alpha + (allowance.external_work ? a.external_work : 0.0),
                                1e-7 * scale);
                    break;
                case Bound::contact: EXPECT_NEAR(a.gamma_plus(piece.index), 0.0, 1e-7 * size); break;
                case Bound::impulse:
                    for (Index i2 = 0; i2 < a.least.Lambda.size(); ++i2)
                        if (i2 != piece.index) {
                            EXPECT_NEAR(a.least.Lambda(i2), 0.0, 1e-6 * scale);
                        }
            }
        }
        EXPECT_NEAR(b.area, polygon, 1e-4 * (b.area + size * size * 1e-3)) << k;
        EXPECT_GE(b.area, polygon - 1e-9 * size * size);  // chords lie inside
    }
    EXPECT_GT(arcs, 200);
    EXPECT_GT(edges, 50);
    EXPECT_GT(contacts_met, 100);
}

TEST(Boundary, ContainsTheNearestPointOfEveryVelocityOutside) {
    Random random(7);
    for (int k = 0; k < 100; ++k) {
        const FrictionlessCollision c = anywhere(random, 2, 1 + random.below(6), false);
        const NearestConsistent near = nearest_consistent(c);
        const ConsistencyBoundary b = consistency_boundary(c);
        if (near.distance < 1e-6 || b.dimension < 2) continue;
        double least = std::numeric_limits<double>::infinity();
        for (const BoundaryPiece& piece : b.pieces)
            for (int s = 0; s <= 2000; ++s)
                least = std::min(least, std::sqrt(squared_norm(c, c.u_plus - piece.at(s / 2000.0))));
        EXPECT_GE(least, near.distance - 1e-9);
        EXPECT_LE(least, near.distance * (1.0 + 1e-4) + 1e-4);
    }
}

TEST(Boundary, OfOneContactIsASegment) {
    FrictionlessCollision c;
    c.M = Matrix::Identity(2, 2);
    c.directions = matrix_of({{1}, {0}});
    c.u_minus = vector_of({-1, 0.5});
    const ConsistencyBoundary b = consistency_boundary(c);
    ASSERT_EQ(b.status, Outline::described);
    EXPECT_EQ(b.dimension, 1);
    EXPECT_EQ(b.area, 0.0);
    ASSERT_EQ(b.vertices.size(), 2u);
    EXPECT_LE((b.vertices[0] - vector_of({0, 0.5})).norm() + (b.vertices[1] - vector_of({1, 0.5})).norm(), 1e-14);
}

TEST(Boundary, OfABodyAtRestIsAPoint) {
    FrictionlessCollision c;
    c.M = Matrix::Identity(2, 2);
    c.directions = Matrix::Identity(2, 2);
    c.u_minus = vector_of({0, 0});
    const ConsistencyBoundary b = consistency_boundary(c);
    ASSERT_EQ(b.status, Outline::described) << b.why;
    EXPECT_EQ(b.dimension, 0);
    ASSERT_EQ(b.vertices.size(), 1u);
    EXPECT_LE(b.vertices[0].norm(), 1e-14);
}

TEST(Boundary, OfMoreDirectionsIsRefused) {
    FrictionlessCollision c;
    c.M = c.directions = Matrix::Identity(3, 3);
    c.u_minus = -Vector::Ones(3);
    EXPECT_EQ(consistency_boundary(c).status, Outline::other_dimension);
    EXPECT_EQ(consistency_boundary(c).why, "the contacts act in 3 directions, not in two");
    c.directions = matrix_of({{1, 0}, {0, 1}, {0, 0}});  // a plane in three velocities has one
    EXPECT_EQ(consistency_boundary(c).status, Outline::described);
    EXPECT_EQ(consistency_mesh(c).status, Outline::other_dimension);
}

// --- three velocities ----------------------------------------------------------------------------------------

TEST(Mesh, OfThreeSquareContactsIsAnEighthOfABall) {
    FrictionlessCollision c;
    c.M = matrix_of({{4, 0, 0}, {0, 1, 0}, {0, 0, 0.25}});
    c.directions = Matrix::Identity(3, 3);
    c.u_minus = vector_of({-0.3, -0.4, -2.4});  // ‖u⁻‖_M = √(0.36 + 0.16 + 1.44) = 1.4
    const double exact = 4.0 / 3.0 * std::numbers::pi * std::pow(1.4, 3) / 8.0;
    double before = 1.0;
    for (const int subdivisions : {2, 3, 4, 5}) {
        const ConsistencyMesh mesh = consistency_mesh(c, {}, subdivisions);
        ASSERT_EQ(mesh.status, Outline::described) << mesh.why;
        const double error = exact - mesh.volume;
        EXPECT_GT(error, 0.0);  // triangles between points of a convex surface lie inside
        EXPECT_LT(error, 0.5 * before);
        before = error;
    }
    EXPECT_LT(before, 2e-3 * exact);
}

TEST(Mesh, VolumeLiesBetweenItsBounds) {
    FrictionlessCollision c;
    c.M = matrix_of({{4, 0, 0}, {0, 1, 0}, {0, 0, 0.25}});  // det M = 1: volumes are those of the Euclidean ball
    c.directions = Matrix::Identity(3, 3);
    c.u_minus = vector_of({-0.3, -0.4, -2.4});
    const double exact = 4.0 / 3.0 * std::numbers::pi * std::pow(1.4, 3) / 8.0;
    for (const int subdivisions : {0, 3}) {  // the bounds do not depend on the mesh that is drawn
        const ConsistencyMesh mesh = consistency_mesh(c, {}, subdivisions);
        EXPECT_LE(mesh.least_volume, exact);
        EXPECT_GE(mesh.greatest_volume, exact);
        EXPECT_LE(mesh.greatest_volume - mesh.least_volume, 1e-3 * exact);
    }
}

TEST(Mesh, VolumesOfCubesAreExactUpToRounding) {
    // A large allowed work: the balls do not matter, and the set would be the whole octant; bilateral-free contacts on
    // both sides of each axis make it a cube with the edges 2, 3, 5.
    FrictionlessCollision c;
    c.M = Matrix::Identity(3, 3);
    c.directions = matrix_of({{1, 0, 0, -1, 0, 0}, {0, 1, 0, 0, -1, 0}, {0, 0, 1, 0, 0, -1}});
    c.chi = vector_of({0, 0, 0, 2, 3, 5});
    c.u_minus = vector_of({-0.5, -0.5, -0.5});
    const ConsistencyMesh mesh = consistency_mesh(c, {.alpha = 1e4}, 2);
    ASSERT_EQ(mesh.status, Outline::described) << mesh.why;
    EXPECT_LE(mesh.least_volume, 30.0 * (1 + 1e-12));
    EXPECT_GE(mesh.greatest_volume, 30.0 * (1 - 1e-12));
    EXPECT_LE(mesh.greatest_volume - mesh.least_volume, 1e-3 * 30.0);
}

TEST(Mesh, PointsLieOnTheBoundaryAndTrianglesFaceOutwards) {
    Random random(8);
    for (int k = 0; k < 30; ++k) {
        const FrictionlessCollision c = anywhere(random, 3, 3 + random.below(5), k % 2 == 0);
        const ConsistencyMesh mesh = consistency_mesh(c, {}, 2);
        if (mesh.status != Outline::described) continue;
        EXPECT_TRUE(member(c, mesh.inside));
        for (std::size_t i = 0; i < mesh.points.size(); i += 7) {
            EXPECT_TRUE(member(c, mesh.points[i], {}, 1e-7));
            EXPECT_FALSE(member(c, mesh.points[i] + 1e-3 * (mesh.points[i] - mesh.inside)));
        }
        double volume = 0.0;
        for (const auto& [i, j, l] : mesh.triangles) {
            Matrix edges(3, 3);
            edges << mesh.points[static_cast<std::size_t>(i)] - mesh.inside,
                mesh.points[static_cast<std::size_t>(j)] - mesh.inside,
                mesh.points[static_cast<std::size_t>(l)] - mesh.inside;
            const double part = edges.col(0)(0) * (edges(1, 1) * edges(2, 2) - edges(2, 1) * edges(1, 2)) -
                                edges(1, 0) * (edges(0, 1) * edges(2, 2) - edges(2, 1) * edges(0, 2)) +
                                edges(2, 0) * (edges(0, 1) * edges(1, 2) - edges(1, 1) * edges(0, 2));
            EXPECT_GE(part, -1e-12);
            volume += part / 6.0;
        }
        EXPECT_NEAR(volume, mesh.volume, 1e-9 * mesh.volume);
    }
}

}  // namespace
}  // namespace saltus::impact::consistency_test
