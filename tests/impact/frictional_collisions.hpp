// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "collisions.hpp"
#include "saltus/base/factors.hpp"
#include "saltus/impact/frictional.hpp"

/// Collisions with friction for the tests.
namespace saltus::impact::test {

using solvers::Law;
using solvers::LawKind;

inline Law law_of(LawKind kind, double mu = 0.0) {
    Law law;
    law.kind = kind;
    law.mu = mu;
    return law;
}

/// A tangential vector of at most this length.
inline Vector within(Random& random, Index n, double length) {
    const Vector t = random.vector(n);
    return t.normalized() * length * std::min(1.0, 1.5 * random.uniform());
}

/// Impulses in the cone of the law, as wide as they get in a third of the cases.
inline Vector impulse_in(Random& random, const Law& law, int size) {
    Vector Lambda = Vector::Zero(size);
    const double n = std::max(0.0, random.normal() + 0.4);
    switch (law.kind) {
        case LawKind::bilateral: return random.vector(size);
        case LawKind::slider: return within(random, size, law.bound);
        default: break;
    }
    Lambda(0) = n;
    if (size >= 3) Lambda.segment(1, 2) = within(random, 2, law.mu * n);
    if (size == 2) Lambda.tail(1) = within(random, 1, law.mu * n);
    if (law.kind == LawKind::friction3 && law.mu_second >= 0.0) Lambda(2) *= law.mu_second / law.mu;
    if (law.kind == LawKind::drilling4 || law.kind == LawKind::rolling6)
        Lambda.segment(3, 1) = within(random, 1, law.mu_drilling * n);
    if (law.kind == LawKind::rolling5) Lambda.tail(2) = within(random, 2, law.mu_rolling * n);
    if (law.kind == LawKind::rolling6) Lambda.tail(2) = within(random, 2, law.mu_rolling * n);
    return Lambda;
}

inline FrictionalCollision random_frictional(Random& random, Index n, const std::vector<Law>& laws,
                                             const std::vector<int>& sizes, bool external, Vector& Lambda) {
    FrictionalCollision c;
    c.laws = laws;
    c.sizes = sizes;
    Index rows = 0;
    for (const int size : sizes) rows += size;
    c.M = random.mass(n);
    c.directions = random.matrix(n, rows);
    c.chi = random.vector(rows);
    c.u_minus = random.vector(n);
    Lambda.resize(rows);
    Index row = 0;
    for (std::size_t k = 0; k < laws.size(); ++k) {
        Lambda.segment(row, sizes[k]) = impulse_in(random, laws[k], sizes[k]);
        row += sizes[k];
    }
    Vector impulse = c.directions * Lambda;
    if (external) {
        c.impulse = random.vector(n);
        impulse += c.impulse;
    }
    c.u_plus = c.u_minus + Cholesky(c.M).solve(impulse);
    return c;
}

/// D = [[5/2, 3/2], [3/2, 5/2]]: a rod at 45 degrees on its end, the velocities those of the contact point.
inline FrictionalCollision rod(double mu) {
    FrictionalCollision c;
    c.M = inverse(matrix_of({{2.5, 1.5}, {1.5, 2.5}}));
    c.directions = Matrix::Identity(2, 2);
    c.laws = {law_of(LawKind::friction2, mu)};
    c.sizes = {2};
    return c;
}

}  // namespace saltus::impact::test
