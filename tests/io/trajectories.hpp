// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <string>

#include "saltus/trajectory/trajectory.hpp"

/// Trajectories made by hand.
namespace saltus::test {

/// A ball of mass 1 under g = 8, dropped from 1: impacts at t = 1/2, 1, 5/4, … with e = 1/2, in numbers without
/// rounding; the arcs are the parabolas. It ends at t = 5/4 + 1/8.
inline trajectory::Trajectory ball() {
    using namespace trajectory;
    constexpr double g = 8.0, e = 0.5;
    Trajectory t;
    t.model = "ball";
    t.method = "event";
    t.version = "0.0.1";
    t.options = "--t-end 2 --method event";
    t.model_hash = "0123456789abcdef";
    t.coordinates = {"y"};
    t.elements = {{ElementKind::contact, "floor", 0}};
    t.start = {0.0, {1.0}, {0.0}};
    State now = t.start;
    for (const double end : {0.5, 1.0, 1.25, 1.375}) {
        const double h = end - now.t, u = now.u[0], q = now.q[0];
        const double q_end = q + u * h - g / 2 * h * h, u_end = u - g * h;
        ode::Dense step;  // q + u s − g s²/2 in the basis 1, θ, θ(1 − θ)
        step.reset(now.t, end, 2, 3);
        step.term(0)[0] = q;
        step.term(0)[1] = u;
        step.term(1)[0] = q_end;
        step.term(1)[1] = u_end;
        step.term(2)[0] = g / 2 * h * h;
        step.term(2)[1] = 0.0;
        t.arcs.push_back({now.t, end, {step}, {Mode::open}});
        now = {end, {q_end}, {u_end}};
        if (end == 1.375) break;
        Event hit;
        hit.kind = EventKind::impact;
        hit.t = hit.t_right = end;
        hit.t_left = end - 1e-12;
        hit.elements = {0};
        hit.q = {0.0};
        hit.u_minus = {u_end};
        hit.u_plus = {-e * u_end};
        hit.impulses = {{0, -(1.0 + e) * u_end, {}}};
        hit.work = -(1.0 - e * e) / 2 * u_end * u_end;
        hit.energy_before = u_end * u_end / 2;
        hit.energy_after = hit.energy_before + hit.work;
        t.events.push_back(hit);
        now.u = hit.u_plus;
    }
    t.end = now;
    t.energy = {8.0, 0.125, -7.875, 0.0};
    t.statistics = {4, 1, 52, 3, 0, 1e-16, 0.25};
    return t;
}

/// A trajectory that uses every member: friction, lists of different lengths, notes, unusual numbers and names.
inline trajectory::Trajectory rich() {
    using namespace trajectory;
    const double quiet = std::bit_cast<double>(std::uint64_t{0x7ff8'0000'dead'beef});
    Trajectory t = ball();
    t.model = "Sch\u00fcttler, \"quoted\"\nin two lines";
    t.method = "penalty";
    t.stepped = true;
    t.status = Status::failed;
    t.reason = "the contact problem at t = 1.25 has no solution";
    t.warnings = {"", "first", "zweite, l\u00e4nger"};
    t.elements = {{ElementKind::contact, "floor", 2},
                  {ElementKind::constraint, "vertical groove", 1},
                  {ElementKind::slider, "a,b", 1},
                  {ElementKind::clutch, "", 0}};
    t.arcs[0].modes = {Mode::open, Mode::closed, Mode::stick, Mode::open};
    t.arcs[1].modes = {Mode::pressed, Mode::slip, Mode::slip, Mode::closed};
    t.arcs[2].modes = {};
    ode::Dense more;  // with components beyond (q, u), and of the highest degree
    more.reset(1.25, 1.375, 3, ode::Dense::max_terms);
    for (int k = 0; k < more.terms(); ++k)
        for (int i = 0; i < 3; ++i) more.term(k)[static_cast<std::size_t>(i)] = std::sin(7.0 * k + i);
    t.arcs[3].steps.push_back(more);
    t.arcs.push_back({1.375, 1.375, {}, {}});
    t.events[0].impulses = {{0, 1.5, {0.25, -0.0}}, {2, 0.0, {quiet}}, {3, 5e-324, {}}};
    t.events[0].elements = {0, 2, 3};
    t.events[0].note = "two solutions; the one nearest to the last was taken";
    t.events[0].audit = {-0.25, 0.125, 2e-3, 0.0, 2, "newton, eN = 0.5, eT = 0"};
    t.events[2].audit = {0.0, -0.0, 0.0, 1e-3, -1, ""};
    t.events[1].kind = EventKind::accumulation;
    t.events[1].impacts = 41;
    t.events[1].impulses.clear();
    t.events[2].kind = EventKind::lift_off;
    t.events[2].elements.clear();
    t.events[2].rate_jumps = {{0, 2.5, {0.5, -1.0}}, {1, -0.75, {0.0}}};
    t.events[2].u_plus.clear();
    t.events[2].energy_after = HUGE_VAL;
    t.events[2].note = "\u03bb_N crosses zero";
    t.forces = {{0, 9.81, {0.1, -0.2}}, {1, -3.0, {0.5}}};
    t.end.u[0] = quiet;
    t.violation = {1e-17, 3e-16};
    t.energy.balance_error = -0.0;
    return t;
}

namespace detail {

inline void tell(std::string& text, double x) { text += std::to_string(std::bit_cast<std::uint64_t>(x)) + " "; }
inline void tell(std::string& text, const std::string& s) { text += "<" + s + "> "; }
template <class T>
requires std::is_integral_v<T> || std::is_enum_v<T>
void tell(std::string& text, T i) { text += "#" + std::to_string(static_cast<long long>(i)) + " "; }
template <class T>
void tell(std::string& text, const std::vector<T>& list);
inline void tell(std::string& text, const trajectory::Reaction& r) {
    tell(text, r.element), tell(text, r.N), tell(text, r.T);
}
inline void tell(std::string& text, const trajectory::Element& e) {
    tell(text, e.kind), tell(text, e.name), tell(text, e.tangential);
}
inline void tell(std::string& text, const ode::Dense& d) {
    tell(text, d.t_old()), tell(text, d.t_new()), tell(text, d.size()), tell(text, d.terms());
    tell(text, d.form());
    for (const double c : d.coefficients()) tell(text, c);
}
inline void tell(std::string& text, const trajectory::Arc& a) {
    tell(text, a.t_begin), tell(text, a.t_end), tell(text, a.steps), tell(text, a.modes);
}
inline void tell(std::string& text, const trajectory::State& s) { tell(text, s.t), tell(text, s.q), tell(text, s.u); }
inline void tell(std::string& text, const trajectory::Event& e) {
    tell(text, e.kind), tell(text, e.t), tell(text, e.t_left), tell(text, e.t_right), tell(text, e.elements);
    tell(text, e.q), tell(text, e.u_minus), tell(text, e.u_plus), tell(text, e.q_plus), tell(text, e.impulses),
        tell(text, e.work);
    tell(text, e.rate_jumps);
    tell(text, e.energy_before), tell(text, e.energy_after), tell(text, e.impacts), tell(text, e.note);
    tell(text, e.audit.tangential), tell(text, e.audit.obstacle_work), tell(text, e.audit.created);
    tell(text, e.audit.prevented), tell(text, e.audit.element), tell(text, e.audit.law);
}
template <class T>
void tell(std::string& text, const std::vector<T>& list) {
    text += "[" + std::to_string(list.size()) + ": ";
    for (const T& item : list) tell(text, item);
    text += "] ";
}

}  // namespace detail

/// Every bit of a trajectory as a text. Equal texts mean equal trajectories.
inline std::string told(const trajectory::Trajectory& t) {
    std::string text;
    const auto tell = [&](const auto&... values) { (detail::tell(text, values), ...); };
    tell(t.model, t.method, t.version, t.options, t.model_hash, t.stepped, t.coordinates, t.elements, t.arcs);
    tell(t.events, t.start, t.end, t.forces, t.status, t.reason, t.warnings);
    tell(t.energy.initial, t.energy.final, t.energy.work, t.energy.balance_error);
    tell(t.violation.gap, t.violation.constraint);
    tell(t.statistics.steps, t.statistics.rejected, t.statistics.evaluations, t.statistics.contact_solves);
    tell(t.statistics.projections, t.statistics.worst_contact_residual);
    return text;
}

}  // namespace saltus::test
