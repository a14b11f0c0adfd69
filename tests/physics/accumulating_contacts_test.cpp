// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cmath>
#include <numbers>

#include "physics/motion.hpp"

namespace saltus::accumulating_contacts_test {
namespace {

using namespace saltus::test;

// A point that leaves and strikes a floor infinitely often in finite time without a rebound: the example after
// Definition 2.1 of [Alscher], with a countable set of events that accumulates at T. The force does not change if the
// time T − t that is left is divided by 4. So each cycle of flight and contact is the one before on a scale of time of
// 1/4: velocities at collisions fall by 1/4, heights by 1/16.

constexpr double A = 100.0, phi = 0.6706449333161663;

double force(double left, double T) {
    const double w = 2.0 * std::numbers::pi / std::log(4.0);
    return A * (std::cos(w * std::log(4.0 * left / T) + phi) - std::cos(phi));
}

/// Velocity and height after the first flight up to the time t, by Simpson's rule from f alone: u = ∫ f, x = ∫ (t − s)
/// f.
std::pair<double, double> flight(double t, double T) {
    constexpr int n = 20000;
    double u = 0.0, x = 0.0;
    for (int k = 0; k <= n; ++k) {
        const double s = t * k / n, weight = (k == 0 || k == n ? 1.0 : k % 2 == 1 ? 4.0 : 2.0) * t / n / 3.0;
        u += weight * force(T - s, T);
        x += weight * (t - s) * force(T - s, T);
    }
    return {u, x};
}

TEST(AccumulatingContacts, CollisionsAndLiftOffsAreAtTheTimesOfTheSelfSimilarForce) {
    // The extrapolated limit has rounding errors. For T = 3 the run used to stop one unit in the last place before T.
    for (const double T : {1.0, 4.0, 3.0, 0.7, 5.1, 11.3}) {
        const Trajectory motion = motion_of(shipped("accumulating-contacts", {{"limit", T}}), 1.5 * T);
        EXPECT_EQ(motion.status, trajectory::Status::completed) << story(motion);
        const std::vector<Event> impacts = events_of(motion, EventKind::impact),
                                 away = events_of(motion, EventKind::lift_off);
        ASSERT_GE(impacts.size(), 8U) << story(motion);
        ASSERT_GE(away.size(), 8U);
        for (std::size_t k = 0; k < 8; ++k) {
            EXPECT_NEAR(impacts[k].t, T * (1.0 - std::pow(4.0, -static_cast<double>(k)) / 2.0), 1e-9 * T) << k;
            EXPECT_NEAR(away[k].t, T * (1.0 - std::pow(4.0, -static_cast<double>(k))), 1e-9 * T) << k;
        }
    }
}

TEST(AccumulatingContacts, EachCycleIsAQuarterOfTheOneBefore) {
    const Trajectory motion = motion_of(shipped("accumulating-contacts"), 1.5);
    const std::vector<Event> impacts = events_of(motion, EventKind::impact);
    const auto [u, x] = flight(0.5, 1.0);
    EXPECT_NEAR(x, 0.0, 1e-9) << "the flight ends on the floor";
    EXPECT_NEAR(impacts[0].u_minus[0], u, 1e-8);
    for (std::size_t k = 0; k + 1 < 9; ++k) {
        EXPECT_EQ(impacts[k].u_plus[0], 0.0) << "no rebound";
        EXPECT_NEAR(impacts[k + 1].u_minus[0] / impacts[k].u_minus[0], 0.25, 1e-6) << k;
    }
    for (const double t : {0.1, 0.25, 0.4}) {
        const auto [speed, height] = flight(t, 1.0);
        EXPECT_NEAR(motion.right(t).q[0], height, 1e-8) << t;
        EXPECT_NEAR(motion.right(t).u[0], speed, 1e-8) << t;
        EXPECT_NEAR(motion.right(0.75 + t / 4.0).q[0], height / 16.0, 1e-8) << "the second cycle, " << t;
    }
}

TEST(AccumulatingContacts, MotionIsFollowedToItsLimitAndBeyond) {
    const Trajectory motion = motion_of(shipped("accumulating-contacts"), 1.5);
    const std::vector<Event> limits = events_of(motion, EventKind::accumulation);
    ASSERT_EQ(limits.size(), 1U) << story(motion);
    EXPECT_NEAR(limits[0].t, 1.0, 1e-7);
    for (const Event& e : motion.events) EXPECT_LE(e.t, limits[0].t) << "nothing happens after the limit";
    EXPECT_NEAR(motion.right(1.2).q[0], 0.0, 1e-16) << "a rounding error of the height before";
    EXPECT_EQ(motion.right(1.2).u[0], 0.0);
    ASSERT_EQ(motion.forces.size(), 1U);
    EXPECT_NEAR(motion.forces[0].N, A, 1e-9) << "the force presses the point on the floor";
}

TEST(AccumulatingContacts, EndsBeforeTheLimitIfTheRunDoes) {
    const Trajectory motion = motion_of(shipped("accumulating-contacts"), 0.99);
    EXPECT_TRUE(events_of(motion, EventKind::accumulation).empty());
    EXPECT_EQ(events_of(motion, EventKind::impact).size(), 3U) << "at 1/2, 7/8 and 31/32";
}

// A ball between a rough floor and a ceiling with the slope 0.12 that comes down with 1 m/s. Without accelerations the
// gap at the ball shrinks with the rate 1 m/s − 0.12 x'. Floor: y'⁺ = −0.43 y'⁻ and x' falls by at most 0.15·1.43
// |y'⁻|, which stops it each time. Ceiling: γ⁺ = −0.31 γ⁻ along (0.12, −1). The velocities before the floor repeat: x'
// = 0.2534, y' = −1.4764, whatever the gap is, and the gap is zero at t = 0.07575 s.
const char* const wedge = R"toml(
[system]
q = ["x", "y"]
T = "x'^2/2 + y'^2/2"
[[contact]]
name = "floor"
gN = "y"
gammaT = "x'"
mu = 0.15
eN = 0.43
[[contact]]
name = "ceiling"
gN = "0.1 - t - y + 0.12*x"
eN = 0.31
[initial]
q = { x = 0, y = 0.05 }
u = { x = -2.78, y = -1 }
)toml";

TEST(AccumulatingContacts, ABallThatIsSqueezedFasterThanItEscapesJams) {
    const Trajectory motion = attempt(from_text(wedge), 0.08);
    EXPECT_EQ(motion.status, Status::failed) << story(motion);
    EXPECT_NE(motion.reason.find("do not slow down"), std::string::npos) << motion.reason;
    EXPECT_NEAR(motion.end.t, 0.0757511, 1e-6);
    ASSERT_FALSE(motion.events.empty());
    EXPECT_LT(motion.events.back().energy_after, 2.0) << "no impulse of the limit throws it out";
}

// Two contacts whose obstacles move towards each other. At constant positions the impacts alternate, the velocities of
// the contacts go to zero, and friction decides about the other velocities at the limit.
const char* const between_obstacles = R"toml(
[system]
q = ["x", "y", "z", "w"]
T = "1.993*x'^2/2 + 0.676*y'^2/2 + 1.719*z'^2/2 + 1.271*w'^2/2 + 0.025*x'*z'"
U = "10.26*(x - 0.81)^2/2 + 4.428*(y - 0.195)^2/2 + 8.795*z + 5.398*w"
R = "0.744*x'^2/2 + 0.221*y'^2/2 + 0.51*z'^2/2 + 0.739*w'^2/2"
f = { z = "1.018*sin(8.176*t + 0.843)", w = "1.927*sin(1.648*t + 0.893)" }
[[contact]]
name = "c0"
gN = "(-1.048)*x + 1.11*y + 0.22*z + 0.231*sin(6.28*t) + (0.27334)"
gammaT = ["(-1.141)*x' + (-0.721)*y' + 0.625*z' + 0.183*w'", "0.398*x' + 0.57*y' + (-0.652)*w'"]
mu = [0.61, 0]
eN = 0.8
[[contact]]
name = "c1"
gN = "0.349*x + (-1.176)*y + (-0.263)*z + 0.013*w + 0.271*sin(4.322*t) + (0.14418300000000003)"
gammaT = "(-0.169)*x' + 1.097*z' + 0.182*w' + 0.4*w*w'"
mu = 0.35
mu_static = 0.667
eN = 0.709
[initial]
q = { x = 0.48, y = 0.134, z = 0.368, w = 0.205 }
u = { x = 0.0, y = -1.364, z = 1.795, w = -0.621 }
)toml";

