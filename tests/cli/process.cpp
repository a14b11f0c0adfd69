// SPDX-License-Identifier: Apache-2.0
#include "process.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <stdexcept>
#include <thread>

namespace saltus::test {

namespace {

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

}  // namespace

Process::Process(std::vector<std::string> words, const std::filesystem::path& folder) : started_(now()) {
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    const std::string out = streams_.file("out"), err = streams_.file("err");
    child_ = ::fork();
    if (child_ < 0) throw std::runtime_error("fork");
    if (child_ > 0) return;
    const int flags = O_WRONLY | O_CREAT | O_TRUNC;
    const bool ready = ::chdir(folder.c_str()) == 0 && ::dup2(::open("/dev/null", O_RDONLY), 0) >= 0 &&
                       ::dup2(::open(out.c_str(), flags, 0600), 1) >= 0 &&
                       ::dup2(::open(err.c_str(), flags, 0600), 2) >= 0;
    if (ready) ::execv(argv[0], argv.data());
    ::_exit(99);
}

void Process::send(int signal) const { ::kill(child_, signal); }

void Process::wait_until_it_listens() const {
    constexpr unsigned long long interrupt_bit = 1U << (SIGINT - 1);
    for (int k = 0; k < 3000; ++k) {
        // The mask of signals with a handler, in hexadecimal digits.
        std::ifstream status("/proc/" + std::to_string(child_) + "/status");
        for (std::string line; std::getline(status, line);)
            if (line.starts_with("SigCgt:") && (std::stoull(line.substr(7), nullptr, 16) & interrupt_bit) != 0) return;
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    FAIL() << "the program never handles SIGINT";
}

Outcome Process::wait() const {
    int status = 0;
    ::waitpid(child_, &status, 0);
    Outcome outcome;
    outcome.seconds = now() - started_;
    outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    outcome.out = content_of(streams_.file("out"));
    outcome.err = content_of(streams_.file("err"));
    return outcome;
}

Outcome shell(const std::string& line, const std::filesystem::path& folder) {
    return Process({"/bin/sh", "-c", line}, folder).wait();
}

Outcome command(const std::string& arguments, const std::filesystem::path& folder) {
    return shell(std::string(SALTUS_EXE) + " " + arguments + " 2>&1", folder);
}

}  // namespace saltus::test
