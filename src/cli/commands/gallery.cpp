// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/gallery.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <mutex>
#include <system_error>

#include "cli/certificate_option.hpp"
#include "cli/command.hpp"
#include "cli/interrupt.hpp"
#include "saltus/base/plain_text.hpp"
#include "saltus/base/text.hpp"
#include "saltus/ensemble/parallel_for.hpp"
#include "saltus/io/model/read_model.hpp"
#include "saltus/io/page/collect_results.hpp"
#include "saltus/io/page/embedded.hpp"
#include "saltus/io/page/gallery.hpp"
#include "saltus/io/results/files.hpp"
#include "saltus/io/results/provenance.hpp"
#include "saltus/io/results/result_folder.hpp"

namespace saltus::cli {

namespace fs = std::filesystem;
using io::GalleryCard;
using io::GalleryRun;
using io::GalleryStudy;

namespace {

/// A gallery that is being made. Its files are drafts in a hidden folder inside the folder of the gallery; `publish`
/// moves them to their places. A gallery that cannot be completed, for instance on a full disk, leaves the folder as it
/// was. Studies run inside the hidden folder, so that pages name files by paths relative to it.
class GalleryDraft {
public:
    explicit GalleryDraft(const std::string& folder)
        : before_(fs::current_path()), target_(fs::absolute(folder)), is_new_(!fs::exists(target_)), lock_(made()) {
        std::error_code error;
        for (const auto& entry : fs::directory_iterator(target_))  // left by a program that was killed
            if (entry.path().filename().string().starts_with(prefix)) fs::remove_all(entry.path(), error);
        std::string name = (target_ / (std::string(prefix) + "XXXXXX")).string();
        if (::mkdtemp(name.data()) == nullptr) {
            const std::string why = std::generic_category().message(errno);
            if (is_new_) ::rmdir(target_.c_str());
            refuse(why);
        }
        drafts_ = name;
        fs::permissions(drafts_, fs::status(target_).permissions(), error);
        fs::current_path(drafts_);
    }
    ~GalleryDraft() {
        std::error_code ignored;
        fs::current_path(before_, ignored);
        fs::remove_all(drafts_, ignored);
        if (is_new_) ::rmdir(target_.c_str());  // succeeds only if nothing was published
    }
    GalleryDraft(const GalleryDraft&) = delete;
    GalleryDraft& operator=(const GalleryDraft&) = delete;

    /// Moves all files to their places. Files of an earlier gallery that have no successor stay. Moving needs no room
    /// on the disk.
    void publish() const {
        try {
            check_places(drafts_, target_);
            move_into(drafts_, target_);
        } catch (const fs::filesystem_error& e) {
            refuse(e.code().message());
        }
    }

private:
    static constexpr std::string_view prefix = ".saltus-gallery-";

    [[noreturn]] void refuse(const std::string& why) const {
        throw Error("the gallery cannot be written: " + why, {target_.string(), 0, 0},
                    "check free space and permissions, or give another -o");
    }
    std::string made() const {
        std::error_code error;
        fs::create_directories(target_, error);
        if (error) refuse(error.message());
        return target_.string();
    }
    static bool is_result_set(const fs::path& folder) { return fs::exists(folder / "contents.json"); }
    /// Throws Error if something in the place of a file or folder must not be replaced.
    void check_places(const fs::path& from, const fs::path& to) const {
        for (const auto& entry : fs::directory_iterator(from)) {
            const fs::path place = to / entry.path().filename();
            if (!entry.is_directory())
                io::refuse_special_file(place.string());
            else if (fs::is_symlink(place) || (fs::exists(place) && !fs::is_directory(place)))
                refuse(place.string() + " is not a folder");
            else if (!is_result_set(entry.path()))
                check_places(entry.path(), place);
        }
    }
    /// A folder of results is a set of files that belong together: it replaces the earlier one as a whole.
    static void move_into(const fs::path& from, const fs::path& to) {
        fs::create_directories(to);
        for (const auto& entry : fs::directory_iterator(from)) {
            const fs::path place = to / entry.path().filename();
            const bool result_set = is_result_set(entry.path());
            if (entry.is_directory() && !result_set) {
                move_into(entry.path(), place);
                continue;
            }
            if (result_set) fs::remove_all(place);
            fs::rename(entry.path(), place);
        }
    }

