// SPDX-License-Identifier: Apache-2.0
#include "saltus/control/statics.hpp"

#include <algorithm>
#include <cmath>

#include "saltus/model/mechanics.hpp"
#include "saltus/model/support.hpp"

namespace saltus::control {

namespace {

constexpr int max_coordinates = 300;  ///< the matrices of this module are dense
/// kernel(): the kernel is complete when no row of the remaining projector is longer than this. The squares of the
/// lengths of all n rows of an orthogonal projector add up to its rank d. So as long as d >= 1 some row is at least
/// √(1/n) >= 0.05 long, and rounding, about 1e-15, is far shorter.
constexpr double negligible_projection = 1e-7;

}  // namespace

std::string statics_refusal(const model::Mechanics& model, ContactModel contacts) {
    if (model.size() > max_coordinates)
        return "the model has more than " + std::to_string(max_coordinates) + " coordinates";
    return model::unsupported(model, contacts == ContactModel::springs ? model::Analysis::sprung_equilibria
                                                                       : model::Analysis::equilibrium_points);
}

Statics::Statics(const model::Mechanics& model, ContactModel contacts, double stiffness)
    : model_(model),
      contacts_(contacts),
      factor_(stiffness),
      n_(model.size()),
      constraints_(model.layout().constraints),
      rows_(model.layout().positions()),
      workspace_(model),
      terms_(model.layout()),
      jacobians_(model.system->jacobians()),
      rest_(static_cast<std::size_t>(n_), 0.0),
      coefficients_(static_cast<std::size_t>(model.layout().coefficients)),
      compliance_(Vector::Zero(rows_)) {}

void Statics::at(std::span<const double> q) {
    q_.assign(q.begin(), q.end());
    model::evaluate(model_, workspace_, 0.0, q_, rest_, terms_);
    force_ = Eigen::Map<const Vector>(terms_.h.data(), n_);
    positions_ = Eigen::Map<const Vector>(terms_.positions.data(), rows_);
    mass_ = model::dense_symmetric(model_.layout().mass, terms_.M);
    gradients_ = model::dense(model_.layout().rows, terms_.W).topRows(rows_);
    if (contacts_ == ContactModel::rigid) return;
    model_.system->coefficients(model::at(model_, 0.0, q_, rest_), workspace_.scratch(), coefficients_);
    for (const model::Contact& c : model_.contacts)
        compliance_(c.row) = 1.0 / (factor_ * coefficients_[static_cast<std::size_t>(c.penalty_k)]);
}

double Statics::potential() {
    double U = model_.system->energy(model::at(model_, 0.0, q_, rest_), workspace_.scratch()).potential;
    for (int i = constraints_; i < rows_; ++i)
        if (compliance_(i) > 0.0 && positions_(i) < 0.0) U += 0.5 * positions_(i) * positions_(i) / compliance_(i);
    return U;
}

Matrix Statics::jacobian(model::Function f, std::span<const double> lambda) {
    const model::Pattern& pattern = jacobians_->pattern(f);
    values_.resize(pattern.size());
    jacobians_->evaluate(f, model::at(model_, 0.0, q_, rest_), rest_, lambda, values_);
    return model::dense(pattern, values_);
}

Matrix Statics::stiffness(const Vector& lambda) {
    std::vector<double> all(static_cast<std::size_t>(model_.layout().row_count()), 0.0);
    std::copy(lambda.begin(), lambda.end(), all.begin());
    return -jacobian(model::Function::residual, all).middleCols(1, n_);
}

/// A parameter enters the row g + λ/k also through k: ∂(λ/k)/∂p = −λ k_p/k².
Statics::ParameterColumn Statics::parameter_column(const Vector& lambda, int column) {
    std::vector<double> all(static_cast<std::size_t>(model_.layout().row_count()), 0.0);
    std::copy(lambda.begin(), lambda.end(), all.begin());
    const int k = 1 + 2 * n_ + column;  // columns [t, q, u, p]
    ParameterColumn out;
    out.force = jacobian(model::Function::residual, all).col(k);
    out.position = jacobian(model::Function::position, all).col(k).head(rows_);
    if (contacts_ == ContactModel::rigid) return out;
    const Matrix coefficient = jacobian(model::Function::coefficient, all);
    for (const model::Contact& c : model_.contacts) {
        const double k_value = 1.0 / compliance_(c.row);
        out.position(c.row) -= lambda(c.row) * factor_ * coefficient(c.penalty_k, k) / (k_value * k_value);
    }
    return out;
}

/// With the Cholesky factor M = LLᵀ and w = Lᵀv: L⁻¹ K L⁻ᵀ w = κ w.
Spectrum vibrations(const Matrix& K, const Matrix& M) {
    Matrix L = Matrix::Zero(M.rows(), M.cols());
    for (Eigen::Index i = 0; i < M.rows(); ++i)
        for (Eigen::Index j = 0; j <= i; ++j) {
            const double sum = M(i, j) - L.row(i).head(j).dot(L.row(j).head(j));
            L(i, j) = i == j ? std::sqrt(sum) : sum / L(j, j);
        }
    const Matrix half = solve_columns(L, 0.5 * (K + K.transpose()));
    const Matrix reduced = solve_columns(L, half.transpose());
    Spectrum spectrum = symmetric_spectrum(0.5 * (reduced + reduced.transpose()));
    spectrum.smallest_direction = solve_columns(L.transpose(), spectrum.smallest_direction);
    return spectrum;
}

Matrix kernel(const Matrix& rows, Eigen::Index n, double tolerance) {
    if (rows.rows() == 0) return Matrix::Identity(n, n);
    // I − A⁺A is the orthogonal projector onto the kernel. Its longest row, normalised, becomes a vector of the basis,
    // and its component is removed from all rows, until only rounding is left (Gram–Schmidt with pivoting).
    Matrix left = Matrix::Identity(n, n) - least_squares_columns(rows, rows, tolerance);
    Matrix basis(n, 0);
    for (Eigen::Index k = 0; k < n; ++k) {
        Eigen::Index longest = 0;
        const double size = left.rowwise().norm().maxCoeff(&longest);
        if (!(size > negligible_projection)) break;
        const Vector v = left.row(longest).transpose() / size;
        basis.conservativeResize(n, k + 1);
        basis.col(k) = v;
        left -= (left * v) * v.transpose();
    }
    return basis;
}

}  // namespace saltus::control
