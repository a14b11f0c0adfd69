// SPDX-License-Identifier: Apache-2.0
#include "saltus/control/gains/gain_study.hpp"

#include <variant>

#include "saltus/base/error.hpp"
#include "saltus/base/text.hpp"
#include "saltus/ensemble/parallel_for.hpp"
#include "saltus/model/build.hpp"
#include "saltus/model/model.hpp"
#include "saltus/model/outputs.hpp"

namespace saltus::control {

namespace {

constexpr std::size_t max_runs = 1'000'000;

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

model::Model built(const model::Description& description, const RunOptions& options,
                   const std::vector<std::string>& names, const std::vector<double>& values) {
    model::BuildOptions build = options.build;
    for (std::size_t p = 0; p < names.size(); ++p) build.set.emplace_back(names[p], number_text(values[p]));
    try {
        return model::build(description, build);
    } catch (const Error& e) {
        std::string where;
        for (std::size_t p = 0; p < names.size(); ++p)
            where += (p == 0 ? "" : ", ") + names[p] + " = " + number_text(values[p]);
        throw Error("with " + where + ": " + e.message(), e.place(), e.remedy());
    }
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

GainStudy study_gains(const model::Description& description, const std::vector<sensitivity::Vary>& vary,
                      const RunOptions& options) {
    SALTUS_EXPECT(!vary.empty());
    std::size_t count = 1;
    std::vector<std::string> names;
    for (const sensitivity::Vary& v : vary) {
        SALTUS_EXPECT(!v.values.empty());
        count *= v.values.size();
        if (count > max_runs)
            throw Error("the study has more than " + std::to_string(max_runs) + " runs", {"--vary", 0, 0},
                        "give fewer values");
        for (const auto& [name, value] : options.build.set)
            if (name == v.name)
                throw Error("'" + name + "' is both set and varied", {"--vary", 0, 0}, "drop one of the two");
        for (const std::string& name : names)
            if (name == v.name) throw Error("'" + name + "' is varied twice", {"--vary", 0, 0}, "drop one of the two");
        names.push_back(v.name);
    }
    GainStudy study;
    const model::Model nominal = model::build(description, options.build);
    study.model = nominal.name;
    study.coordinates = nominal.coordinates;
    study.elements = element_names(nominal);
    study.constraints = nominal.constraints.size();
    if (const model::Outputs* const outputs = nominal.outputs.get())
        for (const model::Output& o : outputs->list) study.outputs.push_back(o.name);
    study.vary = vary;
    study.runs.resize(count);
    for (std::size_t r = 0; r < count; ++r) {
        std::size_t rest = r;
        study.runs[r].values.resize(vary.size());
        for (std::size_t p = vary.size(); p-- > 0;) {
            study.runs[r].values[p] = vary[p].values[rest % vary[p].values.size()];
            rest /= vary[p].values.size();
        }
    }
    const auto one = [&](std::size_t r) {
        const std::vector<double> values = study.runs[r].values;
        study.runs[r] = studied_run(built(description, options, names, values), options, values);
    };
    study.complete = ensemble::parallel_for(count, one, {options.threads, options.interrupted, options.progress});
    for (const StudiedRun& run : study.runs) study.complete = study.complete && run.done;
    return study;
}

}  // namespace saltus::control
