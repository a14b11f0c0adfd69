// SPDX-License-Identifier: Apache-2.0
#include "sensitivity/derivatives.hpp"
#include "support.hpp"

namespace saltus::refusals_test {
namespace {

using namespace saltus::test;

/// The message and the remedy of the error that naming these variables is.
std::string refusal(const std::string& model, const std::vector<std::string>& wrt) {
    const model::Description d = description_of(model);
    try {
        sensitivity::variables(model::build(d), wrt, &d);
    } catch (const Error& e) {
        return e.message() + "; " + e.remedy();
    }
    return "";
}

TEST(Refusals, UnknownNamesAreErrors) {
    EXPECT_EQ(refusal("bouncing-ball", {"y", "y'", "e"}), "");
    EXPECT_EQ(refusal("bouncing-ball", {"Y0"}), "unknown name 'Y0'; did you mean 'y0'?");
    EXPECT_EQ(refusal("sphere-on-plane", {"J"}), "'J' is computed from other parameters; take m and r instead");
}

TEST(Refusals, TimeSteppingHasNoDerivatives) {
    sensitivity::Options options;
    options.method = Moreau{};
    const Model m = shipped("bouncing-ball");
    const Sensitivity s = sensitivity::sensitivity(m, sensitivity::variables(m, {"y"}), options);
    EXPECT_FALSE(s.available);
    EXPECT_NE(s.reason.find("time-stepping"), std::string::npos);
}

bool says(const Sensitivity& s, const std::string& words) {
    for (const auto& r : s.remarks)
        if (r.text.find(words) != std::string::npos) return true;
    return false;
}

TEST(Refusals, AnImpulseOfPainleveHasNoDerivative) {
    const Sensitivity s = derivatives(shipped("painleve-rod"), {"m", "mu"}, 0.3);
    EXPECT_TRUE(s.final.col(0).hasNaN());
    EXPECT_TRUE(says(s, "Painleve")) << remarks(s);
}

const std::string two_balls = R"toml(
[system]
name = "two balls"
q = ["x", "y"]
T = "x'^2/2 + y'^2/2 + c*x'*y'"
U = "g*x + g*y"
[parameters]
c = 0.5
g = 9.81
[[contact]]
name = "first"
gN = "x"
eN = 0.5
[[contact]]
name = "second"
gN = "y"
eN = 0.5
[initial]
q = { x = 1.0, y = 1.0 }
)toml";

TEST(Refusals, SimultaneousEventsThatAVariableSeparatesHaveNoDerivative) {
    const Sensitivity s = derivatives(from_text(two_balls), {"x", "g", "c"}, 0.6);
    EXPECT_TRUE(s.final.col(0).hasNaN());
    EXPECT_FALSE(s.final.col(1).hasNaN());
    EXPECT_FALSE(s.final.col(2).hasNaN());
    EXPECT_TRUE(says(s, "2 events happen at the same time")) << remarks(s);
    ASSERT_FALSE(s.events.empty());
    EXPECT_TRUE(std::isnan(s.events[0].dt[0]));
    EXPECT_NEAR(s.events[0].dt[1], -0.5 * s.motion.events[0].t / 9.81 * (1.0), 1e-10);
}

TEST(Refusals, AGrazingEventHasNoDerivative) {
    // A projectile that reaches the ceiling at y = v²/(2g) less d with the speed √(2 g d).
    const std::string text = R"toml(
[system]
name = "ceiling"
q = ["y"]
T = "y'^2/2"
U = "g*y"
[parameters]
g = 10.0
d = 1e-16
[[contact]]
name = "ceiling"
gN = "0.2 - d - y"
eN = 0.5
[initial]
u = { y = 2.0 }
)toml";
    const auto at = [&](double d, double t_end = 0.3) {
        return derivatives(from_text(text, {{"d", d}}), {"y", "y'", "d"}, t_end);
    };
    const Sensitivity hit = at(1e-6);
    ASSERT_EQ(hit.motion.events.size(), 1U);
    EXPECT_NEAR(hit.events[0].transversality, std::sqrt(2e-5) / (std::sqrt(2e-5) + std::sqrt(10.0 * 1.2)), 1e-4);
    EXPECT_NEAR(hit.events[0].dt[0], -1.0 / std::sqrt(2e-5), 1e-3);
    EXPECT_TRUE(hit.remarks.empty()) << remarks(hit);
    // Below the margin there is none; no more where the gap comes down to rounding and opens again without an impulse.
    const Sensitivity graze = at(4e-15);
    ASSERT_EQ(graze.motion.events.size(), 1U) << story(graze.motion);
    EXPECT_LT(graze.events[0].transversality, 1e-7);
    EXPECT_TRUE(graze.final.hasNaN());
    EXPECT_TRUE(std::isnan(graze.events[0].dt[0]));
    EXPECT_TRUE(says(graze, "grazing")) << remarks(graze);
    for (const double d : {1e-15, 3e-16, 0.0, -1e-15}) {
        const Sensitivity touch = at(d);
        EXPECT_TRUE(touch.final.hasNaN()) << d;
        EXPECT_TRUE(says(touch, "grazing")) << d << remarks(touch);
    }
    // The touch at t = 0.2 may fall on any part of the step to the end, also on a time at which the gap is sampled.
    for (const double t_end : {0.21, 0.25, 0.28, 0.4, 0.5, 0.6, 0.7, 0.8, 1.0, 1.1, 2.2})
        EXPECT_TRUE(says(at(0.0, t_end), "grazing")) << t_end;
    const Sensitivity miss = at(-1e-12);
    EXPECT_FALSE(miss.final.hasNaN());
    EXPECT_TRUE(miss.remarks.empty()) << remarks(miss);
}

