// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <array>

#include <cmath>
#include <limits>
#include <numbers>

#include "reference/reference.hpp"
#include "sets/families.hpp"

// Closed forms, set by set, and constructions whose answer is known.
namespace saltus::sets::testing::values_test {
namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();
constexpr double pi = std::numbers::pi;

template <class Set>
Vector project(const Set& set, const Vector& x) {
    Vector p(x.size());
    set.project(x, p.data());
    return p;
}

template <class Set>
double support(const Set& set, const Vector& d) {
    return set.support(d);
}

void expect_near(const Vector& a, const Vector& b, double tolerance) {
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], tolerance) << "component " << i;
}

TEST(HalfLines, HaveTheNormalConesOfUnilateralContact) {
    const HalfLine positive{HalfLine::Side::positive}, negative{HalfLine::Side::negative};
    EXPECT_EQ(project(positive, {-3.0}), Vector{0.0});
    EXPECT_EQ(project(positive, {3.0}), Vector{3.0});
    EXPECT_EQ(project(negative, {3.0}), Vector{0.0});
    EXPECT_EQ(support(positive, {-1.0}), 0.0);
    EXPECT_EQ(support(positive, {1e-300}), infinity);
    EXPECT_EQ(support(negative, {1.0}), 0.0);
    // γ_N ∈ N(−λ_N) on ℝ⁻: a contact under load does not move, an unloaded one may open.
    EXPECT_TRUE(negative.in_normal_cone(Vector{0.0}, Vector{2.0}, epsilon));
    EXPECT_FALSE(negative.in_normal_cone(Vector{0.0}, Vector{-2.0}, epsilon));
    EXPECT_FALSE(negative.in_normal_cone(Vector{-1.0}, Vector{2.0}, epsilon));
    EXPECT_FALSE(negative.in_normal_cone(Vector{-1e-30}, Vector{2.0}, epsilon));
    EXPECT_TRUE(negative.in_normal_cone(Vector{-1.0}, Vector{0.0}, epsilon));
}

TEST(Segments, MayBeUnboundedAndMayBeAPoint) {
    EXPECT_EQ(project(Segment(-1.0, 2.0), {5.0}), Vector{2.0});
    EXPECT_EQ(support(Segment(-1.0, 2.0), {-3.0}), 3.0);
    const Segment ray(-infinity, 2.0);
    EXPECT_EQ(project(ray, {-1e300}), Vector{-1e300});
    EXPECT_EQ(support(ray, {-1.0}), infinity);
    EXPECT_EQ(support(ray, {0.0}), 0.0);
    EXPECT_TRUE(ray.in_normal_cone(Vector{2.0}, Vector{1.0}, epsilon));
    EXPECT_EQ(project(Segment(2.0, 2.0), {-7.0}), Vector{2.0});
    EXPECT_TRUE(Segment(2.0, 2.0).in_normal_cone(Vector{2.0}, Vector{-1.0}, epsilon));
}

TEST(Disks, ProjectRadially) {
    expect_near(project(Disk(1.0), {3.0, -4.0}), {0.6, -0.8}, 2 * epsilon);
    EXPECT_EQ(project(Disk(5.0), {3.0, -4.0}), (Vector{3.0, -4.0}));
    EXPECT_EQ(project(Disk(0.0), {3.0, -4.0}), (Vector{0.0, 0.0}));
    expect_near(times(project(Disk(1e-200), {3e200, -4e200}), 1e200), {0.6, -0.8}, 4 * epsilon);
    EXPECT_DOUBLE_EQ(support(Disk(2.0), {3.0, 4.0}), 10.0);
    EXPECT_TRUE(Disk(1.0).in_normal_cone(Vector{0.6, 0.8}, Vector{6e-9, 8e-9}, 8 * epsilon));
    EXPECT_FALSE(Disk(1.0).in_normal_cone(Vector{0.6, 0.8}, Vector{0.8, 0.6}, 1e-3));
    EXPECT_FALSE(Disk(1.0).in_normal_cone(Vector{0.3, 0.4}, Vector{0.3, 0.4}, 1e-3));
}

TEST(Disks, RejectANegativeRadius) { EXPECT_DEATH(Disk(-1.0), "radius"); }

