// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "saltus/base/error.hpp"

/// Helpers for the tests of several modules.
namespace saltus::test {

/// The text with `old` replaced. `old` must occur exactly once; otherwise the test itself is wrong.
inline std::string replaced(std::string text, const std::string& old, const std::string& by) {
    const std::size_t at = text.find(old);
    if (old.empty() || at == std::string::npos || text.find(old, at + 1) != std::string::npos)
        throw std::logic_error("the test replaces a text that is not there exactly once: " + old);
    return text.replace(at, old.size(), by);
}

/// The message of the Error that the action throws, or "accepted" if it throws none.
template <class Action>
std::string refusal_of(Action action) {
    try {
        action();
    } catch (const Error& e) {
        return e.what();
    }
    return "accepted";
}

inline std::string content_of(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    std::ostringstream out;
    out << in.rdbuf();
    return std::move(out).str();
}

/// A temporary folder that is removed with the object.
class Folder {
public:
    Folder() {
        std::string pattern = (std::filesystem::temp_directory_path() / "saltus-test-XXXXXX").string();
        if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary folder");
        path_ = pattern;
    }
    ~Folder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;

    const std::filesystem::path& path() const { return path_; }
    std::string file(const std::string& name) const { return (path_ / name).string(); }

    std::string write(const std::string& name, const std::string& content) const {
        std::ofstream(path_ / name, std::ios::binary) << content;
        return file(name);
    }

    /// All files and folders in it, as sorted relative paths.
    std::vector<std::string> names() const {
        std::vector<std::string> list;
        for (const auto& entry : std::filesystem::recursive_directory_iterator(path_))
            list.push_back(std::filesystem::relative(entry.path(), path_).string());
        std::sort(list.begin(), list.end());
        return list;
    }

private:
    std::filesystem::path path_;
};

}  // namespace saltus::test
