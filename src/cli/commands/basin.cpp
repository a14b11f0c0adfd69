// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/basin.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>

#include "cli/interrupt.hpp"
#include "cli/section_option.hpp"
#include "saltus/base/fnv1a.hpp"
#include "saltus/base/text.hpp"
#include "saltus/base/version.hpp"
#include "saltus/control/regulation/regulation.hpp"
#include "saltus/ensemble/axis_text.hpp"
#include "saltus/io/model/load_model.hpp"
#include "saltus/io/page/basin_image.hpp"
#include "saltus/io/page/basin_live.hpp"
#include "saltus/io/problem/fclib.hpp"
#include "saltus/io/report/basin_report.hpp"
#include "saltus/io/results/basin_file.hpp"
#include "saltus/io/results/files.hpp"
#include "saltus/io/results/result_folder.hpp"
#include "saltus/model/build.hpp"
#include "saltus/model/settings.hpp"
#include "saltus/orbit/orbit_states.hpp"
#include "saltus/stability/basin/basin_capture.hpp"
#include "saltus/stability/basin/basin_preview.hpp"
#include "saltus/stability/certify/attractivity.hpp"
#include "saltus/stability/certify/certificate_grade.hpp"

namespace saltus::cli {

using stability::BasinOptions;

namespace {

/// Largest number of motions that are drawn as curves; more would cover the plane.
constexpr int max_paths = 1000;
/// Boxes that separate the equilibrium sets, for each combination of closed contacts. Fewer than in `saltus
/// equilibria`: the sets are labels here, and their list need not be complete.
constexpr long boxes_for_labels = 5000;
/// Boxes that each search of the certificate may examine; the default of `saltus certify`.
constexpr long certificate_budget = 20'000;
/// basin.csv has at most so many lines; basin.h5 has all motions.
constexpr double max_table_lines = 1e7;

// ---- starts

void choose_starts(const BasinCommand& c, const model::Model& m, BasinOptions& options) {
    const bool sampled = c.samples.samples || !c.samples.box.empty();
    const char* const option = sampled ? "--box" : "--grid";
    if (sampled) {
        if (!c.grid.empty()) throw Error("cannot be combined with --grid", {"--samples", 0, 0}, "give --box x=-1:1");
        options.starts = sampled_starts(c.samples);
        if (c.refine > 0) throw Error("needs a grid", {"--refine", 0, 0}, "give --grid instead of --samples");
        if (c.boundary) throw Error("needs a grid", {"--boundary", 0, 0}, "give --grid instead of --samples");
    } else {
        if (c.grid.empty())
            throw Error("no starts are given", {"--grid", 0, 0},
                        "give --grid " + m.coordinates[0] + "=-1:1:20, or --samples with --box");
        if (c.refine < 0 || c.refine > 20)
            throw Error("refine is " + std::to_string(c.refine) + ", it must lie between 0 and 20", {"--refine", 0, 0});
        options.starts = gridded_starts(c.grid, option);
        options.refine = c.refine;
        if (c.boundary) options.boundary = positive("--boundary", *c.boundary);
    }
    for (const ensemble::Axis& a : options.starts.axes) {
        options.components.push_back(axis_target(a.name, m, option).component);
        for (const auto& [name, value] : assignments(c.common))
            if (name == a.name)
                throw Error("'" + name + "' is both set and varied", {option, 0, 0}, "drop one of the two");
    }
}

/// Throws an Error with numbers if memory or disk are too small for so many motions.
void refuse_starts(const BasinCommand& c, const model::Model& m, const BasinOptions& options) {
    constexpr double label_bytes = 3 * 4.0;  // while labels are given, three numbers of a motion are kept
    constexpr double refined_bytes = 24.0;   // of a point of the refined grid, in memory
    const auto n = static_cast<double>(m.coordinates.size()), axes = static_cast<double>(options.starts.axes.size());
    const auto record = static_cast<double>(stability::layout_of(m, options).bytes());
    EnsembleNeeds needs;
    needs.runs = static_cast<double>(options.starts.size());
    double points = 1.0;
    for (const ensemble::Axis& a : options.starts.axes) points *= static_cast<double>(a.count(options.refine));
    if (options.refine > 0 && points > ensemble::max_runs)
        throw Error("the grid has " + number_text(points) + " points, more than 1e9", {"--refine", 0, 0},
                    "give a coarser one");
    if (options.refine > 0) needs.memory += refined_bytes * points;
    if (options.boundary > 0.0) needs.memory += label_bytes * needs.runs;
    const double kept = ensemble::table_bytes(needs.runs, record);
    if (c.common.out.empty()) {
        needs.memory += kept + label_bytes * needs.runs;
    } else {
        const double table = needs.runs <= max_table_lines ? needs.runs * (40.0 + 20.0 * (axes + n)) : 0.0;
        const double columns = needs.runs * (record + 16.0);  // of basin.h5
        needs.largest_file = std::max({kept, table, columns});
        needs.disk = kept + label_bytes * needs.runs + (c.ensemble.shard.empty() ? table + columns : 0.0);
        const double share =
            c.ensemble.shard.empty() ? 1.0 : 1.0 / static_cast<double>(std::max<std::size_t>(1, options.shard.of));
        needs.disk *= share;
        needs.largest_file *= share;
    }
    refuse_needs(needs, c.common.out, options.refine > 0 ? "--refine" : options.sampled() ? "--samples" : "--grid");
}

// ---- method

void choose_method(const BasinCommand& c, const model::Model& m, BasinOptions& options, std::string& text) {
    const std::string name = c.method.empty() ? "moreau" : c.method;
    text = "--method " + name;
    const auto tell = [&](const char* option, double value) {
        text += std::string(" ") + option + " " + number_text(value);
    };
    if (name == "moreau") {
        integrate::Moreau method;
        method.h = positive("--h", c.h.value_or(m.settings->simulate.h.value_or(method.h)));
        method.theta = c.theta.value_or(method.theta);
        if (!(method.theta >= 0.0 && method.theta <= 1.0))
            throw Error("theta is " + number_text(method.theta) + ", it must lie in [0, 1]", {"--theta", 0, 0},
                        "0.5 is the midpoint");
        tell("--h", method.h);
        tell("--theta", method.theta);
        options.method = method;
    } else if (name == "event") {
        integrate::EventDriven method;
        method.rtol = positive("--rtol", c.rtol.value_or(m.settings->simulate.rtol.value_or(method.rtol)));
        method.atol = positive("--atol", c.atol.value_or(m.settings->simulate.atol.value_or(method.atol)));
        tell("--rtol", method.rtol);
        tell("--atol", method.atol);
        options.method = method;
    } else {
        throw Error("unknown method '" + name + "'", {"--method", 0, 0}, "allowed are moreau and event");
    }
    options.t_max = end_time("--t-max", c.t_max, m, c.common.model);
    tell("--t-max", options.t_max);
    if (c.rest) options.rest = positive("--rest", *c.rest);
    if (options.rest != BasinOptions{}.rest) tell("--rest", options.rest);
    options.to_rest = c.to_rest;
    if (c.to_rest) text += " --to-rest";
    if (c.no_certify) text += " --no-certify";
    options.lanes = !c.no_lanes;
    if (options.refine > 0) text += " --refine " + std::to_string(options.refine);
    if (options.boundary > 0.0) tell("--boundary", options.boundary);
    if (options.sampled())
        text +=
            " --samples " + std::to_string(options.starts.samples) + " --seed " + std::to_string(options.starts.seed);
    if (!c.period.empty()) text += " --period " + c.period;
    if (!c.section.empty()) text += " --section " + c.section;
    if (options.repeats) text += " --multiple " + std::to_string(options.repeats->max_returns);
    for (const auto& [set, value] : assignments(c.common)) text += " --set " + set + "=" + value;
}

/// --period and --section: motions that repeat are labelled by the orbit that they reach.
void choose_orbits(const BasinCommand& c, const model::Model& m, BasinOptions& options) {
    if (c.period.empty() && c.section.empty()) return;
    if (!c.period.empty() && !c.section.empty())
        throw Error("cannot be combined with --section", {"--period", 0, 0},
                    "give --period for a model that depends on time, otherwise --section");
    if (c.section.empty() == m.autonomous)
        throw Error(m.autonomous ? "the model does not depend on time" : "the model depends on time",
                    {m.autonomous ? "--period" : "--section", 0, 0},
                    m.autonomous ? "give --section \"x = 0\"" : "give the period of the excitation with --period");
    constexpr int most = 64;  // each motion keeps three times as many states
    if (c.multiple < 1 || c.multiple > most)
        throw Error("multiple is " + std::to_string(c.multiple) + ", it must lie between 1 and 64",
                    {"--multiple", 0, 0});
    stability::BasinRepeats repeats;
    repeats.max_returns = c.multiple;
    orbit::Options search;
    search.interrupted = interrupt_asked;
    if (!c.period.empty()) {
        positive("--period", value_of_parameters(m, c.period, "--period"));
        repeats.period = [text = c.period](const model::Model& model) {
            return value_of_parameters(model, text, "--period");
        };
    } else {
        repeats.section = search.section = section_expression(m, c.section);
        search.search_time = end_time("--t-max", c.t_max, m, c.common.model);
    }
    repeats.find = [search, period = repeats.period](const model::Model& model, const trajectory::State& state,
                                                     int returns) -> std::optional<stability::BasinOrbit> {
        orbit::Options o = search;
        if (period) o.period = period(model);
        const std::optional<orbit::OrbitStates> found = orbit::stable_orbit_near(model, o, state, returns);
        if (!found) return {};
        return stability::BasinOrbit{
            {}, found->period, found->returns, found->energy, found->largest_multiplier, found->points, found->range,
            0};
    };
    options.repeats = std::move(repeats);
}

/// The model with other parameters.
void choose_parameters(const io::LoadedModel& loaded, BasinOptions& options) {
    if (!options.varies_parameters()) return;
    std::vector<std::string> names;
    for (std::size_t k = 0; k < options.components.size(); ++k)
        if (options.components[k] < 0) names.push_back(options.starts.axes[k].name);
    options.model_at = [&loaded, names](std::span<const double> values) {
        model::BuildOptions build = loaded.build;
        for (std::size_t k = 0; k < names.size(); ++k) build.set.emplace_back(names[k], number_text(values[k]));
        return std::make_shared<const model::Model>(model::build(loaded.file.description, build));
    };
}

/// Text that identifies a computation: the model file, assignments, axes and all options that affect labels. A table of
/// motions is continued only if its text is the same.
std::string purpose_text(const io::ModelFile& file, const BasinOptions& options, const std::string& text) {
    std::string purpose = "saltus " + library_version() + " basin " + std::to_string(fnv1a(file.text)) + " " + text;
    for (const ensemble::Axis& a : options.starts.axes)
        purpose += " " + to_text(a, options.sampled() ? ensemble::AxisUse::box : ensemble::AxisUse::grid);
    if (options.level) purpose += " V<" + number_text(options.level->rho) + "+" + number_text(options.level->reference);
    if (options.device) purpose += " --device " + ensemble::to_string(options.device->kind);
    return purpose;
}

/// Sets the certified level set around the equilibrium set that the model's initial position leads to. If there is
/// none, a warning gives the reason. Closed loops have two theorems, of which the one with the larger level set is
/// taken: that of regulation, which `saltus certify` applies to them, and that of attractivity.
void certify(const io::LoadedModel& loaded, BasinOptions& options, std::vector<std::string>& warnings) {
    const model::Model& m = loaded.model;
    const stability::ClaimOptions claims{certificate_budget, interrupt_asked, "",
                                         stability::certificate_obstacle(loaded.file.description)};
    if (control::regulates(m)) {
        proof::Certificate regulation =
            control::certify_regulation(m, {std::nullopt, certificate_budget, interrupt_asked}).table;
        stability::grade_by_claims(m, regulation, claims);
        options.level = stability::capture_set(regulation);
        if (options.level && options.level->proved && std::isinf(options.level->rho)) return;
    }
    stability::CertifyOptions search;
    search.budget = certificate_budget;
    search.stop = interrupt_asked;
    proof::Certificate certificate = stability::certify_attractivity(m, search);
    stability::grade_by_claims(m, certificate, claims);
    options.level = stability::wider(options.level, stability::capture_set(certificate));
    if (options.level) return;
    std::string why = "no level set: " + (certificate.summary.empty() ? "nothing is certified" : certificate.summary);
    for (const proof::Condition& row : certificate.conditions)
        if (row.verdict == proof::Verdict::fails && why.find("condition " + row.id + " fails") == std::string::npos)
            why += "; condition " + row.id + " fails";
    warnings.push_back(why);
}

// ---- files

// What exists while a run proceeds, and after an interrupt; a complete run removes them.
const char* const partial_table = "basin-partial.csv";
const char* const partial_picture = "basin-partial.png";
const char* const partial_page = "basin-partial.html";

void write_table(const io::BasinReport& report, io::Starts starts, int descriptor, const std::string& path) {
    io::basin_csv(report, starts, [&](std::string_view piece) {
        if (const int error = io::write_all(descriptor, piece); error != 0)
            throw Error(std::generic_category().message(error), {path, 0, 0}, "check the disk");
    });
}

void add_files(io::ResultFolder& folder, const io::BasinReport& report, const BasinCommand& c) {
    if (static_cast<double>(report.basin.base) <= max_table_lines)
        folder.add("basin.csv", [&](int descriptor) {
            write_table(report, io::Starts::all, descriptor, folder.path() + "/basin.csv");
        });
    else if (!c.common.quiet)
        std::fprintf(stderr, "saltus: basin.csv is not written for more than 1e7 starts; basin.h5 has them\n");
    if (const std::string points = io::boundary_csv(report); !points.empty()) folder.add("basin-boundary.csv", points);
    if (io::has_basin_image(report)) {
        folder.add("basin.png", io::basin_png(report));
        folder.add("basin.svg", io::basin_svg(report));
    }
    if (io::has_hdf5())
        io::add_basin(folder, "basin.h5", report,
                      c.virtual_parts ? ensemble::division_of(c.common.out, "basin") : std::nullopt);
    else if (!c.common.quiet)
        std::fprintf(stderr, "saltus: basin.h5 is not written because Saltus was built without HDF5\n");
    folder.add("basin.json", io::basin_json(report, io::Timing::left_out));
}

/// Picture and page of the motions so far, written again and again while a run proceeds.
class LivePicture {
public:
    LivePicture(const model::Model& m, const io::BasinReport& report, std::string folder)
        : folder_(std::move(folder)), preview_(m, report.options), report_(report) {
        report_.options = preview_.options();
    }

