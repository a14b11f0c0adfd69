// SPDX-License-Identifier: Apache-2.0
#include "saltus/stability/certify/detail/stationary_point.hpp"

#include <algorithm>
#include <cmath>

#include "saltus/base/factors.hpp"
#include "saltus/model/mechanics.hpp"
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

/// A gap is closed if g_N <= closed_tolerance · (1 + Σ |w_k q_k|).
constexpr double closed_tolerance = 1e-9;
/// The position with a held coordinate is accepted if the violation of constraints, gaps and the held value is at most
/// this fraction of the same scales and of 1 + |held value|.
constexpr double held_position_tolerance = 1e-8;
/// ∇U = Σ λ w holds if the residual is at most this fraction of its terms, or, if all terms are small, of the part
/// smallest_load_ratio of the forces at a distance (typical_force).
constexpr double balance_tolerance = 1e-9, smallest_load_ratio = 1e-6;
/// The curvature is positive if it exceeds this fraction of 1 + the largest curvature.
constexpr double positive_curvature_ratio = 1e-9;
/// Singular values below this fraction of the largest count as 0: of the Newton matrix, and of the support rows.
constexpr double singular_value_ratio = 1e-12;

/// Descent: numbers of the sequential quadratic program.
constexpr int max_descent_steps = 400;
constexpr double first_shift = 1.0;       // added to every curvature, relative to M
constexpr double shift_factor = 4.0;      // growth after a rejected step, decrease after an accepted one
constexpr double least_shift = 1e-12;     // after accepted steps: then the steps are Newton's
constexpr double rejected_shift = 1e-6;   // at least this after a rejected step
constexpr double largest_shift = 1e16;    // beyond it no step leads down: give up
constexpr double penalty_factor = 2.0;    // penalty of a violation / largest multiplier; > 1 makes the merit exact
constexpr double converged_step = 1e-13;  // |step| <= converged_step (1 + |q|)
constexpr double escape_distance = 1e8;   // U falls without end if |q| exceeds this times (1 + |start|)
constexpr double merit_rounding = 1e-14;  // rounding error of the merit, relative to the energies ...
constexpr double merit_floor = 1e-3;      // ... plus this energy
/// Between the ends of a long step the merit is checked at this many points. A step is long if it exceeds long_step
/// (1 + |q|); the merit may rise by ridge_rounding (1 + |merit|).
constexpr int points_along_step = 6;
constexpr double long_step = 1e-3, ridge_rounding = 1e-12;

/// No step is longer than this part of 1 + |q|. Longer ones would cross several periods of an angle, where the few
/// points along the step do not show that the energy rises between them.
constexpr double longest_step = 0.5;
/// The search leaves at most max_stationary_points stationary points that are not minima. It goes on from a position of
/// lower energy at one of these distances, along the direction in which the energy falls.
constexpr int max_stationary_points = 12;
constexpr double leaving_distances[] = {0.1, 1e-2, 1e-3, 1e-4};
/// Steps of Newton's method back to the constraints, and the part of the energies that is no rounding error.
constexpr int steps_back = 8;
constexpr double lower_energy_ratio = 1e-13;

/// Newton's method ends after this number of steps, or if |step| <= newton_converged (1 + |q|).
constexpr int polish_steps = 8, newton_steps = 60;
constexpr double newton_converged = 1e-16;

/// The functions of the model at one position, as numbers (midpoints of their enclosures).
struct Point {
    double U = 0.0;
    Vector gradient, positions;
    Matrix hessian, rows, M;     // ∇²U; Wᵀ of the position rows; mass matrix
    std::vector<Matrix> curved;  // ∇²g of each position row
    bool finite = true;

    Point(const Enclosure& e, const Vector& q) {
        const Box box = proof::point_box({q.data(), q.data() + q.size()});
        const Interval u = e.potential(box);
        U = expr::midpoint(u);
        gradient = proof::midpoints(e.gradient(box));
        positions = proof::midpoints(e.position_values(box));
        hessian = e.hessian(box).middle();
        rows = e.row_matrix(box).middle().topRows(e.positions());
        M = e.mass(box).middle();
        for (const IntervalMatrix& H : e.position_hessians(box)) curved.push_back(H.middle());
        finite = u.defined && std::isfinite(U) && gradient.allFinite() && positions.allFinite();
    }

