// SPDX-License-Identifier: Apache-2.0
#include "saltus/integrate/mode/mode_series.hpp"

#include <algorithm>
#include <cmath>

#include "saltus/base/index.hpp"
#include "saltus/base/numbers.hpp"
#include "saltus/integrate/mode/detail/gauss_rule.hpp"
#include "saltus/integrate/mode/detail/series_arithmetic.hpp"
#include "saltus/integrate/mode/thresholds.hpp"
#include "saltus/model/mechanics.hpp"

namespace saltus::integrate {

namespace {

using trajectory::ElementKind;

/// The number of modes whose equations are kept: kept_coordinates divided by the number of coordinates, from 1 to
/// `most`. The equations of a mode take some kilobytes per coordinate. In a motion with more modes some of them are
/// made again.
std::size_t max_kept_modes(int coordinates) {
    constexpr int kept_coordinates = 4000, most = 64;
    return ix(std::clamp(kept_coordinates / std::max(1, coordinates), 1, most));
}

}  // namespace

void ModeSeries::reset() {
    disk_ratio_ = first_disk_ratio;
    grow_disk_ = true;
    provable_ = infinity;
    factorised_ = false;
    energy_scale_ = last_step_ = 0.0;
    release_ = {};
    for (const auto& program : programs_) program->decay.forget();
}

bool ModeSeries::begin_mode(std::span<const char> watched) {
    if (d_.coarse()) return false;
    key_of_mode(watched);
    if (p_ != nullptr && p_->key == key_) return true;
    const auto same = [&](const auto& program) { return program->key == key_; };
    const auto found = std::find_if(programs_.begin(), programs_.end(), same);
    p_ = nullptr;
    if (found == programs_.end()) {
        std::unique_ptr<Program> program = make_program(watched);
        if (!program) return false;
        if (programs_.size() >= max_kept_modes(d_.size())) programs_.erase(programs_.begin());
        p_ = programs_.emplace_back(std::move(program)).get();
        make_room();
    } else {
        p_ = found->get();
    }
    equations_ = p_->equations.get();
    redundant_ = d_.redundant();
    diagonal_ = mass_values_.size() == ix(d_.size());
    free_flight_ = diagonal_ && equations_->mass_constant && p_->force_rows.empty() && p_->moving_rows.empty() &&
                   p_->loads.empty();
    works_ = equations_->applied != nullptr || !p_->force_rows.empty();
    small_ = !diagonal_ && d_.size() <= SmallMass::max_size;
    if (!mass_ && !diagonal_ && !small_) mass_ = std::make_unique<model::MassFactor>(d_.model().layout().mass);
    right_.resize(p_->rows.size());
    multiplier_.resize(p_->rows.size());
    if (redundant_) misfit_.assign(stride, 0.0);
    factorised_ = factorised_ && equations_->mass_constant;
    provable_ = infinity;
    return true;
}

/// Everything that decides which equations a mode has, in key_. They do not depend on directions of slip.
void ModeSeries::key_of_mode(std::span<const char> watched) {
    const SystemMode& mode = d_.mode();
    key_.assign(watched.begin(), watched.end());
    key_.push_back(d_.redundant() ? 1 : 0);
    for (const ElementMode& e : mode.elements)
        key_.push_back(static_cast<char>((e.active ? 1 : 0) + (e.reaction_sign < 0.0 ? 2 : 0)));
    for (const FrictionMode& part : mode.parts) key_.push_back(part.slips ? 1 : 0);
}

/// Makes the memory of the expansion large enough for the program.
void ModeSeries::make_room() {
    const model::Layout& layout = d_.model().layout();
    const auto grow = [](std::vector<double>& of, std::size_t size) {
        if (of.size() < size) of.resize(size);
    };
    const std::size_t n = ix(d_.size()), m = p_->rows.size(), rows = ix(layout.row_count()), slips = p_->slips.size();
    for (std::vector<double>* const of : {&a_, &a_sum_}) grow(*of, n * stride);
    for (std::vector<double>* const of : {&lambda_, &gamma_}) grow(*of, rows * stride);
    for (std::vector<double>* const of : {&work_, &lambda_sum_, &power_}) grow(*of, stride);
    grow(gradient_, gradients_per_slip * slips * stride);
    grow(vectors_, vectors_per_slip * slips * stride);
    grow(load_, p_->loads.size() * stride);
    grow(mass_values_, layout.mass.size());
    for (std::vector<double>* const of : {&free_, &q_radius_, &u_radius_, &a_size_, &force_residual_, &inverse_mass_})
        grow(*of, n);
    for (std::vector<double>* const of : {&lambda_size_, &lambda_error_}) grow(*of, rows);
    grow(row_residual_, m);
    grow(columns_, n * m);
}

/// Finds what takes part in the mode. Null if it cannot be expanded.
std::unique_ptr<ModeSeries::Program> ModeSeries::make_program(std::span<const char> watched) const {
    const SystemMode& mode = d_.mode();
    for (std::size_t k = 0; k < mode.parts.size(); ++k) {
        const FrictionPart& part = d_.parts()[k];
        const bool active = mode.elements[ix(part.element)].active;
        if (active && mode.parts[k].slips && part.shape == FrictionPart::Shape::patch) return nullptr;
    }
    auto program = std::make_unique<Program>();
    program->key = key_;
    program->needs = choose_equations(watched, *program);
    const auto same = [&](const auto& other) { return other->needs == program->needs; };
    if (const auto found = std::find_if(programs_.begin(), programs_.end(), same); found != programs_.end())
        program->equations = (*found)->equations;
    else
        program->equations = d_.model().system->series(program->needs, d_.model().p);
    if (!program->equations) return nullptr;
    const bool springs =
        std::any_of(program->loads.begin(), program->loads.end(), [](const KnownLoad& l) { return l.row >= 0; });
    if (springs || program->slips_in_a_plane)
        program->motion_degree = model::SeriesEquations::unlimited_degree;
    else
        program->motion_degree = program->equations->motion_degree();
    program->linear = program->equations->transparent() && !program->slips_in_a_plane;
    program->decay = SeriesDecay(program->linear ? SeriesDecay::Kind::exponential : SeriesDecay::Kind::geometric);
    complete_slips(*program);
    collect_entries(*program);
    return program;
}

/// Collects the equations, slipping parts and known loads of the mode. Returns the terms that they need.
model::SeriesNeeds ModeSeries::choose_equations(std::span<const char> watched, Program& program) const {
    const model::Mechanics& model = d_.model();
    const model::Layout& layout = model.layout();
    const SystemMode& mode = d_.mode();
    program.rows.assign(d_.equation_rows().begin(), d_.equation_rows().end());
    program.equation_sign.assign(program.rows.size(), 1.0);
    program.force_rows = program.rows;
    model::SeriesNeeds needs{{watched.begin(), watched.end()},
                             std::vector<char>(ix(layout.row_count()), 0),
                             std::vector<char>(ix(layout.coefficients), 0),
                             true};
    const auto want = [&](model::Coefficient c) {
        if (c != model::no_coefficient) needs.coefficients[ix(c)] = 1;
    };
    for (const model::Jump& jump : model.jumps) want(jump.when);
    for (std::size_t k = 0; k < program.rows.size(); ++k)
        if (const int owner = d_.equation_owner(static_cast<int>(k)); owner >= 0)
            program.equation_sign[k] = mode.elements[ix(owner)].reaction_sign;
    for (std::size_t i = 0; i < d_.elements().size(); ++i) {
        const ElementLayout& e = d_.elements()[i];
        const int element = static_cast<int>(i);
        const bool clutch = e.rows.kind == ElementKind::clutch;
        if (e.rows.kind == ElementKind::contact) want(model.contacts[ix(e.rows.index)].condition);
        if (clutch && !mode.elements[i].active) program.moving_rows.push_back(e.rows.normal);
        if (!mode.elements[i].active) continue;
        int equation = -1;
        if (e.rows.kind == ElementKind::slider) {
            program.loads.push_back({element, -1});
            want(model.sliders[ix(e.rows.index)].normal_force);
        } else if (d_.compliant() && e.rows.kind == ElementKind::contact) {
            program.loads.push_back({element, e.rows.normal});
            program.moving_rows.push_back(e.rows.normal);
            program.force_rows.push_back(e.rows.normal);
            needs.positions[ix(e.rows.normal)] = 1;
            want(model.contacts[ix(e.rows.index)].penalty_k);
            want(model.contacts[ix(e.rows.index)].penalty_d);
        } else {
            for (std::size_t k = 0; k < program.rows.size(); ++k)
                if (program.rows[k] == e.rows.normal) equation = static_cast<int>(k);
        }
        const model::Friction* const friction = friction_of(model, e.rows);
        for (const int p : e.part_numbers()) {
            const FrictionPart& part = d_.parts()[ix(p)];
            want(friction->mu[0]);
            want(friction->mu[1]);
            want(friction->mu_static);
            want(friction->radius[0]);
            want(friction->radius[1]);
            if (!mode.parts[ix(p)].slips) continue;
            program.slips.push_back({p, element, equation, false, {nullptr, nullptr}, nullptr});
            program.slips_in_a_plane = program.slips_in_a_plane || part.size > 1;
            for (int r = 0; r < part.size; ++r) {
                program.moving_rows.push_back(part.row + r);
                program.force_rows.push_back(part.row + r);
            }
        }
    }
    // The forces of springs need the gaps order by order.
    needs.positions_later = !d_.compliant();
    for (const int row : program.force_rows) needs.rows[ix(row)] = 1;
    for (const int row : program.moving_rows) needs.rows[ix(row)] = 1;
    return needs;
}

/// The series of the coefficients of the slipping parts.
void ModeSeries::complete_slips(Program& program) const {
    const model::SeriesEquations& equations = *program.equations;
    for (SlipPart& s : program.slips) {
        const ElementRows& rows = d_.elements()[ix(s.element)].rows;
        const model::Friction& friction = *friction_of(d_.model(), rows);
        const FrictionPart& part = d_.parts()[ix(s.part)];
        const auto constant = [&](model::Coefficient c) {
            return c == model::no_coefficient || equations.coefficient_constant[ix(c)] != 0;
        };
        for (std::size_t axis = 0; axis < 2; ++axis) s.mu[axis] = equations.coefficients[ix(part.axes[axis])];
        bool mu_constant = constant(part.axes[0]) && constant(part.axes[1]);
        if (friction.law == model::FrictionLaw::rolling && part.row > friction.first_row) {
            const model::Coefficient radius = friction.radius[part.size == 1 ? 0 : 1];
            s.radius = equations.coefficients[ix(radius)];
            mu_constant = mu_constant && constant(radius);
        }
        s.constant = part.size == 1 && mu_constant;
    }
}

/// The entries of W of all rows that take part, and those of M that vary.
void ModeSeries::collect_entries(Program& program) const {
    const model::SeriesEquations& equations = *program.equations;
    const model::Pattern& W = d_.model().layout().rows;
    std::size_t count = 0;
    for (const std::vector<int>* const rows : {&program.force_rows, &program.moving_rows})
        for (const int row : *rows) count += ix(W.start[ix(row) + 1] - W.start[ix(row)]);
    program.entries.reserve(count);  // the rows refer to them
    const auto add = [&](int row) {
        const std::size_t first = program.entries.size();
        for (int e = W.start[ix(row)]; e < W.start[ix(row) + 1]; ++e)
            program.entries.push_back({equations.W[ix(e)], W.column[ix(e)], e, equations.W_constant[ix(e)] != 0});
        const bool constant = !equations.chi_constant.empty() && equations.chi_constant[ix(row)] != 0;
        return Row{row,
                   equations.chi[ix(row)],
                   equations.zeta[ix(row)],
                   constant,
                   {program.entries.data() + first, program.entries.size() - first}};
    };
    for (const int row : program.force_rows) program.forces.push_back(add(row));
    for (const int row : program.moving_rows) program.moving.push_back(add(row));
    const model::Pattern& M = d_.model().layout().mass;
    for (int i = 0; i < M.rows && !equations.mass_constant; ++i)
        for (int e = M.start[ix(i)]; e < M.start[ix(i) + 1]; ++e)
            if (equations.M_constant.empty() || equations.M_constant[ix(e)] == 0)
                program.mass.push_back({equations.M[ix(e)], i, M.column[ix(e)], e});
}

bool ModeSeries::expand(double t, const double* x, int order) {
    const int n = d_.size();
    t_ = t;
    equations_->begin(t);
    for (int i = 0; i < n; ++i) {
        equations_->q[ix(i)][0] = x[i];
        equations_->u[ix(i)][0] = x[n + i];
    }
    work_[0] = x[2 * n];
    known_orders_ = 0;
    evaluated_order_ = -1;
    return extend(order);
}

bool ModeSeries::extend(int order) {
    const int n = d_.size();
    exact_ = p_->motion_degree <= order;
    if (exact_) order = p_->motion_degree;
    order_ = order;
    double *const *const q = equations_->q.data(), *const *const u = equations_->u.data();
    double probe = 0.0;  // not a number as soon as some acceleration of a free flight is not finite
    for (int k = known_orders_; k < order; ++k) {
        evaluate_terms(k);
        const double next = 1.0 / (k + 1);
        if (k > 0 && free_flight_) {  // u̇ = M⁻¹ h, and M is diagonal and constant
            const double* const* const h = equations_->h.data();
            for (int i = 0; i < n; ++i) {
                const double a = inverse_mass_[ix(i)] * h[i][k];
                probe += 0.0 * a;
                series(a_, i)[k] = a;
                q[i][k + 1] = u[i][k] * next;
                u[i][k + 1] = a * next;
            }
            work_[ix(k + 1)] = works_ ? power(k) * next : 0.0;
            continue;
        }
        if (!p_->slips.empty()) slip_gradients(k);
        if (!p_->loads.empty()) known_loads(k);
        if (k == 0 && !factorise()) return false;
        if (!solve_order(k)) return false;
        for (int i = 0; i < n; ++i) {
            q[i][k + 1] = u[i][k] * next;
            u[i][k + 1] = series(a_, i)[k] * next;
        }
        work_[ix(k + 1)] = works_ ? power(k) * next : 0.0;
    }
    known_orders_ = order;
    evaluate_terms(order);
    equations_->complete();
    if (std::isnan(probe)) return false;
    // Not a number or infinite coefficients spread to the highest order of u.
    for (int i = 0; i < n; ++i)
        if (!std::isfinite(equations_->u[ix(i)][order])) return false;
    return std::isfinite(work_[ix(order)]);
}

/// Order k of the terms of the equations of motion and of the velocities of rows, unless it is known already.
void ModeSeries::evaluate_terms(int k) {
    if (k <= evaluated_order_) return;
    evaluated_order_ = k;
    equations_->evaluate_order(k);
    if (!p_->moving_rows.empty()) velocities(k);
}

/// Order k of γ = w·u + χ of the rows that move.
void ModeSeries::velocities(int k) {
    double* const* const velocity = equations_->u.data();
    for (const Row& row : p_->moving) {
        double sum = row.chi[k];
        for (const Entry& e : row.entries) {
            const double* const u = velocity[e.column];
            sum += e.constant ? e.w[0] * u[k] : convolution(e.w, u, k);
        }
        series(gamma_, row.row)[k] = sum;
    }
}

/// Order k of ∇σ of the slipping parts. One row: ±μ. Two rows: ∇σ_i = a_i w_i/|w| with w_i = a_i γ_i for an ellipse
/// with the semi-axes a_i; for a disk w = γ and a_i = μ.
void ModeSeries::slip_gradients(int k) {
    for (std::size_t s = 0; s < p_->slips.size(); ++s) {
        const SlipPart& slip = p_->slips[s];
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
    const model::Mechanics& model = d_.model();
    for (std::size_t l = 0; l < p_->loads.size(); ++l) {
        const KnownLoad& known = p_->loads[l];
        const ElementRows& rows = d_.elements()[ix(known.element)].rows;
        double* const load = series(load_, static_cast<int>(l));
        if (known.row < 0) {
            const model::Coefficient c = model.sliders[ix(rows.index)].normal_force;
            load[k] = c == model::no_coefficient ? 0.0 : equations_->coefficients[ix(c)][k];
            continue;
        }
        load[k] = d_.mode().elements[ix(known.element)].pulls ? 0.0 : spring_force(known.element, k);
    }
}

/// Order k of Dynamics::spring_force.
double ModeSeries::spring_force(int element, int k) const {
    const ElementRows& rows = d_.elements()[ix(element)].rows;
    const model::Contact& contact = d_.model().contacts[ix(rows.index)];
    double force = 0.0;
    if (contact.penalty_k != model::no_coefficient)
        force -= d_.stiffness() * convolution(equations_->coefficients[ix(contact.penalty_k)],
                                              equations_->positions[ix(rows.normal)], k);
    if (contact.penalty_d != model::no_coefficient)
        force -= convolution(equations_->coefficients[ix(contact.penalty_d)], series(gamma_, rows.normal), k);
    return force;
}

/// Order k of u̇ and of all reactions. Everything of lower order is known.
bool ModeSeries::solve_order(int k) {
    const int n = d_.size();
    for (int i = 0; i < n; ++i) free_[ix(i)] = equations_->h[ix(i)][k];
    if (k > 0)
        for (const MassEntry& m : p_->mass) {
            if (m.i == m.j) {
                free_[ix(m.i)] -= convolution(m.c, series(a_, m.i), k, 1);
                continue;
            }
            const TwoConvolutions products = two_convolutions(m.c, series(a_, m.j), series(a_, m.i), k, 1);
            free_[ix(m.i)] -= products.first;
            free_[ix(m.j)] -= products.second;
        }
    if (!p_->force_rows.empty()) add_row_forces(k);
    solve_mass(free_);
    if (k == 0) {
        const model::Pattern& M = d_.model().layout().mass;
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
    if (!p_->rows.empty()) {
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
    double probe = 0.0;  // not a number if some acceleration is not finite
    for (int i = 0; i < n; ++i) {
        series(a_, i)[k] = free_[ix(i)];
        probe += 0.0 * free_[ix(i)];
    }
    return probe == 0.0;
}

/// Adds order k of Σ w_r λ_r to free_, without the part w_0 λ_k of reactions that are not known yet.
void ModeSeries::add_row_forces(int k) {
    for (std::size_t s = 0; s < p_->slips.size(); ++s) {
        const SlipPart& slip = p_->slips[s];
        const FrictionPart& part = d_.parts()[ix(slip.part)];
        for (int r = 0; r < part.size; ++r) {
            double value = 0.0;
            if (slip.equation >= 0) {  // known but for −∇σ_0 λ_k
                if (!slip.constant && k > 0)
                    value = -p_->equation_sign[ix(slip.equation)] *
                            convolution(gradient(s, r), series(lambda_, p_->rows[ix(slip.equation)]), k, 1);
            } else {
                value = -convolution(gradient(s, r), series(load_, load_of(slip.element)), k);
            }
            series(lambda_, part.row + r)[k] = value;
        }
    }
    for (std::size_t l = 0; l < p_->loads.size(); ++l)
        if (p_->loads[l].row >= 0) series(lambda_, p_->loads[l].row)[k] = series(load_, static_cast<int>(l))[k];
    for (const int row : p_->rows) series(lambda_, row)[k] = 0.0;
    double* const force = free_.data();
    for (const Row& row : p_->forces) {
        const double* const lambda = series(lambda_, row.row);
        for (const Entry& e : row.entries)
            force[e.column] += e.constant ? e.w[0] * lambda[k] : convolution(e.w, lambda, k);
    }
}

int ModeSeries::load_of(int element) const {
    for (std::size_t l = 0; l < p_->loads.size(); ++l)
        if (p_->loads[l].element == element) return static_cast<int>(l);
    return -1;
}

/// Order k of the power of reactions, and of applied forces and damping if they are given as powers. A reaction does
/// work on the system with w·u = γ − χ, as in Dynamics::derivative. Rows that hold have γ = 0.
double ModeSeries::power(int k) const {
    double sum = equations_->applied != nullptr ? equations_->applied[k] - equations_->damping[k] : 0.0;
    const std::size_t held = p_->rows.size();
    for (std::size_t i = 0; i < p_->forces.size(); ++i) {
        const Row& row = p_->forces[i];
        const double* const lambda = series(lambda_, row.row);
        if (i >= held) sum += convolution(lambda, series(gamma_, row.row), k);
        sum -= row.chi_constant ? lambda[k] * row.chi[0] : convolution(lambda, row.chi, k);
    }
    return sum;
}

void ModeSeries::state(double tau, double* x) {
    last_step_ = tau;
    motion(tau, x);
    x[2 * d_.size()] = value_at(work_.data(), order_, tau);
    if (!equations_->other_forces.empty()) x[2 * d_.size()] += work_of_forces(tau);
}

/// ∫ u·F dτ of the forces F = f − ∂R/∂u. u and F are polynomials of degree N, whose product needs N + 1 nodes to be
/// exact. If they are truncated series, then half of the nodes are enough: they integrate the terms of the product up
/// to order N exactly, and their error is far below the truncation of u. A series of u·F itself would need nearly twice
/// the order on the same step, because it oscillates twice as fast as u.
double ModeSeries::work_of_forces(double tau) const {
    const GaussRule& rule = gauss_rule(exact_ ? order_ + 1 : order_ / 2 + 1);
    // Four nodes at a time. Behind the last one the rule has nodes and weights that are zero.
    static_assert(GaussRule::max_points % 4 == 0);
    double sum = 0.0;
    for (int j = 0; j < rule.points; j += 4) {
        const double* const node = rule.node + j;
        const double at[4] = {tau * node[0], tau * node[1], tau * node[2], tau * node[3]};
        double power[4] = {0.0, 0.0, 0.0, 0.0};
        for (std::size_t i = 0; i < equations_->other_forces.size(); ++i)
            if (const double* const F = equations_->other_forces[i]; F != nullptr) {
                const FourProducts values = products_at(equations_->u[i], F, order_, at);
                for (int m = 0; m < 4; ++m) power[m] += values.product[m];
            }
        for (int m = 0; m < 4; ++m) sum += rule.weight[j + m] * power[m];
    }
    return tau * sum;
}

void ModeSeries::motion(double tau, double* x) const {
    const int n = d_.size();
    for (int i = 0; i < n; ++i) {
        x[i] = value_at(equations_->q[ix(i)], order_, tau);
        x[n + i] = value_at(equations_->u[ix(i)], order_, tau);
    }
}

namespace {

/// The order of a polynomial in τ, 0 <= τ <= h, up to which its terms are visible: the others are below `invisible`
/// times the first three terms and change the value by less than a tenth of its rounding error. The result is at least
/// `least` and at most `most`. `power` has h^k.
int visible_order(const double* c, const double* power, int least, int most) {
    constexpr double invisible = 1e-17;
    const double limit = invisible * std::max({std::abs(c[0]), std::abs(c[1]) * power[1], std::abs(c[2]) * power[2]});
    int k = most;
    while (k > least && !(std::abs(c[k]) * power[k] > limit)) --k;
    return k;
}

}  // namespace

void ModeSeries::dense(double t_new, ode::Dense& out) const {
    const int n = d_.size();
    const auto component = [&](int i) -> const double* {
        if (i == 2 * n) return work_.data();
        return i < n ? equations_->q[ix(i)] : equations_->u[ix(i - n)];
    };
    double powers[stride] = {1.0};
    for (int k = 1; k <= order_; ++k) powers[k] = powers[k - 1] * (t_new - t_);
    // A step that an event has cut is short and needs few terms.
    int last = 2;
    for (int i = 0; i <= 2 * n && last < order_; ++i) last = visible_order(component(i), powers, last, order_);
    last = order_of_work(last, t_new - t_);
    out.reset_series(t_, t_new, 2 * n + 1, last);
    const double *const *const q = equations_->q.data(), *const *const u = equations_->u.data();
    for (int k = 0; k <= last; ++k) {
        double* const term = out.term(k).data();
        for (int i = 0; i < n; ++i) {
            term[i] = q[i][k] * powers[k];
            term[n + i] = u[i][k] * powers[k];
        }
        term[2 * n] = work_[ix(k)] * powers[k];
    }
    // Inside a long step the work of the other forces is less accurate than at its end: see work_of_forces.
    for (int k = 0; k < last; ++k)
        for (std::size_t i = 0; i < equations_->other_forces.size(); ++i)
            if (const double* const F = equations_->other_forces[i]; F != nullptr)
                out.term(k + 1)[ix(2 * n)] += convolution(equations_->u[i], F, k) / (k + 1) * powers[k + 1];
}

/// The order of a polynomial on a step of length h whose motion needs the order `last`. The work of the other forces
/// may need more: the power is a product, whose degree is the sum of the degrees of force and velocity. Ends at two
/// terms in a row that are invisible, because every other term of an even or odd function is zero.
int ModeSeries::order_of_work(int last, double h) const {
    constexpr double invisible = 1e-17;  // as in visible_order
    const auto power_term = [&](int k) {
        double sum = 0.0;
        for (std::size_t i = 0; i < equations_->other_forces.size(); ++i)
            if (const double* const F = equations_->other_forces[i]; F != nullptr)
                sum += convolution(equations_->u[i], F, k);
        return std::abs(sum);
    };
    if (last >= order_ || equations_->other_forces.empty()) return last;
    const double limit = invisible * std::max(power_term(0), power_term(1) * h);
    double scale = 1.0;
    for (int k = 0; k < last; ++k) scale *= h;
    for (int k = last, unseen = 0; k < order_ && unseen < 2; ++k, scale *= h) {
        unseen = power_term(k) * scale <= limit ? unseen + 1 : 0;
        if (unseen == 0) last = k + 1;
    }
    return last;
}

void ModeSeries::dense_reactions(double t_new, ode::Dense& out) const {
    int last = 1;
    double powers[stride] = {1.0};
    for (int k = 1; k < known_orders_; ++k) powers[k] = powers[k - 1] * (t_new - t_);
    for (const int row : p_->rows)
        if (known_orders_ > 2) last = visible_order(series(lambda_, row), powers, last, known_orders_ - 1);
    out.reset_series(t_, t_new, static_cast<int>(p_->rows.size()), last);
    for (std::size_t r = 0; r < p_->rows.size(); ++r) {
        const double* const lambda = series(lambda_, p_->rows[r]);
        double sum = 0.0;
        for (int k = 0; k <= last; ++k) sum += out.term(k)[r] = lambda[k] * powers[k];
        out.term(last + 1)[r] = sum;
    }
}

ModeSeries::Coefficients ModeSeries::position(int row) const {
    return {equations_->positions[ix(row)], ix(order_ + 1)};
}

ModeSeries::Coefficients ModeSeries::reaction(int row) const { return {series(lambda_, row), ix(known_orders_)}; }

ModeSeries::Coefficients ModeSeries::row_velocity(int row) const { return {series(gamma_, row), ix(order_ + 1)}; }

ModeSeries::Coefficients ModeSeries::load(int element) const {
    if (const int l = load_of(element); l >= 0) return {series(load_, l), ix(known_orders_)};
    return reaction(d_.elements()[ix(element)].rows.normal);
}

int ModeSeries::spring_force(int element, double* c) const {
    for (int k = 0; k < known_orders_; ++k) c[k] = spring_force(element, k);
    return known_orders_;
}

namespace {

/// The coefficient that bounds the force of a part that sticks, along its axis 0 or 1.
model::Coefficient stick_axis(const FrictionPart& part, int axis) {
    return part.static_axis != model::no_coefficient ? part.static_axis : part.axes[ix(axis)];
}

}  // namespace

double ModeSeries::friction_coefficient(int part_number, int axis, int order) const {
    const FrictionPart& part = d_.parts()[ix(part_number)];
    const model::Friction& friction = *friction_of(d_.model(), d_.elements()[ix(part.element)].rows);
    const double* const mu = equations_->coefficients[ix(stick_axis(part, axis))];
    const bool rolling = friction.law == model::FrictionLaw::rolling && part.row > friction.first_row;
    if (!rolling) return mu[order];
    return convolution(mu, equations_->coefficients[ix(friction.radius[part.size == 1 ? 0 : 1])], order);
}

int ModeSeries::friction_coefficient(int part_number, int axis, double* c) const {
    const FrictionPart& part = d_.parts()[ix(part_number)];
    const model::Friction& friction = *friction_of(d_.model(), d_.elements()[ix(part.element)].rows);
    const bool rolling = friction.law == model::FrictionLaw::rolling && part.row > friction.first_row;
    if (!rolling) {
        std::copy_n(equations_->coefficients[ix(stick_axis(part, axis))], known_orders_, c);
        return known_orders_;
    }
    for (int k = 0; k < known_orders_; ++k) c[k] = friction_coefficient(part_number, axis, k);
    return known_orders_;
}

ModeSeries::Coefficients ModeSeries::condition(int element) const {
    const model::Contact& contact = d_.model().contacts[ix(d_.elements()[ix(element)].rows.index)];
    return {equations_->coefficients[ix(contact.condition)], ix(known_orders_)};
}

ModeSeries::Coefficients ModeSeries::trigger(int jump) const {
    return {equations_->coefficients[ix(d_.model().jumps[ix(jump)].when)], ix(known_orders_)};
}

ModeSeries::Coefficients ModeSeries::switch_function(int i) const {
    return {equations_->switch_function(i), ix(order_ + 1)};
}

}  // namespace saltus::integrate
