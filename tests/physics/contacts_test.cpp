// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numbers>

#include "physics/motion.hpp"

namespace saltus::contacts_test {
namespace {

using namespace saltus::test;

double kinetic(const std::vector<double>& u) {
    double T = 0.0;
    for (const double v : u) T += 0.5 * v * v;
    return T;
}

// --- several contacts at the same instant ----------------------------------------------------------------------------

/// Two discs of unit mass and radius 1/2 in the plane, and walls; no gravity.
const std::string discs = R"toml(
[system]
name = "two discs and a wall"
q = ["x1", "y1", "x2", "y2"]
T = "1/2*(x1'^2 + y1'^2 + x2'^2 + y2'^2)"
[parameters]
a = 1.5707963267948966        # pi/2: direction of the second disc, seen from where the first one arrives
e = 1.0
[[contact]]
name = "wall"
gN = "x1"
eN = "e"
[[contact]]
name = "discs"
gN = "hypot(x2 - x1, y2 - y1) - 1"
eN = "e"
[initial]
q = { x1 = 1.0, y1 = -1.0, x2 = "cos(a)", y2 = "sin(a)" }
u = { x1 = -1.0, y1 = 1.0 }
)toml";

TEST(SimultaneousImpact, OfADiscOnAWallAndOnASecondDiscKeepsTheEnergy) {
    for (const double a : {std::numbers::pi / 2.0, std::numbers::pi / 3.0, 2.0}) {
        const Trajectory motion = motion_of(from_text(discs, {{"a", a}}), 1.5);
        ASSERT_GE(motion.events.size(), 1U);
        const Event& impact = motion.events[0];
        EXPECT_TRUE(matches(impact.t, 1.0, 1e-10));
        EXPECT_NEAR(kinetic(impact.u_plus), 1.0, 1e-12) << "a = " << a;
        EXPECT_NEAR(motion.energy.final, 1.0, 1e-9) << "a = " << a;
        for (const Event& e : motion.events) EXPECT_NEAR(e.work, 0.0, 1e-12) << story(motion);
    }
    // At right angles the two contacts do not influence each other: the first disc rebounds from the wall, and the
    // second disc takes over the other component of its velocity.
    const Trajectory square = motion_of(from_text(discs), 1.5);
    ASSERT_EQ(square.events.size(), 1U) << story(square);
    EXPECT_EQ(square.events[0].elements, (std::vector<int>{0, 1}));
    EXPECT_NEAR(square.end.u[0], 1.0, 1e-9);
    EXPECT_NEAR(square.end.u[1], 0.0, 1e-9);
    EXPECT_NEAR(square.end.u[3], 1.0, 1e-9);
}

TEST(SimultaneousImpact, IntoACornerSendsTheBallStraightBack) {
    const std::string corner = R"toml(
[system]
name = "ball into a corner"
q = ["x", "y", "z"]
T = "1/2*(x'^2 + y'^2 + z'^2)"
[[contact]]
name = "x"
gN = "x"
eN = 1.0
[[contact]]
name = "y"
gN = "y"
eN = 1.0
[[contact]]
name = "z"
gN = "z"
eN = 1.0
[initial]
q = { x = 0.3, y = 0.6, z = 0.9 }
u = { x = -1.0, y = -2.0, z = -3.0 }
)toml";
    const Trajectory motion = motion_of(from_text(corner), 0.6);
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_NEAR(motion.end.q[i], motion.start.q[i], 1e-9);
        EXPECT_NEAR(motion.end.u[i], -motion.start.u[i], 1e-12);
    }
}

// --- a ball with e < 1 stays on the floor ----------------------------------------------------------------------------

TEST(Ball, WithLessThanFullRestitutionDoesNotFallThroughTheFloor) {
    for (const double e : {0.0, 0.01, 0.3, 0.9, 0.99}) {
        const Trajectory motion = motion_of(shipped("bouncing-ball", {{"e", e}}), 200.0);
        EXPECT_NEAR(motion.end.q[0], 0.0, 1e-12) << "e = " << e;
        EXPECT_EQ(motion.end.u[0], 0.0) << "e = " << e;
        EXPECT_LE(motion.violation.gap, 1e-12) << "e = " << e;
        EXPECT_NEAR(motion.forces.at(0).N, 9.81, 1e-12) << "e = " << e;
    }
}

