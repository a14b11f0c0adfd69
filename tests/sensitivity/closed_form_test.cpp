// SPDX-License-Identifier: Apache-2.0
#include "saltus/model/settings.hpp"
#include "sensitivity/derivatives.hpp"

namespace saltus::closed_form_test {
namespace {

using namespace saltus::test;

TEST(ClosedForm, TwoElasticBallsExchangeTheirVelocities) {
    const Model m = from_text(R"toml(
[system]
name = "two balls"
q = ["x", "y"]
T = "m/2*x'^2 + m/2*y'^2"
[parameters]
m = 1.0
e = 1.0
[[contact]]
name = "balls"
gN = "y - x - 1"
eN = "e"
[initial]
q = { x = 0.0, y = 2.0 }
u = { x = 1.0, y = 0.0 }
)toml");
    const Sensitivity s = derivatives(m, {"x", "y", "x'", "y'", "m", "e"}, 2.0);
    ASSERT_EQ(s.events.size(), 1U);
    // [Glocker]: u_x⁺ = u_y⁻, u_y⁺ = u_x⁻, exactly.
    for (const auto& [row, column, value] : std::vector<std::tuple<int, int, double>>{
             {2, 2, 0.0}, {2, 3, 1.0}, {3, 2, 1.0}, {3, 3, 0.0}, {2, 0, 0.0}, {3, 0, 0.0}, {0, 0, 0.0}, {0, 1, 1.0}})
        EXPECT_EQ(s.final(row, column), value) << row << ", " << column;
    EXPECT_NEAR(s.final(2, 5), -0.5, 1e-14);  // (1 − e)/2 · V
    EXPECT_NEAR(s.events[0].dt[0], -1.0, 1e-14);
    EXPECT_NEAR(s.events[0].dt[2], -1.0, 1e-14);  // (gap)/V
    EXPECT_NEAR(s.events[0].dt[3], 1.0, 1e-14);
    EXPECT_EQ(s.events[0].dt[4], 0.0);
    EXPECT_TRUE(s.remarks.empty());
}

/// Height at the end of a motion of a ball, from its closed form: y0, v0, e, g and the number of bounces by then.
double height(double y0, double v0, double e, double g, double t) {
    double time = (v0 + std::sqrt(v0 * v0 + 2.0 * g * y0)) / g, v = std::sqrt(v0 * v0 + 2.0 * g * y0);
    if (t < time) return y0 + v0 * t - 0.5 * g * t * t;
    for (;;) {
        v *= e;
        if (time + 2.0 * v / g > t) return v * (t - time) - 0.5 * g * (t - time) * (t - time);
        time += 2.0 * v / g;
    }
}

TEST(ClosedForm, MassesThatStayTogetherWithoutAForce) {
    const double m1 = 1.0, m2 = 2.0;
    const Model m = from_text(R"toml(
[system]
q = ["a", "b"]
T = "m1/2*a'^2 + m2/2*b'^2"
[parameters]
m1 = 1.0
m2 = 2.0
[[contact]]
name = "c"
gN = "b - a"
[initial]
q = { a = 0.0, b = 1.0 }
u = { a = 2.0, b = 0.5 }
)toml");
    const Sensitivity s = derivatives(m, {"a'", "b'", "m1", "m2"}, 2.0);
    // By momentum v = (m1 a' + m2 b')/(m1 + m2) from their meeting at t = 1/(a' − b') on.
    const double v = (m1 * 2.0 + m2 * 0.5) / (m1 + m2), t = 1.0 / 1.5;
    EXPECT_NEAR(s.final(2, 0), m1 / (m1 + m2), 1e-12);
    EXPECT_NEAR(s.final(2, 1), m2 / (m1 + m2), 1e-12);
    EXPECT_NEAR(s.final(2, 2), (2.0 - v) / (m1 + m2), 1e-12);
    EXPECT_NEAR(s.final(2, 3), (0.5 - v) / (m1 + m2), 1e-12);
    // a(T) = a' t + v (T − t) with dt/da' = −t/(a' − b').
    EXPECT_NEAR(s.final(0, 0), t + (2.0 - v) * (-t / 1.5) + m1 / (m1 + m2) * (2.0 - t), 1e-12);
    EXPECT_NEAR(s.final(0, 1), (2.0 - v) * (t / 1.5) + m2 / (m1 + m2) * (2.0 - t), 1e-12);
    EXPECT_NEAR(s.final(0, 3), (0.5 - v) / (m1 + m2) * (2.0 - t), 1e-12);
    EXPECT_TRUE(s.remarks.empty());
}

TEST(ClosedForm, ABallAfterTenBounces) {
    const Model m = from_text(R"toml(
[system]
name = "ball"
q = ["y"]
T = "y'^2/2"
U = "g*y"
[parameters]
g = 9.81
e = 0.9
[[contact]]
name = "floor"
gN = "y"
eN = "e"
[initial]
q = { y = 1.0 }
u = { y = 0.5 }
)toml");
    const double t = 5.6;
    const Sensitivity s = derivatives(m, {"y", "y'", "e", "g"}, t);
    EXPECT_EQ(events_of(s.motion, EventKind::impact).size(), 10U);
    const double at[4] = {1.0, 0.5, 0.9, 9.81};
    EXPECT_NEAR(s.motion.end.q[0], height(at[0], at[1], at[2], at[3], t), 1e-10);
    for (int j = 0; j < 4; ++j) {
        // Richardson's extrapolation of the closed form
        const auto central = [&](double h) {
            double a[4], b[4];
            std::copy(at, at + 4, a), std::copy(at, at + 4, b);
            a[j] += h, b[j] -= h;
            return (height(a[0], a[1], a[2], a[3], t) - height(b[0], b[1], b[2], b[3], t)) / (2.0 * h);
        };
        const double expected = (4.0 * central(5e-5) - central(1e-4)) / 3.0;
        EXPECT_NEAR(s.final(0, j), expected, 2e-8 * std::max(1.0, std::abs(expected))) << j;
        EXPECT_GT(std::abs(expected), 0.1);
    }
    for (const auto& e : s.events) {
        EXPECT_GT(e.transversality, 0.1);
        EXPECT_GT(e.dt[0], 0.0);
        EXPECT_GT(e.dt[2], s.events[0].event == e.event ? -1e-15 : 0.0);
        EXPECT_LT(e.dt[3], 0.0);
        ASSERT_EQ(e.saltation.rows(), 2);
        EXPECT_NEAR(e.saltation(0, 0), -0.9, 1e-12);  // Ξ = (−e 0; −(1+e) g/v⁻ −e), v⁻ < 0
        EXPECT_NEAR(e.saltation(0, 1), 0.0, 1e-12);
        EXPECT_NEAR(e.saltation(1, 1), -0.9, 1e-12);
    }
}

TEST(ClosedForm, ImpactsAccumulateAtALimitThatHasADerivative) {
    const Model m = shipped("bouncing-ball");
    const Sensitivity s = derivatives(m, {"y", "e", "g"}, *m.settings->simulate.t_end);
    const auto limits = events_of(s.motion, EventKind::accumulation);
    ASSERT_EQ(limits.size(), 1U);
    // t_∞ = √(2y/g) (1 + e)/(1 − e)
    const auto value = [&](const std::string& name) {
        for (const auto& p : m.settings->parameters)
            if (p.name == name) return p.value;
        return 0.0;
    };
    const double e = value("e"), g = value("g");
    const double y = m.q0[0], t = std::sqrt(2.0 * y / g) * (1.0 + e) / (1.0 - e);
    ASSERT_NEAR(limits[0].t, t, 1e-6 * t);
    for (const auto& d : s.events) {
        if (s.motion.events[d.event].kind != EventKind::accumulation) continue;
        EXPECT_NEAR(d.dt[0], t / (2.0 * y), 1e-4 * t);
        EXPECT_NEAR(d.dt[1], std::sqrt(2.0 * y / g) * 2.0 / ((1.0 - e) * (1.0 - e)), 1e-4 * t);
        EXPECT_NEAR(d.dt[2], -t / (2.0 * g), 1e-4 * t);
    }
    for (int j = 0; j < 3; ++j)
        for (int i = 0; i < s.final.rows(); ++i) EXPECT_NEAR(s.final(i, j), 0.0, 1e-9) << i << j;
}

// The ball comes to rest on the floor, and can still slide: everything rests, but not everything is held.
TEST(ClosedForm, AFreeDirectionKeepsItsDerivativeBehindAnAccumulation) {
    const Model m = from_text(R"toml(
[system]
name = "ball on a smooth floor"
q = ["x", "y"]
T = "(x'^2 + y'^2)/2"
U = "9.81*y"
[[contact]]
name = "floor"
gN = "y"
eN = 0.3
[initial]
q = { y = 0.5 }
)toml");
    const Sensitivity s = derivatives(m, {"x'", "y"}, 3.0);
    ASSERT_EQ(events_of(s.motion, EventKind::accumulation).size(), 1U);
    ASSERT_EQ(s.motion.end.u[0], 0.0);
    EXPECT_NEAR(s.final(0, 0), 3.0, 1e-10);
    EXPECT_NEAR(s.final(2, 0), 1.0, 1e-12);
    for (int i = 0; i < 4; ++i) EXPECT_NEAR(s.final(i, 1), 0.0, 1e-9) << i;
}

TEST(ClosedForm, AMovingObstacleGivesItsVelocityToFirstOrder) {
    // y falls onto a floor a·sin(w t): s = y − a sin(w t)
    const Model m = from_text(R"toml(
[system]
name = "moving floor"
q = ["y"]
T = "y'^2/2"
[parameters]
a = 0.1
w = 2.0
e = 0.5
[[contact]]
name = "floor"
gN = "y - a*sin(w*t)"
eN = "e"
[initial]
q = { y = 1.0 }
u = { y = -1.0 }
)toml");
    const Sensitivity s = derivatives(m, {"y", "a", "w", "e"}, 2.0);
    ASSERT_EQ(s.motion.events.size(), 1U) << story(s.motion);
    const double c = s.motion.events[0].t, a = 0.1, w = 2.0, e = 0.5;
    const double rate = -1.0 - a * w * std::cos(w * c);
    EXPECT_NEAR(s.events[0].dt[0], -1.0 / rate, 1e-12);
    EXPECT_NEAR(s.events[0].dt[1], std::sin(w * c) / rate, 1e-12);
    // u⁺ = (1 + e) θ̇ − e u⁻
    const double du_da = (1.0 + e) * (w * std::cos(w * c) - a * w * w * std::sin(w * c) * s.events[0].dt[1]);
    EXPECT_NEAR(s.final(1, 1), du_da, 1e-11);
    EXPECT_NEAR(s.final(1, 3), a * w * std::cos(w * c) + 1.0, 1e-11);
}

TEST(ClosedForm, LiftOffChangesNothingAndHasATime) {
    // [Alscher] L2: x1 at the wall, x2 on a spring; λ = k A cos(w t), lift-off at π/(2w), w² = k/m2
    const Model m = from_text(R"toml(
[system]
name = "two masses"
q = ["x", "y"]
T = "m1/2*x'^2 + m2/2*y'^2"
U = "k/2*(y - x - 1)^2"
[parameters]
m1 = 1.0
m2 = 2.0
k = 8.0
A = 0.25
[[contact]]
name = "wall"
gN = "x"
[initial]
q = { x = 0.0, y = "1 - A" }
)toml");
    const Sensitivity s = derivatives(m, {"m1", "m2", "k", "A"}, 2.0);
    ASSERT_EQ(s.motion.events.size(), 1U) << story(s.motion);
    const double w = 2.0, c = M_PI / (2.0 * w);
    EXPECT_NEAR(s.motion.events[0].t, c, 1e-10);
    EXPECT_NEAR(s.events[0].dt[0], 0.0, 1e-10);
    EXPECT_NEAR(s.events[0].dt[1], c / (2.0 * 2.0), 1e-10);
    EXPECT_NEAR(s.events[0].dt[2], -c / (2.0 * 8.0), 1e-10);
    EXPECT_NEAR(s.events[0].dt[3], 0.0, 1e-10);
    EXPECT_NEAR((s.events[0].saltation - Matrix::Identity(4, 4)).cwiseAbs().maxCoeff(), 0.0, 1e-9);
    // x = (m2 A w/M)(τ − sin(Ωτ)/Ω), linear in A
    EXPECT_NEAR(s.final(0, 3), s.motion.end.q[0] / 0.25, 1e-9);
}

/// Slip in a plane under a force comes to rest with its direction turning ever faster, as |γ|^(a/(F − a)): F|γ| + a γ_x
/// falls evenly, so T = (F|γ₀| + a γ_x0)/(F² − a²).
TEST(ClosedForm, SlipInAPlaneThatTurnsAsItStops) {
    const Model m = from_text(R"toml(
[system]
name = "puck"
q = ["x", "y"]
T = "(x'^2 + y'^2)/2"
f = { x = "a" }
[parameters]
a = 0.1
F = 1.0
[[slider]]
name = "ice"
gammaT = ["x'", "y'"]
mu = 1.0
FN = "F"
[initial]
u = { x = 0.3, y = 1.0 }
)toml");
    const double a = 0.1, x = 0.3, y = 1.0, v = std::hypot(x, y), below = 1.0 - a * a;
    for (const auto& [rtol, atol] : {std::pair{1e-9, 1e-12}, std::pair{1e-11, 1e-14}, std::pair{1e-12, 1e-20}}) {
        EventDriven method;
        method.rtol = rtol;
        method.atol = atol;
        const Sensitivity s = derivatives(m, {"x'", "y'", "a", "F"}, 3.0, method);
        ASSERT_EQ(s.motion.events.size(), 1U);
        const double T = (v + a * x) / below;
        EXPECT_NEAR(s.motion.events[0].t, T, 1e-9);
        EXPECT_NEAR(s.events[0].dt[0], (x / v + a) / below, 2e-5);
        EXPECT_NEAR(s.events[0].dt[1], y / v / below, 2e-5);
        EXPECT_NEAR(s.events[0].dt[2], x / below + 2.0 * a * T / below, 2e-5);
        EXPECT_NEAR(s.events[0].dt[3], v / below - 2.0 * T / below, 2e-5);
    }
}

/// A block that slips as soon as it is let go: pushed along, the velocity stays; pushed against, it would turn first.
TEST(ClosedForm, SlipFromRestHoldsOnOneSide) {
    const Sensitivity s = derivatives(from_text(R"toml(
[system]
name = "let go"
q = ["x"]
T = "x'^2/2"
f = { x = "-1" }
[parameters]
F = 0.5
[[slider]]
name = "s"
gammaT = "x'"
mu = 1.0
FN = "F"
[initial]
q = { x = 0.0 }
)toml"),
                                      {"x", "x'", "F"}, 1.0);
    EXPECT_NEAR(s.final(0, 1), 1.0, 1e-12);
    EXPECT_NEAR(s.final(0, 2), 0.5, 1e-12);
    EXPECT_EQ(s.one_sided, (std::vector<int>{0, -1, 0}));
    EXPECT_NE(remarks(s).find("smaller values only"), std::string::npos) << remarks(s);
}

}  // namespace
}  // namespace saltus::closed_form_test
