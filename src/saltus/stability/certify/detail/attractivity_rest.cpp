// SPDX-License-Identifier: Apache-2.0
#include "saltus/stability/certify/detail/attractivity_rest.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

#include "saltus/model/model.hpp"
#include "saltus/solvers/program/least_distance.hpp"
#include "saltus/solvers/program/linear_program.hpp"
#include "saltus/stability/equilibria/detail/equilibrium_algebra.hpp"

namespace saltus::stability {

using Eigen::Index;
using proof::Box;
using proof::Enclosure;
using proof::Interval;
using proof::IntervalMatrix;
using proof::IntervalVector;

namespace {

constexpr double closed_tolerance = 1e-9;
constexpr int most_steps = 400;

Vector middle(const IntervalVector& v) {
    Vector x(static_cast<Index>(v.size()));
    for (std::size_t k = 0; k < v.size(); ++k) x(static_cast<Index>(k)) = expr::midpoint(v[k]);
    return x;
}

/// Everything at one position, as numbers.
struct Point {
    double U = 0.0;
    Vector gradient, positions;
    Matrix hessian, rows, M;
    std::vector<Matrix> curved;
    bool finite = true;

    Point(const Enclosure& e, const Vector& q) {
        const Box box = proof::point_box({q.data(), q.data() + q.size()});
        const Interval u = e.potential(box);
        U = expr::midpoint(u);
        gradient = middle(e.gradient(box));
        positions = middle(e.position_values(box));
        hessian = e.hessian(box).middle();
        rows = e.row_matrix(box).middle().topRows(e.positions());
        M = e.mass(box).middle();
        for (const IntervalMatrix& H : e.position_hessians(box)) curved.push_back(H.middle());
        finite = u.defined && std::isfinite(U) && gradient.allFinite() && positions.allFinite();
    }

    Matrix lagrangian(const Vector& lambda) const {
        Matrix H = hessian;
        for (Index r = 0; r < lambda.size(); ++r)
            if (lambda(r) != 0.0) H -= lambda(r) * curved[static_cast<std::size_t>(r)];
        return H;
    }
};

Vector row_scales(const Point& p, const Vector& q) { return (p.rows.cwiseAbs() * q.cwiseAbs()).array() + 1.0; }

double violation(const Point& p, int constraints) {
    double sum = 0.0;
    for (Index r = 0; r < p.positions.size(); ++r)
        sum += r < constraints ? std::fabs(p.positions(r)) : std::max(0.0, -p.positions(r));
    return sum;
}

/// H made positive definite in the metric of M: negative curvatures turned round, and at least `shift`.
Matrix convex(const Matrix& H, const Matrix& M, double shift) {
    const Modes all = modes(H, M);
    if (!all.found) return H + shift * M;
    const Matrix MV = M * all.vectors;
    return MV * (all.values.cwiseAbs().array() + shift).matrix().asDiagonal() * MV.transpose();
}

/// A coordinate that is held at a value, as one more constraint.
struct Held {
    int coordinate = -1;
    double value = 0.0;

