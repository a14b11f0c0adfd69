// SPDX-License-Identifier: Apache-2.0
//
// Jumps of the model ([[jump]]) and static friction (mu_static) in all methods of simulation.
#include "physics/motion.hpp"

namespace saltus::physics_state_jumps_test {
namespace {

using namespace saltus::test;

constexpr double g = 9.81;

/// A ball whose bounces are resets: the closed form of a ball with a contact.
std::string ball(const std::string& more = {}, const std::string& when = "y") {
    return R"toml(
[system]
q = ["y"]
T = "y'^2/2"
U = "9.81*y"
[parameters]
e = 0.8
[[jump]]
name = "bounce"
when = ")toml" +
           when + R"toml("
direction = "down"
u = { y = "-e*y'" }
)toml" + more +
           R"toml(
[initial]
q = { y = 1.0 }
)toml";
}

TEST(StateJump, ABallThatBouncesByResetsMovesAsOneWithAContact) {
    const double first = std::sqrt(2.0 / g), impact_speed = std::sqrt(2.0 * g);
    for (const bool series : {true, false}) {
        EventDriven method;
        method.series = series;
        const Trajectory motion = motion_of(from_text(ball()), 1.5, method);
        EXPECT_EQ(motion.events_certain, series);
        const std::vector<Event> bounces = events_of(motion, EventKind::jump);
        ASSERT_EQ(bounces.size(), 2U) << story(motion);
        EXPECT_TRUE(matches(bounces[0].t, first, 1e-10));
        EXPECT_TRUE(matches(bounces[1].t, first * 2.6, 1e-10));
        EXPECT_TRUE(matches(bounces[1].u_minus[0], -0.8 * impact_speed, 1e-9));
        // The resets took energy, which is a term of the balance.
        const double lost = 0.5 * impact_speed * impact_speed * (1.0 - std::pow(0.8, 4));
        EXPECT_TRUE(matches(motion.energy.jumps, -lost, 1e-9));
        EXPECT_TRUE(matches(motion.energy.final - motion.energy.initial, -lost, 1e-9));
        EXPECT_LT(motion.energy.balance_error, 1e-9);
    }
    const Trajectory sprung = motion_of(from_text(ball()), 1.5, Penalty{});
    EXPECT_EQ(events_of(sprung, EventKind::jump).size(), 2U);
}

TEST(StateJump, MoreausSchemeConvergesWithOrderOne) {
    const double exact = motion_of(from_text(ball()), 1.5).end.q[0];
    double last = 0.0;
    for (const double h : {1e-2, 5e-3, 2.5e-3, 1.25e-3}) {
        Moreau method;
        method.h = h;
        const Trajectory motion = attempt(from_text(ball()), 1.5, method);
        EXPECT_EQ(events_of(motion, EventKind::jump).size(), 2U) << h;
        const double error = std::abs(motion.end.q[0] - exact);
        EXPECT_LT(error, 20.0 * h) << h;
        if (last > 0.0) {
            EXPECT_LT(error, 0.75 * last) << h;
        }
        last = error;
    }
}

TEST(StateJump, ItHappensInTheGivenSenseAndOnlyWhereTheGuardHolds) {
    const auto text = [](const std::string& direction, const std::string& guard) {
        return R"toml(
[system]
q = ["x", "n"]
T = "(x'^2 + n'^2)/2"
U = "x^2/2"
[[jump]]
name = "count"
when = "x"
direction = ")toml" +
               direction + "\"\n" + guard + R"toml(
q = { n = "n + 1" }
[initial]
q = { x = 1.0 }
)toml";
    };
    // x = cos t has the zeros π/2 + kπ: down at even k, up at odd ones.
    const auto counted = [&](const std::string& direction, const std::string& guard, const integrate::Method& method) {
        return attempt(from_text(text(direction, guard)), 20.0, method).end.q[1];
    };
    Moreau stepped;
    EventDriven sampled;
    sampled.series = false;
    for (const integrate::Method& method :
         {integrate::Method(EventDriven{}), integrate::Method(sampled), integrate::Method(stepped)}) {
        EXPECT_EQ(counted("down", "", method), 3.0);
        EXPECT_EQ(counted("up", "", method), 3.0);
        EXPECT_EQ(counted("both", "", method), 6.0);
        EXPECT_EQ(counted("both", "if = \"t > 6\"", method), 4.0);
        EXPECT_EQ(counted("both", "if = \"x' > 0\"", method), 3.0);
    }
}

