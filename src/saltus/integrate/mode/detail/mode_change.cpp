// SPDX-License-Identifier: Apache-2.0
#include "saltus/integrate/mode/detail/mode_change.hpp"

#include <algorithm>
#include <cmath>

#include "saltus/base/index.hpp"
#include "saltus/base/text.hpp"
#include "saltus/impact/consistency/frictional_consistency.hpp"
#include "saltus/model/model.hpp"
#include "saltus/solvers/friction/modes.hpp"

namespace saltus::integrate {

namespace {

using solvers::Law;
using solvers::LawKind;
using trajectory::ElementKind;

impact::ImpactLaw impact_law(model::ImpactLaw law) {
    switch (law) {
        case model::ImpactLaw::newton: return impact::ImpactLaw::newton;
        case model::ImpactLaw::poisson: return impact::ImpactLaw::poisson;
        case model::ImpactLaw::energy: return impact::ImpactLaw::energy;
    }
    return impact::ImpactLaw::newton;
}

Law plain(LawKind kind) {
    Law law;
    law.kind = kind;
    return law;
}

}  // namespace

ModeChange::ModeChange(Dynamics& dynamics, double tolerance)
    : d_(dynamics), tolerance_(tolerance), rows_(dynamics.model()) {}

bool ModeChange::approaches(int element) const {
    const ElementLayout& e = d_.elements()[ix(element)];
    const double gamma = d_.row_velocity(e.rows.normal);
    if (e.rows.kind == ElementKind::constraint || e.rows.kind == ElementKind::slider) return false;
    const bool fresh = e.rows.kind == ElementKind::contact && !d_.mode().elements[ix(element)].active;
    return gamma < (fresh ? -faint_approach : -approach_tolerance);  // what was closed moves by rounding
}

void ModeChange::collect_impact_rows(const Candidates& candidates) {
    std::vector<int>& owner = owner_;
    rows_.clear();
    owner.clear();
    for (std::size_t i = 0; i < d_.elements().size(); ++i) {
        const ElementLayout& e = d_.elements()[i];
        std::vector<int> rows;
        if (e.rows.kind == ElementKind::constraint) {
            const int first = rows_.rows();
            rows_.add_row(e.rows.normal, plain(LawKind::bilateral));
            owner.push_back(static_cast<int>(i));
            for (const int k : e.part_numbers()) {
                const FrictionPart& part = d_.parts()[ix(k)];
                Law law = plain(LawKind::scaled_slider);
                law.mu = part.mu;
                law.row = first;
                for (int r = 0; r < part.size; ++r) rows.push_back(part.row + r);
                rows_.add(rows, law);
                owner.push_back(static_cast<int>(i));
                rows.clear();
            }
        } else if (e.rows.kind == ElementKind::contact && candidates.closed[i] != 0) {
            rows.push_back(e.rows.normal);
            for (int r = 0; r < e.rows.slips; ++r) rows.push_back(e.rows.first_slip + r);
            rows_.add(rows, contact_law(d_.model().contacts[ix(e.rows.index)], d_.coefficients()));
            owner.push_back(static_cast<int>(i));
        } else if (e.rows.kind == ElementKind::clutch && candidates.closed[i] != 0) {
            rows_.add_row(e.rows.normal, plain(LawKind::unilateral));
            owner.push_back(static_cast<int>(i));
        }
    }
}

void ModeChange::finish_strike(double t, double* x, std::span<const double> Lambda, Strike& s) {
    const int n = d_.size();
    const std::vector<int>& owner = owner_;
    std::vector<double> du(ix(n));
    rows_.velocity_change(Lambda, du);
    s.u_minus.assign(x + n, x + 2 * n);
    gamma_minus_.clear();
    gamma_plus_.clear();
    chi_.clear();
    for (const int row : rows_.row_numbers()) gamma_minus_.push_back(d_.row_velocity(row));
    for (int i = 0; i < n; ++i) x[n + i] += du[ix(i)];
    s.u_plus.assign(x + n, x + 2 * n);
    d_.evaluate_terms(t, x);
    for (const int row : rows_.row_numbers()) {
        gamma_plus_.push_back(d_.row_velocity(row));
        chi_.push_back(d_.terms().chi[ix(row)]);
    }
    starts_.clear();
    for (int b = 0; b < rows_.blocks(); ++b) starts_.push_back(rows_.first_row(b));
    starts_.push_back(rows_.rows());
    const impact::DecidedWork work =
        impact::audit({gamma_minus_, gamma_plus_, chi_, Lambda, starts_, rows_.problem.laws});
    s.audit = energy_audit(work);
    s.work = work.work;
    s.done = work.work + work.obstacle_work;
    s.impulses.clear();
    s.elements.clear();
    std::vector<trajectory::Reaction> reactions(d_.elements().size());
    for (std::size_t i = 0; i < reactions.size(); ++i) {
        reactions[i].element = static_cast<int>(i);
        reactions[i].T.assign(ix(d_.elements()[i].rows.slips), 0.0);
    }
    std::vector<char> took_part(d_.elements().size(), 0);
    for (int b = 0; b < rows_.blocks(); ++b) {
        for (int k = starts_[ix(b)]; k < starts_[ix(b) + 1]; ++k) {
            const int row = rows_.row_numbers()[ix(k)];
            const ElementLayout& e = d_.elements()[ix(owner[ix(b)])];
            trajectory::Reaction& reaction = reactions[ix(owner[ix(b)])];
            if (row == e.rows.normal)
                reaction.N = Lambda[ix(k)];
            else
                reaction.T[ix(row - e.rows.first_slip)] = Lambda[ix(k)];
            if (e.rows.kind != ElementKind::constraint &&
                (Lambda[ix(k)] != 0.0 || (row == e.rows.normal && gamma_minus_[ix(k)] < -approach_tolerance)))
                took_part[ix(owner[ix(b)])] = 1;
        }
    }
    for (int b = 0; b < rows_.blocks(); ++b)
        if (s.impulses.empty() || s.impulses.back().element != owner[ix(b)])
            s.impulses.push_back(reactions[ix(owner[ix(b)])]);
    for (std::size_t i = 0; i < took_part.size(); ++i)
        if (took_part[i] != 0) s.elements.push_back(static_cast<int>(i));
    s.happened = true;
}

impact::Restitutions ModeChange::restitutions() const {
    return {Eigen::Map<const Vector>(collision_.e.data(), static_cast<Eigen::Index>(collision_.e.size())),
            collision_.law};
}

/// Few impacts come here. Where the energy is to be repaired, the impulses of the nearest consistent velocity take the
/// place of those of the law.
void ModeChange::judge_energy(double t, double* x, std::span<const double> Lambda, Strike& s) {
    if (s.audit.created == 0.0) return;
    const impact::FrictionalCollision c =
        frictional_collision(d_.model(), d_.terms(), rows_, owner_, s.u_minus, s.u_plus);
    s.creates = explain(c, Lambda, restitutions(), owner_, s.audit);
    if (!repair_energy || !(s.audit.created > 0.0)) return;
    const impact::NearestByFriction nearest = impact::nearest_consistent(c);
    if (nearest.status != impact::NearestConsistent::Status::found) {
        s.creates += "; it could not be repaired: " + nearest.why;
        return;
    }
    const trajectory::EnergyAudit before = s.audit;
    std::copy(s.u_minus.begin(), s.u_minus.end(), x + d_.size());
    d_.evaluate_terms(t, x);
    finish_strike(t, x, {nearest.Lambda.data(), static_cast<std::size_t>(nearest.Lambda.size())}, s);
    s.audit.created = 0.0;
    s.audit.prevented = before.created;
    s.audit.element = before.element;
    s.audit.law = before.law;
    s.creates += "; the velocities after it are replaced by the nearest that create none";
}

bool ModeChange::prepare(double t, const double* x, const Candidates& candidates, std::string& note) {
    if (!d_.factorise_mass()) return false;
    collect_impact_rows(candidates);
    rows_.assemble(d_.terms(), d_.mass());
    collision_.problem = rows_.problem;
    collision_.gamma_minus.clear();
    collision_.e.clear();
    collision_.law.clear();
    collision_.chi.clear();
    collision_.kinetic_energy = d_.energy(t, x).kinetic;
    for (int b = 0; b < rows_.blocks(); ++b) {
        const ElementLayout& e = d_.elements()[ix(owner_[ix(b)])];
        const int last = b + 1 < rows_.blocks() ? rows_.first_row(b + 1) : rows_.rows();
        const model::Contact* const contact =
            e.rows.kind == ElementKind::contact ? &d_.model().contacts[ix(e.rows.index)] : nullptr;
        collision_.law.push_back(contact != nullptr ? impact_law(contact->impact) : impact::ImpactLaw::newton);
        for (int k = rows_.first_row(b); k < last; ++k) {
            const int row = rows_.row_numbers()[ix(k)];
            const double gamma = d_.row_velocity(row);
            double restitution = 0.0;
            if (contact != nullptr && row == e.rows.normal) {
                restitution = coefficient(d_.coefficients(), contact->e_n);
                if (contact->c != model::no_coefficient) {
                    restitution = 1.0 - d_.coefficients()[ix(contact->c)] * std::max(0.0, -gamma);
                    if (restitution < 0.0) {
                        restitution = 0.0;
                        note = "1 - c*v of " + contact->name + " is negative at this speed and taken as 0";
                    }
                }
                if (gamma >= 0.0) restitution = 0.0;
            } else if (contact != nullptr) {
                restitution = coefficient(d_.coefficients(), contact->e_t);
            }
            collision_.gamma_minus.push_back(gamma);
            collision_.e.push_back(restitution);
            collision_.chi.push_back(d_.terms().chi[ix(row)]);
        }
    }
    return true;
}

Strike ModeChange::strike(double t, double* x, const Candidates& candidates) {
    Strike s;
    d_.evaluate_terms(t, x);
    bool any = false;
    for (std::size_t i = 0; i < d_.elements().size(); ++i)
        any =
            any || (candidates.closed[i] != 0 && d_.elements()[i].rows.normal >= 0 && approaches(static_cast<int>(i)));
    if (!any) return s;
    if (!prepare(t, x, candidates, s.note)) {
        s.failed = true;
        s.note = "the mass matrix is singular";
        return s;
    }
    ++solves;
    // Better than asked for where that can be had: errors of impacts add up.
    impact::collide(collision_, 1e-2 * tolerance_, workspace_, outcome_);
    s.residual = outcome_.residual;
    if (outcome_.residual <= tolerance_ && outcome_.status != solvers::Status::infeasible)
        outcome_.status = solvers::Status::converged;
    if (!outcome_.note.empty()) s.note += (s.note.empty() ? "" : "; ") + outcome_.note;
    if (!solvers::usable(outcome_.status) &&
        !(outcome_.residual < 1e-6 && outcome_.status != solvers::Status::infeasible)) {
        s.failed = true;
        s.u_minus.assign(x + d_.size(), x + 2 * d_.size());
        s.u_plus = s.u_minus;
        if (s.note.empty()) s.note = "the impact has no solution that could be found";
        return s;
    }
    // An approach within the solver's error of rest takes no impulse: the contact touches.
    if (std::all_of(outcome_.Lambda.begin(), outcome_.Lambda.end(), [](double r) { return r == 0.0; })) return s;
    finish_strike(t, x, outcome_.Lambda, s);
    judge_energy(t, x, outcome_.Lambda, s);
    return s;
}

Strike ModeChange::jam(double t, double* x, const Candidates& candidates) {
    Strike s;
    d_.evaluate_terms(t, x);
    if (!d_.factorise_mass()) {
        s.failed = true;
        return s;
    }
    collect_impact_rows(candidates);
    rows_.assemble(d_.terms(), d_.mass());
    for (int k = 0; k < rows_.rows(); ++k) {
        const double gamma = d_.row_velocity(rows_.row_numbers()[ix(k)]);
        rows_.problem.q[ix(k)] = std::abs(gamma) < 1e-10 ? 0.0 : gamma;
    }
    // At the very edge, where the force only grows without bound, the impulse exists for slightly more friction.
    for (const double more : {1.0, 1.0 + 1e-6, 1.001, 1.06}) {
        ++solves;
        solvers::FrictionProblem problem = rows_.problem;
        for (Law& law : problem.laws) law.mu *= more;
        const solvers::AllSolutions all = solvers::all_solutions(problem);
        for (const std::vector<double>& r : all.r) {
            if (std::all_of(r.begin(), r.end(), [](double v) { return v == 0.0; })) continue;
            finish_strike(t, x, r, s);
            if (s.audit.created > 0.0) s.creates = "the contacts jam";
            return s;
        }
    }
    s.failed = true;
    s.note = "neither a force nor an impulse holds the contacts";
    return s;
}

Choice ModeChange::choose(double t, const double* x, const Candidates& candidates, const SystemMode& before) {
    Choice choice;
    choice.mode = before;
    SystemMode& mode = choice.mode;
    const model::Model& model = d_.model();
    const model::Pattern& W = model.layout().rows;
    const int n = d_.size();
    d_.evaluate_terms(t, x);
    if (!d_.factorise_mass()) {
        choice.note = "the mass matrix is singular";
        return choice;
    }
    const std::span<const double> u(x + n, ix(n));

    // What slips already is decided; its force has the direction of the velocity.
    std::vector<char> undecided(mode.parts.size(), 0);
    for (std::size_t k = 0; k < mode.parts.size(); ++k) {
        const FrictionPart& part = d_.parts()[k];
        FrictionMode& friction = mode.parts[k];
        const double speed = d_.slip_speed(static_cast<int>(k));
        double scale = 0.0;
        for (int r = 0; r < part.size; ++r) scale = std::max(scale, model::row_scale(W, d_.terms().W, part.row + r, u));
        const bool moves = speed > slip_tolerance * scale && candidates.arrested[k] == 0;
        if (moves)
            for (int r = 0; r < part.size; ++r) friction.direction[ix(r)] = d_.row_velocity(part.row + r) / speed;
        friction.slips = moves || candidates.breaking[k] != 0 || part.frictionless();
        undecided[k] = friction.slips ? 0 : 1;
    }

    std::vector<char> closed(candidates.closed);
    for (std::size_t i = 0; i < closed.size(); ++i)
        if (candidates.released[i] != 0) closed[i] = 0;
    std::vector<double> free(d_.terms().h.begin(), d_.terms().h.end());
    hold_.collect(d_, mode, closed, undecided, free);
    d_.mass().solve(free);

    const std::vector<HoldProblem::Block>& blocks = hold_.blocks;
    const solvers::FrictionProblem& problem = hold_.problem;
    solvers::Solution solution;
    for (int attempt = 0; attempt < 4; ++attempt) {
        hold_.assemble(d_, mode, free);
        solvers::Automatic method;
        method.tolerance = tolerance_;
        ++solves;
        if (hold_.rows() > 0)
            solvers::solve(problem, method, workspace_, solution);
        else
            solution.status = solvers::Status::converged;
        // A constraint whose friction slips must have the sign it was assumed to have.
        bool turned = false;
        for (std::size_t b = 0; b < blocks.size(); ++b) {
            const ElementLayout& e = d_.elements()[ix(blocks[b].element)];
            if (e.rows.kind != ElementKind::constraint || !blocks[b].normal) continue;
            const bool slips = any_part_slips(e, mode);
            double& sign = mode.elements[ix(blocks[b].element)].reaction_sign;
            const double nu = solution.r[ix(hold_.first_row(b))];
            if (slips && nu * sign < 0.0) {
                sign = -sign;
                turned = true;
            } else if (!slips && nu != 0.0) {
                sign = nu > 0.0 ? 1.0 : -1.0;
            }
        }
        if (!turned) break;
    }
    choice.residual = solution.residual;

    // Large friction: perhaps no solution, perhaps several.
    bool risky = !solvers::usable(solution.status);
    for (std::size_t b = 0; b < blocks.size(); ++b) {
        if (d_.elements()[ix(blocks[b].element)].rows.kind != ElementKind::contact || blocks[b].parts.size() > 1 ||
            !blocks[b].normal)
            continue;
        const int own = static_cast<int>(b), entry = problem.W.find(own, own);
        const double* const D = problem.W.values.data() + problem.W.offset[ix(entry)];
        double coupling = 0.0;
        for (std::size_t k = 1; k < blocks[b].rows.size(); ++k) coupling = std::hypot(coupling, D[k]);
        risky = risky || D[0] - problem.laws[b].mu * coupling <= 0.0;
    }
    if (risky) {
        const solvers::AllSolutions all = solvers::all_solutions(problem);
        if (all.modes > 0 && all.r.empty() && all.complete) {
            choice.impulsive = true;
            choice.solutions = 0;
            choice.note = "no contact force exists";
            return choice;
        }
        if (all.r.size() > 1) {
            // By continuity: the one that keeps closed what was closed.
            choice.solutions = static_cast<int>(all.r.size());
            std::size_t best = 0;
            int best_kept = -1;
            for (std::size_t k = 0; k < all.r.size(); ++k) {
                int kept = 0;
                for (std::size_t b = 0; b < blocks.size(); ++b)
                    kept +=
                        (all.r[k][ix(hold_.first_row(b))] > 0.0) == mode.elements[ix(blocks[b].element)].active ? 1 : 0;
                if (kept > best_kept) best_kept = kept, best = k;
            }
            solution.r = all.r[best];
            solution.v.resize(solution.r.size());
            problem.W.multiply(solution.r, solution.v);
            for (std::size_t k = 0; k < solution.v.size(); ++k) solution.v[k] += problem.q[k];
            solution.status = solvers::Status::converged;
        } else if (!solvers::usable(solution.status) && !(solution.residual < 1e-6)) {
            choice.note = "the contact problem of the accelerations could not be solved (" +
                          std::string(solvers::to_string(solution.status)) + ")";
            return choice;
        }
    }

    // Set the mode.
    const double still = d_.coarse() ? d_.redundancy() : 5e-10;
    double size = 0.0;
    for (const double v : problem.q) size = std::max(size, std::abs(v));
    for (std::size_t i = 0; i < mode.elements.size(); ++i) {
        const ElementKind kind = d_.elements()[i].rows.kind;
        const bool spring = d_.compliant() && kind == ElementKind::contact && candidates.closed[i] != 0;
        mode.elements[i].active = spring || kind == ElementKind::constraint || kind == ElementKind::slider;
    }
    for (std::size_t b = 0; b < blocks.size(); ++b) {
        const ElementLayout& e = d_.elements()[ix(blocks[b].element)];
        const double* const r = solution.r.data() + hold_.first_row(b);
        const double* const v = solution.v.data() + hold_.first_row(b);
        if (blocks[b].normal && e.rows.kind != ElementKind::constraint)
            mode.elements[ix(blocks[b].element)].active = r[0] > 0.0 || v[0] <= 1e-11 * size;
        int offset = blocks[b].normal ? 1 : 0;
        for (const int k : blocks[b].parts) {
            FrictionMode& friction = mode.parts[ix(k)];
            const int part_size = d_.parts()[ix(k)].size;
            double rate = 0.0;
            for (int i = 0; i < part_size; ++i) rate = std::hypot(rate, v[offset + i]);
            // At the edge of the set and about to move.
            friction.slips = rate > still * std::max(size, 1e-300);
            if (friction.slips)
                for (int i = 0; i < part_size; ++i) friction.direction[ix(i)] = v[offset + i] / rate;
            offset += part_size;
        }
    }
    choice.solved = true;
    return choice;
}

}  // namespace saltus::integrate
