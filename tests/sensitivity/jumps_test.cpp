// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <numbers>

#include "sensitivity/derivatives.hpp"
#include "support.hpp"

namespace saltus::jumps_test {
namespace {

using namespace saltus::test;

std::string body(const std::string& force, const std::string& parameters, const std::string& initial) {
    return "[system]\nname = \"switched\"\nq = [\"x\"]\nT = \"x'^2/2\"\nf = { x = \"" + force + "\" }\n[parameters]\n" +
           parameters + "\n[initial]\n" + initial + "\n";
}

Sensitivity of(const Model& m, double t_end, const std::vector<std::string>& names) {
    sensitivity::Options options;
    options.t_end = t_end;
    return sensitivity::sensitivity(m, sensitivity::variables(m, names), options);
}

/// A force that is switched off at a time: x(t) = F T (t − T/2), v = F T.
TEST(Jumps, AtATimeThatIsAParameterHaveDerivatives) {
    const double F = 3.0, T = 0.7, t = 2.0;
    const Model m = from_text(body("if(t < T, F, 0)", "F = 3.0\nT = 0.7", "q = { x = 0.0 }"));
    const Sensitivity s = of(m, t, {"T", "F", "x", "x'"});
    ASSERT_TRUE(s.available);
    EXPECT_NEAR(s.final(0, 0), F * (t - T), 1e-9);
    EXPECT_NEAR(s.final(1, 0), F, 1e-9);
    EXPECT_NEAR(s.final(0, 1), T * (t - T / 2), 1e-9);
    EXPECT_NEAR(s.final(1, 1), T, 1e-9);
    EXPECT_NEAR(s.final(0, 2), 1.0, 1e-9);
    EXPECT_NEAR(s.final(0, 3), t, 1e-9);
    EXPECT_TRUE(s.remarks.empty());
}

/// A force that begins behind x = c: v² = v₀² + 2F(x − c). With w the speed after a way y behind it at time t,
/// y = v₀ s + F s²/2 with s = t − c/v₀.
TEST(Jumps, AtAPlaceThatIsAParameterHaveDerivatives) {
    const double F = -0.4, c = 0.9, v = 1.3, t = 2.0, s0 = t - c / v;
    const Model m = from_text(body("if(x > c, F, 0)", "F = -0.4\nc = 0.9", "q = { x = 0.0 }\nu = { x = 1.3 }"));
    const Sensitivity s = of(m, t, {"c", "x'", "x", "F"});
    ASSERT_TRUE(s.available);
    // x = c + v s + F s²/2 with s = t − c/v
    EXPECT_NEAR(s.final(0, 0), 1.0 + (v + F * s0) * (-1.0 / v), 1e-9);
    EXPECT_NEAR(s.final(1, 0), F * (-1.0 / v), 1e-9);
    EXPECT_NEAR(s.final(0, 1), s0 + (v + F * s0) * c / (v * v), 1e-9);
    EXPECT_NEAR(s.final(1, 1), 1.0 + F * c / (v * v), 1e-9);
    EXPECT_NEAR(s.final(1, 2), F / v, 1e-9);
    EXPECT_NEAR(s.final(0, 3), s0 * s0 / 2, 1e-9);
}

/// The angle of the point (−1, y) jumps from π to −π where y = y₀ − v t passes through zero. It drives z: with
/// ∂ atan2(y, −1)/∂y = −1/(1 + y²), and the jump 2π at the time y₀/v,
///     ∂z'/∂y₀ = 2π/v − (atan y₀ + atan(v t − y₀))/v.
TEST(Jumps, OfAnAngleAtItsBranchCutHaveDerivatives) {
    const double y = 0.6, v = 0.9, t = 2.0;
    const Model m = from_text(
        "[system]\nname = \"angle\"\nq = [\"y\", \"z\"]\nT = \"(y'^2 + z'^2)/2\"\nf = { z = \"atan2(y, -1)\" }\n"
        "[initial]\nq = { y = 0.6 }\nu = { y = -0.9 }\n");
    const Sensitivity s = of(m, t, {"y"});
    ASSERT_TRUE(s.available);
    EXPECT_NEAR(s.final(3, 0), (2.0 * std::numbers::pi - std::atan(y) - std::atan(v * t - y)) / v, 1e-9);
}

const std::string oscillator = body("-k*x - c*sign(x') + if(x > a, b, 0) + max(x, 0.1)",
                                    "k = 4.0\nc = 0.05\na = 0.3\nb = 0.7", "q = { x = 1.0 }\nu = { x = 0.2 }");

/// Many jumps of speed and place, and kinks: against differences, and backwards.
TEST(Jumps, AgreeWithDifferencesAndAdjoint) {
    const model::Description description = io::parse_model(oscillator, "test");
    const Model m = built(description);
    sensitivity::Options options;
    options.t_end = 5.0;
    const auto variables = sensitivity::all_variables(m);
    const Sensitivity s = sensitivity::sensitivity(m, variables, options);
    ASSERT_TRUE(s.available);
    ASSERT_FALSE(s.final.hasNaN());
    const Differences d = sensitivity::differences(description, {}, s, options);
    EXPECT_LT(d.max_relative_error, 1e-6);
    EXPECT_EQ(d.compared, static_cast<int>(variables.size()));
    EXPECT_GT(s.final.cwiseAbs().minCoeff(), 1e-6);
    options.output = "x + 2*x'";
    options.adjoint = true;
    const Sensitivity back = sensitivity::sensitivity(m, variables, options);
    for (std::size_t j = 0; j < variables.size(); ++j) {
        const auto column = s.final.col(static_cast<Eigen::Index>(j));
        EXPECT_NEAR(back.output_derivative[j], column(0) + 2 * column(1), 1e-10 * column.cwiseAbs().sum())
            << variables[j].name;
    }
}

/// Dry friction written as sign(x'): the motion comes to rest in its jump and stays. To fine tolerances there is no
/// such motion, to coarse ones there is, and no derivative.
TEST(Jumps, AMotionThatStaysInTheJumpIsWithheld) {
    const Model m = from_text(body("-k*x - c*sign(x')", "k = 1.0\nc = 2.0", "q = { x = 2.5 }\nu = { x = 0.0 }"));
    sensitivity::Options options;
    options.t_end = 10.0;
    for (const double tolerance : {1e-9, 1e-3, 1e-2}) {
        EventDriven method;
        method.rtol = method.atol = tolerance;
        options.method = method;
        const Sensitivity s = sensitivity::sensitivity(m, sensitivity::variables(m, {"c"}), options);
        ASSERT_FALSE(s.available) << tolerance;
        EXPECT_EQ(s.motion.status, trajectory::Status::failed);
        EXPECT_NEAR(s.motion.end.t, std::numbers::pi, 2.0 * std::sqrt(tolerance)) << tolerance;
        EXPECT_NE(s.reason.find("an expression jumps"), std::string::npos) << s.reason;
        EXPECT_NE(s.reason.find("slider"), std::string::npos) << s.reason;
    }
}

/// A motion that begins in a jump: a force behind x = c, from there at speed v. Behind it the force acts at once,
/// before it after (c − x)/v.
TEST(Jumps, AtTheStartAllowDerivativesOnOneSide) {
    const std::string text = body("if(x > c, F, 0)", "F = -0.4\nc = 0.9", "q = { x = 0.9 }\nu = { x = VELOCITY }");
    for (const double v : {1.3, -1.3}) {
        const model::Description d = io::parse_model(replaced(text, "VELOCITY", number_text(v)), "test");
        const Model m = built(d);
        sensitivity::Options options;
        options.t_end = 1.0;
        const Sensitivity s = sensitivity::sensitivity(m, sensitivity::variables(m, {"x", "c", "x'", "F"}), options);
        const int side = v > 0 ? 1 : -1;
        EXPECT_EQ(s.one_sided, (std::vector<int>{side, -side, 0, 0})) << remarks(s);
        EXPECT_NEAR(s.final(0, 0), 1.0, 1e-9);
        const Differences differences = sensitivity::differences(d, {}, s, options);
        EXPECT_EQ(differences.compared, 4);
        EXPECT_LT(differences.max_relative_error, 1e-6);
    }
}

/// A body beside mass points: the jumps are those of both parts of the model, whichever has them.
TEST(Jumps, InAModelWithPointsHaveDerivatives) {
    const std::string text = body("if(x > c, F, 0)", "F = -0.4\nc = 0.9", "q = { x = 0.0 }\nu = { x = 1.3 }") +
                             "[points]\npositions = [[0, 0, 1], [1, 0, 1]]\nmass = { total = 2.0 }\n"
                             "gravity = [0, 0, -1]\n[[obstacle]]\nname = \"floor\"\nnormal = [0, 0, 1]\n"
                             "offset = \"OFFSET\"\n";
    const double F = -0.4, c = 0.9, v = 1.3, s0 = 2.0 - c / v;
    for (const std::string offset : {"-5", "-5 + 0.1*abs(t - 1)"}) {
        const Sensitivity s = of(from_text(replaced(text, "OFFSET", offset)), 2.0, {"c", "F"});
        ASSERT_TRUE(s.available) << s.reason;
        EXPECT_NEAR(s.final(0, 0), 1.0 - (v + F * s0) / v, 1e-9) << offset;
        EXPECT_NEAR(s.final(0, 1), s0 * s0 / 2, 1e-9) << offset;
    }
}

/// Two jumps at one time that go apart are withheld; together they stay where the variable keeps them together.
TEST(Jumps, TwoAtOneTimeAreRefusedIfAVariableSeparatesThem) {
    const Model m = from_text(body("if(x > c, F, 0) + if(t > T, G, 0)", "F = -0.4\nc = 0.9\nG = 0.3\nT = 0.75",
                                   "q = { x = 0.0 }\nu = { x = 1.2 }"));
    const Sensitivity s = of(m, 2.0, {"c", "F", "G"});
    ASSERT_TRUE(s.available);
    EXPECT_FALSE(std::isnan(s.final(0, 1)));
    EXPECT_FALSE(std::isnan(s.final(0, 2)));
    EXPECT_NEAR(s.final(1, 1), 1.25, 1e-9);
    EXPECT_NEAR(s.final(1, 2), 1.25, 1e-9);
    EXPECT_TRUE(std::isnan(s.final(0, 0)));
    EXPECT_NE(remarks(s).find("the variable separates them"), std::string::npos) << remarks(s);
}

}  // namespace
}  // namespace saltus::jumps_test
