// SPDX-License-Identifier: Apache-2.0
#include "cli/command.hpp"

#include <cmath>
#include <cstdio>
#include <fstream>
#include <stdexcept>

#include "cli/interrupt.hpp"
#include "saltus/base/text.hpp"
#include "saltus/base/visible_text.hpp"
#include "saltus/io/model/load_model.hpp"
#include "saltus/io/page/motion_view.hpp"
#include "saltus/io/report/interrupted_document.hpp"
#include "saltus/io/results/result_folder.hpp"
#include "saltus/model/model.hpp"
#include "saltus/model/settings.hpp"
#include "saltus/model/support.hpp"

namespace saltus::cli {

std::vector<std::pair<std::string, std::string>> assignments(const Common& options) {
    std::vector<std::pair<std::string, std::string>> list;
    for (const std::string& assignment : options.set) {
        const std::size_t equals = assignment.find('=');
        if (equals == std::string::npos || equals == 0)
            throw Error("'" + assignment + "' is not an assignment", {"--set", 0, 0}, "write --set name=value");
        const std::size_t begin = assignment.find_first_not_of(' '), end = assignment.find_last_not_of(' ', equals - 1);
        if (begin >= equals)
            throw Error("'" + assignment + "' is not an assignment", {"--set", 0, 0}, "write --set name=value");
        list.emplace_back(assignment.substr(begin, end - begin + 1), assignment.substr(equals + 1));
    }
    return list;
}

io::LoadedModel load(const Common& options, bool perturbed, const std::string& method) {
    model::BuildOptions build;
    build.project_initial = options.project_initial;
    build.perturbed = perturbed;
    build.set = assignments(options);
    io::LoadedModel loaded = io::load_model(options.model, build);
    if ((method.empty() ? loaded.model.settings->simulate.method : method) != "penalty" ||
        !model::has_feature(loaded.model, model::Feature::damping_left_out))
        return loaded;
    loaded.build.penalty = true;
    loaded.model = model::build(loaded.file.description, loaded.build);
    return loaded;
}

double positive(const char* option, double value) {
    if (!(value > 0.0) || !std::isfinite(value))
        throw Error(std::string(option + 2) + " is " + number_text(value) + ", it must be a number > 0",
                    {option, 0, 0});
    return value;
}

double end_time(const char* option, const std::optional<double>& given, const model::Model& model,
                const std::string& file) {
    const std::optional<double> t_end = given ? given : model.settings->simulate.t_end;
    if (!t_end) throw Error(no_end_time, {file, 0, 0}, "give " + std::string(option) + ", or t_end in [simulate]");
    return positive(option, *t_end);
}

namespace {

/// The units of a model file, for pages that show its results. None if it has none, or cannot be read: then the command
/// itself reports that.
std::string units_in_file(const std::string& model) {
    try {
        return model.empty() ? std::string() : io::units_json(io::read_model(model));
    } catch (const Error&) {
        return {};
    }
}

}  // namespace

std::unique_ptr<io::ResultFolder> open_results(const OutputOptions& options, const char* command,
                                               std::vector<std::string> inputs) {
    if (options.out.empty()) return nullptr;
    std::string units = inputs.empty() ? std::string() : units_in_file(inputs.front());
    return std::make_unique<io::ResultFolder>(options.out, command, std::move(inputs), options.line, std::move(units));
}

bool prints_text_alone(const OutputOptions& options) {
    return options.out.empty() && !options.json && options.report.empty();
}

void deliver(const OutputOptions& options, io::ResultFolder* folder, const Delivery& delivery) {
    const Delivering now;
    std::optional<Error> not_written;
    try {
        if (folder != nullptr) {
            delivery.files(*folder);
            folder->publish();
        }
    } catch (const Error& e) {
        not_written = e;
    }
    if (options.json && delivery.json_pieces)
        delivery.json_pieces([](std::string_view piece) { print_document(piece); });
    else if (options.json)
        print_document(delivery.json());
    else if (!options.quiet)
        print(delivery.text());
    if (not_written) throw *not_written;
}

std::string document_of(const std::string& json, bool cut_short) {
    return cut_short ? io::interrupted_document(json, interrupt_reason()) : json;
}

void deliver_nothing(const OutputOptions& options, const std::string& model) {
    const Delivering now;
    if (options.json) print_document(document_of(io::empty_document(model), true));
}

void print_document(std::string_view bytes) {
    document_if_ended(nullptr);  // a second document behind this one could not be read
    if (std::fwrite(bytes.data(), 1, bytes.size(), stdout) != bytes.size() || std::fflush(stdout) != 0)
        throw std::runtime_error("standard output cannot be written");
}

void print(const std::string& text) { print_document(visible_text(text)); }

void tell(const std::string& line) { std::fprintf(stderr, "%s\n", visible_text(line).c_str()); }

namespace {

/// Prints the line of the file that `place` names, with a mark under the column. Prints nothing if there is no such
/// line or if it is too long for a terminal.
void show_line(const Place& place) {
    if (place.line <= 0 || place.column <= 0) return;
    std::ifstream in(place.file);
    std::string line;
    for (int k = 0; k < place.line; ++k)
        if (!std::getline(in, line)) return;
    constexpr std::size_t max_shown_length = 160;  // characters
    if (line.size() > max_shown_length) return;
    while (!line.empty() && line.back() == '\r') line.pop_back();
    for (char& c : line)  // no control characters reach the terminal
        if (static_cast<unsigned char>(c) < 0x20 && c != '\t') c = '?';
    std::string mark;
    int column = 1;
    for (std::size_t k = 0; k < line.size() && column < place.column; ++k) {
        if ((static_cast<unsigned char>(line[k]) & 0xC0) == 0x80) continue;  // continuation byte of a UTF-8 character
        mark += line[k] == '\t' ? '\t' : ' ';
        ++column;
    }
    std::fprintf(stderr, "  %s\n  %s^\n", line.c_str(), mark.c_str());
}

}  // namespace

void report(const Error& e) {
    tell("saltus: error: " + std::string(e.what()));
    show_line(e.place());
}

}  // namespace saltus::cli
