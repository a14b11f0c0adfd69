// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "saltus/base/error.hpp"
#include "saltus/io/model/load_model.hpp"

namespace saltus::cli {

/// A version of a model file that is a model.
struct GoodVersion {
    long revision = 0;
    io::LoadedModel loaded;  ///< as the file says, without changes by the user
};

/// A version of a model file, and the last one that was a model.
struct ModelVersion {
    long revision = 0;  ///< from 1; a new one for each change of the bytes
    std::string text;
    std::optional<Error> error;  ///< why this version is not a model
    std::shared_ptr<const GoodVersion> good;
};

/// Follows a model file while it is edited. All functions may be called by any thread.
class WatchedModel {
public:
    /// What changes when a file is written or replaced. Editors that write a new file and rename it change the inode.
    using FileState = std::array<std::int64_t, 5>;

    /// Reads the file at once. `changed` is called by a thread of its own after each change.
    WatchedModel(std::string path, std::function<void(long revision)> changed);
    ~WatchedModel();
    WatchedModel(const WatchedModel&) = delete;
    WatchedModel& operator=(const WatchedModel&) = delete;

    const std::string& path() const { return path_; }
    ModelVersion now() const;

private:
    void watch(const std::stop_token& stop, FileState known);
    bool read();

    std::string path_;
    std::function<void(long)> changed_;
    mutable std::mutex mutex_;  ///< of version_
    ModelVersion version_;
    std::jthread thread_;  ///< last member: it uses the others
};

}  // namespace saltus::cli
