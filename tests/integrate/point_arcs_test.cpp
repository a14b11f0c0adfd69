// SPDX-License-Identifier: Apache-2.0
// Mass points on Taylor series: closed forms, events that are easy to miss, and memory that grows with the number of
// points only linearly.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "allocations.hpp"
#include "integrate/small_models.hpp"
#include "saltus/base/text.hpp"
#include "saltus/integrate/mode/mode_series.hpp"
#include "saltus/integrate/simulate.hpp"
#include "saltus/model/model.hpp"

namespace saltus::integrate::point_arcs_test {
namespace {

using test::model_of;
using Real = long double;

std::string text(Real x) { return number_text(static_cast<double>(x)); }

trajectory::Trajectory run(const std::string& model, double t_end) {
    EventDriven method;
    method.keep_arcs = false;
    Options options;
    options.t_end = t_end;
    return simulate(model_of(model), method, options);
}

// --- closed forms ---

/// A row of equal masses and springs, free at both ends, moves along its line in a normal mode:
///     x_j = j + A cos(π p (j + ½)/N) cos(ω t),   ω = 2 √(k/m) sin(π p/(2N)).
TEST(PointArcs, ARowOfSpringsMovesInItsNormalMode) {
    constexpr int count = 7, mode = 3;
    constexpr double amplitude = 0.1, k = 40.0, m = 0.5, t_end = 5.0;
    const double pi = std::acos(-1.0), omega = 2.0 * std::sqrt(k / m) * std::sin(pi * mode / (2.0 * count));
    const auto shape = [&](int j) { return amplitude * std::cos(pi * mode * (j + 0.5) / count); };
    std::string positions, masses, pairs;
    for (int j = 0; j < count; ++j) {
        positions += "[" + text(j + shape(j)) + ", 0, 0], ";
        masses += text(m) + ", ";
        if (j > 0) pairs += "[" + std::to_string(j - 1) + ", " + std::to_string(j) + "], ";
    }
    const trajectory::Trajectory motion =
        run("[points]\npositions = [" + positions + "]\nmass = [" + masses + "]\n[[springs]]\npairs = [" + pairs +
                "]\nk = " + text(k) + "\nrest = 1\n",
            t_end);
    ASSERT_EQ(motion.status, trajectory::Status::completed) << motion.reason;
    EXPECT_TRUE(motion.events_certain);
    for (int j = 0; j < count; ++j)
        EXPECT_NEAR(motion.end.q[static_cast<std::size_t>(3 * j)], j + shape(j) * std::cos(omega * t_end), 1e-9) << j;
    EXPECT_LT(motion.energy.balance_error, 1e-12);
}

/// A damped spring between two points of mass m along its line: the length decays like e^(−δt) cos(ωt + φ), δ = c/m.
TEST(PointArcs, ADampedSpringDecaysByItsLaw) {
    constexpr double k = 30.0, c = 0.6, m = 1.5, stretch = 0.2, t_end = 3.0;
    const trajectory::Trajectory motion = run("[points]\npositions = [[0, 0, 0], [0, " + text(1.0 + stretch) +
                                                  ", 0]]\nmass = [1.5, 1.5]\n[[springs]]\n"
                                                  "pairs = [[0, 1]]\nk = 30\nc = 0.6\nrest = 1\n",
                                              t_end);
    EXPECT_TRUE(motion.events_certain);
    const double delta = c / m, omega = std::sqrt(2.0 * k / m - delta * delta);
    const double length =
        1.0 + stretch * std::exp(-delta * t_end) * (std::cos(omega * t_end) + delta / omega * std::sin(omega * t_end));
    EXPECT_NEAR(motion.end.q[4] - motion.end.q[1], length, 1e-10);
    EXPECT_LT(motion.energy.balance_error, 1e-12);
}

/// A pendulum on a stiff spring keeps its energy and, without gravity, its angular momentum: the spring turns.
TEST(PointArcs, TwoPointsOnASpringTurnWithLongSteps) {
    const trajectory::Trajectory motion =
        run("[points]\npositions = [[1, 0, 0], [-1, 0, 0]]\nmass = [1, 1]\nvelocity = [[0, 2, 0], [0, -2, 0]]\n"
            "[[springs]]\npairs = [[0, 1]]\nk = 2\nrest = 0\n",
            20.0);
    // Each point moves like a harmonic oscillator with ω² = 2k/m = 4: a circle of radius 1.
    EXPECT_NEAR(motion.end.q[0], std::cos(40.0), 1e-9);
    EXPECT_NEAR(motion.end.q[1], std::sin(40.0), 1e-9);
    EXPECT_LT(motion.statistics.steps, 60);  // more than a radian each, although d turns by more than its length
}

// --- events that are easy to miss ---

/// The first time in [0, t_end] at which a function becomes negative, searched with steps that are short near t0.
/// Empty if there is none; NaN if it comes too close to zero to be decided.
std::optional<Real> first_zero(const std::function<Real(Real)>& gap, Real t0, Real width, Real t_end) {
    std::vector<Real> times;
    for (int k = 0; k <= 2000; ++k) times.push_back(t_end * static_cast<Real>(k) / 2000);
    for (int k = -4000; k <= 4000; ++k) times.push_back(t0 + width * static_cast<Real>(k) / 500);
    std::sort(times.begin(), times.end());
    Real least = 1;
    for (std::size_t k = 1; k < times.size(); ++k) {
        if (times[k] <= 0 || times[k] > t_end) continue;
        const Real value = gap(times[k]);
        least = std::min(least, std::abs(value));
        if (value >= 0) continue;
        Real left = std::max<Real>(0, times[k - 1]), right = times[k];
        for (int i = 0; i < 80; ++i) {
            const Real middle = (left + right) / 2;
            (gap(middle) < 0 ? right : left) = middle;
        }
        return right;
    }
    if (least < 1e-6L) return std::numeric_limits<Real>::quiet_NaN();
    return {};
}

struct Trap {
    std::string model;
    std::function<Real(Real)> gap;  ///< of the contact that may close, as long as none has closed
    Real t0, width;                 ///< of the pulse
    double t_end;
};

/// A point on a parabola, and a plane that leaps towards it for a moment.
Trap flying_point(std::mt19937& random) {
    std::uniform_real_distribution<double> unit(0.0, 1.0);
    const Real t0 = 0.5 + 2.0 * unit(random), width = std::pow(10.0, -5.0 + 3.5 * unit(random));
    const Real x = 1.0 + unit(random), v = 0.6 * (unit(random) - 0.5), g = -0.1 * unit(random);
    const Real at_pulse = x + v * t0 + g * t0 * t0 / 2, height = at_pulse * (0.9L + 0.2L * unit(random)) + 0.5L;
    const auto gap = [=](Real t) {
        const Real s = (t - t0) / width;
        return x + v * t + g * t * t / 2 + 0.5L - height * std::exp(-s * s);
    };
    return {"[points]\npositions = [[0, " + text(x) + ", 3]]\nmass = [2]\nvelocity = [1, " + text(v) +
                ", 0]\ngravity = [0, " + text(g) +
                ", 0]\n[[obstacle]]\nname = \"plane\"\nnormal = [0, 1, 0]\noffset = \"" + text(height) +
                "*exp(-((t - " + text(t0) + ")/" + text(width) + ")^2) - 0.5\"\neN = 0.5\n",
            gap, t0, width, 4.0};
}

/// Two points swing along x on a spring, and a wall on their right leaps towards them for a moment.
Trap swinging_points(std::mt19937& random) {
    std::uniform_real_distribution<double> unit(0.0, 1.0);
    const Real t0 = 0.5 + 2.0 * unit(random), width = std::pow(10.0, -5.0 + 3.5 * unit(random));
    const Real k = 20.0 + 30.0 * unit(random), m = 1.0 + unit(random), amplitude = 0.2 + 0.2 * unit(random);
    const Real omega = std::sqrt(2 * k / m);
    const auto right = [=](Real t) { return 0.5L * (1.5L + amplitude * std::cos(omega * t)); };
    const Real depth = (3.0L - right(t0)) * (0.97L + 0.06L * unit(random));
    const auto gap = [=](Real t) {
        const Real s = (t - t0) / width;
        return 3.0L - depth / (1 + s * s * s * s) - right(t);
    };
    const Real start = right(0);
    return {"[points]\npositions = [[" + text(-start) + ", 0, 0], [" + text(start) + ", 0, 0]]\nmass = [" + text(m) +
                ", " + text(m) + "]\n[[springs]]\npairs = [[0, 1]]\nk = " + text(k) +
                "\nrest = 1.5\n[[obstacle]]\nname = \"wall\"\nnormal = [-1, 0, 0]\noffset = \"" + text(depth) +
                "/(1 + ((t - " + text(t0) + ")/" + text(width) + ")^4) - 3\"\neN = 0.5\n",
            gap, t0, width, 4.0};
}

/// None may be missed, none may be invented, and the result must say that events are certain.
void expect_the_first_contact(Trap (*make)(std::mt19937&)) {
    constexpr unsigned traps = 100;
    int hits = 0, misses = 0;
    for (unsigned seed = 0; seed < traps; ++seed) {
        std::mt19937 random(seed);
        const Trap trap = make(random);
        const std::optional<Real> expected = first_zero(trap.gap, trap.t0, trap.width, trap.t_end);
        if (expected && std::isnan(*expected)) continue;
        // The fast plane strikes hard: what follows may lead points through each other, where springs have no
        // direction.
        const double end = expected ? static_cast<double>(*expected + trap.width / 10) : trap.t_end;
        const trajectory::Trajectory motion = run(trap.model, end);
        ASSERT_EQ(motion.status, trajectory::Status::completed) << motion.reason << "\n" << trap.model;
        EXPECT_TRUE(motion.events_certain) << trap.model;
        ASSERT_EQ(!motion.events.empty(), expected.has_value()) << seed << "\n" << trap.model;
        ++(expected ? hits : misses);
        // The wall moves with up to depth/width; the error of its motion is that of the tolerance.
        if (!expected) continue;
        EXPECT_NEAR(motion.events[0].t, static_cast<double>(*expected), 1e-9) << seed << "\n" << trap.model;
    }
    EXPECT_GT(hits, 20);
    EXPECT_GT(misses, 20);
}

TEST(PointArcs, APointMeetsAPlaneThatLeapsForAMomentOrNot) { expect_the_first_contact(flying_point); }
TEST(PointArcs, PointsOnASpringMeetAWallThatLeapsForAMomentOrNot) { expect_the_first_contact(swinging_points); }

/// A bridge of two spans between a body that a formula holds and a point: events of bodies with points are certain,
/// too.
TEST(PointArcs, BodiesAndPointsTogetherHaveCertainEvents) {
    const trajectory::Trajectory motion = run(R"toml(
[system]
q = ["y"]
T = "y'^2/2"
U = "50*(y - p0.z)^2"
[[contact]]
name = "floor"
gN = "y"
eN = 1
[points]
positions = [[0, 0, 1.0]]
mass = [1]
gravity = [0, 0, 0]
velocity = [0, 0, -1]
[initial]
q = { y = 1.0 }
u = { y = -1 }
)toml",
                                              1.5);
    ASSERT_EQ(motion.status, trajectory::Status::completed) << motion.reason;
    EXPECT_TRUE(motion.events_certain);
    ASSERT_FALSE(motion.events.empty());
    EXPECT_NEAR(motion.events[0].t, 1.0, 1e-12);  // both fly with −1 m/s, and the spring between them is at rest
}

// --- cost ---

/// A square net of points above a floor.
std::string net(int side) {
    std::string positions, masses, pairs;
    for (int i = 0; i < side; ++i)
        for (int j = 0; j < side; ++j) {
            positions +=
                "[" + text(0.1 * i) + ", " + text(0.1 * j) + ", " + text(1.0 + 0.01 * ((i * 7 + j * 3) % 5)) + "], ";
            masses += "0.01, ";
            const int own = side * i + j;
            if (i > 0) pairs += "[" + std::to_string(own - side) + ", " + std::to_string(own) + "], ";
            if (j > 0) pairs += "[" + std::to_string(own - 1) + ", " + std::to_string(own) + "], ";
        }
    return "[points]\npositions = [" + positions + "]\nmass = [" + masses +
           "]\ngravity = [0, 0, -9.81]\n[[springs]]\npairs = [" + pairs +
           "]\nk = 20\nc = 0.01\nrest = 0.1\n[[obstacle]]\nname = \"floor\"\nnormal = [0, 0, 1]\noffset = 0\n";
}

/// Memory that one expansion with its proof needs, in bytes. A second expansion needs none.
std::size_t memory_of_series(const model::Model& m) {
    Dynamics d(m, false, 1.0);
    const std::vector<double> x = test::state(m.q0, m.u0);
    d.set_mode(d.mode(), 0.0, x.data());
    const std::vector<char> watched(static_cast<std::size_t>(m.layout().positions()), 1);
    ModeSeries series(d);
    const std::size_t before = saltus::test::allocated_bytes();
    EXPECT_TRUE(series.begin_mode(watched));
    EXPECT_TRUE(series.expand(0.0, x.data(), 20));
    const ode::Tolerances tolerances{1e-10, 1e-12, {}};
    EXPECT_GT(series.proved_length(1e-3, tolerances), 0.0);
    const std::size_t after = saltus::test::allocated_bytes();
    EXPECT_TRUE(series.expand(0.0, x.data(), 20));
    EXPECT_GT(series.proved_length(1e-3, tolerances), 0.0);
    EXPECT_EQ(saltus::test::allocated_bytes(), after);
    return after - before;
}

TEST(PointArcs, SeriesOfANetNeedMemoryInProportionToItsPoints) {
    const std::size_t small = memory_of_series(model_of(net(8))), large = memory_of_series(model_of(net(32)));
    EXPECT_LT(static_cast<double>(large), 1.1 * 16.0 * static_cast<double>(small));
    EXPECT_GT(large, small);
}

}  // namespace
}  // namespace saltus::integrate::point_arcs_test
