// SPDX-License-Identifier: Apache-2.0
//
// Sliders whose normal force follows the reactions of constraints, as in a bearing.
#include <gtest/gtest.h>

#include <cmath>

#include "physics/motion.hpp"
#include "saltus/base/error.hpp"
#include "saltus/integrate/simulate.hpp"
#include "support.hpp"

namespace saltus::reaction_load_test {
namespace {

using integrate::EventDriven;
using integrate::Moreau;
using test::from_text;
using test::motion_of;
using test::replaced;
using trajectory::Trajectory;

/// A bead that runs around on the floor along a circular wall of radius R. The wall carries m R φ'², the floor m g, and
/// friction with both acts on one slip velocity.
const std::string bead = R"toml(
[system]
q = ["r", "phi", "z"]
T = "m/2*(r'^2 + r^2*phi'^2 + z'^2)"
U = "m*g*z"
[parameters]
m = 0.7
g = 9.81
R = 0.4
mu = 0.15
[[constraint]]
name = "the wall"
g = "r - R"
[[constraint]]
name = "floor"
g = "z"
[[slider]]
name = "bead"
gammaT = "R*phi'"
mu = "mu"
FN = "sqrt(lambda(the wall)^2 + lambda(floor)^2)"
[initial]
q = { r = "R" }
u = { phi = 12.0 }
)toml";

// With ω = φ' as a function of φ: m R² ω dω/dφ = −μ R √((m R ω²)² + (m g)²), so that w = R ω²/g obeys
// dw/dφ = −2μ √(w² + 1) and w = sinh(asinh(w₀) − 2μφ). It stops at φ = asinh(w₀)/(2μ).
double w_of(double phi) {
    const double w0 = 0.4 * 144.0 / 9.81;
    return std::sinh(std::asinh(w0) - 2.0 * 0.15 * phi);
}

TEST(ReactionLoad, ABeadAlongAWallAndAFloorSlowsDownAsTheClosedFormSays) {
    const Trajectory motion = motion_of(from_text(bead), 0.8);
    EXPECT_EQ(motion.status, trajectory::Status::completed) << motion.reason;
    for (const double t : {0.1, 0.3, 0.5, 0.8}) {
        const trajectory::State s = motion.left(t);
        EXPECT_NEAR(0.4 * s.u[1] * s.u[1] / 9.81, w_of(s.q[1]), 1e-7) << t;
    }
    EXPECT_LT(motion.energy.balance_error, 1e-8);
    // The slider's friction is mu times the resultant of both reactions, m·hypot(R ω², g).
    const double omega = motion.end.u[1];
    EXPECT_NEAR(motion.forces.at(2).T.at(0), -0.15 * 0.7 * std::hypot(0.4 * omega * omega, 9.81), 1e-7);
}

TEST(ReactionLoad, TheBeadStopsWhereTheClosedFormSaysAndSticks) {
    const Trajectory motion = motion_of(from_text(bead), 5.0);
    const double w0 = 0.4 * 144.0 / 9.81;
    EXPECT_NEAR(motion.end.q[1], std::asinh(w0) / 0.3, 1e-7);
    EXPECT_NEAR(motion.end.u[1], 0.0, 1e-10);
    ASSERT_FALSE(motion.events.empty());
    EXPECT_EQ(motion.events.back().kind, trajectory::EventKind::stick);
}

TEST(ReactionLoad, TimeSteppingConvergesToTheSameMotion) {
    const model::Model m = from_text(bead);
    const double exact = motion_of(m, 0.8).end.q[1];
    double errors[2];
    for (const int k : {0, 1}) {
        const Trajectory stepped = motion_of(m, 0.8, Moreau{.h = k == 0 ? 1e-3 : 5e-4});
        errors[k] = std::fabs(stepped.end.q[1] - exact);
        EXPECT_LT(stepped.energy.balance_error, 1e-6);
    }
    EXPECT_LT(errors[0], 2e-2);
    EXPECT_LT(errors[1], 0.7 * errors[0]);  // first order or better
}

TEST(ReactionLoad, ALoadOfOneReactionEqualsFrictionOnTheConstraint) {
    const std::string by_reaction =
        replaced(bead, "sqrt(lambda(the wall)^2 + lambda(floor)^2)", "abs(lambda(the wall))");
    const std::size_t slider = bead.find("[[slider]]"), initial = bead.find("[initial]");
    std::string on_constraint = bead.substr(0, slider) + bead.substr(initial);
    on_constraint = replaced(on_constraint, "g = \"r - R\"\n", "g = \"r - R\"\ngammaT = \"R*phi'\"\nmu = \"mu\"\n");
    const Trajectory a = motion_of(from_text(by_reaction), 1.0), b = motion_of(from_text(on_constraint), 1.0);
    EXPECT_NEAR(a.end.q[1], b.end.q[1], 1e-8);
    // φ'' = −μ φ'²
    EXPECT_NEAR(a.end.u[1], 12.0 / (1.0 + 0.15 * 12.0), 1e-7);
}

/// A block under a sloping rod: friction along x' loads the guide, whose normal is inclined.
const std::string guide = R"toml(
[system]
q = ["x", "y"]
T = "x'^2/2 + y'^2/2"
U = "9.81*y"
[parameters]
mu = 0.2
v = 3.0
[[constraint]]
name = "guide"
g = "y - 0.3*x"
[[slider]]
name = "rod"
gammaT = "x'"
mu = "mu"
FN = "abs(lambda(guide))"
[initial]
u = { x = "v", y = "0.3*v" }
)toml";

