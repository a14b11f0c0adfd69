// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

namespace saltus::cli {

/// Turns the first Ctrl-C (SIGINT) or SIGTERM from now on into a request that a run can ask for. A second signal ends
/// the program at once.
void take_interrupts();

/// The same, and the command says that its computation asks for the request from now on: the guard grants it more time
/// to deliver what it has.
void listen_for_interrupts();

/// Ends the run after this wall-clock time from now: interrupt_asked() is true from then on. Nothing happens if
/// `seconds` is 0.
void limit_time(double seconds);

/// Whether the run is to end: an interrupt was requested since listen_for_interrupts(), or the time limit is over. May
/// be called by any thread.
bool interrupt_asked();

/// Runs `work` in a thread of its own and waits until it ends; an exception of `work` is thrown again. Returns false if
/// interrupt_asked() became true and `work` did not end within one second after that; on a busy machine this is time of
/// the processor, at most eight seconds in all. The work then still runs: the caller prints what it has and ends the
/// program with abandon(). For work that cannot be interrupted.
bool finishes(const std::function<void()>& work);

/// How long a command may go on after an interrupt before the guard ends it, in s. On a busy machine this is time of
/// the processor, at most ten seconds in all.
struct Patience {
    /// Until the command calls listen_for_interrupts(): it reads and builds a model, or cannot be interrupted. Long
    /// enough for a small model, so that the command ends by itself with all of its files.
    double before_listening = 0.5;
    double listening = 2.0;  ///< after that; longer than what finishes() grants
};

/// Watches this program from now on. If interrupt_asked() becomes true, and the command neither ends nor delivers its
/// results in time, then the program ends with a message and the exit code of an interrupt.
void guard_interrupts(const Patience& patience = {});

/// From now on the runs of the command are stored as soon as they are made: a program that ends early says so.
void runs_are_kept();

/// The document that guard_interrupts() prints on standard output if it ends the program, for --json. The text must
/// live as long as the program. nullptr: none.
void document_if_ended(const char* document);

/// While such a value exists, the command delivers its results: guard_interrupts lets it.
class Delivering {
public:
    Delivering();
    ~Delivering();
    Delivering(const Delivering&) = delete;
    Delivering& operator=(const Delivering&) = delete;
};

/// Ends the program at once with this exit code, after writing out all streams.
[[noreturn]] void abandon(int code);

/// Why interrupt_asked() is true, in words: "interrupted", or the time limit.
std::string interrupt_reason();

}  // namespace saltus::cli
