// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// The folders of `--out`. A folder holds one set of files for each command that wrote to it. The file `contents.json`
/// lists the sets with checksums. A set is replaced as a whole, and files of the earlier set that have no successor
/// disappear with it.
namespace saltus::io {

/// Keeps other processes from writing to a folder. The destructor ends this.
class FolderLock {
public:
    /// Locks an existing folder. Throws Error if another process has locked it. File systems without locks are
    /// accepted.
    explicit FolderLock(const std::string& folder);
    ~FolderLock();
    FolderLock(const FolderLock&) = delete;
    FolderLock& operator=(const FolderLock&) = delete;

private:
    int descriptor_;
};

/// The set of files that one command writes. The constructor is called before the computation, so that a folder that
/// cannot be written is refused at once. `add` writes drafts that no reader sees. `publish` puts them into the place of
/// the earlier set. A command that fails, or is killed, before `publish` leaves the earlier set as it was. A command
/// that is killed inside `publish` leaves complete drafts; the next command or report that opens the folder completes
/// the work.
class ResultFolder {
public:
    /// Creates and locks the folder. `inputs` are the files that the command reads; none of them may be replaced.
    /// `line` is the command line, which `command_lines` gives to readers; it may be empty. `units` is a JSON object
    /// with the units of the model, which `units_in` gives to readers; it may be empty. Throws Error if the folder
    /// cannot be written, or if another process uses it.
    ResultFolder(const std::string& folder, std::string command, std::vector<std::string> inputs = {},
                 std::string line = {}, std::string units = {});

    /// Removes the drafts that were not published.
    ~ResultFolder();
    ResultFolder(const ResultFolder&) = delete;
    ResultFolder& operator=(const ResultFolder&) = delete;

    /// Throws Error if a file with this name would replace an input or something that is not a plain file. `add` checks
    /// it too; a command that knows its files calls this before the computation, so that no work is lost.
    void refuse_name(const std::string& name) const;

    /// Adds a file to the set. Throws Error if it cannot be written, or for the reasons of `refuse_name`.
    void add(const std::string& name, std::string_view content);

    /// The same for a long file: `write` writes its content (files.hpp), which need not fit into memory.
    void add(const std::string& name, const std::function<void(int descriptor)>& write);

    /// Where temporary files of the command can be: on the disk of the folder, and removed with the drafts.
    const std::string& temporary() const { return drafts_; }

    /// Replaces the earlier set. To be called once, after the last `add`.
    void publish();

    const std::string& path() const { return folder_; }

private:
    struct Entry {
        std::string name, sum;  ///< file name, checksum
    };
    std::string contents_with_new_set() const;

    std::string folder_, command_, line_, units_;
    std::vector<std::string> inputs_;
    bool is_new_;  ///< the constructor created the folder; it disappears again if nothing is published
    FolderLock lock_;
    std::string drafts_;  ///< folder of the drafts; empty: published
    std::vector<Entry> entries_;
};

/// The command whose set contains report pages. A page shows the other files of its folder, so every other command that
/// replaces its set removes it.
inline constexpr const char* page_command = "page";

/// Checks a folder before its results are read. First completes a set that a killed command left. Then compares each
/// file that `contents.json` lists with its checksum. Throws Error if a file has changed since its command wrote it:
/// files of different runs would be shown as one. A folder without `contents.json` is accepted, and so is a missing
/// file.
void check_results(const std::string& folder);

/// The same for one file. A file that no `contents.json` beside it lists is accepted.
void check_result(const std::string& path);

/// The content of one file of a folder, for a command that goes on from it. First completes a set that a killed command
/// left. No value if there is no such plain file. Throws Error if `contents.json` does not list the file with the
/// checksum that it has: wrong numbers would pass for computed ones.
std::optional<std::string> read_result(const std::string& folder, const std::string& name);

/// The command line that wrote each file of a folder, by file name. Files whose command line is unknown are missing.
std::map<std::string, std::string> command_lines(const std::string& folder);

/// The units of the model of a folder's results, as the JSON object that `ResultFolder` was given. Empty if there are
/// none.
std::string units_in(const std::string& folder);

}  // namespace saltus::io