    void add(std::size_t motion, const stability::BasinMotion& m) {
        preview_.add(motion, m);
        ++done_;
    }
    void look(std::size_t done, std::size_t of) {
        if (Clock::now() < next_) return;
        const Clock::time_point begin = Clock::now();
        report_.basin = preview_.look();
        const bool picture = io::has_basin_image(report_);
        if (picture) io::write_file(folder_, partial_picture, io::basin_png(report_));
        io::write_file(folder_, partial_page,
                       io::basin_live_page(report_, preview_.seen(), done, of, picture ? partial_picture : ""));
        // The picture takes a twentieth of the time at most.
        constexpr int pause = 20;
        next_ = Clock::now() + std::max<Clock::duration>(std::chrono::seconds(1), pause * (Clock::now() - begin));
    }

private:
    using Clock = std::chrono::steady_clock;

    std::string folder_;
    stability::BasinPreview preview_;
    io::BasinReport report_;
    std::size_t done_ = 0;
    Clock::time_point next_ = Clock::now() + std::chrono::seconds(1);
};

void remove_partial_files(const std::string& folder) {
    std::error_code ignored;
    for (const char* const name : {partial_table, partial_picture, partial_page})
        std::filesystem::remove(std::filesystem::path(folder) / name, ignored);
}

}  // namespace

int basin(const BasinCommand& c) {
    const io::LoadedModel loaded = load(c.common);
    const model::Model& m = loaded.model;
    io::BasinReport report;
    report.model = m.name;
    report.coordinates = m.coordinates;
    BasinOptions& options = report.options;
    choose_starts(c, m, options);
    choose_orbits(c, m, options);
    choose_method(c, m, options, report.options_text);
    choose_parameters(loaded, options);
    EnsembleRun run(c.ensemble, c.common, "basin", options.starts.size());
    options.threads = c.common.threads;
    options.shard = run.shard();
    refuse_starts(c, m, options);
    if (c.paths < 0 || c.paths > max_paths)
        throw Error("paths is " + std::to_string(c.paths) + ", it must lie between 0 and 1000", {"--paths", 0, 0});
    if (c.virtual_parts && (options.refine > 0 || options.boundary > 0.0))
        throw Error("cannot be combined with --refine or --boundary", {"--virtual", 0, 0},
                    "their motions are in no part; merge without --virtual");
    if (c.virtual_parts && (!io::has_hdf5() || !ensemble::division_of(c.common.out, "basin")))
        throw Error(io::has_hdf5() ? "the parts in this folder are not all parts of one division"
                                   : "virtual datasets need HDF5",
                    {c.common.out, 0, 0}, "merge without --virtual");
    const auto out = run.open_results("basin", {c.common.model});
    listen_for_interrupts();
    stability::EquilibriaOptions search;
    search.interrupted = interrupt_asked;
    search.max_boxes = boxes_for_labels;
    if (options.varies_parameters()) {
        if (!options.sampled()) options.search = search;
    } else {
        options.equilibria = stability::equilibria(m, search);
        // Of a model that depends on time, orbits are labels.
        if (!options.repeats || m.autonomous) report.warnings = options.equilibria->warnings;
        if (options.equilibria->status == stability::SearchStatus::interrupted)
            report.warnings.push_back("the search for equilibrium sets did not end: " + interrupt_reason());
        if (!c.no_certify && !interrupt_asked()) certify(loaded, options, report.warnings);
    }
    options.ranks = run.ranks();
    options.device = chosen_device(
        c.ensemble, options.starts.size(), run.ranks(), [&] { return stability::device_refusal(m, options); },
        [&](const ensemble::Device& device) { stability::compile_for_device(m, options, device); }, report.warnings);
    options.folder = out ? out->temporary() : std::string();
    options.interrupted = interrupt_asked;
    const stability::BasinRecord::Layout layout = stability::layout_of(m, options);
    // Without the level set, which an interrupt has left out, the motions would be those of another task.
    const bool keeps = !c.common.out.empty() && run.leads() && !interrupt_asked();
    const auto table = keeps ? run.open_table(purpose_text(loaded.file, options, report.options_text), layout.bytes())
                             : std::make_shared<ensemble::Table>(layout.bytes());
    std::optional<LivePicture> live;
    if (keeps && run.whole()) live.emplace(m, report, c.common.out);
    std::size_t made = 0;
    options.stored = [&](std::size_t motion, const stability::BasinMotion& one) {
        ++made;
        if (live) live->add(motion, one);
    };
    const auto show = run.progress();
    options.progress = [&](std::size_t done, std::size_t of) {
        show(done, of);
        if (live) live->look(done, of);
    };
    report.basin = stability::basin(m, options, stability::BasinRecord(layout, table));
    if (!run.leads()) return done;
    if (!run.whole()) return run.deliver_part(*table, m.name, made);
    const stability::Basin& b = report.basin;
    if (c.paths > 0 && b.complete) {
        report.paths = stability::phase_paths(m, options, b, c.paths);
        if (report.paths.empty())
            report.warnings.emplace_back("there are no curves of motions: the starts do not form a plane of two axes");
    }
    deliver(c.common, b.complete ? out.get() : nullptr,
            {[&](io::ResultFolder& folder) { add_files(folder, report, c); }, [&] { return io::basin_json(report); },
             [&] { return io::basin_text(report); }});
    if (out && b.complete) {
        run.remove_tables();
        remove_partial_files(c.common.out);
    } else if (out && keeps) {  // beside the table of the motions, for a look at what exists
        io::write_file(c.common.out, partial_table, [&](int descriptor) {
            write_table(report, io::Starts::computed, descriptor, c.common.out + "/" + partial_table);
        });
    }
    return b.complete ? done : interrupted;
}

}  // namespace saltus::cli