TEST(Ball, WithLessThanFullRestitutionComesToRestUnderTheImplicitMethodToo) {
    for (const double rtol : {1e-6, 1e-9}) {
        const Trajectory motion = motion_of(shipped("bouncing-ball", {{"e", 0.5}}), 3.0,
                                            EventDriven{.rtol = rtol, .atol = 1e-3 * rtol, .implicit = true});
        const double limit = 3.0 * std::sqrt(2.0 / 9.81);
        const std::vector<Event> rest = events_of(motion, EventKind::accumulation);
        ASSERT_EQ(rest.size(), 1U) << story(motion, 60);
        EXPECT_NEAR(rest[0].t, limit, 10.0 * rtol);
    }
    // A force that changes with time: the polynomial of an implicit step is no longer exact.
    const EventDriven loose{.rtol = 1e-5, .atol = 1e-8, .implicit = true, .max_events = 1000};
    const Trajectory driven = motion_of(shipped("impact-oscillator"), 12.0, loose);
    EXPECT_LT(driven.events.size(), 100U);
}

TEST(Ball, ThatStartsAtRestOnTheFloorStaysThere) {
    const Trajectory motion = motion_of(shipped("bouncing-ball", {{"y0", 0.0}}), 100.0);
    EXPECT_TRUE(motion.events.empty()) << story(motion);
    EXPECT_EQ(motion.end.q[0], 0.0);
}

TEST(Ball, BouncesTheSameUnderAllThreeImpactLaws) {
    std::vector<Trajectory> motions;
    for (const char* law : {"newton", "poisson", "energy"}) {
        model::Description d = description_of("bouncing-ball");
        d.contacts[0].impact.word = law;
        motions.push_back(motion_of(built(d), 5.0));
        EXPECT_EQ(motions.back().events.size(), motions.front().events.size()) << law;
        for (std::size_t i = 0; i < std::min<std::size_t>(20, motions.back().events.size()); ++i)
            EXPECT_NEAR(motions.back().events[i].t, motions.front().events[i].t, 1e-10) << law;
    }
}

// Two bodies at rest touch each other, and a third one strikes them. The inelastic collision gives all the velocity
// -1/3 with the impulses 1/3 and 2/3. The expansion returns e/3 between the two that touched, which pushes z against w.
TEST(Contacts, PoissonsLawAlsoExpandsAContactThatWasAtRest) {
    const Model m = from_text(R"toml(
[system]
q = ["y", "z", "w"]
T = "(y'^2 + z'^2 + w'^2)/2"
[[contact]]
name = "touching"
gN = "z - y"
eN = 0.495
impact = "poisson"
[[contact]]
name = "striking"
gN = "w - z - 1"
eN = 0
impact = "poisson"
[initial]
q = { w = 2 }
u = { w = -1 }
)toml");
    const double expansion = 0.495 / 3.0;
    Moreau stepped;
    stepped.h = 1e-2;
    for (const integrate::Method& method : {integrate::Method(EventDriven{}), integrate::Method(stepped)}) {
        const Trajectory motion = attempt(m, 1.5, method);
        ASSERT_EQ(motion.status, Status::completed) << motion.reason;
        EXPECT_NEAR(motion.end.u[0], -1.0 / 3.0 - expansion, 1e-12);
        EXPECT_NEAR(motion.end.u[1], -1.0 / 3.0 + expansion / 2.0, 1e-12);
        EXPECT_NEAR(motion.end.u[2], -1.0 / 3.0 + expansion / 2.0, 1e-12);
    }
}

TEST(Ball, OfManySizesObeysTheSameLaw) {  // no length or time may be built into the program
    for (const double scale : {1e-6, 1e-3, 1e3, 1e6}) {
        const double e = 0.5, g = 9.81, fall = std::sqrt(2.0 * scale / g);
        const Trajectory motion = motion_of(shipped("bouncing-ball", {{"y0", scale}, {"e", e}}), 4.0 * fall);
        const std::vector<Event> rest = events_of(motion, EventKind::accumulation);
        ASSERT_EQ(rest.size(), 1U) << "scale " << scale << ": " << story(motion);
        EXPECT_NEAR(rest[0].t / (3.0 * fall), 1.0, 1e-9) << "scale " << scale;
        EXPECT_LE(motion.violation.gap, 1e-10 * scale) << "scale " << scale;
    }
}

// --- contacts that hold for a while and let go -----------------------------------------------------------------------

