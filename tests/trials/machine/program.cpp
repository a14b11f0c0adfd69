// SPDX-License-Identifier: Apache-2.0
#include "machine/program.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <sstream>
#include <thread>

namespace trials {

namespace {

std::string content(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

/// The child after fork: limits, streams, then the program.
[[noreturn]] void become(const std::vector<const char*>& words, const std::string& out, const std::string& err,
                         const std::string& cache, int cpu_seconds) {
    const rlimit limit{static_cast<rlim_t>(cpu_seconds), static_cast<rlim_t>(cpu_seconds + 1)};
    setrlimit(RLIMIT_CPU, &limit);
    const rlimit no_core{0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    setenv("XDG_CACHE_HOME", cache.c_str(), 1);  // compiled kernels of devices go with the folder
    dup2(open("/dev/null", O_RDONLY), 0);
    dup2(open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644), 1);
    dup2(open(err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644), 2);
    execv(words[0], const_cast<char* const*>(words.data()));
    _exit(127);
}

}  // namespace

Program::Program(std::filesystem::path executable, std::filesystem::path folder)
    : executable_(std::move(executable)), folder_(std::move(folder)) {
    std::filesystem::create_directories(folder_);
}

Run Program::run(const std::vector<std::string>& words, int cpu_seconds) const {
    const std::string executable = executable_.string();
    std::vector<const char*> arguments = {executable.c_str()};
    for (const std::string& word : words) arguments.push_back(word.c_str());
    arguments.push_back(nullptr);
    const std::string out = (folder_ / "stdout").string(), err = (folder_ / "stderr").string(),
                      cache = (folder_ / "cache").string();
    const pid_t child = fork();
    if (child == 0) become(arguments, out, err, cache, cpu_seconds);
    int status = 0;
    Run run;
    // The limit is on computing time, so that a busy machine does not make a judge see hangs. A program that sleeps for
    // ever is ended after twenty times this limit.
    const auto start = std::chrono::steady_clock::now();
    const auto longest = std::chrono::seconds(20 * cpu_seconds);
    rusage used{};
    while (wait4(child, &status, WNOHANG, &used) == 0) {
        const auto spent = std::chrono::steady_clock::now() - start;
        if (spent > longest) kill(child, SIGKILL);
        std::this_thread::sleep_for(spent < std::chrono::milliseconds(50) ? std::chrono::microseconds(300)
                                                                          : std::chrono::microseconds(3000));
    }
    for (const timeval& time : {used.ru_utime, used.ru_stime})
        cpu_seconds_ += static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
    run.code = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    run.timed_out = run.code == -SIGXCPU || run.code == -SIGKILL;
    run.out = content(out);
    run.err = content(err);
    return run;
}

std::filesystem::path Program::write(const std::string& name, const std::string& text) const {
    const std::filesystem::path file = folder_ / name;
    std::ofstream(file) << text;
    return file;
}

namespace {

double cell_value(const std::string& cell) {
    char* end = nullptr;
    const double value = std::strtod(cell.c_str(), &end);
    return end == cell.c_str() ? std::numeric_limits<double>::quiet_NaN() : value;
}

}  // namespace

Table read_csv(const std::filesystem::path& file) {
    Table table;
    std::ifstream in(file);
    std::string line, cell;
    std::getline(in, line);
    std::istringstream names(line);
    while (std::getline(names, cell, ',')) table.columns.emplace(cell, table.columns.size());
    while (std::getline(in, line)) {
        std::istringstream cells(line);
        std::vector<double> row;
        while (std::getline(cells, cell, ',')) row.push_back(cell_value(cell));
        row.resize(table.columns.size(), std::numeric_limits<double>::quiet_NaN());
        table.rows.push_back(std::move(row));
    }
    return table;
}

double number(const nlohmann::json& value) {
    if (value.is_number()) return value.get<double>();
    if (value.is_string() && value.get<std::string>() == "inf") return std::numeric_limits<double>::infinity();
    return std::numeric_limits<double>::quiet_NaN();
}

}  // namespace trials
