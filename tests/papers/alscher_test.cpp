// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "physics/motion.hpp"

namespace saltus {
namespace {

using namespace saltus::test;

const EventDriven tight{.rtol = 1e-11, .atol = 1e-13};
constexpr double closed_form = 1e-10;

/// "(h0 + h1·t + h2·t²/2)" as an expression.
std::string parabola(const std::array<double, 3>& c) {
    return number_text(c[0]) + " + (" + number_text(c[1]) + ")*t + (" + number_text(c[2]) + ")/2*t^2";
}

// --- C1: a bead on an inclined line collides; L1: it lifts off. skeleton.md section 9, alscher.json analytic ---------

struct Bump {  // perturbations of start, force, constraint and obstacle
    double dx0 = 0.0, du0 = 0.0;
    std::array<double, 2> delta{};
    std::array<double, 3> eta{}, theta{};
};

std::string bead(const std::string& force, const std::string& start, const std::string& velocity, const Bump& bump) {
    std::string text = R"toml(
[system]
name = "bead on a line"
q = ["x", "y"]
T = "m/2*(x'^2 + y'^2)"
f = { x = "FORCE" }
[parameters]
m = 1.0
beta = 0.5
[[constraint]]
name = "line"
g = "y - beta*x"
[[contact]]
name = "wall"
gN = "x"
)toml";
    text.replace(text.find("FORCE"), 5, force);
    text += "[initial]\nq = { x = \"" + start + "\", y = \"beta*(" + start + ")\" }\n";
    text += "u = { x = \"" + velocity + "\", y = \"beta*(" + velocity + ")\" }\n";
    text += "[perturbation]\ndelta = { x = " + number_text(bump.delta[0]) + ", y = " + number_text(bump.delta[1]) +
            " }\neta = { line = \"" + parabola(bump.eta) + "\" }\ntheta = { wall = \"" + parabola(bump.theta) +
            "\" }\ninitial = { q = { x = " + number_text(bump.dx0) + ", y = \"beta*(" + number_text(bump.dx0) + ") + " +
            number_text(bump.eta[0]) + "\" }, u = { x = " + number_text(bump.du0) + ", y = \"beta*(" +
            number_text(bump.du0) + ") + " + number_text(bump.eta[1]) + "\" } }\n";
    return text;
}

struct Difference {
    double t;
    std::array<double, 4> w;  // x̂ − x̄, ŷ − ȳ, and of the velocities
};

void expect_difference(const Trajectory& nominal, const Trajectory& perturbed, const std::vector<Difference>& rows,
                       const std::array<int, 4>& order = {0, 1, 2, 3}) {
    for (const Difference& row : rows) {
        const State a = nominal.right(row.t), b = perturbed.right(row.t);
        const std::array<double, 4> w{b.q[0] - a.q[0], b.q[1] - a.q[1], b.u[0] - a.u[0], b.u[1] - a.u[1]};
        for (std::size_t i = 0; i < 4; ++i)
            EXPECT_NEAR(w[static_cast<std::size_t>(order[i])], row.w[i], closed_form) << "t = " << row.t << ", " << i;
    }
}

Bump scaled(const Bump& b, double eps) {
    Bump out = b;
    out.dx0 *= eps, out.du0 *= eps;
    for (double& v : out.delta) v *= eps;
    for (double& v : out.eta) v *= eps;
    for (double& v : out.theta) v *= eps;
    return out;
}

const Bump collision_bump{0.02, -0.03, {0.05, -0.04}, {0.01, 0.02, -0.03}, {0.015, -0.02, 0.04}};

struct Collision {
    double eps, chat, u_minus, u_plus, I_p, I_nu, lambda;
    std::vector<Difference> rows;
};

const std::vector<Collision> collisions{
    {1.0,
     0.4029175422373962,
     -2.982497069849204,
     -0.003883298310504154,
     3.7232672144233754,
     1.48930688576935,
     3.005,
     {{0.2013498739246386, {0.01468925567339141, 0.020763498739246433, -0.02275140453871316, 0.0025838015129042713}},
      {0.4028086450433367, {0.010513271617437786, 0.020878986641760897, -2.9822396368824475, -1.483204077792524}},
      {0.503483582005656, {0.010000242706871802, 0.02126735723331033, 0.00013934328022624162, 0.004965164179943441}},
      {0.6040496217739157, {0.010216526475825898, 0.021716116489913104, 0.00416198487095663, 0.003959503782260844}}}},
    {0.1,
     0.40272160570635396,
     -2.9680820559147065,
     -0.0003891135771745841,
     3.709616177921915,
     1.483846471168766,
     3.0004999999999997,
     {{0.2013498739246386, {0.00146892556733913, 0.002076349873924632, -0.0022751404538716713, 0.0002583801512903161}},
      {0.4027106767778156, {0.001051363985563325, 0.0020878395125510244, -2.9680558658303573, -1.483236064945512}},
      {0.5033856137401349,
       {0.0010000229247607948, 0.002126687075679869, 1.3542454960539796e-05, 0.0004966143862598653}},
      {0.6040496217739157,
       {0.00102165264758259, 0.0021716116489913107, 0.00041619848709566285, 0.0003959503782260843}}}},
    {0.01,
     0.4027019344223145,
     -2.966639669917163,
     -3.891922623107421e-05,
     3.7082509383636646,
     1.4833003753454659,
     3.00005,
     {{0.2013498739246386,
       {0.0001468925567339463, 0.00020763498739245767, -0.00022751404538734477, 2.5838015129009406e-05}},
      {0.40270084113579585, {0.0001051367684357929, 0.000208783357327334, -2.9666370464231013, -1.4832393334638914}},
      {0.5033757780981152,
       {0.00010000227917555352, 0.00021266821911101737, 1.3503112392460785e-06, 4.96624221901885e-05}},
      {0.6040496217739157,
       {0.00010216526475825897, 0.00021716116489913106, 4.161984870956631e-05, 3.9595037822608465e-05}}}},
};

TEST(AlscherC1, CollidesAsTheClosedFormSays) {
    const Trajectory motion = motion_of(from_text(bead("-3", "1", "-2", {})), 0.6040496217739157, tight);
    ASSERT_EQ(motion.events.size(), 1U) << story(motion);
    const Event& e = motion.events[0];
    EXPECT_TRUE(matches(e.t, 0.4026997478492772, closed_form));
    EXPECT_TRUE(matches(e.u_minus[0], -2.9664793948382653, closed_form));
    EXPECT_TRUE(matches(normal_impulse(e, 0), 3.7080992435478315, closed_form));
    EXPECT_TRUE(matches(normal_impulse(e, 1), 1.4832396974191326, closed_form));
    EXPECT_TRUE(matches(motion.forces.at(0).N, 3.0, closed_form));
}

TEST(AlscherC1, PerturbedCollidesAsTheClosedFormSays) {
    const Trajectory nominal = motion_of(from_text(bead("-3", "1", "-2", {})), 0.6040496217739157, tight);
    for (const Collision& row : collisions) {
        const std::string text = bead("-3", "1", "-2", scaled(collision_bump, row.eps));
        const Trajectory motion = motion_of(from_text(text, {}, true), 0.6040496217739157, tight);
        ASSERT_EQ(motion.events.size(), 1U) << story(motion);
        const Event& e = motion.events[0];
        EXPECT_TRUE(matches(e.t, row.chat, closed_form)) << row.eps;
        EXPECT_TRUE(matches(e.u_minus[0], row.u_minus, closed_form)) << row.eps;
        EXPECT_TRUE(matches(e.u_plus[0], row.u_plus, closed_form)) << row.eps;
        EXPECT_TRUE(matches(normal_impulse(e, 0), row.I_p, closed_form)) << row.eps;
        EXPECT_TRUE(matches(normal_impulse(e, 1), row.I_nu, closed_form)) << row.eps;
        EXPECT_TRUE(matches(motion.forces.at(0).N, row.lambda, closed_form)) << row.eps;
        expect_difference(nominal, motion, row.rows);
    }
}

struct LiftOff {
    double eps, chat;
    std::vector<Difference> rows;
};

const std::vector<LiftOff> lift_offs{
    {1.0,
     0.801,
     {{0.4, {0.010199999999999999, 0.020700000000000003, -0.004, 0.006}},
      {0.8005, {0.011806004916666666, 0.022300998708333332, 0.012019499999999999, 0.001994750000000002}},
      {1.2005000000000001, {0.019494004833333335, 0.022138998666666666, 0.02642, -0.002805000000000002}},
      {1.6, {0.032921599333333273, 0.02006079966666663, 0.040802000000000005, -0.007599000000000022}}}},
    {0.1,
     0.8001,
     {{0.4, {0.00102, 0.00207, -0.00039999999999999996, 0.0006}},
      {0.80005, {0.0011800600049166668, 0.0022300099987083333, 0.0012001950000000003, 0.00019994749999999994}},
      {1.20005, {0.001948140004833343, 0.002213989998666673, 0.002640200000000037, -0.00028004999999997615}},
      {1.6, {0.00329201599933332, 0.002006007999666659, 0.004080019999999962, -0.0007599900000000437}}}},
    {0.01,
     0.80001,
     {{0.4, {0.00010199999999999999, 0.000207, -3.9999999999999996e-05, 6.000000000000002e-05}},
      {0.8000050000000001,
       {0.00011800060000491666, 0.00022300009999870837, 0.00012000195000000004, 1.999947500000003e-05}},
      {1.200005, {0.00019480140000484314, 0.00022139989999866994, 0.00026400200000009644, -2.800049999995835e-05}},
      {1.6, {0.00032920015999932106, 0.00020060007999966878, 0.0004080001999999805, -7.599989999995671e-05}}}},
};

TEST(AlscherL1, LiftsOffAsTheClosedFormSays) {
    const std::string force = "-4*(1 - t/0.8)";
    const Trajectory nominal = motion_of(from_text(bead(force, "0", "0", {})), 1.6, tight);
    ASSERT_EQ(nominal.events.size(), 1U) << story(nominal);
    EXPECT_EQ(nominal.events[0].kind, EventKind::lift_off);
    EXPECT_TRUE(matches(nominal.events[0].t, 0.8, closed_form));
    EXPECT_TRUE(matches(nominal.end.q[0], 0.34133333333333343, closed_form));
    EXPECT_TRUE(matches(nominal.end.u[0], 1.28, closed_form));
    for (const LiftOff& row : lift_offs) {
        Bump bump = scaled(collision_bump, row.eps);
        bump.dx0 = bump.theta[0], bump.du0 = bump.theta[1];  // it starts on the obstacle
        const Trajectory motion = motion_of(from_text(bead(force, "0", "0", bump), {}, true), 1.6, tight);
        ASSERT_EQ(motion.events.size(), 1U) << story(motion);
        EXPECT_EQ(motion.events[0].kind, EventKind::lift_off);
        EXPECT_TRUE(matches(motion.events[0].t, row.chat, closed_form)) << row.eps;
        expect_difference(nominal, motion, row.rows);
    }
}

// --- L2: two masses and a spring, the first leaves the wall ----------------------------------------------------------

struct Shaken {
    double a, b, ph;
    std::array<double, 2> delta;
    double dx2, du2, chat;
    std::vector<Difference> rows;  // x1, x2, u1, u2
};

const std::vector<Shaken> shaken{
    {0.001,
     7.0,
     0.3,
     {0.0, 0.0},
     0.0,
     0.0,
     0.39248747516213295,
     {{0.19624373758106647,
       {-0.00010272828912067667, 0.00020024544348729023, -0.006962966180594487, 0.0013569168623056571}},
      {0.6872233929727672,
       {0.00024780510516786425, -0.0006991477023814419, 0.003420227872619641, -0.0028943156313792073}},
      {0.9817477042468103,
       {-0.0009335076882116544, -0.0008220430030019266, -0.00868205266430011, 0.0011397778809273396}}}},
    {0.0002,
     25.0,
     0.0,
     {0.0, 0.0},
     0.0,
     0.0,
     0.3948625893370815,
     {{0.19634954084936207,
       {3.9018064403225664e-05, 2.6903984718940066e-06, 0.004903926402016152, -0.00014370080333570012}},
      {0.6883051467919459,
       {0.0003310029474494769, 1.1711339412023847e-05, 0.00012835992821158548, 0.0005621088228616733}},
      {0.9817477042468103,
       {2.780104158550678e-05, 0.00029028071378478515, -0.0006846093760043415, 0.0008330985909336119}}}},
    {0.0,
     0.0,
     0.0,
     {0.1, -0.2},
     0.0,
     0.0,
     0.3948177511269601,
     {{0.19634954084936207, {0.0, -0.0012203884117226727, 0.0, -0.011785113019775806}},
      {0.6882827276868853, {-0.005684161805886934, -0.008644089293316615, -0.03540557707021996, -0.014682284897067244}},
      {0.9817477042468103,
       {-0.01442906104918018, -0.014936653094838936, -0.017825181219621622, -0.030324582732597638}}}},
    {0.0005,
     11.0,
     1.0,
     {0.03, 0.02},
     0.002,
     -0.01,
     0.3939436711515268,
     {{0.19634954084936207,
       {-0.0004999167157371268, -0.0002508968124961264, 0.00010038205277431967, -0.01217981670512125}},
      {0.6878456876991685, {-0.002503726561534192, -0.002320499121483355, -0.01620677887949773, 0.004653041611018649}},
      {0.9817477042468103,
       {-0.0028187712260177022, -0.0017158609578158401, 0.016454947642770335, -0.0013358336206100718}}}},
};

std::string two_masses(const Shaken& s) {
    std::string text = R"toml(
[system]
name = "two masses at a wall"
q = ["x1", "x2"]
T = "m1/2*x1'^2 + m2/2*x2'^2"
U = "k/2*(x2 - x1 - l0)^2"
[parameters]
m1 = 1.0
m2 = 3.0
k = 48.0
l0 = 1.0
A = 0.25
[[contact]]
name = "wall"
gN = "x1"
[initial]
q = { x1 = 0.0, x2 = "l0 - A" }
)toml";
    const std::string a = number_text(s.a), b = number_text(s.b), ph = number_text(s.ph);
    text += "[perturbation]\ndelta = { x1 = " + number_text(s.delta[0]) + ", x2 = " + number_text(s.delta[1]) +
            " }\ntheta = { wall = \"" + a + "*cos(" + b + "*t + " + ph + ")\" }\n";
    text += "initial = { q = { x1 = \"" + a + "*cos(" + ph + ")\", x2 = " + number_text(s.dx2) + " }, u = { x1 = \"-" +
            a + "*" + b + "*sin(" + ph + ")\", x2 = " + number_text(s.du2) + " } }\n";
    return text;
}

