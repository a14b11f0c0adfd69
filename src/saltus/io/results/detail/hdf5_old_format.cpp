// SPDX-License-Identifier: Apache-2.0
#if SALTUS_HDF5

#include "saltus/io/results/detail/hdf5_old_format.hpp"

#include <algorithm>
#include <bit>
#include <filesystem>
#include <limits>
#include <utility>

#include "saltus/base/error.hpp"
#include "saltus/base/index.hpp"

namespace saltus::io::hdf5 {

namespace {

[[noreturn]] void refuse(const std::string& what) { throw Error(what); }

constexpr std::uint64_t max_address = std::numeric_limits<std::int64_t>::max();

/// Bytes of an entry of a symbol table: offset of the name, address of the header, 8 + 16 bytes of hints.
std::size_t entry_size(const FileBytes& in) { return 2 * in.address_size + 24; }

/// What a message says about the form of numbers (section IV.A.2.d of the specification).
struct Form {
    OldFormat::Numbers::Kind kind = OldFormat::Numbers::Kind::others;
    bool standard = false, big_endian = false, is_signed = false;
};

Form form_of(const std::string& message) {
    Bytes bytes(message);
    const std::uint64_t version_and_class = bytes.number(1), flags = bytes.number(1), sign = bytes.number(1);
    bytes.skip(1);
    const std::uint64_t size = bytes.number(4), bits = 8 * size;
    const std::uint64_t offset = bytes.number(2), precision = bytes.number(2);
    Form form;
    constexpr std::uint64_t integer_class = 0, real_class = 1;
    if ((version_and_class & 0x0FU) == integer_class) {
        form.kind = OldFormat::Numbers::Kind::integers;
        form.big_endian = (flags & 0x01U) != 0;
        form.is_signed = (flags & 0x08U) != 0;
        form.standard = bytes.good() && (size == 1 || size == 2 || size == 4 || size == 8);
    } else if ((version_and_class & 0x0FU) == real_class) {
        form.kind = OldFormat::Numbers::Kind::reals;
        form.big_endian = (flags & 0x41U) != 0;
        const std::uint64_t exponent = bytes.number(1), exponent_size = bytes.number(1), mantissa = bytes.number(1),
                            mantissa_size = bytes.number(1), bias = bytes.number(4);
        // IEEE 754: the mantissa has an implied bit, the sign is the highest bit.
        constexpr std::uint64_t implied = 0x20, order_and_norm = 0x71;
        const bool single = size == 4 && exponent == 23 && exponent_size == 8 && mantissa_size == 23 && bias == 127;
        const bool twice = size == 8 && exponent == 52 && exponent_size == 11 && mantissa_size == 52 && bias == 1023;
        form.standard = bytes.good() && (single || twice) && mantissa == 0 && sign == bits - 1 &&
                        ((flags & order_and_norm) | 0x01U) == (implied | 0x01U);
    }
    form.standard = form.standard && offset == 0 && precision == bits;
    return form;
}

}  // namespace

std::optional<OldFormat> OldFormat::open(const std::string& path) {
    OldFormat file(path);
    constexpr std::uint64_t longest_superblock = 100;
    const std::string superblock = file.in_.block(0, longest_superblock);
    Bytes bytes(superblock);
    bytes.skip(8);
    const std::uint64_t version = bytes.number(1);
    if (version > 1) return std::nullopt;
    bytes.skip(4);
    FileBytes& in = file.in_;
    in.address_size = bytes.number(1);
    in.length_size = bytes.number(1);
    const auto usual = [](std::size_t size) { return size == 2 || size == 4 || size == 8; };
    if (!usual(in.address_size) || !usual(in.length_size)) refuse("cannot be opened as HDF5");
    bytes.skip(version == 0 ? 9 : 13);
    in.base = bytes.number(in.address_size);
    bytes.skip(in.address_size);
    file.end_ = bytes.number(in.address_size);
    bytes.skip(2 * in.address_size);  // address of driver information, offset of the name of the root
    file.root_ = bytes.number(in.address_size);
    std::error_code error;
    const std::uint64_t size = std::filesystem::file_size(path, error);
    if (!bytes.good() || error || in.base != 0 || file.end_ > size) refuse("cannot be opened as HDF5");
    return std::optional<OldFormat>(std::move(file));
}

std::optional<std::uint64_t> OldFormat::entry(const ObjectHeader::Group& group, const std::string& name) {
    // The heap of names.
    const std::string heap = in_.block(group.heap, 8 + 2 * in_.length_size + in_.address_size);
    Bytes heap_bytes(heap);
    if (heap_bytes.take(4) != "HEAP") refuse("has a group without names");
    heap_bytes.skip(4);
    const std::uint64_t heap_size = heap_bytes.number(in_.length_size);
    heap_bytes.skip(in_.length_size);
    const std::uint64_t names = heap_bytes.number(in_.address_size);
    if (!heap_bytes.good() || heap_size > end_ || names > end_ - heap_size) refuse("has a group without names");
    const std::string text = in_.block(names, heap_size);
    // The tree of tables of symbols. A damaged one can be a circle.
    constexpr std::size_t max_nodes = 4096;
    std::vector<std::uint64_t> nodes{group.tree};
    for (std::size_t k = 0; k < nodes.size(); ++k) {
        if (k == max_nodes) refuse("has a group of more than 4096 tables");
        const std::string head = in_.block(nodes[k], 8);
        Bytes head_bytes(head);
        const std::string_view mark = head_bytes.take(4);
        head_bytes.skip(2);
        const std::uint64_t count = head_bytes.number(2);
        if (mark == "TREE") {
            // Level and siblings do not matter: all children are visited. A key comes before each child.
            const std::uint64_t start = 8 + 2 * in_.address_size, pair = in_.length_size + in_.address_size;
            const std::string children = in_.block(nodes[k] + start, count * pair);
            if (head[4] != 0 || children.size() < count * pair) refuse("has a damaged tree of names");
            Bytes child_bytes(children);
            for (std::uint64_t c = 0; c < count; ++c) {
                child_bytes.skip(in_.length_size);
                const std::uint64_t child = child_bytes.number(in_.address_size);
                if (child > max_address || nodes.size() > max_nodes) refuse("has a damaged tree of names");
                nodes.push_back(child);
            }
        } else if (mark == "SNOD") {
            const std::string entries = in_.block(nodes[k] + 8, count * entry_size(in_));
            if (entries.size() < count * entry_size(in_)) refuse("has a table of names that is cut short");
            for (std::uint64_t e = 0; e < count; ++e) {
                Bytes one(std::string_view(entries).substr(e * entry_size(in_), entry_size(in_)));
                const std::uint64_t at = one.number(in_.address_size), header = one.number(in_.address_size);
                if (at >= text.size()) refuse("has a name outside its heap");
                const std::string found = text.substr(at, std::min(text.find('\0', at), text.size()) - at);
                if (found != name) continue;
                constexpr std::uint64_t link = 2;
                if (one.number(4) == link || header > max_address) refuse("contains a link in place of " + name);
                return header;
            }
        } else
            refuse("has a damaged tree of names");
    }
    return std::nullopt;
}

std::optional<ObjectHeader> OldFormat::find(const std::string& name) {
    ObjectHeader object = read_header(in_, root_);
    for (std::size_t begin = 0; begin <= name.size();) {
        const std::size_t end = std::min(name.find('/', begin), name.size());
        const std::string part = name.substr(begin, end - begin);
        if (!object.refusal.empty()) refuse(name.substr(0, begin) + " " + object.refusal);
        if (object.newer_group) throw NewerGroup();
        if (!object.group) return std::nullopt;
        const std::optional<std::uint64_t> address = entry(*object.group, part);
        if (!address) return std::nullopt;
        object = read_header(in_, *address);
        begin = end + 1;
    }
    return object;
}

bool OldFormat::is_written(const ObjectHeader& dataset) const {
    const std::uint64_t undefined = std::numeric_limits<std::uint64_t>::max() >> (64 - 8 * in_.address_size);
    return !dataset.contiguous || dataset.contiguous->address != undefined;
}

std::optional<OldFormat::Numbers> OldFormat::numbers(const ObjectHeader& dataset, std::uint64_t memory) {
    if (!dataset.contiguous && !dataset.compact) return std::nullopt;
    const std::uint64_t width = *dataset.element_size;
    const Form form = form_of(dataset.datatype);
    Numbers result;
    result.kind = form.kind;
    result.standard = form.standard;
    result.count = dataset.empty ? 0 : 1;
    for (const std::uint64_t side : dataset.sides) {
        if (side != 0 && result.count > end_ / side) refuse("announces more numbers than the file can hold");
        result.count *= side;
    }
    if (result.count > end_ / width || result.count > memory / sizeof(double))
        refuse("announces more numbers than the file can hold");
    const std::uint64_t size = result.count * width;
    const std::string bytes = dataset.compact ? *dataset.compact : in_.block(dataset.contiguous->address, size);
    const std::uint64_t room = dataset.compact ? dataset.compact->size() : dataset.contiguous->size;
    result.stored = room >= size && bytes.size() >= size;
    if (!result.stored || !form.standard) return result;
    Bytes in(bytes);
    const auto next = [&] {
        std::uint64_t value = in.number(width);
        if (!form.big_endian) return value;
        std::uint64_t turned = 0;
        for (std::uint64_t k = 0; k < width; ++k, value >>= 8U) turned = turned << 8U | (value & 0xFFU);
        return turned;
    };
    for (std::uint64_t k = 0; k < result.count; ++k) {
        const std::uint64_t value = next();
        if (form.kind == Numbers::Kind::reals) {
            result.reals.push_back(width == 8 ? std::bit_cast<double>(value)
                                              : std::bit_cast<float>(static_cast<std::uint32_t>(value)));
            continue;
        }
        constexpr auto largest = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
        const std::uint64_t unused = 64 - 8 * width;  // bits
        if (form.is_signed)
            result.integers.push_back(std::bit_cast<std::int64_t>(value << unused) >> unused);
        else
            result.integers.push_back(static_cast<std::int64_t>(std::min(value, largest)));
    }
    return result;
}

}  // namespace saltus::io::hdf5

#endif