TEST(Ellipses, ReturnTheFootPointOfEveryOutwardNormal) {
    Random random(1);
    for (int i = 0; i < 20000; ++i) {
        const double a = std::exp2(uniform(random, -60, 60)),
                     b = below(random, 4) == 0 ? a : std::exp2(uniform(random, -60, 60));
        const double angle = uniform(random, -pi, pi), t = std::exp2(uniform(random, -60, 60));
        const double c = std::cos(angle), s = std::sin(angle), length_of_normal = length(b * c, a * s);
        const Vector foot{a * c, b * s};
        const Vector x{foot[0] + t * (b * c / length_of_normal), foot[1] + t * (a * s / length_of_normal)};
        const double scale = std::max({a, b, t});
        expect_near(project(Ellipse(a, b), x), foot, 16 * epsilon * scale);
        if (HasFailure()) FAIL() << a << " " << b << " " << angle << " " << t;
    }
}

TEST(Ellipses, AttainTheirSupportAtTheFurthestPoint) {
    for (const double a : {0.3, 2.0, 0.0})
        for (int k = 0; k < 16; ++k) {
            const Ellipse ellipse(a, 0.8);
            const double angle = 0.2 + 0.4 * k;
            const std::array<double, 2> d{3.0 * std::cos(angle), 3.0 * std::sin(angle)};
            std::array<double, 2> y{};
            ellipse.furthest(d.data(), y.data());
            EXPECT_TRUE(ellipse.contains(y, 16 * epsilon));
            EXPECT_NEAR(y[0] * d[0] + y[1] * d[1], ellipse.support(d), 64 * epsilon);
        }
    std::array<double, 2> centre{1.0, 1.0};
    Ellipse(2.0, 0.0).furthest(std::array{0.0, 1.0}.data(), centre.data());
    EXPECT_EQ(centre, (std::array{0.0, 0.0}));
}

TEST(Ellipses, WithoutWidthAreSegments) {
    EXPECT_EQ(project(Ellipse(2.0, 0.0), {1.0, 5.0}), (Vector{1.0, 0.0}));
    EXPECT_EQ(project(Ellipse(0.0, 2.0), {1.0, -5.0}), (Vector{0.0, -2.0}));
    EXPECT_EQ(project(Ellipse(2.0, 1e-170), {1.0, 5.0})[0], 1.0);
    EXPECT_EQ(support(Ellipse(2.0, 0.0), {-3.0, 7.0}), 6.0);
}

TEST(Ellipses, WithEqualAxesAreDisks) {
    Random random(2);
    for (int i = 0; i < 1000; ++i) {
        const Vector x = direction(random, 2);
        expect_near(project(Ellipse(0.7, 0.7), x), project(Disk(0.7), x),
                    8 * epsilon * std::max(1.0, length(x[0], x[1])));
    }
}

// I(k), the mean distance of the unit disk from a point at distance k: integrands periodic in the angle, for which
// the trapezoidal rule converges geometrically away from k = 1.
double mean_distance(double k) {
    const int points = 20000;
    double sum = 0.0;
    for (int i = 0; i < points; ++i) {
        const double t = pi * (i + 0.5) / points, s = std::sin(t), c = std::cos(t);
        if (k <= 1.0) {
            const double delta = std::sqrt(1.0 - k * k * s * s);
            sum += 2.0 * (delta * delta * delta + 3.0 * k * k * c * c * delta);
        } else {  // along the chord at the angle α with k sin α = sin t
            const double cosine = std::sqrt(1.0 - s * s / (k * k));
            sum += (6.0 * k * k * cosine * cosine * c + 2.0 * c * c * c) * c / (k * cosine);
        }
    }
    return sum / (3.0 * points);
}

TEST(ContensouBodies, SupportIsTheMeanSpeedOfThePatch) {
    for (const double k : {0.0, 1e-9, 1e-3, 0.1, 0.3, 0.5, 0.7, 0.71, 0.9, 0.97, 1.03, 1.1, 1.4, 1.5, 2.0, 10.0, 1e3}) {
        const double force = 3.0, radius = 0.25, omega = 1.7;
        const double v = k * omega * radius, expected = force * omega * radius * mean_distance(k);
        EXPECT_NEAR(support(Contensou(force, radius), {0.6 * v, -0.8 * v, omega}) / expected, 1.0, 1e-13) << k;
        EXPECT_NEAR(support(Contensou(force, radius), {-v, 0.0, -omega}) / expected, 1.0, 1e-13) << k;
    }
    EXPECT_NEAR(support(Contensou(1.0, 1.0), {1.0, 0.0, 1.0}), 32.0 / (9.0 * pi), 4 * epsilon);  // centre on the rim
}

struct BoundaryPoint {
    double k, phi, psi;  // ‖v‖/(ωR), force/F, moment/(F R)
};

