// SPDX-License-Identifier: Apache-2.0
#include "saltus/model/systems/tangent_program.hpp"

#include <algorithm>
#include <utility>

#include "saltus/base/index.hpp"
#include "saltus/expr/differentiate.hpp"
#include "saltus/model/symbolic.hpp"

namespace saltus::model {

using expr::Expr;
using expr::Graph;

namespace {

/// Writes R and C of TangentProgram as expressions.
class ActiveEquations {
public:
    ActiveEquations(const SymbolicEquations& equations, const ActiveForces& forces)
        : f(equations.formulas()), d_(equations.derived()), forces_(forces) {
        const auto symbols = [&](const char* name, std::size_t count) {
            std::vector<Expr> list;
            for (std::size_t i = 0; i < count; ++i) list.push_back(f.graph.symbol(name, expr::auxiliary));
            return list;
        };
        a = symbols("a", f.q.size());
        lambda = symbols("lambda", forces.holding.size());
        dq = symbols("dq", f.q.size());
        du = symbols("du", f.q.size());
        stiffness = f.graph.symbol("stiffness", expr::auxiliary);
        reaction_sign = symbols("reaction_sign", forces.holding.size());
        slip_sign = symbols("slip_sign", forces.slips.size());
    }

    /// R, one per coordinate.
    std::vector<Expr> residual() {
        Graph& g = f.graph;
        std::vector<Expr> R = d_.h;
        const std::vector<Expr> reactions = reactions_of_rows();
        for (const Derived::Entry& e : d_.rows)
            R[ix(e.column)] = g.add(R[ix(e.column)], g.mul(e.value, reactions[ix(e.row)]));
        for (const Derived::Entry& e : d_.mass) {
            R[ix(e.row)] = g.sub(R[ix(e.row)], g.mul(e.value, a[ix(e.column)]));
            if (e.row != e.column) R[ix(e.column)] = g.sub(R[ix(e.column)], g.mul(e.value, a[ix(e.row)]));
        }
        return R;
    }

    /// C, one per row that holds.
    std::vector<Expr> row_accelerations() {
        Graph& g = f.graph;
        std::vector<Expr> C;
        for (const int row : forces_.holding) {
            Expr sum = d_.zeta[ix(row)];
            for (const Derived::Entry& e : d_.rows)
                if (e.row == row) sum = g.add(sum, g.mul(e.value, a[ix(e.column)]));
            C.push_back(sum);
        }
        return C;
    }

    Formulas f;  // a copy, because nodes are added to its graph
    std::vector<Expr> a, lambda, dq, du, reaction_sign, slip_sign;
    Expr stiffness;

private:
    Expr coefficient(Coefficient c) { return c == no_coefficient ? f.graph.constant(0.0) : f.coefficients[ix(c)]; }

    Expr position(int row) const {
        const std::size_t r = ix(row), constraints = f.constraints.size();
        return r < constraints ? f.constraints[r] : f.gaps[r - constraints];
    }

    Expr spring_force(const ActiveForces::Spring& s) {
        Graph& g = f.graph;
        const Expr elastic = g.mul(g.mul(stiffness, coefficient(s.k)), position(s.row));
        return g.neg(g.add(elastic, g.mul(coefficient(s.d), d_.velocity[ix(s.row)])));
    }

    Expr load_of(const ActiveForces::Slip& s) {
        switch (s.load) {
            case ActiveForces::Load::equation: return f.graph.mul(reaction_sign[ix(s.number)], lambda[ix(s.number)]);
            case ActiveForces::Load::coefficient: return coefficient(s.number);
            case ActiveForces::Load::spring: return spring_force(forces_.springs[ix(s.number)]);
            case ActiveForces::Load::none: break;
        }
        return f.graph.constant(0.0);
    }

    /// λ_T = −load·∇σ. One row: ∇σ = ±μ. Two rows: ∇σ_i = b_i w_i/|w|, with w = γ and b_i = μ for a disk, and with
    /// w_i = μ_i γ_i and b_i = μ_i for an ellipse. Drilling and rolling have μ times a radius.
    void add_slip(std::size_t number, std::vector<Expr>& reactions) {
        Graph& g = f.graph;
        const ActiveForces::Slip& s = forces_.slips[number];
        const bool ellipse = s.mu[1] != no_coefficient;
        Expr load = load_of(s);
        if (s.radius != no_coefficient) load = g.mul(load, coefficient(s.radius));
        if (s.size == 1) {
            reactions[ix(s.row)] = g.neg(g.mul(g.mul(slip_sign[number], coefficient(s.mu[0])), load));
            return;
        }
        std::array<Expr, 2> b{}, w{};
        for (std::size_t i = 0; i < 2; ++i) {
            b[i] = coefficient(s.mu[ellipse ? i : 0]);
            w[i] = d_.velocity[ix(s.row) + i];
            if (ellipse) w[i] = g.mul(b[i], w[i]);
        }
        const Expr length = g.unary(expr::Op::sqrt, g.add(g.mul(w[0], w[0]), g.mul(w[1], w[1])));
        for (std::size_t i = 0; i < 2; ++i)
            reactions[ix(s.row) + i] = g.neg(g.mul(g.mul(b[i], g.div(w[i], length)), load));
    }

    std::vector<Expr> reactions_of_rows() {
        std::vector<Expr> reactions(d_.velocity.size(), f.graph.constant(0.0));
        for (std::size_t k = 0; k < forces_.holding.size(); ++k) reactions[ix(forces_.holding[k])] = lambda[k];
        for (const ActiveForces::Spring& s : forces_.springs) reactions[ix(s.row)] = spring_force(s);
        for (std::size_t k = 0; k < forces_.slips.size(); ++k) add_slip(k, reactions);
        return reactions;
    }

