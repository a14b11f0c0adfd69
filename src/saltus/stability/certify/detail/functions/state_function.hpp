// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "saltus/base/linalg.hpp"
#include "saltus/expr/tape.hpp"
#include "saltus/model/fwd.hpp"
#include "saltus/model/symbolic.hpp"
#include "saltus/proof/box.hpp"
#include "saltus/proof/matrix.hpp"

namespace saltus::stability {

/// V = factor · T + potential: a Lyapunov function that is an energy.
struct EnergyForm {
    double factor = 1.0;   ///< not 0
    expr::Expr potential;  ///< potential/factor as an expression of positions in StateFunction::formulas()
};

/// A function V(q, u) of the state of a model, with bounds over boxes of states. A box of states has 2n sides: the
/// positions, then the velocities. Bounds are rigorous (proof/enclosure.hpp); the time is 0.
///
/// For a model without contacts, constraints, sliders and clutches the acceleration is the function u̇ = M⁻¹h of the
/// state, so that the rate V̇ = ∂V/∂q·u + ∂V/∂u·u̇ has bounds too. With such elements the rate has two parts,
///     V̇ = S + Σ_r λ_r w_r·y,   S = ∂V/∂q·u + y·h,   y = M⁻¹ ∂V/∂u,
/// where w_r are the rows of the elements and λ_r their forces. S has bounds here; the sum is the subject of
/// element_powers.hpp.
class StateFunction {
public:
    /// Reads V as an expression of coordinates, velocities, parameters, definitions of [let], T and U. Throws Error
    /// with the place "--V" for anything else, and if V depends on the time. The model must consist of expressions.
    static StateFunction read(const model::Model& model, const std::string& text);
    /// V = xᵀPx with x = (q − c, u). The centre c is an argument of the bounds, as a box: they hold for every c in it.
    static StateFunction quadratic(const model::Mechanics& model, const Matrix& P);

    int size() const { return n_; }              ///< number of coordinates n
    bool smooth() const { return smooth_; }      ///< V has no kinks and no jumps
    bool has_rate() const { return has_rate_; }  ///< V̇ is a smooth function of the state
    /// Whether V is an energy, and with which factor.
    const std::optional<EnergyForm>& energy() const { return energy_; }
    /// V depends on the velocities by the kinetic energy alone: V = ψ(q, T). Then y = κu with κ = ∂ψ/∂T.
    bool along_velocity() const { return along_velocity_; }
    /// V = φ(T + U) with some function φ, written with T and U.
    bool function_of_energy() const { return function_of_energy_; }
    /// C of `losing_states` has C(q, 0) = 0 and ∂C/∂u(q, 0) = 0 for all positions, by the form of the expressions.
    bool loses_at_rest_nothing() const { return core_rests_; }
    const model::Formulas& formulas() const { return f_; }

    void set_centre(const proof::Box& c) { centre_ = c; }  ///< for `quadratic`

    double value(const std::vector<double>& q, const std::vector<double>& u) const;  ///< with the middle of the centre
    proof::Interval value(const proof::Box& x) const;
    std::vector<proof::Interval> gradient(const proof::Box& x) const;
    proof::IntervalMatrix hessian(const proof::Box& x) const;
    proof::Interval rate(const proof::Box& x) const;                        ///< needs has_rate
    std::vector<proof::Interval> rate_gradient(const proof::Box& x) const;  ///< needs has_rate
    proof::IntervalMatrix rate_hessian(const proof::Box& x) const;          ///< needs has_rate

    proof::Interval kappa(const proof::Box& x) const;  ///< κ; needs along_velocity
    /// κ and ψ at the positions q and the kinetic energies of an interval; need a V that mentions T,
    /// `function_of_energy`.
    proof::Interval kappa_at(const proof::Box& q, const proof::Interval& kinetic) const;
    proof::Interval value_at(const proof::Box& q, const proof::Interval& kinetic) const;
    /// ∇²S, by positions and velocities; needs has_smooth_rate.
    bool has_smooth_rate() const { return has_smooth_rate_; }
    proof::IntervalMatrix smooth_rate_hessian(const proof::Box& x) const;
    /// The states Z that C depends on by the form of the expressions: numbers below n are coordinates, the others
    /// velocities. C is S, or S/κ if V = φ(T + U), or V̇ without elements. With it the value and the gradient of C by Z
    /// at a state, and the second derivatives by Z over a box. Needs has_smooth_rate, or has_rate.
    const std::vector<int>& losing_states() const { return losing_; }
    bool losing_vanishes(const proof::Box& state) const;  ///< value and gradient are exactly 0
    proof::IntervalMatrix losing_hessian(const proof::Box& x) const;

private:
    friend class ElementPowers;
    explicit StateFunction(const model::Mechanics& model);
    void finish(expr::Expr V);
    void find_energy_form(expr::Expr V);
    void find_kinetic_form();
    void find_smooth_rate(expr::Expr V);
    void find_losing_states(expr::Expr core);
    expr::Expr rate_of(expr::Expr V);
    expr::Expr reduced(expr::Expr e);
    bool vanishes(expr::Expr e);

    struct Group {
        expr::Tape tape;
        mutable std::vector<proof::Interval> scratch, in, out;
    };
    Group compile(const std::vector<expr::Expr>& outputs) const;
    const std::vector<proof::Interval>& evaluate(const Group& group, const proof::Box& x) const;

    const model::Mechanics& model_;
    model::Formulas f_;
    model::Derived d_;
    int n_ = 0;
    std::vector<expr::Expr> states_, centre_symbols_, variables_;
    proof::Box centre_;
    bool smooth_ = true, has_rate_ = false;
    bool along_velocity_ = false, function_of_energy_ = false, has_smooth_rate_ = false, core_rests_ = false;
    std::optional<EnergyForm> energy_;
    std::vector<expr::Expr> y_;  // M⁻¹ ∂V/∂u, after rate_of or find_smooth_rate
    // V with a symbol in the place of T, and κ as an expression of that symbol; only if V was read and mentions T.
    std::optional<expr::Expr> kinetic_symbol_, psi_, psi_slope_;
    std::vector<int> losing_;
    Group value_, gradient_, hessian_, rate_, rate_gradient_, rate_hessian_;
    Group kappa_, psi_group_, smooth_rate_hessian_, losing_slopes_, losing_hessian_;
    mutable std::vector<double> numbers_, number_scratch_;
};

}  // namespace saltus::stability
