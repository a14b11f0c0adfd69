// SPDX-License-Identifier: Apache-2.0
// One Taylor step of a pendulum, x'' = −g/l sin x: the series of its motion, and a radius in which it converges.
#include <array>
#include <cmath>
#include <cstdio>

#include "saltus/expr/graph.hpp"
#include "saltus/expr/series/series_tape.hpp"

using namespace saltus::expr;

int main() {
    Graph graph;
    const Expr t = graph.symbol("t", Kind::time), x = graph.symbol("x", Kind::position);
    const Expr v = graph.symbol("v", Kind::velocity), k = graph.symbol("g/l", Kind::parameter);
    const Expr acceleration = graph.neg(graph.mul(k, graph.unary(Op::sin, x)));
    const SeriesTape tape(graph, std::array{v, acceleration}, std::array{k}, std::array{t, x, v}, t);

    constexpr int order = 20;
    SeriesWorkspace<double> w(tape, order);
    w.prepare(std::array{9.81});
    w.variable(1)[0] = 1.0;  // the angle and its velocity at t = 0
    w.variable(2)[0] = 0.0;
    w.begin(0.0);
    for (int i = 0; i < order; ++i) {
        w.evaluate_order(i);
        for (const int f : {0, 1}) w.variable(f + 1)[i + 1] = w.output(f)[i] / (i + 1);
    }
    const double h = 0.1;
    double angle = 0.0;
    for (int i = order; i >= 0; --i) angle = angle * h + w.variable(1)[i];

    // The motion stays in |x − x_0| <= a, |v| <= b for complex |t| <= R if R times the bounds of x' and x'' do not
    // exceed a and b. Then the series converges there, by Picard's theorem.
    const double a = 1.0, b = 5.0, R = 0.18;
    std::array<double, 2> bound{};
    w.bounds(R, std::array{0.0, a, b}, bound, {});
    const double fastest = std::abs(w.output(0)[0]) + bound[0], strongest = std::abs(w.output(1)[0]) + bound[1];
    std::printf("x(0.1) = %.12f, converges for |t| <= %.2f: %s\n", angle, R,
                R * fastest <= a && R * strongest <= b ? "yes" : "no");
}
