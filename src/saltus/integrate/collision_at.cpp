// SPDX-License-Identifier: Apache-2.0
#include "saltus/integrate/collision_at.hpp"

#include <algorithm>
#include <cmath>

#include "saltus/base/factors.hpp"
#include "saltus/base/index.hpp"
#include "saltus/integrate/mode/detail/mode_change.hpp"
#include "saltus/model/mechanics.hpp"

namespace saltus::integrate {

namespace {

using trajectory::ElementKind;

constexpr double closed_gap_ratio = 1e-10;   // a contact is closed if |gap| is at most this part of its size
constexpr double contact_tolerance = 1e-10;  // relative residual of the impact problem

std::vector<double> vector_of(const Vector& x) { return {x.data(), x.data() + x.size()}; }

Vector vector_of(const std::vector<double>& x) {
    return Eigen::Map<const Vector>(x.data(), static_cast<Eigen::Index>(x.size()));
}

/// What an event-driven run needs to solve one collision, set up for a single state.
struct Moment {
    Dynamics dynamics;
    ModeChange change;
    std::vector<double> x;
    Candidates candidates;

    Moment(const model::Mechanics& model, const std::vector<double>& q, const std::vector<double>& u,
           const std::vector<char>& closed)
        : dynamics(model, false, 1.0), change(dynamics, contact_tolerance), x(q) {
        x.insert(x.end(), u.begin(), u.end());
        x.push_back(0.0);
        candidates = no_candidates(dynamics);
        candidates.closed = closed;
    }
};

bool is_impact(const trajectory::Event& e) { return !e.impulses.empty(); }

/// The audit that the run itself has stored with the event.
AuditedImpact as_found(const trajectory::Event& e, std::size_t number) {
    AuditedImpact a;
    a.event = number;
    a.work = e.work;
    a.kinetic_change = e.energy_after - e.energy_before;
    a.audit = e.audit;
    return a;
}

/// The audit computed again from the model: γ⁻, γ⁺ and Λ of the event give the work and what created energy.
AuditedImpact recomputed(const model::Mechanics& model, const trajectory::Event& e, std::size_t number) {
    AuditedImpact a = as_found(e, number);
    std::vector<char> closed(model.contacts.size() + model.constraints.size() + model.sliders.size() +
                             model.clutches.size());
    for (const trajectory::Reaction& r : e.impulses) closed[ix(r.element)] = 1;
    ModelCollision c = collision_at(model, e.t, e.q, e.u_minus, closed);
    if (c.singular) return a;
    c.collision.u_plus = vector_of(e.u_plus);
    const Vector Lambda = impulses_of(c, e.impulses);
    const Vector gamma_minus = relative_velocities(c.collision, c.collision.u_minus);
    const Vector gamma_plus = relative_velocities(c.collision, c.collision.u_plus);
    std::vector<int> start{0};
    for (const int size : c.collision.sizes) start.push_back(start.back() + size);
    const auto span = [](const Vector& x) {
        return std::span<const double>(x.data(), static_cast<std::size_t>(x.size()));
    };
    const impact::DecidedWork work = impact::audit(
        {span(gamma_minus), span(gamma_plus), span(c.collision.chi), span(Lambda), start, c.collision.laws});
    const double prevented = e.audit.prevented;
    a.audit = energy_audit(work);
    a.work = work.work;
    if (a.audit.created > 0.0) a.why = explain(c.collision, span(Lambda), c.restitutions, c.owner, a.audit);
    if (prevented > 0.0) {
        a.audit.prevented = prevented;
        a.audit.element = e.audit.element;
        a.audit.law = e.audit.law;
    }
    // misfit = ‖M Δu − WΛ‖/‖M Δu‖ with ‖p‖² = p·M⁻¹p, the kinetic metric of momenta p.
    const Vector jump = c.collision.u_plus - c.collision.u_minus;
    const Vector impulse = c.collision.M * jump, rest = impulse - c.collision.directions * Lambda;
    const Cholesky factor(c.collision.M);
    const double whole = std::sqrt(std::max(0.0, impulse.dot(factor.solve(impulse))));
    if (whole > 0.0) a.misfit = std::sqrt(std::max(0.0, rest.dot(factor.solve(rest)))) / whole;
    a.kinetic_change = 0.5 * jump.dot(c.collision.M * (c.collision.u_plus + c.collision.u_minus));
    return a;
}

}  // namespace

std::vector<char> closed_elements(const model::Mechanics& model, double t, const std::vector<double>& q) {
    Dynamics d(model, false, 1.0);
    std::vector<double> x(q);
    x.resize(2 * q.size() + 1, 0.0);
    d.evaluate_terms(t, x.data());
    std::vector<char> closed;
    for (const ElementLayout& e : d.elements()) {
        bool contact = e.rows.kind == ElementKind::contact;
        if (contact)
            if (const model::Coefficient c = model.contacts[ix(e.rows.index)].condition; c != model::no_coefficient)
                contact = d.coefficients()[ix(c)] > 0.0;
        const bool touches = contact && std::abs(d.terms().positions[ix(e.rows.normal)]) <=
                                            closed_gap_ratio * d.position_scale(e.rows.normal, x.data());
        closed.push_back(touches || e.rows.kind == ElementKind::clutch ? 1 : 0);
    }
    return closed;
}

ModelCollision collision_at(const model::Mechanics& model, double t, const std::vector<double>& q,
                            const std::vector<double>& u_minus, const std::vector<char>& closed) {
    ModelCollision c;
    c.t = t;
    c.q = q;
    c.closed = closed;
    Moment at(model, q, u_minus, closed);
    at.dynamics.evaluate_terms(t, at.x.data());
    if (!at.change.prepare(t, at.x.data(), at.candidates, c.note)) {
        c.singular = true;
        return c;
    }
    c.owner = at.change.owner();
    c.collision = frictional_collision(model, at.dynamics.terms(), at.change.rows(), c.owner, u_minus, u_minus);
    c.restitutions = at.change.restitutions();
    return c;
}

LawOutcome law_outcome(const model::Mechanics& model, const ModelCollision& c) {
    LawOutcome outcome;
    const impact::FrictionalCollision& f = c.collision;
    Vector z = f.u_minus;
    if (f.impulse.size() > 0) z += Cholesky(f.M).solve(f.impulse);
    Moment at(model, c.q, vector_of(z), c.closed);
    const Strike strike = at.change.strike(c.t, at.x.data(), at.candidates);
    outcome.note = strike.note;
    outcome.approaches = strike.happened || strike.failed;
    outcome.solved = !strike.failed;
    outcome.u_plus = strike.happened ? vector_of(strike.u_plus) : z;
    outcome.Lambda = strike.happened ? impulses_of(c, strike.impulses) : Vector::Zero(f.directions.cols());
    return outcome;
}

Vector impulses_of(const ModelCollision& c, const std::vector<trajectory::Reaction>& impulses) {
    Vector Lambda = Vector::Zero(c.collision.directions.cols());
    // Friction of a constraint has blocks of its own; `taken` counts the tangential impulses that earlier blocks used.
    std::vector<int> taken(impulses.size(), 0);
    each_block(c.collision, [&](std::size_t b, Eigen::Index row) {
        for (std::size_t k = 0; k < impulses.size(); ++k) {
            if (impulses[k].element != c.owner[b]) continue;
            for (int i = 0; i < c.collision.sizes[b]; ++i) {
                if (impact::row_kind(c.collision.laws[b], i) != impact::RowKind::tangential)
                    Lambda(row + i) = impulses[k].N;
                else if (taken[k] < static_cast<int>(impulses[k].T.size()))
                    Lambda(row + i) = impulses[k].T[ix(taken[k]++)];
            }
        }
    });
    return Lambda;
}

TrajectoryAudit audit(const trajectory::Trajectory& trajectory, const model::Mechanics* model) {
    TrajectoryAudit result;
    if (model == nullptr)
        result.why_not = "no model was given";
    else if (trajectory.stepped)
        result.why_not = "time-stepping keeps the ends of its steps, not the states at its impacts";
    result.recomputed = result.why_not.empty();
    double largest_rank = 0.0;
    for (std::size_t k = 0; k < trajectory.events.size(); ++k) {
        const trajectory::Event& e = trajectory.events[k];
        if (!is_impact(e)) continue;
        result.impacts.push_back(result.recomputed ? recomputed(*model, e, k) : as_found(e, k));
        const AuditedImpact& a = result.impacts.back();
        result.work += a.work;
        result.obstacle_work += a.audit.obstacle_work;
        result.created += a.audit.created;
        result.prevented += a.audit.prevented;
        result.misfit = std::max(result.misfit, a.misfit);
        if (a.audit.created > 0.0) ++result.creating;
        const double rank = a.audit.created > 0.0 ? a.audit.created : std::min(0.0, a.work);
        if (result.worst < 0 || rank > largest_rank) {
            largest_rank = rank;
            result.worst = static_cast<int>(result.impacts.size()) - 1;
        }
    }
    return result;
}

}  // namespace saltus::integrate
