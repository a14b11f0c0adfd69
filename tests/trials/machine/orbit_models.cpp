// SPDX-License-Identifier: Apache-2.0
//
// Generators for periodic orbits. The parameter p scales the excitation, a stiffness, a gap or a coefficient of
// friction.
#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "machine/random_models.hpp"
#include "machine/random_parts.hpp"

namespace trials {

namespace {

Expression parameter(Model& model, double value) {
    model.parameter = value;
    return Expression::parameter(value);
}

/// Springs, dampers and a force of the period `2*pi/w` on the first coordinate.
Model oscillator(Random& random, std::size_t n) {
    Model model = point_masses(n, random.number(0.5, 2.0));
    const double w = random.number(0.7, 4.0);
    model.period = fmt::format("2*pi/{}", w);
    for (std::size_t i = 0; i < n; ++i) {
        model.potential.push_back(Expression(random.number(0.3, 4.0)) * power(q(i), 2));
        model.dissipation.push_back(Expression(random.number(0.02, 0.4)) * power(u(i), 2));
    }
    if (n == 2) model.potential.push_back(Expression(random.number(0.3, 4.0)) * power(q(1) - q(0), 2));
    if (random.chance(0.3)) model.potential.push_back(Expression(random.number(0.1, 1.0)) * power(q(0), 4));
    const Expression amplitude = parameter(model, random.number(0.5, 4.0));
    model.forces[0].push_back(amplitude * cosine(Expression(w) * t()));
    model.q0[0] = random.number(-0.3, 0.1);
    model.t_end = 20.0;
    return model;
}

Model impacts(Random& random) {
    Model model = oscillator(random, static_cast<std::size_t>(random.whole(1, 2)));
    const std::size_t last = model.size() - 1;
    const auto wall = [&](const std::string& name, const Expression& gap) {
        Contact contact = floor_contact(name, gap, random);
        contact.e_n = random.number(0.4, 0.95);
        model.contacts.push_back(contact);
    };
    wall("stop", Expression(random.number(0.15, 1.0)) - q(last));
    if (random.chance(0.3)) wall("back", q(0) + random.number(0.4, 1.2));
    return model;
}

Model rubbing(Random& random) {
    Model model = oscillator(random, static_cast<std::size_t>(random.whole(1, 2)));
    Slider slider{"ground", {u(0)}, {FrictionLaw::Kind::planar, {random.number(0.05, 0.6)}, 0.0}, 1.0, {}};
    if (random.chance(0.3)) slider.slip = {u(0) - random.number(-0.4, 0.4)};
    if (random.chance(0.4))
        slider.friction.mu_static = std::round(1000.0 * slider.friction.mu[0] * random.number(1.05, 1.8)) / 1000.0;
    model.sliders = {slider};
    return model;
}

/// A block on a belt that sticks and slips.
Model belt(Random& random) {
    Model model = point_masses(1, random.number(0.5, 2.0));
    model.potential = {Expression(random.number(0.5, 6.0)) * power(q(0), 2)};
    if (random.chance(0.6)) model.dissipation = {Expression(random.number(0.005, 0.1)) * power(u(0), 2)};
    const Expression speed = parameter(model, random.number(0.05, 0.6));
    Slider slider{"belt",
                  {u(0) - speed},
                  {FrictionLaw::Kind::planar, {random.number(0.1, 0.5)}, 0.0},
                  random.number(1.0, 8.0),
                  {}};
    slider.friction.mu_static = std::round(1000.0 * slider.friction.mu[0] * random.number(1.2, 2.0)) / 1000.0;
    model.sliders = {slider};
    model.t_end = 20.0;
    return model;
}

/// Self-excited oscillations, perhaps against a wall.
Model self_excited(Random& random) {
    Model model = point_masses(1, 1.0);
    const Expression strength = parameter(model, random.number(0.2, 1.5));
    model.potential = {Expression(random.number(0.3, 2.0)) * power(q(0), 2)};
    model.forces[0].push_back(strength * (Expression(1.0) - power(q(0), 2)) * u(0));
    if (random.chance(0.6)) {
        model.contacts = {floor_contact("wall", Expression(random.number(0.5, 1.8)) - q(0), random)};
        model.contacts[0].e_n = random.number(0.4, 0.95);
    }
    model.q0[0] = 0.3;
    model.t_end = 30.0;
    return model;
}

/// A wheel with spokes that rolls down a slope.
Model walker(Random& random) {
    Model model = point_masses(1, 1.0);
    const double half = random.number(0.2, 0.5);
    const Expression slope = parameter(model, random.number(0.05, 0.2));
    model.potential = {Expression(random.number(5.0, 10.0)) * cosine(q(0))};
    Jump strike{"strike", q(0) - slope - half, 1, {}, {slope - half}, {Expression(random.number(0.5, 0.9)) * u(0)}};
    model.jumps = {strike};
    model.q0[0] = *model.parameter - half;
    model.u0[0] = 2.5;
    model.t_end = 20.0;
    return model;
}

/// An oscillator that is kicked at a place, while a force drives it.
Model kicked(Random& random) {
    Model model = oscillator(random, 1);
    Jump kick{"kick", q(0) - random.number(-0.2, 0.2), random.chance(0.5) ? 1 : -1, {}, {{}}, {}};
    kick.q = {std::optional<Expression>()};
    kick.u = {Expression(random.number(0.5, 1.0)) * u(0) + random.number(-0.3, 0.3)};
    if (random.chance(0.3)) kick.q = {q(0) + random.number(-0.3, 0.3)};
    model.jumps = {kick};
    return model;
}

/// Wells that a parameter moves, with walls.
Model resting(Random& random) {
    const std::size_t n = static_cast<std::size_t>(random.whole(1, 2));
    Model model = point_masses(n, random.number(0.5, 2.0));
    const Expression p = parameter(model, random.number(-0.5, 0.5));
    for (std::size_t i = 0; i < n; ++i) {
        model.potential.push_back(well(random, q(i)) + Expression(random.number(0.1, 0.5)) * power(q(i), 4));
        model.dissipation.push_back(Expression(random.number(0.02, 0.8)) * power(u(i), 2));
        if (random.chance(0.4)) model.forces[i].push_back(Expression(random.number(-1.0, 1.0)) * u(i));
    }
    model.potential.push_back(p * q(0));
    if (n == 2) model.potential.push_back(Expression(random.number(0.2, 3.0)) * power(q(1) - q(0), 2));
    if (random.chance(0.5))
        model.contacts.push_back(floor_contact("wall", Expression(random.number(0.3, 1.2)) - q(0), random));
    if (random.chance(0.3)) model.contacts.push_back(floor_contact("back", q(n - 1) + random.number(0.3, 1.2), random));
    return model;
}

}  // namespace

const std::vector<Generator>& rest_over_generators() {
    static const std::vector<Generator> generators = {{"resting", admissible_model<resting>}};
    return generators;
}

const std::vector<Generator>& orbit_generators() {
    static const std::vector<Generator> generators = {
        {"impacts", admissible_model<impacts>}, {"rubbing", admissible_model<rubbing>},
        {"belt", admissible_model<belt>},       {"self-excited", admissible_model<self_excited>},
        {"walker", admissible_model<walker>},   {"kicked", admissible_model<kicked>},
    };
    return generators;
}

const std::vector<Generator>& excited_orbit_generators() {
    static const std::vector<Generator> generators = {
        {"impacts", admissible_model<impacts>},
        {"rubbing", admissible_model<rubbing>},
        {"kicked", admissible_model<kicked>},
    };
    return generators;
}

}  // namespace trials
