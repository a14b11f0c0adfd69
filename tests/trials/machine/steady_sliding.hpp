// SPDX-License-Identifier: Apache-2.0
//
// Steady sliding: the coordinates rest, and friction slides because surfaces move. Next to such a state each friction
// force is a smooth function of the state, so that equilibria are zeros of smooth equations and stability follows from
// their derivatives, which are differences here.
#pragma once

#include <complex>
#include <optional>
#include <vector>

#include "machine/model.hpp"

namespace trials {

/// Whether all friction that can act at rest at q slides there, with the contacts `closed` (by number) closed.
bool slides_at_rest(const Mechanics& mechanics, const Vector& q, const std::vector<std::size_t>& closed);

/// The motion near rest at q with the contacts `closed` held closed and with friction that slides.
class SlidingMotion {
public:
    SlidingMotion(const Mechanics& mechanics, const Vector& q, std::vector<std::size_t> closed);

    struct Forces {
        Vector acceleration;
        Vector normal;  ///< normal force of each closed contact
    };
    /// Nothing if the contact forces are not determined (singular equations).
    std::optional<Forces> at(const Point& state) const;

    /// Eigenvalues of the motion linearised at rest, along the positions that keep the contacts closed; largest real
    /// part first.
    std::optional<std::vector<std::complex<double>>> eigenvalues() const;

    /// A basis of the velocities that keep the contacts closed.
    const std::vector<Vector>& tangents() const { return tangents_; }

    /// Friction of the sliders.
    Vector slider_friction(const Point& state) const;

private:
    const Mechanics& mechanics_;
    Vector q_;
    std::vector<std::size_t> closed_;
    std::vector<Vector> tangents_;
};

/// Isolated points of steady sliding with all coordinates in [-reach, reach], for every choice of closed contacts, by
/// Newton's iteration from a grid. Contacts press and open gaps are not negative.
std::vector<Vector> steady_points(const Mechanics& mechanics, double reach);

}  // namespace trials
