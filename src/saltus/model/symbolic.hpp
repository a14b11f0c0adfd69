// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "saltus/expr/tape.hpp"

namespace saltus::model {

class TangentStore;

/// A mechanical system as expressions over one graph. Its coordinates may be a part of a larger model's coordinates;
/// `index` says which.
struct Formulas {
    expr::Graph graph;
    expr::Expr t;
    std::vector<expr::Expr> q, u, p;  ///< symbols of coordinates, velocities and independent parameters
    std::vector<int> index;           ///< index of q[i] among the coordinates of the model, ascending
    int coordinates = 0;              ///< number of coordinates of the model
    expr::Expr T, U, R;               ///< kinetic and potential energy, Rayleigh dissipation
    std::vector<expr::Expr> f;        ///< other generalised forces, one per q
    /// Per force: not 0 if f[i] = 0 for u = 0 by its construction. Numbers that were rounded may hide this: f − f(0) is
    /// a number near 0 then. Empty: nothing is known.
    std::vector<char> vanishing;
    bool vanishes_at_rest(std::size_t i) const { return i < vanishing.size() && vanishing[i] != 0; }
    std::vector<expr::Expr> constraints, gaps;
    std::vector<char> velocity_constraints;  ///< per constraint: not 0 if constraints[k] is γ(t,q,u), affine in u
    bool velocity_constraint(std::size_t k) const {
        return k < velocity_constraints.size() && velocity_constraints[k] != 0;
    }
    std::vector<expr::Expr> slips;  ///< slip velocities γ_T, affine in u: contacts, constraints, sliders, clutches
    std::vector<expr::Expr> coefficients;
    std::vector<expr::Expr> regions;  ///< functions of [certify], each of which is positive inside the region
};

/// What follows from the formulas by differentiation, with D = u·∂/∂q + ∂/∂t, the rate at frozen velocities:
///     M = ∂²T/∂u²,   h = ∂T/∂q − D(∂T/∂u) − ∂U/∂q − ∂R/∂u + f
///     γ = D g  (γ is given for slips and velocity constraints),   W = ∂γ/∂u,   χ = γ at u = 0,   ζ = D γ
/// The first line is Lagrange's equation d/dt(∂T/∂u) − ∂T/∂q = −∂U/∂q − ∂R/∂u + f, because d/dt(∂T/∂u) = M u̇ +
/// D(∂T/∂u).
struct Derived {
    /// An entry of a sparse matrix that is not structurally zero.
    struct Entry {
        int row, column;  ///< column: index into Formulas::q
        expr::Expr value;
    };
    std::vector<Entry> mass;  ///< lower triangle of M, row by row; rows are indices into Formulas::q too
    std::vector<expr::Expr> h;
    std::vector<expr::Expr> velocity;  ///< γ of every row: constraints, gaps, slips
    std::vector<Entry> rows;           ///< Wᵀ, row by row
    std::vector<expr::Expr> chi, zeta;
    /// The energy T₂ − T₀ + U in two parts, T₂ and U − T₀, where T = T₂ + T₁ + T₀ by degree in u. It is T + U if T is
    /// a quadratic form of u. Its rate is the power of the other forces plus `driven`, because
    ///     d/dt(u·∂T/∂u − T + U) = u·(d/dt ∂T/∂u − ∂T/∂q + ∂U/∂q) + ∂U/∂t − ∂T/∂t.
    expr::Expr kinetic, potential;
    expr::Expr driven;            ///< ∂U/∂t − ∂T/∂t at fixed q and u: power of what changes U and T in time
    expr::Expr damping, applied;  ///< powers u·∂R/∂u and u·f + driven
    std::vector<expr::Expr> others;  ///< f − ∂R/∂u: the forces that the powers belong to, except `driven`; one per q
};

/// Differentiates the formulas. The new nodes are added to their graph.
Derived derive(Formulas& formulas);

/// Formulas, their derivatives, and tapes that evaluate them. System::symbolic gives access to it.
/// The variables of every tape are [t, q..., u...] of Formulas, its parameters are Formulas::p.
class SymbolicEquations {
public:
    /// Which values a tape computes.
    enum class Part {
        mass,          ///< M, in the order of Derived::mass
        force,         ///< h
        positions,     ///< constraint functions, then gaps
        rows,          ///< W in the order of Derived::rows, then χ
        curvature,     ///< ζ
        coefficients,  ///< Formulas::coefficients
        energy,        ///< T, U, damping, applied
        all            ///< M, h, positions, W, χ, ζ: the order of Terms; common subexpressions are computed once
    };
    static constexpr std::size_t part_count = 8;

    /// Differentiates the formulas and compiles the tapes.
    explicit SymbolicEquations(Formulas formulas);

    const Formulas& formulas() const { return formulas_; }
    const Derived& derived() const { return derived_; }
    const expr::Tape& tape(Part part) const { return tapes_[static_cast<std::size_t>(part)]; }

    /// Compiled derivatives of motions (tangent_program.hpp), kept for the next run. Copies of this object share them.
    TangentStore& tangents() const { return *tangents_; }

    /// Whether the formulas cover all coordinates of the model.
    bool complete() const { return static_cast<int>(formulas_.q.size()) == formulas_.coordinates; }

private:
    Formulas formulas_;
    Derived derived_;
    std::array<expr::Tape, part_count> tapes_;
    std::shared_ptr<TangentStore> tangents_;
};

}  // namespace saltus::model
