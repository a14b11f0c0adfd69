// SPDX-License-Identifier: Apache-2.0
#include "saltus/stability/certify/detail/attractivity_conditions.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "saltus/base/text.hpp"
#include "saltus/model/model.hpp"

namespace saltus::stability {

using namespace saltus::proof;
using Eigen::Index;

namespace {

bool is_zero(const Interval& x) { return x.defined && x.lo == 0.0 && x.hi == 0.0; }

/// Positions to look at where nothing is proved: q_e and points around it, the same every time.
std::vector<std::vector<double>> samples(const Ground& g) {
    std::vector<std::vector<double>> points{list_of(g.rest.q)};
    Box box = g.domain;
    g.set.contract(box, {}, g.cap);
    unsigned seed = 1;
    const auto next = [&] {
        seed = seed * 1664525U + 1013904223U;
        return static_cast<double>(seed >> 8U) / static_cast<double>(1U << 24U);
    };
    for (int k = 0; k < 64; ++k) {
        std::vector<double> q;
        for (std::size_t j = 0; j < box.size(); ++j) {
            const double c = g.rest.q(static_cast<Index>(j));
            const double lo = std::max(box[j].lo, c - g.rest.scale[j]), hi = std::min(box[j].hi, c + g.rest.scale[j]);
            q.push_back(lo + (hi - lo) * next());
        }
        points.push_back(std::move(q));
    }
    return points;
}

IntervalMatrix symmetric_part(const IntervalMatrix& C) {
    IntervalMatrix S(C.rows(), C.cols());
    for (int i = 0; i < C.rows(); ++i)
        for (int j = 0; j < C.cols(); ++j) S(i, j) = (C(i, j) + C(j, i)) * Interval(0.5);
    return S;
}

/// Rows and columns that are not zero throughout.
std::vector<int> acting(const IntervalMatrix& S) {
    std::vector<int> list;
    for (int i = 0; i < S.rows(); ++i)
        for (int j = 0; j < S.cols(); ++j)
            if (!is_zero(S(i, j))) {
                list.push_back(i);
                break;
            }
    return list;
}

IntervalMatrix block(const IntervalMatrix& S, const std::vector<int>& rows) {
    return transpose(rows_of(transpose(rows_of(S, rows)), rows));
}

}  // namespace

std::string boxes_text(long count) { return std::to_string(count) + (count == 1 ? " box" : " boxes"); }

std::string number(double x) {
    char text[32];
    std::snprintf(text, sizeof text, "%.6g", x + 0.0);
    return text;
}

std::string position_text(const model::Model& model, const Vector& q) {
    std::string text;
    for (Index k = 0; k < q.size(); ++k) {
        const double x = std::fabs(q(k)) < 1e-14 ? 0.0 : q(k);
        text += (k > 0 ? ", " : "") + model.coordinates[static_cast<std::size_t>(k)] + " = " + number(x);
    }
    return text;
}

Condition kinetic_condition(const Ground& g) {
    const Enclosure& e = g.enclosure();
    Condition c{"1",
                "kinetic energy u'M(q)u/2 with M > 0; constraints, gaps and slips do not depend on time",
                Verdict::fails,
                "",
                {}};
    if (!g.model().scleronomic) {
        c.evidence = "the kinetic energy, a constraint, a gap or a slip velocity depends on the time t";
        c.witness = moving_witness(g);
        if (c.witness.given()) c.evidence += "; at the witness one moves although the coordinates rest";
        return c;
    }
    const IntervalVector rest = e.kinetic_rest(g.domain);
    if (!std::all_of(rest.begin(), rest.end(), is_zero)) {
        for (const std::vector<double>& q : samples(g))
            for (const Interval& x : e.kinetic_rest(point_box(q)))
                if (x.lo > 0.0 || x.hi < 0.0) {
                    c.evidence = "T has terms that are not quadratic in the velocities";
                    c.witness.q = q;
                    return c;
                }
    }
    const IntervalVector chi = e.chi(g.domain);
    for (std::size_t r = 0; r < chi.size(); ++r) {
        if (is_zero(chi[r])) continue;
        for (const std::vector<double>& q : samples(g)) {
            const Interval x = e.chi(point_box(q))[r];
            if (x.lo > 0.0 || x.hi < 0.0) {
                c.evidence = "a contact or slider moves by itself: its velocity is " + number(expr::midpoint(x)) +
                             " although the coordinates rest";
                c.witness.q = q;
                c.witness.u.assign(q.size(), 0.0);
                c.witness.values.emplace_back("chi", expr::midpoint(x));
                return c;
            }
        }
    }
    const CoverProof proof = prove_on(
        g.set, {g.domain}, {}, g.cap, g.rest.scale,
        [&](const Box& q) {
            BoxTest t;
            t.proved = positive_definite(e.mass(q));
            t.open = q;
            if (!t.proved) t.side = decisive_side(q, g.rest.scale, [&](const Box& b) { return spread_of(e.mass(b)); });
            return t;
        },
        g.budget);
    const bool structure =
        std::all_of(rest.begin(), rest.end(), is_zero) && std::all_of(chi.begin(), chi.end(), is_zero);
    c.verdict = proof.proved && structure ? Verdict::proved : Verdict::holds;
    c.evidence = proof.proved ? "M is positive definite over the level set (" + boxes_text(proof.boxes) + ")"
                              : "M is positive definite at every position looked at";
    if (proof.proved) return c;
    for (const std::vector<double>& q : samples(g)) {
        const Spectrum s = symmetric_spectrum(e.mass(point_box(q)).middle());
        if (s.smallest > 0.0) continue;
        c.verdict = Verdict::fails;
        c.evidence = "M has the eigenvalue " + number(s.smallest);
        c.witness.q = q;
        c.witness.u = list_of(s.smallest_direction);
        return c;
    }
    return c;
}

namespace {

/// As the forces are at t = 0.
Condition dissipation_at_start(const Ground& g) {
    const Enclosure& e = g.enclosure();
    Condition c{"3", "the other smooth forces take energy, -u.f >= 0, and vanish for u = 0", Verdict::fails, "", {}};
    const int n = e.size();
    const IntervalVector rest = e.forces_at_rest(g.domain);
    if (!std::all_of(rest.begin(), rest.end(), is_zero)) {
        for (const std::vector<double>& q : samples(g)) {
            const IntervalVector at = e.forces_at_rest(point_box(q));
            for (std::size_t k = 0; k < at.size(); ++k)
                if (at[k].lo > 0.0 || at[k].hi < 0.0) {
                    c.evidence = "the force f on " + g.model().coordinates[k] + " is " + number(expr::midpoint(at[k])) +
                                 " for u = 0; a force with a potential belongs in U";
                    c.witness.q = q;
                    c.witness.u.assign(static_cast<std::size_t>(n), 0.0);
                    c.witness.values.emplace_back("f " + g.model().coordinates[k], expr::midpoint(at[k]));
                    return c;
                }
        }
    }
    const bool vanish = std::all_of(rest.begin(), rest.end(), is_zero);
    if (e.linear_damping) {
        const IntervalMatrix S = symmetric_part(e.damping(g.domain));
        const std::vector<int> rows = acting(S);
        if (rows.empty() && vanish) {
            c.verdict = Verdict::proved;
            c.evidence = "there are none that do work";
            return c;
        }
        const bool rayleigh =
            e.quadratic_rayleigh && e.dissipation(g.domain, whole_space(static_cast<std::size_t>(n))).lo >= 0.0;
        const auto definite = [&] {
            return prove_on(
                       g.set, {g.domain}, {}, g.cap, g.rest.scale,
                       [&](const Box& q) {
                           BoxTest t;
                           t.proved = positive_definite(block(symmetric_part(e.damping(q)), rows));
                           t.open = q;
                           if (!t.proved)
                               t.side = decisive_side(q, g.rest.scale,
                                                      [&](const Box& b) { return spread_of(e.damping(b)); });
                           return t;
                       },
                       std::min(g.budget, 2000L))
                .proved;
        };
        if (vanish && (rayleigh || definite())) {
            c.verdict = Verdict::proved;
            c.evidence = rayleigh
                             ? "R is a quadratic form that is nowhere negative"
                             : "linear damping with a positive definite symmetric part on the velocities it acts on";
            return c;
        }
        double smallest = Interval::infinity;
        for (const std::vector<double>& q : samples(g)) {
            const Matrix D = symmetric_part(e.damping(point_box(q))).middle();
            const Spectrum s = symmetric_spectrum(D);
            smallest = std::min(smallest, s.smallest);
            if (s.smallest < -1e-12 * (1.0 + std::fabs(s.largest))) {
                c.evidence =
                    "damping brings energy in: u.Cu = " + number(s.smallest) + " for the unit velocity of the witness";
                c.witness.q = q;
                c.witness.u = list_of(s.smallest_direction);
                c.witness.values.emplace_back("u.Cu", s.smallest);
                return c;
            }
        }
        c.verdict = Verdict::holds;
        c.evidence = "linear damping, smallest eigenvalue of its symmetric part " + number(smallest) +
                     " at the positions looked at";
        return c;
    }
    // Not linear in u: by the power itself.
    const Box u = std::isfinite(g.kinetic) ? velocities_below(g.kinetic, e.mass(g.domain))
                                           : whole_space(static_cast<std::size_t>(n));
    if (vanish && e.damping_power(g.domain, u).lo >= 0.0) {
        c.verdict = Verdict::proved;
        c.evidence = "the power -u.f is nowhere negative";
        return c;
    }
    unsigned seed = 7;
    const auto next = [&] {
        seed = seed * 1664525U + 1013904223U;
        return 2.0 * static_cast<double>(seed >> 8U) / static_cast<double>(1U << 24U) - 1.0;
    };
    for (const std::vector<double>& q : samples(g))
        for (int k = 0; k < 16; ++k) {
            std::vector<double> v;
            for (int j = 0; j < n; ++j) {
                const double most =
                    std::isfinite(u[static_cast<std::size_t>(j)].hi) ? u[static_cast<std::size_t>(j)].hi : 10.0;
                v.push_back(most * next());
            }
            const Interval power = e.damping_power(point_box(q), point_box(v));
            if (power.hi >= 0.0) continue;
            c.evidence = "they bring energy in: -u.f = " + number(expr::midpoint(power));
            c.witness.q = q;
            c.witness.u = v;
            c.witness.values.emplace_back("-u.f", expr::midpoint(power));
            return c;
        }
    c.verdict = Verdict::holds;
    c.evidence = "the power -u.f was not negative at any state looked at";
    return c;
}

}  // namespace

Condition dissipation_condition(const Ground& g) {
    Condition c = dissipation_at_start(g);
    if (g.model().autonomous) return c;
    // The theorem is about autonomous systems: V need not fall, however the forces are at one time.
    const Witness changing = changing_witness(g);
    if (changing.given()) {
        c.verdict = Verdict::fails;
        c.evidence = "forces or friction depend on the time t";
        c.witness = changing;
    } else if (c.verdict == Verdict::proved) {
        c.verdict = Verdict::holds;
        c.evidence += ", at t = 0; something depends on the time";
    }
    return c;
}

}  // namespace saltus::stability
