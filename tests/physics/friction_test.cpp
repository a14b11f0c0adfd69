// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numbers>
#include <random>

#include "physics/motion.hpp"

namespace saltus::friction_test {
namespace {

using namespace saltus::test;

constexpr double g = 9.81;

// --- the incline -----------------------------------------------------------------------------------------------------

/// x down the slope, y away from it; z across for the spatial one.
const std::string planar_incline = R"toml(
[system]
name = "block on an incline"
q = ["x", "y"]
T = "m/2*(x'^2 + y'^2)"
f = { x = "m*9.81*sin(a)", y = "-m*9.81*cos(a)" }
[parameters]
m = 2.0
a = 0.3
mu = 0.32
y0 = 0.0
v0 = 0.0
e = 0.0
[[contact]]
name = "slope"
gN = "y"
gammaT = "x'"
mu = "mu"
eN = "e"
[initial]
q = { y = "y0" }
u = { x = "v0" }
)toml";

const std::string spatial_incline = R"toml(
[system]
name = "block on an incline, in space"
q = ["x", "y", "z"]
T = "m/2*(x'^2 + y'^2 + z'^2)"
f = { x = "m*9.81*sin(a)", y = "-m*9.81*cos(a)" }
[parameters]
m = 2.0
a = 0.3
mu = 0.32
y0 = 0.0
v0 = 0.0
w0 = 0.0
e = 0.0
[[contact]]
name = "slope"
gN = "y"
gammaT = ["x'", "z'"]
mu = "mu"
eN = "e"
[initial]
q = { y = "y0" }
u = { x = "v0", z = "w0" }
)toml";

/// A block with two corners, free to turn.
const std::string standing_block = R"toml(
[system]
name = "block with corners on an incline"
q = ["x", "y", "phi"]
T = "m/2*(x'^2 + y'^2) + J/2*phi'^2"
f = { x = "m*9.81*sin(a)", y = "-m*9.81*cos(a)" }
[parameters]
m = 2.0
J = 0.2
w = 0.5
h = 0.3
a = 0.3
mu = 0.32
y0 = 0.0
[[contact]]
name = "upper"
gN = "y - w*sin(-phi) - h*cos(phi)"
gammaT = "x' + (w*sin(-phi) + h*cos(phi))*phi'"
mu = "mu"
[[contact]]
name = "lower"
gN = "y + w*sin(-phi) - h*cos(phi)"
gammaT = "x' + (-w*sin(-phi) + h*cos(phi))*phi'"
mu = "mu"
[initial]
q = { y = "h + y0" }
)toml";

TEST(Incline, BelowTheFrictionAngleABlockDoesNotCreep) {
    for (const std::string& text : {planar_incline, spatial_incline, standing_block}) {
        const Trajectory motion = motion_of(from_text(text), 1000.0);
        EXPECT_NEAR(motion.end.q[0], 0.0, 1e-11) << motion.model;  // rounding of 1000 s
        EXPECT_NEAR(motion.end.u[0], 0.0, 1e-15) << motion.model;
        EXPECT_TRUE(motion.events.empty()) << story(motion);
    }
}

TEST(Incline, ABlockDroppedOnItComesToRestAndDoesNotCreepThen) {
    const Values drop{{"y0", 0.2}, {"v0", 0.5}, {"e", 0.4}};
    for (const std::string& text : {planar_incline, spatial_incline}) {
        const Trajectory motion = motion_of(from_text(text, drop), 1000.0);
        ASSERT_EQ(motion.events.back().kind, EventKind::stick) << story(motion, 60);
        EXPECT_NEAR(motion.end.q[0], motion.events.back().q[0], 1e-12);
        EXPECT_LT(motion.events.back().t, 60.0);
    }
    const Trajectory block = motion_of(from_text(standing_block, {{"y0", 0.01}, {"mu", 0.9}}), 100.0);
    const double rested = block.right(50.0).q[0];
    EXPECT_NEAR(block.end.q[0], rested, 1e-12) << story(block, 30);
}

TEST(Incline, BelowTheFrictionAngleABlockDoesNotCreepUnderMoreauEither) {
    for (const std::string& text : {planar_incline, spatial_incline, standing_block}) {
        const Trajectory motion = motion_of(from_text(text), 20.0, Moreau{.h = 1e-3, .keep_arcs = false});
        EXPECT_NEAR(motion.end.q[0], 0.0, 1e-9) << motion.model;
    }
}