TEST(Refusals, AnOscillatorThatComesBackToItsStopAtRestHasNoDerivative) {
    // It starts at the stop with velocity 0, and touches the stop again after each period, up to rounding.
    const std::string text = R"toml(
[system]
q = ["x"]
T = "x'^2/2"
U = "k*x^2/2"
[parameters]
s = 1.0
e = 0.5
k = 1.0
[[contact]]
name = "stop"
gN = "s - x"
eN = "e"
[initial]
q = { x = "s" }
)toml";
    for (const double s : {0.3, 1.0, 5.0, 40.0})
        for (const double e : {0.0, 0.9})
            for (const double k : {1.0, 7.3}) {
                const Sensitivity d = derivatives(from_text(text, {{"s", s}, {"e", e}, {"k", k}}), {"x", "x'"}, 20.0);
                EXPECT_TRUE(d.final.hasNaN()) << s << " " << e << " " << k;
                EXPECT_TRUE(says(d, "grazing")) << s << " " << e << " " << k << remarks(d);
            }
}

TEST(Refusals, AContactThatIsTouchedAtTheStartWithoutVelocityHasNoDerivativeByVelocities) {
    // The floor is left at once, because the force points away from it. A velocity towards the floor causes an impact.
    const std::string text = R"toml(
[system]
q = ["y"]
T = "y'^2/2"
U = "-log(1 + y)"
[[contact]]
name = "floor"
gN = "y - h"
eN = 0.3
[parameters]
h = 0.0
)toml";
    const Sensitivity touches = derivatives(from_text(text), {"y'"}, 10.0);
    EXPECT_TRUE(touches.final.hasNaN());
    EXPECT_TRUE(says(touches, "touched at the start without velocity")) << remarks(touches);
    const Sensitivity above = derivatives(from_text(text, {{"h", -0.1}}), {"y'"}, 10.0);
    EXPECT_FALSE(above.final.hasNaN()) << remarks(above);
}

