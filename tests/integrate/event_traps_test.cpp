// SPDX-License-Identifier: Apache-2.0
// Events that are easy to miss. A fixed sample of each class of event_traps.hpp is run; none may be wrong.
// SALTUS_TRAPS=N in the environment runs N of each class instead and prints how many are right, withheld and wrong;
// SALTUS_TRAPS_FROM=S begins at seed S.
#include "integrate/event_traps.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <iostream>

#include "integrate/exact_motions.hpp"
#include "integrate/small_models.hpp"
#include "saltus/integrate/simulate.hpp"

namespace saltus::integrate::event_traps_test {

namespace {

using test::model_of;

bool says_uncertain(const trajectory::Trajectory& motion) { return !motion.events_certain; }

traps::Seen seen_in(const trajectory::Trajectory& motion) {
    traps::Seen seen;
    seen.completed = motion.status == trajectory::Status::completed;
    for (const trajectory::Event& e : motion.events) {
        traps::Seen::Event event{std::string(to_string(e.kind)), e.t, {}};
        for (const int i : e.elements) event.elements.push_back(motion.elements[static_cast<std::size_t>(i)].name);
        seen.events.push_back(std::move(event));
    }
    seen.q = motion.end.q;
    seen.u = motion.end.u;
    return seen;
}

long environment(const char* name, long otherwise) {
    const char* const text = std::getenv(name);
    return text != nullptr ? std::strtol(text, nullptr, 10) : otherwise;
}

/// Whether a run uses Taylor series, or implicit steps, which look at samples.
enum class Steps { series, implicit };

/// Runs the traps of a class. Each wrong one is a failure with its model; only the first few are shown in full. On
/// implicit steps a motion that misses events is a failure too, although it says that events were sampled: bounds over
/// the steps must find them. `max_missed` of these remain, for reasons that the test states.
void expect_none_wrong(int class_number, Steps steps = Steps::series, long max_missed = 0) {
    const long sample = steps == Steps::series ? 100 : 30;
    constexpr long shown = 3;
    const long number = environment("SALTUS_TRAPS", sample), from = environment("SALTUS_TRAPS_FROM", 0);
    long right = 0, withheld = 0, wrong = 0;
    for (long seed = from; seed < from + number; ++seed) {
        const traps::Trap trap = traps::make_trap(class_number, static_cast<std::uint64_t>(seed));
        EventDriven method;
        method.keep_arcs = false;
        method.implicit = steps == Steps::implicit;
        Options options;
        options.t_end = trap.t_end;
        const trajectory::Trajectory motion = simulate(model_of(trap.text), method, options);
        const std::string difference = traps::difference(trap, seen_in(motion));
        if (difference.empty()) {
            ++right;
        } else if (motion.status == trajectory::Status::completed && says_uncertain(motion)) {
            if (++withheld > max_missed && steps == Steps::implicit)
                ADD_FAILURE() << "seed " << seed << ": " << difference << '\n' << trap.text;
        } else if (++wrong <= shown) {
            ADD_FAILURE() << "class " << class_number << ", seed " << seed << ": " << difference << "; "
                          << motion.reason << "\n"
                          << trap.text << "expected:\n"
                          << traps::expectation(trap);
        }
    }
    EXPECT_EQ(wrong, 0) << "of " << number;
    if (number != sample)
        std::cout << traps::class_names[class_number] << (steps == Steps::implicit ? ", implicit steps: " : ": ")
                  << right << " right, " << withheld << " withheld, " << wrong << " wrong\n";
}

TEST(EventTraps, ABodyHitsASpikeOrMissesIt) { expect_none_wrong(0); }
TEST(EventTraps, ABodyHitsAThinObstacleOrMissesIt) { expect_none_wrong(1); }
TEST(EventTraps, AShortPulseGivesItsWholeImpulse) { expect_none_wrong(2); }
TEST(EventTraps, ABallOnAShakingTableBouncesRestsAndLiftsOff) { expect_none_wrong(3); }
TEST(EventTraps, AGapThatIsNegativeForAMomentCloses) { expect_none_wrong(4); }
TEST(EventTraps, AGrazingPathHitsIfAndOnlyIfItIsTooLow) { expect_none_wrong(5); }
TEST(EventTraps, AFlatTangencyHitsIfAndOnlyIfTheGapBecomesNegative) { expect_none_wrong(6); }
TEST(EventTraps, FrictionAndFloorLetGoExactlyWhileTheForceIsTooLarge) { expect_none_wrong(7); }
TEST(EventTraps, TheFirstContactIsOnTheRightRipple) { expect_none_wrong(8); }
TEST(EventTraps, AnOscillatorHitsAStopJustInsideItsAmplitude) { expect_none_wrong(9); }

// Implicit steps are searched at samples, and between them by bounds (StepEnclosure).
TEST(EventTrapsOnImplicitSteps, ABodyHitsASpikeOrMissesIt) { expect_none_wrong(0, Steps::implicit); }
TEST(EventTrapsOnImplicitSteps, ABodyHitsAThinObstacleOrMissesIt) { expect_none_wrong(1, Steps::implicit); }
TEST(EventTrapsOnImplicitSteps, AShortPulseGivesItsWholeImpulse) { expect_none_wrong(2, Steps::implicit); }
TEST(EventTrapsOnImplicitSteps, ABallOnAShakingTableBounces) { expect_none_wrong(3, Steps::implicit); }
TEST(EventTrapsOnImplicitSteps, AGapThatIsNegativeForAMomentCloses) { expect_none_wrong(4, Steps::implicit); }
TEST(EventTrapsOnImplicitSteps, AGrazingPathHitsIfItIsTooLow) { expect_none_wrong(5, Steps::implicit); }
TEST(EventTrapsOnImplicitSteps, AFlatTangencyHitsIfTheGapBecomesNegative) { expect_none_wrong(6, Steps::implicit); }
TEST(EventTrapsOnImplicitSteps, FrictionAndFloorLetGo) { expect_none_wrong(7, Steps::implicit); }
TEST(EventTrapsOnImplicitSteps, TheFirstContactIsOnTheRightRipple) { expect_none_wrong(8, Steps::implicit); }
TEST(EventTrapsOnImplicitSteps, AnOscillatorHitsAStop) { expect_none_wrong(9, Steps::implicit); }

// --- the judge itself, against small steps of a constant length ---

using exact::Force;
using exact::Motion;
using exact::Real;

constexpr Real step = 1e-5L;  // errors of the stepping are about this, in s and m

/// Events of the motion, and those found by stepping, in order.
void expect_same(const Motion& motion, const std::vector<exact::Event>& stepped, Real q, Real u, Real accuracy) {
    ASSERT_EQ(motion.events.size(), stepped.size());
    for (std::size_t i = 0; i < stepped.size(); ++i) {
        EXPECT_EQ(motion.events[i].kind, stepped[i].kind) << i;
        EXPECT_NEAR(static_cast<double>(motion.events[i].t), static_cast<double>(stepped[i].t),
                    static_cast<double>(accuracy))
            << i;
    }
    EXPECT_NEAR(static_cast<double>(motion.q[0]), static_cast<double>(q), static_cast<double>(accuracy));
    EXPECT_NEAR(static_cast<double>(motion.u[0]), static_cast<double>(u), static_cast<double>(accuracy));
}

TEST(EventTrapJudge, ABallOnATableAgreesWithSmallSteps) {
    for (const auto& [Gamma, e] : {std::pair{0.6L, 0.4L}, {1.4L, 0.0L}, {2.2L, 0.8L}, {1.3L, 1.0L}}) {
        const Real w = 20, g = 9.81L, t_end = 0.9L;
        exact::Bouncer ball;
        ball.force.terms = {exact::power(-g, 0), exact::sine(Gamma * g, w)};
        ball.e = e;
        const Motion motion = move(ball, 0.02L, -0.1L, t_end);
        std::vector<exact::Event> stepped;
        Real z = 0.02L, v = -0.1L;
        bool rests = false;
        const long steps = std::lround(t_end / step);
        for (long i = 0; i < steps; ++i) {
            const Real t = static_cast<Real>(i) * step, a = -g + Gamma * g * std::sin(w * (t + step / 2));
            if (rests && a <= 0) continue;
            if (rests) stepped.push_back({"lift-off", "", t, 0});
            rests = false;
            z += v * step + a * step * step / 2;
            v += a * step;
            if (z > 0 || v > 0) continue;
            if (-e * v < 3e-3L && a < 0) {  // chatter that the steps do not resolve
                if (e > 0)
                    while (!stepped.empty() && t - stepped.back().t < 3e-3L) stepped.pop_back();
                stepped.push_back({e > 0 ? "accumulation" : "impact", "", t, 0});
                rests = true;
                z = v = 0;
                continue;
            }
            stepped.push_back({"impact", "", t, 0});
            z = 0;
            v = -e * v;
        }
        std::vector<exact::Event> coarse;  // what the steps resolve of the exact events
        for (const exact::Event& event : motion.events) {
            if (event.kind == "accumulation")
                while (!coarse.empty() && coarse.back().kind == "impact" && event.t - coarse.back().t < 3e-3L)
                    coarse.pop_back();
            coarse.push_back(event);
        }
        Motion resolved = motion;
        resolved.events = coarse;
        expect_same(resolved, stepped, z, v, 4e-3L);
    }
}

TEST(EventTrapJudge, ARoughBlockAgreesWithSmallSteps) {
    Force shaken, struck;
    shaken.terms = {exact::sine(3, 4), exact::sine(2.5L, 31)};
    struck.terms = {exact::box(40, 0.5L, 0.52L), exact::bell(-60, 0.9L, 0.02L), exact::power(0.5L, 1)};
    for (const Force& f : {shaken, struck}) {
        exact::RoughBlock block;
        block.force = f;
        block.mass = 0.8L;
        block.bound = 2;
        const Real t_end = 2;
        const Motion motion = move(block, 0, 0, t_end);
        std::vector<exact::Event> stepped;
        Real x = 0, v = 0;
        for (long i = 0; i < std::lround(t_end / step); ++i) {
            const Real t = static_cast<Real>(i) * step, force = f.value(t + step / 2, t + step / 2), before = v;
            const Real kick = (v != 0 ? (v > 0 ? 1 : -1) : force > 0 ? 1 : -1) * block.bound;
            if (v == 0 && std::abs(force) <= block.bound) continue;
            if (v == 0) stepped.push_back({"slip", "", t, 0});
            v += (force - kick) * step / block.mass;
            if (before != 0 && v * before <= 0) {
                const bool sticks = std::abs(force) <= block.bound;
                stepped.push_back({sticks ? "stick" : "reversal", "", t, 0});
                if (sticks) v = 0;
            }
            x += (before + v) / 2 * step;
        }
        expect_same(motion, stepped, x, v, 1e-3L);
        EXPECT_GE(motion.events.size(), 3U);
    }
}

TEST(EventTrapJudge, AFlightOverABumpAgreesWithSmallSteps) {
    exact::Flight flight;
    const auto s = [](Real x) { return (x - 1) / 0.2L; };
    flight.ground.height = [s](Real x) { return 0.5L * std::exp(-s(x) * s(x)); };
    flight.ground.slope = [s](Real x) { return -5 * s(x) * std::exp(-s(x) * s(x)); };
    flight.ground.slope_bound = [](Real, Real) { return 2.15L; };
    flight.ground.curvature_bound = [](Real, Real) { return 25.0L; };
    flight.gravity = 2;
    flight.e = 0.7L;
    for (const Real height : {0.2L, 0.45L, 0.9L}) {
        const Motion motion = move(flight, 0, height, 1.5L, 0.5L, 0.9L);
        Real x = 0, y = height, vx = 1.5L, vy = 0.5L;
        std::vector<exact::Event> stepped;
        for (long i = 0; i < std::lround(0.9L / step); ++i) {
            x += vx * step;
            y += vy * step - flight.gravity * step * step / 2;
            vy -= flight.gravity * step;
            const Real h = flight.ground.slope(x), rate = vy - h * vx;
            if (y > flight.ground.height(x) || rate >= 0) continue;
            stepped.push_back({"impact", "", static_cast<Real>(i) * step, 0});
            const Real impulse = -(1 + flight.e) * rate / (1 + h * h);
            vx -= h * impulse;
            vy += impulse;
        }
        expect_same(motion, stepped, x, vx, 2e-3L);
        EXPECT_NEAR(static_cast<double>(motion.q[1]), static_cast<double>(y), 2e-3);
    }
}

TEST(EventTrapJudge, OscillatorsAndPendulumAgreeWithSmallSteps) {
    exact::Oscillator spring;
    spring.omega = 3;
    spring.e = 0.6L;
    spring.left = 0.4L;
    spring.right = 0.7L;
    exact::Pendulum pendulum;
    pendulum.omega = 3;
    pendulum.e = 0.6L;
    pendulum.stop = 0.8L;
    for (const bool hangs : {false, true}) {
        const Real t_end = hangs ? 1.6L : 4.0L;
        const Motion motion = hangs ? move(pendulum, 1, t_end) : move(spring, 0, 2.5L, t_end);
        const Real low = hangs ? -pendulum.stop : -*spring.left, high = hangs ? 9.0L : *spring.right;
        Real x = hangs ? 1 : 0, v = hangs ? 0 : 2.5L;
        std::vector<exact::Event> stepped;
        for (long i = 0; i < std::lround(t_end / step); ++i) {
            v -= 9 * (hangs ? std::sin(x) : x) * step / 2;
            x += v * step;
            v -= 9 * (hangs ? std::sin(x) : x) * step / 2;
            if ((x > low || v >= 0) && (x < high || v <= 0)) continue;
            stepped.push_back({"impact", "", static_cast<Real>(i) * step, 0});
            v *= -0.6L;
        }
        expect_same(motion, stepped, x, v, 2e-3L);
        EXPECT_GE(motion.events.size(), 1U);
    }
}

TEST(EventTrapJudge, ForcesAndTheirIntegralsAgreeWithQuadrature) {
    Force f;
    f.terms = {exact::power(2, 3), exact::sine(3, 7, 0.4L), exact::bell(5, 0.6L, 0.1L), exact::box(4, 0.31L, 0.52L)};
    const Real t0 = 0.2L, duration = 0.7L;
    const long n = 200000;
    Real once = 0, twice = 0;
    for (long i = 0; i < n; ++i) {
        const Real h = duration / n, t = t0 + (static_cast<Real>(i) + 0.5L) * h;
        once += h * f.value(t, t);
        twice += h * (t0 + duration - t) * f.value(t, t);
    }
    EXPECT_NEAR(static_cast<double>(f.once(t0, duration)), static_cast<double>(once), 1e-5);
    EXPECT_NEAR(static_cast<double>(f.twice(t0, duration)), static_cast<double>(twice), 1e-5);
}

TEST(EventTrapJudge, TheFirstOfManyZerosIsFound) {
    // The minima of 1.0001 − sin(ω t) − t/15000 fall slowly; the first negative one is near t = 1.5.
    for (const Real w : {50.0L, 333.0L, 1999.0L}) {
        const exact::Function f{[w](Real t) { return 1.0001L - std::sin(w * t) - t / 15000; },
                                [w](Real t) { return -w * std::cos(w * t) - 1 / 15000.0L; },
                                [w](Real, Real) { return w + 1; }, [w](Real, Real) { return w * w; }};
        const auto zero = first_zero(f, 0, 5);
        ASSERT_TRUE(zero.has_value());
        EXPECT_NEAR(static_cast<double>(f.value(*zero)), 0.0, 1e-15);
        Real smallest = 1;
        for (long i = 0; i < 300000; ++i) smallest = std::min(smallest, f.value(*zero * static_cast<Real>(i) / 300000));
        EXPECT_GT(smallest, 0);
    }
}

}  // namespace

}  // namespace saltus::integrate::event_traps_test
