// SPDX-License-Identifier: Apache-2.0
#include "saltus/sensitivity/pair/pair_events.hpp"

#include <algorithm>

#include "saltus/base/text.hpp"

namespace saltus::sensitivity {

namespace {

using trajectory::Arc;
using trajectory::EventKind;
using trajectory::Mode;
using trajectory::Trajectory;

std::vector<int> closed_on(const Arc& arc, int contacts) {
    std::vector<int> list;
    if (arc.modes.empty()) return list;  // the arc only connects an accumulation with its limit
    for (int k = 0; k < contacts; ++k)
        if (arc.modes[static_cast<std::size_t>(k)] != Mode::open) list.push_back(k);
    return list;
}

bool contains(const std::vector<int>& list, int k) { return std::find(list.begin(), list.end(), k) != list.end(); }

/// "impact of a and b at t = 1".
std::string told(const Trajectory& motion, const PairEvent& e) {
    std::vector<std::string> names;
    for (const int k : e.contacts) names.push_back(motion.elements[static_cast<std::size_t>(k)].name);
    return std::string(to_string(e.original)) + (names.empty() ? "" : " of " + listing(names, "and", "", 4)) +
           " at t = " + number_text(e.t);
}

/// The same with the indefinite article.
std::string one(const Trajectory& motion, const PairEvent& e) {
    const std::string text = told(motion, e);
    return (std::string("aeiou").find(text[0]) == std::string::npos ? "a " : "an ") + text;
}

std::string why_different(const Trajectory& nominal, const PairEvent& a, const Trajectory& perturbed,
                          const PairEvent& b) {
    return "the nominal motion goes on with " + told(nominal, a) + ", the perturbed one with " + told(perturbed, b);
}

std::string why_other(const Trajectory& motion, const PairEvent& e) {
    if (e.original == EventKind::accumulation)
        return "collisions accumulate (" + told(motion, e) + "), the theorems cover single collisions";
    if (e.original == EventKind::impact) return "there is " + one(motion, e) + " that closes no contact";
    return "there is " + one(motion, e) + ", the theorems cover frictionless collisions and lift-offs only";
}

}  // namespace

std::vector<int> closed_before(const Trajectory& motion, int contacts, double t) {
    if (motion.arcs.empty()) return {};
    const auto arc =
        std::partition_point(motion.arcs.begin(), motion.arcs.end(), [t](const Arc& a) { return a.t_begin < t; });
    return closed_on(arc == motion.arcs.begin() ? *arc : *std::prev(arc), contacts);
}

std::vector<int> closed_after(const Trajectory& motion, int contacts, double t) {
    if (motion.arcs.empty()) return {};
    const auto arc =
        std::partition_point(motion.arcs.begin(), motion.arcs.end(), [t](const Arc& a) { return a.t_end <= t; });
    return closed_on(arc == motion.arcs.end() ? motion.arcs.back() : *arc, contacts);
}

std::vector<PairEvent> pair_events(const Trajectory& motion, int contacts) {
    std::vector<PairEvent> list;
    for (std::size_t i = 0; i < motion.events.size(); ++i) {
        const trajectory::Event& e = motion.events[i];
        const bool closes = e.kind == EventKind::impact || e.kind == EventKind::contact;
        if (e.t <= motion.start.t && e.kind != EventKind::impact) continue;  // describes the initial mode
        PairEvent event{closes                          ? PairEventKind::collision
                        : e.kind == EventKind::lift_off ? PairEventKind::lift_off
                                                        : PairEventKind::other,
                        e.kind,
                        e.t,
                        {},
                        i};
        const std::vector<int> closed = closed_before(motion, contacts, e.t);
        for (const int k : e.elements)
            if (k < contacts && (!closes || !contains(closed, k))) event.contacts.push_back(k);
        std::sort(event.contacts.begin(), event.contacts.end());
        // The theorems have no collision that acts in closed contacts only.
        if (closes && event.contacts.empty()) event.kind = PairEventKind::other;
        list.push_back(std::move(event));
    }
    return list;
}

std::vector<PairInterval> pair_intervals(const Trajectory& nominal, const Trajectory& perturbed, int contacts,
                                         std::size_t max_events) {
    const std::vector<PairEvent> bar = pair_events(nominal, contacts), hat = pair_events(perturbed, contacts);
    const double end = std::min(nominal.end.t, perturbed.end.t);
    std::vector<PairInterval> list;
    double begin = nominal.start.t;
    const auto give_up = [&](std::string reason) { list.push_back({begin, end, {}, std::move(reason)}); };
    for (std::size_t k = 0;; ++k) {
        const bool more_bar = k < bar.size() && bar[k].t <= end, more_hat = k < hat.size() && hat[k].t <= end;
        if (!more_bar && !more_hat) {
            if (begin < end) list.push_back({begin, end, {}, {}});
            return list;
        }
        if (k == max_events) {
            give_up("the motions have more than " + std::to_string(max_events) + " events");
            return list;
        }
        if (!more_bar || !more_hat) {
            give_up(more_bar ? "the perturbed motion has no " + told(nominal, bar[k]) + " as the nominal one"
                             : "the nominal motion has no " + told(perturbed, hat[k]) + " as the perturbed one");
            return list;
        }
        const PairEvent &a = bar[k], &b = hat[k];
        if (a.kind == PairEventKind::other || b.kind == PairEventKind::other) {
            give_up(a.kind == PairEventKind::other ? why_other(nominal, a) : why_other(perturbed, b));
            return list;
        }
        if (a.kind != b.kind || a.contacts != b.contacts) {
            give_up(why_different(nominal, a, perturbed, b));
            return list;
        }
        const EventPair pair{a.kind, a.contacts, a.t, b.t, a.number, b.number};
        double next = end;
        if (k + 1 < bar.size()) next = std::min(next, bar[k + 1].t);
        if (k + 1 < hat.size()) next = std::min(next, hat[k + 1].t);
        if (pair.c_min() <= begin) {
            give_up("there is " + one(nominal, a) + ", at the very start");
            return list;
        }
        if (next <= pair.c_max()) {
            const bool from_bar = k + 1 < bar.size() && bar[k + 1].t <= pair.c_max();
            const bool from_hat = k + 1 < hat.size() && hat[k + 1].t <= pair.c_max();
            give_up(!from_bar && !from_hat
                        ? "the " + told(nominal, a) + " is the end of the motion"
                        : "another event, " + (from_bar ? told(nominal, bar[k + 1]) : told(perturbed, hat[k + 1])) +
                              ", falls into the critical interval [" + number_text(pair.c_min()) + ", " +
                              number_text(pair.c_max()) + "]");
            return list;
        }
        const bool last =
            next == end && !(k + 1 < bar.size() && bar[k + 1].t <= end) && !(k + 1 < hat.size() && hat[k + 1].t <= end);
        const double cut = last ? end : 0.5 * (pair.c_max() + next);
        list.push_back({begin, cut, pair, {}});
        if (last) return list;
        begin = cut;
    }
}

}  // namespace saltus::sensitivity
