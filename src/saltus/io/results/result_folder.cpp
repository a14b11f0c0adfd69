// SPDX-License-Identifier: Apache-2.0
#include "saltus/io/results/result_folder.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <system_error>

#include "saltus/base/error.hpp"
#include "saltus/base/fnv1a.hpp"
#include "saltus/io/report/detail/json.hpp"
#include "saltus/io/results/files.hpp"

namespace saltus::io {

namespace fs = std::filesystem;
using json::Json;

namespace {

constexpr const char* contents_name = "contents.json";
constexpr const char* drafts_prefix = ".saltus-set-";          // drafts of a command that still computes
constexpr const char* complete_name = ".saltus-complete-set";  // drafts that are being published

std::string sum_text(std::uint64_t sum) { return fmt::format("{:016x}", sum); }

/// The bytes of a plain file; no value if there is none.
std::optional<std::string> bytes_of(const fs::path& path) {
    std::error_code error;
    if (fs::symlink_status(path, error).type() != fs::file_type::regular) return std::nullopt;
    std::ifstream in(path, std::ios::binary);
    if (!in) return std::nullopt;
    return std::string{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

/// The checksum of what an open file contains, as text. It is read in pieces, because a motion may be larger than the
/// memory. No value if it cannot be read.
std::optional<std::string> sum_of(int descriptor) {
    std::vector<char> piece(std::size_t{1} << 20U);
    std::uint64_t sum = fnv1a_start;
    for (off_t at = 0;;) {
        const ssize_t got = ::pread(descriptor, piece.data(), piece.size(), at);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return std::nullopt;
        if (got == 0) return sum_text(sum);
        sum = fnv1a({piece.data(), static_cast<std::size_t>(got)}, sum);
        at += got;
    }
}

/// The checksum of a plain file; no value if there is none.
std::optional<std::string> sum_of(const fs::path& path) {
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (descriptor < 0) return std::nullopt;
    struct stat status {};
    std::optional<std::string> sum;
    if (::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode)) sum = sum_of(descriptor);
    ::close(descriptor);
    return sum;
}

/// One file that contents.json lists.
struct Listed {
    std::string command, name, sum;
    std::string line;   ///< command line; may be empty
    std::string units;  ///< JSON object; may be empty
};

/// A name that stays inside the folder. contents.json may come from anywhere.
bool is_plain_name(const std::string& name) {
    return !name.empty() && name == fs::path(name).filename() && name[0] != '.';
}

/// The files that a contents.json lists; none if it cannot be read.
std::vector<Listed> read_contents(const fs::path& path) {
    std::vector<Listed> list;
    const std::optional<std::string> bytes = bytes_of(path);
    if (!bytes) return list;
    const Json j = Json::parse(*bytes, nullptr, false);
    if (!j.is_object() || !j.contains("files") || !j["files"].is_array()) return list;
    for (const Json& f : j["files"]) {
        const auto text = [&](const char* key) {
            return f.is_object() && f.contains(key) && f[key].is_string() ? f[key].get<std::string>() : std::string();
        };
        Listed entry{text("command"), text("name"), text("fnv1a"), text("line"), {}};
        if (f.is_object() && f.contains("units") && f["units"].is_object()) entry.units = json::line(f["units"]);
        if (is_plain_name(entry.name)) list.push_back(std::move(entry));
    }
    return list;
}

bool lists(const std::vector<Listed>& list, const std::string& name) {
    return std::any_of(list.begin(), list.end(), [&](const Listed& f) { return f.name == name; });
}

/// Moves the files of a complete set of drafts into the folder. Every step can be repeated, because the program can be
/// killed between any two of them. contents.json comes last.
void move_complete_set(const fs::path& folder) {
    const fs::path drafts = folder / complete_name;
    std::error_code error;
    if (fs::symlink_status(drafts, error).type() != fs::file_type::directory) return;
    if (fs::exists(drafts / contents_name, error)) {
        const std::vector<Listed> before = read_contents(folder / contents_name);
        const std::vector<Listed> now = read_contents(drafts / contents_name);
        for (const Listed& f : before) {
            if (lists(now, f.name)) continue;
            if (sum_of(folder / f.name) == f.sum) fs::remove(folder / f.name, error);  // a changed file is the user's
        }
        for (const Listed& f : now)
            if (fs::exists(drafts / f.name, error)) fs::rename(drafts / f.name, folder / f.name, error);
        if (!error) fs::rename(drafts / contents_name, folder / contents_name, error);
    }
    if (!error) fs::remove_all(drafts, error);
    if (error)
        throw Error("cannot be written: " + error.message(), {folder.string(), 0, 0},
                    "check the permissions of the folder; its new files are in " + drafts.string());
}

const std::string& made_folder(const std::string& folder) {
    make_folder(folder);
    return folder;
}

bool exists(const fs::path& path) {
    std::error_code error;
    return fs::exists(path, error);
}

/// Removes drafts of commands that were killed. The folder is locked, so nobody uses them.
void remove_old_drafts(const fs::path& folder) {
    std::error_code error;
    std::vector<fs::path> old;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, error))
        if (entry.path().filename().string().starts_with(drafts_prefix)) old.push_back(entry.path());
    for (const fs::path& drafts : old) fs::remove_all(drafts, error);
    remove_abandoned_drafts(folder.string());
}

}  // namespace

