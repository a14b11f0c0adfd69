// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "saltus/base/error.hpp"
#include "saltus/io/results/detail/hdf5_descriptor.hpp"
#include "saltus/io/results/detail/hdf5_session.hpp"
#include "saltus/io/results/fnv1a.hpp"
#include "saltus/io/results/hdf5_faults.hpp"

/// Tables in HDF5: columns of numbers, words and texts, and attributes. Everything is under a checksum, so that damage
/// is detected: metadata under the checksums of HDF5, each column under an FNV-1a hash of its bytes in its attribute
/// `checksum`. Names of columns are paths such as "events/t". Attributes belong to a group; "" is the root.
namespace saltus::io::hdf5 {

/// The words that the codes 0, 1, 2, … of a column of words stand for.
using Words = std::span<const std::string_view>;
using Codes = std::vector<std::uint8_t>;

/// Writes an open, empty file. HDF5 writes through detail/hdf5_descriptor.hpp, because it does not survive a full disk
/// otherwise. All functions throw Error if HDF5 refuses; the message names the target.
class TableWriter {
public:
    /// `target`: the path of the file to be, for messages.
    TableWriter(const std::string& target, int descriptor);

    void group(const std::string& name) const;
    void attribute(const std::string& group, const std::string& name, const std::string& text) const;
    void attribute(const std::string& group, const std::string& name, double value) const;
    void attribute(const std::string& group, const std::string& name, std::int64_t value) const;
    void attribute(const std::string& group, const std::string& name, bool value) const;
    void column(const std::string& name, const std::vector<double>& values) const;
    void column(const std::string& name, const std::vector<std::int32_t>& values) const;
    void column(const std::string& name, const std::vector<std::int64_t>& values) const;
    /// An array with the dimensions `shape`; the last one is the fastest.
    void array(const std::string& name, const std::vector<std::int32_t>& values,
               std::span<const std::uint64_t> shape) const;
    /// A column of codes, stored with the words that they stand for.
    void words(const std::string& name, const Codes& codes, Words words) const;
    void texts(const std::string& name, const std::vector<std::string>& values) const;

    // Long columns come in pieces. `pieces` calls its argument with the bytes of the column, piece by piece.
    using Take = std::function<void(std::string_view bytes)>;
    using Pieces = std::function<void(const Take&)>;
    void column_of_doubles(const std::string& name, std::uint64_t count, const Pieces& pieces) const;
    void column_of_int32(const std::string& name, std::uint64_t count, const Pieces& pieces) const;
    void column_of_int64(const std::string& name, std::uint64_t count, const Pieces& pieces) const;
    void words(const std::string& name, std::uint64_t count, const Pieces& pieces, Words words) const;
    /// Texts of `length` bytes each, padded with zeros.
    void texts(const std::string& name, std::uint64_t count, std::size_t length, const Pieces& pieces) const;

    /// Closes the file. Throws Error if it could not be written. Nothing can be added afterwards.
    void finish();

private:
    void check(bool done) const;  ///< throws Error if `done` is false
    hid_t create();
    void column(const std::string& name, hid_t type, std::uint64_t count, const Pieces& pieces) const;
    void attribute(const std::string& group, const std::string& name, hid_t stored, hid_t native,
                   const void* value) const;
    hid_t dataset(const std::string& name, hid_t stored, std::span<const std::uint64_t> shape) const;
    void seal(const Id& set, std::uint64_t checksum) const;  ///< adds the attribute `checksum` to a column
    void column(const std::string& name, hid_t type, std::span<const std::uint64_t> shape, const void* values) const;
    void column(const std::string& name, hid_t type, std::uint64_t count, const void* values) const {
        column(name, type, {&count, 1}, values);
    }

    std::string target_;
    DescriptorTarget to_;
    Id file_;
};

/// Reads a file that TableWriter made. All functions throw Error with the path of the file if data are missing, have
/// another type, or are damaged.
class TableReader {
public:
    explicit TableReader(const std::string& path);

    [[noreturn]] void fail(const std::string& message, const std::string& remedy) const;
    [[noreturn]] void fail_damaged(const std::string& message) const;  ///< adds the remedy for damaged files

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
    /// Number of rows that a column announces; 0 if there is no such column. Nothing is checked.
    std::uint64_t announced_rows(const std::string& name) const;
    std::uint64_t bytes() const { return bytes_; }  ///< size of the file

private:
    friend class ColumnScanner;
    static hid_t open(const std::string& path);
    hid_t open_attribute(const std::string& group, const std::string& name) const;
    void number(const std::string& group, const std::string& name, H5T_class_t wanted, hid_t native, void* value) const;
    hid_t open_dataset(const std::string& name) const;
    std::size_t rows(const std::string& name, const Id& set, hid_t wanted) const;
    /// Throws if the stored checksum of the set differs from `checksum`.
    void compare(const std::string& name, const Id& set, std::uint64_t checksum) const;
    template <class T>
    void column(const std::string& name, hid_t wanted, std::vector<T>& values) const;

    std::string path_;
    ReadingHdf5 reading_;
    Id file_;
    std::uint64_t bytes_;  ///< size of the file: no column can be larger
};

/// Reads a long column piece by piece. The checksum is compared when the last number has been read.
class ColumnScanner {
public:
    ColumnScanner(const TableReader& in, const std::string& name);
    std::uint64_t count() const { return count_; }
    /// The next `count` numbers, valid until the next call. `count` must not exceed the numbers that are left.
    std::span<const double> next(std::size_t count);

private:
    void load(std::size_t count);

    const TableReader& in_;
    std::string name_;
    Id set_;
    std::uint64_t count_, loaded_ = 0, checksum_ = fnv1a_start;
    std::vector<double> buffer_;
    std::size_t at_ = 0;  ///< index of the next number in buffer_
};

}  // namespace saltus::io::hdf5
