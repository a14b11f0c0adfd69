// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "saltus/model/pattern.hpp"

namespace saltus::model {

class Jacobians;
class SeriesEquations;
class SymbolicEquations;
struct SeriesNeeds;

/// Time, state and parameter values at which a system is evaluated.
struct At {
    double t = 0.0;
    std::span<const double> q, u;
    std::span<const double> p;  ///< values of the independent parameters
};

/// Sizes and sparsity of a system. Its rows are numbered constraints, normals, slips. Constraints and normals have a
/// position (constraint function or gap); slips have a velocity only. Velocity constraints γ(t,q,u) = 0 are among the
/// constraints, but have a velocity only: in the place of a position, Terms and System::positions have γ.
struct Layout {
    int coordinates = 0;
    int parameters = 0;    ///< independent ones
    int constraints = 0;   ///< bilateral: g(t,q) = 0, or γ(t,q,u) = 0
    int normals = 0;       ///< unilateral: g_N(t,q) >= 0
    int slips = 0;         ///< slip rows: of contacts, constraints and sliders, then of clutches, then of obstacles
    int coefficients = 0;  ///< μ, e, F_N and so on
    Pattern mass;          ///< lower triangle of M
    bool mass_constant = false;          ///< M depends on parameters only
    bool coefficients_constant = false;  ///< the coefficients depend on parameters only
    bool powered = true;                 ///< Energy::damping or Energy::applied may be nonzero
    Pattern rows;                        ///< Wᵀ: one row for each constraint, normal and slip
    /// Per coefficient: not 0 if it depends on parameters only. Empty: as coefficients_constant says, for all of them.
    std::vector<char> constant_coefficients;
    /// Per constraint: not 0 if it is a velocity constraint γ(t,q,u) = 0. Empty if there are none.
    std::vector<char> velocity_constraints;

    int positions() const { return constraints + normals; }
    int row_count() const { return constraints + normals + slips; }
    bool constant_coefficient(int c) const {
        const auto i = static_cast<std::size_t>(c);
        return i < constant_coefficients.size() ? constant_coefficients[i] != 0 : coefficients_constant;
    }
    bool velocity_constraint(int row) const {
        return row >= 0 && static_cast<std::size_t>(row) < velocity_constraints.size() &&
               velocity_constraints[static_cast<std::size_t>(row)] != 0;
    }
    /// Whether a row has a position, which must be 0 (a constraint) or >= 0 (a gap).
    bool has_position(int row) const { return row < positions() && !velocity_constraint(row); }
};

/// All terms of the equations of motion at one state. The parts lie one after the other in memory.
struct Terms {
    explicit Terms(const Layout& layout);
    Terms(const Terms& other);
    Terms& operator=(const Terms&) = delete;

    std::span<double> M;                       ///< in the pattern Layout::mass
    std::span<double> h;                       ///< one per coordinate
    std::span<double> positions;               ///< constraint functions (γ of velocity constraints), then gaps
    std::span<double> W;                       ///< in the pattern Layout::rows
    std::span<double> chi, zeta;               ///< one per row
    std::span<double> all() { return data_; }  ///< M, h, positions, W, χ, ζ in this order

private:
    void lay_out(const std::vector<std::size_t>& sizes);
    std::vector<double> data_;
};

/// Energies in J and powers in W at one state.
struct Energy {
    double kinetic = 0.0, potential = 0.0;
    double damping = 0.0;  ///< u·∂R/∂u: power that Rayleigh damping takes out
    double applied = 0.0;  ///< u·f + ∂U/∂t − ∂T/∂t: power of the other forces f, and of what changes U and T in time
};

/// The equations of one mechanical system: M(t,q) u̇ = h(t,q,u) + W λ. Everything that an algorithm knows of the
/// equations passes through this interface. Saltus implements it for expressions, for mass points, and for both
/// together; users may implement it in C++.
///
/// A system is immutable and can be shared by threads. Scratch memory belongs to the caller: `prepare` fills it for one
/// set of parameter values, and the other functions use it and allocate nothing.
///
/// A user's system must implement layout, mass and force, and, if it has rows, positions, rows and curvature.
class System {
public:
    virtual ~System() = default;

    virtual const Layout& layout() const = 0;
    virtual std::size_t scratch_size() const { return 0; }  ///< in doubles
    /// Stores what depends on parameters only. It must be called before the functions below.
    virtual void prepare(std::span<const double> /*p*/, std::span<double> /*scratch*/) const {}

    /// M in the pattern Layout::mass. It must be symmetric and positive definite.
    virtual void mass(const At& at, std::span<double> scratch, std::span<double> M) const = 0;
    /// All smooth forces h(t,q,u).
    virtual void force(const At& at, std::span<double> scratch, std::span<double> h) const = 0;

    /// Constraint functions g (γ of velocity constraints), then gaps g_N.
    virtual void positions(const At&, std::span<double> /*scratch*/, std::span<double> /*g*/) const {}
    /// Wᵀ, in the pattern Layout::rows, and χ of γ = Wᵀu + χ.
    virtual void rows(const At&, std::span<double> /*scratch*/, std::span<double> /*W*/,
                      std::span<double> /*chi*/) const {}
    /// ζ of γ̇ = Wᵀu̇ + ζ. For a constraint or gap ζ = uᵀ g_qq u + 2 g_tq u + g_tt. [Alscher] (17)
    virtual void curvature(const At&, std::span<double> /*scratch*/, std::span<double> /*zeta*/) const {}
    /// Values of μ, e, F_N and so on.
    virtual void coefficients(const At&, std::span<double> /*scratch*/, std::span<double> /*values*/) const {}

    /// mass, force, positions, rows and curvature at once. A system overrides it if the parts share work.
    virtual void terms(const At& at, std::span<double> scratch, Terms& out) const;

    /// Energies and powers. The default gives the kinetic energy ½ uᵀMu and zero for the rest.
    virtual Energy energy(const At& at, std::span<double> scratch) const;

    /// Exact derivatives by t, q, u and all parameters. Null if the system has none.
    virtual std::unique_ptr<Jacobians> jacobians() const;
    /// The same with columns for t, q, u and these parameters only, which may cost less. Null if the system has none.
    virtual std::unique_ptr<Jacobians> jacobians_by(std::span<const int> parameters) const;

    /// The equations as formulas, for algorithms that look into expressions, evaluate eight states at once (Lanes) or
    /// bound values over boxes (Interval). If it is not null then the formulas describe the whole system: all of its
    /// coordinates, in the order of the layout. Null for mass points, for mass points joined with expressions and, by
    /// default, for a user's system.
    virtual const SymbolicEquations* symbolic() const { return nullptr; }

    /// The terms as Taylor series along a motion, for these parameter values. Null if the system has none.
    virtual std::unique_ptr<SeriesEquations> series(const SeriesNeeds& needs, std::span<const double> p) const;
};

}  // namespace saltus::model