TEST(AlscherL2, LiftsOffAsTheClosedFormSays) {
    const double T = 0.9817477042468103;
    const Trajectory nominal = motion_of(from_text(two_masses({})), T, tight);
    ASSERT_EQ(nominal.events.size(), 1U) << story(nominal);
    EXPECT_TRUE(matches(nominal.events[0].t, 0.39269908169872414, closed_form));
    const std::array<double, 4> end{0.5355364669110647, 1.4105364669110647, 0.75, 0.75};
    EXPECT_TRUE(matches(nominal.end.q[0], end[0], closed_form));
    EXPECT_TRUE(matches(nominal.end.q[1], end[1], closed_form));
    EXPECT_TRUE(matches(nominal.end.u[0], end[2], closed_form));
    EXPECT_TRUE(matches(nominal.end.u[1], end[3], closed_form));
    for (const Shaken& row : shaken) {
        const Trajectory motion = motion_of(from_text(two_masses(row), {}, true), T, tight);
        const std::vector<Event> off = events_of(motion, EventKind::lift_off);
        ASSERT_EQ(off.size(), 1U) << story(motion);
        EXPECT_TRUE(matches(off[0].t, row.chat, closed_form)) << row.a;
        expect_difference(nominal, motion, row.rows);
    }
}

// --- R: one end of a rod hits the wall -------------------------------------------------------------------------------

