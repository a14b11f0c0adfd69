// SPDX-License-Identifier: Apache-2.0
#include "saltus/proof/detail/homogeneous.hpp"

#include <cmath>
#include <unordered_map>

namespace saltus::proof {

using expr::Expr;
using expr::Graph;
using expr::Op;

namespace {

/// An expression with more parts than max_parts counts as not decomposed, and so does a power of a sum with an exponent
/// above max_expanded_power: the products of such expressions are too large.
constexpr std::size_t max_parts = 12;
constexpr int max_expanded_power = 8;

using Parts = HomogeneousParts;

void add(Graph& g, Parts& to, double degree, Expr e) {
    const auto [at, fresh] = to.emplace(degree, e);
    if (!fresh) at->second = g.add(at->second, e);
}

Parts product(Graph& g, const Parts& a, const Parts& b) {
    Parts result;
    for (const auto& [p, x] : a)
        for (const auto& [q, y] : b) add(g, result, p + q, g.mul(x, y));
    return result;
}

/// The only part, or std::nullopt.
std::optional<std::pair<double, Expr>> single(const Parts& parts) {
    if (parts.size() != 1) return std::nullopt;
    return std::pair{parts.begin()->first, parts.begin()->second};
}

/// Two operands of one degree. The number 0 has every degree.
struct Pair {
    double degree;
    Expr a, b;
};
std::optional<Pair> same_degree(const Graph& g, const Parts& a, const Parts& b) {
    const auto x = single(a), y = single(b);
    if (!x || !y) return std::nullopt;
    if (g.is_zero(y->second)) return Pair{x->first, x->second, y->second};
    if (g.is_zero(x->second)) return Pair{y->first, x->second, y->second};
    if (x->first != y->first) return std::nullopt;
    return Pair{x->first, x->second, y->second};
}

/// Decomposes the nodes of an expression, operands first. For s > 0 a part x of the degree p has x(q, s u) = s^p x(q,
/// u). So degrees are added in products and subtracted in quotients, and sums keep the parts of their terms. Other
/// operations are decomposed only if that is exact: roots, powers, abs and sign of one part; hypot, min, max and
/// comparisons of two parts of one degree; `if` with a condition of the degree 0. std::nullopt: the node is none of
/// these.
class Decomposition {
public:
    explicit Decomposition(Graph& g) : g_(g) {}

    std::optional<Parts> of(Expr root) {
        const Expr roots[] = {root};
        for (const Expr e : expr::reachable(g_, roots)) {
            std::optional<Parts> parts = node(e);
            if (parts && parts->size() > max_parts) parts.reset();
            parts_[e.id] = std::move(parts);
        }
        return parts_[root.id];
    }

private:
    const std::optional<Parts>& at(Expr e) const { return parts_.at(e.id); }

    std::optional<Parts> node(Expr e) {
        const expr::Node n = g_[e];
        if (!g_.depends_on(e, expr::velocity)) return Parts{{0.0, e}};
        if (n.op == Op::symbol) return Parts{{1.0, e}};
        const int count = operand_count(n.op);
        if (!at(n.a) || (count > 1 && !at(n.b)) || (count > 2 && !at(n.c))) return std::nullopt;
        switch (n.op) {
            case Op::add:
            case Op::sub: {
                Parts sum = *at(n.a);
                for (const auto& [p, x] : *at(n.b)) add(g_, sum, p, n.op == Op::add ? x : g_.neg(x));
                return sum;
            }
            case Op::neg: {
                Parts parts;
                for (const auto& [p, x] : *at(n.a)) parts.emplace(p, g_.neg(x));
                return parts;
            }
            case Op::mul: return product(g_, *at(n.a), *at(n.b));
            case Op::div: {
                const auto divisor = single(*at(n.b));
                if (!divisor) return std::nullopt;
                Parts parts;
                for (const auto& [p, x] : *at(n.a)) parts.emplace(p - divisor->first, g_.div(x, divisor->second));
                return parts;
            }
            case Op::powi: return integer_power(*at(n.a), n.exponent);
            case Op::pow: {
                const auto base = single(*at(n.a));
                if (!base || !exact_exponent(n.b)) return std::nullopt;
                return Parts{{base->first * g_[n.b].value, g_.pow(base->second, n.b)}};
            }
            case Op::sqrt: return of_one(at(n.a), n.op, 0.5);
            case Op::abs: return of_one(at(n.a), n.op, 1.0);
            case Op::sign: return of_one(at(n.a), n.op, 0.0);
            case Op::hypot:
            case Op::min:
            case Op::max: return of_two(n, false);
            case Op::less:
            case Op::less_equal:
            case Op::equal:
            case Op::not_equal: return of_two(n, true);
            case Op::select: {
                const auto condition = single(*at(n.a));
                if (!condition || condition->first != 0.0) return std::nullopt;
                Parts parts;
                for (const auto& [p, x] : *at(n.b)) parts.emplace(p, g_.select(condition->second, x, zero()));
                for (const auto& [p, x] : *at(n.c)) add(g_, parts, p, g_.select(condition->second, zero(), x));
                return parts;
            }
            default: return std::nullopt;
        }
    }

    Expr zero() { return g_.constant(0.0); }

    /// A number that is a multiple of 1/16, so that degrees are exact.
    bool exact_exponent(Expr e) const {
        const expr::Node& n = g_[e];
        return g_.is_constant(e) && n.low == n.high && std::nearbyint(16.0 * n.value) == 16.0 * n.value;
    }

    std::optional<Parts> integer_power(const Parts& base, int exponent) {
        if (const auto one = single(base)) return Parts{{one->first * exponent, g_.powi(one->second, exponent)}};
        if (exponent < 1 || exponent > max_expanded_power) return std::nullopt;
        Parts result = base;
        for (int k = 1; k < exponent; ++k) {
            result = product(g_, result, base);
            if (result.size() > max_parts) return std::nullopt;
        }
        return result;
    }

    /// A function of one operand with f(s^p x) = s^(factor p) f(x). The operand must have a single part.
    std::optional<Parts> of_one(const std::optional<Parts>& operand, Op op, double factor) {
        const auto one = single(*operand);
        if (!one) return std::nullopt;
        return Parts{{one->first * factor, g_.unary(op, one->second)}};
    }

    /// A function of two operands of one degree p with f(s^p x, s^p y) = s^p f(x, y), or a comparison, whose degree is
    /// 0.
    std::optional<Parts> of_two(const expr::Node& n, bool comparison) {
        const auto pair = same_degree(g_, *at(n.a), *at(n.b));
        if (!pair) return std::nullopt;
        return Parts{{comparison ? 0.0 : pair->degree, g_.binary(n.op, pair->a, pair->b)}};
    }

    Graph& g_;
    std::unordered_map<std::uint32_t, std::optional<Parts>> parts_;
};

}  // namespace

std::optional<HomogeneousParts> homogeneous_parts(Graph& graph, Expr e) { return Decomposition(graph).of(e); }

}  // namespace saltus::proof
