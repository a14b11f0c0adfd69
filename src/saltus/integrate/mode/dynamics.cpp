// SPDX-License-Identifier: Apache-2.0
#include "saltus/integrate/mode/dynamics.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "saltus/base/error.hpp"
#include "saltus/base/index.hpp"
#include "saltus/base/linalg.hpp"
#include "saltus/base/numbers.hpp"
#include "saltus/integrate/mode/thresholds.hpp"
#include "saltus/model/mechanics.hpp"
#include "saltus/sets/contensou.hpp"
#include "saltus/sets/ellipse.hpp"

namespace saltus::integrate {

namespace {

using trajectory::ElementKind;

/// Euclidean length.
double norm(const double* x, int n) {
    double sum = 0.0;
    for (int i = 0; i < n; ++i) sum += x[i] * x[i];
    return std::sqrt(sum);
}

/// A velocity of slip along a direction.
double along(const FrictionPart& part, const SlipDirection& direction, const double* gamma) {
    double sum = 0.0;
    for (int i = 0; i < part.size; ++i) sum += gamma[i] * direction[ix(i)];
    return sum;
}

/// A vector with the direction that decides the friction force of slip in a plane: γ̂ + ε d with the direction d of the
/// mode (Thresholds::direction_speed). γ̂ is γ, except if slip has passed through zero and turned round, d·γ < 0. Then
/// the component along d is reflected, γ̂ = γ − 2 (d·γ) d, so that the force continues until the event is found. The
/// component across d keeps its sign: friction opposes it on both sides. With −γ in place of γ̂ friction would drive it:
/// where slip begins, coupled inertia makes d·γ < 0 by amounts far below ε, and the direction would turn round within
/// 1e-10 s. A velocity that is rounding counts as zero.
void slip_vector(const FrictionPart& part, const SlipDirection& direction, const double* gamma, double* out) {
    const double backwards = std::min(0.0, along(part, direction, gamma));
    const bool rests = norm(gamma, part.size) <= Thresholds::rounding_speed;
    for (int i = 0; i < part.size; ++i)
        out[i] = (rests ? 0.0 : gamma[i] - 2.0 * backwards * direction[ix(i)]) +
                 Thresholds::direction_speed * direction[ix(i)];
}

/// ∂γ̂ of slip_vector from ∂γ: the identity, or I − 2 d dᵀ.
Matrix slip_vector_derivative(const FrictionPart& part, const SlipDirection& direction, const double* gamma,
                              const Matrix& velocity) {
    if (part.size == 1 || along(part, direction, gamma) >= 0.0) return velocity;
    const Eigen::Map<const Vector> d(direction.data(), part.size);
    return velocity - 2.0 * d * (d.transpose() * velocity);
}

}  // namespace

Dynamics::Dynamics(const model::Mechanics& model, bool compliant, double stiffness)
    : model_(model),
      n_(model.size()),
      compliant_(compliant),
      stiffness_(stiffness),
      layout_(elements_and_parts(model)),
      mode_(initial_mode(layout_)),
      workspace_(model),
      terms_(model.layout()),
      mass_(model.layout().mass),
      coefficients_(ix(model.layout().coefficients)),
      gamma_(ix(model.layout().row_count())),
      lambda_(ix(model.layout().row_count())),
      load_(layout_.elements.size()),
      acceleration_(ix(n_)),
      positions_(ix(model.layout().positions())),
      free_(ix(n_)) {
    needs_coefficients_ = model.layout().coefficients > 0;
    for (const ElementLayout& e : layout_.elements)
        if (const model::Friction* const f = friction_of(model, e.rows);
            f != nullptr && f->law == model::FrictionLaw::orthotropic) {
            orthotropic_ = true;
            for (const model::Coefficient mu : f->mu)
                shape_varies_ =
                    shape_varies_ || (mu != model::no_coefficient && !model.layout().constant_coefficient(mu));
        }
    mode_.sides.assign(model.jumps.size(), 1);
    update_coefficients(0.0, nullptr);
    shape_friction();
    needs_coefficients_ = needs_coefficients_ && !model.layout().coefficients_constant;
}

SystemMode Dynamics::undecided_mode() const {
    SystemMode mode = initial_mode(layout_);
    mode.sides.assign(model_.jumps.size(), 1);
    return mode;
}

void Dynamics::reset() {
    mode_ = undecided_mode();
    terms_t_ = std::numeric_limits<double>::quiet_NaN();
    terms_x_.clear();
    rates_stale_ = false;
    equations_.clear();
    equation_element_.clear();
    redundancy_ = Thresholds::least_redundancy;
    redundant_ = degenerating_ = evaluated_ = false;
    acceleration_scale_ = 0.0;
    evaluations = 0;
    update_coefficients(0.0, nullptr);
}

bool Dynamics::factorise_mass() {
    if (factorised_ && model_.layout().mass_constant) return true;
    factorised_ = mass_.factorise(terms_.M);
    return factorised_;
}

/// Coefficients at a state, or at the initial state if x is null. Constant ones are evaluated only once.
void Dynamics::update_coefficients(double t, const double* x) {
    if (!needs_coefficients_) return;
    std::span<const double> q = model_.q0, u = model_.u0;
    if (x != nullptr) q = {x, ix(n_)}, u = {x + n_, ix(n_)};
    model_.system->coefficients(model::at(model_, t, q, u), workspace_.scratch(), coefficients_);
    update_parts();
}

/// Coefficients of the friction parts.
void Dynamics::update_parts() {
    for (const ElementLayout& e : layout_.elements) {
        const model::Friction* const f = friction_of(model_, e.rows);
        for (int k = 0; k < e.parts; ++k) {
            FrictionPart& part = layout_.parts[ix(e.first_part + k)];
            part.mu = std::max(0.0, coefficient(coefficients_, part.axes[0]));
            const bool ellipse = part.shape == FrictionPart::Shape::ellipse;
            part.mu_second = ellipse ? std::max(0.0, coefficient(coefficients_, part.axes[1])) : 0.0;
            if (f->law == model::FrictionLaw::contensou) part.radius = coefficient(coefficients_, f->radius[0]);
            if (f->law == model::FrictionLaw::rolling && k > 0)
                part.mu *= coefficient(coefficients_, f->radius[ix(k - 1)]);
            part.mu_static = coefficient(coefficients_, part.static_axis, part.mu);
        }
    }
}

bool Dynamics::shape_friction() {
    if (!orthotropic_) return false;
    bool changed = false;
    for (FrictionPart& part : layout_.parts) {
        const model::Friction& f = *friction_of(model_, layout_.elements[ix(part.element)].rows);
        if (f.law == model::FrictionLaw::orthotropic && shape_orthotropic(part, f, coefficients_)) changed = true;
    }
    if (changed) update_parts();
    return changed;
}

bool Dynamics::friction_keeps_shape() const { return !shape_varies_; }

bool Dynamics::friction_changes_shape() const {
    if (friction_keeps_shape()) return false;
    for (FrictionPart part : layout_.parts) {
        const model::Friction& f = *friction_of(model_, layout_.elements[ix(part.element)].rows);
        if (f.law == model::FrictionLaw::orthotropic && shape_orthotropic(part, f, coefficients_)) return true;
    }
    return false;
}

void Dynamics::evaluate_terms(double t, const double* x) {
    if (!rates_stale_ && is_evaluated(t, x, 2 * n_)) return;
    evaluated_ = rates_stale_ = false;
    terms_t_ = t;
    terms_x_.resize(2 * ix(n_));
    std::copy_n(x, 2 * n_, terms_x_.begin());
    model::evaluate(model_, workspace_, t, {x, ix(n_)}, {x + n_, ix(n_)}, terms_);
    update_velocities(x);
    update_coefficients(t, x);
}

void Dynamics::evaluate_velocities(double t, const double* x) {
    if (is_evaluated(t, x, 2 * n_)) return;
    if (!is_evaluated(t, x, n_)) return evaluate_terms(t, x);
    rates_stale_ = true;
    evaluated_ = false;
    std::copy_n(x + n_, n_, terms_x_.begin() + n_);
    update_velocities(x);
    update_coefficients(t, x);
}

/// Whether the first `count` components of (q, u) are those of the terms.
bool Dynamics::is_evaluated(double t, const double* x, int count) const {
    return t == terms_t_ && !terms_x_.empty() && std::equal(x, x + count, terms_x_.begin());
}

/// γ = w·u + χ of all rows.
void Dynamics::update_velocities(const double* x) {
    const model::Pattern& rows = model_.layout().rows;
    for (int r = 0; r < rows.rows; ++r)
        gamma_[ix(r)] = model::row_dot(rows, terms_.W, r, {x + n_, ix(n_)}) + terms_.chi[ix(r)];
}

std::span<const double> Dynamics::positions(double t, const double* q) {
    model_.system->positions(model::at(model_, t, {q, ix(n_)}, {q + n_, ix(n_)}), workspace_.scratch(), positions_);
    return positions_;
}

model::Energy Dynamics::energy(double t, const double* x) {
    return model_.system->energy(model::at(model_, t, {x, ix(n_)}, {x + n_, ix(n_)}), workspace_.scratch());
}

void Dynamics::slip_gradient(const FrictionPart& part, const SlipDirection& direction, const double* gamma,
                             double* gradient) const {
    if (part.size == 1) {
        gradient[0] = direction[0] >= 0.0 ? part.mu : -part.mu;
        return;
    }
    double d[3];
    slip_vector(part, direction, gamma, d);
    const double length = norm(d, part.size);
    for (int i = 0; i < part.size && length > 0.0; ++i) d[i] /= length;
    // σ(γ) = max λ·γ over the set is its support function, and ∇σ is the point of the set that is furthest along d.
    // Disk: σ = μ|γ|, ∇σ = μ d. Ellipse and patch: see sets/ellipse.hpp and sets/contensou.hpp.
    if (part.shape == FrictionPart::Shape::disk) {
        for (int i = 0; i < part.size; ++i) gradient[i] = part.mu * d[i];
    } else if (part.shape == FrictionPart::Shape::ellipse) {
        sets::Ellipse(part.mu, part.mu_second).furthest(d, gradient);
    } else {
        sets::Contensou(part.mu, part.radius).furthest({d, 3}, gradient);
    }
}

double Dynamics::slip_along(int part) const {
    return along(layout_.parts[ix(part)], mode_.parts[ix(part)].direction, slip_velocity(part));
}

void Dynamics::set_mode(const SystemMode& mode, double t, const double* x) {
    SALTUS_EXPECT(mode.elements.size() == layout_.elements.size() && mode.parts.size() == layout_.parts.size());
    mode_ = mode;
    if (!friction_keeps_shape()) {
        evaluate_terms(t, x);
        shape_friction();
    }
    settle(t, x);
}

void Dynamics::turn_slip(const SystemMode& turned) {
    SALTUS_EXPECT(turned.parts.size() == mode_.parts.size());
    for (std::size_t k = 0; k < mode_.parts.size(); ++k) mode_.parts[k].direction = turned.parts[k].direction;
    evaluated_ = false;
}

SystemMode Dynamics::followed_mode() const {
    SystemMode mode = mode_;
    for (std::size_t k = 0; k < mode.parts.size(); ++k) {
        const FrictionPart& part = layout_.parts[k];
        if (!mode.parts[k].slips || part.size == 1) continue;
        const double speed = slip_speed(static_cast<int>(k));
        if (speed > Thresholds::follow_speed)
            for (int i = 0; i < part.size; ++i) mode.parts[k].direction[ix(i)] = gamma_[ix(part.row + i)] / speed;
    }
    return mode;
}

bool Dynamics::nearly_singular(double t, const double* x) {
    evaluate_terms(t, x);
    if (!factorise_mass()) return false;
    const model::Pattern& W = model_.layout().rows;
    for (std::size_t i = 0; i < layout_.elements.size(); ++i) {
        const ElementLayout& e = layout_.elements[i];
        if (!mode_.elements[i].active || e.rows.kind != ElementKind::contact || compliant_) continue;
        std::vector<double> column(ix(n_), 0.0);
        const auto add = [&](int row, double factor) {
            for (int k = W.start[ix(row)]; k < W.start[ix(row) + 1]; ++k)
                column[ix(W.column[ix(k)])] += factor * terms_.W[ix(k)];
        };
        add(e.rows.normal, 1.0);
        std::vector<double> normal = column;
        for (const int p : e.part_numbers()) {
            if (!mode_.parts[ix(p)].slips) continue;
            const FrictionPart& part = layout_.parts[ix(p)];
            double gradient[3];
            slip_gradient(part, mode_.parts[ix(p)].direction, slip_velocity(p), gradient);
            for (int r = 0; r < part.size; ++r) add(part.row + r, -gradient[r]);
        }
        mass_.solve(normal);
        mass_.solve(column);
        if (model::row_dot(W, terms_.W, e.rows.normal, column) <
            Thresholds::near_painleve * model::row_dot(W, terms_.W, e.rows.normal, normal))
            return true;
    }
    return false;
}

double Dynamics::slip_speed(int part) const { return norm(slip_velocity(part), layout_.parts[ix(part)].size); }

void Dynamics::set_reaction(int element, int row, double value) {
    lambda_[ix(row)] = value;
    evaluated_ = false;
    const ElementLayout& e = layout_.elements[ix(element)];
    if (e.rows.normal != row) return;
    load_[ix(element)] = std::abs(value);
    // Friction that slips is −λ_N ∇σ: it follows the new normal force.
    for (const int p : e.part_numbers()) {
        if (!mode_.parts[ix(p)].slips) continue;
        const FrictionPart& part = layout_.parts[ix(p)];
        double gradient[3];
        slip_gradient(part, mode_.parts[ix(p)].direction, slip_velocity(p), gradient);
        for (int i = 0; i < part.size; ++i) lambda_[ix(part.row + i)] = -load_[ix(element)] * gradient[i];
    }
}

double Dynamics::reserve(int part_number) const {
    const FrictionPart& part = layout_.parts[ix(part_number)];
    const double load = load_[ix(part.element)];
    const double* const force = lambda_.data() + part.row;
    switch (part.shape) {
        case FrictionPart::Shape::disk: return part.mu_static * load - norm(force, part.size);
        case FrictionPart::Shape::ellipse: {
            // Stretched by the ratio of the semi-axes, the ellipse becomes a disk with the larger one.
            const double larger = std::max(part.mu, part.mu_second);
            const double a = part.mu > 0.0 ? force[0] * larger / part.mu : Thresholds::infinite_slope * force[0];
            const double b =
                part.mu_second > 0.0 ? force[1] * larger / part.mu_second : Thresholds::infinite_slope * force[1];
            return larger * load - std::hypot(a, b);
        }
        case FrictionPart::Shape::patch: {
            // Bisection for the factor s at which s·λ_T reaches the boundary. The reserve (1 − 1/s) μ λ_N is zero on
            // the boundary and negative outside.
            double low = 0.0, high = Thresholds::max_patch_growth;
            if (norm(force, 3) == 0.0) return part.mu * load;
            for (int k = 0; k < Thresholds::patch_bisections; ++k) {
                const double s = 0.5 * (low + high);
                const double grown[3] = {s * force[0], s * force[1], s * force[2]};
                (sets::Contensou(part.mu * load, part.radius).contains(grown, 0.0) ? low : high) = s;
            }
            return (1.0 - 1.0 / std::max(low, Thresholds::least_patch_growth)) * part.mu * load;
        }
    }
    return 0.0;
}

namespace {

/// k and d may be functions of the depth, such as its square root. When a contact begins or ends, rounding can make the
/// depth slightly negative, where such a function or its derivative does not exist. The force vanishes there: a term
/// without a value is left out.
double or_zero(double term) { return std::isfinite(term) ? term : 0.0; }

}  // namespace

double Dynamics::spring_force(int element) const {
    const ElementLayout& e = layout_.elements[ix(element)];
    const model::Contact& c = model_.contacts[ix(e.rows.index)];
    const double depth = -terms_.positions[ix(e.rows.normal)], rate = -gamma_[ix(e.rows.normal)];
    const double elastic = stiffness_ * coefficient(coefficients_, c.penalty_k) * depth;
    const double viscous = coefficient(coefficients_, c.penalty_d) * rate;
    if (depth > 0.0 || model_.layout().coefficients_constant) return elastic + viscous;
    return or_zero(elastic) + or_zero(viscous);
}

bool Dynamics::damped(int element) const {
    return coefficient(coefficients_, model_.contacts[ix(layout_.elements[ix(element)].rows.index)].penalty_d) != 0.0;
}

/// Collects the equations of the mode and finds whether they are dependent at this state.
void Dynamics::settle(double t, const double* x) {
    evaluated_ = false;
    equations_.clear();
    equation_element_.clear();
    for (std::size_t i = 0; i < layout_.elements.size(); ++i) {
        const ElementLayout& e = layout_.elements[i];
        if (!mode_.elements[i].active) continue;
        const bool normal = e.rows.normal >= 0 && !(compliant_ && e.rows.kind == ElementKind::contact);
        if (normal) {
            equations_.push_back(e.rows.normal);
            equation_element_.push_back(static_cast<int>(i));
        }
        for (const int k : e.part_numbers()) {
            const FrictionPart& part = layout_.parts[ix(k)];
            for (int r = 0; r < part.size && !mode_.parts[ix(k)].slips; ++r) {
                equations_.push_back(part.row + r);
                equation_element_.push_back(-1);
            }
        }
    }
    degenerating_ = false;
    const std::size_t m = equations_.size();
    columns_.resize(m * ix(n_));
    right_.resize(m);
    multiplier_.resize(m);
    redundant_ = false;
    if (m < 2) return;
    evaluate_terms(t, x);
    Matrix rows = Matrix::Zero(static_cast<Eigen::Index>(m), n_);
    const model::Pattern& W = model_.layout().rows;
    for (std::size_t k = 0; k < m; ++k)
        for (int e = W.start[ix(equations_[k])]; e < W.start[ix(equations_[k]) + 1]; ++e)
            rows(static_cast<Eigen::Index>(k), W.column[ix(e)]) = terms_.W[ix(e)];
    redundant_ = row_rank(rows, redundancy_).rank < static_cast<int>(m);
}

void Dynamics::force_column(int k, std::span<double> column) const {
    const model::Pattern& W = model_.layout().rows;
    const auto add = [&](int row, double factor) {
        for (int e = W.start[ix(row)]; e < W.start[ix(row) + 1]; ++e)
            column[ix(W.column[ix(e)])] += factor * terms_.W[ix(e)];
    };
    add(equations_[ix(k)], 1.0);
    const int owner = equation_element_[ix(k)];
    if (owner < 0) return;
    const double sign = mode_.elements[ix(owner)].reaction_sign;
    for (const int p : layout_.elements[ix(owner)].part_numbers()) {
        if (!mode_.parts[ix(p)].slips) continue;
        const FrictionPart& part = layout_.parts[ix(p)];
        double gradient[3];
        slip_gradient(part, mode_.parts[ix(p)].direction, slip_velocity(p), gradient);
        for (int i = 0; i < part.size; ++i) add(part.row + i, -sign * gradient[i]);
    }
}

/// Solves K λ = −(A M⁻¹ h + ζ) with K = A M⁻¹ F for the multipliers λ.
bool Dynamics::solve_equations() {
    const auto m = static_cast<int>(equations_.size());
    const model::Pattern& W = model_.layout().rows;
    const auto n = ix(n_);
    for (int k = 0; k < m; ++k) {
        const std::span<double> column(columns_.data() + ix(k) * n, n);
        std::fill(column.begin(), column.end(), 0.0);
        force_column(k, column);
        mass_.solve(column);
        right_[ix(k)] = -(model::row_dot(W, terms_.W, equations_[ix(k)], free_) + terms_.zeta[ix(equations_[ix(k)])]);
    }
    if (m == 0) return true;
    const auto entry = [&](int i, int k) {
        return model::row_dot(W, terms_.W, equations_[ix(i)], {columns_.data() + ix(k) * n, n});
    };
    if (m == 1) {
        const double d = entry(0, 0);
        if (!(d > 0.0)) return false;
        multiplier_[0] = right_[0] / d;
        return std::isfinite(multiplier_[0]);
    }
    if (!redundant_) {
        lu_.clear(m);
        for (int i = 0; i < m; ++i)
            for (int k = 0; k < m; ++k) lu_.at(i, k) = entry(i, k);
        if (!lu_.factorise()) return false;
        lu_.solve(right_, multiplier_);
        double least = std::abs(lu_.at(0, 0)), largest = least;
        for (int i = 1; i < m; ++i) {
            least = std::min(least, std::abs(lu_.at(i, i)));
            largest = std::max(largest, std::abs(lu_.at(i, i)));
        }
        degenerating_ = least < redundancy_ * redundancy_ * largest;  // K contains the angle of the rows squared
    } else {  // consistent equations that are dependent: the multipliers of least norm
        Matrix K(m, m);
        for (int i = 0; i < m; ++i)
            for (int k = 0; k < m; ++k) K(i, k) = entry(i, k);
        const Vector x = least_squares(K, Eigen::Map<const Vector>(right_.data(), m), redundancy_ * redundancy_);
        std::copy_n(x.data(), m, multiplier_.begin());
    }
    return std::all_of(multiplier_.begin(), multiplier_.end(), [](double v) { return std::isfinite(v); });
}

bool Dynamics::evaluate(double t, const double* x) {
    ++evaluations;
    evaluate_terms(t, x);
    if (evaluated_) return true;
    if (!factorise_mass()) return false;
    std::fill(lambda_.begin(), lambda_.end(), 0.0);
    std::fill(load_.begin(), load_.end(), 0.0);
    std::copy(terms_.h.begin(), terms_.h.end(), free_.begin());
    const model::Pattern& W = model_.layout().rows;
    // Forces that the state determines: springs of contacts, and slipping friction under a known load.
    const auto apply = [&](int row, double value) {
        lambda_[ix(row)] = value;
        for (int e = W.start[ix(row)]; e < W.start[ix(row) + 1]; ++e)
            free_[ix(W.column[ix(e)])] += value * terms_.W[ix(e)];
    };
    const auto slip = [&](const ElementLayout& e, double load) {
        for (const int p : e.part_numbers()) {
            if (!mode_.parts[ix(p)].slips) continue;
            const FrictionPart& part = layout_.parts[ix(p)];
            double gradient[3];
            slip_gradient(part, mode_.parts[ix(p)].direction, slip_velocity(p), gradient);
            for (int i = 0; i < part.size; ++i) apply(part.row + i, -load * gradient[i]);
        }
    };
    for (std::size_t i = 0; i < layout_.elements.size(); ++i) {
        const ElementLayout& e = layout_.elements[i];
        if (!mode_.elements[i].active) continue;
        if (e.rows.kind == ElementKind::slider) {
            load_[i] = std::max(0.0, coefficient(coefficients_, model_.sliders[ix(e.rows.index)].normal_force));
            slip(e, load_[i]);
        } else if (compliant_ && e.rows.kind == ElementKind::contact) {
            load_[i] = penalty_force(static_cast<int>(i), mode_.elements[i]);
            apply(e.rows.normal, load_[i]);
            slip(e, load_[i]);
        }
    }
    mass_.solve(free_);
    if (!solve_equations()) return false;
    std::copy(free_.begin(), free_.end(), acceleration_.begin());
    acceleration_scale_ = 0.0;
    for (const double a : free_) acceleration_scale_ = std::max(acceleration_scale_, std::abs(a));
    for (std::size_t k = 0; k < equations_.size(); ++k) {
        const double* const column = columns_.data() + k * ix(n_);
        for (int i = 0; i < n_; ++i) {
            acceleration_[ix(i)] += multiplier_[k] * column[i];
            acceleration_scale_ = std::max(acceleration_scale_, std::abs(multiplier_[k] * column[i]));
        }
        lambda_[ix(equations_[k])] = multiplier_[k];
        const int owner = equation_element_[k];
        if (owner < 0) continue;
        const double sign = mode_.elements[ix(owner)].reaction_sign;
        load_[ix(owner)] = std::abs(multiplier_[k]);
        for (const int p : layout_.elements[ix(owner)].part_numbers()) {
            if (!mode_.parts[ix(p)].slips) continue;
            const FrictionPart& part = layout_.parts[ix(p)];
            double gradient[3];
            slip_gradient(part, mode_.parts[ix(p)].direction, slip_velocity(p), gradient);
            for (int i = 0; i < part.size; ++i) lambda_[ix(part.row + i)] = -sign * multiplier_[k] * gradient[i];
        }
    }
    evaluated_ = std::all_of(acceleration_.begin(), acceleration_.end(), [](double v) { return std::isfinite(v); });
    return evaluated_;
}

bool Dynamics::derivative(double t, const double* x, double* dx) {
    if (!evaluate(t, x)) return false;
    std::copy_n(x + n_, n_, dx);
    std::copy_n(acceleration_.begin(), n_, dx + n_);
    // Power of applied forces, damping and reactions, which changes T + U. A reaction does work on the system with
    // γ − χ = Wᵀu; the rest, −λχ, is the work of the moving obstacle.
    double power = 0.0;
    if (model_.layout().powered) {
        const model::Energy e = energy(t, x);
        power = e.applied - e.damping;
    }
    for (std::size_t r = 0; r < lambda_.size(); ++r)
        if (lambda_[r] != 0.0) power += lambda_[r] * (gamma_[r] - terms_.chi[r]);
    dx[2 * n_] = power;
    return true;
}

Eigen::Map<const Matrix> Dynamics::equation_columns() const {
    return {columns_.data(), n_, static_cast<Eigen::Index>(equations_.size())};
}

Matrix Dynamics::multiplier_inverse() const {
    const auto m = static_cast<Eigen::Index>(equations_.size());
    if (m > 1 && !redundant_) {  // as it was factorised for the multipliers
        Matrix inverse(m, m);
        std::vector<double> unit(static_cast<std::size_t>(m), 0.0);
        for (Eigen::Index k = 0; k < m; ++k) {
            unit[static_cast<std::size_t>(k)] = 1.0;
            lu_.solve(unit, {inverse.col(k).data(), static_cast<std::size_t>(m)});
            unit[static_cast<std::size_t>(k)] = 0.0;
        }
        return inverse;
    }
    const Matrix K = multiplier_matrix();
    if (m == 1) return K.cwiseInverse();
    return least_squares_columns(K, Matrix::Identity(m, m), redundancy_ * redundancy_);
}

// K λ = r determines λ up to the null space of K, which I − K⁺K projects onto. A row of this projector that is not zero
// belongs to a reaction that is not unique. M⁻¹F times the projector is the change of the accelerations.
Dynamics::Ambiguity Dynamics::ambiguity() const {
    Ambiguity out;
    if (!redundant_) return out;
    constexpr double not_zero = 1e-8;  // entries of the projector, whose rounding errors are far below 1
    const auto m = static_cast<Eigen::Index>(equations_.size());
    const Matrix K = multiplier_matrix();
    const Matrix projector = Matrix::Identity(m, m) - least_squares_columns(K, K, redundancy_ * redundancy_);
    std::vector<char> open(layout_.elements.size(), 0);
    for (Eigen::Index k = 0; k < m; ++k) {
        if (!(projector.row(k).cwiseAbs().maxCoeff() > not_zero)) continue;
        const int row = equations_[static_cast<std::size_t>(k)];
        for (std::size_t i = 0; i < open.size(); ++i) {
            const ElementRows& rows = layout_.elements[i].rows;
            const bool friction = rows.slips > 0 && row >= rows.first_slip && row < rows.first_slip + rows.slips;
            if (rows.normal == row || friction) open[i] = 1;
        }
    }
    for (std::size_t i = 0; i < open.size(); ++i)
        if (open[i] != 0) out.elements.push_back(static_cast<int>(i));
    const Eigen::Map<const Matrix> columns = equation_columns();
    out.motion = (columns * projector).cwiseAbs().maxCoeff() > not_zero * columns.cwiseAbs().maxCoeff();
    return out;
}

/// K = A M⁻¹ F of the last evaluate.
Matrix Dynamics::multiplier_matrix() const {
    const auto m = static_cast<Eigen::Index>(equations_.size());
    const model::Pattern& W = model_.layout().rows;
    Matrix K(m, m);
    for (Eigen::Index i = 0; i < m; ++i)
        for (Eigen::Index k = 0; k < m; ++k)
            K(i, k) = model::row_dot(W, terms_.W, equations_[static_cast<std::size_t>(i)],
                                     {columns_.data() + static_cast<std::size_t>(k) * ix(n_), ix(n_)});
    return K;
}

Matrix Dynamics::solve_multipliers(const Matrix& right) const { return multiplier_inverse() * right; }

Eigen::RowVectorXd Dynamics::penalty_derivative(int element, const Matrix& position, const Matrix& velocity,
                                                const Matrix& coefficient_derivative) const {
    if (mode_.elements[ix(element)].pulls) return Eigen::RowVectorXd::Zero(position.cols());
    return spring_derivative(element, position, velocity, coefficient_derivative);
}

Eigen::RowVectorXd Dynamics::spring_derivative(int element, const Matrix& position, const Matrix& velocity,
                                               const Matrix& coefficient_derivative) const {
    const ElementLayout& e = layout_.elements[ix(element)];
    const model::Contact& c = model_.contacts[ix(e.rows.index)];
    const double k = stiffness_ * coefficient(coefficients_, c.penalty_k);
    const double d = coefficient(coefficients_, c.penalty_d);
    Eigen::RowVectorXd out = -k * position.row(e.rows.normal) - d * velocity.row(e.rows.normal);
    if (c.penalty_k != model::no_coefficient)
        out -= stiffness_ * terms_.positions[ix(e.rows.normal)] * coefficient_derivative.row(c.penalty_k);
    if (c.penalty_d != model::no_coefficient)
        out -= gamma_[ix(e.rows.normal)] * coefficient_derivative.row(c.penalty_d);
    if (!(terms_.positions[ix(e.rows.normal)] < 0.0) && !model_.layout().coefficients_constant)
        out = out.unaryExpr([](double x) { return or_zero(x); });
    return out;
}

Matrix Dynamics::slip_gradient_derivative(const FrictionPart& part, const SlipDirection& direction, const double* gamma,
                                          const Matrix& velocity, const Matrix& coefficient_derivative) const {
    Matrix out = Matrix::Zero(part.size, velocity.cols());
    const model::Friction& f = *friction_of(model_, layout_.elements[ix(part.element)].rows);
    // δ∇σ = ∂∇σ/∂μ δμ + ∇²σ δγ. For a disk σ = μ|γ|: ∇σ = μ γ/|γ|, ∇²σ = μ (I − d dᵀ)/|γ| with d = γ/|γ|.
    double gradient[3];
    slip_gradient(part, direction, gamma, gradient);
    const auto mu_derivative = [&](model::Coefficient c) -> Eigen::RowVectorXd {
        if (c == model::no_coefficient) return Eigen::RowVectorXd::Zero(velocity.cols());
        return coefficient_derivative.row(c);
    };
    double e[3] = {};  // the force has the direction of e
    if (part.size > 1) slip_vector(part, direction, gamma, e);
    const Matrix e_derivative = slip_vector_derivative(part, direction, gamma, velocity);
    const double speed = norm(e, part.size);
    if (part.shape == FrictionPart::Shape::disk) {
        // The bound is μ, or μ·radius for drilling and rolling. `gradient` becomes that of the bound 1.
        Eigen::RowVectorXd bound = mu_derivative(part.axes[0]);
        if (f.law == model::FrictionLaw::rolling && part.row > f.first_row) {
            const model::Coefficient radius = f.radius[part.size == 1 ? 0 : 1];
            bound = coefficient(coefficients_, radius) * bound +
                    coefficient(coefficients_, f.mu[0]) * mu_derivative(radius);
        }
        FrictionPart unit = part;
        unit.mu = 1.0;
        slip_gradient(unit, direction, gamma, gradient);
        if (part.mu == 0.0 && part.size == 1) gradient[0] = gamma[0] < 0.0 ? -1.0 : 1.0;
        for (int i = 0; i < part.size; ++i) out.row(i) = gradient[i] * bound;
        if (part.size == 1 || speed == 0.0) return out;
        for (int i = 0; i < 2; ++i)
            for (int j = 0; j < 2; ++j)
                out.row(i) +=
                    part.mu / speed * ((i == j ? 1.0 : 0.0) - gradient[i] * gradient[j]) * e_derivative.row(j);
        return out;
    }
    if (speed == 0.0) return out;
    if (part.shape == FrictionPart::Shape::ellipse) {
        // σ = ‖A γ‖, ∇σ = A²γ/σ
        const double a[2] = {part.mu, part.mu_second}, *g = e;
        const double sigma = std::hypot(a[0] * g[0], a[1] * g[1]);
        if (sigma == 0.0) return out;
        for (int i = 0; i < 2; ++i) {
            for (int j = 0; j < 2; ++j)
                out.row(i) += ((i == j ? a[i] * a[i] : 0.0) / sigma -
                               a[i] * a[i] * g[i] * a[j] * a[j] * g[j] / (sigma * sigma * sigma)) *
                              e_derivative.row(j);
            for (int j = 0; j < 2; ++j)
                out.row(i) += ((i == j ? 2.0 * a[i] * g[i] / sigma : 0.0) -
                               a[i] * a[i] * g[i] * a[j] * g[j] * g[j] / (sigma * sigma * sigma)) *
                              mu_derivative(f.mu[ix(j)]);
        }
        return out;
    }
    // The patch: σ is homogeneous of degree 1, so that ∇σ does not depend on the length of γ. μ is a factor, and the
    // radius R enters as σ(v, Rω).
    double hessian[9];
    const sets::Contensou body(part.mu, part.radius);
    body.furthest_derivative({e, 3}, hessian);
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) out.row(i) += hessian[3 * i + j] * e_derivative.row(j);
        if (part.mu > 0.0) out.row(i) += gradient[i] / part.mu * mu_derivative(f.mu[0]);
        const double stretched = hessian[3 * i + 2] * e[2] + (i == 2 ? gradient[2] : 0.0);
        if (part.radius > 0.0) out.row(i) += stretched / part.radius * mu_derivative(f.radius[0]);
    }
    return out;
}

