// SPDX-License-Identifier: Apache-2.0
#if SALTUS_HDF5

#include "saltus/io/results/detail/hdf5_header.hpp"

#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

// Section IV.A of the specification: an object is a header, a list of messages in one or more blocks.
namespace saltus::io::hdf5 {

namespace {

const char* const cut_short = "has a header that is cut short";
const char* const repeated = "has a header that says something twice";

/// Messages of an object header that are read here.
enum class Message : std::uint16_t {
    dataspace = 0x01,
    link_info = 0x02,
    datatype = 0x03,
    external_files = 0x07,
    layout = 0x08,
    filters = 0x0B,
    continuation = 0x10,
    symbol_table = 0x11,
};

/// Reads one header. Its functions return why the header is refused, or nothing.
class HeaderReader {
public:
    explicit HeaderReader(FileBytes& in) : in_(in) {}

    const ObjectHeader& header() const { return header_; }

    /// Reads all messages.
    std::string read(std::uint64_t address) {
        // The longest prefix: version 2 with times, phase change and a size of 8 bytes.
        constexpr std::size_t longest_prefix = 34;
        const std::string prefix = in_.block(address, longest_prefix);
        Bytes bytes(prefix);
        std::uint64_t size = 0, start = 0;  // of the messages of the first block
        if (prefix.starts_with("OHDR")) {
            version_ = 2;
            bytes.skip(5);
            const std::uint64_t flags = bytes.number(1);
            ordered_ = (flags & 0x04U) != 0;
            bytes.skip(((flags & 0x20U) != 0 ? 16 : 0) + ((flags & 0x10U) != 0 ? 4 : 0));
            const std::size_t width = std::size_t{1} << (flags & 0x03U);
            size = bytes.number(width);
            start = prefix.size() - bytes.left();
        } else {
            if (bytes.number(1) != 1) return "has a header of an unknown version";
            bytes.skip(7);
            size = bytes.number(4);
            constexpr std::uint64_t prefix_with_padding = 16;
            start = prefix_with_padding;
        }
        if (!bytes.good()) return cut_short;
        blocks_.push_back({address + start, size});
        // A damaged header can be a circle of continuations.
        constexpr std::size_t max_blocks = 4096;
        for (std::size_t k = 0; k < blocks_.size(); ++k) {
            if (k == max_blocks) return "has a header of more than 4096 blocks";
            if (std::string why = messages(blocks_[k]); !why.empty()) return why;
        }
        return {};
    }

    /// Whether the messages are those of a dataset and fit together.
    std::string check() const {
        if (!header_.rank || !header_.element_size || !header_.has_layout) return "is not a dataset";
        if (*header_.rank > H5S_MAX_RANK) return "has too many dimensions";
        if (*header_.element_size == 0) return "has numbers of size zero";
        if (!header_.chunk) return {};
        // HDF5 keeps the size of a chunk in 32 bits.
        constexpr std::uint64_t max_chunk = std::numeric_limits<std::uint32_t>::max();
        if (header_.chunk->size() != *header_.rank + 1 || header_.chunk->back() != *header_.element_size)
            return "has chunks that do not fit its numbers";
        std::uint64_t size = 1;
        for (const std::uint64_t side : *header_.chunk) {
            if (side == 0) return "has chunks of size zero";
            if (side > max_chunk / size) return "has chunks of more than 4 GiB";
            size *= side;
        }
        return {};
    }

private:
    struct Block {
        std::uint64_t address, size;
    };

    std::string messages(Block b) {
        constexpr std::uint64_t max_size = std::uint64_t{1} << 24U;  // bytes; headers of saltus and FCLIB have < 1 kB
        if (b.size > max_size) return "has a header of more than 16 MiB";
        const std::string content = in_.block(b.address, b.size);
        if (content.size() < b.size) return cut_short;
        Bytes bytes(content);
        const std::size_t prefix = version_ == 1 ? 8 : (ordered_ ? 6 : 4);
        while (bytes.left() >= prefix) {
            const auto type = static_cast<Message>(bytes.number(version_ == 1 ? 2 : 1));
            const std::uint64_t size = bytes.number(2), flags = bytes.number(1);
            bytes.skip(prefix - (version_ == 1 ? 5 : 4));
            const std::string_view body = bytes.take(size);
            if (!bytes.good()) return cut_short;
            constexpr std::uint64_t shared = 0x02;
            if (std::string why = message(type, (flags & shared) != 0, Bytes(body)); !why.empty()) return why;
        }
        return {};
    }

