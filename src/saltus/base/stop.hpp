// SPDX-License-Identifier: Apache-2.0
//
// Ends a computation from its depths. A run asks between its steps whether it is to end. One step of a model with a
// hundred contacts can solve a contact problem for many seconds, through functions that know nothing of the run. These
// count their work, and the run says that it can be ended by an exception:
//
//     try {
//         const Stoppable here(options.interrupted);
//         ...                                          // calls a solver, which calls count_work() in its loops
//     } catch (const Stopped&) {
//         ...                                          // keeps what was known before
//     }
#pragma once

#include <functional>

namespace saltus {

/// Thrown by count_work(). It is no error, and only code with a Stoppable value sees it.
struct Stopped {};

/// While such a value exists, count_work() on this thread throws Stopped if `asked` returns true. An inner value
/// replaces an outer one for its lifetime; one with an empty function leaves the outer one in force.
class Stoppable {
public:
    explicit Stoppable(std::function<bool()> asked);
    ~Stoppable();
    Stoppable(const Stoppable&) = delete;
    Stoppable& operator=(const Stoppable&) = delete;

private:
    std::function<bool()> asked_;
    const std::function<bool()>* outer_;
};

/// Counts this many multiplications, and asks after some 0.1 ms of them whether to stop. Nothing happens without a
/// Stoppable value on this thread.
void count_work(double multiplications);

}  // namespace saltus
