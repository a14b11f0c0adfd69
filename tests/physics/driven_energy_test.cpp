// SPDX-License-Identifier: Apache-2.0
// The energy balance of systems whose energies depend on the time, or whose kinetic energy is not a quadratic form of
// the velocities. The motions are correct; a balance that forgets ∂U/∂t, ∂T/∂t or the parts of T would call them
// inaccurate.
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "physics/motion.hpp"

namespace saltus::driven_energy_test {
namespace {

using namespace saltus::test;

Model particle(const std::string& energies) {
    return from_text("[system]\nname = \"particle\"\nq = [\"x\"]\n" + energies + "\n[initial]\nq = { x = 1.0 }\n");
}

/// The motion by each of the three ways to integrate smooth arcs.
void expect_closed_balance(const Model& m, const std::string& what) {
    for (const bool series : {true, false})
        for (const bool implicit : {false, true}) {
            EventDriven method;
            method.series = series;
            method.implicit = implicit;
            integrate::Options o;
            o.t_end = 5.0;
            const Trajectory motion = integrate::simulate(m, method, o);
            EXPECT_EQ(status_of(motion), "completed") << what << ": " << motion.reason;
            EXPECT_LT(motion.energy.balance_error, 1e-8) << what << series << implicit;
        }
}

TEST(DrivenEnergy, APotentialThatChangesInTimeDoesWork) {
    // x'' = −k(t) x. U is supplied with ½ k̇ x².
    const Model m = particle("T = \"x'^2/2\"\nU = \"10*(1 + 0.3*sin(3*t))/2*x^2\"");
    expect_closed_balance(m, "stiffness");
    expect_closed_balance(particle("T = \"x'^2/2\"\nU = \"10/2*(x - 0.3*sin(3*t))^2\""), "rest position");
}

TEST(DrivenEnergy, AMassThatChangesInTimeTakesEnergyAway) {
    // d/dt(m(t) u) = 0: u = 1/m(t), and T = 1/(2 m) falls as m grows.
    const Model m = from_text(
        "[system]\nname = \"growing mass\"\nq = [\"x\"]\nT = \"(1 + t)*x'^2/2\"\n[initial]\nu = { x = 1.0 }\n");
    expect_closed_balance(m, "mass");
    integrate::Options o;
    o.t_end = 3.0;
    const Trajectory motion = integrate::simulate(m, EventDriven{}, o);
    EXPECT_NEAR(motion.end.u[0], 0.25, 1e-10);
    EXPECT_NEAR(motion.energy.final, 0.125, 1e-10);
    EXPECT_NEAR(motion.energy.work, 0.125 - 0.5, 1e-10);
}

TEST(DrivenEnergy, InARotatingTubeJacobisEnergyIsKept) {
    // T = (x'² + ω² x²)/2: the energy is x'²/2 − ω² x²/2 + U, because the drive of the tube does work.
    const Model m = particle("T = \"(x'^2 + 4*x^2)/2\"\nU = \"10*x^2/2\"");
    expect_closed_balance(m, "tube");
    const Trajectory motion = integrate::simulate(m, EventDriven{}, integrate::Options{});
    EXPECT_NEAR(motion.energy.initial, 10.0 / 2 - 4.0 / 2, 1e-12);
    EXPECT_NEAR(motion.energy.final, motion.energy.initial, 1e-9);
    EXPECT_NEAR(motion.end.q[0], std::cos(std::sqrt(6.0)), 1e-9);
}

TEST(DrivenEnergy, InAMovingFrameTheBalanceCloses) {
    // T = (x' + v(t))²/2 has a part linear in x': it changes nothing but by its rate, a force −v̇.
    expect_closed_balance(particle("T = \"(x' + cos(t))^2/2\"\nU = \"10*x^2/2\""), "frame");
}

/// Two masses joined by a muscle, one of them held by a floor: a leg that shortens and stretches itself.
constexpr const char* jumping_leg = R"toml(
[points]
positions = [[0.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
mass = [0.5, 2.0]
gravity = [0.0, 0.0, -9.81]
[[springs]]
pairs = [[0, 1]]
k = "300*(1 + 0.3*sin(5*t))"
c = 3.0
rest = "1 + 0.2*sin(9*t)"
[[obstacle]]
name = "floor"
normal = [0.0, 0.0, 1.0]
offset = 0.0
)toml";

TEST(Muscles, TheirWorkClosesTheEnergyBalanceInEveryMethod) {
    const Model m = from_text(jumping_leg);
    integrate::Options o;
    o.t_end = 3.0;
    double end = 0.0;
    for (const bool series : {true, false})
        for (const bool implicit : {false, true}) {
            EventDriven method;
            method.series = series;
            method.implicit = implicit;
            const Trajectory motion = integrate::simulate(m, method, o);
            EXPECT_EQ(status_of(motion), "completed") << motion.reason;
            EXPECT_LT(motion.energy.balance_error, 1e-8) << series << implicit;
            EXPECT_GT(motion.events.size(), 4U);
            if (end == 0.0) end = motion.end.q[5];
            EXPECT_NEAR(motion.end.q[5], end, 1e-6) << series << implicit;
        }
    // Time-stepping converges to the same motion, and its balance closes with the step.
    double error[2];
    for (int k = 0; k < 2; ++k) {
        Moreau method;
        method.h = k == 0 ? 4e-4 : 1e-4;
        const Trajectory motion = integrate::simulate(m, method, o);
        EXPECT_EQ(status_of(motion), "completed") << motion.reason;
        error[k] = std::abs(motion.end.q[5] - end);
    }
    EXPECT_LT(error[1], 5e-3);
    EXPECT_LT(error[1], 0.6 * error[0]);
}

TEST(Muscles, AStretchedMuscleFollowsTheClosedForm) {
    // Without gravity and damping, 1D: μ ẍ = −k (x − 0.1 sin 2t) with the reduced mass μ; start at rest.
    const std::string text =
        "[points]\npositions = [[0, 0, 0], [1, 0, 0]]\nmass = [1.0, 1.0]\n[[springs]]\npairs = [[0, 1]]\nk = "
        "\"8\"\nrest = \"1 + 0.1*sin(2*t)\"\n";
    const double mu = 0.5, k = 8.0, omega = std::sqrt(k / mu), w = 2.0, t = 3.0;
    const double gain = 0.1 * omega * omega / (omega * omega - w * w);
    integrate::Options o;
    o.t_end = t;
    const Trajectory motion = integrate::simulate(from_text(text), EventDriven{}, o);
    const double stretch = gain * (std::sin(w * t) - w / omega * std::sin(omega * t));
    EXPECT_NEAR(motion.end.q[3] - motion.end.q[0] - 1.0, stretch, 1e-8);
    // E = ½ μ ẋ² + ½ k (x − l₀)² has been supplied by the muscle alone.
    EXPECT_NEAR(motion.energy.work, motion.energy.final - motion.energy.initial, 1e-9);
    EXPECT_GT(std::abs(motion.energy.work), 1e-4);
}

TEST(CrawlingSkeleton, CrawlsWithTheSpeedOfAnIndependentIntegration) {
    // The reference is Moreau's rule with projected Gauss–Seidel, written separately, with steps of 1e-4 and 5e-5 s and
    // extrapolated: displacement of the centre of mass per period, after the gait has settled.
    const Model m = shipped("crawling-skeleton");
    const auto centre = [&](double t_end, double h) {
        integrate::Options o;
        o.t_end = t_end;
        integrate::Moreau method;
        method.h = h;
        const Trajectory motion = integrate::simulate(m, method, o);
        EXPECT_EQ(status_of(motion), "completed") << motion.reason;
        double x = 0.0;
        for (std::size_t i = 0; i < motion.end.q.size(); i += 3) x += motion.end.q[i] / 12.0;
        return x;
    };
    const auto per_period = [&](double h) { return centre(4.0, h) - centre(3.0, h); };
    // The scheme is of first order while contacts slide.
    EXPECT_NEAR(2.0 * per_period(5e-5) - per_period(1e-4), -0.0135336, 5e-6);
}

TEST(CrawlingSkeleton, TakesItsEnergyFromTheMuscles) {
    const Model m = shipped("crawling-skeleton");
    integrate::Options o;
    o.t_end = 0.05;
    const Trajectory motion = integrate::simulate(m, EventDriven{}, o);
    EXPECT_EQ(status_of(motion), "completed") << motion.reason;
    EXPECT_LT(motion.energy.balance_error, 1e-8);
    EXPECT_GT(motion.energy.work, 1e-3);
}

}  // namespace
}  // namespace saltus::driven_energy_test
