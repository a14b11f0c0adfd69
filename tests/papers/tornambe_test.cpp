// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <numbers>

#include "physics/motion.hpp"

namespace saltus {
namespace {

using namespace saltus::test;

const EventDriven tight{.rtol = 1e-11, .atol = 1e-13};

/// The arm with the law e = 1 − c·(approach speed).
Model arm_with_c(double c) {
    model::Description d = description_of("single-link-arm");
    for (model::ContactDescription& contact : d.contacts) contact.eN = {}, contact.c = c;
    return built(d);
}

// --- tornambe_arm_rigid_A_*, tolerance 1e-10 -------------------------------------------------------------------------

struct ArmImpact {
    double t, v_minus, v_plus;
};

void expect_impacts(const Trajectory& motion, const std::vector<ArmImpact>& expected) {
    const std::vector<Event> impacts = events_of(motion, EventKind::impact);
    ASSERT_GE(impacts.size(), expected.size()) << story(motion);
    for (std::size_t i = 0; i < expected.size(); ++i) {
        EXPECT_TRUE(matches(impacts[i].t, expected[i].t, 1e-10)) << "impact " << i + 1;
        EXPECT_TRUE(matches(impacts[i].u_minus[0], expected[i].v_minus, 1e-10)) << "impact " << i + 1;
        EXPECT_TRUE(matches(impacts[i].u_plus[0], expected[i].v_plus, 1e-10)) << "impact " << i + 1;
        EXPECT_EQ(impacts[i].elements, std::vector<int>{1}) << "the lower side";
    }
}

TEST(TornambeArm, BouncesForEverWithE1) {  // tornambe_arm_rigid_A_e1, tornambe_eq29d_fails_for_e1
    const Trajectory motion = motion_of(shipped("single-link-arm"), 7.16, tight);
    expect_impacts(motion, {{0.2445291183262068, -3.319568876255834, 3.319568876255834},
                            {0.6222964172655240, -2.435770750643748, 2.435770750643748},
                            {0.9392373431423060, -1.894326826093754, 1.894326826093754},
                            {1.207574501558103, -1.538037216707233, 1.538037216707233},
                            {1.437882086760615, -1.289374217823108, 1.289374217823108},
                            {1.638384693275944, -1.107444123585435, 1.107444123585435},
                            {1.815256174446234, -0.9692221416277244, 0.9692221416277244},
                            {1.973108426971079, -0.8609656224719802, 0.8609656224719802},
                            {2.115415234285651, -0.7740481476294738, 0.7740481476294738},
                            {2.244828786474768, -0.7028167739015152, 0.7028167739015152}});
    const std::vector<Event> impacts = events_of(motion, EventKind::impact);
    EXPECT_EQ(impacts.size(), motion.events.size()) << "nothing but impacts";
    EXPECT_EQ(std::count_if(impacts.begin(), impacts.end(), [](const Event& e) { return e.t < 2.0; }), 8);
    ASSERT_GE(impacts.size(), 400U);
    EXPECT_TRUE(matches(impacts[399].t, 7.154798839832196, 1e-10));
    EXPECT_TRUE(matches(impacts[399].u_plus[0], 0.01872677450964522, 1e-10));
    double impulse = 0.0;
    for (std::size_t i = 100; i < 400; ++i) impulse += normal_impulse(impacts[i], 1);
    EXPECT_TRUE(matches(impulse / (impacts[399].t - impacts[99].t), 0.4987091427, 1e-8));
}

TEST(TornambeArm, ComesToRestWithE08) {  // tornambe_arm_rigid_A_e0.8
    const Trajectory motion = motion_of(shipped("single-link-arm", {{"e", 0.8}}), 2.0, tight);
    expect_impacts(motion, {{0.2445291183262068, -3.319568876255834, 2.655655101004667},
                            {0.5785044928132258, -2.033043232176979, 1.626434585741584},
                            {0.8187428462728162, -1.352298998266773, 1.081839198613419},
                            {0.9921610783573401, -0.9493883340315069, 0.7595106672252056},
                            {1.119382562067976, -0.6907718580796848, 0.5526174864637478},
                            {1.214324162947505, -0.5150323575652703, 0.4120258860522163},
                            {1.286221913572495, -0.3906805478110295, 0.3125444382488236},
                            {1.341312559348203, -0.3000794053949798, 0.2400635243159838},
                            {1.383916252820979, -0.2326315855468041, 0.1861052684374433},
                            {1.417101440216264, -0.1816041612819194, 0.1452833290255355}});
    const std::vector<Event> rests = events_of(motion, EventKind::accumulation);
    ASSERT_EQ(rests.size(), 1U) << story(motion);
    EXPECT_TRUE(matches(rests[0].t, 1.542446486200039, 1e-10));
    EXPECT_TRUE(matches(motion.end.q[0], 0.5, 1e-10));
    EXPECT_TRUE(matches(motion.forces.at(1).N, 0.5, 1e-10));
}

TEST(TornambeArm, ComesToRestWithE05) {  // tornambe_arm_rigid_A_e0.5
    const Trajectory motion = motion_of(shipped("single-link-arm", {{"e", 0.5}}), 2.0, tight);
    expect_impacts(motion, {{0.2445291183262068, -3.319568876255834, 1.659784438127917},
                            {0.4884268304228544, -1.375817808953615, 0.6879089044768076},
                            {0.6047042234430400, -0.6308801830834170, 0.3154400915417085},
                            {0.6602896240098713, -0.3027484160906199, 0.1513742080453100},
                            {0.6873605303520362, -0.1483816961815218, 0.07419084809076088},
                            {0.7007088926996759, -0.07346426742809549, 0.03673213371404774},
                            {0.7073356882660740, -0.03655311877452770, 0.01827655938726385},
                            {0.7106371757850153, -0.01823213048106311, 0.009116065240531555},
                            {0.7122849347641539, -0.009104998370903790, 0.004552499185451895},
                            {0.7131080672039785, -0.004549737497252654, 0.002274868748626327}});
    const std::vector<Event> rests = events_of(motion, EventKind::accumulation);
    ASSERT_EQ(rests.size(), 1U) << story(motion);
    EXPECT_TRUE(matches(rests[0].t, 0.7139307012945318, 1e-10));
    EXPECT_TRUE(matches(motion.forces.at(1).N, 0.5, 1e-10));
}

TEST(TornambeArm, WithRestitutionThatDependsOnTheSpeedNeverComesToRest) {  // tornambe_arm_rigid_A_c0.1
    const Trajectory motion = motion_of(arm_with_c(0.1), 4.33, tight);
    expect_impacts(motion, {{0.2445291183262068, -3.319568876255834, 2.217615123835192},
                            {0.5431001956564321, -1.753503786125982, 1.446026233330167},
                            {0.7627062777811847, -1.222933617819534, 1.073376954460217},
                            {0.9349762601064820, -0.9428118519159663, 0.8539224331046449},
                            {1.076251914952783, -0.7683251175592094, 0.7092927689319721},
                            {1.195823319800279, -0.6488667108295239, 0.6067639099872514},
                            {1.299405487799538, -0.5618303440731128, 0.5302650105209815},
                            {1.390741394101214, -0.4955398203538617, 0.4709838489982280},
                            {1.472407250794731, -0.4433398898594190, 0.4236848640653628},
                            {1.546248325679487, -0.4011539399503553, 0.3850614915965860}});
    const std::vector<Event> impacts = events_of(motion, EventKind::impact);
    EXPECT_EQ(impacts.size(), motion.events.size()) << "nothing but impacts";
    EXPECT_EQ(std::count_if(impacts.begin(), impacts.end(), [](const Event& e) { return e.t < 2.0; }), 18);
    ASSERT_GE(impacts.size(), 400U);
    EXPECT_TRUE(matches(impacts[399].t, 4.325923705993339, 1e-10));
    EXPECT_TRUE(matches(impacts[399].u_plus[0], 0.01066735119020097, 1e-10));
}

TEST(TornambeArm, EndsWhereTheSignOfTheObstaclesAngleSays) {  // tornambe_violation_q0_negative
    const Trajectory free = motion_of(shipped("single-link-arm", {{"q0", -0.3}, {"e", 0.5}}), 40.0);
    EXPECT_NEAR(free.end.q[0], 0.0, 1e-12);
    EXPECT_EQ(free.forces.at(1).N, 0.0);
    const Trajectory pressed = motion_of(shipped("single-link-arm", {{"q0", 0.3}, {"e", 0.5}}), 40.0);
    EXPECT_NEAR(pressed.end.q[0], 0.3, 1e-12);
    EXPECT_NEAR(pressed.forces.at(1).N, 0.3, 1e-10);
    // The obstacle where the spring is relaxed: impacts every half period, at speeds that only fade.
    const Trajectory grazes = motion_of(shipped("single-link-arm", {{"q0", 0.0}, {"e", 0.5}}), 20.0);
    const std::vector<Event> impacts = events_of(grazes, EventKind::impact);
    const double I = 0.045216, damping = 0.1 / (2.0 * I),
                 half = std::numbers::pi / std::sqrt(1.0 / I - damping * damping);
    ASSERT_GE(impacts.size(), 10U);
    for (std::size_t i = 1; i < 10; ++i) {
        EXPECT_NEAR(impacts[i].t - impacts[i - 1].t, half, 1e-9);
        EXPECT_NEAR(impacts[i].u_minus[0], -impacts[i - 1].u_plus[0] * std::exp(-damping * half), 1e-9);
    }
    EXPECT_NEAR(grazes.end.q[0], 0.0, 1e-10);
}

// --- tornambe_penalty_*: the arm against springs ---------------------------------------------------------------------

/// The largest |q_k − q| of two motions: everywhere on a fine grid, refined around the largest.
double largest_distance(const Trajectory& a, const Trajectory& b, double t_end) {
    const auto distance = [&](double t) { return std::abs(a.right(t).q[0] - b.right(t).q[0]); };
    std::vector<double> times;
    for (int i = 0; i <= 4000; ++i) times.push_back(t_end * i / 4000.0);
    for (const Trajectory* motion : {&a, &b})
        for (const Event& e : motion->events)
            if (e.t < t_end) times.push_back(e.t);
    std::sort(times.begin(), times.end());
    std::size_t largest = 0;
    std::vector<double> values;
    for (const double t : times) {
        values.push_back(distance(t));
        if (values.back() > values[largest]) largest = values.size() - 1;
    }
    double low = times[std::max<std::size_t>(largest, 1) - 1], high = times[std::min(largest + 1, times.size() - 1)];
    for (int i = 0; i < 80; ++i) {
        const double m1 = low + 0.382 * (high - low), m2 = low + 0.618 * (high - low);
        (distance(m1) < distance(m2) ? low : high) = distance(m1) < distance(m2) ? m1 : m2;
    }
    return std::max(values[largest], distance(0.5 * (low + high)));
}

struct PenaltyRow {
    double k, sup_q, first_contact, restitution;
    std::size_t phases;
};

constexpr std::array<PenaltyRow, 7> penalty_rows{{
    {1e3, 0.0827042400836, 0.021419540886279, 0.97625174500698, 7},
    {1e4, 0.0286082252801, 0.0067102176637391, 0.99257372355894, 8},
    {1e5, 0.00940370611801, 0.0021155021894644, 0.99766006591246, 8},
    {1e6, 0.00301061200600, 0.00066833100329508, 0.99926089706158, 8},
    {1e7, 0.000955804274305, 0.00021127974103191, 0.99976636014532, 8},
    {1e8, 0.000302632910879, 6.6806008619942e-5, 0.99992612509541, 8},
    {1e9, 9.57393018551e-5, 2.1125263547495e-5, 0.99997663955452, 8},
}};

TEST(TornambePenalty, ApproachesTheRigidArmLikeOneOverTheRootOfTheStiffness) {  // tornambe_penalty_convergence_A
    const Trajectory rigid = motion_of(shipped("single-link-arm"), 2.0, tight);
    std::vector<double> stiffness, distances;
    for (const PenaltyRow& row : penalty_rows) {
        const Trajectory soft = motion_of(shipped("single-link-arm", {{"k1", row.k}, {"k2", row.k}}), 2.0,
                                          Penalty{.rtol = 1e-11, .atol = 1e-13});
        const double distance = largest_distance(rigid, soft, 2.0);
        EXPECT_TRUE(matches(distance, row.sup_q, 1e-7)) << "k = " << row.k;
        const std::vector<Event> in = events_of(soft, EventKind::contact), out = events_of(soft, EventKind::lift_off);
        ASSERT_EQ(in.size(), row.phases) << "k = " << row.k << ": " << story(soft);
        ASSERT_GE(out.size(), 1U);
        EXPECT_NEAR(out[0].t - in[0].t, row.first_contact, 1e-9) << "k = " << row.k;
        EXPECT_NEAR(-out[0].u_plus[0] / in[0].u_plus[0], row.restitution, 1e-8) << "k = " << row.k;
        stiffness.push_back(row.k);
        distances.push_back(distance);
    }
    EXPECT_NEAR(slope(stiffness, distances), -0.5, 0.02);
    const std::size_t last = distances.size() - 1;
    EXPECT_NEAR(std::log10(distances[last] / distances[last - 1]), -0.4998259, 1e-3);
}

TEST(TornambePenalty, RestsWhereTheSpringsBalance) {  // tornambe_penalty_static_A
    for (const auto& [k, q_R, force] : {std::array{1e3, 0.4995004995004995, 0.4995004995004995},
                                        std::array{1e4, 0.49995000499950005, 0.49995000499950005}}) {
        const Trajectory motion = motion_of(shipped("single-link-arm", {{"k2", k}}), 60.0, Penalty{});
        EXPECT_NEAR(motion.end.q[0], q_R, 1e-12) << "k = " << k;
        EXPECT_NEAR(motion.forces.at(1).N, force, 1e-8) << "k = " << k;
    }
}

TEST(TornambePenalty, BounceReturnsAtTheEndOfTheHorizon) {  // tornambe_theorem12_bounce_A
    const std::string bounce = R"toml(
[system]
name = "bounce"
q = ["q"]
T = "1/2*q'^2"
[parameters]
v = 1.0
k = 1.0
[[contact]]
name = "wall"
gN = "q"
[penalty]
k = "k"
[initial]
q = { q = 1.0 }
u = { q = "-v" }
)toml";
    for (const auto& [k, v, duration] : {std::array{1e2, 1.186351687264145, 0.3141592653589793},
                                         std::array{1e3, 1.052269311786666, 0.09934588265796101},
                                         std::array{1e4, 1.015958641014816, 0.03141592653589793},
                                         std::array{1e5, 1.004992091318817, 0.009934588265796101}}) {
        const Trajectory motion = motion_of(from_text(bounce, {{"k", k}, {"v", v}}), 2.0, Penalty{});
        EXPECT_NEAR(motion.end.q[0], 1.0, 1e-9);
        ASSERT_EQ(motion.events.size(), 2U) << story(motion);
        EXPECT_NEAR(motion.events[1].t - motion.events[0].t, duration, 1e-10);
    }
}

// --- the traps of the energy law -------------------------------------------------------------------------------------

const std::string oblique = R"toml(
[system]
name = "oblique impact"
q = ["x", "y"]
T = "1/2*(x'^2 + y'^2)"
[parameters]
e = 0.5
[[contact]]
name = "wall"
gN = "x"
eN = "e"
impact = "energy"
[initial]
q = { x = 1.0 }
u = { x = -1.0, y = 1.0 }
)toml";

