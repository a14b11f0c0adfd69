// SPDX-License-Identifier: Apache-2.0
#include "saltus/solvers/program/linear_program.hpp"

#include <algorithm>
#include <cmath>

namespace saltus::solvers {

namespace {

using Eigen::Index;

constexpr double noise = 64 * std::numeric_limits<double>::epsilon();  // rounding of a sum, relative to its terms

/// Σ_j |A_ij| of each row; zeros for a matrix without columns.
Vector row_sums(const Matrix& A) { return A.cwiseAbs() * Vector::Ones(A.cols()); }

double largest(const Vector& x) { return x.size() == 0 ? 0.0 : x.cwiseAbs().maxCoeff(); }

/// max of d x over [lower, upper]. A d that is only rounding (|d| <= negligible) counts as 0 if the bound is infinite.
double largest_within(double d, double lower, double upper, double negligible) {
    if (d == 0.0) return 0.0;
    const double bound = d > 0.0 ? upper : lower;
    return std::isinf(bound) && std::abs(d) <= negligible ? 0.0 : d * bound;
}

}  // namespace

void examine(const LinearProgram& p, ProgramSolution& s) {
    const double x_size = largest(s.x);
    double y_size = largest(s.y);
    for (Index j = 0; j < p.A.cols(); ++j)
        if (const double length = p.A.col(j).cwiseAbs().sum(); length > 0.0)
            y_size = std::max(y_size, std::abs(p.c(j)) / length);
    s.primal_residual = s.dual_residual = 0.0;
    const auto relative = [](double error, double scale) { return error == 0.0 ? 0.0 : error / scale; };
    const Vector missing = p.A * s.x - p.b;
    const Vector rows = row_sums(p.A);
    for (Index i = 0; i < p.A.rows(); ++i) {
        const double scale = std::abs(p.b(i)) + rows(i) * x_size;
        s.primal_residual = std::max(s.primal_residual, relative(std::abs(missing(i)), scale));
    }
    s.value = p.c.dot(s.x);
    double dual_value = p.b.dot(s.y), terms = p.b.cwiseAbs().dot(s.y.cwiseAbs());
    const Vector z = p.c - p.A.transpose() * s.y;
    for (Index j = 0; j < p.A.cols(); ++j) {
        const double lower = p.lower_of(j), upper = p.upper_of(j);
        const double outside = std::max({0.0, lower - s.x(j), s.x(j) - upper});
        s.primal_residual = std::max(s.primal_residual, relative(outside, x_size));
        const double bound = z(j) > 0.0 ? lower : upper;
        const double size = relative(std::abs(z(j)), std::abs(p.c(j)) + p.A.col(j).cwiseAbs().sum() * y_size);
        if (std::isinf(bound) || size <= noise) {
            s.dual_residual = std::max(s.dual_residual, size);
        } else {
            dual_value += z(j) * bound;
            terms += std::abs(z(j) * bound);
        }
    }
    s.dual_value = dual_value;
    terms += p.c.cwiseAbs().dot(s.x.cwiseAbs());
    // The gap of the program with A x in the place of b: the violation of A x = b is in the primal residual already.
    // Values that vanish by cancellation differ by the rounding of the terms that cancelled.
    const double difference = std::abs(s.value - dual_value - missing.dot(s.y));
    const double cancelled = y_size * p.b.cwiseAbs().sum() + largest(p.c) * s.x.cwiseAbs().sum();
    s.gap = difference <= noise * cancelled ? 0.0 : difference / terms;
}

double excludes(const LinearProgram& p, const Vector& y, double rounding) {
    if (y.size() != p.A.rows() || !y.allFinite()) return 0.0;
    const Vector d = p.A.transpose() * y;
    const double y_size = largest(y);
    double margin = p.b.dot(y), terms = p.b.cwiseAbs().dot(y.cwiseAbs());
    for (Index j = 0; j < p.A.cols(); ++j) {
        const double negligible = rounding * p.A.col(j).cwiseAbs().sum() * y_size;
        const double largest_term = largest_within(d(j), p.lower_of(j), p.upper_of(j), negligible);
        margin -= largest_term;
        terms += std::abs(largest_term);
    }
    return std::isfinite(margin) && terms > 0.0 ? margin / terms : 0.0;
}

double falls(const LinearProgram& p, const Vector& r, double rounding) {
    if (r.size() != p.A.cols() || !r.allFinite() || r.size() == 0) return 0.0;
    const double size = largest(r);
    const Vector drift = p.A * r, rows = row_sums(p.A);
    for (Index i = 0; i < p.A.rows(); ++i)
        if (std::abs(drift(i)) > rounding * rows(i) * size) return 0.0;
    for (Index j = 0; j < r.size(); ++j) {
        if (r(j) < -rounding * size && std::isfinite(p.lower_of(j))) return 0.0;
        if (r(j) > rounding * size && std::isfinite(p.upper_of(j))) return 0.0;
    }
    const double terms = p.c.cwiseAbs().dot(r.cwiseAbs());
    return terms > 0.0 ? -p.c.dot(r) / terms : 0.0;
}

}  // namespace saltus::solvers
