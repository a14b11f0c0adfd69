// SPDX-License-Identifier: Apache-2.0
#include "saltus/sensitivity/saltation/detail/saltation.hpp"

#include "sensitivity/recorded.hpp"

namespace saltus::saltation_test {
namespace {

using namespace saltus::test;
using sensitivity::Saltation;
using sensitivity::Tangent;

/// Derivatives at an event are algebraic functions of the recorded state: only rounding is allowed.
constexpr double close = 1e-12;

Saltation saltation_of(const Recorded& r, Tangent& tangent, std::size_t change) {
    return sensitivity::saltation(tangent, r.change(change), &r.piece_before(change));
}

TEST(Saltation, OfABallOnAMovingFloorIsTheClosedForm) {
    const Recorded r(R"toml(
[system]
q = ["y"]
T = "y'^2/2"
U = "g*y"
[parameters]
g = 9.81
e = 0.7
a = 0.1
w = 3.0
[[contact]]
name = "floor"
gN = "y - a*sin(w*t)"
eN = "e"
[initial]
q = { y = 1.0 }
u = { y = 0.5 }
)toml",
                     0.7);
    Tangent x = r.tangent({"y", "g", "e", "a"});
    const Saltation s = saltation_of(r, x, 0);
    ASSERT_TRUE(s.exists) << s.why_not;
    ASSERT_EQ(s.events.size(), 1U);
    const double g = 9.81, e = 0.7, a = 0.1, w = 3.0, t = r.change(0).t, u = r.change(0).before[1];
    const double floor_velocity = a * w * std::cos(w * t), floor_acceleration = -a * w * w * std::sin(w * t);

    // s = y − a sin(wt), ṡ = u⁻ − v_floor < 0
    const double rate = u - floor_velocity;
    ASSERT_LT(rate, 0.0);
    EXPECT_NEAR(s.events[0].rate, rate, close * std::abs(rate));
    EXPECT_NEAR(s.events[0].s(0), -floor_velocity, close);
    EXPECT_NEAR(s.events[0].s(1), 1.0, close);
    EXPECT_NEAR(s.events[0].s(2), 0.0, close);
    EXPECT_NEAR(s.events[0].s(column(x, r.model, "a")), -std::sin(w * t), close);

    // R: u⁺ = −e u⁻ + (1 + e) v_floor(t)
    EXPECT_NEAR(s.map(1, 0), (1.0 + e) * floor_acceleration, close);
    EXPECT_NEAR(s.map(1, 2), -e, close);
    EXPECT_NEAR(s.map(1, column(x, r.model, "e")), floor_velocity - u, 1e-11);
    EXPECT_NEAR(s.map(1, column(x, r.model, "a")), (1.0 + e) * w * std::cos(w * t), close);
    EXPECT_NEAR(s.map(1, column(x, r.model, "g")), 0.0, close);

    // drift = R_x f⁻ + R_t − f⁺ with f = (u, −g)
    const double u_plus = -e * u + (1.0 + e) * floor_velocity;
    EXPECT_NEAR(s.drift(0), u - u_plus, 1e-11);
    EXPECT_NEAR(s.drift(1), (1.0 + e) * (g + floor_acceleration), 1e-11);
    EXPECT_FALSE(s.smooth);

    Matrix expected(2, 2);
    expected << -e, 0.0, -(1.0 + e) * (g + floor_acceleration) / rate, -e;
    expect_matrix(saltation_matrix(s, 1), expected, close, "saltation matrix");

