// SPDX-License-Identifier: Apache-2.0
#include "saltus/control/gains/gain_study.hpp"

#include <algorithm>
#include <variant>

#include "saltus/base/error.hpp"
#include "saltus/base/text.hpp"
#include "saltus/control/gains/detail/run_bytes.hpp"
#include "saltus/ensemble/model_maker.hpp"
#include "saltus/model/build.hpp"
#include "saltus/model/model.hpp"
#include "saltus/model/outputs.hpp"

namespace saltus::control {

namespace {

/// All numbers of so many runs fit into memory.
constexpr double max_runs = 1e6;

}  // namespace

ContactModel contacts_of(const integrate::Method& method) {
    return std::holds_alternative<integrate::Penalty>(method) ? ContactModel::springs : ContactModel::rigid;
}

double stiffness_of(const integrate::Method& method) {
    const auto* const penalty = std::get_if<integrate::Penalty>(&method);
    return penalty == nullptr ? 1.0 : penalty->stiffness;
}

std::vector<std::string> element_names(const model::Model& model) {
    std::vector<std::string> names;
    for (const auto& e : model.contacts) names.push_back(e.name);
    for (const auto& e : model.constraints) names.push_back(e.name);
    for (const auto& e : model.sliders) names.push_back(e.name);
    for (const auto& e : model.clutches) names.push_back(e.name);
    return names;
}

StudiedRun studied_run(const model::Model& model, const RunOptions& options, const std::vector<double>& values) {
    StudiedRun run;
    run.values = values;
    integrate::Method method = options.method;
    std::visit([](auto& m) { m.keep_arcs = true; }, method);
    integrate::Options o;
    o.t_end = options.t_end;
    o.start = options.start;
    o.energy = options.energy;
    o.interrupted = options.interrupted;
    const trajectory::Trajectory motion = integrate::simulate(model, method, o);
    run.measures = measure(model, motion, contacts_of(method), stiffness_of(method), options.measure);
    run.done = motion.status != trajectory::Status::interrupted;
    return run;
}

namespace {

std::vector<std::string> names_of(const ensemble::Starts& starts, const RunOptions& options) {
    const char* const option = starts.sampled() ? "--box" : "--vary";
    std::vector<std::string> names;
    for (const ensemble::Axis& a : starts.axes) {
        for (const auto& [name, value] : options.build.set)
            if (name == a.name)
                throw Error("'" + name + "' is both set and varied", {option, 0, 0}, "drop one of the two");
        if (std::find(names.begin(), names.end(), a.name) != names.end())
            throw Error("'" + a.name + "' is varied twice", {option, 0, 0}, "drop one of the two");
        names.push_back(a.name);
    }
    if (static_cast<double>(starts.size()) > max_runs)
        throw Error("the study has more than 1e6 runs", {option, 0, 0},
                    "give fewer values, or ask for single numbers with --ask");
    return names;
}

}  // namespace

GainStudy study_gains(const model::Description& description, const ensemble::Starts& starts, const RunOptions& options,
                      const StudyPlace& place) {
    SALTUS_EXPECT(!starts.axes.empty());
    const ensemble::ModelMaker maker(description, options.build, names_of(starts, options));
    GainStudy study;
    const model::Model nominal = model::build(description, options.build);
    study.model = nominal.name;
    study.coordinates = nominal.coordinates;
    study.elements = element_names(nominal);
    study.constraints = nominal.constraints.size();
    if (const model::Outputs* const outputs = nominal.outputs.get())
        for (const model::Output& o : outputs->list) study.outputs.push_back(o.name);
    study.starts = starts;
    ensemble::FunctionWork work([&](const ensemble::RunRequest& run) -> std::optional<std::string> {
        StudiedRun made;
        try {
            made = studied_run(maker.at(run.values), options, run.values);
        } catch (const Error& e) {
            if (!starts.sampled()) throw;
            made.refused = e.message();
            made.done = true;
        }
        if (!made.done) return {};
        return bytes_of(made);
    });
    ensemble::Engine engine(work, place.engine);
    if (!engine.leads()) {
        engine.serve();
        return study;
    }
    ensemble::Table memory(0, starts.size());
    ensemble::Table& table = place.table != nullptr ? *place.table : memory;
    ensemble::Round round;
    round.count = starts.size();
    round.axes = starts.axes.size();
    round.shard = place.shard;
    round.values = [&](std::size_t k, std::span<double> x) { starts.values(k, x); };
    round.progress = place.progress;
    const ensemble::Dismissal at_the_end(engine);
    study.complete = ensemble::make(engine, table, round) && place.shard.whole();
    study.runs.resize(starts.size());
    for (std::size_t k = 0; k < study.runs.size(); ++k) {
        study.runs[k].values.resize(starts.axes.size());
        starts.values(k, study.runs[k].values);
    }
    table.scan(0, starts.size(), [&](std::size_t k, std::string_view bytes) { read(bytes, study.runs[k]); });
    return study;
}

}  // namespace saltus::control
