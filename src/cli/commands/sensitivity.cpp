// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/sensitivity.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>

#include "cli/ensemble_options.hpp"
#include "cli/interrupt.hpp"
#include "cli/progress.hpp"
#include "saltus/base/text.hpp"
#include "saltus/io/model/load_model.hpp"
#include "saltus/io/report/pair_report.hpp"
#include "saltus/io/report/sensitivity_report.hpp"
#include "saltus/io/report/study_report.hpp"
#include "saltus/io/results/result_folder.hpp"
#include "saltus/model/model.hpp"
#include "saltus/model/settings.hpp"
#include "saltus/model/support.hpp"

namespace saltus::cli {

namespace {

/// If --wrt is not given and there are more variables than this, a warning suggests to name some.
constexpr std::size_t max_unnamed_variables = 12;
/// If --wrt is not given and there are more variables than this, initial values are not differentiated by.
constexpr std::size_t max_with_initial_values = 64;

/// Tolerances of the motion relative to those of `saltus simulate`. Forces that nearly cancel, as at a lift-off, lose
/// digits in their differences, so the motion is computed more accurately.
constexpr double tolerance_factor = 0.1;

std::vector<std::string> listed_names(const std::vector<std::string>& texts) {
    std::vector<std::string> list;
    for (const std::string& text : texts)
        for (std::size_t at = 0; at <= text.size();) {
            const std::size_t comma = std::min(text.find(',', at), text.size());
            std::size_t begin = at, end = comma;
            while (begin < end && text[begin] == ' ') ++begin;
            while (end > begin && text[end - 1] == ' ') --end;
            if (end > begin) list.push_back(text.substr(begin, end - begin));
            at = comma + 1;
        }
    return list;
}

integrate::Method method_of(const SensitivityCommand& c, const model::Model& m) {
    const std::string name = !c.method.empty()                          ? c.method
                             : m.settings->simulate.method == "penalty" ? m.settings->simulate.method
                                                                        : std::string("event");
    const auto tolerances = [&](auto method) {
        method.rtol *= tolerance_factor, method.atol *= tolerance_factor;
        method.rtol = positive("--rtol", c.rtol.value_or(m.settings->simulate.rtol.value_or(method.rtol)));
        method.atol = positive("--atol", c.atol.value_or(m.settings->simulate.atol.value_or(method.atol)));
        return method;
    };
    if (name == "event") return tolerances(integrate::EventDriven{});
    if (name == "moreau")
        throw Error("time-stepping does not locate its events, which derivatives need", {"--method", 0, 0},
                    "allowed are event and penalty");
    if (name != "penalty")
        throw Error("unknown method '" + name + "'", {"--method", 0, 0}, "allowed are event and penalty");
    model::refuse_unsupported(m, model::Analysis::penalty, {c.common.model, 0, 0});
    return tolerances(integrate::Penalty{});
}

/// The model, with the options of its motion.
struct Question {
    model::Description description;
    model::BuildOptions build;
    double t_end = 0.0;
    integrate::Method method;
};

/// The variables of --wrt. Without --wrt: all initial values and parameters; if there are very many, parameters only.
std::vector<sensitivity::Variable> variables_of(const SensitivityCommand& c, const Question& q, const model::Model& m,
                                                io::SensitivityReport& report) {
    if (const std::vector<std::string> names = listed_names(c.wrt); !names.empty())
        return sensitivity::variables(m, names, &q.description);
    if (!c.wrt.empty())
        throw Error("contains no name", {"--wrt", 0, 0}, "give names such as x,x',k, or omit --wrt for all");
    std::vector<sensitivity::Variable> list = sensitivity::all_variables(m);
    if (c.adjoint || list.size() <= max_unnamed_variables) return list;
    const auto initial = std::partition_point(list.begin(), list.end(), [](const sensitivity::Variable& v) {
        return v.kind != sensitivity::Variable::Kind::parameter;
    });
    std::string of = "initial values and parameters";
    if (list.size() > max_with_initial_values && initial != list.end()) {
        list.erase(list.begin(), initial);
        of = "parameters, and none of the initial values";
    }
    report.warnings.push_back("derivatives with respect to all " + std::to_string(list.size()) + " " + of +
                              "; name those you want with --wrt");
    return list;
}

void differentiate(const SensitivityCommand& c, const Question& q, io::SensitivityReport& report) {
    model::BuildOptions build = q.build;
    build.perturbed = c.perturbed;
    const model::Model m = model::build(q.description, build);
    const std::vector<sensitivity::Variable> wrt = variables_of(c, q, m, report);
    if (c.output)
        sensitivity::output_of(m, *c.output, 0.0, m.q0,
                               m.u0);  // throws for a bad expression, before the motion is computed
    sensitivity::Options options;
    options.method = q.method;
    std::visit([](auto& method) { method.keep_arcs = false; }, options.method);
    options.t_end = q.t_end;
    options.output = report.output = c.output.value_or("");
    options.adjoint = report.adjoint = c.adjoint;
    options.keep_history = !c.common.out.empty();
    options.threads = c.common.threads;
    options.interrupted = interrupt_asked;
    Progress progress(0.0, q.t_end, !c.common.quiet);
    options.progress = [&](double t) { progress.at(t); };
    report.result = sensitivity::sensitivity(m, wrt, options);
    report.warnings.insert(report.warnings.end(), report.result->motion.warnings.begin(),
                           report.result->motion.warnings.end());
    if (c.check && report.result->available)
        report.check = sensitivity::differences(q.description, build, *report.result, options);
}

/// Sets what pairs and studies share: the model's parameters and the motion.
template <class Options>
void set_run(const Question& q, const integrate::EventDriven& method, Options& options) {
    options.set = q.build.set;
    options.project_initial = q.build.project_initial;
    options.t_end = q.t_end;
    options.method = method;
}

void compare_perturbed(const SensitivityCommand& c, const Question& q, io::SensitivityReport& report) {
    const auto* const method = std::get_if<integrate::EventDriven>(&q.method);
    if (method == nullptr) {
        report.warnings.push_back("no perturbed pair: the theorems are about rigid contacts; use --method event");
        return;
    }
    sensitivity::PairOptions options;
    set_run(q, *method, options);
    options.threads = c.common.threads;
    options.interrupted = interrupt_asked;
    report.pair = sensitivity::perturbed_pair(q.description, options);
}

/// The runs of --vary, as an ensemble.
class Study {
public:
    Study(const SensitivityCommand& c, std::string model_text)
        : starts_(gridded_starts(c.vary, "--vary")),
          run_(c.ensemble, c.common, "sensitivity", starts_.size()),
          purpose_(purpose_of(model_text, c.common, "")),
          threads_(c.common.threads),
          resumed_(c.ensemble.resume) {
        // Of each run 3 kB, and 28 kB while it is written (bouncing ball with three events). A part writes only its
        // table.
        if (run_.whole()) refuse_kept_runs(starts_.size(), prints_text_alone(c.common) ? 3000.0 : 28000.0, "--vary");
    }

