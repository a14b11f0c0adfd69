// SPDX-License-Identifier: Apache-2.0
//
// Planted false statements: each judge must find them, and must accept the true ones next to them.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>

#include "machine/calls.hpp"
#include "machine/impact_laws.hpp"
#include "machine/judge_basin.hpp"
#include "machine/judge_belt.hpp"
#include "machine/judge_certificate.hpp"
#include "machine/judge_equilibria.hpp"
#include "machine/judge_impact.hpp"
#include "machine/judge_motion.hpp"
#include "machine/judge_penalty.hpp"
#include "machine/judge_sensitivity.hpp"
#include "machine/judge_solve.hpp"

using namespace trials;

namespace {

bool found(const Findings& findings, const std::string& sort) {
    return std::ranges::any_of(findings.violations, [&](const Violation& v) { return v.sort == sort; });
}

Expression x() { return Expression::position(0); }

/// A block of mass 1 that slides on a floor with friction 0.2, pushed off with speed 3, gravity 10.
Model sliding_block() {
    Model model = point_masses(2, 1.0);
    model.potential = {Expression(10.0) * Expression::position(1)};
    Contact contact;
    contact.name = "floor";
    contact.gap = Expression::position(1);
    contact.slip = {Expression::velocity(0)};
    contact.friction = {FrictionLaw::Kind::planar, {0.2}, 0.0};
    model.contacts = {contact};
    model.u0 = {3.0, 0.0};
    return model;
}

/// A motion x = 3 t - a t²/2 + `ripple` at height `y`, as a program might report it.
Motion told_motion(const Model& model, double a, double y, double reported_violation) {
    Motion motion;
    motion.arcs.emplace_back();
    for (int i = 0; i <= 200; ++i) {
        const double t = model.t_end * i / 200;
        motion.arcs.back().push_back({t, {3.0 * t - a * t * t / 2, y}, {3.0 - a * t, 0.0}});
    }
    const auto energy = [&](const Point& p) { return p.u[0] * p.u[0] / 2 + 10.0 * p.q[1]; };
    motion.document = {{"violation", {{"gap", reported_violation}}},
                       {"events", nlohmann::json::array()},
                       {"forces", {{"floor", {{"N", 10.0}, {"T", {-2.0}}}}}},
                       {"energy",
                        {{"initial", energy(motion.arcs[0].front())},
                         {"final", energy(motion.arcs[0].back())},
                         {"balance_error", 0.0}}}};
    return motion;
}

/// A program that prints a document instead of computing one.
class TellingProgram {
public:
    explicit TellingProgram(const std::string& script) {
        folder_ = std::filesystem::temp_directory_path() / ("saltus-trials-" + std::to_string(::getpid()));
        std::filesystem::create_directories(folder_);
        const auto file = folder_ / "program";
        std::ofstream(file) << "#!/bin/sh\n" << script << "\n";
        std::filesystem::permissions(file, std::filesystem::perms::owner_all);
    }
    ~TellingProgram() { std::filesystem::remove_all(folder_); }
    TellingProgram(const TellingProgram&) = delete;
    TellingProgram& operator=(const TellingProgram&) = delete;
    Program program() const { return {folder_ / "program", folder_ / "files"}; }

private:
    std::filesystem::path folder_;
};

nlohmann::json point_set(const std::string& label, double at) {
    return {{"label", label},
            {"contacts_closed", nlohmann::json::array()},
            {"extent", {{"x", {at, at}}}},
            {"dimension", 0},
            {"representative", {{"x", at}}},
            {"boundary", nlohmann::json::array()}};
}

Model double_well() {
    Model model = point_masses(1, 1.0);
    model.potential = {power(power(x(), 2) - 1.0, 2)};
    model.dissipation = {Expression(0.3) * power(Expression::velocity(0), 2)};
    model.q0 = {1.0};
    return model;
}

nlohmann::json attractive(double at, const nlohmann::json& rho, double reference) {
    return {{"verdict", "attractive"},
            {"grade", "proved"},
            {"rho", rho},
            {"reference", reference},
            {"domain", nlohmann::json::object()},
            {"equilibrium", {{"q", {{"x", at}}}}}};
}

}  // namespace

TEST(MotionJudge, AcceptsTheClosedFormOfASlidingBlock) {
    const Model model = sliding_block();
    const Findings findings = judge_laws(model, told_motion(model, 2.0, 0.0, 0.0));
    EXPECT_TRUE(findings.violations.empty());
    EXPECT_GT(findings.statements, 30);
}

