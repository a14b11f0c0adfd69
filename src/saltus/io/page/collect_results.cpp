// SPDX-License-Identifier: Apache-2.0
#include "saltus/io/page/collect_results.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>

#include "saltus/base/error.hpp"
#include "saltus/base/text.hpp"
#include "saltus/io/model/read_model.hpp"
#include "saltus/io/page/detail/result_document.hpp"
#include "saltus/io/page/motion_view.hpp"
#include "saltus/io/results/provenance.hpp"
#include "saltus/io/results/result_folder.hpp"
#include "saltus/io/results/trajectory_file.hpp"
#include "saltus/model/build.hpp"
#include "saltus/model/model.hpp"

namespace saltus::io {

namespace fs = std::filesystem;

namespace {

constexpr std::uintmax_t largest_json = 64U << 20U;  // bytes: 64 MiB, more than a browser can show

std::string read_bytes(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    if (!in) throw Error("cannot be opened", {path.string(), 0, 0}, "check the path");
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

/// Collects results one by one. Motions come first in the report.
class Collector {
public:
    explicit Collector(std::string model) : model_(std::move(model)) {}

    void add(const std::string& path) {
        std::error_code error;
        if (fs::is_directory(path, error))
            folder(path);
        else if (!fs::exists(path, error))
            throw Error("there is no such file or folder", {path, 0, 0},
                        "give a folder that --out wrote, or a JSON document");
        else if (!file(path, Origin::given))
            throw Error("is not a result of saltus", {path, 0, 0},
                        "results are trajectory.h5, the JSON of the commands, and folders that --out wrote");
    }

    Report report() && {
        for (const ReportPart& p : report_.parts)
            if (report_.title.empty()) report_.title = p.title;
        return std::move(report_);
    }

private:
    /// Whether the caller named a file, or it was found in a folder, which may contain other files too.
    enum class Origin { given, in_folder };

    /// Adds all results of a folder.
    void folder(const std::string& path) {
        check_results(path);
        lines_ = command_lines(path);
        take_units(units_in(path));
        std::vector<fs::path> files;
        for (const fs::directory_entry& entry : fs::directory_iterator(path))
            if (entry.is_regular_file()) files.push_back(entry.path());
        std::sort(files.begin(), files.end());
        const bool motion =
            std::any_of(files.begin(), files.end(), [](const fs::path& f) { return f.filename() == "trajectory.h5"; });
        const std::size_t before = report_.parts.size();
        for (const fs::path& f : files) {
            if (f.extension() != ".json" && f.extension() != ".h5") continue;
            if (motion && f.filename() == "simulate.json")
                continue;  // trajectory.h5 contains the same motion with curves
            file(f.string(), Origin::in_folder);
        }
        lines_.clear();
        if (report_.parts.size() == before)
            throw Error("contains no results", {path, 0, 0}, "give a folder that a command wrote with --out");
    }

    /// Results of models with different units have none on a common page.
    void take_units(const std::string& units) {
        if (units.empty()) return;
        units_differ_ = units_differ_ || (!report_.units.empty() && report_.units != units);
        report_.units = units_differ_ ? std::string() : units;
    }

    /// Adds a file. False if it is not a result.
    bool file(const std::string& path, Origin origin) {
        if (fs::path(path).extension() == ".h5") {
            if (origin == Origin::in_folder && fs::path(path).filename() != "trajectory.h5") return false;
            motion(path);
            return true;
        }
        std::error_code error;
        if (!fs::is_regular_file(path, error))
            throw Error("is neither a file nor a folder", {path, 0, 0},
                        "copy its content into a file and give that file");
        if (fs::file_size(path, error) > largest_json)
            throw Error("is larger than 64 MiB", {path, 0, 0}, "give a smaller result");
        if (origin == Origin::given) check_result(path);  // those of a folder have been checked
        const fs::path table = fs::path(path).parent_path() / "basin.csv";
        const auto basin_table = [&] {
            if (origin == Origin::given) check_result(table.string());
            return fs::is_regular_file(table, error) ? std::optional(read_bytes(table)) : std::nullopt;
        };
        std::optional<ReportPart> part = document_part(read_bytes(path), path, basin_table);
        if (!part) return false;
        part->command = line_of(path);
        part->name = name_of(path);
        report_.parts.push_back(std::move(*part));
        return true;
    }

    /// Adds a trajectory file.
    void motion(const std::string& path) {
        const trajectory::Trajectory t = read_trajectory(path);
        Units units;
        const std::optional<model::Model> m = model_of(t, path, units);
        const model::Model* const known = m ? &*m : nullptr;
        MotionView view = motion_view(t, known);
        view.units = std::move(units);
        ReportPart part{"motion", path, {}, motion_json(view, known), t.model, name_of(path)};
        part.command = line_of(path);
        if (part.command.empty() && !t.options.empty())
            part.command = "saltus simulate " + (model_.empty() ? "MODEL" : model_) + " " + t.options;
        report_.parts.insert(report_.parts.begin() + static_cast<std::ptrdiff_t>(motions_++), std::move(part));
    }

    /// Builds the model that a motion was computed with, and reads its units. No value, and a note, if its file is
    /// missing or has changed.
    std::optional<model::Model> model_of(const trajectory::Trajectory& t, const std::string& path, Units& units) {
        const fs::path file = model_.empty() ? fs::path(path).parent_path() / "model.toml" : fs::path(model_);
        std::error_code error;
        const auto without = [&](const std::string& why) {
            report_.notes.push_back(path + ": " + why + "; gaps, forces, energies and the animation are missing");
            return std::nullopt;
        };
        if (!fs::is_regular_file(file, error)) return without("its model is not in the same folder as model.toml");
        const std::string bytes = read_bytes(file);
        model::BuildOptions build = build_options_in(t.options);
        build.project_initial = true;  // the curves need the equations, not the initial state of the model
        if (!t.model_hash.empty() && model_hash(bytes, build.set) != t.model_hash)
            return without(file.string() + " is not the model that it was computed with");
        const model::Description description = parse_model(bytes, file.string());
        units = units_of(description, t.coordinates);
        return model::build(description, build);
    }

    /// The command line that wrote a file of the folder that is read; empty if it is not recorded.
    std::string line_of(const std::string& path) const {
        const auto at = lines_.find(fs::path(path).filename().string());
        return at == lines_.end() ? std::string() : at->second;
    }

    /// The name of a run: that of its folder. A folder without a name of its own (".") gives none.
    static std::string name_of(const std::string& path) {
        const std::string name = fs::path(path).parent_path().filename().string();
        return name == "." || name == ".." ? std::string() : name;
    }

    std::string model_;
    std::map<std::string, std::string> lines_;  ///< command lines of the folder that is read, by file
    Report report_;
    bool units_differ_ = false;
    std::size_t motions_ = 0;  ///< parts at the front of the report that are motions
};

}  // namespace

Report read_results(const std::vector<std::string>& paths, const std::string& model) {
    Collector collector(model);
    for (const std::string& path : paths) collector.add(path);
    return std::move(collector).report();
}

}  // namespace saltus::io
