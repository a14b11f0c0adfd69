// SPDX-License-Identifier: Apache-2.0
//
// The text of the event-driven kernel for devices, compiled by the compiler of the host, against the run on the CPU.
#include "saltus/integrate/event/event_kernel.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "integrate/compiled_kernel.hpp"
#include "integrate/moreau_runs.hpp"
#include "saltus/ensemble/device.hpp"
#include "saltus/integrate/event/repeated_runs.hpp"

namespace saltus::integrate::event_kernel_test {
namespace {

using test::kernel_starts;
using test::KernelMotions;
using test::KernelStart;
using test::shipped;
using test::written;
using trajectory::EventKind;
using trajectory::Trajectory;

constexpr double never_slow = -1.0;

/// A kernel without optimisation, which is compiled in half the time.
struct Kernel {
    explicit Kernel(const model::Model& model, std::span<const int> varied = {})
        : text(emit_event_kernel(model, {}, {}, varied)), compiled(text, "-O0") {
        EXPECT_EQ(event_kernel_refusal(model, {}), "");
    }
    KernelMotions run(const std::vector<KernelStart>& starts, double t_max, int budget = 1 << 30) const {
        return test::run_kernel(text, compiled, starts, 0.0, t_max, never_slow, budget);
    }

    EventKernel text;
    test::CompiledKernel compiled;
};

Trajectory by_cpu(const model::Model& model, EventDriven method, const KernelStart& start, double t_max) {
    method.keep_arcs = false;
    Options options;
    options.t_end = t_max;
    options.start = trajectory::State{0.0, start.q, start.u};
    return simulate(model, method, options);
}

/// The largest difference of two states, relative to 1 + |x|.
double difference(const std::vector<double>& q, const std::vector<double>& u, const Trajectory& motion) {
    double largest = 0.0;
    const auto compare = [&](double x, double y) {
        largest = std::max(largest, std::abs(x - y) / (1.0 + std::abs(y)));
    };
    for (std::size_t i = 0; i < q.size(); ++i) compare(q[i], motion.end.q[i]), compare(u[i], motion.end.u[i]);
    return largest;
}

int count(const Trajectory& motion, EventKind kind) {
    return static_cast<int>(std::count_if(motion.events.begin(), motion.events.end(),
                                          [&](const trajectory::Event& e) { return e.kind == kind; }));
}

struct Agreement {
    int compared = 0, given_up = 0, counts_differ = 0;
    double worst = 0.0;
};

/// Compares ends and numbers of events. A motion whose end on the CPU changes by more than a tenth of `allowed` with a
/// tolerance of 1/100 amplifies errors, and is not compared.
Agreement compare(const model::Model& model, const std::vector<KernelStart>& starts, double t_max, double allowed,
                  const std::string& about) {
    Agreement a;
    const EventDriven method;
    const Kernel kernel(model);
    const KernelMotions m = kernel.run(starts, t_max);
    const int n = model.size();
    for (std::size_t k = 0; k < starts.size() && !m.outcome.empty(); ++k) {
        if (m.how(k) == KernelOutcome::given_up) {
            ++a.given_up;
            continue;
        }
        EXPECT_EQ(m.how(k), KernelOutcome::undecided) << about;
        EXPECT_EQ(m.at(2 * n, k), t_max) << about;
        const Trajectory motion = by_cpu(model, method, starts[k], t_max);
        if (motion.status != trajectory::Status::completed) continue;
        EventDriven sharper;
        sharper.rtol = 1e-2 * method.rtol;
        sharper.atol = 1e-2 * method.atol;
        const Trajectory better = by_cpu(model, sharper, starts[k], t_max);
        if (difference(better.end.q, better.end.u, motion) > 0.1 * allowed) continue;
        std::vector<double> q, u;
        for (int i = 0; i < n; ++i) q.push_back(m.at(i, k)), u.push_back(m.at(n + i, k));
        const double error = difference(q, u, motion);
        EXPECT_LE(error, allowed) << about << ", start " << k;
        a.worst = std::max(a.worst, error);
        ++a.compared;
        const std::array kinds{EventKind::impact, EventKind::contact,  EventKind::lift_off,    EventKind::stick,
                               EventKind::slip,   EventKind::reversal, EventKind::accumulation};
        bool differs = false;
        for (std::size_t i = 0; i < kinds.size(); ++i)
            differs = differs || m.at(kernel.text.events_at() + static_cast<int>(i), k) != count(motion, kinds[i]);
        if (differs) ++a.counts_differ;
    }
    return a;
}

TEST(EventKernel, EndsWhereTheCpuEndsWithTheSameEvents) {
    struct Case {
        const char* model;
        double spread, t_max;
        int starts;
    };
    for (const Case& c : {Case{"bouncing-ball", 0.3, 3.0, 12},     // accumulation
                          {"falling-block", 0.5, 3.0, 12},         // friction, lift-off
                          {"rocking-bar", 0.3, 5.0, 12},           // two contacts, accumulations, redundant rest
                          {"constrained-beam", 0.5, 5.0, 12},      // friction of constraints
                          {"friction-oscillator", 1.0, 10.0, 12},  // friction that falls with the speed
                          {"newtons-cradle", 0.1, 3.0, 8},         // impacts at one time
                          {"chaplygin-sleigh", 0.2, 2.0, 6}}) {    // a velocity constraint
        const model::Model model = shipped(c.model);
        const auto starts = kernel_starts(model, static_cast<std::size_t>(c.starts), c.spread);
        const Agreement a = compare(model, starts, c.t_max, 1e-8, c.model);
        EXPECT_GE(10 * a.compared, 8 * c.starts) << c.model;
        EXPECT_LE(10 * a.given_up, 2 * c.starts) << c.model;
        EXPECT_EQ(a.counts_differ, 0) << c.model;
    }
}

/// Two masses with springs, a belt, a bumper, a floor and a driven force; `more` adds elements.
std::string random_model(std::mt19937& random) {
    const auto number = [&](double low, double high) {
        return std::to_string(std::uniform_real_distribution<double>(low, high)(random));
    };
    const auto chance = [&](double p) { return std::bernoulli_distribution(p)(random); };
    std::string U = number(2, 9) + "*x^2/2 + " + number(1, 5) + "*(y - x)^2/2 + 9.81*" + number(0.2, 1) + "*z";
    if (chance(0.5)) U += " + " + number(0.5, 3) + "*(1 - cos(" + number(1, 2) + "*y))";
    if (chance(0.3)) U += " + " + number(0.1, 1) + "*exp(-(x - " + number(-1, 1) + ")^2)";
    std::string T = "(" + number(1, 2) + "*x'^2 + " + number(0.5, 2) + "*y'^2 + " + number(0.5, 2) + "*z'^2)/2";
    if (chance(0.5)) T += " + " + number(0.1, 0.4) + "*cos(x)*x'*y'";
    std::string text = "[system]\nq = [\"x\", \"y\", \"z\"]\nT = \"" + T + "\"\nU = \"" + U + "\"\n";
    text += "R = \"" + number(0, 0.3) + "*(x'^2 + y'^2)/2\"\n";
    if (chance(0.5)) text += "f = { x = \"" + number(1, 4) + "*sin(" + number(1, 5) + "*t)\" }\n";
    text += "[[contact]]\nname = \"floor\"\ngN = \"z + 0.3*sin(y)\"\ngammaT = \"y'\"\nmu = " + number(0.05, 0.4) +
            "\neN = " + number(0, 0.8) + "\neT = " + number(0, 0.3) + "\n";
    if (chance(0.6))
        text += "[[contact]]\nname = \"bumper\"\ngN = \"" + number(0.4, 1.2) + " - x\"\neN = " + number(0, 0.9) + "\n";
    if (chance(0.6)) {
        text += "[[slider]]\nname = \"belt\"\ngammaT = \"x' - " + number(-1, 1) + "\"\nFN = " + number(0.5, 3);
        const std::string mu = number(0.1, 0.5);
        text += chance(0.5) ? "\nmu = " + mu + "\nmu_static = " + mu + "9\n"
                            : "\nmu = \"" + mu + " + 0.2*exp(-abs(x')/0.4)\"\n";
    }
    if (chance(0.3))
        text += "[[constraint]]\nname = \"link\"\ng = \"y - " + number(0.2, 0.5) +
                "*sin(x)\"\ngammaT = \"x'\"\nmu = " + number(0.02, 0.2) + "\n";
    return text + "[initial]\nq = { x = 0.1, y = 0.2, z = 1.0 }\n[simulate]\nt_end = 2\n";
}

TEST(EventKernel, EndsWhereTheCpuEndsForRandomModels) {
    std::mt19937 random(5);
    int models = 0, compared = 0, counts_differ = 0;
    for (int k = 0; k < 4; ++k) {
        const std::string text = random_model(random);
        model::BuildOptions options;
        options.project_initial = true;
        const model::Model model = model::build(io::parse_model(text, "random"), options);
        const Agreement a =
            compare(model, kernel_starts(model, 6, 0.3, 20U + static_cast<unsigned>(k)), 2.0, 1e-7, text);
        ++models;
        compared += a.compared;
        counts_differ += a.counts_differ;
    }
    EXPECT_GE(compared, 16) << "of " << 6 * models;
    EXPECT_LE(counts_differ, 1);
}

/// The force has a narrow pulse that the coefficients of a series far from it do not show. Only a proved step finds it.
TEST(EventKernel, DoesNotJumpOverANarrowPulseOfAForce) {
    const model::Model model = written(R"toml(
[system]
q = ["x"]
T = "x'^2/2"
f = { x = "300*exp(-((x - 3)/0.002)^2)" }
[initial]
u = { x = 2.0 }
[simulate]
t_end = 3
)toml");
    const std::vector<KernelStart> starts{{{0.0}, {2.0}, {}}, {{0.3}, {1.7}, {}}};
    const Agreement a = compare(model, starts, 3.0, 1e-8, "pulse");
    EXPECT_EQ(a.compared, 2);
    EXPECT_GT(by_cpu(model, {}, starts[0], 3.0).end.u[0], 2.1) << "the pulse accelerates";
}

/// A block on a belt sticks and slips. It breaks loose at the same place again and again, so that whole periods are
/// skipped: the end is that of the motion with all its periods.
TEST(EventKernel, SlipThatComesToRestAtTheTimeOfAnImpactGoesOnAfterIt) {
    // A block stops at t = 1, at which time a ball strikes it.
    const model::Model model = written(R"toml(
[system]
q = ["x", "z"]
T = "(x'^2 + z'^2)/2"
[[contact]]
name = "ball"
gN = "x - z"
eN = 0.5
[[slider]]
name = "friction"
gammaT = "x'"
mu = 1
FN = 1
[simulate]
t_end = 1.75
)toml");
    const std::vector<KernelStart> starts{{{0.0, -1.5}, {1.0, 2.0}, {}}};
    const Agreement a = compare(model, starts, 1.75, 1e-8, "struck block");
    EXPECT_EQ(a.compared, 1);
    EXPECT_NEAR(by_cpu(model, {}, starts[0], 1.75).end.u[0], 0.75, 1e-8);
}

TEST(EventKernel, SkipsWholePeriodsOfAMotionThatRepeats) {
    const model::Model model = written(R"toml(
[system]
q = ["x"]
T = "x'^2/2"
U = "x^2/2"
R = "0.05*x'^2"
[[slider]]
name = "belt"
gammaT = "x' - 1.5"
mu = 1.0
FN = "0.5 + 0.5*exp(-abs(x' - 1.5)/0.5)"
[simulate]
t_end = 200
)toml");
    const std::vector<KernelStart> starts{{{-1.5}, {0.2}, {}}, {{1.9}, {1.9}, {}}};
    const Kernel kernel(model);
    const KernelMotions m = kernel.run(starts, 200.0);
    ASSERT_FALSE(m.outcome.empty());
    for (std::size_t k = 0; k < starts.size(); ++k) {
        const Trajectory motion = by_cpu(model, {}, starts[k], 200.0);
        EXPECT_NEAR(m.at(0, k), motion.end.q[0], 1e-9);
        EXPECT_NEAR(m.at(1, k), motion.end.u[0], 1e-9);
        EXPECT_EQ(m.at(kernel.text.events_at() + EventKernel::slip, k), count(motion, EventKind::slip));
        EXPECT_EQ(m.at(kernel.text.events_at() + EventKernel::stick, k), count(motion, EventKind::stick));
        EXPECT_LT(5 * m.steps(k), motion.statistics.steps) << "periods were skipped";
    }
}

/// The parameters m, mu and g of each motion are its own.
TEST(EventKernel, HasParametersOfEachMotion) {
    const model::Model model = shipped("rocking-bar");
    const std::array names{"m", "mu", "e"};
    std::vector<int> varied;
    for (const char* const name : names) varied.push_back(test::parameter_number(model, name));
    std::vector<KernelStart> starts = kernel_starts(model, 4, 0.2);
    const double values[][3] = {{1.0, 0.3, 0.2}, {2.5, 0.1, 0.5}, {0.7, 0.5, 0.0}, {1.3, 0.2, 0.7}};
    for (std::size_t k = 0; k < starts.size(); ++k) starts[k].parameters.assign(values[k], values[k] + 3);
    const Kernel kernel(model, varied);
    EXPECT_EQ(kernel.text.parameters, 3);
    const KernelMotions m = kernel.run(starts, 1.5);
    ASSERT_FALSE(m.outcome.empty());
    int compared = 0;
    for (std::size_t k = 0; k < starts.size(); ++k) {
        if (m.how(k) == KernelOutcome::given_up) continue;
        test::Settings set;
        for (std::size_t i = 0; i < 3; ++i) set.emplace_back(names[i], std::to_string(starts[k].parameters[i]));
        const Trajectory motion = by_cpu(shipped("rocking-bar", set), {}, starts[k], 1.5);
        for (int i = 0; i < 3; ++i) EXPECT_NEAR(m.at(i, k), motion.end.q[static_cast<std::size_t>(i)], 1e-8) << k;
        ++compared;
    }
    EXPECT_GE(compared, 3);
}

TEST(EventKernel, ContinuesAMotionWithTheSameBits) {
    const model::Model model = shipped("rocking-bar");
    const auto starts = kernel_starts(model, 6, 0.3);
    const Kernel kernel(model);
    const KernelMotions whole = kernel.run(starts, 2.0), parts = kernel.run(starts, 2.0, 3);
    ASSERT_FALSE(whole.outcome.empty());
    EXPECT_EQ(whole.outcome, parts.outcome);
    EXPECT_EQ(whole.result, parts.result);
}

TEST(EventKernel, GivesUpWhatItCannotMakeReliably) {
    const auto troubles = [](const model::Model& model, const KernelStart& start, double t_max) {
        const Kernel kernel(model);
        const KernelMotions m = kernel.run({start}, t_max);
        return m.how(0) == KernelOutcome::given_up ? static_cast<int>(m.at(kernel.text.trouble_at(), 0)) : 0;
    };
    // Large friction on a thin rod: no contact force exists, or several.
    const model::Model rod = shipped("painleve-rod");
    EXPECT_EQ(troubles(rod, {rod.q0, rod.u0, {}}, 1.0), EventKernel::painleve);
    // Two feet at one place share their load, and move.
    const model::Model feet = written(R"toml(
[system]
q = ["x", "y"]
T = "(x'^2 + y'^2)/2"
U = "10*y"
f = { x = "20*t" }
[[contact]]
name = "one"
gN = "y"
gammaT = "x'"
mu = 0.3
[[contact]]
name = "two"
gN = "y"
gammaT = "x'"
mu = 0.5
[simulate]
t_end = 2
)toml");
    EXPECT_NE(troubles(feet, {feet.q0, feet.u0, {}}, 2.0), EventKernel::none);
}

TEST(EventKernel, RefusesModelsThatDoNotFit) {
    EXPECT_EQ(event_kernel_refusal(shipped("rocking-bar"), {}), "");
    EXPECT_NE(event_kernel_refusal(shipped("sphere-on-plane"), {}).find("friction that is not along a line"),
              std::string::npos);
    EXPECT_NE(event_kernel_refusal(shipped("single-link-arm"), {}).find("impact law"), std::string::npos);
    EXPECT_NE(event_kernel_refusal(shipped("table-edge"), {}), "");
    EventDriven implicit;
    implicit.implicit = true;
    EXPECT_NE(event_kernel_refusal(shipped("rocking-bar"), implicit), "");
}

TEST(EventKernel, IsTakenByTheCompilerOfCuda) {
    const auto complaint =
        ensemble::cuda_compiler_complaint(emit_event_kernel(shipped("bouncing-ball"), {}, {}).text, "sm_90");
    if (!complaint) GTEST_SKIP() << "there is no NVRTC";
    EXPECT_EQ(*complaint, "");
}

}  // namespace
}  // namespace saltus::integrate::event_kernel_test
