// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

namespace saltus::model {

/// Which terms of the equations of motion are wanted as Taylor series. M, h and the powers are always wanted; see
/// `forces_suffice`.
struct SeriesNeeds {
    std::vector<char> positions;     ///< one per constraint and gap: its value is wanted
    std::vector<char> rows;          ///< one per row of the layout: W, χ and ζ of the row are wanted
    std::vector<char> coefficients;  ///< one per coefficient
    bool forces_suffice = false;     ///< other_forces may be given in place of the powers damping and applied
    /// Positions and other_forces above order 0 are wanted after the expansion only: SeriesEquations::complete.
    bool positions_later = false;

    bool operator==(const SeriesNeeds&) const = default;
};

/// The terms of the equations of motion as Taylor series in τ = t − t0 along a motion q(t0 + τ), u(t0 + τ). The caller
/// and this object find the motion together, order by order: the caller writes order k of q and u, `evaluate_order(k)`
/// computes order k of all terms, and from these the caller finds order k + 1 of q and u. The velocities are u = q̇: the
/// caller writes q_(k+1) = u_k/(k + 1).
///
/// Expressions with `if`, `abs`, `min`, `max`, `sign` or comparisons keep one branch during an expansion. Each branch
/// is decided by the sign of a switching function, which is itself a series. If it changes its sign at some τ > 0, then
/// the series of all terms are valid only up to there.
///
/// An object belongs to one thread. Expansions allocate nothing; the first call of `bounds` does.
class SeriesEquations {
public:
    static constexpr int max_order = 30;  ///< the highest order that can be computed
    /// Larger than every degree of a polynomial.
    static constexpr int unlimited_degree = 1000;

    virtual ~SeriesEquations() = default;

    /// Coefficients of one series: order k at [k]. Null if the term was not asked for. The pointers stay valid.
    using Row = const double*;
    std::vector<double*> q, u;                 ///< written by the caller, one per coordinate
    std::vector<Row> M;                        ///< in the pattern Layout::mass
    std::vector<Row> h;                        ///< one per coordinate
    std::vector<Row> positions;                ///< constraint functions, then gaps
    std::vector<Row> W;                        ///< in the pattern Layout::rows
    std::vector<Row> chi, zeta;                ///< one per row
    std::vector<Row> coefficients;             ///< one per coefficient
    Row damping = nullptr, applied = nullptr;  ///< powers, in W; null if other_forces are given in their place
    /// The generalised forces F = f − ∂R/∂u, one per coordinate and null where zero: their power u·F is applied minus
    /// damping. Empty unless they are given in place of the powers.
    std::vector<Row> other_forces;
    bool mass_constant = false;              ///< all coefficients of M above order 0 are zero
    std::vector<char> W_constant;            ///< one per entry of W: its coefficients above order 0 are zero
    std::vector<char> coefficient_constant;  ///< the same for the coefficients
    /// The same for the entries of M and for χ. Empty if it is not known.
    std::vector<char> M_constant, chi_constant;

    /// Begins a new expansion at t0. Sides that were set before the call are kept until `clear_sides`.
    virtual void begin(double t0) = 0;
    /// Computes order k of all terms. Orders 0 to k of q and u must be known, and orders 0 to k − 1 computed. A
    /// coefficient that does not exist (such as of √x at x = 0) is not finite.
    virtual void evaluate_order(int k) = 0;
    /// With SeriesNeeds::positions_later: computes the positions, other_forces and switching functions up to the last
    /// evaluated order. To be called before anything but the terms of the equations of motion is read.
    virtual void complete() {}

    virtual int switch_count() const { return 0; }
    virtual Row switch_function(int /*i*/) const { return nullptr; }
    virtual int side(int /*i*/) const { return 0; }    ///< +1 or −1: the branch in use
    virtual void set_side(int /*i*/, int /*side*/) {}  ///< fixes the branch for the expansions that follow
    virtual void clear_sides() {}                      ///< the values at t0 decide the branches again

    /// Whether the size of the last coefficients tells everything about the terms: they are linear in q and u, and
    /// their dependence on time has no features narrower than the coefficients show. Bounds are then not needed.
    virtual bool transparent() const { return false; }

    /// If M, W and the coefficients are constant, and h, ζ and χ are polynomials of the time, then so are accelerations
    /// and reactions, q, u and everything that is a polynomial of them. This is the largest degree of q, u, all terms,
    /// and the work; unlimited_degree if they are not known to be polynomials. It holds if all other forces are
    /// proportional to reactions with constant factors.
    virtual int motion_degree() const { return unlimited_degree; }

    /// Bounds of the terms on the complex disk |τ| <= R: the arrays hold sup |term(τ) − term(0)|, in the order of the
    /// rows above, for the branches in use. An entry is infinite if the term cannot be shown to be analytic there.
    struct Radii {
        std::vector<double> M, h, positions, W, chi, zeta, coefficients, switches;
        double damping = 0.0, applied = 0.0;
    };
    /// Computes the bounds for the polynomials q and u whose coefficients were written up to the order that was last
    /// evaluated. The caller knows that |q_i(τ) − q_i(0)| <= q_radius[i], and u alike, on the disk.
    virtual const Radii& bounds(double R, std::span<const double> q_radius, std::span<const double> u_radius) = 0;

    /// Bounds, in the same arrays, on the step 0 <= τ <= `step` of what the series of the terms leave out beyond the
    /// order N that was last evaluated: sup |term(τ) − Σ_(k<=N) term_k τ^k| for the polynomials q and u of degree N.
    /// They are much sharper than what follows from `bounds`. Null if the system has none.
    virtual const Radii* remainders(double /*step*/) { return nullptr; }

protected:
    /// Gives the arrays the sizes of the terms, and all entries the value 0.
    void set_sizes(Radii& radii) const {
        radii.M.assign(M.size(), 0.0);
        radii.h.assign(h.size(), 0.0);
        radii.positions.assign(positions.size(), 0.0);
        radii.W.assign(W.size(), 0.0);
        radii.chi.assign(chi.size(), 0.0);
        radii.zeta.assign(zeta.size(), 0.0);
        radii.coefficients.assign(coefficients.size(), 0.0);
        radii.switches.assign(static_cast<std::size_t>(switch_count()), 0.0);
    }
};

}  // namespace saltus::model
