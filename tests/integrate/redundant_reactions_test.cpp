// SPDX-License-Identifier: Apache-2.0
// Reactions of redundant equations: their distribution, and the time at which a group of contacts comes loose.
#include "saltus/integrate/mode/redundant_reactions.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

#include "integrate/small_models.hpp"
#include "saltus/integrate/simulate.hpp"
#include "saltus/model/model.hpp"

namespace saltus::integrate::redundant_reactions_test {
namespace {

using test::model_of;
using trajectory::EventKind;

/// Two equal rows: K λ = r says λ_0 + λ_1 = r_0 = r_1.
RedundantReactions two_equal_rows() {
    RedundantReactions reactions;
    reactions.factorise(Matrix::Ones(2, 2), 1e-14);
    return reactions;
}

TEST(RedundantReactions, HaveTheLeastNormFirst) {
    const RedundantReactions reactions = two_equal_rows();
    const double right[] = {3.0, 3.0};
    double lambda[2];
    EXPECT_NEAR(reactions.solve(right, lambda), 0.0, 1e-15);
    EXPECT_NEAR(lambda[0], 1.5, 1e-15);
    EXPECT_NEAR(lambda[1], 1.5, 1e-15);
}

TEST(RedundantReactions, MeasureEquationsThatContradictEachOther) {
    const RedundantReactions reactions = two_equal_rows();
    const double right[] = {3.0, 3.5};
    double lambda[2];
    EXPECT_NEAR(reactions.solve(right, lambda), 0.25, 1e-15);
}

TEST(RedundantReactions, StayIfTheirMarginIsComfortable) {
    const RedundantReactions reactions = two_equal_rows();
    const ReactionMargin margins[] = {{0.0, {{0, 1.0}}}, {0.0, {{1, 1.0}}}};
    double lambda[] = {1.0, 2.0};
    const auto centre = reactions.centre(margins, 0.5, lambda);
    EXPECT_DOUBLE_EQ(centre.margin, 1.0);
    EXPECT_TRUE(centre.weights.empty());
    EXPECT_DOUBLE_EQ(lambda[0], 1.0);
}

TEST(RedundantReactions, FindTheLargestMargin) {
    // margins λ_0 − 1, 4 − λ_0 and λ_1 with λ_0 + λ_1 = 3: the least of λ_0 − 1, 4 − λ_0 and 3 − λ_0 is largest, 1, at
    // λ_0 = 2, where the first and the last are equal.
    const RedundantReactions reactions = two_equal_rows();
    const ReactionMargin margins[] = {{-1.0, {{0, 1.0}}}, {4.0, {{0, -1.0}}}, {0.0, {{1, 1.0}}}};
    double lambda[] = {0.0, 3.0};
    const auto centre = reactions.centre(margins, 10.0, lambda);
    EXPECT_NEAR(centre.margin, 1.0, 1e-9);
    EXPECT_NEAR(lambda[0], 2.0, 1e-9);
    EXPECT_NEAR(lambda[1], 1.0, 1e-9);
    ASSERT_EQ(centre.weights.size(), 3u);
    EXPECT_NEAR(centre.weights[0], 0.5, 1e-9);
    EXPECT_NEAR(centre.weights[1], 0.0, 1e-9);
    EXPECT_NEAR(centre.weights[2], 0.5, 1e-9);
}

/// A block of weight 10 on feet with the given friction coefficients, all at one place, pulled by the force t.
std::string pulled_block(const std::string& more, std::initializer_list<double> mu) {
    std::string text = "[system]\nq = [\"x\", \"y\"]\nT = \"(x'^2 + y'^2)/2\"\nU = \"10*y\"\nf = { x = \"t\" }\n";
    int number = 0;
    for (const double m : mu)
        text += "[[contact]]\nname = \"foot" + std::to_string(number++) +
                "\"\ngN = \"y\"\ngammaT = \"x'\"\nmu = " + std::to_string(m) + "\n";
    return text + more;
}

trajectory::Trajectory motion_of(const std::string& text, double t_end) {
    Options options;
    options.t_end = t_end;
    trajectory::Trajectory motion = simulate(model_of(text), EventDriven{}, options);
    EXPECT_EQ(motion.status, trajectory::Status::completed) << motion.reason;
    return motion;
}

double first(const trajectory::Trajectory& motion, EventKind kind) {
    const auto found = std::find_if(motion.events.begin(), motion.events.end(),
                                    [&](const trajectory::Event& e) { return e.kind == kind; });
    return found == motion.events.end() ? std::nan("") : found->t;
}

bool says_not_unique(const trajectory::Trajectory& motion) {
    return std::any_of(motion.warnings.begin(), motion.warnings.end(),
                       [](const std::string& w) { return w.find("the motion is not unique") != std::string::npos; });
}

TEST(RedundantGroups, OfEqualFeetSlideWhenFrictionIsUsedUp) {
    // 0.4·10 = 4, then ẍ = t − 4.
    for (const auto& mu : {std::initializer_list<double>{0.4, 0.4}, {0.4, 0.4, 0.4}}) {
        const auto motion = motion_of(pulled_block("", mu), 7.0);
        EXPECT_NEAR(first(motion, EventKind::slip), 4.0, 1e-8);
        EXPECT_NEAR(motion.end.u[0], 4.5, 1e-8);
        EXPECT_NEAR(motion.end.q[0], 4.5, 1e-8);
        EXPECT_TRUE(motion.events_certain);
        EXPECT_LT(motion.energy.balance_error, 1e-8);
        EXPECT_FALSE(says_not_unique(motion));
    }
}

TEST(RedundantGroups, HoldAsLongAsSomeDistributionOfTheLoadDoes) {
    // The foot with the larger coefficient can carry the whole load: 0.6·10 = 6. With the whole load on the other foot
    // the block would slip at t = 2.
    const auto motion = motion_of(pulled_block("", {0.2, 0.6}), 8.0);
    EXPECT_NEAR(first(motion, EventKind::slip), 6.0, 1e-8);
    EXPECT_TRUE(says_not_unique(motion));
}

TEST(RedundantGroups, LetGoIntoAMotionInWhichFrictionOpposesSlip) {
    // The slider acts along (-0.1, 1). It holds best if it presses the foot down with its bound 2, although it then
    // pushes along the pull: 0.5·12 − 0.2 = 5.8. As soon as the block slips, the slider opposes its slip and lifts the
    // foot: ẍ = t − 0.5·8 − 0.2.
    const auto motion = motion_of(
        pulled_block("[[slider]]\nname = \"brace\"\ngammaT = \"-0.1*x' + y'\"\nmu = 1.0\nFN = 2\n", {0.5}), 6.8);
    EXPECT_NEAR(first(motion, EventKind::slip), 5.8, 1e-7);
    EXPECT_EQ(motion.events.size(), 1U);
    EXPECT_NEAR(motion.end.u[0], (6.8 * 6.8 - 5.8 * 5.8) / 2.0 - 4.2, 1e-6);
    EXPECT_TRUE(says_not_unique(motion));
}

TEST(RedundantGroups, LetOnlyThosePartsSlipThatMove) {
    // The slider presses the foot down with 0.1·20 = 2 at most, so that friction holds 0.5·12. It does not move itself.
    // Afterwards the loads are those of least norm: N + 0.1 T = 10 gives N = 10/1.01.
    const auto motion =
        motion_of(pulled_block("[[slider]]\nname = \"press\"\ngammaT = \"0.1*y'\"\nmu = 1.0\nFN = 20\n", {0.5}), 7.0);
    ASSERT_EQ(motion.events.size(), 1U);
    EXPECT_EQ(motion.events[0].kind, EventKind::slip);
    EXPECT_EQ(motion.events[0].elements, std::vector<int>{0});
    EXPECT_NEAR(motion.events[0].t, 6.0, 1e-7);
    EXPECT_NEAR(motion.end.u[0], 6.5 - 5.0 / 1.01, 1e-6);
    EXPECT_TRUE(says_not_unique(motion));
}

TEST(RedundantGroups, OfFeetWithDifferentFactorsSlipBothWays) {
    // Both feet slip with the same body. They let go at nearly the same acceleration, which is small: it must not be
    // said of one that it slips and of the other that it holds.
    const auto motion = motion_of(R"toml(
[system]
q = ["x", "y"]
T = "(x'*x' + y'*y')/2"
U = "8*y"
f = { x = "7*sin(6*t)" }
[[contact]]
name = "a"
gN = "y"
gammaT = "0.8*x'"
mu = 0.9
[[contact]]
name = "b"
gN = "y"
gammaT = "0.5*x'"
mu = 0.836
)toml",
                                  2.592);
    EXPECT_GT(motion.right(0.3).u[0], 0.1);
    EXPECT_LT(motion.right(0.9).u[0], -0.1);
    EXPECT_GT(motion.right(1.35).u[0], 0.1);
}

TEST(RedundantGroups, StartInTheDirectionThatSlidingFrictionAllows) {
    // Friction that holds is larger than friction that slides. With the first one the slider would start one way, with
    // the second one it starts the other way.
    const auto motion = motion_of(R"toml(
[system]
q = ["x", "y", "z"]
T = "(0.577*x'*x' + 0.577*y'*y' + z'*z')/2"
U = "8*z"
f = { x = 7, y = 8 }
[[contact]]
name = "foot"
gN = "z"
gammaT = "0.6*x'"
mu = 0.6
mu_static = 0.865
[[slider]]
name = "guide"
gammaT = "-0.331*x' + 0.153*y' + 0.923*z'"
mu = 0.543
mu_static = 0.591
FN = 4
)toml",
                                  0.0159);
    EXPECT_TRUE(motion.events.empty());
    const double slip = -0.331 * motion.end.u[0] + 0.153 * motion.end.u[1];
    EXPECT_NEAR(motion.forces[1].T[0], slip > 0.0 ? -2.172 : 2.172, 1e-9);
}

