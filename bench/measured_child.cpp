// SPDX-License-Identifier: Apache-2.0
#include "measured_child.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <ctime>

namespace saltus::bench {

namespace {

double clock_seconds(clockid_t id) {
    timespec t{};
    clock_gettime(id, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

template <class T>
void put(std::string& message, const T& value) {
    message.append(reinterpret_cast<const char*>(&value), sizeof value);
}

template <class T>
bool take(const std::string& message, std::size_t& at, T& value) {
    if (message.size() - at < sizeof value) return false;
    std::memcpy(&value, message.data() + at, sizeof value);
    at += sizeof value;
    return true;
}

/// The message: r, the note, and a time for each run. Times come as they are measured, so that a crash in a repeat does
/// not cost the answer.
std::string encode(const Answer& answer) {
    std::string message;
    put(message, answer.r.size());
    for (const double x : answer.r) put(message, x);
    put(message, answer.note.size());
    return message + answer.note;
}

bool decode(const std::string& message, Measured& measured) {
    std::size_t at = 0, size = 0;
    if (!take(message, at, size) || (message.size() - at) / sizeof(double) < size) return false;
    measured.answer.r.resize(size);
    for (double& x : measured.answer.r) take(message, at, x);
    if (!take(message, at, size) || message.size() - at < size) return false;
    measured.answer.note = message.substr(at, size);
    at += size;
    if (!take(message, at, measured.seconds)) return false;
    for (double seconds; take(message, at, seconds);) measured.seconds = std::min(measured.seconds, seconds);
    return true;
}

void isolate() {
    const int nowhere = open("/dev/null", O_WRONLY);
    dup2(nowhere, STDOUT_FILENO);
    dup2(nowhere, STDERR_FILENO);
    const rlimit no_core{0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    constexpr rlim_t most_memory = rlim_t{12} << 30;
    const rlimit memory{most_memory, most_memory};
    setrlimit(RLIMIT_AS, &memory);
}

void send(int pipe, const std::string& message) {
    for (std::size_t sent = 0; sent < message.size();) {
        const ssize_t n = write(pipe, message.data() + sent, message.size() - sent);
        if (n <= 0) break;
        sent += static_cast<std::size_t>(n);
    }
}

void solve_repeatedly(const std::function<std::unique_ptr<Trial>()>& prepare, int pipe) {
    constexpr double enough = 0.3;
    constexpr int most = 200;
    Answer first;
    double total = 0.0;
    for (int k = 0; k < most && (k == 0 || total < enough); ++k) {
        const auto trial = prepare();
        const double seconds = seconds_of([&] { trial->run(); });
        std::string message;
        if (k == 0)
            message = encode(first = trial->answer());
        else if (trial->answer().r != first.r)
            break;
        put(message, seconds);
        send(pipe, message);
        total += seconds;
    }
}

/// Reads until the child closes its end of the pipe; false if the time limit comes first.
bool receive(int pipe, double limit, std::string& message) {
    const double until = clock_seconds(CLOCK_MONOTONIC) + limit;
    char buffer[65536];
    for (;;) {
        const double left = until - clock_seconds(CLOCK_MONOTONIC);
        pollfd waiting{pipe, POLLIN, 0};
        if (left <= 0.0 || poll(&waiting, 1, static_cast<int>(1000.0 * left) + 1) == 0) return false;
        const ssize_t n = read(pipe, buffer, sizeof buffer);
        if (n <= 0) return true;
        message.append(buffer, static_cast<std::size_t>(n));
    }
}

}  // namespace

double seconds_of(const std::function<void()>& call) {
    constexpr double short_call = 1e-3;
    const double processor = clock_seconds(CLOCK_PROCESS_CPUTIME_ID);
    const double wall = clock_seconds(CLOCK_MONOTONIC);
    call();
    const double by_wall = clock_seconds(CLOCK_MONOTONIC) - wall;
    return by_wall < short_call ? by_wall : clock_seconds(CLOCK_PROCESS_CPUTIME_ID) - processor;
}

Measured measure(const std::function<std::unique_ptr<Trial>()>& prepare, double limit) {
    std::fflush(nullptr);
    int ends[2];
    Measured measured;
    if (pipe(ends) != 0) return measured;
    const pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        isolate();
        solve_repeatedly(prepare, ends[1]);
        _exit(0);
    }
    close(ends[1]);
    std::string message;
    const bool in_time = child > 0 && receive(ends[0], limit, message);
    close(ends[0]);
    if (child <= 0) return measured;
    if (!in_time) kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    if (decode(message, measured))
        measured.end = End::answered;
    else if (!in_time)
        measured.end = End::out_of_time;
    return measured;
}

}  // namespace saltus::bench