TEST(Incline, AboveTheFrictionAngleABlockAccelerates) {
    const double a = 0.3, mu = 0.25;
    for (const std::string& text : {planar_incline, spatial_incline}) {
        const Trajectory motion = motion_of(from_text(text, {{"mu", mu}}), 2.0);
        EXPECT_NEAR(motion.end.u[0], 2.0 * g * (std::sin(a) - mu * std::cos(a)), 1e-9) << motion.model;
    }
}

TEST(Incline, ABlockKickedAcrossItTurnsDownhillAndStops) {
    // Friction against the velocity, gravity down the slope: energy balance, and rest since μ > tan a.
    const Trajectory motion = motion_of(from_text(spatial_incline, {{"w0", 1.0}, {"mu", 0.4}}), 10.0);
    ASSERT_EQ(motion.events.size(), 1U) << story(motion);
    EXPECT_EQ(motion.events[0].kind, EventKind::stick);
    // With s the speed, u its downhill part and β = μ/tan a: ṡ = g sin a (u/s − β), u̇ = g sin a (1 − β u/s), so
    // β s + u falls linearly, from β w0 to rest. Towards the end the slip has turned by 90 degrees.
    const double a = 0.3, mu = 0.4;
    const double beta = mu * std::cos(a) / std::sin(a);
    EXPECT_NEAR(motion.events[0].t, beta / ((beta * beta - 1.0) * g * std::sin(a)), 1e-8);
    EXPECT_NEAR(motion.events[0].u_minus[0], 0.0, 1e-7) << "it must not be stopped while it still slips";
    EXPECT_EQ(motion.end.u[0], 0.0);
    EXPECT_EQ(motion.end.u[2], 0.0);
}

// --- orthotropic friction --------------------------------------------------------------------------------------------

const std::string orthotropic = R"toml(
[system]
name = "block on a grained floor"
q = ["x", "y", "z"]
T = "1/2*(x'^2 + y'^2 + z'^2)"
U = "9.81*z"
[parameters]
mu1 = 0.4
mu2 = "mu1/sqrt(2)"      # mu1^2 = 2 mu2^2
vx = 1.0
vy = 1.0
[[contact]]
name = "floor"
gN = "z"
gammaT = ["x'", "y'"]
mu = ["mu1", "mu2"]
[initial]
u = { x = "vx", y = "vy" }
)toml";

TEST(Orthotropic, FrictionStopsTheBlockAlongTheAxesAsEachCoefficientSays) {
    const Trajectory along = motion_of(from_text(orthotropic, {{"vy", 0.0}}), 1.0);
    const Trajectory across = motion_of(from_text(orthotropic, {{"vx", 0.0}}), 1.0);
    EXPECT_NEAR(along.end.q[0], 1.0 / (2.0 * 0.4 * g), 1e-9);
    EXPECT_NEAR(across.end.q[1], 1.0 / (2.0 * 0.4 / std::numbers::sqrt2 * g), 1e-9);
    ASSERT_EQ(along.events.size(), 1U) << story(along);
    EXPECT_NEAR(along.events[0].t, 1.0 / (0.4 * g), 1e-9);
}

TEST(Orthotropic, FrictionBendsThePathAlongTheNormalOfItsEllipse) {
    // u̇_i = −g μ_i² u_i/√(Σ μ_j² u_j²): u_x ~ u_y² for μ1² = 2μ2².
    const Trajectory motion = motion_of(from_text(orthotropic), 1.0);
    for (const double t : {0.05, 0.1, 0.2, 0.25}) {
        const State s = motion.right(t);
        EXPECT_NEAR(s.u[0], s.u[1] * s.u[1], 1e-9) << t;
        EXPECT_LT(s.u[1], 1.0);
    }
    ASSERT_EQ(motion.events.size(), 1U) << story(motion);
    EXPECT_EQ(motion.events[0].kind, EventKind::stick);
    EXPECT_EQ(motion.end.u[0], 0.0);
    EXPECT_EQ(motion.end.u[1], 0.0);
}

// --- Coulomb–Contensou: sliding and drilling of a patch --------------------------------------------------------------

