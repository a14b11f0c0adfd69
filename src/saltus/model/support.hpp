// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "saltus/base/error.hpp"
#include "saltus/model/fwd.hpp"

namespace saltus::model {

// Which analysis supports which models: one table, the questions about it, and the one refusal. docs/support.md shows
// the table; a test compares it with `exceptions()`.

/// A property of a model that some analysis does not support.
enum class Feature {
    no_contacts,           ///< the model has no unilateral contact
    contacts,              ///< unilateral contacts
    conditional_contacts,  ///< contacts that exist only while a condition holds
    contact_friction,      ///< a contact with a friction law
    contensou_friction,    ///< combined sliding and drilling friction
    spatial_friction,      ///< friction of any element that is not Coulomb friction along a line
    drilling_friction,     ///< friction of any element with drilling or rolling moments
    constraints,           ///< bilateral constraints
    velocity_constraints,  ///< nonholonomic constraints, of velocities alone
    constraint_friction,   ///< a constraint with a friction law
    sliders,               ///< friction elements with a known normal force
    uneven_sliders,        ///< a slider whose friction is not Coulomb friction
    clutches,              ///< one-way clutches
    poisson_impacts,       ///< a contact with Poisson's impact law
    energy_impacts,        ///< a contact with the energy law
    missing_stiffness,     ///< a contact without k in [penalty]
    nonlinear_springs,     ///< a contact whose k in [penalty] depends on the depth
    varying_coefficients,  ///< a coefficient of a law that depends on time or state
    time_dependence,       ///< energies, forces, rows or gaps that depend explicitly on the time
    no_formulas,           ///< equations that are not all expressions: mass points, or a system written in C++
    no_derivatives,        ///< a system written in C++ without Jacobians
    no_control,            ///< the model has no [control], or one that no theorem treats
    sampled_control,       ///< a [control] with a period: its force is held between samples
    jumps,                 ///< a [[jump]]: resets of the state
    static_friction,       ///< mu_static: friction that holds more than it has in slip
    damping_left_out,      ///< D or D_hat of [penalty], in a model that was built for rigid contacts
};
inline constexpr std::size_t feature_count = 26;

/// A method of integration or an analysis.
enum class Analysis {
    event_driven,
    moreau,
    moreau_lanes,  ///< Moreau's method for eight motions at once, and its kernel for devices
    event_kernel,  ///< the kernel of the event-driven method for devices
    penalty,
    sensitivity,
    perturbed_pair,         ///< the error bounds of [Alscher], Theorems 3.3 and 3.5
    impact_audit,           ///< energetic consistency of impacts, [Glocker]
    equilibrium_sets,       ///< sets of equilibria, [Leine]
    enclosure,              ///< interval bounds over boxes of states, which the certificates are built on
    attractivity,           ///< Theorem 1 of [Leine] and its corollaries
    instability,            ///< Theorems 2 and 3 of [Leine]
    linear_classification,  ///< linear systems with sliders, end of section 6.2 of [Leine]
    equilibrium_points,     ///< equilibria of rigid contacts, [Tornambe] (27)
    sprung_equilibria,      ///< equilibria of contacts with penalty springs, [Tornambe] (48)
    regulation,             ///< Theorems 5 and 6 of [Tornambe]
    penalty_limit,          ///< motions with penalty springs compared with the rigid motion
    basin,
};
inline constexpr std::size_t analysis_count = 18;

enum class Support {
    full,
    approximate,  ///< the analysis runs, with a simplification that the reason names
    condition,    ///< the analysis runs and reports that a condition of its theorem does not hold
    refused,      ///< the analysis does not run
};

/// A pair of analysis and feature without full support.
struct SupportException {
    Analysis analysis;
    Feature feature;
    Support support;
    std::string_view reason;  ///< a clause without full stop
};

/// All pairs without full support, grouped by analysis.
std::span<const SupportException> exceptions();
Support support(Analysis analysis, Feature feature);

std::string_view to_string(Analysis analysis);  ///< subject of a sentence: "method penalty", "the basin"
std::string_view to_string(Feature feature);    ///< object of a sentence: "friction at contacts"
std::string_view to_string(Support support);

/// Whether the model has the feature.
bool has_feature(const Mechanics& model, Feature feature);

/// Number of elements with dry friction: contacts and constraints with a friction law, and sliders. A model is
/// frictionless if it is 0. Friction coefficients are not evaluated, so a law with μ = 0 counts as friction.
int frictional_elements(const Mechanics& model);

/// Why the analysis refuses the model, or "" if it accepts it: for the first feature of the model that is refused,
/// "ANALYSIS does not support FEATURE (ELEMENT): REASON".
std::string unsupported(const Mechanics& model, Analysis analysis);

/// Throws Error with the text of `unsupported` and a remedy. Does nothing if the analysis accepts the model.
void refuse_unsupported(const Mechanics& model, Analysis analysis, const Place& place = {});

/// The same for features that single elements have. Features of the whole model are left to the analysis, which gives
/// their reason in the place of a result.
void refuse_elements(const Mechanics& model, Analysis analysis, const Place& place = {});

/// One sentence for each feature of the model that the analysis supports only approximately.
std::vector<std::string> approximations(const Mechanics& model, Analysis analysis);

}  // namespace saltus::model
