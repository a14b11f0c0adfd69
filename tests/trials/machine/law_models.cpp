// SPDX-License-Identifier: Apache-2.0
//
// Generators for impact laws other than Newton's, for mass points, and for contacts with springs.
#include <fmt/format.h>

#include <cmath>

#include "machine/random_models.hpp"
#include "machine/random_parts.hpp"

namespace trials {

namespace {

/// A model of one of the generators of motions.
Model one_of(Random& random, const std::vector<std::string>& names) {
    const std::string& name = names[static_cast<std::size_t>(random.whole(0, static_cast<int>(names.size()) - 1))];
    for (const Generator& generator : motion_generators())
        if (generator.name == name) return generator.make(random);
    std::abort();
}

void without_friction(Model& model) {
    model.sliders.clear();
    for (Contact& contact : model.contacts) contact.friction = {}, contact.slip.clear(), contact.e_t = 0.0;
}

Model poisson(Random& random) {
    Model model = one_of(random, {"walls", "beads", "divided", "pendulums", "rough-floor", "moving-table"});
    if (random.chance(0.5)) without_friction(model);
    model.sliders.clear();
    for (Contact& contact : model.contacts) contact.impact = "poisson", contact.e_t = 0.0;
    return model;
}

/// The energy law counts the whole kinetic energy: with motion along the wall it often has no outcome, so that models
/// of one coordinate are frequent.
Model energy(Random& random) {
    Model model = one_of(random, {"walls", "divided"});
    while (model.size() > 1 && random.chance(0.7)) model = one_of(random, {"walls", "divided"});
    without_friction(model);
    for (Contact& contact : model.contacts) {
        contact.impact = "energy";
        if (random.chance(0.3)) contact.loss = random.number(0.02, 0.3);
    }
    return model;
}

Model mass_points(Random& random) {
    Model model;
    Points points;
    const std::size_t n = static_cast<std::size_t>(random.whole(1, 3));
    for (std::size_t p = 0; p < n; ++p) {
        points.masses.push_back(random.number(0.5, 2.0));
        for (const double centre : {static_cast<double>(p), 0.0, 0.8}) {
            model.q0.push_back(centre + random.number(-0.3, 0.3));
            model.u0.push_back(random.number(-2.0, 2.0));
        }
    }
    if (random.chance(0.8)) points.gravity[2] = -random.number(3.0, 12.0);
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = i + 1; j < n; ++j) {
            Points::Spring spring{i, j, random.number(1.0, 40.0), 0.0, 0.0};
            if (random.chance(0.5)) spring.c = random.number(0.1, 2.0);
            if (random.chance(0.4)) spring.rest = random.number(0.5, 1.5);
            points.springs.push_back(spring);
        }
    }
    Points::Obstacle floor{"floor", {0.0, 0.0, 1.0}, 0.0, -1.0, random.chance(0.4) ? 0.0 : random.number(0.1, 0.9)};
    if (random.chance(0.3)) floor.normal = {random.number(-0.4, 0.4), random.number(-0.4, 0.4), 1.0};
    if (random.chance(0.3))
        floor.offset = Expression(random.number(0.0, 0.2)) * sine(Expression(random.number(1, 6)) * t());
    if (random.chance(0.5)) floor.mu = random.number(0.05, 0.8);
    points.obstacles.push_back(floor);
    if (random.chance(0.4)) points.obstacles.push_back({"wall", {1.0, 0.0, 0.0}, -0.8, -1.0, random.number(0.0, 0.9)});
    model.points = points;
    derive_formulas_of_points(model);
    model.t_end = random.number(0.5, 2.0);
    return model;
}

Model sprung(Random& random) {
    Model model = one_of(random, {"walls", "beads", "divided", "pendulums", "moving-table", "narrow"});
    without_friction(model);
    model.penalty = Penalty{std::round(std::pow(10.0, random.number(1.5, 4.5))), 0.0};
    if (random.chance(0.4)) model.penalty->d = random.number(0.1, 20.0);
    return model;
}

}  // namespace

const std::vector<Generator>& law_generators() {
    static const std::vector<Generator> generators = {{"poisson", admissible_model<poisson>},
                                                      {"energy", admissible_model<energy>},
                                                      {"mass-points", admissible_model<mass_points>}};
    return generators;
}

const std::vector<Generator>& penalty_generators() {
    static const std::vector<Generator> generators = {{"springs", admissible_model<sprung>}};
    return generators;
}

}  // namespace trials
