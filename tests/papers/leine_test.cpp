// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <numbers>

#include "physics/motion.hpp"

namespace saltus {
namespace {

using namespace saltus::test;

// --- leine_falling_block_trajectory_A, tolerance 1e-10 ---------------------------------------------------------------

struct BlockImpact {
    double t, x, vx_minus, vx_plus, vy_plus, LambdaN, LambdaT;
};

constexpr std::array<BlockImpact, 10> falling_block{{
    {0.4515236409857309, 0.2849336231948531, -6.260042196641372, -4.266791083509863, 2.214723459035010,
     6.644170377105030, 1.993251113131509},
    {0.9030472819714618, -1.294921026537772, -1.499724373640826, -0.5030988170750710, 1.107361729517505,
     3.322085188552515, 0.9966255565657545},
    {1.128809102464327, -1.082876173068716, 2.301109516611328, 1.802796738328451, 0.5536808647587525, 1.661042594276258,
     -0.4983127782828773},
    {1.241690012710760, -0.8154079941013553, 2.885720390696789, 2.636564001555350, 0.2768404323793763,
     0.8305212971381288, -0.2491563891414386},
    {1.298130467833976, -0.6544348492393263, 3.052461626909095, 2.927883432338376, 0.1384202161896881,
     0.4152606485690644, -0.1245781945707193},
    {1.326350695395585, -0.5693147686425930, 3.100670581407328, 3.038381484121968, 0.06921010809484407,
     0.2076303242845322, -0.06228909728535966},
    {1.340460809176389, -0.5258904392880233, 3.115661656800270, 3.084517108157590, 0.03460505404742203,
     0.1038151621422661, -0.03114454864267983},
    {1.347515866066791, -0.5039999283440545, 3.120848290794387, 3.105276016473047, 0.01730252702371102,
     0.05190758107113305, -0.01557227432133991},
    {1.351043394511992, -0.4930148488574817, 3.122861188758024, 3.115075051597354, 0.008651263511855508,
     0.02595379053556652, -0.007786137160669957},
    {1.352807158734592, -0.4875129509257803, 3.123722173276665, 3.119829104696330, 0.004325631755927754,
     0.01297689526778326, -0.003893068580334979},
}};

TEST(LeineFallingBlock, HitsTheFloorSlippingAsTheClosedFormSays) {
    const Trajectory motion = motion_of(shipped("falling-block"), 5.0, EventDriven{.rtol = 1e-11, .atol = 1e-13});
    const std::vector<Event> impacts = events_of(motion, EventKind::impact);
    ASSERT_GE(impacts.size(), falling_block.size()) << story(motion);
    for (std::size_t i = 0; i < falling_block.size(); ++i) {
        const BlockImpact& expected = falling_block[i];
        EXPECT_TRUE(matches(impacts[i].t, expected.t, 1e-10));
        EXPECT_TRUE(matches(impacts[i].q[0], expected.x, 1e-10));
        EXPECT_TRUE(matches(impacts[i].u_minus[0], expected.vx_minus, 1e-10));
        EXPECT_TRUE(matches(impacts[i].u_plus[0], expected.vx_plus, 1e-10));
        EXPECT_TRUE(matches(impacts[i].u_plus[1], expected.vy_plus, 1e-10));
        EXPECT_TRUE(matches(normal_impulse(impacts[i], 0), expected.LambdaN, 1e-10));
        EXPECT_TRUE(matches(tangential_impulse(impacts[i], 0), expected.LambdaT, 1e-10));
    }
}

TEST(LeineFallingBlock, ComesToRestOnTheFloorThenSlidesAndSticksInTheEquilibriumSet) {
    const Trajectory motion = motion_of(shipped("falling-block"), 5.0, EventDriven{.rtol = 1e-11, .atol = 1e-13});
    const std::vector<Event> zeno = events_of(motion, EventKind::accumulation);
    ASSERT_EQ(zeno.size(), 1U) << story(motion, 100);
    EXPECT_TRUE(matches(zeno[0].t, 1.354570922957193, 1e-10));
    EXPECT_TRUE(matches(zeno[0].q[0], -0.4820050424028366, 1e-10));
    EXPECT_TRUE(matches(zeno[0].u_plus[0], 3.124486052495850, 1e-10));
    const std::vector<Event> reversals = events_of(motion, EventKind::reversal);
    const std::vector<Event> sticks = events_of(motion, EventKind::stick);
    ASSERT_EQ(reversals.size(), 1U) << story(motion, 100);
    ASSERT_EQ(sticks.size(), 1U) << story(motion, 100);
    EXPECT_TRUE(matches(reversals[0].t, 1.910668366469640, 1e-10));
    EXPECT_TRUE(matches(reversals[0].q[0], 0.7114208818392707, 1e-10));
    EXPECT_TRUE(matches(sticks[0].t, 2.904127193049250, 1e-10));
    EXPECT_TRUE(matches(motion.end.q[0], -0.1228208818392707, 1e-10));
    EXPECT_EQ(motion.end.u[0], 0.0);
}

TEST(LeineFallingBlock, MeetsTheReferenceAtDefaultTolerancesToo) {
    const Trajectory motion = motion_of(shipped("falling-block"), 5.0);
    EXPECT_TRUE(matches(motion.end.q[0], -0.1228208818392707, 1e-9));
    ASSERT_FALSE(events_of(motion, EventKind::stick).empty()) << story(motion, 100);
    EXPECT_TRUE(matches(events_of(motion, EventKind::stick).back().t, 2.904127193049250, 1e-9));
}

// --- the rocking bar and block: below ρ* they end on both corners, leine_rocking_bar_A and leine_rocking_block_A -----

TEST(LeineRocking, BarAndBlockComeToRestOnBothCornersInTheEquilibriumSet) {
    for (const char* name : {"rocking-bar", "rocking-block"}) {
        const Model model = shipped(name);
        const Trajectory motion = motion_of(model, 10.0);
        const double k = 10.0, mu = 0.3, weight = 9.81;
        EXPECT_LE(k * std::abs(motion.end.q[0]), mu * weight * (1.0 + 1e-9)) << name;
        EXPECT_NEAR(motion.end.q[2], 0.0, 1e-9) << name;
        for (const double u : motion.end.u) EXPECT_NEAR(u, 0.0, 1e-12) << name;
        EXPECT_NEAR(motion.forces.at(0).N + motion.forces.at(1).N, weight, 1e-9) << name;
        EXPECT_NEAR(motion.forces.at(0).T.at(0) + motion.forces.at(1).T.at(0), k * motion.end.q[0], 1e-9) << name;
        for (const Event& e : events_of(motion, EventKind::impact)) EXPECT_LE(e.work, 1e-12) << "eN = eT: condition 7b";
    }
}

// --- leine_beam_trajectory_paper_1 … 6, tolerance 1e-9 ---------------------------------------------------------------

struct BeamSample {
    double t, theta, omega;
};

struct BeamCase {
    std::string name;
    double theta0, omega0;
    double t_stick, theta_final;
    std::vector<double> reversals;        // of any slider
    std::vector<double> reversal_thetas;  // where
    std::vector<double> sign_changes;     // of a reaction: no events
    std::vector<BeamSample> samples;
};

const std::vector<BeamCase> beam_cases{
    {"leine_beam_trajectory_paper_1",
     1.5,
     0.0,
     1.151378771995951,
     0.007284417903540735,
     {},
     {},
     {0.8611155381473008},
     {{0.25, 1.299995934450849, -1.505009336360050},
      {0.5, 0.8274466264423461, -2.083696840825758},
      {1.0, 0.05622514422652607, -0.6458251548945454}}},
    {"leine_beam_trajectory_paper_2",
     0.0,
     5.0,
     1.540424263335370,
     0.2545030202693757,
     {0.4516064814939654},
     {0.9982957618195721},
     {},
     {{0.25, 0.8194996820170494, 1.822061580378633},
      {0.5, 0.9942595356059432, -0.1664478020858442},
      {1.0, 0.6013192177415572, -1.069581085532397}}},
    {"leine_beam_trajectory_paper_3",
     0.0,
     12.0,
     0.7549214135240817,
     2.648890422861509,
     {0.2140978053930651},
     {1.570796326794897},
     {0.2063406863901524, 0.3461470889839291, 0.4493478782531406},
     {{0.25, 1.721325528115157, 3.931304754511928},
      {0.5, 2.408442954274774, 1.850785496062526},
      {1.0, 2.648890422861509, 0.0}}},
    {"leine_beam_trajectory_paper_4",
     2.5,
     0.0,
     2.024793303673831,
     -0.1696703985062983,
     {1.170353167544112, 1.783410160677597},
     {1.570796326794897, 0.0},
     {1.004530106922607, 1.676596024561575},
     {{0.25, 2.483558915682430, -0.1376846041018830},
      {0.5, 2.424368165707174, -0.3587133535444496},
      {1.0, 1.971643163054501, -1.853367725715363}}},
    {"leine_beam_trajectory_paper_5",
     2.6,
     0.0,
     0.0,
     2.6,
     {},
     {},
     {},
     {{0.25, 2.6, 0.0}, {0.5, 2.6, 0.0}, {1.0, 2.6, 0.0}}},
    {"leine_beam_trajectory_paper_6",
     0.0,
     15.0,
     1.871751326486988,
     6.551269097027714,
     {0.1645611719265268, 0.5851250623845873, 1.076973270331751, 1.583237316466924},
     {1.570796326794897, 3.141592653589793, 4.712388980384690, 6.283185307179586},
     {0.1496553455864549, 0.4292393280284728, 0.5162479839247285, 0.7818825228581594, 0.9821037189003047,
      1.499925969884605},
     {{0.25, 2.024317611507857, 4.567777297992842},
      {0.5, 2.899743704440385, 2.922987900810179},
      {1.0, 4.426090517904513, 3.653921989590772}}},
};

class LeineBeam : public ::testing::TestWithParam<std::size_t> {
protected:
    const BeamCase& expected() const { return beam_cases[GetParam()]; }
    Model model() const {
        return shipped("constrained-beam", {{"theta0", expected().theta0}, {"omega0", expected().omega0}});
    }
};

TEST_P(LeineBeam, FollowsTheSamplesAndSticksWhereAndWhenItShould) {
    const Trajectory motion = motion_of(model(), 10.0, EventDriven{.rtol = 1e-10, .atol = 1e-12});
    for (const BeamSample& sample : expected().samples) {
        const State s = motion.right(sample.t);
        EXPECT_TRUE(matches(s.q[2], sample.theta, 1e-9)) << "theta at " << sample.t;
        EXPECT_TRUE(matches(s.u[2], sample.omega, 1e-9)) << "omega at " << sample.t;
    }
    EXPECT_TRUE(matches(motion.end.q[2], expected().theta_final, 1e-9));
    EXPECT_NEAR(motion.end.u[2], 0.0, 1e-12);
    if (expected().t_stick > 0.0) {
        const std::vector<Event> sticks = events_of(motion, EventKind::stick);
        ASSERT_FALSE(sticks.empty()) << story(motion);
        EXPECT_TRUE(matches(sticks.back().t, expected().t_stick, 1e-9));
        EXPECT_EQ(sticks.back().elements.size(), 2U) << "both sliders stick";
        EXPECT_EQ(&sticks.back() - &sticks.front(), 0) << story(motion);
    } else {
        EXPECT_TRUE(motion.events.empty()) << story(motion);
    }
}

TEST_P(LeineBeam, ReversesItsSlidersAndIsSilentAboutReactionsThatChangeSign) {
    const Trajectory motion = motion_of(model(), 10.0, EventDriven{.rtol = 1e-10, .atol = 1e-12});
    const std::vector<Event> reversals = events_of(motion, EventKind::reversal);
    ASSERT_EQ(reversals.size(), expected().reversals.size()) << story(motion);
    for (std::size_t i = 0; i < reversals.size(); ++i) {
        EXPECT_TRUE(matches(reversals[i].t, expected().reversals[i], 1e-9));
        EXPECT_TRUE(matches(reversals[i].q[2], expected().reversal_thetas[i], 1e-9));
    }
    for (const double quiet : expected().sign_changes)
        for (const Event& e : motion.events) EXPECT_GT(std::abs(e.t - quiet), 1e-6) << story(motion);
}

INSTANTIATE_TEST_SUITE_P(Paper, LeineBeam, ::testing::Range(std::size_t{0}, beam_cases.size()),
                         [](const auto& paper) { return std::to_string(paper.param + 1); });

// --- leine_beam_forces_paper, tolerance 1e-10 ------------------------------------------------------------------------

struct BeamForces {
    double theta, omega, N1, N2, T1, T2;
};

constexpr std::array<BeamForces, 8> beam_forces{{
    {0.3, 1.0, 4.041604735115132, 10.07413008530710, -1.212481420534540, 3.022239025592131},
    {0.3, -1.0, 1.011650724346066, 11.49727315037227, 0.3034952173038198, -3.449181945111680},
    {1.2, 4.0, 18.70230678879848, 6.581892936026930, -5.610692036639545, 1.974567880808079},
    {2.0, -3.0, 6.279494680013892, 0.6099373924282406, 1.883848404004168, 0.1829812177284722},
    {2.8, 6.0, 6.127575379376596, -27.07894582501967, -1.838272613812979, -8.123683747505900},
    {4.0, 2.0, 0.9044577530458911, 3.925389445057381, 0.2713373259137673, -1.177616833517214},
    {5.5, -7.0, -45.97920521339441, 36.31487427478011, -13.79376156401832, -10.89446228243403},
    {-1.0, 10.0, -83.29381616175853, 75.77455950477437, 24.98814484852756, 22.73236785143231},
}};

TEST(LeineBeamForces, SolveTheAbsoluteValueEquationAtEveryTabulatedState) {
    for (const BeamForces& row : beam_forces) {
        const Model model = shipped("constrained-beam", {{"theta0", row.theta}, {"omega0", row.omega}});
        const Trajectory start = motion_of(model, 0.0);
        ASSERT_EQ(start.forces.size(), 2U);
        EXPECT_TRUE(matches(start.forces[0].N, row.N1, 1e-10)) << "theta = " << row.theta;
        EXPECT_TRUE(matches(start.forces[1].N, row.N2, 1e-10)) << "theta = " << row.theta;
        EXPECT_TRUE(matches(start.forces[0].T.at(0), row.T1, 1e-10)) << "theta = " << row.theta;
        EXPECT_TRUE(matches(start.forces[1].T.at(0), row.T2, 1e-10)) << "theta = " << row.theta;
    }
}

// --- frictional impacts of Newton's type that create energy, tolerance 1e-10 -----------------------------------------

/// A uniform rod of mass 1 and length 2 that comes down at 45° onto its end: D = [[5/2, 3/2], [3/2, 5/2]].
const std::string rod = R"toml(
[system]
name = "rod"
q = ["x", "y", "theta"]
T = "1/2*(x'^2 + y'^2) + 1/6*theta'^2"
[parameters]
gammaN = -1.0
gammaT = -0.6
eN = 0.9
eT = 0.0
mu = 0.5
h = 0.1
[[contact]]
name = "end"
gN = "y - sin(theta)"
gammaT = "x' + sin(theta)*theta'"
mu = "mu"
eN = "eN"
eT = "eT"
[initial]
q = { y = "sin(3*pi/4) + h", theta = "3*pi/4" }
u = { x = "gammaT", y = "gammaN" }
)toml";

struct FrictionImpact {
    std::string name;
    Values set;
    double gammaN, gammaT;  // before
    double LambdaN, LambdaT, gammaN_plus, gammaT_plus, delta_T;
};

const std::vector<FrictionImpact> rod_impacts{
    {"leine_impact_rod_energy_increase", {{"eN", 0.9}, {"eT", 0.0}}, -1.0, -0.6, 0.9625, -0.3375, 0.9, 0.0, 17.0 / 320},
    {"leine_impact_rod_equal_e", {{"eN", 0.9}, {"eT", 0.9}}, -1.0, -0.6, 0.76, 0.0, 0.9, 0.54, -19.0 / 500},
    {"leine_impact_rod_negative_eT_violates_theorem",
     {{"eN", 0.0}, {"eT", -0.9}},
     -0.6,
     -1.0,
     0.3375,
     -0.1625,
     0.0,
     -0.9,
     17.0 / 320},
};

TEST(LeineImpact, OfTheRodHasTheTabulatedImpulsesAndEnergy) {
    for (const FrictionImpact& row : rod_impacts)
        for (const double h : {0.0, 0.1}) {  // from the first instant, and after a flight
            Values set = row.set;
            set.insert(set.end(), {{"gammaN", row.gammaN}, {"gammaT", row.gammaT}, {"h", h}});
            const Trajectory motion = motion_of(from_text(rod, set), 0.3);
            ASSERT_GE(motion.events.size(), 1U) << row.name;
            const Event& impact = motion.events[0];
            EXPECT_TRUE(matches(impact.t, h / -row.gammaN, 1e-10)) << row.name;
            EXPECT_TRUE(matches(normal_impulse(impact, 0), row.LambdaN, 1e-10)) << row.name;
            EXPECT_TRUE(matches(tangential_impulse(impact, 0), row.LambdaT, 1e-10)) << row.name;
            const double arm = std::sin(3.0 * std::numbers::pi / 4.0);
            EXPECT_TRUE(matches(impact.u_plus[1] + arm * impact.u_plus[2], row.gammaN_plus, 1e-10)) << row.name;
            EXPECT_TRUE(matches(impact.u_plus[0] + arm * impact.u_plus[2], row.gammaT_plus, 1e-10)) << row.name;
            EXPECT_TRUE(matches(impact.energy_after - impact.energy_before, row.delta_T, 1e-10)) << row.name;
            EXPECT_TRUE(matches(impact.work, row.delta_T, 1e-10)) << row.name;
        }
}

/// Two uniform rods of mass and length 1, 20° and 30° from the vertical, the tip on the floor.
const std::string double_pendulum = R"toml(
[system]
name = "double pendulum"
q = ["theta1", "theta2"]
T = "2/3*theta1'^2 + 1/6*theta2'^2 + 1/2*cos(theta1 - theta2)*theta1'*theta2'"
[parameters]
a = "pi/9"
b = "pi/6"
eN = 0.7
eT = 0.0
[[contact]]
name = "tip"
gN = "cos(a) + cos(b) - cos(theta1) - cos(theta2)"
gammaT = "cos(theta1)*theta1' + cos(theta2)*theta2'"
mu = 0.5
eN = "eN"
eT = "eT"
[initial]
q = { theta1 = "a", theta2 = "b" }
u = { theta1 = -0.1, theta2 = -0.2 }
)toml";

