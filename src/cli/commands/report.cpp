// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/report.hpp"

#include <cstdio>
#include <filesystem>

#include "cli/command.hpp"
#include "cli/interrupt.hpp"
#include "saltus/io/page/collect_results.hpp"
#include "saltus/io/results/files.hpp"
#include "saltus/io/results/result_folder.hpp"

namespace saltus::cli {

namespace fs = std::filesystem;

void refuse_page(const std::string& path) {
    std::error_code error;
    if (fs::path(path).filename().empty() || fs::is_directory(path, error))
        throw Error("is a folder", {path, 0, 0},
                    "name the file, for example " + (fs::path(path) / "report.html").string());
    io::refuse_other_content(path, io::page_beginning, "a page");
}

namespace {

int no_page() {
    tell("saltus: " + interrupt_reason() + "; no page was written");
    return interrupted;
}

}  // namespace

int report(const ReportCommand& c) {
    limit_time(c.seconds);
    refuse_page(c.out);
    io::Report r = io::read_results(c.results, c.model);
    if (!c.of_a_run && interrupt_asked()) return no_page();
    if (!c.title.empty()) r.title = c.title;
    if (c.hide_sources)
        for (io::ReportPart& part : r.parts) part.source.clear(), part.name.clear();
    const std::string html = c.plain ? io::static_report_html(r) : io::report_html(r);
    if (!c.of_a_run && interrupt_asked()) return no_page();
    const Delivering now;
    const fs::path path(c.out);
    const std::string folder = path.has_parent_path() ? path.parent_path().string() : ".";
    if (c.with_results) {
        io::ResultFolder results(folder, io::page_command);
        results.add(path.filename().string(), html);
        results.publish();
    } else {
        io::write_file(folder, path.filename().string(), html);
    }
    if (c.quiet) return done;
    for (const std::string& note : r.notes) tell("saltus: " + note);
    print(c.out + "\n");
    return done;
}

}  // namespace saltus::cli
