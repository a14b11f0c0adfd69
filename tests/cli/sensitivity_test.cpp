// SPDX-License-Identifier: Apache-2.0
//
// `saltus sensitivity` as a person runs it: derivatives, perturbed pairs, studies, refusals.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "process.hpp"
#include "reference/reference.hpp"
#include "support.hpp"

namespace saltus::sensitivity_test {
namespace {

using namespace saltus::test;
using Json = nlohmann::ordered_json;

using test::Outcome;

Outcome run(const std::string& arguments) { return test::command("sensitivity " + arguments); }

std::string shipped(const std::string& name) { return std::string(SALTUS_SOURCE_DIR) + "/models/" + name + ".toml"; }

Json json_of(const std::string& arguments) {
    const Outcome r = run(arguments + " --json");
    EXPECT_EQ(r.code, 0) << r.out;
    const Json j = Json::parse(r.out, nullptr, false);
    EXPECT_FALSE(j.is_discarded()) << r.out;
    return j;
}

/// A bead pressed along a line onto a wall that moves, alscher.json C1 with θ = a cos(b t).
const std::string bead = R"toml(
[system]
name = "bead"
q = ["x", "y"]
T = "m/2*(x'^2 + y'^2)"
f = { x = "-F" }
[parameters]
m = 1.0
beta = 0.5
F = 3.0
a = 0.01
b = 5.0
[[constraint]]
name = "line"
g = "y - beta*x"
[[contact]]
name = "wall"
gN = "x"
[initial]
q = { x = 1, y = "beta" }
u = { x = -2, y = "-2*beta" }
[perturbation]
theta = { wall = "a*cos(b*t)" }
[simulate]
t_end = 0.8
)toml";

TEST(SensitivityCommand, PrintsDerivativesThatDifferencesConfirm) {
    const Json j = json_of(shipped("bouncing-ball") + " --wrt \"y,y',e,g\" --t-end 1.5 --check --output y");
    EXPECT_EQ(j["with_respect_to"], Json({"y", "y'", "e", "g"}));
    const double g = 9.81, t1 = std::sqrt(2.0 / g), e = 0.8;
    const Json& first = j["events"][0];
    EXPECT_EQ(first["kind"], "impact");
    EXPECT_EQ(first["contacts"], Json({"floor"}));
    EXPECT_NEAR(first["t"].get<double>(), t1, 1e-12);
    EXPECT_NEAR(first["dt"]["y"].get<double>(), t1 / 2.0, 1e-10);
    EXPECT_NEAR(first["dt"]["g"].get<double>(), -t1 / (2.0 * g), 1e-10);
    EXPECT_NEAR(first["saltation"][0][0].get<double>(), -e, 1e-12);
    EXPECT_NEAR(first["saltation"][1][0].get<double>(), (1.0 + e) / t1, 1e-9);
    EXPECT_GT(first["transversality"].get<double>(), 0.1);
    EXPECT_LT(j["finite_difference"]["max_relative_error"].get<double>(), 1e-6);
    EXPECT_NEAR(j["final"]["q"]["y"]["e"].get<double>(), j["output"]["derivative"]["e"].get<double>(), 1e-14);
    const Json adjoint = json_of(shipped("bouncing-ball") + " --wrt e,g --t-end 1.5 --output y --adjoint");
    for (const char* name : {"e", "g"})
        EXPECT_NEAR(adjoint["output"]["derivative"][name].get<double>(), j["output"]["derivative"][name].get<double>(),
                    1e-10);
}

/// The jam of the rod at the start has no time that could vary: its cells stay empty.
TEST(SensitivityCommand, LeavesCellsWithoutAValueEmpty) {
    const test::Folder folder;
    const std::string rod = std::string(SALTUS_SOURCE_DIR) + "/models/painleve-rod.toml";
    EXPECT_EQ(test::shell(std::string(SALTUS_EXE) + " sensitivity " + rod + " --t-end 0.001 --wrt m --quiet --out run",
                          folder.path())
                  .code,
              0);
    const std::string csv = test::content_of(folder.path() / "run" / "event-times.csv");
    EXPECT_NE(csv.find("\n0,painleve,tip,,"), std::string::npos) << csv;
}

/// With the command's own tolerances, over many changes between sticking and slipping.
TEST(SensitivityCommand, StickAndSlipAgreeWithDifferencesToTheEnd) {
    const Json j = json_of(shipped("friction-oscillator") + " --check");
    EXPECT_GE(j["events"].size(), 8U);
    EXPECT_LT(j["finite_difference"]["max_relative_error"].get<double>(), 1e-6);
}

TEST(SensitivityCommand, ComparesThePerturbedPairWithItsTheorem) {
    const Folder folder;
    const std::string file = folder.write("bead.toml", bead);
    const Json j = json_of(file + " --out " + folder.file("run"));
    const Json& pair = j["pair"];
    EXPECT_NEAR(pair["c_bar"][0].get<double>(), test::reference::file("alscher")["analytic"]["C1"]["cbar"], 1e-10);
    // ĉ is the root of x = θ
    const double c = pair["c_hat"][0].get<double>();
    EXPECT_NEAR(1.0 - 2.0 * c - 3.0 / 1.25 * c * c / 2.0, 0.01 * std::cos(5.0 * c), 1e-10);
    EXPECT_EQ(pair["theorem"], "3.3");
    ASSERT_FALSE(pair["hypotheses"].empty());
    for (const Json& h : pair["hypotheses"]) EXPECT_TRUE(h["holds"].get<bool>()) << h;
    EXPECT_GT(pair["bound_constant"].get<double>(), 1.0);
    EXPECT_LT(pair["bound_constant"].get<double>(), 2.0);
    ASSERT_EQ(pair["error"].size(), pair["bound"].size());
    for (std::size_t k = 0; k < pair["error"].size(); ++k)
        EXPECT_LE(pair["error"][k].get<double>(),
                  pair["bound_constant"].get<double>() * (pair["bound"][k].get<double>() * (1.0 + 1e-12)) + 1e-7);
    const double t = pair["bound_time"].get<double>();
    EXPECT_GE(t, 0.402);
    EXPECT_LE(t, 0.8);
    EXPECT_EQ(folder.names(),
              (std::vector<std::string>{"bead.toml", "run", "run/contents.json", "run/derivatives.csv",
                                        "run/event-times.csv", "run/pair.csv", "run/sensitivity.json"}));
    const std::string csv = content_of(folder.path() / "run" / "pair.csv");
    EXPECT_EQ(csv.substr(0, 22), "t,piece,region,error,b");
    EXPECT_NE(csv.find("nominal x,nominal y,nominal x',nominal y',perturbed x"), std::string::npos);
    // friction, or a body that strikes again: no theorem
    const Outcome elastic = run(shipped("bouncing-ball") + " --wrt e --t-end 1");
    EXPECT_EQ(elastic.code, 0);
    EXPECT_NE(elastic.out.find("no theorem applies: Theorem 3.3 needs (18) inelastic"), std::string::npos)
        << elastic.out;
}

/// The text has the numbers of the document, and the terms of the bound at c_min are those of θ = a cos(b t).
TEST(SensitivityCommand, TellsThePerturbedPairAsTextWithTheNumbersOfTheDocument) {
    const Folder folder;
    const std::string file = folder.write("bead.toml", bead);
    const Outcome r = run(file);
    ASSERT_EQ(r.code, 0) << r.err;
    const Json pair = json_of(file)["pair"];
    const double c_bar = pair["c_bar"][0], c_hat = pair["c_hat"][0];
    const auto printed = [](const char* format, auto... numbers) {
        char text[256];
        std::snprintf(text, sizeof text, format, numbers...);
        return std::string(text);
    };
    const std::string bar = printed("%.12g", c_bar), hat = printed("%.12g", c_hat);
    const double theta = 0.01 * std::cos(5.0 * c_bar), theta_rate = 0.05 * std::sin(5.0 * c_bar);
    const std::string lines[] = {
        "bead: nominal and perturbed motion\n",
        printed("    impact          %18s %18s\n", bar.c_str(), hat.c_str()),
        "  t = 0 to 0.8: collision of wall, nominal " + bar + ", perturbed " + hat + "\n    Theorem 3.3 applies\n",
        "    critical interval [" + bar + ", " + hat + printed("], width %.3e;", c_hat - c_bar),
        printed("event time: |c_hat - c_bar| = %.4e <= C * %.4e, C >= %.4g\n", c_hat - c_bar, std::abs(theta),
                (c_hat - c_bar) / std::abs(theta)),
        printed("    |theta_p(c_min)|            0.0000e+00    %.4e    %.4e", std::abs(theta), std::abs(theta)),
        printed("    |theta_p'(c_min)|           0.0000e+00    0.0000e+00    %.4e", std::abs(theta_rate)),
        printed("    observed constant C = %.6g at t = %.8g", pair["bound_constant"].get<double>(),
                pair["bound_time"].get<double>()),
        printed("\n  verdict: theorem 3.3, observed constant %.6g\n", pair["bound_constant"].get<double>())};
    for (const std::string& line : lines) EXPECT_NE(r.out.find(line), std::string::npos) << line << "\n" << r.out;
    for (const Json& h : pair["hypotheses"])
        EXPECT_NE(r.out.find("      holds " + h["name"].get<std::string>() + " "), std::string::npos) << h;
    EXPECT_EQ(r.out.find("FAILS"), std::string::npos);
}

TEST(SensitivityCommand, StudiesEventTimesOverParameters) {
    const Folder folder;
    // θ = 0 at the nominal collision (alscher.json, C1, cbar) for every b, so its impulse depends on θ̇ = ab alone.
    const std::string file =
        folder.write("bead.toml", replaced(bead, "\"a*cos(b*t)\"", "\"a*sin(b*(t - 0.402699747849))\""));
    const std::string vary = file + " --vary a=1e-7:1e-5:3:log --vary b=20:80:3";
    const Json j = json_of(vary + " --threads 1 --out " + folder.file("run"));
    EXPECT_FALSE(j.contains("final"));
    const Json& study = j["study"];
    EXPECT_EQ(study["runs"].size(), 9U);
    EXPECT_EQ(study["vary"]["b"], Json({20.0, 50.0, 80.0}));
    const Json& fits = study["events"][0]["fits"];
    ASSERT_EQ(fits.size(), 2U);
    EXPECT_EQ(fits[1]["quantity"], "impulse");
    EXPECT_NEAR(fits[1]["exponents"]["a"].get<double>(), 1.0, 1e-3);
    EXPECT_NEAR(fits[1]["exponents"]["b"].get<double>(), 1.0, 1e-3);
    EXPECT_EQ(fits[1]["at_event"]["feels"], "|theta'|");
    EXPECT_EQ(json_of(vary + " --threads 3"), j);
    EXPECT_EQ(folder.names(), (std::vector<std::string>{"bead.toml", "run", "run/contents.json", "run/event-study.csv",
                                                        "run/pair-study.csv", "run/sensitivity.json"}));
    EXPECT_TRUE(json_of(vary + " --wrt F").contains("pair"));
    const Outcome page = test::command("report " + folder.file("run") + " -o " + folder.file("page.html"));
    EXPECT_EQ(page.code, 0) << page.out;
}

/// Dry friction by sign(x'), to tolerances that let the motion stay in its jump.
TEST(SensitivityCommand, AMotionInAJumpHasNone) {
    const Folder folder;
    const std::string file = folder.write("sign.toml",
                                          "[system]\nname = \"rub\"\nq = [\"x\"]\nT = \"x'^2/2\"\nf = { x = "
                                          "\"-x - 2*sign(x')\" }\n[initial]\nq = { x = 2.5 }\n");
    const Outcome r = run(file + " --t-end 10 --rtol 1e-4 --atol 1e-4");
    EXPECT_EQ(r.code, 3) << r.out;
    EXPECT_NE(r.out.find("an expression jumps here"), std::string::npos) << r.out;
}

TEST(SensitivityCommand, RefusesWhatItCannotDo) {
    const Folder folder;
    const std::string file = folder.write("bead.toml", bead);
    const auto refused = [&](const std::string& more, const std::string& words) {
        const Outcome r = run(file + " " + more + " --out " + folder.file("run"));
        EXPECT_EQ(r.code, 2) << more << "\n" << r.out;
        EXPECT_NE(r.out.find(words), std::string::npos) << more << "\n" << r.out;
    };
    refused("--wrt bet", "unknown name 'bet'; did you mean 'beta'?");
    refused("--wrt ,", "contains no name");
    refused("--output ''", "--output: has an empty value");
    refused("--output ' '", "--output: is empty");
    refused("--output 'x+'", "--output");
    refused("--adjoint", "needs an output");
    refused("--method moreau", "time-stepping does not locate its events");
    refused("--method penalty", "without a stiffness");
    refused("--t-end -1", "must be a number > 0");
    refused("--vary a", "does not say what to vary");
    refused("--vary a=1:2", "is not a range");
    refused("--vary a=1:2:0", "whole number");
    refused("--vary A=1:2:3", "did you mean 'a'?");
    refused("--vary x=1:2:3", "is an initial value");
    refused("--vary a=1:2:3 --vary a=1,2", "is given twice");
    refused("--vary a=1:2:3 --set a=1", "both set and varied");
    refused("--vary m=1,-1", "with m = -1");
    EXPECT_EQ(folder.names(), (std::vector<std::string>{"bead.toml"}));
}

}  // namespace
}  // namespace saltus::sensitivity_test
