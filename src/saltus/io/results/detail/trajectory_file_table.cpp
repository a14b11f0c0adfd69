// SPDX-License-Identifier: Apache-2.0
#if SALTUS_HDF5

#include "saltus/io/results/detail/trajectory_file_table.hpp"

#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "saltus/base/text.hpp"
#include "saltus/io/problem/fclib.hpp"
#include "saltus/io/results/detail/hdf5_header.hpp"

namespace saltus::io::hdf5 {

namespace fs = std::filesystem;

namespace {

static_assert(std::endian::native ==
              std::endian::little);  // columns are hashed as they lie in memory, and stored little-endian

constexpr std::size_t piece = std::size_t{1} << 17U;  // numbers of a long column that are read at a time

const char* const damaged = "it may be cut short or damaged; run the simulation again";

/// The type of texts with at most `length` bytes, padded with zeros.
hid_t text_type(std::size_t length) {
    const hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, std::max<std::size_t>(length, 1));
    H5Tset_strpad(type, H5T_STR_NULLPAD);
    H5Tset_cset(type, H5T_CSET_UTF8);
    return type;
}

/// The enumeration type of a column of words.
hid_t word_type(Words words) {
    const hid_t type = H5Tenum_create(H5T_STD_U8LE);
    for (std::size_t k = 0; k < words.size(); ++k) {
        const auto code = static_cast<std::uint8_t>(k);
        H5Tenum_insert(type, std::string(words[k]).c_str(), &code);
    }
    return type;
}

template <class T>
std::string_view bytes_of(const T* values, std::size_t count) {
    return {reinterpret_cast<const char*>(values), count * sizeof(T)};
}

const char* object(const std::string& group) { return group.empty() ? "/" : group.c_str(); }

std::string full_name(const std::string& group, const std::string& name) {
    return "attribute " + (group.empty() ? "" : group + "/") + name;
}

}  // namespace

// ---- writing

TableWriter::TableWriter(const std::string& target, int descriptor, Format format)
    : target_(target), to_{descriptor}, file_(create(format), H5Fclose) {}

void TableWriter::check(bool done) const {
    if (to_.error != 0)
        throw Error("cannot be written: " + std::generic_category().message(to_.error), {target_, 0, 0},
                    "check free space and permissions");
    if (!done) throw Error("cannot be written: HDF5 refused", {target_, 0, 0}, "is there enough memory?");
}

// Objects get no times, so that equal content gives equal bytes. Since version 1.8 of the format metadata have
// checksums.
hid_t TableWriter::create(Format format) {
    const H5F_libver_t version = format == Format::with_virtual ? H5F_LIBVER_V110 : H5F_LIBVER_V18;
    const Id creation(H5Pcreate(H5P_FILE_CREATE), H5Pclose), access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
    check(H5Pset_obj_track_times(creation.get(), false) >= 0);
    check(H5Pset_libver_bounds(access.get(), version, version) >= 0);
    check(write_to_descriptor(access.get(), to_));
    const hid_t file = H5Fcreate("descriptor", H5F_ACC_TRUNC, creation.get(), access.get());
    check(file >= 0);
    return file;
}

void TableWriter::finish() {
    hsize_t size = 0;
    check(H5Fflush(file_.get(), H5F_SCOPE_GLOBAL) >= 0 && H5Fget_filesize(file_.get(), &size) >= 0);
    to_.complete = true;
    check(file_.close());
    if (::ftruncate(to_.descriptor, static_cast<off_t>(size)) != 0) to_.error = errno;
    check(true);
}

void TableWriter::group(const std::string& name) const {
    const Id creation(H5Pcreate(H5P_GROUP_CREATE), H5Pclose);
    check(H5Pset_obj_track_times(creation.get(), false) >= 0);
    const Id made(H5Gcreate2(file_.get(), name.c_str(), H5P_DEFAULT, creation.get(), H5P_DEFAULT), H5Gclose);
    check(static_cast<bool>(made));
}

