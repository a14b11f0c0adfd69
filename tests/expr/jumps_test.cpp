// SPDX-License-Identifier: Apache-2.0
#include "saltus/expr/jumps.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "saltus/expr/parse.hpp"

namespace saltus::expr::jumps_test {
namespace {

struct Search {
    Graph graph;
    Expr x = graph.symbol("x", position), y = graph.symbol("y", position), t = graph.symbol("t", time);

    std::vector<std::string> admissible_texts;  // nonnegative in admissible states
    bool is_gap = false;

    JumpSearch operator()(const std::string& text, double x0 = 0.3, double y0 = 0.7) {
        const Scope scope = [this] {
            Scope s;
            s.what = "test";
            s.find = [this](std::string_view name) -> std::optional<Expr> {
                if (name == "x") return x;
                if (name == "y") return y;
                if (name == "t") return t;
                return {};
            };
            return s;
        }();
        const Expr e = parse(graph, {text, {}, {}}, scope);
        const Expr variables[] = {t, x, y};
        const double center[] = {0.0, x0, y0}, reach[] = {2.0, 1.0 + std::abs(x0), 1.0 + std::abs(y0)};
        std::vector<Expr> admissible;
        for (const std::string& a : admissible_texts) admissible.push_back(parse(graph, {a, {}, {}}, scope));
        return find_jump(graph, e, JumpRegion{variables, center, reach, admissible, is_gap});
    }
};

TEST(Jumps, AreFoundWhereBranchesDifferAtTheSwitchingSurface) {
    for (const char* const text :
         {"y + if(abs(x) < 0.25, 0.2, 0)", "y - sign(x)", "if(x < 1, y, y - 0.5)", "y + 0.01*sign(x - 2)",
          "if(x^2 + y^2 < 1, y, x)", "y + atan2(y, x)", "if(t < 1, y, y - 0.1)", "y + sign(x)*cos(x)",
          "max(y, if(x > 0, 3, y))", "if(x < 0, 0, if(y < 0, 0, x + 1))", "y - sqrt(if(x > 0, 1, 4))",
          "1e-6*(y + if(x < 0, 1, 0))"}) {
        Search search;
        const JumpSearch found = search(text);
        ASSERT_TRUE(found.jump) << text;
        EXPECT_GT(std::abs(found.jump->after - found.jump->before), 1e-9) << text;
    }
}

TEST(Jumps, AreNotFoundInContinuousExpressions) {
    for (const char* const text :
         {"y + abs(x)", "min(y, max(x, 1))", "hypot(x, y) - 1", "x*sign(x) + y", "sign(x)*abs(x)*y",
          "if(x < 1, x^2, 2*x - 1) + y", "if(x < 0, 0, x)", "if(abs(x) < 1, 1 - x^2, 0) + y",
          "hypot(x, y)*cos(atan2(y, x)) + 2", "y + sqrt(abs(x))", "y - if(x < 0, 0, x^2)", "if(x < y, x, y)",
          "1000*y + if(x < 0, -x, x)", "if(t < 1, y, y - 0.1*(t - 1))", "if(x > 0, sqrt(x), 0)"}) {
        Search search;
        const JumpSearch found = search(text);
        EXPECT_FALSE(found.jump) << text << " at x = " << found.jump->at[1] << ", y = " << found.jump->at[2];
    }
}

TEST(Jumps, AreFoundAtPolesOfDivisionsPowersAndTangents) {
    for (const char* const text :
         {"y + abs(sin(x))/sin(x)", "y + atan(tan(x))", "y - x/abs(x)", "y + abs(x - 2)/(x - 2)", "y - x/sqrt(x^2)",
          "y + x*abs(x)/x^2", "y + atan(1/(x - 1))", "y + tanh(1/x)", "y - abs(x)*x^(-1)", "y + x - atan(tan(x))",
          "y + 1/(1 + exp(1/x))", "y + 0.01*(x - y)/abs(x - y)", "y + abs(t - 1)/(t - 1)",
          "y + sqrt(1 - cos(2*x))/sin(x)", "y + 0.3*atan(tan(20*x))", "y + x/hypot(x, 0)"}) {
        Search search;
        const JumpSearch found = search(text);
        ASSERT_TRUE(found.jump) << text;
        EXPECT_GT(std::abs(found.jump->after - found.jump->before), 1e-3) << text;
    }
}

TEST(Jumps, AreNotFoundWhereQuotientsAreContinuousOrUnbounded) {
    for (const char* const text :
         {"y + sin(x)/x", "y + (1 - cos(x))/x^2", "y + (x - sin(x))/x^3", "y - 1/(1 + x^2)", "y + 1/x", "y + tan(x)",
          "y - 1/(x^2 + y^2)", "y + x^2/abs(x)", "y + tanh(1e6*x)/2", "y + atan(1000/(1 + x^2))", "y + exp(-1/x^2)",
          "y - (x^2 - 1)/(x - 1)", "y + asin(sin(x))", "sqrt(x^2 + y^2) - x*y/sqrt(x^2 + y^2)", "y + (x + 5)^0.5",
          "y + atan(1/x^2)", "y + x^1.5", "(exp(x) - 1)/x + y", "y + 1/(1 + exp(-200*x))"}) {
        Search search;
        const JumpSearch found = search(text);
        EXPECT_FALSE(found.jump) << text << " from " << found.jump->before << " to " << found.jump->after
                                 << " at x = " << found.jump->at[1] << ", y = " << found.jump->at[2];
    }
}

TEST(Jumps, AreFoundAtSinglePoints) {
    for (const char* const text :
         {"x^2/(x^2 + y^2)", "x*y/(x^2 + y^2) - 0.1", "y + ((x - 0.3)^2 - (y - 0.7)^2)/((x - 0.3)^2 + (y - 0.7)^2)",
          "cos(atan2(y, x)) + 2", "sin(atan2(y, x))", "atan2(abs(y), x)", "y + cos(3*atan2(y - 1, x + 2))",
          "x/hypot(x, y)", "y + x*abs(y)/(x^2 + y^2)", "x^2*y/(x^4 + y^2)", "y + x^3*y^3/(x^4 + y^4)^1.5",
          "y + sin(1/x)", "y + sin(log(x^2 + y^2))", "y - x*y*(x^2 + y^2)^(-1)",
          "(x - 0.3)*(y - 2)/(x^2 - 0.6*x + 0.09 + (y - 2)^2)", "(x - y)*(x + y)/(2*x^2 + y^2 - 2*x*y)",
          "t*(x - 1)/sqrt((x - 1)^2 + (y - 3)^2) + y", "y + 0.01*(x - 20)*(y + 9)/((x - 20)^2 + (y + 9)^2)",
          "y + tanh(x/(x^2 + y^2))"}) {
        Search search;
        const JumpSearch found = search(text);
        ASSERT_TRUE(found.jump) << text;
        EXPECT_GT(std::abs(found.jump->after - found.jump->before), 1e-3) << text;
    }
    Search search;
    const JumpSearch found = search("y + x*(y - 2)/(x^2 + (y - 2)^2)");
    EXPECT_NEAR(found.jump.value().at[1], 0.0, 1e-6);
    EXPECT_NEAR(found.jump.value().at[2], 2.0, 1e-6);
    EXPECT_EQ(found.jump.value().operation, "a division or power");
}

TEST(Jumps, AreNotFoundAtSinglePointsWithALimit) {
    for (const char* const text :
         {"sin(hypot(x, y))/hypot(x, y)", "y + x^2*y/(x^2 + y^2)", "x*y/hypot(x, y)", "sin(x*y)/x + y",
          "y + (1 - cos(hypot(x, y)))/(x^2 + y^2)", "y + x^3/(x^2 + y^2)", "hypot(x, y)*atan2(abs(y), x)",
          "y + (x^2 + y^2)*log(x^2 + y^2)", "y + x^2*sin(1/x)", "x^4/(x^2 + y^2) + sqrt(abs(x*y))/(1 + x^2)",
          "y + sqrt(x^2 + y^2)^0.5", "y + 1/(x^2 + y^2)", "y - log(x^2 + y^2)", "y + tanh(log(x^2 + y^2))"}) {
        Search search;
        const JumpSearch found = search(text);
        EXPECT_FALSE(found.jump) << text << " from " << found.jump->before << " to " << found.jump->after
                                 << " at x = " << found.jump->at[1] << ", y = " << found.jump->at[2];
        EXPECT_FALSE(found.doubt) << text << ": " << found.doubt->reason;
    }
}

TEST(Jumps, OfInadmissibleStatesDoNotCount) {
    Search search;
    ASSERT_TRUE(search("x*y/(x^2 + y^2)").jump);
    search.admissible_texts = {"x - 0.2"};
    const JumpSearch beyond_a_wall = search("x*y/(x^2 + y^2)");
    EXPECT_FALSE(beyond_a_wall.jump);
    EXPECT_FALSE(beyond_a_wall.doubt);
    EXPECT_EQ(beyond_a_wall.limits, 0);
    search.admissible_texts = {"x^2 + y^2 - 0.01"};
    EXPECT_FALSE(search("x*y/(x^2 + y^2)").jump);
    search.admissible_texts = {"x + 0.2"};
    EXPECT_TRUE(search("x*y/(x^2 + y^2)").jump);
    search.admissible_texts = {};
    EXPECT_TRUE(search("x*y/(x^2 + y^2) - 5").jump);
    search.is_gap = true;
    EXPECT_FALSE(search("x*y/(x^2 + y^2) - 5").jump);
    EXPECT_TRUE(search("x*y/(x^2 + y^2) + 5").jump);
}

TEST(Jumps, AreInDoubtWhereValuesOfBothSignsGrowWithoutBound) {
    for (const char* const text : {"y + 1/x", "y - tan(x)", "y + x/(x^2 + y^2)", "1/sin(x)", "y - 1/(x - 1)^3"}) {
        Search search;
        const JumpSearch found = search(text);
        EXPECT_FALSE(found.jump) << text;
        ASSERT_TRUE(found.doubt) << text;
        EXPECT_NE(found.doubt->reason.find("grows without bound, with both signs"), std::string::npos) << text;
    }
    Search search;
    EXPECT_FALSE(search("y - 1/(1 + x^2)").doubt);
    EXPECT_FALSE(search("y - x/(1 + x^2 + y^2)").doubt);
}

TEST(Jumps, AreExcludedByAlgebraIfTheEquationOfTheSurfaceCanBeInserted) {
    Search search;
    EXPECT_TRUE(search("y + abs(x)").decided);
    EXPECT_TRUE(search("if(x < 0, 0, x)").decided);
    EXPECT_TRUE(search("x*sign(x) + y").decided);
    EXPECT_TRUE(search("if(x < 1, x^2, 2*x - 1) + y").decided);
    const JumpSearch circle = search("if(x^2 + y^2 < 1, 1 - x^2 - y^2, 0)");
    EXPECT_FALSE(circle.decided);
    EXPECT_GT(circle.points, 20);
}

TEST(Jumps, AreNamedByTheOperationAndThePlace) {
    Search search;
    const JumpSearch found = search("y + if(x < 1, 0.25, 0)");
    ASSERT_TRUE(found.jump);
    EXPECT_EQ(found.jump->operation, "if");
    EXPECT_NEAR(found.jump->at[1], 1.0, 1e-12);
    EXPECT_NEAR(std::abs(found.jump->after - found.jump->before), 0.25, 1e-9);
    EXPECT_EQ(search("y + abs(x)/x").jump.value().operation, "a division or power");
    EXPECT_EQ(search("y + atan(tan(x))").jump.value().operation, "tan");
}

}  // namespace
}  // namespace saltus::expr::jumps_test
