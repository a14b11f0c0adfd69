// SPDX-License-Identifier: Apache-2.0
#include "saltus/integrate/mode/linearised.hpp"

#include <cmath>
#include <utility>

#include "saltus/base/error.hpp"
#include "saltus/base/index.hpp"
#include "saltus/base/stop.hpp"
#include "saltus/model/mechanics.hpp"

namespace saltus::integrate {

namespace {

using model::Function;
using trajectory::ElementKind;

/// Adds the products of a sparse row with `count` of the k directions to `to`. The components of the k directions in
/// one column lie side by side in memory.
template <int count>
void row_times(std::span<const double> values, const int* columns, const double* directions, Eigen::Index k,
               double* to) {
    double sum[count] = {};
    for (std::size_t e = 0; e < values.size(); ++e) {
        const double* const column = directions + k * columns[e];
        for (int j = 0; j < count; ++j) sum[j] += values[e] * column[j];
    }
    for (int j = 0; j < count; ++j) to[j] += sum[j];
}

void row_times(std::span<const double> values, const int* columns, const double* directions, Eigen::Index k,
               double* to) {
    Eigen::Index j = 0;
    for (; j + 4 <= k; j += 4) row_times<4>(values, columns, directions + j, k, to + j);
    if (k - j == 3) row_times<3>(values, columns, directions + j, k, to + j);
    if (k - j == 2) row_times<2>(values, columns, directions + j, k, to + j);
    if (k - j == 1) row_times<1>(values, columns, directions + j, k, to + j);
}

}  // namespace

Linearised::Linearised(Dynamics& dynamics)
    : Linearised(dynamics, model::all_parameters(ix(dynamics.model().layout().parameters))) {}

Linearised::Linearised(Dynamics& dynamics, std::vector<int> parameters)
    : d_(dynamics),
      parameters_(std::move(parameters)),
      columns_(1 + 2 * dynamics.size() + static_cast<int>(parameters_.size())) {}

bool Linearised::available() {
    if (!made_) jacobians_ = d_.model().system->jacobians_by(parameters_);
    made_ = true;
    return jacobians_ != nullptr;
}

void Linearised::gather(Function f, double t, const double* x, std::span<const double> a,
                        std::span<const double> lambda, Matrix& out) {
    SALTUS_EXPECT(available());
    const model::Pattern& pattern = jacobians_->pattern(f);
    const auto n = ix(d_.size());
    values_.resize(pattern.size());
    jacobians_->evaluate(f, model::at(d_.model(), t, {x, n}, {x + n, n}), a, lambda, values_);
    out.setZero(pattern.rows, columns_);
    for (int r = 0; r < pattern.rows; ++r)
        for (int k = pattern.start[ix(r)]; k < pattern.start[ix(r) + 1]; ++k)
            out(r, pattern.column[ix(k)]) += values_[ix(k)];
}

void Linearised::gather_loads(double t, const double* x, std::span<const double> a, std::span<const double> lambda,
                              Matrix& out) {
    SALTUS_EXPECT(available());
    const model::Pattern& pattern = jacobians_->pattern(Function::residual);
    const auto n = ix(d_.size());
    const model::At at = model::at(d_.model(), t, {x, n}, {x + n, n});
    values_.resize(pattern.size());
    unloaded_.resize(pattern.size());
    jacobians_->evaluate(Function::residual, at, a, lambda, values_);
    jacobians_->evaluate(Function::residual, at, {}, {}, unloaded_);
    out.setZero(pattern.rows, columns_);
    for (int r = 0; r < pattern.rows; ++r)
        for (int k = pattern.start[ix(r)]; k < pattern.start[ix(r) + 1]; ++k)
            out(r, pattern.column[ix(k)]) += values_[ix(k)] - unloaded_[ix(k)];
}

bool Linearised::varies(Function f, int row) {
    SALTUS_EXPECT(available());
    const model::Pattern& pattern = jacobians_->pattern(f);
    return pattern.start[ix(row)] < pattern.start[ix(row) + 1];
}

void Linearised::switches(double t, const double* x, std::span<double> values) {
    const auto n = ix(d_.size());
    jacobians_->switches(model::at(d_.model(), t, {x, n}, {x + n, n}), values);
}

void Linearised::switch_derivatives(double t, const double* x, Matrix& out) {
    const auto n = ix(d_.size());
    jacobians_->switch_derivatives(model::at(d_.model(), t, {x, n}, {x + n, n}), out);
}

/// Derivatives of the forces that the state determines: of springs, and of slipping friction with its load held fixed.
/// If the state determines the load too (spring, slider), then the derivative of the load is included: δ(−load·∇σ) =
/// −load·δ∇σ − ∇σ·δload.
void Linearised::collect_following() {
    following_.clear();
    const SystemMode& mode = d_.mode();
    for (std::size_t i = 0; i < d_.elements().size(); ++i) {
        const ElementLayout& e = d_.elements()[i];
        const int element = static_cast<int>(i);
        if (!mode.elements[i].active) continue;
        const bool spring = d_.compliant() && e.rows.kind == ElementKind::contact;
        Eigen::RowVectorXd load = Eigen::RowVectorXd::Zero(columns_);
        if (e.rows.kind == ElementKind::slider) {
            load = coefficient_.row(d_.model().sliders[ix(e.rows.index)].normal_force);
        } else if (spring && !mode.elements[i].pulls) {
            load = d_.penalty_derivative(element, position_, velocity_, coefficient_);
            following_.push_back({e.rows.normal, load});
        }
        const double value = d_.load(element);
        for (const int p : e.part_numbers()) {
            if (!mode.parts[ix(p)].slips) continue;
            const FrictionPart& part = d_.parts()[ix(p)];
            const SlipDirection& direction = mode.parts[ix(p)].direction;
            double gradient[3];
            d_.slip_gradient(part, direction, d_.slip_velocity(p), gradient);
            const Matrix change = d_.slip_gradient_derivative(part, direction, d_.slip_velocity(p),
                                                              velocity_.middleRows(part.row, part.size), coefficient_);
            for (int r = 0; r < part.size; ++r)
                following_.push_back({part.row + r, -value * change.row(r) - gradient[r] * load});
        }
    }
}

/// The slipping friction under the normal force of an equation: calls `use(row, ∂λ_row/∂λ_N)` for each friction row.
template <class Use>
void Linearised::each_friction_of(int equation, const Use& use) const {
    const int owner = d_.equation_owner(equation);
    if (owner < 0) return;
    const double sign = d_.mode().elements[ix(owner)].reaction_sign;
    for (const int p : d_.elements()[ix(owner)].part_numbers()) {
        if (!d_.mode().parts[ix(p)].slips) continue;
        const FrictionPart& part = d_.parts()[ix(p)];
        double gradient[3];
        d_.slip_gradient(part, d_.mode().parts[ix(p)].direction, d_.slip_velocity(p), gradient);
        for (int r = 0; r < part.size; ++r) use(part.row + r, -sign * gradient[r]);
    }
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
    const model::Pattern& W = layout.rows;
    collect_following();
    for (const Following& f : following_) {
        reactions_.row(f.row) += f.change;
        for (int e = W.start[ix(f.row)]; e < W.start[ix(f.row) + 1]; ++e)
            residual_.row(W.column[ix(e)]) += d_.terms().W[ix(e)] * f.change;
    }

    // M δu̇ − F δλ = δR,  A δu̇ = −δ(A u̇ + ζ), where δR and δ(A u̇ + ζ) are taken with u̇ and λ fixed.
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
        reactions_.row(rows[static_cast<std::size_t>(k)]) += multipliers.row(k);
        each_friction_of(static_cast<int>(k),
                         [&](int row, double per_load) { reactions_.row(row) += per_load * multipliers.row(k); });
    }
    return acceleration_.allFinite();
}

