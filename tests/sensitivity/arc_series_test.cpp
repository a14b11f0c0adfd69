// SPDX-License-Identifier: Apache-2.0
#include "saltus/sensitivity/arc/detail/arc_series.hpp"

#include <complex>
#include <functional>
#include <numbers>
#include <tuple>

#include "saltus/sensitivity/arc/detail/arc_motion.hpp"
#include "sensitivity/derivatives.hpp"
#include "sensitivity/recorded.hpp"
#include "support.hpp"

namespace saltus::arc_series_test {
namespace {

using namespace saltus::test;
using sensitivity::ArcMotion;
using sensitivity::ArcSeries;
using sensitivity::Tangent;

using Complex = std::complex<double>;
using State = std::vector<Complex>;

/// ẋ = f(t, x), integrated by the classical method of order 4 on complex numbers. With an imaginary part of 1e-100 in a
/// number, the imaginary parts of the result are its derivative, exact to rounding.
State integrated(const std::function<State(double, const State&)>& f, State x, double t_end) {
    constexpr int steps = 8000;
    const double h = t_end / steps;
    const auto moved = [&](const State& k, double by) {
        State y = x;
        for (std::size_t i = 0; i < y.size(); ++i) y[i] += by * k[i];
        return y;
    };
    for (int s = 0; s < steps; ++s) {
        const double t = s * h;
        const State a = f(t, x), b = f(t + h / 2, moved(a, h / 2)), c = f(t + h / 2, moved(b, h / 2)),
                    d = f(t + h, moved(c, h));
        for (std::size_t i = 0; i < x.size(); ++i) x[i] += h / 6.0 * (a[i] + 2.0 * b[i] + 2.0 * c[i] + d[i]);
    }
    return x;
}
constexpr double tiny = 1e-100;

Vector derivative_of(const State& x) {
    Vector out(static_cast<Eigen::Index>(x.size()));
    for (std::size_t i = 0; i < x.size(); ++i) out(static_cast<Eigen::Index>(i)) = x[i].imag() / tiny;
    return out;
}

/// ∂(q, u) at the end of the first arc by one variable, carried by Taylor series alone. Every step is done in `parts`
/// parts.
Vector carried(const Recorded& r, const std::string& variable, int parts = 1) {
    Tangent x = r.tangent({variable});
    EXPECT_TRUE(x.linearised.available());
    ArcMotion motion(x);
    motion.begin(r.arc());
    ArcSeries series(x);
    EXPECT_TRUE(series.begin(r.arc()));
    Eigen::RowVectorXd direction = Eigen::RowVectorXd::Zero(x.columns());
    direction(column(x, r.model, variable)) = 1.0;
    EXPECT_EQ(r.arc().t_end, r.motion.end.t);
    for (std::size_t k = 0; k < r.arc().steps.size(); ++k) {
        EXPECT_TRUE(series.covers(k));
        const double from = r.arc().steps[k].t_old(), to = r.arc().steps[k].t_new();
        for (int i = 0; i < parts; ++i) {
            const double begin = from + (to - from) * i / parts, end = from + (to - from) * (i + 1) / parts;
            EXPECT_TRUE(series.carry(k, begin, i + 1 == parts ? to : end, direction, {1e-13, 1e-13}));
        }
    }
    return direction.segment(1, 2 * x.n()).transpose();
}

/// The motion is known to 1e-9 and so are its derivatives, beside their size.
void expect_derivative(const Vector& found, const Vector& expected, const std::string& what) {
    expect_matrix(found, expected, 2e-9, what);
}

TEST(ArcSeries, OfAForcedOscillatorIsTheDerivativeOfItsMotion) {
    const Recorded r(R"toml(
[system]
q = ["x"]
T = "m/2*x'^2"
f = { x = "-k*x - d*x' + F*cos(w*t)" }
[parameters]
m = 1.3
k = 2.0
d = 0.1
F = 0.7
w = 3.0
[initial]
q = { x = 0.4 }
u = { x = -0.2 }
)toml",
                     4.0);
    const std::vector<std::string> names{"m", "k", "d", "F", "w", "x", "x'"};
    for (std::size_t j = 0; j < names.size(); ++j) {
        std::vector<Complex> p{1.3, 2.0, 0.1, 0.7, 3.0, 0.4, -0.2};
        p[j] += Complex(0.0, tiny);
        const State end = integrated(
            [&](double t, const State& x) -> State {
                return {x[1], (-p[1] * x[0] - p[2] * x[1] + p[3] * std::cos(p[4] * t)) / p[0]};
            },
            {p[5], p[6]}, 4.0);
        expect_derivative(carried(r, names[j]), derivative_of(end), names[j]);
        expect_matrix(carried(r, names[j], 3), carried(r, names[j]), 1e-11, "in three parts, by " + names[j]);
    }
}

TEST(ArcSeries, OfAPendulumOnACartHasTheDerivativeOfItsMassMatrix) {
    const Recorded r(R"toml(
[system]
q = ["x", "a"]
T = "M/2*x'^2 + m/2*(x'^2 + 2*l*x'*a'*cos(a) + l^2*a'^2)"
U = "-m*g*l*cos(a)"
[parameters]
M = 2.0
m = 0.5
l = 0.8
g = 9.81
[initial]
q = { x = 0.0, a = 1.2 }
u = { x = 0.3, a = -0.4 }
)toml",
                     2.0);
    const std::vector<std::string> names{"M", "m", "l", "g", "a", "x'"};
    for (std::size_t j = 0; j < names.size(); ++j) {
        std::vector<Complex> p{2.0, 0.5, 0.8, 9.81, 1.2, 0.3};
        p[j] += Complex(0.0, tiny);
        const Complex M = p[0], m = p[1], l = p[2], g = p[3];
        const State end = integrated(
            [&](double, const State& x) -> State {
                // [M + m, m l cos a; m l cos a, m l²] (x'', a'') = (m l a'² sin a, −m g l sin a)
                const Complex c = std::cos(x[1]), s = std::sin(x[1]);
                const Complex b1 = m * l * x[3] * x[3] * s, b2 = -m * g * l * s;
                const Complex det = (M + m) * m * l * l - m * l * c * m * l * c;
                return {x[2], x[3], (m * l * l * b1 - m * l * c * b2) / det, ((M + m) * b2 - m * l * c * b1) / det};
            },
            {0.0, p[4], p[5], -0.4}, 2.0);
        expect_derivative(carried(r, names[j]), derivative_of(end), names[j]);
    }
}

