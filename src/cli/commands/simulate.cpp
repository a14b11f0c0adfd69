// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/simulate.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "cli/commands/gain_study.hpp"
#include "cli/commands/simulate_plan.hpp"
#include "cli/interrupt.hpp"
#include "cli/progress.hpp"
#include "cli/section_option.hpp"
#include "saltus/base/memory.hpp"
#include "saltus/base/stop.hpp"
#include "saltus/base/text.hpp"
#include "saltus/integrate/event/recording.hpp"
#include "saltus/integrate/outputs.hpp"
#include "saltus/integrate/resume.hpp"
#include "saltus/io/model/load_model.hpp"
#include "saltus/io/problem/fclib.hpp"
#include "saltus/io/report/orbit/section_report.hpp"
#include "saltus/io/report/simulate_report.hpp"
#include "saltus/io/results/motion_files.hpp"
#include "saltus/io/results/provenance.hpp"
#include "saltus/io/results/result_folder.hpp"
#include "saltus/model/outputs.hpp"
#include "saltus/orbit/section.hpp"
#include "saltus/stability/lyapunov_balance.hpp"

namespace saltus::cli {

using trajectory::LyapunovBalance;
using trajectory::Trajectory;

namespace {

constexpr const char* model_name = "model.toml";  // the copy of the model file
constexpr long default_rows = 1001;               // of states.csv

int rows_of(const SimulateCommand& c) { return static_cast<int>(c.random.samples.value_or(default_rows)); }

/// Options that say something about many runs only.
void refuse_for_one_motion(const SimulateCommand& c) {
    const auto refuse = [](bool given, const char* option) {
        if (given)
            throw Error("is for many runs", {option, 0, 0}, "give --vary NAME=FROM:TO:COUNT, or --samples with --box");
    };
    refuse(!c.ask.empty(), "--ask");
    refuse(!c.ensemble.shard.empty(), "--shard");
    refuse(c.ensemble.resume, "--resume");
    refuse(c.ensemble.device != "auto" && c.ensemble.device != "cpu", "--device");
}

/// Ends a run whose motion stays in memory before the memory is used up, so that what exists can be written.
class MemoryWatch {
public:
    /// Whether the run has to end. It looks only now and then.
    bool ends_run() {
        constexpr int calls_between_looks = 64;
        if (++calls_ % calls_between_looks == 0) ended_ = available_memory() < parts_for_results * used_memory();
        return ended_;
    }
    bool ended() const { return ended_; }

private:
    /// Outputs and files need memory: at most so many times what the run uses. Too small: the results do not fit into
    /// memory and are lost.
    static constexpr double parts_for_results = 2.5;
    int calls_ = 0;
    bool ended_ = false;
};

/// Ends a run before its files do not fit onto the disk any more, so that what exists can be written.
class DiskWatch {
public:
    explicit DiskWatch(const std::string& folder) : folder_(folder) {}

