// SPDX-License-Identifier: Apache-2.0
#include "saltus/ensemble/parallel_for.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <stdexcept>
#include <thread>

namespace saltus::ensemble::parallel_for_test {
namespace {

TEST(ParallelFor, GivesTheSameResultForAnyNumberOfThreads) {
    const auto run = [](int threads) {
        std::vector<double> out(1000);
        EXPECT_TRUE(parallel_for(out.size(), [&](std::size_t i) { out[i] = std::sin(static_cast<double>(i)); },
                                 {.threads = threads, .interrupted = {}, .progress = {}}));
        return out;
    };
    const std::vector<double> one = run(1);
    EXPECT_EQ(one[999], std::sin(999.0));
    for (const int threads : {2, 3, 8, 33}) EXPECT_EQ(run(threads), one) << threads;
}

TEST(ParallelFor, CallsEachNumberOnceAndCountsThem) {
    std::vector<std::atomic<int>> calls(257);
    std::size_t last = 0, told = 0;
    parallel_for(calls.size(), [&](std::size_t i) { ++calls[i]; },
                 {.threads = 4, .interrupted = {}, .progress = [&](std::size_t done) { last = done, ++told; }});
    for (const auto& c : calls) EXPECT_EQ(c, 1);
    EXPECT_EQ(last, 257U);
    EXPECT_EQ(told, 257U);
}

TEST(ParallelFor, RunsCallsInParallel) {
    // Each of two calls waits until the other has begun: one thread would never get through.
    std::atomic<int> begun{0};
    EXPECT_TRUE(parallel_for(2,
                             [&](std::size_t) {
                                 ++begun;
                                 for (int k = 0; begun < 2 && k < 5000; ++k)
                                     std::this_thread::sleep_for(std::chrono::milliseconds(1));
                                 if (begun < 2) throw std::runtime_error("alone");
                             },
                             {.threads = 2, .interrupted = {}, .progress = {}}));
}

TEST(ParallelFor, RethrowsTheExceptionOfTheSmallestNumber) {
    for (const int threads : {1, 2, 7}) {
        std::atomic<std::size_t> called{0};
        try {
            parallel_for(10000,
                         [&](std::size_t i) {
                             ++called;
                             if (i == 11) std::this_thread::sleep_for(std::chrono::milliseconds(5));
                             if (i >= 11) throw std::runtime_error(std::to_string(i));
                         },
                         {.threads = threads, .interrupted = {}, .progress = {}});
            FAIL() << "nothing was thrown";
        } catch (const std::runtime_error& e) {
            EXPECT_STREQ(e.what(), "11") << threads;
        }
        EXPECT_LT(called, 10000U);
    }
}

TEST(ParallelFor, ReturnsFalseIfInterrupted) {
    for (const int threads : {1, 4}) {
        std::atomic<int> called{0};
        EXPECT_FALSE(parallel_for(1000, [&](std::size_t) { ++called; },
                                  {.threads = threads, .interrupted = [&] { return called >= 10; }, .progress = {}}));
        EXPECT_GE(called, 10);
        EXPECT_LT(called, 20);
    }
}

TEST(ParallelFor, IsCompleteForZeroCalls) {
    EXPECT_TRUE(parallel_for(0, [](std::size_t) { FAIL(); }));
}

}  // namespace
}  // namespace saltus::ensemble::parallel_for_test
