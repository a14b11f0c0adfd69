// SPDX-License-Identifier: Apache-2.0
#include "saltus/stability/equilibria/equilibrium_friction.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace saltus::stability::equilibrium_friction_test {
namespace {

using Shape = FrictionBody::Shape;

FrictionBody body_of(Shape shape, double mu, double second, double radius) {
    FrictionBody b;
    b.shape = shape;
    b.dimension = shape == Shape::segment ? 1 : shape == Shape::patch ? 3 : shape == Shape::rolling ? 5 : 2;
    b.mu = mu;
    b.mu_second = shape == Shape::ellipse ? second : mu;
    b.radius = radius;
    b.drilling = shape == Shape::rolling ? 0.3 * mu : 0.0;
    b.rolling = shape == Shape::rolling ? 0.1 * mu : 0.0;
    return b;
}

double number() { return 1e-3 * *rc::gen::inRange(-1000, 1001); }

// The furthest point lies in the body, takes what the support function says, and no other point of it takes more.
RC_GTEST_PROP(FrictionBody, TakesMostAtItsFurthestPoint, ()) {
    const Shape shape = *rc::gen::element(Shape::segment, Shape::disk, Shape::ellipse, Shape::patch, Shape::rolling);
    const FrictionBody body = body_of(shape, 0.4, 0.9, 0.2);
    const auto n = static_cast<std::size_t>(body.dimension);
    std::vector<double> d(n), other(n);
    for (double& x : d) x = number();
    for (double& x : other) x = number();
    const Vector y = body.furthest(d);
    const auto value = [&](const Vector& p) { return p.dot(Eigen::Map<const Vector>(d.data(), body.dimension)); };
    RC_ASSERT(std::abs(value(y) - body.support(d)) <= 1e-12);
    RC_ASSERT(body.contains({y.data(), n}, 1.0, 1e-9));
    const Vector far = 2.0 * y;
    RC_ASSERT(!body.contains({far.data(), n}, 1.0, 1e-9));
    RC_ASSERT(body.contains({far.data(), n}, 2.0, 1e-9));
    RC_ASSERT(value(body.furthest(other)) <= body.support(d) + 1e-12);
    for (const Vector& corner : body.corners()) RC_ASSERT(value(corner) <= body.support(d) + 1e-12);
}

TEST(FrictionBody, WithoutFrictionContainsOnlyTheForceZero) {
    const FrictionBody body;
    const std::vector<double> none, some{1e-3};
    EXPECT_TRUE(body.contains(none, 1.0, 0.0));
    EXPECT_FALSE(body.contains(some, 1.0, 1e-9));
    EXPECT_TRUE(body.corners().empty());
}

}  // namespace
}  // namespace saltus::stability::equilibrium_friction_test