void Linearised::fetch(Function f, Sparse& out) {
    SALTUS_EXPECT(available());
    out.pattern = &jacobians_->pattern(f);
    out.values.resize(out.pattern->size());
    jacobians_->evaluate(f, held(), held_acceleration_, held_reactions_, out.values);
}

model::At Linearised::held() const {
    const std::span<const double> x = held_x_;
    const auto n = ix(d_.size());
    return model::at(d_.model(), held_t_, x.first(n), x.subspan(n, n));
}

const Linearised::Sparse& Linearised::residual() {
    if (!residual_fetched_) fetch(Function::residual, sparse_residual_);
    residual_fetched_ = true;
    return sparse_residual_;
}

/// Derivatives are gathered only if something depends on them: slip along a line does not turn, and coefficients may be
/// constant.
Linearised::Follows Linearised::follows() const {
    Follows out;
    out.varies = jacobians_->pattern(Function::coefficient).size() > 0;
    for (std::size_t i = 0; i < d_.elements().size(); ++i) {
        const ElementLayout& e = d_.elements()[i];
        if (!d_.mode().elements[i].active) continue;
        out.springs = out.springs || (d_.compliant() && e.rows.kind == ElementKind::contact);
        for (const int p : e.part_numbers()) {
            const bool part_slips = d_.mode().parts[ix(p)].slips;
            out.slips = out.slips || part_slips;
            out.turns = out.turns || (part_slips && d_.parts()[ix(p)].size > 1);
        }
    }
    return out;
}

