// SPDX-License-Identifier: Apache-2.0
//
// A command that does not ask whether it was interrupted is ended all the same.
#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>

#include "cli/interrupt.hpp"

namespace saltus::cli::guard_test {
namespace {

constexpr int finished = 7;        // an exit code that nothing else uses
constexpr double patience = 0.25;  // of the guard, in s; the program grants more

/// Uses the processor for so many seconds without asking for interrupts.
void compute(double seconds) {
    const std::clock_t end = std::clock() + static_cast<std::clock_t>(seconds * CLOCKS_PER_SEC);
    while (std::clock() < end) {
    }
}

TEST(Guard, EndsACommandThatDoesNotReact) {
    const auto command = [] {
        limit_time(0.01);
        guard_interrupts(patience);
        compute(100.0);
        std::exit(finished);
    };
    EXPECT_EXIT(command(), testing::ExitedWithCode(130), "before it had results; nothing was written");
}

TEST(Guard, LetsACommandDeliverItsResults) {
    const auto command = [] {
        limit_time(0.01);
        guard_interrupts(patience);
        compute(0.1);
        const Delivering now;
        compute(3.0 * patience);
        std::exit(finished);
    };
    EXPECT_EXIT(command(), testing::ExitedWithCode(finished), "^$");
}

TEST(Guard, LeavesACommandInPeaceThatNobodyInterrupts) {
    const auto command = [] {
        guard_interrupts(patience);
        compute(3.0 * patience);
        std::exit(finished);
    };
    EXPECT_EXIT(command(), testing::ExitedWithCode(finished), "^$");
}

}  // namespace
}  // namespace saltus::cli::guard_test