/// Points from slow sliding to slow drilling. (std::comp_ellint_2 of libstdc++ 12 is off by 1e-13 to 4e-13 near the
/// rim, k = 1, so it cannot give these values.)
std::vector<BoundaryPoint> boundary() {
    std::vector<BoundaryPoint> points;
    for (const auto& row : saltus::test::reference::entry("additional_contensou_boundary")["outputs"]["rows"].items())
        points.push_back({row["k"], row["phi"], row["psi"]});
    return points;
}

TEST(ContensouBodies, SupportHasTheValuesOfTheEllipticIntegralsUpToTheRim) {
    for (const auto& [k, phi, psi] : boundary())
        EXPECT_NEAR(support(Contensou(1.0, 1.0), {k, 0.0, 1.0}) / (k * phi + psi), 1.0, 16 * epsilon) << k;
}

TEST(ContensouBodies, SlideWithTheWholeForceAndDrillWithTwoThirdsOfTheMoment) {
    const Contensou body(3.0, 0.5);
    expect_near(project(body, {0.0, 1e9, 0.0}), {0.0, 3.0, 0.0}, 8 * epsilon);
    expect_near(project(body, {0.0, 0.0, -1e9}), {0.0, 0.0, -1.0}, 8 * epsilon);
    EXPECT_DOUBLE_EQ(body.moment_limit(), 1.0);
    EXPECT_DOUBLE_EQ(support(body, {3.0, 4.0, 0.0}), 15.0);
    EXPECT_DOUBLE_EQ(support(body, {0.0, 0.0, 2.0}), 2.0);
    // A little drilling: ψ = κ/4 with κ = ωR/‖v‖; the corrections are of relative order κ².
    const double ratio = 1e-7;
    const Vector p = project(body, {1e9, 0.0, ratio * 1e9});
    EXPECT_NEAR(p[2] / (3.0 * 0.5 * (ratio * 0.5) / 4.0), 1.0, 1e-8);
    // A little sliding: φ = k with k = ‖v‖/(ωR).
    const Vector q = project(body, {ratio * 1e9, 0.0, 1e9});
    EXPECT_NEAR(q[0] / (3.0 * ratio / 0.5), 1.0, 1e-8);
}

TEST(ContensouBodies, ReturnTheFootPointOfEveryOutwardNormal) {
    Random random(3);
    for (const auto& [k, phi, psi] : boundary()) {
        for (int i = 0; i < 300; ++i) {
            const double radius = std::exp2(uniform(random, -20, 20)), t = std::exp2(uniform(random, -40, 40));
            const double size = length(k * radius, 1.0);
            const Vector x{phi + t * (k * radius / size), 0.0, radius * psi + t / size};
            expect_near(project(Contensou(1.0, radius), x), {phi, 0.0, radius * psi},
                        16 * epsilon * std::max({1.0, radius, t}));
            if (HasFailure()) FAIL() << k << " " << radius << " " << t;
        }
    }
}

// The error of each component stays relative to that component's own limit, where the two differ by 1e100. (Near the
// tips the curve is vertical or flat: there the rounded point does not determine both.)
TEST(ContensouBodies, OfAnExtremeRadiusKeepTheAccuracyOfEachComponent) {
    for (const double radius : {1e-100, 1e-12, 1e12, 1e100}) {
        for (const auto& [k, phi, psi] : boundary()) {
            const double t = 3.0 / std::max(1.0, k * radius * radius);  // along (kR, 1), in units of F R
            const Vector x{phi + t * k * radius * radius, 0.0, radius * (psi + t)};
            const Vector p = project(Contensou(1.0, radius), x);
            EXPECT_LE(p[0], 1.0 + 4 * epsilon) << k << " " << radius;
            EXPECT_LE(p[2] / radius, 2.0 / 3.0 + 4 * epsilon) << k << " " << radius;
            if (k < 0.05 || k > 10.0) continue;
            EXPECT_NEAR(p[0], phi, 64 * epsilon * std::max(1.0, x[0])) << k << " " << radius;
            EXPECT_NEAR(p[2] / radius, psi, 64 * epsilon * (psi + t)) << k << " " << radius;
        }
    }
}

TEST(FrictionCones, ProjectByTheThreeCases) {
    expect_near(project(FrictionCone<2>(1.0), {0.0, 1.0}), {0.5, 0.5}, epsilon);
    expect_near(project(FrictionCone<3>(0.5), {1.0, 3.0, -4.0}), {2.8, 0.84, -1.12}, 4 * epsilon);
    EXPECT_EQ(project(FrictionCone<3>(0.5), {10.0, 3.0, -4.0}), (Vector{10.0, 3.0, -4.0}));
    EXPECT_EQ(project(FrictionCone<3>(0.5), {-2.5, 3.0, -4.0}), (Vector{0.0, 0.0, 0.0}));
    EXPECT_EQ(project(FrictionCone<3>(0.0), {2.0, 3.0, -4.0}), (Vector{2.0, 0.0, 0.0}));
    EXPECT_EQ(project(FrictionCone<3>(0.0), {-2.0, 3.0, -4.0}), (Vector{0.0, 0.0, 0.0}));
    EXPECT_EQ(support(FrictionCone<3>(0.5), {-2.5, 3.0, 4.0}), 0.0);
    EXPECT_EQ(support(FrictionCone<3>(0.5), {-2.4, 3.0, 4.0}), infinity);
}