TEST(Refusals, InitialValuesThatLeaveContactsOrConstraintsHaveNoDerivative) {
    const Sensitivity s = derivatives(shipped("newtons-cradle"), {"x2", "x1", "s", "x3'"}, 0.5);
    EXPECT_TRUE(s.final.col(0).hasNaN());
    EXPECT_FALSE(s.final.col(1).hasNaN());
    EXPECT_TRUE(s.final.col(2).hasNaN());
    EXPECT_TRUE(says(s, "closed at the start")) << remarks(s);
    // A ball that touches the next one at rest strikes it or parts from it, and the motion jumps.
    EXPECT_TRUE(s.final.col(3).hasNaN());
    EXPECT_TRUE(says(s, "'2-3' is closed without a contact force")) << remarks(s);
}

TEST(Refusals, SlipThatStopsAtTheEdgeOfStickingHasNoDerivative) {
    const std::string text = R"toml(
[system]
name = "edge"
q = ["x"]
T = "x'^2/2"
f = { x = "-G" }
[parameters]
F = 0.5
G = 0.5
[[slider]]
name = "s4"
gammaT = "x'"
mu = 1.0
FN = "F"
[initial]
u = { x = 1.0 }
)toml";
    const Sensitivity s = derivatives(from_text(text), {"F", "G"}, 1.25);
    EXPECT_TRUE(s.final.col(0).hasNaN());
    EXPECT_TRUE(says(s, "at the edge between sticking and slipping")) << remarks(s);
}

TEST(Refusals, PoissonsLawWithCompressionThatIsNotUniqueHasNoDerivative) {
    const std::string text = R"toml(
[system]
name = "three contacts for two"
q = ["x", "z"]
T = "(x'^2 + z'^2)/2"
f = { z = "3" }
[[contact]]
name = "c1"
gN = "3 - z"
eN = 0.5
[[contact]]
name = "c2"
gN = "z - x - 2"
eN = 1.0
impact = "poisson"
[[contact]]
name = "c3"
gN = "1 - x"
eN = 0.0
[initial]
q = { x = -1.0, z = 3.0 }
u = { x = 2.0 }
)toml";
    const Sensitivity s = derivatives(from_text(text), {"x'"}, 1.09);
    EXPECT_TRUE(s.final.col(0).hasNaN()) << s.final;
    EXPECT_TRUE(says(s, "not unique")) << remarks(s);
}

TEST(Refusals, AMotionThatIsOneOfSeveralHasNoDerivativeWhereItsContactsLetGo) {
    // Feet with different coefficients share the weight 10 in any way. They hold up to 0.6·10, and then the loads are
    // those of least norm: friction falls to 4, and the time at which it falls is a matter of choice.
    const std::string text = R"toml(
[system]
q = ["x", "y"]
T = "(x'^2 + y'^2)/2"
U = "10*y"
f = { x = "a*t" }
[parameters]
a = 1.0
[[contact]]
name = "left"
gN = "y"
gammaT = "x'"
mu = 0.2
[[contact]]
name = "right"
gN = "y"
gammaT = "x'"
mu = 0.6
)toml";
    const Sensitivity s = derivatives(from_text(text), {"a", "y'"}, 7.0);
    EXPECT_TRUE(s.final.col(0).hasNaN()) << s.final;
    EXPECT_TRUE(says(s, "the motion is not unique")) << remarks(s);
}

TEST(Refusals, AForceThatJumpsAcrossItsBoundHasNoDerivative) {
    const std::string text = R"toml(
[system]
name = "pushed"
q = ["x"]
T = "x'^2/2"
f = { x = "0.5 + a*t + if(t > 1.2, 4, 0)" }
[parameters]
a = 0.1
F = 1.0
[[slider]]
name = "s"
gammaT = "x'"
mu = 1.0
FN = "F"
[initial]
q = { x = 0.0 }
)toml";
    const Sensitivity s = derivatives(from_text(text), {"a", "F"}, 1.5);
    EXPECT_TRUE(s.final.col(1).hasNaN()) << s.final;
    EXPECT_TRUE(says(s, "jumps")) << remarks(s);
}

