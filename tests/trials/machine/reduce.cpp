// SPDX-License-Identifier: Apache-2.0
#include "machine/reduce.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace trials {

namespace {

constexpr int max_attempts = 120;  // each attempt runs the program; reductions beyond this are not worth the time

template <class T>
void without_each(const std::vector<T>& list, const std::function<void(std::vector<T>)>& use) {
    for (std::size_t i = 0; i < list.size(); ++i) {
        std::vector<T> shorter = list;
        shorter.erase(shorter.begin() + static_cast<std::ptrdiff_t>(i));
        use(shorter);
    }
}

double simple(double x, int digits) { return std::stod(fmt::format("{:.{}g}", x, digits)); }

/// No formula, so that mu is constant, and the formula with short numbers.
std::vector<std::optional<Expression>> simpler_coefficients(const std::optional<Expression>& formula) {
    if (!formula) return {};
    std::vector<std::optional<Expression>> result = {std::nullopt};
    const std::vector<std::string> names(6, "q");
    if (formula->rounded(1).text(names) != formula->text(names)) result.emplace_back(formula->rounded(1));
    return result;
}

/// Models with one part less.
void add_removals(const Model& model, std::vector<Model>& result) {
    const auto with = [&](auto member) {
        without_each(model.*member, std::function([&, member](std::decay_t<decltype(model.*member)> shorter) {
                         result.push_back(model);
                         result.back().*member = std::move(shorter);
                     }));
    };
    with(&Model::contacts);
    with(&Model::sliders);
    with(&Model::constraints);
    with(&Model::clutches);
    with(&Model::jumps);
    with(&Model::potential);
    with(&Model::dissipation);
    with(&Model::region);
    for (std::size_t i = 0; i < model.size(); ++i) {
        without_each(model.forces[i], std::function([&, i](std::vector<Expression> shorter) {
                         result.push_back(model);
                         result.back().forces[i] = std::move(shorter);
                     }));
    }
    for (std::size_t s = 0; s < model.sliders.size(); ++s)
        for (const auto& simpler : simpler_coefficients(model.sliders[s].coefficient)) {
            result.push_back(model);
            result.back().sliders[s].coefficient = simpler;
        }
    for (std::size_t c = 0; c < model.contacts.size(); ++c) {
        for (const auto& simpler : simpler_coefficients(model.contacts[c].coefficient)) {
            result.push_back(model);
            result.back().contacts[c].coefficient = simpler;
        }
        if (model.contacts[c].friction.kind == FrictionLaw::Kind::none) continue;
        result.push_back(model);
        result.back().contacts[c].friction = {};
        result.back().contacts[c].coefficient = {};
        result.back().contacts[c].slip.clear();
    }
}

/// Models whose sums have lost one of their terms: a + b becomes a, and a*b becomes b.
void add_shorter_formulas(const Model& model, std::vector<Model>& result) {
    for (std::size_t i = 0; i < model.potential.size(); ++i) {
        for (const Expression& operand : model.potential[i].operands()) {
            result.push_back(model);
            result.back().potential[i] = operand;
        }
    }
    for (std::size_t i = 0; i < model.contacts.size(); ++i) {
        for (const Expression& operand : model.contacts[i].gap.operands()) {
            result.push_back(model);
            result.back().contacts[i].gap = operand;
        }
    }
}

/// Models with simpler numbers.
void add_simpler_numbers(const Model& model, std::vector<Model>& result) {
    const auto change = [&](auto&& edit) {
        Model candidate = model;
        edit(candidate);
        if (candidate.toml() != model.toml()) result.push_back(std::move(candidate));
    };
    for (std::size_t i = 0; i < model.size(); ++i) {
        change([&](Model& m) { m.q0[i] = 0.0; });
        change([&](Model& m) { m.u0[i] = 0.0; });
        change([&](Model& m) { m.mass[i][i] = 1.0; });
        change([&](Model& m) { m.q0[i] = simple(m.q0[i], 1); });
        change([&](Model& m) { m.u0[i] = simple(m.u0[i], 1); });
        for (std::size_t k = 0; k < model.forces[i].size(); ++k)
            change([&](Model& m) { m.forces[i][k] = m.forces[i][k].rounded(1); });
    }
    for (std::size_t i = 0; i < model.potential.size(); ++i)
        change([&](Model& m) { m.potential[i] = m.potential[i].rounded(1); });
    for (std::size_t i = 0; i < model.contacts.size(); ++i) {
        change([&](Model& m) { m.contacts[i].e_n = 0.0; });
        change([&](Model& m) { m.contacts[i].e_n = simple(m.contacts[i].e_n, 1); });
        change([&](Model& m) { m.contacts[i].e_t = 0.0; });
        change([&](Model& m) { m.contacts[i].gap = m.contacts[i].gap.rounded(1); });
        for (std::size_t k = 0; k < model.contacts[i].friction.mu.size(); ++k)
            change([&](Model& m) { m.contacts[i].friction.mu[k] = simple(m.contacts[i].friction.mu[k], 1); });
        for (std::size_t k = 0; k < model.contacts[i].slip.size(); ++k)
            change([&](Model& m) { m.contacts[i].slip[k] = m.contacts[i].slip[k].rounded(1); });
    }
    for (std::size_t i = 0; i < model.sliders.size(); ++i) {
        change([&](Model& m) { m.sliders[i].normal_force = m.sliders[i].normal_force.rounded(1); });
        for (std::size_t k = 0; k < model.sliders[i].slip.size(); ++k)
            change([&](Model& m) { m.sliders[i].slip[k] = m.sliders[i].slip[k].rounded(1); });
    }
    for (const double factor : {0.25, 0.5, 0.8}) change([&](Model& m) { m.t_end = simple(factor * m.t_end, 3); });
}

/// Models of mass points: fewer springs and obstacles, simpler numbers. The formulas follow.
std::vector<Model> candidates_of_points(const Model& model) {
    std::vector<Model> result;
    const auto change = [&](auto&& edit) {
        Model candidate = model;
        edit(candidate);
        derive_formulas_of_points(candidate);
        if (candidate.toml() != model.toml()) result.push_back(std::move(candidate));
    };
    without_each(model.points->springs, std::function([&](std::vector<Points::Spring> shorter) {
                     change([&](Model& m) { m.points->springs = shorter; });
                 }));
    without_each(model.points->obstacles, std::function([&](std::vector<Points::Obstacle> shorter) {
                     change([&](Model& m) { m.points->obstacles = shorter; });
                 }));
    for (std::size_t i = 0; i < model.size(); ++i) {
        change([&](Model& m) { m.u0[i] = 0.0; });
        change([&](Model& m) { m.u0[i] = simple(m.u0[i], 1); });
        change([&](Model& m) { m.q0[i] = simple(m.q0[i], 1); });
    }
    for (std::size_t i = 0; i < model.points->springs.size(); ++i) {
        change([&](Model& m) { m.points->springs[i].c = 0.0; });
        change([&](Model& m) { m.points->springs[i].k = simple(m.points->springs[i].k, 1); });
    }
    for (const double factor : {0.25, 0.5, 0.8}) change([&](Model& m) { m.t_end = simple(factor * m.t_end, 3); });
    return result;
}

std::vector<Model> candidates(const Model& model) {
    if (model.points) return candidates_of_points(model);
    std::vector<Model> result;
    add_removals(model, result);
    add_shorter_formulas(model, result);
    add_simpler_numbers(model, result);
    return result;
}

}  // namespace

Model reduce(Model model, const std::function<std::string(const Model&)>& failure, std::string& text) {
    int attempts = 0;
    for (bool smaller = true; smaller;) {
        smaller = false;
        for (const Model& candidate : candidates(model)) {
            if (++attempts > max_attempts) return model;
            const std::string found = failure(candidate);
            if (found.empty()) continue;
            model = candidate;
            text = found;
            smaller = true;
            break;
        }
    }
    return model;
}

}  // namespace trials
