// SPDX-License-Identifier: Apache-2.0
//
// Models in which everything that a model file can say occurs together: the other generators make one class each.
#include <fmt/format.h>

#include <cmath>

#include "machine/random_models.hpp"
#include "machine/random_parts.hpp"

namespace trials {

namespace {

std::size_t any_of(std::size_t n, Random& random) {
    return static_cast<std::size_t>(random.whole(0, static_cast<int>(n) - 1));
}

/// Σ c_i x_i over some coordinates or velocities, at least one.
Expression combination(std::size_t n, Expression (*variable)(std::size_t), Random& random) {
    Expression result;
    for (std::size_t i = 0; i < n; ++i)
        if (random.chance(0.5)) result = result + Expression(random.number(-1.0, 1.0)) * variable(i);
    return result.is_zero() ? variable(any_of(n, random)) : result;
}

/// Masses that are coupled, and by chance depend on the position: M = diag + c cᵀ with c_0 = a, c_1 = b cos(q_0 − q_1).
void couple_masses(Model& model, Random& random) {
    const std::size_t n = model.size();
    for (std::size_t i = 0; i < n; ++i) model.mass[i][i] = random.number(0.4, 2.5);
    if (n < 2 || !random.chance(0.6)) return;
    const std::size_t i = any_of(n - 1, random), j = i + 1;
    const Expression a = random.number(-0.8, 0.8);
    Expression b = random.number(-0.8, 0.8);
    if (random.chance(0.4)) b = b * cosine(q(i) - Expression(random.number(0.3, 1.5)) * q(j));
    model.mass[i][i] = model.mass[i][i] + a * a;
    model.mass[j][j] = model.mass[j][j] + b * b;
    model.mass[i][j] = model.mass[j][i] = a * b;
}

/// A gap that is affine, curved or moving, and positive at the start.
Expression random_gap(const Model& model, Random& random) {
    Expression gap = combination(model.size(), Expression::position, random);
    if (random.chance(0.3)) {
        const std::size_t i = any_of(model.size(), random);
        gap = gap + (random.chance(0.5)
                         ? Expression(random.number(-0.4, 0.4)) * power(q(i), 2)
                         : Expression(random.number(-0.3, 0.3)) * sine(Expression(random.number(0.5, 3.0)) * q(i)));
    }
    if (random.chance(0.25)) gap = gap + wave(random, 0.15, 1.0, 7.0);
    const double now = gap.value({0.0, model.q0, model.u0});
    return gap - now + (random.chance(0.25) ? 0.0 : random.number(0.02, 0.8));
}

void add_friction(const Model& model, std::vector<Expression>& slip, FrictionLaw& law, Random& random) {
    const std::size_t n = model.size();
    const auto row = [&] {
        Expression result = combination(n, Expression::velocity, random);
        if (random.chance(0.2)) result = result - random.number(-1.0, 1.0);      // a belt
        if (random.chance(0.15)) result = result - wave(random, 0.5, 0.5, 5.0);  // a shaking one
        return result;
    };
    if (n >= 3 && random.chance(0.3)) {
        slip = {row(), row()};
        law = random.chance(0.7) ? disk_friction(random) : ellipse_friction(random);
        return;
    }
    slip = {row()};
    law = planar_friction(random);
    if (random.chance(0.2)) law.mu_static = std::round((law.mu[0] + random.number(0.05, 0.4)) * 1000.0) / 1000.0;
}

/// Starts on the constraint: g − g(0), and velocities without their part along its gradient.
void add_constraint(Model& model, Random& random) {
    const std::size_t n = model.size();
    Constraint constraint{"joint", 0.0, {}, {}};
    const Point start{0.0, model.q0, model.u0};
    Vector gradient;
    double rate = 0.0;
    if (random.chance(0.5)) {
        Expression gap = combination(n, Expression::position, random);
        if (random.chance(0.4)) gap = gap + Expression(random.number(-0.5, 0.5)) * power(q(any_of(n, random)), 2);
        if (random.chance(0.3)) gap = gap + wave(random, 0.2, 0.5, 4.0);
        constraint.gap = gap - gap.value(start);
        for (std::size_t i = 0; i < n; ++i)
            gradient.push_back(gap.derivative({Symbol::Kind::position, i}).value(start));
        rate = gap.derivative({Symbol::Kind::time, 0}).value(start);
    } else {
        Expression velocity = combination(n, Expression::velocity, random);
        if (n > 1 && random.chance(0.5))
            velocity = velocity + Expression(random.number(-1.0, 1.0)) * q(any_of(n, random)) * u(any_of(n, random));
        if (random.chance(0.2))
            velocity =
                velocity - Expression(random.number(-0.6, 0.6)) * sine(Expression(random.number(0.5, 4.0)) * t());
        constraint.velocity = velocity;
        for (std::size_t i = 0; i < n; ++i)
            gradient.push_back(velocity.derivative({Symbol::Kind::velocity, i}).value(start));
        rate = velocity.value(start) - dot(gradient, start.u);
    }
    const double square = dot(gradient, gradient);
    if (square < 1e-2) return;
    const double excess = (dot(gradient, model.u0) + rate) / square;
    for (std::size_t i = 0; i < n; ++i) model.u0[i] -= excess * gradient[i];
    if (random.chance(0.4)) add_friction(model, constraint.slip, constraint.friction, random);
    model.constraints = {constraint};
}

Model mixtures(Random& random) {
    const std::size_t n = static_cast<std::size_t>(random.whole(1, 4));
    Model model = point_masses(n, 1.0);
    couple_masses(model, random);
    for (std::size_t i = 0; i < n; ++i) {
        model.q0[i] = random.chance(0.4) ? 0.0 : random.number(-0.8, 0.8);
        drive(model, i, random, 5.0);
        if (random.chance(0.5)) model.potential.push_back(well(random, q(i)));
        if (i > 0 && random.chance(0.3))
            model.potential.push_back(Expression(random.number(0.3, 5.0)) * power(q(i) - q(i - 1), 2));
    }
    random_velocities(model, random, 2.0);
    if (n > 1 && random.chance(0.35)) add_constraint(model, random);
    const int contacts = random.whole(0, 3);
    for (int c = 0; c < contacts; ++c) {
        Contact contact = floor_contact(fmt::format("contact{}", c), random_gap(model, random), random);
        if (random.chance(0.6)) add_friction(model, contact.slip, contact.friction, random);
        if (contact.friction.directions() > 0 && !contact.friction.holds_more() && random.chance(0.2))
            contact.e_t = random.number(0.0, 0.6);
        if (random.chance(0.2)) {
            const std::size_t i = any_of(n, random);
            contact.condition = random.chance(0.5)
                                    ? Expression(random.number(0.3, 1.5)) - absolute(q(i))
                                    : sine(Expression(random.number(1.0, 5.0)) * t()) + random.number(-0.3, 0.9);
        }
        model.contacts.push_back(contact);
    }
    const int sliders = random.whole(0, 2);
    for (int s = 0; s < sliders; ++s) {
        Slider slider = random_slider(fmt::format("slider{}", s), n, random);
        if (random.chance(0.5)) add_friction(model, slider.slip, slider.friction, random);
        model.sliders.push_back(slider);
    }
    if (random.chance(0.2)) {
        Expression velocity = combination(n, Expression::velocity, random);
        if (velocity.value({0.0, model.q0, model.u0}) < 0.0) velocity = Expression(0.0) - velocity;
        model.clutches.push_back({"clutch", velocity});
    }
    model.t_end = random.number(0.4, 2.5);
    return model;
}

}  // namespace

const std::vector<Generator>& mixed_generators() {
    static const std::vector<Generator> generators = {{"mixtures", admissible_model<mixtures>}};
    return generators;
}

}  // namespace trials
