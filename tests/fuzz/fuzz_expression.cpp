// SPDX-License-Identifier: Apache-2.0
// Any text as an expression: parsed, differentiated twice, evaluated on numbers, lanes and intervals, emitted; or an
// Error. The lanes must agree with the number to the bit, enclosures must be intervals.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "saltus/base/error.hpp"
#include "saltus/expr/differentiate.hpp"
#include "saltus/expr/parse.hpp"
#include "saltus/expr/tape.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace saltus;
    using namespace saltus::expr;
    try {
        Graph graph(Graph::Simplify::yes, 20'000);
        const Expr x = graph.symbol("x", position), v = graph.symbol("x'", velocity), p = graph.symbol("p", parameter);
        Scope scope;
        scope.find = [&](std::string_view name) -> std::optional<Expr> {
            if (name == "x") return x;
            if (name == "x'") return v;
            if (name == "p") return p;
            return std::nullopt;
        };
        scope.names = [] { return std::vector<std::string>{"x", "x'", "p"}; };
        const Source source{std::string(reinterpret_cast<const char*>(data), size), {}, {}};
        const Expr e = parse(graph, source, scope);
        const Expr first = Derivative(graph, x)(e);
        const Expr second = Derivative(graph, v)(first);
        to_string(graph, second);
        kinks(graph, e, position);
        const std::vector<Expr> outputs{e, first, second};
        const Tape tape(graph, outputs, std::vector{p}, std::vector{x, v});

        const std::vector<double> at{0.7, -1.3}, parameter_value{2.5};
        std::vector<double> scratch(tape.slot_count()), out(3);
        tape.prepare<double>(parameter_value, scratch);
        tape.evaluate<double>(at, scratch, out);

        std::vector<Lanes> lane_scratch(tape.slot_count()), lane_out(3);
        tape.prepare<Lanes>(std::vector{Lanes(2.5)}, lane_scratch);
        tape.evaluate<Lanes>(std::vector{Lanes(0.7), Lanes(-1.3)}, lane_scratch, lane_out);
        for (std::size_t k = 0; k < 3; ++k)
            if (std::memcmp(&lane_out[k].v[5], &out[k], sizeof(double)) != 0 &&
                !(std::isnan(out[k]) && std::isnan(lane_out[k].v[5])))
                std::abort();

        std::vector<Interval> box_scratch(tape.slot_count()), box_out(3);
        tape.prepare<Interval>(std::vector{Interval(2.5)}, box_scratch);
        tape.evaluate<Interval>(std::vector{Interval(0.6, 0.8), Interval(-1.4, -1.2)}, box_scratch, box_out);
        for (const Interval& box : box_out)
            if (!(box.lo <= box.hi)) std::abort();
        tape.emit_cpp("f");
    } catch (const Error&) {
    }
    return 0;
}