std::size_t Linearised::following_rows() const {
    if (!follows().any()) return 0;
    std::size_t rows = 0;
    for (std::size_t i = 0; i < d_.elements().size(); ++i) {
        const ElementLayout& e = d_.elements()[i];
        if (!d_.mode().elements[i].active) continue;
        if (d_.compliant() && e.rows.kind == ElementKind::contact) ++rows;
        for (const int p : e.part_numbers())
            if (d_.mode().parts[ix(p)].slips) rows += ix(d_.parts()[ix(p)].size);
    }
    return rows;
}

double Linearised::gathered_numbers() const {
    return follows().any() ? static_cast<double>(d_.model().layout().row_count()) * columns_ : 0.0;
}

void Linearised::acceleration_row(int row, std::span<double> by_q, std::span<double> by_u) const {
    const Sparse& s = sparse_curvature_;
    const int n = d_.size();
    for (int e = s.pattern->start[ix(row)]; e < s.pattern->start[ix(row) + 1]; ++e) {
        const int column = s.pattern->column[ix(e)] - 1;
        if (column >= 0 && column < n) by_q[ix(column)] += s.values[ix(e)];
        if (column >= n && column < 2 * n) by_u[ix(column - n)] += s.values[ix(e)];
    }
}

bool Linearised::prepare(double t, const double* x) {
    SALTUS_EXPECT(available());
    count_work(std::pow(static_cast<double>(d_.size()), 3));
    if (!d_.evaluate(t, x)) return false;
    held_acceleration_.assign(d_.acceleration().begin(), d_.acceleration().end());
    held_reactions_.assign(d_.reactions().begin(), d_.reactions().end());
    held_t_ = t;
    held_x_.assign(x, x + 2 * d_.size());
    residual_fetched_ = false;
    following_.clear();
    if (const Follows f = follows(); f.any()) {
        const model::Layout& layout = d_.model().layout();
        if (f.springs || f.turns)
            gather(Function::velocity, t, x, {}, {}, velocity_);
        else
            velocity_.setZero(layout.row_count(), columns_);
        if (f.springs) gather(Function::position, t, x, {}, {}, position_);
        if (f.varies)
            gather(Function::coefficient, t, x, {}, {}, coefficient_);
        else
            coefficient_.setZero(layout.coefficients, columns_);
        collect_following();
    }
    if (!d_.equation_rows().empty()) {
        fetch(Function::acceleration, sparse_curvature_);
        inverse_ = d_.multiplier_inverse();
    }
    return true;
}

void Linearised::touched(int count, std::vector<char>& columns) {
    columns.assign(ix(count), 0);
    const auto row = [&](const Sparse& s, int r) {
        for (int e = s.pattern->start[ix(r)]; e < s.pattern->start[ix(r) + 1]; ++e)
            if (const int c = s.pattern->column[ix(e)]; c < count && s.values[ix(e)] != 0.0) columns[ix(c)] = 1;
    };
    for (int r = 0; r < d_.size(); ++r) row(residual(), r);
    for (const int r : d_.equation_rows()) row(sparse_curvature_, r);
    for (const Following& f : following_)
        for (int c = 0; c < count; ++c)
            if (f.change(c) != 0.0) columns[ix(c)] = 1;
}

// With C = M⁻¹F and K = A C the derivative is δu̇ = (I − C K⁻¹A) M⁻¹ δR − C K⁻¹ δ(Au̇ + ζ). It is computed in three
// steps:
//     a = M⁻¹ δR,   μ = K⁻¹ (A a + δ(Au̇ + ζ)),   δu̇ = a − C μ.
// In the code `rates` is first δR, then a and δu̇; multipliers_ is μ. Each row belongs to one direction.
void Linearised::along(const Matrix& directions, Matrix& rates) {
    rates.setZero(directions.rows(), d_.size());
    const bool known = !residual_fetched_ &&
                       jacobians_->residual_along(held(), held_acceleration_, held_reactions_, directions, rates);
    const Parts parts{known ? sparse_residual_ : residual(),
                      sparse_curvature_,
                      following_,
                      d_.terms().W,
                      d_.mass(),
                      d_.equation_columns(),
                      inverse_};
    complete_along(parts, known ? WithResidual::no : WithResidual::yes, directions, rates);
}

