// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/gain_study.hpp"

#include <cmath>

#include "cli/commands/simulate_plan.hpp"
#include "cli/interrupt.hpp"
#include "cli/progress.hpp"
#include "saltus/base/text.hpp"
#include "saltus/control/gains/gain_solve.hpp"
#include "saltus/io/model/load_model.hpp"
#include "saltus/io/report/gain_report.hpp"
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
    o.threads = c.common.threads;
    o.interrupted = interrupt_asked;
    return o;
}

io::GainHead head(const SimulateCommand& c, const Plan& plan, const model::Model& m) {
    return {m.name,       plan.method_name, plan.t_end, plan.options, c.band.value_or(control::MeasureOptions{}.band),
            plan.warnings};
}

int vary(const SimulateCommand& c, const model::Description& description, const model::Model& m, const Plan& plan,
         io::ResultFolder* out) {
    std::vector<sensitivity::Vary> values;
    std::size_t count = 1;
    for (const std::string& text : c.vary) {
        values.push_back(sensitivity::vary_from_text(text));
        count *= values.back().values.size();
    }
    control::RunOptions o = run_options(c, plan);
    Progress progress(0.0, static_cast<double>(count), !c.common.quiet);
    o.progress = [&](std::size_t done) { progress.at(static_cast<double>(done)); };
    const control::GainStudy study = control::study_gains(description, values, o);
    const io::GainHead about = head(c, plan, m);
    const bool cut_short = interrupt_asked();
    const auto json = [&] { return document_of(io::gain_study_json(study, about), cut_short); };
    deliver(c.common, out,
            {[&](io::ResultFolder& folder) {
                 folder.add("study.csv", io::gain_study_csv(study));
                 folder.add("study.json", json());
             },
             json, [&] { return io::gain_study_text(study, about); }});
    if (cut_short) return interrupted;
    for (const control::StudiedRun& run : study.runs)
        if (run.measures.status != trajectory::Status::completed) return exit_code(run.measures.status);
    return done;
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
    if (!c.solve_for.empty() && !c.vary.empty())
        throw Error("cannot be combined with --solve-for", {"--vary", 0, 0}, "give one of the two");
    if (!c.solve_for.empty() && !c.common.report.empty())
        throw Error("cannot be combined with --solve-for, whose result is a value and no motion", {"--report", 0, 0},
                    "solve first, then show the motion with this value: --set NAME=VALUE --report");
    const io::LoadedModel loaded = load(c.common, c.perturbed, c.method);
    const model::Model& m = loaded.model;
    if (c.perturbed && !m.perturbable)
        throw Error("the model has no [perturbation]", {c.common.model, 0, 0}, "add one, or omit --perturbed");
    const Plan plan = make_plan(c, loaded);
    const auto out = open_results(c.common, "simulate", {c.common.model, c.restart});
    listen_for_interrupts();
    return c.solve_for.empty() ? vary(c, loaded.file.description, m, plan, out.get())
                               : solve(c, loaded.file.description, m, plan, out.get());
}

}  // namespace saltus::cli
