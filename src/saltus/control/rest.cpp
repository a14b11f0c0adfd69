// SPDX-License-Identifier: Apache-2.0
#include "saltus/control/rest.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "saltus/solvers/complementarity/complementarity.hpp"

namespace saltus::control {

namespace {

constexpr int most_steps = 200;
constexpr double tolerance = 1e-12;
constexpr double eps = std::numeric_limits<double>::epsilon();

std::vector<double> moved(std::span<const double> q, const Vector& d, double s) {
    std::vector<double> out(q.begin(), q.end());
    for (std::size_t i = 0; i < out.size(); ++i) out[i] += s * d(static_cast<Eigen::Index>(i));
    return out;
}

/// Sizes that residuals are compared with: of the terms that must cancel.
double force_scale(const Statics& s, const Vector& lambda) {
    double scale = 0.0;
    for (int i = 0; i < s.size(); ++i) {
        double sum = std::abs(s.force()(i));
        for (int r = 0; r < s.rows(); ++r) sum += std::abs(s.gradients()(r, i) * lambda(r));
        scale = std::max(scale, sum);
    }
    return scale;
}

double row_scale(const Statics& s, int row, std::span<const double> q) {
    double scale = 1.0;
    for (int i = 0; i < s.size(); ++i)
        scale = std::max(scale, std::abs(s.gradients()(row, i) * q[static_cast<std::size_t>(i)]));
    return scale;
}

/// Of all equations and signs. A force of what would move the system by less than rounding counts as none.
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
        if (lambda(i) > tolerance * forces) worst = std::max(worst, std::abs(gap) / scale);
    }
    return worst;
}

/// H = K + σM, positive definite by a margin.
Matrix convex(const Matrix& K, const Matrix& M) {
    const Matrix H = 0.5 * (K + K.transpose());
    const Spectrum mass = symmetric_spectrum(M), spectrum = symmetric_spectrum(H);
    const double size = std::max({std::abs(spectrum.smallest), std::abs(spectrum.largest), eps});
    const double wanted = 1e-8 * size;
    if (spectrum.smallest >= wanted) return H;
    return H + (wanted - spectrum.smallest + 1e-3 * size) / mass.smallest * M;
}

/// min ½dᵀHd − h·d with the linearised rows: a complementarity problem of the forces.
bool step(const Statics& s, const Matrix& H, Vector& d, Vector& lambda) {
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
        if (!solvers::usable(solution.status)) return false;
        lambda = Eigen::Map<const Vector>(solution.r.data(), s.rows());
    }
    d = solved.rightCols(1) + solved.leftCols(s.rows()) * lambda;
    return d.allFinite();
}

/// U with what the rows are violated by, each weighed by more than its force.
double merit(Statics& s, const Vector& weights) {
    double value = s.potential();
    for (int i = 0; i < s.rows(); ++i) {
        if (s.compliance()(i) > 0.0) continue;
        value += weights(i) * (i < s.constraints() ? std::abs(s.positions()(i)) : std::max(0.0, -s.positions()(i)));
    }
    return value;
}

/// Directions that constraints and the pushing contacts leave, as columns; those of springs are in the stiffness.
Matrix free_directions(const Statics& s, const std::vector<int>& held) {
    Matrix rows(static_cast<Eigen::Index>(held.size()), s.size());
    for (std::size_t k = 0; k < held.size(); ++k) rows.row(static_cast<Eigen::Index>(k)) = s.gradients().row(held[k]);
    return kernel(rows, s.size());
}

