// SPDX-License-Identifier: Apache-2.0
#include "physics/motion.hpp"

namespace saltus::singular_mass_test {
namespace {

using namespace saltus::test;

/// A weight m at x on a rope over a massless pulley at s, x = 2 s, which a spring of stiffness k holds: x'' = g - k
/// x/(4 m).
const std::string pulley = R"toml(
[system]
q = ["x", "s"]
T = "m/2*x'^2"
U = "-m*g*x + k/2*s^2"
[parameters]
m = 2.0
g = 9.81
k = 30.0
[[constraint]]
name = "rope"
)toml";

TEST(SingularMass, AMasslessPulleyMovesAsTheWeightSays) {
    const double m = 2.0, g = 9.81, k = 30.0, w = std::sqrt(k / (4.0 * m)), middle = 4.0 * m * g / k;
    for (const std::string& constraint : {std::string("g = \"x - 2*s\""), std::string("gamma = \"x' - 2*s'\"")}) {
        const Model model = from_text(pulley + constraint);
        const double t = 1.3, x = middle * (1.0 - std::cos(w * t));
        const Trajectory motion = motion_of(model, t);
        EXPECT_TRUE(matches(motion.end.q[0], x, 1e-9)) << constraint;
        EXPECT_TRUE(matches(motion.end.q[1], 0.5 * x, 1e-9)) << constraint;
        // The reaction holds the massless pulley: -2 N = k s along s, so that N = -k s/2 along x.
        EXPECT_TRUE(matches(motion.forces[0].N, -0.25 * k * x, 1e-8)) << constraint;
        EXPECT_TRUE(matches(motion.energy.final, 0.0, 1e-9)) << constraint;
        EXPECT_TRUE(motion.events_certain);
        EXPECT_NEAR(motion_of(model, t, Moreau{}).end.q[0], x, 1e-5) << constraint;
    }
}

// The weight strikes a stop at x = 1 with the speed v: v⁺ = -e v, and the impulse is (1 + e) m v although the pulley is
// part of the constraint.
TEST(SingularMass, AnImpactHasTheImpulseOfTheMassAlone) {
    const std::string stop = pulley + "g = \"x - 2*s\"\n[[contact]]\nname = \"stop\"\ngN = \"1 - x\"\neN = 0.5\n";
    const Trajectory motion = motion_of(from_text(stop), 0.7);
    const std::vector<Event> impacts = events_of(motion, EventKind::impact);
    ASSERT_FALSE(impacts.empty());
    const double v = std::sqrt(2.0 * 9.81 - 30.0 / 8.0);  // energy: m v²/2 = m g - k/8 at x = 1
    EXPECT_TRUE(matches(impacts[0].u_minus[0], v, 1e-9));
    EXPECT_TRUE(matches(impacts[0].u_plus[0], -0.5 * v, 1e-9));
    EXPECT_TRUE(matches(impacts[0].u_plus[1], -0.25 * v, 1e-9));
    EXPECT_TRUE(matches(normal_impulse(impacts[0], 0), 1.5 * 2.0 * v, 1e-9));
    EXPECT_NEAR(normal_impulse(impacts[0], 1), 0.0, 1e-9);
}

}  // namespace
}  // namespace saltus::singular_mass_test
