// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "saltus/ode/radau.hpp"

#include <cmath>
#include <limits>

#include "allocations.hpp"
#include "problems.hpp"
#include "saltus/ode/explicit.hpp"

namespace saltus::ode::radau_test {
namespace {

using namespace test;

constexpr double epsilon = std::numeric_limits<double>::epsilon();
const Problem van_der_pol{VanDerPol::f, VanDerPol::jacobian};
const Problem robertson{Robertson::f, Robertson::jacobian};

/// x' = −rate (x − cos t) − sin t: fast towards cos t, which is the solution from x = 1.
struct Follower {
    double rate;
    bool operator()(double t, const double* x, double* dx) const {
        dx[0] = -rate * (x[0] - std::cos(t)) - std::sin(t);
        return true;
    }
    bool operator()(double, const double*, Matrix& J) const {
        J(0, 0) = -rate;
        return true;
    }
};

// --- orders ------------------------------------------------------------------------------------------------------

TEST(Radau, HasOrderFiveAndDenseOutputOfOrderThree) {
    std::vector<FixedStepErrors> e;
    for (const int count : {32, 64, 128})
        e.push_back(
            fixed_step_errors(Radau(4, {1e-2, 1e-2}, 1.0 / count, 1e-13), Closed::problem(), Closed{}, 1.0, count));
    for (std::size_t k = 1; k < e.size(); ++k) {
        EXPECT_NEAR(order(e[k - 1].end, e[k].end), 5.0, 0.3) << k;
        // Order 3: within one step x is off by O(h⁴), its derivative by O(h³).
        EXPECT_NEAR(order(e[k - 1].dense, e[k].dense), 4.0, 0.3) << k;
        EXPECT_NEAR(order(e[k - 1].derivative, e[k].derivative), 3.0, 0.3) << k;
    }
}

/// One step of length 1 for x' = λx, with s stages. Its result is the Padé approximation of e^λ with degrees s − 1 and
/// s, which is of order 2s − 1 ([Hairer] IV.3):
///     P = Σ_i (2s−1−i)! (s−1)! / ((2s−1)! i! (s−1−i)!) λ^i,   Q = Σ_i (2s−1−i)! s! / ((2s−1)! i! (s−i)!) (−λ)^i.
double pade(int s, double lambda) {
    const auto factorial = [](int k) { return std::tgamma(k + 1.0); };
    double P = 0.0, Q = 0.0;
    for (int i = 0; i < s; ++i)
        P += factorial(2 * s - 1 - i) * factorial(s - 1) / (factorial(i) * factorial(s - 1 - i)) * std::pow(lambda, i);
    for (int i = 0; i <= s; ++i)
        Q += factorial(2 * s - 1 - i) * factorial(s) / (factorial(i) * factorial(s - i)) * std::pow(-lambda, i);
    return P / Q;
}

TEST(Radau, AStepOfALinearEquationIsThePadeApproximation) {
    for (const int stages : {3, 5, 7})
        for (const double lambda : {-0.5, -4.0, -60.0, 1.5}) {
            const auto f = [&](double, const double* x, double* dx) {
                dx[0] = lambda * x[0];
                return true;
            };
            const auto jacobian = [&](double, const double*, Matrix& J) {
                J(0, 0) = lambda;
                return true;
            };
            Radau::Choices choices;
            choices.iteration_tolerance = 1e-14;
            choices.stages = stages;
            Radau method(1, {10.0, 10.0}, choices);
            method.start({f, jacobian}, 0.0, std::array{1.0}, 1.0);
            ASSERT_EQ(method.step({f, jacobian}, 1.0), StepStatus::accepted);
            EXPECT_NEAR(method.x()[0], pade(stages, lambda), 1e-12) << stages << " stages, " << lambda;
        }
}

TEST(Radau, MoreStagesHaveMoreAccurateDenseOutput) {
    for (const int stages : {5, 7}) {
        std::vector<FixedStepErrors> e;
        for (const int count : {8, 16}) {
            Radau::Choices choices;
            choices.largest_step = 1.0 / count;
            choices.iteration_tolerance = 1e-13;
            choices.stages = stages;
            e.push_back(fixed_step_errors(Radau(4, {1e-2, 1e-2}, choices), Closed::problem(), Closed{}, 1.0, count));
        }
        EXPECT_NEAR(order(e[0].dense, e[1].dense), stages + 1.0, 0.6) << stages;
        EXPECT_NEAR(order(e[0].derivative, e[1].derivative), stages, 0.6) << stages;
    }
}

TEST(Radau, CorrectionsThatAreOnlyRoundingErrorsEndTheIteration) {
    // y = sin(t)/1000 enters as the difference of large numbers: it is known to 6e-14 only, a tenth of its tolerance.
    const auto f = [](double t, const double* x, double* dx) {
        dx[0] = 0.0;
        dx[1] = -1e6 * (((x[0] + x[1]) - x[0]) - 1e-3 * std::sin(t));
        return true;
    };
    const auto jacobian = [](double, const double*, Matrix& J) {
        J(1, 1) = -1e6;
        return true;
    };
    Radau::Choices choices;
    choices.stages = 7;
    Radau method(2, {1e-12, 5e-13}, choices);
    method.start({f, jacobian}, 0.0, std::array{1e3, 0.0});
    ASSERT_EQ(run(method, {f, jacobian}, 1.0), StepStatus::accepted);
    EXPECT_LT(method.statistics().cut, 5);
    EXPECT_LT(method.statistics().accepted, 60);
    EXPECT_NEAR(method.x()[1], 1e-3 * std::sin(1.0), 1e-8);  // y lags behind by 1e-6 s
}

TEST(Radau, AnIntegralWithoutAJacobianDoesNotDisturbTheIteration) {
    // Slip that begins under a growing force that turns, with a friction force of 1 N against its direction, and the
    // impulse of friction. Each round of the iteration computes the impulse from the stages of the round before.
    const auto f = [](double t, const double* v, double* dv) {
        const double speed = std::hypot(v[0], v[1]);
        dv[0] = (1.0 + t) * std::cos(t) - v[0] / speed;
        dv[1] = (1.0 + t) * std::sin(t) - v[1] / speed;
        dv[2] = -v[1] / speed;
        return true;
    };
    const auto jacobian = [](double, const double* v, Matrix& J) {
        const double speed = std::hypot(v[0], v[1]), cube = speed * speed * speed;
        J(0, 0) = -v[1] * v[1] / cube;
        J(1, 1) = -v[0] * v[0] / cube;
        J(0, 1) = J(1, 0) = v[0] * v[1] / cube;
        return true;
    };
    const Problem problem{f, jacobian};
    long cut[2];
    for (const int integrals : {0, 1}) {
        Radau::Choices choices;
        choices.stages = 7;
        choices.integrals = integrals;
        Radau method(3, {1e-11, 1e-14}, choices);
        method.start(problem, 0.0, std::array{1e-8, 0.0, 0.0});
        ASSERT_EQ(run(method, problem, 1.0), StepStatus::accepted);
        // The velocity is the impulse of both forces: ∫ (1 + t) sin t = sin 1 − 2 cos 1 + 1.
        EXPECT_NEAR(method.x()[1], std::sin(1.0) - 2.0 * std::cos(1.0) + 1.0 + method.x()[2], 1e-9);
        cut[integrals] = method.statistics().cut;
    }
    EXPECT_LT(2 * cut[1], cut[0]);
}

TEST(Radau, MoreStagesNeedFewerStepsForATightTolerance) {
    long before = 0;
    for (const int stages : {3, 5, 7}) {
        Radau::Choices choices;
        choices.stages = stages;
        Radau method(2, {1e-10, 1e-10}, choices);
        method.start(van_der_pol, 0.0, VanDerPol::initial);
        ASSERT_EQ(run(method, van_der_pol, 2.0), StepStatus::accepted);
        EXPECT_LT(distance(method.x(), VanDerPol::at_2()), 1e-10) << stages;
        EXPECT_TRUE(stages == 3 || 2 * method.statistics().accepted < before) << stages;
        before = method.statistics().accepted;
    }
}

/// Van der Pol's oscillator with linear systems that count their calls, and that refuse long steps.
class CountedSystems final : public StageSystems {
public:
    explicit CountedSystems(double least_shift = 0.0) : least_shift_(least_shift) {}
    StepStatus linearise(double t, const double* x) override {
        J_.setZero(2, 2);
        return VanDerPol::jacobian(t, x, J_) ? StepStatus::accepted : StepStatus::failed;
    }
    bool factorise(double real, std::span<const std::complex<double>> pairs) override {
        shift_ = real;
        pairs_.assign(pairs.begin(), pairs.end());
        return real >= least_shift_;
    }
    void solve(std::span<double> r) override {
        const Matrix A = shift_ * Matrix::Identity(2, 2) - J_;
        const Matrix y = solve_columns(A, Eigen::Map<const Vector>(r.data(), 2));
        std::copy_n(y.data(), 2, r.data());
    }
    void solve_pair(std::size_t pair, std::span<double> re, std::span<double> im) override {
        // (a + ib − J)(y + iz) = re + i im as a real system of twice the size
        Matrix A(4, 4);
        const Matrix one = Matrix::Identity(2, 2);
        A << pairs_[pair].real() * one - J_, -pairs_[pair].imag() * one, pairs_[pair].imag() * one,
            pairs_[pair].real() * one - J_;
        Vector b(4);
        b << re[0], re[1], im[0], im[1];
        const Matrix y = solve_columns(A, b);
        re[0] = y(0), re[1] = y(1), im[0] = y(2), im[1] = y(3);
        ++solved;
    }
    int solved = 0;

private:
    double least_shift_, shift_ = 0.0;
    std::vector<std::complex<double>> pairs_;
    Matrix J_;
};

TEST(Radau, LinearSystemsOfTheCallerGiveTheSameMotion) {
    for (const int stages : {3, 5, 7}) {
        CountedSystems systems;
        Radau::Choices choices;
        choices.stages = stages;
        Radau dense(2, {1e-8, 1e-8}, choices);
        choices.systems = &systems;
        Radau given(2, {1e-8, 1e-8}, choices);
        dense.start(van_der_pol, 0.0, VanDerPol::initial);
        given.start({VanDerPol::f}, 0.0, VanDerPol::initial);
        ASSERT_EQ(run(dense, van_der_pol, 2.0), StepStatus::accepted);
        ASSERT_EQ(run(given, {VanDerPol::f}, 2.0), StepStatus::accepted);
        EXPECT_LT(distance(dense.x(), given.x()), 1e-9) << stages;
        EXPECT_EQ(systems.solved, (stages - 1) / 2 * given.statistics().iterations);
    }
}

TEST(Radau, StepsAreShortenedIfTheLinearSystemsCannotBeSolved) {
    CountedSystems systems(400.0);  // γ/h >= 400: h <= 0.0091
    Radau::Choices choices;
    choices.systems = &systems;
    Radau method(2, {1e-4, 1e-4}, choices);
    method.start({VanDerPol::f}, 0.0, VanDerPol::initial);
    ASSERT_EQ(run(method, {VanDerPol::f}, 0.5), StepStatus::accepted);
    EXPECT_GT(method.statistics().cut, 0);
    EXPECT_LE(method.t() - method.t_old(), 0.0091);
}

TEST(Radau, PolynomialsAreIntegratedExactly) {
    const auto f = [](double t, const double*, double* dx) {
        dx[0] = 3.0 * t * t;
        dx[1] = 5.0 * t * t * t * t;
        return true;
    };
    const auto jacobian = [](double, const double*, Matrix&) { return true; };
    Radau method(2, {1.0, 1.0}, 0.5);
    method.start({f, jacobian}, 0.0, std::array{0.0, 0.0}, 0.5);
    Dense dense;
    while (method.t() < 2.0) {
        ASSERT_EQ(method.step({f, jacobian}, 2.0), StepStatus::accepted);
        ASSERT_TRUE(method.dense({f, jacobian}, dense));
        const double t = 0.5 * (method.t_old() + method.t());
        EXPECT_NEAR(dense.component(0, t), t * t * t, 64 * epsilon * 8.0);
        EXPECT_NEAR(dense.component_derivative(0, t), 3.0 * t * t, 64 * epsilon * 12.0);
    }
    EXPECT_NEAR(method.x()[0], 8.0, 64 * epsilon * 8.0);
    EXPECT_NEAR(method.x()[1], 32.0, 64 * epsilon * 32.0);
}

// --- stiff problems ----------------------------------------------------------------------------------------------

TEST(Radau, VanDerPolsOscillatorIsMetAtAllTolerances) {
    double before = 1.0;
    for (const double tolerance : {1e-4, 1e-6, 1e-8, 1e-10}) {
        Radau method(2, {tolerance, tolerance});
        method.start(van_der_pol, 0.0, VanDerPol::initial);
        ASSERT_EQ(run(method, van_der_pol, 2.0), StepStatus::accepted);
        const double error = distance(method.x(), VanDerPol::at_2());
        EXPECT_LT(error, 0.1 * tolerance) << tolerance;  // the ends of steps are better than asked for
        EXPECT_LT(error, 0.1 * before) << tolerance;
        before = error;
        // The Jacobian and its factors are kept as long as possible.
        EXPECT_LT(method.statistics().factorisations, method.statistics().accepted) << tolerance;
        EXPECT_LT(method.statistics().jacobians, method.statistics().factorisations) << tolerance;
    }
}

TEST(Radau, RobertsonsKineticsOverElevenDecades) {
    for (const double tolerance : {1e-6, 1e-8, 1e-10}) {
        Radau method(3, {tolerance, 1e-6 * tolerance, {1.0, 1e-4, 1.0}});
        method.start(robertson, 0.0, Robertson::initial);
        ASSERT_EQ(run(method, robertson, 40.0), StepStatus::accepted);
        for (std::size_t i = 0; i < 3; ++i)
            EXPECT_NEAR(method.x()[i], Robertson::at_40()[i], 0.1 * tolerance * Robertson::at_40()[i]) << i;
        ASSERT_EQ(run(method, robertson, 1e11), StepStatus::accepted);
        for (std::size_t i = 0; i < 3; ++i)
            EXPECT_NEAR(method.x()[i], Robertson::at_1e11()[i], tolerance * Robertson::at_1e11()[i]) << i;
        EXPECT_NEAR(method.x()[0] + method.x()[1] + method.x()[2], 1.0, 1e-12);  // mass, a linear invariant
    }
}

TEST(Radau, StiffnessCostsNothing) {
    std::vector<long> steps;
    for (const double rate : {1e3, 1e6, 1e9}) {
        const Follower follower{rate};
        Radau method(1, {1e-7, 1e-7});
        method.start({follower, follower}, 0.0, std::array{1.0});
        ASSERT_EQ(run(method, {follower, follower}, 10.0), StepStatus::accepted);
        EXPECT_NEAR(method.x()[0], std::cos(10.0), 1e-6);
        steps.push_back(method.statistics().accepted);
    }
    EXPECT_LT(steps[1], 2 * steps[0]);
    EXPECT_LT(steps[2], 2 * steps[0]);
    EXPECT_LT(steps[2], 500);
    const Follower follower{1e6};
    Explicit method(1, {1e-7, 1e-7});
    method.start({follower}, 0.0, std::array{1.0});
    run(method, {follower}, 0.01);
    EXPECT_GT(method.statistics().accepted, 1000);  // for a thousandth of the way
    EXPECT_TRUE(method.stiff());
}

TEST(Radau, ATransientIsLeftWithFewRejections) {
    // Without the filter (γ/h − J)⁻¹ in the error estimate the stiff component would cause about 60.
    const Follower follower{1e3};
    Radau method(1, {1e-6, 1e-6});
    method.start({follower, follower}, 0.0, std::array{2.0});
    ASSERT_EQ(run(method, {follower, follower}, 10.0), StepStatus::accepted);
    EXPECT_NEAR(method.x()[0], std::cos(10.0), 1e-6);
    EXPECT_LT(method.statistics().rejected, 15);
}

TEST(Radau, AFastTransientIsDampedAtOnce) {
    const Follower follower{1e8};
    Radau method(1, {1e3, 1e3}, 0.1);  // steps far too long to follow the transient
    method.start({follower, follower}, 0.0, std::array{2.0}, 0.1);
    ASSERT_EQ(method.step({follower, follower}, 10.0), StepStatus::accepted);
    EXPECT_NEAR(method.x()[0], std::cos(method.t()), 1e-5);
}

// --- the same answers as the explicit method, in the same form -----------------------------------------------------

TEST(Radau, AgreesWithTheExplicitMethodOnASmoothProblem) {
    const Problem problem = Closed::problem();
    Radau implicit(4, {1e-9, 1e-9});
    Explicit reference(4, {1e-12, 1e-12});
    implicit.start(problem, 0.0, Closed::solution(0.0));
    reference.start(problem, 0.0, Closed::solution(0.0));
    ASSERT_EQ(run(implicit, problem, 1.0), StepStatus::accepted);
    ASSERT_EQ(run(reference, problem, 1.0), StepStatus::accepted);
    EXPECT_LT(distance(implicit.x(), reference.x()), 1e-7);  // x2 is about 67 there
    EXPECT_LT(distance(reference.x(), Closed::solution(1.0)), 1e-9);
}

TEST(Radau, DenseOutputIsAsGoodAsTheTolerance) {
    for (const double tolerance : {1e-5, 1e-7, 1e-9}) {
        Radau method(4, {tolerance, tolerance});
        const Problem problem = Closed::problem();
        method.start(problem, 0.0, Closed::solution(0.0));
        Dense dense;
        double within = 0.0;
        while (method.t() < 1.0) {
            ASSERT_EQ(method.step(problem, 1.0), StepStatus::accepted);
            ASSERT_TRUE(method.dense(problem, dense));
            for (int k = 1; k < 20; ++k) {
                const double t = method.t_old() + k / 20.0 * (method.t() - method.t_old());
                const auto exact = Closed::solution(t);
                for (std::size_t i = 0; i < 4; ++i)
                    within = std::fmax(within, std::abs(dense.component(static_cast<int>(i), t) - exact[i]) /
                                                   (1.0 + std::abs(exact[i])));
            }
        }
        EXPECT_LT(within, tolerance);
    }
}

TEST(Radau, TheDensePolynomialMeetsStateAndRateAtTheEnds) {
    Radau method(2, {1e-8, 1e-8}, no_limit, 1e-4);
    method.start(van_der_pol, 0.0, VanDerPol::initial);
    Dense dense;
    for (int k = 0; k < 50; ++k) {
        ASSERT_EQ(method.step(van_der_pol, 2.0), StepStatus::accepted);
        const std::vector<double> before(method.x_old().begin(), method.x_old().end());
        const std::vector<double> after(method.x().begin(), method.x().end());
        ASSERT_TRUE(method.dense(van_der_pol, dense));
        EXPECT_EQ(dense.t_old(), method.t_old());
        EXPECT_EQ(dense.t_new(), method.t());
        std::vector<double> x(2), rate(2);
        dense.evaluate(dense.t_old(), x.data());
        EXPECT_EQ(x, before);
        dense.evaluate(dense.t_new(), x.data());
        EXPECT_EQ(x, after);
        VanDerPol::f(0.0, after.data(), rate.data());
        EXPECT_EQ(distance(method.dx(), rate), 0.0);
    }
}

TEST(Radau, LimitsAreHitExactlyAndCostLittle) {
    Radau free(2, {1e-6, 1e-6}), limited(2, {1e-6, 1e-6});
    free.start(van_der_pol, 0.0, VanDerPol::initial);
    limited.start(van_der_pol, 0.0, VanDerPol::initial);
    ASSERT_EQ(run(free, van_der_pol, 2.0), StepStatus::accepted);
    for (const double t : {0.1, 0.1 + 1e-15, 0.7, 0.7 * (1 + 1e-9), 1.5, 2.0}) {
        while (limited.t() < t) ASSERT_EQ(limited.step(van_der_pol, t), StepStatus::accepted);
        EXPECT_EQ(limited.t(), t);
    }
    EXPECT_LT(limited.statistics().accepted, free.statistics().accepted + 40);
}

TEST(Radau, AReplacedStateIsWhereTheNextStepBegins) {
    const Problem problem = Closed::problem();
    Radau method(4, {1e-8, 1e-8});
    method.start(problem, 0.0, Closed::solution(0.0));
    for (int k = 0; k < 10; ++k) method.step(problem, 1.0);
    const auto exact = Closed::solution(method.t());
    ASSERT_EQ(method.replace(problem, exact), StepStatus::accepted);
    EXPECT_EQ(distance(method.x(), exact), 0.0);
    ASSERT_EQ(method.step(problem, 1.0), StepStatus::accepted);
    EXPECT_EQ(distance(method.x_old(), exact), 0.0);
    EXPECT_LT(distance(method.x(), Closed::solution(method.t())), 1e-7);
}

TEST(Radau, AllocatesNothingAfterConstruction) {
    Radau method(2, {1e-6, 1e-6});
    Dense dense;
    dense.reset(0.0, 1.0, 2, Dense::max_terms);
    std::array<double, 2> x;
    const std::size_t before = saltus::test::allocations();
    for (int restart = 0; restart < 2; ++restart) {
        method.start(van_der_pol, 0.0, VanDerPol::initial);
        for (int k = 0; k < 100; ++k) {
            method.step(van_der_pol, 2.0);
            static_cast<void>(method.dense(van_der_pol, dense));
            dense.evaluate(method.t(), x.data());
            method.replace(van_der_pol, x);
        }
    }
    EXPECT_EQ(saltus::test::allocations() - before, 0U);
}

TEST(Radau, AStateWithoutComponentsGoesToTheLimit) {
    const auto f = [](double, const double*, double*) { return true; };
    const auto jacobian = [](double, const double*, Matrix&) { return true; };
    Radau method(0);
    EXPECT_EQ(method.start({f, jacobian}, 0.0, {}), StepStatus::accepted);
    EXPECT_EQ(run(method, {f, jacobian}, 10.0), StepStatus::accepted);
    EXPECT_EQ(method.t(), 10.0);
}

// --- outcomes ----------------------------------------------------------------------------------------------------

TEST(Radau, GoesAsFarAsTheRightSideCanBeEvaluated) {
    const auto f = [](double, const double* x, double* dx) {
        if (x[0] < 0.0) return false;
        dx[0] = -1.0 - x[0];  // x = 2 e^−t − 1, 0 at ln 2
        return true;
    };
    const auto jacobian = [](double, const double*, Matrix& J) {
        J(0, 0) = -1.0;
        return true;
    };
    Radau method(1);
    ASSERT_EQ(method.start({f, jacobian}, 0.0, std::array{1.0}), StepStatus::accepted);
    EXPECT_EQ(run(method, {f, jacobian}, 5.0), StepStatus::failed);
    EXPECT_GE(method.x()[0], 0.0);
    EXPECT_NEAR(method.t(), std::log(2.0), 1e-8);
}

TEST(Radau, SaysWhenTheRightSideIsNotFinite) {
    const auto f = [](double t, const double*, double* dx) {
        dx[0] = t > 1.0 ? std::numeric_limits<double>::quiet_NaN() : 1.0;
        return true;
    };
    const auto jacobian = [](double, const double*, Matrix&) { return true; };
    Radau method(1);
    ASSERT_EQ(method.start({f, jacobian}, 0.0, std::array{0.0}), StepStatus::accepted);
    EXPECT_EQ(run(method, {f, jacobian}, 5.0), StepStatus::non_finite);
    EXPECT_NEAR(method.t(), 1.0, 64 * epsilon);
}

TEST(Radau, AJacobianThatIsRefusedOrNotFiniteStopsIt) {
    const Follower follower{1.0};
    const auto refuses = [](double, const double*, Matrix&) { return false; };
    const auto infinite = [](double, const double*, Matrix& J) {
        J(0, 0) = std::numeric_limits<double>::infinity();
        return true;
    };
    Radau method(1);
    method.start({follower, refuses}, 0.0, std::array{1.0});
    EXPECT_EQ(method.step({follower, refuses}, 1.0), StepStatus::failed);
    EXPECT_EQ(method.step({follower, infinite}, 1.0), StepStatus::non_finite);
    EXPECT_EQ(method.t(), 0.0);
    EXPECT_EQ(method.step({follower, follower}, 1.0), StepStatus::accepted);
}

TEST(Radau, ASolutionThatDivergesInFiniteTimeEndsWithUnderflow) {
    const auto f = [](double, const double* x, double* dx) {
        dx[0] = x[0] * x[0];
        return true;
    };
    const auto jacobian = [](double, const double* x, Matrix& J) {
        J(0, 0) = 2.0 * x[0];
        return true;
    };
    Radau method(1);
    method.start({f, jacobian}, 0.0, std::array{1.0});
    const StepStatus status = run(method, {f, jacobian}, 2.0);
    EXPECT_FALSE(usable(status));
    EXPECT_NEAR(method.t(), 1.0, 1e-6);
}

TEST(Radau, AWrongJacobianCostsStepsButNotAccuracy) {
    const auto wrong = [](double t, const double* x, Matrix& J) {
        VanDerPol::jacobian(t, x, J);
        J *= 0.9;
        return true;
    };
    Radau method(2, {1e-6, 1e-6}), reference(2, {1e-6, 1e-6});
    method.start(van_der_pol, 0.0, VanDerPol::initial);
    reference.start(van_der_pol, 0.0, VanDerPol::initial);
    ASSERT_EQ(run(method, {VanDerPol::f, wrong}, 2.0), StepStatus::accepted);
    ASSERT_EQ(run(reference, van_der_pol, 2.0), StepStatus::accepted);
    EXPECT_LT(distance(method.x(), VanDerPol::at_2()), 1e-4);
    EXPECT_GT(method.statistics().iterations, reference.statistics().iterations);
}

TEST(RadauDeathTest, MisuseIsRefused) {
    EXPECT_DEATH(
        {
            Radau method(2);
            method.start({VanDerPol::f}, 0.0, VanDerPol::initial);
            method.step({VanDerPol::f}, 1.0);
        },
        "jacobian");
}

}  // namespace
}  // namespace saltus::ode::radau_test
