// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace saltus::cli {

/// From now on the first Ctrl-C (SIGINT) and the first SIGTERM only ask; a second one ends the program at once.
void listen_for_interrupts();

/// Whether one of them came.
bool interrupt_asked();

}  // namespace saltus::cli
