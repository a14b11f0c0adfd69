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

/// A disk on a turntable stops slipping. The derivatives of the time were wrong by 6e-5 of the largest one.
TEST(RestDerivatives, TheTimeAtWhichSlipOnATurntableComesToRest) {
    const Model block = from_text(R"toml(
[system]
q = ["x", "y"]
T = "1.975*(x'^2 + y'^2)/2"
U = "0.959*x + 2.319*(y + 0.414)^2 + 0.176*x*y"
R = "0.662*x'^2"
[[slider]]
name = "table"
gammaT = ["x' - 0.633*(y - 0.077)", "y' + 0.633*(x + 0.391)"]
mu = 0.554
FN = 3.936
[initial]
q = { x = 0.46, y = -0.039 }
u = { x = -1.02, y = -0.742 }
)toml");
    const Sensitivity s = derivatives(block, {"x", "x'", "y", "y'"}, 0.981);
    ASSERT_EQ(s.events.size(), 1U);
    // Central differences of whole motions, extrapolated; their uncertainty is 1.5e-7 of the largest.
    const std::vector<double> by_differences = {-0.44889094, -0.46635506, 1.20059462, -0.04413285};
    for (std::size_t j = 0; j < by_differences.size(); ++j)
        EXPECT_NEAR(s.events[0].dt[j], by_differences[j], 2e-7) << j;
}

/// Slip with two coefficients of friction passes rest at 2.6e-6 m/s. Steps that took several recorded steps together
/// gave 0.1170 to 0.1182, depending on the tolerance.
TEST(RestDerivatives, AfterSlipThatPassesNearRestDoNotDependOnTheTolerance) {
    const Model plates = from_text(R"toml(
[system]
q = ["x", "y"]
T = "1.184*(x'^2 + y'^2)/2"
U = "3.209*x^2"
R = "0.341*y'^2"
f = { x = "7.997*sin(8.974*t) - 4.401*t - 4.425", y = "0.117*cos(8.308*t)" }
[[slider]]
name = "plates"
gammaT = ["x'", "y'"]
mu = [0.413, 0.71]
FN = "abs(1.665*cos(1.416*t) + 4.409)"
[initial]
u = { x = -0.914 }
)toml");
    for (const double rtol : {1e-10, 1e-11, 1e-12}) {
        sensitivity::Options options;
        options.t_end = 1.719;
        options.method = EventDriven{.rtol = rtol, .atol = 1e-3 * rtol};
        const Sensitivity s = sensitivity::sensitivity(plates, sensitivity::variables(plates, {"x"}), options);
        EXPECT_NEAR(s.final(2, 0), 0.1169082, 2e-6) << rtol;
    }
}

/// A block at rest is pulled away. A velocity across the pull turns its first slip: its effect is of the order of
/// v log v.
TEST(RestDerivatives, OfSlipInAPlaneThatBeginsAtTheStart) {
    const Model block = from_text(R"toml(
[system]
q = ["x", "y"]
T = "(x'^2 + y'^2)/2"
U = "-5*x"
[[slider]]
name = "floor"
gammaT = ["x'", "y'"]
mu = 0.3
FN = 10
)toml");
    const Sensitivity s = derivatives(block, {"x", "x'", "y", "y'"}, 1.0);
    EXPECT_TRUE(s.final.col(3).hasNaN());
    EXPECT_NEAR(s.final(0, 0), 1.0, 1e-9);
    EXPECT_NEAR(s.final(0, 1), 1.0, 1e-9);
    EXPECT_NEAR(s.final(1, 2), 1.0, 1e-9);
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