    EnsembleRun& run() { return run_; }
    void make(const Question& q, io::SensitivityReport& report) {
        sensitivity::EventStudyOptions options;
        options.vary = starts_.axes;
        const auto* const method = std::get_if<integrate::EventDriven>(&q.method);
        if (method == nullptr)
            throw Error("a study needs events of rigid contacts", {"--method", 0, 0},
                        "use --method event, or omit --vary");
        set_run(q, *method, options);
        table_ = run_.open_table(purpose_, 0);
        options.engine = {threads_, run_.ranks(), interrupt_asked};
        options.shard = run_.shard();
        options.table = table_.get();
        options.progress = [this, show = run_.progress()](std::size_t done, std::size_t of) {
            ++made_;
            show(done, of);
        };
        try {
            report.study = sensitivity::study_events(q.description, options);
        } catch (const Error&) {  // the study does not fit the model: nothing is kept that nobody can continue
            table_.reset();
            if (run_.leads() && run_.whole() && !resumed_) run_.remove_tables();
            throw;
        }
    }
    int deliver_part(const std::string& model) const { return run_.deliver_part(*table_, model, made_); }

private:
    const ensemble::Starts starts_;
    EnsembleRun run_;
    const std::string purpose_;
    const int threads_;
    const bool resumed_;
    std::shared_ptr<ensemble::Table> table_;
    std::size_t made_ = 0;
};

void add_files(io::ResultFolder& folder, const io::SensitivityReport& report, bool cut_short) {
    if (report.result) {
        folder.add("event-times.csv", io::sensitivity_events_csv(report));
        if (const std::string course = io::sensitivity_course_csv(report); !course.empty())
            folder.add("derivatives.csv", course);
    }
    if (report.pair) folder.add("pair.csv", io::pair_csv(*report.pair));
    if (report.study) folder.add("event-study.csv", io::study_csv(*report.study));
    if (report.study && report.study->perturbation)
        folder.add("pair-study.csv", io::study_constants_csv(*report.study));
    folder.add("sensitivity.json", document_of(io::sensitivity_json(report, io::Timing::left_out), cut_short));
}

bool completed(const io::SensitivityReport& report) {
    using trajectory::Status;
    bool all = !report.result || report.result->available;
    all = all && (!report.check || report.check->confirmed());
    if (report.pair)
        all = all && report.pair->nominal.status == Status::completed &&
              report.pair->perturbed.status == Status::completed;
    if (report.study) {
        all = all && report.study->nominal_status == Status::completed;
        for (const sensitivity::EventStudyRun& run : report.study->runs) all = all && run.status == Status::completed;
    }
    return all;
}

/// Prints the report and writes its files.
void write(const SensitivityCommand& c, const io::SensitivityReport& report, io::ResultFolder* out, bool cut_short) {
    deliver(c.common, out,
            {[&](io::ResultFolder& folder) { add_files(folder, report, cut_short); },
             [&] { return document_of(io::sensitivity_json(report), cut_short); },
             [&] { return io::sensitivity_text(report); }});
}

}  // namespace

int sensitivity(const SensitivityCommand& c) {
    Question q;
    const io::LoadedModel loaded = load(c.common, false, c.method);
    const model::Model& m = loaded.model;
    q.description = loaded.file.description;
    q.build = loaded.build;
    if (c.perturbed && !m.perturbable)
        throw Error("the model has no [perturbation]", {c.common.model, 0, 0}, "add one, or omit --perturbed");
    if (c.output && c.output->find_first_not_of(" \t") == std::string::npos)
        throw Error("is empty", {"--output", 0, 0},
                    "give an expression of the final state such as \"x\", or leave it out");
    if (c.adjoint && !c.output)
        throw Error("needs an output", {"--adjoint", 0, 0}, "give --output \"x\" or another expression");
    q.method = method_of(c, m);
    q.t_end = end_time("--t-end", c.t_end, m, c.common.model);

    io::SensitivityReport report;
    report.model = m.name;
    std::optional<Study> study;
    if (!c.vary.empty()) {
        study.emplace(c, loaded.file.text);
    } else {
        for (const auto& [given, name] :
             {std::pair{c.ensemble.resume, "--resume"}, std::pair{!c.ensemble.shard.empty(), "--shard"}})
            if (given) throw Error("belongs to a study of many motions", {name, 0, 0}, "add --vary k=1:2:20");
    }
    const auto out = study ? study->run().open_results("sensitivity", {c.common.model})
                           : open_results(c.common, "sensitivity", {c.common.model});
    listen_for_interrupts();
    // With --vary alone, only the study is computed.
    const bool derivatives = c.vary.empty() || !c.wrt.empty() || c.output || c.check;
    if (study) {
        study->make(q, report);
        if (!study->run().leads()) return done;
        if (!study->run().whole()) return study->deliver_part(m.name);
    }
    const io::SensitivityReport before = report;
    const auto differentiate_all = [&] {
        if (derivatives && !interrupt_asked()) differentiate(c, q, report);
        if (derivatives && m.perturbable && !interrupt_asked()) compare_perturbed(c, q, report);
    };
    if (!finishes(differentiate_all)) {
        write(c, before, out.get(), true);
        tell("saltus: " + interrupt_reason() + "; the derivatives are missing");
        abandon(interrupted);
    }
    const bool cut_short = interrupt_asked();
    write(c, report, out.get(), cut_short);
    if (cut_short) return interrupted;
    if (study) study->run().remove_tables();
    return completed(report) ? done : failed;
}

}  // namespace saltus::cli
