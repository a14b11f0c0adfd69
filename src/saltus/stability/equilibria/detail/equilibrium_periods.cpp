// SPDX-License-Identifier: Apache-2.0
#include "saltus/stability/equilibria/detail/equilibrium_periods.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "saltus/expr/differentiate.hpp"
#include "saltus/expr/tape.hpp"
#include "saltus/model/mechanics.hpp"
#include "saltus/model/symbolic.hpp"
#include "saltus/stability/equilibria/detail/equilibrium_algebra.hpp"

namespace saltus::stability {

namespace {

/// Candidates P have relative differences of more than this; others are the same.
constexpr double equal_periods = 1e-12;
/// P is a period if the statics change by at most this part of 1 + their largest number.
constexpr double periodic_difference = 1e-11;
/// The statics depend on time if they change by more than this part of 1 + their largest number.
constexpr double time_difference = 1e-13;
/// Rows that differ from a combination of others by at most this do not enlarge the span.
constexpr double equal_rows = 1e-11;
/// A direction is neutral if the derivatives along it are at most max(neutral_tolerance · largest, neutral_derivative).
constexpr double neutral_tolerance = 1e-9, neutral_derivative = 1e-11;

/// What the statics consist of: forces, constraints, gaps, directions of the rows, coefficients.
std::vector<expr::Expr> static_formulas(const model::Formulas& f, const model::Derived& d) {
    std::vector<expr::Expr> roots = d.h;
    roots.insert(roots.end(), f.constraints.begin(), f.constraints.end());
    roots.insert(roots.end(), f.gaps.begin(), f.gaps.end());
    for (const model::Derived::Entry& e : d.rows) roots.push_back(e.value);
    roots.insert(roots.end(), f.coefficients.begin(), f.coefficients.end());
    return roots;
}

/// Whether a function can be flat to rounding in one region and steep in another. Derivatives at some positions then
/// say nothing about others: max(0, x − 5), exp(−(x − 30)²), tanh(x − 40), if(x > 7, …).
bool can_be_flat(expr::Op op) {
    using expr::Op;
    constexpr Op list[] = {Op::exp, Op::tanh, Op::sinh, Op::cosh,       Op::atan,  Op::abs,      Op::sign,
                           Op::min, Op::max,  Op::less, Op::less_equal, Op::equal, Op::not_equal};
    return std::find(std::begin(list), std::end(list), op) != std::end(list);
}

/// The gradients of the arguments of all functions that can be flat, one row for each argument, at the position q.
Matrix argument_gradients(const model::SymbolicEquations& system, const model::Mechanics& m, double t,
                          const Vector& q) {
    model::Formulas f = system.formulas();
    std::vector<expr::Expr> slopes;
    std::vector<expr::Derivative> by_q;
    for (const expr::Expr x : f.q) by_q.emplace_back(f.graph, x);
    for (const expr::Expr e : expr::reachable(f.graph, static_formulas(f, system.derived()))) {
        const expr::Node node = f.graph[e];
        if (!can_be_flat(node.op)) continue;
        for (const expr::Expr argument : {node.a, expr::operand_count(node.op) > 1 ? node.b : node.a})
            if (f.graph.depends_on(argument, expr::position))
                for (expr::Derivative& derivative : by_q) slopes.push_back(derivative(argument));
    }
    std::vector<expr::Expr> variables{f.t};
    variables.insert(variables.end(), f.q.begin(), f.q.end());
    variables.insert(variables.end(), f.u.begin(), f.u.end());
    const expr::Tape tape(f.graph, slopes, f.p, variables);
    std::vector<double> scratch(tape.slot_count()), values(slopes.size()), at{t};
    for (const int i : f.index) at.push_back(q(i));
    at.resize(variables.size(), 0.0);
    tape.prepare<double>(m.p, scratch);
    tape.evaluate<double>(at, scratch, values);
    const std::size_t n = f.q.size();
    Matrix rows = Matrix::Zero(static_cast<Eigen::Index>(values.size() / std::max<std::size_t>(n, 1)), q.size());
    for (std::size_t k = 0; k < values.size(); ++k)
        if (std::isfinite(values[k])) rows(static_cast<Eigen::Index>(k / n), f.index[k % n]) = values[k];
    for (Eigen::Index k = 0; k < rows.rows(); ++k)
        if (const double size = rows.row(k).norm(); size > 0.0) rows.row(k) /= size;
    return rows;
}

/// sin(a q_i + ...) has the period 2π/|a| along q_i. The candidates are these periods of all circular functions in the
/// statics whose argument has a slope a = ∂/∂q_i that is a number, in ascending order. A common period of several
/// functions is among their small multiples.
std::vector<double> candidates(const model::SymbolicEquations& system, const model::Mechanics& m, std::size_t i) {
    model::Formulas f = system.formulas();
    std::vector<expr::Expr> slopes;
    expr::Derivative derivative(f.graph, f.q[i]);
    for (const expr::Expr e : expr::reachable(f.graph, static_formulas(f, system.derived()))) {
        const expr::Node node = f.graph[e];
        if (node.op != expr::Op::sin && node.op != expr::Op::cos && node.op != expr::Op::tan) continue;
        const expr::Expr slope = derivative(node.a);
        const auto varies = static_cast<expr::Kinds>(expr::time | expr::position | expr::velocity);
        if (!f.graph.is_zero(slope) && !f.graph.depends_on(slope, varies)) slopes.push_back(slope);
    }
    const expr::Tape tape(f.graph, slopes, f.p, {});
    std::vector<double> scratch(tape.slot_count()), values(slopes.size()), list;
    tape.prepare<double>(m.p, scratch);
    tape.evaluate<double>({}, scratch, values);
    for (const double slope : values)
        if (std::isfinite(slope) && slope != 0.0) list.push_back(2.0 * std::numbers::pi / std::abs(slope));
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end(), [](double a, double b) { return b - a <= equal_periods * b; }),
               list.end());
    return list;
}

