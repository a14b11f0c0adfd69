// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/branch/continue.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "cli/interrupt.hpp"
#include "cli/progress.hpp"
#include "cli/section_option.hpp"
#include "saltus/base/text.hpp"
#include "saltus/io/model/load_model.hpp"
#include "saltus/io/problem/fclib.hpp"
#include "saltus/io/report/orbit/branch_report.hpp"
#include "saltus/io/results/branch_file.hpp"
#include "saltus/io/results/branch_record.hpp"
#include "saltus/io/results/provenance.hpp"
#include "saltus/io/results/result_folder.hpp"
#include "saltus/model/model.hpp"
#include "saltus/model/settings.hpp"
#include "saltus/orbit/branch.hpp"

namespace saltus::cli {

namespace {

/// NAME=FROM:TO of --over. A third part, as of `diagram`, is refused.
void read_over(const std::string& text, orbit::BranchOptions& options) {
    const char* const how = "write --over NAME=FROM:TO";
    if (text.empty()) throw Error("the parameter to vary is not given", {"--over", 0, 0}, "write --over A=0.1:2");
    const std::size_t equals = text.find('='), colon = text.find(':', equals);
    if (equals == std::string::npos || colon == std::string::npos || equals == 0)
        throw Error("'" + text + "' is not a range of a parameter", {"--over", 0, 0}, how);
    options.parameter = text.substr(0, equals);
    const std::string ends[] = {text.substr(equals + 1, colon - equals - 1), text.substr(colon + 1)};
    double values[2] = {0.0, 0.0};
    for (int k = 0; k < 2; ++k) {
        std::size_t read = 0;
        try {
            values[k] = std::stod(ends[k], &read);
        } catch (const std::exception&) {
            read = 0;
        }
        if (read == 0 || read != ends[k].size() || !std::isfinite(values[k]))
            throw Error("'" + ends[k] + "' is not a number", {"--over", 0, 0}, how);
    }
    if (values[0] == values[1]) throw Error("the range is a single value", {"--over", 0, 0}, how);
    options.from = std::min(values[0], values[1]);
    options.to = std::max(values[0], values[1]);
    options.start = values[0];
}

/// NAME=FROM:TO of --and, or NAME: from half to twice its value.
void read_second(const std::string& text, const model::Model& m, orbit::BranchOptions& options) {
    const std::string name = text.substr(0, text.find('='));
    std::vector<std::string> names;
    for (const model::Parameter& p : m.settings->parameters) {
        names.push_back(p.name);
        if (p.name == name) options.second_start = p.value;
    }
    const Place place{"--and", 0, 0};
    if (std::find(names.begin(), names.end(), name) == names.end())
        throw Error("unknown parameter '" + name + "'", place, did_you_mean(name, names));
    if (name == options.parameter) throw Error("'" + name + "' is the first parameter, too", place);
    options.second = name;
    orbit::BranchOptions range;
    if (text.find('=') != std::string::npos) {
        try {
            read_over(text, range);
        } catch (const Error& e) {
            throw Error(e.message(), place, "write --and NAME=FROM:TO");
        }
    } else {
        range.from = std::min(0.5 * options.second_start, 2.0 * options.second_start);
        range.to = std::max(0.5 * options.second_start, 2.0 * options.second_start);
    }
    options.second_from = range.from;
    options.second_to = range.to;
    if (!(range.from < range.to) || options.second_start < range.from || options.second_start > range.to)
        throw Error("the value " + number_text(options.second_start) + " of '" + name + "' is not in its range", place,
                    "write --and NAME=FROM:TO around it, or change it with --set");
}

orbit::BranchOptions branch_options(const ContinueCommand& c, const io::LoadedModel& loaded) {
    const model::Model& m = loaded.model;
    orbit::BranchOptions options;
    read_over(c.over, options);
    std::vector<std::string> names;
    const model::Parameter* parameter = nullptr;
    for (const model::Parameter& p : m.settings->parameters) {
        names.push_back(p.name);
        if (p.name == options.parameter) parameter = &p;
    }
    if (parameter == nullptr)
        throw Error("unknown parameter '" + options.parameter + "'", {"--over", 0, 0},
                    did_you_mean(options.parameter, names));
    if (!c.also.empty()) read_second(c.also, m, options);
    // The branch begins at the value of the model if it lies in the range: the guess belongs to it.
    if (parameter->value >= options.from && parameter->value <= options.to) options.start = parameter->value;
    options.build = loaded.build;
    options.orbit = orbit_options(c.orbit, m);
    options.orbit.period.reset();
    options.period = c.orbit.period;
    if (c.orbit.search < 0) throw Error("the number of starts is negative", {"--search", 0, 0});
    options.search = c.orbit.search;
    options.threads = c.orbit.common.threads;
    options.step = positive("--step", c.step);
    if (c.points < 1)
        throw Error("points is " + std::to_string(c.points) + ", it must be at least 1", {"--points", 0, 0});
    options.max_points = c.points;
    if (c.doublings < 0) throw Error("the number of doublings is negative", {"--doublings", 0, 0});
    options.doublings = c.doublings;
    options.interrupted = interrupt_asked;
    return options;
}

/// Equilibria are followed if they are asked for, or if nothing says how an orbit is found.
bool wants_equilibria(const ContinueCommand& c, const model::Model& m) {
    const bool of_orbits = !c.orbit.period.empty() || !c.orbit.section.empty() || !c.orbit.symmetry.empty() ||
                           c.orbit.settle || c.orbit.search > 0;
    if (c.equilibria && of_orbits)
        throw Error("equilibria have no period, section, symmetry, settling or search", {"--equilibria", 0, 0},
                    "leave out --equilibria to follow orbits");
    if (c.equilibria || of_orbits) return c.equilibria;
    if (!m.autonomous)
        throw Error("the model depends on time, and the period of its excitation is not given", {"--period", 0, 0},
                    "give it, as in --period \"2*pi/w\"");
    return true;
}

/// What the interrupted run has computed that --resume continues.
orbit::BranchRecord earlier_record(const ContinueCommand& c, const std::string& identity) {
    const std::string& folder = c.orbit.common.out;
    if (folder.empty()) throw Error("needs the result folder of the interrupted run", {"--resume", 0, 0}, "give --out");
    // A run that was killed leaves its checkpoint, which is newer than the state that it began with.
    if (std::optional<orbit::BranchRecord> killed = io::read_branch_checkpoint(folder, identity))
        return std::move(*killed);
    const std::string path = folder + "/" + io::branch_record_name;
    const std::optional<std::string> text = io::read_result(folder, io::branch_record_name);
    if (!text)
        throw Error("cannot be read: the run in this folder is complete, or there is none", {path, 0, 0},
                    "run the command without --resume");
    return io::read_branch_record(*text, identity, path);
}

/// Stores the record of a run from time to time.
class Checkpoints {
public:
    Checkpoints(std::string folder, std::string identity)
        : folder_(std::move(folder)), identity_(std::move(identity)) {}

