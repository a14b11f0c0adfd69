// SPDX-License-Identifier: Apache-2.0
#include "saltus/integrate/mode/detail/mode_change.hpp"

#include <algorithm>
#include <cmath>

#include "saltus/base/index.hpp"
#include "saltus/base/text.hpp"
#include "saltus/impact/consistency/frictional_consistency.hpp"
#include "saltus/impact/one_normal.hpp"
#include "saltus/integrate/mode/detail/law_conversion.hpp"
#include "saltus/integrate/mode/thresholds.hpp"
#include "saltus/model/mechanics.hpp"
#include "saltus/solvers/friction/modes.hpp"

namespace saltus::integrate {

namespace {

using solvers::Law;
using solvers::LawKind;
using trajectory::ElementKind;

}  // namespace

Candidates no_candidates(const Dynamics& dynamics) {
    Candidates candidates;
    clear_candidates(dynamics, candidates);
    return candidates;
}

void clear_candidates(const Dynamics& dynamics, Candidates& candidates) {
    candidates.closed.assign(dynamics.elements().size(), 0);
    candidates.released.assign(dynamics.elements().size(), 0);
    candidates.friction.assign(dynamics.parts().size(), FrictionEvent::none);
    candidates.hold = candidates.corner = false;
}

ModeChange::ModeChange(Dynamics& dynamics, double tolerance)
    : d_(dynamics), tolerance_(tolerance), rows_(dynamics.model().layout(), dynamics.mass()) {}

void ModeChange::reset() {
    solves = 0;
    repair_energy = false;
}

/// Whether a contact or clutch approaches fast enough to cause an impact. Velocities in contacts that were closed are
/// zero up to rounding.
bool ModeChange::approaches(int element) const {
    const ElementLayout& e = d_.elements()[ix(element)];
    const double gamma = d_.row_velocity(e.rows.normal);
    if (e.rows.kind == ElementKind::constraint || e.rows.kind == ElementKind::slider) return false;
    const bool was_open = e.rows.kind == ElementKind::contact && !d_.mode().elements[ix(element)].active;
    return gamma < (was_open ? -Thresholds::open_approach_speed : -Thresholds::closed_approach_speed);
}

/// The rows that take part in an impact, with their laws: all constraints with their friction, closed contacts, and all
/// clutches. A clutch is a law of velocities, without a gap: one that runs forwards before the impact stops a motion
/// backwards at once, 0 <= γ⁺ ⊥ Λ >= 0.
void ModeChange::collect_impact_rows(const Candidates& candidates) {
    rows_.clear();
    owner_.clear();
    for (std::size_t i = 0; i < d_.elements().size(); ++i) {
        const ElementLayout& e = d_.elements()[i];
        impact_rows_.clear();
        std::vector<int>& rows = impact_rows_;
        if (e.rows.kind == ElementKind::constraint) {
            const int first = rows_.rows();
            rows_.add_row(e.rows.normal, plain_law(LawKind::bilateral));
            owner_.push_back(static_cast<int>(i));
            if (e.rows.slips == 0) continue;
            Law law = plain_law(LawKind::scaled_slider);
            set_sliding(law, *friction_of(d_.model(), e.rows), d_.coefficients());
            law.row = first;
            for (int r = 0; r < e.rows.slips; ++r) rows.push_back(e.rows.first_slip + r);
            rows_.add(rows, law);
            owner_.push_back(static_cast<int>(i));
        } else if (e.rows.kind == ElementKind::contact && candidates.closed[i] != 0) {
            rows.push_back(e.rows.normal);
            for (int r = 0; r < e.rows.slips; ++r) rows.push_back(e.rows.first_slip + r);
            rows_.add(rows, contact_law(d_.model().contacts[ix(e.rows.index)], d_.coefficients()));
            owner_.push_back(static_cast<int>(i));
        } else if (e.rows.kind == ElementKind::clutch) {
            rows_.add_row(e.rows.normal, plain_law(LawKind::unilateral));
            owner_.push_back(static_cast<int>(i));
        }
    }
}

void ModeChange::clear_strike() {
    strike_.happened = strike_.failed = false;
    strike_.u_minus.clear();
    strike_.u_plus.clear();
    strike_.elements.clear();
    strike_.work = strike_.work_on_system = strike_.residual = strike_.speed = 0.0;
    strike_.note.clear();
    strike_.audit.tangential = strike_.audit.obstacle_work = strike_.audit.created = strike_.audit.prevented = 0.0;
    strike_.audit.element = -1;
    strike_.audit.law.clear();
    strike_.creation_reason.clear();
}

void ModeChange::fail_strike(std::string_view note) {
    strike_.failed = true;
    strike_.note = note;
}

/// Applies the impulses Λ of the rows to the velocities in x, and describes the impact.
void ModeChange::finish_strike(double t, double* x, std::span<const double> Lambda) {
    const int n = d_.size();
    velocity_change_.resize(ix(n));
    rows_.velocity_change(Lambda, velocity_change_);
    strike_.u_minus.assign(x + n, x + 2 * n);
    gamma_minus_.clear();
    gamma_plus_.clear();
    chi_.clear();
    for (const int row : rows_.row_numbers()) gamma_minus_.push_back(d_.row_velocity(row));
    for (int i = 0; i < n; ++i) x[n + i] += velocity_change_[ix(i)];
    strike_.u_plus.assign(x + n, x + 2 * n);
    d_.evaluate_velocities(t, x);
    for (const int row : rows_.row_numbers()) {
        gamma_plus_.push_back(d_.row_velocity(row));
        chi_.push_back(d_.terms().chi[ix(row)]);
    }
    const impact::DecidedWork work =
        impact::audit({gamma_minus_, gamma_plus_, chi_, Lambda, rows_.first_rows(), rows_.problem.laws});
    strike_.audit = energy_audit(work);
    strike_.work = work.work;
    strike_.work_on_system = work.work + work.obstacle_work;
    collect_impulses(Lambda);
    strike_.happened = true;
}

/// The impulses Λ of the rows by element, and the elements that took part. The blocks are in the order of the elements.
void ModeChange::collect_impulses(std::span<const double> Lambda) {
    std::size_t count = 0;  // of impulses; the memory of those of earlier impacts is used again
    strike_.elements.clear();
    for (int b = 0; b < rows_.blocks(); ++b) {
        const int element = owner_[ix(b)];
        const ElementRows& rows = d_.elements()[ix(element)].rows;
        if (count == 0 || strike_.impulses[count - 1].element != element) {
            if (strike_.impulses.size() == count) strike_.impulses.emplace_back();
            trajectory::Reaction& next = strike_.impulses[count++];
            next.element = element;
            next.N = 0.0;
            next.T.assign(ix(rows.slips), 0.0);
        }
        trajectory::Reaction& reaction = strike_.impulses[count - 1];
        for (int k = rows_.first_rows()[ix(b)]; k < rows_.first_rows()[ix(b) + 1]; ++k) {
            const int row = rows_.row_numbers()[ix(k)];
            (row == rows.normal ? reaction.N : reaction.T[ix(row - rows.first_slip)]) = Lambda[ix(k)];
            const bool approached = row == rows.normal && gamma_minus_[ix(k)] < -Thresholds::closed_approach_speed;
            const bool constraint = rows.kind == ElementKind::constraint;
            const bool at_corner = row == rows.normal && std::abs(gamma_minus_[ix(k)]) > Thresholds::corner_speed;
            const bool takes_part = constraint ? at_corner : Lambda[ix(k)] != 0.0 || approached;
            if (takes_part && (strike_.elements.empty() || strike_.elements.back() != element))
                strike_.elements.push_back(element);
        }
    }
    strike_.impulses.resize(count);
}

impact::Restitutions ModeChange::restitutions() const {
    return {Eigen::Map<const Vector>(restitution_.data(), static_cast<Eigen::Index>(restitution_.size())),
            collision_.law};
}

/// Explains an impact that creates energy, and repairs it if that is wanted: the velocities after it become the nearest
/// ones that are consistent with the contact laws and create no energy.
void ModeChange::judge_energy(double t, double* x, std::span<const double> Lambda) {
    Strike& s = strike_;
    if (s.audit.created == 0.0) return;
    const impact::FrictionalCollision c =
        frictional_collision(d_.model(), d_.terms(), rows_, owner_, s.u_minus, s.u_plus);
    s.creation_reason = explain(c, Lambda, restitutions(), owner_, s.audit);
    if (!repair_energy || !(s.audit.created > 0.0)) return;
    const impact::NearestByFriction nearest = impact::nearest_consistent(c);
    if (nearest.status != impact::NearestConsistent::Status::found) {
        s.creation_reason += "; it could not be repaired: " + nearest.why;
        return;
    }
    const trajectory::EnergyAudit before = s.audit;
    std::copy(s.u_minus.begin(), s.u_minus.end(), x + d_.size());
    d_.evaluate_terms(t, x);
    finish_strike(t, x, {nearest.Lambda.data(), static_cast<std::size_t>(nearest.Lambda.size())});
    s.audit.created = 0.0;
    s.audit.prevented = before.created;
    s.audit.element = before.element;
    s.audit.law = before.law;
    s.creation_reason += "; the velocities after it are replaced by the nearest that create none";
}

/// Restitution coefficient of a row by the law of its contact. Under 1 − c·v it is not negative.
double ModeChange::restitution(const model::Contact* contact, bool normal, double gamma, std::string& note) const {
    if (contact == nullptr) return 0.0;
    if (!normal) return coefficient(d_.coefficients(), contact->e_t);
    double e = coefficient(d_.coefficients(), contact->e_n);
    if (contact->c != model::no_coefficient) {
        e = 1.0 - d_.coefficients()[ix(contact->c)] * std::max(0.0, -gamma);
        if (e < 0.0) {
            e = 0.0;
            note = "1 - c*v of " + contact->name + " is negative at this speed and taken as 0";
        }
    }
    return e;
}

bool ModeChange::prepare(double t, const double* x, const Candidates& candidates, std::string& note,
                         const model::Energy* before) {
    if (!d_.factorise_mass()) return false;
    collect_impact_rows(candidates);
    rows_.assemble(d_.terms(), d_.mass());
    collision_.gamma_minus.clear();
    collision_.e.clear();
    restitution_.clear();
    collision_.law.clear();
    collision_.chi.clear();
    strike_.before = before != nullptr ? *before : d_.energy(t, x);
    collision_.kinetic_energy = strike_.before.kinetic;
    // Poisson's law returns e times the impulse of compression, also of a contact that was at rest before. The other
    // laws restore nothing of a contact that does not approach.
    const bool expands = std::any_of(owner_.begin(), owner_.end(), [&](int element) {
        const ElementRows& rows = d_.elements()[ix(element)].rows;
        return rows.kind == ElementKind::contact &&
               d_.model().contacts[ix(rows.index)].impact == model::ImpactLaw::poisson;
    });
    for (int b = 0; b < rows_.blocks(); ++b) {
        const ElementLayout& e = d_.elements()[ix(owner_[ix(b)])];
        const int last = b + 1 < rows_.blocks() ? rows_.first_row(b + 1) : rows_.rows();
        const model::Contact* const contact =
            e.rows.kind == ElementKind::contact ? &d_.model().contacts[ix(e.rows.index)] : nullptr;
        collision_.law.push_back(contact != nullptr ? impact_law(contact->impact) : impact::ImpactLaw::newton);
        for (int k = rows_.first_row(b); k < last; ++k) {
            const int row = rows_.row_numbers()[ix(k)];
            const double gamma = d_.row_velocity(row);
            collision_.gamma_minus.push_back(gamma);
            const bool normal = row == e.rows.normal;
            restitution_.push_back(restitution(contact, normal, gamma, note));
            const bool restores =
                gamma < 0.0 || (expands && contact != nullptr && contact->impact != model::ImpactLaw::energy);
            collision_.e.push_back(normal && !restores ? 0.0 : restitution_.back());
            collision_.chi.push_back(d_.terms().chi[ix(row)]);
        }
    }
    return true;
}

const Strike& ModeChange::strike(double t, double* x, const Candidates& candidates, const model::Energy* before) {
    clear_strike();
    Strike& s = strike_;
    d_.evaluate_terms(t, x);
    bool any = false;
    for (std::size_t i = 0; i < d_.elements().size(); ++i) {
        const ElementRows& rows = d_.elements()[i].rows;
        any = any || (candidates.closed[i] != 0 && rows.normal >= 0 && approaches(static_cast<int>(i)));
        any = any || (candidates.corner && rows.kind == ElementKind::constraint &&
                      std::abs(d_.row_velocity(rows.normal)) > Thresholds::corner_speed);
    }
    if (!any) return s;
    if (!prepare(t, x, candidates, s.note, before)) {
        fail_strike("the mass matrix is singular");
        return s;
    }
    ++solves;
    // The solver is asked for more than the tolerance, which then decides: errors of impacts add up.
    impact::collide(rows_.problem, collision_, Thresholds::impact_tolerance_ratio * tolerance_, workspace_, outcome_);
    s.residual = outcome_.residual;
    if (outcome_.residual <= tolerance_ && outcome_.status != solvers::Status::infeasible)
        outcome_.status = solvers::Status::converged;
    if (!outcome_.note.empty()) s.note += (s.note.empty() ? "" : "; ") + outcome_.note;
    if (!solvers::usable(outcome_.status) &&
        !(outcome_.residual < Thresholds::usable_residual && outcome_.status != solvers::Status::infeasible)) {
        s.failed = true;
        s.u_minus.assign(x + d_.size(), x + 2 * d_.size());
        s.u_plus = s.u_minus;
        if (s.note.empty()) s.note = "the impact has no solution that could be found";
        return s;
    }
    // An approach within the error of the solver needs no impulse: the contact touches.
    if (std::all_of(outcome_.Lambda.begin(), outcome_.Lambda.end(), [](double r) { return r == 0.0; })) return s;
    finish_strike(t, x, outcome_.Lambda);
    judge_energy(t, x, outcome_.Lambda);
    return s;
}

namespace {

/// The audit of an impact of one frictionless contact: whether the contact supplies energy. A work that is not positive
/// needs no bound of its rounding errors.
bool supplies_energy(double gamma_minus, double gamma_plus, double chi, double Lambda) {
    if (0.5 * (gamma_plus + gamma_minus) * Lambda <= 0.0) return false;
    const int start[] = {0, 1};
    const Law law = plain_law(LawKind::unilateral);
    return impact::audit({{&gamma_minus, 1}, {&gamma_plus, 1}, {&chi, 1}, {&Lambda, 1}, start, {&law, 1}})
        .supplies_energy();
}

}  // namespace

// The collision of one row has the matrix D = w·M⁻¹w. The velocity changes by M⁻¹w Λ. The numbers are the same, to the
// bit, as those of `strike`.
const Strike* ModeChange::strike_alone(double t, double* x, int element, const model::Energy& before) {
    const ElementRows& rows = d_.elements()[ix(element)].rows;
    const model::Contact& contact = d_.model().contacts[ix(rows.index)];
    if (rows.slips != 0 || contact.impact != model::ImpactLaw::newton) return nullptr;
    d_.evaluate_terms(t, x);
    if (!approaches(element) || !d_.factorise_mass()) return nullptr;
    clear_strike();
    const int n = d_.size();
    const model::Pattern& W = d_.model().layout().rows;
    velocity_change_.assign(ix(n), 0.0);
    for (int k = W.start[ix(rows.normal)]; k < W.start[ix(rows.normal) + 1]; ++k)
        velocity_change_[ix(W.column[ix(k)])] = d_.terms().W[ix(k)];
    d_.mass().solve(velocity_change_);
    const double gamma_minus = d_.row_velocity(rows.normal), chi = d_.terms().chi[ix(rows.normal)];
    const double e = restitution(&contact, true, gamma_minus, strike_.note);
    const std::optional<impact::NormalImpulse> impulse =
        impact::normal_impulse(model::row_dot(W, d_.terms().W, rows.normal, velocity_change_), gamma_minus, e,
                               Thresholds::impact_tolerance_ratio * tolerance_);
    if (!impulse) return nullptr;
    strike_.before = before;
    strike_.u_minus.assign(x + n, x + 2 * n);
    for (int i = 0; i < n; ++i) x[n + i] += impulse->Lambda * velocity_change_[ix(i)];
    // The row w and χ depend on positions and time alone.
    const double gamma_plus = model::row_dot(W, d_.terms().W, rows.normal, {x + n, ix(n)}) + chi;
    const double work = 0.5 * (gamma_plus + gamma_minus) * impulse->Lambda, obstacle_work = 0.0 - chi * impulse->Lambda;
    if (supplies_energy(gamma_minus, gamma_plus, chi, impulse->Lambda) ||
        !(gamma_plus > Thresholds::separation_ratio * std::abs(gamma_minus))) {
        std::copy(strike_.u_minus.begin(), strike_.u_minus.end(), x + n);
        return nullptr;
    }
    ++solves;
    strike_.speed = gamma_plus;
    strike_.restitution = e;
    strike_.u_plus.assign(x + n, x + 2 * n);
    strike_.residual = impulse->residual;
    strike_.audit.obstacle_work = obstacle_work;
    strike_.work = work;
    strike_.work_on_system = work + obstacle_work;
    strike_.impulses.resize(1);
    trajectory::Reaction& reaction = strike_.impulses.front();
    reaction.T.clear();
    reaction.element = element;
    reaction.N = impulse->Lambda;
    strike_.elements.push_back(element);
    strike_.happened = true;
    return &strike_;
}

const Strike& ModeChange::jam(double t, double* x, const Candidates& candidates) {
    clear_strike();
    Strike& s = strike_;
    d_.evaluate_terms(t, x);
    if (!d_.factorise_mass()) {
        fail_strike("the mass matrix is singular");
        return s;
    }
    s.before = d_.energy(t, x);
    collect_impact_rows(candidates);
    rows_.assemble(d_.terms(), d_.mass());
    for (int k = 0; k < rows_.rows(); ++k) {
        const double gamma = d_.row_velocity(rows_.row_numbers()[ix(k)]);
        rows_.problem.q[ix(k)] = std::abs(gamma) < Thresholds::jam_zero_velocity ? 0.0 : gamma;
    }
    for (const double factor : Thresholds::jam_friction_factors) {
        ++solves;
        solvers::FrictionProblem problem = rows_.problem;
        for (Law& law : problem.laws) law.mu *= factor;
        const solvers::AllSolutions all = solvers::all_solutions(problem);
        for (const std::vector<double>& r : all.r) {
            if (std::all_of(r.begin(), r.end(), [](double v) { return v == 0.0; })) continue;
            finish_strike(t, x, r);
            if (s.audit.created > 0.0) s.creation_reason = "the contacts jam";
            return s;
        }
    }
    fail_strike("neither a force nor an impulse holds the contacts");
    return s;
}

}  // namespace saltus::integrate
