// SPDX-License-Identifier: Apache-2.0
#include "saltus/orbit/detail/neighbours.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "saltus/model/model.hpp"

namespace saltus::orbit {

namespace {

using integrate::LawMargin;
using integrate::RecordedChange;
using integrate::ScheduledEvent;
using integrate::SystemMode;
using integrate::Watch;

bool is_event(const ShootingNode& node) { return node.event != ShootingNode::none; }

/// A copy of a solution with the nodes of its events and of its start only: cuts inside arcs and the evaluation are
/// left out.
ShootingSolution without_cuts(const ShootingSolution& at) {
    ShootingSolution out;
    out.order = at.order;
    out.motion = at.motion;
    std::vector<ShootingNode>& nodes = out.motion.nodes;
    nodes.erase(std::remove_if(nodes.begin() + 1, nodes.end(), [](const ShootingNode& n) { return !is_event(n); }),
                nodes.end());
    return out;
}

/// Removes event k. Later events and their nodes are renumbered; node 0 is the start, so that event k has node k + 1.
void remove(ShootingSolution& s, std::size_t k) {
    s.order.events.erase(s.order.events.begin() + static_cast<std::ptrdiff_t>(k));
    s.motion.times.erase(s.motion.times.begin() + static_cast<std::ptrdiff_t>(k));
    s.motion.nodes.erase(s.motion.nodes.begin() + 1 + static_cast<std::ptrdiff_t>(k));
    for (ScheduledEvent& e : s.order.events)
        for (std::size_t* const number : {&e.a, &e.b, &e.c})
            if (*number > k) --*number;
    for (ShootingNode& node : s.motion.nodes)
        if (node.event > static_cast<int>(k)) --node.event;
}

/// Inserts an event as number k at the time t, with the state y before it. Later events and their nodes are renumbered.
void insert(ShootingSolution& s, std::size_t k, ScheduledEvent event, double t, const Vector& y) {
    for (ScheduledEvent& e : s.order.events)
        for (std::size_t* const number : {&e.a, &e.b, &e.c})
            if (e.limit && *number >= k) ++*number;
    for (ShootingNode& node : s.motion.nodes)
        if (node.event >= static_cast<int>(k)) ++node.event;
    ShootingNode node;
    node.event = static_cast<int>(k);
    node.y = y;
    node.mode = event.changes.back().mode_after;
    s.motion.nodes.insert(s.motion.nodes.begin() + 1 + static_cast<std::ptrdiff_t>(k), std::move(node));
    s.motion.times.insert(s.motion.times.begin() + static_cast<std::ptrdiff_t>(k), t);
    s.order.events.insert(s.order.events.begin() + static_cast<std::ptrdiff_t>(k), std::move(event));
}

/// Whether two modes have the same states of all elements, the same parts slipping, and no part that slips in opposite
/// directions (by the sign of the first component).
bool equal_modes(const SystemMode& a, const SystemMode& b) {
    if (a.elements != b.elements) return false;
    for (std::size_t k = 0; k < a.parts.size(); ++k)
        if (a.parts[k].slips != b.parts[k].slips ||
            (a.parts[k].slips && a.parts[k].direction[0] * b.parts[k].direction[0] < 0.0))
            return false;
    return true;
}

bool has_impulse(const ScheduledEvent& e) {
    return std::any_of(e.changes.begin(), e.changes.end(),
                       [](const RecordedChange& c) { return !c.impacts.empty() || c.jump >= 0; });
}

/// An event without impulses between two modes.
ScheduledEvent change_between(const Watch& watch, const SystemMode& before, const SystemMode& after) {
    ScheduledEvent event;
    RecordedChange change;
    change.found = {watch};
    change.mode_before = integrate::RecordedMode(before);
    change.mode_after = integrate::RecordedMode(after);
    event.changes.push_back(std::move(change));
    return event;
}

/// Writes the state of a stage at t to x. Beyond the last step its polynomial is continued. False if there is no step.
bool state_on(const integrate::ScheduledStage& stage, double t, Vector& x, Eigen::Index states) {
    Vector all;
    for (const integrate::RecordedArc& arc : stage.arcs)
        for (const ode::Dense& step : arc.steps) {
            if (t > step.t_new() && &step != &arc.steps.back()) continue;
            if (t > arc.t_end && &arc != &stage.arcs.back()) break;
            all.resize(step.size());
            step.evaluate(t, all.data());
            x = all.head(states);
            return true;
        }
    return false;
}

/// The number of the event that a stage of the solution begins with, or the number of events before it.
std::size_t events_before(const ShootingSolution& at, std::size_t stage) {
    std::size_t count = 0;
    for (std::size_t k = 1; k <= stage && k < at.motion.nodes.size(); ++k)
        count += is_event(at.motion.nodes[k]) ? 1 : 0;
    return count;
}

}  // namespace

std::vector<ShootingSolution> neighbouring_orders(const ShootingProblem& problem, const ShootingSolution& at,
                                                  const StageMargin& margin) {
    std::vector<ShootingSolution> list;
    const std::size_t before = events_before(at, margin.stage);  // events up to the start of the stage, with its own
    const integrate::ScheduledStage& stage = at.evaluation.stages[margin.stage];
    const Eigen::Index states = problem.size.size();
    const std::shared_ptr<const model::Model> model = problem.model(at.motion.parameter);
    switch (margin.margin.what) {
        case LawMargin::What::gap: {
            // An arc touches an obstacle: an impact without impulse.
            Vector x;
            if (!state_on(stage, margin.margin.t, x, states)) break;
            integrate::ScheduledRun run(*model, problem.method);
            ScheduledEvent event =
                run.grazing(margin.margin.element, stage.mode, margin.margin.t,
                            {x.data(), static_cast<std::size_t>(states)}, problem.size.tail(states / 2).maxCoeff());
            if (event.changes.empty()) break;
            ShootingSolution next = without_cuts(at);
            insert(next, before, std::move(event), margin.margin.t, x);
            list.push_back(std::move(next));
            break;
        }
        case LawMargin::What::impulse: {
            // An impact has no impulse any more: it is left out.
            if (before == 0) break;
            const ScheduledEvent& event = at.order.events[before - 1];
            if (event.changes.size() != 1 || !equal_modes(event.mode_before(), event.mode_after())) break;
            ShootingSolution next = without_cuts(at);
            remove(next, before - 1);
            list.push_back(std::move(next));
            break;
        }
        case LawMargin::What::duration: {
            // Two events meet.
            if (before == 0 || before >= at.order.events.size()) break;
            const ScheduledEvent &first = at.order.events[before - 1], &second = at.order.events[before];
            if (first.limit || second.limit || has_impulse(first) || has_impulse(second)) break;
            if (equal_modes(first.mode_before(), second.mode_after())) {
                // A phase between them vanishes.
                ShootingSolution next = without_cuts(at);
                remove(next, before);
                remove(next, before - 1);
                list.push_back(std::move(next));
                break;
            }
            const Watch &a = first.changes.front().found.front(), &b = second.changes.front().found.front();
            if (a.element == b.element && a.part == b.part && a.part >= 0) {
                // A phase of stick between two directions of slip vanishes: slip is reversed.
                ShootingSolution next = without_cuts(at);
                ScheduledEvent event = change_between(a, first.mode_before(), second.mode_after());
                const double t = at.motion.times[before - 1];
                const Vector y = next.motion.nodes[before].y;
                remove(next, before);
                remove(next, before - 1);
                insert(next, before - 1, std::move(event), t, y);
                list.push_back(std::move(next));
            } else if (a.element != b.element) {
                // The events happen in the other order.
                SystemMode middle = first.mode_before();
                const auto element = static_cast<std::size_t>(b.element);
                middle.elements[element] = second.mode_after().elements[element];
                for (std::size_t k = 0; k < middle.parts.size(); ++k)
                    if (static_cast<int>(k) == b.part) middle.parts[k] = second.mode_after().parts[k];
                ShootingSolution next = without_cuts(at);
                const double t = at.motion.times[before];
                const Vector y = next.motion.nodes[before].y;
                ScheduledEvent one = change_between(b, first.mode_before(), middle),
                               other = change_between(a, middle, second.mode_after());
                remove(next, before);
                remove(next, before - 1);
                insert(next, before - 1, std::move(one), t, y);
                insert(next, before, std::move(other), t, y);
                list.push_back(std::move(next));
            }
            break;
        }
        case LawMargin::What::turn: {
            // Where slip is reversed, friction begins to hold: a phase of stick without duration.
            if (before == 0) break;
            const ScheduledEvent& event = at.order.events[before - 1];
            const Watch& w = event.changes.front().found.front();
            if (event.changes.size() != 1 || has_impulse(event) || w.part < 0) break;
            SystemMode held = event.mode_after();
            held.parts[static_cast<std::size_t>(w.part)].slips = false;
            ShootingSolution next = without_cuts(at);
            const double t = at.motion.times[before - 1];
            const Vector y = next.motion.nodes[before].y;
            ScheduledEvent sticks = change_between(w, event.mode_before(), held);
            ScheduledEvent slips = change_between({Watch::What::reserve, w.element, w.part}, held, event.mode_after());
            remove(next, before - 1);
            insert(next, before - 1, std::move(sticks), t, y);
            insert(next, before, std::move(slips), t, y);
            list.push_back(std::move(next));
            break;
        }
        case LawMargin::What::arrival:
        case LawMargin::What::opening:
        case LawMargin::What::force:
        case LawMargin::What::slip:
        case LawMargin::What::reserve:
        case LawMargin::What::clutch:
        case LawMargin::What::friction:
        case LawMargin::What::apart: break;  // none is constructed; the caller simulates next to the point
    }
    return list;
}

}  // namespace saltus::orbit
