// SPDX-License-Identifier: Apache-2.0
#include "saltus/integrate/mode/redundant_reactions.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "saltus/base/index.hpp"
#include "saltus/solvers/program/linear_program.hpp"

namespace saltus::integrate {

namespace {

/// min_j margin_j(λ); +∞ without margins.
double least_margin(std::span<const ReactionMargin> margins, std::span<const double> lambda) {
    double least = std::numeric_limits<double>::infinity();
    for (const ReactionMargin& m : margins) least = std::min(least, m.value(lambda));
    return least;
}

}  // namespace

void RedundantReactions::factorise(const Matrix& K, double tolerance) {
    K_ = K;
    const Matrix unit = Matrix::Identity(K.rows(), K.cols());
    pseudo_inverse_ = least_squares_columns(K, unit, tolerance);
    to_null_space_ = unit - pseudo_inverse_ * K;
}

double RedundantReactions::solve(std::span<const double> right, std::span<double> lambda) const {
    const Eigen::Map<const Vector> r(right.data(), K_.rows());
    Eigen::Map<Vector> x(lambda.data(), K_.cols());
    x = pseudo_inverse_ * r;
    return (K_ * x - r).cwiseAbs().maxCoeff();
}

// With N = I − K⁺K, λ + N z has the same motion for every z. The unknowns of the linear program are z, the least margin
// s, and one slack w_j >= 0 for each margin:
//     max s   with   margin_j(λ + N z) − s − w_j = 0,   |z_k| <= reach · largest,   s <= comfortable,
// where `largest` is the largest |λ_k|, or `comfortable` if this is larger. Some margins can grow without bound, for
// example if two contacts press against each other. The bounds on z and s then keep the reactions finite.
RedundantReactions::Centre RedundantReactions::centre(std::span<const ReactionMargin> margins, double comfortable,
                                                      std::span<double> lambda) const {
    const double now = least_margin(margins, lambda);
    if (now >= comfortable) return {now, {}};
    const Eigen::Index m = K_.rows(), rows = static_cast<Eigen::Index>(margins.size()), s = m;
    double largest = comfortable;
    for (const double value : lambda) largest = std::max(largest, std::abs(value));
    // The largest |z_k| in units of `largest`. If it is too small, then a possible distribution of reactions with
    // positive margins may be missed; if it is too large, then rounding of N z disturbs the reactions.
    constexpr double reach = 100.0;
    solvers::LinearProgram program;
    program.A = Matrix::Zero(rows, m + 1 + rows);
    program.b.resize(rows);
    program.c = Vector::Zero(m + 1 + rows);
    program.c(s) = -1.0;
    program.lower = Vector::Zero(m + 1 + rows);
    program.upper = Vector::Constant(m + 1 + rows, std::numeric_limits<double>::infinity());
    program.lower.head(m).setConstant(-reach * largest);
    program.upper.head(m).setConstant(reach * largest);
    program.lower(s) = -std::numeric_limits<double>::infinity();
    program.upper(s) = comfortable;
    for (Eigen::Index j = 0; j < rows; ++j) {
        const ReactionMargin& margin = margins[static_cast<std::size_t>(j)];
        for (const auto& [k, factor] : margin.terms) program.A.row(j).head(m) += factor * to_null_space_.row(k);
        program.A(j, s) = -1.0;
        program.A(j, m + 1 + j) = -1.0;
        program.b(j) = -margin.value(lambda);
    }
    const solvers::ProgramSolution solution = solvers::solve(program);
    if (!solvers::usable(solution.status)) return {now, {}};
    const Vector shift = to_null_space_ * solution.x.head(m);
    for (Eigen::Index k = 0; k < m; ++k) lambda[static_cast<std::size_t>(k)] += shift(k);
    return {least_margin(margins, lambda), {solution.y.data(), solution.y.data() + solution.y.size()}};
}

}  // namespace saltus::integrate