/// All numbers that the statics have at a position, with all contacts closed.
Vector fingerprint(RestingModel& model, const Vector& q) {
    model.move_to(q);
    const model::Mechanics& m = model.model();
    const Statics s = model.statics(std::vector<char>(m.contacts.size(), 1));
    std::vector<double> all(s.h.data(), s.h.data() + s.h.size());
    all.insert(all.end(), s.W.data(), s.W.data() + s.W.size());
    for (int row = 0; row < m.layout().positions(); ++row) all.push_back(model.position(row));
    for (const RestingElement& e : s.elements)
        all.insert(all.end(), {e.load, e.body.mu, e.body.mu_second, e.body.drilling, e.body.rolling, e.body.radius});
    return Eigen::Map<const Vector>(all.data(), static_cast<Eigen::Index>(all.size()));
}

/// n scattered numbers between −1 and 1, the same in every run: multiples of the golden ratio and of the plastic number
/// modulo 1, which have no common period.
Vector scattered(Eigen::Index n, int k) {
    constexpr double golden_ratio = 0.6180339887498949, plastic_number = 1.3247179572447460;
    Vector out(n);
    for (Eigen::Index j = 0; j < n; ++j) {
        const double x = golden_ratio * (k + 7.0 * static_cast<double>(j + 1) * plastic_number);
        out(j) = 2.0 * (x - std::floor(x)) - 1.0;
    }
    return out;
}

/// Whether a shift of q_i by `period` changes nothing at some scattered positions.
bool is_period(RestingModel& model, Eigen::Index i, double period) {
    constexpr int positions = 6;
    for (int k = 1; k <= positions; ++k) {
        Vector q = 2.0 * scattered(model.size(), k);
        const Vector here = fingerprint(model, q);
        q(i) += period;
        const Vector there = fingerprint(model, q);
        if (here.size() != there.size() || !here.allFinite() || !there.allFinite()) return false;
        if ((here - there).cwiseAbs().maxCoeff() > periodic_difference * (1.0 + here.cwiseAbs().maxCoeff()))
            return false;
    }
    return true;
}

}  // namespace

std::vector<double> periods_of(RestingModel& model) {
    std::vector<double> periods(static_cast<std::size_t>(model.size()), 0.0);
    const model::SymbolicEquations* const system = model.model().system->symbolic();
    if (system == nullptr) return periods;
    for (std::size_t i = 0; i < periods.size(); ++i)
        for (const double candidate : candidates(*system, model.model(), i)) {
            for (const double times : {1.0, 2.0, 3.0, 4.0})
                if (periods[i] == 0.0 && is_period(model, static_cast<Eigen::Index>(i), times * candidate))
                    periods[i] = times * candidate;
            if (periods[i] != 0.0) break;
        }
    return periods;
}

