// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdio>
#include <string>

namespace saltus::test {

struct Outcome {
    int code = -1;
    std::string out;  ///< and what it complained about
};

/// The program itself, as a person runs it.
inline Outcome command(const std::string& arguments) {
    Outcome r;
    std::FILE* pipe = ::popen((std::string(SALTUS_EXE) + " " + arguments + " 2>&1").c_str(), "r");
    std::array<char, 4096> buffer{};
    for (std::size_t got; (got = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;)
        r.out.append(buffer.data(), got);
    const int status = ::pclose(pipe);
    r.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return r;
}

}  // namespace saltus::test
