// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// The layout of trajectory files, once for writing and reading (docs/trajectory-file.md).
namespace saltus::io::layout {

/// Codes of a column of words.
using Codes = std::vector<std::uint8_t>;

inline constexpr std::string_view format = "saltus trajectory";
inline constexpr std::int64_t newest_layout = 2;  // to be increased when older programs could no longer read the file
inline constexpr std::int64_t oldest_layout = 1;  // the oldest that is read; layout 1 has no steps as Taylor series

// The words of the file, in the order of the enumerators.
inline constexpr std::array<std::string_view, 4> element_words{"contact", "constraint", "slider", "clutch"};
inline constexpr std::array<std::string_view, 5> mode_words{"open", "closed", "stick", "slip", "pressed"};
inline constexpr std::array<std::string_view, 10> event_words{"impact",   "contact",      "lift-off", "stick",  "slip",
                                                              "reversal", "accumulation", "painleve", "switch", "jump"};

template <class Enumerator>
std::uint8_t code(Enumerator e) {
    return static_cast<std::uint8_t>(e);
}

/// A column whose rows are lists of different lengths. Row k is values[offsets[k]] … values[offsets[k+1] − 1].
template <class T>
struct Ragged {
    std::vector<std::int64_t> offsets{0};
    std::vector<T> values;

    std::int64_t end = 0;  ///< number of all values, also of those that are stored elsewhere already

