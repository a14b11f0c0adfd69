// SPDX-License-Identifier: Apache-2.0
#include "saltus/stability/certify/detail/functions/reduced_sum.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <vector>

namespace saltus::stability {

using expr::Expr;
using expr::Interval;
using expr::Node;
using expr::Op;

namespace {

/// Longer sums are not multiplied out.
constexpr std::size_t max_terms = 400;
/// Powers up to this exponent of a sum are multiplied out.
constexpr int max_expanded_power = 4;

/// A product: an exact number, and other factors by their numbers in the graph with their exponents.
struct Term {
    double coefficient = 1.0;
    std::map<std::uint32_t, int> factors;
};
using Terms = std::vector<Term>;

/// The product, quotient or sum of two numbers, if it is representable.
std::optional<double> exact_product(double a, double b) {
    const double p = a * b;
    return std::isfinite(p) && std::fma(a, b, -p) == 0.0 ? std::optional(p) : std::nullopt;
}
std::optional<double> exact_quotient(double a, double b) {
    const double p = a / b;
    return std::isfinite(p) && std::fma(p, b, -a) == 0.0 ? std::optional(p) : std::nullopt;
}
std::optional<double> exact_sum(double a, double b) {
    const Interval sum = Interval(a) + Interval(b);
    return sum.lo == sum.hi ? std::optional(sum.lo) : std::nullopt;
}

class Reduction {
public:
    Reduction(expr::Graph& graph, const std::function<bool(Expr)>& nonzero) : g_(graph), nonzero_(nonzero) {}

    Expr run(Expr e) {
        const std::optional<Terms> terms = terms_of(e);
        if (!terms) return e;
        Terms left;
        for (const Term& t : *terms) {
            const auto like = std::find_if(left.begin(), left.end(), [&](const Term& o) {
                return o.factors == t.factors && exact_sum(o.coefficient, t.coefficient);
            });
            if (like == left.end())
                left.push_back(t);
            else if (like->coefficient = *exact_sum(like->coefficient, t.coefficient); like->coefficient == 0.0)
                left.erase(like);
        }
        Expr sum = g_.constant(0.0);
        for (const Term& t : left) sum = g_.add(sum, built(t));
        return sum;
    }

private:
    Expr built(const Term& t) {
        Expr above = g_.constant(t.coefficient), below = g_.constant(1.0);
        for (const auto& [id, n] : t.factors) {
            Expr& side = n > 0 ? above : below;
            for (int k = 0; k < std::abs(n); ++k) side = g_.mul(side, Expr{id});
        }
        return g_.div(above, below);
    }

    static void multiply(Term& t, std::uint32_t id, int power) {
        if ((t.factors[id] += power) == 0) t.factors.erase(id);
    }

    std::optional<Terms> product(const Terms& a, const Terms& b) {
        if (a.size() * b.size() > max_terms) return std::nullopt;
        Terms all;
        for (const Term& x : a)
            for (const Term& y : b) {
                Term t = x;
                for (const auto& [id, n] : y.factors) multiply(t, id, n);
                if (const std::optional<double> c = exact_product(x.coefficient, y.coefficient))
                    t.coefficient = *c;
                else
                    multiply(t, g_.constant(y.coefficient).id, 1);
                all.push_back(std::move(t));
            }
        return all;
    }

    /// One factor to a power. A negative power of a factor that may vanish is a factor of its own, which cancels
    /// nothing.
    Terms single(Expr e, int power = 1) {
        if (power > 0 || nonzero_(e)) return {Term{1.0, {{e.id, power}}}};
        Expr below = e;
        for (int k = 1; k < -power; ++k) below = g_.mul(below, e);
        return {Term{1.0, {{g_.div(g_.constant(1.0), below).id, 1}}}};
    }

    /// The terms divided by one term.
    std::optional<Terms> quotient(const Terms& a, const Term& b) {
        std::optional<Terms> all = a;
        for (const auto& [id, power] : b.factors) {
            if (all)
                all = power > 0 ? product(*all, single(Expr{id}, -power)) : product(*all, {Term{1.0, {{id, -power}}}});
        }
        if (!all || b.coefficient == 0.0) return std::nullopt;
        for (Term& t : *all)
            if (const std::optional<double> c = exact_quotient(t.coefficient, b.coefficient))
                t.coefficient = *c;
            else
                multiply(t, g_.constant(b.coefficient).id, -1);
        return all;
    }

    std::optional<Terms> terms_of(Expr e) {
        const Node n = g_[e];
        switch (n.op) {
            case Op::constant:
                if (n.low != n.high) return single(e);  // it was rounded: a factor like a symbol
                if (n.value == 0.0) return Terms{};
                return Terms{Term{n.value, {}}};
            case Op::add:
            case Op::sub: {
                std::optional<Terms> a = terms_of(n.a), b = terms_of(n.b);
                if (!a || !b || a->size() + b->size() > max_terms) return std::nullopt;
                for (Term& t : *b) {
                    if (n.op == Op::sub) t.coefficient = -t.coefficient;
                    a->push_back(std::move(t));
                }
                return a;
            }
            case Op::neg: {
                std::optional<Terms> a = terms_of(n.a);
                if (a)
                    for (Term& t : *a) t.coefficient = -t.coefficient;
                return a;
            }
            case Op::mul: {
                const std::optional<Terms> a = terms_of(n.a), b = terms_of(n.b);
                return a && b ? product(*a, *b) : std::nullopt;
            }
            case Op::div: {
                const std::optional<Terms> a = terms_of(n.a), b = terms_of(n.b);
                if (!a || !b) return std::nullopt;
                // A denominator of one term is divided by factor; a sum stays one factor.
                return b->size() == 1 ? quotient(*a, b->front()) : product(*a, single(n.b, -1));
            }
            case Op::powi: {
                if (n.exponent < 1 || n.exponent > max_expanded_power) return single(e);
                const std::optional<Terms> base = terms_of(n.a);
                if (!base) return std::nullopt;
                std::optional<Terms> all = Terms{Term{}};
                for (int k = 0; k < n.exponent && all; ++k) all = product(*all, *base);
                return all;
            }
            default: return single(e);
        }
    }

    expr::Graph& g_;
    const std::function<bool(Expr)>& nonzero_;
};

}  // namespace

Expr reduced_sum(expr::Graph& graph, Expr e, const std::function<bool(Expr)>& nonzero) {
    return Reduction(graph, nonzero).run(e);
}

}  // namespace saltus::stability