TEST(RedundantGroups, ThatComeToRestStayIfTheyCanHold) {
    // Friction of the second foot counts twice: with the loads 5 and 5 it is 0.2·5 + 2·0.3·5 = 4, so that
    // ẋ = 0.2 + t − t² becomes 0 at t = (1 + √1.8)/2. The force is 5 − 2t = 2.66 there. The contact problem also has a
    // solution that slips on: with the whole load on the first foot friction is only 2.
    const std::string text = R"toml(
[system]
q = ["x", "y"]
T = "(x'^2 + y'^2)/2"
U = "10*y"
f = { x = "5 - 2*t" }
[[contact]]
name = "a"
gN = "y"
gammaT = "x'"
mu = 0.2
[[contact]]
name = "b"
gN = "y"
gammaT = "2*x'"
mu = 0.3
[initial]
u = { x = 0.2 }
)toml";
    const auto motion = motion_of(text, 2.0);
    const double t = (1.0 + std::sqrt(1.8)) / 2.0;
    ASSERT_EQ(motion.events.size(), 1U);
    EXPECT_EQ(motion.events[0].kind, EventKind::stick);
    EXPECT_NEAR(motion.events[0].t, t, 1e-9);
    EXPECT_NEAR(motion.end.q[0], 0.2 * t + t * t / 2.0 - t * t * t / 3.0, 1e-9);
    EXPECT_NEAR(motion.end.u[0], 0.0, 1e-12);
}