const std::string puck = R"toml(
[system]
name = "puck"
q = ["x", "y", "z", "phi"]
T = "m/2*(x'^2 + y'^2 + z'^2) + m*R^2/4*phi'^2"
U = "m*9.81*z"
[parameters]
m = 0.7
R = 0.1
mu = 0.2
v0 = 0.0
w0 = 0.0
[[contact]]
name = "ice"
gN = "z"
gammaT = ["x'", "y'", "phi'"]
mu = "mu"
friction = "contensou"
radius = "R"
[initial]
u = { x = "v0", phi = "w0" }
)toml";

TEST(Contensou, DrillingAloneIsBrakedByTwoThirdsOfTheForceTimesTheRadius) {
    const double mu = 0.2, R = 0.1, w0 = 20.0;
    const Trajectory motion = motion_of(from_text(puck, {{"w0", w0}}), 3.0);
    const double stop = w0 * 0.5 * R * R / (2.0 / 3.0 * mu * g * R);
    ASSERT_EQ(motion.events.size(), 1U) << story(motion);
    EXPECT_EQ(motion.events[0].kind, EventKind::stick);
    EXPECT_NEAR(motion.events[0].t, stop, 1e-9 * stop);
    EXPECT_NEAR(motion.end.q[3], 0.5 * w0 * stop, 1e-8);
}

TEST(Contensou, SlidingAloneIsBrakedByTheWholeForce) {
    const Trajectory motion = motion_of(from_text(puck, {{"v0", 1.0}}), 3.0);
    ASSERT_EQ(motion.events.size(), 1U) << story(motion);
    EXPECT_NEAR(motion.events[0].t, 1.0 / (0.2 * g), 1e-9);
    EXPECT_NEAR(motion.end.q[0], 1.0 / (2.0 * 0.2 * g), 1e-9);
}

TEST(Contensou, SlidingAndDrillingEndTogether) {
    // A uniform disc: whatever the start, v/(Rω) tends to 0.653 and both vanish at the same time [Farkas].
    for (const double w0 : {2.0, 10.0, 50.0}) {
        const Trajectory motion = motion_of(from_text(puck, {{"v0", 1.0}, {"w0", w0}}), 4.0);
        ASSERT_EQ(motion.events.size(), 1U) << story(motion);
        const double stop = motion.events[0].t;
        const State before = motion.left(stop * (1.0 - 1e-5));
        EXPECT_NEAR(before.u[0] / (0.1 * before.u[3]), 0.653, 2e-2) << "w0 = " << w0;
        EXPECT_EQ(motion.end.u[0], 0.0);
        EXPECT_EQ(motion.end.u[3], 0.0);
    }
}

TEST(Contensou, SpinLetsAPuckSlideOnASlopeThatWouldHoldIt) {
    // With drilling the resistance to slow sliding is viscous: the puck creeps downhill until the spin is over.
    model::Description d = io::parse_model(puck, "test");
    d.f = {{"x", "m*1.0", {}}};  // half of what friction could hold
    const Trajectory spun = motion_of(built(d, {{"w0", 40.0}}), 10.0), still = motion_of(built(d), 10.0);
    EXPECT_NEAR(still.end.q[0], 0.0, 1e-12);
    EXPECT_GT(spun.end.q[0], 1e-3);
    EXPECT_EQ(spun.end.u[0], 0.0) << story(spun);
}

// --- rolling ---------------------------------------------------------------------------------------------------------

const std::string bowling = R"toml(
[system]
name = "ball that begins to roll"
q = ["x", "y", "phi"]
T = "m/2*(x'^2 + y'^2) + m*r^2/5*phi'^2"
U = "m*9.81*y"
[parameters]
m = 3.0
r = 0.11
mu = 0.15
v0 = 4.0
[[contact]]
name = "lane"
gN = "y - r"
gammaT = "x' + r*phi'"
mu = "mu"
[initial]
q = { y = "r" }
u = { x = "v0" }
)toml";

TEST(Rolling, BeginsAfterTwoSeventhsOfTheTimeThatWouldStopTheBall) {
    const double v0 = 4.0, mu = 0.15, t = 2.0 * v0 / (7.0 * mu * g);
    const Trajectory motion = motion_of(from_text(bowling), 3.0);
    ASSERT_EQ(motion.events.size(), 1U) << story(motion);
    EXPECT_EQ(motion.events[0].kind, EventKind::stick);
    EXPECT_TRUE(matches(motion.events[0].t, t, 1e-10));
    EXPECT_NEAR(motion.end.u[0], 5.0 / 7.0 * v0, 1e-9);
    EXPECT_NEAR(motion.forces.at(0).T.at(0), 0.0, 1e-9) << "rolling needs no friction";
    EXPECT_NEAR(motion.end.q[0], v0 * t - 0.5 * mu * g * t * t + (3.0 - t) * 5.0 / 7.0 * v0, 1e-8);
}