TEST(Refusals, FrictionOfAnUnloadedSpringHasNoDerivative) {
    const std::string text = R"toml(
[system]
name = "soft floor"
q = ["x", "y"]
T = "(x'^2 + y'^2)/2"
f = { y = "-10" }
[parameters]
k = 1000.0
[[contact]]
name = "floor"
gN = "y"
gammaT = "x'"
mu = 0.5
[penalty]
k = "k"
d = 20.0
[initial]
q = { x = 0.0, y = 0.0 }
)toml";
    const Sensitivity s = derivatives(from_text(text), {"x'", "k", "y"}, 1.0, integrate::Penalty{});
    EXPECT_TRUE(s.final.col(0).hasNaN()) << s.final;
    EXPECT_FALSE(s.final.col(1).hasNaN()) << remarks(s);
    EXPECT_TRUE(s.final.col(2).hasNaN()) << s.final;
    EXPECT_TRUE(says(s, "grows from zero")) << remarks(s);
}

/// A ball that falls for one second comes down at the end, or just after it: one side has the derivative of the fall,
/// the other that of the rebound.
TEST(Refusals, AnEventOnTheEndHasTwoSides) {
    const model::Description d = io::parse_model(R"toml(
[system]
name = "ball"
q = ["y"]
T = "y'^2/2"
U = "g*y"
[parameters]
g = 9.81
e = 0.8
y0 = 4.905
[[contact]]
name = "floor"
gN = "y"
eN = "e"
[initial]
q = { y = "y0" }
)toml",
                                                 "test");
    const Model m = built(d);
    for (const double before : {0.0, 1e-13, 1e-8}) {
        sensitivity::Options options;
        options.t_end = 1.0 - before;
        const Sensitivity s = sensitivity::sensitivity(m, sensitivity::variables(m, {"y0", "g", "e"}), options);
        const bool near = before < 1e-11;
        EXPECT_EQ(says(s, "falls on the end"), near) << before << remarks(s);
        EXPECT_NEAR(s.final(0, 0), s.motion.events.empty() ? 1.0 : -0.8, 1e-9);
        if (!near) continue;
        const int side = s.motion.events.empty() ? 1 : -1;
        EXPECT_EQ(s.one_sided, (std::vector<int>{side, -side, 0}));
        const Differences differences = sensitivity::differences(d, {}, s, options);
        EXPECT_EQ(differences.compared, 3);
        EXPECT_LT(differences.max_relative_error, 1e-6);
        options.output = "y";
        options.adjoint = true;
        const Sensitivity back = sensitivity::sensitivity(m, sensitivity::variables(m, {"y0"}), options);
        EXPECT_TRUE(says(back, "falls on the end")) << remarks(back);
        EXPECT_NEAR(back.output_derivative[0], s.final(0, 0), 1e-12);
    }
}

const std::string pulled_block = R"toml(
[system]
name = "block at the bound of stick"
q = ["x", "y"]
T = "(x'^2 + y'^2)/2"
U = "10*y - F*x"
[parameters]
F = 3.0
mu = 0.3
[[contact]]
name = "floor"
gN = "y"
gammaT = "x'"
mu = "mu"
eN = 0.5
)toml";

TEST(Refusals, ABlockThatStartsAtTheBoundOfStickHasDerivativesByItsPlaceOnly) {
    // With F a little larger the block moves by δF t²/2, with F a little smaller it stays. The same holds for mu and
    // for the velocities.
    const Sensitivity s = derivatives(from_text(pulled_block), {"F", "mu", "x'", "y'", "x"}, 0.5);
    for (int j = 0; j < 4; ++j) EXPECT_TRUE(s.final.col(j).hasNaN()) << j;
    EXPECT_EQ(s.final(0, 4), 1.0);
    EXPECT_TRUE(says(s, "at the edge between sticking and slipping at the start")) << remarks(s);
    // A little inside of the bound there are derivatives.
    const Sensitivity inside = derivatives(from_text(pulled_block, {{"F", 2.999}}), {"F", "mu", "x'", "y'"}, 0.5);
    EXPECT_FALSE(inside.final.hasNaN()) << remarks(inside);
    EXPECT_EQ(inside.final(0, 0), 0.0);
}