TEST(AlscherR, ARodsEndHitsTheWallAndItsConstraintCarriesTheImpulseOn) {
    const std::string rod = R"toml(
[system]
name = "rod"
q = ["x1", "y1", "x2", "y2"]
T = "1/2*(x1'^2 + y1'^2) + 1*(x2'^2 + y2'^2)"
[parameters]
phi = "pi/3"
thetadot = 0.0
[[constraint]]
name = "rod"
g = "((x2 - x1)^2 + (y2 - y1)^2 - 1)/2"
[[contact]]
name = "wall"
gN = "x1 - thetadot*t"
[initial]
q = { x1 = 0.0, y1 = 0.0, x2 = "cos(phi)", y2 = "sin(phi)" }
u = { x1 = -2.0, x2 = -2.0 }
)toml";
    struct Row {
        double thetadot, I_p, I_nu;
        std::array<double, 4> u;
    };
    for (const Row& row : {Row{0.0, 2.4, 0.8, {0.0, -0.692820323027551, -1.8, 0.3464101615137755}},
                           Row{0.1, 2.52, 0.84, {0.1, -0.7274613391789286, -1.79, 0.3637306695894643}}}) {
        const Trajectory motion = motion_of(from_text(rod, {{"thetadot", row.thetadot}}), 0.5);
        ASSERT_GE(motion.events.size(), 1U);
        const Event& e = motion.events[0];
        EXPECT_TRUE(matches(normal_impulse(e, 0), row.I_p, closed_form));
        EXPECT_TRUE(matches(normal_impulse(e, 1), row.I_nu, closed_form));
        for (std::size_t i = 0; i < 4; ++i) EXPECT_TRUE(matches(e.u_plus[i], row.u[i], closed_form)) << i;
    }
}

