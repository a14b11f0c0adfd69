// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/basin.hpp"

#include <charconv>
#include <cmath>
#include <cstdio>
#include <filesystem>

#include "cli/interrupt.hpp"
#include "cli/progress.hpp"
#include "saltus/base/memory.hpp"
#include "saltus/base/text.hpp"
#include "saltus/base/version.hpp"
#include "saltus/integrate/moreau/moreau_kernel.hpp"
#include "saltus/io/model/load_model.hpp"
#include "saltus/io/page/basin_image.hpp"
#include "saltus/io/problem/fclib.hpp"
#include "saltus/io/report/basin_report.hpp"
#include "saltus/io/results/basin_checkpoint.hpp"
#include "saltus/io/results/basin_file.hpp"
#include "saltus/io/results/files.hpp"
#include "saltus/io/results/fnv1a.hpp"
#include "saltus/io/results/result_folder.hpp"
#include "saltus/model/model.hpp"
#include "saltus/model/settings.hpp"
#include "saltus/stability/basin/basin_capture.hpp"
#include "saltus/stability/certify/attractivity.hpp"
#include "saltus/stability/certify/certificate_grade.hpp"

namespace saltus::cli {

using stability::BasinOptions;

namespace {

/// Largest number of starts, for machines with much memory; refuse_memory says what fits.
constexpr double max_starts = 1e9;
/// Largest number of motions that are drawn as curves; more would cover the plane.
constexpr int max_paths = 1000;
/// Boxes that separate the equilibrium sets, for each combination of closed contacts. Fewer than in `saltus
/// equilibria`: the sets are labels here, and their list need not be complete.
constexpr long boxes_for_labels = 5000;
/// Boxes that each search of the certificate may examine; the default of `saltus certify`.
constexpr long certificate_budget = 20'000;

/// With --device auto a GPU is used from this number of starts on: to start a GPU takes about as long as so many
/// motions on the CPU.
constexpr std::size_t least_starts_for_gpu = 100'000;

// ---- axes

double number_of(const std::string& text, const char* option) {
    double value = 0.0;
    const char* begin = text.data() + (text.starts_with('+') ? 1 : 0);
    const auto [end, error] = std::from_chars(begin, text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value))
        throw Error("'" + text + "' is not a number", {option, 0, 0},
                    std::string(option) == "--grid" ? "write --grid x=-1:1:20" : "write --box x=-1:1");
    return value;
}

std::vector<std::string> parts(const std::string& text, char at) {
    std::vector<std::string> list;
    for (std::size_t begin = 0;;) {
        const std::size_t end = text.find(at, begin);
        list.push_back(text.substr(begin, end - begin));
        if (end == std::string::npos) return list;
        begin = end + 1;
    }
}

/// Index of the coordinate x or the velocity x' among the components of (q, u).
int component_of(const std::string& name, const model::Model& m, const char* option) {
    const bool velocity = name.ends_with('\'');
    const std::string coordinate = velocity ? name.substr(0, name.size() - 1) : name;
    for (int i = 0; i < m.size(); ++i)
        if (m.coordinates[static_cast<std::size_t>(i)] == coordinate) return velocity ? m.size() + i : i;
    throw Error("unknown coordinate '" + coordinate + "'", {option, 0, 0}, did_you_mean(coordinate, m.coordinates));
}

/// Reads one axis: NAME=FROM:TO:COUNT of a grid, NAME=FROM:TO of a box, or NAME=VALUE.
void add_axis(const std::string& text, const char* option, bool grid, const model::Model& m, BasinOptions& options) {
    const std::string form = grid ? "write --grid x=-1:1:20, or x=0.5" : "write --box x=-1:1, or x=0.5";
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) throw Error("'" + text + "' is not a range", {option, 0, 0}, form);
    ensemble::Axis axis;
    axis.name = text.substr(0, equals);
    const int component = component_of(axis.name, m, option);
    for (const ensemble::Axis& other : options.axes)
        if (other.name == axis.name) throw Error("'" + axis.name + "' is given twice", {option, 0, 0});
    const std::vector<std::string> values = parts(text.substr(equals + 1), ':');
    if (values.size() != 1 && values.size() != (grid ? 3U : 2U))
        throw Error("'" + text + "' is not a range", {option, 0, 0}, form);
    axis.from = axis.to = number_of(values[0], option);
    if (values.size() > 1) {
        axis.to = number_of(values[1], option);
        if (!(axis.from < axis.to))
            throw Error("'" + text + "' goes from " + number_text(axis.from) + " to " + number_text(axis.to),
                        {option, 0, 0}, "give the smaller end first");
    }
    if (values.size() == 3) {
        const double n = number_of(values[2], option);
        if (n != std::floor(n) || n < 2.0 || n > max_starts)
            throw Error("'" + values[2] + "' is not a number of points; it must be an integer of at least 2",
                        {option, 0, 0}, form);
        axis.n = static_cast<long>(n);
    }
    options.axes.push_back(axis);
    options.components.push_back(component);
}

