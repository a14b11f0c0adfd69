// SPDX-License-Identifier: Apache-2.0
//
// Jumps of the model ([[jump]]) and static friction (mu_static): published gaits and closed forms, their multipliers,
// and derivatives against differences of whole motions.
#include <complex>

#include "saltus/base/eigenvalues.hpp"
#include "sensitivity/derivatives.hpp"

namespace saltus::state_jumps_test {
namespace {

using namespace saltus::test;
using Complex = std::complex<double>;

/// The eigenvalues of ∂x(period)/∂x(0) for a motion that is periodic, largest modulus first.
std::vector<Complex> multipliers(const Model& model, const State& on_orbit, double period) {
    sensitivity::Options options;
    options.t_end = period;
    options.start = State{0.0, on_orbit.q, on_orbit.u};
    std::vector<std::string> names = model.coordinates;
    for (const std::string& q : model.coordinates) names.push_back(q + "'");
    const Sensitivity s = sensitivity::sensitivity(model, sensitivity::variables(model, names), options);
    EXPECT_TRUE(s.available) << s.reason << remarks(s);
    EXPECT_FALSE(s.final.hasNaN()) << remarks(s);
    std::vector<Complex> list = eigenvalues(s.final);
    std::sort(list.begin(), list.end(), [](const Complex& a, const Complex& b) {
        return std::abs(a) != std::abs(b) ? std::abs(a) > std::abs(b) : a.imag() > b.imag();
    });
    return list;
}

// Between two strikes ω² grows by 4 (g/l) sin α sin γ, and a strike multiplies ω by c = cos 2α. The fixed point of
// ω² → c² (ω² + 4 (g/l) sin α sin γ) is ω = cot 2α √(4 (g/l) sin α sin γ), its multiplier c².
TEST(StateJump, TheRimlessWheelHasItsSteadyGaitAndMultiplier) {
    const Model wheel = shipped("rimless-wheel");
    const double alpha = std::acos(-1.0) / 8.0, gamma = 0.08, g = 9.81;
    const double steady = std::sqrt(4.0 * g * std::sin(alpha) * std::sin(gamma)) / std::tan(2.0 * alpha);
    const State after{0.0, {gamma - alpha}, {steady}};
    const Trajectory motion = motion_of(wheel, 3.0, EventDriven{}, after);
    const std::vector<Event> strikes = events_of(motion, EventKind::jump);
    ASSERT_GE(strikes.size(), 2U) << story(motion);
    EXPECT_TRUE(motion.events_certain);
    for (const Event& e : strikes) {
        EXPECT_EQ(e.note, "strike");
        EXPECT_TRUE(matches(e.u_plus[0], steady, 1e-11));
        EXPECT_TRUE(matches(e.q[0], gamma + alpha, 1e-13));
        EXPECT_TRUE(matches(e.q_plus[0], gamma - alpha, 1e-15));
        EXPECT_TRUE(matches(e.u_minus[0] * std::cos(2.0 * alpha), e.u_plus[0], 1e-15));
    }
    const double period = strikes[1].t - strikes[0].t;
    const std::vector<Complex> m = multipliers(wheel, motion.right(0.5 * strikes[0].t), period);
    EXPECT_NEAR(std::abs(m[0] - 1.0), 0.0, 1e-10);
    EXPECT_NEAR(std::abs(m[1] - std::pow(std::cos(2.0 * alpha), 2)), 0.0, 1e-10);
}

// Garcia, Chatterjee, Ruina and Coleman (1998), long gait on the slope 0.009.
TEST(StateJump, TheSimplestWalkerHasItsGaitAndMultipliers) {
    const Model walker = shipped("simplest-walker");
    const Trajectory motion = motion_of(walker, 8.0);
    const std::vector<Event> strikes = events_of(motion, EventKind::jump);
    ASSERT_EQ(strikes.size(), 2U) << story(motion);
    const double period = 3.882463752851;
    EXPECT_NEAR(strikes[0].t, period, 1e-11);
    EXPECT_NEAR(strikes[1].t, 2.0 * period, 1e-10);
    for (const Event& e : strikes) {
        EXPECT_NEAR(e.q_plus[0], 0.2003109005442, 1e-11);
        EXPECT_NEAR(e.u_plus[0], -0.1998324730050, 1e-11);
        EXPECT_NEAR(e.q_plus[1], 2.0 * e.q_plus[0], 1e-13);
    }
    const std::vector<Complex> m = multipliers(walker, motion.right(1.0), period);
    ASSERT_EQ(m.size(), 4U);
    EXPECT_NEAR(std::abs(m[0] - 1.0), 0.0, 1e-9);
    EXPECT_NEAR(std::abs(m[1] - Complex(-0.19009984107, 0.55759877668)), 0.0, 1e-9);
    EXPECT_NEAR(std::abs(m[2] - Complex(-0.19009984107, -0.55759877668)), 0.0, 1e-9);
    EXPECT_NEAR(std::abs(m[3]), 0.0, 1e-10);
}

// With m = k = 1 and the friction drop ΔF: stick for 2ΔF/v, slip for 2(π − atan(ΔF/v)).
TEST(StaticFriction, TheBlockOnTheBeltHasItsPeriodAndMultipliers) {
    const Model belt = shipped("stick-slip-belt");
    const double drop = 0.5, v = 0.2, pi = std::acos(-1.0);
    const double slip = 2.0 * (pi - std::atan(drop / v)), period = 2.0 * drop / v + slip;
    EXPECT_NEAR(period, 8.9026054078, 1e-10);
    const Trajectory motion = motion_of(belt, 40.0);
    const std::vector<Event> starts = events_of(motion, EventKind::slip), ends = events_of(motion, EventKind::stick);
    ASSERT_GE(starts.size(), 4U) << story(motion);
    ASSERT_GE(ends.size(), 3U) << story(motion);
    EXPECT_NEAR(starts[0].t, 1.0 / v, 1e-10);  // it sticks from x = 0 to x = Fs/k = 1
    for (std::size_t k = 0; k < 3; ++k) {
        EXPECT_NEAR(ends[k].t - starts[k].t, slip, 1e-10);
        EXPECT_NEAR(starts[k + 1].t - starts[k].t, period, 1e-10);
        EXPECT_NEAR(starts[k].q[0], 1.0, 1e-10);
        EXPECT_NEAR(ends[k].q[0], 0.0, 1e-10);  // Fk − ΔF
    }
    const std::vector<Complex> m = multipliers(belt, motion.right(starts[1].t + 0.4 * slip), period);
    EXPECT_NEAR(std::abs(m[0] - 1.0), 0.0, 1e-10);
    EXPECT_NEAR(std::abs(m[1]), 0.0, 1e-10);
}

void expect_agreement(const model::Description& description, const std::vector<std::string>& wrt, double t_end,
                      const integrate::Method& method = EventDriven{}) {
    const Model m = built(description);
    sensitivity::Options options;
    options.t_end = t_end;
    options.method = method;
    const Sensitivity s = sensitivity::sensitivity(m, sensitivity::variables(m, wrt), options);
    ASSERT_TRUE(s.available) << m.name << ": " << s.reason;
    EXPECT_FALSE(s.final.hasNaN()) << remarks(s);
    const Differences d = sensitivity::differences(description, {}, s, options);
    for (std::size_t j = 0; j < wrt.size(); ++j) {
        EXPECT_TRUE(d.variables[j].possible) << wrt[j];
        EXPECT_LE(d.variables[j].error, 1e-6) << m.name << ", " << wrt[j] << remarks(s);
    }
}

TEST(StateJump, DerivativesThroughJumpsAgreeWithDifferences) {
    expect_agreement(description_of("rimless-wheel"), {"theta", "theta'", "g", "l", "alpha", "gamma"}, 2.0);
    expect_agreement(description_of("simplest-walker"), {"theta", "theta'", "phi'", "gamma"}, 5.0);
    EventDriven sampled;
    sampled.series = false;
    expect_agreement(description_of("rimless-wheel"), {"theta'", "g", "gamma"}, 2.0, sampled);
}

TEST(StaticFriction, DerivativesAgreeWithDifferences) {
    expect_agreement(description_of("stick-slip-belt"), {"x", "m", "k", "v", "N", "Fs", "Fk"}, 7.0);
}

// A reset that depends on the time and on both states, triggered by the time-dependent quantity x − sin t.
const std::string kicked = R"toml(
[system]
q = ["x", "y"]
T = "m/2*x'^2 + y'^2/2"
U = "k/2*x^2 + y^2 + x*y/4"
[parameters]
m = 1.3
k = 4.0
c = 0.6
[[jump]]
name = "kick"
when = "x - c*sin(t)"
direction = "down"
if = "t > 0.2"
q = { y = "y + c*x'*t/10" }
u = { x = "-0.8*x' + c*cos(t) + y/5", y = "y' - x'*y + t" }
[initial]
q = { x = 1.0, y = 0.2 }
u = { x = 0.3 }
)toml";

TEST(StateJump, DerivativesOfAResetInTimeAndStateAgreeWithDifferences) {
    const model::Description d = io::parse_model(kicked, "test");
    const Trajectory motion = motion_of(built(d), 4.0);
    ASSERT_GE(events_of(motion, EventKind::jump).size(), 2U) << story(motion);
    expect_agreement(d, {"x", "x'", "y", "y'", "m", "k", "c"}, 4.0);
}

// The reset puts the ball onto the floor, where it stays. Its height does not vary with the parameters, but with c it
// would: then there is no derivative.
TEST(StateJump, AResetOntoAContactHasADerivativeIfNoVariationLeavesIt) {
    const auto text = [](const char* height) {
        return std::string(R"toml(
[system]
q = ["x", "y"]
T = "(x'^2 + y'^2)/2"
U = "9.81*y"
[parameters]
c = 0.0
[[contact]]
name = "floor"
gN = "y"
[[jump]]
name = "caught"
when = "x - 1"
direction = "up"
q = { y = ")toml") +
               height + R"toml(" }
u = { x = "x'/2", y = 0 }
[initial]
q = { y = 10.0 }
u = { x = 1.0 }
)toml";
    };
    const Sensitivity rests = derivatives(from_text(text("0")), {"x'", "y"}, 3.0);
    EXPECT_FALSE(rests.final.hasNaN()) << remarks(rests);
    // x = 1 at t = 1/v; then half the speed: x(3) = 1 + (3 − 1/v) v/2, so that ∂x/∂v = 3/2.
    EXPECT_NEAR(rests.final(0, 0), 1.5, 1e-10);
    EXPECT_NEAR(rests.final(1, 1), 0.0, 1e-14);
    const Sensitivity leaves = derivatives(from_text(text("c")), {"c", "x'"}, 3.0);
    EXPECT_TRUE(std::isnan(leaves.final(0, 0)));
    EXPECT_NE(remarks(leaves).find("the jump 'caught' ends on 'floor'"), std::string::npos) << remarks(leaves);
    EXPECT_NEAR(leaves.final(0, 1), 1.5, 1e-10);
}

