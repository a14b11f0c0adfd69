// SPDX-License-Identifier: Apache-2.0
#include <numbers>

#include "physics/motion.hpp"
#include "saltus/model/settings.hpp"

namespace saltus::hard_cases_test {
namespace {

using namespace saltus::test;

/// A motion that cannot reach its end must say so, keep the motion up to then, and not take too long.
void expect_failure_at(const Trajectory& motion, double t, double within, const std::string& word) {
    EXPECT_EQ(status_of(motion), "failed") << motion.model << " at " << motion.end.t;
    EXPECT_NE(motion.reason.find(word), std::string::npos) << motion.model << ": " << motion.reason;
    EXPECT_NEAR(motion.end.t, t, within) << motion.model << ": " << motion.reason;
    for (const double x : motion.end.q) EXPECT_TRUE(std::isfinite(x)) << motion.model;
    for (const double x : motion.end.u) EXPECT_TRUE(std::isfinite(x)) << motion.model;
    EXPECT_LT(motion.statistics.steps, 20000) << motion.model;
}

TEST(HardCase, WallsThatCloseOnAMassLeaveItNoVelocity) {
    const std::string press = R"toml(
[system]
name = "mass in a press"
q = ["x"]
T = "1/2*x'^2"
[parameters]
v = 1.0
[[contact]]
name = "left"
gN = "x + 1 - v*t"
[[contact]]
name = "right"
gN = "1 - v*t - x"
[initial]
u = { x = 0.1 }
)toml";
    const Trajectory motion = attempt(from_text(press), 2.0);
    expect_failure_at(motion, 1.0, 1e-9, "impact");
    EXPECT_NEAR(motion.right(0.5).q[0], 0.05, 1e-10) << "what was computed is kept";
    EXPECT_GE(motion.events.size(), 1U) << "the wall that hit first";
}

TEST(HardCase, WallsThatJustMeetHoldTheMassStill) {
    // They stop when they touch it: gaps 1 − sin t, closed at π/2 with no velocity.
    const std::string vice = R"toml(
[system]
name = "mass in a vice"
q = ["x"]
T = "1/2*x'^2"
[[contact]]
name = "left"
gN = "x + 1 - if(t < pi/2, sin(t), 1)"
[[contact]]
name = "right"
gN = "1 - if(t < pi/2, sin(t), 1) - x"
)toml";
    const Trajectory motion = motion_of(from_text(vice), 3.0);
    EXPECT_NEAR(motion.end.q[0], 0.0, 1e-7) << story(motion);
    EXPECT_NEAR(motion.end.u[0], 0.0, 1e-7);
}

TEST(HardCase, ConstraintsThatContradictEachOtherLaterEndTheRun) {
    const std::string contradiction = R"toml(
[system]
name = "point on two circles that part"
q = ["x", "y"]
T = "1/2*(x'^2 + y'^2)"
[[constraint]]
name = "line"
g = "x - 1"
[[constraint]]
name = "circle"
g = "x^2 + y^2 - 2 + t^2"
[initial]
q = { x = 1.0, y = 1.0 }
)toml";
    // y² = 1 − t²: at t = 1 the circle no longer reaches the line; y' grows without bound before.
    expect_failure_at(attempt(from_text(contradiction), 2.0), 1.0, 1e-6, "");
}

TEST(HardCase, AMassThatVanishesEndsTheRun) {
    const std::string vanishing = R"toml(
[system]
name = "mass that vanishes"
q = ["x"]
T = "1/2*x^2*x'^2"
[initial]
q = { x = 1.0 }
u = { x = -1.0 }
)toml";
    expect_failure_at(attempt(from_text(vanishing), 2.0), 0.5, 1e-6, "");  // x² = 1 − 2t
}

TEST(HardCase, AMotionThroughThePoleOfPolarCoordinatesIsRightOrEndsThere) {
    const std::string polar = R"toml(
[system]
name = "through the pole"
q = ["r", "phi"]
T = "1/2*(r'^2 + r^2*phi'^2)"
[parameters]
w = 0.0
[initial]
q = { r = 1.0 }
u = { r = -1.0, phi = "w" }
)toml";
    for (const double w : {0.0, 1e-12, 1e-6, 1e-3}) {
        const Trajectory motion = attempt(from_text(polar, {{"w", w}}), 2.0);
        if (motion.status == Status::completed) {
            EXPECT_NEAR(std::abs(motion.end.q[0]), std::hypot(1.0, 2.0 * w), 1e-6) << "w = " << w;
        } else {
            EXPECT_NEAR(motion.end.t, 1.0, 1e-3) << "w = " << w << ": " << motion.reason;
        }
    }
}

