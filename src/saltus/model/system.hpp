// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "saltus/model/pattern.hpp"

namespace saltus::model {

/// Time, state and parameter values at which a system is evaluated.
struct At {
    double t = 0.0;
    std::span<const double> q, u;
    std::span<const double> p;
};

/// How many rows of each kind a system has. Rows are numbered in this order; the first two kinds have a position
/// (constraint function or gap), the others a velocity alone.
struct Layout {
    int coordinates = 0;
    int parameters = 0;
    int constraints = 0;                 ///< bilateral: g(t,q) = 0
    int normals = 0;                     ///< unilateral: gN(t,q) >= 0
    int slips = 0;                       ///< slips of contacts, constraints, sliders; clutches; slips of obstacles
    int coefficients = 0;                ///< mu, e, FN and the like
    Pattern mass;                        ///< lower triangle of M
    bool mass_constant = false;          ///< M depends on parameters alone
    bool coefficients_constant = false;  ///< they do
    bool powered = true;                 ///< energies may have a power of damping or of applied forces
    Pattern rows;                        ///< W^T: one row for each constraint, normal and slip

    int positions() const { return constraints + normals; }
    int row_count() const { return constraints + normals + slips; }
};

/// All that the equations of motion need at one state, in the patterns of the layout, one after the other in memory.
struct Terms {
    explicit Terms(const Layout& layout);
    Terms(const Terms& other);
    Terms& operator=(const Terms&) = delete;

    std::span<double> M, h, positions, W, chi, zeta;
    std::span<double> all() { return data_; }  ///< M h positions W χ ζ

private:
    void lay_out(const std::vector<std::size_t>& sizes);
    std::vector<double> data_;
};

struct Energy {
    double kinetic = 0.0, potential = 0.0;
    double damping = 0.0;  ///< u·∂R/∂u, the power that Rayleigh damping takes out
    double applied = 0.0;  ///< u·f, the power that the other forces bring in
};

/// The vector functions whose Jacobians a system gives. Columns are [t, q..., u..., p...].
enum class Function {
    residual,      ///< h + Σ W λ − M a with a and λ (one per row) held fixed
    position,      ///< constraints and gaps
    velocity,      ///< γ = Wᵀu + χ
    acceleration,  ///< Wᵀa + ζ with a held fixed
    coefficient,   ///< mu, e, FN, ...
};

/// 0, 1, ... below the count.
std::vector<int> numbers_to(std::size_t count);

/// Exact Jacobians of one system, with the scratch to evaluate them; one per thread.
class Jacobians {
public:
    virtual ~Jacobians() = default;
    virtual const Pattern& pattern(Function f) const = 0;
    /// `a` and `lambda` are read by `residual` and `acceleration` alone.
    virtual void evaluate(Function f, const At& at, std::span<const double> a, std::span<const double> lambda,
                          std::span<double> values) = 0;
    /// Adds ∂residual · directions without the matrix: one direction a row, one row of `out` for each. False, and
    /// nothing done, where the matrix is the shorter way.
    virtual bool residual_along(const At&, std::span<const double> /*a*/, std::span<const double> /*lambda*/,
                                const Matrix& /*directions*/, Matrix& /*out*/) {
        return false;
    }

    /// Functions of t, q, u that are zero where expressions jump or have kinks: what if, sign, abs, min, max compare.
    virtual int switches() const { return 0; }
    virtual bool all_switches() const { return false; }  ///< whether there are no others
    virtual void switches(const At&, std::span<double> /*values*/) {}
    /// Their derivatives, one a row, in all columns.
    virtual void switch_derivatives(const At&, Matrix& /*out*/) {}
};

/// The equations of one mechanical system: M(t,q) u̇ = h(t,q,u) + W λ. Everything an algorithm knows of a system
/// passes through here; the three kinds in Saltus (expressions, mass points, both joined) and the systems that users
/// write in C++ implement it. A system is immutable. Scratch belongs to the caller: `prepare` fills it for one set of
/// parameter values, the other functions use it and allocate nothing.
///
/// A user's system must give layout, mass and force, and, if it has rows, positions, rows and curvature.
class System {
public:
    virtual ~System() = default;

    virtual const Layout& layout() const = 0;
    virtual std::size_t scratch_size() const { return 0; }
    virtual void prepare(std::span<const double> /*p*/, std::span<double> /*scratch*/) const {}

    virtual void mass(const At& at, std::span<double> scratch, std::span<double> M) const = 0;
    virtual void force(const At& at, std::span<double> scratch, std::span<double> h) const = 0;

    /// Constraint functions and gaps.
    virtual void positions(const At&, std::span<double> /*scratch*/, std::span<double> /*g*/) const {}
    /// Rows Wᵀ and χ of γ = Wᵀu + χ.
    virtual void rows(const At&, std::span<double> /*scratch*/, std::span<double> /*W*/,
                      std::span<double> /*chi*/) const {}
    /// ζ of γ̇ = Wᵀu̇ + ζ; for a constraint uᵀ g_qq u + 2 g_tq u + g_tt. [Alscher] (17)
    virtual void curvature(const At&, std::span<double> /*scratch*/, std::span<double> /*zeta*/) const {}
    virtual void coefficients(const At&, std::span<double> /*scratch*/, std::span<double> /*values*/) const {}

    /// Everything above but the coefficients at once; systems that can share work between the parts do.
    virtual void terms(const At& at, std::span<double> scratch, Terms& out) const;

    /// Energies, where the system knows them; the kinetic energy defaults to ½ uᵀMu.
    virtual Energy energy(const At& at, std::span<double> scratch) const;

    /// Exact derivatives, or nothing when the system has none to give.
    virtual std::unique_ptr<Jacobians> jacobians() const { return nullptr; }
    /// The same with columns for t, q, u and these parameters alone: less work, where a system can do with less.
    virtual std::unique_ptr<Jacobians> jacobians_by(std::span<const int> parameters) const;
};

}  // namespace saltus::model
