// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "saltus/integrate/impact_audit.hpp"

namespace saltus::integrate {

/// A collision of a model at a state, as matrices and laws.
struct ModelCollision {
    double t = 0.0;
    std::vector<double> q;
    /// For each element: whether it takes part. Only contacts and clutches are asked; constraints always take part.
    std::vector<char> closed;
    impact::FrictionalCollision collision;  ///< the collision; u_plus is u_minus until the caller sets it
    impact::Restitutions restitutions;
    std::vector<int> owner;  ///< element of each block of rows
    std::string note;  ///< remark on the coefficients, e.g. a restitution that was clamped at 0; "" if there is none
    bool singular = false;  ///< the mass matrix is singular: collision, restitutions and owner are not set
};

/// Which elements take part in a collision at (t, q): contacts whose gap is zero within rounding, and all clutches. One
/// entry for each element.
std::vector<char> closed_elements(const model::Mechanics& model, double t, const std::vector<double>& q);

/// The collision of the closed elements with the velocities u⁻.
ModelCollision collision_at(const model::Mechanics& model, double t, const std::vector<double>& q,
                            const std::vector<double>& u_minus, const std::vector<char>& closed);

/// The outcome of a collision by the impact laws of the model.
struct LawOutcome {
    bool solved = false;      ///< false: the laws have no solution; `note` says why
    bool approaches = false;  ///< some closed contact approaches; otherwise nothing happens
    Vector u_plus, Lambda;    ///< velocities, and impulses for each row of the collision
    std::string note;
};
/// An external impulse P of the collision acts first: the laws start from u⁻ + M⁻¹P.
LawOutcome law_outcome(const model::Mechanics& model, const ModelCollision& collision);

/// The impulses of an event, given for each element, as a vector with one entry for each row of the collision.
Vector impulses_of(const ModelCollision& collision, const std::vector<trajectory::Reaction>& impulses);

/// One impact of a trajectory with its energy audit.
struct AuditedImpact {
    std::size_t event = 0;                    ///< number in Trajectory::events
    double work = 0.0, kinetic_change = 0.0;  ///< contact work, and T⁺ − T⁻
    trajectory::EnergyAudit audit;
    double misfit = 0.0;  ///< ‖M(u⁺ − u⁻) − WΛ‖/‖M(u⁺ − u⁻)‖ in the metric of M⁻¹; large if the model is another one
    std::string why;  ///< why the impact creates energy; "" if it does not
};

/// The audit of all impacts of a trajectory; sums over the impacts.
struct TrajectoryAudit {
    bool recomputed = false;  ///< computed from the model; otherwise these are the findings of the run itself
    std::string why_not;      ///< why it was not recomputed
    std::vector<AuditedImpact> impacts;
    double created = 0.0, prevented = 0.0, obstacle_work = 0.0, work = 0.0;
    int creating = 0;     ///< number of impacts that create energy
    int worst = -1;       ///< index of the impact that created most; if none did, of the largest (least negative) work
    double misfit = 0.0;  ///< largest
};

/// Audits every impact of a trajectory. The findings of the run are summed up if `model` is null, and for
/// time-stepping, which does not store the states at its impacts.
TrajectoryAudit audit(const trajectory::Trajectory& trajectory, const model::Mechanics* model);

}  // namespace saltus::integrate
