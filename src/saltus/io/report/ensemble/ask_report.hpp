// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "saltus/ensemble/kernel_runs.hpp"
#include "saltus/ensemble/questions.hpp"
#include "saltus/ensemble/starts.hpp"
#include "saltus/ensemble/statistics.hpp"
#include "saltus/ensemble/table.hpp"

/// The result of `saltus simulate --vary ... --ask ...` as text, JSON, CSV and HDF5. The runs are read one after the
/// other from their table and not kept.
namespace saltus::io {

class ResultFolder;  // result_folder.hpp

struct AskReport {
    std::string model, method, options;    ///< names, and the options that had an effect
    double t_end = 0.0;                    ///< end time of all motions, in s
    std::string device = "cpu";            ///< "cpu", or kind and name of the device
    ensemble::DeviceUse device_use;        ///< what it did
    std::vector<std::string> coordinates;  ///< coordinates of the model
    ensemble::Starts starts;
    std::vector<ensemble::Question> questions;
    std::vector<std::string> columns;  ///< ensemble::column_names
    const ensemble::Table* table = nullptr;
    bool complete = false;  ///< false: interrupted
    std::vector<std::string> warnings;
};

/// What the runs say together.
struct AskSummary {
    std::size_t runs = 0;       ///< those that were made
    std::size_t completed = 0;  ///< their motions reached the end
    std::size_t refused = 0;    ///< the model could not be built
    std::size_t failed = 0;     ///< all others
    std::string first_failure;  ///< the reason of the first run that did not complete
    std::vector<ensemble::Moments> of_column;
};
AskSummary summary_of(const AskReport& report);

/// For a terminal: the statistics, and the first runs.
std::string ask_text(const AskReport& report, const AskSummary& summary);
/// One JSON document (docs/ensemble.md). A long list of runs is left out and says so.
std::string ask_json(const AskReport& report, const AskSummary& summary);
/// A line for each run. The text comes in pieces.
void ask_csv(const AskReport& report, const std::function<void(std::string_view)>& take);
/// A line for each point of a section. Empty if no section was asked for.
void ask_points_csv(const AskReport& report, const std::function<void(std::string_view)>& take);
bool has_points(const AskReport& report);
/// Adds a column for each value as HDF5. Throws Error if the library was built without HDF5.
void add_answers(ResultFolder& folder, const std::string& name, const AskReport& report);

}  // namespace saltus::io