/// Adds the part of δR that does not follow the state (∂R · directions) to `rates`, if asked to, then the forces that
/// follow the state, and turns δR into δu̇.
void Linearised::complete_along(const Parts& parts, WithResidual with_residual, const Matrix& directions,
                                Matrix& rates) {
    const auto k = directions.rows();
    const int n = d_.size();
    const model::Pattern& W = d_.model().layout().rows;
    const auto times = [&](const Sparse& s, int row, double* to) {
        const auto begin = ix(s.pattern->start[ix(row)]), end = ix(s.pattern->start[ix(row) + 1]);
        row_times({s.values.data() + begin, end - begin}, s.pattern->column.data() + begin, directions.data(), k, to);
    };
    if (with_residual == WithResidual::yes)
        for (int r = 0; r < n; ++r) times(parts.residual, r, rates.col(r).data());
    for (const Following& f : parts.following) {
        const Vector change = directions * f.change.transpose();
        for (int e = W.start[ix(f.row)]; e < W.start[ix(f.row) + 1]; ++e)
            rates.col(W.column[ix(e)]) += parts.W[ix(e)] * change;
    }
    parts.mass.solve_all({rates.data(), ix(n) * static_cast<std::size_t>(k)}, static_cast<int>(k));
    const std::vector<int>& rows = d_.equation_rows();
    const auto m = static_cast<Eigen::Index>(rows.size());
    if (m == 0) return;
    right_.setZero(k, m);
    for (Eigen::Index i = 0; i < m; ++i) {
        const int row = rows[static_cast<std::size_t>(i)];
        times(parts.curvature, row, right_.col(i).data());
        for (int e = W.start[ix(row)]; e < W.start[ix(row) + 1]; ++e)
            right_.col(i) += parts.W[ix(e)] * rates.col(W.column[ix(e)]);
    }
    multipliers_.noalias() = right_ * parts.inverse.transpose();
    rates.noalias() -= multipliers_ * parts.columns.transpose();
}

void Linearised::keep(Kept& out) {
    out.residual_ = residual();
    out.following_ = following_;
    out.W_.assign(d_.terms().W.begin(), d_.terms().W.end());
    if (d_.model().layout().mass_constant)
        out.mass_.reset();
    else
        out.mass_ = d_.mass();
    if (d_.equation_rows().empty()) return;
    out.curvature_ = sparse_curvature_;
    out.columns_ = d_.equation_columns();
    out.inverse_ = inverse_;
}

void Linearised::along(const Kept& map, const Matrix& directions, Matrix& rates) {
    rates.setZero(directions.rows(), d_.size());
    const auto m = static_cast<Eigen::Index>(d_.equation_rows().size());
    const Parts parts{map.residual_,
                      map.curvature_,
                      map.following_,
                      map.W_,
                      map.mass_ ? *map.mass_ : d_.mass(),
                      Eigen::Map<const Matrix>(map.columns_.data(), d_.size(), m),
                      map.inverse_};
    complete_along(parts, WithResidual::yes, directions, rates);
}

// δλ = −K⁻¹ (A M⁻¹ δR + δ(Au̇ + ζ)) for the equations; `along` leaves K⁻¹(…) in multipliers_. Forces that follow the
// state have their own derivatives, and slipping friction follows the normal force.
void Linearised::reactions_along(const Matrix& directions, Matrix& rates) {
    const std::vector<int>& rows = d_.equation_rows();
    rates.setZero(directions.rows(), d_.model().layout().row_count());
    for (const Following& f : following_) rates.col(f.row) += directions * f.change.transpose();
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const auto column = static_cast<Eigen::Index>(i);
        rates.col(rows[i]) -= multipliers_.col(column);
        each_friction_of(static_cast<int>(i),
                         [&](int row, double per_load) { rates.col(row) -= per_load * multipliers_.col(column); });
    }
}

// The transposed map. With w = K⁻ᵀ Cᵀ y and v = M⁻¹ (y − Aᵀw)
//     yᵀδu̇ = vᵀδR − wᵀδ(Au̇ + ζ).
void Linearised::against(const Vector& y, Vector& gradient) {
    const int n = d_.size();
    const model::Pattern& W = d_.model().layout().rows;
    const std::vector<int>& rows = d_.equation_rows();
    gradient.setZero(columns_);
    Vector v = y, w;
    if (!rows.empty()) {
        w = inverse_.transpose() * (d_.equation_columns().transpose() * y);
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const double factor = w(static_cast<Eigen::Index>(i));
            for (int e = W.start[ix(rows[i])]; e < W.start[ix(rows[i]) + 1]; ++e)
                v(W.column[ix(e)]) -= factor * d_.terms().W[ix(e)];
            const Sparse& s = sparse_curvature_;
            for (int e = s.pattern->start[ix(rows[i])]; e < s.pattern->start[ix(rows[i]) + 1]; ++e)
                gradient(s.pattern->column[ix(e)]) -= factor * s.values[ix(e)];
        }
    }
    d_.mass().solve({v.data(), ix(n)});
    const Sparse& s = residual();
    for (int r = 0; r < n; ++r)
        for (int e = s.pattern->start[ix(r)]; e < s.pattern->start[ix(r) + 1]; ++e)
            gradient(s.pattern->column[ix(e)]) += v(r) * s.values[ix(e)];
    for (const Following& f : following_) {
        double along_row = 0.0;
        for (int e = W.start[ix(f.row)]; e < W.start[ix(f.row) + 1]; ++e)
            along_row += v(W.column[ix(e)]) * d_.terms().W[ix(e)];
        gradient += along_row * f.change.transpose();
    }
}

}  // namespace saltus::integrate
