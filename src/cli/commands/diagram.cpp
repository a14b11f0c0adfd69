// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/diagram.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "cli/interrupt.hpp"
#include "cli/progress.hpp"
#include "cli/section_option.hpp"
#include "saltus/base/text.hpp"
#include "saltus/io/model/load_model.hpp"
#include "saltus/io/report/orbit/diagram_report.hpp"
#include "saltus/io/results/provenance.hpp"
#include "saltus/io/results/result_folder.hpp"
#include "saltus/model/settings.hpp"
#include "saltus/orbit/diagram.hpp"
#include "saltus/sensitivity/study/event_study.hpp"

namespace saltus::cli {

namespace {

orbit::DiagramOptions diagram_options(const DiagramCommand& c, const io::LoadedModel& loaded) {
    const model::Model& m = loaded.model;
    orbit::DiagramOptions options;
    if (c.over.empty()) throw Error("the parameter to vary is not given", {"--over", 0, 0}, "write --over A=0.1:2:200");
    sensitivity::Vary vary;
    try {
        vary = sensitivity::vary_from_text(c.over);
    } catch (const Error& e) {
        throw Error(e.message(), {"--over", 0, 0}, "write --over NAME=FROM:TO:COUNT, or NAME=VALUE,VALUE,...");
    }
    std::vector<std::string> names;
    for (const model::Parameter& p : m.settings->parameters) names.push_back(p.name);
    if (std::find(names.begin(), names.end(), vary.name) == names.end())
        throw Error("unknown parameter '" + vary.name + "'", {"--over", 0, 0}, did_you_mean(vary.name, names));
    options.parameter = vary.name;
    options.values = vary.values;
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
    options.threads = c.common.threads;
    if (c.rtol) options.method.rtol = positive("--rtol", *c.rtol);
    if (c.atol) options.method.atol = positive("--atol", *c.atol);
    options.interrupted = interrupt_asked;
    return options;
}

std::vector<orbit::Sweep> sweeps_of(const std::string& name) {
    if (name == "restart") return {orbit::Sweep::restart};
    if (name == "up") return {orbit::Sweep::up};
    if (name == "down") return {orbit::Sweep::down};
    if (name == "both") return {orbit::Sweep::up, orbit::Sweep::down};
    throw Error("unknown sweep '" + name + "'", {"--sweep", 0, 0}, "choose restart, up, down or both");
}

const char* sweep_name(orbit::Sweep sweep) {
    return sweep == orbit::Sweep::restart ? "restart" : sweep == orbit::Sweep::up ? "up" : "down";
}

constexpr const char* diagram_name = "diagram.json";
std::string diagram_file(const DiagramCommand& c) { return c.common.out + "/" + diagram_name; }

/// The document of the interrupted run that --resume continues.
std::string earlier_document(const DiagramCommand& c, const std::vector<orbit::Sweep>& sweeps) {
    if (c.common.out.empty())
        throw Error("needs the result folder of the interrupted run", {"--resume", 0, 0}, "give --out");
    if (!c.section.empty() && sweeps.front() != orbit::Sweep::restart)
        throw Error("a sweep with --section cannot be resumed", {"--resume", 0, 0},
                    "the end of each motion is not stored; run it without --resume");
    std::optional<std::string> document = io::read_result(c.common.out, diagram_name);
    if (!document) throw Error("cannot be read", {diagram_file(c), 0, 0}, "run the command without --resume first");
    return std::move(*document);
}

}  // namespace

int diagram(const DiagramCommand& c) {
    const io::LoadedModel loaded = load(c.common);
    orbit::DiagramOptions options = diagram_options(c, loaded);
    const std::vector<orbit::Sweep> sweeps = sweeps_of(c.sweep);
    const std::string identity = io::model_hash(loaded.file.text, loaded.build.set) + " " + c.common.line;
    const std::string earlier = c.resume ? earlier_document(c, sweeps) : "";
    const auto out = open_results(c.common, "diagram", {c.common.model});
    listen_for_interrupts();
    io::DiagramReport report;
    report.exponents = c.exponents;
    report.identity = identity;
    report.warnings = loaded.model.warnings;
    const auto values = static_cast<double>(options.values.size());
    Progress progress(0.0, values * static_cast<double>(sweeps.size()), !c.common.quiet);
    for (std::size_t k = 0; k < sweeps.size(); ++k) {
        options.sweep = sweeps[k];
        options.known.clear();
        if (!earlier.empty())
            options.known = io::read_diagram_columns(earlier, sweep_name(sweeps[k]), identity, diagram_file(c));
        options.progress = [&](std::size_t done) {
            progress.at(values * static_cast<double>(k) + static_cast<double>(done));
        };
        report.parts.push_back({sweep_name(sweeps[k]), orbit::diagram(loaded.file.description, options)});
    }
    const bool cut_short = interrupt_asked();
    const auto json = [&] { return document_of(io::diagram_json(report), cut_short); };
    deliver(c.common, out.get(),
            {[&](io::ResultFolder& folder) {
                 folder.add(diagram_name, json());
                 folder.add("diagram.csv", io::diagram_points_csv(report));
                 folder.add("diagram-values.csv", io::diagram_columns_csv(report));
             },
             json, [&] { return io::diagram_text(report); }});
    return cut_short ? interrupted : done;
}

}  // namespace saltus::cli
