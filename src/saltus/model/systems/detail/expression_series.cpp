// SPDX-License-Identifier: Apache-2.0
#include "saltus/model/systems/detail/expression_series.hpp"

#include <algorithm>

#include "saltus/base/index.hpp"

namespace saltus::model {

using expr::Expr;
using Kind = SeriesProgram::Kind;

namespace {

constexpr int unlimited = SeriesEquations::unlimited_degree;

/// The degrees of the operands of a node; 0 for those that it does not have.
struct OperandDegrees {
    int a, b, c;
    int largest() const { return std::max({a, b, c}); }
};
OperandDegrees operand_degrees(const expr::Node& n, const std::vector<int>& degree) {
    const int operands = expr::operand_count(n.op);
    return {operands > 0 ? degree[n.a.id] : 0, operands > 1 ? degree[n.b.id] : 0, operands > 2 ? degree[n.c.id] : 0};
}

/// The degree of a power with an integer exponent >= 0, for a degree <= unlimited. A product of larger numbers could
/// overflow.
int degree_of_power(int degree, int exponent) { return exponent <= unlimited ? degree * exponent : unlimited; }

}  // namespace

bool is_transparent(const expr::Graph& graph, const Expr* roots, std::size_t count) {
    using expr::Op;
    constexpr int max_power = 4;  // of t; below the least order of a series
    constexpr int wave = 100, state = 200;
    // Per node: its degree as a polynomial of the time, or `wave` for sin and cos, or `state` if it contains q or u.
    std::vector<int> kind(graph.size(), 0);
    for (const Expr e : expr::reachable(graph, {roots, count})) {
        const expr::Node& n = graph[e];
        const auto [a, b, c] = operand_degrees(n, kind);
        int& own = kind[e.id];
        switch (n.op) {
            case Op::constant: break;
            case Op::symbol:
                if ((n.kinds & (expr::Kind::position | expr::Kind::velocity)) != 0) own = state;
                if ((n.kinds & expr::Kind::time) != 0) own = 1;
                if ((n.kinds & expr::Kind::auxiliary) != 0) return false;
                break;
            case Op::add:
            case Op::sub:
            case Op::neg: own = std::max(a, b); break;
            case Op::mul:
                own = a + b;
                if (a != 0 && b != 0 && own > max_power) return false;
                break;
            case Op::div:
                if (b != 0) return false;
                own = a;
                break;
            case Op::powi:
                if (n.exponent < 0 && a != 0) return false;
                own = a == 0 ? 0 : degree_of_power(a, n.exponent);
                if (own > max_power) return false;
                break;
            case Op::sin:
            case Op::cos:
                if (a > 1) return false;
                own = a == 0 ? 0 : wave;
                break;
            default:
                if (std::max({a, b, c}) != 0) return false;
        }
    }
    return true;
}

std::vector<int> degrees_in_time(const expr::Graph& graph, std::span<const Expr> roots, int degree_q, int degree_u) {
    using expr::Op;
    std::vector<int> degree(graph.size(), 0);
    for (const Expr e : expr::reachable(graph, roots)) {
        const expr::Node& n = graph[e];
        const OperandDegrees of = operand_degrees(n, degree);
        int& own = degree[e.id];
        switch (n.op) {
            case Op::constant: break;
            case Op::symbol:
                if ((n.kinds & expr::Kind::position) != 0) own = degree_q;
                if ((n.kinds & expr::Kind::velocity) != 0) own = degree_u;
                if ((n.kinds & expr::Kind::time) != 0) own = 1;
                if ((n.kinds & expr::Kind::auxiliary) != 0) own = unlimited;
                break;
            case Op::add:
            case Op::sub:
            case Op::neg: own = of.largest(); break;
            case Op::mul: own = of.a + of.b; break;
            case Op::div: own = of.b == 0 ? of.a : unlimited; break;
            case Op::powi:
                own = of.a == 0 ? 0 : (n.exponent < 0 ? unlimited : degree_of_power(of.a, n.exponent));
                break;
            default: own = of.largest() == 0 ? 0 : unlimited;
        }
        own = std::min(own, unlimited);
    }
    return degree;
}

namespace {

/// SeriesEquations::motion_degree.
int degree_of_motion(const expr::Graph& graph, std::span<const Expr> terms,
                     std::span<const std::pair<Kind, int>> kinds) {
    // Forces that depend on q or u are not polynomials of the time.
    const std::vector<int> in_time = degrees_in_time(graph, terms, unlimited, unlimited);
    int acceleration = 0;
    for (std::size_t k = 0; k < terms.size(); ++k) {
        const int degree = in_time[terms[k].id];
        const Kind kind = kinds[k].first;
        const bool must_be_constant = kind == Kind::mass || kind == Kind::row || kind == Kind::coefficient;
        if (must_be_constant && degree > 0) return unlimited;
        if (kind == Kind::force || kind == Kind::zeta) acceleration = std::max(acceleration, degree);
    }
    if (acceleration >= SeriesEquations::max_order) return unlimited;
    const int degree_u = acceleration + 1, degree_q = acceleration + 2;
    const std::vector<int> along_motion = degrees_in_time(graph, terms, degree_q, degree_u);
    int largest = degree_q, row_velocity = degree_u, power = 0;
    for (std::size_t k = 0; k < terms.size(); ++k) {
        const int degree = along_motion[terms[k].id];
        const Kind kind = kinds[k].first;
        if (kind == Kind::damping || kind == Kind::applied)
            power = std::max(power, degree);
        else
            largest = std::max(largest, degree);
        if (kind == Kind::chi) row_velocity = std::max(row_velocity, degree);
    }
    // The work is the integral of the powers, and of reactions times row velocities.
    power = std::max(power, acceleration + row_velocity);
    largest = std::max(largest, power + 1);
    return largest <= SeriesEquations::max_order ? largest : unlimited;
}

}  // namespace

SeriesProgram::SeriesProgram(const SymbolicEquations& equations, const SeriesNeeds& asked) : needs(asked) {
    const Formulas& f = equations.formulas();
    const Derived& d = equations.derived();
    std::vector<Expr> expressions;
    const auto add = [&](Kind kind, int number, Expr e) {
        outputs.emplace_back(kind, number);
        expressions.push_back(e);
    };
    for (std::size_t k = 0; k < d.mass.size(); ++k) add(Kind::mass, static_cast<int>(k), d.mass[k].value);
    for (std::size_t i = 0; i < d.h.size(); ++i) add(Kind::force, static_cast<int>(i), d.h[i]);
    for (std::size_t r = 0; r < needs.positions.size(); ++r)
        if (needs.positions[r] != 0)
            add(Kind::position, static_cast<int>(r),
                r < f.constraints.size() ? f.constraints[r] : f.gaps[r - f.constraints.size()]);
    for (std::size_t k = 0; k < d.rows.size(); ++k)
        if (needs.rows[ix(d.rows[k].row)] != 0) add(Kind::row, static_cast<int>(k), d.rows[k].value);
    for (std::size_t r = 0; r < needs.rows.size(); ++r) {
        if (needs.rows[r] == 0) continue;
        add(Kind::chi, static_cast<int>(r), d.chi[r]);
        add(Kind::zeta, static_cast<int>(r), d.zeta[r]);
    }
    for (std::size_t c = 0; c < needs.coefficients.size(); ++c)
        if (needs.coefficients[c] != 0) add(Kind::coefficient, static_cast<int>(c), f.coefficients[c]);
    // The powers are products of forces and velocities; they are as smooth as their factors.
    const std::size_t judged = expressions.size();
    if (needs.forces_suffice && f.graph.is_zero(d.driven)) {
        for (std::size_t i = 0; i < d.others.size(); ++i)
            if (!f.graph.is_zero(d.others[i])) add(Kind::other_force, static_cast<int>(i), d.others[i]);
    } else {
        add(Kind::damping, 0, d.damping);
        add(Kind::applied, 0, d.applied);
    }
    transparent = is_transparent(f.graph, expressions.data(), judged);
    motion_degree = degree_of_motion(f.graph, expressions, outputs);
    std::vector<Expr> variables{f.t};
    variables.insert(variables.end(), f.q.begin(), f.q.end());
    variables.insert(variables.end(), f.u.begin(), f.u.end());
    expr::SeriesStages stages;
    if (needs.positions_later)
        for (const auto& [kind, number] : outputs)
            stages.later.push_back(kind == Kind::position || kind == Kind::other_force ? 1 : 0);
    tape = expr::SeriesTape(f.graph, expressions, f.p, variables, f.t, stages);
    workspace = std::make_unique<const expr::SeriesWorkspace<double>>(tape, SeriesEquations::max_order);
}

std::shared_ptr<const SeriesProgram> SeriesStore::by(const SymbolicEquations& equations, const SeriesNeeds& needs) {
    const std::lock_guard lock(mutex_);
    for (const auto& program : kept_)
        if (program->needs == needs) return program;
    constexpr std::size_t max_kept = 64;  // modes that are remembered; a system with more modes forgets the oldest
    if (kept_.size() == max_kept) kept_.erase(kept_.begin());
    kept_.push_back(std::make_shared<const SeriesProgram>(equations, needs));
    return kept_.back();
}

ExpressionSeries::ExpressionSeries(std::shared_ptr<const SeriesProgram> program, const Layout& layout,
                                   std::span<const int> index, std::span<const double> p)
    : program_(std::move(program)), workspace_(*program_->workspace), index_(index.begin(), index.end()) {
    workspace_.prepare(p);
    const std::size_t n = ix(layout.coordinates);
    q.assign(n, nullptr);
    u.assign(n, nullptr);
    for (std::size_t i = 0; i < index_.size(); ++i) {
        q[ix(index_[i])] = workspace_.variable(static_cast<int>(1 + i));
        u[ix(index_[i])] = workspace_.variable(static_cast<int>(1 + index_.size() + i));
    }
    M.assign(layout.mass.size(), nullptr);
    h.assign(n, nullptr);
    positions.assign(ix(layout.positions()), nullptr);
    W.assign(layout.rows.size(), nullptr);
    chi.assign(ix(layout.row_count()), nullptr);
    zeta.assign(ix(layout.row_count()), nullptr);
    coefficients.assign(ix(layout.coefficients), nullptr);
    W_constant.assign(layout.rows.size(), 1);
    coefficient_constant.assign(ix(layout.coefficients), 1);
    M_constant.assign(layout.mass.size(), 1);
    chi_constant.assign(ix(layout.row_count()), 1);
    mass_constant = true;
    for (std::size_t k = 0; k < program_->outputs.size(); ++k) {
        const auto [kind, number] = program_->outputs[k];
        const Row row = workspace_.output(static_cast<int>(k));
        const bool constant = program_->tape.output_degree(static_cast<int>(k)) == 0;
        switch (kind) {
            case Kind::mass:
                M[ix(number)] = row;
                M_constant[ix(number)] = constant ? 1 : 0;
                mass_constant = mass_constant && constant;
                break;
            case Kind::force: h[ix(index_[ix(number)])] = row; break;
            case Kind::position: positions[ix(number)] = row; break;
            case Kind::row:
                W[ix(number)] = row;
                W_constant[ix(number)] = constant ? 1 : 0;
                break;
            case Kind::chi:
                chi[ix(number)] = row;
                chi_constant[ix(number)] = constant ? 1 : 0;
                break;
            case Kind::zeta: zeta[ix(number)] = row; break;
            case Kind::coefficient:
                coefficients[ix(number)] = row;
                coefficient_constant[ix(number)] = constant ? 1 : 0;
                break;
            case Kind::damping: damping = row; break;
            case Kind::applied: applied = row; break;
            case Kind::other_force:
                other_forces.resize(n, nullptr);
                other_forces[ix(number)] = row;
                break;
        }
    }
}

/// Makes room for bounds. Most motions never need them.
void ExpressionSeries::prepare_bounds() {
    variable_radius_.assign(1 + 2 * index_.size(), 0.0);
    output_radius_.assign(program_->outputs.size(), 0.0);
    set_sizes(radii_);
}

const SeriesEquations::Radii& ExpressionSeries::bounds(double R, std::span<const double> q_radius,
                                                       std::span<const double> u_radius) {
    if (variable_radius_.empty()) prepare_bounds();
    variable_radius_[0] = R;
    for (std::size_t i = 0; i < index_.size(); ++i) {
        variable_radius_[1 + i] = q_radius[ix(index_[i])];
        variable_radius_[1 + index_.size() + i] = u_radius[ix(index_[i])];
    }
    workspace_.bounds(R, variable_radius_, output_radius_, radii_.switches);
    scatter_radii();
    return radii_;
}

const SeriesEquations::Radii* ExpressionSeries::remainders(double step) {
    if (variable_radius_.empty()) prepare_bounds();
    workspace_.remainders(step, output_radius_, radii_.switches);
    scatter_radii();
    return &radii_;
}

/// Writes the bounds of the outputs to the arrays of their terms.
void ExpressionSeries::scatter_radii() {
    for (std::size_t k = 0; k < program_->outputs.size(); ++k) {
        const auto [kind, number] = program_->outputs[k];
        const double radius = output_radius_[k];
        switch (kind) {
            case Kind::mass: radii_.M[ix(number)] = radius; break;
            case Kind::force: radii_.h[ix(index_[ix(number)])] = radius; break;
            case Kind::position: radii_.positions[ix(number)] = radius; break;
            case Kind::row: radii_.W[ix(number)] = radius; break;
            case Kind::chi: radii_.chi[ix(number)] = radius; break;
            case Kind::zeta: radii_.zeta[ix(number)] = radius; break;
            case Kind::coefficient: radii_.coefficients[ix(number)] = radius; break;
            case Kind::damping: radii_.damping = radius; break;
            case Kind::applied: radii_.applied = radius; break;
            case Kind::other_force: break;
        }
    }
}

}  // namespace saltus::model
