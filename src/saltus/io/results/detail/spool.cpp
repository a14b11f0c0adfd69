// SPDX-License-Identifier: Apache-2.0
#include "saltus/io/results/detail/spool.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "saltus/base/error.hpp"
#include "saltus/io/results/files.hpp"

namespace saltus::io {

namespace {

/// Bytes that stay in memory. A motion has about sixty spools.
constexpr std::size_t bytes_in_memory = std::size_t{1} << 16U;

/// A new file without a name. Negative: errno says why there is none.
int nameless_file(const std::string& folder) {
    constexpr int permissions = 0600;
#ifdef O_TMPFILE
    const int made = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, permissions);
    if (made >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL)) return made;
#endif
    std::string name = (std::filesystem::path(folder) / ".saltus-spool-XXXXXX").string();
    const int descriptor = ::mkostemp(name.data(), O_CLOEXEC);
    if (descriptor >= 0) ::unlink(name.c_str());
    return descriptor;
}

}  // namespace

Spool::~Spool() { clear(); }

void Spool::clear() {
    if (descriptor_ >= 0) ::close(descriptor_);
    descriptor_ = -1;
    in_file_ = 0;
    waiting_.clear();
}

Spool::Spool(Spool&& other) noexcept
    : folder_(std::move(other.folder_)),
      waiting_(std::move(other.waiting_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      in_file_(other.in_file_) {}

void Spool::fail(const char* what, int error) const {
    throw Error(std::string(what) + ": " + std::generic_category().message(error), {folder_, 0, 0},
                "check free space and permissions");
}

void Spool::append(std::string_view bytes) {
    waiting_.append(bytes);
    if (waiting_.size() >= bytes_in_memory) flush();
}

void Spool::flush() {
    if (descriptor_ < 0) descriptor_ = nameless_file(folder_);
    if (descriptor_ < 0) fail("cannot be written", errno);
    if (const int error = write_all(descriptor_, waiting_); error != 0) fail("cannot be written", error);
    in_file_ += waiting_.size();
    waiting_.clear();
}

void Spool::read(std::uint64_t offset, char* to, std::size_t count) const {
    SALTUS_EXPECT(offset + count <= size());
    while (count > 0 && offset < in_file_) {
        const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(count, in_file_ - offset));
        const ssize_t got = ::pread(descriptor_, to, wanted, static_cast<off_t>(offset));
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) fail("cannot be read", got < 0 ? errno : EIO);
        offset += static_cast<std::uint64_t>(got);
        to += got;
        count -= static_cast<std::size_t>(got);
    }
    if (count > 0) std::memcpy(to, waiting_.data() + (offset - in_file_), count);
}

}  // namespace saltus::io