TEST(ArcSeries, OfAPendulumWithAConstraintAgreesWithItsAngle) {
    const Recorded r(R"toml(
[system]
q = ["x", "y"]
T = "m/2*(x'^2 + y'^2)"
U = "m*g*y"
[parameters]
m = 1.5
g = 9.81
[[constraint]]
name = "rod"
g = "(x^2 + y^2 - 0.49)/2"
[initial]
q = { x = 0.7, y = 0.0 }
u = { x = 0.0, y = -1.0 }
)toml",
                     1.0);
    const Complex g(9.81, tiny);
    const State angle = integrated(
        [&](double, const State& x) -> State {
            return {x[1], -g / 0.7 * std::sin(x[0])};
        },
        {std::numbers::pi / 2, -1.0 / 0.7}, 1.0);
    const Complex s = std::sin(angle[0]), c = std::cos(angle[0]);
    const Vector expected = derivative_of({0.7 * s, -0.7 * c, 0.7 * c * angle[1], 0.7 * s * angle[1]});
    expect_derivative(carried(r, "g"), expected, "by g");
    expect_derivative(carried(r, "m"), Vector::Zero(4), "by m");
}

/// A block slides on a plane and is pressed by its weight and by wind: x'' = −μ (m g + c x'²)/m.
TEST(ArcSeries, OfASlipInALineFollowsItsNormalForce) {
    const Recorded r(R"toml(
[system]
q = ["x", "y"]
T = "m/2*(x'^2 + y'^2)"
U = "m*g*y"
f = { y = "-c*x'^2" }
[parameters]
m = 2.0
g = 9.81
c = 0.3
mu = 0.25
[[contact]]
name = "floor"
gN = "y"
gammaT = "x'"
mu = "mu"
[initial]
q = { x = 0.0, y = 0.0 }
u = { x = -3.0, y = 0.0 }
)toml",
                     0.8);
    const std::vector<std::string> names{"m", "g", "c", "mu", "x'"};
    for (std::size_t j = 0; j < names.size(); ++j) {
        std::vector<Complex> p{2.0, 9.81, 0.3, 0.25, -3.0};
        p[j] += Complex(0.0, tiny);
        const State end = integrated(
            [&](double, const State& x) -> State {
                return {x[1], p[3] * (p[0] * p[1] + p[2] * x[1] * x[1]) / p[0]};
            },
            {0.0, p[4]}, 0.8);
        const Vector found = carried(r, names[j]), expected = derivative_of(end);
        expect_derivative(Vector{{found(0), found(2)}}, expected, names[j]);
        EXPECT_EQ(found(1), 0.0);
        EXPECT_NEAR(found(3), 0.0, 1e-14);
    }
}

