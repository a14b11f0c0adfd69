// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace saltus::cli {

/// Turns the first Ctrl-C (SIGINT) or SIGTERM from now on into a request that a run can ask for. A second signal ends
/// the program at once.
void listen_for_interrupts();

/// Whether an interrupt was requested since listen_for_interrupts().
bool interrupt_asked();

}  // namespace saltus::cli
