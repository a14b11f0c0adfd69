// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/report.hpp"

#include <cstdio>
#include <filesystem>

#include "cli/command.hpp"
#include "saltus/io/page/collect_results.hpp"
#include "saltus/io/results/files.hpp"
#include "saltus/io/results/result_folder.hpp"

namespace saltus::cli {

int report(const ReportCommand& c) {
    namespace fs = std::filesystem;
    io::Report r = io::read_results(c.results, c.model);
    if (!c.title.empty()) r.title = c.title;
    if (c.hide_sources)
        for (io::ReportPart& part : r.parts) part.source.clear(), part.name.clear();
    const std::string html = c.plain ? io::static_report_html(r) : io::report_html(r);
    const fs::path path(c.out);
    std::error_code error;
    for (const std::string& input : c.results)
        if (fs::equivalent(path, input, error))
            throw Error("is read by this command and would be replaced", {c.out, 0, 0}, "name another file");
    if (path.filename().empty() || fs::is_directory(path, error))
        throw Error("is a folder", {c.out, 0, 0}, "name the file, for example " + (path / "report.html").string());
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
