// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "saltus/base/linalg.hpp"
#include "saltus/model/elements.hpp"

namespace saltus::stability {

/// The friction forces that an element under the load 1 can exert: a convex body C = −C of `dimension` numbers. Under
/// another load it is as many times as large.
struct FrictionBody {
    enum class Shape { none, segment, disk, ellipse, patch, rolling };
    Shape shape = Shape::none;
    int dimension = 0;
    double mu = 0.0, mu_second = 0.0;  ///< semi-axes of sliding
    double radius = 0.0;               ///< of the patch
    double drilling = 0.0, rolling = 0.0;

    bool empty() const { return shape == Shape::none; }  ///< nothing but the force 0
    bool polyhedral() const { return shape == Shape::none || shape == Shape::segment; }

    /// sup over C of ⟨d, y⟩: what friction takes at most of the slip d, under the load 1.
    double support(std::span<const double> d) const;
    /// A point of C where it is taken.
    Vector furthest(std::span<const double> d) const;
    bool contains(std::span<const double> force, double load, double tolerance) const;

    /// Some points whose hull has 0 inside; of a polyhedral body all corners.
    std::vector<Vector> corners() const;
};

FrictionBody friction_body(const model::Friction& friction, std::span<const double> coefficients);

}  // namespace saltus::stability
