// SPDX-License-Identifier: Apache-2.0
#include "smooth_problems.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "saltus/io/model/read_model.hpp"
#include "saltus/model/build.hpp"
#include "saltus/model/model.hpp"

namespace saltus::bench {
namespace {

using Precise = std::vector<long double>;

// --- equations by hand -------------------------------------------------------------------------------------------

constexpr double oscillator_damping = 0.05, oscillator_frequency = 2.8;  // those of models/impact-oscillator.toml

/// ẍ + c ẋ + x = cos(w t)
template <class Real>
void oscillator(Real t, const Real* x, Real* dx) {
    dx[0] = x[1];
    dx[1] = std::cos(static_cast<Real>(oscillator_frequency) * t) - x[0] - static_cast<Real>(oscillator_damping) * x[1];
}

template <class Real>
void pendulum(Real /*t*/, const Real* x, Real* dx) {
    dx[0] = x[1];
    dx[1] = -std::sin(x[0]);
}

/// Two uniform rods of mass and length 1. With c, s = cos, sin(θ1 − θ2):
///     4/3 θ̈1 + c/2 θ̈2 = −s/2 θ̇2² − 3/2 g sin θ1,      c/2 θ̈1 + 1/3 θ̈2 = s/2 θ̇1² − 1/2 g sin θ2
template <class Real>
void double_pendulum(Real /*t*/, const Real* x, Real* dx) {
    const Real g = static_cast<Real>(9.81), half = static_cast<Real>(0.5);
    const Real c = half * std::cos(x[0] - x[1]), s = half * std::sin(x[0] - x[1]);
    const Real h1 = -s * x[3] * x[3] - 3 * half * g * std::sin(x[0]), h2 = s * x[2] * x[2] - half * g * std::sin(x[1]);
    const Real m11 = Real(4) / 3, m22 = Real(1) / 3, determinant = m11 * m22 - c * c;
    dx[0] = x[2];
    dx[1] = x[3];
    dx[2] = (m22 * h1 - c * h2) / determinant;
    dx[3] = (m11 * h2 - c * h1) / determinant;
}

/// Three unit masses in the plane, each joined to both others by a spring of stiffness 10 and natural length 1.
/// q = (x1, y1, x2, y2, x3, y3).
template <class Real>
void spring_triangle(Real /*t*/, const Real* x, Real* dx) {
    std::copy(x + 6, x + 12, dx);
    std::fill(dx + 6, dx + 12, Real(0));
    for (int i = 0; i < 3; ++i) {
        const int a = 2 * i, b = 2 * ((i + 1) % 3);
        const Real px = x[b] - x[a], py = x[b + 1] - x[a + 1];
        const Real force_per_length = 10 * (1 - 1 / std::sqrt(px * px + py * py));
        dx[6 + a] += force_per_length * px;
        dx[7 + a] += force_per_length * py;
        dx[6 + b] -= force_per_length * px;
        dx[7 + b] -= force_per_length * py;
    }
}

/// r̈ = −r/|r|³
template <class Real>
void orbit(Real /*t*/, const Real* x, Real* dx) {
    const Real square = x[0] * x[0] + x[1] * x[1], cube = square * std::sqrt(square);
    dx[0] = x[2];
    dx[1] = x[3];
    dx[2] = -x[0] / cube;
    dx[3] = -x[1] / cube;
}

// --- ends of the motions -----------------------------------------------------------------------------------------

/// The end of the oscillator's motion by its formula: the steady oscillation and a decaying one.
Precise oscillator_end(const std::vector<double>& start, double t_end) {
    using Real = long double;
    const Real c = oscillator_damping, w = oscillator_frequency, t = t_end;
    const Real denominator = (1 - w * w) * (1 - w * w) + c * c * w * w;
    const Real A = (1 - w * w) / denominator, B = c * w / denominator;
    const Real d = c / 2, omega = std::sqrt(1 - d * d);
    const Real a = start[0] - A, b = (start[1] - w * B + d * a) / omega;
    const Real decay = std::exp(-d * t), C = std::cos(omega * t), S = std::sin(omega * t);
    return {
        decay * (a * C + b * S) + A * std::cos(w * t) + B * std::sin(w * t),
        decay * ((omega * b - d * a) * C - (omega * a + d * b) * S) + w * (B * std::cos(w * t) - A * std::sin(w * t))};
}

/// The orbit starts at its nearest point (r, 0) with velocity (0, v). With the larger half axis a, 1/a = 2/r − v², the
/// eccentricity e = 1 − r/a and the eccentric anomaly E:
///     E − e sin E = t/√a³,      (x, y) = a (cos E − e, √(1 − e²) sin E)
Precise orbit_end(const std::vector<double>& start, double t_end) {
    using Real = long double;
    const Real r = start[0], v = start[3], a = 1 / (2 / r - v * v), e = 1 - r / a;
    const Real mean_rate = 1 / (a * std::sqrt(a)), anomaly = mean_rate * t_end, minor = std::sqrt(1 - e * e);
    Real E = anomaly;
    constexpr int newton_iterations = 60;  // many more than convergence needs for e = 0.6
    for (int k = 0; k < newton_iterations; ++k) E -= (E - e * std::sin(E) - anomaly) / (1 - e * std::cos(E));
    const Real rate = mean_rate / (1 - e * std::cos(E));
    return {a * (std::cos(E) - e), a * minor * std::sin(E), -a * std::sin(E) * rate, a * minor * std::cos(E) * rate};
}

/// The end of a motion by extrapolation of the modified midpoint rule (Gragg, Bulirsch, Stoer) in long double with
/// `steps` equal steps. Each step is divided into 2, 4, ... 2·columns parts; the errors are series in h², so that
/// Neville's scheme removes one power of h² per column: the order is 2·columns. The scheme multiplies rounding errors
/// by about 100, so that it works on the small changes of x in a step and not on x.
class ReferenceMotion {
public:
    ReferenceMotion(Rates<long double> rates, std::size_t n)
        : rates_(rates), place_(n), slope_(n), changes_(columns, Precise(n)) {}