TEST(Rolling, OfASphereInSpaceEndsWithTheVelocityThatImpactsAndFrictionCannotChange) {
    for (const double e : {0.0, 0.5, 0.9})
        for (const double mu : {0.1, 0.2, 0.5}) {
            const Trajectory motion = motion_of(shipped("sphere-on-plane", {{"e", e}, {"mu", mu}}), 4.0);
            EXPECT_NEAR(motion.end.u[0], 5.0 / 7.0 * 0.4, 1e-8) << "e = " << e << ", mu = " << mu;
            EXPECT_NEAR(motion.end.u[1], 2.0 / 7.0 * 0.03 * 60.0, 1e-8) << "e = " << e << ", mu = " << mu;
        }
}

/// A sphere whose attitude does not matter: the angles are integrals of the angular velocity.
const std::string resisted = R"toml(
[system]
name = "sphere with rolling resistance"
q = ["x", "y", "z", "alpha", "beta", "gamma"]
T = "m/2*(x'^2 + y'^2 + z'^2) + m*r^2/5*(alpha'^2 + beta'^2 + gamma'^2)"
U = "m*9.81*z"
[parameters]
m = 0.5
r = 0.05
mu = 0.5
drill = 0.004
roll = 0.002
v0 = 0.0
spin = 0.0
[[contact]]
name = "floor"
gN = "z - r"
gammaT = ["x' - r*beta'", "y' + r*alpha'", "gamma'", "alpha'", "beta'"]
mu = "mu"
friction = "rolling"
radii = ["drill", "roll"]
[initial]
q = { z = "r" }
u = { x = "v0", beta = "v0/r", gamma = "spin" }
)toml";

TEST(Rolling, ResistanceStopsTheSphereAfterHalfTheSquareOverTheDeceleration) {
    const double v0 = 1.0, r = 0.05, a = 5.0 / 7.0 * 0.5 * 0.002 * g / r;
    const Trajectory motion = motion_of(from_text(resisted, {{"v0", v0}}), 10.0);
    ASSERT_FALSE(motion.events.empty());
    EXPECT_EQ(motion.events.back().kind, EventKind::stick) << story(motion);
    EXPECT_NEAR(motion.events.back().t, v0 / a, 1e-8);
    EXPECT_NEAR(motion.end.q[0], v0 * v0 / (2.0 * a), 1e-8);
    EXPECT_NEAR(motion.end.u[0], 0.0, 1e-12);
    EXPECT_NEAR(motion.end.q[4], motion.end.q[0] / r, 1e-8) << "it rolled all the way";
}

TEST(Rolling, DrillingMomentStopsTheSpinWhateverTheRolling) {
    const double spin = 30.0, J = 0.4 * 0.5 * 0.05 * 0.05, stop = spin * J / (0.5 * 0.004 * 0.5 * g);
    for (const double v0 : {0.0, 1.0}) {
        const Trajectory motion = motion_of(from_text(resisted, {{"spin", spin}, {"v0", v0}}), 10.0);
        EXPECT_NEAR(motion.end.q[5], 0.5 * spin * stop, 1e-7) << story(motion);
        EXPECT_NEAR(motion.right(0.5 * stop).u[5], 0.5 * spin, 1e-7);
        EXPECT_NEAR(motion.end.u[5], 0.0, 1e-12);
    }
}

TEST(Rolling, SlidingBecomesRollingAndThenRestWithResistance) {
    // Pushed without turning: sliding until x' = r β', with the rolling moment at work from the first turn on.
    model::Description d = io::parse_model(resisted, "test");
    d.initial.u = {{"x", 1.0, {}}};
    const double mu = 0.5, m = 0.5, r = 0.05, J = 0.4 * m * r * r;
    const double slip = 1.0 / (mu * g + r * (mu * m * g * r - mu * 0.002 * m * g) / J);
    const Trajectory motion = motion_of(built(d), 10.0);
    ASSERT_GE(motion.events.size(), 2U) << story(motion);
    EXPECT_EQ(motion.events[0].kind, EventKind::stick);
    EXPECT_TRUE(matches(motion.events[0].t, slip, 1e-9));
    EXPECT_NEAR(motion.end.u[0], 0.0, 1e-12);
}

