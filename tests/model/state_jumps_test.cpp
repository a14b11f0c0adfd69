// SPDX-License-Identifier: Apache-2.0
//
// [[jump]] and mu_static in model files: what they become, and what is refused, with its place.
#include <gtest/gtest.h>

#include <string>

#include "saltus/base/error.hpp"
#include "saltus/io/model/read_model.hpp"
#include "saltus/model/build.hpp"
#include "saltus/model/evaluate.hpp"
#include "saltus/model/model.hpp"

namespace saltus::model_state_jumps_test {
namespace {

const std::string pendulum = R"toml([system]
q = ["a", "b"]
T = "(a'^2 + b'^2)/2"
[parameters]
c = 0.5
)toml";

/// The message of the refusal, with its line.
std::string refusal(const std::string& more) {
    try {
        model::build(io::parse_model(pendulum + more, "test"));
    } catch (const Error& e) {
        return std::to_string(e.place().line) + ": " + e.message() + "; " + e.remedy();
    }
    return "accepted";
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(StateJump, AJumpHasItsTriggerGuardAndNewValues) {
    const model::Model m = model::build(io::parse_model(pendulum + R"toml([[jump]]
name = "swap"
when = "a - 2*b"
direction = "down"
if = "a < c"
q = { a = "b + t" }
u = { b = "-a'" }
)toml",
                                                        "test"));
    ASSERT_EQ(m.jumps.size(), 1U);
    const model::Jump& j = m.jumps[0];
    EXPECT_EQ(j.name, "swap");
    EXPECT_EQ(j.direction, model::Jump::Direction::down);
    ASSERT_EQ(j.q.size(), 1U);
    ASSERT_EQ(j.u.size(), 1U);
    EXPECT_EQ(j.q[0].coordinate, 0);
    EXPECT_EQ(j.u[0].coordinate, 1);
    model::Workspace workspace(m);
    std::vector<double> values(static_cast<std::size_t>(m.layout().coefficients));
    const std::vector<double> q{0.1, 0.3}, u{2.0, 0.0};
    m.system->coefficients(model::at(m, 4.0, q, u), workspace.scratch(), values);
    const auto value = [&](model::Coefficient k) { return values[static_cast<std::size_t>(k)]; };
    EXPECT_DOUBLE_EQ(value(j.when), 0.1 - 0.6);
    EXPECT_DOUBLE_EQ(value(j.guard), 0.5 - 0.1);
    EXPECT_DOUBLE_EQ(value(j.q[0].value), 4.3);
    EXPECT_DOUBLE_EQ(value(j.u[0].value), -2.0);
}

TEST(StateJump, BadJumpsAreRefusedWithTheirPlace) {
    const std::string head = "[[jump]]\nname = \"j\"\n", when = "when = \"a\"\n", value = "u = { a = \"-a'\" }\n";
    EXPECT_EQ(refusal(head + when + value), "accepted");
    EXPECT_TRUE(has(refusal("[[jump]]\n" + when + value), "6: the jump has no name"));
    EXPECT_TRUE(has(refusal(head + value), "6: jump 'j' has no `when`"));
    EXPECT_TRUE(has(refusal(head + "when = \"c\"\n" + value), "8: `when` of jump 'j' does not depend on time"));
    EXPECT_TRUE(has(refusal(head + when), "6: jump 'j' changes nothing"));
    EXPECT_TRUE(has(refusal(head + when + "u = { d = 0 }\n"), "9: unknown coordinate 'd' in u of jump 'j'"));
    EXPECT_TRUE(has(refusal(head + when + "q = { a = \"z\" }\n"), "9: "));
    EXPECT_TRUE(has(refusal(head + when + "direction = \"left\"\n" + value), "9: unknown direction 'left'"));
    EXPECT_TRUE(has(refusal(head + when + "if = \"a\"\n" + value), "9: the condition `if` of jump 'j' is not"));
    EXPECT_TRUE(has(refusal(head + when + value + head + when + value), "the name 'j' is used twice (jump)"));
    EXPECT_TRUE(has(refusal(head + when + value + "speed = 1\n"), "unknown key 'speed' in jump 'j'"));
}

TEST(StaticFriction, BadCoefficientsAreRefusedWithTheirPlace) {
    const auto slider = [](const std::string& more) {
        return "[[slider]]\nname = \"s\"\ngammaT = \"a'\"\nFN = 1\n" + more;
    };
    EXPECT_EQ(refusal(slider("mu = 0.3\nmu_static = 0.3\n")), "accepted");
    EXPECT_TRUE(
        has(refusal(slider("mu = 0.3\nmu_static = 0.2\n")), "11: mu_static of slider 's' is 0.2, it must be >= mu"));
    EXPECT_TRUE(has(refusal(slider("mu = \"0.3 + a^2\"\nmu_static = 0.5\n")), "mu that depends on time"));
    EXPECT_TRUE(
        has(refusal("[[slider]]\nname = \"s\"\ngammaT = [\"a'\", \"b'\"]\nFN = 1\nmu = [0.2, 0.3]\nmu_static = 0.5\n"),
            "belongs to Coulomb friction with one mu"));
    EXPECT_TRUE(
        has(refusal("[[contact]]\nname = \"s\"\ngN = \"a + 1\"\nmu_static = 0.5\n"), "has mu_static but no slip"));
    EXPECT_TRUE(has(refusal("[[contact]]\nname = \"s\"\ngN = \"a + 1\"\ngammaT = \"b'\"\nmu_static = 0.5\n"),
                    "has mu_static but no mu"));
}

}  // namespace
}  // namespace saltus::model_state_jumps_test