TEST(Refusals, FeetThatShareALoadAtTheBoundOfStickHaveNoDerivatives) {
    // Two pads hold up to 0.3 + 0.2 together; each distribution of a smaller force is admissible.
    const std::string text = R"toml(
[system]
q = ["x"]
T = "x'^2/2"
U = "-F*x"
[parameters]
F = 0.5
mu = 0.3
[[slider]]
name = "a"
gammaT = "x'"
mu = "mu"
FN = 1
[[slider]]
name = "b"
gammaT = "x'"
mu = 0.2
FN = 1
)toml";
    const Sensitivity s = derivatives(from_text(text), {"F", "mu", "x'", "x"}, 0.5);
    for (int j = 0; j < 3; ++j) EXPECT_TRUE(s.final.col(j).hasNaN()) << j << remarks(s);
    EXPECT_EQ(s.final(0, 3), 1.0);
    EXPECT_FALSE(derivatives(from_text(text, {{"F", 0.499}}), {"F", "mu", "x'"}, 0.5).final.hasNaN());
}

TEST(Refusals, AFreeClutchAtRestHasDerivativesForwardsOnly) {
    const std::string text = R"toml(
[system]
q = ["x"]
T = "x'^2/2"
U = "-x"
[[clutch]]
name = "ratchet"
gamma = "x'"
)toml";
    const Sensitivity s = derivatives(from_text(text), {"x'", "x"}, 0.5);
    EXPECT_NEAR(s.final(0, 0), 0.5, 1e-12);
    EXPECT_EQ(s.one_sided[0], 1);
    EXPECT_EQ(s.one_sided[1], 0);
    EXPECT_TRUE(says(s, "hold for larger values only")) << remarks(s);
}

TEST(Refusals, AMotionThatBeginsAtTheTriggerOfAJumpHasDerivativesOnOneSide) {
    const auto start = [](const char* direction, double velocity) {
        const std::string text = R"toml(
[system]
q = ["x"]
T = "x'^2/2"
[[jump]]
name = "gate"
when = "x"
direction = ")toml" + std::string(direction) +
                                 R"toml("
u = { x = "0.5*x'" }
[initial]
u = { x = )toml" + std::to_string(velocity) +
                                 " }\n";
        return derivatives(from_text(text), {"x", "x'"}, 1.0);
    };
    EXPECT_EQ(start("up", 1.0).one_sided[0], 1);  // from x < 0 the body would meet the jump
    EXPECT_EQ(start("up", 1.0).one_sided[1], 0);
    EXPECT_EQ(start("down", 1.0).one_sided[0], 0);  // it rises through zero, which does not trigger the jump
    EXPECT_EQ(start("down", -1.0).one_sided[0], -1);
    const Sensitivity rests = start("both", 0.0);
    EXPECT_TRUE(rests.final.col(0).hasNaN()) << remarks(rests);
}

TEST(Refusals, ABodyAtRestOnARidgeHasNoDerivatives) {
    // It stays on the ridge of U = −|x|, but leaves it from any other start.
    const auto at_rest = [](const char* force) {
        const std::string text = R"toml(
[system]
q = ["x", "y"]
T = "(x'^2 + y'^2)/2"
f = { x = ")toml" + std::string(force) +
                                 R"toml(" }
)toml";
        const Model m = from_text(text);
        sensitivity::Options options;
        options.t_end = 1.0;
        return sensitivity::sensitivity(m, sensitivity::variables(m, {"x", "y"}), options);
    };
    const Sensitivity ridge = at_rest("sign(x)");
    EXPECT_FALSE(ridge.available);
    EXPECT_NE(ridge.reason.find("follows the jump"), std::string::npos) << ridge.reason;
    EXPECT_FALSE(at_rest("-0.3*sign(x')").available);
    // At a kink of the force the derivatives of both sides differ, unless the slopes there are equal.
    const Sensitivity kink = at_rest("max(0, x)");
    EXPECT_FALSE(kink.available);
    EXPECT_NE(kink.reason.find("has a kink"), std::string::npos) << kink.reason;
    EXPECT_TRUE(at_rest("-abs(x')*x'").available);
    EXPECT_TRUE(at_rest("sign(x - 1)").available);  // the jump is elsewhere
}