/// Slip in a plane with a side force: its direction turns. Disk and ellipse.
TEST(ArcSeries, OfASlipInAPlaneTurnsItsDirection) {
    for (const bool ellipse : {false, true}) {
        const Recorded r(std::string(R"toml(
[system]
q = ["x", "y", "z"]
T = "m/2*(x'^2 + y'^2 + z'^2)"
U = "m*g*z"
f = { y = "F" }
[parameters]
m = 2.0
g = 9.81
F = 1.5
mu = 0.2
nu = 0.35
[[contact]]
name = "floor"
gN = "z"
gammaT = ["x'", "y'"]
)toml") + (ellipse ? "mu = [\"mu\", \"nu\"]\n" : "mu = \"mu\"\n") +
                             "[initial]\nq = { x = 0.0, y = 0.0, z = 0.0 }\nu = { x = 2.0, y = 0.5, z = 0.0 }\n",
                         0.6);
        const std::vector<std::string> names{"m", "g", "F", "mu", "nu", "x'", "y'"};
        for (std::size_t j = 0; j < names.size(); ++j) {
            std::vector<Complex> p{2.0, 9.81, 1.5, 0.2, 0.35, 2.0, 0.5};
            p[j] += Complex(0.0, tiny);
            const Complex a = p[3], b = ellipse ? p[4] : p[3];
            const State end = integrated(
                [&](double, const State& x) -> State {
                    const Complex length = std::sqrt(a * a * x[2] * x[2] + b * b * x[3] * x[3]);
                    return {x[2], x[3], -p[1] * a * a * x[2] / length, -p[1] * b * b * x[3] / length + p[2] / p[0]};
                },
                {0.0, 0.0, p[5], p[6]}, 0.6);
            const Vector found = carried(r, names[j]);
            expect_derivative(Vector{{found(0), found(1), found(3), found(4)}}, derivative_of(end), names[j]);
        }
    }
}

/// A ball on a spring with damper (penalty method), k x + d x' while it is pressed.
TEST(ArcSeries, OfAContactWithASpringFollowsPenetration) {
    const Recorded r(R"toml(
[system]
q = ["x"]
T = "m/2*x'^2"
U = "m*g*x"
[parameters]
m = 1.0
g = 9.81
k = 400.0
d = 3.0
[[contact]]
name = "floor"
gN = "x"
[penalty]
k = "k"
d = "d"
[initial]
q = { x = 0.0 }
u = { x = -0.5 }
)toml",
                     0.05, integrate::Penalty{});
    const std::vector<std::string> names{"m", "g", "k", "d", "x'"};
    for (std::size_t j = 0; j < names.size(); ++j) {
        std::vector<Complex> p{1.0, 9.81, 400.0, 3.0, -0.5};
        p[j] += Complex(0.0, tiny);
        const State end = integrated(
            [&](double, const State& x) -> State {
                return {x[1], -p[1] - (p[2] * x[0] + p[3] * x[1]) / p[0]};
            },
            {0.0, p[4]}, 0.05);
        expect_derivative(carried(r, names[j]), derivative_of(end), names[j]);
    }
}