TEST(FrictionCones, HaveTheDualOfMaximumDissipation) {
    expect_near(project(DualFrictionCone<3>(0.5), {1.0, 3.0, -4.0}), {2.2, 2.64, -3.52}, 8 * epsilon);
    EXPECT_EQ(project(DualFrictionCone<3>(0.0), {-1.0, 3.0, -4.0}), (Vector{0.0, 3.0, -4.0}));
    EXPECT_EQ(project(DualFrictionCone<3>(0.5), {-10.0, 3.0, -4.0}), (Vector{0.0, 0.0, 0.0}));
    EXPECT_TRUE(DualFrictionCone<2>(0.5).contains(Vector{1.0, 2.0}, 0.0));
    EXPECT_FALSE(DualFrictionCone<2>(0.5).contains(Vector{1.0, 2.0001}, 0.0));
    // Sliding: the force on the edge, −v̂ on the edge of the polar cone.
    EXPECT_TRUE(FrictionCone<2>(0.5).in_normal_cone(Vector{2.0, 1.0}, Vector{-0.5, 1.0}, 8 * epsilon));
    EXPECT_FALSE(FrictionCone<2>(0.5).in_normal_cone(Vector{2.0, 1.0}, Vector{-0.5, -1.0}, 1e-3));
}

// The nearest of the projections for each choice of parts that are at their bound.
template <int Size>
void compare_with_enumeration() {
    Random random(Size);
    for (int i = 0; i < 20000; ++i) {
        const auto cone = rolling_cone<RollingCone<Size>>(random);
        const Vector x = times(direction(random, Size), 2.0), p = project(cone, x);
        double tau[3] = {std::hypot(x[1], x[2]), 0.0, 0.0};
        const double mu[3] = {cone.mu, cone.mu_drilling, cone.mu_rolling};
        if (Size == 5) tau[2] = std::hypot(x[3], x[4]);
        if (Size != 5) tau[1] = std::abs(x[3]);
        if (Size == 6) tau[2] = std::hypot(x[4], x[5]);
        double best = length(x.data(), Size);  // the apex
        for (int active = 0; active < 8; ++active) {
            double sum = x[0], weight = 1.0, square = 0.0;
            for (int j = 0; j < 3; ++j)
                if (active & (1 << j)) sum += mu[j] * tau[j], weight += mu[j] * mu[j];
            const double n = sum / weight;
            bool feasible = n >= 0.0;
            for (int j = 0; j < 3; ++j) {
                if (active & (1 << j))
                    square += (tau[j] - mu[j] * n) * (tau[j] - mu[j] * n);
                else
                    feasible = feasible && tau[j] <= mu[j] * n;
            }
            if (feasible) best = std::min(best, std::sqrt(square + (n - x[0]) * (n - x[0])));
        }
        Vector off = x;
        for (std::size_t j = 0; j < off.size(); ++j) off[j] -= p[j];
        ASSERT_NEAR(length(off.data(), Size), best, 16 * epsilon * length(x.data(), Size)) << i;
    }
}

TEST(RollingCones, AreAsNearAsTheBestChoiceOfActiveParts) {
    compare_with_enumeration<4>();
    compare_with_enumeration<5>();
    compare_with_enumeration<6>();
}

TEST(RollingCones, BoundEachPart) {
    const RollingCone<6> cone(1.0, 0.5, 0.25);
    // All bounds reached: n' = (0 + 1·4 + 0.5·4 + 0.25·4)/(1 + 1 + 1/4 + 1/16)
    const double n = 7.0 / 2.3125;
    expect_near(project(cone, {0.0, 4.0, 0.0, -4.0, 0.0, 4.0}), {n, n, 0.0, -0.5 * n, 0.0, 0.25 * n}, 8 * epsilon);
    // Only the drilling moment too large: n' = (4 + 0.5·8)/(1.25)
    expect_near(project(cone, {4.0, 1.0, 2.0, 8.0, 0.5, 0.5}), {6.4, 1.0, 2.0, 3.2, 0.5, 0.5}, 8 * epsilon);
    EXPECT_EQ(project(cone, {-7.0, 4.0, 0.0, -4.0, 0.0, 4.0}), Vector(6, 0.0));
    EXPECT_EQ(project(RollingCone<5>(1.0, 0.0), {2.0, 1.0, 0.0, 3.0, 4.0}), (Vector{2.0, 1.0, 0.0, 0.0, 0.0}));
}

