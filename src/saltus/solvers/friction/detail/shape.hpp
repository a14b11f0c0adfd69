// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "saltus/solvers/problem.hpp"

namespace saltus::solvers {

/// A law as the methods see it: perhaps a normal, then parts whose length is bounded by mu times the normal, or by a
/// fixed or scaled bound.
struct Shape {
    struct Part {
        int first = 0, size = 0;
        double mu = 0.0;
    };
    bool bilateral = false;
    bool normal = false;
    bool patch = false;  ///< the other rows are one Coulomb–Contensou body
    int parts = 0;
    std::array<Part, 3> part{};
};

inline Shape shape_of(const Law& law, int size) {
    Shape s;
    const auto add = [&](int first, int n, double mu) { s.part[static_cast<std::size_t>(s.parts++)] = {first, n, mu}; };
    switch (law.kind) {
        case LawKind::bilateral: s.bilateral = true; break;
        case LawKind::unilateral: s.normal = true; break;
        case LawKind::friction2: s.normal = true, add(1, 1, law.mu); break;
        case LawKind::friction3: s.normal = true, add(1, 2, law.mu); break;  // orthotropic ones come scaled
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