TEST(HardCase, AForceThatGrowsWithoutBoundEndsTheRun) {
    const std::string fall = R"toml(
[system]
name = "fall into a centre"
q = ["x"]
T = "1/2*x'^2"
f = { x = "-1/x^2" }
[initial]
q = { x = 1.0 }
)toml";
    const Trajectory motion = attempt(from_text(fall), 3.0);
    expect_failure_at(motion, std::numbers::pi / (2.0 * std::numbers::sqrt2), 1e-8, "step");
    EXPECT_NEAR(motion.right(0.5).u[0], -std::sqrt(2.0 * (1.0 / motion.right(0.5).q[0] - 1.0)), 1e-8);
}

TEST(HardCase, AVelocityThatEscapesInFiniteTimeEndsTheRun) {
    const std::string escape = R"toml(
[system]
name = "escape in finite time"
q = ["x"]
T = "1/2*x'^2"
f = { x = "x'^2" }
[initial]
u = { x = 1.0 }
)toml";
    expect_failure_at(attempt(from_text(escape), 3.0), 1.0, 1e-6, "step");  // u = 1/(1 − t)
}

TEST(HardCase, AnExpressionThatLeavesItsDomainEndsTheRun) {
    const std::string root = R"toml(
[system]
name = "root of a negative number"
q = ["x"]
T = "1/2*x'^2"
f = { x = "sqrt(x)" }
[initial]
q = { x = 1.0 }
u = { x = -3.0 }
)toml";
    const Trajectory motion = attempt(from_text(root), 3.0);
    EXPECT_EQ(status_of(motion), "failed") << motion.end.t;
    EXPECT_NE(motion.reason, "");
    EXPECT_GT(motion.end.t, 0.3);
    EXPECT_LT(motion.end.t, 0.45);
    EXPECT_NEAR(motion.end.q[0], 0.0, 1e-3);
}

TEST(HardCase, AMassThatIsPinchedBetweenRoughWallsIsHeld) {
    // Both walls press, friction carries the weight: internal forces are not unique, the motion is.
    const std::string pinch = R"toml(
[system]
name = "block between walls"
q = ["x", "y"]
T = "1/2*(x'^2 + y'^2)"
U = "9.81*y"
[parameters]
mu = 0.5
[[contact]]
name = "left"
gN = "x"
gammaT = "y'"
mu = "mu"
[[contact]]
name = "right"
gN = "-x"
gammaT = "y'"
mu = "mu"
)toml";
    // No force presses the walls: the mass may be held by internal forces, or fall; both solve the equations. The run
    // must not fail or hang.
    const Trajectory motion = attempt(from_text(pinch), 1.0);
    EXPECT_EQ(status_of(motion), "completed") << motion.reason;
    EXPECT_NEAR(motion.end.q[0], 0.0, 1e-12);
}

TEST(HardCase, ImpactsThatComeEverFasterWithoutEndAreCutShort) {
    // A ball under a wall that comes down: the n-th impact finds room of the order 1/n, so there is no end to them, and
    // no geometric sequence to extrapolate either.
    const std::string press = R"toml(
[system]
name = "ball under a closing press"
q = ["y"]
T = "1/2*y'^2"
[[contact]]
name = "floor"
gN = "y"
eN = 1.0
[[contact]]
name = "press"
gN = "1 - t - y"
eN = 1.0
[initial]
q = { y = 0.5 }
u = { y = 3.0 }
)toml";
    const Trajectory motion = attempt(from_text(press), 2.0, EventDriven{.max_events = 3000});
    EXPECT_EQ(status_of(motion), "failed") << story(motion);
    EXPECT_GT(motion.end.t, 0.99);
    EXPECT_LE(motion.end.t, 1.0 + 1e-9);
    EXPECT_NE(motion.reason, "");
}

TEST(HardCase, AnInterruptedRunKeepsTheMotionUpToThen) {
    const Model model = shipped("impact-oscillator");
    integrate::Options options;
    options.t_end = 1e6;
    int asked = 0;
    double told = 0.0;
    options.interrupted = [&] { return ++asked > 5; };
    options.progress = [&](double t) { told = t; };
    const Trajectory motion = integrate::simulate(model, EventDriven{}, options);
    EXPECT_EQ(status_of(motion), "interrupted");
    EXPECT_GT(motion.end.t, 0.0);
    EXPECT_GT(told, 0.0);
    EXPECT_TRUE(integrate::validate(motion, model).ok());
    EXPECT_NEAR(motion.right(0.5 * motion.end.t).t, 0.5 * motion.end.t, 1e-15);
}