TEST(TornambeEnergyLaw, ScalesTheTotalEnergyWhereItCan) {  // tornambe_eq46_no_solution
    const Trajectory motion = motion_of(from_text(oblique, {{"e", 0.8}}), 2.0);
    ASSERT_EQ(motion.events.size(), 1U) << story(motion);
    EXPECT_TRUE(matches(motion.events[0].u_plus[0], 0.5291502622129181, 1e-12));
    EXPECT_TRUE(matches(motion.events[0].u_plus[1], 1.0, 1e-12));
}

TEST(TornambeEnergyLaw, WithoutASolutionEndsTheRunAndKeepsWhatThereIs) {  // tornambe_eq46_no_solution
    for (const double e : {0.5, 0.7071067811865475 - 1e-6}) {
        const Trajectory motion = attempt(from_text(oblique, {{"e", e}}), 2.0);
        EXPECT_EQ(status_of(motion), "failed");
        EXPECT_NE(motion.reason.find("no solution"), std::string::npos) << motion.reason;
        EXPECT_NEAR(motion.end.t, 1.0, 1e-10);
        EXPECT_NEAR(motion.end.q[0], 0.0, 1e-10);
        EXPECT_NEAR(motion.end.q[1], 1.0, 1e-10);
        EXPECT_NEAR(motion.left(0.5).q[0], 0.5, 1e-12) << "the flight before is kept";
    }
}

