// SPDX-License-Identifier: Apache-2.0
//
// Generators for jumps of the state, for static friction, and for accumulations at several contacts.
#include <fmt/format.h>

#include <cmath>

#include "machine/random_models.hpp"
#include "machine/random_parts.hpp"

namespace trials {

namespace {

Model from(const std::vector<Generator>& generators, const std::string& name, Random& random) {
    for (const Generator& generator : generators)
        if (generator.name == name) return generator.make(random);
    std::abort();
}

Jump empty_jump(const std::string& name, std::size_t n) {
    return {name,
            Expression(),
            0,
            {},
            std::vector<std::optional<Expression>>(n),
            std::vector<std::optional<Expression>>(n)};
}

/// A quantity that passes through zero: a clock, a place, a velocity or a mixture.
Expression quantity(Random& random, std::size_t n) {
    const std::size_t i = static_cast<std::size_t>(random.whole(0, static_cast<int>(n) - 1));
    switch (random.whole(0, 4)) {
        case 0: return cosine(Expression(random.number(1.0, 6.0)) * t() + random.number(0.0, 3.0));
        case 1: return q(i) - random.number(-0.4, 0.4);
        case 2: return u(i) - random.number(-0.5, 0.5);
        case 3: return power(q(i), 2) + Expression(random.number(-1.0, 1.0)) * q(n - 1 - i) - random.number(0.05, 0.5);
        default: return q(i) + Expression(random.number(-0.5, 0.5)) * u(i) - random.number(-0.3, 0.3);
    }
}

/// A reset of velocities, which leaves every gap as it is.
Jump kick(const std::string& name, std::size_t n, Random& random) {
    Jump jump = empty_jump(name, n);
    jump.when = quantity(random, n);
    jump.direction = random.whole(-1, 1);
    const std::size_t i = static_cast<std::size_t>(random.whole(0, static_cast<int>(n) - 1));
    jump.u[i] = Expression(random.number(-1.2, 1.2)) * u(i) + random.number(-0.5, 0.5);
    if (random.chance(0.3)) jump.u[i] = *jump.u[i] + Expression(random.number(-0.4, 0.4)) * q(i);
    if (n > 1 && random.chance(0.5))
        jump.u[n - 1 - i] = u(n - 1 - i) + Expression(random.number(-0.5, 0.5)) * power(u(i), 2);
    if (random.chance(0.3)) jump.guard = random.chance(0.5) ? q(i) - random.number(-0.3, 0.3) : u(i);
    return jump;
}

/// Impacts without friction, and kicks.
Model kicks(Random& random) {
    Model model = from(motion_generators(), random.chance(0.6) ? "walls" : "pendulums", random);
    model.sliders.clear();
    for (Contact& contact : model.contacts) {
        contact.friction = {}, contact.slip.clear(), contact.e_t = 0.0;
        contact.e_n = random.number(0.4, 1.0);
    }
    const int count = random.whole(1, 2);
    for (int i = 0; i < count; ++i) model.jumps.push_back(kick(fmt::format("kick{}", i), model.size(), random));
    return model;
}

/// An angle that is set back: a wheel with spokes, or a counter of turns; with a slider by chance.
Model wheels(Random& random) {
    const std::size_t n = static_cast<std::size_t>(random.whole(1, 2));
    Model model = point_masses(n, random.number(0.5, 2.0));
    const double half = random.number(0.2, 0.6), loss = random.number(0.3, 1.0);
    model.potential = {Expression(random.number(0.5, 8.0)) * cosine(q(0) - random.number(-0.2, 0.2))};
    model.forces[0].push_back(random.number(0.0, 4.0));
    if (n == 2) model.potential.push_back(Expression(random.number(0.5, 4.0)) * power(q(1) - sine(q(0)), 2));
    Jump strike = empty_jump("strike", n);
    strike.when = q(0) - half;
    strike.direction = 1;
    strike.q[0] = random.chance(0.5) ? Expression(-half) : Expression(-half) + Expression(0.1) * u(0);
    strike.u[0] = Expression(loss) * u(0);
    if (n == 2) strike.u[1] = u(1) + Expression(random.number(-0.5, 0.5)) * u(0);
    if (n == 2 && random.chance(0.5)) strike.q[1] = Expression(random.number(-1.0, 1.0)) * q(1);
    if (random.chance(0.3)) strike.guard = u(0) - random.number(0.0, 0.5);
    model.jumps = {strike};
    if (random.chance(0.5)) {
        Jump back = strike;
        back.name = "back";
        back.when = q(0) + half;
        back.direction = -1;
        back.q[0] = Expression(half);
        back.guard = {};
        model.jumps.push_back(back);
    }
    if (random.chance(0.3)) {
        Slider slider = random_slider("bearing", 1, random);
        slider.slip = {u(0)};
        slider.normal_force = random.number(0.1, 2.0);
        slider.friction = planar_friction(random);
        if (random.chance(0.5)) slider.friction.mu_static = slider.friction.mu[0] * random.number(1.1, 2.0);
        model.sliders.push_back(slider);
    }
    model.q0[0] = random.number(-0.9 * half, 0.9 * half);
    model.u0[0] = random.number(-3.0, 3.0);
    model.t_end = random.number(1.0, 4.0);
    return model;
}

/// A body that rests or slides on a floor and is kicked, along it or up from it.
Model hoppers(Random& random) {
    Model model = from(motion_generators(), random.chance(0.5) ? "rough-floor" : "spatial", random);
    const std::size_t n = model.size(), up = n - 1;
    Jump jump = empty_jump("kick", n);
    jump.when =
        random.chance(0.5) ? cosine(Expression(random.number(1.0, 5.0)) * t()) : q(0) - random.number(-0.3, 0.3);
    jump.direction = random.whole(-1, 1);
    jump.u[0] = Expression(random.number(-1.0, 1.0)) * u(0) + random.number(-1.0, 1.0);
    if (random.chance(0.4)) jump.u[0] = Expression(0.0);
    if (random.chance(0.4)) jump.u[up] = Expression(random.number(0.2, 2.0)) + u(up);
    if (random.chance(0.2)) jump.q[up] = q(up) + random.number(0.05, 0.5);
    model.jumps = {jump};
    return model;
}

/// Coefficients of static friction for the elements that may have one.
Model with_static_friction(Model model, Random& random) {
    const auto set = [&](FrictionLaw& law, bool constant) {
        const bool suits = law.kind == FrictionLaw::Kind::planar || law.kind == FrictionLaw::Kind::isotropic;
        if (suits && constant && law.mu[0] > 0.0 && random.chance(0.8))
            law.mu_static = std::round(1000.0 * law.mu[0] * random.number(1.02, 2.0)) / 1000.0;
    };
    for (Contact& contact : model.contacts) {
        contact.coefficient = {};
        set(contact.friction, true);
        if (random.chance(0.6)) contact.e_n = 0.0;
        contact.e_t = 0.0;
    }
    for (Slider& slider : model.sliders) {
        slider.coefficient = {};
        set(slider.friction, true);
    }
    for (Constraint& constraint : model.constraints) set(constraint.friction, true);
    return model;
}

Model static_floor(Random& random) {
    return with_static_friction(from(motion_generators(), random.chance(0.5) ? "rough-floor" : "moving-table", random),
                                random);
}
Model static_plane(Random& random) {
    return with_static_friction(from(motion_generators(), "spatial", random), random);
}
Model static_sliders(Random& random) {
    return with_static_friction(from(motion_generators(), "sliders", random), random);
}
Model static_redundant(Random& random) {
    return with_static_friction(from(motion_generators(), "redundant", random), random);
}
Model static_rocking(Random& random) {
    return with_static_friction(from(motion_generators(), "rocking", random), random);
}
Model static_belts(Random& random) {
    const char* const names[] = {"belt-block", "belt-conveyor", "belt-feet", "belt-turntable"};
    return with_static_friction(from(belt_motion_generators(), names[random.whole(0, 3)], random), random);
}
Model static_guides(Random& random) {
    return with_static_friction(from(joint_generators(), random.chance(0.5) ? "wire" : "plates", random), random);
}

/// One block on a belt or on the ground, with static friction: slow pull, many phases of stick.
Model static_block(Random& random) {
    Model model = point_masses(1, random.number(0.5, 2.0));
    model.potential = {Expression(random.number(1.0, 20.0)) *
                       power(q(0) - Expression(random.number(-0.5, 0.5)) * t(), 2)};
    if (random.chance(0.5)) model.forces[0].push_back(wave(random, 6.0, 1.0, 8.0));
    if (random.chance(0.4)) model.dissipation.push_back(Expression(random.number(0.02, 0.5)) * power(u(0), 2));
    Slider slider{"belt", {u(0) - random.number(-0.5, 0.5)}, planar_friction(random), random.number(1.0, 8.0), {}};
    if (random.chance(0.3)) slider.normal_force = slider.normal_force + wave(random, 0.8, 1.0, 5.0);
    slider.friction.mu_static = std::round(1000.0 * slider.friction.mu[0] * random.number(1.02, 2.0)) / 1000.0;
    model.sliders = {slider};
    if (random.chance(0.3)) {
        model.contacts = {floor_contact("stop", Expression(random.number(0.3, 1.0)) - q(0), random)};
        model.contacts[0].e_n = random.number(0.4, 1.0);
    }
    random_velocities(model, random, 1.0);
    model.t_end = random.number(2.0, 6.0);
    return model;
}

/// Blocks on top of each other on a table that oscillates: impacts accumulate at several contacts, which interact.
Model stacks(Random& random) {
    const std::size_t n = static_cast<std::size_t>(random.whole(2, 3));
    Model model = point_masses(n, 1.0);
    const double gravity = 10.0;
    Expression below(0.0);
    if (random.chance(0.5)) {
        const double frequency = random.number(2.0, 12.0);
        below = Expression(random.number(0.05, 1.5) * gravity / (frequency * frequency)) *
                sine(Expression(frequency) * t());
    }
    double height = random.number(0.0, 0.2);
    for (std::size_t i = 0; i < n; ++i) {
        model.mass[i][i] = random.number(0.3, 3.0);
        model.potential.push_back(model.mass[i][i] * Expression(gravity) * q(i));
        Contact contact = floor_contact(fmt::format("c{}", i), q(i) - below, random);
        contact.e_n = random.chance(0.3) ? 0.0 : random.number(0.05, 0.7);
        model.contacts.push_back(contact);
        below = q(i);
        model.q0[i] = height;
        height += random.chance(0.5) ? 0.0 : random.number(0.0, 0.2);
        model.u0[i] = random.chance(0.5) ? 0.0 : random.number(-1.0, 1.0);
    }
    model.t_end = random.number(0.5, 2.0);
    return model;
}

/// A ball in a groove of two planes: impacts at one wall after the other.
Model grooves(Random& random) {
    Model model = point_masses(2, random.number(0.5, 2.0));
    model.potential = {Expression(random.number(5.0, 12.0)) * q(1)};
    if (random.chance(0.5)) drive(model, 0, random, 3.0);
    const double bend = random.chance(0.5) ? 0.0 : random.number(-0.3, 0.5);
    for (const double side : {-1.0, 1.0}) {
        Contact contact = floor_contact(
            side < 0 ? "left" : "right",
            q(1) - Expression(side * random.number(0.2, 1.5)) * q(0) - Expression(bend) * power(q(0), 2), random);
        contact.e_n = random.chance(0.4) ? 0.0 : random.number(0.05, 0.6);
        if (random.chance(0.3)) {
            contact.friction = planar_friction(random);
            contact.slip = {u(0) + Expression(side) * u(1)};
        }
        model.contacts.push_back(contact);
    }
    model.q0 = {random.number(-0.2, 0.2), random.number(0.3, 0.6)};
    random_velocities(model, random, 1.0);
    model.t_end = random.number(0.5, 2.0);
    return model;
}

/// A plate with two springy legs: e = 0, a corner that lands lifts the other one.
Model flutter(Random& random) {
    Model model = point_masses(2, 1.0);
    const double half = random.number(0.3, 1.0);
    model.mass[1][1] = half * half * random.number(0.2, 1.6);  // from slender to heavy ends
    model.potential = {Expression(random.number(5.0, 12.0)) * q(0)};
    if (random.chance(0.4)) model.forces[1].push_back(wave(random, 2.0, 1.0, 8.0));
    for (const double side : {-1.0, 1.0}) {
        Contact contact =
            floor_contact(side < 0 ? "left" : "right", q(0) + Expression(side * half) * sine(q(1)), random);
        contact.e_n = random.chance(0.6) ? 0.0 : random.number(0.05, 0.5);
        model.contacts.push_back(contact);
    }
    model.q0 = {half * 0.5 + random.number(0.0, 0.2), random.number(-0.4, 0.4)};
    random_velocities(model, random, 1.0);
    model.t_end = random.number(0.5, 2.0);
    return model;
}

/// Springs in the place of rigid contacts, with jumps and with the friction of a slider.
Model sprung_resets(Random& random) {
    Model model = random.chance(0.5) ? kicks(random) : static_block(random);
    if (model.contacts.empty())
        model.contacts = {floor_contact("stop", Expression(random.number(0.2, 0.8)) - q(0), random)};
    model.penalty = Penalty{std::round(std::pow(10.0, random.number(1.5, 4.0))), 0.0};
    if (random.chance(0.5)) model.penalty->d = random.number(0.1, 10.0);
    return model;
}

}  // namespace

const std::vector<Generator>& sprung_reset_generators() {
    static const std::vector<Generator> generators = {{"sprung", admissible_model<sprung_resets>}};
    return generators;
}

const std::vector<Generator>& jump_generators() {
    static const std::vector<Generator> generators = {
        {"kicks", admissible_model<kicks>},
        {"wheels", admissible_model<wheels>},
        {"hoppers", admissible_model<hoppers>},
    };
    return generators;
}

const std::vector<Generator>& static_friction_generators() {
    static const std::vector<Generator> generators = {
        {"static-block", admissible_model<static_block>},     {"static-floor", admissible_model<static_floor>},
        {"static-plane", admissible_model<static_plane>},     {"static-sliders", admissible_model<static_sliders>},
        {"static-belts", admissible_model<static_belts>},     {"static-redundant", admissible_model<static_redundant>},
        {"static-rocking", admissible_model<static_rocking>}, {"static-guides", admissible_model<static_guides>},
    };
    return generators;
}

const std::vector<Generator>& accumulation_generators() {
    static const std::vector<Generator> generators = {
        {"stacks", admissible_model<stacks>},
        {"grooves", admissible_model<grooves>},
        {"flutter", admissible_model<flutter>},
    };
    return generators;
}

}  // namespace trials
