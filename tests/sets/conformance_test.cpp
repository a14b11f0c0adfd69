// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "sets/families.hpp"

// Properties of every convex set, tested for all sets, on random and degenerate parameters and points, at scales from
// 1e-150 to 1e150. The support functions are the independent witness: ⟨x − p, p⟩ = σ(x − p) together with p ∈ C says
// that p is the projection, and each σ is checked against samples here and closed forms in values_test.cpp.
namespace saltus::sets::testing::conformance_test {
namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();

template <class Set>
Vector project(const Set& set, const Vector& x) {
    Vector p(x.size(), std::numeric_limits<double>::quiet_NaN());
    set.project(x, p.data());
    return p;
}

double norm(const Vector& x) { return length(x.data(), static_cast<int>(x.size())); }

double dot(const Vector& a, const Vector& b) {
    double sum = 0.0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
    return sum;
}

Vector sum(Vector a, const Vector& b, double factor = 1.0) {
    for (std::size_t i = 0; i < a.size(); ++i) a[i] += factor * b[i];
    return a;
}

Vector difference(const Vector& a, const Vector& b) { return sum(a, b, -1.0); }

std::string show(const Vector& x) {
    std::string text = "(";
    for (const double value : x) {
        char number[40];
        std::snprintf(number, sizeof number, " %.17g", value);
        text += number;
    }
    return text + " )";
}

template <class Set>
class Conformance : public ::testing::Test {
protected:
    static constexpr bool is_cone = ConvexCone<Set>;
    static constexpr int cases = 1500;

    struct Case {
        Sample<Set> sample;
        double scale;  // of parameters and points
        Random& random;

        // Far, near, inside, on the boundary, at the apex.
        Vector point() {
            const int n = sample.set.dimension;
            switch (below(random, 8)) {
                case 0: return Vector(static_cast<std::size_t>(n), 0.0);
                case 1: return member();
                case 2: return project(sample.set, point_anywhere(1.0));
                case 3: return point_anywhere(1e-12);
                case 4: return point_anywhere(1e12);
                case 5: return sum(member(), point_anywhere(1e-9));
                default: return point_anywhere(2.0);
            }
        }
        Vector point_anywhere(double factor) { return times(direction(random, sample.set.dimension), factor * scale); }
        Vector member() { return Family<Set>::member(sample.set, random, scale); }
        double extent(const Vector& x) const { return std::max(norm(x), sample.size); }
    };

    // Rounding of a projection: a few dozen operations on numbers of the given size.
    static double rounding_of(double size) { return 64 * epsilon * size; }

    template <class Body>
    static void for_cases(double scale, Body body) {
        Random random(20240611);
        for (int i = 0; i < cases; ++i) {
            Case one{Family<Set>::make(random, scale), scale, random};
            body(one);
            if (::testing::Test::HasFailure()) {
                ADD_FAILURE() << "case " << i << " at scale " << scale;
                return;
            }
        }
    }

