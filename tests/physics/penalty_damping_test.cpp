// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <numbers>

#include "physics/motion.hpp"
#include "saltus/model/support.hpp"
#include "support.hpp"

namespace saltus::penalty_damping_test {
namespace {

using namespace saltus::test;

// Damping matrices D (contact open) and D_hat (contact closed) of [penalty], Tornambe, Remark 12.

Model with_springs(const std::string& name, const Values& set = {}) {
    model::BuildOptions options;
    for (const auto& [parameter, value] : set) options.set.emplace_back(parameter, number_text(value));
    options.penalty = true;
    return model::build(description_of(name), options);
}

TEST(PenaltyDamping, ContactIsHalfAPeriodOfTheDampedOscillator) {
    // m y″ + d y′ + k y = 0 from y = 0 to the next y = 0: duration π/w_d, y′⁺ = −exp(−ζπ/√(1 − ζ²)) y′⁻ = e v.
    const double m = 1.0, k = 1e4;
    for (const double e : {0.3, 0.6, 0.9}) {
        const Trajectory motion = motion_of(with_springs("damped-contact", {{"e", e}}), 3.0, Penalty{});
        const double zeta = -std::log(e) / std::hypot(std::numbers::pi, std::log(e));
        const double contact = std::numbers::pi / (std::sqrt(k / m) * std::sqrt(1.0 - zeta * zeta));
        EXPECT_NEAR(motion.end.u[1], e, 1e-9) << e;
        EXPECT_NEAR(motion.end.q[1], e * (3.0 - 1.0 - contact), 1e-8) << e;
        EXPECT_NEAR(motion.end.u[0], std::exp(-5.0 * contact / m), 1e-9) << "along the wall, e = " << e;
    }
}

TEST(PenaltyDamping, ActsInFreeMotionByD) {
    // m x″ = −d x′ and the same in y: x = (1 − exp(−d t)) v/d with m = 1. The wall is reached while y falls by 1.
    const double d = 0.5;
    const Trajectory motion = motion_of(with_springs("damped-contact", {{"d_air", d}}), 1.0, Penalty{});
    for (const double t : {0.2, 0.7, 1.0}) {
        EXPECT_NEAR(motion.right(t).q[0], (1.0 - std::exp(-d * t)) / d, 1e-10) << t;
        EXPECT_NEAR(motion.right(t).q[1], 1.0 - (1.0 - std::exp(-d * t)) / d, 1e-10) << t;
    }
}

TEST(PenaltyDamping, CouplesCoordinatesThroughOffDiagonalEntries) {
    // D_hat = d (1, −1)ᵀ(1, −1)/2 damps the difference of the velocities only: the sum keeps its value along a wall
    // whose normal is (1, 1)/√2 except for the bounce.
    model::Description d = description_of("damped-contact");
    d.contacts[0].gN = "x + y + 1";
    d.initial.u = {{"x", model::Field(-1.0), {}}, {"y", model::Field(-0.5), {}}};
    d.initial.q.clear();
    d.penalty->D_hat = {{{"40", "-40"}, {"-40", "40"}}, true};
    model::BuildOptions options;
    options.penalty = true;
    const Trajectory motion = motion_of(model::build(d, options), 2.0, Penalty{});
    // Normal: s = x + y, s″ = −2 k (s + 1): half a period π/√(2k), then −s′. Difference r: r″ = −80 r′.
    const double contact = std::numbers::pi / std::sqrt(2e4);
    EXPECT_NEAR(motion.end.u[0] + motion.end.u[1], 1.5, 1e-8);
    EXPECT_NEAR(motion.end.u[0] - motion.end.u[1], -0.5 * std::exp(-80.0 * contact), 1e-9);
}

TEST(PenaltyDamping, WorkIsPartOfTheEnergyBalance) {
    // motion_of checks that the balance closes; here the loss has its value.
    const Trajectory motion = motion_of(with_springs("damped-contact"), 3.0, Penalty{});
    const double u = motion.end.u[0], v = motion.end.u[1];
    EXPECT_NEAR(motion.energy.final - motion.energy.initial, 0.5 * (u * u + v * v) - 1.0, 1e-9);
    EXPECT_NEAR(motion.energy.work, motion.energy.final - motion.energy.initial, 1e-9);
}

TEST(PenaltyDamping, BelongsToSpringsAndNotToRigidContacts) {
    const Model rigid = shipped("damped-contact");
    const Trajectory motion = motion_of(rigid, 3.0);
    EXPECT_NEAR(motion.end.u[0], 1.0, 1e-12) << "no friction and no damping";
    EXPECT_NEAR(motion.end.u[1], 0.6, 1e-12);
    EXPECT_NE(model::unsupported(rigid, model::Analysis::penalty).find("built for rigid contacts"), std::string::npos);
    EXPECT_EQ(model::unsupported(with_springs("damped-contact"), model::Analysis::penalty), "");
}

TEST(PenaltyDamping, RefusesMatricesWithoutMeaning) {
    const auto refusal = [](const auto& change) {
        return refusal_of([&] {
            model::Description d = description_of("damped-contact");
            change(d);
            model::build(d, {});
        });
    };
    const auto has = [](const std::string& text, const char* part) { return text.find(part) != std::string::npos; };
    EXPECT_TRUE(has(refusal([](auto& d) { d.penalty->D_hat = {{{"1", "2"}, {"0", "1"}}, true}; }), "not symmetric"));
    EXPECT_TRUE(has(refusal([](auto& d) {
                        d.penalty->D_hat = {{{"1", "2"}, {"2", "1"}}, true};
                    }),
                    "not positive semidefinite"));
    EXPECT_TRUE(has(refusal([](auto& d) { d.penalty->D_hat = {{{"1", "2", "3"}}, false}; }), "does not fit"));
    EXPECT_TRUE(has(refusal([](auto& d) { d.penalty->D_hat = {{{"x"}}, false}; }), "parameters"));
    EXPECT_TRUE(has(refusal([](auto& d) { d.penalty->D_of.push_back({"wal", {{{"1"}}, false}, {}}); }), "wall"));
    EXPECT_TRUE(has(refusal([](auto& d) {
                        d.contacts.push_back(d.contacts[0]);
                        d.contacts[1].name = "other";
                        d.contacts[1].gN = "2 - y";
                    }),
                    "belong to one contact each"));
}

}  // namespace
}  // namespace saltus::penalty_damping_test
