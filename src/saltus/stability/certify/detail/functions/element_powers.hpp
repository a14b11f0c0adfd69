// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "saltus/stability/certify/detail/conditions.hpp"
#include "saltus/stability/certify/detail/functions/state_proofs.hpp"

namespace saltus::stability {

/// Proofs about what contacts, constraints, sliders and clutches do to a function V of the state.
///
/// With y = M⁻¹ ∂V/∂u the forces λ_r of the elements change V at the rate Σ_r λ_r Φ_r, Φ_r = w_r·y. The sign of each
/// summand is proved from the law of its element:
///     V = ψ(q, T)             y = κu, so that Φ_r = κ γ_r. Normal forces, constraints and clutches do no work, and
///                             friction dissipates energy: the sum is 0 or has the sign of −κ.
/// For other V, with s = 1 if V must fall and s = −1 if it must grow:
///     constraint              γ = 0, any ν:                        Φ = 0 for γ = 0
///     contact, clutch         λ >= 0, γ = 0 where λ > 0:           s Φ <= 0 for γ = 0 (contact: where the gap is 0)
///     friction in a line      λ γ_T <= 0, any λ for γ_T = 0:       Φ = 0 for γ_T = 0, and s ∂Φ/∂γ_T > 0
/// Friction in two and more directions is not treated for them.
///
/// Impacts. If V = ψ(q, T) and s κ > 0, then V falls with T, and conditions 6 and 7 of Theorem 1 are sufficient.
///
/// For other V that are quadratic in u, V changes by Σ_r Λ_r Φ_r(ū) with the mean velocity ū. Let Φ_r = k_r γ_r + φ_r
/// with φ_r(q) = 0 for friction and s φ_r <= 0 for contacts, as above. Newton's law gives γ̄_r = ξ_r/(1 + e_r) − ½ b_r
/// (DΛ)_r with b = (1 − e)/(1 + e) and Λ_r ξ_r <= 0, so that s V changes by at most −½ Λᵀ K B D Λ: the quadratic form
/// of condition 7 with one factor k for each row (claims/impulse_claims.hpp). Without friction each summand is <= 0 for
/// s k_r >= 0, because γ_N⁻ <= 0. V is convex along the way of an impact (concave if V must grow), so that s V is
/// nowhere above its values at both ends, and a motion that was in a level set inside B stays in B.
///
/// Other V may have one contact without friction, and neither constraints nor clutches. Newton's law leads
/// from γ⁻ = −v to γ⁺ = e v along the direction d = M⁻¹w, and V changes by Λ times the mean of Φ on this way. With
///     0 < k₁ <= s dᵀ∇²_uu V d/(w·d) <= k₂ =: bounds of s ∂Φ/∂γ along the way
/// and s Φ <= 0 for γ = 0, the integral of s Φ over γ is at most −k₁v²/2 + k₂e²v²/2. So s V does not grow if e² k₂ <=
/// k₁.
class ElementPowers {
public:
    /// All arguments must outlive the object. V must have a smooth rate.
    ElementPowers(StateFunction& V, const proof::Enclosure& enclosure, Course course);

    /// Proves over a box of states that forces of the elements do not change V in the wrong direction. Points at which
    /// a contact is open are exempt from its conditions, and so are inadmissible positions.
    bool powers(const proof::Box& x) const;
    /// Proves over a box that a velocity without dissipation is 0: velocities that damping, sliders or constraints do
    /// not see. Friction of contacts and constraints is not counted, because their loads may vanish. Requires that
    /// −s StateFunction::losing_hessian is positive definite.
    bool only_rest(const proof::Box& x) const;
    /// Proves that impacts in the box B of states, which contains velocities 0, do not change V in the wrong direction.
    /// A motion that was in B and in a level set of V that does not meet the boundary of B stays in B at impacts.
    bool impacts(const proof::Box& B, const StationaryPoint& equilibrium, long budget,
                 const std::function<bool()>& stop) const;
    /// A position of the box may be admissible.
    bool admissible(const proof::Box& x) const;
    /// V is quadratic in the velocities, and Φ = k γ + φ(q) for all rows of contacts, by the form of the expressions.
    bool quadratic() const { return quadratic_; }
    /// s k of rows of contacts over a box of positions. Requires `quadratic`.
    std::optional<proof::IntervalVector> factors(const std::vector<int>& rows, const proof::Box& q) const;

private:
    struct Row {
        int row = 0;                  // of Wᵀ
        int gap = -1;                 // position row of the gap that must be closed; −1: none
        bool zero_on_surface = true;  // Φ is proved to be 0 for γ = 0 (and gap = 0)
        bool friction = false;
        bool of_position = true;  // on this surface Φ does not depend on velocities
    };
    void add(int row, int gap, bool friction, bool equality);
    proof::Interval on_surface(const Row& r, const proof::Box& x) const;
    proof::Interval slope(const Row& r, const proof::Box& x) const;
    bool right_sign(const proof::Interval& value) const;
    bool single_impact(const proof::Box& x, const proof::Interval& e) const;
    proof::Box positions(const proof::Box& x) const;

    StateFunction& V_;
    const proof::Enclosure& e_;
    double s_;            // 1: V must fall; −1: V must grow
    bool usable_ = true;  // false: some element cannot be treated
    bool quadratic_ = false;
    std::vector<Row> rows_;
    std::vector<StateFunction::Group> on_surface_, slope_;  // one for each of rows_
};

}  // namespace saltus::stability