void judge(Statics& s, Rest& rest) {
    Matrix K = s.stiffness(rest.lambda);
    rest.residual = residual_of(s, K, rest.q, rest.lambda);
    rest.closed.clear();
    rest.strict = true;
    std::vector<int> held;
    for (int i = 0; i < s.constraints(); ++i) held.push_back(i);
    const double forces = force_scale(s, rest.lambda);
    for (int i = s.constraints(); i < s.rows(); ++i) {
        const bool pushes = rest.lambda(i) > tolerance * forces && rest.lambda(i) > 0.0;
        if (!pushes && s.positions()(i) > 1e-10 * row_scale(s, i, rest.q)) continue;
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
    rest.isolated = std::abs(spectrum.smallest) > 1e-12 * std::abs(spectrum.largest);
}

void conclude(Rest& rest, const char* otherwise) {
    rest.found = rest.residual <= 1e-9 && rest.isolated;
    if (!rest.found && rest.reason.empty())
        rest.reason = rest.isolated ? otherwise : "the equilibrium is not isolated: along some direction nothing acts";
}

}  // namespace

namespace {

/// Newton's method for the equations with the contacts of `closed` touching, whatever the signs.
Rest newton(Statics& s, std::span<const double> q, const Vector& lambda, const std::vector<int>& closed) {
    Rest rest;
    rest.q.assign(q.begin(), q.end());
    rest.lambda = Vector::Zero(s.rows());
    std::vector<int> rows;
    for (int i = 0; i < s.constraints(); ++i) rows.push_back(i);
    rows.insert(rows.end(), closed.begin(), closed.end());
    for (const int i : rows) rest.lambda(i) = lambda(i);
    const auto m = static_cast<Eigen::Index>(rows.size());
    const int n = s.size();
    double last = std::numeric_limits<double>::infinity();
    for (int k = 0; k < 40; ++k) {
        s.at(rest.q);
        Matrix system = Matrix::Zero(n + m, n + m);
        Vector right(n + m);
        system.topLeftCorner(n, n) = s.stiffness(rest.lambda);
        right.head(n) = s.force() + s.gradients().transpose() * rest.lambda;
        for (Eigen::Index r = 0; r < m; ++r) {
            const int i = rows[static_cast<std::size_t>(r)];
            system.block(0, n + r, n, 1) = -s.gradients().row(i).transpose();
            system.block(n + r, 0, 1, n) = -s.gradients().row(i);
            system(n + r, n + r) = -s.compliance()(i);
            right(n + r) = s.positions()(i) + s.compliance()(i) * rest.lambda(i);
        }
        const Vector change = least_squares(system, right);
        if (!change.allFinite()) break;
        const double size = change.head(n).norm();
        if (!(size < last) && k > 6) break;  // rounding, or no convergence: the residual tells
        last = size;
        rest.q = moved(rest.q, change.head(n), 1.0);
        for (Eigen::Index r = 0; r < m; ++r) rest.lambda(rows[static_cast<std::size_t>(r)]) += change(n + r);
    }
    s.at(rest.q);
    return rest;
}

/// Of the equations alone.
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
    judge(s, rest);
    conclude(rest, "Newton's method for the equilibrium does not converge");
    return rest;
}

Rest stationary_rest(Statics& s, std::span<const double> q, const std::vector<int>& closed) {
    Rest rest = newton(s, q, Vector::Zero(s.rows()), closed);
    if (!rest.lambda.allFinite() || !s.positions().allFinite() || !s.force().allFinite()) {
        rest.reason = "Newton's method for the equilibrium does not converge";
        return rest;
    }
    judge(s, rest);
    rest.residual = equation_residual(s, rest, closed);
    // Isolated with these contacts held where they push or pull; one without a force holds nothing.
    std::vector<int> held;
    for (int i = 0; i < s.constraints(); ++i) held.push_back(i);
    Matrix K = s.stiffness(rest.lambda);
    const double weak = 1e-9 * std::max(force_scale(s, rest.lambda), 1e-300);
    for (const int i : closed) {
        if (std::abs(rest.lambda(i)) <= weak) continue;
        if (s.compliance()(i) > 0.0)
            K += s.gradients().row(i).transpose() * s.gradients().row(i) / s.compliance()(i);
        else
            held.push_back(i);
    }
    const Matrix Z = free_directions(s, held);
    rest.isolated = Z.cols() == 0 || row_rank(Z.transpose() * K * Z, 1e-10).rank == Z.cols();
    for (int i = s.constraints(); i < s.rows(); ++i) {
        const bool in = std::find(closed.begin(), closed.end(), i) != closed.end();
        // Outside of the region; of springs, no solution of λ = k·depth.
        if (!in && s.positions()(i) < -1e-9 * row_scale(s, i, rest.q)) rest.residual = 1.0;
        if (in && s.compliance()(i) > 0.0 && rest.lambda(i) < 0.0) rest.residual = 1.0;
    }
    conclude(rest, "no solution with these contacts was found");
    return rest;
}

