// SPDX-License-Identifier: Apache-2.0
#include "machine/random_parts.hpp"

#include <algorithm>

namespace trials {

Expression wave(Random& random, double amplitude, double slow, double fast) {
    const Expression argument = Expression(random.number(slow, fast)) * t();
    return Expression(random.number(0.1, amplitude)) * (random.chance(0.5) ? sine(argument) : cosine(argument));
}

Expression well(Random& random, const Expression& x) {
    switch (random.whole(0, 4)) {
        case 0: return Expression(random.number(0.3, 6.0)) * power(x - random.number(-1.0, 1.0), 2);
        case 1: return Expression(random.number(0.3, 2.0)) * power(power(x, 2) - random.number(0.2, 1.5), 2);
        case 2:
            return Expression(random.number(0.3, 4.0)) *
                   cosine(Expression(random.number(0.5, 3.0)) * x + random.number(-1, 1));
        case 3:
            return Expression(-random.number(0.5, 4.0)) / (Expression(1.0) + power(x - random.number(-1.0, 1.0), 2));
        default: return Expression(random.number(-2.0, 2.0)) * x;
    }
}

Contact floor_contact(const std::string& name, const Expression& gap, Random& random) {
    Contact contact;
    contact.name = name;
    contact.gap = gap;
    contact.e_n = random.chance(0.35) ? 0.0 : random.chance(0.1) ? 1.0 : random.number(0.1, 0.9);
    return contact;
}

FrictionLaw planar_friction(Random& random) {
    return {FrictionLaw::Kind::planar, {random.chance(0.1) ? 0.0 : random.number(0.05, 0.9)}, 0.0};
}

FrictionLaw disk_friction(Random& random) { return {FrictionLaw::Kind::isotropic, {random.number(0.05, 0.9)}, 0.0}; }

FrictionLaw ellipse_friction(Random& random) {
    std::vector<double> mu = {random.number(0.05, 0.8), random.number(0.05, 0.8)};
    if (random.chance(0.15)) mu[random.chance(0.5) ? 0 : 1] = 0.0;
    return {FrictionLaw::Kind::orthotropic, mu, 0.0};
}

void random_velocities(Model& model, Random& random, double largest) {
    for (double& x : model.u0) x = random.chance(0.3) ? 0.0 : random.number(-largest, largest);
}

void drive(Model& model, std::size_t coordinate, Random& random, double amplitude) {
    if (random.chance(0.5)) model.forces[coordinate].push_back(wave(random, amplitude, 0.5, 9.0));
    if (random.chance(0.3)) model.forces[coordinate].push_back(Expression(random.number(-amplitude, amplitude)) * t());
    if (random.chance(0.2)) model.forces[coordinate].push_back(random.number(-amplitude, amplitude));
    if (random.chance(0.3)) model.dissipation.push_back(Expression(random.number(0.05, 1.0)) * power(u(coordinate), 2));
}

Slider random_slider(const std::string& name, std::size_t n, Random& random) {
    Slider slider;
    slider.name = name;
    slider.normal_force = random.number(0.5, 6.0);
    if (random.chance(0.2)) slider.normal_force = slider.normal_force + wave(random, 0.4, 0.5, 5.0);
    const auto row = [&] {
        Expression result;
        for (std::size_t i = 0; i < n; ++i)
            if (random.chance(0.7)) result = result + Expression(random.number(-1.0, 1.0)) * u(i);
        return result.is_zero() ? u(0) : result;
    };
    slider.slip = {row()};
    slider.friction = planar_friction(random);
    if (n > 1 && random.chance(0.4)) {
        slider.slip = {u(0), u(1)};
        slider.friction = random.chance(0.5) ? disk_friction(random) : ellipse_friction(random);
    }
    return slider;
}

// A gap that closes at the start up to rounding is admissible: the program puts it onto the contact.
bool admissible(const Model& model) {
    const Point start{0.0, model.q0, model.u0};
    return std::ranges::all_of(model.contacts, [&](const Contact& contact) {
        const bool exists = !contact.condition || contact.condition->value(start) > 0.0;
        return !exists || contact.gap.value(start) >= -1e-12;
    });
}

}  // namespace trials
