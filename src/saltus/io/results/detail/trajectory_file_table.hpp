// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "saltus/base/error.hpp"
#include "saltus/base/fnv1a.hpp"
#include "saltus/io/results/detail/hdf5_descriptor.hpp"
#include "saltus/io/results/detail/hdf5_session.hpp"
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
    /// `widely_read`: any HDF5 from 1.8 on reads the file; `with_virtual`: from 1.10 on, for virtual columns.
    enum class Format { widely_read, with_virtual };
    /// `target`: the path of the file to be, for messages.
    TableWriter(const std::string& target, int descriptor, Format format = Format::widely_read);

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

    /// A long array with the dimensions `shape`, the last one the fastest. `next` gives its numbers in this order.
    void array_of_int32(const std::string& name, std::span<const std::uint64_t> shape,
                        const std::function<std::int32_t()>& next) const;

    /// Closes the file. Throws Error if it could not be written. Nothing can be added afterwards.
    void finish();

private:
    friend class RowsWriter;
    friend class VirtualColumns;
    void check(bool done) const;  ///< throws Error if `done` is false
    hid_t create(Format format);
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

/// Writes several long columns of the same length together, row by row, so that their source is read once.
class RowsWriter {
public:
    /// `out` must outlive this object.
    RowsWriter(const TableWriter& out, std::uint64_t rows);
    ~RowsWriter();
    RowsWriter(const RowsWriter&) = delete;
    RowsWriter& operator=(const RowsWriter&) = delete;

    // All columns are added before the first row.
    void doubles(const std::string& name);
    void int32(const std::string& name);
    void int64(const std::string& name);
    void words(const std::string& name, Words words);

    /// The next cell of the row, in the order of the columns. The type must be that of the column: double, int32_t,
    /// int64_t or uint8_t for words.
    template <class T>
    void put(T value) {
        put_bytes(&value, sizeof value);
    }
    /// Writes what is left. To be called once, after the last row.
    void finish();

private:
    struct Column;
    void add(const std::string& name, hid_t type);
    void put_bytes(const void* value, std::size_t size);
    void flush();

    const TableWriter& out_;
    const std::uint64_t rows_;
    std::vector<std::unique_ptr<Column>> columns_;
    std::size_t at_ = 0;                        ///< column of the next cell
    std::uint64_t written_ = 0, buffered_ = 0;  ///< rows
};

/// A file with some rows of virtual columns: blocks of `block` rows of the whole, `stride` rows apart, the first of
/// them at `first`, one after the other.
struct VirtualPart {
    std::string file;  ///< name of a neighbour of the file
    std::uint64_t first = 0, stride = 1, block = 1;
    std::uint64_t rows = 0;  ///< in the file; the last block may be shorter
};

/// Adds columns whose rows are in columns of the same names in other files. Their checksums are there.
class VirtualColumns {
public:
    /// `out` must have Format::with_virtual and outlive this object.
    VirtualColumns(const TableWriter& out, std::uint64_t rows, std::vector<VirtualPart> parts)
        : out_(out), rows_(rows), parts_(std::move(parts)) {}
    void doubles(const std::string& name) const;
    void int32(const std::string& name) const;
    void int64(const std::string& name) const;
    void words(const std::string& name, Words words) const;

private:
    void add(const std::string& name, hid_t type) const;

    const TableWriter& out_;
    const std::uint64_t rows_;
    const std::vector<VirtualPart> parts_;
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
