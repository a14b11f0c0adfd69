// SPDX-License-Identifier: Apache-2.0
// Bounds over steps of methods that look at samples: what lies between the samples is found.
#include "saltus/integrate/event/detail/step_enclosure.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "integrate/small_models.hpp"
#include "saltus/integrate/simulate.hpp"
#include "saltus/model/model.hpp"

namespace saltus::integrate::step_enclosure_test {

namespace {

using test::model_of;
using Quantity = StepEnclosure::Quantity;

/// A mass above a hill of height 2 and width w at x = 5, held by a stiff spring to a small one.
std::string stiff_model(const std::string& force, const std::string& gap) {
    return R"([system]
q = ["x", "y", "z"]
T = "1/2*(x'^2 + y'^2) + 0.001/2*z'^2"
U = "1e7/2*(z - y)^2"
R = "200/2*(z' - y')^2"
f = { y = ")" +
           force + R"(" }
[[contact]]
name = "hill"
gN = ")" + gap +
           R"("
eN = 0.5
[initial]
q = { x = 0, y = 1, z = 1 }
u = { x = 1 }
)";
}

trajectory::Trajectory implicit_motion(const std::string& text, double t_end) {
    EventDriven method;
    method.implicit = true;
    Options options;
    options.t_end = t_end;
    return simulate(model_of(text), method, options);
}

/// A straight step from one state to another, on [0, length].
ode::Dense straight(const std::vector<double>& from, const std::vector<double>& to, double length = 1.0) {
    ode::Dense step;
    step.reset(0.0, length, static_cast<int>(from.size()), 2);
    std::copy(from.begin(), from.end(), step.term(0).begin());
    std::copy(to.begin(), to.end(), step.term(1).begin());
    return step;
}

}  // namespace

TEST(StepEnclosure, FindsAGapThatIsNegativeBetweenSamples) {
    // The gap is −1 within 1e-4 of x = 0.3141 and positive elsewhere. The body passes there at θ = 0.3141.
    const model::Model m = model_of(stiff_model("0", "1 - 2*exp(-((x - 0.3141)/1e-4)^2)"));
    StepEnclosure enclosure(m);
    ASSERT_TRUE(enclosure.available());
    const ode::Dense step = straight({0, 1, 1, 1, 0, 0, 0}, {1, 1, 1, 1, 0, 0, 0});
    enclosure.begin(step);
    const auto gap = [](std::size_t, double t) { return 1.0 - 2.0 * std::exp(-std::pow((t - 0.3141) / 1e-4, 2)); };
    const Quantity quantity{Quantity::What::position, m.contacts[0].row, 1.0, 1e-14, false};
    const auto dip = enclosure.first_dip({&quantity, 1}, 1.0, gap);
    ASSERT_TRUE(dip);
    EXPECT_LT(gap(0, dip->at), 0.0);
    EXPECT_LE(dip->after, 0.3141);
    EXPECT_GE(gap(0, dip->after), 0.0);
    // A gap that only comes near zero has no dip.
    const model::Model higher = model_of(stiff_model("0", "1 - 0.999*exp(-((x - 0.3141)/1e-4)^2)"));
    StepEnclosure other(higher);
    other.begin(step);
    const auto near = [](std::size_t, double t) { return 1.0 - 0.999 * std::exp(-std::pow((t - 0.3141) / 1e-4, 2)); };
    EXPECT_FALSE(other.first_dip({&quantity, 1}, 1.0, near));
    // The time before which it is asked for counts.
    enclosure.begin(step);
    EXPECT_FALSE(enclosure.first_dip({&quantity, 1}, 0.31, gap));
}

TEST(StepEnclosure, AWellResolvedStepIsNotShortened) {
    const model::Model m = model_of(stiff_model("sin(3*t)", "y - 0.1*cos(2*x)"));
    StepEnclosure enclosure(m);
    const ode::Dense step = straight({0, 1, 1, 1, 0, 0, 0}, {1, 1, 1, 1, 0, 0, 0});
    enclosure.begin(step);
    EXPECT_EQ(enclosure.resolved_part(), 1.0);
}