    const Derived& d_;
    const ActiveForces& forces_;
};

}  // namespace

TangentProgram::TangentProgram(const SymbolicEquations& equations, const ActiveForces& active,
                               std::span<const int> varied)
    : forces(active), parameters(varied.begin(), varied.end()) {
    ActiveEquations e(equations, forces);
    Graph& g = e.f.graph;
    const std::vector<Expr> R = e.residual(), C = e.row_accelerations();
    const int n = static_cast<int>(R.size()), m = static_cast<int>(C.size());

    // With few coordinates the derivatives by single coordinates are series of the motion alone, which are evaluated
    // for all orders at once. Their number grows with the square of the coordinates; the variation along one direction
    // has about as many products as the motion itself.
    constexpr int max_coordinates_of_columns = 8;
    const bool by_columns = n <= max_coordinates_of_columns;
    std::vector<Expr> dp;
    std::vector<std::pair<Expr, Expr>> seeds;
    for (const int p : parameters) {
        dp.push_back(g.symbol("dp", expr::auxiliary));
        seeds.emplace_back(e.f.p[ix(p)], dp.back());
    }
    for (std::size_t i = 0; i < ix(n) && !by_columns; ++i) {
        seeds.emplace_back(e.f.q[i], e.dq[i]);
        seeds.emplace_back(e.f.u[i], e.du[i]);
    }
    std::vector<Expr> outputs;
    const auto put = [&](Expr x) {
        outputs.push_back(x);
        return static_cast<int>(outputs.size() - 1);
    };
    expr::Derivative variation(g, seeds);
    const auto put_right = [&](Expr x) { right.push_back(g.is_zero(x) ? -1 : put(x)); };
    for (const Expr x : R) put_right(variation(x));
    for (const Expr x : C) put_right(g.neg(variation(x)));
    for (int k = 0; k < 2 * n && by_columns; ++k) {
        expr::Derivative by_state(g, k < n ? e.f.q[ix(k)] : e.f.u[ix(k - n)]);
        for (int r = 0; r < n + m; ++r) {
            const Expr x = r < n ? by_state(R[ix(r)]) : g.neg(by_state(C[ix(r - n)]));
            if (!g.is_zero(x)) columns.push_back({r, k, put(x), false});
        }
    }

    const auto put_entry = [&](int row, int column, Expr x) {
        if (!g.is_zero(x)) matrix.push_back({row, column, put(x), false});
    };
    for (const Derived::Entry& x : equations.derived().mass) {
        put_entry(x.row, x.column, x.value);
        if (x.row != x.column) put_entry(x.column, x.row, x.value);
    }
    for (int k = 0; k < m; ++k) {
        expr::Derivative by_reaction(g, e.lambda[ix(k)]);
        for (int i = 0; i < n; ++i) put_entry(i, n + k, g.neg(by_reaction(R[ix(i)])));
        for (const Derived::Entry& x : equations.derived().rows)
            if (x.row == forces.holding[ix(k)]) put_entry(n + k, x.column, x.value);
    }

    std::vector<Expr> inputs = e.f.p, variables{e.f.t};
    for (const auto* list : {&dp, &e.reaction_sign, &e.slip_sign}) {
        inputs.insert(inputs.end(), list->begin(), list->end());
        if (list == &dp) inputs.push_back(e.stiffness);
    }
    for (const auto* list : {&e.f.q, &e.f.u, &e.a, &e.lambda, &e.dq, &e.du})
        variables.insert(variables.end(), list->begin(), list->end());
    expr::SeriesStages stages;
    stages.given = 1 + 3 * n + m;
    tape = expr::SeriesTape(g, outputs, inputs, variables, e.f.t, stages);
    for (std::vector<Entry>* const list : {&matrix, &columns})
        for (Entry& x : *list) x.constant = tape.output_degree(x.output) == 0;
}

std::unique_ptr<expr::SeriesWorkspace<double>> TangentProgram::workspace(int max_order) const {
    {
        const std::lock_guard lock(mutex_);
        while (!unused_.empty()) {
            std::unique_ptr<expr::SeriesWorkspace<double>> last = std::move(unused_.back());
            unused_.pop_back();
            if (last->max_order() == max_order) return last;
        }
    }
    return std::make_unique<expr::SeriesWorkspace<double>>(tape, max_order);
}

void TangentProgram::give_back(std::unique_ptr<expr::SeriesWorkspace<double>> used) const {
    constexpr std::size_t max_unused = 4;  // more threads than this seldom end their arcs together
    used->clear_sides();
    const std::lock_guard lock(mutex_);
    if (unused_.size() < max_unused) unused_.push_back(std::move(used));
}

std::shared_ptr<const TangentProgram> TangentStore::by(const SymbolicEquations& equations, const ActiveForces& forces,
                                                       std::span<const int> parameters) {
    const std::lock_guard lock(mutex_);
    for (const auto& program : kept_)
        if (program->forces == forces && std::ranges::equal(program->parameters, parameters)) return program;
    constexpr std::size_t max_kept = 64;  // a system with more modes and variables forgets the oldest program
    if (kept_.size() == max_kept) kept_.erase(kept_.begin());
    kept_.push_back(std::make_shared<const TangentProgram>(equations, forces, parameters));
    return kept_.back();
}

}  // namespace saltus::model
