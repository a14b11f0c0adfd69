// SPDX-License-Identifier: Apache-2.0
//
// The examples of [Leine] 7.1–7.4 with the corrections of docs/papers.md, for the values of the reference and for
// others by their closed forms.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "physics/motion.hpp"
#include "reference/reference.hpp"
#include "saltus/stability/certify/certify.hpp"
#include "stability/certificates.hpp"

namespace saltus::stability::certify_attractivity_test {
namespace {

using proof::Certificate;
using proof::Condition;
using proof::Grade;
using proof::Outcome;
using proof::Verdict;
using test::shipped;
using test::story;
using test::value;
using test::Values;

constexpr double promised = 1e-11;  // of levels, relative

double part(const Certificate& c, const std::string& name) { return test::named(c.rho_parts, name); }

void expect_level(double x, double expected, const Certificate& c) {
    EXPECT_NEAR(x, expected, promised * std::max(1.0, std::fabs(expected))) << story(c);
}

void expect_verdict(const Certificate& c, const std::string& id, Verdict verdict) {
    const Condition* row = c.find(id);
    ASSERT_NE(row, nullptr) << id << "\n" << story(c);
    EXPECT_EQ(to_string(row->verdict), std::string(to_string(verdict))) << id << "\n" << story(c);
}

/// [Leine] (117), (134): b = 0 is the bar.
struct Rocking {
    double m = 1.0, k = 10.0, g = 9.81, mu = 0.3, a = 0.5, b = 0.0, JS = 0.0;

    double length() const { return std::hypot(a, b); }
    double inertia() const { return JS > 0.0 ? JS : m * (a * a + b * b) / 3.0; }
    double velocity() const { return 0.5 * inertia() * g / length(); }
    double angle() const { return m * g * (length() / std::sqrt(1.0 + mu * mu) - b); }
    double U() const { return m * g * (length() - b); }
    double V_E() const { return 0.5 * (mu * m * g) * (mu * m * g) / k; }
    double rho() const { return std::min(velocity(), angle()); }

    Certificate certificate() const {
        Values set{{"m", m}, {"k", k}, {"g", g}, {"mu", mu}, {"a", a}};
        if (b > 0.0) set.emplace_back("b", b);
        if (JS > 0.0) set.emplace_back("JS", JS);
        // The start is no more than a guess: it need not fit to other lengths.
        model::BuildOptions options;
        options.project_initial = true;
        for (const auto& [name, x] : set) options.set.emplace_back(name, number_text(x));
        return certify(model::build(test::description_of(b > 0.0 ? "rocking-block" : "rocking-bar"), options),
                       Theorem::attractivity);
    }
};

void expect_rocking(const Rocking& r) {
    const Certificate c = r.certificate();
    expect_level(part(c, "velocity"), r.velocity(), c);
    expect_level(part(c, "angle"), r.angle(), c);
    expect_level(part(c, "U"), r.U(), c);
    expect_level(c.rho, r.rho(), c);
    EXPECT_LE(c.rho_verified, r.rho() * (1.0 + 1e-14)) << story(c);
    EXPECT_NEAR(value(c, "V_max_on_E"), r.V_E(), 1e-9 * r.V_E()) << story(c);
    const bool fits = r.V_E() < r.rho();  // (118), (135)
    EXPECT_EQ(c.outcome, fits ? Outcome::attractive : Outcome::inconclusive) << story(c);
    expect_verdict(c, "8", fits ? Verdict::proved : Verdict::fails);
    if (fits) {
        EXPECT_EQ(c.grade, Grade::proved) << story(c);
        return;
    }
    const Condition& row = *c.find("8");
    ASSERT_EQ(row.witness.q.size(), 3U);
    EXPECT_NEAR(std::fabs(row.witness.q[0]), r.mu * r.m * r.g / r.k, 1e-7) << story(c);
}

TEST(CertifyFallingBlock, IsGloballyAttractive) {
    const Certificate c = certify(shipped("falling-block"), std::nullopt);
    EXPECT_EQ(c.outcome, Outcome::attractive) << story(c);
    EXPECT_EQ(c.grade, Grade::proved) << story(c);
    EXPECT_TRUE(std::isinf(c.rho)) << story(c);
    EXPECT_NEAR(value(c, "V_max_on_E"), test::reference::entry("leine_falling_block_static_A")["outputs"]["V_max_on_E"],
                1e-10);
    EXPECT_EQ(c.conditions.size(), 9U);
    EXPECT_EQ(c.basis, "Corollary 2") << "floor and friction are uncoupled";
    EXPECT_EQ(certify(shipped("rocking-bar"), std::nullopt).basis, "Theorem 1") << "turning couples them";
    expect_verdict(c, "9", Verdict::assumed);
    expect_verdict(c, "7", Verdict::proved);
}

TEST(CertifyRockingBar, HasTheLevelsOfTheClosedForm) {
    expect_rocking({});                                                    // leine_rocking_bar_A
    expect_rocking({.k = 1000.0, .a = 4.0});                               // long: the ridge is far in units of phi
    expect_rocking({.k = 3.0});                                            // leine_rocking_bar_C: (118) fails
    expect_rocking({.m = 2.5, .k = 80.0, .g = 1.6, .mu = 0.7, .a = 1.3});  //
    expect_rocking({.k = 60.0, .mu = 0.5, .JS = 3.0});                     // the angle limits it
    expect_rocking({.k = 5.2975});                                         // just above k_min = 5.2974
    expect_rocking({.k = 5.2973});                                         // just below
}

TEST(CertifyRockingBlock, HasTheLevelsOfTheClosedForm) {
    expect_rocking({.b = 0.3});                                             // leine_rocking_block_A
    expect_rocking({.k = 4.0, .b = 0.3});                                   // leine_rocking_block_D: (135) fails
    expect_rocking({.m = 0.7, .k = 30.0, .mu = 0.15, .a = 0.9, .b = 0.6});  //
    expect_rocking({.k = 50.0, .mu = 0.6, .b = 0.2, .JS = 2.0});            // the angle limits it
}

TEST(CertifyConstrainedBeam, HasTheLevelThatTouchesTheOtherSet) {
    for (const auto& [mu1, mu2, m, l] : {std::array{0.3, 0.3, 1.0, 1.0}, std::array{0.1, 0.4, 2.0, 0.7}}) {
        const Certificate c =
            certify(shipped("constrained-beam", {{"mu1", mu1}, {"mu2", mu2}, {"m", m}, {"l", l}}), std::nullopt);
        const double cosine = (1.0 - mu1 * mu2) / std::hypot(2.0 * mu2, 1.0 - mu1 * mu2);
        const double weight = m * 10.0 * l;
        expect_level(c.rho, weight * (1.0 + cosine), c);  // docs/papers.md: with +
        EXPECT_NEAR(c.rho, weight * (1.0 + cosine), 1e-12 * weight) << story(c);
        EXPECT_LE(c.rho_verified, c.rho) << story(c);
        EXPECT_GT(c.rho_verified, (1.0 - 1e-9) * c.rho) << story(c);
        EXPECT_NEAR(value(c, "V_max_on_E"), weight * (1.0 - cosine), 1e-12 * weight) << story(c);
        EXPECT_EQ(c.outcome, Outcome::attractive) << story(c);
        EXPECT_EQ(c.grade, Grade::proved) << story(c);
    }
}

}  // namespace
}  // namespace saltus::stability::certify_attractivity_test
