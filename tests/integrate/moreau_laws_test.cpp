// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "integrate/moreau_runs.hpp"

namespace saltus::integrate::moreau_laws_test {
namespace {

using namespace saltus::integrate::test;
using trajectory::EventKind;
using trajectory::Status;
using trajectory::Trajectory;

/// A ball that hits a second one, which touches a wall.
model::Model balls_and_wall(const std::string& law, double e_between, double e_wall) {
    const std::string impact = "impact = \"" + law + "\"\n";
    return written(R"toml(
[system]
q = ["x", "y"]
T = "x'^2/2 + 2/2*y'^2"
[[contact]]
name = "between"
gN = "y - x"
eN = )toml" + number_text(e_between) +
                   "\n" + impact + R"toml([[contact]]
name = "wall"
gN = "1 - y"
eN = )toml" + number_text(e_wall) +
                   "\n" + impact + "[initial]\nq = { x = 0.0, y = 1.0 }\nu = { x = 1.0 }\n");
}

TEST(MoreauLaws, PoissonsGivesBackWhatAContactAtRestTookUp) {
    // Compression, Λ_C = 1 at both contacts, stops the first ball. The wall alone expands: Λ_E = 1 sends both back,
    // the contact between them stays closed. Newton's law asks the velocity before, which is nothing at the wall.
    const Trajectory poisson = run(balls_and_wall("poisson", 0.0, 1.0), 1.5, 1e-3);
    const Trajectory newton = run(balls_and_wall("newton", 0.0, 1.0), 1.5, 1e-3);
    ASSERT_EQ(poisson.status, Status::completed) << poisson.reason;
    EXPECT_NEAR(poisson.end.u[0], -1.0 / 3.0, 1e-9);
    EXPECT_NEAR(poisson.end.u[1], -1.0 / 3.0, 1e-9);
    EXPECT_NEAR(newton.end.u[0], 0.0, 1e-9);
    EXPECT_NEAR(newton.end.u[1], 0.0, 1e-9);
    EXPECT_TRUE(poisson.warnings.empty());
}

TEST(MoreauLaws, GiveTheImpactsOfEventDrivenMotion) {
    for (const char* law : {"newton", "poisson", "energy"})
        for (const double e : {0.0, 0.4, 1.0}) {
            const model::Model model = balls_and_wall(law, e, 0.0);
            const Trajectory exact = event_driven(model, 1.5);
            const Trajectory steps = run(model, 1.5, 1e-3);
            EXPECT_EQ(steps.status, exact.status) << law << " " << e << ": " << steps.reason << exact.reason;
            if (exact.status != Status::completed) continue;
            for (std::size_t i = 0; i < 2; ++i) EXPECT_NEAR(steps.end.u[i], exact.end.u[i], 1e-9) << law << " " << e;
            ASSERT_GE(steps.events.size(), 1u);
            ASSERT_EQ(steps.events[0].impulses.size(), exact.events[0].impulses.size());
            for (std::size_t k = 0; k < steps.events[0].impulses.size(); ++k)
                EXPECT_NEAR(steps.events[0].impulses[k].N, exact.events[0].impulses[k].N, 1e-9) << law << " " << e;
            EXPECT_NEAR(steps.events[0].work, exact.events[0].work, 1e-9) << law << " " << e;
        }
}

TEST(MoreauLaws, PoissonsConvergesWithOrderOneThroughFriction) {
    // A block with a spring that drops askew, hits with one corner, then with the other while the first one is near.
    model::Description d = io::read_model(std::string(SALTUS_SOURCE_DIR) + "/models/rocking-block.toml");
    for (auto& contact : d.contacts) contact.impact.word = "poisson";
    const model::Model block = model::build(d, {});
    const double x = event_driven(block, 0.4).end.q[0], phi = event_driven(block, 0.4).end.q[2];
    const auto error = [&](double h) {
        return mean_over_steps(h, [&](double step) {
            const Trajectory motion = run(block, 0.4, step);
            return std::hypot(motion.end.q[0] - x, motion.end.q[2] - phi);
        });
    };
    const double coarse = error(1e-3), fine = error(6.25e-5);
    EXPECT_LT(coarse, 1e-2);
    EXPECT_NEAR(std::log(coarse / fine) / std::log(16.0), 1.0, 0.25);
}

TEST(MoreauLaws, OfTheEnergyKeepsItsPromise) {
    // A single contact: T⁺ = e² T⁻ of the whole system, sideways motion included.
    const model::Model model = written(R"toml(
[system]
q = ["x", "y"]
T = "(x'^2 + y'^2)/2"
[[contact]]
name = "floor"
gN = "y"
eN = 0.9
impact = "energy"
[initial]
q = { x = 0.0, y = 0.5 }
u = { x = 0.3, y = -1.0 }
)toml");
    const Trajectory motion = run(model, 1.0, 1e-3);
    ASSERT_EQ(motion.status, Status::completed) << motion.reason;
    EXPECT_NEAR(motion.energy.final, 0.81 * motion.energy.initial, 1e-9);
    EXPECT_NEAR(motion.end.u[0], 0.3, 1e-12);
}

TEST(MoreauLaws, WithoutAnOutcomeEndTheRunWithTheReason) {
    // Sideways motion carries more energy than e² T⁻ allows to be left.
    const Trajectory motion = run(written(R"toml(
[system]
q = ["x", "y"]
T = "(x'^2 + y'^2)/2"
[[contact]]
name = "floor"
gN = "y"
eN = 0.1
impact = "energy"
[initial]
q = { x = 0.0, y = 0.5 }
u = { x = 1.0, y = -1.0 }
)toml"),
                                  1.0, 1e-3);
    EXPECT_EQ(motion.status, Status::failed);
    EXPECT_NE(motion.reason.find("the impact has no outcome: T+ = e^2 T- has no solution"), std::string::npos)
        << motion.reason;
    EXPECT_NEAR(motion.end.t, 0.5, 2e-3);
}

TEST(MoreauLaws, ComeToRestUnderPoissons) {
    model::Description d = io::read_model(std::string(SALTUS_SOURCE_DIR) + "/models/rocking-bar.toml");
    for (auto& contact : d.contacts) contact.impact.word = "poisson";
    const Trajectory motion = run(model::build(d, {}), 3.0, 1e-3);
    EXPECT_EQ(motion.status, Status::completed) << motion.reason;
    EXPECT_NEAR(motion.forces[0].N + motion.forces[1].N, 9.81, 1e-6);
    EXPECT_LE(motion.energy.final, motion.energy.initial);
    EXPECT_LE(test::balance_at_end(motion), 1e-9);
}

}  // namespace
}  // namespace saltus::integrate::moreau_laws_test
