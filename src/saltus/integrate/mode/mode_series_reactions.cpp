// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>

#include "saltus/base/index.hpp"
#include "saltus/base/numbers.hpp"
#include "saltus/integrate/mode/detail/series_arithmetic.hpp"
#include "saltus/integrate/mode/mode_series.hpp"
#include "saltus/integrate/mode/thresholds.hpp"
#include "saltus/model/mechanics.hpp"
#include "saltus/ode/polynomial.hpp"

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
///
/// The sets of friction in a plane are curved. Each is replaced by the half-planes of some tangents. Where the best
/// distribution for these half-planes leaves a set, its tangent there is added, and the linear program is solved again
/// (cutting planes). The margins of the half-planes are never below those of the sets, so that they become exact.
bool ModeSeries::centre_reactions() {
    double scale = force_scale_;
    for (const double lambda : multiplier_) scale = std::max(scale, std::abs(lambda));
    std::vector<LawMargin> margins = law_margins();
    add_tangents(infinity, margins);
    std::vector<ReactionMargin> conditions;
    RedundantReactions::Centre centre{};
    for (int round = 0; round < Thresholds::max_tangent_rounds; ++round) {
        for (std::size_t j = conditions.size(); j < margins.size(); ++j) conditions.push_back(margins[j].margin);
        centre = reactions_.centre(conditions, Thresholds::comfortable_margin * scale, multiplier_);
        if (!add_tangents(centre.margin - Thresholds::tangent_error * scale, margins)) break;
    }
    release_ = {};
    if (margins.size() > conditions.size()) {  // the rounds have ended before the margins were exact
        for (std::size_t j = conditions.size(); j < margins.size(); ++j)
            centre.margin = std::min(centre.margin, margins[j].margin.value(multiplier_));
        return centre.margin > Thresholds::least_margin * scale;
    }
    if (centre.margin > Thresholds::least_margin * scale) return true;
    std::map<int, std::array<double, 2>> slips;  // of parts; two tangents of one set may share its place
    for (std::size_t j = 0; j < centre.weights.size(); ++j) {
        const double weight = centre.weights[j];
        if (!(weight > Thresholds::least_weight)) continue;
        const LawMargin& m = margins[j];
        if (m.part < 0) {
            release_.opening.push_back(m.element);
            continue;
        }
        std::array<double, 2>& sum = slips[m.part];
        for (int r = 0; r < 2; ++r) sum[ix(r)] += weight * m.direction[ix(r)];
    }
    for (const auto& [part, sum] : slips) {
        const double length = std::hypot(sum[0], sum[1]);
        if (!(length > 0.0)) {  // a set without a tangent: friction that has become zero
            release_ = {};
            return false;
        }
        release_.slipping.emplace_back(part, SlipDirection{sum[0] / length, sum[1] / length, 0.0});
    }
    return false;
}

int ModeSeries::equation_of(int row) const {
    const auto found = std::find(p_->rows.begin(), p_->rows.end(), row);
    return found == p_->rows.end() ? -1 : static_cast<int>(found - p_->rows.begin());
}

/// The normal force of an element that is active, as a function of the multipliers.
ReactionMargin ModeSeries::normal_load(int element) const {
    const ElementRows& rows = d_.elements()[ix(element)].rows;
    ReactionMargin load;
    if (const int l = load_of(element); l >= 0) {
        load.offset = series(load_, l)[0];
        return load;
    }
    const int equation = equation_of(rows.normal);
    const bool pulls = rows.kind == ElementKind::constraint && multiplier_[ix(equation)] < 0.0;
    load.terms.emplace_back(equation, pulls ? -1.0 : 1.0);
    return load;
}

/// The conditions of the laws on the multipliers of order 0 that are linear: normal forces, and friction of one row.
std::vector<ModeSeries::LawMargin> ModeSeries::law_margins() const {
    std::vector<LawMargin> margins;
    for (std::size_t i = 0; i < d_.elements().size(); ++i) {
        const ElementLayout& e = d_.elements()[i];
        const int element = static_cast<int>(i);
        if (!d_.mode().elements[i].active) continue;
        const bool unilateral = load_of(element) < 0 && e.rows.kind != ElementKind::constraint;
        if (unilateral) margins.push_back({normal_load(element), element});
        for (const int p : e.part_numbers()) {
            if (d_.mode().parts[ix(p)].slips || d_.parts()[ix(p)].frictionless() || d_.parts()[ix(p)].size > 1)
                continue;
            for (const double sign : {1.0, -1.0}) margins.push_back(tangent(p, {sign, 0.0}));
        }
    }
    return margins;
}