// --- the hydrostatic skeleton, skeleton.md section 5; tolerances of alscher.json suggested_tolerances ----------------

struct SkeletonEvent {
    EventKind kind;
    double t;
    double I_lambda = 0.0, I_nu = 0.0;  // of each corner, of the volume
    int corner = -1;                    // -1: all four of the front
};

struct SkeletonCase {
    std::string name, model;
    double a, b, momentum, energy;
    std::vector<SkeletonEvent> events;
    double event_time = 1e-6;
    std::vector<double> shear;
};

constexpr EventKind hit = EventKind::impact, off = EventKind::lift_off;

const std::vector<SkeletonCase> skeletons{
    {"A_braced, at rest",
     "hydrostatic-skeleton",
     0.0,
     0.0,
     1.73106312215,
     8.2518600465,
     {{hit, 0.23, 10.88888889, -3.555555556}, {off, 0.502370742474}},
     1e-6,
     {}},
    {"A_braced, 0.01 at 120",
     "hydrostatic-skeleton",
     0.01,
     120.0,
     19.3791192186,
     10.7025629734,
     {{hit, 0.230839987941, 10.17988493, -3.32404406}, {off, 0.310058384788}},
     1e-6,
     {}},
    {"A_braced, 0.006 at 200",
     "hydrostatic-skeleton",
     0.006,
     200.0,
     4.45398322369,
     8.39744362933,
     {{hit, 0.230290262999, 9.745301735, -3.182139342},
      {off, 0.282307269703},
      {hit, 0.303228369437, 1.70921774, -0.5749750916},
      {off, 0.311692147411}},
     1e-6,
     {}},
    {"A, at rest",
     "hydrostatic-skeleton-edges",
     0.0,
     0.0,
     1.6254786029,
     7.84498485899,
     {{hit, 0.23, 10.88888889, -3.555555556}, {off, 0.499865456158}},
     1e-5,
     {}},
    {"A, 0.01 at 120",
     "hydrostatic-skeleton-edges",
     0.01,
     120.0,
     22.454839943,
     11.0685989861,
     {{hit, 0.230839987941, 10.17988493, -3.32404406}, {off, 0.309897693824}},
     1e-6,
     {}},
    {"A, 0.006 at 200",
     "hydrostatic-skeleton-edges",
     0.006,
     200.0,
     6.01586684145,
     8.11287262688,
     {{hit, 0.230290262999, 9.745301735, -3.182139342},
      {off, 0.282140384314},
      {hit, 0.30392973898, 1.733482344, -0.5828974722},
      {off, 0.311689862728}},
     1e-6,
     {}},
    {"A_braced_tilted, at rest",
     "hydrostatic-skeleton",
     0.0,
     0.0,
     2.28919029699,
     -1.0,
     {{hit, 0.228, 10.20829862, -0.8331944676, 0},
      {hit, 0.228963944346, 10.69578423, -0.8916957684, 1},
      {hit, 0.230762787989, 11.59808213, -0.9901022425, 3},
      {hit, 0.231579957706, 12.44359035, -1.087926194, 2},
      {off, 0.438423814611, 0.0, 0.0, 3},
      {off, 0.451572667326, 0.0, 0.0, 2},
      {off, 0.594639709587, 0.0, 0.0, 1}},
     1e-6,
     {0.01, 0.03}},
    {"A_braced_tilted, 0.002 at 60",
     "hydrostatic-skeleton",
     0.002,
     60.0,
     7.74995837061,
     -1.0,
     {{hit, 0.227910758798, 10.09867003, -0.8242466562, 0},
      {hit, 0.228885215141, 10.57904862, -0.8819641444, 1},
      {hit, 0.230704032871, 11.46816822, -0.9790161118, 3},
      {hit, 0.231530179925, 12.30486031, -1.075808595, 2},
      {off, 0.334855823089, 0.0, 0.0, 0},
      {off, 0.336138545546, 0.0, 0.0, 1},
      {hit, 0.339048936121, 0.0001965235002, -1.694732007e-05, 1},
      {hit, 0.340871793449, 0.001317676556, -0.0001135385066, 0},
      {off, 0.405936693583, 0.0, 0.0, 1},
      {off, 0.405977087645, 0.0, 0.0, 0},
      {off, 0.406467456021, 0.0, 0.0, 3},
      {off, 0.407161617106, 0.0, 0.0, 2}},
     1e-6,
     {0.01, 0.03}},
};