void TableWriter::attribute(const std::string& group, const std::string& name, hid_t stored, hid_t native,
                            const void* value) const {
    const Id space(H5Screate(H5S_SCALAR), H5Sclose);
    const Id made(H5Acreate_by_name(file_.get(), object(group), name.c_str(), stored, space.get(), H5P_DEFAULT,
                                    H5P_DEFAULT, H5P_DEFAULT),
                  H5Aclose);
    check(made && H5Awrite(made.get(), native, value) >= 0);
}

void TableWriter::attribute(const std::string& group, const std::string& name, const std::string& text) const {
    const Id type(text_type(text.size()), H5Tclose);
    attribute(group, name, type.get(), type.get(), text.c_str());
}
void TableWriter::attribute(const std::string& group, const std::string& name, double value) const {
    attribute(group, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, &value);
}
void TableWriter::attribute(const std::string& group, const std::string& name, std::int64_t value) const {
    attribute(group, name, H5T_STD_I64LE, H5T_NATIVE_INT64, &value);
}
void TableWriter::attribute(const std::string& group, const std::string& name, bool value) const {
    attribute(group, name, std::int64_t{value ? 1 : 0});
}

hid_t TableWriter::dataset(const std::string& name, hid_t stored, std::span<const std::uint64_t> shape) const {
    const std::vector<hsize_t> sides(shape.begin(), shape.end());
    const Id space(H5Screate_simple(static_cast<int>(sides.size()), sides.data(), nullptr), H5Sclose),
        creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    check(H5Pset_obj_track_times(creation.get(), false) >= 0);
    const hid_t set =
        H5Dcreate2(file_.get(), name.c_str(), stored, space.get(), H5P_DEFAULT, creation.get(), H5P_DEFAULT);
    check(set >= 0);
    return set;
}

