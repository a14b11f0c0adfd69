// SPDX-License-Identifier: Apache-2.0
#include "saltus/integrate/moreau/moreau_step.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "saltus/base/index.hpp"
#include "saltus/base/text.hpp"
#include "saltus/integrate/detail/negative_friction.hpp"
#include "saltus/integrate/mode/detail/law_conversion.hpp"
#include "saltus/integrate/moreau/detail/moreau_tolerances.hpp"

// Moreau's scheme ([Moreau], [Jean], [Acary]), from the equality of measures M du = h dt + Gᵀdν + W dΛ.
//
// 1. Evaluation point. Integrate over the step (t, t⁺], Δt = t⁺ − t, with all functions frozen at one point
//        t_m = t + (1−θ)Δt,   q_m = q + (1−θ)Δt u.
//    This gives M(u⁺ − u) = Δt h(t_m, q_m, u) + WΛ, where Λ are all impulses of the step, of forces and of impacts
//    alike, and q⁺ = q_m + θΔt u⁺. For θ = ½ positions follow the mean velocity: Moreau's midpoint rule.
// 2. Free velocity. Without impulses u_f = u + Δt M⁻¹h (`change_` = u_f − u). Contacts with gap(q_m) <= 0 take part.
// 3. Delassus matrix. γ⁺ = Wᵀu⁺ + χ and u⁺ = u_f + M⁻¹WΛ give γ⁺ = D Λ + Wᵀu_f + χ with D = WᵀM⁻¹W.
// 4. Laws on velocities. Contacts that take part obey their laws with impulses Λ and the velocity ξ = γ⁺ + Eγ⁻:
//    0 <= Λ_N ⟂ ξ_N >= 0, −Λ_T in the friction set scaled by Λ_N with ξ_T in its normal cone. E has e_N and e_T for all
//    closed contacts in a step with an impact, and is 0 otherwise (Restitution::impacts). So
//        ξ = D Λ + q,   q = Wᵀu_f + χ + Eγ⁻                                   (free_velocities)
//    Constraints are rows with ξ = 0.
// 5. End of the step. A row that must not move has γ = 0 at q⁺, not at q_m: γ(q⁺) = γ(q_m) + θΔt ζ + O(Δt²), so θΔt ζ
//    is added to q for constraints and held contacts. Otherwise each step would move their gap by ½Δt²ζ.
// 6. Projection. q⁺ is moved onto g(t⁺, q⁺) = 0 by Newton's method in the metric of M (project).
//
// With implicit forces M is replaced by the matrix of moreau_implicit.hpp in steps 1 to 4.

