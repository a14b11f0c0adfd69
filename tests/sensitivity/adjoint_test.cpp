// SPDX-License-Identifier: Apache-2.0
#include "sensitivity/derivatives.hpp"

namespace saltus::adjoint_test {
namespace {

using namespace saltus::test;

Sensitivity output_of(const Model& m, double t_end, const std::string& output, bool adjoint,
                      const integrate::Method& method = EventDriven{}) {
    sensitivity::Options options;
    options.t_end = t_end;
    options.output = output;
    options.adjoint = adjoint;
    options.method = method;
    return sensitivity::sensitivity(m, sensitivity::all_variables(m), options);
}

void agree(const std::string& model, double t_end, const std::string& output,
           const integrate::Method& method = EventDriven{}) {
    const Model m = shipped(model);
    const Sensitivity a = output_of(m, t_end, output, false, method), b = output_of(m, t_end, output, true, method);
    ASSERT_EQ(a.output_derivative.size(), b.output_derivative.size());
    EXPECT_EQ(*a.output, *b.output);
    int compared = 0;
    for (std::size_t j = 0; j < a.output_derivative.size(); ++j) {
        const std::string& name = a.with_respect_to[j].name;
        EXPECT_EQ(std::isnan(a.output_derivative[j]), std::isnan(b.output_derivative[j]))
            << model << " " << name << remarks(a) << remarks(b);
        if (std::isnan(a.output_derivative[j])) continue;
        // One is the transpose of the other: what is left is rounding of terms that may be larger than their sum.
        const double value = std::abs(a.with_respect_to[j].value);
        const double usual = (std::abs(*a.output) + 0.1) / (value > 0.0 ? value : 1.0);
        EXPECT_NEAR(a.output_derivative[j], b.output_derivative[j],
                    1e-10 * std::abs(a.output_derivative[j]) + 1e-11 * usual)
            << model << " " << name << remarks(b);
        ++compared;
    }
    EXPECT_GT(compared, 2) << model << remarks(a);
}

TEST(Adjoint, AgreesWithForwardMode) {
    agree("bouncing-ball", 1.5, "y + y'^2/(2*g)");
    agree("ball-on-moving-plane", 2.0, "y");
    agree("impact-oscillator", 8.0, "x*x'");
    agree("rocking-bar", 1.0, "phi + x");
    agree("woodpecker", 0.2, "y - phiS*lG");
    agree("friction-oscillator", 20.0, "x");
    agree("super-ball", 0.5, "phi'");
    agree("constrained-beam", 3.0, "theta");
    agree("single-link-arm", 2.0, "q'");
    agree("two-link-underactuated", 12.0, "q2");
    agree("sphere-on-plane", 1.0, "alpha + x");
}

TEST(Adjoint, RefusesWhatForwardModeRefuses) {
    agree("slider-crank", 0.03, "theta1");  // theta3 moves impacts apart
    agree("newtons-cradle", 1.0, "x5'");
    agree("moving-wall", 1.0, "x");
    agree("forklift", 1.0, "phi");
}

TEST(Adjoint, AgreesWithForwardModeOnPenaltyAndImplicitMotions) {
    agree("single-link-arm", 1.0, "q", Penalty{});
    agree("bouncing-ball", 1.5, "y", EventDriven{.implicit = true});
    agree("rocking-bar", 0.3, "x", EventDriven{.implicit = true});
}

TEST(Adjoint, CostsTheSameForManyVariables) {
    const Model m = shipped("woodpecker");
    sensitivity::Options options;
    options.t_end = 0.2;
    options.output = "y";
    options.adjoint = true;
    const Sensitivity one = sensitivity::sensitivity(m, sensitivity::variables(m, {"g"}), options);
    const Sensitivity all = sensitivity::sensitivity(m, sensitivity::all_variables(m), options);
    EXPECT_LT(static_cast<double>(all.evaluations), 1.3 * static_cast<double>(one.evaluations));
    EXPECT_GT(all.with_respect_to.size(), 20U);
}

}  // namespace
}  // namespace saltus::adjoint_test
