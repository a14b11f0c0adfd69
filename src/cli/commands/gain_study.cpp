// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/gain_study.hpp"

#include <cmath>
#include <system_error>

#include "cli/commands/simulate_plan.hpp"
#include "cli/interrupt.hpp"
#include "cli/progress.hpp"
#include "saltus/base/text.hpp"
#include "saltus/control/gains/gain_solve.hpp"
#include "saltus/ensemble/axis_text.hpp"
#include "saltus/ensemble/device_study.hpp"
#include "saltus/io/model/load_model.hpp"
#include "saltus/io/problem/fclib.hpp"
#include "saltus/io/report/ensemble/ask_report.hpp"
#include "saltus/io/report/gain_report.hpp"
#include "saltus/io/results/files.hpp"
#include "saltus/io/results/result_folder.hpp"
#include "saltus/model/model.hpp"

namespace saltus::cli {

namespace {

control::RunOptions run_options(const SimulateCommand& c, const Plan& plan) {
    control::RunOptions o;
    o.build.project_initial = c.common.project_initial;
    o.build.perturbed = c.perturbed;
    o.build.set = assignments(c.common);
    o.build.penalty = std::holds_alternative<integrate::Penalty>(plan.method);
    o.method = plan.method;
    o.t_end = plan.t_end;
    o.energy = plan.energy;
    if (plan.restarted) o.start = plan.start;
    o.measure.band = c.band.value_or(o.measure.band);
    if (!(o.measure.band > 0.0 && o.measure.band < 1.0))
        throw Error("band is " + number_text(o.measure.band) + ", it must lie in (0, 1)", {"--band", 0, 0});
    o.interrupted = interrupt_asked;
    return o;
}

io::GainHead head(const SimulateCommand& c, const Plan& plan, const model::Model& m) {
    return {m.name,       plan.method_name, plan.t_end, plan.options, c.band.value_or(control::MeasureOptions{}.band),
            plan.warnings};
}

/// The runs of --vary, or of --samples with --box.
ensemble::Starts starts_of(const SimulateCommand& c, const model::Model& m) {
    if (!c.random.box.empty() && !c.vary.empty())
        throw Error("cannot be combined with --box", {"--vary", 0, 0}, "give either values or random ones");
    const char* const option = c.vary.empty() ? "--box" : "--vary";
    ensemble::Starts starts = c.vary.empty() ? sampled_starts(c.random) : gridded_starts(c.vary, option);
    for (const ensemble::Axis& a : starts.axes) {
        (void)axis_target(a.name, m, option);
        for (const auto& [name, value] : assignments(c.common))
            if (name == a.name)
                throw Error("'" + name + "' is both set and varied", {option, 0, 0}, "drop one of the two");
    }
    return starts;
}

/// Exit code of a study: that of the first run that did not complete.
int vary(const SimulateCommand& c, const io::LoadedModel& loaded, const Plan& plan) {
    const model::Model& m = loaded.model;
    const ensemble::Starts starts = starts_of(c, m);
    EnsembleRun run(c.ensemble, c.common, "study", starts.size());
    // Of each run: 1 kB for the bouncing ball and 1.8 kB for the rocking bar, and 5 kB while it is written.
    refuse_kept_runs(starts.size(), prints_text_alone(c.common) ? 1200.0 : 5000.0,
                     starts.sampled() ? "--samples" : "--vary");
    io::GainHead about = head(c, plan, m);
    (void)chosen_device(
        c.ensemble, starts.size(), run.ranks(),
        [] { return std::string("the table of all measures needs whole motions; --ask end has answers of a device"); },
        [](const auto&) {}, about.warnings);
    const auto out = run.open_results("simulate", {c.common.model, c.restart});
    listen_for_interrupts();
    control::StudyPlace place;
    place.engine = {c.common.threads, run.ranks(), interrupt_asked};
    place.shard = run.shard();
    const auto table = run.open_table(purpose_of(loaded.file.text, c.common, ""), 0);
    place.table = table.get();
    const auto show = run.progress();
    std::size_t made = 0;
    place.progress = [&](std::size_t done, std::size_t of) {
        ++made;
        show(done, of);
    };
    const control::GainStudy study = control::study_gains(loaded.file.description, starts, run_options(c, plan), place);
    if (!run.leads()) return done;
    if (!run.whole()) return run.deliver_part(*table, m.name, made);
    const bool cut_short = interrupt_asked();
    std::string made_json;  // a million runs take seconds: once for the file and for standard output
    const auto json = [&] {
        if (made_json.empty()) made_json = document_of(io::gain_study_json(study, about), cut_short);
        return made_json;
    };
    deliver(c.common, out.get(),
            {[&](io::ResultFolder& folder) {
                 folder.add("study.csv", io::gain_study_csv(study));
                 folder.add("study.json", json());
             },
             json, [&] { return io::gain_study_text(study, about); }});
    if (cut_short) return interrupted;
    run.remove_tables();
    for (const control::StudiedRun& one : study.runs)
        if (one.refused.empty() && one.measures.status != trajectory::Status::completed)
            return exit_code(one.measures.status);
    return done;
}

/// --ask: single numbers of each motion. The runs are not held in memory.
int ask(const SimulateCommand& c, const io::LoadedModel& loaded, const Plan& plan) {
    const model::Model& m = loaded.model;
    io::AskReport report;
    report.starts = starts_of(c, m);
    report.questions = ensemble::questions_from_text(c.ask, m, {"--ask", 0, 0});
    report.columns = ensemble::column_names(report.questions, m);
    report.model = m.name;
    report.method = plan.method_name;
    report.options = plan.options;
    report.t_end = plan.t_end;
    report.coordinates = m.coordinates;
    report.warnings = plan.warnings;
    const std::size_t runs = report.starts.size();
    EnsembleRun run(c.ensemble, c.common, "study", runs);
    EnsembleNeeds needs;
    needs.runs = static_cast<double>(runs);
    const double answer = 64.0 + 8.0 * static_cast<double>(report.columns.size());  // bytes
    (c.common.out.empty() ? needs.memory : needs.disk) = needs.runs * answer * (c.common.out.empty() ? 1.0 : 3.0);
    needs.largest_file = c.common.out.empty() ? 0.0 : needs.runs * answer;
    refuse_needs(needs, c.common.out, c.vary.empty() ? "--samples" : "--vary");
    const auto out = run.open_results("simulate", {c.common.model, c.restart});
    listen_for_interrupts();
    const control::RunOptions options = run_options(c, plan);
    std::vector<std::string> names;
    for (const ensemble::Axis& a : report.starts.axes) names.push_back(a.name);
    const ensemble::ModelMaker maker(loaded.file.description, options.build, names);
    using Refused = ensemble::MotionStudy::Refused;
    ensemble::MotionStudy on_cpu(maker, report.questions,
                                 {options.method, options.t_end, options.start, options.energy, interrupt_asked},
                                 report.starts.sampled() ? Refused::answered : Refused::error);
    const ensemble::EngineOptions where{c.common.threads, run.ranks(), interrupt_asked};
    std::optional<ensemble::DeviceStudy> on_device;
    const auto compile = [&](const ensemble::Device& d) {
        on_device.emplace(m, maker, on_cpu, d, ensemble::threads_of(where));
    };
    const auto device = chosen_device(
        c.ensemble, runs, run.ranks(),
        [&] { return ensemble::DeviceStudy::refusal(m, names, report.questions, on_cpu.options()); }, compile,
        report.warnings);
    if (device) {
        if (!on_device) compile(*device);
        report.device = ensemble::to_string(device->kind) + ": " + device->name;
    }
    ensemble::Engine engine(on_device ? static_cast<ensemble::Work&>(*on_device) : on_cpu, where);
    if (!engine.leads()) {
        engine.serve();
        return done;
    }
    const std::string by = device ? " --device " + ensemble::to_string(device->kind) : "";
    const auto table = run.open_table(purpose_of(loaded.file.text, c.common, by), 0);
    std::size_t made = 0;
    const auto show = run.progress();
    {
        const ensemble::Dismissal at_the_end(engine);
        ensemble::Round round;
        round.count = runs;
        round.axes = names.size();
        round.shard = run.shard();
        round.values = [&](std::size_t k, std::span<double> x) { report.starts.values(k, x); };
        round.progress = [&](std::size_t now, std::size_t of) {
            ++made;
            show(now, of);
        };
        report.complete = ensemble::make(engine, *table, round);
    }
    if (!run.whole()) return run.deliver_part(*table, m.name, made);
    report.table = table.get();
    if (report.complete)
        for (std::string& text : on_cpu.examined_warnings(report.starts)) report.warnings.push_back(std::move(text));
    if (on_device) report.device_use = on_device->use();
    const bool cut_short = interrupt_asked();
    const io::AskSummary summary = io::summary_of(report);
    const auto json = [&] { return document_of(io::ask_json(report, summary), cut_short); };
    const auto add_table = [](io::ResultFolder& folder, const std::string& name, const auto& write) {
        folder.add(name, [&](int descriptor) {
            write([&](std::string_view piece) {
                if (const int error = io::write_all(descriptor, piece); error != 0)
                    throw Error(std::generic_category().message(error), {folder.path() + "/" + name, 0, 0},
                                "check the disk");
            });
        });
    };
    deliver(c.common, out.get(),
            {[&](io::ResultFolder& folder) {
                 add_table(folder, "study.csv", [&](const auto& take) { io::ask_csv(report, take); });
                 if (io::has_points(report))
                     add_table(folder, "study-points.csv", [&](const auto& take) { io::ask_points_csv(report, take); });
                 if (io::has_hdf5()) io::add_answers(folder, "study.h5", report);
                 folder.add("study.json", json());
             },
             json, [&] { return io::ask_text(report, summary); }});
    if (cut_short) return interrupted;
    run.remove_tables();
    return summary.failed > 0 ? failed : done;
}

int solve(const SimulateCommand& c, const model::Description& description, const model::Model& m, const Plan& plan,
          io::ResultFolder* out) {
    control::SolveOptions o;
    o.run = run_options(c, plan);
    if (c.at == "steady" || c.at == "end")
        o.at = c.at == "end" ? control::TargetAt::end : control::TargetAt::steady;
    else if (!c.at.empty())
        throw Error("unknown place '" + c.at + "'", {"--at", 0, 0}, "allowed are steady and end");
    const control::GainSolution solution =
        control::solve_for(description, control::unknown_from_text(c.solve_for), c.target, o);
    const io::GainHead about = head(c, plan, m);
    const auto json = [&] { return io::gain_solution_json(solution, about); };
    deliver(c.common, out,
            {[&](io::ResultFolder& folder) { folder.add("solve-for.json", json()); }, json,
             [&] { return io::gain_solution_text(solution, about); }});
    switch (solution.status) {
        case control::SolveStatus::interrupted: return interrupted;
        case control::SolveStatus::failed: return failed;
        default: return done;
    }
}

}  // namespace

int gain_study(const SimulateCommand& c) {
    if (c.solve_for.empty() != c.target.empty())
        throw Error(c.target.empty() ? "needs a --target to solve" : "needs a parameter to solve for",
                    {c.target.empty() ? "--solve-for" : "--target", 0, 0},
                    "write --solve-for Kp --target \"lambda(stop) = 5\"");
    if (!c.solve_for.empty() && (!c.vary.empty() || !c.random.box.empty()))
        throw Error("cannot be combined with --solve-for", {c.vary.empty() ? "--box" : "--vary", 0, 0},
                    "give one of the two");
    if (!c.solve_for.empty() && !c.common.report.empty())
        throw Error("cannot be combined with --solve-for, whose result is a value and no motion", {"--report", 0, 0},
                    "solve first, then show the motion with this value: --set NAME=VALUE --report");
    const io::LoadedModel loaded = load(c.common, c.perturbed, c.method);
    const model::Model& m = loaded.model;
    if (c.perturbed && !m.perturbable)
        throw Error("the model has no [perturbation]", {c.common.model, 0, 0}, "add one, or omit --perturbed");
    const Plan plan = make_plan(c, loaded);
    if (c.solve_for.empty()) return c.ask.empty() ? vary(c, loaded, plan) : ask(c, loaded, plan);
    if (!c.ask.empty()) throw Error("cannot be combined with --solve-for", {"--ask", 0, 0}, "give --target");
    const auto out = open_results(c.common, "simulate", {c.common.model, c.restart});
    listen_for_interrupts();
    return solve(c, loaded.file.description, m, plan, out.get());
}

}  // namespace saltus::cli
