// SPDX-License-Identifier: Apache-2.0
//
// Derivatives of motions that come to rest, with a far end.
#include "sensitivity/derivatives.hpp"

namespace saltus::rest_test {
namespace {

using namespace saltus::test;

Sensitivity gradient(const Model& model, const std::vector<std::string>& wrt, const std::string& output, double t_end) {
    sensitivity::Options options;
    options.t_end = t_end;
    options.output = output;
    options.adjoint = true;
    return sensitivity::sensitivity(model, sensitivity::variables(model, wrt), options);
}

TEST(RestDerivatives, OfABallOnTheFloorAreZero) {
    const Model ball = from_text(R"toml(
[system]
q = ["y"]
T = "y'^2/2"
U = "g*y"
[parameters]
g = 9.81
e = 0.8
[[contact]]
name = "floor"
gN = "y"
eN = "e"
[initial]
q = { y = 1.0 }
)toml");
    for (const double t_end : {1e6, 1e300}) {
        const Sensitivity s = derivatives(ball, {"y", "g", "e"}, t_end);
        EXPECT_LE(s.final.row(0).norm(), 1e-16) << t_end;  // rounding of derivatives of the size 1 before
        EXPECT_EQ(s.final.row(1).norm(), 0.0) << t_end;
        EXPECT_NEAR(s.events.front().dt[0], 1.0 / std::sqrt(2.0 * 9.81), 1e-12);
    }
}

/// A block that slips on a floor until it stops, at x = v²/(2 μ g).
Model slipping_block() {
    return from_text(R"toml(
[system]
q = ["x", "y"]
T = "(x'^2 + y'^2)/2"
U = "10*y"
[parameters]
mu = 0.2
h = 0.0
[[contact]]
name = "floor"
gN = "y - h"
gammaT = "x'"
mu = "mu"
eN = 0.0
[initial]
q = { y = "h" }
u = { x = 2.0 }
)toml");
}

TEST(RestDerivatives, OfABlockThatHasStoppedAreConstant) {
    const double v = 2.0, mu = 0.2, g = 10.0;
    for (const double t_end : {2.0, 1e6, 1e300}) {
        for (const auto& wrt : {std::vector<std::string>{"x'", "mu"}, std::vector<std::string>{"x'", "mu", "x"}}) {
            const Sensitivity s = derivatives(slipping_block(), wrt, t_end);
            EXPECT_NEAR(s.final(0, 0), v / (mu * g), 1e-9) << t_end;
            EXPECT_NEAR(s.final(0, 1), -v * v / (2.0 * mu * mu * g), 1e-9) << t_end;
            EXPECT_EQ(s.final.bottomRows(2).norm(), 0.0) << t_end;
        }
        const Sensitivity back = gradient(slipping_block(), {"x'", "mu"}, "x + 3*x'", t_end);
        ASSERT_EQ(back.output_derivative.size(), 2U);
        EXPECT_NEAR(back.output_derivative[0], v / (mu * g), 1e-9) << t_end;
        EXPECT_NEAR(back.output_derivative[1], -v * v / (2.0 * mu * mu * g), 1e-9) << t_end;
    }
}

TEST(RestDerivatives, AfterSlipInAPlaneCameToRestHaveAWarning) {
    // A block slips on a floor, in the plane or along a line, and stops after |v|/(mu g).
    const auto warnings_of = [](const std::string& slip) {
        const Model block =
            from_text("[system]\nq = [\"x\", \"y\", \"z\"]\nT = \"(x'^2 + y'^2 + z'^2)/2\"\nU = \"10*z\"\n" +
                      std::string("[[contact]]\nname = \"floor\"\ngN = \"z\"\ngammaT = ") + slip +
                      "\nmu = 0.3\n[initial]\nu = { x = 1.0 }\n");
        return derivatives(block, {"x'"}, 1.0).motion.warnings;
    };
    const std::vector<std::string> in_plane = warnings_of("[\"x'\", \"y'\"]");
    ASSERT_EQ(in_plane.size(), 1u);
    EXPECT_NE(in_plane[0].find("slip in a plane comes to rest at t = 0.333"), std::string::npos) << in_plane[0];
    EXPECT_TRUE(warnings_of("\"x'\"").empty());
}

TEST(RestDerivatives, OfAFreeParticleGrowWithTheTime) {
    const Model particle = from_text("[system]\nq = [\"x\"]\nT = \"x'^2/2\"\n[initial]\nu = { x = 2.0 }\n");
    const Sensitivity s = derivatives(particle, {"x", "x'"}, 1e6);
    EXPECT_NEAR(s.final(0, 1), 1e6, 1e-6);
    EXPECT_NEAR(s.final(0, 0), 1.0, 1e-12);
}

TEST(RestDerivatives, ByTheSpeedOfABeltThatStandsGrowWithTheTime) {
    const Model block = from_text(R"toml(
[system]
q = ["x", "y"]
T = "(x'^2 + y'^2)/2"
U = "10*y"
[parameters]
v = 0.0
[[contact]]
name = "belt"
gN = "y"
gammaT = "x' - v"
mu = 0.2
eN = 0.0
[initial]
u = { x = 0.5 }
)toml");
    // The block slips for (0.5 − v)/2 s, with the mean speed (0.5 + v)/2, and then moves with the belt:
    // x = (0.25 − v²)/4 + v (t − (0.5 − v)/2), so that ∂x/∂v = t − 0.25 at v = 0.
    const Sensitivity s = derivatives(block, {"v"}, 100.0);
    EXPECT_NEAR(s.final(0, 0), 99.75, 1e-9);
    EXPECT_NEAR(s.final(2, 0), 1.0, 1e-12);
}

}  // namespace
}  // namespace saltus::rest_test