TEST(LeineImpact, OfTheDoublePendulumCreatesEnergyWithUnequalCoefficientsOnly) {
    const std::vector<FrictionImpact> rows{
        {"leine_impact_double_pendulum_energy_increase",
         {{"eT", 0.0}},
         0,
         0,
         0.9165848137653183,
         -0.45829240688265915,
         0.09394141003279681,
         0.008845673577410243,
         0.04074390455344531},
        {"leine_impact_double_pendulum_equal_e",
         {{"eT", 0.7}},
         0,
         0,
         0.1288789629522897,
         0.06443948147614485,
         0.09394141003279681,
         0.08614445763046898,
         -0.008427108432141854},
    };
    const double a = std::numbers::pi / 9.0, b = std::numbers::pi / 6.0;
    for (const FrictionImpact& row : rows) {
        const Trajectory motion = motion_of(from_text(double_pendulum, row.set), 0.1);
        ASSERT_GE(motion.events.size(), 1U) << row.name;
        const Event& impact = motion.events[0];
        EXPECT_EQ(impact.t, 0.0);
        EXPECT_TRUE(matches(normal_impulse(impact, 0), row.LambdaN, 1e-10)) << row.name;
        EXPECT_TRUE(matches(tangential_impulse(impact, 0), row.LambdaT, 1e-10)) << row.name;
        EXPECT_TRUE(matches(std::sin(a) * impact.u_plus[0] + std::sin(b) * impact.u_plus[1], row.gammaN_plus, 1e-10));
        EXPECT_TRUE(matches(std::cos(a) * impact.u_plus[0] + std::cos(b) * impact.u_plus[1], row.gammaT_plus, 1e-10));
        EXPECT_TRUE(matches(impact.work, row.delta_T, 1e-10)) << row.name;
    }
}

