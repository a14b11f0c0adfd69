// SPDX-License-Identifier: Apache-2.0
//
// Runs with a far end. The cost does not grow while nothing happens.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "integrate/small_models.hpp"
#include "saltus/integrate/simulate.hpp"
#include "saltus/model/model.hpp"

namespace saltus::integrate::rest_test {
namespace {

using test::model_of;
using trajectory::Status;
using trajectory::Trajectory;

model::Model shipped(const std::string& name) {
    return model::build(io::read_model(std::string(SALTUS_SOURCE_DIR) + "/models/" + name + ".toml"), {});
}

Trajectory run(const model::Model& model, double t_end) {
    Options options;
    options.t_end = t_end;
    return simulate(model, EventDriven{}, options);
}

std::size_t steps_of(const Trajectory& motion) {
    std::size_t count = 0;
    for (const trajectory::Arc& arc : motion.arcs) count += arc.steps.size();
    return count;
}

TEST(Rest, TakesTheSameStepsHoweverFarTheEndIs) {
    for (const std::string name : {"bouncing-ball", "falling-block", "rocking-bar", "constrained-beam"}) {
        const model::Model model = shipped(name);
        const Trajectory near = run(model, 10.0);
        ASSERT_EQ(near.status, Status::completed) << name;
        for (const double t_end : {1e6, 1e30, 1e300}) {
            const Trajectory far = run(model, t_end);
            EXPECT_EQ(far.status, Status::completed) << name << ", " << t_end << ": " << far.reason;
            EXPECT_EQ(far.end.t, t_end) << name;
            EXPECT_EQ(far.events.size(), near.events.size()) << name << ", " << t_end;
            EXPECT_LE(steps_of(far), steps_of(near) + 5) << name << ", " << t_end;
            for (std::size_t i = 0; i < near.end.q.size(); ++i) {
                EXPECT_NEAR(far.end.q[i], near.end.q[i], 1e-9) << name << ", " << t_end;
                EXPECT_EQ(far.end.u[i], 0.0) << name << ", " << t_end;
            }
        }
    }
}

TEST(Rest, EndsWhenAForceThatGrowsWithTheTimeExceedsFriction) {
    // Stick holds as long as 0.001 t <= mu g = 3, and the block rests on the floor all that time.
    const Trajectory motion = run(test::block_on_floor(0.3, "t/1000"), 4000.0);
    ASSERT_EQ(motion.status, Status::completed) << motion.reason;
    ASSERT_FALSE(motion.events.empty());
    EXPECT_NEAR(motion.events.back().t, 3000.0, 1e-6);
    // x'' = (t − 3000)/1000, so x = 1000³/6000 m.
    EXPECT_NEAR(motion.end.q[0], 1e9 / 6000.0, 1e-3);
}

TEST(Rest, OnABeltIsMotionOfTheBody) {
    const Trajectory motion = run(model_of(R"toml(
[system]
q = ["x", "y"]
T = "(x'^2 + y'^2)/2"
U = "10*y"
[[contact]]
name = "belt"
gN = "y"
gammaT = "x' - 0.25"
mu = 0.5
eN = 0.0
[initial]
u = { x = 0.25 }
)toml"),
                                  1e6);
    ASSERT_EQ(motion.status, Status::completed) << motion.reason;
    EXPECT_NEAR(motion.end.q[0], 0.25e6, 1e-6);
    EXPECT_NEAR(motion.end.u[0], 0.25, 1e-14);
}

TEST(LongRun, OfAFreeParticleIsExact) {
    const model::Model particle = model_of("[system]\nq = [\"x\"]\nT = \"x'^2/2\"\n[initial]\nu = { x = 2.0 }\n");
    for (const double t_end : {1e6, 1e100, 1e150}) {
        const Trajectory motion = run(particle, t_end);
        ASSERT_EQ(motion.status, Status::completed) << motion.reason;
        EXPECT_NEAR(motion.end.q[0] / t_end, 2.0, 1e-14);
    }
}

TEST(LongRun, OverWhichTheSquareOfTheTimeOverflowsIsRefusedOrExact) {
    const model::Model particle = model_of("[system]\nq = [\"x\"]\nT = \"x'^2/2\"\n[initial]\nu = { x = 2.0 }\n");
    const Trajectory motion = run(particle, 1e300);
    EXPECT_TRUE(std::isfinite(motion.end.q[0]));
    EXPECT_NEAR(motion.end.q[0] / motion.end.t, 2.0, 1e-9);
    EXPECT_EQ(motion.status, motion.end.t < 1e300 ? Status::failed : Status::completed);
}

TEST(LongRun, FailsIfTheMotionOverflows) {
    const model::Model falling =
        model_of("[system]\nq = [\"y\"]\nT = \"y'^2/2\"\nU = \"10*y\"\n[initial]\nq = { y = 1.0 }\n");
    EXPECT_EQ(run(falling, 1e300).status, Status::failed);
}

TEST(LongRun, ThatCannotEndIsRefusedWithItsRate) {
    const model::Model oscillator =
        model_of("[system]\nq = [\"x\"]\nT = \"x'^2/2\"\nU = \"x^2/2\"\n[initial]\nq = { x = 1.0 }\n");
    const Trajectory motion = run(oscillator, 1e30);
    EXPECT_EQ(motion.status, Status::failed);
    EXPECT_NE(motion.reason.find("more than 1e+13 steps are left to the end of the run"), std::string::npos)
        << motion.reason;
    // What was computed is right.
    EXPECT_GT(motion.end.t, 1000.0);
    EXPECT_NEAR(motion.end.q[0], std::cos(motion.end.t), 1e-5);
}

TEST(LongRun, OfTooManyEqualStepsIsRefused) {
    Options options;
    options.t_end = 1e30;
    for (const bool adaptive : {false, true}) {
        Moreau method;
        method.adaptive = adaptive;
        const Trajectory motion = simulate(shipped("bouncing-ball"), method, options);
        EXPECT_EQ(motion.status, Status::failed);
        EXPECT_NE(motion.reason.find("more than 1e+13 steps of 0.001 s"), std::string::npos) << motion.reason;
        EXPECT_EQ(motion.end.t, 0.0);
    }
}

}  // namespace
}  // namespace saltus::integrate::rest_test