TEST(Refusals, AClutchThatIsLockedWithoutAForceHasNoDerivatives) {
    const std::string text = R"toml(
[system]
q = ["x"]
T = "x'^2/2"
U = "-F*x"
[parameters]
F = 0.0
[[clutch]]
name = "ratchet"
gamma = "x'"
)toml";
    const Sensitivity s = derivatives(from_text(text), {"F", "x'", "x"}, 0.5);
    EXPECT_TRUE(s.final.col(0).hasNaN());
    EXPECT_TRUE(s.final.col(1).hasNaN());
    EXPECT_EQ(s.final(0, 2), 1.0);
    EXPECT_TRUE(says(s, "locked without a force")) << remarks(s);
    EXPECT_FALSE(derivatives(from_text(text, {{"F", -1.0}}), {"F", "x'"}, 0.5).final.hasNaN());
}

TEST(Refusals, AContactThatBeginsToExistAtTheStartHasDerivativesOnOneSide) {
    const std::string text = R"toml(
[system]
q = ["x", "y"]
T = "(x'^2 + y'^2)/2"
U = "10*y"
[[contact]]
name = "ledge"
gN = "y"
if = "x < 0"
[initial]
u = { x = 1.0 }
)toml";
    const Sensitivity s = derivatives(from_text(text), {"x"}, 0.5);
    EXPECT_EQ(s.one_sided[0], 1);  // from x < 0 the body would be held for a while
    EXPECT_EQ(s.final(0, 0), 1.0);
}

TEST(Refusals, AJumpOfAnExpressionAtTheEndHoldsOnOneSide) {
    const std::string text = R"toml(
[system]
q = ["x"]
T = "x'^2/2"
f = { x = "if(t < T, F, 0)" }
[parameters]
T = 1.0
F = 1.0
)toml";
    const Sensitivity s = derivatives(from_text(text), {"T", "F"}, 1.0);
    EXPECT_EQ(s.one_sided[0], 1);
    EXPECT_TRUE(says(s, "falls on the end")) << remarks(s);
    EXPECT_EQ(s.one_sided[1], 0);
    EXPECT_NEAR(s.final(1, 1), 1.0, 1e-12);
}

TEST(Refusals, AnImpactInTheCornerOfAGapHasNoDerivativeAcrossIt) {
    const std::string text = R"toml(
[system]
q = ["x", "y"]
T = "(x'^2 + y'^2)/2"
U = "10*y"
[[contact]]
name = "valley"
gN = "y - abs(x)"
eN = 0.5
[initial]
q = { y = 0.5 }
)toml";
    const Sensitivity s = derivatives(from_text(text), {"x", "y"}, 0.6);
    EXPECT_TRUE(s.final.col(0).hasNaN());
    EXPECT_FALSE(s.final.col(1).hasNaN()) << remarks(s);
    EXPECT_TRUE(says(s, "corner or a jump where the impact happens")) << remarks(s);
}

TEST(Refusals, AJumpWhoseConditionIsMetWithEqualityHasNoDerivativeAcrossIt) {
    const std::string text = R"toml(
[system]
q = ["x", "y"]
T = "(x'^2 + y'^2)/2"
[[jump]]
name = "gate"
when = "x"
direction = "up"
if = "y >= 0"
u = { x = "0.5*x'" }
[initial]
q = { x = -0.3 }
u = { x = 1.0 }
)toml";
    const Sensitivity s = derivatives(from_text(text), {"x", "y"}, 1.0);
    EXPECT_TRUE(s.final.col(1).hasNaN());
    EXPECT_TRUE(says(s, "met with equality")) << remarks(s);
    EXPECT_FALSE(derivatives(from_text(text), {"x"}, 0.2).final.hasNaN()) << "it has not reached the gate";
}

}  // namespace
}  // namespace saltus::refusals_test
