// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "physics/motion.hpp"
#include "reference/reference.hpp"
#include "saltus/control/rest.hpp"
#include "saltus/model/settings.hpp"

namespace saltus::experiment_test {
namespace {

using namespace saltus::control;
using namespace saltus::test;

// Section V of [Tornambe]: a steel link of 600 x 40 x 2 mm on a motor; case a without, case b with an obstacle.

const double without_obstacle = -3.0;

/// The smallest angle of the motor on a grid.
State lowest(const Trajectory& motion) {
    State low = motion.start;
    for (int i = 0; i <= 4000; ++i) {
        const State s = motion.right(motion.start.t + (motion.end.t - motion.start.t) * i / 4000.0);
        if (s.q[0] < low.q[0]) low = s;
    }
    return low;
}

/// What a strain gauge at x sees: w'' of w1 s² + w2 s³ + w3 s⁴.
double curvature(const State& s, double x) {
    const double l = 0.6, r = x / l;
    return (2.0 * s.q[1] + 6.0 * s.q[2] * r + 12.0 * s.q[3] * r * r) / (l * l);
}

TEST(Experiment, InertiaIsThatOfTheSteelLink) {
    const test::reference::Value given = test::reference::entry("tornambe_link_inertia");
    const test::reference::Value inputs = given["inputs"], expected = given["outputs"];
    const double l = inputs["length"], width = inputs["width"], thickness = inputs["thickness"];
    const double m = inputs["density"] * l * width * thickness;
    const Model arm = shipped("single-link-arm"), flexible = shipped("flexible-arm");
    const auto value = [](const Model& model, const std::string& name) {
        return std::find_if(model.settings->parameters.begin(), model.settings->parameters.end(),
                            [&](const auto& p) { return p.name == name; })
            ->value;
    };
    EXPECT_NEAR(value(arm, "I_r"), m * l * l / 3.0, 1e-12);
    EXPECT_NEAR(value(flexible, "m"), expected["mass"], 1e-12);
    EXPECT_NEAR(m * (l * l / 3.0 + thickness * thickness / 12.0), expected["I_r_with_thickness"], 1e-12);
    EXPECT_NEAR(m * (l * l / 3.0 + width * width / 12.0), expected["I_r_with_width_in_plane"], 1e-12);
}

TEST(Experiment, CaseAOfTheRigidArmSwingsToZero) {
    const Trajectory free = motion_of(shipped("single-link-arm", {{"q0", without_obstacle}}), 2.0);
    EXPECT_TRUE(free.events.empty()) << story(free);
    const double I = 0.045216, d = 0.1 / (2.0 * I), w = std::sqrt(1.0 / I - d * d);
    for (const double t : {0.25, 0.7, 1.3, 2.0})
        EXPECT_NEAR(free.right(t).q[0], std::exp(-d * t) * (std::cos(w * t) + d / w * std::sin(w * t)), 1e-9);
    EXPECT_LT(std::abs(free.end.q[0]), 0.15) << "nearly there at the end of figure 1";
}

TEST(Experiment, CaseBOfTheRigidArmFirstHitsNearAQuarterOfASecond) {
    const Trajectory motion = motion_of(shipped("single-link-arm", {{"e", 0.5}}), 2.0);
    const std::vector<Event> impacts = events_of(motion, EventKind::impact);
    ASSERT_GE(impacts.size(), 5U);
    EXPECT_NEAR(impacts[0].t, 0.25, 0.01) << "t_c of the paper";
    for (std::size_t i = 2; i < 8; ++i)
        EXPECT_LT(impacts[i].t - impacts[i - 1].t, impacts[i - 1].t - impacts[i - 2].t) << "one close to the other";
    EXPECT_NEAR(motion.end.q[0], 0.5, 1e-12) << "in contact with the obstacle";
    EXPECT_GE(lowest(motion).q[0], 0.5 - 1e-12) << "a rigid arm cannot pass it";
}

TEST(Experiment, TheFlexibleArmBendsAsABeamDoes) {
    const Model arm = shipped("flexible-arm");
    const double l = 0.6, EI = 5.6, Kp = 1.0, q0 = 0.5, ratio = Kp * l / (3.0 * EI);
    Statics statics(arm, ContactModel::rigid);
    const Rest rest = find_rest(statics, arm.q0);
    ASSERT_TRUE(rest.found) << rest.reason;
    EXPECT_TRUE(rest.minimum());
    const double q = q0 / (1.0 + ratio), force = Kp * q / l;
    EXPECT_NEAR(rest.q[0], q, 1e-12);
    EXPECT_NEAR(rest.lambda(0), force, 1e-11);
    for (const double x : {0.095, 0.255})  // a clamped beam with a force at its end: EI w'' = F (l − x)
        EXPECT_NEAR(curvature({0.0, rest.q, {}}, x), force * (l - x) / EI, 1e-11);
}

TEST(Experiment, CaseBOfTheFlexibleArmOvershootsAndStaysBent) {
    const Trajectory motion = motion_of(shipped("flexible-arm"), 2.0);
    const std::vector<Event> impacts = events_of(motion, EventKind::impact);
    ASSERT_GE(impacts.size(), 3U) << story(motion);
    EXPECT_NEAR(impacts[0].t, 0.25, 0.01);
    const double steady = 0.5 / (1.0 + 0.6 / 16.8);
    const State low = lowest(motion);
    EXPECT_LT(low.q[0], steady - 0.05) << "the motor overtakes its steady angle";
    EXPECT_GT(low.t, impacts[0].t);
    EXPECT_LT(low.t, impacts[0].t + 0.1) << "because of the first impact";
    for (const double x : {0.095, 0.255}) {
        const double final = curvature(motion.end, x), force = steady / 0.6;
        EXPECT_NEAR(final, force * (0.6 - x) / 5.6, 1e-6) << "the deformation stays";
        EXPECT_GT(curvature(low, x), 3.0 * final) << "and was larger at the first impact";
    }
    EXPECT_GT(curvature(motion.end, 0.095), curvature(motion.end, 0.255)) << "more of it near the motor";
    EXPECT_EQ(motion.arcs.back().modes[0], Mode::closed);
}

TEST(Experiment, CaseAOfTheFlexibleArmLosesItsDeformation) {
    const Trajectory motion = motion_of(shipped("flexible-arm", {{"q0", without_obstacle}}), 10.0);
    EXPECT_TRUE(motion.events.empty()) << story(motion);
    EXPECT_NEAR(motion.end.q[0], 0.0, 1e-3);
    double early = 0.0, late = 0.0;
    for (int i = 0; i <= 200; ++i) {
        early = std::max(early, std::abs(curvature(motion.right(0.01 * i), 0.095)));
        late = std::max(late, std::abs(curvature(motion.right(8.0 + 0.01 * i), 0.095)));
    }
    EXPECT_LT(late, 1e-2 * early);
}

}  // namespace
}  // namespace saltus::experiment_test
