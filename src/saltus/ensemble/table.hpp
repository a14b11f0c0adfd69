// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "saltus/ensemble/shard.hpp"

namespace saltus::ensemble {

/// What the file of a table says about its runs.
struct TableHead {
    /// Identifies model and options. Only a table with the same text is continued.
    std::string purpose;
    std::string line;                ///< the command line that makes the whole result
    std::string folder;              ///< where it was given
    std::uint64_t runs = 0;          ///< number of runs of the whole ensemble
    std::uint64_t record_bytes = 0;  ///< bytes of every answer; 0: answers have different sizes
};

/// Answers of several runs, in memory of somebody else.
struct AnswerBlock {
    /// One answer.
    AnswerBlock(const std::size_t& number, std::string_view answer)
        : numbers(&number, 1), ends(&own_end_, 1), bytes(answer), own_end_(answer.size()) {}
    AnswerBlock(std::span<const std::size_t> numbers_of, std::span<const std::size_t> ends_of, std::string_view all)
        : numbers(numbers_of), ends(ends_of), bytes(all) {}
    AnswerBlock(const AnswerBlock&) = delete;
    AnswerBlock& operator=(const AnswerBlock&) = delete;

    std::span<const std::size_t> numbers;  ///< numbers of the runs
    std::span<const std::size_t> ends;     ///< place in `bytes` behind each answer
    std::string_view bytes;                ///< the answers one after the other

    std::size_t size() const { return numbers.size(); }
    std::string_view answer(std::size_t k) const {
        const std::size_t begin = k == 0 ? 0 : ends[k - 1];
        return bytes.substr(begin, ends[k] - begin);
    }

private:
    std::size_t own_end_ = 0;
};

/// The answers of many runs, by the number of the run: in memory, or in a file. A file is what --resume and `saltus
/// merge` continue from. It is never held in memory, and every answer is in it as soon as `put` returns.
///
/// The file `basin.checkpoint`, or `basin-2-of-3.checkpoint` of one shard: a head under a checksum, then one entry for
/// each run of the shard at its place, under a checksum of its own. An entry of zeros is a run that was not made. If
/// answers have different sizes then the entries are places of the answers, which follow in the order of completion. A
/// process that is killed at any time leaves a file with all answers that it has put, except perhaps the last one. The
/// bytes are for the kind of machine that wrote them.
class Table {
public:
    /// In memory.
    explicit Table(std::size_t record_bytes, std::size_t runs = 0);

    enum class Open { fresh, resume };
    /// In the file `NAME.checkpoint` of a folder, or that of a shard. With `resume` the answers of all files of this
    /// name are known, whatever shards they are of; otherwise the file of this shard begins anew, and other files are
    /// not looked at. Throws Error if the file cannot be written, if another process writes it, or if one of the files
    /// is damaged or has another purpose.
    Table(const std::string& folder, const std::string& name, const TableHead& head, const Shard& shard, Open open);
    ~Table();
    Table(const Table&) = delete;
    Table& operator=(const Table&) = delete;

    /// Stores the answer of a run. Any thread may call it. Runs beyond TableHead::runs are allowed if all answers have
    /// the same size. Throws Error if it cannot be written.
    void put(std::size_t run, std::string_view answer);
    /// The same for many runs. Answers of neighbours are written together.
    void put(const AnswerBlock& answers);

    bool has(std::size_t run) const;
    std::optional<std::string> get(std::size_t run) const;

    /// Calls take(run, answer) for the answers of [first, last) that are there, in ascending order. Throws Error if two
    /// files contradict each other.
    using Take = std::function<void(std::size_t run, std::string_view answer)>;
    void scan(std::size_t first, std::size_t last, const Take& take) const;
    /// Number of answers of [first, last) that are there.
    std::size_t count(std::size_t first, std::size_t last) const;

    bool on_disk() const;
    /// Whether the table began without any answer, and nothing was put yet.
    bool blank() const { return blank_; }

    class File;

private:
    std::unique_ptr<File> own_;                  ///< where `put` writes
    std::vector<std::unique_ptr<File>> others_;  ///< further files, for reading
    std::atomic<bool> blank_ = true;
};

/// What the tables of a folder contain together.
struct TablesFound {
    std::string name;  ///< "basin" of `basin-2-of-3.checkpoint`
    TableHead head;
    std::size_t files = 0;
    std::size_t done = 0;  ///< runs that are in one of the files
};
/// Nothing if there is no table. Throws Error if a table is damaged, or if they do not belong together.
std::optional<TablesFound> find_tables(const std::string& folder);

/// The division into parts, as part 1 of it, if the tables of a folder with this name are all parts of one division; a
/// table of the whole does not matter. Nothing otherwise.
std::optional<Shard> division_of(const std::string& folder, const std::string& name);

/// Removes the tables of a folder with this name. Does nothing if there is none.
void remove_tables(const std::string& folder, const std::string& name);

/// Bytes on the disk of a table with `runs` answers of `record_bytes` bytes each.
double table_bytes(double runs, double record_bytes);

}  // namespace saltus::ensemble