// --- leine_wedge_internal_impulse: friction cones that carry an impulse without moving anything ----------------------

TEST(LeineWedge, HoldsAParticleThatIsThrownIntoIt) {
    const std::string wedge = R"toml(
[system]
name = "particle in a wedge"
q = ["x", "y"]
T = "1/2*(x'^2 + y'^2)"
U = "9.81*y"
[parameters]
a = 1.2
[[contact]]
name = "left"
gN = "x*sin(a) + y*cos(a)"
gammaT = "x'*cos(a) - y'*sin(a)"
mu = 0.5
[[contact]]
name = "right"
gN = "-x*sin(a) + y*cos(a)"
gammaT = "x'*cos(a) + y'*sin(a)"
mu = 0.5
[initial]
q = { y = 0.1 }
u = { y = -1.0 }
)toml";
    const Trajectory motion = motion_of(from_text(wedge), 1.0);
    EXPECT_NEAR(motion.end.q[0], 0.0, 1e-12);
    EXPECT_NEAR(motion.end.q[1], 0.0, 1e-12);
    EXPECT_NEAR(motion.end.u[1], 0.0, 1e-12);
}

// --- linear systems with dry friction: leine_linear_1dof_*, tolerance 1e-10, and 2dof, 1e-8 --------------------------

const std::string one_dof = R"toml(
[system]
name = "linear oscillator with dry friction"
q = ["q"]
T = "m/2*q'^2"
U = "k/2*q^2"
R = "c/2*q'^2"
[parameters]
m = 1.0
c = 0.0
k = 10.0
F = 3.0
start = 2.0
[[slider]]
gammaT = "q'"
mu = 1.0
FN = "F"
[initial]
q = { q = "start" }
)toml";

