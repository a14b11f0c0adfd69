// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "sensitivity/derivatives.hpp"
#include "support.hpp"

namespace saltus::simultaneous_test {
namespace {

using namespace saltus::test;

/// Where and how fast a motion ends.
Vector ending(const std::string& text, double t_end) {
    const Model m = from_text(text);
    integrate::Options run;
    run.t_end = t_end;
    EventDriven method;
    method.rtol = 1e-11;
    method.atol = 1e-14;
    const trajectory::Trajectory r = integrate::simulate(m, method, run);
    Vector x(2 * m.size());
    for (int i = 0; i < m.size(); ++i) {
        x(i) = r.end.q[static_cast<std::size_t>(i)];
        x(m.size() + i) = r.end.u[static_cast<std::size_t>(i)];
    }
    return x;
}

std::string with(std::string text, const std::string& name, const std::string& value) {
    const auto at = text.find(name);
    return text.replace(at, name.size(), value);
}

/// Two masses that a spring joins, and that reach their walls together: which one is first does not matter.
const std::string between_walls = R"toml(
[system]
name = "between walls"
q = ["x", "y"]
T = "m/2*x'^2 + m/2*y'^2"
U = "k/2*(y - x - 1)^2"
R = "d/2*(y' - x')^2"
[parameters]
m = 2.0
k = 30.0
d = 0.0
w = 0.01
[[contact]]
name = "left"
gN = "x + 0.5 - w*sin(7*t)"
eN = 0.7
[[contact]]
name = "right"
gN = "2.5 - y - w*sin(7*t)"
eN = 0.7
[initial]
q = { x = 0.0, y = 2.0 }
u = { x = X0, y = Y0 }
)toml";

std::string masses(double x_velocity, double y_velocity) {
    return with(with(between_walls, "X0", number_text(x_velocity)), "Y0", number_text(y_velocity));
}

TEST(Simultaneous, ImpactsWhoseOrderDoesNotMatterHaveDerivatives) {
    const double t_end = 0.3, h = 1e-5;
    const Sensitivity s = derivatives(from_text(masses(-6.0, 6.0)), {"x'", "y'", "m", "k", "w"}, t_end);
    ASSERT_EQ(s.motion.events.size(), 1U);
    ASSERT_EQ(s.motion.events[0].elements.size(), 2U);
    ASSERT_FALSE(s.final.hasNaN()) << remarks(s);
    // Second derivatives differ with the order: differences converge with their step alone, and are extrapolated.
    const auto difference = [&](double x, double y) -> Vector {
        const auto central = [&](double step) -> Vector {
            return (ending(masses(-6.0 + step * x, 6.0 + step * y), t_end) -
                    ending(masses(-6.0 - step * x, 6.0 - step * y), t_end)) /
                   (2.0 * step);
        };
        return 2.0 * central(h / 2.0) - central(h);
    };
    const Vector by_x = difference(1.0, 0.0), by_y = difference(0.0, 1.0);
    EXPECT_LT((s.final.col(0) - by_x).cwiseAbs().maxCoeff(), 1e-7) << s.final << "\n" << by_x;
    EXPECT_LT((s.final.col(1) - by_y).cwiseAbs().maxCoeff(), 1e-7) << s.final << "\n" << by_y;
    // One event of the motion is two: it has a time where both move alike, and none where they part.
    EXPECT_TRUE(std::isnan(s.events[0].dt[0]));
    for (const std::size_t j : {2U, 3U, 4U}) EXPECT_FALSE(std::isnan(s.events[0].dt[j]));
    EXPECT_NE(remarks(s).find("their order does not matter"), std::string::npos) << remarks(s);
}

TEST(Simultaneous, TheSaltationMatrixIsThatOfBoth) {
    const Sensitivity s = derivatives(from_text(masses(-6.0, 6.0)), {"x'"}, 0.3);
    const Matrix& salt = s.events[0].saltation;
    EXPECT_NEAR(salt(0, 0), -0.7, 1e-12);
    EXPECT_NEAR(salt(1, 1), -0.7, 1e-12);
    EXPECT_NEAR(salt(0, 1), 0.0, 1e-12);
    EXPECT_NEAR(salt(2, 2), -0.7, 1e-12);
    EXPECT_NEAR(salt(3, 2), 0.0, 1e-12);
}

TEST(Simultaneous, AdjointModeAgreesWithForwardMode) {
    const Model m = from_text(masses(-6.0, 6.0));
    sensitivity::Options options;
    options.t_end = 0.3;
    options.output = "x + 2*y' - x'*y";
    const auto variables = sensitivity::all_variables(m);
    const Sensitivity forward = sensitivity::sensitivity(m, variables, options);
    options.adjoint = true;
    const Sensitivity backward = sensitivity::sensitivity(m, variables, options);
    for (std::size_t j = 0; j < variables.size(); ++j) {
        ASSERT_FALSE(std::isnan(forward.output_derivative[j])) << variables[j].name << remarks(forward);
        EXPECT_NEAR(backward.output_derivative[j], forward.output_derivative[j],
                    1e-10 * (1.0 + std::abs(forward.output_derivative[j])))
            << variables[j].name << remarks(backward);
    }
}

/// A damper between them feels the first impact before the second: the order matters, and the derivative jumps.
TEST(Simultaneous, ImpactsWhoseOrderMattersHaveNone) {
    std::string text = with(masses(-6.0, 6.0), "d = 0.0", "d = 1.0");
    const Sensitivity s = derivatives(from_text(text), {"x'", "k"}, 0.3);
    EXPECT_TRUE(s.final.col(0).hasNaN());
    EXPECT_FALSE(s.final.col(1).hasNaN()) << remarks(s);
    EXPECT_NE(remarks(s).find("may depend on their order"), std::string::npos) << remarks(s);
    const double h = 1e-5;
    const auto damped = [&](double v) { return ending(with(masses(v, 6.0), "d = 0.0", "d = 1.0"), 0.3); };
    const Vector middle = damped(-6.0), left = (middle - damped(-6.0 - h)) / h, right = (damped(-6.0 + h) - middle) / h;
    EXPECT_GT((left - right).cwiseAbs().maxCoeff(), 1e-2);
}

/// Three that do not know of each other: friction that comes to rest, a ball, and another ball.
TEST(Simultaneous, ThreeKindsOfEventsHaveDerivatives) {
    const std::string text = R"toml(
[system]
name = "three at once"
q = ["x", "y", "z"]
T = "(x'^2 + y'^2 + z'^2)/2"
U = "g*y + g*z"
[parameters]
g = 2.0
mu = 0.5
[[slider]]
name = "rail"
gammaT = "x'"
mu = "mu"
FN = 2.0
[[contact]]
name = "first"
gN = "y"
eN = 0.5
[[contact]]
name = "second"
gN = "z"
eN = 0.8
[initial]
q = { x = 0.0, y = 1.0, z = 1.0 }
u = { x = 1.0, y = 0.0, z = 0.0 }
)toml";
    // At t = 1: y = z = 0 with velocity −2, and x' = 1 − t comes to rest. Each is by itself, in closed form.
    const Sensitivity s = derivatives(from_text(text), {"x'", "y", "z", "g", "mu"}, 1.5);
    ASSERT_FALSE(s.final.hasNaN()) << remarks(s);
    EXPECT_NEAR(s.final(0, 0), 1.0, 1e-9);   // x = v²/(4μ)
    EXPECT_NEAR(s.final(0, 4), -1.0, 1e-9);  // the same
    const double t1 = 1.0, rest = 0.5;
    const auto height = [&](double e) {  // ∂y(1.5)/∂y0: y = e g t1 (t − t1) − g/2 (t − t1)², ∂t1/∂y0 = 1/(g t1)
        return (e * 2.0 * (rest - t1) + 2.0 * rest) / (2.0 * t1);
    };
    EXPECT_NEAR(s.final(1, 1), height(0.5), 1e-9);
    EXPECT_NEAR(s.final(2, 2), height(0.8), 1e-9);
    EXPECT_NEAR(s.final(1, 2), 0.0, 1e-12);
}

