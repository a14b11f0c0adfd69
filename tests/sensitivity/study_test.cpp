// SPDX-License-Identifier: Apache-2.0
#include "saltus/sensitivity/study/event_study.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "saltus/ensemble/axis_text.hpp"
#include "saltus/io/report/pair_report.hpp"
#include "saltus/io/report/study_report.hpp"
#include "sensitivity/alscher_models.hpp"
#include "support.hpp"

namespace saltus::sensitivity::study_test {
namespace {

using namespace saltus::test;
using reference::Value;
using trajectory::EventKind;

EventStudyOptions options_of(double t_end, const std::vector<std::string>& vary, int threads = 2) {
    EventStudyOptions o;
    o.t_end = t_end;
    o.method.rtol = 1e-11;
    o.method.atol = 1e-13;
    for (const std::string& v : vary)
        o.vary.push_back(ensemble::axis_from_text(v, ensemble::AxisUse::values, "--vary"));
    o.engine.threads = threads;
    return o;
}

EventStudy study_of(const std::string& text, const EventStudyOptions& options) {
    return study_events(io::parse_model(text, "test"), options);
}

const EventResponse::Answer& answer(const EventStudy& study, std::size_t event, Quantity quantity) {
    for (const EventResponse::Answer& a : study.events.at(event).answers)
        if (a.quantity == quantity) return a;
    throw std::logic_error("no such answer");
}

// --- refusals --------------------------------------------------------------------------------------------------------

TEST(Study, RefusesUnknownNamesAndNamesSetTwice) {
    const std::string text = bead_text(falling_bead, {});
    EXPECT_NE(refusal_of([&] { study_of(text, options_of(0.5, {"amp=1:2:2"})); }).find("amp"), std::string::npos);
    EventStudyOptions o = options_of(0.5, {"a=1:2:2"});
    o.set.emplace_back("a", "3");
    EXPECT_NE(refusal_of([&] { study_of(text, o); }).find("both set and varied"), std::string::npos);
}

TEST(Study, SaysForWhichValuesAModelCannotBeBuilt) {
    const std::string text = bead_text(falling_bead, {});
    EXPECT_NE(refusal_of([&] { study_of(text, options_of(0.5, {"m=1,0.5,-1"})); }).find("with m = -1"),
              std::string::npos);
}

// --- power laws ------------------------------------------------------------------------------------------------------

TEST(PowerLaw, FindsExponents) {
    std::vector<double> a, b, y;
    for (int i = 1; i <= 4; ++i)
        for (int k = 1; k <= 3; ++k) {
            a.push_back(0.1 * i), b.push_back(7.0 * k);
            y.push_back(3.0 * std::pow(a.back(), 1.5) * std::pow(b.back(), -2.0));
        }
    const PowerLaw law = fit_power_law({a, b}, y);
    EXPECT_NEAR(law.exponents[0], 1.5, 1e-12);
    EXPECT_NEAR(law.exponents[1], -2.0, 1e-12);
    EXPECT_NEAR(law.rms, 0.0, 1e-12);
    EXPECT_EQ(law.runs, 12);
}

TEST(PowerLaw, LeavesOutWhatHasNoLogarithmAndHasNoneOfTooFew) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    EXPECT_EQ(fit_power_law({{1, 2, 4, 0}}, {3, 6, nan, 1}).runs, 2);
    EXPECT_NEAR(fit_power_law({{1, 2, 4, 0}}, {3, 6, nan, 1}).exponents[0], 1.0, 1e-12);
    EXPECT_TRUE(std::isnan(fit_power_law({{1, 2}}, {3, 0}).rms));
    EXPECT_TRUE(std::isnan(fit_power_law({{2, 2, 2}}, {3, 4, 5}).rms));
}

// --- the message of the paper ----------------------------------------------------------------------------------------

/// The time of the bead's collision.
std::string at_collision() { return number_text(analytic("C1")["cbar"]); }

std::string bead_at_moving_wall(const std::string& theta) {
    Bead bead = falling_bead;
    bead.theta = theta;
    return bead_text(bead, {});
}

TEST(StudyMessage, ACollisionsTimeFollowsThePlaceOfTheObstacleWhateverTheFrequency) {
    const EventStudy study = study_of(bead_at_moving_wall(std::string("a*cos(b*(t - ") + at_collision() + "))"),
                                      options_of(0.5, {"a=1e-7:1e-5:3:log", "b=20:80:3:log"}));
    ASSERT_TRUE(study.complete);
    ASSERT_EQ(study.nominal.size(), 1U);
    const EventResponse::Answer& time = answer(study, 0, Quantity::time);
    ASSERT_EQ(time.law.of, (std::vector<std::string>{"a", "b"}));
    EXPECT_NEAR(time.law.exponents[0], 1.0, 1e-3);
    EXPECT_NEAR(time.law.exponents[1], 0.0, 1e-3);
    EXPECT_EQ(time.local.size(), 2U * 3U + 3U * 2U);
    // dc/da = 1/u⁻
    EXPECT_NEAR(study.runs[0].time_change[0] / 1e-7, 1.0 / analytic("C1")["u_minus"], 1e-4);
}

TEST(StudyMessage, ACollisionsImpulseFollowsTheFirstDerivative) {
    const EventStudy study = study_of(bead_at_moving_wall(std::string("a*sin(b*(t - ") + at_collision() + "))"),
                                      options_of(0.5, {"a=1e-7:1e-5:3:log", "b=20:80:3:log"}));
    const EventResponse::Answer& impulse = answer(study, 0, Quantity::impulse);
    EXPECT_NEAR(impulse.law.exponents[0], 1.0, 1e-3);
    EXPECT_NEAR(impulse.law.exponents[1], 1.0, 1e-3);
    EXPECT_NEAR(study.runs[0].impulse_change[0], 1.25 * 1e-7 * 20.0, 1e-10);  // μ θ̇
}

TEST(StudyMessage, ALiftOffFollowsTheSecondDerivative) {
    // L1 with θ = a cos(b(t − c0)): ĉ − c̄ = c0 μ θ̈/F0. The bead starts on the moving wall.
    Bead bead = pressed_bead;
    bead.theta = "a*cos(b*(t - 0.8))";
    std::string text = bead_text(bead, {});
    text = text.substr(0, text.find("initial = { q"));
    text +=
        "initial = { q = { x = \"a*cos(0.8*b)\", y = \"beta*a*cos(0.8*b)\" }, "
        "u = { x = \"a*b*sin(0.8*b)\", y = \"beta*a*b*sin(0.8*b)\" } }\n";
    const EventStudy study = study_of(text, options_of(1.2, {"a=1e-8:1e-7:2:log", "b=20:80:3:log"}));
    ASSERT_EQ(study.nominal.size(), 1U);
    EXPECT_EQ(study.nominal[0].kind, EventKind::lift_off);
    const EventResponse::Answer& time = answer(study, 0, Quantity::time);
    EXPECT_NEAR(time.law.exponents[0], 1.0, 1e-3);
    EXPECT_NEAR(time.law.exponents[1], 2.0, 1e-3);
    EXPECT_NEAR(study.runs[0].time_change[0], -0.8 * 1.25 * 1e-8 * 400.0 / 4.0, 1e-10);
    EXPECT_EQ(study.events[0].answers.size(), 1U);  // no impulse
}

TEST(StudyMessage, WithAnyPhaseEachFollowsItsOwnDerivative) {
    const EventStudy hit =
        study_of(bead_at_moving_wall("a*cos(b*t + 0.3)"), options_of(0.5, {"a=1e-7:1e-6:2", "b=31:79:5"}));
    const EventResponse::Answer& time = answer(hit, 0, Quantity::time);
    EXPECT_EQ(time.at_event.felt, 0);
    EXPECT_NEAR(time.at_event.laws[0].exponents[0], 1.0, 1e-3);
    EXPECT_LT(time.at_event.laws[0].rms, 1e-2 * time.at_event.laws[1].rms);
    const EventResponse::Answer& impulse = answer(hit, 0, Quantity::impulse);
    EXPECT_EQ(impulse.at_event.felt, 1);
    EXPECT_NEAR(impulse.at_event.laws[1].exponents[0], 1.0, 0.05);

    Bead bead = pressed_bead;
    bead.theta = "a*cos(b*t + 0.3)";
    std::string text = bead_text(bead, {});
    text = text.substr(0, text.find("initial = { q"));
    text +=
        "initial = { q = { x = \"a*cos(0.3)\", y = \"beta*a*cos(0.3)\" }, "
        "u = { x = \"-a*b*sin(0.3)\", y = \"-beta*a*b*sin(0.3)\" } }\n";
    const EventStudy off = study_of(text, options_of(1.2, {"a=1e-8:1e-7:2", "b=31:79:5"}));
    EXPECT_EQ(answer(off, 0, Quantity::time).at_event.felt, 2);
    EXPECT_NEAR(answer(off, 0, Quantity::time).at_event.laws[2].exponents[0], 1.0, 0.01);
}

/// A bead that collides or leaves, with a perturbation of size `eps` in everything.
std::string shrinking(const Bead& bead, bool closed) {
    std::string text = bead_text(bead, {});
    text = replaced(text, "b = 1.0", "b = 1.0\neps = 0.1");
    text = text.substr(0, text.find("[perturbation]"));
    text += "[perturbation]\ndelta = { x = \"0.5*eps*cos(t)\", y = \"-0.4*eps\" }\n";
    text += "eta = { line = \"eps*(0.1 + 0.2*t - 0.15*t^2)\" }\ntheta = { wall = \"eps*(0.15 - 0.2*t + 0.2*t^2)\" }\n";
    const std::string x = closed ? "0.15*eps" : "0.2*eps", u = closed ? "-0.2*eps" : "-0.3*eps";
    text += "initial = { q = { x = \"" + x + "\", y = \"beta*" + x + " + 0.1*eps\" }, u = { x = \"" + u +
            "\", y = \"beta*(" + u + ") + 0.2*eps\" } }\n";
    return text;
}

TEST(StudyConstants, StayBoundedOverAFamilyOfShrinkingPerturbations) {
    for (const bool closed : {false, true}) {
        const EventStudy study = study_of(shrinking(closed ? pressed_bead : falling_bead, closed),
                                          options_of(closed ? 1.2 : 0.6, {"eps=1e-5:1e-1:5:log"}));
        ASSERT_FALSE(study.constants.empty());
        EXPECT_EQ(study.constants[0].equation, "theorem");
        for (const ConstantRange& range : study.constants) {
            EXPECT_EQ(range.runs, 5) << range.equation;
            EXPECT_NEAR(range.exponent, 0.0, 0.02) << range.equation;
            EXPECT_LT(range.largest, 1.3 * range.smallest) << range.equation;
        }
        for (const EventStudyRun& run : study.runs) {
            ASSERT_TRUE(run.pair.has_value());
            EXPECT_EQ(run.pair->theorem, closed ? "3.5" : "3.3") << run.pair->reason;
            EXPECT_NEAR(run.pair->size / run.values[0], study.runs[0].pair->size / study.runs[0].values[0], 1e-4);
        }
        const std::string text = io::study_text(study), csv = io::study_constants_csv(study);
        EXPECT_NE(text.find("observed constants of the perturbed pairs"), std::string::npos);
        EXPECT_NE(text.find("over 5 runs, C ~ K^"), std::string::npos) << text;
        EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 6) << csv;
        EXPECT_NE(io::study_json(study).find("\"bound_constants\""), std::string::npos);
    }
}

