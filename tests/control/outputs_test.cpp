// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "physics/motion.hpp"
#include "saltus/control/gains/gain_solve.hpp"
#include "saltus/integrate/outputs.hpp"
#include "saltus/io/report/simulate_report.hpp"
#include "saltus/model/outputs.hpp"
#include "support.hpp"

namespace saltus::outputs_test {
namespace {

using namespace saltus::control;
using namespace saltus::test;
using integrate::OutputCourse;
using integrate::Side;
using trajectory::OutputSummary;

const OutputSummary& named(const std::vector<OutputSummary>& list, const std::string& name) {
    const auto at = std::find_if(list.begin(), list.end(), [&](const OutputSummary& o) { return o.name == name; });
    if (at == list.end()) throw std::logic_error("no output " + name);
    return *at;
}

// A ball of mass m that falls on a floor and bounces with restitution e.
const std::string ball = R"toml(
[system]
q = ["y"]
T = "m/2*y'^2"
U = "m*g*y"
[parameters]
m = 2.0
g = 9.81
e = 1.0
[[contact]]
name = "floor"
gN = "y"
eN = "e"
[output]
height = { value = "y", unit = "m" }
momentum = "m*y'"
gamma = "sqrt(max(gap(floor), 0))"
force = "lambda(floor)"
impulse = { value = "Lambda(floor)", unit = "N s" }
[initial]
q = { y = 1.0 }
)toml";

// A body on a curved floor, y + 3 y^2 >= 0. At y = 0 and the velocity v the floor would have the force 5 - 6 v^2.
TEST(Outputs, HaveNoForcesBetweenChangesOfTheStateAtOneTime) {
    const std::string body = R"toml(
[system]
q = ["y"]
T = "y'^2/2"
U = "5*y"
[[contact]]
name = "floor"
gN = "y + 3*y^2"
eN = 0
[output]
N = "lambda(floor)"
speed = "y'"
)toml";
    // An impact at the start: the force -19 of the velocity before it never acts.
    const Model at_start = from_text(body + "[initial]\nu = { y = -2 }\n");
    const Trajectory struck = motion_of(at_start, 1.0);
    ASSERT_EQ(struck.events.size(), 1U) << story(struck);
    const std::vector<OutputSummary> list = integrate::summarise(at_start, struck).outputs;
    EXPECT_NEAR(named(list, "N").lowest, 5.0, 1e-12);
    EXPECT_NEAR(named(list, "N").highest, 5.0, 1e-12);
    EXPECT_NEAR(named(list, "speed").lowest, -2.0, 1e-12) << "velocities exist there";
    OutputCourse course(at_start, struck);
    const std::vector<double> curve = io::output_curves(struck, 2, course, at_start).values[0];
    ASSERT_EQ(curve.size(), 3U) << "before and after the impact, and the end";
    EXPECT_TRUE(std::isnan(curve[0]));
    EXPECT_NEAR(curve[1], 5.0, 1e-12);
    // A reset and the impact that follows it.
    const Model reset = from_text(body + R"toml(
[[jump]]
name = "push"
when = "t - 0.5"
u = { y = "y' - 2" }
)toml");
    for (const double end : {1.0, 0.5}) {
        const Trajectory pushed = motion_of(reset, end);
        ASSERT_EQ(pushed.events.size(), end > 0.5 ? 2U : pushed.events.size()) << story(pushed);
        const std::vector<OutputSummary> after = integrate::summarise(reset, pushed).outputs;
        EXPECT_NEAR(named(after, "N").lowest, 5.0, 1e-12) << end;
        EXPECT_NEAR(named(after, "N").highest, 5.0, 1e-12) << end;
        EXPECT_NEAR(named(after, "N").final, 5.0, 1e-12) << end;
    }
}