/// Throws an Error if the labels and results of so many motions do not fit into memory.
void refuse_memory(double starts, std::size_t coordinates, bool writes_files, const char* option) {
    const auto n = static_cast<double>(coordinates);
    const double record = 64.0 + 16.0 * n;  // bytes of a motion: BasinRecord, labels, places of rest
    const double text =
        writes_files ? 150.0 + 40.0 * n : 0.0;  // its line of basin.csv, its checkpoint and HDF5 columns
    const double need = starts * (record + text), available = available_memory();
    if (need > available)
        throw Error(number_text(starts) + " motions need " + gibibytes(need) + " of memory, and " +
                        gibibytes(available) + " are available",
                    {option, 0, 0}, writes_files ? "give fewer, or omit --out" : "give fewer");
}

void choose_starts(const BasinCommand& c, const model::Model& m, BasinOptions& options) {
    if (!c.box.empty() && !c.samples) throw Error("needs a number of samples", {"--box", 0, 0}, "add --samples 10000");
    if (c.samples) {
        if (!c.grid.empty()) throw Error("cannot be combined with --grid", {"--samples", 0, 0}, "give --box x=-1:1");
        if (c.box.empty())
            throw Error("needs a box to draw starts from", {"--samples", 0, 0}, "add --box x=-1:1 --box \"x'=-2:2\"");
        if (*c.samples < 1 || static_cast<double>(*c.samples) > max_starts)
            throw Error("samples is " + std::to_string(*c.samples) + ", it must lie between 1 and 1e9",
                        {"--samples", 0, 0});
        for (const std::string& text : c.box) add_axis(text, "--box", false, m, options);
        options.samples = static_cast<std::size_t>(*c.samples);
        options.seed = c.seed;
        refuse_memory(static_cast<double>(*c.samples), m.coordinates.size(), !c.common.out.empty(), "--samples");
        if (c.refine > 0) throw Error("needs a grid", {"--refine", 0, 0}, "give --grid instead of --samples");
        if (c.boundary) throw Error("needs a grid", {"--boundary", 0, 0}, "give --grid instead of --samples");
        return;
    }
    if (c.grid.empty())
        throw Error("no starts are given", {"--grid", 0, 0},
                    "give --grid " + m.coordinates[0] + "=-1:1:20, or --samples with --box");
    for (const std::string& text : c.grid) add_axis(text, "--grid", true, m, options);
    if (c.refine < 0 || c.refine > 20)
        throw Error("refine is " + std::to_string(c.refine) + ", it must lie between 0 and 20", {"--refine", 0, 0});
    double points = 1.0;
    for (const ensemble::Axis& a : options.axes) points *= static_cast<double>(a.count(c.refine));
    if (points > max_starts)
        throw Error("the grid has " + number_text(points) + " points, more than 1e9",
                    {c.refine > 0 ? "--refine" : "--grid", 0, 0}, "give a coarser one");
    refuse_memory(points, m.coordinates.size(), !c.common.out.empty(), c.refine > 0 ? "--refine" : "--grid");
    options.refine = c.refine;
    if (c.boundary) options.boundary = positive("--boundary", *c.boundary);
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
    if (options.samples > 0)
        text += " --samples " + std::to_string(options.samples) + " --seed " + std::to_string(c.seed);
    for (const auto& [set, value] : assignments(c.common)) text += " --set " + set + "=" + value;
}

