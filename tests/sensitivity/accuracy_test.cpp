// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "sensitivity/derivatives.hpp"
#include "support.hpp"

namespace saltus::accuracy_test {
namespace {

using namespace saltus::test;

/// The same recorded motion, with coarse steps, and its linearised equations to different tolerances: the largest
/// difference of a column beside the column.
double difference(const std::string& name, double t_end, double tolerance, double tight) {
    const Model m = shipped(name);
    sensitivity::Options options;
    options.t_end = t_end;
    EventDriven method;
    method.rtol = 1e-6;
    method.atol = 1e-9;
    options.method = method;
    const auto variables = sensitivity::all_variables(m);
    options.tolerance = tolerance;
    const Sensitivity a = sensitivity::sensitivity(m, variables, options);
    options.tolerance = tight;
    const Sensitivity b = sensitivity::sensitivity(m, variables, options);
    EXPECT_FALSE(a.motion.events.empty()) << name;
    double worst = 0.0;
    int columns = 0;
    for (Eigen::Index j = 0; j < a.final.cols(); ++j) {
        EXPECT_EQ(a.final.col(j).hasNaN(), b.final.col(j).hasNaN()) << name;
        if (a.final.col(j).hasNaN() || b.final.col(j).hasNaN()) continue;
        const double size = b.final.col(j).cwiseAbs().maxCoeff();
        if (size > 1e-9) worst = std::max(worst, (a.final.col(j) - b.final.col(j)).cwiseAbs().maxCoeff() / size);
        ++columns;
    }
    EXPECT_GT(columns, 0) << name;
    return worst;
}

/// Steps of the motion that are too long for its derivatives are cut; no more than the tolerance asks for, by far.
TEST(Accuracy, TheToleranceIsKeptOnCoarseSteps) {
    const std::vector<std::pair<std::string, double>> models{
        {"impact-oscillator", 8.0}, {"friction-oscillator", 30.0},    {"constrained-beam", 3.0},
        {"rocking-bar", 3.0},       {"falling-block", 5.0},           {"slider-crank", 0.03},
        {"woodpecker", 0.3},        {"two-link-underactuated", 12.0},
    };
    for (const auto& [name, t_end] : models) {
        EXPECT_LT(difference(name, t_end, 1e-11, 1e-13), 1e-9) << name;
        EXPECT_LT(difference(name, t_end, 1e-7, 1e-13), 1e-5) << name;
    }
}

/// Friction that falls with the speed has a kink where slip begins and ends: |x' − v| at both ends of every slip arc.
TEST(Accuracy, KinksAtTheEndsOfArcsAreNotSeen) {
    const Model m = shipped("friction-oscillator");
    sensitivity::Options options;
    options.t_end = 50.0;
    const auto variables = sensitivity::variables(m, {"k", "delta", "v"});
    const Sensitivity s = sensitivity::sensitivity(m, variables, options);
    ASSERT_GT(s.motion.events.size(), 5U);
    EventDriven method;
    method.rtol = 1e-13;
    method.atol = 1e-15;
    options.method = method;
    const Sensitivity fine = sensitivity::sensitivity(m, variables, options);
    for (Eigen::Index j = 0; j < 3; ++j)
        EXPECT_LT((s.final.col(j) - fine.final.col(j)).cwiseAbs().maxCoeff(),
                  1e-7 * fine.final.col(j).cwiseAbs().maxCoeff())
            << variables[static_cast<std::size_t>(j)].name;
}

/// Coefficients that jump where the motion, at rest, does not feel it: wherever between the steps that is.
TEST(Accuracy, JumpsOfCoefficientsThatTheMotionDoesNotFeel) {
    int given = 0;
    for (int k = 0; k < 40; ++k) {
        const double t0 = 3.1 + 0.0137 * k, t_end = 6.0;
        const std::string text = R"toml(
[system]
name = "switched"
q = ["y"]
T = "y'^2/2"
f = { y = "-if(t > )toml" + number_text(t0) +
                                 R"toml(, 4, 1)*y" }
[initial]
q = { y = 0.0 }
)toml";
        const Sensitivity s = derivatives(from_text(text), {"y", "y'"}, t_end);
        if (s.final.hasNaN()) continue;
        ++given;
        const double c = std::cos(t0), d = std::sin(t0), C = std::cos(2.0 * (t_end - t0)),
                     D = std::sin(2.0 * (t_end - t0));
        EXPECT_NEAR(s.final(0, 0), c * C - d * D / 2.0, 1e-9) << t0;
        EXPECT_NEAR(s.final(1, 1), -2.0 * d * D + c * C, 1e-9) << t0;
    }
    EXPECT_GT(given, 35);
}

/// Slip in a plane begins at rest, after an impact that stops it, and again after stick. Its direction is that of tiny
/// velocities at first, which rounding errors turn.
TEST(Accuracy, SlipInAPlaneThatBeginsAtRestHasExactDerivatives) {
    const model::Description description = io::parse_model(
        "[system]\nname = \"plane\"\nq = [\"x\", \"y\", \"z\"]\nT = \"(1.112*x'^2 + 1.12*y'^2 + 1.112*z'^2)/2\"\n"
        "U = \"9.037*z + 1.374*(x + 0.723)^2 + 1.292*(y - 0.975)^2\"\nR = \"0.651*y'^2\"\n"
        "f = { x = \"6.902*sin(7.611*t) - 0.711*t + 1.809\", y = \"3.422*sin(3.984*t)\" }\n"
        "[[contact]]\nname = \"plane\"\ngN = \"z\"\ngammaT = [\"x'\", \"y'\"]\nmu = 0.577\n"
        "[initial]\nq = { z = 0.453 }\nu = { x = -1.911, y = 0.29 }\n",
        "plane");
    const Model m = model::build(description, {});
    EventDriven method;  // with the tolerances of `saltus sensitivity`
    method.rtol = 1e-10;
    method.atol = 1e-13;
    for (const double t_end : {0.5, 1.2}) {  // after the first begin of slip, and after the second
        sensitivity::Options options;
        options.t_end = t_end;
        options.method = method;
        const Sensitivity s = sensitivity::sensitivity(m, sensitivity::variables(m, {"z'"}), options);
        ASSERT_TRUE(s.available) << s.reason;
        const Differences d = sensitivity::differences(description, {}, s, options);
        ASSERT_EQ(d.compared, 1);
        EXPECT_LT(d.max_relative_error, 1e-6) << t_end;
    }
}

/// Masses and stiffnesses multiplied by one power of two only change the unit of force: the motion is the same, and so
/// are its derivatives. The bar rattles on two contacts, so that impacts with dependent contacts occur.
TEST(Accuracy, DerivativesDoNotDependOnTheUnitOfMass) {
    const auto final_derivative = [](int exponent) {
        const double unit = std::ldexp(1.0, exponent);
        return derivatives(shipped("rocking-bar", {{"m", unit}, {"k", 10.0 * unit}}), {"x", "y"}, 0.5).final;
    };
    const Matrix expected = final_derivative(0);
    ASSERT_TRUE(expected.allFinite());
    for (const int exponent : {-90, -60, -40, 30, 60, 90}) {
        const Matrix found = final_derivative(exponent);
        EXPECT_LE((found - expected).cwiseAbs().maxCoeff(), 1e-9 * expected.cwiseAbs().maxCoeff()) << exponent;
    }
}

}  // namespace
}  // namespace saltus::accuracy_test
