// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "saltus/solvers/problem.hpp"

namespace saltus::solvers {

/// The structure of a law: an optional normal row, then parts whose length is bounded by mu times the normal reaction
/// or, without a normal row, by the bound of a slider.
struct Shape {
    /// Consecutive rows with a common bound on their length.
    struct Part {
        int first = 0;    ///< first row inside the block
        int size = 0;     ///< 1 or 2 rows
        double mu = 0.0;  ///< ‖r_part‖ <= mu r_N
    };
    bool bilateral = false;      ///< all rows have v = 0
    bool normal = false;         ///< row 0 is a unilateral normal
    bool patch = false;          ///< rows 1 to 3 are bounded by one Coulomb–Contensou body
    int parts = 0;               ///< number of valid elements of `part`
    std::array<Part, 3> part{};  ///< sliding, drilling, rolling, as far as the law has them
};

/// The structure of a law of `size` rows. Orthotropic contacts must have been made isotropic before
/// (friction_coordinates.hpp); mu_second is ignored.

inline Shape shape_of(const Law& law, int size) {
    Shape s;
    const auto add = [&](int first, int n, double mu) { s.part[static_cast<std::size_t>(s.parts++)] = {first, n, mu}; };
    switch (law.kind) {
        case LawKind::bilateral: s.bilateral = true; break;
        case LawKind::unilateral: s.normal = true; break;
        case LawKind::friction2: s.normal = true, add(1, 1, law.mu); break;
        case LawKind::friction3: s.normal = true, add(1, 2, law.mu); break;
        case LawKind::contensou4: s.normal = true, s.patch = true; break;
        case LawKind::drilling4: s.normal = true, add(1, 2, law.mu), add(3, 1, law.mu_drilling); break;
        case LawKind::rolling5: s.normal = true, add(1, 2, law.mu), add(3, 2, law.mu_rolling); break;
        case LawKind::rolling6:
            s.normal = true, add(1, 2, law.mu), add(3, 1, law.mu_drilling), add(4, 2, law.mu_rolling);
            break;
        case LawKind::slider:
        case LawKind::scaled_slider: add(0, size, law.mu); break;
    }
    return s;
}

}  // namespace saltus::solvers
