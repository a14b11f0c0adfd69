// SPDX-License-Identifier: Apache-2.0
//
// Generators of bodies on moving surfaces. A belt has a slip velocity with a constant: x' − v.
#include "machine/random_models.hpp"
#include "machine/random_parts.hpp"

namespace trials {

namespace {

double belt_speed(Random& random) { return random.sign() * random.number(0.1, 2.0); }

/// A coefficient of friction: constant, weaker (or stronger) with the speed of slip, or different from place to place,
/// with places at which it vanishes.
std::optional<Expression> coefficient(Random& random, const Expression& slip, const Expression& x) {
    const Expression low(random.number(0.05, 0.5)), change(random.number(0.05, 0.6));
    const Expression rate(random.number(0.3, 4.0));
    switch (random.whole(0, 7)) {
        case 0: return low + change * exponential(Expression(-1.0) * rate * power(slip, 2));
        case 1: return low + change / (Expression(1.0) + rate * absolute(slip));
        case 2: return low + change * power(slip, 2);
        case 3: return low * power(x - Expression(random.chance(0.5) ? 0.0 : random.number(-1.0, 1.0)), 2);
        case 4: return low * (Expression(1.0) + sine(rate * x));
        case 5:
            return low * power(x, 2) / (Expression(1.0) + power(x, 2)) +
                   change * exponential(Expression(-1.0) * rate * power(slip, 2));
        default: return {};  // constant
    }
}

FrictionLaw belt_friction(Random& random) { return {FrictionLaw::Kind::planar, {random.number(0.05, 0.8)}, 0.0}; }

Expression normal_force(Random& random, const Expression& x) {
    Expression result(random.number(0.3, 5.0));
    if (random.chance(0.2)) result = result + Expression(random.number(0.1, 1.0)) * power(x, 2);
    return result;
}

Slider belt(const std::string& name, const Expression& slip, const Expression& x, Random& random) {
    Slider slider{name, {slip}, belt_friction(random), normal_force(random, x), coefficient(random, slip, x)};
    return slider;
}

Expression spring(Random& random, const Expression& x) {
    if (random.chance(0.25)) return well(random, x);
    return Expression(random.number(0.5, 8.0)) * power(x - random.number(-1.0, 1.0), 2);
}

void damp(Model& model, std::size_t i, Random& random) {
    if (random.chance(0.6)) model.dissipation.push_back(Expression(random.number(0.02, 0.8)) * power(u(i), 2));
}

/// One coordinate: a block that slides on one or two belts, with a spring, perhaps on the ground too, perhaps at a
/// wall.
Model block(Random& random) {
    Model model = point_masses(1, random.number(0.5, 2.0));
    model.potential = {spring(random, q(0))};
    model.sliders.push_back(belt("belt", u(0) - belt_speed(random), q(0), random));
    if (random.chance(0.3)) model.sliders.push_back(belt("second", u(0) - belt_speed(random), q(0), random));
    if (random.chance(0.1)) model.sliders.push_back({"ground", {u(0)}, belt_friction(random), 0.5, {}});
    if (random.chance(0.2)) model.contacts.push_back(floor_contact("wall", q(0) + random.number(0.2, 1.5), random));
    damp(model, 0, random);
    model.q0[0] = random.chance(0.3) ? 0.0 : random.number(0.0, 1.0);
    return model;
}

/// Two blocks with a spring between them, each on a belt of its own.
Model two_blocks(Random& random) {
    Model model = point_masses(2, random.number(0.5, 2.0));
    model.mass[1][1] = random.number(0.5, 2.0);
    model.potential = {spring(random, q(0)), Expression(random.number(0.5, 4.0)) * power(q(1) - q(0), 2)};
    if (random.chance(0.6)) model.potential.push_back(spring(random, q(1)));
    model.sliders.push_back(belt("first", u(0) - belt_speed(random), q(0), random));
    model.sliders.push_back(belt("second", u(1) - belt_speed(random), q(1), random));
    if (random.chance(0.2)) model.sliders.push_back(belt("third", u(1) - u(0) - belt_speed(random), q(1), random));
    damp(model, 0, random);
    damp(model, 1, random);
    return model;
}

Contact belt_contact(const std::string& name, const Expression& gap, const Expression& slip, Random& random) {
    Contact contact = floor_contact(name, gap, random);
    contact.slip = {slip};
    contact.friction = belt_friction(random);
    contact.coefficient = coefficient(random, slip, q(0));
    return contact;
}

/// A block on a conveyor: flat, inclined or wavy. An inclined spring changes the normal force.
Model conveyor(Random& random) {
    Model model = point_masses(2, random.number(0.5, 2.0));
    model.potential = {Expression(random.number(3.0, 12.0)) * q(1), spring(random, q(0))};
    if (random.chance(0.5)) {
        const double angle = random.number(-1.3, 1.3);
        const Expression length = Expression(std::cos(angle)) * q(0) + Expression(std::sin(angle)) * q(1);
        model.potential.push_back(Expression(random.number(0.5, 9.0)) * power(length - random.number(-0.5, 0.5), 2));
    }
    Expression height(0.0);
    if (random.chance(0.4)) height = Expression(random.number(-0.4, 0.4)) * q(0);
    if (random.chance(0.3))
        height = Expression(random.number(0.05, 0.3)) * sine(Expression(random.number(0.5, 3.0)) * q(0));
    model.contacts.push_back(belt_contact("belt", q(1) - height, u(0) - belt_speed(random), random));
    if (random.chance(0.2)) model.contacts.push_back(floor_contact("wall", q(0) + random.number(0.5, 2.0), random));
    if (random.chance(0.15)) model.sliders.push_back(belt("brush", u(0) - belt_speed(random), q(0), random));
    damp(model, 0, random);
    if (random.chance(0.3)) model.dissipation.push_back(Expression(random.number(0.02, 0.5)) * power(u(1), 2));
    model.q0 = {random.chance(0.3) ? 0.0 : random.number(-0.5, 0.5), random.number(0.0, 0.3)};
    return model;
}

/// A plate with two feet on one belt, or on two belts of opposite directions; and a rod with one foot below it.
Model feet(Random& random) {
    Model model = point_masses(3, random.number(0.5, 2.0));
    model.mass[2][2] = random.number(0.1, 0.8);
    const double half = random.number(0.3, 1.0), height = random.number(0.1, 1.0);
    model.potential = {Expression(random.number(5.0, 12.0)) * q(1), spring(random, q(0)),
                       Expression(random.number(0.5, 20.0)) * power(q(2), 2)};
    const auto foot = [&](const std::string& name, double side) {
        // The foot is at (side, −height) in the frame of the plate.
        const Expression down = Expression(side) * sine(q(2)) - Expression(height) * cosine(q(2));
        const Expression along = u(0) + (Expression(height) * cosine(q(2)) - Expression(side) * sine(q(2))) * u(2);
        model.contacts.push_back(belt_contact(name, q(1) + down, along - belt_speed(random), random));
    };
    if (random.chance(0.5)) {
        foot("left", -half);
        foot("right", half);
    } else {
        foot("tip", random.number(-0.6, 0.6));
    }
    for (std::size_t i = 0; i < 3; ++i) damp(model, i, random);
    model.q0 = {0.0, height + half + random.number(0.0, 0.2), 0.0};
    return model;
}

/// A block on a turntable or on a belt, with friction in the plane.
Model turntable(Random& random) {
    Model model = point_masses(2, random.number(0.5, 2.0));
    model.potential = {spring(random, q(0)), spring(random, q(1))};
    if (random.chance(0.4)) model.potential.push_back(Expression(random.number(-0.8, 0.8)) * q(0) * q(1));
    std::vector<Expression> slip = {u(0) - belt_speed(random), u(1)};
    if (random.chance(0.6)) {
        const Expression turn(belt_speed(random));
        slip = {u(0) + turn * (q(1) - random.number(-0.5, 0.5)), u(1) - turn * (q(0) - random.number(-0.5, 0.5))};
    }
    const Expression speed = square_root(power(slip[0], 2) + power(slip[1], 2));
    Slider slider{"table", slip, disk_friction(random), normal_force(random, q(0)), std::nullopt};
    if (random.chance(0.3))
        slider.friction = ellipse_friction(random);
    else if (random.chance(0.6))
        slider.coefficient = coefficient(random, speed, q(0));
    model.sliders.push_back(slider);
    damp(model, 0, random);
    damp(model, 1, random);
    model.q0 = {random.number(-0.5, 0.5), random.number(-0.5, 0.5)};
    return model;
}

/// A body that a belt carries in space: a plane above which it presses by its weight and by inclined springs.
Model sheet(Random& random) {
    Model model = point_masses(3, random.number(0.5, 2.0));
    model.potential = {spring(random, q(0)), spring(random, q(1)), Expression(random.number(3.0, 12.0)) * q(2)};
    if (random.chance(0.5))
        model.potential.push_back(Expression(random.number(0.3, 3.0)) *
                                  power(q(0) + Expression(random.number(-1.0, 1.0)) * q(2), 2));
    Contact contact = floor_contact("belt", q(2) - Expression(random.number(-0.2, 0.2)) * q(0), random);
    contact.slip = {u(0) - belt_speed(random), u(1)};
    contact.friction = random.chance(0.5) ? disk_friction(random) : ellipse_friction(random);
    model.contacts.push_back(contact);
    for (std::size_t i = 0; i < 3; ++i) damp(model, i, random);
    model.q0 = {0.0, 0.0, random.number(0.0, 0.2)};
    return model;
}

/// The same bodies in motion, some of them carried by the belt at the start.
template <Model (*make)(Random&)>
Model moving(Random& random) {
    Model model = make(random);
    for (Contact& contact : model.contacts)
        if (contact.e_n > 0.95) contact.e_n = 0.5;
    random_velocities(model, random, 2.0);
    model.t_end = random.number(0.8, 2.5);
    return model;
}

}  // namespace

const std::vector<Generator>& belt_generators() {
    static const std::vector<Generator> generators = {
        {"block", admissible_model<block>},         {"two-blocks", admissible_model<two_blocks>},
        {"conveyor", admissible_model<conveyor>},   {"feet", admissible_model<feet>},
        {"turntable", admissible_model<turntable>}, {"sheet", admissible_model<sheet>},
    };
    return generators;
}

const std::vector<Generator>& belt_motion_generators() {
    static const std::vector<Generator> generators = {
        {"belt-block", admissible_model<moving<block>>},
        {"belt-conveyor", admissible_model<moving<conveyor>>},
        {"belt-feet", admissible_model<moving<feet>>},
        {"belt-turntable", admissible_model<moving<turntable>>},
    };
    return generators;
}

}  // namespace trials