    /// ∇²L = ∇²U − Σ λ_r ∇²g_r.
    Matrix lagrangian(const Vector& lambda) const {
        Matrix H = hessian;
        for (Index r = 0; r < lambda.size(); ++r)
            if (lambda(r) != 0.0) H -= lambda(r) * curved[static_cast<std::size_t>(r)];
        return H;
    }
};

/// 1 + Σ |w_k q_k| of each position row: the size of the terms that make up g.
Vector row_scales(const Point& p, const Vector& q) { return (p.rows.cwiseAbs() * q.cwiseAbs()).array() + 1.0; }

/// Σ |g| + Σ max(0, −g_N).
double violation(const Point& p, int constraints) {
    double sum = 0.0;
    for (Index r = 0; r < p.positions.size(); ++r)
        sum += r < constraints ? std::fabs(p.positions(r)) : std::max(0.0, -p.positions(r));
    return sum;
}

/// H made positive definite: with the eigenvalues κ_i of H relative to M, Σ (|κ_i| + shift) (M v_i)(M v_i)ᵀ.
Matrix convex(const Matrix& H, const Matrix& M, double shift) {
    const Modes all = modes(H, M);
    if (!all.found) return H + shift * M;
    const Matrix MV = M * all.vectors;
    return MV * (all.values.cwiseAbs().array() + shift).matrix().asDiagonal() * MV.transpose();
}

/// A coordinate that is held at a value, as one more constraint. coordinate < 0: none.
struct Held {
    int coordinate = -1;
    double value = 0.0;

    double error(const Vector& q) const { return coordinate < 0 ? 0.0 : q(coordinate) - value; }
};

/// The solution of: minimise ½dᵀHd + ∇U·d subject to g + Gd = 0, g_N + W_Nᵀd >= 0 and the held coordinate.
struct Step {
    bool found = false;
    Vector d, lambda;   // the step; the multipliers of the position rows
    double held = 0.0;  // the multiplier of the held coordinate
};
/// With H = L Lᵀ and x = Lᵀd the objective is ½‖x + L⁻¹∇U‖² + const: the point of a polyhedron nearest to −L⁻¹∇U. Each
/// equation is a pair of inequalities. Rows are scaled to unit length; multipliers are scaled back.
Step quadratic_step(const Point& p, const Vector& q, const Matrix& H, int constraints, const Held& held) {
    const Cholesky factor(H);
    if (!factor.positive_definite()) return {};
    const Index m = p.positions.size(), held_rows = held.coordinate < 0 ? 0 : 2;
    if (m + held_rows == 0) {
        Step step;
        step.found = true;
        step.d = -factor.solve(p.gradient);
        return step;
    }
    Matrix A = Matrix::Zero(m + constraints + held_rows, H.rows());
    Vector b(m + constraints + held_rows);
    A.topRows(m) = p.rows;
    b.head(m) = -p.positions;
    A.middleRows(m, constraints) = -p.rows.topRows(constraints);
    b.segment(m, constraints) = p.positions.head(constraints);
    if (held_rows > 0) {
        A(m + constraints, held.coordinate) = 1.0;
        A(m + constraints + 1, held.coordinate) = -1.0;
        b(m + constraints) = -held.error(q);
        b(m + constraints + 1) = held.error(q);
    }
    Matrix G = factor.solve_lower_columns(A.transpose()).transpose();
    Vector size(G.rows());
    for (Index i = 0; i < G.rows(); ++i) {
        size(i) = G.row(i).norm();
        if (!(size(i) > 0.0)) size(i) = 1.0;
        G.row(i) /= size(i);
    }
    const solvers::LeastDistance s = solvers::least_distance(G, b.cwiseQuotient(size), -factor.solve_lower(p.gradient));
    if (!s.feasible) return {};
    Step step;
    step.found = true;
    step.d = factor.solve_upper(s.x);
    const Vector lambda = s.multipliers.cwiseQuotient(size);
    step.lambda = lambda.head(m);
    step.lambda.head(constraints) -= lambda.segment(m, constraints);
    if (held_rows > 0) step.held = lambda(m + constraints) - lambda(m + constraints + 1);
    return step;
}

/// All constraints and the gaps that carry a force; of dependent rows an independent choice.
std::vector<int> support_of(const Point& p, const Vector& lambda, int constraints) {
    std::vector<int> rows;
    const double largest = lambda.size() == 0 ? 0.0 : lambda.cwiseAbs().maxCoeff();
    for (int r = 0; r < lambda.size(); ++r)
        if (r < constraints || lambda(r) > loaded_force_ratio * largest) rows.push_back(r);
    Matrix A(static_cast<Index>(rows.size()), p.rows.cols());
    for (std::size_t k = 0; k < rows.size(); ++k) A.row(static_cast<Index>(k)) = p.rows.row(rows[k]);
    std::vector<int> chosen;
    for (const int k : row_rank(A).independent) chosen.push_back(rows[static_cast<std::size_t>(k)]);
    return chosen;
}

