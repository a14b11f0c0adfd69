// SPDX-License-Identifier: Apache-2.0
#include "saltus/model/systems/expression_system.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "saltus/base/error.hpp"
#include "saltus/expr/differentiate.hpp"
#include "saltus/model/systems/detail/expression_jacobians.hpp"

namespace saltus::model {

using expr::Derivative;
using expr::Expr;
using expr::Graph;
using expr::Tape;

namespace {

std::vector<std::pair<Expr, Expr>> time_seeds(Formulas& f) {
    std::vector<std::pair<Expr, Expr>> seeds{{f.t, f.graph.constant(1.0)}};
    for (std::size_t i = 0; i < f.q.size(); ++i) seeds.emplace_back(f.q[i], f.u[i]);
    return seeds;
}

Expr sum_of_products(Graph& graph, std::span<const Expr> a, std::span<const Expr> b) {
    Expr sum = graph.constant(0.0);
    for (std::size_t i = 0; i < a.size(); ++i)
        if (!graph.is_zero(a[i])) sum = graph.add(sum, graph.mul(a[i], b[i]));
    return sum;
}

std::vector<Expr> values_of(std::span<const Derived::Entry> entries) {
    std::vector<Expr> values;
    for (const Derived::Entry& e : entries) values.push_back(e.value);
    return values;
}

}  // namespace

Derived derive(Formulas& f) {
    Graph& g = f.graph;
    const int n = static_cast<int>(f.q.size());
    const auto at = [](const auto& v, int i) { return v[static_cast<std::size_t>(i)]; };
    Derived d;

    std::vector<Derivative> by_q, by_u;
    for (const Expr q : f.q) by_q.emplace_back(g, q);
    for (const Expr u : f.u) by_u.emplace_back(g, u);
    Derivative by_time(g, time_seeds(f));

    std::vector<Expr> momentum, damping;
    for (int i = 0; i < n; ++i) {
        momentum.push_back(by_u[static_cast<std::size_t>(i)](f.T));
        damping.push_back(by_u[static_cast<std::size_t>(i)](f.R));
    }
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j <= i; ++j) {
            const Expr m = by_u[static_cast<std::size_t>(j)](at(momentum, i));
            if (!g.is_zero(m)) d.mass.push_back({i, j, m});
        }
        Derivative& dq = by_q[static_cast<std::size_t>(i)];
        Expr h = g.sub(dq(f.T), by_time(at(momentum, i)));
        h = g.sub(h, dq(f.U));
        h = g.sub(h, at(damping, i));
        d.h.push_back(g.add(h, at(f.f, i)));
    }
    d.damping = sum_of_products(g, damping, f.u);
    d.applied = sum_of_products(g, f.f, f.u);

    for (const auto* positions : {&f.constraints, &f.gaps})
        for (const Expr e : *positions) d.velocity.push_back(by_time(e));
    d.velocity.insert(d.velocity.end(), f.slips.begin(), f.slips.end());

    std::vector<std::pair<Expr, Expr>> at_rest;
    for (const Expr u : f.u) at_rest.emplace_back(u, g.constant(0.0));
    expr::Substitution resting(g, at_rest);
    for (std::size_t r = 0; r < d.velocity.size(); ++r) {
        for (int j = 0; j < n; ++j) {
            const Expr w = by_u[static_cast<std::size_t>(j)](d.velocity[r]);
            if (!g.is_zero(w)) d.rows.push_back({static_cast<int>(r), j, w});
        }
        d.chi.push_back(resting(d.velocity[r]));
        d.zeta.push_back(by_time(d.velocity[r]));
    }
    return d;
}

ExpressionSystem::ExpressionSystem(Formulas formulas)
    : formulas_(std::move(formulas)), derivatives_(std::make_shared<DerivativeStore>()) {
    derived_ = derive(formulas_);
    const Formulas& f = formulas_;
    const Derived& d = derived_;
    const std::size_t n = f.q.size();

    layout_.coordinates = f.coordinates;
    layout_.parameters = static_cast<int>(f.p.size());
    layout_.constraints = static_cast<int>(f.constraints.size());
    layout_.normals = static_cast<int>(f.gaps.size());
    layout_.slips = static_cast<int>(f.slips.size());
    layout_.coefficients = static_cast<int>(f.coefficients.size());
    const auto pattern_of = [&](std::span<const Derived::Entry> entries, int rows, auto row_of) {
        std::vector<std::vector<int>> columns(static_cast<std::size_t>(rows));
        for (const Derived::Entry& e : entries)
            columns[static_cast<std::size_t>(row_of(e.row))].push_back(f.index[static_cast<std::size_t>(e.column)]);
        Pattern pattern;
        pattern.cols = f.coordinates;
        for (const std::vector<int>& c : columns) pattern.add_row(c);
        return pattern;
    };
    layout_.mass = pattern_of(d.mass, f.coordinates, [&](int i) { return f.index[static_cast<std::size_t>(i)]; });
    const auto constant = [&](Expr e) {
        return !f.graph.depends_on(e, static_cast<expr::Kinds>(~expr::Kind::parameter));
    };
    layout_.mass_constant =
        std::all_of(d.mass.begin(), d.mass.end(), [&](const Derived::Entry& e) { return constant(e.value); });
    layout_.coefficients_constant = std::all_of(f.coefficients.begin(), f.coefficients.end(), constant);
    layout_.powered = !f.graph.is_zero(d.damping) || !f.graph.is_zero(d.applied);
    layout_.rows = pattern_of(d.rows, layout_.row_count(), [](int r) { return r; });

    std::vector<Expr> variables{f.t};
    variables.insert(variables.end(), f.q.begin(), f.q.end());
    variables.insert(variables.end(), f.u.begin(), f.u.end());

    std::array<std::vector<Expr>, term_count> outputs;
    outputs[mass_term] = values_of(d.mass);
    outputs[force_term] = d.h;
    outputs[position_term] = f.constraints;
    outputs[position_term].insert(outputs[position_term].end(), f.gaps.begin(), f.gaps.end());
    outputs[row_term] = values_of(d.rows);
    outputs[row_term].insert(outputs[row_term].end(), d.chi.begin(), d.chi.end());
    outputs[curvature_term] = d.zeta;
    outputs[coefficient_term] = f.coefficients;
    outputs[energy_term] = {f.T, f.U, d.damping, d.applied};
    for (const Term term : {mass_term, force_term, position_term, row_term, curvature_term})
        outputs[all_terms].insert(outputs[all_terms].end(), outputs[term].begin(), outputs[term].end());

    std::size_t next = 0;
    for (std::size_t k = 0; k < term_count; ++k) {
        tapes_[k] = Tape(f.graph, outputs[k], f.p, variables);
        tape_start_[k] = next;
        next += tapes_[k].slot_count();
    }
    output_start_ = next;
    scratch_size_ = next + std::max(tapes_[row_term].output_count(), n);
}

