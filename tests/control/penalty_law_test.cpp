// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <numbers>

#include "physics/motion.hpp"
#include "saltus/integrate/outputs.hpp"
#include "saltus/model/support.hpp"
#include "support.hpp"

namespace saltus::penalty_law_test {
namespace {

using namespace saltus::test;

// Penalty functions other than a linear spring, [Tornambe] (12).

/// Duration of the only contact, and the deepest penetration, of the model hertz-impact.
struct Bounce {
    Trajectory motion;
    double duration = 0.0, depth = 0.0, impulse = 0.0;
};

Bounce bounce(const Values& set) {
    const Model model = shipped("hertz-impact", set);
    Penalty method;
    method.rtol = 1e-11;
    Bounce b{motion_of(model, 0.08, method)};
    std::vector<double> contact;
    for (const Event& e : b.motion.events) contact.push_back(e.t);
    EXPECT_EQ(contact.size(), 2U) << story(b.motion);
    if (contact.size() == 2) b.duration = contact[1] - contact[0];
    const auto outputs = integrate::summarise(model, b.motion).outputs;
    b.depth = outputs[0].highest;
    b.impulse = outputs[2].final;
    return b;
}

TEST(PenaltyLaw, OfHertzHasItsDepthAndItsTimeOfContact) {
    // Energy: m v²/2 = 2/5 K δ^(5/2). Time: 2 ∫dδ/√(v² − 4K δ^(5/2)/(5m)) = 2 δ/v · √π/2.5 · Γ(2/5)/Γ(9/10).
    const double m = 1.0, K = 1e5;
    const double factor = 2.0 * std::sqrt(std::numbers::pi) / 2.5 * std::tgamma(0.4) / std::tgamma(0.9);
    EXPECT_NEAR(factor, 2.943275, 1e-6) << "the factor of the text books";
    for (const double v : {0.5, 1.0, 2.0}) {
        const Bounce b = bounce({{"v", v}});
        const double depth = std::pow(5.0 * m * v * v / (4.0 * K), 0.4);
        EXPECT_NEAR(b.depth, depth, 1e-8 * depth);
        EXPECT_NEAR(b.duration, factor * depth / v, 1e-7 * b.duration);
        EXPECT_NEAR(b.motion.end.u[0], v, 1e-8 * v) << "no energy is lost";
        EXPECT_NEAR(b.impulse, 2.0 * m * v, 1e-7 * v);
    }
}

TEST(PenaltyLaw, OfHuntAndCrossleyHasItsRestitution) {
    // m δ″ = −K δ^n (1 + a δ′) with a = 3/2 α gives m v dv/(1 + a v) = −K δ^n dδ. The same depth is left on the way in
    // (speed v) and on the way out (speed e v), so that a v (1 + e) = log((1 + a v)/(1 − a e v)).
    const double m = 1.0, K = 1e5, v = 1.0;
    for (const double alpha : {0.002, 0.02, 0.2}) {
        const double a = 1.5 * alpha;
        double low = 0.0, high = 1.0;
        for (int k = 0; k < 100; ++k) {
            const double e = 0.5 * (low + high);
            (a * v * (1.0 + e) > std::log((1.0 + a * v) / (1.0 - a * e * v)) ? low : high) = e;
        }
        const Bounce b = bounce({{"alpha", alpha}});
        EXPECT_NEAR(b.motion.end.u[0], low * v, 1e-8) << alpha;
        EXPECT_NEAR(b.motion.end.u[0], (1.0 - alpha * v) * v, 1.0 * alpha * alpha) << "for small damping";
        const double depth = std::pow(2.5 * m / K * (v / a - std::log1p(a * v) / (a * a)), 0.4);
        EXPECT_NEAR(b.depth, depth, 1e-7 * depth);
    }
}

TEST(PenaltyLaw, OfDepthEqualsTheLinearOneIfItsStiffnessIsConstant) {
    const auto end = [](const std::string& k) {
        model::Description d = description_of("hertz-impact");
        d.penalty->k = k;
        d.penalty->d = "3";
        Penalty method;
        method.rtol = 1e-11;
        return motion_of(model::build(d, {}), 0.08, method).end;
    };
    const State linear = end("1e4"), written = end("1e4 + 0*depth + 0*rate");
    EXPECT_NEAR(linear.q[0], written.q[0], 1e-9);
    EXPECT_NEAR(linear.u[0], written.u[0], 1e-9);
}

TEST(PenaltyLaw, IsAnotherFunctionForEachContact) {
    // A mass between two stops. Each has its own depth, although one expression serves both.
    const Model model = from_text(R"toml(
[system]
q = ["x"]
T = "x'^2/2"
[[contact]]
name = "left"
gN = "x + 0.01"
eN = 1.0
[[contact]]
name = "right"
gN = "0.02 - x"
eN = 1.0
[penalty]
k = "1e5*sqrt(depth)"
[output]
left = "max(-gap(left), 0)"
right = "max(-gap(right), 0)"
[initial]
u = { x = 1.0 }
)toml");
    Penalty method;
    method.rtol = 1e-11;
    const auto outputs = integrate::summarise(model, motion_of(model, 0.2, method)).outputs;
    const double depth = std::pow(5.0 / (4.0 * 1e5), 0.4);
    EXPECT_NEAR(outputs[0].highest, depth, 1e-8 * depth);
    EXPECT_NEAR(outputs[1].highest, depth, 1e-8 * depth);
}

TEST(PenaltyLaw, IsRefusedIfItIsNoStiffnessOrIfAnAnalysisNeedsAConstantOne) {
    const auto refusal = [](const std::string& k, const std::string& d) {
        return refusal_of([&] {
            model::Description description = description_of("hertz-impact");
            description.penalty->k = k;
            description.penalty->d = d;
            model::build(description, {});
        });
    };
    EXPECT_NE(refusal("K*sqrt(depht)", "0").find("did you mean 'depth'"), std::string::npos)
        << refusal("K*sqrt(depht)", "0");
    EXPECT_NE(refusal("K*(depth - 1)", "0").find("it must be > 0"), std::string::npos);
    EXPECT_NE(refusal("K*sqrt(depth)", "-depth").find("it must be >= 0"), std::string::npos);
    EXPECT_NE(refusal("K/(depth - 1e-6)", "0").find("at depth"), std::string::npos);
    EXPECT_NE(refusal("K*y", "0").find("may depend on"), std::string::npos) << refusal("K*y", "0");
    const Model hertz = shipped("hertz-impact");
    EXPECT_NE(model::unsupported(hertz, model::Analysis::sprung_equilibria).find("not linear"), std::string::npos);
    EXPECT_NE(model::unsupported(hertz, model::Analysis::penalty_limit).find("not linear"), std::string::npos);
    EXPECT_EQ(model::unsupported(hertz, model::Analysis::penalty), "");
}

}  // namespace
}  // namespace saltus::penalty_law_test
