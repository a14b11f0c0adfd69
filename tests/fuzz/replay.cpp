// SPDX-License-Identifier: Apache-2.0
// Feeds files, or all files of folders, to a fuzz target, without a fuzzer. Ends with 1 if there is no file.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

int main(int count, char** arguments) {
    namespace fs = std::filesystem;
    std::vector<fs::path> files;
    for (int k = 1; k < count; ++k) {
        if (fs::is_directory(arguments[k]))
            for (const fs::directory_entry& entry : fs::directory_iterator(arguments[k])) files.push_back(entry.path());
        else
            files.emplace_back(arguments[k]);
    }
    for (const fs::path& file : files) {
        std::ifstream in(file, std::ios::binary);
        const std::string bytes{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
        LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
    }
    std::printf("%zu files\n", files.size());
    return files.empty() ? 1 : 0;
}