/// Text that identifies a computation: hash of the model file, assignments, axes and all options that affect labels. A
/// checkpoint is continued only if its text is the same.
std::string purpose_of(const io::ModelFile& file, const BasinOptions& options, const std::string& text) {
    std::string purpose = "saltus " + library_version() + " " + std::to_string(io::fnv1a(file.text)) + " " + text;
    for (const ensemble::Axis& a : options.axes)
        purpose += " " + a.name + "=" + number_text(a.from) + ":" + number_text(a.to) + ":" + std::to_string(a.n);
    if (options.level) purpose += " V<" + number_text(options.level->rho) + "+" + number_text(options.level->reference);
    return purpose;
}

/// Sets the certified level set around the equilibrium set that the model's initial position leads to. If there is
/// none, a warning gives the reason.
void certify(const io::LoadedModel& loaded, BasinOptions& options, std::vector<std::string>& warnings) {
    const model::Model& m = loaded.model;
    stability::CertifyOptions search;
    search.budget = certificate_budget;
    search.stop = interrupt_asked;
    proof::Certificate certificate = stability::certify_attractivity(m, search);
    stability::grade_by_claims(
        m, certificate,
        {certificate_budget, interrupt_asked, "", stability::certificate_obstacle(loaded.file.description)});
    options.level = stability::capture_set(certificate);
    if (options.level) return;
    std::string why = "no level set: " + (certificate.summary.empty() ? "nothing is certified" : certificate.summary);
    for (const proof::Condition& row : certificate.conditions)
        if (row.verdict == proof::Verdict::fails) why += "; condition " + row.id + " fails";
    warnings.push_back(why);
}

const char* const partial_table = "basin-partial.csv";  // the lines of basin.csv that exist after an interrupt

void add_files(io::ResultFolder& folder, const io::BasinReport& report, bool quiet) {
    folder.add("basin.csv", io::basin_csv(report));
    if (const std::string points = io::boundary_csv(report); !points.empty()) folder.add("basin-boundary.csv", points);
    if (io::has_basin_image(report)) {
        folder.add("basin.png", io::basin_png(report));
        folder.add("basin.svg", io::basin_svg(report));
    }
    if (io::has_hdf5())
        io::add_basin(folder, "basin.h5", report);
    else if (!quiet)
        std::fprintf(stderr, "saltus: basin.h5 is not written because Saltus was built without HDF5\n");
    folder.add("basin.json", io::basin_json(report, io::Timing::left_out));
}