bool depends_on_time(const model::Mechanics& m) {
    if (m.scleronomic && m.autonomous) return false;
    if (const model::SymbolicEquations* const system = m.system->symbolic()) {
        model::Formulas f = system->formulas();
        const model::Derived& d = system->derived();
        std::vector<std::pair<expr::Expr, expr::Expr>> replace;
        for (std::size_t i = 0; i < f.p.size(); ++i) replace.emplace_back(f.p[i], f.graph.constant(m.p[i]));
        for (const expr::Expr u : f.u) replace.emplace_back(u, f.graph.constant(0.0));
        expr::Substitution at_rest(f.graph, replace);
        const auto varies = [&](expr::Expr e) { return f.graph.depends_on(at_rest(e), expr::time); };
        std::vector<expr::Expr> all = d.h;
        for (const std::vector<expr::Expr>& list : {f.constraints, f.gaps, d.chi, f.coefficients})
            all.insert(all.end(), list.begin(), list.end());
        if (std::any_of(all.begin(), all.end(), varies)) return true;
        return std::any_of(d.rows.begin(), d.rows.end(), [&](const auto& e) { return varies(e.value); });
    }
    // Other systems are compared at scattered times.
    const Vector q0 = Eigen::Map<const Vector>(m.q0.data(), m.size());
    RestingModel start(m, 0.0);
    const Vector first = fingerprint(start, q0);
    for (const double t : {0.618, 1.3247, 2.0946, 7.389, 31.4}) {
        RestingModel later(m, t);
        const Vector then = fingerprint(later, q0);
        if (first.size() != then.size()) return true;
        if ((first - then).cwiseAbs().maxCoeff() > time_difference * (1.0 + first.cwiseAbs().maxCoeff())) return true;
    }
    return false;
}

/// A shift along v changes nothing if K v = 0, G v = 0, W_Nᵀv = 0 and F_q v = 0 everywhere, with K = ∂(h + Wλ)/∂q for
/// scattered λ. At scattered positions the rows of all these matrices are collected; v spans their common kernel. The
/// arguments of functions that can be flat at these positions must not change either.
Matrix neutral_directions(RestingModel& model) {
    const Eigen::Index n = model.size();
    const model::Mechanics& m = model.model();
    Matrix rows(0, n);
    const auto add = [&](const Matrix& more) {
        rows.conservativeResize(rows.rows() + more.rows(), n);
        rows.bottomRows(more.rows()) = more;
    };
    const Vector q0 = Eigen::Map<const Vector>(m.q0.data(), n);
    constexpr int positions = 3;
    for (int k = 1; k <= positions; ++k) {
        model.move_to(q0 + scattered(n, k));
        const Statics s = model.statics(std::vector<char>(m.contacts.size(), 1));
        const Matrix K = model.stiffness(s, 1.0 * scattered(s.W.cols(), k + 10));
        if (!K.allFinite()) return Matrix(n, 0);
        add(K / std::max(K.norm(), smallest_divisor));
        for (int row = 0; row < m.layout().positions(); ++row) add(model.row(row));
        add(model.load_slopes(s));
        if (const model::SymbolicEquations* const system = m.system->symbolic(); system != nullptr)
            add(argument_gradients(*system, m, model.time(), q0 + scattered(n, k)));
        if (rows.rows() > 4 * n) {  // keep only a basis of their span
            const Matrix span = range_of(rows.transpose(), equal_rows);
            rows = span.transpose();
        }
    }
    return kernel_of(rows, neutral_tolerance, neutral_derivative);
}

Vector nearest_copy(const std::vector<double>& periods, const Vector& a, const Vector& b) {
    Vector out = a;
    for (std::size_t i = 0; i < periods.size(); ++i) {
        const auto k = static_cast<Eigen::Index>(i);
        if (periods[i] > 0.0) out(k) += periods[i] * std::round((b(k) - a(k)) / periods[i]);
    }
    return out;
}

}  // namespace saltus::stability
