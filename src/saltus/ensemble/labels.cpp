// SPDX-License-Identifier: Apache-2.0
#include "saltus/ensemble/labels.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <system_error>

#include "saltus/base/error.hpp"

namespace saltus::ensemble {

namespace {

constexpr std::size_t window_size = std::size_t{1} << 16;  ///< labels that are read or written at a time

}  // namespace

/// A file without a name: it disappears with the process.
class Labels::File {
public:
    explicit File(const std::string& folder) : folder_(folder) {
        std::string name = folder + "/.labels-XXXXXX";
        descriptor_ = ::mkostemp(name.data(), O_CLOEXEC);
        if (descriptor_ < 0) fail();
        ::unlink(name.c_str());
    }
    ~File() { ::close(descriptor_); }
    File(const File&) = delete;
    File& operator=(const File&) = delete;

    void write(std::size_t at, const std::vector<std::int32_t>& labels) {
        const char* from = reinterpret_cast<const char*>(labels.data());
        std::size_t left = labels.size() * sizeof(std::int32_t), place = at * sizeof(std::int32_t);
        while (left > 0) {
            const ssize_t done = ::pwrite(descriptor_, from, left, static_cast<off_t>(place));
            if (done < 0 && errno == EINTR) continue;
            if (done <= 0) fail();
            from += done;
            left -= static_cast<std::size_t>(done);
            place += static_cast<std::size_t>(done);
        }
        size_ = at + labels.size();
    }
    void read(std::size_t at, std::vector<std::int32_t>& labels) const {
        char* to = reinterpret_cast<char*>(labels.data());
        std::size_t left = labels.size() * sizeof(std::int32_t), place = at * sizeof(std::int32_t);
        while (left > 0) {
            const ssize_t done = ::pread(descriptor_, to, left, static_cast<off_t>(place));
            if (done < 0 && errno == EINTR) continue;
            if (done <= 0) fail();
            to += done;
            left -= static_cast<std::size_t>(done);
            place += static_cast<std::size_t>(done);
        }
    }
    std::size_t size() const { return size_; }

private:
    [[noreturn]] void fail() const {
        throw Error("the labels cannot be stored: " + std::generic_category().message(errno), {folder_, 0, 0},
                    "check the folder and the disk");
    }

    std::string folder_;
    int descriptor_ = -1;
    std::size_t size_ = 0;
};

void Labels::push_back(int label) {
    last_.push_back(label);
    ++size_;
    if (folder_.empty()) return;
    if (file_ ? last_.size() >= window_size : size_ > longest_) flush();
}

void Labels::flush() {
    if (!file_) file_ = std::make_shared<File>(folder_);
    file_->write(file_->size(), last_);
    last_.clear();
    last_.shrink_to_fit();
}

std::vector<int> Labels::all() const {
    std::vector<int> list(size_);
    Reader reader(*this);
    for (std::size_t k = 0; k < size_; ++k) list[k] = reader.at(k);
    return list;
}

void Labels::Reader::load(std::size_t run) {
    SALTUS_EXPECT(run < labels_.size());
    const std::size_t in_file = labels_.file_ ? labels_.file_->size() : 0;
    first_ = run / window_size * window_size;
    const std::size_t end = std::min(first_ + window_size, labels_.size());
    const std::size_t from_file = std::clamp(in_file, first_, end) - first_;
    window_.resize(from_file);
    if (from_file > 0) labels_.file_->read(first_, window_);
    for (std::size_t k = first_ + from_file; k < end; ++k) window_.push_back(labels_.last_[k - in_file]);
}

bool operator==(const Labels& a, const Labels& b) { return a.all() == b.all(); }

}  // namespace saltus::ensemble
