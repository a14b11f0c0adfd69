// SPDX-License-Identifier: Apache-2.0
// Auxiliary expressions of [let] and repeated blocks, against models in which they are written out.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "saltus/base/error.hpp"
#include "saltus/io/model/read_model.hpp"
#include "saltus/model/build.hpp"
#include "saltus/model/evaluate.hpp"
#include "saltus/model/model.hpp"
#include "saltus/model/settings.hpp"

namespace saltus::model::definitions_test {
namespace {

Model built(const std::string& text) { return build(io::parse_model(text, "test.toml")); }

const std::string pendulum_on_a_cart = R"toml(
[system]
q = ["x", "phi"]
T = "(x'^2 + vx^2 + vy^2)/2"
U = "9.81*height"
R = "0.1*vx^2"
[parameters]
l = 0.7
[let]
vy = "l*phi'*sin(phi)"
height = "-l*cos(phi)"
vx = "x' + swing"
swing = "l*phi'*cos(phi)"
[[contact]]
name = "wall"
gN = "2 - x - l*sin(phi)"
gammaT = "vy"
mu = 0.3
[initial]
q = { phi = 0.4 }
)toml";

const std::string written_out = R"toml(
[system]
q = ["x", "phi"]
T = "(x'^2 + (x' + l*phi'*cos(phi))^2 + (l*phi'*sin(phi))^2)/2"
U = "-9.81*l*cos(phi)"
R = "0.1*(x' + l*phi'*cos(phi))^2"
[parameters]
l = 0.7
[[contact]]
name = "wall"
gN = "2 - x - l*sin(phi)"
gammaT = "l*phi'*sin(phi)"
mu = 0.3
[initial]
q = { phi = 0.4 }
)toml";

TEST(Definitions, GiveTheEquationsOfTheExpressionsWrittenOut) {
    const Model a = built(pendulum_on_a_cart), b = built(written_out);
    EXPECT_TRUE(a.warnings.empty());
    Workspace wa(a), wb(b);
    Terms ta(a.layout()), tb(b.layout());
    for (const double phi : {0.4, -1.3, 2.9}) {
        const std::vector<double> q{0.2, phi}, u{-0.6, 1.1};
        evaluate(a, wa, 0.0, q, u, ta);
        evaluate(b, wb, 0.0, q, u, tb);
        ASSERT_EQ(ta.h.size(), tb.h.size());
        for (std::size_t i = 0; i < ta.h.size(); ++i) EXPECT_NEAR(ta.h[i], tb.h[i], 1e-13);
        for (std::size_t i = 0; i < ta.M.size(); ++i) EXPECT_NEAR(ta.M[i], tb.M[i], 1e-13);
        for (std::size_t i = 0; i < ta.W.size(); ++i) EXPECT_NEAR(ta.W[i], tb.W[i], 1e-13);
    }
}

/// The message for a model that is refused, with its remedy.
std::string refusal(const std::string& text) {
    try {
        built(text);
    } catch (const Error& e) {
        return e.what();
    }
    return "accepted";
}

std::string with(const std::string& let, const std::string& gap = "y") {
    return "[system]\nq = [\"y\"]\nT = \"y'^2/2\"\n[parameters]\nm = 1\n[let]\n" + let +
           "\n[[contact]]\nname = \"floor\"\ngN = \"" + gap + "\"\n[initial]\nq = { y = 1 }\n";
}

TEST(Definitions, AreRefusedWithAReason) {
    EXPECT_NE(refusal(with("a = \"b + 1\"\nb = \"2*a\"")).find("cyclic: b -> a -> b"), std::string::npos);
    EXPECT_NE(refusal(with("m = \"y\"")).find("named like a parameter"), std::string::npos);
    EXPECT_NE(refusal(with("y = \"1\"")).find("named like a coordinate"), std::string::npos);
    EXPECT_NE(refusal(with("sin = \"1\"")).find("named like a function"), std::string::npos);
    EXPECT_NE(refusal(with("v = \"y'\"", "y + v")).find("'v' in the gap gN of 'floor'"), std::string::npos);
    EXPECT_NE(refusal(with("h = \"y\"", "h'")).find("has no velocity"), std::string::npos);
    EXPECT_NE(refusal(with("h = \"y + z\"")).find("'h' of [let]"), std::string::npos);
    EXPECT_NE(refusal(with("h = \"y\"") + "").find("accepted"), std::string::npos);
}