TEST(MotionJudge, FindsFrictionThatIsTooWeakOrTooStrong) {
    const Model model = sliding_block();
    EXPECT_TRUE(found(judge_laws(model, told_motion(model, 1.9, 0.0, 0.0)), "force-law"));
    EXPECT_TRUE(found(judge_laws(model, told_motion(model, 2.1, 0.0, 0.0)), "force-law"));
}

TEST(MotionJudge, FindsABlockThatFloatsAndOneThatPenetrates) {
    const Model model = sliding_block();
    EXPECT_TRUE(found(judge_laws(model, told_motion(model, 2.0, 0.1, 0.0)), "force-law"));
    EXPECT_TRUE(found(judge_laws(model, told_motion(model, 2.0, -0.01, 0.0)), "gap"));
    EXPECT_TRUE(found(judge_laws(model, told_motion(model, 2.0, -0.01, 0.01)), "completed-with-violation"));
}

TEST(MotionJudge, FindsABlockThatIsStuckAlthoughItIsPulledHarderThanFriction) {
    Model model = sliding_block();
    model.u0 = {0.0, 0.0};
    for (const double pull : {1.9, 2.1}) {
        model.forces[0] = {pull};
        Motion motion = told_motion(model, 2.0, 0.0, 0.0);
        for (Point& point : motion.arcs[0]) point.q = point.u = {0.0, 0.0};
        EXPECT_EQ(found(judge_laws(model, motion), "force-law"), pull > 2.0);
    }
}

TEST(MotionJudge, FindsAFinalForceOutsideOfItsSet) {
    const Model model = sliding_block();
    Motion motion = told_motion(model, 2.0, 0.0, 0.0);
    motion.document["forces"]["floor"]["T"] = {-2.5};
    EXPECT_TRUE(found(judge_laws(model, motion), "final-force-outside"));
}

TEST(MotionJudge, FindsAFalseRestitution) {
    Model model = point_masses(1, 1.0);
    Contact wall;
    wall.name = "wall";
    wall.gap = x();
    wall.e_n = 0.5;
    model.contacts = {wall};
    model.q0 = {1.0};
    model.u0 = {-2.0};
    for (const double after : {1.0, 1.2}) {
        Motion motion;
        motion.arcs = {{{0.0, {1.0}, {-2.0}}, {0.5, {0.0}, {-2.0}}},
                       {{0.5, {0.0}, {after}}, {1.0, {0.5 * after}, {after}}}};
        motion.events = {{"impact",
                          motion.arcs[0].back(),
                          motion.arcs[1].front(),
                          {{"wall", {{"N", 2.0 + after}, {"T", nlohmann::json::array()}}}}}};
        motion.document = {{"violation", {{"gap", 0.0}}},
                           {"forces", nlohmann::json::object()},
                           {"energy", {{"initial", 2.0}, {"final", after * after / 2}, {"balance_error", 0.0}}}};
        EXPECT_EQ(found(judge_laws(model, motion), "impact-complementarity"), after != 1.0);
    }
}

TEST(MotionJudge, FindsAVelocityThatItsConstraintForbidsAndAContactThatIsMissing) {
    // The block may slide along x and not along y; the table exists for x < 1 only.
    Model model = sliding_block();
    model.potential.clear();
    model.contacts[0].friction = {};
    model.contacts[0].slip.clear();
    const auto judged = [&](const Motion& motion, const std::string& sort) {
        return found(judge_laws(model, motion), sort);
    };
    const Motion lifted = told_motion(model, 0.0, 0.0, 0.0);
    Motion sunken = told_motion(model, 0.0, -0.1, 0.0);
    EXPECT_TRUE(judged(sunken, "gap"));
    model.contacts[0].condition = Expression(-1.0) - x();
    EXPECT_FALSE(judged(sunken, "gap"));
    model.constraints = {{"rail", 0.0, {}, {}, Expression::velocity(1)}};
    EXPECT_FALSE(judged(lifted, "constraint"));
    for (Point& p : sunken.arcs[0]) p.u[1] = 0.2;
    EXPECT_TRUE(judged(sunken, "constraint"));
}

TEST(MotionJudge, FindsAnEndThatTimeSteppingContradicts) {
    const Model model = sliding_block();
    EXPECT_TRUE(judge_by_stepping(model, told_motion(model, 2.0, 0.0, 0.0)).violations.empty());
    EXPECT_TRUE(found(judge_by_stepping(model, told_motion(model, 1.9, 0.0, 0.0)), "end-position"));
}

