// SPDX-License-Identifier: Apache-2.0
#include "saltus/io/results/basin_checkpoint.hpp"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "saltus/base/error.hpp"
#include "saltus/io/results/files.hpp"
#include "saltus/io/results/fnv1a.hpp"

namespace saltus::io {

namespace fs = std::filesystem;
using stability::BasinRecord;
using stability::Fate;

namespace {

constexpr std::string_view first_part = "basin", ending = ".checkpoint";
constexpr std::string_view format = "saltus basin checkpoint 2\n";

std::string name_of(const ensemble::Shard& shard) {
    std::string name(first_part);
    if (!shard.whole()) name += "-" + std::to_string(shard.index) + "-of-" + std::to_string(shard.of);
    return name + std::string(ending);
}

/// The checkpoints of a folder, by name.
std::vector<fs::path> paths_in(const std::string& folder) {
    std::vector<fs::path> list;
    std::error_code error;
    for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
        const std::string name = it->path().filename().string();
        if (name.starts_with(first_part) && name.ends_with(ending)) list.push_back(it->path());
    }
    std::sort(list.begin(), list.end());
    return list;
}

template <class T>
void put(std::string& bytes, const T* values, std::size_t count) {
    bytes.append(reinterpret_cast<const char*>(values), count * sizeof(T));
}

void put_text(std::string& bytes, const std::string& text) {
    const std::uint64_t size = text.size();
    put(bytes, &size, 1);
    bytes += text;
}

/// Takes values from the front of some bytes. Functions return false, and take nothing, if too few bytes are left.
class Reader {
public:
    explicit Reader(std::string_view bytes) : rest_(bytes) {}
    template <class T>
    bool get(T* values, std::size_t count) {
        if (rest_.size() / sizeof(T) < count) return false;
        std::memcpy(values, rest_.data(), count * sizeof(T));
        rest_.remove_prefix(count * sizeof(T));
        return true;
    }
    bool text(std::string& to) {
        std::uint64_t count = 0;
        if (!get(&count, 1) || count > rest_.size()) return false;
        to.resize(count);
        return get(to.data(), count);
    }
    std::size_t left() const { return rest_.size(); }

private:
    std::string_view rest_;
};

/// Calls f(first, count) for each run of neighbouring motions that are done.
template <class F>
void for_each_range(const BasinRecord& r, const ensemble::Shard& shard, F f) {
    const auto wanted = [&](std::size_t k) { return r.fate[k] != Fate::pending && shard.contains(k); };
    for (std::size_t k = 0; k < r.size(); ++k) {
        const std::size_t first = k;
        while (k < r.size() && wanted(k)) ++k;
        if (k > first) f(first, k - first);
    }
}

/// Calls f(pointer, entries of a motion) for each vector of a record.
template <class Record, class F>
void for_each_column(Record& r, std::size_t coordinates, F f) {
    f(r.fate.data(), std::size_t{1});
    f(r.admission.data(), std::size_t{1});
    f(r.inside.data(), std::size_t{1});
    f(r.V.data(), std::size_t{1});
    f(r.t.data(), std::size_t{1});
    f(r.steps.data(), std::size_t{1});
    f(r.q.data(), coordinates);
}

/// The content of one file. The motions are in `ranges`, one after the other; all others are pending.
struct Checkpoint {
    CheckpointHead head;
    std::uint64_t size = 0, coordinates = 0;  ///< motions of the whole record
    std::vector<std::uint64_t> ranges;        ///< first, count, first, count, ...
    BasinRecord motions;
};

Error damaged(const fs::path& path) {
    return {"is damaged", {path.string(), 0, 0}, "remove it; its motions are then computed again"};
}

Checkpoint read(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    std::uint64_t sum = 0;
    if (!in || bytes.size() < format.size() + sizeof sum || !bytes.starts_with(format)) throw damaged(path);
    std::memcpy(&sum, bytes.data() + bytes.size() - sizeof sum, sizeof sum);
    const std::string_view body(bytes.data(), bytes.size() - sizeof sum);
    if (fnv1a(body) != sum) throw damaged(path);

    Checkpoint c;
    Reader reader(body.substr(format.size()));
    std::uint64_t starts = 0, ranges = 0;
    if (!reader.text(c.head.purpose) || !reader.text(c.head.line) || !reader.text(c.head.folder) ||
        !reader.get(&starts, 1) || !reader.get(&c.size, 1) || !reader.get(&c.coordinates, 1) ||
        !reader.get(&ranges, 1) || ranges > reader.left() / (2 * sizeof(std::uint64_t)))
        throw damaged(path);
    c.head.starts = starts;
    c.ranges.resize(2 * ranges);
    if (!reader.get(c.ranges.data(), c.ranges.size())) throw damaged(path);
    std::uint64_t motions = 0, before = 0;
    for (std::size_t k = 0; k < c.ranges.size(); k += 2) {
        const std::uint64_t first = c.ranges[k], count = c.ranges[k + 1];
        if (first < before || count == 0 || count > reader.left() || first > c.size || count > c.size - first)
            throw damaged(path);
        before = first + count;
        motions += count;
    }
    if (motions > reader.left() || c.coordinates > reader.left() || starts > c.size) throw damaged(path);
    c.motions.append(motions, c.coordinates);
    bool complete = true;
    for_each_column(c.motions, c.coordinates,
                    [&](auto* values, std::size_t each) { complete = complete && reader.get(values, motions * each); });
    if (!complete || reader.left() != 0) throw damaged(path);
    for (const Fate f : c.motions.fate)
        if (f >= Fate::pending) throw damaged(path);
    return c;
}

/// Copies motion `from` of a record to motion `to` of another.
void copy_motion(const BasinRecord& a, std::size_t from, BasinRecord& b, std::size_t to, std::size_t coordinates) {
    b.fate[to] = a.fate[from];
    b.admission[to] = a.admission[from];
    b.inside[to] = a.inside[from];
    b.V[to] = a.V[from];
    b.t[to] = a.t[from];
    b.steps[to] = a.steps[from];
    std::copy_n(a.q.begin() + static_cast<std::ptrdiff_t>(from * coordinates), coordinates,
                b.q.begin() + static_cast<std::ptrdiff_t>(to * coordinates));
}

bool same_motion(const BasinRecord& a, std::size_t i, const BasinRecord& b, std::size_t k, std::size_t coordinates) {
    return a.fate[i] == b.fate[k] && a.steps[i] == b.steps[k] && std::memcmp(&a.t[i], &b.t[k], sizeof(double)) == 0 &&
           std::memcmp(a.q.data() + i * coordinates, b.q.data() + k * coordinates, coordinates * sizeof(double)) == 0;
}

}  // namespace

