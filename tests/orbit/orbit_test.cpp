// SPDX-License-Identifier: Apache-2.0
#include "saltus/orbit/orbit.hpp"
#include "saltus/orbit/search.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <string>

#include "saltus/base/error.hpp"
#include "saltus/base/linalg.hpp"
#include "saltus/integrate/simulate.hpp"
#include "saltus/io/model/read_model.hpp"
#include "saltus/model/build.hpp"
#include "saltus/model/model.hpp"

namespace saltus::orbit::orbit_test {
namespace {

constexpr double pi = std::numbers::pi;

model::Model shipped(const std::string& name, const model::BuildOptions& options = {}) {
    return model::build(io::read_model(std::string(SALTUS_SOURCE_DIR) + "/models/" + name + ".toml"), options);
}

model::Model of_text(const std::string& text) { return model::build(io::parse_model(text, "test.toml")); }

/// x'' + 0.1 x' + x = A cos t with a stop at x = 1 and e = 0.8.
std::string stopped_oscillator(double A) {
    return "[system]\nq = [\"x\"]\nT = \"x'^2/2\"\nU = \"x^2/2\"\nR = \"0.05*x'^2\"\nf = { x = \"" + std::to_string(A) +
           "*cos(t)\" }\n[[contact]]\nname = \"stop\"\ngN = \"1 - x\"\neN = 0.8\n";
}

const trajectory::Event* first_impact(const Orbit& o) {
    for (const trajectory::Event& e : o.motion.events)
        if (e.kind == trajectory::EventKind::impact) return &e;
    return nullptr;
}

/// The bouncing ball with one bounce in a period: cos φ = π(1−e)/((1+e)Γ), trace 1 + e² − (1+e)²Γ sin φ, determinant
/// e².
TEST(Orbit, OfABallOnAShakenTableHasTheMultipliersOfTheExactMap) {
    for (const double Gamma : {1.1, 1.3, 1.5, 1.6, 2.0}) {
        model::BuildOptions build;
        build.set = {{"Gamma", std::to_string(Gamma)}};
        const model::Model m = shipped("ball-on-moving-plane", build);
        const double e = 0.5, period = 0.1, w = 2 * pi / period, g = 9.81;
        const double phase = std::acos(pi * (1 - e) / ((1 + e) * Gamma));
        // Just after the impact at the phase: the ball leaves the table with the velocity g·period/2.
        const double A = Gamma * g / (w * w), t = 0.25 * period;
        const double v = g * period / 2, since = t - phase / w;
        Options options;
        options.period = period;
        // The same motion at t = 0 of the period, a little off.
        const double back = period - phase / w;
        options.guess = trajectory::State{
            0.0, {1.002 * (A * std::sin(phase) + v * back - g * back * back / 2)}, {0.998 * (v - g * back)}};
        ASSERT_GT(since, 0.0);
        const Orbit o = find_orbit(m, options);
        ASSERT_EQ(o.status, Status::converged) << Gamma << " " << o.reason;
        EXPECT_NEAR(o.phase, phase, 1e-10) << Gamma;
        const std::complex<double> trace = o.multipliers[0] + o.multipliers[1],
                                   det = o.multipliers[0] * o.multipliers[1];
        EXPECT_NEAR(trace.real(), 1 + e * e - (1 + e) * (1 + e) * Gamma * std::sin(phase), 1e-9) << Gamma;
        EXPECT_NEAR(det.real(), e * e, 1e-10) << Gamma;
        // Period doubling at Γ² = (π(1−e)/(1+e))² + (2(1+e²)/(1+e)²)².
        const double doubling = std::hypot(pi * (1 - e) / (1 + e), 2 * (1 + e * e) / ((1 + e) * (1 + e)));
        EXPECT_EQ(o.stability, Gamma < doubling ? Stability::stable : Stability::unstable) << Gamma;
        EXPECT_LE(o.residuals.size(), 8U);
        // Over one period the table carries the weight, m g with m = 1.
        const Averages average = averages_of(m, options, o);
        ASSERT_EQ(average.elements.size(), 1U);
        EXPECT_TRUE(average.forces_known);
        EXPECT_NEAR(average.elements[0].force, g, 1e-9) << Gamma;
        EXPECT_NEAR(average.elements[0].impulse, g * 0.1, 1e-9) << Gamma;
        // The impact takes ½ (1 − e²) γ⁻² out, where (1 + e)|γ⁻| is the impulse; the table brings the same in.
        const double closing = average.elements[0].impulse / (1 + e);
        EXPECT_NEAR(average.elements[0].dissipated, (1 - e * e) * closing * closing / 2, 1e-9) << Gamma;
        EXPECT_NEAR(average.elements[0].supplied, average.elements[0].dissipated, 1e-9) << Gamma;
    }
}

TEST(Orbit, OfAnOscillatorWithAStopMatchesIndependentValues) {
    Options options;
    options.period = 2 * pi;
    options.settle = 100;
    const Orbit o = find_orbit(of_text(stopped_oscillator(1.0)), options);
    ASSERT_EQ(o.status, Status::converged) << o.reason;
    EXPECT_NEAR(o.phase, 0.075952164938, 1e-11);
    ASSERT_NE(first_impact(o), nullptr);
    EXPECT_NEAR(first_impact(o)->u_plus[0], -1.356586350076, 1e-11);
    EXPECT_NEAR(o.multipliers[0].real(), -0.58429531434, 1e-10);
    EXPECT_NEAR(std::abs(o.multipliers[0].imag()), 0.00560035149, 1e-10);
    EXPECT_NEAR((o.multipliers[0] * o.multipliers[1]).real(), 0.64 * std::exp(-0.2 * pi), 1e-11);
    EXPECT_EQ(o.stability, Stability::stable);
}

/// Without impacts, below the amplitude 0.1 at which the mass grazes the stop, the multipliers are those of the flow.
TEST(Orbit, BelowGrazingHasNoImpacts) {
    Options options;
    options.period = 2 * pi;
    const Orbit o = find_orbit(of_text(stopped_oscillator(0.0999)), options);
    ASSERT_EQ(o.status, Status::converged) << o.reason;
    EXPECT_TRUE(o.motion.events.empty());
    EXPECT_NEAR(std::abs(o.multipliers[0]), std::exp(-0.05 * 2 * pi), 1e-11);
}

/// Den Hartog's oscillator without stops: amplitude √(1/(1−ω²)² − f²U²).
TEST(Orbit, OfAnOscillatorWithDryFrictionHasDenHartogsAmplitude) {
    const double w = 0.8, f = 0.3;
    Options options;
    options.period = 2 * pi / w;
    options.settle = 100;
    const Orbit o =
        find_orbit(of_text("[system]\nq = [\"x\"]\nT = \"x'^2/2\"\nU = \"x^2/2\"\nf = { x = \"cos(0.8*t)\" }\n"
                           "[[slider]]\ngammaT = \"x'\"\nmu = 0.3\nFN = 1\n[initial]\nq = { x = 1 }\n"),
                   options);
    ASSERT_EQ(o.status, Status::converged) << o.reason;
    const double U = std::sin(pi / w) / (w * (1 + std::cos(pi / w)));
    double amplitude = 0.0;
    for (const trajectory::Event& e : o.motion.events) amplitude = std::max(amplitude, std::abs(e.q[0]));
    EXPECT_NEAR(amplitude, std::sqrt(1 / std::pow(1 - w * w, 2) - f * f * U * U), 1e-10);
}

/// Symmetric orbits of a particle in a shaken box: ρ cos p + 2 sin p = −D/A with ρ = π(1+e)/(1−e); the multipliers of
/// the map of half a period have the modulus e.
TEST(Orbit, OfAParticleInAShakenBoxIsFoundAmongSeveral) {
    const model::Model m = of_text(
        "[system]\nq = [\"x\"]\nT = \"x'^2/2\"\n[[contact]]\nname = \"left\"\ngN = \"x + 2 - sin(t)\"\neN = 0.7\n"
        "[[contact]]\nname = \"right\"\ngN = \"2 - x + sin(t)\"\neN = 0.7\n[initial]\nq = { x = 0.5 }\nu = { x = 1 }\n"
        "[simulate]\nt_end = 10\n");
    Options options;
    options.period = 2 * pi;
    const std::vector<Orbit> orbits = find_orbits(m, options, 20);
    bool found = false, unstable = false;
    for (const Orbit& o : orbits) {
        unstable = unstable || o.stability == Stability::unstable;
        if (o.stability != Stability::stable || o.motion.events.size() != 2) continue;
        found = true;
        EXPECT_NEAR(o.phase, 1.907854821706, 1e-10);
        EXPECT_NEAR(std::abs(o.multipliers[0]), 0.49, 1e-10);
    }
    EXPECT_TRUE(found);
    EXPECT_TRUE(unstable);
}

/// The same orbit by half of it: the other half is its image. The multipliers of half the orbit have the modulus e, and
/// those of the whole orbit are their squares.
TEST(Orbit, WithASymmetryIsFoundFromHalfOfIt) {
    const model::Model m = shipped("shaken-box");
    Options options;
    options.period = 2 * pi;
    options.settle = 100;
    const Orbit whole = find_orbit(m, options);
    options.symmetry = "x = -x";
    const Orbit o = find_orbit(m, options);
    ASSERT_EQ(o.status, Status::converged) << o.reason;
    EXPECT_NEAR(o.phase, 1.907854821706, 1e-11);
    EXPECT_NEAR(o.period, 2 * pi, 1e-14);
    ASSERT_EQ(o.multipliers.size(), 2U);
    for (const std::complex<double>& mu : o.multipliers) EXPECT_NEAR(std::abs(mu), 0.7, 1e-11);
    ASSERT_EQ(o.multipliers_full.size(), 2U);
    for (std::size_t k = 0; k < 2; ++k) {
        const bool first = std::abs(o.multipliers_full[k] - whole.multipliers[0]) <
                           std::abs(o.multipliers_full[k] - whole.multipliers[1]);
        EXPECT_NEAR(std::abs(o.multipliers_full[k] - whole.multipliers[first ? 0 : 1]), 0.0, 1e-10);
    }
    EXPECT_EQ(o.motion.events.size(), 2U);
}

/// The stop of the oscillator is on one side: half of the motion can be closed by x = -x, the motion itself cannot.
TEST(Orbit, IsNotClaimedForASymmetryThatTheModelDoesNotHave) {
    Options options;
    options.period = 2 * pi;
    options.settle = 100;
    options.symmetry = "x = -x";
    const Orbit o = find_orbit(of_text(stopped_oscillator(1.0)), options);
    EXPECT_EQ(o.status, Status::no_orbit);
    options.symmetry = "x = -x - 1";
    EXPECT_EQ(find_orbit(of_text(stopped_oscillator(1.0)), options).status, Status::no_orbit);
    for (const char* const wrong : {"y = -y", "x = 2*x", "x = x^2", "x", "x = x'"}) {
        options.symmetry = wrong;
        EXPECT_THROW(find_orbit(of_text(stopped_oscillator(1.0)), options), Error) << wrong;
    }
}

/// The shipped model of Den Hartog's oscillator, by half of its orbit.
TEST(Orbit, OfTheShippedModelOfDenHartogHasHisAmplitude) {
    Options options;
    options.period = 2 * pi / 0.8;
    options.settle = 100;
    options.symmetry = "x = -x";
    const Orbit o = find_orbit(shipped("den-hartog"), options);
    ASSERT_EQ(o.status, Status::converged) << o.reason;
    ASSERT_EQ(o.motion.events.size(), 2U);
    for (const trajectory::Event& e : o.motion.events) EXPECT_NEAR(std::abs(e.q[0]), 2.6261048757, 1e-10);
}

/// The product of the multipliers is e² exp(−0.1·2π) to 12 digits.
TEST(Orbit, HasMultipliersToTwelveDigits) {
    model::BuildOptions build;
    build.set = {{"c", "0.1"}, {"w", "1"}, {"s", "1"}};
    Options options;
    options.period = 2 * pi;
    options.settle = 200;
    const Orbit o = find_orbit(shipped("impact-oscillator", build), options);
    ASSERT_EQ(o.status, Status::converged) << o.reason;
    const double product = 0.64 * std::exp(-0.2 * pi);
    EXPECT_NEAR((o.multipliers[0] * o.multipliers[1]).real() / product, 1.0, 2e-12);
    const double e = 0.5, Gamma = 1.3, phase = std::acos(pi * (1 - e) / ((1 + e) * Gamma));
    Options ball;
    ball.period = 0.1;
    ball.settle = 2;
    const Orbit b = find_orbit(shipped("ball-on-moving-plane"), ball);
    EXPECT_NEAR((b.multipliers[0] + b.multipliers[1]).real(), 1 + e * e - (1 + e) * (1 + e) * Gamma * std::sin(phase),
                2e-12);
    EXPECT_NEAR((b.multipliers[0] * b.multipliers[1]).real(), e * e, 1e-12);
}

/// The limit cycle of the woodpecker to ten digits: tolerances that differ by a factor of 100 give the same period.
// A slider in a plane turns between two events at which a clutch closes and opens, which makes its force jump. The
// multipliers are the eigenvalues of central differences of the motion over one period.
TEST(Orbit, WithSlipInAPlaneThatTurnsBetweenEventsHasTheMultipliersOfTheReturnMap) {
    const model::Model m = of_text(R"toml(
[system]
q = ["x", "y"]
T = "(x'^2 + y'^2)/2"
U = "x^2/2 + 1.5*y^2/2"
R = "0.05*(x'^2 + y'^2)"
f = { x = "cos(t)", y = "sin(t + 0.3)" }
[[slider]]
gammaT = ["x'", "y'"]
mu = 0.1
FN = "1 + x^2"
[[clutch]]
gamma = "x' + 2"
[initial]
q = { x = 0.1, y = 0.1 }
)toml");
    Options options;
    options.period = 2.0 * pi;
    options.settle = 40.0 * pi;
    const Orbit o = find_orbit(m, options);
    ASSERT_EQ(o.status, Status::converged) << o.reason;
    ASSERT_EQ(o.multipliers.size(), 4U);
    Eigen::MatrixXd slopes(4, 4);
    constexpr double step = 1e-6;
    for (std::size_t k = 0; k < 4; ++k) {
        Eigen::VectorXd ends[2];
        for (int side = 0; side < 2; ++side) {
            integrate::Options run;
            run.start = o.state;
            (k < 2 ? run.start->q[k] : run.start->u[k - 2]) += side == 0 ? -step : step;
            run.t_end = run.start->t + o.period;
            const trajectory::State end = integrate::simulate(m, Options::accurate(), run).end;
            ends[side] = Eigen::VectorXd{{end.q[0], end.q[1], end.u[0], end.u[1]}};
        }
        slopes.col(static_cast<Eigen::Index>(k)) = (ends[1] - ends[0]) / (2.0 * step);
    }
    // Eigenvalues by the traces of powers, which need no order.
    for (int power = 1; power <= 4; ++power) {
        Eigen::MatrixXd product = Eigen::MatrixXd::Identity(4, 4);
        std::complex<double> sum = 0.0;
        for (int i = 0; i < power; ++i) product *= slopes;
        for (const std::complex<double>& multiplier : o.multipliers) sum += std::pow(multiplier, power);
        EXPECT_NEAR(sum.real(), product.trace(), 1e-6) << power;
        EXPECT_NEAR(sum.imag(), 0.0, 1e-12) << power;
    }
}

TEST(Orbit, OfTheWoodpeckerDoesNotDependOnTheTolerance) {
    Options options;
    options.settle = 2;
    const Orbit fine = find_orbit(shipped("woodpecker"), options);
    options.method.rtol = 1e-10;
    options.method.atol = 1e-12;
    const Orbit coarse = find_orbit(shipped("woodpecker"), options);
    ASSERT_EQ(fine.status, Status::converged) << fine.reason;
    ASSERT_EQ(coarse.status, Status::converged) << coarse.reason;
    EXPECT_NEAR(coarse.period / fine.period, 1.0, 1e-10);
    EXPECT_NEAR(coarse.drift[0].second / fine.drift[0].second, 1.0, 1e-9);
}

/// Van der Pol's oscillator with ε = 1.
TEST(Orbit, OfAnAutonomousSystemHasItsPeriodAndATrivialMultiplier) {
    const model::Model m = of_text(
        "[system]\nq = [\"x\"]\nT = \"x'^2/2\"\nU = \"x^2/2\"\nf = { x = \"(1 - x^2)*x'\" }\n"
        "[initial]\nq = { x = 1 }\n");
    for (const char* const section : {"x", ""}) {
        Options options;
        options.section = section;
        options.settle = 40;
        const Orbit o = find_orbit(m, options);
        ASSERT_EQ(o.status, Status::converged) << o.reason;
        EXPECT_NEAR(o.period, 6.6632868593231, 1e-10);
        ASSERT_TRUE(o.trivial_error.has_value());
        EXPECT_LT(*o.trivial_error, 1e-10);
        EXPECT_NEAR(o.multipliers[1].real(), 0.000859695063, 1e-10);
        EXPECT_EQ(o.stability, Stability::stable);
    }
}

/// x'' = k² x + cos t has the orbit x = −cos t/(1 + k²) with the multipliers exp(±2πk): 8e10 and 1e-11 for k = 4.
/// Rounding of the start alone makes the end of one period wrong by 1e-5, so that one shooting interval does not close.
TEST(Orbit, ThatIsStronglyUnstableIsFoundInParts) {
    const double k = 4.0;
    const model::Model m = of_text(
        "[system]\nq = [\"x\"]\nT = \"x'^2/2\"\nU = \"-8*x^2\"\nf = { x = \"cos(t)\" }\n[initial]\nq = { x = 0.1 }\n");
    Options options;
    options.period = 2 * pi;
    const Orbit o = find_orbit(m, options);
    ASSERT_EQ(o.status, Status::converged) << o.reason;
    EXPECT_GT(o.parts.size(), 4U);
    EXPECT_LT(o.residual, 1e-12);
    EXPECT_NEAR(o.state.q[0], -1 / (1 + k * k), 1e-13);
    EXPECT_NEAR(o.state.u[0], 0.0, 1e-13);
    EXPECT_NEAR(o.motion.right(pi).q[0], 1 / (1 + k * k), 1e-12);
    ASSERT_EQ(o.multipliers.size(), 2U);
    EXPECT_NEAR(o.multipliers[0].real() / std::exp(2 * pi * k), 1.0, 1e-10);
    EXPECT_NEAR(o.multipliers[1].real() / std::exp(-2 * pi * k), 1.0, 1e-8);
    EXPECT_EQ(o.stability, Stability::unstable);
    EXPECT_EQ(o.unstable_count, 1);
    // A period in which the force does not repeat is refused in parts, too.
    options.period = 6.0;
    EXPECT_EQ(find_orbit(m, options).status, Status::no_orbit);
}

/// x'' = k² x − c + A cos t above a stop at x = 0: the ball is thrown towards the saddle at c/k² and falls back. With
/// P = c/k² − a cos t, a = A/(1 + k²) and the time τ since the impact at t = φ,
///     x = P − P₀ (e^{kτ} + e^{k(2π−τ)})/(1 + e^{2πk}),
/// where P₀ = P(φ), and Newton's law is a (1 + e) sin φ = −(1 − e) k P₀ tanh(πk). Disturbances grow by e^{2πk} = 1.5e8.
TEST(Orbit, ThatIsStronglyUnstableMayHaveImpacts) {
    const double k = 3.0, e = 0.8, c = 18.0, a = 1.0;
    // a (1 + e) sin φ + q (c/k² − a cos φ) = 0 is R cos(φ − ψ) = q c/k².
    const double q = (1 - e) * k * std::tanh(pi * k);
    const double psi = std::atan2(-(1 + e) * a, q * a);
    const double phase = psi - std::acos(q * c / (k * k) / std::hypot((1 + e) * a, q * a)) + 2 * pi;
    const double P0 = c / (k * k) - a * std::cos(phase), E = std::exp(2 * pi * k);
    const auto exact = [&](double t) {
        const double since = t < phase ? t + 2 * pi - phase : t - phase;
        const double grows = std::exp(k * since) / (1 + E), falls = std::exp(k * (2 * pi - since)) / (1 + E);
        return std::pair{c / (k * k) - a * std::cos(t) - P0 * (grows + falls),
                         a * std::sin(t) - k * P0 * (grows - falls)};
    };
    const model::Model m = of_text(
        "[system]\nq = [\"x\"]\nT = \"x'^2/2\"\nU = \"-4.5*x^2\"\nf = { x = \"-18 + 10*cos(t)\" }\n"
        "[[contact]]\nname = \"stop\"\ngN = \"x\"\neN = 0.8\n[initial]\nq = { x = 1 }\n");
    Options options;
    options.period = 2 * pi;
    const auto [x, v] = exact(0.0);
    options.guess = trajectory::State{0.0, {x + 1e-6}, {v}};
    const Orbit o = find_orbit(m, options);
    ASSERT_EQ(o.status, Status::converged) << o.reason;
    EXPECT_GT(o.parts.size(), 2U);
    EXPECT_LT(o.residual, 1e-12);
    EXPECT_NEAR(o.state.q[0], x, 1e-11);
    EXPECT_NEAR(o.state.u[0], v, 1e-11);
    EXPECT_NEAR(o.phase, phase, 1e-10);
    // The flow keeps areas, and the impact multiplies them by e².
    EXPECT_NEAR((o.multipliers[0] * o.multipliers[1]).real(), e * e, 1e-6);
    // The stop carries the mean of all forces.
    const Averages average = averages_of(m, options, o);
    EXPECT_NEAR(average.elements.at(0).impulse, (1 + e) * std::abs(exact(phase - 1e-12).second), 1e-6);
}

/// x'' + c x' + x = F cos t with a stop at x = 1 just before grazing at F = c. With the time τ since the impact at t =
/// φ, x = (F/c) sin t + h(τ), and h solves the equation without force with h(0) = h(T) = 1 − (F/c) sin φ =: a. So h = a
/// k(τ) with a known k, and Newton's law (F/c)(1 + e) cos φ = −a (k'(0) + e k'(T)) has two solutions φ: two orbits.
/// That of the slow impact is strongly unstable, because the derivative of its impact contains 1/γ.
TEST(Orbit, NearGrazingIsFoundFromItsOwnGuess) {
    const double c = 0.1, e = 0.8, T = 2 * pi, w = std::sqrt(1 - c * c / 4);
    const double decay = std::exp(-c / 2 * T), cosine = std::cos(w * T), sine = std::sin(w * T);
    const double b = (1 / decay - cosine) / sine;  // k = exp(−cτ/2) (cos wτ + b sin wτ), k(T) = 1
    const auto k = [&](double t) { return std::exp(-c / 2 * t) * (std::cos(w * t) + b * std::sin(w * t)); };
    const auto rate = [&](double t) {
        return -c / 2 * k(t) + w * std::exp(-c / 2 * t) * (b * std::cos(w * t) - std::sin(w * t));
    };
    const double K = rate(0.0) + e * rate(T);
    for (const std::string force : {"0.09999", "0.099999", "0.0999999"}) {
        const double F = std::stod(force), G = F / c;
        // G (1 + e) cos φ − G K sin φ = −K is G R cos(φ + ψ) = −K.
        const double R = std::hypot(1 + e, K), psi = std::atan2(K, 1 + e);
        double phase = 0.0, slowest = 1e9;
        for (const double sign : {1.0, -1.0}) {
            const double phi = sign * std::acos(-K / (G * R)) - psi;
            const double closing = G * std::cos(phi) + (1 - G * std::sin(phi)) * rate(T);
            if (closing > 0 && closing < slowest) slowest = closing, phase = phi;
        }
        phase = std::fmod(phase + 2 * T, T);
        const double since = T - phase, a = 1 - G * std::sin(phase);
        const double x = a * k(since), v = G + a * rate(since);
        ASSERT_LT(slowest, 0.05);
        model::BuildOptions build;
        build.set = {{"c", "0.1"}, {"w", "1"}, {"s", "1"}, {"F0", force}};
        Options options;
        options.period = T;
        options.guess = trajectory::State{0.0, {x}, {v * (1 + 0.01 * slowest)}};
        const Orbit o = find_orbit(shipped("impact-oscillator", build), options);
        ASSERT_EQ(o.status, Status::converged) << F << " " << o.reason;
        ASSERT_EQ(o.motion.events.size(), 1U) << F;
        EXPECT_NEAR(o.phase, phase, 1e-8) << F;
        EXPECT_NEAR(o.motion.events[0].u_minus[0], slowest, 1e-8) << F;
        EXPECT_GT(o.multipliers[0].real(), 10.0) << F;
        // Derivatives have ten digits, so that the product is known to 1e-10 times the large multiplier.
        EXPECT_NEAR((o.multipliers[0] * o.multipliers[1]).real(), e * e * std::exp(-c * T),
                    1e-10 * o.multipliers[0].real())
            << F;
    }
}

/// The curve of the ball on the table is closed, and has both sides of its impact.
TEST(Orbit, AsACurveIsClosedAndHasBothSidesOfItsImpacts) {
    Options options;
    options.period = 0.1;
    options.settle = 2;
    const Orbit o = find_orbit(shipped("ball-on-moving-plane"), options);
    ASSERT_EQ(o.status, Status::converged) << o.reason;
    const OrbitCurve c = curve_of(o.motion, 50);
    ASSERT_EQ(c.t.size(), 53U);
    ASSERT_EQ(c.events.size(), 1U);
    const std::size_t after = c.events[0].index;
    EXPECT_EQ(c.events[0].kind, "impact");
    EXPECT_EQ(c.events[0].elements, std::vector<std::string>{"table"});
    EXPECT_EQ(c.t[after], c.t[after - 1]);
    EXPECT_EQ(c.x[after][0], c.x[after - 1][0]);
    EXPECT_LT(c.x[after - 1][1], c.x[after][1]);
    for (std::size_t i = 0; i < 2; ++i) EXPECT_NEAR(c.x.front()[i], c.x.back()[i], 1e-12);
    EXPECT_TRUE(std::is_sorted(c.t.begin(), c.t.end()));
}

/// What the elements take out and bring in is what the balance of the whole model says. Over a period T + U of the
/// oscillator on a belt returns, so that both are equal.
TEST(Orbit, HasTheEnergiesOfEachElement) {
    struct Case {
        std::string model;
        double settle;
    };
    for (const Case& c : {Case{"woodpecker", 2}, Case{"friction-oscillator", 60}}) {
        const model::Model m = shipped(c.model);
        Options options;
        options.settle = c.settle;
        const Orbit o = find_orbit(m, options);
        ASSERT_EQ(o.status, Status::converged) << o.reason;
        const Averages a = averages_of(m, options, o);
        double dissipated = 0.0, supplied = 0.0;
        for (const ElementAverage& e : a.elements) dissipated += e.dissipated, supplied += e.supplied;
        const trajectory::LyapunovBalance& b = a.energy;
        const double taken =
            b.friction.back() + b.springs.back() + b.impact_friction.back() + b.impact_restitution.back();
        EXPECT_GT(taken, 0.0);
        EXPECT_NEAR(dissipated, taken, 1e-9 * taken) << c.model;
        EXPECT_NEAR(supplied, b.driven.back(), 1e-9 * taken) << c.model;
        if (c.model != "woodpecker") {
            EXPECT_NEAR(dissipated + b.damping.back(), supplied + b.applied.back(), 1e-8);
        }
    }
}

TEST(Orbit, OfTheWoodpeckerDriftsDownThePole) {
    Options options;
    options.settle = 2;
    const Orbit o = find_orbit(shipped("woodpecker"), options);
    ASSERT_EQ(o.status, Status::converged) << o.reason;
    // The largest multiplier is −0.84: two periods lead nearer to an earlier state than one.
    EXPECT_NEAR(o.period, 0.145976065143752, 1e-13);
    ASSERT_EQ(o.drift.size(), 1U);
    EXPECT_EQ(o.drift[0].first, "y");
    EXPECT_LT(o.drift[0].second, 0.0);
    EXPECT_EQ(o.stability, Stability::stable);
    EXPECT_LT(*o.trivial_error, 1e-9);
    EXPECT_EQ(o.remarks.size(), 1U);  // about the drift; all multipliers are known
    // One more period of the motion is the same one.
    EXPECT_LT(o.residual, 1e-11);
}

/// The walker falls on this slope. Every motion closes after no time, and Newton's method led to a period of 9e-16 s.
TEST(Orbit, IsNotClaimedForAPeriodThatShrinksToZero) {
    model::BuildOptions build;
    build.set = {{"gamma", "0.05"}};
    Options options;
    options.settle = 20;
    const Orbit o = find_orbit(shipped("simplest-walker", build), options);
    EXPECT_TRUE(o.status == Status::no_orbit || o.period > 0.1) << o.period;
}

/// The long gait of the simplest walker on another slope, against an extrapolation method with 25 digits. From the
/// scaled start of the slope 0.009 the last return within 20 s is no good guess, and the first one is.
TEST(Orbit, OfTheSimplestWalkerOnOtherSlopesAgreesWithAnotherMethod) {
    model::BuildOptions build;
    build.set = {{"gamma", "0.0113"}, {"theta0", "0.21609757570904928"}, {"omega0", "-0.2155814428820654"}};
    for (const double settle : {0.0, 40.0}) {
        Options options;
        options.settle = settle;
        const Orbit o = find_orbit(shipped("simplest-walker", build), options);
        ASSERT_EQ(o.status, Status::converged) << settle << " " << o.reason;
        EXPECT_NEAR(o.period, 3.894331952996472, 2e-11) << settle;
        EXPECT_EQ(o.motion.events.size(), 1U) << settle;
        // The heel strike takes out what the forces bring in on the slope.
        const Averages average = averages_of(shipped("simplest-walker", build), options, o);
        ASSERT_EQ(average.jumps.size(), 1U);
        EXPECT_EQ(average.jumps[0].name, "heel strike");
        EXPECT_EQ(average.jumps[0].count, 1);
        EXPECT_EQ(average.jumps[0].supplied, 0.0);
        EXPECT_GT(average.jumps[0].dissipated, 1e-3);
        EXPECT_NEAR(average.jumps[0].dissipated, average.energy.applied.back(), 1e-12);
    }
}

/// The motion approaches the orbit in turns from two sides, and comes nearer to an earlier state after two periods.
TEST(Orbit, OfAnAutonomousSystemIsPassedOnce) {
    // A point runs from 0 to 1 and jumps back, with the new speed 1.9 − 0.9 x'.
    const model::Model m = of_text(
        "[system]\nq = [\"x\"]\nT = \"x'^2/2\"\n[[jump]]\nname = \"strike\"\nwhen = \"x - 1\"\ndirection = \"up\"\n"
        "q = { x = \"0\" }\nu = { x = \"1.9 - 0.9*x'\" }\n[initial]\nu = { x = 1.1 }\n");
    Options options;
    options.settle = 40;
    const Orbit o = find_orbit(m, options);
    ASSERT_EQ(o.status, Status::converged) << o.reason;
    EXPECT_NEAR(o.period, 1.0, 1e-12);
    EXPECT_EQ(o.motion.events.size(), 1U);
}

TEST(Orbit, IsNotClaimedWhereTheMotionComesToRest) {
    // Without settling, the motion of the length that the model file suggests is looked at.
    for (const double settle : {10.0, 0.0}) {
        Options options;
        options.settle = settle;
        const Orbit o = find_orbit(shipped("bouncing-ball"), options);
        EXPECT_EQ(o.status, Status::rests) << settle << " " << o.reason;
        EXPECT_NE(o.reason.find("at y = 0"), std::string::npos) << o.reason;
    }
}

/// A particle that moves towards a wall is not a periodic motion with a drift.
TEST(Orbit, DoesNotTakeADriftTowardsAWallForAPeriod) {
    const model::Model m = of_text(
        "[system]\nq = [\"x\"]\nT = \"x'^2/2\"\nf = { x = \"0*t\" }\n[[contact]]\nname = \"wall\"\n"
        "gN = \"3 - x\"\neN = 0.5\n[initial]\nu = { x = 1 }\n");
    Options options;
    options.period = 1.0;
    const Orbit o = find_orbit(m, options);
    EXPECT_TRUE(o.drift.empty());
    EXPECT_TRUE(o.status == Status::no_orbit || o.state.u[0] == 0.0);
}

/// The wall is a hundred periods away.
TEST(Orbit, DoesNotTakeADriftTowardsAFarWallForAPeriod) {
    const model::Model m = of_text(
        "[system]\nq = [\"x\"]\nT = \"x'^2/2\"\n[[contact]]\nname = \"wall\"\n"
        "gN = \"10 - x\"\neN = 0.5\n[initial]\nu = { x = 1 }\n");
    Options options;
    options.period = 0.1;
    EXPECT_TRUE(find_orbit(m, options).drift.empty());
}

/// Over 3 s the map of an oscillator with the period 2π has a fixed point, but its motion does not repeat.
TEST(Orbit, IsNotClaimedForAPeriodThatTheExcitationDoesNotHave) {
    Options options;
    options.period = 3.0;
    for (const double A : {0.05, 1.0}) {
        const Orbit o = find_orbit(of_text(stopped_oscillator(A)), options);
        EXPECT_EQ(o.status, Status::no_orbit) << A;
        EXPECT_FALSE(o.reason.empty());
    }
}

TEST(Orbit, RefusesOptionsThatDoNotFit) {
    EXPECT_THROW(find_orbit(shipped("ball-on-moving-plane"), {}), Error);
    Options both;
    both.period = 1.0;
    both.section = "x";
    EXPECT_THROW(find_orbit(shipped("bouncing-ball"), both), Error);
}

std::string ball(const std::string& height, const std::string& e) {
    return "[system]\nq = [\"y\"]\nT = \"y'^2/2\"\nU = \"9.81*y\"\n[[contact]]\nname = \"floor\"\ngN = \"y\"\neN = " +
           e + "\n[initial]\nq = { y = " + height + " }\n";
}

TEST(Orbit, OfABallThatLiesOnTheFloorIsAStateOfRest) {
    Options options;
    options.settle = 5;
    for (const std::string height : {"0", "1"}) {
        const Orbit o = find_orbit(of_text(ball(height, "0.5")), options);
        EXPECT_EQ(o.status, Status::rests) << height << " " << o.reason;
        EXPECT_NE(o.reason.find("at y = 0"), std::string::npos) << o.reason;
    }
}

// The velocity of a ball passes zero at the top, downwards; impacts make it jump upwards.
TEST(Orbit, WhoseSectionIsOnlyPassedDownwardsSaysSo) {
    Options options;
    options.settle = 5;
    options.section = "y'";
    const model::Model m = of_text(ball("1", "1"));
    const Orbit o = find_orbit(m, options);
    EXPECT_EQ(o.status, Status::no_orbit);
    EXPECT_NE(o.reason.find("0 times upwards"), std::string::npos) << o.reason;
    EXPECT_NE(o.reason.find("downwards"), std::string::npos) << o.reason;
    options.section = "-y'";
    const Orbit other = find_orbit(m, options);
    ASSERT_EQ(other.status, Status::converged) << other.reason;
    EXPECT_NEAR(other.period, 2 * std::sqrt(2 / 9.81), 1e-9);
}

TEST(Orbit, ThatNeedsMorePassagesCountsThemInWords) {
    Options options;
    options.settle = 5;
    options.section = "x";
    const Orbit o = find_orbit(of_text("[system]\nq = [\"x\"]\nT = \"x'^2/2\"\nU = \"0\"\n[initial]\nq = { x = -6 }\n"
                                       "u = { x = 1 }\n"),
                               options);
    EXPECT_EQ(o.status, Status::no_orbit);
    EXPECT_NE(o.reason.find("once upwards"), std::string::npos) << o.reason;
}

/// A rotating pendulum on a very weak spring does not return. A step of Newton's method asks for a period that is
/// longer than the guess by many orders of magnitude; a motion over that time would fill the memory.
TEST(Orbit, DoesNotFollowPeriodsThatGrowWithoutBound) {
    const model::Model m = of_text(
        "[system]\nq = [\"x\"]\nT = \"x'^2/2\"\nU = \"5.305*cos(x) + 1e-6*x^2\"\n"
        "[initial]\nq = { x = -0.132 }\nu = { x = 2 }\n");
    Options options;
    options.settle = 30;
    EXPECT_EQ(find_orbit(m, options).status, Status::no_orbit);
}

// A pendulum whose support is shaken has a state of rest, which is an orbit of the period of the excitation.
TEST(Orbit, WithoutAmplitudeIsCalledAStateOfRest) {
    Options options;
    options.period = 2 * pi / 5;
    options.guess = trajectory::State{0.0, {1e-3}, {0.0}};
    const Orbit o = find_orbit(of_text("[system]\nq = [\"th\"]\nT = \"th'^2/2\"\nU = \"-(9.81 + cos(5*t))*cos(th)\"\n"
                                       "R = \"0.05*th'^2\"\n"),
                               options);
    ASSERT_EQ(o.status, Status::converged) << o.reason;
    ASSERT_FALSE(o.remarks.empty());
    EXPECT_NE(o.remarks[0].find("state of rest"), std::string::npos) << o.remarks[0];
    EXPECT_EQ(o.multipliers.size(), 2U);
    const double product = std::abs(o.multipliers[0] * o.multipliers[1]);
    EXPECT_NEAR(product, std::exp(-0.1 * 2 * pi / 5), 1e-10);
}

// A damped oscillation dies out. Its returns lead Newton's method to the equilibrium, which has no period.
TEST(Orbit, OfADampedOscillatorIsAStateOfRest) {
    Options options;
    options.settle = 40;
    options.section = "x";
    const Orbit o = find_orbit(of_text("[system]\nq = [\"x\"]\nT = \"x'^2/2\"\nU = \"x^2/2\"\nR = \"0.1*x'^2\"\n"
                                       "[initial]\nq = { x = 1 }\n"),
                               options);
    EXPECT_EQ(o.status, Status::rests) << to_string(o.status);
    EXPECT_NE(o.reason.find("state of rest"), std::string::npos) << o.reason;
}

}  // namespace
}  // namespace saltus::orbit::orbit_test