/// Chooses the device of --device. Motions that no kernel can make run on the CPU, and a warning says why.
void choose_device(const BasinCommand& c, const model::Model& m, BasinOptions& options,
                   std::vector<std::string>& warnings) {
    const std::string name = c.device == "threads" ? "cpu" : c.device;
    if (name == "cpu") return;
    if (name != "auto" && name != "cuda" && name != "opencl")
        throw Error("unknown device '" + name + "'", {"--device", 0, 0}, "allowed are auto, cpu, cuda and opencl");
    const std::size_t starts = options.samples > 0 ? options.samples : ensemble::Grid{options.axes}.size();
    if (name == "auto" && (starts < least_starts_for_gpu || !std::holds_alternative<integrate::Moreau>(options.method)))
        return;
    const ensemble::DevicesFound found = ensemble::find_devices();
    std::vector<const ensemble::Device*> fitting;
    for (const ensemble::Device& d : found.devices)
        if (ensemble::to_string(d.kind) == (name == "auto" ? "cuda" : name)) fitting.push_back(&d);
    if (fitting.empty()) {
        if (name == "auto") return;
        throw Error("there is no such device", {"--device " + name, 0, 0},
                    found.missing.empty() ? "see `saltus devices`" : listing(found.missing, "and"));
    }
    const auto* moreau = std::get_if<integrate::Moreau>(&options.method);
    const std::string why = moreau == nullptr ? "kernels make Moreau's steps, not event-driven motions"
                                              : integrate::moreau::kernel_refusal(m, *moreau, options.t_max);
    if (!why.empty()) {
        warnings.push_back("the motions run on the CPU and not on the device: " + why);
        return;
    }
    // One rank uses one device.
    const std::size_t rank = options.ranks != nullptr ? static_cast<std::size_t>(options.ranks->rank()) : 0;
    const ensemble::Device& device = *fitting[rank % fitting.size()];
    if (name == "auto") {  // a device that fails is an error only if it was asked for
        try {
            const auto kernel = integrate::moreau::emit_motion_kernel(m, *moreau, {});
            (void)ensemble::compile_kernel(device, kernel.text, integrate::moreau::MotionKernel::name);
        } catch (const Error& e) {
            warnings.push_back("the motions run on the CPU and not on the device: " + std::string(e.what()));
            return;
        }
    }
    options.device = device;
}

/// The part "2/3" of --shard.
ensemble::Shard shard_of(const std::string& text) {
    if (text.empty()) return {};
    const std::size_t slash = text.find('/');
    const auto number = [&](std::string_view digits) {
        std::size_t value = 0;
        const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
        return error == std::errc() && end == digits.data() + digits.size() ? value : 0;
    };
    ensemble::Shard shard{0, 0};
    if (slash != std::string::npos) {
        shard.index = number(std::string_view(text).substr(0, slash));
        shard.of = number(std::string_view(text).substr(slash + 1));
    }
    if (shard.index < 1 || shard.index > shard.of)
        throw Error("'" + text + "' is no part", {"--shard", 0, 0}, "write --shard 1/3, 2/3 or 3/3");
    return shard;
}

/// What a run of one part tells: the motions are in its file, the labels come when all parts are joined.
void deliver_shard(const BasinCommand& c, const io::BasinReport& report) {
    const ensemble::Shard& shard = report.options.shard;
    std::size_t starts = 0, done = 0;
    for (std::size_t k = 0; k < report.basin.record.size(); ++k) {
        if (!shard.contains(k)) continue;
        ++starts;
        if (report.basin.record.fate[k] != stability::Fate::pending) ++done;
    }
    if (c.common.json)
        print_document(io::shard_json(report, starts, done));
    else if (!c.common.quiet)
        print("part " + c.shard + ": " + std::to_string(done) + " of " + std::to_string(starts) +
              " motions\nall parts together: saltus merge " + c.common.out + "\n");
}

}  // namespace

