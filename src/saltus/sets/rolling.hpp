// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "saltus/sets/disk.hpp"
#include "saltus/sets/segment.hpp"

namespace saltus::sets {

/// Disk × segment × disk: sliding force (2 components), drilling moment (1) and rolling moments (2), each with its own
/// bound. Forces and moments have different units, so tests and scales are applied factor by factor.
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
    /// The test of `is_normal` with a common scale for the three factors. With s_i the size of factor i (its bound or
    /// ‖x_i‖), the power s_i ‖d_i‖ has the same unit in all factors. d_i is scaled to the length
    /// s_i · (its power)/(largest power); the tolerance of factor i is relative to s_i.
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
        const bool any_power = most_power > 0.0;  // else each d_i is 0 or belongs to a factor that is one point
        double y[5], p[5];
        for (int j = 0; j < 3; ++j)
            for (int i = begin(j); i < begin(j + 1); ++i)
                y[i] = x.data()[i] +
                       (any_power ? (d.data()[i] / most_speed) * (scale[j] / most_scale / most_power) * scale[j] : 0.0);
        project({y, 5}, p);
        bool normal = !has_nan(d.data(), 5);
        for (int j = 0; j < 3; ++j) {
            for (int i = begin(j); i < begin(j + 1); ++i) p[i] = x.data()[i] - p[i];
            normal = normal && length(p + begin(j), begin(j + 1) - begin(j)) <= tolerance * scale[j];
        }
        return normal;
    }

private:
    /// First component of a factor: 0, 2, 3, and 5 for the end.
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