// A body slides down the slope y = −x/2 with a slider of the friction force 0.3, so that x'' = (9.81/2 − 0.3)/1.25 and
// x'(0.5) = 2.042. The jump changes x' to p x' − 1, which runs into the slope, and the impact removes the velocity
// across it: x'⁺ = (p x' − 1 − y'/2)/1.25. Hence ∂x'/∂p = 2.042/1.25 from then on.
const std::string pushed_into_the_slope = R"toml(
[system]
q = ["x", "y"]
T = "x'^2/2 + y'^2/2"
U = "9.81*y"
[parameters]
p = 1.0
[[contact]]
name = "slope"
gN = "y + x/2"
eN = 0
[[slider]]
name = "s"
gammaT = "x'"
mu = 1
FN = 0.3
[[jump]]
name = "push"
when = "t - 0.5"
u = { x = "p*x' - 1" }
[initial]
u = { x = 0.2, y = -0.1 }
)toml";

TEST(StateJump, FrictionRemovesNoVelocityBetweenAResetAndTheImpactThatFollowsIt) {
    const Sensitivity s = derivatives(from_text(pushed_into_the_slope), {"p"}, 1.0);
    EXPECT_NEAR(s.final(0, 0), 0.5 * 2.042 / 1.25, 1e-10) << remarks(s);
    EXPECT_NEAR(s.final(1, 0), -0.25 * 2.042 / 1.25, 1e-10);
    EXPECT_NEAR(s.final(2, 0), 2.042 / 1.25, 1e-10);
    EXPECT_NEAR(s.final(3, 0), -0.5 * 2.042 / 1.25, 1e-10);
    expect_agreement(io::parse_model(pushed_into_the_slope, "test"), {"p", "x'"}, 1.0);
}

}  // namespace
}  // namespace saltus::state_jumps_test