TEST(StudyConstants, OfTheTheoremStayWhileThoseOfABoundByThePlaceOfTheObstacleGrow) {
    // θ = a (1 − cos bt)/b² has θ̈ = a at the lift-off t = 0.8 if 0.8 b is a multiple of 2π. The event moves by c0 μ
    // a/F0 for every b, while θ itself shrinks like 1/b²: no bound by |θ| exists.
    std::string text = bead_text(pressed_bead, {});
    text = text.substr(0, text.find("[perturbation]"));
    text = replaced(text, "a = 0.0", "a = 0.001");
    text += "[perturbation]\ntheta = { wall = \"a*(1 - cos(b*t))/b^2\" }\n";
    const EventStudy study =
        study_of(text, options_of(1.2, {"b=7.853981633974483,15.707963267948966,31.41592653589793"}));
    double first_ratio = 0.0, factor = 1.0;
    for (const EventStudyRun& run : study.runs) {
        ASSERT_TRUE(run.pair.has_value());
        EXPECT_EQ(run.pair->theorem, "3.5") << run.pair->reason;
        EXPECT_NEAR(run.time_change[0], 0.8 * 1.25 * 0.001 / 4.0, 1e-6);
        const double ratio = run.time_change[0] / run.theta_largest[0][0];
        if (first_ratio == 0.0) first_ratio = ratio;
        EXPECT_NEAR(ratio / first_ratio, factor, 0.01 * factor);
        factor *= 4.0;
        EXPECT_LT(run.pair->constant.value, 1.0);
    }
}

