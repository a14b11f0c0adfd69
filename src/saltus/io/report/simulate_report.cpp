// SPDX-License-Identifier: Apache-2.0
#include "saltus/io/report/simulate_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "saltus/base/text.hpp"
#include "saltus/io/report/detail/json.hpp"

namespace saltus::io {

using namespace saltus::trajectory;
using json::by_name;
using json::Json;
using json::line;

namespace {

constexpr std::size_t long_list = 12;  // of the text

std::vector<std::string> names_of(const Trajectory& t, const std::vector<int>& elements) {
    std::vector<std::string> names;
    for (const int k : elements) names.push_back(t.elements[static_cast<std::size_t>(k)].name);
    return names;
}

/// The first three, and how many more there are.
std::string some(const std::vector<std::string>& items) {
    constexpr std::size_t shown = 3;
    std::string text;
    for (std::size_t k = 0; k < std::min(items.size(), shown); ++k) text += (k == 0 ? "" : ", ") + items[k];
    return items.size() > shown ? fmt::format("{} and {} more", text, items.size() - shown) : text;
}

/// Comparisons are written so that a NaN counts as worse.
bool worse(const Event& e, const Event& than) {
    if (e.audit.created != than.audit.created) return !(e.audit.created <= than.audit.created);
    return !(e.work <= than.work);
}

// ---- for programs

Json reactions_json(const Trajectory& t, const std::vector<Reaction>& reactions) {
    Json j = Json::object();
    for (const Reaction& r : reactions)
        j[t.elements[static_cast<std::size_t>(r.element)].name] = {{"N", r.N}, {"T", r.T}};
    return j;
}

Json event_audit_json(const Trajectory& t, const Event& e) {
    Json j{{"work", e.work},
           {"tangential", e.audit.tangential},
           {"obstacle_work", e.audit.obstacle_work},
           {"energy_created", e.audit.created},
           {"contact", nullptr},
           {"law", nullptr}};
    if (e.audit.prevented > 0.0) j["energy_prevented"] = e.audit.prevented;
    if (e.audit.element >= 0) j["contact"] = t.elements[static_cast<std::size_t>(e.audit.element)].name;
    if (!e.audit.law.empty()) j["law"] = e.audit.law;
    return j;
}

Json event_json(const Trajectory& t, const Event& e) {
    Json j{{"t", e.t},
           {"kind", to_string(e.kind)},
           {"contacts", names_of(t, e.elements)},
           {"u_minus", by_name(t.coordinates, e.u_minus)},
           {"u_plus", by_name(t.coordinates, e.u_plus)},
           {"Lambda", reactions_json(t, e.impulses)},
           {"work", e.work},
           {"energy_before", e.energy_before},
           {"energy_after", e.energy_after}};
    if (!e.q_plus.empty()) {
        j["q_minus"] = by_name(t.coordinates, e.q);
        j["q_plus"] = by_name(t.coordinates, e.q_plus);
    }
    if (!e.impulses.empty()) j["audit"] = event_audit_json(t, e);
    if (!e.rate_jumps.empty()) j["rate_jumps"] = reactions_json(t, e.rate_jumps);
    if (e.kind == EventKind::accumulation) j["impacts"] = e.impacts;
    if (!e.note.empty()) j["note"] = e.note;
    return j;
}

/// With "jumps", the change of T + U by jumps of the model, if there were any.
Json energy_json(const EnergyBalance& e) {
    Json j{{"initial", e.initial}, {"final", e.final}, {"balance_error", e.balance_error}};
    if (e.jumps != 0.0) j["jumps"] = e.jumps;
    return j;
}

Json audit_json(const Trajectory& t, const EventDigest& a) {
    Json worst;
    if (a.worst) worst = {{"t", a.worst->t}, {"contacts", names_of(t, a.worst->elements)}};
    if (a.worst) worst.update(event_audit_json(t, *a.worst));
    return {{"impacts", a.impacts},
            {"creating", a.creating},
            {"energy_created", a.energy_created},
            {"energy_prevented", a.prevented},
            {"worst", std::move(worst)}};
}

Json statistics_json(const Statistics& s, Timing timing) {
    Json j{{"steps", s.steps},
           {"rejected", s.rejected},
           {"evaluations", s.evaluations},
           {"contact_solves", s.contact_solves},
           {"projections", s.projections},
           {"worst_contact_residual", s.worst_contact_residual}};
    if (timing == Timing::included) j["seconds"] = s.seconds;
    return j;
}

// ---- for people

std::string method_text(const Trajectory& t) {
    if (t.method == "event") return "event-driven";
    return t.method == "moreau" ? "Moreau's time-stepping" : t.method;
}

std::string status_text(const Trajectory& t, double t_end) {
    std::string text = fmt::format("{}, t = {:.10g} to {:.10g}", to_string(t.status), t.start.t, t.end.t);
    if (t.status != Status::completed && t.status != Status::inaccurate) text += fmt::format(" of {:.10g}", t_end);
    const bool told = t.reason.empty() || t.status == Status::interrupted;
    return told ? text : text + "\n              " + t.reason;
}

/// The rates of forces that jump most at a lift-off, "force rate jumps: floor 4, rod -1.2".
std::string rate_jump_text(const Trajectory& t, const Event& e) {
    constexpr double rounding = 1e-12;  // relative to the largest jump
    std::vector<std::pair<double, std::string>> list;
    double largest = 0.0;
    for (const Reaction& r : e.rate_jumps) {
        list.emplace_back(r.N, t.elements[static_cast<std::size_t>(r.element)].name);
        largest = std::max(largest, std::abs(r.N));
    }
    std::stable_sort(list.begin(), list.end(),
                     [](const auto& a, const auto& b) { return std::abs(a.first) > std::abs(b.first); });
    std::vector<std::string> parts;
    for (const auto& [jump, name] : list)
        if (std::abs(jump) > rounding * largest) parts.push_back(fmt::format("{} {:.6g}", name, jump));
    return parts.empty() ? std::string() : "force rate jumps: " + some(parts);
}

/// The velocities that jump most, "y': -4.43 -> 3.54", and the note of the event.
std::string jump_text(const Trajectory& t, const Event& e) {
    constexpr double rounding = 1e-12;  // |u⁺ − u⁻| ≤ this × the largest velocity is not a jump
    const std::size_t n = std::min({t.coordinates.size(), e.u_minus.size(), e.u_plus.size()});
    double scale = 0.0;
    for (std::size_t k = 0; k < n; ++k) scale = std::max({scale, std::abs(e.u_minus[k]), std::abs(e.u_plus[k])});
    const auto jump = [&](std::size_t k) { return std::abs(e.u_plus[k] - e.u_minus[k]); };
    std::vector<std::size_t> jumped;
    for (std::size_t k = 0; k < n; ++k)
        if (!(jump(k) <= rounding * scale)) jumped.push_back(k);
    std::stable_sort(jumped.begin(), jumped.end(), [&](std::size_t a, std::size_t b) { return jump(a) > jump(b); });
    std::vector<std::string> parts;
    for (std::size_t k = 0; k < std::min(n, e.q_plus.size()); ++k)
        if (std::abs(e.q_plus[k] - e.q[k]) > rounding * std::max(std::abs(e.q[k]), std::abs(e.q_plus[k])))
            parts.push_back(fmt::format("{}: {:.6g} -> {:.6g}", t.coordinates[k], e.q[k] + 0.0, e.q_plus[k] + 0.0));
    for (const std::size_t k : jumped)
        parts.push_back(fmt::format("{}': {:.6g} -> {:.6g}", t.coordinates[k], e.u_minus[k] + 0.0, e.u_plus[k] + 0.0));
    std::string text = some(parts);
    if (const std::string rates = rate_jump_text(t, e); !rates.empty()) text += (text.empty() ? "" : "; ") + rates;
    if (e.kind == EventKind::accumulation)
        text += (text.empty() ? "" : "; ") + counted(static_cast<std::size_t>(std::max(e.impacts, 0)), "impact") +
                " before";
    if (!e.note.empty()) text += (text.empty() ? "" : "; ") + e.note;
    return text;
}

std::string event_lines(const Trajectory& t, const EventDigest& events) {
    const auto contacts = [&](const Event& e) { return some(names_of(t, e.elements)); };
    std::size_t width = 8;
    for (const auto* const list : {&events.first(), &events.last()})
        for (const Event& e : *list) width = std::max(width, contacts(e).size());
    std::string text = fmt::format("  events      {}\n", events.count());
    if (events.count() > 0)
        text += fmt::format("    {:<15} {:<12} {:<{}}  {}\n", "t", "kind", "contacts", width, "velocity jumps");
    const double rounding = 1e-14 * std::max(std::fabs(t.start.t), std::fabs(t.end.t));  // of times
    const auto lines = [&](const std::vector<Event>& list) {
        for (const Event& e : list) {
            const double at = std::fabs(e.t) <= rounding ? 0.0 : e.t;
            std::string row = fmt::format("    {:<15.11g} {:<12} {:<{}}  {}", at, to_string(e.kind), contacts(e), width,
                                          jump_text(t, e));
            row.erase(row.find_last_not_of(' ') + 1);
            text += row + "\n";
        }
    };
    lines(events.first());
    const std::size_t shown = events.first().size() + events.last().size();
    if (events.count() > shown) text += fmt::format("    ... {} more ...\n", events.count() - shown);
    lines(events.last());
    return text;
}

std::string audit_text(const Trajectory& t, const EventDigest& a) {
    if (!a.worst) return "no impacts";
    const std::string impacts = counted(a.impacts, "impact");
    const std::string repaired =
        a.prevented > 0.0 ? fmt::format("; {:.6g} was prevented by repairs", a.prevented) : std::string();
    if (a.creating == 0) return impacts + ", no energy created by contacts" + repaired;
    const EnergyAudit& worst = a.worst->audit;
    const std::string name = worst.element < 0 ? some(names_of(t, a.worst->elements))
                                               : t.elements[static_cast<std::size_t>(worst.element)].name;
    return fmt::format("{}, {} of them created energy: {:.6g} in all, most at t = {:.10g} ({}{}): {:.6g}", impacts,
                       a.creating, a.energy_created, a.worst->t, name, worst.law.empty() ? "" : ": " + worst.law,
                       worst.created) +
           repaired;
}

std::string final_lines(const Trajectory& t) {
    std::string text = fmt::format("  final       t = {:.10g}\n", t.end.t);
    const std::size_t n = std::min({t.coordinates.size(), t.end.q.size(), t.end.u.size()});
    std::size_t width = 1;
    for (std::size_t k = 0; k < std::min(n, long_list); ++k) width = std::max(width, t.coordinates[k].size());
    for (std::size_t k = 0; k < std::min(n, long_list); ++k)  // + 0.0: no -0
        text += fmt::format("    {:<{}} = {:<18.10g} {}' = {:.10g}\n", t.coordinates[k], width, t.end.q[k] + 0.0,
                            t.coordinates[k], t.end.u[k] + 0.0);
    if (n > long_list) text += fmt::format("    and {} more coordinates\n", n - long_list);
    return text;
}

/// The forces at the end that are not zero.
std::string force_lines(const Trajectory& t) {
    std::string text;
    std::size_t shown = 0, left = 0;
    for (const Reaction& r : t.forces) {
        const Element& e = t.elements[static_cast<std::size_t>(r.element)];
        if (r.N == 0.0 && std::all_of(r.T.begin(), r.T.end(), [](double x) { return x == 0.0; })) continue;
        if (shown == long_list) {
            ++left;
            continue;
        }
        text += fmt::format("{}{:<18}", shown++ == 0 ? "  forces      " : std::string(14, ' '), e.name);
        if (e.kind != ElementKind::slider) text += fmt::format(" N {:.10g}", r.N + 0.0);
        if (!r.T.empty()) text += fmt::format(" T {:.10g}", fmt::join(r.T, ", "));
        text += "\n";
    }
    if (left > 0) text += fmt::format("              and {} more\n", left);
    if (t.forces_unique == false) text += "              not unique: one admissible distribution of a redundant load\n";
    return text;
}

Json outputs_json(const std::vector<OutputSummary>& outputs) {
    Json j = Json::object();
    for (const OutputSummary& o : outputs)
        j[o.name] = {{"unit", o.unit},       {"final", o.final},         {"lowest", o.lowest},
                     {"highest", o.highest}, {"lowest_at", o.lowest_at}, {"highest_at", o.highest_at}};
    return j;
}

Json impulse_rates_json(const Trajectory& t, const std::vector<ImpulseRate>& rates) {
    Json j = Json::object();
    for (const ImpulseRate& r : rates)
        j[t.elements[static_cast<std::size_t>(r.element)].name] = {
            {"mean", r.mean}, {"earlier", r.earlier}, {"from", r.from}, {"to", r.to}, {"settled", r.settled}};
    return j;
}

Json tracking_json(const std::vector<Tracking>& list) {
    Json j = Json::object();
    for (const Tracking& k : list) {
        Json stretches = Json::array();
        for (const TrackingStretch& s : k.stretches)
            stretches.push_back(
                {{"from", s.from}, {"to", s.to}, {"largest", s.largest}, {"left", s.left}, {"closes", s.closes}});
        j[k.coordinate] = {{"largest", k.largest}, {"final", k.final}, {"stretches", std::move(stretches)}};
    }
    return j;
}

/// "strain1 = 0.0726 mm/m, from -0.1 at t = 0.3 to 0.326 at t = 0.25".
std::string output_lines(const std::vector<OutputSummary>& outputs) {
    std::string text;
    std::size_t width = 1;
    for (const OutputSummary& o : outputs) width = std::max(width, o.name.size());
    for (std::size_t k = 0; k < std::min(outputs.size(), long_list); ++k) {
        const OutputSummary& o = outputs[k];
        text += fmt::format("{:<14}{:<{}} = {}", k == 0 ? "  outputs" : "", o.name, width,
                            std::isfinite(o.final)
                                ? fmt::format("{:.10g}{}", o.final + 0.0, o.unit.empty() ? "" : " " + o.unit)
                                : std::string("not known"));
        if (std::isfinite(o.lowest))
            text += fmt::format(", from {:.10g} at t = {:.10g} to {:.10g} at t = {:.10g}", o.lowest + 0.0, o.lowest_at,
                                o.highest + 0.0, o.highest_at);
        text += "\n";
    }
    if (outputs.size() > long_list) text += fmt::format("              and {} more\n", outputs.size() - long_list);
    return text;
}

/// The mean forces of contacts that were struck, with what they were before.
std::string impulse_rate_lines(const Trajectory& t, const std::vector<ImpulseRate>& rates) {
    std::string text;
    for (std::size_t k = 0; k < std::min(rates.size(), long_list); ++k) {
        const ImpulseRate& r = rates[k];
        text += fmt::format("{:<14}{:<18} N {:.10g} with impacts, t = {:.6g} to {:.6g}; {:.10g} before: {}\n",
                            k == 0 ? "  mean force" : "", t.elements[static_cast<std::size_t>(r.element)].name,
                            r.mean + 0.0, r.from, r.to, r.earlier + 0.0, r.settled ? "settled" : "not settled");
    }
    return text;
}

/// How references that move are followed, and after which impacts the error does not die out.
std::string tracking_lines(const std::vector<Tracking>& list) {
    std::string text;
    for (std::size_t k = 0; k < list.size(); ++k) {
        const Tracking& f = list[k];
        const auto open = static_cast<std::size_t>(
            std::count_if(f.stretches.begin(), f.stretches.end(), [](const TrackingStretch& s) { return !s.closes; }));
        text += fmt::format(
            "{:<14}{}: largest error {:.10g}, at the end {:.10g}; it closes on {} of {} between impacts\n",
            k == 0 ? "  tracking" : "", f.coordinate, f.largest, f.final, f.stretches.size() - open,
            f.stretches.size() == 1 ? std::string("1 stretch") : std::to_string(f.stretches.size()) + " stretches");
        std::size_t shown = 0;
        for (const TrackingStretch& s : f.stretches) {
            if (s.closes || ++shown > 3) continue;
            text += fmt::format("              open from t = {:.8g} to {:.8g}: {:.4g} is left of {:.4g}\n", s.from,
                                s.to, s.left, s.largest);
        }
    }
    return text;
}

Json balance_json(const LyapunovBalance& b) {
    return {{"V", {b.V.front(), b.V.back()}},
            {"damping", b.damping.back()},
            {"friction", b.friction.back()},
            {"springs", b.springs.back()},
            {"impact_friction", b.impact_friction.back()},
            {"impact_restitution", b.impact_restitution.back()},
            {"applied", b.applied.back()},
            {"driven", b.driven.back()},
            {"error", b.error},
            {"largest_increase", b.largest_increase}};
}

/// What changed V: "V 9.81 -> 2.57: friction 1, impacts 6.2 (of it friction 0.1), closed to 3e-14".
std::string balance_text(const LyapunovBalance& b) {
    std::string text = fmt::format("V {:.10g} -> {:.10g}:", b.V.front() + 0.0, b.V.back() + 0.0);
    const auto part = [&](const char* name, double value) {
        if (value != 0.0) text += fmt::format(" {} {:.6g},", name, value);
    };
    part("damping", b.damping.back());
    part("friction", b.friction.back());
    part("springs", b.springs.back());
    const double rubbed = b.impact_friction.back(), lost = rubbed + b.impact_restitution.back();
    if (lost != 0.0 || rubbed != 0.0)
        text += rubbed != 0.0 ? fmt::format(" impacts {:.6g} (of it friction {:.6g}),", lost, rubbed)
                              : fmt::format(" impacts {:.6g},", lost);
    if (b.applied.back() != 0.0 || b.driven.back() != 0.0)
        text += fmt::format(" supplied {:.6g},", b.applied.back() + b.driven.back());
    if (text.back() == ':') text += " nothing dissipated,";
    return text + fmt::format(" closed to {:.1e}", b.error);
}

}  // namespace

EventDigest::EventDigest(const std::vector<Event>& events) {
    for (const Event& e : events) add(e);
}

void EventDigest::add(const Event& event) {
    ++count_;
    if (first_.size() < first_events) {
        first_.push_back(event);
    } else {
        if (last_.size() == last_events) last_.erase(last_.begin());
        last_.push_back(event);
    }
    audit(event);
}

/// Sums up the audits of all impacts.
void EventDigest::audit(const Event& e) {
    if (e.kind == EventKind::impact || (e.kind == EventKind::painleve && !e.impulses.empty())) ++impacts;
    if (e.impulses.empty()) return;
    if (!(e.audit.created <= 0.0)) {
        energy_created += e.audit.created;
        ++creating;
    }
    prevented += e.audit.prevented;
    const bool found = worst && std::isnan(worst->work);
    if (!worst || (!found && worse(e, *worst))) worst = e;
}

std::string simulate_text(const Trajectory& t, double t_end, const LyapunovBalance* balance, const EventDigest* events,
                          const MotionSummary* summary) {
    const EventDigest digest = events != nullptr ? *events : EventDigest(t.events);
    std::string text = fmt::format("{}\n  method      {}", t.model, method_text(t));
    text += t.options.empty() ? "\n" : fmt::format("  ({})\n", t.options);
    text += "  status      " + status_text(t, t_end) + "\n";
    text += event_lines(t, digest);
    text += fmt::format("  energy      initial {:.10g}, final {:.10g}{}, balance error {:.2g}\n",
                        t.energy.initial + 0.0, t.energy.final + 0.0,
                        t.energy.jumps != 0.0 ? fmt::format(", by jumps {:.6g}", t.energy.jumps) : std::string(),
                        t.energy.balance_error + 0.0);
    if (balance != nullptr && !balance->empty()) text += "  balance     " + balance_text(*balance) + "\n";
    text += fmt::format("  guarantee   {}\n", trajectory::guarantee_text(t.events_certain));
    text += fmt::format("  violation   gap {:.2g}, constraint {:.2g}\n", t.violation.gap + 0.0,
                        t.violation.constraint + 0.0);
    text += "  audit       " + audit_text(t, digest) + "\n";
    text += final_lines(t);
    text += force_lines(t);
    if (summary != nullptr) {
        text += impulse_rate_lines(t, summary->impulse_rates);
        text += output_lines(summary->outputs);
        text += tracking_lines(summary->tracking);
    }
    for (std::size_t k = 0; k < std::min(t.warnings.size(), long_list); ++k)
        text += "  warning     " + t.warnings[k] + "\n";
    if (t.warnings.size() > long_list)
        text += fmt::format("              and {} more\n", t.warnings.size() - long_list);
    return text;
}

std::string event_entry(const Trajectory& t, const Event& e, bool first) {
    return (first ? "\n    " : ",\n    ") + line(event_json(t, e));
}

/// The list of events is written line by line. One JSON document of many events would need much memory.
void simulate_json(const Trajectory& t, double t_end, const LyapunovBalance* balance, Timing timing,
                   const EventDigest& digest, const std::function<void(const TakeText&)>& entries, const TakeText& take,
                   const MotionSummary* summary, std::size_t left_out) {
    std::vector<std::string> warnings = t.warnings;
    if (!t.reason.empty()) warnings.insert(warnings.begin(), t.reason);
    std::string text;
    bool first = true;
    const auto member = [&](const char* name, const std::string& value) {
        text += fmt::format("{}  \"{}\": {}", first ? "{\n" : ",\n", name, value);
        first = false;
    };
    member("model", line(t.model));
    member("method", line(t.method));
    member("t_end", line(t_end));
    member("status", line(to_string(t.status)));
    member("events", "[");
    take(text);
    entries(take);
    text = digest.count() == 0 ? "]" : "\n  ]";
    if (left_out > 0) member("events_left_out", line(left_out));
    member("final",
           line({{"t", t.end.t}, {"q", by_name(t.coordinates, t.end.q)}, {"u", by_name(t.coordinates, t.end.u)}}));
    member("forces", line(reactions_json(t, t.forces)));
    if (summary != nullptr && !summary->impulse_rates.empty())
        member("impulse_rates", line(impulse_rates_json(t, summary->impulse_rates)));
    if (summary != nullptr && !summary->outputs.empty()) member("outputs", line(outputs_json(summary->outputs)));
    if (summary != nullptr && !summary->tracking.empty()) member("tracking", line(tracking_json(summary->tracking)));
    member("forces_unique", line(t.forces_unique ? Json(*t.forces_unique) : Json()));
    member("energy", line(energy_json(t.energy)));
    if (balance != nullptr && !balance->empty()) member("balance", line(balance_json(*balance)));
    member("guarantee", line(trajectory::guarantee_text(t.events_certain)));
    member("violation", line({{"gap", t.violation.gap}, {"constraint", t.violation.constraint}}));
    if (t.inaccuracy.found())
        member("inaccuracy", line({{"since", t.inaccuracy.since},
                                   {"what", t.inaccuracy.what},
                                   {"error", t.inaccuracy.error},
                                   {"allowed", t.inaccuracy.allowed},
                                   {"remedy", t.inaccuracy.remedy}}));
    member("audit", line(audit_json(t, digest)));
    member("warnings", line(warnings));
    member("statistics", line(statistics_json(t.statistics, timing)));
    take(text + "\n}\n");
}

std::string simulate_json(const Trajectory& t, double t_end, const LyapunovBalance* balance, Timing timing,
                          const MotionSummary* summary) {
    std::string text;
    const auto entries = [&](const TakeText& take) {
        for (const Event& e : t.events) take(event_entry(t, e, &e == t.events.data()));
    };
    simulate_json(
        t, t_end, balance, timing, EventDigest(t.events), entries, [&](std::string_view piece) { text += piece; },
        summary);
    return text;
}

}  // namespace saltus::io