using Four = std::array<double, 4>;

double dot(const Four& a, const Four& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3]; }

/// M⁻¹ a for the mass matrix of `between_obstacles`, in which x and z are coupled.
Four by_mass(const Four& a) {
    const double xx = 1.993, zz = 1.719, xz = 0.025, determinant = xx * zz - xz * xz;
    return {(zz * a[0] - xz * a[2]) / determinant, a[1] / 0.676, (xx * a[2] - xz * a[0]) / determinant, a[3] / 1.271};
}

/// Newton's law with eT = 0 at one contact with Coulomb friction: sticks if |Λ_T| <= μ Λ_N, otherwise slips.
void strike(Four& u, const Four& W, double chi, const Four& T, double mu, double e) {
    const double gamma = dot(W, u) + chi;
    if (gamma >= 0.0) return;
    const Four MW = by_mass(W), MT = by_mass(T);
    const double a = dot(W, MW), b = dot(W, MT), c = dot(T, MT), slip = dot(T, u), asked = -(1.0 + e) * gamma;
    double N = (asked * c + b * slip) / (a * c - b * b), L = (-a * slip - b * asked) / (a * c - b * b);
    if (std::abs(L) > mu * N)
        for (const double k : {-mu, mu}) {
            N = asked / (a + b * k);
            L = k * N;
            if (N > 0.0 && (slip + b * N + c * L) * k <= 0.0) break;
        }
    for (std::size_t i = 0; i < 4; ++i) u[i] += MW[i] * N + MT[i] * L;
}