TEST(TornambeEnergyLaw, ClampsARestitutionBelowZeroAndSaysSo) {  // tornambe_eq45_negative_e
    const std::string fast = R"toml(
[system]
name = "fast impact"
q = ["x"]
T = "1/2*x'^2"
[parameters]
v = -3.0
[[contact]]
name = "wall"
gN = "x"
c = 0.1
impact = "energy"
[initial]
q = { x = 1.0 }
u = { x = "v" }
)toml";
    for (const auto& [v, e] :
         {std::array{-3.0, 0.7}, std::array{-10.0, 0.0}, std::array{-12.0, 0.0}, std::array{-25.0, 0.0}}) {
        const Trajectory motion = motion_of(from_text(fast, {{"v", v}}), 1.0);
        ASSERT_GE(motion.events.size(), 1U) << v;
        EXPECT_NEAR(motion.events[0].u_plus[0], -e * v, 1e-12) << v;
        EXPECT_EQ(motion.warnings.empty(), v >= -10.0) << v << first_words(motion.warnings);
    }
}

// --- tornambe_underactuated_*, tolerance 1e-9 ------------------------------------------------------------------------

struct UnderactuatedImpact {
    double t, q1, u1, v_minus, v_plus;
};

void expect_impacts(const Trajectory& motion, const std::vector<UnderactuatedImpact>& expected) {
    const std::vector<Event> impacts = events_of(motion, EventKind::impact);
    ASSERT_GE(impacts.size(), expected.size()) << story(motion);
    for (std::size_t i = 0; i < expected.size(); ++i) {
        EXPECT_TRUE(matches(impacts[i].t, expected[i].t, 1e-9)) << "impact " << i + 1;
        EXPECT_TRUE(matches(impacts[i].q[0], expected[i].q1, 1e-9)) << "impact " << i + 1;
        EXPECT_TRUE(matches(impacts[i].u_minus[0], expected[i].u1, 1e-9)) << "impact " << i + 1;
        EXPECT_TRUE(matches(impacts[i].u_minus[1], expected[i].v_minus, 1e-9)) << "impact " << i + 1;
        EXPECT_TRUE(matches(impacts[i].u_plus[1], expected[i].v_plus, 1e-9)) << "impact " << i + 1;
    }
}

