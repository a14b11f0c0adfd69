// SPDX-License-Identifier: Apache-2.0
//
// `--seconds` ends a run that would take much longer; what was computed is kept, and the message says why it ended.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "billiard.hpp"
#include "process.hpp"
#include "support.hpp"

namespace saltus::time_limit_test {
namespace {

using Json = nlohmann::ordered_json;
using test::billiard;
using test::Folder;
using test::Outcome;

/// Runs `saltus ARGUMENTS --seconds 0.5 --json` and expects the exit code of an interrupted run.
Json interrupted_run(const std::string& arguments) {
    const Outcome r = test::shell(std::string(SALTUS_BUILD_DIR) + "/saltus " + arguments + " --seconds 0.5 --json");
    EXPECT_EQ(r.code, 130) << arguments << r.err;
    EXPECT_NE(r.err.find("time limit of 0.5 s"), std::string::npos) << r.err;
    const Json j = Json::parse(r.out, nullptr, false);
    EXPECT_FALSE(j.is_discarded()) << arguments << r.out.substr(0, 200);
    return j;
}

TEST(TimeLimit, EndsAMotionAndKeepsItsEvents) {
    const Folder folder;
    const Json j = interrupted_run("simulate " + billiard(folder));
    EXPECT_EQ(j["status"], "interrupted");
    EXPECT_GT(j["events"].size(), 0U);
}

TEST(TimeLimit, EndsTheSearchForEquilibriumSets) {
    const Folder folder;
    const Json j = interrupted_run("equilibria " + billiard(folder));
    EXPECT_EQ(j["status"], "interrupted");
    EXPECT_EQ(j["complete"], false);
}

TEST(TimeLimit, EndsABasinBeforeItsFirstMotion) {
    const Folder folder;
    const Json j = interrupted_run("basin " + billiard(folder) + " --grid x1=0.2:0.3:3");
    EXPECT_EQ(j["status"], "interrupted");
}

/// A limit that the clock cannot hold is no limit, and a word that is no time is refused.
TEST(TimeLimit, OfAnyLengthIsATime) {
    const std::string ball = "simulate " + std::string(SALTUS_SOURCE_DIR) +
                             "/models/bouncing-ball.toml --set e=1 --t-end 2000 --quiet --seconds ";
    for (const char* const seconds : {"1e10", "9.3e9", "1e300", "1.7e308", "0"})
        EXPECT_EQ(test::command(ball + seconds).code, 0) << seconds;
    for (const char* const word : {"nan", "inf", "-1", "-nan", "-inf"}) {
        const Outcome r = test::command(ball + word);
        EXPECT_EQ(r.code, 2) << word << r.out;
        EXPECT_NE(r.out.find("is not a number of seconds >= 0"), std::string::npos) << word << r.out;
    }
}

TEST(TimeLimit, EndsAStudyOfManyMotions) {
    const Folder folder;
    interrupted_run("compare " + billiard(folder));
}

}  // namespace
}  // namespace saltus::time_limit_test