/// Corners that leave within the tolerance of each other do so together: without bracing rounding tells them apart
/// (skeleton.md section 7).
std::vector<Event> joined(const std::vector<Event>& events, double within) {
    std::vector<Event> list;
    for (const Event& e : events) {
        if (list.empty() || list.back().kind != e.kind || e.t - list.back().t > within)
            list.push_back(e);
        else
            list.back().elements.insert(list.back().elements.end(), e.elements.begin(), e.elements.end());
    }
    return list;
}

class AlscherSkeleton : public ::testing::TestWithParam<std::size_t> {};

TEST_P(AlscherSkeleton, CollidesAndLiftsOffAtTheReferenceTimes) {
    const SkeletonCase& expected = skeletons[GetParam()];
    SCOPED_TRACE(expected.name);
    model::Description d = description_of(expected.model);
    for (const double s : expected.shear) d.points->shear.emplace_back(s);
    const Model model = built(d, {{"a", expected.a}, {"b", expected.b}});
    const Trajectory motion = motion_of(model, 0.6, EventDriven{.rtol = 1e-9, .atol = 1e-12});
    const std::vector<Event> events = joined(motion.events, 0.1 * expected.event_time);
    ASSERT_EQ(events.size(), expected.events.size()) << story(motion, 20);
    const auto contacts = static_cast<int>(model.contacts.size());
    for (std::size_t i = 0; i < expected.events.size(); ++i) {
        const SkeletonEvent& row = expected.events[i];
        const Event& e = events[i];
        EXPECT_EQ(e.kind, row.kind) << story(motion, 20);
        EXPECT_NEAR(e.t, row.t, expected.event_time);
        for (int corner = 0; corner < 4; ++corner) {
            if (row.corner != -1 && row.corner != corner) continue;
            EXPECT_NE(std::find(e.elements.begin(), e.elements.end(), corner), e.elements.end()) << i << " " << corner;
            EXPECT_NEAR(normal_impulse(e, corner), row.I_lambda, 1e-7 * std::max(1.0, row.I_lambda)) << i;
        }
        EXPECT_NEAR(normal_impulse(e, contacts), row.I_nu, 1e-7 * std::max(1.0, -row.I_nu)) << i;
    }
    double momentum = 0.0;
    for (std::size_t p = 0; p < motion.end.u.size(); p += 3) momentum += motion.end.u[p];  // every mass is 1
    EXPECT_NEAR(momentum, expected.momentum, 1e-5);
    if (expected.energy > 0.0) {
        EXPECT_NEAR(motion.energy.final, expected.energy, 1e-5);
    }
}

INSTANTIATE_TEST_SUITE_P(Case, AlscherSkeleton, ::testing::Range(std::size_t{0}, skeletons.size()),
                         [](const auto& skeleton) { return std::to_string(skeleton.param); });

}  // namespace
}  // namespace saltus