namespace saltus::integrate::moreau {

namespace {

using solvers::Law;
using solvers::LawKind;

constexpr double lost_pivot_ratio = 1e-14;  // a pivot of Cholesky below this part of its diagonal is rounding

}  // namespace

// --- small linear algebra -----------------------------------------------------------------------------------------

void Cholesky::resize(int n) {
    n_ = n;
    A_.resize(ix(n) * ix(n));
}

void Cholesky::clear() { std::fill(A_.begin(), A_.end(), 0.0); }

void Cholesky::factorise() {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    for (int k = 0; k < n_; ++k) {
        const double diagonal = at(k, k);
        for (int j = 0; j < k; ++j) at(k, k) -= at(k, j) * at(k, j);
        at(k, k) = at(k, k) > lost_pivot_ratio * diagonal ? std::sqrt(at(k, k)) : infinity;
        for (int i = k + 1; i < n_; ++i) {
            for (int j = 0; j < k; ++j) at(i, k) -= at(i, j) * at(k, j);
            at(i, k) /= at(k, k);
        }
    }
}

void Cholesky::solve(std::span<double> x) {
    for (int i = 0; i < n_; ++i) {
        for (int j = 0; j < i; ++j) x[ix(i)] -= at(i, j) * x[ix(j)];
        x[ix(i)] /= at(i, i);
    }
    for (int i = n_ - 1; i >= 0; --i) {
        for (int j = i + 1; j < n_; ++j) x[ix(i)] -= at(j, i) * x[ix(j)];
        x[ix(i)] /= at(i, i);
    }
}

// --- the step -----------------------------------------------------------------------------------------------------

Stepper::Stepper(const model::Mechanics& model, const Moreau& method)
    : model_(model),
      layout_(model.layout()),
      n_(ix(model.size())),
      theta_(method.theta),
      tolerance_(method.contact_tolerance),
      restitution_(method.restitution),
      workspace_(model),
      terms_(layout_),
      mass_(layout_.mass),
      rows_(layout_, mass_),
      coefficients_(ix(layout_.coefficients)),
      q_(n_),
      change_(n_),
      mean_(n_),
      positions_(ix(layout_.positions())),
      always_has_rows_(!model.constraints.empty() || !model.sliders.empty() || !model.clutches.empty()),
      has_conditions_(std::any_of(model.contacts.begin(), model.contacts.end(),
                                  [](const model::Contact& c) { return c.condition != model::no_coefficient; })) {
    const auto add = [&](const model::Friction& friction, int contact, bool impulsive) {
        if (friction.mu_static != model::no_coefficient) static_frictions_.push_back({&friction, contact, impulsive});
    };
    for (const model::Slider& s : model.sliders) add(s.friction, -1, false);
    for (const model::Constraint& c : model.constraints) add(c.friction, -1, true);
    for (std::size_t i = 0; i < model.contacts.size(); ++i) add(model.contacts[i].friction, static_cast<int>(i), true);
}

void Stepper::coefficients_at(double t, std::span<const double> q, std::span<const double> u,
                              std::vector<double>& out) {
    out.resize(coefficients_.size());
    model_.system->coefficients(model::at(model_, t, q, u), workspace_.scratch(), out);
}

// Static friction. An element that stuck at the end of the step before is solved with μ_s, the others with μ. An
// element whose slip would turn round in the step has been at rest inside it: the step is made again with μ_s for it,
// so that it stays at rest if that force suffices. In the step in which an element breaks loose it slides with μ_s
// instead of μ, an error of the order Δt. Impulses of friction at an impact are bounded by μ, as in the event-driven
// method: in a step with an impact contacts and constraints have μ, whatever they did before.

/// Chooses μ or μ_s for each element anew, after a step from `from` to `to` has been made: elements that slid with μ
/// and turned round in the step hold with μ_s, and after an impact impulsive elements have μ. True if something
/// changes.
bool Stepper::changes_static_friction(const Point& from, const Point& to) {
    const bool impact = std::any_of(to.touch.begin(), to.touch.end(),
                                    [](Touch t) { return t == Touch::struck || t == Touch::stopped; });
    bool any = false;
    for (std::size_t k = 0; k < static_frictions_.size(); ++k) {
        const StaticFriction& e = static_frictions_[k];
        if (impact && e.impulsive) {
            any = any || holds_static_[k] != 0;
            holds_static_[k] = 0;
            continue;
        }
        if (holds_static_[k] != 0 || (e.contact >= 0 && to.touch[ix(e.contact)] == Touch::open)) continue;
        double along = 0.0;
        for (int r = e.friction->first_row; r < e.friction->first_row + e.friction->dimension; ++r)
            along += gamma_of(r, from.u) * gamma_of(r, to.u);
        if (!(along < 0.0)) continue;
        holds_static_[k] = 1;
        any = true;
    }
    return any;
}

/// Notes which elements with static friction stick at the end of a step: γ_T⁺ = 0 in the rows of the step.
void Stepper::note_stick(Point& to) const {
    to.stuck.assign(static_frictions_.size(), 0);
    for (std::size_t k = 0; k < static_frictions_.size(); ++k) {
        const StaticFriction& e = static_frictions_[k];
        if (e.contact >= 0 && to.touch[ix(e.contact)] == Touch::open) continue;
        bool sticks = true;
        for (int r = e.friction->first_row; r < e.friction->first_row + e.friction->dimension; ++r)
            sticks = sticks && std::abs(gamma_of(r, to.u)) <= stuck_slip_ratio * row_size(r, to.u);
        to.stuck[k] = sticks ? 1 : 0;
    }
}

/// The coefficient of friction of an element in this step.
double Stepper::friction_mu(const model::Friction& f, double mu) const {
    for (std::size_t k = 0; k < static_frictions_.size(); ++k)
        if (static_frictions_[k].friction == &f && holds_static_[k] != 0)
            return coefficient(coefficients_, f.mu_static);
    return mu;
}

void Stepper::begin(Point& point) {
    point.Lambda.assign(ix(layout_.row_count()), 0.0);
    point.touch.assign(model_.contacts.size(), Touch::open);
    point.gamma.assign(model_.contacts.size(), 0.0);
    evaluate(point.t, point.q, point.u);
    find_independent();
    if (has_conditions_) {
        std::copy(point.q.begin(), point.q.end(), q_.begin());
        update_coefficients(point.t, point.u);
    }
    for (std::size_t i = 0; i < model_.contacts.size(); ++i) {
        const int row = model_.contacts[i].row;
        if (!exists(i) || !closed(row, point.q)) continue;
        const double gamma = gamma_of(row, point.u);
        if (!(gamma >= -velocity_rounding_ratio * row_size(row, point.u))) continue;
        point.touch[i] = Touch::closed;
        point.gamma[i] = gamma;
    }
    note_stick(point);
}

bool Stepper::step(const Point& from, double t, Point& to) {
    if (static_frictions_.empty()) return try_step(from, t, to);
    holds_static_ = from.stuck;
    if (!try_step(from, t, to) || (changes_static_friction(from, to) && !try_step(from, t, to))) return false;
    note_stick(to);
    return true;
}

bool Stepper::try_step(const Point& from, double t, Point& to) {
    const double h = t - from.t;
    if (!(h > 0.0)) return fail("the step is smaller than the rounding of the time", t);
    const double t_m = from.t + (1.0 - theta_) * h;
    for (std::size_t i = 0; i < n_; ++i) q_[i] = from.q[i] + (1.0 - theta_) * h * from.u[i];
    evaluate(t_m, q_, from.u);
    for (std::size_t i = 0; i < n_; ++i) change_[i] = h * terms_.h[i];
    if (implicit_) {
        if (!implicit_->factorise(terms_, t_m, q_, from.u, h, theta_))
            return fail("the matrix of the implicit step is singular", t_m);
        implicit_->add_stiffness((2.0 * theta_ - 1.0) * h * h, from.u, change_);
    } else if (!factorise_mass()) {
        return fail("the mass matrix is not positive definite", t_m);
    }
    invert_mass(change_);

    to.t = t;
    to.h = h;
    to.contact_work = to.energy_input = 0.0;
    to.any_struck = false;
    to.violation = {};
    to.deepest = -1;
    to.smooth_work = 0.0;
    to.works = {};
    std::fill(to.Lambda.begin(), to.Lambda.end(), 0.0);
    std::fill(to.gamma.begin(), to.gamma.end(), 0.0);
    if (has_conditions_) update_coefficients(t_m, from.u);
    const bool touches = find_contacts(from, to);
    if (appeared_ >= 0)
        return fail("contact '" + model_.contacts[ix(appeared_)].name + "' appears while it is penetrated: gN = " +
                        number_text(terms_.positions[ix(model_.contacts[ix(appeared_)].row)]) +
                        "; change its `if` so that it appears while gN >= 0",
                    t_m);
    if (touches || always_has_rows_) {
        if (!solve_impulses(from, t_m, to)) return false;
    } else {
        for (std::size_t i = 0; i < n_; ++i) to.u[i] = from.u[i] + change_[i];
    }
    for (std::size_t i = 0; i < n_; ++i) to.q[i] = q_[i] + theta_ * h * to.u[i];
    if (layout_.constraints > 0 && !project(to)) return try_step(from, t, to);  // with other independent constraints
    for (std::size_t i = 0; i < n_; ++i)
        if (!std::isfinite(to.q[i]) || !std::isfinite(to.u[i]))
            return fail("the motion is not finite; the forces may be too stiff for the step", to.t);

    if (wants_works && layout_.powered) split_forces(from, t_m, to);
    if (!layout_.powered) return true;
    for (std::size_t i = 0; i < n_; ++i) mean_[i] = 0.5 * (from.u[i] + to.u[i]);
    const model::Energy energy = energy_at(t_m, q_, mean_);
    to.energy_input += h * (energy.applied - energy.damping);
    return true;
}

bool Stepper::become_implicit() {
    implicit_.emplace(model_);
    if (!implicit_->available()) implicit_.reset();
    return implicit();
}

bool Stepper::stiff(const Point& at, double h, int rounds) {
    if (!stiffness_) stiffness_.emplace(model_);
    evaluate(at.t, at.q, at.u);
    if (!factorise_mass()) return false;
    return stiffness_->beyond(at.t, at.q, at.u, h, rounds, [&](std::span<double> x) { mass_.solve(x); });
}

/// Factorises M of the last `evaluate`; a constant M only once.
bool Stepper::factorise_mass() {
    if (factorised_ && layout_.mass_constant) return true;
    factorised_ = mass_.factorise(terms_.M);
    inverse_mass_.clear();
    if (factorised_ && layout_.mass_constant && mass_.blocks().size() == n_) {
        inverse_mass_.assign(n_, 1.0);
        mass_.solve(inverse_mass_);
    }
    return factorised_;
}

void Stepper::invert_mass(std::span<double> x) {
    if (implicit_) return implicit_->solve(x);
    if (inverse_mass_.empty()) return mass_.solve(x);
    for (std::size_t i = 0; i < n_; ++i) x[i] *= inverse_mass_[i];
}

model::Energy Stepper::energy_at(double t, std::span<const double> q, std::span<const double> u) {
    return model_.system->energy(model::at(model_, t, q, u), workspace_.scratch());
}

std::span<const double> Stepper::positions_at(double t, std::span<const double> q, std::span<const double> u) {
    model_.system->positions(model::at(model_, t, q, u), workspace_.scratch(), positions_);
    if (!has_conditions_) return positions_;
    // A contact that does not exist cannot be penetrated.
    std::vector<double> values(coefficients_.size());
    model_.system->coefficients(model::at(model_, t, q, u), workspace_.scratch(), values);
    for (const model::Contact& c : model_.contacts)
        if (c.condition != model::no_coefficient && !(values[ix(c.condition)] > 0.0)) positions_[ix(c.row)] = 0.0;
    return positions_;
}

double Stepper::total_energy(double t, std::span<const double> q, std::span<const double> u) {
    const model::Energy e = energy_at(t, q, u);
    return e.kinetic + e.potential;
}

std::string Stepper::law_text(std::size_t element) const {
    if (element >= model_.contacts.size()) return "bilateral";
    const model::Contact& c = model_.contacts[element];
    std::string text(impact::to_string(impact_law(c.impact)));
    text += ", eN = " + number_text(coefficient(coefficients_, c.e_n));
    if (c.friction.dimension > 0) text += ", eT = " + number_text(coefficient(coefficients_, c.e_t));
    return text;
}

void Stepper::evaluate(double t, std::span<const double> q, std::span<const double> u) {
    model::evaluate(model_, workspace_, t, q, u, terms_);
    ++statistics.evaluations;
}

double Stepper::row_size(int row, std::span<const double> x) const {
    return model::row_scale(layout_.rows, terms_.W, row, x);
}

bool Stepper::fail(const std::string& what, double t) {
    reason = what + " at t = " + number_text(t);
    return false;
}

/// Finds the constraints that the others do not imply, after `evaluate` at a state that fulfils all constraints. At
/// states between the steps redundant rows are nearly, but not exactly, dependent; a problem with all of them would
/// have no solution.
void Stepper::find_independent() {
    const int m = layout_.constraints;
    Matrix rows = Matrix::Zero(m, static_cast<Eigen::Index>(n_));
    for (int r = 0; r < m; ++r)
        for (int e = layout_.rows.start[ix(r)]; e < layout_.rows.start[ix(r) + 1]; ++e)
            rows(r, layout_.rows.column[ix(e)]) = terms_.W[ix(e)];
    const RowRank rank = row_rank(rows, dependent_row_ratio);
    independent_ = rank.independent;
    projection_.resize(static_cast<int>(independent_.size()));
    place_.assign(ix(m), -1);
    for (std::size_t k = 0; k < independent_.size(); ++k) place_[ix(independent_[k])] = static_cast<int>(k);
    for (const RowRank::Dependent& d : rank.dependent)
        if (std::find(redundant.begin(), redundant.end(), d.row) == redundant.end()) redundant.push_back(d.row);
    rows_h_ = 0.0;
}

// --- contacts and rows --------------------------------------------------------------------------------------------

/// Whether a contact is closed within rounding, see closed_gap_ratio.
bool Stepper::closed(int row, std::span<const double> q) const {
    const double gap = terms_.positions[ix(row)];
    return gap <= 0.0 || (gap < largest_closed_gap && gap <= closed_gap_ratio * row_size(row, q));
}

/// Whether a contact exists at the last evaluation point.
bool Stepper::exists(std::size_t contact) const {
    const model::Coefficient c = model_.contacts[contact].condition;
    return c == model::no_coefficient || coefficients_[ix(c)] > 0.0;
}

/// Whether a contact with a condition was open and is closed now, deeper than a gap can close within a step. Then it
/// has just appeared, and the bodies penetrated each other before. A gap closes by at most Δt|γ| on the way to the
/// evaluation point, up to a change of γ within the step, for which there is a factor 2.
bool Stepper::appears_penetrated(std::size_t contact, const Point& from, const Point& to) const {
    const model::Contact& c = model_.contacts[contact];
    if (c.condition == model::no_coefficient || from.touch[contact] != Touch::open) return false;
    constexpr double steps_of_way = 2.0;
    const double way = steps_of_way * to.h * std::abs(gamma_of(c.row, from.u));
    return terms_.positions[ix(c.row)] < -(way + closed_gap_ratio * row_size(c.row, q_));
}

/// Contacts with gap(q_m) <= 0 are closed. A contact that held in the step before also stays closed for a small
/// positive gap, see hold_ratio. True if any contact is closed.
bool Stepper::find_contacts(const Point& from, Point& to) {
    bool any = false;
    appeared_ = -1;
    for (std::size_t i = 0; i < model_.contacts.size(); ++i) {
        const int row = model_.contacts[i].row;
        to.touch[i] = Touch::open;
        if (!exists(i)) continue;
        if (appears_penetrated(i, from, to)) appeared_ = static_cast<int>(i);
        const double gap = terms_.positions[ix(row)];
        bool now = closed(row, q_);
        if (!now && (from.touch[i] == Touch::closed || from.touch[i] == Touch::stopped))
            now = gap <= -hold_ratio * to.h * model::row_dot(layout_.rows, terms_.W, row, change_);
        to.touch[i] = now ? Touch::closed : Touch::open;
        any = any || now;
        if (-gap > to.violation.gap) {
            to.violation.gap = -gap;
            to.deepest = static_cast<int>(i);
        }
    }
    return any;
}

/// Adds the friction of a constraint or slider as a block. Orthotropic friction with one zero coefficient acts along
/// one axis alone: the block then has the row of that axis.
void Stepper::add_friction(const model::Friction& f, Law law) {
    if (f.dimension == 0) return;
    block_.clear();
    for (int k = 0; k < f.dimension; ++k) block_.push_back(f.first_row + k);
    if (law.mu_second >= 0.0 && (law.mu == 0.0 || law.mu_second == 0.0)) {
        block_.erase(block_.begin() + (law.mu == 0.0 ? 0 : 1));
        law.mu = std::max(law.mu, law.mu_second);
        law.mu_second = -1.0;
        law.bound *= law.mu;
    }
    rows_.add(block_, law);
}

/// Whether the rows and laws of the step before are also those of this step.
bool Stepper::rows_are_current(const Point& to) const {
    if (!layout_.coefficients_constant || (rows_h_ != to.h && !model_.sliders.empty())) return false;
    if (contact_in_rows_.size() != to.touch.size() || rows_h_ == 0.0 || rows_static_ != holds_static_) return false;
    for (std::size_t i = 0; i < to.touch.size(); ++i)
        if ((to.touch[i] != Touch::open) != (contact_in_rows_[i] != 0)) return false;
    return true;
}

/// The blocks of the step's problem: constraints, their friction, sliders, clutches, closed contacts. Laws are those of
/// forces with impulses in their place: the bound of a slider is Δt μ F_N.
void Stepper::collect_rows(const Point& to, double h) {
    if (rows_are_current(to)) return;
    contact_in_rows_.resize(to.touch.size());
    rows_h_ = h;
    rows_static_ = holds_static_;
    rows_.clear();
    if (!independent_.empty() && independent_.size() <= max_constraints_in_one_block)
        rows_.add(independent_, plain_law(LawKind::bilateral));
    else
        for (const int row : independent_) rows_.add_row(row, plain_law(LawKind::bilateral));
    for (const model::Constraint& c : model_.constraints) {
        Law law = plain_law(LawKind::scaled_slider);
        set_sliding(law, c.friction, coefficients_);
        law.mu = friction_mu(c.friction, law.mu);
        law.row = place_[ix(c.row)];
        if (law.row >= 0) add_friction(c.friction, law);
    }
    for (const model::Slider& s : model_.sliders) {
        Law law = plain_law(LawKind::slider);
        set_sliding(law, s.friction, coefficients_);
        law.mu = friction_mu(s.friction, law.mu);
        law.bound = h * std::max(0.0, coefficient(coefficients_, s.normal_force));
        if (law.mu_second < 0.0) law.bound *= law.mu;
        add_friction(s.friction, law);
    }
    for (const model::Clutch& c : model_.clutches) rows_.add_row(c.row, plain_law(LawKind::unilateral));
    first_contact_ = rows_.rows();
    for (std::size_t i = 0; i < model_.contacts.size(); ++i) {
        contact_in_rows_[i] = to.touch[i] != Touch::open;
        if (to.touch[i] == Touch::open) continue;
        const model::Contact& c = model_.contacts[i];
        block_.assign(1, c.row);
        for (int k = 0; k < c.friction.dimension; ++k) block_.push_back(c.friction.first_row + k);
        Law law = contact_law(c, coefficients_);
        law.mu = friction_mu(c.friction, law.mu);
        rows_.add(block_, law);
    }
    laws_fit_few_rows_ = solvers::FewRows::fits(rows_.problem.laws, rows_.first_rows());
}

/// Columns M⁻¹W, then D = WᵀM⁻¹W. D is symmetric unless forces are implicit.
void Stepper::assemble() {
    if (implicit_)
        rows_.assemble_columns(terms_, false, [&](std::span<double> x, std::span<const int>) { implicit_->solve(x); });
    else if (inverse_mass_.empty())
        rows_.assemble_columns(terms_, true,
                               [&](std::span<double> x, std::span<const int> bodies) { mass_.solve(x, bodies); });
    else
        rows_.assemble_columns(terms_, true, [&](std::span<double> x, std::span<const int> bodies) {
            for (const int b : bodies) x[ix(mass_.blocks()[ix(b)][0])] *= inverse_mass_[ix(mass_.blocks()[ix(b)][0])];
        });
    use_few_rows_ = laws_fit_few_rows_;
    if (use_few_rows_) {
        rows_.assemble_dense(terms_, dense_);
        rows_.problem.q.resize(ix(rows_.rows()));
    } else {
        rows_.assemble_matrix(terms_, !implicit_);
    }
}

void Stepper::update_coefficients(double t, std::span<const double> u) {
    if (coefficients_.empty() || (coefficients_known_ && layout_.coefficients_constant)) return;
    model_.system->coefficients(model::at(model_, t, q_, u), workspace_.scratch(), coefficients_);
    coefficients_known_ = true;
}

/// e_N, or 1 − c·speed for contacts with a coefficient c ([Tornambe] (45)), but not less than 0.
double Stepper::restitution(const model::Contact& c, double speed) const {
    if (c.c == model::no_coefficient) return coefficient(coefficients_, c.e_n);
    return std::max(0.0, 1.0 - coefficients_[ix(c.c)] * speed);
}

// --- impulses -----------------------------------------------------------------------------------------------------

/// Whether a closed contact is struck, so that its restitution acts. `gamma` is γ_N⁻ at the evaluation point, `change`
/// its change by smooth forces in the step. A contact that was open is struck if it approaches faster than smooth
/// motion explains: γ_N⁻ < −limit, see resting_speed_ratio. A contact that was closed left the step before with γ_N of
/// its row there. On a smooth obstacle its row turns by O(Δt), and γ_N⁻ differs from that value by less than the
/// limit. If the row jumps at a corner of the gap (or χ_N jumps with the velocity of an obstacle) then so does γ_N, and
/// if the contact approaches behind the jump then this is an impact as well. An approach that the impulses of the step
/// before left is none: in a chain of bodies Newton's law may leave one in a contact that separated before.
bool Stepper::strikes(std::size_t contact, double gamma, double change, const Point& from, const Point& to) const {
    const int row = model_.contacts[contact].row;
    const double smooth = std::abs(change) + to.h * std::abs(terms_.zeta[ix(row)]);
    const double least = -resting_speed_ratio * smooth - velocity_rounding_ratio * row_size(row, from.u);
    return gamma < least && (from.touch[contact] == Touch::open || gamma - from.gamma[contact] < least);
}

/// The vector q of ξ = D Λ + q: Wᵀu_f + χ, plus e γ⁻ for rows with restitution, plus θΔt ζ for rows that hold (points 3
/// to 5 of the derivation above). The last term makes smooth constrained motion of second order, and keeps contacts on
/// curved or accelerated obstacles from opening and closing in turn. Decides which contacts are struck.
void Stepper::free_velocities(const Point& from, Point& to) {
    const std::span<const int> rows = rows_.row_numbers();
    const double end = theta_ * to.h;
    gamma_.resize(rows.size());
    std::vector<double>& q = rows_.problem.q;
    for (std::size_t k = 0; k < rows.size(); ++k) {
        gamma_[k] = gamma_of(rows[k], from.u);
        q[k] = gamma_[k] + model::row_dot(layout_.rows, terms_.W, rows[k], change_);
    }
    for (std::size_t k = 0; k < independent_.size(); ++k) q[k] += end * terms_.zeta[ix(independent_[k])];
    for_each_closed(to, [&](std::size_t i, std::size_t k) {
        const model::Contact& c = model_.contacts[i];
        if (strikes(i, gamma_[k], q[k] - gamma_[k], from, to)) {
            to.touch[i] = restitution(c, -gamma_[k]) > 0.0 ? Touch::struck : Touch::stopped;
            to.any_struck = true;
        } else {
            q[k] += end * terms_.zeta[ix(c.row)];
        }
    });
    // An impact loads all closed contacts, so their restitution acts in each of them, also in those that move apart.
    // Newton's law with one e for all contacts creates no energy; with e = 0 for some of them it does.
    if (to.any_struck || restitution_ == Restitution::literal)
        for_each_closed(to, [&](std::size_t i, std::size_t k) {
            const model::Contact& c = model_.contacts[i];
            q[k] += restitution(c, std::max(0.0, -gamma_[k])) * gamma_[k];
            const double e_t = to.any_struck ? coefficient(coefficients_, c.e_t) : 0.0;
            for (std::size_t j = k + 1; j <= k + ix(c.friction.dimension); ++j) q[j] += e_t * gamma_[j];
        });
}

/// Whether all struck contacts obey Newton's law, which is part of the step's problem. True without impacts.
bool Stepper::all_by_newton(const Point& to) const {
    if (!to.any_struck) return true;
    for (std::size_t i = 0; i < model_.contacts.size(); ++i)
        if ((to.touch[i] == Touch::struck || to.touch[i] == Touch::stopped) &&
            model_.contacts[i].impact != model::ImpactLaw::newton)
            return false;
    return true;
}

/// Solves for the impulses and applies them. u⁺ = u + Δt M⁻¹h + M⁻¹WΛ. Impacts of other laws than Newton's come first.
bool Stepper::solve_impulses(const Point& from, double t_m, Point& to) {
    update_coefficients(t_m, from.u);
    if (!layout_.coefficients_constant) {
        double forces = 0.0;
        for (const double h : terms_.h) forces = std::max(forces, std::abs(h));
        const std::string why =
            negative_friction(model_, coefficients_, forces, [&](std::size_t i) { return to.touch[i] != Touch::open; });
        if (!why.empty()) return fail(why, t_m);
    }
    collect_rows(to, to.h);
    assemble();
    free_velocities(from, to);
    std::copy(from.u.begin(), from.u.end(), to.u.begin());
    const bool newton = all_by_newton(to);
    if (!newton && !collide(from, t_m, to)) return false;
    if (!solve_contacts(from, t_m, to)) return false;
    for (std::size_t i = 0; i < n_; ++i) to.u[i] += change_[i];
    const std::span<const double> r = use_few_rows_ ? few_rows_.r() : std::span<const double>(solution_.r);
    apply(r, to);
    if (to.any_struck && newton) {
        audit(r, to);
        for (std::size_t k = 0; k < r.size(); ++k)
            to.smooth_work += 0.5 * model::row_dot(layout_.rows, terms_.W, rows_.row_numbers()[k], change_) * r[k];
    }
    // M(u⁺ − u) = Δt h + WΛ changes T by ½(u + u⁺)·(Δt h + WΛ). The part of row k is (½(γ_k + γ_k⁺) − χ_k) Λ_k.
    const std::span<const int> rows = rows_.row_numbers();
    for (std::size_t k = 0; k < rows.size(); ++k) {
        const double before = newton ? gamma_[k] : gamma_of(rows[k], from.u);
        to.energy_input += (0.5 * (before + gamma_plus_[k]) - terms_.chi[ix(rows[k])]) * to.Lambda[ix(rows[k])];
    }
    if (wants_works) split_impulses(from, newton, to);
    const std::span<const double> v = use_few_rows_ ? few_rows_.v() : std::span<const double>(solution_.v);
    for_each_closed(to, [&](std::size_t i, std::size_t k) {
        const int row = model_.contacts[i].row;
        to.gamma[i] = gamma_plus_[k];
        if (to.touch[i] == Touch::closed && to.Lambda[ix(row)] == 0.0 &&
            v[k] > velocity_rounding_ratio * row_size(row, to.u))
            to.touch[i] = Touch::leaving;
    });
    return true;
}

/// Applies impulses r to the velocity `to.u` and adds their contact work Σ ½(γ⁻ + γ⁺)Λ ([Glocker] 7). `gamma_` are the
/// relative velocities before them.
void Stepper::apply(std::span<const double> r, Point& to) {
    const std::span<const int> rows = rows_.row_numbers();
    rows_.velocity_change(r, mean_);
    for (std::size_t i = 0; i < n_; ++i) to.u[i] += mean_[i];
    gamma_plus_.resize(rows.size());
    for (std::size_t k = 0; k < rows.size(); ++k) {
        to.Lambda[ix(rows[k])] += r[k];
        gamma_plus_[k] = gamma_of(rows[k], to.u);
        to.contact_work += 0.5 * (gamma_[k] + gamma_plus_[k]) * r[k];
    }
}

/// The energy audit of the impulses of the last `apply`.
void Stepper::audit(std::span<const double> r, Point& to) {
    const std::span<const int> rows = rows_.row_numbers();
    chi_.clear();
    for (const int row : rows) chi_.push_back(terms_.chi[ix(row)]);
    to.impact_work = impact::audit({gamma_, gamma_plus_, chi_, r, rows_.first_rows(), rows_.problem.laws});
    if (to.impact_work.block >= 0) to.impact_work.block = rows[ix(rows_.first_row(to.impact_work.block))];
}

/// An impact by Poisson's law or the energy law is solved before the step's problem, with all closed contacts and
/// without smooth forces, as in event-driven motion. The step then continues from the velocity after it, in which
/// contacts hold or leave. False if the impact has no outcome.
bool Stepper::collide(const Point& from, double t_m, Point& to) {
    if (use_few_rows_) {
        rows_.assemble_matrix(terms_, !implicit_);  // clears q, which is computed again below
        use_few_rows_ = false;
    }
    const std::span<const int> rows = rows_.row_numbers();
    collision_.gamma_minus = gamma_;
    collision_.e.assign(rows.size(), 0.0);
    collision_.law.assign(ix(rows_.blocks()), impact::ImpactLaw::newton);
    collision_.chi.clear();
    for (const int row : rows) collision_.chi.push_back(terms_.chi[ix(row)]);
    collision_.kinetic_energy = energy_at(t_m, q_, from.u).kinetic;
    auto b = static_cast<std::size_t>(std::find(rows_.first_rows().begin(), rows_.first_rows().end(), first_contact_) -
                                      rows_.first_rows().begin());
    for_each_closed(to, [&](std::size_t i, std::size_t k) {
        const model::Contact& c = model_.contacts[i];
        collision_.law[b++] = impact_law(c.impact);
        // Poisson's law returns e times the impulse of compression, also of a contact that was at rest before. Newton's
        // law needs e in all closed contacts, see free_velocities.
        if (to.touch[i] == Touch::struck || c.impact != model::ImpactLaw::energy)
            collision_.e[k] = restitution(c, std::max(0.0, -gamma_[k]));
        for (std::size_t j = k + 1; j <= k + ix(c.friction.dimension); ++j)
            collision_.e[j] = coefficient(coefficients_, c.e_t);
    });
    impact::collide(rows_.problem, collision_, tolerance_, solver_, outcome_);
    statistics.contact_solves += outcome_.solves;
    statistics.worst_contact_residual = std::max(statistics.worst_contact_residual, outcome_.residual);
    if (!outcome_.note.empty() && std::find(notes.begin(), notes.end(), outcome_.note) == notes.end())
        notes.push_back(outcome_.note);
    if (!solvers::usable(outcome_.status)) return fail("the impact has no outcome: " + outcome_.note, t_m);
    apply(outcome_.Lambda, to);
    audit(outcome_.Lambda, to);
    const double end = theta_ * to.h;
    std::vector<double>& q = rows_.problem.q;
    for (std::size_t k = 0; k < rows.size(); ++k) {
        gamma_[k] = gamma_of(rows[k], to.u);
        q[k] = gamma_[k] + model::row_dot(layout_.rows, terms_.W, rows[k], change_);
    }
    for (std::size_t k = 0; k < independent_.size(); ++k) q[k] += end * terms_.zeta[ix(independent_[k])];
    for_each_closed(to, [&](std::size_t i, std::size_t k) { q[k] += end * terms_.zeta[ix(model_.contacts[i].row)]; });
    return true;
}

/// Solves ξ = D Λ + q with all laws: first as a small problem, then by the general solvers. The impulses of the step
/// before, scaled by the lengths of the steps, are the first guess. False if there is no usable solution.
bool Stepper::solve_contacts(const Point& from, double t_m, const Point& to) {
    guess_.clear();
    // Impulses of an impact are no guess for the next step.
    if (from.h > 0.0 && !from.any_struck && !to.any_struck)
        for (const int row : rows_.row_numbers()) guess_.push_back(to.h / from.h * from.Lambda[ix(row)]);
    ++statistics.contact_solves;
    if (use_few_rows_) {
        if (few_rows_.solve(rows_.problem.laws, rows_.first_rows(), dense_, rows_.problem.q, guess_, tolerance_)) {
            statistics.worst_contact_residual = std::max(statistics.worst_contact_residual, few_rows_.residual());
            return true;
        }
        use_few_rows_ = false;
        correction_ = rows_.problem.q;  // assemble_matrix clears q
        rows_.assemble_matrix(terms_, !implicit_);
        rows_.problem.q.swap(correction_);
    }
    // A single block is solved exactly; a guess would only add its error.
    if (rows_.blocks() == 1) guess_.clear();
    solvers::solve(rows_.problem, solvers::Automatic{tolerance_}, solver_, solution_, guess_);
    return accept_solution(t_m);
}

/// Accepts a solution, or one with a residual up to unusable_residual, which is counted. Otherwise the step fails.
bool Stepper::accept_solution(double t_m) {
    if (std::isfinite(solution_.residual))
        statistics.worst_contact_residual = std::max(statistics.worst_contact_residual, solution_.residual);
    if (solvers::usable(solution_.status)) return true;
    if (solution_.status == solvers::Status::infeasible || !(solution_.residual <= unusable_residual))
        return fail("the contact problem is not solved (" + std::string(solvers::to_string(solution_.status)) +
                        ", residual " + number_text(solution_.residual) + ")",
                    t_m);
    if (unsolved++ == 0) first_unsolved = t_m;
    return true;
}

// --- constraints --------------------------------------------------------------------------------------------------

/// Whether |g| of a constraint is small enough, see constraint_tolerance. A velocity constraint has no position.
bool Stepper::fulfilled(int row, const Point& to) const {
    if (layout_.velocity_constraint(row)) return true;
    const double size = row_size(row, to.q), g = std::abs(positions_[ix(row)]);
    return g <= std::max(std::min(constraint_tolerance, constraint_ratio * size), constraint_rounding * size);
}

/// Newton's method for g(t⁺, q⁺) = 0 with the smallest change of q in the metric of M: minimise ½Δq·MΔq subject to
/// g + GΔq = 0, so Δq = −M⁻¹Gᵀ(GM⁻¹Gᵀ)⁻¹ g. G is that of the step, at q_m, which is off by O(Δt); so each round reduces
/// g by such a factor. False if a constraint that counted as redundant is violated and more constraints turned out to
/// be independent: then the step must be made again. Velocity constraints have no position that tells; if they count
/// as redundant then the rank is found anew after each step. The correction of q does no work on them: W·Δq = 0.
bool Stepper::project(Point& to) {
    ++statistics.projections;
    const auto wrong = [&](int row) { return !fulfilled(row, to); };
    for (int round = 0; round <= max_projection_rounds; ++round) {
        model_.system->positions(model::at(model_, to.t, to.q, to.u), workspace_.scratch(), positions_);
        if (std::none_of(independent_.begin(), independent_.end(), wrong)) break;
        if (round == max_projection_rounds) {
            constraints_drift = true;
            break;
        }
        if (round == 0) factorise_projection();
        correction_.assign(ix(rows_.rows()), 0.0);
        for (std::size_t k = 0; k < independent_.size(); ++k)
            if (layout_.has_position(independent_[k])) correction_[k] = positions_[ix(independent_[k])];
        projection_.solve(correction_);
        rows_.velocity_change(correction_, mean_);
        for (std::size_t i = 0; i < n_; ++i) to.q[i] -= mean_[i];
    }
    bool implied = true;
    for (int r = 0; r < layout_.constraints; ++r) {
        if (layout_.has_position(r))
            to.violation.constraint = std::max(to.violation.constraint, std::abs(positions_[ix(r)]));
        implied = implied && fulfilled(r, to) && !(layout_.velocity_constraint(r) && place_[ix(r)] < 0);
    }
    if (implied || ix(layout_.constraints) == independent_.size() || !std::isfinite(to.violation.constraint))
        return true;
    const std::size_t before = independent_.size();
    evaluate(to.t, to.q, to.u);
    find_independent();
    return independent_.size() <= before;
}

/// D of the independent constraints, which are the first rows of the problem.
void Stepper::factorise_projection() {
    const int m = static_cast<int>(independent_.size());
    projection_.clear();
    if (use_few_rows_) {
        for (int i = 0; i < m; ++i)
            for (int j = 0; j < m; ++j) projection_.at(i, j) = dense_[ix(i) * ix(rows_.rows()) + ix(j)];
        return projection_.factorise();
    }
    const solvers::BlockMatrix& D = rows_.problem.W;
    for (int a = 0; a < D.blocks() && D.start[ix(a)] < m; ++a)
        for (int e = D.row_start[ix(a)]; e < D.row_start[ix(a) + 1]; ++e) {
            const int b = D.block_column[ix(e)];
            if (D.start[ix(b)] >= m) continue;
            const double* value = D.values.data() + D.offset[ix(e)];
            for (int i = 0; i < D.block_size(a); ++i)
                for (int j = 0; j < D.block_size(b); ++j)
                    projection_.at(D.start[ix(a)] + i, D.start[ix(b)] + j) = *value++;
        }
    projection_.factorise();
}

}  // namespace saltus::integrate::moreau
