// SPDX-License-Identifier: Apache-2.0
#include "cli/report_option.hpp"

#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "cli/commands/report.hpp"
#include "cli/interrupt.hpp"

namespace saltus::cli {

namespace fs = std::filesystem;

namespace {

/// A new folder for temporary files. The destructor removes it.
class TemporaryFolder {
public:
    TemporaryFolder() {
        std::string name = (fs::temp_directory_path() / "saltus-XXXXXX").string();
        if (::mkdtemp(name.data()) == nullptr) throw Error("cannot create a folder", {name, 0, 0}, "give --out DIR");
        path_ = name;
    }
    ~TemporaryFolder() {
        std::error_code error;
        fs::remove_all(path_, error);
    }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;
    const std::string& path() const { return path_; }

private:
    std::string path_;
};

}  // namespace

int with_report(OutputOptions& options, const std::function<int()>& run) {
    std::string& out = options.out;
    if (options.report.empty()) return run();
    ReportCommand page;
    page.of_a_run = true;
    page.quiet = options.json || options.quiet;
    page.with_results = options.report == default_report && !out.empty();
    page.out = page.with_results ? (fs::path(out) / default_report).string() : options.report;
    refuse_page(page.out);
    if (!out.empty()) {
        const int code = run();
        page.results = {out};
        const Delivering now;
        return cli::report(page) == done ? code : failed;
    }
    const TemporaryFolder folder;
    out = folder.path();
    const int code = run();
    page.results = {out};
    page.hide_sources = true;
    const Delivering now;
    return cli::report(page) == done ? code : failed;
}

std::vector<std::string> join_report_file(int argc, char** argv) {
    std::vector<std::string> words;
    for (int k = 0; k < argc; ++k) {
        const std::string word = argv[k];
        const bool page = word.ends_with(".html") || word.ends_with(".htm");
        if (page && !words.empty() && words.back() == "--report")
            words.back() += "=" + word;
        else
            words.push_back(word);
    }
    return words;
}

}  // namespace saltus::cli
