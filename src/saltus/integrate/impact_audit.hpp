// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "saltus/impact/audit/decided.hpp"
#include "saltus/integrate/mode/active.hpp"
#include "saltus/integrate/simulate.hpp"

namespace saltus::integrate {

/// A collision of a model as matrices and laws, in the rows of `rows`; `owner` is the element of each block.
impact::FrictionalCollision frictional_collision(const model::Model& model, const model::Terms& terms,
                                                 const ActiveRows& rows, std::span<const int> owner,
                                                 std::span<const double> u_minus, std::span<const double> u_plus);

/// The audit of an impact as an event keeps it; what is left open is why it supplies energy, if it does.
trajectory::EnergyAudit energy_audit(const impact::DecidedWork& work);

/// Fills in what was created and who is to blame; the sentence says why. Programs: for the few that need it.
std::string explain(const impact::FrictionalCollision& collision, std::span<const double> Lambda,
                    const impact::Restitutions& restitutions, std::span<const int> owner,
                    trajectory::EnergyAudit& audit);

/// "energy created at t = 1: 0.05, 3 % of the kinetic energy before; …"
std::string creation_text(const trajectory::Event& event, const std::string& why);

}  // namespace saltus::integrate
