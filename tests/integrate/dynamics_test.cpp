// SPDX-License-Identifier: Apache-2.0
#include "saltus/integrate/mode/dynamics.hpp"
#include "saltus/model/model.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "integrate/small_models.hpp"

namespace saltus::integrate::dynamics_test {

namespace {

using namespace test;

constexpr double rounding = 1e-13;

TEST(Dynamics, APendulumHasItsTensionAndTangentialAcceleration) {
    const model::Model m = model_of(R"toml(
[system]
q = ["x", "y"]
T = "2*(x'^2 + y'^2)/2"
U = "2*10*y"
[[constraint]]
name = "rod"
g = "(x^2 + y^2 - 1)/2"
[initial]
q = { y = -1.0 }
)toml");
    Dynamics d(m, false, 1.0);
    const double angle = 0.4, speed = 3.0;
    const auto x = state({std::sin(angle), -std::cos(angle)}, {speed * std::cos(angle), speed * std::sin(angle)});
    d.set_mode(d.mode(), 0.0, x.data());
    ASSERT_TRUE(d.evaluate(0.0, x.data()));
    // The row of the rod is (x, y), outwards: ν = −(m v²/L + m g cos φ).
    EXPECT_NEAR(d.reactions()[0], -2.0 * (speed * speed + 10.0 * std::cos(angle)), 40.0 * rounding);
    const double along = d.acceleration()[0] * std::cos(angle) + d.acceleration()[1] * std::sin(angle);
    EXPECT_NEAR(along, -10.0 * std::sin(angle), 40.0 * rounding);
}

TEST(Dynamics, AnOpenContactLetsTheBlockFall) {
    const model::Model m = block_on_floor(0.3, "2");
    Dynamics d(m, false, 1.0);
    const auto x = state({0.0, 0.0}, {0.0, 0.0});
    d.set_mode(with_active(d, 0, false), 0.0, x.data());
    ASSERT_TRUE(d.evaluate(0.0, x.data()));
    EXPECT_EQ(d.acceleration()[0], 2.0);
    EXPECT_EQ(d.acceleration()[1], -10.0);
    EXPECT_EQ(d.reactions()[0], 0.0);
}

TEST(Dynamics, AStickingBlockIsHeldByTheForceThatPushesIt) {
    const model::Model m = block_on_floor(0.3, "2");
    Dynamics d(m, false, 1.0);
    const auto x = state({0.0, 0.0}, {0.0, 0.0});
    d.set_mode(with_active(d, 0), 0.0, x.data());
    ASSERT_TRUE(d.evaluate(0.0, x.data()));
    EXPECT_NEAR(d.acceleration()[0], 0.0, rounding);
    EXPECT_NEAR(d.acceleration()[1], 0.0, rounding);
    EXPECT_NEAR(d.reactions()[0], 10.0, 10.0 * rounding);
    EXPECT_NEAR(d.reactions()[1], -2.0, 10.0 * rounding);
    EXPECT_NEAR(d.load(0), 10.0, 10.0 * rounding);
    EXPECT_NEAR(d.reserve(0), 0.3 * 10.0 - 2.0, 10.0 * rounding);
}

TEST(Dynamics, ASlidingBlockIsBrakedByMuTimesItsWeight) {
    const model::Model m = block_on_floor(0.3);
    Dynamics d(m, false, 1.0);
    for (const double side : {1.0, -1.0}) {
        const auto x = state({0.0, 0.0}, {2.0 * side, 0.0});
        d.set_mode(with_slip(d, 0, {side}), 0.0, x.data());
        ASSERT_TRUE(d.evaluate(0.0, x.data()));
        EXPECT_NEAR(d.acceleration()[0], -0.3 * 10.0 * side, 10.0 * rounding);
        EXPECT_NEAR(d.reactions()[1], -0.3 * 10.0 * side, 10.0 * rounding);
        EXPECT_EQ(d.slip_along(0), 2.0);
    }
}

TEST(Dynamics, SlipInAPlaneIsBrakedAgainstItsVelocity) {
    const model::Model m = block_on_plane(0.5);
    Dynamics d(m, false, 1.0);
    const auto x = state({0.0, 0.0, 0.0}, {0.6, 0.8, 0.0});
    d.set_mode(with_slip(d, 0, {1.0, 0.0}), 0.0, x.data());
    ASSERT_TRUE(d.evaluate(0.0, x.data()));
    // The direction of the mode turns the force by direction_speed/|γ|.
    constexpr double turned = 0.5 * 10.0 * Thresholds::direction_speed;
    EXPECT_NEAR(d.acceleration()[0], -0.5 * 10.0 * 0.6, turned + 10.0 * rounding);
    EXPECT_NEAR(d.acceleration()[1], -0.5 * 10.0 * 0.8, turned + 10.0 * rounding);
    // Against its direction the force continues smoothly through the reversal.
    d.turn_slip(with_slip(d, 0, {-1.0, 0.0}));
    ASSERT_TRUE(d.evaluate(0.0, x.data()));
    EXPECT_NEAR(d.acceleration()[0], 0.5 * 10.0 * 0.6, turned + 10.0 * rounding);
}

TEST(Dynamics, TheDirectionOfSlipInAPlaneFollowsTheVelocityOnlyWhereItIsAskedTo) {
    const model::Model m = block_on_plane(0.5);
    Dynamics d(m, false, 1.0);
    const auto x = state({0.0, 0.0, 0.0}, {0.6, 0.8, 0.0});
    d.set_mode(with_slip(d, 0, {1.0, 0.0}), 0.0, x.data());
    d.evaluate_terms(0.0, x.data());
    const SystemMode followed = d.followed_mode();
    EXPECT_NEAR(followed.parts[0].direction[0], 0.6, rounding);
    EXPECT_NEAR(followed.parts[0].direction[1], 0.8, rounding);
    EXPECT_EQ(d.mode().parts[0].direction[0], 1.0);
    d.turn_slip(followed);
    EXPECT_EQ(d.mode(), followed);
    // A velocity of rounding has no direction.
    const auto slow = state({0.0, 0.0, 0.0}, {-1e-10, 0.0, 0.0});
    d.evaluate_terms(0.0, slow.data());
    EXPECT_EQ(d.followed_mode(), followed);
}

TEST(Dynamics, FrictionOfARailHasTheMagnitudeOfItsReactionWhateverItsSign) {
    for (const double across : {7.0, -7.0}) {
        const model::Model m = block_on_rail(0.2, number_text(across));
        Dynamics d(m, false, 1.0);
        const auto x = state({0.0, 0.0}, {1.0, 0.0});
        SystemMode mode = with_slip(d, 0, {1.0});
        mode.elements[0].reaction_sign = across > 0.0 ? -1.0 : 1.0;
        d.set_mode(mode, 0.0, x.data());
        ASSERT_TRUE(d.evaluate(0.0, x.data()));
        EXPECT_NEAR(d.reactions()[0], -across, 10.0 * rounding);
        EXPECT_NEAR(d.acceleration()[0], -0.2 * 7.0, 10.0 * rounding);
    }
}

TEST(Dynamics, FourLegsShareTheWeightByTheSmallestReactions) {
    const model::Model m = model_of(R"toml(
[system]
q = ["z", "a", "b"]
T = "(8*z'^2 + a'^2 + b'^2)/2"
U = "80*z"
[[contact]]
name = "front left"
gN = "z + a + b"
[[contact]]
name = "front right"
gN = "z + a - b"
[[contact]]
name = "back left"
gN = "z - a + b"
[[contact]]
name = "back right"
gN = "z - a - b"
)toml");
    Dynamics d(m, false, 1.0);
    const auto x = state({0.0, 0.0, 0.0}, {0.0, 0.0, 0.0});
    SystemMode mode = d.mode();
    for (ElementMode& e : mode.elements) e.active = true;
    d.set_mode(mode, 0.0, x.data());
    EXPECT_TRUE(d.redundant());
    ASSERT_TRUE(d.evaluate(0.0, x.data()));
    for (int k = 0; k < 4; ++k) EXPECT_NEAR(d.reactions()[static_cast<std::size_t>(k)], 20.0, 1e-10);
    for (int k = 0; k < 3; ++k) EXPECT_NEAR(d.acceleration()[static_cast<std::size_t>(k)], 0.0, 1e-11);
    mode.elements[3].active = false;  // three legs are not redundant
    d.set_mode(mode, 0.0, x.data());
    EXPECT_FALSE(d.redundant());
    ASSERT_TRUE(d.evaluate(0.0, x.data()));
    EXPECT_NEAR(d.reactions()[0], 0.0, 1e-10);
    EXPECT_NEAR(d.reactions()[1], 40.0, 1e-10);
    EXPECT_NEAR(d.reactions()[2], 40.0, 1e-10);
}

TEST(Dynamics, ASpringOnlyPushes) {
    const model::Model m = model_of(R"toml(
[system]
q = ["y"]
T = "y'^2/2"
[[contact]]
name = "floor"
gN = "y"
[penalty]
k = 1000
d = 10
)toml");
    Dynamics d(m, true, 2.0);
    const auto x = state({-0.01}, {0.5});
    d.set_mode(with_active(d, 0), 0.0, x.data());
    ASSERT_TRUE(d.evaluate(0.0, x.data()));
    EXPECT_NEAR(d.acceleration()[0], 2.0 * 1000.0 * 0.01 - 10.0 * 0.5, 20.0 * rounding);
    SystemMode mode = d.mode();
    mode.elements[0].pulls = true;
    d.set_mode(mode, 0.0, x.data());
    ASSERT_TRUE(d.evaluate(0.0, x.data()));
    EXPECT_EQ(d.acceleration()[0], 0.0);
}

TEST(Dynamics, TheProjectionTakesTheShortestWayOntoTheConstraint) {
    const model::Model m = model_of(R"toml(
[system]
q = ["x", "y"]
T = "(x'^2 + y'^2)/2"
[[constraint]]
name = "circle"
g = "(x^2 + y^2 - 1)/2"
[initial]
q = { x = 1.0 }
)toml");
    Dynamics d(m, false, 1.0);
    auto x = state({1.02 * 0.6, 1.02 * 0.8}, {1.0, 0.0});
    d.set_mode(d.mode(), 0.0, x.data());
    ASSERT_TRUE(d.project(0.0, x.data()));
    EXPECT_NEAR(x[0], 0.6, 1e-12);
    EXPECT_NEAR(x[1], 0.8, 1e-12);
    // u loses its radial part, 0.6 (0.6, 0.8).
    EXPECT_NEAR(x[2], 1.0 - 0.36, 1e-12);
    EXPECT_NEAR(x[3], -0.48, 1e-12);
}

TEST(Dynamics, TheProjectionAlongForcesTakesFrictionAlong) {
    // The block lands with (u, −v): the impulse v in the normal comes with −μ v along the floor.
    const model::Model m = block_on_floor(0.3);
    Dynamics d(m, false, 1.0);
    auto x = state({0.0, 0.0}, {2.0, -1.0});
    d.set_mode(with_slip(d, 0, {1.0}), 0.0, x.data());
    ASSERT_TRUE(d.project_along_forces(0.0, x.data()));
    EXPECT_NEAR(x[2], 2.0 - 0.3, rounding);
    EXPECT_NEAR(x[3], 0.0, rounding);
}

TEST(Dynamics, SlidingFrictionThatCancelsTheNormalForceIsNoticed) {
    // w_N·M⁻¹(w_N − μ w_T) = 1 − μ with the slip along x + y: nearly zero for μ near 1.
    const auto block = [](double mu) {
        return model_of(
            "[system]\nq = [\"x\", \"y\"]\nT = \"(x'^2 + y'^2)/2\"\n[[contact]]\nname = \"floor\"\ngN = \"y\"\n"
            "gammaT = \"x' + y'\"\nmu = " +
            number_text(mu) + "\n");
    };
    const auto x = state({0.0, 0.0}, {1.0, 0.0});
    for (const double mu : {0.5, 0.99}) {
        const model::Model m = block(mu);
        Dynamics d(m, false, 1.0);
        d.set_mode(with_slip(d, 0, {1.0}), 0.0, x.data());
        EXPECT_EQ(d.nearly_singular(0.0, x.data()), mu > 0.95) << mu;
    }
}

TEST(Dynamics, ASliderBrakesWithItsKnownNormalForce) {
    const model::Model m = model_of(R"toml(
[system]
q = ["x"]
T = "2*x'^2/2"
[[slider]]
name = "rail"
gammaT = "x'"
mu = 0.3
FN = 10
)toml");
    Dynamics d(m, false, 1.0);
    for (const double direction : {1.0, -1.0}) {
        const auto x = state({0.0}, {direction});
        d.set_mode(with_slip(d, 0, {direction}), 0.0, x.data());
        ASSERT_TRUE(d.evaluate(0.0, x.data()));
        EXPECT_NEAR(d.reactions()[0], -direction * 3.0, rounding);
        EXPECT_NEAR(d.acceleration()[0], -direction * 1.5, rounding);
    }
}

TEST(Dynamics, AModeMustFitTheModel) {
    const model::Model m = block_on_floor(0.3);
    Dynamics d(m, false, 1.0);
    const auto x = state({0.0, 0.0}, {0.0, 0.0});
    EXPECT_DEATH(d.set_mode({}, 0.0, x.data()), "misuse");
}

}  // namespace

}  // namespace saltus::integrate::dynamics_test
