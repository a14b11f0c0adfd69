// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "saltus/base/index.hpp"
#include "saltus/base/numbers.hpp"
#include "saltus/integrate/mode/detail/series_arithmetic.hpp"
#include "saltus/integrate/mode/mode_series.hpp"
#include "saltus/integrate/mode/thresholds.hpp"
#include "saltus/model/mechanics.hpp"

// How ModeSeries finds the reactions of its equations, order by order, also where these are redundant.

namespace saltus::integrate {

namespace {

using trajectory::ElementKind;

}  // namespace

/// Factorises M_0 and K_0 = A_0 M_0⁻¹ F_0.
bool ModeSeries::factorise() {
    const model::Layout& layout = d_.model().layout();
    const model::Pattern& W = layout.rows;
    const std::size_t n = ix(d_.size());
    if (!factorised_ || !equations_->mass_constant) {
        for (std::size_t e = 0; e < mass_values_.size(); ++e) mass_values_[e] = equations_->M[e][0];
        if (small_ && !small_mass_.factorise(layout.mass, mass_values_)) return false;
        if (!diagonal_ && !small_ && !mass_->factorise(mass_values_)) return false;
        for (std::size_t i = 0; diagonal_ && i < n; ++i) {
            if (!(mass_values_[i] > 0.0)) return false;
            inverse_mass_[i] = 1.0 / mass_values_[i];
        }
    }
    factorised_ = true;
    degenerating_ = false;
    const auto m = static_cast<int>(p_->rows.size());
    if (m == 0) return true;
    std::fill(columns_.begin(), columns_.end(), 0.0);
    const auto column = [&](int k) { return std::span<double>(columns_.data() + ix(k) * n, n); };
    const auto add = [&](int k, int row, double factor) {
        for (int e = W.start[ix(row)]; e < W.start[ix(row) + 1]; ++e)
            column(k)[ix(W.column[ix(e)])] += factor * equations_->W[ix(e)][0];
    };
    for (int k = 0; k < m; ++k) add(k, p_->rows[ix(k)], 1.0);
    for (std::size_t s = 0; s < p_->slips.size(); ++s) {
        if (p_->slips[s].equation < 0) continue;
        const FrictionPart& part = d_.parts()[ix(p_->slips[s].part)];
        for (int r = 0; r < part.size; ++r)
            add(p_->slips[s].equation, part.row + r, -p_->equation_sign[ix(p_->slips[s].equation)] * gradient(s, r)[0]);
    }
    for (int k = 0; k < m; ++k) solve_mass(column(k));
    lu_.clear(m);
    for (int i = 0; i < m; ++i)
        for (int k = 0; k < m; ++k) {
            double sum = 0.0;
            for (int e = W.start[ix(p_->rows[ix(i)])]; e < W.start[ix(p_->rows[ix(i)]) + 1]; ++e)
                sum += equations_->W[ix(e)][0] * column(k)[ix(W.column[ix(e)])];
            lu_.at(i, k) = sum;
        }
    if (redundant_) return factorise_redundant();
    if (m == 1 && !(lu_.at(0, 0) > 0.0)) return false;
    if (!lu_.factorise()) return false;
    double least = infinity, largest = 0.0;
    for (int i = 0; i < m; ++i) {
        least = std::min(least, std::abs(lu_.at(i, i)));
        largest = std::max(largest, std::abs(lu_.at(i, i)));
    }
    degenerating_ = m > 1 && least < d_.redundancy() * d_.redundancy() * largest;
    return true;
}

/// The same if the equations depend on each other. False if the motion depends on how the reactions are distributed:
/// sliding friction grows with the normal forces.
bool ModeSeries::factorise_redundant() {
    const auto m = static_cast<Eigen::Index>(p_->rows.size());
    Matrix K(m, m);
    for (Eigen::Index i = 0; i < m; ++i)
        for (Eigen::Index k = 0; k < m; ++k) K(i, k) = lu_.at(static_cast<int>(i), static_cast<int>(k));
    reactions_.factorise(K, d_.redundancy() * d_.redundancy());
    const Eigen::Map<const Matrix> columns(columns_.data(), d_.size(), m);
    const double effect = (columns * reactions_.to_null_space()).cwiseAbs().maxCoeff();
    return effect <= Thresholds::redundant_fit * columns.cwiseAbs().maxCoeff();
}

void ModeSeries::solve_mass(std::span<double> x) const {
    if (small_) return small_mass_.solve(x.data());
    if (!diagonal_) return mass_->solve(x);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] *= inverse_mass_[i];
}

/// Order k of −(A u̇ + ζ) in right_, with free_ for order k of u̇.
void ModeSeries::row_defects(int k) {
    for (std::size_t r = 0; r < p_->rows.size(); ++r) {
        double sum = -p_->forces[r].zeta[k];
        for (const Entry& e : p_->forces[r].entries) {
            sum -= e.w[0] * free_[ix(e.column)];
            if (!e.constant) sum -= convolution(e.w, series(a_, e.column), k, 1);
        }
        right_[r] = sum;
    }
}

/// Adds the multipliers to order k of the reactions, and their effect to free_.
void ModeSeries::add_multipliers(int k) {
    const int n = d_.size();
    for (std::size_t r = 0; r < p_->rows.size(); ++r) {
        const double multiplier = multiplier_[r];
        const double* const column = columns_.data() + r * ix(n);
        series(lambda_, p_->rows[r])[k] += multiplier;
        for (int i = 0; i < n; ++i) free_[ix(i)] += multiplier * column[i];
        if (k > 0) continue;
        force_scale_ = std::max(force_scale_, std::abs(multiplier));
        for (int i = 0; i < n; ++i)
            acceleration_scale_ = std::max(acceleration_scale_, std::abs(multiplier * column[i]));
    }
    for (std::size_t s = 0; s < p_->slips.size(); ++s) {
        const int equation = p_->slips[s].equation;
        if (equation < 0) continue;
        const FrictionPart& part = d_.parts()[ix(p_->slips[s].part)];
        for (int r = 0; r < part.size; ++r)
            series(lambda_, part.row + r)[k] -=
                p_->equation_sign[ix(equation)] * gradient(s, r)[0] * multiplier_[ix(equation)];
    }
}

