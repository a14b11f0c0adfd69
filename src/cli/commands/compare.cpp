// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/compare.hpp"

#include <algorithm>
#include <cmath>

#include "cli/ensemble_options.hpp"
#include "cli/interrupt.hpp"
#include "saltus/base/text.hpp"
#include "saltus/control/penalty/penalty_limit.hpp"
#include "saltus/integrate/compare.hpp"
#include "saltus/io/model/load_model.hpp"
#include "saltus/io/report/compare/compare_report.hpp"
#include "saltus/io/report/compare/penalty_report.hpp"
#include "saltus/io/results/result_folder.hpp"
#include "saltus/model/build.hpp"
#include "saltus/model/model.hpp"
#include "saltus/model/settings.hpp"
#include "saltus/model/support.hpp"
#include "saltus/model/variants/contact_damping.hpp"

namespace saltus::cli {

namespace {

int compare_penalty(const CompareCommand& c) {
    const ensemble::Axis stiffness = control::penalty_from_text(c.penalty);
    // Of each run 2 kB, and 4 kB while it is written (bouncing ball).
    refuse_kept_runs(static_cast<std::size_t>(stiffness.n), 4000.0, "--penalty");
    const io::LoadedModel loaded = load(c.common);
    const model::Model& m = loaded.model;
    control::PenaltyLimitOptions o;
    o.build = loaded.build;
    o.t_end = end_time("--t-end", c.t_end, m, c.common.model);
    o.rtol = positive("--rtol", c.rtol.value_or(m.settings->simulate.rtol.value_or(o.rtol)));
    o.atol = positive("--atol", c.atol.value_or(m.settings->simulate.atol.value_or(o.atol)));
    o.action = c.action;
    if (c.horizon) o.horizon = positive("--horizon", *c.horizon);
    o.threads = c.common.threads;
    o.interrupted = interrupt_asked;
    const auto out = open_results(c.common, "compare", {c.common.model});
    listen_for_interrupts();
    const control::PenaltyLimit limit = control::penalty_limit(loaded.file.description, stiffness, o);
    const bool cut_short = interrupt_asked();
    const auto json = [&] { return document_of(io::penalty_json(limit), cut_short); };
    deliver(c.common, out.get(),
            {[&](io::ResultFolder& folder) {
                 folder.add("penalty.csv", io::penalty_csv(limit));
                 folder.add("compare.json", json());
             },
             json, [&] { return io::penalty_text(limit); }});
    if (cut_short) return interrupted;
    bool all = limit.rigid_status == trajectory::Status::completed;
    for (const control::PenaltyRun& r : limit.runs) all = all && r.status == trajectory::Status::completed;
    return all ? done : failed;
}

}  // namespace

int compare(const CompareCommand& c) {
    if (!c.penalty.empty()) return compare_penalty(c);
    const io::LoadedModel loaded = load(c.common, false, "event");
    const model::Model& m = loaded.model;
    if (c.refinements < 1 || c.refinements > 8)
        throw Error("refinements is " + std::to_string(c.refinements) + ", it must lie in 1 to 8",
                    {"--refinements", 0, 0});
    integrate::CompareOptions o;
    o.options.t_end = end_time("--t-end", c.t_end, m, c.common.model);
    o.options.interrupted = interrupt_asked;
    o.h = positive("--h", c.h.value_or(m.settings->simulate.h.value_or(integrate::Moreau{}.h)));
    o.event.rtol = positive("--rtol", c.rtol.value_or(m.settings->simulate.rtol.value_or(o.event.rtol)));
    o.event.atol = positive("--atol", c.atol.value_or(m.settings->simulate.atol.value_or(o.event.atol)));
    o.refinements = c.refinements;
    if (model::has_feature(m, model::Feature::damping_left_out)) {
        // For one contact, D_hat = 2 zeta sqrt(k m) has the restitution exp(-pi zeta/sqrt(1 - zeta^2)) for every k.
        o.springs = [&loaded](double stiffness) {
            model::BuildOptions build = loaded.build;
            build.penalty = true;
            return model::build(model::with_contact_damping(loaded.file.description, std::sqrt(stiffness)), build);
        };
        o.springs_note = "D_hat grows like the square root of k, so that the restitution of the springs stays the same";
    }
    const auto out = open_results(c.common, "compare", {c.common.model});
    listen_for_interrupts();
    const integrate::Comparison result = integrate::compare(m, o);
    const bool cut_short = interrupt_asked();
    const auto json = [&] { return document_of(io::compare_json(result), cut_short); };
    deliver(c.common, out.get(),
            {[&](io::ResultFolder& folder) { folder.add("compare.json", json()); }, json,
             [&] { return io::compare_text(result); }});
    if (cut_short) return interrupted;
    const auto has_failed = [](const integrate::ComparedRun& run) {
        return run.trajectory.status == trajectory::Status::failed;
    };
    const bool any_failed = std::any_of(result.moreau.begin(), result.moreau.end(), has_failed) ||
                            std::any_of(result.penalty.begin(), result.penalty.end(), has_failed);
    return result.event.status == trajectory::Status::completed && !any_failed ? done : failed;
}

}  // namespace saltus::cli