TEST(LeineLinear, ComesToRestAfterAFiniteNumberOfHalfSwings) {  // leine_linear_1dof_stable_A
    const Trajectory motion = motion_of(from_text(one_dof), 5.0, EventDriven{.rtol = 1e-11, .atol = 1e-13});
    const std::vector<double> turns{-1.4, 0.8, -0.2};
    ASSERT_EQ(motion.events.size(), 3U) << story(motion);
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(motion.events[i].kind, i < 2 ? EventKind::reversal : EventKind::stick);
        EXPECT_TRUE(matches(motion.events[i].t, 0.9934588265796101 * static_cast<double>(i + 1), 1e-10));
        EXPECT_TRUE(matches(motion.events[i].q[0], turns[i], 1e-10));
    }
    EXPECT_TRUE(matches(motion.events[2].t, 2.980376479738830, 1e-10));
    EXPECT_TRUE(matches(motion.end.q[0], -0.2, 1e-10));
}

TEST(LeineLinear, WithNegativeDampingConvergesInsideTheUnstableCycle) {  // leine_linear_1dof_negdamp_A
    const Trajectory motion =
        motion_of(from_text(one_dof, {{"c", -0.2}, {"start", 5.0}}), 20.0, EventDriven{.rtol = 1e-11, .atol = 1e-13});
    const std::vector<double> turns{-4.891164789643932, 4.770955957330334, -4.638184923774896, 4.491538899417954,
                                    -4.329567904059865, 4.150670430007419, -3.953077606973952, 3.734835712161679,
                                    -3.493786852592606, 3.227547628682224, -2.933485568089521, 2.608693096830164};
    ASSERT_GT(motion.events.size(), turns.size()) << story(motion);
    for (std::size_t i = 0; i < turns.size(); ++i) EXPECT_TRUE(matches(motion.events[i].q[0], turns[i], 1e-10));
    EXPECT_EQ(motion.events.back().kind, EventKind::stick);
    EXPECT_TRUE(matches(motion.events.back().t, 17.89120671931238, 1e-10));
    EXPECT_TRUE(matches(motion.end.q[0], -0.1908021521733610, 1e-10));
}

