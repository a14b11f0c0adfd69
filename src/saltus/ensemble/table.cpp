// SPDX-License-Identifier: Apache-2.0
#include "saltus/ensemble/table.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <limits>
#include <mutex>
#include <numeric>
#include <system_error>

#include "saltus/base/bytes.hpp"
#include "saltus/base/error.hpp"
#include "saltus/base/fnv1a.hpp"

namespace saltus::ensemble {

namespace fs = std::filesystem;

template <class Bytes>
static void transfer(Bytes& b, TableHead& h) {
    b(h.purpose);
    b(h.line);
    b(h.folder);
    b(h.runs);
    b(h.record_bytes);
}
template <class Bytes>
static void transfer(Bytes& b, Shard& s) {
    b(s.index);
    b(s.of);
    b(s.block);
}

namespace {

constexpr std::string_view ending = ".checkpoint";
constexpr std::string_view format = "saltus table of runs 1\n";
constexpr std::uint64_t entries_at_multiple_of = 4096;    ///< bytes: the entries begin at a page of the file
constexpr std::size_t scan_bytes = std::size_t{1} << 20;  ///< entries that a scan reads at a time
constexpr std::uint64_t sum_bytes = sizeof(std::uint64_t);
/// Offset, length and checksum of an answer that is elsewhere in the file.
constexpr std::uint64_t reference_bytes = 3 * sizeof(std::uint64_t);

/// Checksum of an answer. It is never 0, which marks a run that was not made, and it depends on the run, so that an
/// answer in the place of another one is not accepted. Eight bytes at a time: h -> (h ^ bytes)·c, then h ^ (h >> 32).
/// Both are bijections, so that a change of one byte always changes the sum, up to its last bit.
std::uint64_t sum_of(std::size_t run, std::string_view answer) {
    constexpr std::uint64_t start = 0x9e3779b97f4a7c15U, factor = 0xbf58476d1ce4e5b9U;  // of SplitMix64; both odd
    std::uint64_t h = (static_cast<std::uint64_t>(run) + start) * factor;
    const auto add = [&](std::uint64_t bytes) {
        h = (h ^ bytes) * factor;
        h ^= h >> 32U;
    };
    for (; answer.size() >= sizeof h; answer.remove_prefix(sizeof h)) {
        std::uint64_t bytes = 0;
        std::memcpy(&bytes, answer.data(), sizeof bytes);
        add(bytes);
    }
    std::uint64_t rest = std::uint64_t{answer.size()} << 56U;
    std::memcpy(&rest, answer.data(), answer.size());
    add(rest);
    return h | 1U;
}

Error system_error(const std::string& path, int number) {
    return {std::generic_category().message(number), {path, 0, 0}, "check the folder and the disk"};
}

/// Bytes by their places.
class Storage {
public:
    virtual ~Storage() = default;
    virtual void write(std::uint64_t at, std::string_view bytes) = 0;
    /// Bytes that were never written are 0.
    virtual void read(std::uint64_t at, char* to, std::size_t count) const = 0;

