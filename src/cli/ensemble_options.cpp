// SPDX-License-Identifier: Apache-2.0
#include "cli/ensemble_options.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "cli/interrupt.hpp"
#include "saltus/base/fnv1a.hpp"
#include "saltus/base/memory.hpp"
#include "saltus/base/text.hpp"
#include "saltus/base/version.hpp"
#include "saltus/ensemble/axis_text.hpp"
#include "saltus/io/report/ensemble/ensemble_report.hpp"
#include "saltus/io/results/files.hpp"
#include "saltus/io/results/provenance.hpp"
#include "saltus/io/results/result_folder.hpp"
#include "saltus/model/model.hpp"
#include "saltus/model/settings.hpp"

namespace saltus::cli {

namespace {

/// With --device auto a GPU is used from this number of runs on: to start a GPU takes about as long as so many motions
/// on the CPU.
constexpr std::size_t least_runs_for_gpu = 100'000;

/// The part "2/3" of --shard.
ensemble::Shard shard_of(const std::string& text, std::size_t runs) {
    ensemble::Shard shard;
    shard.block = ensemble::Shard::block_for(runs);
    if (text.empty()) return shard;
    const std::size_t slash = text.find('/');
    const auto number = [&](std::string_view digits) {
        std::size_t value = 0;
        const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
        return error == std::errc() && end == digits.data() + digits.size() ? value : 0;
    };
    shard.index = shard.of = 0;
    if (slash != std::string::npos) {
        shard.index = number(std::string_view(text).substr(0, slash));
        shard.of = number(std::string_view(text).substr(slash + 1));
    }
    if (shard.index < 1 || shard.index > shard.of)
        throw Error("'" + text + "' is no part", {"--shard", 0, 0}, "write --shard 1/3, 2/3 or 3/3");
    return shard;
}

void refuse_twice(const std::vector<ensemble::Axis>& axes, const char* option) {
    for (std::size_t k = 0; k < axes.size(); ++k)
        for (std::size_t i = 0; i < k; ++i)
            if (axes[i].name == axes[k].name)
                throw Error("'" + axes[k].name + "' is given twice", {option, 0, 0}, "remove one of them");
}

}  // namespace

AxisTarget axis_target(const std::string& name, const model::Model& m, const char* option) {
    const bool velocity = name.ends_with('\'');
    const std::string coordinate = velocity ? name.substr(0, name.size() - 1) : name;
    for (int i = 0; i < m.size(); ++i)
        if (m.coordinates[static_cast<std::size_t>(i)] == coordinate) return {velocity ? m.size() + i : i};
    std::vector<std::string> known = m.coordinates;
    for (const std::string& c : m.coordinates) known.push_back(c + "'");
    for (const model::Parameter& p : m.settings->parameters) {
        if (!velocity && p.name == name) return {};
        known.push_back(p.name);
    }
    throw Error("unknown coordinate or parameter '" + name + "'", {option, 0, 0}, did_you_mean(name, known));
}

ensemble::Starts sampled_starts(const SampleOptions& o) {
    if (!o.samples) throw Error("needs a number of samples", {"--box", 0, 0}, "add --samples 10000");
    if (o.box.empty())
        throw Error("needs a box to draw starts from", {"--samples", 0, 0}, "add --box x=-1:1 --box \"x'=-2:2\"");
    if (*o.samples < 1 || static_cast<double>(*o.samples) > ensemble::max_runs)
        throw Error("samples is " + std::to_string(*o.samples) + ", it must lie between 1 and 1e9",
                    {"--samples", 0, 0});
    ensemble::Starts starts;
    for (const std::string& text : o.box)
        starts.axes.push_back(ensemble::axis_from_text(text, ensemble::AxisUse::box, "--box"));
    refuse_twice(starts.axes, "--box");
    starts.samples = static_cast<std::size_t>(*o.samples);
    starts.seed = o.seed;
    return starts;
}

ensemble::Starts gridded_starts(const std::vector<std::string>& texts, const char* option) {
    const bool grid = std::string_view(option) == "--grid";
    ensemble::Starts starts;
    starts.fastest = grid ? ensemble::Starts::Fastest::first : ensemble::Starts::Fastest::last;
    double points = 1.0;
    for (const std::string& text : texts) {
        starts.axes.push_back(
            ensemble::axis_from_text(text, grid ? ensemble::AxisUse::grid : ensemble::AxisUse::values, option));
        points *= static_cast<double>(starts.axes.back().n);
    }
    refuse_twice(starts.axes, option);
    if (points > ensemble::max_runs)
        throw Error("the grid has " + number_text(points) + " points, more than 1e9", {option, 0, 0},
                    "give a coarser one");
    return starts;
}

void refuse_needs(const EnsembleNeeds& n, const std::string& folder, const char* option) {
    const double memory = available_memory();
    if (n.memory > memory)
        throw Error(number_text(n.runs) + " runs need " + gibibytes(n.memory) + " of memory, and " + gibibytes(memory) +
                        " are available",
                    {option, 0, 0},
                    folder.empty() && n.kept_on_disk ? "give --out DIR, then they are kept on the disk; or give fewer"
                                                     : "give fewer");
    if (folder.empty()) return;
    // The folder itself may not exist yet.
    std::filesystem::path there = std::filesystem::absolute(folder);
    std::error_code error;
    while (!std::filesystem::exists(there, error) && there.has_relative_path()) there = there.parent_path();
    const double disk = available_disk(there.string()), file = saltus::largest_file();
    if (n.disk > disk)
        throw Error(number_text(n.runs) + " runs need " + gibibytes(n.disk) + " on the disk of " + folder + ", and " +
                        gibibytes(disk) + " are free",
                    {option, 0, 0}, "give fewer, or a folder on another disk");
    if (n.largest_file > file)
        throw Error(number_text(n.runs) + " runs need a file of " + gibibytes(n.largest_file) + ", and " +
                        gibibytes(file) + " are allowed",
                    {option, 0, 0}, "give fewer, or raise the limit of file sizes (ulimit -f)");
}

void refuse_kept_runs(std::size_t runs, double bytes, const char* option) {
    EnsembleNeeds needs;
    needs.runs = static_cast<double>(runs);
    needs.memory = needs.runs * bytes;
    needs.kept_on_disk = false;
    refuse_needs(needs, "", option);
}

EnsembleRun::EnsembleRun(const EnsembleOptions& options, const Common& common, std::string name, std::size_t runs)
    : options_(options), common_(common), name_(std::move(name)), runs_(runs), shard_(shard_of(options.shard, runs)) {
    if (options.resume && common.out.empty())
        throw Error("needs the result folder with the checkpoint", {"--resume", 0, 0},
                    "give --out DIR of the first run");
    if (!options.shard.empty() && common.out.empty())
        throw Error("needs a folder for the part", {"--shard", 0, 0}, "give --out DIR, the same one for all parts");
    if (!whole() && !common.report.empty())
        throw Error("a part has no page", {"--report", 0, 0}, "join the parts, then run `saltus report`");
    ranks_ = ensemble::join_ranks();
}

std::unique_ptr<io::ResultFolder> EnsembleRun::open_results(const char* command,
                                                            const std::vector<std::string>& inputs) const {
    if (!leads()) return nullptr;
    if (whole()) return cli::open_results(common_, command, inputs);
    io::make_folder(common_.out);
    return nullptr;
}

std::shared_ptr<ensemble::Table> EnsembleRun::open_table(const std::string& purpose, std::size_t record_bytes,
                                                         const std::string& more) const {
    if (common_.out.empty() || !leads()) return std::make_shared<ensemble::Table>(record_bytes, runs_);
    ensemble::TableHead head;
    head.purpose = purpose;
    head.line = common_.line;
    head.folder = std::filesystem::current_path().string();
    head.runs = runs_;
    head.record_bytes = record_bytes;
    auto table = std::make_shared<ensemble::Table>(
        common_.out, name_ + more, head, shard_,
        options_.resume ? ensemble::Table::Open::resume : ensemble::Table::Open::fresh);
    runs_are_kept();
    return table;
}

void EnsembleRun::remove_tables(const std::string& more) const {
    if (!common_.out.empty()) ensemble::remove_tables(common_.out, name_ + more);
}

std::function<void(std::size_t, std::size_t)> EnsembleRun::progress() {
    return [this](std::size_t done, std::size_t of) {
        if (!progress_ || of != progress_of_) {
            progress_of_ = of;
            progress_.emplace(static_cast<double>(done - 1), static_cast<double>(of), !common_.quiet && leads());
        }
        progress_->at(static_cast<double>(done));
    };
}

int EnsembleRun::deliver_part(const ensemble::Table& table, const std::string& model, std::size_t made) const {
    io::PartReport part{model, shard_.index, shard_.of, shard_.size(runs_), 0, made};
    table.scan(0, runs_, [&](std::size_t k, std::string_view) { part.done += shard_.contains(k) ? 1 : 0; });
    if (common_.json)
        print_document(io::part_json(part));
    else if (!common_.quiet)
        print(io::part_text(part, common_.out));
    return part.done == part.starts ? Exit::done : Exit::interrupted;
}

std::string purpose_of(const std::string& model_text, const Common& common, const std::string& more) {
    // The model is identified by its text; it may be given by another path next time.
    std::string line;
    for (const std::string& word : io::split_words(common.line))
        line += " " + (word == common.model ? std::to_string(fnv1a(model_text)) : io::quoted_word(word));
    return "saltus " + library_version() + line + more;
}

std::optional<ensemble::Device> chosen_device(const EnsembleOptions& options, std::size_t runs,
                                              const ensemble::Ranks* ranks, const std::function<std::string()>& refusal,
                                              const std::function<void(const ensemble::Device&)>& compiles,
                                              std::vector<std::string>& warnings) {
    const std::string name = options.device == "threads" ? "cpu" : options.device;
    if (name == "cpu") return {};
    if (name != "auto" && name != "cuda" && name != "opencl")
        throw Error("unknown device '" + name + "'", {"--device", 0, 0}, "allowed are auto, cpu, cuda and opencl");
    if (name == "auto" && runs < least_runs_for_gpu) return {};
    const std::string why = refusal();
    if (name == "auto" && !why.empty()) return {};
    const ensemble::DevicesFound found = ensemble::find_devices();
    std::vector<const ensemble::Device*> fitting;
    for (const ensemble::Device& d : found.devices)
        if (ensemble::to_string(d.kind) == (name == "auto" ? "cuda" : name)) fitting.push_back(&d);
    if (fitting.empty()) {
        if (name == "auto") return {};
        throw Error("there is no such device", {"--device " + name, 0, 0},
                    found.missing.empty() ? "see `saltus devices`" : listing(found.missing, "and"));
    }
    if (!why.empty()) {
        warnings.push_back("the motions run on the CPU and not on the device: " + why);
        return {};
    }
    // One rank uses one device.
    const std::size_t rank = ranks != nullptr ? static_cast<std::size_t>(ranks->rank()) : 0;
    const ensemble::Device& device = *fitting[rank % fitting.size()];
    if (name == "auto") {
        try {
            compiles(device);
        } catch (const Error& e) {
            warnings.push_back("the motions run on the CPU and not on the device: " + std::string(e.what()));
            return {};
        }
    }
    return device;
}

}  // namespace saltus::cli
