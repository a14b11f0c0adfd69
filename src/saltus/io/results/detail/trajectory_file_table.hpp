// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "saltus/base/error.hpp"
#include "saltus/io/results/detail/hdf5_session.hpp"
#include "saltus/io/results/fnv1a.hpp"

/// Columns, words, texts and attributes in HDF5. Everything is under a checksum, so that damage is found and not read:
/// metadata under those of the library, every column under an FNV-1a of its bytes in its attribute `checksum`. Names
/// are paths, "events/t"; attributes belong to a group, "" the root.
namespace saltus::io::hdf5 {

/// The words that the codes 0, 1, 2, … of a column stand for.
using Words = std::span<const std::string_view>;
using Codes = std::vector<std::uint8_t>;

/// The bytes of a file in memory, which the library moves as they grow.
struct Image {
    void* bytes = nullptr;
    std::size_t capacity = 0;

    Image() = default;
    ~Image() { std::free(bytes); }
    Image(const Image&) = delete;
    Image& operator=(const Image&) = delete;
};

/// A file that exists in memory alone: the library does not survive a disk that is full.
class TableWriter {
public:
    explicit TableWriter(const std::string& target);

    void group(const std::string& name) const;
    void attribute(const std::string& group, const std::string& name, const std::string& text) const;
    void attribute(const std::string& group, const std::string& name, double value) const;
    void attribute(const std::string& group, const std::string& name, std::int64_t value) const;
    void attribute(const std::string& group, const std::string& name, bool value) const;
    void column(const std::string& name, const std::vector<double>& values) const;
    void column(const std::string& name, const std::vector<std::int32_t>& values) const;
    void column(const std::string& name, const std::vector<std::int64_t>& values) const;
    /// With as many sides as `shape` has; the last one is the fastest.
    void array(const std::string& name, const std::vector<std::int32_t>& values,
               std::span<const std::uint64_t> shape) const;
    void words(const std::string& name, const Codes& codes, Words words) const;
    void texts(const std::string& name, const std::vector<std::string>& values) const;

    /// Its bytes, once all is written; valid as long as the writer.
    std::string_view finish();

private:
    friend class ColumnAppender;
    void check(bool done) const;
    hid_t create();
    void attribute(const std::string& group, const std::string& name, hid_t stored, hid_t native,
                   const void* value) const;
    hid_t dataset(const std::string& name, hid_t stored, std::span<const std::uint64_t> shape) const;
    void seal(const Id& set, std::uint64_t checksum) const;
    void column(const std::string& name, hid_t type, std::span<const std::uint64_t> shape, const void* values) const;
    void column(const std::string& name, hid_t type, std::uint64_t count, const void* values) const {
        column(name, type, {&count, 1}, values);
    }

    std::string target_;
    Image image_;
    Id file_;
};

/// A column of numbers that are never all in memory twice: as many as announced, some at a time.
class ColumnAppender {
public:
    ColumnAppender(const TableWriter& out, const std::string& name, std::uint64_t count);
    void append(std::span<const double> values);
    void finish();

private:
    void flush();

    const TableWriter& out_;
    std::uint64_t count_, written_ = 0, checksum_ = fnv1a_start;
    Id set_;
    std::vector<double> waiting_;
};

/// What is missing, of another type or damaged is an Error with the path.
class TableReader {
public:
    explicit TableReader(const std::string& path);

    [[noreturn]] void fail(const std::string& message, const std::string& remedy) const;
    [[noreturn]] void fail_damaged(const std::string& message) const;

    bool has_attribute(const std::string& group, const std::string& name) const;
    void attribute(const std::string& group, const std::string& name, std::string& text) const;
    void attribute(const std::string& group, const std::string& name, double& value) const;
    void attribute(const std::string& group, const std::string& name, std::int64_t& value) const;
    void attribute(const std::string& group, const std::string& name, bool& value) const;
    void column(const std::string& name, std::vector<double>& values) const;
    void column(const std::string& name, std::vector<std::int32_t>& values) const;
    void column(const std::string& name, std::vector<std::int64_t>& values) const;
    void words(const std::string& name, Codes& codes, Words words) const;
    void texts(const std::string& name, std::vector<std::string>& values) const;

private:
    friend class ColumnScanner;
    static hid_t open(const std::string& path);
    hid_t open_attribute(const std::string& group, const std::string& name) const;
    void number(const std::string& group, const std::string& name, H5T_class_t wanted, hid_t native, void* value) const;
    hid_t open_dataset(const std::string& name) const;
    std::size_t rows(const std::string& name, const Id& set, hid_t wanted) const;
    void compare(const std::string& name, const Id& set, std::uint64_t checksum) const;
    template <class T>
    void column(const std::string& name, hid_t wanted, std::vector<T>& values) const;

    std::string path_;
    Id file_;
    std::uint64_t bytes_;
};

/// A column of numbers, read some at a time.
class ColumnScanner {
public:
    ColumnScanner(const TableReader& in, const std::string& name);
    std::uint64_t count() const { return count_; }
    /// The next numbers; valid until the next call. No more than are left.
    std::span<const double> next(std::size_t count);

private:
    void load(std::size_t count);

    const TableReader& in_;
    std::string name_;
    Id set_;
    std::uint64_t count_, loaded_ = 0, checksum_ = fnv1a_start;
    std::vector<double> buffer_;
    std::size_t at_ = 0;
};

}  // namespace saltus::io::hdf5
