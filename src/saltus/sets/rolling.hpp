// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "saltus/sets/disk.hpp"
#include "saltus/sets/segment.hpp"

namespace saltus::sets {

/// Disk × segment × disk: sliding force (2), drilling moment (1), rolling moments (2), each with its own bound. The
/// factors have different units, so tests and scales are taken factor by factor.
struct Rolling {
    static constexpr int dimension = 5;
    Disk sliding;
    Segment drilling;
    Disk rolling;

    Rolling() = default;
    SALTUS_SETS_DEVICE Rolling(double sliding_bound, double drilling_bound, double rolling_bound)
        : sliding(sliding_bound), drilling(Segment::symmetric(drilling_bound)), rolling(rolling_bound) {}

    SALTUS_SETS_DEVICE bool contains(std::span<const double> x, double tolerance) const {
        return sliding.contains(first(x), tolerance) && drilling.contains(second(x), tolerance) &&
               rolling.contains(third(x), tolerance);
    }
    SALTUS_SETS_DEVICE void project(std::span<const double> x, double* out) const {
        sliding.project(first(x), out);
        drilling.project(second(x), out + 2);
        rolling.project(third(x), out + 3);
    }
    SALTUS_SETS_DEVICE double support(std::span<const double> d) const {
        return sliding.support(first(d)) + drilling.support(second(d)) + rolling.support(third(d));
    }
    /// The power s_i ‖d_i‖ makes the factors comparable: d_i gets the length s_i · (its power / the largest power).
    SALTUS_SETS_DEVICE bool in_normal_cone(std::span<const double> x, std::span<const double> d,
                                           double tolerance) const {
        SALTUS_SETS_EXPECT(x.size() == 5 && d.size() == 5);
        const double bound[3] = {sliding.radius, drilling.hi, rolling.radius};
        double scale[3], speed[3], most_scale = 0.0, most_speed = 0.0, most_power = 0.0;
        for (int j = 0; j < 3; ++j) {
            const double length_x = length(x.data() + begin(j), begin(j + 1) - begin(j));
            scale[j] = length_x > bound[j] ? length_x : bound[j];
            speed[j] = length(d.data() + begin(j), begin(j + 1) - begin(j));
            if (scale[j] > most_scale) most_scale = scale[j];
            if (speed[j] > most_speed) most_speed = speed[j];
        }
        for (int j = 0; j < 3; ++j) {
            const double power = (scale[j] / most_scale) * (speed[j] / most_speed);
            if (power > most_power) most_power = power;
        }
        const bool free = most_power > 0.0;  // else every d_i meets a factor that is one point, or is 0
        double y[5], p[5];
        for (int j = 0; j < 3; ++j)
            for (int i = begin(j); i < begin(j + 1); ++i)
                y[i] = x.data()[i] +
                       (free ? (d.data()[i] / most_speed) * (scale[j] / most_scale / most_power) * scale[j] : 0.0);
        project({y, 5}, p);
        bool normal = !has_nan(d.data(), 5);
        for (int j = 0; j < 3; ++j) {
            for (int i = begin(j); i < begin(j + 1); ++i) p[i] = x.data()[i] - p[i];
            normal = normal && length(p + begin(j), begin(j + 1) - begin(j)) <= tolerance * scale[j];
        }
        return normal;
    }

private:
    SALTUS_SETS_DEVICE static constexpr int begin(int part) { return part == 0 ? 0 : part + 1 + part / 3; }
    SALTUS_SETS_DEVICE static std::span<const double> first(std::span<const double> x) {
        SALTUS_SETS_EXPECT(x.size() == 5);
        return {x.data(), 2};
    }
    SALTUS_SETS_DEVICE static std::span<const double> second(std::span<const double> x) { return {x.data() + 2, 1}; }
    SALTUS_SETS_DEVICE static std::span<const double> third(std::span<const double> x) { return {x.data() + 3, 2}; }
};

static_assert(ConvexSet<Rolling>);

}  // namespace saltus::sets