// The oscillator x'' = 6 (0.7 - x) starts at x = 0 and is stopped at x = 0.228. It goes on upwards, and its period of
// 2.57 s is longer than the rest of the motion.
TEST(StateJump, ABodyThatIsStoppedWhereItJumpsDoesNotJumpTwice) {
    const Model m = from_text(R"toml(
[system]
q = ["x", "n"]
T = "(x'^2 + n'^2)/2"
U = "3*(x - 0.7)^2"
[[jump]]
name = "stop"
when = "x - 0.228"
direction = "up"
q = { n = "n + 1" }
u = { x = "0" }
[initial]
q = { x = 0.0 }
)toml");
    for (int i = 0; i < 40; ++i) {
        Moreau method;
        method.h = 1e-4 * std::pow(1.17, i);  // to 0.046 s
        const Trajectory motion = attempt(m, 1.89, method);
        EXPECT_EQ(events_of(motion, EventKind::jump).size(), 1U) << "h = " << method.h;
        EXPECT_EQ(motion.end.q[1], 1.0) << "h = " << method.h;
    }
}

// An impact turns x' round: `when` = x' passes through zero without being zero at any time. The jump follows at once.
TEST(StateJump, AnImpactCanMakeAJumpOfVelocitiesHappen) {
    const Model m = from_text(R"toml(
[system]
q = ["x", "n"]
T = "(x'^2 + n'^2)/2"
[[contact]]
name = "wall"
gN = "1 - x"
eN = 1
[[jump]]
name = "count"
when = "x'"
direction = "down"
q = { n = "n + 1" }
[initial]
u = { x = 1.0 }
)toml");
    const Trajectory motion = motion_of(m, 1.5);
    ASSERT_EQ(motion.events.size(), 2U) << story(motion);
    EXPECT_EQ(motion.events[0].kind, EventKind::impact);
    EXPECT_EQ(motion.events[1].kind, EventKind::jump);
    EXPECT_EQ(motion.events[1].t, motion.events[0].t);
    EXPECT_EQ(motion.end.q[1], 1.0);
}

// The state after the reset has a closed contact and approaches it: an impact follows at once.
TEST(StateJump, TheGuardOfAJumpThatAnImpactMakesHappenIsAskedAfterTheImpact) {
    // A ball strikes the floor with -7 m/s and leaves with 3.5 m/s. Its velocity passes -0.5 upwards at the impact,
    // after which the guard holds: the jump halves the velocity. Between the ends of a step, -0.5 m/s, the guard does
    // not hold.
    const model::Model m = from_text(R"toml(
[system]
name = "ball"
q = ["x"]
T = "x'^2/2"
U = "10*x"
[[contact]]
name = "floor"
gN = "x"
eN = 0.5
[[jump]]
name = "brake"
when = "x' + 0.5"
direction = "up"
if = "x' > 0"
u = { x = "x'/2" }
[initial]
q = { x = 2.45 }
)toml");
    const double end = 0.9, after = 1.75 - 10.0 * (end - 0.7);
    EXPECT_NEAR(attempt(m, end).end.u[0], after, 1e-12);
    for (const double h : {1e-2, 1e-3, 1e-4}) {
        Moreau method;
        method.h = h;
        const Trajectory motion = attempt(m, end, method);
        EXPECT_EQ(motion.status, trajectory::Status::completed) << motion.reason;
        EXPECT_NEAR(motion.end.u[0], after, 20.0 * h) << h;
        EXPECT_EQ(events_of(motion, EventKind::jump).size(), 1U) << h;
    }
}

