// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "physics/motion.hpp"
#include "sundials/cvode.hpp"

namespace saltus::oracle_test {
namespace {

using namespace saltus::test;

TEST(Sundials, AgreesOnTheImpactsOfADrivenOscillator) {
    const double w = 2.8, F = 1.0, wall = 0.05, e = 0.7, t_end = 20.0;
    const Trajectory motion = motion_of(from_text(R"toml(
[system]
name = "driven oscillator"
q = ["x"]
T = "1/2*x'^2"
U = "1/2*x^2"
R = "0.05/2*x'^2"
f = { x = "cos(2.8*t)" }
[[contact]]
name = "wall"
gN = "x + 0.05"
eN = 0.7
)toml"),
                                        t_end);
    Cvode oracle(
        [&](double t, const double* x, double* dx) {
            dx[0] = x[1];
            dx[1] = -x[0] - 0.05 * x[1] + F * std::cos(w * t);
        },
        [&](double, const double* x) { return x[0] + wall; });
    std::vector<double> x{0.0, 0.0}, times, speeds;
    double t = 0.0;
    while (t < t_end && oracle.advance(t, x, t_end)) {
        times.push_back(t);
        speeds.push_back(x[1]);
        x[0] = -wall;
        x[1] *= -e;
    }
    const std::vector<Event> impacts = events_of(motion, EventKind::impact);
    ASSERT_EQ(impacts.size(), times.size()) << story(motion);
    ASSERT_GE(times.size(), 5U);
    for (std::size_t k = 0; k < times.size(); ++k) {
        EXPECT_NEAR(impacts[k].t, times[k], 1e-9 * t_end) << k;
        EXPECT_NEAR(impacts[k].u_minus[0], speeds[k], 1e-8) << k;
    }
    EXPECT_NEAR(motion.end.q[0], x[0], 1e-8);
    EXPECT_NEAR(motion.end.u[0], x[1], 1e-8);
}

TEST(Sundials, AgreesOnAStiffMotion) {
    const Model model = from_text(R"toml(
[system]
name = "relaxation oscillator"
q = ["x"]
T = "1/2*x'^2"
U = "1/2*x^2"
f = { x = "1000*(1 - x^2)*x'" }
[initial]
q = { x = 2.0 }
)toml");
    Cvode oracle([](double, const double* x, double* dx) {
        dx[0] = x[1];
        dx[1] = 1000.0 * (1.0 - x[0] * x[0]) * x[1] - x[0];
    });
    std::vector<double> x{2.0, 0.0};
    double t = 0.0;
    oracle.advance(t, x, 1200.0);  // past the first jump, at about 807
    for (const bool implicit : {false, true}) {
        const Trajectory motion = motion_of(model, 1200.0, EventDriven{.implicit = implicit});
        EXPECT_NEAR(motion.end.q[0], x[0], 1e-7) << implicit;
        EXPECT_NEAR(motion.end.u[0], x[1], 1e-9) << implicit;
    }
}

TEST(Sundials, AgreesOnAConstrainedMotion) {
    // A double pendulum with rods as constraints, against the angles in minimal coordinates.
    const Trajectory motion = motion_of(from_text(R"toml(
[system]
name = "rods"
q = ["x1", "y1", "x2", "y2"]
T = "1/2*(x1'^2 + y1'^2) + 1/2*(x2'^2 + y2'^2)"
U = "9.81*(y1 + y2)"
[[constraint]]
name = "upper"
g = "x1^2 + y1^2 - 1"
[[constraint]]
name = "lower"
g = "(x2 - x1)^2 + (y2 - y1)^2 - 1"
[initial]
q = { x1 = 1.0, x2 = 1.0, y2 = 1.0 }
)toml"),
                                        5.0);
    // θ from the vertical: (2)θ1'' + cosΔ θ2'' = −sinΔ θ2'² − 2g sinθ1,  cosΔ θ1'' + θ2'' = sinΔ θ1'² − g sinθ2
    Cvode oracle([](double, const double* x, double* dx) {
        const double d = x[0] - x[1], c = std::cos(d), s = std::sin(d), g = 9.81;
        const double r1 = -s * x[3] * x[3] - 2.0 * g * std::sin(x[0]), r2 = s * x[2] * x[2] - g * std::sin(x[1]);
        dx[0] = x[2];
        dx[1] = x[3];
        dx[2] = (r1 - c * r2) / (2.0 - c * c);
        dx[3] = (2.0 * r2 - c * r1) / (2.0 - c * c);
    });
    std::vector<double> x{std::acos(0.0), 2.0 * std::acos(0.0), 0.0, 0.0};
    double t = 0.0;
    oracle.advance(t, x, 5.0);
    EXPECT_NEAR(motion.end.q[0], std::sin(x[0]), 1e-6);
    EXPECT_NEAR(motion.end.q[1], -std::cos(x[0]), 1e-6);
    EXPECT_NEAR(motion.end.q[2], std::sin(x[0]) + std::sin(x[1]), 1e-6);
    EXPECT_NEAR(motion.end.q[3], -std::cos(x[0]) - std::cos(x[1]), 1e-6);
}

}  // namespace
}  // namespace saltus::oracle_test