/// Order k of the multipliers of the equations.
bool ModeSeries::solve_multipliers(int k) {
    if (!redundant_) {
        lu_.solve(right_, multiplier_);
        return true;
    }
    misfit_[ix(k)] = reactions_.solve(right_, multiplier_);
    if (k > 0) return true;
    return centre_reactions();
}

/// Distributes the multipliers of order 0 so that they are well inside the sets of the laws. False if that is
/// impossible.
bool ModeSeries::centre_reactions() {
    double scale = force_scale_;
    for (const double lambda : multiplier_) scale = std::max(scale, std::abs(lambda));
    const std::vector<LawMargin> margins = law_margins();
    std::vector<ReactionMargin> conditions;
    for (const LawMargin& m : margins) conditions.push_back(m.margin);
    const RedundantReactions::Centre centre =
        reactions_.centre(conditions, Thresholds::comfortable_margin * scale, multiplier_);
    release_ = {};
    if (centre.margin > Thresholds::least_margin * scale) return true;
    for (std::size_t j = 0; j < centre.weights.size(); ++j) {
        if (!(centre.weights[j] > Thresholds::least_weight)) continue;
        const LawMargin& m = margins[j];
        // A polygon stands for the set of a part with two rows: it is used up too early, and in another direction.
        const bool polygon = m.part >= 0 && d_.parts()[ix(m.part)].size > 1;
        if (polygon) {
            release_ = {};
            return false;
        }
        if (m.part >= 0)
            release_.slipping.emplace_back(m.part, m.direction);
        else
            release_.opening.push_back(m.element);
    }
    return false;
}

int ModeSeries::equation_of(int row) const {
    const auto found = std::find(p_->rows.begin(), p_->rows.end(), row);
    return found == p_->rows.end() ? -1 : static_cast<int>(found - p_->rows.begin());
}

/// How far the multipliers are inside the sets of their laws, at order 0. Disks and ellipses are replaced by polygons
/// inside them.
std::vector<ModeSeries::LawMargin> ModeSeries::law_margins() const {
    std::vector<LawMargin> margins;
    for (std::size_t i = 0; i < d_.elements().size(); ++i) {
        const ElementLayout& e = d_.elements()[i];
        const int element = static_cast<int>(i);
        if (!d_.mode().elements[i].active) continue;
        ReactionMargin load;  // the normal force
        if (const int l = load_of(element); l >= 0) {
            load.offset = series(load_, l)[0];
        } else {
            const int equation = equation_of(e.rows.normal);
            const bool constraint = e.rows.kind == ElementKind::constraint;
            load.terms.emplace_back(equation, constraint && multiplier_[ix(equation)] < 0.0 ? -1.0 : 1.0);
            if (!constraint) margins.push_back({load, element});
        }
        for (const int p : e.part_numbers())
            if (!d_.mode().parts[ix(p)].slips && !d_.parts()[ix(p)].frictionless())
                add_friction_margins(p, load, margins);
    }
    return margins;
}

/// The margins of a sticking part. With the semi-axes a_i of its set for the load 1, they are
///     cos(π/n) N − Σ_i d_i λ_i/a_i >= 0   for n directions d,   times the smallest a_i;
/// for one row, N − |λ|/a >= 0.
void ModeSeries::add_friction_margins(int number, const ReactionMargin& load, std::vector<LawMargin>& margins) const {
    constexpr int directions_in_plane = 16;
    constexpr double pi = 3.14159265358979323846;
    const FrictionPart& part = d_.parts()[ix(number)];
    const double axes[2] = {friction_coefficient(number, 0, 0), friction_coefficient(number, 1, 0)};
    const double smallest = part.size == 1 ? axes[0] : std::min(axes[0], axes[1]);
    const int directions = part.size == 1 ? 2 : directions_in_plane;
    const double inside = part.size == 1 ? 1.0 : std::cos(pi / directions_in_plane);
    for (int k = 0; k < directions; ++k) {
        const double angle = 2.0 * pi * k / directions;
        const double direction[2] = {part.size == 1 ? 1.0 - 2.0 * k : std::cos(angle), std::sin(angle)};
        ReactionMargin margin;
        margin.offset = smallest * inside * load.offset;
        for (const auto& [equation, factor] : load.terms)
            margin.terms.emplace_back(equation, smallest * inside * factor);
        for (int r = 0; r < part.size && smallest > 0.0; ++r)
            margin.terms.emplace_back(equation_of(part.row + r), -direction[r] * smallest / axes[r]);
        margins.push_back({std::move(margin), part.element, number, {-direction[0], -direction[1], 0.0}});
    }
}

/// The step on which redundant equations contradict each other by no more than rounding errors.
double ModeSeries::consistent_length() const {
    const double allowed = Thresholds::redundant_fit * acceleration_scale_;
    if (misfit_[0] > allowed) return 0.0;
    double h = infinity;
    for (int k = 1; k < known_orders_; ++k)
        if (misfit_[ix(k)] > 0.0) h = std::min(h, std::pow(allowed / misfit_[ix(k)], 1.0 / k));
    return h;
}

}  // namespace saltus::integrate