double Dynamics::position_scale(int row, const double* q) const {
    return model::row_scale(model_.layout().rows, terms_.W, row, {q, ix(n_)});
}

bool Dynamics::project_along_forces(double t, double* x) {
    if (!evaluate(t, x)) return false;
    const auto m = static_cast<Eigen::Index>(equations_.size());
    if (m == 0) return true;
    Matrix right(m, 1);
    for (Eigen::Index k = 0; k < m; ++k) right(k, 0) = -gamma_[ix(equations_[static_cast<std::size_t>(k)])];
    const Vector change = equation_columns() * solve_multipliers(right);
    for (int i = 0; i < n_; ++i) x[n_ + i] += change(i);
    return change.allFinite();
}

/// The correction of `project` if the rows are clearly independent: δ = −M⁻¹Aᵀ D⁻¹ defect with D = A M⁻¹Aᵀ. False if
/// they are not; then nothing has changed.
bool Dynamics::correct_independent(const std::vector<int>& rows, const std::vector<double>& defect, double* target) {
    // D contains the angle between the rows squared. Least squares decide below an angle of 1e-4 rad.
    constexpr double least_pivot_ratio = 1e-8;
    const auto m = static_cast<int>(rows.size());
    const auto n = ix(n_);
    const model::Pattern& W = model_.layout().rows;
    projection_columns_.assign(ix(m) * n, 0.0);
    const auto column = [&](int k) { return std::span<double>(projection_columns_.data() + ix(k) * n, n); };
    for (int k = 0; k < m; ++k) {
        for (int e = W.start[ix(rows[ix(k)])]; e < W.start[ix(rows[ix(k)]) + 1]; ++e)
            column(k)[ix(W.column[ix(e)])] = terms_.W[ix(e)];
        mass_.solve(column(k));
    }
    projection_lu_.clear(m);
    for (int i = 0; i < m; ++i)
        for (int k = 0; k < m; ++k) projection_lu_.at(i, k) = model::row_dot(W, terms_.W, rows[ix(i)], column(k));
    if (m > 1 && !projection_lu_.factorise()) return false;
    double least = infinity, largest = 0.0;
    for (int i = 0; i < m; ++i) {
        least = std::min(least, std::abs(projection_lu_.at(i, i)));
        largest = std::max(largest, std::abs(projection_lu_.at(i, i)));
    }
    if (m > 1 && !(least > least_pivot_ratio * largest)) return false;
    projection_force_.resize(ix(m));
    if (m == 1)
        projection_force_[0] = defect[0] / projection_lu_.at(0, 0);
    else
        projection_lu_.solve(defect, projection_force_);
    for (std::size_t i = 0; i < n; ++i) {
        double change = 0.0;
        for (int k = 0; k < m; ++k) change += column(k)[i] * projection_force_[ix(k)];
        target[i] -= change;
    }
    return true;
}

