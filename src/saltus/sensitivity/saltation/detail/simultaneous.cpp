// SPDX-License-Identifier: Apache-2.0
#include "saltus/sensitivity/saltation/detail/simultaneous.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "saltus/base/index.hpp"
#include "saltus/model/model.hpp"
#include "saltus/sensitivity/saltation/detail/reset.hpp"

namespace saltus::sensitivity {

namespace {

using integrate::ElementMode;
using integrate::FrictionMode;
using integrate::RecordedChange;
using integrate::RecordedImpact;

constexpr double nothing = 1e-10;
constexpr std::size_t most = 8;

bool holds(const std::vector<int>& list, int element) {
    return std::find(list.begin(), list.end(), element) != list.end();
}

bool differs(const Tangent& x, const RecordedChange& change, std::size_t i) {
    const ElementMode &was = change.mode_before.elements[i], &is = change.mode_after.elements[i];
    if (was.active != is.active || was.pulls != is.pulls || was.reaction_sign != is.reaction_sign) return true;
    for (const int k : x.dynamics.elements()[i].part_numbers()) {
        const FrictionMode &a = change.mode_before.parts[ix(k)], &b = change.mode_after.parts[ix(k)];
        const bool line = x.dynamics.parts()[ix(k)].size == 1;
        if (was.active && (a.slips != b.slips || (a.slips && line && a.direction[0] * b.direction[0] < 0.0)))
            return true;
    }
    return false;
}

/// One event an element, and nothing that happens belongs to another.
bool apart(const Tangent& x, const RecordedChange& change, const std::vector<int>& elements) {
    if (elements.size() > most || change.impacts.size() > 1 || !change.rest.empty()) return false;
    for (std::size_t k = 0; k < elements.size(); ++k)
        if (elements[k] < 0 || std::count(elements.begin(), elements.end(), elements[k]) > 1) return false;
    for (std::size_t i = 0; i < change.mode_before.elements.size(); ++i)
        if (!holds(elements, static_cast<int>(i)) && differs(x, change, i)) return false;
    for (const RecordedImpact& impact : change.impacts) {
        if (impact.jam || impact.repaired || impact.law == impact::ImpactLaw::energy) return false;
        double largest = 0.0;
        for (const double v : impact.Lambda) largest = std::max(largest, std::abs(v));
        for (std::size_t b = 0; b + 1 < impact.start.size(); ++b) {
            if (impact.laws[b].kind == solvers::LawKind::scaled_slider) return false;
            if (holds(elements, impact.owner[b])) continue;
            for (int k = impact.start[b]; k < impact.start[b + 1]; ++k)
                if (std::abs(impact.Lambda[ix(k)]) > nothing * largest) return false;
        }
    }
    return true;
}

std::vector<int> rows_of(const integrate::Dynamics& d, int element) {
    const integrate::ElementLayout& e = d.elements()[ix(element)];
    std::vector<int> rows;
    if (e.rows.normal >= 0) rows.push_back(e.rows.normal);
    for (const int k : e.part_numbers())
        for (int r = 0; r < d.parts()[ix(k)].size; ++r) rows.push_back(d.parts()[ix(k)].row + r);
    return rows;
}

/// Whether what one does is felt by another at once, W_b M⁻¹ W_aᵀ ≠ 0, or through what holds in the mode before: then
/// their order matters.
bool coupled(Tangent& x, const RecordedChange& change, const std::vector<int>& elements) {
    integrate::Dynamics& d = x.dynamics;
    x.set_mode(change.mode_before, change.t, change.before.data());
    if (!d.evaluate(change.t, change.before.data())) return true;
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
                        if (std::abs(model::row_dot(W, d.terms().W, to, *felt)) > nothing * own) return true;
        }
    return false;
}

/// An impact in some of its contacts alone, its velocities not known yet.
RecordedImpact only(const RecordedImpact& whole, const std::vector<int>& elements) {
    RecordedImpact part;
    part.law = whole.law;
    part.u_minus = whole.u_minus;
    part.start.push_back(0);
    for (std::size_t b = 0; b + 1 < whole.start.size(); ++b) {
        if (!holds(elements, whole.owner[b])) continue;
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

RecordedChange only(Tangent& x, const RecordedChange& whole, const std::vector<int>& elements) {
    RecordedChange part;
    part.t = whole.t;
    part.before = part.after = whole.before;
    part.mode_before = part.mode_after = whole.mode_before;
    for (const int i : elements) {
        part.mode_after.elements[ix(i)] = whole.mode_after.elements[ix(i)];
        for (const int k : x.dynamics.elements()[ix(i)].part_numbers())
            part.mode_after.parts[ix(k)] = whole.mode_after.parts[ix(k)];
    }
    for (const RecordedImpact& impact : whole.impacts) {
        RecordedImpact own = only(impact, elements);
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

/// A change to first order, with the time and the parameters: square in the columns of Tangent, and (1, f, 0) after it.
struct Event {
    Matrix map;
    Vector field;
};

Matrix squared(const Tangent& x, const Matrix& map) {
    Matrix all = Matrix::Identity(x.columns(), x.columns());
    all.middleRows(1, 2 * x.n()) = map;
    return all;
}

Vector with_time(const Tangent& x, const Vector& f) {
    Vector all = Vector::Zero(x.columns());
    all(0) = 1.0;
    all.segment(1, 2 * x.n()) = f;
    return all;
}

std::optional<Event> event(Tangent& x, const RecordedChange& whole, const std::vector<int>& elements) {
    const RecordedChange part = only(x, whole, elements);
    const Reset r = reset(x, part, !whole.impacts.empty());
    Vector f;
    if (!r.exists || !x.velocity_field(part.t, part.after.data(), f)) return {};
    return Event{squared(x, r.map), with_time(x, f)};
}

bool same(const Matrix& a, const Matrix& b, double size) {
    return (a - b).cwiseAbs().maxCoeff() <= nothing * (1.0 + size);
}

}  // namespace

Matrix separate_drifts(Tangent& x, const RecordedChange& change, const Saltation& whole, const Vector& f) {
    std::vector<int> elements;
    for (const EventCondition& c : whole.events) {
        // Forces are other functions of the state once the mode is another.
        using What = integrate::Watch::What;
        if (c.watch.what != What::gap && c.watch.what != What::slip && c.watch.what != What::clutch) return {};
        if (c.rate == 0.0) return {};
        elements.push_back(c.watch.element);
    }
    if (!apart(x, change, elements) || coupled(x, change, elements)) return {};
    const Vector before = with_time(x, f);
    const Matrix map = squared(x, whole.map);
    const double size = before.cwiseAbs().maxCoeff() * map.cwiseAbs().rowwise().sum().maxCoeff();
    std::vector<Event> events;
    for (const int k : elements) {
        const auto e = event(x, change, {k});
        if (!e) return {};
        events.push_back(*e);
    }
    const std::size_t count = events.size();
    for (std::size_t a = 0; a < count; ++a)
        for (std::size_t b = 0; b < count; ++b) {
            const EventCondition& c = whole.events[b];
            const double rate = c.s.dot(events[a].field.transpose());
            if (a != b && (!same(c.s * events[a].map, c.s, c.s.cwiseAbs().maxCoeff()) ||
                           std::abs(rate - c.rate) > nothing * c.s.cwiseAbs().maxCoeff() * size))
                return {};
        }
    for (std::size_t a = 0; a < count; ++a)
        for (std::size_t b = a + 1; b < count; ++b) {
            const Matrix both = events[a].map * events[b].map;
            if (!same(both, events[b].map * events[a].map, both.cwiseAbs().maxCoeff())) return {};
            if (count == 2) continue;  // f_ab is that after the change
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
