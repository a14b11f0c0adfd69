// SPDX-License-Identifier: Apache-2.0
#include "saltus/model/systems/detail/expression_jacobians.hpp"

#include <algorithm>

namespace saltus::model {

using expr::Expr;
using expr::Graph;
using expr::Tape;

namespace {

/// A system keeps the derivative tapes of this many sets of parameters. Making tapes is expensive, and an analysis
/// rarely alternates between more sets.
constexpr std::size_t max_kept_sets = 4;

constexpr std::size_t index_of(Function f) { return static_cast<std::size_t>(f); }

}  // namespace

DerivativeTapes::DerivativeTapes(const Formulas& formulas, const Derived& derived, std::span<const int> parameters)
    : f_(formulas), d_(derived), parameters_(parameters.begin(), parameters.end()) {
    Graph& g = f_.graph;
    for (std::size_t i = 0; i < f_.q.size(); ++i) a_.push_back(g.symbol("a", expr::auxiliary));
    for (std::size_t r = 0; r < d_.velocity.size(); ++r) lambda_.push_back(g.symbol("lambda", expr::auxiliary));
    columns_.emplace_back(f_.t, 0);
    const int all = f_.coordinates;
    for (std::size_t i = 0; i < f_.q.size(); ++i) columns_.emplace_back(f_.q[i], 1 + f_.index[i]);
    for (std::size_t i = 0; i < f_.u.size(); ++i) columns_.emplace_back(f_.u[i], 1 + all + f_.index[i]);
    for (std::size_t i = 0; i < parameters.size(); ++i)
        columns_.emplace_back(f_.p[static_cast<std::size_t>(parameters[i])], 1 + 2 * all + static_cast<int>(i));
}

const DerivativeTapes::Made& DerivativeTapes::of(Function f) const {
    const std::lock_guard lock(mutex_);
    std::unique_ptr<const Made>& made = made_[index_of(f)];
    if (made == nullptr) made = std::make_unique<const Made>(make(outputs_of(f), f == Function::residual));
    return *made;
}

const DerivativeTapes::Switches& DerivativeTapes::switches() const {
    const std::lock_guard lock(mutex_);
    if (switches_ == nullptr) {
        const std::vector<Expr> list = conditions();
        switches_ = std::make_unique<const Switches>(Switches{tape_of(list), make(list, false)});
    }
    return *switches_;
}

/// The switching functions of all expressions in the equations of motion: what abs, sign, min, max and conditions
/// compare, and y of atan2(y, x), whose value jumps where y changes its sign for x < 0.
std::vector<Expr> DerivativeTapes::conditions() const {
    Graph& g = f_.graph;
    std::vector<Expr> roots = d_.h;
    for (const std::vector<Expr>* list : {&d_.velocity, &d_.zeta, &std::as_const(f_.coefficients)})
        roots.insert(roots.end(), list->begin(), list->end());
    for (const std::vector<Derived::Entry>* list : {&d_.mass, &d_.rows})
        for (const Derived::Entry& e : *list) roots.push_back(e.value);
    std::vector<Expr> out;
    for (const Expr e : expr::reachable(g, roots)) {
        const expr::Node node = g[e];
        Expr c = node.a;
        switch (node.op) {
            case expr::Op::abs:
            case expr::Op::sign:
            case expr::Op::atan2: break;
            case expr::Op::less:
            case expr::Op::less_equal:
            case expr::Op::min:
            case expr::Op::max: c = g.sub(node.a, node.b); break;
            default: continue;
        }
        if (g.depends_on(c, expr::time | expr::position | expr::velocity) &&
            std::find(out.begin(), out.end(), c) == out.end())
            out.push_back(c);
    }
    return out;
}

/// The components of a function as expressions, with the symbols a and λ.
std::vector<Expr> DerivativeTapes::outputs_of(Function function) const {
    Graph& g = f_.graph;
    std::vector<Expr> out;
    switch (function) {
        case Function::residual:
            out = d_.h;
            for (const Derived::Entry& e : d_.rows) {
                Expr& r = out[static_cast<std::size_t>(e.column)];
                r = g.add(r, g.mul(e.value, lambda_[static_cast<std::size_t>(e.row)]));
            }
            for (const Derived::Entry& e : d_.mass) {
                const auto i = static_cast<std::size_t>(e.row), j = static_cast<std::size_t>(e.column);
                out[i] = g.sub(out[i], g.mul(e.value, a_[j]));
                if (i != j) out[j] = g.sub(out[j], g.mul(e.value, a_[i]));
            }
            break;
        case Function::position:
            out = f_.constraints;
            out.insert(out.end(), f_.gaps.begin(), f_.gaps.end());
            break;
        case Function::velocity: out = d_.velocity; break;
        case Function::acceleration:
            out = d_.zeta;
            for (const Derived::Entry& e : d_.rows) {
                Expr& s = out[static_cast<std::size_t>(e.row)];
                s = g.add(s, g.mul(e.value, a_[static_cast<std::size_t>(e.column)]));
            }
            break;
        case Function::coefficient: out = f_.coefficients; break;
    }
    return out;
}

/// The Jacobian of functions. If `by_coordinate`, the functions belong to the formulas' coordinates, and the rows of
/// the model's other coordinates are empty.
DerivativeTapes::Made DerivativeTapes::make(const std::vector<Expr>& functions, bool by_coordinate) const {
    Made made;
    Graph& g = f_.graph;
    if (derivatives_.empty()) {
        const auto symbols = std::make_shared<expr::SymbolSets>(g);
        for (const auto& [symbol, column] : columns_) derivatives_.emplace_back(g, symbol, symbols);
    }
    std::vector<Expr> outputs;
    std::vector<int> present;
    made.pattern.cols = 1 + 2 * f_.coordinates + static_cast<int>(parameters_.size());
    const std::size_t rows = by_coordinate ? static_cast<std::size_t>(f_.coordinates) : functions.size();
    std::size_t local = 0;
    for (std::size_t row = 0; row < rows; ++row) {
        present.clear();
        const bool here = !by_coordinate || (local < f_.index.size() && f_.index[local] == static_cast<int>(row));
        if (here) {
            const Expr e = functions[local++];
            for (std::size_t c = 0; c < columns_.size(); ++c) {
                const Expr de = derivatives_[c](e);
                if (g.is_zero(de)) continue;
                outputs.push_back(de);
                present.push_back(columns_[c].second);
            }
        }
        made.pattern.add_row(present);
    }
    made.tape = tape_of(outputs);
    return made;
}

Tape DerivativeTapes::tape_of(const std::vector<Expr>& outputs) const {
    std::vector<Expr> variables{f_.t};
    for (const std::vector<Expr>* list : {&std::as_const(f_.q), &std::as_const(f_.u), &a_, &lambda_})
        variables.insert(variables.end(), list->begin(), list->end());
    return Tape(f_.graph, outputs, f_.p, variables);
}

std::shared_ptr<const DerivativeTapes> DerivativeStore::by(const Formulas& formulas, const Derived& derived,
                                                           std::span<const int> parameters) {
    const std::lock_guard lock(mutex_);
    const auto found = std::find_if(kept_.begin(), kept_.end(), [&](const auto& k) {
        return std::equal(k.first.begin(), k.first.end(), parameters.begin(), parameters.end());
    });
    if (found != kept_.end()) return found->second;
    if (kept_.size() == max_kept_sets) kept_.erase(kept_.begin());
    kept_.emplace_back(std::vector<int>(parameters.begin(), parameters.end()),
                       std::make_shared<const DerivativeTapes>(formulas, derived, parameters));
    return kept_.back().second;
}

ExpressionJacobians::ExpressionJacobians(std::shared_ptr<const DerivativeTapes> tapes)
    : tapes_(std::move(tapes)), variables_(tapes_->variables()) {}

ExpressionJacobians::AtHand& ExpressionJacobians::at_hand(Function f) const {
    AtHand& own = at_hand_[index_of(f)];
    if (own.tape == nullptr) {
        const DerivativeTapes::Made& made = tapes_->of(f);
        own.pattern = &made.pattern;
        own.tape = &made.tape;
    }
    return own;
}

void ExpressionJacobians::fill(const At& at, std::span<const double> a, std::span<const double> lambda) {
    const std::vector<int>& index = tapes_->index();
    const std::size_t n = index.size();
    const auto local = [&](std::span<const double> from, std::size_t to) {
        for (std::size_t i = 0; i < n; ++i)
            variables_[to + i] = from.empty() ? 0.0 : from[static_cast<std::size_t>(index[i])];
    };
    variables_[0] = at.t;
    local(at.q, 1);
    local(at.u, 1 + n);
    local(a, 1 + 2 * n);
    for (std::size_t r = 0; r + 1 + 3 * n < variables_.size(); ++r)
        variables_[1 + 3 * n + r] = lambda.empty() ? 0.0 : lambda[r];
}

void ExpressionJacobians::run(AtHand& own, std::span<const double> p, std::span<double> values) const {
    if (!own.prepared || !std::equal(p.begin(), p.end(), own.p.begin(), own.p.end())) {
        own.scratch.resize(own.tape->slot_count());
        own.p.assign(p.begin(), p.end());
        own.tape->prepare<double>(p, own.scratch);
        own.prepared = true;
    }
    own.tape->evaluate<double>(variables_, own.scratch, values);
}

void ExpressionJacobians::evaluate(Function f, const At& at, std::span<const double> a, std::span<const double> lambda,
                                   std::span<double> values) {
    fill(at, a, lambda);
    run(at_hand(f), at.p, values);
}

void ExpressionJacobians::switches(const At& at, std::span<double> values) {
    switch_values_.tape = &tapes_->switches().values;
    fill(at, {}, {});
    run(switch_values_, at.p, values);
}

void ExpressionJacobians::switch_derivatives(const At& at, Matrix& out) {
    const DerivativeTapes::Made& made = tapes_->switches().derivatives;
    switch_derivatives_.tape = &made.tape;
    fill(at, {}, {});
    std::vector<double> values(made.pattern.size());
    run(switch_derivatives_, at.p, values);
    out = dense(made.pattern, values);
}

}  // namespace saltus::model