TEST(Study, IsTheSameForAnyNumberOfThreads) {
    const std::string text = bead_at_moving_wall("a*cos(b*t)");
    const auto run = [&](int threads) {
        return io::study_json(study_of(text, options_of(0.5, {"a=1e-4:1e-3:4", "b=10:30:3"}, threads)));
    };
    const std::string one = run(1);
    EXPECT_EQ(run(2), one);
    EXPECT_EQ(run(5), one);
}

TEST(Study, StopsWhenInterruptedAndKeepsWhatThereIs) {
    EventStudyOptions o = options_of(0.5, {"a=1e-4:1e-3:20"}, 1);
    std::size_t told = 0;
    o.progress = [&](std::size_t done, std::size_t) { told = done; };
    o.engine.interrupted = [&] { return told >= 5; };
    const EventStudy study = study_of(bead_at_moving_wall("a*cos(20*t)"), o);
    EXPECT_FALSE(study.complete);
    ASSERT_EQ(study.runs.size(), 20U);
    EXPECT_TRUE(study.runs[4].done);
    EXPECT_FALSE(study.runs[7].done);
    EXPECT_NE(io::study_text(study).find("interrupted"), std::string::npos);
}

// --- the hydrostatic skeleton ----------------------------------------------------------------------------------------

model::Description skeleton(const std::string& name, const std::string& offset) {
    model::Description d = io::read_model(std::string(SALTUS_SOURCE_DIR) + "/models/" + name + ".toml");
    d.obstacles.at(0).offset = model::Field(offset);
    return d;
}

