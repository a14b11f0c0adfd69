// SPDX-License-Identifier: Apache-2.0
//
// `--seconds` ends a run that would take much longer; what was computed is kept, and the message says why it ended.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "process.hpp"
#include "support.hpp"

namespace saltus::time_limit_test {
namespace {

using Json = nlohmann::json;
using test::Folder;
using test::Outcome;

/// Three disks in a box: 15 contacts, and equilibria wherever nothing touches.
std::string billiard(const Folder& folder) {
    const std::string path = (folder.path() / "billiard.toml").string();
    std::ofstream out(path);
    out << "[system]\nname = \"billiard\"\nq = [\"x1\",\"y1\",\"x2\",\"y2\",\"x3\",\"y3\"]\n"
           "T = \"(x1'^2+y1'^2+x2'^2+y2'^2+x3'^2+y3'^2)/2\"\n";
    for (const char* const pair : {"12", "13", "23"})
        out << "[[contact]]\nname = \"" << pair << "\"\ngN = \"sqrt((x" << pair[0] << "-x" << pair[1] << ")^2+(y"
            << pair[0] << "-y" << pair[1] << ")^2) - 0.2\"\neN = 1\n";
    for (const char* const q : {"x1", "y1", "x2", "y2", "x3", "y3"})
        out << "[[contact]]\nname = \"" << q << " low\"\ngN = \"" << q << " - 0.1\"\neN = 1\n[[contact]]\nname = \""
            << q << " high\"\ngN = \"0.9 - " << q << "\"\neN = 1\n";
    out << "[initial]\nq = { x1 = 0.2, y1 = 0.3, x2 = 0.5, y2 = 0.6, x3 = 0.8, y3 = 0.2 }\n"
           "u = { x1 = 1.0, y1 = 0.7, x2 = -0.3, y2 = 0.4, x3 = -0.5, y3 = 0.9 }\n[simulate]\nt_end = 1e6\n";
    return path;
}

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

TEST(TimeLimit, EndsAStudyOfManyMotions) {
    const Folder folder;
    interrupted_run("compare " + billiard(folder));
}

}  // namespace
}  // namespace saltus::time_limit_test
