// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "physics/motion.hpp"
#include "reference/reference.hpp"
#include "saltus/control/gains/gain_solve.hpp"
#include "saltus/ensemble/axis_text.hpp"
#include "saltus/model/settings.hpp"
#include "support.hpp"

namespace saltus::gain_test {
namespace {

using namespace saltus::control;
using namespace saltus::test;

RunOptions to(double t_end, const Values& set = {}) {
    RunOptions o;
    o.t_end = t_end;
    for (const auto& [name, value] : set) o.build.set.emplace_back(name, number_text(value));
    return o;
}

GainSolution solved(const std::string& model, const std::string& unknown, const std::string& target,
                    const RunOptions& run) {
    SolveOptions o;
    o.run = run;
    return solve_for(description_of(model), unknown_from_text(unknown), target, o);
}

// --- positions of rest -----------------------------------------------------------------------------------------------

TEST(Rest, OfTheArmIsAtTheObstacleOnlyIfTheReferenceIsBehindIt) {  // tornambe_violation_q0_negative
    for (const auto& [q0, q_R, force, touches] :
         {std::tuple{-0.3, 0.0, 0.0, 0U}, {0.0, 0.0, 0.0, 1U}, {0.3, 0.3, 0.3, 1U}}) {
        const Model arm = shipped("single-link-arm", {{"q0", q0}});
        Statics statics(arm, ContactModel::rigid);
        const Rest rest = find_rest(statics, arm.q0);
        ASSERT_TRUE(rest.found) << rest.reason;
        EXPECT_NEAR(rest.q[0], q_R, 1e-14);
        EXPECT_NEAR(rest.lambda(1), force, 1e-14);
        EXPECT_EQ(rest.lambda(0), 0.0);
        EXPECT_EQ(rest.closed.size(), touches);
        EXPECT_TRUE(rest.minimum());
    }
}

TEST(Rest, OfSpringsMatchesTheClosedForm) {  // tornambe_penalty_static_A
    for (double k = 1e3; k < 2e9; k *= 10.0) {
        const Model arm = shipped("single-link-arm", {{"k2", k}});
        Statics statics(arm, ContactModel::springs);
        const Rest rest = find_rest(statics, arm.q0);
        ASSERT_TRUE(rest.found) << rest.reason;
        EXPECT_NEAR(rest.q[0], k / (k + 1.0) * 0.5, 1e-14);
        EXPECT_NEAR(rest.lambda(1), k / (k + 1.0) * 0.5, 1e-14);
    }
}

TEST(Rest, OfTheUnderactuatedPairHasItsForceAndItsDerivative) {
    const double Kp = 8.0, ks = 20.0, c = 0.3;
    const Model pair = shipped("two-link-underactuated");
    Statics statics(pair, ContactModel::rigid);
    const Rest rest = find_rest(statics, pair.q0);
    ASSERT_TRUE(rest.found);
    EXPECT_NEAR(rest.q[0], ks * c / (ks + Kp), 1e-14);
    EXPECT_NEAR(rest.q[1], c, 1e-14);
    EXPECT_NEAR(rest.lambda(0), Kp * ks * c / (ks + Kp), 1e-14);
    EXPECT_NEAR(rest.curvature, (ks + Kp) / 1.0, 1e-10) << "along q1 alone";
    int column = -1;
    for (const model::Parameter& p : pair.settings->parameters) column = p.name == "Kp" ? p.column : column;
    const auto change = rest_derivative(statics, rest, column);
    ASSERT_TRUE(change.has_value());
    EXPECT_NEAR(change->lambda(0), ks * ks * c / (ks + Kp) / (ks + Kp), 1e-13);
    EXPECT_NEAR(change->q(0), -ks * c / (ks + Kp) / (ks + Kp), 1e-13);
    EXPECT_NEAR(change->q(1), 0.0, 1e-15);
}

TEST(Rest, OfAPendulumWithAConstraintAndAWallIsFoundFromAfar) {
    // A bead of weight 2 on the circle of radius 1, with a wall at x >= 0.6: it rests at (0.6, -0.8).
    const Model bead = from_text(R"toml(
[system]
name = "bead"
q = ["x", "y"]
T = "1/2*(x'^2 + y'^2)"
U = "2*y"
[[constraint]]
name = "ring"
g = "(x^2 + y^2 - 1)/2"
[[contact]]
name = "wall"
gN = "x - 0.6"
[initial]
q = { x = 0.8, y = 0.6 }
)toml");
    Statics statics(bead, ContactModel::rigid);
    const Rest rest = find_rest(statics, bead.q0);
    ASSERT_TRUE(rest.found) << rest.reason;
    EXPECT_NEAR(rest.q[0], 0.6, 1e-12);
    EXPECT_NEAR(rest.q[1], -0.8, 1e-12);
    EXPECT_NEAR(rest.lambda(0), -2.0 / 0.8, 1e-12) << "-2 + lambda y = 0";
    EXPECT_NEAR(rest.lambda(1), 0.6 * 2.0 / 0.8, 1e-12);
    EXPECT_TRUE(std::isnan(rest.curvature)) << "no direction is left";
}

// --- numbers of a run ------------------------------------------------------------------------------------------------

TEST(Measures, CountImpactsAndFindTheSettlingTimeOfADampedSwing) {
    // q = exp(-d t)(cos w t + d/w sin w t): within 2 % for good after the last crossing of +-0.02.
    const Model free = from_text(R"toml(
[system]
name = "swing"
q = ["q"]
T = "1/2*q'^2"
[control]
actuated = ["q"]
Kp = 9.0
Kv = 1.2
[initial]
q = { q = 1.0 }
)toml");
    const Measures m = measure(free, motion_of(free, 12.0), ContactModel::rigid, 1.0);
    ASSERT_TRUE(m.settling_time.has_value()) << m.not_settled;
    const double d = 0.6, w = std::sqrt(9.0 - d * d), t = *m.settling_time;
    const auto q = [&](double s) { return std::exp(-d * s) * (std::cos(w * s) + d / w * std::sin(w * s)); };
    EXPECT_NEAR(std::abs(q(t)), 0.02, 1e-9);
    for (int k = 1; k < 2000; ++k) EXPECT_LE(std::abs(q(t + k * 0.01)), 0.02);
    EXPECT_EQ(m.impacts, 0);
}

TEST(Measures, OfSpringsAreImpulsesThatApproachThoseOfRigidContacts) {
    const Model arm = shipped("single-link-arm", {{"k1", 1e8}, {"k2", 1e8}});
    const Trajectory soft = motion_of(arm, 0.5, Penalty{});
    const Measures m = measure(arm, soft, ContactModel::springs, 1.0);
    EXPECT_EQ(m.impacts, 1);
    // ∫N dt = I (v⁺ − v⁻) + what the controller does meanwhile, of the order of the duration.
    const Event in = events_of(soft, EventKind::contact).at(0), out = events_of(soft, EventKind::lift_off).at(0);
    const double duration = out.t - in.t, change = 0.045216 * (out.u_plus[0] - in.u_plus[0]);
    EXPECT_NEAR(m.peak_impulse, change + 0.5 * duration, 1e-6) << "Kp q0 = 0.5 acts all the while";
    const double speed = test::reference::entry("tornambe_arm_rigid_A_e1")["outputs"]["impacts"][0]["v_plus"];
    EXPECT_NEAR(m.peak_force, speed * std::sqrt(0.045216 * 1e8), 2.0) << "v sqrt(I k)";
}

// --- studies ---------------------------------------------------------------------------------------------------------

ensemble::Starts starts_of(const std::vector<std::string>& texts) {
    ensemble::Starts starts;
    starts.fastest = ensemble::Starts::Fastest::last;
    for (const std::string& text : texts)
        starts.axes.push_back(ensemble::axis_from_text(text, ensemble::AxisUse::values, "--vary"));
    return starts;
}

TEST(GainStudy, GivesOneAnswerForAnyNumberOfThreads) {
    const ensemble::Starts starts = starts_of({"Kp=0.5:4:4", "e=0.5,0.8"});
    StudyPlace one, three;
    one.engine.threads = 1;
    three.engine.threads = 3;
    const model::Description arm = description_of("single-link-arm");
    const GainStudy a = study_gains(arm, starts, to(3.0), one), b = study_gains(arm, starts, to(3.0), three);
    ASSERT_EQ(a.runs.size(), 8U);
    ASSERT_TRUE(a.complete && b.complete);
    for (std::size_t r = 0; r < 8; ++r) {
        const Measures &x = a.runs[r].measures, &y = b.runs[r].measures;
        EXPECT_EQ(a.runs[r].values, b.runs[r].values);
        EXPECT_EQ(x.end.q, y.end.q);
        EXPECT_EQ(x.settling_time, y.settling_time);
        EXPECT_EQ(x.peak_impulse, y.peak_impulse);
        EXPECT_EQ(x.accumulations, 1);
        EXPECT_NEAR(x.steady.lambda(1), 0.5 * a.runs[r].values[0], 1e-13) << "Kp q0";
        EXPECT_NEAR(x.forces.at(1).N, 0.5 * a.runs[r].values[0], 1e-9) << "at the end, too";
        EXPECT_GT(x.impacts, 10);
    }
}

TEST(GainStudy, NamesTheValuesForWhichAModelCannotBeBuilt) {
    const std::string refusal =
        refusal_of([] { study_gains(description_of("single-link-arm"), starts_of({"I_r=-1:1:3"}), to(1.0)); });
    EXPECT_NE(refusal.find("with I_r = -1"), std::string::npos) << refusal;
    const std::string twice = refusal_of([] {
        study_gains(description_of("single-link-arm"), starts_of({"Kp=1,2", "Kp=3,4"}), to(1.0));
    });
    EXPECT_NE(twice.find("varied twice"), std::string::npos) << twice;
}

// --- solving for a gain ----------------------------------------------------------------------------------------------

TEST(SolveFor, TheGainOfASteadyForceIsExact) {
    for (const double e : {1.0, 0.5}) {  // with e = 1 the arm is never at rest, and the answer is the same
        const GainSolution s = solved("single-link-arm", "Kp", "lambda(lower) = 5", to(2.0, {{"e", e}}));
        EXPECT_EQ(s.status, SolveStatus::solved) << s.reason;
        EXPECT_EQ(s.at, TargetAt::steady);
        EXPECT_NEAR(s.value, 10.0, 1e-13);
        ASSERT_TRUE(s.derivative.has_value());
        EXPECT_NEAR(*s.derivative, 0.5, 1e-13);
        EXPECT_LE(s.trials.size(), 3U) << "linear";
    }
    const GainSolution other = solved("single-link-arm", "Kp", "lambda(lower) = 5", to(2.0, {{"q0", 0.7}}));
    EXPECT_NEAR(other.value, 5.0 / 0.7, 1e-13);
}

TEST(SolveFor, OfSpringsFollowsTheirClosedForm) {
    RunOptions run = to(2.0, {{"k2", 1e3}});
    run.method = Penalty{};
    const GainSolution s = solved("single-link-arm", "Kp", "lambda(lower) = 5", run);  // k Kp q0/(k + Kp) = 5
    EXPECT_EQ(s.status, SolveStatus::solved) << s.reason;
    EXPECT_NEAR(s.value, 5.0 * 1e3 / (0.5 * 1e3 - 5.0), 1e-12);
    const GainSolution k = solved(
        "single-link-arm", "k2", "lambda(lower) = 0.49", run = [] {
            RunOptions o = to(2.0);
            o.method = Penalty{};
            return o;
        }());
    EXPECT_EQ(k.status, SolveStatus::solved) << k.reason;
    EXPECT_NEAR(k.value, 0.49 / (0.5 - 0.49), 1e-9) << "k/(k + 1)/2 = 0.49";
}

TEST(SolveFor, TheUnderactuatedPair) {
    const GainSolution s = solved("two-link-underactuated", "Kp", "lambda(wall) = 2*c + 1.4", to(6.0));
    EXPECT_EQ(s.status, SolveStatus::solved) << s.reason;
    EXPECT_NEAR(s.value, 10.0, 1e-12) << "Kp ks c/(ks + Kp) = 2";
}

TEST(SolveFor, AStateAtTheEndOfTheMotion) {
    const GainSolution s = solved("single-link-arm", "Kv", "q = 0.55", to(2.0));
    ASSERT_EQ(s.status, SolveStatus::solved) << s.reason;
    EXPECT_EQ(s.at, TargetAt::end);
    const Trajectory again = motion_of(shipped("single-link-arm", {{"Kv", s.value}}), 2.0);
    EXPECT_NEAR(again.end.q[0], 0.55, 1e-10);
}

TEST(SolveFor, ReportsAnUnreachableTarget) {
    // The pair's wall carries less than ks c = 6 whatever the gain.
    const GainSolution far = solved("two-link-underactuated", "Kp=0.1:1000", "lambda(wall) = 7", to(6.0));
    EXPECT_EQ(far.status, SolveStatus::unreachable);
    EXPECT_NE(far.reason.find("never crosses"), std::string::npos) << far.reason;
    EXPECT_NEAR(far.target_high, 1000.0 * 20.0 * 0.3 / 1020.0, 1e-12);
    const GainSolution jump = solved("single-link-arm", "Kv", "impacts = 7.5", to(2.0));
    EXPECT_EQ(jump.status, SolveStatus::jump);
    ASSERT_TRUE(jump.bracket.has_value());
    EXPECT_LT(jump.bracket->second - jump.bracket->first, 1e-11);
}

TEST(SolveFor, RefusesTextsThatAreNoTargets) {
    const auto refusal = [](const std::string& unknown, const std::string& target) {
        return refusal_of([&] { solved("single-link-arm", unknown, target, to(1.0)); });
    };
    EXPECT_NE(refusal("Kp", "lambda(lowr) = 5").find("lower"), std::string::npos) << refusal("Kp", "lambda(lowr) = 5");
    EXPECT_NE(refusal("Kp", "lambda(lower)").find("not an equation"), std::string::npos);
    EXPECT_NE(refusal("Kp", "lambda(lower) < 5").find("not an equation"), std::string::npos);
    EXPECT_NE(refusal("Kp", "lambdaT(lower) = 5").find("no friction"), std::string::npos);
    EXPECT_NE(refusal("Kp", "w = 5").find("'w'"), std::string::npos);
    EXPECT_NE(refusal("Kx", "q = 5").find("did you mean"), std::string::npos) << refusal("Kx", "q = 5");
    EXPECT_NE(refusal("Kp=2:1", "q = 5").find("ascend"), std::string::npos);
}

}  // namespace
}  // namespace saltus::gain_test