    Precise end(const std::vector<double>& start, double t_end, int steps) {
        Precise x(start.begin(), start.end());
        const long double H = static_cast<long double>(t_end) / steps;
        for (int k = 0; k < steps; ++k) step(k * H, H, x);
        return x;
    }

private:
    static constexpr std::size_t columns = 8;

    void step(long double t, long double H, Precise& x) {
        for (std::size_t j = 0; j < columns; ++j) {
            changes_[j] = midpoint(t, H, 2 * static_cast<int>(j + 1), x);
            for (std::size_t k = j; k-- > 0;) {
                const long double ratio = static_cast<long double>(j + 1) / static_cast<long double>(k + 1);
                for (std::size_t i = 0; i < x.size(); ++i)
                    changes_[k][i] = changes_[k + 1][i] + (changes_[k + 1][i] - changes_[k][i]) / (ratio * ratio - 1);
            }
        }
        for (std::size_t i = 0; i < x.size(); ++i) x[i] += changes_[0][i];
    }

    /// The change of x in a step by the modified midpoint rule with `parts` parts.
    Precise midpoint(long double t, long double H, int parts, const Precise& x) {
        const long double h = H / parts;
        Precise before(x.size(), 0), now(x.size(), 0);
        find_slope(t, x, before);
        for (std::size_t i = 0; i < x.size(); ++i) now[i] = h * slope_[i];
        for (int k = 1; k < parts; ++k) {
            find_slope(t + k * h, x, now);
            for (std::size_t i = 0; i < x.size(); ++i) before[i] += 2 * h * slope_[i];
            std::swap(before, now);
        }
        find_slope(t + H, x, now);
        for (std::size_t i = 0; i < x.size(); ++i) now[i] = (now[i] + before[i] + h * slope_[i]) / 2;
        return now;
    }

    void find_slope(long double t, const Precise& x, const Precise& change) {
        for (std::size_t i = 0; i < x.size(); ++i) place_[i] = x[i] + change[i];
        rates_(t, place_.data(), slope_.data());
    }

