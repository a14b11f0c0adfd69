// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>

#include "physics/motion.hpp"

namespace saltus::orders_test {
namespace {

using namespace saltus::test;

double distance(const State& a, const State& b) {
    double d = 0.0;
    for (std::size_t i = 0; i < a.q.size(); ++i)
        d = std::max({d, std::abs(a.q[i] - b.q[i]), std::abs(a.u[i] - b.u[i])});
    return d;
}

/// The largest difference of positions at many times. The difference of the final states alone can be small by chance.
double distance(const Trajectory& a, const Trajectory& b) {
    double d = 0.0;
    for (int k = 1; k <= 200; ++k) {
        const State x = a.right(a.end.t * k / 200.0), y = b.right(a.end.t * k / 200.0);
        for (std::size_t i = 0; i < x.q.size(); ++i) d = std::max(d, std::abs(x.q[i] - y.q[i]));
    }
    return d;
}

Trajectory truth_of(const Model& model, double t_end) {
    return motion_of(model, t_end, EventDriven{.rtol = 1e-12, .atol = 1e-16});
}

/// Errors of Taylor series are below the tolerance, by as much as the last term is below the first, and fall with it at
/// least in proportion until rounding.
void expect_at_least_order_one(const Model& model, double t_end) {
    const Trajectory truth = truth_of(model, t_end);
    std::vector<double> tolerances, errors;
    std::string table;
    for (double rtol = 1e-3; rtol > 3e-9; rtol /= 10.0) {
        const EventDriven method{.rtol = rtol, .atol = 1e-3 * rtol};
        const Trajectory motion = motion_of(model, t_end, method);
        EXPECT_TRUE(motion.events_certain);
        tolerances.push_back(rtol);
        errors.push_back(distance(truth, motion));
        EXPECT_LT(errors.back(), 0.1 * rtol) << model.name;
        char line[64];
        std::snprintf(line, sizeof line, "\n    rtol %.0e  error %.2e", rtol, errors.back());
        table += line;
    }
    EXPECT_GT(slope(tolerances, errors), 0.9) << model.name << table;
    EXPECT_LT(errors.back(), 1e-10) << model.name << table;
}

/// Errors are proportional to the tolerance, through all events. An event that is located less accurately would show as
/// a lower order.
void expect_order_one(const Model& model, double t_end, double loosest = 1e-4, bool implicit = false) {
    const Trajectory truth = truth_of(model, t_end);
    std::vector<double> tolerances, errors;
    std::string table;
    for (double rtol = loosest; rtol > 3e-11; rtol /= 10.0) {
        const EventDriven method{.rtol = rtol, .atol = 1e-3 * rtol, .implicit = implicit, .series = false};
        tolerances.push_back(rtol);
        errors.push_back(distance(truth, motion_of(model, t_end, method)));
        char line[64];
        std::snprintf(line, sizeof line, "\n    rtol %.0e  error %.2e", rtol, errors.back());
        table += line;
    }
    EXPECT_NEAR(slope(tolerances, errors), 1.0, 0.25) << model.name << table;
    EXPECT_LT(errors.back(), 1e-9) << model.name << table;
}

TEST(OrderInTolerance, IsOneThroughImpacts) {
    expect_order_one(shipped("impact-oscillator"), 10.0);
    expect_order_one(shipped("two-link-underactuated", {{"e", 1.0}}), 6.0);
}

TEST(OrderInTolerance, IsAtLeastOneForTaylorSeriesThroughImpacts) {
    expect_at_least_order_one(shipped("impact-oscillator"), 10.0);
    expect_at_least_order_one(shipped("two-link-underactuated", {{"e", 1.0}}), 6.0);
}

TEST(OrderInTolerance, IsOneThroughStickAndSlip) {
    // Looser tolerances do not show: the arcs end before the steps have grown to what they allow.
    expect_order_one(shipped("friction-oscillator"), 50.0, 1e-7);
}

TEST(OrderInTolerance, IsOneThroughReversalsOnRoughConstraints) {
    expect_order_one(shipped("constrained-beam", {{"theta0", 0.0}, {"omega0", 15.0}}), 1.5);
}

TEST(OrderInTolerance, IsOneForTheImplicitMethodToo) {
    expect_order_one(shipped("impact-oscillator"), 10.0, 1e-4, true);
}

TEST(OrderInStep, OfMoreauIsOneThroughStickAndSlip) {
    const Model model = shipped("friction-oscillator");
    const State truth = truth_of(model, 20.0).end;
    std::vector<double> steps, errors;
    for (const double h : {8e-3, 4e-3, 2e-3, 1e-3, 5e-4}) {
        steps.push_back(h);
        errors.push_back(distance(motion_of(model, 20.0, Moreau{.h = h, .keep_arcs = false}).end, truth));
    }
    EXPECT_NEAR(slope(steps, errors), 1.0, 0.4) << errors.front() << " … " << errors.back();
}

TEST(OrderInStep, OfMoreauIsOneThroughImpacts) {
    const Model model = shipped("impact-oscillator");
    const State truth = truth_of(model, 5.0).end;
    std::vector<double> steps, errors;
    for (const double h : {4e-3, 2e-3, 1e-3, 5e-4, 2.5e-4}) {
        steps.push_back(h);
        errors.push_back(distance(motion_of(model, 5.0, Moreau{.h = h, .keep_arcs = false}).end, truth));
    }
    EXPECT_NEAR(slope(steps, errors), 1.0, 0.5) << errors.front() << " … " << errors.back();
}

TEST(OrderInStiffness, OfThePenaltyIsOneHalf) {
    // A ball dropped on a spring stays there for π/2·√(m/k) longer than on a rigid floor, each way: after n bounces
    // it is late by nπ√(m/k), so that its place is off by that times the speed.
    const Model model = shipped("bouncing-ball", {{"e", 1.0}});
    const double t_end = 1.5;  // two bounces, in flight
    const State rigid = motion_of(model, t_end).end;
    std::vector<double> stiffness, errors;
    for (const double k : {1e5, 1e6, 1e7, 1e8, 1e9}) {
        const State soft = motion_of(model, t_end, Penalty{.stiffness = k / 1e6}).end;
        stiffness.push_back(k);
        errors.push_back(std::abs(soft.q[0] - rigid.q[0]));
    }
    EXPECT_NEAR(slope(stiffness, errors), -0.5, 0.02);
}

}  // namespace
}  // namespace saltus::orders_test
