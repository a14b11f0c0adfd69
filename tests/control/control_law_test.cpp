// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cmath>

#include "physics/motion.hpp"
#include "saltus/control/regulation/regulation.hpp"
#include "saltus/integrate/outputs.hpp"
#include "saltus/model/support.hpp"
#include "support.hpp"

namespace saltus::control_law_test {
namespace {

using namespace saltus::test;

// Laws beyond regulation: a reference that moves, and an actuator that saturates.

constexpr double I = 0.045216;

TEST(Tracking, ErrorOfTheFreeArmObeysTheHomogeneousEquation) {
    // With the feedforward I r″ the error obeys I e″ + Kv e′ + Kp e = 0; e(0) = −0.2, e′(0) = 0.
    const Model arm = shipped("tracking-arm");
    const Trajectory motion = motion_of(arm, 6.0);
    const double d = 0.6 / (2.0 * I), w = std::sqrt(5.0 / I - d * d);
    for (const double t : {0.1, 0.4, 0.9, 1.2}) {
        const double error = -0.2 * std::exp(-d * t) * (std::cos(w * t) + d / w * std::sin(w * t));
        EXPECT_NEAR(motion.right(t).q[0], 0.8 + 0.4 * std::cos(2.0 * t) + error, 1e-9);
    }
    // The closed form reaches the obstacle at this time, and the contact force Kp (q0 − r) − Kv r′ − I r″ vanishes at
    // the other one: roots of both expressions by bisection.
    EXPECT_NEAR(events_of(motion, EventKind::impact)[0].t, 1.209584025272882, 1e-9);
    const std::vector<Event> away = events_of(motion, EventKind::lift_off);
    ASSERT_FALSE(away.empty()) << story(motion);
    EXPECT_NEAR(away[0].t, 1.806276519706082, 1e-8);
}

TEST(Tracking, ErrorClosesInFreeMotionAndNotWhileTheObstacleHoldsTheArm) {
    const Model arm = shipped("tracking-arm");
    const Trajectory motion = motion_of(arm, 6.0);
    const trajectory::MotionSummary summary = integrate::summarise(arm, motion);
    ASSERT_EQ(summary.tracking.size(), 1U);
    const trajectory::Tracking& q = summary.tracking[0];
    EXPECT_EQ(q.coordinate, "q");
    // At the turning point the reference is 0.1 behind the obstacle; the start has the larger error 0.2.
    EXPECT_NEAR(q.largest, 0.2, 1e-9);
    ASSERT_GE(q.stretches.size(), 3U);
    EXPECT_TRUE(q.stretches.front().closes) << q.stretches.front().left << " of " << q.stretches.front().largest;
    // The stretch that begins with the accumulation holds the arm, releases it and lets the error die out.
    const double held = events_of(motion, EventKind::accumulation)[0].t;
    const auto after = std::find_if(q.stretches.begin(), q.stretches.end(),
                                    [&](const trajectory::TrackingStretch& s) { return s.from == held; });
    ASSERT_NE(after, q.stretches.end());
    EXPECT_NEAR(after->largest, 0.1, 1e-6);
    EXPECT_TRUE(after->closes);
    const auto bounces = std::count_if(q.stretches.begin(), q.stretches.end(),
                                       [](const trajectory::TrackingStretch& s) { return !s.closes; });
    EXPECT_GT(bounces, 0) << "between the bounces there is no time for it";
}

TEST(Tracking, WithoutFeedforwardTheErrorHasItsForcedAmplitude) {
    // I e″ + Kv e′ + Kp e = −I r″ = I A w² cos(w t): |e| = I A w²/√((Kp − I w²)² + (Kv w)²) when the start is
    // forgotten.
    model::Description d = description_of("tracking-arm");
    d.control->feedforward.clear();
    const Model arm = built(d, {{"q0", -3.0}});
    const Trajectory motion = motion_of(arm, 20.0);
    double largest = 0.0;
    for (int k = 0; k <= 4000; ++k) {
        const State s = motion.right(16.0 + k * 1e-3);
        largest = std::max(largest, std::abs(s.q[0] - 0.8 - 0.4 * std::cos(2.0 * s.t)));
    }
    const double forced = I * 0.4 * 4.0 / std::hypot(5.0 - I * 4.0, 0.6 * 2.0);
    EXPECT_NEAR(largest, forced, 1e-6);
}

TEST(Tracking, IsNotTreatedByTheCertificateOfRegulation) {
    const Model arm = shipped("tracking-arm");
    const control::RegulationCertificate c = control::certify_regulation(arm);
    EXPECT_EQ(c.table.conditions[0].id, "law");
    EXPECT_EQ(c.table.conditions[0].verdict, proof::Verdict::fails);
    EXPECT_NE(c.table.conditions[0].evidence.find("depend on the time"), std::string::npos)
        << c.table.conditions[0].evidence;
    EXPECT_EQ(c.rigid, control::Scope::inconclusive);
}

TEST(MovedPotential, PowerOfWhateverMovesItIsPartOfTheBalance) {
    // A mass on a spring whose other end moves like sin t: x″ = −k (x − sin t). motion_of checks that the balance
    // closes.
    const Model model = from_text("[system]\nq = [\"x\"]\nT = \"x'^2/2\"\nU = \"5*(x - sin(t))^2\"\n");
    const Trajectory motion = motion_of(model, 3.0);
    const double k = 10.0, w = std::sqrt(k), A = k / (k - 1.0);
    EXPECT_NEAR(motion.end.q[0], A * std::sin(3.0) - A / w * std::sin(w * 3.0), 1e-9);
    // Work of the hand that moves the end: ∫ −k (x − sin t) cos t dt = change of T + U.
    double work = 0.0;
    constexpr int n = 30000;
    for (int i = 0; i < n; ++i) {
        const double t = 3.0 * (i + 0.5) / n;
        work -= 3.0 / n * k * (motion.right(t).q[0] - std::sin(t)) * std::cos(t);
    }
    EXPECT_NEAR(motion.energy.final - motion.energy.initial, work, 1e-6);
}

// What Theorem 5 says about the arm, as numbers.

double value(const control::RegulationCertificate& c, const std::string& name) {
    for (const auto& [known, number] : c.table.values)
        if (known == name) return number;
    throw std::logic_error("no value " + name);
}

TEST(RegulationNumbers, DeltaOfTheoremFiveKeepsMotionsWithinEpsilon) {
    const Model arm = shipped("single-link-arm");
    const control::RegulationCertificate c = control::certify_regulation(arm);
    // a = growth = Kp = 1, b = B = I, slope = Kp q0 = 0.5: the positive root of 0.5 δ + (1 + I)/2 δ² = I/2 ε².
    for (const double epsilon : {1.0, 0.1, 0.01}) {
        const double delta = value(c, "delta for epsilon " + number_text(epsilon));
        EXPECT_NEAR(0.5 * delta + 0.5 * (1.0 + I) * delta * delta, 0.5 * I * epsilon * epsilon, 1e-12 * epsilon);
        for (const double v : {-1.0, 1.0}) {
            const State start{0.0, {0.5 + 0.999 * delta}, {0.999 * v * delta}};
            const Trajectory motion = motion_of(arm, 1.0, EventDriven{}, start);
            for (int k = 0; k <= 1000; ++k) {
                const State s = motion.right(k * 1e-3);
                ASSERT_LT(std::abs(s.q[0] - 0.5), epsilon);
                ASSERT_LT(std::abs(s.u[0]), epsilon);
            }
        }
    }
}

TEST(RegulationNumbers, FixedPointsHaveTheRootsOfTheGaps) {  // Remark 2
    const control::RegulationCertificate c = control::certify_regulation(shipped("single-link-arm"));
    EXPECT_NEAR(value(c, "gamma lower"), 0.0, 1e-7);
    EXPECT_NEAR(value(c, "gamma upper"), std::sqrt(2.0 * 3.14159265358979), 1e-12);
}

// --- output feedback

/// The arm with the filter in its usual form, ξ′ = b (q − ξ), by the classical Runge–Kutta method with small steps.
/// Impacts on q0 are found by bisection of a step. Independent of the model's equations for the filter.
struct FilteredArm {
    double q = 1.0, v = 0.0, xi = 1.0, t = 0.0;
    std::vector<double> impacts;