TEST(RedundantGroups, ReportTheForcesThatTheMotionHas) {
    // Sliding feet with different coefficients: the motion has the load distribution of least norm, 5 and 5.
    const std::string text = pulled_block("[initial]\nu = { x = 50 }\n", {0.05, 0.4});
    const auto motion = motion_of(text, 1.0);
    ASSERT_EQ(motion.forces.size(), 2U);
    for (const int foot : {0, 1}) EXPECT_NEAR(motion.forces[static_cast<std::size_t>(foot)].N, 5.0, 1e-9);
    EXPECT_NEAR(motion.forces[0].T[0], -0.25, 1e-9);
    EXPECT_NEAR(motion.forces[1].T[0], -2.0, 1e-9);
    EXPECT_NEAR(motion.end.u[0], 50.0 + 0.5 - 2.25, 1e-7);
}

TEST(RedundantGroups, OfAFootAndASliderHoldTogether) {
    // 0.3·10 + 1.5 = 4.5.
    const auto motion =
        motion_of(pulled_block("[[slider]]\nname = \"guide\"\ngammaT = \"x'\"\nmu = 1.0\nFN = 1.5\n", {0.3}), 6.5);
    EXPECT_NEAR(first(motion, EventKind::slip), 4.5, 1e-8);
    EXPECT_NEAR(motion.end.u[0], 2.0, 1e-8);
}

