// SPDX-License-Identifier: Apache-2.0
//
// Sliders whose normal force follows the reactions of constraints, such as a bearing: FN = "hypot(lambda(bx),
// lambda(by))".
//
// With u̇ = M⁻¹(h + Gᵀν + Σ w_r λ_r), w_r the slip rows with their friction forces λ_r, the constraints G u̇ + ζ = 0 give
//     ν = −D⁻¹(G M⁻¹ (h + Σ w_r λ_r) + ζ),   D = G M⁻¹Gᵀ.
// With y = D⁻¹e_j and a = M⁻¹Gᵀy the reaction of constraint j is
//     ν_j = −a·h − y·ζ − Σ (a·w_r) λ_r.
// If a·w_r = 0 for all slip rows, friction does not change the reaction. ν_j is then a function of time and state, and
// so is F_N: every method and analysis can use it like any other normal force.
//
// Otherwise F_N depends on the friction λ that it bounds: ν_j = n_j − b_j λ with b_j = a·w. This is solved for one
// slider with one direction whose own friction alone changes the reactions, if F_N² = c₀ + 2c₁λ + c₂λ² as for a
// bearing:
//     |λ| <= μ F_N(λ)   ⟺   k λ² − 2 c₁μ² λ − μ² c₀ <= 0   with k = 1 − c₂μ².
// For k > 0 these λ are an interval with the centre c₁μ²/k and the half width μ N, N = √(c₁²μ²/k + c₀)/√k. At its ends
// |λ| = μ F_N(λ), so that a slider that slips in one direction or the other has one of them. Friction is therefore
//     λ = c₁μ²/k + λ',   |λ'| <= μ N,   and λ' = −μ N sign(γ) if it slips,
// a force c₁μ²/k along w that belongs to the smooth forces (MeanFriction), and a slider with the normal force N;
// both are functions of time and state. For k <= 0 friction jams: N does not exist (it is no number), and a motion ends
// there.
#include <algorithm>
#include <array>
#include <optional>

#include "saltus/base/index.hpp"
#include "saltus/base/numbers.hpp"
#include "saltus/base/text.hpp"
#include "saltus/expr/differentiate.hpp"
#include "saltus/model/detail/builder.hpp"
#include "saltus/model/model.hpp"
#include "saltus/model/outputs.hpp"
#include "saltus/model/variants/energy_split.hpp"

