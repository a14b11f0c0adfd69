// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace saltus::io {

/// Bytes that are appended while a motion is computed, and read when its files are written. A few stay in memory; more
/// go to a file without a name, which disappears with the program, however that ends. Copies are not possible.
class Spool {
public:
    explicit Spool(std::string folder) : folder_(std::move(folder)) {}  ///< `folder`: where the file would be
    ~Spool();
    Spool(Spool&& other) noexcept;
    Spool& operator=(Spool&&) = delete;
    Spool(const Spool&) = delete;
    Spool& operator=(const Spool&) = delete;

    /// Throws Error if the file cannot be written.
    void append(std::string_view bytes);
    template <class T>
    void append(std::span<const T> values) {
        append({reinterpret_cast<const char*>(values.data()), values.size_bytes()});
    }

    /// Removes all bytes and the file.
    void clear();

    std::uint64_t size() const { return in_file_ + waiting_.size(); }  ///< in bytes

    /// Reads `count` bytes from `offset`; they must exist. Throws Error if the file cannot be read.
    void read(std::uint64_t offset, char* to, std::size_t count) const;
    /// The value number k, if all bytes are values of this type.
    template <class T>
    T value(std::uint64_t k) const {
        T x;
        read(k * sizeof(T), reinterpret_cast<char*>(&x), sizeof(T));
        return x;
    }
    template <class T>
    std::uint64_t count() const {
        return size() / sizeof(T);
    }

    /// Calls `use` with all bytes, one piece after the other.
    template <class Use>
    void each_piece(Use use) const {
        each_piece(size(), use);
    }
    /// The same with the first `end` bytes.
    template <class Use>
    void each_piece(std::uint64_t end, Use use) const {
        constexpr std::size_t piece = std::size_t{1} << 20U;  // bytes
        std::vector<char> bytes;
        for (std::uint64_t at = 0; at < end; at += bytes.size()) {
            bytes.resize(static_cast<std::size_t>(std::min<std::uint64_t>(piece, end - at)));
            read(at, bytes.data(), bytes.size());
            use(std::string_view(bytes.data(), bytes.size()));
        }
    }

private:
    void flush();
    [[noreturn]] void fail(const char* what, int error) const;

    std::string folder_;
    std::string waiting_;        ///< bytes after those in the file
    int descriptor_ = -1;        ///< of the file; -1: there is none
    std::uint64_t in_file_ = 0;  ///< number of bytes in the file
};

}  // namespace saltus::io
