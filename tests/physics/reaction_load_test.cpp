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

TEST(ReactionLoad, FrictionThatChangesTheReactionItselfIsRefused) {
    // A block under a sloping rod: friction along x' loads the guide, whose normal is inclined.
    const std::string coupled = R"toml(
[system]
q = ["x", "y"]
T = "x'^2/2 + y'^2/2"
U = "9.81*y"
[[constraint]]
name = "guide"
g = "y - 0.3*x"
[[slider]]
gammaT = "x'"
mu = 0.2
FN = "abs(lambda(guide))"
[initial]
q = { x = 0.0 }
)toml";
    try {
        from_text(coupled);
        ADD_FAILURE() << "the coupled slider was accepted";
    } catch (const Error& e) {
        EXPECT_NE(std::string(e.what()).find("each would depend on the other"), std::string::npos) << e.what();
    }
    // Along the guide friction does not load it.
    EXPECT_NO_THROW(from_text(replaced(coupled, "gammaT = \"x'\"", "gammaT = \"(x' + 0.3*y')/sqrt(1.09)\"")));
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
