// SPDX-License-Identifier: Apache-2.0
//
// A command that does not ask whether it was interrupted is ended all the same.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <ctime>

#include "cli/interrupt.hpp"

namespace saltus::cli::guard_test {
namespace {

constexpr int finished = 7;        // an exit code that nothing else uses
constexpr double patience = 0.25;  // of the guard, in s; the program grants more
const Patience short_patience{patience, patience};

/// Uses the processor for so many seconds without asking for interrupts.
void compute(double seconds) {
    const std::clock_t end = std::clock() + static_cast<std::clock_t>(seconds * CLOCKS_PER_SEC);
    while (std::clock() < end) {
    }
}

TEST(Guard, EndsACommandThatDoesNotReact) {
    const auto command = [] {
        limit_time(0.01);
        guard_interrupts(short_patience);
        compute(100.0);
        std::exit(finished);
    };
    EXPECT_EXIT(command(), testing::ExitedWithCode(130), "before it had results; nothing was written");
}

TEST(Guard, LetsACommandDeliverItsResults) {
    const auto command = [] {
        limit_time(0.01);
        guard_interrupts(short_patience);
        compute(0.1);
        const Delivering now;
        compute(3.0 * patience);
        std::exit(finished);
    };
    EXPECT_EXIT(command(), testing::ExitedWithCode(finished), "^$");
}

/// What asks for interrupts delivers what it has, which takes longer than nothing.
TEST(Guard, GrantsMoreTimeToACommandThatAsksForInterrupts) {
    const auto command = [](bool listens) {
        limit_time(0.01);
        if (listens) listen_for_interrupts();
        guard_interrupts({patience, 100.0 * patience});
        compute(4.0 * patience);
        std::exit(finished);
    };
    EXPECT_EXIT(command(true), testing::ExitedWithCode(finished), "^$");
    EXPECT_EXIT(command(false), testing::ExitedWithCode(130), "before it had results");
}

/// A command that has printed its document and still writes files: two documents on one stream could not be read.
TEST(Guard, PrintsNoSecondDocument) {
    const auto command = [](bool delivered) {
        ::dup2(STDERR_FILENO, STDOUT_FILENO);
        document_if_ended("{\"status\": \"interrupted\"}\n");
        limit_time(0.01);
        guard_interrupts(short_patience);
        if (delivered) document_if_ended(nullptr);  // as print_document() does
        compute(100.0);
    };
    EXPECT_EXIT(command(true), testing::ExitedWithCode(130), "^saltus: the time limit");
    EXPECT_EXIT(command(false), testing::ExitedWithCode(130), "^\\{\"status\": \"interrupted\"\\}\nsaltus: the time");
}

TEST(Guard, LeavesACommandInPeaceThatNobodyInterrupts) {
    const auto command = [] {
        guard_interrupts(short_patience);
        compute(3.0 * patience);
        std::exit(finished);
    };
    EXPECT_EXIT(command(), testing::ExitedWithCode(finished), "^$");
}

}  // namespace
}  // namespace saltus::cli::guard_test
