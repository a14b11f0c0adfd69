// SPDX-License-Identifier: Apache-2.0
#include "machine/model.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <sstream>

namespace trials {

namespace {

std::string quoted(const std::string& text) { return '"' + text + '"'; }

std::string table(const std::vector<std::string>& names, const std::vector<double>& values) {
    std::vector<std::string> cells;
    for (std::size_t i = 0; i < values.size(); ++i)
        if (values[i] != 0.0) cells.push_back(fmt::format("{} = {}", names[i], values[i]));
    return fmt::format("{{ {} }}", fmt::join(cells, ", "));
}

std::string kinetic_energy(const Model& model) {
    Expression twice;
    for (std::size_t i = 0; i < model.size(); ++i)
        for (std::size_t j = 0; j < model.size(); ++j)
            twice = twice + model.mass[i][j] * Expression::velocity(i) * Expression::velocity(j);
    return "(" + twice.text(model.coordinates) + ")/2";
}

std::string friction_lines(const FrictionLaw& law, const std::vector<Expression>& slip, const Model& model,
                           const std::optional<Expression>& coefficient = {}) {
    if (law.kind == FrictionLaw::Kind::none) return "";
    std::vector<std::string> texts;
    for (const Expression& s : slip) texts.push_back(quoted(s.text(model.coordinates)));
    std::string result = texts.size() == 1 ? fmt::format("gammaT = {}\n", texts[0])
                                           : fmt::format("gammaT = [{}]\n", fmt::join(texts, ", "));
    if (coefficient)
        return result + fmt::format("mu = {}\n", quoted(coefficient->text(model.coordinates)));  // planar friction
    result +=
        law.mu.size() == 1 ? fmt::format("mu = {}\n", law.mu[0]) : fmt::format("mu = [{}]\n", fmt::join(law.mu, ", "));
    if (law.holds_more()) result += fmt::format("mu_static = {}\n", law.mu_static);
    if (law.kind == FrictionLaw::Kind::contensou)
        result += fmt::format("friction = \"contensou\"\nradius = {}\n", law.radius);
    if (law.kind == FrictionLaw::Kind::rolling)
        result += fmt::format("friction = \"rolling\"\nradii = [{}, {}]\n", law.radius, law.rolling_radius);
    return result;
}

std::string contact_block(const Contact& contact, const Model& model) {
    std::string result = fmt::format("\n[[contact]]\nname = {}\ngN = {}\n", quoted(contact.name),
                                     quoted(contact.gap.text(model.coordinates)));
    result += friction_lines(contact.friction, contact.slip, model, contact.coefficient);
    if (contact.loss != 0.0)
        result += fmt::format("c = {}\n", contact.loss);
    else if (contact.e_n != 0.0)
        result += fmt::format("eN = {}\n", contact.e_n);
    if (contact.e_t != 0.0) result += fmt::format("eT = {}\n", contact.e_t);
    if (contact.impact != "newton") result += fmt::format("impact = {}\n", quoted(contact.impact));
    if (contact.condition)
        result += fmt::format("if = {}\n", quoted(contact.condition->text(model.coordinates) + " > 0"));
    return result;
}

std::string jump_block(const Jump& jump, const Model& model) {
    std::string result =
        fmt::format("\n[[jump]]\nname = {}\nwhen = {}\n", quoted(jump.name), quoted(jump.when.text(model.coordinates)));
    if (jump.direction != 0) result += fmt::format("direction = {}\n", quoted(jump.direction < 0 ? "down" : "up"));
    if (jump.guard) result += fmt::format("if = {}\n", quoted(jump.guard->text(model.coordinates) + " > 0"));
    const auto line = [&](const char* key, const std::vector<std::optional<Expression>>& values) {
        std::vector<std::string> cells;
        for (std::size_t i = 0; i < values.size(); ++i)
            if (values[i])
                cells.push_back(
                    fmt::format("{} = {}", model.coordinates[i], quoted(values[i]->text(model.coordinates))));
        if (!cells.empty()) result += fmt::format("{} = {{ {} }}\n", key, fmt::join(cells, ", "));
    };
    line("q", jump.q);
    line("u", jump.u);
    return result;
}

std::string control_block(const Control& control, const Model& model) {
    std::vector<std::string> names;
    for (const std::size_t i : control.actuated) names.push_back(model.coordinates[i]);
    std::vector<std::string> quotes;
    for (const std::string& name : names) quotes.push_back(quoted(name));
    return fmt::format("\n[control]\nactuated = [{}]\nKp = {}\nKv = {}\nreference = {}\n", fmt::join(quotes, ", "),
                       control.k_p, control.k_v, table(names, control.reference));
}

std::string force_line(const Model& model) {
    std::vector<std::string> cells;
    for (std::size_t i = 0; i < model.size(); ++i)
        if (const Expression f = sum(model.forces[i]); !f.is_zero())
            cells.push_back(fmt::format("{} = {}", model.coordinates[i], quoted(f.text(model.coordinates))));
    return cells.empty() ? "" : fmt::format("f = {{ {} }}\n", fmt::join(cells, ", "));
}

std::string points_blocks(const Model& model) {
    const Points& points = *model.points;
    const auto triples = [](const std::vector<double>& values) {
        std::vector<std::string> cells;
        for (std::size_t i = 0; i + 2 < values.size(); i += 3)
            cells.push_back(fmt::format("[{}, {}, {}]", values[i], values[i + 1], values[i + 2]));
        return fmt::format("[{}]", fmt::join(cells, ", "));
    };
    std::string result =
        fmt::format("[points]\npositions = {}\nvelocity = {}\nmass = [{}]\ngravity = [{}]\n", triples(model.q0),
                    triples(model.u0), fmt::join(points.masses, ", "), fmt::join(points.gravity, ", "));
    for (const Points::Spring& s : points.springs) {
        result += fmt::format("\n[[springs]]\npairs = [[{}, {}]]\nk = {}\nc = {}\n", s.i, s.j, s.k, s.c);
        if (s.rest > 0.0) result += fmt::format("rest = {}\n", s.rest);
    }
    for (const Points::Obstacle& o : points.obstacles) {
        result += fmt::format("\n[[obstacle]]\nname = {}\nnormal = [{}]\noffset = {}\neN = {}\n", quoted(o.name),
                              fmt::join(o.normal, ", "), quoted(o.offset.text(model.coordinates)), o.e_n);
        if (o.mu >= 0.0) result += fmt::format("mu = {}\n", o.mu);
    }
    return result;
}

std::string comment(const std::string& remark) {
    std::string result;
    std::istringstream lines(remark);
    for (std::string line; std::getline(lines, line);) result += "# " + line + "\n";
    return result;
}

}  // namespace

std::string Model::toml(const std::string& remark) const {
    if (problem) return problem->text(remark);
    std::string result = comment(remark);
    if (points)
        return result + fmt::format("[system]\nname = {}\n\n{}\n[simulate]\nt_end = {}\n", quoted(name),
                                    points_blocks(*this), t_end);
    std::vector<std::string> names;
    for (const std::string& coordinate : coordinates) names.push_back(quoted(coordinate));
    result += fmt::format("[system]\nname = {}\nq = [{}]\nT = {}\n", quoted(name), fmt::join(names, ", "),
                          quoted(kinetic_energy(*this)));
    if (!potential.empty()) result += fmt::format("U = {}\n", quoted(sum(potential).text(coordinates)));
    if (!dissipation.empty()) result += fmt::format("R = {}\n", quoted(sum(dissipation).text(coordinates)));
    result += force_line(*this);
    if (parameter) result += fmt::format("\n[parameters]\np = {}\n", *parameter);
    for (const Contact& contact : contacts) result += contact_block(contact, *this);
    for (const Slider& slider : sliders)
        result += fmt::format("\n[[slider]]\nname = {}\n{}FN = {}\n", quoted(slider.name),
                              friction_lines(slider.friction, slider.slip, *this, slider.coefficient),
                              quoted(slider.normal_force.text(coordinates)));
    for (const Constraint& constraint : constraints)
        result += fmt::format("\n[[constraint]]\nname = {}\n{} = {}\n{}", quoted(constraint.name),
                              constraint.velocity ? "gamma" : "g",
                              quoted((constraint.velocity ? *constraint.velocity : constraint.gap).text(coordinates)),
                              friction_lines(constraint.friction, constraint.slip, *this));
    for (const Clutch& clutch : clutches)
        result += fmt::format("\n[[clutch]]\nname = {}\ngamma = {}\n", quoted(clutch.name),
                              quoted(clutch.velocity.text(coordinates)));
    for (const Jump& jump : jumps) result += jump_block(jump, *this);
    for (const Control& c : control) result += control_block(c, *this);
    if (penalty) result += fmt::format("\n[penalty]\nk = {}\nd = {}\n", penalty->k, penalty->d);
    result += fmt::format("\n[initial]\nq = {}\nu = {}\n", table(coordinates, q0), table(coordinates, u0));
    if (!region.empty()) {
        std::vector<std::string> quotes;
        for (const std::string& inequality : region) quotes.push_back(quoted(inequality));
        result += fmt::format("\n[certify]\nregion = [{}]\n", fmt::join(quotes, ", "));
    }
    return result + fmt::format("\n[simulate]\nt_end = {}\n", t_end);
}

Point Jump::after(const Point& before) const {
    Point result = before;
    for (std::size_t i = 0; i < q.size(); ++i)
        if (q[i]) result.q[i] = q[i]->value(before);
    for (std::size_t i = 0; i < u.size(); ++i)
        if (u[i]) result.u[i] = u[i]->value(before);
    return result;
}

Model Model::with_parameter(double value) const {
    Model result = *this;
    const auto set = [&](auto& formulas) {
        for (Expression& formula : formulas) formula = formula.with_parameter(value);
    };
    result.parameter = value;
    for (auto& row : result.mass) set(row);
    set(result.potential);
    set(result.dissipation);
    for (auto& terms : result.forces) set(terms);
    for (Contact& contact : result.contacts) {
        contact.gap = contact.gap.with_parameter(value);
        set(contact.slip);
    }
    for (Slider& slider : result.sliders) {
        set(slider.slip);
        slider.normal_force = slider.normal_force.with_parameter(value);
    }
    for (Jump& jump : result.jumps) {
        jump.when = jump.when.with_parameter(value);
        if (jump.guard) jump.guard = jump.guard->with_parameter(value);
        for (auto* values : {&jump.q, &jump.u})
            for (auto& formula : *values)
                if (formula) formula = formula->with_parameter(value);
    }
    return result;
}

Model point_masses(std::size_t n, double m) {
    Model model;
    const std::vector<std::string> names = {"x", "y", "z", "w", "v", "s"};
    model.coordinates.assign(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(n));
    model.mass.assign(n, std::vector<Expression>(n, 0.0));
    for (std::size_t i = 0; i < n; ++i) model.mass[i][i] = m;
    model.forces.resize(n);
    model.q0.assign(n, 0.0);
    model.u0.assign(n, 0.0);
    return model;
}

namespace {

Points::Triple cross(const Points::Triple& a, const Points::Triple& b) {
    return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

Points::Triple unit(const Points::Triple& a) {
    const double length = norm(a);
    return {a[0] / length, a[1] / length, a[2] / length};
}

/// Σ a_i x_i over the three coordinates (or velocities) of a point.
Expression product(const Points::Triple& a, std::size_t point, Expression (*variable)(std::size_t)) {
    Expression result;
    for (std::size_t i = 0; i < 3; ++i) result = result + Expression(a[i]) * variable(3 * point + i);
    return result;
}

void add_spring(Model& model, const Points::Spring& spring) {
    Expression squares, products;
    double initial = 0.0;
    for (std::size_t i = 0; i < 3; ++i) {
        const std::size_t a = 3 * spring.i + i, b = 3 * spring.j + i;
        const Expression difference = Expression::position(b) - Expression::position(a);
        squares = squares + power(difference, 2);
        products = products + difference * (Expression::velocity(b) - Expression::velocity(a));
        initial = std::hypot(initial, model.q0[b] - model.q0[a]);
    }
    const double rest = spring.rest > 0.0 ? spring.rest : initial;
    model.potential.push_back(Expression(spring.k / 2) * power(square_root(squares) - rest, 2));
    if (spring.c > 0.0) model.dissipation.push_back(Expression(spring.c / 2) * power(products, 2) / squares);
}

void add_obstacle(Model& model, const Points::Obstacle& obstacle) {
    const Points::Triple normal = unit(obstacle.normal);
    // The program states friction in this basis of the plane: the axis most orthogonal to the normal, and across it.
    Points::Triple axis{};
    axis[static_cast<std::size_t>(std::ranges::min_element(normal, {}, [](double x) { return std::abs(x); }) -
                                  normal.begin())] = 1.0;
    const Points::Triple second = unit(cross(normal, axis)), first = cross(second, normal);
    for (std::size_t p = 0; p < model.points->masses.size(); ++p) {
        Contact contact;
        contact.name = fmt::format("{}.p{}", obstacle.name, p);
        contact.gap = product(normal, p, Expression::position) - obstacle.offset;
        contact.e_n = obstacle.e_n;
        if (obstacle.mu >= 0.0) {
            contact.friction = {FrictionLaw::Kind::isotropic, {obstacle.mu}, 0.0};
            contact.slip = {product(first, p, Expression::velocity), product(second, p, Expression::velocity)};
        }
        model.contacts.push_back(contact);
    }
}

}  // namespace

void derive_formulas_of_points(Model& model) {
    const std::size_t n = 3 * model.points->masses.size();
    model.coordinates.clear();
    model.mass.assign(n, std::vector<Expression>(n, 0.0));
    model.forces.assign(n, {});
    model.potential.clear();
    model.dissipation.clear();
    model.contacts.clear();
    for (std::size_t i = 0; i < n; ++i) {
        const double mass = model.points->masses[i / 3];
        model.coordinates.push_back(fmt::format("p{}.{}", i / 3, "xyz"[i % 3]));
        model.mass[i][i] = mass;
        model.potential.push_back(Expression(-mass * model.points->gravity[i % 3]) * Expression::position(i));
    }
    for (const Points::Spring& spring : model.points->springs) add_spring(model, spring);
    for (const Points::Obstacle& obstacle : model.points->obstacles) add_obstacle(model, obstacle);
}

namespace {

Symbol position(std::size_t i) { return {Symbol::Kind::position, i}; }
Symbol velocity(std::size_t i) { return {Symbol::Kind::velocity, i}; }

}  // namespace

Mechanics::Mechanics(const Model& model) : model_(model), potential_(sum(model.potential)) {
    const std::size_t n = model.size();
    for (const Control& c : model.control) {
        for (std::size_t i = 0; i < c.actuated.size(); ++i) {
            const Expression error = Expression::position(c.actuated[i]) - c.reference[i];
            potential_ = potential_ + Expression(c.k_p / 2) * power(error, 2);
        }
    }
    const Expression dissipation = sum(model.dissipation);
    for (std::size_t k = 0; k < n; ++k) {
        mass_by_q_.push_back(model.mass);
        for (auto& row : mass_by_q_.back())
            for (Expression& entry : row) entry = entry.derivative(position(k));
        smooth_force_.push_back(sum(model.forces[k]) - potential_.derivative(position(k)) -
                                dissipation.derivative(velocity(k)));
    }
    for (const Control& c : model.control)
        for (const std::size_t i : c.actuated)
            smooth_force_[i] = smooth_force_[i] - Expression(c.k_v) * Expression::velocity(i);
    const auto add_gap = [&](const Expression& gap) {
        gap_by_q_.emplace_back();
        for (std::size_t k = 0; k < n; ++k) gap_by_q_.back().push_back(gap.derivative(position(k)));
        gap_by_t_.push_back(gap.derivative({Symbol::Kind::time, 0}));
    };
    for (const Contact& contact : model.contacts) add_gap(contact.gap);
    for (const Constraint& constraint : model.constraints) {
        add_gap(constraint.gap);
        constraint_by_u_.emplace_back();
        for (std::size_t k = 0; k < n && constraint.velocity; ++k)
            constraint_by_u_.back().push_back(constraint.velocity->derivative(velocity(k)));
    }
    for (const Clutch& clutch : model.clutches) {
        clutch_by_u_.emplace_back();
        for (std::size_t k = 0; k < n; ++k) clutch_by_u_.back().push_back(clutch.velocity.derivative(velocity(k)));
    }
    for (std::size_t e = 0; e < elements(); ++e) {
        slip_by_u_.emplace_back();
        for (const Expression& s : slip_formulas(e)) {
            slip_by_u_.back().emplace_back();
            for (std::size_t k = 0; k < n; ++k) slip_by_u_.back().back().push_back(s.derivative(velocity(k)));
        }
    }
}

Matrix Mechanics::mass(const Point& at) const {
    Matrix result(model_.size(), Vector(model_.size()));
    for (std::size_t i = 0; i < model_.size(); ++i)
        for (std::size_t j = 0; j < model_.size(); ++j) result[i][j] = model_.mass[i][j].value(at);
    return result;
}

// Lagrange's equations for T = uᵀM(q)u/2: M u̇ = −Ṁu + ½ uᵀ(∂M/∂q)u + smooth forces.
Vector Mechanics::force(const Point& at) const {
    const std::size_t n = model_.size();
    Vector result(n);
    for (std::size_t k = 0; k < n; ++k) result[k] = smooth_force_[k].value(at);
    for (std::size_t k = 0; k < n; ++k) {
        for (std::size_t i = 0; i < n; ++i) {
            for (std::size_t j = 0; j < n; ++j) {
                const Expression& slope = mass_by_q_[k][i][j];
                if (slope.is_zero()) continue;
                const double value = slope.value(at);
                result[i] -= value * at.u[k] * at.u[j];
                result[k] += value * at.u[i] * at.u[j] / 2;
            }
        }
    }
    return result;
}

double Mechanics::potential_energy(const Point& at) const { return potential_.value(at); }

double Mechanics::energy(const Point& at) const { return dot(times(mass(at), at.u), at.u) / 2 + potential_.value(at); }

std::size_t Mechanics::elements() const {
    return model_.contacts.size() + model_.sliders.size() + model_.constraints.size() + model_.clutches.size();
}

Mechanics::Sort Mechanics::sort(std::size_t element) const {
    if (element < model_.contacts.size()) return Sort::contact;
    element -= model_.contacts.size();
    if (element < model_.sliders.size()) return Sort::slider;
    element -= model_.sliders.size();
    return element < model_.constraints.size() ? Sort::constraint : Sort::clutch;
}

std::size_t Mechanics::number(std::size_t element) const {
    switch (sort(element)) {
        case Sort::contact: return element;
        case Sort::slider: return element - model_.contacts.size();
        case Sort::constraint: return element - model_.contacts.size() - model_.sliders.size();
        case Sort::clutch: break;
    }
    return element - model_.contacts.size() - model_.sliders.size() - model_.constraints.size();
}

const std::string& Mechanics::name(std::size_t element) const {
    const std::size_t i = number(element);
    switch (sort(element)) {
        case Sort::contact: return model_.contacts[i].name;
        case Sort::slider: return model_.sliders[i].name;
        case Sort::constraint: return model_.constraints[i].name;
        case Sort::clutch: break;
    }
    return model_.clutches[i].name;
}

std::size_t Mechanics::gap_number(std::size_t element) const {
    return sort(element) == Sort::contact ? element : model_.contacts.size() + number(element);
}

const Expression& Mechanics::gap_formula(std::size_t element) const {
    const std::size_t i = number(element);
    return sort(element) == Sort::contact ? model_.contacts[i].gap : model_.constraints[i].gap;
}

const Expression* Mechanics::velocity_formula(std::size_t element) const {
    if (sort(element) != Sort::constraint) return nullptr;
    const Constraint& constraint = model_.constraints[number(element)];
    return constraint.velocity ? &*constraint.velocity : nullptr;
}

double Mechanics::gap(std::size_t element, const Point& at) const {
    if (velocity_formula(element) != nullptr) return 0.0;
    if (sort(element) == Sort::contact) {
        const auto& condition = model_.contacts[number(element)].condition;
        if (condition && !(condition->value(at) > 0.0)) return 1.0;
    }
    return gap_formula(element).value(at);
}

Vector Mechanics::gap_gradient(std::size_t element, const Point& at) const {
    if (sort(element) == Sort::slider) return Vector(model_.size(), 0.0);
    const auto& slopes = sort(element) == Sort::clutch          ? clutch_by_u_[number(element)]
                         : velocity_formula(element) != nullptr ? constraint_by_u_[number(element)]
                                                                : gap_by_q_[gap_number(element)];
    Vector result;
    for (const Expression& slope : slopes) result.push_back(slope.value(at));
    return result;
}

double Mechanics::gap_rate(std::size_t element, const Point& at) const {
    if (sort(element) == Sort::clutch) return model_.clutches[number(element)].velocity.value(at);
    if (const Expression* const velocity = velocity_formula(element)) return velocity->value(at);
    return dot(gap_gradient(element, at), at.u) + gap_by_t_[gap_number(element)].value(at);
}

const std::vector<Expression>& Mechanics::slip_formulas(std::size_t element) const {
    static const std::vector<Expression> none;
    const std::size_t i = number(element);
    switch (sort(element)) {
        case Sort::contact: return model_.contacts[i].slip;
        case Sort::slider: return model_.sliders[i].slip;
        case Sort::constraint: return model_.constraints[i].slip;
        case Sort::clutch: break;
    }
    return none;
}

const FrictionLaw& Mechanics::friction(std::size_t element) const {
    static const FrictionLaw none;
    const std::size_t i = number(element);
    switch (sort(element)) {
        case Sort::contact: return model_.contacts[i].friction;
        case Sort::slider: return model_.sliders[i].friction;
        case Sort::constraint: return model_.constraints[i].friction;
        case Sort::clutch: break;
    }
    return none;
}

FrictionLaw Mechanics::friction(std::size_t element, const Point& at) const {
    FrictionLaw law = friction(element);
    const std::size_t i = number(element);
    const auto set = [&](const std::optional<Expression>& coefficient) {
        if (coefficient) law.mu = {coefficient->value(at)};
    };
    if (sort(element) == Sort::contact) set(model_.contacts[i].coefficient);
    if (sort(element) == Sort::slider) set(model_.sliders[i].coefficient);
    return law;
}

Vector Mechanics::slip(std::size_t element, const Point& at) const {
    Vector result;
    for (const Expression& s : slip_formulas(element)) result.push_back(s.value(at));
    return result;
}

std::vector<Vector> Mechanics::slip_gradients(std::size_t element, const Point& at) const {
    std::vector<Vector> result;
    for (const auto& row : slip_by_u_[element]) {
        result.emplace_back();
        for (const Expression& entry : row) result.back().push_back(entry.value(at));
    }
    return result;
}

double Mechanics::slider_force(std::size_t slider, const Point& at) const {
    return model_.sliders[slider].normal_force.value(at);
}

}  // namespace trials
