// SPDX-License-Identifier: Apache-2.0
#include "saltus/stability/basin/basin.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <numbers>

#include "reference/reference.hpp"
#include "saltus/io/model/read_model.hpp"
#include "saltus/model/build.hpp"
#include "saltus/model/model.hpp"
#include "saltus/stability/basin/basin_capture.hpp"
#include "saltus/stability/certify/attractivity.hpp"

namespace saltus::stability::basin_test {
namespace {

using test::reference::entry;
using test::reference::Value;

constexpr double pi = std::numbers::pi;

model::Model shipped(const std::string& name) {
    return model::build(io::read_model(std::string(SALTUS_SOURCE_DIR) + "/models/" + name + ".toml"));
}

BasinOptions grid(const model::Model& m, std::vector<ensemble::Axis> axes, double t_max) {
    BasinOptions o;
    o.starts.axes = std::move(axes);
    for (const ensemble::Axis& a : o.starts.axes) {
        const bool velocity = a.name.back() == '\'';
        const std::string name = velocity ? a.name.substr(0, a.name.size() - 1) : a.name;
        for (int i = 0; i < m.size(); ++i)
            if (m.coordinates[static_cast<std::size_t>(i)] == name) o.components.push_back(velocity ? m.size() + i : i);
    }
    o.t_max = t_max;
    o.equilibria = equilibria(m);
    return o;
}

std::string text_of(const Basin& b, std::size_t motion) {
    return b.labels[static_cast<std::size_t>(b.label[motion])].text;
}

// --- starts

TEST(Admitter, PushesTheBarOutOfTheFloorAndKeepsHeldComponents) {
    const model::Model m = shipped("rocking-bar");
    const int held[] = {2, 5};  // phi, phi'
    Admitter admitter(m, held);
    std::vector<double> q{0.2, 0.06, 1.0}, u{0.0, 0.0, -3.0};
    EXPECT_EQ(admitter.admit(q, u), Admission::adjusted);
    EXPECT_NEAR(q[1], 0.5 * std::sin(1.0), 1e-14);
    EXPECT_EQ(q[0], 0.2);
    EXPECT_EQ(q[2], 1.0);
    EXPECT_EQ(u, (std::vector<double>{0.0, 0.0, -3.0}));  // into the floor: an impact
    q = {0.2, 2.0, 1.0};
    EXPECT_EQ(admitter.admit(q, u), Admission::admissible);
}

TEST(Admitter, MovesHeldComponentsOnlyIfTheOthersAreNotSufficient) {
    const model::Model m = shipped("falling-block");
    const int held[] = {1};
    Admitter admitter(m, held);
    std::vector<double> q{0.5, -0.3}, u{1.0, 0.0};
    EXPECT_EQ(admitter.admit(q, u), Admission::moved);
    EXPECT_NEAR(q[1], 0.0, 1e-15);
    EXPECT_EQ(q[0], 0.5);
}

TEST(Admitter, SolvesTheConstraintsOfTheBeamForTheOtherCoordinates) {
    const model::Model m = shipped("constrained-beam");
    const int held[] = {2, 5};
    Admitter admitter(m, held);
    std::vector<double> q = m.q0, u = m.u0;
    q[2] = -2.5, u[2] = 7.0;
    EXPECT_EQ(admitter.admit(q, u), Admission::adjusted);
    EXPECT_EQ(q[2], -2.5);
    EXPECT_EQ(u[2], 7.0);
    EXPECT_NEAR(q[0], -std::sin(-2.5), 1e-14);
    EXPECT_NEAR(q[1], -std::cos(-2.5), 1e-14);
    EXPECT_NEAR(u[0], -std::cos(-2.5) * 7.0, 1e-13);
    EXPECT_NEAR(u[1], std::sin(-2.5) * 7.0, 1e-13);
}

// --- Figure 10 of [Leine]

TEST(Basin, OfTheBeamEndsWhereTheReferenceSays) {
    const model::Model m = shipped("constrained-beam");
    BasinOptions o = grid(m, {{"theta", 0.0, 0.0, 1}, {"theta'", 1.0, 20.0, 20}}, 10.0);
    o.method = integrate::EventDriven{};
    const Basin b = basin(m, o);
    ASSERT_EQ(b.label.size(), 20U);
    for (const Value& row : entry("leine_beam_basin_paper_A")["outputs"]["grid"].items()) {
        const double omega = row["omega0"];
        if (omega != std::floor(omega)) continue;  // the starts are the whole numbers from 1 to 20
        const auto k = static_cast<std::size_t>(omega) - 1;
        EXPECT_EQ(text_of(b, k), row["ends_in"].text() + (row["k_pi"] == 2.0 ? ", theta +1*2*pi" : "")) << omega;
        EXPECT_NEAR(b.record.motion(k).q[2], row["theta_final"], 1e-9) << omega;
        EXPECT_NEAR(b.record.motion(k).t, row["t_stick"], 1e-8) << omega;
    }
    ASSERT_EQ(b.sets.size(), 2U);
    EXPECT_LT(b.sets[0].potential, b.sets[1].potential);
    // Time-stepping agrees but for its error of the order h.
    o.method = integrate::Moreau{};
    const Basin stepped = basin(m, o);
    EXPECT_EQ(stepped.label, b.label);
    for (std::size_t k = 0; k < 20; ++k)
        EXPECT_NEAR(stepped.record.motion(k).q[2], b.record.motion(k).q[2], 0.1) << k + 1;
}

TEST(Basin, FindsTheThickStableManifoldOfTheUnstableSet) {
    const model::Model m = shipped("constrained-beam");
    const auto thresholds = [&](double theta, double from, double to, long n, double length) {
        BasinOptions o = grid(m, {{"theta", theta, theta, 1}, {"theta'", from, to, n}}, 20.0);
        o.method = integrate::EventDriven{};
        o.boundary = length;
        const Basin b = basin(m, o);
        EXPECT_EQ(b.boundary.size(), 2U);
        std::vector<double> at;
        for (const BoundaryPoint& p : b.boundary) {
            EXPECT_LE(p.half_length, length);
            at.push_back(p.at[1]);
        }
        return at;
    };
    const Value expected = entry("leine_beam_basin_paper_A")["outputs"], at_zero = expected["thresholds_at_theta0"];
    const std::vector<double> first = thresholds(0.0, 11.0, 14.0, 4, 1e-9);
    EXPECT_NEAR(first[0], at_zero[0]["omega_low"], 3e-9);
    EXPECT_NEAR(first[1], at_zero[0]["omega_high"], 3e-9);
    const Value manifold = expected["thick_manifold_at_theta_pi_minus_1"];
    const std::vector<double> near = thresholds(pi - 1.0, 2.0, 4.0, 5, 1e-9);
    EXPECT_NEAR(near[0], manifold["omega_low"], 3e-9);
    EXPECT_NEAR(near[1], manifold["omega_high"], 3e-9);
    EXPECT_NEAR(near[1] - near[0], manifold["width"], 4e-9);
    const Value backwards = expected["thick_manifold_wraparound_negative_omega_at_pi_minus_1"];
    const std::vector<double> around = thresholds(pi - 1.0, -40.0, -30.0, 6, 1e-8);
    EXPECT_NEAR(around[0], backwards["omega_low"], 3e-8);
    EXPECT_NEAR(around[1], backwards["omega_high"], 3e-8);
    const std::vector<double> third = thresholds(0.0, 200.0, 280.0, 5, 1e-7);
    EXPECT_NEAR(third[0], at_zero[1]["omega_low"], 3e-7);
    EXPECT_NEAR(third[1], at_zero[1]["omega_high"], 3e-7);
}

// --- one answer

TEST(Basin, IsTheSameForAnyNumberOfThreadsAndAfterAnInterruption) {
    const model::Model m = shipped("rocking-bar");
    BasinOptions o = grid(m, {{"phi", -3.0, 3.0, 9}, {"phi'", -8.0, 8.0, 9}}, 10.0);
    o.refine = 1;
    const Basin one = [&] {
        BasinOptions single = o;
        single.threads = 1;
        return basin(m, single);
    }();
    EXPECT_TRUE(one.complete);
    EXPECT_GT(one.labels.size(), 2U);
    EXPECT_EQ(one.refined.size(), 17U * 17U);
    const auto expect_same = [&](const Basin& b) {
        EXPECT_EQ(b.label, one.label);
        EXPECT_EQ(b.refined, one.refined);
        ASSERT_EQ(b.record.size(), one.record.size());
        for (std::size_t k = 0; k < b.record.size(); ++k)
            EXPECT_EQ(b.record.bytes_of(b.record.motion(k)), one.record.bytes_of(one.record.motion(k))) << k;
    };
    for (const int threads : {2, 5}) {
        o.threads = threads;
        expect_same(basin(m, o));
    }
    for (const std::size_t cut : {5UL, 60UL, 90UL}) {
        const BasinRecord saved(layout_of(m, o));
        std::atomic<std::size_t> done = 0;  // several threads ask for interrupts
        BasinOptions first = o;
        first.progress = [&](std::size_t, std::size_t) { ++done; };
        first.interrupted = [&] { return done >= cut; };
        EXPECT_FALSE(basin(m, first, saved).complete);
        EXPECT_GE(saved.table().count(0, 1000), cut);
        const Basin rest = basin(m, o, saved);
        EXPECT_LT(rest.steps_now, one.steps_now);
        expect_same(rest);
    }
}

TEST(Basin, InLanesIsTheSameAsOneByOne) {
    for (const char* name : {"rocking-bar", "rocking-block"}) {
        const model::Model m = shipped(name);
        BasinOptions o = grid(m, {{"phi", -1.0, 1.0, 12}, {"phi'", -4.0, 4.0, 11}}, 10.0);
        const Basin together = basin(m, o);
        EXPECT_EQ(together.lanes, 8);
        o.lanes = false;
        const Basin alone = basin(m, o);
        EXPECT_EQ(alone.lanes, 1);
        EXPECT_EQ(together.label, alone.label) << name;
        for (std::size_t k = 0; k < alone.record.size(); ++k) {
            const BasinMotion a = together.record.motion(k), b = alone.record.motion(k);
            EXPECT_EQ(a.steps, b.steps) << name;
            for (std::size_t i = 0; i < a.q.size(); ++i) EXPECT_NEAR(a.q[i], b.q[i], 1e-9) << name;
        }
    }
}

TEST(Basin, GroupsEndPositionsWithoutKnownSets) {
    for (const char* name : {"rocking-bar", "constrained-beam"}) {
        const model::Model m = shipped(name);
        const std::string angle = m.coordinates[2];
        BasinOptions o = grid(m, {{angle, -3.5, 3.5, 15}, {angle + "'", -12.0, 12.0, 15}}, 20.0);
        const Basin known = basin(m, o);
        o.equilibria.reset();
        const Basin unknown = basin(m, o);
        EXPECT_GE(known.labels.size(), 4U) << name;
        ASSERT_EQ(unknown.labels.size(), known.labels.size()) << name;
        std::vector<int> of_label(known.labels.size(), -1);
        for (std::size_t k = 0; k < known.label.size(); ++k) {
            int& l = of_label[static_cast<std::size_t>(known.label[k])];
            if (l < 0) l = unknown.label[k];
            EXPECT_EQ(unknown.label[k], l) << name << " " << k;
        }
        for (const RestSet& s : known.sets) {
            EXPECT_TRUE(s.known) << name;
            for (std::size_t i = 0; i < s.low.size(); ++i) {  // a step's penetration aside
                EXPECT_GT(s.low[i], s.lower[i] - 0.02) << name;
                EXPECT_LT(s.high[i], s.upper[i] + 0.02) << name;
            }
        }
        for (const RestSet& s : unknown.sets) EXPECT_EQ(s.name.front(), 'R') << name;
    }
}

TEST(Basin, SaysHowManyLabelsBesideABoundaryDependOnTheStepLength) {
    const model::Model m = model::build(io::parse_model(R"toml(
[system]
q = ["x"]
T = "x'^2/2"
U = "(x^2 - 1)^2/4"
[[slider]]
name = "pad"
gammaT = "x'"
mu = 0.02
FN = 1
)toml",
                                                        "two wells"));
    const auto checked = [&](double h) {
        BasinOptions o = grid(m, {{"x", -2.0, 2.0, 81}}, 60.0);
        o.method = integrate::Moreau{.h = h};
        return basin(m, o);
    };
    const Basin coarse = checked(0.4), fine = checked(0.02);
    ASSERT_TRUE(coarse.check && fine.check);
    EXPECT_EQ(coarse.check->motions, 6U);  // 1 + 81/16
    EXPECT_EQ(coarse.check->beside, 6U);
    EXPECT_EQ(coarse.check->finer, "h/2");
    EXPECT_EQ(coarse.check->setting, 0.2);
    EXPECT_GT(coarse.check->changed, 0U);
    EXPECT_EQ(fine.check->changed, 0U);
    // The count is that of a whole run with half the step.
    const Basin half = checked(0.2);
    std::size_t all = 0;
    for (std::size_t k = 0; k < coarse.base; ++k) all += text_of(coarse, k) != text_of(half, k) ? 1 : 0;
    EXPECT_GE(all, coarse.check->changed);
}

TEST(Refinement, GivesTheLabelsOfTheWholeFineGrid) {
    const model::Model m = shipped("constrained-beam");
    BasinOptions coarse = grid(m, {{"theta", 0.0, 3.0, 9}, {"theta'", 0.0, 16.0, 17}}, 20.0);
    coarse.refine = 2;
    const Basin refined = basin(m, coarse);
    BasinOptions fine = grid(m, {{"theta", 0.0, 3.0, 33}, {"theta'", 0.0, 16.0, 65}}, 20.0);
    const Basin whole = basin(m, fine);
    ASSERT_EQ(refined.refined.size(), whole.label.size());
    std::size_t different = 0;
    for (std::size_t k = 0; k < whole.label.size(); ++k)
        if (refined.labels[static_cast<std::size_t>(refined.refined[k])].text != text_of(whole, k)) ++different;
    EXPECT_EQ(different, 0U);
    EXPECT_LT(refined.record.size(), whole.record.size() / 2);
}

// --- certified level sets

TEST(BasinLevelSet, EndsMotionsThatEnterItAndIsTestedByThoseThatStartInIt) {
    const model::Model m = shipped("rocking-bar");
    const proof::Certificate certificate = certify_attractivity(m, {});
    BasinOptions o = grid(m, {{"phi", -0.6, 0.6, 13}, {"phi'", -4.0, 4.0, 13}}, 20.0);
    o.level = capture_set(certificate);
    ASSERT_TRUE(o.level);
    EXPECT_TRUE(o.level->proved);
    EXPECT_NEAR(o.level->rho, 0.8175, 1e-11);
    EXPECT_LE(o.level->rho, certificate.rho_verified);
    const Basin b = basin(m, o);
    std::size_t captured = 0, inside = 0;
    for (std::size_t k = 0; k < b.base; ++k) {
        const BasinMotion one = b.record.motion(k);
        inside += one.inside ? 1U : 0U;
        captured += one.fate == Fate::captured ? 1U : 0U;
        EXPECT_EQ(one.inside, one.V < o.level->rho);
        EXPECT_TRUE(!one.inside || one.fate == Fate::rest) << k;  // not by the level set itself
    }
    EXPECT_EQ(b.inside, inside);
    EXPECT_GT(inside, 5U);
    EXPECT_GT(captured, 50U);
    EXPECT_EQ(b.violations, 0U);
    EXPECT_EQ(b.inside_undecided, 0U);
    // Without the level set, and beyond it to rest, the labels are the same.
    BasinOptions bare = o, to_rest = o;
    bare.level.reset();
    to_rest.to_rest = true;
    EXPECT_EQ(basin(m, bare).label, b.label);
    EXPECT_EQ(basin(m, to_rest).label, b.label);
    EXPECT_GT(basin(m, to_rest).steps, b.steps);
}

// The only well of U has its minimum at x = 0.607. Its left slope is flat enough for friction to hold on a second
// interval, which also lies in the certified level set { V < rho }: motions from there may end in either.
TEST(BasinLevelSet, MayContainFurtherSetsThatFrictionHolds) {
    const model::Model m = model::build(io::parse_model(R"toml(
[system]
q = ["x"]
T = "1.621*x'^2/2"
U = "0.409*x^6 - 0.681*x - 1.256*x^2 + 1.78*x^4 + 0.602*x^5"
R = "0.6*x'^2"
[[contact]]
name = "wall"
gN = "x + 0.894"
eN = 0.384
[[slider]]
name = "s"
gammaT = "x'"
mu = 0.803
FN = 0.962
)toml",
                                                        "test"));
    const proof::Certificate certificate = certify_attractivity(m, {});
    BasinOptions o = grid(m, {{"x", -0.8, 2.0, 5}, {"x'", -2.0, 2.0, 5}}, 20.0);
    o.level = capture_set(certificate);
    o.equilibria = equilibria(m);
    ASSERT_TRUE(o.level);
    ASSERT_EQ(o.equilibria->sets.size(), 2U);
    const Basin b = basin(m, o);
    std::size_t second = 0;
    for (std::size_t k = 0; k < b.base; ++k) second += text_of(b, k) == "E2" ? 1U : 0U;
    EXPECT_GT(second, 5U);
    EXPECT_EQ(b.inside, b.base);
    EXPECT_EQ(b.violations, 0U);
    // Motions that enter a smaller level set are followed to rest: they need not end in the set of the certificate.
    o.level->rho = 1.0;
    BasinOptions bare = o;
    bare.level.reset();
    EXPECT_EQ(basin(m, o).label, basin(m, bare).label);
    EXPECT_EQ(basin(m, o).violations, 0U);
}

