// SPDX-License-Identifier: Apache-2.0
#include "saltus/base/error.hpp"

#include <gtest/gtest.h>

namespace saltus::error_test {

TEST(Place, IsToldAsFarAsItIsKnown) {
    EXPECT_EQ(to_string({}), "");
    EXPECT_EQ(to_string({"bar.toml", 0, 0}), "bar.toml");
    EXPECT_EQ(to_string({"bar.toml", 12, 0}), "bar.toml:12");
    EXPECT_EQ(to_string({"bar.toml", 12, 8}), "bar.toml:12:8");
    EXPECT_EQ(to_string({"", 12, 8}), "line 12:8");
    EXPECT_EQ(to_string({"--set mu", 0, 8}), "--set mu, column 8");
    EXPECT_EQ(to_string({"", 0, 8}), "column 8");
}

TEST(Error, SaysWhereWhatAndWhatToDo) {
    EXPECT_STREQ(Error("mu is negative", {"bar.toml", 3, 6}, "give one >= 0").what(),
                 "bar.toml:3:6: mu is negative; give one >= 0");
    EXPECT_STREQ(Error("mu is negative", {"bar.toml", 3, 6}).what(), "bar.toml:3:6: mu is negative");
    EXPECT_STREQ(Error("mu is negative", {}, "give one >= 0").what(), "mu is negative; give one >= 0");
    EXPECT_STREQ(Error("mu is negative").what(), "mu is negative");
}

TEST(Error, KeepsItsParts) {
    const Error e("mu is negative", {"bar.toml", 3, 6}, "give one >= 0");
    EXPECT_EQ(e.message(), "mu is negative");
    EXPECT_EQ(e.remedy(), "give one >= 0");
    EXPECT_EQ(e.place().file, "bar.toml");
    EXPECT_EQ(e.place().line, 3);
    EXPECT_EQ(e.place().column, 6);
}

TEST(Error, CanBeCaughtAsAStandardException) { EXPECT_THROW(throw Error("x"), std::runtime_error); }

TEST(Expectation, ThatHoldsDoesNothing) {
    int evaluated = 0;
    SALTUS_EXPECT(++evaluated == 1);
    EXPECT_EQ(evaluated, 1);
}

TEST(ExpectationDeathTest, ThatFailsNamesItselfAndAborts) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_DEATH(SALTUS_EXPECT(1 + 1 == 3), "saltus: misuse: expected 1 \\+ 1 == 3 \\(.*error_test.cpp:[0-9]+\\)");
}

}  // namespace saltus::error_test