    /// Bytes from `at` to `end` that were all written or, if `hole`, all never written.
    struct Stretch {
        std::uint64_t end = 0;
        bool hole = false;
    };
    /// The stretch that begins at a place. A storage that does not know answers that all bytes were written.
    virtual Stretch stretch([[maybe_unused]] std::uint64_t at) const { return {to_the_end, false}; }
    static constexpr std::uint64_t to_the_end = std::numeric_limits<std::uint64_t>::max();
};

class MemoryStorage final : public Storage {
public:
    void write(std::uint64_t at, std::string_view bytes) override {
        const std::lock_guard lock(mutex_);
        while (!bytes.empty()) {
            const auto piece = static_cast<std::size_t>(at / piece_bytes);
            if (pieces_.size() <= piece) pieces_.resize(piece + 1);
            if (!pieces_[piece]) pieces_[piece] = std::make_unique<char[]>(piece_bytes);
            const auto offset = static_cast<std::size_t>(at % piece_bytes);
            const std::size_t count = std::min(bytes.size(), piece_bytes - offset);
            std::memcpy(pieces_[piece].get() + offset, bytes.data(), count);
            bytes.remove_prefix(count);
            at += count;
        }
    }
    void read(std::uint64_t at, char* to, std::size_t count) const override {
        const std::lock_guard lock(mutex_);
        while (count > 0) {
            const auto piece = static_cast<std::size_t>(at / piece_bytes);
            const auto offset = static_cast<std::size_t>(at % piece_bytes);
            const std::size_t now = std::min(count, piece_bytes - offset);
            if (piece < pieces_.size() && pieces_[piece])
                std::memcpy(to, pieces_[piece].get() + offset, now);
            else
                std::memset(to, 0, now);
            to += now;
            at += now;
            count -= now;
        }
    }
    Stretch stretch(std::uint64_t at) const override {
        const std::lock_guard lock(mutex_);
        auto piece = static_cast<std::size_t>(at / piece_bytes);
        if (piece >= pieces_.size()) return {to_the_end, true};
        const bool hole = pieces_[piece] == nullptr;
        while (piece < pieces_.size() && (pieces_[piece] == nullptr) == hole) ++piece;
        return {std::uint64_t{piece} * piece_bytes, hole};
    }

private:
    static constexpr std::size_t piece_bytes = std::size_t{1} << 16;
    mutable std::mutex mutex_;
    std::vector<std::unique_ptr<char[]>> pieces_;
};

class FileStorage final : public Storage {
public:
    FileStorage(std::string path, bool writable) : path_(std::move(path)) {
        descriptor_ = ::open(path_.c_str(), (writable ? O_RDWR | O_CREAT : O_RDONLY) | O_CLOEXEC | O_NOFOLLOW, 0666);
        if (descriptor_ < 0) throw system_error(path_, errno);
        struct stat status {};
        const bool plain = ::fstat(descriptor_, &status) == 0 && S_ISREG(status.st_mode);
        // File systems without locks are accepted.
        const bool locked = writable && ::flock(descriptor_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
        if (plain && !locked) return;
        ::close(descriptor_);
        if (!plain) throw Error("is not a plain file", {path_, 0, 0}, "give another folder");
        throw Error("another process writes this file", {path_, 0, 0}, "wait until it has ended, or stop it");
    }
    ~FileStorage() override { ::close(descriptor_); }
    FileStorage(const FileStorage&) = delete;
    FileStorage& operator=(const FileStorage&) = delete;

    const std::string& path() const { return path_; }
    std::uint64_t size() const {
        struct stat status {};
        return ::fstat(descriptor_, &status) == 0 ? static_cast<std::uint64_t>(status.st_size) : 0;
    }
    void clear() {
        if (::ftruncate(descriptor_, 0) != 0) throw system_error(path_, errno);
    }
    void write(std::uint64_t at, std::string_view bytes) override {
        while (!bytes.empty()) {
            const ssize_t done = ::pwrite(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(at));
            if (done < 0 && errno == EINTR) continue;
            if (done <= 0) throw system_error(path_, done < 0 ? errno : ENOSPC);
            bytes.remove_prefix(static_cast<std::size_t>(done));
            at += static_cast<std::uint64_t>(done);
        }
    }
    void read(std::uint64_t at, char* to, std::size_t count) const override {
        while (count > 0) {
            const ssize_t done = ::pread(descriptor_, to, count, static_cast<off_t>(at));
            if (done < 0 && errno == EINTR) continue;
            if (done < 0) throw system_error(path_, errno);
            if (done == 0) break;
            to += done;
            at += static_cast<std::uint64_t>(done);
            count -= static_cast<std::size_t>(done);
        }
        std::memset(to, 0, count);
    }
    Stretch stretch(std::uint64_t at) const override {
        const auto place = static_cast<off_t>(at);
        const off_t data = ::lseek(descriptor_, place, SEEK_DATA);
        if (data < 0) return {to_the_end, errno == ENXIO};  // nothing was written behind, or holes are not known
        if (data > place) return {static_cast<std::uint64_t>(data), true};
        const off_t hole = ::lseek(descriptor_, place, SEEK_HOLE);
        return {hole > place ? static_cast<std::uint64_t>(hole) : to_the_end, false};
    }

private:
    std::string path_;
    int descriptor_ = -1;
};

/// The head of a file: format, length, content, checksum, zeros up to a multiple of a page.
std::string head_bytes(const TableHead& head, const Shard& shard) {
    ByteWriter content;
    content(head);
    content(shard);
    const std::uint64_t length = content.bytes().size();
    std::string bytes(format);
    bytes.append(reinterpret_cast<const char*>(&length), sizeof length);
    bytes += content.bytes();
    const std::uint64_t sum = fnv1a(bytes);
    bytes.append(reinterpret_cast<const char*>(&sum), sizeof sum);
    bytes.resize((bytes.size() + entries_at_multiple_of - 1) / entries_at_multiple_of * entries_at_multiple_of);
    return bytes;
}

struct Head {
    TableHead head;
    Shard shard;
    std::uint64_t bytes = 0;
};

/// The head of a file; nothing if the file ends inside of it: its process was killed at once.
std::optional<Head> read_head(const FileStorage& file) {
    const Error damaged{"is damaged", {file.path(), 0, 0}, "remove it; its runs are then computed again"};
    std::uint64_t length = 0;
    const std::uint64_t before = format.size() + sizeof length;
    std::string bytes(before, '\0');
    file.read(0, bytes.data(), bytes.size());
    if (file.size() < before) {
        if (!format.starts_with(std::string_view(bytes).substr(0, std::min<std::size_t>(file.size(), format.size()))))
            throw damaged;
        return {};
    }
    if (!bytes.starts_with(format))
        throw Error("is not a table of runs of this version", {file.path(), 0, 0},
                    "remove it; its runs are then computed again");
    std::memcpy(&length, bytes.data() + format.size(), sizeof length);
    constexpr std::uint64_t longest = std::uint64_t{1} << 26;  // of a command line and the options
    if (length > longest) throw damaged;
    if (file.size() < before + length + sum_bytes) return {};
    bytes.resize(before + length + sum_bytes);
    file.read(0, bytes.data(), bytes.size());
    std::uint64_t sum = 0;
    std::memcpy(&sum, bytes.data() + before + length, sizeof sum);
    if (fnv1a(std::string_view(bytes).substr(0, before + length)) != sum) throw damaged;
    Head h;
    try {
        ByteReader reader(std::string_view(bytes).substr(before, length));
        reader(h.head);
        reader(h.shard);
        if (reader.left() != 0) throw Error("too long");
    } catch (const Error&) {
        throw damaged;
    }
    if (h.shard.of < 1 || h.shard.index < 1 || h.shard.index > h.shard.of || h.shard.block < 1) throw damaged;
    h.bytes = (bytes.size() + entries_at_multiple_of - 1) / entries_at_multiple_of * entries_at_multiple_of;
    return h;
}

std::string name_of(const std::string& name, const Shard& shard) {
    std::string file = name;
    if (!shard.whole()) file += "-" + std::to_string(shard.index) + "-of-" + std::to_string(shard.of);
    return file + std::string(ending);
}

/// The name of the table that a file belongs to; empty if it is none. "basin-2-of-3.checkpoint" belongs to "basin".
std::string table_of(const std::string& file) {
    if (!file.ends_with(ending) || file.size() == ending.size()) return {};
    std::string stem = file.substr(0, file.size() - ending.size());
    const auto digits_before = [&](std::size_t end) {
        std::size_t begin = end;
        while (begin > 0 && stem[begin - 1] >= '0' && stem[begin - 1] <= '9') --begin;
        return begin;
    };
    constexpr std::string_view of = "-of-";
    const std::size_t last = digits_before(stem.size());
    if (last == stem.size() || last < of.size() || stem.compare(last - of.size(), of.size(), of) != 0) return stem;
    const std::size_t first = digits_before(last - of.size());
    if (first == last - of.size() || first < 2 || stem[first - 1] != '-') return stem;
    return stem.substr(0, first - 1);
}

/// The tables of a folder, by file name.
std::vector<fs::path> paths_in(const std::string& folder, const std::string& name) {
    std::vector<fs::path> list;
    std::error_code error;
    for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
        const std::string table = table_of(it->path().filename().string());
        if (!table.empty() && (name.empty() || table == name)) list.push_back(it->path());
    }
    std::sort(list.begin(), list.end());
    return list;
}

}  // namespace

/// The entries of one file, or of a table in memory.
class Table::File {
public:
    File(std::unique_ptr<Storage> storage, std::uint64_t begin, std::uint64_t record_bytes, std::uint64_t runs,
         const Shard& shard, std::uint64_t size, std::string path)
        : storage_(std::move(storage)),
          begin_(begin),
          record_bytes_(record_bytes),
          entry_bytes_(record_bytes > 0 ? record_bytes + sum_bytes : reference_bytes),
          shard_(shard),
          end_(std::max(size, begin + entry_bytes_ * shard.size(runs))),
          path_(std::move(path)) {}