// A wall divides the line. E2 rests against its far side, exactly at the level that bounds the certificate of E1. Time-
// stepping presses the body into the wall by 1e-6, where U is below that level; it must not count as captured by E1.
TEST(BasinLevelSet, DoesNotCaptureABodyThatPenetratesTheFarSideOfAWall) {
    const model::Model m = model::build(io::parse_model(R"toml(
[system]
q = ["x"]
T = "1.11*x'^2/2"
U = "0.726*x^2 + 0.878*sin(2.848*x - 0.337) + 0.414*sin(4.959*x + 1.035) + 0.776*sin(1.215*x - 1.055)"
R = "1.269*x'^2"
[[contact]]
name = "gate"
gN = "(x - 0.829)^2 - 0.079524"
eN = 0.268
[[contact]]
name = "wall"
gN = "x + 0.622"
eN = 0.213
[initial]
q = { x = -0.387 }
)toml",
                                                        "test"));
    BasinOptions o = grid(m, {{"x", 1.2, 2.0, 3}, {"x'", -2.0, 2.0, 3}}, 60.0);
    o.level = capture_set(certify_attractivity(m, {}));
    ASSERT_TRUE(o.level);
    BasinOptions bare = o;
    bare.level.reset();
    const Basin b = basin(m, o), to_rest = basin(m, bare);
    for (std::size_t k = 0; k < b.base; ++k) {
        EXPECT_NE(text_of(b, k), "E1") << "a motion passed the wall";
        EXPECT_EQ(text_of(b, k), text_of(to_rest, k)) << k;
    }
}

