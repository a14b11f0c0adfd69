// SPDX-License-Identifier: Apache-2.0
// Bifurcation diagrams of motions whose return maps are known.
#include "saltus/orbit/diagram.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "saltus/base/error.hpp"
#include "saltus/io/model/read_model.hpp"
#include "saltus/model/description.hpp"
#include "saltus/model/model.hpp"

namespace saltus::orbit::diagram_test {

namespace {

/// A ball on a table y = A sin(w t) with w = 1 and g = 1, so that Gamma = A. Its orbits with one bounce in a period
/// exist for Gamma > π(1−e)/(1+e), and double their period at Gamma² = fold² + (2(1+e²)/(1+e)²)².
constexpr const char* ball = R"toml([system]
q = ["y"]
T = "y'^2/2"
U = "y"
[parameters]
Gamma = 1.2
e = 0.5
[[contact]]
name = "table"
gN = "y - Gamma*sin(t)"
eN = "e"
[initial]
q = { y = 0.5 }
u = { y = 3.0 }
[simulate]
t_end = 100
)toml";

ensemble::Axis over(const std::string& name, std::vector<double> values) {
    ensemble::Axis axis{name, values.front(), values.back(), static_cast<long>(values.size())};
    axis.listed = std::move(values);
    return axis;
}

DiagramOptions every_period(std::vector<double> values) {
    DiagramOptions options;
    options.over = over("Gamma", std::move(values));
    options.period = [](const model::Model&) { return 2.0 * std::numbers::pi; };
    options.transient = 300;
    options.keep = 20;
    return options;
}

model::Description described(const std::string& text) { return io::parse_model(text, "test"); }

}  // namespace

TEST(Diagram, ABallOnAShakingTableDoublesItsPeriodWhereTheMapSaysSo) {
    // fold 1.0472, doubling 1.5268 for e = 0.5
    const Diagram d = diagram(described(ball), every_period({1.2, 1.4, 1.5, 1.56}));
    ASSERT_TRUE(d.complete);
    ASSERT_EQ(d.columns.size(), 4U);
    for (const std::size_t k : {0U, 1U, 2U}) EXPECT_EQ(d.columns[k].period, 1) << d.columns[k].value;
    EXPECT_EQ(d.columns[3].period, 2);
    EXPECT_EQ(d.columns[0].points.size(), 20U);
    EXPECT_EQ(d.coordinates, std::vector<std::string>{"y"});
}

TEST(Diagram, TheSumOfTheExponentsIsTheLogarithmOfTheDeterminantOfTheMap) {
    DiagramOptions options = every_period({1.4});
    options.exponents = true;
    const Diagram d = diagram(described(ball), options);
    const DiagramColumn& c = d.columns[0];
    ASSERT_EQ(c.exponents.size(), 2U) << c.remark;
    // One bounce in a period: the determinant is e².
    EXPECT_NEAR(c.exponents[0] + c.exponents[1], std::log(0.25) / (2.0 * std::numbers::pi), 1e-7);
    // The multipliers of the map: trace 1 + e² − (1+e)²Γ sin φ with cos φ = π(1−e)/((1+e)Γ). They are complex here, of
    // modulus e, so that both exponents are equal in the long run.
    EXPECT_GE(c.exponents[0], c.exponents[1]);
    EXPECT_NEAR(c.exponents[0], std::log(0.5) / (2.0 * std::numbers::pi), 0.05);
    EXPECT_LT(c.changes[0], 0.05);
}

TEST(Diagram, TheExponentsAreTheLogarithmsOfRealMultipliers) {
    // Near the doubling at 1.5268 both multipliers are real: λ² − trace λ + e² = 0.
    const double Gamma = 1.5, e = 0.5, cosine = std::numbers::pi * (1 - e) / ((1 + e) * Gamma);
    const double trace = 1 + e * e - (1 + e) * (1 + e) * Gamma * std::sqrt(1 - cosine * cosine);
    const double root = std::sqrt(trace * trace / 4 - e * e);
    DiagramOptions options = every_period({Gamma});
    options.exponents = true;
    options.keep = 40;
    const Diagram d = diagram(described(ball), options);
    ASSERT_EQ(d.columns[0].exponents.size(), 2U) << d.columns[0].remark;
    const double T = 2.0 * std::numbers::pi;
    EXPECT_NEAR(d.columns[0].exponents[0], std::log(std::abs(trace / 2 - root)) / T, 1e-6);
    EXPECT_NEAR(d.columns[0].exponents[1], std::log(std::abs(trace / 2 + root)) / T, 1e-6);
    EXPECT_LT(d.columns[0].changes[0], 1e-6);
}

TEST(Diagram, AChaoticMotionHasAPositiveExponentAndDoesNotRepeat) {
    DiagramOptions options = every_period({4.5});
    options.exponents = true;
    options.keep = 150;
    std::string text = ball;
    text.replace(text.find("e = 0.5"), 7, "e = 0.8");
    const Diagram d = diagram(described(text), options);
    ASSERT_FALSE(d.columns[0].exponents.empty()) << d.columns[0].remark;
    EXPECT_EQ(d.columns[0].period, 0);
    EXPECT_GT(d.columns[0].exponents[0], 0.0);
}

TEST(Diagram, TheResultDoesNotDependOnTheNumberOfThreads) {
    DiagramOptions options = every_period({1.1, 1.3, 1.5, 1.7, 1.9});
    options.transient = 20;
    options.engine.threads = 1;
    const Diagram one = diagram(described(ball), options);
    options.engine.threads = 3;
    const Diagram three = diagram(described(ball), options);
    for (std::size_t k = 0; k < one.columns.size(); ++k) {
        ASSERT_EQ(one.columns[k].points.size(), three.columns[k].points.size());
        for (std::size_t i = 0; i < one.columns[k].points.size(); ++i)
            EXPECT_EQ(one.columns[k].points[i], three.columns[k].points[i]);
    }
}