// --- impacts with friction -------------------------------------------------------------------------------------------

TEST(SuperBall, ComesBackFromUnderTheTable) {
    const Trajectory motion = motion_of(shipped("super-ball"), 0.5);
    const std::vector<Event> impacts = events_of(motion, EventKind::impact);
    ASSERT_EQ(impacts.size(), 3U) << story(motion);
    EXPECT_NEAR(impacts[0].u_plus[0], 4.0 * 3.0 / 7.0, 1e-10);
    EXPECT_NEAR(impacts[1].u_plus[0], -4.0 * 31.0 / 49.0, 1e-10);
    EXPECT_NEAR(impacts[2].u_plus[0], -4.0 * 333.0 / 343.0, 1e-10);
    EXPECT_NEAR(motion.energy.final, motion.energy.initial, 1e-9);
}

// --- friction of springs ---------------------------------------------------------------------------------------------

TEST(Penalty, FrictionIsProportionalToTheForceOfTheSpring) {
    // At rest on the spring, m g/k deep, friction is μ m g as on a rigid floor.
    const std::string sledge = R"toml(
[system]
name = "sledge on a springy floor"
q = ["x", "y"]
T = "m/2*(x'^2 + y'^2)"
U = "m*9.81*y"
f = { x = "F" }
[parameters]
m = 2.0
k = 1e5
mu = 0.3
F = 0.0
v0 = 1.0
[[contact]]
name = "floor"
gN = "y"
gammaT = "x'"
mu = "mu"
[penalty]
k = "k"
[initial]
u = { x = "v0" }
)toml";
    const model::Description d = io::parse_model(sledge, "test");
    const State start{0.0, {0.0, -2.0 * g / 1e5}, {1.0, 0.0}};
    const Trajectory slides = motion_of(built(d), 1.0, Penalty{}, start);
    ASSERT_EQ(slides.events.size(), 1U) << story(slides);
    EXPECT_EQ(slides.events[0].kind, EventKind::stick);
    EXPECT_NEAR(slides.events[0].t, 1.0 / (0.3 * g), 1e-8);
    EXPECT_NEAR(slides.end.q[0], 1.0 / (2.0 * 0.3 * g), 1e-8);
    State still = start;
    still.u[0] = 0.0;
    EXPECT_NEAR(motion_of(built(d, {{"F", 5.0}}), 10.0, Penalty{}, still).end.q[0], 0.0, 1e-12) << "5 N < 5.9 N";
    EXPECT_NEAR(motion_of(built(d, {{"F", 7.0}}), 1.0, Penalty{}, still).end.q[0], 0.25 * (7.0 - 0.6 * g), 1e-8);
}

TEST(Penalty, ADamperDoesNotPullTheBallBack) {
    // x'' = −(k x + d x') in the spring from x = 0, x' = v; where that force becomes zero the ball flies on freely.
    const double k = 100.0, c = 2.0, v = 1.0, w = std::sqrt(k - 0.25 * c * c);
    const Model model = from_text(R"toml(
[system]
name = "ball and buffer"
q = ["y"]
T = "1/2*y'^2"
[[contact]]
name = "buffer"
gN = "y"
[penalty]
k = 100.0
d = 2.0
[initial]
q = { y = 0.5 }
u = { y = -1.0 }
)toml");
    // k x + d x' = 0 with x = v/w e^(−ct/2) sin wt:  tan wt = −c w/(k − c²/2), in the second quadrant
    const double released = (std::numbers::pi - std::atan2(c * w, k - 0.5 * c * c)) / w;
    const double decay = v / w * std::exp(-0.5 * c * released);
    const double x = decay * std::sin(w * released);
    const double rate = decay * (w * std::cos(w * released) - 0.5 * c * std::sin(w * released));
    ASSERT_NEAR(k * x + c * rate, 0.0, 1e-12);
    for (const double rtol : {1e-6, 1e-9, 1e-12}) {
        const Trajectory motion = motion_of(model, 2.0, Penalty{.rtol = rtol, .atol = 1e-3 * rtol});
        EXPECT_NEAR(motion.end.u[0], -rate, 10.0 * rtol) << rtol;
        EXPECT_NEAR(motion.end.q[0], -x - rate * (1.5 - released), 10.0 * rtol) << rtol;
        // A force with a kink in it would cost hundreds of steps.
        EXPECT_LE(motion.statistics.rejected, 10) << rtol;
    }
}