TEST(Mass, OnASprungPlateLeavesItWhereThePlateFallsFasterAndComesBack) {
    const std::string plate = R"toml(
[system]
name = "mass on a sprung plate"
q = ["x", "y"]
T = "M/2*x'^2 + m/2*y'^2"
U = "k/2*x^2 + m*g*y + M*g*x"
[parameters]
M = 2.0
m = 1.0
k = 300.0
g = 9.81
A = 0.15
[[contact]]
name = "plate"
gN = "y - x"
[initial]
q = { x = "-(M + m)*g/k - A", y = "-(M + m)*g/k - A" }
)toml";
    // Together: x = x0 − A cos ωt, ω² = k/(M + m); the force m(g + ẍ) is zero where the spring is relaxed.
    const double w = 10.0, x0 = 0.0981, A = 0.15, leave = std::acos(-x0 / A) / w;
    const Trajectory motion = motion_of(from_text(plate), 5.0);
    const std::vector<Event> offs = events_of(motion, EventKind::lift_off), hits = events_of(motion, EventKind::impact);
    ASSERT_GE(offs.size(), 2U) << story(motion);
    ASSERT_GE(hits.size(), 1U) << story(motion);
    EXPECT_TRUE(matches(offs[0].t, leave, 1e-10));
    EXPECT_NEAR(offs[0].q[0], 0.0, 1e-9);
    EXPECT_NEAR(offs[0].u_plus[1], A * w * std::sin(w * leave), 1e-9);
    EXPECT_GT(hits[0].t, offs[0].t);
    for (const Event& off : offs) EXPECT_NEAR(off.q[0], 0.0, 1e-8) << "always where the spring is relaxed";
    for (const Event& hit : hits) EXPECT_NEAR(hit.u_plus[0], hit.u_plus[1], 1e-12);
}

TEST(Mass, OnATableWithSlowlyGrowingVibrationLeavesAtTheFirstPeakBeyondG) {
    const std::string table = R"toml(
[system]
name = "mass on a table"
q = ["y"]
T = "1/2*y'^2"
U = "g*y"
[parameters]
g = 9.81
w = 10.0
[[contact]]
name = "table"
gN = "y - 0.001*t^3*sin(w*t)"
[initial]
q = { y = 0.0 }
)toml";
    const Trajectory motion = motion_of(from_text(table), 12.0);
    ASSERT_GE(motion.events.size(), 1U);
    const Event& off = motion.events[0];
    EXPECT_EQ(off.kind, EventKind::lift_off);
    const auto acceleration = [](double t) {
        const double w = 10.0, s = std::sin(w * t), c = std::cos(w * t);
        return 0.001 * (6.0 * t * s + 6.0 * t * t * w * c - t * t * t * w * w * s);
    };
    EXPECT_NEAR(acceleration(off.t), -9.81, 1e-6);
    for (double t = 0.0; t < off.t - 1e-3; t += 1e-3) EXPECT_GT(acceleration(t), -9.81) << t;
}

TEST(Mass, ThatGrazesAWallTouchesItOnceWithoutAnImpulse) {
    const std::string parabola = R"toml(
[system]
name = "parabola under a ceiling"
q = ["x", "y"]
T = "1/2*(x'^2 + y'^2)"
U = "2*y"
[parameters]
H = 1.0
[[contact]]
name = "ceiling"
gN = "H - y"
eN = 0.5
[initial]
u = { x = 1.0, y = 2.0 }
)toml";
    // The top of the flight is at y = 1 exactly. Whether or not a contact is detected there, the motion must continue
    // without a change.
    for (const double H : {1.0, 1.0 + 1e-9, 1.0 - 1e-9}) {
        const Trajectory motion = motion_of(from_text(parabola, {{"H", H}}), 2.0);
        EXPECT_NEAR(motion.end.q[1], 0.0, 2e-4) << "H = " << H << ": " << story(motion);  // sqrt(1e-9) of the speed
        EXPECT_NEAR(motion.end.q[0], 2.0, 1e-9);
    }
}

// --- rocking ---------------------------------------------------------------------------------------------------------

