// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

#include "saltus/expr/graph.hpp"
#include "saltus/model/fwd.hpp"
#include "saltus/model/symbolic.hpp"

namespace saltus::model {

/// The sum of the expressions, in which terms that differ only in their sign cancel. Products of sums are multiplied
/// out to find such terms. The graph itself does not cancel x − x if x may be undefined; the result is equal to the sum
/// wherever the sum is defined.
expr::Expr cancelled_sum(expr::Graph& graph, const std::vector<expr::Expr>& summands);

/// The same motions with another potential energy: U becomes `potential` and the other forces f become
/// f − ∂U/∂q + ∂potential/∂q, so that h stays. A force field that is written in f can thus be counted as potential
/// energy. The function gets the formulas of the model and returns an expression of positions and parameters in their
/// graph. A component of f that is proved to vanish for u = 0 gets exactly that form.
///
/// The model must consist of expressions (System::symbolic).
Mechanics with_potential(const Mechanics& model, const std::function<expr::Expr(Formulas&)>& potential);

/// The same motions with the constant parts of the other forces counted as potential energy: a component of f whose
/// value F at rest depends neither on positions nor on the time becomes f − F, and U becomes U − F q.
///
/// The model must consist of expressions.
Mechanics with_constant_forces_in_potential(const Mechanics& model);

/// Where the model with sliding friction as a smooth force (with_sliding) is used.
enum class SlidingRegion {
    one_direction,  ///< where sign·γ > 0: its motions are those of the model itself
    passive         ///< where μ >= 0 and F_N >= 0 hold for |γ| = sign·γ, whatever the sign of γ: see below
};

/// The model in which some sliders slide in one direction for ever: the friction −sign μ F_N ∂γ/∂u of each of them is
/// a smooth force, and |γ| in the formulas is sign·γ. `signs` has one entry for each slider: 1 or −1 (the sign of its
/// slip velocity γ), or 0 if the slider stays as it is. Its motions are those of `model` as long as sign·γ > 0; these
/// inequalities are added to the regions of the model. A slider with friction in a plane (a disk or an ellipse) has the
/// entry 1 if it slides: its friction is −F_N ∂s/∂γ with the support function s of its set, a smooth force as long as
/// γ ≠ 0 (disk) or s > 0 (ellipse).
///
/// SlidingRegion::passive. Let γ = w·u + χ with the sign s of χ, and let F(s γ) be μ F_N in which |γ| is s γ. The
/// smooth force along w is −s F(s γ). The friction of the model differs from it by
///     r = 0 if s γ > 0,   r ∈ s [0, 2F(0)] if γ = 0,   r = s (F(|γ|) + F(−|γ|)) if s γ < 0.
/// If F >= 0 then s r >= 0, and r ≠ 0 only if s w·u <= −|χ|. The power of r is r w·u <= −|r| |χ| <= 0. So an energy
/// that does not grow along the motions of the smooth model does not grow along those of the model, and if it stays
/// constant then r = 0: the motion is one of the smooth model. What is shown about accelerations does not carry over.
/// The regions are μ > 0 and F_N > 0, as far as they depend on the state. Sliders with friction in a plane or with
/// `mu_static` have the region of one direction.
///
/// The model must consist of expressions. The sliders that slide must have Coulomb friction along one direction, or
/// Coulomb or orthotropic friction in a plane.
Mechanics with_sliding(const Mechanics& model, const std::vector<int>& signs,
                       SlidingRegion region = SlidingRegion::one_direction);

}  // namespace saltus::model