FolderLock::FolderLock(const std::string& folder)
    : descriptor_(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    if (descriptor_ < 0)
        throw Error("cannot be opened: " + std::generic_category().message(errno), {folder, 0, 0},
                    "check the permissions of the folder");
    if (::flock(descriptor_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return;
    ::close(descriptor_);
    throw Error("another saltus process writes to this folder", {folder, 0, 0}, "wait for it, or give another folder");
}

FolderLock::~FolderLock() { ::close(descriptor_); }

ResultFolder::ResultFolder(const std::string& folder, std::string command, std::vector<std::string> inputs,
                           std::string line, std::string units)
    : folder_(folder),
      command_(std::move(command)),
      line_(std::move(line)),
      units_(std::move(units)),
      inputs_(std::move(inputs)),
      is_new_(!exists(folder)),
      lock_(made_folder(folder)) {
    move_complete_set(folder_);
    remove_old_drafts(folder_);
    drafts_ = (fs::path(folder_) / (std::string(drafts_prefix) + "XXXXXX")).string();
    if (::mkdtemp(drafts_.data()) == nullptr)
        throw Error("cannot be written: " + std::generic_category().message(errno), {folder_, 0, 0},
                    "check free space, and the permissions of the folder");
}

ResultFolder::~ResultFolder() {
    std::error_code error;
    if (drafts_.empty()) return;
    fs::remove_all(drafts_, error);
    if (is_new_) ::rmdir(folder_.c_str());  // succeeds only if the folder is empty
}

void ResultFolder::refuse_name(const std::string& name) const {
    const std::string target = (fs::path(folder_) / name).string();
    refuse_special_file(target);
    std::error_code error;
    for (const std::string& input : inputs_)
        if (fs::equivalent(target, input, error))
            throw Error("is read by this command and would be replaced", {target, 0, 0},
                        "give another folder to --out");
}

void ResultFolder::add(const std::string& name, std::string_view content) {
    SALTUS_EXPECT(is_plain_name(name) && !drafts_.empty());
    refuse_name(name);
    try {
        write_new_file((fs::path(drafts_) / name).string(), content);
    } catch (const Error& e) {
        throw Error(e.message(), {(fs::path(folder_) / name).string(), 0, 0}, e.remedy());
    }
    entries_.push_back({name, sum_text(fnv1a(content))});
}

void ResultFolder::add(const std::string& name, const std::function<void(int descriptor)>& write) {
    SALTUS_EXPECT(is_plain_name(name) && !drafts_.empty());
    refuse_name(name);
    const std::string target = (fs::path(folder_) / name).string();
    std::optional<std::string> sum;
    try {
        write_new_file((fs::path(drafts_) / name).string(), [&](int descriptor) {
            write(descriptor);
            sum = sum_of(descriptor);
        });
    } catch (const Error& e) {
        throw Error(e.message(), {target, 0, 0}, e.remedy());
    }
    if (!sum) throw Error("cannot be read again", {target, 0, 0}, "check the disk");
    entries_.push_back({name, *sum});
}

std::string ResultFolder::contents_with_new_set() const {
    Json files = Json::array();
    const auto list = [&](const Listed& of) {
        Json f{{"command", of.command}, {"name", of.name}, {"fnv1a", of.sum}};
        if (!of.line.empty()) f["line"] = of.line;
        if (!of.units.empty()) f["units"] = Json::parse(of.units);
        files.push_back(std::move(f));
    };
    for (const Listed& f : read_contents(fs::path(folder_) / contents_name)) {
        const bool replaced =
            f.command == command_ || f.command == page_command ||
            std::any_of(entries_.begin(), entries_.end(), [&](const Entry& e) { return e.name == f.name; });
        if (!replaced) list(f);
    }
    for (const Entry& e : entries_) list({command_, e.name, e.sum, line_, units_});
    return json::document(Json{{"files", files}});
}

void ResultFolder::publish() {
    SALTUS_EXPECT(!drafts_.empty());
    refuse_special_file((fs::path(folder_) / contents_name).string());
    write_new_file((fs::path(drafts_) / contents_name).string(), contents_with_new_set());
    std::error_code error;
    fs::rename(drafts_, fs::path(folder_) / complete_name, error);
    if (error) throw Error("cannot be written: " + error.message(), {folder_, 0, 0});
    drafts_.clear();
    move_complete_set(folder_);
}

namespace {

void complete_published_set(const std::string& folder) {
    std::error_code error;
    if (!fs::exists(fs::path(folder) / complete_name, error)) return;
    const FolderLock lock(folder);
    move_complete_set(folder);
}

}  // namespace

std::optional<std::string> read_result(const std::string& folder, const std::string& name) {
    complete_published_set(folder);
    const fs::path path = fs::path(folder) / name;
    std::optional<std::string> bytes = bytes_of(path);
    if (!bytes) return std::nullopt;
    const std::vector<Listed> list = read_contents(fs::path(folder) / contents_name);
    const std::string sum = sum_text(fnv1a(*bytes));
    if (std::none_of(list.begin(), list.end(), [&](const Listed& f) { return f.name == name && f.sum == sum; }))
        throw Error("is not the file that its command wrote: " + std::string(contents_name) +
                        " lists no file with this name and this checksum",
                    {path.string(), 0, 0}, "it may be damaged; run the command without --resume");
    return bytes;
}

namespace {

void check_listed(const fs::path& folder, const Listed& f) {
    const std::optional<std::string> sum = sum_of(folder / f.name);
    if (sum && *sum != f.sum)
        throw Error("is not the file that 'saltus " + f.command + "' wrote together with the others of this folder",
                    {(folder / f.name).string(), 0, 0},
                    "run the command again, or remove " + std::string(contents_name) + " to accept the files");
}

}  // namespace

void check_results(const std::string& folder) {
    complete_published_set(folder);
    for (const Listed& f : read_contents(fs::path(folder) / contents_name)) check_listed(folder, f);
}

void check_result(const std::string& path) {
    const fs::path folder = fs::path(path).has_parent_path() ? fs::path(path).parent_path() : fs::path(".");
    complete_published_set(folder.string());
    for (const Listed& f : read_contents(folder / contents_name))
        if (f.name == fs::path(path).filename().string()) check_listed(folder, f);
}

std::map<std::string, std::string> command_lines(const std::string& folder) {
    std::map<std::string, std::string> lines;
    for (const Listed& f : read_contents(fs::path(folder) / contents_name))
        if (!f.line.empty()) lines[f.name] = f.line;
    return lines;
}

std::string units_in(const std::string& folder) {
    for (const Listed& f : read_contents(fs::path(folder) / contents_name))
        if (!f.units.empty()) return f.units;
    return {};
}

}  // namespace saltus::io
