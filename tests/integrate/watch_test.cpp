// SPDX-License-Identifier: Apache-2.0
#include "saltus/integrate/event/watch.hpp"

#include <gtest/gtest.h>

#include "integrate/small_models.hpp"

namespace saltus::integrate::watch_test {

namespace {

using namespace test;
using What = Watch::What;

/// A step over [0, 1] that is linear between two states. Its velocities need not be the rates of its positions.
ode::Dense straight(const std::vector<double>& from, const std::vector<double>& to, double t_old = 0.0) {
    ode::Dense step;
    step.reset(t_old, t_old + 1.0, static_cast<int>(from.size()), 2);
    std::copy(from.begin(), from.end(), step.term(0).begin());
    std::copy(to.begin(), to.end(), step.term(1).begin());
    return step;
}

/// The events on a straight step in a mode.
struct Watched {
    const model::Model model;
    Dynamics d;
    Watcher watcher;

    explicit Watched(model::Model m, bool compliant = false)
        : model(std::move(m)), d(model, compliant, 1.0), watcher(d) {}

    std::vector<Found> search(const SystemMode& mode, const std::vector<double>& from, const std::vector<double>& to) {
        d.set_mode(mode, 0.0, from.data());
        watcher.begin(0.0, from.data());
        return watcher.search(straight(from, to));
    }
    const Watch& watch(const Found& f) const { return watcher.watches()[static_cast<std::size_t>(f.watch)]; }
    void expect_one(const std::vector<Found>& found, What what, double t, double accuracy = 1e-12) const {
        ASSERT_EQ(found.size(), 1U);
        EXPECT_EQ(watch(found[0]).what, what);
        EXPECT_NEAR(found[0].t, t, accuracy);
        EXPECT_LE(found[0].left, found[0].t);
        EXPECT_GE(found[0].right, found[0].t);
        EXPECT_FALSE(watcher.unresolved);
    }
};

TEST(Watcher, FindsWhereAGapCloses) {
    Watched w(block_on_floor(0.3));
    w.expect_one(w.search(w.d.mode(), state({0, 1}, {0, -4}), state({0, -3}, {0, -4})), What::gap, 0.25);
}

TEST(Watcher, IgnoresAGapThatOpens) {
    Watched w(block_on_floor(0.3));
    EXPECT_TRUE(w.search(w.d.mode(), state({0, -1}, {0, 4}), state({0, 3}, {0, 4})).empty());
}

TEST(Watcher, IgnoresTheZeroThatAGapStartsWith) {
    Watched w(block_on_floor(0.3));
    const auto rest = state({0, 0}, {0, 1}), up = state({0, 1}, {0, 1}), down = state({0, -1}, {0, -1});
    EXPECT_TRUE(w.search(w.d.mode(), rest, up).empty());
    const std::vector<Found> found = w.watcher.search(straight(up, down, 1.0));
    w.expect_one(found, What::gap, 1.5);
}

TEST(Watcher, FindsAGapThatStartsBelowZeroAndSinksOnASampledStep) {
    Watched w(block_on_floor(0.3));
    constexpr double depth = 100.0 * Thresholds::position_leave;  // rounding errors of many impacts
    // It rises by less than rounding, and falls.
    const auto start = state({0, -depth}, {0, 1e-10}), down = state({0, -1}, {0, -1});
    w.expect_one(w.search(w.d.mode(), start, down), What::gap, 0.0);
    EXPECT_TRUE(w.search(w.d.mode(), start, state({0, 1}, {0, 1})).empty());
}

/// The flight of the block as a series.
struct Flight : Watched {
    ModeSeries series;

