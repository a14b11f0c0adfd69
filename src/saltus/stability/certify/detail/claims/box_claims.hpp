// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "saltus/proof/admissible.hpp"
#include "saltus/proof/claims.hpp"
#include "saltus/stability/certify/detail/stationary_point.hpp"

// The claims of a certificate file are written after the proof, by a second subdivision. It uses only steps that
// docs/certificate-format.md describes, so that another program can repeat each of them: plain enclosures over a box
// and elimination without pivoting. Each inequality is required with a margin, because another program may have
// slightly wider enclosures.

namespace saltus::stability {

using proof::Box;
using proof::ClaimValue;
using proof::Interval;
using proof::IntervalMatrix;
using proof::IntervalVector;

/// The inequalities hold with a margin of a fraction of the interval's width (`claim_margin` in the .cpp file).
bool surely_negative(const Interval& x);
bool surely_positive(const Interval& x);
bool exactly_zero(const Interval& x);

/// Positive definite by elimination without pivoting, with a margin of the pivots.
bool shown_definite(const IntervalMatrix& A);
/// X with A X = B by elimination without pivoting. std::nullopt: a pivot may vanish.
std::optional<IntervalMatrix> eliminated(IntervalMatrix A, IntervalMatrix B);

/// (X, N) with M X = P + GᵀN and G X = 0, for the rows G of constraints without friction (may have no rows).
/// std::nullopt: a pivot may vanish.
std::optional<IntervalMatrix> response_of(const IntervalMatrix& M, const IntervalMatrix& G, const IntervalMatrix& P);

/// What all claims about one model share: D, ρ, U_ref and the functions of the model.
struct ClaimScope {
    const proof::Enclosure& e;
    const StationaryPoint& equilibrium;
    Box domain;            ///< D
    double reference;      ///< U_ref
    double level;          ///< ρ
    std::vector<int> I_C;  ///< position rows
    long budget;           ///< largest number of leaves of one tree
    std::function<bool()> stop = {};
    bool slides = false;  ///< the setting has sliders that slide steadily; their friction is one of the forces

    int n() const { return e.size(); }
    const std::string& name(int position_row) const;
    Interval Q(const Box& q) const;
    /// The position rows of the gaps that another program may not exclude to be closed somewhere in the box.
    std::vector<int> may_close(const Box& q) const;
    /// The largest kinetic energy of the motion at these positions: ρ − inf Q.
    double kinetic(const Box& q) const;
};

/// A leaf for the box, or nothing if the box has to be split.
using LeafTest = std::function<std::optional<ClaimValue>(const Box&)>;
/// The uncertainty of what `LeafTest` computes, for the choice of the side to split.
using Spread = std::function<double(const Box&)>;

/// A leaf that shows that the box has no position of P: a negative gap, a constraint that does not vanish, a high
/// level.
std::optional<ClaimValue> empty_leaf(const ClaimScope& scope, const Box& q);

/// A tree over the box whose leaves are empty or come from the test. std::nullopt: it would need more leaves than the
/// budget. `fixed`: a coordinate that is not split, or −1. `special`: a box for which the test has leaves of its own;
/// the tree is first split along its faces.
std::optional<ClaimValue> tree_over(const ClaimScope& scope, const Box& box, const LeafTest& test, const Spread& spread,
                                    int fixed = -1, const std::vector<Box>& special = {});

/// d(q) = the tangent vector with the free components e: d_F = e, d_P = −G_P⁻¹ G_F e, over a box. std::nullopt: G_P is
/// not shown to be regular.
std::optional<IntervalVector> tangent_vector(const ClaimScope& scope, const Box& q, const std::vector<int>& pivots,
                                             const std::vector<double>& free);

/// Pivot coordinates for the constraints near the equilibrium. std::nullopt: the constraints are not independent there.
std::optional<std::vector<int>> choose_pivots(const ClaimScope& scope);

/// Weights ω > 0, one for each row of S, with which Σ ω S_rᵀS_r is shown to be positive definite: S u = 0 for u = 0
/// only. std::nullopt: not shown.
std::optional<std::vector<double>> rank_weights(const IntervalMatrix& S);

/// All entries are finite and have the same value everywhere, up to rounding, if A is an enclosure over ℝⁿ.
bool constant_entries(const IntervalMatrix& A);

/// f^nc(q, 0) = 0 everywhere: by the form of the expressions, or because its bounds over ℝⁿ are exactly 0.
bool vanishing_at_rest(const proof::Enclosure& enclosure);

/// Claims that consist of a kind, or of a kind and a tree.
ClaimValue bare_claim(const char* kind);
ClaimValue tree_claim(const char* kind, ClaimValue tree);
/// The rows of a matrix as lists of exact numbers.
ClaimValue claim_matrix(const Matrix& A);

Interval dot_product(const IntervalVector& a, const IntervalVector& b);
IntervalVector matrix_row(const IntervalMatrix& A, int row);
IntervalVector constants(const std::vector<double>& x);

}  // namespace saltus::stability
