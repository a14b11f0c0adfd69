// SPDX-License-Identifier: Apache-2.0
#include "cli/interrupt.hpp"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <future>
#include <optional>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "saltus/base/text.hpp"

namespace saltus::cli {

namespace {

/// A signal handler writes it, and any thread reads it.
std::atomic<int> asked = 0;
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler may write no other atomic variable");

using Clock = std::chrono::steady_clock;
constexpr Clock::rep no_limit = 0;
std::atomic<Clock::rep> deadline = no_limit;  ///< in ticks of the clock since its epoch
std::atomic<double> limit_seconds = 0.0;      ///< the limit as it was given, for messages

std::atomic<int> deliveries = 0;      ///< number of Delivering values
std::atomic<bool> listening = false;  ///< the command has called listen_for_interrupts()
Patience patience_of_guard;           ///< written before the guard starts, not afterwards

std::atomic<const char*> last_document = nullptr;  ///< see document_if_ended()

std::atomic<bool> keeps_runs = false;  ///< see runs_are_kept()

extern "C" void ask(int) { asked = 1; }

constexpr int exit_code_of_interrupt = 130;

/// Processor time of the program so far, in s.
double processor_seconds() {
    timespec time{};
    constexpr double nanosecond = 1e-9;
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + nanosecond * static_cast<double>(time.tv_nsec);
}

/// The thread of guard_interrupts. It allocates no memory, because there may be none left.
void* guard(void*) {
    using namespace std::chrono_literals;
    constexpr auto between_polls = 50ms;
    constexpr auto longest_wait = 10s;
    for (;;) {
        std::this_thread::sleep_for(between_polls);
        if (!interrupt_asked() || deliveries > 0) continue;
        const Clock::time_point since = Clock::now();
        const double processor_since = processor_seconds();
        while (deliveries == 0) {
            std::this_thread::sleep_for(between_polls);
            const std::chrono::duration<double> waited = Clock::now() - since;
            const double patience = listening ? patience_of_guard.listening : patience_of_guard.before_listening;
            const bool computes_on = processor_seconds() - processor_since > patience && waited.count() > patience;
            if (!computes_on && waited < longest_wait) continue;
            constexpr std::string_view nothing_kept =
                "saltus: the time limit or an interrupt ended the command before it had results; nothing was written, "
                "earlier results remain\n";
            constexpr std::string_view runs_kept =
                "saltus: the time limit or an interrupt ended the command before it had results; the runs that were "
                "made are in the checkpoint, and --resume continues from them\n";
            const std::string_view message = keeps_runs ? runs_kept : nothing_kept;
            if (const char* const document = last_document; document != nullptr) [[maybe_unused]]
                const ssize_t printed = ::write(STDOUT_FILENO, document, std::strlen(document));
            [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, message.data(), message.size());
            std::_Exit(exit_code_of_interrupt);
        }
    }
}

}  // namespace

void take_interrupts() {
    struct sigaction action {};
    action.sa_handler = ask;
    action.sa_flags = static_cast<int>(SA_RESETHAND) | SA_RESTART;
    ::sigaction(SIGINT, &action, nullptr);
    ::sigaction(SIGTERM, &action, nullptr);
}

void listen_for_interrupts() {
    take_interrupts();
    listening = true;
}

void limit_time(double seconds) {
    if (!(seconds > 0.0)) return;
    // The clock counts nanoseconds since the machine started in 64 bits, which hold 292 years.
    constexpr double longest = 3.0e9;  // s, 95 years
    const std::chrono::duration<double> finite(std::min(seconds, longest));
    const auto wait = std::chrono::duration_cast<Clock::duration>(finite);
    limit_seconds = seconds;
    deadline = (Clock::now() + wait).time_since_epoch().count();
}

bool interrupt_asked() {
    if (asked != 0) return true;
    const Clock::rep end = deadline;
    return end != no_limit && Clock::now().time_since_epoch().count() >= end;
}

void guard_interrupts(const Patience& patience) {
    static std::atomic<bool> started = false;
    if (started.exchange(true)) return;
    patience_of_guard = patience;
    // A small stack, because the memory of the program may be limited.
    constexpr std::size_t stack = std::size_t{1} << 18U;
    pthread_attr_t attributes;
    pthread_t thread{};
    if (::pthread_attr_init(&attributes) != 0) return;
    ::pthread_attr_setstacksize(&attributes, stack);
    ::pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    ::pthread_create(&thread, &attributes, guard, nullptr);
    ::pthread_attr_destroy(&attributes);
}

void runs_are_kept() { keeps_runs = true; }

void document_if_ended(const char* document) { last_document = document; }

Delivering::Delivering() { ++deliveries; }
Delivering::~Delivering() { --deliveries; }

bool finishes(const std::function<void()>& work) {
    using namespace std::chrono_literals;
    constexpr auto between_polls = 20ms;
    constexpr double grace = 1.0;  // in s, for work that polls interrupt_asked() by itself
    constexpr auto longest_wait = 8s;
    std::packaged_task<void()> task(work);
    std::future<void> result = task.get_future();
    std::thread thread;
    try {
        thread = std::thread(std::move(task));
    } catch (const std::system_error&) {  // no memory for a stack, or too many threads
        work();
        return true;
    }
    std::optional<Clock::time_point> asked_at;
    double processor_at = 0.0;
    while (result.wait_for(between_polls) != std::future_status::ready) {
        if (!asked_at && interrupt_asked()) {
            asked_at = Clock::now();
            processor_at = processor_seconds();
        }
        if (!asked_at) continue;
        const std::chrono::duration<double> waited = Clock::now() - *asked_at;
        const bool computes_on = waited.count() > grace && processor_seconds() - processor_at > grace;
        if (!computes_on && waited < longest_wait) continue;
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