void TableWriter::seal(const Id& set, std::uint64_t checksum) const {
    const Id space(H5Screate(H5S_SCALAR), H5Sclose);
    const Id made(H5Acreate2(set.get(), "checksum", H5T_STD_U64LE, space.get(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
    check(made && H5Awrite(made.get(), H5T_STD_U64LE, &checksum) >= 0);
}

void TableWriter::column(const std::string& name, hid_t type, std::span<const std::uint64_t> shape,
                         const void* values) const {
    const Id set(dataset(name, type, shape), H5Dclose);
    std::uint64_t count = 1;
    for (const std::uint64_t side : shape) count *= side;
    if (count > 0) check(H5Dwrite(set.get(), type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    seal(set, fnv1a({static_cast<const char*>(values), count * H5Tget_size(type)}));
}

void TableWriter::column(const std::string& name, const std::vector<double>& values) const {
    column(name, H5T_IEEE_F64LE, values.size(), values.data());
}
void TableWriter::column(const std::string& name, const std::vector<std::int32_t>& values) const {
    column(name, H5T_STD_I32LE, values.size(), values.data());
}
void TableWriter::column(const std::string& name, const std::vector<std::int64_t>& values) const {
    column(name, H5T_STD_I64LE, values.size(), values.data());
}

void TableWriter::array(const std::string& name, const std::vector<std::int32_t>& values,
                        std::span<const std::uint64_t> shape) const {
    column(name, H5T_STD_I32LE, shape, values.data());
}

void TableWriter::words(const std::string& name, const Codes& codes, Words words) const {
    const Id type(word_type(words), H5Tclose);
    column(name, type.get(), codes.size(), codes.data());
}

void TableWriter::texts(const std::string& name, const std::vector<std::string>& values) const {
    std::size_t longest = 1;
    for (const std::string& text : values) longest = std::max(longest, text.size());
    std::string block(longest * values.size(), '\0');
    for (std::size_t k = 0; k < values.size(); ++k)
        std::copy(values[k].begin(), values[k].end(), block.begin() + static_cast<std::ptrdiff_t>(k * longest));
    const Id type(text_type(longest), H5Tclose);
    column(name, type.get(), values.size(), block.data());
}

void TableWriter::column(const std::string& name, hid_t type, std::uint64_t count, const Pieces& pieces) const {
    const Id set(dataset(name, type, {&count, 1}), H5Dclose);
    const std::size_t width = H5Tget_size(type);
    std::uint64_t checksum = fnv1a_start;
    hsize_t written = 0;  // values
    pieces([&](std::string_view bytes) {
        const hsize_t size = bytes.size() / width, all = count;
        SALTUS_EXPECT(size * width == bytes.size() && written + size <= count);
        if (size == 0) return;
        const Id in_file(H5Screate_simple(1, &all, nullptr), H5Sclose);
        const Id in_memory(H5Screate_simple(1, &size, nullptr), H5Sclose);
        check(H5Sselect_hyperslab(in_file.get(), H5S_SELECT_SET, &written, nullptr, &size, nullptr) >= 0 &&
              H5Dwrite(set.get(), type, in_memory.get(), in_file.get(), H5P_DEFAULT, bytes.data()) >= 0);
        checksum = fnv1a(bytes, checksum);
        written += size;
    });
    SALTUS_EXPECT(written == count);
    seal(set, checksum);
}

void TableWriter::column_of_doubles(const std::string& name, std::uint64_t count, const Pieces& pieces) const {
    column(name, H5T_IEEE_F64LE, count, pieces);
}
void TableWriter::column_of_int32(const std::string& name, std::uint64_t count, const Pieces& pieces) const {
    column(name, H5T_STD_I32LE, count, pieces);
}
void TableWriter::column_of_int64(const std::string& name, std::uint64_t count, const Pieces& pieces) const {
    column(name, H5T_STD_I64LE, count, pieces);
}

void TableWriter::words(const std::string& name, std::uint64_t count, const Pieces& pieces, Words words) const {
    const Id type(word_type(words), H5Tclose);
    column(name, type.get(), count, pieces);
}

void TableWriter::texts(const std::string& name, std::uint64_t count, std::size_t length, const Pieces& pieces) const {
    const Id type(text_type(length), H5Tclose);
    column(name, type.get(), count, pieces);
}

/// The array is written in blocks that lie together in it: some neighbours along one dimension, with all that follow.
void TableWriter::array_of_int32(const std::string& name, std::span<const std::uint64_t> shape,
                                 const std::function<std::int32_t()>& next) const {
    constexpr std::uint64_t block_size = std::uint64_t{1} << 18;  // numbers
    const Id set(dataset(name, H5T_STD_I32LE, shape), H5Dclose);
    const std::vector<hsize_t> sides(shape.begin(), shape.end());
    std::uint64_t count = 1;
    for (const std::uint64_t side : shape) count *= side;
    // Along `cut` blocks are cut; dimensions after it are whole.
    std::size_t cut = sides.size() - 1;
    std::uint64_t inner = 1;
    while (cut > 0 && inner * sides[cut] <= block_size) inner *= sides[cut--];
    const std::uint64_t along = std::max<std::uint64_t>(1, block_size / inner);
    std::uint64_t checksum = fnv1a_start;
    std::vector<std::int32_t> numbers;
    std::vector<hsize_t> from(sides.size(), 0), size(sides.size(), 1);
    for (std::size_t d = cut + 1; d < sides.size(); ++d) size[d] = sides[d];
    const Id in_file(H5Screate_simple(static_cast<int>(sides.size()), sides.data(), nullptr), H5Sclose);
    for (std::uint64_t done = 0; done < count; done += numbers.size()) {
        size[cut] = std::min<hsize_t>(along, sides[cut] - from[cut]);
        numbers.resize(size[cut] * inner);
        for (std::int32_t& x : numbers) x = next();
        const Id in_memory(H5Screate_simple(static_cast<int>(size.size()), size.data(), nullptr), H5Sclose);
        check(H5Sselect_hyperslab(in_file.get(), H5S_SELECT_SET, from.data(), nullptr, size.data(), nullptr) >= 0 &&
              H5Dwrite(set.get(), H5T_STD_I32LE, in_memory.get(), in_file.get(), H5P_DEFAULT, numbers.data()) >= 0);
        checksum = fnv1a({reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof numbers[0]}, checksum);
        from[cut] += size[cut];
        for (std::size_t d = cut; d > 0 && from[d] == sides[d]; --d) {
            from[d] = 0;
            ++from[d - 1];
        }
    }
    seal(set, checksum);
}

// ---- rows

struct RowsWriter::Column {
    Column(hid_t set_id, hid_t type_id) : set(set_id, H5Dclose), type(type_id, H5Tclose), width(H5Tget_size(type_id)) {}

    Id set, type;
    std::size_t width;
    std::string buffer;
    std::uint64_t checksum = fnv1a_start;
};

RowsWriter::RowsWriter(const TableWriter& out, std::uint64_t rows) : out_(out), rows_(rows) {}
RowsWriter::~RowsWriter() = default;

void RowsWriter::add(const std::string& name, hid_t type) {
    columns_.push_back(std::make_unique<Column>(out_.dataset(name, type, {&rows_, 1}), type));
}

void RowsWriter::doubles(const std::string& name) { add(name, H5Tcopy(H5T_IEEE_F64LE)); }
void RowsWriter::int32(const std::string& name) { add(name, H5Tcopy(H5T_STD_I32LE)); }
void RowsWriter::int64(const std::string& name) { add(name, H5Tcopy(H5T_STD_I64LE)); }
void RowsWriter::words(const std::string& name, Words words) { add(name, word_type(words)); }

void RowsWriter::put_bytes(const void* value, std::size_t size) {
    constexpr std::uint64_t rows_of_a_piece = std::uint64_t{1} << 15;
    Column& c = *columns_[at_];
    SALTUS_EXPECT(size == c.width && written_ + buffered_ < rows_);
    c.buffer.append(static_cast<const char*>(value), size);
    if (++at_ < columns_.size()) return;
    at_ = 0;
    if (++buffered_ == rows_of_a_piece) flush();
}

void RowsWriter::flush() {
    if (buffered_ == 0) return;
    const hsize_t all = rows_, from = written_, size = buffered_;
    for (const auto& c : columns_) {
        const Id in_file(H5Screate_simple(1, &all, nullptr), H5Sclose);
        const Id in_memory(H5Screate_simple(1, &size, nullptr), H5Sclose);
        out_.check(
            H5Sselect_hyperslab(in_file.get(), H5S_SELECT_SET, &from, nullptr, &size, nullptr) >= 0 &&
            H5Dwrite(c->set.get(), c->type.get(), in_memory.get(), in_file.get(), H5P_DEFAULT, c->buffer.data()) >= 0);
        c->checksum = fnv1a(c->buffer, c->checksum);
        c->buffer.clear();
    }
    written_ += buffered_;
    buffered_ = 0;
}

void RowsWriter::finish() {
    flush();
    SALTUS_EXPECT(written_ == rows_ && at_ == 0);
    for (const auto& c : columns_) out_.seal(c->set, c->checksum);
}

// ---- virtual columns

void VirtualColumns::doubles(const std::string& name) const { add(name, H5T_IEEE_F64LE); }
void VirtualColumns::int32(const std::string& name) const { add(name, H5T_STD_I32LE); }
void VirtualColumns::int64(const std::string& name) const { add(name, H5T_STD_I64LE); }
void VirtualColumns::words(const std::string& name, Words words) const {
    const Id type(word_type(words), H5Tclose);
    add(name, type.get());
}

/// The whole blocks of a part are one selection, the shorter block at its end is another.
void VirtualColumns::add(const std::string& name, hid_t type) const {
    const hsize_t all = rows_;
    const Id creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose), space(H5Screate_simple(1, &all, nullptr), H5Sclose);
    out_.check(H5Pset_obj_track_times(creation.get(), false) >= 0);
    for (const VirtualPart& part : parts_) {
        const hsize_t rows = part.rows, whole = rows / part.block, rest = rows % part.block;
        const auto map = [&](hsize_t to, hsize_t blocks, hsize_t block, hsize_t from) {
            const Id here(H5Screate_simple(1, &all, nullptr), H5Sclose);
            const Id there(H5Screate_simple(1, &rows, nullptr), H5Sclose);
            const hsize_t stride = part.stride, count = blocks * block, one = 1;
            out_.check(H5Sselect_hyperslab(here.get(), H5S_SELECT_SET, &to, &stride, &blocks, &block) >= 0 &&
                       H5Sselect_hyperslab(there.get(), H5S_SELECT_SET, &from, nullptr, &one, &count) >= 0 &&
                       H5Pset_virtual(creation.get(), here.get(), part.file.c_str(), name.c_str(), there.get()) >= 0);
        };
        if (whole > 0) map(part.first, whole, part.block, 0);
        if (rest > 0) map(part.first + whole * part.stride, 1, rest, whole * part.block);
    }
    const Id set(
        H5Dcreate2(out_.file_.get(), name.c_str(), type, space.get(), H5P_DEFAULT, creation.get(), H5P_DEFAULT),
        H5Dclose);
    out_.check(static_cast<bool>(set));
}

// ---- reading

hid_t TableReader::open(const std::string& path) {
    std::error_code error;
    if (fs::is_directory(path, error))
        throw Error("is a folder, not a file", {path, 0, 0}, "give the trajectory.h5 in it");
    if (fs::exists(path, error) && !fs::is_regular_file(path, error))  // a FIFO would let the program wait for ever
        throw Error("is neither a file nor a folder", {path, 0, 0}, "copy its content into a file and give that file");
    std::ifstream in(path, std::ios::binary);
    if (!in) throw Error("cannot be opened", {path, 0, 0}, "check the path");
    std::string beginning(8, '\0');
    in.read(beginning.data(), static_cast<std::streamsize>(beginning.size()));
    if (!is_hdf5(beginning))
        throw Error("is not HDF5", {path, 0, 0}, "give a trajectory.h5 that saltus simulate --out wrote");
    const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
    if (file < 0) throw Error("cannot be read", {path, 0, 0}, damaged);
    return file;
}

TableReader::TableReader(const std::string& path)
    : path_(path), reading_(path), file_(open(path), H5Fclose), bytes_(fs::file_size(path)) {}

void TableReader::fail(const std::string& message, const std::string& remedy) const {
    throw Error(message, {path_, 0, 0}, remedy);
}

void TableReader::fail_damaged(const std::string& message) const { fail(message, damaged); }

bool TableReader::has_attribute(const std::string& group, const std::string& name) const {
    return H5Aexists_by_name(file_.get(), object(group), name.c_str(), H5P_DEFAULT) > 0;
}

hid_t TableReader::open_attribute(const std::string& group, const std::string& name) const {
    if (!has_attribute(group, name)) fail_damaged(full_name(group, name) + " is missing");
    const hid_t id = H5Aopen_by_name(file_.get(), object(group), name.c_str(), H5P_DEFAULT, H5P_DEFAULT);
    if (id < 0) fail_damaged(full_name(group, name) + " cannot be read");
    return id;
}

void TableReader::number(const std::string& group, const std::string& name, H5T_class_t wanted, hid_t native,
                         void* value) const {
    const Id id(open_attribute(group, name), H5Aclose);
    const Id type(H5Aget_type(id.get()), H5Tclose), space(H5Aget_space(id.get()), H5Sclose);
    if (!type || !space || H5Tget_class(type.get()) != wanted || H5Sget_simple_extent_npoints(space.get()) != 1)
        fail_damaged(full_name(group, name) + " is not a single number of the expected type");
    if (H5Aread(id.get(), native, value) < 0) fail_damaged(full_name(group, name) + " cannot be read");
}

void TableReader::attribute(const std::string& group, const std::string& name, double& value) const {
    number(group, name, H5T_FLOAT, H5T_NATIVE_DOUBLE, &value);
}
void TableReader::attribute(const std::string& group, const std::string& name, std::int64_t& value) const {
    number(group, name, H5T_INTEGER, H5T_NATIVE_INT64, &value);
}
void TableReader::attribute(const std::string& group, const std::string& name, bool& value) const {
    std::int64_t number = 0;
    attribute(group, name, number);
    value = number != 0;
}

void TableReader::attribute(const std::string& group, const std::string& name, std::string& text) const {
    const Id id(open_attribute(group, name), H5Aclose);
    const Id type(H5Aget_type(id.get()), H5Tclose), space(H5Aget_space(id.get()), H5Sclose);
    if (!type || !space || H5Tget_class(type.get()) != H5T_STRING || H5Tis_variable_str(type.get()) != 0 ||
        H5Sget_simple_extent_npoints(space.get()) != 1 || H5Tget_size(type.get()) > bytes_)
        fail_damaged(full_name(group, name) + " is not a text of fixed length");
    text.assign(H5Tget_size(type.get()), '\0');
    if (H5Aread(id.get(), type.get(), text.data()) < 0) fail_damaged(full_name(group, name) + " cannot be read");
    text.erase(text.find_last_not_of('\0') + 1);
}

hid_t TableReader::open_dataset(const std::string& name) const {
    for (std::size_t slash = name.find('/'); slash != std::string::npos; slash = name.find('/', slash + 1))
        if (H5Lexists(file_.get(), name.substr(0, slash).c_str(), H5P_DEFAULT) <= 0)
            fail_damaged(name.substr(0, slash) + " is missing");
    if (H5Lexists(file_.get(), name.c_str(), H5P_DEFAULT) <= 0) fail_damaged(name + " is missing");
    if (const std::string why = refusal_of_dataset(file_.get(), path_, name); !why.empty())
        fail_damaged(name + " " + why);
    const hid_t set = H5Dopen2(file_.get(), name.c_str(), H5P_DEFAULT);
    if (set < 0) fail_damaged(name + " cannot be read");
    return set;
}

std::uint64_t TableReader::announced_rows(const std::string& name) const {
    for (std::size_t slash = name.find('/'); slash != std::string::npos; slash = name.find('/', slash + 1))
        if (H5Lexists(file_.get(), name.substr(0, slash).c_str(), H5P_DEFAULT) <= 0) return 0;
    if (H5Lexists(file_.get(), name.c_str(), H5P_DEFAULT) <= 0) return 0;
    if (!refusal_of_dataset(file_.get(), path_, name).empty()) return 0;
    const Id set(H5Dopen2(file_.get(), name.c_str(), H5P_DEFAULT), H5Dclose);
    if (!set) return 0;
    const Id space(H5Dget_space(set.get()), H5Sclose);
    return space ? static_cast<std::uint64_t>(std::max<hssize_t>(0, H5Sget_simple_extent_npoints(space.get()))) : 0;
}

std::size_t TableReader::rows(const std::string& name, const Id& set, hid_t wanted) const {
    const Id type(H5Dget_type(set.get()), H5Tclose), space(H5Dget_space(set.get()), H5Sclose);
    if (!type || !space) fail_damaged(name + " cannot be read");
    if (H5Tequal(type.get(), wanted) <= 0) fail_damaged(name + " has the wrong type");
    if (H5Sget_simple_extent_ndims(space.get()) != 1) fail_damaged(name + " is not a column");
    const auto count = static_cast<std::uint64_t>(H5Sget_simple_extent_npoints(space.get()));
    // Columns are not compressed. A column that announces more rows than the file has bytes is damaged.
    if (count > bytes_ / H5Tget_size(type.get()))
        fail_damaged(name + " announces " + counted(count, "row") + ", more than the file can hold");
    const Id creation(H5Dget_create_plist(set.get()), H5Pclose);
    if (!creation ||
        !stores_what_it_announces(set.get(), creation.get(),
                                  static_cast<double>(count) * static_cast<double>(H5Tget_size(type.get()))))
        fail_damaged(name + " announces " + counted(count, "row") + " and stores fewer");
    return count;
}

void TableReader::compare(const std::string& name, const Id& set, std::uint64_t checksum) const {
    const Id sealed(H5Aopen(set.get(), "checksum", H5P_DEFAULT), H5Aclose);
    std::uint64_t written = 0;
    if (!sealed || H5Aread(sealed.get(), H5T_NATIVE_UINT64, &written) < 0) fail_damaged(name + " has no checksum");
#ifndef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION  // a fuzzer would never guess the checksum of a changed column
    if (written != checksum) fail_damaged(name + " is damaged: its checksum is wrong");
#else
    (void)checksum;
#endif
}

template <class T>
void TableReader::column(const std::string& name, hid_t wanted, std::vector<T>& values) const {
    const Id set(open_dataset(name), H5Dclose);
    values.resize(rows(name, set, wanted));
    if (!values.empty() && H5Dread(set.get(), wanted, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) < 0)
        fail_damaged(name + " cannot be read");
    compare(name, set, fnv1a(bytes_of(values.data(), values.size())));
}

void TableReader::column(const std::string& name, std::vector<double>& values) const {
    column(name, H5T_IEEE_F64LE, values);
}
void TableReader::column(const std::string& name, std::vector<std::int32_t>& values) const {
    column(name, H5T_STD_I32LE, values);
}
void TableReader::column(const std::string& name, std::vector<std::int64_t>& values) const {
    column(name, H5T_STD_I64LE, values);
}

void TableReader::words(const std::string& name, Codes& codes, Words words) const {
    const Id type(word_type(words), H5Tclose);
    column(name, type.get(), codes);
    for (const std::uint8_t code : codes)
        if (code >= words.size()) fail_damaged(name + " has " + std::to_string(code) + ", which is not a known code");
}

void TableReader::texts(const std::string& name, std::vector<std::string>& values) const {
    const Id set(open_dataset(name), H5Dclose);
    const Id type(H5Dget_type(set.get()), H5Tclose);
    if (!type || H5Tget_class(type.get()) != H5T_STRING || H5Tis_variable_str(type.get()) != 0)
        fail_damaged(name + " does not contain texts of fixed length");
    const std::size_t count = rows(name, set, type.get()), length = H5Tget_size(type.get());
    std::string block(count * length, '\0');
    if (count > 0 && H5Dread(set.get(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, block.data()) < 0)
        fail_damaged(name + " cannot be read");
    compare(name, set, fnv1a(block));
    values.resize(count);
    for (std::size_t k = 0; k < count; ++k) {
        values[k] = block.substr(k * length, length);
        values[k].erase(values[k].find_last_not_of('\0') + 1);
    }
}

ColumnScanner::ColumnScanner(const TableReader& in, const std::string& name)
    : in_(in), name_(name), set_(in.open_dataset(name), H5Dclose), count_(in.rows(name, set_, H5T_IEEE_F64LE)) {}

std::span<const double> ColumnScanner::next(std::size_t count) {
    if (count > buffer_.size() - at_) load(count);
    at_ += count;
    return {buffer_.data() + at_ - count, count};
}

/// Reads on until at least `count` numbers follow at_.
void ColumnScanner::load(std::size_t count) {
    buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(at_));
    at_ = 0;
    const std::size_t left = buffer_.size();
    SALTUS_EXPECT(count - left <= count_ - loaded_);
    const hsize_t first = loaded_, size = std::min<std::uint64_t>(std::max(count - left, piece), count_ - loaded_),
                  all = count_;
    buffer_.resize(left + size);
    double* const to = buffer_.data() + left;
    const Id in_file(H5Screate_simple(1, &all, nullptr), H5Sclose);
    const Id in_memory(H5Screate_simple(1, &size, nullptr), H5Sclose);
    if (H5Sselect_hyperslab(in_file.get(), H5S_SELECT_SET, &first, nullptr, &size, nullptr) < 0 ||
        H5Dread(set_.get(), H5T_IEEE_F64LE, in_memory.get(), in_file.get(), H5P_DEFAULT, to) < 0)
        in_.fail_damaged(name_ + " cannot be read");
    loaded_ += size;
    checksum_ = fnv1a(bytes_of(to, size), checksum_);
    if (loaded_ == count_) in_.compare(name_, set_, checksum_);
}

}  // namespace saltus::io::hdf5

#endif
