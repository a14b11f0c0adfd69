// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>

#include "cli/process.hpp"
#include "support.hpp"

namespace saltus::cli::diagram_test {

namespace {

const std::string models = std::string(SALTUS_SOURCE_DIR) + "/models/";
const std::string ball = "diagram " + models + "ball-on-moving-plane.toml ";

}  // namespace

TEST(DiagramCommand, CountsTheRepetitionsOfTheBall) {
    const auto run = test::command(ball + "--over Gamma=1.3,1.6 --period \"2*pi/w\" --transient 500 --keep 12 --json");
    EXPECT_EQ(run.code, 0) << run.out;
    EXPECT_NE(run.out.find("\"periods\": [\n    1,\n    2\n  ]"), std::string::npos) << run.out;
}

/// A run that was ended by the clock and then resumed has the same points as one run. Sweeps with a section, too: they
/// go on from the end of the motion of the value before, which is stored.
TEST(DiagramCommand, ResumedHasTheSamePointsAsOneRun) {
    const std::string excited =
        ball + "--over Gamma=1.2:1.9:12 --period \"2*pi/w\" --transient 1500 --keep 20 --exponents";
    const std::string free = "diagram " + models +
                             "stick-slip-belt.toml --over v=0.1:0.4:12 --section \"x = 0\" "
                             "--transient 60 --keep 20 --t-max 3000";
    for (const std::string& what : {excited + " --sweep restart", excited + " --sweep both", free + " --sweep both"}) {
        const test::Folder folder;
        const std::string options = what + " --quiet --out ";
        const auto whole = test::command(options + folder.file("whole"));
        EXPECT_EQ(whole.code, 0) << whole.out;
        const auto cut = test::command(options + folder.file("cut") + " --seconds 0.05 --threads 1");
        EXPECT_TRUE(cut.code == 130 || cut.code == 0) << cut.out;
        if (cut.code == 130) {
            const auto other = test::command(options + folder.file("cut") + " --resume --rtol 1e-8");
            EXPECT_EQ(other.code, 2);
            EXPECT_NE(other.out.find("another model or other options"), std::string::npos) << other.out;
        }
        const auto rest = test::command(options + folder.file("cut") + " --resume");
        EXPECT_EQ(rest.code, 0) << rest.out;
        for (const char* const file : {"/diagram.csv", "/diagram-values.csv", "/diagram.json"})
            EXPECT_EQ(test::content_of(folder.file("cut") + file), test::content_of(folder.file("whole") + file))
                << file;
    }
}

TEST(DiagramCommand, WithoutAnyPointFailsAndSaysWhy) {
    const std::string belt = "diagram " + std::string(SALTUS_SOURCE_DIR) + "/models/stick-slip-belt.toml ";
    const auto run = test::command(belt + "--over v=0.1:0.2:2 --section \"x = 30\" --t-max 20");
    EXPECT_EQ(run.code, 3) << run.out;
    EXPECT_NE(run.out.find("passes the section 0 times"), std::string::npos) << run.out;
}

TEST(DiagramCommand, RefusesOptionsThatDoNotFit) {
    const auto refused = [](const std::string& options, const std::string& words) {
        const auto run = test::command(ball + options);
        EXPECT_EQ(run.code, 2) << options;
        EXPECT_NE(run.out.find(words), std::string::npos) << run.out;
    };
    refused("", "--over: the parameter to vary is not given");
    refused("--over Gama=1:2:3 --period 1", "did you mean 'Gamma'?");
    refused("--over Gamma=1:2:3", "either --period");
    refused("--over Gamma=1:2 --period 1", "write --over NAME=FROM:TO:COUNT");
    refused("--over Gamma=1:2:3 --section y", "is not an equation");
    refused("--over Gamma=1:2:3 --section y=0", "depends on time");
    refused("--over Gamma=1:2:3 --period y", "depends on the state or on time");
    refused("--over Gamma=1:2:3 --period 1 --keep 0", "it must be at least 1");
    refused("--over Gamma=1:2:3 --period 1 --resume", "needs the result folder");
    refused("--over Gamma=1:2:3 --period 1 --sweep x", "choose restart, up, down or both");
}

}  // namespace saltus::cli::diagram_test
