// SPDX-License-Identifier: Apache-2.0
#include "machine/random_models.hpp"

#include <fmt/format.h>

#include "machine/random_parts.hpp"

namespace trials {

namespace {

/// One or two coordinates between walls.
Model walls(Random& random) {
    const std::size_t n = static_cast<std::size_t>(random.whole(1, 2));
    Model model = point_masses(n, random.number(0.5, 2.0));
    for (std::size_t i = 0; i < n; ++i) {
        model.potential.push_back(well(random, q(i)));
        drive(model, i, random, 3.0);
        model.q0[i] = random.number(-0.5, 0.5);
        model.contacts.push_back(
            floor_contact(fmt::format("right{}", i), Expression(random.number(0.6, 1.5)) - q(i), random));
        if (random.chance(0.6))
            model.contacts.push_back(floor_contact(fmt::format("left{}", i), q(i) + random.number(0.6, 1.5), random));
    }
    if (n == 2 && random.chance(0.6))
        model.potential.push_back(Expression(random.number(0.2, 4.0)) * power(q(1) - q(0), 2));
    random_velocities(model, random, 3.0);
    model.t_end = random.number(1.0, 4.0);
    return model;
}

/// A block above a rough floor, which may be curved, pulled to and fro.
Model rough_floor(Random& random) {
    Model model = point_masses(2, random.number(0.5, 2.0));
    model.potential = {Expression(random.number(3.0, 12.0)) * q(1), well(random, q(0))};
    drive(model, 0, random, 8.0);
    if (random.chance(0.3)) drive(model, 1, random, 8.0);
    Expression height = 0.0;
    if (random.chance(0.4))
        height = Expression(random.number(0.05, 0.3)) * sine(Expression(random.number(0.5, 4.0)) * q(0));
    if (random.chance(0.2)) height = Expression(random.number(0.05, 0.3)) * power(q(0), 2);
    Contact contact = floor_contact("floor", q(1) - height, random);
    contact.friction = planar_friction(random);
    contact.slip = {u(0)};
    if (random.chance(0.2)) contact.e_t = random.number(-0.5, 0.5);
    model.contacts = {contact};
    random_velocities(model, random, 2.0);
    const double lift = random.chance(0.5) ? 0.0 : random.number(0.1, 0.8);
    model.q0[1] = contact.gap.value({0.0, model.q0, model.u0}) == 0.0 ? lift : 1.0;
    if (lift == 0.0) model.u0[1] = 0.0;
    if (random.chance(0.3)) model.u0[0] = 0.0;
    model.t_end = random.number(1.0, 4.0);
    return model;
}

/// A block on a plane with friction in two directions.
Model plane_with(Random& random, FrictionLaw (*friction)(Random&)) {
    Model model = point_masses(3, random.number(0.5, 2.0));
    if (random.chance(0.4)) model.mass[1][1] = random.number(0.5, 2.0);
    model.potential = {Expression(random.number(3.0, 12.0)) * q(2)};
    for (std::size_t i = 0; i < 2; ++i) {
        if (random.chance(0.6))
            model.potential.push_back(Expression(random.number(0.3, 4.0)) * power(q(i) - random.number(-1, 1), 2));
        drive(model, i, random, 8.0);
    }
    Contact contact = floor_contact("plane", q(2), random);
    contact.friction = friction(random);
    contact.slip = {u(0), u(1)};
    if (random.chance(0.3)) contact.slip = {u(0) + Expression(random.number(-0.5, 0.5)) * u(1), u(1)};
    if (random.chance(0.2)) contact.slip[0] = contact.slip[0] - random.number(-1.0, 1.0);
    model.contacts = {contact};
    random_velocities(model, random, 2.0);
    model.u0[2] = 0.0;
    if (random.chance(0.4)) model.q0[2] = random.number(0.05, 0.6);
    if (random.chance(0.3)) model.u0[0] = model.u0[1] = 0.0;
    model.t_end = random.number(1.0, 3.0);
    return model;
}

Model spatial_motion(Random& random) { return plane_with(random, disk_friction); }
Model orthotropic(Random& random) { return plane_with(random, ellipse_friction); }

/// A disk that slides and drills on a plane.
Model contensou(Random& random) {
    Model model = point_masses(4, random.number(0.5, 2.0));
    model.mass[3][3] = random.number(0.05, 0.5);
    model.potential = {Expression(random.number(3.0, 12.0)) * q(2)};
    for (const std::size_t i : {0U, 1U, 3U}) {
        drive(model, i, random, i == 3 ? 1.0 : 5.0);
        if (random.chance(0.4)) model.potential.push_back(Expression(random.number(0.3, 3.0)) * power(q(i), 2));
    }
    Contact contact = floor_contact("patch", q(2), random);
    contact.friction = {FrictionLaw::Kind::contensou, {random.number(0.1, 0.8)}, random.number(0.05, 0.5)};
    contact.slip = {u(0), u(1), u(3)};
    model.contacts = {contact};
    random_velocities(model, random, 2.0);
    model.u0[2] = 0.0;
    if (random.chance(0.3)) model.u0 = {0.0, 0.0, 0.0, 0.0};
    if (random.chance(0.2)) model.q0[2] = random.number(0.05, 0.3);
    model.t_end = random.number(0.5, 2.0);
    return model;
}

/// Oscillators held by friction of known normal forces, some of them on the same directions.
Model sliders(Random& random) {
    const std::size_t n = static_cast<std::size_t>(random.whole(1, 3));
    Model model = point_masses(n, random.number(0.5, 2.0));
    for (std::size_t i = 0; i < n; ++i) {
        model.potential.push_back(well(random, q(i)));
        model.q0[i] = random.number(-1.0, 1.0);
        drive(model, i, random, 5.0);
    }
    if (n > 1) model.potential.push_back(Expression(random.number(0.2, 3.0)) * power(q(1) - q(0), 2));
    const int count = random.whole(1, 3);
    for (int i = 0; i < count; ++i) model.sliders.push_back(random_slider(fmt::format("s{}", i), n, random));
    random_velocities(model, random, 2.0);
    if (random.chance(0.3)) model.u0.assign(n, 0.0);
    model.t_end = random.number(1.0, 4.0);
    return model;
}

/// Contacts and sliders that stick on the same directions: their forces are not unique.
Model redundant(Random& random) {
    const bool spatial_friction = random.chance(0.4);
    const std::size_t n = spatial_friction ? 3 : 2, up = n - 1;
    Model model = point_masses(n, random.number(0.5, 2.0));
    model.potential = {Expression(random.number(5.0, 12.0)) * q(up),
                       Expression(random.number(0.3, 3.0)) * power(q(0), 2)};
    for (std::size_t i = 0; i < up; ++i) drive(model, i, random, 8.0);
    if (model.forces[0].empty()) model.forces[0].push_back(wave(random, 8.0, 1.0, 6.0));
    const int feet = random.whole(1, 3);
    for (int i = 0; i < feet; ++i) {
        Contact foot = floor_contact(fmt::format("foot{}", i), q(up), random);
        foot.e_n = 0.0;
        foot.friction = planar_friction(random);
        foot.slip = {Expression(random.chance(0.5) ? 1.0 : random.number(0.3, 1.5)) * u(0)};
        if (spatial_friction && random.chance(0.7)) {
            foot.friction = random.chance(0.6) ? disk_friction(random) : ellipse_friction(random);
            foot.slip = {u(0), u(1)};
        }
        model.contacts.push_back(foot);
    }
    const int guides = random.whole(feet == 1 ? 1 : 0, 2);
    for (int i = 0; i < guides; ++i) model.sliders.push_back(random_slider(fmt::format("s{}", i), n, random));
    if (random.chance(0.4)) model.u0[0] = random.number(-2.0, 2.0);
    model.t_end = random.number(1.0, 3.0);
    return model;
}

/// A ball above a table that oscillates.
Model moving_table(Random& random) {
    const bool friction = random.chance(0.3);
    Model model = point_masses(friction ? 2 : 1, 1.0);
    const std::size_t up = model.size() - 1;
    const double gravity = 10.0, frequency = random.number(1.0, 12.0), gamma = random.number(0.1, 3.0);
    const double amplitude = gamma * gravity / (frequency * frequency);
    model.potential = {Expression(gravity) * q(up)};
    const Expression table = Expression(amplitude) * sine(Expression(frequency) * t());
    Contact contact = floor_contact("table", q(up) - table, random);
    contact.e_n = random.chance(0.4) ? 0.0 : random.number(0.1, 0.8);
    if (friction) {
        contact.friction = planar_friction(random);
        contact.slip = {u(0) - Expression(random.number(-1.0, 1.0))};
        model.u0[0] = random.number(-1.0, 1.0);
        drive(model, 0, random, 3.0);
    }
    model.contacts = {contact};
    if (random.chance(0.5)) {
        model.u0[up] = amplitude * frequency;
    } else {
        model.q0[up] = random.number(0.02, 0.5);
    }
    model.t_end = random.number(2.0, 8.0);
    return model;
}

/// Narrow pulses in time and narrow bumps in space, which a long step can jump over.
Model narrow(Random& random) {
    Model model = point_masses(2, 1.0);
    model.has_pulses = true;
    const double width = std::vector<double>{0.1, 0.03, 0.01, 0.003}[static_cast<std::size_t>(random.whole(0, 3))];
    const auto peak = [&](const Expression& x, double at) {
        const Expression s = (x - at) / width;
        return random.chance(0.5) ? exponential(Expression(-1.0) * power(s, 2))
                                  : Expression(1.0) / (Expression(1.0) + power(s, 2));
    };
    model.u0 = {random.number(0.5, 2.0), random.number(-0.2, 0.2)};
    model.q0 = {0.0, random.number(0.3, 0.7)};
    model.potential = {Expression(random.number(0.0, 1.0)) * power(q(1), 2)};
    const Expression bump =
        Expression(random.number(0.3, 1.2)) *
        (random.chance(0.5) ? peak(q(0), random.number(0.8, 2.0)) : peak(t(), random.number(0.4, 1.5)));
    Contact contact = floor_contact("bump", q(1) + random.number(0.3, 0.8) - bump, random);
    if (random.chance(0.4)) contact.friction = planar_friction(random), contact.slip = {u(0)};
    model.contacts = {contact};
    if (random.chance(0.3))
        model.forces[1].push_back(Expression(random.number(-2.0, 2.0) / width) * peak(t(), random.number(0.3, 1.2)));
    model.t_end = random.number(1.5, 2.5);
    return model;
}

/// Pendulums with a mass matrix that depends on the position, and stops.
Model pendulums(Random& random) {
    const std::size_t n = static_cast<std::size_t>(random.whole(2, 3));
    Model model = point_masses(n, 1.0);
    const double coupling = random.number(0.2, 0.8);
    model.mass[0][0] = Expression(random.number(1.5, 3.0)) + Expression(coupling) * cosine(q(1));
    model.mass[0][1] = model.mass[1][0] = Expression(0.5) + Expression(coupling / 2) * cosine(q(1));
    for (std::size_t i = 0; i < n; ++i) {
        model.potential.push_back(Expression(-random.number(2.0, 10.0)) * cosine(q(i)));
        model.q0[i] = random.number(-0.5, 0.5);
        drive(model, i, random, 2.0);
    }
    if (n == 3) model.potential.push_back(Expression(random.number(0.5, 4.0)) * power(q(2) - q(1), 2));
    Contact stop = floor_contact(
        "stop", Expression(random.number(0.6, 1.2)) - q(0) - Expression(random.number(0.0, 1.0)) * sine(q(1)), random);
    if (random.chance(0.4)) stop.friction = planar_friction(random), stop.slip = {u(1) + Expression(0.5) * u(0)};
    model.contacts = {stop};
    if (random.chance(0.5)) model.contacts.push_back(floor_contact("wall", q(1) + random.number(0.6, 1.2), random));
    if (random.chance(0.4)) model.sliders.push_back(random_slider("joint", n, random));
    random_velocities(model, random, 2.0);
    model.t_end = random.number(1.0, 3.0);
    return model;
}

/// Beads on a line that hit each other and a wall.
Model beads(Random& random) {
    const std::size_t n = static_cast<std::size_t>(random.whole(2, 4));
    Model model = point_masses(n, 1.0);
    for (std::size_t i = 0; i < n; ++i) {
        model.mass[i][i] = random.number(0.5, 2.0);
        model.q0[i] = static_cast<double>(i) + (random.chance(0.4) ? 0.0 : random.number(0.0, 0.3));
        if (i > 0) model.contacts.push_back(floor_contact(fmt::format("c{}", i), q(i) - q(i - 1) - 0.9, random));
        if (random.chance(0.4))
            model.potential.push_back(Expression(random.number(0.3, 4.0)) * power(q(i) - static_cast<double>(i), 2));
    }
    if (random.chance(0.6))
        model.contacts.push_back(floor_contact("wall", Expression(static_cast<double>(n) + 0.4) - q(n - 1), random));
    if (random.chance(0.4)) {
        model.contacts[0].friction = planar_friction(random);
        model.contacts[0].slip = {u(n - 1) - random.number(-1.0, 1.0)};
    }
    if (random.chance(0.4)) model.sliders.push_back(random_slider("s", n, random));
    random_velocities(model, random, 2.0);
    model.u0[0] = random.number(0.5, 3.0);
    model.t_end = random.number(1.0, 4.0);
    return model;
}

/// A block with two corners above a rough, possibly inclined floor.
Model rocking(Random& random) {
    Model model = point_masses(3, random.number(0.5, 2.0));
    model.coordinates[2] = "phi";
    const double a = random.number(0.1, 0.5), b = random.number(0.1, 0.5);
    model.mass[2][2] = random.number(0.05, 0.3);
    model.potential = {Expression(random.number(5.0, 12.0)) * q(1)};
    drive(model, 0, random, 8.0);
    drive(model, 2, random, 1.5);
    const double e_n = random.chance(0.4) ? 0.0 : random.number(0.1, 0.7), mu = random.number(0.05, 0.7);
    for (const double side : {-1.0, 1.0}) {
        Contact corner = floor_contact(side < 0 ? "left" : "right", Expression(), random);
        const Expression height = Expression(side * a) * sine(q(2)) - Expression(b) * cosine(q(2));
        corner.gap = q(1) + height;
        corner.slip = {u(0) - u(2) * height};
        corner.friction = {FrictionLaw::Kind::planar, {mu}, 0.0};
        corner.e_n = e_n;
        model.contacts.push_back(corner);
    }
    model.q0[1] = random.chance(0.5) ? b : b + random.number(0.3, 0.6);
    if (model.q0[1] != b) model.q0[2] = random.number(-0.4, 0.4), random_velocities(model, random, 1.0);
    if (model.q0[1] == b && random.chance(0.5)) model.u0[0] = random.number(-2.0, 2.0);
    model.t_end = random.number(0.5, 2.0);
    return model;
}

/// Walls that divide the space, and potentials with several wells.
Model divided(Random& random) {
    Model model = point_masses(static_cast<std::size_t>(random.whole(1, 2)), random.number(0.5, 2.0));
    model.potential.push_back(well(random, q(0)));
    const double at = random.number(-1.0, 1.0), half = random.number(0.05, 0.4);
    Contact wall = floor_contact("wall", power(q(0) - at, 2) - half * half, random);
    if (model.size() == 2) {
        model.potential.push_back(well(random, q(1)));
        if (random.chance(0.5)) wall.friction = planar_friction(random), wall.slip = {u(1)};
        if (random.chance(0.5)) wall.gap = wall.gap + Expression(random.number(-0.03, 0.3)) * power(q(1), 2);
    }
    model.contacts = {wall};
    drive(model, 0, random, 3.0);
    model.q0[0] = at + random.sign() * random.number(0.6, 1.5);
    random_velocities(model, random, 3.0);
    model.t_end = random.number(1.0, 4.0);
    return model;
}

}  // namespace

const std::vector<Generator>& motion_generators() {
    static const std::vector<Generator> generators = {
        {"walls", admissible_model<walls>},
        {"rough-floor", admissible_model<rough_floor>},
        {"spatial", admissible_model<spatial_motion>},
        {"orthotropic", admissible_model<orthotropic>},
        {"contensou", admissible_model<contensou>},
        {"sliders", admissible_model<sliders>},
        {"redundant", admissible_model<redundant>},
        {"moving-table", admissible_model<moving_table>},
        {"narrow", admissible_model<narrow>},
        {"pendulums", admissible_model<pendulums>},
        {"beads", admissible_model<beads>},
        {"rocking", admissible_model<rocking>},
        {"divided", admissible_model<divided>},
    };
    return generators;
}

}  // namespace trials