    template <class Body>
    static void at_all_scales(Body body) {
        for (const double scale : {1.0, 1e150, 1e-150}) {
            for_cases(scale, body);
            if (::testing::Test::HasFailure()) return;
        }
    }
};

using Sets =
    ::testing::Types<HalfLine, Segment, Disk, Ellipse, Contensou, Rolling, FrictionCone<2>, FrictionCone<3>,
                     DualFrictionCone<2>, DualFrictionCone<3>, RollingCone<4>, RollingCone<5>, RollingCone<6>,
                     DualRollingCone<4>, DualRollingCone<5>, DualRollingCone<6>, PolyhedralCone, GeneratedCone>;
TYPED_TEST_SUITE(Conformance, Sets);

TYPED_TEST(Conformance, ProjectionLiesInTheSet) {
    this->at_all_scales([](auto& one) {
        const Vector x = one.point(), p = project(one.sample.set, x);
        EXPECT_TRUE(one.sample.set.contains(p, TestFixture::rounding_of(one.extent(x)))) << show(x) << show(p);
    });
}

TYPED_TEST(Conformance, MembersAreContainedAndProjectToThemselves) {
    this->at_all_scales([](auto& one) {
        const Vector y = one.member();
        const double tolerance = TestFixture::rounding_of(std::max(one.extent(y), one.scale));  // y may be a small sum
        EXPECT_TRUE(one.sample.set.contains(y, tolerance)) << show(y);
        EXPECT_LE(norm(difference(project(one.sample.set, y), y)), tolerance) << show(y);
    });
}

TYPED_TEST(Conformance, PointsOffTheSetAreNotContained) {
    this->for_cases(1.0, [](auto& one) {
        const Vector x = one.point(), p = project(one.sample.set, x);
        const double distance = norm(difference(x, p));
        if (distance <= 1e-6 * one.extent(x)) return;
        EXPECT_FALSE(one.sample.set.contains(x, 1e-3 * distance)) << show(x) << show(p);
        EXPECT_TRUE(one.sample.set.contains(x, 1.001 * distance)) << show(x) << show(p);
    });
}

TYPED_TEST(Conformance, ProjectionIsIdempotent) {
    this->at_all_scales([](auto& one) {
        const Vector x = one.point(), p = project(one.sample.set, x);
        EXPECT_LE(norm(difference(project(one.sample.set, p), p)), TestFixture::rounding_of(one.extent(x)))
            << show(x) << show(p);
    });
}

TYPED_TEST(Conformance, ProjectionMayBeInPlace) {
    this->for_cases(1.0, [](auto& one) {
        const Vector x = one.point(), p = project(one.sample.set, x);
        Vector y = x;
        one.sample.set.project(y, y.data());
        EXPECT_EQ(y, p) << show(x);
    });
}

TYPED_TEST(Conformance, ProjectionIsNonexpansive) {
    this->at_all_scales([](auto& one) {
        const Vector x = one.point();
        const Vector y = below(one.random, 2) == 0 ? one.point() : sum(x, one.point_anywhere(1e-7));
        const double apart = norm(difference(project(one.sample.set, x), project(one.sample.set, y)));
        EXPECT_LE(apart, norm(difference(x, y)) + TestFixture::rounding_of(std::max(one.extent(x), one.extent(y))))
            << show(x) << show(y);
    });
}

TYPED_TEST(Conformance, DifferenceMakesNoAcuteAngleWithTheSet) {
    this->at_all_scales([](auto& one) {
        const Vector x = one.point(), p = project(one.sample.set, x), y = one.member();
        // All divided by the sizes, whose product may overflow.
        const double size_x = one.extent(x), size_y = std::max(one.extent(x), norm(y));
        if (size_x == 0.0 || size_y == 0.0) return;
        const Vector off = times(difference(x, p), 1.0 / size_x);
        EXPECT_LE(dot(off, times(difference(y, p), 1.0 / size_y)), 64 * epsilon) << show(x) << show(p) << show(y);
    });
}

TYPED_TEST(Conformance, ProjectionAttainsTheSupportOfItsDifference) {
    this->for_cases(1.0, [](auto& one) {
        const Vector x = one.point(), p = project(one.sample.set, x), d = difference(x, p);
        const double size = one.extent(x), tolerance = 64 * epsilon * size * size;
        if constexpr (TestFixture::is_cone) {
            EXPECT_NEAR(dot(d, p), 0.0, tolerance) << show(x) << show(p);
            const Vector opposite = times(d, -1.0);
            EXPECT_TRUE(one.sample.set.dual().contains(opposite, 64 * epsilon * size)) << show(x) << show(p);
        } else {
            EXPECT_NEAR(dot(d, p), one.sample.set.support(d), tolerance) << show(x) << show(p);
        }
    });
}

TYPED_TEST(Conformance, SupportBoundsTheSamples) {
    this->at_all_scales([](auto& one) {
        const Vector d = direction(one.random, one.sample.set.dimension), y = one.member();
        const double support = one.sample.set.support(d);
        EXPECT_LE(dot(d, y), support + 64 * epsilon * norm(d) * one.extent(y)) << show(d) << show(y);
        const Vector x = one.point(), p = project(one.sample.set, x);
        EXPECT_LE(dot(d, p), support + 64 * epsilon * norm(d) * one.extent(x)) << show(d) << show(p);
    });
}

// With p = P(td) and y a maximiser, ⟨td − p, y − p⟩ <= 0 gives σ(d) − ⟨d, p⟩ <= ⟨p, y − p⟩/t <= 2 size²/t.
TYPED_TEST(Conformance, SupportIsTheLimitOfProjectionsOfFarPoints) {
    this->for_cases(1.0, [](auto& one) {
        const Vector d = direction(one.random, one.sample.set.dimension);
        if (norm(d) == 0.0) return;
        const double t = 0x1p40 * (one.sample.size + 1.0) / norm(d);
        const Vector far = times(d, t), p = project(one.sample.set, far);
        const double support = one.sample.set.support(d);
        if (!TestFixture::is_cone) {
            const double size = one.sample.size;
            EXPECT_NEAR(dot(d, p), support, 2.0 * size * size / t + 64 * epsilon * norm(d) * size)
                << show(d) << show(p);
        } else if (norm(p) > 1e-6 * norm(far)) {
            EXPECT_EQ(support, infinity) << show(d) << show(p);
        } else if (norm(p) == 0.0) {
            EXPECT_EQ(support, 0.0) << show(d) << show(p);
        }
    });
}

TYPED_TEST(Conformance, DifferencesAreExactlyTheNormals) {
    this->at_all_scales([](auto& one) {
        const TypeParam& set = one.sample.set;
        const Vector x = one.point(), p = project(set, x);
        Vector d = difference(x, p);
        for (double& value : d)  // a product looks at the direction of each factor: no direction in mere rounding
            if (std::abs(value) <= TestFixture::rounding_of(one.extent(x))) value = 0.0;
        // The difference is off by rounding of x, d is stretched to the size of p: the ratio magnifies it.
        const double size = one.extent(p), off = norm(d);
        const double stretch = off == 0.0 || size == 0.0 ? 1.0 : std::max(1.0, one.extent(x) / std::min(off, size));
        EXPECT_TRUE(set.in_normal_cone(p, d, 256 * epsilon * stretch)) << show(x) << show(p);
        EXPECT_TRUE(set.in_normal_cone(p, times(d, 1e-3), 256 * epsilon * stretch)) << show(x) << show(p);
        const Vector y = one.member(), back = times(d, -1.0);
        if (off > 0.0 && dot(times(back, 1.0 / off), difference(y, p)) > 1e-6 * std::max(size, norm(y))) {
            EXPECT_FALSE(set.in_normal_cone(p, back, 1e-9)) << show(x) << show(p);
        }
        if (off > 1e-3 * one.extent(x)) {
            EXPECT_FALSE(set.in_normal_cone(x, d, 1e-9)) << show(x) << show(p);
        }
    });
}

TYPED_TEST(Conformance, NormalConeTestAgreesWithItsDefinition) {
    this->for_cases(1.0, [](auto& one) {
        const TypeParam& set = one.sample.set;
        const Vector x = one.member(), d = direction(one.random, set.dimension), y = one.member();
        const double angle = dot(d, difference(y, x));
        const double size = std::max(one.extent(x), one.extent(y));
        if (angle > 1e-6 * norm(d) * size) {
            EXPECT_FALSE(set.in_normal_cone(x, d, 1e-9)) << show(x) << show(d);
        }
        EXPECT_TRUE(set.in_normal_cone(x, Vector(d.size(), 0.0), 256 * epsilon)) << show(x);
    });
}

TYPED_TEST(Conformance, ConesDecomposeAfterMoreau) {
    if constexpr (TestFixture::is_cone) {
        this->at_all_scales([](auto& one) {
            const Vector x = one.point(), p = project(one.sample.set, x);
            const Vector polar = times(project(one.sample.set.dual(), times(x, -1.0)), -1.0);
            EXPECT_LE(norm(difference(sum(p, polar), x)), TestFixture::rounding_of(norm(x))) << show(x) << show(p);
            if (norm(x) == 0.0) return;
            EXPECT_NEAR(dot(times(p, 1.0 / norm(x)), times(polar, 1.0 / norm(x))), 0.0, 64 * epsilon) << show(x);
        });
    }
}

TYPED_TEST(Conformance, ConesAreTheDualsOfTheirDuals) {
    if constexpr (TestFixture::is_cone) {
        this->at_all_scales([](auto& one) {
            const Vector x = one.point();
            EXPECT_EQ(project(one.sample.set.dual().dual(), x), project(one.sample.set, x)) << show(x);
        });
    }
}

TYPED_TEST(Conformance, ProjectionScalesWithPointAndSet) {
    for (const double factor : {0x1p-300, 0x1p7, 0x1p300}) {
        Random here(7), there(7);  // the same draws at two scales
        for (int i = 0; i < TestFixture::cases; ++i) {
            const auto small = Family<TypeParam>::make(here, 1.0), large = Family<TypeParam>::make(there, factor);
            const Vector x = times(direction(here, small.set.dimension), 2.0);
            direction(there, small.set.dimension);
            const Vector p = project(small.set, x), q = project(large.set, times(x, factor));
            const double size = std::max(norm(x), small.size);
            ASSERT_LE(norm(difference(times(q, 1.0 / factor), p)), 64 * epsilon * size)
                << show(x) << show(p) << show(q);
        }
    }
}

TYPED_TEST(Conformance, NaNComesOutAsNaNAndFailsEveryTest) {
    this->for_cases(1.0, [](auto& one) {
        const TypeParam& set = one.sample.set;
        const Vector y = one.point();
        Vector x = y;
        x[static_cast<std::size_t>(below(one.random, set.dimension))] = std::numeric_limits<double>::quiet_NaN();
        const Vector p = project(set, x);
        EXPECT_TRUE(has_nan(p.data(), set.dimension)) << show(x) << show(p);
        EXPECT_FALSE(set.contains(x, 1e300)) << show(x);
        EXPECT_FALSE(set.in_normal_cone(x, y, 1e300)) << show(x);
        EXPECT_FALSE(set.in_normal_cone(y, x, 1e300)) << show(x);
        EXPECT_TRUE(std::isnan(set.support(x))) << show(x);
    });
}

TYPED_TEST(Conformance, InfinitePointsEnd) {
    this->for_cases(1.0, [](auto& one) {
        Vector x = one.point();
        x[static_cast<std::size_t>(below(one.random, one.sample.set.dimension))] =
            below(one.random, 2) ? infinity : -infinity;
        project(one.sample.set, x);
        one.sample.set.contains(x, 1.0);
        one.sample.set.in_normal_cone(x, x, 1.0);
        one.sample.set.support(x);
    });
}

TYPED_TEST(Conformance, SignOfZeroDoesNotMatter) {
    this->for_cases(1.0, [](auto& one) {
        Vector x = one.point(), y = x;
        for (std::size_t i = 0; i < x.size(); ++i)
            if (below(one.random, 2) == 0) x[i] = 0.0, y[i] = -0.0;
        EXPECT_EQ(project(one.sample.set, x), project(one.sample.set, y)) << show(x);
        EXPECT_EQ(one.sample.set.contains(x, 0.0), one.sample.set.contains(y, 0.0)) << show(x);
        EXPECT_EQ(one.sample.set.support(x), one.sample.set.support(y)) << show(x);
    });
}

}  // namespace
}  // namespace saltus::sets::testing::conformance_test
