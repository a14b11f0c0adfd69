// SPDX-License-Identifier: Apache-2.0
//
// `--seconds` ends a run that would take much longer; what was computed is kept, and the message says why it ended.
#include <gtest/gtest.h>

#include <filesystem>
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

std::string shipped(const std::string& name) { return std::string(SALTUS_SOURCE_DIR) + "/models/" + name + ".toml "; }

std::size_t count_of(const std::string& words, const std::string& text) {
    std::size_t count = 0;
    for (std::size_t at = text.find(words); at != std::string::npos; at = text.find(words, at + 1)) ++count;
    return count;
}

/// The forces that hold two hundred beads with friction take a minute. The rest of the document is there.
TEST(TimeLimit, EndsTheForcesOfOnePosition) {
    const Folder folder;
    constexpr int beads = 200;
    std::string q, T, rest, start;
    for (int i = 0; i < beads; ++i) {
        const std::string x = "x" + std::to_string(i), comma = i > 0 ? ", " : "";
        q += comma + "\"" + x + "\"";
        T += "+" + x + "'^2/2";
        start += comma + x + " = " + std::to_string(i);
        rest += "[[slider]]\nname = \"s" + std::to_string(i) + "\"\ngammaT = \"" + x + "'\"\nmu = 0.3\nFN = 9.81\n";
        if (i > 0)
            rest += "[[contact]]\nname = \"c" + std::to_string(i) + "\"\ngN = \"" + x + " - x" + std::to_string(i - 1) +
                    " - 1\"\neN = 0.5\n";
    }
    folder.write("beads.toml", "[system]\nq = [" + q + "]\nT = \"" + T.substr(1) + "\"\nU = \"5*x0^2\"\n" + rest +
                                   "[initial]\nq = { " + start + " }\n");
    const Json j = interrupted_run("equilibria " + folder.file("beads.toml") + " --at x0=0");
    EXPECT_EQ(j["status"], "interrupted");
    EXPECT_TRUE(j.contains("complete")) << j.dump();
    EXPECT_FALSE(j.contains("point")) << j["point"].dump().substr(0, 200);
}

TEST(TimeLimit, EndsAPageAndLeavesTheEarlierOne) {
    const Folder folder;
    ASSERT_EQ(test::command("impact " + shipped("forklift") + "--out run --quiet", folder.path()).code, 0);
    ASSERT_EQ(test::command("report run -o page.html --title first", folder.path()).code, 0);
    const std::string first = test::content_of(folder.file("page.html"));
    const Outcome r = test::command("report run -o page.html --title second --seconds 1e-9", folder.path());
    EXPECT_EQ(r.code, 130);
    EXPECT_EQ(r.out, "saltus: the time limit of 1e-09 s ended the run; no page was written\n");
    EXPECT_TRUE(test::content_of(folder.file("page.html")) == first);
    EXPECT_EQ(test::command("report run -o page.html --title second --seconds 1000", folder.path()).code, 0);
    EXPECT_FALSE(test::content_of(folder.file("page.html")) == first);
}

/// The page of --report belongs to the results of the run, which an interrupt leaves.
TEST(TimeLimit, OfARunLeavesThePageOfItsReport) {
    const Folder folder;
    const std::string line = "simulate " + billiard(folder) + " --seconds 0.05 --report page.html";
    EXPECT_EQ(test::command(line, folder.path()).code, 130);
    EXPECT_TRUE(std::filesystem::exists(folder.file("page.html")));
}

TEST(TimeLimit, EndsAMergeThatCanBeRepeated) {
    const std::string lines[] = {"basin " + shipped("rocking-bar") + "--grid phi=-1:1:6 --t-max 1 --no-certify --quiet",
                                 "simulate " + shipped("bouncing-ball") + "--vary e=0.5:0.8:5 --t-end 1 --quiet"};
    for (const std::string& line : lines) {
        const Folder whole, parts;
        ASSERT_EQ(test::command(line + " --out " + whole.path().string()).code, 0);
        for (const char* const part : {"1/2", "2/2"})
            ASSERT_EQ(test::command(line + " --shard " + part + " --out " + parts.path().string()).code, 0);
        const std::string merge = "merge " + parts.path().string();
        const Outcome cut = test::shell(std::string(SALTUS_EXE) + " " + merge + " --json --seconds 1e-9");
        EXPECT_EQ(cut.code, 130) << line;
        EXPECT_EQ(count_of("the results are partial", cut.err), 1U) << cut.err;
        EXPECT_EQ(Json::parse(cut.out, nullptr, false).value("status", "missing"), "interrupted") << cut.out;
        ASSERT_EQ(test::command(merge + " --seconds 1000").code, 0) << line;
        EXPECT_EQ(parts.names(), whole.names()) << line;
        for (const std::string& name : whole.names())
            EXPECT_TRUE(test::content_of(parts.file(name)) == test::content_of(whole.file(name))) << name;
    }
}

}  // namespace
}  // namespace saltus::time_limit_test