TEST(ReactionLoad, FrictionThatChangesItsOwnLoadEqualsFrictionOnTheConstraint) {
    const std::size_t slider = guide.find("[[slider]]"), initial = guide.find("[initial]");
    std::string on_constraint = guide.substr(0, slider) + guide.substr(initial);
    on_constraint = replaced(on_constraint, "g = \"y - 0.3*x\"\n", "g = \"y - 0.3*x\"\ngammaT = \"x'\"\nmu = \"mu\"\n");
    // Up, until it turns and slides down; down; and with friction that holds it in the end.
    for (const auto& numbers : {std::pair{"0.2", "3.0"}, {"0.2", "-1.0"}, {"0.5", "3.0"}}) {
        const std::string mu = numbers.first, v = numbers.second;
        const auto with = [&](const std::string& text) {
            return from_text(replaced(replaced(text, "mu = 0.2", "mu = " + mu), "v = 3.0", "v = " + v));
        };
        const Trajectory a = motion_of(with(guide), 2.0), b = motion_of(with(on_constraint), 2.0);
        ASSERT_EQ(a.status, trajectory::Status::completed) << a.reason;
        EXPECT_NEAR(a.end.q[0], b.end.q[0], 1e-9) << mu << " " << v;
        EXPECT_NEAR(a.end.u[0], b.end.u[0], 1e-9) << mu << " " << v;
        EXPECT_NEAR(a.forces.at(0).N, b.forces.at(0).N, 1e-8) << mu << " " << v;
        EXPECT_NEAR(a.forces.at(1).T.at(0), b.forces.at(0).T.at(0), 1e-8) << mu << " " << v;
        EXPECT_LT(a.energy.balance_error, 1e-10);
    }
}

/// A physical pendulum in a journal bearing of radius r.
const std::string pendulum = R"toml(
[system]
q = ["x", "y", "phi"]
T = "m/2*(x'^2 + y'^2) + J/2*phi'^2"
U = "m*g*y"
[parameters]
m = 1.0
J = 0.35
g = 9.81
l = 0.5
r = 0.1
mu = 0.3
[[constraint]]
name = "bx"
g = "x - l*sin(phi)"
[[constraint]]
name = "by"
g = "y + l*cos(phi)"
[[slider]]
name = "bearing"
gammaT = "r*phi'"
mu = "mu"
FN = "sqrt(lambda(bx)^2 + lambda(by)^2)"
[initial]
q = { x = "l*sin(1)", y = "-l*cos(1)", phi = 1.0 }
)toml";

/// φ'' of the pendulum. With J_O = J + m l² and the friction moment −s r μ F,
///     J_O φ'' = −m g l sin φ − s r μ F,   F = √(ν_x² + ν_y²),
///     ν_x = m l (cos φ φ'' − sin φ φ'²),   ν_y = m g + m l (sin φ φ'' + cos φ φ'²);
/// F is found by iteration, which contracts by μ r m l/J_O = 0.025.
double pendulum_acceleration(double phi, double omega, double s) {
    double a = 0.0;
    for (int k = 0; k < 40; ++k) {
        const double x = 0.5 * (std::cos(phi) * a - std::sin(phi) * omega * omega);
        const double y = 9.81 + 0.5 * (std::sin(phi) * a + std::cos(phi) * omega * omega);
        a = (-9.81 * 0.5 * std::sin(phi) - s * 0.1 * 0.3 * std::hypot(x, y)) / 0.6;
    }
    return a;
}

