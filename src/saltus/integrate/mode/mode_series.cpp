// SPDX-License-Identifier: Apache-2.0
#include "saltus/integrate/mode/mode_series.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "saltus/base/index.hpp"
#include "saltus/integrate/mode/thresholds.hpp"
#include "saltus/model/model.hpp"

namespace saltus::integrate {

namespace {

using trajectory::ElementKind;

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Σ_{j=first..k} a_j b_{k−j}.
double convolution(const double* a, const double* b, int k, int first = 0) {
    double sum = 0.0;
    for (int j = first; j <= k; ++j) sum += a[j] * b[k - j];
    return sum;
}

/// Σ_{k=first..last} |c_k| R^k: a bound of the polynomial on the disk |τ| <= R.
double size_on_disk(const double* c, int first, int last, double R) {
    double sum = 0.0;
    for (int k = last; k >= first; --k) sum = sum * R + std::abs(c[k]);
    for (int k = 0; k < first; ++k) sum *= R;
    return sum;
}

double value_at(const double* c, int order, double tau) {
    double value = c[order];
    for (int k = order - 1; k >= 0; --k) value = value * tau + c[k];
    return value;
}

}  // namespace

bool ModeSeries::begin_mode(std::span<const char> watched) {
    const SystemMode& mode = d_.mode();
    if (d_.coarse()) return false;
    if (equations_ != nullptr && mode == mode_ && redundant_ == d_.redundant() &&
        std::equal(watched.begin(), watched.end(), watched_.begin(), watched_.end()))
        return true;
    equations_ = nullptr;
    redundant_ = d_.redundant();
    mode_ = mode;
    watched_.assign(watched.begin(), watched.end());
    for (std::size_t k = 0; k < mode.parts.size(); ++k) {
        const FrictionPart& part = d_.parts()[k];
        const bool active = mode.elements[ix(part.element)].active;
        if (active && mode.parts[k].slips && part.shape == FrictionPart::Shape::patch) return false;
    }
    if (!choose_equations(watched)) return false;
    const model::Layout& layout = d_.model().layout();
    const auto resize = [&](std::vector<double>& of, int count) { of.resize(ix(count) * stride); };
    resize(a_, d_.size());
    resize(lambda_, layout.row_count());
    resize(gamma_, layout.row_count());
    resize(gradient_, gradients_per_slip * static_cast<int>(slips_.size()));
    resize(vectors_, vectors_per_slip * static_cast<int>(slips_.size()));
    resize(load_, static_cast<int>(loads_.size()));
    resize(work_, 1);
    const std::size_t n = ix(d_.size()), m = rows_.size();
    mass_values_.resize(layout.mass.size());
    free_.resize(n);
    q_radius_.resize(n);
    u_radius_.resize(n);
    a_size_.resize(n);
    lambda_size_.resize(ix(layout.row_count()));
    columns_.resize(n * m);
    right_.resize(m);
    misfit_.assign(stride, 0.0);
    multiplier_.resize(m);
    diagonal_ = layout.mass.size() == n;
    if (!mass_ && !diagonal_) mass_ = std::make_unique<model::MassFactor>(layout.mass);
    inverse_mass_.resize(n);
    factorised_ = false;
    proved_ = infinity;
    return true;
}

/// Collects the equations, slipping parts and known loads of the mode, and the terms that they need.
bool ModeSeries::choose_equations(std::span<const char> watched) {
    const model::Model& model = d_.model();
    const model::Layout& layout = model.layout();
    const SystemMode& mode = d_.mode();
    rows_.assign(d_.equation_rows().begin(), d_.equation_rows().end());
    equation_sign_.assign(rows_.size(), 1.0);
    slips_.clear();
    slips_in_a_plane_ = false;
    loads_.clear();
    moving_rows_.clear();
    force_rows_ = rows_;
    model::SeriesNeeds needs{{watched.begin(), watched.end()},
                             std::vector<char>(ix(layout.row_count()), 0),
                             std::vector<char>(ix(layout.coefficients), 0)};
    const auto want = [&](model::Coefficient c) {
        if (c != model::no_coefficient) needs.coefficients[ix(c)] = 1;
    };
    for (std::size_t k = 0; k < rows_.size(); ++k)
        if (const int owner = d_.equation_owner(static_cast<int>(k)); owner >= 0)
            equation_sign_[k] = mode.elements[ix(owner)].reaction_sign;
    for (std::size_t i = 0; i < d_.elements().size(); ++i) {
        const ElementLayout& e = d_.elements()[i];
        const int element = static_cast<int>(i);
        const bool clutch = e.rows.kind == ElementKind::clutch;
        if (clutch && !mode.elements[i].active) moving_rows_.push_back(e.rows.normal);
        if (!mode.elements[i].active) continue;
        int equation = -1;
        if (e.rows.kind == ElementKind::slider) {
            loads_.push_back({element, -1});
            want(model.sliders[ix(e.rows.index)].normal_force);
        } else if (d_.compliant() && e.rows.kind == ElementKind::contact) {
            loads_.push_back({element, e.rows.normal});
            moving_rows_.push_back(e.rows.normal);
            force_rows_.push_back(e.rows.normal);
            needs.positions[ix(e.rows.normal)] = 1;
            want(model.contacts[ix(e.rows.index)].penalty_k);
            want(model.contacts[ix(e.rows.index)].penalty_d);
        } else {
            for (std::size_t k = 0; k < rows_.size(); ++k)
                if (rows_[k] == e.rows.normal) equation = static_cast<int>(k);
        }
        const model::Friction* const friction = friction_of(model, e.rows);
        for (const int p : e.part_numbers()) {
            const FrictionPart& part = d_.parts()[ix(p)];
            want(friction->mu[0]);
            want(friction->mu[1]);
            want(friction->radius[0]);
            want(friction->radius[1]);
            if (!mode.parts[ix(p)].slips) continue;
            slips_.push_back({p, element, equation, false, {nullptr, nullptr}, nullptr, false});
            slips_in_a_plane_ = slips_in_a_plane_ || part.size > 1;
            for (int r = 0; r < part.size; ++r) {
                moving_rows_.push_back(part.row + r);
                force_rows_.push_back(part.row + r);
            }
        }
    }
    for (const int row : force_rows_) needs.rows[ix(row)] = 1;
    for (const int row : moving_rows_) needs.rows[ix(row)] = 1;

    const auto same = [&](const auto& made) { return made.first == needs; };
    auto found = std::find_if(made_.begin(), made_.end(), same);
    if (found == made_.end()) {
        auto equations = model.system->series(needs, model.p);
        if (!equations) return false;
        made_.emplace_back(std::move(needs), std::move(equations));
        found = std::prev(made_.end());
    }
    equations_ = found->second.get();
    const bool springs = std::any_of(loads_.begin(), loads_.end(), [](const KnownLoad& l) { return l.row >= 0; });
    motion_degree_ =
        springs || slips_in_a_plane_ ? model::SeriesEquations::unlimited_degree : equations_->motion_degree();

    const model::Pattern& W = layout.rows;
    rows_constant_ = true;
    for (const int row : force_rows_)
        for (int e = W.start[ix(row)]; e < W.start[ix(row) + 1]; ++e)
            rows_constant_ = rows_constant_ && equations_->W_constant[ix(e)] != 0;
    for (SlipPart& s : slips_) {
        const ElementRows& rows = d_.elements()[ix(s.element)].rows;
        const model::Friction& friction = *friction_of(model, rows);
        const FrictionPart& part = d_.parts()[ix(s.part)];
        const auto constant = [&](model::Coefficient c) {
            return c == model::no_coefficient || equations_->coefficient_constant[ix(c)] != 0;
        };
        const bool ellipse = part.shape == FrictionPart::Shape::ellipse;
        s.mu[0] = equations_->coefficients[ix(friction.mu[0])];
        s.mu[1] = ellipse ? equations_->coefficients[ix(friction.mu[1])] : s.mu[0];
        s.mu_constant = constant(friction.mu[0]) && (!ellipse || constant(friction.mu[1]));
        if (friction.law == model::FrictionLaw::rolling && part.row > friction.first_row) {
            const model::Coefficient radius = friction.radius[part.size == 1 ? 0 : 1];
            s.radius = equations_->coefficients[ix(radius)];
            s.mu_constant = s.mu_constant && constant(radius);
        }
        s.constant = part.size == 1 && s.mu_constant;
    }
    return true;
}

bool ModeSeries::expand(double t, const double* x, int order) {
    const int n = d_.size();
    t_ = t;
    exact_ = motion_degree_ <= order;
    if (exact_) order = motion_degree_;
    order_ = order;
    equations_->begin(t);
    for (int i = 0; i < n; ++i) {
        equations_->q[ix(i)][0] = x[i];
        equations_->u[ix(i)][0] = x[n + i];
    }
    work_[0] = x[2 * n];
    for (int k = 0; k < order; ++k) {
        equations_->evaluate_order(k);
        if (!moving_rows_.empty()) velocities(k);
        if (!slips_.empty()) slip_gradients(k);
        if (!loads_.empty()) known_loads(k);
        if (k == 0 && !factorise()) return false;
        if (!solve_order(k)) return false;
        power(k);
        const double next = 1.0 / (k + 1);
        for (int i = 0; i < n; ++i) {
            equations_->q[ix(i)][k + 1] = equations_->u[ix(i)][k] * next;
            equations_->u[ix(i)][k + 1] = series(a_, i)[k] * next;
        }
        work_[ix(k + 1)] *= next;
    }
    known_orders_ = order;
    equations_->evaluate_order(order);
    velocities(order);
    // Not a number or infinite coefficients spread to the highest order of u.
    for (int i = 0; i < n; ++i)
        if (!std::isfinite(equations_->u[ix(i)][order])) return false;
    return std::isfinite(work_[ix(order)]);
}

/// Order k of γ = w·u + χ of the rows that move.
void ModeSeries::velocities(int k) {
    const model::Pattern& W = d_.model().layout().rows;
    for (const int row : moving_rows_) {
        double sum = equations_->chi[ix(row)][k];
        for (int e = W.start[ix(row)]; e < W.start[ix(row) + 1]; ++e) {
            const double *const w = equations_->W[ix(e)], *const u = equations_->u[ix(W.column[ix(e)])];
            sum += equations_->W_constant[ix(e)] != 0 ? w[0] * u[k] : convolution(w, u, k);
        }
        series(gamma_, row)[k] = sum;
    }
}

/// Order k of ∇σ of the slipping parts. One row: ±μ. Two rows: ∇σ_i = a_i w_i/|w| with w_i = a_i γ_i for an ellipse
/// with the semi-axes a_i; for a disk w = γ and a_i = μ.
void ModeSeries::slip_gradients(int k) {
    for (std::size_t s = 0; s < slips_.size(); ++s) {
        const SlipPart& slip = slips_[s];
        const FrictionPart& part = d_.parts()[ix(slip.part)];
        if (part.size == 1) {
            const double mu = slip.radius == nullptr ? slip.mu[0][k] : convolution(slip.mu[0], slip.radius, k);
            gradient(s, 0)[k] = d_.mode().parts[ix(slip.part)].direction[0] >= 0.0 ? mu : -mu;
            continue;
        }
        double *const w[2] = {vector(s, 0), vector(s, 1)}, *const norm = vector(s, 2);
        for (int i = 0; i < 2; ++i) {
            const double* const gamma = series(gamma_, part.row + i);
            w[i][k] = part.shape == FrictionPart::Shape::ellipse ? convolution(slip.mu[i], gamma, k) : gamma[k];
        }
        // |w|² = w_0² + w_1², so that 2 |w|_0 |w|_k = (w_0² + w_1²)_k − Σ_{0<j<k} |w|_j |w|_{k−j}.
        double square = convolution(w[0], w[0], k) + convolution(w[1], w[1], k);
        for (int j = 1; j < k; ++j) square -= norm[j] * norm[k - j];
        norm[k] = k == 0 ? std::sqrt(square) : square / (2.0 * norm[0]);
        for (int i = 0; i < 2; ++i) {
            double* const unit = vector(s, 3 + i);
            double quotient = w[i][k];
            for (int j = 1; j <= k; ++j) quotient -= norm[j] * unit[k - j];
            unit[k] = quotient / norm[0];
            gradient(s, i)[k] = convolution(slip.mu[i], unit, k);
            if (slip.radius == nullptr) continue;
            scaled(s, i)[k] = gradient(s, i)[k];
            gradient(s, i)[k] = convolution(scaled(s, i), slip.radius, k);
        }
    }
}

/// Order k of the loads that the state determines: forces of sliders and of springs.
void ModeSeries::known_loads(int k) {
    const model::Model& model = d_.model();
    for (std::size_t l = 0; l < loads_.size(); ++l) {
        const KnownLoad& known = loads_[l];
        const ElementRows& rows = d_.elements()[ix(known.element)].rows;
        double* const load = series(load_, static_cast<int>(l));
        if (known.row < 0) {
            const model::Coefficient c = model.sliders[ix(rows.index)].normal_force;
            load[k] = c == model::no_coefficient ? 0.0 : equations_->coefficients[ix(c)][k];
            continue;
        }
        load[k] = 0.0;
        if (d_.mode().elements[ix(known.element)].pulls) continue;
        const model::Contact& contact = model.contacts[ix(rows.index)];
        if (contact.penalty_k != model::no_coefficient)
            load[k] -= d_.stiffness() * convolution(equations_->coefficients[ix(contact.penalty_k)],
                                                    equations_->positions[ix(known.row)], k);
        if (contact.penalty_d != model::no_coefficient)
            load[k] -= convolution(equations_->coefficients[ix(contact.penalty_d)], series(gamma_, known.row), k);
    }
}

/// Factorises M_0 and K_0 = A_0 M_0⁻¹ F_0.
bool ModeSeries::factorise() {
    const model::Layout& layout = d_.model().layout();
    const model::Pattern& W = layout.rows;
    const std::size_t n = ix(d_.size());
    if (!factorised_ || !equations_->mass_constant) {
        for (std::size_t e = 0; e < mass_values_.size(); ++e) mass_values_[e] = equations_->M[e][0];
        if (!diagonal_ && !mass_->factorise(mass_values_)) return false;
        for (std::size_t i = 0; diagonal_ && i < n; ++i) {
            if (!(mass_values_[i] > 0.0)) return false;
            inverse_mass_[i] = 1.0 / mass_values_[i];
        }
    }
    factorised_ = true;
    degenerating_ = false;
    const auto m = static_cast<int>(rows_.size());
    if (m == 0) return true;
    std::fill(columns_.begin(), columns_.end(), 0.0);
    const auto column = [&](int k) { return std::span<double>(columns_.data() + ix(k) * n, n); };
    const auto add = [&](int k, int row, double factor) {
        for (int e = W.start[ix(row)]; e < W.start[ix(row) + 1]; ++e)
            column(k)[ix(W.column[ix(e)])] += factor * equations_->W[ix(e)][0];
    };
    for (int k = 0; k < m; ++k) add(k, rows_[ix(k)], 1.0);
    for (std::size_t s = 0; s < slips_.size(); ++s) {
        if (slips_[s].equation < 0) continue;
        const FrictionPart& part = d_.parts()[ix(slips_[s].part)];
        for (int r = 0; r < part.size; ++r)
            add(slips_[s].equation, part.row + r, -equation_sign_[ix(slips_[s].equation)] * gradient(s, r)[0]);
    }
    for (int k = 0; k < m; ++k) solve_mass(column(k));
    lu_.clear(m);
    for (int i = 0; i < m; ++i)
        for (int k = 0; k < m; ++k) {
            double sum = 0.0;
            for (int e = W.start[ix(rows_[ix(i)])]; e < W.start[ix(rows_[ix(i)]) + 1]; ++e)
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
    const auto m = static_cast<Eigen::Index>(rows_.size());
    Matrix K(m, m);
    for (Eigen::Index i = 0; i < m; ++i)
        for (Eigen::Index k = 0; k < m; ++k) K(i, k) = lu_.at(static_cast<int>(i), static_cast<int>(k));
    reactions_.factorise(K, d_.redundancy() * d_.redundancy());
    const Eigen::Map<const Matrix> columns(columns_.data(), d_.size(), m);
    const double effect = (columns * reactions_.to_null_space()).cwiseAbs().maxCoeff();
    return effect <= Thresholds::redundant_fit * columns.cwiseAbs().maxCoeff();
}

void ModeSeries::solve_mass(std::span<double> x) const {
    if (!diagonal_) return mass_->solve(x);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] *= inverse_mass_[i];
}

/// Order k of u̇ and of all reactions. Everything of lower order is known.
bool ModeSeries::solve_order(int k) {
    const model::Pattern& M = d_.model().layout().mass;
    const int n = d_.size();
    for (int i = 0; i < n; ++i) free_[ix(i)] = equations_->h[ix(i)][k];
    if (!equations_->mass_constant && k > 0)
        for (int i = 0; i < n; ++i)
            for (int e = M.start[ix(i)]; e < M.start[ix(i) + 1]; ++e) {
                const int j = M.column[ix(e)];
                free_[ix(i)] -= convolution(equations_->M[ix(e)], series(a_, j), k, 1);
                if (i != j) free_[ix(j)] -= convolution(equations_->M[ix(e)], series(a_, i), k, 1);
            }
    if (!force_rows_.empty()) add_row_forces(k);
    solve_mass(free_);
    if (k == 0) {
        force_scale_ = acceleration_scale_ = 0.0;
        double kinetic = 0.0;
        for (int i = 0; i < n; ++i) {
            const double u = equations_->u[ix(i)][0];
            force_scale_ = std::max(force_scale_, std::abs(equations_->h[ix(i)][0]));
            kinetic += 0.5 * mass_values_[ix(M.start[ix(i) + 1] - 1)] * u * u;
        }
        energy_scale_ = std::max({energy_scale_, kinetic, std::abs(work_[0])});
        for (const double a : free_) acceleration_scale_ = std::max(acceleration_scale_, std::abs(a));
    }
    if (!rows_.empty()) {
        row_defects(k);
        if (!solve_multipliers(k)) return false;
        add_multipliers(k);
        // A body that rests must not creep, however long the step is: what rounding errors leave is removed.
        for (int round = 0; redundant_ && round < Thresholds::refinements; ++round) {
            row_defects(k);
            reactions_.solve(right_, multiplier_);
            add_multipliers(k);
        }
    }
    bool finite = true;
    for (int i = 0; i < n; ++i) {
        series(a_, i)[k] = free_[ix(i)];
        finite = finite && std::isfinite(free_[ix(i)]);
    }
    return finite;
}

/// Order k of −(A u̇ + ζ) in right_, with free_ for order k of u̇.
void ModeSeries::row_defects(int k) {
    const model::Pattern& W = d_.model().layout().rows;
    for (std::size_t r = 0; r < rows_.size(); ++r) {
        double sum = -equations_->zeta[ix(rows_[r])][k];
        for (int e = W.start[ix(rows_[r])]; e < W.start[ix(rows_[r]) + 1]; ++e) {
            const int j = W.column[ix(e)];
            sum -= equations_->W[ix(e)][0] * free_[ix(j)];
            if (equations_->W_constant[ix(e)] == 0) sum -= convolution(equations_->W[ix(e)], series(a_, j), k, 1);
        }
        right_[r] = sum;
    }
}

/// Adds the multipliers to order k of the reactions, and their effect to free_.
void ModeSeries::add_multipliers(int k) {
    const int n = d_.size();
    for (std::size_t r = 0; r < rows_.size(); ++r) {
        series(lambda_, rows_[r])[k] += multiplier_[r];
        if (k == 0) force_scale_ = std::max(force_scale_, std::abs(multiplier_[r]));
        for (int i = 0; i < n; ++i) {
            const double part = multiplier_[r] * columns_[r * ix(n) + ix(i)];
            free_[ix(i)] += part;
            if (k == 0) acceleration_scale_ = std::max(acceleration_scale_, std::abs(part));
        }
    }
    for (std::size_t s = 0; s < slips_.size(); ++s) {
        const int equation = slips_[s].equation;
        if (equation < 0) continue;
        const FrictionPart& part = d_.parts()[ix(slips_[s].part)];
        for (int r = 0; r < part.size; ++r)
            series(lambda_, part.row + r)[k] -=
                equation_sign_[ix(equation)] * gradient(s, r)[0] * multiplier_[ix(equation)];
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
    const auto found = std::find(rows_.begin(), rows_.end(), row);
    return found == rows_.end() ? -1 : static_cast<int>(found - rows_.begin());
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

/// Adds order k of Σ w_r λ_r to free_, without the part w_0 λ_k of reactions that are not known yet.
void ModeSeries::add_row_forces(int k) {
    for (std::size_t s = 0; s < slips_.size(); ++s) {
        const SlipPart& slip = slips_[s];
        const FrictionPart& part = d_.parts()[ix(slip.part)];
        for (int r = 0; r < part.size; ++r) {
            double value = 0.0;
            if (slip.equation >= 0) {  // known but for −∇σ_0 λ_k
                if (!slip.constant && k > 0)
                    value = -equation_sign_[ix(slip.equation)] *
                            convolution(gradient(s, r), series(lambda_, rows_[ix(slip.equation)]), k, 1);
            } else {
                value = -convolution(gradient(s, r), series(load_, load_of(slip.element)), k);
            }
            series(lambda_, part.row + r)[k] = value;
        }
    }
    for (std::size_t l = 0; l < loads_.size(); ++l)
        if (loads_[l].row >= 0) series(lambda_, loads_[l].row)[k] = series(load_, static_cast<int>(l))[k];
    for (const int row : rows_) series(lambda_, row)[k] = 0.0;
    const model::Pattern& W = d_.model().layout().rows;
    for (const int row : force_rows_) {
        const double* const lambda = series(lambda_, row);
        for (int e = W.start[ix(row)]; e < W.start[ix(row) + 1]; ++e) {
            const double* const w = equations_->W[ix(e)];
            free_[ix(W.column[ix(e)])] +=
                equations_->W_constant[ix(e)] != 0 ? w[0] * lambda[k] : convolution(w, lambda, k);
        }
    }
}

int ModeSeries::load_of(int element) const {
    for (std::size_t l = 0; l < loads_.size(); ++l)
        if (loads_[l].element == element) return static_cast<int>(l);
    return -1;
}

/// Order k of the power of applied forces, damping and reactions, written to order k + 1 of the work. A reaction does
/// work on the system with w·u = γ − χ, as in Dynamics::derivative. Rows that hold have γ = 0.
void ModeSeries::power(int k) {
    double sum = d_.model().layout().powered ? equations_->applied[k] - equations_->damping[k] : 0.0;
    for (const int row : rows_) sum -= convolution(series(lambda_, row), equations_->chi[ix(row)], k);
    for (std::size_t i = rows_.size(); i < force_rows_.size(); ++i) {
        const int row = force_rows_[i];
        sum += convolution(series(lambda_, row), series(gamma_, row), k) -
               convolution(series(lambda_, row), equations_->chi[ix(row)], k);
    }
    work_[ix(k + 1)] = sum;
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

double ModeSeries::step_length(const ode::Tolerances& tolerances, int last) const {
    double h = redundant_ ? consistent_length() : infinity;
    if (exact_) return h;
    const int n = d_.size();
    const double absolute = tolerances.absolute, relative = tolerances.relative;
    for (int k = last; k > last - 3 && k > 0; --k) {
        double sum = 0.0;
        for (int i = 0; i < n; ++i) {
            const double *const q = equations_->q[ix(i)], *const u = equations_->u[ix(i)];
            // Relative to the size that the component has on a step as long as the last one.
            const double dq = q[k] / (absolute + relative * std::max(std::abs(q[0]), std::abs(q[1]) * last_step_));
            const double du = u[k] / (absolute + relative * std::max(std::abs(u[0]), std::abs(u[1]) * last_step_));
            sum += dq * dq + du * du;
        }
        double worst = std::sqrt(sum / (2 * n));
        const auto limit = [&](const double* c, double allowed) { worst = std::max(worst, std::abs(c[k]) / allowed); };
        limit(work_.data(), absolute + relative * energy_scale_);
        for (const double* const g : equations_->positions)
            if (g != nullptr) limit(g, absolute + relative * (1.0 + std::abs(g[0])));
        for (int s = 0; s < equations_->switch_count(); ++s) {
            const double* const c = equations_->switch_function(s);
            limit(c, absolute + relative * (std::abs(c[0]) + std::abs(c[1])));
        }
        for (std::size_t c = 0; c < equations_->coefficients.size(); ++c)
            if (equations_->coefficients[c] != nullptr && equations_->coefficient_constant[c] == 0)
                limit(equations_->coefficients[c],
                      absolute + relative * (1.0 + std::abs(equations_->coefficients[c][0])));
        for (const int row : moving_rows_)
            limit(series(gamma_, row), absolute + relative * (1.0 + std::abs(series(gamma_, row)[0])));
        if (k < known_orders_)
            for (const int row : force_rows_) limit(series(lambda_, row), absolute + relative * force_scale_);
        if (worst > 0.0) h = std::min(h, std::exp(-std::log(worst) / k));
    }
    return h;
}

ModeSeries::FastMotion ModeSeries::fast_motion(const ode::Tolerances& tolerances) const {
    double sum[3] = {0.0, 0.0, 0.0};  // squares of orders N − 2, N − 1 and N in units of the tolerance
    for (int i = 0; i < d_.size(); ++i) {
        const double* const u = equations_->u[ix(i)];
        const double allowed = tolerances.absolute + tolerances.relative * std::abs(u[0]);
        for (int k = 0; k < 3; ++k) sum[k] += (u[order_ - 2 + k] / allowed) * (u[order_ - 2 + k] / allowed);
    }
    if (!(sum[0] > 0.0 && sum[1] > 0.0 && sum[2] > 0.0)) return {0.0, infinity};
    const double rate = order_ * std::sqrt(sum[2] / sum[1]), before = (order_ - 1) * std::sqrt(sum[1] / sum[0]);
    // Of A λ^k/k! both are λ. In front of a singularity at the distance ρ, where u_k ≈ C/ρ^k, their ratio is
    // N/(N − 1).
    if (!(std::abs(rate / before - 1.0) < 0.3 / order_)) return {0.0, infinity};
    return {rate, std::exp(0.5 * std::log(sum[2]) + std::lgamma(order_ + 1.0) - order_ * std::log(rate))};
}

// The limits that the bounds are compared with. A residual force r during a step h changes the velocity by about
// h r/M_ii; this may be `slack` times the tolerance of the velocity. Cauchy's estimate is so pessimistic: with R = 4h
// and order 16 it is 1e-10 of the size on the disk where the last term of the series is 1e-12 of it.
/// Whether the slip velocity keeps its direction on a step of length h: its component across the first direction is
/// negligible. The friction force is then that of a constant direction.
bool ModeSeries::slips_straight(std::size_t number, double h) const {
    const double *const x = vector(number, 0), *const y = vector(number, 1);
    const double length = std::hypot(x[0], y[0]);
    double across = 0.0, size = 0.0, power = 1.0;
    for (int k = 0; k < known_orders_; ++k, power *= h) {
        across += std::abs(x[k] * y[0] - y[k] * x[0]) / length * power;
        size += std::hypot(x[k], y[k]) * power;
    }
    return across <= Thresholds::straight_slip * size;
}

/// Bounds the friction force of a part that slips in a plane, on the disk |τ| <= R, in lambda_size_. The direction
/// w/|w| of w_i = a_i γ_i is analytic as long as w·w has no zero. If |w_i(τ) − w_i(0)| <= ρ_i on the disk, then
///     |w·w − w(0)·w(0)| <= D = Σ ρ_i (2 |w_i(0)| + ρ_i),
/// and for D < |w(0)|² the components of the direction are at most (|w_i(0)| + ρ_i)/√(|w(0)|² − D). Slip along a
/// straight line has a constant direction up to its end.
void ModeSeries::bound_slip_force(std::size_t number, double h, double R, const model::SeriesEquations::Radii& radii) {
    const SlipPart& slip = slips_[number];
    const model::Pattern& W = d_.model().layout().rows;
    const FrictionPart& part = d_.parts()[ix(slip.part)];
    const bool ellipse = part.shape == FrictionPart::Shape::ellipse;
    double start[2], radius[2], axis[2], length = 0.0, change = 0.0;
    for (int i = 0; i < 2; ++i) {
        const int row = part.row + i;
        const double gamma = std::abs(series(gamma_, row)[0]);
        double gamma_radius = radii.chi[ix(row)];
        for (int e = W.start[ix(row)]; e < W.start[ix(row) + 1]; ++e) {
            const std::size_t j = ix(W.column[ix(e)]);
            gamma_radius += std::abs(equations_->W[ix(e)][0]) * u_radius_[j] +
                            radii.W[ix(e)] * (std::abs(equations_->u[j][0]) + u_radius_[j]);
        }
        const double a = std::abs(slip.mu[i][0]), a_radius = size_on_disk(slip.mu[i], 1, known_orders_ - 1, R);
        axis[i] = a + a_radius;
        start[i] = ellipse ? a * gamma : gamma;
        radius[i] = ellipse ? a * gamma_radius + a_radius * (gamma + gamma_radius) : gamma_radius;
        length += start[i] * start[i];
        change += radius[i] * (2.0 * start[i] + radius[i]);
    }
    const bool straight = slips_straight(number, h);
    double load = slip.equation >= 0 ? lambda_size_[ix(rows_[ix(slip.equation)])]
                                     : size_on_disk(series(load_, load_of(slip.element)), 0, known_orders_ - 1, R);
    if (slip.radius != nullptr) load *= size_on_disk(slip.radius, 0, known_orders_ - 1, R);
    for (int i = 0; i < 2; ++i) {
        const double force = straight          ? axis[i] * load * start[i] / std::sqrt(length)
                             : change < length ? axis[i] * load * (start[i] + radius[i]) / std::sqrt(length - change)
                                               : infinity;
        lambda_size_[ix(part.row + i)] = std::max(lambda_size_[ix(part.row + i)], force);
    }
}

double ModeSeries::bound_quotient(double h, double R, const ode::Tolerances& tolerances) {
    constexpr double slack = 1e3;
    const model::Layout& layout = d_.model().layout();
    const model::Pattern &W = layout.rows, &M = layout.mass;
    const int n = d_.size(), N = known_orders_;
    for (int i = 0; i < n; ++i) {
        q_radius_[ix(i)] = size_on_disk(equations_->q[ix(i)], 1, order_, R);
        u_radius_[ix(i)] = size_on_disk(equations_->u[ix(i)], 1, order_, R);
        a_size_[ix(i)] = size_on_disk(series(a_, i), 0, N - 1, R);
    }
    const model::SeriesEquations::Radii& radii = equations_->bounds(R, q_radius_, u_radius_);
    for (const int row : force_rows_) lambda_size_[ix(row)] = size_on_disk(series(lambda_, row), 0, N - 1, R);
    for (std::size_t s = 0; s < slips_.size(); ++s)
        if (d_.parts()[ix(slips_[s].part)].size > 1) bound_slip_force(s, h, R, radii);
    const double ratio = h / R, tail = std::exp(N * std::log(ratio)) / (1.0 - ratio);

    std::fill(free_.begin(), free_.end(), 0.0);  // bounds of the residual forces
    for (int i = 0; i < n; ++i) {
        free_[ix(i)] += std::abs(equations_->h[ix(i)][0]) + radii.h[ix(i)];
        for (int e = M.start[ix(i)]; e < M.start[ix(i) + 1]; ++e) {
            const int j = M.column[ix(e)];
            const double size = std::abs(equations_->M[ix(e)][0]) + radii.M[ix(e)];
            free_[ix(i)] += size * a_size_[ix(j)];
            if (i != j) free_[ix(j)] += size * a_size_[ix(i)];
        }
    }
    double worst = 0.0;
    const auto velocity_tolerance = [&](int i) {
        return tolerances.absolute + tolerances.relative * std::abs(equations_->u[ix(i)][0]);
    };
    for (const int row : force_rows_) {
        const bool holds = std::find(rows_.begin(), rows_.end(), row) != rows_.end();
        double residual = std::abs(equations_->zeta[ix(row)][0]) + radii.zeta[ix(row)], allowed = 0.0;
        for (int e = W.start[ix(row)]; e < W.start[ix(row) + 1]; ++e) {
            const int j = W.column[ix(e)];
            const double size = std::abs(equations_->W[ix(e)][0]) + radii.W[ix(e)];
            free_[ix(j)] += size * lambda_size_[ix(row)];
            residual += size * a_size_[ix(j)];
            allowed += std::abs(equations_->W[ix(e)][0]) * velocity_tolerance(j);
        }
        if (holds && residual > 0.0) worst = std::max(worst, residual * tail * h / (slack * allowed));
    }
    for (int i = 0; i < n; ++i) {
        const double mass = std::abs(mass_values_[ix(M.start[ix(i) + 1] - 1)]);  // the diagonal ends its row
        if (free_[ix(i)] > 0.0)
            worst = std::max(worst, free_[ix(i)] * tail * h / (slack * mass * velocity_tolerance(i)));
    }
    // Positions: the error of the series of a gap, relative to its length scale.
    for (std::size_t r = 0; r < equations_->positions.size(); ++r) {
        if (equations_->positions[r] == nullptr) continue;
        const double size = tolerances.absolute + tolerances.relative * (1.0 + std::abs(equations_->positions[r][0]));
        worst = std::max(worst, radii.positions[r] * tail * ratio / (slack * size));
    }
    // Velocities γ = w·u + χ of rows that move. If w is constant, then w·u is a polynomial and has no error.
    for (const int row : moving_rows_) {
        double size = radii.chi[ix(row)];
        for (int e = W.start[ix(row)]; e < W.start[ix(row) + 1]; ++e) {
            const int j = W.column[ix(e)];
            if (equations_->W_constant[ix(e)] == 0)
                size += (std::abs(equations_->W[ix(e)][0]) + radii.W[ix(e)]) *
                        (std::abs(equations_->u[ix(j)][0]) + u_radius_[ix(j)]);
        }
        const double allowed = tolerances.absolute + tolerances.relative * (1.0 + std::abs(series(gamma_, row)[0]));
        worst = std::max(worst, size * tail * ratio / (slack * allowed));
    }
    for (std::size_t c = 0; c < equations_->coefficients.size(); ++c) {
        if (equations_->coefficients[c] == nullptr) continue;
        const double allowed =
            tolerances.absolute + tolerances.relative * (1.0 + std::abs(equations_->coefficients[c][0]));
        worst = std::max(worst, radii.coefficients[c] * tail * ratio / (slack * allowed));
    }
    for (int s = 0; s < equations_->switch_count(); ++s) {
        const double size = size_on_disk(equations_->switch_function(s), 0, order_, h);
        if (radii.switches[ix(s)] > 0.0)
            worst = std::max(worst, radii.switches[ix(s)] * tail * ratio / (slack * tolerances.relative * size));
    }
    return std::isnan(worst) ? infinity : worst;
}

double ModeSeries::proved_length(double h, const ode::Tolerances& tolerances) {
    const bool transparent = equations_->transparent() && !slips_in_a_plane_;
    if (exact_ || transparent || !std::isfinite(h)) return h;
    constexpr int max_attempts = 40;
    // Of the disk R/h. The bound hardly depends on it near the best ratio, so that coarse changes are enough.
    constexpr double ratio_change = 1.5, least_ratio = 1.2;
    // A step may be so much longer than the last one that had to be cut, more with each step that was not cut. Attempts
    // that fail cost as much as those that succeed.
    constexpr double growth = 1.2;
    constexpr double safety = 0.9, largest_cut = 0.3, cut_at_singularity = 0.5;
    h = std::min(h, growth_ * proved_);
    for (int attempt = 0; attempt < max_attempts; ++attempt) {
        double best = bound_quotient(h, disk_ratio_ * h, tolerances);
        if (best > 1.0) {
            const double other = std::max(disk_ratio_ * (grow_disk_ ? ratio_change : 1.0 / ratio_change), least_ratio);
            const double quotient = bound_quotient(h, other * h, tolerances);
            if (quotient < best)
                best = quotient, disk_ratio_ = other;
            else
                grow_disk_ = !grow_disk_;
        }
        if (best <= 1.0) {
            proved_ = attempt > 0 ? h : std::max(proved_, h);
            growth_ = attempt > 0 ? growth : growth * growth_;
            return h;
        }
        // The bound grows like h^N at a fixed ratio R/h; a step that reaches a singularity needs a larger cut.
        h *= std::isfinite(best)
                 ? std::clamp(safety * std::exp(-std::log(best) / (known_orders_ + 1)), largest_cut, safety)
                 : cut_at_singularity;
    }
    return 0.0;
}

void ModeSeries::state(double tau, double* x) {
    last_step_ = tau;
    const int n = d_.size();
    for (int i = 0; i < n; ++i) {
        x[i] = value_at(equations_->q[ix(i)], order_, tau);
        x[n + i] = value_at(equations_->u[ix(i)], order_, tau);
    }
    x[2 * n] = value_at(work_.data(), order_, tau);
}

namespace {

/// The order of a polynomial in τ, 0 <= τ <= h, up to which its terms are visible: the others are below `invisible`
/// times the first three terms. They change the value by less than a tenth of its rounding error. The result is at
/// least `least` and at most `most`.
int visible_order(const double* c, double h, int least, int most) {
    constexpr double invisible = 1e-17;
    const double limit = invisible * std::max({std::abs(c[0]), std::abs(c[1]) * h, std::abs(c[2]) * h * h});
    double power = 1.0;
    for (int k = 0; k < most; ++k) power *= h;
    for (; most > least && std::abs(c[most]) * power <= limit; --most) power /= h;
    return most;
}

}  // namespace

void ModeSeries::dense(double t_new, ode::Dense& out) const {
    const int n = d_.size();
    const auto component = [&](int i) -> const double* {
        if (i == 2 * n) return work_.data();
        return i < n ? equations_->q[ix(i)] : equations_->u[ix(i - n)];
    };
    // A step that an event has cut is short and needs few terms.
    int last = 2;
    for (int i = 0; i <= 2 * n && last < order_; ++i) last = visible_order(component(i), t_new - t_, last, order_);
    out.reset_series(t_, t_new, 2 * n + 1, last);
    double power = 1.0;
    for (int k = 0; k <= last; ++k, power *= t_new - t_) {
        const std::span<double> term = out.term(k);
        for (int i = 0; i < n; ++i) {
            term[ix(i)] = equations_->q[ix(i)][k] * power;
            term[ix(n + i)] = equations_->u[ix(i)][k] * power;
        }
        term[ix(2 * n)] = work_[ix(k)] * power;
    }
}

void ModeSeries::dense_reactions(double t_new, ode::Dense& out) const {
    int last = 1;
    for (const int row : rows_)
        if (known_orders_ > 2) last = visible_order(series(lambda_, row), t_new - t_, last, known_orders_ - 1);
    out.reset_series(t_, t_new, static_cast<int>(rows_.size()), last);
    for (std::size_t r = 0; r < rows_.size(); ++r) {
        const double* const lambda = series(lambda_, rows_[r]);
        double power = 1.0, sum = 0.0;
        for (int k = 0; k <= last; ++k, power *= t_new - t_) sum += out.term(k)[r] = lambda[k] * power;
        out.term(last + 1)[r] = sum;
    }
}

int ModeSeries::position(int row, double* c) const {
    std::copy_n(equations_->positions[ix(row)], order_ + 1, c);
    return order_ + 1;
}

int ModeSeries::reaction(int row, double* c) const {
    std::copy_n(series(lambda_, row), known_orders_, c);
    return known_orders_;
}

int ModeSeries::row_velocity(int row, double* c) const {
    std::copy_n(series(gamma_, row), order_ + 1, c);
    return order_ + 1;
}

int ModeSeries::load(int element, double* c) const {
    if (const int l = load_of(element); l >= 0) {
        std::copy_n(series(load_, l), known_orders_, c);
        return known_orders_;
    }
    return reaction(d_.elements()[ix(element)].rows.normal, c);
}

int ModeSeries::spring_force(int element, double* c) const {
    const ElementRows& rows = d_.elements()[ix(element)].rows;
    const model::Contact& contact = d_.model().contacts[ix(rows.index)];
    for (int k = 0; k < known_orders_; ++k) {
        c[k] = 0.0;
        if (contact.penalty_k != model::no_coefficient)
            c[k] -= d_.stiffness() * convolution(equations_->coefficients[ix(contact.penalty_k)],
                                                 equations_->positions[ix(rows.normal)], k);
        if (contact.penalty_d != model::no_coefficient)
            c[k] -= convolution(equations_->coefficients[ix(contact.penalty_d)], series(gamma_, rows.normal), k);
    }
    return known_orders_;
}

double ModeSeries::friction_coefficient(int part_number, int axis, int order) const {
    const FrictionPart& part = d_.parts()[ix(part_number)];
    const model::Friction& friction = *friction_of(d_.model(), d_.elements()[ix(part.element)].rows);
    const bool second = axis == 1 && part.shape == FrictionPart::Shape::ellipse;
    const double* const mu = equations_->coefficients[ix(friction.mu[second ? 1 : 0])];
    const bool rolling = friction.law == model::FrictionLaw::rolling && part.row > friction.first_row;
    if (!rolling) return mu[order];
    return convolution(mu, equations_->coefficients[ix(friction.radius[part.size == 1 ? 0 : 1])], order);
}

int ModeSeries::friction_coefficient(int part_number, int axis, double* c) const {
    for (int k = 0; k < known_orders_; ++k) c[k] = friction_coefficient(part_number, axis, k);
    return known_orders_;
}

int ModeSeries::switch_function(int i, double* c) const {
    std::copy_n(equations_->switch_function(i), order_ + 1, c);
    return order_ + 1;
}

}  // namespace saltus::integrate
