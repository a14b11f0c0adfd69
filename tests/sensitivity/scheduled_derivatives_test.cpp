// SPDX-License-Identifier: Apache-2.0
#include "saltus/sensitivity/schedule/scheduled_derivatives.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "saltus/io/model/read_model.hpp"
#include "saltus/model/build.hpp"
#include "saltus/model/model.hpp"

namespace saltus::sensitivity::scheduled_derivatives_test {
namespace {

integrate::RecordedMotion recorded(const model::Model& m, double t_end) {
    integrate::EventDriven method;
    method.keep_arcs = true;
    integrate::Options options;
    options.start = trajectory::State{0.0, m.q0, m.u0};
    options.t_end = t_end;
    return integrate::simulate_recorded(m, method, options);
}

// A ball strikes the floor at t with the velocity −v: at t_end = t + D it is at e v D − g D²/2 and has the velocity
// e v − g D. The condition of the event is that the height is zero.
TEST(ScheduledDerivatives, OfAStageWithAnImpactAreThoseOfTheClosedForm) {
    const double g = 10.0, e = 0.5, t = 1.0, v = 10.0, D = 0.3;
    const model::Model m =
        model::build(io::parse_model("[system]\nq = [\"y\"]\nT = \"y'^2/2\"\nU = \"10*y\"\n"
                                     "[parameters]\ne = 0.5\n[[contact]]\nname = \"floor\"\n"
                                     "gN = \"y\"\neN = \"e\"\n[initial]\nq = { y = 5 }\n",
                                     "test.toml"));
    integrate::RecordedMotion motion = recorded(m, t + D);
    const integrate::EventOrder order = integrate::order_of(m, motion);
    ASSERT_EQ(order.events.size(), 1U);
    const std::vector<integrate::ScheduledStage> stages = integrate::stages_of(motion, order);
    ScheduledDerivatives derivatives(m, variables(m, {"e"}));
    ASSERT_TRUE(derivatives.available());
    StageDerivative d;
    ASSERT_TRUE(derivatives.stage(stages[1], Vector::Constant(2, 10.0), 1e-11, d)) << derivatives.failure();
    const auto expect = [](const Matrix& found, const Matrix& exact) {
        EXPECT_LE((found - exact).cwiseAbs().maxCoeff(), 1e-9) << found << "\n" << exact;
    };
    expect(d.by_state, (Matrix(2, 2) << 1.0, -e * D, 0.0, -e).finished());
    expect(d.by_start, (Matrix(2, 1) << -e * v + g * D, g).finished());
    expect(d.by_end, (Matrix(2, 1) << e * v - g * D, -g).finished());
    expect(d.by_parameters, (Matrix(2, 1) << v * D, v).finished());
    std::vector<ConditionDerivative> conditions;
    ASSERT_TRUE(derivatives.conditions(order.events[0], t, Vector{{0.0, -v}}, conditions)) << derivatives.failure();
    ASSERT_EQ(conditions.size(), 1U);
    EXPECT_NEAR(conditions[0].by_time, 0.0, 1e-14);
    EXPECT_NEAR(conditions[0].by_state(0), 1.0, 1e-14);
    EXPECT_NEAR(conditions[0].by_state(1), 0.0, 1e-14);
    EXPECT_NEAR(conditions[0].rate, -v, 1e-12);
    EXPECT_TRUE(derivatives.regular(stages));
}

// Differences of the stages themselves, through stick, slip and impacts with friction.
TEST(ScheduledDerivatives, OfTheWoodpeckerAreThoseOfDifferences) {
    const model::Model m = model::build(io::read_model(std::string(SALTUS_SOURCE_DIR) + "/models/woodpecker.toml"));
    const double t_end = 0.2;
    integrate::RecordedMotion motion = recorded(m, t_end);
    const integrate::EventOrder order = integrate::order_of(m, motion);
    ASSERT_EQ(order.refusal, "");
    ASSERT_GE(order.events.size(), 3U);
    const std::vector<integrate::ScheduledStage> stages = integrate::stages_of(motion, order);
    integrate::EventDriven method;
    method.rtol = method.atol = 1e-12;
    integrate::ScheduledRun run(m, method);
    run.begin(0.0, t_end);
    ScheduledDerivatives derivatives(m, {});
    const Eigen::Index states = 2 * m.size();
    Vector size = Vector::Constant(states, 1e-3);
    for (const integrate::ScheduledStage& stage : stages)
        for (Eigen::Index i = 0; i < states; ++i)
            size(i) = std::max(size(i), std::abs(stage.end[static_cast<std::size_t>(i)]));
    // Disturbances that the stage before leaves: others violate the contacts that are closed.
    StageDerivative previous;
    ASSERT_TRUE(derivatives.stage(stages[0], size, 1e-11, previous)) << derivatives.failure();
    for (std::size_t k = 1; k < stages.size(); ++k) {
        const Matrix directions = previous.by_state * size.asDiagonal();
        StageDerivative d;
        ASSERT_TRUE(derivatives.stage(stages[k], size, 1e-11, d)) << k << " " << derivatives.failure();
        const auto end_of = [&](double t, double to, const Vector& x) {
            integrate::ScheduledStage out;
            EXPECT_TRUE(run.stage(&order.events[k - 1], stages[k].mode, t, {x.data(), static_cast<std::size_t>(states)},
                                  to, out))
                << run.failure();
            return Vector(Eigen::Map<const Vector>(out.end.data(), states));
        };
        const Vector y = Eigen::Map<const Vector>(stages[k - 1].end.data(), states);
        const double t = stages[k].t, to = stages[k].t_end;
        constexpr double part = 1e-5, accuracy = 2e-5;
        for (Eigen::Index j = 0; j < states; ++j) {
            const double length = directions.col(j).cwiseQuotient(size).cwiseAbs().maxCoeff();
            if (length < 1e-6) continue;
            const Vector w = directions.col(j) / length;
            const Vector difference = (end_of(t, to, y + part * w) - end_of(t, to, y - part * w)) / (2.0 * part);
            const Vector error = (difference - d.by_state * w).cwiseQuotient(size);
            EXPECT_LE(error.cwiseAbs().maxCoeff(), accuracy) << "stage " << k << " direction " << j;
        }
        const double h = part * (to - t);
        const Vector by_start = (end_of(t + h, to, y) - end_of(t - h, to, y)) / (2.0 * h);
        EXPECT_LE(((by_start - d.by_start).cwiseQuotient(size) * (to - t)).cwiseAbs().maxCoeff(), accuracy) << k;
        previous = d;
    }
}

}  // namespace
}  // namespace saltus::sensitivity::scheduled_derivatives_test