void expect_state(const State& s, const std::array<double, 4>& expected) {
    EXPECT_TRUE(matches(s.q[0], expected[0], 1e-9)) << "at " << s.t;
    EXPECT_TRUE(matches(s.q[1], expected[1], 1e-9)) << "at " << s.t;
    EXPECT_TRUE(matches(s.u[0], expected[2], 1e-9)) << "at " << s.t;
    EXPECT_TRUE(matches(s.u[1], expected[3], 1e-9)) << "at " << s.t;
}

TEST(TornambeUnderactuated, PairComesToRestAtTheWallWithE05) {  // tornambe_underactuated_A_e0.5
    const Trajectory motion = motion_of(shipped("two-link-underactuated"), 12.0, EventDriven{.rtol = 1e-10});
    expect_impacts(
        motion,
        {{0.6468317956423298, 0.3259429190456417, -1.201882185251074, -2.376090427303421, 1.188045213651711},
         {1.015646079006469, 0.1219396543003691, 0.3166722515419193, -1.660579031687818, 0.8302895158439092},
         {1.306631643351358, 0.2722187295092487, 0.4797788939593053, -0.5627116019968726, 0.2813558009984363},
         {1.865832885897405, 0.2386005883022501, -0.3266129666921705, -0.4816534196689708, 0.2408267098344854},
         {2.032971565775443, 0.1899669054216665, -0.2212379963129701, -0.2872474403545544, 0.1436237201772772},
         {2.106766756403159, 0.1767604782996143, -0.1337464515131143, -0.1490633806048950, 0.07453169030244748},
         {2.142500902084088, 0.1727973241215495, -0.08781660309546915, -0.07531920398706725, 0.03765960199353362},
         {2.160181796560949, 0.1714474879295831, -0.06486219572448547, -0.03779221735845639, 0.01889610867922820},
         {2.168986912142752, 0.1709266356078373, -0.05344828394903611, -0.01892158831004857, 0.009460794155024286},
         {2.173381949017590, 0.1707042227864027, -0.04776430101437885, -0.009466224820519644, 0.004733112410259822}});
    const std::vector<Event> rests = events_of(motion, EventKind::accumulation);
    ASSERT_EQ(rests.size(), 1U) << story(motion, 100);
    EXPECT_TRUE(matches(rests[0].t, 2.177772455768328, 1e-9));
    expect_state(motion.right(1.0), {0.1172719087041177, 0.3252136902769316, 0.2781874625288833, -1.559827336048345});
    expect_state(motion.right(2.0), {0.1978133759582394, 0.3074718954941255, -0.2546051273975677, -0.1660539568126558});
    expect_state(motion.right(5.0), {0.2160834265176294, 0.3, 0.02613747417917142, 0.0});
    expect_state(motion.end, {0.2142669083951559, 0.3, 0.0001304701832823257, 0.0});
    EXPECT_NEAR(motion.forces.at(0).N, 1.714285714285714, 1e-3);  // within the motion that is left
}