    // A ball that starts higher by δy falls later, and is then at the same time δx⁺ = Ξ (δy, 0).
    Eigen::RowVectorXd direction = Eigen::RowVectorXd::Zero(x.columns());
    direction(1) = 1.0;
    const double dt = -1.0 / rate;
    EXPECT_GT(dt, 0.0);
    expect_matrix(sensitivity::passed(s, direction, dt), expected.col(0), close, "direction of y");
}

TEST(Saltation, OfALiftOffIsTheIdentityAndItsTimeFollowsTheForce) {
    // λ = g − c t: lift-off at g/c. x moves freely, so that the field is not zero.
    const Recorded r(R"toml(
[system]
q = ["y", "x"]
T = "y'^2/2 + x'^2/2"
U = "g*y"
f = { y = "c*t" }
[parameters]
g = 2.0
c = 4.0
[[contact]]
name = "floor"
gN = "y"
[initial]
q = { y = 0.0 }
u = { x = 1.0 }
)toml",
                     1.0);
    Tangent x = r.tangent({"g", "c"});
    const Saltation s = saltation_of(r, x, 0);
    ASSERT_TRUE(s.exists) << s.why_not;
    ASSERT_EQ(s.events.size(), 1U);
    EXPECT_NEAR(r.change(0).t, 0.5, 1e-9);
    EXPECT_TRUE(s.smooth);
    expect_matrix(s.map, x.state_identity(), close, "reset");
    EXPECT_NEAR(s.events[0].rate, -4.0, close);
    EXPECT_NEAR(s.events[0].s(column(x, r.model, "g")), 1.0, close);
    EXPECT_NEAR(s.events[0].s(column(x, r.model, "c")), -r.change(0).t, close);
}

TEST(Saltation, OfStickToSlipFollowsTheForceAndChangesNothing) {
    // |c t| = μ F: s = μ F − c t. y moves freely, so that the field is not zero.
    const Recorded r(R"toml(
[system]
q = ["x", "y"]
T = "x'^2/2 + y'^2/2"
f = { x = "c*t" }
[parameters]
c = 2.0
mu = 0.5
F = 3.0
[[slider]]
name = "table"
gammaT = "x'"
mu = "mu"
FN = "F"
[initial]
q = { x = 0.0 }
u = { y = 1.0 }
)toml",
                     1.0);
    Tangent x = r.tangent({"c", "mu", "F"});
    const Saltation s = saltation_of(r, x, 0);
    ASSERT_TRUE(s.exists) << s.why_not;
    EXPECT_NEAR(r.change(0).t, 0.75, 1e-9);
    EXPECT_TRUE(s.smooth);
    expect_matrix(s.map, x.state_identity(), close, "reset");
    ASSERT_EQ(s.events.size(), 1U);
    const sensitivity::EventCondition& c = s.events[0];
    EXPECT_NEAR(c.rate, -2.0, close);
    EXPECT_NEAR(c.s(column(x, r.model, "mu")), 3.0, close);
    EXPECT_NEAR(c.s(column(x, r.model, "F")), 0.5, close);
    EXPECT_NEAR(c.s(column(x, r.model, "c")), -r.change(0).t, close);
}

TEST(Saltation, OfOrthotropicFrictionThatBreaksLooseHasTheTimeOfTheEllipse) {
    // (c t cos/μ₁)² + (c t sin/μ₂)² = F²: t = (F/c)/√(cos²/μ₁² + sin²/μ₂²)
    const Recorded r(R"toml(
[system]
q = ["x", "y"]
T = "(x'^2 + y'^2)/2"
f = { x = "c*t*cos(alpha)", y = "c*t*sin(alpha)" }
[parameters]
c = 2.0
alpha = 0.6
mu1 = 0.5
mu2 = 0.3
F = 3.0
[[slider]]
name = "table"
gammaT = ["x'", "y'"]
mu = ["mu1", "mu2"]
FN = "F"
[initial]
q = { x = 0.0, y = 0.0 }
)toml",
                     0.6);
    Tangent x = r.tangent({"c", "alpha", "mu1", "mu2", "F"});
    const Saltation s = saltation_of(r, x, 0);
    ASSERT_TRUE(s.exists) << s.why_not;
    ASSERT_EQ(s.events.size(), 1U);
    const double C = std::cos(0.6), S = std::sin(0.6), m1 = 0.5, m2 = 0.3;
    const double root = std::sqrt(C * C / (m1 * m1) + S * S / (m2 * m2)), t = 1.5 / root;
    EXPECT_NEAR(r.change(0).t, t, 1e-9);
    const auto dt = [&](const std::string& name) {
        return -s.events[0].s(column(x, r.model, name)) / s.events[0].rate;
    };
    const double tight = 1e-9;  // the event is located to the tolerance of the motion
    EXPECT_NEAR(dt("F"), t / 3.0, tight);
    EXPECT_NEAR(dt("c"), -t / 2.0, tight);
    EXPECT_NEAR(dt("mu1"), t / (root * root) * C * C / (m1 * m1 * m1), tight);
    EXPECT_NEAR(dt("mu2"), t / (root * root) * S * S / (m2 * m2 * m2), tight);
    EXPECT_NEAR(dt("alpha"), -t / (root * root) * C * S * (1.0 / (m2 * m2) - 1.0 / (m1 * m1)), tight);
}