std::string balls_onto(const std::string& second) {
    return R"toml(
[system]
name = "two balls"
q = ["x", "y"]
T = "(x'^2 + y'^2)/2"
[parameters]
w = -1.0
v = )toml" +
           second +
           R"toml(
[[contact]]
name = "c1"
gN = "x - w"
eN = 0.5
[[contact]]
name = "c2"
gN = "y - v"
eN = 0.5
[initial]
q = { x = 0.0, y = 0.0 }
u = { x = -1.0, y = -1.0 }
)toml";
}

/// So near to each other that they are one change of the motion; each keeps its own time.
TEST(Simultaneous, EventsThatNearlyCoincideHaveTheSameDerivatives) {
    for (const char* second :
         {"-1.0", "-1.000000000001", "-1.00000000001", "-0.99999999999", "-1.0000000001", "-1.00000001"}) {
        const Sensitivity s = derivatives(from_text(balls_onto(second)), {"w", "v", "x'"}, 1.5);
        ASSERT_FALSE(s.final.hasNaN()) << second << remarks(s);
        EXPECT_NEAR(s.final(0, 0), 1.5, 1e-9) << second;
        EXPECT_NEAR(s.final(1, 0), 0.0, 1e-9) << second;
        EXPECT_NEAR(s.final(0, 1), 0.0, 1e-9) << second;
        EXPECT_NEAR(s.final(1, 1), 1.5, 1e-9) << second;
        EXPECT_NEAR(s.final(0, 2), -0.75, 1e-7) << second;  // −e t_end, t_end − t₁ at the wall
    }
}

