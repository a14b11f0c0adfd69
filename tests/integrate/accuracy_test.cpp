// SPDX-License-Identifier: Apache-2.0
#include "saltus/integrate/detail/accuracy.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "integrate/moreau_runs.hpp"
#include "saltus/integrate/event/repeated_runs.hpp"
#include "saltus/model/series.hpp"
#include "saltus/model/settings.hpp"
#include "saltus/model/system.hpp"

namespace saltus::integrate::accuracy_test {
namespace {

using test::event_driven;
using test::run;
using test::shipped;
using test::written;
using trajectory::Status;

TEST(GrowingRecord, KnowsWhenAValueWasFirstExceeded) {
    GrowingRecord record;
    EXPECT_FALSE(record.first_above(0.0));
    for (int k = 1; k <= 1000; ++k) record.see(k, 0.001 * k);
    for (int k = 1; k <= 1000; ++k) record.see(1000 + k, 0.5);
    EXPECT_DOUBLE_EQ(record.largest(), 1.0);
    EXPECT_NEAR(*record.first_above(0.3), 300.0, 150.0);
    EXPECT_FALSE(record.first_above(1.0));
    record.see(3000.0, std::numeric_limits<double>::infinity());
    EXPECT_EQ(*record.first_above(std::numeric_limits<double>::infinity()), 3000.0);
}

TEST(Accuracy, OfTheEventDrivenMethodIsWhatTheTolerancesExplainForShippedModels) {
    for (const char* const name : {"bouncing-ball", "rocking-bar", "friction-oscillator", "constrained-beam",
                                   "impact-oscillator", "slider-crank", "woodpecker", "sphere-on-plane"}) {
        const model::Model model = shipped(name);
        const trajectory::Trajectory motion = event_driven(model, *model.settings->simulate.t_end);
        EXPECT_EQ(motion.status, Status::completed) << name << ": " << motion.reason;
        EXPECT_LE(motion.energy.balance_error, 1e-8) << name;
        EXPECT_LE(motion.violation.gap, 1e-10) << name;
        EXPECT_LE(motion.violation.constraint, 1e-10) << name;
    }
}

// The potential jumps by 1 J at x = 0.5, which no force explains: T stays the same.
TEST(Accuracy, IsLostWhereThePotentialJumpsWithoutAForce) {
    const model::Model model = written(R"toml(
[system]
q = ["x"]
T = "x'^2/2"
U = "if(x < 0.5, 0, 1)"
[initial]
u = { x = 1 }
)toml");
    const trajectory::Trajectory motion = event_driven(model, 2.0);
    EXPECT_EQ(motion.status, Status::inaccurate);
    EXPECT_EQ(motion.inaccuracy.what, "the energy balance");
    EXPECT_GE(motion.inaccuracy.since, 0.5);
    EXPECT_LE(motion.inaccuracy.since, 2.0);
    EXPECT_NEAR(motion.inaccuracy.error, 1.0, 1e-9);
    EXPECT_FALSE(motion.inaccuracy.remedy.empty());
    EXPECT_NE(motion.reason.find("energy balance"), std::string::npos) << motion.reason;
    EXPECT_NEAR(motion.end.q[0], 2.0, 1e-9) << "the motion is kept up to its end";
}

/// A system whose energy is too large by 1 J at all times that are not multiples of 1/8 s.
class WrongBetweenSteps final : public model::System {
public:
    using At = model::At;
    explicit WrongBetweenSteps(std::shared_ptr<const model::System> right) : right_(std::move(right)) {}
    const model::Layout& layout() const override { return right_->layout(); }
    std::size_t scratch_size() const override { return right_->scratch_size(); }
    void prepare(std::span<const double> p, std::span<double> s) const override { right_->prepare(p, s); }
    void mass(const At& at, std::span<double> s, std::span<double> M) const override { right_->mass(at, s, M); }
    void force(const At& at, std::span<double> s, std::span<double> h) const override { right_->force(at, s, h); }
    void terms(const At& at, std::span<double> s, model::Terms& out) const override { right_->terms(at, s, out); }
    model::Energy energy(const At& at, std::span<double> s) const override {
        model::Energy energy = right_->energy(at, s);
        if (8.0 * at.t != std::floor(8.0 * at.t)) energy.potential += 1.0;
        return energy;
    }
    const model::SymbolicEquations* symbolic() const override { return right_->symbolic(); }
    std::unique_ptr<model::SeriesEquations> series(const model::SeriesNeeds& needs,
                                                   std::span<const double> p) const override {
        return right_->series(needs, p);
    }

private:
    std::shared_ptr<const model::System> right_;
};

// All steps of the Taylor series end at multiples of 1/8 s, where the balance is right.
TEST(Accuracy, IsLostIfTheEnergyBalanceFailsInsideTheStepsOfTaylorSeries) {
    model::Model model = written("[system]\nq = [\"x\"]\nT = \"x'^2/2\"\n[initial]\nu = { x = 1.0 }\n");
    EventDriven method;
    method.max_step = 0.125;
    Options options;
    options.t_end = 2.0;
    EXPECT_EQ(simulate(model, method, options).status, Status::completed);
    model.system = std::make_shared<WrongBetweenSteps>(model.system);
    const trajectory::Trajectory motion = simulate(model, method, options);
    EXPECT_TRUE(motion.events_certain);
    EXPECT_EQ(motion.statistics.steps, 16);
    EXPECT_EQ(motion.status, Status::inaccurate);
    EXPECT_EQ(motion.inaccuracy.what, "the energy balance");
    EXPECT_LT(motion.inaccuracy.since, 0.125);
    EXPECT_NEAR(motion.inaccuracy.error, 1.0, 1e-12);
}

TEST(Accuracy, OfTheBalanceInsideStepsIsMeasuredInOneStepOfSixteen) {
    const model::Model model = shipped("bouncing-ball");
    AccuracyCheck check(model, event_accuracy(1e-9, 1e-11), true);
    EXPECT_TRUE(check.balance_due()) << "the first step";
    constexpr int steps = 16000;
    int measured = 0, longest = 0;
    for (int k = 0, since = 0; k < steps; ++k) {
        check.fraction();
        since = check.balance_due() ? 0 : since + 1;
        measured += since == 0 ? 1 : 0;
        longest = std::max(longest, since);
    }
    EXPECT_NEAR(measured, steps / 16.5, 100) << "intervals of 1 to 32 steps";
    EXPECT_LT(longest, 32);
}

// 0.005 J of 9 J are lost while the ball moves by 2e-9 m. Nearly all of the energy is a constant of U.
TEST(Accuracy, OfTheBalanceIsNotExcusedByALargeConstantOfThePotentialEnergy) {
    const model::Model model = shipped("bouncing-ball");
    for (const double lost : {0.0, 0.005}) {
        AccuracyCheck check(model, event_accuracy(1e-9, 1e-12), true);
        const std::vector<double> start{1.0}, end{1.0 + 2e-9}, u{1.0}, W{1.0};
        check.start(start, {0.5, 9.0});
        check.see(1.0, end, u, {0.5 - lost, 9.0 + 2e-9}, 2e-9, end);
        trajectory::Trajectory motion;
        motion.status = Status::completed;
        check.judge(W, motion);
        EXPECT_EQ(motion.status, lost == 0.0 ? Status::completed : Status::inaccurate);
    }
}

/// x = cosh(w t) with w = sqrt(2)·1e14/s: at t = 2.5e-12 s the state is about 1e153, and the energy x'^2/2 overflows.
TEST(Accuracy, IsLostIfTheEnergyIsInfinite) {
    const model::Model m =
        written("[system]\nq = [\"x\"]\nT = \"x'^2/2\"\nU = \"-1e28*x^2\"\n[initial]\nq = { x = 1.0 }\n");
    EventDriven event;
    Moreau moreau;
    moreau.h = 1e-14;
    for (const Method& method : {Method(event), Method(moreau)}) {
        Options options;
        options.t_end = 2.5e-12;
        const trajectory::Trajectory motion = simulate(m, method, options);
        EXPECT_EQ(motion.status, Status::failed);
        EXPECT_NE(motion.reason.find("too large for floating-point numbers"), std::string::npos) << motion.reason;
    }
    const trajectory::Trajectory once = RepeatedRuns(m, event).run([] {
        Options options;
        options.t_end = 2.5e-12;
        return options;
    }());
    EXPECT_EQ(once.status, Status::failed);
}

TEST(Accuracy, OfTimeSteppingIsLostIfPenetrationIsAVisiblePartOfTheWay) {
    const model::Model model = shipped("bouncing-ball");
    EXPECT_EQ(run(model, 5.0, 1e-3).status, Status::completed);
    for (const double h : {0.1, 0.5, 1.0}) {
        const trajectory::Trajectory motion = run(model, 5.0, h);
        EXPECT_EQ(motion.status, Status::inaccurate) << h;
        EXPECT_EQ(motion.inaccuracy.what, "the gap of contact 'floor'") << h;
        // The ball falls from 1 m and reaches the floor after √(2/9.81) s.
        EXPECT_GE(motion.inaccuracy.since, std::sqrt(2.0 / 9.81)) << h;
        EXPECT_LE(motion.inaccuracy.since, std::sqrt(2.0 / 9.81) + 2.0 * h) << h;
    }
}

// A pulse of 0.01 s lifts the block by about 1e-7 m, and it penetrates by about 1e-8 m when it returns. That is a large
// part of its opening. Beside a motion of 1 m it is nothing, but if nothing else moves then the motion is not resolved.
TEST(Accuracy, OfTimeSteppingIsKeptIfAContactHardlyOpensBesideAFastMotion) {
    const auto sliding_at = [](const std::string& speed) {
        return written(R"toml(
[system]
q = ["x", "y"]
T = "(x'^2 + y'^2)/2"
U = "1e-3*y"
f = { y = "2e-3*exp(-((t - 0.5)/0.01)^2)" }
[[contact]]
name = "floor"
gN = "y"
[initial]
u = { x = )toml" + speed +
                       " }\n");
    };
    EXPECT_EQ(run(sliding_at("1"), 1.0, 1e-3).status, Status::completed);
    const trajectory::Trajectory alone = run(sliding_at("0"), 1.0, 1e-3);
    EXPECT_EQ(alone.status, Status::inaccurate);
    EXPECT_EQ(alone.inaccuracy.what, "the gap of contact 'floor'");
}

// Halving a step of the oscillator x'' = -x shows the error of a step that is long compared with the period 2π.
TEST(Accuracy, OfTimeSteppingIsLostIfTheStepIsLongForASmoothMotion) {
    const model::Model model = written(R"toml(
[system]
q = ["x"]
T = "x'^2/2"
U = "x^2/2"
[initial]
q = { x = 1 }
)toml");
    EXPECT_EQ(run(model, 20.0, 0.05).status, Status::completed);
    EXPECT_EQ(run(model, 20.0, 1.0).status, Status::inaccurate);
    EXPECT_EQ(run(model, 1.5, 1.5).status, Status::inaccurate);
}

TEST(Accuracy, OfTimeSteppingIsKeptAtRest) {
    const model::Model model = written(R"toml(
[system]
q = ["x", "y"]
T = "(x'^2 + y'^2)/2"
U = "10*y"
f = { x = "0.5*sin(3*t)" }
[[contact]]
name = "floor"
gN = "y"
gammaT = "x'"
mu = 0.3
)toml");
    for (const double h : {1e-3, 0.1, 1.0}) EXPECT_EQ(run(model, 3.0, h).status, Status::completed) << h;
}

/// A chain of beads above a floor, with the same coefficient in all contacts.
std::string chain(int beads, double e) {
    std::string q, T, U, contacts, start;
    for (int i = 0; i < beads; ++i) {
        const std::string x = "x" + std::to_string(i), sum = i > 0 ? " + " : "", comma = i > 0 ? ", " : "";
        q += comma + "\"" + x + "\"";
        T += sum + x + "'^2/2";
        U += sum + "9.81*" + x;
        start += comma + x + " = " + number_text(1.0 + 0.25 * i);
        contacts += "[[contact]]\nname = \"c" + std::to_string(i) + "\"\neN = " + number_text(e) + "\ngN = \"" + x +
                    (i > 0 ? " - x" + std::to_string(i - 1) + " - 0.2" : " - 0.1") + "\"\n";
    }
    return "[system]\nq = [" + q + "]\nT = \"" + T + "\"\nU = \"" + U + "\"\n" + contacts + "[initial]\nq = { " +
           start + " }\n";
}

// Newton's law with one e for all closed contacts dissipates: the work of all impulses is negative, up to what smooth
// forces do in the steps.
TEST(Restitution, OfAllClosedContactsCreatesNoEnergyInAChainOfBeads) {
    for (const double e : {0.5, 0.9})
        for (const Restitution rule : {Restitution::impacts, Restitution::literal}) {
            Moreau method;
            method.h = 5e-4;
            method.keep_arcs = false;
            method.restitution = rule;
            const trajectory::Trajectory motion = run(written(chain(10, e)), 2.0, method);
            EXPECT_EQ(motion.status, Status::completed) << motion.reason;
            double created = 0.0;
            for (const trajectory::Event& event : motion.events) created += std::max(0.0, event.work);
            EXPECT_LT(created, 5e-5) << "e = " << e;
            EXPECT_GT(test::count(motion, trajectory::EventKind::impact), 50);
        }
}

}  // namespace
}  // namespace saltus::integrate::accuracy_test
