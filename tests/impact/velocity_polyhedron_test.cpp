// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "saltus/impact/consistency/velocity_polyhedron.hpp"

#include "collisions.hpp"

namespace saltus::impact::velocity_polyhedron_test {
namespace {

using namespace test;
using Status = VelocityPolyhedron::Status;

FrictionlessCollision with(const Matrix& M, const Matrix& W, const Vector& chi) {
    FrictionlessCollision c;
    c.M = M;
    c.directions = W;
    c.chi = chi;
    c.u_minus = Vector::Zero(M.rows());
    return c;
}

TEST(VelocityPolyhedron, OfACubeHasItsEightCornersAndNoRays) {
    // −1 <= u_i <= 1
    Matrix W(3, 6);
    W << Matrix::Identity(3, 3), -Matrix::Identity(3, 3);
    const VelocityPolyhedron P = velocity_polyhedron(with(Matrix::Identity(3, 3), W, Vector::Ones(6)));
    ASSERT_EQ(P.status, Status::described) << P.why;
    EXPECT_EQ(P.corner_points.cols(), 8);
    EXPECT_EQ(P.rays.cols(), 0);
    for (Index k = 0; k < P.corner_points.cols(); ++k) {
        EXPECT_LE((P.corner_points.col(k).cwiseAbs() - Vector::Ones(3)).norm(), 1e-14);
        EXPECT_EQ(P.contacts[static_cast<std::size_t>(k)].size(), 3u);
    }
    EXPECT_TRUE(P.redundant.empty());
}

TEST(VelocityPolyhedron, OfAPyramidHasOneCornerWithFourContacts) {
    const Matrix W = matrix_of({{1, -1, 0, 0}, {0, 0, 1, -1}, {1, 1, 1, 1}});
    const VelocityPolyhedron P = velocity_polyhedron(with(Matrix::Identity(3, 3), W, -Vector::Ones(4)));
    ASSERT_EQ(P.status, Status::described);
    ASSERT_EQ(P.corner_points.cols(), 1);
    EXPECT_LE((P.corner_points.col(0) - vector_of({0, 0, 1})).norm(), 1e-14);
    EXPECT_EQ(P.contacts[0].size(), 4u);
    EXPECT_EQ(P.rays.cols(), 4);
    EXPECT_TRUE(P.redundant.empty());
}

TEST(VelocityPolyhedron, FindsTheContactsThatOthersImply) {
    // u >= 0, u >= −1, u >= 0 again, and u + w >= 0 of w >= 0, u >= 0.
    const Matrix W = matrix_of({{1, 1, 2, 0, 1}, {0, 0, 0, 1, 1}});
    const VelocityPolyhedron P = velocity_polyhedron(with(Matrix::Identity(2, 2), W, vector_of({0, 1, 0, 0, 0})));
    EXPECT_EQ(P.redundant, (std::vector<int>{1, 2, 4}));
    EXPECT_EQ(P.corner_points.cols(), 1);
    EXPECT_EQ(P.rays.cols(), 2);
}

TEST(VelocityPolyhedron, CornersAndRaysGenerateItAndNothingElse) {
    // A point of P⁺ is a convex combination of corners plus rays plus lineality; nothing of that leaves P⁺.
    Random random(1);
    for (int k = 0; k < 200; ++k) {
        const Index n = 1 + random.below(5), contacts = 1 + random.below(10);
        Vector ignored;
        const FrictionlessCollision c = random_collision(random, n, contacts, false, ignored);
        const VelocityPolyhedron P = velocity_polyhedron(c);
        ASSERT_EQ(P.status, Status::described);
        Vector point = Vector::Zero(n);
        double weights = 0.0;
        for (Index j = 0; j < P.corner_points.cols(); ++j) {
            const double weight = random.uniform();
            point += weight * P.corner_points.col(j);
            weights += weight;
            EXPECT_GE(relative_velocities(c, P.corner_points.col(j)).minCoeff(),
                      -1e-9 * (1.0 + P.corner_points.norm()));
            EXPECT_GE(static_cast<Index>(P.contacts[static_cast<std::size_t>(j)].size()), n - P.lineality.cols());
        }
        point /= weights;
        for (Index j = 0; j < P.rays.cols(); ++j) {
            point += random.uniform() * P.rays.col(j);
            EXPECT_NEAR(squared_norm(c, P.rays.col(j)), 1.0, 1e-10);
            EXPECT_GE((c.directions.transpose() * P.rays.col(j)).minCoeff(), -1e-9);
        }
        EXPECT_GE(relative_velocities(c, point).minCoeff(), -1e-9 * (1.0 + P.corner_points.norm()));
        EXPECT_EQ(P.lineality.cols(), std::max<Index>(0, n - contacts));
        EXPECT_LE((c.directions.transpose() * P.lineality).norm(), 1e-9);
        EXPECT_LE(
            (P.lineality.transpose() * c.M * P.lineality - Matrix::Identity(P.lineality.cols(), P.lineality.cols()))
                .norm(),
            1e-10);
    }
}

TEST(VelocityPolyhedron, ThatIsEmptyHasImpulsesThatProveIt) {
    const FrictionlessCollision c = with(matrix_of({{2}}), matrix_of({{1, -2}}), vector_of({-1, -1}));
    const VelocityPolyhedron plus = velocity_polyhedron(c), minus = velocity_polyhedron(c, Side::minus);
    ASSERT_EQ(plus.status, Status::empty);
    EXPECT_EQ(plus.why, "no velocity leaves all contacts at once");
    EXPECT_LE((c.directions * plus.closing).norm(), 1e-14);
    EXPECT_GE(plus.closing.minCoeff(), 0.0);
    EXPECT_LT(c.chi.dot(plus.closing), 0.0);
    EXPECT_EQ(minus.status, Status::described);
    EXPECT_EQ(minus.corner_points.cols(), 2);
}

TEST(VelocityPolyhedron, TooLargeIsSaid) {
    Random random(2);
    Vector ignored;
    const VelocityPolyhedron P = velocity_polyhedron(random_collision(random, 6, 100, false, ignored));
    EXPECT_EQ(P.status, Status::too_large);
    EXPECT_EQ(P.why,
              "100 contacts in 6 directions have too many corner points to list; the linear programs give every answer "
              "that needs only one of them");
    EXPECT_EQ(velocity_polyhedron(random_collision(random, 6, 12, false, ignored)).status, Status::described);
}

TEST(TangentCone, AndItsPolarAreOrthogonal) {
    Random random(3);
    for (int k = 0; k < 100; ++k) {
        const Index n = 1 + random.below(4), contacts = 1 + random.below(7);
        Vector ignored;
        const FrictionlessCollision c = random_collision(random, n, contacts, false, ignored);
        const TangentCone T = tangent_cone(c);
        ASSERT_EQ(T.status, Status::described);
        const Matrix products = T.rays.transpose() * c.M * T.polar_generators;
        if (products.size() > 0) {
            EXPECT_LE(products.maxCoeff(), 1e-9);
        }
        EXPECT_LE((T.lineality.transpose() * c.M * T.polar_generators).norm(), 1e-9);
        // Each extreme generator is square to as many rays as make a facet.
        for (Index j = 0; j < T.polar_generators.cols() && n >= 2 && contacts >= n; ++j)
            EXPECT_GE((products.col(j).array().abs() < 1e-8).count(), n - 1);
    }
}

}  // namespace
}  // namespace saltus::impact::velocity_polyhedron_test
