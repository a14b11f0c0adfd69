// SPDX-License-Identifier: Apache-2.0
#include "saltus/integrate/detail/finite.hpp"

#include <algorithm>
#include <cmath>

#include "saltus/base/text.hpp"

namespace saltus::integrate {

namespace {

bool finite(const std::vector<double>& values) {
    double probe = 0.0;  // not a number as soon as some value is not finite
    for (const double x : values) probe += 0.0 * x;
    return probe == 0.0;
}

bool finite(const trajectory::State& s) { return std::isfinite(s.t) && finite(s.q) && finite(s.u); }

bool finite(const std::vector<trajectory::Reaction>& reactions) {
    return std::all_of(reactions.begin(), reactions.end(),
                       [](const trajectory::Reaction& r) { return std::isfinite(r.N) && finite(r.T); });
}

bool finite(const trajectory::Event& e) {
    return std::isfinite(e.t) && finite(e.q) && finite(e.u_minus) && finite(e.u_plus) && finite(e.impulses) &&
           std::isfinite(e.work) && std::isfinite(e.energy_before) && std::isfinite(e.energy_after) &&
           std::isfinite(e.audit.created) && std::isfinite(e.audit.obstacle_work);
}

/// What is not finite; empty if everything is.
std::string infinite_quantity(const trajectory::Trajectory& t) {
    if (!finite(t.start) || !finite(t.end)) return "the state";
    if (std::string event = infinite_event(t.events); !event.empty()) return event;
    if (!finite(t.forces)) return "a reaction at the end";
    if (!std::isfinite(t.energy.initial) || !std::isfinite(t.energy.final) || !std::isfinite(t.energy.work))
        return "the energy";
    if (!std::isfinite(t.energy.balance_error)) return "the error of the energy balance";
    if (!std::isfinite(t.violation.gap) || !std::isfinite(t.violation.constraint)) return "a gap or constraint";
    return "";
}

}  // namespace

std::string infinite_event(const std::vector<trajectory::Event>& events) {
    for (const trajectory::Event& e : events)
        if (!finite(e)) return "the event at t = " + number_text(e.t);
    return "";
}

void fail_if_not_finite(trajectory::Trajectory& motion, const std::string& infinite) {
    if (motion.status == trajectory::Status::failed) return;
    const std::string what = infinite.empty() ? infinite_quantity(motion) : infinite;
    if (what.empty()) return;
    motion.status = trajectory::Status::failed;
    motion.reason = what + " is too large for floating-point numbers";
}

}  // namespace saltus::integrate