TEST(RockingBlock, LosesHousnersShareOfItsSpeedAtEachImpactAndComesToRest) {
    // A slender block, no rebound, no sliding: the corner that hits takes over from the one that was the pivot. Angular
    // momentum about the new pivot: ω⁺/ω⁻ = 1 − (3/2) a²/(a² + b²) [Housner]. The corner that hits does not
    // bounce; the other one leaves, so the impacts of each are every second one of a geometric sequence.
    for (const double a : {0.2, 0.3}) {
        model::Description d = description_of("rocking-block");
        d.initial.q = {{"y", "a*sin(0.05) + b*cos(0.05)", {}}, {"phi", 0.05, {}}};
        const Model model = built(d, {{"a", a}, {"b", 1.0}, {"k", 0.0}, {"mu", 2.0}, {"e", 0.0}});
        const Trajectory motion = motion_of(model, 30.0, EventDriven{.max_events = 2000});
        const std::vector<Event> impacts = events_of(motion, EventKind::impact);
        ASSERT_GE(impacts.size(), 6U) << "a = " << a;
        for (std::size_t i = 0; i < 6; ++i)
            EXPECT_NEAR(impacts[i].u_plus[2] / impacts[i].u_minus[2], 1.0 - 1.5 * a * a / (a * a + 1.0), 1e-8)
                << "a = " << a << ", impact " << i;
        EXPECT_NEAR(motion.end.q[2], 0.0, 1e-9) << "a = " << a;
        for (const double u : motion.end.u) EXPECT_NEAR(u, 0.0, 1e-9) << "a = " << a;
        EXPECT_LT(motion.events.size(), 1000U) << "a = " << a;
    }
}

// --- moving obstacles and constraints --------------------------------------------------------------------------------

TEST(MovingConstraint, ABeadOnARotatingRodFliesOutLikeACosh) {
    const std::string rod = R"toml(
[system]
name = "bead on a rotating rod"
q = ["x", "y"]
T = "1/2*(x'^2 + y'^2)"
[parameters]
w = 1.5
r0 = 0.4
[[constraint]]
name = "rod"
g = "y*cos(w*t) - x*sin(w*t)"
[initial]
q = { x = "r0" }
u = { y = "w*r0" }
)toml";
    const Trajectory motion = motion_of(from_text(rod), 2.0);
    for (const double t : {0.5, 1.0, 1.5, 2.0}) {
        const State s = motion.right(t);
        EXPECT_NEAR(std::hypot(s.q[0], s.q[1]), 0.4 * std::cosh(1.5 * t), 1e-9 * std::cosh(1.5 * t));
    }
    // The reaction is the Coriolis force 2ωṙ.
    EXPECT_NEAR(motion.forces.at(0).N, 2.0 * 1.5 * 0.4 * 1.5 * std::sinh(3.0), 1e-7);
}

TEST(MovingConstraint, ARoughOneDragsItsSlider) {
    // A block on a belt at a height that is prescribed in time: N = m(g + ḧ), friction from |N|.
    const std::string belt = R"toml(
[system]
name = "block held on a shaken belt"
q = ["x", "y"]
T = "1/2*(x'^2 + y'^2)"
U = "9.81*y"
[parameters]
v = 1.0
mu = 0.3
[[constraint]]
name = "belt"
g = "y - 0.02*sin(5*t)"
gammaT = "x' - v"
mu = "mu"
[initial]
u = { y = 0.1 }
)toml";
    const Trajectory motion = motion_of(from_text(belt), 1.0);
    const std::vector<Event> sticks = events_of(motion, EventKind::stick);
    ASSERT_EQ(sticks.size(), 1U) << story(motion);
    // ẋ = μ(g t + 0.1 (cos 5t − 1)) reaches 1
    const double t = sticks[0].t;
    EXPECT_NEAR(0.3 * (9.81 * t + 0.1 * (std::cos(5.0 * t) - 1.0)), 1.0, 1e-9);
    EXPECT_NEAR(motion.end.u[0], 1.0, 1e-12);
}

TEST(MovingObstacle, APistonThatStopsSuddenlyThrowsItsLoad) {
    // y = A sin ωt: from rest on the piston, thrown off where ω²A sin ωt = g.
    const std::string piston = R"toml(
[system]
name = "load on a piston"
q = ["y"]
T = "1/2*y'^2"
U = "9.81*y"
[parameters]
A = 0.2
w = 10.0
[[contact]]
name = "piston"
gN = "y - A*sin(w*t)"
[initial]
u = { y = "A*w" }
)toml";
    const Trajectory motion = motion_of(from_text(piston), 0.5);
    const double off = std::asin(9.81 / 20.0) / 10.0;
    ASSERT_GE(motion.events.size(), 1U);
    EXPECT_EQ(motion.events[0].kind, EventKind::lift_off);
    EXPECT_TRUE(matches(motion.events[0].t, off, 1e-10));
}

// --- redundant constraints -------------------------------------------------------------------------------------------