TEST(Saltation, OfSlipThatComesToRestTakesItsVelocityAway) {
    // f⁻ = (0, −μF), f⁺ = 0, s = γ = x': Ξ = diag(1, 0)
    const Recorded r(R"toml(
[system]
q = ["x"]
T = "x'^2/2"
[parameters]
mu = 0.5
[[slider]]
name = "table"
gammaT = "x'"
mu = "mu"
FN = 3.0
[initial]
q = { x = 0.0 }
u = { x = 1.2 }
)toml",
                     1.0);
    Tangent x = r.tangent({"x'", "mu"});
    const Saltation s = saltation_of(r, x, 0);
    ASSERT_TRUE(s.exists) << s.why_not;
    ASSERT_EQ(s.events.size(), 1U);
    EXPECT_NEAR(s.events[0].rate, -1.5, close);
    EXPECT_NEAR(s.drift(0), 0.0, 1e-9);
    EXPECT_NEAR(s.drift(1), -1.5, close);
    expect_matrix(saltation_matrix(s, 1), Vector{{1.0, 0.0}}.asDiagonal().toDenseMatrix(), 1e-9, "saltation matrix");
}

/// Two balls that fall from the same height; `gap` is that of the second one, `mass` couples them if it is not zero.
std::string two_balls(const std::string& second_gap) {
    return R"toml(
[system]
q = ["y", "z"]
T = "y'^2/2 + z'^2/2"
U = "g*y + g*z"
[parameters]
g = 10.0
e = 0.6
[[contact]]
name = "left"
gN = "y"
eN = "e"
[[contact]]
name = "right"
gN = ")toml" +
           second_gap + R"toml("
eN = "e"
[initial]
q = { y = 1.25, z = 1.25 }
)toml";
}

TEST(Saltation, OfTwoIndependentBallsThatStrikeTogetherGivesEachItsOwnTime) {
    const Recorded r(two_balls("z"), 0.7);
    Tangent x = r.tangent({"y", "z", "e"});
    const Saltation s = saltation_of(r, x, 0);
    ASSERT_TRUE(s.exists) << s.why_not;
    ASSERT_EQ(s.events.size(), 2U);
    ASSERT_EQ(s.drifts.cols(), 2);
    const double g = 10.0, e = 0.6, u = -5.0;
    // The left ball strikes later by δy/5, the right one at its old time.
    Eigen::RowVectorXd direction = Eigen::RowVectorXd::Zero(x.columns());
    direction(1) = 1.0;
    const Vector after = sensitivity::passed(s, direction, 0.0);
    expect_matrix(after, Vector{{-e, 0.0, -(1.0 + e) * g / u, 0.0}}, 1e-9, "variation of the left ball");
    direction.setZero();
    direction(2) = 1.0;
    expect_matrix(sensitivity::passed(s, direction, 0.0), Vector{{0.0, -e, 0.0, -(1.0 + e) * g / u}}, 1e-9,
                  "variation of the right ball");
    expect_matrix(s.drifts.rowwise().sum(), s.drift, 1e-9, "sum of the drifts");
}

TEST(Saltation, OfTwoCoupledEventsThatFallTogetherHasNoTimesOfTheirOwn) {
    // The second gap contains y: a blow against the left contact changes its velocity.
    const Recorded r(two_balls("z + y/2 - 0"), 0.55);
    Tangent x = r.tangent({"y", "z"});
    const Saltation s = saltation_of(r, x, 0);
    ASSERT_TRUE(s.exists) << s.why_not;
    ASSERT_EQ(s.events.size(), 2U);
    EXPECT_EQ(s.drifts.cols(), 0);
}

}  // namespace
}  // namespace saltus::saltation_test