    Rates<long double> rates_;
    Precise place_, slope_;
    std::vector<Precise> changes_;  // the last row of Neville's scheme, the most accurate value first
};

double largest_difference(const Precise& x, const Precise& exact) {
    long double largest = 0;
    for (std::size_t i = 0; i < x.size(); ++i)
        largest = std::max(largest, std::abs(x[i] - exact[i]) / (1 + std::abs(exact[i])));
    return static_cast<double>(largest);
}

// --- problems ----------------------------------------------------------------------------------------------------

using ExactEnd = Precise (*)(const std::vector<double>& start, double t_end);

/// The problem with its start, which is that of the model, and its end: by the formula if there is one, otherwise by
/// the reference motion.
SmoothProblem with_end(SmoothProblem problem, Rates<long double> precise_rates, ExactEnd formula = nullptr) {
    constexpr int reference_steps = 500;  // twice as many change no end by more than 1e-15
    problem.start = problem.model.q0;
    problem.start.insert(problem.start.end(), problem.model.u0.begin(), problem.model.u0.end());
    ReferenceMotion reference(precise_rates, problem.start.size());
    const Precise fine = reference.end(problem.start, problem.t_end, 2 * reference_steps);
    const Precise other = formula != nullptr ? formula(problem.start, problem.t_end)
                                             : reference.end(problem.start, problem.t_end, reference_steps);
    problem.end_uncertainty = largest_difference(other, fine);
    for (const long double x : formula != nullptr ? other : fine) problem.end.push_back(static_cast<double>(x));
    return problem;
}

model::Model written(const char* text) { return model::build(io::parse_model(text, "smooth problem"), {}); }

/// The shipped impact oscillator with its stop out of reach: the gap is watched and never closes.
model::Model free_oscillator() {
    model::BuildOptions options;
    options.set = {{"s", "2"}};
    return model::build(io::read_model(SALTUS_SOURCE_DIR "/models/impact-oscillator.toml"), options);
}

}  // namespace

std::vector<SmoothProblem> smooth_problems() {
    std::vector<SmoothProblem> all;
    all.push_back(with_end({"forced oscillator", free_oscillator(), oscillator<double>, 50.0}, oscillator<long double>,
                           oscillator_end));
    const char* one_pendulum = R"toml(
        [system]
        q = ["phi"]
        T = "1/2*phi'^2"
        U = "1 - cos(phi)"
        [initial]
        q = { phi = 2.5 })toml";
    all.push_back(with_end({"pendulum", written(one_pendulum), pendulum<double>, 30.0}, pendulum<long double>));
    const char* two_rods = R"toml(
        [system]
        q = ["a", "b"]
        T = "2/3*a'^2 + 1/6*b'^2 + 1/2*cos(a - b)*a'*b'"
        U = "-9.81*(3/2*cos(a) + 1/2*cos(b))"
        [initial]
        q = { a = 1.0, b = -0.5 })toml";
    all.push_back(
        with_end({"double pendulum", written(two_rods), double_pendulum<double>, 5.0}, double_pendulum<long double>));
    const char* three_masses = R"toml(
        [system]
        q = ["x1", "y1", "x2", "y2", "x3", "y3"]
        T = "1/2*(x1'^2 + y1'^2 + x2'^2 + y2'^2 + x3'^2 + y3'^2)"
        U = """5*((sqrt((x2 - x1)^2 + (y2 - y1)^2) - 1)^2 + (sqrt((x3 - x2)^2 + (y3 - y2)^2) - 1)^2
               + (sqrt((x1 - x3)^2 + (y1 - y3)^2) - 1)^2)"""
        [initial]
        q = { x2 = 1.3, x3 = 0.4, y3 = 1.2 }
        u = { y1 = -0.5, y2 = 0.5, x3 = -0.6 })toml";
    all.push_back(with_end({"three masses, three springs", written(three_masses), spring_triangle<double>, 10.0},
                           spring_triangle<long double>));
    const char* one_planet = R"toml(
        [system]
        q = ["x", "y"]
        T = "1/2*(x'^2 + y'^2)"
        U = "-1/sqrt(x^2 + y^2)"
        [initial]
        q = { x = 0.4 }
        u = { y = 2.0 })toml";
    all.push_back(
        with_end({"orbit, eccentricity 0.6", written(one_planet), orbit<double>, 12.0}, orbit<long double>, orbit_end));
    return all;
}

double error_of(const std::vector<double>& x, const std::vector<double>& exact) {
    return largest_difference(Precise(x.begin(), x.end()), Precise(exact.begin(), exact.end()));
}

}  // namespace saltus::bench