    fs::path before_, target_;
    bool is_new_;  ///< the folder did not exist before
    io::FolderLock lock_;
    fs::path drafts_;
};

std::string content(const fs::path& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

std::string stem(std::string_view name) { return fs::path(name).stem().string(); }

std::string folder_of(const GalleryStudy& s, const GalleryRun& run) { return "data/" + s.model + "/" + run.name; }

/// The command line of a run, with the paths of its model and result folder inserted. What can be proved gets a
/// certificate beside the folder, which is checked if `check`.
std::vector<std::string> words_of(const GalleryStudy& s, const GalleryRun& run, const std::string& command,
                                  bool check) {
    std::vector<std::string> words = io::split_words(command);
    if (words.front() == "certify" || words.front() == "equilibria") {
        words.insert(words.end(), {"--certificate", folder_of(s, run) + "-certificate.json"});
        if (check) words.emplace_back("--check");
    }
    words.insert(words.begin() + 1, "models/" + s.model + ".toml");
    for (const char* const word : {"--quiet", "--threads", "1", "--out"}) words.emplace_back(word);
    words.push_back(folder_of(s, run));
    return words;
}

std::string shown(const GalleryStudy& s, const std::string& command) {
    const std::size_t space = std::min(command.find(' '), command.size());
    return "saltus " + command.substr(0, space) + " models/" + s.model + ".toml" + command.substr(space);
}

/// Reads the JSON document that the command of a run has written.
std::string result_of(const GalleryStudy& s, const GalleryRun& run) {
    const std::string command = run.command.substr(0, run.command.find(' '));
    return content(fs::path(folder_of(s, run)) / (command + ".json"));
}

io::StatedNumber number_of(const GalleryStudy& s, const io::ModelFile& file, const io::GalleryNumber& n, bool quick) {
    const std::size_t end = std::min(n.ours.find('>'), n.ours.size());
    const std::string name = n.ours.substr(0, end);
    const auto run = std::find_if(s.runs.begin(), s.runs.end(), [&](const GalleryRun& r) { return r.name == name; });
    if (run == s.runs.end())
        throw Error("'" + n.what + "' of " + s.model + " names no run", {"gallery.toml", 0, 0},
                    "begin 'ours' with the name of a run");
    io::StatedNumber out{n.what, n.where, n.stated, {}, n.note};
    if (!n.formula.empty()) {
        const double value =
            io::formula_value(n.formula, file.description, io::build_options_in(quick ? run->quick : run->command).set);
        out.stated = (n.stated.empty() ? n.formula : n.stated) + " = " + rounded_text(value, n.digits);
    }
    out.ours = io::number_at(result_of(s, *run), n.ours.substr(std::min(end + 1, n.ours.size())), n.digits);
    return out;
}

/// Removes large motions from the result folders. The pages show them, and the gallery stays small.
void drop_large(const fs::path& file) {
    constexpr std::uintmax_t max_stored_size = 8U << 20U;  // bytes
    std::error_code error;
    if (fs::file_size(file, error) > max_stored_size && !error) fs::remove(file, error);
}

GalleryCard study(const GalleryStudy& s, const GalleryCommand& c, bool check) {
    GalleryCard card;
    card.study = &s;
    card.page = s.model + ".html";
    std::vector<std::string> folders, commands, names;
    for (const GalleryRun& run : s.runs) {
        if (interrupt_asked()) break;
        const std::string& command = c.quick ? run.quick : run.command;
        const std::vector<std::string> words = words_of(s, run, command, check);
        const int code = cli::run(words);
        // Studies are part of the program, so that their input is right: the files cannot be written.
        if (code == bad_input)
            throw Error("the files of '" + run.name + "' cannot be written", {c.out, 0, 0},
                        "check free space and permissions");
        if (code != done) card.failure += "'" + run.name + "' ended with code " + std::to_string(code) + ". ";
        std::error_code error;
        if (!fs::is_directory(folder_of(s, run), error)) continue;
        folders.push_back(folder_of(s, run));
        commands.push_back(shown(s, command));
        names.push_back(run.name);
    }
    if (interrupt_asked()) {  // the numbers of the page need all runs
        card.failure += "not finished: " + interrupt_reason();
        return card;
    }
    const Delivering now;
    io::Report report;
    for (std::size_t k = 0; k < folders.size(); ++k) {
        io::Report part = io::read_results({folders[k]});
        if (report.title.empty()) report.title = part.title;
        if (report.units.empty()) report.units = part.units;
        for (io::ReportPart& p : part.parts) {
            p.command = commands[k];
            p.name = names[k];
            if (p.kind == "motion" && card.thumbnail.empty()) card.thumbnail = io::thumbnail(p.json, s.moment);
            report.parts.push_back(std::move(p));
        }
        report.notes.insert(report.notes.end(), part.notes.begin(), part.notes.end());
    }
    if (!s.title.empty()) report.title = s.title;
    report.text = s.text;
    report.back_href = "index.html";
    report.back_text = "gallery";
    const io::ModelFile file = io::read_model_file("models/" + s.model + ".toml");
    for (const io::GalleryNumber& n : s.numbers) card.numbers.push_back(number_of(s, file, n, c.quick));
    report.numbers = card.numbers;
    card.title = report.title;
    io::write_file(".", card.page, io::report_html(report));
    for (const std::string& folder : folders) drop_large(fs::path(folder) / "trajectory.h5");
    return card;
}

std::vector<io::GalleryDocument> documents() {
    std::vector<io::GalleryDocument> list;
    for (const io::EmbeddedFile& f : io::documentation_files()) {
        const std::string text(f.content);
        io::Report page;
        const std::size_t end = text.find('\n');
        page.title = text.starts_with("# ") ? text.substr(2, end - 2) : stem(f.name);
        std::erase(page.title, '`');
        page.back_href = "../index.html";
        page.back_text = "gallery";
        page.parts.push_back(io::document_part(std::string(f.name), page.title, text));
        io::write_file("docs", stem(f.name) + ".html", io::report_html(page));
        list.push_back({page.title, "docs/" + stem(f.name) + ".html"});
    }
    return list;
}

}  // namespace

int gallery(const GalleryCommand& c) {
    if (c.out.empty()) throw Error("needs a folder", {"gallery", 0, 0}, "write saltus gallery -o DIR");
    io::Gallery g = io::parse_gallery(io::gallery_file()[0].content, "gallery.toml");
    std::vector<std::string> models;
    for (const GalleryStudy& s : g.studies) models.push_back(s.model);
    for (const std::string& name : c.only)
        if (std::find(models.begin(), models.end(), name) == models.end())
            throw Error("there is no study of '" + name + "'", {"--only", 0, 0}, did_you_mean(name, models));
    if (!c.only.empty())
        std::erase_if(g.studies, [&](const GalleryStudy& s) {
            return std::find(c.only.begin(), c.only.end(), s.model) == c.only.end();
        });
    const GalleryDraft draft(c.out);
    for (const io::EmbeddedFile& f : io::model_files()) io::write_file("models", std::string(f.name), f.content);
    std::vector<GalleryCard> cards(g.studies.size());
    std::mutex telling;
    std::size_t finished = 0;
    listen_for_interrupts();
    limit_time(c.seconds);
    ensemble::Options parallel;
    parallel.threads = c.threads;
    const bool check = can_check();
    const auto work = [&](std::size_t k) {
        cards[k] = study(g.studies[k], c, check);
        if (c.quiet) return;
        const std::lock_guard lock(telling);
        std::fprintf(stderr, "[%zu/%zu] %s%s%s\n", ++finished, g.studies.size(), g.studies[k].model.c_str(),
                     cards[k].failure.empty() ? "" : ": ", cards[k].failure.c_str());
    };
    ensemble::parallel_for(g.studies.size(), work, parallel);
    const Delivering now;
    const std::vector<io::GalleryDocument> docs = documents();
    io::write_file(".", "index.html", io::gallery_index(g, cards, docs));
    draft.publish();
    if (!c.quiet) print((fs::path(c.out) / "index.html").string() + "\n");
    if (interrupt_asked()) return interrupted;
    const bool sound = std::all_of(cards.begin(), cards.end(), [](const GalleryCard& x) { return x.failure.empty(); });
    return sound ? done : failed;
}

}  // namespace saltus::cli
