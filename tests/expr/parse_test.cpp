// SPDX-License-Identifier: Apache-2.0
#include "saltus/expr/parse.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <map>
#include <numbers>
#include <optional>
#include <string>
#include <vector>

#include "expr/random_expression.hpp"

namespace saltus::expr::parse_test {
namespace {

using testing::eps;
using testing::Random;

// The names of a small model, each with a value.
class Names {
public:
    Names() {
        for (const char* name : {"x", "y", "phi"}) declare(name, Kind::position);
        for (const char* name : {"x'", "y'", "phi'"}) declare(name, Kind::velocity);
        declare("t", Kind::time);
        for (const char* name : {"a", "b", "c", "mass"}) declare(name, Kind::parameter);
        declare("p12.x", Kind::position);
    }

    Scope scope() {
        Scope s;
        s.find = [this](std::string_view name) -> std::optional<Expr> {
            const auto found = meaning.find(std::string(name));
            return found == meaning.end() ? std::nullopt : std::optional(found->second);
        };
        s.names = [this] { return order; };
        return s;
    }

    Expr parse(const std::string& text) { return expr::parse(graph, Source{text, {}, {}}, scope()); }
    Expr operator[](const std::string& name) const { return meaning.at(name); }

    double value(const std::string& text, const std::map<std::string, double>& values = {}) {
        const Expr e = parse(text);
        std::vector<double> symbols(graph.symbols().size(), 0.0);
        for (std::size_t k = 0; k < symbols.size(); ++k)
            if (const auto v = values.find(graph.symbols()[k].name); v != values.end()) symbols[k] = v->second;
        return testing::evaluate(graph, e, symbols);
    }

