// SPDX-License-Identifier: Apache-2.0
//
// `saltus equilibria` as a person runs it.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "process.hpp"
#include "support.hpp"

namespace saltus::equilibria_test {
namespace {

using Json = nlohmann::ordered_json;

using test::Outcome;

Outcome run(const std::string& arguments) { return test::command("equilibria " + arguments); }

std::string model(const std::string& name) { return std::string(SALTUS_SOURCE_DIR) + "/models/" + name + ".toml "; }

Json json_of(const std::string& arguments) {
    const Outcome r = run(arguments + " --json");
    EXPECT_EQ(r.code, 0) << r.out;
    const Json j = Json::parse(r.out, nullptr, false);
    EXPECT_FALSE(j.is_discarded()) << r.out;
    return j;
}

TEST(EquilibriaCommand, GivesTheKeysThatOthersRead) {
    const Json j = json_of(model("falling-block") + "--set mu=0.5 --set k=20");
    ASSERT_EQ(j["sets"].size(), 1U);
    const Json& s = j["sets"][0];
    EXPECT_EQ(s["contacts_closed"], Json({"floor"}));
    EXPECT_NEAR(s["extent"]["x"][0].get<double>(), -0.5 * 9.81 / 20.0, 1e-12);
    EXPECT_NEAR(s["extent"]["x"][1].get<double>(), 0.5 * 9.81 / 20.0, 1e-12);
    EXPECT_EQ(s["extent"]["y"], Json({0.0, 0.0}));
    EXPECT_EQ(s["contains_frictionless"], true);
    EXPECT_EQ(s["exact"], true);
    EXPECT_FALSE(j.contains("point"));
}

TEST(EquilibriaCommand, ProvesAndDisprovesAPoint) {
    const Json in = json_of(model("falling-block") + "--at x=0.1,y=0")["point"];
    EXPECT_EQ(in["is_equilibrium"], true);
    EXPECT_NEAR(in["forces"]["floor"]["N"].get<double>(), 9.81, 1e-12);
    EXPECT_NEAR(in["forces"]["floor"]["T"][0].get<double>(), 1.0, 1e-12);
    EXPECT_EQ(in["set"], "E1");
    const Json out = json_of(model("falling-block") + "--at x=0.4,y=0")["point"];
    EXPECT_EQ(out["is_equilibrium"], false);
    ASSERT_EQ(out["separating"].size(), 1U);
    EXPECT_GT(out["separating"][0]["power"].get<double>(), 0.0);
}

// v·(h + Wλ) on the edges of the cone, from the numbers alone: W_N = (0, 1), W_T = (1, 0), h = (−k x, −m g).
TEST(EquilibriaCommand, SeparatingDirectionsStandAComputationByHand) {
    struct Case {
        double m, k, g, mu, x;
    };
    for (const Case& c :
         {Case{1.0, 10.0, 9.81, 0.3, 0.29431}, {0.05, 300.0, 3.7, 1.4, -2e-3}, {40.0, 2.0, 9.81, 0.01, 7.0}}) {
        const Json p = json_of(model("falling-block") + "--set m=" + std::to_string(c.m) +
                               " --set k=" + std::to_string(c.k) + " --set g=" + std::to_string(c.g) +
                               " --set mu=" + std::to_string(c.mu) + " --at y=0,x=" + std::to_string(c.x))["point"];
        const bool holds = c.k * std::abs(c.x) <= c.mu * c.m * c.g;
        EXPECT_EQ(p["is_equilibrium"], holds);
        if (holds) continue;
        ASSERT_EQ(p["separating"].size(), 1U);
        const Json& s = p["separating"][0];
        const double vx = s["direction"]["x"], vy = s["direction"]["y"], power = s["power"];
        const double free = -c.k * c.x * vx - c.m * c.g * vy;
        EXPECT_GT(power, 0.0);
        EXPECT_GE(free, power * (1.0 - 1e-9));
        for (const double side : {1.0, -1.0}) EXPECT_GE(vy + side * c.mu * vx, -1e-12);
    }
}

TEST(EquilibriaCommand, CompletesWhatThePointLeavesOut) {
    const Json beam = json_of(model("constrained-beam") + "--at theta=0.3")["point"];
    EXPECT_EQ(beam["is_equilibrium"], true);
    EXPECT_NEAR(beam["q"]["x"].get<double>(), -std::sin(0.3), 1e-12);
    EXPECT_NEAR(beam["q"]["y"].get<double>(), -std::cos(0.3), 1e-12);
    EXPECT_EQ(beam["completed"], Json({"x", "y"}));
    EXPECT_EQ(json_of(model("constrained-beam") + "--at theta=1.2")["point"]["is_equilibrium"], false);
    const Json block = json_of(model("falling-block") + "--at x=0.4")["point"];
    EXPECT_EQ(block["is_equilibrium"], false);
    EXPECT_EQ(block["q"]["y"], 0.0);
}

TEST(EquilibriaCommand, WritesFilesWithOutAlone) {
    test::Folder folder;
    const std::string out = (folder.path() / "run").string();
    EXPECT_EQ(run(model("rocking-bar") + "--quiet --out " + out).code, 0);
    EXPECT_EQ(Json::parse(test::content_of(out + "/equilibria.json"))["sets"].size(), 4U);
    EXPECT_NE(test::content_of(out + "/sets.csv").find("E1,left + right,interval,1,1,1,"), std::string::npos);
    EXPECT_NE(test::content_of(out + "/boundary.csv").find("E1,boundary,"), std::string::npos);
}

TEST(EquilibriaCommand, RefusesPositionsThatAreNone) {
    const auto refuses = [](const std::string& arguments, const std::string& words) {
        const Outcome r = run(arguments);
        EXPECT_EQ(r.code, 2) << r.out;
        EXPECT_NE(r.out.find(words), std::string::npos) << r.out;
    };
    refuses(model("falling-block") + "--at x=0,y=-1", "penetrates 'floor'");
    refuses(model("falling-block") + "--at z=0", "unknown coordinate 'z'");
    refuses(model("falling-block") + "--at x", "not an assignment");
    refuses(model("constrained-beam") + "--at x=0.5,y=-1,theta=0", "violates the constraint 'vertical groove'");
    refuses(model("falling-block") + "--set nu=1", "nu");
    refuses(model("falling-block") + "--set mu=-1", "mu");
    refuses(model("falling-block") + "--at x=one,y=0", "one");
    refuses(model("falling-block") + "--at x=nan,y=0", "nan");
    refuses(model("falling-block") + "--at x=0,x=1", "is given twice");
    refuses(model("falling-block") + "--at \"x'=1\"", "is a velocity");
    refuses(model("impact-oscillator") + "--time nan", "finite");
}

TEST(EquilibriaCommand, SaysWhereTimeLeavesNoRest) {
    const Json driven = json_of(model("impact-oscillator"));
    EXPECT_EQ(driven["status"], "time-dependent");
    EXPECT_TRUE(driven["sets"].empty());
    ASSERT_FALSE(driven["warnings"].empty());
    const Json frozen = json_of(model("impact-oscillator") + "--time 0");
    EXPECT_EQ(frozen["status"], "searched");
    EXPECT_FALSE(frozen["sets"].empty());
    EXPECT_EQ(json_of(model("hydrostatic-skeleton"))["status"], "too-large");
}

/// Friction below every rounding error: the sets are those without friction, and nothing aborts.
TEST(EquilibriaCommand, WorksWithFrictionNearTheSmallestNumbers) {
    for (const char* const mu : {"1e-20", "1e-29"})
        EXPECT_EQ(run(model("rocking-bar") + "--quiet --set mu=" + mu).code, 0);
    for (const char* const mu : {"1e-31", "1e-100", "1e-300"}) {
        const Outcome r = run(model("rocking-bar") + "--set mu=" + mu);
        EXPECT_EQ(r.code, 2) << mu;
        EXPECT_NE(r.out.find("magnitudes from 1e-30 to 1e+30"), std::string::npos) << r.out;
    }
}

/// The block lies on the floor, |x| <= mu m g/k, however weak gravity is. A weight far below the spring force of a unit
/// displacement was once taken for rounding, and the block was said to rest in the air.
TEST(EquilibriaCommand, ResolvesAWeightBesideAStiffSpring) {
    for (const char* const change : {"g=1e-3", "g=1e-12", "g=1e-20", "g=1e-29", "k=1e13", "k=1e29", "m=1e-20"}) {
        const Json j = json_of(model("falling-block") + "--set " + change + " --at x=0,y=1");
        ASSERT_EQ(j["sets"].size(), 1U) << change;
        EXPECT_EQ(j["sets"][0]["contacts_closed"], Json({"floor"})) << change;
        EXPECT_EQ(j["complete"], true) << change;
        EXPECT_EQ(j["point"]["is_equilibrium"], false) << change;
    }
}

}  // namespace
}  // namespace saltus::equilibria_test