void write_basin_checkpoint(const std::string& folder, const CheckpointHead& head, const BasinRecord& r,
                            const ensemble::Shard& shard) {
    std::string bytes(format);
    put_text(bytes, head.purpose);
    put_text(bytes, head.line);
    put_text(bytes, head.folder);
    std::vector<std::uint64_t> ranges;
    for_each_range(r, shard, [&](std::size_t first, std::size_t count) {
        ranges.push_back(first);
        ranges.push_back(count);
    });
    const std::size_t coordinates = r.size() > 0 ? r.q.size() / r.size() : 0;
    const std::uint64_t sizes[4] = {head.starts, r.size(), coordinates, ranges.size() / 2};
    put(bytes, sizes, 4);
    put(bytes, ranges.data(), ranges.size());
    for_each_column(r, coordinates, [&](const auto* values, std::size_t each) {
        for (std::size_t k = 0; k < ranges.size(); k += 2) put(bytes, values + ranges[k] * each, ranges[k + 1] * each);
    });
    const std::uint64_t sum = fnv1a(bytes);
    put(bytes, &sum, 1);
    write_file(folder, name_of(shard), bytes);
}

std::optional<BasinRecord> read_basin_checkpoints(const std::string& folder, const std::string& purpose,
                                                  std::size_t coordinates) {
    std::optional<BasinRecord> all;
    for (const fs::path& path : paths_in(folder)) {
        const Checkpoint c = read(path);
        if (c.head.purpose != purpose)
            throw Error("belongs to another model or other options", {path.string(), 0, 0},
                        "give those of the first run, or another folder");
        if (c.coordinates != coordinates && c.motions.size() > 0) throw damaged(path);
        if (!all) all.emplace();
        if (all->size() < c.size) all->append(c.size - all->size(), coordinates);
        std::size_t from = 0;
        for (std::size_t k = 0; k < c.ranges.size(); k += 2)
            for (std::uint64_t to = c.ranges[k]; to < c.ranges[k] + c.ranges[k + 1]; ++to, ++from) {
                if (all->fate[to] == Fate::pending)
                    copy_motion(c.motions, from, *all, to, coordinates);
                else if (!same_motion(c.motions, from, *all, to, coordinates))
                    throw Error("motion " + std::to_string(to) + " ends otherwise than in another checkpoint",
                                {path.string(), 0, 0}, "remove the one that was made by another build or device");
            }
    }
    return all;
}

std::optional<CheckpointsFound> find_basin_checkpoints(const std::string& folder) {
    std::optional<CheckpointsFound> found;
    std::vector<bool> done;
    for (const fs::path& path : paths_in(folder)) {
        const Checkpoint c = read(path);
        if (!found) {
            found.emplace();
            found->head = c.head;
            done.assign(c.head.starts, false);
        }
        if (c.head.purpose != found->head.purpose || c.head.starts != found->head.starts)
            throw Error("belongs to another model or other options than its neighbours", {path.string(), 0, 0},
                        "remove the files that do not belong together");
        ++found->files;
        for (std::size_t k = 0; k < c.ranges.size(); k += 2)
            for (std::uint64_t to = c.ranges[k]; to < c.ranges[k] + c.ranges[k + 1] && to < done.size(); ++to)
                done[to] = true;
    }
    if (found) found->done = static_cast<std::size_t>(std::count(done.begin(), done.end(), true));
    return found;
}

void remove_basin_checkpoints(const std::string& folder) {
    std::error_code ignored;
    for (const fs::path& path : paths_in(folder)) fs::remove(path, ignored);
}

}  // namespace saltus::io
