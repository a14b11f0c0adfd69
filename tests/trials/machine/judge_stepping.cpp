// SPDX-License-Identifier: Apache-2.0
#include "machine/judge_stepping.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "machine/calls.hpp"
#include "machine/judge_motion.hpp"
#include "machine/time_stepping.hpp"

namespace trials {

namespace {

constexpr int steps = 4000;

Vector final_values(const nlohmann::json& document, const char* part, const Model& model) {
    Vector result;
    for (const std::string& name : model.coordinates) result.push_back(number(document.at("final").at(part).at(name)));
    return result;
}

/// Whether another contact is closed or nearly closed at some impact. The plain scheme has restitution in every closed
/// contact, and a contact at rest is open in every other of its steps, so that it meets such impacts in another order.
bool has_joint_impacts(const Mechanics& mechanics, const Motion& motion, double violation) {
    const double near = 1e-4 + 3.0 * violation;
    for (const auto& event : motion.document.at("events")) {
        if (event.at("kind") != "impact") continue;
        const double t = number(event.at("t"));
        for (const auto& arc : motion.arcs) {
            for (std::size_t i = 0; i + 1 < arc.size(); ++i) {
                if (arc[i].t > t || arc[i + 1].t < t) continue;
                int closed = 0;
                for (std::size_t c = 0; c < mechanics.model().contacts.size(); ++c)
                    closed += std::min(mechanics.gap(c, arc[i]), mechanics.gap(c, arc[i + 1])) < near;
                if (closed > 1) return true;
            }
        }
    }
    return false;
}

/// Elements that share a load: the motion can depend on how.
bool shares_a_load(const Motion& motion) {
    return motion.document.at("warnings").dump().find("not unique") != std::string::npos;
}

}  // namespace

Findings judge_moreau(const Model& model, const Program& program) {
    Findings findings;
    Motion motion;
    const std::string h = fmt::format("{}", model.t_end / steps);
    if (!simulate(model, program, {"--method", "moreau", "--h", h}, motion, findings)) return findings;
    const Mechanics mechanics(model);
    const Point end{model.t_end, final_values(motion.document, "q", model), final_values(motion.document, "u", model)};
    // Gaps: each step may enter by its length times the speed, and `completed` promises that the report says so.
    const double reported = number(motion.document.at("violation").at("gap"));
    for (std::size_t c = 0; c < model.contacts.size(); ++c) {
        const double gap = mechanics.gap(c, end);
        findings.check(gap >= -1.01 * reported - 1e-9 * (1.0 + norm(end.q)), "gap", [&] {
            return fmt::format("the final gap of '{}' is {}, reported violation {}", mechanics.name(c), gap, reported);
        });
    }
    const double energy = mechanics.energy(end), stated = number(motion.document.at("energy").at("final"));
    findings.check(std::abs(energy - stated) <= 1e-8 * (1.0 + std::abs(energy)), "energy",
                   [&] { return fmt::format("final energy is {}, reported {}", energy, stated); });
    const bool comparable =
        has_one_motion(model) && !shares_a_load(motion) && !has_joint_impacts(mechanics, motion, reported);
    const SteppedEnd judged = comparable ? stepped_end(model, steps / 2) : SteppedEnd{};
    if (!judged.usable) {
        ++findings.not_judged;
        return findings;
    }
    // The judge's uncertainty is ten times the change of its end by the last halving, which is about the error of the
    // program's steps as well. If the distance is larger, then it must not shrink with the program's steps.
    const double allowed = 4.0 * judged.uncertainty;
    double distance = norm(plus(end.q, judged.q, -1.0));
    if (distance > allowed) {
        Motion finer;
        Findings again;
        const std::string shorter = fmt::format("{}", model.t_end / (8 * steps));
        if (!simulate(model, program, {"--method", "moreau", "--h", shorter}, finer, again)) return findings;
        const Vector end_of_finer = final_values(finer.document, "q", model);
        if (norm(plus(end_of_finer, judged.q, -1.0)) < 0.5 * distance) distance = 0.0;
        // A stick or an impact that few steps miss changes the judge's end more than its last halving shows.
        const SteppedEnd sharper = distance > 0.0 ? stepped_end(model, 4 * steps) : SteppedEnd{};
        if (sharper.usable && norm(plus(end_of_finer, sharper.q, -1.0)) <= 4.0 * sharper.uncertainty) distance = 0.0;
    }
    // Friction and normal forces can press against each other. The event-driven method says that there are several
    // motions then, or refuses.
    Motion exact;
    Findings unused;
    if (distance > allowed && (!simulate(model, program, {}, exact, unused) || says_not_unique(exact))) {
        ++findings.not_judged;
        return findings;
    }
    findings.check(distance <= allowed, "end-position", [&] {
        return fmt::format("plain time-stepping ends at {} (uncertainty {}), the program's at {}", judged.q,
                           judged.uncertainty, end.q);
    });
    return findings;
}

}  // namespace trials
