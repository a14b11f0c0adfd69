// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

#include "cli/process.hpp"
#include "support.hpp"

namespace saltus::cli::continue_test {

namespace {

const std::string models = std::string(SALTUS_SOURCE_DIR) + "/models/";
const std::string ball = "continue " + models + "ball-on-moving-plane.toml ";
const std::string period = " --period \"2*pi/w\" --settle 2 ";

}  // namespace

TEST(ContinueCommand, NamesTheFoldOfTheBouncingBall) {
    const auto run = test::command(ball + "--over Gamma=0.9:1.4 --json" + period);
    EXPECT_EQ(run.code, 0) << run.out;
    EXPECT_NE(run.out.find("\"kind\": \"fold\""), std::string::npos) << run.out;
    EXPECT_NE(run.out.find("1.04719755119"), std::string::npos);
    EXPECT_NE(run.out.find("\"status\": \"completed\""), std::string::npos);
}

TEST(ContinueCommand, WritesItsPointsAndAPage) {
    const test::Folder results;
    const std::string folder = results.file("run");
    const auto run =
        test::command(ball + "--over Gamma=1.2:1.4 --doublings 0 --quiet --report --out " + folder + period);
    EXPECT_EQ(run.code, 0) << run.out;
    EXPECT_TRUE(test::content_of(folder + "/branches.csv").starts_with("branch,Gamma,period,stability"));
    EXPECT_TRUE(test::content_of(folder + "/special.csv").starts_with("branch,kind,Gamma"));
    EXPECT_NE(test::content_of(folder + "/continue.json").find("\"special\""), std::string::npos);
    EXPECT_TRUE(std::filesystem::exists(folder + "/report.html"));
}

TEST(ContinueCommand, KeepsThePointsOfARunThatIsEndedByTheClock) {
    const auto run =
        test::command(ball + "--over Gamma=0.9:2 --step 1e-6 --points 1000000 --seconds 1 --json" + period);
    EXPECT_EQ(run.code, 130) << run.out.substr(0, 500);
    EXPECT_NE(run.out.find("\"status\": \"interrupted\""), std::string::npos);
    EXPECT_NE(run.out.find("\"multipliers\""), std::string::npos);
}

/// A run that is ended by the clock and then resumed, perhaps several times, leaves the same files as one run.
TEST(ContinueCommand, ResumedLeavesTheSameFilesAsOneRun) {
    const test::Folder folder;
    const std::string options = ball + "--over Gamma=0.9:1.6 --step 0.01 --quiet " + period + " --out ";
    const auto whole = test::command(options + folder.file("whole"));
    EXPECT_EQ(whole.code, 0) << whole.out;
    auto part = test::command(options + folder.file("cut") + " --seconds 0.02");
    EXPECT_TRUE(part.code == 130 || part.code == 0) << part.out;
    for (int k = 0; part.code == 130 && k < 20; ++k) {
        EXPECT_TRUE(std::filesystem::exists(folder.file("cut") + "/continue-state.json"));
        if (k == 0) {
            const std::string state = "cut/continue-state.json", text = test::content_of(folder.file(state));
            folder.write(state, text + " ");
            const auto damaged = test::command(options + folder.file("cut") + " --resume");
            EXPECT_EQ(damaged.code, 2);
            EXPECT_NE(damaged.out.find("is not the file that its command wrote"), std::string::npos) << damaged.out;
            folder.write(state, text);
            const auto other = test::command(options + folder.file("cut") + " --resume --set e=0.4");
            EXPECT_EQ(other.code, 2);
            EXPECT_NE(other.out.find("another model"), std::string::npos) << other.out;
        }
        part = test::command(options + folder.file("cut") + " --resume" + (k < 2 ? " --seconds 0.04" : ""));
    }
    EXPECT_EQ(part.code, 0) << part.out;
    EXPECT_FALSE(std::filesystem::exists(folder.file("cut") + "/continue-state.json"));
    for (const char* const file : {"/continue.json", "/branches.csv", "/special.csv", "/branches.h5"})
        EXPECT_EQ(test::content_of(folder.file("cut") + file), test::content_of(folder.file("whole") + file)) << file;
    const auto again = test::command(options + folder.file("cut") + " --resume");
    EXPECT_EQ(again.code, 2);
    EXPECT_NE(again.out.find("is complete"), std::string::npos) << again.out;
}

/// Starts a command and kills it as soon as it has written a checkpoint. Whether the kill has ended it.
bool killed_at_checkpoint(const std::string& options, const std::string& folder) {
    const test::Process child({"/bin/sh", "-c", "exec " + std::string(SALTUS_EXE) + " " + options + folder});
    constexpr useconds_t poll_pause = 500;  // microseconds
    const auto exists = [&](const char* name) { return std::filesystem::exists(folder + name); };
    while (!exists("/continue.checkpoint") && !exists("/continue.json")) ::usleep(poll_pause);
    child.send(SIGKILL);
    return child.wait().code == -SIGKILL && exists("/continue.checkpoint") && !exists("/continue.json");
}

/// A run that is killed leaves a checkpoint. If it ends before its first one, then smaller steps are taken.
TEST(ContinueCommand, KilledAndResumedLeavesTheSameFilesAsOneRun) {
    for (const std::string& command :
         {ball + "--over Gamma=0.9:1.6 " + period, "continue " + models + "rocking-bar.toml --over g=5:20 "}) {
        bool cut_short = false;
        for (const char* const step : {"0.001", "0.0004", "0.0001"}) {
            const test::Folder folder;
            const std::string options = command + "--points 100000 --quiet --step " + step + " --out ";
            const std::string cut = folder.file("cut"), whole = folder.file("whole"),
                              checkpoint = cut + "/continue.checkpoint";
            cut_short = killed_at_checkpoint(options, cut);
            if (!cut_short) continue;
            const std::string text = test::content_of(checkpoint);
            folder.write("cut/continue.checkpoint",
                         text.substr(0, text.size() / 2) + "7" + text.substr(text.size() / 2));
            const auto damaged = test::command(options + cut + " --resume");
            EXPECT_EQ(damaged.code, 2);
            EXPECT_NE(damaged.out.find("is damaged"), std::string::npos) << damaged.out;
            folder.write("cut/continue.checkpoint", text);
            const auto rest = test::command(options + cut + " --resume");
            EXPECT_EQ(rest.code, 0) << rest.out;
            EXPECT_FALSE(std::filesystem::exists(checkpoint));
            const auto all = test::command(options + whole);
            EXPECT_EQ(all.code, 0) << all.out;
            EXPECT_FALSE(std::filesystem::exists(whole + "/continue.checkpoint"));
            for (const char* const file : {"/continue.json", "/branches.csv", "/special.csv", "/branches.h5"})
                EXPECT_EQ(test::content_of(cut + file), test::content_of(whole + file)) << file;
            break;
        }
        EXPECT_TRUE(cut_short) << command;
    }
}

TEST(ContinueCommand, RefusesOptionsThatDoNotFit) {
    const auto refused = [](const std::string& options, const std::string& words) {
        const auto run = test::command(ball + options);
        EXPECT_EQ(run.code, 2) << options;
        EXPECT_NE(run.out.find(words), std::string::npos) << run.out;
    };
    refused("", "--over: the parameter to vary is not given");
    refused("--over Gamma", "is not a range of a parameter");
    refused("--over Gamma=1:2:3 --period 1", "is not a number");
    refused("--over Gamma=1:1 --period 1", "a single value");
    refused("--over Gama=1:2 --period 1", "did you mean 'Gamma'?");
    refused("--over Gamma=1:2", "depends on time");
    refused("--over Gamma=1:2 --period 1 --equilibria", "equilibria have no period");
    refused("--over Gamma=1:2 --equilibria", "depends on time");
    refused("--over Gamma=1:2 --period 1 --and ee", "did you mean");
    refused("--over Gamma=1:2 --period 1 --and Gamma", "is the first parameter, too");
    refused("--over Gamma=1:2 --period 1 --and e=0.6:0.9", "is not in its range");
    refused("--over Gamma=1:2 --period 1 --and e=0.6", "is not a range of a parameter");
    refused("--over Gamma=1:2 --period 1 --resume", "needs the result folder");
    refused("--over Gamma=1:2 --period 1 --symmetry z=-z", "unknown coordinate 'z'");
    refused("--over Gamma=1:2 --period 1 --symmetry \"y = Gamma - y\"", "depends on 'Gamma'");
    refused("--over Gamma=1:2 --period 1 --points 0", "it must be at least 1");
    refused("--over Gamma=1:2 --period 1 --step -1", "--step");
}

TEST(ContinueCommand, RefusesEquilibriaOfTheModelsThatEquilibriaRefuses) {
    const std::string walker = models + "simplest-walker.toml";
    const std::string reason = "does not support jumps of the state (jump 'heel strike'): a jump resets the state";
    for (const std::string& command :
         {"equilibria " + walker, "continue " + walker + " --over gamma=0.01:0.02 --equilibria"}) {
        const auto run = test::command(command);
        EXPECT_EQ(run.code, 2) << command;
        EXPECT_NE(run.out.find(reason), std::string::npos) << run.out;
    }
}

TEST(ContinueCommand, SaysWhyThereIsNoFirstOrbit) {
    const auto run =
        test::command("continue " + models + "bouncing-ball.toml --over e=0.3:0.8 --section \"y' = 0\" --settle 10");
    EXPECT_EQ(run.code, 3) << run.out;
    EXPECT_NE(run.out.find("comes to rest"), std::string::npos) << run.out;
}

}  // namespace saltus::cli::continue_test