TEST(TornambeUnderactuated, PairKeepsBouncingWithE1) {  // tornambe_underactuated_A_e1
    const Trajectory motion =
        motion_of(shipped("two-link-underactuated", {{"e", 1.0}}), 6.0, EventDriven{.rtol = 1e-10});
    expect_impacts(
        motion,
        {{0.6468317956423298, 0.3259429190456417, -1.201882185251074, -2.376090427303421, 2.376090427303421},
         {1.108143214869543, 0.3209797015047197, 0.8272900254111834, -2.331587975482753, 2.331587975482753},
         {2.183058230818198, 0.1625590801459432, -1.135071178011923, -0.9354210998594150, 0.9354210998594150},
         {2.413056364827640, 0.04016664613923743, 0.1295316674320543, -1.098411482974947, 1.098411482974947},
         {2.657603156907073, 0.1933817506318672, 0.8874999275081200, -0.8745330490721928, 0.8745330490721928},
         {3.505100231629043, 0.2439856096414905, -0.5248750244818210, -0.7244969180628674, 0.7244969180628674},
         {3.810721367826523, 0.1671740410658051, 0.08552227665880561, -0.8657835798023817, 0.8657835798023817},
         {4.142581983781438, 0.2639864423188599, 0.3056817577755983, -0.6617051125115376, 0.6617051125115376},
         {4.678234854406243, 0.2833858303596504, -0.2302563890349485, -0.5905657378245907, 0.5905657378245907},
         {5.053519510047318, 0.2133461407783106, -0.03267939544870288, -0.7594309929995219, 0.7594309929995219}});
    EXPECT_EQ(motion.events.size(), 12U) << story(motion);
    expect_state(motion.right(1.0), {0.2209978098320915, 0.5338149867255650, 0.8871277574900120, -1.789838842918615});
    expect_state(motion.right(2.0), {0.4062805893849096, 0.4117501098439047, -1.396649968730686, -0.4248152150806059});
    expect_state(motion.right(5.0),
                 {0.2155540969392146, 0.3359269818329055, -0.05602113868184976, -0.5730925710847920});
    expect_state(motion.end, {0.2539935873694529, 0.3676224342429637, -0.1458462750717443, 0.2325675969759839});
}

TEST(TornambeUnderactuated, ADecoupledMassBouncesForEver) {  // tornambe_violation_decoupled
    const std::string decoupled = R"toml(
[system]
name = "decoupled"
q = ["q1", "q2"]
T = "1/2*(q1'^2 + q2'^2)"
U = "9/2*q2^2"
[[contact]]
name = "wall"
gN = "q2 - 0.5"
eN = 1.0
[control]
actuated = ["q1"]
Kp = 4.0
Kv = 2.0
[initial]
q = { q1 = 1.0, q2 = 1.2 }
)toml";
    const Trajectory motion = motion_of(from_text(decoupled), 50.0, tight);
    const std::vector<Event> impacts = events_of(motion, EventKind::impact);
    ASSERT_EQ(impacts.size(), 66U) << story(motion);
    for (std::size_t i = 0; i < impacts.size(); ++i) {
        EXPECT_TRUE(matches(impacts[i].t, 0.3803402984967896 + static_cast<double>(i) * 0.7606805969935793, 1e-11));
        EXPECT_NEAR(impacts[i].u_plus[1], 3.272613634390714, 1e-10);
    }
    EXPECT_NEAR(motion.end.q[0], 0.0, 1e-12);
}

}  // namespace
}  // namespace saltus
