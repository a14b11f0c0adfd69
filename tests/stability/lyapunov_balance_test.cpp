// SPDX-License-Identifier: Apache-2.0
#include "saltus/stability/lyapunov_balance.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

#include "physics/motion.hpp"
#include "reference/reference.hpp"
#include "saltus/io/problem/fclib.hpp"
#include "saltus/io/results/trajectory_file.hpp"
#include "support.hpp"

namespace saltus::stability::lyapunov_balance_test {
namespace {

using test::EventDriven;
using test::from_text;
using test::Moreau;
using test::Penalty;
using test::shipped;
using trajectory::LyapunovBalance;

struct Balanced {
    trajectory::Trajectory motion;
    LyapunovBalance balance;
};

Balanced balanced(const model::Model& m, double t_end, const integrate::Method& method = EventDriven{},
                  std::optional<trajectory::State> start = {}) {
    integrate::Options options;
    options.t_end = t_end;
    options.start = std::move(start);
    integrate::RecordedMotion recorded = integrate::simulate_recorded(m, method, options);
    Balanced b;
    b.motion = std::move(recorded.motion);
    EXPECT_EQ(test::status_of(b.motion), "completed") << b.motion.reason;
    b.balance = lyapunov_balance(m, b.motion, recorded.recording);
    return b;
}

double last(const std::vector<double>& column) { return column.back(); }

void expect_never_falls(const std::vector<double>& column, double scale, const std::string& name) {
    for (std::size_t k = 1; k < column.size(); ++k)
        ASSERT_GE(column[k], column[k - 1] - 1e-12 * scale) << name << " in row " << k;
}

// Each sum on its own, and together they are the change of energy.
TEST(LyapunovBalance, ClosesOnTheShippedModels) {
    struct Case {
        const char* name;
        double t_end;
        test::Values set;
    };
    for (const Case& c : {Case{"rocking-bar", 3.0, {}},
                          {"falling-block", 5.0, {}},
                          {"constrained-beam", 5.0, {}},
                          {"constrained-beam", 3.0, {{"theta0", 0.0}, {"omega0", 12.0}}},
                          {"single-link-arm", 2.0, {{"e", 0.5}}},
                          {"bouncing-ball", 3.0, {}},
                          {"super-ball", 1.0, {}},
                          {"sphere-on-plane", 1.0, {}},
                          {"woodpecker", 0.2, {}}}) {
        const Balanced b = balanced(shipped(c.name, c.set), c.t_end);
        EXPECT_LE(b.balance.error, 1e-8) << c.name;
        EXPECT_LE(b.balance.largest_increase, 1e-8) << c.name;
        EXPECT_NEAR(b.balance.V.back(), b.motion.energy.final, 1e-12 * (1.0 + std::abs(b.motion.energy.final)));
        EXPECT_EQ(b.balance.t.front(), b.motion.start.t);
        EXPECT_NEAR(b.balance.t.back(), b.motion.end.t, 1e-15);
        EXPECT_TRUE(std::is_sorted(b.balance.t.begin(), b.balance.t.end())) << c.name;
        const double scale = 1.0 + std::abs(b.balance.V.front());
        expect_never_falls(b.balance.damping, scale, "damping");
        expect_never_falls(b.balance.friction, scale, "friction");
        expect_never_falls(b.balance.impact_friction, scale, "impact_friction");
        EXPECT_EQ(last(b.balance.applied), 0.0) << c.name;
        EXPECT_EQ(last(b.balance.driven), 0.0) << c.name;
    }
}

// One impact with slip: D^ΛT = mu Λ_N |γ_T⁺| and ½Λ²/m of the normal, both by hand.
TEST(LyapunovBalance, SplitsAnImpactAsTheTheoremDoes) {
    const model::Model m = from_text(R"TOML(
[system]
name = "oblique"
q = ["x", "y"]
T = "m/2*(x'^2 + y'^2)"
[parameters]
m = 2.0
[[contact]]
name = "floor"
gN = "y"
gammaT = "x'"
mu = 0.2
eN = 0.5
eT = 0.3
[initial]
q = { y = 1.0 }
u = { x = 5.0, y = -4.0 }
)TOML");
    const Balanced b = balanced(m, 1.0);
    ASSERT_EQ(b.motion.events.size(), 1U);
    const double Lambda_N = 2.0 * 1.5 * 4.0, Lambda_T = -0.2 * Lambda_N;
    const double after = 5.0 + Lambda_T / 2.0, xi = after + 0.3 * 5.0;
    EXPECT_NEAR(last(b.balance.impact_friction), -xi * Lambda_T / 1.3, 1e-12);
    const double restitution =
        0.5 * (Lambda_N * Lambda_N / 2.0 * (0.5 / 1.5) + Lambda_T * Lambda_T / 2.0 * (0.7 / 1.3));
    EXPECT_NEAR(last(b.balance.impact_restitution), restitution, 1e-12);
    EXPECT_LE(b.balance.error, 1e-14);
}

// Condition 7 fails, and V rises by the energy that the impact creates.
TEST(LyapunovBalance, RisesWhereAnImpactCreatesEnergy) {
    const Balanced b = balanced(shipped("rough-double-pendulum"), 0.5);
    double rise = 0.0;
    for (std::size_t k = 1; k < b.balance.size(); ++k) rise = std::max(rise, b.balance.V[k] - b.balance.V[k - 1]);
    const test::reference::Value impact = test::reference::entry("leine_impact_double_pendulum_energy_increase");
    EXPECT_NEAR(rise, impact["outputs"]["delta_T"], impact.tolerance());
    EXPECT_GT(b.balance.largest_increase, 1e-3);
    EXPECT_LE(b.balance.error, 1e-10);
}

TEST(LyapunovBalance, NamesDampingDriveAndSprings) {
    // Damped oscillator: 2 R is taken out.
    const Balanced damped = balanced(from_text(R"TOML(
[system]
name = "damped"
q = ["x"]
T = "x'^2/2"
U = "5*x^2"
R = "c/2*x'^2"
f = { x = "F*cos(t)" }
[parameters]
c = 0.4
F = 0.0
[initial]
q = { x = 1.0 }
)TOML"),
                                     3.0);
    EXPECT_NEAR(last(damped.balance.damping), damped.balance.V.front() - damped.balance.V.back(), 1e-9);
    EXPECT_GT(last(damped.balance.damping), 1.0);
    // A belt drags a block: friction takes out, the belt brings in more.
    const Balanced belt = balanced(shipped("friction-oscillator"), 20.0);
    EXPECT_LE(belt.balance.error, 1e-8);
    EXPECT_GT(last(belt.balance.driven), 0.1);
    EXPECT_GT(last(belt.balance.friction), 0.1);
    // A wall in motion does work at impacts.
    const Balanced wall = balanced(shipped("moving-wall"), 1.0);
    EXPECT_LE(wall.balance.error, 1e-12);
    EXPECT_NEAR(last(wall.balance.driven) - last(wall.balance.impact_restitution),
                wall.motion.energy.final - wall.motion.energy.initial, 1e-12);
    // Penalty: the spring takes and gives back.
    const Balanced soft = balanced(shipped("single-link-arm"), 1.0, Penalty{});
    EXPECT_LE(soft.balance.error, 1e-8);
    double most = 0.0;
    for (const double s : soft.balance.springs) most = std::max(most, s);
    EXPECT_GT(most, 1e-3);
}

/// Models for which the conditions of Theorem 1 on dissipation hold, and states above their floors.
struct Dissipative {
    std::string name;
    test::Values set;
    std::function<std::vector<double>(std::mt19937&)> q;
};

std::vector<Dissipative> dissipative_models() {
    const auto in = [](std::mt19937& r, double from, double to) {
        return std::uniform_real_distribution<double>(from, to)(r);
    };
    const auto rocking = [in](double a, double b) {
        return [=](std::mt19937& r) {
            const double phi = in(r, -0.6, 0.6), lift = in(r, 0.0, 0.3);
            return std::vector<double>{in(r, -0.5, 0.5), b * std::cos(phi) + a * std::abs(std::sin(phi)) + lift + 1e-9,
                                       phi};
        };
    };
    const auto block = [in](std::mt19937& r) { return std::vector<double>{in(r, -2.0, 2.0), in(r, 0.0, 1.0)}; };
    const auto beam = [in](std::mt19937& r) {
        const double theta = in(r, -3.0, 3.0);
        return std::vector<double>{-std::sin(theta), -std::cos(theta), theta};
    };
    return {{"falling-block", {}, block},
            {"falling-block", {{"mu", 0.7}, {"k", 25.0}, {"m", 2.0}}, block},
            {"rocking-bar", {}, rocking(0.5, 0.0)},
            {"rocking-bar", {{"eN", 0.8}, {"eT", 0.8}, {"mu", 0.1}}, rocking(0.5, 0.0)},
            {"rocking-block", {}, rocking(0.5, 0.3)},
            {"constrained-beam", {}, beam},
            {"constrained-beam", {{"mu1", 0.05}, {"mu2", 0.6}}, beam}};
}

trajectory::State random_state(const Dissipative& d, std::mt19937& random) {
    trajectory::State s{0.0, d.q(random), {}};
    std::uniform_real_distribution<double> speed(-2.0, 2.0);
    for (std::size_t i = 0; i < s.q.size(); ++i) s.u.push_back(speed(random));
    if (d.name == "constrained-beam") {
        s.u[0] = -std::cos(s.q[2]) * s.u[2];
        s.u[1] = std::sin(s.q[2]) * s.u[2];
    }
    return s;
}

// A step of the integration is good to 1e-9 of the state; what it leaves of the energy is less.
TEST(LyapunovBalance, NeverRisesFromAnyStateWhereTheTheoremHolds) {
    std::mt19937 random(11);
    for (const Dissipative& d : dissipative_models()) {
        const model::Model m = shipped(d.name, d.set);
        for (int k = 0; k < 6; ++k) {
            const Balanced b = balanced(m, 3.0, EventDriven{.rtol = 1e-11, .atol = 1e-13}, random_state(d, random));
            EXPECT_LE(b.balance.largest_increase, 1e-11) << d.name << " " << k;
            EXPECT_LE(b.balance.error, 1e-9) << d.name << " " << k;
            const double scale = 1.0 + std::abs(b.balance.V.front());
            expect_never_falls(b.balance.friction, scale, "friction");
            expect_never_falls(b.balance.impact_friction, scale, "impact_friction");
            expect_never_falls(b.balance.impact_restitution, scale, "impact_restitution");
            EXPECT_EQ(last(b.balance.applied), 0.0);
            EXPECT_EQ(last(b.balance.driven), 0.0);
        }
    }
}

// Where M is constant and U linear the scheme keeps the balance to rounding; U that bends costs h² of it. A step in
// which slip turns around may raise V, by no more than what friction does in one step times the change of the slip: h².
TEST(LyapunovBalance, OfTimeSteppingClosesToSecondOrder) {
    const Balanced ball = balanced(shipped("bouncing-ball"), 3.0, Moreau{});
    EXPECT_LE(ball.balance.error, 1e-13);
    EXPECT_LE(ball.balance.largest_increase, 1e-14);
    std::mt19937 random(7);
    for (const Dissipative& d : dissipative_models()) {
        const model::Model m = shipped(d.name, d.set);
        const trajectory::State start = random_state(d, random);
        std::vector<double> steps{2e-3, 1e-3, 5e-4}, errors;
        for (const double h : steps) {
            const Balanced b = balanced(m, 1.5, Moreau{.h = h}, start);
            errors.push_back(b.balance.error);
            EXPECT_LE(b.balance.largest_increase, 20.0 * h * h) << d.name;
            EXPECT_EQ(b.balance.size(), static_cast<std::size_t>(b.motion.statistics.steps) + 1);
        }
        EXPECT_GT(test::slope(steps, errors), 1.8) << d.name << " " << errors[0] << " " << errors[2];
    }
}

TEST(LyapunovBalance, OfTimeSteppingTendsToThatOfEvents) {
    const model::Model m = shipped("falling-block");
    const Balanced events = balanced(m, 3.0);
    std::vector<double> steps{2e-3, 5e-4}, friction, impacts;
    for (const double h : steps) {
        const Balanced b = balanced(m, 3.0, Moreau{.h = h});
        friction.push_back(std::abs(last(b.balance.friction) - last(events.balance.friction)));
        impacts.push_back(std::abs(last(b.balance.impact_friction) - last(events.balance.impact_friction)));
        EXPECT_NEAR(last(b.balance.impact_restitution), last(events.balance.impact_restitution), 20.0 * h);
    }
    EXPECT_LT(friction[1], 0.5 * friction[0]);
    EXPECT_LT(impacts[1], 0.5 * impacts[0]);
    EXPECT_LT(friction[1], 0.01 * events.balance.V.front());
    // Damping and forces that depend on the velocity, applied at the beginning of the step.
    const model::Model damped = from_text(R"TOML(
[system]
name = "damped and pushed"
q = ["x", "y"]
T = "x'^2/2 + y'^2"
U = "2*x + y"
R = "0.3*x'^2 + 0.1*x'*y' + 0.2*y'^2"
f = { x = "1 - 0.5*x'", y = "0.2*cos(3*t)" }
[initial]
u = { x = 1.0, y = -2.0 }
)TOML");
    const Balanced pushed = balanced(damped, 2.0, Moreau{.h = 0.01});
    EXPECT_LE(pushed.balance.error, 1e-13);
    EXPECT_GT(last(pushed.balance.damping), 1.0);
    EXPECT_NE(last(pushed.balance.applied), 0.0);
    // A belt and a moving wall bring in what they bring in.
    const Balanced wall = balanced(shipped("moving-wall"), 1.0, Moreau{});
    EXPECT_LE(wall.balance.error, 1e-13);
    EXPECT_NEAR(last(wall.balance.driven), last(balanced(shipped("moving-wall"), 1.0).balance.driven), 1e-9);
}

TEST(LyapunovBalance, IsKeptInTheResultFile) {
    if (!io::has_hdf5()) GTEST_SKIP();
    const Balanced b = balanced(shipped("falling-block"), 2.0);
    test::Folder folder;
    const std::string with = (folder.path() / "with.h5").string(), without = (folder.path() / "without.h5").string();
    io::write_trajectory(with, b.motion, &b.balance);
    io::write_trajectory(without, b.motion);
    const LyapunovBalance back = io::read_balance(with);
    EXPECT_EQ(back.t, b.balance.t);
    EXPECT_EQ(back.V, b.balance.V);
    EXPECT_EQ(back.friction, b.balance.friction);
    EXPECT_EQ(back.impact_restitution, b.balance.impact_restitution);
    EXPECT_EQ(back.error, b.balance.error);
    EXPECT_TRUE(io::read_balance(without).empty());
    EXPECT_EQ(io::read_trajectory(with).events.size(), b.motion.events.size());
}

}  // namespace
}  // namespace saltus::stability::lyapunov_balance_test
