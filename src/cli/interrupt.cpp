// SPDX-License-Identifier: Apache-2.0
#include "cli/interrupt.hpp"

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <optional>
#include <thread>

#include "saltus/base/text.hpp"

namespace saltus::cli {

namespace {

volatile std::sig_atomic_t asked = 0;  // the only kind of variable that a signal handler may write

using Clock = std::chrono::steady_clock;
constexpr Clock::rep no_limit = 0;
std::atomic<Clock::rep> deadline = no_limit;  ///< in ticks of the clock since its epoch
std::atomic<double> limit_seconds = 0.0;      ///< the limit as it was given, for messages

extern "C" void ask(int) { asked = 1; }

}  // namespace

void listen_for_interrupts() {
    struct sigaction action {};
    action.sa_handler = ask;
    action.sa_flags = static_cast<int>(SA_RESETHAND) | SA_RESTART;
    ::sigaction(SIGINT, &action, nullptr);
    ::sigaction(SIGTERM, &action, nullptr);
}

void limit_time(double seconds) {
    if (!(seconds > 0.0)) return;
    const auto wait = std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
    limit_seconds = seconds;
    deadline = (Clock::now() + wait).time_since_epoch().count();
}

bool interrupt_asked() {
    if (asked != 0) return true;
    const Clock::rep end = deadline;
    return end != no_limit && Clock::now().time_since_epoch().count() >= end;
}

bool finishes(const std::function<void()>& work) {
    using namespace std::chrono_literals;
    constexpr auto between_polls = 20ms;
    constexpr auto grace = 1s;  // for work that polls interrupt_asked() by itself
    std::packaged_task<void()> task(work);
    std::future<void> result = task.get_future();
    std::thread thread(std::move(task));
    std::optional<Clock::time_point> asked_at;
    while (result.wait_for(between_polls) != std::future_status::ready) {
        if (!asked_at && interrupt_asked()) asked_at = Clock::now();
        if (!asked_at || Clock::now() - *asked_at < grace) continue;
        thread.detach();
        return false;
    }
    thread.join();
    result.get();
    return true;
}

void abandon(int code) {
    std::fflush(nullptr);
    std::_Exit(code);
}

std::string interrupt_reason() {
    return asked != 0 ? "interrupted" : "the time limit of " + number_text(limit_seconds) + " s ended the run";
}

}  // namespace saltus::cli
