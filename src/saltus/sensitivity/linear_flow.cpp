// SPDX-License-Identifier: Apache-2.0
#include "saltus/sensitivity/linear_flow.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "saltus/ode/dop853.hpp"

namespace saltus::sensitivity {

namespace {

std::size_t ix(int i) { return static_cast<std::size_t>(i); }

void combine(const std::vector<Matrix>& k, std::span<const ode::dop853::Term> terms, Matrix& sum) {
    sum.setZero(k[0].rows(), k[0].cols());
    for (const ode::dop853::Term& term : terms) sum += term.weight * k[ix(term.stage)];
}

/// Collocation at the nodes c: a_ij = ∫₀^{c_i} ℓ_j, from the monomials that both sides must integrate alike.
Matrix collocation(const Vector& c) {
    const Eigen::Index s = c.size();
    Matrix powers(s, s), integrals(s, s);
    for (Eigen::Index i = 0; i < s; ++i)
        for (Eigen::Index k = 0; k < s; ++k) {
            powers(k, i) = std::pow(c(i), static_cast<double>(k));
            integrals(k, i) = std::pow(c(i), static_cast<double>(k + 1)) / static_cast<double>(k + 1);
        }
    return solve_columns(powers, integrals).transpose();
}

/// Radau's right nodes.
struct Tableau {
    Vector c;
    Matrix A;
};
const Tableau& three_stages() {
    static const Tableau t = [] {
        Tableau r;
        r.c = Vector{{0.15505102572168219, 0.64494897427831781, 1.0}};
        r.A = collocation(r.c);
        return r;
    }();
    return t;
}
const Tableau& five_stages() {
    static const Tableau t = [] {
        Tableau r;
        r.c = Vector{{0.05710419611451768, 0.27684301363812383, 0.58359043236891683, 0.86024013565621945, 1.0}};
        r.A = collocation(r.c);
        return r;
    }();
    return t;
}

constexpr double safety = 0.9;
/// The two implicit methods may differ by this part of the solution, where the better one is off by about its power
/// 10/6.
constexpr double implicit_difference = 1e-6;

}  // namespace

void LinearFlow::grow_scale(const Matrix& Y) {
    if (scale_.rows() != Y.rows()) scale_.setZero(Y.rows(), 2);
    for (int p = 0; p < 2; ++p)
        scale_.col(p) = scale_.col(p).cwiseMax(Y.middleCols(p * n_, n_).cwiseAbs().rowwise().maxCoeff());
    const Eigen::Index more = Y.cols() - 2 * n_;
    if (integrals_.rows() != Y.rows() || integrals_.cols() != more) integrals_.setZero(Y.rows(), more);
    integrals_ = integrals_.cwiseMax(Y.rightCols(more).cwiseAbs());
}

double LinearFlow::measure(const Matrix& error) const {
    double worst = 0.0;
    const double length = adjoint_ ? 1.0 / stride_ : stride_;  // positions are velocities times that
    for (Eigen::Index j = 0; j < error.rows(); ++j) {
        double size[2];
        for (int p = 0; p < 2; ++p)
            size[p] = std::max(scale_(j, p), new_.row(j).segment(p * n_, n_).cwiseAbs().maxCoeff());
        const double whole[2] = {std::max(size[0], 0.1 * size[1] * length), std::max(size[1], 0.1 * size[0] / length)};
        for (int p = 0; p < 2; ++p) {
            const double e = error.row(j).segment(p * n_, n_).cwiseAbs().maxCoeff();
            if (e == 0.0) continue;
            const double ratio = e / std::max(whole[p], 1e-300);
            if (!std::isfinite(ratio)) return ratio;
            worst = std::max(worst, ratio);
        }
        for (Eigen::Index i = 0; i < integrals_.cols(); ++i) {
            const double e = std::abs(error(j, 2 * n_ + i));
            const double own = std::max({integrals_(j, i), std::abs(new_(j, 2 * n_ + i)), 1e-300});
            worst = std::max(worst, 0.01 * e / own);
        }
    }
    return worst;
}

bool LinearFlow::explicit_step(const LinearProblem& problem, double t, double h, const Matrix& Y, double& error) {
    namespace rk = ode::dop853;
    k_.resize(ix(rk::stages));
    for (int i = 0; i < rk::stages; ++i) {
        if (i == 0) {
            stage_ = Y;
        } else {
            combine(k_, rk::a[i], sum_);
            stage_ = Y + h * sum_;
        }
        ++evaluations;
        if (!problem.rate(t + rk::c[i] * h, stage_, k_[ix(i)])) return false;
    }
    combine(k_, rk::b, sum_);
    new_ = Y + h * sum_;
    combine(k_, rk::error5, sum_);
    const double fifth = std::abs(h) * measure(sum_);
    combine(k_, rk::error3, sum_);
    const double third = std::abs(h) * measure(sum_);
    const double both = std::hypot(fifth, 0.1 * third);
    error = both == 0.0 ? 0.0 : fifth * (fifth / both) / tolerance_;
    return true;
}

bool LinearFlow::collocate(const LinearProblem& problem, double t, double h, const Matrix& Y, const Matrix& A,
                           const Vector& c, Matrix& out) {
    const Eigen::Index s = c.size(), n = Y.cols(), k = Y.rows();
    Matrix system = Matrix::Identity(s * n, s * n), right(s * n, k), L, force;
    for (Eigen::Index i = 0; i < s; ++i) {
        ++evaluations;
        if (!problem.full(t + c(i) * h, L, force)) return false;
        for (Eigen::Index j = 0; j < s; ++j) system.block(i * n, j * n, n, n) -= h * A(i, j) * L;
        right.middleRows(i * n, n) = L * Y.transpose() + force.transpose();
    }
    const Matrix rates = solve_columns(system, right);
    out = Y;
    for (Eigen::Index j = 0; j < s; ++j) out += h * A(s - 1, j) * rates.middleRows(j * n, n).transpose();
    return true;
}

bool LinearFlow::implicit_step(const LinearProblem& problem, double t, double h, const Matrix& Y, double& error) {
    Matrix rough;
    if (!collocate(problem, t, h, Y, three_stages().A, three_stages().c, rough)) return false;
    if (!collocate(problem, t, h, Y, five_stages().A, five_stages().c, new_)) return false;
    error = measure(new_ - rough) / implicit_difference;
    return true;
}

bool LinearFlow::advance(const LinearProblem& problem, double from, double to, bool implicit, Matrix& Y) {
    if (from == to || Y.rows() == 0) return true;
    stride_ = std::abs(to - from);
    grow_scale(Y);
    double t = from, h = to - from, refused = 0.0;
    int refusals = 0;
    const double order = implicit ? 6.0 : 8.0, shortest = 1e-10 * std::abs(to - from);
    for (int steps = 0; steps < 100000; ++steps) {
        const bool last = std::abs(to - t) <= std::abs(h) * (1.0 + 1e-12);
        if (last) h = to - t;
        double error = 0.0;
        const bool possible =
            implicit ? implicit_step(problem, t, h, Y, error) : explicit_step(problem, t, h, Y, error);
        // What does not shrink with the step is rounding.
        const bool rounding = refusals >= 2 && error > 0.5 * refused && error < 1e3;
        if (possible && std::isfinite(error) && (error <= 1.0 || rounding)) {
            refusals = 0;
            Y.swap(new_);
            grow_scale(Y);
            if (last) return true;
            t += h;
            h *= error > 0.0 ? std::clamp(safety * std::pow(error, -1.0 / order), 0.3, 5.0) : 5.0;
            if (std::abs(h) > std::abs(to - t)) h = to - t;
        } else {
            refused = possible && std::isfinite(error) ? error : 0.0;
            ++refusals;
            h *= possible && std::isfinite(error) ? std::clamp(safety * std::pow(error, -1.0 / order), 0.2, 0.5) : 0.25;
            // Coefficients without bound at the very end, where slip comes to rest, leave nothing to integrate.
            if (std::abs(h) < shortest) return std::abs(to - t) <= 1e-6 * std::abs(to - from);
        }
    }
    return false;
}

}  // namespace saltus::sensitivity
