// SPDX-License-Identifier: Apache-2.0
#include "saltus/stability/equilibria/detail/equilibrium_affine.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "saltus/base/index.hpp"
#include "saltus/expr/differentiate.hpp"
#include "saltus/expr/tape.hpp"
#include "saltus/model/mechanics.hpp"
#include "saltus/model/symbolic.hpp"
#include "saltus/stability/equilibria/detail/equilibrium_algebra.hpp"

namespace saltus::stability {

namespace {

using expr::Expr;
using trajectory::ElementKind;

/// A constraint or closed gap stays zero along the plane if its slopes |∂g/∂s| are at most this.
constexpr double constant_row_slope = 1e-10;
/// Forces of at most this part of Statics::size count as 0 in the test for a neutral plane.
constexpr double negligible_force = 1e-13;
/// h + Wλ is constant along the plane if its slopes are at most this part of Statics::size.
constexpr double constant_force_slope = 1e-12;

/// The formulas of a model at rest along the plane q = q₀ + N s, as expressions in s: the time, the parameters and
/// u = 0 are replaced by numbers, q_i by q₀_i + Σ N_ij s_j. An expression is affine in s if and only if it has no kinks
/// and jumps along s and its derivatives by all s_j do not contain s; this is decided on the expression graph after
/// simplification. Derivatives alone do not show jumps: that of `if(s < 1, 0, 5)` is 0.
class Plane {
public:
    Plane(const model::SymbolicEquations& system, const model::Mechanics& m, double t, const Vector& q, const Matrix& N)
        : f_(system.formulas()), derived_(system.derived()) {
        expr::Graph& g = f_.graph;
        for (Eigen::Index j = 0; j < N.cols(); ++j) s_.push_back(g.symbol("s", expr::auxiliary));
        std::vector<std::pair<Expr, Expr>> replace{{f_.t, g.constant(t)}};
        for (std::size_t i = 0; i < f_.p.size(); ++i) replace.emplace_back(f_.p[i], g.constant(m.p[i]));
        for (std::size_t i = 0; i < f_.q.size(); ++i) {
            const auto row = static_cast<Eigen::Index>(i);
            Expr x = g.constant(q(row));
            for (Eigen::Index j = 0; j < N.cols(); ++j)
                if (N(row, j) != 0.0) x = g.add(x, g.mul(g.constant(N(row, j)), s_[static_cast<std::size_t>(j)]));
            replace.emplace_back(f_.q[i], x);
            replace.emplace_back(f_.u[i], g.constant(0.0));
        }
        substitution_.emplace(g, replace);
        for (const Expr s : s_) along_.emplace_back(g, s);
    }

    const model::Formulas& formulas() const { return f_; }
    const model::Derived& derived() const { return derived_; }
    expr::Graph& graph() { return f_.graph; }

    Expr on_plane(Expr e) { return (*substitution_)(e); }
    bool constant(Expr e) const { return !f_.graph.depends_on(e, expr::auxiliary); }
    bool constant_on_plane(Expr e) { return constant(on_plane(e)); }

    /// Appends the derivatives by all s_j. Returns false if the expression is not affine on the plane.
    bool slopes(Expr on_plane, std::vector<Expr>& out) {
        if (f_.graph[on_plane].kinked && !constant(on_plane)) return false;
        for (expr::Derivative& d : along_) {
            out.push_back(d(on_plane));
            if (!constant(out.back())) return false;
        }
        return true;
    }