TEST(Diagram, SweepsShowHysteresis) {
    // Duffing's oscillator x'' + 0.1 x' + x + x³ = 0.3 cos(w t) has two stable orbits near w = 1.6.
    const std::string duffing = R"toml([system]
q = ["x"]
T = "x'^2/2"
U = "x^2/2 + x^4/4"
R = "0.1/2*x'^2"
f = { x = "0.3*cos(w*t)" }
[parameters]
w = 1.0
)toml";
    DiagramOptions options;
    options.over = {"w", 1.1, 2.1, 21};
    options.period = [](const model::Model& m) { return 2.0 * std::numbers::pi / m.p[0]; };
    options.transient = 300;
    options.keep = 9;
    options.sweep = Sweep::up;
    const Diagram up = diagram(described(duffing), options);
    options.sweep = Sweep::down;
    const Diagram down = diagram(described(duffing), options);
    double largest = 0.0;
    for (std::size_t k = 0; k < up.columns.size(); ++k) {
        ASSERT_EQ(up.columns[k].period, 1) << up.columns[k].value;
        ASSERT_EQ(down.columns[k].period, 1) << down.columns[k].value;
        largest = std::max(largest, (up.columns[k].points.back() - down.columns[k].points.back()).norm());
    }
    EXPECT_GT(largest, 0.5);
    EXPECT_LT((up.columns.front().points.back() - down.columns.front().points.back()).norm(), 1e-6);
    EXPECT_LT((up.columns.back().points.back() - down.columns.back().points.back()).norm(), 1e-6);
}

// Nothing depends on z, which goes on: the motion repeats up to this drift.
TEST(Diagram, APositionThatDriftsDoesNotHideThePeriod) {
    const Diagram d = diagram(described(R"toml([system]
q = ["x", "z"]
T = "x'^2/2 + z'^2/2"
U = "x^2"
R = "0.2*x'^2"
f = { x = "Gamma*cos(t)" }
[parameters]
Gamma = 1
[initial]
u = { z = 1 }
)toml"),
                              every_period({1.0, 2.0}));
    ASSERT_TRUE(d.complete);
    for (const DiagramColumn& c : d.columns) EXPECT_EQ(c.period, 1) << c.value;
}

TEST(Diagram, ASectionThatIsNeverPassedAndAMotionAtRestAreRemarks) {
    const std::string damped = R"toml([system]
q = ["x"]
T = "x'^2/2"
U = "x^2/2"
[parameters]
mu = 0.1
[[slider]]
gammaT = "x'"
mu = "mu"
FN = 1
[initial]
q = { x = 1 }
)toml";
    DiagramOptions options;
    options.over = over("mu", {0.1});
    options.section = "x - 5";
    options.t_max = 100.0;
    Diagram d = diagram(described(damped), options);
    EXPECT_NE(d.columns[0].remark.find("rest"), std::string::npos) << d.columns[0].remark;
    options.over = over("mu", {0.0});
    d = diagram(described(damped), options);
    EXPECT_NE(d.columns[0].remark.find("passes the section 0 times"), std::string::npos) << d.columns[0].remark;
    options.section = "x";
    options.transient = 2;
    options.keep = 5;
    d = diagram(described(damped), options);
    ASSERT_EQ(d.columns[0].points.size(), 5U) << d.columns[0].remark;
    EXPECT_EQ(d.columns[0].period, 1);
    EXPECT_NEAR(d.columns[0].times[1] - d.columns[0].times[0], 2.0 * std::numbers::pi, 1e-8);
    EXPECT_NEAR(d.columns[0].points[0](1), 1.0, 1e-8);
}

TEST(Diagram, AnExcitedModelNeedsItsPeriod) {
    DiagramOptions options = every_period({1.2});
    options.period = {};
    options.section = "y";
    options.t_max = 10.0;
    EXPECT_THROW(diagram(described(ball), options), Error);
}

TEST(PeriodOf, FindsTheShortestRepetition) {
    const auto sequence = [](std::initializer_list<double> values) {
        std::vector<Vector> points;
        for (const double v : values) points.push_back(Vector::Constant(2, v));
        return points;
    };
    const Vector tolerance = Vector::Constant(2, 1e-6);
    EXPECT_EQ(period_of(sequence({1, 1, 1, 1}), tolerance), 1);
    EXPECT_EQ(period_of(sequence({1, 2, 1, 2, 1, 2}), tolerance), 2);
    EXPECT_EQ(period_of(sequence({1, 2, 3, 1, 2, 3, 1, 2, 3}), tolerance), 3);
    EXPECT_EQ(period_of(sequence({1, 2, 1, 2, 1}), tolerance), 0);
    EXPECT_EQ(period_of(sequence({1, 1.1, 1.01, 1.001}), tolerance), 0);
    EXPECT_EQ(period_of(sequence({1}), tolerance), 0);
    // An alternating approach to 1, just below a doubling of the period, is no period of two.
    std::vector<Vector> approach;
    for (int k = 0; k < 60; ++k) approach.push_back(Vector::Constant(2, 1.0 + 2e-6 * std::pow(-0.98, k)));
    EXPECT_EQ(period_of(approach, tolerance), 0);
}

}  // namespace saltus::orbit::diagram_test
