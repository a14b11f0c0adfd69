// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <vector>

#include "reference/reference.hpp"
#include "saltus/ode/step.hpp"

/// Initial value problems whose solutions are known from elsewhere.
namespace saltus::ode::test {

/// A list of numbers in tests/reference/additional.json.
template <std::size_t N>
std::array<double, N> known(const char* name, const char* part, const char* list) {
    const std::vector<double> numbers = saltus::test::reference::entry(name)[part][list].numbers();
    std::array<double, N> out{};
    std::copy_n(numbers.begin(), N, out.begin());
    return out;
}

/// Nonlinear and not autonomous, with the solution x1 = e^{sin t²}, x2 = x1⁵, x3 = 1 + sin t², x4 = cos t². Refuses
/// outside x1, x2 > 0.
struct Closed {
    static constexpr int n = 4;
    static bool f(double t, const double* x, double* dx) {
        if (!(x[0] > 0.0 && x[1] > 0.0)) return false;
        dx[0] = 2.0 * t * std::pow(x[1], 0.2) * x[3];
        dx[1] = 10.0 * t * std::exp(5.0 * (x[2] - 1.0)) * x[3];
        dx[2] = 2.0 * t * x[3];
        dx[3] = -2.0 * t * std::log(x[0]);
        return true;
    }
    static bool jacobian(double t, const double* x, Matrix& J) {
        J(0, 1) = 0.4 * t * std::pow(x[1], -0.8) * x[3];
        J(0, 3) = 2.0 * t * std::pow(x[1], 0.2);
        J(1, 2) = 50.0 * t * std::exp(5.0 * (x[2] - 1.0)) * x[3];
        J(1, 3) = 10.0 * t * std::exp(5.0 * (x[2] - 1.0));
        J(2, 3) = 2.0 * t;
        J(3, 0) = -2.0 * t / x[0];
        return true;
    }
    static std::array<double, 4> solution(double t) {
        const double s = std::sin(t * t);
        return {std::exp(s), std::exp(5.0 * s), 1.0 + s, std::cos(t * t)};
    }
    static Problem problem() { return {f, jacobian}; }
};

/// Kepler's problem from the pericentre, period 2π. The solution by Kepler's equation.
struct Kepler {
    double e = 0.6;  ///< eccentricity
    static bool f(double, const double* x, double* dx) {
        const double r2 = x[0] * x[0] + x[1] * x[1], r3 = r2 * std::sqrt(r2);
        dx[0] = x[2];
        dx[1] = x[3];
        dx[2] = -x[0] / r3;
        dx[3] = -x[1] / r3;
        return true;
    }
    std::array<double, 4> solution(double t) const {
        double E = t;
        for (int k = 0; k < 60; ++k) E -= (E - e * std::sin(E) - t) / (1.0 - e * std::cos(E));
        const double b = std::sqrt(1.0 - e * e), rate = 1.0 / (1.0 - e * std::cos(E));
        return {std::cos(E) - e, b * std::sin(E), -rate * std::sin(E), rate * b * std::cos(E)};
    }
};

/// Arenstorf's orbit ([Hairer] II.0): a satellite between earth and moon, closed after `period`.
struct Arenstorf {
    static double period() { return saltus::test::reference::entry("additional_arenstorf")["inputs"]["period"]; }
    static std::array<double, 4> initial() { return known<4>("additional_arenstorf", "inputs", "initial"); }
    static bool f(double, const double* x, double* dx) {
        const double moon = 0.012277471, earth = 1.0 - moon;
        const double d1 = std::pow((x[0] + moon) * (x[0] + moon) + x[1] * x[1], 1.5);
        const double d2 = std::pow((x[0] - earth) * (x[0] - earth) + x[1] * x[1], 1.5);
        dx[0] = x[2];
        dx[1] = x[3];
        dx[2] = x[0] + 2.0 * x[3] - earth * (x[0] + moon) / d1 - moon * (x[0] - earth) / d2;
        dx[3] = x[1] - 2.0 * x[2] - earth * x[1] / d1 - moon * x[1] / d2;
        return true;
    }
};

/// Van der Pol's oscillator in slow time, x'' = ((1 − x²)x' − x)/ε with ε = 1e-6, from (2, 0).
struct VanDerPol {
    static bool f(double, const double* x, double* dx) {
        dx[0] = x[1];
        dx[1] = ((1.0 - x[0] * x[0]) * x[1] - x[0]) * 1e6;
        return true;
    }
    static bool jacobian(double, const double* x, Matrix& J) {
        J(0, 1) = 1.0;
        J(1, 0) = (-2.0 * x[0] * x[1] - 1.0) * 1e6;
        J(1, 1) = (1.0 - x[0] * x[0]) * 1e6;
        return true;
    }
    static constexpr std::array<double, 2> initial = {2.0, 0.0};
    static std::array<double, 2> at_2() { return known<2>("additional_van_der_pol", "outputs", "x"); }
};

/// Robertson's kinetics.
struct Robertson {
    static bool f(double, const double* x, double* dx) {
        dx[0] = -0.04 * x[0] + 1e4 * x[1] * x[2];
        dx[2] = 3e7 * x[1] * x[1];
        dx[1] = -dx[0] - dx[2];
        return true;
    }
    static bool jacobian(double, const double* x, Matrix& J) {
        J(0, 0) = -0.04;
        J(0, 1) = 1e4 * x[2];
        J(0, 2) = 1e4 * x[1];
        J(2, 1) = 6e7 * x[1];
        for (int k = 0; k < 3; ++k) J(1, k) = -J(0, k) - J(2, k);
        return true;
    }
    static constexpr std::array<double, 3> initial = {1.0, 0.0, 0.0};
    static std::array<double, 3> at_40() { return known<3>("additional_robertson", "outputs", "at_40"); }
    static std::array<double, 3> at_1e11() { return known<3>("additional_robertson", "outputs", "at_1e11"); }
};

/// Steps until t_end or until a step is not accepted; returns the last status.
template <class Method>
StepStatus run(Method& method, const Problem& problem, double t_end) {
    StepStatus status = StepStatus::accepted;
    while (method.t() < t_end && usable(status)) status = method.step(problem, t_end);
    return status;
}

/// Largest difference of two components.
template <class A, class B>
double distance(const A& a, const B& b) {
    double largest = 0.0;
    for (std::size_t i = 0; i < a.size(); ++i) largest = std::fmax(largest, std::abs(a[i] - b[i]));
    return largest;
}

/// Errors with `count` equal steps over [0, t_end]: at the end, and of the dense output and its derivative within.
struct FixedStepErrors {
    double end = 0.0, dense = 0.0, derivative = 0.0;
};

/// The method has t_end/count as its largest step and tolerances that do not shorten it.
template <class Method, class Known>
FixedStepErrors fixed_step_errors(Method method, const Problem& problem, const Known& known, double t_end, int count) {
    EXPECT_EQ(method.start(problem, 0.0, known.solution(0.0), t_end / count), StepStatus::accepted);
    FixedStepErrors errors;
    Dense dense;
    while (method.t() < t_end) {
        if (!usable(method.step(problem, t_end)) || !method.dense(problem, dense)) {
            ADD_FAILURE() << "no step from " << method.t();
            return errors;
        }
        for (int k = 1; k < 8; ++k) {
            const double t = method.t_old() + k / 8.0 * (method.t() - method.t_old());
            std::array<double, 4> x, dx, rate;
            const std::array<double, 4> exact = known.solution(t);
            dense.evaluate(t, x.data());
            dense.derivative(t, dx.data());
            problem.f(t, exact.data(), rate.data());
            errors.dense = std::fmax(errors.dense, distance(x, exact));
            errors.derivative = std::fmax(errors.derivative, distance(dx, rate));
        }
    }
    errors.end = distance(method.x(), known.solution(t_end));
    EXPECT_EQ(method.statistics().accepted, count);
    EXPECT_EQ(method.statistics().rejected, 0);
    return errors;
}

inline double order(double coarse, double fine) { return std::log2(coarse / fine); }

}  // namespace saltus::ode::test
