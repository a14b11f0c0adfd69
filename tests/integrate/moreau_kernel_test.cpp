// SPDX-License-Identifier: Apache-2.0
//
// The text of the kernel for devices, compiled by the compiler of the host, against the lanes: the same bits.
#include "saltus/integrate/moreau/moreau_kernel.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <random>

#include "integrate/moreau_runs.hpp"
#include "saltus/ensemble/device.hpp"
#include "saltus/integrate/moreau/moreau_lanes.hpp"
#include "support.hpp"

namespace saltus::integrate::moreau_kernel_test {
namespace {

using moreau::KernelOutcome;
using moreau::LaneStepper;
using moreau::MotionKernel;
using test::shipped;
using test::written;

using Entry = void (*)(const int*, const double*, int*, const int*, const int*, const double*, double*, double*, int*);

/// The kernel as a function of this program.
class Compiled {
public:
    explicit Compiled(const std::string& text) {
        folder_.write("kernel.cpp", text);
        const std::string library = folder_.file("kernel.so");
        const std::string command = std::string(SALTUS_CXX) +
                                    " -x c++ -O1 -w -ffp-contract=off -fno-builtin -shared -fPIC -o " + library + " " +
                                    folder_.file("kernel.cpp");
        EXPECT_EQ(std::system(command.c_str()), 0) << text;
        library_ = ::dlopen(library.c_str(), RTLD_NOW);
        if (library_ != nullptr) entry_ = reinterpret_cast<Entry>(::dlsym(library_, MotionKernel::name));
    }
    ~Compiled() {
        if (library_ != nullptr) ::dlclose(library_);
    }
    Compiled(const Compiled&) = delete;
    Compiled& operator=(const Compiled&) = delete;
    Entry entry() const { return entry_; }

private:
    saltus::test::Folder folder_;
    void* library_ = nullptr;
    Entry entry_ = nullptr;
};

struct Start {
    std::vector<double> q, u;
};

std::vector<Start> starts_of(const model::Model& model, std::size_t count, double spread) {
    std::mt19937 random(11);
    std::uniform_real_distribution<double> uniform(-spread, spread);
    std::vector<Start> list;
    while (list.size() < count) {
        model::Model moved = model;
        for (double& x : moved.q0) x += uniform(random);
        for (double& x : moved.u0) x += 3.0 * uniform(random);
        if (model::project_initial(moved)) list.push_back({moved.q0, moved.u0});
    }
    return list;
}

/// Motions by the kernel, in slices of `budget` steps.
struct Motions {
    std::vector<double> result;
    std::vector<int> outcome;
    int stride = 0;
    double at(int number, std::size_t motion) const {
        return result[static_cast<std::size_t>(number * stride) + motion];
    }
};

Motions by_kernel(const model::Model& model, const Moreau& method, const std::vector<Start>& starts, double t_max,
                  double slow, int budget) {
    const MotionKernel kernel = moreau::emit_motion_kernel(model, method, {});
    const Compiled compiled(kernel.text);
    Motions m;
    EXPECT_NE(compiled.entry(), nullptr);
    if (compiled.entry() == nullptr) return m;
    const std::size_t n = static_cast<std::size_t>(model.size()), count = starts.size();
    m.stride = static_cast<int>(count);
    std::vector<double> settings{method.h, t_max, slow, 0.0, 0.0}, start(2 * n * count);
    settings.resize(settings.size() + 4 * n, 0.0);
    std::vector<double> state(static_cast<std::size_t>(kernel.state_size) * count);
    m.result.resize(static_cast<std::size_t>(kernel.result_size()) * count);
    m.outcome.assign(2 * count, static_cast<int>(KernelOutcome::waiting));
    std::vector<int> list, flags(count, 0);
    for (std::size_t k = 0; k < count; ++k) {
        list.push_back(static_cast<int>(k));
        for (std::size_t i = 0; i < n; ++i) start[i * count + k] = starts[k].q[i];
        for (std::size_t i = 0; i < n; ++i) start[(n + i) * count + k] = starts[k].u[i];
    }
    while (!list.empty()) {
        const int sizes[3] = {static_cast<int>(list.size()), m.stride, budget};
        int next = 0;
        compiled.entry()(sizes, settings.data(), &next, list.data(), flags.data(), start.data(), state.data(),
                         m.result.data(), m.outcome.data());
        list.clear();
        for (std::size_t k = 0; k < count; ++k) {
            const auto o = static_cast<KernelOutcome>(m.outcome[k]);
            if (o == KernelOutcome::paused) flags[k] = 2;
            if (o == KernelOutcome::paused || o == KernelOutcome::waiting) list.push_back(static_cast<int>(k));
        }
    }
    return m;
}

/// Compares q and u after `steps` steps.
/// At least `least` of 32 motions are compared: others are stuck at a contact problem that only the general solvers can
/// solve (the basin makes such a step on the CPU).
void expect_bits_of_lanes(const model::Model& model, const Moreau& method, double spread, int steps, int budget,
                          std::size_t least, const std::string& about) {
    ASSERT_EQ(LaneStepper::refusal(model, method), "") << about;
    const std::vector<Start> starts = starts_of(model, 4 * LaneStepper::width, spread);
    const double t_max = static_cast<double>(steps) * method.h, never_slow = -1.0;
    const Motions kernel = by_kernel(model, method, starts, t_max, never_slow, budget);
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

TEST(MotionKernel, EndsMotionsThatRestAndTellsWhenTheyBegan) {
    const model::Model model = shipped("rocking-bar");
    Moreau method;
    method.h = 1e-3;
    const std::vector<Start> starts = starts_of(model, 16, 0.3);
    const Motions m = by_kernel(model, method, starts, 20.0, 1e-12, 1 << 30);
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
    for (const char* name : {"rocking-bar", "rough-double-pendulum"}) {
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
    EXPECT_NE(moreau::kernel_refusal(shipped("sphere-on-plane"), method, 10.0), "");
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
    const Motions m = by_kernel(model, method, {{{0.01}, {0.0}}, {{2.0}, {0.0}}}, 1.0, -1.0, 1 << 30);
    ASSERT_FALSE(m.outcome.empty());
    EXPECT_EQ(m.outcome[0], static_cast<int>(KernelOutcome::undecided));
    EXPECT_EQ(m.outcome[1], static_cast<int>(KernelOutcome::given_up));  // h*sqrt(12000*4) = 2.2
}

}  // namespace
}  // namespace saltus::integrate::moreau_kernel_test
