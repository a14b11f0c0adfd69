// SPDX-License-Identifier: Apache-2.0
//
// Runs programs for the tests of the command line, as a person would.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

#include "support.hpp"

namespace saltus::test {

struct Outcome {
    int code = -1;         ///< exit code, or −signal if a signal ended the program
    std::string out, err;  ///< standard output and standard error
    double seconds = 0.0;  ///< from start to end
};

/// A program that runs in the background, without input. Its output is collected until wait().
class Process {
public:
    /// `words`: path of the program and its arguments. It runs in `folder`.
    explicit Process(std::vector<std::string> words, const std::filesystem::path& folder = ".");

    void send(int signal) const;
    /// Waits until the program handles SIGINT by itself. Fails the test after 30 s.
    void wait_until_it_listens() const;
    Outcome wait() const;

private:
    Folder streams_;
    pid_t child_ = -1;
    double started_ = 0.0;  ///< seconds of the steady clock
};

/// A command line of the shell.
Outcome shell(const std::string& line, const std::filesystem::path& folder = ".");

/// `saltus ARGUMENTS` by the shell. Standard error is part of `out`.
Outcome command(const std::string& arguments, const std::filesystem::path& folder = ".");

}  // namespace saltus::test