TEST(EquilibriumJudge, FindsAPositionThatIsNoEquilibriumAndOneThatIsMissing) {
    const Model model = double_well();
    nlohmann::json document = {{"complete", true},
                               {"sets", {point_set("E1", -1.0), point_set("E2", 0.0), point_set("E3", 1.0)}}};
    EXPECT_TRUE(judge_sets(model, document).violations.empty());
    document["sets"].erase(1);
    EXPECT_TRUE(found(judge_sets(model, document), "missing-equilibrium"));
    document["complete"] = false;
    EXPECT_TRUE(judge_sets(model, document).violations.empty());
    document["sets"].push_back(point_set("E4", 0.5));
    EXPECT_TRUE(found(judge_sets(model, document), "no-equilibrium"));
}

TEST(EquilibriumJudge, FindsACurveThatJoinsSeveralSets) {
    const Model model = double_well();
    nlohmann::json joined = point_set("E1", -1.0);
    joined["extent"]["x"] = {-1.0, 1.0};
    joined["dimension"] = 1;
    EXPECT_TRUE(found(judge_sets(model, {{"sets", {joined}}}), "no-equilibrium"));
}

TEST(EquilibriumJudge, FindsASetThatEndsTooEarly) {
    // A spring of stiffness 1 and friction of 1 N: rest on [-1, 1].
    Model model = point_masses(1, 1.0);
    model.potential = {Expression(0.5) * power(x(), 2)};
    Slider slider;
    slider.name = "pad";
    slider.slip = {Expression::velocity(0)};
    slider.friction = {FrictionLaw::Kind::planar, {1.0}, 0.0};
    slider.normal_force = Expression(1.0);
    model.sliders = {slider};
    for (const double end : {1.0, 0.8}) {
        nlohmann::json set = point_set("E1", 0.0);
        set["extent"]["x"] = {-1.0, end};
        set["dimension"] = 1;
        EXPECT_EQ(found(judge_sets(model, {{"sets", {set}}}), "false-end"), end < 1.0);
    }
}

TEST(EquilibriumJudge, FindsAFalseStability) {
    const Model model = double_well();
    nlohmann::json set = point_set("E1", 0.0);
    set["stability"] = {{"verdict", "unstable"}};
    EXPECT_TRUE(judge_sets(model, {{"sets", {set}}}).violations.empty());
    set["stability"] = {{"verdict", "asymptotically stable"}};
    EXPECT_TRUE(found(judge_sets(model, {{"sets", {set}}}), "stability"));
}

TEST(CertificateJudge, AcceptsAWellAndFindsALevelBeyondItsBarrier) {
    const Model model = double_well();
    EXPECT_TRUE(judge_certificate_document(model, attractive(1.0, 0.99, 0.0), 6).violations.empty());
    EXPECT_TRUE(found(judge_certificate_document(model, attractive(1.0, 6.0, 0.0), 20), "rests-elsewhere"));
}

TEST(CertificateJudge, FindsAPotentialThatIsBoundedAtInfinity) {
    Model model = point_masses(1, 1.0);
    model.potential = {Expression(-1.0) / (Expression(1.0) + power(x(), 2))};
    model.dissipation = {Expression(0.001) * power(Expression::velocity(0), 2)};
    EXPECT_TRUE(found(judge_certificate_document(model, attractive(0.0, "inf", -1.0), 10), "escapes"));
}

TEST(CertificateJudge, FindsAnUnstableMinimum) {
    const Model model = double_well();
    nlohmann::json document = {{"verdict", "unstable"}, {"equilibrium", {{"q", {{"x", 1.0}}}}}};
    EXPECT_TRUE(found(judge_certificate_document(model, document, 1), "unstable-minimum"));
    document["equilibrium"]["q"]["x"] = 0.0;
    EXPECT_TRUE(judge_certificate_document(model, document, 1).violations.empty());
}

TEST(Calls, CrashesHangsAndUndocumentedExitCodesAreViolations) {
    nlohmann::json document;
    const auto sort = [&](const std::string& script) {
        Findings findings;
        call(TellingProgram(script).program(), {"simulate"}, 1, document, findings);
        return findings.violations.empty() ? "" : findings.violations[0].sort;
    };
    EXPECT_EQ(sort("kill -6 $$"), "crash");
    EXPECT_EQ(sort("exit 7"), "crash");
    EXPECT_EQ(sort("while true; do :; done"), "time-out");
    EXPECT_EQ(sort("echo no document"), "document");
    EXPECT_EQ(sort("exit 2"), "");
    EXPECT_EQ(sort("echo '{}'"), "");
}

