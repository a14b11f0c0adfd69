// SPDX-License-Identifier: Apache-2.0
//
// The convex sets C of friction, for a normal force of 1. Every question of the judges is answered by the support
// function and by the force that reaches it.
#pragma once

#include <span>
#include <vector>

#include "machine/linear.hpp"

namespace trials {

struct FrictionLaw {
    enum class Kind { none, planar, isotropic, orthotropic, contensou, rolling };
    Kind kind = Kind::none;
    std::vector<double> mu;       ///< two for orthotropic friction, else one
    double radius = 0.0;          ///< of the patch, for Contensou's law; of drilling, for rolling friction
    double rolling_radius = 0.0;  ///< for rolling friction: C = disk × interval × disk
    double mu_static = 0.0;       ///< of planar and isotropic friction at rest, if it is larger than mu[0]

    /// Friction at rest holds more than friction that slides.
    bool holds_more() const { return !mu.empty() && mu_static > mu[0]; }
    /// The law with the coefficient of rest.
    FrictionLaw at_rest() const {
        FrictionLaw law = *this;
        if (holds_more()) law.mu[0] = mu_static;
        return law;
    }

    std::size_t directions() const;
    /// Components that stick or slide together. They are all of them, except for rolling friction (sliding, drilling,
    /// rolling) and for an ellipse with one zero coefficient, which acts along the other axis alone.
    struct Part {
        std::size_t first, count;
    };
    std::vector<Part> parts() const;
    /// The point of C that is farthest in the direction `slip`. The friction force of a sliding contact is its
    /// negative, times the normal force. It is 0 for slip = 0.
    Vector farthest(std::span<const double> slip) const;
    /// Support function of C: the power of friction at this slip velocity, for a normal force of 1.
    double support(std::span<const double> slip) const;
    /// How far `force` lies outside of normal_force·C: the largest (force·d - normal_force·support(d))/|d| over d that
    /// were tried, at least 0. It is the distance, up to the resolution of the directions.
    double excess(std::span<const double> force, double normal_force) const;
    /// The nearest point of size·C. Contensou's law is not supported.
    Vector project(std::span<const double> force, double size) const;
};

}  // namespace trials
