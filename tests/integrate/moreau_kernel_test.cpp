// SPDX-License-Identifier: Apache-2.0
//
// The text of the kernel for devices, compiled by the compiler of the host, against the lanes: the same bits.
#include "saltus/integrate/moreau/moreau_kernel.hpp"

#include <gtest/gtest.h>

#include "integrate/compiled_kernel.hpp"
#include "integrate/moreau_runs.hpp"
#include "integrate/plane_friction_models.hpp"
#include "saltus/ensemble/device.hpp"
#include "saltus/integrate/moreau/moreau_lanes.hpp"

namespace saltus::integrate::moreau_kernel_test {
namespace {

using moreau::LaneStepper;
using moreau::MotionKernel;
using test::shipped;
using test::written;

using test::kernel_starts;
using test::KernelMotions;
using test::KernelStart;

KernelMotions by_kernel(const model::Model& model, const Moreau& method, const std::vector<KernelStart>& starts,
                        double t_max, double slow, int budget) {
    return test::run_kernel(moreau::emit_motion_kernel(model, method, {}), starts, method.h, t_max, slow, budget);
}

/// Compares q and u after `steps` steps.
/// At least `least` of 32 motions are compared: others are stuck at a contact problem that only the general solvers can
/// solve (the basin makes such a step on the CPU).
void expect_bits_of_lanes(const model::Model& model, const Moreau& method, double spread, int steps, int budget,
                          std::size_t least, const std::string& about) {
    ASSERT_EQ(LaneStepper::refusal(model, method), "") << about;
    const std::vector<KernelStart> starts = kernel_starts(model, 4 * LaneStepper::width, spread);
    const double t_max = static_cast<double>(steps) * method.h, never_slow = -1.0;
    const KernelMotions kernel = by_kernel(model, method, starts, t_max, never_slow, budget);
    ASSERT_FALSE(kernel.outcome.empty());
    LaneStepper lanes(model, method);
    std::size_t compared = 0, different = 0;
    for (std::size_t first = 0; first < starts.size(); first += LaneStepper::width) {
        for (std::size_t lane = 0; lane < LaneStepper::width; ++lane)
            ASSERT_TRUE(lanes.load(lane, starts[first + lane].q, starts[first + lane].u));
        for (int k = 1; k <= steps; ++k) {
            const double t = static_cast<double>(k) * method.h;
            lanes.step(expr::Lanes(t > t_max - 1e-9 * method.h ? t_max : t));
        }
        for (std::size_t lane = 0; lane < LaneStepper::width; ++lane) {
            if (kernel.outcome[first + lane] != static_cast<int>(KernelOutcome::undecided)) continue;
            ++compared;
            for (int i = 0; i < model.size(); ++i) {
                if (kernel.at(i, first + lane) != lanes.q(i, lane)) ++different;
                if (kernel.at(model.size() + i, first + lane) != lanes.u(i, lane)) ++different;
            }
            EXPECT_EQ(kernel.at(2 * model.size(), first + lane), t_max);
        }
    }
    EXPECT_EQ(different, 0U) << about;
    EXPECT_GE(compared, least) << about;
}

TEST(MotionKernel, HasTheBitsOfTheLanes) {
    struct Case {
        const char* model;
        double spread;
        int steps, budget;
        std::size_t least = 32;
    };
    for (const Case& c : {Case{"rocking-bar", 0.5, 3000, 1 << 30},
                          {"rocking-bar", 0.5, 3000, 700},
                          {"rocking-block", 0.3, 1500, 1 << 30},
                          {"falling-block", 0.5, 3000, 1 << 30},
                          {"bouncing-ball", 0.5, 2000, 1 << 30},
                          {"impact-oscillator", 0.3, 1500, 999},
                          {"rough-double-pendulum", 0.2, 300, 1 << 30},
                          {"newtons-cradle", 0.05, 1000, 1 << 30},
                          {"woodpecker", 0.02, 200, 1 << 30},
                          {"constrained-beam", 0.7, 2000, 333, 16},
                          {"friction-oscillator", 1.0, 3000, 1 << 30},
                          {"slider-crank", 0.1, 300, 1 << 30}}) {
        Moreau method;
        method.h = 1e-3;
        expect_bits_of_lanes(shipped(c.model), method, c.spread, c.steps, c.budget, c.least, c.model);
    }
}

TEST(MotionKernel, HasTheBitsOfTheLanesForFrictionInPlanesAndPoissonsLaw) {
    Moreau method;
    method.h = 1e-3;
    for (const test::PlaneFrictionModel& m : test::plane_friction_models())
        expect_bits_of_lanes(written(m.text), method, m.spread, 1500, 1 << 30, 24, m.name);
    expect_bits_of_lanes(shipped("sphere-on-plane"), method, 0.1, 700, 300, 24, "sphere");
}

TEST(MotionKernel, HasTheBitsOfTheLanesForSlidersClutchesAndOtherSettings) {
    const model::Model model = written(R"toml(
[system]
q = ["x", "y", "z"]
T = "(2*x'^2 + 3*y'^2 + z'^2)/2 + 0.5*x'*y' + 0.2*cos(z)*y'*z'"
U = "4*x^2 + 3*(y - x)^2 + 2*(1 - cos(z))"
f = { x = "sin(3*t)" }
[[slider]]
name = "rail"
gammaT = "x'"
mu = 0.4
FN = 2.0
[[clutch]]
name = "one way"
gamma = "z' - y'"
[[contact]]
name = "stop"
gN = "0.4 - y + 0.1*sin(2*t)"
eN = 0.6
[initial]
q = { x = 1.0, y = -0.5 }
[simulate]
t_end = 3
)toml");
    Moreau method;
    method.h = 1e-3;
    method.theta = 0.7;
    method.restitution = Restitution::literal;
    expect_bits_of_lanes(model, method, 0.1, 2000, 1 << 30, 32, "sliders");
}

/// Parameters that each motion has of its own: the lanes of a model with these parameters are their judge. The mass is
/// factorised in each step then, so that the last bits differ.
TEST(MotionKernel, HasParametersOfEachMotion) {
    const model::Model model = shipped("rocking-bar");
    const std::vector<int> varied{test::parameter_number(model, "m"), test::parameter_number(model, "mu")};
    Moreau method;
    method.h = 1e-3;
    std::vector<KernelStart> starts = kernel_starts(model, 3, 0.2);
    const double values[][2] = {{1.0, 0.3}, {2.5, 0.1}, {0.7, 0.5}};
    for (std::size_t k = 0; k < starts.size(); ++k) starts[k].parameters.assign(values[k], values[k] + 2);
    ASSERT_EQ(moreau::kernel_refusal(model, method, 1.0, varied), "");
    const MotionKernel kernel = moreau::emit_motion_kernel(model, method, {}, varied);
    const KernelMotions m = test::run_kernel(kernel, starts, method.h, 1.0, -1.0);
    ASSERT_FALSE(m.outcome.empty());
    for (std::size_t k = 0; k < starts.size(); ++k) {
        const model::Model own =
            shipped("rocking-bar", {{"m", std::to_string(values[k][0])}, {"mu", std::to_string(values[k][1])}});
        LaneStepper lanes(own, method);
        ASSERT_TRUE(lanes.load(0, starts[k].q, starts[k].u));
        for (int i = 1; i <= 1000; ++i) lanes.step(expr::Lanes(i == 1000 ? 1.0 : i * method.h));
        EXPECT_EQ(m.how(k), KernelOutcome::undecided);
        for (int i = 0; i < 3; ++i) EXPECT_NEAR(m.at(i, k), lanes.q(i, 0), 1e-10) << k;
    }
}

TEST(MotionKernel, EndsMotionsThatRestAndTellsWhenTheyBegan) {
    const model::Model model = shipped("rocking-bar");
    Moreau method;
    method.h = 1e-3;
    const std::vector<KernelStart> starts = kernel_starts(model, 16, 0.3);
    const KernelMotions m = by_kernel(model, method, starts, 20.0, 1e-12, 1 << 30);
    ASSERT_FALSE(m.outcome.empty());
    for (std::size_t k = 0; k < starts.size(); ++k) {
        EXPECT_EQ(m.outcome[k], static_cast<int>(KernelOutcome::rests));
        const int steps = m.outcome[starts.size() + k];
        // Rest began with the first of 16 slow steps.
        EXPECT_DOUBLE_EQ(m.at(2 * model.size(), k), 1e-3 * (steps - 15));
        EXPECT_LE(m.at(2 * model.size() + 1, k), 1e-12);
    }
}

TEST(MotionKernel, IsTakenByTheCompilerOfCuda) {
    Moreau method;
    for (const char* name : {"rocking-bar", "sphere-on-plane"}) {  // friction along lines, in a plane
        const MotionKernel kernel = moreau::emit_motion_kernel(shipped(name), method, {});
        const auto complaint = ensemble::cuda_compiler_complaint(kernel.text, "sm_90");
        if (!complaint) GTEST_SKIP() << "there is no NVRTC";
        EXPECT_EQ(*complaint, "") << name;
    }
}

TEST(MotionKernel, RefusesWhatLanesRefuseAndLinearForcesThatAreTooStiff) {
    Moreau method;
    method.h = 1e-3;
    EXPECT_EQ(moreau::kernel_refusal(shipped("rocking-bar"), method, 10.0), "");
    EXPECT_EQ(moreau::kernel_refusal(shipped("rough-double-pendulum"), method, 10.0), "");
    EXPECT_EQ(moreau::kernel_refusal(shipped("sphere-on-plane"), method, 10.0), "");
    EXPECT_NE(moreau::kernel_refusal(shipped("single-link-arm"), method, 10.0).find("the energy impact law"),
              std::string::npos);
    method.h = 1.0;  // the spring of the bar has the frequency 3.2 1/s
    EXPECT_NE(moreau::kernel_refusal(shipped("rocking-bar"), method, 10.0).find("not stable"), std::string::npos);
}

/// A spring that hardens: stiff only at large amplitudes.
TEST(MotionKernel, GivesUpMotionsWhoseForcesBecomeTooStiff) {
    const model::Model model = written(R"toml(
[system]
q = ["x"]
T = "x'^2/2"
U = "x^2/2 + 1000*x^4"
[simulate]
t_end = 1
)toml");
    Moreau method;
    method.h = 1e-2;
    ASSERT_EQ(moreau::kernel_refusal(model, method, 1.0), "");
    const KernelMotions m = by_kernel(model, method, {{{0.01}, {0.0}, {}}, {{2.0}, {0.0}, {}}}, 1.0, -1.0, 1 << 30);
    ASSERT_FALSE(m.outcome.empty());
    EXPECT_EQ(m.outcome[0], static_cast<int>(KernelOutcome::undecided));
    EXPECT_EQ(m.outcome[1], static_cast<int>(KernelOutcome::given_up));  // h*sqrt(12000*4) = 2.2
}

}  // namespace
}  // namespace saltus::integrate::moreau_kernel_test
