// SPDX-License-Identifier: Apache-2.0
#include "saltus/trajectory/warning_tally.hpp"

#include <gtest/gtest.h>

namespace saltus::trajectory::warning_tally_test {

namespace {

TEST(WarningTally, WarningsThatDifferInTheirTimesAreOneKind) {
    EXPECT_EQ(without_times("the motion is not unique at t = 0.25: a and b slip"),
              "the motion is not unique: a and b slip");
    EXPECT_EQ(without_times("implicit integration from t = 2.5e-05"), "implicit integration from t = …");
    EXPECT_EQ(without_times("inaccurate since t = 1, and at = 3"), "inaccurate since t = …, and at = 3");
    EXPECT_EQ(without_times("t = 1"), "t = …");
    EXPECT_EQ(without_times("no time"), "no time");
}

TEST(WarningTally, ResultsWithoutForcesNeedNoWarningAboutFinalForces) {
    EXPECT_EQ(about_motion({"it jams", "the forces of a and b at the end are not unique: they share a load"}),
              std::vector<std::string>{"it jams"});
}

TEST(WarningTally, CountsMotionsAndNotWarningsAndNamesTheFirst) {
    WarningTally tally;
    tally.add({}, "run 0");
    tally.add({"it jams at t = 1", "it jams at t = 2", "it is stiff"}, "run 1");
    tally.add({"it jams at t = 3"}, "run 2");
    EXPECT_EQ(tally.motions(), 3U);
    EXPECT_EQ(tally.texts(), (std::vector<std::string>{"2 of 3 motions (the first: run 1): it jams",
                                                       "1 of 3 motions (the first: run 1): it is stiff"}));
    EXPECT_TRUE(WarningTally().texts().empty());
}

}  // namespace

}  // namespace saltus::trajectory::warning_tally_test