TEST(ImpactJudge, FindsAFalseOutcome) {
    Model model = point_masses(1, 1.0);
    Contact wall;
    wall.name = "wall";
    wall.gap = x();
    wall.e_n = 0.5;
    model.contacts = {wall};
    model.u0 = {-2.0};
    const TellingProgram right(
        "echo '{\"u_plus\":{\"x\":1.0},\"kinetic\":{\"holds\":true},\"kinematic\":{\"holds\":true},\"work\":null,"
        "\"consistent\":true}'");
    EXPECT_FALSE(found(judge_impact(model, right.program()), "impact-outcome"));
    const TellingProgram wrong(
        "echo '{\"u_plus\":{\"x\":1.1},\"kinetic\":{\"holds\":true},\"kinematic\":{\"holds\":true},\"work\":null,"
        "\"consistent\":true}'");
    EXPECT_TRUE(found(judge_impact(model, wrong.program()), "impact-outcome"));
}

TEST(SensitivityJudge, FindsAFalseDerivative) {
    // A free mass: x(1) = x0 + u0. The script answers `simulate` from the start that the model file states.
    Model model = point_masses(1, 1.0);
    model.q0 = {0.5};
    model.u0 = {0.25};
    const std::string script = R"(
if [ $1 = sensitivity ]; then
  echo '{"final":{"q":{"x":{"x":1.0,"x'"'"'":DERIVATIVE}},"u":{"x":{"x":0.0,"x'"'"'":1.0}}},
         "events":[{"kind":"jump","contacts":[],"transversality":1.0,"dt":{"x":-4.0,"x'"'"'":RATE}}]}'
else
  q=$(sed -n 's/^q = { x = \(.*\) }/\1/p' $2); u=$(sed -n 's/^u = { x = \(.*\) }/\1/p' $2)
  echo "{\"status\":\"completed\",\"final\":{\"q\":{\"x\":$(awk "BEGIN{printf \"%.15f\", $q+$u}")},\"u\":{\"x\":$u}},
         \"events\":[{\"t\":$(awk "BEGIN{printf \"%.15f\", (1-$q)/$u}"),\"kind\":\"jump\",\"contacts\":[]}]}"
fi)";
    struct Told {
        std::string derivative, rate;  // of x(1), and of the time at which x = 1, by the velocity
    };
    for (const Told& told : {Told{"1.0", "-8.0"}, Told{"1.1", "-8.0"}, Told{"1.0", "-8.1"}}) {
        std::string text = script;
        text.replace(text.find("DERIVATIVE"), 10, told.derivative);
        text.replace(text.find("RATE"), 4, told.rate);
        const Findings findings = judge_sensitivity(model, TellingProgram(text).program());
        EXPECT_EQ(found(findings, "derivative"), told.derivative == "1.1") << told.derivative;
        EXPECT_EQ(found(findings, "event-time"), told.rate == "-8.1") << told.rate;
        EXPECT_EQ(findings.not_judged, 0);
    }
}

// A bead on a rail, pushed against it with 10 N from either side, slides with the deceleration μ·10.
TEST(MotionJudge, KnowsTheFrictionOfAConstraintForBothSignsOfItsReaction) {
    for (const double push : {10.0, -10.0}) {
        Model model = point_masses(2, 1.0);
        model.potential = {Expression(push) * Expression::position(1)};
        model.constraints = {{"rail", Expression::position(1), {Expression::velocity(0)}, {}}};
        model.constraints[0].friction = {FrictionLaw::Kind::planar, {0.2}, 0.0};
        model.u0 = {3.0, 0.0};
        const auto told = [&](double a) {
            Motion motion = told_motion(model, a, 0.0, 0.0);
            motion.document["forces"] = {{"rail", {{"N", push}, {"T", {-2.0}}}}};
            return judge_laws(model, motion);
        };
        EXPECT_TRUE(told(2.0).violations.empty());
        EXPECT_TRUE(found(told(1.9), "force-law"));
        EXPECT_TRUE(found(told(2.1), "force-law"));
    }
}

TEST(MotionJudge, FindsAConstraintThatIsLeftAndAClutchThatRunsBackwards) {
    Model model = point_masses(2, 1.0);
    model.constraints = {{"rail", Expression::position(1), {}, {}}};
    EXPECT_TRUE(found(judge_laws(model, told_motion(model, 0.0, 0.1, 0.0)), "constraint"));
    model.constraints.clear();
    model.clutches = {{"clutch", Expression(1.0) - Expression::velocity(0)}};
    EXPECT_TRUE(found(judge_laws(model, told_motion(model, 0.0, 0.0, 0.0)), "clutch"));
    model.clutches = {{"clutch", Expression::velocity(0) - 1.0}};
    EXPECT_FALSE(found(judge_laws(model, told_motion(model, 0.0, 0.0, 0.0)), "clutch"));
}

// One contact, W = diag(2, 1, 1), q = (-1, 0.5, 0): r_N = ½, and slip with μ = ½ has r_T = −¼ in the first direction.
TEST(SolveJudge, FindsReactionsThatViolateTheirLaw) {
    ContactProblem problem{3, {{2.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}}, {-1.0, 0.5, 0.0}, {0.5}};
    const auto told = [&](const std::vector<double>& r, const std::vector<double>& v) {
        return judge_solution(problem, {{"status", "converged"}, {"residual", 0.0}, {"r", r}, {"v", v}});
    };
    EXPECT_TRUE(told({0.5, -0.25, 0.0}, {0.0, 0.25, 0.0}).violations.empty());
    EXPECT_TRUE(found(told({0.5, -0.25, 0.0}, {0.0, 0.2, 0.0}), "velocities"));
    EXPECT_TRUE(found(told({0.5, -0.3, 0.0}, {0.0, 0.2, 0.0}), "law")) << "outside of the cone";
    EXPECT_TRUE(found(told({0.5, -0.2, 0.0}, {0.0, 0.3, 0.0}), "law")) << "too weak";
    EXPECT_TRUE(found(told({0.4, -0.2, 0.0}, {-0.2, 0.3, 0.0}), "law")) << "penetrates";
}

TEST(SolveJudge, FindsAProblemThatHasASolutionAndACertificateThatProvesNothing) {
    const ContactProblem solvable{1, {{2.0, 1.0}, {1.0, 2.0}}, {-1.0, -1.0}, {}};
    EXPECT_TRUE(found(judge_solution(solvable, {{"status", "infeasible"}}), "infeasible"));
    const ContactProblem without{1, {{-1.0, 0.0}, {0.0, -1.0}}, {-1.0, -1.0}, {}};
    EXPECT_TRUE(judge_solution(without, {{"status", "infeasible"}, {"certificate", {1.0, 0.0}}}).violations.empty());
    EXPECT_TRUE(
        found(judge_solution(without, {{"status", "infeasible"}, {"certificate", {-1.0, 0.0}}}), "certificate"));
}

TEST(EquilibriumJudge, FindsARepresentativeOutsideOfItsSet) {
    const Model model = double_well();
    nlohmann::json set = point_set("E1", 1.0);
    EXPECT_TRUE(judge_sets(model, {{"sets", {set}}}).violations.empty());
    set["representative"]["x"] = -1.0;
    EXPECT_TRUE(found(judge_sets(model, {{"sets", {set}}}), "representative"));
}

namespace {

/// Two equal masses that touch; the first one moves with 1 against the second one, which touches a wall.
Model chain(const std::string& law, double e) {
    Model model = point_masses(2, 1.0);
    Contact between, wall;
    between.name = "between";
    between.gap = Expression::position(1) - Expression::position(0);
    wall.name = "wall";
    wall.gap = Expression(0.0) - Expression::position(1);
    for (Contact* const c : {&between, &wall}) c->impact = law, c->e_n = e;
    model.contacts = {between, wall};
    model.u0 = {1.0, 0.0};
    return model;
}

}  // namespace

// Compression stops both masses by the impulses 1 and 1. Expansion adds e and e, which throw the first mass back and
// leave the second one where it is.
TEST(ImpactLaws, PoissonThrowsBackTheFirstMassOfAChain) {
    const Model model = chain("poisson", 0.6);
    const auto after = velocities_after(Mechanics(model), {0.0, model.q0, model.u0}, {0, 1});
    ASSERT_TRUE(after);
    EXPECT_NEAR((*after)[0], -0.6, 1e-12);
    EXPECT_NEAR((*after)[1], 0.0, 1e-12);
}

// A mass that hits a rough floor with (3, −1), μ = 0.2, e = 0.5: both phases slip, so that Λ_N = 1 + 0.5 and
// Λ_T = −0.2·1.5.
TEST(ImpactLaws, PoissonSlowsDownAMassThatSlips) {
    Model model = sliding_block();
    model.contacts[0].impact = "poisson";
    model.contacts[0].e_n = 0.5;
    const auto after = velocities_after(Mechanics(model), {0.0, {0.0, 0.0}, {3.0, -1.0}}, {0});
    ASSERT_TRUE(after);
    EXPECT_NEAR((*after)[0], 2.7, 1e-12);
    EXPECT_NEAR((*after)[1], 0.5, 1e-12);
}

// T⁺ = e² T⁻ with T⁻ = (0.36 + 1)/2: the velocity along the wall stays, that across it becomes √(e²·1.36 − 0.36). If e
// is too small for the motion along the wall, then there is no outcome.
TEST(ImpactLaws, TheEnergyLawCountsTheWholeKineticEnergy) {
    Model model = sliding_block();
    model.contacts[0].friction = {};
    model.contacts[0].slip.clear();
    model.contacts[0].impact = "energy";
    model.contacts[0].e_n = 0.8;
    const Point before{0.0, {0.0, 0.0}, {0.6, -1.0}};
    const auto after = velocities_after(Mechanics(model), before, {0});
    ASSERT_TRUE(after);
    EXPECT_NEAR((*after)[0], 0.6, 1e-12);
    EXPECT_NEAR((*after)[1], std::sqrt(0.64 * 1.36 - 0.36), 1e-12);
    model.contacts[0].e_n = 0.3;
    EXPECT_FALSE(velocities_after(Mechanics(model), before, {0}));
}

TEST(MotionJudge, FindsAFalseOutcomeOfPoissonsLaw) {
    const Model model = chain("poisson", 0.6);
    for (const double after : {-0.6, -0.5}) {
        Motion motion;
        motion.arcs = {{{0.0, {0.0, 0.0}, {1.0, 0.0}}},
                       {{0.0, {0.0, 0.0}, {after, 0.0}}, {1.0, {after, 0.0}, {after, 0.0}}}};
        const double impulse = 1.0 - after;
        motion.events = {{"impact",
                          motion.arcs[0].back(),
                          motion.arcs[1].front(),
                          {{"between", {{"N", impulse}, {"T", nlohmann::json::array()}}},
                           {"wall", {{"N", impulse}, {"T", nlohmann::json::array()}}}}}};
        motion.document = {{"violation", {{"gap", 0.0}}},
                           {"forces", nlohmann::json::object()},
                           {"energy", {{"initial", 0.5}, {"final", after * after / 2}, {"balance_error", 0.0}}}};
        EXPECT_EQ(found(judge_laws(model, motion), "impact-law"), after != -0.6);
    }
}

TEST(MotionJudge, FindsAReversalOfAContactThatSlips) {
    const Model model = sliding_block();
    for (const std::string kind : {"reversal", "contact"}) {
        Motion motion = told_motion(model, 2.0, 0.0, 0.0);
        const Point at = motion.arcs[0].back();
        motion.events = {{kind, at, at, nlohmann::json::object(), {"floor"}}};
        motion.arcs.push_back({at});
        EXPECT_EQ(found(judge_laws(model, motion), "event-at-rest"), kind == "reversal");
    }
}

// A mass of 1 that meets a spring of stiffness 100 with the speed 2 leaves it after π/10 s with the same speed.
TEST(PenaltyJudge, FindsAFalseEnd) {
    Model model = point_masses(1, 1.0);
    Contact wall;
    wall.name = "wall";
    wall.gap = x();
    model.contacts = {wall};
    model.penalty = Penalty{100.0, 0.0};
    model.q0 = {1.0};
    model.u0 = {-2.0};
    model.t_end = 2.0;
    const double end = 2.0 * (2.0 - 0.5 - std::acos(-1.0) / 10.0);
    const auto exact = springs_end(model, 2000);
    ASSERT_TRUE(exact);
    EXPECT_NEAR(exact->q[0], end, 1e-9);
    EXPECT_NEAR(exact->u[0], 2.0, 1e-9);
    for (const double wrong : {0.0, 1e-4}) {
        const std::string script =
            "mkdir -p $5; printf \"t,x,x'\\n0,1,-2\\n2,1,2\\n\" > $5/states.csv\n"
            "echo '{\"status\":\"completed\",\"events\":[],\"energy\":{\"balance_error\":0},"
            "\"final\":{\"q\":{\"x\":" +
            std::to_string(end + wrong) + "},\"u\":{\"x\":2.0}}}'";
        EXPECT_EQ(found(judge_penalty(model, TellingProgram(script).program()), "end-state"), wrong > 0.0);
    }
}

TEST(BasinJudge, FindsAFalseLabel) {
    const Model model = double_well();
    const auto set = [](const std::string& name, double at) {
        return nlohmann::json{{"name", name}, {"extent", {{"x", {at, at}}}}};
    };
    const nlohmann::json document = {{"labels", {{"0", "undecided"}, {"1", "E1"}, {"2", "E2"}}},
                                     {"sets", {set("E1", 1.0), set("E2", -1.0)}},
                                     {"set_of_label",
                                      {{"1", {{"set", "E1"}, {"turns", nlohmann::json::object()}}},
                                       {"2", {{"set", "E2"}, {"turns", nlohmann::json::object()}}}}}};
    Table table;
    table.columns = {{"x", 0}, {"x'", 1}, {"label", 2}};
    table.rows = {{1.2, 0.0, 1.0}, {-0.5, 0.0, 2.0}, {0.3, 0.0, 0.0}};
    const Findings truth = judge_labels(model, document, table);
    EXPECT_TRUE(truth.violations.empty());
    EXPECT_EQ(truth.statements, 2);
    EXPECT_EQ(truth.not_judged, 1);
    table.rows[1][2] = 1.0;
    EXPECT_TRUE(found(judge_labels(model, document, table), "label"));
}

namespace {

/// A block of mass 1 on a belt that runs with 1 m/s, with a normal force of 2 N, a spring of 4 N/m and the damping
/// constant 2 c: friction pushes forwards. With mu = 0.3 it rests at x = 0.15, with s² + 2 c s + 4 = 0.
Model block_on_a_belt(double c) {
    Model model = point_masses(1, 1.0);
    model.potential = {Expression(2.0) * power(x(), 2)};
    model.dissipation = {Expression(c) * power(Expression::velocity(0), 2)};
    model.sliders = {{"belt", {Expression::velocity(0) - 1.0}, {FrictionLaw::Kind::planar, {0.3}, 0.0}, 2.0}};
    return model;
}

/// mu = low + high exp(-rate slip²).
Model with_weakening_friction(Model model, double low, double high, double rate) {
    const Expression slip = Expression::velocity(0) - 1.0;
    model.sliders[0].coefficient = Expression(low) + Expression(high) * exponential(Expression(-rate) * power(slip, 2));
    return model;
}

nlohmann::json belt_sets(double at, const std::string& verdict, const std::vector<std::pair<double, double>>& values) {
    nlohmann::json set = point_set("E1", at);
    set["stability"] = {{"verdict", verdict}, {"eigenvalues", nlohmann::json::array()}};
    for (const auto& [real, imaginary] : values) set["stability"]["eigenvalues"].push_back({real, imaginary});
    return {{"sets", {set}}, {"complete", true}};
}

nlohmann::json belt_certificate(double at, const std::string& verdict, const nlohmann::json& rho) {
    return {{"verdict", verdict}, {"equilibrium", {{"q", {{"x", at}}}}}, {"rho", rho}};
}

}  // namespace

TEST(JudgeOfBelts, AcceptsTruthAndFindsPlantedPositionsAndEigenvalues) {
    const Model model = block_on_a_belt(0.2);
    const double frequency = std::sqrt(4.0 - 0.04);
    const std::vector<std::pair<double, double>> exact = {{-0.2, frequency}, {-0.2, -frequency}};
    const Findings truth = judge_belt_sets(model, belt_sets(0.15, "asymptotically stable", exact));
    EXPECT_TRUE(truth.violations.empty()) << truth.violations[0].text;
    EXPECT_GT(truth.statements, 3);
    EXPECT_TRUE(found(judge_belt_sets(model, belt_sets(-0.15, "undecided", {})), "no-equilibrium"));
    EXPECT_TRUE(found(judge_belt_sets(model, belt_sets(0.15, "unstable", exact)), "stability"));
    EXPECT_TRUE(
        found(judge_belt_sets(model, belt_sets(0.15, "undecided", {{-0.2, 2.1}, {-0.2, -2.1}})), "eigenvalues"));
    nlohmann::json none = {{"sets", nlohmann::json::array()}, {"complete", true}};
    EXPECT_TRUE(found(judge_belt_sets(model, none), "missing-equilibrium"));
}

// Friction that weakens with the speed of slip: F = 2 mu(x' − 1) has the slope 2·2·0.5·exp(−1) = 0.736 at rest, which
// is more than the damping 0.4.
TEST(JudgeOfBelts, FindsWeakeningFrictionThatIsCalledStable) {
    const Model model = with_weakening_friction(block_on_a_belt(0.2), 0.1, 0.5, 1.0);
    const double at = (0.1 + 0.5 * std::exp(-1.0)) / 2.0;
    EXPECT_TRUE(found(judge_belt_sets(model, belt_sets(at, "asymptotically stable", {})), "stability"));
    EXPECT_TRUE(judge_belt_sets(model, belt_sets(at, "unstable", {})).violations.empty());
    EXPECT_TRUE(found(judge_belt_certificate(model, belt_certificate(at, "attractive", nullptr)), "stability"));
    EXPECT_TRUE(judge_belt_certificate(model, belt_certificate(at, "unstable", nullptr)).violations.empty());
}

// A block that reaches the speed of the belt is carried along and gains energy: V is about 1 when it slips again.
TEST(JudgeOfBelts, FindsLevelSetsThatContainStickSlip) {
    const Model model = with_weakening_friction(block_on_a_belt(0.1), 0.1, 1.0, 10.0);
    const double at = (0.1 + std::exp(-10.0)) / 2.0;
    EXPECT_TRUE(found(judge_belt_certificate(model, belt_certificate(at, "attractive", 0.9)), "level-set"));
    const Findings small = judge_belt_certificate(model, belt_certificate(at, "attractive", 0.05));
    EXPECT_TRUE(small.violations.empty()) << small.violations[0].text;
    EXPECT_GT(small.statements, 3);
}

// Friction in a plane resists a motion across the slip with mu F_N/|slip| = 0.6 N s/m: s² + 0.6 s + 6 = 0.
TEST(JudgeOfBelts, KnowsThatFrictionInAPlaneDampsMotionsAcrossTheSlip) {
    Model model = point_masses(2, 1.0);
    model.potential = {Expression(2.0) * power(x(), 2), Expression(3.0) * power(Expression::position(1), 2)};
    model.dissipation = {Expression(0.1) * power(Expression::velocity(0), 2)};
    model.sliders = {{"belt",
                      {Expression::velocity(0) - 1.0, Expression::velocity(1)},
                      {FrictionLaw::Kind::isotropic, {0.3}, 0.0},
                      2.0}};
    nlohmann::json set = point_set("E1", 0.15);
    set["extent"]["y"] = {0.0, 0.0};
    set["representative"]["y"] = 0.0;
    const auto stated = [&](double damping) {
        const double along = std::sqrt(4.0 - 0.01), across = std::sqrt(6.0 - damping * damping);
        set["stability"] = {{"verdict", "asymptotically stable"},
                            {"eigenvalues", {{-0.1, along}, {-0.1, -along}, {-damping, across}, {-damping, -across}}}};
        return nlohmann::json{{"sets", {set}}, {"complete", true}};
    };
    const Findings truth = judge_belt_sets(model, stated(0.3));
    EXPECT_TRUE(truth.violations.empty()) << truth.violations[0].text;
    EXPECT_TRUE(found(judge_belt_sets(model, stated(0.1)), "eigenvalues"));
}

// A block on a conveyor with a spring at an angle: the normal force depends on the position, and friction with it.
TEST(JudgeOfBelts, KnowsThatFrictionOfAContactChangesWithItsNormalForce) {
    Model model = point_masses(2, 1.0);
    const Expression height = Expression::position(1);
    model.potential = {Expression(10.0) * height, Expression(2.0) * power(x() + height, 2)};
    Contact contact;
    contact.name = "belt";
    contact.gap = height;
    contact.slip = {Expression::velocity(0) - 1.0};
    contact.friction = {FrictionLaw::Kind::planar, {0.5}, 0.0};
    model.contacts = {contact};
    model.dissipation = {Expression(0.3) * power(Expression::velocity(0), 2)};
    // λ = 10 + 4 x and 0 = −4 x + λ/2: x = 2.5, and x'' = −0.6 x' − 4 x + 2 x + ...: s² + 0.6 s + 2 = 0.
    nlohmann::json set = point_set("E1", 2.5);
    set["contacts_closed"] = {"belt"};
    set["extent"]["y"] = {0.0, 0.0};
    set["representative"]["y"] = 0.0;
    const auto stated = [&](double imaginary) {
        set["stability"] = {{"verdict", "asymptotically stable"},
                            {"eigenvalues", {{-0.3, imaginary}, {-0.3, -imaginary}}}};
        return nlohmann::json{{"sets", {set}}, {"complete", true}};
    };
    const Findings truth = judge_belt_sets(model, stated(std::sqrt(2.0 - 0.09)));
    EXPECT_TRUE(truth.violations.empty()) << truth.violations[0].text;
    EXPECT_TRUE(found(judge_belt_sets(model, stated(std::sqrt(4.0 - 0.09))), "eigenvalues"));
}
