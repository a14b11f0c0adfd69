// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cmath>

#include "physics/motion.hpp"
#include "saltus/integrate/compare.hpp"
#include "saltus/integrate/resume.hpp"
#include "saltus/model/outputs.hpp"
#include "saltus/model/support.hpp"
#include "saltus/sensitivity/sensitivity.hpp"
#include "saltus/sensitivity/variables.hpp"
#include "support.hpp"

namespace saltus::sampled_control_test {
namespace {

using namespace saltus::test;

// A control that samples with a period and holds its force in between.

constexpr double I = 0.045216;

/// State of the free arm and the torque that is held from then on.
struct Sample {
    double q, u, torque;
};

/// The double integrator with a torque that is constant between samples:
/// q(t + T) = q + T u + T² F/(2 I), u(t + T) = u + T F/I.
std::vector<Sample> free_samples(double q, double u, double Kp, double Kv, double T, int count) {
    std::vector<Sample> list;
    for (int k = 0; k <= count; ++k) {
        const double F = -Kp * q - Kv * u;
        list.push_back({q, u, F});
        q += T * u + 0.5 * T * T * F / I;
        u += T * F / I;
    }
    return list;
}

TEST(SampledControl, FreeArmObeysTheRecursionOfAHeldTorque) {
    const double T = 0.02;
    const Model arm = shipped("sampled-arm", {{"q0", -3.0}});
    ASSERT_EQ(arm.coordinates, (std::vector<std::string>{"q", "q_hold"}));
    const Trajectory motion = motion_of(arm, 1.0);
    const std::vector<Sample> exact = free_samples(1.0, 0.0, 1.0, 0.1, T, 50);
    for (int k = 0; k < 50; ++k) {
        const State s = motion.right(k * T + 0.3 * T);
        const Sample& at = exact[static_cast<std::size_t>(k)];
        const double tau = s.t - k * T;
        EXPECT_NEAR(s.q[0], at.q + tau * at.u + 0.5 * tau * tau * at.torque / I, 1e-12) << k;
        EXPECT_NEAR(s.u[0], at.u + tau * at.torque / I, 1e-12) << k;
        EXPECT_NEAR(s.q[1], at.torque, 1e-12) << k;
        EXPECT_EQ(s.u[1], 0.0) << k;
    }
    const std::vector<Event> samples = events_of(motion, EventKind::switched);
    ASSERT_EQ(samples.size(), 50U) << "at 0, T, ..., 49 T";
    for (std::size_t k = 0; k < samples.size(); ++k) EXPECT_EQ(samples[k].t, static_cast<double>(k) * T);
}

TEST(SampledControl, TimeSteppingHoldsTheSameTorqueForStepsThatDoNotDivideThePeriod) {
    // The force is constant in each step, so that Moreau's method is exact in free motion: u is, and q to the error of
    // its mean velocity, which is zero for a constant force.
    const double T = 0.02;
    const Model arm = shipped("sampled-arm", {{"q0", -3.0}});
    const std::vector<Sample> exact = free_samples(1.0, 0.0, 1.0, 0.1, T, 50);
    for (const double h : {0.003, 0.02, 0.05}) {
        const Trajectory motion = motion_of(arm, 1.0, Moreau{.h = h});
        EXPECT_EQ(events_of(motion, EventKind::switched).size(), 50U) << h;
        EXPECT_NEAR(motion.end.q[0], exact[50].q, 1e-12) << h;
        EXPECT_NEAR(motion.end.u[0], exact[50].u, 1e-12) << h;
    }
    const Trajectory adaptive = motion_of(arm, 1.0, Moreau{.h = 0.007, .adaptive = true});
    EXPECT_NEAR(adaptive.end.q[0], exact[50].q, 1e-12);
}

TEST(SampledControl, LoopIsStableUpToThePeriodOfJurysTest) {
    // With a = Kp T²/(2 I), b = Kv T/I the recursion has the trace 2 − a − b and the determinant 1 + a − b. It is
    // stable if and only if a < b and b < 2: T < 2 Kv/Kp = 0.2 s here.
    const auto amplitude = [](double T) {
        const Trajectory motion = motion_of(shipped("sampled-arm", {{"q0", -1e3}, {"period", T}}), 60.0);
        double largest = 0.0;
        for (int k = 0; k <= 500; ++k) largest = std::max(largest, std::abs(motion.right(50.0 + 0.02 * k).q[0]));
        return largest;
    };
    EXPECT_LT(amplitude(0.19), 0.3);
    EXPECT_GT(amplitude(0.21), 3.0);
}

TEST(SampledControl, TendsToTheContinuousLawAsThePeriodShrinks) {
    const Trajectory continuous = motion_of(shipped("single-link-arm", {{"e", 0.5}}), 2.0);
    double last = 1.0;
    for (const double T : {0.02, 0.01, 0.005}) {
        const Trajectory motion = motion_of(shipped("sampled-arm", {{"period", T}}), 2.0);
        const double error = std::abs(events_of(motion, EventKind::impact)[0].t - continuous.events[0].t);
        EXPECT_LT(error, 0.6 * last) << T;
        last = error;
        EXPECT_NEAR(motion.end.q[0], 0.5, 1e-9) << T;
        EXPECT_NEAR(motion.forces[0].N, 0.5, 1e-6) << "Kp q0";
    }
}

TEST(SampledControl, ForceErrorShrinksByTheGainFromSampleToSample) {
    // At rest lambda = −q_hold, and the law adds gain (Fd − lambda) at each sample: the error is multiplied by 1 −
    // gain.
    for (const double gain : {0.25, 1.0, 1.5}) {
        const Model arm = shipped("force-controlled-arm", {{"gain", gain}});
        const Trajectory motion = motion_of(arm, 3.0);
        const std::vector<Event> samples = events_of(motion, EventKind::switched);
        const auto at_rest = std::find_if(samples.begin(), samples.end(), [](const Event& e) {
            return e.q[1] < -0.6 && e.u_plus[0] == 0.0;  // more than the torque of the approach: the loop is closed
        });
        ASSERT_NE(at_rest, samples.end());
        const auto first = static_cast<std::size_t>(at_rest - samples.begin());
        for (std::size_t k = first; k + 1 < std::min(first + 12, samples.size()); ++k) {
            const double error = -samples[k].q[1] - 2.0, next = -samples[k + 1].q[1] - 2.0;
            EXPECT_NEAR(next, (1.0 - gain) * error, 1e-9) << gain << ", sample " << k;
        }
        EXPECT_NEAR(motion.forces[0].N, 2.0, 1e-4) << gain;
    }
    // A gain above 2 overshoots more and more, until the arm leaves the obstacle.
    const Trajectory unstable = motion_of(shipped("force-controlled-arm", {{"gain", 2.2}}), 3.0);
    EXPECT_FALSE(events_of(unstable, EventKind::lift_off).empty());
}

TEST(SampledControl, RunningImpulseIsMeasuredThroughImpactsAndContact) {
    // The torque is −Ki (Fd t − Λ). The balance of momentum gives Λ at a sample from velocities and torques alone:
    // I (u_k − u_0) = Λ_k + Σ T F_j.
    const double Ki = 10.0, Fd = 2.0, T = 0.02;
    model::Description d = description_of("force-controlled-arm");
    d.control->Kv = {};
    d.control->feedforward[0].value = "-10*(Fd*t - Lambda(obstacle))";
    const Model arm = built(d, {});
    for (const integrate::Method& method :
         {integrate::Method(EventDriven{}), integrate::Method(EventDriven{.keep_arcs = false}),
          integrate::Method(EventDriven{.series = false}), integrate::Method(Penalty{}),
          integrate::Method(Moreau{.h = 1e-3})}) {
        const Trajectory motion = motion_of(arm, 2.0, method);
        const std::vector<Event> samples = events_of(motion, EventKind::switched);
        ASSERT_EQ(samples.size(), 100U);
        double held = 0.0;
        for (std::size_t k = 0; k < samples.size(); ++k) {
            const double Lambda = I * samples[k].u_minus[0] - held;
            EXPECT_NEAR(samples[k].q[1], -Ki * (Fd * samples[k].t - Lambda), 1e-7) << motion.method << ", sample " << k;
            held += T * samples[k].q[1];
        }
        EXPECT_GT(std::abs(samples[40].q[1]), 0.1);
    }
}

TEST(SampledControl, IntegralOfTheForceErrorLeavesNoErrorAtRest) {
    // On the obstacle the error e = Fd t − Λ obeys e_{k+1} = e_k + T (Fd − Ki e_k), so that the force is
    // Ki e_k = Fd (1 − (1 − Ki T)^k).
    const double Ki = 10.0, Fd = 2.0, T = 0.02;
    model::Description d = description_of("force-controlled-arm");
    d.control->feedforward[0].value = "-10*(Fd*t - Lambda(obstacle))";
    d.initial.q[0].value = "q0";
    for (const integrate::Method& method : {integrate::Method(EventDriven{}), integrate::Method(Moreau{.h = 1e-3})}) {
        const Trajectory motion = motion_of(built(d, {}), 2.0, method);
        const std::vector<Event> samples = events_of(motion, EventKind::switched);
        ASSERT_EQ(samples.size(), 100U);
        for (std::size_t k = 0; k < samples.size(); ++k)
            EXPECT_NEAR(-samples[k].q[1], Fd * (1.0 - std::pow(1.0 - Ki * T, static_cast<double>(k))), 1e-9) << k;
        EXPECT_NEAR(motion.forces[0].N, Fd, 1e-8);
    }
}

TEST(SampledControl, TimeSteppingMeasuresTheImpulseOfItsLastStep) {
    const Trajectory motion = motion_of(shipped("force-controlled-arm"), 3.0, Moreau{.h = 1e-3});
    EXPECT_NEAR(motion.end.q[0], 0.5, 1e-4) << "up to the penetration of a step";
    EXPECT_NEAR(motion.forces[0].N, 2.0, 1e-4);
}

TEST(SampledControl, SpringsAreMeasuredToo) {
    // The spring is a little compressed at rest: lambda = k depth. Its oscillation dies out within a sample.
    const Trajectory motion = motion_of(shipped("force-controlled-arm"), 3.0, Penalty{});
    EXPECT_NEAR(motion.forces[0].N, 2.0, 1e-4);
    EXPECT_NEAR(motion.end.q[0], 0.5 - 2.0 / 1e4, 1e-7);
}

TEST(SampledControl, ContinuedMotionIsTheSameToTheBit) {
    const Model arm = shipped("sampled-arm");
    for (const integrate::Method& method : {integrate::Method(EventDriven{}), integrate::Method(Moreau{.h = 3e-3})}) {
        integrate::Options options;
        options.t_end = 0.61;
        const integrate::ResumableMotion first =
            integrate::simulate_resumable(arm, method, options, integrate::Record::no, nullptr, {});
        integrate::Options longer = options;
        longer.t_end = 1.5;
        const integrate::Continued earlier{first.resume, first.motion.motion.end.t, first.motion.motion.events};
        const integrate::ResumableMotion second =
            integrate::simulate_resumable(arm, method, longer, integrate::Record::no, &earlier, {});
        const Trajectory whole = integrate::simulate(arm, method, longer);
        EXPECT_EQ(second.motion.motion.end.q, whole.end.q);
        EXPECT_EQ(second.motion.motion.end.u, whole.end.u);
    }
}

TEST(SampledControl, IsCutBySaturation) {
    model::Description d = description_of("sampled-arm");
    d.control->saturation = "0.3";
    const Trajectory motion = motion_of(built(d, {{"q0", -3.0}}), 1.0);
    EXPECT_EQ(motion.right(0.01).q[1], -0.3);
    EXPECT_NEAR(motion.right(0.2).q[0], 1.0 - 0.5 * 0.3 / I * 0.04, 1e-12);
}

TEST(SampledControl, RefusesWhatHasNoMeaning) {
    const auto refusal = [](const std::string& name, const auto& change) {
        return refusal_of([&] {
            model::Description d = description_of(name);
            change(d);
            model::build(d, {});
        });
    };
    const auto has = [](const std::string& text, const char* part) { return text.find(part) != std::string::npos; };
    EXPECT_TRUE(has(refusal("sampled-arm", [](auto& d) { d.control->period = "-1"; }), "must be > 0"));
    EXPECT_TRUE(has(refusal("sampled-arm", [](auto& d) { d.control->period = "q"; }), "parameters"));
    EXPECT_TRUE(has(refusal("sampled-arm", [](auto& d) { d.control->shaping = "q^2"; }), "exclude each other"));
    EXPECT_TRUE(has(refusal("sampled-arm", [](auto& d) { d.contacts[0].gN = "q - q0 + q_hold"; }), "jumps at samples"));
    EXPECT_TRUE(has(refusal("sampled-arm", [](auto& d) { d.U = "q_hold*q"; }), "jumps at samples"));
    EXPECT_TRUE(has(refusal("force-controlled-arm", [](auto& d) { d.control->period = {}; }),
                    "depends on the force of the law itself"));
    EXPECT_TRUE(
        has(refusal("force-controlled-arm", [](auto& d) { d.control->feedforward[0].value = "lambda(obstakle)"; }),
            "obstacle"));
    for (const auto analysis : {model::Analysis::sensitivity, model::Analysis::basin, model::Analysis::equilibrium_sets,
                                model::Analysis::moreau_lanes})
        EXPECT_TRUE(has(model::unsupported(shipped("sampled-arm"), analysis), "sampled control"));
    EXPECT_TRUE(has(model::unsupported(shipped("sampled-arm"), model::Analysis::regulation), "sampling"));
    EXPECT_NE(model::unsupported(shipped("sampled-arm"), model::Analysis::equilibrium_points), "");
}

TEST(SampledControl, IsRefusedByWhatDoesNotFollowTheHold) {
    // Derivatives along the arcs alone would be 0, because the held force is constant there.
    const Model arm = shipped("sampled-arm");
    sensitivity::Options options;
    options.t_end = 0.5;
    const sensitivity::Sensitivity d =
        sensitivity::sensitivity(arm, sensitivity::variables(arm, {"Kp"}, nullptr), options);
    EXPECT_FALSE(d.available);
    EXPECT_NE(d.reason.find("sampled control (period of [control])"), std::string::npos) << d.reason;
    EXPECT_THROW(model::refuse_elements(arm, model::Analysis::attractivity), Error);
    EXPECT_THROW(model::refuse_elements(arm, model::Analysis::instability), Error);
    EXPECT_THROW(model::refuse_elements(arm, model::Analysis::basin), Error);
    EXPECT_THROW(model::refuse_elements(arm, model::Analysis::equilibrium_sets), Error);
    EXPECT_THROW(model::refuse_elements(arm, model::Analysis::perturbed_pair), Error);
}

TEST(SampledControl, TimeSteppingConvergesToTheEventDrivenMotion) {
    // The time of an impact is wrong by at most a step, so that positions are wrong by about the step times the change
    // of speed, 5.4 rad/s. Held forces, which jump, do not count. With this period no impact is close to a sample.
    integrate::CompareOptions options;
    options.options.t_end = 0.4;
    options.h = 2e-3;
    const integrate::Comparison c = integrate::compare(shipped("sampled-arm", {{"period", 0.05}}), options);
    ASSERT_EQ(c.moreau.size(), 4U);
    for (const integrate::ComparedRun& run : c.moreau) {
        EXPECT_LT(run.position_error, 5.4 * run.parameter) << run.parameter;
        EXPECT_GT(run.position_error, 0.0);
    }
}

TEST(SampledControl, FailsWhereItsForceIsNotFinite) {
    model::Description d = description_of("sampled-arm");
    d.control->feedforward.push_back({"q", "1/(t - 0.04)", {}});
    for (const integrate::Method& method : {integrate::Method(EventDriven{}), integrate::Method(Moreau{.h = 0.01})}) {
        const Trajectory motion = attempt(built(d, {}), 1.0, method);
        EXPECT_EQ(status_of(motion), "failed");
        EXPECT_NE(motion.reason.find("is not finite"), std::string::npos) << motion.reason;
    }
}

}  // namespace
}  // namespace saltus::sampled_control_test