int basin(const BasinCommand& c) {
    const std::unique_ptr<ensemble::Ranks> ranks = ensemble::join_ranks();
    const io::LoadedModel loaded = load(c.common);
    const model::Model& m = loaded.model;
    io::BasinReport report;
    report.model = m.name;
    report.coordinates = m.coordinates;
    BasinOptions& options = report.options;
    choose_starts(c, m, options);
    choose_method(c, m, options, report.options_text);
    options.threads = c.common.threads;
    options.shard = shard_of(c.shard);
    const bool whole = options.shard.whole();
    if (c.paths < 0 || c.paths > max_paths)
        throw Error("paths is " + std::to_string(c.paths) + ", it must lie between 0 and 1000", {"--paths", 0, 0});
    if (c.resume && c.common.out.empty())
        throw Error("needs the result folder with the checkpoint", {"--resume", 0, 0},
                    "give --out DIR of the first run");
    if (!c.shard.empty() && c.common.out.empty())
        throw Error("needs a folder for the part", {"--shard", 0, 0}, "give --out DIR, the same one for all parts");
    if (!whole && !c.common.report.empty())
        throw Error("a part has no page", {"--report", 0, 0}, "join the parts, then run `saltus report`");
    // Parts may run at the same time, each with a file of its own, so that none of them locks the folder.
    const bool first_rank = ranks == nullptr || ranks->rank() == 0;
    const auto out = whole && first_rank ? open_results(c.common, "basin", {c.common.model}) : nullptr;
    if (!whole && first_rank) io::make_folder(c.common.out);
    listen_for_interrupts();
    stability::EquilibriaOptions search;
    search.interrupted = interrupt_asked;
    search.max_boxes = boxes_for_labels;
    options.equilibria = stability::equilibria(m, search);
    report.warnings = options.equilibria->warnings;
    if (options.equilibria->status == stability::SearchStatus::interrupted)
        report.warnings.push_back("the search for equilibrium sets did not end: " + interrupt_reason());
    if (!c.no_certify && !interrupt_asked()) certify(loaded, options, report.warnings);
    options.ranks = ranks.get();
    choose_device(c, m, options, report.warnings);
    io::CheckpointHead head;
    head.purpose = purpose_of(loaded.file, options, report.options_text);
    if (options.device) head.purpose += " --device " + ensemble::to_string(options.device->kind);
    head.line = c.common.line;
    head.folder = std::filesystem::current_path().string();
    head.starts = options.samples > 0 ? options.samples : ensemble::Grid{options.axes}.size();
    stability::BasinRecord record;
    // Without the level set, which an interrupt has left out, the motions would be those of another task.
    if (!c.common.out.empty() && !interrupt_asked() && first_rank) {
        if (c.resume) {
            auto earlier = io::read_basin_checkpoints(c.common.out, head.purpose, m.coordinates.size());
            if (earlier) record = std::move(*earlier);
        }
        options.save = [&](const stability::BasinRecord& r) {
            io::write_basin_checkpoint(c.common.out, head, r, options.shard);
        };
    }
    options.interrupted = interrupt_asked;
    {
        std::optional<Progress> progress;
        std::size_t total = 0;
        options.progress = [&](std::size_t done, std::size_t of) {
            if (!progress || of != total) {
                total = of;
                progress.emplace(static_cast<double>(done - 1), static_cast<double>(of), !c.common.quiet && first_rank);
            }
            progress->at(static_cast<double>(done));
        };
        report.basin = stability::basin(m, options, std::move(record));
    }
    if (!first_rank) return done;
    const stability::Basin& b = report.basin;
    if (!whole) {
        deliver_shard(c, report);
        return b.complete ? done : interrupted;
    }
    if (c.paths > 0 && b.complete) {
        report.paths = stability::phase_paths(m, options, b, c.paths);
        if (report.paths.empty())
            report.warnings.emplace_back("there are no curves of motions: the starts do not form a plane of two axes");
    }
    deliver(c.common, b.complete ? out.get() : nullptr,
            {[&](io::ResultFolder& folder) { add_files(folder, report, c.common.quiet); },
             [&] { return io::basin_json(report); }, [&] { return io::basin_text(report); }});
    if (out && b.complete) {
        io::remove_basin_checkpoints(c.common.out);
        std::error_code ignored;
        std::filesystem::remove(std::filesystem::path(c.common.out) / partial_table, ignored);
    } else if (out && options.save) {  // beside the checkpoint, for a look at what exists
        io::write_file(c.common.out, partial_table, io::basin_csv(report, io::Starts::computed));
    }
    return b.complete ? done : interrupted;
}

}  // namespace saltus::cli
