// SPDX-License-Identifier: Apache-2.0
#include "saltus/control/regulation_domain.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <queue>

#include "saltus/expr/differentiate.hpp"
#include "saltus/expr/tape.hpp"
#include "saltus/model/expression_system.hpp"
#include "saltus/solvers/linear_program.hpp"

namespace saltus::control {

using namespace saltus::proof;

namespace {

bool narrow(const IntervalMatrix& A) {
    double size = 0.0, widest = 0.0;
    for (int i = 0; i < A.rows(); ++i)
        for (int j = 0; j < A.cols(); ++j) {
            if (!std::isfinite(A(i, j).lo) || !std::isfinite(A(i, j).hi)) return false;
            size = std::max({size, std::abs(A(i, j).lo), std::abs(A(i, j).hi)});
            widest = std::max(widest, A(i, j).hi - A(i, j).lo);
        }
    return widest <= 1e-12 * size;
}

IntervalMatrix negative(const IntervalMatrix& A) { return IntervalMatrix(A.rows(), A.cols()) - A; }

/// How the mass matrix depends on a coordinate: not at all, with a period, or in some other way.
struct Dependence {
    bool any = false, periodic = true;
    double period = 0.0;
};

Dependence mass_dependence(const model::Model& m, std::size_t coordinate) {
    Dependence out;
    const auto* const system = dynamic_cast<const model::ExpressionSystem*>(m.system.get());
    if (system == nullptr) return {true, false, 0.0};
    model::Formulas f = system->formulas();
    std::vector<expr::Expr> roots;
    for (const model::Derived::Entry& e : system->derived().mass) roots.push_back(e.value);
    expr::Derivative derivative(f.graph, f.q[coordinate]);
    // 0: independent, 1: only inside of circular functions of an affine argument, 2: otherwise.
    const std::vector<expr::Expr> order = expr::reachable(f.graph, roots);
    std::vector<int> kind(f.graph.size(), 0);
    std::vector<expr::Expr> slopes;
    for (const expr::Expr e : order) {
        const expr::Node node = f.graph[e];
        if (e == f.q[coordinate]) {
            kind[e.id] = 2;
            continue;
        }
        const int operands = expr::operand_count(node.op);
        int worst = 0;
        if (operands > 0) worst = std::max(worst, kind[node.a.id]);
        if (operands > 1) worst = std::max(worst, kind[node.b.id]);
        if (operands > 2) worst = std::max(worst, kind[node.c.id]);
        const bool circular = node.op == expr::Op::sin || node.op == expr::Op::cos || node.op == expr::Op::tan;
        if (circular && worst == 2) {
            const expr::Expr slope = derivative(node.a);
            const auto varies = static_cast<expr::Kinds>(expr::time | expr::position | expr::velocity);
            if (!f.graph.depends_on(slope, varies)) {
                slopes.push_back(slope);
                worst = 1;
            }
        }
        kind[e.id] = worst;
    }
    int worst = 0;
    for (const expr::Expr e : roots) worst = std::max(worst, kind[e.id]);
    out.any = worst > 0;
    out.periodic = worst < 2;
    if (worst != 1) return out;
    const expr::Tape tape(f.graph, slopes, f.p, {});
    std::vector<double> scratch(tape.slot_count()), values(slopes.size());
    tape.prepare<double>(m.p, scratch);
    tape.evaluate<double>({}, scratch, values);
    double least = Interval::infinity;
    for (const double s : values)
        if (s != 0.0) least = std::min(least, std::abs(s));
    for (const double s : values)  // whole multiples of one slope have one period
        if (std::abs(s / least - std::round(s / least)) > 1e-12) out.periodic = false;
    out.period = 2.0 * std::numbers::pi / least;
    return out;
}

struct Candidate {
    double bound;
    Box box;
    bool operator<(const Candidate& other) const { return bound > other.bound; }
};

/// The least value of a function over a bounded box, by bounds over ever smaller ones: a proved lower bound.
double least(const Box& box, const std::function<double(const Box&)>& bound,
             const std::function<double(const std::vector<double>&)>& value, long budget) {
    std::priority_queue<Candidate> open;
    open.push({bound(box), box});
    double upper = Interval::infinity;
    for (long k = 0; k < budget && !open.empty(); ++k) {
        Candidate c = open.top();
        upper = std::min(upper, value(centre(c.box)));
        if (upper - c.bound <= 1e-6 * std::abs(upper)) break;
        std::size_t side = 0;
        for (std::size_t i = 1; i < c.box.size(); ++i)
            if (width(c.box[i]) > width(c.box[side])) side = i;
        if (!can_split(c.box, side)) break;
        open.pop();
        const auto halves = split(c.box, side, 0.0, 1.0);
        for (const Box& half : {halves.first, halves.second}) open.push({bound(half), half});
    }
    return open.empty() ? upper : open.top().bound;
}

}  // namespace

EigenvalueBounds eigenvalues(const IntervalMatrix& A) {
    const IntervalMatrix identity = IntervalMatrix::identity(A.rows());
    return {-largest_eigenvalue(negative(A), identity), largest_eigenvalue(A, identity)};
}

Domain::Domain(const model::Model& m)
    : model(m),
      enclosure(Enclosure::of(m, no_enclosure)),
      whole(whole_space(static_cast<std::size_t>(m.size()))),
      admissible(whole) {
    if (!enclosure) return;
    const AdmissibleSet set(*enclosure, Interval(0.0));
    set.contract(admissible, {}, Interval::infinity);
    for (const Interval& f : enclosure->forces_at_rest(admissible)) potential = potential && f.lo == 0.0 && f.hi == 0.0;
    mass = enclosure->mass(admissible);
    hessian = enclosure->hessian(admissible);
    damping = enclosure->damping(admissible);
    std::vector<int> rows;
    for (int i = 0; i < enclosure->positions(); ++i) rows.push_back(i);
    gradients = rows_of(enclosure->row_matrix(admissible), rows);
    convex = affine = enclosure->smooth;
    const std::vector<IntervalMatrix> curvatures = enclosure->position_hessians(whole);
    for (int i = enclosure->constraints(); i < enclosure->positions(); ++i) {
        const IntervalMatrix& H = curvatures[static_cast<std::size_t>(i)];
        bool zero = true;
        for (int a = 0; a < H.rows(); ++a)
            for (int b = 0; b < H.cols(); ++b) zero = zero && H(a, b).lo == 0.0 && H(a, b).hi == 0.0;
        affine = affine && zero;
        convex = convex && (zero || (H.finite() && eigenvalues(H).upper <= 0.0));
    }
    linear = affine && enclosure->smooth && enclosure->linear_damping && m.layout().mass_constant && narrow(mass) &&
             narrow(enclosure->hessian(whole)) && narrow(enclosure->damping(whole)) && narrow(gradients);
}

InertiaBounds inertia_bounds(const Domain& domain, const std::vector<double>& q, long budget) {
    InertiaBounds out;
    const model::Model& m = domain.model;
    const auto at = [&](const std::vector<double>& x) {
        model::Workspace workspace(m);
        std::vector<double> M(m.layout().mass.size()), rest(x.size(), 0.0);
        m.system->mass(model::at(m, 0.0, x, rest), workspace.scratch(), M);
        return symmetric_spectrum(model::dense_symmetric(m.layout().mass, M));
    };
    if (domain.enclosure) {
        // Bounds over the admissible region, one period of coordinates that enter with a period.
        Box box = domain.admissible;
        bool closed = true;
        for (std::size_t i = 0; i < box.size(); ++i) {
            const Dependence d = mass_dependence(m, i);
            if (!d.any)
                box[i] = Interval(0.0);
            else if (d.periodic && !(width(box[i]) <= d.period))
                box[i] = Interval(-0.5000001 * d.period, 0.5000001 * d.period);
            closed = closed && std::isfinite(width(box[i]));
        }
        EigenvalueBounds bounds = eigenvalues(domain.enclosure->mass(box));
        if (closed && (!(bounds.lower > 0.0) || bounds.upper > bounds.lower * (1.0 + 1e-9))) {
            const auto lower = [&](const Box& b) { return eigenvalues(domain.enclosure->mass(b)).lower; };
            const auto upper = [&](const Box& b) { return -eigenvalues(domain.enclosure->mass(b)).upper; };
            const long most = std::min(budget, 20'000L);
            bounds.lower = std::max(bounds.lower, least(
                                                      box, lower, [&](const auto& x) { return at(x).smallest; }, most));
            bounds.upper = std::min(bounds.upper, -least(
                                                      box, upper, [&](const auto& x) { return -at(x).largest; }, most));
        }
        if (bounds.lower > 0.0 && std::isfinite(bounds.upper)) {
            out = {bounds.lower, bounds.upper, true, m.layout().mass_constant ? "M is constant" : "by intervals"};
            return out;
        }
    }
    const Spectrum here = at(q);
    out = {here.smallest, here.largest, false, "at the equilibrium and around it"};
    for (int k = 0; k < 200; ++k) {
        std::vector<double> x = q;
        for (std::size_t i = 0; i < x.size(); ++i) {
            const double r = 0.6180339887498949 * (k + 1) * (1.0 + 0.7548776662466927 * static_cast<double>(i));
            x[i] += 2.0 * std::numbers::pi * (2.0 * (r - std::floor(r)) - 1.0);
        }
        const Spectrum s = at(x);
        out.lower = std::min(out.lower, s.smallest);
        out.upper = std::max(out.upper, s.largest);
    }
    return out;
}

std::vector<std::vector<int>> contact_subsets(const Domain& domain, ContactModel contacts, std::size_t most) {
    const int m = domain.contacts();
    std::vector<std::vector<int>> list{{}};
    if (m > 16) return list;
    const auto possible = [&](const std::vector<int>& subset) {
        if (!domain.affine || !domain.enclosure) return true;
        // gN = W q + c: closed ones zero and the others >= 0, or pressed ones <= 0.
        const int n = domain.model.size();
        const Matrix W = domain.gradients.middle();
        const IntervalVector at_zero =
            domain.enclosure->position_values(point_box(std::vector<double>(static_cast<std::size_t>(n), 0.0)));
        std::vector<int> rows;
        for (const model::Contact& c : domain.model.contacts) rows.push_back(c.row);
        solvers::LinearProgram p;  // W q − s = −c with slacks s
        p.A = Matrix::Zero(m, n + m);
        p.b = Vector::Zero(m);
        p.c = Vector::Zero(n + m);
        p.lower = Vector::Constant(n + m, -Interval::infinity);
        p.upper = Vector::Constant(n + m, Interval::infinity);
        for (int i = 0; i < m; ++i) {
            p.A.row(i).head(n) = W.row(rows[static_cast<std::size_t>(i)]);
            p.A(i, n + i) = -1.0;
            p.b(i) = -midpoint(at_zero[static_cast<std::size_t>(rows[static_cast<std::size_t>(i)])]);
            const bool in = std::find(subset.begin(), subset.end(), i) != subset.end();
            if (contacts == ContactModel::rigid) {
                p.lower(n + i) = 0.0;
                if (in) p.upper(n + i) = 0.0;
            } else if (in) {
                p.upper(n + i) = 0.0;
            }
        }
        return solvers::solve(p).status != solvers::ProgramStatus::infeasible;
    };
    for (std::size_t k = 0; k < list.size() && list.size() < 4096; ++k) {
        if (list[k].size() >= most) continue;
        for (int i = list[k].empty() ? 0 : list[k].back() + 1; i < m; ++i) {
            std::vector<int> subset = list[k];
            subset.push_back(i);
            if (possible(subset)) list.push_back(std::move(subset));
        }
    }
    return list;
}

}  // namespace saltus::control