    static constexpr double Kp = 1.0, Kv = 0.1, b = 20.0, q0 = 0.5, e = 0.5;
    static std::array<double, 3> rate(const std::array<double, 3>& x) {
        return {x[1], (-Kp * x[0] - Kv * b * (x[0] - x[2])) / I, b * (x[0] - x[2])};
    }
    static std::array<double, 3> step(const std::array<double, 3>& x, double h) {
        const auto add = [](const std::array<double, 3>& a, double s, const std::array<double, 3>& k) {
            return std::array{a[0] + s * k[0], a[1] + s * k[1], a[2] + s * k[2]};
        };
        const auto k1 = rate(x), k2 = rate(add(x, h / 2, k1)), k3 = rate(add(x, h / 2, k2)), k4 = rate(add(x, h, k3));
        return {x[0] + h / 6 * (k1[0] + 2 * k2[0] + 2 * k3[0] + k4[0]),
                x[1] + h / 6 * (k1[1] + 2 * k2[1] + 2 * k3[1] + k4[1]),
                x[2] + h / 6 * (k1[2] + 2 * k2[2] + 2 * k3[2] + k4[2])};
    }
    void run(double until) {
        while (until - t > 1e-15) {
            double h = std::min(1e-4, until - t);
            const std::array x{q, v, xi};
            if (step(x, h)[0] < q0) {
                double low = 0.0, high = h;
                for (int k = 0; k < 60; ++k) (step(x, 0.5 * (low + high))[0] < q0 ? high : low) = 0.5 * (low + high);
                const auto hit = step(x, high);
                q = q0, v = -e * hit[1], xi = hit[2], t += high;
                impacts.push_back(t);
                continue;
            }
            const auto next = step(x, h);
            q = next[0], v = next[1], xi = next[2], t += h;
        }
    }
};

TEST(OutputFeedback, EstimatesTheVelocityThroughImpacts) {
    const Model arm = shipped("output-feedback-arm");
    ASSERT_EQ(arm.coordinates, (std::vector<std::string>{"q", "q_filter"}));
    const Trajectory motion = motion_of(arm, 0.6);
    FilteredArm other;
    other.run(0.6);
    const std::vector<Event> impacts = events_of(motion, EventKind::impact);
    ASSERT_GE(other.impacts.size(), 2U);
    ASSERT_GE(impacts.size(), other.impacts.size());
    EXPECT_NEAR(impacts[0].t, other.impacts[0], 1e-9);
    EXPECT_NEAR(impacts[1].t, other.impacts[1], 1e-8);
    EXPECT_EQ(impacts[0].u_minus[1], impacts[0].u_plus[1]) << "the filter does not jump";
    FilteredArm before;
    before.run(0.2);
    const State s = motion.right(0.2);
    EXPECT_NEAR(s.q[0], before.q, 1e-9);
    EXPECT_NEAR(s.u[1], before.xi - before.q, 1e-9) << "w' = xi - q";
    const auto outputs = integrate::summarise(arm, motion).outputs;
    EXPECT_EQ(outputs[0].name, "estimate");
}

TEST(OutputFeedback, EnergyOfTheLoopFallsByTheDampingOfTheEstimate) {
    // dV/dt = −Kv v² with the estimate v = −b w′, and impacts do not raise V.
    const Model arm = shipped("output-feedback-arm");
    const Trajectory motion = motion_of(arm, 0.3);
    const auto energy = [](const State& s) {
        return 0.5 * I * s.u[0] * s.u[0] + 0.5 * s.q[0] * s.q[0] + 0.5 * 0.1 * 20.0 * s.u[1] * s.u[1];
    };
    const double t = 0.15, h = 1e-5;
    const State s = motion.right(t);
    EXPECT_NEAR((energy(motion.right(t + h)) - energy(motion.right(t - h))) / (2 * h), -0.1 * 400.0 * s.u[1] * s.u[1],
                1e-6);
    EXPECT_NEAR(motion.energy.initial, energy(motion.start), 1e-12);
    const Trajectory longer = motion_of(arm, 6.0);
    EXPECT_NEAR(longer.end.q[0], 0.5, 1e-9);
    EXPECT_NEAR(longer.forces[0].N, 0.5, 1e-6) << "Kp q0";
}

TEST(OutputFeedback, TendsToMeasuredVelocitiesAsTheBandwidthGrows) {
    double last = 1.0;
    const Trajectory measured = motion_of(shipped("single-link-arm", {{"q0", -3.0}}), 1.0);
    for (const double b : {50.0, 100.0, 200.0}) {
        const Trajectory motion = motion_of(shipped("output-feedback-arm", {{"b", b}, {"q0", -3.0}}), 1.0);
        const double distance = std::abs(motion.end.q[0] - measured.end.q[0]);
        EXPECT_LT(distance, 0.6 * last) << b;
        last = distance;
    }
}

TEST(OutputFeedback, RefusesWhatItCannotEstimate) {
    const auto refusal = [](const auto& change) {
        return refusal_of([&] {
            model::Description d = description_of("output-feedback-arm");
            change(*d.control);
            model::build(d, {});
        });
    };
    EXPECT_NE(refusal([](auto& c) { c.bandwidth = {}; }).find("has no bandwidth"), std::string::npos);
    EXPECT_NE(refusal([](auto& c) { c.bandwidth = "-1"; }).find("must be > 0"), std::string::npos);
    EXPECT_NE(refusal([](auto& c) { c.Kv = {}; }).find("needs a Kv > 0"), std::string::npos);
    EXPECT_NE(refusal([](auto& c) { c.velocity.word = "guessed"; }).find("allowed are"), std::string::npos);
    EXPECT_NE(refusal([](auto& c) { c.velocity.word = "measured"; }).find("belongs to"), std::string::npos);
    EXPECT_NE(model::unsupported(shipped("output-feedback-arm"), model::Analysis::regulation).find("estimated"),
              std::string::npos);
}

// --- saturation

TEST(Saturation, CutsTheForceUntilTheLinearLawIsBelowIt) {
    // Kv = 0: constant force u_max from q = 1 until Kp q = u_max, then a harmonic motion until the obstacle.
    const Model arm = shipped("saturated-arm", {{"Kv", 0.0}});
    const Trajectory motion = motion_of(arm, 1.0);
    const double u = 0.6, t1 = std::sqrt(2.0 * I * (1.0 - u) / u), v1 = -u / I * t1, w = std::sqrt(1.0 / I);
    for (const double t : {0.1, 0.2, t1}) EXPECT_NEAR(motion.right(t).q[0], 1.0 - 0.5 * u / I * t * t, 1e-9) << t;
    for (const double s : {0.01, 0.025})
        EXPECT_NEAR(motion.right(t1 + s).q[0], 0.6 * std::cos(w * s) + v1 / w * std::sin(w * s), 1e-9) << s;
    EXPECT_NEAR(events_of(motion, EventKind::impact)[0].t, 0.2746010128818971, 1e-9) << "0.6 cos + v1/w sin = 0.5";
    const auto outputs = integrate::summarise(arm, motion).outputs;
    EXPECT_NEAR(outputs[0].lowest, -0.6, 1e-12);
}

TEST(Saturation, DoesNotChangeALoopThatStaysBelowTheLimit) {
    const Trajectory wide = motion_of(shipped("saturated-arm", {{"u_max", 100.0}}), 2.0);
    const Trajectory linear = motion_of(shipped("single-link-arm", {{"e", 0.5}}), 2.0);
    EXPECT_NEAR(wide.events[0].t, linear.events[0].t, 1e-9);
    EXPECT_NEAR(wide.end.q[0], linear.end.q[0], 1e-9);
}

TEST(Saturation, IsRefusedWithShapingAndByTheCertificateOfRegulation) {
    const Model arm = shipped("saturated-arm");
    EXPECT_NE(model::unsupported(arm, model::Analysis::regulation).find("saturation"), std::string::npos);
    const auto refusal = [](const auto& change) {
        return refusal_of([&] {
            model::Description d = description_of("saturated-arm");
            change(d);
            model::build(d, {});
        });
    };
    EXPECT_NE(refusal([](auto& d) { d.control->shaping = "q^2"; }).find("exclude each other"), std::string::npos);
    EXPECT_NE(refusal([](auto& d) { d.control->saturation = "-1"; }).find("must be > 0"), std::string::npos);
    EXPECT_NE(refusal([](auto& d) { d.control->saturation = "q"; }).find("parameters"), std::string::npos);
}

}  // namespace
}  // namespace saltus::control_law_test
