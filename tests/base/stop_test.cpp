// SPDX-License-Identifier: Apache-2.0
#include "saltus/base/stop.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace saltus::stop_test {
namespace {

constexpr double much = 1e9;  // multiplications, more than between two questions

TEST(Stop, EndsWorkOnlyIfItIsAsked) {
    EXPECT_NO_THROW(count_work(much)) << "nothing can be stopped here";
    bool asked = false;
    const Stoppable here([&] { return asked; });
    EXPECT_NO_THROW(count_work(much));
    asked = true;
    EXPECT_THROW(count_work(much), Stopped);
}

TEST(Stop, AsksNowAndThenWhileSmallWorkIsCounted) {
    int questions = 0;
    const Stoppable here([&] { return ++questions < 0; });
    constexpr int pieces = 10000;
    for (int k = 0; k < pieces; ++k) count_work(1000.0);
    EXPECT_GT(questions, 10);
    EXPECT_LT(questions, pieces / 10);
}

TEST(Stop, TheInnermostQuestionIsAskedUntilItsScopeEnds) {
    const Stoppable outer([] { return true; });
    {
        const Stoppable inner([] { return false; });
        EXPECT_NO_THROW(count_work(much));
    }
    EXPECT_THROW(count_work(much), Stopped);
    const Stoppable empty({});
    EXPECT_THROW(count_work(much), Stopped) << "an empty function leaves the outer one in force";
}

TEST(Stop, OfOneThreadIsNotThatOfAnother) {
    const Stoppable here([] { return true; });
    bool stopped = false;
    std::thread([&] {
        try {
            count_work(much);
        } catch (const Stopped&) {
            stopped = true;
        }
    }).join();
    EXPECT_FALSE(stopped);
}

}  // namespace
}  // namespace saltus::stop_test
