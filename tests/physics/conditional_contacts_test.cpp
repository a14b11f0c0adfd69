// SPDX-License-Identifier: Apache-2.0
#include "physics/motion.hpp"

namespace saltus::conditional_contacts_test {
namespace {

using namespace saltus::test;

constexpr double g = 9.81;

// A particle slides with the speed v on a table that ends at x = 1. It leaves at t = 1/v and falls from the height h:
// the floor is struck √(2h/g) later with the speed √(2gh).
TEST(ConditionalContact, AParticleSlidesOffATableAndFallsFreely) {
    const Trajectory motion = motion_of(shipped("table-edge"), 1.2);
    const std::vector<Event> ends = events_of(motion, EventKind::switched);
    ASSERT_EQ(ends.size(), 1U) << story(motion);
    EXPECT_TRUE(matches(ends[0].t, 0.5, 1e-12));
    EXPECT_EQ(ends[0].note, "'table' no longer exists");
    ASSERT_EQ(events_of(motion, EventKind::lift_off).size(), 1U) << story(motion);
    const std::vector<Event> impacts = events_of(motion, EventKind::impact);
    ASSERT_EQ(impacts.size(), 1U) << story(motion);
    const double fall = std::sqrt(2.0 * 0.8 / g);
    EXPECT_TRUE(matches(impacts[0].t, 0.5 + fall, 1e-10));
    EXPECT_TRUE(matches(normal_impulse(impacts[0], 1), 1.6 * std::sqrt(2.0 * g * 0.8), 1e-10));
    EXPECT_TRUE(motion.events_certain);
    EXPECT_EQ(motion.violation.gap, 0.0);  // below the table, but the table is not there
}

TEST(ConditionalContact, EveryMethodAgrees) {
    const Model m = shipped("table-edge");
    const double exact = -0.5 * g * 0.3 * 0.3;  // 0.3 s after the edge
    EXPECT_TRUE(matches(motion_of(m, 0.8).end.q[1], exact, 1e-10));
    EventDriven sampled;
    sampled.series = false;
    EXPECT_TRUE(matches(motion_of(m, 0.8, sampled).end.q[1], exact, 1e-8));
    Moreau stepped;
    stepped.h = 1e-4;
    EXPECT_NEAR(motion_of(m, 0.8, stepped).end.q[1], exact, 1e-3);
    // On its spring of stiffness k the particle oscillates with the speed g √(m/k) when it leaves the table.
    EXPECT_NEAR(motion_of(m, 0.8, Penalty{}).end.q[1], exact, 0.3 * g * 1e-3);
}

TEST(ConditionalContact, ABouncingParticleMissesTheTableBehindItsEdge) {
    // Impacts on the table at √(2y0/g) (1 + 2e + 2e² …); the next one after x = 1 is on the floor.
    const Trajectory motion = motion_of(shipped("table-edge", {{"y0", 0.3}, {"v", 1.6}}), 1.4);
    const double first = std::sqrt(2.0 * 0.3 / g);
    const std::vector<Event> impacts = events_of(motion, EventKind::impact);
    ASSERT_GE(impacts.size(), 3U) << story(motion);
    EXPECT_TRUE(matches(impacts[0].t, first, 1e-10));
    EXPECT_TRUE(matches(impacts[1].t, first * 2.2, 1e-10));
    EXPECT_EQ(impacts[1].elements, (std::vector<int>{0}));
    EXPECT_EQ(impacts[2].elements, (std::vector<int>{1}));
}

const std::string platform = R"toml(
[system]
q = ["y"]
T = "y'^2/2"
U = "9.81*y"
[parameters]
v = 6.0
e = 0.0
[[contact]]
name = "platform"
gN = "y - 1"
eN = "e"
if = "y' < 0"
[initial]
u = { y = "v" }
)toml";

// A platform that is passed from below: it exists only while the particle falls. The particle is thrown up with v,
// turns at v/g above the platform, and lands on it.
TEST(ConditionalContact, APlatformIsPassedFromBelowAndHoldsFromAbove) {
    const Trajectory motion = attempt(from_text(platform), 3.0);
    const std::vector<Event> impacts = events_of(motion, EventKind::impact);
    ASSERT_FALSE(impacts.empty()) << story(motion) << motion.reason;
    EXPECT_TRUE(matches(impacts[0].t, 6.0 / g + std::sqrt(2.0 * (36.0 / (2.0 * g) - 1.0) / g), 1e-10));
    const std::vector<Event> appears = events_of(motion, EventKind::switched);
    ASSERT_FALSE(appears.empty());
    EXPECT_TRUE(matches(appears[0].t, 6.0 / g, 1e-12));
    EXPECT_EQ(appears[0].note, "'platform' exists from here on");
}

// Thrown up too slowly, the particle turns below the platform, and the contact would appear with the gap v²/(2g) − 1 <
// 0.
TEST(ConditionalContact, OneThatAppearsWhilePenetratedEndsTheMotion) {
    const Model m = from_text(platform, {{"v", 3.0}});
    for (const integrate::Method& method : {integrate::Method(EventDriven{}), integrate::Method(Moreau{})}) {
        const Trajectory motion = attempt(m, 3.0, method);
        EXPECT_EQ(status_of(motion), "failed") << motion.method;
        EXPECT_NE(motion.reason.find("contact 'platform' appears"), std::string::npos) << motion.reason;
        EXPECT_NE(motion.reason.find("while it is penetrated: gN = -0.54"), std::string::npos) << motion.reason;
        EXPECT_NEAR(motion.end.t, 3.0 / g, 2e-3) << motion.method;
    }
}

TEST(ConditionalContact, AStartBehindAContactThatDoesNotExistIsAdmissible) {
    const Model m = from_text(platform);  // y = 0 is below the platform, which does not exist at the start
    EXPECT_EQ(m.q0[0], 0.0);
    EXPECT_THROW(from_text(platform, {{"v", -1.0}}), Error);  // it exists, and is penetrated
}

// Two tables at one height meet at x = 1: the particle slides from the one to the other without an impact.
TEST(ConditionalContact, AParticleSlidesFromOneTableToTheNext) {
    const Model m = from_text(R"toml(
[system]
q = ["x", "y"]
T = "(x'^2 + y'^2)/2"
U = "9.81*y"
[[contact]]
name = "ice"
gN = "y"
if = "x < 1"
[[contact]]
name = "rough"
gN = "y"
gammaT = "x'"
mu = 0.5
eN = 0
if = "x > 1"
[initial]
u = { x = 2.0 }
)toml");
    const Trajectory motion = motion_of(m, 2.0);
    EXPECT_TRUE(events_of(motion, EventKind::impact).empty()) << story(motion);
    const std::vector<Event> sticks = events_of(motion, EventKind::stick);
    ASSERT_EQ(sticks.size(), 1U) << story(motion);
    EXPECT_TRUE(matches(sticks[0].t, 0.5 + 2.0 / (0.5 * g), 1e-10));
    EXPECT_TRUE(matches(motion.end.q[0], 1.0 + 4.0 / g, 1e-10));
    EXPECT_TRUE(motion.warnings.empty()) << first_words(motion.warnings);
}

// A start at the very edge: the way on decides whether the contact exists. With a force along x it is the acceleration.
TEST(ConditionalContact, AStartAtTheEdgeIsDecidedByTheWayOn) {
    const std::string edge = R"toml(
[system]
q = ["x", "y"]
T = "(x'^2 + y'^2)/2"
U = "9.81*y"
f = { x = "F" }
[parameters]
v = 0.0
F = 0.0
[[contact]]
name = "table"
gN = "y"
eN = 0
if = "x > 0"
[initial]
u = { x = "v" }
)toml";
    const double fallen = -0.5 * g * 0.25;
    EXPECT_TRUE(matches(motion_of(from_text(edge, {{"v", 1.0}}), 0.5).end.q[1], 0.0, 1e-12));
    EXPECT_TRUE(matches(motion_of(from_text(edge, {{"v", -1.0}}), 0.5).end.q[1], fallen, 1e-12));
    EXPECT_TRUE(matches(motion_of(from_text(edge, {{"F", 2.0}}), 0.5).end.q[1], 0.0, 1e-12));
    EXPECT_TRUE(matches(motion_of(from_text(edge, {{"F", -2.0}}), 0.5).end.q[1], fallen, 1e-12));
}

