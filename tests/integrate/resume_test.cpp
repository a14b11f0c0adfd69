// SPDX-License-Identifier: Apache-2.0
//
// A motion that is stopped and continued is the motion without interruption, to the bit.
#include "saltus/integrate/resume.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <random>
#include <string>
#include <vector>

#include "saltus/base/error.hpp"
#include "saltus/base/stop.hpp"
#include "saltus/integrate/outputs.hpp"
#include "saltus/io/model/read_model.hpp"
#include "saltus/model/build.hpp"
#include "saltus/model/model.hpp"

namespace saltus::integrate::resume_test {
namespace {

using trajectory::Event;
using trajectory::Trajectory;

model::Model shipped(const std::string& name) {
    return model::build(io::read_model(std::string(SALTUS_SOURCE_DIR) + "/models/" + name + ".toml"), {});
}

ResumableMotion run(const model::Model& model, const Method& method, double t_end, const Continued* earlier = nullptr) {
    Options options;
    options.t_end = t_end;
    return simulate_resumable(model, method, options, Record::yes, earlier);
}

Continued continued(const ResumableMotion& m) { return {m.resume, m.motion.motion.end.t, m.motion.motion.events}; }

void expect_same_event(const Event& a, const Event& b) {
    EXPECT_EQ(a.kind, b.kind);
    EXPECT_EQ(a.t, b.t);
    EXPECT_EQ(a.t_left, b.t_left);
    EXPECT_EQ(a.elements, b.elements);
    EXPECT_EQ(a.q, b.q);
    EXPECT_EQ(a.u_minus, b.u_minus);
    EXPECT_EQ(a.u_plus, b.u_plus);
    EXPECT_EQ(a.work, b.work);
    EXPECT_EQ(a.energy_after, b.energy_after);
    EXPECT_EQ(a.impacts, b.impacts);
    ASSERT_EQ(a.impulses.size(), b.impulses.size());
    for (std::size_t k = 0; k < a.impulses.size(); ++k) EXPECT_EQ(a.impulses[k].N, b.impulses[k].N);
}

/// `part` must be `whole` from the time `from` on.
void expect_same_from(const Trajectory& part, const Trajectory& whole, double from) {
    EXPECT_EQ(part.status, whole.status);
    EXPECT_EQ(part.start.t, from);
    EXPECT_EQ(part.start.q, whole.right(from).q);
    EXPECT_EQ(part.start.u, whole.right(from).u);
    EXPECT_EQ(part.end.t, whole.end.t);
    EXPECT_EQ(part.end.q, whole.end.q);
    EXPECT_EQ(part.end.u, whole.end.u);
    const auto first = std::find_if(whole.events.begin(), whole.events.end(),
                                    [&](const Event& e) { return (whole.stepped ? e.t_right : e.t) > from; });
    ASSERT_EQ(part.events.size(), static_cast<std::size_t>(whole.events.end() - first));
    for (std::size_t k = 0; k < part.events.size(); ++k)
        expect_same_event(part.events[k], *(first + static_cast<std::ptrdiff_t>(k)));
    constexpr int samples = 101;
    for (int k = 0; k < samples; ++k) {
        const double t = part.sample_time(k, samples - 1);
        EXPECT_EQ(part.left(t).q, k == 0 ? part.start.q : whole.left(t).q);
        EXPECT_EQ(part.right(t).q, whole.right(t).q);
        EXPECT_EQ(part.right(t).u, whole.right(t).u);
    }
}

/// Stops a motion at random times, continues it, and compares it with the motion without interruption.
void expect_same_after_stops(const model::Model& model, const Method& method, double t_end, int stops, unsigned seed) {
    std::mt19937 random(seed);
    const Trajectory whole = run(model, method, t_end).motion.motion;
    for (int k = 0; k < stops; ++k) {
        const double at = t_end * std::generate_canonical<double, 53>(random);
        SCOPED_TRACE("stopped at " + std::to_string(at));
        const ResumableMotion first = run(model, method, at);
        const Continued earlier = continued(first);
        expect_same_from(run(model, method, t_end, &earlier).motion.motion, whole, at);
        if (testing::Test::HasFailure()) return;
    }
}

struct Case {
    const char* model;
    double t_end;
};

constexpr Case cases[] = {{"simplest-walker", 20.0},
                          {"stick-slip-belt", 40.0},
                          {"bouncing-ball", 5.0},
                          {"impact-oscillator", 30.0},
                          {"woodpecker", 1.0},
                          {"rocking-bar", 1.0},
                          {"rocking-block", 2.0},
                          {"friction-oscillator", 20.0},
                          {"falling-block", 2.0},
                          {"sphere-on-plane", 2.0},
                          {"rough-double-pendulum", 2.0},
                          {"newtons-cradle", 5.0},
                          {"super-ball", 2.0},
                          {"slider-crank", 0.05},
                          {"moving-wall", 5.0},
                          {"painleve-rod", 1.0},
                          {"mass-and-lift", 5.0},
                          {"table-edge", 2.5},
                          {"knife-edge", 6.0},
                          {"rolling-disk", 2.0}};

TEST(Resume, AnEventDrivenMotionGoesOnToTheSameBits) {
    for (const Case& c : cases) {
        SCOPED_TRACE(c.model);
        expect_same_after_stops(shipped(c.model), EventDriven{}, c.t_end, 6, 1);
    }
}

TEST(Resume, AMotionWithSampledEventsGoesOnToTheSameBits) {
    EventDriven method;
    method.series = false;
    for (const Case& c : cases) {
        SCOPED_TRACE(c.model);
        expect_same_after_stops(shipped(c.model), method, c.t_end, 3, 2);
    }
}

TEST(Resume, AnImplicitMotionGoesOnToTheSameBits) {
    EventDriven method;
    method.implicit = true;
    for (const char* const name : {"bouncing-ball", "impact-oscillator", "friction-oscillator", "rocking-bar"}) {
        SCOPED_TRACE(name);
        expect_same_after_stops(shipped(name), method, 2.0, 3, 3);
    }
}

TEST(Resume, APenaltyMotionGoesOnToTheSameBits) {
    for (const char* const name : {"bouncing-ball", "impact-oscillator", "ball-on-moving-plane", "decoupled-pair"}) {
        SCOPED_TRACE(name);
        expect_same_after_stops(shipped(name), Penalty{}, 1.0, 3, 4);
    }
}

TEST(Resume, TimeSteppingGoesOnToTheSameBits) {
    for (const Case& c : cases) {
        SCOPED_TRACE(c.model);
        Moreau method;
        method.h = c.t_end / 25000.0;  // two resume points besides the start
        expect_same_after_stops(shipped(c.model), method, c.t_end, 3, 5);
    }
}

/// Long motions resume near their ends: the resume point lies within the last arcs.
TEST(Resume, ALongMotionRepeatsOnlyItsLastArcs) {
    const model::Model model = shipped("impact-oscillator");
    const ResumableMotion first = run(model, EventDriven{}, 900.0);
    ASSERT_GT(first.motion.motion.arcs.size(), 300U);
    const Continued earlier = continued(first);
    const Trajectory part = run(model, EventDriven{}, 901.0, &earlier).motion.motion;
    expect_same_from(part, run(model, EventDriven{}, 901.0).motion.motion, 900.0);
    EXPECT_LT(part.statistics.steps, first.motion.motion.statistics.steps / 2);
}

TEST(Resume, AMotionOfManyPartsIsTheMotionInOne) {
    const model::Model model = shipped("woodpecker");
    const Trajectory whole = run(model, EventDriven{}, 1.0).motion.motion;
    ResumableMotion part = run(model, EventDriven{}, 0.1);
    for (int k = 2; k <= 10; ++k) {
        const Continued earlier = continued(part);
        part = run(model, EventDriven{}, k == 10 ? 1.0 : 0.1 * k, &earlier);
        if (k == 10) expect_same_from(part.motion.motion, whole, earlier.end);
    }
}

TEST(Resume, AnInterruptedMotionGoesOnToTheSameBits) {
    const model::Model model = shipped("impact-oscillator");
    const Trajectory whole = run(model, EventDriven{}, 200.0).motion.motion;
    Options options;
    options.t_end = 200.0;
    for (const int calls : {1, 3, 7}) {
        int left = calls;
        options.interrupted = [&] { return --left == 0; };
        const ResumableMotion first = simulate_resumable(model, EventDriven{}, options, Record::no);
        ASSERT_EQ(first.motion.motion.status, trajectory::Status::interrupted);
        const Continued earlier = continued(first);
        expect_same_from(run(model, EventDriven{}, 200.0, &earlier).motion.motion, whole, earlier.end);
    }
}

/// Blocks that fall onto each other, with two contacts between neighbours: their contact problems are so large that an
/// interrupt comes within one.
std::string tower(int blocks) {
    std::string q, T, U, contacts, initial;
    for (int i = 0; i < blocks; ++i) {
        const std::string k = std::to_string(i), below = std::to_string(i - 1), more = i > 0 ? ", " : "";
        q += more + "\"x" + k + "\", \"y" + k + "\", \"p" + k + "\"";
        T += "+(x" + k + "'^2 + y" + k + "'^2 + 0.1*p" + k + "'^2)/2";
        U += "+9.81*y" + k;
        initial += more + "x" + k + " = " + std::to_string(0.01 * (i % 3)) + ", y" + k + " = " +
                   std::to_string(0.26 + 0.51 * i);
        for (const std::string side : {"-", "+"}) {
            const std::string at = "p" + k, gap = "y" + k + side + "0.5*sin(" + at + ") - 0.25*cos(" + at + ")";
            const std::string slip = "x" + k + "' + 0.25*p" + k + "'";
            contacts += "[[contact]]\nname = \"" + k + side + "\"\nmu = 0.3\neN = 0.2\n";
            contacts += "gN = \"" + gap + (i > 0 ? " - y" + below + " - 0.25" : "") + "\"\n";
            contacts += "gammaT = \"" + slip + (i > 0 ? " - x" + below + "'" : "") + "\"\n";
        }
    }
    return "[system]\nq = [" + q + "]\nT = \"" + T.substr(1) + "\"\nU = \"" + U.substr(1) + "\"\n" + contacts +
           "[initial]\nq = { " + initial + " }\n";
}

TEST(Resume, AMotionInterruptedWithinAContactProblemGoesOnToTheSameBits) {
    const model::Model model = model::build(io::parse_model(tower(8), "tower.toml"));
    Options options;
    options.t_end = 0.12;
    int in_all = 0;
    options.interrupted = [&] { return ++in_all < 0; };
    const Trajectory whole = simulate_resumable(model, EventDriven{}, options, Record::yes).motion.motion;
    ASSERT_EQ(whole.status, trajectory::Status::completed) << whole.reason;
    int before_events = 0;
    constexpr int stops = 12;
    for (int k = 1; k <= stops; ++k) {
        int calls = 0;
        options.interrupted = [&] { return ++calls >= k * in_all / (stops + 1); };
        const ResumableMotion first = simulate_resumable(model, EventDriven{}, options, Record::yes);
        const Trajectory& part = first.motion.motion;
        SCOPED_TRACE("stopped at " + std::to_string(part.end.t));
        ASSERT_EQ(part.status, trajectory::Status::interrupted);
        EXPECT_EQ(part.end.u, whole.right(part.end.t).u);
        const auto at_event = [&](const Event& e) { return part.end.t == std::nextafter(e.t, 0.0); };
        before_events += std::any_of(whole.events.begin(), whole.events.end(), at_event) ? 1 : 0;
        if (first.resume.numbers.empty()) continue;  // it has ended before its first resume point
        const Continued earlier = continued(first);
        expect_same_from(run(model, EventDriven{}, options.t_end, &earlier).motion.motion, whole, earlier.end);
        if (testing::Test::HasFailure()) return;
    }
    EXPECT_GT(before_events, 0) << "none of " << in_all << " questions was asked within an impact";
}

/// Steps ask too seldom for a model whose contact problems are large: the solver asks, before the first step is made.
TEST(Resume, AnInterruptOfTheFirstContactProblemLeavesTheStart) {
    constexpr std::size_t blocks = 20;
    const model::Model model = model::build(io::parse_model(tower(blocks), "tower.toml"));
    Options options;
    options.t_end = 1.0;
    options.interrupted = [] { return true; };
    options.start = trajectory::State{0.0, model.q0, model.u0};
    for (std::size_t i = 0; i < blocks; ++i) {
        options.start->q[3 * i + 1] = 0.25 + 0.5 * static_cast<double>(i);
        options.start->u[3 * i] = i % 2 == 0 ? 1.0 : -1.0;
        options.start->u[3 * i + 2] = 0.3;
    }
    const Trajectory by_events = simulate(model, EventDriven{}, options);
    EXPECT_EQ(by_events.status, trajectory::Status::interrupted);
    EXPECT_EQ(by_events.end.t, 0.0);
    EXPECT_EQ(by_events.end.q, options.start->q);
    EXPECT_EQ(by_events.end.u, options.start->u);
    EXPECT_TRUE(by_events.events.empty());
    EXPECT_TRUE(by_events.forces.empty()) << "forces of a mode that is not known";
    const Moreau moreau;
    constexpr double steps_between_questions = 100.0;  // of a run whose solver does not ask
    const Trajectory by_steps = simulate(model, moreau, options);
    EXPECT_EQ(by_steps.status, trajectory::Status::interrupted);
    EXPECT_LT(by_steps.end.t, 0.5 * steps_between_questions * moreau.h);
}

/// The summary follows the whole motion again. After an interrupt the program grants it half a second.
TEST(Resume, TheSummaryOfAMotionCanBeStopped) {
    const model::Model model = model::build(io::parse_model(tower(8), "tower.toml"));
    const Trajectory motion = run(model, EventDriven{}, 0.2).motion.motion;
    ASSERT_EQ(motion.status, trajectory::Status::completed) << motion.reason;
    ASSERT_FALSE(motion.events.empty());
    EXPECT_NO_THROW(summarise(model, motion));
    const Stoppable here([] { return true; });
    EXPECT_THROW(summarise(model, motion), Stopped);
}

/// The energy of the new part: T + U at its start, and the work since then.
TEST(Resume, TheEnergyBalanceBeginsWithTheNewPart) {
    const model::Model model = shipped("impact-oscillator");
    const ResumableMotion first = run(model, EventDriven{}, 20.3);
    const Continued earlier = continued(first);
    const Trajectory part = run(model, EventDriven{}, 30.0, &earlier).motion.motion;
    EXPECT_NEAR(part.energy.initial, first.motion.motion.energy.final, 1e-9);
    EXPECT_NEAR(part.energy.initial + part.energy.work, part.energy.final, 1e-9);
}

TEST(Resume, RefusesPointsThatDoNotFit) {
    const model::Model ball = shipped("bouncing-ball"), bar = shipped("rocking-bar");
    Continued earlier = continued(run(ball, EventDriven{}, 1.0));
    EXPECT_THROW(run(bar, EventDriven{}, 2.0, &earlier), Error);
    earlier.from.numbers.pop_back();
    EXPECT_THROW(run(ball, EventDriven{}, 2.0, &earlier), Error);
    earlier.from.numbers.clear();
    EXPECT_THROW(run(ball, EventDriven{}, 2.0, &earlier), Error);
}

}  // namespace
}  // namespace saltus::integrate::resume_test
