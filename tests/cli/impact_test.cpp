// SPDX-License-Identifier: Apache-2.0
//
// `saltus impact` as a person runs it, and what `saltus simulate` says about the energy of its impacts.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "process.hpp"
#include "reference/reference.hpp"
#include "saltus/io/problem/fclib.hpp"
#include "support.hpp"

namespace saltus::impact_test {
namespace {

using Json = nlohmann::ordered_json;

using test::Outcome;
using test::reference::entry;
using test::reference::Value;

/// The energy that the impact of the shipped double pendulum creates.
double created_energy() { return entry("leine_impact_double_pendulum_energy_increase")["outputs"]["delta_T"]; }

Outcome run(const std::string& arguments) { return test::command(arguments); }

std::string model(const std::string& name) { return std::string(SALTUS_SOURCE_DIR) + "/models/" + name + ".toml"; }

Outcome impact(const std::string& name, const std::string& more = "") {
    return run("impact " + model(name) + " " + more);
}

Json json_of(const Outcome& r) {
    EXPECT_EQ(r.code, 0) << r.out;
    const Json j = Json::parse(r.out, nullptr, false);
    EXPECT_FALSE(j.is_discarded()) << r.out;
    return j;
}

Json impact_json(const std::string& name, const std::string& more = "") {
    return json_of(impact(name, more + " --json"));
}

void expect_numbers(const Json& j, const std::vector<double>& expected, double tolerance) {
    ASSERT_EQ(j.size(), expected.size()) << j;
    for (std::size_t k = 0; k < expected.size(); ++k) EXPECT_NEAR(j[k].get<double>(), expected[k], tolerance) << j;
}

bool has_kind(const Json& j, const std::string& kind) {
    for (const Json& r : j["remarks"])
        if (r["kind"] == kind) return true;
    return false;
}

// --- Glocker's examples

TEST(Impact, OfTheMovingWallTakesEnergyThoughTheMassGainsIt) {
    const Json j = impact_json("moving-wall");  // glocker_moving_wall_A
    EXPECT_EQ(j["u_minus"]["x"], 0.0);
    EXPECT_EQ(j["u_plus"]["x"], 2.0);
    EXPECT_TRUE(j["kinematic"]["holds"].get<bool>());
    EXPECT_TRUE(j["kinetic"]["holds"].get<bool>());
    EXPECT_NEAR(j["work"]["min"].get<double>(), -3.0, 1e-12);
    EXPECT_NEAR(j["work"]["max"].get<double>(), -3.0, 1e-12);
    EXPECT_NEAR(j["work"]["b0"]["x"].get<double>(), 2.0, 1e-12);
    EXPECT_NEAR(j["energy_change"].get<double>(), 3.0, 1e-12);
    EXPECT_TRUE(j["consistent"].get<bool>());
    EXPECT_TRUE(has_kind(j, "uniform-excitation"));
    EXPECT_TRUE(has_kind(j, "single-contact"));
    const Json fixed = impact_json("moving-wall", "--set v=0 --set u0=-2");  // glocker_fixed_wall_A
    EXPECT_NEAR(fixed["work"]["min"].get<double>(), -3.0, 1e-12);
    EXPECT_NEAR(fixed["energy_change"].get<double>(), -3.0, 1e-12);
    EXPECT_TRUE(has_kind(fixed, "no-excitation"));
}

TEST(Impact, OfTheViseHasNoExtremeWork) {
    const Json closing = impact_json("vise", "--set v=1 --u-plus x=0");
    EXPECT_TRUE(closing["work"]["min"].is_null()) << closing["work"];
    EXPECT_FALSE(closing["kinematic"]["holds"].get<bool>());
    const Json opening = impact_json("vise", "--u-plus x=0");
    EXPECT_TRUE(opening["work"]["max"].is_null()) << opening["work"];
    for (const char* const key : {"Lambda", "parts", "obstacle_work"}) {  // there are none that do this work
        EXPECT_TRUE(closing["work"][std::string(key) + "_min"].is_null()) << closing["work"];
        EXPECT_FALSE(closing["work"][std::string(key) + "_max"].is_null()) << closing["work"];
        EXPECT_TRUE(opening["work"][std::string(key) + "_max"].is_null()) << opening["work"];
        EXPECT_FALSE(opening["work"][std::string(key) + "_min"].is_null()) << opening["work"];
    }
    EXPECT_NE(run("impact " + model("vise") + " --set v=1 --u-plus x=0").out.find("least     -inf"), std::string::npos);
    EXPECT_NE(run("impact " + model("vise") + " --u-plus x=0").out.find("greatest  inf"), std::string::npos);
}

TEST(Impact, OfAWallOfFiniteMassTendsToThatOfTheMovingWall) {
    for (const double mass : {10.0, 1e3, 1e6}) {
        const Json j = impact_json("wall-of-finite-mass", "--set mw=" + std::to_string(mass));
        EXPECT_NEAR(j["work"]["min"].get<double>(), -3.0 * mass / (1.5 + mass), 1e-9) << mass;
        EXPECT_NEAR(j["energy_change"].get<double>(), -3.0 * mass / (1.5 + mass), 1e-8 * mass) << mass;
    }
}

TEST(Impact, OfALoadThatIsLiftedUniformlyHasOneWork) {
    const Json j = impact_json("lifted-load");
    EXPECT_TRUE(has_kind(j, "uniform-excitation"));
    EXPECT_TRUE(has_kind(j, "redundant-contacts"));
    EXPECT_NEAR(j["work"]["min"].get<double>(), -1.3 * 1.3, 1e-12);  // −m ė²/2
    EXPECT_NEAR(j["work"]["max"].get<double>(), -1.3 * 1.3, 1e-12);
}

TEST(Impact, OfTheForkliftInSpaceHasFourCornerPoints) {
    const Json j = impact_json("forklift-in-space", "--u-plus y=1.9,phi=0.2,psi=0.1");
    std::vector<std::vector<double>> corners = j["corner_points"].get<std::vector<std::vector<double>>>();
    std::sort(corners.begin(), corners.end());
    const double e = 1.3, a = 1.3 / 0.8, b = 1.3 / 0.5;
    const std::vector<std::vector<double>> expected{{e, -a, 0.0}, {e, 0.0, -b}, {e, 0.0, b}, {e, a, 0.0}};
    ASSERT_EQ(corners.size(), expected.size()) << j["corner_points"];
    for (std::size_t k = 0; k < 4; ++k)
        for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(corners[k][i], expected[k][i], 1e-9);
    EXPECT_TRUE(j["consistent"].get<bool>());
}

TEST(Impact, OfTheMassOnTheLiftHasAnInterval) {
    const Json j = impact_json("mass-and-lift");  // glocker_mass_ground_lift_A
    EXPECT_NEAR(j["work"]["min"].get<double>(), -3.0, 1e-12);
    EXPECT_NEAR(j["work"]["max"].get<double>(), 3.0, 1e-12);
    EXPECT_NEAR(j["work"]["Lambda_min"]["lift"]["N"].get<double>(), 3.0, 1e-12);
    EXPECT_NEAR(j["work"]["Lambda_min"]["ground"]["N"].get<double>(), 0.0, 1e-12);
    EXPECT_NEAR(j["work"]["Lambda_max"]["ground"]["N"].get<double>(), 3.0, 1e-12);
    EXPECT_NEAR(j["work"]["b0"]["y"].get<double>(), 2.0, 1e-12);
    EXPECT_NEAR(j["work"]["b0_max"]["y"].get<double>(), 0.0, 1e-12);
    EXPECT_LE(j["work"]["gap"].get<double>(), 1e-10);
    EXPECT_EQ(j["verdict"], "may-dissipate");
    EXPECT_TRUE(has_kind(j, "nonuniform-excitation"));
    EXPECT_TRUE(has_kind(j, "singular-delassus"));
    EXPECT_TRUE(has_kind(j, "redundant-contacts"));
}

TEST(Impact, OfTheForkliftDrawsTheSetOfThePaper) {
    const Json j = impact_json("forklift", "--u-plus y=1.888,phi=0.172");
    const Value expected = entry("glocker_forklift_A")["outputs"];
    EXPECT_TRUE(j["consistent"].get<bool>());
    EXPECT_NEAR(j["work"]["min"].get<double>(), expected["test_points"][0]["W_min"], 1e-12);
    EXPECT_NEAR(j["work"]["max"].get<double>(), expected["test_points"][0]["W_max"], 1e-12);
    EXPECT_EQ(j["u_plus_from"], "as stated");
    ASSERT_EQ(j["corner_points"].size(), 2U);
    expect_numbers(j["corner_points"][0], expected["P_e_plus_vertices"][0].numbers(), 1e-12);
    expect_numbers(j["corner_points"][1], expected["P_e_plus_vertices"][1].numbers(), 1e-12);
    ASSERT_EQ(j["P_minus"]["corner_points"].size(), 1U);
    expect_numbers(j["P_minus"]["corner_points"][0], {0.0, 0.0}, 1e-12);
    ASSERT_EQ(j["balls"].size(), 2U);
    EXPECT_NEAR(j["balls"][0]["radius_squared"].get<double>(), expected["disk_radius_squared_exact"][0], 1e-12);
    const Json& set = j["set"];
    EXPECT_NEAR(set["area"].get<double>(), expected["I_area"], 1e-12);
    ASSERT_EQ(set["vertices"].size(), 3U);
    ASSERT_EQ(set["pieces"].size(), 3U);
    // From the fork's segment on, counter-clockwise.
    expect_numbers(set["vertices"][0], expected["I_vertices"][2].numbers(), 1e-12);
    expect_numbers(set["vertices"][1], expected["I_vertices"][0].numbers(), 1e-12);
    expect_numbers(set["vertices"][2], expected["I_vertices"][1].numbers(), 1e-12);
    EXPECT_EQ(set["pieces"][0]["kind"], "segment");
    EXPECT_EQ(set["pieces"][0]["contact"], "fork");
    for (const std::size_t k : {1U, 2U}) {
        const Json& arc = set["pieces"][k];
        EXPECT_EQ(arc["kind"], "arc");
        const double phi = arc["phi"][0].get<double>();
        for (const std::size_t i : {0U, 1U})
            EXPECT_NEAR(arc["from"][i].get<double>(),
                        arc["centre"][i].get<double>() + std::cos(phi) * arc["first"][i].get<double>() +
                            std::sin(phi) * arc["second"][i].get<double>(),
                        1e-12);
    }
    EXPECT_EQ(j["jumps"]["contacts"], (Json{"left", "right"}));
}

TEST(Impact, TellsAPersonTheSame) {
    const Outcome r = impact("forklift", "--u-plus y=3,phi=0.2");
    EXPECT_EQ(r.code, 0);
    for (const char* const text :
         {"forklift: a collision", "u+          y' = 3   phi' = 0.2   as stated",
          "kinematic   holds: least gamma+ 1.7 (fork)", "least     1.3725   Lambda fork 5.875; right 0.125",
          "b0 = (1.3, -1.625)", "change 9.01 = contact work 1.3725 + moving obstacles 7.6375",
          "verdict     not consistent: the contact work is between 1.3725 and 9.01, more than 0",
          "nearest     consistent y' = 2.6   phi' = 0   at the M-distance 0.583095",
          "P+          2 corner points, 2 rays", "set         3 pieces of the boundary, area 2.64514226539"})
        EXPECT_NE(r.out.find(text), std::string::npos) << text << "\nis not in\n" << r.out;
    EXPECT_EQ(impact("forklift", "--quiet").out, "");
}

TEST(Impact, AlphaMovesTheVerdict) {
    EXPECT_FALSE(impact_json("forklift", "--u-plus y=3,phi=0.2")["consistent"].get<bool>());
    EXPECT_TRUE(impact_json("forklift", "--u-plus y=3,phi=0.2 --alpha 1.4")["consistent"].get<bool>());
    const Json j = impact_json("forklift", "--alpha -4");
    const Value expected = entry("glocker_negative_alpha_radius")["outputs"];
    EXPECT_TRUE(j["set"]["empty"].get<bool>());
    EXPECT_NEAR(j["balls"][0]["radius_squared"].get<double>(), expected["two_alpha_plus_norm2"][0], 1e-12);
    EXPECT_TRUE(j["nearest"]["u"].is_null());
}

TEST(Impact, SaysWhichConditionFailsAndByHowMuch) {
    const Json into = impact_json("forklift", "--u-plus y=1,phi=0");
    EXPECT_EQ(into["verdict"], "into-obstacle");
    EXPECT_FALSE(into["kinematic"]["holds"].get<bool>());
    EXPECT_NEAR(into["kinematic"]["slack"].get<double>(), -0.3, 1e-12);
    const Json off = impact_json("moving-wall", "--u-plus x=-1");
    EXPECT_FALSE(off["kinetic"]["holds"].get<bool>());
    EXPECT_NEAR(off["kinetic"]["distance"].get<double>(), std::sqrt(1.5), 1e-12);
    EXPECT_TRUE(off["work"]["min"].is_null());
    const Json not_by = impact_json("forklift", "--u-plus y=1.6,phi=10");
    EXPECT_FALSE(not_by["consistent"].get<bool>());
}

TEST(Impact, TakesStatedImpulses) {
    const Json j = impact_json("mass-and-lift", "--Lambda ground=3");
    EXPECT_NEAR(j["u_plus"]["y"].get<double>(), 2.0, 1e-12);
    EXPECT_EQ(j["u_plus_from"], "by the stated impulses");
    EXPECT_NEAR(j["work"]["given"]["work"].get<double>(), 3.0, 1e-12);
    EXPECT_NEAR(j["work"]["given"]["obstacle_work"].get<double>(), 0.0, 1e-12);
    const Json both = impact_json("mass-and-lift", "--Lambda ground=1.5,lift=1.5 --u-plus y=2");
    EXPECT_NEAR(both["work"]["given"]["work"].get<double>(), 0.0, 1e-12);
    EXPECT_NEAR(both["work"]["given"]["misses_u_plus"].get<double>(), 0.0, 1e-12);
    const Json missed = impact_json("mass-and-lift", "--Lambda lift=1.5 --u-plus y=2");
    EXPECT_NEAR(missed["work"]["given"]["misses_u_plus"].get<double>(), 1.5 / std::sqrt(1.5), 1e-12);
    const Json outside = impact_json("mass-and-lift", "--Lambda lift=-1");
    EXPECT_NEAR(outside["work"]["given"]["outside_cones"].get<double>(), 1.0, 1e-12);
}

TEST(Impact, TakesAnImpulseFromOutside) {
    const Json j = impact_json("moving-wall", "--set v=0 --set u0=-2 --impulse x=-1.5 --u-plus x=0");
    // z- = -3, Λ = 4.5: the wall does ½(0 − 2)·4.5, the impulse ½(0 − 2)·(−1.5)
    EXPECT_NEAR(j["work"]["min"].get<double>(), -4.5, 1e-12);
    EXPECT_NEAR(j["external_work"].get<double>(), 1.5, 1e-12);
    EXPECT_NEAR(j["energy_change"].get<double>(), -3.0, 1e-12);
    EXPECT_TRUE(has_kind(j, "kinetic-excitation"));
    // By the law, after the impulse has acted.
    const Json law = impact_json("moving-wall", "--set v=0 --set u0=-2 --set e=0.5 --impulse x=-1.5");
    EXPECT_NEAR(law["u_plus"]["x"].get<double>(), 1.5, 1e-12);
}

TEST(Impact, StatesItsOwnBeginning) {
    const Json j = impact_json("newtons-cradle", "--q x1=0 --u-minus x1=1 --closed 1-2,2-3,3-4,4-5");
    EXPECT_NEAR(j["u_plus"]["x1"].get<double>(), -0.6, 1e-9);
    EXPECT_NEAR(j["u_plus"]["x5"].get<double>(), 0.4, 1e-9);
    EXPECT_TRUE(has_kind(j, "no-corner-points"));
    const Json first = impact_json("newtons-cradle", "--number 1");
    EXPECT_EQ(first["u_plus_from"], "of the motion");
    EXPECT_GT(first["t"].get<double>(), 0.2);
    EXPECT_NEAR(first["work"]["given"]["work"].get<double>(), 0.0, 1e-12);
}

TEST(Impact, OfThreeVelocitiesHasAMesh) {
    const test::Folder folder;
    const std::string ball = folder.write("ball.toml", R"([system]
name = "ball in a corner"
q = ["x", "y", "z"]
T = "(x'^2 + y'^2 + z'^2)/2"
[[contact]]
name = "x-wall"
gN = "x"
[[contact]]
name = "y-wall"
gN = "y"
[[contact]]
name = "floor"
gN = "z"
[initial]
u = { x = -1.0, y = -1.0, z = -1.0 }
)");
    const Json j = json_of(run("impact " + ball + " --json"));
    EXPECT_EQ(j["set"]["dimension"], 3);
    EXPECT_EQ(j["set"]["points"].size(), j["set"]["bounds"].size());
    // An eighth of the ball of radius √3.
    EXPECT_NEAR(j["set"]["volume"].get<double>(), std::sqrt(3.0) * std::acos(-1.0) / 2.0, 0.1);
    const Json file = json_of(run("impact " + ball + " --json --out " + folder.file("out")));
    EXPECT_EQ(folder.names(), (std::vector<std::string>{"ball.toml", "out", "out/contents.json", "out/impact.json",
                                                        "out/set-points.csv", "out/set-triangles.csv"}));
}

// --- friction

TEST(Impact, FindsAndExplainsTheEnergyThatUnequalCoefficientsCreate) {
    const Json j = impact_json("rough-double-pendulum");
    const Value expected = entry("leine_impact_double_pendulum_energy_increase")["outputs"];
    EXPECT_FALSE(j["consistent"].get<bool>());
    EXPECT_EQ(j["verdict"], "supplies-energy");
    EXPECT_NEAR(j["work"]["min"].get<double>(), expected["delta_T"], 1e-12);
    EXPECT_NEAR(j["work"]["given"]["Lambda"]["tip"]["N"].get<double>(), expected["Lambda_N"], 1e-10);
    EXPECT_NEAR(j["work"]["given"]["Lambda"]["tip"]["T"][0].get<double>(), expected["Lambda_T"], 1e-10);
    // ½(γ_T⁺ + γ_T⁻) Λ_T
    const Value before = entry("leine_impact_double_pendulum_energy_increase")["inputs"]["gamma_minus"];
    EXPECT_NEAR(j["work"]["given"]["parts"]["tangential"].get<double>(),
                0.5 * (expected["gamma_plus"][1] + before[1]) * expected["Lambda_T"], 1e-7);
    EXPECT_EQ(j["cause"]["contact"], "tip");
    EXPECT_EQ(j["cause"]["law"], "newton, eN = 0.7, eT = 0");
    EXPECT_FALSE(j["newton"]["safe"].get<bool>());
    EXPECT_NEAR(j["newton"]["condition_number"].get<double>(), expected["cond_G"], 1e-9);
    EXPECT_GT(j["newton"]["example"]["energy_created"].get<double>(), 1.0);
    EXPECT_NEAR(j["nearest"]["work"].get<double>(), 0.0, 1e-10);
    // The set of planar friction in two velocities is described, and the nearest velocity lies on its arc.
    EXPECT_EQ(j["set"]["pieces"].size(), 3U);
    const Json equal = impact_json("rough-double-pendulum", "--set eT=0.7");
    EXPECT_TRUE(equal["consistent"].get<bool>());
    EXPECT_NEAR(equal["work"]["min"].get<double>(), entry("leine_impact_double_pendulum_equal_e")["outputs"]["delta_T"],
                1e-12);
    EXPECT_TRUE(equal["newton"]["equal_coefficients"].get<bool>());
}

TEST(Impact, NamesTheCoefficientOfAContactThatDoesNotApproach) {
    const test::Folder folder;
    const std::string incline = folder.write("incline.toml", R"toml(
[system]
name = "incline"
q = ["x", "y"]
T = "(x'^2 + y'^2)/2"
U = "9.81*y"
[[contact]]
name = "slope"
gN = "y*cos(0.3) - x*sin(0.3)"
gammaT = "x'*cos(0.3) + y'*sin(0.3)"
mu = 0.2
eN = 0.3
)toml");
    EXPECT_NE(run("impact " + incline).out.find("newton, eN 0.3, eT 0, mu 0.2"), std::string::npos);
}

// --- refusals

TEST(Impact, RefusesWhatMakesNoSense) {
    const auto refused = [&](const std::string& arguments, const std::string& said) {
        const Outcome r = run("impact " + arguments);
        EXPECT_EQ(r.code, 2) << arguments;
        EXPECT_NE(r.out.find(said), std::string::npos) << arguments << "\nsays\n" << r.out;
    };
    const std::string forklift = model("forklift");
    refused("", "no model is given; write saltus impact MODEL, or --trajectory FILE");
    refused("no-such-file.toml", "no-such-file.toml");
    refused(forklift + " --u-plus z=1", "--u-plus: unknown coordinate 'z'; known are y and phi");
    refused(forklift + " --u-plus ph=1", "did you mean 'phi'?");
    refused(forklift + " --u-plus y", "'y' is not an assignment");
    refused(forklift + " --u-plus y=fast", "'fast' is not a number");
    refused(forklift + " --u-plus y=1,2", "'y' has 2 numbers");
    refused(forklift + " --u-plus y=nan", "'nan' is not a number");
    refused(forklift + " --alpha inf", "alpha is not a finite number");
    refused(forklift + " --Lambda roof=1", "'roof' does not take part in the collision");
    refused(forklift + " --Lambda fork=1,2", "'fork' takes 1 number");
    refused(forklift + " --closed roof", "unknown contact 'roof'");
    refused(forklift + " --event 1", "needs a stored trajectory");
    refused(forklift + " --number 7", "there is no impact 7, the motion has 1 impact");
    refused(forklift + " --number 0", "impacts are counted from 1");
    refused(forklift + " --number 1 --q y=1", "applies to the initial state");
    refused(forklift + " --trajectory no-such-file.h5", "no-such-file.h5");
    refused(model("bouncing-ball"), "no contact is closed at t = 0; start where it touches (--q)");
    refused(model("constrained-beam"), "the model has no contacts");
}

// --- trajectories

class StoredMotion : public ::testing::Test {
protected:
    void SetUp() override {
        if (!io::has_hdf5()) GTEST_SKIP();
    }
    std::string simulated(const std::string& name, const std::string& more = "") {
        const std::string out = folder_.file(name);
        EXPECT_EQ(run("simulate " + model(name) + " --quiet --out " + out + " " + more).code, 0);
        return out + "/trajectory.h5";
    }
    test::Folder folder_;
};

TEST_F(StoredMotion, IsAuditedOnceMoreFromItsModel) {
    const std::string file = simulated("rough-double-pendulum");
    const Json j = json_of(run("impact " + model("rough-double-pendulum") + " --trajectory " + file + " --json"));
    EXPECT_TRUE(j["recomputed"].get<bool>());
    EXPECT_EQ(j["audit"]["creating"], 1);
    EXPECT_NEAR(j["audit"]["energy_created"].get<double>(), created_energy(), 1e-12);
    EXPECT_EQ(j["audit"]["worst"]["contact"], "tip");
    EXPECT_EQ(j["audit"]["worst"]["law"], "newton, eN = 0.7, eT = 0");
    EXPECT_LT(j["audit"]["misfit"].get<double>(), 1e-10);
    EXPECT_EQ(j["impacts"].size(), j["audit"]["impacts"].get<std::size_t>());
    for (const Json& i : j["impacts"])
        EXPECT_NEAR(i["kinetic_energy_change"].get<double>(),
                    i["work"].get<double>() + i["obstacle_work"].get<double>(), 1e-12);
    // What the run found, without the model.
    const Json stored = json_of(run("impact --trajectory " + file + " --json"));
    EXPECT_FALSE(stored["recomputed"].get<bool>());
    EXPECT_EQ(stored["audit"]["creating"], 1);
    EXPECT_NEAR(stored["audit"]["work"].get<double>(), j["audit"]["work"].get<double>(), 1e-12);
    const Outcome text = run("impact --trajectory " + file);
    EXPECT_NE(text.out.find("verdict     1 impact creates energy, 0.0407439 in all"), std::string::npos) << text.out;
    EXPECT_NE(text.out.find("tip (newton, eN = 0.7, eT = 0)"), std::string::npos) << text.out;
}

TEST_F(StoredMotion, WithMovingObstaclesSplitsTheirWorkOff) {
    const std::string file = simulated("ball-on-moving-plane");
    const Json j = json_of(run("impact " + model("ball-on-moving-plane") + " --trajectory " + file + " --json --out " +
                               folder_.file("audit")));
    EXPECT_EQ(j["audit"]["creating"], 0);
    EXPECT_GT(std::abs(j["audit"]["obstacle_work"].get<double>()), 1e-3);
    const std::string csv = test::content_of(folder_.file("audit") + "/audit.csv");
    EXPECT_EQ(csv.substr(0, csv.find('\n')),
              "t,contacts,work,tangential,obstacle_work,kinetic_energy_change,energy_created,energy_prevented,contact,"
              "law");
    EXPECT_EQ(static_cast<std::size_t>(std::count(csv.begin(), csv.end(), '\n')), 1 + j["impacts"].size());
}

TEST_F(StoredMotion, HasSingleImpactsToLookAt) {
    const std::string file = simulated("rocking-block");
    const Json j = json_of(run("impact " + model("rocking-block") + " --trajectory " + file + " --event 2 --json"));
    EXPECT_EQ(j["u_plus_from"], "of the trajectory");
    EXPECT_LT(j["work"]["given"]["misses_u_plus"].get<double>(), 1e-9);
    EXPECT_TRUE(j["consistent"].get<bool>());
    EXPECT_EQ(run("impact " + model("rocking-block") + " --trajectory " + file + " --event 1000").code, 2);
    EXPECT_EQ(run("impact --trajectory " + file + " --event 1").code, 2);
    EXPECT_EQ(run("impact " + model("rocking-block") + " --trajectory " + file + " --u-plus x=1").code, 2);
    const Outcome other = run("impact " + model("rocking-bar") + " --trajectory " + file);
    EXPECT_EQ(other.code, 0) << other.out;  // the same coordinates and contacts
    EXPECT_NE(other.out.find("do not lead to its velocities in this model"), std::string::npos) << other.out;
    const Outcome wrong = run("impact " + model("forklift") + " --trajectory " + file);
    EXPECT_EQ(wrong.code, 2);
    EXPECT_NE(wrong.out.find("give the model that it was computed with"), std::string::npos) << wrong.out;
}

TEST_F(StoredMotion, ByTimeSteppingIsAuditedByItsOwnSteps) {
    const std::string file = simulated("rocking-block", "--method moreau");
    const Json j = json_of(run("impact " + model("rocking-block") + " --trajectory " + file + " --json"));
    EXPECT_FALSE(j["recomputed"].get<bool>());
    EXPECT_EQ(j["audit"]["creating"], 0);
    EXPECT_EQ(run("impact " + model("rocking-block") + " --trajectory " + file + " --event 1").code, 2);
}

// --- simulate

TEST(SimulateEnergy, IsAWarningByNameAndTime) {
    const Json j = json_of(run("simulate " + model("rough-double-pendulum") + " --json"));
    EXPECT_EQ(j["status"], "completed");
    const Json& audit = j["events"][0]["audit"];
    EXPECT_NEAR(audit["energy_created"].get<double>(), created_energy(), 1e-12);
    EXPECT_EQ(audit["contact"], "tip");
    EXPECT_EQ(audit["law"], "newton, eN = 0.7, eT = 0");
    ASSERT_EQ(j["warnings"].size(), 1U);
    EXPECT_EQ(j["warnings"][0].get<std::string>().rfind("the impact at t = 0 creates the energy 0.0407439: tip (", 0),
              0U)
        << j["warnings"][0];
    for (std::size_t k = 1; k < j["events"].size(); ++k)
        if (j["events"][k].contains("audit")) {
            EXPECT_EQ(j["events"][k]["audit"]["energy_created"], 0.0) << k;
        }
}

TEST(SimulateEnergy, StrictEndsTheRunWithWhatThereIs) {
    for (const char* const method : {"event", "moreau"}) {
        const Outcome r =
            run("simulate " + model("rough-double-pendulum") + " --json --strict-energy --method " + method);
        EXPECT_EQ(r.code, 3);
        const Json j = Json::parse(r.out);
        EXPECT_EQ(j["status"], "energy-created");
        EXPECT_EQ(j["events"].size(), 1U);
        EXPECT_LT(j["final"]["t"].get<double>(), 1e-3);
        EXPECT_NE(j["warnings"][0].get<std::string>().find("creates the energy"), std::string::npos);
    }
    EXPECT_EQ(run("simulate " + model("rocking-block") + " --quiet --strict-energy").code, 0);
}

TEST(SimulateEnergy, RepairGoesOnWithTheNearestVelocities) {
    const Json j = json_of(run("simulate " + model("rough-double-pendulum") + " --json --repair-energy"));
    EXPECT_EQ(j["status"], "completed");
    EXPECT_EQ(j["audit"]["creating"], 0);
    EXPECT_NEAR(j["audit"]["energy_prevented"].get<double>(), created_energy(), 1e-12);
    const Json& event = j["events"][0];
    EXPECT_NEAR(event["work"].get<double>(), 0.0, 1e-12);
    EXPECT_NEAR(event["energy_after"].get<double>(), event["energy_before"].get<double>(), 1e-12);
    EXPECT_LT(j["energy"]["balance_error"].get<double>(), 1e-10);
    const Json one = impact_json("rough-double-pendulum");
    for (const char* const x : {"theta1", "theta2"})
        EXPECT_NEAR(event["u_plus"][x].get<double>(), one["nearest"]["u"][x].get<double>(), 1e-10);
    EXPECT_NE(j["warnings"][0].get<std::string>().find("replaced by the nearest that create none"), std::string::npos);
}

TEST(SimulateEnergy, RefusesWhatContradictsItself) {
    const Outcome both = run("simulate " + model("forklift") + " --strict-energy --repair-energy");
    EXPECT_EQ(both.code, 2);
    const Outcome stepped = run("simulate " + model("forklift") + " --repair-energy --method moreau");
    EXPECT_EQ(stepped.code, 2);
    EXPECT_NE(
        stepped.out.find("needs located impacts, which time-stepping does not have; simulate with --method event"),
        std::string::npos)
        << stepped.out;
}

}  // namespace
}  // namespace saltus::impact_test
