// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "saltus/model/detail/builder.hpp"
#include "saltus/model/model.hpp"

namespace saltus::model {

using expr::Expr;

/// The perturbed system: M u̇ = h + Gᵀν + Wλ + δ(t), g(t,q) = η(t), gN >= θ(t). [Alscher] (24)–(27)
/// The functions g − η and g_N − θ take the place of g and g_N. Their derivatives then contain those of η and θ, at the
/// velocity and at the acceleration level.
void Builder::add_perturbation() {
    if (!d_.perturbation) return;
    const PerturbationDescription& p = *d_.perturbation;
    model_.perturbable = true;
    model_.perturbed = options_.perturbed;
    expr::Graph& g = f_.graph;
    const auto shape = [&](const Entry& e, const std::string& what) {
        return parse(e.value, what + " of '" + e.name + "' in [perturbation]", expr::time);
    };
    const auto number_of = [](const Entry& e, const std::vector<std::string>& names, const std::string& what,
                              const std::string& where) {
        const auto found = std::find(names.begin(), names.end(), e.name);
        if (found == names.end())
            throw Error("unknown " + what + " '" + e.name + "' in [perturbation] " + where, e.place,
                        did_you_mean(e.name, names));
        return static_cast<std::size_t>(found - names.begin());
    };
    for (const Entry& e : p.delta) {
        const int c = coordinate_of(e.name, "[perturbation] delta", e.place);
        const Expr delta = shape(e, "delta");
        if (!options_.perturbed) continue;
        Expr& f = f_.f[local_coordinate(c)];
        f = g.add(f, delta);
    }
    std::vector<std::string> names;
    for (const Constraint& c : model_.constraints) names.push_back(c.name);
    for (const Entry& e : p.eta) {
        const std::size_t k = number_of(e, names, "constraint", "eta");
        const Expr eta = shape(e, "eta");
        if (model_.constraints[k].on_velocity)
            throw Error("constraint '" + e.name + "' in [perturbation] eta is one of velocities", e.place,
                        "eta perturbs constraints g of positions; remove it");
        if (!options_.perturbed) continue;
        const std::size_t own = f_.constraints.size();
        if (k < own)
            f_.constraints[k] = g.sub(f_.constraints[k], eta);
        else
            points_.volumes[k - own].eta = g.add(points_.volumes[k - own].eta, eta);
    }
    names.clear();
    for (const ContactDescription& c : d_.contacts) names.push_back(c.name);
    for (const ObstacleDescription& o : d_.obstacles) names.push_back(o.name);
    for (const Entry& e : p.theta) {
        const std::size_t k = number_of(e, names, "contact", "theta");
        const Expr theta = shape(e, "theta");
        if (!options_.perturbed) continue;
        const std::size_t own = f_.gaps.size();
        if (k < own)
            f_.gaps[k] = g.sub(f_.gaps[k], theta);
        else
            points_.obstacles[k - own].offset = g.add(points_.obstacles[k - own].offset, theta);
    }
}

}  // namespace saltus::model
