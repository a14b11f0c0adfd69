// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "saltus/solvers/linear/block_matrix.hpp"

namespace saltus::solvers {

/// The kind of law that relates the reaction r and the relative velocity v of one block of rows. Depending on the level
/// of the problem r is a force λ or an impulse Λ, and v is an acceleration or a velocity. The rows of a block are
/// ordered: normal N, sliding T1, T2, drilling D, rolling R1, R2, as far as the kind has them.
enum class LawKind {
    bilateral,      ///< v = 0, r is free. Any size.
    unilateral,     ///< 0 <= v ⊥ r >= 0. Size 1.
    friction2,      ///< Planar contact with Coulomb friction: r_N, r_T. Size 2.
    friction3,      ///< Spatial contact: r_N, r_T1, r_T2. Isotropic, or orthotropic if mu_second >= 0. Size 3.
    contensou4,     ///< Sliding and drilling of a round patch that share one body of forces (sets::Contensou). Size 4.
    drilling4,      ///< Spatial contact with an independent drilling moment: r_N, r_T1, r_T2, m_D. Size 4.
    rolling5,       ///< Spatial contact with rolling moments: r_N, r_T1, r_T2, m_R1, m_R2. Size 5.
    rolling6,       ///< Spatial contact with drilling and rolling moments: r_N, r_T1, r_T2, m_D, m_R1, m_R2. Size 6.
    slider,         ///< Friction with a known bound: ‖r‖ <= bound; if mu_second >= 0, orthotropic. Size 1 or 2.
    scaled_slider,  ///< Friction scaled by a bilateral reaction: ‖r‖ <= mu |r_row|; likewise. Size 1 or 2.
};

/// The law of one block of rows with its parameters. Parameters that the kind does not use are ignored.
struct Law {
    LawKind kind = LawKind::unilateral;
    double mu = 0.0;           ///< friction coefficient of sliding, >= 0
    double mu_second = -1.0;   ///< coefficient along T2 of friction3 and of sliders; negative: mu (isotropic)
    double radius = 0.0;       ///< radius of the patch of contensou4, a length >= 0
    double mu_drilling = 0.0;  ///< |m_D| <= mu_drilling r_N; a length >= 0
    double mu_rolling = 0.0;   ///< ‖m_R‖ <= mu_rolling r_N; a length >= 0
    double bound = 0.0;        ///< largest ‖r‖ of a slider; if mu_second >= 0, its load: |r_T1| <= mu bound; >= 0
    int row = -1;              ///< row of the problem whose reaction scales a scaled_slider; -1 for other kinds
};

/// Number of rows of a block of this kind; 0 if the kind does not fix it (bilateral and both sliders).
int law_size(LawKind kind);

/// True if the contact has different friction coefficients along its two tangential directions.
inline bool orthotropic(const Law& law) { return law.kind == LawKind::friction3 && law.mu_second >= 0.0; }

/// The contact problem: find r such that v = W r + q satisfies the law of each block of rows. W is the Delassus matrix
/// and q the velocity without reactions. With De Saxcé's change of variables each contact with friction is a
/// complementarity on its cone K of admissible reactions,
///     v̂ = v + (μ‖v_T‖ + μ_D|ω_D| + μ_R‖ω_R‖) n,     K* ∋ v̂ ⊥ r ∈ K.
/// The sum in brackets is the support function of the friction forces of r_N = 1; for an ellipse or a patch it is the
/// support function of that set. W may be dense or sparse in blocks, singular, and slightly unsymmetric.
struct FrictionProblem {
    BlockMatrix W;          ///< Delassus matrix, named as in the literature on contact solvers; `delassus` elsewhere
    std::vector<double> q;  ///< one number per row of W
    std::vector<Law> laws;  ///< one law per block of W

    int contacts() const { return static_cast<int>(laws.size()); }
};

/// Linear complementarity problem (LCP): 0 <= w = M z + q  ⊥  z >= 0. M is square.
struct LinearComplementarity {
    Matrix M;
    Vector q;
};

/// Mixed linear complementarity problem (MLCP): w = M z + q. A row with `free` has w = 0 and its z is free; the other
/// rows have 0 <= w ⊥ z >= 0. M may have more rows than columns. The surplus rows are equations: the first
/// rows - columns rows have no unknown of their own, and row i belongs to the unknown i - (rows - columns).
struct MixedComplementarity {
    Matrix M;
    Vector q;
    std::vector<bool> free;  ///< one flag per row
};

/// Relay (bounded complementarity): w = M z + q, lower <= z <= upper, -w ∈ N_[lower, upper](z). That is w >= 0 at the
/// lower bound, w <= 0 at the upper bound and w = 0 between them. The bounds may be infinite. Crossing bounds make the
/// problem infeasible.
struct Relay {
    Matrix M;
    Vector q, lower, upper;
};

}  // namespace saltus::solvers
