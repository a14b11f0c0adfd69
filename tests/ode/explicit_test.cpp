// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "saltus/ode/explicit.hpp"

#include <cmath>
#include <limits>

#include "allocations.hpp"
#include "problems.hpp"
#include "saltus/base/index.hpp"

namespace saltus::ode::explicit_test {
namespace {

using namespace test;

constexpr double epsilon = std::numeric_limits<double>::epsilon();
const Tolerances anything{1e3, 1e3};

const Kepler kepler;

// --- orders ------------------------------------------------------------------------------------------------------

TEST(Explicit, HasOrderEightAndDenseOutputOfOrderSeven) {
    const Kepler round{0.1};
    std::vector<FixedStepErrors> e;
    for (const int count : {16, 32, 64})
        e.push_back(fixed_step_errors(Explicit(4, anything, 5.0 / count), {Kepler::f}, round, 5.0, count));
    for (std::size_t k = 1; k < e.size(); ++k) {
        EXPECT_NEAR(order(e[k - 1].end, e[k].end), 8.0, 0.5) << k;
        // Order 7: within one step x is off by O(h⁸), its derivative by O(h⁷).
        EXPECT_NEAR(order(e[k - 1].dense, e[k].dense), 8.0, 0.5) << k;
        EXPECT_NEAR(order(e[k - 1].derivative, e[k].derivative), 7.0, 0.2) << k;
    }
    EXPECT_LT(e.back().end, 1e-12);
}

TEST(Explicit, IsOfOrderEightAlsoWhereTimeAppears) {
    std::vector<FixedStepErrors> e;
    for (const int count : {8, 16, 32})
        e.push_back(fixed_step_errors(Explicit(4, anything, 1.0 / count), Closed::problem(), Closed{}, 1.0, count));
    for (std::size_t k = 1; k < e.size(); ++k) EXPECT_GT(order(e[k - 1].end, e[k].end), 7.8) << k;
    EXPECT_LT(e.back().end, 1e-11);
}

TEST(Explicit, TheErrorFollowsTheTolerance) {
    const auto x0 = kepler.solution(0.0), x1 = kepler.solution(2.0 * std::numbers::pi);
    for (const double tolerance : {1e-6, 1e-8, 1e-10, 1e-12}) {
        Explicit method(4, {tolerance, tolerance});
        method.start({Kepler::f}, 0.0, x0);
        ASSERT_EQ(run(method, {Kepler::f}, 2.0 * std::numbers::pi), StepStatus::accepted);
        const double error = distance(method.x(), x1);
        EXPECT_LT(error, 200.0 * tolerance);  // some 20 to 40 steps, and what a revolution makes of an early error
        EXPECT_GT(error, tolerance);          // no accuracy that was not asked for
    }
}

TEST(Explicit, DenseOutputIsAsGoodAsTheTolerance) {
    for (const double tolerance : {1e-6, 1e-9, 1e-12}) {
        Explicit method(4, {tolerance, tolerance});
        method.start({Kepler::f}, 0.0, kepler.solution(0.0));
        Dense dense;
        double at_ends = 0.0, within = 0.0;
        while (method.t() < 6.0) {
            ASSERT_EQ(method.step({Kepler::f}, 6.0), StepStatus::accepted);
            ASSERT_TRUE(method.dense({Kepler::f}, dense));
            at_ends = std::fmax(at_ends, distance(method.x(), kepler.solution(method.t())));
            for (int k = 1; k < 20; ++k) {
                const double t = method.t_old() + k / 20.0 * (method.t() - method.t_old());
                std::array<double, 4> x;
                dense.evaluate(t, x.data());
                within = std::fmax(within, distance(x, kepler.solution(t)));
            }
        }
        EXPECT_LT(within, 20.0 * (at_ends + tolerance)) << tolerance;
    }
}

TEST(Explicit, ClosesArenstorfsOrbitWithFewEvaluations) {
    struct Case {
        double tolerance, error;
        long evaluations;
    };
    // Published implementations need about 1070, 1780, 2870, 4290 for the same tolerances.
    for (const Case& c : {Case{1e-6, 2e-2, 1150}, {1e-8, 2e-4, 1850}, {1e-10, 2e-6, 2900}, {1e-12, 1e-8, 4300}}) {
        Explicit method(4, {c.tolerance, c.tolerance});
        method.start({Arenstorf::f}, 0.0, Arenstorf::initial());
        ASSERT_EQ(run(method, {Arenstorf::f}, Arenstorf::period()), StepStatus::accepted);
        EXPECT_LT(distance(method.x(), Arenstorf::initial()), c.error) << c.tolerance;
        EXPECT_LT(method.statistics().evaluations, c.evaluations) << c.tolerance;
        EXPECT_FALSE(method.stiff());
        RecordProperty("evaluations", static_cast<int>(method.statistics().evaluations));
    }
}

// --- driving -----------------------------------------------------------------------------------------------------

TEST(Explicit, TheDensePolynomialMeetsStateAndRateAtBothEnds) {
    Explicit method(4);
    method.start({Kepler::f}, 0.0, kepler.solution(0.0));
    Dense dense;
    for (int k = 0; k < 20; ++k) {
        ASSERT_EQ(method.step({Kepler::f}, no_limit), StepStatus::accepted);
        const std::vector<double> before(method.x_old().begin(), method.x_old().end());
        const std::vector<double> after(method.x().begin(), method.x().end());
        ASSERT_TRUE(method.dense({Kepler::f}, dense));
        EXPECT_EQ(dense.t_old(), method.t_old());
        EXPECT_EQ(dense.t_new(), method.t());
        std::vector<double> x(4), dx(4), rate(4);
        dense.evaluate(dense.t_old(), x.data());
        EXPECT_EQ(x, before);
        dense.evaluate(dense.t_new(), x.data());
        EXPECT_EQ(x, after);
        Kepler::f(0.0, after.data(), rate.data());
        EXPECT_EQ(distance(method.dx(), rate), 0.0);
        dense.derivative(dense.t_new(), dx.data());
        const double h = method.t() - method.t_old();
        EXPECT_LT(distance(dx, rate), 64 * epsilon * (1.0 + 2.0 / h));  // differences of x of about 2, over h
        for (int i = 0; i < 4; ++i) {
            const double t = 0.3 * dense.t_old() + 0.7 * dense.t_new();
            dense.evaluate(t, x.data());
            dense.derivative(t, dx.data());
            EXPECT_EQ(dense.component(i, t), x[static_cast<std::size_t>(i)]);
            EXPECT_EQ(dense.component_derivative(i, t), dx[static_cast<std::size_t>(i)]);
        }
    }
}

TEST(Explicit, DenseOutputCostsThreeEvaluationsOnceAndOnlyWhenAskedFor) {
    Explicit method(4, {}, 0.01);
    method.start({Kepler::f}, 0.0, kepler.solution(0.0), 0.01);
    const long at_start = method.statistics().evaluations;
    method.step({Kepler::f}, no_limit);
    const long after_step = method.statistics().evaluations;
    EXPECT_EQ(after_step - at_start, 12);
    Dense dense;
    ASSERT_TRUE(method.dense({Kepler::f}, dense));
    ASSERT_TRUE(method.dense({Kepler::f}, dense));
    EXPECT_EQ(method.statistics().evaluations - after_step, 3);
}

TEST(Explicit, LimitsAreHitExactlyAndCostLittle) {
    Explicit free(4), limited(4);
    free.start({Kepler::f}, 0.0, kepler.solution(0.0));
    limited.start({Kepler::f}, 0.0, kepler.solution(0.0));
    ASSERT_EQ(run(free, {Kepler::f}, 20.0), StepStatus::accepted);
    for (const double t : {0.1, 0.1 + 1e-15, 0.7, 3.3, 3.3 * (1 + 1e-9), 11.0, 20.0}) {
        while (limited.t() < t) ASSERT_EQ(limited.step({Kepler::f}, t), StepStatus::accepted);
        EXPECT_EQ(limited.t(), t);
    }
    // A step shortened by a limit does not shorten the following steps.
    EXPECT_LT(limited.statistics().accepted, free.statistics().accepted + 14);
    EXPECT_LT(distance(limited.x(), kepler.solution(20.0)), 1e-6);
}

TEST(Explicit, ALimitOneRoundingAwayIsReached) {
    Explicit method(4);
    method.start({Kepler::f}, 100.0, kepler.solution(0.0));
    const double next = std::nextafter(100.0, 200.0);
    EXPECT_EQ(method.step({Kepler::f}, next), StepStatus::accepted);
    EXPECT_EQ(method.t(), next);
}

TEST(Explicit, AllocatesNothingAfterConstruction) {
    Explicit method(4);
    Dense dense;
    dense.reset(0.0, 1.0, 4, Dense::max_terms);
    const auto x0 = kepler.solution(0.0);
    std::array<double, 4> x;
    const std::size_t before = saltus::test::allocations();
    for (int restart = 0; restart < 3; ++restart) {
        method.start({Kepler::f}, 0.0, x0);
        for (int k = 0; k < 50; ++k) {
            method.step({Kepler::f}, 100.0);
            static_cast<void>(method.dense({Kepler::f}, dense));
            dense.evaluate(method.t(), x.data());
            method.replace({Kepler::f}, x);
        }
    }
    EXPECT_EQ(saltus::test::allocations() - before, 0U);
}

TEST(Explicit, AReplacedStateIsWhereTheNextStepBegins) {
    Explicit method(4);
    method.start({Kepler::f}, 0.0, kepler.solution(0.0));
    for (int k = 0; k < 10; ++k) method.step({Kepler::f}, no_limit);
    const double wish = method.next_step();
    const auto exact = kepler.solution(method.t());
    ASSERT_EQ(method.replace({Kepler::f}, exact), StepStatus::accepted);
    EXPECT_EQ(distance(method.x(), exact), 0.0);
    std::array<double, 4> rate;
    Kepler::f(0.0, exact.data(), rate.data());
    EXPECT_EQ(distance(method.dx(), rate), 0.0);
    EXPECT_EQ(method.next_step(), wish);
    ASSERT_EQ(method.step({Kepler::f}, no_limit), StepStatus::accepted);
    EXPECT_EQ(distance(method.x_old(), exact), 0.0);
    EXPECT_LT(distance(method.x(), kepler.solution(method.t())), 1e-8);
}

TEST(Explicit, UnitsOfComponentsMakeNoDifferenceWhenTheScaleSaysThem) {
    // Positions in units of 2^-20, with the scale saying so: the same steps to the bit.
    const double unit = std::ldexp(1.0, 20);
    const auto f = [unit](double, const double* x, double* dx) {
        dx[0] = x[1] * unit;
        dx[1] = -std::sin(x[0] / unit);
        return true;
    };
    const auto plain = [](double, const double* x, double* dx) {
        dx[0] = x[1];
        dx[1] = -std::sin(x[0]);
        return true;
    };
    Explicit scaled(2, {1e-8, 1e-10, {unit, 1.0}}), reference(2, {1e-8, 1e-10}), unaware(2, {1e-8, 1e-10});
    scaled.start({f}, 0.0, std::array{0.0, 1.0});
    reference.start({plain}, 0.0, std::array{0.0, 1.0});
    unaware.start({f}, 0.0, std::array{0.0, 1.0});
    run(scaled, {f}, 10.0);
    run(reference, {plain}, 10.0);
    run(unaware, {f}, 10.0);
    EXPECT_EQ(scaled.x()[0], reference.x()[0] * unit);
    EXPECT_EQ(scaled.x()[1], reference.x()[1]);
    EXPECT_NE(unaware.statistics().evaluations, reference.statistics().evaluations);
}

TEST(Explicit, TheFirstStepIsFoundOverManyScalesOfTime) {
    for (const double rate : {1e-9, 1e-3, 1.0, 1e3, 1e9}) {
        const auto f = [rate](double, const double* x, double* dx) {
            dx[0] = rate * x[1];
            dx[1] = -rate * x[0];
            return true;
        };
        Explicit method(2, {1e-9, 1e-12});
        method.start({f}, 0.0, std::array{1.0, 0.0});
        ASSERT_EQ(run(method, {f}, 10.0 / rate), StepStatus::accepted);
        EXPECT_NEAR(method.x()[0], std::cos(10.0), 1e-8);
        EXPECT_LE(method.statistics().rejected, 1) << rate;
        EXPECT_LE(method.statistics().accepted, 40) << rate;  // 12 of them to grow from 1 to 1e9
    }
}

TEST(Explicit, RestCostsAFewStepsOnly) {
    const auto f = [](double, const double*, double* dx) {
        dx[0] = dx[1] = 0.0;
        return true;
    };
    Explicit method(2);
    method.start({f}, 0.0, std::array{1.0, 0.0});
    EXPECT_EQ(run(method, {f}, 100.0), StepStatus::accepted);
    EXPECT_EQ(method.x()[0], 1.0);
    EXPECT_LE(method.statistics().accepted, 15);
}

TEST(Explicit, AStateWithoutComponentsGoesToTheLimit) {
    const auto f = [](double, const double*, double*) { return true; };
    Explicit method(0);
    EXPECT_EQ(method.start({f}, 0.0, {}), StepStatus::accepted);
    EXPECT_EQ(run(method, {f}, 10.0), StepStatus::accepted);
    EXPECT_EQ(method.t(), 10.0);
}

// --- outcomes ----------------------------------------------------------------------------------------------------

TEST(Explicit, GoesAsFarAsTheRightSideCanBeEvaluated) {
    // x' = −x^½ − 1 where x >= 0; x reaches 0 at t = 2 − 2 ln 2 from x = 1.
    const auto f = [](double, const double* x, double* dx) {
        if (x[0] < 0.0) return false;
        dx[0] = -1.0 - std::sqrt(x[0]);
        return true;
    };
    Explicit method(1);
    ASSERT_EQ(method.start({f}, 0.0, std::array{1.0}), StepStatus::accepted);
    EXPECT_EQ(run(method, {f}, 5.0), StepStatus::failed);
    EXPECT_GE(method.x()[0], 0.0);
    EXPECT_NEAR(method.t(), 2.0 - 2.0 * std::log(2.0), 1e-8);
    EXPECT_GT(method.statistics().cut, 0);
    // The last accepted state is kept.
    const double t = method.t();
    EXPECT_EQ(method.step({f}, 5.0), StepStatus::failed);
    EXPECT_EQ(method.t(), t);
    EXPECT_LT(method.statistics().evaluations, 5000);
}

TEST(Explicit, SaysWhenTheRightSideIsNotFinite) {
    const auto f = [](double t, const double*, double* dx) {
        dx[0] = t > 1.0 ? std::numeric_limits<double>::quiet_NaN() : 1.0;
        return true;
    };
    Explicit method(1);
    ASSERT_EQ(method.start({f}, 0.0, std::array{0.0}), StepStatus::accepted);
    EXPECT_EQ(run(method, {f}, 5.0), StepStatus::non_finite);
    EXPECT_NEAR(method.t(), 1.0, 64 * epsilon);
    EXPECT_NEAR(method.x()[0], 1.0, 64 * epsilon);
}

TEST(Explicit, DoesNotStartWhereItCannot) {
    const auto refuses = [](double, const double*, double*) { return false; };
    const auto infinite = [](double, const double*, double* dx) {
        dx[0] = std::numeric_limits<double>::infinity();
        return true;
    };
    Explicit method(1);
    EXPECT_EQ(method.start({refuses}, 0.0, std::array{0.0}), StepStatus::failed);
    EXPECT_EQ(method.start({infinite}, 0.0, std::array{0.0}), StepStatus::non_finite);
}

TEST(Explicit, ASolutionThatDivergesInFiniteTimeEndsWithUnderflow) {
    const auto f = [](double, const double* x, double* dx) {
        dx[0] = x[0] * x[0];
        return true;
    };
    Explicit method(1);
    method.start({f}, 0.0, std::array{1.0});
    const StepStatus status = run(method, {f}, 2.0);
    EXPECT_TRUE(status == StepStatus::underflow || status == StepStatus::non_finite);
    EXPECT_NEAR(method.t(), 1.0, 1e-6);
}

TEST(Explicit, TheTightestToleranceIsRounding) {
    Explicit method(4, {0.0, 1e-16});
    method.start({Kepler::f}, 0.0, kepler.solution(0.0));
    ASSERT_EQ(run(method, {Kepler::f}, 1.0), StepStatus::accepted);
    EXPECT_LT(distance(method.x(), kepler.solution(1.0)), 64 * epsilon);
    EXPECT_LT(method.statistics().evaluations, 1000);
}

TEST(Explicit, WithoutAbsoluteToleranceAComponentMayStartAtZero) {
    Explicit method(4, {1e-9, 0.0});
    method.start({Kepler::f}, 0.0, kepler.solution(0.0));
    ASSERT_EQ(run(method, {Kepler::f}, 0.3), StepStatus::accepted);
    EXPECT_LT(distance(method.x(), kepler.solution(0.3)), 1e-8);
}

TEST(Explicit, NoticesStiffness) {
    const auto problem_with = [](double rate) {
        return [rate](double t, const double* x, double* dx) {
            dx[0] = -rate * (x[0] - std::cos(t)) - std::sin(t);
            return true;
        };
    };
    const auto stiff = problem_with(1e4), mild = problem_with(1.0);
    Explicit method(1, {1e-6, 1e-9});
    method.start({stiff}, 0.0, std::array{1.0});
    run(method, {stiff}, 1.0);
    EXPECT_TRUE(method.stiff());
    EXPECT_GT(method.steps_near_edge(), 50);
    method.start({mild}, 0.0, std::array{1.0});
    EXPECT_FALSE(method.stiff());
    EXPECT_EQ(method.steps_near_edge(), 0);
    run(method, {mild}, 100.0);
    EXPECT_FALSE(method.stiff());
}

TEST(ExplicitDeathTest, MisuseIsRefused) {
    const auto x0 = kepler.solution(0.0);
    EXPECT_DEATH({ Explicit(4, {-1.0, 0.0}); }, "relative >= 0");
    EXPECT_DEATH({ Explicit(4, {1e-6, 1e-6, {1.0, 1.0}}); }, "scale");
    EXPECT_DEATH(
        {
            Explicit method(4);
            method.step({Kepler::f}, 1.0);
        },
        "started_");
    EXPECT_DEATH(
        {
            Explicit method(4);
            method.start({Kepler::f}, 1.0, x0);
            method.step({Kepler::f}, 1.0);
        },
        "t_limit > t_");
    EXPECT_DEATH(
        {
            Explicit method(4);
            Dense dense;
            method.start({Kepler::f}, 0.0, x0);
            static_cast<void>(method.dense({Kepler::f}, dense));
        },
        "stepped_");
}

TEST(Explicit, NoiseWithinLongStepsOfAStiffBodyInFreeFlightIsNoticed) {
    // A row of masses with stiff dampers and springs flies without deformation. The error of a step of any length is
    // zero up to rounding, but far beyond the stability region rounding errors are multiplied.
    constexpr int masses = 12;
    constexpr double k = 300.0, c = 3000.0, gap = 0.25;
    const auto f = [](double, const double* x, double* dx) {
        for (int i = 0; i < masses; ++i) {
            dx[i] = x[masses + i];
            dx[masses + i] = 0.0;
        }
        for (int i = 0; i + 1 < masses; ++i) {
            const double force = k * (x[i + 1] - x[i] - gap) + c * (x[masses + i + 1] - x[masses + i]);
            dx[masses + i] += force;
            dx[masses + i + 1] -= force;
        }
        return true;
    };
    for (const double limit : {0.28, 0.29, 0.3, 0.31, 0.33, 0.37}) {
        std::vector<double> x(2 * masses, -10.0);
        for (int i = 0; i < masses; ++i) x[ix(i)] = 10.3 + gap * i;
        Explicit method(2 * masses, {1e-11, 1e-14});
        method.start({f}, 0.0, x);
        Dense dense;
        double worst = 0.0;
        while (method.t() < limit && !method.stiff()) {
            ASSERT_EQ(method.step({f}, limit), StepStatus::accepted);
            ASSERT_TRUE(method.dense({f}, dense));
            if (method.dense_error() > 300.0) {
                const double t_old = method.t_old(), h = method.t() - t_old;
                method.undo(0.25);
                EXPECT_EQ(method.t(), t_old);
                EXPECT_EQ(method.next_step(), 0.25 * h);
                continue;
            }
            for (int s = 1; s < 20; ++s) {
                dense.evaluate(dense.t_old() + s / 20.0 * (dense.t_new() - dense.t_old()), x.data());
                for (int i = 0; i < masses; ++i) worst = std::fmax(worst, std::abs(x[ix(masses + i)] + 10.0));
            }
        }
        EXPECT_LT(worst, 300.0 * 1e-11 * 10.0) << limit;
    }
}

}  // namespace
}  // namespace saltus::ode::explicit_test
