// SPDX-License-Identifier: Apache-2.0
//
// Generators for questions about rest: equilibria and certificates.
#include <fmt/format.h>

#include "machine/random_models.hpp"
#include "machine/random_parts.hpp"

namespace trials {

namespace {

/// Waves with several lengths in a weak bowl: many wells of different depth.
Expression ripples(Random& random, const Expression& x) {
    Expression result = Expression(random.number(0.05, 0.8)) * power(x, 2);
    const int count = random.whole(1, 3);
    for (int i = 0; i < count; ++i)
        result = result + Expression(random.number(0.1, 1.5)) *
                              sine(Expression(random.number(1.0, 9.0)) * x + random.number(-2, 2));
    return result;
}

Expression polynomial(Random& random, const Expression& x) {
    Expression result = Expression(random.number(0.05, 0.5)) * power(x, 6);
    for (int degree = 1; degree <= 5; ++degree)
        if (random.chance(0.7)) result = result + Expression(random.number(-2.0, 2.0)) * power(x, degree);
    return result;
}

Expression landscape(Random& random, const Expression& x) {
    switch (random.whole(0, 3)) {
        case 0: return ripples(random, x);
        case 1: return polynomial(random, x);
        default: return well(random, x);
    }
}

/// A friction coefficient that depends on the position and is positive everywhere.
Expression rough_places(Random& random, const Expression& x) {
    return Expression(random.number(0.1, 0.6)) *
           (Expression(1.2) + sine(Expression(random.number(0.5, 5.0)) * x + random.number(-2, 2)));
}

/// One coordinate, many wells, with walls and with friction by chance.
Model line(Random& random) {
    Model model = point_masses(1, random.number(0.5, 2.0));
    model.potential = {landscape(random, q(0))};
    if (random.chance(0.3)) model.potential.push_back(well(random, q(0)));
    if (random.chance(0.4)) {
        Slider slider{"s", {u(0)}, planar_friction(random), random.number(0.2, 3.0)};
        if (random.chance(0.4)) slider.coefficient = rough_places(random, q(0));
        model.sliders = {slider};
    }
    if (random.chance(0.4)) {
        const double at = random.number(-1.0, 1.0), half = random.number(0.05, 0.6);
        model.contacts.push_back(floor_contact("gate", power(q(0) - at, 2) - half * half, random));
    }
    if (random.chance(0.3)) model.contacts.push_back(floor_contact("wall", q(0) + random.number(0.5, 2.5), random));
    model.q0[0] = random.number(-2.0, 2.0);
    return model;
}

/// A block on a rough surface with hills.
Model surface(Random& random) {
    Model model = point_masses(2, random.number(0.5, 2.0));
    model.potential = {Expression(random.number(3.0, 12.0)) * q(1)};
    if (random.chance(0.7)) model.potential.push_back(landscape(random, q(0)));
    Expression height = Expression(random.number(0.05, 0.5)) * sine(Expression(random.number(1.0, 6.0)) * q(0));
    if (random.chance(0.3))
        height = Expression(random.number(0.05, 0.5)) * power(power(q(0), 2) - random.number(0.3, 1.5), 2);
    if (random.chance(0.3)) height = height + Expression(random.number(0.05, 0.3)) * power(q(0), 2);
    Contact contact = floor_contact("floor", q(1) - height, random);
    if (random.chance(0.8)) {
        contact.friction = planar_friction(random);
        contact.slip = {u(0)};
        if (random.chance(0.3)) contact.coefficient = rough_places(random, q(0));
    }
    model.contacts = {contact};
    model.q0 = {0.0, 2.0};
    return model;
}

/// Two coordinates in a smooth landscape.
Model plane(Random& random) {
    Model model = point_masses(2, random.number(0.5, 2.0));
    model.potential = {landscape(random, q(0)), landscape(random, q(1))};
    if (random.chance(0.7)) model.potential.push_back(Expression(random.number(-1.0, 1.0)) * q(0) * q(1));
    if (random.chance(0.3)) model.potential.push_back(Expression(random.number(0.2, 1.0)) * cosine(q(0) + q(1)));
    return model;
}

void damp(Model& model, Random& random) {
    for (std::size_t i = 0; i < model.size(); ++i)
        model.dissipation.push_back(Expression(random.number(0.2, 1.5)) * power(u(i), 2));
}

/// The lowest of some positions, so that the start lies near a minimum.
void start_low(Model& model, Random& random, double reach) {
    const Expression potential = sum(model.potential);
    double lowest = INFINITY;
    for (int i = 0; i < 30; ++i) {
        Model candidate = model;
        for (double& x : candidate.q0) x = random.number(-reach, reach);
        const double value = potential.value({0.0, candidate.q0, candidate.u0});
        if (admissible(candidate) && value < lowest) lowest = value, model.q0 = candidate.q0;
    }
}

/// Damped motions in wells; damping may be missing or negative, the potential may be bounded at infinity.
Model damped_line(Random& random) {
    Model model = line(random);
    if (random.chance(0.8)) damp(model, random);
    if (random.chance(0.15)) model.forces[0].push_back(Expression(random.number(0.1, 1.0)) * u(0));
    if (random.chance(0.1))
        model.forces[0].push_back(Expression(random.number(0.1, 1.0)) * (Expression(1.0) - power(q(0), 2)) * u(0));
    start_low(model, random, 2.0);
    return model;
}

Model damped_plane(Random& random) {
    Model model = plane(random);
    damp(model, random);
    if (random.chance(0.2)) model.dissipation.pop_back();
    if (random.chance(0.4)) model.contacts.push_back(floor_contact("wall", q(0) + random.number(0.3, 1.5), random));
    if (random.chance(0.3)) {
        const double radius = random.number(0.2, 0.7);
        model.contacts.push_back(
            floor_contact("disk", power(q(0) - random.number(-1, 1), 2) + power(q(1), 2) - radius * radius, random));
    }
    if (random.chance(0.3)) model.sliders.push_back({"s", {u(0)}, planar_friction(random), random.number(0.2, 2.0)});
    start_low(model, random, 1.5);
    return model;
}

Model damped_surface(Random& random) {
    Model model = surface(random);
    model.potential.push_back(Expression(random.number(0.3, 3.0)) * power(q(0) - random.number(-0.5, 0.5), 2));
    if (random.chance(0.7)) damp(model, random);
    for (Contact& contact : model.contacts)
        if (contact.e_n > 0.95) contact.e_n = 0.5;
    return model;
}

/// Feedback among obstacles.
Model regulated(Random& random) {
    Model model = point_masses(static_cast<std::size_t>(random.whole(1, 2)), random.number(0.5, 2.0));
    Control control;
    for (std::size_t i = 0; i < model.size(); ++i) {
        control.actuated.push_back(i);
        control.reference.push_back(random.number(-1.0, 1.0));
        model.q0[i] = control.reference.back();
    }
    control.k_p = random.number(0.5, 4.0);
    control.k_v = random.number(0.3, 2.0);
    model.control = {control};
    if (random.chance(0.5)) model.potential.push_back(well(random, q(0)));
    const double at = random.number(-1.5, 1.5), half = random.number(0.1, 0.6);
    Expression distance = power(q(0) - at, 2);
    if (model.size() == 2 && random.chance(0.7)) distance = distance + power(q(1) - random.number(-0.5, 0.5), 2);
    if (random.chance(0.8)) model.contacts.push_back(floor_contact("obstacle", distance - half * half, random));
    if (random.chance(0.4))
        model.contacts.push_back(floor_contact("wall", Expression(random.number(0.5, 2.0)) - q(0), random));
    return model;
}

}  // namespace

const std::vector<Generator>& equilibrium_generators() {
    static const std::vector<Generator> generators = {
        {"line", admissible_model<line>},
        {"surface", admissible_model<surface>},
        {"plane", admissible_model<plane>},
    };
    return generators;
}

const std::vector<Generator>& basin_generators() {
    static const std::vector<Generator> generators = {
        {"line", admissible_model<damped_line>},
        {"surface", admissible_model<damped_surface>},
    };
    return generators;
}

const std::vector<Generator>& certificate_generators() {
    static const std::vector<Generator> generators = {
        {"line", admissible_model<damped_line>},
        {"plane", admissible_model<damped_plane>},
        {"surface", admissible_model<damped_surface>},
        {"regulated", admissible_model<regulated>},
    };
    return generators;
}

}  // namespace trials