    void offer(const std::function<orbit::BranchRecord()>& record) {
        const Clock::time_point begin = Clock::now();
        if (begin < next_) return;
        io::write_branch_checkpoint(folder_, record(), identity_);
        const Clock::time_point end = Clock::now();
        next_ = end + std::max<Clock::duration>(shortest_pause, work_per_cost * (end - begin));
    }

private:
    using Clock = std::chrono::steady_clock;
    static constexpr std::chrono::milliseconds shortest_pause{500};
    /// Storing takes at most one part in so many of the time of a run.
    static constexpr int work_per_cost = 20;

    const std::string folder_, identity_;
    Clock::time_point next_ = Clock::now() + shortest_pause;
};

int code_of(const orbit::Branches& b, bool cut_short) {
    if (cut_short || !b.complete) return interrupted;
    const bool failure = !b.failure.empty() || std::any_of(b.branches.begin(), b.branches.end(),
                                                           [](const orbit::Branch& x) { return x.failed; });
    return failure ? failed : done;
}

}  // namespace

int continuation(const ContinueCommand& c) {
    const Common& common = c.orbit.common;
    const io::LoadedModel loaded = load(common);
    orbit::BranchOptions options = branch_options(c, loaded);
    const bool equilibria = wants_equilibria(c, loaded.model);
    if (equilibria && !options.second.empty())
        throw Error("curves over two parameters are those of orbits", {"--and", 0, 0}, "leave --and out");
    const std::string identity = io::model_hash(loaded.file.text, loaded.build.set) + " " + common.line;
    const orbit::BranchRecord known = c.resume ? earlier_record(c, identity) : orbit::BranchRecord{};
    if (c.resume) options.known = &known;
    const auto out = open_results(common, "continue", {common.model});
    std::optional<Checkpoints> checkpoints;
    if (out) {
        if (!c.resume) io::remove_branch_checkpoint(common.out);
        checkpoints.emplace(common.out, identity);
        options.checkpoint = [&](const std::function<orbit::BranchRecord()>& record) { checkpoints->offer(record); };
    }
    listen_for_interrupts();
    Progress progress(0.0, options.max_points, !common.quiet);
    options.progress = [&](std::size_t done) { progress.at(static_cast<double>(done)); };
    io::BranchReport report;
    report.warnings = loaded.model.warnings;
    report.result = equilibria ? orbit::continue_equilibria(loaded.file.description, options)
                               : orbit::continue_orbits(loaded.file.description, options);
    const bool cut_short = interrupt_asked();
    const auto json = [&] { return document_of(io::branch_json(report), cut_short); };
    deliver(common, out.get(),
            {[&](io::ResultFolder& folder) {
                 folder.add("continue.json", json());
                 folder.add("branches.csv", io::branch_points_csv(report));
                 folder.add("special.csv", io::branch_special_csv(report));
                 if (!report.result.curves.empty()) folder.add("curves.csv", io::branch_curves_csv(report));
                 if (io::has_hdf5())
                     io::add_branches(folder, "branches.h5", report.result);
                 else if (!common.quiet)
                     tell("saltus: branches.h5 is not written because Saltus was built without HDF5");
                 if (cut_short)
                     folder.add(io::branch_record_name, io::branch_record_text(report.result.record, identity));
             },
             json, [&] { return io::branch_text(report); }});
    if (out) io::remove_branch_checkpoint(common.out);  // the files that were just written have all of it
    return code_of(report.result, cut_short);
}

}  // namespace saltus::cli