TEST(StepEnclosure, AStepEndsBeforeABumpBetweenItsSamples) {
    std::mt19937 random(7);
    for (int i = 0; i < 100; ++i) {
        const double place = std::uniform_real_distribution(0.05, 0.95)(random);
        const double width = std::exp(std::uniform_real_distribution(std::log(1e-5), std::log(1e-2))(random));
        const std::string w = std::to_string(1.0 / width), x = std::to_string(place);
        const model::Model m = model_of(stiff_model("exp(-((t - " + x + ")*" + w + ")^2)", "y"));
        StepEnclosure enclosure(m);
        double length = 1.0, part = 0.0;
        for (int k = 0; k < 40 && part < 1.0; ++k) {
            const ode::Dense step = straight({0, 1, 1, 1, 0, 0, 0}, {length, 1, 1, 1, 0, 0, 0}, length);
            enclosure.begin(step);
            part = enclosure.resolved_part();
            length *= part;
        }
        ASSERT_EQ(part, 1.0) << place << ' ' << width;
        // The step ends before the bump, or one of nine samples sees it: exp(-5²) is below what matters.
        double nearest = 1.0;
        for (int k = 0; k <= 8; ++k) nearest = std::min(nearest, std::abs(length * k / 8 - place));
        EXPECT_TRUE(length < place || nearest < 5.0 * width) << place << ' ' << width << ' ' << length;
    }
}

TEST(StepEnclosure, AStepContainsOneSwitchOnly) {
    const ode::Dense step = straight({0, 1, 1, 1, 0, 0, 0}, {1, 1, 1, 1, 0, 0, 0});
    const model::Model pulse = model_of(stiff_model("if(t > 0.3, if(t < 0.3001, 1, 0), 0)", "y"));
    StepEnclosure enclosure(pulse);
    EXPECT_EQ(enclosure.switch_count(), 2);
    enclosure.begin(step);
    const double part = enclosure.resolved_part();
    EXPECT_GT(part, 0.3);
    EXPECT_LT(part, 0.3001);
    const model::Model single = model_of(stiff_model("if(t > 0.3, 1, 0)", "y"));
    StepEnclosure other(single);
    other.begin(step);
    EXPECT_EQ(other.resolved_part(), 1.0);
}

TEST(StepEnclosure, SystemsWithoutFormulasHaveNone) {
    const model::Model points = model_of(R"([points]
positions = [[0, 0, 1]]
mass = 1.0
[[obstacle]]
name = "floor"
normal = [0, 0, 1]
offset = 0
)");
    EXPECT_FALSE(StepEnclosure(points).available());
}

TEST(ImplicitSteps, ABodyHitsASpikeBetweenTheSamplesOfALongStep) {
    const trajectory::Trajectory motion = implicit_motion(stiff_model("0", "y - 2*exp(-((x - 5)/0.01)^2)"), 5.0);
    ASSERT_EQ(motion.status, trajectory::Status::completed) << motion.reason;
    ASSERT_FALSE(motion.events.empty());
    // y = 1 until then: exp(−((t − 5)/0.01)²) = 1/2.
    EXPECT_NEAR(motion.events[0].t, 5.0 - 0.01 * std::sqrt(std::log(2.0)), 1e-12);
    EXPECT_FALSE(motion.events_certain);
}

TEST(ImplicitSteps, APulseAndABumpGiveTheirWholeImpulse) {
    // The impulse of both accelerates the masses 1 and 0.001 together.
    const double mass = 1.001;
    const trajectory::Trajectory pulse = implicit_motion(stiff_model("if(t > 5, if(t < 5.001, 1000, 0), 0)", "y"), 7.0);
    ASSERT_EQ(pulse.status, trajectory::Status::completed) << pulse.reason;
    EXPECT_NEAR(pulse.end.u[1], 1.0 / mass, 1e-7);
    const trajectory::Trajectory bump = implicit_motion(stiff_model("1000*exp(-((t - 5)/0.001)^2)", "y"), 7.0);
    ASSERT_EQ(bump.status, trajectory::Status::completed) << bump.reason;
    EXPECT_NEAR(bump.end.u[1], std::sqrt(std::acos(-1.0)) / mass, 1e-7);
}

TEST(ImplicitSteps, AForceThatJumpsIsPassed) {
    const trajectory::Trajectory motion = implicit_motion(stiff_model("if(t > 5, 1, 0)", "y"), 7.0);
    ASSERT_EQ(motion.status, trajectory::Status::completed) << motion.reason;
    EXPECT_NEAR(motion.end.u[1], 2.0 / 1.001, 1e-7);
}

TEST(ImplicitSteps, AMotionThatKeepsToAJumpStillFails) {
    const trajectory::Trajectory motion = implicit_motion(stiff_model("-sign(y') - 0.1*y", "y + 10"), 7.0);
    EXPECT_EQ(motion.status, trajectory::Status::failed);
}

}  // namespace saltus::integrate::step_enclosure_test
