// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "process.hpp"
#include "support.hpp"

namespace saltus::gain_study_test {
namespace {

using test::Outcome;

Outcome simulate(const std::string& arguments) {
    return test::command("simulate " + std::string(SALTUS_SOURCE_DIR) + "/models/" + arguments);
}

TEST(GainStudyCommand, WritesTheSameTableForAnyNumberOfThreads) {
    const test::Folder folder;
    const std::string study = "single-link-arm.toml --set e=0.5 --vary Kp=0.5:4:8 --vary Kv=0.1,0.2 --json --threads ";
    const Outcome one = simulate(study + "1 --out " + folder.file("a"));
    const Outcome two = simulate(study + "2 --out " + folder.file("b"));
    ASSERT_EQ(one.code, 0) << one.out;
    EXPECT_EQ(one.out, two.out);
    EXPECT_EQ(folder.names(), (std::vector<std::string>{"a", "a/contents.json", "a/study.csv", "a/study.json", "b",
                                                        "b/contents.json", "b/study.csv", "b/study.json"}));
    EXPECT_EQ(test::content_of(folder.path() / "a/study.csv"), test::content_of(folder.path() / "b/study.csv"));
    const nlohmann::ordered_json j = nlohmann::ordered_json::parse(one.out);
    ASSERT_EQ(j["runs"].size(), 16U);
    for (const nlohmann::ordered_json& run : j["runs"]) {
        EXPECT_NEAR(run["forces"]["lower"]["N"].get<double>(), 0.5 * run["parameters"]["Kp"].get<double>(), 1e-9);
        EXPECT_TRUE(run["settling_time"].is_number());
        EXPECT_EQ(run["status"], "completed");
        EXPECT_GT(run["peak_impulse"].get<double>(), 0.1);
    }
}

TEST(GainStudyCommand, AnswersWhichGainGivesAForce) {
    const Outcome r = simulate("single-link-arm.toml --solve-for Kp --target 'lambda(lower) = 5' --json");
    ASSERT_EQ(r.code, 0) << r.out;
    const nlohmann::ordered_json j = nlohmann::ordered_json::parse(r.out);
    EXPECT_EQ(j["status"], "solved");
    EXPECT_NEAR(j["value"].get<double>(), 10.0, 1e-12);
    EXPECT_NEAR(j["run"]["steady"]["forces"]["lower"]["N"].get<double>(), 5.0, 1e-12);
}

/// Some of the trial values let impacts accumulate, and the last steps before are a few numbers wide.
TEST(GainStudyCommand, MeasuresMotionsWithAccumulations) {
    for (const char* const target : {"y=1", "y=0.5", "y=0.2"}) {
        const Outcome r = simulate("bouncing-ball.toml --t-end 1 --solve-for e --target " + std::string(target));
        EXPECT_TRUE(r.code == 0 || r.code == 3) << target << "\n" << r.out;
    }
}

TEST(GainStudyCommand, RefusesWhatMakesNoSense) {
    EXPECT_EQ(simulate("single-link-arm.toml --vary Kp").code, 2);
    EXPECT_EQ(simulate("single-link-arm.toml --vary Kp=1:2:0").code, 2);
    EXPECT_EQ(simulate("single-link-arm.toml --vary Kq=1:2:3").code, 2);
    EXPECT_EQ(simulate("single-link-arm.toml --solve-for Kp").code, 2);
    EXPECT_EQ(simulate("single-link-arm.toml --target 'q = 1'").code, 2);
    EXPECT_EQ(simulate("single-link-arm.toml --solve-for Kp --target 'q = 1' --vary Kv=1,2").code, 2);
    EXPECT_EQ(simulate("single-link-arm.toml --solve-for Kp --target 'q = 1' --at nowhere").code, 2);
    EXPECT_EQ(simulate("single-link-arm.toml --solve-for Kp --target 'lambda(lower) = 5' --report").code, 2);
}

}  // namespace
}  // namespace saltus::gain_study_test