    bool contains(std::size_t run) const { return shard_.contains(run); }
    std::size_t block() const { return shard_.whole() ? Shard::longest_block : shard_.block; }
    const std::string& path() const { return path_; }

    void put(const AnswerBlock& answers) {
        std::uint64_t at = 0;  // where answers of their own sizes begin
        if (record_bytes_ == 0) {
            at = end_.fetch_add(answers.bytes.size());
            storage_->write(at, answers.bytes);
        }
        // Entries at consecutive places are written by one call: of many answers a call for each would cost more than
        // everything else that is done for them.
        std::string entries;
        std::uint64_t first = 0, next = 0;  // places of the first of `entries`, and behind the last
        const auto add = [&](std::uint64_t value) {
            entries.append(reinterpret_cast<const char*>(&value), sizeof value);
        };
        const auto write = [&] {
            if (!entries.empty()) storage_->write(begin_ + entry_bytes_ * first, entries);
            entries.clear();
        };
        for (std::size_t k = 0; k < answers.size(); ++k) {
            const std::string_view answer = answers.answer(k);
            const std::uint64_t place = shard_.place(answers.numbers[k]);
            if (place != next || entries.size() >= scan_bytes) {
                write();
                first = place;
            }
            next = place + 1;
            if (record_bytes_ > 0) {
                SALTUS_EXPECT(answer.size() == record_bytes_);
                entries += answer;
            } else {
                add(at);
                add(answer.size());
                at += answer.size();
            }
            add(sum_of(answers.numbers[k], answer));
        }
        write();
    }

