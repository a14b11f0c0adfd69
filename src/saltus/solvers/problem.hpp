// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "saltus/solvers/linear/block_matrix.hpp"

namespace saltus::solvers {

/// The law between the reaction r and the velocity v of one block of rows. Normal first, then sliding, drilling,
/// rolling, as far as the kind has them.
enum class LawKind {
    bilateral,      ///< v = 0, r free; any size
    unilateral,     ///< 0 <= v  ⊥  r >= 0; size 1
    friction2,      ///< planar contact, size 2: r_N, r_T
    friction3,      ///< spatial contact, size 3: r_N, r_T1, r_T2; isotropic or, with mu_second, orthotropic
    contensou4,     ///< sliding and drilling of a patch that share one body of forces (sets::Contensou), size 4
    drilling4,      ///< with drilling moment, size 4
    rolling5,       ///< with rolling moments, size 5: r_N, r_T1, r_T2, m_1, m_2
    rolling6,       ///< with both, size 6: r_N, r_T1, r_T2, m_D, m_1, m_2
    slider,         ///< friction with a known bound: |r| <= bound, size 1 or 2
    scaled_slider,  ///< friction on a bilateral row: |r| <= mu |r_row|, size 1 or 2
};

struct Law {
    LawKind kind = LawKind::unilateral;
    double mu = 0.0;           ///< of sliding
    double mu_second = -1.0;   ///< of sliding along the second direction of friction3; negative: mu
    double radius = 0.0;       ///< of the patch of contensou4
    double mu_drilling = 0.0;  ///< |m_D| <= mu_drilling r_N
    double mu_rolling = 0.0;   ///< ‖m‖ <= mu_rolling r_N
    double bound = 0.0;        ///< of a slider
    int row = -1;              ///< whose reaction scales a scaled_slider
};

int law_size(LawKind kind);  ///< 0: any
inline bool orthotropic(const Law& law) { return law.kind == LawKind::friction3 && law.mu_second >= 0.0; }

/// v = W r + q with a law on each block of rows. W may be dense or sparse in blocks, singular, and slightly
/// unsymmetric.
///     v̂ = v + (μ‖v_T‖ + μ_D|ω_D| + μ_R‖ω_R‖) n     K* ∋ v̂ ⊥ r ∈ K
/// in which the sum is the support function of the friction forces of r_N = 1, for ellipse and patch too.
struct FrictionProblem {
    BlockMatrix W;
    std::vector<double> q;
    std::vector<Law> laws;

    int contacts() const { return static_cast<int>(laws.size()); }
};

/// 0 <= w = M z + q  ⊥  z >= 0
struct LinearComplementarity {
    Matrix M;
    Vector q;
};

/// w = M z + q; the rows with `free` have w = 0 and z free, the others 0 <= w ⊥ z >= 0. M may have more rows than
/// columns among the free ones (over-determined).
struct MixedComplementarity {
    Matrix M;
    Vector q;
    std::vector<bool> free;
};

/// w = M z + q, lower <= z <= upper, -w ∈ N_[lower, upper](z)
struct Relay {
    Matrix M;
    Vector q, lower, upper;
};

}  // namespace saltus::solvers
