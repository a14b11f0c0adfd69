// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/report.hpp"

#include <cstdio>
#include <filesystem>

#include "cli/command.hpp"
#include "saltus/io/page/collect_results.hpp"
#include "saltus/io/results/files.hpp"

namespace saltus::cli {

int report(const ReportCommand& c) {
    namespace fs = std::filesystem;
    io::Report r = io::read_results(c.results, c.model);
    if (!c.title.empty()) r.title = c.title;
    if (c.hide_sources)
        for (io::ReportPart& part : r.parts) part.source.clear();
    const std::string html = c.plain ? io::static_report_html(r) : io::report_html(r);
    const fs::path path(c.out);
    std::error_code error;
    if (path.filename().empty() || fs::is_directory(path, error))
        throw Error("is a folder", {c.out, 0, 0}, "name the file, for example " + (path / "report.html").string());
    io::write_file(path.has_parent_path() ? path.parent_path().string() : ".", path.filename().string(), html);
    if (c.quiet) return done;
    for (const std::string& note : r.notes) std::fprintf(stderr, "saltus: %s\n", note.c_str());
    print(c.out + "\n");
    return done;
}

}  // namespace saltus::cli
