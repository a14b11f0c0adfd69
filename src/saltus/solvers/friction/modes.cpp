// SPDX-License-Identifier: Apache-2.0
#include "saltus/solvers/friction/modes.hpp"

#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <algorithm>
#include <array>
#include <cmath>
#include <complex>

#include "saltus/base/factors.hpp"
#include "saltus/base/stop.hpp"
#include "saltus/solvers/detail/residual.hpp"

namespace saltus::solvers {

namespace {

using Eigen::Index;

constexpr double accepted_residual = 1e-10;  // verdict(r) <= this: r is a solution
constexpr double same_solution = 1e-8;  // max|r − r'| <= this · max(‖r‖, ‖r'‖): r and r' are one solution
constexpr double consistent_system = 1e-9;  // ‖A x − b‖ <= this · max(‖b‖, ‖x‖): a singular system is solvable
constexpr double vanishing_leading = 1e-14;  // leading coefficient <= this · sum of all: the quartic degenerates
constexpr int max_enumerated_rows = 60;      // each mode costs a dense factorisation of this size

/// State of one block. slip_right: v_T >= 0 and r_T = −bound. slip_left: v_T <= 0 and r_T = bound.
enum Mode { open, stick, slip_right, slip_left };

/// The modes of a law; empty if it has infinitely many.
std::vector<Mode> modes_of(const Law& law, int size) {
    switch (law.kind) {
        case LawKind::bilateral: return {stick};
        case LawKind::unilateral: return {open, stick};
        case LawKind::friction2:
            if (law.mu == 0.0) return {open, slip_right};  // without friction all closed modes are the same
            return {open, stick, slip_right, slip_left};
        case LawKind::slider:
            if (size == 1) return {stick, slip_right, slip_left};
            return {};
        default: return {};
    }
}

double length(const std::vector<double>& x) {
    return Eigen::Map<const Vector>(x.data(), static_cast<Index>(x.size())).norm();
}

/// Adds a solution unless it is known already.
void add(AllSolutions& all, std::vector<double> r) {
    for (const std::vector<double>& known : all.r) {
        double difference = 0.0;
        for (std::size_t i = 0; i < r.size(); ++i) difference = std::max(difference, std::abs(r[i] - known[i]));
        if (difference <= same_solution * std::max(length(r), length(known))) return;
    }
    all.r.push_back(std::move(r));
}

/// Adds r if it is a solution. Of reactions so large that the velocities are lost in their rounding errors nothing is
/// known: they are not listed, and the list is not complete. Returns whether r is known to be a solution.
bool add_if_solution(const FrictionProblem& p, std::vector<double> r, AllSolutions& all) {
    if (verdict(p, r) <= accepted_residual) {
        add(all, std::move(r));
        return true;
    }
    if (residual(p, r) <= accepted_residual) all.complete = false;
    return false;
}

/// The law of one block in one mode as rows of the linear system A r = b, with v = W r + q:
///     open   r = 0                      stick  v = 0, that is W r = −q
///     slip   v_N = 0, r_T = ∓μ r_N      slip of a slider  r = ∓bound
void mode_rows(const FrictionProblem& p, int a, Mode mode, const Matrix& W, const Vector& q, Matrix& A, Vector& b) {
    const Law& law = p.laws[static_cast<std::size_t>(a)];
    const Index first = p.W.start[static_cast<std::size_t>(a)], n = p.W.block_size(a);
    const auto no_velocity = [&](Index row) {
        A.row(row) = W.row(row);
        b(row) = -q(row);
    };
    if (mode == open) {
        for (Index i = first; i < first + n; ++i) A(i, i) = 1.0;
        return;
    }
    if (mode == stick) {
        for (Index i = first; i < first + n; ++i) no_velocity(i);
        return;
    }
    const double side = mode == slip_right ? -1.0 : 1.0;
    if (law.kind == LawKind::slider) {
        A(first, first) = 1.0;
        b(first) = side * law.bound;
    } else {
        no_velocity(first);
        A(first + 1, first + 1) = 1.0;
        A(first + 1, first) = -side * law.mu;
    }
}

/// Examines every combination of modes. Solutions are accepted by their residual, which also checks the inequalities.
void enumerate_modes(const FrictionProblem& p, const std::vector<std::vector<Mode>>& choices, AllSolutions& all) {
    const Index n = p.W.rows();
    const Matrix W = to_dense(p.W);
    const Eigen::Map<const Vector> q(p.q.data(), n);
    std::vector<std::size_t> choice(choices.size(), 0);
    all.complete = true;
    for (bool more = true; more;) {
        ++all.modes;
        count_work(std::pow(static_cast<double>(n), 3));
        Matrix A = Matrix::Zero(n, n);
        Vector b = Vector::Zero(n);
        for (std::size_t a = 0; a < choices.size(); ++a)
            mode_rows(p, static_cast<int>(a), choices[a][choice[a]], W, q, A, b);
        // Rows are scaled to a largest element of 1, so that the numerical rank does not depend on units.
        for (Index i = 0; i < n; ++i)
            if (const double size = A.row(i).cwiseAbs().maxCoeff(); size > 0.0) A.row(i) /= size, b(i) /= size;
        const FullPivotLu lu(A);
        const Vector x = lu.solve(b);
        const bool consistent = (A * x - b).norm() <= consistent_system * std::max(b.norm(), x.norm());
        if (x.allFinite() && consistent) {
            const bool solves = add_if_solution(p, {x.data(), x.data() + n}, all);
            if (!solves && lu.rank() < n) all.complete = false;
        }
        more = false;
        for (std::size_t a = 0; a < choice.size() && !more; ++a) {
            choice[a] = (choice[a] + 1) % choices[a].size();
            more = choice[a] != 0;
        }
    }
}

/// One spatial contact: open, stick, and slip along d = (cos θ, sin θ). Slip has r = r_N (1, −μ d), v_N = 0 and v_T
/// parallel to d. v_N = 0 gives r_N = −q_N/D(θ) with D = W_NN − μ W_NT·d. Inserted into v_T, each component i is
///     D v_Ti = q_i W_NN − q_N W_iN − μ [(q_i W_NT1 − q_N W_iT1) cos θ + (q_i W_NT2 − q_N W_iT2) sin θ],
/// and v_T × d = 0 is a trigonometric polynomial of degree 2 in θ. With e^{iθ} as the unknown it is a quartic, solved
/// by the eigenvalues of its companion matrix and polished by Newton steps in θ. Directions opposite to the slip and
/// complex roots are refused by the residual.
void enumerate_slip_directions(const FrictionProblem& p, AllSolutions& all) {
    const double* const W = p.W.values.data();
    const std::vector<double>& q = p.q;
    const double mu = p.laws[0].mu;
    all.modes = 3;
    all.complete = true;
    const auto check = [&](std::vector<double> r) {
        if (std::isfinite(length(r))) add_if_solution(p, std::move(r), all);
    };
    check({0.0, 0.0, 0.0});
    const Eigen::Matrix3d D = Eigen::Map<const Eigen::Matrix<double, 3, 3, Eigen::RowMajor>>(W);
    const Eigen::FullPivLU<Eigen::Matrix3d> lu(D);
    const Eigen::Vector3d stick = lu.solve(-Eigen::Map<const Eigen::Vector3d>(q.data()));
    check({stick(0), stick(1), stick(2)});
    if (lu.rank() < 3) all.complete = false;

    // Coefficients of 1, cos θ, sin θ in D v_Ti.
    const auto component = [&](int i) {
        const double qi = q[static_cast<std::size_t>(i)];
        return std::array<double, 3>{qi * W[0] - q[0] * W[3 * i], -mu * (qi * W[1] - q[0] * W[3 * i + 1]),
                                     -mu * (qi * W[2] - q[0] * W[3 * i + 2])};
    };
    const auto one = component(1), two = component(2);
    // v_T × d: two cos θ − one sin θ = a0 + a1 cos θ + b1 sin θ + a2 cos 2θ + b2 sin 2θ.
    const double a1 = two[0], b1 = -one[0];
    const double a0 = 0.5 * (two[1] - one[2]), a2 = 0.5 * (two[1] + one[2]), b2 = 0.5 * (two[2] - one[1]);
    const auto value = [&](double t) {
        return a0 + a1 * std::cos(t) + b1 * std::sin(t) + a2 * std::cos(2 * t) + b2 * std::sin(2 * t);
    };
    const auto slope = [&](double t) {
        return -a1 * std::sin(t) + b1 * std::cos(t) - 2 * a2 * std::sin(2 * t) + 2 * b2 * std::cos(2 * t);
    };
    // The same as Σ_k coefficient[k] e^{i(k−2)θ}.
    using Complex = std::complex<double>;
    const std::array<Complex, 5> coefficient{Complex(a2, b2) / 2.0, Complex(a1, b1) / 2.0, a0, Complex(a1, -b1) / 2.0,
                                             Complex(a2, -b2) / 2.0};
    std::vector<double> angles;
    const double size = std::abs(a0) + std::hypot(a1, b1) + std::hypot(a2, b2);
    if (std::abs(coefficient[4]) > vanishing_leading * size) {
        Eigen::Matrix4cd companion = Eigen::Matrix4cd::Zero();
        for (int i = 0; i < 3; ++i) companion(i + 1, i) = 1.0;
        for (int i = 0; i < 4; ++i) companion(i, 3) = -coefficient[static_cast<std::size_t>(i)] / coefficient[4];
        const Eigen::ComplexEigenSolver<Eigen::Matrix4cd> solver(companion, false);
        for (int i = 0; i < 4; ++i) angles.push_back(std::arg(solver.eigenvalues()(i)));
    } else {  // a2 = b2 = 0: a1 cos θ + b1 sin θ = −a0
        const double amplitude = std::hypot(a1, b1);
        if (amplitude > 0.0 && std::abs(a0) <= amplitude)
            for (const double sign : {-1.0, 1.0})
                angles.push_back(std::atan2(b1, a1) + sign * std::acos(-a0 / amplitude));
    }
    for (double t : angles) {
        for (int k = 0; k < 5; ++k)  // five Newton steps of at most 0.1 rad
            if (const double s = slope(t); s != 0.0) t -= std::clamp(value(t) / s, -0.1, 0.1);
        const double c = std::cos(t), s = std::sin(t);
        const double normal = -q[0] / (W[0] - mu * (W[1] * c + W[2] * s));
        check({normal, -mu * normal * c, -mu * normal * s});
    }
}

}  // namespace

AllSolutions all_solutions(const FrictionProblem& p, int max_modes) {
    AllSolutions all;
    if (p.W.rows() == 0) {  // no unknowns: the empty solution is the only one
        all.complete = true;
        all.modes = 1;
        all.r.emplace_back();
    } else if (p.contacts() == 1 && p.laws[0].kind == LawKind::friction3 && !orthotropic(p.laws[0])) {
        enumerate_slip_directions(p, all);
    } else {
        std::vector<std::vector<Mode>> choices;
        double count = 1.0;
        for (int a = 0; a < p.contacts(); ++a) {
            choices.push_back(modes_of(p.laws[static_cast<std::size_t>(a)], p.W.block_size(a)));
            count *= static_cast<double>(choices.back().size());
        }
        if (count < 1.0 || count > max_modes || p.W.rows() > max_enumerated_rows) return all;
        enumerate_modes(p, choices, all);
    }
    std::stable_sort(all.r.begin(), all.r.end(), [](const auto& x, const auto& y) { return length(x) < length(y); });
    return all;
}

}  // namespace saltus::solvers
