// SPDX-License-Identifier: Apache-2.0
#include "saltus/solvers/friction/modes.hpp"

#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <algorithm>
#include <array>
#include <cmath>
#include <complex>

#include "saltus/solvers/detail/residual.hpp"

namespace saltus::solvers {

namespace {

using Eigen::Index;

constexpr double accuracy = 1e-10;

enum Mode { open, stick, slip_right, slip_left };  // slip_right: v_T >= 0, r_T = −bound

/// The modes of a law; empty when it has more than finitely many.
std::vector<Mode> modes_of(const Law& law, int size) {
    switch (law.kind) {
        case LawKind::bilateral: return {stick};
        case LawKind::unilateral: return {open, stick};
        case LawKind::friction2:
            if (law.mu == 0.0) return {open, slip_right};  // without friction the directions are one mode
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

void add(AllSolutions& all, std::vector<double> r) {
    for (const std::vector<double>& known : all.r) {
        double difference = 0.0;
        for (std::size_t i = 0; i < r.size(); ++i) difference = std::max(difference, std::abs(r[i] - known[i]));
        if (difference <= 1e-8 * std::max(length(r), length(known))) return;
    }
    all.r.push_back(std::move(r));
}

/// The law of one block in one mode as rows A r = b of the linear system, with v = W r + q.
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

void go_through_modes(const FrictionProblem& p, const std::vector<std::vector<Mode>>& choices, AllSolutions& all) {
    const Index n = p.W.rows();
    const Matrix W = to_dense(p.W);
    const Eigen::Map<const Vector> q(p.q.data(), n);
    std::vector<std::size_t> choice(choices.size(), 0);
    all.complete = true;
    for (bool more = true; more;) {
        ++all.modes;
        Matrix A = Matrix::Zero(n, n);
        Vector b = Vector::Zero(n);
        for (std::size_t a = 0; a < choices.size(); ++a)
            mode_rows(p, static_cast<int>(a), choices[a][choice[a]], W, q, A, b);
        // Rows scaled to 1, so that the rank means something.
        for (Index i = 0; i < n; ++i)
            if (const double size = A.row(i).cwiseAbs().maxCoeff(); size > 0.0) A.row(i) /= size, b(i) /= size;
        const Eigen::FullPivLU<Matrix> lu(A);
        const Vector x = lu.solve(b);
        const bool consistent = (A * x - b).norm() <= 1e-9 * std::max(b.norm(), x.norm());
        if (x.allFinite() && consistent) {
            std::vector<double> r(x.data(), x.data() + n);
            if (residual(p, r) <= accuracy)
                add(all, std::move(r));
            else if (lu.rank() < n)
                all.complete = false;
        }
        more = false;
        for (std::size_t a = 0; a < choice.size() && !more; ++a) {
            choice[a] = (choice[a] + 1) % choices[a].size();
            more = choice[a] != 0;
        }
    }
}

/// Slip along d = (cos θ, sin θ): r = r_N (1, −μ d), v_T parallel to d. v_T × d = 0 is a trigonometric polynomial of
/// degree 2 in θ, a quartic in e^{iθ}.
void go_through_directions(const FrictionProblem& p, AllSolutions& all) {
    const double* const W = p.W.values.data();
    const std::vector<double>& q = p.q;
    const double mu = p.laws[0].mu;
    all.modes = 3;
    all.complete = true;
    const auto check = [&](std::vector<double> r) {
        if (std::isfinite(length(r)) && residual(p, r) <= accuracy) add(all, std::move(r));
    };
    check({0.0, 0.0, 0.0});
    const Eigen::Matrix3d D = Eigen::Map<const Eigen::Matrix<double, 3, 3, Eigen::RowMajor>>(W);
    const Eigen::FullPivLU<Eigen::Matrix3d> lu(D);
    const Eigen::Vector3d stick = lu.solve(-Eigen::Map<const Eigen::Vector3d>(q.data()));
    check({stick(0), stick(1), stick(2)});
    if (lu.rank() < 3) all.complete = false;

    // v_T D(θ) = a + b cos θ + c sin θ for each component, D = W_NN − μ W_NT·d
    const auto component = [&](int i) {
        const double qi = q[static_cast<std::size_t>(i)];
        return std::array<double, 3>{qi * W[0] - q[0] * W[3 * i], -mu * (qi * W[1] - q[0] * W[3 * i + 1]),
                                     -mu * (qi * W[2] - q[0] * W[3 * i + 2])};
    };
    const auto one = component(1), two = component(2);
    // cos·two − sin·one = a0 + a1 cos + b1 sin + a2 cos 2θ + b2 sin 2θ
    const double a1 = two[0], b1 = -one[0];
    const double a0 = 0.5 * (two[1] - one[2]), a2 = 0.5 * (two[1] + one[2]), b2 = 0.5 * (two[2] - one[1]);
    const auto value = [&](double t) {
        return a0 + a1 * std::cos(t) + b1 * std::sin(t) + a2 * std::cos(2 * t) + b2 * std::sin(2 * t);
    };
    const auto slope = [&](double t) {
        return -a1 * std::sin(t) + b1 * std::cos(t) - 2 * a2 * std::sin(2 * t) + 2 * b2 * std::cos(2 * t);
    };
    using Complex = std::complex<double>;
    const std::array<Complex, 5> coefficient{Complex(a2, b2) / 2.0, Complex(a1, b1) / 2.0, a0, Complex(a1, -b1) / 2.0,
                                             Complex(a2, -b2) / 2.0};
    std::vector<double> angles;
    const double size = std::abs(a0) + std::hypot(a1, b1) + std::hypot(a2, b2);
    if (std::abs(coefficient[4]) > 1e-14 * size) {
        Eigen::Matrix4cd companion = Eigen::Matrix4cd::Zero();
        for (int i = 0; i < 3; ++i) companion(i + 1, i) = 1.0;
        for (int i = 0; i < 4; ++i) companion(i, 3) = -coefficient[static_cast<std::size_t>(i)] / coefficient[4];
        const Eigen::ComplexEigenSolver<Eigen::Matrix4cd> solver(companion, false);
        for (int i = 0; i < 4; ++i) angles.push_back(std::arg(solver.eigenvalues()(i)));
    } else {  // a1 cos + b1 sin = −a0
        const double amplitude = std::hypot(a1, b1);
        if (amplitude > 0.0 && std::abs(a0) <= amplitude)
            for (const double sign : {-1.0, 1.0})
                angles.push_back(std::atan2(b1, a1) + sign * std::acos(-a0 / amplitude));
    }
    for (double t : angles) {
        for (int k = 0; k < 5; ++k)
            if (const double s = slope(t); s != 0.0) t -= std::clamp(value(t) / s, -0.1, 0.1);
        const double c = std::cos(t), s = std::sin(t);
        const double normal = -q[0] / (W[0] - mu * (W[1] * c + W[2] * s));
        check({normal, -mu * normal * c, -mu * normal * s});
    }
}

}  // namespace

AllSolutions all_solutions(const FrictionProblem& p, int most_modes) {
    AllSolutions all;
    if (p.contacts() == 1 && p.laws[0].kind == LawKind::friction3 && !orthotropic(p.laws[0])) {
        go_through_directions(p, all);
    } else {
        std::vector<std::vector<Mode>> choices;
        double count = 1.0;
        for (int a = 0; a < p.contacts(); ++a) {
            choices.push_back(modes_of(p.laws[static_cast<std::size_t>(a)], p.W.block_size(a)));
            count *= static_cast<double>(choices.back().size());
        }
        if (count < 1.0 || count > most_modes || p.W.rows() > 60) return all;
        go_through_modes(p, choices, all);
    }
    std::stable_sort(all.r.begin(), all.r.end(), [](const auto& x, const auto& y) { return length(x) < length(y); });
    return all;
}

}  // namespace saltus::solvers
