// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/diagram.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "cli/interrupt.hpp"
#include "cli/progress.hpp"
#include "cli/section_option.hpp"
#include "saltus/base/text.hpp"
#include "saltus/ensemble/axis_text.hpp"
#include "saltus/io/model/load_model.hpp"
#include "saltus/io/report/orbit/diagram_report.hpp"
#include "saltus/io/results/provenance.hpp"
#include "saltus/io/results/result_folder.hpp"
#include "saltus/model/settings.hpp"
#include "saltus/orbit/diagram.hpp"

namespace saltus::cli {

namespace {

orbit::DiagramOptions diagram_options(const DiagramCommand& c, const io::LoadedModel& loaded) {
    const model::Model& m = loaded.model;
    orbit::DiagramOptions options;
    if (c.over.empty()) throw Error("the parameter to vary is not given", {"--over", 0, 0}, "write --over A=0.1:2:200");
    options.over = ensemble::axis_from_text(c.over, ensemble::AxisUse::values, "--over");
    (void)axis_target(options.over.name, m, "--over");
    for (const auto& [name, value] : assignments(c.common))
        if (name == options.over.name)
            throw Error("'" + name + "' is both set and varied", {"--over", 0, 0}, "drop one of the two");
    constexpr long most_values = 1'000'000;  // their points are held in memory
    if (options.over.n > most_values)
        throw Error("the diagram has " + std::to_string(options.over.n) + " values, more than 1e6", {"--over", 0, 0},
                    "give fewer values");
    options.build = loaded.build;
    if (c.period.empty() == c.section.empty())
        throw Error("points of the motion are taken once in a period or on a section", {"--period", 0, 0},
                    "give either --period \"2*pi/w\" or --section \"x = 0\"");
    if (!c.period.empty()) {
        positive("--period", value_of_parameters(m, c.period, "--period"));
        options.period = [text = c.period](const model::Model& model) {
            return value_of_parameters(model, text, "--period");
        };
    } else {
        options.section = section_expression(m, c.section);
        const double once = m.settings->simulate.t_end.value_or(0.0);
        constexpr double motions_per_value = 20.0;  // of the length that the model file suggests
        if (!c.t_max && !(once > 0.0))
            throw Error("the length of the motions is not known", {"--t-max", 0, 0}, "give --t-max");
        options.t_max = positive("--t-max", c.t_max.value_or(motions_per_value * once));
    }
    if (c.transient < 0) throw Error("the number of points is negative", {"--transient", 0, 0});
    if (c.keep < 1) throw Error("keep is " + std::to_string(c.keep) + ", it must be at least 1", {"--keep", 0, 0});
    options.transient = c.transient;
    options.keep = c.keep;
    options.exponents = c.exponents;
    if (c.rtol) options.method.rtol = positive("--rtol", *c.rtol);
    if (c.atol) options.method.atol = positive("--atol", *c.atol);
    return options;
}

std::vector<orbit::Sweep> sweeps_of(const std::string& name) {
    if (name == "restart") return {orbit::Sweep::restart};
    if (name == "up") return {orbit::Sweep::up};
    if (name == "down") return {orbit::Sweep::down};
    if (name == "both") return {orbit::Sweep::up, orbit::Sweep::down};
    throw Error("unknown sweep '" + name + "'", {"--sweep", 0, 0}, "choose restart, up, down or both");
}

bool has_points(const io::DiagramReport::Part& part) {
    return std::any_of(part.diagram.columns.begin(), part.diagram.columns.end(),
                       [](const orbit::DiagramColumn& c) { return !c.points.empty(); });
}

const char* sweep_name(orbit::Sweep sweep) {
    return sweep == orbit::Sweep::restart ? "restart" : sweep == orbit::Sweep::up ? "up" : "down";
}

}  // namespace

int diagram(const DiagramCommand& c) {
    const io::LoadedModel loaded = load(c.common);
    orbit::DiagramOptions options = diagram_options(c, loaded);
    const std::vector<orbit::Sweep> sweeps = sweeps_of(c.sweep);
    const auto count = static_cast<std::size_t>(options.over.n);
    if (sweeps.front() != orbit::Sweep::restart && !c.ensemble.shard.empty())
        throw Error("a sweep goes from value to value", {"--shard", 0, 0}, "use --sweep restart, or omit --shard");
    // Of each point time and state, and their text while they are written (450 bytes for one coordinate).
    const double numbers = 1.0 + 2.0 * static_cast<double>(loaded.model.size()),
                 bytes = (prints_text_alone(c.common) ? 64.0 : 64.0 + 130.0 * numbers) + 16.0 * numbers;
    refuse_kept_runs(count * sweeps.size(), bytes * static_cast<double>(options.keep), "--keep");
    io::DiagramReport report;
    report.exponents = c.exponents;
    report.identity = io::model_hash(loaded.file.text, loaded.build.set) + " " + c.common.line;
    report.warnings = loaded.model.warnings;
    EnsembleRun run(c.ensemble, c.common, "diagram", count);
    options.sweep = sweeps.front();
    options.device = chosen_device(
        c.ensemble, count, run.ranks(), [&] { return orbit::diagram_device_refusal(loaded.model, options); },
        [&](const ensemble::Device& d) { orbit::compile_diagram_for_device(loaded.model, options, d); },
        report.warnings);
    if (options.device) report.device = ensemble::to_string(options.device->kind) + ": " + options.device->name;
    const auto out = run.open_results("diagram", {c.common.model});
    listen_for_interrupts();
    options.engine = {c.common.threads, run.ranks(), interrupt_asked};
    options.shard = run.shard();
    const std::string by = options.device ? " --device " + ensemble::to_string(options.device->kind) : "";
    const std::string purpose = purpose_of(loaded.file.text, c.common, by);
    const auto values = static_cast<double>(count);
    Progress progress(0.0, values * static_cast<double>(sweeps.size()), !c.common.quiet && run.leads());
    std::size_t made = 0;  // progress tells of each value
    std::shared_ptr<ensemble::Table> table;
    for (std::size_t k = 0; k < sweeps.size(); ++k) {
        options.sweep = sweeps[k];
        const std::string name = sweeps[k] == orbit::Sweep::restart ? "" : std::string("-") + sweep_name(sweeps[k]);
        table = run.open_table(purpose + name, 0, name);
        options.table = table.get();
        options.progress = [&](std::size_t done, std::size_t) {
            ++made;
            progress.at(values * static_cast<double>(k) + static_cast<double>(done));
        };
        report.parts.push_back({sweep_name(sweeps[k]), orbit::diagram(loaded.file.description, options)});
    }
    if (!run.leads()) return done;
    if (!run.whole()) return run.deliver_part(*table, loaded.model.name, made);
    const bool cut_short = interrupt_asked();
    const auto json = [&] { return document_of(io::diagram_json(report), cut_short); };
    deliver(c.common, out.get(),
            {[&](io::ResultFolder& folder) {
                 folder.add("diagram.json", json());
                 folder.add("diagram.csv", io::diagram_points_csv(report));
                 folder.add("diagram-values.csv", io::diagram_columns_csv(report));
             },
             json, [&] { return io::diagram_text(report); }});
    if (cut_short) return interrupted;
    for (const orbit::Sweep s : sweeps)
        run.remove_tables(s == orbit::Sweep::restart ? "" : std::string("-") + sweep_name(s));
    return std::any_of(report.parts.begin(), report.parts.end(), has_points) ? done : failed;
}

}  // namespace saltus::cli