TEST(Definitions, ThatNothingUsesCauseAWarning) {
    const Model m = built(with("h = \"y\"\nk = \"h + 1\"", "h"));
    EXPECT_EQ(
        std::count_if(m.warnings.begin(), m.warnings.end(),
                      [](const std::string& w) { return w.find("'k' of [let] is not used") != std::string::npos; }),
        1);
}

TEST(Definitions, ThatDoubleEachOtherAreReadOnceEach) {
    std::string let = "a0 = \"y\"\n";
    for (int k = 1; k < 60; ++k)
        let += "a" + std::to_string(k) + " = \"(a" + std::to_string(k - 1) + " + a" + std::to_string(k - 1) + ")/2\"\n";
    EXPECT_EQ(refusal(with(let, "a59")), "accepted");
}

const std::string repeated = R"toml(
[system]
q = ["x", "y"]
T = "(x'^2 + y'^2)/2"
U = "9.81*y"
[parameters]
pitch = 0.5
[[contact]]
for = "i in -1..3"
name = "step{i}"
gN = "y + pitch*i - 0.1*i^2*x"
gammaT = "x' + i"
mu = "0.1 + 0.05*abs(i)"
eN = 0.2
[initial]
q = { y = 5 }
)toml";

TEST(RepeatedBlocks, AreTheBlocksWrittenOneByOne) {
    std::string text = repeated.substr(0, repeated.find("[[contact]]"));
    for (int i = -1; i <= 3; ++i) {
        const std::string n = "(" + std::to_string(i) + ")";
        text += "[[contact]]\nname = \"step" + std::to_string(i) + "\"\ngN = \"y + pitch*" + n + " - 0.1*" + n +
                "^2*x\"\ngammaT = \"x' + " + n + "\"\nmu = \"0.1 + 0.05*abs" + n + "\"\neN = 0.2\n";
    }
    text += repeated.substr(repeated.find("[initial]"));
    const Model a = built(repeated), b = built(text);
    ASSERT_EQ(a.contacts.size(), 5U);
    Workspace wa(a), wb(b);
    Terms ta(a.layout()), tb(b.layout());
    const std::vector<double> q{0.3, 1.2}, u{0.7, -2.0};
    evaluate(a, wa, 0.0, q, u, ta);
    evaluate(b, wb, 0.0, q, u, tb);
    for (std::size_t i = 0; i < ta.all().size(); ++i) EXPECT_DOUBLE_EQ(ta.all()[i], tb.all()[i]);
    for (std::size_t i = 0; i < a.contacts.size(); ++i) EXPECT_EQ(a.contacts[i].name, b.contacts[i].name);
}

TEST(RepeatedBlocks, AreRefusedWithAReason) {
    const auto with_line = [](const std::string& line) {
        return refusal(
            std::string(repeated).replace(repeated.find("for ="), std::string("for = \"i in -1..3\"").size(), line));
    };
    EXPECT_NE(with_line("for = \"i in 1..n\"").find("is no repetition"), std::string::npos);
    EXPECT_NE(with_line("for = \"i in 3..1\"").find("repeats nothing"), std::string::npos);
    EXPECT_NE(with_line("for = \"i in 0..10000000\"").find("more than 10 000 times"), std::string::npos);
    EXPECT_NE(with_line("for = \"x in 1..3\"").find("is taken"), std::string::npos);
    EXPECT_NE(with_line("for = \"k in 1..3\"").find("must contain its index"), std::string::npos);
    EXPECT_NE(with_line("for = 3").find("not a text such as"), std::string::npos);
}