TEST(RollingCones, WithoutMomentsAreFrictionCones) {
    Random random(4);
    for (int i = 0; i < 1000; ++i) {
        const double mu = parameter(random);
        Vector x = direction(random, 3);
        const Vector p = project(FrictionCone<3>(mu), x), d = project(DualFrictionCone<3>(mu), x);
        x.push_back(0.0);
        const double tolerance = 8 * epsilon * length(x.data(), 3);
        expect_near(project(RollingCone<4>(mu, 0.0), x), {p[0], p[1], p[2], 0.0}, tolerance);
        expect_near(project(DualRollingCone<4>(mu, 0.0), x), {d[0], d[1], d[2], 0.0}, tolerance);
    }
}

TEST(Rolling, JudgesTheNormalConeByThePowerOfEachFactor) {
    const Rolling set(1.0, 1e-6, 1e-9);  // newtons and newton metres
    const Vector x{1.0, 0.0, 1e-6, 0.0, 1e-9};
    EXPECT_TRUE(set.in_normal_cone(x, Vector{2.0, 0.0, 3e5, 0.0, 1e8}, 8 * epsilon));
    EXPECT_FALSE(set.in_normal_cone(x, Vector{2.0, 0.0, 3e5, 1e8, 0.0}, 1e-3));
    EXPECT_TRUE(set.in_normal_cone(x, Vector{2.0, 0.0, 3e5, 1e-5, 0.0}, 1e-12));  // 1e-14 of a power of 2
    EXPECT_FALSE(set.in_normal_cone(x, Vector{2.0, 0.0, -3e5, 0.0, 1e8}, 1e-3));
}

TEST(PolyhedralCones, OfTheUnitVectorsAreTheOrthant) {
    Random random(5);
    Vector axes(36, 0.0);
    for (std::size_t i = 0; i < 6; ++i) axes[7 * i] = 1.0 + static_cast<double>(i);
    for (int i = 0; i < 200; ++i) {
        const Vector x = direction(random, 6);
        Vector expected = x;
        for (double& value : expected) value = std::max(value, 0.0);
        const double tolerance = 64 * epsilon * length(x.data(), 6);
        expect_near(project(GeneratedCone(6, axes), x), expected, tolerance);
        expect_near(project(PolyhedralCone(6, axes), x), expected, tolerance);
    }
}

TEST(PolyhedralCones, WithoutVectorsAreEverythingOrTheApex) {
    EXPECT_EQ(project(PolyhedralCone(2, {}), {1.0, -2.0}), (Vector{1.0, -2.0}));
    EXPECT_EQ(project(GeneratedCone(2, {}), {1.0, -2.0}), (Vector{0.0, 0.0}));
    EXPECT_EQ(support(PolyhedralCone(2, {}), {1.0, -2.0}), infinity);
    EXPECT_EQ(support(GeneratedCone(2, {}), {1.0, -2.0}), 0.0);
}

// x − p makes no acute angle with a generator and is orthogonal to p; that p is in the cone, the dual says.
TEST(PolyhedralCones, UpToTheLargestSizeSatisfyTheConditionsOfOptimality) {
    Random random(6);
    for (const int n : {10, 30, 50, max_cone_dimension}) {
        for (const int count : {n / 2, n, max_cone_vectors}) {
            Vector a(static_cast<std::size_t>(n * count));
            for (double& value : a) value = uniform(random, -1.0, 2.0);
            Vector x(static_cast<std::size_t>(n));
            for (double& value : x) value = uniform(random, -1.0, 1.0);
            const GeneratedCone cone(n, a);
            const Vector p = project(cone, x);
            Vector r = x;
            double along = 0.0;
            for (std::size_t i = 0; i < r.size(); ++i) r[i] -= p[i], along += r[i] * p[i];
            const double size = length(x.data(), n), tolerance = 8 * n * epsilon * size;
            EXPECT_NEAR(along, 0.0, tolerance * size);
            EXPECT_TRUE(PolyhedralCone(n, a).contains(times(r, -1.0), tolerance)) << n << " " << count;
            EXPECT_TRUE(cone.contains(p, tolerance)) << n << " " << count;
        }
    }
}

}  // namespace
}  // namespace saltus::sets::testing::values_test
