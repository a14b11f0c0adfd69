// SPDX-License-Identifier: Apache-2.0
#include "saltus/integrate/event/scheduled.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "saltus/io/model/read_model.hpp"
#include "saltus/model/build.hpp"
#include "saltus/model/model.hpp"

namespace saltus::integrate::scheduled_test {
namespace {

constexpr double pi = std::numbers::pi;

model::Model of_text(const std::string& text) { return model::build(io::parse_model(text, "test.toml")); }

/// x'' + x = 0 with a stop at x = −0.5.
model::Model oscillator() {
    return of_text(
        "[system]\nq = [\"x\"]\nT = \"x'^2/2\"\nU = \"x^2/2\"\n"
        "[[contact]]\nname = \"stop\"\ngN = \"x + 0.5\"\neN = 0.8\n");
}

RecordedMotion recorded(const model::Model& m, double t_end) {
    EventDriven method;
    method.keep_arcs = true;
    Options options;
    options.start = trajectory::State{0.0, m.q0, m.u0};
    options.t_end = t_end;
    return simulate_recorded(m, method, options);
}

/// The mode of a motion that begins at a state.
SystemMode mode_at(const model::Model& m, const trajectory::State& start) {
    EventDriven method;
    method.keep_arcs = true;
    Options options;
    options.start = start;
    options.t_end = start.t + 1e-3;
    return order_of(m, simulate_recorded(m, method, options)).first;
}

TEST(Scheduled, StagesAtTheTimesOfASimulationAreItsMotion) {
    for (const auto& [name, t_end] :
         {std::pair{"impact-oscillator", 20.0}, {"friction-oscillator", 20.0}, {"woodpecker", 0.4}}) {
        const model::Model m =
            model::build(io::read_model(std::string(SALTUS_SOURCE_DIR) + "/models/" + name + ".toml"));
        RecordedMotion motion = recorded(m, t_end);
        const EventOrder order = order_of(m, motion);
        ASSERT_EQ(order.refusal, "") << name;
        ASSERT_GE(order.events.size(), 3U) << name;
        const std::vector<ScheduledStage> stages = stages_of(motion, order);
        ASSERT_EQ(stages.size(), order.events.size() + 1) << name;
        ScheduledRun run(m, EventDriven{});
        run.begin(0.0, t_end);
        for (std::size_t k = 0; k < stages.size(); ++k) {
            const auto& before = k == 0 ? stages[0].start : stages[k - 1].end;
            const std::vector<double> x(before.begin(), before.begin() + 2 * m.size());
            ScheduledStage again;
            ASSERT_TRUE(run.stage(k == 0 ? nullptr : &order.events[k - 1], stages[k].mode, stages[k].t, x,
                                  stages[k].t_end, again))
                << name << " " << k << " " << run.failure();
            for (std::size_t i = 0; i < x.size(); ++i)
                EXPECT_NEAR(again.end[i], stages[k].end[i], 1e-8 * (1.0 + std::abs(stages[k].end[i])))
                    << name << " stage " << k << " component " << i;
        }
    }
}

// x = cos t has its least gap −0.5 at t = π. The stage goes on although the stop is penetrated.
TEST(Scheduled, TheLeastGapOfAnArcIsAMargin) {
    const model::Model m = oscillator();
    ScheduledRun run(m, EventDriven{});
    run.begin(0.0, 2 * pi);
    ScheduledStage stage;
    const std::vector<double> x{1.0, 0.0};
    ASSERT_TRUE(run.stage(nullptr, mode_at(m, {0.0, {1.0}, {0.0}}), 0.0, x, 2 * pi, stage)) << run.failure();
    EXPECT_NEAR(stage.end[0], 1.0, 1e-9);
    int least = 0;
    for (const LawMargin& margin : run.margins(stage, nullptr, nullptr)) {
        if (margin.what != LawMargin::What::gap || margin.value > 0.0) continue;
        ++least;
        EXPECT_NEAR(margin.value, -0.5, 1e-10);
        EXPECT_NEAR(margin.t, pi, 1e-5);
        EXPECT_EQ(margin.element, 0);
    }
    EXPECT_EQ(least, 1);
}

// Behind the point at which two events meet, a stage has a negative duration: x + (end − t) ẋ.
TEST(Scheduled, AStageOfNegativeDurationIsAStraightLine) {
    const model::Model m = oscillator();
    ScheduledRun run(m, EventDriven{});
    run.begin(0.0, 1.0);
    ScheduledStage stage;
    const std::vector<double> x{1.0, 0.25};
    ASSERT_TRUE(run.stage(nullptr, mode_at(m, {0.0, {1.0}, {0.25}}), 0.5, x, 0.4, stage)) << run.failure();
    EXPECT_TRUE(stage.arcs.empty());
    EXPECT_NEAR(stage.end[0], 1.0 - 0.1 * 0.25, 1e-15);
    EXPECT_NEAR(stage.end[1], 0.25 + 0.1 * 1.0, 1e-15);
    const std::vector<LawMargin> margins = run.margins(stage, nullptr, nullptr);
    const auto duration = std::find_if(margins.begin(), margins.end(),
                                       [](const LawMargin& l) { return l.what == LawMargin::What::duration; });
    ASSERT_NE(duration, margins.end());
    EXPECT_NEAR(duration->value, -0.1, 1e-15);
}

// The event of grazing is an impact: at the velocity −v the contact leaves with e v.
TEST(Scheduled, GrazingIsTheImpactOfSpeedZero) {
    const model::Model m = oscillator();
    ScheduledRun run(m, EventDriven{});
    run.begin(0.0, 1.0);
    const SystemMode open = mode_at(m, {0.0, {1.0}, {0.0}});
    const ScheduledEvent event = run.grazing(0, open, 0.0, std::vector<double>{-0.5, 0.0}, 1.0);
    ASSERT_EQ(event.changes.size(), 1U);
    for (const double v : {0.0, 1e-6, 0.5, -0.5}) {
        ScheduledStage stage;
        ASSERT_TRUE(run.stage(&event, open, 0.0, std::vector<double>{-0.5, -v}, 0.0, stage)) << run.failure();
        EXPECT_NEAR(stage.end[1], 0.8 * v, 1e-15) << v;
        for (const LawMargin& margin : run.margins(stage, &event, nullptr))
            if (margin.what == LawMargin::What::impulse) {
                EXPECT_NEAR(margin.value, 1.8 * v, 1e-14) << v;
            }
    }
}

}  // namespace
}  // namespace saltus::integrate::scheduled_test
