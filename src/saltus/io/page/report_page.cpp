// SPDX-License-Identifier: Apache-2.0
#include "saltus/io/page/report_page.hpp"
#include "saltus/base/error.hpp"
#include "saltus/base/version.hpp"
#include "saltus/io/page/detail/json_text.hpp"
#include "saltus/io/page/detail/page_frame.hpp"
#include "saltus/io/page/embedded.hpp"

namespace saltus::io {

namespace {

// The element of web/index.html that takes the document.
constexpr std::string_view open_tag = R"(<script id="saltus-report" type="application/json">)";
constexpr std::string_view close_tag = "</script>";

/// The document with every "<" escaped. A script element would end at "</script" and change its meaning at "<!--".
std::string safe_in_script(const std::string& json) {
    std::string text;
    text.reserve(json.size());
    for (const char c : json) {
        if (c == '<')
            text += "\\u003c";
        else
            text += c;
    }
    return text;
}

}  // namespace

std::string report_json(const Report& report) {
    JsonText j;
    j.open('{').key("format").string("saltus report").key("layout").number(1);
    j.key("title").string(report.title.empty() ? "Results" : report.title).key("version").string(library_version());
    if (!report.text.empty()) j.key("text").string(report.text);
    if (!report.back_href.empty())
        j.key("back").open('{').key("href").string(report.back_href).key("text").string(report.back_text).close('}');
    if (!report.units.empty()) j.key("units").raw(report.units);
    j.key("notes").open('[');
    for (const std::string& note : report.notes) j.string(note);
    j.close(']').key("numbers").open('[');
    for (const StatedNumber& n : report.numbers) {
        j.open('{').key("what").string(n.what).key("where").string(n.where).key("stated").string(n.stated);
        j.key("ours").string(n.ours).key("note").string(n.note).close('}');
    }
    j.close(']').key("parts").open('[');
    for (const ReportPart& p : report.parts) {
        j.open('{').key("kind").string(p.kind).key("source").string(p.source).key("command").string(p.command);
        if (!p.name.empty()) j.key("name").string(p.name);
        j.key("data").raw(p.json).close('}');
    }
    j.close(']').close('}');
    return std::move(j).text();
}

bool has_interactive_page() { return !report_page_file()[0].content.empty(); }

std::string page_with(const std::string& json) {
    const std::string_view page = report_page_file()[0].content;
    const std::size_t open = page.find(open_tag);
    SALTUS_EXPECT(open != std::string_view::npos);
    const std::size_t begin = open + open_tag.size(), end = page.find(close_tag, begin);
    std::string html(page.substr(0, begin));
    html += safe_in_script(json);
    html += page.substr(end);
    return html;
}

std::string report_html(const Report& report) {
    return has_interactive_page() ? page_with(report_json(report)) : static_report_html(report);
}

}  // namespace saltus::io
