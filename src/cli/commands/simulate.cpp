// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/simulate.hpp"

#include <cstdio>
#include <optional>

#include "cli/commands/gain_study.hpp"
#include "cli/commands/simulate_plan.hpp"
#include "cli/interrupt.hpp"
#include "cli/progress.hpp"
#include "saltus/base/memory.hpp"
#include "saltus/base/text.hpp"
#include "saltus/integrate/event/recording.hpp"
#include "saltus/integrate/outputs.hpp"
#include "saltus/integrate/resume.hpp"
#include "saltus/io/model/load_model.hpp"
#include "saltus/io/problem/fclib.hpp"
#include "saltus/io/report/simulate_report.hpp"
#include "saltus/io/results/provenance.hpp"
#include "saltus/io/results/result_folder.hpp"
#include "saltus/io/results/trajectory_file.hpp"
#include "saltus/model/outputs.hpp"
#include "saltus/stability/lyapunov_balance.hpp"

namespace saltus::cli {

using trajectory::LyapunovBalance;
using trajectory::Trajectory;

namespace {

constexpr const char* model_name = "model.toml";  // the copy of the model file

/// Ends a run before its memory is used up, so that what exists can be written and printed.
class MemoryWatch {
public:
    /// `json`: the document of all events is printed.
    explicit MemoryWatch(bool json) : parts_for_results_(json ? 8.0 : 2.5) {}
    /// Whether the run has to end. It looks only now and then.
    bool ends_run() {
        constexpr int calls_between_looks = 64;
        if (++calls_ % calls_between_looks == 0) ended_ = available_memory() < parts_for_results_ * used_memory();
        return ended_;
    }
    bool ended() const { return ended_; }

private:
    /// Writing results needs memory: at most so many times what the run uses. Too small: the results do not fit into
    /// memory and are lost. Measured for 1e4 to 1e6 impacts.
    double parts_for_results_;
    int calls_ = 0;
    bool ended_ = false;
};

/// What a run gives besides its motion.
struct Results {
    LyapunovBalance balance;  ///< empty if it is not wanted
    integrate::ResumePoint resume;
    std::optional<io::EventDigest> events;  ///< if the motion has not kept its events
    trajectory::MotionSummary summary;      ///< what follows from the arcs
    bool out_of_memory = false;             ///< the motion ended early because of its size
};

/// The model goes with its motion, so that a report can draw it.
void add_files(io::ResultFolder& folder, const SimulateCommand& c, const io::LoadedModel& loaded, const Trajectory& t,
               double t_end, const Results& results) {
    const LyapunovBalance& balance = results.balance;
    folder.add(model_name, loaded.file.text);
    std::optional<trajectory::OutputCurves> outputs;
    if (loaded.model.outputs != nullptr) {
        integrate::OutputCourse course(loaded.model, t);
        outputs = io::output_curves(t, c.samples, course, loaded.model);
    }
    const trajectory::OutputCurves* const curves = outputs ? &*outputs : nullptr;
    if (io::has_hdf5())
        io::add_trajectory(folder, trajectory_name, t, &balance, results.resume.numbers, curves);
    else if (!c.common.quiet)
        std::fprintf(stderr, "saltus: %s is not written because Saltus was built without HDF5\n", trajectory_name);
    folder.add("states.csv", io::states_csv(t, c.samples, curves));
    folder.add("events.csv", io::events_csv(t));
    if (!balance.empty()) folder.add("balance.csv", io::balance_csv(balance));
    folder.add("simulate.json", io::simulate_json(t, t_end, &balance, io::Timing::left_out, &results.summary));
}

Trajectory run(const SimulateCommand& c, const io::LoadedModel& loaded, const Plan& plan, Results& results) {
    const model::Model& m = loaded.model;
    integrate::Options options;
    options.t_end = plan.t_end;
    options.energy = plan.energy;
    options.rate_jumps = true;
    if (plan.restarted) options.start = plan.start;
    listen_for_interrupts();
    MemoryWatch memory(c.common.json);
    const bool with_balance = c.balance || !c.common.out.empty();
    const bool keeps_events = with_balance || c.common.json || !c.common.report.empty() || m.outputs != nullptr;
    options.interrupted = [&] { return interrupt_asked() || (keeps_events && memory.ends_run()); };
    Progress progress(plan.start.t, plan.t_end, !c.common.quiet);
    options.progress = [&](double t) { progress.at(t); };
    integrate::EventSink sink;
    if (!keeps_events) {
        results.events.emplace();
        sink = [&](const trajectory::Event& event) { results.events->add(event); };
    }
    integrate::ResumableMotion made = integrate::simulate_resumable(
        m, plan.method, options, with_balance ? integrate::Record::yes : integrate::Record::no,
        plan.earlier ? &*plan.earlier : nullptr, sink);
    results.out_of_memory = memory.ended();
    results.resume = std::move(made.resume);
    if (with_balance) results.balance = stability::lyapunov_balance(m, made.motion.motion, made.motion.recording);
    Trajectory t = std::move(made.motion.motion);
    if (results.out_of_memory)
        t.reason = "the memory is nearly used up at t = " + number_text(t.end.t) + ": the motion ends here; " +
                   (c.common.out.empty() ? "what exists is printed, nothing is written without --out"
                                         : "what exists is written, and --restart continues it to the same bits");
    io::record_provenance(t, loaded, plan.method, options, c.restart);
    t.warnings.insert(t.warnings.begin(), plan.warnings.begin(), plan.warnings.end());
    results.summary = integrate::summarise(m, t);
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
    const auto out = open_results(c.common, "simulate", {c.common.model, c.restart});
    for (const char* const name : {model_name, trajectory_name})
        if (out) out->refuse_name(name);
    Results results;
    const Trajectory t = run(c, loaded, plan, results);
    deliver(c.common, out.get(),
            {[&](io::ResultFolder& folder) { add_files(folder, c, loaded, t, plan.t_end, results); },
             [&] { return io::simulate_json(t, plan.t_end, &results.balance, io::Timing::included, &results.summary); },
             [&] {
                 return io::simulate_text(t, plan.t_end, &results.balance, results.events ? &*results.events : nullptr,
                                          &results.summary);
             }});
    if (results.out_of_memory) tell("saltus: failure: " + t.reason);
    return results.out_of_memory ? failed : exit_code(t.status);
}

}  // namespace saltus::cli
