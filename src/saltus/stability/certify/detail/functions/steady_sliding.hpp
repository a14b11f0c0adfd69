// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "saltus/proof/theorem.hpp"
#include "saltus/stability/certify/attractivity.hpp"
#include "saltus/stability/equilibria/equilibrium_statics.hpp"

namespace saltus::stability {

/// The direction in which each slider slides although the coordinates rest, because its surface moves (a belt): 1 or −1
/// if the slip velocity χ(q) of all positions q at rest has that sign, proved, and 0 if χ = 0. std::nullopt if no
/// slider slides, if the sign of some χ is not proved, or if such a slider has not one slip direction with Coulomb
/// friction.
std::optional<std::vector<int>> sliding_directions(const model::Mechanics& model);

/// The equilibrium in which the sliders of `directions` slide steadily. Next to it their friction is a smooth force:
/// constant parts of it are counted as potential energy, and Theorem 1 is applied in the region where no slip velocity
/// changes its sign. If Theorem 1 decides nothing, or for Theorem::instability, Lyapunov's first method is applied: a
/// quadratic function V from the linearised motion is proved to fall or to grow along all motions next to the
/// equilibrium.
proof::Certificate certify_steady_sliding(const model::Mechanics& model, const std::vector<int>& directions,
                                          std::optional<proof::Theorem> theorem, const CertifyOptions& options);

/// Row B of such a certificate: a body that is carried along by the moving surfaces of the rows `slips` (γ_T = 0),
/// while the gaps of the rows `closed` stay closed, keeps its forces only if the load does not change along its
/// velocity u: d(∇U)/dt = ∇²U u.
proof::Condition carried_row(RestingModel& model, const Vector& q, const std::vector<int>& slips,
                             const std::vector<int>& closed);

}  // namespace saltus::stability
