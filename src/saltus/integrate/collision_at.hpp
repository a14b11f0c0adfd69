// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "saltus/integrate/impact_audit.hpp"

namespace saltus::integrate {

/// A collision of a model at a state, as matrices and laws. The velocities after it are those before until they are
/// set.
struct ModelCollision {
    double t = 0.0;
    std::vector<double> q;
    std::vector<char> closed;  ///< elements that take part: contacts and clutches; constraints always do
    impact::FrictionalCollision collision;
    impact::Restitutions restitutions;
    std::vector<int> owner;  ///< element of each block
    std::string note;        ///< about coefficients
    bool singular = false;   ///< the mass matrix is: nothing else is set
};

/// Contacts whose gap is zero within rounding at t, q, and all clutches; one entry an element.
std::vector<char> closed_elements(const model::Model& model, double t, const std::vector<double>& q);

ModelCollision collision_at(const model::Model& model, double t, const std::vector<double>& q,
                            const std::vector<double>& u_minus, const std::vector<char>& closed);

/// What the model's impact laws make of it; an impulse from outside acts first.
struct LawOutcome {
    bool solved = false;
    bool approaches = false;  ///< some contact does: otherwise nothing happens
    Vector u_plus, Lambda;    ///< one a row of the collision
    std::string note;
};
LawOutcome law_outcome(const model::Model& model, const ModelCollision& collision);

/// Impulses of the elements of an event, one a row.
Vector impulses_of(const ModelCollision& collision, const std::vector<trajectory::Reaction>& impulses);

/// One impact of a trajectory, looked at once more.
struct AuditedImpact {
    std::size_t event = 0;
    double work = 0.0, kinetic_change = 0.0;
    trajectory::EnergyAudit audit;
    double misfit = 0.0;  ///< |M(u⁺ − u⁻) − WΛ| of |M(u⁺ − u⁻)| in the metric of M⁻¹: does the model belong to it?
    std::string why;  ///< it creates energy
};

struct TrajectoryAudit {
    bool recomputed = false;  ///< from the model; otherwise what the run itself had found
    std::string why_not;
    std::vector<AuditedImpact> impacts;
    double created = 0.0, prevented = 0.0, obstacle_work = 0.0, work = 0.0;
    int creating = 0;
    int worst = -1;  ///< impact that created most; without any, of the most work
    double misfit = 0.0;
};

/// Every impact of a trajectory. Without a model, and for time-stepping, which keeps no states at its impacts, it sums
/// up what the run found.
TrajectoryAudit audit(const trajectory::Trajectory& trajectory, const model::Model* model);

}  // namespace saltus::integrate
