// SPDX-License-Identifier: Apache-2.0
#include "saltus/expr/jumps.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "saltus/expr/parse.hpp"

namespace saltus::expr {
namespace {

struct Search {
    Graph graph;
    Expr x = graph.symbol("x", position), y = graph.symbol("y", position), t = graph.symbol("t", time);

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
        return find_jump(graph, e, variables, center, reach);
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
          "if(x < 1, x^2, 2*x - 1) + y", "if(x < 0, 0, x)", "if(abs(x) < 1, 1 - x^2, 0) + y", "cos(atan2(y, x)) + 2",
          "sin(atan2(y, x))", "y + sqrt(abs(x))", "y - if(x < 0, 0, x^2)", "if(x < y, x, y)",
          "1000*y + if(x < 0, -x, x)", "if(t < 1, y, y - 0.1*(t - 1))", "if(x > 0, sqrt(x), 0)"}) {
        Search search;
        const JumpSearch found = search(text);
        EXPECT_FALSE(found.jump) << text << " at x = " << found.jump->at[1] << ", y = " << found.jump->at[2];
    }
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
}

}  // namespace
}  // namespace saltus::expr