TEST(LeineLinear, WithNegativeDampingDivergesOutsideTheUnstableCycle) {  // leine_linear_1dof_negdamp_A_out
    const Trajectory motion =
        motion_of(from_text(one_dof, {{"c", -0.2}, {"start", 6.2}}), 13.0, EventDriven{.rtol = 1e-11, .atol = 1e-13});
    const std::vector<double> turns{-6.216568565723234, 6.234868598701394, -6.255081042711086, 6.277405750722949,
                                    -6.302063460971943, 6.329297979533180, -6.359378590983818, 6.392602720986693,
                                    -6.429298877122327, 6.469829897047131, -6.514596536094364, 6.564041429790683};
    ASSERT_GE(motion.events.size(), turns.size()) << story(motion);
    for (std::size_t i = 0; i < turns.size(); ++i) EXPECT_TRUE(matches(motion.events[i].q[0], turns[i], 1e-10));
}

TEST(LeineLinear, WithNegativeStiffnessLeavesFromJustOutsideTheSetOnly) {  // leine_linear_1dof_negstiff_A
    const Values set{{"c", 0.2}, {"k", -5.0}, {"F", 2.0}};
    Values outside = set, inside = set;
    outside.emplace_back("start", 0.401);
    inside.emplace_back("start", 0.399);
    const Trajectory leaves =
        motion_of(from_text(one_dof, outside), 3.295309059637182, EventDriven{.rtol = 1e-11, .atol = 1e-13});
    EXPECT_TRUE(matches(leaves.end.q[0], 1.0, 1e-10));
    EXPECT_EQ(motion_of(from_text(one_dof, inside), 5.0).end.q[0], 0.399);
}

