// SPDX-License-Identifier: Apache-2.0
#include "sensitivity/derivatives.hpp"

namespace saltus {
namespace {

using namespace saltus::test;

TEST(Skeleton, EventTimesFollowTheAmplitudesOfItsObstacle) {
    // alscher.json, sensitivity, set A: θ = a cos(b(t − t*)) with t* the unperturbed lift-off; dt_L/da from differences
    // at a = 1e-9, which are off by about their change from 1e-8.
    const double b[] = {5.0, 10.0, 20.0, 40.0, 80.0, 160.0, 320.0};
    const double expected[] = {-297.58673, -1155.27678, -4147.44155, -12100.1648, -27347.678, -63004.988, -175070.12};
    const double allowed[] = {1e-5, 1e-5, 1e-5, 5e-5, 1e-3, 2e-2, 1e-1};
    const double lift_off = 0.49986545617485345;
    model::Description d = description_of("hydrostatic-skeleton-edges");
    std::string offset = "K";
    std::vector<std::string> names;
    for (int k = 0; k < 7; ++k) {
        names.push_back("a" + std::to_string(k));
        d.parameters.push_back({names.back(), model::Field(0.0), {}});
        offset += " + " + names.back() + "*cos(" + number_text(b[k]) + "*(t - " + number_text(lift_off) + "))";
    }
    d.obstacles[0].offset = model::Field(offset);
    names.insert(names.end(), {"K"});
    const Sensitivity s = derivatives(built(d), names, 0.52);
    ASSERT_EQ(s.motion.events.size(), 2U) << story(s.motion);
    EXPECT_NEAR(s.motion.events[1].t, lift_off, 1e-5);
    for (std::size_t k = 0; k < 7; ++k) {
        EXPECT_NEAR(s.events[0].dt[k], -0.1 * std::cos(b[k] * (0.23 - lift_off)), 1e-10);
        EXPECT_NEAR(s.events[1].dt[k], expected[k], allowed[k] * std::abs(expected[k])) << b[k];
    }
    EXPECT_NEAR(s.events[0].dt[7], -0.1, 1e-12);
    EXPECT_FALSE(s.final.hasNaN()) << remarks(s);
    // No more than a simulation a variable and one more.
    EXPECT_LE(s.derivative_seconds, 8.0 * s.simulation_seconds);
}

}  // namespace
}  // namespace saltus