/// A force that reverses the motion as soon as it has passed a jump of the expression. The motion would continue in
/// steps of zero length, or of nearly zero length if a slider takes part.
TEST(HardCase, AMotionThatKeepsToAJumpOfAnExpressionEnds) {
    const auto body = [](const std::string& force) {
        return "[system]\nname = \"held\"\nq = [\"x\"]\nT = \"x'^2/2\"\nf = { x = \"" + force +
               "\" }\n[initial]\nu = { x = 1.0 }\n";
    };
    const Trajectory free = attempt(from_text(body("3 + if(x' - (1 - t) > 0.1, -6, 0)")), 1.0);
    EXPECT_EQ(status_of(free), "failed");
    EXPECT_NE(free.reason.find("an expression jumps here"), std::string::npos) << free.reason;
    EXPECT_NEAR(free.end.u[0] + free.end.t, 1.1, 1e-6);
    const std::string slider =
        "[[slider]]\nname = \"s\"\ngammaT = \"x'\"\nmu = 1.0\nFN = \"max(0, 2 - 0.5*(x' - (1 - t)))\"\n";
    const Trajectory rough = attempt(from_text(body("1 + if(x' - (1 - t) > 0.1, -4, 0)") + slider), 1.375);
    EXPECT_EQ(status_of(rough), "failed");
    EXPECT_NE(rough.reason.find("hardly advances"), std::string::npos) << rough.reason;
    EXPECT_EQ(rough.events.size(), 2U);
    EXPECT_NEAR(rough.end.t, 1.1, 1e-6);
}

TEST(HardCase, TooManyEventsEndTheRun) {
    const Trajectory motion = attempt(shipped("bouncing-ball", {{"e", 1.0}}), 1e4, EventDriven{.max_events = 50});
    EXPECT_EQ(status_of(motion), "failed");
    EXPECT_NE(motion.reason.find("50"), std::string::npos) << motion.reason;
    EXPECT_NEAR(static_cast<double>(motion.events.size()), 50.0, 1.0);
}

TEST(HardCase, StiffDampingIsIntegratedImplicitly) {
    const std::string stiff = R"toml(
[system]
name = "stiff damper"
q = ["x", "y"]
T = "1/2*(x'^2 + y'^2)"
U = "1/2*x^2 + 9.81*y + 1/2*y^2"
R = "1e6/2*(x' - y')^2"
[[contact]]
name = "floor"
gN = "y + 1"
eN = 0.5
[initial]
q = { x = 1.0, y = 1.0 }
)toml";
    const Trajectory motion = motion_of(from_text(stiff), 10.0);
    EXPECT_LT(motion.statistics.steps, 100000);
}

// --- every shipped model ---------------------------------------------------------------------------------------------

class ShippedModel : public ::testing::TestWithParam<const char*> {};

TEST_P(ShippedModel, MovesToTheEndOfItsFile) {
    const Model model = shipped(GetParam());
    const Trajectory motion = motion_of(model, model.settings->simulate.t_end.value_or(1.0));
    EXPECT_EQ(motion.forces.size(), motion.elements.size());
    EXPECT_LE(motion.statistics.worst_contact_residual, 1e-10);
}

TEST_P(ShippedModel, MovesTheSameWayInTwoHalves) {
    const Model model = shipped(GetParam());
    const double t_end = 0.3 * model.settings->simulate.t_end.value_or(1.0);
    const Trajectory whole = motion_of(model, t_end);
    // Half-way between two events, where nothing is about to happen.
    double middle = 0.0, widest = 0.0, last = 0.0;
    for (const Event& e : whole.events) {
        if (e.t - last > widest) widest = e.t - last, middle = last + 0.5 * widest;
        last = e.t;
    }
    if (t_end - last > widest) middle = 0.5 * (last + t_end);
    const Trajectory rest = motion_of(model, t_end, EventDriven{}, whole.right(middle));
    for (std::size_t i = 0; i < whole.end.q.size(); ++i) {
        const double size = 1.0 + std::abs(whole.end.u[i]);
        EXPECT_NEAR(rest.end.q[i], whole.end.q[i], 1e-6 * size) << story(rest);
        EXPECT_NEAR(rest.end.u[i], whole.end.u[i], 1e-5 * size) << story(rest);
    }
}

INSTANTIATE_TEST_SUITE_P(Every, ShippedModel,
                         ::testing::Values("ball-on-moving-plane", "bouncing-ball", "constrained-beam", "falling-block",
                                           "forklift", "friction-oscillator", "impact-oscillator", "mass-and-lift",
                                           "moving-wall", "newtons-cradle", "painleve-rod", "rocking-bar",
                                           "rocking-block", "single-link-arm", "slider-crank", "sphere-on-plane",
                                           "super-ball", "two-link-underactuated", "woodpecker"));

}  // namespace
}  // namespace saltus::hard_cases_test