struct TwoEvent {
    double t;
    int coordinate;
    EventKind kind;
    double q1, q2, u1, u2;
};

struct TwoDof {
    std::string name;
    double c11, c12, c22, q1, q2;
    double t_rest, q1_final, q2_final, lambda1, lambda2;
    std::size_t events;
    std::vector<TwoEvent> first;
};

constexpr EventKind reversal = EventKind::reversal, stick = EventKind::stick, slip = EventKind::slip;

const std::vector<TwoDof> two_dof_cases{
    {"leine_linear_2dof_stable_A",
     0.3,
     -0.1,
     0.2,
     2.0,
     -1.0,
     7.059515525925658,
     -0.04530688876283572,
     0.03616626652404453,
     -0.6883477312502068,
     0.3982251541956101,
     16,
     {{0.8677940771078484, 1, reversal, -1.864462010101167, 0.1318111390718869, 0.0, 0.6737955363841305},
      {1.020562352800797, 2, reversal, -1.616913650869631, 0.1821633695688603, 3.143995577960406, 0.0},
      {1.588172969899975, 2, reversal, 1.217835295662867, 0.001139651533134252, 3.305969215772007, 0.0},
      {1.767299707548333, 1, reversal, 1.520480513036965, 0.03983793660155212, 0.0, 0.4404767112446649},
      {2.512886818151951, 2, reversal, -0.8017531183399590, 0.5312158826874836, -1.911353059499486, 0.0},
      {2.649126575295245, 1, reversal, -0.9332768176233554, 0.5036943254448204, 0.0, -0.4050255878522219},
      {3.501053023669843, 1, reversal, 0.7222414876553926, -0.2344068214609133, 0.0, -0.4081681456075349},
      {3.662649966943729, 2, reversal, 0.6133718543754136, -0.2668888399117065, -1.303798346160081, 0.0},
      {4.348370980019205, 2, reversal, -0.5969552814746712, -0.1467169868151760, -0.3542345680326018, 0.0},
      {4.394413943099770, 1, reversal, -0.6051082041574624, -0.1471123065983297, 0.0, -0.01713864825818024},
      {4.839271601366490, 2, stick, -0.1680961580938917, -0.1685316316326944, 1.515447897214305, 0.0},
      {4.891227588235656, 2, slip, -0.08993177238895038, -0.1685316316326944, 1.485372997596348, 0.0}}},
    {"leine_linear_2dof_negdamp_in",
     -0.2,
     0.0,
     -0.1,
     1.0,
     -0.5,
     8.848351766038278,
     -0.001237975103577087,
     0.02390510669468075,
     -0.1104761280216481,
     0.1483825405823929,
     19,
     {{0.8711727224115979, 1, reversal, -1.095099184615356, 0.05268745781421022, 0.0, 0.2488806273066825},
      {0.9623226596605184, 2, reversal, -1.043808053167778, 0.06399118698939353, 1.120160133860492, 0.0},
      {1.576238384262477, 2, reversal, 0.7795321940149485, -0.07636304524408658, 2.346605570860340, 0.0},
      {1.767978552303628, 1, reversal, 1.014293620263166, -0.04675981534926571, 0.0, 0.3216200278720765},
      {2.540586955615305, 2, reversal, -0.7343840888463350, 0.3463405014989722, -1.210566384108968, 0.0},
      {2.645201873473523, 1, reversal, -0.7985884259335315, 0.3344683132289423, 0.0, -0.2287943442576917},
      {3.509258080595011, 1, reversal, 0.7535600174370589, -0.1737509640832196, 0.0, -0.1523503539109196},
      {3.572145048496866, 2, reversal, 0.7362591178132621, -0.1785372265367721, -0.5493987352387422, 0.0},
      {4.306615491896134, 2, reversal, -0.6745955642876223, -0.006654009891101074, -0.8499845047850796, 0.0},
      {4.398100045968073, 1, reversal, -0.7139130852543215, -0.01070422236883814, 0.0, -0.08962956239870432},
      {5.087323934555836, 2, reversal, 0.3784258367172640, -0.1584498113014140, 1.451930288757627, 0.0},
      {5.288675638981278, 1, reversal, 0.5315909143278243, -0.1386501686545438, 0.0, 0.2054146790119138}}},
};

