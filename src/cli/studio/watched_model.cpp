// SPDX-License-Identifier: Apache-2.0
#include "cli/studio/watched_model.hpp"

#include <sys/stat.h>

#include <chrono>
#include <cstdint>
#include <exception>
#include <fstream>
#include <iterator>
#include <utility>

namespace saltus::cli {

namespace {

using FileState = WatchedModel::FileState;

FileState state_of(const std::string& path) {
    struct stat s {};
    if (::stat(path.c_str(), &s) != 0) return {-1, 0, 0, 0, 0};
    return {static_cast<std::int64_t>(s.st_ino), s.st_size, s.st_mtim.tv_sec, s.st_mtim.tv_nsec, s.st_ctim.tv_nsec};
}

std::optional<std::string> bytes_of(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    if (!in) return std::nullopt;
    std::string bytes{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    if (in.bad()) return std::nullopt;
    return bytes;
}

}  // namespace

WatchedModel::WatchedModel(std::string path, std::function<void(long)> changed)
    : path_(std::move(path)), changed_(std::move(changed)) {
    // Taken before the file is read: a change after that is found by the first look.
    const FileState known = state_of(path_);
    read();
    thread_ = std::jthread([this, known](const std::stop_token& stop) { watch(stop, known); });
}

WatchedModel::~WatchedModel() = default;

ModelVersion WatchedModel::now() const {
    const std::lock_guard lock(mutex_);
    return version_;
}

/// Looks at the state of the file twenty times a second, which works on every file system. A changed file is read once
/// its state has stayed the same between two looks: an editor may still be writing.
void WatchedModel::watch(const std::stop_token& stop, FileState known) {
    constexpr std::chrono::milliseconds between_looks{50};
    FileState last = known;
    while (!stop.stop_requested()) {
        std::this_thread::sleep_for(between_looks);
        const FileState now = state_of(path_);
        const bool settled = now == last;
        last = now;
        if (now == known || !settled) continue;
        known = now;
        if (read()) changed_(version_.revision);
    }
}

/// Reads the file and returns whether its content has changed.
bool WatchedModel::read() {
    const std::optional<std::string> bytes = bytes_of(path_);
    ModelVersion next = now();
    const bool unreadable_before = next.revision > 0 && next.text.empty() && next.error.has_value();
    if (next.revision > 0 && (bytes ? *bytes == next.text && !unreadable_before : unreadable_before)) return false;
    ++next.revision;
    next.text = bytes.value_or("");
    next.error.reset();
    try {
        if (!bytes) throw Error("the file cannot be read", {path_, 0, 0}, "the studio waits until it is back");
        io::ModelFile file{path_, *bytes, io::parse_model(*bytes, path_)};
        model::Model built = model::build(file.description);
        next.good = std::make_shared<const GoodVersion>(
            GoodVersion{next.revision, io::LoadedModel{std::move(file), {}, std::move(built)}});
    } catch (const Error& e) {
        next.error = e;
    } catch (const std::exception& e) {
        next.error = Error(e.what(), {path_, 0, 0});
    }
    const std::lock_guard lock(mutex_);
    version_ = std::move(next);
    return true;
}

}  // namespace saltus::cli