bool Dynamics::project(double t, double* x) {
    if (equations_.empty()) return true;
    const std::vector<int>& velocities = equations_;
    std::vector<int>& positions = projected_positions_;
    positions.clear();
    for (const int row : equations_)
        if (model_.layout().has_position(row)) positions.push_back(row);
    const model::Pattern& W = model_.layout().rows;
    const auto n = ix(n_);
    // The shortest way in the metric of M. Minimise ½ δᵀMδ subject to A δ = −defect: δ = −M⁻¹Aᵀ (A M⁻¹Aᵀ)⁺ defect.
    const auto correct = [&](const std::vector<int>& rows, const std::vector<double>& defect, double* target) {
        if (correct_independent(rows, defect, target)) return;
        const auto m = static_cast<Eigen::Index>(rows.size());
        Matrix columns(n_, m), D(m, m);
        for (Eigen::Index k = 0; k < m; ++k) {
            columns.col(k).setZero();
            for (int e = W.start[ix(rows[static_cast<std::size_t>(k)])];
                 e < W.start[ix(rows[static_cast<std::size_t>(k)]) + 1]; ++e)
                columns(W.column[ix(e)], k) = terms_.W[ix(e)];
            mass_.solve({columns.col(k).data(), n});
        }
        for (Eigen::Index i = 0; i < m; ++i)
            for (Eigen::Index k = 0; k < m; ++k)
                D(i, k) = model::row_dot(W, terms_.W, rows[static_cast<std::size_t>(i)], {columns.col(k).data(), n});
        const Vector r = least_squares(D, Eigen::Map<const Vector>(defect.data(), m));
        const Vector change = columns * r;
        for (int i = 0; i < n_; ++i) target[i] -= change(i);
    };
    const auto defect_of = [&](const std::vector<int>& rows, auto value) -> const std::vector<double>& {
        defect_.resize(rows.size());
        for (std::size_t k = 0; k < rows.size(); ++k) defect_[k] = value(rows[k]);
        return defect_;
    };
    evaluate_terms(t, x);
    if (!factorise_mass()) return false;
    for (int round = 0; round < Thresholds::max_projection_rounds && !positions.empty(); ++round) {
        const std::vector<double>& defect = defect_of(positions, [&](int row) { return terms_.positions[ix(row)]; });
        double worst = 0.0;
        for (std::size_t k = 0; k < positions.size(); ++k)
            worst = std::max(worst, std::abs(defect[k]) / position_scale(positions[k], x));
        if (worst <= Thresholds::projected) break;
        if (round == Thresholds::max_projection_rounds - 1 && worst > Thresholds::projection_failure) return false;
        correct(positions, defect, x);
        evaluate_terms(t, x);
        if (!factorise_mass()) return false;
        if (worst < Thresholds::nearly_projected) break;
    }
    for (int round = 0; round < Thresholds::velocity_projection_rounds; ++round) {
        const std::vector<double>& defect = defect_of(velocities, [&](int row) { return gamma_[ix(row)]; });
        if (std::all_of(defect.begin(), defect.end(), [](double d) { return d == 0.0; })) break;
        correct(velocities, defect, x + n_);
        evaluate_terms(t, x);
    }
    return true;
}

}  // namespace saltus::integrate