TEST(Penalty, DampingMakesABallComeToRest) {
    model::Description d = description_of("bouncing-ball");
    d.penalty->k = 1e4;
    d.penalty->d = 20.0;  // critical at 200
    const Trajectory motion = motion_of(built(d), 30.0, Penalty{});
    EXPECT_NEAR(motion.end.q[0], -g / 1e4, 1e-8);
    EXPECT_NEAR(motion.forces.at(0).N, g, 1e-4);
    // Never adhesive: the force of the damper does not pull.
    for (const Event& e : events_of(motion, EventKind::lift_off)) EXPECT_GE(e.u_plus[0], 0.0);
}

// --- sliders and clutches --------------------------------------------------------------------------------------------

TEST(Slider, BrakesWithTheForceOfTheMoment) {
    const std::string brake = R"toml(
[system]
name = "brake that is applied slowly"
q = ["x"]
T = "1/2*x'^2"
[[slider]]
gammaT = "x'"
mu = 0.5
FN = "4*t"
[initial]
u = { x = 9.0 }
)toml";
    const Trajectory motion = motion_of(from_text(brake), 5.0);  // x' = 9 − t²
    ASSERT_EQ(motion.events.size(), 1U) << story(motion);
    EXPECT_TRUE(matches(motion.events[0].t, 3.0, 1e-10));
    EXPECT_NEAR(motion.end.q[0], 18.0, 1e-9);
}

TEST(Slider, HoldsAgainstAGrowingForceUntilItIsTooLarge) {
    const std::string pull = R"toml(
[system]
name = "pulled block"
q = ["x"]
T = "1/2*x'^2"
f = { x = "t" }
[[slider]]
gammaT = "x'"
mu = 0.4
FN = 5.0
)toml";
    const Trajectory motion = motion_of(from_text(pull), 3.0);  // x'' = t − 2 from t = 2 on
    ASSERT_EQ(motion.events.size(), 1U) << story(motion);
    EXPECT_EQ(motion.events[0].kind, EventKind::slip);
    EXPECT_TRUE(matches(motion.events[0].t, 2.0, 1e-10));
    EXPECT_NEAR(motion.end.q[0], 1.0 / 6.0, 1e-9);
    EXPECT_NEAR(motion.end.u[0], 0.5, 1e-9);
}

TEST(Slider, FollowsAHarmonicForceThroughManySticks) {
    // F cos t on a block with friction R < F, no spring: it sticks twice a period and slips symmetrically.
    const std::string shaken = R"toml(
[system]
name = "block shaken by a force"
q = ["x"]
T = "1/2*x'^2"
f = { x = "cos(t)" }
[[slider]]
gammaT = "x'"
mu = 1.0
FN = 0.8
)toml";
    const Trajectory motion = motion_of(from_text(shaken), 200.0 * std::numbers::pi);
    const std::vector<Event> slips = events_of(motion, EventKind::slip), sticks = events_of(motion, EventKind::stick);
    ASSERT_EQ(sticks.size(), 200U) << story(motion);
    const double begins = std::acos(0.8);
    for (std::size_t i = 5; i < slips.size(); ++i)
        EXPECT_NEAR(std::abs(std::remainder(slips[i].t + begins, std::numbers::pi)), 0.0, 1e-9) << i;
    for (std::size_t i = 5; i < sticks.size(); ++i)
        EXPECT_NEAR(sticks[i].t - sticks[i - 1].t, std::numbers::pi, 1e-8) << i;
}

