// SPDX-License-Identifier: Apache-2.0
#include "saltus/model/support.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "saltus/model/feedback.hpp"
#include "saltus/model/jacobians.hpp"
#include "saltus/model/mechanics.hpp"
#include "saltus/model/symbolic.hpp"

namespace saltus::model {

namespace {

using enum Analysis;
using enum Feature;
using enum Support;

// Reasons that several rows of the table share.
constexpr std::string_view about_frictionless_events = "the theorems are about frictionless collisions and lift-offs";
constexpr std::string_view bounds_need_expressions = "its interval bounds are computed from expressions";
constexpr std::string_view friction_makes_sets = "with friction the equilibria are sets, not points";
constexpr std::string_view clutch_holds_velocity =
    "a locked clutch holds a velocity, so the equilibria are not isolated points";
constexpr std::string_view equilibria_fill_manifolds =
    "velocity constraints carry forces and hold no position, so that equilibria are not isolated";
constexpr std::string_view about_holonomic_constraints = "the theorem is about constraints of positions";
constexpr std::string_view about_lasting_contacts = "the theorem is about contacts that always exist";
constexpr std::string_view searches_lasting_contacts = "it takes all contacts to exist everywhere";
constexpr std::string_view hold_is_no_equilibrium =
    "the held force is a state that changes only at samples, so that the equations between samples do not tell";
constexpr std::string_view damping_is_for_simulate =
    "the model was built for rigid contacts, which have no such damping; only `simulate --method penalty` and "
    "`compare` build it for springs";
constexpr std::string_view jumps_end_rest = "a jump resets the state, so that the equations between jumps do not tell";
constexpr std::string_view law_of_one_coefficient =
    "the proofs are about one coefficient of friction for stick and slip";
constexpr std::string_view equilibria_change_with_time = "an equilibrium at one time need not be one at another";

/// All exceptions: {analysis, feature, support, reason}. Pairs that are not in the table have full support.
constexpr std::array table{
    SupportException{moreau_lanes, drilling_friction, refused, "lanes have friction along lines and in planes"},
    SupportException{moreau_lanes, energy_impacts, refused, "lanes apply Newton's and Poisson's laws"},
    SupportException{moreau_lanes, no_formulas, refused, "lanes evaluate tapes of expressions"},
    SupportException{moreau_lanes, conditional_contacts, refused, "lanes take all contacts to exist"},
    SupportException{moreau_lanes, Feature::velocity_constraints, refused,
                     "lanes project positions onto all constraints"},
    SupportException{moreau_lanes, sampled_control, refused, "lanes do not sample"},
    SupportException{moreau_lanes, jumps, refused, "lanes do not reset the state"},
    SupportException{moreau_lanes, static_friction, refused, "lanes have one coefficient of friction"},

    SupportException{event_kernel, spatial_friction, refused, "the kernel has friction along lines"},
    SupportException{event_kernel, poisson_impacts, refused, "the kernel applies Newton's law"},
    SupportException{event_kernel, energy_impacts, refused, "the kernel applies Newton's law"},
    SupportException{event_kernel, clutches, refused, "the kernel has contacts, constraints and sliders"},
    SupportException{event_kernel, no_formulas, refused, "the kernel is written from expressions"},
    SupportException{event_kernel, conditional_contacts, refused, "the kernel takes all contacts to exist"},
    SupportException{event_kernel, sampled_control, refused, "the kernel does not sample"},
    SupportException{event_kernel, jumps, refused, "the kernel does not reset the state"},

    SupportException{Analysis::penalty, missing_stiffness, refused, "the contact force is k*depth + d*rate"},
    SupportException{Analysis::penalty, Feature::damping_left_out, refused, damping_is_for_simulate},

    SupportException{sensitivity, no_derivatives, refused, "the variational equation needs them"},
    SupportException{sensitivity, sampled_control, refused, "the derivative of a held force is not computed"},

    SupportException{perturbed_pair, contact_friction, condition, about_frictionless_events},
    SupportException{perturbed_pair, constraint_friction, condition, about_frictionless_events},
    SupportException{perturbed_pair, sliders, condition, about_frictionless_events},
    SupportException{perturbed_pair, clutches, condition, about_frictionless_events},
    SupportException{perturbed_pair, Feature::velocity_constraints, refused, about_holonomic_constraints},
    SupportException{perturbed_pair, conditional_contacts, refused, about_lasting_contacts},
    SupportException{perturbed_pair, sampled_control, refused, "the theorems are about forces that do not jump"},
    SupportException{perturbed_pair, jumps, refused, "the theorems are about motions with continuous positions"},

    SupportException{impact_audit, contensou_friction, approximate,
                     "the patch has no second-order cone, so only the impulses of the law are judged"},
    SupportException{impact_audit, constraint_friction, approximate,
                     "friction bounded by a reaction has no convex cone, so only the impulses of the law are judged"},
    SupportException{impact_audit, jumps, approximate,
                     "a jump has no impulses, so that only collisions of contacts are judged"},
    SupportException{impact_audit, static_friction, approximate,
                     "impulses of friction are bounded by mu alone, also where the contact sticks"},

    SupportException{equilibrium_sets, time_dependence, condition, equilibria_change_with_time},
    SupportException{equilibrium_sets, no_derivatives, refused, "the search for sets needs them"},
    SupportException{equilibrium_sets, Feature::velocity_constraints, refused, equilibria_fill_manifolds},
    SupportException{equilibrium_sets, conditional_contacts, refused, searches_lasting_contacts},
    SupportException{equilibrium_sets, sampled_control, refused, hold_is_no_equilibrium},
    SupportException{equilibrium_sets, jumps, refused, jumps_end_rest},
    SupportException{equilibrium_sets, static_friction, refused,
                     "friction that rests and friction on a moving surface have different coefficients"},

    SupportException{enclosure, no_formulas, refused, "interval bounds are computed from expressions"},
    SupportException{enclosure, Feature::velocity_constraints, refused, "its constraints are those of positions"},
    SupportException{enclosure, conditional_contacts, refused, searches_lasting_contacts},
    SupportException{enclosure, jumps, refused, jumps_end_rest},
    SupportException{enclosure, static_friction, refused, law_of_one_coefficient},

    SupportException{attractivity, poisson_impacts, condition,
                     "the theorem is about Newton's law (a single frictionless contact is the same by both)"},
    SupportException{attractivity, energy_impacts, condition, "the theorem is about Newton's law"},
    SupportException{attractivity, time_dependence, condition, "the theorem is about autonomous systems"},
    SupportException{attractivity, no_formulas, refused, bounds_need_expressions},
    SupportException{attractivity, Feature::velocity_constraints, refused, about_holonomic_constraints},
    SupportException{attractivity, conditional_contacts, refused, about_lasting_contacts},
    SupportException{attractivity, sampled_control, refused, hold_is_no_equilibrium},
    SupportException{attractivity, jumps, refused, jumps_end_rest},
    SupportException{attractivity, static_friction, refused, law_of_one_coefficient},

    SupportException{instability, contacts, condition,
                     "a motion with fixed sticking and slipping contacts must be found that leaves the set"},
    SupportException{instability, clutches, condition,
                     "a motion with clutches that stay locked or free must be found that leaves the set"},
    SupportException{instability, time_dependence, condition, "the theorem is about autonomous systems"},
    SupportException{instability, no_formulas, refused, bounds_need_expressions},
    SupportException{instability, Feature::velocity_constraints, refused, about_holonomic_constraints},
    SupportException{instability, conditional_contacts, refused, about_lasting_contacts},
    SupportException{instability, sampled_control, refused, hold_is_no_equilibrium},
    SupportException{instability, jumps, refused, jumps_end_rest},
    SupportException{instability, static_friction, refused, law_of_one_coefficient},

    SupportException{linear_classification, contacts, refused, "the system must be linear between stick and slip"},
    SupportException{linear_classification, constraints, refused, "the system must be linear between stick and slip"},
    SupportException{linear_classification, uneven_sliders, refused, "the criterion is for Coulomb friction"},
    SupportException{linear_classification, clutches, refused, "the system must be linear between stick and slip"},
    SupportException{linear_classification, time_dependence, refused, "the criterion is for constant matrices"},
    SupportException{linear_classification, no_formulas, refused, bounds_need_expressions},
    SupportException{linear_classification, sampled_control, refused, hold_is_no_equilibrium},
    SupportException{linear_classification, jumps, refused, jumps_end_rest},
    SupportException{linear_classification, static_friction, refused, law_of_one_coefficient},

    SupportException{equilibrium_points, contact_friction, refused, friction_makes_sets},
    SupportException{equilibrium_points, constraint_friction, refused, friction_makes_sets},
    SupportException{equilibrium_points, sliders, refused, friction_makes_sets},
    SupportException{equilibrium_points, clutches, refused, clutch_holds_velocity},
    SupportException{equilibrium_points, Feature::velocity_constraints, refused, equilibria_fill_manifolds},
    SupportException{equilibrium_points, conditional_contacts, refused, searches_lasting_contacts},
    SupportException{equilibrium_points, time_dependence, refused, equilibria_change_with_time},
    SupportException{equilibrium_points, sampled_control, refused, hold_is_no_equilibrium},
    SupportException{equilibrium_points, jumps, refused, jumps_end_rest},

    SupportException{sprung_equilibria, contact_friction, refused, friction_makes_sets},
    SupportException{sprung_equilibria, constraint_friction, refused, friction_makes_sets},
    SupportException{sprung_equilibria, sliders, refused, friction_makes_sets},
    SupportException{sprung_equilibria, clutches, refused, clutch_holds_velocity},
    SupportException{sprung_equilibria, Feature::velocity_constraints, refused, equilibria_fill_manifolds},
    SupportException{sprung_equilibria, conditional_contacts, refused, searches_lasting_contacts},
    SupportException{sprung_equilibria, missing_stiffness, refused, "the contact force is k*depth"},
    SupportException{sprung_equilibria, nonlinear_springs, refused, "its springs have a constant stiffness"},
    SupportException{sprung_equilibria, time_dependence, refused, equilibria_change_with_time},
    SupportException{sprung_equilibria, sampled_control, refused, hold_is_no_equilibrium},
    SupportException{sprung_equilibria, jumps, refused, jumps_end_rest},

    SupportException{regulation, contact_friction, condition, friction_makes_sets},
    SupportException{regulation, constraints, condition, "the theorem is about systems without constraints"},
    SupportException{regulation, constraint_friction, condition, friction_makes_sets},
    SupportException{regulation, sliders, condition, friction_makes_sets},
    SupportException{regulation, clutches, condition, clutch_holds_velocity},
    SupportException{regulation, Feature::velocity_constraints, refused, about_holonomic_constraints},
    SupportException{regulation, conditional_contacts, refused, about_lasting_contacts},
    SupportException{regulation, jumps, refused, jumps_end_rest},
    SupportException{regulation, time_dependence, condition, equilibria_change_with_time},
    SupportException{regulation, no_control, refused, "the theorem is about a linear controller or a shaped potential"},

    SupportException{penalty_limit, no_contacts, refused, "without contacts there is nothing to compare"},
    SupportException{penalty_limit, missing_stiffness, refused, "the contact force is k*depth"},
    SupportException{penalty_limit, conditional_contacts, refused, searches_lasting_contacts},
    SupportException{penalty_limit, nonlinear_springs, refused, "the penalty is k*depth^2/2 with a constant k"},
    SupportException{penalty_limit, Feature::damping_left_out, refused, damping_is_for_simulate},
    SupportException{penalty_limit, sampled_control, refused, "its paths of stationary action have no memory"},
    SupportException{penalty_limit, jumps, refused, "its paths of stationary action have no resets"},

    SupportException{basin, time_dependence, approximate, "rest in one place need not last"},
    SupportException{basin, Feature::velocity_constraints, refused, equilibria_fill_manifolds},
    SupportException{basin, conditional_contacts, refused, searches_lasting_contacts},
    SupportException{basin, sampled_control, refused, hold_is_no_equilibrium},
    SupportException{basin, jumps, refused, jumps_end_rest},
    SupportException{basin, static_friction, refused,
                     "what captures a motion near an equilibrium set is known for one coefficient of friction"},
};

/// Kind and name of the first element that satisfies the condition; nullopt if no element does.
template <class Elements, class Condition>
std::optional<std::string> first(const char* kind, const Elements& elements, Condition condition) {
    const auto at = std::find_if(elements.begin(), elements.end(), condition);
    if (at == elements.end()) return std::nullopt;
    return std::string(kind) + " '" + at->name + "'";
}

template <class Condition>
std::optional<std::string> first_friction(const Mechanics& m, Condition condition) {
    const auto of = [&](const auto& element) { return condition(element.friction); };
    if (auto found = first("contact", m.contacts, of)) return found;
    if (auto found = first("constraint", m.constraints, of)) return found;
    return first("slider", m.sliders, of);
}

const auto any = [](const auto&) { return true; };
const auto has_friction = [](const auto& element) { return element.friction.present(); };

/// Whether a coefficient depends on positions or velocities. Systems without formulas have constant coefficients.
bool state_dependent(const Mechanics& m, Coefficient c) {
    const SymbolicEquations* const equations = m.system->symbolic();
    if (c == no_coefficient || equations == nullptr) return false;
    const Formulas& formulas = equations->formulas();
    return formulas.graph.depends_on(formulas.coefficients[static_cast<std::size_t>(c)],
                                     expr::position | expr::velocity);
}

/// The first element that has the feature, "" if it is a feature of the whole model; nullopt if the model does not have
/// it.
std::optional<std::string> find_feature(const Mechanics& m, Feature feature) {
    const auto whole = [](bool has) { return has ? std::optional(std::string()) : std::nullopt; };
    const auto with_law = [&](ImpactLaw law) {
        return first("contact", m.contacts, [&](const Contact& c) { return c.impact == law; });
    };
    switch (feature) {
        case no_contacts: return whole(m.contacts.empty());
        case contacts: return first("contact", m.contacts, any);
        case contact_friction: return first("contact", m.contacts, has_friction);
        case contensou_friction:
            return first_friction(m, [](const Friction& f) { return f.law == FrictionLaw::contensou; });
        case spatial_friction:
            return first_friction(m, [](const Friction& f) {
                return f.present() && (f.dimension != 1 || f.law != FrictionLaw::coulomb);
            });
        case drilling_friction:
            return first_friction(
                m, [](const Friction& f) { return f.law == FrictionLaw::contensou || f.law == FrictionLaw::rolling; });
        case constraints: return first("constraint", m.constraints, any);
        case Feature::velocity_constraints:
            return first("constraint", m.constraints, [](const Constraint& c) { return c.on_velocity; });
        case conditional_contacts:
            return first("contact", m.contacts, [](const Contact& c) { return c.condition != no_coefficient; });
        case constraint_friction: return first("constraint", m.constraints, has_friction);
        case sliders: return first("slider", m.sliders, any);
        case uneven_sliders:
            return first("slider", m.sliders, [](const Slider& s) { return s.friction.law != FrictionLaw::coulomb; });
        case clutches: return first("clutch", m.clutches, any);
        case poisson_impacts: return with_law(ImpactLaw::poisson);
        case energy_impacts: return with_law(ImpactLaw::energy);
        case missing_stiffness:
            return first("contact", m.contacts, [](const Contact& c) { return c.penalty_k == no_coefficient; });
        case nonlinear_springs:
            return first("contact", m.contacts, [&](const Contact& c) { return state_dependent(m, c.penalty_k); });
        case varying_coefficients: return whole(!m.layout().coefficients_constant);
        case time_dependence: return whole(!m.scleronomic || !m.autonomous);
        case no_formulas: return whole(m.system->symbolic() == nullptr);
        case no_derivatives: return whole(m.system->jacobians() == nullptr);
        case no_control: return whole(m.control == nullptr);
        case sampled_control:  // of one part of the model, so that every analysis refuses it (refuse_elements)
            return m.sampled != nullptr ? std::optional<std::string>("period of [control]") : std::nullopt;
        case jumps: return first("jump", m.jumps, any);
        case static_friction: return first_friction(m, [](const Friction& f) { return f.mu_static != no_coefficient; });
        case Feature::damping_left_out: return whole(m.damping_left_out);
    }
    misuse("a feature", __FILE__, __LINE__);
}

std::string sentence(const SupportException& e, const std::string& element, std::string_view verb) {
    std::string text(to_string(e.analysis));
    text += std::string(" ") + std::string(verb) + " " + std::string(to_string(e.feature));
    if (!element.empty()) text += " (" + element + ")";
    return text + ": " + std::string(e.reason);
}

std::string remedy_for(Feature feature) {
    switch (feature) {
        case no_contacts: return "add a [[contact]]";
        case missing_stiffness: return "give the model a [penalty] with k";
        case nonlinear_springs: return "give k as a number; --penalty k=... replaces it";
        case no_control: return "add a [control] with measured velocities, without saturation and without a period";
        case sampled_control: return "remove period of [control] for a law that acts continuously";
        case jumps: return "remove [[jump]]";
        case static_friction: return "remove mu_static";
        case Feature::damping_left_out: return "remove D and D_hat of [penalty], or use simulate --method penalty";
        case no_derivatives: return "implement System::jacobians";
        default: return {};
    }
}

/// The first exception of the table that refuses the model, with the result of find_feature; nullopt if none does.
std::optional<std::pair<SupportException, std::string>> first_refusal(const Mechanics& model, Analysis analysis) {
    for (const SupportException& e : table)
        if (e.analysis == analysis && e.support == refused)
            if (const std::optional<std::string> element = find_feature(model, e.feature))
                return std::pair(e, *element);
    return std::nullopt;
}

}  // namespace

std::span<const SupportException> exceptions() { return table; }

Support support(Analysis analysis, Feature feature) {
    for (const SupportException& e : table)
        if (e.analysis == analysis && e.feature == feature) return e.support;
    return full;
}

std::string_view to_string(Analysis analysis) {
    switch (analysis) {
        case event_driven: return "method event";
        case moreau: return "method moreau";
        case moreau_lanes: return "method moreau in lanes and on devices";
        case event_kernel: return "method event on devices";
        case Analysis::penalty: return "method penalty";
        case sensitivity: return "sensitivity";
        case perturbed_pair: return "the perturbed pair";
        case impact_audit: return "the impact audit";
        case equilibrium_sets: return "the search for equilibrium sets";
        case enclosure: return "the enclosure over boxes";
        case attractivity: return "the certificate of attractivity";
        case instability: return "the certificate of instability";
        case linear_classification: return "the classification of linear systems";
        case equilibrium_points: return "the search for equilibrium points";
        case sprung_equilibria: return "the search for equilibria with springs";
        case regulation: return "the certificate of regulation";
        case penalty_limit: return "the penalty limit";
        case basin: return "the basin";
    }
    return "";
}

std::string_view to_string(Feature feature) {
    switch (feature) {
        case no_contacts: return "models without contacts";
        case contacts: return "contacts";
        case contact_friction: return "friction at contacts";
        case contensou_friction: return "Coulomb-Contensou friction";
        case spatial_friction: return "friction that is not along a line";
        case drilling_friction: return "friction with drilling or rolling moments";
        case constraints: return "constraints";
        case Feature::velocity_constraints: return "velocity constraints";
        case conditional_contacts: return "contacts with a condition";
        case constraint_friction: return "friction at constraints";
        case sliders: return "sliders";
        case uneven_sliders: return "sliders without Coulomb friction";
        case clutches: return "clutches";
        case poisson_impacts: return "Poisson's impact law";
        case energy_impacts: return "the energy impact law";
        case missing_stiffness: return "contacts without a stiffness k";
        case nonlinear_springs: return "contact springs that are not linear";
        case varying_coefficients: return "coefficients that depend on time or state";
        case time_dependence: return "models that depend on the time";
        case no_formulas: return "equations that are not expressions";
        case no_derivatives: return "systems without derivatives";
        case no_control: return "models without control, or with saturation, estimated velocities or sampling";
        case sampled_control: return "sampled control";
        case jumps: return "jumps of the state";
        case static_friction: return "a coefficient of static friction";
        case Feature::damping_left_out: return "D or D_hat of [penalty]";
    }
    return "";
}

std::string_view to_string(Support support) {
    switch (support) {
        case full: return "full";
        case approximate: return "approximate";
        case condition: return "condition";
        case refused: return "refused";
    }
    return "";
}

bool has_feature(const Mechanics& model, Feature feature) { return find_feature(model, feature).has_value(); }

int frictional_elements(const Mechanics& model) {
    return static_cast<int>(std::count_if(model.contacts.begin(), model.contacts.end(), has_friction) +
                            std::count_if(model.constraints.begin(), model.constraints.end(), has_friction)) +
           static_cast<int>(model.sliders.size());
}

std::string unsupported(const Mechanics& model, Analysis analysis) {
    const auto refusal = first_refusal(model, analysis);
    return refusal ? sentence(refusal->first, refusal->second, "does not support") : std::string();
}

void refuse_unsupported(const Mechanics& model, Analysis analysis, const Place& place) {
    if (const auto refusal = first_refusal(model, analysis))
        throw Error(sentence(refusal->first, refusal->second, "does not support"), place,
                    remedy_for(refusal->first.feature));
}

void refuse_elements(const Mechanics& model, Analysis analysis, const Place& place) {
    for (const SupportException& e : table) {
        if (e.analysis != analysis || e.support != refused) continue;
        const std::optional<std::string> element = find_feature(model, e.feature);
        if (element && !element->empty())
            throw Error(sentence(e, *element, "does not support"), place, remedy_for(e.feature));
    }
}

std::vector<std::string> approximations(const Mechanics& model, Analysis analysis) {
    std::vector<std::string> list;
    for (const SupportException& e : table)
        if (e.analysis == analysis && e.support == approximate)
            if (const std::optional<std::string> element = find_feature(model, e.feature))
                list.push_back(sentence(e, *element, "approximates"));
    return list;
}

}  // namespace saltus::model