    std::vector<double> values(const std::vector<Expr>& constants) {
        const expr::Tape tape(f_.graph, constants, {}, {});
        std::vector<double> scratch(tape.slot_count()), out(constants.size());
        tape.prepare<double>({}, scratch);
        tape.evaluate<double>({}, scratch, out);
        return out;
    }

private:
    model::Formulas f_;
    const model::Derived& derived_;
    std::vector<Expr> s_;
    std::optional<expr::Substitution> substitution_;
    std::vector<expr::Derivative> along_;
};

/// Rows of the model along which forces can act.
std::set<int> acting_rows(const Statics& s) {
    std::set<int> rows;
    for (const auto& column : s.columns)
        for (const Statics::Share& share : column) rows.insert(share.row);
    for (const Statics::Fixed& f : s.fixed) rows.insert(f.row);
    return rows;
}

/// Whether the friction coefficients and radii of all acting elements are constant on the plane.
bool constant_coefficients(Plane& plane, const RestingModel& model, const Statics& s) {
    const model::Mechanics& m = model.model();
    const auto constant = [&](model::Coefficient c) {
        return c == model::no_coefficient || plane.constant_on_plane(plane.formulas().coefficients[ix(c)]);
    };
    std::vector<int> elements;
    for (const RestingElement& e : s.elements) elements.push_back(e.element);
    for (const Statics::Fixed& f : s.fixed) elements.push_back(f.element);
    for (const int k : elements) {
        const integrate::ElementRows& e = model.elements()[ix(k)];
        if (e.kind == ElementKind::clutch) continue;
        const model::Friction& f = e.kind == ElementKind::contact      ? m.contacts[ix(e.index)].friction
                                   : e.kind == ElementKind::constraint ? m.constraints[ix(e.index)].friction
                                                                       : m.sliders[ix(e.index)].friction;
        for (const model::Coefficient c : {f.mu[0], f.mu[1], f.radius[0], f.radius[1]})
            if (!constant(c)) return false;
    }
    return true;
}

/// The slopes as a matrix of numbers, d = dimension of the plane for each quantity in one row.
Matrix numbers(Plane& plane, const std::vector<Expr>& slopes, Eigen::Index d) {
    const std::vector<double> values = plane.values(slopes);
    Matrix out(static_cast<Eigen::Index>(values.size()) / std::max<Eigen::Index>(d, 1), d);
    for (Eigen::Index i = 0; i < out.rows(); ++i)
        for (Eigen::Index j = 0; j < d; ++j) out(i, j) = values[static_cast<std::size_t>(i * d + j)];
    return out;
}

/// Whether constraints and closed gaps are constant, hence zero, on the whole plane.
bool stays_closed(Plane& plane, RestingModel& model, const std::vector<char>& closed, Eigen::Index d) {
    const model::Formulas& f = plane.formulas();
    std::vector<Expr> slopes;
    for (const Expr g : f.constraints)
        if (!plane.slopes(plane.on_plane(g), slopes)) return false;
    for (std::size_t i = 0; i < closed.size(); ++i)
        if (closed[i] != 0 &&
            !plane.slopes(plane.on_plane(f.gaps[ix(model.model().contacts[i].row) - f.constraints.size()]), slopes))
            return false;
    const Matrix values = numbers(plane, slopes, d);
    return values.size() == 0 || values.cwiseAbs().maxCoeff() <= constant_row_slope;
}

/// H of h = h₀ + H s, if h is affine and the acting rows of W and χ are constant on the plane.
std::optional<Matrix> affine_forces(Plane& plane, const Statics& s, Eigen::Index d) {
    std::vector<Expr> slopes;
    for (const Expr h : plane.derived().h)
        if (!plane.slopes(plane.on_plane(h), slopes)) return {};
    const std::set<int> rows = acting_rows(s);
    for (const model::Derived::Entry& e : plane.derived().rows)
        if (rows.contains(e.row) && !plane.constant_on_plane(e.value)) return {};
    for (const int row : rows)
        if (!plane.constant_on_plane(plane.derived().chi[ix(row)])) return {};
    return numbers(plane, slopes, d);
}

/// Whether h + Wλ, with these forces λ held, does not change along the plane.
bool neutral_forces(Plane& plane, const Statics& s, const Vector& lambda, Eigen::Index d, double size) {
    expr::Graph& g = plane.graph();
    std::vector<double> by_row(plane.derived().chi.size(), 0.0);
    for (std::size_t c = 0; c < s.columns.size(); ++c)
        for (const Statics::Share& share : s.columns[c])
            by_row[ix(share.row)] += share.factor * lambda(static_cast<Eigen::Index>(c));
    for (const Statics::Fixed& f : s.fixed) by_row[ix(f.row)] += f.force;
    for (double& force : by_row)
        if (std::abs(force) <= negligible_force * size) force = 0.0;
    for (const int row : acting_rows(s))
        if (!plane.constant_on_plane(plane.derived().chi[ix(row)])) return false;
    std::vector<Expr> total;
    for (const Expr h : plane.derived().h) total.push_back(plane.on_plane(h));
    for (const model::Derived::Entry& e : plane.derived().rows)
        if (by_row[ix(e.row)] != 0.0)
            total[ix(e.column)] =
                g.add(total[ix(e.column)], g.mul(g.constant(by_row[ix(e.row)]), plane.on_plane(e.value)));
    std::vector<Expr> slopes;
    for (const Expr e : total)
        if (!plane.slopes(e, slopes)) return false;
    const Matrix values = numbers(plane, slopes, d);
    return values.size() == 0 || values.cwiseAbs().maxCoeff() <= constant_force_slope * size;
}

/// F_s of the sliders' loads F = F₀ + F_s s, if they are affine. The loads of sliders that slide must be constant.
std::optional<Matrix> slider_loads(Plane& plane, const RestingModel& model, const Statics& s, Eigen::Index d) {
    Matrix out = Matrix::Zero(static_cast<Eigen::Index>(s.elements.size()), d);
    for (std::size_t k = 0; k < s.elements.size(); ++k) {
        if (s.elements[k].kind != ElementKind::slider) continue;
        const model::Coefficient c =
            model.model().sliders[ix(model.elements()[ix(s.elements[k].element)].index)].normal_force;
        if (c == model::no_coefficient) continue;
        std::vector<Expr> slopes;
        if (!plane.slopes(plane.on_plane(plane.formulas().coefficients[ix(c)]), slopes)) return {};
        out.row(static_cast<Eigen::Index>(k)) = numbers(plane, slopes, d).row(0);
    }
    for (const Statics::Fixed& f : s.fixed) {
        const model::Coefficient c = model.model().sliders[ix(model.elements()[ix(f.element)].index)].normal_force;
        if (c != model::no_coefficient && !plane.constant_on_plane(plane.formulas().coefficients[ix(c)])) return {};
    }
    return out;
}

}  // namespace

std::optional<AffineRest> affine_along(RestingModel& model, const std::vector<char>& closed, const Vector& q,
                                       const Vector& lambda, const Matrix& N) {
    const model::SymbolicEquations* const system = model.model().system->symbolic();
    const model::Mechanics& m = model.model();
    if (system == nullptr) return {};
    AffineRest out;
    out.origin = q;
    out.N = N;
    model.move_to(q);
    out.statics = model.statics(closed);
    const Eigen::Index d = N.cols();
    for (std::size_t i = 0; i < closed.size(); ++i)
        if (closed[i] == 0) out.gaps.push_back({i, true, model.gap(i), Eigen::RowVectorXd::Zero(d)});
    out.H = Matrix::Zero(model.size(), d);
    out.load_slopes = Matrix::Zero(static_cast<Eigen::Index>(out.statics.elements.size()), d);
    if (d == 0) return out;  // a single point

    Plane plane(*system, m, model.time(), q, N);
    if (!stays_closed(plane, model, closed, d)) return {};
    std::optional<Matrix> load_slopes = slider_loads(plane, model, out.statics, d);
    if (!load_slopes) return {};
    out.load_slopes = std::move(*load_slopes);
    if (!constant_coefficients(plane, model, out.statics)) return {};
    if (std::optional<Matrix> H = affine_forces(plane, out.statics, d)) {
        out.H = std::move(*H);
    } else {
        const double size = std::max(out.statics.size, smallest_divisor);
        if (out.load_slopes.size() > 0 && out.load_slopes.cwiseAbs().maxCoeff() > 0.0) return {};
        if (lambda.size() != out.statics.W.cols()) return {};
        if (!neutral_forces(plane, out.statics, lambda, d, size)) return {};
        out.neutral = true;
    }
    for (AffineRest::Gap& gap : out.gaps) {
        const Expr g = plane.formulas().gaps[ix(m.contacts[gap.contact].row) - plane.formulas().constraints.size()];
        std::vector<Expr> slopes;
        gap.affine = plane.slopes(plane.on_plane(g), slopes);
        if (gap.affine) gap.slope = numbers(plane, slopes, d).row(0);
    }
    return out;
}

bool closes_in_a_plane(const RestingModel& model, const std::vector<char>& closed) {
    const model::SymbolicEquations* const system = model.model().system->symbolic();
    if (system == nullptr) return false;
    const Eigen::Index n = model.size();
    Plane plane(*system, model.model(), model.time(), Vector::Zero(n), Matrix::Identity(n, n));
    std::vector<Expr> slopes;
    const model::Formulas& f = plane.formulas();
    std::vector<Expr> functions = f.constraints;
    for (std::size_t i = 0; i < closed.size(); ++i)
        if (closed[i] != 0) functions.push_back(f.gaps[ix(model.model().contacts[i].row) - f.constraints.size()]);
    return std::all_of(functions.begin(), functions.end(),
                       [&](Expr g) { return plane.slopes(plane.on_plane(g), slopes); });
}

}  // namespace saltus::stability
