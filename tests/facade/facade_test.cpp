// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <sstream>
#include <string>

#include "saltus/saltus.hpp"

namespace saltus::facade_test {

namespace {

const std::string models = SALTUS_SOURCE_DIR "/models/";

/// What the program prints for these words.
std::string told(const std::string& words) {
    std::string out;
    std::FILE* const pipe = ::popen((std::string(SALTUS_EXE) + " " + words + " --json 2>/dev/null").c_str(), "r");
    char buffer[4096];
    for (std::size_t n = 0; (n = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) out.append(buffer, n);
    ::pclose(pipe);
    return out;
}

/// A document without its times, which differ from run to run. They are the lines of `statistics`.
std::string without_times(const std::string& json) {
    std::istringstream in(json);
    std::string out;
    for (std::string line; std::getline(in, line);)
        if (line.find("second") == std::string::npos) out += line + "\n";
    while (out.ends_with("\n")) out.pop_back();
    return out;
}

}  // namespace

TEST(Facade, AMotionHasTheClosedForm) {
    const Study ball = load(models + "bouncing-ball.toml", {{"g", "10"}, {"y", "5"}});
    EXPECT_EQ(ball.coordinates(), std::vector<std::string>{"y"});
    const StudyMotion motion = ball.simulate(1.5);
    EXPECT_TRUE(motion.completed());
    EXPECT_EQ(motion.status(), "completed");
    ASSERT_FALSE(motion.events().empty());
    EXPECT_EQ(motion.events()[0].kind, "impact");
    EXPECT_EQ(motion.events()[0].elements, std::vector<std::string>{"floor"});
    EXPECT_NEAR(motion.events()[0].t, 1.0, 1e-10);
    EXPECT_NEAR(motion.at(0.5).q[0], 3.75, 1e-9);
    EXPECT_NEAR(motion.at(0.5).u[0], -5.0, 1e-9);
    EXPECT_THROW(motion.at(1.6), Error);
    EXPECT_THROW(motion.at(std::nan("")), Error);
    EXPECT_NE(motion.page().find("<html"), std::string::npos);
}

TEST(Facade, AnswersAreTheDocumentsOfTheProgram) {
    const std::string file = models + "falling-block.toml";
    const Study block = load(file, {{"mu", "0.4"}});
    EXPECT_EQ(without_times(block.equilibria()), without_times(told("equilibria " + file + " --set mu=0.4")));
    EXPECT_EQ(without_times(block.certify()), without_times(told("certify " + file + " --set mu=0.4")));
    EXPECT_EQ(without_times(block.impact(2)), without_times(told("impact " + file + " --set mu=0.4 --number 2")));
    const std::string grid = " --grid x=-0.3:0.3:3 --grid \"x'=-1:1:2\" --t-max 2";
    EXPECT_EQ(without_times(block.basin({{"x", -0.3, 0.3, 3}, {"x'", -1.0, 1.0, 2}}, 2.0)),
              without_times(told("basin " + file + " --set mu=0.4" + grid)));
    EXPECT_EQ(without_times(block.sensitivity({"mu", "eN"}, 1.0)),
              without_times(told("sensitivity " + file + " --set mu=0.4 --wrt mu,eN --t-end 1")));
}

TEST(Facade, OrbitsAndRegulationAreTheDocumentsOfTheProgram) {
    const std::string oscillator = models + "impact-oscillator.toml";
    const Study driven = load(oscillator);
    double w = 1.0;
    for (const auto& [name, value] : driven.parameters())
        if (name == "w") w = value;
    const std::string orbit = driven.orbit(2.0 * 3.14159265358979323846 / w, 100.0);
    EXPECT_NE(orbit.find("\"converged\""), std::string::npos);
    EXPECT_EQ(without_times(orbit), without_times(told("orbit " + oscillator + " --period \"2*pi/w\" --settle 100")));
    const std::string arm = models + "single-link-arm.toml";
    EXPECT_EQ(without_times(load(arm).regulation()), without_times(told("certify " + arm + " --theorem regulation")));
}

TEST(Facade, BadInputIsAnErrorWithItsPlace) {
    try {
        parse("[system]\nq = [\"x\"]\nT = \"x'^2/2\"\nU = \"k*x\"\n");
        FAIL() << "the undefined name was accepted";
    } catch (const Error& e) {
        EXPECT_EQ(e.place().line, 4);
    }
    const Study ball = load(models + "bouncing-ball.toml");
    EXPECT_THROW(ball.simulate(-1.0), Error);
    EXPECT_THROW(ball.sensitivity({"nonsense"}), Error);
    EXPECT_THROW(ball.impact(1000000), Error);
    EXPECT_THROW(ball.basin({}, 1.0), Error);
    EXPECT_THROW(ball.basin({{"z", 0.0, 1.0, 2}}, 1.0), Error);
    EXPECT_THROW(ball.orbit(-1.0), Error);
    EXPECT_THROW(load("no-such-file.toml"), Error);
}

}  // namespace saltus::facade_test
