// SPDX-License-Identifier: Apache-2.0
#include "cli/interrupt.hpp"

#include <csignal>

namespace saltus::cli {

namespace {

volatile std::sig_atomic_t asked = 0;  // the only kind of variable that a signal handler may write

extern "C" void ask(int) { asked = 1; }

}  // namespace

void listen_for_interrupts() {
    struct sigaction action {};
    action.sa_handler = ask;
    action.sa_flags = static_cast<int>(SA_RESETHAND) | SA_RESTART;
    ::sigaction(SIGINT, &action, nullptr);
    ::sigaction(SIGTERM, &action, nullptr);
}

bool interrupt_asked() { return asked != 0; }

}  // namespace saltus::cli