TEST(RepeatedBlocks, KnowTheirIndexInConditions) {
    const Model m = built(R"toml(
[system]
q = ["x", "y"]
T = "(x'^2 + y'^2)/2"
U = "9.81*y"
[[contact]]
for = "i in 0..2"
name = "stair{i}"
gN = "y + i"
if = "x > i"
eN = 0.5
[[jump]]
for = "k in 1..2"
name = "kick{k}"
when = "y - k"
if = "x < k"
u = { x = "k" }
[initial]
q = { x = 1.5, y = 3.5 }
)toml");
    std::vector<double> coefficients(static_cast<std::size_t>(m.layout().coefficients));
    Workspace w(m);
    const std::vector<double> q{1.5, 3.5}, u{0.0, 0.0};
    m.system->coefficients(at(m, 0.0, q, u), w.scratch(), coefficients);
    for (std::size_t i = 0; i < 3; ++i)
        EXPECT_DOUBLE_EQ(coefficients[static_cast<std::size_t>(m.contacts[i].condition)], 1.5 - static_cast<double>(i));
    EXPECT_EQ(m.jumps.size(), 2U);
}

const std::string chain = R"toml(
[points]
positions = [[0, 0, 0], [1, 0, 0], [2, 0, 0], [3, 0, 0], [4, 0, 0]]
mass = { total = 5 }
[[springs]]
for = "i in 0..3"
pairs = [["i", "i + 1"]]
k = "10*(1 + i)"
[[obstacle]]
for = "j in 1..2"
name = "wall{j}"
normal = [0, "j", 0]
offset = "-j^2"
)toml";

TEST(RepeatedBlocks, SpringsAndObstaclesOfMassPointsAreTheBlocksWrittenOneByOne) {
    std::string text = chain.substr(0, chain.find("[[springs]]"));
    for (int i = 0; i < 4; ++i)
        text += "[[springs]]\npairs = [[" + std::to_string(i) + ", " + std::to_string(i + 1) +
                "]]\nk = " + std::to_string(10 * (1 + i)) + "\n";
    text += "[[obstacle]]\nname = \"wall1\"\nnormal = [0, 1, 0]\noffset = -1\n";
    text += "[[obstacle]]\nname = \"wall2\"\nnormal = [0, 2, 0]\noffset = -4\n";
    const Model a = built(chain), b = built(text);
    Workspace wa(a), wb(b);
    Terms ta(a.layout()), tb(b.layout());
    std::vector<double> q = a.q0, u(q.size(), 0.1);
    for (std::size_t i = 0; i < q.size(); ++i) q[i] += 0.01 * static_cast<double>(i * i);
    evaluate(a, wa, 0.0, q, u, ta);
    evaluate(b, wb, 0.0, q, u, tb);
    ASSERT_EQ(ta.all().size(), tb.all().size());
    for (std::size_t i = 0; i < ta.all().size(); ++i) EXPECT_DOUBLE_EQ(ta.all()[i], tb.all()[i]);
    for (std::size_t i = 0; i < a.contacts.size(); ++i) EXPECT_EQ(a.contacts[i].name, b.contacts[i].name);
}

TEST(RepeatedBlocks, PairsOfSpringsTakeSumsOfWholeNumbersAndMultiplesOfTheIndex) {
    const auto with_pair = [](const std::string& pair) {
        return refusal(std::string(chain).replace(chain.find("\"i + 1\""), 7, pair));
    };
    EXPECT_EQ(refusal(chain), "accepted");
    EXPECT_EQ(with_pair("\"1*i+1\""), "accepted");
    for (const std::string wrong : {"\"i*2\"", "\"i/2\"", "\"\"", "\"k\"", "\"2*\"", "\"i i\"", "\"1.5\""})
        EXPECT_NE(with_pair(wrong).find("which is no whole number"), std::string::npos) << wrong << with_pair(wrong);
    EXPECT_NE(with_pair("\"i + 2\"").find("5"), std::string::npos);  // point 5 does not exist
    // Without `for` there is no index.
    EXPECT_NE(refusal(std::string(chain).replace(chain.find("for = \"i in 0..3\"\n"), 18, "")).find("as integers"),
              std::string::npos);
}

}  // namespace
}  // namespace saltus::model::definitions_test