namespace saltus::model {

using expr::Expr;

namespace {

/// Reactions are eliminated by formulas, which grow quickly with the number of constraints.
constexpr std::size_t max_constraints = 8;

using SymbolMatrix = std::vector<std::vector<Expr>>;

/// a b and a − b c. The graph keeps 0·x if x may be undefined; the factors here exist, because M and D are regular.
Expr product(expr::Graph& g, Expr a, Expr b) { return g.is_zero(a) || g.is_zero(b) ? g.constant(0.0) : g.mul(a, b); }
Expr less_product(expr::Graph& g, Expr a, Expr b, Expr c) { return g.sub(a, product(g, b, c)); }

/// The solution of A x = b by elimination without exchanging rows, for a positive definite A: its pivots are not 0.
std::vector<Expr> solve(expr::Graph& g, SymbolMatrix A, std::vector<Expr> b) {
    const std::size_t n = b.size();
    for (std::size_t k = 0; k < n; ++k)
        for (std::size_t i = k + 1; i < n; ++i) {
            if (g.is_zero(A[i][k])) continue;
            const Expr factor = g.div(A[i][k], A[k][k]);
            for (std::size_t j = k; j < n; ++j) A[i][j] = less_product(g, A[i][j], factor, A[k][j]);
            b[i] = less_product(g, b[i], factor, b[k]);
        }
    for (std::size_t k = n; k-- > 0;) {
        for (std::size_t j = k + 1; j < n; ++j) b[k] = less_product(g, b[k], A[k][j], b[j]);
        if (!g.is_zero(b[k])) b[k] = g.div(b[k], A[k][k]);
    }
    return b;
}

/// The terms of a·b that are not 0, and their sum.
std::vector<Expr> products(expr::Graph& g, const std::vector<Expr>& a, const std::vector<Expr>& b) {
    std::vector<Expr> list;
    for (std::size_t i = 0; i < a.size(); ++i)
        if (const Expr p = product(g, a[i], b[i]); !g.is_zero(p)) list.push_back(p);
    return list;
}
Expr dot(expr::Graph& g, const std::vector<Expr>& a, const std::vector<Expr>& b) {
    Expr sum = g.constant(0.0);
    for (const Expr p : products(g, a, b)) sum = g.add(sum, p);
    return sum;
}

/// The square of a normal force that is not negative by its form: a root, a distance, an absolute value, or a positive
/// multiple of one. std::nullopt for all other forms.
std::optional<Expr> square_of_load(expr::Graph& g, Expr load) {
    const expr::Node node = g[load];
    switch (node.op) {
        case expr::Op::sqrt: return node.a;
        case expr::Op::hypot: return g.add(g.mul(node.a, node.a), g.mul(node.b, node.b));
        case expr::Op::abs: return g.mul(node.a, node.a);
        case expr::Op::mul:
        case expr::Op::div: {
            // One factor must be a positive number.
            const bool left = g[node.a].op == expr::Op::constant;
            const Expr factor = left ? node.a : node.b;
            if (g[factor].op != expr::Op::constant || !(g[factor].low > 0.0)) return std::nullopt;
            if (node.op == expr::Op::div && left) return std::nullopt;
            const std::optional<Expr> rest = square_of_load(g, left ? node.b : node.a);
            if (!rest) return std::nullopt;
            const Expr square = g.mul(factor, factor);
            return node.op == expr::Op::mul ? g.mul(square, *rest) : g.div(*rest, square);
        }
        default: return std::nullopt;
    }
}

/// Numbers of a model file, such as 0.3, are rounded. A sum of terms is 0 if it is at most this fraction of the terms.
constexpr double rounded_zero = 1e-13;

}  // namespace

/// FN of a slider. Each reaction that it mentions becomes a symbol, which `resolve_reactions` replaces.
Expr Builder::parse_load(const Field& field, const std::string& what, expr::Kinds allowed) {
    const WithoutCalls text = replace_calls(field.source, quantity_functions(), reactions_.size());
    if (text.calls.empty()) return parse(field, what, allowed);
    for (const NamedCall& call : text.calls) {
        if (call.function != "lambda" && call.function != "lambdaN")
            throw Error(what + " cannot mention " + call.function + "(...)", call.place,
                        "it may mention lambda(...) of constraints");
        const auto at = std::find_if(model_.constraints.begin(), model_.constraints.end(),
                                     [&](const Constraint& c) { return c.name == call.argument; });
        if (at == model_.constraints.end()) {
            std::vector<std::string> names;
            for (const Constraint& c : model_.constraints) names.push_back(c.name);
            throw Error(what + " mentions '" + call.argument + "', which is no constraint", call.place,
                        names.empty() ? "the model has no constraints" : did_you_mean(call.argument, names));
        }
        const Expr symbol = f_.graph.symbol(call.symbol, expr::auxiliary);
        reactions_.push_back({static_cast<std::size_t>(at - model_.constraints.begin()), symbol, what, call.place});
        local_names_[call.symbol] = symbol;
    }
    Field without = field;
    without.source = text.source;
    const Expr e = parse(without, what, allowed);
    for (const NamedCall& call : text.calls) local_names_.erase(call.symbol);
    return e;
}

void Builder::resolve_reactions() {
    if (reactions_.empty()) return;
    const ReactionSymbol& first = reactions_.front();
    const auto refuse = [&](const ReactionSymbol& r, const std::string& why, const std::string& remedy) {
        throw Error(r.what + " follows the reaction of '" + model_.constraints[r.constraint].name + "', but " + why,
                    r.place, remedy);
    };
    if (has_points_) refuse(first, "the model has mass points", "write the normal force as a function of t, q and u");
    if (!model_.contacts.empty() || !model_.clutches.empty())
        refuse(first, "the model has contacts or clutches, whose forces and impulses change it",
               "write the normal force as a function of t, q and u");
    if (sampled_)
        refuse(first, "the feedback is sampled, and its held forces change it",
               "leave out the period of [control], or write the normal force as a function of t, q and u");
    if (model_.constraints.size() > max_constraints)
        refuse(first, "the model has more than " + std::to_string(max_constraints) + " constraints",
               "use coordinates that need fewer constraints");
    expr::Graph& g = f_.graph;
    const Derived d = derive(f_);
    const std::size_t n = f_.q.size(), m = f_.constraints.size(), rows = d.velocity.size();
    const Expr zero = g.constant(0.0);
    SymbolMatrix M(n, std::vector<Expr>(n, zero)), W(rows, std::vector<Expr>(n, zero));
    for (const Derived::Entry& e : d.mass) M[ix(e.row)][ix(e.column)] = M[ix(e.column)][ix(e.row)] = e.value;
    for (const Derived::Entry& e : d.rows) W[ix(e.row)][ix(e.column)] = e.value;
    SymbolMatrix inverse, D(m, std::vector<Expr>(m, zero));  // inverse[k] = M⁻¹ w_k
    for (std::size_t k = 0; k < m; ++k) inverse.push_back(solve(g, M, W[k]));
    for (std::size_t k = 0; k < m; ++k)
        for (std::size_t l = 0; l < m; ++l) D[k][l] = dot(g, W[k], inverse[l]);
    std::vector<std::pair<Expr, Expr>> values;
    std::vector<ReactionInFriction> implicit;
    for (const ReactionSymbol& r : reactions_) {
        std::vector<Expr> unit(m, zero);
        unit[r.constraint] = g.constant(1.0);
        const std::vector<Expr> y = solve(g, D, unit);
        std::vector<Expr> a(n, zero);
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t k = 0; k < m; ++k) a[i] = g.add(a[i], product(g, y[k], inverse[k][i]));
        Expr value = g.neg(dot(g, a, d.h));
        for (std::size_t k = 0; k < m; ++k) value = less_product(g, value, y[k], d.zeta[k]);
        values.emplace_back(r.symbol, value);
        for (std::size_t row = m; row < rows; ++row)
            if (!cancel_everywhere(products(g, a, W[row])))
                implicit.push_back({&r, row, value, dot(g, a, W[row]), W[row]});
    }
    if (!implicit.empty()) resolve_implicit_load(implicit);
    expr::Substitution replace(g, values);
    for (Expr& c : f_.coefficients) c = replace(c);
}

