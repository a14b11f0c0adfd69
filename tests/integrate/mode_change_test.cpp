// SPDX-License-Identifier: Apache-2.0
#include "saltus/integrate/mode/detail/mode_change.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "integrate/small_models.hpp"

namespace saltus::integrate::mode_change_test {

namespace {

using namespace test;

/// A model at a state whose contacts are all closed, and no event.
struct Closed {
    const model::Model model;
    Dynamics d;
    ModeChange change;
    Candidates candidates;

    explicit Closed(model::Model m)
        : model(std::move(m)), d(model, false, 1.0), change(d, 1e-10), candidates(no_candidates(d)) {
        candidates.closed.assign(candidates.closed.size(), 1);
    }
    SystemMode choose(const std::vector<double>& x) {
        const Choice choice = change.choose(0.0, x.data(), candidates, d.mode());
        EXPECT_TRUE(choice.solved) << choice.note;
        return choice.mode;
    }
};

TEST(ModeChange, ABlockOnAnInclineSticksBelowTheAngleOfFriction) {
    for (const double mu : {0.1, 0.3, 0.5, 0.7})
        for (const double slope : {-0.6, -0.4, -0.2, 0.0, 0.2, 0.4, 0.6}) {  // tan of the angle
            const double angle = std::atan(slope);
            Closed at(
                block_on_floor(mu, number_text(10.0 * std::sin(angle)), number_text(10.0 - 10.0 * std::cos(angle))));
            const SystemMode mode = at.choose(state({0, 0}, {0, 0}));
            EXPECT_TRUE(mode.elements[0].active);
            EXPECT_EQ(mode.parts[0].slips, std::abs(slope) > mu) << mu << " " << slope;
            if (mode.parts[0].slips) {
                EXPECT_EQ(mode.parts[0].direction[0], slope > 0.0 ? 1.0 : -1.0);
            }
        }
}

TEST(ModeChange, ABlockThatMovesSlipsAlongItsVelocity) {
    Closed at(block_on_floor(0.3));
    for (const double u : {2.0, -0.01}) {
        const SystemMode mode = at.choose(state({0, 0}, {u, 0}));
        EXPECT_TRUE(mode.parts[0].slips);
        EXPECT_EQ(mode.parts[0].direction[0], u > 0.0 ? 1.0 : -1.0);
    }
}

TEST(ModeChange, ABlockWhoseSlipHasComeToZeroSticksIfFrictionCanHoldIt) {
    for (const double push : {1.0, 5.0}) {
        Closed at(block_on_floor(0.3, number_text(push)));
        at.candidates.friction[0] = FrictionEvent::at_rest;
        const SystemMode mode = at.choose(state({0, 0}, {-1e-7, 0}));
        EXPECT_EQ(mode.parts[0].slips, push > 3.0);
        if (mode.parts[0].slips) {
            EXPECT_EQ(mode.parts[0].direction[0], 1.0) << "it turns round";
        }
    }
}

TEST(ModeChange, ABlockThatBreaksLooseSlipsAlongTheGivenDirection) {
    Closed at(block_on_floor(0.3, "3"));  // at the boundary of stick
    at.candidates.friction[0] = FrictionEvent::breaks_loose;
    SystemMode before = with_active(at.d, 0);
    before.parts[0].direction[0] = 1.0;
    const auto rest = state({0, 0}, {0, 0});
    const Choice choice = at.change.choose(0.0, rest.data(), at.candidates, before);
    ASSERT_TRUE(choice.solved);
    EXPECT_TRUE(choice.mode.parts[0].slips);
    EXPECT_EQ(choice.mode.parts[0].direction[0], 1.0);
}

TEST(ModeChange, BreakingLooseGoesAgainstTheForceThatHeld) {
    for (const double push : {2.0, -2.0}) {
        const model::Model m = block_on_floor(0.3, number_text(push));
        Dynamics d(m, false, 1.0);
        const auto rest = state({0, 0}, {0, 0});
        d.set_mode(with_active(d, 0), 0.0, rest.data());
        ASSERT_TRUE(d.evaluate(0.0, rest.data()));
        EXPECT_EQ(break_loose(d, 0)[0], push > 0.0 ? 1.0 : -1.0);
    }
}

TEST(ModeChange, AContactOpensIfItWouldHaveToPull) {
    for (const double lift : {9.0, 11.0}) {
        Closed at(block_on_floor(0.3, "0", number_text(lift)));
        EXPECT_EQ(at.choose(state({0, 0}, {0, 0})).elements[0].active, lift < 10.0);
    }
}

TEST(ModeChange, AContactThatHasLostItsForceOpens) {
    Closed at(block_on_floor(0.3, "0", "10"));
    at.candidates.released[0] = 1;
    EXPECT_FALSE(at.choose(state({0, 0}, {0, 0})).elements[0].active);
    at.candidates.released[0] = 0;
    EXPECT_TRUE(at.choose(state({0, 0}, {0, 0})).elements[0].active) << "at rest without a force it stays closed";
}

TEST(ModeChange, ABarOnTwoSupportsTipsIfTheMomentIsTooLarge) {
    // Forces λ = (10 ± moment)/2 at the ends of the arms of 1 m.
    for (const double moment : {-12.0, -9.0, 0.0, 9.0, 12.0}) {
        Closed at(model_of("[system]\nq = [\"y\", \"a\"]\nT = \"(y'^2 + a'^2)/2\"\nU = \"10*y\"\nf = { a = \"" +
                           number_text(moment) +
                           "\" }\n[[contact]]\nname = \"right\"\ngN = \"y + a\"\n[[contact]]\nname = \"left\"\n"
                           "gN = \"y - a\"\n"));
        const SystemMode mode = at.choose(state({0, 0}, {0, 0}));
        EXPECT_EQ(mode.elements[0].active, moment < 10.0) << moment;
        EXPECT_EQ(mode.elements[1].active, moment > -10.0) << moment;
    }
}

TEST(ModeChange, ARoughRailGetsTheSignOfItsReaction) {
    for (const double across : {7.0, -7.0})
        for (const double guess : {1.0, -1.0}) {
            Closed at(block_on_rail(0.2, number_text(across)));
            SystemMode before = at.d.mode();
            before.elements[0].reaction_sign = guess;
            const auto moving = state({0, 0}, {1, 0});
            const Choice choice = at.change.choose(0.0, moving.data(), at.candidates, before);
            ASSERT_TRUE(choice.solved);
            EXPECT_EQ(choice.mode.elements[0].reaction_sign, across > 0.0 ? -1.0 : 1.0);
        }
}

TEST(ModeChange, DoesNotChangeTheModeOfTheDynamics) {
    Closed at(block_on_floor(0.3, "5"));
    const SystemMode before = at.d.mode();
    EXPECT_NE(at.choose(state({0, 0}, {1, 0})), before);
    EXPECT_EQ(at.d.mode(), before);
}

TEST(ModeChange, ABallBouncesByNewtonsLaw) {
    for (const double e : {0.0, 0.4, 1.0}) {
        Closed at(two_balls(e));
        at.candidates.closed[1] = 0;
        auto x = state({0, 1}, {-3, -5});
        const Strike s = at.change.strike(0.0, x.data(), at.candidates);
        ASSERT_TRUE(s.happened);
        EXPECT_NEAR(x[2], 3.0 * e, 1e-12);
        EXPECT_EQ(x[3], -5.0) << "the other ball is in the air";
        EXPECT_EQ(s.elements, std::vector<int>{0});
        ASSERT_EQ(s.impulses.size(), 1U);
        EXPECT_NEAR(s.impulses[0].N, 3.0 * (1.0 + e), 1e-12);
        EXPECT_NEAR(s.work, -0.5 * 9.0 * (1.0 - e * e), 1e-11);
        EXPECT_NEAR(s.work_on_system, s.work, 1e-12) << "the floor does not move";
    }
}

TEST(ModeChange, AnImpactSlidesUnderCoulombsLaw) {
    Closed at(block_on_floor(0.2, "0", "0", 0.5));
    auto x = state({0, 0}, {4, -3});
    const Strike s = at.change.strike(0.0, x.data(), at.candidates);
    ASSERT_TRUE(s.happened);
    EXPECT_NEAR(x[2], 4.0 - 0.2 * 4.5, 1e-12);  // Λ_N = 1.5·3
    EXPECT_NEAR(x[3], 1.5, 1e-12);
    EXPECT_NEAR(s.impulses[0].T[0], -0.2 * 4.5, 1e-12);
}

TEST(ModeChange, AContactThatSeparatesDoesNotStrike) {
    Closed at(two_balls(0.5));
    auto x = state({0, 0}, {3, 0});
    const Strike s = at.change.strike(0.0, x.data(), at.candidates);
    EXPECT_FALSE(s.happened);
    EXPECT_FALSE(s.failed);
    EXPECT_EQ(x[2], 3.0);
}

TEST(ModeChange, AFreeClutchThatRunsBackwardsIsStopped) {
    Closed at(two_clutches());
    at.candidates.closed[1] = 0;
    auto x = state({0, 0}, {-2, 3});
    const Strike s = at.change.strike(0.0, x.data(), at.candidates);
    ASSERT_TRUE(s.happened);
    EXPECT_NEAR(x[2], 0.0, 1e-12);
    EXPECT_EQ(x[3], 3.0);
}

}  // namespace

}  // namespace saltus::integrate::mode_change_test
