// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/orbit.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "cli/assignments.hpp"
#include "cli/interrupt.hpp"
#include "cli/section_option.hpp"
#include "saltus/base/text.hpp"
#include "saltus/integrate/outputs.hpp"
#include "saltus/integrate/resume.hpp"
#include "saltus/io/model/load_model.hpp"
#include "saltus/io/report/orbit/orbit_report.hpp"
#include "saltus/io/results/motion_files.hpp"
#include "saltus/io/results/provenance.hpp"
#include "saltus/io/results/result_folder.hpp"
#include "saltus/model/evaluate.hpp"
#include "saltus/model/model.hpp"
#include "saltus/orbit/orbit.hpp"
#include "saltus/orbit/search.hpp"

namespace saltus::cli {

namespace {

/// Throws Error if a guess penetrates an obstacle.
void refuse_penetration(const model::Model& model, const trajectory::State& guess) {
    constexpr double rounding = 1e-6;  // of a guess that was typed, relative to the largest position
    double size = 0.0;
    for (const double q : guess.q) size = std::max(size, std::abs(q));
    model::Workspace workspace(model);
    model::Terms terms(model.layout());
    model::evaluate(model, workspace, 0.0, guess.q, guess.u, terms);
    for (const model::Contact& c : model.contacts) {
        if (c.condition != model::no_coefficient) continue;
        const double gap = terms.positions[static_cast<std::size_t>(c.row)];
        if (gap < -rounding * size)
            throw Error("the guess penetrates contact '" + c.name + "': gN = " + number_text(gap), {"--guess", 0, 0},
                        "give a state with gN >= 0 at t = 0");
    }
}

}  // namespace

orbit::Options orbit_options(const OrbitCommand& c, const model::Model& m) {
    orbit::Options options;
    if (c.multiple < 1)
        throw Error("multiple is " + std::to_string(c.multiple) + ", it must be at least 1", {"--multiple", 0, 0});
    options.multiple = c.multiple;
    if (!c.period.empty()) options.period = positive("--period", value_of_parameters(m, c.period, "--period"));
    if (!c.section.empty()) options.section = section_expression(m, c.section);
    options.symmetry = c.symmetry;
    if (c.settle) options.settle = positive("--settle", *c.settle);
    if (c.rtol) options.method.rtol = positive("--rtol", *c.rtol);
    if (c.atol) options.method.atol = positive("--atol", *c.atol);
    if (!c.guess.empty()) {
        std::vector<std::string> states = m.coordinates;
        for (const std::string& name : m.coordinates) states.push_back(name + "'");
        std::vector<double> values = m.q0;
        values.insert(values.end(), m.u0.begin(), m.u0.end());
        for (const Assigned& a : assigned(c.guess, "--guess")) {
            const auto at = std::find(states.begin(), states.end(), a.name);
            if (at == states.end())
                throw Error("unknown coordinate '" + a.name + "'", {"--guess", 0, 0}, did_you_mean(a.name, states));
            if (a.values.size() != 1) throw Error("'" + a.name + "' needs one number", {"--guess", 0, 0});
            values[static_cast<std::size_t>(at - states.begin())] = a.values[0];
        }
        const auto n = static_cast<std::ptrdiff_t>(m.coordinates.size());
        options.guess =
            trajectory::State{0.0, {values.begin(), values.begin() + n}, {values.begin() + n, values.end()}};
        refuse_penetration(m, *options.guess);
    }
    options.interrupted = interrupt_asked;
    return options;
}

namespace {

/// The first and the last row of a balance.
trajectory::LyapunovBalance ends_of(const trajectory::LyapunovBalance& all) {
    trajectory::LyapunovBalance ends = all;
    for (std::vector<double>* column : {&ends.t, &ends.V, &ends.damping, &ends.friction, &ends.springs,
                                        &ends.impact_friction, &ends.impact_restitution, &ends.applied, &ends.driven})
        if (column->size() > 2) *column = {column->front(), column->back()};
    return ends;
}

/// The motion of one period as `saltus simulate` writes it, so that pages show it.
void add_motion(io::ResultFolder& folder, const io::LoadedModel& loaded, const orbit::Options& options,
                const orbit::Orbit& o) {
    constexpr int samples = 1001;
    io::MotionFiles files(loaded.model, &folder, false);
    trajectory::Trajectory motion = o.motion;
    integrate::Options run;
    run.t_end = motion.end.t;
    io::record_provenance(motion, loaded, options.method, run);
    const trajectory::MotionSummary summary = integrate::summarise(loaded.model, motion);
    integrate::MotionPart part;
    part.start = motion.start;
    part.arcs = std::exchange(motion.arcs, {});
    part.events = std::exchange(motion.events, {});
    files.add(part, o.averages->energy);
    folder.add("model.toml", loaded.file.text);
    files.write(motion, motion.end.t, ends_of(o.averages->energy), summary, {}, samples);
}

int code_of(const orbit::Orbit& o, bool cut_short) {
    if (cut_short || o.status == orbit::Status::interrupted) return interrupted;
    return o.status == orbit::Status::converged ? done : failed;
}

}  // namespace

namespace {

/// Writes and prints a report. Returns the exit code.
int deliver_orbit(const OrbitCommand& c, const io::LoadedModel& loaded, const orbit::Options& options,
                  const io::OrbitReport& report, io::ResultFolder* out) {
    const bool cut_short = interrupt_asked();
    const auto json = [&] { return document_of(io::orbit_json(report), cut_short); };
    deliver(c.common, out,
            {[&](io::ResultFolder& folder) {
                 folder.add("orbit.json", json());
                 if (report.orbit.converged()) add_motion(folder, loaded, options, report.orbit);
             },
             json, [&] { return io::orbit_text(report); }});
    return code_of(report.orbit, cut_short);
}

/// --search: many starts, as an ensemble.
int search_orbits(const OrbitCommand& c, const io::LoadedModel& loaded, const orbit::Options& options,
                  io::OrbitReport report) {
    const model::Model& m = loaded.model;
    const auto count = static_cast<std::size_t>(c.search);
    EnsembleRun run(c.ensemble, c.common, "orbit", count);
    const auto out = run.open_results("orbit", {c.common.model});
    listen_for_interrupts();
    const std::shared_ptr<ensemble::Table> table = run.open_table(purpose_of(loaded.file.text, c.common, ""), 0);
    orbit::SearchPlace place;
    place.engine = {c.common.threads, run.ranks(), interrupt_asked};
    place.shard = run.shard();
    place.table = table.get();
    std::size_t made = 0;
    place.progress = [&, show = run.progress()](std::size_t done, std::size_t of) {
        ++made;
        show(done, of);
    };
    report.searched = true;
    report.orbits = orbit::find_orbits(m, options, c.search, place);
    if (!run.leads()) return done;
    if (!run.whole()) return run.deliver_part(*table, m.name, made);
    for (orbit::Orbit& o : report.orbits) o.averages = orbit::averages_of(m, options, o);
    if (!report.orbits.empty())
        report.orbit = report.orbits.front();
    else
        report.orbit.reason = interrupt_asked() ? "none of the starts that were made leads to an orbit"
                                                : "none of the starts leads to an orbit";
    const int code = deliver_orbit(c, loaded, options, report, out.get());
    if (!interrupt_asked()) run.remove_tables();
    return code;
}

}  // namespace

int orbit(const OrbitCommand& c) {
    const io::LoadedModel loaded = load(c.common);
    const model::Model& m = loaded.model;
    const orbit::Options options = orbit_options(c, m);
    if (c.search < 0) throw Error("the number of starts is negative", {"--search", 0, 0});
    io::OrbitReport report;
    report.model = m.name;
    report.autonomous = !options.period;
    if (c.search > 0) return search_orbits(c, loaded, options, std::move(report));
    for (const auto& [given, name] :
         {std::pair{c.ensemble.resume, "--resume"}, std::pair{!c.ensemble.shard.empty(), "--shard"}})
        if (given) throw Error("belongs to a search from many starts", {name, 0, 0}, "add --search 100");
    const auto out = open_results(c.common, "orbit", {c.common.model});
    listen_for_interrupts();
    report.orbit = orbit::find_orbit(m, options);
    if (report.orbit.converged()) report.orbit.averages = orbit::averages_of(m, options, report.orbit);
    return deliver_orbit(c, loaded, options, report, out.get());
}

}  // namespace saltus::cli
