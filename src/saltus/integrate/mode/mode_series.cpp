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
    if (d_.redundant() || d_.coarse()) return false;
    if (equations_ != nullptr && mode == mode_ &&
        std::equal(watched.begin(), watched.end(), watched_.begin(), watched_.end()))
        return true;
    equations_ = nullptr;
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
    resize(gradient_, 4 * static_cast<int>(slips_.size()));
    resize(vectors_, 5 * static_cast<int>(slips_.size()));
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
    multiplier_.resize(m);
    diagonal_ = layout.mass.size() == n;
    if (!mass_ && !diagonal_) mass_ = std::make_unique<model::MassFactor>(layout.mass);
    inverse_mass_.resize(n);
    factorised_ = false;
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
        const int first = 5 * static_cast<int>(s);  // w_0, w_1, |w|, w_0/|w|, w_1/|w|
        if (part.size == 1) {
            const double mu = slip.radius == nullptr ? slip.mu[0][k] : convolution(slip.mu[0], slip.radius, k);
            gradient(s, 0)[k] = d_.mode().parts[ix(slip.part)].direction[0] >= 0.0 ? mu : -mu;
            continue;
        }
        double *const w[2] = {series(vectors_, first), series(vectors_, first + 1)}, *const norm =
                                                                                         series(vectors_, first + 2);
        for (int i = 0; i < 2; ++i) {
            const double* const gamma = series(gamma_, part.row + i);
            w[i][k] = part.shape == FrictionPart::Shape::ellipse ? convolution(slip.mu[i], gamma, k) : gamma[k];
        }
        // |w|² = w_0² + w_1², so that 2 |w|_0 |w|_k = (w_0² + w_1²)_k − Σ_{0<j<k} |w|_j |w|_{k−j}.
        double square = convolution(w[0], w[0], k) + convolution(w[1], w[1], k);
        for (int j = 1; j < k; ++j) square -= norm[j] * norm[k - j];
        norm[k] = k == 0 ? std::sqrt(square) : square / (2.0 * norm[0]);
        for (int i = 0; i < 2; ++i) {
            double* const unit = series(vectors_, first + 3 + i);
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

void ModeSeries::solve_mass(std::span<double> x) const {
    if (!diagonal_) return mass_->solve(x);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] *= inverse_mass_[i];
}

/// Order k of u̇ and of all reactions. Everything of lower order is known.
bool ModeSeries::solve_order(int k) {
    const model::Layout& layout = d_.model().layout();
    const model::Pattern &W = layout.rows, &M = layout.mass;
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
    const auto m = static_cast<int>(rows_.size());
    if (m > 0) {
        for (int r = 0; r < m; ++r) {
            double sum = -equations_->zeta[ix(rows_[ix(r)])][k];
            for (int e = W.start[ix(rows_[ix(r)])]; e < W.start[ix(rows_[ix(r)]) + 1]; ++e) {
                const int j = W.column[ix(e)];
                sum -= equations_->W[ix(e)][0] * free_[ix(j)];
                if (equations_->W_constant[ix(e)] == 0) sum -= convolution(equations_->W[ix(e)], series(a_, j), k, 1);
            }
            right_[ix(r)] = sum;
        }
        lu_.solve(right_, multiplier_);
        for (int r = 0; r < m; ++r) {
            series(lambda_, rows_[ix(r)])[k] = multiplier_[ix(r)];
            if (k == 0) force_scale_ = std::max(force_scale_, std::abs(multiplier_[ix(r)]));
            for (int i = 0; i < n; ++i) {
                const double part = multiplier_[ix(r)] * columns_[ix(r) * ix(n) + ix(i)];
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
    bool finite = true;
    for (int i = 0; i < n; ++i) {
        series(a_, i)[k] = free_[ix(i)];
        finite = finite && std::isfinite(free_[ix(i)]);
    }
    return finite;
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

double ModeSeries::step_length(const ode::Tolerances& tolerances, int last) const {
    if (exact_) return infinity;
    const int n = d_.size();
    const double absolute = tolerances.absolute, relative = tolerances.relative;
    double h = infinity;
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
    if (exact_ || equations_->transparent() || !std::isfinite(h)) return h;
    constexpr int max_attempts = 40;
    constexpr double ratio_change = 1.5;
    for (int attempt = 0; attempt < max_attempts; ++attempt) {
        double best = infinity, best_ratio = disk_ratio_;
        for (const double change : {1.0, ratio_change, 1.0 / ratio_change}) {
            const double ratio = std::max(disk_ratio_ * change, 1.2);
            const double quotient = bound_quotient(h, ratio * h, tolerances);
            if (quotient < best) best = quotient, best_ratio = ratio;
            if (best <= 1.0) break;
        }
        disk_ratio_ = best_ratio;
        if (best <= 1.0) return h;
        // The bound grows like h^N at a fixed ratio R/h; a step that reaches a singularity needs a larger cut.
        h *= std::isfinite(best) ? std::clamp(0.9 * std::exp(-std::log(best) / (known_orders_ + 1)), 0.3, 0.9) : 0.5;
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

void ModeSeries::dense(double t_new, ode::Dense& out) const {
    const int n = d_.size();
    out.reset_series(t_, t_new, 2 * n + 1, order_);
    double power = 1.0;
    for (int k = 0; k <= order_; ++k, power *= t_new - t_) {
        const std::span<double> term = out.term(k);
        for (int i = 0; i < n; ++i) {
            term[ix(i)] = equations_->q[ix(i)][k] * power;
            term[ix(n + i)] = equations_->u[ix(i)][k] * power;
        }
        term[ix(2 * n)] = work_[ix(k)] * power;
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

int ModeSeries::friction_coefficient(int part_number, int axis, double* c) const {
    const FrictionPart& part = d_.parts()[ix(part_number)];
    const model::Friction& friction = *friction_of(d_.model(), d_.elements()[ix(part.element)].rows);
    const bool second = axis == 1 && part.shape == FrictionPart::Shape::ellipse;
    const double* const mu = equations_->coefficients[ix(friction.mu[second ? 1 : 0])];
    const bool rolling = friction.law == model::FrictionLaw::rolling && part.row > friction.first_row;
    for (int k = 0; k < known_orders_; ++k)
        c[k] =
            rolling ? convolution(mu, equations_->coefficients[ix(friction.radius[part.size == 1 ? 0 : 1])], k) : mu[k];
    return known_orders_;
}

int ModeSeries::switch_function(int i, double* c) const {
    std::copy_n(equations_->switch_function(i), order_ + 1, c);
    return order_ + 1;
}

}  // namespace saltus::integrate
