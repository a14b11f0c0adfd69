// SPDX-License-Identifier: Apache-2.0
#include "sensitivity/derivatives.hpp"

namespace saltus::nonholonomic_test {
namespace {

using namespace saltus::test;

/// The largest relative difference between exact derivatives and differences of whole motions.
double error_of(const model::Description& description, const std::vector<std::string>& wrt, double t_end,
                const integrate::Method& method = EventDriven{}) {
    const Model m = built(description);
    sensitivity::Options options;
    options.t_end = t_end;
    options.method = method;
    const Sensitivity s = sensitivity::sensitivity(m, sensitivity::variables(m, wrt), options);
    EXPECT_TRUE(s.available) << s.reason;
    EXPECT_TRUE(s.remarks.empty()) << remarks(s);
    const Differences d = sensitivity::differences(description, {}, s, options);
    double worst = 0.0;
    for (const auto& v : d.variables) {
        EXPECT_TRUE(v.possible) << v.why_not;
        worst = std::max(worst, v.error);
    }
    return worst;
}

// --- velocity constraints
// ----------------------------------------------------------------------------------------------

// y = (g sin a/(2 w²)) (w t − sin(2 w t)/2) of the knife edge on an incline, differentiated by a.
TEST(NonholonomicSensitivity, ADerivativeOfTheKnifeEdgeHasItsClosedForm) {
    const double t = 2.3, w = 2.0, c = 9.81 * std::cos(0.2) / (2.0 * w * w);
    const Sensitivity s = derivatives(shipped("knife-edge"), {"a"}, t);
    EXPECT_TRUE(matches(s.final(0, 0), c * std::sin(w * t) * std::sin(w * t), 1e-9));
    EXPECT_TRUE(matches(s.final(1, 0), c * (w * t - 0.5 * std::sin(2.0 * w * t)), 1e-9));
}

TEST(NonholonomicSensitivity, DerivativesAgreeWithDifferences) {
    EXPECT_LE(error_of(description_of("knife-edge"), {"x", "y", "phi'", "m", "J", "g", "a", "w"}, 2.0), 1e-6);
    EXPECT_LE(error_of(description_of("chaplygin-sleigh"), {"x", "phi", "phi'", "m", "J", "a", "w0"}, 2.0), 1e-6);
    EXPECT_LE(error_of(description_of("rolling-disk"), {"x", "m", "r", "g", "w", "th0"}, 1.0), 1e-6);
}

TEST(NonholonomicSensitivity, DerivativesPassAnImpactOfABlade) {
    const model::Description blade = io::parse_model(R"toml(
[system]
q = ["x", "y", "phi"]
T = "m/2*(x'^2 + y'^2) + J/2*phi'^2"
[parameters]
m = 2.0
J = 0.3
v = 1.5
w = 0.4
e = 0.5
a = 0.3
[[constraint]]
name = "edge"
gamma = "x'*sin(phi) - y'*cos(phi)"
[[contact]]
name = "wall"
gN = "1 - x"
eN = "e"
[penalty]
k = 1e4
[initial]
q = { phi = "a" }
u = { x = "v*cos(a)", y = "v*sin(a)", phi = "w" }
)toml",
                                                     "blade");
    EXPECT_LE(error_of(blade, {"x", "y", "m", "J", "v", "w", "e", "a"}, 2.0), 1e-6);
    EXPECT_LE(error_of(blade, {"m", "J", "v", "w", "a"}, 2.0, Penalty{}), 1e-5);
}

// A variation of one velocity alone would move the blade across itself. A variation of a position violates nothing.
TEST(NonholonomicSensitivity, AVelocityThatTheConstraintForbidsHasNoDerivative) {
    const Sensitivity s = derivatives(shipped("knife-edge", {{"w", 2.0}}), {"y'", "y"}, 1.0);
    ASSERT_FALSE(s.remarks.empty());
    EXPECT_EQ(s.remarks[0].variable, "y'");
    EXPECT_NE(s.remarks[0].text.find("the constraint 'edge' does not allow it to vary alone"), std::string::npos);
    EXPECT_TRUE(s.final.col(0).hasNaN());
    EXPECT_TRUE(matches(s.final(1, 1), 1.0, 1e-12));
}

// --- contacts with a condition
// -------------------------------------------------------------------------------------------

// The particle leaves the table at t = 1/v: δt = −1/v² δv. At T its height is −g (T − 1/v)²/2, so ∂y/∂v = −g (T −
// 1/v)/v².
TEST(ConditionalSensitivity, TheTimeAndTheMotionAfterATableEdgeHaveTheirClosedForms) {
    const double v = 2.0, T = 0.8;
    const Sensitivity s = derivatives(shipped("table-edge"), {"v"}, T);
    ASSERT_EQ(s.motion.events.size(), 2U) << story(s.motion);  // the end of the table, and the lift-off there
    EXPECT_TRUE(matches(s.events[0].dt[0], -1.0 / (v * v), 1e-10));
    EXPECT_TRUE(matches(s.final(1, 0), -9.81 * (T - 1.0 / v) / (v * v), 1e-9)) << remarks(s);
}

TEST(ConditionalSensitivity, DerivativesAgreeWithDifferences) {
    EXPECT_LE(error_of(description_of("table-edge"), {"x", "v", "g", "m", "e"}, 1.2), 1e-6);
    const model::Description platform = io::parse_model(R"toml(
[system]
q = ["y"]
T = "m*y'^2/2"
U = "m*g*y"
[parameters]
m = 1.5
g = 9.81
v = 6.0
e = 0.7
[[contact]]
name = "platform"
gN = "y - 1"
eN = "e"
if = "y' < 0.1"
[initial]
u = { y = "v" }
)toml",
                                                        "platform");
    EXPECT_LE(error_of(platform, {"y", "y'", "g", "v", "e"}, 1.6), 1e-6);
}

TEST(ConditionalSensitivity, AContactThatAppearsClosedHasDerivativesThatKeepItClosed) {
    const model::Description tables = io::parse_model(R"toml(
[system]
q = ["x", "y"]
T = "(x'^2 + y'^2)/2"
U = "g*y"
[parameters]
g = 9.81
v = 2.0
mu = 0.5
[[contact]]
name = "ice"
gN = "y"
eN = 0
if = "x < 1"
[[contact]]
name = "rough"
gN = "y"
gammaT = "x'"
mu = "mu"
eN = 0
if = "x > 1"
[initial]
u = { x = "v" }
)toml",
                                                      "tables");
    EXPECT_LE(error_of(tables, {"x", "v", "g", "mu"}, 1.1), 1e-6);
}

}  // namespace
}  // namespace saltus::nonholonomic_test