    /// Reads entries in ascending order, many at a time.
    class Cursor {
    public:
        explicit Cursor(const File& file)
            : file_(file), many_(std::max<std::uint64_t>(1, scan_bytes / file.entry_bytes_)) {}

        /// The answer of a run of this file, valid until the next call; nothing if it is not there. `last`: no run from
        /// there on will be asked for.
        std::optional<std::string_view> answer(std::size_t run, std::size_t last) {
            const std::uint64_t place = file_.shard_.place(run);
            if (place < first_ || place >= first_ + count_) {
                // One run alone needs one entry.
                const std::uint64_t wanted = std::max<std::uint64_t>(1, last > run ? last - run : 1);
                first_ = place;
                count_ = std::min(many_, wanted);
                buffer_.resize(count_ * file_.entry_bytes_);
                file_.storage_->read(file_.begin_ + file_.entry_bytes_ * place, buffer_.data(), buffer_.size());
            }
            const char* const entry = buffer_.data() + (place - first_) * file_.entry_bytes_;
            std::uint64_t sum = 0;
            std::memcpy(&sum, entry + file_.entry_bytes_ - sum_bytes, sizeof sum);
            if (sum == 0) return {};
            std::string_view bytes(entry, file_.record_bytes_);
            if (file_.record_bytes_ == 0) {
                std::uint64_t place_and_length[2];
                std::memcpy(place_and_length, entry, sizeof place_and_length);
                const auto [at, length] = place_and_length;
                if (at > file_.end_ || length > file_.end_ - at) return {};
                answer_.resize(length);
                file_.storage_->read(at, answer_.data(), length);
                bytes = answer_;
            }
            // An entry that was cut off when its process was killed counts as not made.
            if (sum_of(run, bytes) != sum) return {};
            return bytes;
        }

