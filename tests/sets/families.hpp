// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>
#include <random>
#include <vector>

#include "saltus/sets/contensou.hpp"
#include "saltus/sets/detail/half_line.hpp"
#include "saltus/sets/detail/polyhedral_cone.hpp"
#include "saltus/sets/disk.hpp"
#include "saltus/sets/ellipse.hpp"
#include "saltus/sets/friction_cone.hpp"
#include "saltus/sets/rolling.hpp"
#include "saltus/sets/rolling_cone.hpp"
#include "saltus/sets/segment.hpp"

// What the conformance suite needs for each set: random and degenerate parameters at a given scale, a size, and points
// of the set that are constructed from its definition, not by projection.
namespace saltus::sets::testing {

using Vector = std::vector<double>;
using Random = std::mt19937_64;

inline double uniform(Random& random, double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
}
inline int below(Random& random, int n) { return std::uniform_int_distribution<int>(0, n - 1)(random); }

/// A random parameter: 0, 1, a number below 2, or a power of two between 2^-40 and 2^20.
inline double parameter(Random& random) {
    switch (below(random, 6)) {
        case 0: return 0.0;
        case 1: return 1.0;
        case 2: return std::exp2(uniform(random, -40.0, 20.0));
        default: return uniform(random, 0.0, 2.0);
    }
}

/// A random direction, often along or near an axis, with zeros of both signs.
inline Vector direction(Random& random, int n) {
    std::normal_distribution<double> normal;
    Vector d(static_cast<std::size_t>(n));
    for (double& value : d) value = normal(random);
    const int kind = below(random, 8);
    for (double& value : d) {
        if (kind < 2 && below(random, 2) == 0) value *= below(random, 2) == 0 ? 0.0 : 1e-9;
        if (kind == 2) value *= std::exp2(uniform(random, -60.0, 0.0));
    }
    return d;
}

inline Vector times(Vector x, double factor) {
    for (double& value : x) value *= factor;
    return x;
}

/// A set, what it points into, and its extent (0: a cone).
template <class Set>
struct Sample {
    Set set;
    double size = 0.0;
    std::shared_ptr<Vector> storage = nullptr;
};

template <class Set>
struct Family;

template <>
struct Family<HalfLine> {
    static Sample<HalfLine> make(Random& random, double) {
        return {HalfLine{below(random, 2) == 0 ? HalfLine::Side::negative : HalfLine::Side::positive}};
    }
    static Vector member(const HalfLine& set, Random& random, double scale) {
        const double value = scale * parameter(random);
        return {set.side == HalfLine::Side::positive ? value : -value};
    }
};

template <>
struct Family<Segment> {
    static Sample<Segment> make(Random& random, double scale) {
        const double a = scale * (parameter(random) - 1.0), b = a + scale * parameter(random);
        return {Segment(a, b), std::max(std::abs(a), std::abs(b))};
    }
    static Vector member(const Segment& set, Random& random, double) {
        switch (below(random, 3)) {
            case 0: return {set.lo};
            case 1: return {set.hi};
            default:
                return {std::clamp(uniform(random, set.lo, std::max(set.hi, std::nextafter(set.lo, infinity))), set.lo,
                                   set.hi)};
        }
    }
};

inline Vector in_disk(double radius, Random& random) {
    const double angle = uniform(random, -4.0, 4.0),
                 r = below(random, 2) == 0 ? radius : radius * uniform(random, 0, 1);
    return {r * std::cos(angle), r * std::sin(angle)};
}

template <>
struct Family<Disk> {
    static Sample<Disk> make(Random& random, double scale) {
        const double radius = scale * parameter(random);
        return {Disk(radius), radius};
    }
    static Vector member(const Disk& set, Random& random, double) { return in_disk(set.radius, random); }
};

template <>
struct Family<Ellipse> {
    static Sample<Ellipse> make(Random& random, double scale) {
        const double a = scale * parameter(random), b = scale * parameter(random);
        return {Ellipse(a, b), std::max(a, b)};
    }
    static Vector member(const Ellipse& set, Random& random, double) {
        const Vector u = in_disk(1.0, random);
        return {set.a * u[0], set.b * u[1]};
    }
};

template <>
struct Family<Contensou> {
    static Sample<Contensou> make(Random& random, double scale) {
        const Contensou set(scale * parameter(random), parameter(random));
        return {set, std::max(set.force, set.moment_limit())};
    }
    /// What a patch of finitely many points transmits that slides and drills: the mean of the unit vectors, and of r ×
    /// them. The points are the centroids of equal cells of the disk, so by Jensen's inequality it is in the body.
    static Vector member(const Contensou& set, Random& random, double) {
        constexpr int rings = 8, sectors = 16;
        const double turn = uniform(random, -2.0, 2.0), vx = uniform(random, -1, 1), vy = uniform(random, -1, 1);
        const double half = std::numbers::pi / sectors;
        Vector sum(3, 0.0);
        for (int i = 0; i < rings; ++i) {
            const double inner = std::sqrt(i / 8.0), outer = std::sqrt((i + 1) / 8.0);
            const double mean = 2.0 / 3.0 * (outer * outer * outer - inner * inner * inner) * rings;
            const double r = mean * std::sin(half) / half;
            for (int j = 0; j < sectors; ++j) {
                const double x = r * std::cos(2.0 * half * j), y = r * std::sin(2.0 * half * j);
                const double ux = vx - turn * y, uy = vy + turn * x, speed = std::hypot(ux, uy);
                sum[0] += ux / speed;
                sum[1] += uy / speed;
                sum[2] += (x * uy - y * ux) / speed * set.radius;
            }
        }
        return times(sum, set.force / (rings * sectors));
    }
};

template <>
struct Family<Rolling> {
    static Sample<Rolling> make(Random& random, double scale) {
        const double a = scale * parameter(random), b = scale * parameter(random), c = scale * parameter(random);
        return {Rolling(a, b, c), std::max({a, b, c})};
    }
    static Vector member(const Rolling& set, Random& random, double) {
        const Vector t = in_disk(set.sliding.radius, random), m = in_disk(set.rolling.radius, random);
        return {t[0], t[1], set.drilling.hi * uniform(random, -1, 1), m[0], m[1]};
    }
};

template <int Size>
struct Family<FrictionCone<Size>> {
    static Sample<FrictionCone<Size>> make(Random& random, double) { return {FrictionCone<Size>(parameter(random))}; }
    static Vector member(const FrictionCone<Size>& set, Random& random, double scale) {
        const double n = scale * parameter(random);
        const Vector t = in_disk(set.mu * n, random);
        return Size == 3 ? Vector{n, t[0], t[1]} : Vector{n, t[0]};
    }
};

template <int Size>
struct Family<DualFrictionCone<Size>> {
    static Sample<DualFrictionCone<Size>> make(Random& random, double) {
        return {DualFrictionCone<Size>(parameter(random))};
    }
    static Vector member(const DualFrictionCone<Size>& set, Random& random, double scale) {
        const Vector t = in_disk(scale, random);
        const double n = set.mu * std::hypot(t[0], t[1]) + (below(random, 2) == 0 ? 0.0 : scale * parameter(random));
        return Size == 3 ? Vector{n, t[0], t[1]} : Vector{n, t[0]};
    }
};

template <class Cone>
Cone rolling_cone(Random& random) {
    if constexpr (Cone::dimension == 6)
        return Cone(parameter(random), parameter(random), parameter(random));
    else
        return Cone(parameter(random), parameter(random));
}

template <int Size>
Vector join(double n, const Vector& t, double d, const Vector& m) {
    if (Size == 4) return {n, t[0], t[1], d};
    if (Size == 5) return {n, t[0], t[1], m[0], m[1]};
    return {n, t[0], t[1], d, m[0], m[1]};
}

template <int Size>
struct Family<RollingCone<Size>> {
    static Sample<RollingCone<Size>> make(Random& random, double) { return {rolling_cone<RollingCone<Size>>(random)}; }
    static Vector member(const RollingCone<Size>& set, Random& random, double scale) {
        const double n = scale * parameter(random);
        return join<Size>(n, in_disk(set.mu * n, random), set.mu_drilling * n * uniform(random, -1, 1),
                          in_disk(set.mu_rolling * n, random));
    }
};

template <int Size>
struct Family<DualRollingCone<Size>> {
    static Sample<DualRollingCone<Size>> make(Random& random, double) {
        return {rolling_cone<DualRollingCone<Size>>(random)};
    }
    static Vector member(const DualRollingCone<Size>& set, Random& random, double scale) {
        const Vector t = in_disk(scale, random), m = in_disk(scale, random);
        const double d = scale * uniform(random, -1, 1);
        double n = set.mu * std::hypot(t[0], t[1]);
        if (Size != 5) n += set.mu_drilling * std::abs(d);
        if (Size != 4) n += set.mu_rolling * std::hypot(m[0], m[1]);
        return join<Size>(n, t, d, m);
    }
};

/// Up to twice as many vectors as dimensions, with zeros, copies, opposites and sums among them, but not nearly
/// dependent: a cone that its rounded vectors do not determine has no projection to test.
inline std::shared_ptr<Vector> vectors(Random& random, int n) {
    const int count = below(random, 2 * n + 1);
    const bool whole = below(random, 2) == 0;
    auto all = std::make_shared<Vector>();
    for (int j = 0; j < count; ++j) {
        Vector v(static_cast<std::size_t>(n));
        for (double& value : v) value = whole ? below(random, 5) - 2 : uniform(random, -2.0, 2.0);
        const std::size_t before = all->size() / v.size();
        if (before > 0 && below(random, 3) == 0) {
            const auto at = [&](std::size_t k, std::size_t i) { return (*all)[k * v.size() + i]; };
            const std::size_t k = static_cast<std::size_t>(below(random, static_cast<int>(before)));
            const double factor = below(random, 2) == 0 ? -1.0 : 0.5, other = below(random, 2) == 0 ? 1.0 : 0.0;
            for (std::size_t i = 0; i < v.size(); ++i) v[i] = factor * at(k, i) + other * at(before - 1, i);
        }
        if (below(random, 12) == 0) v = times(v, 0.0);
        all->insert(all->end(), v.begin(), v.end());
    }
    return all;
}

template <>
struct Family<GeneratedCone> {
    static Sample<GeneratedCone> make(Random& random, double) {
        const int n = 1 + below(random, 8);
        const auto storage = vectors(random, n);
        return {GeneratedCone(n, *storage), 0.0, storage};
    }
    static Vector member(const GeneratedCone& set, Random& random, double scale) {
        Vector x(static_cast<std::size_t>(set.dimension), 0.0);
        for (std::size_t j = 0; j < static_cast<std::size_t>(set.count()); ++j) {
            const double z = below(random, 2) == 0 ? 0.0 : scale * uniform(random, 0.0, 2.0);
            for (std::size_t i = 0; i < x.size(); ++i) x[i] += z * set.generators[j * x.size() + i];
        }
        return x;
    }
};

template <>
struct Family<PolyhedralCone> {
    static Sample<PolyhedralCone> make(Random& random, double) {
        const int n = 1 + below(random, 8);
        const auto storage = vectors(random, n);
        return {PolyhedralCone(n, *storage), 0.0, storage};
    }
    /// Few rows: a point near enough to what they ask for is found by reflecting; else the apex.
    static Vector member(const PolyhedralCone& set, Random& random, double scale) {
        Vector x = times(direction(random, set.dimension), scale);
        for (int round = 0; round < 400; ++round) {
            bool inside = true;
            for (std::size_t j = 0; j < static_cast<std::size_t>(set.count()); ++j) {
                const auto row = set.rows.subspan(j * x.size(), x.size());
                double value = 0.0, square = 0.0;
                for (std::size_t i = 0; i < x.size(); ++i) value += row[i] * x[i], square += row[i] * row[i];
                if (value >= 0.0) continue;
                inside = false;
                for (std::size_t i = 0; i < x.size(); ++i) x[i] -= 2.0 * value / square * row[i];
            }
            if (inside) return x;
        }
        return Vector(x.size(), 0.0);
    }
};

}  // namespace saltus::sets::testing