    double off(const Vector& q) const { return coordinate < 0 ? 0.0 : q(coordinate) - value; }
};

/// min ½dᵀHd + g·d over the linearised constraints and gaps.
struct Step {
    bool found = false;
    Vector d, lambda;
    double held = 0.0;  // multiplier
};
Step quadratic_step(const Point& p, const Vector& q, const Matrix& H, int constraints, const Held& held) {
    const Eigen::LLT<Matrix> llt(H);
    if (llt.info() != Eigen::Success) return {};
    const Index m = p.positions.size(), more = held.coordinate < 0 ? 0 : 2;
    if (m + more == 0) {
        Step step;
        step.found = true;
        step.d = -llt.solve(p.gradient);
        return step;
    }
    Matrix A = Matrix::Zero(m + constraints + more, H.rows());
    Vector b(m + constraints + more);
    A.topRows(m) = p.rows;
    b.head(m) = -p.positions;
    A.middleRows(m, constraints) = -p.rows.topRows(constraints);
    b.segment(m, constraints) = p.positions.head(constraints);
    if (more > 0) {
        A(m + constraints, held.coordinate) = 1.0;
        A(m + constraints + 1, held.coordinate) = -1.0;
        b(m + constraints) = -held.off(q);
        b(m + constraints + 1) = held.off(q);
    }
    // x = Lᵀd: distance from −L⁻¹g, rows to unit length.
    Matrix G = llt.matrixL().solve(A.transpose()).transpose();
    Vector size(G.rows());
    for (Index i = 0; i < G.rows(); ++i) {
        size(i) = G.row(i).norm();
        if (!(size(i) > 0.0)) size(i) = 1.0;
        G.row(i) /= size(i);
    }
    const solvers::LeastDistance s =
        solvers::least_distance(G, b.cwiseQuotient(size), -llt.matrixL().solve(p.gradient));
    if (!s.feasible) return {};
    Step step;
    step.found = true;
    step.d = llt.matrixU().solve(s.x);
    const Vector lambda = s.multipliers.cwiseQuotient(size);
    step.lambda = lambda.head(m);
    step.lambda.head(constraints) -= lambda.segment(m, constraints);
    if (more > 0) step.held = lambda(m + constraints) - lambda(m + constraints + 1);
    return step;
}

/// Rows that carry force, in an independent choice.
std::vector<int> support_of(const Point& p, const Vector& lambda, int constraints) {
    std::vector<int> rows;
    const double most = lambda.size() == 0 ? 0.0 : lambda.cwiseAbs().maxCoeff();
    for (int r = 0; r < lambda.size(); ++r)
        if (r < constraints || lambda(r) > 1e-9 * most) rows.push_back(r);
    Matrix A(static_cast<Index>(rows.size()), p.rows.cols());
    for (std::size_t k = 0; k < rows.size(); ++k) A.row(static_cast<Index>(k)) = p.rows.row(rows[k]);
    std::vector<int> chosen;
    for (const int k : row_rank(A).independent) chosen.push_back(rows[static_cast<std::size_t>(k)]);
    return chosen;
}

/// Newton's method on ∇U = Σ λ w, g = 0 of the given rows, least squares where it is singular.
void polish(const Enclosure& e, Vector& q, Vector& lambda, const std::vector<int>& rows, int steps) {
    const Index n = q.size(), m = static_cast<Index>(rows.size());
    for (int k = 0; k < steps; ++k) {
        const Point p(e, q);
        if (!p.finite) return;
        Matrix J = Matrix::Zero(n + m, n + m);
        Vector F(n + m);
        J.topLeftCorner(n, n) = p.lagrangian(lambda);
        F.head(n) = p.gradient;
        for (Index i = 0; i < m; ++i) {
            const int r = rows[static_cast<std::size_t>(i)];
            J.block(0, n + i, n, 1) = -p.rows.row(r).transpose();
            J.block(n + i, 0, 1, n) = p.rows.row(r);
            F.head(n) -= lambda(r) * p.rows.row(r).transpose();
            F(n + i) = p.positions(r);
        }
        const Vector step = least_squares(J, -F, 1e-12);
        if (!step.allFinite()) return;
        q += step.head(n);
        for (Index i = 0; i < m; ++i) lambda(rows[static_cast<std::size_t>(i)]) += step(n + i);
        if (step.head(n).norm() <= 1e-16 * (1.0 + q.norm())) return;
    }
}

/// Multipliers of least size for given q, by nonnegative least squares over closed rows.
Vector multipliers(const Point& p, const std::vector<int>& closed, int constraints) {
    const Index m = p.positions.size();
    std::vector<std::pair<int, double>> columns;
    for (int r = 0; r < constraints; ++r) columns.insert(columns.end(), {{r, 1.0}, {r, -1.0}});
    for (const int r : closed) columns.emplace_back(r, 1.0);
    Vector lambda = Vector::Zero(m);
    if (columns.empty()) return lambda;
    Matrix A(p.rows.cols(), static_cast<Index>(columns.size()));
    for (std::size_t k = 0; k < columns.size(); ++k)
        A.col(static_cast<Index>(k)) = columns[k].second * p.rows.row(columns[k].first).transpose();
    const Vector x = solvers::nonnegative_least_squares(A, p.gradient).x;
    for (std::size_t k = 0; k < columns.size(); ++k)
        lambda(columns[k].first) += columns[k].second * x(static_cast<Index>(k));
    return lambda;
}

/// Where forces are not unique, a mean that loads every contact which some choice loads: what moves without a
/// first-order change of Q keeps all of these closed.
Vector spread(const Point& p, const std::vector<int>& closed, const Vector& lambda, int constraints) {
    const Index n = p.rows.cols(), bilateral = constraints, m = static_cast<Index>(closed.size());
    solvers::LinearProgram program;
    program.A.resize(n, bilateral + m);
    for (Index r = 0; r < bilateral; ++r) program.A.col(r) = p.rows.row(r).transpose();
    for (Index k = 0; k < m; ++k)
        program.A.col(bilateral + k) = p.rows.row(closed[static_cast<std::size_t>(k)]).transpose();
    program.b = p.rows.transpose() * lambda;
    program.lower = Vector::Zero(bilateral + m);
    program.lower.head(bilateral).setConstant(-INFINITY);
    program.upper = Vector::Constant(bilateral + m, INFINITY);
    program.upper.tail(m).setConstant(lambda.cwiseAbs().sum());  // none carries more than all together did
    Vector sum = lambda;
    int choices = 1;
    for (Index k = 0; k < m; ++k) {
        const int r = closed[static_cast<std::size_t>(k)];
        if (sum(r) > 1e-9 * sum.cwiseAbs().maxCoeff()) continue;
        program.c = Vector::Zero(bilateral + m);
        program.c(bilateral + k) = -1.0;
        const solvers::ProgramSolution s = solvers::solve(program);
        if (s.status != solvers::ProgramStatus::optimal) continue;
        for (Index j = 0; j < bilateral; ++j) sum(j) += s.x(j);
        for (Index j = 0; j < m; ++j) sum(closed[static_cast<std::size_t>(j)]) += s.x(bilateral + j);
        ++choices;
    }
    return sum / choices;
}

void judge(const Enclosure& e, Rest& rest) {
    const Point p(e, rest.q);
    const Index n = rest.q.size();
    const Vector scales = row_scales(p, rest.q);
    for (int r = e.constraints(); r < e.positions(); ++r)
        if (p.positions(r) <= closed_tolerance * scales(r)) rest.closed.push_back(r);
    rest.lambda = spread(p, rest.closed, multipliers(p, rest.closed, e.constraints()), e.constraints());
    const Vector left = p.gradient - p.rows.transpose() * rest.lambda;
    const double size = p.gradient.norm() + (p.rows.transpose() * rest.lambda.cwiseAbs()).norm();
    rest.residual = size > 0.0 ? left.norm() / size : 0.0;
    const bool flat = left.norm() <= 1e-9 * std::max(size, 1e-6);
    bool inside = violation(p, e.constraints()) <= closed_tolerance * scales.sum();
    rest.found = p.finite && flat && inside;
    if (!rest.found && rest.why.empty()) rest.why = "no position was found at which the potential energy is stationary";

    const std::vector<int>& support = rest.support = support_of(p, rest.lambda, e.constraints());
    Matrix A(static_cast<Index>(support.size()), n);
    for (std::size_t k = 0; k < support.size(); ++k) A.row(static_cast<Index>(k)) = p.rows.row(support[k]);
    const Matrix free = kernel_of(A, 1e-12);
    rest.free_directions = static_cast<int>(free.cols());
    if (free.cols() == 0) {
        rest.minimum = true;
        rest.curvature = INFINITY;
    } else {
        const Modes all = modes(free.transpose() * p.lagrangian(rest.lambda) * free, free.transpose() * p.M * free);
        rest.curvature = all.values(0);
        rest.direction = free * all.vectors.col(0);
        rest.minimum = rest.curvature > 1e-9 * (1.0 + std::fabs(all.values(free.cols() - 1)));
    }
    for (Index k = 0; k < n; ++k) rest.scale.push_back(1.0);
}

}  // namespace

namespace {

/// Sequential quadratic programs with a shift that grows where a step does not lead down.
struct Descent {
    Vector q, lambda;
    double held = 0.0;
    bool settled = false;
    std::string why;
};
/// The way there goes down all along: no step across a ridge.
bool downhill(const Enclosure& e, const Vector& q, const Vector& d, double penalty, const Held& held, double from) {
    constexpr int between = 6;
    if (d.norm() < 1e-3 * (1.0 + q.norm())) return true;
    double last = from;
    for (int k = 1; k <= between; ++k) {
        const Vector x = q + d * (static_cast<double>(k) / (between + 1));
        const Point p(e, x);
        const double merit = p.U + penalty * (violation(p, e.constraints()) + std::fabs(held.off(x)));
        if (!p.finite || merit > last + 1e-12 * (1.0 + std::fabs(last))) return false;
        last = merit;
    }
    return true;
}

Descent descend(const Enclosure& e, const std::vector<double>& from, const Held& held) {
    Descent s;
    s.q = Eigen::Map<const Vector>(from.data(), static_cast<Index>(from.size()));
    s.lambda = Vector::Zero(e.positions());
    double shift = 1.0, penalty = 1.0;
    const double far = 1e8 * (1.0 + s.q.norm());
    for (int k = 0; k < most_steps; ++k) {
        const Point p(e, s.q);
        if (!p.finite) {
            s.why = "the potential energy does not exist where it leads downhill";
            return s;
        }
        if (s.q.norm() > far) {
            s.why = "the potential energy falls without end";
            return s;
        }
        const Step step = quadratic_step(p, s.q, convex(p.lagrangian(s.lambda), p.M, shift), e.constraints(), held);
        if (!step.found) {
            shift *= 4.0;
            if (shift > 1e16) return s;
            continue;
        }
        penalty = std::max({penalty, 2.0 * std::fabs(step.held),
                            2.0 * (step.lambda.size() == 0 ? 0.0 : step.lambda.cwiseAbs().maxCoeff())});
        const Vector q = s.q + step.d;
        const Point next(e, q);
        const double before = p.U + penalty * (violation(p, e.constraints()) + std::fabs(held.off(s.q)));
        const double after = next.U + penalty * (violation(next, e.constraints()) + std::fabs(held.off(q)));
        const double rounding = 1e-14 * (std::fabs(p.U) + std::fabs(next.U) + 1e-3);
        if (next.finite && after <= before + rounding && downhill(e, s.q, step.d, penalty, held, before + rounding)) {
            s.q = q;
            s.lambda = step.lambda;
            s.held = step.held;
            shift = std::max(shift / 4.0, 1e-12);
            if (step.d.norm() <= 1e-13 * (1.0 + s.q.norm())) {
                s.settled = true;
                return s;
            }
        } else {
            shift = std::max(4.0 * shift, 1e-6);
            if (shift > 1e16) return s;
        }
    }
    return s;
}

}  // namespace

Rest find_minimum(const Enclosure& e, const std::vector<double>& from) {
    Descent s = descend(e, from, {});
    Rest rest;
    rest.why = s.why;
    rest.q = s.q;
    const Point p(e, s.q);
    if (p.finite) polish(e, rest.q, s.lambda, support_of(p, s.lambda, e.constraints()), 8);
    judge(e, rest);
    return rest;
}

HeldMinimum find_minimum_holding(const Enclosure& e, const std::vector<double>& from, int coordinate, double value) {
    const Held held{coordinate, value};
    const Descent s = descend(e, from, held);
    HeldMinimum result;
    result.q = s.q;
    const Point p(e, s.q);
    const double off = violation(p, e.constraints()) + std::fabs(held.off(s.q));
    result.found = s.why.empty() && p.finite && off <= 1e-8 * row_scales(p, s.q).sum();
    result.U = p.U;
    result.slope = s.held;
    return result;
}

Rest find_stationary(const Enclosure& e, const std::vector<double>& from) {
    Rest rest;
    rest.q = Eigen::Map<const Vector>(from.data(), static_cast<Index>(from.size()));
    std::vector<int> rows;
    for (int r = 0; r < e.constraints(); ++r) rows.push_back(r);
    const Point p(e, rest.q);
    const Vector scales = row_scales(p, rest.q);
    std::vector<int> closed;
    for (int r = e.constraints(); r < e.positions(); ++r)
        if (p.positions(r) <= closed_tolerance * scales(r)) closed.push_back(r);
    Vector lambda = multipliers(p, closed, e.constraints());
    polish(e, rest.q, lambda, support_of(p, lambda, e.constraints()), 60);
    judge(e, rest);
    return rest;
}

std::vector<double> position_of(const Rest& rest, const RestBox& box) {
    std::vector<double> q(rest.q.data(), rest.q.data() + rest.q.size());
    for (std::size_t k = 0; k < box.q.size(); ++k)
        if (expr::contains(box.q[k], 0.0)) q[k] = 0.0;
    return q;
}

std::vector<proof::ElementForce> forces_at(const model::Model& model, const Rest& rest) {
    std::vector<proof::ElementForce> list;
    const auto zeros = [](const model::Friction& f) {
        return std::vector<double>(static_cast<std::size_t>(f.dimension));
    };
    for (const model::Contact& c : model.contacts) list.push_back({c.name, rest.lambda(c.row), zeros(c.friction)});
    for (const model::Constraint& c : model.constraints)
        list.push_back({c.name, rest.lambda(c.row), zeros(c.friction)});
    for (const model::Slider& s : model.sliders) list.push_back({s.name, 0.0, zeros(s.friction)});
    for (const model::Clutch& c : model.clutches) list.push_back({c.name, 0.0, {}});
    return list;
}

}  // namespace saltus::stability