void ExpressionSystem::prepare(std::span<const double> p, std::span<double> scratch) const {
    for (std::size_t k = 0; k < term_count; ++k)
        tapes_[k].prepare<double>(p, scratch.subspan(tape_start_[k], tapes_[k].slot_count()));
}

void ExpressionSystem::evaluate(Term term, const At& at, std::span<double> scratch, std::span<double> out) const {
    const Tape& tape = tapes_[static_cast<std::size_t>(term)];
    if (tape.output_count() == 0) return;
    const std::span<double> slots = scratch.subspan(tape_start_[static_cast<std::size_t>(term)], tape.slot_count());
    double* const x = tape.variables(slots).data();
    const std::size_t n = formulas_.q.size();
    x[0] = at.t;
    if (static_cast<int>(n) == formulas_.coordinates) {
        std::copy_n(at.q.data(), n, x + 1);
        std::copy_n(at.u.data(), n, x + 1 + n);
    } else {
        for (std::size_t i = 0; i < n; ++i) {
            x[1 + i] = at.q[static_cast<std::size_t>(formulas_.index[i])];
            x[1 + n + i] = at.u[static_cast<std::size_t>(formulas_.index[i])];
        }
    }
    tape.evaluate_in_place(slots, out);
}

void ExpressionSystem::mass(const At& at, std::span<double> scratch, std::span<double> M) const {
    evaluate(mass_term, at, scratch, M);
}

void ExpressionSystem::force(const At& at, std::span<double> scratch, std::span<double> h) const {
    const std::size_t n = formulas_.q.size();
    if (static_cast<int>(n) == formulas_.coordinates) return evaluate(force_term, at, scratch, h);
    const std::span<double> local = scratch.subspan(output_start_, n);
    evaluate(force_term, at, scratch, local);
    std::fill(h.begin(), h.end(), 0.0);
    for (std::size_t i = 0; i < n; ++i) h[static_cast<std::size_t>(formulas_.index[i])] = local[i];
}

void ExpressionSystem::positions(const At& at, std::span<double> scratch, std::span<double> g) const {
    evaluate(position_term, at, scratch, g);
}

void ExpressionSystem::rows(const At& at, std::span<double> scratch, std::span<double> W, std::span<double> chi) const {
    const std::span<double> both = scratch.subspan(output_start_, tapes_[row_term].output_count());
    evaluate(row_term, at, scratch, both);
    const std::size_t entries = layout_.rows.size();
    std::copy_n(both.begin(), entries, W.begin());
    std::copy(both.begin() + static_cast<std::ptrdiff_t>(entries), both.end(), chi.begin());
}

void ExpressionSystem::curvature(const At& at, std::span<double> scratch, std::span<double> zeta) const {
    evaluate(curvature_term, at, scratch, zeta);
}

void ExpressionSystem::coefficients(const At& at, std::span<double> scratch, std::span<double> values) const {
    evaluate(coefficient_term, at, scratch, values);
}

void ExpressionSystem::terms(const At& at, std::span<double> scratch, Terms& out) const {
    if (static_cast<int>(formulas_.q.size()) == formulas_.coordinates)
        evaluate(all_terms, at, scratch, out.all());
    else
        System::terms(at, scratch, out);  // h needs spreading over the model's coordinates
}

Energy ExpressionSystem::energy(const At& at, std::span<double> scratch) const {
    std::array<double, 4> e{};
    evaluate(energy_term, at, scratch, e);
    return {e[0], e[1], e[2], e[3]};
}

std::unique_ptr<Jacobians> ExpressionSystem::jacobians() const { return jacobians_by(numbers_to(formulas_.p.size())); }

std::unique_ptr<Jacobians> ExpressionSystem::jacobians_by(std::span<const int> parameters) const {
    return std::make_unique<ExpressionJacobians>(derivatives_->by(formulas_, derived_, parameters));
}

}  // namespace saltus::model