TEST(Outputs, OfABallAreItsHeightItsMomentumAndTheImpulseOfTheFloor) {
    const Model model = from_text(ball);
    const Trajectory motion = motion_of(model, 2.0);
    const std::vector<OutputSummary> list = integrate::summarise(model, motion).outputs;
    ASSERT_EQ(list.size(), 5U);
    EXPECT_EQ(list[0].name, "height") << "the order of the file";
    EXPECT_EQ(list[0].unit, "m");
    const double fall = std::sqrt(2.0 / 9.81), v = 9.81 * fall;
    EXPECT_NEAR(list[0].final, motion.end.q[0], 1e-15);
    EXPECT_NEAR(list[0].highest, 1.0, 1e-12);
    EXPECT_NEAR(list[0].lowest, 0.0, 1e-12);
    EXPECT_NEAR(named(list, "momentum").lowest, -2.0 * v, 1e-9) << "just before the impact";
    EXPECT_NEAR(named(list, "momentum").highest, 2.0 * v, 1e-9) << "just after it";
    // Momentum: m (u − u(0)) = −m g t + Λ.
    const double expected = 2.0 * motion.end.u[0] + 2.0 * 9.81 * 2.0;
    EXPECT_NEAR(named(list, "impulse").final, expected, 1e-9);
    EXPECT_NEAR(named(list, "gamma").final, std::sqrt(motion.end.q[0]), 1e-9);
    OutputCourse course(model, motion);
    std::vector<double> values(5);
    const Event hit = events_of(motion, EventKind::impact)[0];
    course.evaluate(hit.t, Side::before, hit.q, hit.u_minus, values);
    EXPECT_EQ(values[4], 0.0) << "no impulse before the first impact";
    course.evaluate(hit.t, Side::after, hit.q, hit.u_plus, values);
    EXPECT_NEAR(values[4], 4.0 * v, 1e-9) << "2 m v at the impact";
}

TEST(Outputs, TheRunningImpulseCountsAccumulatedImpactsAndTheForceAtRest) {
    const Model model = from_text(ball, {{"e", 0.5}});
    const Trajectory motion = motion_of(model, 3.0);
    ASSERT_FALSE(events_of(motion, EventKind::accumulation).empty());
    const std::vector<OutputSummary> list = integrate::summarise(model, motion).outputs;
    EXPECT_NEAR(named(list, "force").final, 2.0 * 9.81, 1e-9);
    EXPECT_NEAR(named(list, "impulse").final, 2.0 * 9.81 * 3.0, 1e-8) << "at rest at both ends: the weight times time";
}

TEST(Outputs, TheMeanForceTendsToTheSteadyOneAlthoughImpactsNeverEnd) {  // [Tornambe] (29d), errata 2
    const Model arm = shipped("single-link-arm");
    const Trajectory motion = motion_of(arm, 12.0);
    const std::vector<trajectory::ImpulseRate> rates = integrate::summarise(arm, motion).impulse_rates;
    ASSERT_EQ(rates.size(), 1U);
    EXPECT_NEAR(rates[0].mean, 0.5, 0.5 * 0.02) << "Kp q0";
    EXPECT_TRUE(rates[0].settled);
    // Momentum over the stretch: I Δu = ∫u dt + ΔΛ with u = −Kp q − Kv q′.
    double integral = 0.0;
    constexpr int n = 200000;
    const double h = (rates[0].to - rates[0].from) / n;
    for (int k = 0; k < n; ++k) integral += h * motion.right(rates[0].from + (k + 0.5) * h).q[0];
    const State a = motion.right(rates[0].from), b = motion.right(rates[0].to);
    const double impulse = 0.045216 * (b.u[0] - a.u[0]) + integral + 0.1 * (b.q[0] - a.q[0]);
    EXPECT_NEAR(rates[0].mean * (rates[0].to - rates[0].from), impulse, 1e-6);
}

