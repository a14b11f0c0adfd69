// SPDX-License-Identifier: Apache-2.0
#include "saltus/io/results/basin_checkpoint.hpp"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "saltus/base/error.hpp"
#include "saltus/io/results/files.hpp"
#include "saltus/io/results/fnv1a.hpp"

namespace saltus::io {

using stability::BasinRecord;

namespace {

const char* const file_name = "basin.checkpoint";
constexpr std::string_view format = "saltus basin checkpoint 1\n";

template <class T>
void put(std::string& bytes, const T* values, std::size_t count) {
    bytes.append(reinterpret_cast<const char*>(values), count * sizeof(T));
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
    bool text(std::string& to, std::size_t count) {
        to.resize(count);
        return get(to.data(), count);
    }
    std::size_t left() const { return rest_.size(); }

private:
    std::string_view rest_;
};

}  // namespace

void write_basin_checkpoint(const std::string& folder, const std::string& purpose, const BasinRecord& r) {
    std::string bytes(format);
    const std::uint64_t sizes[3] = {purpose.size(), r.size(), r.q.size()};
    put(bytes, sizes, 3);
    bytes += purpose;
    put(bytes, r.fate.data(), r.size());
    put(bytes, r.admission.data(), r.size());
    put(bytes, r.inside.data(), r.size());
    put(bytes, r.V.data(), r.size());
    put(bytes, r.t.data(), r.size());
    put(bytes, r.steps.data(), r.size());
    put(bytes, r.q.data(), r.q.size());
    const std::uint64_t sum = fnv1a(bytes);
    put(bytes, &sum, 1);
    write_file(folder, file_name, bytes);
}

std::optional<BasinRecord> read_basin_checkpoint(const std::string& folder, const std::string& purpose,
                                                 std::size_t coordinates) {
    const std::filesystem::path path = std::filesystem::path(folder) / file_name;
    std::error_code error;
    if (!std::filesystem::exists(path, error)) return std::nullopt;
    std::ifstream in(path, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    const auto damaged = [&]() -> Error {
        return {"is damaged", {path.string(), 0, 0}, "remove it, and start without --resume"};
    };
    if (!in || bytes.size() < format.size() + 4 * sizeof(std::uint64_t) || !bytes.starts_with(format)) throw damaged();
    std::uint64_t sum = 0;
    std::memcpy(&sum, bytes.data() + bytes.size() - sizeof sum, sizeof sum);
    const std::string_view body(bytes.data(), bytes.size() - sizeof sum);
    if (fnv1a(body) != sum) throw damaged();

    Reader reader(body.substr(format.size()));
    std::uint64_t sizes[3] = {};
    std::string written_for;
    BasinRecord r;
    if (!reader.get(sizes, 3) || sizes[0] > reader.left() || !reader.text(written_for, sizes[0])) throw damaged();
    if (written_for != purpose)
        throw Error("belongs to another model or other options", {path.string(), 0, 0},
                    "give those of the first run, or omit --resume");
    if (sizes[1] > reader.left() || sizes[2] != sizes[1] * coordinates) throw damaged();
    r.append(sizes[1], coordinates);
    const bool read = reader.get(r.fate.data(), r.size()) && reader.get(r.admission.data(), r.size()) &&
                      reader.get(r.inside.data(), r.size()) && reader.get(r.V.data(), r.size()) &&
                      reader.get(r.t.data(), r.size()) && reader.get(r.steps.data(), r.size()) &&
                      reader.get(r.q.data(), r.q.size()) && reader.left() == 0;
    for (const stability::Fate f : r.fate)
        if (!read || f > stability::Fate::pending) throw damaged();
    if (!read) throw damaged();
    return r;
}

void remove_basin_checkpoint(const std::string& folder) {
    std::error_code ignored;
    std::filesystem::remove(std::filesystem::path(folder) / file_name, ignored);
}

}  // namespace saltus::io