Rest find_rest(Statics& s, std::span<const double> from) {
    Rest rest;
    rest.q.assign(from.begin(), from.end());
    rest.lambda = Vector::Zero(s.rows());
    if (!s.differentiable()) {
        rest.reason = "the system gives no derivatives";
        return rest;
    }
    Vector weights = Vector::Zero(s.rows());
    double start = 1.0, last = 1.0;
    int away = 0;  // steps; from a long one constraints may lead back
    for (const double x : from) start = std::max(start, std::abs(x));
    for (int k = 0; k < most_steps; ++k) {
        s.at(rest.q);
        if (!s.force().allFinite() || !s.positions().allFinite()) break;
        const Matrix K = s.stiffness(rest.lambda);
        Vector d, lambda = Vector::Zero(s.rows());
        if (!step(s, convex(K, s.mass()), d, lambda)) {
            rest.reason = "the contacts leave no position near " + std::to_string(k) + " steps of the descent";
            return rest;
        }
        double size = 1.0;
        for (const double x : rest.q) size = std::max(size, std::abs(x));
        if (size > 1e9 * start && size > last && ++away > 3) {
            rest.reason = "the potential falls without end: the descent runs away";
            return rest;
        }
        last = size;
        if (d.cwiseAbs().maxCoeff() <= 1e-9 * size) {
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
        for (int tries = 0; tries < 40 && !lower; ++tries, length *= 0.5) {
            s.at(moved(rest.q, d, length));
            lower = merit(s, weights) < before;
        }
        rest.q = moved(rest.q, d, lower ? 2.0 * length : 1.0);  // without a potential to descend: the whole step
        rest.lambda = lambda;
    }
    s.at(rest.q);
    judge(s, rest);
    conclude(rest, "the descent to an equilibrium does not converge");
    return rest;
}

std::optional<RestDerivative> rest_derivative(Statics& s, const Rest& rest, int column) {
    if (!rest.found || !rest.strict) return {};
    s.at(rest.q);
    std::vector<int> rows;
    for (int i = 0; i < s.constraints(); ++i) rows.push_back(i);
    rows.insert(rows.end(), rest.closed.begin(), rest.closed.end());
    const auto m = static_cast<Eigen::Index>(rows.size());
    const int n = s.size();
    const Statics::ParameterColumn change = s.parameter_column(rest.lambda, column);
    Matrix system = Matrix::Zero(n + m, n + m);
    Vector right(n + m);
    system.topLeftCorner(n, n) = s.stiffness(rest.lambda);
    right.head(n) = change.force;
    for (Eigen::Index r = 0; r < m; ++r) {
        const int i = rows[static_cast<std::size_t>(r)];
        system.block(0, n + r, n, 1) = -s.gradients().row(i).transpose();
        system.block(n + r, 0, 1, n) = -s.gradients().row(i);
        system(n + r, n + r) = -s.compliance()(i);
        right(n + r) = change.position(i);
    }
    if (row_rank(system, 1e-12).rank < n + m) return {};
    const Vector solution = solve_columns(system, right);
    RestDerivative out{solution.head(n), Vector::Zero(s.rows())};
    for (Eigen::Index r = 0; r < m; ++r) out.lambda(rows[static_cast<std::size_t>(r)]) = solution(n + r);
    return out;
}

}  // namespace saltus::control