TEST(Outputs, StrainOfTheFlexibleArmHasThePeakAndTheRestOfFigureTwo) {
    const Model arm = shipped("flexible-arm");
    const Trajectory motion = motion_of(arm, 2.0);
    const std::vector<OutputSummary> list = integrate::summarise(arm, motion).outputs;
    // At rest a clamped beam with the force F at its end: strain d/2 F (l − x)/EI, in 1/1000.
    const double l = 0.6, EI = 5.6, q = 0.5 / (1.0 + l / (3.0 * EI)), F = q / l;
    EXPECT_NEAR(named(list, "strain1").final, F * (l - 0.095) / EI, 2e-7);
    EXPECT_NEAR(named(list, "strain2").final, F * (l - 0.255) / EI, 2e-7);
    EXPECT_NEAR(named(list, "strain1").final, 0.07256, 5e-6);
    EXPECT_NEAR(named(list, "strain2").final, 0.04957, 5e-6);
    EXPECT_NEAR(named(list, "strain1").highest, 0.326, 5e-4) << "at the first impact";
    // The extremum is one: samples nearby are lower.
    OutputCourse course(arm, motion);
    std::vector<double> values(course.size());
    for (const double dt : {-1e-5, 1e-5}) {
        const State s = motion.right(named(list, "strain1").highest_at + dt);
        course.evaluate(s.t, Side::before, s.q, s.u, values);
        EXPECT_LE(values[0], named(list, "strain1").highest);
    }
}

TEST(Outputs, StandInTheTableOfStates) {
    const Model model = from_text(ball);
    const Trajectory motion = motion_of(model, 0.4);
    OutputCourse course(model, motion);
    const trajectory::OutputCurves curves = io::output_curves(motion, 3, course, model);
    const std::string csv = io::states_csv(motion, 3, &curves);
    EXPECT_EQ(csv.substr(0, csv.find('\n')), "t,y,y',height,momentum,gamma,force,impulse");
    EXPECT_NE(csv.find("\n0,1,0,1,0,1,0,0\n"), std::string::npos) << csv;
}

TEST(Outputs, MayBeTargets) {
    SolveOptions o;
    o.run.t_end = 2.0;
    const GainSolution peak =
        solve_for(description_of("flexible-arm"), unknown_from_text("Kv=0.1:0.4"), "highest(strain1) = 0.25", o);
    ASSERT_EQ(peak.status, SolveStatus::solved) << peak.reason;
    const Model arm = shipped("flexible-arm", {{"Kv", peak.value}});
    const std::vector<OutputSummary> list = integrate::summarise(arm, motion_of(arm, 2.0)).outputs;
    EXPECT_NEAR(named(list, "strain1").highest, 0.25, 1e-6);
    // At the steady rest the derivative is exact: strain1 = F (l − x)/EI with F = Kp q/l.
    o.at = TargetAt::steady;
    const GainSolution rest = solve_for(description_of("flexible-arm"), unknown_from_text("Kp"), "strain1 = 0.1", o);
    ASSERT_EQ(rest.status, SolveStatus::solved) << rest.reason;
    const double Kp = rest.value, F = Kp * 0.5 / (1.0 + Kp * 0.6 / (3.0 * 5.6)) / 0.6;
    EXPECT_NEAR(F * (0.6 - 0.095) / 5.6, 0.1, 1e-11);
}

TEST(Outputs, RefuseWhatIsNotKnown) {
    const auto refusal = [](const std::string& line) {
        return refusal_of([&] { from_text(replaced(ball, "height = { value = \"y\", unit = \"m\" }", line)); });
    };
    EXPECT_NE(refusal("a = \"z\"").find("undefined name 'z'"), std::string::npos) << refusal("a = \"z\"");
    EXPECT_NE(refusal("a = \"gap(flor)\"").find("did you mean 'floor'"), std::string::npos);
    EXPECT_NE(refusal("a = \"lambdaT(floor)\"").find("no friction"), std::string::npos);
    EXPECT_NE(refusal("m = \"y\"").find("named like a parameter"), std::string::npos);
    EXPECT_NE(refusal("a = { unit = \"m\" }").find("has no value"), std::string::npos);
    EXPECT_NE(refusal("a = { value = \"y\", units = \"m\" }").find("unit"), std::string::npos);
    EXPECT_NE(refusal("a = \"gap(floor\"").find("not closed"), std::string::npos);
}

}  // namespace
}  // namespace saltus::outputs_test
