// SPDX-License-Identifier: Apache-2.0
#include "saltus/io/results/hdf5_faults.hpp"

#include <pthread.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "saltus/base/visible_text.hpp"

namespace saltus::io {

namespace {

// The signal handler reads these. The thread that reads a file writes the others before it sets `is_reading`.
std::array<char, 4096> fault_message{};
pthread_t reading_thread{};
std::atomic<bool> is_reading = false;
std::atomic<bool> listens = false;
int fault_exit_code = 0;

/// A stack for the handler: the thread's own may be used up.
std::array<char, std::size_t{1} << 16U> handler_stack{};

extern "C" void end_after_fault(int signal) {
    if (is_reading && ::pthread_equal(::pthread_self(), reading_thread) != 0) {
        [[maybe_unused]] const ssize_t written =
            ::write(STDERR_FILENO, fault_message.data(), std::strlen(fault_message.data()));
        std::_Exit(fault_exit_code);
    }
    std::signal(signal, SIG_DFL);
    std::raise(signal);  // ends the process as soon as this function returns
}

}  // namespace

void end_on_faults_of_hdf5(int exit_code) {
    fault_exit_code = exit_code;
    listens = true;
    struct sigaction action {};
    action.sa_handler = end_after_fault;
    action.sa_flags = SA_ONSTACK;
    for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) ::sigaction(signal, &action, nullptr);
}

ReadingHdf5::ReadingHdf5(const std::string& path) {
    if (!listens) return;
    const std::string text = "saltus: error: " + visible_text(path) +
                             ": HDF5 fails while it reads the file; it may be cut short or damaged; no result was "
                             "written, earlier results remain\n";
    fault_message.fill('\0');
    // A path that is too long shows its end.
    const std::string_view shown =
        std::string_view(text).substr(text.size() < fault_message.size() ? 0 : text.size() - fault_message.size() + 1);
    std::memcpy(fault_message.data(), shown.data(), shown.size());
    reading_thread = ::pthread_self();
    stack_t stack{};
    if (::sigaltstack(nullptr, &stack) == 0 && (static_cast<unsigned>(stack.ss_flags) & SS_DISABLE) != 0) {
        stack.ss_sp = handler_stack.data();
        stack.ss_size = handler_stack.size();
        stack.ss_flags = 0;
        ::sigaltstack(&stack, nullptr);
    }
    is_reading = true;
}

ReadingHdf5::~ReadingHdf5() {
    is_reading = false;
    stack_t stack{};
    if (::sigaltstack(nullptr, &stack) != 0 || stack.ss_sp != handler_stack.data()) return;
    stack.ss_flags = SS_DISABLE;
    ::sigaltstack(&stack, nullptr);
}

}  // namespace saltus::io
