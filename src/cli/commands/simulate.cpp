// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/simulate.hpp"

#include <cstdio>
#include <filesystem>

#include "cli/commands/gain_study.hpp"
#include "cli/commands/simulate_plan.hpp"
#include "cli/interrupt.hpp"
#include "cli/progress.hpp"
#include "saltus/integrate/event/recording.hpp"
#include "saltus/integrate/simulate.hpp"
#include "saltus/io/model/load_model.hpp"
#include "saltus/io/problem/fclib.hpp"
#include "saltus/io/report/simulate_report.hpp"
#include "saltus/io/results/files.hpp"
#include "saltus/io/results/provenance.hpp"
#include "saltus/io/results/trajectory_file.hpp"
#include "saltus/stability/lyapunov_balance.hpp"

namespace saltus::cli {

namespace fs = std::filesystem;
using trajectory::LyapunovBalance;
using trajectory::Trajectory;

namespace {

/// The model goes with its motion, so that a report can draw it. The last file to appear is simulate.json.
void write_results(const SimulateCommand& c, const io::ModelFile& file, const Trajectory& t,
                   const LyapunovBalance& balance, const std::string& json) {
    io::write_file(c.common.out, "model.toml", file.text);
    if (io::has_hdf5())
        io::write_trajectory((fs::path(c.common.out) / trajectory_name).string(), t, &balance);
    else if (!c.common.quiet)
        std::fprintf(stderr, "saltus: %s is not written because Saltus was built without HDF5\n", trajectory_name);
    io::write_file(c.common.out, "states.csv", io::states_csv(t, c.samples));
    io::write_file(c.common.out, "events.csv", io::events_csv(t));
    if (!balance.empty()) io::write_file(c.common.out, "balance.csv", io::balance_csv(balance));
    io::write_file(c.common.out, "simulate.json", json);
}

Trajectory run(const SimulateCommand& c, const io::LoadedModel& loaded, const Plan& plan, LyapunovBalance& balance) {
    const model::Model& m = loaded.model;
    integrate::Options options;
    options.t_end = plan.t_end;
    options.energy = plan.energy;
    if (plan.restarted) options.start = plan.start;
    listen_for_interrupts();
    options.interrupted = interrupt_asked;
    Progress progress(plan.start.t, plan.t_end, !c.common.quiet);
    options.progress = [&](double t) { progress.at(t); };
    Trajectory t;
    if (c.balance || !c.common.out.empty()) {
        integrate::RecordedMotion recorded = integrate::simulate_recorded(m, plan.method, options);
        balance = stability::lyapunov_balance(m, recorded.motion, recorded.recording);
        t = std::move(recorded.motion);
    } else {
        t = integrate::simulate(m, plan.method, options);
    }
    io::record_provenance(t, loaded, plan.method, options, c.restart);
    t.warnings.insert(t.warnings.begin(), plan.warnings.begin(), plan.warnings.end());
    return t;
}

}  // namespace

int simulate(const SimulateCommand& c) {
    if (!c.vary.empty() || !c.solve_for.empty() || !c.target.empty()) return gain_study(c);
    if (c.samples < 2)
        throw Error("samples is " + std::to_string(c.samples) + ", it must be at least 2", {"--samples", 0, 0});
    const io::LoadedModel loaded = load(c.common, c.perturbed);
    if (c.perturbed && !loaded.model.perturbable)
        throw Error("the model has no [perturbation]", {c.common.model, 0, 0}, "add one, or omit --perturbed");
    const Plan plan = make_plan(c, loaded);
    if (!c.common.out.empty()) refuse_result_folder(c.common.out, c.restart);
    LyapunovBalance balance;
    const Trajectory t = run(c, loaded, plan, balance);
    const std::string json = c.common.json || !c.common.out.empty() ? io::simulate_json(t, plan.t_end, &balance) : "";
    std::optional<Error> not_written;  // what was computed is told all the same
    try {
        if (!c.common.out.empty()) write_results(c, loaded.file, t, balance, json);
    } catch (const Error& e) {
        not_written = e;
    }
    if (c.common.json)
        print(json);
    else if (!c.common.quiet)
        print(io::simulate_text(t, plan.t_end, &balance));
    if (not_written) throw *not_written;
    return exit_code(t.status);
}

}  // namespace saltus::cli