TEST(AccumulatingContacts, ImpactsThatDoNotSlowDownAsFastAsTheyFollowHaveTheVelocitiesOfTheirLimit) {
    model::BuildOptions options;
    options.project_initial = true;
    const Model m = model::build(io::parse_model(between_obstacles, "test"), options);
    const Trajectory motion = motion_of(m, 0.6155);
    const std::vector<Event> limits = events_of(motion, EventKind::accumulation);
    ASSERT_EQ(limits.size(), 1U) << story(motion);
    const Event& limit = limits[0];
    EXPECT_NEAR(limit.t, 0.61548018622, 1e-10);
    // The impacts before the limit, continued at constant positions by the laws of single impacts.
    const Event* last = nullptr;
    for (const Event& e : motion.events)
        if (e.kind == EventKind::impact && e.t < limit.t - 1e-12) last = &e;
    ASSERT_NE(last, nullptr);
    Four u = {last->u_plus[0], last->u_plus[1], last->u_plus[2], last->u_plus[3]};
    const Four W0 = {-1.048, 1.11, 0.22, 0.0}, T0 = {-1.141, -0.721, 0.625, 0.183};
    const Four W1 = {0.349, -1.176, -0.263, 0.013}, T1 = {-0.169, 0.0, 1.097, 0.182 + 0.4 * limit.q[3]};
    const double chi0 = 0.231 * 6.28 * std::cos(6.28 * limit.t), chi1 = 0.271 * 4.322 * std::cos(4.322 * limit.t);
    for (int k = 0; k < 2000; ++k) {
        strike(u, W0, chi0, T0, 0.61, 0.8);
        strike(u, W1, chi1, T1, 0.35, 0.709);
    }
    EXPECT_NEAR(dot(W0, u) + chi0, 0.0, 1e-9) << "both contacts are at rest";
    EXPECT_NEAR(dot(W1, u) + chi1, 0.0, 1e-9);
    for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(limit.u_plus[i], u[i], 1e-6 * 21.4) << i;
    EXPECT_NEAR(u[3], -21.445, 1e-3) << "Moreau's method with h = 1e-6";
}

}  // namespace
}  // namespace saltus::accumulating_contacts_test