// A wall that opens and closes: it exists while sin(π t) > 0.
TEST(ConditionalContact, AWallThatDependsOnTimeIsPassedWhileItIsOpen) {
    const std::string gate = R"toml(
[system]
q = ["x"]
T = "x'^2/2"
[parameters]
v = 1.0
[[contact]]
name = "gate"
gN = "1 - x"
eN = 1
if = "sin(3.141592653589793*t) > 0"
[initial]
u = { x = "v" }
)toml";
    const Trajectory back = motion_of(from_text(gate, {{"v", 2.0}}), 0.9);
    EXPECT_TRUE(matches(back.end.u[0], -2.0, 1e-12));  // arrives at t = 0.5
    const Trajectory through = motion_of(from_text(gate, {{"v", 1.0 / 1.5}}), 1.9);
    EXPECT_TRUE(matches(through.end.u[0], 1.0 / 1.5, 1e-12));                           // arrives at t = 1.5
    EXPECT_EQ(status_of(attempt(from_text(gate, {{"v", 1.0 / 1.5}}), 2.5)), "failed");  // closes behind it at t = 2
}

// --- restitution that was not given ----------------------------------------------------------------------------------

const std::string two_floors = R"toml(
[system]
q = ["x", "y"]
T = "(x'^2 + y'^2)/2"
U = "9.81*y"
[[contact]]
name = "floor"
gN = "y"
[[contact]]
name = "wall"
gN = "10 - x"
[initial]
q = { y = 1.0 }
)toml";

TEST(MissingRestitution, AStruckContactWithoutItIsNamedOnce) {
    for (const integrate::Method& method : {integrate::Method(EventDriven{}), integrate::Method(Moreau{})}) {
        const Trajectory motion = motion_of(from_text(two_floors), 1.0, method);
        ASSERT_EQ(motion.warnings.size(), 1U) << motion.method << first_words(motion.warnings);
        EXPECT_EQ(motion.warnings[0],
                  "'floor' was struck, and its eN is not given: 0 was used, so that nothing rebounds; write eN = 0 if "
                  "that is meant");
    }
}

TEST(MissingRestitution, AContactThatIsNotStruckOrHasOneIsNotNamed) {
    EXPECT_TRUE(motion_of(from_text(two_floors), 0.2).warnings.empty());
    std::string given = two_floors;
    given.replace(given.find("gN = \"y\""), 8, "gN = \"y\"\neN = 0");
    EXPECT_TRUE(motion_of(from_text(given), 1.0).warnings.empty());
    EXPECT_TRUE(motion_of(from_text(given), 1.0, Moreau{}).warnings.empty());
}

TEST(MissingRestitution, AContactThatClosesWithoutAnImpactIsNotNamed) {
    std::string resting = two_floors;
    resting.replace(resting.find("y = 1.0"), 7, "y = 0.0");
    EXPECT_TRUE(motion_of(from_text(resting), 1.0).warnings.empty());
    EXPECT_TRUE(motion_of(from_text(resting), 1.0, Moreau{}).warnings.empty());
}

}  // namespace
}  // namespace saltus::conditional_contacts_test
