// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "cli/progress.hpp"
#include "saltus/ensemble/device.hpp"
#include "saltus/ensemble/ranks.hpp"
#include "saltus/ensemble/table.hpp"

namespace saltus::ensemble {
struct Axis;    // starts.hpp
struct Starts;  // starts.hpp
}  // namespace saltus::ensemble

namespace saltus::cli {

/// Options of commands that make many runs: basin, simulate --vary, diagram.
struct EnsembleOptions {
    std::string shard;            ///< "2/3": only this part of the runs, for `saltus merge`
    bool resume = false;          ///< continue from the runs in the result folder
    std::string device = "auto";  ///< auto, cpu, cuda or opencl
};

/// What an axis of an ensemble is: a component of (q, u), or a parameter.
struct AxisTarget {
    int component = -1;  ///< −1: a parameter
};
/// Throws Error with `option` as its place if the model has no such coordinate, velocity or parameter.
AxisTarget axis_target(const std::string& name, const model::Model& model, const char* option);

/// The starts of --samples with --box and --seed.
struct SampleOptions {
    std::optional<long> samples;   ///< number of random runs
    std::vector<std::string> box;  ///< NAME=FROM:TO, NAME=normal:MEAN:DEVIATION or NAME=VALUE
    std::uint64_t seed = 1;
};
/// Throws Error if they do not make sense together.
ensemble::Starts sampled_starts(const SampleOptions& options);
/// The starts of --grid or --vary. Throws Error if an axis is given twice, or if there are more than 1e9 points.
ensemble::Starts gridded_starts(const std::vector<std::string>& texts, const char* option);

/// What many runs need. Sizes in bytes.
struct EnsembleNeeds {
    double runs = 0.0;
    double memory = 0.0;        ///< beside what the program uses for few runs
    double disk = 0.0;          ///< of the result folder, at the time at which it holds most
    double largest_file = 0.0;  ///< of the folder
    bool kept_on_disk = true;   ///< with a result folder the runs need less memory
};
/// Throws Error with the numbers if they do not fit. `folder`: of the results; empty: none. `option` gave the runs.
void refuse_needs(const EnsembleNeeds& needs, const std::string& folder, const char* option);
/// The same for runs that are all held in memory, `bytes` for each.
void refuse_kept_runs(std::size_t runs, double bytes, const char* option);

/// How the runs of one command are shared, kept and shown.
class EnsembleRun {
public:
    /// Joins the processes of mpirun. `name` is that of the files of runs, `runs` the number of all runs. Throws Error
    /// if the options do not fit together. Nothing is written.
    EnsembleRun(const EnsembleOptions& options, const Common& common, std::string name, std::size_t runs);

    ensemble::Ranks* ranks() const { return ranks_.get(); }
    bool leads() const { return ranks_ == nullptr || ranks_->rank() == 0; }
    const ensemble::Shard& shard() const { return shard_; }
    bool whole() const { return shard_.whole(); }

    /// The folder of the results, for the whole of them: opened by the process that leads. Parts may run at the same
    /// time, each with a file of its own, so that none of them locks the folder.
    std::unique_ptr<io::ResultFolder> open_results(const char* command, const std::vector<std::string>& inputs) const;

    /// The table of the answers: in the result folder if there is one, otherwise in memory. `purpose` identifies model
    /// and options; `record_bytes` see ensemble::TableHead. `more` is added to the name of the files, for commands with
    /// several tables.
    std::shared_ptr<ensemble::Table> open_table(const std::string& purpose, std::size_t record_bytes,
                                                const std::string& more = "") const;
    /// After complete results were written.
    void remove_tables(const std::string& more = "") const;

    /// Shows the progress of the runs on the terminal.
    std::function<void(std::size_t done, std::size_t of)> progress();

    /// What a run of one part tells, `made` of whose runs were made now. Returns the exit code.
    int deliver_part(const ensemble::Table& table, const std::string& model, std::size_t made) const;

private:
    EnsembleOptions options_;
    const Common& common_;
    std::string name_;
    std::size_t runs_;
    std::unique_ptr<ensemble::Ranks> ranks_;
    ensemble::Shard shard_;
    std::optional<Progress> progress_;
    std::size_t progress_of_ = 0;
};

/// Text that identifies model and options of a command. Two runs with the same text have the same answers.
std::string purpose_of(const std::string& model_text, const Common& common, const std::string& more);

/// The device of --device for so many runs; nothing: the CPU. `refusal` says why no kernel makes them; if it is not
/// empty then the runs go to the CPU, and a warning says why. `compiles` is called for `auto`: a device that fails is
/// an error only if it was asked for. Throws Error if there is no such device.
std::optional<ensemble::Device> chosen_device(const EnsembleOptions& options, std::size_t runs,
                                              const ensemble::Ranks* ranks, const std::function<std::string()>& refusal,
                                              const std::function<void(const ensemble::Device&)>& compiles,
                                              std::vector<std::string>& warnings);

}  // namespace saltus::cli
