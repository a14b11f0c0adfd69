// SPDX-License-Identifier: Apache-2.0
#include "saltus/io/results/files.hpp"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <system_error>

#include "saltus/base/error.hpp"

namespace saltus::io {

void write_file(const std::string& folder, const std::string& name, std::string_view content) {
    namespace fs = std::filesystem;
    std::error_code error;
    fs::create_directories(folder, error);
    if (error) throw Error("cannot create the folder: " + error.message(), {folder, 0, 0});
    const fs::path target = fs::path(folder) / name;
    const fs::path draft = fs::path(folder) / ("." + name + "." + std::to_string(::getpid()) + ".part");
    {
        std::ofstream out(draft, std::ios::binary | std::ios::trunc);
        out.write(content.data(), static_cast<std::streamsize>(content.size()));
        out.flush();
        if (!out) {
            fs::remove(draft, error);
            throw Error("cannot be written", {target.string(), 0, 0}, "check free space and permissions");
        }
    }
    fs::rename(draft, target, error);
    if (error) {
        const std::string why = error.message();
        fs::remove(draft, error);
        throw Error("cannot be written: " + why, {target.string(), 0, 0});
    }
}

}  // namespace saltus::io