/// Adds the tangents of the sets of sticking parts with two rows in the direction of their forces, if their margin is
/// below a limit. Returns whether there are any.
bool ModeSeries::add_tangents(double limit, std::vector<LawMargin>& margins) const {
    const std::size_t before = margins.size();
    for (std::size_t i = 0; i < d_.elements().size(); ++i) {
        if (!d_.mode().elements[i].active) continue;
        for (const int p : d_.elements()[i].part_numbers()) {
            const FrictionPart& part = d_.parts()[ix(p)];
            if (d_.mode().parts[ix(p)].slips || part.frictionless() || part.size == 1) continue;
            double force[2], length = 0.0;
            for (int r = 0; r < 2; ++r) {
                const double axis = friction_coefficient(p, r, 0);
                force[r] = axis > 0.0 ? multiplier_[ix(equation_of(part.row + r))] / axis : 1.0;
                length = std::hypot(length, force[r]);
            }
            if (!(length > 0.0)) force[0] = length = 1.0;
            LawMargin added = tangent(p, {force[0] / length, force[1] / length});
            if (added.margin.value(multiplier_) < limit) margins.push_back(std::move(added));
        }
    }
    return margins.size() > before;
}

/// The margin of a sticking part for one tangent of its set. With the semi-axes a_i of the set for the normal force 1,
/// λ is in the set if
///     N − d·(λ_i/a_i) >= 0   for all unit vectors d.
/// The margin is this number times the smallest a_i. Where it is zero for the direction d = (λ_i/a_i)/|λ_i/a_i|, slip
/// that this friction opposes has the velocities γ_i ∝ −d_i/a_i, along the outer normal of the set at −λ.
ModeSeries::LawMargin ModeSeries::tangent(int number, const std::array<double, 2>& d) const {
    const FrictionPart& part = d_.parts()[ix(number)];
    const double axes[2] = {friction_coefficient(number, 0, 0), friction_coefficient(number, 1, 0)};
    const double smallest = part.size == 1 ? axes[0] : std::min(axes[0], axes[1]);
    const ReactionMargin load = normal_load(part.element);
    LawMargin out{{}, part.element, number};
    out.margin.offset = smallest * load.offset;
    for (const auto& [equation, factor] : load.terms) out.margin.terms.emplace_back(equation, smallest * factor);
    double length = 0.0;
    for (int r = 0; r < part.size && smallest > 0.0; ++r) {
        out.margin.terms.emplace_back(equation_of(part.row + r), -d[ix(r)] * smallest / axes[r]);
        out.direction[ix(r)] = -d[ix(r)] * smallest / axes[r];
        length = std::hypot(length, out.direction[ix(r)]);
    }
    for (int r = 0; r < part.size && length > 0.0; ++r) out.direction[ix(r)] /= length;
    return out;
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

std::optional<double> ModeSeries::friction_ends(double h, double negligible) const {
    const model::Mechanics& model = d_.model();
    if (model.layout().coefficients_constant) return {};
    std::optional<double> first;
    const auto examine = [&](model::Coefficient c, double tolerance) {
        if (c == model::no_coefficient || equations_->coefficient_constant[ix(c)] != 0) return;
        const double* const series = equations_->coefficients[ix(c)];
        if (series == nullptr) return;
        double scaled[stride], power = 1.0;
        for (int k = 0; k < known_orders_; ++k, power *= h) scaled[k] = series[k] * power;
        scaled[0] += tolerance;
        const std::optional<ode::Crossing> crossing = ode::first_crossing({scaled, ix(known_orders_)}, 0.0);
        if (!crossing) return;
        const double tau = std::min(1.0, crossing->after) * h;
        if (!first || tau < *first) first = tau;
    };
    for (std::size_t i = 0; i < d_.elements().size(); ++i) {
        if (!d_.mode().elements[i].active) continue;
        const ElementRows& rows = d_.elements()[i].rows;
        const model::Friction* const friction = friction_of(model, rows);
        if (friction == nullptr || friction->dimension == 0) continue;
        for (const model::Coefficient c : friction->mu) examine(c, 2.0 * negligible);
        if (rows.kind == ElementKind::slider)
            examine(model.sliders[ix(rows.index)].normal_force, 2.0 * negligible * (1.0 + force_scale_));
    }
    return first;
}

}  // namespace saltus::integrate