TEST(Clutch, DrivesOneWayAndRunsFreeTheOther) {
    const std::string flywheels = R"toml(
[system]
name = "two flywheels with a one-way clutch"
q = ["phi1", "phi2"]
T = "J1/2*phi1'^2 + J2/2*phi2'^2"
f = { phi1 = "if(t < 3, -tau, 2*tau)" }
[parameters]
J1 = 1.0
J2 = 3.0
tau = 2.0
[[clutch]]
name = "clutch"
gamma = "phi1' - phi2'"
[initial]
u = { phi1 = 2.0 }
)toml";
    // Free until φ1' = 2 − 2t meets φ2' = 0 at t = 1, locked with −τ/(J1 + J2) until the torque turns round at t = 3,
    // free.
    const Trajectory motion = motion_of(from_text(flywheels), 5.0);
    EXPECT_NEAR(motion.right(0.5).u[0], 1.0, 1e-9);
    EXPECT_NEAR(motion.right(0.5).u[1], 0.0, 1e-12);
    EXPECT_NEAR(motion.right(2.0).u[0], -0.5, 1e-9);
    EXPECT_NEAR(motion.right(2.0).u[1], -0.5, 1e-9);
    EXPECT_NEAR(motion.end.u[0], -1.0 + 4.0 * 2.0, 1e-8) << story(motion);
    EXPECT_NEAR(motion.end.u[1], -1.0, 1e-8) << story(motion);
    ASSERT_EQ(motion.events.size(), 2U) << story(motion);
    EXPECT_TRUE(matches(motion.events[0].t, 1.0, 1e-10));
    EXPECT_TRUE(matches(motion.events[1].t, 3.0, 1e-8));
}

TEST(Clutch, RunsAfterAnImpactThatSetsItInMotionAndLocksWhenItStops) {
    // A point in the corner between the clutch x' >= 0 and the inclined floor x + y >= 0 moves down with the speed 1.
    // The floor strikes: u = (1/2, -1/2). It then slides along the floor with x'' = -20 + 10, and the clutch locks
    // after x'/10 = 0.05 s at x = 0.5^2/20.
    const Trajectory motion = motion_of(from_text(R"toml(
[system]
q = ["x", "y"]
T = "(x'^2 + y'^2)/2"
f = { x = "-20" }
[[contact]]
name = "floor"
gN = "x + y"
eN = 0
[[clutch]]
name = "clutch"
gamma = "x'"
[initial]
u = { y = -1 }
)toml"),
                                        0.2);
    ASSERT_EQ(motion.events.size(), 2U) << story(motion);
    EXPECT_EQ(motion.events[0].kind, EventKind::impact);
    EXPECT_TRUE(matches(motion.events[0].u_plus[0], 0.5, 1e-12));
    EXPECT_EQ(motion.events[1].kind, EventKind::contact);
    EXPECT_TRUE(matches(motion.events[1].t, 0.05, 1e-9));
    EXPECT_TRUE(matches(motion.end.q[0], 0.0125, 1e-9));
    EXPECT_TRUE(matches(motion.end.q[1], -0.0125, 1e-9));
    EXPECT_NEAR(motion.end.u[0], 0.0, 1e-12);
}

TEST(Friction, SlipThatComesToRestAtTheTimeOfAnImpactGoesOnAfterIt) {
    // The block 1 stops at x = 1/2 at t = 1 under friction 1. At this time a ball of the same mass strikes it with the
    // speed 2 from behind: x' = 3/2, and it slides on for 3/2 s.
    const Trajectory motion = motion_of(from_text(R"toml(
[system]
q = ["x", "z"]
T = "(x'^2 + z'^2)/2"
[[contact]]
name = "ball"
gN = "x - z"
eN = 0.5
[[slider]]
name = "friction"
gammaT = "x'"
mu = 1
FN = 1
[initial]
q = { x = 0, z = -1.5 }
u = { x = 1, z = 2 }
)toml"),
                                        1.75);
    EXPECT_TRUE(matches(motion.end.t, 1.75, 1e-12));
    EXPECT_TRUE(matches(motion.right(1.5).u[0], 1.0, 1e-9)) << story(motion);
    EXPECT_TRUE(matches(motion.end.q[0], 0.5 + 1.5 * 0.75 - 0.5 * 0.75 * 0.75, 1e-9));
}

TEST(Clutch, ThatIsViolatedAtTheStartLocksByAnImpulse) {
    const std::string flywheels = R"toml(
[system]
name = "two flywheels with a one-way clutch"
q = ["phi1", "phi2"]
T = "1/2*phi1'^2 + 3/2*phi2'^2"
[[clutch]]
name = "clutch"
gamma = "phi1' - phi2'"
[initial]
u = { phi1 = -2.0, phi2 = 2.0 }
)toml";
    const Trajectory motion = motion_of(from_text(flywheels), 1.0);
    EXPECT_NEAR(motion.end.u[0], 1.0, 1e-12) << story(motion);
    EXPECT_NEAR(motion.end.u[1], 1.0, 1e-12);
    const std::vector<Event> impacts = events_of(motion, EventKind::impact);
    ASSERT_EQ(impacts.size(), 1U) << story(motion);
    EXPECT_NEAR(normal_impulse(impacts[0], 0), 3.0, 1e-12);
    EXPECT_NEAR(impacts[0].work, -6.0, 1e-12);
}

