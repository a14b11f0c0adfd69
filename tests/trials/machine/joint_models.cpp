// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "machine/random_models.hpp"
#include "machine/random_parts.hpp"

namespace trials {

namespace {

/// A bead on a curve y = f(x), perhaps a moving one, with friction that is proportional to the size of the reaction.
Model wire(Random& random) {
    Model model = point_masses(2, random.number(0.5, 2.0));
    model.potential = {Expression(random.number(-10.0, 10.0)) * q(1), well(random, q(0))};
    drive(model, 0, random, 6.0);
    drive(model, 1, random, 6.0);
    Expression height = Expression(random.number(-0.5, 0.5)) * q(0);
    if (random.chance(0.5))
        height = Expression(random.number(0.1, 0.5)) * sine(Expression(random.number(0.5, 3.0)) * q(0));
    if (random.chance(0.2)) height = height + wave(random, 0.3, 0.5, 4.0);
    Constraint constraint{"wire", q(1) - height, {}, {}};
    if (random.chance(0.7)) constraint.friction = planar_friction(random), constraint.slip = {u(0)};
    model.constraints = {constraint};
    model.q0[0] = random.number(-0.5, 0.5);
    if (random.chance(0.5))
        model.contacts = {floor_contact("stop", Expression(random.number(0.7, 1.2)) - q(0), random)};
    random_velocities(model, random, 2.0);
    const Point start{0.0, model.q0, model.u0};
    model.q0[1] = height.value(start);
    model.u0[1] = height.derivative({Symbol::Kind::position, 0}).value(start) * model.u0[0] +
                  height.derivative({Symbol::Kind::time, 0}).value(start);
    model.t_end = random.number(1.0, 3.0);
    return model;
}

/// A body between two parallel plates, with friction in a plane: the reaction may change its sign.
Model plates(Random& random) {
    Model model = point_masses(3, random.number(0.5, 2.0));
    for (std::size_t i = 0; i < 3; ++i) drive(model, i, random, 8.0);
    model.forces[2].push_back(random.number(-8.0, 8.0));
    if (random.chance(0.6)) model.potential.push_back(Expression(random.number(0.3, 4.0)) * power(q(0), 2));
    if (random.chance(0.4)) model.potential.push_back(Expression(random.number(0.3, 2.0)) * q(0) * q(2));
    Constraint constraint{"plates", q(2), {u(0), u(1)}, disk_friction(random)};
    if (random.chance(0.3)) constraint.friction = ellipse_friction(random);
    model.constraints = {constraint};
    random_velocities(model, random, 2.0);
    if (random.chance(0.3)) model.u0 = {0.0, 0.0, 0.0};
    model.u0[2] = 0.0;
    model.t_end = random.number(0.5, 2.5);
    return model;
}

/// Rotors that one-way clutches couple to each other or to the ground.
Model clutches(Random& random) {
    const std::size_t n = static_cast<std::size_t>(random.whole(1, 3));
    Model model = point_masses(n, random.number(0.5, 2.0));
    for (std::size_t i = 0; i < n; ++i) {
        drive(model, i, random, 6.0);
        if (random.chance(0.5)) model.potential.push_back(Expression(random.number(0.3, 6.0)) * power(q(i), 2));
        const Expression other = i > 0 ? u(i - 1) : Expression(0.0);
        if (i == 0 ? random.chance(0.6) : random.chance(0.8))
            model.clutches.push_back({fmt::format("clutch{}", i), u(i) - other});
        model.u0[i] = (i > 0 ? model.u0[i - 1] : 0.0) + (random.chance(0.3) ? 0.0 : random.number(0.0, 1.5));
    }
    if (model.clutches.empty()) model.clutches.push_back({"clutch", u(0)});
    if (model.forces[0].empty()) model.forces[0].push_back(wave(random, 6.0, 0.5, 6.0));
    if (random.chance(0.3)) model.sliders.push_back(random_slider("brake", n, random));
    if (random.chance(0.3))
        model.contacts.push_back(floor_contact("stop", Expression(random.number(0.3, 1.0)) - q(0), random));
    model.t_end = random.number(1.0, 4.0);
    return model;
}

/// A ball on a plane that slides, drills and rolls: x, y, z of its centre, and three angles of rotation, which for
/// these laws count as coordinates.
Model rolling(Random& random) {
    Model model = point_masses(6, random.number(0.5, 2.0));
    const double radius = random.number(0.1, 0.5), inertia = random.number(0.02, 0.2);
    for (std::size_t i = 3; i < 6; ++i) model.mass[i][i] = inertia;
    model.potential = {Expression(random.number(5.0, 12.0)) * q(2)};
    for (const std::size_t i : {0U, 1U, 3U, 4U, 5U}) drive(model, i, random, i < 2 ? 5.0 : 1.0);
    Contact contact = floor_contact("ground", q(2), random);
    contact.friction = {FrictionLaw::Kind::rolling, {random.number(0.1, 0.8)}, random.number(0.01, 0.2)};
    contact.friction.rolling_radius = random.number(0.01, 0.1);
    contact.slip = {u(0) - Expression(radius) * u(4), u(1) + Expression(radius) * u(3), u(5), u(3), u(4)};
    model.contacts = {contact};
    random_velocities(model, random, 2.0);
    model.u0[2] = 0.0;
    if (random.chance(0.2)) model.u0.assign(6, 0.0);
    if (random.chance(0.3)) model.q0[2] = random.number(0.05, 0.4);
    model.t_end = random.number(0.3, 1.0);
    return model;
}

/// A block that slides over the corners of a floor, or stands on a table whose velocity jumps.
Model corners(Random& random) {
    Model model = point_masses(2, random.number(0.5, 2.0));
    model.potential = {Expression(random.number(5.0, 12.0)) * q(1)};
    drive(model, 0, random, 3.0);
    Expression height = Expression(random.number(-0.2, 0.2)) * q(0);
    const int count = random.whole(1, 3);
    for (int i = 0; i < count; ++i)
        height = height + Expression(random.number(-0.4, 0.4)) *
                              absolute(q(0) - (random.number(0.2, 0.5) + 0.5 * static_cast<double>(i)));
    if (random.chance(0.3))
        height = height + Expression(random.number(-0.4, 0.4)) * absolute(t() - random.number(0.2, 1.0));
    Contact floor = floor_contact("floor", q(1) - height, random);
    if (random.chance(0.6)) floor.friction = planar_friction(random), floor.slip = {u(0)};
    model.contacts = {floor};
    model.u0[0] = random.number(0.3, 3.0);
    const Point start{0.0, model.q0, model.u0};
    model.q0[1] = height.value(start);
    model.u0[1] = height.derivative({Symbol::Kind::position, 0}).value(start) * model.u0[0] +
                  height.derivative({Symbol::Kind::time, 0}).value(start);
    model.t_end = random.number(0.5, 2.0);
    return model;
}

}  // namespace

const std::vector<Generator>& joint_generators() {
    static const std::vector<Generator> generators = {
        {"wire", admissible_model<wire>},         {"plates", admissible_model<plates>},
        {"clutches", admissible_model<clutches>}, {"rolling", admissible_model<rolling>},
        {"corners", admissible_model<corners>},
    };
    return generators;
}

}  // namespace trials
