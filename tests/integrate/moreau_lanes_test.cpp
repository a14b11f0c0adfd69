// SPDX-License-Identifier: Apache-2.0
#include "saltus/integrate/moreau/moreau_lanes.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "integrate/moreau_runs.hpp"
#include "integrate/plane_friction_models.hpp"
#include "saltus/integrate/moreau/moreau_step.hpp"

namespace saltus::integrate::moreau_lanes_test {
namespace {

using moreau::LaneStepper;
using moreau::Point;
using moreau::Stepper;
using test::shipped;
using test::written;

struct Start {
    std::vector<double> q, u;
};

/// States around the initial one, pushed out of all obstacles by project_initial.
std::vector<Start> starts_of(const model::Model& model, int count, double spread) {
    std::mt19937 random(7);
    std::uniform_real_distribution<double> uniform(-spread, spread);
    std::vector<Start> list;
    while (static_cast<int>(list.size()) < count) {
        model::Model moved = model;
        for (double& x : moved.q0) x += uniform(random);
        for (double& x : moved.u0) x += 3.0 * uniform(random);
        if (model::project_initial(moved)) list.push_back({moved.q0, moved.u0});
    }
    return list;
}

/// The largest difference between the states after each of `steps` steps.
double difference(const model::Model& model, const std::vector<Start>& starts, int steps, double h, int& lost) {
    Moreau method;
    method.h = h;
    EXPECT_EQ(LaneStepper::refusal(model, method), "");
    LaneStepper lanes(model, method);
    double worst = 0.0;
    lost = 0;
    for (std::size_t first = 0; first + LaneStepper::width <= starts.size(); first += LaneStepper::width) {
        std::vector<std::vector<Point>> expected(LaneStepper::width);
        for (std::size_t lane = 0; lane < LaneStepper::width; ++lane) {
            const Start& s = starts[first + lane];
            Stepper stepper(model, method);
            Point at, next;
            at.q = s.q, at.u = s.u;
            stepper.begin(at);
            next = at;
            for (int k = 1; k <= steps && stepper.step(at, k * h, next); ++k) {
                std::swap(at, next);
                expected[lane].push_back(at);
            }
            EXPECT_TRUE(lanes.load(lane, s.q, s.u));
        }
        for (int k = 1; k <= steps; ++k) {
            lanes.step(expr::Lanes(k * h));
            for (std::size_t lane = 0; lane < LaneStepper::width; ++lane) {
                if (lanes.lost(lane) || expected[lane].size() < static_cast<std::size_t>(k)) continue;
                const Point& p = expected[lane][static_cast<std::size_t>(k) - 1];
                for (int i = 0; i < model.size(); ++i) {
                    const auto c = static_cast<std::size_t>(i);
                    worst = std::max(worst, std::abs(lanes.q(i, lane) - p.q[c]) / (1.0 + std::abs(p.q[c])));
                    worst = std::max(worst, std::abs(lanes.u(i, lane) - p.u[c]) / (1.0 + std::abs(p.u[c])));
                }
            }
        }
        for (std::size_t lane = 0; lane < LaneStepper::width; ++lane) lost += lanes.lost(lane) ? 1 : 0;
    }
    return worst;
}

TEST(LaneStepper, AgreesWithTheStepperOneByOne) {
    struct Case {
        const char* model;
        double spread;
        int steps;
    };
    // So many steps that impacts, stick, slip and lift-off happen, and rounding has not grown to 1e-10 by itself.
    for (const Case& c : {Case{"rocking-bar", 0.5, 1500},
                          {"rocking-block", 0.3, 1500},
                          {"falling-block", 0.5, 3000},
                          {"bouncing-ball", 0.5, 2000},
                          {"impact-oscillator", 0.3, 1500},
                          {"rough-double-pendulum", 0.2, 300},
                          {"painleve-rod", 0.02, 100},
                          {"newtons-cradle", 0.05, 1000},
                          {"woodpecker", 0.02, 200},
                          {"constrained-beam", 0.7, 2000},
                          {"friction-oscillator", 1.0, 3000},
                          {"slider-crank", 0.1, 300}}) {
        const model::Model model = shipped(c.model);
        int lost = 0;
        EXPECT_LT(difference(model, starts_of(model, 32, c.spread), c.steps, 1e-3, lost), 1e-10) << c.model;
        EXPECT_EQ(lost, 0) << c.model;
    }
}

TEST(LaneStepper, AgreesOnFrictionInPlanesAndPoissonsLaw) {
    for (const test::PlaneFrictionModel& m : test::plane_friction_models()) {
        const model::Model model = written(m.text);
        int lost = 0;
        EXPECT_LT(difference(model, starts_of(model, 16, m.spread), 1000, 1e-3, lost), 1e-7) << m.name;
        EXPECT_EQ(lost, 0) << m.name;
    }
    const model::Model sphere = shipped("sphere-on-plane");
    int lost = 0;
    EXPECT_LT(difference(sphere, starts_of(sphere, 16, 0.1), 700, 1e-3, lost), 1e-7);
    EXPECT_EQ(lost, 0);
}

TEST(LaneStepper, AgreesOnSlidersClutchesAndCoupledMass) {
    const model::Model model = written(R"toml(
[system]
q = ["x", "y", "z"]
T = "(2*x'^2 + 3*y'^2 + z'^2)/2 + 0.5*x'*y' + 0.2*cos(z)*y'*z'"
U = "4*x^2 + 3*(y - x)^2 + 2*(1 - cos(z))"
[[slider]]
name = "rail"
gammaT = "x'"
mu = 0.4
FN = 2.0
[[slider]]
name = "disc"
gammaT = "z' - y'"
mu = 0.1
FN = 3.0
[[clutch]]
name = "ratchet"
gamma = "y' + 0.3*z'"
[[contact]]
name = "stop"
gN = "1.2 - x"
eN = 0.3
[initial]
q = { x = 0.5 }
)toml");
    int lost = 0;
    EXPECT_LT(difference(model, starts_of(model, 32, 0.6), 3000, 1e-3, lost), 1e-10);
    EXPECT_EQ(lost, 0);
}

TEST(LaneStepper, AgreesWhereClosedContactsPassCorners) {
    const model::Model model = written(R"toml(
[system]
q = ["x", "y"]
T = "(x'^2 + y'^2)/2"
U = "10*y + x^2"
[[contact]]
name = "floor"
gN = "y - 0.3*abs(x) - 0.2*max(x - 0.4, 0)"
gammaT = "x'"
mu = 0.1
eN = 0.6
[initial]
q = { x = -0.5, y = 0.15 }
u = { x = 2 }
)toml");
    int lost = 0;
    EXPECT_LT(difference(model, starts_of(model, 32, 0.1), 1500, 1e-3, lost), 1e-10);
    EXPECT_EQ(lost, 0);
}

TEST(LaneStepper, DoesInALaneWhatItDoesWhateverTheOthersDo) {
    const model::Model model = shipped("rocking-bar");
    const std::vector<Start> starts = starts_of(model, 16, 0.5);
    LaneStepper together(model, {}), apart(model, {});
    const auto run = [&](LaneStepper& lanes) {
        for (int k = 1; k <= 700; ++k) lanes.step(expr::Lanes(k * 1e-3));
    };
    for (std::size_t lane = 0; lane < 8; ++lane) together.load(lane, starts[lane].q, starts[lane].u);
    run(together);
    for (std::size_t lane = 0; lane < 8; ++lane) {  // the same motion in another lane, beside others
        const std::size_t other = (lane + 3) % 8;
        for (std::size_t k = 0; k < 8; ++k) apart.load(k, starts[8 + k].q, starts[8 + k].u);
        apart.load(other, starts[lane].q, starts[lane].u);
        run(apart);
        for (int i = 0; i < model.size(); ++i) {
            EXPECT_EQ(apart.q(i, other), together.q(i, lane)) << lane;
            EXPECT_EQ(apart.u(i, other), together.u(i, lane)) << lane;
        }
    }
}

TEST(LaneStepper, SaysWhatItIsNotFor) {
    EXPECT_NE(LaneStepper::refusal(shipped("hydrostatic-skeleton"), {}), "");
    EXPECT_NE(LaneStepper::refusal(shipped("single-link-arm"), {}), "");  // energy law
    Moreau implicit;
    implicit.implicit = true;
    EXPECT_NE(LaneStepper::refusal(shipped("rocking-bar"), implicit), "");
}

}  // namespace
}  // namespace saltus::integrate::moreau_lanes_test