const std::string two_dof = R"toml(
[system]
name = "two masses with dry friction"
q = ["q1", "q2"]
T = "1/2*m1*q1'^2 + 1/2*m2*q2'^2"
U = "1/2*k11*q1^2 + k12*q1*q2 + 1/2*k22*q2^2"
R = "1/2*c11*q1'^2 + c12*q1'*q2' + 1/2*c22*q2'^2"
[parameters]
m1 = 1.0
m2 = 2.0
k11 = 12.0
k12 = -4.0
k22 = 6.0
c11 = 0.3
c12 = -0.1
c22 = 0.2
F1 = 1.0
F2 = 0.8
s1 = 2.0
s2 = -1.0
[[slider]]
name = "1"
gammaT = "q1'"
mu = 1.0
FN = "F1"
[[slider]]
name = "2"
gammaT = "q2'"
mu = 1.0
FN = "F2"
[initial]
q = { q1 = "s1", q2 = "s2" }
)toml";

TEST(LeineLinear, TwoMassesGoThroughTheTabulatedEventsToRest) {
    for (const TwoDof& row : two_dof_cases) {
        const Model model =
            from_text(two_dof, {{"c11", row.c11}, {"c12", row.c12}, {"c22", row.c22}, {"s1", row.q1}, {"s2", row.q2}});
        const Trajectory motion = motion_of(model, 60.0, EventDriven{.rtol = 1e-10, .atol = 1e-12});
        ASSERT_EQ(motion.events.size(), row.events) << row.name << ": " << story(motion, 30);
        for (std::size_t i = 0; i < row.first.size(); ++i) {
            const Event& e = motion.events[i];
            EXPECT_EQ(e.kind, row.first[i].kind) << row.name << " " << i;
            EXPECT_EQ(e.elements, std::vector<int>{row.first[i].coordinate - 1}) << row.name << " " << i;
            EXPECT_TRUE(matches(e.t, row.first[i].t, 1e-8)) << row.name;
            EXPECT_TRUE(matches(e.q[0], row.first[i].q1, 1e-8)) << row.name;
            EXPECT_TRUE(matches(e.q[1], row.first[i].q2, 1e-8)) << row.name;
            EXPECT_TRUE(matches(e.u_plus[0], row.first[i].u1, 1e-8)) << row.name;
            EXPECT_TRUE(matches(e.u_plus[1], row.first[i].u2, 1e-8)) << row.name;
        }
        EXPECT_TRUE(matches(motion.events.back().t, row.t_rest, 1e-8)) << row.name;
        EXPECT_TRUE(matches(motion.end.q[0], row.q1_final, 1e-8)) << row.name;
        EXPECT_TRUE(matches(motion.end.q[1], row.q2_final, 1e-8)) << row.name;
        EXPECT_TRUE(matches(motion.forces.at(0).T.at(0), row.lambda1, 1e-7)) << row.name;
        EXPECT_TRUE(matches(motion.forces.at(1).T.at(0), row.lambda2, 1e-7)) << row.name;
    }
}

TEST(LeineLinear, TwoMassesLeaveWithNegativeStiffness) {  // leine_linear_2dof_negstiff_A
    const Model model = from_text(two_dof, {{"m2", 1.0},
                                            {"k11", 2.0},
                                            {"k12", -3.0},
                                            {"k22", 2.0},
                                            {"c11", 0.1},
                                            {"c12", 0.0},
                                            {"c22", 0.1},
                                            {"F1", 0.5},
                                            {"F2", 0.2},
                                            {"s1", 0.3232},
                                            {"s2", 0.3838}});
    const Trajectory motion = motion_of(model, 40.0);
    EXPECT_TRUE(motion.events.empty()) << story(motion);
    EXPECT_GT(motion.end.q[0], 1e10);  // growth like exp(0.951 t)
}

}  // namespace
}  // namespace saltus
