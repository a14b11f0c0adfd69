// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

/// Results as one page that needs nothing but a browser; docs/report.md has the document inside.
namespace saltus::io {

/// One result: what kind it is, where it comes from, and its JSON.
struct ReportPart {
    std::string kind;     ///< motion, or the name of a command
    std::string source;   ///< a path, for the reader
    std::string command;  ///< that made it, where known
    std::string json;
    std::string title;  ///< of the model
};

/// A number that someone stated, beside what came out.
struct StatedNumber {
    std::string what, where, stated, ours, note;
};

struct Report {
    std::string title;
    std::string version;
    std::string text;                  ///< an introduction
    std::string back_href, back_text;  ///< a link at the top
    std::vector<StatedNumber> numbers;
    std::vector<ReportPart> parts;
    std::vector<std::string> notes;  ///< what could not be shown, and why
};

/// Reads result folders and files: trajectory.h5, and the JSON of the commands, which is recognised by its content.
/// A motion is drawn with the model that lies beside it as model.toml, or with `model`, when that is the one it was
/// computed with. Throws Error for what is no result.
Report read_results(const std::vector<std::string>& paths, const std::string& model = "");

/// The document of a report, one JSON object.
std::string report_json(const Report& report);

/// The page: interactive where the library carries it, otherwise with static plots, and then it says so.
std::string report_html(const Report& report);
bool has_interactive_page();

/// A page of static plots, whatever the library carries.
std::string static_report_html(const Report& report);

}  // namespace saltus::io
