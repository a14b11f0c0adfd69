// SPDX-License-Identifier: Apache-2.0
//
// Parts of random models that several generators use.
#pragma once

#include <string>

#include "machine/model.hpp"
#include "machine/random.hpp"

namespace trials {

inline Expression q(std::size_t i) { return Expression::position(i); }
inline Expression u(std::size_t i) { return Expression::velocity(i); }
inline Expression t() { return Expression::time(); }

/// A cos or sin of time.
Expression wave(Random& random, double amplitude, double slow, double fast);
/// A potential of one variable: quadratic, double well, periodic, rational (bounded at infinity) or linear.
Expression well(Random& random, const Expression& x);
/// A contact with a random restitution, without friction.
Contact floor_contact(const std::string& name, const Expression& gap, Random& random);
FrictionLaw planar_friction(Random& random);
FrictionLaw disk_friction(Random& random);
FrictionLaw ellipse_friction(Random& random);
void random_velocities(Model& model, Random& random, double largest);
/// Time-dependent forces and damping on a coordinate, each by chance.
void drive(Model& model, std::size_t coordinate, Random& random, double amplitude);
Slider random_slider(const std::string& name, std::size_t n, Random& random);

/// Whether the initial state penetrates no contact.
bool admissible(const Model& model);

/// A generator that repeats `make` until the initial state is admissible.
template <Model (*make)(Random&)>
Model admissible_model(Random& random) {
    for (;;)
        if (Model model = make(random); admissible(model)) return model;
}

}  // namespace trials
