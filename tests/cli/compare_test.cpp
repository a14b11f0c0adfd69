// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "process.hpp"
#include "reference/reference.hpp"
#include "support.hpp"

namespace saltus::compare_test {
namespace {

using test::Outcome;
using test::reference::entry;
using test::reference::Value;

Outcome compare(const std::string& arguments) {
    return test::command("compare " + std::string(SALTUS_SOURCE_DIR) + "/models/" + arguments);
}

TEST(Compare, ObservesTheOrdersOfTheArm) {
    // First order of time-stepping is noisy, because impacts fall anywhere in a step; the penalty's ½ is clean.
    const Outcome r = compare("single-link-arm.toml --json");
    ASSERT_EQ(r.code, 0) << r.out;
    const nlohmann::ordered_json j = nlohmann::ordered_json::parse(r.out);
    EXPECT_NEAR(j["moreau"]["order"].get<double>(), 1.0, 0.3);
    EXPECT_NEAR(j["penalty"]["order"].get<double>(), 0.5, 0.02);
    ASSERT_EQ(j["moreau"]["runs"].size(), 4U);
    // k = 1e6. The error is relative to 1 + max|q| = 2 and taken at 401 times, which miss the highest point by little.
    const Value springs = entry("tornambe_penalty_convergence_A")["outputs"]["rows"][3];
    EXPECT_NEAR(j["penalty"]["runs"][0]["position_error"].get<double>(), springs["sup_q"] / 2.0, 1e-4);
    const Value first = entry("tornambe_arm_rigid_A_e1")["outputs"]["impacts"][0];
    EXPECT_NEAR(j["event"]["closing_times"][0].get<double>(), first["t"], 1e-10);
}

TEST(Compare, SaysWhyThereIsNoPenaltySeries) {
    const Outcome r = compare("constrained-beam.toml --t-end 0.5 --refinements 1");
    EXPECT_EQ(r.code, 0) << r.out;
    EXPECT_NE(r.out.find("no penalty runs: the penalty limit does not support models without contacts"),
              std::string::npos)
        << r.out;
}

TEST(Compare, SpringsWithDampingInContactTendToTheRigidContactWithTheirRestitution) {
    // D_hat = 2 zeta sqrt(k m) leaves with y' = e v for every k. The contact lasts pi/w_d ~ k^(-1/2), and so long is y
    // late.
    const Outcome r = compare("damped-contact.toml --set d_t=0 --json");
    ASSERT_EQ(r.code, 0) << r.out;
    const nlohmann::ordered_json j = nlohmann::ordered_json::parse(r.out);
    ASSERT_EQ(j["penalty"]["runs"].size(), 4U) << r.out;
    for (const nlohmann::ordered_json& run : j["penalty"]["runs"])
        EXPECT_LT(run["end_error"]["u"].get<double>(), 1e-7) << run;
    EXPECT_NEAR(j["penalty"]["order"].get<double>(), 0.5, 0.02);
    EXPECT_NE(j["penalty"]["note"].get<std::string>().find("D_hat"), std::string::npos);
}

TEST(Compare, SampledControlHasAPenaltySeries) {
    // With e = 1 springs tend to the rigid contact, also if the torque is held between samples.
    const Outcome r = compare("sampled-arm.toml --set period=0.05 --set e=1 --t-end 0.4 --json");
    ASSERT_EQ(r.code, 0) << r.out;
    const nlohmann::ordered_json j = nlohmann::ordered_json::parse(r.out);
    ASSERT_EQ(j["penalty"]["runs"].size(), 4U) << r.out;
    EXPECT_FALSE(j["penalty"].contains("left_out"));
    EXPECT_NEAR(j["penalty"]["order"].get<double>(), 0.5, 0.02);
}

TEST(Compare, SpringsEverStifferAgainstRigidContacts) {
    const Outcome r = compare("single-link-arm.toml --penalty k=1e3:1e5:3 --set e=0.5 --json");  // e counts as 1
    ASSERT_EQ(r.code, 0) << r.out;
    const nlohmann::ordered_json j = nlohmann::ordered_json::parse(r.out);
    ASSERT_EQ(j["penalty"]["runs"].size(), 3U);
    EXPECT_NEAR(j["penalty"]["order_in_k"].get<double>(), -0.47, 0.02);
    const Value softest = entry("tornambe_penalty_convergence_A")["outputs"]["rows"][0];
    EXPECT_NEAR(j["penalty"]["runs"][0]["sup_q"].get<double>(), softest["sup_q"], 1e-9);
    EXPECT_NEAR(j["penalty"]["runs"][0]["steady"]["q"]["q"].get<double>(), 1000.0 / 1001.0 * 0.5, 1e-14);
    EXPECT_EQ(j["theorem1"]["rows"][0]["morse_index"], 1);
    EXPECT_EQ(j["theorem1"]["minimum"], false);
    EXPECT_TRUE(j["theorem1"]["inequalities_17"]["a"].get<bool>());
}

/// The last sample time can round past the end of a motion.
TEST(Compare, WorksForEveryEndTime) {
    for (const char* const t_end : {"0.21899509298796987", "0.1", "0.3333333333333333", "0.28571428571428575"})
        EXPECT_EQ(compare("bouncing-ball.toml --refinements 1 --h 0.01 --t-end " + std::string(t_end)).code, 0)
            << t_end;
}

/// A force that ends at t = 0.3: no method can go on. Runs that ended early have no end states to compare and no order.
TEST(Compare, SaysWhichRunsFailedAndWhyAndEndsWithThree) {
    const test::Folder folder;
    folder.write("a.toml", R"toml(
[system]
name = "ends"
q = ["y"]
T = "y'^2/2"
f = { y = "sqrt(0.3 - t) - 9.81" }
[[contact]]
name = "ground"
gN = "y"
eN = 0.5
[penalty]
k = { ground = 1e6 }
[initial]
q = { y = 1 }
)toml");
    const std::string line = "compare a.toml --t-end 1 --h 0.01 --refinements 1";
    const Outcome text = test::command(line, folder.path());
    EXPECT_EQ(text.code, 3) << text.err;
    EXPECT_NE(text.out.find("event-driven: failed to t = 0.29999"), std::string::npos) << text.out;
    EXPECT_EQ(text.out.find("observed order"), std::string::npos) << text.out;
    const Outcome document = test::command(line + " --json", folder.path());
    EXPECT_EQ(document.code, 3);
    const nlohmann::ordered_json j = nlohmann::ordered_json::parse(document.out);
    EXPECT_EQ(j["event"]["status"], "failed");
    EXPECT_FALSE(j["event"]["reason"].get<std::string>().empty());
    EXPECT_NE(text.out.find("\n    " + j["event"]["reason"].get<std::string>() + "\n"), std::string::npos) << text.out;
    EXPECT_TRUE(j["moreau"]["order"].is_null());
    ASSERT_EQ(j["moreau"]["runs"].size(), 2U);
    for (const nlohmann::ordered_json& run : j["moreau"]["runs"]) {
        EXPECT_EQ(run["status"], "failed");
        EXPECT_TRUE(run["end_error"]["q"].is_null());
        EXPECT_NE(text.out.find(": " + run["reason"].get<std::string>() + "\n"), std::string::npos) << text.out;
    }
    // A motion of springs that fails is a failure of the study of ever stiffer springs, too.
    EXPECT_EQ(test::command("compare a.toml --t-end 1 --penalty k=1e3:1e4:2", folder.path()).code, 3);
    // The same model ends well before the force ends.
    EXPECT_EQ(test::command("compare a.toml --t-end 0.25 --h 0.01 --refinements 1", folder.path()).code, 0);
}

TEST(Compare, RefusesWhatMakesNoSense) {
    EXPECT_EQ(compare("single-link-arm.toml --penalty k").code, 2);
    EXPECT_EQ(compare("single-link-arm.toml --penalty k=-1:2:3").code, 2);
    EXPECT_EQ(compare("single-link-arm.toml --penalty k=1e3,1e4 --horizon 0").code, 2);
    EXPECT_EQ(compare("single-link-arm.toml --h -1").code, 2);
    EXPECT_EQ(compare("single-link-arm.toml --refinements 20").code, 2);
    EXPECT_EQ(compare("no-such-model.toml").code, 2);
}

}  // namespace
TEST(CompareStiffness, IsAParameterAndNoInitialValue) {
    const Outcome r = compare("bouncing-ball.toml --penalty y=1e3:1e4:2");
    EXPECT_EQ(r.code, 2);
    EXPECT_NE(r.out.find("--penalty: the model has no parameter 'y'"), std::string::npos) << r.out;
}

}  // namespace saltus::compare_test