TEST(StateJump, AnImpactFollowsAResetThatApproachesAClosedContact) {
    const Model m = from_text(R"toml(
[system]
q = ["x", "y"]
T = "(x'^2 + y'^2)/2"
U = "9.81*y"
[[contact]]
name = "floor"
gN = "y"
eN = 0.5
[[jump]]
name = "drop"
when = "x - 1"
direction = "up"
q = { y = 0 }
u = { y = -2 }
[initial]
q = { y = 10.0 }
u = { x = 1.0 }
)toml");
    const Trajectory motion = motion_of(m, 1.1);
    ASSERT_EQ(motion.events.size(), 2U) << story(motion);
    EXPECT_EQ(motion.events[0].kind, EventKind::jump);
    EXPECT_EQ(motion.events[1].kind, EventKind::impact);
    EXPECT_NEAR(motion.events[1].u_plus[1], 1.0, 1e-12);
}

TEST(StateJump, AnImpactThatFollowsAResetTakesTheEnergyOfTheStateAfterIt) {
    // The reset gives a ball at rest the speed 2 downwards, and the energy 2. The floor returns the speed 1.
    const Model m = from_text(R"toml(
[system]
q = ["y"]
T = "y'^2/2"
U = "9.81*y"
[[contact]]
name = "floor"
gN = "y"
eN = 0.5
[[jump]]
name = "push"
when = "t - 0.5"
u = { y = "y' - 2" }
)toml");
    const Trajectory motion = motion_of(m, 0.6);
    ASSERT_EQ(motion.events.size(), 2U) << story(motion);
    const Event &jump = motion.events[0], &impact = motion.events[1];
    EXPECT_EQ(jump.kind, EventKind::jump);
    EXPECT_NEAR(jump.energy_before, 0.0, 1e-12);
    EXPECT_NEAR(jump.energy_after, 2.0, 1e-12);
    EXPECT_EQ(impact.kind, EventKind::impact);
    EXPECT_NEAR(impact.energy_before, 2.0, 1e-12);
    EXPECT_NEAR(impact.energy_after, 0.5, 1e-12);
    EXPECT_NEAR(impact.work, -1.5, 1e-12);
}

TEST(StateJump, AnInadmissibleResetEndsTheMotionWithItsReason) {
    const auto reason = [](const std::string& more, const std::string& values) {
        const Model m = from_text(R"toml(
[system]
q = ["x", "y"]
T = "(x'^2 + y'^2)/2"
)toml" + more + R"toml(
[[jump]]
name = "reset"
when = "x - 1"
)toml" + values + R"toml(
[initial]
u = { x = 1.0 }
)toml");
        std::vector<std::string> reasons;
        for (const integrate::Method& method : {integrate::Method(EventDriven{}), integrate::Method(Moreau{})}) {
            const Trajectory motion = attempt(m, 2.0, method);
            EXPECT_EQ(status_of(motion), "failed") << motion.method;
            EXPECT_NE(motion.reason.find("jump 'reset'"), std::string::npos) << motion.reason;
            reasons.push_back(motion.reason);
        }
        return reasons[0] + " | " + reasons[1];
    };
    const auto says = [](const std::string& text, const std::string& part) {
        const std::size_t at = text.find(part);
        return at != std::string::npos && text.find(part, at + 1) != std::string::npos;
    };
    const std::string floor = "[[contact]]\nname = \"floor\"\ngN = \"y + 1\"\n",
                      rail = "[[constraint]]\nname = \"rail\"\ng = \"y\"\n";
    EXPECT_TRUE(says(reason(floor, "q = { y = -2 }"), "penetrates contact 'floor'"));
    EXPECT_TRUE(says(reason(rail, "q = { y = 0.1 }"), "violates constraint 'rail'"));
    EXPECT_TRUE(says(reason(rail, "u = { y = 0.1 }"), "violates constraint 'rail'"));
    EXPECT_TRUE(says(reason("", "u = { y = \"1/(x - 1 - sin(0*x))\", x = \"log(-1 - x)\" }"), "finite"));
}

