// SPDX-License-Identifier: Apache-2.0
#include "machine/judge_impact.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "machine/calls.hpp"
#include "machine/rational.hpp"

namespace trials {

namespace {

/// A number with two binary places.
double quarter(Random& random, int low, int high) { return random.whole(4 * low, 4 * high) / 4.0; }

Model collision(Random& random, bool friction) {
    const auto n = static_cast<std::size_t>(random.whole(1, 3));
    Model model = point_masses(n, 1.0);
    for (std::size_t i = 0; i < n; ++i) model.mass[i][i] = std::pow(2.0, random.whole(-1, 2));
    const int contacts = random.whole(1, friction ? 2 : 4);
    for (int c = 0; c < contacts; ++c) {
        Contact contact;
        contact.name = fmt::format("c{}", c);
        Expression gap, slip;
        for (std::size_t i = 0; i < n; ++i) {
            gap = gap + Expression(random.whole(-2, 2)) * Expression::position(i);
            slip = slip + Expression(random.whole(-2, 2)) * Expression::velocity(i);
        }
        if (gap.is_number()) gap = Expression::position(0);
        if (slip.is_number()) slip = Expression::velocity(n - 1);
        if (random.chance(0.3)) gap = gap + Expression(quarter(random, -2, 2)) * Expression::time();
        contact.gap = gap;
        contact.e_n = random.whole(0, 4) / 4.0;
        if (friction) {
            contact.slip = {slip};
            contact.friction = {FrictionLaw::Kind::planar, {random.whole(1, 4) / 4.0}, 0.0};
        }
        model.contacts.push_back(contact);
    }
    for (double& x : model.u0) x = quarter(random, -3, 3);
    return model;
}

Model frictionless(Random& random) { return collision(random, false); }
Model frictional(Random& random) { return collision(random, true); }

/// One collision as exact matrices. Generators: the normals, and with friction both edges of each cone.
struct Exact {
    Fractions mass, u_minus, chi;
    std::vector<Fractions> normals;     ///< by contact
    std::vector<Fractions> generators;  ///< impulse directions
    std::vector<Fractions> velocities;  ///< rows whose velocity times z is the work; one for each generator
    Fractions generator_chi;            ///< χ of these rows
};

Rational product(const Fractions& a, const Fractions& b) {
    Rational result;
    for (std::size_t i = 0; i < a.size(); ++i) result = result + a[i] * b[i];
    return result;
}

Fractions exact(const Vector& x) {
    Fractions result;
    for (const double value : x) result.push_back(Rational::of(value));
    return result;
}

Exact exact_collision(const Mechanics& mechanics) {
    const Model& model = mechanics.model();
    const Point at{0.0, model.q0, model.u0}, rest{0.0, model.q0, Vector(model.size(), 0.0)};
    Exact result;
    const Matrix mass = mechanics.mass(at);
    for (std::size_t i = 0; i < model.size(); ++i) result.mass.push_back(Rational::of(mass[i][i]));
    result.u_minus = exact(model.u0);
    for (std::size_t c = 0; c < model.contacts.size(); ++c) {
        const Vector normal = mechanics.gap_gradient(c, at);
        const double chi = mechanics.gap_rate(c, rest);
        result.normals.push_back(exact(normal));
        result.chi.push_back(Rational::of(chi));
        const auto& law = model.contacts[c].friction;
        const auto edges = law.directions() == 0 ? Vector{0.0} : Vector{-law.mu[0], law.mu[0]};
        for (const double edge : edges) {
            const Vector row = edge == 0.0 ? normal : plus(normal, mechanics.slip_gradients(c, at)[0], edge);
            result.generators.push_back(exact(row));
            result.velocities.push_back(exact(row));
            result.generator_chi.push_back(Rational::of(chi));
        }
    }
    return result;
}

std::string by_name(const Model& model, const Vector& values) {
    std::string text;
    for (std::size_t i = 0; i < values.size(); ++i)
        text += fmt::format("{}{}={}", i > 0 ? "," : "", model.coordinates[i], values[i]);
    return text;
}

/// Newton's law without friction: 0 <= Λ ⊥ ξ = WᵀM⁻¹W Λ + (1 + e) γ⁻ >= 0 has one outcome u⁺.
void judge_newton(const Model& model, const Exact& exact, const nlohmann::json& document, Findings& findings) {
    const std::size_t k = exact.normals.size();
    std::vector<Fractions> delassus(k, Fractions(k));
    Fractions right;
    for (std::size_t i = 0; i < k; ++i) {
        for (std::size_t j = 0; j < k; ++j)
            for (std::size_t x = 0; x < model.size(); ++x)
                delassus[i][j] = delassus[i][j] + exact.normals[i][x] * exact.normals[j][x] / exact.mass[x];
        const Rational gamma = product(exact.normals[i], exact.u_minus) + exact.chi[i];
        right.push_back((Rational(1) + Rational::of(model.contacts[i].e_n)) * gamma);
    }
    const Fractions impulses = solve_complementarity(delassus, right);
    if (impulses.empty()) return void(++findings.not_judged);
    Fractions outcome = exact.u_minus;
    for (std::size_t x = 0; x < model.size(); ++x)
        for (std::size_t i = 0; i < k; ++i) outcome[x] = outcome[x] + exact.normals[i][x] * impulses[i] / exact.mass[x];
    // A closed contact that separates before the impact may approach after it by Newton's law. Such outcomes are not
    // admissible, and the law does not say what happens instead.
    for (std::size_t i = 0; i < k; ++i)
        if ((product(exact.normals[i], outcome) + exact.chi[i]).sign() < 0) return void(++findings.not_judged);
    for (std::size_t x = 0; x < model.size(); ++x) {
        const Rational& u = outcome[x];
        const double stated = number(document.at("u_plus").at(model.coordinates[x]));
        findings.check(std::abs(stated - u.value()) < 1e-9 * (1.0 + std::abs(u.value())), "impact-outcome", [&] {
            return fmt::format("Newton's law gives {}' = {}, reported {}", model.coordinates[x], u.value(), stated);
        });
    }
}

/// A velocity after the impact: reached by random impulses, or random.
Vector stated_velocity(const Model& model, const Exact& exact, Random& random) {
    Vector result = model.u0;
    if (random.chance(0.3)) {
        for (double& x : result) x = quarter(random, -3, 3);
        return result;
    }
    for (const Fractions& generator : exact.generators) {
        const double impulse = random.chance(0.4) ? 0.0 : quarter(random, 0, 2);
        for (std::size_t x = 0; x < result.size(); ++x)
            result[x] += generator[x].value() * impulse / exact.mass[x].value();
    }
    return result;
}

void judge_end(const char* name, const ExactProgram& program, double factor, const nlohmann::json& work,
               Findings& findings) {
    const double stated = number(work.at(name));
    if (!program.bounded) {
        findings.check(std::isnan(stated), "work-bounded",
                       [&] { return fmt::format("work.{} is {}, but it is unbounded", name, stated); });
        return;
    }
    const double truth = factor * program.least.value();
    findings.check(std::abs(stated - truth) <= 1e-8 * (1.0 + std::abs(truth)), "work",
                   [&] { return fmt::format("work.{} is {}, reported {}", name, truth, stated); });
}

void judge_work(const Model& model, const Exact& exact, const Vector& u_plus, const nlohmann::json& document,
                Findings& findings) {
    const Fractions after = trials::Fractions([&] {
        Fractions result;
        for (const double x : u_plus) result.push_back(Rational::of(x));
        return result;
    }());
    Fractions momentum, cost, negative;
    for (std::size_t x = 0; x < model.size(); ++x) momentum.push_back(exact.mass[x] * (after[x] - exact.u_minus[x]));
    for (std::size_t g = 0; g < exact.generators.size(); ++g) {
        const Rational twice = product(exact.velocities[g], after) + product(exact.velocities[g], exact.u_minus) +
                               Rational(2) * exact.generator_chi[g];
        cost.push_back(twice / Rational(2));
        negative.push_back(twice / Rational(-2));
    }
    const ExactProgram least = solve_exactly(exact.generators, momentum, cost);
    const bool stated = document.at("kinetic").at("holds");
    findings.check(stated == least.feasible, "kinetic", [&] {
        return fmt::format("kinetic.holds is {} for u+ = {}, but impulses that reach it {}", stated, u_plus,
                           least.feasible ? "exist" : "do not exist");
    });
    bool separates = true;
    for (std::size_t i = 0; i < exact.normals.size(); ++i)
        separates = separates && (product(exact.normals[i], after) + exact.chi[i]).sign() >= 0;
    const bool kinematic = document.at("kinematic").at("holds");
    findings.check(kinematic == separates, "kinematic",
                   [&] { return fmt::format("kinematic.holds is {} for u+ = {}", kinematic, u_plus); });
    if (!least.feasible || stated != least.feasible) return;
    const auto& work = document.at("work");
    if (!work.is_object()) return void(++findings.not_judged);
    judge_end("min", least, 1.0, work, findings);
    judge_end("max", solve_exactly(exact.generators, momentum, negative), -1.0, work, findings);
    const bool consistent = separates && (!least.bounded || least.least.sign() <= 0);
    if (least.bounded && least.least.sign() == 0) return;  // on the boundary rounding decides
    findings.check(document.at("consistent").get<bool>() == consistent, "consistent", [&] {
        return fmt::format("consistent is {} for u+ = {}, least work {}", !consistent, u_plus, least.least.value());
    });
}

}  // namespace

const std::vector<Generator>& collision_generators() {
    static const std::vector<Generator> generators = {{"frictionless", frictionless}, {"frictional", frictional}};
    return generators;
}

Findings judge_impact(const Model& model, const Program& program) {
    Findings findings;
    const Mechanics mechanics(model);
    const auto file = program.write("model.toml", model.toml()).string();
    try {
        const Exact exact = exact_collision(mechanics);
        nlohmann::json document;
        if (!call(program, {"impact", file, "--json"}, 20, document, findings)) return findings;
        const bool frictionless_model = exact.generators.size() == exact.normals.size();
        if (frictionless_model && document.contains("u_plus")) judge_newton(model, exact, document, findings);
        Random random(static_cast<std::uint64_t>(1000.0 * (10.0 + model.u0[0])) + model.contacts.size());
        const Vector u_plus = stated_velocity(model, exact, random);
        if (!call(program, {"impact", file, "--json", "--u-plus", by_name(model, u_plus)}, 20, document, findings))
            return findings;
        judge_work(model, exact, u_plus, document, findings);
    } catch (const Overflow&) {
        ++findings.not_judged;
    }
    return findings;
}

}  // namespace trials
