// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "saltus/base/error.hpp"
#include "saltus/model/fwd.hpp"

namespace saltus::io {
struct LoadedModel;  // load_model.hpp
class ResultFolder;  // result_folder.hpp
}  // namespace saltus::io

/// Types and functions that all commands share.
namespace saltus::cli {

/// Exit codes of the program. `failed` is a numerical failure; partial results are kept, as after an interrupt.
enum Exit { done = 0, bad_input = 2, failed = 3, interrupted = 130 };

/// Where the results of a command go, and how many threads it may use.
struct OutputOptions {
    std::string out;       ///< folder for result files; empty: no file is written
    std::string report;    ///< page of the results, see report_option.hpp; empty: none
    bool json = false;     ///< standard output is one JSON document
    bool quiet = false;    ///< print errors only
    int threads = 0;       ///< 0: one thread per core
    std::string line;      ///< the command line, without options that decide only where and how fast (see main.cpp)
    double seconds = 0.0;  ///< wall-clock time after which the run ends with what it has; 0: no limit
};

/// Options of every command that takes a model.
struct Common : OutputOptions {
    std::string model;             ///< path of the model file
    std::vector<std::string> set;  ///< assignments NAME=VALUE of --set, as given
    bool project_initial = false;  ///< repair an initial state that is inadmissible
};

/// The assignments of --set as pairs of name and value text. Throws Error for a text without '='.
std::vector<std::pair<std::string, std::string>> assignments(const Common& options);

/// Reads and builds the model of a command, with --set and --project-initial applied; `perturbed` applies the model's
/// [perturbation] too. The method of integration ("": that of the model) decides whether D and D_hat of [penalty] act.
/// The file is read once, here. Throws Error for bad input.
io::LoadedModel load(const Common& options, bool perturbed = false, const std::string& method = "event");

/// The message of a motion without an end time.
inline constexpr const char* no_end_time = "no end time is given";

/// `value` if it is finite and > 0. Otherwise throws an Error that names `option`, for example "--rtol".
double positive(const char* option, double value);

/// End time of a motion that starts at t = 0: the value of `option` if it is given, else t_end of the model's
/// [simulate] table. Throws an Error if there is none or it is not > 0. `file` is the model file.
double end_time(const char* option, const std::optional<double>& given, const model::Model& model,
                const std::string& file);

/// The folder of --out, opened before the computation so that no work is lost; null without --out. `inputs` are the
/// files that the command reads, first its model (may be empty), whose units are recorded. Throws Error if the folder
/// cannot be written.
std::unique_ptr<io::ResultFolder> open_results(const OutputOptions& options, const char* command,
                                               std::vector<std::string> inputs);

/// What a command gives to its user. Functions, because most of it is not needed in every run.
struct Delivery {
    std::function<void(io::ResultFolder&)> files;  ///< adds the result files
    std::function<std::string()> json, text;       ///< for standard output
    /// In place of `json`, for long documents: gives the document to its argument, piece by piece.
    std::function<void(const std::function<void(std::string_view)>&)> json_pieces{};
};

/// The JSON document `json` of a command. If the run was cut short, then the document gets the members "status":
/// "interrupted" and "reason", so that it cannot be mistaken for a complete result.
std::string document_of(const std::string& json, bool cut_short);

/// Prints such a document for a run that was ended before it had any result, if --json asks for a document.
void deliver_nothing(const OutputOptions& options, const std::string& model);

/// Whether a run writes neither files nor a document nor a page: it then needs less memory.
bool prints_text_alone(const OutputOptions& options);

/// Publishes the files in `folder` if it is not null, and prints the JSON document or the text, as the options say. If
/// the files cannot be written then the results are printed all the same, and then the Error is thrown.
void deliver(const OutputOptions& options, io::ResultFolder* folder, const Delivery& delivery);

/// Runs one command line and returns the exit code. `words` are the command, its options and files, without the
/// program's name.
int run(const std::vector<std::string>& words);

/// Writes a text for people to standard output and flushes. Control characters are made visible. Throws if writing
/// fails (full disk, closed pipe).
void print(const std::string& text);

/// The same for a document, byte by byte.
void print_document(std::string_view bytes);

/// Writes a line for people to standard error, with control characters made visible.
void tell(const std::string& line);

/// Prints an error on standard error. If its place is a line of a file, the line follows with a mark under the column.
void report(const Error& e);

}  // namespace saltus::cli