// A slider in a plane on a belt that accelerates with cos t. The second coordinate w is the position of a body that is
// carried by the first, which couples the accelerations. While the slider sticks, u = (0, sin t), and the forces
// balance M u̇ = f + λ: λ = (−cos t − 5 sin 6t, cos t). It breaks loose where |λ| = 4.8.
TEST(Friction, SlipInAPlaneThatBeginsOnCoupledBodiesKeepsItsDirection) {
    const Model m = from_text(R"toml(
[system]
q = ["x", "w"]
T = "x'^2/2 + (w' - x')^2/2"
f = { x = "5*sin(6*t)" }
[[slider]]
name = "s"
gammaT = ["x'", "w' - sin(t)"]
mu = 0.4
FN = 12
)toml");
    const Trajectory motion = motion_of(m, 0.6);
    ASSERT_EQ(motion.events.size(), 2U) << story(motion);
    EXPECT_EQ(motion.events[0].kind, EventKind::slip);
    EXPECT_EQ(motion.events[1].kind, EventKind::stick);
    double left = 0.1, right = 0.2;
    for (int k = 0; k < 60; ++k) {
        const double t = 0.5 * (left + right);
        (std::hypot(std::cos(t) + 5.0 * std::sin(6.0 * t), std::cos(t)) < 4.8 ? left : right) = t;
    }
    EXPECT_NEAR(motion.events[0].t, left, 1e-9);
    EXPECT_NEAR(motion.events[1].t, 0.51326, 1e-5) << "backward Euler's method with h = 2e-6";
    // The force has the direction against the slip velocity. It turns slowly from (−4.70, 0.99) on.
    const auto force_across = [&](double t) {
        const Trajectory part = motion_of(m, t);
        return part.forces.at(0).T.at(1);
    };
    for (const double later : {1e-10, 1e-9, 1e-8, 1e-6, 1e-4})
        EXPECT_NEAR(force_across(left + later), std::cos(left), 1e-2) << later;
}

// Sliders with coupled inertia on belts that accelerate, at random: friction changes between stick and slip on the time
// scale of the forces, and not within 1e-6 s.
TEST(Friction, OfCoupledSlidersInAPlaneDoesNotChatterWhereSlipBegins) {
    std::mt19937 random(8);
    const auto between = [&](double low, double high) {
        return number_text(low + (high - low) * (static_cast<double>(random()) / 4294967296.0));
    };
    for (int k = 0; k < 20; ++k) {
        // In braces, so that they are drawn in this order.
        const std::vector<std::string> v = {between(1, 2),      between(1, 2),     between(-0.5, 0.5), between(2, 20),
                                            between(2, 40),     between(2, 8),     between(1, 8),      between(0.1, 1),
                                            between(-0.5, 0.5), between(0, 0.5),   between(-0.5, 0.5), between(0, 0.5),
                                            between(1, 8),      between(0.2, 0.6), between(5, 20)};
        const std::string text = "[system]\nq = [\"x\", \"y\"]\nT = \"" + v[0] + "*x'^2/2 + " + v[1] + "*y'^2/2 + " +
                                 v[2] + "*x'*y'\"\nU = \"" + v[3] + "*x^2 + " + v[4] + "*y^2\"\nf = { x = \"" + v[5] +
                                 "*sin(" + v[6] + "*t)\", y = \"" + v[7] + "*t\" }\n[[slider]]\nname = \"s\"\n" +
                                 "gammaT = [\"x' + " + v[8] + "*y' - " + v[9] + "*t\", \"" + v[10] + "*x' + y' - " +
                                 v[11] + "*sin(" + v[12] + "*t)\"]\nmu = " + v[13] + "\nFN = " + v[14] + "\n";
        const Trajectory motion = motion_of(from_text(text), 3.0);
        for (std::size_t i = 1; i < motion.events.size(); ++i)
            EXPECT_GT(motion.events[i].t - motion.events[i - 1].t, 1e-6) << text << story(motion);
    }
}

}  // namespace
}  // namespace saltus::friction_test
