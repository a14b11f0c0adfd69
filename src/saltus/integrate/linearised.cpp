// SPDX-License-Identifier: Apache-2.0
#include "saltus/integrate/linearised.hpp"

#include <cmath>

namespace saltus::integrate {

namespace {

std::size_t ix(int i) { return static_cast<std::size_t>(i); }

using model::Function;
using trajectory::ElementKind;

}  // namespace

Linearised::Linearised(Dynamics& dynamics)
    : d_(dynamics), columns_(1 + 2 * dynamics.size() + dynamics.model().layout().parameters) {}

bool Linearised::available() {
    if (!made_) jacobians_ = d_.model().system->jacobians();
    made_ = true;
    return jacobians_ != nullptr;
}

void Linearised::gather(Function f, double t, const double* x, std::span<const double> a,
                        std::span<const double> lambda, Matrix& out) {
    const model::Pattern& pattern = jacobians_->pattern(f);
    const auto n = ix(d_.size());
    values_.resize(pattern.size());
    jacobians_->evaluate(f, model::at(d_.model(), t, {x, n}, {x + n, n}), a, lambda, values_);
    out.setZero(pattern.rows, columns_);
    for (int r = 0; r < pattern.rows; ++r)
        for (int k = pattern.start[ix(r)]; k < pattern.start[ix(r) + 1]; ++k)
            out(r, pattern.column[ix(k)]) += values_[ix(k)];
}

bool Linearised::evaluate(double t, const double* x) {
    if (!available() || !d_.evaluate(t, x)) return false;
    const model::Layout& layout = d_.model().layout();
    const int n = d_.size();
    const std::vector<double> a(d_.acceleration().begin(), d_.acceleration().end());
    const std::vector<double> lambda(d_.reactions().begin(), d_.reactions().end());
    gather(Function::residual, t, x, a, lambda, residual_);
    gather(Function::velocity, t, x, a, lambda, velocity_);
    gather(Function::position, t, x, a, lambda, position_);
    gather(Function::acceleration, t, x, a, lambda, curvature_);
    if (layout.coefficients > 0) gather(Function::coefficient, t, x, a, lambda, coefficient_);
    reactions_.setZero(layout.row_count(), columns_);

    // Forces that follow the state at a given load: their own derivatives, and that of the load where it is known.
    const model::Pattern& W = layout.rows;
    const auto push = [&](int row, const Eigen::RowVectorXd& change) {
        reactions_.row(row) += change;
        for (int e = W.start[ix(row)]; e < W.start[ix(row) + 1]; ++e)
            residual_.row(W.column[ix(e)]) += d_.terms().W[ix(e)] * change;
    };
    for (std::size_t i = 0; i < d_.elements.size(); ++i) {
        const ElementMode& e = d_.elements[i];
        if (!e.active) continue;
        const bool spring = d_.compliant() && e.rows.kind == ElementKind::contact;
        Eigen::RowVectorXd load = Eigen::RowVectorXd::Zero(columns_);
        if (e.rows.kind == ElementKind::slider) {
            load = coefficient_.row(d_.model().sliders[ix(e.rows.index)].normal_force);
        } else if (spring && d_.load(static_cast<int>(i)) > 0.0) {
            load = d_.penalty_derivative(e, position_, velocity_, coefficient_);
            push(e.rows.normal, load);
        }
        const double value = d_.load(static_cast<int>(i));
        for (int p = e.first_part; p < e.first_part + e.parts; ++p) {
            const FrictionPart& part = d_.parts[ix(p)];
            if (!part.slips) continue;
            double gamma[3], gradient[3];
            for (int r = 0; r < part.size; ++r) gamma[r] = d_.row_velocity(part.row + r);
            d_.slip_gradient(part, gamma, gradient);
            const Matrix change = d_.slip_gradient_derivative(e, part, velocity_, coefficient_);
            for (int r = 0; r < part.size; ++r) push(part.row + r, -value * change.row(r) - gradient[r] * load);
        }
    }

    // M δu̇ − F δλ = δR,  A δu̇ = −δ(A u̇ + ζ) with u̇ held
    acceleration_ = residual_;
    for (int c = 0; c < columns_; ++c) d_.mass().solve({acceleration_.col(c).data(), ix(n)});
    const std::vector<int>& rows = d_.equation_rows();
    const auto m = static_cast<Eigen::Index>(rows.size());
    if (m == 0) return true;
    Matrix right(m, columns_);
    for (Eigen::Index k = 0; k < m; ++k) {
        right.row(k) = -curvature_.row(rows[static_cast<std::size_t>(k)]);
        for (int e = W.start[ix(rows[static_cast<std::size_t>(k)])];
             e < W.start[ix(rows[static_cast<std::size_t>(k)]) + 1]; ++e)
            right.row(k) -= d_.terms().W[ix(e)] * acceleration_.row(W.column[ix(e)]);
    }
    const Matrix multipliers = d_.solve_multipliers(right);
    acceleration_ += d_.equation_columns() * multipliers;
    for (Eigen::Index k = 0; k < m; ++k) {
        const int row = rows[static_cast<std::size_t>(k)];
        reactions_.row(row) += multipliers.row(k);
        const int owner = d_.equation_owner(static_cast<int>(k));
        if (owner < 0) continue;
        const ElementMode& e = d_.elements[ix(owner)];
        for (int p = e.first_part; p < e.first_part + e.parts; ++p) {
            const FrictionPart& part = d_.parts[ix(p)];
            if (!part.slips) continue;
            double gamma[3], gradient[3];
            for (int r = 0; r < part.size; ++r) gamma[r] = d_.row_velocity(part.row + r);
            d_.slip_gradient(part, gamma, gradient);
            for (int r = 0; r < part.size; ++r)
                reactions_.row(part.row + r) -= e.reaction_sign * gradient[r] * multipliers.row(k);
        }
    }
    return acceleration_.allFinite();
}

}  // namespace saltus::integrate