/// Friction that changes the reactions on which its own normal force depends (see the top of this file).
void Builder::resolve_implicit_load(const std::vector<ReactionInFriction>& implicit) {
    expr::Graph& g = f_.graph;
    const auto refuse = [&](const ReactionSymbol& r, const std::string& why) {
        throw Error(
            r.what + " follows the reaction of '" + model_.constraints[r.constraint].name +
                "', but friction in the model changes that reaction, so that each depends on the other; " + why,
            r.place,
            "put the friction on the constraint itself (gammaT, mu), or write the normal force as a function of "
            "t, q and u");
    };
    const std::size_t row = implicit.front().row;
    const ReactionSymbol& first = *implicit.front().reaction;
    const auto slider = std::find_if(model_.sliders.begin(), model_.sliders.end(), [&](const Slider& x) {
        return x.friction.first_row == static_cast<int>(row) && x.friction.dimension == 1;
    });
    if (slider == model_.sliders.end() || slider->friction.law != FrictionLaw::coulomb)
        refuse(first, "this is solved only for friction of a slider along one direction");
    if (slider->friction.mu_static != no_coefficient) refuse(first, "this is solved only for one coefficient, mu");
    for (const ReactionInFriction& x : implicit)
        if (x.row != row) refuse(*x.reaction, "this is solved only if one slider alone changes the reactions");
    for (std::size_t k = 0; k < model_.sliders.size(); ++k) {
        const Slider& other = model_.sliders[k];
        const Expr load = f_.coefficients[ix(other.normal_force)];
        if (&other != &*slider && g.depends_on(load, expr::auxiliary))
            refuse(first, "this is solved only if one slider has such a normal force");
    }
    // F_N² as a function of the friction force λ, which is a symbol for a moment.
    const std::optional<Expr> square = square_of_load(g, f_.coefficients[ix(slider->normal_force)]);
    if (!square) refuse(first, "this is solved only if FN is sqrt(...), hypot(...) or abs(...), or a multiple of it");
    const Expr lambda = g.symbol("friction force", expr::auxiliary);
    std::vector<std::pair<Expr, Expr>> in_friction;
    for (const ReactionSymbol& r : reactions_) {
        const auto at = std::find_if(implicit.begin(), implicit.end(),
                                     [&](const ReactionInFriction& x) { return x.reaction == &r; });
        if (at != implicit.end()) in_friction.emplace_back(r.symbol, g.sub(at->free, g.mul(at->slope, lambda)));
    }
    const Expr G = expr::Substitution(g, in_friction)(*square);
    expr::Derivative by(g, lambda);
    if (!g.is_zero(by(by(by(G)))))
        refuse(first, "this is solved only if FN^2 is a polynomial of the reactions of degree 2");
    const std::vector<std::pair<Expr, Expr>> none{{lambda, g.constant(0.0)}};
    expr::Substitution without(g, none);
    const Expr half = g.constant(0.5), mu = f_.coefficients[ix(slider->friction.mu[0])], mu2 = g.mul(mu, mu);
    const Expr c0 = without(G), c1 = g.mul(half, without(by(G))), c2 = g.mul(half, without(by(by(G))));
    const Expr k = g.sub(g.constant(1.0), g.mul(c2, mu2));
    const Expr N =
        g.div(g.unary(expr::Op::sqrt, g.add(g.div(g.mul(g.mul(c1, c1), mu2), k), c0)), g.unary(expr::Op::sqrt, k));
    const Expr mean = g.div(g.mul(c1, mu2), k);
    f_.coefficients[ix(slider->normal_force)] = N;
    const auto add = [&](Expr value) {
        return coefficient(value, "the mean friction force of '" + slider->name + "'", -infinity, infinity,
                           "must be finite", first.place);
    };
    const auto number = static_cast<std::size_t>(slider - model_.sliders.begin());
    MeanFriction friction;
    friction.slider = number;
    friction.mean = add(mean);
    friction.square = {add(c0), add(c1), add(c2)};
    mean_friction_.push_back(friction);
    for (std::size_t i = 0; i < f_.f.size(); ++i) f_.f[i] = g.add(f_.f[i], product(g, implicit.front().w[i], mean));
}

/// Shows that the sum of the terms is 0 at all times and states, for the parameter values of the model: the terms
/// cancel, or the bounds of the sum are 0 up to the rounding of the numbers in them.
bool Builder::cancel_everywhere(const std::vector<Expr>& terms) {
    expr::Graph& g = f_.graph;
    if (terms.empty() || g.is_zero(cancelled_sum(g, terms))) return true;
    std::vector<Expr> variables{f_.t};
    variables.insert(variables.end(), f_.q.begin(), f_.q.end());
    variables.insert(variables.end(), f_.u.begin(), f_.u.end());
    const expr::Tape tape(g, terms, f_.p, variables);
    std::vector<expr::Interval> scratch(tape.slot_count()), p(p_.begin(), p_.end()), values(terms.size()),
        at(variables.size(), expr::entire());
    tape.prepare<expr::Interval>(p, scratch);
    tape.evaluate<expr::Interval>(at, scratch, values);
    expr::Interval sum;
    double size = 0.0;
    for (const expr::Interval& x : values) {
        sum = sum + x;
        size = std::max({size, x.lo, -x.hi});  // the smallest |x| of the largest term
    }
    return sum.defined && std::max(-sum.lo, sum.hi) <= rounded_zero * size;
}

}  // namespace saltus::model