TEST(StateJump, TwoJumpsAtTheSameTimeEndTheMotion) {
    const Trajectory motion =
        attempt(from_text(ball("[[jump]]\nname = \"other\"\nwhen = \"2*y\"\nu = { y = 1 }\n")), 1.0);
    EXPECT_EQ(status_of(motion), "failed");
    EXPECT_NE(motion.reason.find("happen together"), std::string::npos) << motion.reason;
}

// The bounces accumulate; unlike impacts, resets have no limit that is passed.
TEST(StateJump, ResetsThatAccumulateEndTheMotionWithItsReason) {
    const Trajectory motion = attempt(from_text(ball()), 10.0);
    EXPECT_EQ(status_of(motion), "failed") << motion.end.t << " " << motion.end.q[0];
    EXPECT_NEAR(motion.end.t, std::sqrt(2.0 / g) * 9.0, 1e-3) << motion.reason;
    EXPECT_NE(motion.reason.find("jump 'bounce' follows itself ever faster"), std::string::npos) << motion.reason;
    EventDriven sampled;
    sampled.series = false;
    EXPECT_EQ(status_of(attempt(from_text(ball()), 10.0, sampled)), "failed");
    const Trajectory stepped = attempt(from_text(ball()), 10.0, Moreau{});
    EXPECT_EQ(status_of(stepped), "failed") << stepped.end.q[0];
    EXPECT_NE(stepped.reason.find("jump 'bounce'"), std::string::npos) << stepped.reason;
}

// The forces of the walker are not those of a potential, and each heel strike changes T.
TEST(StateJump, TheEnergyOfResetsClosesTheBalance) {
    const Trajectory whole = motion_of(shipped("simplest-walker"), 20.0);
    ASSERT_EQ(events_of(whole, EventKind::jump).size(), 5U) << story(whole);
    double sum = 0.0;
    for (const Event& e : whole.events) sum += e.energy_after - e.energy_before;
    EXPECT_TRUE(matches(whole.energy.jumps, sum, 1e-13));
    EXPECT_NE(sum, 0.0);
    EXPECT_LT(whole.energy.balance_error, 1e-9);
}

// --- static friction

/// A block on a rough table that is pulled by the force t, with μ = 0.3 and μ_s = 0.5 under the load 10.
const std::string pulled = R"toml(
[system]
q = ["x", "y"]
T = "(x'^2 + y'^2)/2"
U = "10*y"
f = { x = "t" }
[[contact]]
name = "table"
gN = "y"
gammaT = "x'"
mu = 0.3
mu_static = 0.5
[penalty]
k = 1e6
d = 2e3
)toml";

// It holds up to 5 and slides with 3: x'' = t − 3 from t = 5 on, x' = (t² − 25)/2 − 3(t − 5).
TEST(StaticFriction, APulledBlockHoldsUpToTheStaticBoundAndSlidesWithTheOther) {
    const auto speed = [](double t) { return (t * t - 25.0) / 2.0 - 3.0 * (t - 5.0); };
    for (const bool series : {true, false}) {
        EventDriven method;
        method.series = series;
        const Trajectory motion = motion_of(from_text(pulled), 7.0, method);
        const std::vector<Event> slips = events_of(motion, EventKind::slip);
        ASSERT_EQ(slips.size(), 1U) << story(motion);
        EXPECT_TRUE(matches(slips[0].t, 5.0, 1e-10));
        EXPECT_TRUE(matches(motion.end.u[0], speed(7.0), 1e-9));
        EXPECT_TRUE(matches(motion.forces[0].T[0], -3.0, 1e-10));
    }
    // The block sinks into its spring within some milliseconds, in which the force is negligible.
    EXPECT_NEAR(attempt(from_text(pulled), 7.0, Penalty{}).end.u[0], speed(7.0), 1e-4);
    for (const double h : {1e-2, 1e-3}) {
        Moreau method;
        method.h = h;
        EXPECT_NEAR(attempt(from_text(pulled), 7.0, method).end.u[0], speed(7.0), 5.0 * h);
    }
}