// The first foot can carry the whole load, with 0.321·0.669 of it along x. The oblique slider opposes the pull and
// lifts the feet; its normal force depends on the time, so that the release is searched for, and the accelerations
// there are as small as the errors of the solver. Every part moves with the block.
TEST(RedundantGroups, WithAnEllipseAndStaticFrictionLetGoOnceAndAltogether) {
    const auto motion = motion_of(R"toml(
[system]
q = ["x", "y"]
T = "1.51*(x'^2 + y'^2)/2"
U = "10*y"
f = { x = "7.603*t" }
[[contact]]
name = "foot0"
gN = "y"
gammaT = "0.321*x'"
mu = 0.4
mu_static = 0.669
[[contact]]
name = "foot1"
gN = "y"
gammaT = "x'"
mu = 0.171
[[slider]]
name = "oblique"
gammaT = "0.8*y' - 0.8*x'"
mu = 0.478
mu_static = 0.512
FN = "3 + 0.2*cos(4*t)"
[[slider]]
name = "ellipse"
gammaT = ["x'", "y'"]
mu = [0.793, 0.106]
FN = 3.172
)toml",
                                  1.0);
    const auto excess = [](double t) {
        const double share = 0.321 * 0.669, oblique = 0.8 * 0.512 * (3.0 + 0.2 * std::cos(4.0 * t));
        return 7.603 * t - oblique - share * (10.0 - oblique) - 3.172 * std::hypot(0.793, share * 0.106);
    };
    const double release = first(motion, EventKind::slip);
    EXPECT_NEAR(excess(release), 0.0, 1e-7);
    std::set<int> slipping;
    for (const trajectory::Event& e : motion.events) {
        EXPECT_EQ(e.kind, EventKind::slip) << e.t;
        EXPECT_EQ(e.t, release);
        slipping.insert(e.elements.begin(), e.elements.end());
    }
    EXPECT_EQ(slipping.size(), 4U);
}

TEST(RedundantGroups, LetABarTipOverItsEdge) {
    // A bar on three feet at −1, 0 and 1 with the weight 10 and a growing torque t: it tips at t = 10, when the last
    // foot carries everything. Rotation about that foot with the inertia 0.5 + 1: φ̈ = (t − 10)/1.5 at first.
    std::string text = "[system]\nq = [\"y\", \"p\"]\nT = \"y'^2/2 + 0.5*p'^2/2\"\nU = \"10*y\"\nf = { p = \"t\" }\n";
    for (const int place : {-1, 0, 1})
        text += "[[contact]]\nname = \"at" + std::to_string(place + 1) + "\"\ngN = \"y - " + std::to_string(place) +
                "*p\"\n";
    const auto motion = motion_of(text, 10.5);
    EXPECT_NEAR(first(motion, EventKind::lift_off), 10.0, 1e-8);
    EXPECT_NEAR(motion.end.u[1], 0.5 * 0.25 / 1.5, 1e-8);
    EXPECT_TRUE(motion.events_certain);
}