    Graph graph;
    std::map<std::string, Expr> meaning;
    std::vector<std::string> order;

private:
    void declare(const std::string& name, Kind kind) {
        meaning[name] = graph.symbol(name, kind);
        order.push_back(name);
    }
};

// --- what expressions mean -------------------------------------------------------------------------------------

TEST(Parser, AMinusBindsLooserThanAPower) {
    Names n;
    EXPECT_EQ(n.value("-x^2", {{"x", 3.0}}), -9.0);
    EXPECT_EQ(n.value("(-x)^2", {{"x", 3.0}}), 9.0);
    EXPECT_EQ(n.value("2^-x", {{"x", 3.0}}), 0.125);
    EXPECT_EQ(n.value("2*-x", {{"x", 3.0}}), -6.0);
    EXPECT_EQ(n.value("--x", {{"x", 3.0}}), 3.0);
    EXPECT_EQ(n.value("+-+x", {{"x", 3.0}}), -3.0);
    EXPECT_EQ(n.value("2 - -x", {{"x", 3.0}}), 5.0);
}

TEST(Parser, PowersAssociateToTheRight) {
    Names n;
    EXPECT_EQ(n.value("2^3^2"), 512.0);
    EXPECT_EQ(n.value("(2^3)^2"), 64.0);
    EXPECT_EQ(n.value("x^a^b", {{"x", 2.0}, {"a", 3.0}, {"b", 2.0}}), 512.0);
}

TEST(Parser, SumsAndProductsAssociateToTheLeft) {
    Names n;
    const std::map<std::string, double> values{{"a", 12.0}, {"b", 3.0}, {"c", 2.0}};
    EXPECT_EQ(n.value("a-b-c", values), 7.0);
    EXPECT_EQ(n.value("a-b+c", values), 11.0);
    EXPECT_EQ(n.value("a/b*c", values), 8.0);
    EXPECT_EQ(n.value("a/b/c", values), 2.0);
    EXPECT_EQ(n.value("a/(b*c)", values), 2.0);
    EXPECT_EQ(n.value("a*b^c", values), 108.0);
    EXPECT_EQ(n.value("a+b*c", values), 18.0);
    EXPECT_EQ(n.value("(a+b)*c", values), 30.0);
    EXPECT_EQ(n.value("-a*b", values), -36.0);
    EXPECT_EQ(n.value("-a+b", values), -9.0);
}

TEST(Parser, APrimeMakesAVelocityBeforeAnythingElse) {
    Names n;
    EXPECT_EQ(n.parse("x'"), n["x'"]);
    EXPECT_EQ(n.value("x'^2", {{"x", 10.0}, {"x'", 3.0}}), 9.0);
    EXPECT_EQ(n.value("x*x'", {{"x", 10.0}, {"x'", 3.0}}), 30.0);
    EXPECT_EQ(n.graph.kinds(n.parse("x'*a")), Kind::velocity | Kind::parameter);
}

TEST(Parser, NumbersReadAsTheNearestDouble) {
    Names n;
    const std::vector<std::pair<std::string, double>> cases{{"0", 0.0},
                                                            {"42", 42.0},
                                                            {"0.1", 0.1},
                                                            {".5", 0.5},
                                                            {"5.", 5.0},
                                                            {"1e3", 1e3},
                                                            {"1E3", 1e3},
                                                            {"1.5e-3", 1.5e-3},
                                                            {"2e+2", 200.0},
                                                            {"007", 7.0},
                                                            {"1.7976931348623157e308", 1.7976931348623157e308},
                                                            {"4.9e-324", 5e-324},
                                                            {"9007199254740993", 9007199254740992.0},
                                                            {"0.30000000000000004441", 0.30000000000000004}};
    for (const auto& [text, value] : cases) EXPECT_EQ(n.value(text), value) << text;
}

TEST(Parser, SpaceAndLineBreaksMayStandBetweenAllTokens) {
    Names n;
    EXPECT_EQ(n.parse(" \t\r\n x\n +\t y * ( 2 - x ) \n"), n.parse("x+y*(2-x)"));
    EXPECT_EQ(n.parse("atan2 ( x ,\n y )"), n.parse("atan2(x,y)"));
}

TEST(Parser, NamesTimeAndPiAreFound) {
    Names n;
    EXPECT_EQ(n.parse("t"), n["t"]);
    EXPECT_EQ(n.parse("mass"), n["mass"]);
    EXPECT_EQ(n.parse("p12.x"), n["p12.x"]);
    EXPECT_EQ(n.value("pi"), std::numbers::pi);
    EXPECT_EQ(n.value("2*pi"), 2.0 * std::numbers::pi);
}

TEST(Parser, EveryFunctionMeansItsNamesake) {
    Names n;
    const double x = 0.3, y = -0.7;
    const std::vector<std::pair<std::string, double>> cases{{"abs(y)", 0.7},
                                                            {"min(x, y)", y},
                                                            {"max(x, y)", x},
                                                            {"sqrt(x)", std::sqrt(x)},
                                                            {"exp(x)", std::exp(x)},
                                                            {"log(x)", std::log(x)},
                                                            {"sin(x)", std::sin(x)},
                                                            {"cos(x)", std::cos(x)},
                                                            {"tan(x)", std::tan(x)},
                                                            {"asin(x)", std::asin(x)},
                                                            {"acos(x)", std::acos(x)},
                                                            {"atan(x)", std::atan(x)},
                                                            {"atan2(x, y)", std::atan2(x, y)},
                                                            {"sinh(x)", std::sinh(x)},
                                                            {"cosh(x)", std::cosh(x)},
                                                            {"tanh(x)", std::tanh(x)},
                                                            {"sign(y)", -1.0},
                                                            {"sign(x)", 1.0},
                                                            {"sign(0*x)", 0.0},
                                                            {"hypot(x, y)", std::hypot(x, y)},
                                                            {"pow(x, y)", std::pow(x, y)},
                                                            {"x^y", std::pow(x, y)},
                                                            {"if(x < y, 1, 2)", 2.0}};
    for (const auto& [text, value] : cases) EXPECT_EQ(n.value(text, {{"x", x}, {"y", y}}), value) << text;
}

TEST(Parser, ComparisonsDecideWhichBranchIsTaken) {
    Names n;
    const auto decide = [&](const std::string& comparison, double x) {
        return n.value("if(x " + comparison + " 2, 1, 0)", {{"x", x}}) == 1.0;
    };
    for (const double x : {1.0, 2.0, 3.0}) {
        EXPECT_EQ(decide("<", x), x < 2.0) << x;
        EXPECT_EQ(decide("<=", x), x <= 2.0) << x;
        EXPECT_EQ(decide(">", x), x > 2.0) << x;
        EXPECT_EQ(decide(">=", x), x >= 2.0) << x;
        EXPECT_EQ(decide("==", x), x == 2.0) << x;
        EXPECT_EQ(decide("!=", x), x != 2.0) << x;
    }
    EXPECT_EQ(n.value("if((x < y), 1, 0)", {{"x", 1.0}, {"y", 2.0}}), 1.0);
    EXPECT_EQ(n.value("if(x + 1 < y * 2, if(x > 0, 10, 20), 30)", {{"x", -1.0}, {"y", 2.0}}), 20.0);
}

TEST(Parser, AConditionMayStandWhereOneIsAskedFor) {
    Names n;
    const Expr e = parse_condition(n.graph, Source{"abs(x) < 1", {}, {}}, n.scope());
    EXPECT_TRUE(n.graph.is_truth(e));
    EXPECT_EQ(n.graph[e].op, Op::less);
    EXPECT_EQ(parse_condition(n.graph, Source{"1 > abs(x)", {}, {}}, n.scope()), e);
    EXPECT_TRUE(n.graph.is_truth(parse_condition(n.graph, Source{"1 < 2", {}, {}}, n.scope())));
}

TEST(Parser, KnowsWhatIsReserved) {
    for (const char* name : {"abs",  "min",  "max",   "sqrt", "exp",  "log",  "sin",  "cos",   "tan", "asin",
                             "acos", "atan", "atan2", "sinh", "cosh", "tanh", "sign", "hypot", "pow", "if"}) {
        EXPECT_TRUE(is_function(name)) << name;
        EXPECT_TRUE(is_reserved(name)) << name;
    }
    EXPECT_TRUE(is_reserved("t"));
    EXPECT_TRUE(is_reserved("pi"));
    for (const char* name : {"", "x", "T", "Sin", "ln", "sin'"}) {
        EXPECT_FALSE(is_function(name)) << name;
        EXPECT_FALSE(is_reserved(name)) << name;
    }
    for (const char* name : {"x", "_", "x1", "longName_2"}) EXPECT_TRUE(is_name(name)) << name;
    for (const char* name : {"", "1x", "x'", "a b", "a.b", "\u03c6", "x-"}) EXPECT_FALSE(is_name(name)) << name;
}

// --- what is refused, and how ----------------------------------------------------------------------------------

struct Refusal {
    std::string text;
    std::string message;
    std::string remedy;
    int column;
};

void expect_refusal(const Refusal& expected, bool condition = false) {
    Names n;
    const Source source{expected.text, {"model.toml", 12, 7}, {}};
    try {
        condition ? parse_condition(n.graph, source, n.scope()) : parse(n.graph, source, n.scope());
        ADD_FAILURE() << "accepted: " << expected.text;
    } catch (const Error& error) {
        EXPECT_EQ(error.message(), expected.message) << expected.text;
        EXPECT_EQ(error.remedy(), expected.remedy) << expected.text;
        EXPECT_EQ(error.place().file, "model.toml") << expected.text;
        EXPECT_EQ(error.place().line, 12) << expected.text;
        EXPECT_EQ(error.place().column, expected.column + 6) << expected.text;  // text begins in column 7
    }
}

void expect_refusals(const std::vector<Refusal>& cases) {
    for (const Refusal& refusal : cases) expect_refusal(refusal);
}

const std::string product_remedy = "write * for a product";
const std::string unit_remedy = product_remedy + "; units are not written, and angles are in rad (90 degrees: pi/2)";
const std::string allowed =
    "allowed are + - * / ^ ( ) < <= > >= == != numbers, names, functions and the commas between their arguments";
const std::string operand_remedy = "there is no '(' that it closes, or an operand is missing before it";
const std::string combine = "nest if(c, a, b) to combine conditions";

TEST(ParserErrors, UndefinedNamesGetTheNearestKnownOne) {
    expect_refusals({{"x + phy", "undefined name 'phy' in the expression", "did you mean 'phi'?", 5},
                     {"Phi", "undefined name 'Phi' in the expression", "did you mean 'phi'?", 1},
                     {"2*phy'", "undefined name 'phy'' in the expression", "did you mean 'phi''?", 3},
                     {"mas", "undefined name 'mas' in the expression", "did you mean 'mass'?", 1},
                     {"Pi", "undefined name 'Pi' in the expression", "did you mean 'pi'?", 1},
                     {"zzzz", "undefined name 'zzzz' in the expression",
                      "known here are x, y, phi, x', y', phi', t, a, b, c, mass, p12.x and 1 more", 1},
                     {"p13.y + q", "undefined name 'p13.y' in the expression",
                      "known here are x, y, phi, x', y', phi', t, a, b, c, mass, p12.x and 1 more", 1}});
}

TEST(ParserErrors, TheScopeNamesTheExpressionAndMayRefuseANameThatExists) {
    Names n;
    Scope scope = n.scope();
    scope.what = "gN of contact 'left'";
    scope.refusal = [](std::string_view name) { return name == "u" ? "a gap depends on positions and time only" : ""; };
    const auto message = [&](const std::string& text) -> std::string {
        try {
            parse(n.graph, Source{text, {"m.toml", 3, 6}, {}}, scope);
        } catch (const Error& error) {
            return error.what();
        }
        return "accepted";
    };
    EXPECT_EQ(message("x + u"),
              "m.toml:3:10: 'u' is not allowed in gN of contact 'left'; a gap depends on positions and time only");
    EXPECT_EQ(message("x + mas"), "m.toml:3:10: undefined name 'mas' in gN of contact 'left'; did you mean 'mass'?");
    EXPECT_EQ(message(""), "m.toml:3:6: gN of contact 'left' is empty; write a number or an expression");
}

TEST(ParserErrors, UnknownFunctionsGetTheNearestKnownOne) {
    expect_refusals({{"1 + cosn(x)", "unknown function 'cosn'", "did you mean 'cos'?", 5},
                     {"sine (x)", "unknown function 'sine'", "did you mean 'sin'?", 1},
                     {"sin'(x)", "unknown function 'sin''", "did you mean 'sin'?", 1},
                     {"quaternion(x)", "unknown function 'quaternion'",
                      "known are abs, min, max, sqrt, exp, log, sin, cos, tan, asin, acos, atan and 8 more", 1},
                     {"x + sin", "'sin' is a function", "write sin(...)", 5},
                     {"sin x", "'sin' is a function", "write sin(...)", 1},
                     {"if", "'if' is a function", "write if(...)", 1}});
}

TEST(ParserErrors, ParenthesesMustMatch) {
    expect_refusals({{"2*(x + 1", "'(' is not closed", "add ')'", 3},
                     {"((x)", "'(' is not closed", "add ')'", 1},
                     {"1 + sin(x", "'sin(' is not closed", "add ')'", 5},
                     {"x + 1)", "unexpected ')'", operand_remedy, 6},
                     {"()", "unexpected ')'", operand_remedy, 2},
                     {"(x, y)", "unexpected ','", allowed, 3},
                     {"(x y)", "unexpected 'y'", product_remedy, 4},
                     {"sin(x y)", "unexpected 'y'", product_remedy, 7}});
}

TEST(ParserErrors, FunctionsTakeTheirNumberOfArguments) {
    expect_refusals({{"sin()", "sin takes 1 argument, not 0", "", 1},
                     {"1 + sin(x, y)", "sin takes 1 argument, not 2", "", 5},
                     {"atan2(x)", "atan2 takes 2 arguments, not 1", "", 1},
                     {"min(x, y, t)", "min takes 2 arguments, not 3", "", 1},
                     {"if(x < 1, 2)", "if takes 3 arguments, not 2", "", 1},
                     {"if(x < 1, 2, 3, 4, 5)", "if takes 3 arguments, not 5", "", 1},
                     {"min(x,)", "unexpected ')'", operand_remedy, 7},
                     {"min(,x)", "unexpected ','", allowed, 5}});
}

TEST(ParserErrors, ComparisonsAreNotNumbersAndNumbersAreNotConditions) {
    const std::string message = "a comparison is a condition, not a number";
    const std::string remedy = "use if(condition, a, b)";
    expect_refusals({{"x < 1", message, remedy, 1},
                     {"(x<1)+2", message, remedy, 1},
                     {"2+(x<1)", message, remedy, 3},
                     {"(x<1)*2", message, remedy, 1},
                     {"2*(x<1)", message, remedy, 3},
                     {"-(x<1)", message, remedy, 1},
                     {"+(x<1)", message, remedy, 1},
                     {"(x<1)^2", message, remedy, 1},
                     {"2^(x<1)", message, remedy, 3},
                     {"(x<1)<2", message, remedy, 1},
                     {"2<(x<1)", message, remedy, 3},
                     {"sin(x<1)", message, remedy, 5},
                     {"if(x<1, y<2, 3)", message, remedy, 9},
                     {"if(x, 1, 2)", "the first argument of if must be a condition",
                      "compare two expressions, for example x > 0", 4}});
    expect_refusal({"x + 1", "the expression is not a condition", "compare two expressions, for example abs(x) < 1", 1},
                   true);
}

TEST(ParserErrors, ComparisonsDoNotChain) {
    expect_refusals({{"if(0 < x < 1, 2, 3)", "comparisons cannot be chained", combine, 10},
                     {"if(0 <= x >= 1, 2, 3)", "comparisons cannot be chained", combine, 11},
                     {"if(x < 1 && y < 2, 2, 3)", "unexpected '&'", combine, 10},
                     {"if(x < 1 | y < 2, 2, 3)", "unexpected '|'", combine, 10},
                     {"if(!x, 2, 3)", "unexpected '!'", combine, 4}});
}

TEST(ParserErrors, MistakenComparisonsAreExplainedWhereTheyStand) {
    const std::string message = "a comparison is a condition, not a number";
    const std::string remedy = "use if(condition, a, b)";
    expect_refusals({{"if(x == y == 1, 2, 3)", "comparisons cannot be chained", combine, 11},
                     {"if(x < y != 1, 2, 3)", "comparisons cannot be chained", combine, 10},
                     {"if(x = 2, 1, 0)", "unexpected '='", "write == to compare", 6},
                     {"2 + (x < 1)", message, remedy, 5},
                     {"2 * (x < 1)", message, remedy, 5},
                     {"2 ^ (x < 1)", message, remedy, 5},
                     {"2 < (x < 1)", message, remedy, 5}});
}

TEST(Parser, AFunctionAndItsParenthesisMayStandOnTwoLines) {
    Names n;
    EXPECT_EQ(n.parse("sin\n(x)"), n.parse("sin(x)"));
}

TEST(ParserErrors, ProductsNeedTheirStar) {
    expect_refusals({{"2x", "unexpected 'x'", product_remedy, 2},
                     {"2 phi'", "unexpected 'phi''", product_remedy, 3},
                     {"x y", "unexpected 'y'", product_remedy, 3},
                     {"x 2", "unexpected '2'", product_remedy, 3},
                     {"(x)(y)", "unexpected '('", product_remedy, 4},
                     {"2(x + y)", "unexpected '('", product_remedy, 2},
                     {"1 + x (y)", "unexpected '(' after 'x'", product_remedy, 7},
                     {"pi(y)", "unexpected '('", product_remedy, 3},
                     {"0x10", "unexpected 'x10'", unit_remedy, 2},
                     {"90 deg", "unexpected 'deg'", unit_remedy, 4},
                     {"1,5*x", "unexpected ','", "write a decimal point", 2},
                     {"1.2.3", "unexpected '.'", allowed, 4}});
}

TEST(ParserErrors, OtherLanguagesAreTranslated) {
    expect_refusals({{"x**2", "unexpected '*'", "write ^ for a power", 3},
                     {"x = 2", "unexpected '='", "write == to compare", 3},
                     {"x % 2", "unexpected '%'", allowed, 3},
                     {"[x]", "unexpected '['", allowed, 1},
                     {"x;", "unexpected ';'", allowed, 2},
                     {"x''", "a prime (') must follow the name of a coordinate directly", "", 3},
                     {"(x)'", "a prime (') must follow the name of a coordinate directly", "", 4},
                     {"x '", "a prime (') must follow the name of a coordinate directly", "", 3},
                     {"'x'", "a prime (') must follow the name of a coordinate directly", "", 1}});
}

TEST(ParserErrors, ForeignCharactersAreNamedWithTheirPlainSpelling) {
    expect_refusals({{"x \u2212 y", "unexpected character '\u2212'", "write - for minus", 3},
                     {"\u2013x", "unexpected character '\u2013'", "write - for minus", 1},
                     {"x\u2019", "unexpected character '\u2019'", "write ' (apostrophe) for a velocity", 2},
                     {"x\u2032", "unexpected character '\u2032'", "write ' (apostrophe) for a velocity", 2},
                     {"x\u00b2", "unexpected character '\u00b2'", "write ^2", 2},
                     {"2\u00b7x", "unexpected character '\u00b7'", product_remedy, 2},
                     {"2\u00d7x", "unexpected character '\u00d7'", product_remedy, 2},
                     {"\u03c6", "unexpected character '\u03c6'", "names and operators are plain ASCII", 1}});
}

TEST(ParserErrors, EmptyAndUnfinishedTextsAreRefused) {
    expect_refusals({{"", "the expression is empty", "write a number or an expression", 1},
                     {" \n ", "the expression is empty", "write a number or an expression", 1},
                     {"x +", "the expression ends too early", "an operand is missing", 4},
                     {"x * ", "the expression ends too early", "an operand is missing", 5},
                     {"-", "the expression ends too early", "an operand is missing", 2},
                     {"x^", "the expression ends too early", "an operand is missing", 3},
                     {"sin(", "the expression ends too early", "an operand is missing", 5},
                     {"x + )", "unexpected ')'", operand_remedy, 5},
                     {"* x", "unexpected '*'", allowed, 1},
                     {".", "unexpected '.'", allowed, 1}});
}

TEST(ParserErrors, NumbersMustBeFiniteDoubles) {
    expect_refusals({{"2*1e999", "the number 1e999 is out of range", "", 3},
                     {"1e-999", "the number 1e-999 is out of range", "", 1},
                     {"1" + std::string(400, '0'), "the number 1" + std::string(39, '0') + " is out of range", "", 1}});
}

TEST(ParserErrors, PlacesFollowTheMapOfAMultiLineString) {
    Names n;
    // T = """
    //   x +
    //     phy"""    with the escape \u0020 for the second blank in line 2
    Source source;
    source.text = "x +\n phy + 1)";
    source.place = {"m.toml", 4, 5};
    source.map = {{5, 3}, {5, 4}, {5, 5}, {5, 6}, {6, 1}, {6, 7}, {6, 8}, {6, 9}};
    const auto place = [&](std::size_t offset) {
        const Place p = source.place_of(offset);
        return std::pair(p.line, p.column);
    };
    EXPECT_EQ(place(0), std::pair(5, 3));
    EXPECT_EQ(place(4), std::pair(6, 1));
    EXPECT_EQ(place(5), std::pair(6, 7));
    EXPECT_EQ(place(7), std::pair(6, 9));
    EXPECT_EQ(place(8), std::pair(6, 10));  // beyond the map: the next columns
    EXPECT_EQ(place(12), std::pair(6, 14));
    EXPECT_EQ(source.place_of(3).file, "m.toml");
    try {
        parse(n.graph, source, n.scope());
        FAIL();
    } catch (const Error& error) {
        EXPECT_EQ(std::string(error.what()), "m.toml:6:7: undefined name 'phy' in the expression; did you mean 'phi'?");
    }
}

TEST(ParserErrors, ATextWithoutAPlaceCountsFromLineOneColumnOne) {
    Names n;
    try {
        n.parse("x + q9");
        FAIL();
    } catch (const Error& error) {
        EXPECT_EQ(error.place().line, 1);
        EXPECT_EQ(error.place().column, 5);
        EXPECT_EQ(error.place().file, "");
    }
}

TEST(ParserErrors, ATextAtAnUnknownLineHasAColumnOnly) {
    const Place place = Source{"x + q9", {"m.toml", 0, 0}, {}}.place_of(4);
    EXPECT_EQ(to_string(place), "m.toml, column 5");
}

// --- hostile texts ---------------------------------------------------------------------------------------------

std::string repeated(std::size_t n, const std::string& text) {
    std::string all;
    for (std::size_t k = 0; k < n; ++k) all += text;
    return all;
}

TEST(ParserLimits, TextsThatAreTooLongAreRefusedUnread) {
    expect_refusal(
        {std::string(100'001, '('), "the expression has 100001 characters", "at most 100000 are allowed", 1});
}

TEST(ParserLimits, NestingStopsBeforeTheStackDoes) {
    const std::string message = "the expression is nested too deeply";
    const std::string remedy = "at most 200 levels are allowed";
    expect_refusals({{std::string(100'000, '('), message, remedy, 201},
                     {std::string(100'000, '-'), message, remedy, 201},
                     {repeated(30'000, "2^"), message, remedy, 401},
                     {repeated(20'000, "sin("), message, remedy, 801},
                     {repeated(30'000, "if("), message, remedy, 601}});
}

TEST(ParserLimits, TheDepthLimitIsExact) {
    Names n;
    EXPECT_EQ(n.parse(repeated(199, "(") + "x" + repeated(199, ")")), n["x"]);
    EXPECT_THROW(n.parse(repeated(200, "(") + "x" + repeated(200, ")")), Error);
    // Depth is about nesting, not about length.
    EXPECT_EQ(n.value("0" + repeated(24'000, " + 1")), 24'000.0);
    EXPECT_EQ(n.value("x" + repeated(24'000, " - y"), {{"y", 1.0}}), -24'000.0);
    ParseLimits narrow;
    narrow.depth = 2;
    narrow.characters = 5;
    EXPECT_NO_THROW(parse(n.graph, Source{"(x)", {}, {}}, n.scope(), narrow));
    EXPECT_THROW(parse(n.graph, Source{"((x))", {}, {}}, n.scope(), narrow), Error);
    EXPECT_THROW(parse(n.graph, Source{"x + y ", {}, {}}, n.scope(), narrow), Error);
}

TEST(ParserLimits, AHundredThousandHostileCharactersEndInAnError) {
    Names n;
    for (const std::string& text : {std::string(100'000, 'x'), std::string(100'000, '*'), std::string(100'000, '\''),
                                    std::string(99'999, '1') + "e", repeated(50'000, "x<"), repeated(50'000, "\u00b2"),
                                    repeated(33'333, "x ("), std::string(100'000, '\0'), std::string(100'000, '\xff')})
        EXPECT_THROW(n.parse(text), Error) << text.substr(0, 8);
}

RC_GTEST_PROP(ParserLimits, ArbitraryTextIsParsedOrRefusedWithAPlaceInside, (const std::string& bytes)) {
    Names n;
    // Every byte becomes a token, so that most texts get far into the grammar.
    static const std::vector<std::string> tokens{
        "x", "phi'", "t",  "2",  "1e3", "(",    ")",    "+",    "-", "*", "/", "^",
        ",", "<",    ">=", "==", "if(", "sin(", "min(", "pow(", " ", "'", "=", "."};
    std::string text;
    for (const char c : bytes) text += tokens[static_cast<unsigned char>(c) % tokens.size()];
    try {
        n.parse(text);
    } catch (const Error& error) {
        RC_ASSERT(error.place().line == 1);
        RC_ASSERT(error.place().column >= 1);
        RC_ASSERT(error.place().column <= static_cast<int>(text.size()) + 1);
        RC_ASSERT(!error.message().empty());
    }
}

// --- there and back --------------------------------------------------------------------------------------------

// The written form means the same: a*(b/c) is written a*b/c, so values agree to rounding, and the enclosure of the
// expression over the point, widened by what a few operations can round, holds the value of the text read again.
TEST(Parser, ReadsWhatToStringWrites) {
    int compared = 0;
    for (std::uint64_t seed = 0; seed < 2000; ++seed) {
        Random random(seed);
        Names n;
        const testing::Program program = testing::random_program(random, 3, 8);
        const std::vector<Expr> symbols{n["x"], n["y"], n["a"]};
        const Expr e = program.root(n.graph, symbols);
        const std::string text = to_string(n.graph, e, 100'000);
        if (text.find("...") != std::string::npos || text.find("inf") != std::string::npos || n.graph.is_truth(e))
            continue;
        const Expr again = n.parse(text);
        std::vector<double> values(n.graph.symbols().size());
        for (double& v : values) v = random.between(0.1, 2.0);
        const auto range = testing::evaluate_nodes<Interval>(
            n.graph, std::span(&e, 1),
            [&](const Node& node) {
                return Interval(node.op == Op::constant ? node.value : values[static_cast<std::size_t>(node.exponent)]);
            },
            [](Op op, const Interval& a, const Interval& b, const Interval& c, int k) {
                const Interval r = testing::apply_interval(op, a, b, c, k);
                return op <= Op::pow ? testing::widened(r, 64 * eps, 64 * eps) : r;
            });
        // An overflow inside (cosh(1e6) is infinite) has no real number to compare with.
        if (!range[e.id].defined || !std::isfinite(testing::evaluate(n.graph, e, values))) continue;
        ++compared;
        const double value = testing::evaluate(n.graph, again, values);
        ASSERT_TRUE(testing::encloses(range[e.id], value))
            << "seed " << seed << ": " << text << " = " << value << " instead of [" << range[e.id].lo << ", "
            << range[e.id].hi << "]";
    }
    EXPECT_GT(compared, 500);
}

}  // namespace
}  // namespace saltus::expr::parse_test