    std::string message(Message type, bool is_shared, Bytes body) {
        std::string why;
        switch (type) {
            case Message::dataspace:
                if (header_.rank) return repeated;
                why = dataspace(body);
                break;
            case Message::datatype:
                if (header_.element_size) return repeated;
                header_.datatype = body.rest();
                body.skip(4);
                header_.element_size = body.number(4);
                break;
            case Message::external_files: return "is stored in other files";
            case Message::layout:
                if (header_.has_layout) return repeated;
                why = layout(body);
                break;
            case Message::filters: why = filters(body); break;
            case Message::link_info: header_.newer_group = true; return {};
            case Message::symbol_table: {
                if (header_.group) return repeated;
                const std::uint64_t tree = body.number(in_.address_size);
                header_.group = {tree, body.number(in_.address_size)};
                break;
            }
            case Message::continuation: {
                const std::uint64_t address = body.number(in_.address_size), size = body.number(in_.length_size);
                constexpr std::uint64_t signature = 4, checksum = 4;  // of a block of version 2
                if (version_ == 1)
                    blocks_.push_back({address, size});
                else if (size < signature + checksum)
                    return cut_short;
                else
                    blocks_.push_back({address + signature, size - signature - checksum});
                break;
            }
            default: return {};
        }
        if (is_shared) return "refers to a header of another object";
        return why.empty() && !body.good() ? cut_short : why;
    }

    std::string dataspace(Bytes& body) {
        const std::uint64_t version = body.number(1);
        header_.rank = body.number(1);
        body.skip(1);
        const std::uint64_t kind = body.number(1);  // in version 2: scalar, simple, null
        constexpr std::uint64_t null = 2;
        header_.empty = version == 2 && kind == null;
        if (version == 1) body.skip(4);
        for (std::uint64_t k = 0; k < *header_.rank; ++k) header_.sides.push_back(body.number(in_.length_size));
        return version == 1 || version == 2 ? "" : "has dimensions of an unknown version";
    }

    std::string layout(Bytes& body) {
        enum Class : std::uint64_t { compact = 0, contiguous = 1, chunked = 2 };
        header_.has_layout = true;
        const std::uint64_t version = body.number(1);
        std::uint64_t kind = 0, rank = 0;
        std::size_t width = 4;  // bytes of a side of a chunk
        if (version == 1 || version == 2) {
            rank = body.number(1);
            kind = body.number(1);
            body.skip(5 + in_.address_size);
        } else if (version == 3) {
            kind = body.number(1);
            if (kind == chunked) {
                rank = body.number(1);
                body.skip(in_.address_size);
            }
            plain(body, kind == contiguous, kind == compact);
        } else if (version == 4) {
            kind = body.number(1);
            if (kind == chunked) {
                body.skip(1);
                rank = body.number(1);
                width = body.number(1);
            }
            plain(body, kind == contiguous, kind == compact);
        } else
            return "has a layout of an unknown version";
        if (kind > chunked) return "has a layout that is neither contiguous nor chunked";
        if (kind != chunked) return {};
        header_.chunk.emplace();
        for (std::uint64_t k = 0; k < rank; ++k) header_.chunk->push_back(body.number(width));
        return {};
    }

    /// Where the numbers are, if they are not in chunks.
    void plain(Bytes& body, bool is_contiguous, bool is_compact) {
        if (is_contiguous) {
            const std::uint64_t address = body.number(in_.address_size);
            header_.contiguous = {address, body.number(in_.length_size)};
        }
        if (is_compact) header_.compact = std::string(body.take(body.number(2)));
    }

    std::string filters(Bytes& body) const {
        constexpr std::uint64_t first_with_name = 256;
        const std::uint64_t version = body.number(1), count = body.number(1);
        if (version == 1) body.skip(6);
        for (std::uint64_t k = 0; k < count && body.good(); ++k) {
            const std::uint64_t id = body.number(2);
            if (id != H5Z_FILTER_DEFLATE && id != H5Z_FILTER_SHUFFLE && id != H5Z_FILTER_FLETCHER32)
                return "has a filter other than deflate, shuffle and fletcher32";
            const std::uint64_t name = version == 1 || id >= first_with_name ? body.number(2) : 0;
            body.skip(2);
            const std::uint64_t values = body.number(2);
            body.skip(name + 4 * values + (version == 1 && values % 2 == 1 ? 4 : 0));
        }
        return {};
    }

    FileBytes& in_;
    int version_ = 1;
    bool ordered_ = false;  ///< messages have two more bytes, their order of creation
    std::vector<Block> blocks_;
    ObjectHeader header_;
};

}  // namespace

ObjectHeader read_header(FileBytes& in, std::uint64_t address) {
    HeaderReader reader(in);
    const std::string why = reader.read(address);
    ObjectHeader header = reader.header();
    header.refusal = why;
    header.refusal_of_dataset = why.empty() ? reader.check() : why;
    return header;
}

std::string refusal_of_dataset(hid_t file, const std::string& path, const std::string& name) {
    H5O_info_t root, info;
    const Id creation(H5Fget_create_plist(file), H5Pclose);
    FileBytes in(path);
    hsize_t base = 0;
    if (!creation || H5Pget_userblock(creation.get(), &base) < 0 ||
        H5Pget_sizes(creation.get(), &in.address_size, &in.length_size) < 0 ||
        H5Oget_info_by_name2(file, "/", &root, H5O_INFO_BASIC, H5P_DEFAULT) < 0 ||
        H5Oget_info_by_name2(file, name.c_str(), &info, H5O_INFO_BASIC, H5P_DEFAULT) < 0)
        return "cannot be opened";
    if (info.fileno != root.fileno) return "is in another file";
    in.base = base;
    return read_header(in, info.addr).refusal_of_dataset;
}

}  // namespace saltus::io::hdf5

#endif
