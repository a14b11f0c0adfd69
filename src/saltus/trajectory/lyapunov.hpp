// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

namespace saltus::trajectory {

/// V = T + U along a motion, and what has changed it since the start, all in J, one entry a time. [Leine] (70),
/// (77)–(79)
///     V(t) − V(t₀) = applied + driven − damping − friction − springs − impact_friction − impact_restitution
/// At an impact there are two entries, before and after it.
struct LyapunovBalance {
    std::vector<double> t, V;
    // Energy taken out.
    std::vector<double> damping;   ///< energy taken out by Rayleigh damping
    std::vector<double> friction;  ///< energy taken out by friction forces: D^λT
    std::vector<double> springs;   ///< energy taken out by springs and dampers of penalised contacts; springs return it
    std::vector<double> impact_friction;  ///< energy taken out by friction impulses: D^ΛT
    /// Energy taken out by impacts otherwise: ½Λᵀ D (I−E)(I+E)⁻¹ Λ under Newton's law.
    std::vector<double> impact_restitution;
    // Energy brought in.
    std::vector<double> applied;  ///< energy brought in by the forces f
    std::vector<double> driven;   ///< energy brought in by moving obstacles, constraints, belts, jumps

    double error = 0.0;             ///< largest difference of the two sides, relative to the largest energy seen
    double largest_increase = 0.0;  ///< largest increase of V between two entries beyond what was brought in, relative
                                    ///< to the largest energy seen

    bool empty() const { return t.empty(); }
    std::size_t size() const { return t.size(); }
};

}  // namespace saltus::trajectory