/// A rod couples the two balls, although it carries no force if both land together.
TEST(Simultaneous, EventsCoupledByAConstraintHaveNone) {
    const Sensitivity s = derivatives(from_text(R"toml(
[system]
name = "rod"
q = ["x", "y"]
T = "(x'^2 + y'^2)/2"
U = "x + y"
[parameters]
w = 0.0
v = 0.0
[[constraint]]
name = "rod"
g = "x - y"
[[contact]]
name = "c3"
gN = "x - w"
eN = 0.0
[[contact]]
name = "c4"
gN = "y - v"
eN = 0.0
[initial]
q = { x = 1.0, y = 1.0 }
)toml"),
                                      {"w", "v"}, 2.0);
    EXPECT_TRUE(s.final.col(0).hasNaN());
    EXPECT_TRUE(s.final.col(1).hasNaN());
}

/// Two frictions turn round together, and what they do to the acceleration cancels: not a smooth change for all that.
TEST(Simultaneous, ForceJumpsThatCancelGiveNoWrongDerivative) {
    const Sensitivity s = derivatives(from_text(R"toml(
[system]
name = "between belts"
q = ["y"]
T = "y'^2/2"
[parameters]
a = 4.0
p = 0.0
[[slider]]
name = "s5"
gammaT = "y' - (-1 + a*t + p)"
mu = 1.0
FN = 1.0
[[slider]]
name = "s6"
gammaT = "y' - (1 - a*t)"
mu = 1.0
FN = 1.0
[initial]
q = { y = 0.0 }
)toml"),
                                      {"a", "p"}, 0.4);
    EXPECT_NEAR(s.final(0, 0), 0.0, 1e-10);
    EXPECT_TRUE(s.final.col(1).hasNaN() || std::abs(s.final(0, 1) - 0.05) < 1e-8) << s.final;
}

}  // namespace
}  // namespace saltus::simultaneous_test