    template <class Row>
    void add(const Row& row) {
        for (const auto& value : row) values.push_back(static_cast<T>(value));
        end += static_cast<std::int64_t>(row.size());
        offsets.push_back(end);
    }
    template <class U>
    void get(std::size_t k, std::vector<U>& row) const {
        row.clear();
        for (std::int64_t i = offsets[k]; i < offsets[k + 1]; ++i)
            row.push_back(static_cast<U>(values[static_cast<std::size_t>(i)]));
    }
};

/// A list of reactions: number of the element, normal and tangential components.
struct ReactionColumns {
    std::vector<std::int32_t> element;
    std::vector<double> N;
    Ragged<double> T;
};

/// A trajectory, or a piece of one, in columns as in the file. The coefficients of the integration steps are missing
/// here; they are the bulk of the data and go directly from the trajectory to the file and back.
struct Columns {
    std::vector<std::string> coordinates, warnings;
    struct {
        Codes kind;
        std::vector<std::string> name;
        std::vector<std::int32_t> tangential;
    } elements;
    struct {
        std::vector<double> t_begin, t_end;
        std::vector<std::int64_t> steps_offsets{0};
        Ragged<std::uint8_t> modes;
    } arcs;
    struct {
        std::vector<double> t_old, t_new;
        std::vector<std::int32_t> components, terms;
        std::vector<std::int32_t> series;  ///< 1: a Taylor series; 0: a polynomial by its ends (ode::Dense::Form)
        std::vector<std::int64_t> coefficients_offsets{0};
    } steps;
    struct {
        Codes kind;
        std::vector<double> t, t_left, t_right, work, energy_before, energy_after, tangential_work, obstacle_work;
        Ragged<std::int32_t> elements;
        Ragged<double> q, u_minus, u_plus, q_plus;
        std::vector<std::int64_t> impulses_offsets{0}, rate_jumps_offsets{0};
        std::vector<std::int32_t> impacts;
        std::vector<std::int64_t> noted;  ///< numbers of the events that have a note
        std::vector<std::string> note;
    } events;
    struct {
        std::vector<std::int64_t> event;
        std::vector<double> created, prevented;
        std::vector<std::int32_t> element;  ///< the element that created the energy; −1: no single one
        std::vector<std::string> law;
    } findings;  ///< events whose impulses created energy, or would have without repair
    ReactionColumns impulses, rate_jumps, forces;
    std::vector<double> start_q, start_u, end_q, end_u;
};

inline constexpr std::array<const char*, 12> groups{"elements", "arcs",  "steps", "events", "findings",  "impulses",
                                                    "forces",   "start", "end",   "energy", "violation", "statistics"};

// The layout of the file, once for writing and reading: `visit` gets the name of a column and the column.

template <class C, class Visit>
void each_reaction_column(const std::string& group, C& c, Visit& visit) {
    visit(group + "/element", c.element);
    visit(group + "/N", c.N);
    visit.ragged(group + "/T", c.T);
}

template <class C, class Visit>
void each_column(C& c, Visit& visit) {
    visit("coordinates", c.coordinates);
    visit("warnings", c.warnings);
    visit.words("elements/kind", c.elements.kind, element_words);
    visit("elements/name", c.elements.name);
    visit("elements/tangential", c.elements.tangential);
    visit("arcs/t_begin", c.arcs.t_begin);
    visit("arcs/t_end", c.arcs.t_end);
    visit("arcs/steps_offsets", c.arcs.steps_offsets);
    visit("arcs/modes_offsets", c.arcs.modes.offsets);
    visit.words("arcs/modes", c.arcs.modes.values, mode_words);
    visit("steps/t_old", c.steps.t_old);
    visit("steps/t_new", c.steps.t_new);
    visit("steps/components", c.steps.components);
    visit("steps/terms", c.steps.terms);
    visit.since_layout_2("steps/series", c.steps.series);
    visit("steps/coefficients_offsets", c.steps.coefficients_offsets);
    visit.words("events/kind", c.events.kind, event_words);
    visit("events/t", c.events.t);
    visit("events/t_left", c.events.t_left);
    visit("events/t_right", c.events.t_right);
    visit.ragged("events/elements", c.events.elements);
    visit.ragged("events/q", c.events.q);
    visit.ragged("events/u_minus", c.events.u_minus);
    visit.ragged("events/u_plus", c.events.u_plus);
    visit("events/impulses_offsets", c.events.impulses_offsets);
    visit("events/work", c.events.work);
    visit("events/energy_before", c.events.energy_before);
    visit("events/energy_after", c.events.energy_after);
    visit("events/impacts", c.events.impacts);
    visit("events/tangential_work", c.events.tangential_work);
    visit("events/obstacle_work", c.events.obstacle_work);
    visit("findings/event", c.findings.event);
    visit("findings/created", c.findings.created);
    visit("findings/prevented", c.findings.prevented);
    visit("findings/element", c.findings.element);
    visit("findings/law", c.findings.law);
    visit("events/noted", c.events.noted);
    visit("events/note", c.events.note);
    each_reaction_column("impulses", c.impulses, visit);
    each_reaction_column("forces", c.forces, visit);
    visit("start/q", c.start_q);
    visit("start/u", c.start_u);
    visit("end/q", c.end_q);
    visit("end/u", c.end_u);
}

/// Columns that older files do not have.
template <class C, class Visit>
void each_rate_jump_column(C& c, Visit& visit) {
    visit("events/rate_jumps_offsets", c.events.rate_jumps_offsets);
    each_reaction_column("rate_jumps", c.rate_jumps, visit);
}

/// Columns of motions with jumps of the model ([[jump]]). Other motions do not have them.
template <class C, class Visit>
void each_jump_column(C& c, Visit& visit) {
    visit.ragged("events/q_plus", c.events.q_plus);
}

template <class T, class Visit>
void each_attribute(T& t, Visit visit) {
    visit("", "model", t.model);
    visit("", "method", t.method);
    visit("", "version", t.version);
    visit("", "options", t.options);
    visit("", "model_hash", t.model_hash);
    visit("", "stepped", t.stepped);
    visit("", "reason", t.reason);
    visit("start", "t", t.start.t);
    visit("end", "t", t.end.t);
    visit("energy", "initial", t.energy.initial);
    visit("energy", "final", t.energy.final);
    visit("energy", "work", t.energy.work);
    visit("energy", "balance_error", t.energy.balance_error);
    visit("violation", "gap", t.violation.gap);
    visit("violation", "constraint", t.violation.constraint);
    visit("statistics", "steps", t.statistics.steps);
    visit("statistics", "rejected", t.statistics.rejected);
    visit("statistics", "evaluations", t.statistics.evaluations);
    visit("statistics", "contact_solves", t.statistics.contact_solves);
    visit("statistics", "projections", t.statistics.projections);
    visit("statistics", "worst_contact_residual", t.statistics.worst_contact_residual);
}

template <class B, class Visit>
void each_balance_column(B& b, Visit visit) {
    visit("balance/t", b.t);
    visit("balance/V", b.V);
    visit("balance/damping", b.damping);
    visit("balance/friction", b.friction);
    visit("balance/springs", b.springs);
    visit("balance/impact_friction", b.impact_friction);
    visit("balance/impact_restitution", b.impact_restitution);
    visit("balance/applied", b.applied);
    visit("balance/driven", b.driven);
}

}  // namespace saltus::io::layout
