// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "machine/random_models.hpp"
#include "machine/random_parts.hpp"

namespace trials {

namespace {

/// A plate on a blade that slides along its direction phi and not across: x, y, phi. By chance its centre of mass lies
/// beside the blade, the blade is driven across, has friction along its direction, or the plate strikes a wall.
Model blades(Random& random) {
    Model model = point_masses(3, random.number(0.5, 2.0));
    const double inertia = random.number(0.1, 1.0);
    model.mass[2][2] = inertia;
    if (random.chance(0.5)) {
        // The centre of mass lies c ahead of the blade: v = (x' − c phi' sin phi, y' + c phi' cos phi).
        const double m = random.number(0.3, 1.5), c = random.number(-0.4, 0.4);
        model.mass[0][0] = model.mass[1][1] = m;
        model.mass[0][2] = model.mass[2][0] = Expression(-m * c) * sine(q(2));
        model.mass[1][2] = model.mass[2][1] = Expression(m * c) * cosine(q(2));
        model.mass[2][2] = inertia + m * c * c;
    }
    for (std::size_t i = 0; i < 3; ++i) drive(model, i, random, i < 2 ? 5.0 : 1.5);
    if (random.chance(0.4)) model.potential.push_back(well(random, q(0)));
    Constraint blade{"blade", 0.0, {}, {}, u(0) * sine(q(2)) - u(1) * cosine(q(2))};
    if (random.chance(0.5)) {
        blade.friction = planar_friction(random);
        blade.slip = {u(0) * cosine(q(2)) + u(1) * sine(q(2))};
    }
    model.q0[2] = random.number(-3.0, 3.0);
    const double speed = random.chance(0.3) ? 0.0 : random.number(-2.0, 2.0);
    model.u0 = {speed * std::cos(model.q0[2]), speed * std::sin(model.q0[2]), random.number(-2.0, 2.0)};
    if (random.chance(0.2)) {  // driven across, from rest
        const Expression across = Expression(random.number(0.1, 0.8)) * sine(Expression(random.number(0.5, 4.0)) * t());
        blade.velocity = *blade.velocity - across;
    }
    model.constraints = {blade};
    if (random.chance(0.5)) {
        Contact wall = floor_contact("wall", Expression(random.number(0.3, 1.0)) - q(0), random);
        if (random.chance(0.5)) wall.friction = planar_friction(random), wall.slip = {u(1)};
        model.contacts = {wall};
    }
    if (random.chance(0.3)) model.sliders.push_back(random_slider("brake", 3, random));
    model.t_end = random.number(0.5, 3.0);
    return model;
}

/// A wheel that rolls without slip on a beam: x and phi of the wheel, the height y of its axle, coupled by a constraint
/// on velocities whose radius may vary with the time.
Model rollers(Random& random) {
    Model model = point_masses(3, random.number(0.5, 2.0));
    model.mass[2][2] = random.number(0.05, 0.5);
    model.potential = {Expression(random.number(4.0, 11.0)) * q(1)};
    for (const std::size_t i : {0U, 2U}) drive(model, i, random, i == 0 ? 5.0 : 2.0);
    Expression radius = random.number(0.2, 0.8);
    if (random.chance(0.3)) radius = radius + wave(random, 0.15, 0.5, 4.0);
    model.constraints = {{"rolling", 0.0, {}, {}, u(0) - radius * u(2)}};
    const double turning = random.number(-3.0, 3.0);
    model.u0 = {radius.value({0.0, model.q0, model.u0}) * turning, 0.0, turning};
    Contact floor = floor_contact("floor", q(1), random);
    if (random.chance(0.6)) floor.friction = planar_friction(random), floor.slip = {u(0)};
    model.contacts = {floor};
    model.q0[1] = random.chance(0.5) ? 0.0 : random.number(0.05, 0.5);
    if (random.chance(0.4))
        model.contacts.push_back(floor_contact("stop", Expression(random.number(0.4, 1.5)) - q(0), random));
    model.t_end = random.number(0.5, 2.5);
    return model;
}

/// A block on a table that ends, or whose plate opens at some time; a lower floor catches it.
Model ledges(Random& random) {
    Model model = point_masses(2, random.number(0.5, 2.0));
    model.potential = {Expression(random.number(5.0, 12.0)) * q(1)};
    drive(model, 0, random, 5.0);
    Expression height = random.chance(0.5) ? Expression(0.0) : Expression(random.number(-0.3, 0.3)) * q(0);
    if (random.chance(0.3))
        height = Expression(random.number(0.05, 0.3)) * sine(Expression(random.number(0.5, 3.0)) * q(0));
    Contact table = floor_contact("table", q(1) - height, random);
    if (random.chance(0.7)) table.friction = planar_friction(random), table.slip = {u(0)};
    switch (random.whole(0, 3)) {
        case 0: table.condition = Expression(random.number(0.2, 1.2)) - q(0); break;
        case 1: table.condition = Expression(random.number(0.2, 1.0)) - t(); break;
        case 2: table.condition = Expression(random.number(0.5, 2.0)) - absolute(q(0)); break;
        default: table.condition = Expression(random.number(0.5, 2.5)) - u(0); break;
    }
    model.contacts = {table};
    if (random.chance(0.7)) {
        Contact floor = floor_contact("floor", q(1) + random.number(0.4, 1.5), random);
        if (random.chance(0.6)) floor.friction = planar_friction(random), floor.slip = {u(0)};
        model.contacts.push_back(floor);
    }
    model.u0[0] = random.number(-1.0, 3.0);
    const Point start{0.0, model.q0, model.u0};
    model.q0[1] = height.value(start) + (random.chance(0.3) ? random.number(0.1, 0.5) : 0.0);
    model.u0[1] = height.derivative({Symbol::Kind::position, 0}).value(start) * model.u0[0];
    model.t_end = random.number(0.5, 2.0);
    return model;
}

/// A ball between walls with windows, which open and close with the time or are parts of a wall.
Model windows(Random& random) {
    Model model = point_masses(2, random.number(0.5, 2.0));
    for (std::size_t i = 0; i < 2; ++i) {
        drive(model, i, random, 3.0);
        if (random.chance(0.3)) model.potential.push_back(well(random, q(i)));
    }
    const int walls = random.whole(1, 3);
    for (int w = 0; w < walls; ++w) {
        const double side = w == 1 ? -1.0 : 1.0, at = random.number(0.3, 1.0) + (w == 2 ? 1.0 : 0.0);
        Contact wall = floor_contact(w == 0   ? "right"
                                     : w == 1 ? "left"
                                              : "far",
                                     Expression(at) - Expression(side) * q(0), random);
        if (random.chance(0.4)) wall.friction = planar_friction(random), wall.slip = {u(1)};
        if (w != 2)
            wall.condition = random.chance(0.5)
                                 ? absolute(q(1) - random.number(-0.5, 0.5)) - random.number(0.1, 0.5)
                                 : sine(Expression(random.number(1.0, 8.0)) * t() + random.number(0.0, 6.0)) +
                                       random.number(-0.5, 0.8);
        model.contacts.push_back(wall);
    }
    random_velocities(model, random, 3.0);
    model.t_end = random.number(0.5, 3.0);
    return model;
}

}  // namespace

const std::vector<Generator>& velocity_constraint_generators() {
    static const std::vector<Generator> generators = {{"blades", admissible_model<blades>},
                                                      {"rollers", admissible_model<rollers>}};
    return generators;
}

const std::vector<Generator>& conditional_generators() {
    static const std::vector<Generator> generators = {{"ledges", admissible_model<ledges>},
                                                      {"windows", admissible_model<windows>}};
    return generators;
}

}  // namespace trials
