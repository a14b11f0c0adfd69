// SPDX-License-Identifier: Apache-2.0
#include "physics/motion.hpp"
#include "support.hpp"

namespace saltus::painleve_test {
namespace {

using namespace saltus::test;

bool says(const std::vector<std::string>& warnings, const std::string& word) {
    for (const std::string& w : warnings)
        if (w.find(word) != std::string::npos) return true;
    return false;
}

// p = 1 + 3cos²θ − 3μ sinθ cosθ, b = l/2·ω² sinθ − g: sliding needs λ_N = −m b/p.

TEST(PainleveRod, WithoutAForceJamsByAnImpulseThatTakesEnergy) {
    const Trajectory motion = motion_of(shipped("painleve-rod"), 0.3);
    ASSERT_GE(motion.events.size(), 1U);
    const Event& jam = motion.events[0];
    EXPECT_EQ(jam.kind, EventKind::painleve);
    EXPECT_EQ(jam.t, 0.0);
    EXPECT_LT(jam.work, 0.0);
    EXPECT_LT(jam.energy_after, jam.energy_before);
    const double N = normal_impulse(jam, 0), T = tangential_impulse(jam, 0);
    EXPECT_GT(N, 0.0);
    EXPECT_LE(std::abs(T), 1.8 * N * (1.0 + 1e-12));
    // The tip does not move after it: γ_N = γ_T = 0.
    EXPECT_NEAR(jam.u_plus[1] - 0.5 * std::cos(1.0) * jam.u_plus[2], 0.0, 1e-12);
    EXPECT_NEAR(jam.u_plus[0] + 0.5 * std::sin(1.0) * jam.u_plus[2], 0.0, 1e-12);
    EXPECT_TRUE(says(motion.warnings, "Painleve")) << first_words(motion.warnings);
}

TEST(PainleveRod, WithTwoSolutionsGoesOnAndWarns) {
    const Trajectory motion = motion_of(shipped("painleve-rod", {{"omega0", 6.0}}), 0.3);
    EXPECT_TRUE(says(motion.warnings, "2 solutions")) << first_words(motion.warnings);
    EXPECT_TRUE(events_of(motion, EventKind::painleve).empty()) << story(motion);
}

TEST(PainleveRod, RegularAtTheStartSlidesAndSticksWithoutAWarning) {
    const Trajectory motion = motion_of(shipped("painleve-rod", {{"theta0", 1.4}}), 0.3);
    EXPECT_TRUE(motion.warnings.empty()) << first_words(motion.warnings);
    EXPECT_TRUE(events_of(motion, EventKind::painleve).empty()) << story(motion);
    // λ_N = m g/p at the start
    const Trajectory start = motion_of(shipped("painleve-rod", {{"theta0", 1.4}}), 0.0);
    const double c = std::cos(1.4), s = std::sin(1.4);
    EXPECT_NEAR(start.forces.at(0).N, 9.81 / (1.0 + 3.0 * c * c - 3.0 * 1.8 * s * c), 1e-9);
}

TEST(PainleveRod, ThatFallsTowardsTheSingularityIsTurnedBackOrLiftsOff) {
    // [Genot]: sliding cannot cross p = 0; the growing force turns the rod back, unless b = 0 comes first.
    for (const double omega0 : {-1.0, -3.0, -4.0, -4.3, -4.43}) {
        const Trajectory motion =
            motion_of(shipped("painleve-rod", {{"theta0", 1.4}, {"omega0", omega0}, {"v0", -20.0}}), 0.25);
        EXPECT_TRUE(events_of(motion, EventKind::painleve).empty()) << omega0 << ": " << story(motion);
        EXPECT_LT(motion.energy.final, motion.energy.initial);
    }
}

TEST(PainleveRod, WhoseFrictionGrowsRunsIntoTheSingularityAndJams) {
    // μ = 1.3 + r t passes μ_P = (1 + 3cos²θ)/(3 sinθ cosθ) = 1.375: the force grows beyond every bound and nothing
    // but an impulse leads on.
    const std::string rod = content_of(std::string(SALTUS_SOURCE_DIR) + "/models/painleve-rod.toml");
    for (const double rate : {10.0, 100.0, 1e3, 1e5}) {
        const std::string text = replaced(rod, "mu = \"mu\"", "mu = \"1.3 + " + number_text(rate) + "*t\"");
        const Trajectory motion = attempt(from_text(text, {{"v0", -20.0}}), 0.1);
        EXPECT_EQ(status_of(motion), "completed") << rate << ": " << motion.reason;
        const std::vector<Event> jams = events_of(motion, EventKind::painleve);
        EXPECT_EQ(jams.size(), 1U) << rate << ": " << story(motion);
        EXPECT_LT(motion.statistics.steps, 5000) << rate;
        for (const Event& jam : jams) EXPECT_LT(jam.work, 0.0) << rate;
    }
}

// A body with one coordinate and slip 5x'. eN asks for x'⁺ = 0.8; then ξ_T = 5 (0.8 − eT) > 0 if eT < 0.8, so that
// Λ_T = −Λ_N/2, and the balance Λ_N − 2.5 Λ_N = 1.8 asks for Λ_N < 0. With eT >= 0.8 it sticks or slips the other way.
TEST(Impact, WithoutASolutionIsNotSolvedByAHugeImpulse) {
    const auto end = [](const char* eT) {
        return attempt(from_text(std::string(R"toml(
[system]
q = ["x"]
T = "x'^2/2"
[[contact]]
name = "c0"
gN = "x"
gammaT = "5*x'"
mu = 0.5
eN = 0.8
eT = )toml") + eT + R"toml(
[initial]
u = { x = -1 }
)toml"),
                       0.2);
    };
    for (const char* const eT : {"0.7", "0.79", "0.799", "0.7999"}) {
        const Trajectory motion = end(eT);
        EXPECT_EQ(motion.status, Status::failed) << eT;
        EXPECT_NE(motion.reason.find("no outcome"), std::string::npos) << motion.reason;
    }
    for (const char* const eT : {"0.8", "0.81", "0.9"}) {
        const Trajectory motion = end(eT);
        EXPECT_EQ(motion.status, Status::completed) << eT << motion.reason;
        ASSERT_FALSE(motion.events.empty());
        EXPECT_NEAR(motion.events[0].u_plus[0], 0.8, 1e-9) << eT;
    }
}

}  // namespace
}  // namespace saltus::painleve_test