TEST(BasinLevelSet, IsNotViolatedBySlowMotionsThatCountAsAtRest) {
    // With a coarse --rest the oscillator counts as at rest where it turns round, beside its equilibrium.
    const model::Model m = model::build(io::parse_model(R"toml(
[system]
q = ["x"]
T = "x'^2/2"
U = "x^2/2"
R = "x'^2/2"
)toml",
                                                        "oscillator"));
    BasinOptions o = grid(m, {{"x", -1.0, 1.0, 9}, {"x'", -1.0, 1.0, 5}}, 60.0);
    o.level = CaptureSet{10.0, 0.0, {0.0}, true, {}, {}};
    o.to_rest = true;
    o.rest = 1e-2;
    const Basin b = basin(m, o);
    EXPECT_EQ(b.inside, 45U);
    EXPECT_EQ(b.violations, 0U);
    EXPECT_GT(b.inside_undecided, 0U);
    o.rest = 1e-8;
    EXPECT_EQ(basin(m, o).inside_undecided, 0U);
}

TEST(BasinLevelSet, ThatIsTooLargeHasViolations) {
    const model::Model m = shipped("constrained-beam");
    const proof::Certificate certificate = certify_attractivity(m, {});
    BasinOptions o = grid(m, {{"theta", -3.0, 3.0, 13}, {"theta'", 0.0, 13.0, 14}}, 20.0);
    o.level = capture_set(certificate);
    ASSERT_TRUE(o.level);
    const Basin right = basin(m, o);
    EXPECT_GT(right.inside, 30U);
    EXPECT_EQ(right.violations, 0U);
    EXPECT_EQ(right.inside_undecided, 0U);
    // E2, and what reaches it or the next turn, lies below this level.
    o.level->rho = 120.0;
    const Basin wrong = basin(m, o);
    std::size_t elsewhere = 0;
    for (std::size_t k = 0; k < wrong.base; ++k)
        if (wrong.record.motion(k).inside && text_of(wrong, k) != "E1") ++elsewhere;
    EXPECT_GT(elsewhere, 5U);
    EXPECT_EQ(wrong.violations, elsewhere);
    // Stopped early, a motion that has climbed out of it is a violation, another one undecided.
    o.level->rho = certificate.rho;
    o.t_max = 1e-3;
    const Basin early = basin(m, o);
    EXPECT_EQ(early.violations, 0U);
    EXPECT_GT(early.inside_undecided, 10U);
    o.level->rho = 90.0;  // T = (m l^2 + J_S)/2 omega^2 + ...: omega = 11 carries the beam over the top
    o.level->in_component = [](std::span<const double> q) { return std::abs(q[2]) < 0.1; };
    o.t_max = 0.2;
    EXPECT_GT(basin(m, o).violations, 0U);
}

}  // namespace
}  // namespace saltus::stability::basin_test