    explicit Flight(const std::vector<double>& from) : Watched(block_on_floor(0.3)), series(d) {
        d.set_mode(d.mode(), 0.0, from.data());
        watcher.begin(0.0, from.data());
        const std::vector<char> gaps(static_cast<std::size_t>(model.layout().positions()), 1);
        EXPECT_TRUE(series.begin_mode(gaps));
        EXPECT_TRUE(series.expand(0.0, from.data(), 6));
    }
    std::vector<Found> search(double h) { return watcher.search(series, h, Watcher::Touches::report); }
};

TEST(Watcher, EstimatesTheFirstEventFromTheFirstTermsOfASeries) {
    Flight falls(state({0, 1}, {0, -4}));
    const std::vector<Found> found = falls.search(1.0);
    falls.expect_one(found, What::gap, falls.watcher.estimate(falls.series));
    Flight bounces(state({0, 0}, {0, 2}));  // the zero at the start does not count
    bounces.expect_one(bounces.search(1.0), What::gap, bounces.watcher.estimate(bounces.series));
}

TEST(Watcher, FindsNoZeroOfAGapThatAnEventBeforeHasLeftBelowZeroAlsoAfterASearchThatIsTakenBack) {
    Flight w(state({0, -1e-14}, {0, 0.1}));
    w.watcher.remember_zeros();
    EXPECT_TRUE(w.search(1e-3).empty());
    w.watcher.restore_zeros();
    EXPECT_TRUE(w.search(1e-2).empty());
}

TEST(Watcher, FindsWhereAPressedSpringIsLeft) {
    Watched w(model_of("[system]\nq = [\"y\"]\nT = \"y'^2/2\"\n[[contact]]\nname = \"floor\"\ngN = \"y\"\n[penalty]\n"
                       "k = 100\n"),
              true);
    w.expect_one(w.search(with_active(w.d, 0), state({-1}, {0}), state({3}, {0})), What::depth, 0.25);
}

TEST(Watcher, FindsWhereADampedSpringBeginsToPullAndToPushAgain) {
    Watched w(model_of("[system]\nq = [\"y\"]\nT = \"y'^2/2\"\n[[contact]]\nname = \"floor\"\ngN = \"y\"\n[penalty]\n"
                       "k = 100\nd = 10\n"),
              true);
    // 100·1 − 10·u comes to zero at u = 10.
    w.expect_one(w.search(with_active(w.d, 0), state({-1}, {0}), state({-1}, {40})), What::spring, 0.25);
    SystemMode mode = with_active(w.d, 0);
    mode.elements[0].pulls = true;
    w.expect_one(w.search(mode, state({-1}, {40}), state({-1}, {0})), What::spring, 0.75);
}

TEST(Watcher, FindsWhereAContactForceVanishes) {
    Watched w(block_on_floor(0.0, "0", "40*t"));  // λ_N = 10 − 40 t
    const auto rest = state({0, 0}, {0, 0});
    w.expect_one(w.search(with_active(w.d, 0), rest, rest), What::force, 0.25);
}

TEST(Watcher, FindsWhereSlipComesToZeroInEitherDirection) {
    Watched w(block_on_floor(0.3));
    w.expect_one(w.search(with_slip(w.d, 0, {1.0}), state({0, 0}, {1, 0}), state({0, 0}, {-3, 0})), What::slip, 0.25);
    w.expect_one(w.search(with_slip(w.d, 0, {-1.0}), state({0, 0}, {-1, 0}), state({0, 0}, {3, 0})), What::slip, 0.25);
    EXPECT_TRUE(w.search(with_slip(w.d, 0, {1.0}), state({0, 0}, {1, 0}), state({0, 0}, {5, 0})).empty());
}

TEST(Watcher, FindsWhereStickingFrictionReachesItsBound) {
    Watched w(block_on_floor(0.3, "12*t"));  // |λ_T| = 12 t reaches 0.3·10
    const auto rest = state({0, 0}, {0, 0});
    w.expect_one(w.search(with_active(w.d, 0), rest, rest), What::reserve, 0.25);
}

TEST(Watcher, FindsWhereTheReactionOfARoughRailChangesItsSign) {
    Watched w(block_on_rail(0.2, "4*t - 1"));  // ν = 1 − 4 t
    const auto moving = state({0, 0}, {1, 0});
    w.expect_one(w.search(with_slip(w.d, 0, {1.0}), moving, moving), What::reaction, 0.25);
    Watched below(block_on_rail(0.2, "1 - 4*t"));
    SystemMode mode = with_slip(below.d, 0, {1.0});
    mode.elements[0].reaction_sign = -1.0;
    below.expect_one(below.search(mode, moving, moving), What::reaction, 0.25);
}

TEST(Watcher, FindsWhereAFreeClutchStops) {
    Watched w(two_clutches());
    const std::vector<Found> found = w.search(w.d.mode(), state({0, 0}, {1, 5}), state({0, 0}, {-3, 4}));
    w.expect_one(found, What::clutch, 0.25);
    EXPECT_EQ(w.watch(found[0]).element, 0);
}

TEST(Watcher, FindsWhereContactsThatShareALoadCannotHoldItTogether) {
    Watched w(
        model_of("[system]\nq = [\"y\"]\nT = \"y'^2/2\"\nf = { y = \"4*t - 1\" }\n[[contact]]\nname = \"a\"\n"
                 "gN = \"y\"\n[[contact]]\nname = \"b\"\ngN = \"2*y\"\n"));
    SystemMode mode = w.d.mode();
    for (ElementMode& e : mode.elements) e.active = true;
    const auto rest = state({0}, {0});
    w.expect_one(w.search(mode, rest, rest), What::hold, 0.25, 1e-8);
}

TEST(Watcher, ReturnsAllZerosAtTheSameTimeAndNoLaterOne) {
    Watched w(two_balls());
    const auto high = state({1, 2}, {0, 0});
    const std::vector<Found> both = w.search(w.d.mode(), high, state({-3, -6}, {0, 0}));
    ASSERT_EQ(both.size(), 2U);
    EXPECT_NE(w.watch(both[0]).element, w.watch(both[1]).element);
    EXPECT_NEAR(both[0].t, 0.25, 1e-12);
    EXPECT_NEAR(both[1].t, 0.25, 1e-12);
    const std::vector<Found> first = w.search(w.d.mode(), high, state({-1, -6}, {0, 0}));
    w.expect_one(first, What::gap, 0.25);
    EXPECT_EQ(w.watch(first[0]).element, 1) << "the other closes at 0.5";
}

TEST(Watcher, FindsSlipThatGoesAgainstItsDirectionFromTheStart) {
    Watched w(block_on_floor(0.3));
    const std::vector<Found> found = w.search(with_slip(w.d, 0, {1.0}), state({0, 0}, {0, 0}), state({0, 0}, {-1, 0}));
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(w.watch(found[0]).what, What::slip);
    EXPECT_LT(found[0].t, 1e-2);
}

TEST(Watcher, NamesForcesThatTheModeMayNotHave) {
    Watched w(block_on_floor(0.0, "0", "30"));  // a closed contact would have to pull
    const auto rest = state({0, 0}, {0, 0});
    w.d.set_mode(with_active(w.d, 0), 0.0, rest.data());
    w.watcher.begin(0.0, rest.data());
    ASSERT_FALSE(w.watcher.violated().empty());
    EXPECT_EQ(w.watch(w.watcher.violated()[0]).what, What::force);
}

}  // namespace

}  // namespace saltus::integrate::watch_test
