// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

/// Results as one HTML page that needs nothing but a browser.
///
/// A `Report` is a list of results with their JSON. `report_json` joins them into one document, which docs/report.md
/// describes. `report_html` puts this document into the page that is built from web/. README.md of this module says
/// which file draws what.
namespace saltus::io {

/// One result of a report.
struct ReportPart {
    std::string kind;     ///< "motion", "document", or the name of a command; web/src/views.ts has a view for each
    std::string source;   ///< the path of the result file, shown to the reader; may be empty
    std::string command;  ///< the command line that computed the result; empty if unknown
    std::string json;     ///< one JSON document; its layout depends on `kind`
    std::string title;    ///< the name of the model; empty if unknown
    std::string name{};   ///< the name of the run, which tells it from others; may be empty
};

/// A number that a paper states, beside the number that was computed. All members are shown as they are.
struct StatedNumber {
    std::string what;    ///< the quantity
    std::string where;   ///< where the paper states it
    std::string stated;  ///< the value as the paper prints it
    std::string ours;    ///< the value as Saltus computes it
    std::string note;
};

/// The content of one page.
struct Report {
    std::string title;                  ///< "Results" is shown if it is empty
    std::string text;                   ///< an introduction; may be empty
    std::string back_href, back_text;   ///< target and text of a link at the top; no link if empty
    std::vector<StatedNumber> numbers;  ///< shown as a table at the top
    std::vector<ReportPart> parts;      ///< shown in this order
    std::string units;                  ///< units of the model, as `units_json` writes them; may be empty
    std::vector<std::string> notes;     ///< what could not be shown, and why
};

/// The document of a report: one JSON object (docs/report.md). It carries the version of the library.
std::string report_json(const Report& report);

/// The first bytes of every page.
inline constexpr std::string_view page_beginning = "<!doctype html>";

/// The page. It is interactive if the library was built with Node; otherwise it has static plots and says so.
std::string report_html(const Report& report);

/// Whether the library was built with Node, so that `report_html` gives interactive pages.
bool has_interactive_page();

/// A page of static plots, whether or not the library has the interactive page.
std::string static_report_html(const Report& report);

}  // namespace saltus::io
