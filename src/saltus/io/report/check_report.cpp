// SPDX-License-Identifier: Apache-2.0
#include "saltus/io/report/check_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "saltus/base/text.hpp"
#include "saltus/io/report/detail/json.hpp"
#include "saltus/model/feedback.hpp"
#include "saltus/model/model.hpp"
#include "saltus/model/outputs.hpp"
#include "saltus/model/settings.hpp"
#include "saltus/model/support.hpp"

namespace saltus::io {

using namespace saltus::model;
using json::Json;

namespace {

constexpr std::size_t long_list = 12;  // entries of a list in the text
constexpr double factor_one = 1e-12;   // a factor with ||f| − 1| < this is written without a number

std::string_view word(FrictionLaw law) {
    constexpr std::string_view words[] = {"none", "coulomb", "orthotropic", "contensou", "rolling"};
    return words[static_cast<std::size_t>(law)];
}
std::string_view word(ImpactLaw law) {
    constexpr std::string_view words[] = {"newton", "poisson", "energy"};
    return words[static_cast<std::size_t>(law)];
}

/// A redundant row as a combination of others: "'left' - 2 'right'".
std::string combination_text(const Inspection::Redundant& r) {
    if (r.combination.empty()) return "0 (it moves with no coordinate)";
    std::string text;
    for (const auto& [name, factor] : r.combination) {
        const double size = std::abs(factor);
        text += text.empty() ? (factor < 0 ? "-" : "") : (factor < 0 ? " - " : " + ");
        text += std::abs(size - 1.0) < factor_one ? fmt::format("'{}'", name) : fmt::format("{:.6g} '{}'", size, name);
    }
    return text;
}

/// "1", or "(1, 2)" if there are several.
std::string numbers(const std::vector<double>& values) {
    std::vector<std::string> texts;
    for (const double v : values) texts.push_back(fmt::format("{:.6g}", v));
    return texts.size() == 1 ? texts[0] : "(" + fmt::format("{}", fmt::join(texts, ", ")) + ")";
}

/// Items in lines of at most `width` characters, with `indent` blanks before all lines but the first.
std::string flow(const std::vector<std::string>& items, std::size_t indent, std::size_t width = 100) {
    constexpr std::string_view between = "   ";
    std::string text;
    std::size_t column = indent;
    for (const std::string& item : items) {
        if (!text.empty() && column + between.size() + item.size() > width) {
            text += "\n" + std::string(indent, ' ');
            column = indent;
        } else if (!text.empty()) {
            text += between;
            column += between.size();
        }
        text += item;
        column += item.size();
    }
    return text;
}

/// Coordinates, degrees of freedom, kind of system.
std::string headline(const Model& m, const Inspection& i) {
    std::vector<std::string> shown(
        m.coordinates.begin(),
        m.coordinates.begin() + static_cast<std::ptrdiff_t>(std::min(m.coordinates.size(), long_list)));
    std::string names = fmt::format("{}", fmt::join(shown, ", "));
    if (shown.size() < m.coordinates.size()) names += ", ... " + m.coordinates.back();
    return fmt::format(
        "{} ({}), {}, {}", counted(m.coordinates.size(), "coordinate"), names,
        i.degrees_of_freedom == 1 ? "1 degree of freedom" : fmt::format("{} degrees of freedom", i.degrees_of_freedom),
        m.scleronomic ? (m.autonomous ? "scleronomic, autonomous" : "scleronomic, forces depend on the time")
                      : "rheonomic");
}

/// The coefficient up to which friction holds, if it is not mu.
std::string static_text(const std::optional<double>& mu_static) {
    return mu_static ? fmt::format("  mu_static {:.6g}", *mu_static) : "";
}

std::string contact_line(const Contact& c, const Inspection::ContactState& s) {
    std::string text = fmt::format("{:<18} gap {:<12.6g} {:<7} gammaN {:.6g}", c.name, s.gap,
                                   !s.exists ? "absent" : (s.closed ? "closed" : "open"), s.gamma_n);
    if (!s.gamma_t.empty())
        text += fmt::format("  gammaT {}  mu {}{}", numbers(s.gamma_t), numbers(s.mu), static_text(s.mu_static));
    if (c.friction.law != FrictionLaw::none && c.friction.law != FrictionLaw::coulomb)
        text += fmt::format("  {}", word(c.friction.law));
    if (!s.radius.empty()) text += fmt::format("  radius {}", numbers(s.radius));
    text += c.c != no_coefficient ? fmt::format("  e = 1 - {:.6g}*v", s.c) : fmt::format("  eN {:.6g}", s.e_n);
    if (!s.gamma_t.empty()) text += fmt::format("  eT {:.6g}", s.e_t);
    return text + fmt::format("  {}", word(c.impact));
}

/// A line for each contact. Many contacts of one obstacle, named obstacle.p0, obstacle.p1, …, have one line together.
std::string contact_lines(const Model& m, const Inspection& i) {
    std::string text;
    std::size_t k = 0;
    while (k < m.contacts.size()) {
        const std::string& name = m.contacts[k].name;
        const std::size_t dot = name.find('.');
        std::size_t end = k + 1;
        while (dot != std::string::npos && end < m.contacts.size() &&
               m.contacts[end].name.compare(0, dot + 1, name, 0, dot + 1) == 0)
            ++end;
        if (end - k <= long_list) {
            for (; k < end; ++k) text += "    " + contact_line(m.contacts[k], i.contacts[k]) + "\n";
            continue;
        }
        std::size_t closed = 0, nearest = k;
        for (std::size_t j = k; j < end; ++j) {
            closed += i.contacts[j].closed ? 1 : 0;
            if (i.contacts[j].gap < i.contacts[nearest].gap) nearest = j;
        }
        text += fmt::format("    {:<18} {} contacts, {} closed, nearest:\n", name.substr(0, dot), end - k, closed);
        text += "      " + contact_line(m.contacts[nearest], i.contacts[nearest]) + "\n";
        k = end;
    }
    return text;
}

/// "3 while a contact is closed, otherwise 0", and what this means.
std::string index_text(const Model& m) {
    const PerturbationIndex index = perturbation_index(m);
    std::string text = std::to_string(index.largest);
    if (index.free < index.largest)
        text += fmt::format(" while {}, otherwise {}",
                            !m.contacts.empty()  ? "a contact is closed"
                            : !m.sliders.empty() ? "friction sticks"
                                                 : "a clutch is locked",
                            index.free);
    if (index.largest == 3) return text + " (second derivatives of errors in constraints and gaps enter)";
    if (index.largest == 2) return text + " (first derivatives of errors in the held velocities enter)";
    return text + " (ordinary differential equations: no derivatives of errors enter)";
}

/// A gain matrix; one number if it is a multiple of the identity.
std::string matrix_text(const Matrix& K) {
    const bool scalar = K.isDiagonal() && (K.diagonal().array() == K(0, 0)).all();
    if (scalar) return fmt::format("{:.6g}", K(0, 0));
    std::vector<std::string> rows;
    for (Eigen::Index r = 0; r < K.rows(); ++r) {
        std::vector<double> row;
        for (Eigen::Index c = 0; c < K.cols(); ++c) row.push_back(K(r, c));
        rows.push_back(numbers(row));
    }
    return fmt::format("[{}]", fmt::join(rows, ", "));
}

/// Control, penalty, perturbation, defaults of the simulation, and how far the initial state was moved.
std::string block_lines(const Model& m, const Inspection& i) {
    std::string text;
    if (m.control) {
        text += fmt::format(
            "  control     on {}: {}Kv {}; closed loop, its potential counts in the energy\n",
            listing(m.control->actuated),
            m.control->shaping.empty()
                ? fmt::format("Kp {}, reference {}, ", matrix_text(m.control->Kp), numbers(m.control->reference))
                : fmt::format("shaped potential {}, ", m.control->shaping),
            matrix_text(m.control->Kv));
        const model::Outputs* const outputs = m.outputs.get();
        if (outputs != nullptr && !outputs->tracked.empty())
            text += "              the reference moves; its value at t = 0 is shown\n";
    }
    if (const model::Outputs* const outputs = m.outputs.get(); model::has_outputs(m)) {
        std::vector<std::string> names;
        for (const model::Output& o : outputs->list) names.push_back(o.name);
        text += "  outputs     " + listing(names) + "\n";
    }
    std::size_t with_penalty = 0;
    double softest = 0.0, stiffest = 0.0;
    for (const Inspection::ContactState& s : i.contacts)
        if (s.penalty_k) {
            softest = with_penalty == 0 ? *s.penalty_k : std::min(softest, *s.penalty_k);
            stiffest = std::max(stiffest, *s.penalty_k);
            ++with_penalty;
        }
    if (with_penalty > 0 && model::has_feature(m, model::Feature::nonlinear_springs))
        text += fmt::format("  penalty     for {}, k depends on the depth\n", counted(with_penalty, "contact"));
    else if (with_penalty > 0)
        text += fmt::format(
            "  penalty     for {}, k {}\n", counted(with_penalty, "contact"),
            softest == stiffest ? fmt::format("{:.6g}", softest) : fmt::format("{:.6g} to {:.6g}", softest, stiffest));
    if (m.perturbable) text += m.perturbed ? "  perturbation applied\n" : "  perturbation given, not applied here\n";
    if (m.settings->simulate.t_end)
        text += fmt::format("  simulate    to t = {:.6g}, method {}{}\n", *m.settings->simulate.t_end,
                            m.settings->simulate.method,
                            m.settings->simulate.h ? fmt::format(", h = {:.6g}", *m.settings->simulate.h) : "");
    if (m.start_moved > 0.0)
        text += fmt::format("  repaired    the initial state was moved by at most {:.3g}\n", m.start_moved);
    return text;
}

Json matrix_json(const Matrix& K) {
    Json rows = Json::array();
    for (Eigen::Index r = 0; r < K.rows(); ++r) {
        Json row = Json::array();
        for (Eigen::Index c = 0; c < K.cols(); ++c) row.push_back(K(r, c));
        rows.push_back(std::move(row));
    }
    return rows;
}

Json contacts_json(const Model& m, const Inspection& i) {
    Json contacts = Json::array();
    for (std::size_t k = 0; k < m.contacts.size(); ++k) {
        const Contact& c = m.contacts[k];
        const Inspection::ContactState& s = i.contacts[k];
        Json e{{"name", c.name},
               {"gN", s.gap},
               {"closed", s.closed},
               {"gammaN", s.gamma_n},
               {"gammaT", s.gamma_t},
               {"mu", s.mu},
               {"friction", word(c.friction.law)},
               {"impact", word(c.impact)}};
        e[c.c == no_coefficient ? "eN" : "c"] = c.c == no_coefficient ? s.e_n : s.c;
        if (s.mu_static) e["mu_static"] = *s.mu_static;
        if (!s.radius.empty()) e["radius"] = s.radius;
        if (s.penalty_k) e["penalty"] = {{"k", *s.penalty_k}, {"d", s.penalty_d.value_or(0.0)}};
        e["eT"] = s.e_t;
        if (c.condition != no_coefficient) e["exists"] = s.exists;
        contacts.push_back(std::move(e));
    }
    return contacts;
}

Json constraints_json(const Model& m, const Inspection& i) {
    Json constraints = Json::array();
    for (std::size_t k = 0; k < m.constraints.size(); ++k) {
        const Inspection::ConstraintState& s = i.constraints[k];
        Json e{{"name", m.constraints[k].name}};
        if (m.constraints[k].on_velocity)
            e["gamma"] = s.rate;
        else
            e.update({{"g", s.g}, {"rate", s.rate}});
        e.update({{"gammaT", s.gamma_t}, {"mu", s.mu}});
        if (s.mu_static) e["mu_static"] = *s.mu_static;
        constraints.push_back(std::move(e));
    }
    return constraints;
}

/// Active rows that depend on others, as combinations of these.
Json redundant_json(const Inspection& i) {
    Json redundant = Json::array();
    for (const Inspection::Redundant& r : i.redundant) {
        Json combination = Json::object();
        for (const auto& [name, factor] : r.combination) combination[name] = factor;
        redundant.push_back({{"name", r.name}, {"combination", std::move(combination)}});
    }
    return redundant;
}

/// The defaults of [simulate].
Json simulate_json(const Model& m) {
    Json simulate{{"method", m.settings->simulate.method}};
    if (m.settings->simulate.t_end) simulate["t_end"] = *m.settings->simulate.t_end;
    if (m.settings->simulate.h) simulate["h"] = *m.settings->simulate.h;
    if (m.settings->simulate.rtol) simulate["rtol"] = *m.settings->simulate.rtol;
    if (m.settings->simulate.atol) simulate["atol"] = *m.settings->simulate.atol;
    return simulate;
}

}  // namespace

namespace {

/// What a jump sets: "theta, phi, theta'".
std::string set_by(const Model& m, const Jump& jump) {
    std::vector<std::string> names;
    for (const JumpValue& v : jump.q) names.push_back(m.coordinates[static_cast<std::size_t>(v.coordinate)]);
    for (const JumpValue& v : jump.u) names.push_back(m.coordinates[static_cast<std::size_t>(v.coordinate)] + "'");
    return listing(names);
}

}  // namespace

std::string check_text(const Model& m, const Inspection& i, const std::string& file) {
    std::string text = fmt::format("{}  ({})\n  {}\n", m.name, file, headline(m, i));
    const std::string indent(14, ' ');
    if (!m.settings->parameters.empty()) {
        std::vector<std::string> items;
        for (const Parameter& p : m.settings->parameters)
            items.push_back(fmt::format("{} = {:.9g}{}", p.name, p.value, p.column < 0 ? " (derived)" : ""));
        text += "  parameters  " + flow(items, indent.size()) + "\n";
    }
    text += fmt::format("  mass matrix {}, {}, condition {:.4g}, smallest eigenvalue {:.6g}\n",
                        m.layout().mass_constant ? "constant" : "depends on the state",
                        i.mass_diagonal ? "diagonal" : "coupled", i.mass_largest / i.mass_smallest, i.mass_smallest);
    std::vector<std::string> state;
    for (std::size_t k = 0; k < m.coordinates.size() && k < long_list; ++k)
        state.push_back(fmt::format("{} = {:.9g}, {}' = {:.9g}", m.coordinates[k], m.q0[k] + 0.0, m.coordinates[k],
                                    m.u0[k] + 0.0));  // + 0.0: no -0
    text += "  start       " + flow(state, indent.size()) + "\n";
    text += fmt::format("  energy      kinetic {:.9g}, potential {:.9g}\n", i.energy.kinetic, i.energy.potential);
    if (!m.contacts.empty()) {
        text += fmt::format("  contacts    {}, {} closed at the start\n", m.contacts.size(), i.closed);
        text += contact_lines(m, i);
    }
    if (!m.constraints.empty()) {
        text += fmt::format("  constraints {}, rank {}\n", m.constraints.size(),
                            i.constraint_rank ? std::to_string(*i.constraint_rank) : "not computed");
        for (std::size_t k = 0; k < m.constraints.size(); ++k) {
            const Inspection::ConstraintState& s = i.constraints[k];
            text += m.constraints[k].on_velocity
                        ? fmt::format("    {:<18} gamma {:.3g}, of velocities", m.constraints[k].name, s.rate)
                        : fmt::format("    {:<18} g {:<12.3g} dg/dt {:.3g}", m.constraints[k].name, s.g, s.rate);
            if (!s.gamma_t.empty())
                text += fmt::format("  gammaT {}  mu {}{}, scaled by |reaction|", numbers(s.gamma_t), numbers(s.mu),
                                    static_text(s.mu_static));
            text += "\n";
        }
    }
    for (std::size_t k = 0; k < m.sliders.size(); ++k)
        text += fmt::format("  slider      {:<18} gammaT {}  mu {}{}  FN {:.6g}\n", m.sliders[k].name,
                            numbers(i.sliders[k].gamma_t), numbers(i.sliders[k].mu),
                            static_text(i.sliders[k].mu_static), i.sliders[k].normal_force);
    for (std::size_t k = 0; k < m.clutches.size(); ++k)
        text += fmt::format("  clutch      {:<18} gamma {:.6g}\n", m.clutches[k].name, i.clutch_gamma[k]);
    for (const Jump& jump : m.jumps) text += fmt::format("  jump        {:<18} sets {}\n", jump.name, set_by(m, jump));
    if (i.active_rows > 0 && i.rank)
        text += fmt::format("  active      {} (constraints and closed contacts), rank {}{}\n",
                            counted(static_cast<std::size_t>(i.active_rows), "row"), *i.rank,
                            i.redundant.empty() ? ", independent" : "");
    for (std::size_t k = 0; k < i.redundant.size() && k < long_list; ++k)
        text += fmt::format("    redundant: '{}' = {}\n", i.redundant[k].name, combination_text(i.redundant[k]));
    if (i.redundant.size() > long_list)
        text += fmt::format("    and {} more redundant rows\n", i.redundant.size() - long_list);
    if (m.perturbable || !m.constraints.empty()) text += "  index       perturbation index " + index_text(m) + "\n";
    text += block_lines(m, i);
    for (const std::string& w : i.warnings) text += "  warning     " + w + "\n";
    return text;
}

std::string check_json(const Model& m, const Inspection& i, const std::string& file) {
    Json j;
    j["model"] = m.name;
    j["file"] = file;
    j["coordinates"] = m.coordinates;
    j["degrees_of_freedom"] = i.degrees_of_freedom;
    Json parameters = Json::object(), derived = Json::array();
    for (const Parameter& p : m.settings->parameters) {
        parameters[p.name] = p.value;
        if (p.column < 0) derived.push_back(p.name);
    }
    j["parameters"] = std::move(parameters);
    j["derived_parameters"] = std::move(derived);
    j["initial"] = {{"t", 0.0}, {"q", json::by_name(m.coordinates, m.q0)}, {"u", json::by_name(m.coordinates, m.u0)}};
    j["scleronomic"] = m.scleronomic;
    j["autonomous"] = m.autonomous;
    j["mass"] = {{"constant", m.layout().mass_constant},       {"diagonal", i.mass_diagonal},
                 {"positive_definite", i.mass_smallest > 0.0}, {"smallest_eigenvalue", i.mass_smallest},
                 {"largest_eigenvalue", i.mass_largest},       {"condition", i.mass_largest / i.mass_smallest}};
    j["energy"] = {{"kinetic", i.energy.kinetic}, {"potential", i.energy.potential}};
    j["contacts"] = contacts_json(m, i);
    j["closed"] = i.closed;
    j["constraints"] = constraints_json(m, i);
    Json sliders = Json::array();
    for (std::size_t k = 0; k < m.sliders.size(); ++k) {
        sliders.push_back({{"name", m.sliders[k].name},
                           {"gammaT", i.sliders[k].gamma_t},
                           {"mu", i.sliders[k].mu},
                           {"FN", i.sliders[k].normal_force}});
        if (i.sliders[k].mu_static) sliders.back()["mu_static"] = *i.sliders[k].mu_static;
    }
    j["sliders"] = std::move(sliders);
    Json clutches = Json::array();
    for (std::size_t k = 0; k < m.clutches.size(); ++k)
        clutches.push_back({{"name", m.clutches[k].name}, {"gamma", i.clutch_gamma[k]}});
    j["clutches"] = std::move(clutches);
    if (!m.jumps.empty()) {
        j["jumps"] = Json::array();
        for (const Jump& jump : m.jumps) j["jumps"].push_back(jump.name);
    }
    j["active"] = {
        {"rows", i.active_rows}, {"rank", i.rank ? Json(*i.rank) : Json()}, {"redundant", redundant_json(i)}};
    const PerturbationIndex index = perturbation_index(m);
    j["perturbation_index"] = {{"free", index.free}, {"largest", index.largest}};
    if (m.control)
        j["control"] = {{"actuated", m.control->actuated},
                        {"Kp", matrix_json(m.control->Kp)},
                        {"Kv", matrix_json(m.control->Kv)},
                        {"reference", m.control->reference},
                        {"shaping", m.control->shaping}};
    if (m.perturbable) j["perturbation"] = {{"applied", m.perturbed}};
    j["simulate"] = simulate_json(m);
    j["start_moved"] = m.start_moved;
    j["warnings"] = i.warnings;
    return json::document(j);
}

}  // namespace saltus::io
