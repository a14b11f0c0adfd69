// SPDX-License-Identifier: Apache-2.0
#include "saltus/sensitivity/saltation/detail/simultaneous.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "saltus/base/index.hpp"
#include "saltus/model/mechanics.hpp"
#include "saltus/sensitivity/saltation/detail/reset.hpp"

namespace saltus::sensitivity {

namespace {

using integrate::ElementMode;
using integrate::FrictionMode;
using integrate::RecordedChange;
using integrate::RecordedImpact;

/// Two derivatives are equal if every entry differs by at most this · (1 + their size). An impulse, or a coupling of
/// two elements, is zero if it is at most this part of the largest impulse, or of the element's own response.
constexpr double equality_tolerance = 1e-10;
/// With more events than this at once their order is assumed to matter; every pair of events is tested.
constexpr std::size_t max_simultaneous_events = 8;

bool contains(const std::vector<int>& list, int element) {
    return std::find(list.begin(), list.end(), element) != list.end();
}

/// Whether the mode of element i changes.
bool differs(const Tangent& x, const RecordedChange& change, std::size_t i) {
    const ElementMode &was = change.mode_before->elements[i], &is = change.mode_after->elements[i];
    if (was.active != is.active || was.pulls != is.pulls || was.reaction_sign != is.reaction_sign ||
        was.exists != is.exists)
        return true;
    for (const int k : x.dynamics.elements()[i].part_numbers()) {
        const FrictionMode &a = change.mode_before->parts[ix(k)], &b = change.mode_after->parts[ix(k)];
        const bool line = x.dynamics.parts()[ix(k)].size == 1;
        if (was.active && (a.slips != b.slips || (a.slips && line && a.direction[0] * b.direction[0] < 0.0)))
            return true;
    }
    return false;
}

/// Whether every effect of the change can be assigned to one of these elements: one event per element, no other element
/// changes its mode or gets an impulse, and one impact of Newton's or Poisson's law at most.
bool separable(const Tangent& x, const RecordedChange& change, const std::vector<int>& elements) {
    if (change.jump >= 0) return false;
    if (elements.size() > max_simultaneous_events || change.impacts.size() > 1 || !change.rest.empty()) return false;
    for (std::size_t k = 0; k < elements.size(); ++k)
        if (elements[k] < 0 || std::count(elements.begin(), elements.end(), elements[k]) > 1) return false;
    for (std::size_t i = 0; i < change.mode_before->elements.size(); ++i)
        if (!contains(elements, static_cast<int>(i)) && differs(x, change, i)) return false;
    for (const RecordedImpact& impact : change.impacts) {
        if (impact.jam || impact.repaired || impact.law == impact::ImpactLaw::energy) return false;
        double largest = 0.0;
        for (const double v : impact.Lambda) largest = std::max(largest, std::abs(v));
        for (std::size_t b = 0; b + 1 < impact.start.size(); ++b) {
            if (impact.laws[b].kind == solvers::LawKind::scaled_slider) return false;
            if (contains(elements, impact.owner[b])) continue;
            for (int k = impact.start[b]; k < impact.start[b + 1]; ++k)
                if (std::abs(impact.Lambda[ix(k)]) > equality_tolerance * largest) return false;
        }
    }
    return true;
}

/// The rows of the model that belong to an element.
std::vector<int> rows_of(const integrate::Dynamics& d, int element) {
    const integrate::ElementLayout& e = d.elements()[ix(element)];
    std::vector<int> rows;
    if (e.rows.normal >= 0) rows.push_back(e.rows.normal);
    for (const int k : e.part_numbers())
        for (int r = 0; r < d.parts()[ix(k)].size; ++r) rows.push_back(d.parts()[ix(k)].row + r);
    return rows;
}

/// Whether M and W of the state after the change, which the caller has evaluated, serve for the state before it: the
/// positions are the same, and no equations hold before or after the change.
bool has_terms_of_free_motion(const Tangent& x, const RecordedChange& change) {
    const integrate::Dynamics& d = x.dynamics;
    const auto inactive = [](const integrate::ElementMode& e) { return !e.active; };
    return d.equation_rows().empty() && d.mode() == change.mode_after &&
           std::all_of(change.mode_before->elements.begin(), change.mode_before->elements.end(), inactive) &&
           std::equal(change.before.begin(), change.before.begin() + x.n(), change.after.begin());
}

/// Whether an impulse in one element changes the velocity of another at once: w_bᵀM⁻¹w_a ≠ 0, either freely, or with
/// the equations A of the mode before the change kept fulfilled, w_bᵀ(I − C K⁻¹A)M⁻¹w_a ≠ 0. Then their order matters.
bool coupled(Tangent& x, const RecordedChange& change, const std::vector<int>& elements) {
    integrate::Dynamics& d = x.dynamics;
    if (!has_terms_of_free_motion(x, change)) {
        x.set_mode(change.mode_before, change.t, change.before.data());
        if (!d.evaluate(change.t, change.before.data())) return true;
    }
    const model::Pattern& W = x.model().layout().rows;
    const std::vector<int>& equations = d.equation_rows();
    const Matrix inverse = equations.empty() ? Matrix() : d.multiplier_inverse();
    std::vector<double> column(ix(x.n())), held;
    for (std::size_t a = 0; a + 1 < elements.size(); ++a)
        for (const int from : rows_of(d, elements[a])) {
            std::fill(column.begin(), column.end(), 0.0);
            for (int e = W.start[ix(from)]; e < W.start[ix(from) + 1]; ++e)
                column[ix(W.column[ix(e)])] += d.terms().W[ix(e)];
            d.mass().solve(column);
            const double own = model::row_dot(W, d.terms().W, from, column);
            held = column;
            if (!equations.empty()) {
                Vector rates(static_cast<Eigen::Index>(equations.size()));
                for (std::size_t k = 0; k < equations.size(); ++k)
                    rates(static_cast<Eigen::Index>(k)) = model::row_dot(W, d.terms().W, equations[k], column);
                Eigen::Map<Vector>(held.data(), x.n()) -= d.equation_columns() * (inverse * rates);
            }
            for (std::size_t b = a + 1; b < elements.size(); ++b)
                for (const int to : rows_of(d, elements[b]))
                    for (const std::vector<double>* felt : {&column, &held})
                        if (std::abs(model::row_dot(W, d.terms().W, to, *felt)) > equality_tolerance * own) return true;
        }
    return false;
}

/// The part of an impact that acts in some of its elements; u_plus is not set.
RecordedImpact impact_in(const RecordedImpact& whole, const std::vector<int>& elements) {
    RecordedImpact part;
    part.law = whole.law;
    part.u_minus = whole.u_minus;
    part.start.push_back(0);
    for (std::size_t b = 0; b + 1 < whole.start.size(); ++b) {
        if (!contains(elements, whole.owner[b])) continue;
        for (int k = whole.start[b]; k < whole.start[b + 1]; ++k) {
            part.rows.push_back(whole.rows[ix(k)]);
            part.e.push_back(whole.e[ix(k)]);
            part.Lambda.push_back(whole.Lambda[ix(k)]);
            if (!whole.compression.empty()) part.compression.push_back(whole.compression[ix(k)]);
        }
        part.start.push_back(static_cast<int>(part.rows.size()));
        part.owner.push_back(whole.owner[b]);
        part.laws.push_back(whole.laws[b]);
        if (!whole.held.empty()) part.held.push_back(whole.held[b]);
    }
    return part;
}

/// The part of a change that happens in some of its elements: their modes change and their impulses act, u⁺ = u⁻ +
/// M⁻¹WΛ.
RecordedChange change_in(Tangent& x, const RecordedChange& whole, const std::vector<int>& elements) {
    RecordedChange part;
    part.t = whole.t;
    part.before = part.after = whole.before;
    part.mode_before = whole.mode_before;
    integrate::SystemMode after = whole.mode_before;
    for (const int i : elements) {
        after.elements[ix(i)] = whole.mode_after->elements[ix(i)];
        for (const int k : x.dynamics.elements()[ix(i)].part_numbers())
            after.parts[ix(k)] = whole.mode_after->parts[ix(k)];
    }
    part.mode_after = std::move(after);
    for (const RecordedImpact& impact : whole.impacts) {
        RecordedImpact own = impact_in(impact, elements);
        if (own.rows.empty()) continue;
        integrate::Dynamics& d = x.dynamics;
        d.evaluate_terms(part.t, part.before.data());
        d.factorise_mass();
        std::vector<double> jump(ix(x.n()), 0.0);
        const model::Pattern& W = x.model().layout().rows;
        for (std::size_t k = 0; k < own.rows.size(); ++k)
            for (int e = W.start[ix(own.rows[k])]; e < W.start[ix(own.rows[k]) + 1]; ++e)
                jump[ix(W.column[ix(e)])] += own.Lambda[k] * d.terms().W[ix(e)];
        d.mass().solve(jump);
        own.u_plus = own.u_minus;
        for (std::size_t i = 0; i < jump.size(); ++i) {
            own.u_plus[i] += jump[i];
            part.after[jump.size() + i] = own.u_plus[i];
        }
        part.impacts.push_back(std::move(own));
    }
    return part;
}

/// The linearisation of one event alone, extended by time and parameters: a square matrix in the columns of Tangent,
/// and the field (1, f, 0) after the event.
struct Event {
    Matrix map;
    Vector field;
};

/// R extended by the identity for t and p.
Matrix extended(const Tangent& x, const Matrix& map) {
    Matrix all = Matrix::Identity(x.columns(), x.columns());
    all.middleRows(1, 2 * x.n()) = map;
    return all;
}

/// (1, f, 0).
Vector extended_field(const Tangent& x, const Vector& f) {
    Vector all = Vector::Zero(x.columns());
    all(0) = 1.0;
    all.segment(1, 2 * x.n()) = f;
    return all;
}

std::optional<Event> event(Tangent& x, const RecordedChange& whole, const std::vector<int>& elements) {
    const RecordedChange part = change_in(x, whole, elements);
    const Reset r = reset(x, part, whole.impacts.empty() ? Arrest::if_needed : Arrest::always);
    Vector f;
    if (!r.exists || !x.velocity_field(part.t, part.after.data(), f)) return {};
    return Event{extended(x, r.map), extended_field(x, f)};
}

bool same(const Matrix& a, const Matrix& b, double size) {
    return (a - b).cwiseAbs().maxCoeff() <= equality_tolerance * (1.0 + size);
}

/// Whether event a leaves the condition of event b unchanged: s_b R_a = s_b and s_b f_a = s_b f⁻.
bool leaves_condition(const Event& a, const EventCondition& b, double size) {
    const double largest = b.s.cwiseAbs().maxCoeff();
    return same(b.s * a.map, b.s, largest) &&
           !(std::abs(b.s.dot(a.field.transpose()) - b.rate) > equality_tolerance * largest * size);
}

}  // namespace

// Derivation for two events a and b at the same time; more events are treated in pairs.
//
// Let a variation move the events to t + δt_a ≤ t + δt_b. With the notation of saltation.cpp and R_t included in the
// extended maps, the first event gives R_a δx + (R_a f⁻ − f_a) δt_a. Then the motion follows f_a, while the nominal one
// follows f⁺. After the second event
//     δx⁺ = R_b [R_a δx + (R_a f⁻ − f_a) δt_a] + (R_b f_a − f_ab) δt_b.
// (Drift of b: its reset acts on the field f_a.) In the other order a and b are exchanged. Both orders agree for all
// δx, δt_a and δt_b if R_a R_b = R_b R_a and the coefficients of δt_b agree:
//     R_b f_a − f_ab = R_a (R_b f⁻ − f_b)   ⇔   R f⁻ − R_b f_a − R_a f_b + f_ab = 0,     R = R_a R_b.
// The coefficient of δt_k is then drift_k = Π_{j≠k} R_j (R_k f⁻ − f_k) in every order, and Σ drift_k = R f⁻ − f⁺ is the
// drift of the whole change. Each δt_k is that of its own condition, which the other event must not change.
// Forces are not admitted as conditions, because they are other functions of the state in another mode.
Matrix separate_drifts(Tangent& x, const RecordedChange& change, const Saltation& whole, const Vector& f) {
    std::vector<int> elements;
    for (const EventCondition& c : whole.events) {
        using What = integrate::Watch::What;
        if (c.watch.what != What::gap && c.watch.what != What::slip && c.watch.what != What::clutch) return {};
        if (c.rate == 0.0) return {};
        elements.push_back(c.watch.element);
    }
    if (!separable(x, change, elements) || coupled(x, change, elements)) return {};
    const Vector before = extended_field(x, f);
    const Matrix map = extended(x, whole.map);
    const double size = before.cwiseAbs().maxCoeff() * map.cwiseAbs().rowwise().sum().maxCoeff();
    std::vector<Event> events;
    for (const int k : elements) {
        const auto e = event(x, change, {k});
        if (!e) return {};
        events.push_back(*e);
    }
    const std::size_t count = events.size();
    for (std::size_t a = 0; a < count; ++a)
        for (std::size_t b = 0; b < count; ++b)
            if (a != b && !leaves_condition(events[a], whole.events[b], size)) return {};
    for (std::size_t a = 0; a < count; ++a)
        for (std::size_t b = a + 1; b < count; ++b) {
            const Matrix both = events[a].map * events[b].map;
            if (!same(both, events[b].map * events[a].map, both.cwiseAbs().maxCoeff())) return {};
            if (count == 2) continue;  // f_ab = f⁺: tested below by the sum of the drifts
            const auto e = event(x, change, {elements[a], elements[b]});
            if (!e || !same(both * before + e->field, events[b].map * events[a].field + events[a].map * events[b].field,
                            size))
                return {};
        }
    Matrix product = Matrix::Identity(x.columns(), x.columns());
    for (const Event& e : events) product = product * e.map;
    if (!same(product, map, map.cwiseAbs().maxCoeff())) return {};
    Matrix drifts(2 * x.n(), static_cast<Eigen::Index>(count));
    for (std::size_t k = 0; k < count; ++k) {
        Vector drift = events[k].map * before - events[k].field;
        for (std::size_t j = 0; j < count; ++j)
            if (j != k) drift = events[j].map * drift;
        drifts.col(static_cast<Eigen::Index>(k)) = drift.segment(1, 2 * x.n());
    }
    if (!drifts.allFinite() || !same(drifts.rowwise().sum(), whole.drift, size)) return {};
    return drifts;
}

}  // namespace saltus::sensitivity
