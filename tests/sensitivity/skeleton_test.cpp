// SPDX-License-Identifier: Apache-2.0
#include "reference/reference.hpp"
#include "sensitivity/derivatives.hpp"

namespace saltus::skeleton_test {
namespace {

using namespace saltus::test;
using reference::Value;

TEST(Skeleton, EventTimesFollowTheAmplitudesOfItsObstacle) {
    // θ = a cos(b(t − t*)) with t* the unperturbed lift-off. The reference has dt_L/da by central differences: for each
    // b one row with a = 1e-9 and one with a = 1e-8. Their errors grow like a².
    const Value expected_values = reference::file("alscher")["sensitivity"]["A_braced"];
    const double lift_off = expected_values["tL0"];
    double b[5], fine[5], rough[5];
    for (std::size_t k = 0; k < 5; ++k) {
        const Value first = expected_values["rows"][2 * k], second = expected_values["rows"][2 * k + 1];
        b[k] = first["b"], fine[k] = first["dtL_da"], rough[k] = second["dtL_da"];
    }
    model::Description d = description_of("hydrostatic-skeleton");
    std::string offset = "K";
    std::vector<std::string> names;
    for (int k = 0; k < 5; ++k) {
        names.push_back("a" + std::to_string(k));
        d.parameters.push_back({names.back(), model::Field(0.0), {}});
        offset += " + " + names.back() + "*cos(" + number_text(b[k]) + "*(t - " + number_text(lift_off) + "))";
    }
    d.obstacles[0].offset = model::Field(offset);
    names.emplace_back("K");
    const Sensitivity s = derivatives(built(d), names, 0.503, EventDriven{.rtol = 1e-10, .atol = 1e-13});
    ASSERT_EQ(s.motion.events.size(), 2U) << story(s.motion);
    EXPECT_NEAR(s.motion.events[1].t, lift_off, 1e-9);
    for (std::size_t k = 0; k < 5; ++k) {
        // Long steps of the flight leave 1e-8 of noise in the velocities of the stiff body.
        EXPECT_NEAR(s.events[0].dt[k], -0.1 * std::cos(b[k] * (0.23 - lift_off)), 1e-8);
        const double expected = fine[k] + (fine[k] - rough[k]) / 99.0;
        EXPECT_NEAR(s.events[1].dt[k], expected, 1e-5 * std::abs(expected)) << b[k];
    }
    // A lift-off feels the second derivative, b², while the body follows (hydrostatic-skeleton.md, "Sensitivity").
    EXPECT_NEAR(std::log2(s.events[1].dt[1] / s.events[1].dt[0]), 1.8356, 1e-3);
    // The plane moved as a whole: everything comes that much later.
    EXPECT_NEAR(s.events[0].dt[5], -0.1, 1e-8);
    EXPECT_NEAR(s.events[1].dt[5], -0.1, 1e-6);
    EXPECT_FALSE(s.final.hasNaN()) << remarks(s);
}

TEST(Skeleton, TheFirstOfThePapersLiftOffsByAmplitudeAndFrequency) {
    // a = 0.006, b = 200: 0.2823 after the collision at 0.2303
    const auto at = [](double a, double b) { return shipped("hydrostatic-skeleton", {{"a", a}, {"b", b}}); };
    const Sensitivity s = derivatives(at(0.006, 200.0), {"a", "b"}, 0.2833);
    ASSERT_EQ(s.motion.events.size(), 2U) << story(s.motion);
    const Value paper_case = reference::file("alscher")["skeleton"]["A_braced"]["cases"][2];
    EXPECT_NEAR(s.motion.events[1].t, paper_case["events"][1]["t"], 1e-6);
    const auto time = [&](double a, double b) { return motion_of(at(a, b), 0.2833).events.at(1).t; };
    const double h = 2e-6, by_a = (time(0.006 + h, 200.0) - time(0.006 - h, 200.0)) / (2.0 * h);
    EXPECT_NEAR(s.events[1].dt[0], by_a, 1e-5 * std::abs(by_a));
    const double k = 0.02, by_b = (time(0.006, 200.0 + k) - time(0.006, 200.0 - k)) / (2.0 * k);
    EXPECT_NEAR(s.events[1].dt[1], by_b, 1e-5 * std::abs(by_b));
}

}  // namespace
}  // namespace saltus::skeleton_test
