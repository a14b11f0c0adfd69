// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <fstream>
#include <limits>
#include <string>
#include <string_view>

/// The bytes of an HDF5 file, without the library HDF5: "HDF5 File Format Specification Version 3.0". Numbers are
/// little-endian.
namespace saltus::io::hdf5 {

/// Reads numbers from bytes. A number past the end is 0, and good() is false from then on.
class Bytes {
public:
    explicit Bytes(std::string_view bytes) : bytes_(bytes) {}

    std::uint64_t number(std::size_t size) {
        if (size > left() || size > sizeof(std::uint64_t)) {
            good_ = false;
            return 0;
        }
        std::uint64_t value = 0;
        for (std::size_t k = size; k-- > 0;) value = value << 8U | static_cast<unsigned char>(bytes_[at_ + k]);
        at_ += size;
        return value;
    }
    std::string_view take(std::size_t size) {
        if (size > left()) {
            good_ = false;
            size = left();
        }
        at_ += size;
        return bytes_.substr(at_ - size, size);
    }
    void skip(std::size_t size) { take(size); }
    std::string rest() const { return std::string(bytes_.substr(at_)); }
    std::size_t left() const { return bytes_.size() - at_; }
    bool good() const { return good_; }

private:
    std::string_view bytes_;
    std::size_t at_ = 0;
    bool good_ = true;
};

/// A file whose addresses count from `base`.
class FileBytes {
public:
    explicit FileBytes(const std::string& path) : in_(path, std::ios::binary) {}

    std::uint64_t base = 0;
    std::size_t address_size = 8, length_size = 8;  ///< bytes of an address, and of a length

    /// At most `size` bytes at this address; fewer at the end of the file.
    std::string block(std::uint64_t address, std::uint64_t size) {
        constexpr std::uint64_t max_position = std::numeric_limits<std::int64_t>::max();
        if (base > max_position || address > max_position - base) return {};
        std::string bytes(size, '\0');
        in_.clear();
        in_.seekg(static_cast<std::streamoff>(base + address));
        in_.read(bytes.data(), static_cast<std::streamsize>(size));
        bytes.resize(in_.bad() ? 0 : static_cast<std::size_t>(in_.gcount()));
        return bytes;
    }

private:
    std::ifstream in_;
};

}  // namespace saltus::io::hdf5
