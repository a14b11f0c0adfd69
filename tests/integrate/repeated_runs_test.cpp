// SPDX-License-Identifier: Apache-2.0
#include "saltus/integrate/event/repeated_runs.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "saltus/integrate/mode/detail/gauss_rule.hpp"
#include "saltus/io/model/read_model.hpp"
#include "saltus/model/build.hpp"
#include "saltus/model/model.hpp"

namespace saltus::integrate {
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
}  // namespace saltus::integrate
