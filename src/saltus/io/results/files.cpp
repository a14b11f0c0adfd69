// SPDX-License-Identifier: Apache-2.0
#include "saltus/io/results/files.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "saltus/base/error.hpp"

namespace saltus::io {

namespace fs = std::filesystem;

namespace {

[[noreturn]] void cannot_be_written(const std::string& path, int why) {
    throw Error("cannot be written: " + std::generic_category().message(why), {path, 0, 0},
                "check free space and permissions");
}

/// Writes everything and closes the file. Returns 0, or the number of the system's error.
int write_and_close(int descriptor, std::string_view content) {
    int error = 0;
    while (!content.empty() && error == 0) {
        const ssize_t written = ::write(descriptor, content.data(), content.size());
        if (written >= 0)
            content.remove_prefix(static_cast<std::size_t>(written));
        else if (errno != EINTR)
            error = errno;
    }
    if (::close(descriptor) != 0 && error == 0) error = errno;  // some file systems report a full disk only here
    return error;
}

}  // namespace

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

void make_folder(const std::string& folder) {
    std::error_code error;
    fs::create_directories(folder, error);
    if (error) throw Error("cannot create the folder: " + error.message(), {folder, 0, 0});
}

void write_new_file(const std::string& path, std::string_view content) {
    constexpr int permissions = 0666;  // less the user's mask
    const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, permissions);
    if (descriptor < 0) cannot_be_written(path, errno);
    if (const int error = write_and_close(descriptor, content); error != 0) {
        ::unlink(path.c_str());
        cannot_be_written(path, error);
    }
}

void write_file(const std::string& folder, const std::string& name, std::string_view content) {
    make_folder(folder);
    const std::string target = (fs::path(folder) / name).string();
    refuse_special_file(target);
    // A new folder with an unpredictable name, which nobody else can enter, contains the draft.
    std::string drafts = (fs::path(folder) / ".saltus-file-XXXXXX").string();
    if (::mkdtemp(drafts.data()) == nullptr) cannot_be_written(target, errno);
    const std::string draft = drafts + "/draft";
    int error = 0;
    try {
        write_new_file(draft, content);
        if (::rename(draft.c_str(), target.c_str()) != 0) error = errno;
    } catch (const Error& e) {
        ::rmdir(drafts.c_str());
        throw Error(e.message(), {target, 0, 0}, e.remedy());
    }
    if (error != 0) ::unlink(draft.c_str());
    ::rmdir(drafts.c_str());
    if (error != 0) cannot_be_written(target, error);
}

}  // namespace saltus::io