        /// Whether none of `count` runs was made: their entries, one after the other, were never written.
        bool none(std::size_t run, std::size_t count) {
            const std::uint64_t begin = file_.begin_ + file_.entry_bytes_ * file_.shard_.place(run);
            if (begin < stretch_begin_ || begin >= stretch_.end) {
                stretch_begin_ = begin;
                stretch_ = file_.storage_->stretch(begin);
            }
            return stretch_.hole && begin + file_.entry_bytes_ * count <= stretch_.end;
        }

    private:
        const File& file_;
        const std::uint64_t many_;  ///< entries that are read at a time
        std::uint64_t first_ = 0, count_ = 0;
        std::string buffer_, answer_;
        std::uint64_t stretch_begin_ = 0;
        Storage::Stretch stretch_;
    };

private:
    std::unique_ptr<Storage> storage_;
    std::uint64_t begin_;         ///< place of the first entry
    std::uint64_t record_bytes_;  ///< 0: entries are references
    std::uint64_t entry_bytes_;
    Shard shard_;
    std::atomic<std::uint64_t> end_;  ///< where the next answer of its own size goes
    std::string path_;
};

namespace {

void require(const Head& found, const TableHead& wanted, const std::string& path) {
    if (found.head.purpose != wanted.purpose || found.head.runs != wanted.runs ||
        found.head.record_bytes != wanted.record_bytes)
        throw Error("belongs to another model or other options", {path, 0, 0},
                    "give those of the first run, or another folder");
}

std::unique_ptr<Table::File> file_of(std::unique_ptr<FileStorage> storage, const Head& h) {
    const std::uint64_t size = storage->size();
    const std::string path = storage->path();
    return std::make_unique<Table::File>(std::move(storage), h.bytes, h.head.record_bytes, h.head.runs, h.shard, size,
                                         path);
}

}  // namespace

Table::Table(std::size_t record_bytes, std::size_t runs)
    : own_(std::make_unique<File>(std::make_unique<MemoryStorage>(), 0, record_bytes, runs, Shard{}, 0, "")) {}

Table::Table(const std::string& folder, const std::string& name, const TableHead& head, const Shard& shard, Open open) {
    const std::string own_path = (fs::path(folder) / name_of(name, shard)).string();
    if (open == Open::resume)
        for (const fs::path& path : paths_in(folder, name)) {
            if (path.filename() == fs::path(own_path).filename()) continue;
            auto storage = std::make_unique<FileStorage>(path.string(), false);
            const std::optional<Head> found = read_head(*storage);
            if (!found) continue;
            require(*found, head, path.string());
            others_.push_back(file_of(std::move(storage), *found));
        }
    auto storage = std::make_unique<FileStorage>(own_path, true);
    std::optional<Head> own;
    if (open == Open::resume && storage->size() > 0) own = read_head(*storage);
    blank_ = !own && others_.empty();
    if (own) {
        require(*own, head, own_path);
    } else {
        storage->clear();
        const std::string bytes = head_bytes(head, shard);
        storage->write(0, bytes);
        own = Head{head, shard, bytes.size()};
    }
    own_ = file_of(std::move(storage), *own);
}

Table::~Table() = default;

bool Table::on_disk() const { return !own_->path().empty(); }

void Table::put(std::size_t run, std::string_view answer) { put({run, answer}); }

void Table::put(const AnswerBlock& answers) {
    own_->put(answers);
    blank_ = false;
}

bool Table::has(std::size_t run) const { return get(run).has_value(); }

std::optional<std::string> Table::get(std::size_t run) const {
    std::optional<std::string> found;
    scan(run, run + 1, [&](std::size_t, std::string_view answer) { found.emplace(answer); });
    return found;
}

std::size_t Table::count(std::size_t first, std::size_t last) const {
    std::size_t all = 0;
    scan(first, last, [&](std::size_t, std::string_view) { ++all; });
    return all;
}

void Table::scan(std::size_t first, std::size_t last, const Take& take) const {
    std::vector<std::pair<const File*, File::Cursor>> files;
    files.emplace_back(own_.get(), File::Cursor(*own_));
    for (const auto& other : others_) files.emplace_back(other.get(), File::Cursor(*other));
    // Neighbours are in the same files: which ones is found out once for them.
    std::size_t together = Shard::longest_block;
    for (const auto& [file, cursor] : files) together = std::gcd(together, file->block());
    std::vector<std::pair<const File*, File::Cursor*>> here;
    for (std::size_t run = first; run < last; ++run) {
        if (run == first || run % together == 0) {
            here.clear();
            for (auto& [file, cursor] : files)
                if (file->contains(run)) here.emplace_back(file, &cursor);
            // Most runs of a very large ensemble that was interrupted were not made. They are skipped.
            const std::size_t count = std::min(last - run, together - run % together);
            if (std::all_of(here.begin(), here.end(), [&](const auto& h) { return h.second->none(run, count); })) {
                run += count - 1;
                continue;
            }
        }
        const File* from = nullptr;
        std::string_view answer;
        for (const auto& [file, cursor] : here) {
            const std::optional<std::string_view> found = cursor->answer(run, last);
            if (!found) continue;
            if (from == nullptr) {
                from = file;
                answer = *found;
            } else if (answer != *found) {
                throw Error("run " + std::to_string(run) + " has another result than in " + from->path(),
                            {file->path(), 0, 0}, "remove the one that was made by another build or device");
            }
        }
        if (from != nullptr) take(run, answer);
    }
}

std::optional<TablesFound> find_tables(const std::string& folder) {
    std::optional<TablesFound> found;
    std::vector<std::unique_ptr<FileStorage>> storages;
    std::vector<Head> heads;
    for (const fs::path& path : paths_in(folder, "")) {
        auto storage = std::make_unique<FileStorage>(path.string(), false);
        const std::optional<Head> h = read_head(*storage);
        if (!h) continue;
        const std::string name = table_of(path.filename().string());
        if (!found) {
            found.emplace();
            found->name = name;
            found->head = h->head;
        }
        if (name != found->name || h->head.purpose != found->head.purpose || h->head.runs != found->head.runs)
            throw Error("belongs to another model or other options than its neighbours", {path.string(), 0, 0},
                        "remove the files that do not belong together");
        ++found->files;
        storages.push_back(std::move(storage));
        heads.push_back(*h);
    }
    if (!found) return found;
    std::vector<std::unique_ptr<Table::File>> files;
    for (std::size_t k = 0; k < heads.size(); ++k) files.push_back(file_of(std::move(storages[k]), heads[k]));
    std::vector<Table::File::Cursor> cursors;
    for (const auto& file : files) cursors.emplace_back(*file);
    std::size_t together = Shard::longest_block;
    for (const auto& file : files) together = std::gcd(together, file->block());
    for (std::size_t run = 0; run < found->head.runs; ++run) {
        const auto made = [&](std::size_t k) {
            return files[k]->contains(run) && cursors[k].answer(run, found->head.runs);
        };
        if (run % together == 0) {
            const std::size_t count = std::min<std::size_t>(found->head.runs - run, together);
            bool none = true;
            for (std::size_t k = 0; k < files.size() && none; ++k)
                none = !files[k]->contains(run) || cursors[k].none(run, count);
            if (none) {
                run += count - 1;
                continue;
            }
        }
        for (std::size_t k = 0; k < files.size(); ++k)
            if (made(k)) {
                ++found->done;
                break;
            }
    }
    return found;
}

std::optional<Shard> division_of(const std::string& folder, const std::string& name) {
    std::optional<Shard> division;
    std::vector<char> there;
    for (const fs::path& path : paths_in(folder, name)) {
        const std::optional<Head> h = read_head(FileStorage(path.string(), false));
        if (!h || h->shard.whole()) continue;
        if (!division) {
            division = Shard{1, h->shard.of, h->shard.block};
            there.resize(h->shard.of, 0);
        }
        if (h->shard.of != division->of || h->shard.block != division->block) return {};
        there[h->shard.index - 1] = 1;
    }
    if (std::find(there.begin(), there.end(), 0) != there.end()) return {};
    return division;
}

void remove_tables(const std::string& folder, const std::string& name) {
    std::error_code ignored;
    for (const fs::path& path : paths_in(folder, name)) fs::remove(path, ignored);
}

double table_bytes(double runs, double record_bytes) {
    return static_cast<double>(entries_at_multiple_of) + runs * (record_bytes + static_cast<double>(sum_bytes));
}

}  // namespace saltus::ensemble