TEST(RedundantGroups, InAPlaneHoldUntilTheFrictionDiskIsUsedUp) {
    // Two equal feet with friction in a plane, pulled by (0.6, 0.8) t: they hold to t = 4.
    std::string text =
        "[system]\nq = [\"x\", \"z\", \"y\"]\nT = \"(x'^2 + y'^2 + z'^2)/2\"\nU = \"10*y\"\n"
        "f = { x = \"0.6*t\", z = \"0.8*t\" }\n";
    for (const char* name : {"a", "b"})
        text += "[[contact]]\nname = \"" + std::string(name) + "\"\ngN = \"y\"\ngammaT = [\"x'\", \"z'\"]\nmu = 0.4\n";
    const auto motion = motion_of(text, 3.9);
    EXPECT_TRUE(motion.events.empty());
    EXPECT_NEAR(motion.end.u[0], 0.0, 1e-12);
    const auto later = motion_of(text, 7.0);
    EXPECT_NEAR(first(later, EventKind::slip), 4.0, 1e-6);
    EXPECT_NEAR(std::hypot(later.end.u[0], later.end.u[1]), 4.5, 1e-5);
}

TEST(RedundantGroups, HoldAlthoughTheContactProblemAlsoHasASolutionThatMoves) {
    // A foot with friction along x alone, one in the plane, and two sliders. Reactions that hold exist up to the pull
    // in y at which the foot in the plane carries all of the weight that the other one does not need.
    const auto motion = motion_of(R"toml(
[system]
q = ["x", "y", "z"]
T = "(x'^2 + y'^2 + z'^2)/2"
U = "10*z"
f = { x = 1.5, y = "t" }
[[contact]]
name = "rail"
gN = "z"
gammaT = "x'"
mu = 0.6
[[contact]]
name = "foot"
gN = "z"
gammaT = ["x'", "y'"]
mu = 0.8
[[slider]]
name = "pad"
gammaT = "y'"
mu = 1
FN = 2
)toml",
                                  10.0);
    // With N on the foot and 10 − N on the rail, y holds up to 2 + sqrt((0.8 N)² − (1.5 − 0.6 (10 − N))²) if the rail
    // is exhausted, or to 2 + 0.8 N if the rail alone holds x: N <= 7.5. The first is the larger one.
    double largest = 0.0;
    for (double N = 7.5; N <= 10.0; N += 1e-5)
        largest = std::max(largest, 2.0 + std::sqrt(0.64 * N * N - std::pow(1.5 - 0.6 * (10.0 - N), 2)));
    EXPECT_NEAR(first(motion, EventKind::slip), largest, 1e-4);
    EXPECT_GT(motion.end.u[1], 0.0);
}

TEST(RedundantGroups, RefuseADistributionThatMovesTheBodyAndViolatesALaw) {
    // The slider acts along the normal of the sliding foot. It sticks with at most 0.5, but the reactions of least norm
    // give it more, and the friction of the foot depends on it.
    Options options;
    options.t_end = 0.1;
    const auto motion = simulate(model_of(R"toml(
[system]
q = ["x", "y"]
T = "(x'^2 + y'^2)/2"
U = "10*y"
[[contact]]
name = "foot"
gN = "y"
gammaT = "x'"
mu = 0.3
[[slider]]
name = "pad"
gammaT = "y'"
mu = 0.5
FN = 1
[initial]
u = { x = 1 }
)toml"),
                                 EventDriven{}, options);
    EXPECT_EQ(motion.status, trajectory::Status::failed);
    EXPECT_NE(motion.reason.find("the motion is not unique"), std::string::npos) << motion.reason;
}

}  // namespace
}  // namespace saltus::integrate::redundant_reactions_test