// Thrown up a slope with tan β between μ and μ_s, a block stops and stays; with tan β above μ_s it slides down again.
TEST(StaticFriction, SlipThatComesToRestStaysIfTheStaticBoundHolds) {
    const auto text = [](double tangent) {
        return "[system]\nq = [\"x\"]\nT = \"x'^2/2\"\nU = \"" + number_text(tangent) + R"toml(*x"
[[slider]]
gammaT = "x'"
mu = 0.3
mu_static = 0.5
FN = 1
[initial]
u = { x = 1.0 }
)toml";
    };
    Moreau stepped;
    for (const integrate::Method& method : {integrate::Method(EventDriven{}), integrate::Method(stepped)}) {
        const Trajectory stays = attempt(from_text(text(0.4)), 5.0, method);
        EXPECT_NEAR(stays.end.u[0], 0.0, 1e-9) << stays.method;
        EXPECT_NEAR(stays.end.q[0], 1.0 / 1.4, 2e-3) << stays.method;  // v²/(2(0.4 + 0.3))
        const Trajectory returns = attempt(from_text(text(0.6)), 5.0, method);
        EXPECT_NEAR(returns.end.u[0], -0.3 * (5.0 - 1.0 / 0.9), 2e-3) << returns.method;
    }
}

TEST(StaticFriction, FrictionOfAConstraintHoldsUpToTheStaticBound) {
    const Model m = from_text(R"toml(
[system]
q = ["x", "y"]
T = "(x'^2 + y'^2)/2"
U = "10*y"
f = { x = "t" }
[[constraint]]
name = "rail"
g = "y"
gammaT = "x'"
mu = 0.3
mu_static = 0.5
)toml");
    const Trajectory motion = motion_of(m, 7.0);
    const std::vector<Event> slips = events_of(motion, EventKind::slip);
    ASSERT_EQ(slips.size(), 1U) << story(motion);
    EXPECT_TRUE(matches(slips[0].t, 5.0, 1e-10));
    EXPECT_TRUE(matches(motion.end.u[0], 6.0, 1e-9));
    EXPECT_NEAR(attempt(m, 7.0, Moreau{}).end.u[0], 6.0, 5e-3);
}

// A corner strikes while it slides, and the impact would turn its slip round. The impulse of friction is bounded by μ,
// in time-stepping as well: |ΔP_x| = μ ΔP_y, and not μ_s ΔP_y.
TEST(StaticFriction, ImpulsesAreBoundedByTheCoefficientOfSlip) {
    const Model m = from_text(R"toml(
[system]
q = ["x", "y", "phi"]
T = "(x'^2 + y'^2 + 0.154*phi'^2)/2"
[[contact]]
name = "corner"
gN = "y - 0.3*sin(phi) - 0.4*cos(phi)"
gammaT = "x' + phi'*(0.3*sin(phi) + 0.4*cos(phi))"
mu = 0.05
mu_static = 0.08
eN = 0.0
[initial]
q = { y = 0.5 }
u = { y = -3.0, phi = 0.4 }
)toml");
    Moreau stepped;
    stepped.h = 1e-4;
    for (const integrate::Method& method : {integrate::Method(EventDriven{}), integrate::Method(stepped)}) {
        const Trajectory motion = attempt(m, 0.04, method);
        const std::vector<Event> impacts = events_of(motion, EventKind::impact);
        ASSERT_EQ(impacts.size(), 1U) << story(motion);
        const Event& e = impacts[0];
        EXPECT_NEAR(std::abs(e.u_plus[0] - e.u_minus[0]), 0.05 * (e.u_plus[1] - e.u_minus[1]), 1e-9) << motion.method;
    }
}

}  // namespace
}  // namespace saltus::physics_state_jumps_test