TEST(StudySkeleton, WithTheSpeedOfThePlaneFixedTheLiftOffMovesAsInTheReference) {
    // Collisions and lift-offs for a·b = 1.2.
    EventStudyOptions o;
    o.t_end = 0.34;
    o.vary = {ensemble::axis_from_text("a=0.02,0.01,0.006", ensemble::AxisUse::values, "--vary")};
    const EventStudy study = study_events(skeleton("hydrostatic-skeleton-edges", "K + a*cos(1.2/max(a, 1e-9)*t)"), o);
    // Rows of the reference: a, b, a b², and the events as pairs of +1 or -1 and the time.
    const Value table = reference::file("alscher")["sensitivity"]["A"]["fixed_ab_1_2"];
    const std::vector<Value> expected{table[0], table[2], table[4]};
    for (std::size_t r = 0; r < expected.size(); ++r) {
        const std::vector<StudiedEvent>& events = study.runs[r].events;
        ASSERT_EQ(events.size(), expected[r][3].size()) << r;
        for (std::size_t k = 0; k < events.size(); ++k) {
            EXPECT_NEAR(events[k].t, expected[r][3][k][1], 1e-6) << r << ", " << k;
            EXPECT_EQ(events[k].kind, k % 2 == 0 ? EventKind::impact : EventKind::lift_off);
            EXPECT_EQ(events[k].elements, (std::vector<int>{0, 1, 2, 3}));
        }
    }
    EXPECT_EQ(study.nominal.size(), 1U);  // its lift-off comes at 0.4999
}

TEST(PairSkeleton, ThePapersSequenceAndWhyNoTheoremCoversIt) {
    model::Description d = skeleton("hydrostatic-skeleton", "K");
    d.perturbation.emplace();
    d.perturbation->theta.push_back({"wall", model::Field("a*cos(b*t)"), {}});
    PairOptions o;
    o.t_end = 0.6;
    o.set = {{"a", "0.006"}, {"b", "200"}};
    const Pair pair = perturbed_pair(d, o);
    const Value cases = reference::file("alscher")["skeleton"]["A_braced"]["cases"];
    const std::vector<Value> bar = cases[0]["events"].items(), hat = cases[2]["events"].items();
    ASSERT_EQ(pair.c_bar.size(), bar.size());
    ASSERT_EQ(pair.c_hat.size(), hat.size());
    for (std::size_t k = 0; k < bar.size(); ++k) EXPECT_NEAR(pair.c_bar[k], bar[k]["t"], 1e-6);
    for (std::size_t k = 0; k < hat.size(); ++k) EXPECT_NEAR(pair.c_hat[k], hat[k]["t"], 1e-6);
    EXPECT_EQ(pair.theorem, "");
    ASSERT_EQ(pair.pieces.size(), 2U);
    // Four corners strike at once; everything else that Theorem 3.3 asks for is there.
    EXPECT_EQ(pair.pieces[0].reason, "Theorem 3.3 needs (a1) single contact");
    EXPECT_TRUE(pair.pieces[0].bounded);
    EXPECT_EQ(pair.pieces[0].closed_after, (std::vector<int>{0, 1, 2, 3}));
    // The perturbed body has struck again before the nominal one leaves.
    EXPECT_NE(pair.pieces[1].reason.find("falls into the critical interval"), std::string::npos)
        << pair.pieces[1].reason;
    EXPECT_FALSE(pair.pieces[1].bounded);
}

}  // namespace
}  // namespace saltus::sensitivity::study_test