TEST(ReactionLoad, APendulumInABearingMovesLikeItsEquationWithTheLoadSolvedByIteration) {
    // Runge and Kutta's method on the first swing, from φ = 1 to the left.
    double phi = 1.0, omega = 0.0;
    const double h = 1e-4, t_end = 1.0;
    for (int k = 0; k < 10000; ++k) {
        const auto f = [](double p, double w) { return pendulum_acceleration(p, w, -1.0); };
        const double k1 = f(phi, omega), k2 = f(phi + h / 2 * omega, omega + h / 2 * k1),
                     k3 = f(phi + h / 2 * (omega + h / 2 * k1), omega + h / 2 * k2),
                     k4 = f(phi + h * (omega + h / 2 * k2), omega + h * k3);
        phi += h * (omega + h / 6 * (k1 + k2 + k3));
        omega += h / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
    }
    const model::Model m = from_text(pendulum);
    const Trajectory motion = motion_of(m, t_end);
    EXPECT_NEAR(motion.end.q[2], phi, 1e-8);
    EXPECT_NEAR(motion.end.u[2], omega, 1e-8);
    EXPECT_LT(motion.energy.balance_error, 1e-10);
    // The reported friction is mu times the reported load.
    EXPECT_NEAR(motion.forces.at(2).T.at(0), 0.3 * std::hypot(motion.forces.at(0).N, motion.forces.at(1).N), 1e-9);
    const Trajectory stepped = motion_of(m, t_end, Moreau{.h = 1e-4});
    EXPECT_NEAR(stepped.end.q[2], phi, 1e-4);
    EXPECT_NEAR(stepped.forces.at(2).T.at(0), motion.forces.at(2).T.at(0), 1e-2);
}

TEST(ReactionLoad, ABearingHoldsThePendulumUpToTheFrictionCircle) {
    // At rest the load is m g, and the moment of the weight m g l sin φ is held up to μ r m g: |x| <= μ r.
    const auto rests = [](double x) {
        const double phi = std::asin(x / 0.5);
        const model::Model m =
            from_text(replaced(pendulum, "q = { x = \"l*sin(1)\", y = \"-l*cos(1)\", phi = 1.0 }",
                               "q = { x = \"l*sin(" + std::to_string(phi) + ")\", y = \"-l*cos(" + std::to_string(phi) +
                                   ")\", phi = " + std::to_string(phi) + " }"));
        return std::fabs(motion_of(m, 0.5).end.q[2] - phi) < 1e-6;
    };
    EXPECT_TRUE(rests(0.0299));
    EXPECT_TRUE(rests(-0.0299));
    EXPECT_FALSE(rests(0.0302));
}

TEST(ReactionLoad, LoadsThatCannotBeSolvedAreRefused) {
    const auto message = [](const std::string& text) -> std::string {
        try {
            from_text(text);
        } catch (const Error& e) {
            return e.what();
        }
        return "accepted";
    };
    const std::string load = "sqrt(lambda(bx)^2 + lambda(by)^2)";
    EXPECT_EQ(message(pendulum), "accepted");
    EXPECT_EQ(message(replaced(pendulum, load, "2*hypot(lambda(bx), lambda(by))")), "accepted");
    EXPECT_NE(message(replaced(pendulum, load, "abs(lambda(bx)) + abs(lambda(by))")).find("is solved only if FN is"),
              std::string::npos);
    EXPECT_NE(message(replaced(pendulum, load, "sqrt(lambda(bx)^4)")).find("degree 2"), std::string::npos);
    // A second slider that brakes the pendulum changes the load of the first one.
    EXPECT_NE(message(replaced(pendulum, "[initial]", "[[slider]]\ngammaT = \"phi'\"\nmu = 0.1\nFN = 1.0\n[initial]"))
                  .find("one slider alone"),
              std::string::npos);
    // The bearing jams: μ m l r/J_O = 13/12 > 1.
    EXPECT_NE(message(replaced(pendulum, "mu = 0.3", "mu = 13.0")), "accepted");
    // A negative multiple is no normal force.
    EXPECT_NE(message(replaced(pendulum, load, "-2*hypot(lambda(bx), lambda(by))")), "accepted");
}

TEST(ReactionLoad, WhatIsNoReactionOfAConstraintIsRefused) {
    const auto message = [](const std::string& text) -> std::string {
        try {
            from_text(text);
        } catch (const Error& e) {
            return e.what();
        }
        return "accepted";
    };
    const std::string load = "sqrt(lambda(the wall)^2 + lambda(floor)^2)";
    EXPECT_NE(message(replaced(bead, load, "lambda(bead)")).find("no constraint"), std::string::npos);
    EXPECT_NE(message(replaced(bead, load, "abs(lambda(flor))")).find("floor"), std::string::npos);
    EXPECT_NE(message(replaced(bead, load, "gap(floor)")).find("cannot mention gap"), std::string::npos);
    EXPECT_NE(message(replaced(bead, load, "lambda(the wall)")).find("must be >= 0"), std::string::npos);
    const std::string contact = "[[contact]]\nname = \"ceiling\"\ngN = \"1 - z\"\n[initial]";
    EXPECT_NE(message(replaced(bead, "[initial]", contact)).find("contacts or clutches"), std::string::npos);
}

}  // namespace
}  // namespace saltus::reaction_load_test
