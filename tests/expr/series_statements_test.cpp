// SPDX-License-Identifier: Apache-2.0
//
// The recurrences as text, compiled by the compiler of the host, against SeriesWorkspace.
#include "saltus/expr/series/series_statements.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include "expr/random_expression.hpp"
#include "support.hpp"

namespace saltus::expr::series_statements_test {
namespace {

using testing::Random;

constexpr int order = 9, stride = order + 1;
constexpr double t0 = 0.7;

/// One graph of the time t, variables q and u, parameters a and b.
struct Case {
    Case() {
        t = g.symbol("t", Kind::time);
        q = g.symbol("q", Kind::position);
        u = g.symbol("u", Kind::velocity);
        a = g.symbol("a", Kind::parameter);
        b = g.symbol("b", Kind::parameter);
    }
    SeriesTape tape() const { return SeriesTape(g, outputs, std::array{a, b}, std::array{t, q, u}, t); }

    Graph g;
    Expr t, q, u, a, b;
    std::vector<Expr> outputs;
    std::array<double, 2> parameters{1.3, 0.4};
};

/// Every operation that has series, on operands that do not leave its domain; constants and finite degrees as well.
std::vector<Case> cases() {
    std::vector<Case> all(2);
    for (Case& c : all) {
        Graph& g = c.g;
        const auto f = [&](Op op, Expr x) { return g.unary(op, x); };
        const auto f2 = [&](Op op, Expr x, Expr y) { return g.binary(op, x, y); };
        const Expr near = g.mul(g.constant(0.3), f(Op::sin, g.add(c.q, c.u)));  // in (−0.3, 0.3)
        const Expr positive = g.add(g.constant(1.5), g.mul(c.a, near));
        for (const Op op :
             {Op::sqrt, Op::exp, Op::log, Op::sin, Op::cos, Op::tan, Op::atan, Op::sinh, Op::cosh, Op::tanh})
            for (const Expr x : {positive, g.add(g.constant(2.0), c.t), c.q}) c.outputs.push_back(f(op, x));
        for (const Op op : {Op::asin, Op::acos})
            for (const Expr x : {near, g.mul(g.constant(0.2), c.t)}) c.outputs.push_back(f(op, x));
        for (const Op op : {Op::add, Op::sub, Op::mul, Op::div, Op::hypot, Op::atan2, Op::min, Op::max})
            for (const auto& [x, y] : {std::pair(c.q, positive),
                                       {positive, c.u},
                                       {c.t, positive},
                                       {c.a, positive},
                                       {positive, c.t},
                                       {g.constant(2.0), positive},
                                       {c.q, c.u}})
                c.outputs.push_back(f2(op, x, y));
        for (const int n : {-3, -1, 2, 3, 7}) c.outputs.push_back(g.powi(positive, n));
        for (const double p : {0.0, 1.0, 2.0, 3.0, 8.0, 0.5, -1.5, 9.0})
            c.outputs.push_back(f2(Op::pow, positive, g.constant(p)));
        c.outputs.push_back(f2(Op::pow, positive, c.b));
        c.outputs.push_back(f2(Op::pow, positive, near));
        c.outputs.push_back(f2(Op::pow, g.add(c.t, g.constant(1.0)), g.constant(0.5)));
        c.outputs.push_back(f(Op::abs, c.u));
        c.outputs.push_back(f(Op::sign, c.u));
        c.outputs.push_back(g.select(f2(Op::less, c.q, c.u), f(Op::exp, c.q), g.mul(c.u, c.t)));
        c.outputs.push_back(g.select(f2(Op::less_equal, c.a, c.b), c.q, c.u));
        c.outputs.push_back(g.select(f2(Op::equal, c.q, c.u), c.q, g.constant(3.0)));
        c.outputs.push_back(g.add(g.mul(c.q, c.u), c.t));
        c.outputs.push_back(g.sub(g.mul(c.q, c.u), c.t));
        c.outputs.push_back(g.sub(c.q, g.mul(c.q, c.u)));
        c.outputs.push_back(g.sub(c.q, g.mul(c.a, c.u)));
        c.outputs.push_back(g.neg(c.t));
        c.outputs.push_back(c.a);
        c.outputs.push_back(c.t);
        c.outputs.push_back(g.mul(c.t, g.mul(c.t, c.a)));
    }
    for (std::uint64_t seed = 0; seed < 30; ++seed) {
        Random random(seed);
        Case& c = all.emplace_back();
        const std::vector<Expr> symbols{c.t, c.q, c.u, c.a, c.b};
        const std::vector<Expr> made = testing::random_program(random, 5, 15).build(c.g, symbols);
        c.outputs = {made.back(), made[made.size() / 2], made[made.size() / 3]};
    }
    return all;
}

/// A function that evaluates all orders of the outputs and their radii.
std::string source_of(const SeriesStatements& s, const std::string& name) {
    const auto at = [](std::size_t i) { return "[" + std::to_string(i) + " * " + std::to_string(stride) + " + k]"; };
    std::string text = "extern \"C\" void " + name +
                       "(const double* x, double R, const double* rq, int need, double* out, double* radius, "
                       "const double* par) {\n";
    text += "double s[" + std::to_string(std::max(1, s.rows) * stride) + "] = {}, c[" +
            std::to_string(std::max(1, s.numbers)) + "]; int pick[" + std::to_string(std::max(1, s.picks)) +
            "], fixed[64] = {}, side[64]; const double t0 = x[0];\n";
    if (s.variables[0] >= 0) {
        const std::string row = std::to_string(s.variables[0] * stride);
        text += "s[" + row + "] = t0; s[" + row + " + 1] = 1.0;\n";
    }
    for (int v = 1; v <= 2; ++v)
        text += "for (int j = 0; j < " + std::to_string(stride) + "; j++) s[" +
                std::to_string(s.variables[static_cast<std::size_t>(v)] * stride) + " + j] = x[" +
                std::to_string(v * stride) + " + j];\n";
    text += "{ const int k = 0;\n" + s.values;
    for (std::size_t i = 0; i < s.outputs.size(); ++i) text += "out" + at(i) + " = " + s.outputs[i].first + ";\n";
    text += "}\nfor (int k = 1; k < " + std::to_string(stride) + "; k++) {\n" + s.orders;
    for (std::size_t i = 0; i < s.outputs.size(); ++i) text += "out" + at(i) + " = " + s.outputs[i].next + ";\n";
    text += "}\n{\n" + s.bounds;
    for (std::size_t i = 0; i < s.outputs.size(); ++i)
        text += "radius[" + std::to_string(i) + "] = " + s.outputs[i].radius + ";\n";
    return text + "}\n}\n";
}

TEST(SeriesStatements, HaveTheCoefficientsAndBoundsOfTheWorkspace) {
    const std::vector<Case> all = cases();
    std::string source =
        "#include <math.h>\n#define SALTUS_FUNCTION static\n"
        "#define SALTUS_SINE_AND_COSINE(x, s, c) { s = sin(x); c = cos(x); }\n";
    source += series_functions();
    source += series_bound_functions();
    const std::vector<std::string> radii{"R", "rq[0]", "rq[1]"};
    std::vector<SeriesTape> tapes;
    std::vector<int> number;  // of the cases that have statements
    for (std::size_t k = 0; k < all.size(); ++k) {
        tapes.push_back(all[k].tape());
        std::vector<SeriesWish> wishes(all[k].outputs.size());
        // All three kinds of wishes; a value alone has no further orders.
        for (std::size_t i = 0; i < wishes.size(); ++i)
            wishes[i] = {i % 3 == 0 ? SeriesWish::Kind::history : SeriesWish::Kind::order, 1u << (i % 5)};
        // In every other case one parameter is not fixed.
        const std::array<double, 2> other{17.0, all[k].parameters[1]};
        const std::vector<std::string> varied{k % 2 == 0 ? "" : "par[0]", ""};
        const SeriesStatements s =
            statements_of(tapes.back(), k % 2 == 0 ? all[k].parameters : other, stride, wishes, radii, varied);
        if (!s.why.empty()) continue;  // an exponent that switches
        number.push_back(static_cast<int>(k));
        source += source_of(s, "f" + std::to_string(k));
    }
    ASSERT_GE(number.size(), 25U);
    const saltus::test::Folder folder;
    folder.write("series.cpp", source);
    const std::string command = std::string(SALTUS_CXX) + " -O0 -w -ffp-contract=off -fno-builtin -shared -fPIC -o " +
                                folder.file("series.so") + " " + folder.file("series.cpp");
    ASSERT_EQ(std::system(command.c_str()), 0) << source;
    void* const library = ::dlopen(folder.file("series.so").c_str(), RTLD_NOW);
    ASSERT_NE(library, nullptr);
    int compared = 0, bounded = 0;
    for (const int k : number) {
        using Call = void (*)(const double*, double, const double*, int, double*, double*, const double*);
        const Call call = reinterpret_cast<Call>(::dlsym(library, ("f" + std::to_string(k)).c_str()));
        ASSERT_NE(call, nullptr);
        const std::size_t outputs = all[static_cast<std::size_t>(k)].outputs.size();
        SeriesWorkspace<double> w(tapes[static_cast<std::size_t>(k)], order);
        w.prepare(all[static_cast<std::size_t>(k)].parameters);
        Random random(static_cast<std::uint64_t>(k));
        for (int trial = 0; trial < 8; ++trial) {
            std::vector<double> x(3 * stride, 0.0), out(outputs * stride), radius(outputs);
            x[0] = t0;
            for (int v = 1; v <= 2; ++v)
                for (int j = 0; j < stride; ++j)
                    w.variable(v)[j] = x[static_cast<std::size_t>(v * stride + j)] =
                        random.moderate() * std::pow(0.5, j);
            w.begin(t0);
            for (int j = 0; j <= order; ++j) w.evaluate_order(j);
            const double R = 1e-3;
            const double rq[2] = {1e-3, 2e-3}, all_radii[3] = {R, rq[0], rq[1]};
            std::vector<double> bound(outputs),
                switches(static_cast<std::size_t>(tapes[static_cast<std::size_t>(k)].switch_count()));
            w.bounds(R, all_radii, bound, switches);
            call(x.data(), R, rq, 31, out.data(), radius.data(), all[static_cast<std::size_t>(k)].parameters.data());
            for (std::size_t i = 0; i < outputs; ++i) {
                const double* const expected = w.output(static_cast<int>(i));
                double size = 0.0;
                for (int j = 0; j <= order; ++j) {
                    size = std::max(size, std::abs(expected[j]));
                    const double got = out[i * stride + static_cast<std::size_t>(j)];
                    if (!std::isfinite(expected[j]) || !(size < 1e100)) break;
                    // Sums in another order, whose errors functions and quotients carry on.
                    ASSERT_NEAR(got, expected[j], 1e-11 * size) << "case " << k << ", output " << i << ", order " << j;
                    ++compared;
                }
                if (!std::isfinite(bound[i])) continue;
                ASSERT_NEAR(radius[i], bound[i], 1e-9 * (bound[i] + 1e-12)) << "case " << k << ", output " << i;
                ++bounded;
            }
        }
    }
    ::dlclose(library);
    EXPECT_GT(compared, 10000);
    EXPECT_GT(bounded, 1000);
}

TEST(SeriesStatements, LeaveOutWhatNoGroupNeeds) {
    Case c;
    c.outputs = {c.g.mul(c.q, c.u), c.g.unary(Op::exp, c.q)};
    const SeriesTape tape = c.tape();
    const std::vector<SeriesWish> wishes{{SeriesWish::Kind::order, 1}, {SeriesWish::Kind::value, 2}};
    const std::vector<std::string> radii{"R", "a", "b"};
    const SeriesStatements s = statements_of(tape, c.parameters, stride, wishes, radii);
    EXPECT_NE(s.orders.find("if (need & 1u)"), std::string::npos) << s.orders;
    EXPECT_EQ(s.orders.find("saltus_integral"), std::string::npos) << "the exponential is wanted at order 0 alone";
    EXPECT_NE(s.values.find("exp("), std::string::npos);
    EXPECT_EQ(s.outputs[1].next, "0.0");
    EXPECT_EQ(s.rows, 2) << "only q and u have to be kept";
}

}  // namespace
}  // namespace saltus::expr::series_statements_test