/// A single variable is carried by Taylor series, many together by collocation.
TEST(ArcSeries, AgreesWithCollocationOnShippedModels) {
    const std::vector<std::pair<std::string, double>> models{
        {"impact-oscillator", 8.0}, {"friction-oscillator", 20.0},    {"constrained-beam", 1.5},
        {"rocking-bar", 0.5},       {"falling-block", 5.0},           {"slider-crank", 0.03},
        {"woodpecker", 0.3},        {"two-link-underactuated", 12.0}, {"sphere-on-plane", 0.4},
    };
    for (const auto& [name, t_end] : models) {
        const Model m = shipped(name);
        const Sensitivity all = derivatives(m, {}, t_end);
        ASSERT_GT(all.with_respect_to.size(), 2U);
        int compared = 0;
        for (std::size_t j = 0; j < all.with_respect_to.size(); ++j) {
            const auto column = static_cast<Eigen::Index>(j);
            const Vector expected = all.final.col(column);
            if (expected.hasNaN()) continue;
            const Sensitivity one = derivatives(m, {all.with_respect_to[j].name}, t_end);
            const double size = std::max(expected.cwiseAbs().maxCoeff(), 1e-3);
            EXPECT_LE((one.final.col(0) - expected).cwiseAbs().maxCoeff(), 1e-8 * size)
                << name << " by " << all.with_respect_to[j].name << "\n"
                << one.final.col(0).transpose() << "\n"
                << expected.transpose();
            ++compared;
        }
        EXPECT_GT(compared, 0) << name;
    }
}

/// At rest the motion does not show that the stiffness grows with a high power of time. Its series at t = 0 shows
/// nothing either, and must be refused there; the derivative is right all the same.
TEST(ArcSeries, StiffnessThatGrowsLateIsNotMissed) {
    for (const int power : {4, 12, 30}) {
        const Model m = from_text("[system]\nq = [\"x\"]\nT = \"x'^2/2\"\nf = { x = \"-k*t^" + std::to_string(power) +
                                  "*x\" }\n[parameters]\nk = 3.0\n[initial]\nq = { x = 0.0 }\nu = { x = 0.0 }\n");
        const State end = integrated(
            [&](double t, const State& x) -> State {
                return {x[1], -3.0 * std::pow(t, power) * x[0]};
            },
            {Complex(0.0, tiny), 0.0}, 1.2);
        const Sensitivity s = derivatives(m, {"x"}, 1.2);
        expect_matrix(s.final, derivative_of(end), 1e-8, "power " + std::to_string(power));
    }
}

/// An expression that switches between two branches: the arc is cut there, and each part has its own branch.
TEST(ArcSeries, TakesTheBranchOfEachPart) {
    const Model m = from_text(R"toml(
[system]
q = ["x"]
T = "x'^2/2"
f = { x = "-k*x - c*if(x < 0, x, 0)" }
[parameters]
k = 4.0
c = 5.0
[initial]
q = { x = 1.0 }
u = { x = 0.0 }
)toml");
    // x = cos 2t up to t = π/4; then ω = 3 and x = −(2/3) sin 3(t − π/4) up to t = π/4 + π/3.
    const double t_end = 1.5, s = t_end - std::numbers::pi / 4;
    const Sensitivity by_c = derivatives(m, {"c"}, t_end);
    // With ω = √(k + c): x = −(2/ω) sin ωs, dω/dc = 1/(2ω).
    const double w = 3.0, dw = 1.0 / 6.0;
    EXPECT_NEAR(by_c.final(0, 0), dw * (2.0 / (w * w) * std::sin(w * s) - 2.0 / w * s * std::cos(w * s)), 1e-9);
    EXPECT_NEAR(by_c.final(1, 0), dw * 2.0 * s * std::sin(w * s), 1e-9);
}

}  // namespace
}  // namespace saltus::arc_series_test
