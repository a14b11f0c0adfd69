// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "saltus/impact/audit/decided.hpp"
#include "saltus/integrate/mode/active.hpp"
#include "saltus/integrate/simulate.hpp"

namespace saltus::integrate {

/// A collision of a model as matrices and laws: M, W and χ from `terms` for the rows in `rows`; `owner` has the element
/// of each block of rows.
impact::FrictionalCollision frictional_collision(const model::Mechanics& model, const model::Terms& terms,
                                                 const ActiveRows& rows, std::span<const int> owner,
                                                 std::span<const double> u_minus, std::span<const double> u_plus);

/// The audit of an impact as an event stores it. If the contacts supply energy, `created` is their work; element and
/// law that explain it are not set, see `explain`.
trajectory::EnergyAudit energy_audit(const impact::DecidedWork& work);

/// Finds out why an impact creates energy: sets the created energy, the element and its law in `audit`, and returns a
/// sentence with the reason. Returns "" and sets `created` to 0 if it does not create energy after all. This solves
/// programs, so it costs more than `energy_audit`.
std::string explain(const impact::FrictionalCollision& collision, std::span<const double> Lambda,
                    const impact::Restitutions& restitutions, std::span<const int> owner,
                    trajectory::EnergyAudit& audit);

/// The message for a user: "the impact at t = 1 creates the energy 0.05: …", or "would create" if it was repaired.
std::string creation_text(const trajectory::Event& event, const std::string& why);

}  // namespace saltus::integrate