TEST(Redundant, ADoubledConstraintMovesLikeASingleOne) {
    const std::string pendulum = R"toml(
[system]
name = "pendulum"
q = ["x", "y"]
T = "1/2*(x'^2 + y'^2)"
U = "9.81*y"
[[constraint]]
name = "rod"
g = "x^2 + y^2 - 1"
[initial]
q = { x = 1.0 }
)toml";
    const std::string again =
        "[[constraint]]\nname = \"again\"\ng = \"3*(x^2 + y^2 - 1)\"\n[[constraint]]\n"
        "name = \"length\"\ng = \"sqrt(x^2 + y^2) - 1\"\n";
    const Trajectory once = motion_of(from_text(pendulum), 10.0), thrice = motion_of(from_text(pendulum + again), 10.0);
    for (std::size_t i = 0; i < 2; ++i) {
        EXPECT_NEAR(once.end.q[i], thrice.end.q[i], 1e-8);
        EXPECT_NEAR(once.end.u[i], thrice.end.u[i], 1e-8);
    }
    // What they carry together: 2x λ.
    const double single = 2.0 * once.forces.at(0).N;
    const double together = 2.0 * thrice.forces.at(0).N + 6.0 * thrice.forces.at(1).N + thrice.forces.at(2).N;
    EXPECT_NEAR(together, single, 1e-6);
}

TEST(Redundant, AFourLeggedTableStandsAndCarriesItsWeight) {
    const std::string table = R"toml(
[system]
name = "table with four legs in a row"
q = ["x", "y", "phi"]
T = "m/2*(x'^2 + y'^2) + J/2*phi'^2"
U = "m*g*y"
f = { x = "F" }
[parameters]
m = 2.0
J = 0.5
g = 9.81
b = 0.5
h = 0.0
F = 0.0
mu = 0.4
[[contact]]
name = "1"
gN = "y - b*cos(phi) - 1.0*sin(phi)"
gammaT = "x' + (b*cos(phi) + 1.0*sin(phi))*phi'"
mu = "mu"
[[contact]]
name = "2"
gN = "y - b*cos(phi) - 0.4*sin(phi)"
gammaT = "x' + (b*cos(phi) + 0.4*sin(phi))*phi'"
mu = "mu"
[[contact]]
name = "3"
gN = "y - b*cos(phi) + 0.4*sin(phi)"
gammaT = "x' + (b*cos(phi) - 0.4*sin(phi))*phi'"
mu = "mu"
[[contact]]
name = "4"
gN = "y - b*cos(phi) + 1.0*sin(phi)"
gammaT = "x' + (b*cos(phi) - 1.0*sin(phi))*phi'"
mu = "mu"
[initial]
q = { y = "b + h" }
)toml";
    for (const double h : {0.0, 0.1})
        for (const double F : {0.0, 7.0, 9.0}) {
            const Trajectory motion = motion_of(from_text(table, {{"h", h}, {"F", F}}), 2.0);
            double weight = 0.0, friction = 0.0;
            for (const trajectory::Reaction& r : motion.forces) weight += r.N, friction += r.T.at(0);
            EXPECT_NEAR(weight, 2.0 * 9.81, 1e-9) << "h = " << h << ", F = " << F;
            EXPECT_NEAR(motion.end.q[2], 0.0, 1e-10);
            const double limit = 0.4 * 2.0 * 9.81;  // 7.848 N
            EXPECT_NEAR(friction, -std::min(F, limit), 1e-9) << "h = " << h << ", F = " << F;
            if (F < limit && h == 0.0) {
                EXPECT_NEAR(motion.end.q[0], 0.0, 1e-12);
            }
            if (F > limit && h == 0.0) {
                EXPECT_NEAR(motion.end.q[0], 0.5 * (F - limit) / 2.0 * 4.0, 1e-9);
            }
        }
}

// --- a perturbed model -----------------------------------------------------------------------------------------------

TEST(Perturbed, BouncingBallMeetsItsMovedFloor) {
    const Model model = built(description_of("bouncing-ball"), {}, true);
    const Trajectory motion = motion_of(model, 3.0);
    ASSERT_GE(motion.events.size(), 1U);
    const double t = motion.events[0].t, g = 9.81, eps = 1e-3;
    // ÿ = −g + ε g cos 2t from y0 + 1e-3, and the floor is at ε cos 2t
    const double y = 1.001 - 0.5 * g * t * t + eps * g * (1.0 - std::cos(2.0 * t)) / 4.0;
    EXPECT_NEAR(y, eps * std::cos(2.0 * t), 1e-10);
}

}  // namespace
}  // namespace saltus::contacts_test