    /// To be called after each part of the motion, with the sizes of the files so far. Temporary files grow with them.
    /// If they do not fit now then nothing is gained by an early end.
    void look(const io::MotionFiles::Sizes& now) {
        constexpr double parts_ahead = 2.0;  // parts may grow; too small: the motion is lost with the next part
        const double growth = parts_ahead * (now.all - before_.all);
        const double growth_of_largest = parts_ahead * (now.largest - before_.largest);
        before_ = now;
        const double disk = available_disk(folder_), file = largest_file();
        const auto fit = [&](double all, double largest, double taken) {
            constexpr double margin = 1.05;          // the sizes are estimates
            constexpr double other_files = 1 << 20;  // bytes: the model, names, the overhead of HDF5
            return margin * all + other_files <= disk - taken && margin * largest + other_files <= file;
        };
        if (fit(now.all, now.largest, 0.0) && !fit(now.all + growth, now.largest + growth_of_largest, growth))
            ended_ = true;
    }
    bool ended() const { return ended_; }

private:
    std::string folder_;
    io::MotionFiles::Sizes before_;
    bool ended_ = false;
};

/// What a run gives besides its motion.
struct Results {
    LyapunovBalance balance;  ///< first and last row, and errors; empty if it is not wanted
    integrate::ResumePoint resume;
    trajectory::MotionSummary summary;               ///< what follows from the arcs
    std::optional<trajectory::OutputCurves> curves;  ///< derived quantities of the model, for the files
    std::vector<trajectory::State> section;          ///< where the motion passes --section
    std::optional<Error> not_written;  ///< a temporary file could not be written, and the motion ended there
    /// The motion ended early because this is nearly used up: "memory" or "disk". Null: it did not.
    const char* used_up = nullptr;
};

/// The model goes with its motion, so that a report can draw it.
void add_files(io::ResultFolder& folder, const SimulateCommand& c, const io::ModelFile& file, const Trajectory& t,
               double t_end, const Results& results, io::MotionFiles& files) {
    if (results.not_written) throw Error(*results.not_written);
    folder.add(model_name, file.text);
    if (!io::has_hdf5() && !c.common.quiet)
        std::fprintf(stderr, "saltus: %s is not written because Saltus was built without HDF5\n", io::trajectory_name);
    if (!c.section.empty()) folder.add("section.csv", io::section_csv(t.coordinates, results.section));
    files.write(t, t_end, results.balance, results.summary, results.resume, rows_of(c),
                results.curves ? &*results.curves : nullptr);
}

/// The arcs and events of a motion that is short enough to be summed up in memory.
class ShortMotion {
public:
    /// Without a limit the motion may be long.
    explicit ShortMotion(bool limited) : limited_(limited) {}
    void add(integrate::MotionPart part) {
        constexpr std::size_t max_bytes = std::size_t{64} << 20U;  // larger: longer motions, and more memory
        for (const trajectory::Arc& arc : part.arcs)
            for (const ode::Dense& step : arc.steps) bytes_ += integrate::bytes_of(step);
        bytes_ += part.events.size() * integrate::bytes_of_event(static_cast<int>(part.start.q.size()));
        if (limited_ && bytes_ > max_bytes) {
            arcs_ = {};
            events_ = {};
            return;
        }
        auto arc = part.arcs.begin();
        if (part.continues_arc && arc != part.arcs.end() && !arcs_.empty()) {
            trajectory::Arc& last = arcs_.back();
            last.t_end = arc->t_end;
            last.modes = arc->modes;
            std::move(arc->steps.begin(), arc->steps.end(), std::back_inserter(last.steps));
            ++arc;
        }
        std::move(arc, part.arcs.end(), std::back_inserter(arcs_));
        std::move(part.events.begin(), part.events.end(), std::back_inserter(events_));
    }
    /// `t` has everything but arcs and events. Without arcs, or if the motion is too long, nothing is known. Nor if the
    /// motion was interrupted and this takes long: it follows the whole motion again, with the forces of each mode.
    trajectory::MotionSummary summary(const model::Model& m, Trajectory& t) {
        using Clock = std::chrono::steady_clock;
        constexpr auto after_an_interrupt = std::chrono::milliseconds(500);
        if (arcs_.empty()) return {};
        std::swap(t.arcs, arcs_);
        std::swap(t.events, events_);
        trajectory::MotionSummary out;
        try {
            std::function<bool()> over;
            if (t.status == trajectory::Status::interrupted && interrupt_asked())
                over = [end = Clock::now() + after_an_interrupt] { return Clock::now() > end; };
            const Stoppable here(over);
            out = integrate::summarise(m, t);
        } catch (const Stopped&) {
            t.warnings.emplace_back("mean forces and outputs are left out: they would take long after an interrupt");
        }
        std::swap(t.arcs, arcs_);
        std::swap(t.events, events_);
        return out;
    }

private:
    bool limited_;
    std::size_t bytes_ = 0;  // of the whole motion
    std::vector<trajectory::Arc> arcs_;
    std::vector<trajectory::Event> events_;
};

/// Runs the motion. Its parts go to `files` while it runs. Outputs of the model need the whole motion: it then stays in
/// memory, and goes to `files` at the end.
Trajectory run(const SimulateCommand& c, const io::LoadedModel& loaded, const Plan& plan, io::MotionFiles& files,
               Results& results) {
    const model::Model& m = loaded.model;
    const bool has_outputs = model::has_outputs(m);
    integrate::Options options;
    options.t_end = plan.t_end;
    options.energy = plan.energy;
    options.rate_jumps = true;
    if (plan.restarted) options.start = plan.start;
    listen_for_interrupts();
    MemoryWatch memory;
    DiskWatch disk(c.common.out);
    options.interrupted = [&] {
        return interrupt_asked() || results.not_written || disk.ended() || (has_outputs && memory.ends_run());
    };
    Progress progress(plan.start.t, plan.t_end, !c.common.quiet);
    options.progress = [&](double t) { progress.at(t); };
    const std::string section = c.section.empty() ? "" : section_expression(m, c.section);
    const bool with_balance = c.balance || !c.common.out.empty();
    stability::LyapunovAccount account(m);
    ShortMotion kept(!has_outputs);
    const integrate::MotionSink sink = [&](integrate::MotionPart part) {
        if (results.not_written) return;
        try {
            files.add(part, with_balance ? account.add(part) : LyapunovBalance{});
            if (!c.common.out.empty() && !has_outputs) disk.look(files.sizes(rows_of(c)));
        } catch (const Error& e) {
            const Place place{c.common.out.empty() ? e.place().file : c.common.out, 0, 0};
            results.not_written = Error(e.message(), place, e.remedy());
        }
        if (!section.empty())
            for (trajectory::State& s : orbit::section_points(m, section, part.arcs))
                results.section.push_back(std::move(s));
        kept.add(std::move(part));
    };
    integrate::ResumableMotion made = integrate::simulate_resumable(
        m, plan.method, options, with_balance ? integrate::Record::yes : integrate::Record::no,
        plan.earlier ? &*plan.earlier : nullptr, has_outputs ? integrate::MotionSink() : sink);
    const Delivering now;
    if (memory.ended()) results.used_up = "memory";
    if (disk.ended() && made.motion.motion.status == trajectory::Status::interrupted) results.used_up = "disk";
    results.resume = std::move(made.resume);
    Trajectory t = std::move(made.motion.motion);
    if (has_outputs) {
        if (!c.common.out.empty()) {
            integrate::OutputCourse course(m, t);
            results.curves = io::output_curves(t, rows_of(c), course, m);
        }
        integrate::MotionPart part;
        part.start = t.start;
        part.arcs = std::exchange(t.arcs, {});
        part.events = std::exchange(t.events, {});
        part.recording = std::move(made.motion.recording);
        sink(std::move(part));
    }
    results.balance = account.ends();
    if (results.not_written) {
        t.status = trajectory::Status::failed;
        t.reason = has_outputs
                       ? "the files of the motion cannot be written, and its events are not complete here"
                       : "the motion ends at t = " + number_text(t.end.t) + " because its files cannot be written";
    } else if (results.used_up != nullptr) {
        t.reason = "the " + std::string(results.used_up) + " is nearly used up at t = " + number_text(t.end.t) +
                   ": the motion ends here; " +
                   (c.common.out.empty() ? "what exists is printed, nothing is written without --out"
                                         : "what exists is written, and --restart continues it to the same bits");
    }
    io::record_provenance(t, loaded, plan.method, options, c.restart);
    t.warnings.insert(t.warnings.begin(), plan.warnings.begin(), plan.warnings.end());
    results.summary = kept.summary(m, t);
    return t;
}

}  // namespace

int simulate(const SimulateCommand& c) {
    if (!c.vary.empty() || !c.random.box.empty() || !c.solve_for.empty() || !c.target.empty()) {
        if (!c.section.empty())
            throw Error("a section is for one motion", {"--section", 0, 0},
                        "ask for the points of many with --ask \"section(x = 0)\", or use `saltus diagram`");
        return gain_study(c);
    }
    constexpr long max_samples = 10'000'000;  // states.csv has some GB then; writing it is not interrupted
    if (const long n = c.random.samples.value_or(default_rows); n < 2 || n > max_samples)
        throw Error("samples is " + std::to_string(n) + ", it must be at " +
                        (n < 2 ? "least 2" : "most " + std::to_string(max_samples)),
                    {"--samples", 0, 0},
                    n < 2 ? "" : "trajectory.h5 has the motion at all times; random runs need --box");
    refuse_for_one_motion(c);
    const io::LoadedModel loaded = load(c.common, c.perturbed, c.method);
    if (c.perturbed && !loaded.model.perturbable)
        throw Error("the model has no [perturbation]", {c.common.model, 0, 0}, "add one, or omit --perturbed");
    const Plan plan = make_plan(c, loaded);
    if (!c.section.empty()) {
        (void)section_expression(loaded.model, c.section);
        if (std::holds_alternative<integrate::Moreau>(plan.method))
            throw Error("passages of a section are located on smooth arcs", {"--section", 0, 0},
                        "use --method event or penalty");
    }
    const auto out = open_results(c.common, "simulate", {c.common.model, c.restart});
    for (const char* const name : {model_name, io::trajectory_name})
        if (out) out->refuse_name(name);
    io::MotionFiles files(loaded.model, out.get(), c.common.json);
    Results results;
    const Trajectory t = run(c, loaded, plan, files, results);
    Delivery delivery;
    delivery.files = [&](io::ResultFolder& folder) {
        add_files(folder, c, loaded.file, t, plan.t_end, results, files);
    };
    delivery.json_pieces = [&](const io::TakeText& take) {
        if (c.section.empty()) {
            files.json(t, plan.t_end, results.balance, results.summary, io::Timing::included, take);
            return;
        }
        std::string document;
        files.json(t, plan.t_end, results.balance, results.summary, io::Timing::included,
                   [&](std::string_view piece) { document += piece; });
        take(io::with_section(document, t.coordinates, results.section));
    };
    delivery.text = [&] {
        std::string text = io::simulate_text(t, plan.t_end, &results.balance, &files.events(), &results.summary);
        if (!c.section.empty())
            text += "  section     passed " + std::to_string(results.section.size()) + " times upwards: " + c.section +
                    "\n";
        return text;
    };
    deliver(c.common, out.get(), delivery);
    if (results.not_written) throw Error(*results.not_written);
    if (results.used_up != nullptr) tell("saltus: failure: " + t.reason);
    return results.used_up != nullptr ? failed : exit_code(t.status);
}

}  // namespace saltus::cli
