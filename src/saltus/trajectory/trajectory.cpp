// SPDX-License-Identifier: Apache-2.0
#include "saltus/trajectory/trajectory.hpp"

#include <algorithm>

#include "saltus/base/error.hpp"

namespace saltus::trajectory {

std::string_view to_string(EventKind kind) {
    switch (kind) {
        case EventKind::impact: return "impact";
        case EventKind::contact: return "contact";
        case EventKind::lift_off: return "lift-off";
        case EventKind::stick: return "stick";
        case EventKind::slip: return "slip";
        case EventKind::reversal: return "reversal";
        case EventKind::accumulation: return "accumulation";
        case EventKind::painleve: return "painleve";
        case EventKind::switched: return "switch";
        case EventKind::jump: return "jump";
    }
    return "";
}

std::string_view to_string(Status status) {
    switch (status) {
        case Status::completed: return "completed";
        case Status::interrupted: return "interrupted";
        case Status::failed: return "failed";
        case Status::energy_created: return "energy-created";
        case Status::inaccurate: return "inaccurate";
    }
    return "";
}

std::string_view guarantee_text(bool events_certain) { return events_certain ? "events certain" : "events sampled"; }

namespace {

State state_of(const ode::Dense& step, double t, std::size_t n) {
    std::vector<double> x(static_cast<std::size_t>(step.size()));
    step.evaluate(t, x.data());
    const auto middle = x.begin() + static_cast<std::ptrdiff_t>(n);
    return {t, {x.begin(), middle}, {middle, middle + static_cast<std::ptrdiff_t>(n)}};
}

}  // namespace

double Trajectory::sample_time(int k, int last) const {
    SALTUS_EXPECT(k >= 0 && k <= last && last > 0);
    if (k == last) return end.t;
    return std::clamp(start.t + (end.t - start.t) * (static_cast<double>(k) / last), start.t, end.t);
}

State Trajectory::left(double t) const {
    SALTUS_EXPECT(t >= start.t && t <= end.t);
    // The first arc that reaches t, and in it the first step that does.
    const auto arc = std::lower_bound(arcs.begin(), arcs.end(), t, [](const Arc& a, double s) { return a.t_end < s; });
    if (t == start.t || arc == arcs.end()) return t == start.t ? start : end;
    const auto step = std::lower_bound(arc->steps.begin(), arc->steps.end(), t,
                                       [](const ode::Dense& d, double s) { return d.t_new() < s; });
    return step == arc->steps.end() ? end : state_of(*step, t, start.q.size());
}

State Trajectory::right(double t) const {
    SALTUS_EXPECT(t >= start.t && t <= end.t);
    // The last arc that begins at or before t, and in it the last such step.
    auto arc = std::upper_bound(arcs.begin(), arcs.end(), t, [](double s, const Arc& a) { return s < a.t_begin; });
    if (t == end.t || arc == arcs.begin()) return t == end.t ? end : start;
    --arc;
    auto step = std::upper_bound(arc->steps.begin(), arc->steps.end(), t,
                                 [](double s, const ode::Dense& d) { return s < d.t_old(); });
    if (step == arc->steps.begin()) return start;
    return state_of(*std::prev(step), t, start.q.size());
}

}  // namespace saltus::trajectory
