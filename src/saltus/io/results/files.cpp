// SPDX-License-Identifier: Apache-2.0
#include "saltus/io/results/files.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>
#include <vector>

#include "saltus/base/error.hpp"

namespace saltus::io {

namespace fs = std::filesystem;

namespace {

[[noreturn]] void cannot_be_written(const std::string& path, int why) {
    throw Error("cannot be written: " + std::generic_category().message(why), {path, 0, 0},
                "check free space and permissions");
}

/// A writer of these bytes.
FileWriter writer_of(const std::string& path, std::string_view content) {
    return [&path, content](int descriptor) {
        if (const int error = write_all(descriptor, content); error != 0) cannot_be_written(path, error);
    };
}

}  // namespace

int write_all(int descriptor, std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
        if (written >= 0)
            bytes.remove_prefix(static_cast<std::size_t>(written));
        else if (errno != EINTR)
            return errno;
    }
    return 0;
}

void refuse_special_file(const std::string& path) {
    std::error_code error;
    const fs::file_status status = fs::symlink_status(path, error);
    const char* what = nullptr;
    switch (status.type()) {
        case fs::file_type::none:
        case fs::file_type::not_found:
        case fs::file_type::regular: return;
        case fs::file_type::directory: what = "is a folder"; break;
        case fs::file_type::symlink: what = "is a symbolic link"; break;
        case fs::file_type::fifo: what = "is a FIFO"; break;
        default: what = "is a device"; break;
    }
    throw Error(std::string(what) + ", which a result does not replace", {path, 0, 0}, "name a plain file");
}

void refuse_other_content(const std::string& path, std::string_view beginning, const std::string& kind) {
    refuse_special_file(path);
    std::ifstream in(path, std::ios::binary);
    std::string found(beginning.size(), '\0');
    in.read(found.data(), static_cast<std::streamsize>(found.size()));
    found.resize(static_cast<std::size_t>(in.gcount()));
    if (found.empty() || found == beginning) return;
    throw Error("is a file that " + kind + " would replace, and is not " + kind + " itself", {path, 0, 0},
                "name another file, or remove this one");
}

void make_folder(const std::string& folder) {
    std::error_code error;
    fs::create_directories(folder, error);
    if (error) throw Error("cannot create the folder: " + error.message(), {folder, 0, 0});
}

void write_new_file(const std::string& path, std::string_view content) {
    write_new_file(path, writer_of(path, content));
}

void write_new_file(const std::string& path, const FileWriter& write) {
    constexpr int permissions = 0666;  // less the user's mask
    const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, permissions);
    if (descriptor < 0) cannot_be_written(path, errno);
    try {
        write(descriptor);
    } catch (...) {
        ::close(descriptor);
        ::unlink(path.c_str());
        throw;
    }
    if (::close(descriptor) == 0) return;  // some file systems report a full disk only here
    const int error = errno;
    ::unlink(path.c_str());
    cannot_be_written(path, error);
}

void write_file(const std::string& folder, const std::string& name, std::string_view content) {
    const std::string target = (fs::path(folder) / name).string();
    write_file(folder, name, writer_of(target, content));
}

namespace {

constexpr std::string_view drafts_of_file = ".saltus-file-";

/// A new folder with an unpredictable name, which nobody else can enter, for the draft of a file. It is locked as long
/// as the object lives, so that others see whether its process is alive.
class Drafts {
public:
    Drafts(const std::string& folder, const std::string& target) {
        for (;;) {
            path_ = (fs::path(folder) / (std::string(drafts_of_file) + "XXXXXX")).string();
            if (::mkdtemp(path_.data()) == nullptr) cannot_be_written(target, errno);
            descriptor_ = ::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
            if (descriptor_ < 0 && errno != ENOENT) {
                const int error = errno;
                ::rmdir(path_.c_str());
                cannot_be_written(target, error);
            }
            // Another process may have taken the folder for an abandoned one before it was locked.
            struct stat state {};
            const bool removed = descriptor_ < 0 ||
                                 (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) ||
                                 (::fstat(descriptor_, &state) == 0 && state.st_nlink == 0);
            if (!removed) return;
            if (descriptor_ >= 0) ::close(descriptor_);
        }
    }
    Drafts(const Drafts&) = delete;
    Drafts& operator=(const Drafts&) = delete;
    ~Drafts() {
        ::rmdir(path_.c_str());
        ::close(descriptor_);
    }
    const std::string& path() const { return path_; }

private:
    std::string path_;
    int descriptor_ = -1;
};

}  // namespace

void write_file(const std::string& folder, const std::string& name, const FileWriter& write) {
    make_folder(folder);
    const std::string target = (fs::path(folder) / name).string();
    refuse_special_file(target);
    const Drafts drafts(folder, target);
    const std::string draft = drafts.path() + "/draft";
    try {
        write_new_file(draft, write);
    } catch (const Error& e) {
        throw Error(e.message(), {target, 0, 0}, e.remedy());
    }
    if (::rename(draft.c_str(), target.c_str()) == 0) return;
    const int error = errno;
    ::unlink(draft.c_str());
    cannot_be_written(target, error);
}

void remove_abandoned_drafts(const std::string& folder) {
    std::error_code error;
    std::vector<fs::path> found;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, error))
        if (entry.path().filename().string().starts_with(drafts_of_file)) found.push_back(entry.path());
    for (const fs::path& drafts : found) {
        const int descriptor = ::open(drafts.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (descriptor < 0) continue;
        if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0) fs::remove_all(drafts, error);
        ::close(descriptor);
    }
}

}  // namespace saltus::io
