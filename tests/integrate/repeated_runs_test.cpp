// SPDX-License-Identifier: Apache-2.0
#include "saltus/integrate/event/repeated_runs.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <variant>
#include <vector>

#include "saltus/integrate/event/recording.hpp"
#include "saltus/integrate/mode/detail/gauss_rule.hpp"
#include "saltus/io/model/read_model.hpp"
#include "saltus/model/build.hpp"
#include "saltus/model/description.hpp"
#include "saltus/model/model.hpp"

namespace saltus::integrate::repeated_runs_test {
namespace {

model::Model shipped(const std::string& name) {
    return model::build(io::read_model(std::string(SALTUS_SOURCE_DIR) + "/models/" + name + ".toml"), {});
}

void expect_same(const trajectory::Trajectory& a, const trajectory::Trajectory& b) {
    EXPECT_EQ(a.status, b.status);
    EXPECT_EQ(a.end.t, b.end.t);
    EXPECT_EQ(a.end.q, b.end.q);
    EXPECT_EQ(a.end.u, b.end.u);
    ASSERT_EQ(a.events.size(), b.events.size());
    for (std::size_t k = 0; k < a.events.size(); ++k) {
        EXPECT_EQ(a.events[k].kind, b.events[k].kind);
        EXPECT_EQ(a.events[k].t, b.events[k].t);
        EXPECT_EQ(a.events[k].u_plus, b.events[k].u_plus);
    }
    EXPECT_EQ(a.energy.work, b.energy.work);
    EXPECT_EQ(a.energy.balance_error, b.energy.balance_error);
    EXPECT_EQ(a.events_certain, b.events_certain);
    EXPECT_EQ(a.warnings, b.warnings);
    EXPECT_EQ(a.statistics.steps, b.statistics.steps);
    EXPECT_EQ(a.statistics.rejected, b.statistics.rejected);
    EXPECT_EQ(a.statistics.evaluations, b.statistics.evaluations);
    EXPECT_EQ(a.statistics.contact_solves, b.statistics.contact_solves);
    EXPECT_EQ(a.statistics.projections, b.statistics.projections);
}

TEST(RepeatedRuns, AreEqualToTheBitToSingleRunsWhateverRanBefore) {
    for (const char* const name : {"bouncing-ball", "impact-oscillator", "rocking-bar", "woodpecker", "slider-crank"}) {
        SCOPED_TRACE(name);
        const model::Model model = shipped(name);
        EventDriven method;
        Options options;
        options.t_end = std::string(name) == "slider-crank" ? 0.05 : 1.0;
        RepeatedRuns runs(model, method);
        Options other = options;
        other.t_end = 0.7 * options.t_end;
        other.start = trajectory::State{0.1, model.q0, model.u0};
        const trajectory::Trajectory single = simulate(model, method, options), before = simulate(model, method, other);
        for (int k = 0; k < 2; ++k) {
            expect_same(runs.run(options), single);
            expect_same(runs.run(other), before);
        }
    }
}

void expect_same_events(const trajectory::Trajectory& a, const trajectory::Trajectory& b) {
    ASSERT_EQ(a.events.size(), b.events.size());
    for (std::size_t k = 0; k < a.events.size(); ++k) {
        const trajectory::Event &x = a.events[k], &y = b.events[k];
        SCOPED_TRACE(x.t);
        EXPECT_EQ(x.kind, y.kind);
        EXPECT_EQ(x.t, y.t);
        EXPECT_EQ(x.t_left, y.t_left);
        EXPECT_EQ(x.t_right, y.t_right);
        EXPECT_EQ(x.elements, y.elements);
        EXPECT_EQ(x.q, y.q);
        EXPECT_EQ(x.u_minus, y.u_minus);
        EXPECT_EQ(x.u_plus, y.u_plus);
        EXPECT_EQ(x.work, y.work);
        EXPECT_EQ(x.impacts, y.impacts);
        EXPECT_EQ(x.note, y.note);
        EXPECT_EQ(x.audit.tangential, y.audit.tangential);
        EXPECT_EQ(x.audit.obstacle_work, y.audit.obstacle_work);
        EXPECT_EQ(x.audit.created, y.audit.created);
        EXPECT_EQ(x.audit.element, y.audit.element);
        EXPECT_EQ(x.audit.law, y.audit.law);
        ASSERT_EQ(x.impulses.size(), y.impulses.size());
        for (std::size_t i = 0; i < x.impulses.size(); ++i) {
            EXPECT_EQ(x.impulses[i].element, y.impulses[i].element);
            EXPECT_EQ(x.impulses[i].N, y.impulses[i].N);
            EXPECT_EQ(x.impulses[i].T, y.impulses[i].T);
        }
        // Energies of up to 10 J, once from the model and once from the work of the impact.
        EXPECT_NEAR(x.energy_before, y.energy_before, 1e-13);
        EXPECT_NEAR(x.energy_after, y.energy_after, 1e-13);
    }
}

TEST(RepeatedRuns, InTheMemoryOfAnotherMotionHaveNothingOfIt) {
    EventDriven method;
    Options options;
    options.t_end = 3.0;
    const model::Model other = shipped("woodpecker");
    for (const char* const name : {"bouncing-ball", "impact-oscillator", "rocking-bar"}) {
        SCOPED_TRACE(name);
        const model::Model model = shipped(name);
        const trajectory::Trajectory single = simulate(model, method, options);
        ASSERT_FALSE(single.events.empty());
        RepeatedRuns runs(model, method);
        trajectory::Trajectory motion = simulate(other, method, options);  // more events, of other kinds
        ASSERT_GT(motion.events.size(), single.events.size());
        for (int k = 0; k < 3; ++k) {
            runs.run(options, motion);
            expect_same(motion, single);
            expect_same_events(motion, single);
            EXPECT_EQ(motion.model, single.model);
            EXPECT_EQ(motion.coordinates, single.coordinates);
            ASSERT_EQ(motion.elements.size(), single.elements.size());
            EXPECT_EQ(motion.elements[0].name, single.elements[0].name);
            EXPECT_EQ(motion.arcs.size(), single.arcs.size());
            EXPECT_EQ(motion.forces.size(), single.forces.size());
        }
    }
}

/// The same model with contacts that exist under a condition which always holds. Their impacts go through the contact
/// problem.
model::Model shipped_with_conditions(const std::string& name) {
    model::Description description = io::read_model(std::string(SALTUS_SOURCE_DIR) + "/models/" + name + ".toml");
    for (auto& contact : description.contacts) contact.condition = "t > -1";
    return model::build(description, {});
}

std::vector<RecordedImpact> impacts_of(const Recording& recording) {
    std::vector<RecordedImpact> all;
    for (const RecordedPiece& piece : recording.pieces)
        if (const auto* change = std::get_if<RecordedChange>(&piece))
            all.insert(all.end(), change->impacts.begin(), change->impacts.end());
    return all;
}

TEST(LoneImpacts, AreTheSameToTheBitInClosedFormAndByTheContactProblem) {
    for (const char* const name : {"bouncing-ball", "impact-oscillator", "ball-on-moving-plane", "newtons-cradle"}) {
        SCOPED_TRACE(name);
        const model::Model model = shipped(name), conditional = shipped_with_conditions(name);
        EventDriven method;
        Options options;
        options.t_end = 3.0;
        const trajectory::Trajectory closed_form = simulate(model, method, options);
        ASSERT_FALSE(closed_form.events.empty());
        const RecordedMotion recorded = simulate_recorded(model, method, options);
        const RecordedMotion by_problem = simulate_recorded(conditional, method, options);
        for (const trajectory::Trajectory* const other : {&recorded.motion, &by_problem.motion}) {
            expect_same_events(closed_form, *other);
            EXPECT_EQ(closed_form.end.q, other->end.q);
            EXPECT_EQ(closed_form.end.u, other->end.u);
        }
        const std::vector<RecordedImpact> a = impacts_of(recorded.recording), b = impacts_of(by_problem.recording);
        ASSERT_FALSE(a.empty());
        ASSERT_EQ(a.size(), b.size());
        for (std::size_t k = 0; k < a.size(); ++k) {
            EXPECT_EQ(a[k].jam, b[k].jam);
            EXPECT_EQ(a[k].repaired, b[k].repaired);
            EXPECT_EQ(a[k].law, b[k].law);
            EXPECT_EQ(a[k].rows, b[k].rows);
            EXPECT_EQ(a[k].start, b[k].start);
            EXPECT_EQ(a[k].owner, b[k].owner);
            ASSERT_EQ(a[k].laws.size(), b[k].laws.size());
            for (std::size_t i = 0; i < a[k].laws.size(); ++i) EXPECT_EQ(a[k].laws[i].kind, b[k].laws[i].kind);
            EXPECT_EQ(a[k].e, b[k].e);
            EXPECT_EQ(a[k].Lambda, b[k].Lambda);
            EXPECT_EQ(a[k].u_minus, b[k].u_minus);
            EXPECT_EQ(a[k].u_plus, b[k].u_plus);
        }
    }
}

TEST(SeriesArcs, CountTheWorkOfAppliedForcesAndDampingToTheToleranceOfTheMotion) {
    for (const double rtol : {1e-4, 1e-7, 1e-10}) {
        EventDriven method;
        method.rtol = rtol;
        method.atol = 1e-2 * rtol;
        Options options;
        options.t_end = 20.0;
        const trajectory::Trajectory motion = simulate(shipped("impact-oscillator"), method, options);
        EXPECT_TRUE(motion.events_certain);
        EXPECT_LT(motion.energy.balance_error, rtol);
    }
}

TEST(GaussRule, IntegratesPolynomialsOfItsDegreeExactly) {
    for (int points = 1; points <= GaussRule::max_points; ++points) {
        const GaussRule& rule = gauss_rule(points);
        ASSERT_EQ(rule.points, points);
        for (int degree = 0; degree < 2 * points; ++degree) {
            double sum = 0.0;
            for (int j = 0; j < points; ++j) sum += rule.weight[j] * std::pow(rule.node[j], degree);
            EXPECT_NEAR(sum, 1.0 / (degree + 1), 1e-14) << points << " nodes, degree " << degree;
        }
    }
}

}  // namespace
}  // namespace saltus::integrate::repeated_runs_test