/// Newton's method on ∇U − Σ λ w = 0, g = 0 of the given rows. If the matrix is singular the step of least length is
/// taken.
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
        const Vector step = least_squares(J, -F, singular_value_ratio);
        if (!step.allFinite()) return;
        q += step.head(n);
        for (Index i = 0; i < m; ++i) lambda(rows[static_cast<std::size_t>(i)]) += step(n + i);
        if (step.head(n).norm() <= newton_converged * (1.0 + q.norm())) return;
    }
}

/// The multipliers of the closed rows with the least ‖∇U − Σ λ w‖, by nonnegative least squares. The multiplier of a
/// constraint is the difference of two nonnegative unknowns.
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

/// If the multipliers are not unique, the mean of several choices that together load every contact which some choice
/// loads. A linear program maximises the force of each contact without load. A direction along which Q does not change
/// to first order keeps all these contacts closed, so that `curvature` looks at the right directions.
Vector spread_forces(const Point& p, const std::vector<int>& closed, const Vector& lambda, int constraints) {
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
    program.upper.tail(m).setConstant(lambda.cwiseAbs().sum());  // bounded: no contact carries more than all did
    Vector sum = lambda;
    int choices = 1;
    for (Index k = 0; k < m; ++k) {
        const int r = closed[static_cast<std::size_t>(k)];
        if (sum(r) > loaded_force_ratio * sum.cwiseAbs().maxCoeff()) continue;
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

/// The largest force |∇U| at q and at the distance 1 + |q_k| from it along each coordinate. It gives the forces of the
/// model a scale, in their unit, where those at q itself vanish.
double typical_force(const Enclosure& e, const Vector& q) {
    double largest = 0.0;
    const auto look = [&](const Vector& at) {
        for (const Interval& x : e.gradient(proof::point_box(list_of(at)))) {
            const double force = std::fabs(expr::midpoint(x));
            if (std::isfinite(force)) largest = std::max(largest, force);
        }
    };
    look(q);
    for (Index k = 0; k < q.size(); ++k)
        for (const double sign : {1.0, -1.0}) {
            Vector at = q;
            at(k) += sign * (1.0 + std::fabs(q(k)));
            look(at);
        }
    return largest;
}

/// Fills all fields of a stationary point from its position `point.q`.
void classify(const Enclosure& e, StationaryPoint& point) {
    const Point p(e, point.q);
    const Index n = point.q.size();
    const Vector scales = row_scales(p, point.q);
    for (int r = e.constraints(); r < e.positions(); ++r)
        if (p.positions(r) <= closed_tolerance * scales(r)) point.closed.push_back(r);
    point.lambda = spread_forces(p, point.closed, multipliers(p, point.closed, e.constraints()), e.constraints());
    const Vector left = p.gradient - p.rows.transpose() * point.lambda;
    const double size = p.gradient.norm() + (p.rows.transpose() * point.lambda.cwiseAbs()).norm();
    point.residual = size > 0.0 ? left.norm() / size : 0.0;
    const double least_size = smallest_load_ratio * typical_force(e, point.q);
    const bool balanced = left.norm() <= balance_tolerance * std::max(size, least_size);
    const bool admissible = violation(p, e.constraints()) <= closed_tolerance * scales.sum();
    point.found = p.finite && balanced && admissible;
    if (!point.found && point.why.empty())
        point.why = "no position was found at which the potential energy is stationary";

    const std::vector<int>& support = point.support = support_of(p, point.lambda, e.constraints());
    Matrix A(static_cast<Index>(support.size()), n);
    for (std::size_t k = 0; k < support.size(); ++k) A.row(static_cast<Index>(k)) = p.rows.row(support[k]);
    const Matrix free = kernel_of(A, singular_value_ratio);
    point.free_directions = static_cast<int>(free.cols());
    if (free.cols() == 0) {
        point.minimum = true;
        point.curvature = INFINITY;
    } else {
        const Matrix K = free.transpose() * p.lagrangian(point.lambda) * free;
        Modes all = modes(K, free.transpose() * p.M * free);
        if (!all.found) all = modes(K, Matrix::Identity(K.rows(), K.cols()));  // M is not positive definite there
        if (!all.found) {
            point.found = false;
            point.why = "the curvature of the potential energy cannot be computed";
            for (Index k = 0; k < n; ++k) point.scale.push_back(1.0);
            return;
        }
        point.curvature = all.values(0);
        point.direction = free * all.vectors.col(0);
        point.minimum = point.curvature > positive_curvature_ratio * (1.0 + std::fabs(all.values(free.cols() - 1)));
    }
    for (Index k = 0; k < n; ++k) point.scale.push_back(1.0);
}

/// The end of a descent.
struct Descent {
    Vector q, lambda;
    double held = 0.0;     // multiplier of the held coordinate
    std::string why;       // the descent left the domain of U or every bound; empty otherwise
    bool escapes = false;  // it left every bound
};

/// The merit function U + penalty · violation does not rise along the step. A step across a ridge would reach a minimum
/// of another valley.
bool downhill(const Enclosure& e, const Vector& q, const Vector& d, double penalty, const Held& held, double from) {
    if (d.norm() < long_step * (1.0 + q.norm())) return true;
    double last = from;
    for (int k = 1; k <= points_along_step; ++k) {
        const Vector x = q + d * (static_cast<double>(k) / (points_along_step + 1));
        const Point p(e, x);
        const double merit = p.U + penalty * (violation(p, e.constraints()) + std::fabs(held.error(x)));
        if (!p.finite || merit > last + ridge_rounding * (1.0 + std::fabs(last))) return false;
        last = merit;
    }
    return true;
}

/// Sequential quadratic programs. A step is accepted if it leads downhill. Otherwise the shift grows, which shortens
/// the next step and turns it towards the steepest descent.
Descent descend(const Enclosure& e, const std::vector<double>& from, const Held& held) {
    Descent s;
    s.q = Eigen::Map<const Vector>(from.data(), static_cast<Index>(from.size()));
    s.lambda = Vector::Zero(e.positions());
    double shift = first_shift, penalty = 1.0;
    const double far = escape_distance * (1.0 + s.q.norm());
    for (int k = 0; k < max_descent_steps; ++k) {
        const Point p(e, s.q);
        if (!p.finite) {
            s.why = "the potential energy is not defined at a position that the descent reaches";
            return s;
        }
        if (s.q.norm() > far) {
            s.why = "the potential energy has no lower bound along the descent";
            s.escapes = true;
            return s;
        }
        const Step step = quadratic_step(p, s.q, convex(p.lagrangian(s.lambda), p.M, shift), e.constraints(), held);
        if (!step.found) {
            shift *= shift_factor;
            if (shift > largest_shift) return s;
            continue;
        }
        penalty = std::max({penalty, penalty_factor * std::fabs(step.held),
                            penalty_factor * (step.lambda.size() == 0 ? 0.0 : step.lambda.cwiseAbs().maxCoeff())});
        const double longest = longest_step * (1.0 + s.q.norm());
        const Vector d = step.d.norm() > longest ? Vector(step.d * (longest / step.d.norm())) : step.d;
        const Vector q = s.q + d;
        const Point next(e, q);
        const double before = p.U + penalty * (violation(p, e.constraints()) + std::fabs(held.error(s.q)));
        const double after = next.U + penalty * (violation(next, e.constraints()) + std::fabs(held.error(q)));
        const double rounding = merit_rounding * (std::fabs(p.U) + std::fabs(next.U) + merit_floor);
        if (next.finite && after <= before + rounding && downhill(e, s.q, d, penalty, held, before + rounding)) {
            s.q = q;
            s.lambda = step.lambda;
            s.held = step.held;
            shift = std::max(shift / shift_factor, least_shift);
            if (d.norm() <= converged_step * (1.0 + s.q.norm())) return s;
        } else {
            shift = std::max(shift_factor * shift, rejected_shift);
            if (shift > largest_shift) return s;
        }
    }
    return s;
}

/// The stationary point that descent reaches from `from`. It need not be a minimum.
StationaryPoint descend_to_stationary(const Enclosure& e, const std::vector<double>& from) {
    Descent s = descend(e, from, {});
    StationaryPoint point;
    point.why = s.why;
    point.q = s.q;
    const Point p(e, s.q);
    if (p.finite) polish(e, point.q, s.lambda, support_of(p, s.lambda, e.constraints()), polish_steps);
    classify(e, point);
    if (!point.found && s.escapes) {
        point.q = s.q;  // the last position of the descent, not that of Newton's method
        point.escapes = p.finite && violation(p, e.constraints()) <= 0.0;
    }
    return point;
}

}  // namespace

Vector onto_rows(const Enclosure& e, Vector q, const std::vector<int>& rows) {
    for (int k = 0; k < steps_back && !rows.empty(); ++k) {
        const Point p(e, q);
        if (!p.finite) break;
        Matrix A(static_cast<Index>(rows.size()), q.size());
        Vector g(A.rows());
        for (std::size_t i = 0; i < rows.size(); ++i) {
            A.row(static_cast<Index>(i)) = p.rows.row(rows[i]);
            g(static_cast<Index>(i)) = p.positions(rows[i]);
        }
        const Vector step = least_squares(A, -g, singular_value_ratio);
        q += step;
        if (step.norm() <= newton_converged * (1.0 + q.norm())) break;
    }
    return q;
}

std::optional<Vector> lower_position(const Enclosure& e, const StationaryPoint& point) {
    if (!point.found || point.minimum || !(point.direction.norm() > 0.0)) return {};
    const Vector direction = point.direction / point.direction.norm();
    const double U = Point(e, point.q).U;
    for (const double distance : leaving_distances)
        for (const double sign : {1.0, -1.0}) {
            const Vector q = onto_rows(e, point.q + sign * distance * direction, point.support);
            const Point p(e, q);
            const bool admissible =
                p.finite && violation(p, e.constraints()) <= closed_tolerance * row_scales(p, q).sum();
            if (admissible && p.U < U - lower_energy_ratio * (std::fabs(U) + std::fabs(p.U))) return q;
        }
    return {};
}

StationaryPoint find_minimum(const Enclosure& e, const std::vector<double>& from) {
    StationaryPoint point = descend_to_stationary(e, from);
    for (int k = 1; k < max_stationary_points; ++k) {
        const std::optional<Vector> lower = lower_position(e, point);
        if (!lower) break;
        point = descend_to_stationary(e, list_of(*lower));
    }
    return point;
}

HeldMinimum find_minimum_holding(const Enclosure& e, const std::vector<double>& from, int coordinate, double value) {
    const Held held{coordinate, value};
    const Descent s = descend(e, from, held);
    HeldMinimum result;
    result.q = s.q;
    const Point p(e, s.q);
    const double error = violation(p, e.constraints()) + std::fabs(held.error(s.q));
    const double scale = 1.0 + std::fabs(value) + row_scales(p, s.q).sum();
    result.found = s.why.empty() && p.finite && error <= held_position_tolerance * scale;
    result.U = p.U;
    result.slope = s.held;
    return result;
}

StationaryPoint find_stationary(const Enclosure& e, const std::vector<double>& from) {
    StationaryPoint point;
    point.q = Eigen::Map<const Vector>(from.data(), static_cast<Index>(from.size()));
    const Point p(e, point.q);
    const Vector scales = row_scales(p, point.q);
    std::vector<int> closed;
    for (int r = e.constraints(); r < e.positions(); ++r)
        if (p.positions(r) <= closed_tolerance * scales(r)) closed.push_back(r);
    Vector lambda = multipliers(p, closed, e.constraints());
    polish(e, point.q, lambda, support_of(p, lambda, e.constraints()), newton_steps);
    classify(e, point);
    return point;
}

std::vector<double> position_of(const StationaryPoint& point, const StationaryBox& box) {
    std::vector<double> q(point.q.data(), point.q.data() + point.q.size());
    for (std::size_t k = 0; k < box.q.size(); ++k)
        if (expr::contains(box.q[k], 0.0)) q[k] = 0.0;
    return q;
}

std::vector<proof::ElementForce> forces_at(const model::Mechanics& model, const StationaryPoint& point) {
    std::vector<proof::ElementForce> list;
    const auto zeros = [](const model::Friction& f) {
        return std::vector<double>(static_cast<std::size_t>(f.dimension));
    };
    for (const model::Contact& c : model.contacts) list.push_back({c.name, point.lambda(c.row), zeros(c.friction)});
    for (const model::Constraint& c : model.constraints)
        list.push_back({c.name, point.lambda(c.row), zeros(c.friction)});
    for (const model::Slider& s : model.sliders) list.push_back({s.name, 0.0, zeros(s.friction)});
    for (const model::Clutch& c : model.clutches) list.push_back({c.name, 0.0, {}});
    return list;
}

}  // namespace saltus::stability
