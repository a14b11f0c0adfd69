// SPDX-License-Identifier: Apache-2.0
#include "saltus/control/rest.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "saltus/solvers/complementarity/complementarity.hpp"

namespace saltus::control {

namespace {

constexpr int max_descent_steps = 200;      ///< of the descent of the potential
constexpr double negligible_force = 1e-12;  ///< a contact pushes if λ > this times the size of the forces
constexpr double eps = std::numeric_limits<double>::epsilon();

/// Gaps and constraints are relative to row_scale, forces to the sizes of their terms.
constexpr double accepted_residual = 1e-9;  ///< an equilibrium is found if its residual is at most this
constexpr double touching_gap = 1e-10;      ///< a contact without a force touches if its gap is at most this
constexpr double penetration = 1e-9;        ///< a gap below −penetration is outside the admissible region
constexpr double weak_force = 1e-9;         ///< contacts with |λ| of at most this do not hold a direction
constexpr double smallest_force =
    1e-300;  ///< lower bound of the size of the forces, so that 0 > weak_force · size fails

/// An equilibrium is isolated if the smallest eigenvalue is larger than this part of the largest.
constexpr double singular_curvature = 1e-12;
constexpr double singular_stiffness = 1e-10;  ///< the same for the rank of the restricted stiffness
constexpr double singular_system = 1e-12;     ///< the same for the equations of rest_derivative

/// convex(): least eigenvalue of H, and additional shift if K has a smaller one; both relative to the largest.
constexpr double least_eigenvalue = 1e-8, shift_margin = 1e-3;

constexpr double small_step = 1e-9;  ///< a descent step below this part of max(1, |q|) is polished by Newton
constexpr int max_halvings = 40;     ///< of a descent step
constexpr double runaway = 1e9;      ///< the descent diverges if |q| exceeds this times its start
constexpr int runaway_steps = 3;     ///< in more than this number of steps; constraints may lead back from one step
constexpr int max_newton_steps = 40;
constexpr int patient_newton_steps = 6;  ///< after this number of steps each step must be shorter than the one before

std::vector<double> moved(std::span<const double> q, const Vector& d, double s) {
    std::vector<double> out(q.begin(), q.end());
    for (std::size_t i = 0; i < out.size(); ++i) out[i] += s * d(static_cast<Eigen::Index>(i));
    return out;
}

/// Size of the forces: the largest sum of the absolute values of the terms that must cancel.
double force_scale(const Statics& s, const Vector& lambda) {
    double scale = 0.0;
    for (int i = 0; i < s.size(); ++i) {
        double sum = std::abs(s.force()(i));
        for (int r = 0; r < s.rows(); ++r) sum += std::abs(s.gradients()(r, i) * lambda(r));
        scale = std::max(scale, sum);
    }
    return scale;
}

/// Size of a row: max(1, |∂g/∂q_i q_i|).
double row_scale(const Statics& s, int row, std::span<const double> q) {
    double scale = 1.0;
    for (int i = 0; i < s.size(); ++i)
        scale = std::max(scale, std::abs(s.gradients()(row, i) * q[static_cast<std::size_t>(i)]));
    return scale;
}

/// Largest relative defect of all equations and signs. Forces are relative to the size of their terms, or to the force
/// |K| max(1, |q|) of a displacement by the size of the position, whichever is larger: a smaller force defect than
/// rounding times this moves the position by less than rounding.
double residual_of(const Statics& s, const Matrix& K, std::span<const double> q, const Vector& lambda) {
    const Vector r = s.force() + s.gradients().transpose() * lambda;
    double size = 1.0;
    for (const double x : q) size = std::max(size, std::abs(x));
    const double floor = K.cwiseAbs().rowwise().sum().maxCoeff() * size;
    const double forces = std::max(force_scale(s, lambda), floor);
    double worst = forces > 0.0 ? r.cwiseAbs().maxCoeff() / forces : 0.0;
    for (int i = 0; i < s.rows(); ++i) {
        const double gap = s.positions()(i) + s.compliance()(i) * lambda(i), scale = row_scale(s, i, q);
        if (i < s.constraints()) {
            worst = std::max(worst, std::abs(gap) / scale);
            continue;
        }
        worst = std::max({worst, -gap / scale, forces > 0.0 ? -lambda(i) / forces : 0.0});
        if (lambda(i) > negligible_force * forces) worst = std::max(worst, std::abs(gap) / scale);
    }
    return worst;
}

/// K if it is positive definite, otherwise H = K + σM with σ so large that H is, by a margin.
Matrix convex(const Matrix& K, const Matrix& M) {
    Matrix H = 0.5 * (K + K.transpose());
    const Spectrum mass = symmetric_spectrum(M), spectrum = symmetric_spectrum(H);
    const double size = std::max({std::abs(spectrum.smallest), std::abs(spectrum.largest), eps});
    const double wanted = least_eigenvalue * size;
    if (spectrum.smallest >= wanted) return H;
    return H + (wanted - spectrum.smallest + shift_margin * size) / mass.smallest * M;
}

struct DescentStep {
    Vector d, lambda;
};
/// The step of sequential quadratic programming: min ½dᵀHd − h·d subject to the linearised rows. Its conditions are
///     H d = h + Aᵀλ,   g + A d = 0 (constraints),   0 <= λ ⊥ g_N + A d + λ/k >= 0 (contacts), A = ∂(g, g_N)/∂q.
/// With d = H⁻¹(h + Aᵀλ) they become a mixed complementarity problem in λ with the matrix A H⁻¹Aᵀ + diag(1/k). Nothing
/// if it has no solution.
std::optional<DescentStep> descent_step(const Statics& s, const Matrix& H) {
    Vector lambda = Vector::Zero(s.rows());
    const Matrix& A = s.gradients();
    Matrix right(s.size(), s.rows() + 1);
    right << A.transpose(), s.force();
    const Matrix solved = solve_columns(H, right);
    solvers::MixedComplementarity problem;
    problem.M = A * solved.leftCols(s.rows());
    problem.M.diagonal() += s.compliance();
    problem.q = s.positions() + A * solved.rightCols(1);
    problem.free.assign(static_cast<std::size_t>(s.rows()), false);
    std::fill_n(problem.free.begin(), s.constraints(), true);
    if (s.rows() > 0) {
        const solvers::Solution solution = solvers::solve(problem);
        if (!solvers::usable(solution.status)) return {};
        lambda = Eigen::Map<const Vector>(solution.r.data(), s.rows());
    }
    const Vector d = solved.rightCols(1) + solved.leftCols(s.rows()) * lambda;
    if (!d.allFinite()) return {};
    return DescentStep{d, lambda};
}

/// The exact l₁ merit function U + Σ weight · violation. The descent direction decreases it if each weight is larger
/// than the force of its row.
double merit(Statics& s, const Vector& weights) {
    double value = s.potential();
    for (int i = 0; i < s.rows(); ++i) {
        if (s.compliance()(i) > 0.0) continue;
        value += weights(i) * (i < s.constraints() ? std::abs(s.positions()(i)) : std::max(0.0, -s.positions()(i)));
    }
    return value;
}

/// Directions along which the held rows stay zero, by columns.
Matrix free_directions(const Statics& s, const std::vector<int>& held) {
    Matrix rows(static_cast<Eigen::Index>(held.size()), s.size());
    for (std::size_t k = 0; k < held.size(); ++k) rows.row(static_cast<Eigen::Index>(k)) = s.gradients().row(held[k]);
    return kernel(rows, s.size());
}

/// Fills in residual, closed, strict, curvature and isolated. Springs that push are part of the stiffness; rigid
/// contacts that push restrict the directions.
void classify(Statics& s, Rest& rest) {
    Matrix K = s.stiffness(rest.lambda);
    rest.residual = residual_of(s, K, rest.q, rest.lambda);
    rest.closed.clear();
    rest.strict = true;
    std::vector<int> held;
    for (int i = 0; i < s.constraints(); ++i) held.push_back(i);
    const double forces = force_scale(s, rest.lambda);
    for (int i = s.constraints(); i < s.rows(); ++i) {
        const bool pushes = rest.lambda(i) > negligible_force * forces && rest.lambda(i) > 0.0;
        if (!pushes && s.positions()(i) > touching_gap * row_scale(s, i, rest.q)) continue;
        rest.closed.push_back(i);
        rest.strict = rest.strict && pushes;
        if (pushes && s.compliance()(i) > 0.0)
            K += s.gradients().row(i).transpose() * s.gradients().row(i) / s.compliance()(i);
        else if (pushes)
            held.push_back(i);
    }
    const Matrix Z = free_directions(s, held);
    rest.curvature = std::numeric_limits<double>::quiet_NaN();
    if (Z.cols() == 0) return;
    const Spectrum spectrum = vibrations(Z.transpose() * K * Z, Z.transpose() * s.mass() * Z);
    rest.curvature = spectrum.smallest;
    rest.isolated = std::abs(spectrum.smallest) > singular_curvature * std::abs(spectrum.largest);
}

/// Sets `found`, and `reason` if it is not.
void conclude(Rest& rest, const char* otherwise) {
    rest.found = rest.residual <= accepted_residual && rest.isolated;
    if (!rest.found && rest.reason.empty())
        rest.reason = rest.isolated ? otherwise : "the equilibrium is not isolated: along some direction no force acts";
}

/// The matrix of the linearised equations of rest with the given rows closed,
///     d(h + Aᵀλ) = −K dq + Aᵀdλ,   d(g + λ/k) = A dq + dλ/k,
/// with all signs changed, so that matrix · (dq, dλ) = (h + Aᵀλ, g + λ/k) is the Newton step and
/// matrix · (dq/dp, dλ/dp) = ∂(h + Aᵀλ, g + λ/k)/∂p the derivative by a parameter.
Matrix rest_matrix(Statics& s, const Vector& lambda, const std::vector<int>& rows) {
    const auto m = static_cast<Eigen::Index>(rows.size());
    const int n = s.size();
    Matrix system = Matrix::Zero(n + m, n + m);
    system.topLeftCorner(n, n) = s.stiffness(lambda);
    for (Eigen::Index r = 0; r < m; ++r) {
        const int i = rows[static_cast<std::size_t>(r)];
        system.block(0, n + r, n, 1) = -s.gradients().row(i).transpose();
        system.block(n + r, 0, 1, n) = -s.gradients().row(i);
        system(n + r, n + r) = -s.compliance()(i);
    }
    return system;
}

/// All constraints, then the given contacts.
std::vector<int> closed_rows(const Statics& s, const std::vector<int>& closed) {
    std::vector<int> rows;
    for (int i = 0; i < s.constraints(); ++i) rows.push_back(i);
    rows.insert(rows.end(), closed.begin(), closed.end());
    return rows;
}

/// Newton's method for the equations with the contacts of `closed` touching. Signs are ignored. The caller examines the
/// residual; Statics is left at the last point.
Rest newton(Statics& s, std::span<const double> q, const Vector& lambda, const std::vector<int>& closed) {
    Rest rest;
    rest.q.assign(q.begin(), q.end());
    rest.lambda = Vector::Zero(s.rows());
    const std::vector<int> rows = closed_rows(s, closed);
    for (const int i : rows) rest.lambda(i) = lambda(i);
    const auto m = static_cast<Eigen::Index>(rows.size());
    const int n = s.size();
    double last = std::numeric_limits<double>::infinity();
    for (int k = 0; k < max_newton_steps; ++k) {
        s.at(rest.q);
        const Matrix system = rest_matrix(s, rest.lambda, rows);
        Vector right(n + m);
        right.head(n) = s.force() + s.gradients().transpose() * rest.lambda;
        for (Eigen::Index r = 0; r < m; ++r) {
            const int i = rows[static_cast<std::size_t>(r)];
            right(n + r) = s.positions()(i) + s.compliance()(i) * rest.lambda(i);
        }
        const Vector change = least_squares(system, right);
        if (!change.allFinite()) break;
        const double size = change.head(n).norm();
        if (!(size < last) && k > patient_newton_steps) break;  // only rounding is left, or it diverges
        last = size;
        rest.q = moved(rest.q, change.head(n), 1.0);
        for (Eigen::Index r = 0; r < m; ++r) rest.lambda(rows[static_cast<std::size_t>(r)]) += change(n + r);
    }
    s.at(rest.q);
    return rest;
}

/// Largest relative defect of the equations with the given contacts closed; signs are ignored.
double equation_residual(Statics& s, const Rest& rest, const std::vector<int>& closed) {
    const Vector r = s.force() + s.gradients().transpose() * rest.lambda;
    double size = 1.0;
    for (const double x : rest.q) size = std::max(size, std::abs(x));
    const double floor = s.stiffness(rest.lambda).cwiseAbs().rowwise().sum().maxCoeff() * size;
    const double forces = std::max(force_scale(s, rest.lambda), floor);
    double worst = forces > 0.0 ? r.cwiseAbs().maxCoeff() / forces : 0.0;
    const auto row = [&](int i) {
        worst =
            std::max(worst, std::abs(s.positions()(i) + s.compliance()(i) * rest.lambda(i)) / row_scale(s, i, rest.q));
    };
    for (int i = 0; i < s.constraints(); ++i) row(i);
    for (const int i : closed) row(i);
    return worst;
}

}  // namespace

Rest polish_rest(Statics& s, std::span<const double> q, const Vector& lambda, const std::vector<int>& closed) {
    Rest rest = newton(s, q, lambda, closed);
    classify(s, rest);
    conclude(rest, "Newton's method for the equilibrium does not converge");
    return rest;
}

Rest stationary_rest(Statics& s, std::span<const double> q, const std::vector<int>& closed) {
    Rest rest = newton(s, q, Vector::Zero(s.rows()), closed);
    if (!rest.lambda.allFinite() || !s.positions().allFinite() || !s.force().allFinite()) {
        rest.reason = "Newton's method for the equilibrium does not converge";
        return rest;
    }
    classify(s, rest);
    rest.residual = equation_residual(s, rest, closed);
    // The solution is isolated if the stiffness is regular on the directions that the contacts with a force leave. Here
    // a contact that pulls holds a direction as well.
    std::vector<int> held = closed_rows(s, {});
    Matrix K = s.stiffness(rest.lambda);
    const double weak = weak_force * std::max(force_scale(s, rest.lambda), smallest_force);
    for (const int i : closed) {
        if (std::abs(rest.lambda(i)) <= weak) continue;
        if (s.compliance()(i) > 0.0)
            K += s.gradients().row(i).transpose() * s.gradients().row(i) / s.compliance()(i);
        else
            held.push_back(i);
    }
    const Matrix Z = free_directions(s, held);
    rest.isolated = Z.cols() == 0 || row_rank(Z.transpose() * K * Z, singular_stiffness).rank == Z.cols();
    for (int i = s.constraints(); i < s.rows(); ++i) {
        const bool in = std::find(closed.begin(), closed.end(), i) != closed.end();
        // Refused: a penetrated contact, and a spring that pulls.
        constexpr double refused = 1.0;
        if (!in && s.positions()(i) < -penetration * row_scale(s, i, rest.q)) rest.residual = refused;
        if (in && s.compliance()(i) > 0.0 && rest.lambda(i) < 0.0) rest.residual = refused;
    }
    conclude(rest, "no solution with these contacts was found");
    return rest;
}

/// Sequential quadratic programming with a line search on the merit function; near the solution Newton's method with
/// the contacts found closed takes over.
Rest find_rest(Statics& s, std::span<const double> from) {
    Rest rest;
    rest.q.assign(from.begin(), from.end());
    rest.lambda = Vector::Zero(s.rows());
    if (!s.differentiable()) {
        rest.reason = "the system provides no derivatives";
        return rest;
    }
    Vector weights = Vector::Zero(s.rows());
    double start = 1.0, last = 1.0;
    int away = 0;  // steps to ever larger positions
    for (const double x : from) start = std::max(start, std::abs(x));
    for (int k = 0; k < max_descent_steps; ++k) {
        s.at(rest.q);
        if (!s.force().allFinite() || !s.positions().allFinite()) break;
        const Matrix K = s.stiffness(rest.lambda);
        const std::optional<DescentStep> step = descent_step(s, convex(K, s.mass()));
        if (!step) {
            rest.reason = "step " + std::to_string(k + 1) +
                          " of the descent to an equilibrium has no position that the contacts allow";
            return rest;
        }
        const auto& [d, lambda] = *step;
        double size = 1.0;
        for (const double x : rest.q) size = std::max(size, std::abs(x));
        if (size > runaway * start && size > last && ++away > runaway_steps) {
            rest.reason = "the potential is unbounded below: the descent to an equilibrium diverges";
            return rest;
        }
        last = size;
        if (d.cwiseAbs().maxCoeff() <= small_step * size) {
            std::vector<int> closed;
            for (int i = s.constraints(); i < s.rows(); ++i)
                if (lambda(i) > 0.0) closed.push_back(i);
            Rest polished = polish_rest(s, rest.q, lambda, closed);
            if (polished.found || !polished.isolated) return polished;
            rest.lambda = lambda;
            break;
        }
        weights = weights.cwiseMax(2.0 * lambda.cwiseAbs());
        const double before = merit(s, weights);
        double length = 1.0;
        bool lower = false;
        for (int tries = 0; tries < max_halvings && !lower; ++tries, length *= 0.5) {
            s.at(moved(rest.q, d, length));
            lower = merit(s, weights) < before;
        }
        // The loop has halved the length once more. Without a decrease (no potential) the whole step is taken.
        rest.q = moved(rest.q, d, lower ? 2.0 * length : 1.0);
        rest.lambda = lambda;
    }
    s.at(rest.q);
    classify(s, rest);
    conclude(rest, "the descent to an equilibrium does not converge");
    return rest;
}

/// Implicit differentiation of the equations of rest; see rest_matrix.
std::optional<RestDerivative> rest_derivative(Statics& s, const Rest& rest, int column) {
    if (!rest.found || !rest.strict) return {};
    s.at(rest.q);
    const std::vector<int> rows = closed_rows(s, rest.closed);
    const auto m = static_cast<Eigen::Index>(rows.size());
    const int n = s.size();
    const Statics::ParameterColumn change = s.parameter_column(rest.lambda, column);
    const Matrix system = rest_matrix(s, rest.lambda, rows);
    Vector right(n + m);
    right.head(n) = change.force;
    for (Eigen::Index r = 0; r < m; ++r) right(n + r) = change.position(rows[static_cast<std::size_t>(r)]);
    if (row_rank(system, singular_system).rank < n + m) return {};
    const Vector solution = solve_columns(system, right);
    RestDerivative out{solution.head(n), Vector::Zero(s.rows())};
    for (Eigen::Index r = 0; r < m; ++r) out.lambda(rows[static_cast<std::size_t>(r)]) = solution(n + r);
    return out;
}

}  // namespace saltus::control
